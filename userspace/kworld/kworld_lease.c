/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kworld_lease.c - leases: a task passes points without stopping (struct zug_lease, world_ops.lease)
 *
 * The engine decides about such a point when the task has gone on, and must see what it would have seen
 * had the task stopped. The states of tasks follow from events, in their order. What else counts is in
 * memory that the task may have changed since: the locks before which the others stand, and those of
 * the task's last two points. The kernel side reads them at each point, so that everything here is as
 * it was there, and nothing is read any more (lock_memory.moving). At a system call it reads what the label needs, too, or the
 * task stops (call_lease.bpf.h): only the file that a path names is looked up here, before the task can change that.
 */
#include <string.h>
#include "kernel/syscalls.h"
#include "kworld/kworld_internal.h"

/* A look at more of them for each grant would cost more than the questions. */
#define MOST_WAITERS 256

void kworld_lease(struct world *w, uint32_t nr, enum search_until until, bool known)
{
	struct kworld *k = (struct kworld *)w;

	k->run.lease.known = known;

	k->run.lease.nr = nr;
	k->run.lease.until = until;
}

static bool add_lock(struct kworld *k, struct lease *l, uint64_t addr)
{
	for (uint32_t i = 0; i < l->nr_locks; i++)
		if (l->locks[i].addr == addr)
			return true;
	if (l->nr_locks == ZUG_LEASE_LOCKS ||
	    !lock_memory_get(&k->locks, l->tgid, addr, l->locks[l->nr_locks].words))
		return false;
	l->locks[l->nr_locks++].addr = addr;
	return true;
}

/* The locks that tasks stand before. false: they cannot all be looked at where the task is. */
static bool gather_locks(struct kworld *k, struct lease *l)
{
	uint64_t addrs[LOCK_READS];

	for (uint32_t i = 0; i < k->waiters.nr; i++) {
		uint32_t n = k->waiters.list[i];
		unsigned int nr = lock_reads(k->w.tasks[n].label.op, k->kt[n].lock, k->kt[n].libc, addrs);

		if (nr && k->w.tasks[n].tgid != l->tgid)
			return false;
		for (unsigned int a = 0; a < nr; a++)
			if (!add_lock(k, l, addrs[a]))
				return false;
	}
	return true;
}

void kworld_lease_begin(struct kworld *k, uint32_t task)
{
	struct zug_lease *z = kernel_lease(k->o.kernel, sandbox_slot(k->o.sandbox));
	struct lease *l = &k->run.lease;
	uint32_t nr = l->nr;

	z->left = l->nr = 0;
	z->passes = k->w.passes;
	/* a copy of a template has it when it goes on */
	if (k->prefix.feeding)
		k->prefix.lease = nr;
	if (!nr || k->prefix.feeding || k->waiters.nr > MOST_WAITERS || k->run.stepping || k->run.nr_lent || k->run.nr_held || k->flows.nr)
		return;
	/* that a point is left out is known behind it, and what was promised says nothing of the next one then */
	if (!l->known && kworld_has_interpreter(k, k->w.tasks[task].process))
		nr = 1;
	l->tgid = k->w.tasks[task].tgid;
	l->nr_locks = 0;
	if (!gather_locks(k, l))
		return;
	/* a wake-up out of a timed wait may have to be looked into (kworld_hold()) */
	z->flags = l->until == SEARCH_UNTIL_CHANGE ? ZUG_LEASE_CHANGE | ZUG_LEASE_WAKE :
		   l->until == SEARCH_UNTIL_WAKE || kworld_waits_timed(k) ? ZUG_LEASE_WAKE : 0;
	if (l->known)
		z->flags |= ZUG_LEASE_KNOWN;
	/* what --only and --not leave out is no decision, and more may be passed than was promised */
	if (!probes_has_scope(k->o.probes))
		z->flags |= ZUG_LEASE_CALLS;
	z->root = k->w.tasks[k->run.root].tgid;
	z->root_mnt = k->root.mnt;
	z->root_dentry = k->root.dentry;
	z->nr_locks = l->nr_locks;
	for (uint32_t i = 0; i < l->nr_locks; i++) {
		z->locks[i].addr = l->locks[i].addr;
		memcpy(z->locks[i].word, l->locks[i].words, sizeof(z->locks[i].word));
	}
	z->left = nr;
}

void kworld_lease_lock(struct kworld *k, const struct zug_event *e)
{
	struct lease *l = &k->run.lease;

	if (e->arg[0] < l->nr_locks)
		memcpy(l->locks[e->arg[0]].words, e->word, sizeof(e->word));
}

void kworld_lease_path(struct kworld *k, const struct zug_event *e)
{
	struct zug_call *c = &k->run.lease.call;
	struct zug_path p;

	memcpy(&p, e, sizeof(p));
	if (p.len > sizeof(p.text))
		return;
	memcpy(c->path[0], p.text, p.len);
	c->path_len[0] = p.len;
}

void kworld_lease_call(struct kworld *k, const struct zug_event *e)
{
	struct zug_call *c = &k->run.lease.call;
	const struct syscall_desc *d = syscall_desc(e->nr);

	c->root_mnt = k->root.mnt;
	c->root_dentry = k->root.dentry;
	c->at.ino = 0;
	/* no path came ahead: it is empty, and the call about a descriptor */
	if (d && d->path_arg && !c->path_len[0]) {
		c->path_len[0] = 1;
		c->path[0][0] = 0;
		c->at = e->obj2;
		c->at_links = e->state;
	}
}

void kworld_lease_point(struct kworld *k, const struct world_task *t, const struct zug_event *e)
{
	const struct lease *l = &k->run.lease;

	k->locks.moving = true;
	for (uint32_t i = 0; i < l->nr_locks; i++)
		lock_memory_put(&k->locks, l->tgid, l->locks[i].addr, l->locks[i].words);
	if (e->flags & ZUG_EF_BEFORE)
		lock_memory_put(&k->locks, t->tgid, e->before_addr, e->before);
	k->run.lease.ahead = t->task;
}
