/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * diverge.h - imperfect replay: what to do when a program leaves its prefix
 *
 * After CHESS (OSDI 2008, 4.2). The same prefix is tried again, a few times.
 * When two attempts in a row leave it at the same point in the same way, the
 * program has changed for good (lazy initialisation) and the new behaviour is
 * adopted. When no attempt follows, the search gives up what lies below the
 * point and says that it is incomplete.
 */
#ifndef ZUG_SEARCH_DIVERGE_H
#define ZUG_SEARCH_DIVERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIVERGE_ATTEMPTS	4	/* executions of one prefix before it is given up */

struct diverge {
	bool now;		/* the current execution has left its prefix */
	bool adopted;		/* and what it does instead is the new truth */
	size_t depth;		/* where */
	uint64_t seen;		/* what was there */
	unsigned int attempts;	/* executions before this one that left the same prefix */
	bool given_up;		/* ever: the search is incomplete */
};

enum diverge_verdict { DIVERGE_NONE, DIVERGE_RETRY, DIVERGE_GIVE_UP };

static inline void diverge_begin(struct diverge *d)
{
	d->now = d->adopted = false;
}

/* The execution leaves its prefix here. True: adopt what it does from here on. */
static inline bool diverge_note(struct diverge *d, size_t depth, uint64_t seen)
{
	d->now = true;
	d->adopted = d->attempts && d->depth == depth && d->seen == seen;
	d->depth = depth;
	d->seen = seen;
	return d->adopted;
}

/* After the execution; on DIVERGE_GIVE_UP the prefix is good up to depth only. */
static inline enum diverge_verdict diverge_end(struct diverge *d)
{
	if (!d->now || d->adopted) {
		d->attempts = 0;
		return DIVERGE_NONE;
	}
	if (++d->attempts < DIVERGE_ATTEMPTS)
		return DIVERGE_RETRY;
	d->attempts = 0;
	d->given_up = true;
	return DIVERGE_GIVE_UP;
}

#endif
