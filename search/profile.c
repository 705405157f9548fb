/* SPDX-License-Identifier: GPL-2.0-only */
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

/* 0, also where the table is full; or -ENOMEM. */
static int count(struct profile *p, uint64_t object, uint32_t task, bool write)
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
	p->pairs[i].write |= write;
	o->steps += PROFILE_SCALE;
	o->write |= write;
	return 0;
}

int profile_step(struct profile *p, uint32_t task, uint32_t parent, const struct zug_label *label)
{
	struct access a = access_of(label);

	if (add_task(p, task, parent))
		return -ENOMEM;
	p->steps[task] += PROFILE_SCALE;
	for (int o = 0; o < 2; o++)
		if (a.object[o] && count(p, a.object[o], task, a.write))
			return -ENOMEM;
	return 0;
}

void profile_end(struct profile *p)
{
	p->executions += PROFILE_SCALE;
	if (p->executions < PROFILE_WINDOW)
		return;
	p->executions /= 2;
	for (uint32_t t = 0; t < p->nr_tasks; t++)
		p->steps[t] /= 2;
	for (uint32_t k = 0; k < p->nr_objects; k++) {
		struct profile_object *o = &p->objects[k];

		o->steps = 0;
		for (uint32_t i = o->first; i != UINT32_MAX; i = p->pairs[i].next) {
			p->pairs[i].steps /= 2;
			p->pairs[i].from /= 2;
			o->steps += p->pairs[i].steps;
		}
	}
}
