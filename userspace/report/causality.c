// SPDX-License-Identifier: GPL-2.0-only
/*
 * causality.c - one pass over a trace that finds waits and arrows
 *
 * The pass follows each task (struct task_state) and each object (struct object_state) through the
 * steps and the notes between them. A wait begins when a task leaves the enabled set and ends when
 * it comes back (follow_enabled()). An arrow leads from the last step that released, wrote or read
 * an object to the step that acts on it next (follow_object()), or from the step of a waker to the
 * next step of the task that it woke. Start with causality_init().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "lib/base/id_map.h"
#include "report/causality.h"

#define NO_STEP UINT64_MAX

struct task_state {
	uint32_t task;
	bool alive, gone, waits;
	uint64_t last;			/* its last step */
	uint64_t *steps;		/* all of its steps */
	uint64_t nr, next;
	struct causality_wait wait;	/* the open wait */
	const struct trace_note *block;	/* a block without a wake so far */
	uint64_t woken_from;		/* step of the waker; NO_STEP: none since its last step */
	uint64_t created;		/* its last step that created a task */
	uint64_t asked;			/* a lock that it has asked for and may not have got yet */
};

struct object_state {
	uint32_t holder;
	uint64_t release, write, read;	/* the last step of each kind */
	uint64_t linked;		/* the last step with an arrow from `write` */
};

struct pass {
	const struct trace *t;
	struct causality *c;
	struct id_map task_index, object_index;
	struct task_state *tasks;
	struct object_state *objects;
	size_t nr_tasks, tasks_room, nr_objects, objects_room;
	const uint32_t *enabled;
	uint32_t nr_enabled;
};

static int add_task(struct pass *p, uint32_t task)
{
	bool added;

	if (task == TRACE_NO_TASK)
		return 0;
	if (!ARRAY_RESERVE(p->tasks, p->tasks_room, p->nr_tasks + 1) ||
	    !id_map_add(&p->task_index, task, p->nr_tasks, &added))
		return -ENOMEM;
	if (added)
		p->tasks[p->nr_tasks++] = (struct task_state){
			.task = task, .last = NO_STEP, .created = NO_STEP, .woken_from = NO_STEP,
		};
	return 0;
}

/* collect() has added every task that the trace names. */
static struct task_state *task_state(struct pass *p, uint32_t task)
{
	return &p->tasks[*id_map_find(&p->task_index, task)];
}

/* NULL: out of memory. */
static struct object_state *object_state(struct pass *p, uint64_t object)
{
	bool added;
	uint32_t *nr;

	if (!ARRAY_RESERVE(p->objects, p->objects_room, p->nr_objects + 1))
		return NULL;
	nr = id_map_add(&p->object_index, object, p->nr_objects, &added);
	if (!nr)
		return NULL;
	if (added)
		p->objects[p->nr_objects++] = (struct object_state){
			TRACE_NO_TASK, NO_STEP, NO_STEP, NO_STEP, NO_STEP
		};
	return &p->objects[*nr];
}

static uint32_t task_of(const struct pass *p, uint64_t step)
{
	return trace_step(p->t, step)->task;
}

static int arrow(struct pass *p, uint64_t from, uint64_t to, enum causality_kind kind)
{
	struct causality *c = p->c;

	if (from == NO_STEP || task_of(p, from) == task_of(p, to))
		return 0;
	for (size_t i = c->nr_arrows; i-- > 0 && c->arrows[i].to == to;)
		if (c->arrows[i].from == from)
			return 0;
	if (!ARRAY_RESERVE(c->arrows, c->arrows_room, c->nr_arrows + 1))
		return -ENOMEM;
	c->arrows[c->nr_arrows++] = (struct causality_arrow){ from, to, kind };
	return 0;
}

/* ---- waits ---- */

/* A task waits for what the kernel says that it blocks on; else for what it is parked before. */
static int wait_begins(struct pass *p, struct task_state *w, uint64_t at)
{
	const struct zug_label *pending = w->next < w->nr ?
		&trace_step(p->t, w->steps[w->next])->label : NULL;
	const struct zug_label *doing = w->last == NO_STEP ? NULL : &trace_step(p->t, w->last)->label;
	struct causality_wait *wait = &w->wait;
	struct object_state *o;

	*wait = (struct causality_wait){ .from = at, .task = w->task, .holder = TRACE_NO_TASK };
	if (w->block) {
		wait->object = w->block->object;
		wait->text = w->block->text;
		/* a task that blocks in "futex" when it was about to lock waits for the lock */
		if (!wait->object && doing && (doing->flags | zug_op_flags(doing->op)) & ZUG_L_ACQUIRE)
			wait->object = doing->object;
	} else if (pending && (pending->flags | zug_op_flags(pending->op)) & ZUG_L_ACQUIRE) {
		wait->object = pending->object;
	}
	w->waits = true;
	if (!wait->object)
		return 0;
	o = object_state(p, wait->object);
	if (!o)
		return -ENOMEM;
	wait->holder = o->holder == w->task ? TRACE_NO_TASK : o->holder;
	return 0;
}

static int wait_ends(struct pass *p, struct task_state *w, uint64_t at)
{
	struct causality *c = p->c;

	if (!w->waits)
		return 0;
	w->waits = false;
	w->wait.to = at;
	if (at == w->wait.from && at < trace_nr_steps(p->t))
		return 0;
	if (!ARRAY_RESERVE(c->waits, c->waits_room, c->nr_waits + 1))
		return -ENOMEM;
	c->waits[c->nr_waits++] = w->wait;
	return 0;
}

static int follow_enabled(struct pass *p, const struct trace_step *s)
{
	uint32_t i = 0, k = 0;
	int ret = 0;

	/* a trace that was read keeps equal sets in one array */
	if (s->enabled == p->enabled)
		return 0;
	while (!ret && (i < p->nr_enabled || k < s->nr_enabled)) {
		if (k == s->nr_enabled || (i < p->nr_enabled && p->enabled[i] < s->enabled[k])) {
			struct task_state *w = task_state(p, p->enabled[i++]);

			if (!w->gone && !w->waits)
				ret = wait_begins(p, w, s->step);
		} else {
			struct task_state *w = task_state(p, s->enabled[k]);

			if (i < p->nr_enabled && p->enabled[i] == s->enabled[k])
				i++;
			w->alive = true;
			ret = wait_ends(p, w, s->step);
			k++;
		}
	}
	p->enabled = s->enabled;
	p->nr_enabled = s->nr_enabled;
	return ret;
}

static int follow_note(struct pass *p, const struct trace_note *n, uint64_t at)
{
	struct task_state *w;
	int ret = 0;

	if (n->task == TRACE_NO_TASK)
		return 0;
	w = task_state(p, n->task);
	switch (n->kind) {
	case TRACE_NOTE_BLOCK:
		w->block = n;
		w->alive = true;
		/*
		 * it may have left the enabled set earlier, because its next operation would block
		 */
		if (w->waits && !w->wait.text)
			w->wait.text = n->text;
		break;
	case TRACE_NOTE_WAKE:
		w->block = NULL;
		w->alive = true;
		if (n->arg != TRACE_NO_TASK && w->woken_from == NO_STEP) {
			const struct task_state *by = task_state(p, n->arg);

			/* the C library takes further steps after the one that creates a thread */
			w->woken_from = w->last == NO_STEP && by->created != NO_STEP ? by->created : by->last;
		}
		break;
	case TRACE_NOTE_EXIT:
		w->gone = true;
		/* an exiting task is not enabled, but it does not wait */
		if (w->waits && !w->block)
			w->waits = false;
		ret = wait_ends(p, w, at);
		break;
	}
	return ret;
}

/*
 * A task that blocks after the last decision is missing from no enabled set: there is none after
 * it.
 */
static int wait_at_end(struct pass *p, struct task_state *w, uint64_t nr)
{
	int ret = 0;

	if (!w->alive || w->gone)
		return 0;
	if (!w->waits && w->block)
		ret = wait_begins(p, w, nr);
	return ret ? ret : wait_ends(p, w, nr);
}

/* ---- arrows ---- */

static bool is_sync(unsigned int op)
{
	return (op >= ZUG_OP_LOCK && op < ZUG_OP_CREATE) || op == ZUG_OP_RESUME ||
	       op == ZUG_OP_FUTEX_WAIT || op == ZUG_OP_FUTEX_WAKE || op == ZUG_OP_FLOCK;
}

/*
 * A task that resumes after a wait has got what it waited for. One that begins to wait for a
 * condition or a barrier has not.
 */
static bool acquires(const struct trace_step *s)
{
	switch (s->label.op) {
	case ZUG_OP_RESUME:
		return true;
	case ZUG_OP_COND_WAIT:
	case ZUG_OP_COND_TIMEDWAIT:
	case ZUG_OP_BARRIER_WAIT:
		return false;
	}
	return (s->label.flags | zug_op_flags(s->label.op)) & ZUG_L_ACQUIRE;
}

static int follow_object(struct pass *p, const struct trace_step *s, uint64_t object)
{
	unsigned int flags = s->label.flags | zug_op_flags(s->label.op);
	struct object_state *o;
	int ret = 0;

	if (!object)
		return 0;
	o = object_state(p, object);
	if (!o)
		return -ENOMEM;
	if (is_sync(s->label.op)) {
		if (o->release != NO_STEP && acquires(s))
			ret = arrow(p, o->release, s->step, CAUSALITY_SYNC);
		if (flags & ZUG_L_RELEASE)
			o->release = s->step;
		return ret;
	}
	if (o->write != NO_STEP && (o->linked == NO_STEP || o->linked < o->write ||
				     task_of(p, o->linked) != s->task)) {
		ret = arrow(p, o->write, s->step, CAUSALITY_DATA);
		o->linked = s->step;
	}
	if (!(flags & ZUG_L_WRITE)) {
		o->read = s->step;
		return ret;
	}
	if (!ret && o->read != NO_STEP && (o->write == NO_STEP || o->read > o->write))
		ret = arrow(p, o->read, s->step, CAUSALITY_DATA);
	o->write = s->step;
	return ret;
}

/*
 * As in report_wait.c: a task that takes another step after it asked for a lock has got the lock.
 */
static int follow_locks(struct pass *p, struct task_state *w, const struct trace_step *s)
{
	struct object_state *o;

	if (s->label.op == ZUG_OP_RESUME)
		return 0;
	if (w->asked) {
		o = object_state(p, w->asked);
		if (!o)
			return -ENOMEM;
		o->holder = w->task;
		w->asked = 0;
	}
	switch (s->label.op) {
	case ZUG_OP_LOCK:
	case ZUG_OP_WRLOCK:
	case ZUG_OP_RDLOCK:
	case ZUG_OP_SPIN_LOCK:
		w->asked = s->label.object;
		o = w->asked ? object_state(p, w->asked) : NULL;
		if (o && o->holder == TRACE_NO_TASK) {
			o->holder = w->task;
			w->asked = 0;
		}
		return o || !w->asked ? 0 : -ENOMEM;
	case ZUG_OP_UNLOCK:
	case ZUG_OP_RWUNLOCK:
	case ZUG_OP_SPIN_UNLOCK:
		o = s->label.object ? object_state(p, s->label.object) : NULL;
		if (o && o->holder == w->task)
			o->holder = TRACE_NO_TASK;
		break;
	case ZUG_OP_COND_WAIT:
	case ZUG_OP_COND_TIMEDWAIT:
		o = s->label.object2 ? object_state(p, s->label.object2) : NULL;
		if (o && o->holder == w->task)
			o->holder = TRACE_NO_TASK;
		w->asked = s->label.object2;
		break;
	}
	return 0;
}

static int follow_step(struct pass *p, const struct trace_step *s)
{
	struct task_state *w = task_state(p, s->task);
	int ret;

	ret = wait_ends(p, w, s->step);
	if (!ret && w->woken_from != NO_STEP)
		ret = arrow(p, w->woken_from, s->step,
			    w->last == NO_STEP ? CAUSALITY_START : CAUSALITY_WAKE);
	if (!ret)
		ret = follow_object(p, s, s->label.object);
	if (!ret && s->label.object2 != s->label.object)
		ret = follow_object(p, s, s->label.object2);
	if (!ret)
		ret = follow_locks(p, w, s);
	w->woken_from = NO_STEP;
	w->block = NULL;
	w->alive = true;
	w->last = s->step;
	if (s->label.op == ZUG_OP_CREATE || s->label.op == ZUG_OP_FORK)
		w->created = s->step;
	w->next++;
	return ret;
}

/* ---- */

/* Adds all tasks that the trace names, and lists the steps of each. */
static int collect(struct pass *p)
{
	uint64_t nr = trace_nr_steps(p->t);
	const uint32_t *enabled = NULL;
	int ret = 0;

	for (uint64_t i = 0; i <= nr && !ret; i++) {
		const struct trace_step *s = i < nr ? trace_step(p->t, i) : NULL;

		for (uint32_t k = 0, n = trace_nr_notes(p->t, i); k < n && !ret; k++) {
			ret = add_task(p, trace_note_at(p->t, i, k)->task);
			if (!ret && trace_note_at(p->t, i, k)->kind == TRACE_NOTE_WAKE)
				ret = add_task(p, trace_note_at(p->t, i, k)->arg);
		}
		if (!s || ret)
			continue;
		ret = add_task(p, s->task);
		for (uint32_t k = 0; s->enabled != enabled && k < s->nr_enabled && !ret; k++)
			ret = add_task(p, s->enabled[k]);
		enabled = s->enabled;
		if (!ret)
			task_state(p, s->task)->nr++;
	}
	for (size_t i = 0; i < p->nr_tasks && !ret; i++) {
		p->tasks[i].steps = calloc(p->tasks[i].nr + 1, sizeof(uint64_t));
		ret = p->tasks[i].steps ? 0 : -ENOMEM;
		p->tasks[i].nr = 0;
	}
	for (uint64_t i = 0; i < nr && !ret; i++) {
		struct task_state *w = task_state(p, task_of(p, i));

		w->steps[w->nr++] = i;
	}
	return ret;
}

static int compare_waits(const void *a, const void *b)
{
	const struct causality_wait *x = a, *y = b;

	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

int causality_init(struct causality *c, const struct trace *t)
{
	struct pass p = { .t = t, .c = c };
	uint64_t nr = trace_nr_steps(t);
	int ret;

	*c = (struct causality){ 0 };
	ret = collect(&p);
	for (uint64_t i = 0; i <= nr && !ret; i++) {
		for (uint32_t k = 0, n = trace_nr_notes(t, i); k < n && !ret; k++)
			ret = follow_note(&p, trace_note_at(t, i, k), i);
		if (i == nr || ret)
			break;
		ret = follow_enabled(&p, trace_step(t, i));
		if (!ret)
			ret = follow_step(&p, trace_step(t, i));
	}
	for (size_t i = 0; i < p.nr_tasks; i++) {
		if (!ret)
			ret = wait_at_end(&p, &p.tasks[i], nr);
		free(p.tasks[i].steps);
	}
	if (!ret && c->nr_waits)
		qsort(c->waits, c->nr_waits, sizeof(*c->waits), compare_waits);
	free(p.tasks);
	free(p.objects);
	id_map_free(&p.task_index);
	id_map_free(&p.object_index);
	return ret;
}

void causality_release(struct causality *c)
{
	free(c->waits);
	free(c->arrows);
	*c = (struct causality){ 0 };
}
