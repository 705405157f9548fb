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

/* The value of id, which may be changed through the pointer until the next id_map_add(). NULL: id is not in the map. */
uint32_t *id_map_find(const struct id_map *m, uint64_t id);
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
