/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hb.h - happens-before of one execution as a 64-bit hash
 *
 * The hash is the exclusive or, over all steps, of
 *
 *	mix(task, how manieth step of the task, object, version of the object)
 *
 * where every write gives its object a new version (CHESS, OSDI 2008, 4.4.2).
 * Two executions with the same set of such tuples have the same happens-before
 * graph, whatever the order in which independent steps were made, and a step
 * costs O(1). Steps without an object count too: a yield must change the hash,
 * or else a state equals its own ancestor and a cache prunes it away.
 *
 * Tasks and objects must have stable names (search.h); the two differences to
 * CHESS are that names include the creating task, and 64 bits.
 */
#ifndef ZUG_SEARCH_HB_H
#define ZUG_SEARCH_HB_H

#include <stddef.h>
#include "search/access.h"

struct hb_object {
	uint64_t object;
	uint32_t generation;	/* entries of an earlier execution count as empty */
	uint32_t version;
};

struct hb {
	uint64_t hash;
	uint32_t generation;
	uint32_t nr_objects;		/* in this generation */
	uint32_t mask;			/* size of objects - 1, a power of two */
	struct hb_object *objects;
	uint64_t *steps;		/* by task: generation << 32 | steps made */
	uint32_t nr_tasks;		/* size of steps */
};

int hb_init(struct hb *hb);		/* -ENOMEM */
void hb_fini(struct hb *hb);
void hb_reset(struct hb *hb);		/* a new execution */

/* Make room for tasks 0..task. -ENOMEM. */
int hb_reserve_task(struct hb *hb, uint32_t task);

/* The task, known to hb_reserve_task(), makes its step. -ENOMEM (the hash is then unchanged). */
int hb_push(struct hb *hb, uint32_t task, const struct zug_label *label);

/* The hash if that task made that step now. */
uint64_t hb_peek(const struct hb *hb, uint32_t task, const struct zug_label *label);

/* A value that the program was given (ZUG_OP_CHOICE) is part of its history. */
void hb_push_value(struct hb *hb, uint32_t task, uint32_t value);

/* Steps that the task has made in this execution. */
static inline uint32_t hb_steps(const struct hb *hb, uint32_t task)
{
	if (task >= hb->nr_tasks || hb->steps[task] >> 32 != hb->generation)
		return 0;
	return (uint32_t)hb->steps[task];
}

#endif
