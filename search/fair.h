/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fair.h - the fair scheduler: a filter before every strategy
 *
 * Musuvathi, Qadeer: Fair stateless model checking (PLDI 2008), Algorithm 1.
 * A task that yields says that it cannot make progress; from then on it stands
 * behind every task that was all the time enabled, or disabled by it, since its
 * yield before, and was not scheduled. It may run only where none of these is
 * enabled, until they have been scheduled. The relation stays acyclic, so
 * some task may always run; spin loops that yield end; and a program that yields
 * only when it cannot make progress loses no outcome.
 *
 * At a task's first yield nothing can be in that set, so a task costs nothing
 * until it yields.
 */
#ifndef ZUG_SEARCH_FAIR_H
#define ZUG_SEARCH_FAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct search_point;
struct fair_task;

struct fair {
	uint32_t every;			/* act on every every-th yield; 0: off */
	uint32_t nr_yielders;
	uint32_t room;			/* yielders allocated */
	uint32_t words;			/* 64-bit words of a set of tasks */
	struct fair_task *yielders;
	uint64_t *bits;			/* room * 4 sets */
	uint64_t *enabled;		/* set: enabled at this point, since a task has yielded */
	uint64_t *before;		/* set: the same of the point before */
	uint64_t hash;			/* of the relation; 0 when it is empty */
};

int fair_init(struct fair *f, uint32_t every);	/* -ENOMEM */
void fair_fini(struct fair *f);
void fair_reset(struct fair *f);		/* a new execution */

/*
 * A step was made by point->last, and led to this point, whose enabled candidates are listed. It is
 * called for each step of an execution but the first. -ENOMEM.
 */
int fair_step(struct fair *f, const struct search_point *point);

/*
 * The indices of candidates that may run, of those that point->enabled lists, ascending, into allowed
 * (room for point->nr); returns their number, at least one when one is enabled.
 */
uint32_t fair_filter(const struct fair *f, const struct search_point *point, uint32_t *allowed);

#endif
