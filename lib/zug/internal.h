/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * internal.h - the state of libzug: one execution at a time in a process
 *
 * Only the operation that has the turn touches the state; it passes on with the turn (handoff.c).
 * So nothing here is locked. What other threads may read is said at the field.
 *
 *	operations.c	points, decisions, the life of operations
 *	resources.c	what operations wait for
 *	handoff.c	the turn, from thread to thread and from context to context
 *	log.c		an execution as it was, in memory, and its trace
 *	crash.c		abort() and faults
 *	ends.c		deadlock, livelock, failed assertions
 *	test.c		the campaign: search, simplest schedule, what decides, replay
 */
#ifndef ZUG_INTERNAL_H
#define ZUG_INTERNAL_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include "engine/progress_check.h"
#include "engine/replay.h"
#include "engine/spawn.h"
#include "engine/values.h"
#include "lib/base/id_map.h"
#include "lib/trace.h"
#include "search/search.h"
#include "lib/zug/zug.h"

#define OPERATIONS	4096		/* numbers of operations, over all executions of a test */
#define RESOURCES	(1u << 20)	/* in one execution */
#define NAME_LEN	32

/* A thread on which operations run: one, or the user contexts of a test. */
struct host {
	uint32_t word;			/* whether the turn has come to it; a futex, see handoff.c */
};

enum operation_state { OP_NONE = 0, OP_CREATED, OP_LIVE, OP_ENDED };

enum object_kind { OBJECT_RESOURCE = 1, OBJECT_MUTEX, OBJECT_COND, OBJECT_SEM, OBJECT_RWLOCK,
		   OBJECT_BARRIER, OBJECT_ONCE };

struct waiter;

struct object {
	uint64_t id;
	enum object_kind kind;
	bool live;
	bool recursive, checks;		/* of a mutex: its type */
	bool begun, destroyed;		/* by calls */
	bool fixed;			/* static: its memory is never another object's */
	struct object *before;		/* what it was before an init call; NULL */
	char name[NAME_LEN];
	uint32_t creator, nth;
	struct operation *owner;	/* of a mutex, or the writer of an rwlock */
	int32_t limit;			/* of a barrier */
	int32_t count;			/* of a semaphore; at a barrier; readers; how often the owner has the mutex */
	struct waiter *first, *last;	/* wait for a signal, in the order in which they came */
	struct operation *pending;	/* stand before an operation that this object may block */
};

/* One object that an operation waits for a signal of. */
struct waiter {
	struct operation *op;
	struct object *object;
	struct waiter *prev, *next;
	bool queued;
};

/* What the pending operation needs. */
enum need { NEED_NOTHING = 0, NEED_SIGNAL, NEED_MUTEX, NEED_COUNT, NEED_NO_WRITER, NEED_FREE, NEED_END };

struct fiber;

struct operation {
	/* read by the thread that starts it: */
	uint32_t claimed;		/* a thread has started it */
	uint32_t handle;
	struct host own;

	uint32_t task, parent, nth;
	uint32_t children, objects, numbered;	/* so far */
	enum operation_state state;
	struct host *host;		/* own, or that of the contexts, or of a thread of zug_spawn() */
	struct fiber *fiber;		/* NULL: a thread */
	void *signal_stack;		/* of the thread; stays when the slot is used again */
	uint32_t pos;			/* of its candidate */
	char name[NAME_LEN];
	void (*fn)(void *arg);
	void *(*start)(void *arg);	/* instead of fn: a thread that has a value */
	void *arg, *value;
	bool joined;			/* or detached */
	jmp_buf out;			/* to its end, from anywhere */

	enum need need;
	struct object *on;		/* of need; NULL */
	struct operation *target;	/* NEED_END */
	struct operation *next_pending;	/* of on, or of the operation that it joins */
	struct operation *joiners;
	struct waiter one, *waiters;	/* NEED_SIGNAL: nr of them; one, or many */
	uint32_t nr_waiters, room_waiters;
	uint32_t nr_left;		/* signals to come */
	int signalled;			/* index of the first */
	bool blocked;			/* told to the log */
	struct zug_label label_before;	/* while its time-out could be over */
	bool timed, expired;		/* its wait has a time-out, which is over */
	struct object *relock;		/* it waits for a condition: the mutex */
};

/* An event of the log between steps, see log.c. */
enum event_kind { EVENT_NEW = 1, EVENT_ENABLE, EVENT_DISABLE, EVENT_BLOCK, EVENT_WAKE, EVENT_EXIT };

struct event {
	uint64_t before;		/* the step that comes next */
	uint32_t kind, task, arg;
	uint64_t object;
};

struct log_step {
	uint32_t task, value;
	bool chosen;			/* value counts */
	struct zug_label label;
};

struct log {
	struct log_step *steps;
	uint32_t nr_steps, room_steps;
	struct event *events;
	uint32_t nr_events, room_events;
};

/* A place in the source, by its number (label.site maps to it). */
struct place {
	const char *file, *func;
	int line;
	uint64_t site;
};

struct runtime {
	struct zug_campaign *test;		/* that executes; NULL: none */
	struct search *search;
	uint32_t execution;		/* serial number, for handles */
	bool over;			/* the execution has failed, or was cut */
	bool fatal;			/* and the search has an error of its own */
	bool stuck;			/* an operation has kept the turn for too long */
	double stuck_after;		/* seconds */
	bool foreign;			/* a thread that is no operation has called; any thread may set it */
	uint32_t beat;			/* changes with each step; any thread may look */
	bool ending;			/* the root is at its end */
	unsigned int flags;

	struct operation *current;	/* has the turn */
	struct operation *root;
	struct host root_host;
	struct operation *ops[OPERATIONS];
	uint32_t nr_ops;		/* highest number + 1 */
	struct spawn_table spawn;

	struct search_cand *cands;	/* of live operations, ascending */
	uint32_t *enabled;		/* places in cands */
	uint32_t nr_cands, nr_enabled, room_cands, room_enabled;

	struct id_map primitives;	/* addresses of locks and the like -> objects */
	struct object **objects;
	uint32_t nr_objects, room_objects;

	uint64_t steps;
	uint32_t last;
	bool yielded;
	uint32_t same;			/* steps of the same operation, while others could run */
	uint32_t preemptions;
	uint64_t hash;
	struct progress_check progress;
	struct log log;

	/* given: values, and what is replayed */
	bool follow_values;
	struct values values;
	const struct replay *replay;
	bool diverged;
	char divergence[256];

	struct trace_outcome outcome;
	char message[400];

	struct place *places;
	uint32_t nr_places, room_places;
	struct id_map sites;		/* site -> place */
	struct id_map names;		/* id of data -> index in name_list */
	char (*name_list)[NAME_LEN];
	uint32_t nr_names, room_names;
};

extern struct runtime z __attribute__((visibility("hidden")));

/* ---- operations.c ---- */

/* The operation that calls, if it has the turn; or the error is in *error. */
struct operation *op_now(int *error);
/* The same in a call of a test, which another thread is told about. */
struct operation *op_self(int *error);
/* It stands before that; returns when it has the turn. 0, or ZUG_E_OVER in an execution by hand that failed. */
int op_point(struct operation *me, const struct zug_label *label);
struct zug_label op_label(unsigned int op, uint64_t object, const char *file, int line, const char *func);
void op_need(struct operation *me, enum need need, struct object *on);
void op_wake_pending(struct object *o);
/* A waiting operation can go on: what the signal was, for traces. */
void op_signalled(struct operation *op);
void op_wait(struct operation *me);
/* The operation runs what it is for. */
void op_run(struct operation *op);
__attribute__((noreturn)) void op_exit(struct operation *me);
int op_spawn(const char *name, void (*fn)(void *arg), void *(*start)(void *arg), void *arg, const char *file, int line,
	     const char *func);
/* The time-out of its last wait was over; that is said once. */
bool op_expired(struct operation *me);
struct operation *op_of(int handle, int *error);
int op_begin_root(void);
/* The root's end: waits for all others. False: the execution failed meanwhile. */
bool op_end_root(void);
void op_finish(struct operation *me);
/* The execution is over: the search sees where it ended. */
void op_final(void);
/* The identity of an operation as an object: what create, join and end act on. */
uint64_t op_object(uint32_t task);
uint64_t name_id(const char *name);

/* ---- handoff.c ---- */

void host_reset(struct host *h);
/* z.current has the turn now, instead of me, which waits for it. */
void turn_pass(struct operation *me);
/* The same, and me never runs again: its thread goes on by itself, a context stays for another one. */
void turn_leave(struct operation *me);
/* The root goes on, and me never does. */
__attribute__((noreturn)) void turn_abandon(struct operation *me);
void turn_await(struct host *h);
/* The thread that waits there for the turn will not get it any more. */
void turn_forget(struct host *h);
int fiber_assign(struct operation *op);
int thread_begin(struct operation *op);
/* Threads that wait for operations end. */
void workers_release(void);
void turn_pin(void);
void turn_unpin(void);
/* The last turn_await() of the root has waited for so long without a step: what it knows of the reason. */
void end_stuck(void);
/* Contexts that were abandoned cannot be used again. */
void fiber_forget_abandoned(void);
void fiber_release(void);
bool fiber_possible(void);
bool turn_is_mine(struct operation *const *op);
void turn_claim(struct host *h);

/* ---- ends.c ---- */

/* The execution fails: does not return but for a root that runs by hand. */
int end_fail(struct operation *me, enum zug_outcome_kind kind, uint64_t failure, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The same where the caller has not been an operation for a while: only notes it. */
void end_set(enum zug_outcome_kind kind, uint64_t failure, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* The outcome is set: as end_fail() goes on. */
int end_leave(struct operation *me);
void end_deadlock(void);
/* True, and set, when all only yield. */
bool end_livelock(void);
const char *end_state(const struct operation *op, char *buf, size_t len);

/* ---- log.c ---- */

void log_event(enum event_kind kind, uint32_t task, uint32_t arg, uint64_t object);
bool log_step(const struct search_cand *c);
void log_value(uint32_t value);
/* Writes the execution as it was. 0 or -errno. */
int log_write(const char *path, const struct trace_header *h, const struct trace_minimized *m);
uint64_t place_site(const char *file, int line, const char *func);
/* The same for the first step of an operation that is created there. */
uint64_t place_begin(const char *file, int line, const char *func);
const struct place *place_of(uint64_t site);
const char *object_name(uint64_t id, char *buf, size_t len);

/* ---- resources.c ---- */

struct object *object_new(struct operation *creator, enum object_kind kind, const char *name, int *handle);
struct object *object_of(int handle, enum object_kind kind, int *error);
void objects_reset(void);
/* It queues for a signal of o, and will not be enabled before that. */
void wait_one(struct operation *me, struct object *o);
/* No signal is waited for any more. */
void wait_over(struct operation *op);
/* The first waiter goes on, or all do. */
void object_signal(struct object *o, bool all);

/* ---- primitives.c ---- */

void primitives_reset(void);

/* ---- test.c ---- */

/* After the execution failed or ended: the root goes where the test goes on. */
__attribute__((noreturn)) void test_jump(void);
bool test_can_jump(void);
/* The execution that goes on has failed by a fault: names a file for its trace, if it is to be kept as it is. */
bool test_keeps_found(void);
/* Writes that trace, and says how to repeat it. */
void test_write_as_found(void);
/* The process is about to exit in the execution that goes on, which z.outcome says: tells what there is to tell. */
void test_exits(void);

/* ---- crash.c ---- */

void crash_begin(void);
void crash_end(void);
/* Handlers of the calling thread get a stack, which is made when *stack is NULL. */
void crash_stack(void **stack);
/* The calling thread is about to end, or its stack to be another's. */
void crash_leave_stack(void);
void crash_free_stack(void *stack);

#endif
