/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * explained.h - failures of a model program are made minimal and explained, and each explanation is checked
 */
#ifndef ZUG_TESTS_EXPLAINED_H
#define ZUG_TESTS_EXPLAINED_H

#include "search/neighbour.h"
#include "search/search.h"
#include "model.h"

#define EXPLAINED_ORDER	1024

extern const struct search_options explained_options;

struct explained_tally {
	int failures, found, unpaired, not_passing, wrong_part, wrong_pair, not_replayed;
	uint64_t trials;
};

/* Makes order, of nr steps, the minimal schedule that fails as it does. Its length. */
uint64_t explained_minimal(const struct model *m, uint32_t *order, uint64_t nr, uint64_t failure);

/* The tasks of the execution number 'trial' of that neighbour search: its length, and whether it failed. */
uint64_t explained_trial(const struct model *m, const uint32_t *order, uint64_t nr, uint64_t failure, uint64_t number,
			 uint32_t *tasks, bool *failed);

/* Makes order minimal, explains it, and counts in t what is wrong with the explanation. */
void explained_check(const struct model *m, uint32_t *order, uint64_t nr, uint64_t failure, struct explained_tally *t);

/* A test: no explanation that was counted is wrong. */
void explained_report(const char *what, const struct explained_tally *t);

/* The seed's first failure, made minimal, is explained; false: it does not fail within 'most' executions. */
bool explained_first(const struct model *m, uint64_t seed, uint64_t most, struct explained_tally *all,
		     struct neighbour_result *n);

#endif
