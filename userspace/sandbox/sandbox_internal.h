/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sandbox_internal.h - inside of sandbox.h: the state of a sandbox, and the functions of
 * sandbox_environment.c
 */
#ifndef ZUG_SANDBOX_INTERNAL_H
#define ZUG_SANDBOX_INTERNAL_H

#include <limits.h>
#include <sys/stat.h>
#include "sandbox/sandbox.h"

#define CGROUP_ROOT "/sys/fs/cgroup"
#define SCHED_EXT_POLICY 7
#define CHILD_STACK (64 * 1024)		/* bytes; of a child before its exec */

#define SANDBOX_MAX_KEPT 64		/* mounts below a private folder */
#define SANDBOX_NR_NS 4

/* A folder over which each execution has an overlay of its own. */
struct private_folder {
	char *path;
	struct stat st;
	char **keep;		/* mounts below it that the test sees as they are */
	int nr_keep;
	size_t keep_room;
};

struct environment {
	pid_t init;		/* pid 1 of the test's pid namespace; 0: the test has none */
	int init_fd, pid_ns, own_pid_ns;
	int net;		/* the network namespace; -1: none */
	bool net_used;		/* the last execution has used it: the next one needs another */
	int scratch;		/* the memory file system of the running execution; -1: none */
	int ns[SANDBOX_NR_NS];	/* the execution's, for --setup and --teardown; -1: the machine's */
	struct private_folder folder[4];
	int nr_folders;
	const char *cwd;
	char thrown[PATH_MAX];	/* a file that was thrown away with its environment */
	unsigned int looks;	/* executions that were searched for one */
	bool helpers;		/* --setup may have left processes */
	char note[PATH_MAX + 160];
};

struct private_file {
	char *path, *copy;
};

struct sandbox {
	struct kernel *k;
	unsigned int slot;
	int lane;
	struct sandbox_options o;
	char cgroup[256];
	char files[64];		/* folder of private copies */
	int cgroup_fd, procs_fd, kill_fd, events_fd, stat_fd;
	bool killed;		/* the cgroup was killed as a whole: see spawn_child() */
	int mnt_ns;		/* -1: none yet */
	uint64_t cgid, limit_seen;
	struct private_file *priv;
	int nr_priv;
	size_t priv_room;
	void *stack;
	char cpus_file[96];
	int watch_fds[ZUG_MAX_WATCHES];
	int nr_watch_fds;
	struct environment env;
};

/* Replaces the files of /sys that tell how many CPUs there are. 0 or -errno. */
int sandbox_show_cpus(struct sandbox *s);

/* Empties the state, before anything else. */
void sandbox_environment_reset(struct sandbox *s);
/*
 * Once for a sandbox: finds out what each execution needs, and tries to make it. 0, or -errno with
 * a line in err.
 */
int sandbox_environment_new(struct sandbox *s, char *err, size_t errlen);
void sandbox_environment_free(struct sandbox *s);
/*
 * Must be called for each private copy: it stays visible in the private folder in which it may lie.
 * 0 or -errno.
 */
int sandbox_environment_private_file(struct sandbox *s, const char *path);

/* For each execution, before its first process is created. 0 or -errno. */
int sandbox_environment_prepare(struct sandbox *s);
/*
 * From now on our children are created in the test's pid namespace (or in ours again). 0 or -errno.
 */
int sandbox_environment_spawn_inside(struct sandbox *s, bool inside);
/*
 * In the execution's first process, which may share our memory: no malloc. 0, or -1 with errno and
 * what failed in *stage.
 */
int sandbox_environment_enter(struct sandbox *s, const char **stage);
/* In the same process: the next pid is the one after its own. 0, or -1 with errno. */
int sandbox_environment_reset_pids(const struct sandbox *s);
/*
 * After an execution: kills all processes of its pid namespace, and waits until they are gone. The
 * test's tasks are dead by then, but some may still have their pids, and --setup may have left
 * others.
 */
void sandbox_environment_kill(struct sandbox *s);
/* After that: releases the execution's namespaces and files. */
void sandbox_environment_end(struct sandbox *s);

/* Runs --setup while the first process of the execution waits. 0, or -errno with a line in err. */
int sandbox_set_up(struct sandbox *s, const struct launch *l, pid_t root, char *err, size_t errlen);

#endif
