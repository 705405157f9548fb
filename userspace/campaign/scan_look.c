/* SPDX-License-Identifier: GPL-2.0-only */
/* What the instructions that the race scan looks at access, and what of it is left unordered. */
#include <errno.h>
#include <stdlib.h>
#include "lib/base/array.h"
#include "search/rng.h"
#include "campaign/scan.h"

static struct seen *seen_slot(const struct scan *s, const struct seen *what)
{
	size_t i = mix64(what->range ^ mix64((uint64_t)what->task << 32 | what->place)) &
		   (s->size_seen - 1);

	while (s->seen[i].range &&
	       (s->seen[i].range != what->range || s->seen[i].task != what->task ||
		s->seen[i].place != what->place))
		i = (i + 1) & (s->size_seen - 1);
	return &s->seen[i];
}

static bool note_access(struct scan *s, const struct seen *what)
{
	struct seen *old = s->seen, *slot;
	size_t size = s->size_seen;
	uint8_t how = what->how;

	if (2 * (s->nr_seen + 1) > size) {
		s->size_seen = size ? 2 * size : 1024;
		s->seen = calloc(s->size_seen, sizeof(*old));
		if (!s->seen) {
			s->seen = old;
			s->size_seen = size;
			return false;
		}
		for (size_t i = 0; i < size; i++)
			if (old[i].range)
				*seen_slot(s, &old[i]) = old[i];
		free(old);
	}
	slot = seen_slot(s, what);
	s->nr_seen += !slot->range;
	how |= slot->how;
	*slot = *what;
	slot->how = how;
	return true;
}

static uint32_t add_range(struct scan *s, const struct world_access *a, uint32_t life)
{
	uint32_t nr = ranges_nr(s->ranges),
		 n = ranges_add(s->ranges, &(struct range){ lives_space(a->space, life), a->addr, a->size });

	if (n == RANGES_NONE || !ARRAY_RESERVE(s->objects, s->size_objects, n + 1u) ||
	    !ARRAY_RESERVE(s->range_lives, s->size_lives, n + 1u))
		return RANGES_NONE;
	s->objects[n] = a->object;
	s->range_lives[n] = (struct range_life){ life, a->frees && (n == nr || s->range_lives[n].freed) };
	return n;
}

/* A number for the clocks, which stays the same from execution to execution where objects do, and what was freed before. */
static uint64_t clock_object(const struct scan *s, uint32_t range)
{
	uint64_t name = range_name(s->objects[range], ranges_at(s->ranges, range)->size);

	return lives_space(name, s->range_lives[range].number);
}

static void note_race(struct scan *s, const struct vector_clocks_race *race)
{
	uint32_t mine = RANGES_NONE, with = RANGES_NONE;
	struct raced *r;

	if (s->nr_raced == sizeof(s->raced) / sizeof(s->raced[0]))
		return;
	for (uint32_t i = 0; i < ranges_nr(s->ranges); i++) {
		if (clock_object(s, i) == race->object)
			mine = i;
		if (clock_object(s, i) == race->with)
			with = i;
	}
	if (mine == RANGES_NONE || with == RANGES_NONE)
		return;
	r = &s->raced[s->nr_raced++];
	/* what else lies in a block that is freed does not race for that */
	*r = (struct raced){ .range = s->range_lives[mine].freed ? with : mine,
			     .object = s->objects[mine],
			     .a = race->earlier.site,
			     .b = race->label.site };
	if (ranges_at(s->ranges, with)->size < ranges_at(s->ranges, mine)->size)
		r->object = s->objects[with];
}

/* The life that an access belongs to, and the dead blocks, in both. Their number. */
#define LIVES 6
static int lives_of(struct scan *s, const struct world_access *a, unsigned int op, uint32_t *lives)
{
	const struct range r = { a->space, a->addr, a->size };
	/* what changes a value that is there gives it no new life */
	struct life life = lives_access(s->lives, &r, a->write && !a->frees && op != ZUG_OP_ATOMIC_RMW);
	int nr = 0, both;

	lives[nr++] = life.number;
	if (life.dead)
		lives[nr++] = life.dead;
	if (a->frees && a->size && (lives[nr++] = lives_end(s->lives, &r)) == 0)
		s->no_memory = true;
	both = nr;
	for (int i = 0; i < both && (a->frees || !zug_op_is_data(op)); i++)
		lives[nr++] = lives[i] | BESIDE;
	return nr;
}

static bool after_kill(struct scan *s)
{
	const struct world *w = s->session->world;

	for (uint32_t t = 0; t < w->nr_tasks && !s->killed; t++)
		s->killed = w->tasks[t].killed;
	return s->killed;
}

/*
 * What task t, at a place or (NULL) by another operation, accesses there. 1: *acc is what the clocks are to look at; 0: nothing
 * is.
 */
static int look_at(struct scan *s, const struct world_task *t, const struct access_place *at, const struct world_access *x,
		   uint32_t life, struct vector_clocks_access *acc, uint64_t *overlaps)
{
	uint32_t range = add_range(s, x, life), place = at ? at - s->places : NO_PLACE, list[OVERLAPS];
	uint8_t how = (t->in_handler ? HOW_HANDLER : HOW_OUTSIDE) | (x->write ? HOW_WRITE : 0) |
		      (after_kill(s) ? HOW_AFTER_KILL : 0);

	if (range == RANGES_NONE || !note_access(s, &(struct seen){ range + 1, t->task, place, how })) {
		s->no_memory = true;
		return 0;
	}
	if ((!(life & BESIDE) && !zug_op_is_data(t->label.op)) || !x->size)
		return 0;
	*acc = (struct vector_clocks_access){
		.object = clock_object(s, range),
		.write = life & BESIDE ? x->frees : x->write,
		.overlaps = overlaps,
		.nr_overlaps = ranges_overlaps(s->ranges, range, list, OVERLAPS),
	};
	for (uint32_t k = 0; k < acc->nr_overlaps; k++)
		overlaps[k] = clock_object(s, list[k]);
	return 1;
}

void scan_look(struct scan *s, const struct search_point *p, uint32_t i)
{
	const struct world_task *t = &s->session->world->tasks[p->cand[i].task];
	const struct place_site *site = places_find_site(s->session->places, p->cand[i].label.site);
	struct access_place *a = site ? scan_place(s, site->module, site->offset) : NULL;
	unsigned int op = p->cand[i].label.op;
	uint64_t overlaps[WORLD_ACCESSES * LIVES][OVERLAPS];
	struct vector_clocks_access acc[WORLD_ACCESSES * LIVES];
	struct vector_clocks_race race;
	uint32_t lives[LIVES], nr = 0;
	int ret;

	s->steps++;
	if (a) {
		a->hits += !a->split || op == ZUG_OP_DATA_READ;
		a->label_site = p->cand[i].label.site;
	}
	for (uint32_t n = 0; (a || zug_op_is_atomic(op) || zug_op_is_sync(op)) && n < t->nr_accesses; n++) {
		const struct world_access *x = &t->access[n];
		int nr_lives = lives_of(s, x, op, lives);

		for (int k = zug_op_is_sync(op) ? nr_lives / 2 : 0; k < nr_lives && !s->no_memory; k++)
			nr += look_at(s, t, a, x, lives[k], &acc[nr], overlaps[nr]);
	}
	if (s->no_memory)
		return;
	ret = vector_clocks_step_on(s->order, p, i, acc, nr, &race);
	s->no_memory |= ret == -ENOMEM;
	if (ret == 1)
		note_race(s, &race);
}
