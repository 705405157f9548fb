/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "search/around.h"
#include "search/schedule.h"
#include "search/search_internal.h"

int around_init(void *state, struct search_env *env, const int64_t *args)
{
	struct around *a = state;

	(void)args;
	a->env = env;
	return 0;
}

uint64_t around_weight(const void *state, uint32_t task)
{
	const struct around *a = state;

	return hb_steps(a->env->hb, task);
}

void around_release(struct around *a)
{
	free(a->order);
	free(a->labels);
}

int around_begin(const struct around *a)
{
	if (a->error)
		return a->error;
	return a->max_trials && a->trials >= a->max_trials ? SEARCH_EXHAUSTED : SEARCH_GO;
}

int around_other_data(struct around *a, const struct zug_label *labels)
{
	a->labels = malloc((a->nr_order + 1) * sizeof(*labels));
	if (!a->labels)
		return -ENOMEM;
	memcpy(a->labels, labels, a->nr_order * sizeof(*labels));
	return 0;
}

static bool is_same(const struct zug_label *a, const struct zug_label *b)
{
	return a->op == b->op && a->site == b->site;
}

/* The task that made the last step stands before an access that the schedule does not have: it goes on. */
static bool goes_on(const struct around *a, const struct choice *c)
{
	const struct search_cand *last = c->last == CHOICE_NONE ? NULL : choice_cand(c, c->last);
	size_t next = a->at;

	if (!last || !zug_op_is_data(last->label.op))
		return false;
	while (next < a->nr_order && a->order[next] != last->task)
		next++;
	return next == a->nr_order || !is_same(&a->labels[next], &last->label);
}

static uint32_t follow_other_data(struct around *a, const struct choice *c)
{
	if (goes_on(a, c))
		return c->last;
	for (; a->at < a->nr_order; a->at++) {
		const struct zug_label *then = &a->labels[a->at];
		uint32_t pos = schedule_position(c, a->order[a->at]);

		if (pos == CHOICE_NONE) {
			a->at++;
			break;
		}
		if (zug_op_is_data(then->op) && !is_same(then, &choice_cand(c, pos)->label))
			continue;
		a->at += zug_op_is_data(then->op) || !zug_op_is_data(choice_cand(c, pos)->label.op);
		return pos;
	}
	return schedule_base(c);
}

/* It has points on other data than the schedule: how many steps a task makes up to the next one is not known. */
static bool has_other_data(const struct around *a)
{
	return a->labels && a->trials == 1;
}

uint32_t around_follow(struct around *a, const struct choice *c)
{
	uint32_t pos;

	if (has_other_data(a))
		return follow_other_data(a, c);
	pos = c->point->step < a->nr_order ? schedule_position(c, a->order[c->point->step]) : CHOICE_NONE;

	return pos == CHOICE_NONE ? schedule_base(c) : pos;
}

struct choice around_choice(const struct around *a, const struct choice *fair)
{
	struct choice all = *fair;

	if (a->trials > 1 && !a->unfair)
		return all;
	all.allowed = fair->point->enabled;
	all.nr = fair->point->nr_enabled;
	all.base = schedule_position(&all, choice_cand(fair, schedule_base(fair))->task);
	all.last = schedule_position(&all, fair->point->last);
	return all;
}

void around_chosen(struct around *a, const struct choice *fair, const struct choice *c, uint32_t pos)
{
	a->unfair |= a->trials == 1 && schedule_position(fair, choice_cand(c, pos)->task) == CHOICE_NONE;
}

uint64_t around_promise(const struct around *a, const struct search_point *point, uint32_t task)
{
	uint64_t at = point->step + 1;

	if (has_other_data(a))
		return 0;
	while (at < a->nr_order && a->order[at] == task)
		at++;
	return at < a->nr_order ? at - point->step - 1 : UINT64_MAX;
}

uint32_t around_ahead(const struct around *a, size_t steps, uint64_t nth)
{
	if (has_other_data(a) || steps >= a->nr_order || nth >= a->nr_order - steps)
		return SEARCH_NO_TASK;
	return a->order[steps + nth];
}

void around_rule(const struct around *a, struct search_rule *r)
{
	const struct difference_index none = { 0 };

	if (!has_other_data(a))
		schedule_rule(NULL, &none, a->env, r);
}

struct search *around_new(const struct search_options *opts, const struct strategy_type *type, const uint32_t *tasks,
			  size_t nr, uint64_t failure, uint64_t trials, char *err, size_t errlen)
{
	struct search *s = search_new_type(opts, type, NULL, err, errlen);
	struct around *a;

	if (!s)
		return NULL;
	a = search_state(s);
	a->failure = failure;
	a->max_trials = trials;
	a->order = schedule_copy(tasks, nr);
	if (!a->order) {
		search_free(s);
		strategy_message(err, errlen, "out of memory");
		return NULL;
	}
	a->nr_order = nr;
	return s;
}
