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
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "engine/progress_check.h"
#include "kernel/syscalls.h"
#include "kworld/kworld_internal.h"
#include "lib/base/array.h"
#include "search/access.h"

/* A look at more of them for each grant would cost more than the questions. */
#define MOST_WAITERS 256

void kworld_lease(struct world *w, uint32_t nr, enum search_until until, uint64_t clock, bool known,
		  const struct world_plan *plan)
{
	struct kworld *k = (struct kworld *)w;

	k->run.lease.known = known;
	k->run.lease.nr = nr;
	k->run.lease.until = until;
	k->run.lease.clock = clock;
	k->run.lease.planned = plan;
	if (plan)
		k->run.lease.plan = *plan;
}

static bool add_lock(struct kworld *k, struct lease *l, uint64_t addr)
{
	uint32_t words[LOCK_WORDS];

	if (lock_memory_find(&l->locks, l->tgid, addr) < l->locks.nr)
		return true;
	if (l->locks.nr == ZUG_LEASE_LOCKS || !lock_memory_get(&k->locks, l->tgid, addr, words))
		return false;
	lock_memory_put(&l->locks, l->tgid, addr, words);
	return true;
}

/* The locks that tasks stand before. false: they cannot all be looked at where the task is. */
static bool gather_locks(struct kworld *k, struct lease *l)
{
	uint64_t addrs[LOCK_FETCH + LOCK_READS];

	for (uint32_t i = 0; i < k->waiters.nr;) {
		unsigned int all = 0;

		for (; i < k->waiters.nr && all < LOCK_FETCH; i++) {
			uint32_t n = k->waiters.list[i];
			unsigned int nr = lock_reads(k->w.tasks[n].label.op, k->kt[n].lock, k->kt[n].libc, &addrs[all]);

			if (nr && k->w.tasks[n].tgid != l->tgid)
				return false;
			all += nr;
		}
		lock_memory_fetch(&k->locks, l->tgid, addrs, all);
		for (unsigned int a = 0; a < all; a++)
			if (!add_lock(k, l, addrs[a]))
				return false;
	}
	return true;
}

/*
 * What the system call before which a task stands does is told by its label, and user space need not see anything when it is
 * made: as call_leased() of the kernel side.
 */
static bool call_is_plain(const struct kworld *k, const struct ktask *kt, const struct world_task *t)
{
	const struct syscall_desc *d = syscall_desc(kt->call_nr);
	bool thread;

	switch (d ? d->lease : ZUG_CALL_STOPS) {
	case ZUG_CALL_PASSES:
	case ZUG_CALL_MASKS:
	case ZUG_CALL_CONNECTS:
		return true;
	case ZUG_CALL_EXECS:
		return !world_living(&k->w, t->process, t);
	case ZUG_CALL_READS:
		return kt->call_mode & S_IFMT;
	case ZUG_CALL_OPENS:
		return d->path_arg < 4 && !(kt->call_args[d->path_arg] & (O_CREAT | O_TMPFILE));
	case ZUG_CALL_KILLS:
		thread = kt->call_nr == SYS_tgkill;
		return (int)kt->call_args[thread] == t->own_pid && kt->call_args[thread + 1];
	case ZUG_CALL_ENDS:
		return (kt->call_args[0] & 0xff) == (t->process == k->run.root ? k->w.ends_well : 0);
	default:
		return false;
	}
}

/* The lock at whose primitive task n, which is parked, stands; 0: at none. */
static uint64_t lock_of(const struct kworld *k, uint32_t n)
{
	const struct ktask *kt = &k->kt[n];

	if (!zug_op_waits_for_lock(k->w.tasks[n].label.op) && kt->site == ZUG_NO_SITE)
		return 0;
	return kt->mutex ? kt->mutex : kt->lock;
}

/* What tell_stand() will ask for, in one system call instead of one for each task. */
static void fetch_locks(struct kworld *k, const struct lease *l)
{
	uint64_t addrs[LOCK_FETCH];
	unsigned int nr = 0;

	for (uint32_t n = 0; n < k->w.nr_tasks; n++) {
		const struct world_task *t = &k->w.tasks[n];
		bool is_told = t->tgid == l->tgid && t->state == TASK_PARKED && k->kt[n].libc != SYMLIBC_NONE;
		uint64_t lock = is_told ? lock_of(k, n) : 0;

		if (lock && lock_memory_find(&l->locks, l->tgid, lock) == l->locks.nr)
			addrs[nr++] = lock;
		if (nr < LOCK_FETCH)
			continue;
		lock_memory_fetch(&k->locks, l->tgid, addrs, nr);
		nr = 0;
	}
	lock_memory_fetch(&k->locks, l->tgid, addrs, nr);
}

/* That task may go on as if its time-out were over. (expires is of its last wait that had one.) */
static bool may_expire(const struct world_task *t)
{
	return t->state == TASK_BLOCKED && t->deadline && t->expires;
}

/* Where task n stands, for the kernel side. false: what that says of it cannot be told there. */
static bool tell_stand(struct kworld *k, struct lease *l, uint32_t n, struct zug_peer *q)
{
	const struct probe_site *s = k->kt[n].site == ZUG_NO_SITE ? NULL : probes_site(k->o.probes, k->kt[n].site);
	const struct world_task *t = &k->w.tasks[n];
	const struct ktask *kt = &k->kt[n];
	bool waits = zug_op_waits_for_lock(t->label.op);
	uint64_t lock;

	*q = (struct zug_peer){ .task = kt->kid, .pid = t->pid, .process = t->process, .pass.kind = ZUG_PASS_ALWAYS };
	/* one that may go on is enabled, but not to be handed the turn */
	if (t->state == TASK_BLOCKED)
		q->pass.kind = may_expire(t) ? ZUG_PASS_NEVER : ZUG_PASS_ASLEEP;
	if (t->state != TASK_PARKED)
		return true;
	if (kt->split.phase || kt->watched || k->run.injected == n || (t->quits && t->status != k->w.ends_well))
		q->pass.kind = ZUG_PASS_NEVER;
	else if (s)
		q->pass = probes_site_pass(k->o.probes, kt->site);
	else if (kt->call_nr >= 0)
		q->pass.kind = call_is_plain(k, kt, t) ? ZUG_PASS_ALWAYS : ZUG_PASS_NEVER;
	else if (t->label.op != ZUG_OP_BEGIN && t->label.op != ZUG_OP_RESUME && t->label.op != ZUG_OP_YIELD &&
		 t->label.op != ZUG_OP_HANDLER)
		q->pass.kind = ZUG_PASS_NEVER;
	if (q->pass.steps > 1)
		q->pass.kind = ZUG_PASS_NEVER;
	lock = lock_of(k, n);
	if (!lock && !waits)
		return true;
	if (kt->libc == SYMLIBC_NONE)
		return !lock;
	/* whether it is enabled that alone says */
	if (waits && q->pass.kind == ZUG_PASS_NEVER)
		return false;
	if (t->tgid != l->tgid || !add_lock(k, l, lock))
		return false;
	q->lock = lock_memory_find(&l->locks, l->tgid, lock) + 1;
	return true;
}

/* An object of the label, as the kernel side knows it: in memory by where that is, others as the label says them. */
static bool tell_object(struct kworld *k, const struct world_task *t, uint64_t object, const struct zug_where *w, __u64 *key)
{
	if (places_is_elsewhere(k->o.places, object)) {
		*key = object;
		return true;
	}
	/* another object may lie there by now */
	if (!w->offset || places_object(k->o.places, t->process, t->task, t->pid, w, -1, ZUG_OP_LOCK) != object)
		return false;
	*key = zug_object_key(t->tgid, w->ino, w->dev, w->offset);
	return true;
}

static struct zug_label expiring(struct zug_label l)
{
	l.op = ZUG_OP_EXPIRE;
	l.flags |= zug_op_flags(ZUG_OP_EXPIRE);
	return l;
}

/* What the task does next; if it is blocked, what it goes on with when it is woken up. */
static struct zug_label next_label(const struct world_task *t)
{
	struct zug_label label = t->label;

	if (may_expire(t))
		return expiring(label);
	if (t->state == TASK_BLOCKED && label.op != ZUG_OP_BEGIN) {
		label.op = ZUG_OP_RESUME;
		label.flags = zug_op_flags(ZUG_OP_RESUME);
	}
	return label;
}

/* Whether that writes what others may see, and no more. */
static struct zug_access tell_write(const struct world_task *t)
{
	struct zug_label label = next_label(t);

	return (struct zug_access){ .how = ZUG_ACCESS_KNOWN |
					   (access_writes(&label) ? ZUG_ACCESS_WRITES | ZUG_ACCESS_FILE : 0) };
}

/* The same of what task n is about to access. */
static struct zug_access tell_access(struct kworld *k, uint32_t n)
{
	const struct world_task *t = &k->w.tasks[n];
	const struct ktask *kt = &k->kt[n];
	struct zug_access a = { .how = ZUG_ACCESS_KNOWN };
	struct zug_label label = next_label(t);
	struct access is;

	is = access_of(&label);
	if (is.write)
		a.how |= ZUG_ACCESS_WRITES;
	if (kt->split.phase && is.object[0] != ACCESS_OPAQUE)
		a.how &= ~ZUG_ACCESS_KNOWN;
	for (int i = 0; i < 2; i++)
		if (is.object[i] == ACCESS_OPAQUE)
			a.object[i] = ZUG_OBJECT_ANY;
		else if (is.object[i] &&
			 !tell_object(k, t, is.object[i], &kt->at[is.object[i] != label.object], &a.object[i]))
			a.how &= ~ZUG_ACCESS_KNOWN;
	if (places_is_file(k->o.places, is.object[0]) || places_is_file(k->o.places, is.object[1]))
		a.how |= ZUG_ACCESS_FILE;
	return a;
}

/* What its lock says now tells whether the task is enabled that stands there: as enabled_by() of the kernel side. */
static bool is_clear(const struct lease *l, const struct zug_peer *q)
{
	const uint32_t *word = q->lock ? l->locks.e[q->lock - 1].words : NULL;
	const struct zug_pass *pass = &q->pass;

	if (pass->kind != ZUG_PASS_IF && pass->kind != ZUG_PASS_UNLESS)
		return true;
	if (!word || pass->index >= LOCK_WORDS)
		return false;
	if (((word[pass->index] & pass->mask) == pass->value) == (pass->kind == ZUG_PASS_IF) || !pass->plain)
		return true;
	return pass->plain <= LOCK_WORDS && !word[pass->plain - 1];
}

/* The place of the task among the peers, which are in the order of their numbers; nr: it is none of them. */
static uint32_t place_of(const uint32_t *peer, uint32_t nr, uint32_t task)
{
	uint32_t at = ARRAY_FROM(nr, i, peer[i] < task);

	return at < nr && peer[at] == task ? at : nr;
}

/* Task n was created in an earlier execution, and may be in this one, by one of the peers. */
static bool may_come(const struct kworld *k, uint32_t n, const uint32_t *peer, uint32_t nr, struct zug_peer *q)
{
	const struct spawn_path *path = &k->o.spawn->paths[n];
	uint32_t parent = place_of(peer, nr, path->parent), born;

	if (parent == nr || (n < k->w.nr_tasks && k->w.tasks[n].state != TASK_NONE))
		return false;
	born = path->parent < k->w.nr_tasks && world_lives(&k->w.tasks[path->parent]) ? k->kt[path->parent].nr_children : 0;
	*q = (struct zug_peer){
		.parent = parent + 1, .nth = path->nth - born, .pass.kind = ZUG_PASS_ASLEEP, .access.how = ZUG_ACCESS_KNOWN,
		.op = ZUG_OP_BEGIN, .process = n,
	};
	return path->nth >= born && path->nth - born < ZUG_PLAN_PEERS;
}

/* false: the plan has none of that task. */
static bool tell_weights(const struct world_plan *plan, uint32_t task, struct zug_peer *q)
{
	uint32_t at = ARRAY_FROM(plan->nr_weights, i, plan->weights[i].task < task);

	if (at == plan->nr_weights || plan->weights[at].task != task)
		return false;
	q->weight = plan->weights[at].weight;
	q->priority = plan->weights[at].priority;
	q->held = plan->weights[at].held;
	return true;
}

/* A rule in which a task that comes has no place: it draws anew for it, or not. */
static bool is_for_these(const struct search_rule *rule)
{
	return !rule->shares && ((rule->by == SEARCH_BY_DRAWS && !rule->open) || rule->by == SEARCH_BY_SELECTION);
}

/* Where an object of the rule lies, as some task has come to an operation on it. false: that is not known. */
static bool find_object(struct kworld *k, uint64_t object, __u64 *key)
{
	struct lease *l = &k->run.lease;
	uint64_t address;
	uint32_t process;

	if (places_is_elsewhere(k->o.places, object)) {
		*key = object;
		return true;
	}
	for (uint32_t i = 0; i < l->nr_found; i++)
		if (l->found[i].object == object)
			return tell_object(k, &k->w.tasks[l->found[i].task], object, &l->found[i].at, key);
	for (uint32_t n = 0; n < k->w.nr_tasks && l->nr_found < FOUND_OBJECTS; n++) {
		const struct zug_label *label = &k->w.tasks[n].label;
		const struct zug_where *at = &k->kt[n].at[label->object != object];

		if ((label->object != object && label->object2 != object) || !at->offset)
			continue;
		l->found[l->nr_found++] = (struct found_object){ .object = object, .task = n, .at = *at };
		return tell_object(k, &k->w.tasks[n], object, at, key);
	}
	/* no task of this execution has come to it, but those of others have */
	if (!places_static_address(k->o.places, object, &process, &address))
		return false;
	for (uint32_t n = 0; n < k->w.nr_tasks; n++) {
		if (!world_lives(&k->w.tasks[n]) || k->w.tasks[n].process != process)
			continue;
		*key = zug_object_key(k->w.tasks[n].tgid, 0, 0, address);
		return true;
	}
	return false;
}

/* An event POINT tells of it, and of no other one that user space labels so. */
static bool is_point_in_code(unsigned int op)
{
	return (op >= ZUG_OP_LOCK && op <= ZUG_OP_SPIN_DESTROY) || zug_op_is_access(op);
}

static bool is_operation(const struct zug_label *l, const struct search_operation *o)
{
	return l->site == o->site && l->op == o->op && l->object == o->object;
}

/* What the operation before which task n stands, or in which it waits, is to the constraints. */
static uint32_t tell_marks(const struct kworld *k, uint32_t n)
{
	const struct search_rule *rule = &k->run.lease.plan.rule;
	const struct world_task *t = &k->w.tasks[n];
	struct zug_label l = may_expire(t) ? expiring(t->label) : t->label;
	struct access a = access_of(&l);
	uint32_t marks = 0;

	for (uint32_t i = 0; i < rule->nr_constraints; i++) {
		if (a.object[0] == rule->constraints[i].access.object)
			marks |= ZUG_MARK_OBJECT(i);
		if (is_operation(&l, &rule->constraints[i].access))
			marks |= ZUG_MARK_ACCESS(i);
		if (is_operation(&l, &rule->constraints[i].write))
			marks |= ZUG_MARK_WRITE(i);
	}
	return marks;
}

/* Where the code of an operation lies; 0: the kernel side could not tell it from others. */
static uint64_t tell_code(const struct kworld *k, uint32_t process, uint64_t site, unsigned int op)
{
	return is_point_in_code(op) ? places_code(k->o.places, process, site) : 0;
}

/* The same of what is compared with what tasks stand before: system calls are told as well. */
static uint64_t tell_step(const struct kworld *k, uint32_t process, uint64_t site, unsigned int op)
{
	if (op == ZUG_OP_CREATE || op == ZUG_OP_JOIN || op == ZUG_OP_DETACH || syscall_tells(op))
		return places_code(k->o.places, process, site);
	return tell_code(k, process, site, op);
}

/* All living tasks are of that process, whose code lies at the same addresses then. */
static bool is_one_process(const struct kworld *k, int tgid)
{
	for (uint32_t n = 0; n < k->w.nr_tasks; n++)
		if (world_lives(&k->w.tasks[n]) && k->w.tasks[n].tgid != tgid)
			return false;
	return true;
}

/* In which process the code of that peer lies. One that is to come begins with the code of its creator. */
static uint32_t code_of_peer(const struct kworld *k, const struct zug_plan *p, const uint32_t *peer, uint32_t at)
{
	while (p->peers[at].parent)
		at = p->peers[at].parent - 1;
	return k->w.tasks[peer[at]].process;
}

/*
 * The steps of the order, up to one of a task that is not among the peers. Each is compared with what its own task stands
 * before, so the places are those of that task's process. false: the kernel side cannot follow it.
 */
static bool tell_order(struct kworld *k, const uint32_t *peer, struct zug_plan *p)
{
	const struct search_rule *rule = &k->run.lease.plan.rule;

	p->begins = ZUG_OP_BEGIN;
	for (; p->nr_order < rule->nr_order; p->nr_order++) {
		const struct search_ordered *o = &rule->order[p->nr_order];
		struct zug_ordered *z = &p->order[p->nr_order];

		z->peer = place_of(peer, p->nr_peers, o->task);
		if (z->peer == p->nr_peers || (o->op == ZUG_OP_BEGIN && o->site))
			break;
		z->op = o->op;
		z->place = tell_step(k, code_of_peer(k, p, peer, z->peer), o->site, o->op);
	}
	/* whole runs alone say how many steps are owed */
	while (p->nr_order && p->nr_order < rule->nr_order &&
	       rule->order[p->nr_order - 1].task == rule->order[p->nr_order].task)
		p->nr_order--;
	return p->nr_order;
}

/* The differences that are about peers. A task that is none does not run without a question. */
static void tell_differences(const struct search_rule *rule, const uint32_t *peer, struct zug_plan *p)
{
	for (uint32_t i = 0; i < rule->nr_order; i++) {
		const struct search_difference *d = &rule->differences[i];
		uint32_t at = place_of(peer, p->nr_peers, d->task), next = place_of(peer, p->nr_peers, d->next);

		if (at == p->nr_peers || (next == p->nr_peers && d->next != SEARCH_NO_TASK))
			continue;
		p->differences[p->nr_order++] = (struct zug_difference){
			.nth = d->nth, .peer = at, .next = d->next == SEARCH_NO_TASK ? ZUG_PLAN_PEERS : next };
	}
}

/* The same of quotas. */
static void tell_quotas(const struct search_rule *rule, const uint32_t *peer, struct zug_plan *p)
{
	for (uint32_t i = 0; i < rule->nr_order; i++) {
		const struct search_quota *q = &rule->quotas[i];
		uint32_t at = place_of(peer, p->nr_peers, q->task);

		if (at < p->nr_peers)
			p->differences[p->nr_order++] = (struct zug_difference){ .nth = q->steps, .peer = at };
	}
}

/* What the operation is before which task n stands, to the order. */
static void tell_operation(const struct kworld *k, uint32_t n, struct zug_peer *q)
{
	const struct world_task *t = &k->w.tasks[n];

	if (t->state == TASK_PARKED && !may_expire(t))
		q->place = tell_step(k, t->process, t->label.site, t->label.op);
	q->op = q->place || t->label.op == ZUG_OP_BEGIN ? t->label.op : ZUG_OP_NONE;
}

/* Where the code of an operation lies in all processes that have it; 0: in none. false: it lies at several places. */
static bool tell_everywhere(struct kworld *k, const struct search_operation *o, __u64 *place)
{
	*place = 0;
	for (uint32_t n = 0; n < k->w.nr_tasks; n++) {
		const struct world_task *t = &k->w.tasks[n];
		uint64_t at = world_lives(t) ? tell_step(k, t->process, o->site, o->op) : 0;

		if (at && *place && at != *place)
			return false;
		*place = at ? at : *place;
	}
	return true;
}

/* ZUG_ELSEWHERE_* of a process that does not have that code. */
static uint16_t tell_elsewhere(const struct kworld *k, const struct zug_plan *p, uint32_t process)
{
	const struct search_rule *rule = &k->run.lease.plan.rule;
	uint16_t elsewhere = 0;

	for (uint32_t i = 0; i < p->nr_constraints; i++) {
		if (!tell_step(k, process, rule->constraints[i].write.site, rule->constraints[i].write.op))
			elsewhere |= ZUG_ELSEWHERE_WRITE(i);
		if (!tell_step(k, process, rule->constraints[i].access.site, rule->constraints[i].access.op))
			elsewhere |= ZUG_ELSEWHERE_ACCESS(i);
	}
	return elsewhere;
}

/* The kernel side can tell that operation from others, where some process has its code. */
static bool can_tell(const struct search_operation *o)
{
	return is_point_in_code(o->op) || o->op == ZUG_OP_CREATE || o->op == ZUG_OP_JOIN || o->op == ZUG_OP_DETACH ||
	       syscall_tells(o->op);
}

/* false: the kernel side could not tell these operations from others. */
static bool tell_constraints(struct kworld *k, struct zug_plan *p)
{
	const struct search_rule *rule = &k->run.lease.plan.rule;

	for (uint32_t i = 0; i < rule->nr_constraints; i++) {
		const struct search_constraint *c = &rule->constraints[i];
		struct zug_constraint *z = &p->constraints[p->nr_constraints++];

		/* a step that could do anything has no object there */
		if (c->access.object == ACCESS_OPAQUE)
			return false;
		if (!can_tell(&c->write) || !can_tell(&c->access) || !tell_everywhere(k, &c->write, &z->write) ||
		    !tell_everywhere(k, &c->access, &z->access))
			return false;
		z->write_op = c->write.op;
		z->access_op = c->access.op;
		z->see = c->see;
		z->wrote = c->wrote;
		if (find_object(k, c->access.object, &z->object))
			continue;
		/* what other operations do to it would not be seen */
		if (c->wrote)
			return false;
		z->object = 0;
	}
	return true;
}

/*
 * It cannot be told who is enabled: where the next steps are known without that the plan is for these alone. false: they
 * are not.
 */
static bool plan_steps_alone(const struct lease *l, struct zug_plan *p)
{
	if (p->kind == ZUG_PLAN_DIFFERENCES && l->plan.nr_runs && !l->plan.rule.nr_order)
		p->kind = ZUG_PLAN_STEPS;
	return p->kind == ZUG_PLAN_STEPS || p->kind == ZUG_PLAN_ORDER;
}

/* All tasks that there are, and, where the rule is one for them, that may come. false: they are too many, or not clear. */
static bool gather_peers(struct kworld *k, struct zug_plan *p, uint32_t *peer)
{
	struct lease *l = &k->run.lease;
	uint32_t room = ZUG_PLAN_PEERS, most = k->w.nr_tasks;

	for (uint32_t n = 0; n < k->w.nr_tasks; n++) {
		if (!world_lives(&k->w.tasks[n]))
			continue;
		if (!room--)
			return false;
	}
	if (!is_for_these(&l->plan.rule) && k->o.spawn->nr > most)
		most = k->o.spawn->nr;
	fetch_locks(k, l);
	for (uint32_t n = 0; n < most; n++) {
		struct zug_peer *q = &p->peers[p->nr_peers];

		if (n < k->w.nr_tasks && world_lives(&k->w.tasks[n])) {
			if (!tell_stand(k, l, n, q) || (!is_clear(l, q) && !plan_steps_alone(l, p)))
				return false;
		} else if (!room || is_for_these(&l->plan.rule) || !may_come(k, n, peer, p->nr_peers, q)) {
			continue;
		} else {
			room--;
		}
		if ((p->kind == ZUG_PLAN_PENDING || p->kind == ZUG_PLAN_SELECTION) && q->pid)
			q->access = tell_access(k, n);
		if (p->kind == ZUG_PLAN_TURNS && l->plan.rule.writes && q->pid)
			q->access = tell_write(&k->w.tasks[n]);
		if (q->pid)
			q->access.marks = tell_marks(k, n);
		if (q->pid && (p->kind == ZUG_PLAN_ORDER || p->nr_constraints))
			tell_operation(k, n, q);
		q->rounds = q->pid ? k->w.tasks[n].rounds : PROGRESS_ROUNDS;
		/* one that is to come, and for whose weight there was no room, is none that the plan knows */
		if (!tell_weights(&l->plan, n, q) && !q->pid && l->plan.rule.shares)
			continue;
		if (p->nr_constraints)
			q->held = tell_elsewhere(k, p, q->pid ? k->w.tasks[n].process :
							code_of_peer(k, p, peer, q->parent - 1));
		peer[p->nr_peers++] = n;
	}
	return true;
}

/* The plan of the search goes with the lease to that task. false: it cannot. */
static bool give_plan(struct kworld *k, uint32_t task, struct zug_plan *p)
{
	static const enum zug_plan_kind kinds[] = {
		[SEARCH_BY_STEPS] = ZUG_PLAN_STEPS, [SEARCH_BY_DRAWS] = ZUG_PLAN_DRAWS, [SEARCH_BY_RANKS] = ZUG_PLAN_RANKS,
		[SEARCH_BY_CHOICES] = ZUG_PLAN_CHOICES, [SEARCH_BY_PENDING] = ZUG_PLAN_PENDING,
		[SEARCH_BY_SELECTION] = ZUG_PLAN_SELECTION, [SEARCH_BY_ORDER] = ZUG_PLAN_ORDER, [SEARCH_BY_TURNS] = ZUG_PLAN_TURNS,
		[SEARCH_BY_DIFFERENCES] = ZUG_PLAN_DIFFERENCES, [SEARCH_BY_QUOTAS] = ZUG_PLAN_QUOTAS,
	};
	const struct world_plan *plan = &k->run.lease.plan;
	const struct search_rule *rule = &plan->rule;
	uint32_t peer[ZUG_PLAN_PEERS], at;

	/* but for the peers, of which those that there are are written */
	memset(p, 0, offsetof(struct zug_plan, peers));
	p->kind = kinds[rule->by];
	p->draws = rule->state;
	p->weight_step = rule->step;
	p->weight_least = rule->least;
	p->lowest = rule->lowest;
	p->choices_end = rule->choices;
	p->base = rule->base;
	p->shares = rule->shares;
	p->owed = rule->owed < UINT32_MAX ? rule->owed : UINT32_MAX;
	p->turn = rule->turn;
	p->ahead = rule->ahead;
	p->begun = rule->begun;
	p->writes = rule->writes;
	p->wrote = rule->wrote;
	p->calm = plan->calm == WORLD_CALM_ALWAYS ? ZUG_CALM_ALWAYS : plan->calm;
	p->same = plan->same;
	p->longest = plan->longest;
	for (uint32_t i = 0; i < rule->nr_changes; i++) {
		p->changes[i].at = rule->changes[i].at;
		p->changes[i].rank = rule->changes[i].rank;
	}
	if (p->kind == ZUG_PLAN_SELECTION && !find_object(k, rule->object, &p->object)) {
		if (!places_is_to_come(k->o.places, rule->object))
			return false;
		p->object = 0;
	}
	p->in_memory = p->object && !places_is_elsewhere(k->o.places, rule->object);
	if (!tell_constraints(k, p) || !gather_peers(k, p, peer))
		return false;
	if (p->kind == ZUG_PLAN_ORDER && !tell_order(k, peer, p))
		return false;
	if (p->kind == ZUG_PLAN_DIFFERENCES)
		tell_differences(rule, peer, p);
	if (p->kind == ZUG_PLAN_QUOTAS)
		tell_quotas(rule, peer, p);
	/* it has its number by the task that comes to it first */
	at = p->kind == ZUG_PLAN_SELECTION && !p->object ? place_of(peer, p->nr_peers, zug_object_task(rule->object))
							 : p->nr_peers;
	p->object_by = at < p->nr_peers ? at + 1 : 0;
	at = place_of(peer, p->nr_peers, rule->intended);
	p->intended = at < p->nr_peers ? at + 1 : 0;
	if (p->kind == ZUG_PLAN_SELECTION && !p->intended && rule->intended != SEARCH_NO_TASK)
		return false;
	p->holder = place_of(peer, p->nr_peers, task);
	for (; p->nr_runs < plan->nr_runs; p->nr_runs++) {
		at = place_of(peer, p->nr_peers, plan->runs[p->nr_runs].task);
		if (at == p->nr_peers)
			break;
		p->runs[p->nr_runs].peer = at;
		p->runs[p->nr_runs].steps = plan->runs[p->nr_runs].steps;
	}
	if (p->nr_runs < plan->nr_runs)
		p->base = false;
	if (p->kind == ZUG_PLAN_CHOICES)
		return p->nr_runs || p->base;
	return p->kind != ZUG_PLAN_STEPS || p->nr_runs > 1 || (p->nr_runs && p->runs[0].peer != p->holder);
}

/* Where the lease stops in any case. false: the kernel side could not tell these places from others. */
static bool tell_stops(const struct kworld *k, uint32_t task, struct zug_lease *z)
{
	bool any = false, all = true;

	for (int i = 0; i < 2; i++) {
		uint64_t site = k->w.stops_at[i];

		z->stops[i] = site ? places_code(k->o.places, k->w.tasks[task].process, site) : 0;
		any |= site != 0;
		all &= !site || z->stops[i];
	}
	return !any || (all && is_one_process(k, k->w.tasks[task].tgid));
}

/* The kernel side follows a plan where all that decides is in sight there. */
static bool may_plan(struct kworld *k, uint32_t task)
{
	return k->run.lease.planned && !probes_has_scope(k->o.probes) && !k->o.leave_machine &&
	       !kworld_has_interpreter(k, k->w.tasks[task].process);
}

void kworld_lease_begin(struct kworld *k, uint32_t task)
{
	struct zug_lease *z = kernel_lease(k->o.kernel, sandbox_slot(k->o.sandbox));
	struct lease *l = &k->run.lease;
	bool interpreted = kworld_has_interpreter(k, k->w.tasks[task].process), plans = may_plan(k, task);
	uint32_t nr = l->nr, at;

	/* a copy of a template has it when it goes on */
	if (k->prefix.feeding)
		return;
	z->left = l->nr = z->why = 0;
	l->ended = ASK_WORLD;
	z->plan.kind = ZUG_PLAN_NONE;
	l->planned = false;
	z->yields = k->w.yields;
	z->yield_points = k->w.yield_points;
	z->passes = k->w.passes;
	if (!tell_stops(k, task, z))
		return;
	if ((!nr && !plans) || k->waiters.nr > MOST_WAITERS || k->run.stepping || k->run.nr_lent ||
	    k->run.nr_held || k->flows.nr)
		return;
	/*
	 * whether a point is left out is read of the task that stands there, and what was promised says nothing of the
	 * next one then
	 */
	if (!l->known && (k->o.leave_machine || (interpreted && !kworld_tells_frames(k, k->w.tasks[task].process))))
		return;
	l->tgid = k->w.tasks[task].tgid;
	kworld_cwd_ahead(k, k->w.tasks[task].pid);
	lock_memory_forget(&l->locks);
	if (!gather_locks(k, l))
		return;
	plans = plans && give_plan(k, task, &z->plan);
	if (!plans)
		z->plan.kind = ZUG_PLAN_NONE;
	if (!plans && !nr)
		return;
	z->flags = plans ? 0 : l->until == SEARCH_UNTIL_CHANGE ? ZUG_LEASE_CHANGE | ZUG_LEASE_WAKE :
		   l->until == SEARCH_UNTIL_WAKE ? ZUG_LEASE_WAKE : l->until == SEARCH_UNTIL_OWN ? ZUG_LEASE_OWN : 0;
	z->clock = k->run.turn.alarm && k->run.turn.alarm < l->clock ? k->run.turn.alarm : l->clock;
	if (l->known)
		z->flags |= ZUG_LEASE_KNOWN;
	/* what is left out is no decision, and more may be passed than was promised */
	if (!probes_has_scope(k->o.probes) && !interpreted)
		z->flags |= k->w.ends_stop ? ZUG_LEASE_CALLS : ZUG_LEASE_CALLS | ZUG_LEASE_ENDS;
	if (probes_leaves_out(k->o.probes))
		z->flags |= ZUG_LEASE_RUNTIME;
	if (!places_knows_strange(k->o.places))
		z->flags |= ZUG_LEASE_STRANGE;
	if (sandbox_net_closed(k->o.sandbox))
		z->flags |= ZUG_LEASE_NETWORK;
	z->root = k->w.tasks[k->run.root].tgid;
	z->root_ends = k->w.ends_well;
	z->root_mnt = k->root.mnt;
	z->root_dentry = k->root.dentry;
	z->cwd_mnt = k->cwd.mnt;
	z->cwd_dentry = k->cwd.mnt ? k->cwd.dentry : 0;
	z->nr_locks = l->locks.nr;
	memset(z->index, 0, sizeof(z->index));
	for (uint32_t i = 0; i < l->locks.nr; i++) {
		z->locks[i].addr = l->locks.e[i].addr;
		memcpy(z->locks[i].word, l->locks.e[i].words, sizeof(z->locks[i].word));
		for (at = zug_lock_slot(z->locks[i].addr); z->index[at]; at = (at + 1) % ZUG_LEASE_INDEX)
			;
		z->index[at] = i + 1;
	}
	z->left = plans ? l->plan.nr : nr;
	l->ended = ASK_NR;
}

void kworld_lease_fresh(struct kworld *k)
{
	struct zug_lease *z = kernel_lease(k->o.kernel, sandbox_slot(k->o.sandbox));

	if (places_knows_strange(k->o.places))
		z->flags &= ~ZUG_LEASE_STRANGE;
}

enum ask_cause kworld_lease_ended(struct world *w)
{
	static const enum ask_cause causes[ZUG_WHY_NR] = {
		[ZUG_WHY_USED_UP] = ASK_USED_UP, [ZUG_WHY_TIME] = ASK_TIME, [ZUG_WHY_RING] = ASK_RING,
		[ZUG_WHY_WATCHED] = ASK_WATCHED, [ZUG_WHY_PLACE] = ASK_PLACE, [ZUG_WHY_OBJECT] = ASK_OBJECT,
		[ZUG_WHY_HELD] = ASK_HELD, [ZUG_WHY_LOCK] = ASK_LOCK, [ZUG_WHY_CALL] = ASK_CALL, [ZUG_WHY_FILE] = ASK_FILE,
		[ZUG_WHY_UNCLEAR] = ASK_UNCLEAR, [ZUG_WHY_PLAN] = ASK_PLAN, [ZUG_WHY_RACES] = ASK_RACES,
		[ZUG_WHY_NEXT] = ASK_NEXT, [ZUG_WHY_BLOCKS] = ASK_BLOCKS, [ZUG_WHY_ENDS] = ASK_ENDS,
		[ZUG_WHY_YIELDS] = ASK_YIELDS, [ZUG_WHY_WAKES] = ASK_WAKES, [ZUG_WHY_CREATES] = ASK_CREATES,
		[ZUG_WHY_SIGNAL] = ASK_SIGNAL, [ZUG_WHY_DIES] = ASK_DIES, [ZUG_WHY_TIMER] = ASK_SETS_TIMER,
		[ZUG_WHY_OTHER] = ASK_OTHER,
	};
	struct kworld *k = (struct kworld *)w;
	uint32_t why = kernel_lease(k->o.kernel, sandbox_slot(k->o.sandbox))->why;

	if (k->run.lease.ended != ASK_NR)
		return k->run.lease.ended;
	return why < ZUG_WHY_NR ? causes[why] : ASK_WORLD;
}

void kworld_lease_lock(struct kworld *k, const struct zug_event *e)
{
	struct lease *l = &k->run.lease;

	if (e->arg[0] < l->locks.nr)
		memcpy(l->locks.e[e->arg[0]].words, e->word, sizeof(e->word));
}

void kworld_lease_hand(struct kworld *k, const struct zug_event *e)
{
	struct lease *l = &k->run.lease;
	uint32_t place = e->arg[1] - 1;

	l->to = kworld_number(k, e->arg[0]);
	l->handed = l->to != WORLD_NO_TASK;
	if (place == l->locks.nr && place < ZUG_LEASE_LOCKS)
		lock_memory_put(&l->locks, l->tgid, e->arg[2], e->word);
	else if (place < l->locks.nr)
		memcpy(l->locks.e[place].words, e->word, sizeof(e->word));
	/* with locks it is the same process */
	if (l->handed && !l->locks.nr)
		l->tgid = k->w.tasks[l->to].tgid;
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

void kworld_lease_point(struct kworld *k, const struct world_task *t, const struct zug_event *e, struct world_event *ev)
{
	struct lease *l = &k->run.lease;

	k->locks.moving = true;
	k->locks.first = &l->locks;
	if (e->flags & ZUG_EF_BEFORE)
		lock_memory_put(&k->locks, t->tgid, e->before_addr, e->before);
	ev->handed = l->handed;
	ev->to = l->to;
	l->ahead = l->handed ? l->to : t->task;
	l->handed = false;
}
