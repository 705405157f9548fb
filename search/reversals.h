/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * races.h - the recorded execution of dpor.c: events, vector clocks, races
 *
 * An event is a step. Events of one task are ordered; so are events that touch
 * the same object, one of them writing; a task's first event comes after the
 * step that created it, and the event of a task that was waiting after the step
 * that let it go on.
 */
#ifndef ZUG_SEARCH_RACES_H
#define ZUG_SEARCH_RACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "search/access.h"

#define RACES_TASKS	64	/* sets of tasks are 64-bit masks */
#define RACES_NONE	UINT32_MAX

struct event {
	struct access access;
	uint16_t op;
	uint8_t task;
	bool value;		/* asked for a value */
	uint32_t nth;		/* event of its task, from 1 */
	uint32_t prev[2];	/* the event before on object[0] and object[1], or RACES_NONE */
	uint32_t creator;	/* of a first event: the step that created the task, or RACES_NONE */
	uint32_t enabler;	/* the step that ended its wait, or RACES_NONE */
	uint64_t print;		/* of the point */

	/* the point before it */
	uint64_t enabled;	/* tasks that are able to run */
	uint64_t allowed;	/* of these, the ones that the fair filter lets run */
	uint64_t sleep;		/* tasks whose going first here was explored elsewhere */
	uint64_t done;		/* tasks whose going first here has been explored */
	uint64_t backtrack;	/* tasks that have to go first here, once */
	uint32_t nr_values, cur_value;
};

struct races_object;

struct races {
	struct event *events;
	uint32_t *clocks;	/* RACES_TASKS for each event: [u] = events of u that come before */
	uint32_t *before;	/* the same without what the event's own object adds */
	uint32_t nr, room;
	uint32_t nr_clocked;	/* events whose clocks are known */
	uint32_t width;		/* tasks in use: 0..width-1 */
	uint32_t last[RACES_TASKS];	/* last event of each task, or RACES_NONE */
	struct races_object *objects;
	uint32_t mask, nr_objects;
};

int races_init(struct races *r);	/* -ENOMEM */
void races_fini(struct races *r);

/* Room for one more event. -ENOMEM. */
int races_reserve(struct races *r);

/* events, and nr, were read (room for one more than nr): make the rest fit. -ENOMEM. */
int races_resized(struct races *r);

/* Forget the events from nr on. */
void races_truncate(struct races *r, uint32_t nr);

/* The last event is about to become another one. */
void races_redo_last(struct races *r);

/*
 * Compute the clocks of new events, find the races of events from..nr-1 with
 * earlier ones, and mark in backtrack who has to go first where. -ENOMEM.
 */
int races_detect(struct races *r, uint32_t from);

/*
 * The same for an operation that a task was about to make when the execution
 * ended; creator and enabler as in struct event.
 */
void races_probe(struct races *r, uint8_t task, const struct zug_label *label, uint32_t creator,
		 uint32_t enabler);

#endif
