/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * noise.h - the numbers that tests make their inputs of: the same ones each time
 */
#ifndef ZUG_TESTS_NOISE_H
#define ZUG_TESTS_NOISE_H

#include <stdint.h>

/* The next of a file's own numbers, of 48 bits. */
static inline uint64_t next_random(void)
{
	static uint64_t rng = 0x2545f4914f6cdd1d;

	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return rng * 0x9e3779b97f4a7c15u >> 16;
}

#endif
