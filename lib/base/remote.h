/* SPDX-License-Identifier: GPL-2.0-only */
/* remote.h - the memory of another process */
#ifndef ZUG_REMOTE_H
#define ZUG_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Reads len bytes at addr of a process (or of a thread's process). The number that could be read,
 * from the first on, or -errno.
 */
ssize_t remote_read_some(pid_t pid, uint64_t addr, void *to, size_t len);
/* True when all of it was read, or written; pages that the process itself could not write are not written. */
bool remote_read(pid_t pid, uint64_t addr, void *to, size_t len);
bool remote_write(pid_t pid, uint64_t addr, const void *from, size_t len);

#endif
