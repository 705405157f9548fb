/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * reversals.h - the recorded execution of dpor.c: events, their clocks, which pairs to reverse
 *
 * An event is a step. Events of one task are ordered; so are events that touch
 * the same object, one of them writing; a task's first event comes after the
 * step that created it, and the event of a task that was waiting after the step
 * that let it go on.
 */
#ifndef ZUG_SEARCH_REVERSALS_H
#define ZUG_SEARCH_REVERSALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/base/id_map.h"
#include "search/access.h"

#define REVERSALS_TASKS	64	/* sets of tasks are 64-bit masks */
#define REVERSALS_NONE	UINT32_MAX

struct event {
	struct access access;
	uint16_t op;
	uint8_t task;
	bool value;		/* asked for a value */
	bool ends;		/* ZUG_L_ENDS_ALL */
	uint32_t nth;		/* event of its task, from 1 */
	uint32_t prev[2];	/* the event before on object[0] and object[1], or REVERSALS_NONE */
	uint32_t creator;	/* of a first event: the step that created the task, or REVERSALS_NONE */
	uint32_t enabler;	/* the step that ended its wait, or REVERSALS_NONE */
	uint64_t print;		/* of the point */

	/* the point before it */
	uint64_t enabled;	/* tasks that are able to run */
	uint64_t allowed;	/* of these, the ones that the fair filter lets run */
	uint64_t sleep;		/* tasks whose going first here was explored elsewhere */
	uint64_t done;		/* tasks whose going first here has been explored */
	uint64_t backtrack;	/* tasks that have to go first here, once */
	uint32_t nr_values, cur_value;
};

/* By task u: events of u that come before. */
struct reversals_clock {
	uint32_t all[REVERSALS_TASKS];
	uint32_t before[REVERSALS_TASKS];	/* without what the event's own object adds */
};

struct reversals {
	struct event *events;
	struct reversals_clock *clocks;	/* by event */
	uint32_t nr, room, room_clocks;
	uint32_t nr_clocked;	/* events whose clocks are known */
	uint32_t width;		/* tasks in use: 0..width-1 */
	uint32_t last[REVERSALS_TASKS];	/* last event of each task, or REVERSALS_NONE */
	struct id_map objects;	/* the last event on each */
};

void reversals_fini(struct reversals *r);	/* one of zeros is ready for use */

/* Room for one more event. -ENOMEM. */
int reversals_reserve(struct reversals *r);

/* Forget the events from nr on. */
void reversals_truncate(struct reversals *r, uint32_t nr);

/* The last event is about to become another one. */
void reversals_redo_last(struct reversals *r);

/*
 * Compute the clocks of new events, find the events from..nr-1 that can be reversed with earlier
 * ones, and mark in backtrack which task has to go first where. -ENOMEM.
 */
int reversals_detect(struct reversals *r, uint32_t from);

/*
 * The same for an operation that a task was about to make when the execution
 * ended; creator and enabler as in struct event.
 */
void reversals_probe(struct reversals *r, uint8_t task, const struct zug_label *label,
		     uint32_t creator, uint32_t enabler);

#endif
