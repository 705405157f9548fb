/* SPDX-License-Identifier: GPL-2.0-only */
/* test_settled.c - the program's own steps of an execution, in the order in which they take effect */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "search/settled.h"
#include "tap.h"

#define OUT	ZUG_L_LEFT_OUT
/* The lock of an interpreter, and of a condition of the program: each a mutex and a condition. */
#define TURN	1
#define TURN_COND 2
#define OTHER	3
#define OTHER_COND 4

struct given {
	uint32_t task, op, flags;
	uint64_t object, object2;
};

static const struct given execution[] = {
	{ 1, ZUG_OP_POINT, 0, 0, 0 },
	{ 1, ZUG_OP_POINT, 0, 0, 0 },				/* 1: gives the turn away */
	{ 1, ZUG_OP_LOCK, OUT, TURN, 0 },
	{ 1, ZUG_OP_COND_SIGNAL, OUT, TURN_COND, 0 },
	{ 1, ZUG_OP_UNLOCK, OUT, TURN, 0 },			/* 4: does not have it again */
	{ 2, ZUG_OP_POINT, 0, 0, 0 },				/* 5 */
	{ 1, ZUG_OP_LOCK, OUT, TURN, 0 },
	{ 1, ZUG_OP_COND_TIMEDWAIT, OUT, TURN_COND, TURN },	/* 7: asks for it */
	{ 2, ZUG_OP_POINT, 0, 0, 0 },				/* 8: gives it away and waits at the end */
	{ 2, ZUG_OP_COND_TIMEDWAIT, OUT, TURN_COND, TURN },
	{ 1, ZUG_OP_RESUME, OUT, TURN_COND, TURN },
	{ 1, ZUG_OP_UNLOCK, OUT, OTHER, 0 },
	{ 1, ZUG_OP_UNLOCK, OUT, TURN, 0 },			/* 12: has it */
	{ 1, ZUG_OP_UNLOCK, OUT, TURN, 0 },			/* what it does then is another matter */
	{ 1, ZUG_OP_COND_TIMEDWAIT, 0, OTHER_COND, OTHER },	/* 14: the program's */
	{ 1, ZUG_OP_POINT, 0, 0, 0 },				/* 15: gives it away until another one has it */
	{ 1, ZUG_OP_LOCK, OUT, TURN, 0 },
	{ 1, ZUG_OP_UNLOCK, OUT, TURN, 0 },
	{ 1, ZUG_OP_LOCK, OUT, OTHER, 0 },
	{ 1, ZUG_OP_COND_WAIT, OUT, OTHER_COND, OTHER },
	{ 3, ZUG_OP_POINT, 0, 0, 0 },				/* 20 */
	{ 1, ZUG_OP_RESUME, OUT, OTHER_COND, OTHER },
	{ 1, ZUG_OP_UNLOCK, OUT, OTHER, 0 },
	{ 1, ZUG_OP_LOCK, OUT, TURN, 0 },			/* it is free again */
	{ 1, ZUG_OP_UNLOCK, OUT, TURN, 0 },			/* 24: has it */
};
#define STEPS	(sizeof(execution) / sizeof(execution[0]))

static struct zug_label label(const struct given *g, uint64_t site)
{
	return (struct zug_label){ .op = g->op, .flags = g->flags, .object = g->object,
				   .object2 = g->object2, .site = site };
}

static struct schedule schedule(void)
{
	struct schedule s = { .nr = STEPS, .room = STEPS, .room_labels = STEPS };

	s.tasks = calloc(STEPS, sizeof(*s.tasks));
	s.labels = calloc(STEPS, sizeof(*s.labels));
	for (size_t i = 0; i < STEPS; i++) {
		s.tasks[i] = execution[i].task;
		s.labels[i] = label(&execution[i], i);
	}
	return s;
}

static bool test_order(void)
{
	static const uint64_t at[] = { 0, 5, 1, 14, 20, 15, 8 }, effect[] = { 0, 5, 12, 14, 20, 24, 25 };
	struct schedule s = schedule();
	struct settled e = { 0 };
	bool same = !settled_steps(&s, &e) && s.nr == 7 && e.nr == 7 && e.whole == STEPS;

	for (size_t i = 0; same && i < s.nr; i++)
		same = e.at[i] == at[i] && e.effect[i] == effect[i] && s.labels[i].site == at[i] &&
		       s.tasks[i] == execution[at[i]].task;
	same = same && settled_before(&e, 5) == 1 && settled_before(&e, 12) == 2 && settled_before(&e, 13) == 3 &&
	       settled_at(&e, 2) == 1 && settled_at(&e, UINT64_MAX) == UINT64_MAX;
	settled_release(&e);
	schedule_release(&s);
	return same;
}

/* Where nothing is left out, all stays as it is. */
static bool test_nothing_left_out(void)
{
	struct schedule s = schedule();
	struct settled e = { 0 };
	bool same;

	for (size_t i = 0; i < s.nr; i++)
		s.labels[i].flags = 0;
	same = !settled_steps(&s, &e) && s.nr == STEPS;
	for (size_t i = 0; same && i < s.nr; i++)
		same = e.at[i] == i && e.effect[i] == i && s.labels[i].site == i;
	settled_release(&e);
	schedule_release(&s);
	return same;
}

/* While it goes on: a point has taken effect where its task stands before its next own step, or has the turn again. */
static bool test_made(void)
{
	static const struct given own = { 1, ZUG_OP_POINT, 0, 0, 0 };
	const struct zug_label next_own = label(&own, 0);
	struct settling t = { 0 };
	bool right = true;

	for (size_t i = 0; i <= 12; i++) {
		const struct zug_label l = label(&execution[i], i);

		if (execution[i].task != 1)
			continue;
		right &= settling_step(&t, &l) == (i == 12);
		/* behind the first point it goes on, behind the second it does not until it has the turn */
		right &= settling_made(&t, NULL) == (i == 12 ? 2u : i ? 1u : 0u);
		right &= settling_made(&t, &next_own) == (i ? 2u : 1u);
	}
	return right;
}

int main(void)
{
	tap_ok(test_order(), "the program's steps come in the order of their effects");
	tap_ok(test_nothing_left_out(), "where nothing is left out all steps are the program's");
	tap_ok(test_made(), "what a task has made is known while it goes on");
	return tap_done();
}
