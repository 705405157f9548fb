/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * around.h - what searches around one failing schedule have in common: minimize.h, neighbour.h
 *
 * Their first execution follows that schedule, and must fail as it did; each further one is a trial.
 */
#ifndef ZUG_SEARCH_AROUND_H
#define ZUG_SEARCH_AROUND_H

#include "search/strategy.h"

/* The first member of the strategy's state. */
struct around {
	struct search_env *env;
	uint64_t failure;		/* the identity that it fails with */
	uint64_t max_trials, trials;	/* executions, 0: no bound; those that were begun */
	uint32_t *order;		/* decisions to follow: those of the schedule, at first */
	size_t nr_order;
	struct zug_label *labels;	/* of these; NULL: the first execution has the points of the schedule */
	size_t at;			/* of the first execution otherwise: the next one to follow */
	bool unfair;			/* the schedule goes beyond the fair filter */
	bool reproduced;		/* the first execution did fail so */
	int error;			/* -errno */
};

/* A search of that type: arguments as of minimize_new(). */
struct search *around_new(const struct search_options *opts, const struct strategy_type *type, const uint32_t *tasks,
			  size_t nr, uint64_t failure, uint64_t trials, char *err, size_t errlen);
void around_release(struct around *a);

/*
 * The first execution has other accesses of data as points than the schedule had: a task goes on at those that are new,
 * and what is no point any more is left out. labels: of the steps of the schedule. 0 or -ENOMEM.
 */
int around_other_data(struct around *a, const struct zug_label *labels);

/* SEARCH_GO, SEARCH_EXHAUSTED when there is no trial left, or the error. */
int around_begin(const struct around *a);
/*
 * The position of the task that goes on by 'order', or by the base scheduler where 'order' does not
 * say it.
 */
uint32_t around_follow(struct around *a, const struct choice *c);

/*
 * The choice that is made at that point. It is the one under the fair filter, unless the schedule lets tasks go on that the
 * filter holds back, as where they were patient (patience.h): then it is one of all enabled tasks, and the filter is the base
 * scheduler's alone.
 */
struct choice around_choice(const struct around *a, const struct choice *fair);
/* The position pos of that choice is taken. */
void around_chosen(struct around *a, const struct choice *fair, const struct choice *c, uint32_t pos);

/* At so many of the next points around_follow() lets the task go on that made the last step, as long as it can. */
uint64_t around_promise(const struct around *a, const struct search_point *point, uint32_t task);

/*
 * The same as search_ahead(), behind so many steps; and as search_rule(), of tasks whose weights are their steps (hb_steps()).
 */
uint32_t around_ahead(const struct around *a, size_t steps, uint64_t nth);
void around_rule(const struct around *a, struct search_rule *r);

/* For strategy_type. */
int around_init(void *state, struct search_env *env, const int64_t *args);
uint64_t around_weight(const void *state, uint32_t task);

#endif
