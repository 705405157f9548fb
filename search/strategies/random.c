/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * random.c - the random walk
 *
 * Every allowed task with the same chance, at every point. With stick=N the
 * last task goes on with an extra chance of 1 - 2^-N (Coyote's probabilistic
 * strategy): fewer switches, so races that need a task to get far ahead.
 */
#include "search/strategies/strategies.h"

/* Steps that are looked ahead. */
#define MAX_PROMISE	100

struct random_walk {
	struct search_env *env;
	int64_t stick;
};

#define RANDOM_PARAMS(P) \
	P(stick, 0, 0, 30, "stay with the last task with an extra chance of 1 - 2^-N")

static int random_init(void *state, struct search_env *env, const int64_t *args)
{
	struct random_walk *r = state;

	r->env = env;
	r->stick = args[0];
	return 0;
}

static int random_begin(void *state, uint64_t iteration)
{
	(void)state;
	(void)iteration;
	return SEARCH_GO;
}

static int random_pick(void *state, const struct choice *c)
{
	struct random_walk *r = state;

	if (r->stick && !c->free && rng_below(&r->env->rng, 1ull << r->stick))
		return (int)c->last;
	return (int)rng_below(&r->env->rng, c->nr);
}

uint64_t random_walk_promise(struct rng rng, int64_t stick, const struct search_point *p, uint32_t task)
{
	uint64_t nr = 0, place = 0, promise = 0;

	for (uint32_t i = 0; i < p->nr; i++) {
		place += p->cand[i].enabled && p->cand[i].task < task;
		nr += p->cand[i].enabled;
	}
	while (nr > 1 && promise < MAX_PROMISE) {
		bool stays = stick && rng_below(&rng, 1ull << stick);

		if (!stays && rng_below(&rng, nr) != place)
			break;
		promise++;
	}
	return promise;
}

static uint64_t random_promise(const void *state, const struct search_point *p, uint32_t task,
			       enum search_until *until)
{
	const struct random_walk *r = state;

	*until = SEARCH_UNTIL_CHANGE;
	return random_walk_promise(r->env->rng, r->stick, p, task);
}

void random_walk_rule(struct search_rule *rule)
{
	rule->by = SEARCH_BY_DRAWS;
	rule->open = true;
}

static void random_rule(const void *state, struct search_rule *rule)
{
	const struct random_walk *r = state;

	if (!r->stick)
		random_walk_rule(rule);
}

static const struct strategy_param random_params[] = { RANDOM_PARAMS(STRATEGY_PARAM_ENTRY) { 0 } };

const struct strategy_type strategy_random = {
	.info = {
		.name = "random",
		.line = "random walk: any enabled task with equal chance; a first look, short tests",
		.params = RANDOM_PARAMS(STRATEGY_PARAM_TEXT),
		.guarantee = "every schedule has a chance, n^-k at worst (n tasks, k points)",
	},
	.params = random_params,
	.flags = STRATEGY_FAIR | STRATEGY_PATIENT,
	.size = sizeof(struct random_walk),
	.init = random_init,
	.begin = random_begin,
	.pick = random_pick,
	.promise = random_promise,
	.rule = random_rule,
};
