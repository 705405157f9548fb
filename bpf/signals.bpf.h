/* SPDX-License-Identifier: GPL-2.0-only */
/* signals.bpf.h - points at signals: one that ends its process, and one that is delivered to a handler */
#ifndef ZUG_SIGNALS_BPF_H
#define ZUG_SIGNALS_BPF_H

#include "breakpoint.bpf.h"
#include "signal_lease.bpf.h"

/*
 * A signal that the task brought upon itself, by a fault or abort(), and that ends its process: the last
 * moment at which all of it can be looked at. It stops on its way back to user mode, before the signal is taken.
 * siglock is held here: interrupts are off.
 */
static __always_inline bool ends_process(struct task_struct *p, int sig)
{
	__sighandler_t handler = NULL;

	switch (sig) {
	case 4: /* SIGILL */
		handler = BPF_CORE_READ(p, sighand, action[3].sa.sa_handler);
		break;
	case 6: /* SIGABRT */
		handler = BPF_CORE_READ(p, sighand, action[5].sa.sa_handler);
		break;
	case 7: /* SIGBUS */
		handler = BPF_CORE_READ(p, sighand, action[6].sa.sa_handler);
		break;
	case 8: /* SIGFPE */
		handler = BPF_CORE_READ(p, sighand, action[7].sa.sa_handler);
		break;
	case 11: /* SIGSEGV */
		handler = BPF_CORE_READ(p, sighand, action[10].sa.sa_handler);
		break;
	case 31: /* SIGSYS */
		handler = BPF_CORE_READ(p, sighand, action[30].sa.sa_handler);
		break;
	default:
		return false;
	}
	return !handler;
}

/*
 * Which signals there are in the test (unseen.bpf.h). Each child that ends sends SIGCHLD, and SIGTRAP is sent to who is traced,
 * as templates are for a moment: of these two only those that a task sends count.
 */
static __always_inline void note_sent(struct zug_sandbox *s, struct task_struct *sender, int sig)
{
	const bool any = sig == SIGCHLD_ || sig == 5 /* SIGTRAP */;
	const struct task_state *t = any ? state_of(sender) : NULL;

	if (sig < 1 || sig > 64 || sig == 9 /* SIGKILL */ ||
	    (any && (!t || (t->nr != NR_kill && t->nr != NR_rt_sigqueueinfo && t->nr != NR_pidfd_send_signal))))
		return;
	__sync_fetch_and_or(&s->signals_sent, 1ull << (sig - 1));
}

SEC("tp_btf/signal_generate")
int BPF_PROG(zug_signal, int sig, struct kernel_siginfo *info, struct task_struct *to)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct task_state *t = state_of(to);
	struct zug_sandbox *s;

	/*
	 * the task that it ends may stand in the queue, and nothing else would tell that it dies: it does before the
	 * next point
	 */
	if (t && to->pending.signal.sig[0] & SIGKILL_BIT && (s = sandbox_of(t))) {
		s->may_die = 1;
		lease_ends(t, ZUG_WHY_DIES);
	}
	if (t && (s = sandbox_of(t)))
		note_sent(s, p, sig);
	if (to != p || p->ptrace)
		return 0;
	if (!t || !(s = sandbox_of(t)) || !controlled(t, s) || t->id != s->holder || !ends_process(p, sig))
		return 0;
	event_init(&t->ev, ZUG_EV_FATAL, p, t);
	t->ev.nr = sig;
	stop_here(t);
	return 0;
}

SEC("tp_btf/signal_deliver")
int BPF_PROG(zug_deliver, int sig, struct kernel_siginfo *info, struct k_sigaction *ka)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct task_state *t = state_of(p);
	__u64 handler = (__u64)BPF_CORE_READ(ka, sa.sa_handler);
	struct zug_sandbox *s;

	/* SIG_DFL, SIG_IGN */
	if (!t || handler <= 1)
		return 0;
	t->handlers++;
	primitive_of(t)->sp = 0;
	/* one that is about to stop already has an event that says why */
	if (!(s = sandbox_of(t)) || !controlled(t, s) || t->id != s->holder || t->flags & TF_STOP) {
		lease_ends(t, ZUG_WHY_SIGNAL);
		return 0;
	}
	t->mm = mm_number(LOOSE(p)->mm);
	event_init(&t->ev, ZUG_EV_SIGNAL, p, t);
	t->ev.ip = handler;
	t->ev.arg[0] = sig;
	stop_at_signal(s, t, sig);
	return 0;
}

#endif
