/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sandbox.h - where a test runs: its cgroup, its mount namespace, its files
 *
 * One sandbox serves all executions of a campaign. sandbox_new() makes the
 * cgroup and the folder for private copies; sandbox_privatise() puts a private
 * copy of a file over its path, in the sandbox's own mount namespace, so that
 * breakpoints in it cost nobody else; sandbox_launch() starts one execution;
 * sandbox_drain() ends one and leaves no task; sandbox_free() leaves nothing.
 */
#ifndef ZUG_SANDBOX_H
#define ZUG_SANDBOX_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <sys/types.h>
#include "kernel/kernel.h"

struct sandbox;

#define SANDBOX_MAX_TASKS 256

/* What a sandbox can have for itself, anew in each execution */
#define SANDBOX_FILES	(1u << 0)	/* /tmp, the folder for temporary files, the working folder */
#define SANDBOX_IPC	(1u << 1)	/* System V and POSIX IPC, /dev/shm */
#define SANDBOX_PIDS	(1u << 2)
#define SANDBOX_NET	(1u << 3)	/* nothing but a loopback interface */
#define SANDBOX_HOST	(1u << 4)	/* its name */
#define SANDBOX_ALL	0x1f

struct sandbox_options {
	const char *name;	/* of the cgroup; NULL: zug-PID */
	int lane;		/* CPU; -1: the last one */
	int nr_cpus;		/* what the test sees; 0: what the machine has */
	int max_tasks;		/* live tasks, pids.max; 0: SANDBOX_MAX_TASKS */
	uint64_t spin_ns;	/* a task that computes so long without a point is made to stop; 0: never */
	uint32_t syscall_points;	/* ZUG_SYS_* */
	bool in_place;		/* no private copies: for processes that join, with the files they see */
	bool virtual_time;	/* the test has a clock of its own */
	uint64_t clock_real;	/* what its CLOCK_REALTIME says when an execution begins, ns */
	bool seeded;		/* its random numbers are made from */
	uint64_t seed;
	uint32_t own;		/* SANDBOX_*; what follows is the caller's and outlives the sandbox */
	const char *cwd, *temporary;	/* folders; NULL: none */
	const char *hide;	/* absolute path that private folders do not show; NULL: none */
	char *const *share;	/* absolute paths that stay the machine's; NULL: none */
	const char *setup, *teardown;	/* shell commands around each execution; NULL: none */
};

/* 0, or -errno with one line in err (name in use: -EEXIST; no such lane: -EINVAL). */
int sandbox_new(struct sandbox **out, struct kernel *k, unsigned int slot,
		const struct sandbox_options *o, char *err, size_t errlen);
void sandbox_free(struct sandbox *s);

const char *sandbox_cgroup(const struct sandbox *s);	/* full path */
unsigned int sandbox_slot(const struct sandbox *s);
int sandbox_lane(const struct sandbox *s);
uint64_t sandbox_spin_ns(const struct sandbox *s);
/* Keep this process off the lane, so that it and the test do not disturb each other. */
void sandbox_avoid_lane(const struct sandbox *s);

/*
 * Puts a private copy over path for everything started from now on.
 * copy: where the copy lies (owned by the sandbox). The same file again gives the same copy.
 */
int sandbox_privatise(struct sandbox *s, const char *path, const char **copy,
		      char *err, size_t errlen);

struct launch {
	const char *file;	/* resolved path of the program */
	char *const *argv, *const *envp;
	const char *cwd;
	int in, out, err;	/* descriptors for 0, 1, 2 */
	unsigned int nr_watches;	/* slots of kernel_set_watch() to open for it */
	bool watch_write_only;
	bool randomise;		/* leave address randomisation on */
	bool joined;		/* it is there, brought in by sandbox_join(), and stopped at its first system call */
};

/*
 * Starts the program; control begins with its first system call, when
 * ZUG_EV_START comes. *task: its id. Returns its pid (to be waited for), or -errno with a line in err.
 */
pid_t sandbox_launch(struct sandbox *s, const struct launch *l, uint32_t *task,
		     char *err, size_t errlen);

/* Switches the watches of this execution off, or on again; no task of the test may run meanwhile. */
void sandbox_pause_watches(struct sandbox *s, bool off);
/* What could not be made private, one line for the user; NULL: nothing. */
const char *sandbox_note(const struct sandbox *s);
/* A file in the working folder that an execution has left and that is gone; NULL: none. */
const char *sandbox_thrown(const struct sandbox *s);
/* Can only the test itself answer in its network? */
bool sandbox_net_closed(const struct sandbox *s);

/* Ends whatever runs, reaps it, and makes the slot ready for the next execution. -ETIME: tasks are left. */
int sandbox_drain(struct sandbox *s, pid_t root, int *status);
/* After that: --teardown, and what the execution has written is gone. 0, or -errno with a line in err. */
int sandbox_finish(struct sandbox *s, const struct launch *l, char *err, size_t errlen);
/*
 * Makes a running process a member of a sandbox that was reset: from its next exec, or
 * that of a process it forks, it is under control. 0 or -errno: -ESRCH when it is gone.
 */
int sandbox_join(struct sandbox *s, pid_t pid);
/*
 * Gives up what has joined and has executed nothing: it goes on as before, in the cgroup home (a path
 * below the root). The number of processes, or -errno.
 */
int sandbox_release(struct sandbox *s, const char *home);
/* Moves a process out of whatever cgroup it is in. -ESRCH: it is gone. */
int sandbox_leave(pid_t pid, const char *home);
/* Is any process in it? */
bool sandbox_populated(const struct sandbox *s);

/* Forgets the last execution; nothing may be left in the sandbox. */
void sandbox_reset(struct sandbox *s);
/* Times that the limit on tasks was hit, since the last call. */
uint64_t sandbox_limit_hits(struct sandbox *s);

#endif
