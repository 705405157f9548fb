/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_faults.c - which calls fail, or do less than they could: as the search decides, as a trace says, as a plan says
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "engine/faults.h"

#define STEPS 3

static int nr_tests, nr_failed;

static void ok(bool good, const char *what)
{
	nr_tests++;
	nr_failed += !good;
	printf("%sok %d - %s\n", good ? "" : "not ", nr_tests, what);
}

/* A world with one task, whose calls can do what is here. */
static struct {
	uint32_t possible;
	uint32_t amounts[WORLD_FAULT_AMOUNTS];
	unsigned int nr_amounts;
	int answer;
	int fault;		/* what was last done */
	uint32_t amount;
	unsigned int nr_done;
} calls;

static void can(struct world *w, const struct world_task *t, uint32_t wanted, struct world_faults *f)
{
	(void)w;
	(void)t;
	f->possible = calls.possible & wanted;
	for (int i = 0; i < FAULT_NR; i++) {
		memcpy(f->amounts[i], calls.amounts, sizeof(calls.amounts));
		f->nr_amounts[i] = FLOWS & 1u << i ? calls.nr_amounts : 0;
	}
}

static int make_it(struct world *w, struct world_task *t, int fault, uint32_t amount)
{
	(void)w;
	calls.fault = fault;
	calls.amount = amount;
	calls.nr_done++;
	if (!calls.answer && amount)
		t->label.object2 = fault_amount_id(FAULT_BYTES, 0, amount);
	return calls.answer;
}

static const struct world_ops ops = { .faults = can, .inject = make_it };
static struct world_task task;
static struct world world = { .ops = &ops, .tasks = &task, .nr_tasks = 1 };

static void stand(uint64_t site)
{
	task = (struct world_task){ .parent = WORLD_NO_TASK, .state = TASK_PARKED,
				    .label = { .op = ZUG_OP_READ, .object = 1, .site = site } };
	calls.fault = -1;
	calls.amount = 0;
}

static struct search *new_search(const char *strategy)
{
	struct search_options o = { .strategy = strategy, .seed = 1, .fair = 1, .preemptions = -1 };
	char err[256];

	return search_new(&o, err, sizeof(err));
}

static bool step(struct search *s, uint64_t nr)
{
	struct search_cand c = { .parent = SEARCH_NO_TASK, .enabled = true, .label = task.label };
	struct search_point p = { .step = nr, .last = nr ? 0 : SEARCH_NO_TASK, .nr = 1, .cand = &c };

	return search_pick(s, &p) == 0;
}

/* Searches three steps to the end; combos: a digit for what happens at each: 1 to 3 the read's amounts, 4 EINTR. */
static unsigned int all(struct faults *f, unsigned int *seen, size_t nr_seen)
{
	struct search_end pass = { .result = SEARCH_PASS };
	struct search *s = new_search("dfs");
	unsigned int executions = 0;

	memset(seen, 0, nr_seen * sizeof(*seen));
	while (s && search_begin(s) == SEARCH_GO && executions < 1000) {
		unsigned int combo = 0;

		faults_begin(f);
		for (uint64_t i = 0; i < STEPS; i++) {
			stand(i + 1);
			if (!step(s, i) || faults_decide(f, &world, s, NULL, false, 0))
				return 0;
			combo *= 5;
			if (calls.fault == FAULT_EINTR && task.label.op == ZUG_OP_FAIL_EINTR)
				combo += 4;
			else if (calls.fault == FLOW_SHORT_READ && task.label.op == ZUG_OP_SHORT_READ)
				combo += calls.amount == 1 ? 1 : calls.amount == 8 ? 2 : 3;
		}
		seen[combo]++;
		executions++;
		search_end(s, &pass);
	}
	search_free(s);
	return executions;
}

static void searched(void)
{
	struct faults f = { .mask = 1u << FLOW_SHORT_READ, .max = 1, .max_flows = 1 };
	static unsigned int seen[125];
	bool good;

	calls.possible = 1u << FLOW_SHORT_READ | 1u << FAULT_EINTR;
	memcpy(calls.amounts, (uint32_t[]){ 1, 8, 15 }, sizeof(calls.amounts));
	calls.nr_amounts = 3;
	/* none, or one of three amounts at one of three steps */
	ok(all(&f, seen, 125) == 10 && seen[1] == 1 && seen[10] == 1 && seen[75] == 1, "every amount at every call, once");
	f.mask = 1u << FAULT_EINTR;
	ok(all(&f, seen, 125) == 4 && seen[4] == 1 && seen[100] == 1, "what is not wanted does not happen");
	f.mask = calls.possible;
	/* and a fault at one of the three, or at one of two others than the flow's */
	ok(all(&f, seen, 125) == 10 + 3 + 3 * 2 * 3 && seen[4 + 5] == 1, "faults and flows have a budget each");
	f.max_flows = 3;
	good = all(&f, seen, 125) == 64 + 3 * 16;
	for (unsigned int i = 0; i < 64; i++)
		good &= seen[i / 16 * 25 + i / 4 % 4 * 5 + i % 4] == 1;
	ok(good, "as many flows as there are calls");
	calls.nr_amounts = 0;
	f = (struct faults){ .mask = 1u << FLOW_SHORT_READ, .max_flows = 1 };
	ok(all(&f, seen, 125) == 4, "one without an amount");
	calls.nr_amounts = 3;
	calls.answer = WORLD_FAULT_MISSED;
	/* that nothing was used up shows in the tree: each of three calls has four values */
	ok(all(&f, seen, 125) == 64 && seen[0] == 64 && !f.nr_flows, "a call that did not come so far is what it was");
	calls.answer = 0;
}

static void replayed(void)
{
	struct faults f = { .mask = 1u << FLOW_STDIN | 1u << FAULT_SHORT | 1u << FLOW_DELAY };
	struct trace_step want = { .label = { .op = ZUG_OP_SHORT_READ, .object2 = fault_amount_id(FAULT_BYTES, 0, 8) } };

	faults_begin(&f);
	calls.possible = f.mask;
	stand(1);
	ok(!faults_decide(&f, &world, NULL, &want, true, 0) && calls.fault == FLOW_STDIN && calls.amount == 8 &&
	   task.label.op == ZUG_OP_SHORT_READ && task.label.object2 == want.label.object2, "a replay: the same, as much");
	want.label.object2 = fault_amount_id(FAULT_BYTES, 0, 100);
	stand(1);
	faults_decide(&f, &world, NULL, &want, true, 0);
	ok(calls.amount == 15, "of less than there was all that can be");
	want.label = (struct zug_label){ .op = ZUG_OP_DELAYED, .object2 = fault_amount_id(FAULT_MS, 0, 100) };
	stand(1);
	faults_decide(&f, &world, NULL, &want, true, 0);
	ok(calls.fault == FLOW_DELAY && calls.amount == 100, "late by as much as it was");
	want.label = (struct zug_label){ .op = ZUG_OP_READ };
	stand(1);
	ok(!faults_decide(&f, &world, NULL, &want, true, 0) && calls.fault == -1, "nothing where nothing happened");
	want.label.op = ZUG_OP_LOST;
	stand(1);
	ok(!faults_decide(&f, &world, NULL, &want, true, 0) && calls.fault == -1, "nothing where it cannot happen");
}

/* The second read at site 7 of a trace in which the reads at 7 and 9 take turns. */
static void planned(const char *path)
{
	static char *const argv[] = { "test", NULL };
	const struct trace_header h = { .argv = argv, .cwd = "/", .envp = argv, .kernel = "", .zug_version = "",
					.strategy = "", .options = "{}" };
	struct faults f = { .mask = FLOWS };
	uint32_t zero = 0, last = TRACE_NO_TASK;
	char err[256];
	int ret;
	struct trace_writer *w = trace_create(path, &h, &ret);
	unsigned int where = 0;
	struct trace *t;

	trace_add_task(w, &(struct trace_task){ 0, TRACE_NO_TASK, 0, 1, 0, "test" });
	for (uint64_t i = 0; i < 4; i++) {
		struct zug_label l = { .op = ZUG_OP_READ, .site = i % 2 ? 9 : 7 };

		if (i == 2) {
			l.op = ZUG_OP_SHORT_READ;
			l.object2 = fault_amount_id(FAULT_BYTES, 0, 5);
		}
		trace_add_step(w, &(struct trace_step){ .step = i, .label = l, .last = last, .nr_enabled = 1, .enabled = &zero });
		last = 0;
	}
	trace_close(w, false);
	t = trace_open(path, err, sizeof(err));
	ok(t && !faults_make_plan(&f, t, UINT64_MAX, false), "a plan from a trace");
	calls.possible = FLOWS;
	/* another order: 9 9 7 7 */
	faults_begin(&f);
	for (unsigned int i = 0; i < 4; i++) {
		stand(i < 2 ? 9 : 7);
		faults_decide(&f, &world, NULL, NULL, false, 0);
		if (calls.fault == FLOW_SHORT_READ && calls.amount == 5)
			where = 10 * where + i;
	}
	ok(where == 3, "it happens at the same call in another schedule, and only there");
	ok(!faults_make_plan(&f, t, 2, false) && !f.nr_plan, "a plan without the only one");
	faults_free_plan(&f);
	trace_free(t);
}

static void names(void)
{
	ok(faults_of(~0u, ZUG_OP_FAIL_EINTR) == FAULT_EINTR && faults_of(FLOWS, ZUG_OP_SHORT_WRITE) == FLOW_SHORT_WRITE &&
	   faults_of(1u << FAULT_KILL, ZUG_OP_LOST) == -1 && faults_of(~0u, ZUG_OP_SPURIOUS) == FAULT_SPURIOUS,
	   "the fault behind an operation");
	ok(FLOWS & 1u << FLOW_DELAY && !(FLOWS & (1u << FAULT_SPURIOUS | 1u << FAULT_SHORT)), "which of them flow");
	ok(fault_amount(fault_amount_id(FAULT_BYTES, UINT32_MAX, UINT32_MAX)) == UINT32_MAX && !fault_amount(0) &&
	   !fault_amount(0x123456789abcdef0), "an amount, and what is none");
	ok(fault_amount_id(FAULT_MS, 1, 10) != fault_amount_id(FAULT_MS, 2, 10), "it is nothing that two tasks share");
}

int main(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/zug-test-faults-%d", getpid());
	names();
	searched();
	replayed();
	planned(path);
	unlink(path);
	printf("1..%d\n", nr_tests);
	return nr_failed != 0;
}
