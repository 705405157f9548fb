/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who has the other end of a pipe open, at one end of which a task waits.
 *
 * A reader waits as long as any process has the pipe open for writing, also one that never writes to it and only has not closed
 * the copy that it was given of its parent's. So the wait is explained by these processes, and not by what any task has done.
 */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "kworld/kworld_internal.h"
#include "kernel/syscalls.h"
#include "lib/base/proc_status.h"

/* So many processes are named. */
#define NAMED_MAX	4

/* How a descriptor of that process is open: O_RDONLY, O_WRONLY, O_RDWR; -1: not known. */
static int mode_of(int pid, int fd)
{
	FILE *f = proc_fdinfo(pid, fd);
	unsigned int flags;
	char line[128];
	int mode = -1;

	while (f && mode < 0 && fgets(line, sizeof(line), f))
		if (sscanf(line, "flags: %o", &flags) == 1)
			mode = flags & O_ACCMODE;
	if (f)
		fclose(f);
	return mode;
}

/* The process has that pipe open, not only in the mode 'but'. */
static bool has_open(int pid, const struct stat *pipe, int but)
{
	struct dirent *e;
	struct stat st;
	bool has = false;
	char path[32];
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	d = opendir(path);
	while (d && !has && (e = readdir(d))) {
		int mode;

		if (e->d_name[0] == '.' || fstatat(dirfd(d), e->d_name, &st, 0) || st.st_ino != pipe->st_ino ||
		    st.st_dev != pipe->st_dev)
			continue;
		mode = mode_of(pid, atoi(e->d_name));
		has = mode >= 0 && mode != but;
	}
	if (d)
		closedir(d);
	return has;
}

/* The descriptor for which the task waits in a call that reads (*reads) or writes, or polls that one alone; -1: in none. */
static int descriptor_of(const struct world_task *t, bool *reads)
{
	const struct syscall_desc *d;
	unsigned long long args[4];
	struct pollfd polled;
	char path[32];
	int nr = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/syscall", t->pid);
	f = fopen(path, "re");
	if (f && fscanf(f, "%d %llx %llx %llx %llx", &nr, &args[0], &args[1], &args[2], &args[3]) != 5)
		nr = -1;
	if (f)
		fclose(f);
	d = syscall_desc(nr);
	if ((nr == SYS_poll || nr == SYS_ppoll) && args[1] == 1 && remote_read(t->pid, args[0], &polled, sizeof(polled))) {
		*reads = polled.events & POLLIN;
		return polled.fd;
	}
	if (!d || !d->wait_fd || !d->fd_arg || (d->op != ZUG_OP_READ && d->op != ZUG_OP_WRITE))
		return -1;
	*reads = d->op == ZUG_OP_READ;
	return (int)args[d->fd_arg - 1];
}

/* The first living task of its process in the order of their numbers. */
static bool is_first(const struct world *w, const struct world_task *t)
{
	for (uint32_t i = 0; i < t->task; i++)
		if (world_lives(&w->tasks[i]) && w->tasks[i].process == t->process)
			return false;
	return true;
}

bool kworld_other_end(struct world *w, const struct world_task *t, char *text, size_t len)
{
	uint32_t who[NAMED_MAX], nr = 0;
	char link[48];
	struct stat st;
	bool reads;
	int fd = descriptor_of(t, &reads);
	size_t at;

	snprintf(link, sizeof(link), "/proc/%d/fd/%d", t->pid, fd);
	if (fd < 0 || stat(link, &st) || !S_ISFIFO(st.st_mode))
		return false;
	for (uint32_t i = 0; i < w->nr_tasks; i++) {
		const struct world_task *other = &w->tasks[i];

		if (!world_lives(other) || !is_first(w, other) || !has_open(other->pid, &st, reads ? O_RDONLY : O_WRONLY))
			continue;
		if (nr < NAMED_MAX)
			who[nr] = other->process;
		nr++;
	}
	if (!nr)
		return false;
	at = snprintf(text, len, "open for %s in", reads ? "writing" : "reading");
	for (uint32_t i = 0; i < nr && i < NAMED_MAX && at < len; i++)
		at += who[i] == t->process ? snprintf(text + at, len - at, "%s its own process", i ? "," : "") :
					     snprintf(text + at, len - at, "%s T%u", i ? "," : "", who[i]);
	if (nr > NAMED_MAX && at < len)
		snprintf(text + at, len - at, " and %u more", nr - NAMED_MAX);
	return true;
}
