/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * untried.h - what a test does of which the search tries one way only, from the steps of its
 * executions
 */
#ifndef ZUG_UNTRIED_H
#define ZUG_UNTRIED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "campaign/options.h"
#include "lib/label.h"

#define UNTRIED_STORES	8	/* of a task that no barrier has followed; older ones are forgotten */
#define UNTRIED_PAIRS	256
#define UNTRIED_KEEP	4	/* functions that are named */
#define UNTRIED_TASKS	64	/* stores of further tasks are not looked at */

/* A task loads one object after it has stored to another, with no barrier between them. */
struct untried_pair {
	uint32_t task;
	uint64_t stored, loaded;
};

struct untried {
	bool timed;		/* a wait has a time-out, or a timer is set */
	bool early;		/* in some executions these could end before their time */
	bool handlers, signals;	/* signal handlers are set; signals are sent, or timers send them */
	bool threads;		/* threads are created */
	bool conditions;	/* a wait for a condition could return without a signal */
	uint64_t tries, yields;	/* tasks, a bit each: they try to lock; they let others go on */
	const char *keep[UNTRIED_KEEP];	/* functions of the C library that keep something between two calls, for all threads */
	uint64_t delayed[2];	/* objects: the stores of two tasks could each come after the other's load; 0: none */
	struct untried_pair pairs[UNTRIED_PAIRS];
	uint32_t nr_pairs;
	uint64_t stored[UNTRIED_TASKS][UNTRIED_STORES];
	uint32_t nr_stored[UNTRIED_TASKS];
};

/* Before the first step of an execution. */
void untried_begin(struct untried *u);
/* A step; stores: accesses to data are points because tasks share it. */
void untried_step(struct untried *u, uint32_t task, const struct zug_label *l, bool stores);
/* The functions of that kind, of which some must not be called by two threads at a time; ends with NULL. */
const char *const *untried_keepers(void);
/*
 * A line for each, with the option that tries it, if there is one and o does not have it. name: of
 * an object, NULL or the answer NULL: it has none.
 */
void untried_text(const struct untried *u, const struct campaign_options *o,
		  const char *(*name)(void *ctx, uint64_t object), void *ctx, FILE *to);

#endif
