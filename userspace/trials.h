/* SPDX-License-Identifier: GPL-2.0-only */
/* trials.h - executions of a campaign's test that another search than its own chooses: minimiser, neighbour */
#ifndef ZUG_TRIALS_H
#define ZUG_TRIALS_H

#include "campaign.h"

struct trials {
	struct search *search;
	const struct trace *from;	/* a trial may take a multiple of its time and steps */
	uint64_t max_steps;		/* of all of them together; 0: no bound */
	const char *best;		/* the trace of one of them is left there */
	bool passes;			/* traces of executions that pass are of use, too */
	/* After each; true: its trace is the one to keep. */
	bool (*after)(void *ctx, const struct execution *x);
	void *ctx;
};

/* What the search of the trials gets: opts->max_steps and the campaign's fairness. */
struct search_options trials_search_options(const struct campaign *c, const struct trace *from);

/* Until the search is exhausted, a bound is reached or the campaign is interrupted. 0 or -errno with a line in err. */
int trials_run(struct campaign *c, const struct trials *t, char *err, size_t errlen);

/* A line of progress, on a terminal, now and then; NULL: take it away. */
void trials_progress(const struct campaign *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
