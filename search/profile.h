/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * profile.h - the numbers of steps that tasks make, and on which objects: means over the
 * executions so far, learnt for weights (surw.c)
 *
 * Tasks and objects are known by their stable names, so that counts of one execution say something
 * about the next. The search counts in all executions but replays, whatever strategy chose in them
 * (STRATEGY_COUNTS). What comes to be points later, or stops being points, must not spoil the means:
 * one is taken over the executions since the pair of object and task was first met, and all sums are
 * halved now and then, so that old executions count less and less.
 *
 * A task that was killed, or ended with its process, says nothing about the steps that it would have
 * made: if it came to its own end in some execution its means stand in where it has made fewer. Else a
 * task that most schedules cut before it comes to an object would be taken for one that does not use
 * it, and be cut for ever.
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

/* What the program's own code does, where that is told from its packages' (ZUG_L_OWN), counts as an object of its own, too. */
#define PROFILE_OWN	0x6f776e00000001ull

#define PROFILE_SCALE	16u			/* parts of a step, for means */
#define PROFILE_WINDOW	(64 * PROFILE_SCALE)	/* so many executions are halved to half as many */

struct profile_pair {
	uint32_t task;
	uint32_t next;		/* next pair of the object, or UINT32_MAX */
	uint64_t steps;		/* sum, in 1/PROFILE_SCALE */
	uint64_t from;		/* profile.executions when the pair was first met */
	uint64_t now;		/* steps of this execution, which are in steps */
	bool write;
};

struct profile_object {
	uint64_t object;
	uint32_t first;		/* pair */
	uint32_t tasks;		/* pairs that there are */
	uint64_t steps;		/* sum of the pairs' */
	uint64_t telling;	/* those that are no affair of one process alone (profile_telling()) */
	bool write;
	bool changed;		/* by more than that it is closed */
};

struct profile {
	uint64_t executions;	/* that count, in 1/PROFILE_SCALE */
	uint64_t *steps;	/* by task: sum, in 1/PROFILE_SCALE */
	uint32_t *parent;	/* by task */
	uint32_t nr_tasks, room_parent;
	struct profile_life {
		uint64_t now;	/* steps of this execution */
		bool born, ended;	/* ended: by itself */
		bool met, known;	/* in some execution: it existed, it ended by itself */
	} *lives;		/* by task */
	uint32_t nr_lives;
	struct profile_pair *pairs;
	uint32_t nr_pairs, room_pairs;
	struct profile_object *objects;
	uint32_t nr_objects, room_objects;
	struct id_map index;	/* of objects */
};

void profile_fini(struct profile *p);

static inline bool profile_has_met(const struct profile *p, uint32_t task)
{
	return task < p->nr_lives && p->lives[task].born;
}

/* The task exists in this execution, if it makes steps or not. -ENOMEM. */
int profile_meet(struct profile *p, uint32_t task, uint32_t parent);

/* The task, which that parent created, makes a step. -ENOMEM. */
int profile_step(struct profile *p, uint32_t task, uint32_t parent, const struct zug_label *label);

/* Makes the index, after the lists were read. -ENOMEM. */
int profile_index(struct profile *p);

/* The task came to its own end in this execution. */
void profile_ended(struct profile *p, uint32_t task);

/* Tasks that there were in executions before this one. */
uint32_t profile_tasks(const struct profile *p);

/* An execution ended. */
void profile_end(struct profile *p);

/* Steps on the pair's object that its task makes in an execution, or all steps of a task; in 1/PROFILE_SCALE. */
static inline uint64_t profile_mean(const struct profile *p, const struct profile_pair *pair)
{
	return pair->steps * PROFILE_SCALE / (p->executions > pair->from ? p->executions - pair->from : PROFILE_SCALE);
}

static inline uint64_t profile_mean_of_task(const struct profile *p, uint32_t task)
{
	return p->steps[task] * PROFILE_SCALE / (p->executions ? p->executions : PROFILE_SCALE);
}

/*
 * The weight of a task, in 1/PROFILE_SCALE: its mean, and of one that never came to its own end at least
 * the mean of those that did, as it is unknown how many steps it would make.
 */
uint64_t profile_weight(const struct profile *p, uint32_t task);
/* The same for the steps on an object. */
uint64_t profile_weight_on(const struct profile *p, const struct profile_object *o, const struct profile_pair *pair);

/* Objects that at least two tasks use, one of them writing. */
static inline bool profile_shared(const struct profile_object *o)
{
	return o->tasks > 1 && o->write && o->object != PROFILE_OWN;
}

/*
 * The steps on an object whose order may matter: 0 where it is not shared. What could do anything as far as is known, but most
 * often concerns one process alone, and that a file is closed, which each job of a shell does with its script, are left out:
 * in a script these are nearly all steps.
 */
static inline uint64_t profile_telling(const struct profile_object *o)
{
	return profile_shared(o) && o->changed ? o->telling : 0;
}

/* Several tasks execute the program's own code, and most of what they do is that of packages, such as a pool of threads. */
bool profile_drowns_own(const struct profile *p);
/* And tasks that execute none of it, such as the clients of a server, make half of all steps at least, or are half of all. */
bool profile_has_clients(const struct profile *p);

#endif
