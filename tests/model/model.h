/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * model.h - programs as small tables of operations, for the search to run
 *
 * A model program is a set of tasks, each a table of operations on locks,
 * conditions, semaphores, shared variables and registers of its own. Steps
 * (what the search sees) and silent operations (registers, jumps, assertions)
 * are told apart: a task always stands before a step or has ended. A state is
 * plain memory, so an oracle can copy it and try everything.
 *
 * Conditions wake in the order of waiting, as futexes do.
 */
#ifndef ZUG_TESTS_MODEL_H
#define ZUG_TESTS_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include "search/search.h"

#define MODEL_TASKS	104
#define MODEL_OBJECTS	24	/* of each kind */
#define MODEL_REGS	3

enum model_op {
	/* steps */
	M_LOCK,		/* a: lock */
	M_UNLOCK,
	M_TRYLOCK,	/* a: lock; reg b: 1 taken, 0 not */
	M_WAIT,		/* a: condition, b: lock */
	M_SIGNAL,
	M_BROADCAST,
	M_SEM_WAIT,	/* a: semaphore */
	M_SEM_POST,
	M_READ,		/* a: variable, into reg b */
	M_WRITE,	/* a: variable := imm */
	M_STORE,	/* a: variable := reg b + imm */
	M_YIELD,
	M_LOCAL,	/* a step on nothing shared */
	M_EXEC,		/* the task executes another program */
	M_TRYWAIT,	/* a: semaphore; reg b: 1 taken, 0 not */
	M_TAKE,		/* a: the lock of an interpreter, which no label tells; M_GIVE: free again */
	M_GIVE,
	M_WANT,		/* a: it is to be given away at the next look */
	M_LOOK,		/* gives it to a task that wants it, and takes it again behind that; the program's own */
	M_FORK,		/* a: task that starts */
	M_JOIN,		/* a: task to wait for */
	M_CHOICE,	/* reg b: a value in [0, imm) */
	M_END,		/* the task ends; the table's end does so too, without a step */
	M_END_ALL,	/* all tasks end */
	M_LAST_STEP = M_END_ALL,
	/* silent */
	M_SET,		/* reg b := imm */
	M_JUMP,		/* to: an index into the table */
	M_JUMP_NE,	/* if reg b != imm */
	M_JUMP_EQ,
	M_ASSERT,	/* reg b == imm, or the execution fails */
};

struct model_step {
	uint8_t op, a, b;
	int16_t imm;
	uint16_t to;
};

struct model {
	const char *name;
	uint32_t nr_tasks;
	uint32_t nr_started;		/* tasks 0..nr_started-1 exist from the start */
	int16_t sems[MODEL_OBJECTS];	/* first values */
	int16_t vars[MODEL_OBJECTS];
	const struct model_step *code[MODEL_TASKS];
	uint32_t len[MODEL_TASKS];
	uint32_t routine[MODEL_TASKS];	/* 1 + the task whose places these are: it has the same code; 0: its own */
	uint32_t parent[MODEL_TASKS];	/* of tasks that are forked */
	uint32_t own;			/* variables that the program's own code accesses (ZUG_L_OWN): bits */
	uint32_t atomic;		/* variables that are atomic: bits */
	bool numbered;			/* model_run(): objects are numbered by the task that comes to use them first */
};

enum { TASK_UNBORN, TASK_LIVE, TASK_ENDED };

struct model_task {
	uint16_t pc;
	uint8_t status;
	bool waits;		/* in a condition's queue */
	bool relock;		/* woken: has to take the lock again */
	bool gave;		/* has given its lock away at a look: has to take it again */
	int16_t reg[MODEL_REGS];
};

struct model_state {
	int16_t vars[MODEL_OBJECTS];
	int16_t sems[MODEL_OBJECTS];
	int16_t owner[MODEL_OBJECTS];		/* of locks: task, or -1 */
	bool wanted[MODEL_OBJECTS];		/* a lock: by a task that stands before it */
	uint32_t queue_end[MODEL_OBJECTS];	/* tickets, so that waiters wake in order */
	uint32_t ticket[MODEL_TASKS];
	uint16_t failed;			/* 0, or 1 + index of the assertion's place */
	uint32_t last;				/* last task, or SEARCH_NO_TASK */
	bool yielded;
	struct model_task task[MODEL_TASKS];
};

struct model_result {
	uint64_t outcome;	/* hash of the end: registers, variables, failure, deadlock */
	uint64_t steps;
	bool failed;		/* an assertion, or a deadlock */
	bool deadlock;
	bool cut;		/* by search_pick() or max_steps */
	int error;		/* of search_pick(), 0 when none */
};

/* The state at the start, every task before its first step. */
void model_start(const struct model *m, struct model_state *s);

/* The label of what a live task does next. */
struct zug_label model_label(const struct model *m, const struct model_state *s, uint32_t task);
bool model_enabled(const struct model *m, const struct model_state *s, uint32_t task);

/* The number of values that the task's next step asks for; 1 for anything but M_CHOICE. */
uint32_t model_values(const struct model *m, const struct model_state *s, uint32_t task);

/* An enabled task makes its step, and the silent operations after it. */
void model_step(const struct model *m, struct model_state *s, uint32_t task, int16_t value);

/* The candidates (room for nr_tasks); returns their number, *nr_enabled of them enabled. */
uint32_t model_cands(const struct model *m, const struct model_state *s, struct search_cand *cand,
		     uint32_t *nr_enabled);

bool model_over(const struct model *m, const struct model_state *s);
uint64_t model_outcome(const struct model *m, const struct model_state *s);

/*
 * One execution between search_begin() and search_end(); calls both.
 * Returns what search_begin() said when that was not SEARCH_GO, else SEARCH_GO.
 * order (room for max_order tasks), if given, gets the decisions.
 */
int model_run(const struct model *m, struct search *s, struct model_result *r, uint32_t *order,
	      uint64_t max_order);
/* The same for an execution apart: search_begin_apart(). */
int model_run_apart(const struct model *m, struct search *s, struct model_result *r, uint32_t *order,
		    uint64_t max_order);
/* The same under the schedule that never preempts (search_begin_base()). */
int model_run_base(const struct model *m, struct search *s, struct model_result *r);

/*
 * Executions under random schedules until one fails; at most so many (-1: no bound). Is *r of one that did, and order
 * what was decided in it?
 */
bool model_fail(const struct model *m, uint64_t seed, int executions, struct model_result *r, uint32_t *order,
		uint64_t max_order);

/*
 * For struct search_names. Locks are called m0, m1, ..., everything else v0, ...; places of task N are in the function
 * fN. name has room for 16.
 */
void model_object_name(uint64_t object, char *name);
bool model_is_on(void *ctx, uint64_t object, const char *pattern);
bool model_is_in(void *ctx, uint64_t site, const char *pattern);

/* A search for tests: aborts with the message when it is refused. */
struct search *model_search(const char *strategy, uint64_t seed, uint32_t fair);

#endif
