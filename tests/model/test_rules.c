/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_rules.c - the schedule language: what it means, what it refuses
 */
#include <string.h>
#include "search/rng.h"
#include "programs.h"
#include "tap.h"

static int64_t watched;

static bool value(void *ctx, uint32_t task, const char *name, int64_t *v)
{
	(void)ctx;
	(void)task;
	*v = watched;
	return !strcmp(name, "q.len");
}

static struct search *new_search(const char *strategy, const char *rules, uint64_t seed, char *err)
{
	static const struct search_names names = { .in = model_is_in, .on = model_is_on, .value = value };
	struct search_options o = {
		.strategy = strategy, .seed = seed, .fair = 1, .max_steps = 5000, .preemptions = -1,
		.rules = rules, .names = &names,
	};
	static char buf[512];

	return search_new(&o, err ? err : buf, sizeof(buf));
}

static int failures(const struct model *m, const char *strategy, const char *rules, int n)
{
	struct search *s = new_search(strategy, rules, 9, NULL);
	struct model_result r;
	int failed = 0;

	if (!s)
		return -1;
	for (int i = 0; i < n; i++) {
		model_run(m, s, &r, NULL, 0);
		failed += r.failed;
		if (r.cut)
			failed = -1000000;
	}
	search_free(s);
	return failed;
}

static uint64_t schedules(const struct model *m, const char *strategy, const char *rules)
{
	struct search *s = new_search(strategy, rules, 1, NULL);
	struct search_stats st = { 0 };
	struct model_result r;

	if (!s)
		return 0;
	while (model_run(m, s, &r, NULL, 0) == SEARCH_GO)
		;
	search_get_stats(s, &st);
	search_free(s);
	return st.schedules;
}

static void test_hold(void)
{
	struct program *p = program_new("lostupdate", 20);

	tap_ok(failures(&p->model, "random",
			"hold T1 at data-read on v0 until T0 at data-read on v0; "
			"hold T0 at data-write on v0 until T1 at data-write on v0", 200) == 200,
	       "a pinned schedule fails every time");
	tap_ok(failures(&p->model, "pct",
			"# the other way round\nhold T0 at data-read on v0 until T1 at data-read on v0\n"
			"hold T1 in f1 at data-write on v0 until T0 at data-write on v0", 200) == 200,
	       "whatever the strategy");
	tap_ok(failures(&p->model, "random", "hold T0 at data-write on v0 for 30 chance 0.5", 400) >
	       failures(&p->model, "random", NULL, 400) + 50, "a hold by steps and chance helps");
	watched = 3;
	tap_ok(failures(&p->model, "random", "hold T0 at data-write on v0 while q.len == 3", 100) > 50,
	       "a hold while a condition is true");
	tap_ok(failures(&p->model, "random", "hold T0 at data-write on v0 while q.len > 3", 100) < 35,
	       "not while it is false");
	tap_ok(failures(&p->model, "random", "hold T0 at data-write on v0 while nonesuch == 3", 100) < 35,
	       "nor when it is unknown");
	tap_ok(failures(&p->model, "random", "free T0; hold T0 at data-write on v0", 100) < 35,
	       "what an earlier line lets free is not held");
	tap_ok(failures(&p->model, "random", "hold T0\nhold T1\nhold T2", 100) >= 0,
	       "when all are held the test goes on");
	program_free(p);
}

static void test_tactics(void)
{
	struct program *p = program_new("lostupdate", 100);
	int plain = failures(&p->model, "random", NULL, 2000);
	int place = failures(&p->model, "random", "random-place fraction 0.02 delay 200", 2000);
	int there = failures(&p->model, "random", "random-place on v0 fraction 0.5 delay 200", 2000);
	int by_time = failures(&p->model, "random", "random-time tasks 1 delay 30", 2000);

	printf("# lostupdate-100, 2000 executions: plain %d, random-place %d, on v0 %d, random-time %d\n",
	       plain, place, there, by_time);
	tap_ok(there > 2 * plain, "random-place finds more where it is told the variable");
	tap_ok(by_time >= 0 && place >= 0, "random-time and random-place never stop a test");
	tap_ok(failures(&p->model, "random", "alternate; hold T0; free; end", 100) >= 0 &&
	       failures(&p->model, "random", "any\n random-time\n random-place\nend", 100) >= 0,
	       "composite tactics");
	program_free(p);
	p = program_new("philosophers", 5);
	tap_ok(failures(&p->model, "portfolio", "random-place delay 10; random-time tasks 2", 500) > 0,
	       "the portfolio goes on without its exhaustive members");
	program_free(p);
}

static void test_scope(void)
{
	static const struct model_step two[2][4] = {
		{ { M_WRITE, 0, 0, 0, 0 }, { M_WRITE, 1, 0, 0, 0 }, { M_WRITE, 0, 0, 0, 0 },
		  { M_WRITE, 1, 0, 0, 0 } },
		{ { M_WRITE, 0, 0, 0, 0 }, { M_WRITE, 1, 0, 0, 0 }, { M_WRITE, 0, 0, 0, 0 },
		  { M_WRITE, 1, 0, 0, 0 } },
	};
	struct model m = {
		.name = "two", .nr_tasks = 2, .nr_started = 2, .code = { two[0], two[1] },
		.len = { 4, 4 },
	};

	tap_ok(schedules(&m, "dfs", NULL) == 70, "70 = C(8,4) schedules without rules");
	tap_ok(schedules(&m, "dfs", "stay") == 2, "'stay': no preemption at all");
	/* Each task falls into blocks v0 v1 | v0 v1: two blocks, C(4,2). */
	tap_ok(schedules(&m, "dfs", "stay on v1") == 6, "'stay on v1': preemption before v0 only");
	tap_ok(schedules(&m, "dfs", "switch on v0; stay") == 6, "'switch on v0; stay': the same");
	/* Task 0 is never split: it stands in one of 5 gaps of task 1. */
	tap_ok(schedules(&m, "dfs", "stay T0") == 5, "'stay T0': that task is never preempted");
	tap_ok(schedules(&m, "dfs", "stay in f0") == 5, "by function");
	tap_ok(schedules(&m, "preemption:bound=1", "stay T0") == 5, "and under a bound");
}

/* Two variables: one under a lock, one that races. Preemptions are left for the second. */
static void test_ordered(void)
{
	static const struct model_step code[] = {
		{ M_LOCK, 0, 0, 0, 0 }, { M_READ, 0, 0, 0, 0 }, { M_STORE, 0, 0, 1, 0 },
		{ M_READ, 0, 0, 0, 0 }, { M_STORE, 0, 0, 1, 0 }, { M_UNLOCK, 0, 0, 0, 0 },
		{ M_READ, 1, 0, 0, 0 }, { M_STORE, 1, 0, 1, 0 },
	};
	struct model m = {
		.name = "ordered", .nr_tasks = 2, .nr_started = 2, .code = { code, code },
		.len = { 8, 8 },
	};
	int inside[2] = { 0 }, race[2] = { 0 };

	for (int ruled = 0; ruled < 2; ruled++) {
		struct search *s = new_search("random", ruled ? "stay ordered" : NULL, 4, NULL);

		for (int i = 0; i < 300; i++) {
			uint32_t order[32], pc[2] = { 0 };
			struct model_result r;

			model_run(&m, s, &r, order, 32);
			for (uint64_t k = 0; k < r.steps && i > 20; k++) {
				uint32_t other = !order[k];

				/* Switched away from a task that stood inside its lock, or in its race. */
				if (k && order[k - 1] == other && pc[other] >= 1 && pc[other] <= 4)
					inside[ruled]++;
				if (k && order[k - 1] == other && pc[other] == 7)
					race[ruled]++;
				pc[order[k]]++;
			}
		}
		search_free(s);
	}
	tap_ok(inside[0] > 50 && !inside[1], "'stay ordered': no preemption where a lock orders (%d "
	       "without, %d with)", inside[0], inside[1]);
	tap_ok(race[1] > 50, "but where tasks race (%d)", race[1]);
}

/* Whatever the text: a rule set or a message, nothing else. */
static void test_garbage(void)
{
	static const char *const words[] = {
		"stay", "switch", "hold", "free", "random-time", "random-place", "alternate", "any",
		"end", "before", "strict", "run", "nth", "line", "\"", "T0", "T1", "at", "on", "in", "lock", "while", "until", "for",
		"chance", "3",
		"0.5", "==", "x", "\n", ";", "#", "ordered", "delay", "tasks", "\t", "\x01", "-1", "T",
	};
	int good = 0, refused = 0;
	struct rng rng;

	rng_seed(&rng, 1, 2);
	for (int i = 0; i < 20000; i++) {
		char text[256] = "", err[512] = "";
		struct search *s;

		for (uint64_t n = rng_below(&rng, 12); n; n--) {
			strcat(text, words[rng_below(&rng, sizeof(words) / sizeof(words[0]))]);
			strcat(text, rng_below(&rng, 8) ? " " : "");
		}
		s = new_search("random", text, 1, err);
		good += s != NULL;
		refused += !s && err[0];
		search_free(s);
	}
	tap_ok(good + refused == 20000 && good > 500 && refused > 500, "any text is taken (%d) or refused "
	       "with a message (%d)", good, refused);
}

#define A64 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static void test_refusals(void)
{
	static const struct { const char *strategy, *rules, *say; } bad[] = {
		{ "random", "keep T1", "unknown statement" }, { "random", "hold T1 at", "something after" },
		{ "random", "hold at nonesuch", "unknown operation" },
		{ "random", "\n\nhold for 0", "line 3" }, { "random", "hold while x ~ 3", "comparison" },
		{ "random", "hold T1 T2", "not expected" }, { "random", "any", "end" },
		{ "random", "any; end", "nothing between" }, { "random", "end", "without" },
		{ "random", "random-place fraction 2", "from 0 to 1" },
		{ "random", "random-time fraction 0.5", "not expected" },
		{ "random", "stay for 3", "not expected" },
		{ "random", "any; any; stay; end; end", "group" },
		{ "random", "hold for 3 until at lock", "not expected" },
		{ "dfs", "hold T1", "leave schedules out" },
		{ "preemption", "random-time", "leave schedules out" },
		{ "dfs:cache=yes", "stay", "cache" }, { "dpor", "stay", "dpor refuses" },
		{ "random", "hold on " A64 A64 A64 A64,
		  "too long" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char err[512] = "";
		struct search *s = new_search(bad[i].strategy, bad[i].rules, 1, err);

		tap_ok(!s && strstr(err, bad[i].say), "%s, '%.30s': %s", bad[i].strategy,
		       bad[i].rules[0] == '\n' ? "(line 3)" : bad[i].rules, err);
		search_free(s);
	}
}

static void test_seed(void)
{
	struct program *p = program_new("twostage", 3);
	struct search *a = new_search("pos", "random-place delay 9; random-time tasks 2", 5, NULL);
	struct search *b = new_search("pos", "random-place delay 9; random-time tasks 2", 5, NULL);
	bool same = true;

	for (int i = 0; i < 100; i++) {
		uint32_t x[256] = { 0 }, y[256] = { 0 };
		struct model_result r;

		model_run(&p->model, a, &r, x, 256);
		model_run(&p->model, b, &r, y, 256);
		same &= !memcmp(x, y, sizeof(x));
	}
	tap_ok(same, "the same seed and rules give the same executions");
	search_free(a);
	search_free(b);
	program_free(p);
}

int main(void)
{
	test_hold();
	test_tactics();
	test_scope();
	test_ordered();
	test_garbage();
	test_refusals();
	test_seed();
	return tap_done();
}
