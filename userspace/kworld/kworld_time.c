/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Virtual time, as far as user space does it.
 *
 * A timed wait stands in the kernel like one without end (bpf/inputs.bpf.h takes its time-out away). To
 * let it expire, the task is interrupted with ptrace, which makes the kernel leave the wait, as for a
 * signal; on its way out the result is replaced with what a time-out gives. Until then it is in the
 * kernel's own queues, and a task that wakes it finds it there.
 *
 * Where the time-out could not be taken away (it is a number in a register, or in memory that cannot be
 * written) the kernel's timer may run out before the virtual time has come. Then the task is held, made to
 * come out in the same way, and sent into the same call again, now without a time-out: it looks once more
 * whether it is to wait. Before it goes on with its program it gets back what it had in that register.
 * So it is, too, when the timer was faster than the task, which has not slept at all (ZUG_EF_OVER).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include "kworld/kworld_internal.h"
#include "kernel/syscalls.h"
#include "kernel/tracee.h"
#include "kworld/vdso.h"
#include "engine/expiry.h"
#include "lib/base/array.h"

#define NS_PER_S 1000000000ull
/* The kernel may have started a timer so long before user space saw the wait. */
#define TIMER_EARLY_NS (100 * 1000000ull)
/* Of longer waits it is known whether the program came with the distribution: world_task.installed. */
#define LONG_WAIT_NS (10 * NS_PER_S)

/*
 * A time-out of a runtime's task is over where the program's wait: points that pass alone have an eye on it only after so long,
 * for a loop that waits for such a task.
 */
#define RUNTIME_WAITS_NS (1000 * 1000000ull)

bool kworld_virtual(struct kworld *k)
{
	return kworld_state(k)->setup.virtual_time;
}

void kworld_set_clock(struct kworld *k, uint64_t clock)
{
	struct zug_ctl c = { .cmd = ZUG_CMD_CLOCK, .sandbox = sandbox_slot(k->o.sandbox), .clock = clock };

	kernel_ctl(k->o.kernel, &c);
}

void kworld_set_alarm(struct kworld *k)
{
	/* a time-out that may expire at any decision makes every point one: a timer may be set before the next grant */
	bool any = k->o.explore_timeouts;
	uint64_t alarm, deadline;

	if (!kworld_virtual(k))
		return;
	alarm = kworld_next_timer(k);
	if (alarm == UINT64_MAX)
		alarm = 0;
	for (uint32_t i = 0; i < k->timed.nr;) {
		uint32_t n = k->timed.list[i];
		const struct world_task *t = &k->w.tasks[n];

		if (t->state != TASK_BLOCKED || !t->deadline) {
			k->kt[n].timed = false;
			k->timed.list[i] = k->timed.list[--k->timed.nr];
			continue;
		}
		deadline = t->deadline + (world_of_runtime(&k->w, n) ? RUNTIME_WAITS_NS : 0);
		if (t->expires || (t->any_time && !kworld_state(k)->quiet))
			any = true;
		else if (!alarm || deadline < alarm)
			alarm = deadline;
		i++;
	}
	k->run.turn.alarm = alarm;
	k->run.turn.any_time = any;
}

int kworld_prepare(struct kworld *k, int pid)
{
	const volatile struct zug_sandbox *z = kworld_state(k);

	/* the template was made ready */
	if (k->prefix.feeding)
		return 0;
	return z->setup.virtual_time || z->setup.seeded ?
	       vdso_patch(pid, z->setup.virtual_time, z->setup.seeded) : 0;
}

/* ---- a wait begins ---- */

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
	if (e->deadline && e->time_addr) {
		remote_write(e->pid, e->time_addr, e->time_orig, sizeof(e->time_orig));
	} else if (e->deadline) {
		kt->real_timer = !(e->flags & ZUG_EF_ENDLESS);
	} else if (e->time_addr && d && remote_read(e->pid, e->time_addr, time, sizeof(time)) &&
		   time[0] >= 0 && time[0] < 8000000000ll) {
		/* a constant in a page that was not touched yet: constants are relative */
		t->deadline = kworld_state(k)->clock + time[0] * NS_PER_S +
			      (d->time_kind == ZUG_TIME_VAL ? time[1] * 1000 : time[1]);
		kt->real_timer = true;
	}
	if (kt->real_timer)
		kt->timer_ns = clock_now_ns() + t->deadline - kworld_state(k)->clock;
	t->installed = t->deadline > kworld_state(k)->clock + LONG_WAIT_NS && !kworld_has_own_code(k, t);
	if (!t->deadline || kt->timed)
		return;
	if (!ARRAY_RESERVE(k->timed.list, k->timed.room, k->timed.nr + 1)) {
		k->run.broken = "out of memory";
		return;
	}
	k->timed.list[k->timed.nr++] = t->task;
	kt->timed = true;
}

/* ---- a wait ends by its time-out ---- */

/* The result of a call whose time is over. */
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
		/* the others are sleeps, and poll() and its kin: nothing is ready */
		return d && d->sock_time ? -EAGAIN : 0;
	}
}

/* True when the kernel has left the wait only because it was interrupted. The ERESTART* are the kernel's own. */
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
			remote_write(pid, kt->wait_args[i], zero, len);
}

int kworld_take_out(struct kworld *k, uint32_t n, bool parked,
		    void (*change)(struct kworld *k, uint32_t n, struct user_regs_struct *r, void *arg), void *arg)
{
	struct user_regs_struct r;
	int pid = k->w.tasks[n].pid, status, ret;

	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL))
		return -errno;	/* a debugger of the test's own, or it is dead */
	kernel_ctl(k->o.kernel, &(struct zug_ctl){ .cmd = ZUG_CMD_TAKE, .pid = pid });
	kworld_errand_begin(k, n);
	ret = ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) ? -errno : 0;
	if (!ret && !parked)
		ret = kworld_await(k, ZUG_EV_WAKE);
	if (!ret)
		ret = kworld_run_errand(k);
	if (!ret && (waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status) ||
		     ptrace(PTRACE_GETREGS, pid, NULL, &r)))
		ret = -ESRCH;
	if (!ret) {
		change(k, n, &r, arg);
		ret = ptrace(PTRACE_SETREGS, pid, NULL, &r) ? -errno : 0;
	}
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
	if (!ret)
		ret = kworld_await(k, ZUG_EV_WAKE);
	kworld_errand_end(k);
	return ret;
}

/* The register that holds the time-out of a call, or points to it; NULL: none that could say 'for ever'. */
static unsigned long long *timeout_register(struct user_regs_struct *r, int nr)
{
	unsigned long long *const args[] = { &r->rdi, &r->rsi, &r->rdx, &r->r10, &r->r8, &r->r9 };
	const struct syscall_desc *d = syscall_desc(nr);
	unsigned int arg = nr == SYS_futex ? 4 : d ? d->time_arg : 0;

	return arg && arg <= 6 ? args[arg - 1] : NULL;
}

/* Such a time never comes, as a struct timespec or timeval. */
static const int64_t never[2] = { 8000000000ll, 0 };

void kworld_timer_take(struct ktask *kt, const struct zug_event *e)
{
	int64_t *time = kt->timer_time, forced[2];

	kt->timer_forced = false;
	if (!remote_read(e->pid, e->obj2.offset, time, sizeof(kt->timer_time)) || time[0] < 0 || time[0] >= never[0] ||
	    !(time[0] | time[1]))
		return;
	forced[0] = time[0] | ZUG_TIME_FORCED;
	forced[1] = time[1];
	/* a page of the task's own comes of that, and stays */
	kt->timer_forced = tracee_write(e->pid, e->obj2.offset, forced, sizeof(forced)) == (ssize_t)sizeof(forced);
}

void kworld_timer_give_back(struct ktask *kt, const struct zug_event *e)
{
	if (kt && kt->timer_forced)
		tracee_write(e->pid, e->obj2.offset, kt->timer_time, sizeof(kt->timer_time));
	if (kt)
		kt->timer_forced = false;
}

/* Below what the program uses of its stack. */
#define BELOW_STACK	512

/*
 * Its call is made again with a time-out that never comes. What a sleep needs for that lies in memory for as long as it
 * begins.
 */
static void take_timeout(struct ktask *kt, int pid, struct user_regs_struct *r)
{
	const struct syscall_desc *d = syscall_desc(kt->wait_nr);
	unsigned long long *reg = timeout_register(r, kt->wait_nr);
	uint64_t addr = (r->rsp - BELOW_STACK) & ~15ull, value = 0;

	if (!reg || kt->endless)
		return;
	if (d->time_kind == ZUG_TIME_MS) {
		value = -1ull;
	} else if (d->time_kind == ZUG_TIME_ALWAYS) {
		if (!remote_read(pid, addr, kt->scratch, sizeof(kt->scratch)) || !remote_write(pid, addr, never, sizeof(never)))
			return;
		value = kt->scratch_addr = addr;
	}
	kt->endless = true;
	kt->time_reg = *reg;
	*reg = value;
}

static void give_back_memory(struct ktask *kt, int pid)
{
	if (kt->scratch_addr)
		remote_write(pid, kt->scratch_addr, kt->scratch, sizeof(kt->scratch));
	kt->scratch_addr = 0;
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

bool kworld_waits_timed(const struct kworld *k)
{
	for (uint32_t i = 0; i < k->timed.nr; i++)
		if (expiry_may(&k->w.tasks[k->timed.list[i]], UINT64_MAX))
			return true;
	return false;
}

bool kworld_any_timed(const struct world *w)
{
	const struct kworld *k = (const struct kworld *)w;

	for (uint32_t i = 0; i < k->timed.nr; i++) {
		const struct world_task *t = &w->tasks[k->timed.list[i]];

		if (expiry_may(t, UINT64_MAX) && !t->for_turn)
			return true;
	}
	return false;
}

uint64_t kworld_next_timer(const struct kworld *k)
{
	uint64_t timer = timers_next(&k->timers), message = kworld_flows_next(k);

	return timer < message ? timer : message;
}

bool kworld_any_timer(const struct world *w)
{
	return kworld_next_timer((const struct kworld *)w) != UINT64_MAX;
}

bool kworld_timer(struct world *w, struct world_timer *t)
{
	struct kworld *k = (struct kworld *)w;
	const struct timer *l = timers_first(&k->timers);

	if (!l || kworld_flows_next(k) <= l->deadline)
		return false;
	t->task = l->task;
	t->site = l->site;
	timers_text(l, t->text, sizeof(t->text));
	return true;
}

bool kworld_timer_kills(struct world *w)
{
	struct kworld *k = (struct kworld *)w;
	const struct timer *l = timers_first(&k->timers);
	int signal = l ? timers_signal(l) : 0;

	/*
	 * What is blocked now proves nothing: a C library blocks all signals for a moment in raise(), fork() and
	 * posix_spawn(). A signal that some task is to wait for is blocked before its timer is set.
	 */
	if (!signal || l->deadline >= kworld_flows_next(k) || l->awaited)
		return false;
	return !kworld_handles(k, l->tgid, signal) && (!l->tid || !(kworld_blocked_signals(k, l->tid) >> (signal - 1) & 1));
}

/* Lets the next timer fire, or what is on its way arrive. */
static int fire(struct kworld *k)
{
	const volatile struct zug_sandbox *z = kworld_state(k);
	uint64_t message = kworld_flows_next(k), due = kworld_next_timer(k);
	int ret;

	kworld_set_clock(k, due == UINT64_MAX ? 0 : due);
	ret = due == message ? kworld_flows_deliver(k) : timers_fire(&k->timers);
	if (k->debug)
		fprintf(stderr, "FIRE: %d, clock %lu us\n", ret, (unsigned long)(z->clock / 1000));
	return ret;
}

int kworld_expire(struct world *w, uint32_t task)
{
	struct kworld *k = (struct kworld *)w;
	const volatile struct zug_sandbox *z = kworld_state(k);
	struct world_task *t;
	bool expired = false;
	int ret;

	if (task == WORLD_NO_TASK)
		return fire(k);
	t = &w->tasks[task];
	if (t->state != TASK_BLOCKED || !t->deadline)
		return -EINVAL;
	kworld_set_clock(k, t->deadline);
	ret = kworld_take_out(k, task, k->kt[task].held, expire_result, &expired);
	if (k->debug)
		fprintf(stderr, "EXPIRE task %u: %d, %s, clock %lu us\n", k->kt[task].kid, ret,
			expired ? "expired" : "not", (unsigned long)(z->clock / 1000));
	if (ret)
		return ret;
	kworld_unhold(k, task);
	world_changed(w, task);
	k->kt[task].asked_for_turn |= t->any_time;
	t->deadline = 0;
	t->state = TASK_PARKED;
	t->label.op = expired ? ZUG_OP_EXPIRE : ZUG_OP_RESUME;
	t->label.flags = zug_op_flags(t->label.op) | (t->for_turn ? ZUG_L_LEFT_OUT : 0);
	t->for_turn = t->own_time = t->any_time = false;
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

static uint64_t t_left(struct kworld *k, uint32_t n)
{
	uint64_t clock = kworld_state(k)->clock, deadline = k->w.tasks[n].deadline;

	return deadline > clock ? deadline - clock : 0;
}

/* A signal has ended its wait: a sleep says how much is left of it. */
static void signal_result(struct kworld *k, uint32_t n, struct user_regs_struct *r)
{
	const struct ktask *kt = &k->kt[n];
	uint64_t left = t_left(k, n), addr;
	int64_t time[2] = { left / NS_PER_S, left % NS_PER_S };

	addr = kt->wait_nr == SYS_nanosleep ? kt->wait_args[1] :
	       kt->wait_nr == SYS_clock_nanosleep && !(kt->wait_args[1] & TIMER_ABSTIME) ? kt->wait_args[3] : 0;
	r->rax = -EINTR;
	if (addr)
		remote_write(k->w.tasks[n].pid, addr, time, sizeof(time));
}

static void same_call(struct kworld *k, uint32_t n, struct user_regs_struct *r, void *arg)
{
	struct ktask *kt = &k->kt[n];
	bool over = (long)r->rax == timeout_result(kt->wait_nr), *again = arg;
	int pid = k->w.tasks[n].pid;

	*again = over || was_interrupted((long)r->rax);
	if (*again && kworld_has_signal(k, pid)) {
		*again = false;
		/* its time is not over, so the signal was first */
		if (over)
			signal_result(k, n, r);
	}
	if (!*again) {
		give_back_timeout(kt, r);
		return;
	}
	take_timeout(kt, pid, r);
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
	if (!kt->endless && (!kt->real_timer || clock_now_ns() + TIMER_EARLY_NS < kt->timer_ns))
		return false;
	if (!kt->held)
		k->run.nr_held++;
	kt->held = true;
	kt->waker = waker;
	return true;
}

void kworld_unhold(struct kworld *k, uint32_t n)
{
	if (!k->kt[n].held)
		return;
	k->kt[n].held = false;
	k->run.nr_held--;
}

void kworld_hold_over(struct kworld *k, uint32_t n)
{
	struct ktask *kt = &k->kt[n];

	if (!kt->held)
		k->run.nr_held++;
	kt->held = true;
	kt->waker = 0;
}

/* Task n was woken by the kernel's timer, perhaps: sends it back into its wait. False: it is awake for good. */
static bool send_back(struct kworld *k, uint32_t n)
{
	struct zug_ctl c = { .cmd = ZUG_CMD_AGAIN, .pid = k->w.tasks[n].pid };
	struct ktask *kt;
	bool again = false;
	int ret;

	/* a task that cannot be taken out is awake for good */
	ret = kworld_take_out(k, n, true, same_call, &again);
	kt = &k->kt[n];
	if (ret || !again) {
		give_back_memory(kt, c.pid);
		/* something has happened that it waited for */
		kt->real_timer = false;
		return false;
	}
	kernel_ctl(k->o.kernel, &c);
	kworld_errand_begin(k, n);
	kworld_give_turn(k, kt->kid, c.pid);
	ret = kworld_await(k, ZUG_EV_BLOCK);
	kworld_errand_end(k);
	kt = &k->kt[n];
	give_back_memory(kt, c.pid);
	kt->real_timer = !kt->endless;
	kt->timer_ns = clock_now_ns() + t_left(k, n);
	/* something outside was faster: it is in another wait already */
	if (!ret && k->run.errand.came.deadline != k->w.tasks[n].deadline)
		kworld_handle(k, &k->run.errand.came);
	return true;
}

int kworld_settle(struct kworld *k)
{
	struct world_event ev;
	int woken = 0;

	for (uint32_t n = 0; n < k->w.nr_tasks && k->run.nr_held; n++) {
		if (!k->kt[n].held)
			continue;
		kworld_unhold(k, n);
		/* it may have died, or gone another way, while it was taken out */
		if (send_back(k, n) || k->w.tasks[n].state != TASK_BLOCKED)
			continue;
		kworld_wakes(k, n, k->kt[n].waker, &ev);
		kworld_tell_first(k, &ev);
		woken++;
	}
	return woken;
}
