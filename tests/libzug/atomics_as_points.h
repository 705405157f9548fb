/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * atomics_as_points.h - C11 atomics and futexes of a file as points of libzug
 *
 * With cc -include, before anything else, the code of a file stays as it is, and a test can try all its interleavings:
 * each atomic operation is preceded by a point; a task that waits for a futex waits until another one wakes it, whatever
 * the time. Between two operations the file does what it does at once: a copy is not torn.
 */
#ifndef ZUG_TESTS_ATOMICS_AS_POINTS_H
#define ZUG_TESTS_ATOMICS_AS_POINTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "lib/zug/zug.h"

/* What is broken on purpose, so that a test shows that it would see it. */
enum broken {
	BROKEN_NOTHING,
	BROKEN_WAIT,		/* a wait does not look whether the word has changed */
	BROKEN_EXCHANGE,	/* another one may come between compare and exchange */
	BROKEN_WAKE,		/* no task is woken */
	BROKEN_NR
};
extern enum broken broken;

/* At the beginning of each execution. */
void futexes_reset(void);
long futex_as_points(void *word, int op, uint32_t value, const struct timespec *timeout);

#undef atomic_load
#undef atomic_load_explicit
#undef atomic_store
#undef atomic_exchange
#undef atomic_fetch_add
#undef atomic_compare_exchange_strong

#define atomic_load(p)			(zug_schedule_next(), __atomic_load_n(p, __ATOMIC_SEQ_CST))
#define atomic_load_explicit(p, order)	atomic_load(p)
#define atomic_store(p, v)		(zug_schedule_next(), __atomic_store_n(p, v, __ATOMIC_SEQ_CST))
#define atomic_exchange(p, v)		(zug_schedule_next(), __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST))
#define atomic_fetch_add(p, v)		(zug_schedule_next(), __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST))
#define atomic_compare_exchange_strong(p, old, new) __extension__({					\
	zug_schedule_next();										\
	bool same = __atomic_load_n(p, __ATOMIC_SEQ_CST) == *(old);					\
	if (same && broken == BROKEN_EXCHANGE) {							\
		zug_schedule_next();									\
		__atomic_store_n(p, new, __ATOMIC_SEQ_CST);						\
	} else {											\
		same = __atomic_compare_exchange_n(p, old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);	\
	}												\
	same;												\
})

/* syscall(SYS_futex, word, op, value, timeout, ...) is the only one */
#define syscall(nr, word, op, value, timeout, ...)	futex_as_points(word, op, (uint32_t)(value), timeout)

#endif
