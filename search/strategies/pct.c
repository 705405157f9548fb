/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pct.c - probabilistic concurrency testing
 *
 * Burckhardt, Kothari, Musuvathi, Nagarakatte: A randomized scheduler with
 * probabilistic guarantees of finding bugs (ASPLOS 2010). Tasks get random
 * distinct priorities above d; the enabled task with the highest one runs; at
 * d - 1 points, drawn uniformly from 1..k, the running task's priority becomes
 * i, for the i-th change point. A bug of depth d is found with a chance of at
 * least 1 / (n k^(d-1)) in each execution.
 *
 * Deviations, none of which weakens that:
 * - only points with a choice are counted: at others priorities have no effect;
 * - k is learnt: the most such points in any execution so far (steps=K fixes
 *   it). The first execution, of which nothing is known, has no change points;
 * - a task's priority is drawn when it appears. A random 62-bit number gives
 *   every rank among the others the same chance, which an insertion that
 *   keeps the first task on top would not;
 * - a task that yields drops below all others, and after suffix=N points the
 *   walk is random (fair PCT): a spinning task must not keep the turn. Both act
 *   in executions that the paper does not consider (there every task makes
 *   progress, and executions are shorter).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "search/strategies/strategies.h"

#define PCT_PARAMS(P) \
	P(depth, 3, 1, 64, "number of ordering constraints, the d of the guarantee") \
	P(steps, 0, 0, 1000000000, "points among which priorities change; 0: learnt") \
	P(suffix, 10000, 0, 1000000000, "random walk after so many points; 0: never")

struct pct {
	struct search_env *env;
	int64_t depth, steps, suffix;
	uint64_t change[64];	/* [i]: number of the point where a priority becomes i + 1 */
	uint64_t k;
	uint64_t lowest;	/* priority of the last task that yielded */
	uint64_t *prio;		/* by task; 0: none yet. Of those that have yielded it is below SEARCH_RANK_ZERO */
	uint32_t nr_prio;
};

static int pct_init(void *state, struct search_env *env, const int64_t *args)
{
	struct pct *p = state;

	p->env = env;
	p->depth = args[0];
	p->steps = args[1];
	p->suffix = args[2];
	return 0;
}

static int pct_begin(void *state, uint64_t iteration)
{
	struct pct *p = state;

	(void)iteration;
	p->k = p->steps ? (uint64_t)p->steps : p->env->max_choices;
	/* All change points up front: they must not depend on how the program goes. */
	for (int64_t i = 0; i < p->depth - 1; i++)
		p->change[i] = p->k ? 1 + rng_below(&p->env->rng, p->k) : 0;
	p->lowest = SEARCH_RANK_ZERO;
	if (p->nr_prio)
		memset(p->prio, 0, p->nr_prio * sizeof(*p->prio));
	return SEARCH_GO;
}

/* At the next point with a choice. */
static bool walks(const struct pct *p)
{
	return p->suffix && p->env->choices >= (uint64_t)p->suffix;
}

static int pct_pick(void *state, const struct choice *c)
{
	struct pct *p = state;
	const struct search_point *point = c->point;
	uint64_t nth = p->env->choices + 1;	/* of the points with a choice */
	uint32_t best = 0, task;
	uint64_t highest = 0;

	if (!ARRAY_RESERVE_ZERO(p->prio, p->nr_prio, point->cand[point->nr - 1].task + 1))
		return -ENOMEM;
	if (point->yielded && point->last < p->nr_prio)
		p->prio[point->last] = --p->lowest;
	if (c->nr == 1)
		return 0;
	if (walks(p))
		return (int)rng_below(&p->env->rng, c->nr);
	for (uint32_t i = 0; i < c->nr; i++) {
		uint64_t *prio = &p->prio[choice_cand(c, i)->task];

		if (!*prio)
			*prio = rank_draw(&p->env->rng);
		if (*prio > highest) {
			highest = *prio;
			best = i;
		}
	}
	task = choice_cand(c, best)->task;
	for (int64_t i = 0; i < p->depth - 1; i++)
		if (p->change[i] == nth)
			p->prio[task] = p->prio[task] < SEARCH_RANK_ZERO ? --p->lowest : SEARCH_RANK_ZERO + i + 1;
	return (int)best;
}

/*
 * The task with the highest priority goes on up to the next change point, which it still makes: its
 * priority changes there after the choice. Tasks that wait in the kernel do not count before they wake
 * up, and one that stands before a lock does not as long as that is held. A task without a priority
 * gets one where it can first be chosen, and none is known before.
 */
static uint64_t pct_promise(const void *state, const struct search_point *point, uint32_t task,
			    enum search_until *until)
{
	const struct pct *p = state;
	uint64_t next = UINT64_MAX;

	*until = SEARCH_UNTIL_CHANGE;
	if (walks(p))
		return random_walk_promise(p->env->rng, 0, point, task);
	*until = SEARCH_UNTIL_WAKE;
	if (p->suffix)
		next = (uint64_t)p->suffix;
	if (!p->prio[task])
		return 0;
	for (uint32_t i = 0; i < point->nr; i++) {
		const struct search_cand *c = &point->cand[i];

		if (c->task == task || (c->blocked && !c->enabled) ||
		    (p->prio[c->task] && p->prio[c->task] < p->prio[task]))
			continue;
		if (c->enabled)
			return 0;
		*until = SEARCH_UNTIL_CHANGE;
	}
	for (int64_t i = 0; i < p->depth - 1; i++)
		if (p->change[i] > p->env->choices && p->change[i] < next)
			next = p->change[i];
	return next - p->env->choices;
}

static void pct_rule(const void *state, struct search_rule *r)
{
	const struct pct *p = state;
	uint64_t made = p->env->choices, end = UINT32_MAX + made;

	if (walks(p)) {
		random_walk_rule(r);
		return;
	}
	if (p->suffix && (uint64_t)p->suffix < end)
		end = (uint64_t)p->suffix;
	for (int64_t i = 0; i < p->depth - 1; i++) {
		if (p->change[i] <= made)
			continue;
		if (r->nr_changes == SEARCH_CHANGES) {
			end = p->change[i] - 1 < end ? p->change[i] - 1 : end;
			continue;
		}
		r->changes[r->nr_changes].at = (uint32_t)(p->change[i] - made);
		r->changes[r->nr_changes++].rank = (uint32_t)i + 1;
	}
	r->by = SEARCH_BY_RANKS;
	r->choices = (uint32_t)(end - made);
	r->lowest = p->lowest;
}

static uint64_t pct_weight(const void *state, uint32_t task)
{
	const struct pct *p = state;

	return task < p->nr_prio && !walks(p) ? p->prio[task] : 0;
}

static void pct_fini(void *state)
{
	struct pct *p = state;

	free(p->prio);
}

static const struct strategy_param pct_params[] = { PCT_PARAMS(STRATEGY_PARAM_ENTRY) { 0 } };

const struct strategy_type strategy_pct = {
	.info = {
		.name = "pct",
		.line = "random priorities with few changes: bugs that need few ordering constraints",
		.params = PCT_PARAMS(STRATEGY_PARAM_TEXT),
		.guarantee = "a bug of depth d is found with a chance of 1/(n k^(d-1)) per execution "
			     "(n tasks, k points)",
	},
	.params = pct_params,
	.flags = STRATEGY_EVERY_STEP | STRATEGY_PATIENT,
	.size = sizeof(struct pct),
	.init = pct_init,
	.begin = pct_begin,
	.pick = pct_pick,
	.promise = pct_promise,
	.rule = pct_rule,
	.weight = pct_weight,
	.fini = pct_fini,
};
