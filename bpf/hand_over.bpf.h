/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hand_over.bpf.h - where the turn goes when its holder gives it up: to the dying, to the next of the plan, or back to user
 * space with a question
 */
#ifndef ZUG_HAND_OVER_BPF_H
#define ZUG_HAND_OVER_BPF_H

/* A dying task waits in the queue: it has to run before the next decision. */
static bool has_dying(__u32 slot, struct zug_sandbox *s)
{
	struct task_struct *p;
	bool found = false;

	if (!s->may_die)
		return false;
	/* what dies from here on says so again */
	s->may_die = 0;
	bpf_for_each(scx_dsq, p, ZUG_DSQ(slot), 0) {
		struct task_state *t = state_of(p);

		if (t && is_dying(p, t)) {
			found = true;
			break;
		}
	}
	if (found)
		s->may_die = 1;
	return found;
}

/* The dying come first: those that can run, and those that sleep on their way. */
static __always_inline bool dying_first(__u32 slot, struct zug_sandbox *s)
{
	return (scx_bpf_dsq_nr_queued(ZUG_DSQ(slot)) && has_dying(slot, s)) || s->dying_waits;
}

/* A question is about to be sent: the holder has stopped for it at a point, or has given the turn up itself. */
static __always_inline void asks(struct zug_sandbox *s)
{
	__u64 now = bpf_ktime_get_ns(), since = s->turn_since ? now - s->turn_since : 0;

	if (s->stopping)
		s->stop_ns += since;
	else
		s->ran_ns += since;
	s->stopping = 0;
	s->turn_since = s->asked_at = now;
	s->nr_asks++;
}

/* The turn is free: say so with @e, unless dying tasks come first (then dispatch goes on). */
static void give_up(struct zug_sandbox *s, __u32 slot, struct zug_event *e)
{
	bool first = dying_first(slot, s);

	s->holder = 0;
	s->holder_io = ZUG_IO_NOT;
	/* what has stopped to be prepared for a program goes on as if it had not */
	if (slot < ZUG_MAX_SANDBOXES && (e->kind != ZUG_EV_FRESH || first))
		leases[slot].left = leases[slot].plan.next = 0;
	if (slot < ZUG_MAX_SANDBOXES)
		paths_ahead[slot] = 0;
	if (first) {
		s->need_ask = 1;
		event_send(s, e);
		scx_bpf_kick_cpu(s->setup.lane, 0);
		return;
	}
	asks(s);
	e->flags |= ZUG_EF_ASK;
	event_send(s, e);
}

/* A dying task waits for something on its way. */
static void dying_sleeps(struct zug_sandbox *s, struct task_struct *p, struct task_state *t)
{
	/* until the dump is written: the task that writes it may need the others */
	if (LOOSE(p)->signal->core_state || (p->__state & TASK_TRACED_))
		return;
	t->flags |= TF_DYING_WAIT;
	t->dying_round = s->dying_round;
	s->dying_since = bpf_ktime_get_ns();
	__sync_fetch_and_add(&s->dying_waits, 1);
}

static void dying_wakes(struct zug_sandbox *s, struct task_state *t)
{
	if (!(t->flags & TF_DYING_WAIT))
		return;
	t->flags &= ~TF_DYING_WAIT;
	if (t->dying_round == s->dying_round)
		__sync_fetch_and_sub(&s->dying_waits, 1);
}

/* Ask what was put off, where no task's death is the occasion. */
static void ask_anyway(struct zug_sandbox *s, __u32 slot)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct task_state no_task = { .slot = slot };

	s->need_ask = 0;
	asks(s);
	emit(s, ZUG_EV_ASK, ZUG_EF_ASK, p, &no_task, 0, 0);
}

/* The last dying task has left: ask what give_up() put off. */
static void ask_late(struct zug_sandbox *s, __u32 slot, struct task_struct *p,
		     const struct task_state *t)
{
	if (s->holder || !s->need_ask)
		return;
	if (dying_first(slot, s)) {
		scx_bpf_kick_cpu(s->setup.lane, 0);
		return;
	}
	s->need_ask = 0;
	asks(s);
	emit(s, ZUG_EV_ASK, ZUG_EF_ASK, p, t, 0, 0);
}

/*
 * The holder has stopped, as that event says, to hand the turn to the next one of the plan. 0: what happened meanwhile is for
 * user space to see. (The verifier looks at it by itself: within zug_enqueue() there are too many ways to get here.)
 */
__noinline int hand_over(__u32 slot, struct zug_event *ev)
{
	struct zug_sandbox *s;
	struct zug_event e = { .kind = ZUG_EV_HAND, .flags = ZUG_EF_LEASED, .site = ZUG_NO_SITE, .nr = -1 };
	struct zug_plan *plan;
	struct zug_lease *l;
	struct zug_peer *to;
	__u32 next, lock;

	if (!ev || slot >= ZUG_MAX_SANDBOXES)
		return 0;
	s = &sandboxes[slot];
	l = &leases[slot];
	plan = &l->plan;
	next = plan->next;
	plan->next = 0;
	if (!next || s->need_ask || dying_first(slot, s)) {
		lease_note(l, ZUG_WHY_DIES);
		ev->flags &= ~ZUG_EF_LEASED;
		/* user space looks at the task itself */
		if (ev->kind == ZUG_EV_SYSCALL || ev->kind == ZUG_EV_BEHIND)
			ev->sp = plan->sp;
		return 0;
	}
	to = &plan->peers[(next - 1) & (ZUG_PLAN_PEERS - 1)];
	lock = plan->peers[plan->holder & (ZUG_PLAN_PEERS - 1)].lock;
	e.sandbox = slot;
	e.task = ev->task;
	e.pid = ev->pid;
	e.tgid = ev->tgid;
	e.arg[0] = to->task;
	e.arg[1] = lock;
	if (lock) {
		e.arg[2] = l->locks[(lock - 1) & (ZUG_LEASE_LOCKS - 1)].addr;
		__builtin_memcpy(e.word, l->locks[(lock - 1) & (ZUG_LEASE_LOCKS - 1)].word, sizeof(e.word));
	}
	event_send(s, &e);
	event_send(s, ev);
	plan->holder = next - 1;
	s->stopping = 0;
	s->holder = 0;
	s->holder_io = ZUG_IO_NOT;
	s->turn.granted_at = 0;
	s->grant_pid = to->pid;
	s->grant = to->task;
	return 1;
}

/* Who was handed the turn gets it now, also where the lane has picked idle already. */
static __always_inline void look_again(struct zug_sandbox *s)
{
	scx_bpf_kick_cpu(s->setup.lane, SCX_KICK_IDLE);
}

/* A socket of that family behind a descriptor of the task is one of TCP or UDP: socket_wait() of user space. */
static __noinline bool is_transport(struct task_struct *p, __u64 fd, __u64 family)
{
	struct file *f = fd_file(p, fd);
	struct socket *sock;
	__u32 protocol;

	if (!f || (family != AF_INET_ && family != AF_INET6_))
		return false;
	sock = BPF_CORE_READ(f, private_data);
	protocol = BPF_CORE_READ(sock, sk, sk_protocol);
	return protocol == 6 /* IPPROTO_TCP */ || protocol == 17 /* _UDP */ || protocol == 262 /* _MPTCP */;
}

/*
 * What lies behind the descriptor that the task waits for is one that only tasks of the test have, as far as it tells by
 * itself.
 */
static __always_inline bool waits_inside(struct task_struct *p, const struct task_state *t, const struct zug_lease *l)
{
	const struct zug_where *w = &t->ev.obj;

	if (!(t->ev.flags & ZUG_EF_OBJECT))
		return false;
	if ((w->mode & 0170000) == 0140000 /* S_IFSOCK */)
		return w->offset == AF_UNIX_ || (l->flags & ZUG_LEASE_NETWORK && is_transport(p, t->args[0], w->offset));
	return (w->mode & 0170000) == 0010000 /* S_IFIFO */ && on_pipefs(p, t->args[0]);
}

/* The wait that t->ev tells of is a plain one: user space has nothing to do or to look at before others go on. */
static __always_inline bool waits_plainly(struct task_struct *p, const struct task_state *t, const struct zug_lease *l)
{
	const __u32 looks = ZUG_EF_TIMED | ZUG_EF_TIMER | ZUG_EF_STOPPED | ZUG_EF_ENDLESS | ZUG_EF_OVER;

	if (t->ev.flags & looks || t->ev.deadline)
		return false;
	if (t->ev.flags & ZUG_EF_VFORK)
		return true;
	if (t->ev.nr == NR_wait4 || t->ev.nr == NR_waitid)
		return true;
	/*
	 * whether tasks wait for locks in a circle is found out where they stand still: a wait for a condition is none
	 * for its mutex
	 */
	if (t->ev.nr == NR_futex)
		return !t->last_lock || t->gathers || t->ev.arg[0] - t->last_lock >= 64;
	return waits_inside(p, t, l);
}

/* The end that t->ev tells of is one of a thread, or of a process that is not the test's first; and of no fault. */
static __always_inline bool ends_plainly(struct task_struct *p, const struct task_state *t, const struct zug_lease *l)
{
	return !t->ev.ip && l->flags & ZUG_LEASE_ENDS && (!(t->ev.flags & ZUG_EF_ROOT) || p->tgid != l->root);
}

/* The holder sleeps or is dead, as t->ev says: true where its plan hands the turn on. */
static __noinline bool leaves(struct zug_sandbox *s, struct task_state *t)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct zug_lease *l;

	if (t->slot >= ZUG_MAX_SANDBOXES)
		return false;
	l = &leases[t->slot];
	if (!l->left || ring_crowded(t))
		return false;
	if (lease_due(s, l)) {
		lease_note(l, ZUG_WHY_TIME);
		return false;
	}
	if (!l->plan.kind || (t->ev.kind == ZUG_EV_EXIT ? !ends_plainly(p, t, l) : !waits_plainly(p, t, l))) {
		lease_note(l, t->ev.kind == ZUG_EV_EXIT ? ZUG_WHY_ENDS : ZUG_WHY_BLOCKS);
		return false;
	}
	if (!plan_leaves(t->slot))
		return false;
	if (s->turn_since)
		s->ran_ns += bpf_ktime_get_ns() - s->turn_since;
	t->ev.flags |= ZUG_EF_LEASED;
	if (!hand_over(t->slot, &t->ev))
		return false;
	look_again(s);
	return true;
}

#endif
