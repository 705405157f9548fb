/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * gdb.h - gdb on a replay
 *
 * zug answers gdb itself (the remote protocol, over a Unix socket) instead of having gdb attach to
 * the test: attaching makes every thread run to a stop, which is not what the schedule says. Here
 * the tasks that do not have the turn stay parked where they are, and are shown from outside (registers
 * by the kernel side, memory through /proc); only the one that has the turn is ever stopped by ptrace, and
 * keeps its turn meanwhile. So for gdb all threads stop and go on together, and the schedule is kept.
 *
 * gdb sees one process of the test.
 */
#ifndef ZUG_GDB_H
#define ZUG_GDB_H

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include "lib/trace.h"
#include "engine/debugger.h"

#define GDB_NO_STEP UINT64_MAX

struct gdb_options {
	const char *socket;	/* where it listens; NULL: a path is made up */
	char *const *command;	/* gdb's further arguments, NULL at the end; NULL: gdb is not started, but waited for */
	uint64_t stop_at;	/* step of the trace */
	uint64_t exec_step;	/* stop already at an exec of the process in that step; GDB_NO_STEP: do not */
	uint32_t process;	/* number of its first task */
	bool stop_at_exit;	/* stop before a process that fails is gone */
	FILE *err;
	const volatile sig_atomic_t *stop;	/* set: end (Ctrl-C while waiting for a gdb); may be NULL */
};

struct gdb;

/* 0, or -errno with a line in err. The trace must outlive it. */
int gdb_new(struct gdb **out, const struct gdb_options *o, const struct trace *t, char *err, size_t errlen);
/* Give it to the engine. */
struct debugger *gdb_debugger(struct gdb *g);
/* Waits for the gdb that was started, if its user is still there. NULL is fine. */
void gdb_free(struct gdb *g);

/* Steps that --stop-at-preemption and --stop-before-failure mean; GDB_NO_STEP: there is none. */
uint64_t gdb_preemption_step(const struct trace *t, uint64_t from);
uint64_t gdb_failure_step(const struct trace *t);

#endif
