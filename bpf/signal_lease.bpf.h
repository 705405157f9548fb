/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * signal_lease.bpf.h - points at signals, which a task passes under a lease: a handler begins, or the call is over behind which
 * it may begin
 *
 * The label of such a point has the signal of the task's process as its object, and all else of it is in the event: where the
 * handler lies, or what has made the call.
 */
#ifndef ZUG_SIGNAL_LEASE_BPF_H
#define ZUG_SIGNAL_LEASE_BPF_H

#include "points.bpf.h"
#include "call_lease.bpf.h"

/* As on_signal() and on_behind() of user space label it. */
static __always_inline void stand_at_signal(struct stand *at, const struct zug_lease *l, __u32 signal)
{
	at->pass.kind = ZUG_PASS_ALWAYS;
	at->pass.steps = 1;
	at->access.how = ZUG_ACCESS_KNOWN;
	at->access.object[0] = zug_signal_object(l->plan.peers[l->plan.holder & (ZUG_PLAN_PEERS - 1)].process, signal);
}

/* A lease goes on there: none of the points of the test is left out, nor may the signal be one of Go's runtime. */
static __always_inline bool covers_signals(const struct zug_sandbox *s, const struct zug_lease *l)
{
	return l->flags & ZUG_LEASE_CALLS && !(l->flags & ZUG_LEASE_RUNTIME) && !s->turn.own_only;
}

/* The holder passes a point at that signal because it is alone: as lease_passed(). */
__noinline int signal_passed(struct task_state *t, __u32 signal)
{
	struct stand at = {};
	struct zug_lease *l;
	struct zug_peer *q;

	if (!t || t->slot >= ZUG_MAX_SANDBOXES)
		return 0;
	l = &leases[t->slot & (ZUG_MAX_SANDBOXES - 1)];
	if (!l->left || !covers_signals(&sandboxes[t->slot & (ZUG_MAX_SANDBOXES - 1)], l)) {
		lease_ends(t, ZUG_WHY_SIGNAL);
		return 0;
	}
	l->left--;
	if (!l->plan.kind)
		return 0;
	plan_goes_on(l, l->plan.holder, 1);
	q = &l->plan.peers[l->plan.holder & (ZUG_PLAN_PEERS - 1)];
	q->place = q->op = 0;
	stand_at_signal(&at, l, signal);
	if (plan_needs_access(&l->plan)) {
		plan_counts_at(t->slot, &at);
		return 0;
	}
	q->access = at.access;
	plan_counts(l, 1);
	return 0;
}

/* The holder passes a point at that signal under its lease, or hands the turn on: enum plan_says. t->ev is filled. */
__noinline int signal_leased(struct task_state *t, __u32 signal)
{
	struct stand at = {};
	struct zug_sandbox *s;
	struct zug_lease *l;
	__u64 caller = 0;
	int says;

	if (!t || t->slot >= ZUG_MAX_SANDBOXES)
		return PLAN_STOPS;
	s = &sandboxes[t->slot & (ZUG_MAX_SANDBOXES - 1)];
	l = &leases[t->slot & (ZUG_MAX_SANDBOXES - 1)];
	if (!l->left)
		return PLAN_STOPS;
	if (lease_due(s, l)) {
		lease_note(l, ZUG_WHY_TIME);
		return PLAN_STOPS;
	}
	if (!covers_signals(s, l) || (t->ev.kind == ZUG_EV_BEHIND && !find_caller(t, &caller))) {
		lease_note(l, ZUG_WHY_SIGNAL);
		return PLAN_STOPS;
	}
	stand_at_signal(&at, l, signal);
	t->ev.before_addr = t->last_lock;
	says = lease_says(t, l, 1, &at, true);
	if (says == PLAN_STOPS || t->ev.kind != ZUG_EV_BEHIND)
		return says;
	l->plan.sp = t->ev.sp;
	t->ev.sp = caller;
	/* what was read there is no other call's */
	call_memories[t->slot & (ZUG_MAX_SANDBOXES - 1)].task = 0;
	return says;
}

/* The holder stops at a point at that signal, or passes it. t->ev is filled. true: it stops for a question. */
static __always_inline bool stop_at_signal(struct zug_sandbox *s, struct task_state *t, __u32 signal)
{
	int says = PLAN_STOPS;

	t->nr_inner = 0;
	s->nr_points++;
	reaches_point(s);
	if (ring_crowded(t)) {
		lease_noted(t, ZUG_WHY_RING);
	} else if (!alarm_due(s) && is_alone(s, t)) {
		signal_passed(t, signal);
		t->ev.flags |= ZUG_EF_LONE;
		event_send(s, &t->ev);
		return false;
	} else {
		says = signal_leased(t, signal);
	}
	if (says == PLAN_PASSES)
		event_send(s, &t->ev);
	else
		halt(s, t);
	return says == PLAN_STOPS;
}

#endif
