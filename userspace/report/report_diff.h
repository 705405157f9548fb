/* SPDX-License-Identifier: GPL-2.0-only */
/* report_diff.h - two executions of one test, side by side */
#ifndef ZUG_REPORT_DIFF_H
#define ZUG_REPORT_DIFF_H

#include "search/neighbour.h"
#include "report/report.h"

/*
 * Prints where b parts from a: the last step that they share, the decision after it, at most `rows`
 * further steps of each, and the first difference of each task. Tasks are the same when their spawn
 * paths are the same, and are named as in a. Returns 1 when the traces differ, 0 when they do not,
 * or -ENOMEM.
 */
int report_diff(FILE *out, const struct trace *a, const struct trace *b, unsigned int rows,
		const struct report_options *o);

/*
 * Explains a failing trace a by its passing neighbour b on one screen: how it fails, the pair of
 * operations that n names, where the two part, and at most `rows` further steps of each. Tasks have
 * the same numbers in both. step: UINT64_MAX, or the step of a that differs only in a decision of
 * the search (a changed call, a timer that fires); then n names no pair. 0 or -ENOMEM.
 */
int report_neighbour(FILE *out, const struct trace *a, const struct trace *b, const struct neighbour_result *n,
		     uint64_t step, unsigned int rows, const struct report_options *o);

#endif
