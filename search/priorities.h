/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * priorities.h - random priorities of the operations before which tasks stand (Yuan, Yang, Gu: Partial Order Aware Concurrency
 * Sampling, CAV 2018): by task; 0: to be drawn
 */
#ifndef ZUG_PRIORITIES_H
#define ZUG_PRIORITIES_H

#include <stdint.h>
#include "search/access.h"
#include "search/rng.h"
#include "search/strategy.h"

/* The place among the choices of the one with the highest priority; what has none is drawn, if there is a choice. */
uint32_t priorities_highest(uint64_t *prio, struct rng *rng, const struct choice *c);

/*
 * The same beforehand, from a copy of the generator: the task, if another one is enabled as well. SEARCH_NO_TASK: it needs no
 * priority.
 */
uint32_t priorities_next(const uint64_t *prio, const struct rng *rng, const struct search_point *point);

/* The task makes its operation, a: its next one, and those of others that race with it, are to be drawn again. */
void priorities_redraw(uint64_t *prio, const struct search_point *point, uint32_t task, const struct access *a);

#endif
