/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_apart.c - executions that are unlike the others, and points that change, while a search goes on
 */
#include <errno.h>
#include <string.h>
#include "programs.h"
#include "tap.h"

static const char *const sampling[] = { "random", "pct:depth=3", "pos", "urw", "surw", "guided", "portfolio" };

#define NR_SAMPLING (sizeof(sampling) / sizeof(sampling[0]))

static bool is_systematic(const struct search *s)
{
	struct search_stats st;

	search_get_stats(s, &st);
	return !strcmp(st.strategy, "preemption") || !strcmp(st.strategy, "dpor");
}

/* Executions of a systematic member until the portfolio has covered everything; 0: it did not say so. */
static int covered(const struct program *p, struct search *s)
{
	struct search_stats st;
	struct model_result r;
	int nr = 0;

	while (model_run(&p->model, s, &r, NULL, 0) == SEARCH_GO) {
		search_get_stats(s, &st);
		nr += !strcmp(st.strategy, "preemption");
	}
	search_get_stats(s, &st);
	return st.bound_done != UINT32_MAX && st.unbounded && !st.incomplete ? nr : 0;
}

/*
 * The execution that never preempts is the first of dpor, which goes on from it when it can; turns that
 * it could not take are not lost.
 */
static void test_base(void)
{
	struct program *p = program_new("abba", 20);
	struct search *s = model_search("portfolio", 5, 1);
	struct search_stats st;
	struct model_result r;
	bool same;

	model_run_base(&p->model, s, &r);
	search_get_stats(s, &st);
	same = !strcmp(st.strategy, "dpor") && !r.failed;
	for (int i = 0; i < 4; i++)
		model_run_apart(&p->model, s, &r, NULL, 0);
	model_run(&p->model, s, &r, NULL, 0);
	search_get_stats(s, &st);
	tap_ok(same && !strcmp(st.strategy, "dpor") && r.failed,
	       "dpor goes on from the execution that never preempts, as soon as it can");
	search_free(s);
	s = model_search("random", 5, 1);
	same = model_run_base(&p->model, s, &r) == SEARCH_GO && !r.failed;
	search_get_stats(s, &st);
	tap_ok(same && !st.executions, "to a strategy that only samples it is none of the search");
	search_free(s);
	program_free(p);
}

/* A systematic member chooses no execution apart: its turn among the first comes behind these. */
static void test_owed(void)
{
	struct program *p = program_new("lostupdate", 1);
	struct search *s = model_search("portfolio", 5, 1);
	struct model_result r;

	for (int i = 0; i < 8; i++)
		model_run_apart(&p->model, s, &r, NULL, 0);
	model_run(&p->model, s, &r, NULL, 0);
	tap_ok(is_systematic(s), "a turn that could not be taken is taken later");
	search_free(s);
	program_free(p);
}

static void test_portfolio(void)
{
	struct program *p = program_new("lostupdate", 1);
	struct search *s = model_search("portfolio", 5, 1), *fresh = model_search("portfolio", 5, 1);
	struct search_stats st;
	struct model_result r;
	int systematic = 0, among = 0, whole = covered(p, fresh), again;

	for (int i = 0; i < 100; i++) {
		bool apart = i % 2;

		if (apart)
			model_run_apart(&p->model, s, &r, NULL, 0);
		else
			model_run(&p->model, s, &r, NULL, 0);
		systematic += apart && is_systematic(s);
		among += !apart && is_systematic(s);
	}
	tap_ok(!systematic && among, "members that sample choose executions apart (%d of the others are systematic)",
	       among);
	search_get_stats(s, &st);
	tap_ok(st.executions == 100, "all of them are counted (%llu)", (unsigned long long)st.executions);
	tap_ok(!search_renew(s), "the points change");
	search_get_stats(s, &st);
	tap_ok(st.executions == 100 && st.bound_done == UINT32_MAX, "nothing is covered any more, and all are counted");
	again = covered(p, s);
	tap_ok(whole && again == whole, "all schedules are tried again: %d, then %d", whole, again);
	search_free(s);
	search_free(fresh);
	program_free(p);
}

/* Executes the next schedule of each; true: they are the same. */
static bool alike(const struct program *p, struct search *s, struct search *t, bool apart)
{
	uint32_t order[2][64] = { 0 };
	struct model_result r;

	for (int i = 0; i < 2; i++) {
		struct search *one = i ? t : s;

		if (apart)
			model_run_apart(&p->model, one, &r, order[i], 64);
		else
			model_run(&p->model, one, &r, order[i], 64);
	}
	return !memcmp(order[0], order[1], sizeof(order[0]));
}

/* The same executions with the same seed, and other ones than before the points have changed. */
static void test_draws(void)
{
	struct program *p = program_new("reorder", 4);

	for (size_t i = 0; i < NR_SAMPLING; i++) {
		struct search *s = model_search(sampling[i], 3, 1), *t = model_search(sampling[i], 3, 1);
		int same = 0, repeated = 0;

		for (int n = 0; n < 20; n++)
			same += alike(p, s, t, true);
		tap_ok(search_samples(s) && same == 20, "%s: the same executions apart with the same seed", sampling[i]);
		search_free(t);
		t = model_search(sampling[i], 3, 1);
		search_renew(s);
		for (int n = 0; n < 20; n++)
			repeated += alike(p, s, t, false);
		tap_ok(repeated < 10, "%s: others when the points have changed (%d of 20 alike)", sampling[i], repeated);
		search_free(s);
		search_free(t);
	}
	program_free(p);
}

/* The same executions, however often some of them are replayed meanwhile. */
static void test_replays(void)
{
	struct program *p = program_new("reorder", 4);
	uint32_t order[2][64], again[64];
	struct model_result r;

	for (size_t i = 0; i < NR_SAMPLING; i++) {
		struct search *s = model_search(sampling[i], 3, 1), *t = model_search(sampling[i], 3, 1);
		int same = 0, replayed = 0;

		for (int n = 0; n < 60; n++) {
			memset(order, 0, sizeof(order));
			model_run(&p->model, s, &r, order[0], 64);
			model_run(&p->model, t, &r, order[1], 64);
			same += !memcmp(order[0], order[1], sizeof(order[0]));
			if (n % 3)
				continue;
			memset(again, 0, sizeof(again));
			search_replay(s, order[0], (uint32_t)(r.steps < 64 ? r.steps : 64));
			model_run(&p->model, s, &r, again, 64);
			replayed += !memcmp(order[0], again, sizeof(again));
		}
		tap_ok(same == 60 && replayed == 20, "%s: replays change nothing (%d alike, %d replayed)", sampling[i],
		       same, replayed);
		search_free(s);
		search_free(t);
	}
	program_free(p);
}

static void test_systematic(void)
{
	static const char *const strategies[] = { "preemption:bound=2", "delay:bound=2", "dfs", "dpor" };

	for (size_t i = 0; i < sizeof(strategies) / sizeof(strategies[0]); i++) {
		struct search *s = model_search(strategies[i], 1, 1);

		tap_ok(!search_samples(s) && search_begin_apart(s) == -EINVAL && search_begin(s) == SEARCH_GO,
		       "%s does not sample, and goes on", strategies[i]);
		search_free(s);
	}
}

int main(void)
{
	test_base();
	test_owed();
	test_portfolio();
	test_draws();
	test_replays();
	test_systematic();
	return tap_done();
}
