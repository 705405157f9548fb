/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdlib.h>
#include "engine/spawn.h"

static uint32_t slot_of(const struct spawn_table *t, uint32_t parent, uint32_t nth)
{
	uint64_t h = ((uint64_t)parent << 32 | nth) * 0x9e3779b97f4a7c15ull;
	uint32_t i = (uint32_t)(h >> 32) & (t->index_size - 1), k;

	while ((k = t->index[i])) {
		if (t->paths[k - 1].parent == parent && t->paths[k - 1].nth == nth)
			break;
		i = (i + 1) & (t->index_size - 1);
	}
	return i;
}

static int grow(struct spawn_table *t)
{
	uint32_t size = t->size ? 2 * t->size : 64;
	struct spawn_path *paths = realloc(t->paths, size * sizeof(*paths));
	uint32_t *index;

	if (!paths)
		return -1;
	t->paths = paths;
	index = calloc(2 * size, sizeof(*index));
	if (!index)
		return -1;
	free(t->index);
	t->index = index;
	t->index_size = 2 * size;
	t->size = size;
	for (uint32_t i = 0; i < t->nr; i++)
		t->index[slot_of(t, t->paths[i].parent, t->paths[i].nth)] = i + 1;
	return 0;
}

uint32_t spawn_number(struct spawn_table *t, uint32_t parent, uint32_t nth)
{
	uint32_t i;

	if (t->nr == t->size && grow(t))
		return UINT32_MAX;
	i = slot_of(t, parent, nth);
	if (!t->index[i]) {
		t->paths[t->nr] = (struct spawn_path){ parent, nth };
		t->index[i] = ++t->nr;
	}
	return t->index[i] - 1;
}

void spawn_free(struct spawn_table *t)
{
	free(t->paths);
	free(t->index);
	*t = (struct spawn_table){ 0 };
}
