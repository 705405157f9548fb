/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sandbox_join.c - running processes join a sandbox, instead of being launched in it
 *
 * zugd(8) says which controls they lack, compared with a launched test.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "sandbox/sandbox_internal.h"

/* Calls fn for every thread, up to the first error; -ESRCH (the thread is gone) is none. */
static int each_thread(pid_t pid, int (*fn)(struct sandbox *s, pid_t tid), struct sandbox *s)
{
	char path[64];
	struct dirent *d;
	int ret = 0, nr = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	while (!ret && (d = readdir(dir))) {
		if (d->d_name[0] == '.')
			continue;
		ret = fn(s, atoi(d->d_name));
		if (ret == -ESRCH)
			ret = 0;
		else
			nr++;
	}
	closedir(dir);
	return ret ? ret : nr ? 0 : -ESRCH;
}

static int adopt(struct sandbox *s, pid_t tid)
{
	struct zug_ctl c = { .cmd = ZUG_CMD_ADOPT, .sandbox = s->slot, .pid = tid };
	struct sched_param sp = { 0 };
	cpu_set_t cpus;
	int ret;

	/* a task that may not run on the lane could never be given the turn */
	memset(&cpus, 0xff, sizeof(cpus));
	if (sched_setaffinity(tid, sizeof(cpus), &cpus))
		return -errno;
	ret = kernel_ctl(s->k, &c);
	if (ret)
		return ret;
	return sched_setscheduler(tid, SCHED_EXT_POLICY, &sp) ? -errno : 0;
}

static int release(struct sandbox *s, pid_t tid)
{
	struct zug_ctl c = { .cmd = ZUG_CMD_RELEASE, .sandbox = s->slot, .pid = tid };
	struct sched_param sp = { 0 };
	int ret = kernel_ctl(s->k, &c);

	if (ret)
		return ret;
	return sched_setscheduler(tid, SCHED_OTHER, &sp) ? -errno : 0;
}

static int move(const char *procs, pid_t pid)
{
	int fd = open(procs, O_WRONLY | O_CLOEXEC), ret = 0;

	if (fd < 0)
		return -errno;
	if (dprintf(fd, "%d", pid) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

int sandbox_join(struct sandbox *s, pid_t pid)
{
	char procs[320];
	int ret = each_thread(pid, adopt, s);

	if (ret)
		return ret;
	snprintf(procs, sizeof(procs), "%s/cgroup.procs", s->cgroup);
	return move(procs, pid);
}

int sandbox_leave(pid_t pid, const char *home)
{
	char procs[512];
	int ret;

	snprintf(procs, sizeof(procs), CGROUP_ROOT "%s/cgroup.procs", home);
	ret = move(procs, pid);
	/*
	 * a cgroup that passes controllers to its children takes no processes; the root takes all
	 */
	return ret && ret != -ESRCH ? move(CGROUP_ROOT "/cgroup.procs", pid) : ret;
}

int sandbox_release(struct sandbox *s, const char *home)
{
	char procs[320], line[32];
	int nr = 0, seen = 1, ret = 0;
	FILE *f;

	snprintf(procs, sizeof(procs), "%s/cgroup.procs", s->cgroup);
	/* repeated while there are any: one may have forked just before */
	for (int round = 0; seen && round < 10 && !ret; round++) {
		seen = 0;
		f = fopen(procs, "re");
		if (!f)
			return -errno;
		while (!ret && fgets(line, sizeof(line), f)) {
			pid_t pid = atoi(line);

			ret = pid > 0 ? each_thread(pid, release, s) : -EBUSY;
			if (!ret) {
				ret = sandbox_leave(pid, home);
				seen++;
				nr++;
			}
			if (ret == -EBUSY || ret == -ESRCH)
				ret = 0;	/* it is under control, or gone */
		}
		fclose(f);
	}
	return ret ? ret : nr;
}
