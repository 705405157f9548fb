/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * zug.bpf.c - zugzwang's kernel side, one object
 *
 *	state.bpf.h	maps, per-task state, event output
 *	inspect.bpf.h	address spaces, files, timers: from addresses to objects
 *	clock.bpf.h	the clock of a sandbox
 *	file_times.bpf.h	the times of files, by that clock
 *	inputs.bpf.h	what a test is told instead of the truth: time, CPUs
 *	template.bpf.h	executions that are forked from a process that stands still
 *	hand_over.bpf.h	where the turn goes when its holder gives it up
 *	turn.bpf.h	turn taking: the sched_ext scheduler (zug_ops at its end)
 *	execute.bpf.h	what a task does at a breakpoint, in place of the processor
 *	points.bpf.h	how a task stops at a point, or passes it
 *	breakpoint.bpf.h	points at breakpoints
 *	signals.bpf.h	points at signals
 *	signal_lease.bpf.h	those that a task passes under a lease
 *	calls.bpf.h	system calls
 *	tasks.bpf.h	which tasks and mappings a test has
 *	commands.bpf.h	the commands of user space (zug_ctl)
 *
 * Everything is loaded and attached before an execution starts and detached
 * after its sandbox was drained: attaching waits for RCU, and a parked task may
 * hold a read section open.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include "zug_abi.h"

char _license[] SEC("license") = "GPL";

#ifndef BPF_FOR_EACH_ITER
#define BPF_FOR_EACH_ITER (&___it)
#endif

#include "state.bpf.h"
#include "inspect.bpf.h"
#include "inputs.bpf.h"
#include "plan.bpf.h"

extern struct pt_regs *__irq_regs __ksym __weak;

/* Whether the timer interrupt we are in came from user mode. */
static __always_inline bool tick_in_user(struct task_struct *p)
{
	struct pt_regs **regs = bpf_this_cpu_ptr(&__irq_regs);

	return *regs == (struct pt_regs *)bpf_task_pt_regs(p);
}

static __always_inline __u64 user_ip(struct task_struct *p)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(p);

	return LOOSE(regs)->ip;
}

/* The system call it is in, -1 for none (a page fault, say). */
static __always_inline __s32 user_syscall(struct task_struct *p)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(p);

	return (__s32)LOOSE(regs)->orig_ax;
}

#include "template.bpf.h"
#include "turn.bpf.h"
#include "environment.bpf.h"
#include "execute.bpf.h"
#include "points.bpf.h"
#include "breakpoint.bpf.h"
#include "signals.bpf.h"
#include "calls.bpf.h"
#include "tasks.bpf.h"
#include "commands.bpf.h"
#include "faults.bpf.h"
#include "answers.bpf.h"
