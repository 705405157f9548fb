/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdlib.h>
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

void around_release(struct around *a)
{
	free(a->order);
}

int around_begin(const struct around *a)
{
	if (a->error)
		return a->error;
	return a->max_trials && a->trials >= a->max_trials ? SEARCH_EXHAUSTED : SEARCH_GO;
}

uint32_t around_follow(const struct around *a, const struct choice *c)
{
	uint32_t pos = c->point->step < a->nr_order ? schedule_position(c, a->order[c->point->step]) : CHOICE_NONE;

	return pos == CHOICE_NONE ? schedule_base(c) : pos;
}

uint64_t around_promise(const struct around *a, const struct search_point *point, uint32_t task)
{
	uint64_t at = point->step + 1;

	while (at < a->nr_order && a->order[at] == task)
		at++;
	return at < a->nr_order ? at - point->step - 1 : UINT64_MAX;
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
