/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Faults of system calls, as far as user space does them.
 *
 * An error is given by a security hook that the call comes to (bpf/faults.bpf.h): before it has had any effect. A
 * short write is made with RLIMIT_FSIZE: up to the limit the kernel itself writes less than was asked for. A killed
 * process still makes the call it stands before, as it does on any machine where the signal comes a little later.
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
	return kworld_state(k)->syscall_points & ZUG_SYS_WAIT;
}

static bool creates(const struct ktask *kt)
{
	return kt->call_nr == SYS_creat || (kt->call_nr == SYS_open && (kt->call_args[1] & O_CREAT)) ||
	       (kt->call_nr == SYS_openat && (kt->call_args[2] & O_CREAT)) || kt->call_nr == SYS_mkdir ||
	       kt->call_nr == SYS_mkdirat;
}

/* Faults of the call before which a task stands, and flows. */
static uint32_t possible(struct kworld *k, const struct world_task *t, uint32_t wanted)
{
	const struct ktask *kt = &k->kt[t->task];
	bool file = S_ISREG(kt->call_mode);
	uint32_t mask = 0;

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
	/* without the root nobody could say whether the rest goes on as it should */
	if (t->process != k->root)
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
	struct stat st;
	int64_t pos = -EBADF;
	FILE *f;

	if (kt->call_nr == SYS_pwrite64)
		return kt->call_args[3];
	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", t->pid, (int)kt->call_args[0]);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "pos: %ld", &pos) != 1)
			sscanf(line, "flags: %o", &flags);
	if (f)
		fclose(f);
	if (!(flags & O_APPEND))
		return pos;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", t->pid, (int)kt->call_args[0]);
	return stat(path, &st) ? -errno : st.st_size;
}

static int shorten(struct world_task *t, struct ktask *kt)
{
	int64_t pos = position(t, kt);
	struct rlimit now;

	if (pos < 0)
		return pos;
	if (prlimit(t->pid, RLIMIT_FSIZE, NULL, &kt->file_limit))
		return -errno;
	now = kt->file_limit;
	now.rlim_cur = pos + kt->call_args[2] / 2;
	if (now.rlim_cur >= kt->file_limit.rlim_cur)
		return 0;
	if (prlimit(t->pid, RLIMIT_FSIZE, &now, NULL))
		return -errno;
	kt->shortened = true;
	return 0;
}

void kworld_fault_over(struct world_task *t, struct ktask *kt)
{
	if (kt->shortened)
		prlimit(t->pid, RLIMIT_FSIZE, &kt->file_limit, NULL);
	kt->shortened = false;
}

int kworld_inject(struct world *w, struct world_task *t, int fault, uint32_t amount)
{
	static const int errors[FAULT_NR] = { [FAULT_ENOSPC] = ENOSPC, [FAULT_EINTR] = EINTR,
					      [FAULT_ENOMEM] = ENOMEM, [FAULT_REFUSED] = ECONNREFUSED };
	struct kworld *k = (struct kworld *)w;
	struct zug_ctl c = { .sandbox = sandbox_slot(k->o.sandbox), .pid = t->pid };

	if (FLOWS & 1u << fault)
		return kworld_flow(k, t, fault, amount);
	switch (fault) {
	case FAULT_SHORT:
		return shorten(t, &k->kt[t->task]);
	case FAULT_KILL:
		/* who is blocked is woken by it at once: the question has to wait for the last of them */
		k->asked = false;
		kworld_state(k)->need_ask = 1;
		if (kill(t->tgid, SIGKILL))
			return -errno;
		c.cmd = ZUG_CMD_KILLED;
		return kernel_ctl(k->o.kernel, &c) ? -EIO : 1;
	}
	if (fault == FAULT_EINTR && waits(&k->kt[t->task]))
		return kworld_interrupt(k, t->task);
	c.cmd = ZUG_CMD_FAULT;
	c.error = errors[fault];
	return kernel_ctl(k->o.kernel, &c);
}
