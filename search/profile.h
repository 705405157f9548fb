/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * profile.h - the numbers of steps that tasks make, and on which objects: means over the
 * executions so far, learnt for weights (surw.c)
 *
 * Tasks and objects are known by their stable names, so that counts of one
 * execution say something about the next.
 */
#ifndef ZUG_SEARCH_PROFILE_H
#define ZUG_SEARCH_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/base/id_map.h"
#include "search/search.h"

/* More pairs of object and task than this are not counted: memory is bounded. */
#define PROFILE_PAIRS	(1u << 16)

struct profile_pair {
	uint32_t task;
	uint32_t next;		/* next pair of the object, or UINT32_MAX */
	uint64_t steps;		/* sum over all executions */
	bool write;
};

struct profile_object {
	uint64_t object;
	uint32_t first;		/* pair */
	uint32_t tasks;		/* pairs that there are */
	uint64_t steps;
	bool write;
};

struct profile {
	uint64_t executions;
	uint64_t *steps;	/* by task: sum over all executions */
	uint32_t *parent;	/* by task */
	uint32_t nr_tasks, room_parent;
	struct profile_pair *pairs;
	uint32_t nr_pairs, room_pairs;
	struct profile_object *objects;
	uint32_t nr_objects, room_objects;
	struct id_map index;	/* of objects */
};

void profile_fini(struct profile *p);

/* Room for that task. -ENOMEM. */
int profile_task(struct profile *p, uint32_t task, uint32_t parent);

/* The task makes a step. -ENOMEM. */
int profile_step(struct profile *p, uint32_t task, const struct zug_label *label);

/* Makes the index, after the lists were read. -ENOMEM. */
int profile_index(struct profile *p);

/* An execution ended. */
static inline void profile_end(struct profile *p)
{
	p->executions++;
}

/* Objects that at least two tasks use, one of them writing. */
static inline bool profile_shared(const struct profile_object *o)
{
	return o->tasks > 1 && o->write;
}

#endif
