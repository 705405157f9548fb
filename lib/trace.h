/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace.h - the recorded execution: writing one while it happens, reading one
 *
 * A trace is one execution of one test: a header, tables (tasks, modules,
 * sites, objects), steps in the order in which they were decided, and the
 * outcome. It is self-contained: whatever `zug show` prints comes out of it.
 * The format is described in docs/trace-format.md.
 *
 * Writing: table entries may be added at any time, but before the step that
 * first names them. Records are buffered, and framed (compressed, checksummed)
 * when the buffer fills or trace_flush() is called, so that what a dead writer
 * leaves is a readable prefix. Errors stick: the first is returned by every
 * later call and by trace_close().
 */
#ifndef ZUG_TRACE_H
#define ZUG_TRACE_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include "lib/label.h"

#define TRACE_VERSION 1
#define TRACE_NO_TASK UINT32_MAX

struct trace_header {
	char *const *argv;	/* the command, NULL at the end */
	const char *cwd;
	char *const *envp;	/* the environment of the test, NULL at the end */
	const char *kernel;	/* uname release and version */
	const char *zug_version;
	const char *strategy;	/* with its arguments */
	uint64_t seed;
	uint64_t execution;	/* 1 for the first of its campaign */
	const char *options;	/* JSON object: what else replay needs (points, watches, cpus, limits) */
	bool copied;		/* its first process was forked from one that stood still, rather than started */
};

/* The options of a trace that libzug has written by itself begin with it; zug can show it, and does not execute its test. */
#define TRACE_LIBZUG_OPTIONS	"{\"libzug_test\":\""

/* A task. Tasks are numbered by the stable number of their spawn path. */
struct trace_task {
	uint32_t task;
	uint32_t parent;	/* TRACE_NO_TASK: the root */
	uint32_t nth;		/* its number among its parent's children, from 0 */
	uint32_t pid;		/* of this execution, for reading only */
	uint32_t process;	/* the task that leads its process (its own number for one) */
	const char *comm;
};

/* An executable file that was mapped. */
struct trace_module {
	uint32_t module;
	const char *path;
	const char *build_id;	/* hex, "" without one */
};

/* One frame of source position; inlined functions are several frames, innermost first. */
struct trace_frame {
	const char *function;	/* demangled; NULL: unknown */
	const char *file;	/* NULL: unknown */
	uint32_t line;		/* 0: unknown */
	bool inlined;
};

/* A place in the code. */
struct trace_site {
	uint64_t site;		/* the id that labels carry */
	uint32_t module;	/* UINT32_MAX: unknown */
	uint64_t offset;	/* of the instruction: file offset in the module, or an address without one */
	uint32_t nr_frames;	/* 0: not symbolised (yet) */
	const struct trace_frame *frames;
	const char *data;	/* what it accesses, as the source says it: "*counter"; NULL: unknown */
};

struct trace_object {
	uint64_t object;	/* the id that labels carry */
	const char *kind;	/* "mutex", "pipe", "file", "variable", "amount"... */
	const char *name;	/* "accounts.lock", "pipe:[3]", "/tmp/x", "mutex #2 of T1" */
};

/*
 * One step: a choice point and what was decided there. `task` got the turn
 * and then did `label`.
 */
struct trace_step {
	uint64_t step;		/* 0, 1, 2... */
	uint32_t task;
	struct zug_label label;
	uint32_t last;		/* who ran before, TRACE_NO_TASK at first */
	uint32_t flags;		/* TRACE_STEP_* */
	uint32_t nr_enabled;
	const uint32_t *enabled;	/* ascending task numbers; includes `task` */
	/* For the writer, which then need not compare lists: the same set, a bit for each task. All steps have it, or none. */
	const uint64_t *bits;
	uint32_t nr_words;
};
#define TRACE_STEP_PREEMPTION	(1u << 0)	/* the turn was taken from an enabled task */
#define TRACE_STEP_YIELDED	(1u << 1)	/* `last` had yielded */
#define TRACE_STEP_LONE		(1u << 2)	/* no other task was enabled. Whether it was passed without stopping is */
						/* not told */

/* Events between steps. */
enum trace_note_kind {
	TRACE_NOTE_BLOCK = 1,	/* task blocked in the kernel; text: where ("futex m", "read pipe:[3]") */
	TRACE_NOTE_WAKE,	/* task became runnable; arg: the waking task, TRACE_NO_TASK for outside or a timer */
	TRACE_NOTE_EXIT,	/* task is gone */
	TRACE_NOTE_EXEC,	/* text: the program */
	TRACE_NOTE_MESSAGE,	/* text: a warning worth keeping (uncontrolled mapping, lent turn...) */
	TRACE_NOTE_SIGNAL,	/* a handler returns (arg 0); older traces: that of the signal arg begins in task */
	TRACE_NOTE_EARLY,	/* its time-out, or (TRACE_NO_TASK) a timer, ends before its time; text: by how much ("5 s"), and,
				 * where it is known, "\t" and which timer: then arg has set it, and object is the site
				 * of that, or 0 */
	TRACE_NOTE_CALLER,	/* the line that calls the library for task's next step, or is the command of a script:
				 * text: "FUNCTION\tFILE", arg: line */
	TRACE_NOTE_GOROUTINE,	/* task's next step is that goroutine's: arg: its number */
};
struct trace_note {
	uint32_t kind;
	uint32_t task;
	uint32_t arg;
	uint64_t object;	/* what it waits for, 0 unknown */
	const char *text;	/* may be NULL */
};

/* The stack of one task at the end of a failing execution. */
struct trace_stack {
	uint32_t task;
	const char *state;	/* "waits for accounts.lock, held by T2" */
	uint32_t nr_frames;
	const struct trace_frame *frames;	/* innermost first */
};

/* Kinds of outcome. The numbers are part of the format: append only. */
enum zug_outcome_kind {
	ZUG_OUTCOME_PASS = 0,
	ZUG_OUTCOME_ABORT,	/* SIGABRT: a failed assertion; message holds it */
	ZUG_OUTCOME_SIGNAL,	/* ended by another signal (code) */
	ZUG_OUTCOME_EXIT,	/* unexpected exit status (code) */
	ZUG_OUTCOME_MATCH,	/* output matched --match */
	ZUG_OUTCOME_SANITIZER,	/* a sanitizer's report */
	ZUG_OUTCOME_DEADLOCK,	/* no task can ever run again */
	ZUG_OUTCOME_LOCK_CYCLE,	/* some tasks wait for each other, others live on */
	ZUG_OUTCOME_LIVELOCK,	/* all run, none gets anywhere */
	ZUG_OUTCOME_SPIN,	/* good-samaritan violation: spins without yielding */
	ZUG_OUTCOME_TIMEOUT,	/* too long in wall-clock time or steps */
	ZUG_OUTCOME_DIVERGED,	/* did not follow the schedule it was given */
	ZUG_OUTCOME_ENVIRONMENT,	/* the kernel or the set-up failed, not the test */
	ZUG_OUTCOME_INTERRUPTED,	/* cut by the user */
	ZUG_OUTCOME_MISUSE,	/* a primitive used against its rules */
	ZUG_OUTCOME_INVARIANT,	/* what --invariant says was false */
	ZUG_OUTCOME_DISCARDED,	/* one that does not count: --discard-if */
	ZUG_OUTCOME_RACE,	/* two tasks about to access the same data, one writing */
	ZUG_OUTCOME_NR,
};
const char *zug_outcome_name(unsigned int kind);
/* True when it says something about the program under test. */
bool zug_outcome_is_finding(unsigned int kind);

struct trace_outcome {
	uint32_t kind;		/* enum zug_outcome_kind */
	int32_t code;		/* exit status or signal number */
	uint64_t failure;	/* identity of the failure, 0 when passed */
	uint64_t ungranted;	/* runs without a grant that ops.running saw: 0 unless zugzwang has a bug */
	uint64_t wall_ns;
	const char *message;	/* "bank.c:31: transfer: Assertion `sum == 100' failed." */
	const char *out_head, *out_tail;	/* of the test's standard output; may be NULL */
	const char *err_head, *err_tail;
};

/*
 * What a minimised trace says of itself: how the schedule was before, and for each of its
 * preemptions the two operations whose order matters.
 */
struct trace_pair {
	uint64_t step;			/* of the preemption */
	uint64_t after_step;		/* of `after`; UINT64_MAX: there is none */
	uint32_t preempted;		/* was stopped before `before` */
	uint32_t by;			/* did `after`, or else whatever came first */
	struct zug_label before;
	struct zug_label after;		/* op ZUG_OP_NONE: nothing that others did touches `before` */
};
/*
 * The two operations whose order decides: it fails when `first` comes before `second`, and a schedule
 * close to it, in which they come the other way round, passed.
 */
struct trace_critical {
	bool known;
	bool torn;			/* not known: another one came into an update (search/torn.h), but no schedule
					 * without that passed, as far as they were tried */
	bool alone;			/* nothing else was reversed, but what follows from it */
	uint32_t first_task, second_task;
	uint64_t first_step;		/* UINT64_MAX: it is not reached here, as below */
	uint64_t second_step;
	struct zug_label first, second;
};
struct trace_minimized {
	uint64_t executions;		/* made for it */
	bool minimal;			/* nothing simpler was found; else the trials were cut short */
	uint64_t steps_before;
	uint32_t preemptions_before, preemptions;
	uint32_t decisions_before, decisions;	/* that differ from letting each task run on */
	uint32_t nr_pairs;
	const struct trace_pair *pairs;
	uint64_t near;			/* executions made to find `critical`, with one of this schedule; 0: it was not */
					/* looked for */
	uint64_t alike;			/* of these, but that one: failed like it; 0 in older traces */
	struct trace_critical critical;
};

/* ---- writing ---- */
struct trace_writer;

/*
 * Creates path (truncating it). The header is copied. Nothing touches the disk
 * before the first frame is full or trace_flush(). Returns NULL with -errno in *err.
 */
struct trace_writer *trace_create(const char *path, const struct trace_header *h, int *err);
/* The same where a trace was created before: it does not look whether the file can be made. */
struct trace_writer *trace_create_again(const char *path, const struct trace_header *h, int *err);
int trace_add_task(struct trace_writer *w, const struct trace_task *t);
int trace_add_module(struct trace_writer *w, const struct trace_module *m);
int trace_add_site(struct trace_writer *w, const struct trace_site *s);	/* again: replaces */
int trace_add_object(struct trace_writer *w, const struct trace_object *o);	/* again: replaces */
int trace_add_step(struct trace_writer *w, const struct trace_step *s);
int trace_add_note(struct trace_writer *w, const struct trace_note *n);
int trace_add_stack(struct trace_writer *w, const struct trace_stack *s);
int trace_add_outcome(struct trace_writer *w, const struct trace_outcome *o);
int trace_add_minimized(struct trace_writer *w, const struct trace_minimized *m);
int trace_flush(struct trace_writer *w);
/*
 * Of all records so far, but for the header, the pids of tasks and the wall time of the outcome: equal for equal
 * executions.
 */
uint64_t trace_sum(const struct trace_writer *w);
/* Flushes, syncs and frees; with discard, removes the file instead. 0 or the first error. */
int trace_close(struct trace_writer *w, bool discard);

/* ---- reading ---- */
struct trace;

/*
 * Reads a whole trace. A truncated file gives the readable prefix and
 * trace_truncated(); everything else that is wrong gives NULL and one line in
 * err: not a trace, a newer version, damaged at byte N.
 */
struct trace *trace_open(const char *path, char *err, size_t errlen);
struct trace *trace_parse(const void *data, size_t len, char *err, size_t errlen);
void trace_free(struct trace *t);
bool trace_truncated(const struct trace *t);
const struct trace_header *trace_header(const struct trace *t);
const struct trace_outcome *trace_outcome(const struct trace *t);	/* NULL: cut off before its end */
const struct trace_minimized *trace_minimized(const struct trace *t);	/* NULL: it was not */
uint64_t trace_nr_steps(const struct trace *t);
const struct trace_step *trace_step(const struct trace *t, uint64_t i);
/* Tables: by id, or NULL; and by index for walking. */
const struct trace_task *trace_task(const struct trace *t, uint32_t task);
const struct trace_module *trace_module(const struct trace *t, uint32_t module);
const struct trace_site *trace_site(const struct trace *t, uint64_t site);
const struct trace_object *trace_object(const struct trace *t, uint64_t object);
uint32_t trace_nr_tasks(const struct trace *t);
const struct trace_task *trace_task_at(const struct trace *t, uint32_t i);
const struct trace_object *trace_object_at(const struct trace *t, uint32_t i);	/* NULL: i is too large */
uint32_t trace_nr_stacks(const struct trace *t);
const struct trace_stack *trace_stack_at(const struct trace *t, uint32_t i);
/* Notes come between steps: those after step i-1 and before step i. */
uint32_t trace_nr_notes(const struct trace *t, uint64_t i);
const struct trace_note *trace_note_at(const struct trace *t, uint64_t i, uint32_t k);

/* It says more of the step behind it, and is no event of its own. */
static inline bool trace_note_tells(const struct trace_note *n)
{
	return n->kind == TRACE_NOTE_CALLER || n->kind == TRACE_NOTE_GOROUTINE;
}

/*
 * A new file with all that t holds but what it says of having been minimised; to be added to, and
 * closed. As trace_create().
 */
struct trace_writer *trace_copy(const struct trace *t, const char *path, int *err);
/*
 * Writes a file with all that t holds, also of having been minimised, and with what another trace with the same steps says
 * more of them (trace_note_tells()). 0 or -errno.
 */
int trace_write_callers(const struct trace *t, const struct trace *callers, const char *path);

#endif
