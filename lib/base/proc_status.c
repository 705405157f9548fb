// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
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

FILE *proc_fdinfo(pid_t pid, int fd)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", pid, fd);
	return fopen(path, "re");
}
