/* SPDX-License-Identifier: GPL-2.0-only */
/* engine_internal.h - inside of engine.h: the turns (engine.c) and the ends (engine_ends.c) */
#ifndef ZUG_ENGINE_INTERNAL_H
#define ZUG_ENGINE_INTERNAL_H

#include "engine/engine.h"
#include "engine/faults.h"
#include "engine/progress_check.h"
#include "engine/stack_set.h"

struct engine {
	struct world *w;
	struct search *s;
	struct capture *c;
	struct engine_options o;
	bool (*on_step)(void *ctx, const struct search_point *p, uint32_t i, struct outcome *o);
	void *on_step_ctx;
	bool (*on_state)(void *ctx, uint32_t task, struct outcome *o);
	void *on_state_ctx;
	bool (*hold)(void *ctx, const struct zug_label *l);
	void *hold_ctx;
	uint32_t holds;		/* decisions of this execution at which somebody was held */
	struct search_cand *cands;
	uint32_t *enabled;
	bool *held;		/* by candidate */
	uint32_t nr_cands;

	/* of the current execution */
	const struct replay *r;
	struct trace_writer *t;
	struct execution *x;
	struct world_status status;	/* after the last event */
	uint64_t start_ns;
	uint64_t since_ns;	/* from then on the time-out counts */
	uint32_t last;
	bool yielded;
	uint32_t same;		/* steps in a row of the last task while others were enabled */
	uint32_t stops;		/* of a computation in a row */
	bool fired;		/* a timer: whom it has woken is in the events that are there */
	uint32_t spun;		/* decisions in a row at which everybody looked at a held spin lock */
	struct progress_check pc;
	struct misuse *misuse;
	struct faults faults;
	uint32_t told_tasks;
	bool *told;
	uint32_t nr_told;
	struct stack_set stacks;	/* when a task got a signal that ends its process, or was about to fail by its exit */
};

/* Never NULL. */
const char *engine_name_of(struct engine *e, uint64_t object);
/* Writes into the trace who this task is, once. */
void engine_tell_task(struct engine *e, uint32_t task);

/* Nobody can run. Is it for ever? */
bool ends_all_wait_inside(const struct engine *e);
/* Sets the outcome: for whom and what each task waits. */
void ends_deadlock(struct engine *e);
/* Tasks that wait for locks of each other, whoever else lives on: then the outcome is set. */
bool ends_lock_cycle(struct engine *e, uint32_t from);
/* Steps that lead nowhere: then the outcome is set. */
bool ends_livelock(struct engine *e);
/* A program that faults says nothing: where it did is all there is to see. */
void ends_on_fault(struct engine *e, uint32_t task, uint64_t site);
/* Does the task end the root command now, and with a status that is a failure? */
bool ends_fails(const struct engine *e, const struct world_task *t);
/* Stacks of all that live, once 'dying' (WORLD_NO_TASK: nobody) will not go on. */
void ends_take_stacks(struct engine *e, uint32_t dying);
/* Where the execution is over: they belong to its end, whatever it will be called. */
void ends_add_stacks(struct engine *e);

#endif
