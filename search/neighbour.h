/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * neighbour.h - the passing schedule that is closest to a failing one, and what they differ in
 *
 * A search like any other, driven by the loop of minimize.h. The first execution follows the given
 * schedule and must fail with the given identity. Then each pair of dependent operations is reversed
 * by itself (critical.h), from the last to the first, those that tear an update (torn.h) before the
 * others (pair_order.h); the first that passes so ends the search, but for looks that may say more: at what another task
 * changed before the one that had looked acted on it, and, where the pair is of data, those by which its two tasks came there.
 * Where others come into the updates of an object, these updates are made whole, one after the other: after the pairs where
 * these are few, else before them. Of pairs at the same places, which several tasks make, one after the other is
 * reversed in what failed alike. Of the children of one task, with all that they make, one waits for the other
 * (neighbour_siblings.c): before all that where there are many pairs, else now. Where that does not pass either, a
 * single decision of the schedule is another one: first where it differs from the base scheduler (schedule.h), then such
 * a decision is made some steps earlier or later, and where nothing of that passes, any decision at which another task
 * could have had the turn, from the last to the first. What came after it stays as far as it can.
 *
 * A trial whose execution is given up is made once more.
 *
 * Of those that pass the closest is the one in which the fewest dependent operations come in another order; of
 * equals, the one that parts latest.
 */
#ifndef ZUG_SEARCH_NEIGHBOUR_H
#define ZUG_SEARCH_NEIGHBOUR_H

#include "search/search.h"

/* As minimize_new(); the schedule should be a minimal one, or there is more to it than one pair. */
struct search *neighbour_new(const struct search_options *opts, const uint32_t *tasks, size_t nr,
			     uint64_t failure, uint64_t trials, char *err, size_t errlen);

/*
 * Says which places are a library's, not the program's: operations there are tried last, and named where there are no
 * others. Before the first search_begin(); ctx stays the caller's.
 */
void neighbour_set_foreign(struct search *s, bool (*foreign)(const void *ctx, uint64_t site), const void *ctx);

/*
 * Says which places are in code that the user has written: where several programs take part, pairs there are tried before all
 * others. Before the first search_begin(); ctx stays the caller's.
 */
void neighbour_set_users(struct search *s, bool (*users)(const void *ctx, uint64_t site), const void *ctx);

/*
 * The failure is the last operation of the given schedule, a misuse of what it acts on: pairs on that are tried before others.
 * Before the first search_begin().
 */
void neighbour_set_misuse(struct search *s);

/*
 * An operation in both executions; of the failing one the label of the first of a pair, of the passing one that of the
 * second.
 */
struct neighbour_op {
	uint32_t task;
	struct zug_label label;
	uint64_t failing, passing;	/* its step in each; UINT64_MAX: it was not reached there */
};

struct neighbour_result {
	bool reproduced;		/* the given schedule did fail as said */
	bool found;			/* a schedule that passes */
	bool all;			/* all that are near were tried; false: trials ran out */
	size_t nr, part;		/* its steps; the first that is not as in the failing one */
	uint64_t trials;		/* executions made */
	uint64_t trial;			/* which of them, from 1 on, was the closest */
	uint64_t alike, otherwise;	/* the numbers of those that failed like the given one, and in another way */
	uint64_t nr_pairs;		/* dependent operations in another order, as far as they were counted */
	/*
	 * The pair that was reversed, and nothing else but what follows from it (alone); or the first of these
	 * pairs, when there is one: in the failing execution this order, in the other the reverse.
	 */
	bool alone;
	struct neighbour_op first, second;
	struct zug_label second_here;	/* second's label with the objects of the failing execution */
	/* None passes: the first and the second of a torn update, or nothing is known of any (torn). */
	bool torn;
};

void neighbour_result(const struct search *s, struct neighbour_result *result);

#endif
