/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * own_order.h - only the program's own steps in the order of a failing schedule
 *
 * Of an execution of a server with its clients, or of an interpreter, most steps are those of libraries and other programs, and
 * most preemptions come there. Here no task is preempted but before a step of the program's own code whose turn has not come
 * yet. Such steps are known by their places. One that does not come while others can go on is not waited for any longer.
 */
#ifndef ZUG_SEARCH_OWN_ORDER_H
#define ZUG_SEARCH_OWN_ORDER_H

#include "search/schedule.h"

/* All zero: empty. */
struct own_order {
	struct own_step {
		uint64_t site;
		uint32_t task;
		uint32_t patience;	/* so many steps of others may come before it */
		bool made;
	} *list;
	size_t nr, room;
	/* of an execution: */
	size_t first;			/* the first that is not made */
	size_t turn;			/* the one whose turn it is */
	uint32_t waited;		/* steps of others since the last own one */
	uint32_t *roles;		/* by task: that task of the schedule whose steps it makes */
	uint32_t nr_roles, room_roles;
	bool swap;			/* tasks may change roles */
};

void own_order_release(struct own_order *o);
/* The own steps of that schedule; own: of each, whether it is one. 0 or -ENOMEM. */
int own_order_of(struct own_order *o, const struct schedule *of, const bool *own);
/*
 * An execution begins. swap: whichever task stands at the place of the next step makes it, as threads of a runtime do, and goes
 * on in that role.
 */
void own_order_begin(struct own_order *o, bool swap);
/* The position that is taken. */
typedef bool own_order_is_own(void *ctx, const struct zug_label *l);
uint32_t own_order_follow(struct own_order *o, const struct choice *c, own_order_is_own *is_own, void *ctx);

#endif
