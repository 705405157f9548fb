/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * profile.c - means of steps over the executions so far: counted at each step, closed at the end of an execution
 * (profile.h)
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "search/access.h"
#include "search/profile.h"

void profile_fini(struct profile *p)
{
	free(p->steps);
	free(p->parent);
	free(p->lives);
	free(p->pairs);
	free(p->objects);
	id_map_free(&p->index);
	memset(p, 0, sizeof(*p));
}

/* Room for that task. -ENOMEM. */
static int add_task(struct profile *p, uint32_t task, uint32_t parent)
{
	uint32_t nr = p->nr_tasks;

	if (!ARRAY_RESERVE_ZERO(p->steps, p->nr_tasks, task + 1) ||
	    !ARRAY_RESERVE(p->parent, p->room_parent, p->nr_tasks))
		return -ENOMEM;
	for (; nr < p->nr_tasks; nr++)
		p->parent[nr] = SEARCH_NO_TASK;
	p->parent[task] = parent < task ? parent : SEARCH_NO_TASK;
	return 0;
}

int profile_index(struct profile *p)
{
	id_map_clear(&p->index);
	for (uint32_t i = 0; i < p->nr_objects; i++)
		if (!id_map_add(&p->index, p->objects[i].object, i, NULL))
			return -ENOMEM;
	return 0;
}

/* telling: see profile_telling(). 0, also where the table is full; or -ENOMEM. */
static int count(struct profile *p, uint64_t object, uint32_t task, bool write, bool telling)
{
	struct profile_object *o;
	const uint32_t *at;
	bool added;
	uint32_t i;

	at = id_map_find(&p->index, object);
	i = at ? p->objects[*at].first : UINT32_MAX;
	while (i != UINT32_MAX && p->pairs[i].task != task)
		i = p->pairs[i].next;
	if (i == UINT32_MAX) {
		if (p->nr_pairs == PROFILE_PAIRS)
			return 0;
		if (!ARRAY_RESERVE(p->pairs, p->room_pairs, p->nr_pairs + 1) ||
		    !ARRAY_RESERVE(p->objects, p->room_objects, p->nr_objects + 1))
			return -ENOMEM;
		at = id_map_add(&p->index, object, p->nr_objects, &added);
		if (!at)
			return -ENOMEM;
		if (added)
			p->objects[p->nr_objects++] = (struct profile_object){
				.object = object, .first = UINT32_MAX,
			};
		o = &p->objects[*at];
		i = p->nr_pairs++;
		p->pairs[i] = (struct profile_pair){ .task = task, .next = o->first, .from = p->executions };
		o->first = i;
		o->tasks++;
	}
	o = &p->objects[*at];
	p->pairs[i].steps += PROFILE_SCALE;
	p->pairs[i].now += PROFILE_SCALE;
	p->pairs[i].write |= write;
	o->steps += PROFILE_SCALE;
	o->telling += telling ? PROFILE_SCALE : 0;
	o->write |= write;
	o->changed |= write && telling;
	return 0;
}

int profile_meet(struct profile *p, uint32_t task, uint32_t parent)
{
	if (profile_has_met(p, task))
		return 0;
	if (add_task(p, task, parent) || !ARRAY_RESERVE_ZERO(p->lives, p->nr_lives, p->nr_tasks))
		return -ENOMEM;
	p->lives[task].born = true;
	return 0;
}

static bool is_telling(const struct zug_label *l, const struct access *a, int object)
{
	if (a->object[object] == ACCESS_OPAQUE)
		return !access_is_own_affair(l->op, a);
	return l->op != ZUG_OP_CLOSE || zug_object_is_numbered(a->object[object]);
}

int profile_step(struct profile *p, uint32_t task, uint32_t parent, const struct zug_label *label)
{
	struct access a = access_of(label);

	if (profile_meet(p, task, parent))
		return -ENOMEM;
	p->steps[task] += PROFILE_SCALE;
	p->lives[task].now += PROFILE_SCALE;
	for (int o = 0; o < 2; o++)
		if (a.object[o] && count(p, a.object[o], task, a.write, is_telling(label, &a, o)))
			return -ENOMEM;
	return label->flags & ZUG_L_OWN ? count(p, PROFILE_OWN, task, a.write, true) : 0;
}

/* So many steps of packages come with one of the program's own, at least. */
#define DROWNED	4

bool profile_drowns_own(const struct profile *p)
{
	const uint32_t *at = id_map_find(&p->index, PROFILE_OWN);
	uint64_t all = 0;

	for (uint32_t t = 0; at && t < p->nr_tasks; t++)
		all += p->steps[t];
	return at && p->objects[*at].tasks > 1 && p->objects[*at].steps * (DROWNED + 1) <= all;
}

bool profile_has_clients(const struct profile *p)
{
	const uint32_t *at = profile_drowns_own(p) ? id_map_find(&p->index, PROFILE_OWN) : NULL;
	uint64_t all = 0, own = 0;

	for (uint32_t t = 0; at && t < p->nr_tasks; t++)
		all += p->steps[t];
	for (uint32_t n = at ? p->objects[*at].first : UINT32_MAX; n != UINT32_MAX; n = p->pairs[n].next)
		own += p->steps[p->pairs[n].task];
	return at && (2 * own <= all || 2 * p->objects[*at].tasks <= profile_tasks(p));
}

uint32_t profile_tasks(const struct profile *p)
{
	uint32_t nr = 0;

	for (uint32_t t = 0; t < p->nr_lives; t++)
		nr += p->lives[t].met;
	return nr;
}

/* Of a task that never comes to its own end the steps that it makes are all that there is to know. */
static bool was_cut(const struct profile *p, uint32_t task)
{
	return task < p->nr_lives && p->lives[task].born && p->lives[task].known && !p->lives[task].ended;
}

/* What a mean of the executions before this one is more than this one's steps. */
static uint64_t missing(const struct profile *p, uint64_t steps, uint64_t from, uint64_t now)
{
	uint64_t mean = p->executions > from ? (steps - now) * PROFILE_SCALE / (p->executions - from) : 0;

	return mean > now ? mean - now : 0;
}

static void complete_tasks(struct profile *p)
{
	for (uint32_t t = 0; t < p->nr_tasks; t++)
		if (was_cut(p, t))
			p->steps[t] += missing(p, p->steps[t], 0, p->lives[t].now);
	for (uint32_t k = 0; k < p->nr_objects; k++) {
		struct profile_object *o = &p->objects[k];

		for (uint32_t i = o->first; i != UINT32_MAX; i = p->pairs[i].next) {
			struct profile_pair *pair = &p->pairs[i];
			uint64_t add = was_cut(p, pair->task) ?
				       missing(p, pair->steps, pair->from, pair->now) : 0;

			pair->steps += add;
			o->steps += add;
		}
	}
	for (uint32_t i = 0; i < p->nr_pairs; i++)
		p->pairs[i].now = 0;
	for (uint32_t t = 0; t < p->nr_lives; t++)
		p->lives[t] = (struct profile_life){
			.met = p->lives[t].met || p->lives[t].born,
			.known = p->lives[t].known || p->lives[t].ended,
		};
}

/* It is known how many steps it makes, or there never was such a task. */
static bool is_known(const struct profile *p, uint32_t task)
{
	return task >= p->nr_lives || p->lives[task].known || !p->lives[task].met;
}

uint64_t profile_weight(const struct profile *p, uint32_t task)
{
	uint64_t sum = 0, nr = 0, mean = profile_mean_of_task(p, task);

	for (uint32_t t = 0; !is_known(p, task) && t < p->nr_lives; t++)
		if (p->lives[t].known) {
			sum += profile_mean_of_task(p, t);
			nr++;
		}
	return nr && sum / nr > mean ? sum / nr : mean;
}

uint64_t profile_weight_on(const struct profile *p, const struct profile_object *o, const struct profile_pair *pair)
{
	uint64_t sum = 0, nr = 0, mean = profile_mean(p, pair);

	for (uint32_t i = is_known(p, pair->task) ? UINT32_MAX : o->first; i != UINT32_MAX; i = p->pairs[i].next)
		if (p->pairs[i].task < p->nr_lives && p->lives[p->pairs[i].task].known) {
			sum += profile_mean(p, &p->pairs[i]);
			nr++;
		}
	return nr && sum / nr > mean ? sum / nr : mean;
}

void profile_ended(struct profile *p, uint32_t task)
{
	if (task < p->nr_lives)
		p->lives[task].ended = true;
}

void profile_end(struct profile *p)
{
	complete_tasks(p);
	p->executions += PROFILE_SCALE;
	if (p->executions < PROFILE_WINDOW)
		return;
	p->executions /= 2;
	for (uint32_t t = 0; t < p->nr_tasks; t++)
		p->steps[t] /= 2;
	for (uint32_t k = 0; k < p->nr_objects; k++) {
		struct profile_object *o = &p->objects[k];

		o->steps = 0;
		o->telling /= 2;
		for (uint32_t i = o->first; i != UINT32_MAX; i = p->pairs[i].next) {
			p->pairs[i].steps /= 2;
			p->pairs[i].from /= 2;
			o->steps += p->pairs[i].steps;
		}
	}
}
