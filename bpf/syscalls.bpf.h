/* SPDX-License-Identifier: GPL-2.0-only */
/* syscalls.bpf.h - numbers of system calls, of x86-64: vmlinux.h has no macros */
#ifndef ZUG_SYSCALLS_BPF_H
#define ZUG_SYSCALLS_BPF_H

#define NR_read			0
#define NR_write		1
#define NR_stat			4
#define NR_fstat		5
#define NR_lstat		6
#define NR_rt_sigprocmask	14
#define NR_rt_sigreturn		15
#define NR_ioctl		16
#define NR_pwrite64		18
#define NR_writev		20
#define NR_sched_yield		24
#define NR_nanosleep		35
#define NR_alarm		37
#define NR_setitimer		38
#define NR_sendfile		40
#define NR_socket		41
#define NR_connect		42
#define NR_accept		43
#define NR_socketpair		53
#define NR_setsockopt		54
#define NR_getsockopt		55
#define NR_fcntl		72
#define NR_flock		73
#define NR_gettimeofday		96
#define NR_pivot_root		155
#define NR_mount		165
#define NR_umount2		166
#define NR_sethostname		170
#define NR_setdomainname	171
#define NR_setxattr		188
#define NR_lsetxattr		189
#define NR_fsetxattr		190
#define NR_removexattr		197
#define NR_lremovexattr		198
#define NR_fremovexattr		199
#define NR_time			201
#define NR_futex		202
#define NR_sched_getaffinity	204
#define NR_restart_syscall	219
#define NR_semtimedop		220
#define NR_timer_create		222
#define NR_timer_settime	223
#define NR_timer_delete		226
#define NR_clock_gettime	228
#define NR_clock_nanosleep	230
#define NR_exit_group		231
#define NR_newfstatat		262
#define NR_splice		275
#define NR_timerfd_settime	286
#define NR_accept4		288
#define NR_pwritev		296
#define NR_getrandom		318
#define NR_bpf			321
#define NR_copy_file_range	326
#define NR_pwritev2		328
#define NR_statx		332
#define NR_open_tree		428
#define NR_move_mount		429
#define NR_fsopen		430
#define NR_fsconfig		431
#define NR_fsmount		432
#define NR_fspick		433
#define NR_mount_setattr	442
#define NR_futex_waitv		449
#define NR_setxattrat		463
#define NR_removexattrat	466
#define NR_open_tree_attr	467
#define NR_file_setattr		469

#endif
