/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracee_call.h - system calls that a stopped task makes in its program's place
 *
 * The task was stopped by ptrace in 64-bit code, and not at the entry of a system call. It stands still again when a
 * function returns, with other registers: the caller sets those with which it is to go on.
 */
#ifndef ZUG_TRACEE_CALL_H
#define ZUG_TRACEE_CALL_H

#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

/* 0, or -errno: -ECHILD when it is dead, -ETIME when it does not come to its stop. */
int tracee_get_regs(pid_t pid, struct user_regs_struct *r);
int tracee_set_regs(pid_t pid, const struct user_regs_struct *r);

struct tracee_call {
	struct user_regs_struct regs;	/* any of the task's, for its stack and thread pointer */
	uint64_t insn;			/* the address of a system call instruction */
	long nr;
	uint64_t arg[5];
	unsigned int spin_us;		/* as of tracee_wait() */
};
/* Makes the call. What it returned, or an error as above (which no call of zug's returns). */
long tracee_call(pid_t pid, const struct tracee_call *c);
/*
 * The same for clone(), with CLONE_PTRACE among its flags, from a task that leads its process group or is alone in it. The
 * child, which stands still before its first instruction; or an error.
 */
pid_t tracee_clone(pid_t pid, pid_t group, const struct tracee_call *c);
/*
 * Waits for the next stop of a task of that process group, or (group 0) of the task: its pid. *status: as of waitpid(). It
 * sleeps when that takes longer than spin_us.
 */
pid_t tracee_wait(pid_t pid, pid_t group, unsigned int spin_us, int *status);

#endif
