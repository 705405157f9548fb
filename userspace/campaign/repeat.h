/* SPDX-License-Identifier: GPL-2.0-only */
/* repeat.h - whether two executions of one schedule are the same */
#ifndef ZUG_REPEAT_H
#define ZUG_REPEAT_H

#include <stdbool.h>
#include "campaign/campaign.h"

enum check_difference {
	CHECK_SAME = 0,
	CHECK_STEPS,		/* the task, the operation, its place or its object */
	CHECK_OUTCOME,		/* how it ended */
	CHECK_OUTPUT,		/* what it printed */
};

bool repeat_same_step(const struct trace_step *a, const struct trace_step *b);
/* *at: the first step that differs. */
enum check_difference repeat_compare(const struct replay *a, const struct replay *b, uint64_t *at);

/*
 * Executes the schedule of the last execution, x, again (keep_passes was set for it), and tells the
 * observer if it is not the same. 0, or -errno with a line in err.
 */
int repeat_first(struct campaign *c, const struct execution *x, char *err, size_t errlen);
/*
 * The same, of an execution that was forked from a template: it is started by exec once more. If that is not the same
 * there are no more templates.
 */
int repeat_by_exec(struct campaign *c, const struct execution *x, char *err, size_t errlen);

#endif
