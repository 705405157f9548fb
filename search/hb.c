/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "search/hb.h"
#include "search/rng.h"

void hb_fini(struct hb *hb)
{
	id_map_free(&hb->versions);
	free(hb->steps);
	memset(hb, 0, sizeof(*hb));
}

void hb_reset(struct hb *hb)
{
	hb->hash = hb->names = 0;
	id_map_clear(&hb->versions);
	if (hb->nr_tasks)
		memset(hb->steps, 0, hb->nr_tasks * sizeof(*hb->steps));
}

int hb_reserve_task(struct hb *hb, uint32_t task)
{
	return ARRAY_RESERVE_ZERO(hb->steps, hb->nr_tasks, task + 1) ? 0 : -ENOMEM;
}

/* The version that a step meets; 0 for an object not written yet. */
static uint32_t version(const struct hb *hb, uint64_t object)
{
	const uint32_t *v = id_map_find(&hb->versions, object);

	return v ? *v : 0;
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

#define NAMES	0x6e616d6573ull

/* What a list of names adds to the hash. */
static uint64_t listed(const struct hb *hb, uint32_t task, const struct zug_label *label)
{
	return access_lists_names(label) ? mix64(tuple(task, hb_steps(hb, task), NAMES, 0) + hb->names) : 0;
}

int hb_push(struct hb *hb, uint32_t task, const struct zug_label *label)
{
	struct access a = access_of(label);
	uint32_t step = hb_steps(hb, task), *v;

	hb->hash ^= listed(hb, task, label);
	if (access_changes_names(label))
		hb->names ^= tuple(task, step, NAMES, 1);
	if (!a.object[0])
		hb->hash ^= tuple(task, step, 0, 0);
	for (int i = 0; i < 2 && a.object[i]; i++) {
		hb->hash ^= tuple(task, step, a.object[i], version(hb, a.object[i]));
		if (!a.write)
			continue;
		v = id_map_add(&hb->versions, a.object[i], 0, NULL);
		if (!v)
			return -ENOMEM;
		++*v;
	}
	hb->steps[task]++;
	return 0;
}

uint64_t hb_peek(const struct hb *hb, uint32_t task, const struct zug_label *label)
{
	struct access a = access_of(label);
	uint32_t step = hb_steps(hb, task);
	uint64_t hash = hb->hash ^ listed(hb, task, label);

	if (!a.object[0])
		hash ^= tuple(task, step, 0, 0);
	for (int i = 0; i < 2 && a.object[i]; i++)
		hash ^= tuple(task, step, a.object[i], version(hb, a.object[i]));
	return hash;
}

void hb_push_value(struct hb *hb, uint32_t task, uint32_t value)
{
	hb->hash ^= tuple(task, hb_steps(hb, task), 0x76616c7565ull, value + 1);
}
