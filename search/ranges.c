/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ranges.c - an index of ranges by cells of 64 bytes: almost all lie in one, and the longest in 65
 */
#include <stdlib.h>
#include "lib/base/array.h"
#include "lib/base/id_map.h"
#include "search/ranges.h"
#include "search/rng.h"

#define CELL	64

struct entry {
	uint32_t range, next;	/* next: entry + 1 of the same cell, 0 none */
};

struct ranges {
	struct range *list;
	uint32_t nr, size;
	struct id_map cells;	/* the first entry + 1 of each */
	struct entry *entries;
	uint32_t nr_entries, size_entries;
};

struct ranges *ranges_new(void)
{
	return calloc(1, sizeof(struct ranges));
}

void ranges_free(struct ranges *r)
{
	if (!r)
		return;
	free(r->list);
	id_map_free(&r->cells);
	free(r->entries);
	free(r);
}

void ranges_reset(struct ranges *r)
{
	id_map_clear(&r->cells);
	r->nr = r->nr_entries = 0;
}

/* Two cells that had one id by chance would be searched together, and nothing else. */
static uint64_t cell_id(uint64_t space, uint64_t nr)
{
	return mix64(space ^ mix64(nr));
}

/* The first entry of a cell + 1, or 0. */
static uint32_t first_entry(const struct ranges *r, uint64_t space, uint64_t nr)
{
	const uint32_t *first = id_map_find(&r->cells, cell_id(space, nr));

	return first ? *first : 0;
}

static uint64_t last_cell(const struct range *g)
{
	return (g->addr + (g->size ? g->size - 1 : 0)) / CELL;
}

uint32_t ranges_add(struct ranges *r, const struct range *range)
{
	struct range g = *range;
	uint64_t first = g.addr / CELL, last;
	uint32_t n;

	if (g.size > RANGES_BYTES)
		g.size = RANGES_BYTES;
	/* nothing lies across the end of all addresses */
	if (g.addr + g.size < g.addr)
		g.size = 0;
	last = last_cell(&g);
	n = last - first + 1;
	if (!ARRAY_RESERVE(r->list, r->size, r->nr + 1) ||
	    !ARRAY_RESERVE(r->entries, r->size_entries, r->nr_entries + n))
		return RANGES_NONE;
	for (uint32_t e = first_entry(r, g.space, first); e; e = r->entries[e - 1].next) {
		const struct range *known = &r->list[r->entries[e - 1].range];

		if (known->space == g.space && known->addr == g.addr && known->size == g.size)
			return r->entries[e - 1].range;
	}
	for (uint64_t k = first; k <= last; k++) {
		uint32_t *head = id_map_add(&r->cells, cell_id(g.space, k), 0, NULL);

		if (!head)
			return RANGES_NONE;
		r->entries[r->nr_entries++] = (struct entry){ r->nr, *head };
		*head = r->nr_entries;
	}
	r->list[r->nr] = g;
	return r->nr++;
}

uint32_t ranges_nr(const struct ranges *r)
{
	return r->nr;
}

const struct range *ranges_at(const struct ranges *r, uint32_t i)
{
	return &r->list[i];
}

uint32_t ranges_overlaps(const struct ranges *r, uint32_t i, uint32_t *list, uint32_t max)
{
	const struct range *g = &r->list[i];
	uint64_t first = g->addr / CELL, last = last_cell(g);
	uint32_t n = 0;

	for (uint64_t k = first; k <= last; k++)
		for (uint32_t e = first_entry(r, g->space, k); e; e = r->entries[e - 1].next) {
			const struct range *o = &r->list[r->entries[e - 1].range];
			uint64_t at = o->addr / CELL;

			/* in the first cell that they have in common, once */
			if (o == g || !range_overlap(g, o) || k != (at > first ? at : first))
				continue;
			if (n == max)
				return n;
			list[n++] = r->entries[e - 1].range;
		}
	return n;
}
