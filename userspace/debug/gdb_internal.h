/* SPDX-License-Identifier: GPL-2.0-only */
/* gdb_internal.h - inside of gdb.h: the replay's side (gdb.c) and gdb's (gdb_requests.c) */
#ifndef ZUG_GDB_INTERNAL_H
#define ZUG_GDB_INTERNAL_H

#include <signal.h>
#include <sys/types.h>
#include "debug/gdb.h"
#include "debug/rsp.h"
#include "kernel/tracee.h"

#define GDB_MAX_FILES 8

struct gdb_breakpoint {
	uint64_t addr;
	uint8_t byte;		/* what was there */
	bool probed;		/* a probe is there: tasks stop by themselves, nothing is written */
};

struct gdb {
	struct debugger d;
	struct gdb_options o;
	const struct trace *trace;
	struct world *w;	/* while a hook runs */
	char path[108];
	int listen_fd;
	pid_t child;		/* the gdb that was started, 0 none */
	struct rsp rsp;
	bool connected;
	bool over;		/* gdb has left, or the process has: the replay goes on by itself */
	bool killed;		/* gdb wants the execution to end */
	uint32_t process;	/* number of its first task */

	uint32_t current;	/* whom the last stop was reported of */
	uint32_t selected;	/* whom registers are asked of */
	uint32_t stopped;	/* in a ptrace stop; WORLD_NO_TASK: nobody */
	uint32_t step;		/* to be stepped by one instruction */
	int signal;		/* to be delivered to whom is stopped */
	int new_signal;		/* what gdb wants to be delivered */
	bool interrupt;		/* Ctrl-C */
	uint64_t next_stop;	/* step of the trace */
	uint64_t last_step;	/* of the trace: the last that was begun, or is about to */
	char reply[256];	/* the last stop reply */
	int exit_status;
	uint64_t passed[4];	/* signals by gdb's number that are passed on without a word */

	uint8_t *seized;	/* by task */
	uint32_t *watches_of;	/* by task: number of the watches it has */
	uint32_t nr_tasks;
	struct gdb_breakpoint *breakpoints;
	size_t nr_breakpoints;
	struct tracee_watch watches[4];
	uint32_t watches_serial;
	int files[GDB_MAX_FILES];	/* opened for gdb, -1 none */
};

/* Answers gdb until it lets the replay go on, leaves, or wants its end. */
void gdb_serve(struct gdb *g);
/* A line on gdb's console; only between a request to go on and the next stop. */
void gdb_say(struct gdb *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Tells gdb that it has stopped, and serves. */
void gdb_stop(struct gdb *g, uint32_t task, int signal, const char *why);

/* Is it a live task of the process that gdb sees? */
bool gdb_shows(const struct gdb *g, uint32_t task);
/* "p1f.20" */
const char *gdb_thread_id(const struct gdb *g, uint32_t task, char buf[32]);
/* A thread through which the process's memory can be reached; 0: none is left. */
pid_t gdb_memory_tid(const struct gdb *g);
int gdb_read(struct gdb *g, uint64_t addr, void *buf, size_t len);
int gdb_registers(struct gdb *g, uint32_t task, uint8_t regs[TRACEE_REGS_SIZE], uint8_t known[TRACEE_REGS_SIZE]);
/* gdb is done with it: nothing of it stays in the process. */
void gdb_leave(struct gdb *g);
int gdb_signal(int linux_signal);
int gdb_signal_to_linux(int gdb_number);

#endif
