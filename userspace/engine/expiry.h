/* SPDX-License-Identifier: GPL-2.0-only */
/* expiry.h - whose time-out may be over now, by the test's own clock */
#ifndef ZUG_EXPIRY_H
#define ZUG_EXPIRY_H

#include <stdbool.h>
#include <stdint.h>
#include "engine/world.h"

/* Time-outs that are so close come in any order: no program can rely on one. */
#define EXPIRY_SLACK_NS 1000000ull

/*
 * Blocked tasks whose deadline is not after the limit that is returned may go on, as if it were over. At
 * `clock` those whose time has come. With `idle` (nobody else can run, nor be woken from outside) the
 * clock may jump to the next deadline, so those that come first as well; with `explore` all.
 */
uint64_t expiry_limit(const struct world *w, uint64_t clock, bool idle, bool explore);
/* The first deadline of a blocked task; UINT64_MAX: none. */
uint64_t expiry_first(const struct world *w);
/* Does a blocked task have a deadline up to limit? */
bool expiry_may(const struct world_task *t, uint64_t limit);
/* Does anybody wait for something that may come from outside, time-out or not? */
bool expiry_outside(const struct world *w);

#endif
