/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_pairs.c - which operations of an execution could come in the other order, which of them are named, and in which order
 * they are tried; updates that others come into
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "search/access.h"
#include "search/critical.h"
#include "search/hb.h"
#include "search/pair_order.h"
#include "search/torn.h"
#include "tap.h"

/* The steps of children of task 0 that are there from the begin on; what else is known of them. */
static const uint32_t births[5], parents[5] = { SEARCH_NO_TASK, 0, 0, 0, 0 };
#define EXECUTION(tasks_, labels_, ...) {								\
	.s = &(struct schedule){ .tasks = (tasks_), .labels = (labels_), .nr = sizeof(tasks_) / sizeof(*(tasks_)) },	\
	.births = births, .parents = parents, .nr_tasks = 5, __VA_ARGS__				\
}

static struct critical_pair *pairs_of(const struct critical *c, size_t *nr)
{
	struct critical_pair *pairs;

	if (critical_pairs(c, 64, &pairs, nr))
		abort();
	return pairs;
}

static bool has_pair(const struct critical_pair *pairs, size_t nr, size_t first, size_t second, bool named)
{
	for (size_t i = 0; i < nr; i++)
		if (pairs[i].first == first && pairs[i].second == second && pairs[i].named == named)
			return true;
	return false;
}

/*
 * make (0) has started a command (1) that opens a file, looks at that file, and starts another command (2), which makes it.
 * An open that changes nothing orders nothing with a look, so the two commands could come in the other order.
 */
static void test_opens(void)
{
	uint32_t tasks[] = { 1, 0, 0, 2 };
	struct zug_label labels[] = {
		{ .op = ZUG_OP_OPEN, .object = 77, .site = 1 }, { .op = ZUG_OP_STAT, .object = 77, .site = 2 },
		{ .op = ZUG_OP_FORK, .site = 3 },
		{ .op = ZUG_OP_OPEN, .flags = ZUG_L_WRITE, .object = 77, .site = 4 },
	};
	const uint32_t made_later[5] = { 0, 0, 3 };
	struct critical c = EXECUTION(tasks, labels);
	struct critical_pair *pairs;
	size_t nr;

	c.births = made_later;
	pairs = pairs_of(&c, &nr);
	tap_ok(has_pair(pairs, nr, 0, 3, false), "opens: one that only reads, and one that makes the file (%zu pairs)", nr);
	free(pairs);
	labels[0].flags = ZUG_L_WRITE;
	pairs = pairs_of(&c, &nr);
	tap_ok(!has_pair(pairs, nr, 0, 3, false), "opens: what the look has to see orders them");
	free(pairs);
}

/* The reversal of that pair, as the tasks in a row of digits. */
static bool reverses_to(const struct critical *c, const struct critical_pair *pairs, size_t nr, size_t first, size_t second,
			const char *want)
{
	uint32_t order[32];
	char got[32] = "";

	for (size_t i = 0; i < nr; i++)
		if (pairs[i].first == first && pairs[i].second == second)
			for (size_t k = critical_reverse(c, &pairs[i], order); k--;)
				got[k] = '0' + order[k];
	if (strcmp(got, want))
		printf("# %s, not %s\n", got, want);
	return !strcmp(got, want);
}

/*
 * Task 1 gets a value under a lock; 2 gets and sets it, each under the lock; 1 sets it. Only neighbours are
 * strict pairs; that 2 has got it before 1 set it is a wide one. Then a file: 1 opens, reads and closes it,
 * 2 looks at it and writes. Calls without an object, of which nothing is known, order them but for named pairs.
 */
static void test_wide(void)
{
	enum { L = ZUG_OP_LOCK, U = ZUG_OP_UNLOCK, O = ZUG_OP_OPEN, R = ZUG_OP_READ, C = ZUG_OP_CLOSE, W = ZUG_OP_WRITE,
	       A = ZUG_OP_SIGACTION };
	uint32_t locks[] = { 1, 1, 2, 2, 2, 2, 1, 1 }, files[] = { 1, 1, 1, 1, 2, 2, 2 };
	static const uint8_t lock_ops[] = { L, U, L, U, L, U, L, U }, file_ops[] = { O, R, C, A, A, ZUG_OP_STAT, W };
	struct zug_label labels[8];
	struct critical c = EXECUTION(locks, labels);
	struct critical_pair *pairs;
	size_t nr, unchanged = 0;

	for (int i = 0; i < 8; i++)
		labels[i] = (struct zug_label){ .op = lock_ops[i], .object = 77, .site = 100 + i };
	pairs = pairs_of(&c, &nr);
	tap_ok(has_pair(pairs, nr, 0, 2, false) && has_pair(pairs, nr, 4, 6, false) &&
	       has_pair(pairs, nr, 2, 6, false), "wide: two sections of a lock (%zu pairs)", nr);
	tap_ok(reverses_to(&c, pairs, nr, 2, 6, "11122221"), "wide: the other section comes before both");
	free(pairs);
	for (int i = 0; i < 7; i++)
		labels[i] = (struct zug_label){ .op = file_ops[i], .object = file_ops[i] == A ? 0 : 77, .site = 100 + i };
	c = (struct critical)EXECUTION(files, labels);
	pairs = pairs_of(&c, &nr);
	tap_ok(!has_pair(pairs, nr, 0, 6, false) && has_pair(pairs, nr, 0, 6, true),
	       "named: what nothing is known of orders nothing (%zu pairs)", nr);
	tap_ok(reverses_to(&c, pairs, nr, 0, 6, "2221111"), "named: all of the one before all of the other");
	for (size_t i = 0; i < nr; i++)
		unchanged += critical_is_unchanged(&c, &pairs[i]);
	tap_ok(nr && !unchanged, "a file that is written is none that stays as it is");
	labels[6].op = C;
	for (size_t i = 0; i < nr; i++)
		unchanged += critical_is_unchanged(&c, &pairs[i]);
	tap_ok(unchanged == nr, "one that is opened, read and closed stays as it is");
	free(pairs);
}

/*
 * Task 1 has begun an update, 2 kills it before it has ended it, and looks: the signal and what task 1 was about to do are a
 * pair, which comes first; nothing after the signal is one with it.
 */
static void test_ended(void)
{
	enum { R = ZUG_OP_READ, W = ZUG_OP_WRITE };
	uint32_t tasks[] = { 1, 2, 2, 2 };
	struct zug_label labels[] = {
		{ .op = W, .object = 77, .site = 1 }, { .op = R, .object = 78, .site = 2 },
		{ .op = ZUG_OP_KILL, .flags = ZUG_L_ENDS_ALL, .object = 79, .site = 3 }, { .op = R, .object = 77, .site = 4 },
	};
	struct critical_pending pending[] = {
		{ .task = 1, .label = { .op = W, .object = 77, .site = 5 }, .ended = true, .by = 2 },
	};
	uint32_t order[4 + CRITICAL_MORE];
	struct critical c = EXECUTION(tasks, labels, .pending = pending, .nr_pending = 1);
	struct critical_pair *pairs;
	size_t nr, steps;

	pairs = pairs_of(&c, &nr);
	tap_ok(nr >= 2 && pairs[0].first == 2 && pairs[0].second == 4 && pairs[0].ends && !pairs[0].wide &&
	       pairs[1].first == 2 && pairs[1].second == 4 && pairs[1].ends && pairs[1].wide &&
	       !has_pair(pairs, nr, 3, 4, false), "ended: a signal and what its task was about to do (%zu pairs)", nr);
	steps = critical_reverse(&c, &pairs[0], order);
	tap_ok(steps == 5 && order[2] == 1 && order[3] == 2 && order[4] == 2, "ended: that comes before the signal");
	steps = critical_reverse(&c, &pairs[1], order);
	tap_ok(steps == 4 + CRITICAL_MORE && order[2] == 1 && order[1 + CRITICAL_MORE] == 1 && order[2 + CRITICAL_MORE] == 2,
	       "ended: or all until the task waits");
	free(pairs);
}

/* Where tasks wait for an object at the end its pairs come first, though others came later. */
static void test_waited(void)
{
	enum { W = ZUG_OP_ATOMIC_STORE };
	uint32_t tasks[] = { 1, 2, 1, 2 };
	struct zug_label labels[4];
	const uint64_t waited[] = { 70, 77 };
	struct critical c = EXECUTION(tasks, labels);
	struct critical_pair *pairs;
	size_t nr;

	for (int i = 0; i < 4; i++)
		labels[i] = (struct zug_label){ .op = W, .object = i < 2 ? 77 : 78, .site = 100 + i };
	pairs = pairs_of(&c, &nr);
	tap_ok(nr == 2 && pairs[0].first == 2 && !pair_order(&c, waited, 0, pairs, nr) && pairs[0].first == 2,
	       "order: the last pair first");
	tap_ok(!pair_order(&c, waited, 2, pairs, nr) && pairs[0].first == 0 && pairs[1].first == 2,
	       "order: what is waited for before it");
	/* 1 has come out of a wait for 77, with a lock, 79, that 2 takes then */
	labels[0] = (struct zug_label){ .op = ZUG_OP_RESUME, .object = 77, .object2 = 79, .site = 100 };
	labels[1] = (struct zug_label){ .op = ZUG_OP_UNLOCK, .object = 79, .flags = ZUG_L_WRITE, .site = 101 };
	for (size_t i = 0; i < nr; i++)
		pairs[i] = (struct critical_pair){ .first = 2 - 2 * i, .second = 3 - 2 * i };
	tap_ok(!pair_order(&c, waited, 2, pairs, nr) && pairs[0].first == 2, "order: not what only one of the two has waited for");
	free(pairs);
}

/* 1 writes half of a file; 2 reads that, and 1 writes the rest and reads it: the write decides, not that both read. */
static void test_both_read(void)
{
	uint32_t tasks[] = { 1, 2, 1, 1 };
	static const uint8_t ops[] = { ZUG_OP_WRITE, ZUG_OP_READ, ZUG_OP_WRITE, ZUG_OP_READ };
	struct zug_label labels[4];
	struct critical c = EXECUTION(tasks, labels);
	struct critical_pair *pairs, both[] = { { .first = 1, .second = 3 }, { .first = 1, .second = 2 } };
	size_t nr;

	for (int i = 0; i < 4; i++)
		labels[i] = (struct zug_label){ .op = ops[i], .object = 77, .site = 100 + i };
	tap_ok(!pair_order(&c, NULL, 0, both, 2) && both[0].second == 2 && both[1].second == 3,
	       "reads: a read and a write come before two reads of a file");
	/* 1 has two parts to write, behind the read */
	tasks[0] = 2;
	tasks[1] = tasks[2] = tasks[3] = 1;
	labels[0].op = ZUG_OP_READ;
	labels[1].op = labels[2].op = ZUG_OP_WRITE;
	pairs = pairs_of(&c, &nr);
	tap_ok(has_pair(pairs, nr, 0, 2, false) && !has_pair(pairs, nr, 0, 3, false),
	       "reads: and with the last write (%zu pairs)", nr);
	free(pairs);
	/* 2 opens the file before it reads it; 1 writes it behind that, and reads it */
	tasks[0] = tasks[1] = 2;
	labels[0].op = ZUG_OP_OPEN;
	labels[1].op = labels[3].op = ZUG_OP_READ;
	pairs = pairs_of(&c, &nr);
	tap_ok(has_pair(pairs, nr, 1, 2, false) && !has_pair(pairs, nr, 0, 3, false) && !has_pair(pairs, nr, 1, 3, false),
	       "reads: also of one who has opened the file before (%zu pairs)", nr);
	free(pairs);
}

/*
 * Two semaphores, 77 and 78, of a set, 70: operations on both are no pair. Of what comes later with the whole set, and with
 * one that it is made of, the one comes first.
 */
static void test_parts(void)
{
	uint32_t tasks[] = { 1, 2, 1, 2, 1, 2, 1 };
	static const uint64_t objects[] = { 77, 78, 78, 77, 70, 80, 80 };
	struct zug_label labels[7];
	struct critical c = EXECUTION(tasks, labels);
	struct critical_pair *pairs;
	size_t nr;

	c.s = &(struct schedule){ .tasks = tasks, .labels = labels, .nr = 4 };
	for (int i = 0; i < 7; i++)
		labels[i] = (struct zug_label){ .op = ZUG_OP_SEMOP, .site = 100 + i, .object = objects[i],
						.object2 = objects[i] > 70 && objects[i] < 80 ? 70 : 0,
						.flags = objects[i] > 70 && objects[i] < 80 ? ZUG_L_PART : 0 };
	pairs = pairs_of(&c, &nr);
	tap_ok(has_pair(pairs, nr, 0, 3, false) && has_pair(pairs, nr, 1, 2, false) && !has_pair(pairs, nr, 0, 1, false) &&
	       !has_pair(pairs, nr, 2, 3, false), "parts: of two semaphores of a set those on one are pairs (%zu pairs)", nr);
	free(pairs);
	/* 2 uses one of the set, 1 the whole, after both have used another thing */
	tasks[0] = 2, tasks[1] = 1;
	labels[0] = labels[5];
	labels[1] = labels[6];
	labels[2] = labels[4];
	pairs = pairs_of(&c, &nr);
	tap_ok(nr == 2 && pairs[0].first == 2 && pairs[0].second == 3 && !pair_order(&c, NULL, 0, pairs, nr) &&
	       pairs[0].first == 0 && pairs[1].first == 2, "parts: a set and one of its semaphores come last");
	free(pairs);
}

/*
 * 1 frees the block 90, takes it again, and writes the member 91 of it, which 2 has found before that and reads now: the
 * free is what decides, and comes first, though the write comes last.
 */
static void test_freed(void)
{
	enum { W = ZUG_L_WRITE, PART = ZUG_L_PART };
	uint32_t tasks[] = { 2, 1, 1, 2 };
	struct zug_label labels[] = {
		{ .op = ZUG_OP_DATA_READ, .object = 77, .site = 100 },
		{ .op = ZUG_OP_DATA_WRITE, .object = 90, .flags = W | ZUG_L_FREES, .site = 101 },
		{ .op = ZUG_OP_DATA_WRITE, .object = 91, .object2 = 90, .flags = W | PART, .site = 102 },
		{ .op = ZUG_OP_DATA_READ, .object = 91, .object2 = 90, .flags = PART, .site = 103 },
	};
	uint32_t order[CRITICAL_MORE + 4];
	struct critical c = EXECUTION(tasks, labels);
	struct critical_pair *pairs;
	size_t nr;

	pairs = pairs_of(&c, &nr);
	if (pair_order(&c, NULL, 0, pairs, nr))
		abort();
	tap_ok(has_pair(pairs, nr, 1, 3, false) && has_pair(pairs, nr, 2, 3, false) && pairs[0].first == 1 && pairs[0].second == 3,
	       "freed: the free and the read are the first pair (%zu pairs)", nr);
	tap_ok(critical_reverse(&c, &pairs[0], order) == 4 && order[0] == 2 && order[1] == 2 && order[2] == 1 && order[3] == 1,
	       "freed: the other way round the read comes before the free, and the write behind it");
	free(pairs);
	/* an ordinary write in its place stands for nothing but itself */
	labels[1].flags = W;
	pairs = pairs_of(&c, &nr);
	tap_ok(!has_pair(pairs, nr, 1, 3, false), "freed: an earlier write is no pair with the read");
	free(pairs);
}

static bool is_library(const void *ctx, uint64_t site)
{
	(void)ctx;
	return site >= 200;
}

/*
 * 2 fills a buffer, 77, and sends it, 1 sends it, too: what both only copy is no pair. 3 and 4 say what is to become of other
 * signals, which may depend on each other for all that is known: they come last.
 */
static void test_copies(void)
{
	enum { W = ZUG_L_WRITE, WC = ZUG_L_WRITE | ZUG_L_COPIES };
	uint32_t tasks[] = { 2, 2, 1, 3, 4 };
	struct zug_label labels[] = {
		{ .op = ZUG_OP_DATA_WRITE, .object = 77, .site = 100 },
		{ .op = ZUG_OP_WRITE, .object = 80, .object2 = 77, .flags = WC, .site = 101 },
		{ .op = ZUG_OP_WRITE, .object = 81, .object2 = 77, .flags = WC, .site = 102 },
		{ .op = ZUG_OP_KILL, .object = 78, .flags = W, .site = 103 },
		{ .op = ZUG_OP_SIGACTION, .object = 79, .flags = W, .site = 104 },
	};
	struct critical c = EXECUTION(tasks, labels);
	struct critical_pair *pairs;
	struct torn t[4];
	size_t nr;

	pairs = pairs_of(&c, &nr);
	tap_ok(has_pair(pairs, nr, 0, 2, false) && !has_pair(pairs, nr, 1, 2, false),
	       "copies: what fills a buffer and who sends it are a pair, two that send it are none (%zu pairs)", nr);
	tap_ok(nr > 1 && !pairs[0].vague && pairs[nr - 1].vague && pairs[nr - 1].first == 3,
	       "copies: what has nothing in common comes last");
	free(pairs);
	/* 1 looks, 2 sends, 1 changes it */
	tasks[0] = 1;
	labels[0].op = ZUG_OP_DATA_READ;
	labels[2].op = ZUG_OP_DATA_WRITE;
	labels[2].object = 77;
	labels[2].object2 = 0;
	tap_ok(!torn_updates(&c, 77, t, 4), "copies: who sends a buffer does not change it");
}

/* 1 lists a folder; 2 moves a file there, looks at it, and writes into it: the label of the first has not the folder. */
static void test_listed(void)
{
	enum { W = ZUG_L_WRITE };
	uint32_t tasks[] = { 2, 2, 2, 1 };
	struct zug_label labels[] = {
		{ .op = ZUG_OP_RENAME, .object = 77, .object2 = 78, .flags = W, .site = 100 },
		{ .op = ZUG_OP_STAT, .object = 78, .site = 101 },
		{ .op = ZUG_OP_WRITE, .object = 78, .flags = W, .site = 102 },
		{ .op = ZUG_OP_LIST, .object = 79, .flags = ZUG_L_ENDS_ALL, .site = 103 },
	};
	struct critical c = EXECUTION(tasks, labels);
	struct critical_pair *pairs;
	size_t nr;

	pairs = pairs_of(&c, &nr);
	tap_ok(has_pair(pairs, nr, 0, 3, false) && !has_pair(pairs, nr, 1, 3, false) && !has_pair(pairs, nr, 2, 3, false) &&
	       !pairs[0].vague, "listed: what moves a name is a pair with who lists names, and no other operation is");
	free(pairs);
}

/* The hash of happens-before when these tasks make a step each: 3 lists, the others move names. */
static uint64_t hash_of(const uint32_t *tasks, size_t nr)
{
	struct hb hb = { 0 };
	uint64_t hash;

	for (size_t i = 0; i < nr; i++) {
		struct zug_label l = { .op = ZUG_OP_RENAME, .object = 70 + tasks[i], .object2 = 80 + tasks[i], .flags = ZUG_L_WRITE };

		if (tasks[i] == 3)
			l = (struct zug_label){ .op = ZUG_OP_LIST, .object = 79 };
		if (hb_reserve_task(&hb, tasks[i]))
			abort();
		hash = hb_peek(&hb, tasks[i], &l);
		if (hb_push(&hb, tasks[i], &l) || (hash != hb.hash && tasks[i] == 3))
			abort();
	}
	hash = hb.hash;
	hb_fini(&hb);
	return hash;
}

static void test_classes_of_lists(void)
{
	uint64_t last = hash_of((uint32_t[]){ 1, 2, 3 }, 3), first = hash_of((uint32_t[]){ 3, 1, 2 }, 3);
	uint64_t behind_1 = hash_of((uint32_t[]){ 1, 3, 2 }, 3), behind_2 = hash_of((uint32_t[]){ 2, 3, 1 }, 3);

	tap_ok(last == hash_of((uint32_t[]){ 2, 1, 3 }, 3), "listed: the order of what changes names makes no other class");
	tap_ok(last != first && last != behind_1 && last != behind_2 && behind_1 != behind_2 && first != behind_1,
	       "listed: which names were changed before makes another class");
}

/*
 * 1 opens a file and reads it; 2 moves another one over it; 1 reads the old one to its end, and moves its own over the new one:
 * what 2 has done is lost. If 1 has looked at the file again, or 2 has written into it, it has seen that.
 */
static void test_replaced(void)
{
	enum { W = ZUG_L_WRITE };
	uint32_t tasks[] = { 1, 1, 2, 1, 1 };
	struct zug_label labels[] = {
		{ .op = ZUG_OP_OPEN, .object = 77, .site = 100 }, { .op = ZUG_OP_READ, .object = 77, .flags = W, .site = 101 },
		{ .op = ZUG_OP_RENAME, .object = 80, .object2 = 77, .flags = W, .site = 102 },
		{ .op = ZUG_OP_READ, .object = 77, .flags = W, .site = 103 },
		{ .op = ZUG_OP_RENAME, .object = 81, .object2 = 77, .flags = W, .site = 104 },
	};
	struct critical c = EXECUTION(tasks, labels);
	struct torn t[4];

	tap_ok(torn_updates(&c, 77, t, 4) == 1 && t[0].read == 1 && t[0].between == 2 && t[0].own == 4,
	       "replaced: an update of a file that another has replaced is torn, though the old one is read on");
	labels[3].op = ZUG_OP_STAT;
	tap_ok(!torn_updates(&c, 77, t, 4), "replaced: not where the new one has been looked at");
	labels[3].op = ZUG_OP_READ;
	labels[2].op = ZUG_OP_WRITE;
	labels[2].object = 77;
	labels[2].object2 = 0;
	tap_ok(!torn_updates(&c, 77, t, 4), "replaced: nor where it is the same file that has changed");
}

/*
 * Two processes without symbols, so that a library seems to act, use one file. 1 closes another one, which 2 has open, too:
 * that orders nothing, unless one has a lock there.
 */
static void test_nameless(void)
{
	enum { W = ZUG_L_WRITE };
	uint32_t tasks[] = { 1, 1, 1, 2, 2, 2 };
	struct zug_label labels[] = {
		{ .op = ZUG_OP_OPEN, .object = 77, .flags = W, .site = 200 },
		{ .op = ZUG_OP_EXEC, .site = 201 },
		{ .op = ZUG_OP_CLOSE, .object = 78, .flags = W, .site = 202 },
		{ .op = ZUG_OP_EXEC, .site = 203 },
		{ .op = ZUG_OP_READ, .object = 78, .site = 204 },
		{ .op = ZUG_OP_RENAME, .object = 77, .flags = W, .site = 205 },
	};
	struct critical c = EXECUTION(tasks, labels, .foreign = is_library);
	struct critical_pair *pairs;
	size_t nr;

	pairs = pairs_of(&c, &nr);
	tap_ok(has_pair(pairs, nr, 0, 5, true) && !pair_is_late(&c, &pairs[nr - 1]),
	       "nameless: what two processes do with one file is a pair (%zu pairs)", nr);
	free(pairs);
	labels[4].op = ZUG_OP_FLOCK;
	labels[4].flags = W;
	pairs = pairs_of(&c, &nr);
	tap_ok(!has_pair(pairs, nr, 0, 5, true), "nameless: a lock goes with what closes its file (%zu pairs)", nr);
	free(pairs);
	for (int i = 0; i < 6; i++)
		labels[i].object = labels[i].object ? zug_object_numbered(1, labels[i].object) : 0;
	pairs = pairs_of(&c, &nr);
	tap_ok(!has_pair(pairs, nr, 0, 5, true), "nameless: a pipe of a library is the library's");
	free(pairs);
	/* what a signal brings about cannot come before it */
	labels[0] = (struct zug_label){ .op = ZUG_OP_KILL, .object = 79, .flags = W, .site = 1 };
	labels[1] = (struct zug_label){ .op = ZUG_OP_HANDLER, .object = 79, .flags = W, .site = 2 };
	tasks[1] = 2;
	c.s = &(struct schedule){ .tasks = tasks, .labels = labels, .nr = 2 };
	pairs = pairs_of(&c, &nr);
	tap_ok(nr == 1 && pair_is_late(&c, &pairs[0]), "a signal and its handler are a late pair (%zu pairs)", nr);
	labels[1].op = ZUG_OP_RESUME;
	tap_ok(nr == 1 && pair_is_late(&c, &pairs[0]), "so are a signal and where its handler could begin");
	free(pairs);
}

static size_t place_of(const struct critical_pair *pairs, size_t nr, size_t first, size_t second)
{
	for (size_t i = 0; i < nr; i++)
		if (pairs[i].first == first && pairs[i].second == second)
			return i;
	return SIZE_MAX;
}

/*
 * 1 reads data and takes a library's lock; 2 takes it, too, then changes the data, writes to a pipe, and 1 reads that. The
 * lock is seen to order the data; without it they are a pair, which comes first. What is sent comes before what waits for it.
 */
static void test_late(void)
{
	const uint64_t pipe = zug_object_numbered(0, 0);
	uint32_t tasks[] = { 1, 1, 2, 2, 2, 1 };
	struct zug_label labels[] = {
		{ .op = ZUG_OP_DATA_READ, .object = 77, .site = 100 }, { .op = ZUG_OP_ATOMIC_RMW, .object = 88, .site = 201 },
		{ .op = ZUG_OP_ATOMIC_RMW, .object = 88, .site = 202 }, { .op = ZUG_OP_DATA_WRITE, .object = 77, .site = 103 },
		{ .op = ZUG_OP_WRITE, .flags = ZUG_L_WRITE, .object = pipe, .site = 104 },
		{ .op = ZUG_OP_READ, .flags = ZUG_L_WRITE, .object = pipe, .site = 105 },
	};
	struct critical c = EXECUTION(tasks, labels);
	struct critical_pair *pairs;
	size_t nr;

	pairs = pairs_of(&c, &nr);
	tap_ok(place_of(pairs, nr, 0, 3) == SIZE_MAX, "late: what a lock orders is no pair");
	free(pairs);
	c.foreign = is_library;
	pairs = pairs_of(&c, &nr);
	if (pair_order(&c, NULL, 0, pairs, nr))
		abort();
	tap_ok(nr == 3 && place_of(pairs, nr, 0, 3) == 0 && place_of(pairs, nr, 1, 2) > 0 && place_of(pairs, nr, 4, 5) > 0,
	       "late: a library's lock, and a message, after the data (%zu pairs)", nr);
	tap_ok(!pair_is_late(&c, &pairs[0]) && pair_is_late(&c, &pairs[1]) && pair_is_late(&c, &pairs[2]),
	       "late: these and no other");
	free(pairs);
	tap_ok(!pair_waited(c.s, 5, 4), "late: a read after the write has not waited for it");
	/* 1 reads first, and waits */
	tasks[4] = 1;
	tasks[5] = 2;
	labels[5] = labels[4];
	labels[4] = (struct zug_label){ .op = ZUG_OP_READ, .flags = ZUG_L_WRITE, .object = pipe, .site = 105 };
	tap_ok(!pair_waited(c.s, 4, 5), "late: one that never goes on has not, either");
	c.s = &(struct schedule){ .tasks = (uint32_t []){ 1, 2, 1 }, .nr = 3, .labels = (struct zug_label []){
		labels[4], labels[5], { .op = ZUG_OP_RESUME, .object = pipe } } };
	tap_ok(pair_waited(c.s, 0, 1), "late: one that goes on afterwards has");
}

/* A client connects before a server that is about to listen does: the two have no object in common. */
static void test_listen(void)
{
	uint32_t tasks[] = { 1, 2, 2 };
	struct zug_label labels[] = {
		{ .op = ZUG_OP_BIND, .flags = ZUG_L_WRITE, .object = 77, .site = 101 },
		{ .op = ZUG_OP_OPEN, .object = 66, .site = 102 },
		{ .op = ZUG_OP_CONNECT, .flags = ZUG_L_WRITE, .object = 88, .object2 = 99, .site = 103 },
	};
	struct critical_pending about = { .task = 1, .label = { .op = ZUG_OP_LISTEN, .flags = ZUG_L_WRITE, .object = 77 } };
	uint32_t order[3 + CRITICAL_MORE];
	struct critical c = EXECUTION(tasks, labels, .pending = &about, .nr_pending = 1);
	struct critical_pair *pairs;
	size_t nr;

	pairs = pairs_of(&c, &nr);
	tap_ok(nr && pairs[0].first == 2 && pairs[0].second == 3 && !pairs[0].vague,
	       "listen: a client has connected before it (%zu pairs)", nr);
	tap_ok(nr && critical_reverse(&c, &pairs[0], order) == 4 && order[1] == 2 && order[2] == 1 && order[3] == 2,
	       "listen: it comes right before the client connects");
	free(pairs);
	about.label.op = ZUG_OP_ACCEPT;
	pairs = pairs_of(&c, &nr);
	tap_ok(!has_pair(pairs, nr, 2, 3, false), "listen: another operation on its socket is no such pair");
	free(pairs);
}

/*
 * Points of the user, of which only the function is known: 1 gets, 2 gets and sets, 1 sets, 2 ends with one more. That 1
 * has got it before 2 set it is a pair, and the nearest two come first.
 */
static void test_points(void)
{
	uint32_t tasks[] = { 1, 2, 2, 1, 2 };
	struct zug_label labels[5];
	struct critical c = EXECUTION(tasks, labels);
	struct critical_pair *pairs;
	size_t nr;

	for (int i = 0; i < 5; i++)
		labels[i] = (struct zug_label){ .op = ZUG_OP_POINT, .site = 100 };
	pairs = pairs_of(&c, &nr);
	tap_ok(has_pair(pairs, nr, 0, 1, true) && has_pair(pairs, nr, 0, 2, true) && !has_pair(pairs, nr, 1, 2, true) &&
	       !has_pair(pairs, nr, 0, 4, true), "points: each of a row with each of the next (%zu pairs)", nr);
	tap_ok(reverses_to(&c, pairs, nr, 0, 2, "22112"), "points: both of 2's come before");
	tap_ok(nr && pairs[0].span == 0 && pairs[nr - 1].span > 0, "points: the nearest are tried first");
	free(pairs);
	labels[1].op = ZUG_OP_SIGACTION;
	pairs = pairs_of(&c, &nr);
	tap_ok(has_pair(pairs, nr, 0, 2, true) && !has_pair(pairs, nr, 0, 1, true), "points: other calls are none");
	free(pairs);
}

int main(void)
{
	test_opens();
	test_wide();
	test_ended();
	test_waited();
	test_both_read();
	test_parts();
	test_freed();
	test_copies();
	test_listed();
	test_classes_of_lists();
	test_replaced();
	test_nameless();
	test_late();
	test_listen();
	test_points();
	return tap_done();
}
