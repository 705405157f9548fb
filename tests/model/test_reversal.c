/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_reversal.c - reversal finds what is a few reversals away from the execution that never preempts
 */
#include "programs.h"
#include "search/access.h"
#include "tap.h"

/* Searches of 30 seeds that fail within so many executions, the first of which never preempts. */
static int found(const char *family, uint32_t n, const char *strategy, int executions, bool numbered)
{
	struct program *p = program_new(family, n);
	int nr = 0;

	program_share_places(p);
	p->model.numbered = numbered;
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct search *s = model_search(strategy, seed, 1);
		struct model_result r;

		model_run_base(&p->model, s, &r);
		for (int i = 1; i < executions && !r.failed; i++)
			model_run(&p->model, s, &r, NULL, 0);
		nr += r.failed;
		search_free(s);
	}
	program_free(p);
	return nr;
}

/* pos needs thousands of executions for six hand-overs in a row. */
static void test_deep(void)
{
	int nr = found("chain", 6, "reversal", 25, false), pos = found("chain", 6, "pos", 25, false);

	tap_ok(nr == 30 && pos < 3, "one reversal after the other leads deep (%d of 30 searches, %d with pos)", nr, pos);
}

/* One preemption comes first, wherever it is among 200 steps. */
static void test_near(void)
{
	int nr = found("lostupdate", 100, "reversal", 3, false);

	tap_ok(nr == 30, "what needs one preemption comes at once (%d of 30 searches)", nr);
}

/*
 * Two long stops: 2 of 81 classes fail. Where priorities decide behind an aim, what comes of its execution is further
 * away, and some searches take longer. Names of objects that depend on the order change nothing of it.
 */
static void test_rare(void)
{
	int nr = found("bakery", 0, "reversal", 12, false), numbered = found("bakery", 0, "reversal", 12, true);

	tap_ok(nr >= 29 && numbered >= 29, "two long stops come soon (%d and %d of 30 searches)", nr, numbered);
}

/*
 * A task that goes on after a wait for a condition takes its lock again: that comes before or behind what others do under it,
 * though going on names nothing else that matters to another process.
 */
static void test_woken(void)
{
	const struct zug_label lock = { .op = ZUG_OP_LOCK, .object = 7, .flags = zug_op_flags(ZUG_OP_LOCK), .site = 1 };
	const struct zug_label woken = { .op = ZUG_OP_RESUME, .object = 8, .object2 = 7, .site = 2 }, other = { .op = ZUG_OP_RESUME };
	struct access a = access_likely(&lock), b = access_likely(&woken), c = access_likely(&other);

	tap_ok(access_dependent(&a, &b) && access_dependent(&b, &a) && !access_dependent(&a, &c) && !access_dependent(&b, &c),
	       "who is woken wants its lock again");
}

/* In a portfolio, too: the samples of others do not lead it away. */
static void test_portfolio(void)
{
	int nr = found("bakery", 0, "portfolio", 35, false);

	tap_ok(nr >= 24, "as a member of a portfolio it goes on from its own executions (%d of 30 searches)", nr);
}

/*
 * What concerns each process alone is no aim, and that a signal is handled before it is sent is none: there would be more of
 * them than there is room for. Nor does it order what else they do: a look that comes before it can come after what follows
 * the other's. That something is closed is one that can wait.
 */
static void test_own_affairs(enum shell_affairs affairs, int aims, const char *what)
{
	int nr = 0;

	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct search *s = model_search("reversal", seed, 1);
		bool found = shells_run(s, search_begin_base(s), NULL, affairs);

		for (int i = 0; i < aims && !found; i++)
			found = shells_run(s, search_begin(s), NULL, affairs);
		nr += found;
		search_free(s);
	}
	tap_ok(nr == 30, "that processes %s does not hide what they have in common (%d of 30 searches)", what, nr);
}

int main(void)
{
	test_own_affairs(SHELL_SIGNALS, 1, "say how signals are handled");
	test_own_affairs(SHELL_HANDLES, 1, "handle signals");
	test_own_affairs(SHELL_CLOSES, 1, "close what they have not opened");
	test_own_affairs(SHELL_SLEEPS, 1, "sleep and wait for signals");
	test_own_affairs(SHELL_LOOKS_FIRST, 2, "say how signals are handled behind a look");
	test_deep();
	test_near();
	test_rare();
	test_woken();
	test_portfolio();
	return tap_done();
}
