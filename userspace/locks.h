/* SPDX-License-Identifier: GPL-2.0-only */
/* locks.h - what a lock's own memory says: is it held, and by whom */
#ifndef ZUG_LOCKS_H
#define ZUG_LOCKS_H

#include <stdbool.h>
#include <stdint.h>
#include "symbols.h"

/*
 * Would op on the primitive at addr in process pid block the thread tid at once? Reads the
 * primitive's memory; unknown operations, layouts and unreadable memory say no, and so
 * do operations with a time-out, which end either way.
 */
bool lock_would_block(int pid, int tid, unsigned int op, uint64_t addr, enum symlibc libc);
/* The thread id that holds it, 0 unknown or free. */
int lock_owner(int pid, unsigned int op, uint64_t addr, enum symlibc libc);

/* What the memory of a mutex says (op of a mutex, or of a condition for its mutex); false: unknown. */
struct lock_state {
	bool locked, recursive;	/* recursive: its owner may lock it again, or is refused */
	int owner;		/* thread id, 0 unknown */
};
/* words: its memory if it was read already, NULL: read it now. */
bool lock_read(int pid, unsigned int op, uint64_t addr, enum symlibc libc, const uint32_t *words,
	       struct lock_state *s);

#endif
