/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_search.c - the contract of search.h, on the smallest program there is:
 * straight-line tasks whose steps are all enabled
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "search/search.h"

static int nr_tests, nr_failed;

static void ok(bool good, const char *what)
{
	nr_tests++;
	nr_failed += !good;
	printf("%sok %d - %s\n", good ? "" : "not ", nr_tests, what);
}

#define MAX_TASKS	4

struct line {
	uint32_t nr;			/* tasks */
	uint32_t len[MAX_TASKS];	/* steps of each */
	uint64_t object[MAX_TASKS];	/* all steps of a task write this; 0: none */
	bool yields;			/* every step is a yield */
};

/* Run one execution; the decisions go to order, as digits. */
static int run(struct search *s, const struct line *l, char *order, uint64_t from_step)
{
	uint32_t pc[MAX_TASKS] = { 0 }, last = SEARCH_NO_TASK;
	struct search_cand cand[MAX_TASKS];

	for (uint64_t step = from_step;; step++) {
		struct search_point p = { .step = step, .last = last, .cand = cand };
		int i;

		p.yielded = l->yields && last != SEARCH_NO_TASK;
		for (uint32_t t = 0; t < l->nr; t++) {
			if (pc[t] == l->len[t])
				continue;
			cand[p.nr++] = (struct search_cand){
				.task = t, .parent = SEARCH_NO_TASK, .enabled = true,
				.label = { .op = l->yields ? ZUG_OP_YIELD : ZUG_OP_DATA_WRITE,
					   .object = l->object[t] },
			};
		}
		if (!p.nr)
			break;
		i = search_pick(s, &p);
		if (i == -ESTALE)
			i = search_pick(s, &p);
		if (i < 0)
			return i;
		last = cand[i].task;
		pc[last]++;
		*order++ = (char)('0' + last);
	}
	*order = '\0';
	return 0;
}

static struct search *new_search(const char *strategy, uint64_t seed)
{
	struct search_options o = {
		.strategy = strategy, .seed = seed, .fair = 1, .preemptions = -1,
	};
	char err[256] = "";
	struct search *s = search_new(&o, err, sizeof(err));

	if (!s)
		printf("# %s: %s\n", strategy, err);
	return s;
}

static uint64_t count(const char *strategy, const struct line *l, struct search_stats *stats)
{
	struct search *s = new_search(strategy, 1);
	struct search_end pass = { .result = SEARCH_PASS };
	char order[64];
	uint64_t nr = 0;

	while (search_begin(s) == SEARCH_GO && nr < 1000000) {
		if (run(s, l, order, 0))
			return 0;
		search_end(s, &pass);
		nr++;
	}
	search_get_stats(s, stats);
	search_free(s);
	return nr;
}

static void test_counts(void)
{
	struct line two = { .nr = 2, .len = { 3, 3 }, .object = { 7, 7 } };
	struct line apart = { .nr = 2, .len = { 3, 3 }, .object = { 7, 8 } };
	struct line three = { .nr = 3, .len = { 2, 2, 2 }, .object = { 7, 7, 7 } };
	struct search_stats st;

	ok(count("dfs", &two, &st) == 20, "dfs: C(6,3) schedules of two tasks of three steps");
	ok(st.distinct == 20 && st.schedules == 20, "all of them distinct");
	ok(count("dfs", &three, &st) == 90, "dfs: 6!/(2!)^3 schedules of three tasks of two steps");
	ok(count("dfs", &apart, &st) == 20 && st.distinct == 1, "independent tasks: one class");
	ok(count("dfs:cache=yes", &apart, &st) < 20, "the cache skips equal states");
	/* No preemption: 2. One: one task is split once (2 ways), the other runs in the gap: 2 * 2. */
	ok(count("preemption:bound=0", &two, &st) == 2, "two schedules without preemption");
	ok(count("preemption:bound=1", &two, &st) == 2 + 6, "bounds 0 and 1: 2 + 6 executions");
	ok(st.bound_done == 1 && st.schedules == 6, "bound 1 done, 6 schedules");
	ok(st.distinct == 6 && !st.incomplete, "nothing cut");
}

static void test_seeds(void)
{
	static const char *const names[] = { "random", "pct", "random:stick=2", "pct:depth=5" };
	struct line l = { .nr = 3, .len = { 5, 5, 5 }, .object = { 1, 1, 1 } };
	struct search_end pass = { .result = SEARCH_PASS };
	char a[64], b[64];
	bool same = true, varied = false;

	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
		struct search *x = new_search(names[n], 42), *y = new_search(names[n], 42);
		char first[64] = "";

		for (int i = 0; i < 50; i++) {
			search_begin(x);
			search_begin(y);
			run(x, &l, a, 0);
			run(y, &l, b, 0);
			search_end(x, &pass);
			search_end(y, &pass);
			same &= !strcmp(a, b);
			if (!i)
				strcpy(first, a);
			varied |= strcmp(a, first) != 0;
		}
		search_free(x);
		search_free(y);
	}
	ok(same, "the same seed gives the same executions");
	ok(varied, "executions differ from each other");
}

static void test_replay(void)
{
	struct line l = { .nr = 2, .len = { 2, 2 }, .object = { 1, 1 } };
	struct search_end pass = { .result = SEARCH_PASS };
	static const uint32_t good[] = { 0, 1, 0, 1 }, stale[] = { 0, 0, 0, 1 };
	struct search *s = new_search("random", 1);
	struct search_stats st;
	char order[64];

	ok(!search_replay(s, good, 4), "a replay is accepted");
	search_begin(s);
	run(s, &l, order, 0);
	search_end(s, &pass);
	ok(!strcmp(order, "0101"), "and followed");
	search_replay(s, stale, 4);
	search_begin(s);
	ok(!run(s, &l, order, 0) && !strcmp(order, "0011"), "a stale one goes on by itself");
	search_end(s, &pass);
	search_get_stats(s, &st);
	ok(st.divergences == 1 && st.executions == 0, "and counts as divergence, not as execution");
	search_replay(s, NULL, 0);
	search_begin(s);
	run(s, &l, order, 0);
	search_end(s, &pass);
	ok(!strcmp(order, "0011"), "an empty replay is the base scheduler");
	search_free(s);
}

static void test_refusals(void)
{
	struct search_options o = { .fair = 1, .preemptions = -1 };
	static const struct { const char *spec, *say; } bad[] = {
		{ "nonesuch", "random" }, { "pct:deep=3", "depth" }, { "pct:depth=0", "1 to 64" },
		{ "pct:depth=x", "number" }, { "pct:depth", "missing" }, { "pct:", "argument" },
		{ "dfs:cache=maybe", "yes or no" }, { "preemption:sleep=yes", "lose bugs" },
		{ "dpor:bound=2", "lose bugs" }, { "dpor:cache=yes", "hide" },
		{ "", "unknown" }, { "pct:depth=3,", "argument" }, { "dfs:cache=", "yes or no" },
	};
	char err[512], what[600];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct search *s;

		o.strategy = bad[i].spec;
		err[0] = '\0';
		s = search_new(&o, err, sizeof(err));
		snprintf(what, sizeof(what), "'%s' is refused: %s", bad[i].spec, err);
		ok(!s && strstr(err, bad[i].say), what);
		search_free(s);
	}
	o.strategy = "dfs";
	o.preemptions = 2;
	ok(!search_new(&o, err, sizeof(err)), "dfs with a preemption bound is refused");
	o.strategy = "dpor";
	ok(!search_new(&o, err, sizeof(err)) && strstr(err, "lose"), "so is dpor, and it says why");
	o.strategy = "delay";
	ok(!search_new(&o, err, sizeof(err)), "so is delay");
}

static void test_malformed(void)
{
	struct search *s = new_search("random", 1);
	struct search_cand c[2] = {
		{ .task = 1, .enabled = true }, { .task = 0, .enabled = true },
	};
	struct search_point p = { .last = SEARCH_NO_TASK, .nr = 2, .cand = c };

	ok(search_pick(s, &p) == -EINVAL, "no execution: refused");
	search_begin(s);
	ok(search_pick(s, &p) == -EINVAL, "tasks out of order: refused");
	p.nr = 0;
	ok(search_pick(s, &p) == -EINVAL, "no candidate: refused");
	p.nr = 1;
	c[0].enabled = false;
	ok(search_pick(s, &p) == -EINVAL, "none enabled: refused");
	c[0].enabled = true;
	p.step = 3;
	ok(search_pick(s, &p) == -EINVAL, "step out of order: refused");
	p.step = 0;
	c[0].task = UINT32_MAX - 1;
	ok(search_pick(s, &p) == -EINVAL, "absurd task number: refused");
	c[0].task = 1;
	ok(search_pick(s, &p) == 0, "and the search is still good");
	search_free(s);
}

static void test_names(void)
{
	bool good = true;

	for (unsigned int i = 0; i < ZUG_OP_NR; i++) {
		const char *name = zug_op_name(i);

		good &= strcmp(name, "op-unknown") &&
			(!strncmp(name, "op-", 3) || zug_op_by_name(name) == (int)i);
	}
	ok(good, "every operation has a name that leads back to it");
	ok(zug_op_by_name("nonesuch") == -ENOENT, "an unknown name does not");
	ok(zug_op_is(ZUG_OP_SEMOP, ZUG_OP_SYSCALL) && !zug_op_is(ZUG_OP_SYSCALL, ZUG_OP_SEMOP) &&
	   !zug_op_is(ZUG_OP_READ, ZUG_OP_SYSCALL), "what was called 'syscall' once is still meant by it");
	for (unsigned int i = 0; search_strategy_info(i); i++) {
		const struct search_strategy_info *info = search_strategy_info(i);
		struct search *s = new_search(info->name, 1);
		char what[128];

		snprintf(what, sizeof(what), "strategy %s has its defaults and its texts", info->name);
		ok(s && info->line && info->params && info->guarantee, what);
		search_free(s);
	}
}

/* One task of ten steps, each of which may be one of two faults; at most one in an execution. */
static int run_rare(struct search *s, unsigned int *where, int *value)
{
	struct search_cand c = { .parent = SEARCH_NO_TASK, .enabled = true, .label = { .op = ZUG_OP_WRITE, .object = 1 } };

	*where = *value = 0;
	for (unsigned int step = 0; step < 10; step++) {
		struct search_point p = { .step = step, .last = step ? 0 : SEARCH_NO_TASK, .nr = 1, .cand = &c };
		int v;

		if (search_pick(s, &p) != 0)
			return -EPROTO;
		v = search_choose_rare(s, *value ? 1 : 3);
		if (v < 0 || (*value && v))
			return -EPROTO;
		if (v) {
			*where = step;
			*value = v;
		}
	}
	return 0;
}

/* One task, one step, and what its program's random numbers follow from. */
static int run_numbers(struct search *s)
{
	struct search_cand c = { .parent = SEARCH_NO_TASK, .enabled = true, .label = { .op = ZUG_OP_CHOICE } };
	struct search_point p = { .last = SEARCH_NO_TASK, .nr = 1, .cand = &c };
	int value;

	if (search_pick(s, &p) != 0)
		return -EPROTO;
	value = search_choose_numbers(s, 1000);
	search_end(s, &(struct search_end){ .result = SEARCH_PASS });
	return value;
}

static void test_numbers(void)
{
	struct search *s = new_search("portfolio", 1), *again = new_search("portfolio", 1), *all = new_search("dpor", 1);
	int first, value, others = 0, same = 0, tried = 0, most = 0;
	struct search_stats st;

	first = search_begin_base(s) == SEARCH_GO ? run_numbers(s) : -1;
	search_begin_base(again);
	run_numbers(again);
	for (int i = 0; i < 20 && search_begin(s) == SEARCH_GO; i++) {
		value = run_numbers(s);
		others += value > 0 && value < 1000;
		same += search_begin(again) == SEARCH_GO && run_numbers(again) == value;
	}
	ok(!first && others >= 10, "numbers of the program's own: the first execution has them as they are, others have others");
	ok(same == 20, "and the same seed the same");
	search_get_stats(s, &st);
	ok(st.schedules == 1, "which makes no other schedule");
	while (tried < 10 && search_begin(all) == SEARCH_GO) {
		value = run_numbers(all);
		most = value > most ? value : most;
		tried++;
	}
	search_get_stats(all, &st);
	ok(tried == 1 && !most && st.incomplete, "a strategy that tries everything leaves them, and has not tried everything then");
	search_free(s);
	search_free(again);
	search_free(all);
}

static void test_rare(void)
{
	static unsigned int seen[10][3];
	struct search_end pass = { .result = SEARCH_PASS };
	unsigned int where, none = 0, executions = 0, least = ~0u, most = 0;
	struct search *s = new_search("random", 1);
	bool good = s;
	int value;

	for (int i = 0; good && i < 2000; i++) {
		good = search_begin(s) == SEARCH_GO && !run_rare(s, &where, &value);
		seen[where][value] += value != 0;
		none += !value;
		search_end(s, &pass);
	}
	for (int i = 0; i < 10; i++)
		for (int v = 1; v <= 2; v++) {
			least = seen[i][v] < least ? seen[i][v] : least;
			most = seen[i][v] > most ? seen[i][v] : most;
		}
	/* 20 kinds of fault, and none in 3 of 13: each is expected 77 times, with a deviation of 9 */
	ok(good && least > 40 && most < 120 && none > 300 && none < 650, "a rare value comes anywhere, with equal odds");
	search_free(s);

	s = new_search("dfs", 1);
	memset(seen, 0, sizeof(seen));
	for (good = s, none = 0; good && search_begin(s) == SEARCH_GO && executions < 100; executions++) {
		good = !run_rare(s, &where, &value);
		seen[where][value] += value != 0;
		none += !value;
		search_end(s, &pass);
	}
	for (int i = 0; i < 10; i++)
		good &= seen[i][1] == 1 && seen[i][2] == 1;
	ok(good && executions == 21 && none == 1, "dfs tries each of them, and none, once");
	search_free(s);
}

int main(void)
{
	test_rare();
	test_numbers();
	test_counts();
	test_seeds();
	test_replay();
	test_refusals();
	test_malformed();
	test_names();
	printf("1..%d\n", nr_tests);
	return nr_failed != 0;
}
