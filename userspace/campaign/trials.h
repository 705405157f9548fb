/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trials.h - executions of a campaign's test that another search than its own chooses: minimiser,
 * neighbour
 */
#ifndef ZUG_TRIALS_H
#define ZUG_TRIALS_H

#include "campaign/campaign.h"
#include "engine/progress_check.h"
#include "engine/replay.h"
#include "search/search.h"

/*
 * Of a livelock an execution takes PROGRESS_WINDOW steps that say nothing. So many are enough for a trial: one that gets on
 * behind these is taken for one that fails, until it is executed in full.
 */
#define TRIAL_WINDOW (PROGRESS_WINDOW / 10)

struct trials {
	/* from trials_init(): */
	const struct trace *from;	/* a trial may take a multiple of its time and steps */
	struct search_options options;	/* for the search of the trials */
	struct replay follow;		/* the schedule of from */
	char *best; /* the trace of one of them is left there, until trials_release() */
	/* the caller's: */
	struct search *search;		/* freed by trials_release() */
	uint64_t max_steps;		/* of all of them together, without what is left out; 0: no bound */
	uint64_t until_ns; /* on clock_now_ns(): none but the first begins after that, or goes on; 0: no
			      bound but --time */
	enum campaign_aside what;	/* trials_init(): ASIDE_MINIMIZE */
	uint64_t without; /* step of from where no fault is injected; UINT64_MAX (trials_init()):
			     all are injected */
	bool gone;			/* and that step is not made: its call was repeated */
	bool passes;			/* traces of executions that pass are of use, too */
	/* After each; true: its trace is the one to keep. */
	bool (*after)(void *ctx, const struct execution *x);
	void *ctx;
};

/* Trials of the failure in from. 0 or -ENOMEM; trials_release() also after that. */
int trials_init(struct trials *t, const struct campaign *c, const struct trace *from);
void trials_release(struct trials *t);
/*
 * Copies a trace, since the folder of the executions may be on another file system, and names its data
 * (trials_name_data()). 0 or -errno with a line in err.
 */
int trials_keep(const struct campaign *c, const char *from, const char *to, char *err, size_t errlen);

/*
 * Describes an operation that no step of t makes in w, a copy of t: the place where a task stands that
 * does not run again.
 */
void trials_describe(const struct campaign *c, struct trace_writer *w, const struct trace *t,
		     const struct zug_label *l);

/* Adds to the sites of w what their data is called in the source, where t's step acts on what has no name. */
int trials_name_data(const struct campaign *c, struct trace_writer *w, const struct trace *t);

/*
 * Until the search is exhausted, a bound is reached or the campaign is interrupted. The first one is
 * made whatever the time is. 0 or -errno with a line in err.
 */
int trials_run(struct campaign *c, const struct trials *t, char *err, size_t errlen);

/* One execution under the schedule of a trace, but for one step of it. */
struct trials_once {
	uint64_t without;	/* as in struct trials */
	bool gone;
	bool passes; /* the trace is kept when it passes; else when it fails as that of 'from' */
	const char *to;		/* there */
};
/*
 * *x: how it ended, INTERRUPTED if it was not made. 1: its trace was kept; 0; -errno with a line in
 * err.
 */
int trials_once(struct campaign *c, const struct trace *from, const struct trials_once *o,
		struct execution *x, char *err, size_t errlen);

#endif
