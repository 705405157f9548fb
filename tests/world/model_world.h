/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * model_world.h - a world without a kernel: programs as tables of operations, behind world.h
 *
 * A program is a table of operations for each of its tasks. Granted the turn, a task makes the
 * operation before which it stands, and silent ones after it, and stops before the next; or it
 * blocks, or ends. The events that tell this are the kernel's world's: POINT, BLOCK, WAKE, NEW,
 * EXIT and so on, with ASK when no task has the turn.
 *
 * Time is the model's own. A step takes a microsecond, and waiting for an event takes as long as
 * the caller says, at once: so everything that the engine does by the clock (deadlocks, late
 * wake-ups, time-outs) can be tried in no time.
 *
 * Model programs of tests/model can be run here as well (mw_from_model()).
 */
#ifndef ZUG_TESTS_MODEL_WORLD_H
#define ZUG_TESTS_MODEL_WORLD_H

#include "engine/outcome.h"
#include "engine/world.h"

struct model;

#define MW_TASKS	8
#define MW_OBJECTS	24
#define MW_REGS		3
#define MW_ARRIVALS	4

enum mw_op_kind {
	W_END,		/* of the table: the task ends; the root's first task ends its process with status 0 */
	/* operations that are points */
	W_LOCK, W_UNLOCK,	/* a: mutex */
	W_TRYLOCK,	/* reg b: 1 taken, 0 not */
	W_TIMEDLOCK,	/* imm: ns; reg b: as above */
	W_INIT, W_DESTROY,	/* a: mutex */
	W_SPIN_LOCK, W_SPIN_UNLOCK,	/* a: of the mutexes */
	W_WAIT,		/* a: condition, b: mutex */
	W_TIMED_WAIT,	/* imm: ns; reg 0: 1 signalled, 0 time-out */
	W_SIGNAL, W_BROADCAST,
	W_SEM_WAIT, W_SEM_POST,
	W_SEM_TIMED,	/* imm: ns; reg b: 1 taken, 0 time-out */
	W_READ,		/* a: variable, into reg b */
	W_WRITE,	/* a: variable := imm */
	W_STORE,	/* a: variable := reg b + imm */
	W_YIELD,
	W_CHOICE,	/* reg b: a value in [0, imm) that the search chooses; a: the program's random numbers follow from it */
	W_LOCAL,	/* a step on nothing shared */
	W_LEAVE,	/* the task ends */
	W_GET,		/* a: pipe; waits for a byte */
	W_PUT,		/* a: pipe */
	W_SLEEP,	/* imm: ns */
	W_TIMER,	/* after imm ns semaphore a is posted */
	W_CALL,		/* a system call (zop): faults, amounts; reg b: 0, -errno or what it was cut to */
	W_CREATE,	/* a: task that starts, of this process */
	W_FORK,		/* a: task that starts, of a new process */
	W_JOIN,		/* a: task to wait for */
	W_DETACH,	/* a: task */
	W_EXIT,		/* the process ends with status imm */
	W_LAST_POINT = W_EXIT,
	/* silent */
	W_SET,		/* reg b := imm */
	W_JUMP,		/* to: an index into the table */
	W_JUMP_NE, W_JUMP_EQ,	/* if reg b != imm */
	W_ASSERT,	/* reg b == imm, or the process aborts */
	W_CRASH,	/* by signal imm */
	W_QUIT,		/* the process ends with status imm, without a point */
	W_PRINT,	/* text, on the error output */
	W_SAY,		/* text, as a message of the world */
	W_EXEC,		/* text: the program */
	W_COMPUTE,	/* stopped imm times in a computation; a: what spins() says (enum mw_spin) */
	W_BUSY,		/* stopped in a computation until variable a is imm; b: MW_PROVEN if spins() says so, or 0 */
	W_STUCK,	/* in an uninterruptible wait for imm ms */
	W_BREAK,	/* the world breaks: next() fails */
};

enum mw_spin { MW_COMPUTES, MW_PROVEN, MW_AGAIN_THEN_PROVEN, MW_AGAIN_THEN_NOT };

struct mw_op {
	uint8_t op, a, b;
	uint16_t to;
	uint16_t zop;
	int64_t imm;
	uint32_t faults;	/* 1 << enum fault */
	uint32_t amounts[WORLD_FAULT_AMOUNTS];
	int answer;		/* of inject(), instead of 0 */
	const char *text;
	bool waits;		/* in a loop that waits: others are to have a turn */
	bool left_out;		/* by --not: the task is not preempted there */
	bool own;		/* of the program's own code (ZUG_L_OWN) */
};

/* From outside, at a time of the machine. */
struct mw_arrival {
	uint64_t ns;		/* since the start; 0: none */
	enum { MW_BYTE, MW_POST } kind;
	uint8_t a;		/* pipe or semaphore */
};

struct mw_program {
	const struct mw_op *code[MW_TASKS];	/* NULL: there are no more */
	bool unplanned;		/* the world follows no plan: leases are for one task alone */
	uint32_t nr_started;	/* tasks 0.. that are there from the start, and the root ends with the last; 0: as a real */
				/* program */
	int64_t sems[MW_OBJECTS], vars[MW_OBJECTS];
	struct mw_arrival arrivals[MW_ARRIVALS];
	uint32_t outside;	/* 1 << pipe: its other end is outside the test */
	uint32_t outside_sems;	/* 1 << semaphore */
	bool real_time;		/* the test has the machine's time: no deadlines */
	bool any_time;		/* time-outs measure what others compute (world_task.any_time) */
	bool own_time;		/* time-outs are a runtime's own (world_task.own_time) */
	bool installed;		/* time-outs are those of the distribution's programs (world_task.installed) */
	bool several;		/* other processes have executed programs (world_status.several) */
	bool blind;		/* nothing is known of locks: they are waited for in the kernel */
	/* how the world behaves */
	uint64_t in_flight_ns;	/* until then something is on its way */
	int fails_start, fails_drain, fails_tend, fails_expire;	/* -errno */
	bool passes_anyway;	/* points are passed where every one is to stop */
	bool watchdog;		/* the signal of timers would end the test */
	bool woken_meanwhile;	/* what expires has been woken by something else */
	uint64_t ungranted;
	uint64_t grant_ns;	/* that a step takes; 0: 1000 */
	uint16_t begins;	/* the search begins when task 0 comes to that operation */
	uint16_t starts[MW_TASKS];	/* by task: up to that operation its language begins it (world_task.begins) */
};

struct model_world {
	struct world w;
	const struct mw_program *p;
	struct capture *c;	/* output goes there; NULL: nowhere */
	/* to be looked at */
	uint64_t grants, nr_tends, drains;
	uint64_t now;
	bool stop_always;
	int64_t vars[MW_OBJECTS];
	/* its own */
	struct mw_state *s;
};

struct model_world *mw_new(const struct mw_program *p, struct capture *c);
void mw_free(struct model_world *m);

/*
 * A program of tests/model, table by table: without values that are chosen. Its steps are those of
 * model_run().
 */
void mw_from_model(const struct model *from, struct mw_program *p, struct mw_op code[MW_TASKS][64]);

/* Ids in labels, as those of tests/model. */
enum mw_kind { MW_LOCKS = 1, MW_CONDS, MW_SEMS, MW_VARS, MW_TASK_OBJECTS, MW_PIPES };
static inline uint64_t mw_object(enum mw_kind kind, unsigned int nr)
{
	return (uint64_t)kind << 32 | (nr + 1);
}
static inline uint64_t mw_site(uint32_t task, uint32_t pc)
{
	return (uint64_t)task << 16 | (pc + 1);
}

#endif
