/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * progress_check.h - does an execution still get anywhere?
 *
 * Livelock: for PROGRESS_WINDOW steps no task was created, ended, blocked or
 * exec'd, and every task that ran yielded, again and again. Spin
 * (good-samaritan violation, Musuvathi and Qadeer, PLDI'08): every task that
 * could run was stopped in the middle of a computation (ZUG_OP_SPIN) in
 * exactly the same state, register for register, several times: it waits in a
 * loop for something that nobody is left to do. A computation that is merely
 * long never repeats its state.
 */
#ifndef ZUG_PROGRESS_CHECK_H
#define ZUG_PROGRESS_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "world.h"

#define PROGRESS_WINDOW 10000	/* steps: half of CHESS' bound of 20000 */
#define PROGRESS_REPEATS 3	/* identical states that make a spin */
#define PROGRESS_STATES 16	/* remembered states of a task */

struct progress_task {
	uint64_t steps, yields;		/* in the window */
	uint64_t states[PROGRESS_STATES];
	uint32_t nr_states, repeats;
};

struct progress_check {
	struct progress_task *tasks;	/* by number */
	uint32_t nr;
	uint64_t steps;			/* since anything new happened */
	bool spun;			/* only SPIN steps since then */
};

enum progress { PROGRESS_FINE = 0, PROGRESS_LIVELOCK, PROGRESS_SPIN };

void progress_reset(struct progress_check *p);
void progress_free(struct progress_check *p);
/* Something new: a task was created, ended, blocked or exec'd. */
void progress_made(struct progress_check *p);
void progress_point(struct progress_check *p, uint32_t task, bool yield, bool spin);
/* A task was stopped in a computation; registers: hash of its state, 0 unknown. */
void progress_spin(struct progress_check *p, uint32_t task, uint64_t registers);
/* who: "T1 and T2 spin" or "T1, T2", for the message. */
enum progress progress_verdict(const struct progress_check *p, const struct world *w,
			       char *who, size_t len);

#endif
