/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * distribution.bpf.h - calls that only read what the distribution has installed: no task of a test writes there
 *
 * Programs look for their libraries, headers, modules and locales there, thousands of times in a test that starts many. These
 * lie below /usr, but for /usr/local and /usr/src, and below /bin, /sbin, /lib and /lib64. Where the machine's files are also
 * mounted elsewhere, as in some containers and virtual machines, programs that follow links name /usr by its path there.
 */
#ifndef ZUG_DISTRIBUTION_BPF_H
#define ZUG_DISTRIBUTION_BPF_H

#include "call_lease.bpf.h"

#define FMODE_WRITE_	2

static __always_inline __u32 read_path(char *path, __u64 addr)
{
	long n = bpf_probe_read_user_str(path, ZUG_CALL_PATH, (void *)addr);

	/* what fills all of it may be longer */
	return n > 0 && n < ZUG_CALL_PATH ? n : 0;
}

/* The name of a folder as a number; of one with more than 8 characters it is none of these. */
#define NAME(a, b, c, d, e)	((__u64)(a) | (__u64)(b) << 8 | (__u64)(c) << 16 | (__u64)(d) << 24 | (__u64)(e) << 32)
#define LIB		NAME('l', 'i', 'b', 0, 0)
#define LIB64		NAME('l', 'i', 'b', '6', '4')
#define BIN		NAME('b', 'i', 'n', 0, 0)
#define SBIN		NAME('s', 'b', 'i', 'n', 0)
#define USR		NAME('u', 's', 'r', 0, 0)
#define SRC		NAME('s', 'r', 'c', 0, 0)
#define LOCAL		NAME('l', 'o', 'c', 'a', 'l')
#define UP		NAME('.', '.', 0, 0, 0)
#define HERE		NAME('.', 0, 0, 0, 0)
#define LONG_NAME	(~0ull)

/* A file or folder in a folder of the root, and, below /usr, the folder in there; 0: there is none. */
static __always_inline bool of_distribution(__u64 top, __u64 second)
{
	if (top == USR)
		return second != LOCAL && second != SRC;
	return top == LIB || top == LIB64 || top == BIN || top == SBIN;
}

#define PATH_PARTS	40

/*
 * Where a walk along a path is, of each sandbox: in memory, for the verifier would follow each path that variables could
 * take.
 */
struct path_walk {
	__u64 part;		/* the name of the folder that goes on */
	__u64 top, second;
	__u32 chars, deep;
};
static struct path_walk path_walks[ZUG_MAX_SANDBOXES];

/* One more character of the path: '/' or 0 ends a part of it. false: it leads somewhere else. */
static __always_inline bool walk_on(struct path_walk *w, __u8 ch)
{
	__u64 part = w->part;

	if (ch && ch != '/') {
		w->part = w->chars < 8 ? part | (__u64)ch << (8 * (w->chars & 7)) : LONG_NAME;
		w->chars++;
		return true;
	}
	w->part = w->chars = 0;
	if (!part || part == HERE)
		return true;
	if (part == UP) {
		w->deep--;
		return w->deep >= 1 && w->deep < ZUG_CALL_PATH;
	}
	if (!w->deep)
		w->top = part;
	w->deep++;
	return w->deep > 2 || of_distribution(w->top, w->deep == 2 ? part : 0);
}

/* How long the other path of /usr is, if the path begins with it; else 0. */
static __always_inline __u32 other_path(const struct zug_call *c)
{
	__u32 i;

	if (!installed.other[0])
		return 0;
	bpf_for(i, 0, ZUG_INSTALLED_PATH) {
		char ch = installed.other[i & (ZUG_INSTALLED_PATH - 1)];

		if (!ch)
			return c->path[0][i & (ZUG_CALL_PATH - 1)] == '/' ? i : 0;
		if (ch != c->path[0][i & (ZUG_CALL_PATH - 1)])
			return 0;
	}
	return 0;
}

/*
 * /proc/filesystems is the same to all: commands that know of SELinux (mkdir, cp, mv, ls) look there each time. (Other files of
 * the kernel's tell what tasks do.)
 */
static __always_inline bool is_list_of_kernel(const char *path)
{
	return *(const __u64 *)path == (NAME('/', 'p', 'r', 'o', 'c') | NAME('/', 'f', 'i', 0, 0) << 40) &&
	       *(const __u64 *)(path + 8) == (NAME('l', 'e', 's', 'y', 's') | NAME('t', 'e', 'm', 0, 0) << 40) &&
	       path[16] == 's' && !path[17];
}

static __always_inline bool is_list_of_kernel_open(struct file *f)
{
	char name[16] __attribute__((aligned(8))) = {};

	if (BPF_CORE_READ(f, f_inode, i_sb, s_magic) != 0x9fa0 /* PROC_SUPER_MAGIC */)
		return false;
	bpf_probe_read_kernel_str(name, sizeof(name), BPF_CORE_READ(f, f_path.dentry, d_name.name));
	return *(const __u64 *)name == (NAME('f', 'i', 'l', 'e', 's') | NAME('y', 's', 't', 0, 0) << 40) && name[8] == 'e' &&
	       name[9] == 'm' && name[10] == 's' && !name[11];
}

/* A path that begins at the root, and does not lead out of such a folder. len: with the 0 at its end. */
static __noinline bool leads_to_distribution(__u32 slot, __u32 len)
{
	const struct zug_call *c;
	struct path_walk *w;
	__u32 i, from;

	if (slot >= ZUG_MAX_SANDBOXES)
		return false;
	c = &call_memories[slot];
	w = &path_walks[slot];
	if (len < 2 || len > ZUG_CALL_PATH || c->path[0][0] != '/')
		return false;
	if (is_list_of_kernel(c->path[0]))
		return true;
	w->part = 0;
	w->chars = 0;
	from = other_path(c);
	w->top = from ? USR : 0;
	w->deep = from ? 1 : 0;
	bpf_for(i, from ? from : 1, len) {
		if (!walk_on(w, c->path[0][i & (ZUG_CALL_PATH - 1)]))
			return false;
	}
	return w->deep > 0;
}

/* The same of an open file, by the folders in which it lies and what is mounted where. */
static __noinline bool file_of_distribution(struct file *f, __u32 slot)
{
	struct vfsmount *v = BPF_CORE_READ(f, f_path.mnt);
	struct dentry *d = BPF_CORE_READ(f, f_path.dentry);
	struct path_walk *w;
	__u32 i;

	if (slot >= ZUG_MAX_SANDBOXES)
		return false;
	w = &path_walks[slot];
	w->top = w->second = 0;
	bpf_for(i, 0, PATH_PARTS) {
		struct mount *m = (void *)v - bpf_core_field_offset(struct mount, mnt), *up;
		char name[8] = {};

		if (installed.ino && BPF_CORE_READ(d, d_inode, i_ino) == installed.ino &&
		    BPF_CORE_READ(d, d_inode, i_sb, s_dev) == installed.dev)
			return of_distribution(USR, w->top);
		if (d == BPF_CORE_READ(v, mnt_root)) {
			up = BPF_CORE_READ(m, mnt_parent);
			if (!up || up == m)
				return of_distribution(w->top, w->second);
			d = BPF_CORE_READ(m, mnt_mountpoint);
			v = (void *)up + bpf_core_field_offset(struct mount, mnt);
			continue;
		}
		bpf_probe_read_kernel_str(name, sizeof(name), BPF_CORE_READ(d, d_name.name));
		w->second = w->top;
		__builtin_memcpy(&w->top, name, sizeof(name));
		d = BPF_CORE_READ(d, d_parent);
		if (!d)
			return false;
	}
	return false;
}

/* An open file of the distribution that is not open for writing. */
static __always_inline bool reads_distribution(struct task_struct *p, struct task_state *t, __u64 fd)
{
	struct file *f = fd_file(p, fd);
	__u32 type;

	if (!f || BPF_CORE_READ(f, f_mode) & FMODE_WRITE_)
		return false;
	if (is_list_of_kernel_open(f))
		return true;
	type = BPF_CORE_READ(f, f_inode, i_mode) & 0170000;
	return (type == 0100000 /* S_IFREG */ || type == 0040000 /* S_IFDIR */) && file_of_distribution(f, t->slot);
}

/* True when the call that the current task begins only reads what the distribution has installed. */
__noinline int asks_distribution(__s32 nr, const struct call_args *args)
{
	struct task_struct *p = bpf_get_current_task_btf();
	const volatile struct zug_syscall *d = syscall_of(nr);
	struct task_state *t = state_of(p);
	struct zug_call *c;
	__u32 len;

	if (!args || !t || t->slot >= ZUG_MAX_SANDBOXES)
		return 0;
	if (nr == NR_close)
		return reads_distribution(p, t, args->a[0]);
	/* what is read from a pipe is gone: that call writes, too */
	if ((d->writes && d->lease != ZUG_CALL_READS) || !(d->class & ZUG_SYS_FILE) || d->path2_arg)
		return 0;
	if (!d->path_arg)
		return d->fd_arg && reads_distribution(p, t, args->a[(d->fd_arg - 1) & 7]);
	if (d->lease == ZUG_CALL_OPENS && args->a[d->path_arg & 7] & (O_ACCMODE_ | O_CREAT_ | O_TRUNC_))
		return 0;
	c = &call_memories[t->slot];
	len = read_path(c->path[0], args->a[(d->path_arg - 1) & 7]);
	/* of the descriptor itself, as fstat() asks */
	if (len == 1 && d->path_arg > 1)
		return reads_distribution(p, t, args->a[(d->path_arg - 2) & 7]);
	return leads_to_distribution(t->slot, len);
}

#endif
