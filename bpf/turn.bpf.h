/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * turn.bpf.h - exactly one task of a sandbox runs: the sched_ext scheduler
 *
 * All tasks of a sandbox run on one CPU, its lane. A task that becomes
 * runnable is parked in the sandbox's own dispatch queue; only the one that
 * user space granted the turn (the holder) is moved to the lane's local queue,
 * with an infinite slice. The holder gives the turn up when it stops at a point
 * (points.bpf.h sets TF_STOP and kicks its CPU), yields, blocks, or dies; then
 * a decision is due (ZUG_EF_ASK). What is *not* a scheduling event:
 *
 *  - being preempted by a real-time or fair task, or a slice that was cut:
 *    the holder goes straight back to the local queue;
 *  - waiting for storage (page fault, disk, a file of a FUSE server outside): the
 *    turn stays (TF_IO). Where what it waits for is known to be dying tasks of
 *    the sandbox (core dump, exec from a thread), these are run meanwhile as
 *    `aux`; where it waits for a parked one, user space lends the turn after a
 *    while (ZUG_CMD_LEND);
 *  - a stop by a debugger (ptrace): the holder keeps the turn until it is let go;
 *  - death: a task with SIGKILL pending executes no more of its program. When
 *    the turn is free such tasks are run to their end, oldest first, before
 *    the next question, so that the enabled set is complete when it is shown.
 *    Some sleep on the way (closing an inotify descriptor waits for the kernel,
 *    the last close of a file for its server): they are waited for, too, until
 *    user space has lost patience (ZUG_CMD_LEND).
 *
 * The kernel ejects a scheduler that leaves a runnable task off the CPU for
 * 30 s. A *blip* resets that clock: every parked task is dispatched once with
 * TF_BLIP, and kicked off again in ops.running before it gets back to user mode.
 * A holder that computes goes off the lane for each of them, and on again: only
 * then does the kernel ask for the next task to dispatch.
 * A timer of the kernel's begins it, so that a search outlives that zug is stopped.
 *
 * A CPU that is switched off, or on, is no reason to end, unless it is the lane
 * of a sandbox: then the scheduler leaves, and says so.
 */
#ifndef ZUG_TURN_BPF_H
#define ZUG_TURN_BPF_H

#include "hand_over.bpf.h"

SEC("struct_ops/zug_select_cpu")
s32 BPF_PROG(zug_select_cpu, struct task_struct *p, s32 prev_cpu, u64 wake_flags)
{
	struct task_state *t = state_of(p);
	struct zug_sandbox *s;
	bool idle = false;

	if (t && (s = sandbox_of(t)) && s->state != ZUG_SB_FREE)
		return s->setup.lane;
	return scx_bpf_select_cpu_dfl(p, prev_cpu, wake_flags, &idle);
}

/* Back to the lane. The lane may have picked idle already (SCX_ENQ_LAST): it must look again. */
static __always_inline void run_now(struct zug_sandbox *s, struct task_struct *p, u64 enq_flags)
{
	scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL_ON | s->setup.lane, ZUG_SLICE_INF, enq_flags);
	scx_bpf_kick_cpu(s->setup.lane, SCX_KICK_IDLE);
}

/* Lets a task that is not, or not yet, under control run where the kernel would. */
static __always_inline void enqueue_free(struct task_struct *p, struct task_state *t, u64 enq_flags)
{
	struct zug_sandbox *s = t ? sandbox_of(t) : NULL;

	if (s && member(t, s) && (t->flags & TF_STOP)) {
		/* first stop of the root: from here on it is under control */
		t->flags &= ~(TF_STOP | TF_START);
		scx_bpf_dsq_insert(p, ZUG_DSQ(t->slot), ZUG_SLICE_INF, enq_flags);
		if (!s->holder && !s->need_ask)
			give_up(s, t->slot, &t->ev);
		else
			event_send(s, &t->ev);
		return;
	}
	/* another CPU may go on with tasks of a higher class for ever, while the lane is idle */
	if (s && s->state != ZUG_SB_FREE && !p->migration_disabled && bpf_cpumask_test_cpu(s->setup.lane, p->cpus_ptr)) {
		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL_ON | s->setup.lane, SCX_SLICE_DFL, enq_flags);
		scx_bpf_kick_cpu(s->setup.lane, SCX_KICK_IDLE);
		return;
	}
	scx_bpf_dsq_insert(p, SCX_DSQ_GLOBAL, SCX_SLICE_DFL, enq_flags);
}

/* Ends the turn of the holder at its point (TF_STOP) or its sched_yield(), unless a lease lets it go on. */
static __always_inline void enqueue_stopped(struct zug_sandbox *s, struct task_struct *p, struct task_state *t, u64 enq_flags)
{
	bool stop = t->flags & TF_STOP;
	__u32 slot = t->slot;

	t->flags &= ~(TF_STOP | TF_YIELD);
	if (!stop) {
		event_init(&t->ev, ZUG_EV_YIELD, p, t);
		t->ev.nr = t->nr;
		clock_look(s);
		if (!ring_crowded(t) && !others_queued(s, slot) && !alarm_due(s) && yields_alone(s, t)) {
			t->ev.flags |= ZUG_EF_LONE;
			s->nr_points++;
			event_send(s, &t->ev);
			run_now(s, p, enq_flags);
			return;
		}
		if (!ring_crowded(t) && yields_leased(slot)) {
			s->nr_points++;
			event_send(s, &t->ev);
			run_now(s, p, enq_flags);
			return;
		}
		lease_noted(t, ZUG_WHY_YIELDS);
		s->nr_points++;
	}
	scx_bpf_dsq_insert(p, ZUG_DSQ(slot), ZUG_SLICE_INF, enq_flags);
	if (t->flags & TF_HAND) {
		t->flags &= ~TF_HAND;
		if (hand_over(slot, &t->ev)) {
			look_again(s);
			return;
		}
	}
	give_up(s, slot, &t->ev);
}

/* Queues a task that has no turn, and tells who woke it. */
static __always_inline void enqueue_woken(struct zug_sandbox *s, struct task_struct *p, struct task_state *t, u64 enq_flags)
{
	__u32 slot = t->slot, waker = 0;
	struct task_state *w;

	scx_bpf_dsq_insert(p, ZUG_DSQ(slot), ZUG_SLICE_INF, enq_flags);
	if (is_dying(p, t)) {
		lease_ends(t, ZUG_WHY_DIES);
		t->flags |= TF_DYING;
		s->may_die = 1;
		dying_wakes(s, t);
		if (!s->aux && (!s->holder || s->holder_io == ZUG_IO_DYING))
			scx_bpf_kick_cpu(s->setup.lane, 0);
		return;
	}
	w = state_of(bpf_get_current_task_btf());
	if (w && w->slot == slot && w->id == s->holder)
		waker = w->id;
	/* a wake-up out of a timed wait may have to be looked into (kworld_hold()) */
	if (!waker || t->flags & TF_TIMED || (slot < ZUG_MAX_SANDBOXES &&
		       (leases[slot].flags & ZUG_LEASE_WAKE || (leases[slot].plan.kind && !plan_awake(slot, t->id, &t->peer) &&
								 leases[slot].plan.kind != ZUG_PLAN_STEPS))))
		lease_ends(t, ZUG_WHY_WAKES);
	emit(s, ZUG_EV_WAKE, t->flags & TF_RAN ? 0 : ZUG_EF_NEW, p, t, waker, 0);
}

SEC("struct_ops/zug_enqueue")
void BPF_PROG(zug_enqueue, struct task_struct *p, u64 enq_flags)
{
	struct task_state *t = state_of(p);
	struct zug_sandbox *s;

	if (!t || !(s = sandbox_of(t)) || !controlled(t, s)) {
		enqueue_free(p, t, enq_flags);
		return;
	}
	if (t->flags & TF_HANDED) {
		t->flags &= ~TF_HANDED;
		scx_bpf_dsq_insert(p, ZUG_DSQ(t->slot), ZUG_SLICE_INF, enq_flags);
		return;
	}
	if (t->flags & TF_BLIP) {
		t->flags &= ~TF_BLIP;
		scx_bpf_dsq_insert(p, ZUG_DSQ(t->slot), ZUG_SLICE_INF, enq_flags);
		scx_bpf_kick_cpu(s->setup.lane, SCX_KICK_PREEMPT);
		return;
	}
	if (s->aux == t->id) {
		run_now(s, p, enq_flags);
		return;
	}
	if (s->holder != t->id) {
		enqueue_woken(s, p, t, enq_flags);
		return;
	}
	if (t->flags & TF_TRACED) {
		t->flags &= ~TF_TRACED;
		s->turn_since = bpf_ktime_get_ns();
	}
	if (t->flags & TF_IO) {
		t->flags &= ~TF_IO;
		s->holder_io = ZUG_IO_NOT;
		s->lend = 0;
	}
	if (t->flags & (TF_STOP | TF_YIELD))
		enqueue_stopped(s, p, t, enq_flags);
	else
		run_now(s, p, enq_flags);
}

/*
 * The holder, or one that dies, has waited for long: the others go on, first of all those that die. Done here,
 * under the lock of the lane, because it may be waking up at this moment.
 */
static void lend(__u32 slot, struct zug_sandbox *s)
{
	__u32 pid = s->lend;
	struct task_struct *p;
	struct task_state *t;

	s->lend = 0;
	if (pid == ZUG_LEND_DYING) {
		if (s->holder || s->aux || !s->need_ask || !s->dying_waits)
			return;
		s->dying_round++;
		s->dying_waits = 0;
		if (!has_dying(slot, s))
			ask_anyway(s, slot);
		return;
	}
	p = bpf_task_from_pid(pid);
	if (!p)
		return;
	t = state_of(p);
	if (!t || t->slot != slot || s->holder != t->id || !(t->flags & TF_IO)) {
		bpf_task_release(p);
		return;
	}
	s->may_die = 1;
	if (s->holder_io == ZUG_IO_STORAGE && has_dying(slot, s)) {
		s->holder_io = ZUG_IO_DYING;
		s->io_since = bpf_ktime_get_ns();
	} else if (s->holder_io) {
		t->flags &= ~TF_IO;
		fault_over(s, p, t, false);
		event_init(&t->ev, ZUG_EV_LENT, p, t);
		t->ev.nr = t->nr;
		give_up(s, slot, &t->ev);
	}
	bpf_task_release(p);
}

/*
 * The task that was granted the turn goes to the lane, if it is in the queue. It is found by its number: a walk over the
 * queue would make each decision dearer the more tasks there are.
 */
static bool dispatch_granted(__u32 slot, struct zug_sandbox *s)
{
	struct task_struct *p = bpf_task_from_pid(s->grant_pid);
	struct bpf_iter_scx_dsq queue;
	struct task_state *t;
	bool moved = false;
	__u64 now;
	__u32 id;

	if (!p)
		return false;
	t = state_of(p);
	if (t && t->slot == slot && t->run == s->run && t->id == s->grant) {
		id = t->id;
		t->flags &= ~TF_BLIP;
		s->grant = 0;
		s->holder = id;
		now = s->turn_since = bpf_ktime_get_ns();
		if (bpf_iter_scx_dsq_new(&queue, ZUG_DSQ(slot), 0) ||
		    !scx_bpf_dsq_move(&queue, p, SCX_DSQ_LOCAL, 0)) {
			s->holder = 0;
			s->grant = id;
		} else {
			moved = true;
			if (s->turn.granted_at)
				s->grant_ns += now - s->turn.granted_at;
		}
		bpf_iter_scx_dsq_destroy(&queue);
	}
	bpf_task_release(p);
	return moved;
}

/*
 * The task that leaves the lane has stopped to hand the turn on: the next one comes to the lane before that one is put back. In
 * zug_enqueue() the lane has picked idle by then, and would have to look once more.
 */
static bool hand_ahead(__u32 slot, struct zug_sandbox *s, struct task_struct *prev)
{
	const __u32 wanted = TF_STOP | TF_HAND, others = TF_BLIP | TF_TRACED | TF_IO | TF_YIELD;
	struct task_state *t = prev ? state_of(prev) : NULL;

	/* one that sleeps is not put back */
	if (!t || t->slot != slot || s->holder != t->id || !controlled(t, s) || s->aux || prev->on_rq != 1 ||
	    (t->flags & (wanted | others)) != wanted || !hand_over(slot, &t->ev))
		return false;
	t->flags = (t->flags & ~wanted) | TF_HANDED;
	if (!dispatch_granted(slot, s))
		look_again(s);
	return true;
}

/*
 * The oldest task that dies comes to the lane: 1; 0: there is none. A function of its own to BPF, as the next one: else the
 * verifier looks at it once for each way in which zug_dispatch() can come here.
 */
__noinline int dispatch_dying(__u32 slot)
{
	struct zug_sandbox *s = &sandboxes[slot & (ZUG_MAX_SANDBOXES - 1)];
	struct task_struct *p;
	int moved = 0;

	bpf_for_each(scx_dsq, p, ZUG_DSQ(slot), 0) {
		struct task_state *t = state_of(p);

		if (!t || !is_dying(p, t))
			continue;
		t->flags |= TF_DYING;
		s->aux = t->id;
		if (scx_bpf_dsq_move(BPF_FOR_EACH_ITER, p, SCX_DSQ_LOCAL, 0)) {
			moved = 1;
			break;
		}
		s->aux = 0;
	}
	return moved;
}

/* The next task for the blip that goes on; or that is over. */
__noinline int dispatch_blip(__u32 slot)
{
	struct zug_sandbox *s = &sandboxes[slot & (ZUG_MAX_SANDBOXES - 1)];
	struct task_struct *p;
	bool more = false;

	bpf_for_each(scx_dsq, p, ZUG_DSQ(slot), 0) {
		struct task_state *t = state_of(p);

		if (!t || t->blip == s->blip)
			continue;
		t->blip = s->blip;
		t->flags |= TF_BLIP;
		if (!scx_bpf_dsq_move(BPF_FOR_EACH_ITER, p, SCX_DSQ_LOCAL, 0))
			t->flags &= ~TF_BLIP;
		more = true;
		break;
	}
	if (!more)
		s->blip = 0;
	return more;
}

/* One pass over the queue of a sandbox whose lane this is. prev: who leaves it; or NULL. */
static void dispatch_sandbox(__u32 slot, struct zug_sandbox *s, struct task_struct *prev)
{
	bool dying_turn;

	if (s->lend)
		lend(slot, s);
	if (hand_ahead(slot, s, prev))
		return;
	dying_turn = s->may_die && !s->aux && (!s->holder || s->holder_io == ZUG_IO_DYING);
	if (!scx_bpf_dsq_nr_queued(ZUG_DSQ(slot))) {
		s->blip = 0;
		return;
	}
	if (dying_turn) {
		if (dispatch_dying(slot))
			return;
		/* what was dying has gone elsewhere: the question must not get lost */
		if (s->need_ask && !s->holder && !s->dying_waits)
			ask_anyway(s, slot);
	}
	if (s->aux)
		return;
	if (!s->holder && s->grant && dispatch_granted(slot, s))
		return;
	if (s->blip)
		dispatch_blip(slot);
}

/* The first sandbox from that one on which may have this lane; ZUG_MAX_SANDBOXES: there is none. */
static __u32 next_on_lane(__u32 cpu, __u32 slot)
{
	__u64 left = ~0ull << (slot & 63);
	__u32 word;

	for (word = slot / 64; word < SLOT_WORDS; word++, left = ~0ull) {
		left &= lane_slots[cpu & (LANE_LINES - 1)][word & (SLOT_WORDS - 1)];
		if (left)
			return word * 64 + __builtin_ctzll(left);
	}
	return ZUG_MAX_SANDBOXES;
}

SEC("struct_ops/zug_dispatch")
void BPF_PROG(zug_dispatch, s32 cpu, struct task_struct *prev)
{
	__u32 i, slot, from = 0;

	bpf_for(i, 0, nr_slots) {
		struct zug_sandbox *s;

		slot = next_on_lane(cpu, from);
		if (slot >= ZUG_MAX_SANDBOXES)
			break;
		from = slot + 1;
		s = &sandboxes[slot];
		if (s->setup.lane != (__u32)cpu)
			continue;
		if (s->state == ZUG_SB_DRAIN)
			scx_bpf_dsq_move_to_local(ZUG_DSQ(slot));
		else if (s->state == ZUG_SB_ACTIVE)
			dispatch_sandbox(slot, s, prev);
	}
}

SEC("struct_ops/zug_running")
void BPF_PROG(zug_running, struct task_struct *p)
{
	struct task_state *t = state_of(p);
	struct zug_sandbox *s;

	if (!t || !(s = sandbox_of(t)))
		return;
	if (s->state == ZUG_SB_DRAIN && p->scx.slice == ZUG_SLICE_INF)
		p->scx.slice = SCX_SLICE_DFL;
	if (!controlled(t, s))
		return;
	if (t->flags & TF_BLIP) {
		scx_bpf_kick_cpu(s->setup.lane, SCX_KICK_PREEMPT);
		return;
	}
	t->flags |= TF_RAN;
	if (t->id == s->holder || t->id == s->aux)
		return;
	s->nr_ungranted++;
	emit(s, ZUG_EV_UNGRANTED, 0, p, t, s->holder, p->__state);
}

/*
 * Uninterruptible, or in a page fault, or in a call that waits for nothing else: file systems
 * in user space (virtiofs) wait interruptibly. A vfork parent waits for its child. What has no length
 * is over as soon as the kernel's timer has run.
 */
static __always_inline bool waits_for_storage(struct task_struct *p, const struct task_state *t,
					      __u32 st, __s32 nr)
{
	struct zug_where w;

	if (st & TASK_DEAD_)
		return false;
	if ((p->flags & PF_EXITING_) && (st & (TASK_INTERRUPTIBLE_ | TASK_UNINTERRUPTIBLE_)))
		return true;
	if (st & TASK_UNINTERRUPTIBLE_)
		return !(t->flags & TF_VFORK);
	if (!(st & TASK_INTERRUPTIBLE_))
		return false;
	if (nr < 0 || (t->flags & TF_INSTANT))
		return true;
	if (nr >= ZUG_NR_SYSCALLS || t->flags & TF_FIFO)
		return false;
	if (syscalls[nr].io)
		return true;
	if (!syscalls[nr].wait_fd || !fd_where(p, t->args[0], &w))
		return false;
	switch (w.mode & 0170000) {
	case 0100000: /* S_IFREG */
	case 0040000: /* S_IFDIR */
		/* a POSIX message queue is a regular file */
		return nr != NR_flock && nr != NR_fcntl && nr != NR_mq_timedsend && nr != NR_mq_timedreceive;
	case 0140000: /* S_IFSOCK: a connection by name is looked up in the file system */
		return nr == NR_connect && w.offset == AF_UNIX_;
	}
	return false;
}

/* True when only dying tasks can end its wait. */
static __always_inline bool waits_for_the_dying(struct task_struct *p)
{
	struct core_state *core = LOOSE(p)->signal->core_state;

	return (core && core->nr_threads.counter > 0) || LOOSE(p)->signal->group_exec_task ||
	       ((p->flags & PF_EXITING_) && (LOOSE(p)->signal->flags & SIGNAL_UNKILLABLE_));
}

/*
 * Tasks in the queue may have SIGKILL pending because of what this one does: it ends its process, or takes it over by
 * exec. (A signal from elsewhere says so itself; a thread that ends alone takes none along.)
 */
static __always_inline bool kills_others(struct task_struct *p)
{
	return (p->flags & PF_EXITING_) &&
	       (LOOSE(p)->signal->flags & SIGNAL_GROUP_EXIT_ || LOOSE(p)->signal->core_state ||
		LOOSE(p)->signal->group_exec_task);
}

/* What its parent will be told, once the last thread of its process is dead. */
static __always_inline __u64 exit_status(struct task_struct *p)
{
	return LOOSE(p)->signal->flags & SIGNAL_GROUP_EXIT_ ? LOOSE(p)->signal->group_exit_code :
						       LOOSE(p)->group_leader->exit_code;
}

/* Where a fault of its own, as far as the status tells, ended the program; 0: something else did. */
static __always_inline __u64 fault_ip(struct task_struct *p)
{
	__u32 sig = exit_status(p) & 0x7f;

	return sig == 4 || sig == 5 || sig == 7 || sig == 8 || sig == 11 || sig == 31 ? user_ip(p) : 0;
}

/* True when it is traced by a task of its own sandbox (a leak checker stops its program so): then that one needs the turn. */
static bool traced_from_within(struct task_struct *p, const struct task_state *t)
{
	struct task_struct *tracer = p->parent;
	struct task_state *other = tracer ? state_of(tracer) : NULL;

	return other && other->slot == t->slot && other->run == t->run;
}

/* The holder blocks in the call nr: what user space has to know of its wait. */
static __always_inline void describe_block(struct zug_sandbox *s, struct task_struct *p, struct task_state *t, __s32 nr)
{
	struct zug_event *e = &t->ev;
	__u32 st = p->__state;

	event_init(e, ZUG_EV_BLOCK, p, t);
	if (t->flags & TF_VFORK)
		e->flags |= ZUG_EF_VFORK;
	if (t->flags & TF_TIMED)
		e->flags |= ZUG_EF_TIMED;
	if (st & TASK_STOPPED_)
		e->flags |= ZUG_EF_STOPPED;
	if (timer_armed(p))
		e->flags |= ZUG_EF_TIMER;
	if (nr == NR_restart_syscall && (t->flags & TF_TIMED))
		nr = t->timed_nr;
	e->nr = nr;
	e->state = st;
	e->arg[0] = t->args[0];
	e->arg[1] = t->args[1];
	e->arg[2] = t->args[2];
	e->arg[3] = t->args[3];
	if (waits_on_fd(nr) && fd_where(p, t->args[0], &e->obj))
		e->flags |= ZUG_EF_OBJECT;
	if (t->flags & TF_ENDLESS)
		e->flags |= ZUG_EF_ENDLESS;
	if (t->flags & TF_INSIDE)
		e->flags |= ZUG_EF_INSIDE;
	if (!(t->flags & TF_TIMED) || !s->setup.virtual_time)
		return;
	e->deadline = t->deadline;
	e->time_addr = !t->deadline || (t->flags & TF_REWROTE) ? t->time_addr : 0;
	e->time_orig[0] = t->time_orig[0];
	e->time_orig[1] = t->time_orig[1];
	/* user space puts it back at once: no other task may see it */
	t->flags &= ~TF_REWROTE;
}

/* A task that does not have the turn is dead. */
static __noinline void dies_aside(struct zug_sandbox *s, struct task_struct *p, struct task_state *t)
{
	lease_ends(t, ZUG_WHY_DIES);
	emit(s, ZUG_EV_EXIT, LOOSE(p)->signal->live.counter == 0 ? ZUG_EF_ROOT : 0, p, t, exit_status(p), 0);
}

/*
 * The current task, which has the turn, is about to leave its call, and stops there as if it had blocked in it
 * (over_early()).
 */
__noinline int stands_behind(__s32 nr)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct task_state *t = state_of(p);
	struct zug_sandbox *s;

	if (!t || !(s = sandbox_of(t)))
		return 0;
	fault_over(s, p, t, false);
	s->looks = 0;
	describe_block(s, p, t, nr);
	t->ev.flags |= ZUG_EF_OVER;
	t->flags = (t->flags & ~(TF_VFORK | TF_YIELD)) | TF_STOP | TF_SLEPT;
	scx_bpf_kick_cpu(bpf_get_smp_processor_id(), SCX_KICK_PREEMPT);
	return 0;
}

/*
 * A task goes to sleep, or is dead. Not so where the kernel takes it off and puts it back for a change of
 * its group or priority: it may do that to the running task, in any state, and then calls neither
 * enqueue nor dispatch.
 */
SEC("struct_ops/zug_quiescent")
void BPF_PROG(zug_quiescent, struct task_struct *p, u64 deq_flags)
{
	struct task_state *t = state_of(p);
	struct zug_sandbox *s;
	__s32 nr;
	__u32 st;

	if (!t || !(s = sandbox_of(t)) || !controlled(t, s))
		return;
	if (kills_others(p))
		s->may_die = 1;
	if (!(deq_flags & SCX_DEQ_SLEEP))
		return;
	st = p->__state;
	if ((st & TASK_TRACED_) && !(t->flags & TF_TAKEN) &&
	    (t->id == s->holder || t->id == s->aux) && !traced_from_within(p, t)) {
		t->flags |= TF_TRACED;
		return;
	}
	if (t->id == s->aux) {
		s->aux = 0;
		if (st & TASK_DEAD_)
			dies_aside(s, p, t);
		else
			dying_sleeps(s, p, t);
		if (!s->holder)
			ask_late(s, t->slot, p, t);
		else if (s->holder_io == ZUG_IO_DYING)
			scx_bpf_kick_cpu(s->setup.lane, 0);
		return;
	}
	if (t->id != s->holder) {
		if (st & TASK_DEAD_)
			dies_aside(s, p, t);
		return;
	}
	nr = user_syscall(p);
	if ((t->flags & TF_TIMED) && nr >= 0 && s->setup.virtual_time && !late_deadline(nr))
		t->flags |= TF_INSTANT;
	if (waits_for_storage(p, t, st, nr)) {
		t->flags |= TF_IO;
		s->holder_io = waits_for_the_dying(p) ? ZUG_IO_DYING : ZUG_IO_STORAGE;
		s->io_since = bpf_ktime_get_ns();
		s->may_die |= s->holder_io == ZUG_IO_DYING;
		if (s->holder_io == ZUG_IO_DYING && has_dying(t->slot, s))
			scx_bpf_kick_cpu(s->setup.lane, 0);
		return;
	}
	fault_over(s, p, t, false);
	/* when a task is sent back into its wait depends on the machine, and counts for nothing */
	if (!(st & TASK_TRACED_) && !(t->flags & TF_REPEATS)) {
		s->looks = 0;
		if (st & TASK_DEAD_ || t->flags & TF_TIMED)
			s->nr_idle = 0;
	}
	t->flags |= TF_SLEPT;
	if (st & TASK_DEAD_) {
		event_init(&t->ev, ZUG_EV_EXIT, p, t);
		t->ev.arg[0] = exit_status(p);
		t->ev.ip = fault_ip(p);
		if (LOOSE(p)->signal->live.counter == 0)
			t->ev.flags |= ZUG_EF_ROOT;
	} else {
		describe_block(s, p, t, nr);
	}
	t->flags &= ~(TF_VFORK | TF_STOP | TF_YIELD | TF_TAKEN | TF_HAND);
	if (p != bpf_get_current_task_btf() || st & TASK_TRACED_ || !leaves(s, t))
		give_up(s, t->slot, &t->ev);
}

/* Ticks that the holder of each sandbox has seen since it got to where it is. */
static struct {
	__u64 since;		/* turn_since then */
	__u64 nr;
} ticks[ZUG_MAX_SANDBOXES];

/* One that computes sees at least so many in the shortest time of a spin; a machine that stalled makes up for none. */
#define SPIN_TICKS	5
/* Where states are compared each stop is a sample. It has executed something since the tick before. */
#define SAMPLE_TICKS	2
#define SAMPLE_NS	20000000ull

static __always_inline bool computes(const struct zug_sandbox *s, __u32 slot)
{
	slot &= ZUG_MAX_SANDBOXES - 1;
	if (ticks[slot].since != s->turn_since)
		ticks[slot].nr = 0;
	ticks[slot].since = s->turn_since;
	return ++ticks[slot].nr >= (s->turn.spin_ns < SAMPLE_NS ? SAMPLE_TICKS : SPIN_TICKS);
}

/*
 * An interpreter executes the program, and would have come to a place where it looks what others want: these are out until the
 * search begins.
 */
static __always_inline bool looks_are_out(const struct zug_sandbox *s, struct task_struct *p)
{
	__u64 key;
	struct space *sp;

	if (!s->quiet || !s->turn.looks_out)
		return false;
	key = (__u64)BPF_CORE_READ(p, mm);
	sp = bpf_map_lookup_elem(&spaces, &key);
	return sp && sp->data;
}

/*
 * A task that computes for long without a point would starve the rest: stop it in user mode. Where there is no rest
 * user space looks, much more seldom, whether it waits for what no task is left to do.
 */
SEC("struct_ops/zug_tick")
void BPF_PROG(zug_tick, struct task_struct *p)
{
	struct task_state *t = state_of(p);
	struct zug_sandbox *s;
	bool lone, busy;
	__u64 ran;

	if (!t || !(s = sandbox_of(t)) || !controlled(t, s) || t->id != s->holder)
		return;
	busy = computes(s, t->slot);
	ran = bpf_ktime_get_ns() - s->turn_since;
	if (!s->turn.spin_ns || ran < s->turn.spin_ns || !busy || looks_are_out(s, p))
		return;
	lone = !others_queued(s, t->slot);
	if ((lone && ran < s->turn.lone_ns) || !tick_in_user(p))
		return;
	event_init(&t->ev, ZUG_EV_SPIN, p, t);
	lease_noted(t, ZUG_WHY_OTHER);
	t->ev.arg[0] = lone;
	t->ev.ip = user_ip(p);
	t->flags |= TF_STOP;
	scx_bpf_kick_cpu(s->setup.lane, SCX_KICK_PREEMPT);
}

/* Membership is inherited here, where it cannot be missed: a fork fails rather than escape. */
SEC("struct_ops.s/zug_init_task")
s32 BPF_PROG(zug_init_task, struct task_struct *p, struct scx_init_task_args *args)
{
	struct task_state *parent, *t;
	struct zug_sandbox *s;

	if (!args->fork)
		return 0;
	parent = state_of(bpf_get_current_task_btf());
	if (!parent || !(s = sandbox_of(parent)) || s->state == ZUG_SB_FREE)
		return 0;
	t = state_new(p);
	if (!t) {
		__sync_fetch_and_add(&s->nr_refused, 1);
		return -12 /* ENOMEM */;
	}
	if (template_forks(s, parent, t))
		return 0;
	t->slot = parent->slot;
	t->flags = parent->flags & (TF_PRE | TF_START);
	t->nr = -1;
	t->run = parent->run;
	t->path = (parent->path ^ ++parent->nr_children) * 0x9e3779b97f4a7c15ull + 1;
	t->id = __sync_fetch_and_add(&s->next_id, 1);
	return 0;
}

/* A task is gone, or was not created after all. */
SEC("struct_ops/zug_exit_task")
void BPF_PROG(zug_exit_task, struct task_struct *p, struct scx_exit_task_args *args)
{
	state_free(p);
}

SEC("struct_ops/zug_disable")
void BPF_PROG(zug_disable, struct task_struct *p)
{
	struct task_state *t = state_of(p);
	struct zug_sandbox *s;

	if (!t || !(s = sandbox_of(t)) || !controlled(t, s) || (p->flags & PF_EXITING_))
		return;
	emit(s, ZUG_EV_LEAVE, 0, p, t, 0, 0);
}

/*
 * The test's own calls do nothing, but another process of its user can take a task off the lane. It could never run there
 * again, and the kernel would throw the scheduler out: control of the execution ends, and all of it runs freely. (The mask that
 * comes here is another one, of one CPU, while the kernel keeps a task from moving.)
 */
SEC("struct_ops/zug_set_cpumask")
void BPF_PROG(zug_set_cpumask, struct task_struct *p, const struct cpumask *mask)
{
	struct task_state *t = state_of(p);
	struct zug_sandbox *s;

	if (!t || !(s = sandbox_of(t)) || !member(t, s) || bpf_cpumask_test_cpu(s->setup.lane, &p->cpus_mask))
		return;
	emit(s, ZUG_EV_LEAVE, 0, p, t, 2, 0);
	s->state = ZUG_SB_DRAIN;
	scx_bpf_kick_cpu(s->setup.lane, SCX_KICK_PREEMPT);
}

struct blip_timer {
	struct bpf_timer timer;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct blip_timer);
} blip_timers SEC(".maps");

static __u32 nr_blips;

/*
 * Every sandbox whose last blip, or beginning, is long ago has one now. A kick does nothing while a task of another
 * class has the lane: it is repeated until the blip is over, and while a sandbox is drained, whose holder had the lane
 * without an end.
 */
static int blip_all(void *map, __u32 *key, struct blip_timer *b)
{
	__u64 now = bpf_ktime_get_ns(), look = ZUG_BLIP_LOOK_NS, apart;
	__u32 i;

	bpf_for(i, 0, nr_slots) {
		struct zug_sandbox *s = &sandboxes[i & (ZUG_MAX_SANDBOXES - 1)];

		apart = s->setup.blip_ms ? s->setup.blip_ms * 1000000ull : ZUG_BLIP_NS;
		if (s->state == ZUG_SB_ACTIVE && apart < look)
			look = apart;
		if (s->state == ZUG_SB_ACTIVE && now - s->blip_since >= apart) {
			s->blip_since = now;
			s->blip = ++nr_blips;
		}
		if (s->state == ZUG_SB_DRAIN || (s->state == ZUG_SB_ACTIVE && s->blip))
			scx_bpf_kick_cpu(s->setup.lane, SCX_KICK_PREEMPT);
	}
	bpf_timer_start(&b->timer, look, 0);
	return 0;
}

/* A state whose task ended while no scheduler was there. */
static int left_over(void *map, __u64 *key, struct task_state *t, void *none)
{
	bpf_map_delete_elem(map, key);
	return 0;
}

SEC("struct_ops.s/zug_init")
s32 BPF_PROG(zug_init)
{
	struct blip_timer *b;
	__u32 i, first = 0;
	s32 err;

	bpf_for(i, 0, ZUG_MAX_SANDBOXES) {
		err = scx_bpf_create_dsq(ZUG_DSQ(i), -1);
		if (err)
			return err;
	}
	bpf_for_each_map_elem(&tasks, left_over, NULL, 0);
	b = bpf_map_lookup_elem(&blip_timers, &first);
	if (!b)
		return -3 /* ESRCH */;
	/* one of an earlier start, whose programs are pinned, is there already */
	bpf_timer_init(&b->timer, &blip_timers, 1 /* CLOCK_MONOTONIC */);
	err = bpf_timer_set_callback(&b->timer, blip_all);
	return err ? err : bpf_timer_start(&b->timer, ZUG_BLIP_LOOK_NS, 0);
}

SEC("struct_ops/zug_exit")
void BPF_PROG(zug_exit, struct scx_exit_info *ei)
{
	__u32 first = 0;
	struct blip_timer *b = bpf_map_lookup_elem(&blip_timers, &first);

	bpf_probe_read_kernel_str(exit_reason, sizeof(exit_reason), ei->reason);
	bpf_probe_read_kernel_str(exit_message, sizeof(exit_message), ei->msg);
	exit_code = ei->exit_code;
	exit_kind = ei->kind;
	if (b)
		bpf_timer_cancel(&b->timer);
}

SEC("struct_ops.s/zug_cpu_online")
void BPF_PROG(zug_cpu_online, s32 cpu)
{
}

SEC("struct_ops.s/zug_cpu_offline")
void BPF_PROG(zug_cpu_offline, s32 cpu)
{
	char why[] = "CPU %d, on which a test runs, was switched off";
	__u64 number = cpu;
	__u32 i;

	bpf_for(i, 0, nr_slots) {
		struct zug_sandbox *s = &sandboxes[i & (ZUG_MAX_SANDBOXES - 1)];

		if (s->state != ZUG_SB_FREE && s->setup.lane == (__u32)cpu) {
			scx_bpf_exit_bstr(0, why, &number, sizeof(number));
			return;
		}
	}
}

SEC(".struct_ops.link")
struct sched_ext_ops zug_ops = {
	.select_cpu	= (void *)zug_select_cpu,
	.enqueue	= (void *)zug_enqueue,
	.dispatch	= (void *)zug_dispatch,
	.running	= (void *)zug_running,
	.quiescent	= (void *)zug_quiescent,
	.tick		= (void *)zug_tick,
	.init_task	= (void *)zug_init_task,
	.exit_task	= (void *)zug_exit_task,
	.disable	= (void *)zug_disable,
	.set_cpumask	= (void *)zug_set_cpumask,
	.cpu_online	= (void *)zug_cpu_online,
	.cpu_offline	= (void *)zug_cpu_offline,
	.init		= (void *)zug_init,
	.exit		= (void *)zug_exit,
	/* user space adds SCX_OPS_ENQ_MIGRATION_DISABLED where the kernel has it */
	.flags		= SCX_OPS_SWITCH_PARTIAL | SCX_OPS_ENQ_LAST | SCX_OPS_ENQ_EXITING,
	.timeout_ms	= 30000,
	.name		= "zugzwang",
};

#endif
