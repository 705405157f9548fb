/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * causality.h - the waits of an execution, and which step makes which other step possible
 *
 * Both are computed from the trace alone, in one pass. Step numbers are indices of trace_step().
 */
#ifndef ZUG_CAUSALITY_H
#define ZUG_CAUSALITY_H

#include <stddef.h>
#include <stdint.h>
#include "lib/trace.h"

/* A task is alive and cannot run, from before step `from` until before step `to`. */
struct causality_wait {
	uint64_t from, to;	/* both may be the number of steps: a wait at the end of the trace */
	uint32_t task;
	uint32_t holder;	/* of the object, when the wait begins; TRACE_NO_TASK: none, or unknown */
	uint64_t object;	/* 0: unknown */
	const char *text;	/* the kernel's word for it ("futex", "wait4"), owned by the trace, or NULL */
};

/*
 * Two steps of different tasks. The earlier one makes the later one possible, or acts on the same
 * object. Only the nearest such step has an arrow: an arrow that follows from others and from the
 * order within a task may be missing.
 */
enum causality_kind {
	CAUSALITY_START,	/* created the task */
	CAUSALITY_WAKE,		/* woke the task, which was blocked in the kernel */
	CAUSALITY_SYNC,		/* released what the later step acquires */
	CAUSALITY_DATA,		/* accessed the same variable or file; one of the two may write it */
};

struct causality_arrow {
	uint64_t from, to;
	enum causality_kind kind;
};

struct causality {
	struct causality_wait *waits;	/* sorted by task, then by from */
	size_t nr_waits, waits_room;
	struct causality_arrow *arrows;	/* sorted by to */
	size_t nr_arrows, arrows_room;
};

/* 0 or -ENOMEM; causality_release() follows in either case. */
int causality_init(struct causality *c, const struct trace *t);
void causality_release(struct causality *c);

#endif
