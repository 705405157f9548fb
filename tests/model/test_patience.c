/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_patience.c - what lies behind a bounded number of yields is found, and executions end all the same; tasks that give
 * way to each other do so for ever in lockstep, and in no execution of a portfolio
 */
#include <string.h>
#include "programs.h"
#include "search/patience.h"
#include "tap.h"

#define SEEDS	20

/*
 * Each waiter looks up to so many times for what the last task writes, yielding in between, and then counts
 * itself as one that sleeps. The last task writes, and must not find that all of them sleep.
 */
static struct program *sleepers(uint32_t waiters, uint32_t looks)
{
	static struct model_step code[4][200];
	static struct program p;

	memset(&p, 0, sizeof(p));
	memset(code, 0, sizeof(code));
	for (uint32_t t = 0; t < waiters; t++) {
		uint32_t len = 0, end = 3 * looks + 2;

		for (uint32_t i = 0; i < looks; i++) {
			code[t][len++] = (struct model_step){ M_READ, 0, 0, 0, 0 };
			code[t][len++] = (struct model_step){ M_JUMP_EQ, 0, 0, 1, (uint16_t)end };
			code[t][len++] = (struct model_step){ .op = M_YIELD };
		}
		code[t][len++] = (struct model_step){ M_READ, 1, 0, 0, 0 };
		code[t][len++] = (struct model_step){ M_STORE, 1, 0, 1, 0 };
		p.model.code[t] = code[t];
		p.model.len[t] = len;
	}
	code[waiters][0] = (struct model_step){ M_WRITE, 0, 0, 1, 0 };
	code[waiters][1] = (struct model_step){ M_READ, 1, 0, 0, 0 };
	code[waiters][2] = (struct model_step){ M_JUMP_EQ, 0, 0, (int16_t)waiters, 4 };
	code[waiters][3] = (struct model_step){ .op = M_END };
	code[waiters][4] = (struct model_step){ M_ASSERT, 0, 0, -1, 0 };
	p.model.code[waiters] = code[waiters];
	p.model.len[waiters] = 5;
	p.model.name = "sleepers";
	p.model.nr_tasks = p.model.nr_started = waiters + 1;
	return &p;
}

/*
 * A waiter sees that the gate is closed, counts itself, looks up to so many times, and then counts itself as one that sleeps.
 * The other task looks whether somebody waits, opens the gate, and wakes nobody if none did: then nobody may sleep. A third
 * task has nothing to do with it.
 */
static struct program *gate(uint32_t looks)
{
	enum { GATE, WAITERS, SLEEPERS, OTHER, WRITES = 6 };
	static const struct model_step opens[] = {
		{ M_READ, WAITERS, 0, 0, 0 }, { M_WRITE, GATE, 0, 1, 0 }, { M_JUMP_EQ, 0, 0, 1, 6 },
		{ M_READ, SLEEPERS, 0, 0, 0 }, { M_JUMP_EQ, 0, 0, 0, 6 }, { M_ASSERT, 0, 0, -1, 0 },
	};
	static struct model_step waits[200], other[WRITES];
	static struct program p;
	uint16_t end = 3 * looks + 7, len = 0;

	memset(&p, 0, sizeof(p));
	waits[len++] = (struct model_step){ M_READ, GATE, 0, 0, 0 };
	waits[len++] = (struct model_step){ M_JUMP_EQ, 0, 0, 1, end };
	waits[len++] = (struct model_step){ M_READ, WAITERS, 0, 0, 0 };
	waits[len++] = (struct model_step){ M_STORE, WAITERS, 0, 1, 0 };
	for (uint32_t i = 0; i <= looks; i++) {
		waits[len++] = (struct model_step){ M_READ, GATE, 0, 0, 0 };
		waits[len++] = (struct model_step){ M_JUMP_EQ, 0, 0, 1, end };
		if (i < looks)
			waits[len++] = (struct model_step){ .op = M_YIELD };
	}
	waits[len++] = (struct model_step){ M_WRITE, SLEEPERS, 0, 1, 0 };
	for (int i = 0; i < WRITES; i++)
		other[i] = (struct model_step){ M_WRITE, OTHER, 0, 1, 0 };
	p.model = (struct model){ .name = "gate", .nr_tasks = 3, .nr_started = 3, .code = { waits, opens, other },
				  .len = { len, sizeof(opens) / sizeof(opens[0]), WRITES } };
	return &p;
}

/* The execution that finds it, 0: none of so many. *longest: of all executions. */
static int found(const struct model *m, const char *strategy, uint64_t seed, int executions, uint64_t *longest)
{
	struct search *s = model_search(strategy, seed, 1);
	struct model_result r;
	int at = 0;

	for (int i = 1; i <= executions && !at; i++) {
		if (model_run(m, s, &r, NULL, 0) != SEARCH_GO)
			break;
		at = r.failed ? i : 0;
		*longest = r.steps > *longest ? r.steps : *longest;
	}
	search_free(s);
	return at;
}

static void test_behind_yields(void)
{
	static const struct { const char *strategy; uint32_t waiters, looks; int within; } cases[] = {
		{ "portfolio", 1, 4, 100 }, { "portfolio", 1, 16, 100 }, { "portfolio", 2, 16, 100 },
		{ "pct:depth=3", 2, 16, 100 }, { "random", 2, 16, 200 }, { "pos", 2, 16, 200 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct program *p = sleepers(cases[i].waiters, cases[i].looks);
		uint64_t longest = 0;
		int most = 0, missed = 0;

		for (uint64_t seed = 1; seed <= SEEDS; seed++) {
			int at = found(&p->model, cases[i].strategy, seed, cases[i].within, &longest);

			missed += !at;
			most = at > most ? at : most;
		}
		tap_ok(!missed, "%s: %u waiters sleep after %u looks: found by execution %d, %d of %d seeds missed",
		       cases[i].strategy, cases[i].waiters, cases[i].looks, most, missed, SEEDS);
	}
}

/* What decides is the order of few operations beside the wait. */
static void test_beside_yields(void)
{
	enum { SEARCHES = 100, WITHIN = 30 };
	struct program *p = gate(16);
	uint64_t longest = 0;
	int nr = 0;

	for (uint64_t seed = 1; seed <= SEARCHES; seed++)
		nr += found(&p->model, "portfolio", seed, WITHIN, &longest) > 0;
	/* where pct alone chooses in these executions it is 39 */
	tap_ok(nr >= 60, "portfolio: the gate is opened without a wake-up: found by execution %d by %d of %d searches", WITHIN, nr,
	       SEARCHES);
}

/* A loop without a bound is not taken for one with: it costs each task its patience once. */
static void test_longer_loops(void)
{
	struct program *p = program_new("spin", 3);
	uint64_t longest = 0;
	int at = found(&p->model, "pct", 1, 300, &longest);

	tap_ok(!at && longest > 3 * PATIENCE_YIELDS && longest < 3 * PATIENCE_YIELDS * 3 + 200,
	       "three tasks that spin: %llu steps at most",
	       (unsigned long long)longest);
	program_free(p);
}

static void test_lockstep(void)
{
	static const struct model_step polite[2][8] = {
		{ { M_WRITE, 0, 0, 1, 0 }, { M_READ, 1, 0, 0, 0 }, { M_JUMP_EQ, 0, 0, 0, 6 }, { M_WRITE, 0, 0, 0, 0 },
		  { .op = M_YIELD }, { M_JUMP, 0, 0, 0, 0 }, { M_WRITE, 0, 0, 0, 0 } },
		{ { M_WRITE, 1, 0, 1, 0 }, { M_READ, 0, 0, 0, 0 }, { M_JUMP_EQ, 0, 0, 0, 6 }, { M_WRITE, 1, 0, 0, 0 },
		  { .op = M_YIELD }, { M_JUMP, 0, 0, 0, 0 }, { M_WRITE, 1, 0, 0, 0 } },
	};
	struct model m = { .name = "polite", .nr_tasks = 2, .nr_started = 2, .code = { polite[0], polite[1] }, .len = { 7, 7 } };
	static const struct { const char *strategy; bool stays; } cases[] = {
		{ "lockstep", true }, { "lockstep:suffix=1000", false }, { "portfolio", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int most = 0, missed = 0;

		for (uint64_t seed = 1; seed <= SEEDS; seed++) {
			struct search *s = model_search(cases[i].strategy, seed, 1);
			struct model_result r;
			int at = 0;

			for (int k = 1; k <= 30 && !at && model_run(&m, s, &r, NULL, 0) == SEARCH_GO; k++)
				at = r.cut ? k : 0;
			missed += !at;
			most = at > most ? at : most;
			search_free(s);
		}
		tap_ok(missed == (cases[i].stays ? 0 : SEEDS), "%s: tasks that give way to each other %s (execution %d)",
		       cases[i].strategy, cases[i].stays ? "do so for ever" : "end", most);
	}
}

/* What SV-COMP calls "triangular": i = j + 1 and j = i + 1, ROUNDS times each, come to 2 * ROUNDS by turns only. */
static void test_updates_by_turns(void)
{
	enum { ROUNDS = 5, BY = 200 };
	struct model_step code[2][2 * ROUNDS + 3];
	struct model m = { .name = "triangular", .nr_tasks = 2, .nr_started = 2, .code = { code[0], code[1] },
			   .len = { 2 * ROUNDS, 2 * ROUNDS + 2 } };
	static const char *const strategies[] = { "lockstep", "portfolio" };

	for (int task = 0; task < 2; task++)
		for (int i = 0; i < ROUNDS; i++) {
			code[task][2 * i] = (struct model_step){ M_READ, !task, 0, 0, 0 };
			code[task][2 * i + 1] = (struct model_step){ M_STORE, task, 0, 1, 0 };
		}
	/* the last store was of 2 * ROUNDS: its register is one less */
	code[1][2 * ROUNDS] = (struct model_step){ M_JUMP_NE, 0, 0, 2 * ROUNDS - 1, 2 * ROUNDS + 2 };
	code[1][2 * ROUNDS + 1] = (struct model_step){ M_ASSERT, 0, 0, 0, 0 };
	for (size_t i = 0; i < sizeof(strategies) / sizeof(strategies[0]); i++) {
		int most = 0, missed = 0;

		for (uint64_t seed = 1; seed <= SEEDS; seed++) {
			uint64_t longest = 0;
			int at = found(&m, strategies[i], seed, BY, &longest);

			missed += !at;
			most = at > most ? at : most;
		}
		tap_ok(!missed, "%s: updates that build on each other: found by execution %d, %d of %d seeds missed",
		       strategies[i], most, missed, SEEDS);
	}
}

int main(void)
{
	test_behind_yields();
	test_beside_yields();
	test_longer_loops();
	test_lockstep();
	test_updates_by_turns();
	return tap_done();
}
