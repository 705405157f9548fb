/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * minimize.h - the simplest schedule that fails as a trace does: search/minimize.h on the real test
 */
#ifndef ZUG_MINIMIZE_H
#define ZUG_MINIMIZE_H

#include "campaign/campaign.h"

/*
 * When to stop before the schedule is minimal; 0: no bound. Counts, so that the result is the same
 * each time.
 */
struct minimize_limits {
	uint64_t executions, steps;
};

struct minimized {
	bool reproduced; /* following the trace failed in the same way; else all but came is 0 */
	bool minimal; /* nothing simpler under the minimiser's moves; false: a limit, or interrupted
		       */
	bool simpler;		/* than what was given */
	uint64_t executions;	/* made */
	uint64_t steps_before, steps;
	uint32_t preemptions_before, preemptions;
	uint32_t dropped;	/* faults and flows that it fails without */
	uint32_t dropped_timers;	/* need not fire where the search had let them */
	uint32_t decisions_before, decisions;	/* that differ from letting each task run on */
	char came[1100]; /* not reproduced: what happened instead; "": interrupted before it could
			  */
};

/*
 * t: a failing trace of c's test. Writes the simplest one to the file 'to' (not when it does not
 * reproduce): never worse than t, and with the pairs that matter. An interrupted campaign keeps the
 * best so far. 0 or -errno with a line in err.
 */
int minimize_trace(struct campaign *c, const struct trace *t, const struct minimize_limits *limits,
		   const char *to, struct minimized *m, char *err, size_t errlen);

#endif
