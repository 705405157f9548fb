/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * id_map.h - maps 64-bit ids to numbers
 *
 * A hash table with open addressing and linear probing, at most half full. A map of zeros is an empty map. The values are
 * indices into an array of the caller's, in most uses; a map whose values are not used is a set.
 */
#ifndef ZUG_ID_MAP_H
#define ZUG_ID_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct id_map_entry {
	uint64_t id;
	uint32_t value;
	uint32_t round;		/* in the map when this is the map's round + 1 */
};

struct id_map {
	struct id_map_entry *entries;	/* the map's own */
	size_t nr, size;		/* ids in it; entries, a power of two or 0 */
	uint32_t round;			/* how often it was cleared: clearing touches no entry */
};

/* Ids may be addresses or counters: all their bits decide (the finaliser of splitmix64). */
static inline uint64_t id_map_mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static inline bool id_map_used(const struct id_map *m, const struct id_map_entry *e)
{
	return e->round == m->round + 1;
}

/* The entry of id, or the free one where it belongs. The map has entries. */
static inline struct id_map_entry *id_map_entry_of(const struct id_map *m, uint64_t id)
{
	size_t i = id_map_mix(id) & (m->size - 1);

	while (id_map_used(m, &m->entries[i]) && m->entries[i].id != id)
		i = (i + 1) & (m->size - 1);
	return &m->entries[i];
}

/* The value of id, which may be changed through the pointer until the next id_map_add(). NULL: id is not in the map. */
static inline uint32_t *id_map_find(const struct id_map *m, uint64_t id)
{
	struct id_map_entry *e = m->nr ? id_map_entry_of(m, id) : NULL;

	return e && id_map_used(m, e) ? &e->value : NULL;
}
/*
 * Adds id with that value. *added, unless NULL: false when id was there already, and has kept its value. NULL: out of
 * memory.
 */
uint32_t *id_map_add(struct id_map *m, uint64_t id, uint32_t value, bool *added);
/* Takes all ids out at once, and keeps the memory. */
void id_map_clear(struct id_map *m);
/* Frees the memory; the map is empty then. */
void id_map_free(struct id_map *m);

#endif
