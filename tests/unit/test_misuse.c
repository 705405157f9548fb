/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_misuse.c - every misuse is reported at its operation; what only looks
 * like one is not
 */
#include <stdio.h>
#include <string.h>
#include "search/misuse.h"

static int nr_tests, nr_failed;

static void ok(bool good, const char *what)
{
	nr_tests++;
	nr_failed += !good;
	printf("%sok %d - %s\n", good ? "" : "not ", nr_tests, what);
}

/* A history: one operation of a task at a time; a task that waits is not enabled. */
struct op {
	uint32_t task;
	uint16_t op;
	uint64_t object, object2;
	uint32_t waiting;	/* 1 + a task that waits for the object meanwhile */
	uint32_t woken;		/* 1 + a task whose wait for condition 2 is over, and that waits for lock 1 again */
	uint32_t dead;		/* 1 + a task that is no longer there */
	int shows;		/* what the lock's memory says before it: FREE or LOCKED; 0: as 'memory' below */
};

enum { FREE = 1, LOCKED };

/* What memory says from the second operation on; before the first the lock is free. */
static struct misuse_memory memory;
static bool readable, begun;
static int shows;

static bool read_memory(void *ctx, uint32_t task, uint64_t object, struct misuse_memory *out)
{
	(void)ctx;
	(void)task;
	(void)object;
	*out = memory;
	out->locked = shows ? shows == LOCKED : out->locked && begun;
	return readable;
}

/* The kind that the last operation is reported as; any earlier report is a failure. */
static enum misuse_kind play(struct misuse *m, const struct op *ops, size_t nr,
			     struct misuse_report *r)
{
	int ret = 0;

	misuse_begin(m);
	for (size_t k = 0; k < nr; k++) {
		struct search_cand c[4];
		struct search_point p = { .cand = c };
		uint32_t at = 0;

		if (ret)
			return MISUSE_NR;
		for (uint32_t t = 0; t < 4; t++) {
			if (ops[k].dead == t + 1)
				continue;
			c[p.nr] = (struct search_cand){ .task = t, .enabled = ops[k].woken != t + 1 };
			if (t == ops[k].task) {
				at = p.nr;
				c[p.nr].label = (struct zug_label){
					.op = ops[k].op, .object = ops[k].object,
					.object2 = ops[k].object2, .site = 100 + k,
				};
			} else if (ops[k].waiting == t + 1) {
				c[p.nr].enabled = false;
				c[p.nr].label = (struct zug_label){
					.op = ZUG_OP_LOCK, .object = ops[k].object,
				};
			}
			if (ops[k].woken == t + 1)
				c[p.nr].label = (struct zug_label){ .op = ZUG_OP_RESUME, .object = 2, .object2 = 1 };
			p.nr++;
		}
		begun = k > 0;
		shows = ops[k].shows;
		ret = misuse_step(m, &p, at, r);
	}
	return ret == 1 ? r->kind : MISUSE_NONE;
}

#define PLAY(m, r, ...) play(m, (const struct op[]){ __VA_ARGS__ }, \
	sizeof((const struct op[]){ __VA_ARGS__ }) / sizeof(struct op), r)

#define LOCK(t)		{ .task = t, .op = ZUG_OP_LOCK, .object = 1 }
#define UNLOCK(t)	{ .task = t, .op = ZUG_OP_UNLOCK, .object = 1 }
#define TRYLOCK(t)	{ .task = t, .op = ZUG_OP_TRYLOCK, .object = 1 }
#define INIT(t)		{ .task = t, .op = ZUG_OP_MUTEX_INIT, .object = 1 }
#define DESTROY(t)	{ .task = t, .op = ZUG_OP_MUTEX_DESTROY, .object = 1 }
#define WAIT(t)		{ .task = t, .op = ZUG_OP_COND_WAIT, .object = 2, .object2 = 1 }
#define STEP(t)		{ .task = t, .op = ZUG_OP_YIELD }
#define RESUME(t)	{ .task = t, .op = ZUG_OP_RESUME, .object = 2, .object2 = 1 }
#define JOIN(t)		{ .task = t, .op = ZUG_OP_JOIN, .object = 9 }
#define DETACH(t)	{ .task = t, .op = ZUG_OP_DETACH, .object = 9 }
#define AT(memory, t, what) { .task = t, .op = ZUG_OP_##what, .object = ZUG_OP_##what == ZUG_OP_YIELD ? 0 : 1, \
			      .shows = memory }
#define CREATE(t)	{ .task = t, .op = ZUG_OP_CREATE, .object = 9 }

static void test_labels_alone(void)
{
	struct misuse *m = misuse_new(NULL, NULL);
	struct misuse_report r;

	ok(PLAY(m, &r, LOCK(0), UNLOCK(0), UNLOCK(0)) == MISUSE_UNLOCK_FREE, "second unlock");
	ok(r.task == 0 && r.object == 1 && r.earlier_site == 101, "says where it was unlocked");
	ok(PLAY(m, &r, INIT(0), UNLOCK(1)) == MISUSE_UNLOCK_FREE, "unlock of a fresh mutex");
	ok(PLAY(m, &r, LOCK(0), STEP(0), UNLOCK(1)) == MISUSE_UNLOCK_FOREIGN, "foreign unlock");
	ok(r.other == 0 && r.earlier_site == 100, "says who holds it and since where");
	ok(PLAY(m, &r, LOCK(0), STEP(0), INIT(1)) == MISUSE_INIT_USED, "init of a held mutex");
	ok(PLAY(m, &r, LOCK(0), STEP(0), DESTROY(1)) == MISUSE_DESTROY_USED && r.other == 0,
	   "destroy of a mutex that another task holds");
	ok(PLAY(m, &r, LOCK(0), STEP(0), DESTROY(0), STEP(0)) == MISUSE_NONE, "destroy of its own mutex");
	ok(PLAY(m, &r, { .task = 0, .op = ZUG_OP_MUTEX_DESTROY, .object = 1, .waiting = 2 }) ==
	   MISUSE_DESTROY_USED && r.other == 1, "destroy of what a task waits for");
	ok(PLAY(m, &r, { .task = 0, .op = ZUG_OP_COND_INIT, .object = 1, .waiting = 3 }) ==
	   MISUSE_INIT_USED, "init of what a task waits for");
	ok(!PLAY(m, &r, { .task = 0, .op = ZUG_OP_COND_DESTROY, .object = 2, .woken = 2 }),
	   "a condition may be destroyed when its waiters were woken, before they have their lock");
	ok(PLAY(m, &r, { .task = 0, .op = ZUG_OP_MUTEX_DESTROY, .object = 1, .woken = 2 }) == MISUSE_DESTROY_USED &&
	   r.other == 1, "but not that lock");
	ok(PLAY(m, &r, LOCK(0), UNLOCK(0), WAIT(0)) == MISUSE_WAIT_UNLOCKED,
	   "wait without the mutex");
	ok(PLAY(m, &r, LOCK(1), STEP(1), WAIT(0)) == MISUSE_WAIT_UNLOCKED && r.other == 1,
	   "wait with another task's mutex");
	ok(PLAY(m, &r, JOIN(0), STEP(0), JOIN(0)) == MISUSE_JOIN_TWICE, "second join");
	ok(PLAY(m, &r, DETACH(0), JOIN(0)) == MISUSE_JOIN_DETACHED, "join of a detached thread");

	ok(!PLAY(m, &r, UNLOCK(0)), "an unlock of unknown history is not reported");
	ok(!PLAY(m, &r, TRYLOCK(0), UNLOCK(0)), "nor one after a trylock");
	ok(!PLAY(m, &r, LOCK(0), UNLOCK(0), TRYLOCK(1), UNLOCK(1)), "wherever that comes");
	ok(!PLAY(m, &r, LOCK(0), STEP(0), { .task = 1, .op = ZUG_OP_UNLOCK, .object = 1, .dead = 1 }),
	   "the holder died: memory may be another mutex now");
	ok(!PLAY(m, &r, LOCK(0), STEP(0), { .task = 1, .op = ZUG_OP_MUTEX_INIT, .object = 1,
					    .dead = 1 }), "and may be initialised again");
	ok(!PLAY(m, &r, LOCK(0), UNLOCK(0), INIT(1), LOCK(1), UNLOCK(1)),
	   "memory used again for a mutex is not a second init");
	ok(!PLAY(m, &r, LOCK(0), UNLOCK(0), DESTROY(0), LOCK(0), UNLOCK(0)),
	   "nor use after destroy: std::mutex never calls init");
	ok(!PLAY(m, &r, LOCK(0), WAIT(0), RESUME(0), UNLOCK(0)), "a wait gives the mutex back");
	ok(!PLAY(m, &r, LOCK(0), WAIT(0), LOCK(1), UNLOCK(1), RESUME(0), UNLOCK(0)),
	   "while another task had it");
	ok(!PLAY(m, &r, LOCK(0), STEP(0), LOCK(0), UNLOCK(0), UNLOCK(0)),
	   "a second lock may be of a recursive mutex");
	ok(!PLAY(m, &r, LOCK(0), LOCK(1), UNLOCK(1)), "a lock that has not come back proves nothing");
	ok(!PLAY(m, &r, JOIN(0), STEP(0), CREATE(0), JOIN(0)), "a new thread of that name");
	misuse_free(m);
}

static void test_memory(void)
{
	struct misuse *m = misuse_new(read_memory, NULL);
	struct misuse_report r;

	readable = true;
	memory = (struct misuse_memory){ .locked = true };
	ok(!PLAY(m, &r, LOCK(0), UNLOCK(0), UNLOCK(0)),
	   "memory says locked: some code without probes took it");
	memory = (struct misuse_memory){ .locked = true, .owner_known = true, .owner = 1 };
	ok(!PLAY(m, &r, LOCK(0), STEP(0), UNLOCK(1)), "memory says that it is the task's own");
	memory.owner = 0;
	ok(PLAY(m, &r, LOCK(0), STEP(0), UNLOCK(1)) == MISUSE_UNLOCK_FOREIGN,
	   "memory and labels agree: foreign unlock");
	ok(PLAY(m, &r, LOCK(0), STEP(0), LOCK(0)) == MISUSE_RELOCK, "relock of a normal mutex");
	ok(PLAY(m, &r, LOCK(0), STEP(0), UNLOCK(0), LOCK(0)) == MISUSE_RELOCK,
	   "in a handler that ran before the unlock did");
	memory.recursive = true;
	ok(!PLAY(m, &r, LOCK(0), STEP(0), LOCK(0)), "not of a recursive one");
	memory = (struct misuse_memory){ .fixed = true };
	ok(PLAY(m, &r, INIT(0), INIT(0)) == MISUSE_INIT_TWICE && r.earlier_site == 100,
	   "second init of a global");
	ok(!PLAY(m, &r, INIT(0), DESTROY(0), INIT(0)), "not after a destroy");
	ok(PLAY(m, &r, INIT(0), DESTROY(0), LOCK(0)) == MISUSE_USE_DESTROYED,
	   "use of a global after its destroy");
	memory.fixed = false;
	ok(!PLAY(m, &r, INIT(0), INIT(0)), "on the heap it may be another object");
	/* a normal mutex of musl does not say whose it is */
	ok(PLAY(m, &r, AT(FREE, 0, LOCK), AT(LOCKED, 0, YIELD), AT(LOCKED, 1, UNLOCK)) == MISUSE_UNLOCK_FOREIGN,
	   "free before the lock, locked right after it: foreign unlock");
	ok(!PLAY(m, &r, AT(FREE, 1, LOCK), AT(LOCKED, 1, YIELD), AT(LOCKED, 0, LOCK), AT(LOCKED, 0, YIELD),
		 AT(LOCKED, 1, UNLOCK)), "a task that has stopped in its lock does not hold it");
	ok(!PLAY(m, &r, AT(FREE, 0, LOCK), AT(FREE, 0, YIELD), AT(FREE, 1, LOCK), AT(LOCKED, 1, YIELD),
		 AT(LOCKED, 1, UNLOCK)), "nor one that a handler has interrupted before it");
	readable = false;
	ok(!PLAY(m, &r, LOCK(0), UNLOCK(0), UNLOCK(0)), "memory cannot be read: not reported");
	misuse_free(m);
}

static void test_texts(void)
{
	bool good = true;

	for (int k = 0; k < MISUSE_NR; k++)
		good &= misuse_text(k) && *misuse_text(k);
	ok(good, "every kind has its text");
}

int main(void)
{
	test_labels_alone();
	test_memory();
	test_texts();
	printf("1..%d\n", nr_tests);
	return nr_failed != 0;
}
