/* SPDX-License-Identifier: GPL-2.0-only */
/* mounts.h - the file systems that a process sees */
#ifndef ZUG_MOUNTS_H
#define ZUG_MOUNTS_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * True when process pid sees a FUSE file system that this process does not see: its server may be of the same test, and a look
 * at a file there may wait for a task that does not run.
 */
bool mounts_own_fuse(pid_t pid);
/* The same for a list of the form of /proc/PID/mountinfo, and the one of this process. */
bool mounts_fuse_of(const char *list, const char *own);

/*
 * Another path of that folder, by a file system that is mounted as a whole in a second place, by such a list. "": there
 * is none, or it is longer than len allows.
 */
void mounts_other_path(const char *list, const char *folder, char *path, size_t len);

#endif
