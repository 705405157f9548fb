/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * priorities.h - random priorities of the operations before which tasks stand (Yuan, Yang, Gu: Partial Order Aware Concurrency
 * Sampling, CAV 2018)
 *
 * A struct of zeros is empty. In each execution:
 *
 *	priorities_clear
 *	(priorities_reserve, priorities_highest or the like, priorities_redraw) at each point
 *
 * Where points say what has changed (search_point.changed), it is known which tasks stand before operations on an object: then
 * priorities_redraw() looks at these alone.
 */
#ifndef ZUG_PRIORITIES_H
#define ZUG_PRIORITIES_H

#include <stdint.h>
#include "lib/base/id_map.h"
#include "search/access.h"
#include "search/rng.h"
#include "search/strategy.h"

/* A task stands before an operation on that object; all that do are in a list. */
struct standing {
	uint64_t object;	/* 0: it does not */
	uint32_t before, behind;	/* places in priorities.standing and 1 more; 0: none */
	bool write;
};

struct priorities {
	uint64_t *prio;		/* by task; 0: to be drawn */
	uint32_t nr;		/* tasks that there is room for */
	struct standing *standing;	/* two for each task */
	uint32_t room_standing;
	struct id_map first;	/* by object: a place in standing and 1 more, 0: none */
	bool follows;		/* these are of the last point, which had that step: */
	uint64_t step;
};

void priorities_free(struct priorities *p);
/* An execution begins: all are to be drawn. */
void priorities_clear(struct priorities *p);
/* Room for the tasks of that point. -ENOMEM. */
int priorities_reserve(struct priorities *p, const struct search_point *point);

/* The place among the choices of the one with the highest priority; what has none is drawn, if there is a choice. */
uint32_t priorities_highest(struct priorities *p, struct rng *rng, const struct choice *c);

/*
 * The same beforehand, from a copy of the generator: the task, if another one is enabled as well. SEARCH_NO_TASK: it needs no
 * priority.
 */
uint32_t priorities_next(const struct priorities *p, const struct rng *rng, const struct search_point *point);

/* The task makes its operation, a: its next one, and those of others that race with it, are to be drawn again. -ENOMEM. */
int priorities_redraw(struct priorities *p, const struct search_point *point, uint32_t task, const struct access *a);

static inline uint64_t priorities_of(const struct priorities *p, uint32_t task)
{
	return task < p->nr ? p->prio[task] : 0;
}

#endif
