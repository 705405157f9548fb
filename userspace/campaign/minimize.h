/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * minimize.h - the simplest schedule that fails as a trace does: search/minimize.h on the real test
 */
#ifndef ZUG_MINIMIZE_H
#define ZUG_MINIMIZE_H

#include "campaign/campaign.h"

/*
 * When to stop before the schedule is minimal; 0: no bound. The counts come first where executions
 * are short, and the result is the same each time then; the time is for those that are long. Beside
 * it the campaign's own (--time) holds.
 */
struct minimize_limits {
	uint64_t executions, steps, time_ns;
	bool other_data;	/* points on data have come or gone since the trace was made */
	bool twice;		/* what fails has to fail again before it counts as simpler */
};
/*
 * Before something else is told: a finding, the closest that passes. Of a long execution a few dozen are made all the same, as
 * far as there is time.
 */
static inline struct minimize_limits minimize_aside(const struct trace *t, uint64_t time_ns)
{
	uint64_t least = 50 * trace_nr_steps(t);

	return (struct minimize_limits){ .executions = 200, .steps = least > 50000 ? least : 50000, .time_ns = time_ns };
}
/* Where the simplest schedule is what was asked for. */
#define MINIMIZE_ALONE		((struct minimize_limits){ .executions = 5000 })
/*
 * Of this time minimising gets all but a quarter: the rest is for the executions that look for what
 * decides. Where these take long they get more, up to a half: what decides says more than one
 * preemption less.
 */
#define MINIMIZE_EXPLAINS	12
static inline uint64_t minimize_share(uint64_t time_ns, uint64_t execution_ns)
{
	uint64_t rest = MINIMIZE_EXPLAINS * execution_ns;

	rest = rest < time_ns / 4 ? time_ns / 4 : rest;
	return time_ns - (rest > time_ns / 2 ? time_ns / 2 : rest);
}

/* What ended it before the schedule was minimal. */
enum minimize_cut {
	MINIMIZE_WHOLE = 0,
	MINIMIZE_CUT_EXECUTIONS,
	MINIMIZE_CUT_STEPS,
	MINIMIZE_CUT_TIME,
	MINIMIZE_INTERRUPTED,
	MINIMIZE_ONCE,		/* simpler ones failed like it, but not again */
};

struct minimized {
	bool reproduced; /* following the trace failed in the same way; else all but came is 0 */
	bool minimal;		/* nothing simpler under the minimiser's moves */
	enum minimize_cut cut;	/* else */
	uint64_t time_ns;	/* that it took */
	uint64_t left;	/* tries that would have been made yet, about; 0: it is not known */
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
 * reproduce): never worse than t, and with the pairs that matter. One that was cut keeps the best so
 * far. 0 or -errno with a line in err.
 */
int minimize_trace(struct campaign *c, const struct trace *t, const struct minimize_limits *limits,
		   const char *to, struct minimized *m, char *err, size_t errlen);

#endif
