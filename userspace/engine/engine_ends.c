/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * engine_ends.c - ends that the program does not make: no task can ever go on, or those that go on
 * get nowhere; and the stacks that show where all tasks were
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include "engine/engine_internal.h"

/* So many decisions at which all tasks that can run look at spin locks that are held are enough. */
#define SPIN_LOOKS 64

bool ends_all_wait_inside(const struct engine *e)
{
	bool any = false;

	for (uint32_t i = 0; i < e->w->nr_tasks; i++) {
		const struct world_task *t = &e->w->tasks[i];

		if (!world_lives(t))
			continue;
		if (t->state != TASK_BLOCKED || t->wait != WAIT_INSIDE)
			return false;
		any = true;
	}
	return any && !e->w->ops->in_flight(e->w);
}

/* The innermost function of an interpreted program in which the task waits; false: none is known. */
static bool say_interpreted(struct engine *e, const struct world_task *t, char *buf, size_t len)
{
	const char *suffix = e->o.runtime_sources;
	struct trace_frame frames[64];
	int nr = suffix && !world_of_runtime(e->w, t->task) ? e->w->ops->stack(e->w, t, frames, 64) : 0;

	for (int i = 0; i < nr; i++) {
		const char *end = frames[i].file && frames[i].function ? strrchr(frames[i].file, '.') : NULL;

		if (!end || strcmp(end, suffix))
			continue;
		snprintf(buf, len, "waits in %s", frames[i].function);
		if (frames[i].line)
			snprintf(buf + strlen(buf), len - strlen(buf), " %s:%d", frames[i].file, (int)frames[i].line);
		return true;
	}
	return false;
}

static void say_wait(struct engine *e, const struct world_task *t, char *buf, size_t len)
{
	uint32_t owner = world_owner(e->w, t);
	const char *name = engine_name_of(e, t->label.object);
	char open[96];

	bool primitive = (t->label.op >= ZUG_OP_LOCK && t->label.op <= ZUG_OP_DETACH) || t->label.op == ZUG_OP_RESOURCE_WAIT;

	/* the function that the program called says more than the system call */
	if (primitive)
		snprintf(buf, len, "waits in %s%s%s", zug_label_name(&t->label), name[0] ? " for " : "", name);
	else if (!say_interpreted(e, t, buf, len))
		snprintf(buf, len, "waits in %s", t->where);
	if (owner != WORLD_NO_TASK)
		snprintf(buf + strlen(buf), len - strlen(buf), ", held by T%u%s%s", owner,
			 owner == t->task ? " itself" :
			 e->w->tasks[owner].process != t->process ? " of another process" : "",
			 e->w->tasks[owner].state == TASK_DEAD ? ", which has ended" : "");
	else if (!primitive && e->w->ops->other_end && e->w->ops->other_end(e->w, t, open, sizeof(open)))
		snprintf(buf + strlen(buf), len - strlen(buf), ", %s", open);
}

static bool races(const struct engine *e, uint32_t task)
{
	const struct outcome *o = &e->x->outcome;

	return o->kind == ZUG_OUTCOME_RACE && (task == o->racing[0] || task == o->racing[1]);
}

bool ends_fails(const struct engine *e, const struct world_task *t)
{
	return t->quits && t->status != e->o.rules.expect_exit;
}

void ends_take_stacks(struct engine *e, uint32_t dying)
{
	struct trace_frame frames[64];
	char state[256];
	int nr;

	stack_set_clear(&e->stacks);
	for (uint32_t i = 0; e->t && i < e->w->nr_tasks; i++) {
		const struct world_task *t = &e->w->tasks[i];

		if (i != dying && (world_of_runtime(e->w, i) || (t->state != TASK_BLOCKED && t->state != TASK_PARKED)))
			continue;
		nr = e->w->ops->stack(e->w, t, frames, 64);
		if (i == dying && t->quits)
			snprintf(state, sizeof(state), "exits with status %u", t->status);
		else if (i == dying)
			snprintf(state, sizeof(state), "died here");
		else if (t->state == TASK_BLOCKED)
			say_wait(e, t, state, sizeof(state));
		else if (e->x->outcome.kind == ZUG_OUTCOME_MISUSE && i == e->last)
			snprintf(state, sizeof(state), "the misuse: about to %s%s%s", zug_label_name(&t->label),
				 engine_name_of(e, t->label.object)[0] ? " " : "",
				 engine_name_of(e, t->label.object));
		else
			snprintf(state, sizeof(state), "%s: about to %s%s%s", races(e, i) ? "races" : "could run",
				 zug_label_name(&t->label), engine_name_of(e, t->label.object)[0] ? " " : "",
				 engine_name_of(e, t->label.object));
		steps_tell_task(e, i);
		stack_set_add(&e->stacks, i, state, frames, nr);
	}
}

void ends_add_stacks(struct engine *e)
{
	ends_take_stacks(e, WORLD_NO_TASK);
	if (e->t)
		stack_set_write(&e->stacks, e->t, &e->crashed);
	stack_set_clear(&e->stacks);
}

void ends_deadlock(struct engine *e)
{
	struct outcome *o = &e->x->outcome;
	char text[sizeof(o->message)] = "", one[256];
	size_t len = 0;

	for (uint32_t i = 0; i < e->w->nr_tasks; i++) {
		const struct world_task *t = &e->w->tasks[i];

		if (t->state != TASK_BLOCKED || world_of_runtime(e->w, i))
			continue;
		say_wait(e, t, one, sizeof(one));
		len += snprintf(text + len, len < sizeof(text) ? sizeof(text) - len : 0, "%sT%u %s",
				len ? "; " : "", i, one);
		if (len >= sizeof(text))
			break;
	}
	outcome_set(o, ZUG_OUTCOME_DEADLOCK, "%s", text);
}

/* stand: it may also stand before the lock. That is no wait before a spin lock, at which tasks look again and again. */
static bool is_in_cycle(const struct world_task *t, bool stand)
{
	if (!world_wants_lock(t))
		return false;
	if (t->state == TASK_PARKED)
		return stand && t->label.op != ZUG_OP_SPIN_LOCK;
	return t->state == TASK_BLOCKED && t->wait == WAIT_INSIDE;
}

/* Each waits for a lock that the next one holds, until it comes back to from. */
static bool is_cycle(const struct engine *e, uint32_t from, bool stand)
{
	uint32_t t = from;

	for (uint32_t n = 0; n <= e->w->nr_tasks; n++) {
		if (!is_in_cycle(&e->w->tasks[t], stand))
			return false;
		t = world_owner(e->w, &e->w->tasks[t]);
		if (t == WORLD_NO_TASK)
			return false;
		if (t == from)
			return true;
	}
	return false;
}

bool ends_cycle_ahead(const struct engine *e)
{
	for (uint32_t i = 0; i < e->nr_cands; i++)
		if (e->w->tasks[e->cands[i].task].state == TASK_PARKED && is_cycle(e, e->cands[i].task, true))
			return true;
	return false;
}

/*
 * Sets the outcome: the tasks of a cycle, from that one on, and what each waits for. by_steps: that says who has a
 * lock, too.
 */
static void tell_cycle(struct engine *e, uint32_t from, bool by_steps)
{
	struct outcome *o = &e->x->outcome;
	char text[sizeof(o->message)] = "", one[256];
	uint32_t t = from;
	size_t len = 0;

	do {
		const struct world_task *waits = &e->w->tasks[t];
		uint32_t owner = world_owner(e->w, waits);

		say_wait(e, waits, one, sizeof(one));
		t = by_steps ? takers_owner(&e->takers, e->w, waits) : owner;
		if (owner == WORLD_NO_TASK && t != WORLD_NO_TASK)
			snprintf(one + strlen(one), sizeof(one) - strlen(one), ", held by T%u", t);
		len += snprintf(text + len, len < sizeof(text) ? sizeof(text) - len : 0, "%sT%u %s", len ? "; " : "",
				waits->task, one);
	} while (t != from && t != WORLD_NO_TASK && len < sizeof(text));
	outcome_set(o, ZUG_OUTCOME_LOCK_CYCLE, "%s", text);
}

bool ends_lock_cycle(struct engine *e, uint32_t from)
{
	if (!is_cycle(e, from, false))
		return false;
	tell_cycle(e, from, false);
	return true;
}

bool ends_cycle_in_vain(struct engine *e)
{
	uint32_t from;

	if (e->status.quiet || !e->nr_enabled || e->nr_outside)
		return false;
	for (uint32_t i = 0; i < e->nr_enabled; i++)
		if (e->cands[e->places[i]].label.op != ZUG_OP_EXPIRE)
			return false;
	from = takers_cycle(&e->takers, e->w, e->x->steps);
	if (from == WORLD_NO_TASK || e->w->ops->in_flight(e->w))
		return false;
	tell_cycle(e, from, true);
	return true;
}

void ends_on_fault(struct engine *e, uint32_t task, uint64_t site)
{
	struct trace_frame frames[64];
	int nr;

	e->x->outcome.site = site;
	if (!e->t || stack_set_has(&e->stacks, task))
		return;
	nr = e->w->ops->stack(e->w, &e->w->tasks[task], frames, 64);
	steps_tell_task(e, task);
	stack_set_add(&e->stacks, task, "died here", frames, nr);
}

void ends_on_crash(struct engine *e, uint32_t task, int signal)
{
	const char *name = sigabbrev_np(signal);
	struct trace_frame frames[64];
	char state[64];
	int nr;

	/* what follows may be its consequence */
	if (!e->t || e->crashed.nr)
		return;
	nr = e->w->ops->stack(e->w, &e->w->tasks[task], frames, 64);
	if (name)
		snprintf(state, sizeof(state), "died of SIG%s", name);
	else
		snprintf(state, sizeof(state), "died of signal %d", signal);
	steps_tell_task(e, task);
	stack_set_add(&e->crashed, task, state, frames, nr);
}

bool ends_later(const struct engine *e)
{
	const struct trace_outcome *o = e->r ? trace_outcome(e->r->trace) : NULL;

	return o && o->kind == ZUG_OUTCOME_LIVELOCK && e->x->steps < e->r->nr;
}

bool ends_livelock(struct engine *e)
{
	unsigned int nr;
	char who[128];
	uint64_t steps;

	if (e->spun >= SPIN_LOOKS) {
		char text[512] = "";

		for (uint32_t i = 0; i < e->w->nr_tasks; i++) {
			const struct world_task *t = &e->w->tasks[i];
			size_t n = strlen(text);

			if ((t->state == TASK_PARKED || t->state == TASK_RUNNING) &&
			    t->label.op == ZUG_OP_SPIN_LOCK)
				snprintf(text + n, sizeof(text) - n, "%sT%u spins for %s", n ? "; " : "", i,
					 engine_name_of(e, t->label.object));
		}
		outcome_set(&e->x->outcome, ZUG_OUTCOME_LIVELOCK, "%s: held, and no task can release them",
			    text);
		return true;
	}
	/* a handler may change things, and so may the points that a task passes before the search begins */
	if (e->status.next_timer != UINT64_MAX || e->status.quiet || ends_later(e))
		return false;
	nr = progress_is_due(&e->pc) ? progress_livelock(&e->pc, e->w, who, sizeof(who), &steps) : 0;
	if (nr)
		outcome_set(&e->x->outcome, ZUG_OUTCOME_LIVELOCK, "%s only %s: %lu steps without anything new", who,
			    nr == 1 ? "yields, and no other task can run" : "yield to each other",
			    (unsigned long)steps);
	return nr;
}
