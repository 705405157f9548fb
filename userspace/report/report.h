/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * report.h - traces as text for people (and as JSON for programs)
 *
 * Everything is rendered from the trace, and from the source and ELF files that it names where
 * they still are what they were. What comes from the program under test (its output, its names)
 * is printed with control characters made visible.
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
	struct symbols *symbols;	/* for sites the trace has no names for; NULL: leave them raw */

	/* of report_trace() and report_json(): which steps */
	bool all;			/* no window around failure and preemptions */
	uint64_t first, last;		/* of the steps; UINT64_MAX: to the end */
	uint32_t task;			/* only this one's; TRACE_NO_TASK: everyone's */
	const char *object;		/* only on objects whose name matches this glob; NULL: any */
};

/* When to colour: --color. */
enum { REPORT_COLOUR_AUTO = -1, REPORT_COLOUR_NEVER, REPORT_COLOUR_ALWAYS };

/* Everything, colours and width as out is (a terminal or not) and the environment says. */
void report_options_init(struct report_options *o, FILE *out);
/* One of REPORT_COLOUR_*, instead of what report_options_init() found. */
void report_options_colour(struct report_options *o, int colour);

/* "deadlock: T1 waits for a, held by T2": of an outcome that no trace has yet; no newline. */
void report_outcome_text(FILE *out, unsigned int kind, const char *message, const struct report_options *o);

/* "deadlock: T1 waits for a, held by T2; ...", one line. */
void report_outcome_line(FILE *out, const struct trace *t, const struct report_options *o);

/*
 * What a person needs first about a failure: what failed, the decisions that matter with their
 * source lines, the stacks of those that wait, the end of the output.
 */
void report_finding(FILE *out, const struct trace *t, const struct report_options *o);

/* The same of an execution that a data race ended, in short: the two tasks and their stacks. */
void report_race(FILE *out, const struct trace *t, const struct report_options *o);

/* The whole trace: header, a column per task, outcome. */
void report_trace(FILE *out, const struct trace *t, const struct report_options *o);

/* A page for the browser that needs nothing else; path: the trace's, for the commands it names. 0 or -errno. */
int report_html(FILE *out, const struct trace *t, const struct report_options *o, const char *path);

/* Trace events for ui.perfetto.dev: see zug-show(1). 0 or -errno. */
int report_perfetto(FILE *out, const struct trace *t, const struct report_options *o);

/* One JSON object; see zug-show(1). Steps are chosen as for report_trace(), but not windowed. */
void report_json(FILE *out, const struct trace *t, const struct report_options *o);

#endif
