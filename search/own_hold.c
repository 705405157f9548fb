/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include "lib/base/array.h"
#include "search/access.h"
#include "search/own_hold.h"

/* A task is held for a part of all steps at most. */
#define PATIENCE_PART	2

void own_holds_release(struct own_holds *h)
{
	free(h->list);
	free(h->tasks);
	*h = (struct own_holds){ 0 };
}

/*
 * The place of the last own step of others between the task's step 'from' and its next one, 'to', that depends on that one, else
 * of one that only acts on the same. 0: there is none.
 */
static uint64_t until_of(const struct schedule *s, const bool *own, size_t from, size_t to)
{
	struct access a = access_of(&s->labels[to]);

	for (size_t i = to; i-- > from + 1;) {
		struct access b = access_of(&s->labels[i]);

		if (own[i] && s->tasks[i] != s->tasks[to] && (a.object[0] || a.object[1]) && access_dependent(&a, &b))
			return s->labels[i].site;
	}
	/* two readers may take one lock */
	for (size_t i = to; i-- > from + 1;)
		if (own[i] && s->tasks[i] != s->tasks[to] && s->labels[i].object && s->labels[i].object == s->labels[to].object)
			return s->labels[i].site;
	return 0;
}

static int add(struct own_holds *h, uint64_t at, uint64_t until, size_t step)
{
	for (size_t i = 0; i < h->nr; i++)
		if (h->list[i].at == at && h->list[i].until == until) {
			h->list[i].last = step;
			return 0;
		}
	if (!ARRAY_RESERVE(h->list, h->room, h->nr + 1))
		return -ENOMEM;
	h->list[h->nr++] = (struct own_hold){ .at = at, .until = until, .last = step };
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct own_hold *x = a, *y = b;

	if (x->often != y->often)
		return x->often < y->often ? -1 : 1;
	return x->last < y->last ? 1 : x->last > y->last ? -1 : 0;
}

int own_holds_of(struct own_holds *h, const struct schedule *of, const bool *own)
{
	uint32_t nr_tasks = 0;
	size_t *last;
	int ret = 0;

	for (size_t i = 0; i < of->nr; i++)
		nr_tasks = of->tasks[i] >= nr_tasks ? of->tasks[i] + 1 : nr_tasks;
	last = malloc((nr_tasks + 1) * sizeof(*last));
	for (uint32_t t = 0; last && t < nr_tasks; t++)
		last[t] = SIZE_MAX;
	h->nr = 0;
	h->patience = (uint32_t)(of->nr / PATIENCE_PART);
	for (size_t i = 0; last && !ret && i < of->nr; i++) {
		uint32_t task = of->tasks[i];
		uint64_t until = own[i] && last[task] != SIZE_MAX ? until_of(of, own, last[task], i) : 0;

		if (until)
			ret = add(h, of->labels[i].site, until, i);
		last[task] = i;
	}
	/* counters and logs are used often, and what goes wrong there seldom matters */
	for (size_t k = 0; k < h->nr; k++) {
		struct own_hold *hold = &h->list[k];

		for (size_t i = 0; i < of->nr; i++)
			hold->often += own[i] && (of->labels[i].site == hold->at || of->labels[i].site == hold->until);
	}
	if (h->nr)
		qsort(h->list, h->nr, sizeof(*h->list), compare);
	ret = last ? ret : -ENOMEM;
	free(last);
	return ret;
}

void own_holds_begin(struct own_holds *h, size_t i)
{
	h->now = &h->list[i];
	h->nr_tasks = h->made = h->waited = 0;
}

static struct held *held(struct own_holds *h, uint32_t task)
{
	if (!ARRAY_RESERVE(h->tasks, h->room_tasks, task + 1))
		return NULL;
	while (h->nr_tasks <= task)
		h->tasks[h->nr_tasks++] = (struct held){ 0 };
	return &h->tasks[task];
}

/* The candidate has to wait; 1, 0, or -ENOMEM. */
static int is_held(struct own_holds *h, const struct search_cand *cand, own_order_is_own *is_own, void *ctx)
{
	struct held *t = held(h, cand->task);

	if (!t)
		return -ENOMEM;
	if (cand->label.site != h->now->at || !is_own(ctx, &cand->label))
		return 0;
	if (!t->here)
		t->made = h->made - t->own;
	t->here = true;
	return h->made - t->own == t->made;
}

static uint32_t make(struct own_holds *h, const struct choice *c, uint32_t pos)
{
	const struct search_cand *cand = choice_cand(c, pos);

	h->tasks[cand->task].here = false;
	if (cand->label.site == h->now->until) {
		h->made++;
		h->tasks[cand->task].own++;
	}
	return pos;
}

uint32_t own_holds_follow(struct own_holds *h, const struct choice *c, own_order_is_own *is_own, void *ctx)
{
	uint32_t base = schedule_base(c);

	for (uint32_t k = 0; k < c->nr; k++) {
		uint32_t pos = base + k < c->nr ? base + k : base + k - c->nr;
		int held = is_held(h, choice_cand(c, pos), is_own, ctx);

		if (held < 0)
			return CHOICE_NONE;
		if (held && h->waited <= h->patience)
			continue;
		h->waited = k ? h->waited + 1 : h->waited;
		return make(h, c, pos);
	}
	return make(h, c, base);
}
