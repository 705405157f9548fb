/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel_side.h - what tests of the kernel's world have in the place of the kernel side and of the sandbox
 *
 * Events are put into a list, commands are written down, and a grant may bring more events, as the kernel side would send them.
 */
#ifndef ZUG_TESTS_KERNEL_SIDE_H
#define ZUG_TESTS_KERNEL_SIDE_H

#include "kworld/kworld_internal.h"

struct kernel_side {
	struct zug_event ring[64];
	size_t nr_ring, next_ring;
	struct zug_sandbox state;
	struct zug_ctl commands[64];
	size_t nr_commands;
	struct zug_lease lease;
	struct zug_known_file known[ZUG_KNOWN_FILES];
	struct zug_call call;		/* of the system call that comes next, if its task is that one */
	struct spawn_table spawn;
	int refuse;			/* what kernel_event() says instead */
	void (*on_grant)(uint32_t kid);
	char err[256];

	/* a template whose prototype starts, leaves a handler and stands there */
	int way;			/* so far it has come */
	bool there;
	int bad_stop;			/* it stops before another point first */
	bool hastens, hastened;		/* an execution has told how many calls the prototype makes; it makes them */
					/* without a stop */
	bool misses;			/* it does not come to the last one then */
	unsigned int nr_halts;
	unsigned int nr_touched;
	uint64_t touched;
	unsigned int nr_forks, nr_gone;
};

extern struct kernel_side side;

/* Adds an event of task kid to the list; the caller fills the rest. */
struct zug_event *side_put(enum zug_event_kind kind, uint32_t kid, uint32_t flags);

/* A world in which the root (1) has started two tasks (2, 3) and stands at its first point. side_end() frees it. */
struct kworld *side_begin(void);
void side_end(struct kworld *k);

/* The engine is told that next; nothing. */
bool side_next_is(struct kworld *k, enum world_event_kind kind, uint32_t task, bool ask);
bool side_nothing_next(struct kworld *k);

enum task_state_kind side_state_of(const struct kworld *k, uint32_t task);

#endif
