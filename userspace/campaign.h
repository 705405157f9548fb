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
#include "engine.h"
#include "kernel.h"

/* Options of a test; strings and arrays are the caller's and must outlive the campaign. */
struct campaign_options {
	char **argv;			/* the command, NULL at the end */
	char **envp;
	const char *cwd;
	const char *strategy;		/* NULL: the default */
	uint64_t seed;
	int preemptions;		/* -1: the strategy's own */
	uint32_t fair;
	uint64_t executions;		/* 0: no bound */
	uint64_t time_ns;		/* 0: no bound */
	uint64_t timeout_ns, max_steps;
	int expect_exit;
	const char *match;		/* regular expression, NULL none */
	bool sync_points;
	uint32_t syscall_points;	/* ZUG_SYS_* */
	char **watches, **points;	/* NULL-terminated, may be NULL */
	char **probed;			/* replay: exactly these files have their primitives probed; else NULL */
	int cpus, lane, max_tasks;	/* 0, -1, 0: defaults */
	uint64_t spin_ns;
	const char *name;		/* of the sandbox, NULL: made up */
	const char *out_dir;		/* for traces */
	bool randomise;
	bool quiet, keep_going;
	int verify;			/* replays of a finding */
};

/* Sets what is not given on a command line. */
void campaign_defaults(struct campaign_options *o);

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
 * Executes a trace times times. Prints the program's output (the first time) and whether it did the same.
 */
int campaign_replay(struct campaign *c, const struct trace *t, int times);

/* Options as recorded in a trace; the strings belong to *holder, to be freed by campaign_options_free(). */
struct campaign_holder;
int campaign_options_from_trace(struct campaign_options *o, const struct trace *t,
				struct campaign_holder **holder, char *err, size_t errlen);
void campaign_options_free(struct campaign_holder *h);

#endif
