/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * portfolio.c - several strategies in turn, more of those that show something new
 *
 * After Nekara (ASE 2021) and Coyote: no strategy is best on all programs, and
 * ones that fail for different reasons complement each other. Turns are given
 * by stride scheduling: a member with weight w gets its next turn 1/w later. A
 * weight is 1 plus up to BONUS for the share of its latest executions that were
 * happens-before classes that no execution had shown before; so no member starves, and only
 * counts matter, never time.
 *
 * An execution apart (search_begin_apart()) is for members that sample.
 *
 * dpor is a member because it is quick on small tests, but its end does not end
 * the search: it assumes that all racing variables are labelled. The end of the
 * preemption-bounded member, without a bound that cuts, does.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "search/strategies/strategies.h"

#define BONUS		3.0
#define MEMORY		16.0	/* executions over which novelty is averaged */

static const char *const specs[] = {
	"random", "pct:depth=3", "pos", "surw", "guided", "preemption:bound=65000", "dpor",
};

#define NR_MEMBERS	(sizeof(specs) / sizeof(specs[0]))

struct member {
	const struct strategy_type *type;
	void *state;
	uint64_t iteration;
	double next;		/* when its turn comes, in virtual time */
	double novelty;		/* 0..1 */
	bool done;		/* exhausted */
};

struct portfolio {
	struct search_env *env;
	struct member members[NR_MEMBERS];
	struct member *now;
};

static void portfolio_fini(void *state)
{
	struct portfolio *p = state;

	for (size_t i = 0; i < NR_MEMBERS; i++) {
		struct member *m = &p->members[i];

		if (m->state && m->type->fini)
			m->type->fini(m->state);
		free(m->state);
	}
}

static int portfolio_init(void *state, struct search_env *env, const int64_t *args)
{
	struct portfolio *p = state;
	int64_t values[STRATEGY_MAX_PARAMS];
	int preemptions = env->preemptions, ret = 0;

	(void)args;
	p->env = env;
	for (size_t i = 0; i < NR_MEMBERS && !ret; i++) {
		struct member *m = &p->members[i];

		m->type = strategy_parse(specs[i], values, env->err, env->errlen);
		if (!m->type)
			return -EINVAL;
		m->novelty = 1;
		m->state = calloc(1, m->type->size);
		if (!m->state)
			return -ENOMEM;
		/* A bound that the user sets is for the member that has bounds. */
		env->preemptions = m->type == &strategy_preemption ? preemptions : -1;
		ret = m->type->init ? m->type->init(m->state, env, values) : 0;
		/* With rules the others do alone what the exhaustive ones cannot. */
		if (ret == -EINVAL && env->rules && m->type->flags & STRATEGY_EXHAUSTIVE) {
			m->done = true;
			ret = 0;
		}
	}
	env->preemptions = preemptions;
	return ret;
}

static int portfolio_begin(void *state, uint64_t iteration)
{
	struct portfolio *p = state;
	struct search_stats stats;
	int ret;

	(void)iteration;
	for (;;) {
		p->now = NULL;
		for (size_t i = 0; i < NR_MEMBERS; i++) {
			struct member *m = &p->members[i];

			if (!m->done && !(p->env->apart && m->type->flags & STRATEGY_EXHAUSTIVE) &&
			    (!p->now || m->next < p->now->next))
				p->now = m;
		}
		ret = p->now->type->begin(p->now->state, p->now->iteration);
		if (ret != SEARCH_EXHAUSTED)
			break;
		p->now->done = true;
		stats = (struct search_stats){ .bound_done = UINT32_MAX };
		if (p->now->type == &strategy_preemption)
			p->now->type->stats(p->now->state, &stats);
		/* A bound set by the user was reached: the samplers may go beyond it. */
		if (p->now->type == &strategy_preemption && p->env->preemptions < 0 && !p->env->rules &&
		    !stats.incomplete)
			return SEARCH_EXHAUSTED;
	}
	p->now->iteration++;
	return ret;
}

static int portfolio_pick(void *state, const struct choice *c)
{
	struct portfolio *p = state;
	const struct strategy_type *type = p->now->type;

	if (c->nr == 1 && !(type->flags & STRATEGY_EVERY_STEP))
		return 0;
	return type->pick(p->now->state, c);
}

static uint64_t portfolio_promise(const void *state, const struct search_point *point, uint32_t task,
				  enum search_until *until)
{
	const struct portfolio *p = state;

	return strategy_promise(p->now->type, p->now->state, point, task, until);
}

static int portfolio_choose(void *state, uint32_t nr)
{
	struct portfolio *p = state;

	if (p->now->type->choose)
		return p->now->type->choose(p->now->state, nr);
	return -ENOSYS;
}

static void portfolio_final(void *state, const struct search_point *point)
{
	struct portfolio *p = state;

	if (p->now->type->final)
		p->now->type->final(p->now->state, point);
}

static void portfolio_end(void *state, const struct search_end *end)
{
	struct portfolio *p = state;
	struct member *m = p->now;

	m->novelty += ((p->env->novel ? 1 : 0) - m->novelty) / MEMORY;
	m->next += 1 / (1 + BONUS * m->novelty);
	if (m->type->end)
		m->type->end(m->state, end);
}

static void portfolio_save(void *state, struct codec *c)
{
	struct portfolio *p = state;

	codec_same(c, NR_MEMBERS);
	for (size_t i = 0; i < NR_MEMBERS; i++) {
		struct member *m = &p->members[i];

		codec_same(c, m->type->size);
		codec_field(c, m->iteration);
		codec_field(c, m->next);
		codec_field(c, m->novelty);
		codec_field(c, m->done);
		if (m->type->save)
			m->type->save(m->state, c);
	}
}

static void portfolio_stats(const void *state, struct search_stats *stats)
{
	const struct portfolio *p = state;

	if (p->now)
		stats->strategy = p->now->type->info.name;
	for (size_t i = 0; i < NR_MEMBERS; i++) {
		const struct member *m = &p->members[i];
		struct search_stats own = *stats;

		if (!m->type->stats)
			continue;
		m->type->stats(m->state, &own);
		stats->sleep_blocked += own.sleep_blocked;
		if (m->type == &strategy_preemption) {
			stats->bound = own.bound;
			stats->bound_done = own.bound_done;
			stats->incomplete = own.incomplete;
		}
	}
}

const struct strategy_type strategy_portfolio = {
	.info = {
		.name = "portfolio",
		.line = "several strategies in turn, more of what shows new behaviour: start here",
		.params = "",
		.guarantee = "those of its members (random, pct, pos, surw, guided, preemption, dpor) for "
			     "a share of the executions",
	},
	.flags = STRATEGY_EVERY_STEP | STRATEGY_EXHAUSTIVE,
	.size = sizeof(struct portfolio),
	.init = portfolio_init,
	.begin = portfolio_begin,
	.pick = portfolio_pick,
	.promise = portfolio_promise,
	.choose = portfolio_choose,
	.final = portfolio_final,
	.end = portfolio_end,
	.fini = portfolio_fini,
	.stats = portfolio_stats,
	.save = portfolio_save,
};
