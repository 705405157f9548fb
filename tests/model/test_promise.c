/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_promise.c - what the search promises of its next choices it does, also where points are missing that earlier
 * executions had
 */
#include <string.h>
#include "model.h"
#include "search/rng.h"
#include "tap.h"

#define TASKS	3
#define OPS	12
#define OBJECTS	4

static const char *const strategies[] = {
	"random", "pct:depth=3", "pos", "urw", "surw", "guided", "reversal", "lockstep", "preemption:bound=2", "dpor", "portfolio",
};

/* What a task does, one after the other, each at a place of its own. None waits. */
struct line {
	struct zug_label ops[OPS];
};

struct promises {
	uint64_t given;		/* for one or more points */
	uint64_t kept, broken;	/* points, as promised or not */
};

static void make_lines(struct line lines[TASKS], struct rng *rng)
{
	for (uint32_t t = 0; t < TASKS; t++)
		for (uint32_t i = 0; i < OPS; i++)
			lines[t].ops[i] = (struct zug_label){
				.op = rng_below(rng, 2) ? ZUG_OP_ATOMIC_RMW : ZUG_OP_ATOMIC_LOAD,
				.flags = ZUG_L_WRITE, .site = 1 + t * OPS + i, .object = 1 + rng_below(rng, OBJECTS),
			};
}

/* Steps of a task up to its next operation that is a point. */
static uint32_t next_point(const bool *points, uint32_t task, uint32_t at)
{
	while (at < OPS && !points[task * OPS + at])
		at++;
	return at;
}

/* One execution in which only some operations are points. */
static void execute(struct search *s, const struct line lines[TASKS], const bool *points, struct promises *n)
{
	uint32_t at[TASKS], last = SEARCH_NO_TASK, promised = SEARCH_NO_TASK, live_then = 0;
	enum search_until until = SEARCH_UNTIL_DONE;
	uint64_t left = 0;

	for (uint32_t t = 0; t < TASKS; t++)
		at[t] = next_point(points, t, 0);
	for (uint64_t step = 0;; step++) {
		struct search_cand cand[TASKS];
		struct search_point p = { .step = step, .last = last, .cand = cand };
		bool can = false;
		int i;

		memset(cand, 0, sizeof(cand));
		for (uint32_t t = 0; t < TASKS; t++) {
			if (at[t] == OPS)
				continue;
			can |= t == promised;
			cand[p.nr++] = (struct search_cand){ .task = t, .enabled = true, .label = lines[t].ops[at[t]] };
		}
		if (!p.nr)
			break;
		i = search_pick(s, &p);
		if (i < 0)
			break;
		/* the end of a task, which is not enabled any more, ends what is not for all points */
		if (until != SEARCH_UNTIL_DONE && until != SEARCH_UNTIL_OWN && p.nr != live_then)
			left = 0;
		if (left && can) {
			n->kept += cand[i].task == promised;
			n->broken += cand[i].task != promised;
			left = until == SEARCH_UNTIL_OWN && cand[i].label.flags & ZUG_L_OWN ? 0 : left - 1;
		} else {
			left = 0;
		}
		last = cand[i].task;
		if (!left) {
			left = search_promise(s, &p, &until);
			promised = last;
			live_then = p.nr;
			n->given += left > 0;
		}
		at[last] = next_point(points, last, at[last] + 1);
	}
	search_end(s, &(struct search_end){ .result = SEARCH_PASS });
}

/* own: one operation of each task is of the program's own code, and the others are not. */
static void test_strategy(const char *strategy, bool own)
{
	struct promises n = { 0 };

	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct search *s = model_search(strategy, seed, 1);
		struct rng rng;
		struct line lines[TASKS];

		rng_seed(&rng, seed, 0);
		make_lines(lines, &rng);
		for (uint32_t t = 0; own && t < TASKS; t++)
			lines[t].ops[OPS / 2].flags |= ZUG_L_OWN;
		for (int e = 0; e < 30; e++) {
			bool points[TASKS * OPS];

			for (int i = 0; i < TASKS * OPS; i++)
				points[i] = rng_below(&rng, 5);
			if (search_begin(s) != SEARCH_GO)
				break;
			execute(s, lines, points, &n);
		}
		search_free(s);
	}
	tap_ok(!n.broken && n.given, "%s%s: %llu promises, %llu points under them, %llu others", strategy, own ? ", own steps" : "",
	       (unsigned long long)n.given, (unsigned long long)n.kept, (unsigned long long)n.broken);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(strategies) / sizeof(strategies[0]); i++)
		test_strategy(strategies[i], false);
	test_strategy("surw", true);
	test_strategy("portfolio", true);
	return tap_done();
}
