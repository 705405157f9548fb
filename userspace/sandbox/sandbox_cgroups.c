/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sandbox_cgroups.c - the folders of cgroups and of /run in which sandboxes lie: who has which, their limits, and what the
 * dead have left in them
 *
 * Read sandbox.h first. A process has its sandboxes in one cgroup, its parent: the root of the hierarchy, zugd's, or, when it
 * is confined, one that its user has in zugd's.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/base/proc_status.h"
#include "lib/base/rights.h"
#include "sandbox/sandbox_internal.h"

int sandbox_write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

/* Of the process: a system has one scheduler, so a process has one place for all of its cgroups. */
static char parent[128] = CGROUP_ROOT;

int sandbox_set_parent(const char *cgroup, char *err, size_t errlen)
{
	char real[PATH_MAX];
	size_t len = strlen(CGROUP_ROOT);
	int ret = 0;

	if (!realpath(cgroup, real))
		ret = -errno;
	else if (strncmp(real, CGROUP_ROOT, len) || (real[len] && real[len] != '/') || strlen(real) >= sizeof(parent))
		ret = -EINVAL;
	if (ret)
		snprintf(err, errlen, "--cgroup %s: %s", cgroup,
			 ret == -EINVAL ? "it is no cgroup below " CGROUP_ROOT ", or its path is too long" : strerror(-ret));
	else
		snprintf(parent, sizeof(parent), "%s", real);
	return ret;
}

const char *sandbox_parent(void)
{
	return parent;
}

int sandbox_pass_on_controller(const char *name)
{
	char path[sizeof(parent) + 32];

	snprintf(path, sizeof(path), "%s/cgroup.subtree_control", parent);
	return sandbox_write_file(path, name);
}

/* Where files are that last as long as a sandbox. Of the process, too. */
static char run_folder[64] = "/run", trace_folder[80] = "/run";

/* What one user can fill with copies of programs, of the machine's memory. */
#define OWN_FOLDER_SIZE "size=25%,mode=0755"
/* Processes that one user's search has besides those of its tests, where pids can be limited. */
#define OWN_PROCESSES "512"
/* Tests have 1000. */
#define OWN_OOM_SCORE "900"
/* Begins the name of the cgroup of a confined process's user. */
#define USER_PREFIX "user-"
#define MAKE_TRIES 100

int sandbox_limit_memory(const char *cgroup, uint64_t memory)
{
	char path[320], max[24];
	int ret;

	snprintf(path, sizeof(path), "%s/memory.max", cgroup);
	snprintf(max, sizeof(max), "%llu", (unsigned long long)memory);
	ret = sandbox_write_file(path, max);
	if (ret)
		return ret;
	/* what is swapped out would only be slow; a kernel without swap has no such file */
	snprintf(path, sizeof(path), "%s/memory.swap.max", cgroup);
	sandbox_write_file(path, "0");
	return 0;
}

bool sandbox_memory_controlled(void)
{
	char path[sizeof(parent) + 32], names[256];
	FILE *f;
	bool is;

	snprintf(path, sizeof(path), "%s/cgroup.controllers", parent);
	f = fopen(path, "re");
	is = f && fgets(names, sizeof(names), f) && strstr(names, "memory");
	if (f)
		fclose(f);
	return is;
}

static int make_own_folder(void)
{
	const struct run_user *u = rights_user();
	char folder[sizeof(run_folder)];

	snprintf(folder, sizeof(folder), "/run/%s-m", proc_own_name());
	snprintf(trace_folder, sizeof(trace_folder), "%s/traces", folder);
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) || mkdir(folder, 0700) ||
	    mount("tmpfs", folder, "tmpfs", MS_NOSUID | MS_NODEV, OWN_FOLDER_SIZE) || mkdir(trace_folder, 0700) ||
	    chown(trace_folder, u->uid, u->gid))
		return -errno;
	strcpy(run_folder, folder);
	return 0;
}

/* In `parent`, which passes on what it has: as for tests, without a controller the kernel's own limits remain. 0 or -errno. */
static int make_limited(const char *cgroup)
{
	sandbox_pass_on_controller("+pids");
	sandbox_pass_on_controller("+memory");
	return mkdir(cgroup, 0755) ? -errno : 0;
}

/* All cgroups of the user's are below this one, which all of its workers share. 0 or -errno. */
static int make_user_cgroup(char *cgroup, size_t size, uint64_t memory)
{
	int ret;

	if (snprintf(cgroup, size, "%s/" USER_PREFIX "%u", parent, rights_user()->uid) >= (int)size)
		return -ENAMETOOLONG;
	ret = make_limited(cgroup);
	if (ret && ret != -EEXIST)
		return ret;
	return memory ? sandbox_limit_memory(cgroup, memory) : 0;
}

static int enter_own_cgroup(uint64_t memory)
{
	char user[sizeof(parent)], zugd[sizeof(parent)], cgroup[256], path[288];
	int ret, tries = MAKE_TRIES;

	strcpy(zugd, parent);
	/* zugd removes the user's when it is empty */
	do {
		strcpy(parent, zugd);
		ret = make_user_cgroup(user, sizeof(user), memory);
		if (ret && ret != -ENOENT)
			return ret;
		strcpy(parent, user);
		snprintf(cgroup, sizeof(cgroup), "%s/%s-w", parent, proc_own_name());
		ret = make_limited(cgroup);
	} while (ret == -ENOENT && tries-- > 0);
	if (ret)
		return ret;
	snprintf(path, sizeof(path), "%s/pids.max", cgroup);
	sandbox_write_file(path, OWN_PROCESSES);
	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
	return sandbox_write_file(path, "0");
}

int sandbox_begin_confined(uint64_t memory, char *err, size_t errlen)
{
	RIGHTS_RAISED;
	int ret = sandbox_write_file("/proc/self/oom_score_adj", OWN_OOM_SCORE);

	ret = ret ? ret : make_own_folder();
	ret = ret ? ret : enter_own_cgroup(memory);
	if (ret)
		snprintf(err, errlen, "cannot begin to work for user %u: %s", rights_user()->uid, strerror(-ret));
	return ret;
}

void sandbox_end_confined(void)
{
	RIGHTS_RAISED;

	umount2(run_folder, MNT_DETACH);
	rmdir(run_folder);
}

const char *sandbox_run_folder(void)
{
	return run_folder;
}

const char *sandbox_trace_folder(void)
{
	return trace_folder;
}

static void remove_folder(const char *path)
{
	char file[PATH_MAX + 256];
	struct dirent *d;
	DIR *dir = opendir(path);

	while (dir && (d = readdir(dir)))
		if (d->d_name[0] != '.') {
			snprintf(file, sizeof(file), "%s/%s", path, d->d_name);
			unlink(file);
		}
	if (dir)
		closedir(dir);
	rmdir(path);
}

/* What is killed dies soon; what cannot die is left for the next time. */
#define CLEAN_UP_TRIES 100
#define CLEAN_UP_US 10000

/* Cgroups of the dead. Not deeper: there may be those of a container's zug, whose pids are others. */
static void clean_up_below(const char *cgroup)
{
	char path[PATH_MAX], file[PATH_MAX + 16];
	int tries = CLEAN_UP_TRIES;
	struct dirent *d;
	DIR *dir = opendir(cgroup);

	while (dir && (d = readdir(dir))) {
		if (!proc_name_is_orphan(d->d_name))
			continue;
		snprintf(path, sizeof(path), "%s/%s", cgroup, d->d_name);
		snprintf(file, sizeof(file), "%s/cgroup.kill", path);
		sandbox_write_file(file, "1");
		while (rmdir(path) && errno == EBUSY && tries-- > 0)
			usleep(CLEAN_UP_US);
	}
	if (dir)
		closedir(dir);
}

/* Those of users that have no process left. */
static void clean_up_users(void)
{
	DIR *dir = opendir(parent);
	char path[PATH_MAX];
	struct dirent *d;

	while (dir && (d = readdir(dir))) {
		if (strncmp(d->d_name, USER_PREFIX, strlen(USER_PREFIX)))
			continue;
		snprintf(path, sizeof(path), "%s/%s", parent, d->d_name);
		clean_up_below(path);
		rmdir(path);
	}
	if (dir)
		closedir(dir);
}

void sandbox_clean_up(void)
{
	char path[PATH_MAX];
	struct dirent *d;
	DIR *dir;
	RIGHTS_RAISED;

	clean_up_below(CGROUP_ROOT);
	if (strcmp(parent, CGROUP_ROOT)) {
		clean_up_below(parent);
		clean_up_users();
	}
	dir = opendir("/run");
	while (dir && (d = readdir(dir))) {
		if (!proc_name_is_orphan(d->d_name))
			continue;
		snprintf(path, sizeof(path), "/run/%s", d->d_name);
		if (unlink(path))
			remove_folder(path);
	}
	if (dir)
		closedir(dir);
}
