/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_reversal.c - reversal finds what is a few reversals away from the execution that never preempts
 */
#include "programs.h"
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

/* In a portfolio, too: the samples of others do not lead it away. */
static void test_portfolio(void)
{
	int nr = found("bakery", 0, "portfolio", 35, false);

	tap_ok(nr >= 24, "as a member of a portfolio it goes on from its own executions (%d of 30 searches)", nr);
}

/*
 * Two processes as shells are: each says AFFAIRS times how a signal of its own is handled; then one writes twice, and the
 * other reads.
 */
#define AFFAIRS	40

static struct zug_label step_of_shell(uint32_t task, uint32_t n)
{
	struct zug_label l = { .site = (uint64_t)(task + 1) << 32 | n };

	if (n < AFFAIRS) {
		l.op = ZUG_OP_SIGACTION;
		l.object = 100 + task;
	} else {
		l.op = task ? ZUG_OP_READ : ZUG_OP_WRITE;
		l.object = 1;
	}
	l.flags = zug_op_flags(l.op) & ~(n < AFFAIRS ? 0 : ZUG_L_ACQUIRE);
	return l;
}

/* True when the read came between the writes. */
static bool run_shells(struct search *s, bool base)
{
	static const uint32_t len[2] = { AFFAIRS + 2, AFFAIRS + 1 };
	struct search_point p = { .last = SEARCH_NO_TASK };
	struct search_end end = { .result = SEARCH_PASS };
	struct search_cand cand[2];
	uint32_t done[2] = { 0 };
	bool between = false;

	if ((base ? search_begin_base(s) : search_begin(s)) != SEARCH_GO)
		return false;
	for (; done[0] < len[0] || done[1] < len[1]; p.step++) {
		int i;

		p.nr = 0;
		for (uint32_t t = 0; t < 2; t++)
			if (done[t] < len[t])
				cand[p.nr++] = (struct search_cand){ .task = t, .parent = SEARCH_NO_TASK, .enabled = true,
								     .label = step_of_shell(t, done[t]) };
		p.cand = cand;
		i = search_pick(s, &p);
		if (i < 0)
			break;
		p.last = cand[i].task;
		between |= p.last == 1 && done[1] == AFFAIRS && done[0] == AFFAIRS + 1;
		done[p.last]++;
	}
	search_end(s, &end);
	return between;
}

/* What concerns each process alone is no aim: there would be more of them than there is room for. */
static void test_own_affairs(void)
{
	int nr = 0;

	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct search *s = model_search("reversal", seed, 1);
		bool found = run_shells(s, true);

		for (int i = 1; i < 4 && !found; i++)
			found = run_shells(s, false);
		nr += found;
		search_free(s);
	}
	tap_ok(nr == 30, "what processes do for themselves does not hide what they have in common (%d of 30 searches)", nr);
}

int main(void)
{
	test_own_affairs();
	test_deep();
	test_near();
	test_rare();
	test_portfolio();
	return tap_done();
}
