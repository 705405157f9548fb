/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * engine_candidates.c - the candidates of a decision, kept from one decision to the next
 *
 * Between two decisions few tasks change: the one that ran, and those that it woke or whose locks it used. The world
 * names them (world_changed()), and only these are looked at again. What a decision makes of the candidates for itself
 * (a time-out that expires, a task that a replay holds back) is undone by making them anew. Tests, and
 * ZUG_DEBUG=candidates, compare what was kept with a look at all tasks (engine_options.check_candidates).
 */
#include <stdlib.h>
#include <string.h>
#include "engine/engine_internal.h"
#include "engine/expiry.h"
#include "lib/base/array.h"

/* So many names are more work than a look at every task. */
#define MANY_CHANGES 4096

void world_changes_seen(struct world *w)
{
	w->changes.all = false;
	w->changes.nr = 0;
	w->changes.round++;
}

void world_changed_all(struct world *w)
{
	world_changes_seen(w);
	w->changes.all = true;
}

void world_changed(struct world *w, uint32_t task)
{
	struct world_changes *c = &w->changes;

	/* one event names the tasks that it is of several times */
	if (!c->kept || c->all || w->tasks[task].changed_in == c->round + 1)
		return;
	if (c->nr == MANY_CHANGES || !ARRAY_RESERVE(c->list, c->room, c->nr + 1)) {
		world_changed_all(w);
		return;
	}
	w->tasks[task].changed_in = c->round + 1;
	c->list[c->nr++] = task;
}

/* The first of the ascending numbers that is not below v. */
static uint32_t lower_bound(const uint32_t *list, uint32_t nr, uint32_t v)
{
	return ARRAY_FROM(nr, i, list[i] < v);
}

uint32_t candidates_find(const struct engine *e, uint32_t task)
{
	uint32_t at = task < e->at_room && e->at[task] ? e->at[task] - 1 : SEARCH_NO_TASK;

	return at < e->nr_cands ? at : SEARCH_NO_TASK;
}

/* The first candidate that is not below that task. */
static uint32_t place_of(const struct engine *e, uint32_t task)
{
	uint32_t at = candidates_find(e, task);

	if (at != SEARCH_NO_TASK)
		return at;
	/* new tasks have the highest numbers, mostly */
	if (e->nr_cands && e->cands[e->nr_cands - 1].task < task)
		return e->nr_cands;
	return ARRAY_FROM(e->nr_cands, i, e->cands[i].task < task);
}

uint32_t candidates_words(const struct engine *e)
{
	uint32_t nr = (e->w->nr_tasks + 63) / 64;

	return nr < e->nr_words ? nr : e->nr_words;
}

bool candidates_is_enabled(const struct engine *e, uint32_t task)
{
	uint32_t at = candidates_find(e, task);

	return at != SEARCH_NO_TASK && e->cands[at].enabled;
}

/* To the search that task is another than at its last point. */
static void tell_changed(struct engine *e, uint32_t task)
{
	e->any_changed |= e->nr_changed == MANY_CHANGES || !ARRAY_RESERVE(e->changed, e->changed_room, e->nr_changed + 1);
	if (!e->any_changed)
		e->changed[e->nr_changed++] = task;
}

static bool room(struct engine *e, uint32_t nr)
{
	return ARRAY_RESERVE(e->cands, e->cands_room, nr) &&
	       ARRAY_RESERVE(e->enabled, e->enabled_room, nr) &&
	       ARRAY_RESERVE(e->places, e->places_room, nr) &&
	       ARRAY_RESERVE(e->held, e->held_room, nr) &&
	       ARRAY_RESERVE(e->timed, e->timed_room, nr) &&
	       ARRAY_RESERVE_ZERO(e->at, e->at_room, nr) &&
	       ARRAY_RESERVE_ZERO(e->bits, e->nr_words, nr / 64 + 1) &&
	       ARRAY_RESERVE_ZERO(e->traits, e->traits_room, e->w->nr_tasks);
}

static void list_enabled(struct engine *e)
{
	uint32_t ne = 0;

	memset(e->bits, 0, e->nr_words * sizeof(*e->bits));
	for (uint32_t i = 0; i < e->nr_cands; i++)
		if (e->cands[i].enabled) {
			e->bits[e->cands[i].task / 64] |= 1ull << e->cands[i].task % 64;
			e->enabled[ne] = e->cands[i].task;
			e->places[ne++] = i;
			steps_untold(e, e->cands[i].task);
		}
	e->nr_enabled = ne;
}

uint32_t candidates_list(struct engine *e)
{
	list_enabled(e);
	e->altered = e->any_changed = true;
	return e->nr_enabled;
}

/* What a task counts as; all false for one that is dead, or not there. */
static struct task_traits traits_of(const struct world_task *t, bool only)
{
	return (struct task_traits){
		.parked = t->state == TASK_PARKED || (t->state == TASK_RUNNING && only),
		.timed = t->state == TASK_BLOCKED && t->deadline,
		.outside = expiry_outside(t),
	};
}

static void count(struct engine *e, uint32_t task, struct task_traits now)
{
	struct task_traits *t = &e->traits[task];

	e->nr_parked += now.parked - t->parked;
	e->nr_outside += now.outside - t->outside;
	now.place = t->place;
	if (now.timed && !t->timed) {
		now.place = e->nr_timed;
		e->timed[e->nr_timed++] = task;
	} else if (!now.timed && t->timed) {
		uint32_t last = e->timed[--e->nr_timed];

		e->timed[t->place] = last;
		e->traits[last].place = t->place;
	}
	*t = now;
}

static struct search_cand cand_of(struct engine *e, uint32_t task, uint32_t only)
{
	const struct world_task *t = &e->w->tasks[task];
	bool parked = t->state == TASK_PARKED || (t->state == TASK_RUNNING && task == only);

	return (struct search_cand){
		.task = task, .parent = t->parent, .label = t->label, .blocked = t->state == TASK_BLOCKED,
		.enabled = parked && (only == WORLD_NO_TASK ? !e->w->ops->would_block(e->w, t, NULL) : task == only),
	};
}

/* All of them anew. */
static bool look_at_all(struct engine *e, uint32_t only)
{
	struct world *w = e->w;

	if (!room(e, w->nr_tasks))
		return false;
	memset(e->traits, 0, e->traits_room * sizeof(*e->traits));
	memset(e->at, 0, e->at_room * sizeof(*e->at));
	e->any_changed = true;
	e->nr_parked = e->nr_timed = e->nr_outside = e->nr_cands = 0;
	for (uint32_t i = 0; i < w->nr_tasks; i++) {
		if (!world_lives(&w->tasks[i]))
			continue;
		count(e, i, traits_of(&w->tasks[i], i == only));
		e->cands[e->nr_cands++] = cand_of(e, i, only);
		e->at[i] = e->nr_cands;
	}
	list_enabled(e);
	world_changes_seen(w);
	return true;
}

/* That task's candidate comes, or goes: what lies behind it moves. */
static void shift(struct engine *e, uint32_t task, uint32_t at, int by)
{
	uint32_t i = lower_bound(e->places, e->nr_enabled, at);

	if (by > 0)
		memmove(&e->cands[at + 1], &e->cands[at], (e->nr_cands - at) * sizeof(*e->cands));
	else
		memmove(&e->cands[at], &e->cands[at + 1], (e->nr_cands - at - 1) * sizeof(*e->cands));
	e->nr_cands += by;
	e->at[task] = by > 0 ? at + 1 : 0;
	for (uint32_t k = at + (by > 0); k < e->nr_cands; k++)
		e->at[e->cands[k].task] = k + 1;
	for (; i < e->nr_enabled; i++)
		e->places[i] += by;
}

static void enable(struct engine *e, uint32_t task, uint32_t at, bool on)
{
	uint32_t i = lower_bound(e->enabled, e->nr_enabled, task), nr = e->nr_enabled - i;

	e->bits[task / 64] ^= 1ull << task % 64;
	if (on) {
		memmove(&e->enabled[i + 1], &e->enabled[i], nr * sizeof(*e->enabled));
		memmove(&e->places[i + 1], &e->places[i], nr * sizeof(*e->places));
		e->enabled[i] = task;
		e->places[i] = at;
		e->nr_enabled++;
		steps_untold(e, task);
	} else {
		memmove(&e->enabled[i], &e->enabled[i + 1], (nr - 1) * sizeof(*e->enabled));
		memmove(&e->places[i], &e->places[i + 1], (nr - 1) * sizeof(*e->places));
		e->nr_enabled--;
	}
}

static void look_at(struct engine *e, uint32_t task)
{
	const struct world_task *t = &e->w->tasks[task];
	bool live = world_lives(t), known, was = false;
	uint32_t at = place_of(e, task);

	tell_changed(e, task);
	count(e, task, live ? traits_of(t, false) : (struct task_traits){ 0 });
	known = at < e->nr_cands && e->cands[at].task == task;
	if (!live && !known)
		return;
	if (known)
		was = e->cands[at].enabled;
	if (!live) {
		if (was)
			enable(e, task, at, false);
		shift(e, task, at, -1);
		return;
	}
	if (!known)
		shift(e, task, at, 1);
	e->cands[at] = cand_of(e, task, WORLD_NO_TASK);
	if (e->cands[at].enabled != was)
		enable(e, task, at, !was);
}

/* One task passes its point: it alone is enabled. */
static bool look_at_lone(struct engine *e, uint32_t only)
{
	uint32_t at = candidates_find(e, only);

	/* others could run, where the point is left out: the next look is at all of them again */
	if (at == SEARCH_NO_TASK || e->nr_enabled)
		return look_at_all(e, only);
	count(e, only, traits_of(&e->w->tasks[only], true));
	e->cands[at].enabled = true;
	enable(e, only, at, true);
	/* the next look at it puts that right */
	e->altered = false;
	tell_changed(e, only);
	world_changed(e->w, only);
	return true;
}

static bool same_cand(const struct search_cand *a, const struct search_cand *b)
{
	return a->task == b->task && a->parent == b->parent && a->blocked == b->blocked && a->enabled == b->enabled &&
	       !memcmp(&a->label, &b->label, sizeof(a->label));
}

static bool same_traits(struct task_traits a, struct task_traits b)
{
	return a.parked == b.parked && a.timed == b.timed && a.outside == b.outside;
}

/* The first task of which the world says another thing than what was kept; WORLD_NO_TASK: there is none. */
static uint32_t find_stale(struct engine *e, uint32_t only)
{
	uint32_t at = 0, on = 0, parked = 0, timed = 0, outside = 0;

	for (uint32_t i = 0; i < e->w->nr_tasks; i++) {
		const struct world_task *t = &e->w->tasks[i];
		struct task_traits now = { 0 };
		struct search_cand c;

		if (world_lives(t)) {
			now = traits_of(t, i == only);
			c = cand_of(e, i, only);
			if (at == e->nr_cands || !same_cand(&c, &e->cands[at]) || candidates_find(e, i) != at)
				return i;
			if ((e->bits[i / 64] >> i % 64 & 1) != c.enabled)
				return i;
			if (c.enabled && (on == e->nr_enabled || e->enabled[on] != i || e->places[on++] != at))
				return i;
			at++;
		}
		if (!same_traits(now, e->traits[i]))
			return i;
		parked += now.parked;
		timed += now.timed;
		outside += now.outside;
	}
	if (at < e->nr_cands)
		return e->cands[at].task;
	if (on < e->nr_enabled)
		return e->enabled[on];
	return e->nr_parked == parked && e->nr_timed == timed && e->nr_outside == outside ? WORLD_NO_TASK : 0;
}

/* Only what has changed. */
static bool look_at_changes(struct engine *e, uint32_t only)
{
	struct world_changes *c = &e->w->changes;

	for (uint32_t i = 0; i < c->nr; i++)
		look_at(e, c->list[i]);
	world_changes_seen(e->w);
	return only == WORLD_NO_TASK || look_at_lone(e, only);
}

bool candidates_look(struct engine *e, uint32_t only)
{
	const struct world_changes *c = &e->w->changes;
	bool anew = !c->kept || c->all || e->altered || e->o.debugger || !room(e, e->w->nr_tasks), good;

	e->altered = only != WORLD_NO_TASK;
	good = anew ? look_at_all(e, only) : look_at_changes(e, only);
	if (good && !anew && e->o.check_candidates)
		e->stale = find_stale(e, only);
	return good;
}

void candidates_reset(struct engine *e)
{
	e->stale = WORLD_NO_TASK;
	e->altered = e->any_changed = true;
	e->nr_cands = e->nr_enabled = 0;
}

void candidates_free(struct engine *e)
{
	free(e->cands);
	free(e->enabled);
	free(e->places);
	free(e->held);
	free(e->timed);
	free(e->traits);
	free(e->at);
	free(e->bits);
	free(e->changed);
}
