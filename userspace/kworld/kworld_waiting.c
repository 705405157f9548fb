/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which tasks may be able to go on after an event, or not any more: those that stand before a lock.
 *
 * Whether such a task would block its lock's memory says, which others change. To read the memory of all these locks
 * for each decision costs a system call for each. But a lock changes by the operations on it, which are points, and, if it
 * is robust, by the end of a task: so the tasks before a lock are looked at again when an operation on it was reached or
 * begun. While few tasks stand before locks, all are looked at each time. A program that writes to its locks in any
 * other way is found out by looks at one of them in turn; then all are looked at from then on.
 */
#include <stdio.h>
#include <stdlib.h>
#include "kworld/kworld_internal.h"
#include "lib/base/array.h"

/* So many tasks before locks are few. */
#define FEW	16

static bool stands_before_lock(const struct world_task *t)
{
	return t->state == TASK_PARKED && zug_op_waits_for_lock(t->label.op);
}

static void leave(struct kworld *k, uint32_t n)
{
	struct lock_waiters *l = &k->waiters;
	struct ktask *kt = &k->kt[n];
	uint32_t last = l->list[--l->nr], *first;

	l->nr_outlive -= kt->outlives;
	l->list[kt->waits - 1] = last;
	k->kt[last].waits = kt->waits;
	kt->waits = 0;
	if (kt->wait_next)
		k->kt[kt->wait_next - 1].wait_prev = kt->wait_prev;
	if (kt->wait_prev)
		k->kt[kt->wait_prev - 1].wait_next = kt->wait_next;
	else if ((first = id_map_find(&l->index, kt->waits_for)))
		*first = kt->wait_next;
}

static void enter(struct kworld *k, uint32_t n)
{
	struct lock_waiters *l = &k->waiters;
	struct ktask *kt = &k->kt[n];
	uint64_t object = k->w.tasks[n].label.object;
	uint32_t *first;

	if (!ARRAY_RESERVE(l->list, l->room, l->nr + 1) || !(first = id_map_add(&l->index, object, 0, NULL))) {
		k->run.broken = "out of memory";
		return;
	}
	l->list[l->nr++] = n;
	kt->waits = l->nr;
	kt->outlives = !kt->have_words || lock_outlives_owner(k->w.tasks[n].label.op, kt->libc, kt->words);
	l->nr_outlive += kt->outlives;
	kt->waits_for = object;
	kt->would_block_known = false;
	kt->wait_prev = 0;
	kt->wait_next = *first;
	if (*first)
		k->kt[*first - 1].wait_prev = n + 1;
	*first = n + 1;
}

void kworld_waiters_follow(struct kworld *k, uint32_t n)
{
	if (k->kt[n].waits)
		leave(k, n);
	if (stands_before_lock(&k->w.tasks[n]))
		enter(k, n);
}

static void changed(struct kworld *k, uint32_t n)
{
	k->kt[n].would_block_known = false;
	world_changed(&k->w, n);
}

void kworld_waiters_all_changed(struct kworld *k)
{
	for (uint32_t i = 0; i < k->waiters.nr; i++)
		changed(k, k->waiters.list[i]);
}

/* Those before that object, or before one that is not known. */
static void object_changed(struct kworld *k, uint64_t object)
{
	const uint32_t *first = id_map_find(&k->waiters.index, object);

	for (uint32_t n = first ? *first : 0; n; n = k->kt[n - 1].wait_next)
		changed(k, n - 1);
}

/* One of them in turn: does its lock still say what it said? */
static void check_one(struct kworld *k)
{
	struct lock_waiters *l = &k->waiters;
	uint32_t n = l->list[l->check++ % l->nr];
	struct ktask *kt = &k->kt[n];
	bool before = kt->would_block;

	if (!kt->would_block_known || k->w.ops->would_block(&k->w, &k->w.tasks[n], NULL) == before)
		return;
	if (k->debug)
		fprintf(stderr, "LOCK of task %u changed by no operation\n", kt->kid);
	l->wild = true;
}

void kworld_waiters_touch(struct kworld *k, uint32_t n)
{
	const struct zug_label *l = &k->w.tasks[n].label;
	struct ktask *kt = &k->kt[n];

	if (k->waiters.nr > FEW && !k->waiters.wild) {
		const uint64_t objects[] = { l->object, l->object2, kt->used[0], kt->used[1] };

		object_changed(k, 0);
		for (unsigned int i = 0; i < 4; i++)
			if (objects[i] && (i < 2 || (objects[i] != l->object && objects[i] != l->object2)))
				object_changed(k, objects[i]);
	}
	/* a task that waits within its operation goes on with that when it is woken */
	if (kt->lock) {
		kt->used[0] = l->object;
		kt->used[1] = l->object2;
	}
}

/* The engine is about to ask about all of them: their memory, of the process that has most of them, mostly. */
static void fetch(struct kworld *k)
{
	int pid = k->w.tasks[k->waiters.list[0]].tgid;
	uint64_t addrs[FEW];
	unsigned int nr = 0;

	for (uint32_t i = 0; i < k->waiters.nr; i++) {
		uint32_t n = k->waiters.list[i];

		if (k->w.tasks[n].tgid == pid && k->kt[n].lock)
			addrs[nr++] = k->kt[n].lock;
	}
	lock_memory_fetch(&k->locks, pid, addrs, nr);
}

void kworld_waiters_event(struct kworld *k, const struct zug_event *e)
{
	struct lock_waiters *l = &k->waiters;

	if (!l->nr)
		return;
	if (l->nr > FEW && !l->wild && (e->flags & ZUG_EF_ASK))
		check_one(k);
	else if (l->nr <= FEW && (e->flags & ZUG_EF_ASK))
		fetch(k);
	if (l->nr <= FEW || l->wild || e->kind == ZUG_EV_EXEC ||
	    (e->kind == ZUG_EV_EXIT && (l->nr_outlive || e->flags & ZUG_EF_ROOT)))
		kworld_waiters_all_changed(k);
}

void kworld_waiters_reset(struct kworld *k)
{
	k->waiters.nr = k->waiters.nr_outlive = 0;
	id_map_clear(&k->waiters.index);
}

void kworld_waiters_free(struct kworld *k)
{
	free(k->waiters.list);
	id_map_free(&k->waiters.index);
}
