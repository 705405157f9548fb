/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * strategies.h - the strategies there are, one file each (the bounded ones share systematic.c)
 */
#ifndef ZUG_SEARCH_STRATEGIES_H
#define ZUG_SEARCH_STRATEGIES_H

#include "search/strategy.h"

extern const struct strategy_type strategy_random;
extern const struct strategy_type strategy_pct;
extern const struct strategy_type strategy_preemption;
extern const struct strategy_type strategy_delay;
extern const struct strategy_type strategy_cycles;
extern const struct strategy_type strategy_dfs;
extern const struct strategy_type strategy_dpor;
extern const struct strategy_type strategy_guided;
extern const struct strategy_type strategy_lockstep;
extern const struct strategy_type strategy_portfolio;
extern const struct strategy_type strategy_pos;
extern const struct strategy_type strategy_reversal;
extern const struct strategy_type strategy_script;	/* chosen by search_options.script only */
extern const struct strategy_type strategy_surw;
extern const struct strategy_type strategy_urw;

/*
 * What a random walk will draw, from a copy of its generator: at so many points it chooses that task, while the enabled
 * tasks are the same. For strategies that end with one, behind their last point; their tasks have no weight there.
 */
uint64_t random_walk_promise(struct rng rng, int64_t stick, const struct search_point *p, uint32_t task);
/* The rule that it follows. */
void random_walk_rule(struct search_rule *rule);

#endif
