/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdlib.h>
#include <string.h>
#include "lib/base/id_map.h"

static bool grow(struct id_map *m)
{
	struct id_map larger = { .nr = m->nr, .size = m->size ? 2 * m->size : 64, .round = m->round };

	larger.entries = calloc(larger.size, sizeof(*larger.entries));
	if (!larger.entries)
		return false;
	for (size_t i = 0; i < m->size; i++)
		if (id_map_used(m, &m->entries[i]))
			*id_map_entry_of(&larger, m->entries[i].id) = m->entries[i];
	free(m->entries);
	*m = larger;
	return true;
}

uint32_t *id_map_add(struct id_map *m, uint64_t id, uint32_t value, bool *added)
{
	struct id_map_entry *e;

	if (2 * (m->nr + 1) > m->size && !grow(m))
		return NULL;
	e = id_map_entry_of(m, id);
	if (added)
		*added = !id_map_used(m, e);
	if (!id_map_used(m, e)) {
		*e = (struct id_map_entry){ .id = id, .value = value, .round = m->round + 1 };
		m->nr++;
	}
	return &e->value;
}

void id_map_clear(struct id_map *m)
{
	m->nr = 0;
	if (++m->round < UINT32_MAX)
		return;
	/* Once in 2^32 times: entries of the first rounds must not come alive again. */
	m->round = 0;
	if (m->size)
		memset(m->entries, 0, m->size * sizeof(*m->entries));
}

void id_map_free(struct id_map *m)
{
	free(m->entries);
	*m = (struct id_map){ 0 };
}
