/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flow.h - what a trace says between the lines: who waits for what and from when to when, and
 * which step lets which other one happen
 *
 * Computed from the trace alone, in one pass. Step numbers are indices of trace_step().
 */
#ifndef ZUG_FLOW_H
#define ZUG_FLOW_H

#include <stddef.h>
#include <stdint.h>
#include "lib/trace.h"

/* A task is alive and cannot run: from before step `from` until before step `to`. */
struct flow_wait {
	uint64_t from, to;	/* to: the number of steps when it waits to the end; from may be that too */
	uint32_t task;
	uint32_t holder;	/* who holds the object when it begins, TRACE_NO_TASK: nobody, or unknown */
	uint64_t object;	/* 0: unknown */
	const char *text;	/* the kernel's word for it ("futex", "wait4"), the trace's; NULL: none */
};

/*
 * Two steps of different tasks, the earlier of which makes the later one possible, or acts on what
 * the later one acts on. Only the nearest such step is named: what follows from other arrows and the
 * order within a task may be missing or not.
 */
enum flow_kind {
	FLOW_START,		/* created the task */
	FLOW_WAKE,		/* woke the task, which was blocked in the kernel */
	FLOW_SYNC,		/* released what the other acquires */
	FLOW_DATA,		/* touched the same variable, file...; one of them may write */
};

struct flow_arrow {
	uint64_t from, to;
	enum flow_kind kind;
};

struct flow {
	struct flow_wait *waits;	/* by task, then from */
	size_t nr_waits, waits_size;
	struct flow_arrow *arrows;	/* by to */
	size_t nr_arrows, arrows_size;
};

/* 0 or -ENOMEM; to be released in any case. */
int flow_init(struct flow *f, const struct trace *t);
void flow_release(struct flow *f);

#endif
