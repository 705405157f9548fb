/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "search/cache.h"
#include "search/rng.h"

#define FIRST	1024

/*
 * meta: the least cost (16 bits), whether some visitor with that cost was free
 * (1 bit), and the last tasks of visitors with that cost (47 bits).
 */
struct cache_entry {
	uint64_t key;		/* 0: empty */
	uint64_t meta;
};

#define META_FREE	(1ull << CACHE_TASKS)
#define META_TASKS	(META_FREE - 1)
#define MAX_COST	65535u

int cache_init(struct cache *c, size_t limit)
{
	memset(c, 0, sizeof(*c));
	c->limit = limit;
	c->size = FIRST;
	c->entries = calloc(FIRST, sizeof(*c->entries));
	return c->entries ? 0 : -ENOMEM;
}

void cache_fini(struct cache *c)
{
	free(c->entries);
	memset(c, 0, sizeof(*c));
}

void cache_clear(struct cache *c)
{
	memset(c->entries, 0, c->size * sizeof(*c->entries));
	c->nr = 0;
	c->full = false;
}

static uint64_t to_key(uint64_t state)
{
	uint64_t key = mix64(state ^ 0x6361636865ull);

	return key ? key : 1;
}

/* Sizes are no powers of two, so that tables can grow by half. */
static struct cache_entry *slot(struct cache_entry *entries, size_t size, uint64_t key)
{
	size_t i = (size_t)(((unsigned __int128)key * size) >> 64);

	while (entries[i].key && entries[i].key != key)
		if (++i == size)
			i = 0;
	return &entries[i];
}

static void grow(struct cache *c)
{
	size_t size = c->size + c->size / 2;
	struct cache_entry *entries = NULL;

	if (size * sizeof(*entries) <= c->limit)
		entries = calloc(size, sizeof(*entries));
	if (!entries) {
		c->full = true;
		return;
	}
	for (size_t i = 0; i < c->size; i++)
		if (c->entries[i].key)
			*slot(entries, size, c->entries[i].key) = c->entries[i];
	free(c->entries);
	c->entries = entries;
	c->size = size;
}

static uint64_t task_bit(uint32_t task)
{
	return task < CACHE_TASKS ? 1ull << task : 0;
}

bool cache_dominated(const struct cache *c, uint64_t state, uint32_t last, uint32_t cost)
{
	const struct cache_entry *e = slot(c->entries, c->size, to_key(state));
	uint32_t least = (uint32_t)(e->meta >> 48);

	if (!e->key || cost >= MAX_COST)
		return false;
	return least < cost || (least == cost && e->meta & (META_FREE | task_bit(last)));
}

void cache_insert(struct cache *c, uint64_t state, uint32_t last, uint32_t cost, bool free)
{
	uint64_t key = to_key(state), bits = (free ? META_FREE : 0) | task_bit(last);
	struct cache_entry *e;
	uint32_t least;

	if (!c->full && (c->nr + 1) * 8 > c->size * 7)
		grow(c);
	if (cost > MAX_COST)
		cost = MAX_COST;
	e = slot(c->entries, c->size, key);
	least = (uint32_t)(e->meta >> 48);
	if (!e->key) {
		if (c->full)
			return;
		c->nr++;
		*e = (struct cache_entry){ key, (uint64_t)cost << 48 | bits };
	} else if (cost < least) {
		e->meta = (uint64_t)cost << 48 | bits;
	} else if (cost == least) {
		e->meta |= bits;
	}
}
