/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * primitives.c - locks, conditions, semaphores and barriers of POSIX and C11 as operations' objects
 *
 * zug_pthread.h turns the calls of a program into these. An object is known by its address. What is
 * static has the same identity in all executions; anything else is numbered by the operation that
 * comes to use it first, as in zug's own traces. Labels, and what needs what, are as in the models of
 * tests/model.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "lib/base/hash.h"
#include "search/identity.h"
#include "search/misuse.h"
#include "search/rng.h"
#include "lib/zug/internal.h"
#define ZUG_PTHREAD_NO_NAMES
#include "lib/zug/zug_pthread.h"

/* Static data: its identity, by address; 0: the address is none of static data. */
static struct id_map static_index;
static uint64_t *static_ids;
static uint32_t nr_static, room_static;

/* The linker's: where a static program lies, in which dladdr() knows nothing. */
extern const char __executable_start[] __attribute__((weak)), _end[] __attribute__((weak));

static uint64_t place_id(const char *file, const void *addr, const void *start)
{
	return mix64(hash_bytes(HASH_BEGIN, file, strlen(file)) ^
		     (uint64_t)((const char *)addr - (const char *)start)) | 1;
}

static bool in_static_program(const void *addr)
{
	return __executable_start && _end && (uintptr_t)addr >= (uintptr_t)__executable_start &&
	       (uintptr_t)addr < (uintptr_t)_end;
}

static uint64_t static_id(const void *addr)
{
	bool added;
	uint32_t *at = id_map_add(&static_index, (uintptr_t)addr, nr_static, &added);
	Dl_info info;
	const char *base;

	if (!at)
		return 0;
	if (!added)
		return static_ids[*at];
	if (!ARRAY_RESERVE(static_ids, room_static, nr_static + 1))
		return 0;
	static_ids[nr_static] = 0;
	if (dladdr(addr, &info) && info.dli_fname) {
		base = strrchr(info.dli_fname, '/');
		base = base ? base + 1 : info.dli_fname;
		static_ids[nr_static] = place_id(base, addr, info.dli_fbase);
	} else if (in_static_program(addr)) {
		static_ids[nr_static] = place_id("", addr, __executable_start);
	}
	return static_ids[nr_static++];
}

void primitives_reset(void)
{
	id_map_clear(&z.primitives);
}

/* The object at that address, made when it is new, or (anew) begun again. */
static struct object *object_at(struct operation *me, const void *addr, enum object_kind kind, const char *name, bool anew)
{
	uint32_t *at = id_map_find(&z.primitives, (uintptr_t)addr);
	struct object *o, *before = at && z.objects[*at]->kind == kind ? z.objects[*at] : NULL;
	uint64_t id;
	int handle;

	if (before && !anew)
		return before;
	while (name && (*name == '&' || *name == '('))
		name++;
	o = object_new(me, kind, name, &handle);
	if (!o)
		return NULL;
	id = static_id(addr);
	o->fixed = id;
	o->before = before;
	o->id = id ? id : zug_object_numbered(me->task, me->numbered++);
	if (at)
		*at = z.nr_objects - 1;
	else
		id_map_add(&z.primitives, (uintptr_t)addr, z.nr_objects - 1, NULL);
	return o;
}

static int misuse(struct operation *me, enum misuse_kind kind, const struct object *o, uint64_t site)
{
	return end_fail(me, ZUG_OUTCOME_MISUSE, identity_misuse(kind, site), "T%u (%s): %s: %s", me->task, me->name,
			misuse_text(kind), o->name);
}

bool zug_is_operation(void)
{
	int error;

	return op_now(&error) != NULL;
}

/* The caller and its object; out of memory ends the execution. */
#define BEGIN(me, o, addr, kind, name, anew)	\
	int error;							\
	struct operation *me = op_self(&error);				\
	struct object *o;						\
	struct zug_label label;						\
									\
	if (!me)							\
		return EINVAL;						\
	o = object_at(me, addr, kind, name, anew);			\
	if (!o)								\
		return ENOMEM

/* It stands before the operation until that would not block. */
static int point(struct operation *me, struct zug_label *label, enum need need, struct object *o)
{
	z.cands[me->pos].label = *label;
	if (need != NEED_NOTHING)
		op_need(me, need, o);
	return op_point(me, label) ? EINVAL : 0;
}

/* The same, before that operation on the object. */
static int step(struct operation *me, struct zug_label *label, unsigned int op, enum need need, struct object *o, ZUG_AT)
{
	int error;

	*label = op_label(op, o->id, file, line, func);
	if (o->destroyed && o->fixed)
		return misuse(me, MISUSE_USE_DESTROYED, o, label->site);
	error = point(me, label, need, o);
	if (!error && o->destroyed && o->fixed)
		return misuse(me, MISUSE_USE_DESTROYED, o, label->site);
	return error;
}

static bool is_used(const struct object *o)
{
	return o->first || o->pending || o->owner || (o->kind == OBJECT_RWLOCK && o->count);
}

/* An init call. What is not static may have been freed in any state: only waiters show that it is still the same. */
static int init(struct operation *me, struct zug_label *label, unsigned int op, struct object *o, ZUG_AT)
{
	const struct object *b = o->before;
	int error = step(me, label, op, NEED_NOTHING, o, file, line, func);

	if (error)
		return error;
	o->begun = true;
	if (b && !b->destroyed && (b->first || b->pending || (o->fixed && is_used(b))))
		return misuse(me, MISUSE_INIT_USED, o, label->site);
	if (b && !b->destroyed && b->begun && o->fixed)
		return misuse(me, MISUSE_INIT_TWICE, o, label->site);
	return 0;
}

static int destroy(enum object_kind kind, unsigned int op, void *addr, const char *name, ZUG_AT)
{
	BEGIN(me, o, addr, kind, name, false);
	error = step(me, &label, op, NEED_NOTHING, o, file, line, func);
	if (error)
		return error;
	if (is_used(o))
		return misuse(me, MISUSE_DESTROY_USED, o, label.site);
	o->destroyed = true;
	return 0;
}

/* ---- mutexes ---- */

int zug_at_mutex_init(void *m, int type, const char *name, ZUG_AT)
{
	BEGIN(me, o, m, OBJECT_MUTEX, name, true);
	o->recursive = type == ZUG_MUTEX_RECURSIVE;
	o->checks = type == ZUG_MUTEX_ERRORCHECK;
	return init(me, &label, ZUG_OP_MUTEX_INIT, o, file, line, func);
}

int zug_at_mutex_destroy(void *m, const char *name, ZUG_AT)
{
	return destroy(OBJECT_MUTEX, ZUG_OP_MUTEX_DESTROY, m, name, file, line, func);
}

static void take(struct operation *me, struct object *o)
{
	o->owner = me;
	o->count++;
	op_wake_pending(o);
}

int zug_at_mutex_lock(void *m, int timed, const char *name, ZUG_AT)
{
	BEGIN(me, o, m, OBJECT_MUTEX, name, false);
	if (o->checks && o->owner == me)
		return EDEADLK;
	me->timed = timed;
	error = step(me, &label, timed ? ZUG_OP_TIMEDLOCK : ZUG_OP_LOCK, NEED_MUTEX, o, file, line, func);
	if (error)
		return error;
	if (op_expired(me))
		return ETIMEDOUT;
	take(me, o);
	return 0;
}

int zug_at_mutex_trylock(void *m, const char *name, ZUG_AT)
{
	BEGIN(me, o, m, OBJECT_MUTEX, name, false);
	error = step(me, &label, ZUG_OP_TRYLOCK, NEED_NOTHING, o, file, line, func);
	if (error)
		return error;
	if (o->owner && !(o->owner == me && o->recursive))
		return EBUSY;
	take(me, o);
	return 0;
}

int zug_at_mutex_unlock(void *m, const char *name, ZUG_AT)
{
	BEGIN(me, o, m, OBJECT_MUTEX, name, false);
	error = step(me, &label, ZUG_OP_UNLOCK, NEED_NOTHING, o, file, line, func);
	if (error)
		return error;
	if (o->owner != me && o->checks)
		return EPERM;
	if (o->owner != me)
		return misuse(me, o->owner ? MISUSE_UNLOCK_FOREIGN : MISUSE_UNLOCK_FREE, o, label.site);
	if (!--o->count) {
		o->owner = NULL;
		op_wake_pending(o);
	}
	return 0;
}

/* ---- conditions ---- */

int zug_at_cond_init(void *c, const char *name, ZUG_AT)
{
	BEGIN(me, o, c, OBJECT_COND, name, true);
	return init(me, &label, ZUG_OP_COND_INIT, o, file, line, func);
}

int zug_at_cond_destroy(void *c, const char *name, ZUG_AT)
{
	return destroy(OBJECT_COND, ZUG_OP_COND_DESTROY, c, name, file, line, func);
}

int zug_at_cond_wait(void *c, void *m, int timed, const char *name, const char *mutex_name, ZUG_AT)
{
	struct object *mutex;
	int count;

	BEGIN(me, o, c, OBJECT_COND, name, false);
	mutex = object_at(me, m, OBJECT_MUTEX, mutex_name, false);
	if (!mutex)
		return ENOMEM;
	label = op_label(timed ? ZUG_OP_COND_TIMEDWAIT : ZUG_OP_COND_WAIT, o->id, file, line, func);
	label.object2 = mutex->id;
	if (o->destroyed && o->fixed)
		return misuse(me, MISUSE_USE_DESTROYED, o, label.site);
	error = point(me, &label, NEED_NOTHING, NULL);
	if (error)
		return error;
	if (mutex->owner != me)
		return misuse(me, MISUSE_WAIT_UNLOCKED, mutex, label.site);
	count = mutex->count;
	mutex->count = 0;
	mutex->owner = NULL;
	op_wake_pending(mutex);
	label.op = ZUG_OP_RESUME;
	label.flags = ZUG_L_WRITE | ZUG_L_ACQUIRE;
	z.cands[me->pos].label = label;
	me->relock = mutex;
	me->timed = timed;
	wait_one(me, o);
	error = op_point(me, &label);
	me->relock = NULL;
	if (error)
		return EINVAL;
	error = op_expired(me) ? ETIMEDOUT : 0;
	/* its time-out was over before the mutex was free */
	if (error && mutex->owner && point(me, &label, NEED_MUTEX, mutex))
		return EINVAL;
	mutex->owner = me;
	mutex->count = count;
	op_wake_pending(mutex);
	return error;
}

int zug_at_cond_signal(void *c, int all, const char *name, ZUG_AT)
{
	BEGIN(me, o, c, OBJECT_COND, name, false);
	error = step(me, &label, all ? ZUG_OP_COND_BROADCAST : ZUG_OP_COND_SIGNAL,
		     NEED_NOTHING, o, file, line, func);
	if (!error)
		object_signal(o, all);
	return error;
}

/* ---- semaphores ---- */

int zug_at_sem_init(void *s, unsigned int value, const char *name, ZUG_AT)
{
	BEGIN(me, o, s, OBJECT_SEM, name, true);
	o->count = (int)value;
	return init(me, &label, ZUG_OP_SEM_INIT, o, file, line, func);
}

int zug_at_sem_destroy(void *s, const char *name, ZUG_AT)
{
	return destroy(OBJECT_SEM, ZUG_OP_SEM_DESTROY, s, name, file, line, func);
}

int zug_at_sem_wait(void *s, int how, const char *name, ZUG_AT)
{
	static const unsigned int ops[3] = { ZUG_OP_SEM_WAIT, ZUG_OP_SEM_TRYWAIT, ZUG_OP_SEM_TIMEDWAIT };

	BEGIN(me, o, s, OBJECT_SEM, name, false);
	me->timed = how == ZUG_TIMED;
	error = step(me, &label, ops[how], how == ZUG_TRY ? NEED_NOTHING : NEED_COUNT, o, file, line, func);
	if (error)
		return error;
	if (op_expired(me))
		return ETIMEDOUT;
	if (o->count <= 0)
		return EAGAIN;
	o->count--;
	op_wake_pending(o);
	return 0;
}

int zug_at_sem_post(void *s, const char *name, ZUG_AT)
{
	BEGIN(me, o, s, OBJECT_SEM, name, false);
	error = step(me, &label, ZUG_OP_SEM_POST, NEED_NOTHING, o, file, line, func);
	if (error)
		return error;
	o->count++;
	op_wake_pending(o);
	return 0;
}

int zug_at_sem_getvalue(void *s, int *value, const char *name)
{
	int error;
	struct operation *me = op_self(&error);
	struct object *o = me ? object_at(me, s, OBJECT_SEM, name, false) : NULL;

	if (!o)
		return EINVAL;
	*value = o->count;
	return 0;
}

/* ---- read-write locks ---- */

int zug_at_rwlock_init(void *l, const char *name, ZUG_AT)
{
	BEGIN(me, o, l, OBJECT_RWLOCK, name, true);
	return init(me, &label, ZUG_OP_RWLOCK_INIT, o, file, line, func);
}

int zug_at_rwlock_destroy(void *l, const char *name, ZUG_AT)
{
	return destroy(OBJECT_RWLOCK, ZUG_OP_RWLOCK_DESTROY, l, name, file, line, func);
}

int zug_at_rwlock_lock(void *l, int write, int how, const char *name, ZUG_AT)
{
	static const unsigned int ops[2][3] = {
		{ ZUG_OP_RDLOCK, ZUG_OP_TRYRDLOCK, ZUG_OP_TIMEDRDLOCK },
		{ ZUG_OP_WRLOCK, ZUG_OP_TRYWRLOCK, ZUG_OP_TIMEDWRLOCK },
	};

	BEGIN(me, o, l, OBJECT_RWLOCK, name, false);
	me->timed = how == ZUG_TIMED;
	error = step(me, &label, ops[!!write][how],
		     how == ZUG_TRY ? NEED_NOTHING : write ? NEED_FREE : NEED_NO_WRITER, o, file, line, func);
	if (error)
		return error;
	if (op_expired(me))
		return ETIMEDOUT;
	if (o->owner || (write && o->count))
		return EBUSY;
	if (write)
		o->owner = me;
	else
		o->count++;
	op_wake_pending(o);
	return 0;
}

int zug_at_rwlock_unlock(void *l, const char *name, ZUG_AT)
{
	BEGIN(me, o, l, OBJECT_RWLOCK, name, false);
	error = step(me, &label, ZUG_OP_RWUNLOCK, NEED_NOTHING, o, file, line, func);
	if (error)
		return error;
	if (o->owner == me)
		o->owner = NULL;
	else if (!o->owner && o->count)
		o->count--;
	else
		return misuse(me, o->owner ? MISUSE_UNLOCK_FOREIGN : MISUSE_UNLOCK_FREE, o, label.site);
	op_wake_pending(o);
	return 0;
}

/* ---- barriers, and what is done once ---- */

int zug_at_barrier_init(void *b, unsigned int count, const char *name, ZUG_AT)
{
	BEGIN(me, o, b, OBJECT_BARRIER, name, true);
	if (!count)
		return EINVAL;
	o->limit = (int)count;
	return init(me, &label, ZUG_OP_BARRIER_INIT, o, file, line, func);
}

int zug_at_barrier_destroy(void *b, const char *name, ZUG_AT)
{
	return destroy(OBJECT_BARRIER, ZUG_OP_BARRIER_DESTROY, b, name, file, line, func);
}

int zug_at_barrier_wait(void *b, const char *name, ZUG_AT)
{
	BEGIN(me, o, b, OBJECT_BARRIER, name, false);
	error = step(me, &label, ZUG_OP_BARRIER_WAIT, NEED_NOTHING, o, file, line, func);
	if (error)
		return error;
	if (++o->count == o->limit) {
		o->count = 0;
		object_signal(o, true);
		return ZUG_BARRIER_SERIAL;
	}
	label.op = ZUG_OP_RESUME;
	label.flags = ZUG_L_WRITE | ZUG_L_ACQUIRE;
	z.cands[me->pos].label = label;
	wait_one(me, o);
	return op_point(me, &label) ? EINVAL : 0;
}

int zug_at_once(void *once, void (*fn)(void), const char *name, ZUG_AT)
{
	BEGIN(me, o, once, OBJECT_ONCE, name, false);
	error = step(me, &label, ZUG_OP_ONCE, NEED_MUTEX, o, file, line, func);
	if (error || o->count)
		return error;
	o->owner = me;
	op_wake_pending(o);
	fn();
	o->owner = NULL;
	o->count = 1;
	op_wake_pending(o);
	return 0;
}

/* ---- threads ---- */

int zug_at_thread_create(unsigned long *thread, void *(*start)(void *arg), void *arg, const char *name, ZUG_AT)
{
	int op = op_spawn(name, NULL, start, arg, file, line, func);

	if (op == ZUG_E_INVALID)
		return EINVAL;
	if (op < 0)
		return EAGAIN;
	*thread = (unsigned long)op;
	return 0;
}

int zug_at_thread_join(unsigned long thread, void **value, ZUG_AT)
{
	int error;
	struct operation *op = op_of((int)thread, &error);

	if (!op || op->joined)
		return op ? EINVAL : ESRCH;
	error = zug_at_join_operation((int)thread, file, line, func);
	if (error)
		return error == ZUG_E_SELF ? EDEADLK : EINVAL;
	op->joined = true;
	if (value)
		*value = op->value;
	return 0;
}

int zug_at_thread_detach(unsigned long thread)
{
	int error;
	struct operation *op = op_of((int)thread, &error);

	if (!op || op->joined)
		return op ? EINVAL : ESRCH;
	op->joined = true;
	return 0;
}

unsigned long zug_thread_self(void)
{
	int error;
	const struct operation *me = op_self(&error);

	return me ? me->handle : 0;
}

void zug_thread_exit(void *value)
{
	int error;
	struct operation *me = op_self(&error);

	if (!me || me == z.root) {
		if (me)
			end_fail(me, ZUG_OUTCOME_ABORT, 0, "the test's own operation cannot end as a thread does");
		/* an execution by hand goes on after a failure, and this call cannot return */
		fprintf(stderr, "zug: the test's own operation cannot end as a thread does\n");
		abort();
	}
	me->value = value;
	op_exit(me);
}
