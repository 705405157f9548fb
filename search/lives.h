/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lives.h - which life of a piece of memory an access belongs to
 *
 * A block of the heap that was freed may be given to another task, and no synchronisation of the program says that it was
 * freed first. So the accesses before and behind a free() are of two lives, which lie in different spaces (ranges.h) and do
 * not race with each other. Where a block is given out is not seen: its new life is taken to begin with the first write. What
 * comes before that, a read or another free(), most likely is an access to what is free: it belongs to the dead block as
 * well, whose begin is the free(), a write.
 *
 * Lives and dead blocks have numbers, which are the same in executions that free in the same order.
 */
#ifndef ZUG_SEARCH_LIVES_H
#define ZUG_SEARCH_LIVES_H

#include "search/ranges.h"

struct lives;

struct lives *lives_new(void);		/* NULL: out of memory */
void lives_free(struct lives *l);
void lives_reset(struct lives *l);	/* nothing was freed */

struct life {
	uint32_t number;	/* of the life that the access belongs to; 0: nothing was freed there */
	uint32_t dead;		/* of the block that was freed, where nothing has been written since; 0: none */
};

/* An access to a range; write: other than the end of it. */
struct life lives_access(struct lives *l, const struct range *r, bool write);
/* The range is freed: the number of the dead block; 0: out of memory. */
uint32_t lives_end(struct lives *l, const struct range *r);

/* The space of a life, or of a dead block, by its number. */
static inline uint64_t lives_space(uint64_t space, uint32_t number)
{
	return number ? mix64(space ^ mix64(number)) : space;
}

#endif
