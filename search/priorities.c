/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "search/priorities.h"

/* Among so few tasks all of them are looked at for less than it takes to keep lists of them. */
#define FEW	16

void priorities_free(struct priorities *p)
{
	free(p->prio);
	free(p->standing);
	id_map_free(&p->first);
	*p = (struct priorities){ 0 };
}

void priorities_clear(struct priorities *p)
{
	if (p->nr)
		memset(p->prio, 0, p->nr * sizeof(*p->prio));
	p->follows = false;
}

int priorities_reserve(struct priorities *p, const struct search_point *point)
{
	return ARRAY_RESERVE_ZERO(p->prio, p->nr, point->cand[point->nr - 1].task + 1) ? 0 : -ENOMEM;
}

uint32_t priorities_highest(struct priorities *p, struct rng *rng, const struct choice *c)
{
	uint64_t highest = 0;
	uint32_t best = 0;

	for (uint32_t i = 0; i < c->nr && c->nr > 1; i++) {
		uint64_t *one = &p->prio[choice_cand(c, i)->task];

		if (!*one)
			*one = rng_next(rng) | 1;
		if (*one > highest) {
			highest = *one;
			best = i;
		}
	}
	return best;
}

uint32_t priorities_next(const struct priorities *p, const struct rng *rng, const struct search_point *point)
{
	struct rng draw = *rng;
	uint32_t first = SEARCH_NO_TASK;
	uint64_t best = 0, one;

	if (point->nr_enabled < 2)
		return SEARCH_NO_TASK;
	for (uint32_t i = 0; i < point->nr; i++) {
		if (!point->cand[i].enabled)
			continue;
		one = p->prio[point->cand[i].task];
		one = one ? one : rng_next(&draw) | 1;
		if (one > best) {
			best = one;
			first = point->cand[i].task;
		}
	}
	return first;
}

/* ---- which tasks stand before operations on an object ---- */

static void leave(struct priorities *p, uint32_t at)
{
	struct standing *s = &p->standing[at];

	if (!s->object)
		return;
	if (s->behind)
		p->standing[s->behind - 1].before = s->before;
	if (s->before)
		p->standing[s->before - 1].behind = s->behind;
	else
		*id_map_find(&p->first, s->object) = s->behind;
	s->object = 0;
}

static int enter(struct priorities *p, uint32_t at, uint64_t object, bool write)
{
	uint32_t *first = id_map_add(&p->first, object, 0, NULL);

	if (!first)
		return -ENOMEM;
	if (*first)
		p->standing[*first - 1].before = at + 1;
	p->standing[at] = (struct standing){ .object = object, .behind = *first, .write = write };
	*first = at + 1;
	return 0;
}

static int stand(struct priorities *p, const struct search_cand *c)
{
	struct access a = access_of(&c->label);

	for (uint32_t o = 0; o < 2 && a.object[o]; o++)
		if (enter(p, 2 * c->task + o, a.object[o], a.write))
			return -ENOMEM;
	return 0;
}

static int follow_changes(struct priorities *p, const struct search_point *point)
{
	for (uint32_t i = 0; i < point->nr_changed; i++) {
		uint32_t task = point->changed[i], at = search_cand_of(point, task);

		if (task < p->nr) {
			leave(p, 2 * task);
			leave(p, 2 * task + 1);
		}
		if (at != UINT32_MAX && stand(p, &point->cand[at]))
			return -ENOMEM;
	}
	return 0;
}

static int follow_all(struct priorities *p, const struct search_point *point)
{
	memset(p->standing, 0, p->room_standing * sizeof(*p->standing));
	id_map_clear(&p->first);
	for (uint32_t i = 0; i < point->nr; i++)
		if (stand(p, &point->cand[i]))
			return -ENOMEM;
	return 0;
}

/* The lists become those of that point, if it is worth that. -ENOMEM. */
static int follow(struct priorities *p, const struct search_point *point)
{
	bool next = p->follows && point->changed && point->step == p->step + 1;
	int ret;

	p->follows = point->changed && (next || point->nr > FEW);
	p->step = point->step;
	if (!p->follows)
		return 0;
	if (!ARRAY_RESERVE_ZERO(p->standing, p->room_standing, 2 * p->nr))
		return -ENOMEM;
	ret = next ? follow_changes(p, point) : follow_all(p, point);
	if (ret)
		p->follows = false;
	return ret;
}

static void redraw_by_lists(struct priorities *p, const struct access *a)
{
	for (int o = 0; o < 2 && a->object[o]; o++) {
		const uint32_t *first = id_map_find(&p->first, a->object[o]);

		for (uint32_t at = first ? *first : 0; at; at = p->standing[at - 1].behind)
			if (a->write || p->standing[at - 1].write)
				p->prio[(at - 1) / 2] = 0;
	}
}

static void redraw_among_all(struct priorities *p, const struct search_point *point, const struct access *a)
{
	/* without an object it depends on no other one */
	for (uint32_t i = 0; a->object[0] && i < point->nr; i++) {
		struct access b;

		if (!access_may_depend(a, &point->cand[i].label))
			continue;
		b = access_of(&point->cand[i].label);
		if (access_dependent(a, &b))
			p->prio[point->cand[i].task] = 0;
	}
}

int priorities_redraw(struct priorities *p, const struct search_point *point, uint32_t task, const struct access *a)
{
	int ret = follow(p, point);

	if (ret)
		return ret;
	if (p->follows)
		redraw_by_lists(p, a);
	else
		redraw_among_all(p, point, a);
	p->prio[task] = 0;
	return 0;
}
