/* SPDX-License-Identifier: GPL-2.0-only */
/* locks.h - what a lock's own memory says: whether it is held, and by which thread */
#ifndef ZUG_LOCKS_H
#define ZUG_LOCKS_H

#include <stdbool.h>
#include <stdint.h>
#include "symbols/symbols.h"

/* The memory of locks that was read while all tasks stand. Forget it before any task runs. One of zeros is empty. */
#define LOCK_WORDS	6
#define LOCK_MEMORY	160	/* those of a lease, and some more */
#define LOCK_FETCH	64
#define LOCK_PLACES	512	/* of the index: a power of two, more than twice LOCK_MEMORY */
struct lock_memory {
	unsigned int nr;
	bool moving;	/* a task runs: nothing is known but what is here */
	const struct lock_memory *first;	/* what is known there comes before what is here; or NULL */
	struct {
		int pid;
		uint64_t addr;
		uint32_t words[LOCK_WORDS];
	} e[LOCK_MEMORY];
	uint32_t round;
	struct {
		uint32_t round;	/* in use when it is the memory's */
		uint32_t at;	/* 1 + the place in e */
	} index[LOCK_PLACES];	/* by address; of several with one, the one that was put first is found */
};
/* Nothing is known any more, and no task runs. */
void lock_memory_forget(struct lock_memory *m);
/* It is known already what is there now: LOCK_WORDS words. */
void lock_memory_put(struct lock_memory *m, int pid, uint64_t addr, const uint32_t *words);
/* The place in e of what is there; nr: it is not known. */
unsigned int lock_memory_find(const struct lock_memory *m, int pid, uint64_t addr);
/* Several will be asked for, up to LOCK_FETCH: reads those that are not known in one system call. */
void lock_memory_fetch(struct lock_memory *m, int pid, const uint64_t *addrs, unsigned int nr);

/* What is there, as far as it is known, or read now: LOCK_WORDS words. false: it cannot be. */
bool lock_memory_get(struct lock_memory *m, int pid, uint64_t addr, uint32_t *words);

/*
 * The memory that lock_would_block() goes by, for that operation: its addresses, LOCK_WORDS words from
 * each of them. How many, LOCK_READS at most; 0: it goes by none.
 */
#define LOCK_READS	2
unsigned int lock_reads(unsigned int op, uint64_t addr, enum symlibc libc, uint64_t *addrs);

/*
 * Would op on the primitive at addr in process pid block the thread tid at once? Reads the
 * primitive's memory; unknown operations, layouts and unreadable memory say no, and so
 * do operations with a time-out, which end either way.
 */
bool lock_would_block(struct lock_memory *m, int pid, int tid, unsigned int op, uint64_t addr, enum symlibc libc);
/* Whether the kernel changes such a lock when a thread ends that holds it. words: its memory. */
bool lock_outlives_owner(unsigned int op, enum symlibc libc, const uint32_t *words);
/* The thread id that holds it, 0 unknown or free. */
int lock_owner(struct lock_memory *m, int pid, unsigned int op, uint64_t addr, enum symlibc libc);

/* What the memory of a mutex says (op of a mutex, or of a condition for its mutex); false: unknown. */
struct lock_state {
	bool locked, recursive;	/* recursive: its owner may lock it again, or is refused */
	int owner;		/* thread id, 0 unknown */
};
/* An operation on a mutex, or a wait, which gives one back. */
bool lock_is_mutex(unsigned int op);
/* words: its memory if it was read already, NULL: read it now. */
bool lock_read(struct lock_memory *m, int pid, unsigned int op, uint64_t addr, enum symlibc libc,
	       const uint32_t *words, struct lock_state *s);

#endif
