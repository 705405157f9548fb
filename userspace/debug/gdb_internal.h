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
	uint8_t byte;		/* the program's own byte */
	bool probed;		/* a probe stops tasks there anyway: nothing is written */
};

struct gdb_task {
	bool seized;
	struct tracee_watches watches;
	uint32_t watches_serial;	/* of the watchpoints that it has */
	bool unwatched;		/* they are off while it executes one instruction */
	int hit;		/* the watchpoint that this instruction touches; -1: none */
};

struct gdb {
	struct debugger d;
	struct gdb_options o;
	const struct trace *trace;
	struct world *w;	/* while a hook runs */
	char path[108];
	int listen_fd;
	pid_t child;		/* the gdb that was started; 0: none */
	struct rsp rsp;
	bool connected;
	bool over;		/* gdb or the process is gone: the replay goes on alone */
	bool killed;		/* gdb wants the execution to end */
	uint32_t process;	/* number of its first task */

	/* tasks; WORLD_NO_TASK: none */
	uint32_t current;	/* of the last stop */
	uint32_t selected;	/* its registers are shown */
	uint32_t stopped;	/* it is in a ptrace stop */
	uint32_t step;		/* it will be stepped by one instruction */

	int signal;		/* of the ptrace stop, to be delivered when the task goes on */
	int new_signal;		/* the signal that gdb wants delivered instead */
	bool interrupt;		/* gdb has sent Ctrl-C */
	uint64_t next_stop;	/* step of the trace */
	uint64_t last_step;	/* of the trace: the last one that began, or is about to begin */
	char reply[256];	/* the last stop reply */
	int exit_status;
	uint64_t passed[4];	/* bits of signals, by gdb's number, that are delivered without a stop */

	struct gdb_task *tasks;	/* by number */
	uint32_t nr_tasks, tasks_room;
	struct gdb_breakpoint *breakpoints;
	size_t nr_breakpoints, breakpoints_room;
	struct tracee_watch watches[TRACEE_WATCHES];
	uint32_t watches_serial;	/* grows with each change of watches */
	bool paused;		/* so are the world's, for a task that is stepped */
	int files[GDB_MAX_FILES];	/* opened for gdb; -1: none */
};

/* Answers gdb until it lets the replay go on, leaves, or ends the replay. */
void gdb_serve(struct gdb *g);

/* True for a live task of the process that gdb sees. */
bool gdb_shows(const struct gdb *g, uint32_t task);
/* "p1f.20" */
const char *gdb_thread_id(const struct gdb *g, uint32_t task, char buf[32]);
/* A thread of the process, for access to its memory; 0: none is left. */
pid_t gdb_memory_tid(const struct gdb *g);
/*
 * Reads memory as the program sees it, without breakpoints. Returns the bytes that could be read,
 * or -errno.
 */
int gdb_read(struct gdb *g, uint64_t addr, void *buf, size_t len);
int gdb_registers(struct gdb *g, uint32_t task, uint8_t regs[TRACEE_REGS_SIZE], uint8_t known[TRACEE_REGS_SIZE]);
/* gdb has left: takes its breakpoints and watchpoints out of the process. */
void gdb_leave(struct gdb *g);
/* Gives the task gdb's watchpoints as they are now. 0 or -errno. */
int gdb_set_watches(struct gdb *g, uint32_t task);
/* Linux's number for gdb's number of a signal; 0: there is none. */
int gdb_signal_to_linux(int number);

#endif
