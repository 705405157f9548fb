/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_dpor.c - source-DPOR: exactly one complete execution for each class,
 * none lost, over random programs of every kind
 */
#include <string.h>
#include "gen.h"
#include "oracle.h"
#include "tap.h"

struct tally {
	int programs, lost, more, outcomes, incomplete;
	uint64_t schedules, classes, blocked;
};

static void check_program(const struct model *m, struct tally *t)
{
	struct search *s;
	struct search_stats st;
	struct set outcomes = { 0 };
	struct model_result r;
	uint64_t complete, executions = 0;
	struct oracle o;

	if (!oracle_run(m, 4000, false, &o)) {
		oracle_free(&o);
		return;
	}
	s = model_search("dpor", 1, 0);
	while (executions < 200000 && model_run(m, s, &r, NULL, 0) == SEARCH_GO) {
		executions++;
		set_add(&outcomes, r.outcome);
	}
	search_get_stats(s, &st);
	complete = executions - st.sleep_blocked;
	t->programs++;
	t->lost += st.distinct < o.classes.nr;
	t->more += complete != o.classes.nr;
	t->outcomes += outcomes.nr != o.outcomes.nr || !set_subset(&outcomes, &o.outcomes);
	t->incomplete += st.incomplete;
	t->schedules += o.schedules;
	t->classes += o.classes.nr;
	t->blocked += st.sleep_blocked;
	set_free(&outcomes);
	oracle_free(&o);
	search_free(s);
}

static void test_random_programs(const char *what, unsigned int kinds, uint32_t tasks,
				 uint32_t steps, uint32_t vars, int nr)
{
	struct gen_program *p = malloc(sizeof(*p));
	struct tally t = { 0 };

	for (int i = 0; i < nr; i++) {
		struct rng rng;

		rng_seed(&rng, kinds + 1000, (uint64_t)i);
		gen_program(p, &rng, kinds, tasks, steps, vars);
		check_program(&p->model, &t);
	}
	free(p);
	printf("# %s: %d programs, %llu schedules, %llu classes, %llu executions sleep-blocked\n",
	       what, t.programs, (unsigned long long)t.schedules, (unsigned long long)t.classes,
	       (unsigned long long)t.blocked);
	tap_ok(!t.lost, "%s: no class is lost (%d programs lose one)", what, t.lost);
	tap_ok(!t.more, "%s: one complete execution for each class (%d differ)", what, t.more);
	tap_ok(!t.outcomes, "%s: all outcomes (%d differ)", what, t.outcomes);
	tap_ok(!t.incomplete, "%s: the search says that it is complete (%d do not)", what,
	       t.incomplete);
}

int main(void)
{
	int n = tap_scale(1000, 20000);

	test_random_programs("variables", 0, 3, 10, 2, n);
	test_random_programs("locks", GEN_LOCKS, 3, 12, 2, n);
	test_random_programs("four tasks", GEN_LOCKS, 4, 10, 2, n / 2);
	test_random_programs("locks, trylock, branches", GEN_LOCKS | GEN_TRYLOCK | GEN_BRANCH, 3, 12,
			     2, n);
	test_random_programs("semaphores", GEN_LOCKS | GEN_SEMS, 3, 11, 1, n);
	test_random_programs("conditions", GEN_LOCKS | GEN_CONDS, 3, 12, 1, n);
	test_random_programs("forks, choices", GEN_FORK | GEN_CHOICE | GEN_LOCKS, 3, 11, 1, n);
	test_random_programs("all", GEN_ALL, 3, 12, 2, n);
	test_random_programs("an end of all", GEN_LOCKS | GEN_END_ALL, 3, 10, 2, n / 4);
	return tap_done();
}
