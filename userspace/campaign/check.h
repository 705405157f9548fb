/* SPDX-License-Identifier: GPL-2.0-only */
/* check.h - whether one schedule gives the same execution again and again */
#ifndef ZUG_CHECK_H
#define ZUG_CHECK_H

#include "campaign/campaign.h"
#include "campaign/repeat.h"

struct check_result {
	enum check_difference what;	/* of the last execution that was made */
	int done;			/* executions; the last one differs, unless none does */
	int64_t since;			/* CLOCK_REALTIME, s, when it began */
	uint64_t steps;			/* of the first */
	int primed;			/* executions before it that looked for points */
	uint64_t primed_steps, primed_ns;	/* of the last of these */
	uint64_t at;			/* CHECK_STEPS: the first step that differs */
	struct trace *first, *other;	/* other: NULL when none differs */
	char *path_first, *path_other;	/* kept, unless none differs */
	struct trace *at_first, *at_other; /* ended before that step, with stacks; NULL: not seen */
};

/*
 * On a new campaign: executes the first schedule of its search up to times times, until one
 * execution differs. 0, CAMPAIGN_INCOMPLETE when it was interrupted, or -errno with a line in err;
 * the result is to be released in any case.
 */
int check_repeats(struct campaign *c, int times, struct check_result *res, char *err,
		  size_t errlen);
void check_result_release(struct check_result *r);

#endif
