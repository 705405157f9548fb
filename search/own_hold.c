/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include "lib/base/array.h"
#include "lib/base/id_map.h"
#include "search/own_hold.h"

/* A task is held for a part of all steps at most. */
#define PATIENCE_PART	2

void own_holds_release(struct own_holds *h)
{
	free(h->list);
	free(h->tasks);
	*h = (struct own_holds){ 0 };
}

static bool is_on(const struct schedule *s, size_t step, size_t other)
{
	uint64_t object = s->labels[step].object;

	return object && (object == s->labels[other].object || object == s->labels[other].object2);
}

/*
 * The last own step of others between two steps of a task, 'from' and 'to', on what the latter or the task's last own step is
 * about; SIZE_MAX: there is none.
 */
static size_t until_of(const struct schedule *s, const bool *own, size_t last_own, size_t from, size_t to)
{
	for (size_t i = to; i-- > from + 1;)
		if (own[i] && (is_on(s, i, to) || is_on(s, i, last_own)))
			return i;
	return SIZE_MAX;
}

static int add(struct own_holds *h, const struct schedule *s, size_t at, size_t behind, size_t until)
{
	struct own_hold new = { .at = s->labels[at].site, .behind = s->labels[behind].site, .until = s->labels[until].site, .last = at };

	for (size_t i = 0; i < h->nr; i++)
		if (h->list[i].at == new.at && h->list[i].behind == new.behind && h->list[i].until == new.until) {
			h->list[i].last = at;
			return 0;
		}
	if (!ARRAY_RESERVE(h->list, h->room, h->nr + 1))
		return -ENOMEM;
	h->list[h->nr++] = new;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct own_hold *x = a, *y = b;

	if (x->often != y->often)
		return x->often < y->often ? -1 : 1;
	return x->last < y->last ? 1 : x->last > y->last ? -1 : 0;
}

/* What a task has done last. */
struct latest {
	size_t step, own;	/* SIZE_MAX: nothing yet */
};

static int find(struct own_holds *h, const struct schedule *of, const bool *own, struct latest *latest)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < of->nr; i++) {
		struct latest *l = &latest[of->tasks[i]];
		size_t until = SIZE_MAX;

		if (l->own != SIZE_MAX && of->labels[i].site)
			until = until_of(of, own, l->own, l->step, i);
		if (until != SIZE_MAX)
			ret = add(h, of, i, l->own, until);
		l->step = i;
		l->own = own[i] ? i : l->own;
	}
	return ret;
}

/* How often the schedule has own steps at each place. */
static int count(struct id_map *places, const struct schedule *of, const bool *own)
{
	for (size_t i = 0; i < of->nr; i++) {
		uint32_t *n = own[i] ? id_map_add(places, of->labels[i].site, 0, NULL) : NULL;

		if (own[i] && !n)
			return -ENOMEM;
		if (n)
			++*n;
	}
	return 0;
}

int own_holds_of(struct own_holds *h, const struct schedule *of, const bool *own)
{
	uint32_t nr_tasks = 0;
	struct id_map places = { 0 };
	struct latest *latest;
	int ret;

	for (size_t i = 0; i < of->nr; i++)
		nr_tasks = of->tasks[i] >= nr_tasks ? of->tasks[i] + 1 : nr_tasks;
	latest = malloc((nr_tasks + 1) * sizeof(*latest));
	for (uint32_t t = 0; latest && t < nr_tasks; t++)
		latest[t] = (struct latest){ SIZE_MAX, SIZE_MAX };
	h->nr = 0;
	h->patience = (uint32_t)(of->nr / PATIENCE_PART);
	ret = latest ? find(h, of, own, latest) : -ENOMEM;
	ret = ret ? ret : count(&places, of, own);
	/* counters and logs are used often, and what goes wrong there seldom matters */
	for (size_t i = 0; !ret && i < h->nr; i++)
		h->list[i].often = *id_map_find(&places, h->list[i].behind) + *id_map_find(&places, h->list[i].until);
	if (!ret && h->nr)
		qsort(h->list, h->nr, sizeof(*h->list), compare);
	id_map_free(&places);
	free(latest);
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
static int is_held(struct own_holds *h, const struct search_cand *cand)
{
	struct held *t = held(h, cand->task);

	if (!t)
		return -ENOMEM;
	if (cand->label.site != h->now->at || t->last != h->now->behind)
		return 0;
	if (!t->here)
		t->made = h->made - t->own;
	t->here = true;
	return h->made - t->own == t->made;
}

static uint32_t make(struct own_holds *h, const struct choice *c, uint32_t pos, own_order_is_own *is_own, void *ctx)
{
	const struct search_cand *cand = choice_cand(c, pos);
	struct held *t = &h->tasks[cand->task];

	t->here = false;
	if (cand->label.site == h->now->until) {
		h->made++;
		t->own++;
	}
	if (is_own(ctx, &cand->label))
		t->last = cand->label.site;
	return pos;
}

uint32_t own_holds_follow(struct own_holds *h, const struct choice *c, own_order_is_own *is_own, void *ctx)
{
	uint32_t base = schedule_base(c);

	for (uint32_t k = 0; k < c->nr; k++) {
		uint32_t pos = base + k < c->nr ? base + k : base + k - c->nr;
		int held = is_held(h, choice_cand(c, pos));

		if (held < 0)
			return CHOICE_NONE;
		if (held && h->waited <= h->patience)
			continue;
		h->waited = k ? h->waited + 1 : h->waited;
		return make(h, c, pos, is_own, ctx);
	}
	return make(h, c, base, is_own, ctx);
}
