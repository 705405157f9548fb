/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "search/settled.h"

void settled_release(struct settled *e)
{
	free(e->at);
	free(e->effect);
	*e = (struct settled){ 0 };
}

static bool is_own(const struct zug_label *l)
{
	return !(l->flags & ZUG_L_LEFT_OUT);
}

bool settling_step(struct settling *t, const struct zug_label *l)
{
	if (is_own(l)) {
		*t = (struct settling){ .made = t->made + 1, .point = l->op == ZUG_OP_POINT };
	} else if (t->point) {
		switch (l->op) {
		case ZUG_OP_LOCK:
			t->mutex = t->mutex ? t->mutex : l->object;
			break;
		case ZUG_OP_COND_WAIT:
			/* until another task has the turn */
			t->given = true;
			break;
		case ZUG_OP_COND_TIMEDWAIT:
			/* to get it back; a task that waits for it asks for it after a while */
			t->given = true;
			t->mutex = l->object2;
			break;
		case ZUG_OP_UNLOCK:
			if (!t->given || l->object != t->mutex)
				break;
			t->point = false;
			return true;
		}
	}
	return false;
}

/* A task while its steps are gone through. */
struct walk {
	struct settling now;
	size_t own;	/* its last own step */
};

#define NONE SIZE_MAX

/* by_effect[i]: the step that takes effect with step i, or NONE; behind them those that have none at the end. 0 or -ENOMEM. */
static int find_effects(const struct schedule *s, uint32_t nr_tasks, size_t *by_effect)
{
	struct walk *walks = calloc(nr_tasks + 1, sizeof(*walks));
	size_t end = s->nr;

	if (!walks)
		return -ENOMEM;
	for (size_t i = 0; i < s->nr; i++) {
		struct walk *w = &walks[s->tasks[i]];
		bool own = is_own(&s->labels[i]);

		by_effect[i] = own ? i : NONE;
		w->own = own ? i : w->own;
		if (settling_step(&w->now, &s->labels[i])) {
			by_effect[w->own] = NONE;
			by_effect[i] = w->own;
		}
	}
	for (uint32_t t = 0; t < nr_tasks; t++) {
		if (!walks[t].now.point || !walks[t].now.given)
			continue;
		by_effect[walks[t].own] = NONE;
		by_effect[end++] = walks[t].own;
	}
	by_effect[end] = NONE;
	free(walks);
	return 0;
}

static uint32_t tasks_of(const struct schedule *s)
{
	uint32_t nr = 0;

	for (size_t i = 0; i < s->nr; i++)
		nr = s->tasks[i] >= nr ? s->tasks[i] + 1 : nr;
	return nr;
}

int settled_steps(struct schedule *s, struct settled *e)
{
	uint32_t nr_tasks = tasks_of(s);
	size_t *by_effect = malloc((s->nr + nr_tasks + 1) * sizeof(*by_effect)), n = 0;
	struct zug_label *labels = malloc((s->nr + 1) * sizeof(*labels));
	uint32_t *tasks = malloc((s->nr + 1) * sizeof(*tasks));
	int ret = by_effect && labels && tasks && ARRAY_RESERVE(e->at, e->room_at, s->nr + 1) &&
		  ARRAY_RESERVE(e->effect, e->room_effect, s->nr + 1) ? find_effects(s, nr_tasks, by_effect) : -ENOMEM;

	for (size_t i = 0; !ret && (i < s->nr || by_effect[i] != NONE); i++) {
		if (by_effect[i] == NONE)
			continue;
		labels[n] = s->labels[by_effect[i]];
		tasks[n] = s->tasks[by_effect[i]];
		e->at[n] = by_effect[i];
		e->effect[n++] = i;
	}
	if (!ret) {
		e->whole = s->nr;
		e->nr = s->nr = n;
		if (n) {
			memcpy(s->labels, labels, n * sizeof(*labels));
			memcpy(s->tasks, tasks, n * sizeof(*tasks));
		}
	}
	free(by_effect);
	free(labels);
	free(tasks);
	return ret;
}

size_t settled_before(const struct settled *e, uint64_t step)
{
	size_t n = 0;

	while (n < e->nr && e->effect[n] < step)
		n++;
	return n;
}

uint64_t settled_at(const struct settled *e, uint64_t i)
{
	return i < e->nr ? e->at[i] : i;
}
