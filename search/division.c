/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "search/division.h"
#include "search/parts.h"

/* Executions that do not come to a subtree before it is left as it is. */
#define MOST_LOST 4

static void release(struct subtree *t)
{
	free(t->choices);
	free(t->path);
}

void division_fini(struct division *d)
{
	for (uint64_t i = 0; i < d->nr; i++)
		release(&d->list[i]);
	free(d->list);
	*d = (struct division){ 0 };
}

int division_add(struct division *d, const uint32_t *choices, uint32_t nr, uint32_t cost, double size)
{
	uint32_t *copy = malloc((nr + 1) * sizeof(*copy));

	if (!copy || !ARRAY_RESERVE(d->list, d->room, d->nr + 1)) {
		free(copy);
		return -ENOMEM;
	}
	if (nr)
		memcpy(copy, choices, nr * sizeof(*copy));
	d->list[d->nr++] = (struct subtree){ .choices = copy, .nr = nr, .cost = cost, .size = size };
	return 0;
}

int division_begin(struct division *d, uint64_t wanted)
{
	division_fini(d);
	d->wanted = wanted;
	return division_add(d, NULL, 0, 0, 1);
}

/* The leaves below a path, if all others had as many branches. */
static double leaves(const struct branch *path, uint64_t nr)
{
	double n = 1;

	for (uint64_t i = 0; i < nr; i++)
		n *= path[i].allowed;
	return n;
}

static uint32_t cost_of(const struct branch *b, uint32_t option)
{
	return b->cost + (b->grows ? option * b->step : option ? b->step : 0);
}

/* The child of t behind that option of its first choice. */
static int make_child(const struct subtree *t, uint32_t option, struct subtree *child)
{
	const struct branch *b = &t->path[0];
	bool through = option == b->taken;

	*child = (struct subtree){ .nr = t->nr + 1, .cost = cost_of(b, option), .size = 1 };
	child->choices = malloc(child->nr * sizeof(*child->choices));
	if (!child->choices)
		return -ENOMEM;
	memcpy(child->choices, t->choices, t->nr * sizeof(*t->choices));
	child->choices[t->nr] = option;
	if (!through)
		return 0;
	child->path = malloc(t->nr_path * sizeof(*child->path));
	if (!child->path)
		return -ENOMEM;
	child->nr_path = t->nr_path - 1;
	memcpy(child->path, t->path + 1, child->nr_path * sizeof(*child->path));
	child->probes = 1;
	child->size = leaves(child->path, child->nr_path);
	return 0;
}

/* Its children take the place of subtree i, in their order. */
static int take_apart(struct division *d, uint64_t i)
{
	struct subtree t = d->list[i];
	uint32_t children = t.path[0].allowed;
	int ret = 0;

	if (!ARRAY_RESERVE(d->list, d->room, d->nr + children))
		return -ENOMEM;
	d->cut |= t.path[0].allowed < t.path[0].nr;
	memmove(&d->list[i + children], &d->list[i + 1], (d->nr - i - 1) * sizeof(*d->list));
	memset(&d->list[i], 0, children * sizeof(*d->list));
	d->nr += children - 1;
	for (uint32_t c = 0; c < children && !ret; c++)
		ret = make_child(&t, c, &d->list[i + c]);
	release(&t);
	return ret;
}

/* The greatest subtree that can be taken apart; d->nr: none. */
static uint64_t greatest(const struct division *d)
{
	uint64_t best = d->nr;

	for (uint64_t i = 0; i < d->nr; i++)
		if (d->list[i].nr_path && (best == d->nr || d->list[i].size > d->list[best].size))
			best = i;
	return best;
}

const struct subtree *division_next(struct division *d, int *error)
{
	uint64_t i;

	for (*error = 0; !*error;) {
		for (d->at = 0; d->at < d->nr; d->at++)
			if (!d->list[d->at].probes && d->list[d->at].lost < MOST_LOST)
				return &d->list[d->at];
		i = d->nr < d->wanted ? greatest(d) : d->nr;
		if (i == d->nr)
			return NULL;
		*error = take_apart(d, i);
	}
	return NULL;
}

int division_note(struct division *d, const struct branch *path, uint64_t nr)
{
	struct subtree *t = &d->list[d->at];

	if (nr < t->nr) {
		t->lost++;
		return 0;
	}
	t->nr_path = nr - t->nr;
	t->path = malloc((t->nr_path + 1) * sizeof(*t->path));
	if (!t->path)
		return -ENOMEM;
	if (t->nr_path)
		memcpy(t->path, path + t->nr, t->nr_path * sizeof(*t->path));
	t->probes = 1;
	t->size = leaves(t->path, t->nr_path);
	return 0;
}

struct sized {
	double size;
	uint64_t part;
};

static int greater_first(const void *a, const void *b)
{
	const struct sized *x = a, *y = b;

	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return x->part < y->part ? -1 : x->part > y->part;
}

int search_share(const double *size, uint64_t parts, uint32_t nr, uint32_t *owner)
{
	struct sized *list = malloc((parts + 1) * sizeof(*list));
	double *load = calloc(nr, sizeof(*load));
	uint32_t least;

	if (!list || !load) {
		free(list);
		free(load);
		return -ENOMEM;
	}
	for (uint64_t i = 0; i < parts; i++)
		list[i] = (struct sized){ size[i], i };
	qsort(list, parts, sizeof(*list), greater_first);
	for (uint64_t i = 0; i < parts; i++) {
		least = 0;
		for (uint32_t k = 1; k < nr; k++)
			if (load[k] < load[least])
				least = k;
		load[least] += list[i].size;
		owner[list[i].part] = least;
	}
	free(list);
	free(load);
	return 0;
}
