/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Virtual time, as far as user space does it.
 *
 * A timed wait stands in the kernel like one without end (bpf/inputs.bpf.h takes its time-out away). To
 * let it expire, the task is interrupted with ptrace, which makes the kernel leave the wait, as for a
 * signal; on its way out the result is replaced with what a time-out gives. Until then it is in the
 * kernel's own queues, and whoever wakes it finds it there.
 *
 * Where the time-out could not be taken away (it is a number in a register, or in memory that cannot be
 * written) the kernel's timer may run out before the virtual time has come. Then the task is held, made to
 * come out in the same way, and sent into the same call again, now without a time-out: it looks once more
 * whether it is to wait. Before it goes on with its program it gets back what it had in that register.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include "kworld/kworld_internal.h"
#include "kernel/syscalls.h"
#include "kworld/vdso.h"

#define NS_PER_S 1000000000ull
/* Of steps that take microseconds: beyond it something is wrong. */
#define PATIENCE_US 2000000
#define MAX_ASIDE 64
/* By so much a timer may have been started before user space saw the wait. */
#define TIMER_EARLY_NS (100 * 1000000ull)

static volatile struct zug_sandbox *state_of(struct kworld *k)
{
	return kernel_sandbox(k->o.kernel, sandbox_slot(k->o.sandbox));
}

bool kworld_virtual(struct kworld *k)
{
	return state_of(k)->virtual_time;
}

void kworld_set_alarm(struct kworld *k)
{
	uint64_t alarm;

	if (!kworld_virtual(k))
		return;
	/* what may happen at any decision is asked about at every point: a timer may be set before the next grant */
	if (k->o.explore_timeouts) {
		state_of(k)->alarm = 1;
		return;
	}
	alarm = kworld_next_timer(k);
	if (alarm == UINT64_MAX)
		alarm = 0;
	for (uint32_t n = 0; n < k->w.nr_tasks; n++) {
		const struct world_task *t = &k->w.tasks[n];

		if (t->state != TASK_BLOCKED || !t->deadline)
			continue;
		if (!alarm || t->deadline < alarm)
			alarm = t->deadline;
	}
	state_of(k)->alarm = alarm;
}

int kworld_prepare(struct kworld *k, int pid)
{
	volatile struct zug_sandbox *z = state_of(k);

	return z->virtual_time || z->seeded ? vdso_patch(pid, z->virtual_time, z->seeded) : 0;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* ---- a wait begins ---- */

bool kworld_put(int pid, uint64_t addr, const void *from, size_t len)
{
	struct iovec l = { (void *)from, len }, r = { (void *)addr, len };

	return process_vm_writev(pid, &l, 1, &r, 1, 0) == (ssize_t)len;
}

bool kworld_get(int pid, uint64_t addr, void *to, size_t len)
{
	struct iovec l = { to, len }, r = { (void *)addr, len };

	return process_vm_readv(pid, &l, 1, &r, 1, 0) == (ssize_t)len;
}

void kworld_wait_begins(struct kworld *k, struct world_task *t, struct ktask *kt,
			const struct zug_event *e)
{
	const struct syscall_desc *d = syscall_desc(e->nr);
	int64_t time[2];

	t->deadline = e->deadline;
	kt->wait_nr = e->nr;
	memcpy(kt->wait_args, e->arg, sizeof(kt->wait_args));
	kt->real_timer = false;
	kt->endless = false;
	kt->timer_ns = 0;
	kt->woken = false;
	if (e->deadline && e->time_addr) {
		kworld_put(e->pid, e->time_addr, e->time_orig, sizeof(e->time_orig));
	} else if (e->deadline) {
		kt->real_timer = !(e->flags & ZUG_EF_ENDLESS);
	} else if (e->time_addr && d && kworld_get(e->pid, e->time_addr, time, sizeof(time)) &&
		   time[0] >= 0 && time[0] < 8000000000ll) {
		/* a constant in a page that nobody had touched: constants are relative */
		t->deadline = state_of(k)->clock + time[0] * NS_PER_S +
			      (d->time_kind == ZUG_TIME_VAL ? time[1] * 1000 : time[1]);
		kt->real_timer = true;
	}
	if (kt->real_timer)
		kt->timer_ns = now_ns() + t->deadline - state_of(k)->clock;
}

/* ---- a wait ends by its time-out ---- */

/* Waits for an event of task kid; others that come are put aside, to be seen later. */
static int wait_for(struct kworld *k, uint32_t kid, enum zug_event_kind kind, struct zug_event *e,
		    struct zug_event *aside, size_t *nr_aside)
{
	while (kernel_event(k->o.kernel, e, PATIENCE_US, -1)) {
		if (e->sandbox != sandbox_slot(k->o.sandbox))
			continue;
		if (e->task == kid && e->kind == kind)
			return 0;
		if (*nr_aside == MAX_ASIDE)
			return -ENOBUFS;
		aside[(*nr_aside)++] = *e;
		/* it went another way: into the program, or to its end */
		if (e->task == kid && e->kind != ZUG_EV_WAKE)
			return -EAGAIN;
	}
	return -ETIME;
}

static int let_run(struct kworld *k, uint32_t kid)
{
	struct zug_ctl c = { .cmd = ZUG_CMD_GRANT, .sandbox = sandbox_slot(k->o.sandbox), .task = kid };

	return kernel_ctl(k->o.kernel, &c);
}

/* What a call answers when its time is over. */
static long timeout_result(int nr)
{
	const struct syscall_desc *d = syscall_desc(nr);

	switch (nr) {
	case SYS_futex: case SYS_futex_waitv: case SYS_mq_timedsend: case SYS_mq_timedreceive:
		return -ETIMEDOUT;
	case SYS_rt_sigtimedwait: case SYS_semtimedop:
		return -EAGAIN;
	case SYS_connect:
		return -EINPROGRESS;
	default:
		/* else sleeps, and poll and its kin: nothing is ready */
		return d && d->sock_time ? -EAGAIN : 0;
	}
}

/* Has the kernel left the wait only because it was interrupted? The ERESTART* are the kernel's own. */
static bool was_interrupted(long ret)
{
	return ret == -EINTR || ret == -512 || ret == -513 || ret == -514 || ret == -516;
}

/* select() says with its sets, too, that nothing is ready; interrupted, it leaves them as they were. */
static void clear_sets(int pid, const struct ktask *kt)
{
	static const char zero[8192];
	uint64_t len = (kt->wait_args[0] + 63) / 64 * 8;

	if ((kt->wait_nr != SYS_select && kt->wait_nr != SYS_pselect6) || len > sizeof(zero))
		return;
	for (int i = 1; i <= 3; i++)
		if (kt->wait_args[i])
			kworld_put(pid, kt->wait_args[i], zero, len);
}

int kworld_take_out(struct kworld *k, uint32_t n, bool parked,
		    void (*change)(struct kworld *k, uint32_t n, struct user_regs_struct *r, void *arg), void *arg)
{
	struct zug_event e, *aside = calloc(MAX_ASIDE, sizeof(*aside));
	struct user_regs_struct r;
	uint32_t kid = k->kt[n].kid;
	int pid = k->w.tasks[n].pid, status, ret;
	size_t nr_aside = 0;
	bool asked;

	if (!aside)
		return -ENOMEM;
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL)) {
		ret = -errno;	/* a debugger of the test's own, or it is dead */
		goto out;
	}
	kernel_ctl(k->o.kernel, &(struct zug_ctl){ .cmd = ZUG_CMD_TAKE, .pid = pid });
	if (ptrace(PTRACE_INTERRUPT, pid, NULL, NULL)) {
		ret = -errno;
		goto detach;
	}
	ret = parked ? 0 : wait_for(k, kid, ZUG_EV_WAKE, &e, aside, &nr_aside);
	if (ret)
		goto detach;
	let_run(k, kid);
	ret = wait_for(k, kid, ZUG_EV_BLOCK, &e, aside, &nr_aside);
	if (ret)
		goto detach;
	/* the question of that stop is ours; it comes later where dying tasks had to run first */
	for (asked = e.flags & ZUG_EF_ASK; !asked;) {
		if (!kernel_event(k->o.kernel, &e, PATIENCE_US, -1)) {
			ret = -ETIME;
			goto detach;
		}
		asked = e.kind == ZUG_EV_ASK;
		if (!asked && nr_aside < MAX_ASIDE)
			aside[nr_aside++] = e;
	}
	if (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status) &&
	    !ptrace(PTRACE_GETREGS, pid, NULL, &r)) {
		change(k, n, &r, arg);
		if (ptrace(PTRACE_SETREGS, pid, NULL, &r))
			ret = -errno;
	} else {
		ret = -ESRCH;
	}
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
	if (!ret)
		ret = wait_for(k, kid, ZUG_EV_WAKE, &e, aside, &nr_aside);
	goto out;
detach:
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
out:
	if (nr_aside)
		kernel_unread(k->o.kernel, aside, nr_aside);
	free(aside);
	return ret;
}

/* The register that holds the time-out of a call, or points to it; NULL: none that could say 'for ever'. */
static unsigned long long *timeout_register(struct user_regs_struct *r, int nr)
{
	unsigned long long *const args[] = { &r->rdi, &r->rsi, &r->rdx, &r->r10, &r->r8, &r->r9 };
	const struct syscall_desc *d = syscall_desc(nr);
	unsigned int arg = nr == SYS_futex ? 4 : d ? d->time_arg : 0;

	return arg && arg <= 6 && d->time_kind != ZUG_TIME_ALWAYS ? args[arg - 1] : NULL;
}

static void give_back_timeout(struct ktask *kt, struct user_regs_struct *r)
{
	unsigned long long *reg = timeout_register(r, kt->wait_nr);

	if (kt->endless && reg)
		*reg = kt->time_reg;
	kt->endless = false;
}

static void expire_result(struct kworld *k, uint32_t n, struct user_regs_struct *r, void *arg)
{
	struct ktask *kt = &k->kt[n];
	bool *expired = arg;

	*expired = was_interrupted((long)r->rax) ||
		   ((kt->held || kt->real_timer) && (long)r->rax == timeout_result(kt->wait_nr));
	give_back_timeout(kt, r);
	if (!was_interrupted((long)r->rax))
		return;
	r->rax = timeout_result(kt->wait_nr);
	r->orig_rax = -1;	/* nothing to restart */
	clear_sets(k->w.tasks[n].pid, kt);
}

uint64_t kworld_next_timer(const struct kworld *k)
{
	uint64_t timer = timers_next(&k->timers), message = kworld_flows_next(k);

	return timer < message ? timer : message;
}

/* The next timer, or what is on its way. */
static int fire(struct kworld *k)
{
	volatile struct zug_sandbox *z = state_of(k);
	uint64_t message = kworld_flows_next(k), due = kworld_next_timer(k);
	int ret;

	if (due != UINT64_MAX && z->clock < due)
		z->clock = due;
	z->looks = 0;
	ret = due == message ? kworld_flows_deliver(k) : timers_fire(&k->timers);
	if (k->debug)
		fprintf(stderr, "FIRE: %d, clock %lu us\n", ret, (unsigned long)(z->clock / 1000));
	return ret;
}

int kworld_expire(struct world *w, uint32_t task)
{
	struct kworld *k = (struct kworld *)w;
	volatile struct zug_sandbox *z = state_of(k);
	struct world_task *t;
	bool expired = false;
	int ret;

	if (task == WORLD_NO_TASK)
		return fire(k);
	t = &w->tasks[task];
	if (t->state != TASK_BLOCKED || !t->deadline)
		return -EINVAL;
	if (z->clock < t->deadline)
		z->clock = t->deadline;
	z->looks = 0;
	ret = kworld_take_out(k, task, k->kt[task].held, expire_result, &expired);
	if (k->debug)
		fprintf(stderr, "EXPIRE task %u: %d, %s, clock %lu us\n", k->kt[task].kid, ret,
			expired ? "expired" : "not", (unsigned long)(z->clock / 1000));
	if (ret)
		return ret;
	if (k->kt[task].held)
		k->nr_held--;
	k->kt[task].held = false;
	t->deadline = 0;
	t->state = TASK_PARKED;
	t->label.op = expired ? ZUG_OP_EXPIRE : ZUG_OP_RESUME;
	t->label.flags = zug_op_flags(t->label.op);
	return 0;
}

static void interrupt_result(struct kworld *k, uint32_t n, struct user_regs_struct *r, void *arg)
{
	bool *done = arg;

	(void)k;
	(void)n;
	*done = was_interrupted((long)r->rax);
	if (!*done)
		return;
	r->rax = -EINTR;
	r->orig_rax = -1;
}

int kworld_interrupt(struct kworld *k, uint32_t n)
{
	bool done = false;
	int ret = kworld_take_out(k, n, true, interrupt_result, &done);

	return ret ? ret : done ? 0 : WORLD_FAULT_MISSED;
}

/* ---- the kernel's timer was too early ---- */

bool kworld_has_signal(int pid)
{
	unsigned long long pending = 0, blocked = 0, v;
	char path[48], line[128];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "SigPnd: %llx", &v) == 1 || sscanf(line, "ShdPnd: %llx", &v) == 1)
			pending |= v;
		else if (sscanf(line, "SigBlk: %llx", &v) == 1)
			blocked = v;
	}
	if (f)
		fclose(f);
	return pending & ~blocked;
}

static void same_call(struct kworld *k, uint32_t n, struct user_regs_struct *r, void *arg)
{
	const struct syscall_desc *d = syscall_desc(k->kt[n].wait_nr);
	struct ktask *kt = &k->kt[n];
	unsigned long long *reg = timeout_register(r, kt->wait_nr);
	bool *again = arg;

	*again = was_interrupted((long)r->rax) ? !kworld_has_signal(k->w.tasks[n].pid) :
						 (long)r->rax == timeout_result(kt->wait_nr);
	if (!*again) {
		give_back_timeout(kt, r);
		return;
	}
	if (reg && !kt->endless) {
		kt->endless = true;
		kt->time_reg = *reg;
		*reg = d->time_kind == ZUG_TIME_MS ? -1ull : 0;
	}
	r->rax = kt->wait_nr;
	r->rip -= 2;		/* the length of the instruction `syscall` */
	r->orig_rax = -1;
}

bool kworld_hold(struct kworld *k, uint32_t n, uint32_t waker)
{
	struct world_task *t = &k->w.tasks[n];
	struct ktask *kt = &k->kt[n];

	if (t->state != TASK_BLOCKED || !t->deadline)
		return false;
	if (!kt->endless && (!kt->real_timer || state_of(k)->clock >= t->deadline ||
			     now_ns() + TIMER_EARLY_NS < kt->timer_ns))
		return false;
	if (!kt->held)
		k->nr_held++;
	kt->held = true;
	kt->waker = waker;
	return true;
}

static uint64_t t_left(struct kworld *k, uint32_t n)
{
	uint64_t clock = state_of(k)->clock, deadline = k->w.tasks[n].deadline;

	return deadline > clock ? deadline - clock : 0;
}

int kworld_settle(struct kworld *k)
{
	int woken = 0;

	for (uint32_t n = 0; n < k->w.nr_tasks && k->nr_held; n++) {
		struct ktask *kt = &k->kt[n];
		struct zug_ctl c = { .cmd = ZUG_CMD_AGAIN, .pid = k->w.tasks[n].pid };
		struct zug_event e, aside[MAX_ASIDE];
		size_t nr_aside = 0;
		bool again = false;
		int ret;

		if (!kt->held)
			continue;
		kt->held = false;
		k->nr_held--;
		/* what cannot be taken out is awake for good */
		if (kworld_take_out(k, n, true, same_call, &again) || !again) {
			/* something has happened that it waited for */
			kt->real_timer = false;
			kt->woken = true;
			woken++;
			continue;
		}
		kernel_ctl(k->o.kernel, &c);
		let_run(k, kt->kid);
		ret = wait_for(k, kt->kid, ZUG_EV_BLOCK, &e, aside, &nr_aside);
		/* somebody outside was faster: it is in another wait already */
		if (!ret && e.deadline != k->w.tasks[n].deadline && nr_aside < MAX_ASIDE)
			aside[nr_aside++] = e;
		if (nr_aside)
			kernel_unread(k->o.kernel, aside, nr_aside);
		kt->real_timer = !kt->endless;
		kt->timer_ns = now_ns() + t_left(k, n);
	}
	return woken;
}
