/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * closest.h - the passing execution that is closest to a failing trace: search/neighbour.h on the
 * real test
 */
#ifndef ZUG_CLOSEST_H
#define ZUG_CLOSEST_H

#include "search/neighbour.h"
#include "campaign/campaign.h"

struct closest {
	struct neighbour_result r;
	bool interrupted, late;	/* it ended so, or at the end of its time, before all were tried */
	char came[1100]; /* not reproduced: what happened instead; "": interrupted before it could
			  */
};

/*
 * t: a failing trace of c's test. At most so many executions (0: all there are). Writes the trace
 * of the closest passing one to the file 'to', when there is one. 0 or -errno with a line in err.
 */
int closest_trace(struct campaign *c, const struct trace *t, uint64_t executions, const char *to,
		  struct closest *m, char *err, size_t errlen);

/*
 * Looks for the two operations whose order decides, in at most so many executions, and writes them
 * into the minimised trace at 'path', until until_ns on clock_now_ns() (0: no bound).
 * Nothing is done where something else than an order may have decided: what the search has made of a call, or a timer.
 * *known: they were found, or there is nothing to look for. 0 or -errno with a line in err; the trace
 * stays as it was then.
 */
int closest_explain(struct campaign *c, const char *path, uint64_t executions, uint64_t until_ns,
		    bool *known, char *err, size_t errlen);

/*
 * One more execution of the schedule at 'path' stops at each step, and notes in that trace which lines of the program call
 * the code of libraries and interpreters that makes them. 0, also where there is nothing to note, or the execution was
 * another one; -errno with a line in err.
 */
int closest_note_callers(struct campaign *c, const char *path, char *err, size_t errlen);

/*
 * Among what is close is the same schedule without what the search has made of a call, or without a
 * timer that fired: so that t fails again, and then without each of these, from the last to the
 * first. The first that passes is *step, its trace at 'to', and counts as found in m; none passes
 * or there is none: UINT64_MAX, and only m->r.reproduced tells. 0 or -errno with a line in err.
 */
int closest_without(struct campaign *c, const struct trace *t, const char *to, uint64_t *step,
		    struct closest *m, char *err, size_t errlen);

#endif
