/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "search/access.h"
#include "search/profile.h"
#include "search/rng.h"

void profile_fini(struct profile *p)
{
	free(p->steps);
	free(p->parent);
	free(p->pairs);
	free(p->index);
	free(p->objects);
	free(p->object_index);
	memset(p, 0, sizeof(*p));
}

int profile_task(struct profile *p, uint32_t task, uint32_t parent)
{
	uint32_t nr = p->nr_tasks ? p->nr_tasks : 16;
	uint64_t *steps;
	uint32_t *parents;

	if (task >= p->nr_tasks) {
		while (nr <= task)
			nr *= 2;
		steps = realloc(p->steps, nr * sizeof(*steps));
		if (steps)
			p->steps = steps;
		parents = realloc(p->parent, nr * sizeof(*parents));
		if (parents)
			p->parent = parents;
		if (!steps || !parents)
			return -ENOMEM;
		for (uint32_t i = p->nr_tasks; i < nr; i++) {
			steps[i] = 0;
			parents[i] = SEARCH_NO_TASK;
		}
		p->nr_tasks = nr;
	}
	p->parent[task] = parent < task ? parent : SEARCH_NO_TASK;
	return 0;
}

/* Tables of indices that grow to stay at most half full; hash() gives the key of entry i. */
static int grow_index(uint32_t **index, uint32_t *mask, uint32_t nr, const struct profile *p,
		      uint64_t (*hash)(const struct profile *p, uint32_t i))
{
	uint32_t size = *mask ? (*mask + 1) * 2 : 64;
	uint32_t *fresh;

	if (*index && (nr + 1) * 2 <= *mask)
		return 0;
	fresh = calloc(size, sizeof(*fresh));
	if (!fresh)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t at = (uint32_t)hash(p, i) & (size - 1);

		while (fresh[at])
			at = (at + 1) & (size - 1);
		fresh[at] = i + 1;
	}
	free(*index);
	*index = fresh;
	*mask = size - 1;
	return 0;
}

static uint64_t pair_key(uint64_t object, uint32_t task)
{
	return mix64(object * 0x9e3779b97f4a7c15ull + task);
}

static uint64_t pair_hash(const struct profile *p, uint32_t i)
{
	return pair_key(p->pairs[i].object, p->pairs[i].task);
}

static uint64_t object_hash(const struct profile *p, uint32_t i)
{
	return mix64(p->objects[i].object);
}

int profile_index(struct profile *p)
{
	uint32_t nr = p->nr_pairs > p->nr_objects ? p->nr_pairs : p->nr_objects, size = 32;

	free(p->index);
	free(p->object_index);
	p->index = p->object_index = NULL;
	while (size < (nr + 1) * 2)
		size *= 2;
	/* grow_index() doubles what it is given. */
	p->index_mask = p->object_mask = size / 2 - 1;
	if (grow_index(&p->index, &p->index_mask, p->nr_pairs, p, pair_hash) ||
	    grow_index(&p->object_index, &p->object_mask, p->nr_objects, p, object_hash))
		return -ENOMEM;
	return 0;
}

static struct profile_object *get_object(struct profile *p, uint64_t object)
{
	uint32_t at;

	if (grow_index(&p->object_index, &p->object_mask, p->nr_objects, p, object_hash))
		return NULL;
	at = (uint32_t)mix64(object) & p->object_mask;
	for (; p->object_index[at]; at = (at + 1) & p->object_mask)
		if (p->objects[p->object_index[at] - 1].object == object)
			return &p->objects[p->object_index[at] - 1];
	if (p->nr_objects == p->room_objects) {
		uint32_t room = p->room_objects ? p->room_objects * 2 : 32;
		struct profile_object *o = realloc(p->objects, room * sizeof(*o));

		if (!o)
			return NULL;
		p->objects = o;
		p->room_objects = room;
	}
	p->objects[p->nr_objects] = (struct profile_object){
		.object = object, .first = UINT32_MAX,
	};
	p->object_index[at] = ++p->nr_objects;
	return &p->objects[p->nr_objects - 1];
}

/* -ENOSPC when the table is full. */
static int add_pair(struct profile *p, uint64_t object, uint32_t task, uint32_t at)
{
	struct profile_object *o;

	if (p->nr_pairs == PROFILE_PAIRS)
		return -ENOSPC;
	if (p->nr_pairs == p->room_pairs) {
		uint32_t room = p->room_pairs ? p->room_pairs * 2 : 64;
		struct profile_pair *pairs = realloc(p->pairs, room * sizeof(*pairs));

		if (!pairs)
			return -ENOMEM;
		p->pairs = pairs;
		p->room_pairs = room;
	}
	o = get_object(p, object);
	if (!o)
		return -ENOMEM;
	p->pairs[p->nr_pairs] = (struct profile_pair){
		.object = object, .task = task, .next = o->first,
	};
	o->first = p->nr_pairs++;
	o->tasks++;
	p->index[at] = p->nr_pairs;
	return 0;
}

static int count(struct profile *p, uint64_t object, uint32_t task, bool write)
{
	struct profile_object *o;
	uint32_t at;
	int ret;

	if (grow_index(&p->index, &p->index_mask, p->nr_pairs, p, pair_hash))
		return -ENOMEM;
	at = (uint32_t)pair_key(object, task) & p->index_mask;
	for (; p->index[at]; at = (at + 1) & p->index_mask) {
		struct profile_pair *pair = &p->pairs[p->index[at] - 1];

		if (pair->object == object && pair->task == task)
			break;
	}
	if (!p->index[at]) {
		ret = add_pair(p, object, task, at);
		if (ret)
			return ret == -ENOSPC ? 0 : ret;
	}
	p->pairs[p->index[at] - 1].steps++;
	p->pairs[p->index[at] - 1].write |= write;
	o = get_object(p, object);
	if (!o)
		return -ENOMEM;
	o->steps++;
	o->write |= write;
	return 0;
}

int profile_step(struct profile *p, uint32_t task, const struct zug_label *label)
{
	struct access a = access_of(label);

	p->steps[task]++;
	for (int o = 0; o < 2; o++)
		if (a.object[o] && count(p, a.object[o], task, a.write))
			return -ENOMEM;
	return 0;
}
