/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The door: `echo $$ >/sys/fs/cgroup/zug/cgroup.procs; exec ./test` makes ./test an execution.
 *
 * The door's cgroup is frozen for good, so the processes that enter it wait, in any number, until it is
 * taken into the sandbox's cgroup, which is not. There it is adopted and runs on as it was, up
 * to the first system call of the first program that it or a child of it executes: control
 * begins there. Which campaign's probes are wanted is known only then. They can be planted
 * while that task stands still; to take others *out* would wait for it: so that comes before.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "lib/base/proc_status.h"
#include "zugd/daemon.h"

#define CGROUP_ROOT "/sys/fs/cgroup"
/* All others wait while a process that has joined does not execute anything. */
#define EXEC_WITHIN_NS 10000000000ull

struct door {
	struct kernel *k;
	struct sandbox *sandbox;
	char cgroup[256];
	int events_fd;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

int door_new(struct door **out, const struct campaign_options *o, char *err, size_t errlen)
{
	const char *name = o->machine.name ? o->machine.name : "zug";
	struct door *d = calloc(1, sizeof(*d));
	char path[320];
	int ret, fd;

	*out = NULL;
	if (!d)
		return -ENOMEM;
	d->events_fd = -1;
	if (!name[0] || name[0] == '.' || strchr(name, '/') || !strncmp(name, "zug-", 4)) {
		snprintf(err, errlen, "bad name of a cgroup '%s': no '/', no leading '.' or 'zug-', not empty", name);
		free(d);
		return -EINVAL;
	}
	if (snprintf(d->cgroup, sizeof(d->cgroup), "%s/%s", sandbox_parent(), name) >= (int)sizeof(d->cgroup)) {
		snprintf(err, errlen, "the name of the cgroup '%.20s...' is too long", name);
		free(d);
		return -ENAMETOOLONG;
	}
	/* one that is there already is what a zugd that was killed has left, with those who still wait */
	ret = mkdir(d->cgroup, 0755) && errno != EEXIST ? -errno : 0;
	snprintf(path, sizeof(path), "%s/cgroup.freeze", d->cgroup);
	fd = ret ? -1 : open(path, O_WRONLY | O_CLOEXEC);
	if (!ret && (fd < 0 || write(fd, "1", 1) != 1))
		ret = -errno;
	if (fd >= 0)
		close(fd);
	snprintf(path, sizeof(path), "%s/cgroup.events", d->cgroup);
	if (!ret && (d->events_fd = open(path, O_RDONLY | O_CLOEXEC)) < 0)
		ret = -errno;
	if (ret) {
		snprintf(err, errlen, "cannot set up the cgroup %s: %s", d->cgroup, strerror(-ret));
		door_free(d);
		return ret;
	}
	*out = d;
	return 0;
}

int door_open(struct door *d, struct kernel *k, const struct campaign_options *o, char *err, size_t errlen)
{
	struct sandbox_options so = { .lane = o->machine.lane, .max_tasks = o->machine.max_tasks, .spin_ns = o->failure.spin_ns,
				      .syscall_points = o->points.syscalls, .in_place = true };

	d->k = k;
	return sandbox_new(&d->sandbox, k, kernel_first_slot(k), &so, err, errlen);
}

void door_leave(struct door *d)
{
	sandbox_free(d->sandbox);
	d->sandbox = NULL;
}

const char *door_cgroup(const struct door *d)
{
	return d->cgroup;
}

int door_fd(const struct door *d)
{
	return d->events_fd;
}

bool door_occupied(struct door *d)
{
	char buf[128];
	ssize_t n = pread(d->events_fd, buf, sizeof(buf) - 1, 0);

	if (n <= 0)
		return false;
	buf[n] = 0;
	return strstr(buf, "populated 1") != NULL;
}

struct sandbox *door_sandbox(struct door *d)
{
	return d->sandbox;
}

/* ---- who a process is ---- */

/* Where a process belongs that has left its own cgroup for ours: its parent's, below the root. */
static void home_of(const struct door *d, pid_t pid, char *home, size_t len)
{
	char path[64], line[PATH_MAX];
	struct proc_status st;
	FILE *f;

	snprintf(home, len, "/");
	proc_status(pid, &st);
	snprintf(path, sizeof(path), "/proc/%d/cgroup", st.parent);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		if (!strncmp(line, "0::/", 4) && strcmp(line + 3, d->cgroup + strlen(CGROUP_ROOT)) &&
		    strlen(line + 3) < len)
			snprintf(home, len, "%s", line + 3);
	}
	if (f)
		fclose(f);
}

/* The process that came first; only its low number tells. 0: none that zugd can see. */
static pid_t first_in(const struct door *d)
{
	char path[320], line[32];
	pid_t pid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/cgroup.procs", d->cgroup);
	f = fopen(path, "re");
	while (f && !pid && fgets(line, sizeof(line), f))
		pid = atoi(line);
	if (f)
		fclose(f);
	return pid;
}

void door_free(struct door *d)
{
	char home[256];
	int ret = 0;
	pid_t pid;

	if (!d)
		return;
	while (d->events_fd >= 0 && (!ret || ret == -ESRCH) && (pid = first_in(d))) {
		home_of(d, pid, home, sizeof(home));
		ret = sandbox_leave(pid, home);
	}
	if (d->events_fd >= 0)
		close(d->events_fd);
	if (d->cgroup[0])
		rmdir(d->cgroup);
	free(d);
}

static char *link_of(pid_t pid, const char *name)
{
	char path[64], to[PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	n = readlink(path, to, sizeof(to) - 1);
	return n < 0 ? NULL : strndup(to, n);
}

/* A file of strings that end in NUL, as a list. *storage: what it points into. */
static char **strings_of(pid_t pid, const char *name, char **storage)
{
	size_t len = 0, size = 0, nr = 0;
	char path[64], **list, *p;
	FILE *f;

	*storage = NULL;
	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	f = fopen(path, "re");
	if (!f)
		return NULL;
	do {
		size = size ? 2 * size : 4096;
		p = realloc(*storage, size + 1);
		if (!p)
			break;
		*storage = p;
		len += fread(p + len, 1, size - len, f);
	} while (len == size);
	fclose(f);
	if (!*storage)
		return NULL;
	(*storage)[len] = 0;
	for (size_t i = 0; i < len; i++)
		nr += !(*storage)[i] || i == len - 1;
	list = calloc(nr + 1, sizeof(*list));
	p = *storage;
	for (size_t i = 0; list && i < nr; i++, p += strlen(p) + 1)
		list[i] = p;
	return list;
}

static int identify(struct guest *g, pid_t pid)
{
	g->pid = pid;
	g->file = link_of(pid, "exe");
	g->cwd = link_of(pid, "cwd");
	g->argv = strings_of(pid, "cmdline", &g->storage[0]);
	g->envp = strings_of(pid, "environ", &g->storage[1]);
	if (g->file && g->cwd && g->argv && g->argv[0] && g->envp)
		return 0;
	guest_free(g);
	return -ESRCH;
}

void guest_free(struct guest *g)
{
	free(g->file);
	free(g->cwd);
	free(g->argv);
	free(g->envp);
	free(g->storage[0]);
	free(g->storage[1]);
	memset(g, 0, sizeof(*g));
}

/* ---- to its first system call ---- */

/* True when task is among those that have executed a program, by the first nr events that wait. */
static bool has_executed(struct door *d, size_t nr, uint32_t task)
{
	struct zug_event e;

	for (size_t i = 0; i < nr; i++)
		if (kernel_look(d->k, sandbox_slot(d->sandbox), i, &e, 0) == 1 && e.task == task && e.kind == ZUG_EV_EXEC)
			return true;
	return false;
}

/* Of the first nr events only those stay of the execution that programs under control have caused: not what led to them. */
static void drop_what_led_here(struct door *d, size_t nr)
{
	unsigned int slot = sandbox_slot(d->sandbox);
	struct zug_event e;

	for (size_t i = nr; i--;)
		if (kernel_look(d->k, slot, i, &e, 0) == 1 &&
		    (!has_executed(d, nr, e.task) || (e.kind != ZUG_EV_EXEC && e.kind != ZUG_EV_MODULE &&
						      e.kind != ZUG_EV_UNPROBED && e.kind != ZUG_EV_START))) {
			kernel_drop(d->k, slot, i);
			nr--;
		}
}

int door_take(struct door *d, struct guest *g, const volatile sig_atomic_t *stop, char *err, size_t errlen)
{
	pid_t pid = first_in(d), root = 0;
	unsigned int slot = sandbox_slot(d->sandbox);
	size_t seen = 0;
	struct zug_event e;
	uint64_t start = now_ns();
	const char *why = NULL, *words;
	char home[256];
	int ret;

	memset(g, 0, sizeof(*g));
	err[0] = 0;
	if (!pid)
		return 0;
	home_of(d, pid, home, sizeof(home));
	kernel_forget(d->k, slot);
	sandbox_reset(d->sandbox);
	ret = sandbox_join(d->sandbox, pid);
	if (ret) {
		if (ret != -ESRCH)
			snprintf(err, errlen, "joined: pid %d cannot be taken under control (%s): it goes on without",
				 pid, strerror(-ret));
		sandbox_leave(pid, home);
		return 0;
	}
	while (!root && !why) {
		ret = kernel_look(d->k, slot, seen, &e, 20000);
		if (ret < 0) {
			why = strerror(-ret);
		} else if (ret) {
			seen++;
			if (e.kind == ZUG_EV_START)
				root = e.pid;
			continue;
		}
		words = kernel_ejected(d->k);
		if (words)
			why = words;
		else if (why)
			break;
		else if (*stop)
			why = "zugd was stopped";
		else if (!sandbox_populated(d->sandbox))
			why = "it ended without executing a program";
		else if (now_ns() - start > EXEC_WITHIN_NS)
			why = "it has not executed a program within 10 s: it goes on without control";
	}
	/* the shell that started it, for example, is no part of the test: it goes back to where it was */
	sandbox_release(d->sandbox, home);
	if (!why)
		drop_what_led_here(d, seen);
	if (!why && identify(g, root))
		why = "it died before its first instruction";
	if (!why)
		return 1;
	sandbox_drain(d->sandbox, 0, NULL);
	snprintf(err, errlen, "joined: pid %d: %s", pid, why);
	return 0;
}
