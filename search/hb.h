/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hb.h - happens-before of one execution as a 64-bit hash
 *
 * The hash is the exclusive or, over all steps, of
 *
 *	mix(task, number of the step among the task's, object, version of the object)
 *
 * where every write gives its object a new version (CHESS, OSDI 2008, 4.4.2).
 * What lists the names of a folder has one more tuple, with the exclusive or of (task, number of the step) over all steps that
 * have changed names by then: these have no folder in their labels, and the order in which they came does not matter to it.
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
#include "lib/base/id_map.h"
#include "search/access.h"

struct hb {
	uint64_t hash;
	uint64_t names;			/* who has changed names: access_changes_names() */
	struct id_map versions;		/* of the objects that were written */
	uint32_t *steps;		/* by task: steps made */
	uint32_t nr_tasks;		/* size of steps */
};

void hb_fini(struct hb *hb);		/* one of zeros is ready for use */
void hb_reset(struct hb *hb);		/* a new execution */

/* Make room for tasks 0..task. -ENOMEM. */
int hb_reserve_task(struct hb *hb, uint32_t task);

/* The task, known to hb_reserve_task(), makes its step. -ENOMEM. */
int hb_push(struct hb *hb, uint32_t task, const struct zug_label *label);

/* The hash if that task made that step now. */
uint64_t hb_peek(const struct hb *hb, uint32_t task, const struct zug_label *label);

/* A value that the program was given (ZUG_OP_CHOICE) is part of its history. */
void hb_push_value(struct hb *hb, uint32_t task, uint32_t value);

/* Steps that the task has made in this execution. */
static inline uint32_t hb_steps(const struct hb *hb, uint32_t task)
{
	return task < hb->nr_tasks ? hb->steps[task] : 0;
}

#endif
