/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdlib.h>
#include "engine/takers.h"
#include "lib/base/array.h"

void takers_reset(struct takers *k)
{
	id_map_clear(&k->index);
	k->nr = k->in_vain = 0;
	k->first = WORLD_NO_TASK;
}

void takers_free(struct takers *k)
{
	id_map_free(&k->index);
	free(k->locks);
}

static struct taker *find(const struct takers *k, uint64_t object)
{
	uint32_t *at = object ? id_map_find(&k->index, object) : NULL;

	return at ? &k->locks[*at] : NULL;
}

/* NULL: the label has no object, or memory is short. */
static struct taker *get(struct takers *k, uint64_t object)
{
	struct taker *l = find(k, object);

	if (l || !object || !ARRAY_RESERVE(k->locks, k->room, k->nr + 1) || !id_map_add(&k->index, object, k->nr, NULL))
		return l;
	k->locks[k->nr] = (struct taker){ .task = WORLD_NO_TASK };
	return &k->locks[k->nr++];
}

/* Another task that finds it taken waits for it, or leaves it. */
static void take(struct taker *l, uint32_t task)
{
	if (!l)
		return;
	if (l->task == task)
		l->no_lock = true;
	else if (l->task == WORLD_NO_TASK)
		l->task = task;
}

static void give_back(struct taker *l, uint32_t task)
{
	if (!l)
		return;
	l->no_lock |= l->task != task;
	l->task = WORLD_NO_TASK;
}

void takers_step(struct takers *k, uint32_t task, const struct zug_label *label)
{
	struct taker *l;

	switch (label->op) {
	case ZUG_OP_SEM_WAIT: case ZUG_OP_SEM_TRYWAIT: case ZUG_OP_SEM_TIMEDWAIT:
	case ZUG_OP_LOCK: case ZUG_OP_TRYLOCK: case ZUG_OP_TIMEDLOCK:
	case ZUG_OP_WRLOCK: case ZUG_OP_TRYWRLOCK: case ZUG_OP_TIMEDWRLOCK:
		take(get(k, label->object), task);
		break;
	case ZUG_OP_SEM_POST: case ZUG_OP_UNLOCK: case ZUG_OP_RWUNLOCK:
		give_back(get(k, label->object), task);
		break;
	case ZUG_OP_COND_WAIT: case ZUG_OP_COND_TIMEDWAIT:
		/* it is given back and taken again in there */
		l = get(k, label->object2);
		if (l)
			l->no_lock = true;
		break;
	case ZUG_OP_SEM_INIT: case ZUG_OP_MUTEX_INIT: case ZUG_OP_RWLOCK_INIT:
		l = find(k, label->object);
		if (l)
			*l = (struct taker){ .task = WORLD_NO_TASK };
		break;
	case ZUG_OP_RESUME:
		/* who waited for it in the kernel has it now, unless another one was faster */
		l = find(k, label->object);
		if (l && l->task == WORLD_NO_TASK)
			l->task = task;
		break;
	case ZUG_OP_EXPIRE:
		l = find(k, label->object);
		if (l)
			l->no_lock |= l->task == task;
		break;
	}
}

uint32_t takers_owner(const struct takers *k, struct world *w, const struct world_task *t)
{
	uint32_t owner = world_owner(w, t);
	const struct taker *l = k && owner == WORLD_NO_TASK ? find(k, t->label.object) : NULL;

	return l && !l->no_lock && l->task != t->task ? l->task : owner;
}

/* Only the one that has the lock can let it go on. */
static bool waits(struct world *w, const struct world_task *t)
{
	if (!world_wants_lock(t) || t->label.op == ZUG_OP_SPIN_LOCK || t->deadline || t->label.flags & ZUG_L_TIMED)
		return false;
	if (t->state == TASK_PARKED)
		return w->ops->would_block(w, t, NULL);
	return t->state == TASK_BLOCKED && t->wait == WAIT_INSIDE;
}

static bool is_cycle(const struct takers *k, struct world *w, uint32_t from)
{
	uint32_t t = from;

	for (uint32_t n = 0; n < w->nr_tasks; n++) {
		if (!waits(w, &w->tasks[t]))
			return false;
		t = takers_owner(k, w, &w->tasks[t]);
		if (t >= w->nr_tasks)
			return false;
		if (t == from)
			return n > 0;
	}
	return false;
}

uint32_t takers_cycle(struct takers *k, struct world *w, uint64_t steps)
{
	uint32_t first = 0;

	while (first < w->nr_tasks && !is_cycle(k, w, first))
		first++;
	if (first >= w->nr_tasks) {
		k->first = WORLD_NO_TASK;
		return WORLD_NO_TASK;
	}
	if (k->first != first) {
		k->first = first;
		k->in_vain = 0;
	} else {
		/* one decision may be asked for several times */
		k->in_vain += steps != k->steps;
	}
	k->steps = steps;
	return k->in_vain >= TAKERS_IN_VAIN ? first : WORLD_NO_TASK;
}
