/* SPDX-License-Identifier: GPL-2.0-only */
/* lives.c - blocks that were freed, by the cells of 16 bytes in which they lie: no two blocks have one in common */
#include <stdlib.h>
#include "lib/base/array.h"
#include "lib/base/id_map.h"
#include "search/lives.h"

#define CELL	16

struct lives {
	struct id_map cells;	/* the block that was freed there last */
	bool *written;		/* of each block: since then */
	uint32_t nr, room;
};

struct lives *lives_new(void)
{
	return calloc(1, sizeof(struct lives));
}

void lives_free(struct lives *l)
{
	if (!l)
		return;
	id_map_free(&l->cells);
	free(l->written);
	free(l);
}

void lives_reset(struct lives *l)
{
	id_map_clear(&l->cells);
	l->nr = 0;
}

static uint64_t cell_id(uint64_t space, uint64_t nr)
{
	return mix64(space ^ mix64(nr));
}

/* Of what lives behind the nth end, and of what is dead behind it. */
static uint32_t number(uint32_t n, bool dead)
{
	return 2 * n + 1 + dead;
}

struct life lives_access(struct lives *l, const struct range *r, bool write)
{
	const uint32_t *n = l->nr ? id_map_find(&l->cells, cell_id(r->space, r->addr / CELL)) : NULL;

	if (!n)
		return (struct life){ 0 };
	l->written[*n] |= write;
	return (struct life){ number(*n, false), l->written[*n] ? 0 : number(*n, true) };
}

uint32_t lives_end(struct lives *l, const struct range *r)
{
	uint64_t bytes = r->size > RANGES_BYTES ? RANGES_BYTES : r->size, n = (bytes + CELL - 1) / CELL;
	uint32_t *cell;

	if (!ARRAY_RESERVE(l->written, l->room, l->nr + 1))
		return 0;
	for (uint64_t i = 0; i < n; i++) {
		cell = id_map_add(&l->cells, cell_id(r->space, r->addr / CELL + i), l->nr, NULL);
		if (!cell)
			return 0;
		*cell = l->nr;
	}
	l->written[l->nr] = false;
	return number(l->nr++, true);
}
