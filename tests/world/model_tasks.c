/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * model_tasks.c - what the tasks of a model world do: their operations, locks, waits, ends, and the
 * events that tell it
 *
 * mw_run() is where to begin: what a task does from a grant to its next stop.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/base/array.h"
#include "model_world_internal.h"

#define STEP_NS		1000

static bool lives(const struct mw_state *s, uint32_t t)
{
	return s->task[t].life == READY || s->task[t].life == BLOCKED;
}

/* ---- labels ---- */

struct zug_label mw_label_of(struct model_world *m, uint32_t t)
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
		[W_CHOICE] = { ZUG_OP_CHOICE, 0 },
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
	l.flags = zug_op_flags(l.op) | (o->left_out ? ZUG_L_LEFT_OUT : 0) | (o->own ? ZUG_L_OWN : 0);
	/* where a model program of the search stands in a wait */
	if (m->p->nr_started && (task->waits || task->relocks)) {
		l.op = ZUG_OP_RESUME;
		l.flags = ZUG_L_WRITE | ZUG_L_ACQUIRE;
	}
	return l;
}

unsigned int mw_number_of(uint64_t object)
{
	return (unsigned int)(object & UINT32_MAX) - 1;
}

const char *mw_name_of(uint64_t object, char *buf, size_t len)
{
	static const char letters[] = "?mcsvtp";

	snprintf(buf, len, "%c%u", letters[object >> 32], mw_number_of(object));
	return buf;
}

/* ---- events ---- */

struct mw_memory mw_memory_now(const struct mw_state *s)
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

struct mw_memory mw_memory_told(const struct mw_state *s)
{
	return s->first < s->nr ? s->then : mw_memory_now(s);
}

struct world_event *mw_tell(struct model_world *m, enum world_event_kind kind, uint32_t t,
				enum task_state_kind state)
{
	struct mw_state *s = m->s;
	struct mw_event *e;

	if (!ARRAY_RESERVE(s->queue, s->room, s->nr + 1))
		abort();
	e = &s->queue[s->nr++];
	memset(e, 0, sizeof(*e));
	e->then = mw_memory_now(s);
	e->ev.kind = kind;
	e->ev.task = t;
	e->ev.waker = WORLD_NO_TASK;
	if (t != WORLD_NO_TASK) {
		s->task[t].shown.state = state;
		s->task[t].shown.begins = s->task[t].pc < m->p->starts[t];
		e->after = s->task[t].shown;
	}
	return &e->ev;
}

bool mw_deliver(struct model_world *m, struct world_event *ev)
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
	s->ahead = ev->handed ? ev->to : ev->leased ? ev->task : WORLD_NO_TASK;
	s->first++;
	if (s->first == s->nr)
		s->first = s->nr = 0;
	return true;
}

static bool virtual_time(const struct model_world *m)
{
	return !m->p->real_time;
}


/* Task t waits, or has ended, as *ev says: perhaps the plan knows who has the turn then. */
static void leaves(struct model_world *m, uint32_t t, struct world_event *ev)
{
	uint32_t to = m->s->planned && m->s->lease ? mw_follow_plan(m, t) : WORLD_NO_TASK;

	if (to == WORLD_NO_TASK || to == t)
		return;
	m->s->lease--;
	mw_plan_goes_on(m->s, to);
	m->s->to = to;
	ev->leased = ev->handed = true;
	ev->to = to;
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
	task->shown.any_time = task->deadline && m->p->any_time;
	task->shown.own_time = task->deadline && m->p->own_time;
	task->shown.installed = m->p->installed;
	if (m->p->nr_started)
		task->shown.label = mw_label_of(m, t);
	snprintf(task->shown.where, sizeof(task->shown.where), "%s", where);
	ev = mw_tell(m, WORLD_BLOCK, t, TASK_BLOCKED);
	ev->ask = true;
	if (op_of(m, t)->op == W_JOIN)
		leaves(m, t, ev);
	snprintf(ev->text, sizeof(ev->text), "%s", where);
	return 0;
}

void mw_wake(struct model_world *m, uint32_t t, uint32_t waker)
{
	struct mw_task *task = &m->s->task[t];
	struct zug_label *l = &task->shown.label;

	task->life = READY;
	m->s->woken = true;
	if (task->deadline)
		m->s->lease = 0;
	task->deadline = task->shown.deadline = 0;
	if (m->p->nr_started) {
		*l = mw_label_of(m, t);
	} else if (l->op != ZUG_OP_BEGIN) {
		l->op = ZUG_OP_RESUME;
		l->flags = zug_op_flags(ZUG_OP_RESUME);
	}
	mw_tell(m, WORLD_WAKE, t, TASK_PARKED)->waker = waker;
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

void mw_wake_for(struct model_world *m, uint64_t object, uint32_t waker, bool all)
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
		mw_wake(m, first, waker);
		if (!all)
			return;
	}
}

/* ---- the life of tasks ---- */

void mw_begin_task(struct model_world *m, uint32_t t, uint32_t parent, bool process)
{
	struct mw_state *s = m->s;
	struct mw_task *task = &s->task[t];

	*task = (struct mw_task){
		.life = READY, .parent = parent, .fresh = !m->p->nr_started, .fault = -1
	};
	s->created = true;
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
	mw_wake_for(m, mw_object(MW_TASK_OBJECTS, t), t, true);
	ev = mw_tell(m, WORLD_EXIT, t, TASK_DEAD);
	ev->site = site;
	ev->root = !s->task[t].process && !process_lives(s, 0);
	ev->ask = last && !ev->root;
	if (ev->ask && !site && !m->w.ends_stop)
		leaves(m, t, ev);
}

void mw_end_process(struct model_world *m, uint32_t t, int status, uint64_t site)
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
	ev = mw_tell(m, WORLD_FATAL, t, TASK_RUNNING);
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
		mw_wake_for(m, mw_object(MW_LOCKS, o->b), t, false);
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

void mw_post(struct model_world *m, unsigned int sem, uint32_t waker)
{
	m->s->sems[sem]++;
	mw_wake_for(m, mw_object(MW_SEMS, sem), waker, false);
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
			 mw_name_of(mw_object(MW_PIPES, o->a), name, sizeof(name)));
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

/* It stands before its operation. */
static void show_label(struct model_world *m, uint32_t t)
{
	const struct mw_op *o = op_of(m, t);

	m->s->task[t].shown.label = mw_label_of(m, t);
	m->s->task[t].shown.nr_values = o->op == W_CHOICE ? (uint32_t)o->imm : 0;
	m->s->task[t].shown.numbers = o->op == W_CHOICE && o->a;
}

void mw_stand_first(struct model_world *m, uint32_t t)
{
	if (!settle(m, t))
		return;
	show_label(m, t);
	mw_tell(m, WORLD_POINT, t, TASK_PARKED);
}

static void new_task(struct model_world *m, uint32_t t, const struct mw_op *o)
{
	mw_begin_task(m, o->a, t, o->op == W_FORK);
	if (m->s->planned && m->s->lease)
		mw_plan_born(m->s, o->a, t);
	mw_tell(m, WORLD_NEW, o->a, TASK_BLOCKED);
	if (m->p->nr_started)
		mw_stand_first(m, o->a);
	else
		mw_wake(m, o->a, t);
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
		task->shown.label = mw_label_of(m, t);
		mw_tell(m, WORLD_POINT, t, TASK_PARKED)->ask = true;
		return 0;
	case W_TRYLOCK:
		task->reg[o->b] = take(m, t, o->a);
		break;
	case W_TIMEDLOCK:
		return timed(m, t, o, take(m, t, o->a));
	case W_UNLOCK:
	case W_SPIN_UNLOCK:
		s->owner[o->a] = WORLD_NO_TASK;
		mw_wake_for(m, mw_object(MW_LOCKS, o->a), t, false);
		break;
	case W_WAIT:
	case W_TIMED_WAIT:
		return wait_here(m, t, o);
	case W_SIGNAL:
	case W_BROADCAST:
		mw_wake_for(m, mw_object(MW_CONDS, o->a), t, o->op == W_BROADCAST);
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
		mw_post(m, o->a, t);
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
	case W_CHOICE:
		task->reg[o->b] = task->value;
		break;
	case W_GET:
		return get_byte(m, t, o);
	case W_PUT:
		s->bytes[o->a]++;
		mw_wake_for(m, mw_object(MW_PIPES, o->a), t, false);
		break;
	case W_SLEEP:
		if (!task->expired && !task->ticket)
			return blocks(m, t, WAIT_INSIDE, "clock_nanosleep", (uint64_t)o->imm);
		task->expired = false;
		break;
	case W_TIMER:
		set_timer(s, o);
		s->lease = 0;
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
		mw_end_process(m, t, (int)o->imm << 8, 0);
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
	task->shown.label = mw_label_of(m, t);
	ev = mw_tell(m, WORLD_POINT, t, TASK_PARKED);
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
				mw_end_process(m, t, 0, 0);
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
			mw_end_process(m, t, SIGABRT, 0);
			return false;
		case W_CRASH:
			fatal(m, t, (int)o->imm, 0);
			mw_end_process(m, t, (int)o->imm, mw_site(t, task->pc));
			return false;
		case W_QUIT:
			if (!task->process)
				fatal(m, t, 0, (uint8_t)o->imm);
			mw_end_process(m, t, (int)o->imm << 8, 0);
			return false;
		case W_PRINT:
			print(m, o->text);
			continue;
		case W_SAY:
			snprintf(mw_tell(m, WORLD_MESSAGE, WORLD_NO_TASK, 0)->text, 256, "%s",
				 o->text);
			continue;
		case W_EXEC:
			snprintf(task->shown.comm, sizeof(task->shown.comm), "%s", o->text);
			snprintf(mw_tell(m, WORLD_EXEC, t, TASK_RUNNING)->text, 256, "%s", o->text);
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

uint64_t mw_first_deadline(const struct mw_state *s)
{
	uint64_t first = UINT64_MAX;

	for (int i = 0; i < MW_TIMERS; i++)
		first = s->timers[i].deadline < first ? s->timers[i].deadline : first;
	return first;
}

/* No other task could have the turn now. */
static bool is_lone(const struct model_world *m, uint32_t t)
{
	unsigned int op = m->p->code[t][m->s->task[t].pc].op;
	bool known = m->s->known && m->s->lease && op == W_YIELD;

	if (op == W_CHOICE || (m->stop_always && !m->p->passes_anyway && !known) || mw_first_deadline(m->s) != UINT64_MAX ||
	    m->s->nr > MW_MAX_QUEUE)
		return false;
	for (uint32_t i = 0; i < MW_TASKS; i++)
		if (i != t && (m->s->task[i].life == READY ||
			       (m->s->task[i].life == BLOCKED && m->s->task[i].deadline)))
			return false;
	return true;
}

struct misuse_memory mw_memory_of(const struct mw_memory *s, unsigned int mutex)
{
	bool held = s->owner[mutex] != WORLD_NO_TASK;

	return (struct misuse_memory){
		.locked = held, .owner_known = held, .owner = s->owner[mutex], .fixed = true
	};
}

unsigned int mw_mutex_of(const struct zug_label *l)
{
	return mw_number_of(l->op == ZUG_OP_COND_WAIT || l->op == ZUG_OP_COND_TIMEDWAIT ? l->object2
										     : l->object);
}

/* Task t has come to a point. true: it passes it. */
static bool stands(struct model_world *m, uint32_t t)
{
	struct mw_task *task = &m->s->task[t];
	const struct mw_op *o = op_of(m, t);
	struct world_event *ev;
	bool lone = is_lone(m, t), plans = m->s->planned && m->s->lease;
	uint32_t to = plans && !lone ? mw_follow_plan(m, t) : t;
	bool leased = !lone && (plans ? to != WORLD_NO_TASK : mw_is_leased(m, t));

	if (lone && plans && mw_plan_looks(m->s)) {
		if (mw_planned_step(m, t) != t)
			m->s->lease = 0;
	} else if (lone && plans) {
		mw_plan_counts(m->s, t);
	}
	m->s->lease -= m->s->lease && (lone || leased);
	if (lone && !plans && m->s->until == SEARCH_UNTIL_OWN && o->own)
		m->s->lease = 0;
	if (plans && (lone || leased))
		mw_plan_goes_on(m->s, to);
	if (o->op == W_SLEEP || (o->op == W_YIELD && !(lone ? m->s->known : leased)))
		m->s->lease = 0;
	show_label(m, t);
	task->shown.quits = o->op == W_EXIT && !task->process;
	task->shown.status = (uint8_t)o->imm;
	ev = mw_tell(m, WORLD_POINT, t, lone ? TASK_RUNNING : TASK_PARKED);
	ev->passed = lone;
	ev->leased = leased;
	ev->handed = leased && to != t;
	ev->to = to;
	if (ev->handed)
		m->s->to = to;
	ev->ask = !lone;
	ev->yield = o->op == W_YIELD || o->op == W_SLEEP || o->waits;
	if (task->shown.label.object >> 32 == MW_LOCKS ||
	    task->shown.label.object2 >> 32 == MW_LOCKS)
		m->s->queue[m->s->nr - 1].memory = mw_memory_of(&m->s->queue[m->s->nr - 1].then,
							     mw_mutex_of(&task->shown.label));
	return lone || (leased && to == t);
}

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

void mw_run(struct model_world *m, uint32_t t)
{
	do {
		m->s->to = WORLD_NO_TASK;
		m->s->task[t].shown.state = TASK_RUNNING;
		run(m, t);
		t = m->s->to;
	} while (t != WORLD_NO_TASK);
}
