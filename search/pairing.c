/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pairing.c - pairs the steps and the objects of two executions (pairing.h)
 *
 * pairing_new() pairs steps by their order within each task, then walks the pairs in the order of
 * the first execution: equal operations make their objects one, the first unequal operation makes
 * its task stray.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "lib/base/id_map.h"
#include "search/pairing.h"

/*
 * Turns a numbered id into one that is not numbered and, as far as hashes go, belongs to no other
 * object.
 */
#define NEW	(0xffffull << 48)

struct pair {
	uint64_t first, second;
};

struct pairing {
	uint64_t *in_second, *in_first;
	uint64_t nr_first, nr_second;
	struct pair *pairs;			/* of numbered objects that are one */
	uint32_t nr_pairs, room;
	struct id_map by_first, by_second;	/* in pairs */
};

/* ---- objects ---- */

/* 0: it has no counterpart. */
static uint64_t to_second(const struct pairing *p, uint64_t first)
{
	const uint32_t *i = id_map_find(&p->by_first, first);

	return i ? p->pairs[*i].second : 0;
}

static uint64_t to_first(const struct pairing *p, uint64_t second)
{
	const uint32_t *i = id_map_find(&p->by_second, second);

	return i ? p->pairs[*i].first : 0;
}

/* True when they can be one object. */
static bool may_be_one(const struct pairing *p, uint64_t first, uint64_t second, bool one_place)
{
	uint64_t known;

	if (!zug_object_is_numbered(first) || !zug_object_is_numbered(second))
		return first == second;
	known = to_second(p, first);
	if (known || to_first(p, second))
		return known == second;
	return one_place;
}

static int learn(struct pairing *p, uint64_t first, uint64_t second)
{
	if (!zug_object_is_numbered(first) || to_second(p, first))
		return 0;
	if (!ARRAY_RESERVE(p->pairs, p->room, p->nr_pairs + 1) ||
	    !id_map_add(&p->by_first, first, p->nr_pairs, NULL) ||
	    !id_map_add(&p->by_second, second, p->nr_pairs, NULL))
		return -ENOMEM;
	p->pairs[p->nr_pairs++] = (struct pair){ first, second };
	return 0;
}

/*
 * 1: they are the same operation, and which objects are one is learnt from that; 0: they are not;
 * -ENOMEM
 */
static int same_operation(struct pairing *p, const struct zug_label *x, const struct zug_label *y)
{
	/* where a long computation was stopped is chance */
	bool one_place = x->site == y->site;

	if (x->op != y->op || (x->object == x->object2) != (y->object == y->object2) ||
	    !may_be_one(p, x->object, y->object, one_place) || !may_be_one(p, x->object2, y->object2, one_place))
		return 0;
	return learn(p, x->object, y->object) || learn(p, x->object2, y->object2) ? -ENOMEM : 1;
}

uint64_t pairing_object(const struct pairing *p, uint64_t object)
{
	uint64_t known;

	if (!zug_object_is_numbered(object))
		return object;
	known = to_first(p, object);
	return known ? known : object ^ NEW;
}

struct zug_label pairing_label(const struct pairing *p, const struct zug_label *second)
{
	struct zug_label l = *second;

	l.object = pairing_object(p, l.object);
	l.object2 = pairing_object(p, l.object2);
	return l;
}

/* ---- steps ---- */

struct by_task {
	uint32_t task;
	uint64_t step;
};

static int compare(const void *a, const void *b)
{
	const struct by_task *x = a, *y = b;

	return x->task != y->task ? (x->task > y->task) - (x->task < y->task) : (x->step > y->step) - (x->step < y->step);
}

static struct by_task *sorted(const struct pairing_steps *s)
{
	struct by_task *list = malloc((s->nr + 1) * sizeof(*list));

	for (uint64_t i = 0; list && i < s->nr; i++) {
		s->step(s->ctx, i, &list[i].task);
		list[i].step = i;
	}
	if (list)
		qsort(list, s->nr, sizeof(*list), compare);
	return list;
}

/*
 * Pairs the steps of each task by their order alone. group: of each step of the first execution, a number of its task;
 * returns the number of these.
 */
static uint64_t pair_by_order(struct pairing *p, const struct by_task *x, const struct by_task *y, uint64_t *group)
{
	uint64_t i = 0, k = 0, groups = 0;

	for (uint32_t task; i < p->nr_first; groups++) {
		task = x[i].task;
		while (k < p->nr_second && y[k].task < task)
			p->in_first[y[k++].step] = PAIRING_NEVER;
		for (; i < p->nr_first && x[i].task == task; i++) {
			bool there = k < p->nr_second && y[k].task == task;

			group[x[i].step] = groups;
			p->in_second[x[i].step] = there ? y[k].step : PAIRING_NEVER;
			if (there)
				p->in_first[y[k++].step] = x[i].step;
		}
		while (k < p->nr_second && y[k].task == task)
			p->in_first[y[k++].step] = PAIRING_NEVER;
	}
	while (k < p->nr_second)
		p->in_first[y[k++].step] = PAIRING_NEVER;
	return groups;
}

/* No step of a strayed task has a counterpart any more. strayed: by group */
static int find_strays(struct pairing *p, const struct pairing_steps *first, const struct pairing_steps *second,
		       const uint64_t *group, bool *strayed)
{
	uint32_t task;
	int ret;

	for (uint64_t i = 0; i < p->nr_first; i++) {
		uint64_t k = p->in_second[i];

		if (!strayed[group[i]] && k != PAIRING_NEVER) {
			ret = same_operation(p, first->step(first->ctx, i, &task), second->step(second->ctx, k, &task));
			if (ret < 0)
				return ret;
			strayed[group[i]] = !ret;
		}
		if (!strayed[group[i]])
			continue;
		p->in_second[i] = PAIRING_STRAYED;
		if (k != PAIRING_NEVER)
			p->in_first[k] = PAIRING_STRAYED;
	}
	return 0;
}

/*
 * Steps of the second execution beyond all of the task's steps in the first have strayed when the
 * task has.
 */
static void stray_rest(struct pairing *p, const struct by_task *y)
{
	for (uint64_t k = 1; k < p->nr_second; k++)
		if (y[k].task == y[k - 1].task && p->in_first[y[k - 1].step] == PAIRING_STRAYED)
			p->in_first[y[k].step] = PAIRING_STRAYED;
}

struct pairing *pairing_new(const struct pairing_steps *first, const struct pairing_steps *second)
{
	struct pairing *p = calloc(1, sizeof(*p));
	struct by_task *x = sorted(first), *y = sorted(second);
	uint64_t *group = malloc((first->nr + 1) * sizeof(*group));
	bool *strayed = NULL;
	int ret = -ENOMEM;

	if (!p || !x || !y || !group)
		goto out;
	p->nr_first = first->nr;
	p->nr_second = second->nr;
	p->in_second = malloc((first->nr + 1) * sizeof(*p->in_second));
	p->in_first = malloc((second->nr + 1) * sizeof(*p->in_first));
	if (!p->in_second || !p->in_first)
		goto out;
	strayed = calloc(pair_by_order(p, x, y, group) + 1, sizeof(*strayed));
	if (!strayed)
		goto out;
	ret = find_strays(p, first, second, group, strayed);
	if (!ret)
		stray_rest(p, y);
out:
	free(x);
	free(y);
	free(group);
	free(strayed);
	if (ret) {
		pairing_free(p);
		return NULL;
	}
	return p;
}

void pairing_free(struct pairing *p)
{
	if (!p)
		return;
	free(p->in_second);
	free(p->in_first);
	free(p->pairs);
	id_map_free(&p->by_first);
	id_map_free(&p->by_second);
	free(p);
}

uint64_t pairing_in_second(const struct pairing *p, uint64_t i)
{
	return p->in_second[i];
}

uint64_t pairing_in_first(const struct pairing *p, uint64_t i)
{
	return p->in_first[i];
}
