/* SPDX-License-Identifier: GPL-2.0-only */
/* expiry.h - which time-outs may be over now, by the test's own clock */
#ifndef ZUG_EXPIRY_H
#define ZUG_EXPIRY_H

#include <stdbool.h>
#include <stdint.h>
#include "engine/world.h"

/* Time-outs that are so close come in any order: no program can rely on one. */
#define EXPIRY_SLACK_NS 1000000ull

/*
 * The limit of deadlines: blocked tasks whose deadline is not after it may go on, as if their
 * time-out were over. It is `clock`; with `idle` (no task can run, nor be woken from outside) the
 * clock may jump, and it is the next deadline, plus EXPIRY_SLACK_NS.
 */
uint64_t expiry_limit(const struct world *w, uint64_t clock, bool idle);
/* The first deadline of a blocked task; UINT64_MAX: none. */
uint64_t expiry_first(const struct world *w);
/* True when t is blocked with a deadline up to limit. */
bool expiry_may(const struct world_task *t, uint64_t limit);
/* True when t is blocked and what it waits for may come from outside, with a time-out or without. */
bool expiry_outside(const struct world_task *t);

#endif
