/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * gdb.h - gdb on a replay
 *
 * zug answers gdb itself (the remote protocol, over a Unix socket). If gdb attached to the test,
 * every thread would run until it stops, against the schedule. Here the tasks without the turn stay
 * parked, and gdb sees them from outside: registers by the kernel side, memory through /proc. Only
 * the task that has the turn is ever stopped by ptrace, and it keeps its turn meanwhile. So for gdb
 * all threads stop and go on together, and the schedule is kept.
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
	const char *socket;	/* where to listen; NULL: at a path of our own */
	char *const *command;	/* gdb's further arguments, ended by NULL; NULL: wait for a gdb */
	uint64_t stop_at;	/* step of the trace */
	uint64_t exec_step;	/* stop already at an exec of the process in that step, or GDB_NO_STEP */
	uint32_t process;	/* number of its first task */
	bool stop_at_exit;	/* stop before a process that fails is gone */
	FILE *err;
	const volatile sig_atomic_t *stop;	/* true: the user wants to end (Ctrl-C); may be NULL */
};

struct gdb;

/* Listens for gdb. 0, or -errno with a line in err. The trace must outlive it. */
int gdb_new(struct gdb **out, const struct gdb_options *o, const struct trace *t, char *err, size_t errlen);
/* For the engine. */
struct debugger *gdb_debugger(struct gdb *g);
/* Waits until the gdb that was started ends. NULL is fine. */
void gdb_free(struct gdb *g);

/*
 * The steps of --stop-at-preemption (the first from `from` on) and --stop-before-failure;
 * GDB_NO_STEP: there is none.
 */
uint64_t gdb_preemption_step(const struct trace *t, uint64_t from);
uint64_t gdb_failure_step(const struct trace *t);

#endif
