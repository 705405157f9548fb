/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include "lib/base/array.h"
#include "search/schedule.h"

/* Of the differences of a rule: behind them is room for the tasks that have more. */
#define DIFFERENCES_KEPT	(SEARCH_ORDER / 4 * 3)

void schedule_clear(struct schedule *s)
{
	s->nr = s->nr_diffs = 0;
	s->preemptions = 0;
}

void schedule_release(struct schedule *s)
{
	free(s->tasks);
	free(s->labels);
	free(s->diffs);
}

bool schedule_has_op(const struct schedule *s, unsigned int op)
{
	for (size_t i = 0; i < s->nr; i++)
		if (s->labels[i].op == op)
			return true;
	return false;
}

uint32_t *schedule_copy(const uint32_t *tasks, size_t nr)
{
	uint32_t *copy = malloc((nr + 1) * sizeof(*copy));

	if (copy && nr)
		memcpy(copy, tasks, nr * sizeof(*copy));
	return copy;
}

uint32_t schedule_nth(const struct search_env *env, const struct choice *c)
{
	return c->point->last == SEARCH_NO_TASK ? 0 : hb_steps(env->hb, c->point->last);
}

uint32_t schedule_base(const struct choice *c)
{
	uint32_t i;

	if (c->base != CHOICE_NONE)
		return c->base;
	if (!c->free)
		return c->last;
	if (c->point->last == SEARCH_NO_TASK)
		return 0;
	i = choice_from(c, c->point->last + 1);
	return i < c->nr ? i : 0;
}

uint32_t schedule_position(const struct choice *c, uint32_t task)
{
	uint32_t i = choice_from(c, task);

	return i < c->nr && choice_cand(c, i)->task == task ? i : CHOICE_NONE;
}

static int compare(const void *a, const void *b)
{
	const struct difference_at *x = a, *y = b;

	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	if (x->nth != y->nth)
		return x->nth < y->nth ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

int difference_index_make(struct difference_index *x, const struct difference *diffs, size_t nr)
{
	if (!ARRAY_RESERVE(x->list, x->room, nr))
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		x->list[i] = (struct difference_at){ diffs[i].task, diffs[i].nth, i };
	x->nr = nr;
	x->over = 0;
	if (nr)
		qsort(x->list, nr, sizeof(*x->list), compare);
	return 0;
}

void difference_index_release(struct difference_index *x)
{
	free(x->list);
}

/* The first one of that task after so many of its steps, or a later one, or one of a task behind it. */
static size_t index_from(const struct difference_index *x, uint32_t task, uint64_t nth)
{
	return ARRAY_FROM(x->nr, i, x->list[i].task < task || (x->list[i].task == task && x->list[i].nth < nth));
}

/* It can come no more: its task has made more steps; behind the first step another one than none is the last. */
static bool is_over(const struct difference *d, const struct search_env *env)
{
	return d->task == SEARCH_NO_TASK || d->nth < hb_steps(env->hb, d->task);
}

uint32_t schedule_follow(const struct difference *diffs, struct difference_index *x, const struct search_env *env,
			 const struct choice *c)
{
	uint32_t task = c->point->last, nth = schedule_nth(env, c), pos;

	while (task != SEARCH_NO_TASK && x->over < x->nr && is_over(&diffs[x->over], env))
		x->over++;
	for (size_t i = index_from(x, task, nth); i < x->nr && x->list[i].task == task && x->list[i].nth == nth; i++) {
		pos = schedule_position(c, diffs[x->list[i].at].next);
		if (pos != CHOICE_NONE)
			return pos;
	}
	return schedule_base(c);
}

uint64_t schedule_promise(const struct difference_index *x, const struct search_env *env, uint32_t task)
{
	uint64_t made = hb_steps(env->hb, task);
	size_t i = index_from(x, task, made);

	return i < x->nr && x->list[i].task == task ? x->list[i].nth - made : UINT64_MAX;
}

/* There is no room for that difference. false: nor to say so. */
static bool leave_open(const struct difference *d, struct search_rule *r)
{
	for (uint32_t i = 0; i < r->nr_order; i++) {
		struct search_difference *x = &r->differences[i];

		if (x->task != d->task || x->next != SEARCH_NO_TASK)
			continue;
		x->nth = d->nth < x->nth ? d->nth : x->nth;
		return true;
	}
	if (r->nr_order == SEARCH_ORDER)
		return false;
	r->differences[r->nr_order++] = (struct search_difference){ .task = d->task, .nth = d->nth, .next = SEARCH_NO_TASK };
	return true;
}

void schedule_rule(const struct difference *diffs, const struct difference_index *x, const struct search_env *env,
		   struct search_rule *r)
{
	for (size_t i = x->over; i < x->nr; i++) {
		const struct difference *d = &diffs[i];

		if (is_over(d, env))
			continue;
		if (r->nr_order < DIFFERENCES_KEPT)
			r->differences[r->nr_order++] =
				(struct search_difference){ .task = d->task, .nth = d->nth, .next = d->next };
		else if (!leave_open(d, r))
			return;
	}
	r->by = SEARCH_BY_DIFFERENCES;
	r->base = true;
}

int schedule_note(struct schedule *s, const struct search_env *env, const struct choice *c, uint32_t pos)
{
	const struct search_cand *cand = choice_cand(c, pos);

	if (pos != schedule_base(c)) {
		if (!ARRAY_RESERVE(s->diffs, s->room_diffs, s->nr_diffs + 1))
			return -ENOMEM;
		s->diffs[s->nr_diffs++] = (struct difference){
			.task = c->point->last, .nth = schedule_nth(env, c), .next = cand->task,
			.preemption = !c->free, .step = s->nr,
		};
		s->preemptions += !c->free;
	}
	if (!ARRAY_RESERVE(s->tasks, s->room, s->nr + 1) ||
	    !ARRAY_RESERVE(s->labels, s->room_labels, s->nr + 1))
		return -ENOMEM;
	s->tasks[s->nr] = cand->task;
	s->labels[s->nr++] = cand->label;
	return 0;
}

int schedule_choose(void *state, uint32_t nr)
{
	(void)state;
	(void)nr;
	return 0;
}
