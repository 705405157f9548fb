/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * model_world_internal.h - inside of model_world.h: the state of a model world, and what its tasks do
 *
 * model_tasks.c puts whatever the engine may see into a queue of events, each with what the task looks like after it;
 * model_plan.c says whether a task goes on under a lease; model_world.c hands these out one by one, so that struct world says
 * what the events have told so far, as in the kernel's world.
 */
#ifndef ZUG_TESTS_MODEL_WORLD_INTERNAL_H
#define ZUG_TESTS_MODEL_WORLD_INTERNAL_H

#include "engine/faults.h"
#include "lib/base/id_map.h"
#include "model_world.h"

#define MS		1000000ull
#define MW_TIMERS	6
#define MW_MAX_QUEUE	1000	/* events; with more tasks stop at every point */

/* model.h has names of its own for some of these */
enum life { UNBORN, READY, BLOCKED, DEAD };

struct mw_task {
	enum life life;
	uint16_t pc;
	bool fresh;		/* stands at its begin */
	bool silent;		/* was stopped where there is no point: goes on with silent operations */
	bool waits;		/* in W_WAIT: for the signal */
	bool relocks;		/* and for the mutex, after it */
	bool expired;		/* its time-out ended the wait */
	bool injected;
	int fault;
	uint32_t amount;
	uint32_t value;		/* chosen for W_CHOICE */
	uint32_t stops;		/* in a computation, so far */
	uint32_t trials;	/* times that spins() was asked */
	uint64_t deadline, ticket;
	uint64_t real_deadline;	/* on the machine's clock, without virtual time; 0: none */
	uint32_t parent, nth, nr_children, process;
	int64_t reg[MW_REGS];
	struct world_task shown;	/* after all events in the queue */
	struct misuse_memory memory;	/* of its lock, when it passed a point */
};

/* What the engine may ask of tasks and objects, and a task that goes on changes. */
struct mw_memory {
	int64_t sems[MW_OBJECTS];
	uint32_t owner[MW_OBJECTS];
	bool relocks[MW_TASKS], dead[MW_TASKS];
};

struct mw_event {
	struct world_event ev;
	struct world_task after;
	struct misuse_memory memory;
	struct mw_memory then;
};

#define MW_SEEN	64
struct mw_state {
	struct mw_task task[MW_TASKS];
	int64_t sems[MW_OBJECTS];
	uint32_t owner[MW_OBJECTS];	/* of mutexes; WORLD_NO_TASK: free */
	uint32_t bytes[MW_OBJECTS];	/* in pipes */
	struct { uint64_t deadline; uint8_t sem; } timers[MW_TIMERS];
	bool arrived[MW_ARRIVALS];
	uint64_t start, clock, tickets;
	uint32_t stuck;			/* who is in an uninterruptible wait, or WORLD_NO_TASK */
	uint64_t stuck_since, stuck_until;
	bool lent;
	bool broken;
	bool stop_always;		/* as start() was told */
	uint64_t ran_ns;
	uint64_t seen[MW_SEEN];		/* states of the program, by hash, since stop() */
	uint32_t nr_seen;
	int status;			/* wait status of the root */
	struct mw_event *queue;
	size_t first, nr, room;
	struct mw_memory then;		/* at the last event that was delivered */
	struct id_map told;
	/* as the kernel side's: struct zug_lease */
	uint32_t lease, next_lease;	/* points left; of the next grant */
	bool known, next_known;		/* they are those of a trace */
	uint32_t yields, next_yields;	/* that the lease goes over */
	enum search_until until, next_until;
	uint64_t lease_clock, next_lease_clock;
	struct mw_memory leased;	/* when it was granted, as far as other tasks go */
	bool woken;			/* another task, since then */
	bool created;			/* the same */
	struct world_plan plan, next_plan;
	uint32_t rounds[MW_TASKS], holder;	/* of the plan: world_task.rounds, as they are left; who made the last step */
	bool planned, next_planned;
	uint32_t run;			/* of the plan, the one that goes on */
	uint32_t choices;		/* RANKS: that were made */
	uint64_t ranks[MW_TASKS];	/* RANKS, PENDING, TURNS, DIFFERENCES: by task */
	bool met[SEARCH_CONSTRAINTS];	/* PENDING */
	uint32_t to;			/* who has been handed the turn, and is to run; or WORLD_NO_TASK */
	uint32_t ahead;			/* who has the turn already at the point that is decided now, or WORLD_NO_TASK */
};

static inline struct model_world *mw(struct world *w)
{
	return (struct model_world *)w;
}

static inline const struct mw_op *op_of(struct model_world *m, uint32_t t)
{
	return &m->p->code[t][m->s->task[t].pc];
}

/* ---- model_tasks.c ---- */

unsigned int mw_number_of(uint64_t object);
const char *mw_name_of(uint64_t object, char *buf, size_t len);
/* The operation before which task t stands. */
struct zug_label mw_label_of(struct model_world *m, uint32_t t);
/* The mutex of an operation on one, also of a wait for a condition. */
unsigned int mw_mutex_of(const struct zug_label *l);

struct mw_memory mw_memory_now(const struct mw_state *s);
/* The same as the engine sees it: what has not been told yet has not happened. */
struct mw_memory mw_memory_told(const struct mw_state *s);
struct misuse_memory mw_memory_of(const struct mw_memory *s, unsigned int mutex);

/* Tells what has become of a task; the event is to be filled in by the caller. */
struct world_event *mw_tell(struct model_world *m, enum world_event_kind kind, uint32_t t,
			    enum task_state_kind state);
/* The next event of the queue; false: it is empty. */
bool mw_deliver(struct model_world *m, struct world_event *ev);

void mw_begin_task(struct model_world *m, uint32_t t, uint32_t parent, bool process);
/* A task of a program of tests/model stands before its first point from its begin on. */
void mw_stand_first(struct model_world *m, uint32_t t);
/* From a grant, or after an uninterruptible wait, to the next stop. */
void mw_run(struct model_world *m, uint32_t t);
void mw_wake(struct model_world *m, uint32_t t, uint32_t waker);
/* Wakes the first that waits for it, or all. */
void mw_wake_for(struct model_world *m, uint64_t object, uint32_t waker, bool all);
void mw_post(struct model_world *m, unsigned int sem, uint32_t waker);
/* The process of task t ends with that wait status; t's own death is told last. */
void mw_end_process(struct model_world *m, uint32_t t, int status, uint64_t site);
/* Of the timers that were set; UINT64_MAX: none. */
uint64_t mw_first_deadline(const struct mw_state *s);

/* ---- model_plan.c ---- */

/* Task t passes its point under its lease. */
bool mw_is_leased(struct model_world *m, uint32_t t);
/* Where the turn goes from a point of task t; WORLD_NO_TASK: that is to be asked. */
uint32_t mw_follow_plan(struct model_world *m, uint32_t t);
/* Which task makes the next step behind task t, as the plan says. WORLD_NO_TASK: it says nothing. */
uint32_t mw_planned_step(struct model_world *m, uint32_t t);
/* What the task does matters to the plan also where it is alone: mw_planned_step() says whether it does not go on by it. */
bool mw_plan_looks(const struct mw_state *s);
/* The task was created by that one. */
void mw_plan_born(struct mw_state *s, uint32_t task, uint32_t parent);
/* The task makes a step. */
void mw_plan_counts(struct mw_state *s, uint32_t task);
/* Task makes a step of the plan, which may end behind it: world_plan.calm. */
void mw_plan_goes_on(struct mw_state *s, uint32_t task);

/* ---- model_world.c ---- */

/* When the next of what happens by the time alone is due; UINT64_MAX: none. */
uint64_t mw_next_happening(const struct model_world *m);

#endif
