/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * engine.c - the loop of one execution: events of the world in, answers to its questions out, until
 * there is an outcome
 *
 * engine_run() and follow() are where to begin. An event only informs, or it asks: no task has the
 * turn. Then decide() (engine_decide.c) gives the turn to a task, now or after further events.
 * While no event comes, time is what ends an execution: the grace of a deadlock, the time-out, the
 * user's patience.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/engine_internal.h"
#include "engine/expiry.h"
#include "engine/failure.h"
#include "lib/base/clock.h"

/* All tasks wait for each other: so long for a wake-up that is on its way in the kernel. */
#define GRACE_NS (20 * MS)
#define EVENT_US 10000
/* So many timers in a row may do nothing before a deadlock is one: those of a period fire for ever. */
#define FIRED_IN_VAIN 256
#define TEND_NS (1000 * MS)
/* The time-out is judged each time that the world is tended: so often within one. */
#define TENDS_IN_TIMEOUT 8
/*
 * An execution that takes so many times its time-out of the machine's time, and a minute more, while its tasks
 * hardly run: zug hangs, or has no processor to run on.
 */
#define HANG_TIMES 10
#define HANG_NS (60000 * MS)
/* From one look to the next takes so long where zug itself was stopped (Ctrl-Z, a suspended machine). */
#define STOPPED_NS (5000 * MS)
/* Steps between the begin of a trial and the first state that counts: all points that a lease had were passed by then. */
#define TRIAL_LATER PROGRESS_AGAIN
#define LAST_REPEATS "T%u goes round in the same state for ever, and no other task can run to change it"
/*
 * Stops of a computation (--spin) before others get a turn: then it may wait for them in a loop
 * that writes.
 */
#define STOPS_BEFORE_SWITCH 10
/*
 * Until then it is zug that lets it go on: that time is not the test's, for so many such switches in an execution. Tasks
 * that compute for ever do not go on for ever.
 */
#define SWITCHES_FORGIVEN 16

static bool read_lock(void *ctx, uint32_t task, uint64_t object, struct misuse_memory *m)
{
	struct engine *e = ctx;

	return task < e->w->nr_tasks && e->w->ops->lock_memory(e->w, &e->w->tasks[task], object, m);
}

struct engine *engine_new(struct world *w, struct search *s, struct capture *c,
			  const struct engine_options *o)
{
	struct engine *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->w = w;
	e->s = s;
	e->c = c;
	e->o = *o;
	e->callers_from = UINT64_MAX;
	e->faults = (struct faults){ .mask = o->faults, .max = o->max_faults,
				     .max_flows = o->max_flows };
	e->misuse = misuse_new(read_lock, e);
	if (!e->misuse) {
		free(e);
		return NULL;
	}
	return e;
}

void engine_set_window(struct engine *e, uint64_t steps)
{
	e->pc.window = steps;
}

void engine_use(struct engine *e, struct search *s, uint64_t timeout_ns, uint64_t longest_ns)
{
	e->s = s;
	e->o.timeout_ns = timeout_ns;
	e->o.longest_ns = longest_ns;
}

void engine_explore_timeouts(struct engine *e, bool may)
{
	e->o.explore_timeouts = may;
}

void engine_note_callers(struct engine *e, uint64_t from)
{
	e->callers_from = from;
}

void engine_until(struct engine *e, uint64_t until_ns)
{
	e->until_ns = until_ns;
}

void engine_free(struct engine *e)
{
	if (!e)
		return;
	faults_free_plan(&e->faults);
	values_free(&e->values);
	candidates_free(e);
	free(e->w->of_runtime);
	e->w->of_runtime = NULL;
	e->w->of_runtime_room = 0;
	free(e->told);
	free(e->untold);
	progress_free(&e->pc);
	progress_loops_free(&e->loops);
	takers_free(&e->takers);
	misuse_free(e->misuse);
	free(e);
}

struct faults *engine_faults(struct engine *e)
{
	return &e->faults;
}

int engine_give_values(struct engine *e, const struct trace *t)
{
	e->values_given = t;
	return t ? values_of_trace(&e->values, t) : 0;
}

void engine_leave_numbers(struct engine *e, bool leave)
{
	e->leave_numbers = leave;
}

void engine_watch_steps(struct engine *e,
			bool (*fn)(void *ctx, const struct search_point *p, uint32_t i,
				   struct outcome *o),
			bool (*looks)(void *ctx), void *ctx)
{
	e->on_step = fn;
	e->step_looks = looks;
	e->on_step_ctx = ctx;
}

void engine_watch_states(struct engine *e,
			 bool (*fn)(void *ctx, uint32_t task, struct outcome *o), void *ctx)
{
	e->on_state = fn;
	e->on_state_ctx = ctx;
}

void engine_hold(struct engine *e,
		 enum engine_hold (*fn)(void *ctx, uint32_t task, const struct zug_label *l), void *ctx)
{
	engine_hold_before(e, ZUG_OP_NONE, fn, ctx);
}

void engine_hold_before(struct engine *e, unsigned int op,
			enum engine_hold (*fn)(void *ctx, uint32_t task, const struct zug_label *l), void *ctx)
{
	e->hold = fn;
	e->hold_ctx = ctx;
	e->hold_op = op;
	e->hold_sites[0] = e->hold_sites[1] = 0;
	e->hold_at_times = false;
}

void engine_hold_at(struct engine *e, const uint64_t *sites,
		    enum engine_hold (*fn)(void *ctx, uint32_t task, const struct zug_label *l), void *ctx)
{
	engine_hold_before(e, ZUG_OP_END, fn, ctx);
	memcpy(e->hold_sites, sites, sizeof(e->hold_sites));
}

void engine_hold_at_times(struct engine *e, enum engine_hold (*fn)(void *ctx, uint32_t task, const struct zug_label *l),
			  void *ctx)
{
	engine_hold_before(e, ZUG_OP_NONE, fn, ctx);
	e->hold_at_times = true;
}

void engine_hold_none(struct engine *e, bool none)
{
	e->holds_none = none;
}

uint64_t engine_look(struct engine *e)
{
	e->w->ops->status(e->w, &e->status);
	return e->status.now;
}

void engine_lap(struct engine *e, enum spent_part part)
{
	uint64_t now;

	/* what is done while the task goes on takes no time of the execution's */
	if (e->leased != WORLD_NO_TASK)
		return;
	now = clock_now_ns();
	if (part != SPENT_NR)
		e->x->spent.ns[part] += now - e->lap_ns;
	e->lap_ns = now;
}

enum verdict engine_broken(struct engine *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e->err, e->errlen, fmt, ap);
	va_end(ap);
	outcome_set(&e->x->outcome, ZUG_OUTCOME_ENVIRONMENT, "%s", e->err);
	return END;
}

const char *engine_name_of(struct engine *e, uint64_t object)
{
	const char *name = e->w->ops->object_name(e->w, object);

	return name ? name : "";
}

const struct trace_step *engine_expected(const struct engine *e)
{
	if (!e->r || e->x->diverged)
		return NULL;
	return replay_step(e->r, e->x->steps);
}

/* ---- a debugger that looks on ---- */

struct debugger *engine_debugger(const struct engine *e)
{
	return e->r ? e->o.debugger : NULL;
}

/* The debugger has answered a question that was asked then. */
static bool debugger_said(struct engine *e, bool on, uint64_t since)
{
	uint64_t took = engine_look(e) - since;

	e->start_ns += took;
	if (!on)
		outcome_set(&e->x->outcome, ZUG_OUTCOME_INTERRUPTED, "ended in the debugger");
	return on;
}

bool engine_debug_granting(struct engine *e, uint64_t step, uint32_t task)
{
	uint64_t before = engine_look(e);
	struct debugger *d = engine_debugger(e);

	return debugger_said(e, d->granting(d, e->w, step, task), before);
}

static bool debug_running(struct engine *e)
{
	uint64_t before = engine_look(e);
	struct debugger *d = engine_debugger(e);

	return debugger_said(e, d->running(d, e->w), before);
}

static void debug_ending(struct engine *e, bool exited)
{
	const struct outcome *o = &e->x->outcome;
	struct debugger *d = engine_debugger(e);
	char why[sizeof(o->message) + 32];

	if (!d)
		return;
	outcome_words(o, why, sizeof(why));
	d->ending(d, e->w, why, exited);
}

/* ---- events ---- */

/* Only this task can run, until time passes. */
static bool needs_time(const struct engine *e, uint32_t task)
{
	return progress_needs_time(e->w, task, e->status.next_timer != UINT64_MAX);
}

/* No task but this one can run, but perhaps after some time. */
static bool is_alone(const struct engine *e, uint32_t task)
{
	return needs_time(e, task) || (e->status.next_timer == UINT64_MAX && progress_is_last(e->w, task));
}

/* Such a task goes on and on without anything new. */
static bool goes_on_alone(const struct engine *e, uint32_t task)
{
	return e->pc.steps >= progress_window(&e->pc) && is_alone(e, task);
}

/*
 * A task that is alone was shown to go round in the same state: it can only wait. true: for ever, and the outcome is
 * set. Else time passes: the next timer fires, or a time-out may expire at the decision that comes.
 */
static bool waits_for_ever(struct engine *e, uint32_t task)
{
	if (!needs_time(e, task)) {
		outcome_set(&e->x->outcome, ZUG_OUTCOME_LIVELOCK, LAST_REPEATS, task);
		return true;
	}
	progress_made(&e->pc);
	e->trial_at = progress_window(&e->pc);
	e->time_passes = expiry_first(e->w) <= e->status.next_timer;
	if (!e->time_passes) {
		e->w->ops->expire(e->w, WORLD_NO_TASK);
		e->fired = true;
	}
	return false;
}

/*
 * Puts a task that goes on alone on trial, at a point: it stops at each point from now on. TRIAL_LATER steps later, or when
 * those that it has passed until it saw that are behind it, its states are compared (last_repeats()). In a replay, where
 * every point stops, they are at once.
 */
static void try_last(struct engine *e, uint32_t task, bool passed)
{
	if (e->on_trial) {
		if (passed && e->pc.steps >= e->trial_at)
			e->trial_at += TRIAL_LATER;
	} else if (e->pc.steps >= e->trial_at && goes_on_alone(e, task)) {
		e->on_trial = !e->w->ops->stop(e->w, true);
		e->trial_at = e->pc.steps + (e->r ? 0 : TRIAL_LATER);
	}
}

/*
 * Of a task on trial, at a point: it is in a state that it was in before. Then the outcome is set. stands: it is still
 * there, and did not go on under its lease. Where another one can go on, such as behind an unlock, the trial is over.
 */
static bool last_repeats(struct engine *e, uint32_t task, bool stands)
{
	enum spin_verdict v = SPIN_NO;
	bool alone = e->on_trial && goes_on_alone(e, task);

	if (e->proven && e->x->steps >= e->r->nr)
		return is_alone(e, task) && waits_for_ever(e, task);
	if (!e->on_trial || (alone && (!stands || e->pc.steps < e->trial_at)))
		return false;
	if (alone) {
		v = e->w->ops->spins(e->w, &e->w->tasks[task]);
		progress_look(&e->pc, e->w, task);
	}
	if (v != SPIN_AGAIN) {
		e->on_trial = false;
		e->trial_at = e->pc.steps + progress_window(&e->pc);
		e->w->ops->stop(e->w, false);
	}
	if (v == SPIN_PROVEN && ends_later(e) && !needs_time(e, task)) {
		e->proven = true;
		e->trial_at = UINT64_MAX;
		return false;
	}
	return v == SPIN_PROVEN && waits_for_ever(e, task);
}

static enum verdict on_point(struct engine *e, const struct world_event *ev)
{
	const struct zug_label *l = &e->w->tasks[ev->task].label;
	bool yields = ev->yield && l->op != ZUG_OP_SPIN;
	enum verdict v = GO_ON;

	if (!e->x->launch_ns)
		e->x->launch_ns = e->status.now - e->start_ns;
	if (e->quiet && !e->status.quiet) {
		progress_made(&e->pc);
		runtime_begins(e, ev->task);
	}
	e->quiet = e->status.quiet;
	e->w->tasks[ev->task].yields = ev->yield;
	progress_point(&e->pc, ev->task, l->site, ev->yield);
	if (l->op != ZUG_OP_SPIN)
		e->went_on_ns = 0;
	/* whether the timer strikes in a computation is up to the machine: on_computation() says what comes of it */
	if (l->op != ZUG_OP_SPIN)
		e->stops = 0;
	/* a replay tells of a yield as if it had stopped there */
	if (e->r)
		e->yielded |= yields;
	if (ev->passed)
		v = decide_passed(e, ev->task);
	if (!e->r)
		e->yielded |= yields;
	if (v == GO_ON && ev->passed) {
		try_last(e, ev->task, true);
		if (ends_livelock(e)) {
			ends_add_stacks(e);
			v = END;
		}
	}
	return v;
}

/* True when a task could run, or its wait may end, whatever all the others do. */
static bool others_live(const struct engine *e)
{
	for (uint32_t i = 0; i < e->w->nr_tasks; i++) {
		const struct world_task *t = &e->w->tasks[i];

		if (t->state == TASK_PARKED || (t->state == TASK_BLOCKED && t->wait != WAIT_INSIDE))
			return true;
	}
	return false;
}

static enum verdict on_block(struct engine *e, const struct world_event *ev)
{
	progress_made(&e->pc);
	steps_note(e, TRACE_NOTE_BLOCK, ev->task, 0, ev->text);
	e->w->tasks[ev->task].expires = e->w->tasks[ev->task].yields = false;
	/* it gave the turn away itself, though it may be enabled by its time-out */
	e->yielded |= e->w->tasks[ev->task].deadline && (e->o.explore_timeouts || e->w->tasks[ev->task].any_time);
	/* if no other task can run it is a deadlock, which says more */
	if (!ends_lock_cycle(e, ev->task) || !others_live(e))
		return GO_ON;
	ends_add_stacks(e);
	return END;
}

static enum verdict on_event(struct engine *e, const struct world_event *ev)
{
	switch (ev->kind) {
	case WORLD_NEW:
		e->x->nr_tasks++;
		runtime_new_task(e, ev->task);
		progress_made(&e->pc);
		break;
	case WORLD_POINT:
		return on_point(e, ev);
	case WORLD_BLOCK:
		return on_block(e, ev);
	case WORLD_WAKE:
		steps_note(e, TRACE_NOTE_WAKE, ev->task, ev->waker, NULL);
		break;
	case WORLD_FATAL:
		/* the last moment at which the tasks of its process have stacks */
		if (ev->signal && !ev->root)
			ends_on_crash(e, ev->task, ev->signal);
		if (!e->w->tasks[ev->task].quits || ends_fails(e, &e->w->tasks[ev->task]))
			ends_take_stacks(e, ev->task);
		break;
	case WORLD_EXIT:
		progress_made(&e->pc);
		steps_note(e, TRACE_NOTE_EXIT, ev->task, 0, NULL);
		if (ev->site)
			ends_on_fault(e, ev->task, ev->site);
		return ev->root ? EXITED : GO_ON;
	case WORLD_EXEC:
		progress_made(&e->pc);
		steps_note(e, TRACE_NOTE_EXEC, ev->task, 0, ev->text);
		break;
	case WORLD_SIGNAL:
		steps_note(e, TRACE_NOTE_SIGNAL, ev->task, 0, NULL);
		break;
	case WORLD_MESSAGE:
		steps_note(e, TRACE_NOTE_MESSAGE, ev->task, 0, ev->text);
		break;
	case WORLD_ASK:
		break;
	}
	return GO_ON;
}

/* ---- computations ---- */

static enum verdict goes_on_computing(struct engine *e, uint32_t task)
{
	e->w->ops->grant(e->w, task);
	e->went_on_ns = e->status.now;
	return WAIT;
}

/*
 * A task was stopped in a computation, while another one could run, or none can but after some time.
 * If it can be shown to wait in a loop there is no question: it goes on alone until that is shown, or not.
 */
static enum spin_verdict try_spin(struct engine *e, uint32_t task)
{
	const struct world_task *t = &e->w->tasks[task], *other = NULL;
	enum spin_verdict v;

	for (uint32_t i = 0; i < e->w->nr_tasks && !other; i++)
		if (i != task && e->w->tasks[i].state == TASK_PARKED &&
		    !e->w->ops->would_block(e->w, &e->w->tasks[i], NULL))
			other = &e->w->tasks[i];
	if (!other && !is_alone(e, task))
		return SPIN_NO;
	v = e->w->ops->spins(e->w, t);
	if (v == SPIN_AGAIN)
		goes_on_computing(e, task);
	else if (v == SPIN_PROVEN && !other)
		return waits_for_ever(e, task) ? SPIN_PROVEN : SPIN_WAITS;
	else if (v == SPIN_PROVEN && e->status.quiet)
		return SPIN_WAITS;
	else if (v == SPIN_PROVEN)
		outcome_set(&e->x->outcome, ZUG_OUTCOME_SPIN, "T%u loops without yielding, in the "
			    "same state again and again, while T%u could run: only a preemption by the kernel would end "
			    "that", task, other->task);
	return v;
}

/*
 * In the trace that is replayed: true when task is, at its next step, where the timer had stopped
 * it.
 */
static bool stops_in_computation(const struct engine *e, uint32_t task)
{
	const struct trace_step *step;

	for (uint64_t i = e->x->steps; (step = replay_step(e->r, i)); i++)
		if (step->task == task)
			return step->label.op == ZUG_OP_SPIN;
	return false;
}

/* Others were created, and have not ended or blocked: they stand before their operations. */
static bool others_stand(const struct engine *e, uint32_t task)
{
	for (uint32_t i = 0; i < e->w->nr_tasks; i++)
		if (i != task && e->w->tasks[i].state == TASK_PARKED)
			return true;
	return false;
}

/*
 * A task was stopped in a computation. GO_ON: that is a question; WAIT: it has the turn again, and
 * no step was made; END.
 */
static enum verdict on_computation(struct engine *e, uint32_t task)
{
	const struct trace_step *want = engine_expected(e);
	bool alone = !others_stand(e, task);
	enum spin_verdict spin;

	if (e->went_on_ns && !alone && e->switches < SWITCHES_FORGIVEN)
		e->forgiven_ns += e->status.now - e->went_on_ns;
	e->went_on_ns = 0;
	spin = want && !needs_time(e, task) ? SPIN_NO : try_spin(e, task);
	if (spin == SPIN_AGAIN)
		return WAIT;
	/* in a replay the timer struck elsewhere, or not at all, when this was recorded */
	if (want && spin != SPIN_PROVEN && (want->task == task || !stops_in_computation(e, task)))
		return goes_on_computing(e, task);
	/* a long computation: a switch in it could not be replayed exactly, and there may be nothing to switch to */
	if (spin == SPIN_NO && !want && (alone || e->status.quiet || ++e->stops < STOPS_BEFORE_SWITCH))
		return goes_on_computing(e, task);
	e->stops = 0;
	e->switches++;
	e->yielded = true;
	if (spin != SPIN_PROVEN)
		return GO_ON;
	ends_add_stacks(e);
	return END;
}

/* ---- one execution ---- */

/* An event with a question. GO_ON; WAIT: it is answered already; END. */
static enum verdict on_question(struct engine *e, const struct world_event *ev)
{
	bool stands = !ev->leased && !ev->handed;
	enum verdict v = GO_ON;

	if (ev->kind == WORLD_POINT && e->w->tasks[ev->task].label.op == ZUG_OP_SPIN)
		v = on_computation(e, ev->task);
	if (v != GO_ON)
		return v;
	if (ev->kind == WORLD_POINT && last_repeats(e, ev->task, stands)) {
		ends_add_stacks(e);
		return END;
	}
	if (ev->kind == WORLD_POINT)
		try_last(e, ev->task, !stands);
	if (ev->kind == WORLD_POINT && stands)
		progress_look_at_all(&e->pc, e->w);
	e->question = true;
	e->leased = ev->handed ? ev->to : ev->leased ? ev->task : WORLD_NO_TASK;
	e->asked_ns = e->status.now;
	if (!e->on_state || !e->on_state(e->on_state_ctx, e->last, &e->x->outcome))
		return GO_ON;
	ends_add_stacks(e);
	return END;
}

/* The decision that is due, if it can be made now. GO_ON or END. */
static enum verdict answer(struct engine *e)
{
	enum verdict v = decide(e);

	e->leased = WORLD_NO_TASK;
	switch (v) {
	case WAIT:
		return GO_ON;
	case GO_ON:
		break;
	default:
		return END;
	}
	e->question = false;
	if (!ends_livelock(e))
		return GO_ON;
	ends_add_stacks(e);
	return END;
}

/*
 * The time that the execution may have, of which that much is over: more, where it has come to a step in the last quarter of
 * the least. A large program on a slow machine does not hang.
 */
static uint64_t time_limit(struct engine *e, uint64_t used)
{
	uint64_t limit = e->o.timeout_ns;

	if (e->nr_moves != e->moved || used < e->moved_ns) {
		e->moved = e->nr_moves;
		e->moved_ns = used;
	}
	return e->o.longest_ns > limit && used - e->moved_ns < limit / 4 ? e->o.longest_ns : limit;
}

/* The execution has had its time, or the machine has none for it: then the outcome is set. */
static bool over_time(struct engine *e, int *broke)
{
	uint64_t limit = e->o.timeout_ns, wall = e->status.now - e->start_ns, used = e->ran_ns + e->idle_ns;

	if (!limit)
		return false;
	used -= used < e->forgiven_ns ? used : e->forgiven_ns;
	limit = time_limit(e, used);
	if (used > limit) {
		outcome_set(&e->x->outcome, ZUG_OUTCOME_TIMEOUT, "no end within %.1f s (--timeout)",
			    limit / 1e9);
		ends_add_stacks(e);
		return true;
	}
	if (engine_debugger(e) || wall < HANG_TIMES * limit + HANG_NS)
		return false;
	outcome_set(&e->x->outcome, ZUG_OUTCOME_ENVIRONMENT,
		    "no end within %.0f s, of which the test's tasks ran or waited for %.1f s: the machine is too "
		    "busy for zug, or zug hangs", wall / 1e9, used / 1e9);
	snprintf(e->err, e->errlen, "%s", e->x->outcome.message);
	*broke = -ETIME;
	return true;
}

/* What is seen by the clock alone. false: that is the end. */
static bool in_time(struct engine *e, int *broke)
{
	uint64_t now = e->status.now, every = e->o.timeout_ns / TENDS_IN_TIMEOUT;

	if ((e->o.stop && *e->o.stop) || (e->until_ns && now >= e->until_ns)) {
		outcome_set(&e->x->outcome, ZUG_OUTCOME_INTERRUPTED, "interrupted");
		return false;
	}
	if (now - e->tended_ns <= (every && every < TEND_NS ? every : TEND_NS))
		return true;
	e->tended_ns = now;
	if (e->w->ops->tend(e->w, &e->ran_ns, e->err, e->errlen)) {
		outcome_set(&e->x->outcome, ZUG_OUTCOME_ENVIRONMENT, "%s", e->err);
		*broke = -EBUSY;
		return false;
	}
	capture_trim(e->c);
	if (e->t)
		trace_flush(e->t);
	return !over_time(e, broke);
}

/*
 * The loop of an execution. true: the root command ended by itself; false: the outcome is set.
 * *broke: what failed when the world did.
 */
static bool follow(struct engine *e, int *broke)
{
	uint64_t quiet_ns = 0, steps = 0, fired_in_vain = 0, took;
	struct world_event ev;
	enum verdict v;
	int ret;

	for (;;) {
		ret = e->w->ops->next(e->w, &ev, EVENT_US, e->err, e->errlen);
		if (ret < 0) {
			*broke = ret;
			outcome_set(&e->x->outcome, ZUG_OUTCOME_ENVIRONMENT, "%s", e->err);
			return false;
		}
		if (engine_debugger(e) && !debug_running(e))
			return false;
		took = e->status.now;
		took = engine_look(e) - took;
		if (took > STOPPED_NS) {
			e->start_ns += took;
			took = 0;
		}
		/* no task has the turn, and none can be given it */
		if (!ret && e->question)
			e->idle_ns += took;
		v = ret ? on_event(e, &ev) : GO_ON;
		if (v == GO_ON && ret && ev.ask)
			v = on_question(e, &ev);
		if (ret)
			quiet_ns = fired_in_vain = 0;
		else if (!quiet_ns)
			quiet_ns = e->status.now;
		if (v == WAIT && in_time(e, broke))
			continue;
		if (v == WAIT)
			return false;
		e->fired &= ret;
		if (v == GO_ON && e->question && !e->fired) {
			v = answer(e);
			/* what a timer does comes now; where they do nothing again and again, they change nothing any more */
			if (e->fired && fired_in_vain++ < FIRED_IN_VAIN)
				quiet_ns = e->status.now;
		}
		if (v != GO_ON)
			return v == EXITED;
		/* a replay waits again for what came from outside: while it follows, it gets on */
		if (e->x->steps != steps && engine_expected(e)) {
			steps = e->x->steps;
			e->idle_ns = 0;
		}
		if (!in_time(e, broke))
			return false;
		if (!ret && e->question && e->status.now - quiet_ns > GRACE_NS &&
		    ends_all_wait_inside(e)) {
			ends_deadlock(e);
			ends_add_stacks(e);
			return false;
		}
	}
}

/* Nothing of the last execution is left. */
static void reset(struct engine *e, const struct replay *r, struct trace_writer *t,
		  struct execution *x)
{
	memset(x, 0, sizeof(*x));
	x->nr_tasks = 1;
	e->r = r;
	e->t = t;
	e->x = x;
	e->last = WORLD_NO_TASK;
	e->yielded = e->question = e->fired = e->forced = e->quiet = e->bug = false;
	e->w->passes = LEFT_OUT_MOST;
	e->w->ends_stop = e->hold && (e->hold_op == ZUG_OP_END || e->hold_at_times) && !e->holds_none && !r;
	for (int i = 0; i < 2; i++)
		e->w->stops_at[i] = e->w->ends_stop ? e->hold_sites[i] : 0;
	e->w->ends_well = e->o.rules.expect_exit;
	e->same = e->spun = e->stops = e->holds = 0;
	e->ran_ns = e->idle_ns = e->forgiven_ns = e->went_on_ns = e->moved_ns = 0;
	e->nr_moves = e->moved = 0;
	e->switches = 0;
	e->on_trial = e->time_passes = e->proven = false;
	e->trial_at = progress_window(&e->pc);
	candidates_reset(e);
	runtime_reset(e);
	if (e->told)
		memset(e->told, 0, e->told_room * sizeof(*e->told));
	e->nr_untold = 0;
	progress_reset(&e->pc);
	e->pc.bound = search_steps_left(e->s);
	progress_loops_reset(&e->loops);
	takers_reset(&e->takers);
	misuse_begin(e->misuse);
	capture_reset(e->c);
	faults_begin(&e->faults);
	values_begin(&e->values);
}

/* The times of the whole execution, from those of its parts. */
static void say_spent(struct engine *e)
{
	struct execution *x = e->x;
	uint64_t *ns = x->spent.ns;

	if (e->w->ops->spent)
		e->w->ops->spent(e->w, &x->spent);
	ns[SPENT_PROGRAM] = x->launch_ns > ns[SPENT_ENVIRONMENT] ? x->launch_ns - ns[SPENT_ENVIRONMENT] : 0;
	ns[SPENT_DRAIN] = x->drain_ns;
	x->spent.all_ns = x->wall_ns;
	x->spent.executions = 1;
}

/* What was begun for the test (--setup, --teardown) has ended because zug is to end: that is no error. */
static bool cut_short(struct engine *e, int ret)
{
	if (ret != -EINTR || !e->o.stop || !*e->o.stop)
		return false;
	outcome_set(&e->x->outcome, ZUG_OUTCOME_INTERRUPTED, "interrupted");
	return true;
}

int engine_run(struct engine *e, const struct replay *r, struct trace_writer *t,
	       struct execution *x, char *err, size_t errlen)
{
	int status = -1, ret, broke = 0;
	uint64_t end;
	bool ended;

	reset(e, r, t, x);
	lease_begin(e);
	e->err = err;
	e->errlen = errlen;
	e->start_ns = e->tended_ns = engine_look(e);
	ret = e->w->ops->start(e->w, r || e->on_state || e->faults.mask, err, errlen);
	if (cut_short(e, ret))
		return 0;
	if (ret) {
		outcome_set(&x->outcome, ZUG_OUTCOME_ENVIRONMENT, "%s", err);
		return ret;
	}
	ended = follow(e, &broke);
	debug_ending(e, ended);
	end = engine_look(e);
	capture_stop(e->c);
	x->ungranted = e->status.ungranted;
	x->before = e->status.quiet;
	if (!ended)
		failure_identify(&x->outcome, e->w, e->last, &e->pc, &e->takers);
	if (r && !x->diverged && x->steps < r->nr && ended)
		steps_diverged(e, "the program ended at step %lu of %lu", (unsigned long)x->steps,
			       (unsigned long)r->nr);
	decide_final(e);
	e->w->hangs = !ended && (x->outcome.kind == ZUG_OUTCOME_TIMEOUT || x->outcome.kind == ZUG_OUTCOME_DEADLOCK ||
				 x->outcome.kind == ZUG_OUTCOME_LOCK_CYCLE || x->outcome.kind == ZUG_OUTCOME_LIVELOCK);
	ret = e->w->ops->drain(e->w, &status, err, errlen);
	x->status = ended ? status : -1;
	x->drain_ns = engine_look(e) - end;
	x->wall_ns = e->status.now - e->start_ns;
	say_spent(e);
	if (ended)
		outcome_judge(&x->outcome, status, &e->o.rules, e->c);
	if (cut_short(e, ret))
		ret = 0;
	if (ret)
		outcome_set(&x->outcome, ZUG_OUTCOME_ENVIRONMENT, "%s", err);
	if (t && zug_outcome_is_finding(x->outcome.kind)) {
		stack_set_write(&e->crashed, t, NULL);
		stack_set_write(&e->stacks, t, &e->crashed);
	}
	stack_set_clear(&e->crashed);
	stack_set_clear(&e->stacks);
	return broke ? broke : e->bug ? -ENOTRECOVERABLE : ret;
}
