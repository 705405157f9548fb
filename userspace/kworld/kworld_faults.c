/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Faults of system calls, as far as user space does them; and of waits for a condition, which return at once
 * (bpf/execute.bpf.h).
 *
 * An error is given by a security hook that the call comes to (bpf/faults.bpf.h): before it has had any effect. A
 * short write is made with RLIMIT_FSIZE: up to the limit the kernel itself writes less than was asked for. In both cases
 * the task is given the turn, and an event says whether the call has had the fault: so the step is not decided before.
 * A killed process still makes the call it stands before, as it does on any machine where the signal comes a little later.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "kworld/kworld_internal.h"
#include "kernel/syscalls.h"
#include "lib/base/proc_status.h"

/* Waits that no security hook can refuse: they are interrupted, as by a signal that comes at once. */
static bool waits(const struct ktask *kt)
{
	switch (kt->call_nr) {
	case SYS_poll: case SYS_ppoll: case SYS_select: case SYS_pselect6:
	case SYS_epoll_wait: case SYS_epoll_pwait: case SYS_epoll_pwait2:
	case SYS_nanosleep: case SYS_clock_nanosleep:
	case SYS_wait4: case SYS_waitid: case SYS_rt_sigtimedwait:
	case SYS_semop: case SYS_semtimedop: case SYS_msgsnd: case SYS_msgrcv:
	case SYS_mq_timedsend: case SYS_mq_timedreceive: case SYS_futex_waitv:
	case SYS_flock:
		return true;
	case SYS_fcntl:
		return kt->call_args[1] == F_SETLKW || kt->call_args[1] == F_OFD_SETLKW;
	case SYS_futex:
		switch (kt->call_args[1] & FUTEX_CMD_MASK) {
		case FUTEX_WAIT: case FUTEX_WAIT_BITSET:
			return true;
		}
	}
	return false;
}

bool kworld_waits_may_fail(struct kworld *k)
{
	return kworld_state(k)->setup.syscall_points & ZUG_SYS_WAIT;
}

static bool creates(const struct ktask *kt)
{
	return kt->call_nr == SYS_creat || (kt->call_nr == SYS_open && (kt->call_args[1] & O_CREAT)) ||
	       (kt->call_nr == SYS_openat && (kt->call_args[2] & O_CREAT)) || kt->call_nr == SYS_mkdir ||
	       kt->call_nr == SYS_mkdirat;
}

/*
 * It stands at the entry of a function of the C library, or of GLib, that waits for a condition, and of which a return of 0
 * says that it was woken. (Of g_cond_wait_until() it says that it was not.)
 */
static bool waits_for_condition(struct kworld *k, const struct world_task *t)
{
	uint32_t site = k->kt[t->task].site;
	const struct probe_site *s = site == ZUG_NO_SITE ? NULL : probes_site(k->o.probes, site);
	enum symlibc libc = s ? probes_layout(probes_module(k->o.probes, s->module), s) : SYMLIBC_NONE;

	if (!s || s->go || !s->entry || libc == SYMLIBC_RUST)
		return false;
	return (s->op == ZUG_OP_COND_WAIT && t->label.op == ZUG_OP_COND_WAIT) ||
	       (s->op == ZUG_OP_COND_TIMEDWAIT && t->label.op == ZUG_OP_COND_TIMEDWAIT && libc != SYMLIBC_NONE);
}

/* Faults of the call before which a task stands, and flows. */
static uint32_t possible(struct kworld *k, const struct world_task *t, uint32_t wanted)
{
	const struct ktask *kt = &k->kt[t->task];
	bool file = S_ISREG(kt->call_mode);
	uint32_t mask = 0;

	if (wanted & 1u << FAULT_SPURIOUS && waits_for_condition(k, t))
		return 1u << FAULT_SPURIOUS;
	if (kt->call_nr < 0)
		return 0;
	switch (kt->call_nr) {
	case SYS_write:
	case SYS_pwrite64:
		mask = file ? 1u << FAULT_ENOSPC : 1u << FAULT_EINTR;
		if (file && kt->call_args[2] > 1)
			mask |= 1u << FAULT_SHORT;
		break;
	case SYS_writev:
		mask = file ? 1u << FAULT_ENOSPC : 1u << FAULT_EINTR;
		break;
	case SYS_read:
	case SYS_readv:
		mask = file ? 0 : 1u << FAULT_EINTR;
		break;
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_accept:
	case SYS_accept4:
		mask = 1u << FAULT_EINTR;
		break;
	case SYS_connect:
		mask = 1u << FAULT_REFUSED;
		break;
	case SYS_clone:
	case SYS_clone3:
	case SYS_fork:
	case SYS_vfork:
	case SYS_mmap:
		return wanted & 1u << FAULT_ENOMEM;
	}
	if (waits(kt))
		mask |= 1u << FAULT_EINTR;
	if (creates(kt))
		mask |= 1u << FAULT_ENOSPC;
	/* without the root nothing could tell whether the rest goes on as it should */
	if (t->process != k->run.root)
		mask |= 1u << FAULT_KILL;
	return (mask & wanted) | kworld_flows(k, t, wanted);
}

void kworld_faults(struct world *w, const struct world_task *t, uint32_t wanted, struct world_faults *f)
{
	struct kworld *k = (struct kworld *)w;

	f->possible = possible(k, t, wanted);
	for (int i = 0; i < FAULT_NR; i++)
		f->nr_amounts[i] = f->possible & 1u << i ? kworld_flow_amounts(k, t, i, f->amounts[i]) : 0;
}

/* Where in its file the call begins to write, or -errno. */
static int64_t position(const struct world_task *t, const struct ktask *kt)
{
	unsigned int flags = 0;
	char path[64], line[128];
	struct statx st;
	int64_t pos = -EBADF;
	FILE *f;

	if (kt->call_nr == SYS_pwrite64)
		return kt->call_args[3];
	f = proc_fdinfo(t->pid, kt->call_args[0]);
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "pos: %ld", &pos) != 1)
			sscanf(line, "flags: %o", &flags);
	if (f)
		fclose(f);
	if (!(flags & O_APPEND))
		return pos;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", t->pid, (int)kt->call_args[0]);
	/* as the kernel knows it: a server of the test's own would have to be asked else */
	return statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_SIZE, &st) ? -errno : (int64_t)st.stx_size;
}

/*
 * Lets a task make the call before which it stands, with a fault: it has the turn then. 0; WORLD_FAULT_MISSED: the call did
 * not come so far; -errno.
 */
static int make_call(struct kworld *k, uint32_t n, uint32_t fault)
{
	struct zug_ctl c = { .cmd = ZUG_CMD_FAULT, .sandbox = sandbox_slot(k->o.sandbox), .pid = k->w.tasks[n].pid,
			     .fault = fault };
	int ret = kernel_ctl(k->o.kernel, &c);

	if (!ret)
		ret = kworld_grant(&k->w, n);
	if (ret)
		return ret;
	k->run.injected = n;
	kworld_errand_begin(k, n);
	do
		ret = kworld_await(k, ZUG_EV_FAULT);
	while (ret == -ETIME && kworld_lend(k));
	kworld_errand_end(k);
	return ret ? ret : k->run.errand.came.arg[0] ? 0 : WORLD_FAULT_MISSED;
}

/* Half of what the task is about to write finds room under its limit of file sizes. As make_call(). */
static int write_half(struct kworld *k, uint32_t n)
{
	const struct ktask *kt = &k->kt[n];
	int pid = k->w.tasks[n].pid, ret;
	int64_t pos = position(&k->w.tasks[n], kt);
	struct rlimit own, half;

	if (pos < 0)
		return pos;
	if (prlimit(pid, RLIMIT_FSIZE, NULL, &own))
		return -errno;
	half = own;
	half.rlim_cur = pos + kt->call_args[2] / 2;
	if (half.rlim_cur >= own.rlim_cur)
		return WORLD_FAULT_MISSED;
	if (prlimit(pid, RLIMIT_FSIZE, &half, NULL))
		return -errno;
	ret = make_call(k, n, ZUG_FAULT_SHORT);
	prlimit(pid, RLIMIT_FSIZE, &own, NULL);
	return ret;
}

int kworld_inject(struct world *w, struct world_task *t, int fault, uint32_t amount)
{
	static const int errors[FAULT_NR] = { [FAULT_ENOSPC] = ENOSPC, [FAULT_EINTR] = EINTR,
					      [FAULT_ENOMEM] = ENOMEM, [FAULT_REFUSED] = ECONNREFUSED };
	struct kworld *k = (struct kworld *)w;
	struct zug_ctl c = { .cmd = ZUG_CMD_KILLING, .sandbox = sandbox_slot(k->o.sandbox) };

	if (FLOWS & 1u << fault)
		return kworld_flow(k, t, fault, amount);
	switch (fault) {
	case FAULT_SPURIOUS:
		return make_call(k, t->task, ZUG_FAULT_RETURN);
	case FAULT_SHORT:
		return write_half(k, t->task);
	case FAULT_KILL:
		/* tasks that are blocked are woken by it at once: the question has to wait for the last of them */
		k->run.asked = false;
		kernel_ctl(k->o.kernel, &c);
		if (kill(t->tgid, SIGKILL))
			return -errno;
		c.cmd = ZUG_CMD_KILLED;
		return kernel_ctl(k->o.kernel, &c) ? -EIO : 1;
	}
	if (fault == FAULT_EINTR && waits(&k->kt[t->task]))
		return kworld_interrupt(k, t->task);
	return make_call(k, t->task, errors[fault]);
}
