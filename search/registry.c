/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * registry.c - all strategies, the default first
 */
#include <stddef.h>
#include "search/strategies/strategies.h"

const struct strategy_type *const strategy_types[] = {
	&strategy_portfolio,
	&strategy_random,
	&strategy_pct,
	&strategy_pos,
	&strategy_surw,
	&strategy_guided,
	&strategy_reversal,
	&strategy_cycles,
	&strategy_urw,
	&strategy_lockstep,
	&strategy_preemption,
	&strategy_delay,
	&strategy_dfs,
	&strategy_dpor,
	NULL
};
