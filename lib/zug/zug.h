/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * zug.h - systematic tests of one's own: anything that has operations and resources
 *
 * A test is run again and again. Its operations run one at a time; at each point (most calls below)
 * zug decides which of them goes on, until an execution fails. Then it makes the schedule as simple
 * as it can, writes it to a file, and prints the line that repeats it:
 *
 *	static void test(void *arg)
 *	{
 *		int a = zug_spawn("alice", sell, NULL);
 *		int b = zug_spawn("bob", sell, NULL);
 *
 *		zug_join(a);
 *		zug_join(b);
 *		zug_assert(sold <= 1);
 *	}
 *
 *	int main(void)
 *	{
 *		return zug_test(test, NULL, NULL);
 *	}
 *
 * The code between two points of an operation runs undisturbed. So an operation must reach a point
 * before each access to what others may change, and must not block in anything but these calls.
 *
 * In a program that zug runs (zug run ./test) zug schedules, and executes the whole program again and
 * again: a test is one execution, and what the calls tell are points, values and names of zug's search.
 *
 * Outside of a test every call does nothing and returns 0, at the price of one comparison: the
 * calls may stay in production code. All functions return 0 or a handle above 0, or one of enum
 * zug_error, which is below 0. They may be called in any thread.
 */
#ifndef ZUG_H
#define ZUG_H

#include <setjmp.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum zug_error {
	ZUG_OK = 0,
	ZUG_E_NOT_OPERATION = -1001,	/* the calling thread is not the operation that has the turn */
	ZUG_E_UNKNOWN = -1002,		/* no such operation or resource in this execution */
	ZUG_E_STARTED = -1003,		/* the operation has been started already */
	ZUG_E_NOT_OWN = -1004,		/* only the operation itself can complete it */
	ZUG_E_COMPLETED = -1005,	/* the operation has ended */
	ZUG_E_SELF = -1006,		/* an operation that waits for its own end */
	ZUG_E_DELETED = -1007,		/* the resource has been deleted */
	ZUG_E_BUSY = -1008,		/* the resource has waiters, or a test is running */
	ZUG_E_INVALID = -1009,		/* an argument makes no sense: NULL, no resource, no value */
	ZUG_E_MANY = -1010,		/* more operations, or resources, than there can be */
	ZUG_E_MEMORY = -1011,
	ZUG_E_OVER = -1012,		/* this execution has failed: zug_detach() */
	ZUG_E_NOT_ATTACHED = -1013,	/* zug_detach() without zug_attach() */
	ZUG_E_OPTION = -1014,		/* an option or an environment variable was refused; zug_message() says why */
	ZUG_E_REPLAY = -1015,		/* the trace cannot be replayed; zug_message() says why */
	ZUG_E_THREAD = -1016,		/* no thread could be created */
	ZUG_E_ROOT = -1017,		/* the test's own operation ends with zug_detach(), not by itself */
	ZUG_E_STUCK = -1018,		/* an operation has not come to a point for too long; zug_message() says which */
	ZUG_E_WRITE = -1019,		/* the trace of the failure could not be written; zug_message() says why */
};

/* What an error means, in a few words. Static storage. */
const char *zug_strerror(int error);
/* The reason of the last ZUG_E_OPTION, ZUG_E_REPLAY, ZUG_E_WRITE or ZUG_E_STUCK; "" if there was none. */
const char *zug_message(void);

/* ---- tests ---- */

enum zug_flags {
	ZUG_FIBERS = 1 << 0,	/* zug_spawn() makes user contexts of the calling thread: much faster, but thread-local
				 * variables are shared; under a sanitizer they are threads all the same */
	ZUG_QUIET = 1 << 1,	/* print nothing: struct zug_report has it all */
	ZUG_NO_MINIMIZE = 1 << 2,	/* report the failing schedule as it was found */
	ZUG_ANY_CPU = 1 << 3,	/* threads stay on the CPUs where they are, instead of sharing one: slower */
};

/* How a test came out. */
struct zug_report {
	int result;			/* 0 nothing found, 1 a finding, or enum zug_error */
	int exhausted;			/* all executions within the strategy's bounds were made */
	unsigned long executions;	/* of the search, up to the first that failed */
	unsigned long steps;		/* in all of these */
	unsigned long schedules;	/* different ones among them */
	unsigned long classes;		/* of them that differ in the order of dependent operations */
	unsigned long failing_steps;	/* of the simplest failing execution */
	unsigned int preemptions;	/* in it */
	int replayed;			/* it was repeated exactly */
	char failure[512];		/* what went wrong; "" */
	char trace[512];		/* its trace; "" */
};

/* All zeros are the defaults. */
struct zug_options {
	const char *name;		/* of the test; default: the name of its function */
	const char *strategy;		/* as of zug run --strategy; default: a portfolio of them */
	unsigned long seed;		/* of the search; the same seed gives the same executions */
	unsigned long executions;	/* at most so many; default: 10000 */
	unsigned long steps;		/* at most so many in one execution; default: 20000 */
	double seconds;			/* begin no execution after that time; default: no bound */
	double stuck;			/* seconds between two points; an operation that takes longer, in a thread of its
					 * own, ends the test with an error: it blocks in something else; default: 10 */
	unsigned long minimize;		/* executions to find the simplest schedule; default: 1000 */
	const char *out;		/* folder of traces; default: zug-out */
	unsigned int flags;		/* enum zug_flags */
	struct zug_report *report;	/* filled in when the test is over; may be NULL */
	void *reserved[8];		/* NULL */
};

/*
 * Runs fn(arg) under one schedule after another. 0: none failed; 1: one did, as was printed; or enum
 * zug_error. options may be NULL. fn() must begin from the same state each time.
 */
#define zug_test(fn, ...)		zug_test_named(#fn, fn, __VA_ARGS__)	/* arg, options */
int zug_test_named(const char *name, void (*fn)(void *arg), void *arg, const struct zug_options *options);

/*
 * The same as a loop:
 *
 *	struct zug_campaign *z = zug_open("queue", NULL);
 *
 *	while (zug_iteration(z)) {
 *		... the test
 *	}
 *	return zug_close(z);
 *
 * When an execution fails the body is left by longjmp(): variables of the function that change in
 * the body, and are used after it, must be volatile. zug_open() returns NULL when it refuses the
 * options: zug_close(NULL) returns that error.
 */
struct zug_campaign;
struct zug_campaign *zug_open(const char *name, const struct zug_options *options);
#define zug_iteration(z)	(_setjmp(*zug_loop(z)), zug_next(z))
int zug_close(struct zug_campaign *z);
jmp_buf *zug_loop(struct zug_campaign *z);	/* for zug_iteration() */
int zug_next(struct zug_campaign *z);

/*
 * The same by hand. zug_attach(): 1: the calling thread is the first operation of an execution until
 * zug_detach(); 0: there are no more executions. zug_detach() waits for all other operations; 0, or 1
 * when the execution failed. In an execution that has failed all calls return ZUG_E_OVER.
 */
int zug_attach(struct zug_campaign *z);
int zug_detach(struct zug_campaign *z);

/* ---- how calls reach the library ---- */

extern int zug_active;
#define ZUG_IN_TEST	__builtin_expect(__atomic_load_n(&zug_active, __ATOMIC_RELAXED), 0)
#define ZUG_HERE	__FILE__, __LINE__, __func__
#define ZUG_CALL(...)	(ZUG_IN_TEST ? (__VA_ARGS__) : 0)

/* ---- operations ---- */

/*
 * An operation that runs fn(arg), in a thread of its own (or see ZUG_FIBERS). Its handle, or enum
 * zug_error. Outside of a test no operation is made and the result is 0: the caller makes a thread.
 */
#define zug_spawn(name, fn, ...)	ZUG_CALL(zug_at_spawn(name, fn, __VA_ARGS__, ZUG_HERE))	/* arg */
/* Waits until the operation has ended. */
#define zug_join(op)			ZUG_CALL(zug_at_join_operation(op, ZUG_HERE))

/*
 * Operations in threads of one's own: the creator calls zug_create_operation() and gives the handle
 * to the thread, which calls zug_start_operation() first and zug_complete_operation() last.
 */
#define zug_create_operation(name)	ZUG_CALL(zug_at_create_operation(name, ZUG_HERE))
#define zug_start_operation(op)		ZUG_CALL(zug_at_start_operation(op, ZUG_HERE))
#define zug_join_operation(op)		zug_join(op)
#define zug_complete_operation(op)	ZUG_CALL(zug_at_complete_operation(op, ZUG_HERE))

/* ---- points ---- */

/* Another operation may go on here. What the code up to the next point touches is not known. */
#define zug_schedule_next()		ZUG_CALL(zug_at_schedule_next(ZUG_HERE))
/*
 * The same where the code up to the next point reads, or changes, nothing shared but the data of
 * that name. Orders of unrelated accesses are then not tried in vain.
 */
#define zug_read(name)			ZUG_CALL(zug_at_read(name, ZUG_HERE))
#define zug_write(name)			ZUG_CALL(zug_at_write(name, ZUG_HERE))
/* The operation cannot make progress before another one does. Loops that wait must call it. */
#define zug_yield()			ZUG_CALL(zug_at_yield(ZUG_HERE))

/* A value that the search chooses: 0 or 1; 0 to nr - 1. */
#define zug_next_boolean()		ZUG_CALL(zug_at_next_integer(2, ZUG_HERE))
#define zug_next_integer(nr)		ZUG_CALL(zug_at_next_integer(nr, ZUG_HERE))
/* The seed of the search that is going on, for random numbers of the test's own. */
#define zug_seed()			ZUG_CALL(zug_get_seed())

/* The execution fails when the condition is false. Outside of a test it is not evaluated. */
#define zug_assert(...)	\
	((void)(ZUG_IN_TEST && !(__VA_ARGS__) && (zug_at_fail("Assertion `" #__VA_ARGS__ "' failed", ZUG_HERE), 0)))
/* The execution fails, with a message. */
#define zug_fail(message)		ZUG_CALL(zug_at_fail(message, ZUG_HERE))

/* ---- resources ---- */

/*
 * What operations wait for. A wait begins at once, with no point between it and the code before it,
 * so this loses no signal:
 *
 *	while (!condition)
 *		zug_wait_resource(r);
 *
 * A signal without waiters does nothing. Resources end with the execution, or when they are deleted.
 */
#define zug_create_resource(name)	ZUG_CALL(zug_create_resource_named(name))
#define zug_delete_resource(r)		ZUG_CALL(zug_delete(r))
#define zug_wait_resource(r)		ZUG_CALL(zug_at_wait_resource(r, ZUG_HERE))
/* Until one of nr resources has been signalled: its index. Until each of them has been. */
#define zug_wait_any(...)		ZUG_CALL(zug_at_wait_any(__VA_ARGS__, ZUG_HERE))	/* list, nr */
#define zug_wait_all(...)		ZUG_CALL(zug_at_wait_all(__VA_ARGS__, ZUG_HERE))
/* The operation that has waited longest goes on; all that wait do. */
#define zug_signal_resource(r)		ZUG_CALL(zug_at_signal_resource(r, ZUG_HERE))
#define zug_signal_all(r)		ZUG_CALL(zug_at_signal_all(r, ZUG_HERE))

int zug_at_spawn(const char *name, void (*fn)(void *arg), void *arg, const char *file, int line, const char *func);
int zug_at_create_operation(const char *name, const char *file, int line, const char *func);
int zug_at_start_operation(int op, const char *file, int line, const char *func);
int zug_at_join_operation(int op, const char *file, int line, const char *func);
int zug_at_complete_operation(int op, const char *file, int line, const char *func);
int zug_at_schedule_next(const char *file, int line, const char *func);
int zug_at_read(const char *name, const char *file, int line, const char *func);
int zug_at_write(const char *name, const char *file, int line, const char *func);
int zug_at_yield(const char *file, int line, const char *func);
int zug_at_next_integer(int nr, const char *file, int line, const char *func);
unsigned long zug_get_seed(void);
int zug_at_fail(const char *message, const char *file, int line, const char *func);
int zug_create_resource_named(const char *name);
int zug_delete(int resource);
int zug_at_wait_resource(int resource, const char *file, int line, const char *func);
int zug_at_wait_any(const int *resources, int nr, const char *file, int line, const char *func);
int zug_at_wait_all(const int *resources, int nr, const char *file, int line, const char *func);
int zug_at_signal_resource(int resource, const char *file, int line, const char *func);
int zug_at_signal_all(int resource, const char *file, int line, const char *func);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
