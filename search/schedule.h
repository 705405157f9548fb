/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * schedule.h - a schedule as what in it differs from the base scheduler
 *
 * The base scheduler lets each task run on until it blocks, yields or ends, and then takes the next
 * one in the order of their numbers. A difference names the task that stops and how many steps it
 * has made by then: so it survives when unrelated steps vanish, and what names a task that cannot
 * run there is skipped.
 */
#ifndef ZUG_SEARCH_SCHEDULE_H
#define ZUG_SEARCH_SCHEDULE_H

#include "search/strategy.h"

struct difference {
	uint32_t task, nth;	/* after that many steps of that task, the last one */
	uint32_t next;		/* this task goes on */
	bool preemption;
	size_t step;		/* its step in the execution that it was taken from */
};

/* Where a list of differences has those of a task, by its steps: an execution asks for them at each of its steps. */
struct difference_index {
	struct difference_at {
		uint32_t task, nth;
		size_t at;
	} *list;
	size_t nr, room;
	size_t over;		/* of the list of differences so many are over, the first ones */
};

/* All zero: empty. Made anew for each list. 0 or -ENOMEM. */
int difference_index_make(struct difference_index *x, const struct difference *diffs, size_t nr);
void difference_index_release(struct difference_index *x);

/*
 * An execution: its decisions, and those of them that the base scheduler would not make. All zero:
 * empty.
 */
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

/* The steps of the last task so far: nth of a difference at this point. */
uint32_t schedule_nth(const struct search_env *env, const struct choice *c);
/* The position of the task in c; CHOICE_NONE: it is not there. */
uint32_t schedule_position(const struct choice *c, uint32_t task);
/* The position that the base scheduler takes. */
uint32_t schedule_base(const struct choice *c);
/* The position that the differences say, else the base scheduler's. x: of diffs. */
uint32_t schedule_follow(const struct difference *diffs, struct difference_index *x, const struct search_env *env,
			 const struct choice *c);

/*
 * At so many of the next points schedule_follow() lets the task that has the turn go on, as long as it
 * can.
 */
uint64_t schedule_promise(const struct difference_index *x, const struct search_env *env, uint32_t task);

/*
 * As strategy_type has it: how schedule_follow() chooses, of whose tasks the weights are their steps so far (hb_steps()). Where
 * there is no room for all differences it says where one of the others comes.
 */
void schedule_rule(const struct difference *diffs, const struct difference_index *x, const struct search_env *env,
		   struct search_rule *r);

/* As strategy_type has it: a value that a program asks for is always the first, as in search_replay(). */
int schedule_choose(void *state, uint32_t nr);

/* A copy of the tasks of a trace's steps, malloc'd; NULL: out of memory. */
uint32_t *schedule_copy(const uint32_t *tasks, size_t nr);
/* An operation of that kind is among its steps. */
bool schedule_has_op(const struct schedule *s, unsigned int op);

#endif
