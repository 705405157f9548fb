/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdlib.h>
#include "engine/spawn.h"
#include "lib/base/array.h"

uint32_t spawn_number(struct spawn_table *t, uint32_t parent, uint32_t nth)
{
	uint32_t *number;
	bool added;

	if (!ARRAY_RESERVE(t->paths, t->room, t->nr + 1))
		return UINT32_MAX;
	number = id_map_add(&t->numbers, (uint64_t)parent << 32 | nth, t->nr, &added);
	if (!number)
		return UINT32_MAX;
	if (added)
		t->paths[t->nr++] = (struct spawn_path){ parent, nth };
	return *number;
}

void spawn_forget(struct spawn_table *t, uint32_t nr)
{
	uint32_t known = nr;

	if (t->nr <= nr)
		return;
	id_map_clear(&t->numbers);
	t->nr = 0;
	for (uint32_t i = 0; i < known; i++)
		spawn_number(t, t->paths[i].parent, t->paths[i].nth);
}

void spawn_free(struct spawn_table *t)
{
	free(t->paths);
	id_map_free(&t->numbers);
	*t = (struct spawn_table){ 0 };
}
