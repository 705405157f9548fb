/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "search/hb.h"
#include "search/per_task.h"
#include "search/rng.h"

#define FIRST_OBJECTS	64
#define FIRST_TASKS	16

int hb_init(struct hb *hb)
{
	memset(hb, 0, sizeof(*hb));
	hb->generation = 1;
	hb->mask = FIRST_OBJECTS - 1;
	hb->objects = calloc(FIRST_OBJECTS, sizeof(*hb->objects));
	hb->steps = calloc(FIRST_TASKS, sizeof(*hb->steps));
	hb->nr_tasks = FIRST_TASKS;
	if (!hb->objects || !hb->steps) {
		hb_fini(hb);
		return -ENOMEM;
	}
	return 0;
}

void hb_fini(struct hb *hb)
{
	free(hb->objects);
	free(hb->steps);
	memset(hb, 0, sizeof(*hb));
}

void hb_reset(struct hb *hb)
{
	hb->hash = 0;
	hb->nr_objects = 0;
	if (++hb->generation)
		return;
	/* Once in 2^32 executions: old generations must not come alive again. */
	memset(hb->objects, 0, ((size_t)hb->mask + 1) * sizeof(*hb->objects));
	memset(hb->steps, 0, hb->nr_tasks * sizeof(*hb->steps));
	hb->generation = 1;
}

int hb_reserve_task(struct hb *hb, uint32_t task)
{
	return PER_TASK_RESERVE(hb->steps, hb->nr_tasks, task);
}

static struct hb_object *find(const struct hb *hb, uint64_t object)
{
	uint32_t i = (uint32_t)(object * 0x9e3779b97f4a7c15ull >> 32) & hb->mask;

	while (hb->objects[i].generation == hb->generation && hb->objects[i].object != object)
		i = (i + 1) & hb->mask;
	return &hb->objects[i];
}

static int grow(struct hb *hb)
{
	struct hb_object *old = hb->objects;
	uint32_t nr = hb->mask + 1;

	hb->objects = calloc((size_t)nr * 2, sizeof(*old));
	if (!hb->objects) {
		hb->objects = old;
		return -ENOMEM;
	}
	hb->mask = nr * 2 - 1;
	for (uint32_t i = 0; i < nr; i++)
		if (old[i].generation == hb->generation)
			*find(hb, old[i].object) = old[i];
	free(old);
	return 0;
}

/* The version that a step meets; 0 for an object not written yet. */
static uint32_t version(const struct hb *hb, const struct hb_object *o)
{
	return o->generation == hb->generation ? o->version : 0;
}

static void bump(struct hb *hb, struct hb_object *o, uint64_t object)
{
	if (o->generation != hb->generation) {
		*o = (struct hb_object){ .object = object, .generation = hb->generation };
		hb->nr_objects++;
	}
	o->version++;
}

/*
 * One mix for four numbers: odd multipliers spread each over the word first, so that small numbers
 * do not meet. The tests compare with exact classes.
 */
static uint64_t tuple(uint32_t task, uint32_t step, uint64_t object, uint32_t ver)
{
	uint64_t who = (((uint64_t)task << 32 | step) + 1) * 0x9e3779b97f4a7c15ull;
	uint64_t what = object * 0xd1342543de82ef95ull + (uint64_t)ver * 0xaef17502108ef2d9ull;

	return mix64(who ^ (what << 32 | what >> 32));
}

int hb_push(struct hb *hb, uint32_t task, const struct zug_label *label)
{
	struct access a = access_of(label);
	uint32_t step = hb_steps(hb, task);

	/* Two new objects at most; half full at most, so that find() ends. */
	if ((hb->nr_objects + 2) * 2 > hb->mask && grow(hb))
		return -ENOMEM;
	if (!a.object[0])
		hb->hash ^= tuple(task, step, 0, 0);
	for (int i = 0; i < 2 && a.object[i]; i++) {
		struct hb_object *o = find(hb, a.object[i]);

		hb->hash ^= tuple(task, step, a.object[i], version(hb, o));
		if (a.write)
			bump(hb, o, a.object[i]);
	}
	hb->steps[task] = (uint64_t)hb->generation << 32 | (step + 1);
	return 0;
}

uint64_t hb_peek(const struct hb *hb, uint32_t task, const struct zug_label *label)
{
	struct access a = access_of(label);
	uint32_t step = hb_steps(hb, task);
	uint64_t hash = hb->hash;

	if (!a.object[0])
		hash ^= tuple(task, step, 0, 0);
	for (int i = 0; i < 2 && a.object[i]; i++)
		hash ^= tuple(task, step, a.object[i], version(hb, find(hb, a.object[i])));
	return hash;
}

void hb_push_value(struct hb *hb, uint32_t task, uint32_t value)
{
	hb->hash ^= tuple(task, hb_steps(hb, task), 0x76616c7565ull, value + 1);
}
