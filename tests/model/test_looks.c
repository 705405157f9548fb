/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_looks.c - which of several operations is named: the look by which a task came to where it may not be, the change that a
 * wide pair stands for, and not a copy or a look that was true
 */
#include <stdlib.h>
#include <string.h>
#include "search/critical.h"
#include "search/neighbour_internal.h"
#include "search/search_internal.h"
#include "explained.h"
#include "tap.h"

/*
 * Two tasks look at each other's flag before they raise their own, so both come to what only one may use at a time. That one's
 * write comes between the other's write and its check decides, and so does each look: the looks are what is wrong.
 */
static void test_looks(void)
{
	enum { X = 2 };
	struct model_step code[2][16];
	struct model m = { .name = "looks", .nr_tasks = 2, .nr_started = 2, .parent = { 0, 0 } };
	struct explained_tally all = { 0 };
	int looks = 0, nr = 0;

	for (uint8_t t = 0; t < 2; t++) {
		struct model_step *raised;
		uint16_t n = 0;

		code[t][n++] = (struct model_step){ M_READ, 1 - t, 0, 0, 0 };
		raised = &code[t][n];
		code[t][n++] = (struct model_step){ M_JUMP_EQ, 0, 0, 1, 0 };
		code[t][n++] = (struct model_step){ M_WRITE, t, 0, 1, 0 };
		code[t][n++] = (struct model_step){ M_WRITE, X, 0, 1 + t, 0 };
		code[t][n++] = (struct model_step){ M_READ, X, 0, 0, 0 };
		code[t][n++] = (struct model_step){ M_ASSERT, 0, 0, 1 + t, 0 };
		raised->to = n;
		m.len[t] = n;
		m.code[t] = code[t];
	}
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct neighbour_result n;

		if (!explained_first(&m, seed, 100, &all, &n))
			continue;
		nr++;
		looks += n.found && n.alone && n.first.label.op == ZUG_OP_DATA_READ && n.second.label.op == ZUG_OP_DATA_WRITE &&
			 n.first.label.object == n.second.label.object &&
			 !model_is_on(NULL, n.first.label.object, "v2");
	}
	tap_ok(nr > 5 && looks == nr, "the look by which a task came to where another one was is named (%d of %d)", looks, nr);
	explained_report("looks", &all);
}

/*
 * Task 0 looks whether a handle is still good, and then changes what it stands for, under a lock. Task 1 gives the handle up,
 * uses the object anew, and checks it. That the change comes between that use and the check decides, and so does the look: it
 * is what is wrong.
 */
static void test_stale_look(void)
{
	enum { GENERATION, BALANCE };
	struct model_step code[2][16] = {
		{ { M_READ, GENERATION, 0, 0, 0 }, { M_JUMP_NE, 0, 0, 0, 6 }, { M_LOCK, 0, 0, 0, 0 }, { M_READ, BALANCE, 1, 0, 0 },
		  { M_STORE, BALANCE, 1, 50, 0 }, { M_UNLOCK, 0, 0, 0, 0 } },
		{ { M_LOCK, 1, 0, 0, 0 }, { M_WRITE, GENERATION, 0, 1, 0 }, { M_UNLOCK, 1, 0, 0, 0 }, { M_LOCK, 0, 0, 0, 0 },
		  { M_WRITE, BALANCE, 0, 1, 0 }, { M_UNLOCK, 0, 0, 0, 0 }, { M_LOCK, 0, 0, 0, 0 }, { M_READ, BALANCE, 1, 0, 0 },
		  { M_UNLOCK, 0, 0, 0, 0 }, { M_ASSERT, 0, 1, 1, 0 } },
	};
	struct model m = { .name = "stale look", .nr_tasks = 2, .nr_started = 2, .parent = { 0, 0 }, .code = { code[0], code[1] },
			   .len = { 6, 10 } };
	struct explained_tally all = { 0 };
	int looks = 0, nr = 0;

	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct neighbour_result n;

		if (!explained_first(&m, seed, 200, &all, &n))
			continue;
		nr++;
		looks += n.found && n.alone && n.first.task == 0 && n.first.label.op == ZUG_OP_DATA_READ &&
			 n.second.label.op == ZUG_OP_DATA_WRITE && model_is_on(NULL, n.first.label.object, "v0");
	}
	tap_ok(nr > 5 && looks == nr, "the look whose answer was not true any more is named (%d of %d)", looks, nr);
	explained_report("stale look", &all);
}

/*
 * A writer looks whether there is a reader, and says only then that it is there. The reader that comes between reads what the
 * writer has half changed, and says so: it acts on its last look while that is true. The writer's look no longer is, or the
 * reader's for it. atomic: these two are atomic, and the reader's first look at what they protect is no longer true, too.
 */
static void test_acted_on(bool atomic)
{
	enum { READER, WRITER, X, Y, BAD };
	struct model_step writer[] = {
		{ M_READ, READER, 0, 0, 0 }, { M_JUMP_NE, 0, 0, 0, 6 }, { M_WRITE, WRITER, 0, 1, 0 }, { M_WRITE, X, 0, 1, 0 },
		{ M_WRITE, Y, 0, 1, 0 }, { M_WRITE, WRITER, 0, 0, 0 },
	};
	struct model_step reader[] = {
		{ M_WRITE, READER, 0, 1, 0 }, { M_READ, WRITER, 0, 0, 0 }, { M_JUMP_NE, 0, 0, 0, 8 },
		{ M_READ, X, 1, 0, 0 }, { M_READ, Y, 2, 0, 0 }, { M_JUMP_EQ, 0, 1, atomic, 8 },
		{ M_JUMP_EQ, 0, 2, !atomic, 8 }, { M_WRITE, BAD, 0, 1, 0 },
		{ M_WRITE, READER, 0, 0, 0 },
	};
	struct model_step judge[] = {
		{ M_JOIN, 0, 0, 0, 0 }, { M_JOIN, 1, 0, 0, 0 }, { M_READ, BAD, 0, 0, 0 }, { M_ASSERT, 0, 0, 0, 0 },
	};
	struct model m = { .name = "acted on", .nr_tasks = 3, .nr_started = 3, .code = { writer, reader, judge },
			   .len = { 6, 9, 4 }, .atomic = atomic ? 1 << READER | 1 << WRITER : 0 };
	struct explained_tally all = { 0 };
	int looks = 0, nr = 0;

	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct neighbour_result n;

		if (!explained_first(&m, seed, 400, &all, &n))
			continue;
		nr++;
		looks += n.found && n.alone && n.first.label.op == (atomic ? ZUG_OP_ATOMIC_LOAD : ZUG_OP_DATA_READ) &&
			 (model_is_on(NULL, n.first.label.object, "v0") || model_is_on(NULL, n.first.label.object, "v1"));
	}
	tap_ok(nr > 5 && looks == nr, "%s (%d of %d)", atomic ? "a look at a word is named, not one at what it protects" :
	       "a look that was acted on while it was true is not named", looks, nr);
	explained_report("acted on", &all);
}

/*
 * Peterson's lock where each gives the turn away before it says that it wants to go in: one finds that the other does not want
 * to, and goes in. It acts on that while it is true. The other says so then, and has the turn. What both do there decides, and so
 * does that look; a third task judges. at_once: who finds that it is not alone does.
 */
static void test_way_in(bool at_once)
{
	enum { WANTS, TURN = 2, INSIDE, BOTH };
	struct model_step code[2][20], judge[] = {
		{ M_JOIN, 0, 0, 0, 0 }, { M_JOIN, 1, 0, 0, 0 }, { M_READ, BOTH, 0, 0, 0 }, { M_ASSERT, 0, 0, 0, 0 },
	};
	struct model m = { .name = "way in", .nr_tasks = 3, .nr_started = 3, .code = { code[0], code[1], judge },
			   .len = { 13, 13, 4 } };
	struct explained_tally all = { 0 };
	int looks = 0, nr = 0;

	for (uint8_t t = 0; t < 2; t++) {
		const struct model_step steps[] = {
			{ M_WRITE, TURN, 0, 1 - t, 0 }, { M_WRITE, WANTS + t, 0, 1, 0 }, { M_READ, WANTS + 1 - t, 0, 0, 0 },
			{ M_JUMP_NE, 0, 0, 1, 6 }, { M_READ, TURN, 1, 0, 0 }, { M_JUMP_EQ, 0, 1, 1 - t, 12 },
			{ M_READ, INSIDE, 2, 0, 0 }, { M_STORE, INSIDE, 2, 1, 0 }, { M_READ, INSIDE, 2, 0, 0 },
			{ M_JUMP_EQ, 0, 2, 1, 11 }, { M_WRITE, BOTH, 0, 1, 0 }, { M_STORE, INSIDE, 2, -1, 0 },
			{ M_WRITE, WANTS + t, 0, 0, 0 },
		};
		const struct model_step alone[] = {
			{ M_READ, INSIDE, 2, 0, 0 }, { M_ASSERT, 0, 2, 0, 0 }, { M_WRITE, INSIDE, 0, 1, 0 }, { M_LOCAL, 0, 0, 0, 0 },
			{ M_WRITE, INSIDE, 0, 0, 0 }, { M_LOCAL, 0, 0, 0, 0 },
		};

		memcpy(code[t], steps, sizeof(steps));
		if (at_once)
			memcpy(code[t] + 6, alone, sizeof(alone));
	}
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct neighbour_result n;

		if (!explained_first(&m, seed, 400, &all, &n))
			continue;
		nr++;
		looks += n.found && n.alone && n.first.label.op == ZUG_OP_DATA_READ && n.second.label.op == ZUG_OP_DATA_WRITE &&
			 !model_is_on(NULL, n.first.label.object, "v3") && !model_is_on(NULL, n.first.label.object, "v4");
	}
	tap_ok(nr > 5 && looks == nr, "the look by which one came where the other was is named%s (%d of %d)",
	       at_once ? ", where the other is about to leave" : "", looks, nr);
	explained_report("way in", &all);
}

/*
 * Task 0 looks at something, and then at something else; task 1 writes, and then changes what was looked at first. Where it
 * writes what was looked at second, the first look behind the change brings the second one behind that, too: that it passes
 * then says nothing of the first.
 */
static void test_stale_alone(void)
{
	enum { LOOKED_AT = 77, CHECKED, OWN, OTHER };
	uint32_t tasks[] = { 0, 0, 1, 1, 1, 0 };
	struct zug_label labels[] = {
		{ .op = ZUG_OP_DATA_READ, .object = LOOKED_AT }, { .op = ZUG_OP_DATA_READ, .object = OWN },
		{ .op = ZUG_OP_DATA_WRITE, .object = OTHER }, { .op = ZUG_OP_DATA_WRITE, .object = LOOKED_AT },
		{ .op = ZUG_OP_DATA_WRITE, .object = CHECKED }, { .op = ZUG_OP_DATA_READ, .object = CHECKED },
	};
	struct critical_pair pairs[] = { { .first = 4, .second = 5, .wide = true }, { .first = 0, .second = 3 } };
	struct neighbour n = { .pairs = pairs, .nr_pairs = 2, .led = { .tasks = tasks, .labels = labels, .nr = 6 } };

	n.failing = (struct critical){ .s = &n.led, .nr_tasks = 2 };
	neighbour_find_looks(&n, &pairs[0]);
	tap_ok(n.nr_looks == 1 && n.looks[0] == 1, "a look that another task makes untrue is tried");
	labels[2].object = OWN;
	neighbour_find_looks(&n, &pairs[0]);
	tap_ok(!n.nr_looks, "one behind which its task did what the other depends on is not");
}

/*
 * A wide pair stands for all that two tasks do with a variable. Where its own operations are two looks, which decide
 * nothing, the first task's change comes before the second's look, or the second's before its own.
 */
static void test_changes_told(void)
{
	enum { LOOK, CHANGE };
	const struct zug_label ops[] = { { .op = ZUG_OP_DATA_READ, .object = 77 },
					 { .op = ZUG_OP_DATA_WRITE, .object = 77, .flags = ZUG_L_WRITE } };
	static const struct {
		int what[4];			/* of task 1, twice, and of task 2 */
		size_t second, named[2];
	} kinds[] = { { { LOOK, CHANGE, LOOK, CHANGE }, 2, { 1, 2 } }, { { LOOK, CHANGE, CHANGE, LOOK }, 3, { 0, 2 } } };
	uint32_t fails[] = { 1, 1, 2, 2 }, passes[] = { 2, 2, 1, 1 };
	uint32_t births[] = { 0, 0, 0 }, parents[] = { SEARCH_NO_TASK, 0, 0 };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct critical_pair pair = { .first = 0, .second = kinds[i].second, .wide = true };
		struct zug_label labels[4], in_passing[4];
		struct neighbour n = { .phase = REVERSE, .pairs = &pair, .nr_pairs = 1,
				       .fails = { .tasks = fails, .labels = labels, .nr = 4 },
				       .now = { .tasks = passes, .labels = in_passing, .nr = 4 } };
		struct neighbour_result r = { 0 };

		for (int k = 0; k < 4; k++) {
			labels[k] = ops[kinds[i].what[k]];
			labels[k].site = 100 + k;
			in_passing[(k + 2) % 4] = labels[k];
		}
		n.led = n.fails;
		n.failing = (struct critical){ .s = &n.led, .births = births, .parents = parents, .nr_tasks = 3 };
		if (neighbour_compare(&n, &r))
			abort();
		tap_ok(r.alone && r.first.label.site == 100 + kinds[i].named[0] &&
		       r.second.label.site == 100 + kinds[i].named[1],
		       "changes: where two looks stand for more, a change is told (%llu and %llu)",
		       (unsigned long long)r.first.label.site, (unsigned long long)r.second.label.site);
	}
}

/* Two print one text in the other order, and 2 changes it before 1 prints it again: that is the pair that is told. */
static void test_copies_told(void)
{
	enum { WC = ZUG_L_WRITE | ZUG_L_COPIES };
	uint32_t fails[] = { 1, 2, 2, 1 }, passes[] = { 2, 1, 1, 2 };
	const struct zug_label first = { .op = ZUG_OP_DATA_WRITE, .object = 80, .object2 = 77, .flags = WC, .site = 101 };
	const struct zug_label second = { .op = ZUG_OP_DATA_WRITE, .object = 81, .object2 = 77, .flags = WC, .site = 102 };
	const struct zug_label changes = { .op = ZUG_OP_DATA_WRITE, .object = 77, .site = 103 };
	const struct zug_label again = { .op = ZUG_OP_DATA_WRITE, .object = 80, .object2 = 77, .flags = WC, .site = 104 };
	struct zug_label in_failing[] = { first, second, changes, again }, in_passing[] = { second, first, again, changes };
	struct neighbour n = { .phase = INSTEAD, .fails = { .tasks = fails, .labels = in_failing, .nr = 4 },
			       .now = { .tasks = passes, .labels = in_passing, .nr = 4 } };
	struct neighbour_result r = { 0 };

	if (neighbour_compare(&n, &r))
		abort();
	tap_ok(r.nr_pairs == 1 && r.first.label.site == 103 && r.second.label.site == 104,
	       "copies: two that only copy what they have in common are not told (%llu pairs, the first at %llu)",
	       (unsigned long long)r.nr_pairs, (unsigned long long)r.first.label.site);
}

int main(void)
{
	test_changes_told();
	test_looks();
	test_stale_look();
	test_acted_on(false);
	test_acted_on(true);
	test_way_in(false);
	test_way_in(true);
	test_stale_alone();
	test_copies_told();
	return tap_done();
}
