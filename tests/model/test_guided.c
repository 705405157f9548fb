/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_guided.c - guided learns from all executions, and the portfolio's turns
 */
#include <string.h>
#include "programs.h"
#include "tap.h"

static struct program *new_reorder(void)
{
	struct program *p = program_new("reorder", 19);

	program_share_places(p);
	return p;
}

/* Searches of so many seeds whose first execution of guided fails, after that many replays of nothing. */
static int first_fails(const struct model *m, int seeds, int replays)
{
	int failed = 0;

	for (int seed = 1; seed <= seeds; seed++) {
		struct search *s = model_search("guided", (uint64_t)seed, 1);
		struct model_result r;

		for (int i = 0; i < replays; i++) {
			search_replay(s, NULL, 0);
			model_run(m, s, &r, NULL, 0);
		}
		model_run(m, s, &r, NULL, 0);
		failed += r.failed;
		search_free(s);
	}
	return failed;
}

/*
 * Of 19 tasks that set two variables and one that reads them, each pair of a write and a read is one in
 * a handful for guided, as the 19 execute the same code; for a sampler that knows nothing the reader is
 * one of 20.
 */
static void test_replays(void)
{
	struct program *p = new_reorder();
	int seeds = tap_scale(400, 4000), fresh = first_fails(&p->model, seeds, 0),
	    informed = first_fails(&p->model, seeds, 1);

	tap_ok(informed > 2 * fresh, "guided knows from a replay what to aim at (%d of %d first executions "
	       "fail, %d without)", informed, seeds, fresh);
	program_free(p);
}

static void test_members(void)
{
	static const char *const order[] = {
		"random", "surw", "guided", "dpor", "lockstep", "pos", "urw", "guided", "surw", "guided", "random",
	};
	enum { NR = sizeof(order) / sizeof(order[0]) };
	int seeds = tap_scale(400, 4000), failed = 0, fresh;
	struct program *p = new_reorder();
	bool same = true;

	fresh = first_fails(&p->model, seeds, 0);
	for (int seed = 1; seed <= seeds; seed++) {
		struct search *s = model_search("portfolio", (uint64_t)seed, 1);
		struct search_stats st;
		struct model_result r;

		for (int i = 0; i < NR && (!i || same); i++) {
			model_run(&p->model, s, &r, NULL, 0);
			search_get_stats(s, &st);
			same &= !strcmp(st.strategy, order[i]);
			/* points that are found in between change nothing of it */
			if (i % 3 == 2)
				same &= !search_renew(s);
			failed += i == 2 && r.failed;
		}
		search_free(s);
	}
	tap_ok(same, "the portfolio's first turns have their order");
	tap_ok(failed > 2 * fresh, "its guided member learns from the executions before (%d of %d fail, %d alone)",
	       failed, seeds, fresh);
	program_free(p);
}

/* No member starves, and all have had a turn within 20 executions. */
static void test_all_turns(void)
{
	static const char *const all[] = {
		"random", "guided", "surw", "pos", "urw", "dpor", "pct", "preemption", "reversal", "lockstep",
	};
	enum { NR = sizeof(all) / sizeof(all[0]) };
	struct program *p = program_new("philosophers", 8);
	struct search *s = model_search("portfolio", 1, 1);
	int nr[NR] = { 0 }, after20 = 0, least = 1 << 30;
	struct search_stats st;
	struct model_result r;

	for (int i = 0; i < 1000; i++) {
		model_run(&p->model, s, &r, NULL, 0);
		search_get_stats(s, &st);
		for (int k = 0; k < NR; k++)
			nr[k] += !strcmp(st.strategy, all[k]);
		for (int k = 0; i == 19 && k < NR; k++)
			after20 += nr[k] != 0;
	}
	for (int k = 0; k < NR; k++)
		least = nr[k] < least ? nr[k] : least;
	tap_ok(after20 == NR, "each member has had a turn after 20 executions (%d of %d)", after20, NR);
	tap_ok(least >= 20, "none starves (at least %d of 1000 turns)", least);
	search_free(s);
	program_free(p);
}

/* The turns of a member in executions first to last, counted from 1. */
static int turns_of(const char *member, const char *family, uint32_t n, int first, int last)
{
	struct program *p = program_new(family, n);
	struct search *s = model_search("portfolio", 1, 1);
	struct search_stats st;
	struct model_result r;
	int turns = 0;

	for (int i = 1; i <= last; i++) {
		model_run(&p->model, s, &r, NULL, 0);
		search_get_stats(s, &st);
		turns += i >= first && !strcmp(st.strategy, member);
	}
	search_free(s);
	program_free(p);
	return turns;
}

/* reversal, and then dpor, have many turns for a while, if there are few tasks. */
static void test_few_tasks(void)
{
	int few = turns_of("dpor", "lines", 10, 42, 121), later = turns_of("dpor", "lines", 10, 122, 201),
	    many = turns_of("dpor", "philosophers", 16, 42, 121);
	int early = turns_of("reversal", "lines", 10, 12, 41), crowd = turns_of("reversal", "philosophers", 16, 12, 41);

	tap_ok(early > 12 && crowd < 6, "reversal has many turns where few tasks are, and few where many are (%d and %d of 30)",
	       early, crowd);
	tap_ok(few > 20, "dpor has many turns where few tasks are (%d of 80)", few);
	tap_ok(many < 16 && later < 16, "but not where many are, nor later (%d and %d of 80)", many, later);
}

int main(void)
{
	test_few_tasks();
	test_replays();
	test_members();
	test_all_turns();
	return tap_done();
}
