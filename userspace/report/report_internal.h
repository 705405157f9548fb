/* SPDX-License-Identifier: GPL-2.0-only */
/* report_internal.h - inside of report.h: one rendering, and the functions that its parts share */
#ifndef ZUG_REPORT_INTERNAL_H
#define ZUG_REPORT_INTERNAL_H

#include "lib/base/id_map.h"
#include "search/pairing.h"
#include "report/report.h"

struct resolved_site;

/* An object that is shown under another name than the trace has for it. */
struct report_alias {
	uint64_t object;
	char *name;
};

/* One rendering. */
struct report {
	FILE *out;
	const struct trace *t;
	const struct report_options *o;
	struct id_map site_numbers;	/* site id to index of sites */
	struct resolved_site *sites;	/* frames that were looked up */
	size_t nr_sites, sites_room;
	char *source_path;		/* the file that was read last, and its text */
	char *source;
	bool in_row;			/* steps are told in a row: the line of a caller is printed once for all that follow */
	struct trace_frame in_row_at;	/* the caller of the last one of them */
	char *missing;			/* the first source file of the program that cannot be read */
	char *changed;			/* the first source file that is newer than its module */
	struct id_map stale;		/* modules reported to be of another build */
	struct id_map users;		/* objects to the task that uses it, or UINT32_MAX: several do */
	struct id_map written;		/* objects that are changed */
	bool users_known;
	struct report_alias *aliases;	/* report_name_objects() */
	size_t nr_aliases, aliases_room;
};

void report_begin(struct report *r, FILE *out, const struct trace *t,
		  const struct report_options *o);
void report_end(struct report *r);

enum report_style { STYLE_PLAIN, STYLE_STRONG, STYLE_DIM, STYLE_ALARM, STYLE_GOOD };

/* ---- report_text.c ---- */

/* The end of a noun after a number: "s", "" for 1. */
static inline const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}
/* Escape sequences, "" without colours. */
const char *report_style(const struct report *r, enum report_style style);
const char *report_task_style(const struct report *r, uint32_t task);
/* Prints with control characters made visible; keeps newlines and tabs if asked to. */
void report_put(FILE *out, const char *s, bool lines);
/* The same into a buffer, without newlines. */
void report_clean(char *buf, size_t len, const char *s);
/* "T3", "outside" for TRACE_NO_TASK. */
const char *report_task_name(uint32_t task, char *buf, size_t len);
void report_object_name(const struct report *r, uint64_t object, char *buf, size_t len);
/*
 * What a label says to people: of an operation on two pieces of memory the one that other tasks use, too. A string that is
 * copied from there to the stack is read.
 */
struct zug_label report_told(struct report *r, const struct zug_label *l);
/* "lock accounts.lock", "cond-wait c (m)" */
void report_label(struct report *r, const struct zug_label *l, char *buf, size_t len);
/*
 * Frames of a site, innermost first: from the trace, else from the program's files. Returns their
 * number.
 */
uint32_t report_frames(struct report *r, uint64_t site, const struct trace_frame **frames);
/* "transfer bank.c:31" */
void report_frame(const struct report *r, const struct trace_frame *f, char *buf, size_t len);
/*
 * "add bank.h:7 (in transfer bank.c:31)", or "libfoo.so+0x1139" when no names are known. Frames
 * inlined from the language's library are left out: "push queue.cc:11", not "lock std_mutex.h:100".
 */
void report_site(struct report *r, uint64_t site, char *buf, size_t len);
/* The file's path below the test's working folder, or its last component. */
const char *report_short_file(const struct report *r, const char *file);
/* The path at which a frame's source file is looked for. */
const char *report_source_path(const struct report *r, const char *file, char *buf, size_t len);
/*
 * The text of a file, valid until the next call; NULL: it cannot be read, is no regular file, or is
 * too large.
 */
const char *report_source(struct report *r, const char *path);
/* Prints the source line of the frame. False: it cannot be read, and nothing was printed. */
bool report_source_line(struct report *r, const struct trace_frame *f, int indent);
/*
 * Notes a missing or changed source file of the program; report_source_notes() prints what was
 * noted.
 */
void report_check_source(struct report *r, uint64_t site, const struct trace_frame *f);
void report_source_notes(const struct report *r);
/* True for a library of the system, and for NULL. */
bool report_is_system_module(const struct trace_module *m);
/*
 * The frame to show a person: the innermost with a source line of the program, else the innermost
 * with any source line, else the innermost.
 */
const struct trace_frame *report_main_frame(const struct trace_frame *frames, uint32_t nr);

/* ---- report.c ---- */

/* "deadlock: ...", or that the trace has no outcome. */
void report_outcome_words(const struct report *r, char *buf, size_t len);
/* The same, as a line. */
void report_put_outcome(struct report *r);

/* ---- report_action.c ---- */

/* The place of a step; where that is code of a library, the line of the program that calls it, if the trace has it. */
void report_step_place(struct report *r, const struct trace_step *s, char *buf, size_t len);
/* A line of the program that calls a library's code. */
struct report_caller {
	struct trace_frame frame;
	char function[400];
};
/*
 * The line of the program that calls the library's code which makes that step of the task. False: it is not known, or
 * not needed.
 */
bool report_caller_of(struct report *r, uint32_t task, const struct trace_step *s, struct report_caller *c);
/* Prints "      T1 does lock m  transfer bank.c:31", and its source line; verb: "does". */
void report_action(struct report *r, uint32_t task, const char *verb, const struct trace_step *s);

/* ---- report_torn.c ---- */

/*
 * Prints what two tasks did in two steps each under one lock, where the second had begun before the first had ended. False:
 * there is no such thing.
 */
bool report_torn(struct report *r);

/* ---- report_changed.c ---- */

/* By how much something ends early (TRACE_NOTE_EARLY); *which: the timer that does, NULL: the trace does not say. */
void report_early(const struct trace_note *n, char *buf, size_t len, const char **which);
/*
 * Print, each under its own heading, what the search changed: the calls that fail or do less than they could, the waits and
 * the timers that end early. Return their number.
 */
unsigned int report_faults(struct report *r);
unsigned int report_early_waits(struct report *r);
unsigned int report_timers(struct report *r);
/* Prints the last time-outs that ended in their time, and the values that the test asked for. */
void report_expired(struct report *r);
void report_values(struct report *r);

/* ---- report_decisions.c ---- */

/* Prints what the search changed, the two operations whose order decides, the switches that lead there, and the last step. */
void report_decisions(struct report *r);

/* ---- report_loops.c ---- */

/*
 * Of a livelock or a time-out: prints what the tasks do again and again at the end, what they look at there, and
 * who changes that. Returns the step from which on all repeats; UINT64_MAX: nothing is known to.
 */
uint64_t report_loops(struct report *r);

/* ---- report_signals.c ---- */

/* "handler of SIGCHLD", "the handler returns": a TRACE_NOTE_SIGNAL. */
void report_signal_note(const struct trace_note *n, char *buf, size_t len);
/* The signals that were handled: after which step of the task, and the handler's steps. */
void report_signals(struct report *r);

/* ---- report_goroutines.c ---- */

/*
 * Prints the goroutines that Go's runtime has told where it ended the program: what each waits for, and the program's own
 * line. False: it told none.
 */
bool report_goroutines(struct report *r);
/* Where, in an error output, Go's runtime begins to tell what it was asked for by SIGQUIT; NULL: nowhere. */
const char *report_go_dump(const char *text);

/* ---- report_json.c ---- */

/* A JSON string with its quotes, valid UTF-8 whatever s is; NULL: null. */
void report_json_string(FILE *out, const char *s);

/* ---- report_objects.c ---- */

/* One task alone uses it in this trace. */
bool report_is_private(struct report *r, uint64_t object);
/* A step of this trace changes it, or was about to. */
bool report_is_changed(struct report *r, uint64_t object);
/*
 * Shows the numbered objects of r's trace under the names of the objects that they are paired with
 * in the trace `first`, and those without a partner under names that `first` does not have.
 * task_in_first: the number that a task of r's trace has in `first`. 0 or -ENOMEM.
 */
int report_name_objects(struct report *r, const struct trace *first, const struct pairing *same,
			uint32_t (*task_in_first)(const void *ctx, uint32_t task), const void *ctx);
/* Forgets those names; report_end() calls it. */
void report_forget_names(struct report *r);
/* The object's name of report_name_objects(); NULL: it keeps the name of its trace. */
const char *report_alias(const struct report *r, uint64_t object);
/* Replaces the objects' names in a text of the trace. size: of its buffer. */
void report_rename_objects(const struct report *r, char *text, size_t size);

/* ---- report_wait.c ---- */

/*
 * Of a deadlock: prints the last signal of a condition where it woke a task that waits for it again, while another one did not
 * wake up.
 */
void report_wakes(struct report *r);
/* Writes "T1 waits for b, held by T2; T2 waits for a, held by T1"; false: no cycle is known. */
bool report_wait_cycle(const struct report *r, char *buf, size_t len);
enum report_stack_choice {
	STACKS_ALL,
	STACKS_BRIEF,	/* without the frames that start threads; one source line for each stack */
	STACKS_OWN,	/* the same, only those with a frame of the program's own */
	STACKS_RACING,	/* the same, only of the two tasks of a data race */
};
void report_stacks(struct report *r, enum report_stack_choice which);

/* ---- report_steps.c ---- */
void report_steps(struct report *r);
/* True when the options choose the step, apart from the window around failure and preemptions. */
bool report_step_chosen(const struct report *r, const struct trace_step *s);

#endif
