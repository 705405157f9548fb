/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_events.c - a program whose main thread is a loop of events, as libuv has it: a pool of threads makes operations on files
 * for it, and tells the loop of each
 *
 * Two chains of operations are under way, each of which goes on when the loop is told that its last operation is done. One
 * reads a file and writes it back plus one; the other looks at another file, then does the same. The update is lost where
 * both read before one writes, and the second chain is five operations behind: some operation of the first one has to be held
 * back while the other chain makes two rounds through the loop.
 */
#include <string.h>
#include "search/search.h"
#include "tap.h"

#define POOL	4
#define TASKS	(POOL + 1)	/* the loop is task 0 */
#define ALONE	80		/* steps of the loop before there is a pool */

enum { FILE_COUNT = 1, FILE_OTHER, EVENTS, EVENT, QUEUE, OWN = 1000 };

static const struct work {
	uint32_t op, object;
	bool writes;
} update[] = {
	{ ZUG_OP_OPEN, FILE_COUNT, false }, { ZUG_OP_STAT, FILE_COUNT, false }, { ZUG_OP_READ, FILE_COUNT, false },
	{ ZUG_OP_CLOSE, FILE_COUNT, false },
	{ ZUG_OP_OPEN, FILE_COUNT, true }, { ZUG_OP_WRITE, FILE_COUNT, true }, { ZUG_OP_CLOSE, FILE_COUNT, false },
}, look[] = {
	{ ZUG_OP_OPEN, FILE_OTHER, false }, { ZUG_OP_STAT, FILE_OTHER, false }, { ZUG_OP_READ, FILE_OTHER, false },
	{ ZUG_OP_CLOSE, FILE_OTHER, false }, { ZUG_OP_STAT, FILE_OTHER, false },
};

#define UPDATE	(sizeof(update) / sizeof(update[0]))
#define LOOK	(sizeof(look) / sizeof(look[0]))

struct loop {
	uint32_t alone;			/* steps that the loop has made before */
	enum { WAITS, TOLD } state;	/* before it asks what is ready; before it reads that */
	uint32_t told;			/* completions that it is told of, once */
	uint32_t queue[2], nr_queue;	/* chains whose operation nobody has taken */
	uint32_t done[2], nr_done;	/* chains whose operation is done */
	uint32_t at[2];			/* operations of each chain that came to their end */
	struct {
		enum { IDLE, WOKEN, OPERATION, TELL } state;
		uint32_t chain;
	} pool[POOL];
	int number, read[2];
	bool torn;			/* the file was read while it was empty */
};

static const struct work *next_of(const struct loop *l, uint32_t chain)
{
	return chain && l->at[1] < LOOK ? &look[l->at[1]] : &update[l->at[chain] - (chain ? LOOK : 0)];
}

static bool ended(const struct loop *l, uint32_t chain)
{
	return l->at[chain] == UPDATE + (chain ? LOOK : 0);
}

static void submit(struct loop *l, uint32_t chain)
{
	l->queue[l->nr_queue++] = chain;
	for (uint32_t i = 0; i < POOL; i++)
		if (l->pool[i].state == IDLE) {
			l->pool[i].state = WOKEN;
			return;
		}
}

static struct search_cand candidate(const struct loop *l, uint32_t task)
{
	struct search_cand c = { .task = task, .parent = task ? 0 : SEARCH_NO_TASK, .enabled = true };
	const struct work *w;

	if (!task && l->alone < ALONE) {
		c.label = (struct zug_label){ .op = ZUG_OP_STAT, .object = OWN + l->alone, .site = 100 };
	} else if (!task) {
		c.label = l->state == TOLD ? (struct zug_label){ .op = ZUG_OP_READ, .object = EVENT, .flags = ZUG_L_WRITE, .site = 2 } :
			  (struct zug_label){ .op = ZUG_OP_POLL, .object = EVENTS, .site = 1 };
		c.enabled = l->state == TOLD || l->told;
	} else if (l->pool[task - 1].state <= WOKEN) {
		c.label = (struct zug_label){ .op = ZUG_OP_RESUME, .object = QUEUE, .site = 3 };
		c.enabled = l->pool[task - 1].state == WOKEN;
		c.blocked = !c.enabled;
	} else if (l->pool[task - 1].state == OPERATION) {
		w = next_of(l, l->pool[task - 1].chain);
		c.label = (struct zug_label){ .op = w->op, .object = w->object, .flags = w->writes ? ZUG_L_WRITE : 0, .site = 10 + w->op };
	} else {
		c.label = (struct zug_label){ .op = ZUG_OP_WRITE, .object = EVENT, .flags = ZUG_L_WRITE, .site = 4 };
	}
	return c;
}

static void operate(struct loop *l, uint32_t chain)
{
	const struct work *w = next_of(l, chain);

	if (w->object != FILE_COUNT)
		return;
	if (w->op == ZUG_OP_READ) {
		l->read[chain] = l->number;
		l->torn |= l->number < 0;
	} else if (w->op == ZUG_OP_OPEN && w->writes) {
		l->number = -1;
	} else if (w->op == ZUG_OP_WRITE) {
		l->number = l->read[chain] + 1;
	}
}

static void take(struct loop *l, uint32_t thread)
{
	l->pool[thread].state = IDLE;
	if (!l->nr_queue)
		return;
	l->pool[thread].state = OPERATION;
	l->pool[thread].chain = l->queue[0];
	l->queue[0] = l->queue[1];
	l->nr_queue--;
}

static void step(struct loop *l, uint32_t task)
{
	uint32_t chain;

	if (task) {
		switch (l->pool[task - 1].state) {
		case OPERATION:
			chain = l->pool[task - 1].chain;
			operate(l, chain);
			l->done[l->nr_done++] = chain;
			/* the loop is to be told already */
			if (l->told)
				take(l, task - 1);
			else
				l->pool[task - 1].state = TELL;
			return;
		case TELL:
			l->told++;
			/* fall through */
		default:
			take(l, task - 1);
			return;
		}
	}
	if (l->alone < ALONE) {
		if (++l->alone == ALONE) {
			submit(l, 0);
			submit(l, 1);
		}
	} else if (l->state == WAITS) {
		l->state = TOLD;
	} else {
		l->state = WAITS;
		l->told = 0;
		for (uint32_t i = 0, nr = l->nr_done; i < nr; i++) {
			chain = l->done[i];
			l->at[chain]++;
			if (!ended(l, chain))
				submit(l, chain);
		}
		l->nr_done = 0;
	}
}

/* One execution. True: it failed. */
static bool execute(struct search *s, bool base)
{
	struct search_point p = { .last = SEARCH_NO_TASK };
	struct search_end end = { .result = SEARCH_PASS };
	struct search_cand cand[TASKS];
	struct loop l = { .read = { -1, -1 } };

	if ((base ? search_begin_base(s) : search_begin(s)) != SEARCH_GO)
		return false;
	for (; !ended(&l, 0) || !ended(&l, 1); p.step++) {
		int i;

		p.nr = l.alone < ALONE ? 1 : TASKS;
		for (uint32_t t = 0; t < p.nr; t++)
			cand[t] = candidate(&l, t);
		p.cand = cand;
		i = search_pick(s, &p);
		if (i < 0) {
			end.result = SEARCH_ABANDONED;
			break;
		}
		p.last = cand[i].task;
		step(&l, p.last);
	}
	if (end.result == SEARCH_PASS && (l.torn || l.number != 2))
		end = (struct search_end){ .result = SEARCH_FAIL, .failure = 1 };
	search_end(s, &end);
	return end.result == SEARCH_FAIL;
}

/* Searches of so many seeds that find it in at most that many executions. */
static int found(const char *strategy, int seeds, int executions)
{
	int nr = 0;

	for (int seed = 1; seed <= seeds; seed++) {
		struct search_options o = { .strategy = strategy, .seed = (uint64_t)seed, .fair = 1, .preemptions = -1 };
		struct search *s = search_new(&o, NULL, 0);
		bool failed = false;

		for (int i = 0; s && i < executions && !failed; i++)
			failed = execute(s, !i);
		nr += failed;
		search_free(s);
	}
	return nr;
}

int main(void)
{
	int seeds = tap_scale(60, 600), usual = found(NULL, seeds, 8), events = found("portfolio:events=yes", seeds, 8);

	tap_ok(events * 10 >= seeds * 7, "in 8 executions %d of %d searches find a lost update across a loop of events", events,
	       seeds);
	tap_ok(events > usual, "in the order of turns for other programs %d do", usual);
	return tap_done();
}
