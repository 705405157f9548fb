/* SPDX-License-Identifier: GPL-2.0-only */
/* report.h - what a test prints of its end, and what errors mean */
#ifndef ZUG_LIB_REPORT_H
#define ZUG_LIB_REPORT_H

#include "lib/trace.h"
#include "lib/zug/zug.h"

/* m: NULL when the simplest schedule was not looked for, or could not be found. */
void report_finding(const struct zug_report *r, const char *name, const struct trace_minimized *m,
		    unsigned long found_in);
#define REPORT_WORDS	256

/* The words of the program's command, NULL at the end; in buf, as far as they fit. */
char **report_command(char *words[REPORT_WORDS], char *buf, size_t len);
/* A trace that was written at once, as the execution was found; NULL: it could not be. */
void report_as_found(const char *name, unsigned long found_in, const char *what, const char *trace);
/* A test that passed has seen calls of threads that are no operations. */
void report_foreign(const char *name);
/* ZUG_SUMMARY: nothing was found. */
void report_pass(const struct zug_report *r, const char *name);
/* nr statements of a script were followed, of which so many do not fit. */
void report_script(const struct zug_report *r, const char *name, const char *script, unsigned int nr, unsigned int unmade);
/* divergence: NULL when the schedule could be followed. */
void report_replay(const struct zug_report *r, const char *name, const char *divergence);

#endif
