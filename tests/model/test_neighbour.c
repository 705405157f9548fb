/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_neighbour.c - the neighbour of a minimal failing schedule passes, parts from it where it is said to, and the
 * pair of operations is in one order in the one and in the other order in the other
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "search/access.h"
#include "search/critical.h"
#include "search/minimize.h"
#include "search/neighbour_internal.h"
#include "search/pair_order.h"
#include "search/search_internal.h"
#include "search/torn.h"
#include "explained.h"
#include "gen.h"
#include "programs.h"
#include "tap.h"

static void test_programs(void)
{
	static const struct { const char *family; uint32_t n; } on[] = {
		{ "lostupdate", 0 }, { "lostupdate", 20 }, { "abba", 3 }, { "philosophers", 3 }, { "reorder", 3 },
		{ "twostage", 2 }, { "lostwakeup", 5 }, { "chain", 4 }, { "window", 3 },
	};

	for (size_t i = 0; i < sizeof(on) / sizeof(on[0]); i++) {
		struct program *p = program_new(on[i].family, on[i].n);
		struct explained_tally t = { 0 };

		for (uint64_t seed = 1; seed <= 10; seed++) {
			uint32_t order[EXPLAINED_ORDER];
			struct model_result r;

			if (model_fail(&p->model, seed, 5000, &r, order, EXPLAINED_ORDER))
				explained_check(&p->model, order, r.steps, r.outcome, &t);
		}
		explained_report(p->name, &t);
		tap_ok(t.found == t.failures && !t.unpaired, "%s: every failure has a neighbour with a pair", p->name);
		program_free(p);
	}
}

static void test_random_programs(void)
{
	struct gen_program *p = malloc(sizeof(*p));
	int programs = tap_scale(400, 4000);
	struct explained_tally t = { 0 };

	for (int i = 0; i < programs; i++) {
		uint32_t order[EXPLAINED_ORDER];
		struct model_result r;
		struct rng rng;

		rng_seed(&rng, 7, (uint64_t)i);
		gen_program(p, &rng, GEN_ALL & ~GEN_CHOICE, 3, 14, 2);
		if (model_fail(&p->model, (uint64_t)i, 50, &r, order, EXPLAINED_ORDER))
			explained_check(&p->model, order, r.steps, r.outcome, &t);
	}
	free(p);
	explained_report("random programs", &t);
}

/* What a lost update comes down to, and two locks in two orders. */
static void test_pair(const char *family, unsigned int first, unsigned int second)
{
	struct program *p = program_new(family, 10);
	uint32_t order[EXPLAINED_ORDER];
	struct neighbour_result n;
	struct model_result r;
	uint64_t failure, nr;
	struct search *s;

	model_fail(&p->model, 4, -1, &r, order, EXPLAINED_ORDER);
	failure = r.outcome;
	nr = explained_minimal(&p->model, order, r.steps, failure);
	s = neighbour_new(&explained_options, order, nr, failure, 0, NULL, 0);
	while (model_run(&p->model, s, &r, NULL, 0) == SEARCH_GO)
		;
	neighbour_result(s, &n);
	tap_ok(n.found && n.alone && n.nr_pairs && n.first.label.op == first && n.second.label.op == second &&
	       n.first.label.object == n.second.label.object, "%s: its pair (%s, %s)", family,
	       zug_op_name(n.first.label.op), zug_op_name(n.second.label.op));
	search_free(s);
	s = neighbour_new(&explained_options, order, nr, failure + 1, 0, NULL, 0);
	while (model_run(&p->model, s, &r, NULL, 0) == SEARCH_GO)
		;
	neighbour_result(s, &n);
	tap_ok(!n.reproduced && !n.found && n.trials == 1, "%s: a schedule that fails in another way has none", family);
	search_free(s);
	s = neighbour_new(&explained_options, order, nr, failure, 1, NULL, 0);
	while (model_run(&p->model, s, &r, NULL, 0) == SEARCH_GO)
		;
	neighbour_result(s, &n);
	tap_ok(n.reproduced && !n.found && !n.all && n.trials == 1, "%s: the bound on trials is kept", family);
	search_free(s);
	program_free(p);
}

/* A wait for a condition gives its lock back: what takes the lock next could have come before the waiter took it. */
static void test_gate(void)
{
	struct program *p = program_new("gate", 2);
	int named = 0, nr = 0;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct neighbour_result n;
		uint32_t order[EXPLAINED_ORDER];
		struct model_result r;
		struct search *s;
		uint64_t steps;

		if (!model_fail(&p->model, seed, 100, &r, order, EXPLAINED_ORDER))
			continue;
		nr++;
		steps = explained_minimal(&p->model, order, r.steps, r.outcome);
		s = neighbour_new(&explained_options, order, steps, r.outcome, 0, NULL, 0);
		while (model_run(&p->model, s, &r, NULL, 0) == SEARCH_GO)
			;
		neighbour_result(s, &n);
		named += n.found && n.alone && n.first.task < 2 && n.second.task == 2 && n.first.label.op == ZUG_OP_LOCK &&
			 n.second.label.op == ZUG_OP_LOCK;
		search_free(s);
	}
	tap_ok(nr > 5 && named == nr, "a waiter's lock and the opener's are named (%d of %d)", named, nr);
	program_free(p);
}

/* Updates that others come into without any preemption: the first of them is named, when all are whole and it passes. */
static void test_torn(uint32_t clerks)
{
	struct program *p = program_new("clerks", clerks);
	struct search *s = model_search("preemption", 1, 1);
	struct neighbour_result n;
	struct model_result r;
	uint32_t order[EXPLAINED_ORDER];

	if (model_run(&p->model, s, &r, order, EXPLAINED_ORDER) != SEARCH_GO || !r.failed)
		abort();
	search_free(s);
	s = neighbour_new(&explained_options, order, r.steps, r.outcome, 0, NULL, 0);
	while (model_run(&p->model, s, &r, NULL, 0) == SEARCH_GO)
		;
	neighbour_result(s, &n);
	tap_ok(n.found && n.alone == (clerks == 2) && n.first.label.op == ZUG_OP_DATA_READ &&
	       n.second.label.op == ZUG_OP_DATA_WRITE && n.first.label.object == n.second.label.object &&
	       n.first.failing < n.second.failing && n.second.passing < n.first.passing && !n.torn &&
	       n.trials <= (clerks > 4 ? clerks : 20), "%s: what is read before another writes it, in %llu executions", p->name,
	       (unsigned long long)n.trials);
	search_free(s);
	program_free(p);
}

static bool same_op(const struct neighbour_op *a, const struct neighbour_op *b)
{
	return a->task == b->task && a->label.op == b->label.op && a->failing == b->failing && a->passing == b->passing;
}

/* Objects that have another id in every schedule are told from each other all the same. */
static void test_numbered(const char *family, uint32_t n)
{
	struct program *p = program_new(family, n);
	struct neighbour_result r[2];
	int differ = 0, renamed = 0;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		uint32_t order[EXPLAINED_ORDER];
		struct model_result m;
		uint64_t nr, failure;
		struct search *s;

		model_fail(&p->model, seed, -1, &m, order, EXPLAINED_ORDER);
		failure = m.outcome;
		nr = explained_minimal(&p->model, order, m.steps, failure);
		for (int k = 0; k < 2; k++) {
			struct model model = p->model;

			model.numbered = k;
			s = neighbour_new(&explained_options, order, nr, failure, 0, NULL, 0);
			while (model_run(&model, s, &m, NULL, 0) == SEARCH_GO)
				;
			neighbour_result(s, &r[k]);
			search_free(s);
		}
		differ += r[0].trial != r[1].trial || r[0].part != r[1].part || r[0].nr_pairs != r[1].nr_pairs ||
			  !same_op(&r[0].first, &r[1].first) || !same_op(&r[0].second, &r[1].second);
		renamed += r[1].first.label.object != r[1].second.label.object;
	}
	tap_ok(!differ, "%s: numbered objects make no difference (in %d of 20 they make one; in %d the pair's has two numbers)",
	       p->name, differ, renamed);
	program_free(p);
}

/* The pair that is tried first is on what the last operation of the failing execution acts on. */
static bool is_on_last(const struct model *m, const uint32_t *order, uint64_t nr, uint64_t failure, bool misuse)
{
	struct search *s = neighbour_new(&explained_options, order, nr, failure, 0, NULL, 0);
	const struct neighbour *n = search_state(s);
	struct model_result r;
	uint64_t last = 0;
	uint32_t task;
	bool on = false;

	if (misuse)
		neighbour_set_misuse(s);
	if (model_run(m, s, &r, NULL, 0) == SEARCH_GO && n->nr_pairs) {
		last = n->led.labels[n->led.nr - 1].object;
		on = critical_label(&n->failing, n->pairs[0].first, &task)->object == last &&
		     critical_label(&n->failing, n->pairs[0].second, &task)->object == last;
	}
	search_free(s);
	return on;
}

/* Where the last operation is the failure, pairs on its object come first. */
static void test_misuse(const char *family, uint32_t n)
{
	struct program *p = program_new(family, n);
	int nr = 0, without = 0, misuse = 0;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		uint32_t order[EXPLAINED_ORDER];
		struct model_result r;

		if (!model_fail(&p->model, seed, 5000, &r, order, EXPLAINED_ORDER))
			continue;
		nr++;
		without += is_on_last(&p->model, order, r.steps, r.outcome, false);
		misuse += is_on_last(&p->model, order, r.steps, r.outcome, true);
	}
	tap_ok(nr > 5 && misuse == nr && without < nr, "%s: pairs on what is misused come first (%d of %d; of another failure %d)",
	       p->name, misuse, nr, without);
	program_free(p);
}

/*
 * Readers of a lock commute, also when one gives it back: what a reader has seen before it waited for the lock again is
 * reversed with the other's writing, and not with the reading of a third.
 */
static void test_readers(void)
{
	enum { R = ZUG_OP_RDLOCK, U = ZUG_OP_RWUNLOCK, W = ZUG_OP_WRLOCK };
	uint32_t tasks[] = { 2, 2, 1, 1, 1, 1, 2, 2 };
	static const uint8_t ops[] = { R, U, R, U, W, U, W, U };
	struct zug_label labels[8];
	uint32_t births[3] = { 0, 0, 0 }, parents[3] = { SEARCH_NO_TASK, 0, 0 }, order[9];
	struct schedule schedule = { .tasks = tasks, .labels = labels, .nr = 8 };
	struct critical c = { .s = &schedule, .births = births, .parents = parents, .nr_tasks = 3 };
	struct critical_pair *pairs;
	bool upgrade = false, between_readers = false, before_it = false;
	size_t nr, steps;

	for (int i = 0; i < 8; i++)
		labels[i] = (struct zug_label){ .op = ops[i], .object = 77, .site = 100 + i };
	if (critical_pairs(&c, 100, &pairs, &nr))
		abort();
	for (size_t i = 0; i < nr; i++) {
		between_readers |= pairs[i].second == 2 || pairs[i].second == 3;
		if (pairs[i].first != 0 || pairs[i].second != 4)
			continue;
		upgrade = true;
		steps = critical_reverse(&c, &pairs[i], order);
		before_it = steps == 8 && order[0] == 1 && order[1] == 1 && order[2] == 1 && order[3] == 2;
	}
	free(pairs);
	tap_ok(upgrade && !between_readers, "readers: the upgrade is a pair, two readers are none");
	tap_ok(before_it, "readers: the writer comes before the other reader when it is reversed");
}

/*
 * Two shells (1, 2) whose children (3, 4) read a file that the shells then write: task 2 writes over what task 1 has
 * written. The children only look at it, the shells open it to write; the first shell's update is whole.
 */
static void test_sides(void)
{
	enum { O = ZUG_OP_OPEN, S = ZUG_OP_STAT, R = ZUG_OP_READ, C = ZUG_OP_CLOSE, W = ZUG_OP_WRITE };
	uint32_t tasks[] = { 3, 3, 3, 4, 4, 4, 1, 1, 1, 2, 2, 0 };
	static const uint8_t ops[] = { O, S, R, O, S, R, O, C, W, O, W, ZUG_OP_UNLINK };
	struct zug_label labels[12];
	uint32_t births[5] = { 0 }, parents[5] = { SEARCH_NO_TASK, 0, 0, 1, 2 };
	struct schedule schedule = { .tasks = tasks, .labels = labels, .nr = 12 };
	struct critical c = { .s = &schedule, .births = births, .parents = parents, .nr_tasks = 5 };
	struct torn t[8];
	size_t nr;

	for (int i = 0; i < 12; i++)
		labels[i] = (struct zug_label){ .op = ops[i], .object = 77, .site = 100 + i };
	nr = torn_updates(&c, 0, t, 8);
	tap_ok(nr == 1 && t[0].look == 3 && t[0].read == 5 && t[0].between == 8 && t[0].own == 9 && t[0].object == 77,
	       "sides: what a child has read, another shell's write, and the shell's own (%zu)", nr);
	tap_ok(!torn_updates(&c, 78, t, 8), "sides: no update of another object");
	/* the second shell's child reads it once more when the first has written */
	labels[6].op = W;
	labels[7].op = R;
	tasks[7] = 4;
	labels[8] = labels[10];
	tasks[8] = 2;
	schedule.nr = 9;
	tap_ok(!torn_updates(&c, 0, t, 8), "sides: what is read again is not torn");
}

/*
 * Two clients each have a child that asks a server for a number and then one that sets it to one more. They share nothing but
 * the server, so that no two operations of theirs depend on each other: it fails when the second one asks before the first one
 * has set it. Task 1 is the server, 2 and 3 are the clients, 4 and 5 the children of 2, 6 and 7 those of 3.
 */
static void test_siblings(void)
{
	enum { NUMBER, OP, ANSWER = 3, ARGUMENT = 5, GET = 1, SET, SERVER_SEM = 0 };
	struct model_step code[8][128], *step;
	struct model m = { .name = "siblings", .nr_tasks = 8, .nr_started = 1, .parent = { 0, 0, 0, 0, 2, 2, 3, 3 } };
	uint32_t order[EXPLAINED_ORDER], tasks[EXPLAINED_ORDER];
	struct neighbour_result n;
	struct model_result r;
	struct search *s;
	uint64_t nr;
	bool failed;

#define ADD(t, ...)	(code[t][m.len[t]] = (struct model_step){ __VA_ARGS__ }, &code[t][m.len[t]++])
	for (uint8_t t = 1; t < 4; t++)
		ADD(0, M_FORK, t, 0, 0, 0);
	for (uint8_t t = 2; t < 4; t++)
		ADD(0, M_JOIN, t, 0, 0, 0);
	ADD(0, M_READ, NUMBER, 0, 0, 0);
	ADD(0, M_ASSERT, 0, 0, 2, 0);
	for (int request = 0; request < 4; request++) {
		struct model_step *ends[3];

		ADD(1, M_SEM_WAIT, SERVER_SEM, 0, 0, 0);
		for (uint8_t c = 0; c < 2; c++) {
			struct model_step *none, *set, *got;

			ADD(1, M_READ, OP + c, 0, 0, 0);
			none = ADD(1, M_JUMP_EQ, 0, 0, 0, 0);
			set = ADD(1, M_JUMP_EQ, 0, 0, SET, 0);
			ADD(1, M_READ, NUMBER, 1, 0, 0);
			ADD(1, M_STORE, ANSWER + c, 1, 0, 0);
			got = ADD(1, M_JUMP, 0, 0, 0, 0);
			set->to = (uint16_t)m.len[1];
			ADD(1, M_READ, ARGUMENT + c, 1, 0, 0);
			ADD(1, M_STORE, NUMBER, 1, 0, 0);
			got->to = (uint16_t)m.len[1];
			ADD(1, M_WRITE, OP + c, 0, 0, 0);
			ADD(1, M_SEM_POST, 1 + c, 0, 0, 0);
			ends[c] = ADD(1, M_JUMP, 0, 0, 0, 0);
			none->to = (uint16_t)m.len[1];
		}
		ends[0]->to = ends[1]->to = (uint16_t)m.len[1];
	}
	for (uint8_t c = 0; c < 2; c++) {
		for (uint8_t t = 4 + 2 * c; t < 6 + 2 * c; t++) {
			ADD(2 + c, M_FORK, t, 0, 0, 0);
			ADD(2 + c, M_JOIN, t, 0, 0, 0);
			if (t % 2) {
				ADD(t, M_READ, ANSWER + c, 0, 0, 0);
				ADD(t, M_STORE, ARGUMENT + c, 0, 1, 0);
			}
			step = ADD(t, M_WRITE, OP + c, 0, GET, 0);
			step->imm = t % 2 ? SET : GET;
			ADD(t, M_SEM_POST, SERVER_SEM, 0, 0, 0);
			ADD(t, M_SEM_WAIT, 1 + c, 0, 0, 0);
		}
	}
#undef ADD
	for (int t = 0; t < 8; t++)
		m.code[t] = code[t];
	if (!model_fail(&m, 1, 1000, &r, order, EXPLAINED_ORDER))
		abort();
	nr = explained_minimal(&m, order, r.steps, r.outcome);
	s = neighbour_new(&explained_options, order, nr, r.outcome, 0, NULL, 0);
	while (model_run(&m, s, &r, NULL, 0) == SEARCH_GO)
		;
	neighbour_result(s, &n);
	search_free(s);
	tap_ok(n.reproduced && n.found && n.nr_pairs && !n.alone && n.first.failing < n.second.failing &&
	       n.second.passing < n.first.passing,
	       "siblings: found by trial %llu of %llu", (unsigned long long)n.trial, (unsigned long long)n.trials);
	tap_ok(n.first.task == 6 && n.second.task == 5 && n.second.label.op == ZUG_OP_DATA_WRITE,
	       "siblings: that the one asks (task %u, op %u) before the other has set it (task %u, op %u) decides", n.first.task,
	       n.first.label.op, n.second.task, n.second.label.op);
	tap_ok(n.trials <= 16, "siblings: the places are found by halves (%llu trials)", (unsigned long long)n.trials);
	explained_trial(&m, order, nr, r.outcome, n.trial, tasks, &failed);
	tap_ok(!failed, "siblings: the trial that is told passes");
}

/* The places of tasks 1 and 2. */
static bool is_servers(const void *ctx, uint64_t site)
{
	return site >> 16 == 1 || site >> 16 == 2;
}

/*
 * Two clients, 3 and 4, that are programs of their own, let a thread of a server, 1 or 2, act and write one file after another.
 * It fails when thread 1 reads the number before thread 2 has set it. The clients' files are 20 pairs, and to let one client
 * wait for the other passes, too; with 'users' the server's own pair is tried before all that.
 */
static void test_own_first(bool known)
{
	enum { NUMBER, SEEN, FILES, NR_FILES = 20, ANSWERS = 2 };
	struct model_step code[5][64];
	struct model m = { .name = "own", .nr_tasks = 5, .nr_started = 1 };
	uint32_t order[EXPLAINED_ORDER];
	struct neighbour_result n;
	struct model_result r;
	struct search *s;
	bool servers;
	uint64_t nr;

#define ADD(t, ...)	code[t][m.len[t]++] = (struct model_step){ __VA_ARGS__ }
	for (uint8_t t = 1; t < 5; t++)
		ADD(0, M_FORK, t, 0, 0, 0);
	for (uint8_t t = 3; t < 5; t++)
		ADD(0, M_JOIN, t, 0, 0, 0);
	ADD(0, M_READ, SEEN, 0, 0, 0);
	ADD(0, M_ASSERT, 0, 0, 1, 0);
	for (uint8_t c = 0; c < 2; c++) {
		ADD(1 + c, M_SEM_WAIT, c, 0, 0, 0);
		if (c)
			ADD(1 + c, M_WRITE, NUMBER, 0, 1, 0);
		else
			ADD(1 + c, M_READ, NUMBER, 0, 0, 0);
		if (!c)
			ADD(1 + c, M_STORE, SEEN, 0, 0, 0);
		ADD(1 + c, M_SEM_POST, ANSWERS + c, 0, 0, 0);
		ADD(3 + c, M_EXEC, 3 + c, 0, 0, 0);
		ADD(3 + c, M_SEM_POST, c, 0, 0, 0);
		for (uint8_t i = 0; i < NR_FILES; i++)
			ADD(3 + c, M_WRITE, FILES + i, 0, c, 0);
		ADD(3 + c, M_SEM_WAIT, ANSWERS + c, 0, 0, 0);
	}
#undef ADD
	for (int t = 0; t < 5; t++)
		m.code[t] = code[t];
	if (!model_fail(&m, 1, 1000, &r, order, EXPLAINED_ORDER))
		abort();
	nr = explained_minimal(&m, order, r.steps, r.outcome);
	s = neighbour_new(&explained_options, order, nr, r.outcome, 0, NULL, 0);
	if (known)
		neighbour_set_users(s, is_servers, NULL);
	while (model_run(&m, s, &r, NULL, 0) == SEARCH_GO)
		;
	neighbour_result(s, &n);
	search_free(s);
	servers = n.alone && n.first.task + n.second.task == 3 && n.first.label.object == n.second.label.object;
	tap_ok(n.reproduced && n.found && servers == known && (!known || n.trials <= 6),
	       "own: %s (tasks %u and %u, trial %llu)", known ? "the server's own pair comes first" :
	       "where nothing says what is the user's, other pairs come first", n.first.task, n.second.task,
	       (unsigned long long)n.trials);
}

static bool is_low(const void *ctx, uint64_t site)
{
	return site < 5;
}

/*
 * Task 1 looks at two things under one lock, is preempted, and changes one of them under that lock; in between task 2 does all of
 * it. Nothing tells what the lock protects. What comes first are task 1's first look and the last that task 2 does, as places of
 * the user's; not the counter that both use later, nor, where task 1 was not preempted, another pair.
 */
static void test_span(bool preempted)
{
	enum { MORE = 20, LOCK = 77, COUNTER = 78, LOOK = 1, CHANGE = 3, COUNT = 4, EXEC = 9, CLIENTS = 10 };
	static const struct { uint8_t task, site, object; } steps[] = {
		{ 0, EXEC, 0 }, { 1, LOOK, LOCK }, { 1, CLIENTS, LOCK }, { 1, LOOK, LOCK }, { 1, CLIENTS, LOCK },
		{ 2, LOOK, LOCK }, { 2, CLIENTS, LOCK }, { 2, CHANGE, LOCK }, { 2, CLIENTS, LOCK }, { 1, CHANGE, LOCK },
		{ 1, CLIENTS, LOCK }, { 1, COUNT, COUNTER }, { 2, COUNT, COUNTER }, { 1, COUNT, COUNTER }, { 2, COUNT, COUNTER },
	};
	enum { NR = sizeof(steps) / sizeof(*steps) };
	struct zug_label labels[NR] = { 0 };
	uint32_t tasks[NR];
	struct difference stop = { .task = 1, .next = 2, .preemption = preempted, .step = 5 };
	struct neighbour n = { .fails = { .tasks = tasks, .labels = labels, .nr = NR, .diffs = &stop, .nr_diffs = 1 },
			       .nr_pairs = MORE, .users = is_low, .pairs = calloc(MORE, sizeof(*n.pairs)) };
	const struct critical_pair *p;

	for (int i = 0; i < NR; i++) {
		tasks[i] = steps[i].task;
		labels[i] = (struct zug_label){ .op = steps[i].site == EXEC ? ZUG_OP_EXEC : ZUG_OP_ATOMIC_RMW,
						.object = steps[i].object, .site = steps[i].site, .flags = ZUG_L_WRITE };
	}
	for (int i = 0; n.pairs && i < MORE; i++)
		n.pairs[i] = (struct critical_pair){ .first = 2, .second = 6 };
	if (!n.pairs || settled_steps(&n.fails, &n.fails_steps))
		abort();
	n.led = n.fails;
	n.failing = neighbour_critical(&n.led, &n.births);
	if (neighbour_take_own_first(&n))
		abort();
	p = n.pairs;
	if (preempted)
		tap_ok(n.nr_own == 1 && p->first == 1 && p->second == 8 && p->wide && p->own && n.nr_pairs == MORE + 1,
		       "span: from the first look of a preempted task to the other's change (%zu, %zu; %zu own)", p->first,
		       p->second, n.nr_own);
	else
		tap_ok(n.nr_own == 2 && p->first == 1 && p[1].first == 12 && p[1].second == 13,
		       "span: without a preemption the rarest place comes first (%zu, then %zu; %zu own)", p->first, p[1].first,
		       n.nr_own);
	settled_release(&n.fails_steps);
	free(n.pairs);
}

/*
 * Another execution passes, and two pairs of its operations come in another order: what a process goes on with when another one
 * has closed its end of a pipe, and a file that one reads and the other writes. The file is what they have for its own sake.
 */
static void test_processes_follow(void)
{
	enum { PIPE = 1, OTHER = 2 };
	const uint64_t pipe = ZUG_OBJECT_NUMBERED | PIPE;
	uint32_t first[] = { 1, 1, 2, 2 }, then[] = { 2, 2, 1, 1 };
	const struct zug_label closes = { .op = ZUG_OP_CLOSE, .object = pipe, .flags = ZUG_L_WRITE, .site = 1 };
	const struct zug_label reads = { .op = ZUG_OP_READ, .object = 77, .site = 2 };
	const struct zug_label goes_on = { .op = ZUG_OP_RESUME, .object = pipe, .flags = ZUG_L_WRITE, .site = 3 };
	const struct zug_label writes = { .op = ZUG_OP_WRITE, .object = 77, .flags = ZUG_L_WRITE, .site = 4 };
	struct zug_label fails[] = { closes, reads, goes_on, writes }, passes[] = { goes_on, writes, closes, reads };
	struct neighbour n = { .phase = INSTEAD, .fails = { .tasks = first, .labels = fails, .nr = 4 },
			       .now = { .tasks = then, .labels = passes, .nr = 4 } };
	struct neighbour_result r = { 0 };

	if (settled_steps(&n.fails, &n.fails_steps) || settled_steps(&n.now, &n.now_steps) || neighbour_compare(&n, &r))
		abort();
	tap_ok(r.nr_pairs == 2 && r.first.label.op == ZUG_OP_READ && r.second.label.op == ZUG_OP_WRITE,
	       "processes: the file is told (op %u, op %u of %llu pairs)", r.first.label.op, r.second.label.op,
	       (unsigned long long)r.nr_pairs);
	fails[1].object = passes[3].object = 78;
	if (neighbour_compare(&n, &r))
		abort();
	tap_ok(r.nr_pairs == 1 && r.first.label.op == ZUG_OP_CLOSE && r.second.label.op == ZUG_OP_RESUME,
	       "processes: where there is no other pair the pipe is (op %u, op %u)", r.first.label.op, r.second.label.op);
	settled_release(&n.fails_steps);
	settled_release(&n.now_steps);
}

/*
 * Job 1 writes a file, 77, and closes another one, 78, that nobody changes; then job 2 begins, looks at that one and closes it,
 * and reads the first. Of what the halves have come to so far only the write and the read say something.
 */
static void test_siblings_decide(void)
{
	uint32_t tasks[] = { 1, 1, 2, 2, 2, 2 }, at[] = { 0, 0, 0 }, parents[] = { SEARCH_NO_TASK, 0, 0 };
	struct zug_label labels[] = {
		{ .op = ZUG_OP_WRITE, .object = 77, .flags = ZUG_L_WRITE }, { .op = ZUG_OP_CLOSE, .object = 78, .flags = ZUG_L_WRITE },
		{ .op = ZUG_OP_BEGIN }, { .op = ZUG_OP_STAT, .object = 78 },
		{ .op = ZUG_OP_CLOSE, .object = 78, .flags = ZUG_L_WRITE }, { .op = ZUG_OP_READ, .object = 77, .flags = ZUG_L_WRITE },
	};
	struct neighbour n = { .now = { .tasks = tasks, .labels = labels, .nr = 6 },
			       .births_now = { .at = at, .parents = parents, .nr = 3 },
			       .siblings = { .now = { 1, 2 }, .first_step = 1, .second_step = 2 } };
	uint64_t first, second;

	if (settled_steps(&n.now, &n.now_steps))
		abort();
	tap_ok(neighbour_siblings_decide(&n, &first, &second) && first == 0 && second == 5,
	       "siblings: what decides is seen by the other one (steps %llu and %llu)", (unsigned long long)first,
	       (unsigned long long)second);
	labels[4].op = ZUG_OP_FLOCK;
	tap_ok(neighbour_siblings_decide(&n, &first, &second) && first == 1 && second == 3,
	       "siblings: to close a file that may be locked is (steps %llu and %llu)", (unsigned long long)first,
	       (unsigned long long)second);
	n.now.nr = 5;
	labels[4].op = ZUG_OP_CLOSE;
	tap_ok(!neighbour_siblings_decide(&n, &first, &second), "siblings: without such steps nothing does");
	settled_release(&n.now_steps);
}

/*
 * Job 1 removes file 77, which job 2 was to open when it had opened its output, 80, as others do; or it writes a new one, 90,
 * and moves it to 77. What was held is job 2's first step, and the first that was waited for: those on one file are told.
 */
static void test_siblings_meet(void)
{
	enum { O = ZUG_OP_OPEN, W = ZUG_OP_WRITE };
	uint32_t passes[] = { 0, 1, 1, 2, 2 }, fails[] = { 0, 2, 2, 1, 1 };
	uint32_t at[] = { 0, 0, 0 }, parents[] = { SEARCH_NO_TASK, 0, 0 };
	const struct zug_label others = { .op = O, .object = 80, .object2 = 90, .flags = ZUG_L_WRITE };
	const struct zug_label output = { .op = O, .object = 80, .flags = ZUG_L_WRITE, .site = 3 };
	const struct zug_label opens = { .op = O, .object = 77, .site = 4 };
	struct zug_label one[] = {
		{ .op = ZUG_OP_UNLINK, .object = 77, .flags = ZUG_L_WRITE, .site = 1 }, { .op = ZUG_OP_STAT, .object = 5, .site = 2 },
	};
	struct zug_label now[] = { others, one[0], one[1], output, opens }, then[] = { others, output, opens, one[0], one[1] };
	struct neighbour n = { .now = { .tasks = passes, .labels = now, .nr = 5 },
			       .fails = { .tasks = fails, .labels = then, .nr = 5 },
			       .births_now = { .at = at, .parents = parents, .nr = 3 },
			       .siblings = { .now = { 1, 2 }, .first_step = 1, .second_step = 3 } };
	uint64_t first = 0, second = 0;

	if (settled_steps(&n.now, &n.now_steps))
		abort();
	tap_ok(neighbour_siblings_decide(&n, &first, &second) && first == 1 && second == 4,
	       "siblings: the step on the same file is told (steps %llu and %llu)", (unsigned long long)first,
	       (unsigned long long)second);
	now[1] = then[3] = (struct zug_label){ .op = W, .object = 90, .flags = ZUG_L_WRITE, .site = 1 };
	now[2] = then[4] = (struct zug_label){ .op = ZUG_OP_RENAME, .object = 90, .object2 = 77, .flags = ZUG_L_WRITE, .site = 2 };
	tap_ok(neighbour_siblings_decide(&n, &first, &second) && first == 2 && second == 4,
	       "siblings: so is what the one does next (steps %llu and %llu)", (unsigned long long)first,
	       (unsigned long long)second);
	now[1] = then[3] = one[0];
	now[2] = then[4] = (struct zug_label){ .op = ZUG_OP_END, .object = 90, .flags = ZUG_L_WRITE, .site = 5 };
	n.siblings.first_step = 2;
	tap_ok(neighbour_siblings_decide(&n, &first, &second) && first == 1 && second == 4,
	       "siblings: and what it did before it ended (steps %llu and %llu)", (unsigned long long)first,
	       (unsigned long long)second);
	/* job 2 has done more there before it opened the file */
	then[2].object = 81;
	fails[3] = 2;
	then[3] = opens;
	tap_ok(neighbour_in_failing(&n, 4) == 3 && neighbour_in_failing(&n, 1) == SIZE_MAX,
	       "siblings: of a task that has gone another way the same operation on the same file is meant (steps %zu and %zu)",
	       neighbour_in_failing(&n, 4), neighbour_in_failing(&n, 1));
	then[2] = opens;
	fails[3] = 1;
	n.siblings.first_step = 1;
	/* as it came in the failing execution, too */
	fails[1] = fails[2] = 1;
	fails[3] = fails[4] = 2;
	memcpy(then + 1, now + 1, 4 * sizeof(*now));
	tap_ok(neighbour_siblings_decide(&n, &first, &second) && first == 1 && second == 3,
	       "siblings: what came in the same order is not (steps %llu and %llu)", (unsigned long long)first,
	       (unsigned long long)second);
	settled_release(&n.now_steps);
}

/* The neighbour of that schedule; each execution behind the first is given up once before it is made. How many were made. */
static uint64_t with_gaps(const struct model *m, const uint32_t *order, uint64_t nr, uint64_t failure, struct neighbour_result *n)
{
	const struct search_end given_up = { .result = SEARCH_ABANDONED };
	struct search *s = neighbour_new(&explained_options, order, nr, failure, 0, NULL, 0);
	struct model_result r;
	uint64_t made = 0;

	while (model_run(m, s, &r, NULL, 0) == SEARCH_GO) {
		made++;
		if (search_begin(s) != SEARCH_GO)
			break;
		search_end(s, &given_up);
	}
	neighbour_result(s, n);
	search_free(s);
	return made;
}

/* An execution that was given up says nothing about its schedule: it is made again. */
static void test_given_up(void)
{
	struct program *p = program_new("lostupdate", 0);
	int same = 0, nr = 0;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct neighbour_result a, b;
		uint32_t order[EXPLAINED_ORDER];
		struct explained_tally all = { 0 };
		struct model_result r;
		uint64_t steps;

		if (!explained_first(&p->model, seed, 500, &all, &a) || !model_fail(&p->model, seed, 500, &r, order, EXPLAINED_ORDER))
			continue;
		nr++;
		steps = explained_minimal(&p->model, order, r.steps, r.outcome);
		same += with_gaps(&p->model, order, steps, r.outcome, &b) == a.trials && a.found && b.found &&
			a.alone == b.alone && a.first.label.site == b.first.label.site &&
			a.second.label.site == b.second.label.site;
	}
	tap_ok(nr > 5 && same == nr, "what was given up is tried once more (%d of %d explain the same)", same, nr);
	program_free(p);
}

int main(void)
{
	test_given_up();
	test_siblings();
	test_own_first(false);
	test_own_first(true);
	test_span(false);
	test_span(true);
	test_processes_follow();
	test_siblings_decide();
	test_siblings_meet();
	test_readers();
	test_sides();
	test_programs();
	test_random_programs();
	test_pair("lostupdate", ZUG_OP_DATA_READ, ZUG_OP_DATA_WRITE);
	test_pair("abba", ZUG_OP_LOCK, ZUG_OP_LOCK);
	for (uint32_t n = 2; n <= 5; n++)
		test_torn(n);
	test_gate();
	test_misuse("twostage", 4);
	test_misuse("reorder", 4);
	test_numbered("lostupdate", 0);
	test_numbered("lostupdate", 20);
	test_numbered("abba", 3);
	test_numbered("philosophers", 3);
	test_numbered("reorder", 3);
	test_numbered("twostage", 2);
	test_numbered("lostwakeup", 5);
	return tap_done();
}
