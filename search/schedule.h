/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * schedule.h - a schedule as what in it differs from the base scheduler
 *
 * The base scheduler lets each task run on until it blocks, yields or ends, and then takes the next one in
 * the order of their numbers. A difference names the task that stops and the how manieth step of its own it has
 * made by then: so it survives when unrelated steps vanish, and what names a task that cannot run there is
 * skipped.
 */
#ifndef ZUG_SEARCH_SCHEDULE_H
#define ZUG_SEARCH_SCHEDULE_H

#include "search/strategy.h"

struct difference {
	uint32_t task, nth;	/* after that many steps of that task, the last one */
	uint32_t next;		/* this task goes on */
	bool preemption;
	size_t step;		/* where it was in the execution that it is of */
};

/* An execution: what was decided, and what of that was not the base scheduler. All zero: empty. */
struct schedule {
	uint32_t *tasks;
	struct zug_label *labels;	/* of the steps */
	size_t nr, room, room_labels;
	struct difference *diffs;
	size_t nr_diffs, room_diffs;
	uint32_t preemptions;
};

void schedule_clear(struct schedule *s);
void schedule_release(struct schedule *s);
/* Appends the decision for position pos at that point. 0 or -ENOMEM. */
int schedule_note(struct schedule *s, const struct search_env *env, const struct choice *c, uint32_t pos);

/* Of the last task, so far: what a difference at this point would have as nth. */
uint32_t schedule_nth(const struct search_env *env, const struct choice *c);
/* Where the task is in c; CHOICE_NONE: it is not. */
uint32_t schedule_position(const struct choice *c, uint32_t task);
/* What the base scheduler does. */
uint32_t schedule_base(const struct choice *c);
/* What the differences say, else the base scheduler. */
uint32_t schedule_follow(const struct difference *diffs, size_t nr, const struct search_env *env,
			 const struct choice *c);

/* As strategy_type has it: a value that a program asks for is always the first, as in search_replay(). */
int schedule_choose(void *state, uint32_t nr);

/* A copy of the tasks of a trace's steps, malloc'd; NULL: out of memory. */
uint32_t *schedule_copy(const uint32_t *tasks, size_t nr);

#endif
