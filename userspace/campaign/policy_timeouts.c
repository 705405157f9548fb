/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes no points: chooses the executions in which time-outs, sleeps and timers may end before their
 * time (--timeouts auto), as on a machine where the tasks that they wait for are slow.
 *
 * In such an execution all tasks stop at every point, and a task that waits with a time-out can go on:
 * schedules are longer, and many bugs are further away in them. So it is every third execution of a
 * search that samples, once the test was seen to have any; and when all other schedules have been
 * tried, which are few in small tests, some more. Some tests set a timer only to be ended by it when
 * they hang: the engine lets none fire early whose signal nothing handles (spare_watchdogs).
 */
#include <stdlib.h>
#include "campaign/policy.h"

#define EVERY	3
#define ENOUGH	50	/* when all other schedules have been tried */

struct early {
	struct session *s;
	unsigned int since;	/* executions since the last one with early time-outs */
	unsigned int nr;	/* of these */
};

static int open_timeouts(void *state, struct session *s, struct race_book *races, char *err,
			 size_t errlen)
{
	struct early *e = state;

	e->s = s;
	return 0;
}

static void begin(void *state, bool *apart)
{
	struct early *e = state;
	struct session *s = e->s;
	bool early;

	if (s->o.inputs.timeouts != TIMEOUTS_AUTO)
		return;
	/* looks and holds have executions of their own */
	e->since++;
	early = s->sampled && s->timed && !*apart &&
		(s->exhausted ? e->nr < ENOUGH : e->since >= EVERY);
	if (early) {
		e->since = 0;
		e->nr++;
	}
	session_explore_timeouts(s, early);
	*apart |= early;
}

const struct point_policy policy_timeouts = {
	.size = sizeof(struct early), .open = open_timeouts, .begin = begin,
};
