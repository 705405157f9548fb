/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * own_hold.h - no task is preempted but at one place of the program's own code
 *
 * Where a task of a failing schedule is stopped behind a step of the program's own code, others make own steps meanwhile. A
 * trial has this alone: a task that comes to the place where it was stopped, behind an own step at the same place as there,
 * waits until another task has made a step at the place of the other's. Threads, and how many steps they make before that, may be
 * others than in the failing schedule, as in a server whose runtime gives requests to threads. That is enough where a task acts
 * on what it has looked at before.
 */
#ifndef ZUG_SEARCH_OWN_HOLD_H
#define ZUG_SEARCH_OWN_HOLD_H

#include "search/own_order.h"

struct own_hold {
	uint64_t at, behind, until;	/* places: of the step that is stopped, the task's last own step, and that of others */
	uint32_t often;		/* that the schedule has own steps at the last two */
	size_t last;		/* the last such step that is stopped */
};

/* All zero: empty. */
struct own_holds {
	struct own_hold *list;	/* those first that are tried first */
	size_t nr, room;
	/* of an execution: */
	const struct own_hold *now;
	uint32_t patience, waited;	/* steps of others for which a task may be held; so many have been made */
	uint32_t made;			/* steps at 'until' */
	struct held {
		uint64_t last;		/* the place of its last own step */
		bool here;		/* it stands before 'at' */
		uint32_t made;		/* steps at 'until' by then, but its own */
		uint32_t own;		/* its own ones */
	} *tasks;
	uint32_t nr_tasks, room_tasks;
};

void own_holds_release(struct own_holds *h);
/* The holds that the schedule has; own: of each step, whether the program's own code makes it. 0 or -ENOMEM. */
int own_holds_of(struct own_holds *h, const struct schedule *of, const bool *own);
/* An execution with hold i begins. */
void own_holds_begin(struct own_holds *h, size_t i);
/* The position that is taken; CHOICE_NONE: out of memory. */
uint32_t own_holds_follow(struct own_holds *h, const struct choice *c, own_order_is_own *is_own, void *ctx);

#endif
