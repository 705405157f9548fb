/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * campaign.h - many executions of one test, until a bug, a bound or exhaustion
 *
 * The same struct serves `zug run` (the whole loop), `zug replay` (one
 * schedule) and zugd (one execution at a time).
 */
#ifndef ZUG_CAMPAIGN_H
#define ZUG_CAMPAIGN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "campaign/options.h"
#include "engine/engine.h"
#include "kernel/kernel.h"
#include "sandbox/sandbox.h"

struct campaign;

/*
 * Sets everything up; nothing runs yet. k: an open kernel (stays the caller's) or NULL to
 * open one. Messages go to out and err. An enum zug_exit: 0 or what to exit with; a message was printed.
 */
int campaign_new(struct campaign **c, struct kernel *k, const struct campaign_options *o,
		 FILE *out, FILE *err, const volatile sig_atomic_t *stop, int wake_fd);
void campaign_free(struct campaign *c);

/* Explores. Returns an enum zug_exit; prints progress, findings and a summary. */
int campaign_run(struct campaign *c);

/*
 * One execution: at first ones whose only purpose is to see what the test maps, then one schedule
 * after another. 0, or an enum zug_exit with a line in err, "" when it was printed already.
 */
enum campaign_step { CAMPAIGN_PRIMED = 1, CAMPAIGN_EXECUTED, CAMPAIGN_EXHAUSTED };
int campaign_step(struct campaign *c, struct execution *x, enum campaign_step *what,
		  char *err, size_t errlen);
/* Of a campaign with a script: the statements that were not made in the last execution, and why. How many. */
unsigned int campaign_script_tell_unmade(const struct campaign *c, FILE *out);

/*
 * For zugd, which gets its executions one by one, and has many campaigns on one kernel. The probes of
 * one are planted at a time: campaign_park() takes them out, campaign_unpark() plants them again
 * (-errno with a line in err). A new campaign is not parked.
 */
void campaign_park(struct campaign *c);
int campaign_unpark(struct campaign *c, char *err, size_t errlen);

/* What the next execution runs with; everything stays the caller's, and must live until it is done. */
struct campaign_io {
	char **envp;
	int in;			/* the test's standard input; -1: /dev/null */
	bool joined;		/* nothing is started: sandbox_join() has brought it in, and it waits */
	FILE *out, *err;	/* messages */
};

/* A way to fail that was seen. */
struct campaign_failure {
	uint64_t failure;	/* its identity */
	unsigned int kind;	/* enum zug_outcome_kind */
	uint64_t times;
	uint64_t first;		/* number of the execution that showed it first */
	char *trace;		/* kept when it was seen first; NULL: it could not be */
	char *message;
};

/* Races that look harmless, and those that are none perhaps, are told apart. */
enum campaign_race_kind {
	RACE_REAL = 0,
	RACE_SAME_VALUE,	/* two plain stores, of the same value then */
	RACE_COUNTER,		/* in the first executions the data was only added to, and never read */
	RACE_POSSIBLE,		/* one, unless both accesses are atomic, which nobody can tell without the sources */
};

/* A data race that was no finding. */
struct campaign_race {
	uint64_t race;		/* its identity: the pair of places */
	enum campaign_race_kind kind;
	char *object, *message, *trace;
};
const char *campaign_race_kind_text(enum campaign_race_kind kind);

struct campaign_once {
	struct execution x;
	bool exhausted;		/* every schedule had been tried: it ran under the default one */
	const struct campaign_failure *failure;	/* the campaign's; NULL: nothing wrong */
};
/* One execution; the trace of every new failure is kept in the folder for traces. As campaign_step(). */
int campaign_once(struct campaign *c, const struct campaign_io *io, struct campaign_once *r,
		  char *err, size_t errlen);
/* The output of the last execution: all of it to two descriptors, unless it was so much that the middle is lost. */
void campaign_pass_on(struct campaign *c, int out, int err);

struct campaign_figures {
	uint64_t executions, steps, findings, diverged, run_ns;
	bool primed, exhausted;
	uint32_t bound_done;	/* preemptions; UINT32_MAX: none */
	const struct campaign_failure *failures;
	unsigned int nr_failures;
	const struct campaign_race *races;
	unsigned int nr_races;
};
void campaign_get_figures(const struct campaign *c, struct campaign_figures *f);
/* The file that is executed. */
const char *campaign_file(const struct campaign *c);

/*
 * Before a trace's schedule is executed in a campaign that was made from its options: numbers the
 * tasks as it does, sets the watchpoints. enum zug_exit, with a message printed.
 */
int campaign_prepare_replay(struct campaign *c, const struct trace *t);

/*
 * Executes a trace times times. Prints the program's output (the first time) and whether it did the same.
 */
int campaign_replay(struct campaign *c, const struct trace *t, int times);

/* Options as recorded in a trace; the strings belong to *holder, to be freed by campaign_options_free(). */
struct campaign_holder;
int campaign_options_from_header(struct campaign_options *o, const struct trace_header *h,
				struct campaign_holder **holder, char *err, size_t errlen);
void campaign_options_free(struct campaign_holder *h);

#endif
