/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * environment.bpf.h - whether an execution has left its environment as it was
 *
 * The next execution gets the same environment when it is certain that it finds nothing of this one in it. Two means
 * tell: the system calls that tasks make (environment_use()), and counters of the kernel that user space asks for when
 * all tasks are dead (environment_look()).
 *
 *  - network: a task that changes something there needs a socket, a device of its own, a file of /proc/sys or of a
 *    sysfs, or a BPF program. A Unix socket is gone with the last process that has it, with its name, unless it is on its
 *    way in a message; and it changes the devices by ioctl() alone.
 *  - mounts: a system call, or the namespace's count of changes, which automatic mounts raise, too.
 *  - host name: a system call, or a file of /proc/sys.
 *  - IPC: the namespace remembers the last index that it gave to an object of each kind; message queues of POSIX have
 *    no numbers, so those that exist are counted. Its settings are files of /proc/sys.
 *  - files: whatever is made in an overlay, or copied up into it, is made in the memory file system below it, which
 *    numbers its inodes in order. User space compares the folders that exist from the beginning; a system call tells
 *    of those of their attributes that it does not compare.
 */
#ifndef ZUG_ENVIRONMENT_BPF_H
#define ZUG_ENVIRONMENT_BPF_H

#include "syscalls.bpf.h"

#define PROC_SUPER_MAGIC_	0x9fa0
#define SYSFS_MAGIC_		0x62656572
#define TS_COMPAT_		0x2
#define TMPFS_MAGIC_		0x01021994
#define NSFS_MAGIC_		0x6e736673
#define PIDNS_ADDING_		(1u << 31)
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

#define FS_IOC_SETFLAGS_	0x40086602
#define FS_IOC_FSSETXATTR_	0x401c5820
#define SOCKET_IOCTLS_		0x89	/* SIOC..., by the second byte */

/* Descriptors among what a message carries, or other such things. */
static __always_inline bool carries_control(__u64 msghdr)
{
	__u64 controllen;

	return bpf_probe_read_user(&controllen, sizeof(controllen), (void *)msghdr + 40) || controllen;
}

/* ZUG_ENV_* that a system call of the current task may change. More may be named, but not less. */
__noinline int environment_use(__s32 nr, const struct call_args *args)
{
	struct task_struct *p = bpf_get_current_task_btf();
	const __u64 *a;

	if (!args)
		return ZUG_ENV_ALL;
	a = args->a;
	/* system calls of other tables */
	if (nr < 0 || nr >= ZUG_NR_SYSCALLS || (p->thread_info.status & TS_COMPAT_))
		return ZUG_ENV_ALL;
	switch (nr) {
	case NR_mount:
	case NR_fsopen:
	case NR_fsmount:
		return ZUG_ENV_NET | ZUG_ENV_MOUNTS;
	case NR_umount2:
	case NR_pivot_root:
	case NR_move_mount:
	case NR_fsconfig:
	case NR_fspick:
	case NR_mount_setattr:
	case NR_open_tree_attr:
		return ZUG_ENV_MOUNTS;
	case NR_sethostname:
	case NR_setdomainname:
		return ZUG_ENV_HOST;
	case NR_setxattr:
	case NR_lsetxattr:
	case NR_fsetxattr:
	case NR_setxattrat:
	case NR_removexattr:
	case NR_lremovexattr:
	case NR_fremovexattr:
	case NR_removexattrat:
	case NR_file_setattr:
		return ZUG_ENV_FILES;
	case NR_bpf:
	case NR_sendmmsg:
		return ZUG_ENV_NET;
	case NR_socket:
	case NR_socketpair:
		return a[0] != AF_UNIX_ ? ZUG_ENV_NET : 0;
	case NR_sendmsg:
		return carries_control(a[1]) ? ZUG_ENV_NET : 0;
	case NR_write:
	case NR_pwrite64:
	case NR_writev:
	case NR_sendfile:
	case NR_pwritev:
	case NR_pwritev2:
		return fd_is_setting(p, a[0]) ? ZUG_ENV_NET | ZUG_ENV_IPC | ZUG_ENV_HOST : 0;
	case NR_splice:
	case NR_copy_file_range:
		return fd_is_setting(p, a[2]) ? ZUG_ENV_NET | ZUG_ENV_IPC | ZUG_ENV_HOST : 0;
	case NR_ioctl:
		if ((__u32)a[1] == FS_IOC_SETFLAGS_ || (__u32)a[1] == FS_IOC_FSSETXATTR_)
			return ZUG_ENV_FILES;
		return ((__u32)a[1] >> 8 & 255) == SOCKET_IOCTLS_ || fd_makes_devices(p, a[0]) ? ZUG_ENV_NET : 0;
	}
	return 0;
}

/* The inode number of the next file in the memory file system in which a descriptor is; 0: it is in none. */
static __always_inline __u64 next_inode(struct task_struct *p, __s32 fd)
{
	struct file *f = fd < 0 ? NULL : fd_file(p, fd);
	struct shmem_sb_info *info;

	if (!f || BPF_CORE_READ(f, f_inode, i_sb, s_magic) != TMPFS_MAGIC_)
		return 0;
	info = BPF_CORE_READ(f, f_inode, i_sb, s_fs_info);
	return BPF_CORE_READ(info, next_ino);
}

/* The namespace behind a descriptor of a file of /proc/PID/ns, as the part of it that all of them have. */
static __always_inline void *namespace(struct task_struct *p, __s32 fd)
{
	struct file *f = fd < 0 ? NULL : fd_file(p, fd);

	if (!f || BPF_CORE_READ(f, f_inode, i_sb, s_magic) != NSFS_MAGIC_)
		return NULL;
	return BPF_CORE_READ(f, f_inode, i_private);
}

static __always_inline int environment_look(struct zug_environment *e)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct pid_namespace *pids;
	struct mnt_namespace *mnt;
	struct ipc_namespace *ipc;
	void *ns;

	if (!bpf_core_field_exists(struct shmem_sb_info, next_ino) || !bpf_core_field_exists(struct mnt_namespace, event) ||
	    !bpf_core_field_exists(struct ipc_ids, last_idx) || !bpf_core_field_exists(struct ipc_namespace, mq_queues_count) ||
	    !bpf_core_field_exists(struct pid_namespace, pid_allocated))
		return -95; /* EOPNOTSUPP */
	e->files_ino = next_inode(p, e->fd[ZUG_ENV_FD_FILES]);
	e->shm_ino = next_inode(p, e->fd[ZUG_ENV_FD_SHM]);
	ns = namespace(p, e->fd[ZUG_ENV_FD_MNT_NS]);
	mnt = ns - bpf_core_field_offset(struct mnt_namespace, ns);
	e->mounts = ns ? BPF_CORE_READ(mnt, event) : 0;
	ns = namespace(p, e->fd[ZUG_ENV_FD_PID_NS]);
	pids = ns - bpf_core_field_offset(struct pid_namespace, ns);
	e->nr_pids = ns ? BPF_CORE_READ(pids, pid_allocated) & ~PIDNS_ADDING_ : 0;
	ns = namespace(p, e->fd[ZUG_ENV_FD_IPC_NS]);
	ipc = ns - bpf_core_field_offset(struct ipc_namespace, ns);
	e->ipc_made = 0;
	if (ns)
		e->ipc_made = BPF_CORE_READ(ipc, ids[0].last_idx) != -1 || BPF_CORE_READ(ipc, ids[1].last_idx) != -1 ||
			      BPF_CORE_READ(ipc, ids[2].last_idx) != -1 || BPF_CORE_READ(ipc, mq_queues_count);
	return 0;
}

#endif
