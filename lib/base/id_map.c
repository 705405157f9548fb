/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdlib.h>
#include <string.h>
#include "lib/base/id_map.h"

/* Ids may be addresses or counters: all their bits decide (the finaliser of splitmix64). */
static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* The entry of id, or the free one where it belongs. */
static struct id_map_entry *entry_of(struct id_map_entry *entries, size_t size, uint64_t id)
{
	size_t i = mix(id) & (size - 1);

	while (entries[i].used && entries[i].id != id)
		i = (i + 1) & (size - 1);
	return &entries[i];
}

uint32_t *id_map_find(const struct id_map *m, uint64_t id)
{
	struct id_map_entry *e = m->size ? entry_of(m->entries, m->size, id) : NULL;

	return e && e->used ? &e->value : NULL;
}

static bool grow(struct id_map *m)
{
	size_t size = m->size ? 2 * m->size : 64;
	struct id_map_entry *entries = calloc(size, sizeof(*entries));

	if (!entries)
		return false;
	for (size_t i = 0; i < m->size; i++)
		if (m->entries[i].used)
			*entry_of(entries, size, m->entries[i].id) = m->entries[i];
	free(m->entries);
	m->entries = entries;
	m->size = size;
	return true;
}

uint32_t *id_map_add(struct id_map *m, uint64_t id, uint32_t value, bool *added)
{
	struct id_map_entry *e;

	if (2 * (m->nr + 1) > m->size && !grow(m))
		return NULL;
	e = entry_of(m->entries, m->size, id);
	if (added)
		*added = !e->used;
	if (!e->used) {
		*e = (struct id_map_entry){ .id = id, .value = value, .used = true };
		m->nr++;
	}
	return &e->value;
}

void id_map_clear(struct id_map *m)
{
	if (m->nr)
		memset(m->entries, 0, m->size * sizeof(*m->entries));
	m->nr = 0;
}

void id_map_free(struct id_map *m)
{
	free(m->entries);
	*m = (struct id_map){ 0 };
}
