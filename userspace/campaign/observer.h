/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * observer.h - what a campaign tells while it goes on
 *
 * The room prints nothing: it calls these functions, and cli/ writes for people. Each may be NULL.
 */
#ifndef ZUG_OBSERVER_H
#define ZUG_OBSERVER_H

#include <stdint.h>

struct campaign;
struct campaign_failure;
struct execution;
struct minimized;

/* What has become of a finding. */
enum finding_stage {
	FINDING_FOUND = 0, /* a new one; its trace is kept, and more executions follow */
	FINDING_ONCE, /* it did not come again when its trace was replayed: it is none, and no stage
			 follows */
	FINDING_LOST, /* its trace could not be kept: trace is where it lies until the campaign is
			 freed */
	FINDING_MINIMIZED, /* the trace was replaced by a simpler one, or is the simplest */
	FINDING_EXPLAINED, /* the trace is the final one: the report can be made */
	FINDING_VERIFIED, /* it was replayed, if that was wanted */
	FINDING_COUNTED, /* the last stage of each finding, also of one that is known already */
};

struct campaign_finding {
	enum finding_stage stage;
	const struct campaign_failure *failure;
	const char *trace;			/* its path */
	uint64_t after_ns;	/* since the campaign began, when it was seen */
	const struct minimized *minimized;	/* FINDING_MINIMIZED */
	const char *as_found; /* FINDING_MINIMIZED: the trace before it was simplified; NULL: it was
				 not */
	/*
	 * FINDING_ONCE, FINDING_VERIFIED: replays, those that failed step for step like it, and
	 * those that failed like it
	 */
	int replays, same, alike;
};

struct campaign_observer {
	/* A line about something that people should know, without its end. */
	void (*message)(void *ctx, const char *line);
	/* After each execution of campaign_run(). */
	void (*executed)(void *ctx, const struct campaign *c, const struct execution *x);
	/* Ten times a second, at least, while campaign_run() waits for what lanes make. */
	void (*waiting)(void *ctx, const struct campaign *c);
	/*
	 * After an execution that tries a schedule besides the search; what: a line about how far
	 * that is.
	 */
	void (*trying)(void *ctx, const char *what);
	void (*finding)(void *ctx, const struct campaign *c, const struct campaign_finding *f);
	void *ctx;
};

#endif
