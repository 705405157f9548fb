/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * report.h - traces as text for people, and as JSON, pages and trace events
 *
 * Everything is made from the trace, and from the source and ELF files that it names, where these
 * have not changed. Texts of the program under test (its output, its names) are printed with
 * control characters made visible.
 */
#ifndef ZUG_REPORT_H
#define ZUG_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "lib/trace.h"

struct symbols;

struct report_options {
	bool colour;
	int width;			/* columns of the terminal, or what to assume */
	bool foreign;			/* the trace is not of this machine and user: it does not say which files are shown */
	char **sources;			/* further folders with sources, absolute; NULL: none */
	struct symbols *symbols;	/* for sites without names in the trace; NULL: those are offsets */

	/* steps that report_trace() and report_json() print */
	bool all;			/* not only those around the failure and the preemptions */
	uint64_t first, last;		/* numbers of steps; last may be UINT64_MAX */
	uint32_t task;			/* only steps of this task; TRACE_NO_TASK: of all */
	const char *object;		/* only steps on objects of such names (a glob); NULL: all */
};

/* --color */
enum { REPORT_COLOUR_AUTO = -1, REPORT_COLOUR_NEVER, REPORT_COLOUR_ALWAYS };

/* All steps; colours and width by the environment variables, and by whether out is a terminal. */
void report_options_init(struct report_options *o, FILE *out);
/*
 * Replaces the choice of report_options_init() by REPORT_COLOUR_NEVER or _ALWAYS; _AUTO keeps it.
 */
void report_options_colour(struct report_options *o, int colour);

/*
 * "deadlock: T1 waits for a, held by T2", of an outcome that has no trace yet; without a newline.
 */
void report_outcome_text(FILE *out, unsigned int kind, const char *message, const struct report_options *o);

/* "deadlock: T1 waits for a, held by T2; ...", one line. */
void report_outcome_line(FILE *out, const struct trace *t, const struct report_options *o);

/*
 * What a person needs first about a failure: the outcome, the decisions that lead to it with their
 * source lines, the stacks, the end of the output.
 */
void report_finding(FILE *out, const struct trace *t, const struct report_options *o);

/* The outcome of an execution that a data race ended, and the stacks of its two tasks. */
void report_race(FILE *out, const struct trace *t, const struct report_options *o);

/* The whole trace: header, a column per task, outcome. */
void report_trace(FILE *out, const struct trace *t, const struct report_options *o);

/*
 * A page for the browser, in one file. path: of the trace, for the commands that the page names. 0
 * or -errno.
 */
int report_html(FILE *out, const struct trace *t, const struct report_options *o, const char *path);

/* Trace events for ui.perfetto.dev, see zug-show(1). 0 or -errno. */
int report_perfetto(FILE *out, const struct trace *t, const struct report_options *o);

/* One JSON object, see zug-show(1). `all` has no effect: all chosen steps are printed. */
void report_json(FILE *out, const struct trace *t, const struct report_options *o);

#endif
