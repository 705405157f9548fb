/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * engine_internal.h - inside of engine.h: the loop of an execution (engine.c), decisions
 * (engine_decide.c), what the trace is told (engine_steps.c), ends that the program does not
 * make (engine_ends.c), and the tasks of a language's runtime (engine_runtime.c)
 */
#ifndef ZUG_ENGINE_INTERNAL_H
#define ZUG_ENGINE_INTERNAL_H

#include "engine/engine.h"
#include "engine/faults.h"
#include "engine/progress_check.h"
#include "engine/stack_set.h"
#include "engine/takers.h"
#include "engine/values.h"

#define MS 1000000ull
/* So many steps in a row may be left out: a task that waits for others there, in a loop, gives them a turn then. */
#define LEFT_OUT_MOST 1000

struct engine {
	struct world *w;
	struct search *s;
	struct capture *c;
	struct engine_options o;
	bool (*on_step)(void *ctx, const struct search_point *p, uint32_t i, struct outcome *o);
	void *on_step_ctx;
	bool (*step_looks)(void *ctx);
	bool (*on_state)(void *ctx, uint32_t task, struct outcome *o);
	void *on_state_ctx;
	enum engine_hold (*hold)(void *ctx, uint32_t task, const struct zug_label *l);
	void *hold_ctx;
	bool holds_none;
	unsigned int hold_op;		/* tasks before that operation alone; ZUG_OP_NONE: before any */
	uint64_t hold_sites[2];		/* and those at these places; 0: none */
	bool hold_at_times;		/* before any, but see engine_hold_at_times() */
	uint64_t until_ns;	/* engine_until() */

	/* the choice point: engine_candidates.c keeps it from one decision to the next */
	struct search_cand *cands;	/* all live tasks, ascending */
	uint32_t nr_cands;
	uint32_t *enabled, *places;	/* of these the enabled: tasks, and indices into cands; ascending */
	uint32_t nr_enabled;
	uint64_t *bits;		/* the same as enabled: a bit for each task, see candidates_words() */
	uint32_t nr_words;	/* room */
	uint32_t *at;		/* by task: its index in cands and 1 more; 0: it is no candidate */
	bool altered;		/* not as the world says, for this decision alone */
	uint32_t *changed, nr_changed;	/* tasks that are other than the search has seen them at its last point */
	bool any_changed;	/* any may be; the list says nothing */
	uint32_t stale;		/* a task that the world did not name though it has changed (o.check_candidates), or */
				/* WORLD_NO_TASK */
	struct task_traits {
		bool parked, timed, outside;
		uint32_t place;	/* in timed, of one that is */
	} *traits;		/* by task */
	uint32_t *timed;	/* nr_timed of them, in any order */
	uint32_t nr_parked, nr_timed, nr_outside;	/* live tasks: that could run; with a deadline; see expiry_outside() */
	uint8_t *held;		/* by candidate: HOLD_* */
	uint32_t cands_room, enabled_room, places_room, held_room, traits_room, timed_room, at_room, changed_room;

	/* of the current execution */
	const struct replay *r;	/* NULL: it follows no trace */
	struct trace_writer *t;	/* NULL: it leaves none */
	struct execution *x;
	char *err;		/* the caller's: what went wrong with the world */
	size_t errlen;
	struct world_status status;	/* after the last event */
	uint64_t start_ns;
	uint64_t lap_ns;	/* clock_now_ns() at the last engine_lap() */
	uint64_t tended_ns;	/* when the world was tended last */
	uint64_t ran_ns, idle_ns;	/* the tasks' processor time; how long none of them could run */
	uint64_t nr_moves;		/* steps other than SPIN */
	uint64_t moved_ns, moved;	/* the sum of these times at the last of them, and how many there were by then */
	uint64_t forgiven_ns;		/* a task computed so long only because others that could run did not get the turn */
	uint64_t went_on_ns;		/* a task that was stopped in a computation went on then; 0: it came to a point since */
	unsigned int switches;		/* that such stops led to */
	bool bug;		/* the execution has ended by an error of zug's that no other execution may follow */
	uint64_t callers_from;	/* from that step on the trace says which lines call library code that makes a step */
	bool on_trial;		/* the last task that can run stops at each point, to see whether it gets anywhere */
	bool proven;		/* of a replay: the last task goes round in the same state; it was recorded later (e->r->nr) */
	bool time_passes;	/* the only task that can run waits in a loop: the next time-out may expire */
	uint64_t trial_at;	/* steps without anything new: then its states are compared, or it is tried again */
	uint32_t last;		/* task of the last step, or WORLD_NO_TASK */
	bool yielded;		/* leaving it is no preemption */
	uint32_t same;		/* steps in a row of the last task while others were enabled */
	bool forced;		/* at this decision the last task goes on: its point is left out */
	bool begins;		/* one alone can be chosen at it, for a runtime begins a thread there: world_task.begins */
	uint32_t stops;		/* of a computation in a row */
	bool quiet;		/* at the last point the search had not begun yet */
	uint32_t holds;		/* decisions at which a task was held */
	uint32_t nr_runtime;	/* tasks of a language's runtime (engine_runtime.c) */
	uint32_t passed_over;	/* decisions in a row at which one of these could have had the turn */
	uint32_t in_vain;	/* time-outs in a row, since a task of the program's made another step */
	uint64_t due;		/* time-outs up to here may expire at this decision also where none may early */
	uint32_t spun;		/* decisions in a row at which all tasks looked at a spin lock that is held */
	bool question;		/* no task has the turn, and a decision is due */
	uint64_t asked_ns;	/* since then */
	uint32_t leased;	/* the question is about this task, which has gone on under its lease; or WORLD_NO_TASK */
	bool leases;		/* there may be some in this execution */
	uint32_t run_task;	/* in a replay: whose the steps are from run_from on, up to run_to */
	uint64_t run_from, run_to;
	enum ask_cause unleased;	/* why the task that has the turn has none; ASK_NR: it has one */
	bool fired;		/* a timer: the tasks that it has woken are in the events that are there */
	struct progress_check pc;
	struct progress_loops loops;
	struct takers takers;
	struct misuse *misuse;
	struct faults faults;
	struct values values;
	bool values_given;	/* not the search chooses them */
	bool leave_numbers;	/* nor those that random numbers of the program follow from */
	bool *told;		/* by task: the trace knows it */
	uint32_t told_room;
	uint32_t *untold;	/* tasks that were enabled, and that the trace may not know */
	uint32_t nr_untold, untold_room;
	struct stack_set crashed;	/* of the first process besides the root command's that a signal of its own ended */
	struct stack_set stacks;	/* when a task got a signal that ends its process, or was about to fail by its exit */
};

enum verdict {
	GO_ON = 0,
	WAIT,		/* for another event */
	END,		/* the execution is over, and its outcome is set */
	EXITED,		/* it is over: the root command ended by itself */
};

/* Asks the world how it is; its clock, which is in e->status as well. */
uint64_t engine_look(struct engine *e);
/* This execution cannot go on, by no fault of the program: says so in the outcome. Others may follow, unless e->bug is set. */
enum verdict engine_broken(struct engine *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/*
 * The time since the last one went into that part (SPENT_NR: into none). It is the machine's, whatever the world's clock
 * says.
 */
void engine_lap(struct engine *e, enum spent_part part);
/* Never NULL. */
const char *engine_name_of(struct engine *e, uint64_t object);
/*
 * The step of the replayed trace that comes next; NULL: none, or the execution has left the trace.
 */
const struct trace_step *engine_expected(const struct engine *e);
/* Of a replay; NULL: none. */
struct debugger *engine_debugger(const struct engine *e);
/*
 * Tells it who gets the turn. What it takes is not the execution's time. false: it wants the end,
 * which is the outcome then.
 */
bool engine_debug_granting(struct engine *e, uint64_t step, uint32_t task);

/* engine_steps.c. Writes into the trace what a task is, once. */
void steps_tell_task(struct engine *e, uint32_t task);
/* The task is enabled now: the next step tells it, too. */
void steps_untold(struct engine *e, uint32_t task);
/* Writes what happened between steps; text may be NULL. */
void steps_note(struct engine *e, enum trace_note_kind kind, uint32_t task, uint32_t arg, const char *text);
/* A timer fires early, by so much. */
void steps_note_timer(struct engine *e, const char *early, const struct world_timer *t);
/* A task makes the step before which it stands; e->enabled has nr_enabled tasks. */
void steps_record(struct engine *e, uint32_t task, uint32_t nr_enabled);
/* So many steps of that task, which goes on, may come before others are to have a turn. */
uint64_t steps_before_starving(const struct engine *e, uint32_t task);
/*
 * The execution has left the trace that it replays: from here on it is on its own. Only the first
 * time counts.
 */
void steps_diverged(struct engine *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * engine_candidates.c. Makes cands and what goes with it what the world says now: the number that is enabled. only: the
 * one task to call enabled, or WORLD_NO_TASK. false: out of memory.
 */
bool candidates_look(struct engine *e, uint32_t only);
/* The candidates were altered for this decision: enabled and places follow from them. The number that is enabled. */
uint32_t candidates_list(struct engine *e);
/* The index of a task's candidate, SEARCH_NO_TASK: it has none; whether that is enabled. */
uint32_t candidates_find(const struct engine *e, uint32_t task);
/* So many of the words of bits may have some. */
uint32_t candidates_words(const struct engine *e);
bool candidates_is_enabled(const struct engine *e, uint32_t task);
void candidates_reset(struct engine *e);
void candidates_free(struct engine *e);

/* engine_decide.c. Gives the turn to a task: GO_ON; END; WAIT: an event has to come first. */
enum verdict decide(struct engine *e);
/* A point that the task passed without stopping: a step with one candidate. GO_ON or END. */
enum verdict decide_passed(struct engine *e, uint32_t task);
/* A task before that operation is among those that engine_hold() and its kin ask about, at the next step. */
bool decide_may_hold(const struct engine *e, const struct zug_label *l);
/* From then on a time-out or timer of that time may end, early or not. installed: of a task that is (struct world_task). */
uint64_t early_from(const struct engine *e, uint64_t deadline, bool installed);
/* Task t is blocked, and may go on as if its time-out were over; its time may be up to limit. */
bool may_expire(const struct engine *e, const struct world_task *t, uint64_t limit);
/* Shows the search the state in which the execution ended. */
void decide_final(struct engine *e);

/*
 * engine_runtime.c. The search begins, and that task of the program has come there: all others are the runtime's, where the
 * options say so.
 */
void runtime_begins(struct engine *e, uint32_t program);
/* A task was made: what the runtime's make are the runtime's. */
void runtime_new_task(struct engine *e, uint32_t task);
void runtime_reset(struct engine *e);
/* Of the enabled candidates only the program's stay so, or, where these wait or yield, one of the runtime's. Their number. */
uint32_t runtime_leave(struct engine *e);
/* A task makes a step; expires: as its time-out is over. */
void runtime_step(struct engine *e, uint32_t task, bool expires);
/* True when only the runtime's tasks wake up any more, at times, and lead to nothing: the program's will wait for ever. */
bool runtime_alone(struct engine *e);

/* engine_lease.c. An execution begins. */
void lease_begin(struct engine *e);
/*
 * The task was chosen at that point, made its step there, and gets the turn next: gives it the lease
 * that the search promises.
 */
void lease_give(struct engine *e, const struct search_point *p, uint32_t task);
/* All tasks stand still for the decision that was made at that point, for that task: counts why. */
void lease_note_question(struct engine *e, const struct search_point *p, uint32_t task);

/* engine_ends.c. True when no task can run, and none ever will. */
bool ends_all_wait_inside(const struct engine *e);
/* Sets the outcome: what each task waits for, and which task has it. */
void ends_deadlock(struct engine *e);
/* True when tasks wait for locks of each other, whatever others do; then the outcome is set. */
bool ends_lock_cycle(struct engine *e, uint32_t from);
/*
 * The same of locks that do not say who has them, at a decision at which nothing can go on but by time-outs. These have led
 * to nothing for long.
 */
bool ends_cycle_in_vain(struct engine *e);
/* Once the tasks that stand before locks go on, such a cycle is there. */
bool ends_cycle_ahead(const struct engine *e);
/*
 * A replay of a livelock that was recorded after more steps. How far the last task had gone when it was looked at was up to
 * the machine, so a replay ends where the recording does.
 */
bool ends_later(const struct engine *e);
/* True when steps lead nowhere; then the outcome is set. */
bool ends_livelock(struct engine *e);
/* A program that faults says nothing: the place is all there is to see. */
void ends_on_fault(struct engine *e, uint32_t task, uint64_t site);
/* A process that is not the root command's ends by that signal of its own doing: keeps its task's stack. */
void ends_on_crash(struct engine *e, uint32_t task, int signal);
/* True when the task ends the root command now, with a status that is a failure. */
bool ends_fails(const struct engine *e, const struct world_task *t);
/* Takes the stacks of all that live. dying: a task that will not go on, or WORLD_NO_TASK. */
void ends_take_stacks(struct engine *e, uint32_t dying);
/*
 * Writes the stacks as they are where the execution is over: they belong to its end, whatever it
 * will be called.
 */
void ends_add_stacks(struct engine *e);

#endif
