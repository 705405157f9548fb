/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pos.c - partial order sampling
 *
 * Yuan, Yang, Gu: Partial order aware concurrency sampling (CAV 2018). Every
 * pending operation has a random priority; the enabled one with the highest is
 * made, and pending operations that depend on it get new priorities, as does
 * the next one of its task. Orders of independent steps thus do not dilute the
 * orders that matter.
 *
 * Priorities are drawn when they are first looked at, not when the operation
 * becomes pending: the same distribution, and nothing drawn without a choice.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "search/priorities.h"
#include "search/strategies/strategies.h"

struct pos {
	struct search_env *env;
	struct priorities prio;
};

static int pos_init(void *state, struct search_env *env, const int64_t *args)
{
	struct pos *p = state;

	(void)args;
	p->env = env;
	return 0;
}

static int pos_begin(void *state, uint64_t iteration)
{
	struct pos *p = state;

	(void)iteration;
	priorities_clear(&p->prio);
	return SEARCH_GO;
}

static int pos_pick(void *state, const struct choice *c)
{
	struct pos *p = state;
	const struct search_point *point = c->point;
	const struct search_cand *chosen;
	struct access a;
	uint32_t best;

	if (priorities_reserve(&p->prio, point))
		return -ENOMEM;
	best = priorities_highest(&p->prio, &p->env->rng, c);
	chosen = choice_cand(c, best);
	a = access_of(&chosen->label);
	return priorities_redraw(&p->prio, point, chosen->task, &a) ? -ENOMEM : (int)best;
}

/*
 * The task's next operation has a new priority, whatever it is. Which priorities that operation
 * takes away is not known before its label is: so without the rule no more than one point is promised.
 */
static uint64_t pos_promise(const void *state, const struct search_point *point, uint32_t task,
			    enum search_until *until)
{
	const struct pos *p = state;

	*until = SEARCH_UNTIL_CHANGE;
	return priorities_next(&p->prio, &p->env->rng, point) == task;
}

static void pos_rule(const void *state, struct search_rule *r)
{
	(void)state;
	r->by = SEARCH_BY_PENDING;
}

static uint64_t pos_weight(const void *state, uint32_t task)
{
	const struct pos *p = state;

	return priorities_of(&p->prio, task);
}

static void pos_fini(void *state)
{
	struct pos *p = state;

	priorities_free(&p->prio);
}

const struct strategy_type strategy_pos = {
	.info = {
		.name = "pos",
		.line = "random priorities for operations, drawn again where they race: many short tasks",
		.params = "",
		.guarantee = "every happens-before class has a chance, not less than a random walk's",
	},
	.flags = STRATEGY_EVERY_STEP | STRATEGY_FAIR | STRATEGY_PATIENT,
	.size = sizeof(struct pos),
	.init = pos_init,
	.begin = pos_begin,
	.pick = pos_pick,
	.promise = pos_promise,
	.rule = pos_rule,
	.weight = pos_weight,
	.fini = pos_fini,
};
