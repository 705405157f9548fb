/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * zug_pthread.h - a program's own threads, locks, conditions and semaphores as operations and resources
 *
 * Include it instead of, or after, <pthread.h>, <threads.h> and <semaphore.h> in the files that are to be
 * tested (cc -include zug_pthread.h does it without changing them). Calls by these names then belong to
 * the test while one runs, and are the real ones otherwise:
 *
 *	pthread_create join detach exit self equal, pthread_mutex_*, pthread_cond_*, pthread_rwlock_*,
 *	pthread_barrier_*, pthread_spin_*, pthread_once; thrd_*, mtx_*, cnd_*, call_once; sem_init destroy
 *	wait trywait timedwait clockwait post getvalue; sched_yield
 *
 * An object belongs to one execution: a static one is as new in the next. A time-out is over when no
 * operation can go on otherwise. What is left as it is: named semaphores, cancellation, keys, robust and
 * process-shared objects, recursive mutexes that have no init call, joins that do not wait, sleeps, and calls
 * by a pointer to the function or in other libraries, as those of std::thread.
 */
#ifndef ZUG_PTHREAD_H
#define ZUG_PTHREAD_H

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include "zug.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum { ZUG_MUTEX_NORMAL, ZUG_MUTEX_RECURSIVE, ZUG_MUTEX_ERRORCHECK };
enum { ZUG_BLOCK, ZUG_TRY, ZUG_TIMED };
#define ZUG_BARRIER_SERIAL	PTHREAD_BARRIER_SERIAL_THREAD

/* The place of a call. */
#define ZUG_AT	const char *file, int line, const char *func

/* The calling thread is the operation that has the turn. */
bool zug_is_operation(void);

/* All return 0 or an error of errno.h, as the pthread functions do. */
int zug_at_mutex_init(void *m, int type, const char *name, ZUG_AT);
int zug_at_mutex_destroy(void *m, const char *name, ZUG_AT);
int zug_at_mutex_lock(void *m, int timed, const char *name, ZUG_AT);
int zug_at_mutex_trylock(void *m, const char *name, ZUG_AT);
int zug_at_mutex_unlock(void *m, const char *name, ZUG_AT);
int zug_at_cond_init(void *c, const char *name, ZUG_AT);
int zug_at_cond_destroy(void *c, const char *name, ZUG_AT);
int zug_at_cond_wait(void *c, void *m, int timed, const char *name, const char *mutex_name, ZUG_AT);
int zug_at_cond_signal(void *c, int all, const char *name, ZUG_AT);
int zug_at_sem_init(void *s, unsigned int value, const char *name, ZUG_AT);
int zug_at_sem_destroy(void *s, const char *name, ZUG_AT);
int zug_at_sem_wait(void *s, int how, const char *name, ZUG_AT);
int zug_at_sem_post(void *s, const char *name, ZUG_AT);
int zug_at_sem_getvalue(void *s, int *value, const char *name);
int zug_at_rwlock_init(void *l, const char *name, ZUG_AT);
int zug_at_rwlock_destroy(void *l, const char *name, ZUG_AT);
int zug_at_rwlock_lock(void *l, int write, int how, const char *name, ZUG_AT);
int zug_at_rwlock_unlock(void *l, const char *name, ZUG_AT);
int zug_at_barrier_init(void *b, unsigned int count, const char *name, ZUG_AT);
int zug_at_barrier_destroy(void *b, const char *name, ZUG_AT);
int zug_at_barrier_wait(void *b, const char *name, ZUG_AT);
int zug_at_once(void *once, void (*fn)(void), const char *name, ZUG_AT);
int zug_at_thread_create(unsigned long *thread, void *(*start)(void *arg), void *arg, const char *name, ZUG_AT);
int zug_at_thread_join(unsigned long thread, void **value, ZUG_AT);
int zug_at_thread_detach(unsigned long thread);
unsigned long zug_thread_self(void);
__attribute__((noreturn)) void zug_thread_exit(void *value);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#define ZUG_MINE	(ZUG_IN_TEST && zug_is_operation())

static inline int zug_mutex_type(const pthread_mutexattr_t *attr)
{
	int type = PTHREAD_MUTEX_DEFAULT;

	if (attr)
		pthread_mutexattr_gettype(attr, &type);
	return type == PTHREAD_MUTEX_RECURSIVE ? ZUG_MUTEX_RECURSIVE :
	       type == PTHREAD_MUTEX_ERRORCHECK ? ZUG_MUTEX_ERRORCHECK : ZUG_MUTEX_NORMAL;
}

/* Semaphores answer with -1 and errno. */
static inline int zug_errno(int error)
{
	if (error)
		errno = error;
	return error ? -1 : 0;
}

#ifndef ZUG_PTHREAD_NO_NAMES

#define pthread_create(t, attr, fn, ...)	\
	(ZUG_MINE ? zug_at_thread_create(t, fn, __VA_ARGS__, #fn, ZUG_HERE) : pthread_create(t, attr, fn, __VA_ARGS__))
#define pthread_join(t, value)		(ZUG_MINE ? zug_at_thread_join(t, value, ZUG_HERE) : pthread_join(t, value))
#define pthread_detach(t)		(ZUG_MINE ? zug_at_thread_detach(t) : pthread_detach(t))
#define pthread_self()			(ZUG_MINE ? zug_thread_self() : pthread_self())
#define pthread_exit(value)		(ZUG_MINE ? zug_thread_exit(value) : pthread_exit(value))

#define pthread_mutex_init(m, attr)	\
	(ZUG_MINE ? zug_at_mutex_init(m, zug_mutex_type(attr), #m, ZUG_HERE) : pthread_mutex_init(m, attr))
#define pthread_mutex_destroy(m)	(ZUG_MINE ? zug_at_mutex_destroy(m, #m, ZUG_HERE) : pthread_mutex_destroy(m))
#define pthread_mutex_lock(m)		(ZUG_MINE ? zug_at_mutex_lock(m, 0, #m, ZUG_HERE) : pthread_mutex_lock(m))
#define pthread_mutex_timedlock(m, ...)	\
	(ZUG_MINE ? zug_at_mutex_lock(m, 1, #m, ZUG_HERE) : pthread_mutex_timedlock(m, __VA_ARGS__))
#define pthread_mutex_clocklock(m, ...)	\
	(ZUG_MINE ? zug_at_mutex_lock(m, 1, #m, ZUG_HERE) : pthread_mutex_clocklock(m, __VA_ARGS__))
#define pthread_mutex_trylock(m)	(ZUG_MINE ? zug_at_mutex_trylock(m, #m, ZUG_HERE) : pthread_mutex_trylock(m))
#define pthread_mutex_unlock(m)		(ZUG_MINE ? zug_at_mutex_unlock(m, #m, ZUG_HERE) : pthread_mutex_unlock(m))

#define pthread_spin_init(m, shared)	\
	(ZUG_MINE ? zug_at_mutex_init((void *)(m), 0, #m, ZUG_HERE) : pthread_spin_init(m, shared))
#define pthread_spin_destroy(m)		\
	(ZUG_MINE ? zug_at_mutex_destroy((void *)(m), #m, ZUG_HERE) : pthread_spin_destroy(m))
#define pthread_spin_lock(m)		(ZUG_MINE ? zug_at_mutex_lock((void *)(m), 0, #m, ZUG_HERE) : pthread_spin_lock(m))
#define pthread_spin_trylock(m)		(ZUG_MINE ? zug_at_mutex_trylock((void *)(m), #m, ZUG_HERE) : pthread_spin_trylock(m))
#define pthread_spin_unlock(m)		(ZUG_MINE ? zug_at_mutex_unlock((void *)(m), #m, ZUG_HERE) : pthread_spin_unlock(m))

#define pthread_cond_init(c, attr)	(ZUG_MINE ? zug_at_cond_init(c, #c, ZUG_HERE) : pthread_cond_init(c, attr))
#define pthread_cond_destroy(c)		(ZUG_MINE ? zug_at_cond_destroy(c, #c, ZUG_HERE) : pthread_cond_destroy(c))
#define pthread_cond_wait(c, m)		(ZUG_MINE ? zug_at_cond_wait(c, m, 0, #c, #m, ZUG_HERE) : pthread_cond_wait(c, m))
#define pthread_cond_timedwait(c, m, ...)	\
	(ZUG_MINE ? zug_at_cond_wait(c, m, 1, #c, #m, ZUG_HERE) : pthread_cond_timedwait(c, m, __VA_ARGS__))
#define pthread_cond_clockwait(c, m, ...)	\
	(ZUG_MINE ? zug_at_cond_wait(c, m, 1, #c, #m, ZUG_HERE) : pthread_cond_clockwait(c, m, __VA_ARGS__))
#define pthread_cond_signal(c)		(ZUG_MINE ? zug_at_cond_signal(c, 0, #c, ZUG_HERE) : pthread_cond_signal(c))
#define pthread_cond_broadcast(c)	(ZUG_MINE ? zug_at_cond_signal(c, 1, #c, ZUG_HERE) : pthread_cond_broadcast(c))

#define pthread_rwlock_init(l, attr)	(ZUG_MINE ? zug_at_rwlock_init(l, #l, ZUG_HERE) : pthread_rwlock_init(l, attr))
#define pthread_rwlock_destroy(l)	(ZUG_MINE ? zug_at_rwlock_destroy(l, #l, ZUG_HERE) : pthread_rwlock_destroy(l))
#define pthread_rwlock_rdlock(l)	\
	(ZUG_MINE ? zug_at_rwlock_lock(l, 0, ZUG_BLOCK, #l, ZUG_HERE) : pthread_rwlock_rdlock(l))
#define pthread_rwlock_wrlock(l)	\
	(ZUG_MINE ? zug_at_rwlock_lock(l, 1, ZUG_BLOCK, #l, ZUG_HERE) : pthread_rwlock_wrlock(l))
#define pthread_rwlock_tryrdlock(l)	\
	(ZUG_MINE ? zug_at_rwlock_lock(l, 0, ZUG_TRY, #l, ZUG_HERE) : pthread_rwlock_tryrdlock(l))
#define pthread_rwlock_trywrlock(l)	\
	(ZUG_MINE ? zug_at_rwlock_lock(l, 1, ZUG_TRY, #l, ZUG_HERE) : pthread_rwlock_trywrlock(l))
#define pthread_rwlock_timedrdlock(l, t)	\
	(ZUG_MINE ? zug_at_rwlock_lock(l, 0, ZUG_TIMED, #l, ZUG_HERE) : pthread_rwlock_timedrdlock(l, t))
#define pthread_rwlock_timedwrlock(l, t)	\
	(ZUG_MINE ? zug_at_rwlock_lock(l, 1, ZUG_TIMED, #l, ZUG_HERE) : pthread_rwlock_timedwrlock(l, t))
#define pthread_rwlock_clockrdlock(l, ...)	\
	(ZUG_MINE ? zug_at_rwlock_lock(l, 0, ZUG_TIMED, #l, ZUG_HERE) : pthread_rwlock_clockrdlock(l, __VA_ARGS__))
#define pthread_rwlock_clockwrlock(l, ...)	\
	(ZUG_MINE ? zug_at_rwlock_lock(l, 1, ZUG_TIMED, #l, ZUG_HERE) : pthread_rwlock_clockwrlock(l, __VA_ARGS__))
#define pthread_rwlock_unlock(l)	(ZUG_MINE ? zug_at_rwlock_unlock(l, #l, ZUG_HERE) : pthread_rwlock_unlock(l))

#define pthread_barrier_init(b, attr, n)	\
	(ZUG_MINE ? zug_at_barrier_init(b, n, #b, ZUG_HERE) : pthread_barrier_init(b, attr, n))
#define pthread_barrier_destroy(b)	(ZUG_MINE ? zug_at_barrier_destroy(b, #b, ZUG_HERE) : pthread_barrier_destroy(b))
#define pthread_barrier_wait(b)		(ZUG_MINE ? zug_at_barrier_wait(b, #b, ZUG_HERE) : pthread_barrier_wait(b))
#define pthread_once(once, fn)		(ZUG_MINE ? zug_at_once(once, fn, #once, ZUG_HERE) : pthread_once(once, fn))

#define sem_init(s, shared, n)		(ZUG_MINE ? zug_errno(zug_at_sem_init(s, n, #s, ZUG_HERE)) : sem_init(s, shared, n))
#define sem_destroy(s)			(ZUG_MINE ? zug_errno(zug_at_sem_destroy(s, #s, ZUG_HERE)) : sem_destroy(s))
#define sem_wait(s)			(ZUG_MINE ? zug_errno(zug_at_sem_wait(s, ZUG_BLOCK, #s, ZUG_HERE)) : sem_wait(s))
#define sem_trywait(s)			(ZUG_MINE ? zug_errno(zug_at_sem_wait(s, ZUG_TRY, #s, ZUG_HERE)) : sem_trywait(s))
#define sem_timedwait(s, ...)		\
	(ZUG_MINE ? zug_errno(zug_at_sem_wait(s, ZUG_TIMED, #s, ZUG_HERE)) : sem_timedwait(s, __VA_ARGS__))
#define sem_clockwait(s, ...)		\
	(ZUG_MINE ? zug_errno(zug_at_sem_wait(s, ZUG_TIMED, #s, ZUG_HERE)) : sem_clockwait(s, __VA_ARGS__))
#define sem_post(s)			(ZUG_MINE ? zug_errno(zug_at_sem_post(s, #s, ZUG_HERE)) : sem_post(s))
#define sem_getvalue(s, to)		(ZUG_MINE ? zug_errno(zug_at_sem_getvalue(s, to, #s)) : sem_getvalue(s, to))

#define sched_yield()			(ZUG_MINE ? zug_at_yield(ZUG_HERE) : sched_yield())

#ifndef __cplusplus
#include <threads.h>

struct zug_thrd {
	thrd_start_t fn;
	void *arg;
};

static inline int zug_thrd_error(int error)
{
	return !error ? thrd_success : error == EBUSY ? thrd_busy : error == ETIMEDOUT ? thrd_timedout :
	       error == ENOMEM ? thrd_nomem : thrd_error;
}

static inline void *zug_thrd_main(void *arg)
{
	const struct zug_thrd t = *(struct zug_thrd *)arg;

	free(arg);
	return (void *)(intptr_t)t.fn(t.arg);
}

static inline int zug_thrd_create(thrd_t *to, thrd_start_t fn, void *arg, const char *name, ZUG_AT)
{
	struct zug_thrd *t = (struct zug_thrd *)malloc(sizeof(*t));
	unsigned long thread;
	int error;

	if (!t)
		return thrd_nomem;
	t->fn = fn;
	t->arg = arg;
	error = zug_at_thread_create(&thread, zug_thrd_main, t, name, file, line, func);
	*to = (thrd_t)thread;
	return zug_thrd_error(error);
}

static inline int zug_thrd_join(thrd_t thread, int *value, ZUG_AT)
{
	void *got = NULL;
	int error = zug_at_thread_join((unsigned long)thread, &got, file, line, func);

	if (value)
		*value = (int)(intptr_t)got;
	return zug_thrd_error(error);
}

#define thrd_create(t, fn, ...)	\
	(ZUG_MINE ? zug_thrd_create(t, fn, __VA_ARGS__, #fn, ZUG_HERE) : thrd_create(t, fn, __VA_ARGS__))
#define thrd_join(t, value)	(ZUG_MINE ? zug_thrd_join(t, value, ZUG_HERE) : thrd_join(t, value))
#define thrd_detach(t)		(ZUG_MINE ? zug_thrd_error(zug_at_thread_detach(t)) : thrd_detach(t))
#define thrd_current()		(ZUG_MINE ? (thrd_t)zug_thread_self() : thrd_current())
#define thrd_exit(value)	(ZUG_MINE ? zug_thread_exit((void *)(intptr_t)(value)) : thrd_exit(value))
#define thrd_yield()		(ZUG_MINE ? (void)zug_at_yield(ZUG_HERE) : thrd_yield())
#define mtx_init(m, type)	\
	(ZUG_MINE ? zug_thrd_error(zug_at_mutex_init(m, (type) & mtx_recursive ? ZUG_MUTEX_RECURSIVE : 0, #m, ZUG_HERE)) : \
		    mtx_init(m, type))
#define mtx_destroy(m)		(ZUG_MINE ? (void)zug_at_mutex_destroy(m, #m, ZUG_HERE) : mtx_destroy(m))
#define mtx_lock(m)		(ZUG_MINE ? zug_thrd_error(zug_at_mutex_lock(m, 0, #m, ZUG_HERE)) : mtx_lock(m))
#define mtx_timedlock(m, t)	(ZUG_MINE ? zug_thrd_error(zug_at_mutex_lock(m, 1, #m, ZUG_HERE)) : mtx_timedlock(m, t))
#define mtx_trylock(m)		(ZUG_MINE ? zug_thrd_error(zug_at_mutex_trylock(m, #m, ZUG_HERE)) : mtx_trylock(m))
#define mtx_unlock(m)		(ZUG_MINE ? zug_thrd_error(zug_at_mutex_unlock(m, #m, ZUG_HERE)) : mtx_unlock(m))
#define cnd_init(c)		(ZUG_MINE ? zug_thrd_error(zug_at_cond_init(c, #c, ZUG_HERE)) : cnd_init(c))
#define cnd_destroy(c)		(ZUG_MINE ? (void)zug_at_cond_destroy(c, #c, ZUG_HERE) : cnd_destroy(c))
#define cnd_wait(c, m)		(ZUG_MINE ? zug_thrd_error(zug_at_cond_wait(c, m, 0, #c, #m, ZUG_HERE)) : cnd_wait(c, m))
#define cnd_timedwait(c, m, t)	\
	(ZUG_MINE ? zug_thrd_error(zug_at_cond_wait(c, m, 1, #c, #m, ZUG_HERE)) : cnd_timedwait(c, m, t))
#define cnd_signal(c)		(ZUG_MINE ? zug_thrd_error(zug_at_cond_signal(c, 0, #c, ZUG_HERE)) : cnd_signal(c))
#define cnd_broadcast(c)	(ZUG_MINE ? zug_thrd_error(zug_at_cond_signal(c, 1, #c, ZUG_HERE)) : cnd_broadcast(c))
#define call_once(once, fn)	(ZUG_MINE ? (void)zug_at_once(once, fn, #once, ZUG_HERE) : call_once(once, fn))
#endif

#endif /* ZUG_PTHREAD_NO_NAMES */
#endif
