/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * network.bpf.h - whether the test has used its network
 *
 * A network namespace costs more than the rest of an execution's world together. The next execution gets the same
 * one when it is certain that this one has left nothing in it: a task that changes something there needs a socket, a
 * device of its own, a file of /proc/sys or of a sysfs, or a BPF program.
 */
#ifndef ZUG_NETWORK_BPF_H
#define ZUG_NETWORK_BPF_H

#include "syscalls.bpf.h"

#define PROC_SUPER_MAGIC_	0x9fa0
#define SYSFS_MAGIC_		0x62656572
#define TS_COMPAT_		0x2
#define MISC_MAJOR_		10	/* tun, vhost-net, ... */
#define PPP_MAJOR_		108

/* Of a file of the kernel's settings. */
static __always_inline bool fd_is_setting(struct task_struct *p, __u64 fd)
{
	struct file *f = fd_file(p, fd);
	__u64 magic;

	if (!f)
		return false;
	magic = BPF_CORE_READ(f, f_inode, i_sb, s_magic);
	return magic == PROC_SUPER_MAGIC_ || magic == SYSFS_MAGIC_;
}

static __always_inline bool fd_makes_devices(struct task_struct *p, __u64 fd)
{
	struct file *f = fd_file(p, fd);
	__u32 major;

	if (!f || (BPF_CORE_READ(f, f_inode, i_mode) & 0170000) != 0020000)
		return false;
	major = BPF_CORE_READ(f, f_inode, i_rdev) >> 20;
	return major == MISC_MAJOR_ || major == PPP_MAJOR_;
}

/* Before a system call of the current task. More than what changes something may be called so, but not less. */
__noinline int uses_network(__s32 nr, const struct call_args *args)
{
	struct task_struct *p = bpf_get_current_task_btf();
	const __u64 *a;

	if (!args)
		return true;
	a = args->a;
	/* system calls of other tables */
	if (nr < 0 || nr >= ZUG_NR_SYSCALLS || (p->thread_info.status & TS_COMPAT_))
		return true;
	switch (nr) {
	case NR_socket:
	case NR_mount:
	case NR_bpf:
	case NR_fsopen:
	case NR_fsmount:
		return true;
	case NR_socketpair:
		return a[0] != AF_UNIX_;
	case NR_write:
	case NR_pwrite64:
	case NR_writev:
	case NR_sendfile:
	case NR_pwritev:
	case NR_pwritev2:
		return fd_is_setting(p, a[0]);
	case NR_splice:
	case NR_copy_file_range:
		return fd_is_setting(p, a[2]);
	case NR_ioctl:
		return fd_makes_devices(p, a[0]);
	}
	return false;
}

/* The same of the IPC and UTS namespaces, and of mounts, which are made anew for each execution that is started by exec. */
static __always_inline bool uses_ipc(__s32 nr)
{
	switch (nr) {
	case NR_shmget:
	case NR_semget:
	case NR_msgget:
	case NR_mq_open:
	case NR_mount:
	case NR_umount2:
	case NR_pivot_root:
	case NR_move_mount:
	case NR_mount_setattr:
	case NR_sethostname:
	case NR_setdomainname:
		return true;
	}
	return false;
}

#endif
