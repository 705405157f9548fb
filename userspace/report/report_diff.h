/* SPDX-License-Identifier: GPL-2.0-only */
/* report_diff.h - two executions of one test, side by side */
#ifndef ZUG_REPORT_DIFF_H
#define ZUG_REPORT_DIFF_H

#include "search/neighbour.h"
#include "report/report.h"

/*
 * Prints where b parts from a: the last step that they share, the decision after it, what followed in each,
 * and what each task did otherwise than in the other. Tasks are the same when their spawn paths are, and
 * are named as in a. rows: so many steps after the parting, at most. 1: they differ; 0: they do not;
 * -ENOMEM.
 */
int report_diff(FILE *out, const struct trace *a, const struct trace *b, unsigned int rows,
		const struct report_options *o);

/*
 * The same of a failing trace a and its neighbour b, for one screen: how it fails, the pair of operations that n names,
 * where they part and what followed, of it so many rows. Tasks have the same numbers in both. step: of a, whose call the
 * search has changed, or before which it let a timer fire, and b is without that: n names no pair then (UINT64_MAX: it
 * does). 0 or -ENOMEM.
 */
int report_neighbour(FILE *out, const struct trace *a, const struct trace *b, const struct neighbour_result *n,
		     uint64_t step, unsigned int rows, const struct report_options *o);

#endif
