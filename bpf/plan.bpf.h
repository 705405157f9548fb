/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * plan.bpf.h - who has the turn next, without a question (struct zug_plan)
 *
 * A task that comes to a point takes the step's number from the plan: it goes on itself, or stops and hands the turn to
 * another one (hand_over()). User space decides about the same step later, from what the events say, and must come to the
 * same task. So where it is not clear here which tasks are enabled, or what the next one does needs a look at it, the task
 * stops and asks.
 */
#ifndef ZUG_PLAN_BPF_H
#define ZUG_PLAN_BPF_H

#include "plan_rules.bpf.h"

enum plan_says {
	PLAN_STOPS = 0,
	PLAN_PASSES,
	PLAN_HANDS,
};

/* Where a task stands. */
struct stand {
	struct zug_pass pass;
	__u64 lock;		/* address; 0: none */
	struct zug_access access;
	__u64 place;		/* of the code, as its label says it */
	__u32 op;
};

/* Whether a task is enabled that stands before a lock with that memory: 1, 0; -1: that is not clear. */
static __always_inline int enabled_by(const struct zug_pass *pass, const __u32 *word)
{
	if (pass->kind != ZUG_PASS_IF && pass->kind != ZUG_PASS_UNLESS)
		return 1;
	if (pass->index >= 6)
		return -1;
	if (((word[pass->index] & pass->mask) == pass->value) == (pass->kind == ZUG_PASS_IF))
		return 1;
	if (!pass->plain)
		return 0;
	return pass->plain <= 6 && !word[pass->plain - 1] ? 0 : -1;
}

static __always_inline int peer_enabled(const struct zug_lease *l, __u32 i)
{
	const struct zug_peer *q = &l->plan.peers[i & (ZUG_PLAN_PEERS - 1)];

	if (q->pass.kind == ZUG_PASS_ASLEEP)
		return 0;
	if (!q->lock)
		return q->pass.kind == ZUG_PASS_IF || q->pass.kind == ZUG_PASS_UNLESS ? -1 : 1;
	return enabled_by(&q->pass, l->locks[(q->lock - 1) & (ZUG_LEASE_LOCKS - 1)].word);
}

/* That peer is one of those that stand before its lock. */
static __always_inline void link_peer(struct zug_plan *plan, __u32 i)
{
	struct zug_peer *q = &plan->peers[i & (ZUG_PLAN_PEERS - 1)];
	__u16 *first = &plan->first[(q->lock - 1) & (ZUG_LEASE_LOCKS - 1)];

	q->before = q->behind = 0;
	if (!q->lock)
		return;
	q->behind = *first;
	if (*first)
		plan->peers[(*first - 1) & (ZUG_PLAN_PEERS - 1)].before = i + 1;
	*first = i + 1;
}

/* It stands before that one from here on; 0: before none. */
static __always_inline void stand_before(struct zug_plan *plan, __u32 i, __u32 lock)
{
	struct zug_peer *q = &plan->peers[i & (ZUG_PLAN_PEERS - 1)];

	if (plan->counted && q->lock) {
		if (q->behind)
			plan->peers[(q->behind - 1) & (ZUG_PLAN_PEERS - 1)].before = q->before;
		if (q->before)
			plan->peers[(q->before - 1) & (ZUG_PLAN_PEERS - 1)].behind = q->behind;
		else
			plan->first[(q->lock - 1) & (ZUG_LEASE_LOCKS - 1)] = q->behind;
	}
	q->lock = lock;
	if (plan->counted)
		link_peer(plan, i);
}

/* What that lock says has changed: which of those before it are enabled? The holder is before none any more. */
static __noinline int count_again(struct zug_lease *l, __u32 lock)
{
	struct zug_plan *plan = &l->plan;
	/* in memory, for the verifier would follow each of its values around the loop */
	volatile __u32 *at = &plan->drawn;
	__u32 i;
	int is;

	*at = plan->first[lock & (ZUG_LEASE_LOCKS - 1)];
	bpf_for(i, 0, ZUG_PLAN_PEERS) {
		__u32 peer = *at - 1;

		if (!*at)
			break;
		*at = plan->peers[peer & (ZUG_PLAN_PEERS - 1)].behind;
		if (peer == plan->holder)
			continue;
		is = peer_enabled(l, peer);
		/* that is not clear */
		if (is < 0)
			plan->counted = 0;
		set_on(plan, peer, is > 0);
	}
	return 0;
}

/* Which tasks are enabled, as it was counted or is now. self: whether the holder is. -1: that is not clear. */
static __noinline int count_on(struct zug_lease *l, int self)
{
	struct zug_plan *plan = &l->plan;
	/* in memory, for the verifier would follow each of its values around the loop */
	volatile __u32 *counted = &plan->counted;
	__u32 i;

	if (self < 0)
		return -1;
	if (*counted) {
		set_on(plan, plan->holder, self);
		return 0;
	}
	*counted = 1;
	bpf_for(i, 0, ZUG_LEASE_LOCKS) {
		if (i >= l->nr_locks)
			break;
		plan->first[i & (ZUG_LEASE_LOCKS - 1)] = 0;
	}
	bpf_for(i, 0, ZUG_PLAN_PEERS) {
		int is;

		if (i >= plan->nr_peers)
			break;
		is = i == plan->holder ? self : peer_enabled(l, i);
		if (is < 0)
			*counted = 0;
		set_on(plan, i, is > 0);
		link_peer(plan, i);
	}
	return *counted ? 0 : -1;
}

/* The same, also where it follows from who is enabled. self: whether the holder is, as enabled_by() says. */
__noinline int plan_step(__u32 slot, int self)
{
	struct zug_lease *l = &leases[slot & (ZUG_MAX_SANDBOXES - 1)];
	struct zug_plan *plan = &l->plan;
	int next;

	if (plan->kind == ZUG_PLAN_STEPS)
		return plan_known(plan);
	if (plan->kind == ZUG_PLAN_ORDER)
		return ordered(plan, self);
	if (count_on(l, self) || !plan->nr_on) {
		lease_note(l, ZUG_WHY_UNCLEAR);
		return -1;
	}
	if (plan->kind == ZUG_PLAN_DRAWS)
		return drawn(plan);
	if (plan->kind == ZUG_PLAN_PENDING || plan->kind == ZUG_PLAN_SELECTION) {
		next = plan->kind == ZUG_PLAN_PENDING ? pended(plan) : picked(plan);
		if (next < 0)
			lease_note(l, ZUG_WHY_RACES);
		return next;
	}
	if (plan->kind == ZUG_PLAN_TURNS)
		return turned(plan);
	if (plan->kind == ZUG_PLAN_DIFFERENCES)
		return differing(plan);
	if (plan->kind == ZUG_PLAN_QUOTAS)
		return by_quota(plan);
	if (plan->nr_on == 1)
		return next_on(plan, 0);
	return plan->kind == ZUG_PLAN_RANKS ? ranked(plan) : chosen(plan);
}

/* The peer that is that task, where it was when it was looked for last, or anywhere; or nr_peers. */
static __always_inline __u32 find_peer(const struct zug_plan *plan, __u32 task, __u32 last)
{
	__u32 i;

	if (last < plan->nr_peers && plan->peers[last & (ZUG_PLAN_PEERS - 1)].task == task)
		return last;
	bpf_for(i, 0, ZUG_PLAN_PEERS) {
		if (i >= plan->nr_peers)
			break;
		if (plan->peers[i & (ZUG_PLAN_PEERS - 1)].task == task)
			return i;
	}
	return plan->nr_peers;
}

/*
 * The holder has woken that task up, perhaps for the first time. 0: the plan does not know it. last: as for find_peer(); what
 * that says now goes there.
 */
__noinline int plan_awake(__u32 slot, __u32 task, __u32 *last)
{
	struct zug_plan *plan = &leases[slot & (ZUG_MAX_SANDBOXES - 1)].plan;
	struct zug_peer *q;
	__u32 i;

	if (!last)
		return 0;
	i = find_peer(plan, task, *last);
	q = &plan->peers[i & (ZUG_PLAN_PEERS - 1)];
	if (i >= plan->nr_peers || !q->pid)
		return 0;
	*last = i;
	if (q->pass.kind != ZUG_PASS_ASLEEP)
		return 1;
	q->pass.kind = ZUG_PASS_ALWAYS;
	/* it goes on, which is another operation */
	q->access.marks = 0;
	if (plan->counted)
		set_on(plan, i, true);
	return 1;
}

/*
 * The holder has created a thread, or a process, which is the next one of its children that the plan knows, if it knows one: 1.
 * 0: it does not.
 */
__noinline int plan_born(__u32 slot, __u32 task, __u32 pid, int thread)
{
	struct zug_plan *plan = &leases[slot & (ZUG_MAX_SANDBOXES - 1)].plan;
	__u32 i, holder = plan->holder, nth = plan->peers[holder & (ZUG_PLAN_PEERS - 1)].born++;

	/* its children are in the order in which they come: behind the last one */
	bpf_for(i, plan->born_of == holder + 1 ? plan->born_at : 0, ZUG_PLAN_PEERS) {
		struct zug_peer *q = &plan->peers[i & (ZUG_PLAN_PEERS - 1)];

		if (i >= plan->nr_peers)
			break;
		if (q->pid || q->parent != holder + 1 || q->nth != nth)
			continue;
		q->task = task;
		q->pid = pid;
		if (thread)
			q->process = plan->peers[holder & (ZUG_PLAN_PEERS - 1)].process;
		plan->born_of = holder + 1;
		plan->born_at = i + 1;
		if (plan->shares)
			take_share(plan, i);
		return 1;
	}
	return 0;
}

/* The plan cannot follow what the holder does because it is alone. */
static __always_inline void lease_counted(struct zug_lease *l)
{
	lease_note(l, ZUG_WHY_PLAN);
	l->left = 0;
}

/* What an operation accesses matters to the plan also where its task is alone. */
static __always_inline bool plan_needs_access(const struct zug_plan *plan)
{
	return plan->kind == ZUG_PLAN_SELECTION || plan->nr_constraints || plan->writes;
}

/* The same of such a plan, where the holder stands there. */
__noinline int plan_counts_at(__u32 slot, const struct stand *at)
{
	struct zug_lease *l = &leases[slot & (ZUG_MAX_SANDBOXES - 1)];
	struct zug_plan *plan = &l->plan;
	struct zug_access *access = &plan->peers[plan->holder & (ZUG_PLAN_PEERS - 1)].access;
	__u32 i;

	if (!at)
		return 0;
	*access = at->access;
	if (at->pass.steps > 1 && plan->writes) {
		lease_counted(l);
		return 0;
	}
	/* one that may go on by its time-out is none of those that are chosen from there */
	if ((plan->nr_constraints && (!(at->access.how & ZUG_ACCESS_KNOWN) || !mark(plan, access, at->place, at->op))) ||
	    count_on(l, 1) || plan->nr_on != 1) {
		lease_counted(l);
		return 0;
	}
	bpf_for(i, 0, 2) {
		if (i >= at->pass.steps)
			break;
		if (plan_step(slot, 1) != (int)plan->holder) {
			lease_counted(l);
			break;
		}
	}
	return 0;
}

/* That peer makes so many steps, and may be taken for one that yields behind these: zug_plan.calm. */
static __always_inline void plan_goes_on(struct zug_lease *l, __u32 i, __u32 steps)
{
	struct zug_plan *plan = &l->plan;
	struct zug_peer *q = &plan->peers[i & (ZUG_PLAN_PEERS - 1)];

	if (!plan->kind || plan->calm == ZUG_CALM_ALWAYS)
		return;
	plan->calm -= steps < plan->calm ? steps : plan->calm;
	q->rounds -= steps < q->rounds ? steps : q->rounds;
	if (i == plan->holder)
		plan->same -= steps < plan->same ? steps : plan->same;
	else
		plan->same = plan->longest;
	if (!plan->same || (!q->rounds && !plan->calm))
		l->left = 0;
}

/* The holder makes so many steps because it is alone. */
static __always_inline void plan_counts(struct zug_lease *l, __u32 steps)
{
	if (l->plan.kind == ZUG_PLAN_DRAWS)
		peer_steps(&l->plan, l->plan.holder, steps);
	else if (plan_needs_access(&l->plan))
		/* what its operations are is not known here */
		lease_counted(l);
	else if (l->plan.kind == ZUG_PLAN_DIFFERENCES || l->plan.kind == ZUG_PLAN_QUOTAS)
		for (__u32 i = 0; i < 2 && i < steps; i++)
			counts_step(&l->plan);
	else if (l->plan.kind == ZUG_PLAN_TURNS)
		for (__u32 i = 0; i < 2 && i < steps; i++)
			steps_alone(&l->plan);
	else if (l->plan.kind == ZUG_PLAN_PENDING)
		l->plan.peers[l->plan.holder & (ZUG_PLAN_PEERS - 1)].weight = 0;
	else if (l->plan.kind == ZUG_PLAN_STEPS && (steps != 1 || plan_known(&l->plan) != (int)l->plan.holder))
		lease_counted(l);
	else if (l->plan.kind == ZUG_PLAN_ORDER && (steps != 1 || ordered(&l->plan, 1) != (int)l->plan.holder))
		lease_counted(l);
}

/* The holder yields, and no other task could run: true when it goes on. That ends its lease, unless that knows of the yield. */
static __always_inline bool yields_alone(const struct zug_sandbox *s, const struct task_state *t)
{
	struct zug_lease *l;

	if (t->slot >= ZUG_MAX_SANDBOXES)
		return false;
	l = &leases[t->slot];
	if (l->flags & ZUG_LEASE_KNOWN && l->left) {
		l->left--;
		plan_counts(l, 1);
		return true;
	}
	if (l->left)
		lease_note(l, ZUG_WHY_YIELDS);
	l->left = 0;
	return !s->turn.stop_always;
}

/* 1 + the place of that lock in the lease; 0: it is none of those. *free: where in the index it would be. */
__noinline int find_lock(__u32 slot, __u64 addr, __u32 *free)
{
	struct zug_lease *l = &leases[slot & (ZUG_MAX_SANDBOXES - 1)];
	__u32 i, at, place;

	if (!free)
		return 0;
	bpf_for(i, 0, ZUG_LEASE_INDEX) {
		at = (zug_lock_slot(addr) + i) & (ZUG_LEASE_INDEX - 1);
		place = l->index[at];
		*free = at;
		if (!place || l->locks[(place - 1) & (ZUG_LEASE_LOCKS - 1)].addr == addr)
			return place;
	}
	return 0;
}

/* 1 + the place of that lock in the lease; 0: there is no room for it. */
static __always_inline __u32 lock_place(__u32 slot, struct zug_lease *l, __u64 addr, const __u32 *word)
{
	__u32 place = l->nr_locks, free = 0;
	int known = find_lock(slot, addr, &free);

	if (known)
		return known;
	if (place >= ZUG_LEASE_LOCKS)
		return 0;
	l->index[free & (ZUG_LEASE_INDEX - 1)] = place + 1;
	l->nr_locks++;
	l->locks[place].addr = addr;
	__builtin_memcpy(l->locks[place].word, word, sizeof(l->locks[place].word));
	return place + 1;
}

static __always_inline __u64 pending_signals(struct task_struct *p)
{
	return p->pending.signal.sig[0] | LOOSE(p)->signal->shared_pending.signal.sig[0];
}

static __always_inline bool has_pending_signal(struct task_struct *p)
{
	return pending_signals(p);
}

/* That peer can be given the turn, and user space need not look at it. */
static __always_inline bool may_have_turn(struct task_struct *p, const struct task_state *t, const struct zug_lease *l,
					  const struct zug_peer *q, bool locks)
{
	struct task_struct *to = bpf_task_from_pid(q->pid);
	bool may = false;
	struct task_state *x;
	__u32 word = 0;

	if (!to)
		return false;
	x = state_of(to);
	if (x && x->id == q->task && x->slot == t->slot && x->run == t->run && !(x->flags & (TF_STEP | TF_STOP)) &&
	    !is_dying(to, x) && (!locks || to->tgid == p->tgid) &&
	    LOOSE(to)->scx.dsq->id == ZUG_DSQ(t->slot)) {
		if (q->lock && q->pass.index < 6)
			word = l->locks[(q->lock - 1) & (ZUG_LEASE_LOCKS - 1)].word[q->pass.index] & q->pass.mask;
		may = q->pass.kind != ZUG_PASS_OWNER || (q->lock && word == own_pid(to));
	}
	bpf_task_release(to);
	return may;
}

/* The same, and it is enabled. locks: tasks stand before some, which are known in this process alone. */
static __always_inline bool may_hand(struct task_struct *p, const struct task_state *t, struct zug_lease *l, __u32 next,
				     bool locks)
{
	const struct zug_peer *to = &l->plan.peers[next & (ZUG_PLAN_PEERS - 1)];

	return to->pass.kind != ZUG_PASS_NEVER && peer_enabled(l, next) == 1 && may_have_turn(p, t, l, to, locks);
}

/*
 * What becomes of the holder, which stands there, before so many steps, and may pass if it is its turn. (The verifier looks at
 * this by itself, as at plan_step().)
 */
__noinline int plan_goes(__u32 slot, const struct stand *at, int may)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct zug_lease *l = &leases[slot & (ZUG_MAX_SANDBOXES - 1)];
	struct task_state *t = state_of(p);
	struct zug_plan *plan = &l->plan;
	struct zug_peer *from = &plan->peers[plan->holder & (ZUG_PLAN_PEERS - 1)];
	int next;

	/* whether the first half of an access in two steps writes its label says */
	if (!t || !at || at->pass.kind == ZUG_PASS_NEVER ||
	    (at->pass.steps > 1 && plan->writes)) {
		lease_note(l, ZUG_WHY_PLACE);
		return PLAN_STOPS;
	}
	from->access = at->access;
	/* a second step has another label */
	if (plan->kind == ZUG_PLAN_ORDER && at->pass.steps > 1)
		plan->unsure = 1;
	from->place = at->op ? at->place : 0;
	from->op = at->op;
	if (plan->nr_constraints && (!(at->access.how & ZUG_ACCESS_KNOWN) || !mark(plan, &from->access, at->place, at->op))) {
		lease_note(l, ZUG_WHY_RACES);
		return PLAN_STOPS;
	}
	next = plan_step(slot, enabled_by(&at->pass, t->ev.word));
	if (next < 0 || next >= ZUG_PLAN_PEERS) {
		lease_note(l, ZUG_WHY_PLAN);
		return PLAN_STOPS;
	}
	if (next == (int)plan->holder && !may)
		lease_note(l, ZUG_WHY_HELD);
	if (next == (int)plan->holder && (!may || at->pass.steps < 2))
		return may ? PLAN_PASSES : PLAN_STOPS;
	if (next == (int)plan->holder) {
		if (plan_step(slot, 1) == next)
			return PLAN_PASSES;
		lease_note(l, ZUG_WHY_PLAN);
		return PLAN_STOPS;
	}
	if (!may_hand(p, t, l, next, l->nr_locks || at->lock)) {
		lease_note(l, ZUG_WHY_NEXT);
		return PLAN_STOPS;
	}
	from->pass = at->pass;
	if (at->pass.steps > 1)
		from->pass.kind = ZUG_PASS_NEVER;
	stand_before(plan, plan->holder, at->lock ? lock_place(slot, l, at->lock, t->ev.word) : 0);
	if (at->lock && !from->lock)
		return PLAN_STOPS;
	plan->next = next + 1;
	return PLAN_HANDS;
}

/*
 * If what lock i says has changed, which may be or not, user space is told. false: this is the end of the lease. t: of the task
 * that runs, as in all functions of their own to BPF (global ones). The verifier looks at these once, and not for each
 * way to them.
 */
__noinline int tell_lock(const struct task_state *t, __u32 i, int may)
{
	struct zug_lease *l;
	struct zug_event e;
	__u32 word[6];

	if (!t || t->slot >= ZUG_MAX_SANDBOXES || i >= ZUG_LEASE_LOCKS)
		return false;
	l = &leases[t->slot];
	if (bpf_probe_read_user(word, sizeof(word), (void *)l->locks[i].addr))
		return false;
	if (!__builtin_memcmp(word, l->locks[i].word, sizeof(word)))
		return true;
	if (!may || l->flags & ZUG_LEASE_CHANGE)
		return false;
	__builtin_memcpy(l->locks[i].word, word, sizeof(word));
	/* others may be enabled now, or not any more */
	if (l->plan.counted)
		count_again(l, i);
	event_init(&e, ZUG_EV_LOCK, bpf_get_current_task_btf(), t);
	e.flags = ZUG_EF_LEASED;
	e.arg[0] = i;
	__builtin_memcpy(e.word, word, sizeof(e.word));
	event_send(&sandboxes[t->slot & (ZUG_MAX_SANDBOXES - 1)], &e);
	return true;
}

/*
 * The memory of the locks that other tasks stand before, where it has changed. false: this is the end of the lease.
 * used: the lock on which the holder's last operation was; where there are many, the others have changed only if the
 * program writes to locks by other means than their operations, as user space assumes as well (kworld_waiting.c).
 */
static __always_inline bool tell_locks(const struct task_state *t, struct zug_lease *l, __u64 used)
{
	__u32 i, free = 0;
	int place;

	l->plan.look = l->plan.look + 1 < l->nr_locks ? l->plan.look + 1 : 0;
	bpf_for(i, 0, ZUG_LEASE_LOOKS) {
		if (i >= l->nr_locks || l->nr_locks > ZUG_LEASE_LOOKS)
			break;
		if (!tell_lock(t, i, true))
			return false;
	}
	if (l->nr_locks <= ZUG_LEASE_LOOKS)
		return true;
	place = find_lock(t->slot, used, &free);
	if (place != l->plan.look + 1 && !tell_lock(t, l->plan.look, false))
		return false;
	return !place || tell_lock(t, place - 1, true);
}

/* The point before this one, if that was at a lock: what has become of that. false: it cannot be read. */
static __always_inline bool read_before(struct task_state *t)
{
	if (!t->ev.before_addr)
		return true;
	if (bpf_probe_read_user(t->ev.before, sizeof(t->ev.before), (void *)t->ev.before_addr))
		return false;
	t->ev.flags |= ZUG_EF_BEFORE;
	return true;
}

/*
 * The holder yields, and others could run, but its lease goes over that: 1, it goes on, and the event of its state says
 * what user space would read of memory there. (Locks before which others stand are not looked at: the stack of the
 * caller is too large.)
 */
__noinline int yields_leased(__u32 slot)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct zug_lease *l = &leases[slot & (ZUG_MAX_SANDBOXES - 1)];
	struct task_state *t = state_of(p);
	struct zug_sandbox *s;

	if (!l->left || !l->yields || l->plan.kind || l->nr_locks || !t || !(s = sandbox_of(t)) || t->id != s->holder)
		return 0;
	t->ev.before_addr = t->last_lock;
	if (lease_due(s, l) || !read_before(t))
		return 0;
	l->yields--;
	l->left = l->yield_points;
	t->ev.flags |= ZUG_EF_LEASED;
	return 1;
}

/* It holds robust mutexes, or may: when it is dead the kernel lets go of them. */
static __always_inline bool holds_robust(struct task_struct *p)
{
	__u64 list = (__u64)LOOSE(p)->robust_list, first;

	return list && (bpf_probe_read_user(&first, sizeof(first), (void *)list) || first != list);
}

/*
 * The holder, a thread, is about to end. Where it is dead its memory cannot be read any more: so it is here what others
 * stand before.
 */
static __noinline int plan_reads_last(struct task_struct *p, struct task_state *t)
{
	struct zug_lease *l;

	if (t->slot >= ZUG_MAX_SANDBOXES)
		return 0;
	l = &leases[t->slot];
	if (l->left && l->plan.kind && l->nr_locks && !holds_robust(p) && tell_locks(t, l, t->last_lock))
		l->plan.read_last = t->id;
	return 0;
}

/*
 * What the holder has done since its last point to the locks before which others stand is known here, where it sleeps or is
 * dead.
 */
static __always_inline bool knows_locks(const struct task_state *t, struct zug_lease *l)
{
	if (!l->nr_locks)
		return true;
	return t->ev.kind == ZUG_EV_EXIT ? l->plan.read_last == t->id : tell_locks(t, l, t->last_lock);
}

/* What the holder, which sleeps, goes on with when it is woken up: kworld_describe_wait(), kworld_wakes(). */
static __always_inline void sleeps_with(struct zug_peer *q, const struct task_state *t)
{
	const volatile struct zug_syscall *d = syscall_of(t->ev.nr);
	struct zug_access *a = &q->access;

	if (t->ev.kind == ZUG_EV_BLOCK && t->last_lock && (t->ev.flags & ZUG_EF_INSIDE || t->ev.arg[0] - t->last_lock < 64)) {
		a->how &= ~ZUG_ACCESS_WRITES;
		return;
	}
	if (t->ev.kind == ZUG_EV_EXIT)
		return;
	/* behind another one it keeps the object of that, if the wait was one that is a point itself */
	a->how = a->object[0] || a->how & ZUG_ACCESS_FILE ? 0 : ZUG_ACCESS_KNOWN | ZUG_ACCESS_WRITES;
	a->object[0] = ZUG_OBJECT_ANY;
	a->object[1] = 0;
	/* while it waits in a call that was a point it is in that operation */
	if (!d->op || d->op != q->op)
		a->marks = 0;
}

/* The holder sleeps, or is dead: 1 where the turn is to go to the next one of the plan, by hand_over(). */
__noinline int plan_leaves(__u32 slot)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct zug_lease *l = &leases[slot & (ZUG_MAX_SANDBOXES - 1)];
	struct zug_plan *plan = &l->plan;
	struct task_state *t = state_of(p);
	struct zug_peer *from = &plan->peers[plan->holder & (ZUG_PLAN_PEERS - 1)];
	int next;

	if (!t || !sandbox_of(t))
		return 0;
	if (!knows_locks(t, l)) {
		lease_note(l, ZUG_WHY_LOCK);
		return 0;
	}
	/* what follows is about what tasks stand before: one that is dead stands before nothing any more */
	if (t->ev.kind == ZUG_EV_EXIT)
		from->access = (struct zug_access){ .how = ZUG_ACCESS_KNOWN };
	next = plan_step(slot, 0);
	if (next < 0 || next >= ZUG_PLAN_PEERS || next == (int)plan->holder) {
		lease_note(l, ZUG_WHY_PLAN);
		return 0;
	}
	if (!may_hand(p, t, l, next, l->nr_locks)) {
		lease_note(l, ZUG_WHY_NEXT);
		return 0;
	}
	from->pass.kind = ZUG_PASS_ASLEEP;
	stand_before(plan, plan->holder, 0);
	sleeps_with(from, t);
	from->place = from->op = 0;
	plan->next = next + 1;
	l->left--;
	plan_goes_on(l, next, 1);
	return 1;
}

#endif
