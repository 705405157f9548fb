/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * model_world.c - tasks, locks, pipes and a clock that exist in tables only, as the engine sees them
 * (engine/world.h); what the tasks do is in model_tasks.c
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/progress_check.h"
#include "engine/values.h"
#include "search/rng.h"
#include "tests/model/model.h"
#include "model_world_internal.h"

#define LEND_MS		2000

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
		mw_begin_task(m, t, WORLD_NO_TASK, false);
		mw_tell(m, WORLD_NEW, t, TASK_BLOCKED);
	}
	for (uint32_t t = 0; t < m->p->nr_started; t++)
		mw_stand_first(m, t);
	if (m->p->nr_started) {
		s->status = 0;
		mw_tell(m, WORLD_ASK, WORLD_NO_TASK, 0)->ask = true;
		return 0;
	}
	mw_begin_task(m, 0, WORLD_NO_TASK, true);
	mw_tell(m, WORLD_POINT, 0, TASK_PARKED)->ask = true;
	return 0;
}

static void lend(struct model_world *m)
{
	struct world_event *ev;

	m->s->lent = true;
	m->s->task[m->s->stuck].life = BLOCKED;
	m->s->task[m->s->stuck].shown.wait = WAIT_UNKNOWN;
	ev = mw_tell(m, WORLD_BLOCK, m->s->stuck, TASK_BLOCKED);
	snprintf(ev->text, sizeof(ev->text), "in the kernel, uninterruptible (the turn was lent)");
	ev->ask = true;
}

static void unstick(struct model_world *m)
{
	uint32_t t = m->s->stuck;

	m->s->stuck = WORLD_NO_TASK;
	if (m->s->lent)
		mw_wake(m, t, WORLD_NO_TASK);
	else
		mw_run(m, t);
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
			mw_post(m, a->a, WORLD_NO_TASK);
		} else {
			s->bytes[a->a]++;
			mw_wake_for(m, mw_object(MW_PIPES, a->a), WORLD_NO_TASK, false);
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
			mw_wake(m, t, WORLD_NO_TASK);
		}
}

uint64_t mw_next_happening(const struct model_world *m)
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
		if (mw_deliver(m, ev))
			return 1;
		if (m->s->broken) {
			snprintf(err, errlen, "the model broke");
			return -EPIPE;
		}
		if (mw_next_happening(m) > until)
			break;
		m->now = mw_next_happening(m);
	}
	m->now = until;
	return 0;
}

static int mw_grant(struct world *w, uint32_t task)
{
	struct model_world *m = mw(w);

	if (m->s->ahead == task) {
		m->s->ahead = WORLD_NO_TASK;
		world_changed(w, task);
		w->tasks[task].state = TASK_RUNNING;
		return 0;
	}
	m->s->lease = m->s->next_lease;
	m->s->known = m->s->next_known;
	m->s->yields = m->s->next_yields;
	m->s->until = m->s->next_until;
	m->s->lease_clock = m->s->next_lease_clock;
	m->s->planned = m->s->next_planned;
	m->s->plan = m->s->next_plan;
	m->s->run = m->s->choices = 0;
	m->s->holder = task;
	for (uint32_t i = 0; i < MW_TASKS; i++)
		m->s->rounds[i] = i < w->nr_tasks && w->tasks[i].rounds ? w->tasks[i].rounds : PROGRESS_ROUNDS;
	memset(m->s->ranks, 0, sizeof(m->s->ranks));
	memset(m->s->met, 0, sizeof(m->s->met));
	for (uint32_t i = 0; i < m->s->plan.nr_weights; i++)
		m->s->ranks[m->s->plan.weights[i].task] = m->s->plan.weights[i].weight;
	m->s->to = WORLD_NO_TASK;
	m->s->next_lease = 0;
	m->s->next_planned = false;
	m->s->woken = m->s->created = false;
	m->s->leased = mw_memory_now(m->s);
	if (w->tasks[task].state != TASK_PARKED || m->s->task[task].life != READY) {
		printf("# the model was to grant T%u, which is not parked\n", task);
		abort();
	}
	m->grants++;
	world_changed(w, task);
	w->tasks[task].state = TASK_RUNNING;
	m->s->task[task].shown.state = TASK_RUNNING;
	mw_run(m, task);
	return 0;
}

static void mw_lease(struct world *w, uint32_t nr, enum search_until until, uint64_t clock, bool known,
		     const struct world_plan *plan)
{
	struct mw_state *s = mw(w)->s;

	s->next_known = known;
	s->next_yields = w->yields;
	s->next_lease = nr;
	s->next_until = until;
	s->next_lease_clock = clock;
	/* a program of tests/model knows more than its operations show */
	s->next_planned = plan && !mw(w)->p->nr_started && !mw(w)->p->unplanned;
	if (!s->next_planned)
		return;
	s->next_plan = *plan;
	s->next_lease = plan->nr;
	s->next_until = !plan->rule.shares && ((plan->rule.by == SEARCH_BY_DRAWS && !plan->rule.open) ||
					       plan->rule.by == SEARCH_BY_SELECTION) ?
				SEARCH_UNTIL_WAKE : SEARCH_UNTIL_DONE;
}

static void mw_status(struct world *w, struct world_status *st)
{
	struct model_world *m = mw(w);

	st->now = m->now;
	st->clock = m->s->clock;
	st->next_timer = mw_first_deadline(m->s);
	st->ungranted = m->p->ungranted;
	st->quiet = m->s->task[0].pc < m->p->begins;
	st->several = m->p->several;
}

static bool mw_in_flight(struct world *w)
{
	return mw(w)->now < mw(w)->s->start + mw(w)->p->in_flight_ns;
}

static bool mw_would_block(struct world *w, const struct world_task *t, uint32_t *owner)
{
	struct model_world *m = mw(w);
	const struct mw_memory s = mw_memory_told(m->s);
	unsigned int nr = mw_number_of(t->label.object), op = t->label.op;

	if (owner) {
		*owner = WORLD_NO_TASK;
		if (op == ZUG_OP_LOCK || op == ZUG_OP_TIMEDLOCK || op == ZUG_OP_COND_WAIT)
			*owner = s.owner[mw_mutex_of(&t->label)];
	}
	if (m->p->nr_started && s.relocks[t->task])
		return s.owner[mw_number_of(t->label.object2)] != WORLD_NO_TASK;
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
	const struct mw_memory told = mw_memory_told(m->s);

	if (m->p->nr_started || object >> 32 != MW_LOCKS)
		return false;
	*memory = t->state == TASK_RUNNING ? m->s->task[t->task].memory
					   : mw_memory_of(&told, mw_number_of(object));
	return true;
}

/* As kworld/spin.c: where the task itself is. */
static uint64_t standing(const struct mw_state *s, uint32_t t)
{
	uint64_t h = mix64(s->task[t].pc + 1);

	for (int i = 0; i < MW_REGS; i++)
		h = mix64(h ^ (uint64_t)s->task[t].reg[i]);
	return h;
}

static uint64_t mw_standing(struct world *w, const struct world_task *t)
{
	return t->state == TASK_PARKED ? standing(mw(w)->s, t->task) | 1 : 0;
}

/* As kworld/spin.c: proven when the whole state of the program was there before. */
static enum spin_verdict repeats(struct model_world *m, uint32_t t)
{
	struct mw_state *s = m->s;
	uint64_t h = standing(s, t);

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
	uint64_t due = mw_first_deadline(s);

	if (due == UINT64_MAX)
		return -ENOENT;
	if (s->clock < due)
		s->clock = due;
	for (int i = 0; i < MW_TIMERS; i++)
		if (s->timers[i].deadline == due) {
			s->timers[i].deadline = UINT64_MAX;
			mw_post(m, s->timers[i].sem, WORLD_NO_TASK);
			/* others stand before it */
			world_changed_all(&m->w);
			break;
		}
	return 0;
}

static bool mw_timer_kills(struct world *w)
{
	return mw(w)->p->watchdog;
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

static int mw_choose(struct world *w, struct world_task *t, uint32_t value)
{
	struct model_world *m = (struct model_world *)w;

	m->s->task[t->task].value = value;
	t->label.object2 = value_object(value);
	return 0;
}

static int mw_inject(struct world *w, struct world_task *t, int fault, uint32_t amount)
{
	struct model_world *m = mw(w);
	struct mw_task *task = &m->s->task[t->task];
	const struct mw_op *o = op_of(m, t->task);

	if (o->answer)
		return o->answer;
	if (fault == FAULT_KILL) {
		mw_end_process(m, t->task, SIGKILL, 0);
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
					   .name = mw_name_of(object, name, sizeof(name)) });
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
	return object && object >> 32 <= MW_PIPES ? mw_name_of(object, name, sizeof(name)) : NULL;
}

static const struct world_ops ops = {
	.start = mw_start, .next = mw_next, .grant = mw_grant, .lease = mw_lease, .status = mw_status, .in_flight = mw_in_flight,
	.would_block = mw_would_block, .lock_memory = mw_lock_memory, .spins = mw_spins, .standing = mw_standing, .stop = mw_stop,
	.expire = mw_expire, .timer_kills = mw_timer_kills,
	.faults = mw_faults, .inject = mw_inject, .choose = mw_choose, .tend = mw_tend, .drain = mw_drain, .stack = mw_stack,
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
		[M_CHOICE] = W_CHOICE,	   [M_LOCAL] = W_LOCAL,	   [M_FORK] = W_CREATE,	      [M_JOIN] = W_JOIN,
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
