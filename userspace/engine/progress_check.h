/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * progress_check.h - whether an execution still gets anywhere
 *
 * Livelock: for PROGRESS_WINDOW steps no task was created, ended, blocked or
 * exec'd, and every task that could run ran and yielded, again and again; and
 * each stands where it stood before it yielded, again and again, as far as the
 * world knows: tasks that count their rounds work, and are polite. Where that
 * has gone on for half of the steps that an execution may have, they have
 * counted long enough.
 */
#ifndef ZUG_PROGRESS_CHECK_H
#define ZUG_PROGRESS_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "engine/world.h"

#define PROGRESS_WINDOW 10000	/* steps: half of CHESS' bound of 20000 */
/* Where that was none, the next judgement comes so many steps later: in between points are passed under leases. */
#define PROGRESS_AGAIN 500

/*
 * A task that goes on for so many steps while others wait, without ever yielding, is taken for
 * one that has yielded: else a loop that only another task can end would starve that task under
 * every strategy that does not preempt.
 */
#define PROGRESS_STARVING 100

/*
 * Tasks that wait in loops and take turns can starve another one, too: a task that has made so many steps at the same one or
 * two operations, while some task has waited for PROGRESS_STARVING steps, is taken for one that yields. One that makes
 * tasks in a loop is none of these.
 */
#define PROGRESS_ROUNDS 20

struct progress_loop {
	uint64_t ops[2];		/* the last ones, as hashes of places and objects */
	uint32_t rounds;		/* steps at these alone */
};

struct progress_loops {
	struct progress_loop *tasks;	/* by number */
	uint32_t room;
	uint32_t waits;			/* this task is enabled and has not been chosen; or WORLD_NO_TASK */
	uint32_t steps;			/* for so long */
};

struct progress_task {
	uint64_t steps, yields;		/* in the window */
};

/* Where a task stood when it was looked at: the last ones, and how often it had yielded by then. */
#define PROGRESS_STATES 32
#define PROGRESS_REPEATS 2		/* so often it came back to one of these */

struct progress_states {
	uint64_t states[PROGRESS_STATES], yields[PROGRESS_STATES];
	uint32_t nr, repeats;
};

#define PROGRESS_SITES 64

struct progress_check {
	struct progress_task *tasks;	/* by number */
	uint32_t room;
	uint64_t steps;			/* since anything new happened */
	uint64_t window;		/* the owner's: so many of them are a livelock; 0: PROGRESS_WINDOW */
	uint64_t bound;			/* the owner's: steps that an execution may have; UINT64_MAX: it has no bound */
	uint64_t sites[PROGRESS_SITES];	/* passed since then, each once; further ones are not kept */
	uint32_t nr_sites;
	struct progress_states *stood;	/* by number */
	uint32_t room_stood;
	bool looked;			/* any of these is known */
};

/* But for the window, it begins anew. */
void progress_reset(struct progress_check *p);
uint64_t progress_window(const struct progress_check *p);
void progress_free(struct progress_check *p);
/* Something new: a task was created, ended, blocked or exec'd. */
void progress_made(struct progress_check *p);
/* A task is at a point; yield: its operation says that it cannot make progress now. */
void progress_point(struct progress_check *p, uint32_t task, uint64_t site, bool yield);
/* The engine judges it at this point: all tasks stand then. */
bool progress_is_due(const struct progress_check *p);
/* So many points come before the next one at which, or behind whose step, it does: no lease reaches to that one. */
uint64_t progress_calm(const struct progress_check *p);
/* Notes where that task stands, which it does. */
void progress_look(struct progress_check *p, struct world *w, uint32_t task);
/* The same of all, where a judgement is due, several can run, and all of these yield. All tasks stand. */
void progress_look_at_all(struct progress_check *p, struct world *w);
/*
 * How many tasks are in a livelock, 0: none is; who: "T1, T2", for the message; *steps: so many without anything new made it
 * one.
 */
unsigned int progress_livelock(const struct progress_check *p, const struct world *w, char *who, size_t len, uint64_t *steps);
void progress_loops_reset(struct progress_loops *l);
void progress_loops_free(struct progress_loops *l);
/*
 * A task has made a step, where enabled[0..nr) were enabled, in ascending order; waits: l->waits is one of them. true: it is
 * taken for one that yields.
 */
bool progress_loops_step(struct progress_loops *l, uint32_t task, const struct zug_label *label, const uint32_t *enabled,
			 uint32_t nr, bool waits);
/* Before so many steps have come no task is taken for one that yields, whoever makes them. */
uint32_t progress_loops_calm(const struct progress_loops *l);
/* Nor that task before it has made so many itself, at least one. label: of its next one; NULL: that is not known. */
uint32_t progress_loops_left(const struct progress_loops *l, uint32_t task, const struct zug_label *label);
/* True when no task but this one can ever run, unless it goes on to something new. */
bool progress_is_last(struct world *w, uint32_t task);
/*
 * True when no task but this one can run before time passes: a time-out of the test's clock expires, or a timer
 * fires (timer: one is set).
 */
bool progress_needs_time(struct world *w, uint32_t task, bool timer);

#endif
