/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * takers.h - which task has a lock that does not say it itself
 *
 * A semaphore knows no owner, nor does a lock of Rust's or a plain mutex of musl's. Python's locks are semaphores. The
 * steps tell who has one: the first task that came to it since it was given back. That is so while it is used as a
 * lock: whoever took it gives it back, and takes it once. One that another task has posted, or that its taker waits
 * for, is none, for the rest of the execution.
 *
 * A try that fails, of a lock that was taken before the search began, is not told from one that takes it. So a cycle of
 * such locks is no proof; it is taken for a deadlock where time-outs alone have gone on for long.
 */
#ifndef ZUG_TAKERS_H
#define ZUG_TAKERS_H

#include <stdbool.h>
#include <stdint.h>
#include "engine/world.h"
#include "lib/base/id_map.h"
#include "lib/label.h"

/* So many time-outs of other tasks in a row, while the same tasks wait for each other, change nothing. */
#define TAKERS_IN_VAIN 100

struct taker {
	uint32_t task;		/* WORLD_NO_TASK: none has it */
	bool no_lock;		/* it is not used as one */
};

struct takers {
	struct id_map index;	/* of objects, in locks */
	struct taker *locks;
	uint32_t nr, room;
	uint32_t in_vain;	/* time-outs in a row at which the tasks from `first` on waited for each other */
	uint32_t first;
	uint64_t steps;		/* of the execution at the last one */
};

/* An execution begins. */
void takers_reset(struct takers *k);
void takers_free(struct takers *k);
/* The task makes that step. */
void takers_step(struct takers *k, uint32_t task, const struct zug_label *label);
/* The task that has the lock for which t waits, by its memory or by the steps; k: may be NULL. WORLD_NO_TASK: unknown. */
uint32_t takers_owner(const struct takers *k, struct world *w, const struct world_task *t);
/*
 * Of a decision at which nothing can go on but by time-outs, after so many steps: the first task of a cycle of locks in
 * which that has changed nothing for long. WORLD_NO_TASK: there is none.
 */
uint32_t takers_cycle(struct takers *k, struct world *w, uint64_t steps);

#endif
