/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdlib.h>
#include <string.h>
#include "search/identity.h"
#include "engine/failure.h"

#define WAITS 64	/* of more, the first */

struct waits {
	struct identity_wait w[WAITS];
	size_t nr;
};

/* Ten workers that wait at one place for one thing fail as one does: each wait counts once. */
static void add(struct waits *s, const struct zug_label *l)
{
	/*
	 * a numbered object's id depends on the task that used it first, and one bug may come about
	 * in many ways
	 */
	uint64_t object = zug_object_is_numbered(l->object) ? 0 : l->object;

	for (size_t i = 0; i < s->nr; i++)
		if (s->w[i].site == l->site && s->w[i].object == object && s->w[i].op == l->op)
			return;
	if (s->nr < WAITS)
		s->w[s->nr++] = (struct identity_wait){ .site = l->site, .object = object, .op = l->op };
}

/* In the kernel, or, where time-outs end early again and again, still before it. */
static bool waits(struct world *w, const struct takers *takers, const struct world_task *t)
{
	return world_wants_lock(t) && (t->state == TASK_BLOCKED ||
	       (takers && t->state == TASK_PARKED && t->label.op != ZUG_OP_SPIN_LOCK && w->ops->would_block(w, t, NULL)));
}

/* The tasks that wait for each other's locks, from one of them on. */
static bool add_cycle(struct waits *s, struct world *w, const struct takers *takers, uint32_t from)
{
	uint32_t t = from, n;

	for (n = 0; n <= w->nr_tasks; n++) {
		if (!waits(w, takers, &w->tasks[t]))
			return false;
		t = takers_owner(takers, w, &w->tasks[t]);
		if (t == WORLD_NO_TASK || t >= w->nr_tasks)
			return false;
		if (t == from)
			break;
	}
	if (n > w->nr_tasks)
		return false;
	do {
		add(s, &w->tasks[t].label);
		t = takers_owner(takers, w, &w->tasks[t]);
	} while (t != from && t < w->nr_tasks);
	return true;
}

/* A task that waits for the end of another suffers from what keeps that one. */
static bool is_consequence(const struct zug_label *l)
{
	return l->op == ZUG_OP_JOIN || l->op == ZUG_OP_WAITPID;
}

static uint64_t of_deadlock(struct world *w, const struct takers *takers)
{
	struct waits s = { 0 };

	for (uint32_t i = 0; i < w->nr_tasks; i++)
		if (add_cycle(&s, w, takers, i))
			return identity_deadlock(s.w, s.nr);
	for (int joiners = 0; joiners < 2 && !s.nr; joiners++)
		for (uint32_t i = 0; i < w->nr_tasks; i++)
			if (w->tasks[i].state == TASK_BLOCKED && !world_of_runtime(w, i) &&
			    (joiners || !is_consequence(&w->tasks[i].label)))
				add(&s, &w->tasks[i].label);
	return identity_deadlock(s.w, s.nr);
}

/*
 * Where the timer struck within the loop is chance, and so is whether in a function that the loop calls. The function
 * with which the task began is not; a function without a name is told by its address, which moves with the timer, too.
 */
static uint64_t of_spin(struct world *w, uint32_t task)
{
	struct trace_frame frames[64];
	int nr = task < w->nr_tasks ? w->ops->stack(w, &w->tasks[task], frames, 64) : 0;

	for (int i = nr; i-- > 0;)
		if (!frames[i].inlined && frames[i].function && !strchr(frames[i].function, '+'))
			return identity_message(frames[i].function);
	return identity_message("spin");
}

static uint64_t of_livelock(struct world *w, const struct progress_check *pc)
{
	uint64_t sites[WAITS];
	size_t nr = 0;

	for (uint32_t i = 0; i < w->nr_tasks; i++)
		if (w->tasks[i].state == TASK_PARKED && w->tasks[i].label.op == ZUG_OP_SPIN)
			return of_spin(w, i);
	/*
	 * spin locks are found before the window of steps is full: where they stand is all that
	 * repeats
	 */
	if (pc->steps >= progress_window(pc))
		return identity_livelock(pc->sites, pc->nr_sites);
	for (uint32_t i = 0; i < w->nr_tasks && nr < WAITS; i++)
		if (w->tasks[i].state == TASK_PARKED || w->tasks[i].state == TASK_RUNNING)
			sites[nr++] = w->tasks[i].label.site;
	return identity_livelock(sites, nr);
}

void failure_identify(struct outcome *o, struct world *w, uint32_t last, const struct progress_check *pc,
		      const struct takers *takers)
{
	switch (o->kind) {
	case ZUG_OUTCOME_DEADLOCK:
	case ZUG_OUTCOME_LOCK_CYCLE:
		o->failure = of_deadlock(w, takers);
		break;
	case ZUG_OUTCOME_LIVELOCK:
		o->failure = of_livelock(w, pc);
		break;
	case ZUG_OUTCOME_SPIN:
		o->failure = of_spin(w, last);
		break;
	default:
		break;
	}
}
