/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * step_bound.h - how many steps an execution may have, where no option says it
 *
 * An execution that does not end is a failure, and one that is long is none. Before an execution has passed, nothing is
 * known of how many steps the test needs; then LONGER times as many as the longest are enough. The bound goes up by that
 * factor, so that few traces have different ones.
 */
#ifndef ZUG_STEP_BOUND_H
#define ZUG_STEP_BOUND_H

#include <stdint.h>

#define STEP_BOUND_LONGER 10

struct step_bound {
	uint64_t least;		/* it is not below that */
	uint64_t longest;	/* steps of the longest execution that has passed; 0: none has */
};

/* An execution has passed after so many steps. */
void step_bound_passed(struct step_bound *b, uint64_t steps);
uint64_t step_bound(const struct step_bound *b);

#endif
