/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * oracle.h - everything about a small model program, by trying everything
 *
 * Shares no code with search/: schedules by recursion over copies of the
 * state, happens-before classes by vector clocks, costs by their definition.
 */
#ifndef ZUG_TESTS_ORACLE_H
#define ZUG_TESTS_ORACLE_H

#include <stddef.h>
#include "model.h"

#define ORACLE_COSTS	4	/* bounds 0..3 are kept apart */

/* A set of hashes. */
struct set {
	uint64_t *table;	/* 0: empty */
	size_t mask, nr;
};

void set_add(struct set *s, uint64_t hash);
bool set_has(const struct set *s, uint64_t hash);
bool set_subset(const struct set *a, const struct set *b);
void set_free(struct set *s);

struct oracle {
	uint64_t schedules;
	uint64_t failing;			/* of these */
	uint64_t preemptions[ORACLE_COSTS];	/* schedules with at most so many preemptions */
	uint64_t delays[ORACLE_COSTS];		/* the same for delays */
	double random_fails;			/* chance of the random walk to fail */
	double random_deadlocks;
	struct set outcomes, classes;
	struct set outcomes_preemptions[ORACLE_COSTS], outcomes_delays[ORACLE_COSTS];
	struct set schedule_hashes;		/* only if wanted */
};

/* False when there are more than limit schedules, or one is longer than 64 steps. */
bool oracle_run(const struct model *m, uint64_t limit, bool keep_schedules, struct oracle *o);
void oracle_free(struct oracle *o);

/* The outcomes alone, by states and not by schedules: programs with loops too. False: too many. */
bool oracle_outcomes(const struct model *m, size_t max_states, struct set *outcomes);

#endif
