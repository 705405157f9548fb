/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spin.h - whether a task that was stopped in a computation waits for another task
 *
 * Proof that it loops for ever unless another task runs (a good-samaritan violation, Musuvathi and
 * Qadeer, PLDI'08): it was seen twice in the same state, and no other task ran in between. The state is
 * its registers, those of floating point and vectors too, and the pages of memory that it has written since the trial began,
 * byte for byte. A task that the timer stops between points, and that has written anything, works. The kernel tells which pages
 * these are (soft-dirty); it writes one itself at every stop (rseq, in the thread's control block, and with the same
 * bytes), so of that one and its neighbours only the bytes count. A loop that counts, however long, changes a register
 * or memory; a loop that reads a clock changes a register; one that tries to take a lock writes what is there already.
 *
 * The same state without another one in between is that of a loop of one instruction, or of a task that
 * has not executed any: samples are taken by the machine's clock, and a loaded machine may stop it at once
 * each time. Such a sample counts only when the task's own run time has advanced by the time of a trial, many
 * are needed, and where the kernel steps over a probed instruction, which it does once, none counts.
 */
#ifndef ZUG_SPIN_H
#define ZUG_SPIN_H

#include <stdint.h>
#include "bpf/zug_abi.h"
#include "engine/world.h"

#define SPIN_TRIAL_NS	5000000ull	/* between samples: one or two ticks */
#define SPIN_SAMPLES	64		/* a loop of a few points repeats within so many */
#define SPIN_TICKS	16		/* and one of a few instructions, sampled by the timer, within so many */
#define SPIN_SAME	8		/* samples of one state, where no other one was seen in between */
#define SPIN_STACK	4096		/* bytes: where the loops of a task keep what they count */
#define SPIN_PAGES	64		/* a task that has written more is not tried further */

struct spin_trial {
	uint32_t task;			/* WORLD_NO_TASK: no task is on trial */
	unsigned int nr;
	uint64_t states[SPIN_SAMPLES];	/* hashes of the states */
	unsigned int same;		/* samples of the last state, one after another */
	uint64_t run_ns;		/* the task's own run time at the last that counted */
};

void spin_reset(struct spin_trial *s);
/* moved: the task has come to a point since the last sample. */
enum spin_verdict spin_sample(struct spin_trial *s, uint32_t task, int pid, bool moved, const struct zug_regs *regs);

/*
 * Where a task stands in its code and its callers', as a hash: the registers that a call preserves, and the stack above. A loop
 * that calls something keeps its counter there. 0: it cannot be read.
 */
uint64_t spin_standing(int pid, const struct zug_regs *regs);

#endif
