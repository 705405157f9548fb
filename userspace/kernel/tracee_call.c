/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include "lib/base/clock.h"
#include "kernel/tracee_call.h"

/* So long a stop is waited for at all. It takes microseconds, but an emulated machine may stand still for seconds. */
#define PATIENCE_NS	30000000000ull

int tracee_get_regs(pid_t pid, struct user_regs_struct *r)
{
	return ptrace(PTRACE_GETREGS, pid, NULL, r) ? -errno : 0;
}

int tracee_set_regs(pid_t pid, const struct user_regs_struct *r)
{
	return ptrace(PTRACE_SETREGS, pid, NULL, r) ? -errno : 0;
}

pid_t tracee_wait(pid_t pid, pid_t group, unsigned int spin_us, int *status)
{
	const struct timespec pause = { .tv_nsec = 50000 };
	uint64_t begin = clock_now_ns(), waited;
	pid_t got;

	while (!(got = waitpid(group ? -group : pid, status, __WALL | WNOHANG))) {
		/* also where an emulator runs all CPUs in turns: the task gets the next one */
		__builtin_ia32_pause();
		waited = clock_now_ns() - begin;
		if (waited > PATIENCE_NS)
			return -ETIME;
		if (waited >= spin_us * 1000ull)
			nanosleep(&pause, NULL);
	}
	if (got < 0)
		return -errno;
	return WIFSTOPPED(*status) ? got : -ECHILD;
}

/* Starts the call: the task stops right after its instruction. */
static int begin_call(pid_t pid, const struct tracee_call *c)
{
	struct user_regs_struct r = c->regs;
	int ret;

	r.rip = c->insn;
	r.rax = c->nr;
	r.orig_rax = -1;
	r.rdi = c->arg[0];
	r.rsi = c->arg[1];
	r.rdx = c->arg[2];
	r.r10 = c->arg[3];
	r.r8 = c->arg[4];
	ret = tracee_set_regs(pid, &r);
	if (ret)
		return ret;
	return ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) ? -errno : 0;
}

/* A stop of the task: true when it is behind the call. A signal is not delivered. */
static int is_behind(pid_t pid, int status, const struct tracee_call *c, long *result)
{
	struct user_regs_struct r;
	int ret = tracee_get_regs(pid, &r);

	if (ret)
		return ret;
	if (WSTOPSIG(status) == SIGTRAP && r.rip != c->insn) {
		*result = r.rax;
		return 1;
	}
	return ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) ? -errno : 0;
}

long tracee_call(pid_t pid, const struct tracee_call *c)
{
	int ret = begin_call(pid, c), status;
	long result = 0;

	while (!ret) {
		ret = tracee_wait(pid, 0, c->spin_us, &status);
		if (ret > 0)
			ret = is_behind(pid, status, c, &result);
	}
	return ret < 0 ? ret : result;
}

pid_t tracee_clone(pid_t pid, pid_t group, const struct tracee_call *c)
{
	int ret = begin_call(pid, c), status;
	bool behind = false;
	pid_t child = 0;
	long result = 0;

	while (!ret && !(behind && (child || result < 0))) {
		ret = tracee_wait(pid, group, c->spin_us, &status);
		if (ret == pid) {
			ret = is_behind(pid, status, c, &result);
			behind |= ret == 1;
		} else if (ret > 0) {
			child = ret;
		}
		ret = ret < 0 ? ret : 0;
	}
	if (!ret && result < 0)
		ret = result;
	return ret ? ret : child;
}
