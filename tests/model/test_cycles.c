/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_cycles.c - cycles goes to the deadlocks that the orders of locks predict, and to nothing else
 */
#include <string.h>
#include "programs.h"
#include "tap.h"

#define LOCK(a)		{ M_LOCK, a, 0, 0, 0 }
#define UNLOCK(a)	{ M_UNLOCK, a, 0, 0, 0 }

/* Searches of 30 seeds that end in a deadlock within so many executions, the first of which never preempts. */
static int found_in(const struct model *m, const char *strategy, int executions)
{
	int nr = 0;

	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct search *s = model_search(strategy, seed, 1);
		struct model_result r;

		model_run_base(m, s, &r);
		for (int i = 1; i < executions && !r.failed; i++)
			model_run(m, s, &r, NULL, 0);
		nr += r.deadlock;
		search_free(s);
	}
	return nr;
}

static int found(const char *family, uint32_t n, const char *strategy, int executions)
{
	struct program *p = program_new(family, n);
	int nr = found_in(&p->model, strategy, executions);

	program_free(p);
	return nr;
}

static void test_many(void)
{
	int alone = found("philosophers", 12, "cycles", 3), pos = found("philosophers", 12, "pos", 3);

	tap_ok(alone == 30 && pos < 10, "twelve tasks come to their places at once (%d of 30 searches, %d with pos)", alone, pos);
	alone = found("philosophers", 12, "portfolio", 4);
	tap_ok(alone == 30, "in a portfolio, too (%d of 30)", alone);
}

static void test_long(void)
{
	int nr = found("abba", 100, "portfolio", 3);

	tap_ok(nr == 30, "other steps do not matter (%d of 30 searches)", nr);
}

/*
 * The second task needs the first lock for something else, long before it comes to its place: the first one has to be held
 * before it takes that.
 */
static void test_order(void)
{
	enum { NOISE = 20 };
	static const struct model_step first[] = {
		{ M_FORK, 1, 0, 0, 0 }, LOCK(0), LOCK(1), UNLOCK(1), UNLOCK(0),
	}, end[] = {
		LOCK(0), UNLOCK(0), LOCK(1), LOCK(0), UNLOCK(0), UNLOCK(1),
	};
	struct model_step second[NOISE + sizeof(end) / sizeof(end[0])];
	struct model m = {
		.name = "order", .nr_tasks = 2, .nr_started = 1, .code = { first, second },
		.len = { 5, sizeof(second) / sizeof(second[0]) },
	};
	int nr;

	for (int i = 0; i < NOISE; i++)
		second[i] = (struct model_step){ .op = M_LOCAL };
	memcpy(&second[NOISE], end, sizeof(end));
	nr = found_in(&m, "cycles", 4);
	tap_ok(nr == 30, "what has to come first does, in some try (%d of 30 searches)", nr);
}

#define WAIT(a)	{ M_SEM_WAIT, a, 0, 0, 0 }
#define POST(a)	{ M_SEM_POST, a, 0, 0, 0 }

/* Semaphores that are used as locks, as Python's are, among other steps. */
static void test_semaphores(void)
{
	enum { NOISE = 40 };
	static const struct model_step first[] = { WAIT(0), WAIT(1), POST(1), POST(0) },
				       second[] = { WAIT(1), WAIT(0), POST(0), POST(1) };
	struct model_step a[2 * NOISE + 4], b[2 * NOISE + 4];
	struct model m = {
		.name = "semaphores", .nr_tasks = 2, .nr_started = 2, .code = { a, b }, .len = { 2 * NOISE + 4, 2 * NOISE + 4 },
		.sems = { 1, 1 },
	};
	int nr;

	for (int i = 0; i < 2 * NOISE + 4; i++)
		a[i] = b[i] = (struct model_step){ .op = M_LOCAL };
	memcpy(&a[NOISE], first, sizeof(first));
	memcpy(&b[NOISE], second, sizeof(second));
	nr = found_in(&m, "portfolio", 5);
	tap_ok(nr == 30, "semaphores that each task gives back itself are locks (%d of 30 searches)", nr);
}

/*
 * Two tasks of an interpreter: its lock is 2, and each takes both semaphores in its own order, with a look in between. Where a
 * semaphore is taken the task gives the lock away and waits. The second task comes there long after the first one.
 */
static void test_interpreter(void)
{
	enum { NOISE = 60, GIL = 2 };
	struct model_step code[2][NOISE + 24];
	struct model m = {
		.name = "interpreter", .nr_tasks = 2, .nr_started = 2, .code = { code[0], code[1] }, .sems = { 1, 1 },
	};
	int nr;

	for (uint32_t t = 0; t < 2; t++) {
		uint32_t n = 0;

		while (t && n < NOISE)
			code[t][n++] = (struct model_step){ .op = M_LOCAL };
		code[t][n++] = (struct model_step){ .op = M_WANT, .a = GIL };
		code[t][n++] = (struct model_step){ .op = M_TAKE, .a = GIL };
		for (uint8_t k = 0; k < 2; k++) {
			const uint8_t sem = t ^ k;

			code[t][n] = (struct model_step){ M_TRYWAIT, sem, 1, 0, 0 };
			code[t][n + 1] = (struct model_step){ M_JUMP_EQ, 0, 1, 1, (uint16_t)(n + 5) };
			code[t][n + 2] = (struct model_step){ .op = M_GIVE, .a = GIL };
			code[t][n + 3] = (struct model_step)WAIT(sem);
			code[t][n + 4] = (struct model_step){ .op = M_TAKE, .a = GIL };
			code[t][n + 5] = (struct model_step){ .op = M_LOCAL };
			n += 6;
			if (k)
				continue;
			code[t][n++] = (struct model_step){ .op = M_LOOK, .a = GIL };
		}
		code[t][n++] = (struct model_step)POST(t ^ 1);
		code[t][n++] = (struct model_step)POST(t);
		code[t][n++] = (struct model_step){ .op = M_GIVE, .a = GIL };
		m.len[t] = n;
	}
	nr = found_in(&m, "cycles", 4);
	tap_ok(nr == 30, "a task with the lock of its interpreter is held where it can give that away (%d of 30 searches)", nr);
}

/* How often the portfolio aims at a cycle in 60 executions. */
static int aims(const struct model *m)
{
	struct search *s = model_search("portfolio", 1, 1);
	struct search_stats st;
	struct model_result r;
	int nr = 0;

	for (int i = 0; i < 60 && model_run(m, s, &r, NULL, 0) == SEARCH_GO; i++) {
		search_get_stats(s, &st);
		nr += !strcmp(st.strategy, "cycles");
	}
	search_free(s);
	return nr;
}

/* Locks that cannot be a deadlock: behind a gate, of one task, in one order, tried only, before another task lives. */
static void test_none(void)
{
	enum { KINDS = 6 };
	static const struct model_step code[KINDS][2][9] = {
		{ { LOCK(2), LOCK(0), LOCK(1), UNLOCK(1), UNLOCK(0), UNLOCK(2) },
		  { LOCK(2), LOCK(1), LOCK(0), UNLOCK(0), UNLOCK(1), UNLOCK(2) } },
		{ { LOCK(0), LOCK(1), UNLOCK(1), UNLOCK(0),
		    LOCK(1), LOCK(0), UNLOCK(0), UNLOCK(1) },
		  { LOCK(0), UNLOCK(0), LOCK(1), UNLOCK(1) } },
		{ { LOCK(0), LOCK(1), UNLOCK(0), UNLOCK(1) },
		  { LOCK(0), LOCK(1), UNLOCK(1), UNLOCK(0) } },
		{ { LOCK(0), { M_TRYLOCK, 1, 1, 0, 0 }, { M_JUMP_EQ, 0, 1, 0, 4 }, UNLOCK(1), UNLOCK(0) },
		  { LOCK(1), LOCK(0), UNLOCK(0), UNLOCK(1) } },
		/* the first lock is left before the second one is taken */
		{ { LOCK(0), UNLOCK(0), LOCK(1), UNLOCK(1) },
		  { LOCK(1), UNLOCK(1), LOCK(0), UNLOCK(0) } },
		/* what one task waits for the other one tells, and takes it back at times */
		{ { WAIT(0), LOCK(0), POST(1), UNLOCK(0), WAIT(1), POST(1) },
		  { LOCK(0), POST(0), WAIT(1), POST(1), UNLOCK(0), WAIT(0) } },
	};
	static const uint32_t len[KINDS][2] = { { 6, 6 }, { 8, 4 }, { 4, 4 }, { 5, 4 }, { 4, 4 }, { 6, 6 } };
	/* it takes the locks in another order before there is a second task */
	static const struct model_step maker[] = {
		LOCK(1), LOCK(0), UNLOCK(0), UNLOCK(1), { M_FORK, 1, 0, 0, 0 }, { M_JOIN, 1, 0, 0, 0 },
	};
	const struct model alone = {
		.name = "alone", .nr_tasks = 2, .nr_started = 1, .code = { maker, code[2][1] }, .len = { 6, 4 },
	};
	struct program *p = program_new("philosophers", 3);
	int nr = 0, some = aims(&p->model);

	for (int k = 0; k < KINDS; k++) {
		const struct model m = {
			.name = "none", .nr_tasks = 2, .nr_started = 2, .code = { code[k][0], code[k][1] },
			.len = { len[k][0], len[k][1] }, .sems = { 1, 1 },
		};

		nr += aims(&m);
	}
	nr += aims(&alone);
	tap_ok(!nr, "what is no cycle, or cannot be one, is no aim (%d)", nr);
	tap_ok(some, "philosophers are one (%d)", some);
	program_free(p);
}

/* An aim that is out of reach does not take the search: a few tries of it, and never two turns in a row. */
static void test_out_of_reach(void)
{
	static const struct model_step first[] = {
		LOCK(0), LOCK(1), UNLOCK(1), UNLOCK(0), { M_SEM_POST, 0, 0, 0, 0 },
	}, second[] = {
		{ M_SEM_WAIT, 0, 0, 0, 0 }, LOCK(1), LOCK(0), UNLOCK(0), UNLOCK(1),
	}, others[] = {
		{ M_READ, 0, 0, 0, 0 }, { M_STORE, 0, 0, 1, 0 }, { M_READ, 1, 0, 0, 0 }, { M_STORE, 1, 0, 1, 0 }, { M_READ, 0, 0, 0, 0 },
		{ M_STORE, 0, 0, 1, 0 }, { M_READ, 1, 0, 0, 0 }, { M_STORE, 1, 0, 1, 0 },
	};
	const struct model m = {
		.name = "reach", .nr_tasks = 4, .nr_started = 4, .code = { first, second, others, others },
		.len = { 5, 5, 8, 8 },
	};
	struct search *s = model_search("portfolio", 1, 1);
	struct model_result r;
	int nr = 0, twice = 0;
	bool before = false;

	for (int i = 0; i < 60 && model_run(&m, s, &r, NULL, 0) == SEARCH_GO; i++) {
		struct search_stats st;
		bool now;

		search_get_stats(s, &st);
		now = !strcmp(st.strategy, "cycles");
		nr += now;
		twice += now && before;
		before = now;
	}
	tap_ok(nr > 1 && nr < 4 && !twice, "an aim that is out of reach is given up (%d turns, %d in a row)", nr, twice);
	search_free(s);
}

int main(void)
{
	test_many();
	test_long();
	test_order();
	test_semaphores();
	test_interpreter();
	test_none();
	test_out_of_reach();
	return tap_done();
}
