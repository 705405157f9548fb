/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * vector_clocks.h - vector clocks over the program's own synchronisation
 *
 * Unlike the graph of hb.h, where any two conflicting steps are ordered, only
 * what the program does to order itself counts here: locks, conditions,
 * semaphores, barriers, creation and joining, pipes. Two accesses to a variable
 * (ZUG_OP_DATA_*) that it leaves unordered are a data race, whichever came
 * first in this execution; and variables that were ordered in all executions
 * need no preemption before them.
 *
 * It never cries wolf: an operation that may or may not synchronise (a trylock,
 * a timed wait) counts as if it did, and an access of which it is not known
 * whether it writes counts as a read.
 */
#ifndef ZUG_SEARCH_VECTOR_CLOCKS_H
#define ZUG_SEARCH_VECTOR_CLOCKS_H

#include "search/search.h"

/* Tasks beyond this number take no part: they race with no other. */
#define VECTOR_CLOCKS_TASKS	256

struct vector_clocks_race {
	uint64_t object, with;		/* the data of each; not the same where they overlap */
	uint32_t task, other;		/* other's access came first */
	struct zug_label label, earlier;
};

struct vector_clocks;

struct vector_clocks *vector_clocks_new(void);		/* NULL: out of memory */
void vector_clocks_free(struct vector_clocks *vc);
void vector_clocks_begin(struct vector_clocks *vc);	/* a new execution */

/*
 * point->cand[i] is about to make its step. 1: it races with an earlier access,
 * *race says with which (the first race of an object in an execution only);
 * 0: no race; -ENOMEM.
 */
int vector_clocks_step(struct vector_clocks *vc, const struct search_point *point, uint32_t i,
	       struct vector_clocks_race *race);

/*
 * The same, where it is known better than from the label what memory an access is about: the operation, be it one on data
 * (ZUG_OP_DATA_*) or another one, counts as these accesses. object is any number but 0 that stands for exactly that
 * piece of memory in this execution; overlaps are those of other pieces with which it shares some of its bytes.
 */
struct vector_clocks_access {
	uint64_t object;
	bool write;
	const uint64_t *overlaps;
	uint32_t nr_overlaps;
};
int vector_clocks_step_on(struct vector_clocks *vc, const struct search_point *point, uint32_t i,
			  const struct vector_clocks_access *accesses, uint32_t nr,
			  struct vector_clocks_race *race);

/*
 * The variable was used by two tasks or more, one of them writing, in some
 * execution, and never raced: other synchronisation orders it.
 */
bool vector_clocks_always(const struct vector_clocks *vc, uint64_t object);

#endif
