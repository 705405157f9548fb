/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * world.h - the seam between the engine and what executes the test
 *
 * A world starts an execution, reports what its tasks do, gives the turn to
 * the task it is told to, and ends the execution. The engine knows nothing of
 * kernels; the kernel's world is kworld.c. Tasks are named by the stable
 * number of their spawn path, equal in all executions of a campaign.
 */
#ifndef ZUG_WORLD_H
#define ZUG_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/label.h"
#include "lib/trace.h"
#include "search/misuse.h"

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
};

/* A piece of memory that a task is about to access. */
struct world_access {
	uint64_t space;			/* equal where equal addresses are the same memory */
	uint64_t addr;
	uint32_t size;			/* 0: nothing, as it turned out */
	bool write;
	uint64_t object;		/* of its begin */
};

struct world_task {
	uint32_t task, parent, nth, process;
	int pid, tgid;
	int own_pid;			/* what it calls itself */
	enum task_state_kind state;
	struct zug_label label;		/* pending when parked; what it blocked in otherwise */
	bool in_handler;		/* of a signal, at a label with accesses */
	uint32_t nr_accesses;		/* to data, of a label with an operation on data or an atomic one: what that accesses */
	struct world_access access[2];
	enum wait_kind wait;
	char where[96];			/* blocked: "futex", "read pipe #0 of T1" */
	uint64_t deadline;		/* blocked: when its time-out is over, on the world's clock; 0: none, or not ours to say */
	bool network;			/* blocked: for something that may come through the test's own network */
	bool outside;			/* blocked: somebody outside the test may wake it, too */
	bool quits;			/* about to end the root command, with this status */
	uint8_t status;
	char comm[16];
};

enum world_event_kind {
	WORLD_NEW = 1,		/* a task exists */
	WORLD_POINT,		/* task is at label (parked, unless passed) */
	WORLD_BLOCK,
	WORLD_WAKE,
	WORLD_FATAL,		/* task gets a signal that ends its process, or quits: the stacks that there are now will be gone */
	WORLD_EXIT,
	WORLD_EXEC,
	WORLD_MESSAGE,		/* text: something the user should know */
	WORLD_ASK,		/* only the flag below */
};

struct world_event {
	enum world_event_kind kind;
	uint32_t task;		/* WORLD_NO_TASK: none */
	uint32_t waker;		/* WAKE: WORLD_NO_TASK for outside and timers */
	bool ask;		/* nobody has the turn: a decision is due */
	bool passed;		/* POINT: not stopped, the task went on */
	bool yield;		/* POINT: the task's operation was a yield (or a forced switch out of a spin) */
	bool root;		/* EXIT: of the root command: the execution is over */
	uint64_t site;		/* EXIT: where a fault (SIGSEGV and its kin) ended its process while it ran; 0: no */
	char text[256];
};

struct world;

#define WORLD_FAULT_AMOUNTS	3
#define WORLD_FAULT_MISSED	2

struct world_ops {
	/* Begin an execution. -errno with a line in err. */
	int (*start)(struct world *w, bool stop_always, char *err, size_t errlen);
	/* 1: *ev is the next event; 0: none within timeout_us; -errno: the world broke (line in err). */
	int (*next)(struct world *w, struct world_event *ev, int64_t timeout_us, char *err, size_t errlen);
	/* Give the turn. */
	int (*grant)(struct world *w, uint32_t task);
	/* Would a parked task block at once? Unknown is no. */
	bool (*would_block)(struct world *w, const struct world_task *t);
	/* What the memory of a lock says that is an object of t's label; false: unknown. */
	bool (*lock_memory)(struct world *w, const struct world_task *t, uint64_t object,
			    struct misuse_memory *m);
	/* Whom a task that waits for a lock waits for; WORLD_NO_TASK: unknown. */
	uint32_t (*owner)(struct world *w, const struct world_task *t);
	/* So many milliseconds now, the holder, or one that dies, waits uninterruptibly; 0: none does. */
	uint32_t (*stuck_ms)(struct world *w);
	/* Do not wait for it any longer: the others go on. */
	int (*lend)(struct world *w);
	/* The test's own time, ns since it began; 0: it has the machine's. */
	uint64_t (*clock)(struct world *w);
	/*
	 * Lets the time-out of a blocked task (deadline != 0) expire: it is parked then, and its label says EXPIRE,
	 * or RESUME if something else had ended its wait. Nobody may have the turn. -errno: it is as it was.
	 */
	int (*expire)(struct world *w, uint32_t task);
	/*
	 * When the next timer of the test fires (UINT64_MAX: none has been set), and firing it: whom it wakes is told
	 * by events, which are there when the call returns. Nobody may have the turn.
	 */
	uint64_t (*next_timer)(struct world *w);
	int (*fire)(struct world *w);
	/* Is something on its way to a blocked task that nobody has to send any more? */
	bool (*in_flight)(struct world *w);
	/* Those of the wanted faults (1 << enum fault) that the call can have which a parked task stands before. */
	uint32_t (*faults)(struct world *w, const struct world_task *t, uint32_t wanted);
	/* Of one of these: the amounts (bytes, ms) among which there is a choice, from least to most; 0: none. */
	unsigned int (*fault_amounts)(struct world *w, const struct world_task *t, int fault,
				      uint32_t amounts[WORLD_FAULT_AMOUNTS]);
	/*
	 * The call of a parked task, which gets the turn next, has that fault; the amount goes into its label. 1: it is
	 * dead instead; 0; WORLD_FAULT_MISSED: the call did not come so far; -errno.
	 */
	int (*fault)(struct world *w, struct world_task *t, int fault, uint32_t amount);
	/* Called about once a second: keeps long executions alive. -errno: it cannot go on, and err says why. */
	int (*tend)(struct world *w, char *err, size_t errlen);
	/*
	 * Stack of a task that does not run; of one that a fault has ended, the place of it. Number of
	 * frames or -errno. Frames live until the next start.
	 */
	int (*stack)(struct world *w, const struct world_task *t, struct trace_frame *frames, int max);
	/* Integer registers of a task that does not run, in DWARF order (rax rdx rcx rbx rsi rdi rbp rsp r8..r15 rip), then
	 * the thread pointer. 0 or -errno. */
	int (*registers)(struct world *w, const struct world_task *t, uint64_t regs[18]);
	/* Code of a task's process that was read from addr: puts back what probes hide. Number of probes in it. */
	int (*unprobe)(struct world *w, const struct world_task *t, uint64_t addr, uint8_t *code, size_t len);
	/* A task was stopped in a computation (ZUG_OP_SPIN) while others could run: does it get anywhere? */
	enum spin_verdict (*spins)(struct world *w, const struct world_task *t);
	/* Ends the execution; *status: wait status of the root command, -1 unknown. Nothing is left after it. */
	int (*drain)(struct world *w, int *status, char *err, size_t errlen);
	/* Runs without a grant, in this execution. */
	uint64_t (*ungranted)(const struct world *w);
	/* Adds what the label's ids mean to the trace: sites, modules, objects. */
	int (*describe)(struct world *w, struct trace_writer *t, const struct zug_label *l);
	const char *(*object_name)(struct world *w, uint64_t object);
};

struct world {
	const struct world_ops *ops;
	struct world_task *tasks;	/* by task number; state TASK_NONE when not in this execution */
	uint32_t nr_tasks;
};

#endif
