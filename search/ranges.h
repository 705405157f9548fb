/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ranges.h - pieces of memory that were accessed, and which of them overlap
 *
 * A range is (space, address, bytes): spaces are address spaces, or files that several of them map. Equal
 * ranges have one number, from 0. Two ranges that begin at the same address and have different sizes are two.
 */
#ifndef ZUG_SEARCH_RANGES_H
#define ZUG_SEARCH_RANGES_H

#include <stdbool.h>
#include <stdint.h>
#include "search/rng.h"

/* Of a longer range only this many bytes count. */
#define RANGES_BYTES	4096
#define RANGES_NONE	UINT32_MAX

struct range {
	uint64_t space, addr;
	uint32_t size;		/* 0: no bytes, overlaps nothing */
};

struct ranges;

struct ranges *ranges_new(void);	/* NULL: out of memory */
void ranges_free(struct ranges *r);
void ranges_reset(struct ranges *r);	/* forgets all */

/* The number of a range, which is new or not; RANGES_NONE: out of memory. */
uint32_t ranges_add(struct ranges *r, const struct range *range);
uint32_t ranges_nr(const struct ranges *r);
const struct range *ranges_at(const struct ranges *r, uint32_t i);

/* The other ranges that share a byte with range i, up to max of them in list, in no order. Their number. */
uint32_t ranges_overlaps(const struct ranges *r, uint32_t i, uint32_t *list, uint32_t max);

/*
 * A number other than 0 for a piece of an object, which is the same in executions where the object and the
 * size are. Numbers of objects may follow each other as closely as sizes do.
 */
static inline uint64_t range_name(uint64_t object, uint32_t size)
{
	return mix64(mix64(object) + size) | 1;
}

static inline bool range_overlap(const struct range *a, const struct range *b)
{
	return a->space == b->space && a->size && b->size &&
	       (a->addr < b->addr ? b->addr - a->addr < a->size : a->addr - b->addr < b->size);
}

#endif
