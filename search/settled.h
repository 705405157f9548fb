/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * settled.h - the steps of an execution that are the program's own, each where it takes effect
 *
 * What is left out (ZUG_L_LEFT_OUT) is none of them: how an interpreter's threads hand its lock on is another matter in each
 * execution. A point at which a task gives that lock away, and waits until it has it again, takes effect then: what the task
 * does behind the point comes after all that others have done meanwhile.
 */
#ifndef ZUG_SEARCH_SETTLED_H
#define ZUG_SEARCH_SETTLED_H

#include "search/schedule.h"

struct settled {
	uint64_t *at;			/* of each step: its number in the execution, */
	uint64_t *effect;		/* and that of the one with which it takes effect; rising */
	size_t nr, room_at, room_effect;
	uint64_t whole;			/* steps of the execution */
};

void settled_release(struct settled *e);
/* Only these steps are left in s, in the order of their effects; its differences stay as they are. 0 or -ENOMEM. */
int settled_steps(struct schedule *s, struct settled *e);
/* The number of those that have taken effect before that step of the execution. */
size_t settled_before(const struct settled *e, uint64_t step);
/* The number in the execution of step i; UINT64_MAX stays. */
uint64_t settled_at(const struct settled *e, uint64_t i);

/* What one task of an execution that goes on has done. */
struct settling {
	uint32_t made;			/* own steps */
	bool point;			/* the last one is a point, and may have to wait for its effect */
	bool given;			/* it has given its turn away there, */
	uint64_t mutex;			/* and gives this mutex back when it has it again; 0: not known yet */
};

/* The task makes that step. True when its last own one, a point, takes effect with it. */
bool settling_step(struct settling *t, const struct zug_label *l);
/*
 * Of its own steps so many have certainly taken effect where it stands before that operation; NULL: it cannot go on. Behind a
 * point it may be about to wait.
 */
static inline uint32_t settling_made(const struct settling *t, const struct zug_label *next)
{
	return t->made - (t->point && (!next || next->flags & ZUG_L_LEFT_OUT));
}

#endif
