/* SPDX-License-Identifier: GPL-2.0-only */
/* report_internal.h - what the parts of the report share */
#ifndef ZUG_REPORT_INTERNAL_H
#define ZUG_REPORT_INTERNAL_H

#include "search/pairing.h"
#include "report/report.h"

struct resolved_site;

/* An object that is called otherwise than its trace does. */
struct report_alias {
	uint64_t object;
	char *name;
};

/* One rendering. */
struct report {
	FILE *out;
	const struct trace *t;
	const struct report_options *o;
	struct resolved_site *sites;	/* open addressing by site id */
	size_t nr_sites, nr_slots;
	char *source_path;		/* the file whose lines were read last */
	char *source;
	size_t source_len;
	char *missing;			/* the first source of the program that cannot be read */
	char *changed;			/* the first that is newer than what was built of it */
	uint32_t *stale;		/* modules already told to have changed */
	size_t nr_stale;
	struct report_alias *aliases;	/* report_name_objects() */
	size_t nr_aliases;
};

void report_begin(struct report *r, FILE *out, const struct trace *t,
		  const struct report_options *o);
void report_end(struct report *r);

enum report_style { STYLE_PLAIN, STYLE_STRONG, STYLE_DIM, STYLE_ALARM, STYLE_GOOD };

/* ---- report_text.c ---- */

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
/* "lock accounts.lock", "cond-wait c (m)" */
void report_label(const struct report *r, const struct zug_label *l, char *buf, size_t len);
/* Frames of a site, innermost first; those of the trace, else looked up. Returns their number. */
uint32_t report_frames(struct report *r, uint64_t site, const struct trace_frame **frames);
/* "transfer bank.c:31" */
void report_frame(const struct report *r, const struct trace_frame *f, char *buf, size_t len);
/*
 * "add bank.h:7 (in transfer bank.c:31)", "libfoo.so+0x1139" when nothing is known. What is inlined from the
 * language's library is left out: push queue.cc:11, not lock std_mutex.h:100.
 */
void report_site(struct report *r, uint64_t site, char *buf, size_t len);
/* The file as it stands in the user's tree; the function without its arguments. */
const char *report_short_file(const struct report *r, const char *file);
void report_short_function(const char *function, char *buf, size_t len);
/* Where a file of a frame is looked for. */
const char *report_source_path(const struct report *r, const char *file, char *buf, size_t len);
/* The text of a file, until the next call; NULL: cannot be read, no file, or too large for a source. */
const char *report_source(struct report *r, const char *path);
/* Prints the source line of the frame if it can be read. Was it? */
bool report_source_line(struct report *r, const struct trace_frame *f, int indent);
/* Keeps in mind what is wrong with the source of a place in the program; prints what was kept, if anything. */
void report_check_source(struct report *r, uint64_t site, const struct trace_frame *f);
void report_source_notes(const struct report *r);
/* Frame to point a person at: the innermost of the program with a place, else the innermost with one, else the innermost. */
const struct trace_frame *report_main_frame(const struct trace_frame *frames, uint32_t nr);

/* ---- report.c ---- */

/* "deadlock: ..."; there must be an outcome. */
void report_outcome_words(const struct report *r, char *buf, size_t len);
/* The same in a line of its own, or that there is none. */
void report_put_outcome(struct report *r);
/* As a shell would want it. */
void report_put_word(FILE *out, const char *s);

/* ---- report_json.c ---- */

/* A JSON string with its quotes, valid UTF-8 whatever s is; NULL: null. */
void report_json_string(FILE *out, const char *s);

/* ---- report_objects.c ---- */

/*
 * Numbered objects of r's trace are called from now on as what they are paired with in another trace, and what that
 * does not have by a name that is none of its. task_in_first: the number there of a task of r's trace. 0 or -ENOMEM.
 */
int report_name_objects(struct report *r, const struct trace *first, const struct pairing *same,
			uint32_t (*task_in_first)(const void *ctx, uint32_t task), const void *ctx);
/* report_end() does so. */
void report_forget_names(struct report *r);
/* NULL: it is called as its trace does. */
const char *report_alias(const struct report *r, uint64_t object);
/* The same for a text of the trace that names objects; size: of its buffer. */
void report_rename_objects(const struct report *r, char *text, size_t size);

/* ---- report_wait.c ---- */

/* Writes "T1 waits for b, held by T2; T2 waits for a, held by T1"; false: no cycle is known. */
bool report_wait_cycle(const struct report *r, char *buf, size_t len);
enum report_stack_choice {
	STACKS_ALL,
	STACKS_BRIEF,	/* without how threads start, and one source line for each */
	STACKS_RACING,	/* the same of the two tasks of a data race */
};
void report_stacks(struct report *r, enum report_stack_choice which);

/* ---- report_steps.c ---- */
void report_steps(struct report *r);
/* Is the step chosen by the options (window apart)? */
bool report_step_chosen(const struct report *r, const struct trace_step *s);

#endif
