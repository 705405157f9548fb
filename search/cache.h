/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cache.h - happens-before caching for searches with a bound
 *
 * A state, named by the hash of its happens-before graph, that was met before
 * with at least as much left of the bound need not be explored again. What
 * 'as much' means is subtle: continuing the task that ran last costs nothing,
 * and that task is not part of the state. CHESS's rule (strictly fewer
 * preemptions) is right but weak, and '<=' loses bugs. The rule here:
 *
 *	a visit (state, last task t, cost c) is dominated when the state was met
 *	- with a cost below c, or
 *	- with cost c, and then with the same t, or with some last task that was
 *	  not able to go on (from there every first choice was free).
 *
 * For from one state the costs of a continuation under two last tasks differ
 * by one at most, and are least when the last task cannot go on.
 *
 * 16 bytes an entry, between 18 and 28 with the empty ones. A full table enters
 * no new states; tasks beyond CACHE_TASKS never match. Both cost time only.
 */
#ifndef ZUG_SEARCH_CACHE_H
#define ZUG_SEARCH_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CACHE_TASKS	47

struct cache_entry;

struct cache {
	struct cache_entry *entries;
	size_t size, nr;
	size_t limit;			/* bytes */
	bool full;
};

int cache_init(struct cache *c, size_t limit);	/* -ENOMEM */
void cache_fini(struct cache *c);
void cache_clear(struct cache *c);

/* last: the last task, or UINT32_MAX; cost: saturates at 65535. */
bool cache_dominated(const struct cache *c, uint64_t state, uint32_t last, uint32_t cost);

/* free: the last task could not go on, or yielded. */
void cache_insert(struct cache *c, uint64_t state, uint32_t last, uint32_t cost, bool free);

#endif
