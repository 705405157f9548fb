/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * seen.h - counting distinct 64-bit hashes in bounded memory
 *
 * Eight bytes an entry, at most half of the table used. When the limit is
 * reached new hashes are no longer entered: the counts become lower bounds
 * (full is set), and nothing fails.
 */
#ifndef ZUG_SEARCH_SEEN_H
#define ZUG_SEARCH_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct seen {
	uint64_t *table;	/* hash with bit 0 replaced by 'met more than once'; 0: empty */
	size_t mask;
	size_t limit;		/* bytes */
	uint64_t nr;		/* distinct hashes entered */
	uint64_t once;		/* of these, met exactly once */
	bool full;
};

int seen_init(struct seen *s, size_t limit);	/* -ENOMEM */
void seen_fini(struct seen *s);

/* True when the hash was not there; it is now, unless the table is full. */
bool seen_add(struct seen *s, uint64_t hash);

/* True when the hash was entered. */
bool seen_has(const struct seen *s, uint64_t hash);

#endif
