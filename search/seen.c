/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "search/rng.h"
#include "search/seen.h"

#define FIRST	1024

int seen_init(struct seen *s, size_t limit)
{
	memset(s, 0, sizeof(*s));
	s->limit = limit;
	s->mask = FIRST - 1;
	s->table = calloc(FIRST, sizeof(*s->table));
	return s->table ? 0 : -ENOMEM;
}

void seen_fini(struct seen *s)
{
	free(s->table);
	memset(s, 0, sizeof(*s));
}

static uint64_t *slot(const struct seen *s, uint64_t key)
{
	size_t i = (key >> 1) & s->mask;

	while (s->table[i] && (s->table[i] & ~1ull) != key)
		i = (i + 1) & s->mask;
	return &s->table[i];
}

static void grow(struct seen *s)
{
	size_t nr = s->mask + 1;
	uint64_t *old = s->table, *table;

	if (nr * 2 * sizeof(*table) > s->limit) {
		s->full = true;
		return;
	}
	table = calloc(nr * 2, sizeof(*table));
	if (!table) {
		s->full = true;
		return;
	}
	s->table = table;
	s->mask = nr * 2 - 1;
	for (size_t i = 0; i < nr; i++)
		if (old[i])
			*slot(s, old[i] & ~1ull) = old[i];
	free(old);
}

static uint64_t key_of(uint64_t hash)
{
	return (mix64(hash) & ~1ull) ?: 2;
}

bool seen_has(const struct seen *s, uint64_t hash)
{
	return *slot(s, key_of(hash));
}

bool seen_add(struct seen *s, uint64_t hash)
{
	uint64_t key = key_of(hash), *e;

	if (!s->full && s->nr * 2 > s->mask)
		grow(s);
	e = slot(s, key);
	if (*e) {
		if (!(*e & 1))
			s->once--;
		*e |= 1;
		return false;
	}
	if (s->full)
		return true;
	*e = key;
	s->nr++;
	s->once++;
	return true;
}
