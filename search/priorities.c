/* SPDX-License-Identifier: GPL-2.0-only */
#include "search/priorities.h"

uint32_t priorities_highest(uint64_t *prio, struct rng *rng, const struct choice *c)
{
	uint64_t highest = 0;
	uint32_t best = 0;

	for (uint32_t i = 0; i < c->nr && c->nr > 1; i++) {
		uint64_t *one = &prio[choice_cand(c, i)->task];

		if (!*one)
			*one = rng_next(rng) | 1;
		if (*one > highest) {
			highest = *one;
			best = i;
		}
	}
	return best;
}

uint32_t priorities_next(const uint64_t *prio, const struct rng *rng, const struct search_point *p)
{
	struct rng draw = *rng;
	uint32_t first = SEARCH_NO_TASK;
	uint64_t best = 0, one;

	if (p->nr_enabled < 2)
		return SEARCH_NO_TASK;
	for (uint32_t i = 0; i < p->nr; i++) {
		if (!p->cand[i].enabled)
			continue;
		one = prio[p->cand[i].task];
		one = one ? one : rng_next(&draw) | 1;
		if (one > best) {
			best = one;
			first = p->cand[i].task;
		}
	}
	return first;
}

void priorities_redraw(uint64_t *prio, const struct search_point *point, uint32_t task, const struct access *a)
{
	/* without an object it depends on no other one */
	for (uint32_t i = 0; a->object[0] && i < point->nr; i++) {
		struct access b;

		if (!access_may_depend(a, &point->cand[i].label))
			continue;
		b = access_of(&point->cand[i].label);
		if (access_dependent(a, &b))
			prio[point->cand[i].task] = 0;
	}
	prio[task] = 0;
}
