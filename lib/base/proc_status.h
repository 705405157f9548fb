/* SPDX-License-Identifier: GPL-2.0-only */
/* proc_status.h - what /proc/PID says of a process, its program and its descriptors */
#ifndef ZUG_PROC_STATUS_H
#define ZUG_PROC_STATUS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct proc_status {
	pid_t parent;
	unsigned int threads;
	uint64_t pending, blocked, handled;	/* signals: bit N - 1 is signal N; pending for the task or its process */
};

/* Of a task; false: there is no such task, and *st is all zeroes. */
bool proc_status(pid_t pid, struct proc_status *st);
/* When a process began, in ticks since the machine did: with its pid it names one process. 0: there is none. */
uint64_t proc_started(pid_t pid);
/*
 * The begin of the names of all that this process leaves in /run and among cgroups when it is killed:
 * zug-PID.START.
 */
const char *proc_own_name(void);
/* True for a name that begins so, or with zug-PID, and whose process is gone. */
bool proc_name_is_orphan(const char *name);
/* The path of the program that a task executes, as the task sees it; false: there is no such task, or it does not fit. */
bool proc_exe(pid_t pid, char *path, size_t size);
/* The lines about a descriptor of a task, to be closed with fclose(); NULL: there is no such descriptor. */
FILE *proc_fdinfo(pid_t pid, int fd);

#endif
