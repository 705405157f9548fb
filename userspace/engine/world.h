/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * world.h - the seam between the engine and what executes the test
 *
 * A world starts an execution, reports what its tasks do, gives the turn to
 * the task it is told to, and ends the execution. The engine knows nothing of
 * kernels; the kernel's world is kworld.c, and the tests have one without a
 * kernel (tests/world/). Tasks are named by the stable number of their spawn
 * path, equal in all executions of a campaign.
 */
#ifndef ZUG_WORLD_H
#define ZUG_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "lib/label.h"
#include "lib/trace.h"
#include "lib/spent.h"
#include "search/misuse.h"
#include "search/search.h"

#define WORLD_NO_TASK UINT32_MAX

enum task_state_kind {
	TASK_NONE = 0,		/* not in this execution */
	TASK_PARKED,		/* could run if it were given the turn */
	TASK_RUNNING,		/* has the turn */
	TASK_BLOCKED,
	TASK_DEAD,
};

/* What a blocked task waits for */
enum wait_kind {
	WAIT_UNKNOWN = 0,	/* may end from outside */
	WAIT_INSIDE,		/* only another task of the test can end it */
	WAIT_TIMED,		/* ends by itself */
};

enum spin_verdict {
	SPIN_NO = 0,		/* it computes, or cannot be told */
	SPIN_AGAIN,		/* let it go on, alone; the next stop will tell */
	SPIN_PROVEN,		/* it will loop for ever unless another task runs */
	SPIN_WAITS,		/* the same, and one will: when time has passed, or as the search has not begun yet */
};

/* A piece of memory that a task is about to access. */
struct world_access {
	uint64_t space;			/* equal where equal addresses are the same memory */
	uint64_t addr;
	uint32_t size;			/* 0: nothing is accessed after all */
	bool write;
	bool frees;			/* the write is the end of a block of memory, which begins there */
	bool later;			/* what is read first may have to come yet: that it is about to is no data race */
	uint64_t object;		/* to which its first byte belongs */
};

#define WORLD_ACCESSES	3		/* of one operation: its two operands, and what a library frees for it */

struct world_task {
	uint32_t task, parent, nth, process;
	uint32_t changed_in;		/* world_changes.round in which it was named last, and 1 more */
	int pid, tgid;
	int own_pid;			/* as the task itself sees it */
	enum task_state_kind state;
	struct zug_label label;		/* pending when parked; what it blocked in otherwise */
	bool in_handler;		/* of a signal, at a label with accesses */
	bool killed;			/* dead: a signal ended its process, and no fault of its own, wherever it was */
	uint32_t nr_values;		/* of an operation CHOICE: the number to choose from */
	bool numbers;			/* of that: the program draws its random numbers from it, 0 leaves these as they are */
	uint32_t nr_accesses;		/* to data, of an operation on data, an atomic one or one that synchronises */
	struct world_access access[WORLD_ACCESSES];
	enum wait_kind wait;
	char where[96];			/* blocked: "futex", "read pipe #0 of T1" */
	uint64_t deadline;		/* blocked: when its time-out is over, on the test's clock; 0: none, or the */
					/* kernel's own */
	bool for_turn;			/* blocked: until a runtime lets it execute the program, as at a lock of an */
					/* interpreter's own */
	bool own_time;			/* for_turn, with a time-out: that is the runtime's own affair, and never ends early */
	bool installed;			/* with a long time-out: all that its process executes came with the distribution */
	bool any_time;			/* for_turn, with a time-out: it counts how long another task computes, and may */
					/* be over at once */
	bool expires;			/* the engine's, while a lease holds: blocked, and may go on as if its time-out */
					/* were over */
	uint32_t rounds;		/* the engine's, while a plan holds: see world_plan.calm */
	bool begins;			/* in a language's own code that begins, ends or joins a thread, or loads what is */
					/* executed */
	bool network;			/* blocked: for something that may come through the test's own network */
	bool outside;			/* blocked: something outside the test may wake it, too */
	bool yields;			/* the engine's: it has come to a point of a loop that waits, or to another yield */
	bool quits;			/* about to end the root command, with this status */
	uint8_t status;
	char comm[16];
};

enum world_event_kind {
	WORLD_NEW = 1,		/* a task exists */
	WORLD_POINT,		/* task is at label (parked, unless passed) */
	WORLD_BLOCK,
	WORLD_WAKE,
	WORLD_FATAL,		/* task gets a signal that ends its process, or quits: after it there are no stacks */
	WORLD_EXIT,
	WORLD_EXEC,
	WORLD_MESSAGE,		/* text: something the user should know */
	WORLD_ASK,		/* only the flag below */
	WORLD_SIGNAL,		/* a handler of a signal returns; that it begins is a POINT */
};

struct world_event {
	enum world_event_kind kind;
	uint32_t task;		/* WORLD_NO_TASK: none */
	uint32_t waker;		/* WAKE: WORLD_NO_TASK for outside and timers */
	bool ask;		/* no task has the turn: a decision is due */
	bool passed;		/* POINT: not stopped, the task went on */
	bool leased;		/* POINT that asks: the task has gone on already, under its lease; see lease() */
	bool handed;		/* leased: not so, but the turn has gone to the task `to` */
	uint32_t to;
	bool yield;		/* POINT: the task's operation was a yield (or a forced switch out of a spin) */
	bool root;		/* EXIT: of the root command: the execution is over; FATAL: of its process */
	int signal;		/* FATAL: it ends its process; 0: the task quits */
	uint64_t site;		/* EXIT: where a fault (SIGSEGV and its kin) ended its process while it ran; 0: no */
	char text[256];		/* last: most events have none (world_event_clear()) */
};

/* All zeros but for what stands behind the text's end: each point is such an event. */
static inline void world_event_clear(struct world_event *ev)
{
	memset(ev, 0, offsetof(struct world_event, text) + 1);
}

static inline void world_event_copy(struct world_event *to, const struct world_event *from)
{
	memcpy(to, from, offsetof(struct world_event, text));
	strcpy(to->text, from->text);
}

/* What a call can be made to do, other than all that it could. The numbers are in traces (options): append only. */
enum fault {
	FAULT_ENOSPC, FAULT_EINTR, FAULT_ENOMEM, FAULT_REFUSED, FAULT_KILL, FAULT_SHORT,
	FLOW_SHORT_READ, FLOW_SHORT_WRITE, FLOW_STDIN, FLOW_LOSS, FLOW_REORDER, FLOW_DELAY,
	FAULT_SPURIOUS,		/* of a function of a library, not of a system call */
	FAULT_NR
};
/* of a mask of 1 << enum fault */
#define FLOWS		((1u << FAULT_SPURIOUS) - (1u << FLOW_SHORT_READ))
#define CALL_FAULTS	(~(1u << FAULT_SPURIOUS))	/* of system calls, flows among them */

#define WORLD_FAULT_AMOUNTS	3
#define WORLD_FAULT_MISSED	2

/* The faults that the system call of a parked task can have. */
struct world_faults {
	uint32_t possible;		/* 1 << enum fault */
	uint8_t nr_amounts[FAULT_NR];	/* of a possible one: the number to choose from; 0: it has no amount */
	uint32_t amounts[FAULT_NR][WORLD_FAULT_AMOUNTS];	/* bytes or ms, from least to most */
};

/* A timer of the test. */
struct world_timer {
	uint32_t task;			/* who has set it; WORLD_NO_TASK: unknown */
	uint64_t site;			/* where; 0: unknown */
	char text[64];			/* what sets it and what it does: "timer_settime(), SIGUSR1" */
};

/* How a world is. */
struct world_status {
	uint64_t now;		/* the machine's clock, ns */
	uint64_t clock;		/* the test's own clock, ns since it began; 0: the test has the machine's */
	uint64_t next_timer;	/* when the next timer of the test fires, on its clock; UINT64_MAX: none has been set */
	bool quiet;		/* the test has not come yet to where its search begins: no choice is one */
	bool several;		/* another process than the first has executed a program */
	uint64_t ungranted;	/* runs without a grant, in this execution */
};

/* Who makes the next steps, as far as the search knows (lease()). */
#define WORLD_PLAN_RUNS	256
#define WORLD_PLAN_TASKS	256
#define WORLD_CALM_ALWAYS	UINT32_MAX
struct world_plan {
	uint32_t nr;		/* steps */
	/*
	 * It ends before that: behind `calm` steps, at one of a task that has made its world_task.rounds of them, and at
	 * any one behind `same` steps in a row of the task that goes on now, `longest` of another one. CALM_ALWAYS: it
	 * does not.
	 */
	uint32_t calm, same, longest;
	struct search_rule rule;	/* what search_ahead() says of it is in runs */
	uint32_t nr_weights;	/* but by steps and choices: of all tasks */
	struct {
		uint32_t task;
		uint64_t weight, priority;	/* priority, held: SELECTION */
		bool held;
	} weights[WORLD_PLAN_TASKS];
	uint32_t nr_runs;
	struct {
		uint32_t task, steps;	/* a task that is to make one is enabled there */
	} runs[WORLD_PLAN_RUNS];
};

struct world;

struct world_ops {
	/* Begins an execution. -errno with a line in err. */
	int (*start)(struct world *w, bool stop_always, char *err, size_t errlen);
	/*
	 * 1: *ev is the next event; 0: there was none within timeout_us; -errno: the world broke (line in err). A task
	 * that keeps the turn in an uninterruptible wait is the world's to deal with: it blocks, in the end.
	 */
	int (*next)(struct world *w, struct world_event *ev, int64_t timeout_us, char *err, size_t errlen);
	/* Gives the turn; after a point that was leased the task (or the one that the turn has gone to) has it already. */
	int (*grant)(struct world *w, uint32_t task);
	/*
	 * With the next grant the task gets a lease: it does not stop at nr points that come next, also where others could
	 * run, and each of these is told as a question (leased). Then all that this struct tells of tasks and locks is
	 * as it was when the task stood there, and what may change that world may not be called; stacks cannot be had. The
	 * world ends the lease where a task that does not stand still would make a difference, where *until says so, and
	 * always where the task yields, blocks, ends, would block, or may be about to misuse a primitive, or the test's clock
	 * is `clock` (a time-out or a timer is over, or may end early). NULL: the world gives none. known: the points are
	 * those of a trace, and yields are among them: where no other task can run they are passed, whatever start() was told.
	 * plan, unless NULL: where the turn goes from there (handed), perhaps also where the task blocks or ends; a world that
	 * cannot follow it has the lease alone.
	 */
	void (*lease)(struct world *w, uint32_t nr, enum search_until until, uint64_t clock, bool known,
		      const struct world_plan *plan);
	/* Why the last lease does not reach beyond the question that is told now. NULL: the world does not know. */
	enum ask_cause (*lease_ended)(struct world *w);
	/* Where the time of this execution went, as far as the world knows: adds to *s. NULL: it does not. */
	void (*spent)(struct world *w, struct spent *s);
	/* Cheap: no system calls but for the clock's. */
	void (*status)(struct world *w, struct world_status *s);
	/* True when something is on its way to a blocked task that no task has to send any more. */
	bool (*in_flight)(struct world *w);
	/*
	 * True when the parked task t would block at once; what is unknown would not. *owner, unless NULL: the task that
	 * holds the lock for which t waits or would wait, and may be dead; WORLD_NO_TASK: unknown.
	 */
	bool (*would_block)(struct world *w, const struct world_task *t, uint32_t *owner);
	/* What the memory of a lock says that is an object of t's label, or one of its last mutexes. false: unknown. */
	bool (*lock_memory)(struct world *w, const struct world_task *t, uint64_t object, struct misuse_memory *m);
	/* Whether the task t, which stands still and is asked about again and again, gets anywhere by itself. */
	enum spin_verdict (*spins)(struct world *w, const struct world_task *t);
	/*
	 * Where the parked task t stands in its code and its callers', with what these keep in registers and on the stack, as
	 * a hash; 0: not known. NULL: the world does not know of any.
	 */
	uint64_t (*standing)(struct world *w, const struct world_task *t);
	/* From its next point on the task that has the turn stops at every point, or (false) only where start() said so. */
	int (*stop)(struct world *w, bool always);
	/*
	 * Lets the time-out of a blocked task (deadline != 0) expire: the task is parked then, and its label says
	 * EXPIRE, or RESUME if something else had ended its wait. -errno: it is as it was. WORLD_NO_TASK: lets the next
	 * timer of the test fire; the tasks that it wakes are told by events, which are there when the call returns.
	 * No task may have the turn.
	 */
	int (*expire)(struct world *w, uint32_t task);
	/* The next timer of the test; false: unknown. NULL: the world does not know. */
	bool (*timer)(struct world *w, struct world_timer *t);
	/* The next timer of the test sends a signal that would end its process. NULL: the world does not know. */
	bool (*timer_kills)(struct world *w);
	/* Those of the wanted faults (1 << enum fault) that the call can have before which the parked task t stands. */
	void (*faults)(struct world *w, const struct world_task *t, uint32_t wanted, struct world_faults *f);
	/*
	 * Makes the call of a parked task, which gets the turn next, have that fault; the amount goes into its label. The
	 * task may have gone on when this returns, and tasks may have moved in memory; its label is still that of the call.
	 * 1: the task is dead instead; 0; WORLD_FAULT_MISSED: the call did not have the fault; -errno.
	 */
	int (*inject)(struct world *w, struct world_task *t, int fault, uint32_t amount);
	/* The parked task t, which asks for a value (ZUG_OP_CHOICE), gets that one; it goes into its label. 0 or -errno. */
	int (*choose)(struct world *w, struct world_task *t, uint32_t value);
	/*
	 * Called about once a second. *ran_ns: the processor time that the test's tasks have used in this execution, but
	 * for its first moments. -errno: the execution cannot go on, and err says why.
	 */
	int (*tend)(struct world *w, uint64_t *ran_ns, char *err, size_t errlen);
	/* Ends the execution; *status: wait status of the root command, -1 unknown. Nothing is left after it. */
	int (*drain)(struct world *w, int *status, char *err, size_t errlen);
	/*
	 * The stack of a task that does not run; of one that a fault has ended, the place of that. The number of
	 * frames or -errno. Frames live until the next start.
	 */
	int (*stack)(struct world *w, const struct world_task *t, struct trace_frame *frames, int max);
	/*
	 * Where the program calls the library's code, such as a method of a header, in which the task stands: the line, or
	 * -ENOENT when it stands in its own code, or that is not known. text: "FUNCTION\tFILE". NULL: it cannot say.
	 */
	int (*caller)(struct world *w, const struct world_task *t, char *text, size_t len);
	/* The goroutine that the task, which stands, executes; 0: none, or not known. NULL: it cannot say. */
	uint32_t (*goroutine)(struct world *w, const struct world_task *t);
	/* Adds what the label's ids mean to the trace: sites, modules, objects. */
	int (*describe)(struct world *w, struct trace_writer *t, const struct zug_label *l);
	/* NULL: it has none. */
	const char *(*object_name)(struct world *w, uint64_t object);
	/*
	 * The blocked task t reads from or writes to a pipe: which processes have its other end open, as "open for writing in
	 * T1, T4". False: it waits for something else, or that is not known. NULL: the world cannot say.
	 */
	bool (*other_end)(struct world *w, const struct world_task *t, char *text, size_t len);
};

/* What only a world of real processes has: for debuggers and the race scan. */
struct world_inspection {
	/* Integer registers of a task that does not run, in DWARF order (rax rdx rcx rbx rsi rdi rbp rsp r8..r15 rip), then
	 * the thread pointer. 0 or -errno. */
	int (*registers)(struct world *w, const struct world_task *t, uint64_t regs[18]);
	/* Code of a task's process that was read from addr: puts back what probes hide. The number of probes in it. */
	int (*unprobe)(struct world *w, const struct world_task *t, uint64_t addr, uint8_t *code, size_t len);
	/*
	 * What the instruction at regs[16] accesses, whose bytes are code: addr, size and write of up to max pieces, of a
	 * repeated instruction those of one round. Their number, or -ENOENT: it cannot be told.
	 */
	int (*memory)(const uint64_t regs[18], const uint8_t *code, size_t len, struct world_access *a, int max);
	/* True when an access of that memory by the task is a point behind it, by the processor's debug registers. */
	bool (*watched)(struct world *w, const struct world_task *t, uint64_t addr, uint64_t size);
	/* Switches such points off, or on again, while a task that has the turn is stepped. */
	void (*pause_watched)(struct world *w, bool off);
};

/* The tasks that may be other than the engine has seen them. */
struct world_changes {
	bool kept;			/* the world keeps this list; else any task may be */
	bool all;			/* any of them; the list says nothing */
	uint32_t *list;
	uint32_t nr, room;
	uint32_t round;			/* one more each time when the list is emptied */
};

struct world {
	const struct world_ops *ops;
	const struct world_inspection *inspection;	/* NULL: nothing can be inspected */
	/* Points with ZUG_L_LEFT_OUT that the task may pass, once it has the turn, before it stops at one: the engine's. */
	uint32_t passes;
	bool ends_stop;			/* the engine's, too: no lease and no plan goes over a task's end */
	uint64_t stops_at[2];		/* the engine's, too: nor over an operation at these places; 0: none */
	uint8_t ends_well;		/* the engine's, too: the status with which the root command may end under a lease */
	uint32_t yields, yield_points;	/* the engine's, too: the next lease goes over so many yields, and so many points */
					/* behind each */
	bool hangs;			/* the engine's, too, when it drains: the execution did not end by itself, which */
					/* is its failure */
	bool told_again;		/* what comes next was told before, of another execution: tasks go on when all of */
					/* that is told */
	bool frees;			/* the world's: a label of this execution had ZUG_L_FREES */
	bool *of_runtime;		/* the engine's: by task, whether a language's runtime has it for itself */
	uint32_t of_runtime_room;
	struct world_task *tasks;	/* by task number; state TASK_NONE when not in this execution */
	uint32_t nr_tasks;
	/*
	 * By this a decision costs the same however many tasks there are. The world says when it changes a task, or when what
	 * would_block() says of it may be another thing; the engine empties it.
	 */
	struct world_changes changes;
};

/* It is in this execution, and has not ended. */
static inline bool world_lives(const struct world_task *t)
{
	return t->state != TASK_NONE && t->state != TASK_DEAD;
}

/* A language's runtime has it for itself: it is none of the program's. */
static inline bool world_of_runtime(const struct world *w, uint32_t task)
{
	return task < w->of_runtime_room && w->of_runtime[task];
}

/* A living task of that process other than but (NULL: any). NULL: there is none. */
static inline const struct world_task *world_living(const struct world *w, uint32_t process, const struct world_task *but)
{
	for (uint32_t i = 0; i < w->nr_tasks; i++) {
		const struct world_task *t = &w->tasks[i];

		if (t != but && t->process == process && world_lives(t))
			return t;
	}
	return NULL;
}

/* The world has changed that task. */
void world_changed(struct world *w, uint32_t task);
void world_changed_all(struct world *w);
/* All changes have been looked at: the list is empty. */
void world_changes_seen(struct world *w);

/* It waits for a lock, or stands before one; a wait for a condition comes to its lock only later. */
static inline bool world_wants_lock(const struct world_task *t)
{
	return t->label.flags & ZUG_L_ACQUIRE && t->label.op != ZUG_OP_COND_WAIT;
}

/* The task that holds the lock for which t waits; WORLD_NO_TASK: unknown. */
static inline uint32_t world_owner(struct world *w, const struct world_task *t)
{
	uint32_t owner;

	w->ops->would_block(w, t, &owner);
	return owner;
}

#endif
