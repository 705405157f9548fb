/* SPDX-License-Identifier: GPL-2.0-only */
/* campaign_check.h - does one schedule give the same execution again and again? */
#ifndef ZUG_CAMPAIGN_CHECK_H
#define ZUG_CAMPAIGN_CHECK_H

#include "campaign/campaign.h"

enum check_difference {
	CHECK_SAME = 0,
	CHECK_STEPS,		/* who did what, where, to which object */
	CHECK_OUTCOME,		/* how it ended */
	CHECK_OUTPUT,		/* what it printed */
};

struct check_result {
	enum check_difference what;	/* of the last execution that was made */
	int done;			/* executions; the last one differs, unless none does */
	int64_t since;			/* CLOCK_REALTIME, s, when it began */
	uint64_t steps;			/* of the first */
	uint64_t at;			/* CHECK_STEPS: the first step that differs */
	struct trace *first, *other;	/* other: NULL when none differs */
	char *path_first, *path_other;	/* kept, unless none differs */
	struct trace *at_first, *at_other;	/* ended before that step, with stacks; NULL: not seen */
};

/*
 * On a new campaign: executes the first schedule of its search up to times times, until one execution differs.
 * An enum zug_exit, with a message printed unless it was interrupted; the result is to be released in any case.
 */
int campaign_check(struct campaign *c, int times, struct check_result *res);
void check_result_release(struct check_result *r);

/*
 * Prints what makes executions differ, as far as can be told, and what would tame it. k: an open kernel; o: what the
 * campaign was made from (it is gone, for others are made here, to try what would help).
 */
void check_causes(struct kernel *k, const struct campaign_options *o, const struct check_result *res, FILE *out,
		  const volatile sig_atomic_t *stop);

#endif
