/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * campaign_lanes.h - several executions at a time (-j N)
 *
 * When the search is frozen (campaign_parts.h), N copies of this process are forked, the lanes. Each has a sandbox and a
 * CPU of its own, and the same probes. They are given parts in the order of their numbers, and tell what each execution
 * came to. This process, the campaign, goes through the parts in their order: what a lane has made and what passed is
 * counted; all else it makes itself, as if there were no lanes: failures, what diverged, was cut, or showed something
 * that is to be told, and what a lane did that has ended. So nothing that is found depends on N, or on a lane's fate.
 *
 * Without -j, and with -j 1, all of these do nothing.
 */
#ifndef ZUG_CAMPAIGN_LANES_H
#define ZUG_CAMPAIGN_LANES_H

#include <stddef.h>
#include "engine/engine.h"
#include "campaign/campaign.h"

struct campaign;

/* Makes the next execution of the part that was entered; *what: CAMPAIGN_EXHAUSTED: there is none. */
typedef int (*campaign_make)(struct campaign *c, struct execution *x, enum campaign_step *what, char *err, size_t errlen);

/* Before the session is prepared. 0, or -EINVAL with a line in err: so many there cannot be. */
int campaign_lanes_check(const struct campaign_options *o, const struct kernel *k, char *err, size_t errlen);

enum campaign_taken {
	TAKEN_NOT,		/* this process makes the execution */
	TAKEN_EXECUTION,	/* x is one that a lane has made; it is in the figures */
	TAKEN_PART,		/* lanes have made all of the part: campaign_parts_over() was called */
	TAKEN_STOP,		/* the user or the time ends the campaign */
};
/* The next execution of the part that was entered. An enum campaign_taken, or -errno with a line in err. */
int campaign_lanes_take(struct campaign *c, campaign_make make, struct execution *x, char *err, size_t errlen);
/* What this process has used of its CPU for what lanes have made: the serial part. */
uint64_t campaign_lanes_serial(const struct campaign *c);
/* Ends all lanes, and waits until nothing is left of them. The next campaign_lanes_take() starts others. */
void campaign_lanes_stop(struct campaign *c);

#endif
