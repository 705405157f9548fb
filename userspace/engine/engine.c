/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/engine_internal.h"
#include "engine/expiry.h"
#include "engine/failure.h"
#include "search/identity.h"

#define MS 1000000ull
/* All tasks wait for each other: look so long for a waker that is on its way in the kernel. */
#define GRACE_NS (20 * MS)
/* Somebody outside may yet answer: look so long before the clock jumps. */
#define OUTSIDE_NS (20 * MS)
/* How long a replay waits for a wake-up that came from outside (a timer) when it was recorded. */
#define LATE_WAKE_NS (2000 * MS)

/*
 * A task that goes on for so many steps while others wait, without ever yielding, is taken for
 * one that has yielded: else a loop that only another task can end would starve that task under
 * every strategy that does not preempt.
 */
#define STARVING_STEPS 100
/* Stops of a computation (--spin) before others get a turn: then it may wait for them in a loop that writes. */
#define STOPS_BEFORE_SWITCH 10

/* How the world is now; the machine's time. */
static uint64_t look(struct engine *e)
{
	e->w->ops->status(e->w, &e->status);
	return e->status.now;
}

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
	e->faults = (struct faults){ .mask = o->faults, .max = o->max_faults,
				     .max_flows = o->max_flows };
	e->misuse = misuse_new(read_lock, e);
	if (!e->misuse) {
		free(e);
		return NULL;
	}
	return e;
}

void engine_use(struct engine *e, struct search *s, uint64_t timeout_ns)
{
	e->s = s;
	e->o.timeout_ns = timeout_ns;
}

void engine_free(struct engine *e)
{
	if (!e)
		return;
	faults_free_plan(&e->faults);
	free(e->cands);
	free(e->enabled);
	free(e->held);
	free(e->told);
	progress_free(&e->pc);
	misuse_free(e->misuse);
	free(e);
}

struct faults *engine_faults(struct engine *e)
{
	return &e->faults;
}

void engine_watch_steps(struct engine *e, bool (*fn)(void *ctx, const struct search_point *p, uint32_t i,
						     struct outcome *o), void *ctx)
{
	e->on_step = fn;
	e->on_step_ctx = ctx;
}

void engine_watch_states(struct engine *e, bool (*fn)(void *ctx, uint32_t task, struct outcome *o), void *ctx)
{
	e->on_state = fn;
	e->on_state_ctx = ctx;
}

void engine_hold(struct engine *e, bool (*fn)(void *ctx, const struct zug_label *l), void *ctx)
{
	e->hold = fn;
	e->hold_ctx = ctx;
}

static bool room(struct engine *e, uint32_t nr)
{
	struct search_cand *c;
	uint32_t *en;
	bool *held;

	if (nr <= e->nr_cands)
		return true;
	nr *= 2;
	c = realloc(e->cands, nr * sizeof(*c));
	if (!c)
		return false;
	e->cands = c;
	en = realloc(e->enabled, nr * sizeof(*en));
	if (!en)
		return false;
	e->enabled = en;
	held = realloc(e->held, nr * sizeof(*held));
	if (!held)
		return false;
	e->held = held;
	e->nr_cands = nr;
	return true;
}

/* ---- the trace ---- */

void engine_tell_task(struct engine *e, uint32_t task)
{
	const struct world_task *t = &e->w->tasks[task];

	if (!e->t)
		return;
	if (task >= e->nr_told) {
		uint32_t nr = 2 * task + 16;
		bool *told = realloc(e->told, nr * sizeof(*told));

		if (!told)
			return;
		memset(told + e->nr_told, 0, (nr - e->nr_told) * sizeof(*told));
		e->told = told;
		e->nr_told = nr;
	}
	if (e->told[task])
		return;
	e->told[task] = true;
	trace_add_task(e->t, &(struct trace_task){ .task = task, .parent = t->parent, .nth = t->nth,
						   .pid = t->own_pid, .process = t->process, .comm = t->comm });
}

static void note(struct engine *e, enum trace_note_kind kind, uint32_t task, uint32_t arg,
		 const char *text)
{
	if (!e->t)
		return;
	if (task != WORLD_NO_TASK)
		engine_tell_task(e, task);
	trace_add_note(e->t, &(struct trace_note){
		.kind = kind, .task = task, .arg = arg, .text = text && text[0] ? text : NULL,
		.object = task != WORLD_NO_TASK && kind == TRACE_NOTE_BLOCK ?
			  e->w->tasks[task].label.object : 0 });
}

static void record_step(struct engine *e, uint32_t task, uint32_t nr_enabled, bool lone)
{
	struct world_task *t = &e->w->tasks[task];
	struct trace_step s = { .step = e->x->steps, .task = task, .label = t->label, .last = e->last,
				.nr_enabled = nr_enabled, .enabled = e->enabled };
	bool last_enabled = false;

	for (uint32_t i = 0; i < nr_enabled; i++)
		last_enabled |= e->enabled[i] == e->last;
	if (e->last != task && e->last != WORLD_NO_TASK)
		e->x->switches++;
	if (e->last != task && last_enabled && !e->yielded) {
		s.flags |= TRACE_STEP_PREEMPTION;
		e->x->preemptions++;
	}
	if (e->yielded)
		s.flags |= TRACE_STEP_YIELDED;
	if (lone)
		s.flags |= TRACE_STEP_LONE;
	if (!replay_is_chance(&t->label, task, e->last))
		e->x->hash = replay_hash(e->x->hash, task, &t->label);
	if (e->t) {
		engine_tell_task(e, task);
		for (uint32_t i = 0; i < nr_enabled; i++)
			engine_tell_task(e, e->enabled[i]);
		e->w->ops->describe(e->w, e->t, &t->label);
		trace_add_step(e->t, &s);
	}
	e->x->steps++;
	e->same = e->last == task && nr_enabled > 1 ? e->same + 1 : 0;
	e->last = task;
	e->yielded = e->same >= STARVING_STEPS;
	if (e->yielded)
		e->same = 0;
}

/* ---- decisions ---- */

/* Time-outs that may expire: their tasks can go on, too, besides the ne that are enabled. How many there are now. */
static uint32_t add_expiring(struct engine *e, uint32_t nr, uint32_t ne, bool idle)
{
	struct world *w = e->w;
	uint64_t limit = expiry_limit(w, e->status.clock, idle, e->o.explore_timeouts);
	bool any = false;

	for (uint32_t i = 0; i < nr; i++) {
		struct search_cand *c = &e->cands[i];

		if (!expiry_may(&w->tasks[c->task], limit))
			continue;
		c->enabled = any = true;
		c->label.op = ZUG_OP_EXPIRE;
		c->label.flags |= zug_op_flags(ZUG_OP_EXPIRE);
	}
	if (!any)
		return ne;
	ne = 0;
	for (uint32_t i = 0; i < nr; i++)
		if (e->cands[i].enabled)
			e->enabled[ne++] = e->cands[i].task;
	return ne;
}

/*
 * Fills cands and enabled; the number enabled. only: the one task to call enabled, or WORLD_NO_TASK.
 * jump: if nobody can run the clock may go on to the next time-out.
 */
static uint32_t gather(struct engine *e, uint32_t only, bool jump, uint32_t *nr_cands, uint32_t *nr_parked)
{
	struct world *w = e->w;
	/* whoever holds a spin lock may be among those with a time-out */
	bool timed = expiry_first(w) != UINT64_MAX || e->status.next_timer != UINT64_MAX;
	uint32_t n = 0, ne = 0;

	*nr_parked = 0;
	for (uint32_t i = 0; i < w->nr_tasks; i++) {
		const struct world_task *t = &w->tasks[i];
		bool parked = t->state == TASK_PARKED || (t->state == TASK_RUNNING && i == only);

		if (t->state == TASK_NONE || t->state == TASK_DEAD)
			continue;
		if (!room(e, n + 1))
			return 0;
		*nr_parked += parked;
		e->cands[n] = (struct search_cand){
			.task = i, .parent = t->parent, .label = t->label,
			.enabled = parked && (only == WORLD_NO_TASK ? !w->ops->would_block(w, t, NULL) : i == only),
		};
		if (e->cands[n].enabled)
			e->enabled[ne++] = i;
		n++;
	}
	if (only == WORLD_NO_TASK)
		ne = add_expiring(e, n, ne, false);
	if (ne)
		e->spun = 0;
	/* everybody who could run would block: let them, so that it is the kernel that says deadlock */
	if (!ne && *nr_parked) {
		e->spun++;
		for (uint32_t i = 0; i < n; i++)
			if (w->tasks[e->cands[i].task].state == TASK_PARKED &&
			    !(timed && e->cands[i].label.op == ZUG_OP_SPIN_LOCK)) {
				e->cands[i].enabled = true;
				e->enabled[ne++] = e->cands[i].task;
				if (e->cands[i].label.op != ZUG_OP_SPIN_LOCK)
					e->spun = 0;
			}
	}
	if (!ne && only == WORLD_NO_TASK && jump)
		ne = add_expiring(e, n, 0, true);
	*nr_cands = n;
	return ne;
}

static void diverge(struct engine *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void diverge(struct engine *e, const char *fmt, ...)
{
	va_list ap;

	if (e->x->diverged)
		return;
	e->x->diverged = true;
	e->x->diverged_at = e->x->steps;
	va_start(ap, fmt);
	vsnprintf(e->x->divergence, sizeof(e->x->divergence), fmt, ap);
	va_end(ap);
	note(e, TRACE_NOTE_MESSAGE, WORLD_NO_TASK, 0, e->x->divergence);
}

static const struct trace_step *expected(const struct engine *e)
{
	if (!e->r || e->x->diverged)
		return NULL;
	return replay_step(e->r, e->x->steps);
}

const char *engine_name_of(struct engine *e, uint64_t object)
{
	const char *name = e->w->ops->object_name(e->w, object);

	return name ? name : "";
}

static void check_label(struct engine *e, const struct trace_step *want, const struct zug_label *got)
{
	/* the call is about to be made; it is what it comes to that was recorded */
	if (zug_op_is_fault(want->label.op) && want->label.site == got->site)
		return;
	if (zug_op_is(got->op, want->label.op) && (want->label.site == got->site || got->op == ZUG_OP_SPIN))
		return;
	diverge(e, "step %lu: T%u was to %s, but it is about to %s %s", (unsigned long)e->x->steps,
		want->task, zug_op_name(want->label.op), zug_op_name(got->op), engine_name_of(e, got->object));
}

enum verdict { GO_ON = 0, WAIT, END };

/* ---- a debugger that looks on ---- */

static struct debugger *debugger_of(const struct engine *e)
{
	return e->r ? e->o.debugger : NULL;
}

/* What it takes is not the execution's time. false: it wants the end. */
static bool debug_granting(struct engine *e, uint64_t step, uint32_t task)
{
	struct debugger *d = debugger_of(e);
	uint64_t before = look(e);
	bool on = d->granting(d, e->w, step, task);

	e->start_ns += look(e) - before;
	e->since_ns += look(e) - before;
	if (!on)
		outcome_set(&e->x->outcome, ZUG_OUTCOME_INTERRUPTED, "ended in the debugger");
	return on;
}

static bool debug_running(struct engine *e)
{
	struct debugger *d = debugger_of(e);
	uint64_t before = look(e);
	bool on = d->running(d, e->w);

	e->start_ns += look(e) - before;
	e->since_ns += look(e) - before;
	if (!on)
		outcome_set(&e->x->outcome, ZUG_OUTCOME_INTERRUPTED, "ended in the debugger");
	return on;
}

static void debug_ending(struct engine *e, bool exited)
{
	const struct outcome *o = &e->x->outcome;
	struct debugger *d = debugger_of(e);
	char why[sizeof(o->message) + 32];

	if (!d)
		return;
	outcome_words(o, why, sizeof(why));
	d->ending(d, e->w, why, exited);
}

/* A primitive used against its rules, about to happen: the execution ends before it does. */
static bool misused(struct engine *e, uint32_t nr, int i)
{
	struct search_point p = { .step = e->x->steps, .last = e->last == WORLD_NO_TASK ?
				  SEARCH_NO_TASK : e->last, .yielded = e->yielded, .nr = nr,
				  .cand = e->cands };
	struct misuse_report r = { 0 };
	char other[48] = "";

	if (e->on_step && e->on_step(e->on_step_ctx, &p, i, &e->x->outcome))
		return true;
	if (misuse_step(e->misuse, &p, i, &r) != 1)
		return false;
	if (r.other != SEARCH_NO_TASK)
		snprintf(other, sizeof(other), " (T%u)", r.other);
	outcome_set(&e->x->outcome, ZUG_OUTCOME_MISUSE, "T%u: %s%s: %s", r.task, misuse_text(r.kind),
		    other, engine_name_of(e, r.object));
	e->x->outcome.failure = identity_misuse(r.kind, r.label.site);
	return true;
}

static bool is_held(const struct engine *e, const struct search_cand *c)
{
	return c->enabled && e->hold(e->hold_ctx, &c->label);
}

/* Asks the search; index into cands or -errno. */
static int pick_any(struct engine *e, uint32_t nr)
{
	struct search_point p = { .step = e->x->steps, .last = e->last == WORLD_NO_TASK ?
				  SEARCH_NO_TASK : e->last, .yielded = e->yielded, .nr = nr,
				  .cand = e->cands };
	int i = search_pick(e->s, &p);

	if (i == -ESTALE) {
		diverge(e, "step %lu: the program did not follow the schedule of an earlier execution",
			(unsigned long)e->x->steps);
		i = search_pick(e->s, &p);
	}
	return i;
}

/* The same among those that are not held, if there are others. */
static int pick(struct engine *e, uint32_t nr)
{
	uint32_t nr_held = 0, nr_free = 0;
	int i;

	/* whoever is to go on in a replay is given */
	for (uint32_t k = 0; e->hold && !e->r && e->holds < ENGINE_HOLDS && k < nr; k++) {
		nr_held += is_held(e, &e->cands[k]);
		nr_free += e->cands[k].enabled && !is_held(e, &e->cands[k]);
	}
	if (!nr_held || !nr_free)
		return pick_any(e, nr);
	e->holds++;
	for (uint32_t k = 0; k < nr; k++) {
		e->held[k] = is_held(e, &e->cands[k]);
		e->cands[k].enabled &= !e->held[k];
	}
	i = pick_any(e, nr);
	for (uint32_t k = 0; k < nr; k++)
		e->cands[k].enabled |= e->held[k];
	return i;
}

/* pick() gave that error. */
static enum verdict refused(struct engine *e, int error, char *err, size_t errlen)
{
	if (error == -ELOOP) {
		outcome_set(&e->x->outcome, ZUG_OUTCOME_TIMEOUT, "no end within %lu steps (--max-steps)",
			    (unsigned long)e->x->steps);
		return END;
	}
	snprintf(err, errlen, "the search refused step %lu: %s", (unsigned long)e->x->steps, strerror(-error));
	outcome_set(&e->x->outcome, ZUG_OUTCOME_ENVIRONMENT, "%s", err);
	return END;
}

/* Nobody can go on, but by a time-out. */
static bool is_idle(const struct engine *e)
{
	for (uint32_t i = 0; i < e->w->nr_tasks; i++) {
		const struct world_task *t = &e->w->tasks[i];

		/* who would block in the kernel is let go there first */
		if (t->state == TASK_PARKED &&
		    !(t->label.op == ZUG_OP_SPIN_LOCK && e->w->ops->would_block(e->w, t, NULL)))
			return false;
	}
	return true;
}

/* --timeouts explore: does the next timer fire now, before the step of the task that was chosen? 0 or -errno. */
static int decide_timer(struct engine *e, const struct trace_step *want, uint32_t task)
{
	int fires;

	if (!e->o.explore_timeouts)
		return 0;
	look(e);	/* a time-out may have expired since the event */
	if (e->status.next_timer == UINT64_MAX)
		return 0;
	fires = faults_timer(&e->faults, e->w, e->s, e->x->diverged ? NULL : want, e->r, task);
	if (fires <= 0)
		return fires;
	e->w->ops->expire(e->w, WORLD_NO_TASK);
	e->w->tasks[task].label.flags |= ZUG_L_TIMER;
	return 0;
}

static enum verdict decide(struct engine *e, uint64_t asked_ns, char *err, size_t errlen)
{
	const struct trace_step *want = expected(e);
	bool jump = (!expiry_outside(e->w) && !e->w->ops->in_flight(e->w)) || e->status.now - asked_ns > OUTSIDE_NS;
	uint32_t nr, nr_parked, ne = gather(e, WORLD_NO_TASK, jump, &nr, &nr_parked);
	uint64_t timer = e->status.next_timer;
	int i, ret;

	if (timer <= e->status.clock || (timer != UINT64_MAX && jump && is_idle(e) &&
						timer <= expiry_first(e->w))) {
		e->w->ops->expire(e->w, WORLD_NO_TASK);
		e->fired = true;
		return WAIT;
	}
	if (want) {
		bool there = false;

		for (uint32_t k = 0; k < ne; k++)
			there |= e->enabled[k] == want->task;
		if (!there && e->status.now - asked_ns < LATE_WAKE_NS)
			return WAIT;	/* a timer or somebody outside woke it when this was recorded */
		if (there) {
			/* an early waker is held back until the step at which it was seen */
			for (uint32_t k = 0; k < nr; k++) {
				bool recorded = false;

				for (uint32_t j = 0; j < want->nr_enabled; j++)
					recorded |= want->enabled[j] == e->cands[k].task;
				e->cands[k].enabled &= recorded;
			}
			ne = 0;
			for (uint32_t k = 0; k < nr; k++)
				if (e->cands[k].enabled)
					e->enabled[ne++] = e->cands[k].task;
			for (uint32_t k = 0; k < nr; k++)
				if (e->cands[k].task == want->task)
					check_label(e, want, &e->cands[k].label);
		} else if (ne) {
			diverge(e, "step %lu: T%u was to %s, but it cannot run (%s)",
				(unsigned long)e->x->steps, want->task, zug_op_name(want->label.op),
				want->task < e->w->nr_tasks && e->w->tasks[want->task].state == TASK_BLOCKED ?
				e->w->tasks[want->task].where : "it does not exist");
		}
	}
	if (!ne)
		return WAIT;
	i = pick(e, nr);
	if (i < 0)
		return refused(e, i, err, errlen);
	if (misused(e, nr, i)) {
		record_step(e, e->cands[i].task, ne, false);
		ends_add_stacks(e);
		return END;
	}
	if (debugger_of(e) && !debug_granting(e, want ? want->step : e->x->steps, e->cands[i].task))
		return END;
	if (e->cands[i].label.op == ZUG_OP_EXPIRE && e->w->tasks[e->cands[i].task].state == TASK_BLOCKED) {
		ret = e->w->ops->expire(e->w, e->cands[i].task);
		if (ret) {
			snprintf(err, errlen, "the time-out of T%u cannot be made to expire (%s): does the test trace "
				 "itself? --time real leaves time alone", e->cands[i].task, strerror(-ret));
			outcome_set(&e->x->outcome, ZUG_OUTCOME_ENVIRONMENT, "%s", err);
			return END;
		}
	}
	ret = decide_timer(e, want, e->cands[i].task);
	if (ret < 0) {
		snprintf(err, errlen, "the search did not say whether a timer fires at step %lu: %s",
			 (unsigned long)e->x->steps, strerror(-ret));
		outcome_set(&e->x->outcome, ZUG_OUTCOME_ENVIRONMENT, "%s", err);
		return END;
	}
	ret = faults_decide(&e->faults, e->w, e->s, e->x->diverged ? NULL : want, e->r, e->cands[i].task);
	if (ret < 0) {
		snprintf(err, errlen, "the call of T%u cannot be made another than it is (%s)%s", e->cands[i].task,
			 strerror(-ret), ret == -EPERM ? ": does the test trace itself, or does a debugger?" : "");
		outcome_set(&e->x->outcome, ZUG_OUTCOME_ENVIRONMENT, "%s", err);
		return END;
	}
	record_step(e, e->cands[i].task, ne, false);
	if (ends_fails(e, &e->w->tasks[e->cands[i].task]))
		ends_take_stacks(e, e->cands[i].task);
	if (!ret)
		e->w->ops->grant(e->w, e->cands[i].task);
	return GO_ON;
}

/* A point that was passed without stopping is a step with one candidate. */
static enum verdict passed(struct engine *e, uint32_t task, char *err, size_t errlen)
{
	const struct trace_step *want = expected(e);
	uint32_t nr, nr_parked, ne = gather(e, task, false, &nr, &nr_parked);
	int i;

	if (want && want->task != task)
		diverge(e, "step %lu: T%u was to %s, but T%u went on alone", (unsigned long)e->x->steps,
			want->task, zug_op_name(want->label.op), task);
	else if (want)
		check_label(e, want, &e->w->tasks[task].label);
	i = pick(e, nr);
	if (i < 0)
		return refused(e, i, err, errlen);
	for (uint32_t k = 0; k < nr; k++)
		if (e->cands[k].task == task)
			i = k;
	if (misused(e, nr, i)) {
		record_step(e, task, ne, true);
		ends_add_stacks(e);
		return END;
	}
	record_step(e, task, ne, true);
	return GO_ON;
}

/* ---- one execution ---- */

static enum verdict on_event(struct engine *e, const struct world_event *ev, bool *over,
			     char *err, size_t errlen)
{
	switch (ev->kind) {
	case WORLD_NEW:
		e->x->nr_tasks++;
		progress_made(&e->pc);
		break;
	case WORLD_POINT:
		if (!e->x->launch_ns)
			e->x->launch_ns = e->status.now - e->start_ns;
		progress_point(&e->pc, ev->task, e->w->tasks[ev->task].label.site, ev->yield);
		if (e->w->tasks[ev->task].label.op != ZUG_OP_SPIN)
			e->stops = 0;
		if (ev->passed) {
			enum verdict v = passed(e, ev->task, err, errlen);

			e->yielded |= ev->yield;
			return v;
		}
		e->yielded |= ev->yield;
		break;
	case WORLD_BLOCK:
		progress_made(&e->pc);
		note(e, TRACE_NOTE_BLOCK, ev->task, 0, ev->text);
		/* it gave the turn away itself, though it may be enabled by its time-out */
		e->yielded |= e->w->tasks[ev->task].deadline && e->o.explore_timeouts;
		if (ends_lock_cycle(e, ev->task)) {
			/* if nobody else can run it is a deadlock, which says more */
			bool others = false;

			for (uint32_t i = 0; i < e->w->nr_tasks; i++)
				others |= e->w->tasks[i].state == TASK_PARKED ||
					  (e->w->tasks[i].state == TASK_BLOCKED &&
					   e->w->tasks[i].wait != WAIT_INSIDE);
			if (!others)
				return GO_ON;
			ends_add_stacks(e);
			return END;
		}
		break;
	case WORLD_WAKE:
		note(e, TRACE_NOTE_WAKE, ev->task, ev->waker, NULL);
		break;
	case WORLD_FATAL:
		/* the last moment at which anybody of its process has a stack */
		if (!e->w->tasks[ev->task].quits || ends_fails(e, &e->w->tasks[ev->task]))
			ends_take_stacks(e, ev->task);
		break;
	case WORLD_EXIT:
		progress_made(&e->pc);
		note(e, TRACE_NOTE_EXIT, ev->task, 0, NULL);
		if (ev->site)
			ends_on_fault(e, ev->task, ev->site);
		*over = ev->root;
		break;
	case WORLD_EXEC:
		progress_made(&e->pc);
		note(e, TRACE_NOTE_EXEC, ev->task, 0, ev->text);
		break;
	case WORLD_MESSAGE:
		note(e, TRACE_NOTE_MESSAGE, ev->task, 0, ev->text);
		break;
	case WORLD_ASK:
		break;
	}
	return GO_ON;
}

/*
 * A task was stopped in a computation. If it can be shown to wait in a loop it is not asked about:
 * it goes on alone until that is shown, or not.
 */
static enum spin_verdict on_spin(struct engine *e, uint32_t task)
{
	const struct world_task *t = &e->w->tasks[task], *other = NULL;
	enum spin_verdict v;

	for (uint32_t i = 0; i < e->w->nr_tasks && !other; i++)
		if (i != task && e->w->tasks[i].state == TASK_PARKED &&
		    !e->w->ops->would_block(e->w, &e->w->tasks[i], NULL))
			other = &e->w->tasks[i];
	if (!other)
		return SPIN_NO;
	v = e->w->ops->spins(e->w, t);
	if (v == SPIN_AGAIN)
		e->w->ops->grant(e->w, task);
	else if (v == SPIN_PROVEN)
		outcome_set(&e->x->outcome, ZUG_OUTCOME_SPIN, "T%u loops without yielding, in the same "
			    "state again and again, while T%u could run", task, other->task);
	return v;
}

/* In the trace that is replayed: is task, at its next step, where the timer had stopped it? */
static bool stops_in_computation(const struct engine *e, uint32_t task)
{
	const struct trace_step *step;

	for (uint64_t i = e->x->steps; (step = replay_step(e->r, i)); i++)
		if (step->task == task)
			return step->label.op == ZUG_OP_SPIN;
	return false;
}

/* The loop of an execution; sets the outcome unless the root command ended by itself (returns true). */
static bool follow(struct engine *e, char *err, size_t errlen, int *broke)
{
	uint64_t asked = 0, quiet = 0, flushed = e->start_ns, steps = 0, now;
	bool question = false, over = false;
	struct world_event ev;
	enum verdict v = GO_ON;
	int ret;

	for (;;) {
		ret = e->w->ops->next(e->w, &ev, 10000, err, errlen);
		if (ret < 0) {
			*broke = ret;
			outcome_set(&e->x->outcome, ZUG_OUTCOME_ENVIRONMENT, "%s", err);
			return false;
		}
		if (debugger_of(e) && !debug_running(e))
			return false;
		now = look(e);
		if (ret) {
			v = on_event(e, &ev, &over, err, errlen);
			if (over)
				return true;
			if (v == END)
				return false;
			quiet = 0;
			if (ev.kind == WORLD_POINT && ev.ask &&
			    e->w->tasks[ev.task].label.op == ZUG_OP_SPIN) {
				const struct trace_step *want = expected(e);
				enum spin_verdict spin;

				/* a replay goes on with whom it is to go on: the timer struck elsewhere then, or not at all */
				if (want && (want->task == ev.task || !stops_in_computation(e, ev.task))) {
					e->yielded = false;
					e->w->ops->grant(e->w, ev.task);
					continue;
				}
				spin = want ? SPIN_NO : on_spin(e, ev.task);
				if (spin == SPIN_AGAIN)
					continue;
				/* a long computation: a switch in it could not be replayed exactly */
				if (spin == SPIN_NO && !want && ++e->stops < STOPS_BEFORE_SWITCH) {
					e->yielded = false;
					e->w->ops->grant(e->w, ev.task);
					continue;
				}
				e->stops = 0;
				if (spin == SPIN_PROVEN) {
					ends_add_stacks(e);
					return false;
				}
			}
			if (ev.ask) {
				question = true;
				asked = now;
				if (e->on_state && e->on_state(e->on_state_ctx, e->last, &e->x->outcome)) {
					ends_add_stacks(e);
					return false;
				}
			}
		} else if (!quiet) {
			quiet = now;
		}
		e->fired &= ret;
		if (question && !e->fired && (v = decide(e, asked, err, errlen)) != WAIT) {
			if (v == END)
				return false;
			question = false;
			if (debugger_of(e))
				now = look(e);
			if (ends_livelock(e)) {
				ends_add_stacks(e);
				return false;
			}
		}
		if (e->o.stop && *e->o.stop) {
			outcome_set(&e->x->outcome, ZUG_OUTCOME_INTERRUPTED, "interrupted");
			return false;
		}
		/* on a busier machine a replay takes longer: while it follows its schedule it gets on */
		if (e->x->steps != steps && expected(e)) {
			steps = e->x->steps;
			e->since_ns = now;
		}
		if (e->o.timeout_ns && now > e->since_ns && now - e->since_ns > e->o.timeout_ns) {
			outcome_set(&e->x->outcome, ZUG_OUTCOME_TIMEOUT, "no end within %.1f s (--timeout)",
				    e->o.timeout_ns / 1e9);
			ends_add_stacks(e);
			return false;
		}
		if (now - flushed > 1000 * MS) {
			flushed = now;
			if (e->w->ops->tend(e->w, err, errlen)) {
				outcome_set(&e->x->outcome, ZUG_OUTCOME_ENVIRONMENT, "%s", err);
				*broke = -EBUSY;
				return false;
			}
			capture_trim(e->c);
			if (e->t)
				trace_flush(e->t);
		}
		if (ret)
			continue;
		if (question && now - quiet > GRACE_NS && ends_all_wait_inside(e)) {
			ends_deadlock(e);
			ends_add_stacks(e);
			return false;
		}
	}
}

/* The state in which it ended: dpor learns from it why a deadlock happened. */
static void show_final(struct engine *e)
{
	uint32_t nr = 0, nr_parked;
	struct search_point p = { .step = e->x->steps, .last = e->last == WORLD_NO_TASK ?
				  SEARCH_NO_TASK : e->last, .yielded = e->yielded };

	if (!e->x->steps || e->x->diverged)
		return;
	gather(e, WORLD_NO_TASK, false, &nr, &nr_parked);
	p.nr = nr;
	p.cand = e->cands;
	search_final(e->s, &p);
}

int engine_run(struct engine *e, const struct replay *r, struct trace_writer *t,
	       struct execution *x, char *err, size_t errlen)
{
	int status = -1, ret, broke = 0;
	uint64_t end;
	bool ended;

	memset(x, 0, sizeof(*x));
	e->r = r;
	e->t = t;
	e->x = x;
	e->last = WORLD_NO_TASK;
	e->yielded = false;
	e->same = 0;
	e->spun = 0;
	e->stops = 0;
	e->holds = 0;
	e->fired = false;
	if (e->told)
		memset(e->told, 0, e->nr_told * sizeof(*e->told));
	progress_reset(&e->pc);
	misuse_begin(e->misuse);
	capture_reset(e->c);
	x->nr_tasks = 1;
	e->start_ns = e->since_ns = look(e);
	faults_begin(&e->faults);
	ret = e->w->ops->start(e->w, r || e->on_state || e->faults.mask, err, errlen);
	if (ret) {
		outcome_set(&x->outcome, ZUG_OUTCOME_ENVIRONMENT, "%s", err);
		return ret;
	}
	ended = follow(e, err, errlen, &broke);
	debug_ending(e, ended);
	end = look(e);
	x->ungranted = e->status.ungranted;
	if (!ended)
		failure_identify(&x->outcome, e->w, e->last, &e->pc);
	if (r && !x->diverged && x->steps < r->nr && ended)
		diverge(e, "the program ended at step %lu of %lu", (unsigned long)x->steps,
			(unsigned long)r->nr);
	show_final(e);
	ret = e->w->ops->drain(e->w, &status, err, errlen);
	x->status = ended ? status : -1;
	x->drain_ns = look(e) - end;
	x->wall_ns = look(e) - e->start_ns;
	if (ended)
		outcome_judge(&x->outcome, status, &e->o.rules, e->c);
	if (ret)
		outcome_set(&x->outcome, ZUG_OUTCOME_ENVIRONMENT, "%s", err);
	if (t && zug_outcome_is_finding(x->outcome.kind))
		stack_set_write(&e->stacks, t);
	stack_set_clear(&e->stacks);
	return broke ? broke : ret;
}
