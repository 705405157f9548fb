/* SPDX-License-Identifier: GPL-2.0-only */
/* sandbox_internal.h - inside of sandbox.h: shared by sandbox.c and sandbox_launch.c */
#ifndef ZUG_SANDBOX_INTERNAL_H
#define ZUG_SANDBOX_INTERNAL_H

#include "sandbox.h"

#define CHILD_STACK (64 * 1024)		/* of a child before its exec */

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
};

/* The files that say how many CPUs there are, as the test sees them. 0 or -errno. */
int sandbox_show_cpus(struct sandbox *s);

#endif
