/* SPDX-License-Identifier: GPL-2.0-only */
/* hash.h - FNV-1a, of bytes: hash_bytes(HASH_BEGIN, p, len) */
#ifndef ZUG_HASH_H
#define ZUG_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_BEGIN	0xcbf29ce484222325ull

/* The hash of what has the hash h, and these bytes behind it. */
static inline uint64_t hash_bytes(uint64_t h, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;

	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * 0x100000001b3ull;
	return h;
}

#endif
