/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_changed.c - points that say what has changed (search_point.changed, places, bits) give the same search as points that
 * do not, with few tasks and with many
 */
#include <errno.h>
#include <string.h>
#include "search/rng.h"
#include "search/search.h"
#include "tap.h"

#define MAX_TASKS	70	/* more than a word has bits */
#define STEPS		6	/* of each task, at most */
#define OBJECTS		5

/* A program, whose state follows from what each task has done. */
struct program {
	uint32_t nr;
	uint64_t seed;
	uint32_t pc[MAX_TASKS];
};

struct point {
	struct search_point p;
	struct search_cand cand[MAX_TASKS];
	uint32_t enabled[MAX_TASKS], places[MAX_TASKS], changed[2 * MAX_TASKS + 2];
	uint64_t bits[MAX_TASKS / 64 + 1];
};

static uint64_t draw(const struct program *p, uint32_t task, uint32_t what)
{
	return mix64(mix64(p->seed + task) + p->pc[task] * 16 + what);
}

static uint32_t len(const struct program *p, uint32_t task)
{
	return 1 + mix64(p->seed * 31 + task) % STEPS;
}

/* A task is created by a step of one with a lower number. */
static uint32_t parent(uint32_t task)
{
	return task / 3;
}

static bool lives(const struct program *p, uint32_t task)
{
	return p->pc[task] < len(p, task) && (!task || p->pc[parent(task)] > mix64(task) % len(p, parent(task)));
}

/* It waits for a step of one with a lower number, or for none: so some task can always go on. */
static bool may_go_on(const struct program *p, uint32_t task)
{
	uint32_t other = task ? draw(p, task, 0) % task : 0;

	return !task || draw(p, task, 1) % 3 || !lives(p, other) || p->pc[other] > draw(p, task, 2) % len(p, other);
}

static struct zug_label label(const struct program *p, uint32_t task)
{
	static const uint16_t ops[] = { ZUG_OP_DATA_WRITE, ZUG_OP_DATA_READ, ZUG_OP_LOCK, ZUG_OP_UNLOCK, ZUG_OP_ATOMIC_RMW,
					ZUG_OP_YIELD, ZUG_OP_SYSCALL, ZUG_OP_BEGIN, ZUG_OP_RESUME, ZUG_OP_RENAME };
	struct zug_label l = { .op = ops[draw(p, task, 3) % (sizeof(ops) / sizeof(ops[0]))], .site = 1 + draw(p, task, 4) % 20 };

	l.flags = zug_op_flags(l.op);
	if (l.op != ZUG_OP_YIELD && l.op != ZUG_OP_BEGIN && draw(p, task, 5) % 8)
		l.object = 1000 + draw(p, task, 6) % OBJECTS;
	if (l.object && draw(p, task, 7) % 4 == 0)
		l.object2 = 1000 + draw(p, task, 8) % OBJECTS;
	return l;
}

static void show(const struct program *p, struct point *now, uint64_t step, uint32_t last, bool yielded)
{
	memset(now, 0, sizeof(*now));
	now->p = (struct search_point){ .step = step, .last = last, .yielded = yielded, .cand = now->cand };
	for (uint32_t t = 0; t < p->nr; t++) {
		struct search_cand *c = &now->cand[now->p.nr];

		if (!lives(p, t))
			continue;
		*c = (struct search_cand){ .task = t, .parent = t ? parent(t) : SEARCH_NO_TASK, .label = label(p, t),
					   .enabled = may_go_on(p, t) };
		c->blocked = !c->enabled && t % 2;
		if (c->enabled) {
			now->enabled[now->p.nr_enabled++] = now->p.nr;
			now->bits[t / 64] |= 1ull << t % 64;
		}
		now->places[t] = ++now->p.nr;
	}
	now->p.enabled = now->enabled;
}

static bool differs(const struct point *a, const struct point *b, uint32_t task)
{
	if (!a->places[task] || !b->places[task])
		return a->places[task] || b->places[task];
	return memcmp(&a->cand[a->places[task] - 1], &b->cand[b->places[task] - 1], sizeof(a->cand[0])) != 0;
}

/* What has changed since the point before, some of it twice, and some that has not; now and then anything may have. */
static void tell(const struct program *p, struct point *now, const struct point *before, struct rng *rng)
{
	now->p.places = now->places;
	now->p.nr_places = p->nr;
	now->p.bits = now->bits;
	now->p.nr_words = p->nr / 64 + 1;
	if (!now->p.step || !rng_below(rng, 20))
		return;
	now->p.changed = now->changed;
	for (uint32_t t = p->nr; t-- > 0;)
		for (int i = differs(now, before, t) ? 1 + !rng_below(rng, 4) : !rng_below(rng, 16); i > 0; i--)
			now->changed[now->p.nr_changed++] = t;
}

/*
 * All that the two searches say at that point, which b is told more of; the candidate, or -errno, and -EPROTO if they
 * differ.
 */
static int pick(struct search *a, struct search *b, const struct search_point *told, uint32_t nr)
{
	struct search_point plain = { .step = told->step, .last = told->last, .yielded = told->yielded, .nr = told->nr,
				      .cand = told->cand };
	enum search_until x, y;
	bool held_a, held_b;
	int i = search_pick(a, &plain);

	if (search_pick(b, told) != i || (i < 0 && i != -ESTALE))
		return -EPROTO;
	if (i == -ESTALE) {
		i = search_pick(a, &plain);
		if (search_pick(b, told) != i || i < 0)
			return -EPROTO;
	}
	if (search_promise(a, &plain, &x) != search_promise(b, told, &y) || x != y)
		return -EPROTO;
	for (uint32_t t = 0; t < nr; t++)
		if (search_weight(a, t) != search_weight(b, t) || search_priority(a, t, &held_a) != search_priority(b, t, &held_b) ||
		    held_a != held_b)
			return -EPROTO;
	return i;
}

/* An execution of both: its steps; 0: they differ. */
static uint64_t execute(struct search *a, struct search *b, struct program *p, struct rng *rng)
{
	static struct point points[2];
	uint32_t last = SEARCH_NO_TASK;
	bool yielded = false;
	uint64_t step = 0;

	memset(p->pc, 0, sizeof(p->pc));
	for (;; step++) {
		struct point *now = &points[step % 2];
		int i;

		show(p, now, step, last, yielded);
		if (!now->p.nr)
			break;
		tell(p, now, &points[(step + 1) % 2], rng);
		i = pick(a, b, &now->p, p->nr);
		if (i < 0)
			return 0;
		last = now->cand[i].task;
		yielded = now->cand[i].label.op == ZUG_OP_YIELD;
		p->pc[last]++;
	}
	return step;
}

static bool same_search(const char *strategy, uint64_t seed, uint32_t nr, uint64_t *steps)
{
	const struct search_options o = { .strategy = strategy, .seed = seed, .fair = 1, .preemptions = -1 };
	struct search *a = search_new(&o, NULL, 0), *b = search_new(&o, NULL, 0);
	struct program p = { .nr = nr, .seed = mix64(seed) };
	bool same = a && b;
	struct rng rng;

	rng_seed(&rng, seed, 1);
	for (int k = 0; same && k < 12; k++) {
		uint64_t made;
		int begun = search_begin(a);

		same = search_begin(b) == begun;
		if (!same || begun != SEARCH_GO)
			break;
		made = execute(a, b, &p, &rng);
		same = made;
		*steps += made;
		search_end(a, &(struct search_end){ .result = SEARCH_PASS });
		search_end(b, &(struct search_end){ .result = SEARCH_PASS });
	}
	search_free(a);
	search_free(b);
	return same;
}

int main(void)
{
	static const char *const strategies[] = { "random", "pct", "pos", "surw", "urw", "guided", "reversal", "cycles", "lockstep",
						  "preemption", "delay", "dpor", "portfolio" };
	static const uint32_t sizes[] = { 5, 30, MAX_TASKS };

	for (size_t i = 0; i < sizeof(strategies) / sizeof(strategies[0]); i++) {
		uint64_t differ = 0, steps = 0, seeds = tap_scale(10, 200);

		for (uint64_t seed = 1; seed <= seeds && !differ; seed++)
			for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
				differ += !same_search(strategies[i], seed, sizes[k], &steps);
		tap_ok(!differ && steps > 1000, "%s: points that say what has changed give the same search", strategies[i]);
	}
	return tap_done();
}
