/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sandbox.h - the place where a test runs: its cgroup, its namespaces, its files
 *
 * One sandbox serves all executions of a campaign. sandbox_new() creates the cgroup and the folder
 * for private copies; sandbox_privatise() puts a private copy of a file over its path, in the
 * sandbox's own mount namespace, so that breakpoints in it do not slow other programs down;
 * sandbox_prepare() and sandbox_launch() start an execution; sandbox_drain() ends it and leaves no task;
 * sandbox_finish() ends its environment; sandbox_free() leaves nothing.
 */
#ifndef ZUG_SANDBOX_H
#define ZUG_SANDBOX_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <sys/types.h>
#include "kernel/kernel.h"

struct sandbox;
struct run_user;

#define SANDBOX_MAX_TASKS 256
#define SANDBOX_SETUP_NS 60000000000ull

/*
 * Parts of the environment that each execution can have for itself, always in the same state
 * (--world)
 */
#define SANDBOX_FILES	(1u << 0)	/* /tmp, the folder for temporary files, the working folder */
#define SANDBOX_IPC	(1u << 1)	/* System V and POSIX IPC, /dev/shm */
#define SANDBOX_PIDS	(1u << 2)
#define SANDBOX_NET	(1u << 3)	/* only a loopback interface */
#define SANDBOX_HOST	(1u << 4)	/* the host name */
#define SANDBOX_ALL	0x1f

struct sandbox_options {
	const char *name;	/* of the cgroup; NULL: zug-PID */
	int lane;		/* CPU; -1: the last one */
	int nr_cpus;		/* CPUs that the test sees; 0: those of the machine */
	int max_tasks;		/* live tasks at most (pids.max); 0: SANDBOX_MAX_TASKS */
	uint64_t max_memory;	/* bytes of all its tasks and files (memory.max); 0: no limit */
	uint64_t spin_ns;	/* a task that computes so long without a point is stopped; 0: never */
	uint32_t syscall_points;	/* ZUG_SYS_* */
	uint32_t quiet;		/* ZUG_QUIET_*: no point is one until a task comes to where the search begins: a place */
				/* with ZUG_SITE_FROM, */
	bool tell_output;	/* or a write that kworld takes for it, */
	uint64_t from_calls[ZUG_NR_SYSCALLS / 64];	/* or one of these system calls */
	uint64_t lookups[ZUG_LOOKUPS];	/* as in struct zug_setup */
	bool in_place;		/* no private copies: processes that join keep their files */
	bool virtual_time;	/* the test has a clock of its own */
	bool stepped;		/* the processor itself executes the instructions at points: a debugger watches data */
	uint64_t clock_real;	/* its CLOCK_REALTIME when an execution begins, in ns */
	bool seeded;		/* the test's random numbers are made from `seed` */
	uint64_t seed;
	uint32_t own;		/* SANDBOX_*; the pointers below must outlive the sandbox */
	const char *cwd, *temporary;	/* folders; NULL: none */
	const char *hide;	/* absolute path that private folders do not show; NULL: none */
	char *const *share;	/* absolute paths that are not private; NULL: none */
	const struct run_user *user;	/* whose rights the test has; NULL: ours. Must outlive the sandbox */
	const char *setup, *teardown;	/* shell commands around each execution; NULL: none */
	uint64_t setup_ns;	/* they may take so long, but SANDBOX_SETUP_NS in any case */
	const volatile sig_atomic_t *stop;	/* ends them when it becomes true; NULL: nothing does */
};

/* 0, or -errno with one line in err (name in use: -EEXIST; no such lane: -EINVAL). */
int sandbox_new(struct sandbox **out, struct kernel *k, unsigned int slot,
		const struct sandbox_options *o, char *err, size_t errlen);
void sandbox_free(struct sandbox *s);
/*
 * In a copy of the process that has made it: s becomes another sandbox on another lane, with the same options and the same
 * private copies, which stay the other process's. 0, or -errno with one line in err; s is to be freed in any case.
 */
int sandbox_forked(struct sandbox *s, unsigned int slot, int lane, char *err, size_t errlen);
/* Removes what killed zugs have left behind: their cgroups with the processes in them, and their files. */
void sandbox_clean_up(void);
/*
 * The cgroup below which all sandboxes of this process, and of those that it forks, are made from now on: a folder below
 * /sys/fs/cgroup, which stays the caller's. 0, or -errno with a line in err.
 */
int sandbox_set_parent(const char *cgroup, char *err, size_t errlen);
/* The same, without a '/' at its end. */
const char *sandbox_parent(void);
/*
 * In a process that is confined (lib/base/rights.h), before its first sandbox: private copies and traces of executions that
 * go on lie in a memory file system that this process and its tests alone see, and that is gone with them. The process has a
 * cgroup of its own with all that it starts beside tests, which sandbox_clean_up() ends when it is dead. It lies, with those
 * of its tests, in one of its user's, whose processes and files have `memory` bytes together (0: no limit). When the machine
 * has no memory left it ends before others do. 0, or -errno with a line in err.
 */
int sandbox_begin_confined(uint64_t memory, char *err, size_t errlen);
/* True when the memory of what is below sandbox_parent() can be limited. */
bool sandbox_memory_controlled(void);
/* At its end. */
void sandbox_end_confined(void);
/* A folder for the traces of executions that go on: /run, or a part of that. */
const char *sandbox_trace_folder(void);

const char *sandbox_cgroup(const struct sandbox *s);	/* full path */
unsigned int sandbox_slot(const struct sandbox *s);
int sandbox_lane(const struct sandbox *s);
uint64_t sandbox_spin_ns(const struct sandbox *s);
uint64_t sandbox_cpu_ns(const struct sandbox *s);	/* that its tasks have used so far, in all executions */
/* Keep this process off the lane, so that it and the test do not disturb each other. */
void sandbox_avoid_lane(const struct sandbox *s);

/*
 * Copies a file that sandbox_privatise() will be asked for, most likely: for a process that has nothing else to do. A file that
 * is another one then is copied anew.
 */
void sandbox_copy_ahead(const char *path);
/* The same with pid 1 of the first sandbox, which is made anew if mounts have changed then. */
void sandbox_init_ahead(void);
/* Ends it if no sandbox has it. */
void sandbox_end_ahead(void);

/*
 * Puts a private copy over path for everything that is started from now on. *copy: the path of the
 * copy, owned by the sandbox. The same path gives the same copy again. 0, or -errno with a line in
 * err.
 */
int sandbox_privatise(struct sandbox *s, const char *path, const char **copy,
		      char *err, size_t errlen);

/*
 * Once, before the first execution: tries to make an environment, which that execution gets. What cannot be made private is
 * left out, and sandbox_note() says so. Private copies that come later cost another environment. 0, or -errno with a line
 * in err.
 */
int sandbox_ready(struct sandbox *s, char *err, size_t errlen);

struct launch {
	const char *file;	/* resolved path of the program */
	char *const *argv, *const *envp;
	const char *cwd;
	int in, out, err;	/* descriptors for 0, 1, 2 */
	unsigned int nr_watches;	/* slots of kernel_set_watch() to open for it */
	bool watch_write_only;
	bool randomise;		/* leave address randomisation on */
	bool joined;		/* sandbox_join() brought it in; it stands at its first system call */
	bool traced;		/* by this thread, from its exec on (sandbox_template.h) */
};

/*
 * Before each execution, and before sandbox_reset(): sees to it that there is an environment for it.
 * It is the last execution's where that is as it was at its beginning. 0, or -errno with a line in
 * err.
 */
int sandbox_prepare(struct sandbox *s, char *err, size_t errlen);
/*
 * Starts the program; control begins with its first system call, when ZUG_EV_START comes. *task:
 * its id. Returns its pid (to be waited for), or -errno with a line in err.
 */
pid_t sandbox_launch(struct sandbox *s, const struct launch *l, uint32_t *task,
		     char *err, size_t errlen);

/*
 * Switches the watchpoints of this execution off, or on again; no task of the test may run
 * meanwhile.
 */
void sandbox_pause_watches(struct sandbox *s, bool off);
/* One line for the user about what could not be made private; NULL: there is none. */
const char *sandbox_note(const struct sandbox *s);
/*
 * A file that an execution wrote in the working folder, and that was thrown away after it; NULL:
 * none.
 */
const char *sandbox_thrown(const struct sandbox *s);
/* True when only the test itself can answer in its network. */
bool sandbox_net_closed(const struct sandbox *s);

/*
 * Ends and reaps all tasks of the sandbox. *status: wait status of root. 0, or -errno; -ETIME:
 * tasks are left.
 */
int sandbox_drain(struct sandbox *s, pid_t root, int *status);
/*
 * Before that, for a living task that may have left the cgroup: kills its process, for whose end
 * sandbox_drain() waits. Only for sandboxes without pids of their own.
 */
void sandbox_kill_stray(struct sandbox *s, pid_t pid);
/*
 * Before sandbox_drain(): lets the test run freely, with SIGQUIT for its root command, which is a child of ours, until
 * that has ended, for up to half a second.
 */
void sandbox_quit(struct sandbox *s, pid_t root);
/* True when sandbox_kill_stray() was called: limits of the cgroup did not hold for all of the test. */
bool sandbox_was_left(const struct sandbox *s);
/*
 * After that: runs --teardown, and ends the execution's environment. 0, or -errno with a line in
 * err.
 */
int sandbox_finish(struct sandbox *s, const struct launch *l, char *err, size_t errlen);
/*
 * Makes a running process a member of a sandbox that was reset. It is under control from its next
 * exec on, or from that of a process that it forks. 0, or -errno; -ESRCH: it is gone.
 */
int sandbox_join(struct sandbox *s, pid_t pid);
/*
 * Releases all processes that have joined and not executed a program since: they go on as before,
 * in the cgroup `home` (a path below the root). Returns their number, or -errno.
 */
int sandbox_release(struct sandbox *s, const char *home);
/*
 * Moves a process to the cgroup `home`, or to the root where `home` takes none. 0, or -errno;
 * -ESRCH: it is gone.
 */
int sandbox_leave(pid_t pid, const char *home);
/* True when any process is in the sandbox. */
bool sandbox_populated(const struct sandbox *s);

/* Forgets the last execution; nothing may be left in the sandbox. */
void sandbox_reset(struct sandbox *s);
/* How many of its processes the kernel has killed for memory since the last call. */
uint64_t sandbox_memory_kills(struct sandbox *s);
/* How often the limit on tasks was hit since the last call. */
uint64_t sandbox_limit_hits(struct sandbox *s);
/* How often the kernel side had no room for another task (ZUG_MAX_TASKS), so that its fork failed. */
uint64_t sandbox_refused(const struct sandbox *s);

#endif
