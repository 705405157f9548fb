/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * engine.h - one execution: from questions to decisions to an outcome
 *
 * The engine asks the search at every choice point, checks what happens
 * against what was expected, sees deadlocks, lock cycles, livelocks and
 * time-outs, and writes the trace. It knows the world only through world.h.
 */
#ifndef ZUG_ENGINE_H
#define ZUG_ENGINE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include "lib/trace.h"
#include "search/search.h"
#include "engine/debugger.h"
#include "engine/outcome.h"
#include "engine/replay.h"
#include "lib/spent.h"
#include "engine/world.h"

#define EARLY_MOST	10
/*
 * So much is a machine slow in an execution, in all. Tests wait for up to 30 s for what may be slow. Programs that talk to each
 * other take a peer that says nothing for gone after 25 s (dbus-send), 30 s (servers, a connection) or 60 s (nginx), which is
 * right on all machines: EARLY_PEERS_NS is for programs of the distribution, and for tests of several programs.
 */
#define EARLY_NS	30000000000ull
#define EARLY_PEERS_NS	20000000000ull

struct engine_options {
	/*
	 * Of one execution: processor time of its tasks, and time in which none of them could run; 0: none. How long zug
	 * itself takes, or a busy machine, does not count.
	 */
	uint64_t timeout_ns;
	uint64_t longest_ns;	/* the same while it comes to points; below timeout_ns: that */
	uint64_t max_steps;	/* 0: none */
	const char *runtime_sources;	/* how names of the sources end that it executes; NULL: not known */
	const char *runtime_rechecks;	/* a function in which tasks wait for a lock for ever, and look at it again at */
					/* times; NULL: none */
	bool runtime_tasks;	/* those that live where the search begins are a language's runtime's, but for the one */
				/* that comes there */
	bool explore_timeouts;	/* a time-out may expire while others can run: engine_explore_timeouts() */
	/*
	 * Then only where that is likely enough: EARLY_MOST times in an execution, by EARLY_NS at most in all, and no timer
	 * whose signal would end its process. (A replay lets happen what was recorded.)
	 */
	bool likely_timeouts;
	uint32_t faults;	/* 1 << enum fault, of calls */
	uint32_t max_faults, max_flows;	/* in one execution */
	bool ask_always;	/* no leases: every point stops where another task could run */
	/*
	 * For tests of the engine and of worlds: each decision compares the candidates that were kept with a look at all
	 * tasks, and one that differs breaks the execution.
	 */
	bool check_candidates;
	bool show_questions;	/* on standard error */
	struct outcome_rules rules;
	const volatile sig_atomic_t *stop;	/* set: end the execution (Ctrl-C); may be NULL */
	struct debugger *debugger;	/* of replays; NULL: none */
};

struct execution {
	struct outcome outcome;
	uint64_t steps, preemptions, switches;
	uint64_t left_out;	/* steps among them that are no points of the search (ZUG_L_LEFT_OUT) */
	uint64_t asked;		/* decisions for which all tasks stood still: steps that were neither passed nor leased */
	uint64_t hash;		/* of the sequence of (task, operation, object, site): equal for equal executions */
	uint64_t trace_sum;	/* of its trace (trace_sum()), by the one who has the trace written; 0: not known */
	uint64_t early, early_ns;	/* time-outs and timers that ended before their time; by so much, in all */
	uint64_t ungranted;
	uint64_t wall_ns, launch_ns, drain_ns;	/* the whole; until the first point; for its end */
	struct spent spent;
	uint32_t nr_tasks;
	bool handlers;		/* handlers of signals began */
	int status;		/* wait status of the root command; -1: it did not end by itself, or unknown */
	bool before;		/* it ended before the test came to where its search begins */
	bool cut;		/* what looks for points has ended it: it is no whole execution */
	bool diverged;		/* did not follow the replay; the outcome is what happened then */
	uint64_t diverged_at;	/* step */
	char divergence[256];
};

struct engine;
struct engine *engine_new(struct world *w, struct search *s, struct capture *c,
			  const struct engine_options *o);
void engine_free(struct engine *e);
/* From the next execution on time-outs and timers may end before their time, or may not. */
void engine_explore_timeouts(struct engine *e, bool may);
/*
 * From the next execution on the trace says where the program calls library code that makes a step (TRACE_NOTE_CALLER), of the
 * steps from that one on: all tasks stand at each of them. UINT64_MAX: of none.
 */
void engine_note_callers(struct engine *e, uint64_t from);
/* From the next execution on so many steps without anything new are a livelock; 0: PROGRESS_WINDOW. */
void engine_set_window(struct engine *e, uint64_t steps);
/* From now on the engine asks s, and ends executions after timeout_ns (0: never), or longest_ns (struct engine_options). */
void engine_use(struct engine *e, struct search *s, uint64_t timeout_ns, uint64_t longest_ns);
/* From now on an execution that has not ended by then (clock_now_ns()) is cut, as by the user. 0: none is. */
void engine_until(struct engine *e, uint64_t until_ns);

/*
 * From the next execution on fn sees every step before it is made: p->cand[i] makes it. It answers
 * true to end the execution there, with the outcome that it has put into *o. NULL: no function
 * does. Steps may have been made already under a lease, unless looks(), which is asked where an
 * execution begins, says that fn looks at the test or may end this execution. NULL: it does.
 */
void engine_watch_steps(struct engine *e, bool (*fn)(void *ctx, const struct search_point *p, uint32_t i,
						     struct outcome *o),
			bool (*looks)(void *ctx), void *ctx);

/*
 * From the next execution on a task is held whose next step fn says so of: it does not get the turn
 * while another task can have it, for at most ENGINE_HOLDS decisions of an execution. Where all are
 * held, those of HOLD_LAST still wait for the others: the end of a process ends them, too. NULL: no
 * task is held.
 */
#define ENGINE_HOLDS 2000
enum engine_hold { HOLD_NOT = 0, HOLD, HOLD_LAST };
void engine_hold(struct engine *e,
		 enum engine_hold (*fn)(void *ctx, uint32_t task, const struct zug_label *l), void *ctx);
/* The same of tasks before that operation alone. While none stands there, points are passed under leases. */
void engine_hold_before(struct engine *e, unsigned int op,
			enum engine_hold (*fn)(void *ctx, uint32_t task, const struct zug_label *l), void *ctx);
/*
 * The same of tasks that stand at one of two places, where no task waits, and of those before their end. While none
 * stands there, points are passed under leases.
 */
void engine_hold_at(struct engine *e, const uint64_t *sites,
		    enum engine_hold (*fn)(void *ctx, uint32_t task, const struct zug_label *l), void *ctx);
/*
 * The same of any task, for another schedule: in the first ENGINE_HOLD_FIRST steps, and then, so that a long execution goes on
 * under leases, in the first ENGINE_HOLD_FOR of ENGINE_HOLD_EVERY. In the others tasks before their end are held.
 */
#define ENGINE_HOLD_FIRST 1000
#define ENGINE_HOLD_EVERY 3200
#define ENGINE_HOLD_FOR 100
void engine_hold_at_times(struct engine *e, enum engine_hold (*fn)(void *ctx, uint32_t task, const struct zug_label *l),
			  void *ctx);
/* From the next execution on none is held, whatever was asked for: that of a trial has its whole schedule already. */
void engine_hold_none(struct engine *e, bool none);

/*
 * From the next execution on fn is called before every decision; task made the last step
 * (WORLD_NO_TASK: there was none). It answers true to end the execution there, with the outcome
 * that it has put into *o. Every point asks then. NULL: no function is called.
 */
void engine_watch_states(struct engine *e, bool (*fn)(void *ctx, uint32_t task, struct outcome *o), void *ctx);

/* The faults of the engine's executions, for a plan (faults.h). */
struct faults;
struct faults *engine_faults(struct engine *e);
/*
 * From the next execution on the test gets the values of a trace where it asks for some (values.h),
 * in whatever order its tasks come to that; NULL: the search chooses again. 0 or -ENOMEM.
 */
int engine_give_values(struct engine *e, const struct trace *t);
/* From the next execution on the random numbers of a program are as its runtime made them, whatever was recorded. */
void engine_leave_numbers(struct engine *e, bool leave);

/*
 * Runs the test once under the next schedule of the search (search_begin() has answered SEARCH_GO;
 * for a replay, after search_replay() with its tasks). The trace, if any, gets everything but its
 * outcome's output texts; sites are not symbolised. 0, or -errno with a line in err when the world
 * broke (-ENOTRECOVERABLE: zug has a bug); the outcome is then ENVIRONMENT. It is that with 0, too,
 * where this execution alone could not go on.
 */
int engine_run(struct engine *e, const struct replay *r, struct trace_writer *t,
	       struct execution *x, char *err, size_t errlen);

#endif
