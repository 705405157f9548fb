/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * results.h - what searches came to, for machines: JUnit XML and JSON
 *
 * One case is one search: all of a command, or one test case of a program (--each-case).
 */
#ifndef ZUG_RESULTS_H
#define ZUG_RESULTS_H

#include <stdint.h>
#include <stddef.h>
#include "campaign/campaign.h"

struct results;

/* suite: what the cases belong to, such as the command. NULL: out of memory. */
struct results *results_new(const char *suite);
void results_free(struct results *r);

/*
 * A case has been searched; exit: the enum zug_exit that it ended with; said: all that was printed
 * (report and messages). Everything is copied, but the rows of points (NULL: none are listed), which
 * are taken. 0 or -ENOMEM.
 */
int results_add(struct results *r, const char *name, int exit, uint64_t wall_ns,
		const struct campaign_result *f, struct point_table *points, const char *said);

/* The exit status for all cases: a finding says more than an incomplete search. */
int results_exit(const struct results *r);
/* "12 cases: 10 passed, 2 failed" */
void results_count(const struct results *r, unsigned int *cases, unsigned int *failed,
		   unsigned int *incomplete);

/* 0, or -errno with a line in err. */
int results_write_junit(const struct results *r, const char *path, char *err, size_t errlen);
int results_write_json(const struct results *r, const char *path, char *err, size_t errlen);

#endif
