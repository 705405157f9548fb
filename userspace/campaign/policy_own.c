/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes no points: chooses the executions in which an interpreted program has points in its own functions alone.
 *
 * Most operations of such a program are those of the language's library: locks of its queues, pools and events, sockets of
 * its servers. A bug is seldom there. With all of them as points, a preemption between two given lines of the program is one of
 * hundreds; without them it is one of ten or twenty. Some bugs need a switch in the library all the same: so it is three
 * executions in five. (The strategies of a portfolio have turns, too: an odd number of executions meets all of them.)
 */
#include <stdlib.h>
#include "campaign/policy.h"

#define OF	5

struct own {
	struct session *s;
	uint64_t nr;		/* of the execution, from 0 on */
	bool only;		/* it is one of these */
};

static int open_own(void *state, struct session *s, struct race_book *races, char *err, size_t errlen)
{
	((struct own *)state)->s = s;
	return 0;
}

/* The second, the fourth and the fifth of five. */
static bool has_turn(uint64_t nr)
{
	return nr % OF == 1 || nr % OF >= 3;
}

static void begin(void *state, bool *apart)
{
	struct own *o = state;
	struct session *s = o->s;
	bool only = has_turn(s->frozen ? s->part : o->nr++);

	only &= s->sampled && !*apart && !s->exhausted && probes_knows_executed(s->probes) && !probes_has_scope(s->probes);
	if (only != o->only)
		session_own_only(s, only);
	o->only = only;
	*apart |= only;
}

const struct point_policy policy_own = { .size = sizeof(struct own), .open = open_own, .begin = begin };
