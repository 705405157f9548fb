/* SPDX-License-Identifier: GPL-2.0-only */
/* trace_check.h - can a trace be executed here? Each prints what is wrong with it. */
#ifndef ZUG_TRACE_CHECK_H
#define ZUG_TRACE_CHECK_H

#include <stdio.h>
#include "campaign/campaign.h"

/* Another kernel may schedule the same program differently inside its own calls: says so. */
void trace_check_kernel(const struct trace *t, FILE *err);
/* Are the files that were mapped still the same builds? 0, or an enum zug_exit unless force. */
int trace_check_builds(const struct trace *t, FILE *err, bool force);
/* Did the test fail in it? 0, or an enum zug_exit. */
int trace_check_failing(const struct trace *t, const char *path, const char *what, FILE *err);

#endif
