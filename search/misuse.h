/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * misuse.h - wrong use of locks, conditions and threads, found at the operation
 *
 * Shown every step before it is made, it keeps what the labels prove and says
 * when an operation is an error whatever comes after it. It never cries wolf:
 * a lock may have been taken by code without probes, memory is used again for
 * another object, std::mutex never calls init, a process may have died with a
 * lock. So:
 *
 *	- a state is only known from a blocking operation that has come back;
 *	  a trylock, a timed lock, a task that died make it unknown;
 *	- what concerns the state of a lock must agree with the lock's own memory
 *	  when the caller can read it, and is not reported when the caller can
 *	  read memory in general but not this lock's;
 *	- a second init of an object that is not locked is an error only where
 *	  memory cannot have been used again (a global).
 */
#ifndef ZUG_SEARCH_MISUSE_H
#define ZUG_SEARCH_MISUSE_H

#include "search/search.h"

enum misuse_kind {
	MISUSE_NONE = 0,
	MISUSE_UNLOCK_FREE,	/* unlock of a lock that no task holds */
	MISUSE_UNLOCK_FOREIGN,	/* unlock of a lock that another task holds */
	MISUSE_RELOCK,		/* lock of a normal mutex that the task holds: it waits for itself */
	MISUSE_INIT_USED,	/* init of a lock that is held, or waited for */
	MISUSE_INIT_TWICE,	/* init of a global object that has been initialised */
	MISUSE_DESTROY_USED,	/* destroy of what is held, or waited for */
	MISUSE_USE_DESTROYED,	/* use of a global object after destroy */
	MISUSE_JOIN_TWICE,	/* join of a thread that was joined */
	MISUSE_JOIN_DETACHED,	/* join of a detached thread */
	MISUSE_WAIT_UNLOCKED,	/* wait for a condition without holding its mutex */
	MISUSE_NR,
};

/* "unlock of a lock that is not held". Static. */
const char *misuse_text(enum misuse_kind kind);

/* The state that a lock's own memory shows. */
struct misuse_memory {
	bool locked;
	bool owner_known;	/* then: */
	uint32_t owner;		/* task that holds it */
	bool recursive;		/* may be locked again by its owner, or refuses that with an error */
	bool fixed;		/* a global: its memory is never another object's */
};

struct misuse_report {
	enum misuse_kind kind;
	uint32_t task;
	struct zug_label label;		/* the wrong operation */
	uint64_t object;
	uint32_t other;			/* the task that holds or waits, or SEARCH_NO_TASK */
	uint64_t earlier_site;		/* where the state comes from (lock, destroy, ...), 0: unknown */
};

struct misuse;

/*
 * read: the memory of an object as 'task' sees it; false: cannot be read. NULL:
 * no memory can be read at all (model programs), the labels are all there is.
 */
struct misuse *misuse_new(bool (*read)(void *ctx, uint32_t task, uint64_t object,
				       struct misuse_memory *memory), void *ctx);
void misuse_free(struct misuse *m);
void misuse_begin(struct misuse *m);	/* a new execution */

/*
 * point->cand[i] is about to make its step. 1: it is an error, *report says
 * which; 0: nothing known against it; -ENOMEM.
 */
int misuse_step(struct misuse *m, const struct search_point *point, uint32_t i,
		struct misuse_report *report);

/*
 * True while a use of something that has been destroyed would be an error, whatever the use is: of memory of a process, in
 * which a task destroyed it, and which lives(): some task of that process does.
 */
bool misuse_after_destroy(const struct misuse *m, bool (*lives)(void *ctx, uint32_t task), void *ctx);

#endif
