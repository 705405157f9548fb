/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * inside.h - system calls whose effects stay in the process, so that a fork passes them on
 *
 * The kernel side counts the calls of a program up to the first other one, and user space makes templates before that
 * (userspace/sandbox/sandbox_template.c): both have to mean the same calls. a: the arguments.
 */
#ifndef ZUG_INSIDE_H
#define ZUG_INSIDE_H

#ifndef __VMLINUX_H__
#include <stdbool.h>
#endif
#include "syscalls.bpf.h"
#include "zug_abi.h"

/* vmlinux.h has no macros */
#define ZUG_PROT_WRITE		0x2
#define ZUG_MAP_TYPE		0xf
#define ZUG_MAP_PRIVATE		0x2
#define ZUG_MAP_LOCKED		0x2000
#define ZUG_MADV_DONTNEED	4
#define ZUG_MADV_FREE		8
#define ZUG_MADV_HUGEPAGE	14
#define ZUG_MADV_NOHUGEPAGE	15
#define ZUG_FUTEX_CMD		0x7f
#define ZUG_FUTEX_WAKE		1
#define ZUG_PR_SET_NAME		15
#define ZUG_PR_GET_NAME		16
#define ZUG_PR_CAPBSET_READ	23
#define ZUG_PR_SET_VMA		0x53564d41
#define ZUG_TCGETS		0x5401
#define ZUG_FIOCLEX		0x5451
#define ZUG_O_ACCMODE		3
#define ZUG_O_CREAT		0100
#define ZUG_O_TRUNC		01000
#define ZUG_F_GETFD		1
#define ZUG_F_SETFD		2
#define ZUG_F_GETFL		3

/* A fork passes on all that the call does, or it does nothing. */
static inline bool zug_stays_inside(int nr, const __u64 *a)
{
	switch (nr) {
	case NR_brk: case NR_munmap: case NR_mprotect: case NR_mremap:
	case NR_arch_prctl: case NR_set_tid_address: case NR_set_robust_list: case NR_rseq:
	case NR_prlimit64: case NR_getrlimit: case NR_getrandom:
	case NR_rt_sigaction: case NR_rt_sigprocmask: case NR_sigaltstack: case NR_rt_sigreturn:
	case NR_uname: case NR_capget: case NR_getuid: case NR_geteuid: case NR_getgid: case NR_getegid: case NR_getgroups:
	case NR_getpid: case NR_gettid: case NR_getppid: case NR_getpgrp: case NR_getcwd: case NR_sysinfo:
	case NR_clock_gettime: case NR_clock_getres: case NR_gettimeofday: case NR_time: case NR_times:
	case NR_sched_getaffinity: case NR_sched_getscheduler: case NR_sched_getparam: case NR_getcpu:
	case NR_stat: case NR_fstat: case NR_lstat: case NR_newfstatat: case NR_statx: case NR_access:
	case NR_faccessat: case NR_faccessat2: case NR_readlink: case NR_readlinkat: case NR_umask:
		return true;
	case NR_mmap:
		return !((a[2] & ZUG_PROT_WRITE) && (a[3] & ZUG_MAP_TYPE) != ZUG_MAP_PRIVATE) && !(a[3] & ZUG_MAP_LOCKED);
	case NR_madvise:
		return a[2] <= ZUG_MADV_DONTNEED || a[2] == ZUG_MADV_FREE || a[2] == ZUG_MADV_HUGEPAGE ||
		       a[2] == ZUG_MADV_NOHUGEPAGE;
	case NR_futex:
		return (a[1] & ZUG_FUTEX_CMD) == ZUG_FUTEX_WAKE;
	case NR_prctl:
		return (a[0] == ZUG_NOTE && a[1] & ZUG_NOTE_HELLO) || a[0] == ZUG_PR_SET_NAME || a[0] == ZUG_PR_GET_NAME ||
		       a[0] == ZUG_PR_SET_VMA || a[0] == ZUG_PR_CAPBSET_READ;
	case NR_ioctl:
		return a[1] == ZUG_TCGETS;
	}
	return false;
}

/* What the call does to a file that is open, a fork passes on once that is closed. */
static inline bool zug_only_reads(int nr, const __u64 *a)
{
	switch (nr) {
	case NR_open: case NR_openat:
		return !(a[nr == NR_open ? 1 : 2] & (ZUG_O_ACCMODE | ZUG_O_CREAT | ZUG_O_TRUNC));
	case NR_read: case NR_pread64: case NR_lseek: case NR_getdents64: case NR_close:
		return true;
	case NR_fcntl:
		return a[1] == ZUG_F_GETFD || a[1] == ZUG_F_SETFD || a[1] == ZUG_F_GETFL;
	case NR_ioctl:
		return a[1] == ZUG_FIOCLEX;
	}
	return false;
}

#endif
