/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_diverge.c - programs that do not do the same under the same schedule: the
 * search ends, says so, and loses no more than it must
 */
#include <errno.h>
#include <string.h>
#include "gen.h"
#include "oracle.h"
#include "programs.h"
#include "tap.h"

/* One execution; -ESTALE is answered by asking again. */
static int run(const struct model *m, struct search *s, struct set *outcomes,
	       bool *diverged)
{
	struct search_cand cand[MODEL_TASKS];
	struct search_point p = { .cand = cand };
	struct search_end end = { .result = SEARCH_PASS };
	struct model_state st;
	int ret = search_begin(s);

	*diverged = false;
	if (ret != SEARCH_GO)
		return ret;
	model_start(m, &st);
	for (;; p.step++) {
		uint32_t enabled;
		int i;

		p.nr = model_cands(m, &st, cand, &enabled);
		p.last = st.last;
		p.yielded = st.yielded;
		if (!enabled) {
			search_final(s, &p);
			break;
		}
		i = search_pick(s, &p);
		if (i == -ESTALE) {
			*diverged = true;
			i = search_pick(s, &p);
		}
		if (i < 0)
			return i;
		model_step(m, &st, cand[i].task, 0);
	}
	set_add(outcomes, model_outcome(m, &st));
	search_end(s, &end);
	return SEARCH_GO;
}

static const char *const systematic[] = { "dfs", "preemption:bound=2", "delay:bound=2", "dpor" };

/* The first execution does something that no later one does. */
static void test_lazy_start(void)
{
	struct program *first = program_new("lines", 3), *p = program_new("abba", 1);
	struct oracle o;

	oracle_run(&p->model, 100000, false, &o);
	for (size_t i = 0; i < sizeof(systematic) / sizeof(systematic[0]); i++) {
		struct search *s = model_search(systematic[i], 1, 1);
		struct set first_outcomes = { 0 }, outcomes = { 0 };
		struct search_stats st;
		bool diverged;
		int nr = 1;

		run(&first->model, s, &first_outcomes, &diverged);
		while (nr < 100000 && run(&p->model, s, &outcomes, &diverged) == SEARCH_GO)
			nr++;
		search_get_stats(s, &st);
		tap_ok(nr < 100000 && !st.incomplete,
		       "%s: another program after the first execution is adopted (%d executions)",
		       systematic[i], nr);
		tap_ok(outcomes.nr == o.outcomes.nr, "%s: and searched to the end", systematic[i]);
		set_free(&first_outcomes);
		set_free(&outcomes);
		search_free(s);
	}
	oracle_free(&o);
	program_free(first);
	program_free(p);
}

/* Now and then an execution does something else. */
static void test_flaky(void)
{
	struct program *p = program_new("abba", 1), *other = program_new("abba", 2);
	struct oracle o;

	oracle_run(&p->model, 100000, false, &o);
	for (size_t i = 0; i < sizeof(systematic) / sizeof(systematic[0]); i++) {
		struct search *s = model_search(systematic[i], 1, 1);
		struct set outcomes = { 0 }, ignored = { 0 };
		struct search_stats st;
		int nr = 0, ret = SEARCH_GO;
		struct rng rng;
		bool diverged;

		rng_seed(&rng, 3, i);
		while (nr < 100000 && ret == SEARCH_GO) {
			bool flake = rng_below(&rng, 10) == 0;

			ret = run(flake ? &other->model : &p->model, s,
				  flake ? &ignored : &outcomes, &diverged);
			nr++;
		}
		search_get_stats(s, &st);
		tap_ok(ret == SEARCH_EXHAUSTED, "%s: a flaky program does not keep the search from its "
		       "end (%d executions, %llu divergences)", systematic[i], nr,
		       (unsigned long long)st.divergences);
		tap_ok(st.incomplete || outcomes.nr == o.outcomes.nr,
		       "%s: what it lost it admits", systematic[i]);
		set_free(&outcomes);
		set_free(&ignored);
		search_free(s);
	}
	oracle_free(&o);
	program_free(p);
	program_free(other);
}

/* A program that never does the same twice. */
static void test_chaos(void)
{
	struct gen_program *p = malloc(sizeof(*p));

	for (size_t i = 0; i < sizeof(systematic) / sizeof(systematic[0]); i++) {
		struct search *s = model_search(systematic[i], 1, 1);
		struct set outcomes = { 0 };
		struct search_stats st;
		int nr = 0, ret = SEARCH_GO;
		bool diverged;

		while (nr < 20000 && ret == SEARCH_GO) {
			struct rng rng;

			rng_seed(&rng, 8, (uint64_t)nr++);
			gen_program(p, &rng, GEN_ALL & ~GEN_CHOICE, 4, 12, 2);
			ret = run(&p->model, s, &outcomes, &diverged);
		}
		search_get_stats(s, &st);
		tap_ok((ret == SEARCH_EXHAUSTED || ret == SEARCH_GO) && st.incomplete,
		       "%s: survives chaos, and does not call it complete (%d executions)",
		       systematic[i], nr);
		set_free(&outcomes);
		search_free(s);
	}
	free(p);
}

int main(void)
{
	test_lazy_start();
	test_flaky();
	test_chaos();
	return tap_done();
}
