/* SPDX-License-Identifier: GPL-2.0-only */
/* syscalls.h - what zugzwang knows of each system call (x86-64) */
#ifndef ZUG_SYSCALLS_H
#define ZUG_SYSCALLS_H

#include <stdbool.h>
#include <stdint.h>
#include "bpf/zug_abi.h"

struct syscall_desc {
	const char *name;
	uint16_t nr;
	uint16_t op;		/* enum zug_op of its label */
	uint16_t flags;		/* ZUG_L_* beyond those of op */
	uint8_t class;		/* ZUG_SYS_*, 0: never a choice point */
	uint8_t fd_arg;		/* 1..: which argument is a descriptor */
	uint8_t path_arg;	/* 1..: which argument is a path; its directory fd, if any, is the one before */
	uint8_t path2_arg;
	uint8_t time_arg;	/* 1..: where the time-out is */
	uint8_t time_kind;	/* ZUG_TIME_* */
	uint8_t time_abs;	/* absolute, CLOCK_REALTIME */
	uint8_t time_left;	/* the kernel writes back what is left */
	uint8_t timer;		/* sets or ends a timer */
	uint8_t wait_fd;	/* may wait for fd_arg's object */
	uint8_t io;		/* waits for storage only */
	uint8_t some;		/* a point only with some arguments: fcntl() that locks, lseek() that asks for the file's */
				/* size */
	uint8_t sysv;		/* its first argument is a System V id: 1 of semaphores, 2 of a queue, 3 of memory */
	uint8_t polls;		/* its first argument is an array of struct pollfd */
	uint8_t lease;		/* enum zug_call_lease */
	uint8_t sock_time;	/* a time-out of fd_arg's socket ends its wait: 1 SO_RCVTIMEO, 2 SO_SNDTIMEO */
};

/* By number; NULL: unknown. */
const struct syscall_desc *syscall_desc(int nr);
int syscall_number(const char *name);	/* -1: unknown */
/* The number alone says that a call has that operation in its label: syscall_desc.op. */
bool syscall_tells(unsigned int op);
const char *syscall_name(int nr);	/* "syscall 999" for unknown ones; static storage */
extern const struct syscall_desc syscall_table[];
extern const unsigned int syscall_table_nr;

#endif
