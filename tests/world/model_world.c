/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * model_world.c - tasks, locks, pipes and a clock that exist in tables only (model_world.h)
 *
 * run() is where to begin: what a task does from a grant to its next stop. Whatever it changes that
 * the engine may see is put into a queue of events, each with what the task looks like after it;
 * next() hands these out one by one, so that struct world says what the events have told so far, as
 * in the kernel's world.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "engine/faults.h"
#include "lib/base/array.h"
#include "lib/base/id_map.h"
#include "search/rng.h"
#include "tests/model/model.h"
#include "model_world.h"

#define STEP_NS		1000
#define MS		1000000ull
#define LEND_MS		2000
#define MW_TIMERS	4
#define MAX_QUEUE	1000	/* events; with more tasks stop at every point */

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
	enum search_until until, next_until;
	struct mw_memory leased;	/* when it was granted, as far as other tasks go */
	bool woken;			/* another task, since then */
	uint32_t ahead;			/* who has passed the point that is decided now, or WORLD_NO_TASK */
};

static struct model_world *mw(struct world *w)
{
	return (struct model_world *)w;
}

static const struct mw_op *op_of(struct model_world *m, uint32_t t)
{
	return &m->p->code[t][m->s->task[t].pc];
}

static bool lives(const struct mw_state *s, uint32_t t)
{
	return s->task[t].life == READY || s->task[t].life == BLOCKED;
}

/* ---- labels ---- */

static struct zug_label label_of(struct model_world *m, uint32_t t)
{
	static const struct {
		uint16_t op;
		uint8_t kind;
	} map[] = {
		[W_LOCK] = { ZUG_OP_LOCK, MW_LOCKS },
		[W_UNLOCK] = { ZUG_OP_UNLOCK, MW_LOCKS },
		[W_TRYLOCK] = { ZUG_OP_TRYLOCK, MW_LOCKS },
		[W_TIMEDLOCK] = { ZUG_OP_TIMEDLOCK, MW_LOCKS },
		[W_INIT] = { ZUG_OP_MUTEX_INIT, MW_LOCKS },
		[W_DESTROY] = { ZUG_OP_MUTEX_DESTROY, MW_LOCKS },
		[W_SPIN_LOCK] = { ZUG_OP_SPIN_LOCK, MW_LOCKS },
		[W_SPIN_UNLOCK] = { ZUG_OP_SPIN_UNLOCK, MW_LOCKS },
		[W_WAIT] = { ZUG_OP_COND_WAIT, MW_CONDS },
		[W_TIMED_WAIT] = { ZUG_OP_COND_TIMEDWAIT, MW_CONDS },
		[W_SIGNAL] = { ZUG_OP_COND_SIGNAL, MW_CONDS },
		[W_BROADCAST] = { ZUG_OP_COND_BROADCAST, MW_CONDS },
		[W_SEM_WAIT] = { ZUG_OP_SEM_WAIT, MW_SEMS },
		[W_SEM_POST] = { ZUG_OP_SEM_POST, MW_SEMS },
		[W_SEM_TIMED] = { ZUG_OP_SEM_TIMEDWAIT, MW_SEMS },
		[W_READ] = { ZUG_OP_DATA_READ, MW_VARS },
		[W_WRITE] = { ZUG_OP_DATA_WRITE, MW_VARS },
		[W_STORE] = { ZUG_OP_DATA_WRITE, MW_VARS },
		[W_YIELD] = { ZUG_OP_YIELD, 0 },
		[W_LOCAL] = { ZUG_OP_BEGIN, 0 },
		[W_LEAVE] = { ZUG_OP_END, MW_TASK_OBJECTS },
		[W_GET] = { ZUG_OP_READ, MW_PIPES },
		[W_PUT] = { ZUG_OP_WRITE, MW_PIPES },
		[W_SLEEP] = { ZUG_OP_SLEEP, 0 },
		[W_TIMER] = { ZUG_OP_SYSCALL, 0 },
		[W_CREATE] = { ZUG_OP_CREATE, MW_TASK_OBJECTS },
		[W_FORK] = { ZUG_OP_FORK, MW_TASK_OBJECTS },
		[W_JOIN] = { ZUG_OP_JOIN, MW_TASK_OBJECTS },
		[W_DETACH] = { ZUG_OP_DETACH, MW_TASK_OBJECTS },
		[W_EXIT] = { ZUG_OP_SYSCALL, 0 },
	};
	const struct mw_task *task = &m->s->task[t];
	const struct mw_op *o = op_of(m, t);
	struct zug_label l = { .op = ZUG_OP_BEGIN };

	if (task->fresh)
		return l;
	l.site = mw_site(t, task->pc);
	if (o->op == W_COMPUTE || o->op == W_BUSY) {
		l.op = ZUG_OP_SPIN;
		l.flags = zug_op_flags(l.op);
		return l;
	}
	l.op = o->op == W_CALL ? o->zop : map[o->op].op;
	if (o->op != W_CALL && map[o->op].kind)
		l.object = mw_object(map[o->op].kind, o->op == W_LEAVE ? t : o->a);
	if (o->op == W_CALL)
		l.object = mw_object(MW_PIPES, o->a);
	if (o->op == W_WAIT || o->op == W_TIMED_WAIT)
		l.object2 = mw_object(MW_LOCKS, o->b);
	l.flags = zug_op_flags(l.op);
	/* where a model program of the search stands in a wait */
	if (m->p->nr_started && (task->waits || task->relocks)) {
		l.op = ZUG_OP_RESUME;
		l.flags = ZUG_L_WRITE | ZUG_L_ACQUIRE;
	}
	return l;
}

static unsigned int number_of(uint64_t object)
{
	return (unsigned int)(object & UINT32_MAX) - 1;
}

static const char *name_of(uint64_t object, char *buf, size_t len)
{
	static const char letters[] = "?mcsvtp";

	snprintf(buf, len, "%c%u", letters[object >> 32], number_of(object));
	return buf;
}

/* ---- events ---- */

static struct mw_memory memory_now(const struct mw_state *s)
{
	struct mw_memory m;

	memset(&m, 0, sizeof(m));
	memcpy(m.sems, s->sems, sizeof(m.sems));
	memcpy(m.owner, s->owner, sizeof(m.owner));
	for (int t = 0; t < MW_TASKS; t++) {
		m.relocks[t] = s->task[t].relocks;
		m.dead[t] = s->task[t].life == DEAD;
	}
	return m;
}

/* The same as the engine sees it: what has not been told yet has not happened. */
static struct mw_memory memory_told(const struct mw_state *s)
{
	return s->first < s->nr ? s->then : memory_now(s);
}

/* Tells what has become of a task; the event is to be filled in by the caller. */
static struct world_event *tell(struct model_world *m, enum world_event_kind kind, uint32_t t,
				enum task_state_kind state)
{
	struct mw_state *s = m->s;
	struct mw_event *e;

	if (!ARRAY_RESERVE(s->queue, s->room, s->nr + 1))
		abort();
	e = &s->queue[s->nr++];
	memset(e, 0, sizeof(*e));
	e->then = memory_now(s);
	e->ev.kind = kind;
	e->ev.task = t;
	e->ev.waker = WORLD_NO_TASK;
	if (t != WORLD_NO_TASK) {
		s->task[t].shown.state = state;
		e->after = s->task[t].shown;
	}
	return &e->ev;
}

static bool deliver(struct model_world *m, struct world_event *ev)
{
	struct mw_state *s = m->s;
	const struct mw_event *e = &s->queue[s->first];

	if (s->first == s->nr)
		return false;
	*ev = e->ev;
	/* a task before a lock may be able to go on now */
	for (uint32_t i = 0; i < m->w.nr_tasks; i++)
		if (i == ev->task || m->w.tasks[i].state == TASK_PARKED)
			world_changed(&m->w, i);
	if (ev->task != WORLD_NO_TASK) {
		m->w.tasks[ev->task] = e->after;
		s->task[ev->task].memory = e->memory;
	}
	s->then = e->then;
	s->ahead = ev->leased ? ev->task : WORLD_NO_TASK;
	s->first++;
	if (s->first == s->nr)
		s->first = s->nr = 0;
	return true;
}

static bool virtual_time(const struct model_world *m)
{
	return !m->p->real_time;
}

/* A task waits; time-out: so many ns, 0: none. */
static int blocks(struct model_world *m, uint32_t t, enum wait_kind wait, const char *where,
		  uint64_t timeout)
{
	struct mw_task *task = &m->s->task[t];
	struct world_event *ev;

	task->life = BLOCKED;
	task->ticket = m->s->tickets++;
	task->deadline = timeout && virtual_time(m) ? m->s->clock + timeout : 0;
	task->real_deadline = timeout && !virtual_time(m) ? m->now + timeout : 0;
	task->shown.wait = timeout ? WAIT_TIMED : wait;
	task->shown.outside = wait == WAIT_UNKNOWN;
	task->shown.deadline = task->deadline;
	if (m->p->nr_started)
		task->shown.label = label_of(m, t);
	snprintf(task->shown.where, sizeof(task->shown.where), "%s", where);
	ev = tell(m, WORLD_BLOCK, t, TASK_BLOCKED);
	ev->ask = true;
	snprintf(ev->text, sizeof(ev->text), "%s", where);
	return 0;
}

static void wake(struct model_world *m, uint32_t t, uint32_t waker)
{
	struct mw_task *task = &m->s->task[t];
	struct zug_label *l = &task->shown.label;

	task->life = READY;
	m->s->woken = true;
	task->deadline = task->shown.deadline = 0;
	if (m->p->nr_started) {
		*l = label_of(m, t);
	} else if (l->op != ZUG_OP_BEGIN) {
		l->op = ZUG_OP_RESUME;
		l->flags = zug_op_flags(ZUG_OP_RESUME);
	}
	tell(m, WORLD_WAKE, t, TASK_PARKED)->waker = waker;
}

/* What a blocked task waits for. */
static uint64_t waits_for(struct model_world *m, uint32_t t)
{
	const struct mw_op *o = op_of(m, t);

	switch (o->op) {
	case W_LOCK: case W_TIMEDLOCK:
		return mw_object(MW_LOCKS, o->a);
	case W_WAIT: case W_TIMED_WAIT:
		return m->s->task[t].waits ? mw_object(MW_CONDS, o->a) : mw_object(MW_LOCKS, o->b);
	case W_SEM_WAIT: case W_SEM_TIMED:
		return mw_object(MW_SEMS, o->a);
	case W_GET:
		return mw_object(MW_PIPES, o->a);
	case W_JOIN:
		return mw_object(MW_TASK_OBJECTS, o->a);
	}
	return 0;
}

/* Wakes the first that waits for it, or all. */
static void wake_for(struct model_world *m, uint64_t object, uint32_t waker, bool all)
{
	struct mw_state *s = m->s;

	for (;;) {
		uint32_t first = WORLD_NO_TASK;

		for (uint32_t t = 0; t < MW_TASKS; t++)
			if (s->task[t].life == BLOCKED && waits_for(m, t) == object &&
			    (first == WORLD_NO_TASK || s->task[t].ticket < s->task[first].ticket))
				first = t;
		if (first == WORLD_NO_TASK)
			return;
		if (s->task[first].waits) {
			s->task[first].waits = false;
			s->task[first].relocks = true;
		}
		wake(m, first, waker);
		if (!all)
			return;
	}
}

/* ---- the life of tasks ---- */

static void begin_task(struct model_world *m, uint32_t t, uint32_t parent, bool process)
{
	struct mw_state *s = m->s;
	struct mw_task *task = &s->task[t];

	*task = (struct mw_task){
		.life = READY, .parent = parent, .fresh = !m->p->nr_started, .fault = -1
	};
	task->nth = parent == WORLD_NO_TASK ? 0 : s->task[parent].nr_children++;
	task->process = process || parent == WORLD_NO_TASK ? t : s->task[parent].process;
	if (m->p->nr_started)
		task->process = 0;
	task->shown = (struct world_task){ .task = t,
					   .parent = parent,
					   .nth = task->nth,
					   .process = task->process,
					   .pid = 1000 + t,
					   .tgid = 1000 + task->process,
					   .own_pid = 1000 + t,
					   .state = TASK_BLOCKED,
					   .label.op = ZUG_OP_BEGIN,
					   .comm = "model" };
}

static bool process_lives(const struct mw_state *s, uint32_t process)
{
	for (uint32_t t = 0; t < MW_TASKS; t++)
		if (lives(s, t) && s->task[t].process == process)
			return true;
	return false;
}

static void end_task(struct model_world *m, uint32_t t, uint64_t site, bool last)
{
	struct mw_state *s = m->s;
	struct world_event *ev;

	s->task[t].life = DEAD;
	s->task[t].deadline = s->task[t].shown.deadline = 0;
	wake_for(m, mw_object(MW_TASK_OBJECTS, t), t, true);
	ev = tell(m, WORLD_EXIT, t, TASK_DEAD);
	ev->site = site;
	ev->root = !s->task[t].process && !process_lives(s, 0);
	ev->ask = last && !ev->root;
}

/* The process of task t ends with that wait status; t's own death is told last. */
static void end_process(struct model_world *m, uint32_t t, int status, uint64_t site)
{
	struct mw_state *s = m->s;
	uint32_t process = s->task[t].process;

	if (!process)
		s->status = status;
	for (uint32_t i = 0; i < MW_TASKS; i++)
		if (i != t && lives(s, i) && s->task[i].process == process)
			end_task(m, i, 0, false);
	end_task(m, t, site, true);
}

static void print(struct model_world *m, const char *text)
{
	if (m->c && write(capture_err(m->c), text, strlen(text)) < 0)
		abort();
}

/* A signal that is fatal, or (0) the end of the root with a status. */
static void fatal(struct model_world *m, uint32_t t, int signal, uint8_t status)
{
	struct world_event *ev;

	m->s->task[t].shown.quits = !signal;
	m->s->task[t].shown.status = status;
	ev = tell(m, WORLD_FATAL, t, TASK_RUNNING);
	ev->signal = signal;
	ev->root = !m->s->task[t].process;
}

/* ---- operations ---- */

static const int errors[FAULT_NR] = { [FAULT_ENOSPC] = -ENOSPC, [FAULT_EINTR] = -EINTR, [FAULT_ENOMEM] = -ENOMEM,
				      [FAULT_REFUSED] = -ECONNREFUSED };

static bool take(struct model_world *m, uint32_t t, unsigned int mutex)
{
	if (m->s->owner[mutex] != WORLD_NO_TASK)
		return false;
	m->s->owner[mutex] = t;
	return true;
}

static int wait_here(struct model_world *m, uint32_t t, const struct mw_op *o)
{
	struct mw_state *s = m->s;
	struct mw_task *task = &s->task[t];
	uint64_t timeout = o->op == W_TIMED_WAIT ? (uint64_t)o->imm : 0;

	if (!task->waits && !task->relocks) {
		s->owner[o->b] = WORLD_NO_TASK;
		wake_for(m, mw_object(MW_LOCKS, o->b), t, false);
		task->waits = true;
		return blocks(m, t, WAIT_INSIDE, "futex", timeout);
	}
	if (task->waits && task->expired) {
		task->waits = false;
		task->relocks = true;
	}
	if (!take(m, t, o->b))
		return blocks(m, t, WAIT_INSIDE, "futex", 0);
	task->relocks = false;
	if (o->op == W_TIMED_WAIT)
		task->reg[0] = !task->expired;
	task->expired = false;
	return 1;
}

/* Of what is waited for with a time-out: 1 with the register set, or 0. */
static int timed(struct model_world *m, uint32_t t, const struct mw_op *o, bool got)
{
	struct mw_task *task = &m->s->task[t];

	if (!got && !task->expired)
		return blocks(m, t, WAIT_INSIDE, "futex", (uint64_t)o->imm);
	task->reg[o->b] = got;
	task->expired = false;
	return 1;
}

static bool take_sem(struct mw_state *s, unsigned int sem)
{
	if (!s->sems[sem])
		return false;
	s->sems[sem]--;
	return true;
}

static void post(struct model_world *m, unsigned int sem, uint32_t waker)
{
	m->s->sems[sem]++;
	wake_for(m, mw_object(MW_SEMS, sem), waker, false);
}

static int get_byte(struct model_world *m, uint32_t t, const struct mw_op *o)
{
	struct mw_task *task = &m->s->task[t];
	char where[48], name[16];

	if (task->injected) {
		task->injected = false;
		task->reg[o->b] = errors[task->fault];
		return 1;
	}
	if (!m->s->bytes[o->a]) {
		snprintf(where, sizeof(where), "read %s",
			 name_of(mw_object(MW_PIPES, o->a), name, sizeof(name)));
		return blocks(m, t, m->p->outside & 1u << o->a ? WAIT_UNKNOWN : WAIT_INSIDE, where,
			      0);
	}
	m->s->bytes[o->a]--;
	task->reg[o->b] = 1;
	return 1;
}

static void call(struct mw_task *task, const struct mw_op *o)
{
	task->reg[o->b] = 0;
	if (task->injected)
		task->reg[o->b] = errors[task->fault] ? errors[task->fault]
				  : task->amount      ? (int64_t)task->amount
						      : -1;
	task->injected = false;
}

static void set_timer(struct mw_state *s, const struct mw_op *o)
{
	for (int i = 0; i < MW_TIMERS; i++)
		if (s->timers[i].deadline == UINT64_MAX) {
			s->timers[i].deadline = s->clock + (uint64_t)o->imm;
			s->timers[i].sem = o->a;
			return;
		}
	abort();
}

static bool settle(struct model_world *m, uint32_t t);

/* A task of a program of tests/model stands before its first point from its begin on. */
static void stand_first(struct model_world *m, uint32_t t)
{
	if (!settle(m, t))
		return;
	m->s->task[t].shown.label = label_of(m, t);
	tell(m, WORLD_POINT, t, TASK_PARKED);
}

static void new_task(struct model_world *m, uint32_t t, const struct mw_op *o)
{
	begin_task(m, o->a, t, o->op == W_FORK);
	tell(m, WORLD_NEW, o->a, TASK_BLOCKED);
	if (m->p->nr_started)
		stand_first(m, o->a);
	else
		wake(m, o->a, t);
}

/* The point before which task t stands. 1: done; 0: it has blocked, ended or is to look again. */
static int perform(struct model_world *m, uint32_t t)
{
	struct mw_state *s = m->s;
	struct mw_task *task = &s->task[t];
	const struct mw_op *o = op_of(m, t);

	m->now += m->p->grant_ns ? m->p->grant_ns : STEP_NS;
	s->ran_ns += m->p->grant_ns ? m->p->grant_ns : STEP_NS;
	s->clock += virtual_time(m) ? STEP_NS : 0;
	switch (o->op) {
	case W_LOCK:
		return take(m, t, o->a) ? 1 : blocks(m, t, WAIT_INSIDE, "futex", 0);
	case W_SPIN_LOCK:
		if (take(m, t, o->a))
			return 1;
		task->shown.label = label_of(m, t);
		tell(m, WORLD_POINT, t, TASK_PARKED)->ask = true;
		return 0;
	case W_TRYLOCK:
		task->reg[o->b] = take(m, t, o->a);
		break;
	case W_TIMEDLOCK:
		return timed(m, t, o, take(m, t, o->a));
	case W_UNLOCK:
	case W_SPIN_UNLOCK:
		s->owner[o->a] = WORLD_NO_TASK;
		wake_for(m, mw_object(MW_LOCKS, o->a), t, false);
		break;
	case W_WAIT:
	case W_TIMED_WAIT:
		return wait_here(m, t, o);
	case W_SIGNAL:
	case W_BROADCAST:
		wake_for(m, mw_object(MW_CONDS, o->a), t, o->op == W_BROADCAST);
		break;
	case W_SEM_WAIT:
		return take_sem(s, o->a) ? 1
					 : blocks(m, t,
						  m->p->outside_sems & 1u << o->a ? WAIT_UNKNOWN
										  : WAIT_INSIDE,
						  "futex", 0);
	case W_SEM_TIMED:
		return timed(m, t, o, take_sem(s, o->a));
	case W_SEM_POST:
		post(m, o->a, t);
		break;
	case W_READ:
		task->reg[o->b] = m->vars[o->a];
		break;
	case W_WRITE:
		m->vars[o->a] = o->imm;
		break;
	case W_STORE:
		m->vars[o->a] = task->reg[o->b] + o->imm;
		break;
	case W_GET:
		return get_byte(m, t, o);
	case W_PUT:
		s->bytes[o->a]++;
		wake_for(m, mw_object(MW_PIPES, o->a), t, false);
		break;
	case W_SLEEP:
		if (!task->expired && !task->ticket)
			return blocks(m, t, WAIT_INSIDE, "clock_nanosleep", (uint64_t)o->imm);
		task->expired = false;
		break;
	case W_TIMER:
		set_timer(s, o);
		break;
	case W_CALL:
		call(task, o);
		break;
	case W_CREATE:
	case W_FORK:
		new_task(m, t, o);
		break;
	case W_JOIN:
		if (s->task[o->a].life != DEAD)
			return blocks(m, t, WAIT_INSIDE, "futex", 0);
		break;
	case W_LEAVE:
		end_task(m, t, 0, true);
		return 0;
	case W_EXIT:
		end_process(m, t, (int)o->imm << 8, 0);
		return 0;
	}
	task->ticket = 0;
	return 1;
}

static void stop_in_computation(struct model_world *m, uint32_t t)
{
	struct mw_task *task = &m->s->task[t];
	struct world_event *ev;

	task->silent = true;
	task->stops++;
	m->now += 10 * MS;
	m->s->ran_ns += 10 * MS;
	task->shown.label = label_of(m, t);
	ev = tell(m, WORLD_POINT, t, TASK_PARKED);
	ev->ask = ev->yield = true;
}

/* Silent operations up to the next point. false: it did not come there. */
static bool settle(struct model_world *m, uint32_t t)
{
	struct mw_state *s = m->s;
	struct mw_task *task = &s->task[t];

	for (;; task->pc++) {
		const struct mw_op *o = op_of(m, t);

		switch (o->op) {
		case W_END:
			if (!t && !m->p->nr_started)
				end_process(m, t, 0, 0);
			else
				end_task(m, t, 0, true);
			return false;
		case W_SET:
			task->reg[o->b] = o->imm;
			continue;
		case W_JUMP:
			task->pc = o->to - 1;
			continue;
		case W_JUMP_NE:
		case W_JUMP_EQ:
			if ((task->reg[o->b] == o->imm) == (o->op == W_JUMP_EQ))
				task->pc = o->to - 1;
			continue;
		case W_ASSERT:
			if (task->reg[o->b] == o->imm)
				continue;
			print(m, o->text ? o->text : "model.c:1: Assertion `the model' failed.\n");
			fatal(m, t, SIGABRT, 0);
			end_process(m, t, SIGABRT, 0);
			return false;
		case W_CRASH:
			fatal(m, t, (int)o->imm, 0);
			end_process(m, t, (int)o->imm, mw_site(t, task->pc));
			return false;
		case W_QUIT:
			if (!task->process)
				fatal(m, t, 0, (uint8_t)o->imm);
			end_process(m, t, (int)o->imm << 8, 0);
			return false;
		case W_PRINT:
			print(m, o->text);
			continue;
		case W_SAY:
			snprintf(tell(m, WORLD_MESSAGE, WORLD_NO_TASK, 0)->text, 256, "%s",
				 o->text);
			continue;
		case W_EXEC:
			snprintf(task->shown.comm, sizeof(task->shown.comm), "%s", o->text);
			snprintf(tell(m, WORLD_EXEC, t, TASK_RUNNING)->text, 256, "%s", o->text);
			continue;
		case W_COMPUTE:
			if (task->stops >= o->imm) {
				task->stops = task->trials = 0;
				continue;
			}
			stop_in_computation(m, t);
			return false;
		case W_BUSY:
			if (m->vars[o->a] == o->imm) {
				task->stops = task->trials = 0;
				continue;
			}
			stop_in_computation(m, t);
			return false;
		case W_STUCK:
			s->stuck = t;
			s->stuck_since = m->now;
			s->stuck_until = m->now + (uint64_t)o->imm * MS;
			s->lent = false;
			task->silent = true;
			task->pc++;
			return false;
		case W_BREAK:
			s->broken = true;
			return false;
		}
		return true;
	}
}

static uint64_t first_deadline(const struct mw_state *s)
{
	uint64_t first = UINT64_MAX;

	for (int i = 0; i < MW_TIMERS; i++)
		first = s->timers[i].deadline < first ? s->timers[i].deadline : first;
	return first;
}

/* No other task could have the turn now. */
static bool is_lone(const struct model_world *m, uint32_t t)
{
	bool known = m->s->known && m->s->lease && m->p->code[t][m->s->task[t].pc].op == W_YIELD;

	if ((m->stop_always && !m->p->passes_anyway && !known) || first_deadline(m->s) != UINT64_MAX ||
	    m->s->nr > MAX_QUEUE)
		return false;
	for (uint32_t i = 0; i < MW_TASKS; i++)
		if (i != t && (m->s->task[i].life == READY ||
			       (m->s->task[i].life == BLOCKED && m->s->task[i].deadline)))
			return false;
	return true;
}

static struct misuse_memory memory_of(const struct mw_memory *s, unsigned int mutex)
{
	bool held = s->owner[mutex] != WORLD_NO_TASK;

	return (struct misuse_memory){
		.locked = held, .owner_known = held, .owner = s->owner[mutex], .fixed = true
	};
}

static unsigned int mutex_of(const struct zug_label *l)
{
	return number_of(l->op == ZUG_OP_COND_WAIT || l->op == ZUG_OP_COND_TIMEDWAIT ? l->object2
										     : l->object);
}

/* A time-out may be over, or a timer is to fire. */
static bool alarm_due(const struct mw_state *s)
{
	for (uint32_t t = 0; t < MW_TASKS; t++)
		if (s->task[t].life == BLOCKED && s->task[t].deadline && s->task[t].deadline <= s->clock)
			return true;
	return first_deadline(s) <= s->clock;
}

/* What is known of the operation before which a task stands: struct zug_pass. */
static bool may_pass(const struct model_world *m, uint32_t t)
{
	const struct mw_state *s = m->s;
	const struct mw_op *o = &m->p->code[t][s->task[t].pc];

	switch (o->op) {
	case W_LOCK:
		return s->owner[o->a] == WORLD_NO_TASK || (m->p->blind && s->owner[o->a] != t);
	case W_SPIN_LOCK:
		return s->owner[o->a] == WORLD_NO_TASK;
	case W_SEM_WAIT:
		return m->p->blind || s->sems[o->a];
	case W_UNLOCK:
	case W_SPIN_UNLOCK:
		return s->owner[o->a] == t;
	case W_WAIT:
	case W_TIMED_WAIT:
		return s->owner[o->b] == t;
	case W_TRYLOCK: case W_TIMEDLOCK: case W_SIGNAL: case W_BROADCAST: case W_SEM_POST: case W_SEM_TIMED:
	case W_READ: case W_WRITE: case W_STORE: case W_LOCAL: case W_LEAVE: case W_CREATE:
		return true;
	}
	return false;
}

/* What other tasks stand before has changed: W_LOCK, W_SEM_WAIT and their kin. */
static bool is_changed(const struct model_world *m, uint32_t t)
{
	const struct mw_state *s = m->s;

	for (uint32_t i = 0; i < MW_TASKS; i++) {
		const struct mw_op *o = &m->p->code[i][s->task[i].pc];

		if (i == t || s->task[i].life != READY)
			continue;
		if ((o->op == W_LOCK || o->op == W_SPIN_LOCK) && s->owner[o->a] != s->leased.owner[o->a])
			return true;
		if ((o->op == W_WAIT || o->op == W_TIMED_WAIT) && s->owner[o->b] != s->leased.owner[o->b])
			return true;
		if (o->op == W_SEM_WAIT && s->sems[o->a] != s->leased.sems[o->a])
			return true;
	}
	return false;
}

static uint64_t next_happening(const struct model_world *m);

/* Task t passes its point under its lease. */
static bool is_leased(struct model_world *m, uint32_t t)
{
	struct mw_state *s = m->s;

	if (s->until != SEARCH_UNTIL_DONE && s->woken)
		s->lease = 0;
	if (!s->lease || alarm_due(s) || !may_pass(m, t) || s->nr > MAX_QUEUE || next_happening(m) <= m->now ||
	    (s->until == SEARCH_UNTIL_CHANGE && is_changed(m, t)))
		s->lease = 0;
	return s->lease;
}

/* Task t has come to a point. true: it passes it. */
static bool stands(struct model_world *m, uint32_t t)
{
	struct mw_task *task = &m->s->task[t];
	const struct mw_op *o = op_of(m, t);
	struct world_event *ev;
	bool lone = is_lone(m, t), leased = !lone && is_leased(m, t);

	m->s->lease -= m->s->lease && (lone || leased);
	if (o->op == W_SLEEP || (o->op == W_YIELD && !(lone && m->s->known)))
		m->s->lease = 0;
	task->shown.label = label_of(m, t);
	task->shown.quits = o->op == W_EXIT && !task->process;
	task->shown.status = (uint8_t)o->imm;
	ev = tell(m, WORLD_POINT, t, lone ? TASK_RUNNING : TASK_PARKED);
	ev->passed = lone;
	ev->leased = leased;
	ev->ask = !lone;
	ev->yield = o->op == W_YIELD || o->op == W_SLEEP;
	if (task->shown.label.object >> 32 == MW_LOCKS ||
	    task->shown.label.object2 >> 32 == MW_LOCKS)
		m->s->queue[m->s->nr - 1].memory = memory_of(&m->s->queue[m->s->nr - 1].then,
							     mutex_of(&task->shown.label));
	return lone || leased;
}

/* From a grant, or after an uninterruptible wait, to the next stop. */
static void run(struct model_world *m, uint32_t t)
{
	struct mw_task *task = &m->s->task[t];

	for (;;) {
		if (task->fresh || task->silent) {
			task->fresh = task->silent = false;
		} else {
			if (!perform(m, t))
				return;
			task->pc++;
		}
		if (!settle(m, t) || !stands(m, t))
			return;
	}
}

/* ---- world.h ---- */

static int mw_start(struct world *w, bool stop_always, char *err, size_t errlen)
{
	struct model_world *m = mw(w);
	struct mw_state *s = m->s;

	free(s->queue);
	id_map_free(&s->told);
	*s = (struct mw_state){
		.stuck = WORLD_NO_TASK, .start = m->now, .tickets = 1, .status = -1,
		.stop_always = stop_always, .ahead = WORLD_NO_TASK,
	};
	memset(w->tasks, 0, w->nr_tasks * sizeof(*w->tasks));
	world_changed_all(w);
	memset(s->owner, 0xff, sizeof(s->owner));
	memcpy(s->sems, m->p->sems, sizeof(s->sems));
	memcpy(m->vars, m->p->vars, sizeof(m->vars));
	for (int i = 0; i < MW_TIMERS; i++)
		s->timers[i].deadline = UINT64_MAX;
	m->stop_always = stop_always;
	m->grants = m->nr_tends = 0;
	if (m->p->fails_start) {
		snprintf(err, errlen, "the model does not start");
		return m->p->fails_start;
	}
	for (uint32_t t = 0; t < m->p->nr_started; t++) {
		begin_task(m, t, WORLD_NO_TASK, false);
		tell(m, WORLD_NEW, t, TASK_BLOCKED);
	}
	for (uint32_t t = 0; t < m->p->nr_started; t++)
		stand_first(m, t);
	if (m->p->nr_started) {
		s->status = 0;
		tell(m, WORLD_ASK, WORLD_NO_TASK, 0)->ask = true;
		return 0;
	}
	begin_task(m, 0, WORLD_NO_TASK, true);
	tell(m, WORLD_POINT, 0, TASK_PARKED)->ask = true;
	return 0;
}

static void lend(struct model_world *m)
{
	struct world_event *ev;

	m->s->lent = true;
	m->s->task[m->s->stuck].life = BLOCKED;
	m->s->task[m->s->stuck].shown.wait = WAIT_UNKNOWN;
	ev = tell(m, WORLD_BLOCK, m->s->stuck, TASK_BLOCKED);
	snprintf(ev->text, sizeof(ev->text), "in the kernel, uninterruptible (the turn was lent)");
	ev->ask = true;
}

static void unstick(struct model_world *m)
{
	uint32_t t = m->s->stuck;

	m->s->stuck = WORLD_NO_TASK;
	if (m->s->lent)
		wake(m, t, WORLD_NO_TASK);
	else
		run(m, t);
}

/* What happens by the time alone, and is due. */
static void happen(struct model_world *m)
{
	struct mw_state *s = m->s;

	for (int i = 0; i < MW_ARRIVALS; i++) {
		const struct mw_arrival *a = &m->p->arrivals[i];

		if (!a->ns || s->arrived[i] || m->now < s->start + a->ns)
			continue;
		s->arrived[i] = true;
		if (a->kind == MW_POST) {
			post(m, a->a, WORLD_NO_TASK);
		} else {
			s->bytes[a->a]++;
			wake_for(m, mw_object(MW_PIPES, a->a), WORLD_NO_TASK, false);
		}
	}
	if (s->stuck != WORLD_NO_TASK && m->now >= s->stuck_until)
		unstick(m);
	else if (s->stuck != WORLD_NO_TASK && !s->lent && m->now - s->stuck_since > LEND_MS * MS)
		lend(m);
	for (uint32_t t = 0; t < MW_TASKS; t++)
		if (s->task[t].life == BLOCKED && s->task[t].real_deadline &&
		    m->now >= s->task[t].real_deadline) {
			s->task[t].expired = true;
			wake(m, t, WORLD_NO_TASK);
		}
}

/* When the next of that is. */
static uint64_t next_happening(const struct model_world *m)
{
	const struct mw_state *s = m->s;
	uint64_t next = UINT64_MAX;

	for (int i = 0; i < MW_ARRIVALS; i++)
		if (m->p->arrivals[i].ns && !s->arrived[i] &&
		    s->start + m->p->arrivals[i].ns < next)
			next = s->start + m->p->arrivals[i].ns;
	for (uint32_t t = 0; t < MW_TASKS; t++)
		if (s->task[t].life == BLOCKED && s->task[t].real_deadline &&
		    s->task[t].real_deadline < next)
			next = s->task[t].real_deadline;
	if (s->stuck != WORLD_NO_TASK && s->stuck_until < next)
		next = s->stuck_until;
	if (s->stuck != WORLD_NO_TASK && !s->lent && s->stuck_since + LEND_MS * MS + 1 < next)
		next = s->stuck_since + LEND_MS * MS + 1;
	return next;
}

static int mw_next(struct world *w, struct world_event *ev, int64_t timeout_us, char *err,
		   size_t errlen)
{
	struct model_world *m = mw(w);
	uint64_t until = m->now + (uint64_t)timeout_us * 1000;

	for (;;) {
		happen(m);
		if (deliver(m, ev))
			return 1;
		if (m->s->broken) {
			snprintf(err, errlen, "the model broke");
			return -EPIPE;
		}
		if (next_happening(m) > until)
			break;
		m->now = next_happening(m);
	}
	m->now = until;
	return 0;
}

static int mw_grant(struct world *w, uint32_t task)
{
	struct model_world *m = mw(w);

	if (m->s->ahead == task) {
		m->s->ahead = WORLD_NO_TASK;
		w->tasks[task].state = TASK_RUNNING;
		return 0;
	}
	m->s->lease = m->s->next_lease;
	m->s->known = m->s->next_known;
	m->s->until = m->s->next_until;
	m->s->next_lease = 0;
	m->s->woken = false;
	m->s->leased = memory_now(m->s);
	if (w->tasks[task].state != TASK_PARKED || m->s->task[task].life != READY) {
		printf("# the model was to grant T%u, which is not parked\n", task);
		abort();
	}
	m->grants++;
	world_changed(w, task);
	w->tasks[task].state = TASK_RUNNING;
	m->s->task[task].shown.state = TASK_RUNNING;
	run(m, task);
	return 0;
}

static void mw_lease(struct world *w, uint32_t nr, enum search_until until, bool known)
{
	mw(w)->s->next_known = known;
	mw(w)->s->next_lease = nr;
	mw(w)->s->next_until = until;
}

static void mw_status(struct world *w, struct world_status *st)
{
	struct model_world *m = mw(w);

	st->now = m->now;
	st->clock = m->s->clock;
	st->next_timer = first_deadline(m->s);
	st->ungranted = m->p->ungranted;
}

static bool mw_in_flight(struct world *w)
{
	return mw(w)->now < mw(w)->s->start + mw(w)->p->in_flight_ns;
}

static bool mw_would_block(struct world *w, const struct world_task *t, uint32_t *owner)
{
	struct model_world *m = mw(w);
	const struct mw_memory s = memory_told(m->s);
	unsigned int nr = number_of(t->label.object), op = t->label.op;

	if (owner) {
		*owner = WORLD_NO_TASK;
		if (op == ZUG_OP_LOCK || op == ZUG_OP_TIMEDLOCK || op == ZUG_OP_COND_WAIT)
			*owner = s.owner[mutex_of(&t->label)];
	}
	if (m->p->nr_started && s.relocks[t->task])
		return s.owner[number_of(t->label.object2)] != WORLD_NO_TASK;
	if (m->p->nr_started && op == ZUG_OP_JOIN)
		return !s.dead[nr];
	if (m->p->blind)
		return false;
	if (op == ZUG_OP_LOCK || op == ZUG_OP_SPIN_LOCK)
		return s.owner[nr] != WORLD_NO_TASK;
	return op == ZUG_OP_SEM_WAIT && !s.sems[nr];
}

static bool mw_lock_memory(struct world *w, const struct world_task *t, uint64_t object,
			   struct misuse_memory *memory)
{
	struct model_world *m = mw(w);
	const struct mw_memory told = memory_told(m->s);

	if (m->p->nr_started || object >> 32 != MW_LOCKS)
		return false;
	*memory = t->state == TASK_RUNNING ? m->s->task[t->task].memory
					   : memory_of(&told, number_of(object));
	return true;
}

/* As kworld/spin.c: proven when the whole state of the program was there before. */
static enum spin_verdict repeats(struct model_world *m, uint32_t t)
{
	struct mw_state *s = m->s;
	uint64_t h = mix64(s->task[t].pc + 1);

	for (int i = 0; i < MW_REGS; i++)
		h = mix64(h ^ (uint64_t)s->task[t].reg[i]);
	for (int i = 0; i < MW_OBJECTS; i++)
		h = mix64(h ^ (uint64_t)m->vars[i]);
	for (uint32_t i = 0; i < s->nr_seen; i++)
		if (s->seen[i] == h)
			return SPIN_PROVEN;
	if (s->nr_seen == MW_SEEN)
		return SPIN_NO;
	s->seen[s->nr_seen++] = h;
	return SPIN_AGAIN;
}

static int mw_stop(struct world *w, bool always)
{
	mw(w)->stop_always = always || mw(w)->s->stop_always;
	mw(w)->s->nr_seen = 0;
	return 0;
}

static enum spin_verdict mw_spins(struct world *w, const struct world_task *t)
{
	struct model_world *m = mw(w);
	const struct mw_op *o = op_of(m, t->task);
	bool early = m->s->task[t->task].trials++ < 2;

	if (o->op < W_LAST_POINT)
		return repeats(m, t->task);
	if (o->op == W_BUSY)
		return o->b == MW_PROVEN ? SPIN_PROVEN : SPIN_NO;
	if (o->op != W_COMPUTE || o->a == MW_COMPUTES)
		return SPIN_NO;
	if (o->a == MW_PROVEN || (o->a == MW_AGAIN_THEN_PROVEN && !early))
		return SPIN_PROVEN;
	return early ? SPIN_AGAIN : SPIN_NO;
}

/* The first timer of those that were set. */
static int fire(struct model_world *m)
{
	struct mw_state *s = m->s;
	uint64_t due = first_deadline(s);

	if (due == UINT64_MAX)
		return -ENOENT;
	if (s->clock < due)
		s->clock = due;
	for (int i = 0; i < MW_TIMERS; i++)
		if (s->timers[i].deadline == due) {
			s->timers[i].deadline = UINT64_MAX;
			post(m, s->timers[i].sem, WORLD_NO_TASK);
			break;
		}
	return 0;
}

static int mw_expire(struct world *w, uint32_t t)
{
	struct model_world *m = mw(w);
	struct mw_state *s = m->s;
	struct mw_task *task;

	if (t == WORLD_NO_TASK)
		return fire(m);
	task = &s->task[t];
	if (m->p->fails_expire)
		return m->p->fails_expire;
	if (task->life != BLOCKED || !task->deadline)
		return -EINVAL;
	if (s->clock < task->deadline)
		s->clock = task->deadline;
	task->life = READY;
	task->expired = !m->p->woken_meanwhile;
	if (!task->expired && task->waits) {
		task->waits = false;
		task->relocks = true;
	}
	task->deadline = task->shown.deadline = 0;
	task->shown.state = TASK_PARKED;
	task->shown.label.op = task->expired ? ZUG_OP_EXPIRE : ZUG_OP_RESUME;
	task->shown.label.flags = zug_op_flags(task->shown.label.op);
	w->tasks[t] = task->shown;
	world_changed(w, t);
	return 0;
}

static void mw_faults(struct world *w, const struct world_task *t, uint32_t wanted,
		      struct world_faults *f)
{
	struct model_world *m = mw(w);
	const struct mw_op *o = op_of(m, t->task);
	bool at_call = (o->op == W_CALL || o->op == W_GET) && !m->s->task[t->task].fresh &&
		       t->label.op != ZUG_OP_RESUME;

	memset(f, 0, sizeof(*f));
	f->possible = at_call ? o->faults & wanted : 0;
	for (int i = 0; i < FAULT_NR; i++)
		for (int k = 0; k < WORLD_FAULT_AMOUNTS && FLOWS & 1u << i; k++)
			if (o->amounts[k])
				f->amounts[i][f->nr_amounts[i]++] = o->amounts[k];
}

static int mw_inject(struct world *w, struct world_task *t, int fault, uint32_t amount)
{
	struct model_world *m = mw(w);
	struct mw_task *task = &m->s->task[t->task];
	const struct mw_op *o = op_of(m, t->task);

	if (o->answer)
		return o->answer;
	if (fault == FAULT_KILL) {
		end_process(m, t->task, SIGKILL, 0);
		return 1;
	}
	task->injected = true;
	task->fault = fault;
	task->amount = amount;
	if (amount)
		t->label.object2 = fault_amount_id(fault == FLOW_DELAY ? FAULT_MS : FAULT_BYTES,
						   t->task, amount);
	return 0;
}

static int mw_tend(struct world *w, uint64_t *ran_ns, char *err, size_t errlen)
{
	if (ran_ns)
		*ran_ns = mw(w)->s->ran_ns;
	mw(w)->nr_tends++;
	if (mw(w)->p->fails_tend)
		snprintf(err, errlen, "the model cannot go on");
	return mw(w)->p->fails_tend;
}

static int mw_drain(struct world *w, int *status, char *err, size_t errlen)
{
	mw(w)->drains++;
	*status = mw(w)->s->status;
	if (mw(w)->p->fails_drain)
		snprintf(err, errlen, "the model does not end");
	return mw(w)->p->fails_drain;
}

static int mw_stack(struct world *w, const struct world_task *t, struct trace_frame *frames,
		    int max)
{
	static const char *const functions[MW_TASKS] = { "f0", "f1", "f2", "f3",
							 "f4", "f5", "f6", "f7" };

	if (max < 1)
		return 0;
	frames[0] = (struct trace_frame){ .function = functions[t->task],
					  .file = "model.c",
					  .line = mw(w)->s->task[t->task].pc + 1u };
	return 1;
}

static int describe_object(struct model_world *m, struct trace_writer *t, uint64_t object)
{
	static const char *const kinds[] = { "",	 "mutex",  "cond", "semaphore",
					     "variable", "thread", "pipe" };
	char name[16];
	bool added;

	if (!object || object >> 32 > MW_PIPES || !id_map_add(&m->s->told, object, 0, &added) ||
	    !added)
		return 0;
	return trace_add_object(
		t, &(struct trace_object){ .object = object,
					   .kind = kinds[object >> 32],
					   .name = name_of(object, name, sizeof(name)) });
}

static int mw_describe(struct world *w, struct trace_writer *t, const struct zug_label *l)
{
	struct trace_frame frame = { .file = "model.c", .line = (uint32_t)(l->site & 0xffff) };
	char function[16];
	bool added;

	snprintf(function, sizeof(function), "f%u", (unsigned int)(l->site >> 16));
	frame.function = function;
	if (l->site && id_map_add(&mw(w)->s->told, ~l->site, 0, &added) && added)
		trace_add_site(t, &(struct trace_site){ .site = l->site,
							.module = UINT32_MAX,
							.offset = l->site,
							.nr_frames = 1,
							.frames = &frame });
	describe_object(mw(w), t, l->object);
	return describe_object(mw(w), t, l->object2);
}

static const char *mw_object_name(struct world *w, uint64_t object)
{
	static char name[16];

	(void)w;
	return object && object >> 32 <= MW_PIPES ? name_of(object, name, sizeof(name)) : NULL;
}

static const struct world_ops ops = {
	.start = mw_start, .next = mw_next, .grant = mw_grant, .lease = mw_lease, .status = mw_status, .in_flight = mw_in_flight,
	.would_block = mw_would_block, .lock_memory = mw_lock_memory, .spins = mw_spins, .stop = mw_stop, .expire = mw_expire,
	.faults = mw_faults, .inject = mw_inject, .tend = mw_tend, .drain = mw_drain, .stack = mw_stack,
	.describe = mw_describe, .object_name = mw_object_name,
};

struct model_world *mw_new(const struct mw_program *p, struct capture *c)
{
	struct model_world *m = calloc(1, sizeof(*m));

	if (!m)
		abort();
	m->w.ops = &ops;
	m->w.nr_tasks = MW_TASKS;
	m->w.changes.kept = m->w.changes.all = true;
	m->w.tasks = calloc(MW_TASKS, sizeof(*m->w.tasks));
	m->s = calloc(1, sizeof(*m->s));
	if (!m->w.tasks || !m->s)
		abort();
	m->p = p;
	m->c = c;
	m->now = 1000 * MS;
	return m;
}

void mw_free(struct model_world *m)
{
	free(m->s->queue);
	id_map_free(&m->s->told);
	free(m->s);
	free(m->w.tasks);
	free(m->w.changes.list);
	free(m);
}

/* ---- programs of tests/model ---- */

void mw_from_model(const struct model *from, struct mw_program *p, struct mw_op code[MW_TASKS][64])
{
	static const uint8_t ops_of[] = {
		[M_LOCK] = W_LOCK,	   [M_UNLOCK] = W_UNLOCK,     [M_TRYLOCK] = W_TRYLOCK,
		[M_WAIT] = W_WAIT,	   [M_SIGNAL] = W_SIGNAL,     [M_BROADCAST] = W_BROADCAST,
		[M_SEM_WAIT] = W_SEM_WAIT, [M_SEM_POST] = W_SEM_POST, [M_READ] = W_READ,
		[M_WRITE] = W_WRITE,	   [M_STORE] = W_STORE,	      [M_YIELD] = W_YIELD,
		[M_LOCAL] = W_LOCAL,	   [M_FORK] = W_CREATE,	      [M_JOIN] = W_JOIN,
		[M_END] = W_LEAVE,	   [M_SET] = W_SET,	      [M_JUMP] = W_JUMP,
		[M_JUMP_NE] = W_JUMP_NE,   [M_JUMP_EQ] = W_JUMP_EQ,   [M_ASSERT] = W_ASSERT,
	};

	memset(p, 0, sizeof(*p));
	p->nr_started = from->nr_started;
	for (int i = 0; i < MW_OBJECTS; i++) {
		p->sems[i] = from->sems[i];
		p->vars[i] = from->vars[i];
	}
	for (uint32_t t = 0; t < from->nr_tasks; t++) {
		for (uint32_t i = 0; i < from->len[t]; i++) {
			const struct model_step *o = &from->code[t][i];

			code[t][i] = (struct mw_op){ .op = ops_of[o->op],
						     .a = o->a,
						     .b = o->b,
						     .imm = o->imm,
						     .to = o->to };
		}
		code[t][from->len[t]] = (struct mw_op){ .op = W_END };
		p->code[t] = code[t];
	}
}
