/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * progress_check.c - counts what tasks do while an execution gets nowhere: livelocks, and loops of tasks that yield
 * (progress_check.h)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/expiry.h"
#include "engine/progress_check.h"
#include "lib/base/array.h"
#include "search/rng.h"

void progress_reset(struct progress_check *p)
{
	if (p->tasks)
		memset(p->tasks, 0, p->room * sizeof(*p->tasks));
	if (p->looked)
		memset(p->stood, 0, p->room_stood * sizeof(*p->stood));
	p->looked = false;
	p->steps = 0;
	p->nr_sites = 0;
}

uint64_t progress_window(const struct progress_check *p)
{
	return p->window ? p->window : PROGRESS_WINDOW;
}

void progress_free(struct progress_check *p)
{
	free(p->tasks);
	free(p->stood);
}

void progress_made(struct progress_check *p)
{
	if (p->steps)
		progress_reset(p);
}

static void add_site(struct progress_check *p, uint64_t site)
{
	for (uint32_t i = 0; i < p->nr_sites; i++)
		if (p->sites[i] == site)
			return;
	if (p->nr_sites < PROGRESS_SITES)
		p->sites[p->nr_sites++] = site;
}

void progress_point(struct progress_check *p, uint32_t task, uint64_t site, bool yield)
{
	if (!ARRAY_RESERVE_ZERO(p->tasks, p->room, task + 1))
		return;
	p->steps++;
	p->tasks[task].steps++;
	p->tasks[task].yields += yield;
	if (site)
		add_site(p, site);
}

bool progress_is_due(const struct progress_check *p)
{
	return p->steps >= progress_window(p) && !((p->steps - progress_window(p)) % PROGRESS_AGAIN);
}

uint64_t progress_calm(const struct progress_check *p)
{
	uint64_t window = progress_window(p), since;

	if (p->steps < window)
		return window - 1 - p->steps;
	since = (p->steps - window) % PROGRESS_AGAIN;
	return since ? PROGRESS_AGAIN - 1 - since : 0;
}

static void add_name(char *who, size_t len, uint32_t task)
{
	size_t n = strlen(who);

	snprintf(who + n, len - n, "%sT%u", n ? ", " : "", task);
}

static bool can_run(const struct world_task *t)
{
	return t->state == TASK_PARKED || t->state == TASK_RUNNING;
}

/* How many tasks can run, if all of them yield again and again, and nothing may change that; else 0. */
static unsigned int nr_yielding(const struct progress_check *p, const struct world *w)
{
	unsigned int nr = 0;

	if (p->steps < progress_window(p))
		return 0;
	for (uint32_t i = 0; i < w->nr_tasks; i++) {
		const struct progress_task *t = i < p->room ? &p->tasks[i] : NULL;

		if (w->tasks[i].state == TASK_BLOCKED && w->tasks[i].wait != WAIT_INSIDE)
			return 0;	/* may come back and change things */
		if (!can_run(&w->tasks[i]))
			continue;
		/* one yield in a hundred steps: less is a task that works and is polite */
		if (!t || !t->steps || t->yields * 100 < t->steps)
			return 0;
		nr++;
	}
	return nr;
}

void progress_look(struct progress_check *p, struct world *w, uint32_t task)
{
	uint64_t yields = task < p->room ? p->tasks[task].yields : 0, state;
	struct progress_states *s;

	state = w->ops->standing ? w->ops->standing(w, &w->tasks[task]) : 0;
	if (!state || !ARRAY_RESERVE_ZERO(p->stood, p->room_stood, task + 1))
		return;
	p->looked = true;
	s = &p->stood[task];
	for (uint32_t i = 0; i < s->nr && i < PROGRESS_STATES; i++) {
		if (s->states[i] != state)
			continue;
		s->repeats += yields > s->yields[i];
		s->yields[i] = yields;
		return;
	}
	s->states[s->nr % PROGRESS_STATES] = state;
	s->yields[s->nr++ % PROGRESS_STATES] = yields;
}

void progress_look_at_all(struct progress_check *p, struct world *w)
{
	if (!progress_is_due(p) || nr_yielding(p, w) < 2)
		return;
	for (uint32_t i = 0; i < w->nr_tasks; i++)
		if (can_run(&w->tasks[i]))
			progress_look(p, w, i);
}

/* So many steps without anything new are a livelock of tasks that count their rounds, too. */
static uint64_t counted_window(const struct progress_check *p)
{
	uint64_t half = p->bound / 2;

	if (p->bound == UINT64_MAX)
		return UINT64_MAX;
	return half > PROGRESS_WINDOW ? half * progress_window(p) / PROGRESS_WINDOW : progress_window(p);
}

unsigned int progress_livelock(const struct progress_check *p, const struct world *w, char *who, size_t len, uint64_t *steps)
{
	unsigned int nr = nr_yielding(p, w);
	bool counted = p->steps >= counted_window(p);

	who[0] = 0;
	*steps = counted ? counted_window(p) : progress_window(p);
	for (uint32_t i = 0; nr && i < w->nr_tasks; i++) {
		if (!can_run(&w->tasks[i]))
			continue;
		if (!counted && w->ops->standing && (i >= p->room_stood || p->stood[i].repeats < PROGRESS_REPEATS))
			return 0;
		add_name(who, len, i);
	}
	return nr;
}

/* Only another task can let it go on: it waits, or stands before a lock that is held. */
static bool waits_inside(struct world *w, const struct world_task *t)
{
	if (t->state == TASK_PARKED)
		return !(t->label.flags & ZUG_L_TIMED) && w->ops->would_block(w, t, NULL);
	return t->state == TASK_BLOCKED && t->wait == WAIT_INSIDE;
}

bool progress_is_last(struct world *w, uint32_t task)
{
	for (uint32_t i = 0; i < w->nr_tasks; i++) {
		const struct world_task *t = &w->tasks[i];

		if (i != task && world_lives(t) && !waits_inside(w, t))
			return false;
	}
	return true;
}

bool progress_needs_time(struct world *w, uint32_t task, bool timer)
{
	bool timed = timer;

	for (uint32_t i = 0; i < w->nr_tasks; i++) {
		const struct world_task *t = &w->tasks[i];

		if (i == task || !world_lives(t) || waits_inside(w, t))
			continue;
		if (t->state != TASK_BLOCKED || expiry_outside(t))
			return false;
		timed |= t->deadline != 0;
	}
	return timed && !w->ops->in_flight(w);
}

void progress_loops_reset(struct progress_loops *l)
{
	if (l->tasks)
		memset(l->tasks, 0, l->room * sizeof(*l->tasks));
	l->waits = WORLD_NO_TASK;
	l->steps = 0;
}

void progress_loops_free(struct progress_loops *l)
{
	free(l->tasks);
	*l = (struct progress_loops){ .waits = WORLD_NO_TASK };
}

static uint64_t loop_op(const struct zug_label *label)
{
	return mix64(label->site ^ mix64(label->object));
}

/* A task that makes others gets on with each of them. */
static bool makes_task(const struct zug_label *label)
{
	return label->op == ZUG_OP_CREATE || label->op == ZUG_OP_FORK;
}

bool progress_loops_step(struct progress_loops *l, uint32_t task, const struct zug_label *label, const uint32_t *enabled,
			 uint32_t nr, bool waits)
{
	uint64_t op = loop_op(label);
	struct progress_loop *one;

	if (waits && task != l->waits) {
		l->steps++;
	} else {
		l->waits = !nr || (nr == 1 && enabled[0] == task) ? WORLD_NO_TASK : enabled[enabled[0] == task];
		l->steps = 0;
	}
	if (!ARRAY_RESERVE_ZERO(l->tasks, l->room, task + 1))
		return false;
	one = &l->tasks[task];
	if ((op != one->ops[0] && op != one->ops[1]) || makes_task(label)) {
		one->ops[1] = one->ops[0];
		one->ops[0] = op;
		one->rounds = 0;
	} else if (one->rounds < PROGRESS_ROUNDS) {
		one->rounds++;
	}
	return one->rounds == PROGRESS_ROUNDS && l->steps >= PROGRESS_STARVING;
}

uint32_t progress_loops_calm(const struct progress_loops *l)
{
	return l->steps < PROGRESS_STARVING ? PROGRESS_STARVING - l->steps : 0;
}

uint32_t progress_loops_left(const struct progress_loops *l, uint32_t task, const struct zug_label *label)
{
	const struct progress_loop *one = task < l->room ? &l->tasks[task] : NULL;
	uint64_t op = label ? loop_op(label) : 0;

	/* with another operation it begins to count anew */
	if (!one || (label && ((op != one->ops[0] && op != one->ops[1]) || makes_task(label))))
		return PROGRESS_ROUNDS;
	return one->rounds < PROGRESS_ROUNDS ? PROGRESS_ROUNDS - one->rounds : 1;
}
