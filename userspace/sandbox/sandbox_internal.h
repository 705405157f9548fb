/* SPDX-License-Identifier: GPL-2.0-only */
/* sandbox_internal.h - inside of sandbox.h: shared by sandbox.c and sandbox_launch.c */
#ifndef ZUG_SANDBOX_INTERNAL_H
#define ZUG_SANDBOX_INTERNAL_H

#include <limits.h>
#include <sys/stat.h>
#include "sandbox/sandbox.h"

#define CHILD_STACK (64 * 1024)		/* of a child before its exec */

#define SANDBOX_MAX_KEPT 64		/* mounts below a private folder */
#define SANDBOX_NR_NS 4

/* A folder over which each execution has an overlay of its own. */
struct private_folder {
	char *path;
	struct stat st;
	char **keep;		/* what is mounted below it, and stays as it is */
	int nr_keep;
};

/* What sandbox_world.c makes. */
struct sandbox_world {
	pid_t init;		/* pid 1 of the test's pid namespace; 0: it has none */
	int init_fd, pid_ns, own_pid_ns;
	int net;		/* the network namespace; -1: none */
	bool net_used;		/* the last execution has used it: the next one needs another */
	int scratch;		/* the memory file system of the execution that runs; -1: none */
	int ns[SANDBOX_NR_NS];	/* its namespaces, for --setup and --teardown; -1: the machine's */
	struct private_folder folder[4];
	int nr_folders;
	const char *cwd;
	char thrown[PATH_MAX];	/* a file that was thrown away */
	unsigned int looks;	/* for one */
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
	int cgroup_fd, procs_fd, kill_fd, events_fd;
	bool killed;		/* by cgroup.kill: see sandbox_launch.c */
	int mnt_ns;		/* -1: none yet */
	uint64_t cgid, limit_seen;
	struct private_file *priv;
	int nr_priv;
	void *stack;
	char cpus_file[96];
	int watch_fds[ZUG_MAX_WATCHES];
	int nr_watch_fds;
	struct sandbox_world world;
};

/* The files that say how many CPUs there are, as the test sees them. 0 or -errno. */
int sandbox_show_cpus(struct sandbox *s);

/*
 * Once for a sandbox: nothing is there (reset), everything is known and was tried (0, or -errno with a line in
 * err), nothing is left. A private copy that lies in a private folder has to be told.
 */
void sandbox_world_reset(struct sandbox *s);
int sandbox_world_new(struct sandbox *s, char *err, size_t errlen);
void sandbox_world_free(struct sandbox *s);
int sandbox_world_private_file(struct sandbox *s, const char *path);

/* For each execution, before its first process is born; 0 or -errno. */
int sandbox_world_prepare(struct sandbox *s);
/* Whether what we create is born in the test's pid namespace; 0 or -errno. */
int sandbox_world_born(struct sandbox *s, bool inside);
/* In its first process, which may share our memory: no malloc. 0, or -1 with errno and what could not be done. */
int sandbox_world_enter(struct sandbox *s, const char **stage);
/* There, too: the next pid is the one after its own. 0, or -1 with errno. */
int sandbox_world_number(const struct sandbox *s);
/*
 * Ends whatever is left in its pid namespace (the test's tasks are dead, and its root was waited for, but some may
 * still have their numbers; --setup may have left others), and waits until nothing is.
 */
void sandbox_world_kill(struct sandbox *s);
/* After that. */
void sandbox_world_end(struct sandbox *s);

/* --setup, while the first process of the execution waits; 0, or -errno with a line in err. */
int sandbox_set_up(struct sandbox *s, const struct launch *l, pid_t root, char *err, size_t errlen);

#endif
