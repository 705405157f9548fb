/* SPDX-License-Identifier: GPL-2.0-only */
#include "campaign/step_bound.h"

void step_bound_passed(struct step_bound *b, uint64_t steps)
{
	if (steps > b->longest)
		b->longest = steps;
}

uint64_t step_bound(const struct step_bound *b)
{
	uint64_t bound = b->least;

	if (!b->longest)
		return bound * STEP_BOUND_LONGER;
	while (bound < b->longest * STEP_BOUND_LONGER)
		bound *= STEP_BOUND_LONGER;
	return bound;
}
