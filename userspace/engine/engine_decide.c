/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * engine_decide.c - decisions: which tasks could have the turn, which of them gets it, and what
 * goes with that
 *
 * decide() is where to begin. It gathers the candidates, keeps to the trace in a replay, asks the
 * search, and makes the step: a time-out expires, a timer fires, a fault is injected, if that was
 * decided as well; then the task is granted the turn. It may be called again and again for one
 * question, while it answers that an event has to come first.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "engine/engine_internal.h"
#include "engine/expiry.h"
#include "lib/base/array.h"
#include "search/identity.h"
#include "search/script.h"

/* Something outside may yet answer: so long before the clock jumps. */
#define OUTSIDE_NS (20 * MS)
/* So long a replay waits for a wake-up that came from outside (a timer) when it was recorded. */
#define LATE_WAKE_NS (2000 * MS)

static struct search_point point_of(const struct engine *e)
{
	uint32_t last = e->last == WORLD_NO_TASK ? SEARCH_NO_TASK : e->last;

	return (struct search_point){ .step = e->x->steps, .last = last, .yielded = e->yielded,
				      .nr = e->nr_cands, .cand = e->cands,
				      .enabled = e->places, .nr_enabled = e->nr_enabled,
				      .places = e->at, .nr_places = e->at_room,
				      .bits = e->bits, .nr_words = candidates_words(e) };
}

/* ---- candidates ---- */

/* A time-out that is no clock's, but a measure of what others compute, may be over now. */
static bool may_any_time(const struct engine *e, const struct world_task *t)
{
	return t->any_time && !e->status.quiet && expiry_may(t, UINT64_MAX);
}

uint64_t early_from(const struct engine *e, uint64_t deadline, bool installed)
{
	uint64_t by = installed || e->status.several ? EARLY_PEERS_NS : EARLY_NS;

	if (!e->o.explore_timeouts || e->status.quiet || deadline == UINT64_MAX)
		return deadline;
	if (!e->o.likely_timeouts)
		return 0;
	if (e->x->early >= EARLY_MOST || e->x->early_ns >= by)
		return deadline;
	by -= e->x->early_ns;
	return deadline > by ? deadline - by : 0;
}

/* A time-out or timer of that time may end early now. */
static bool may_be_early(const struct engine *e, uint64_t deadline, bool installed)
{
	uint64_t from = early_from(e, deadline, installed);

	return from != deadline && from <= e->status.clock;
}

bool may_expire(const struct engine *e, const struct world_task *t, uint64_t limit)
{
	return expiry_may(t, limit) || may_any_time(e, t) ||
	       (!world_of_runtime(e->w, t->task) && !t->own_time && expiry_may(t, UINT64_MAX) &&
		may_be_early(e, t->deadline, t->installed));
}

/*
 * Tasks whose time-outs may expire can go on, too, besides the ne that are enabled; at a leased point those that could when the
 * lease began. Returns the number that is enabled then.
 */
static uint32_t add_expiring(struct engine *e, uint32_t ne, bool idle)
{
	bool any = false, leased = e->leased != WORLD_NO_TASK;
	uint64_t limit = leased ? 0 : expiry_limit(e->w, e->status.clock, idle);

	if (!leased)
		e->due = ne ? limit : expiry_limit(e->w, e->status.clock, true);
	for (uint32_t i = 0; i < e->nr_timed; i++) {
		struct search_cand *c = &e->cands[candidates_find(e, e->timed[i])];
		const struct world_task *t = &e->w->tasks[c->task];

		if (leased ? !t->expires || !expiry_may(t, UINT64_MAX) : !may_expire(e, t, limit))
			continue;
		c->enabled = any = true;
		c->label.op = ZUG_OP_EXPIRE;
		c->label.flags |= zug_op_flags(ZUG_OP_EXPIRE);
	}
	return any ? candidates_list(e) : ne;
}

/*
 * All tasks that could run would block: they may, so that it is the kernel that says deadlock. A
 * spin lock is only looked at, unless time may let its holder go on.
 */
static uint32_t let_block(struct engine *e)
{
	bool timed = expiry_first(e->w) != UINT64_MAX || e->status.next_timer != UINT64_MAX;

	e->spun++;
	for (uint32_t i = 0; i < e->nr_cands; i++) {
		struct search_cand *c = &e->cands[i];

		if (e->w->tasks[c->task].state != TASK_PARKED ||
		    (timed && c->label.op == ZUG_OP_SPIN_LOCK))
			continue;
		c->enabled = true;
		if (c->label.op != ZUG_OP_SPIN_LOCK)
			e->spun = 0;
	}
	return candidates_list(e);
}

/* Something outside the test may end a wait, so the clock does not jump yet. */
static bool may_jump(const struct engine *e)
{
	return (!e->nr_outside && !e->w->ops->in_flight(e->w)) || e->status.now - e->asked_ns > OUTSIDE_NS;
}

/*
 * Makes e->cands and e->enabled what they are now; the number enabled. only: the one task to
 * call enabled, or WORLD_NO_TASK. ask: if no task can run the clock may go on to the next time-out.
 */
static uint32_t gather(struct engine *e, uint32_t only, bool ask)
{
	uint32_t ne;

	if (!candidates_look(e, only)) {
		e->nr_cands = 0;
		return 0;
	}
	ne = e->nr_enabled;
	/* others' time-outs may come for ever */
	if (!ne && only == WORLD_NO_TASK && e->nr_timed && e->nr_parked && ends_cycle_ahead(e))
		return let_block(e);
	if (only == WORLD_NO_TASK && e->nr_timed)
		ne = add_expiring(e, ne, e->time_passes && may_jump(e));
	if (ne)
		e->spun = 0;
	else if (e->nr_parked)
		ne = let_block(e);
	if (!ne && only == WORLD_NO_TASK && e->nr_timed && ask && may_jump(e))
		ne = add_expiring(e, 0, true);
	return ne;
}

/* ---- the trace that is replayed ---- */

static void check_label(struct engine *e, const struct trace_step *want,
			const struct zug_label *got)
{
	/* the call is about to be made; what it comes to is what was recorded */
	if (zug_op_is_fault(want->label.op) && want->label.site == got->site)
		return;
	if (zug_op_is(got->op, want->label.op) &&
	    (want->label.site == got->site || got->op == ZUG_OP_SPIN))
		return;
	steps_diverged(e, "step %lu: T%u was to %s, but it is about to %s %s",
		       (unsigned long)e->x->steps, want->task, zug_op_name(want->label.op),
		       zug_op_name(got->op), engine_name_of(e, got->object));
}

/* A task that was woken early is held back until the step at which it was seen. */
static void hold_back(struct engine *e, const struct trace_step *want)
{
	uint32_t k = 0;
	bool any = false;

	if (e->nr_enabled == want->nr_enabled &&
	    !memcmp(e->enabled, want->enabled, want->nr_enabled * sizeof(*e->enabled)))
		return;
	for (uint32_t i = 0; i < e->nr_enabled; i++) {
		while (k < want->nr_enabled && want->enabled[k] < e->enabled[i])
			k++;
		if (k < want->nr_enabled && want->enabled[k] == e->enabled[i])
			continue;
		e->cands[e->places[i]].enabled = false;
		any = true;
	}
	if (any)
		candidates_list(e);
}

/*
 * Which time-out is over first may depend on how long the start of a runtime took, and a task of the runtime's may have
 * been woken early. Where none of the program's tasks can go on the recorded time-out comes all the same.
 */
static bool let_expire(struct engine *e, const struct trace_step *want)
{
	const struct world_task *t = want->task < e->w->nr_tasks ? &e->w->tasks[want->task] : NULL;
	struct search_cand *c;

	if (!e->nr_runtime || !t || want->label.op != ZUG_OP_EXPIRE || e->status.quiet || !expiry_may(t, UINT64_MAX))
		return false;
	for (uint32_t i = 0; i < e->nr_enabled; i++)
		if (!world_of_runtime(e->w, e->enabled[i]))
			return false;
	c = &e->cands[candidates_find(e, want->task)];
	c->enabled = true;
	c->label.op = ZUG_OP_EXPIRE;
	c->label.flags |= zug_op_flags(ZUG_OP_EXPIRE);
	candidates_list(e);
	return true;
}

/*
 * Of the tasks that are enabled those that the recorded step leaves: their number. 0: an event
 * has to come first.
 */
static uint32_t keep_to(struct engine *e, const struct trace_step *want)
{
	const struct world_task *t = want->task < e->w->nr_tasks ? &e->w->tasks[want->task] : NULL;

	if (!candidates_is_enabled(e, want->task) && !let_expire(e, want)) {
		/* a timer or something outside woke it when this was recorded */
		if (e->status.now - e->asked_ns < LATE_WAKE_NS)
			return 0;
		if (e->nr_enabled)
			steps_diverged(e, "step %lu: T%u was to %s, but it cannot run (%s)",
				       (unsigned long)e->x->steps, want->task,
				       zug_op_name(want->label.op),
				       t && t->state == TASK_BLOCKED ? t->where : "it does not exist");
		return e->nr_enabled;
	}
	hold_back(e, want);
	check_label(e, want, &e->cands[candidates_find(e, want->task)].label);
	return e->nr_enabled;
}

/* ---- before the search begins ---- */

/*
 * The test has not come yet to where its search begins: the base scheduler decides. The last task goes on, and where it
 * cannot, or yields, the next one by number. To the search, and to a replay, that one alone is enabled.
 */
static uint32_t keep_base(struct engine *e)
{
	uint32_t chosen = e->enabled[0];

	for (uint32_t i = 0; i < e->nr_enabled && e->last != WORLD_NO_TASK; i++)
		if (e->enabled[i] > e->last) {
			chosen = e->enabled[i];
			break;
		}
	if (e->last != WORLD_NO_TASK && !e->yielded && candidates_is_enabled(e, e->last))
		chosen = e->last;
	for (uint32_t i = 0; i < e->nr_cands; i++)
		e->cands[i].enabled &= e->cands[i].task == chosen;
	return candidates_list(e);
}

/* ---- what is left out ---- */

/* The last task stands at a point that --only and --not leave out, and goes on: to the search it alone is enabled. */
static bool is_left_out(struct engine *e)
{
	return e->last != WORLD_NO_TASK && !e->yielded && e->w->passes && candidates_is_enabled(e, e->last) &&
	       e->w->tasks[e->last].label.flags & ZUG_L_LEFT_OUT;
}

/* ---- the search ---- */

/* Asks the search; index into cands or -errno. holds: not all that could run are to be chosen from. */
static int pick_any(struct engine *e, bool holds)
{
	struct search_point p = point_of(e);
	int i;

	if (holds)
		p.enabled = NULL;
	if (!holds && !e->any_changed) {
		p.changed = e->changed;
		p.nr_changed = e->nr_changed;
	}
	i = search_pick(e->s, &p);

	if (i == -ESTALE) {
		steps_diverged(e, "step %lu: the program did not follow the schedule of an earlier "
			       "execution", (unsigned long)e->x->steps);
		i = search_pick(e->s, &p);
	}
	/* those that were held are candidates again */
	e->any_changed = holds;
	e->nr_changed = 0;
	return i;
}

/* A task that was stopped in a computation, or yields, may wait for the very task that is held. */
static bool gets_on(const struct engine *e, const struct search_cand *c)
{
	return c->label.op != ZUG_OP_SPIN && !(c->label.flags & ZUG_L_YIELD) && !e->w->tasks[c->task].yields;
}

bool decide_may_hold(const struct engine *e, const struct zug_label *l)
{
	unsigned int op = e->hold_op;

	if (e->hold_at_times && e->x->steps >= ENGINE_HOLD_FIRST && e->x->steps % ENGINE_HOLD_EVERY >= ENGINE_HOLD_FOR)
		op = ZUG_OP_END;
	return !op || l->op == op || (l->site && (l->site == e->hold_sites[0] || l->site == e->hold_sites[1]));
}

static enum engine_hold hold_of(const struct engine *e, const struct search_cand *c)
{
	if (!c->enabled || !decide_may_hold(e, &c->label))
		return HOLD_NOT;
	return e->hold(e->hold_ctx, c->task, &c->label);
}

/*
 * The same among the candidates that are not held, if one of them gets on, or else among those that
 * are not held to the last. In a replay none is held.
 */
static int pick(struct engine *e)
{
	uint32_t free[HOLD_LAST + 1] = { 0 }, let = HOLD_NOT, nr_held = 0, nr = e->nr_cands;
	int i;

	for (uint32_t k = 0; e->hold && !e->holds_none && !e->r && e->holds < ENGINE_HOLDS && k < nr; k++) {
		e->held[k] = hold_of(e, &e->cands[k]);
		nr_held += e->held[k] != HOLD_NOT;
		free[e->held[k]] += e->cands[k].enabled && gets_on(e, &e->cands[k]);
	}
	while (nr_held && let < HOLD_LAST && !free[let])
		let++;
	if (!nr_held || let == HOLD_LAST)
		return pick_any(e, false);
	e->holds++;
	for (uint32_t k = 0; k < nr; k++)
		e->cands[k].enabled &= e->held[k] <= let;
	i = pick_any(e, true);
	for (uint32_t k = 0; k < nr; k++)
		e->cands[k].enabled |= e->held[k] > let;
	return i;
}

/* pick() gave that error. */
static enum verdict refused(struct engine *e, int error)
{
	e->bug = error != -ELOOP;
	if (e->bug)
		return engine_broken(e, "the search refused step %lu: %s (please report this)",
				     (unsigned long)e->x->steps, strerror(-error));
	outcome_set(&e->x->outcome, ZUG_OUTCOME_TIMEOUT, "no end within %lu steps (--max-steps)",
		    (unsigned long)e->x->steps);
	ends_add_stacks(e);
	return END;
}

/* ---- the step ---- */

/*
 * Candidate i is about to use a primitive against its rules, or a watcher of steps has seen enough:
 * the outcome is set.
 */
static bool is_last(struct engine *e, int i)
{
	struct search_point p = point_of(e);
	struct misuse_report r = { 0 };
	char other[48] = "";

	if (e->on_step && e->on_step(e->on_step_ctx, &p, i, &e->x->outcome))
		return true;
	if (misuse_step(e->misuse, &p, i, &r) != 1)
		return false;
	if (r.other != SEARCH_NO_TASK)
		snprintf(other, sizeof(other), " (T%u)", r.other);
	outcome_set(&e->x->outcome, ZUG_OUTCOME_MISUSE, "T%u: %s%s: %s", r.task,
		    misuse_text(r.kind), other, engine_name_of(e, r.object));
	e->x->outcome.failure = identity_misuse(r.kind, r.label.site);
	return true;
}

/* The execution ends before a step, which is the last of its trace. */
static enum verdict end_before(struct engine *e, uint32_t task, uint32_t ne)
{
	steps_record(e, task, ne);
	ends_add_stacks(e);
	return END;
}

/* A time-out, or (WORLD_NO_TASK) the next timer, ends before its time: the trace says by how much. */
static void note_early(struct engine *e, uint32_t task, uint64_t deadline)
{
	double ns = (double)deadline - (double)e->status.clock;
	struct world_timer timer = { .task = WORLD_NO_TASK };
	char text[128];

	if (deadline <= e->status.clock)
		return;
	/* as it is rounded: no 1000 ms */
	if (ns < 999.5e6)
		snprintf(text, sizeof(text), "%.0f %s", ns / (ns < 999.5e3 ? 1e3 : 1e6), ns < 999.5e3 ? "us" : "ms");
	else
		snprintf(text, sizeof(text), ns < 9.95e9 ? "%.2g s" : "%.0f s", ns / 1e9);
	e->x->early++;
	e->x->early_ns += deadline - e->status.clock;
	if (task == WORLD_NO_TASK && e->w->ops->timer && e->w->ops->timer(e->w, &timer))
		steps_note_timer(e, text, &timer);
	else
		steps_note(e, TRACE_NOTE_EARLY, task, 0, text);
}

/*
 * --timeouts explore: whether the next timer fires before the step of the task that was chosen. 0
 * or -errno.
 */
static int decide_timer(struct engine *e, const struct trace_step *want, uint32_t task)
{
	int fires;

	/* no lease reaches to where a timer may fire */
	if (!e->o.explore_timeouts || e->status.quiet || e->leased != WORLD_NO_TASK)
		return 0;
	engine_look(e);	/* a time-out may have expired since the event */
	if (e->status.next_timer == UINT64_MAX ||
	    (!want && !may_be_early(e, e->status.next_timer, false)) ||
	    (!want && e->o.likely_timeouts && e->w->ops->timer_kills && e->w->ops->timer_kills(e->w)))
		return 0;
	fires = faults_timer(&e->faults, e->w, e->s, want, e->r, task);
	if (fires <= 0)
		return fires;
	note_early(e, WORLD_NO_TASK, e->status.next_timer);
	e->w->ops->expire(e->w, WORLD_NO_TASK);
	e->w->tasks[task].label.flags |= ZUG_L_TIMER;
	return 0;
}

/* The task that was chosen asks for a value. 0 or -errno. */
static int decide_value(struct engine *e, const struct trace_step *want, uint32_t task)
{
	struct world_task *t = &e->w->tasks[task];
	uint32_t nth, recorded, said;
	unsigned int op;
	int value;

	if (t->state != TASK_PARKED || t->label.op != ZUG_OP_CHOICE || !t->nr_values)
		return 0;
	nth = values_next(&e->values, task);
	if (t->numbers && e->leave_numbers) {
		value = 0;
	} else if (e->values_given) {
		value = values_given(&e->values, task, nth, t->nr_values);
	} else if (e->r) {
		value = want && value_of(want->label.object2, &recorded) && recorded < t->nr_values ? recorded : 0;
	} else if (search_script_let(e->s, false, &op, &said) && op == ZUG_OP_CHOICE && said < t->nr_values) {
		search_script_was_made(e->s, false);
		value = said;
	} else if (e->status.quiet) {
		value = 0;
	} else if (t->numbers) {
		value = search_choose_numbers(e->s, t->nr_values);
	} else {
		value = search_choose(e->s, t->nr_values);
	}
	return value < 0 ? value : e->w->ops->choose(e->w, t, value);
}

/* Tells the trace where the program calls the library's code in which the task stands, and for which goroutine. */
static void note_caller(struct engine *e, const struct world_task *t)
{
	uint32_t goroutine;
	char text[512];
	int line;

	if (e->x->steps < e->callers_from || !e->t || t->state != TASK_PARKED || t->label.flags & ZUG_L_LEFT_OUT ||
	    !e->w->ops->caller)
		return;
	line = e->w->ops->caller(e->w, t, text, sizeof(text));
	if (line > 0)
		steps_note(e, TRACE_NOTE_CALLER, t->task, line, text);
	goroutine = e->w->ops->goroutine ? e->w->ops->goroutine(e->w, t) : 0;
	if (goroutine)
		steps_note(e, TRACE_NOTE_GOROUTINE, t->task, goroutine, NULL);
}

/* Candidate i makes the step: what was decided with it happens, and its task gets the turn. */
static enum verdict make_step(struct engine *e, const struct trace_step *want, int i, uint32_t ne)
{
	struct search_point p = point_of(e);
	uint32_t task = e->cands[i].task;
	struct world_task *t = &e->w->tasks[task];
	int ret, value;

	if (engine_debugger(e) && !engine_debug_granting(e, want ? want->step : e->x->steps, task))
		return END;
	if (e->cands[i].label.op == ZUG_OP_EXPIRE && t->state == TASK_BLOCKED) {
		if (t->deadline > e->due && !may_any_time(e, t))
			note_early(e, task, t->deadline);
		ret = e->w->ops->expire(e->w, task);
		if (ret)
			return engine_broken(e, "the time-out of T%u cannot be made to expire (%s): "
					     "does the test trace itself? --time real leaves time "
					     "alone", task, strerror(-ret));
	}
	if (e->x->diverged)
		want = NULL;
	ret = decide_timer(e, want, task);
	if (ret < 0)
		return engine_broken(e, "the search did not say whether a timer fires at step "
				     "%lu: %s", (unsigned long)e->x->steps, strerror(-ret));
	ret = faults_decide(&e->faults, e->w, e->s, want, e->r, task);
	if (ret < 0)
		return engine_broken(e, "cannot inject a fault into the system call of T%u (%s)%s", task, strerror(-ret),
				     ret == -EPERM ? ": a debugger, or the test itself, may trace it" : "");
	value = decide_value(e, want, task);
	if (value < 0)
		return engine_broken(e, "T%u cannot be given the value that it asks for at step %lu: %s", task,
				     (unsigned long)e->x->steps, strerror(-value));
	e->time_passes = false;
	engine_lap(e, SPENT_SEARCH);
	note_caller(e, t);
	runtime_step(e, task, e->cands[i].label.op == ZUG_OP_EXPIRE);
	steps_record(e, task, ne);
	engine_lap(e, SPENT_TRACE);
	if (ends_fails(e, &e->w->tasks[task]))
		ends_take_stacks(e, task);
	if (!ret && e->leased == WORLD_NO_TASK)
		lease_give(e, &p, task);
	if (!ret)
		e->w->ops->grant(e->w, task);
	return GO_ON;
}

/*
 * No task can go on, but by a time-out. One that would block in the kernel is let go there first.
 */
static bool is_idle(const struct engine *e)
{
	for (uint32_t i = 0; i < e->w->nr_tasks; i++) {
		const struct world_task *t = &e->w->tasks[i];

		if (t->state == TASK_PARKED &&
		    !(t->label.op == ZUG_OP_SPIN_LOCK && e->w->ops->would_block(e->w, t, NULL)))
			return false;
	}
	return true;
}

/* The next timer fires before this decision: its time has come, or the clock jumps to it. */
static bool timer_is_due(const struct engine *e)
{
	uint64_t timer = e->status.next_timer;

	/* may_jump() last: it reads the kernel's list of connections */
	return timer <= e->status.clock ||
	       (timer != UINT64_MAX && is_idle(e) && timer <= expiry_first(e->w) && may_jump(e));
}

/*
 * The task that has gone on under its lease is the one to choose: the search has promised that, and
 * the world has ended the lease where it could not run.
 */
static enum verdict lease_broken(struct engine *e, const char *how)
{
	e->w->tasks[e->leased].state = TASK_RUNNING;
	/* what comes after this execution does without */
	e->o.ask_always = true;
	return engine_broken(e, "step %lu: T%u went on under its lease, but %s (please report this; from now on there are no "
			     "leases, as with --ask always)", (unsigned long)e->x->steps, e->leased, how);
}

static enum verdict stale_candidate(struct engine *e)
{
	if (e->leased != WORLD_NO_TASK)
		e->w->tasks[e->leased].state = TASK_RUNNING;
	e->bug = true;
	return engine_broken(e, "step %lu: the candidate that was kept of T%u is stale (please report this)",
			     (unsigned long)e->x->steps, e->stale);
}

enum verdict decide(struct engine *e)
{
	const struct trace_step *want = engine_expected(e);
	bool asked = e->leased == WORLD_NO_TASK;
	uint32_t ne;
	int i;

	engine_lap(e, SPENT_NR);
	gather(e, WORLD_NO_TASK, asked);
	if (e->stale != WORLD_NO_TASK)
		return stale_candidate(e);
	if (asked && timer_is_due(e)) {
		e->w->ops->expire(e->w, WORLD_NO_TASK);
		e->fired = true;
		return WAIT;
	}
	if (asked && runtime_alone(e)) {
		ends_deadlock(e);
		ends_add_stacks(e);
		return END;
	}
	if (asked && ends_cycle_in_vain(e)) {
		ends_add_stacks(e);
		return END;
	}
	/* what was recorded has left out the runtime's tasks already */
	ne = want ? keep_to(e, want) : runtime_leave(e);
	engine_lap(e, SPENT_READ);
	if (!ne)
		return asked ? WAIT : lease_broken(e, "no task can run");
	e->forced = is_left_out(e);
	if ((e->status.quiet && asked) || e->forced)
		ne = keep_base(e);
	i = pick(e);
	if (i < 0)
		return refused(e, i);
	if (!asked && e->cands[i].task != e->leased)
		return lease_broken(e, "the search chose another task");
	if (asked && !e->w->told_again) {
		struct search_point p = point_of(e);

		lease_note_question(e, &p, e->cands[i].task);
	}
	if (is_last(e, i)) {
		/* there is no stack of it any more */
		if (!asked)
			e->w->tasks[e->leased].state = TASK_RUNNING;
		return end_before(e, e->cands[i].task, ne);
	}
	return make_step(e, want, i, ne);
}

enum verdict decide_passed(struct engine *e, uint32_t task)
{
	const struct trace_step *want = engine_expected(e);
	uint32_t ne = gather(e, task, false), at;
	struct search_point p;
	int i;

	if (e->stale != WORLD_NO_TASK)
		return stale_candidate(e);
	if (want && want->task != task)
		steps_diverged(e, "step %lu: T%u was to %s, but T%u went on alone",
			       (unsigned long)e->x->steps, want->task, zug_op_name(want->label.op),
			       task);
	else if (want)
		check_label(e, want, &e->w->tasks[task].label);
	i = pick(e);
	if (i < 0)
		return refused(e, i);
	at = candidates_find(e, task);
	if (at != SEARCH_NO_TASK)
		i = at;
	if (is_last(e, i))
		return end_before(e, task, ne);
	p = point_of(e);
	steps_record(e, task, ne);
	if (e->w->told_again)
		lease_give(e, &p, task);
	return GO_ON;
}

/* dpor learns from it why a deadlock happened. */
void decide_final(struct engine *e)
{
	struct search_point p;

	if (!e->x->steps || e->x->diverged)
		return;
	gather(e, WORLD_NO_TASK, false);
	p = point_of(e);
	search_final(e->s, &p);
}
