/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sandbox_internal.h - inside of sandbox.h: the state of a sandbox, and the functions of
 * sandbox_environment.c
 */
#ifndef ZUG_SANDBOX_INTERNAL_H
#define ZUG_SANDBOX_INTERNAL_H

#include <limits.h>
#include <sys/stat.h>
#include <sys/user.h>
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

/* sandbox_template.c */
#define SANDBOX_TEMPLATE_FOLDERS 32
struct template_folder {
	int fd;
	struct timespec changed;	/* when the template was made */
};

struct sandbox_template {
	pid_t pid;		/* 0: none */
	bool followed;		/* the prototype is traced */
	struct user_regs_struct at;	/* with which executions go on */
	uint64_t insn;		/* the address of a system call instruction */
	uint64_t tid_address, robust_list, robust_len;	/* of the first thread; 0: none */
	uint64_t loader, loader_end;	/* code of the dynamic loader; 0: none */
	int scratch;		/* the memory file system of its environment; -1: none */
	struct template_folder folder[SANDBOX_TEMPLATE_FOLDERS];	/* that tell whether files were changed */
	int nr_folders;
	bool file_looks;	/* the kernel side keeps times of files for it, which an execution by exec overwrites */
	const char *spoilt;	/* why it was dropped; NULL: it was not */
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
	struct sandbox_template template;
};

/* Sets the limit on tasks in the cgroup: the test's, and so many others. */
void sandbox_limit_tasks(const struct sandbox *s, int others);
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
/* What the first process of the pid namespace does for us. 0 or -errno. */
enum environment_request {
	ENVIRONMENT_KILL = 0,		/* kills all others */
	ENVIRONMENT_FIRST_PID,		/* the same, but for a template; the next process gets pid 2 */
	ENVIRONMENT_HIGH_PID,		/* the next process gets a pid that is used in no execution */
};
int sandbox_environment_ask(struct sandbox *s, enum environment_request what);
/*
 * After an execution: kills all processes of its pid namespace, and waits until they are gone. The
 * test's tasks are dead by then, but some may still have their pids, and --setup may have left
 * others.
 */
void sandbox_environment_kill(struct sandbox *s);
/* After that: releases the execution's namespaces and files. */
void sandbox_environment_end(struct sandbox *s);

/* After each execution: drops the template when its environment is not what it was. */
void sandbox_template_look(struct sandbox *s);

/* Runs --setup while the first process of the execution waits. 0, or -errno with a line in err. */
int sandbox_set_up(struct sandbox *s, const struct launch *l, pid_t root, char *err, size_t errlen);

#endif
