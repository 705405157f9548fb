/* SPDX-License-Identifier: GPL-2.0-only */
/* clock.h - the machine's monotonic clock */
#ifndef ZUG_CLOCK_H
#define ZUG_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds since some time before the machine started; the same for all processes (CLOCK_MONOTONIC). */
static inline uint64_t clock_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

#endif
