/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes points of the calls by which a process begins to deal with a signal otherwise, once the test was seen to send it.
 *
 * Shells and other programs set what they do at HUP, INT, QUIT, TERM and more in each process that they make. Until one of
 * these comes no other task can tell when (unseen.bpf.h): such calls are no points before. The first execution mostly shows
 * which signals there are.
 */
#include <stdlib.h>
#include "campaign/policy.h"

struct heard {
	struct session *s;
	uint64_t sent;		/* bits: those that the executions so far have sent */
};

static int open_signals(void *state, struct session *s, struct race_book *races, char *err, size_t errlen)
{
	((struct heard *)state)->s = s;
	return 0;
}

static int after(void *state, enum points_phase phase, struct execution *x, char *err, size_t errlen)
{
	struct heard *h = state;

	h->sent |= kworld_signals_sent(h->s->world);
	return 0;
}

static int learn(void *state, bool only_more, char *err, size_t errlen)
{
	struct heard *h = state;
	struct session *s = h->s;
	uint64_t more = h->sent & ~s->o.points.signals;

	/* a replay has the points that were recorded */
	if (!more || !s->o.points.seen_only || s->o.replay.probed)
		return 0;
	session_hear_signals(s, s->o.points.signals | more);
	return __builtin_popcountll(more);
}

const struct point_policy policy_signals = {
	.size = sizeof(struct heard), .open = open_signals, .after = after, .learn = learn, .learns_always = true,
};
