/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes no points: chooses the executions in which time-outs, sleeps and timers may end before their
 * time (--timeouts auto), as on a machine where the tasks that they wait for are slow.
 *
 * In such an execution no point is passed because no other task can run, and a task that waits with a time-out can go on:
 * schedules are longer, and many bugs are further away in them. So it is every third execution of a
 * search that samples, once the test was seen to have any; and when all other schedules have been
 * tried, which are few in small tests, some more. The engine keeps to what is likely on a slow machine
 * (likely_timeouts).
 *
 * That such an execution comes to no end says nothing: what waits for another task in a loop, with a
 * sleep of a millisecond in it, may have been let go too often.
 */
#include <stdio.h>
#include <stdlib.h>
#include "campaign/policy.h"

#define EVERY	3
#define ENOUGH	150	/* when all other schedules have been tried */

struct early {
	struct session *s;
	unsigned int since;	/* executions since the last one with early time-outs */
	unsigned int nr;	/* of these */
	unsigned int endless;	/* of these: that came to no end */
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
		(s->frozen    ? s->part % EVERY == EVERY - 1 :
		 s->exhausted ? e->nr < ENOUGH :
				e->since >= EVERY);
	if (early) {
		e->since = 0;
		e->nr++;
	}
	session_explore_timeouts(s, early);
	*apart |= early;
}

static void judge(void *state, struct execution *x)
{
	struct early *e = state;
	enum zug_outcome_kind kind = x->outcome.kind;

	if (e->s->o.inputs.timeouts != TIMEOUTS_AUTO || !x->early ||
	    (kind != ZUG_OUTCOME_SPIN && kind != ZUG_OUTCOME_LIVELOCK && kind != ZUG_OUTCOME_TIMEOUT))
		return;
	outcome_set(&x->outcome, ZUG_OUTCOME_DISCARDED, "no end, after early time-outs");
	x->outcome.failure = 0;
	e->endless += !e->s->aside;
}

static void note(void *state, struct campaign_notes *n)
{
	const struct early *e = state;

	if (e->endless && asprintf(&n->timeouts, "%u of the executions do not count: time-outs ended early in them, "
				   "and they came to no end\n", e->endless) < 0)
		n->timeouts = NULL;
}

const struct point_policy policy_timeouts = {
	.size = sizeof(struct early), .open = open_timeouts, .begin = begin,
	.judge = judge, .note = note,
};
