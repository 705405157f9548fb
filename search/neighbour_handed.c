/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * neighbour_handed.c - pairs of points at preemptions of an interpreter's threads
 *
 * A task that is preempted at a point gives the interpreter's lock away there, and what it does behind the point comes
 * after what others do meanwhile. That was needed where the schedule is minimal. So one of these points and the
 * preempted one, or one of the task's next, are the two whose order matters. All points could depend on each other: the
 * pairs of critical.h are those of neighbours alone, which others' points part.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "search/neighbour_internal.h"

/* So many points of each task are tried. */
#define ROW	8
/* Points with so few others between them are tried at all preemptions before the others. */
#define NEAR	4

struct row {
	size_t steps[ROW], nr;
};

static bool is_point(const struct neighbour *n, size_t i, uint32_t task)
{
	return n->fails.tasks[i] == task && n->fails.labels[i].op == ZUG_OP_POINT;
}

/* The point at which that preemption made its task give the lock away, and its next ones. */
static void preempted(const struct neighbour *n, const struct difference *d, struct row *row)
{
	const struct settled *e = &n->fails_steps;

	row->nr = 0;
	for (size_t i = 0; i < n->fails.nr && row->nr < ROW; i++) {
		if (n->fails.tasks[i] != d->task || e->effect[i] < d->step)
			continue;
		if (!row->nr && (!is_point(n, i, d->task) || e->effect[i] == e->at[i]))
			return;
		if (is_point(n, i, d->task))
			row->steps[row->nr++] = i;
	}
}

/* The task creates another one after that step, and before the other. */
static bool creates(const struct neighbour *n, uint32_t task, size_t step, size_t end)
{
	for (uint32_t t = 0; t < n->births.nr; t++)
		if (n->births.parents[t] == task && n->births.at[t] > step && n->births.at[t] <= end)
			return true;
	return false;
}

/*
 * The points that the task came to between the preemption and that step, the last first. Without what comes before it creates
 * a task: all that this one does would come the other way round as well.
 */
static void meanwhile(const struct neighbour *n, const struct difference *d, uint32_t task, size_t end, struct row *row)
{
	const size_t before = end;

	row->nr = 0;
	while (end-- && row->nr < ROW && n->fails_steps.effect[end] >= d->step && !creates(n, task, end, before))
		if (is_point(n, end, task))
			row->steps[row->nr++] = end;
}

static bool has_created(const struct neighbour *n, uint32_t task)
{
	for (uint32_t t = 0; t < n->births.nr; t++)
		if (n->births.parents[t] == task)
			return true;
	return false;
}

/* Which pairs of a preemption: with creators of other tasks, or with the rest; and with so many points in between. */
struct kind {
	bool creators;
	unsigned int from, to;
};

/* Tasks that others have created race with each other; their creator mostly starts them and waits. */
static const struct kind kinds[] = {
	{ false, 0, NEAR }, { true, 0, NEAR }, { false, NEAR, ROW }, { true, NEAR, ROW },
};

/* Pairs of that preemption, by the number of points that come the other way round as well. 0 or -ENOMEM. */
static int add(const struct neighbour *n, const struct difference *d, const struct kind *kind, uint8_t group,
	       struct critical_pair **pairs, size_t *nr, size_t *room)
{
	struct row second, first;

	preempted(n, d, &second);
	for (unsigned int span = kind->from; second.nr && span < kind->to; span++)
		for (uint32_t task = 0; task < n->births.nr; task++) {
			if (task == d->task || has_created(n, task) != kind->creators)
				continue;
			meanwhile(n, d, task, second.steps[0], &first);
			for (unsigned int on = 0; on <= span; on++) {
				if (on >= second.nr || span - on >= first.nr)
					continue;
				if (!ARRAY_RESERVE(*pairs, *room, *nr + 1))
					return -ENOMEM;
				(*pairs)[(*nr)++] = (struct critical_pair){
					.first = first.steps[span - on], .second = second.steps[on], .wide = true,
					.named = true, .points = true, .span = span, .group = group,
				};
			}
		}
	return 0;
}

int neighbour_add_handed(struct neighbour *n)
{
	struct critical_pair *pairs = NULL;
	size_t nr = 0, room = 0;
	uint8_t group = 0;
	int ret = 0;

	for (size_t k = 0; !ret && k < sizeof(kinds) / sizeof(kinds[0]); k++)
		for (size_t i = n->fails.nr_diffs; !ret && i--;)
			if (n->fails.diffs[i].preemption && group < UINT8_MAX)
				ret = add(n, &n->fails.diffs[i], &kinds[k], ++group, &pairs, &nr, &room);
	if (!ret && !ARRAY_RESERVE(pairs, room, nr + n->nr_pairs + 1))
		ret = -ENOMEM;
	if (ret) {
		free(pairs);
		return ret;
	}
	if (n->nr_pairs)
		memcpy(pairs + nr, n->pairs, n->nr_pairs * sizeof(*pairs));
	free(n->pairs);
	n->pairs = pairs;
	n->nr_handed = nr;
	n->nr_pairs += nr;
	return 0;
}

bool neighbour_handed_over(const struct neighbour *n, const struct critical_pair *next)
{
	return next >= n->pairs + n->nr_handed || next->group != n->points_group;
}
