/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lockstep.c - all tasks at the same speed
 *
 * Tasks take turns of a few steps each, in the order of their numbers. So tasks that do the same do it at the same
 * time: both look before one of them acts, and those that give way to each other do so for ever. Distributed computing
 * calls such a scheduler synchronous (Lynch: Distributed Algorithms, 1996); random schedules come near it for a few
 * steps only.
 *
 * Drawn for each execution: how many steps make a turn, or that it ends behind the first write; whether tasks begin
 * together, when the first task waits for them, or each when it is created; and how many steps some tasks are ahead of
 * others. So tasks whose ways to the same place are not of the same length meet there, too; and tasks that each compute
 * something of what the others have written build on each other's every update.
 *
 * A program whose tasks give way to each other without end under such a schedule has a livelock in theory. On a real machine
 * the least noise ends some of them, and programs are written that rely on it: std::lock() of libstdc++ backs off and
 * yields. So a portfolio goes on with a random walk long before zug speaks of a livelock (suffix); alone the strategy
 * does not.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "search/access.h"
#include "search/strategies/strategies.h"

#define MAX_AHEAD	8	/* steps */
#define MAX_LOOKS	16	/* steps of a turn that ends with a write: a task that only looks waits for another one */

#define LOCKSTEP_PARAMS(P) \
	P(suffix, 0, 0, 1000000000, "random walk after so many points; 0: never")

struct lockstep {
	struct search_env *env;
	int64_t suffix;
	uint64_t steps;		/* of a turn; 0: it ends with a write */
	uint64_t left;		/* of this one, behind the step that was chosen last */
	bool wrote;		/* the step that was chosen last writes what others may see */
	bool begun;		/* tasks take turns */
	bool *ran;		/* by task: it has had a turn */
	uint32_t nr_ran;
};

static int lockstep_init(void *state, struct search_env *env, const int64_t *args)
{
	struct lockstep *l = state;

	l->env = env;
	l->suffix = args[0];
	return 0;
}

static int lockstep_begin(void *state, uint64_t iteration)
{
	struct lockstep *l = state;
	struct rng *rng = &l->env->rng;

	(void)iteration;
	l->steps = rng_below(rng, 4) ? 1 : 2 + rng_below(rng, 3);
	if (!rng_below(rng, 3))
		l->steps = 0;
	l->wrote = false;
	l->begun = !rng_below(rng, 3);
	l->left = 0;
	if (l->nr_ran)
		memset(l->ran, 0, l->nr_ran * sizeof(*l->ran));
	return SEARCH_GO;
}

/* The last task goes on with its turn. */
static bool goes_on(const struct lockstep *l)
{
	return !l->begun || (l->left && (l->steps || !l->wrote));
}

/* Of a turn, at most. */
static uint64_t length(const struct lockstep *l)
{
	return l->steps ? l->steps : MAX_LOOKS;
}

/* The next task behind the last one by number, which gets a turn. */
static uint32_t next_turn(struct lockstep *l, const struct choice *c)
{
	uint32_t last = c->point->last, i = last == SEARCH_NO_TASK ? 0 : choice_from(c, last + 1), task;

	i = i < c->nr ? i : 0;
	task = choice_cand(c, i)->task;
	l->left = length(l) - 1;
	if (l->begun && !l->ran[task] && !rng_below(&l->env->rng, 2))
		l->left += rng_below(&l->env->rng, MAX_AHEAD);
	l->ran[task] |= l->begun;
	return i;
}

/* With a choice, before the random walk. */
static uint64_t points_left(const struct lockstep *l)
{
	uint64_t made = l->env->choices;

	return !l->suffix ? UINT64_MAX : made < (uint64_t)l->suffix ? (uint64_t)l->suffix - made : 0;
}

static int lockstep_pick(void *state, const struct choice *c)
{
	struct lockstep *l = state;
	uint32_t i;

	if (!ARRAY_RESERVE_ZERO(l->ran, l->nr_ran, c->point->cand[c->point->nr - 1].task + 1))
		return -ENOMEM;
	if (!points_left(l))
		return c->nr > 1 ? (int)rng_below(&l->env->rng, c->nr) : 0;
	/* the first task waits, or there never was one that creates the others */
	l->begun |= c->free && (c->point->step || c->nr > 1);
	if (!c->free && goes_on(l)) {
		l->left -= l->begun && l->left;
		i = c->last;
	} else {
		i = next_turn(l, c);
	}
	l->wrote = access_writes(&choice_cand(c, i)->label);
	return (int)i;
}

/* It goes on to the end of its turn. */
static uint64_t lockstep_promise(const void *state, const struct search_point *point, uint32_t task,
				 enum search_until *until)
{
	const struct lockstep *l = state;
	uint64_t most = points_left(l);

	*until = SEARCH_UNTIL_CHANGE;
	if (!most)
		return random_walk_promise(l->env->rng, 0, point, task);
	*until = SEARCH_UNTIL_DONE;
	if (!l->begun)
		return most;
	/* which step writes is known when the task stands before it */
	if (!l->steps)
		return 0;
	return l->left < most ? l->left : most;
}

static void lockstep_rule(const void *state, struct search_rule *r)
{
	const struct lockstep *l = state;
	uint64_t points = points_left(l);

	if (!points) {
		random_walk_rule(r);
		return;
	}
	r->by = SEARCH_BY_TURNS;
	r->owed = l->left;
	r->turn = (uint32_t)length(l);
	r->writes = !l->steps;
	r->wrote = l->wrote;
	r->ahead = MAX_AHEAD;
	r->begun = l->begun;
	r->choices = points < UINT32_MAX ? (uint32_t)points : UINT32_MAX;
}

/* It has had a turn. */
static uint64_t lockstep_weight(const void *state, uint32_t task)
{
	const struct lockstep *l = state;

	return task < l->nr_ran && points_left(l) && l->ran[task];
}

static void lockstep_fini(void *state)
{
	struct lockstep *l = state;

	free(l->ran);
}

static const struct strategy_param lockstep_params[] = { LOCKSTEP_PARAMS(STRATEGY_PARAM_ENTRY) { 0 } };

const struct strategy_type strategy_lockstep = {
	.info = {
		.name = "lockstep",
		.line = "all tasks at the same speed: tasks that do the same, livelocks of those that give way",
		.params = LOCKSTEP_PARAMS(STRATEGY_PARAM_TEXT),
		.guarantee = "none: few schedules, each of which is fair",
	},
	.params = lockstep_params,
	.flags = STRATEGY_EVERY_STEP | STRATEGY_FAIR,
	.size = sizeof(struct lockstep),
	.init = lockstep_init,
	.begin = lockstep_begin,
	.pick = lockstep_pick,
	.promise = lockstep_promise,
	.rule = lockstep_rule,
	.weight = lockstep_weight,
	.fini = lockstep_fini,
};
