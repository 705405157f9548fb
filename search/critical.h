/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * critical.h - pairs of operations of one execution that could come in the other order, and the
 * schedules that reverse them
 *
 * Two dependent operations of different tasks whose order nothing else gives are a pair. Its
 * reversal is the schedule in which what does not depend on the first comes before it, up to the
 * second and including it; then comes all else in its old order. So every other pair stays as it
 * is, as far as it can.
 *
 * An unlock and the lock that waited for it cannot change places: there the lock before the unlock
 * stands for it, as in DPOR.
 *
 * What ends a task (a signal that kills it, the end of its process) and the operation that the task was about to do are a
 * pair, too. Its reversal lets that task do this one operation before, or (wide) all that it does until it waits.
 *
 * Only neighbours are a pair: what a task has done with the object before, and what the other does with
 * it afterwards, stays as it is. Two that are wide stand for that, too: a file that is opened, read and
 * closed before the other writes it; a lock that is held twice between two of the other's times.
 *
 * What is done at points that the user named (--point) is not known. Where they are all that tasks do together (the methods
 * of a program in Java), they count as operations on one object, and each step of the one row with each of the other
 * is a pair.
 */
#ifndef ZUG_SEARCH_CRITICAL_H
#define ZUG_SEARCH_CRITICAL_H

#include "lib/base/id_map.h"
#include "search/schedule.h"

/* An operation that a task was about to do when the execution ended, or when step 'by' ended the task. */
struct critical_pending {
	uint32_t task;
	struct zug_label label;
	bool ended;
	size_t by;		/* ended: the step of another task */
};

struct critical_pair {
	size_t first;		/* step of the schedule */
	size_t second;		/* later step; from the schedule's number of steps on: of pending */
	bool again;		/* the same two operations come as a later pair, too */
	bool wide;		/* of all that the two tasks did with the object in a row: its first, or its last, operation */
	bool ends;		/* the first ends the second's task */
	bool vague;		/* they have no object in common: they depend on each other for what they could do */
	bool named;		/* a pair only where operations of which nothing is known, and libraries' own, order nothing */
	bool points;		/* and points that the user named are about one thing; they are two of these */
	uint8_t span;		/* of such points: so many more than the nearest two come the other way round */
	uint8_t group;		/* the caller's, for points that are tried together */
	bool own;		/* the caller's: a wide one of the program's own code, among threads of a runtime */
};

struct critical {
	const struct schedule *s;
	const uint32_t *births;		/* by task: steps made when it was first seen */
	const uint32_t *parents;	/* by task */
	uint32_t nr_tasks;
	const struct critical_pending *pending;
	size_t nr_pending;
	/* That place is in a library or in a language's runtime, not in the program; NULL: not known of any. */
	bool (*foreign)(const void *ctx, uint64_t site);
	const void *foreign_ctx;
};

/* A reversed schedule has at most so many steps more. */
#define CRITICAL_MORE	64

/*
 * The pairs, those that are tried first first: what ends a task; what comes last, and what is not there again; those that
 * are named last. Malloc'd; at most 'most'. 0 or -ENOMEM.
 */
int critical_pairs(const struct critical *c, size_t most, struct critical_pair **pairs, size_t *nr);

/* Two reads of a file depend on each other where they have one position in it; most often they do not. */
bool critical_both_read(const struct zug_label *a, const struct zug_label *b);

/*
 * Tasks open, look at and close the file of that pair, and are not seen to do anything else with it: mostly a library, or a
 * table of messages.
 */
bool critical_is_unchanged(const struct critical *c, const struct critical_pair *pair);

/*
 * Two members of one structure, two semaphores of one set: what they have in common is only what both are a part of. Or both
 * only copy what they have in common.
 */
bool critical_are_apart(const struct zug_label *x, const struct zug_label *y);

/* The label and task of an operation of a pair. */
const struct zug_label *critical_label(const struct critical *c, size_t step, uint32_t *task);

/* Code of a library, not of the program, makes that operation. */
bool critical_is_foreign(const struct critical *c, const struct zug_label *l);

/*
 * The tasks of the reversed schedule; order has room for CRITICAL_MORE steps more than the schedule has. Their
 * number; 0: out of memory.
 */
size_t critical_reverse(const struct critical *c, const struct critical_pair *pair, uint32_t *order);

#endif
