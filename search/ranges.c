/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ranges.c - an index of ranges by cells of 64 bytes: almost all lie in one, and the longest in 65
 */
#include <stdlib.h>
#include <string.h>
#include "search/ranges.h"
#include "search/rng.h"

#define CELL	64

struct cell {
	uint64_t space, nr;
	uint32_t first;		/* entry + 1; 0: the cell is free */
};

struct entry {
	uint32_t range, next;	/* next: entry + 1 of the same cell, 0 none */
};

struct ranges {
	struct range *list;
	uint32_t nr, size;
	struct cell *cells;	/* open addressing */
	uint32_t nr_cells, size_cells;
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
	free(r->cells);
	free(r->entries);
	free(r);
}

void ranges_reset(struct ranges *r)
{
	if (r->cells)
		memset(r->cells, 0, r->size_cells * sizeof(*r->cells));
	r->nr = r->nr_cells = r->nr_entries = 0;
}

static struct cell *cell_of(const struct ranges *r, uint64_t space, uint64_t nr)
{
	uint32_t i = (uint32_t)mix64(space ^ mix64(nr)) & (r->size_cells - 1);

	while (r->cells[i].first && (r->cells[i].space != space || r->cells[i].nr != nr))
		i = (i + 1) & (r->size_cells - 1);
	return &r->cells[i];
}

/* Room for so many more; false: out of memory. */
static bool grow(void **list, uint32_t *size, uint32_t need, size_t item)
{
	uint32_t n = *size ? *size : 256;
	void *more;

	if (need <= *size)
		return true;
	while (n < need)
		n *= 2;
	more = realloc(*list, n * item);
	if (!more)
		return false;
	*list = more;
	*size = n;
	return true;
}

static bool grow_cells(struct ranges *r, uint32_t more)
{
	struct cell *old = r->cells;
	uint32_t old_size = r->size_cells, size = old_size ? old_size : 512;

	while (size < 2 * (r->nr_cells + more))
		size *= 2;
	if (size == old_size)
		return true;
	r->cells = calloc(size, sizeof(*r->cells));
	if (!r->cells) {
		r->cells = old;
		return false;
	}
	r->size_cells = size;
	for (uint32_t i = 0; i < old_size; i++)
		if (old[i].first)
			*cell_of(r, old[i].space, old[i].nr) = old[i];
	free(old);
	return true;
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
	if (!grow_cells(r, n) || !grow((void **)&r->list, &r->size, r->nr + 1, sizeof(*r->list)) ||
	    !grow((void **)&r->entries, &r->size_entries, r->nr_entries + n, sizeof(*r->entries)))
		return RANGES_NONE;
	for (uint32_t e = cell_of(r, g.space, first)->first; e; e = r->entries[e - 1].next) {
		const struct range *known = &r->list[r->entries[e - 1].range];

		if (known->addr == g.addr && known->size == g.size)
			return r->entries[e - 1].range;
	}
	for (uint64_t k = first; k <= last; k++) {
		struct cell *c = cell_of(r, g.space, k);

		if (!c->first) {
			c->space = g.space;
			c->nr = k;
			r->nr_cells++;
		}
		r->entries[r->nr_entries++] = (struct entry){ r->nr, c->first };
		c->first = r->nr_entries;
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
		for (uint32_t e = cell_of(r, g->space, k)->first; e; e = r->entries[e - 1].next) {
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
