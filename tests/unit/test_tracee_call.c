/* SPDX-License-Identifier: GPL-2.0-only */
/* System calls in the place of a stopped process, and copies of it that go on where it stands. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "bpf/zug_abi.h"
#include "bpf/inside.h"
#include "kernel/tracee_call.h"

#define MARK 77	/* of a call of umask() that nothing else makes here */

/* A process that has come to the entry of its umask(), with those registers, and stands behind it, the call not made. */
static pid_t standing(struct user_regs_struct *at)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		static volatile int value = 5;

		setsid();
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		value += 2;
		syscall(SYS_umask, MARK);
		_exit(value);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL), 0);
	do {
		assert_int_equal(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(tracee_get_regs(pid, at), 0);
	} while (at->orig_rax != SYS_umask || (long)at->rax != -ENOSYS);
	at->rip -= 2;
	at->rax = SYS_umask;
	at->orig_rax = -1;
	assert_int_equal(tracee_set_regs(pid, at), 0);
	assert_int_equal(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), 0);
	assert_int_equal(tracee_wait(pid, 0, 0, &status), pid);
	return pid;
}

static void makes_calls(void **state)
{
	struct user_regs_struct at;
	pid_t pid = standing(&at);
	struct tracee_call c = { .regs = at, .insn = at.rip, .nr = SYS_getpid };

	(void)state;
	assert_int_equal(tracee_call(pid, &c), pid);
	c.nr = SYS_close;
	c.arg[0] = 1000;
	assert_int_equal(tracee_call(pid, &c), -EBADF);
	/* a signal does not keep it from the call, and is not delivered */
	kill(pid, SIGTERM);
	c.nr = SYS_getppid;
	assert_int_equal(tracee_call(pid, &c), getpid());
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(tracee_call(pid, &c), -ESRCH);
}

static void makes_copies(void **state)
{
	struct user_regs_struct at;
	pid_t pid = standing(&at), child;
	struct tracee_call c = {
		.regs = at, .insn = at.rip, .nr = SYS_clone, .arg = { SIGCHLD | CLONE_PARENT | CLONE_PTRACE },
		.spin_us = 1000,
	}, own = { .regs = at, .insn = at.rip, .nr = SYS_setsid };
	int status;

	(void)state;
	for (int i = 0; i < 20; i++) {
		child = tracee_clone(pid, pid, &c);
		assert_true(child > 0 && child != pid);
		assert_int_equal(tracee_call(child, &own), child);
		assert_int_equal(getsid(child), child);
		assert_int_equal(tracee_set_regs(child, &at), 0);
		assert_int_equal(ptrace(PTRACE_DETACH, child, NULL, NULL), 0);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 7);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Of calls that a template may have behind it, the kernel side and user space mean the same: by number and arguments. */
static void tells_what_stays_inside(void **state)
{
	const __u64 private[6] = { 0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS },
		    shared[6] = { 0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS },
		    code[6] = { 0, 4096, PROT_READ | PROT_EXEC, MAP_SHARED },
		    reads[6] = { AT_FDCWD, 0, O_RDONLY | O_CLOEXEC }, makes[6] = { AT_FDCWD, 0, O_RDONLY | O_CREAT },
		    writes[6] = { AT_FDCWD, 0, O_WRONLY }, wakes[6] = { 0, FUTEX_WAKE_PRIVATE, 1 },
		    waits[6] = { 0, FUTEX_WAIT_PRIVATE, 1 }, forks_not[6] = { 0, 4096, MADV_DONTFORK },
		    asks[6] = { 3, F_GETFD }, locks[6] = { 3, F_SETLK };

	(void)state;
	assert_true(zug_stays_inside(SYS_mmap, private) && zug_stays_inside(SYS_mmap, code));
	assert_false(zug_stays_inside(SYS_mmap, shared));
	assert_true(zug_only_reads(SYS_openat, reads));
	assert_false(zug_only_reads(SYS_openat, makes) || zug_only_reads(SYS_openat, writes));
	assert_true(zug_stays_inside(SYS_futex, wakes));
	assert_false(zug_stays_inside(SYS_futex, waits) || zug_stays_inside(SYS_madvise, forks_not));
	assert_true(zug_only_reads(SYS_fcntl, asks));
	assert_false(zug_only_reads(SYS_fcntl, locks));
	assert_false(zug_stays_inside(SYS_write, asks) || zug_only_reads(SYS_write, asks));
	assert_false(zug_stays_inside(SYS_clone3, asks) || zug_only_reads(SYS_clone3, asks));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_what_stays_inside),
		cmocka_unit_test(makes_calls),
		cmocka_unit_test(makes_copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
