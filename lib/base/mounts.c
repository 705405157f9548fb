// SPDX-License-Identifier: GPL-2.0-only
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include "lib/base/mounts.h"

/* The device of a line of mountinfo, if that is a FUSE file system; else 0. */
static uint64_t fuse_device(const char *line)
{
	const char *type = strstr(line, " - ");
	unsigned int major, minor;

	if (!type || strncmp(type + 3, "fuse", 4) || sscanf(line, "%*u %*u %u:%u", &major, &minor) != 2)
		return 0;
	/* fuse, fuseblk, fuse.NAME: fusectl is the kernel's own */
	if (!strncmp(type + 3, "fusectl", 7))
		return 0;
	return (uint64_t)major << 32 | minor;
}

/* True when that device is in the list (0: any FUSE file system that is not in `own`). */
static bool has(const char *path, uint64_t device, const char *own)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	bool found = false;
	size_t room = 0;

	while (f && !found && getline(&line, &room, f) > 0) {
		uint64_t d = fuse_device(line);

		if (d && own)
			found = !has(own, d, NULL);
		else
			found = d && d == device;
	}
	free(line);
	if (f)
		fclose(f);
	return found;
}

bool mounts_fuse_of(const char *list, const char *own)
{
	return has(list, 0, own);
}

void mounts_other_path(const char *list, const char *folder, char *path, size_t len)
{
	FILE *f = fopen(list, "re");
	char *line = NULL, root[4096], at[4096], other[8192];
	struct stat st, same;
	size_t room = 0;
	bool there = !stat(folder, &st);

	path[0] = 0;
	while (f && there && !path[0] && getline(&line, &room, f) > 0) {
		unsigned int major, minor;

		if (sscanf(line, "%*u %*u %u:%u %4095s %4095s", &major, &minor, root, at) != 4 || strcmp(root, "/") || !at[1] ||
		    makedev(major, minor) != st.st_dev)
			continue;
		snprintf(other, sizeof(other), "%s%s", at, folder);
		if (strlen(other) < len && strcmp(other, folder) && !stat(other, &same) && same.st_ino == st.st_ino &&
		    same.st_dev == st.st_dev)
			strcpy(path, other);
	}
	free(line);
	if (f)
		fclose(f);
}

bool mounts_own_fuse(pid_t pid)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/mountinfo", pid);
	return mounts_fuse_of(path, "/proc/self/mountinfo");
}
