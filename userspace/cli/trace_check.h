/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace_check.h - whether a trace can be executed here; each function prints what is wrong with the
 * trace
 */
#ifndef ZUG_TRACE_CHECK_H
#define ZUG_TRACE_CHECK_H

#include <stdio.h>
#include "campaign/campaign.h"

/*
 * Says so when the trace comes from another kernel, which may schedule differently inside its own
 * calls.
 */
void trace_check_kernel(const struct trace *t, FILE *err);
/*
 * Compares the files that were mapped with their builds then. 0, or an enum zug_exit unless force.
 */
int trace_check_builds(const struct trace *t, FILE *err, bool force);
/* Refuses a trace in which the test did not fail. 0, or an enum zug_exit. */
int trace_check_failing(const struct trace *t, const char *path, const char *what, FILE *err);

/*
 * True when the trace at path was not written here, by root, this user, or the one who used sudo; why
 * says so, in words after "it".
 */
bool trace_is_foreign(const struct trace *t, const char *path, char *why, size_t len);
/* Refuses to execute a foreign trace, and says what it would execute. 0, or an enum zug_exit unless trust. */
int trace_check_origin(const struct trace *t, const char *path, FILE *err, bool trust);

#endif
