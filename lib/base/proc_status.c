// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/base/proc_status.h"

bool proc_status(pid_t pid, struct proc_status *st)
{
	char path[48], line[256];
	unsigned long v;
	FILE *f;

	memset(st, 0, sizeof(*st));
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "PPid: %lu", &v) == 1)
			st->parent = v;
		else if (sscanf(line, "Threads: %lu", &v) == 1)
			st->threads = v;
		else if (sscanf(line, "SigPnd: %lx", &v) == 1 || sscanf(line, "ShdPnd: %lx", &v) == 1)
			st->pending |= v;
		else if (sscanf(line, "SigBlk: %lx", &v) == 1)
			st->blocked = v;
		else if (sscanf(line, "SigCgt: %lx", &v) == 1)
			st->handled = v;
	}
	fclose(f);
	return true;
}

bool proc_exe(pid_t pid, char *path, size_t size)
{
	char link[48];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	n = readlink(link, path, size);
	if (n < 0 || (size_t)n >= size)
		return false;
	path[n] = 0;
	return true;
}

FILE *proc_fdinfo(pid_t pid, int fd)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", pid, fd);
	return fopen(path, "re");
}

uint64_t proc_started(pid_t pid)
{
	char path[48], line[1024], *p;
	unsigned long long start = 0;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	n = fread(line, 1, sizeof(line) - 1, f);
	fclose(f);
	line[n] = 0;
	/* a name may contain spaces and brackets; after it come the 3rd and further fields */
	p = strrchr(line, ')');
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	return p && sscanf(p, " %llu", &start) == 1 ? start : 0;
}

const char *proc_own_name(void)
{
	static char name[64];
	static pid_t whose;

	/* zugd forks itself into the background */
	if (whose != getpid())
		snprintf(name, sizeof(name), "zug-%d.%llu", getpid(), (unsigned long long)proc_started(getpid()));
	whose = getpid();
	return name;
}

bool proc_name_is_orphan(const char *name)
{
	uint64_t start, now;
	char *end;
	long pid;

	if (strncmp(name, "zug-", 4) || name[4] < '0' || name[4] > '9')
		return false;
	pid = strtol(name + 4, &end, 10);
	if ((*end && *end != '-' && *end != '.') || pid <= 0)
		return false;
	if (kill(pid, 0) && errno == ESRCH)
		return true;
	if (*end != '.' || end[1] < '0' || end[1] > '9')
		return false;
	/* its number may be another process's by now */
	start = strtoull(end + 1, NULL, 10);
	now = proc_started(pid);
	return start && now && now != start;
}
