/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * resources.c - what operations wait for
 *
 * A wait queues at once, and so belongs to the step before it; the step of the wait itself is that
 * the operation goes on, after the signal. A signal is a step, with a point before it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "lib/base/hash.h"
#include "search/rng.h"
#include "lib/zug/internal.h"
#include "lib/zug/under.h"

struct object *object_new(struct operation *creator, enum object_kind kind, const char *name, int *handle)
{
	uint32_t at = z.nr_objects, room = z.room_objects;
	struct object *o;

	*handle = ZUG_E_MANY;
	if (at >= RESOURCES - 1)
		return NULL;
	*handle = ZUG_E_MEMORY;
	if (!ARRAY_RESERVE(z.objects, z.room_objects, at + 1))
		return NULL;
	if (z.room_objects > room)
		memset(z.objects + room, 0, (z.room_objects - room) * sizeof(*z.objects));
	o = z.objects[at];
	if (!o)
		o = z.objects[at] = malloc(sizeof(*o));
	if (!o)
		return NULL;
	memset(o, 0, sizeof(*o));
	o->kind = kind;
	o->live = true;
	o->creator = creator->task;
	o->nth = creator->objects++;
	if (name)
		snprintf(o->name, sizeof(o->name), "%s", name);
	else
		snprintf(o->name, sizeof(o->name), "#%u of T%u", o->nth, o->creator);
	o->id = mix64(hash_bytes(HASH_BEGIN, o->name, strlen(o->name)) ^ ((uint64_t)creator->task << 40) ^
		      ((uint64_t)o->nth << 8) ^ kind) | 1;
	z.nr_objects++;
	*handle = (int)((z.execution & 0x7ff) << 20 | (at + 1));
	return o;
}

void objects_reset(void)
{
	z.nr_objects = 0;
}

struct object *object_of(int handle, enum object_kind kind, int *error)
{
	uint32_t at = ((uint32_t)handle & 0xfffff) - 1;

	*error = ZUG_E_UNKNOWN;
	if (handle <= 0 || (uint32_t)handle >> 20 != (z.execution & 0x7ff) || at >= z.nr_objects ||
	    z.objects[at]->kind != kind)
		return NULL;
	*error = ZUG_E_DELETED;
	if (!z.objects[at]->live)
		return NULL;
	*error = 0;
	return z.objects[at];
}

int zug_create_resource_named(const char *name)
{
	int handle;
	struct operation *me = op_self(&handle);

	if (under_zug)
		return under_create_resource(name);
	if (me)
		object_new(me, OBJECT_RESOURCE, name, &handle);
	return handle;
}

/* The resource, and the operation that asks for it. NULL: *error. */
static struct object *resource_of(int handle, struct operation **me, int *error)
{
	*me = op_self(error);
	return *me ? object_of(handle, OBJECT_RESOURCE, error) : NULL;
}

int zug_delete(int resource)
{
	int error;
	struct operation *me;
	struct object *o = resource_of(resource, &me, &error);

	if (under_zug)
		return under_delete(resource);
	if (!o)
		return error;
	if (o->first)
		return ZUG_E_BUSY;
	o->live = false;
	return 0;
}

/* ---- queues of waiters ---- */

static void queue(struct waiter *w)
{
	struct object *o = w->object;

	w->next = NULL;
	w->prev = o->last;
	if (o->last)
		o->last->next = w;
	else
		o->first = w;
	o->last = w;
	w->queued = true;
}

static void unqueue(struct waiter *w)
{
	struct object *o = w->object;

	if (!w->queued)
		return;
	if (w->prev)
		w->prev->next = w->next;
	else
		o->first = w->next;
	if (w->next)
		w->next->prev = w->prev;
	else
		o->last = w->prev;
	w->queued = false;
}

/* The first waiter is signalled. */
static void signal_first(struct object *o)
{
	struct waiter *w = o->first;
	struct operation *op = w->op;

	unqueue(w);
	if (op->signalled < 0)
		op->signalled = (int)(w - op->waiters);
	if (--op->nr_left)
		return;
	wait_over(op);
	op_signalled(op);
	/* the label of a wait for a condition is that of having its mutex again */
	op_need(op, op->relock ? NEED_MUTEX : NEED_NOTHING, op->relock);
}

void wait_over(struct operation *op)
{
	for (uint32_t i = 0; i < op->nr_waiters; i++)
		unqueue(&op->waiters[i]);
}

void object_signal(struct object *o, bool all)
{
	while (o->first) {
		signal_first(o);
		if (!all)
			break;
	}
}

/* The label of going on after a wait: more than two objects have no place in one, so it may concern anything. */
static struct zug_label wait_label(const struct operation *me, const char *file, int line, const char *func)
{
	struct zug_label l = op_label(ZUG_OP_RESOURCE_WAIT, 0, file, line, func);

	if (me->nr_waiters <= 2)
		l.object = me->waiters[0].object->id;
	if (me->nr_waiters == 2)
		l.object2 = me->waiters[1].object->id;
	return l;
}

/* Room for so many waiters. */
static bool reserve_waiters(struct operation *me, uint32_t nr)
{
	if (nr == 1 && !me->waiters) {
		me->waiters = &me->one;
		me->room_waiters = 1;
	}
	if (nr > me->room_waiters && me->waiters == &me->one) {
		me->waiters = NULL;
		me->room_waiters = 0;
	}
	return ARRAY_RESERVE(me->waiters, me->room_waiters, nr);
}

/* The waiters are there. */
static void queue_all(struct operation *me, uint32_t nr, uint32_t nr_left)
{
	me->nr_waiters = nr;
	for (uint32_t i = 0; i < nr; i++)
		queue(&me->waiters[i]);
	me->nr_left = nr_left;
	me->signalled = -1;
	op_need(me, NEED_SIGNAL, me->waiters[0].object);
	op_wait(me);
}

void wait_one(struct operation *me, struct object *o)
{
	reserve_waiters(me, 1);
	me->waiters[0] = (struct waiter){ .op = me, .object = o };
	queue_all(me, 1, 1);
}

/* Until nr_left of nr resources have been signalled; the index of the first one, or an error. */
static int wait_for(const int *list, int nr, uint32_t nr_left, const char *file, int line, const char *func)
{
	int error;
	struct operation *me = op_self(&error);
	struct zug_label label;

	if (!me)
		return error;
	if (!list || nr < 1)
		return ZUG_E_INVALID;
	if (!reserve_waiters(me, (uint32_t)nr))
		return ZUG_E_MEMORY;
	for (int i = 0; i < nr; i++) {
		struct object *o = object_of(list[i], OBJECT_RESOURCE, &error);

		if (!o)
			return error;
		me->waiters[i] = (struct waiter){ .op = me, .object = o };
	}
	me->nr_waiters = (uint32_t)nr;
	label = wait_label(me, file, line, func);
	z.cands[me->pos].label = label;
	queue_all(me, (uint32_t)nr, nr_left);
	error = op_point(me, &label);
	return error ? error : me->signalled;
}

int zug_at_wait_resource(int resource, const char *file, int line, const char *func)
{
	if (under_zug)
		return under_wait(&resource, 1, 1, CALLER);
	return wait_for(&resource, 1, 1, file, line, func);
}

int zug_at_wait_any(const int *list, int nr, const char *file, int line, const char *func)
{
	if (under_zug)
		return under_wait(list, nr, 1, CALLER);
	return wait_for(list, nr, 1, file, line, func);
}

int zug_at_wait_all(const int *list, int nr, const char *file, int line, const char *func)
{
	int ret = under_zug ? under_wait(list, nr, nr, CALLER) :
			      wait_for(list, nr, nr < 1 ? 1 : (uint32_t)nr, file, line, func);

	return ret > 0 ? 0 : ret;
}

static int do_signal(int resource, bool all, const char *file, int line, const char *func)
{
	int error;
	struct operation *me;
	struct object *o = resource_of(resource, &me, &error);
	struct zug_label label;

	if (!o)
		return error;
	label = op_label(all ? ZUG_OP_RESOURCE_SIGNAL_ALL : ZUG_OP_RESOURCE_SIGNAL, o->id, file, line, func);
	error = op_point(me, &label);
	if (error)
		return error;
	if (!o->live)
		return ZUG_E_DELETED;
	object_signal(o, all);
	return 0;
}

int zug_at_signal_resource(int resource, const char *file, int line, const char *func)
{
	if (under_zug)
		return under_signal(resource, false, CALLER);
	return do_signal(resource, false, file, line, func);
}

int zug_at_signal_all(int resource, const char *file, int line, const char *func)
{
	if (under_zug)
		return under_signal(resource, true, CALLER);
	return do_signal(resource, true, file, line, func);
}
