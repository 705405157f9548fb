/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unseen.bpf.h - calls whose effect no other task can see (ZUG_SYS_SEEN_ONLY)
 *
 * A script is a process that makes others. Each of them sets what it does at signals that nobody sends, opens and closes
 * /dev/null, closes files, and looks for its command in the folders of $PATH. These were two of three of its steps: other tasks
 * can make no difference there, yet a search preempts there, and a report tells them.
 */
#ifndef ZUG_UNSEEN_BPF_H
#define ZUG_UNSEEN_BPF_H

#include "distribution.bpf.h"

#define SIGCHLD_BIT		(1ull << (17 - 1))
#define FUSE_MAGIC_		0x65735546

/* The signals that rt_sigprocmask() will block, and that are not blocked now; but none where a library blocks all. */
static __always_inline __u64 newly_blocked(struct task_struct *p, const struct call_args *args)
{
	__u64 set = 0;

	if (args->a[0] == 1 /* SIG_UNBLOCK */ || !args->a[1] || bpf_probe_read_user(&set, sizeof(set), (void *)args->a[1]))
		return 0;
	if (zug_blocks_all(set, args->a[1], user_ip(p), LOOSE(p)->thread.fsbase))
		return 0;
	return set & ~p->blocked.sig[0];
}

/* Its descriptors are those of one task: no other one can be given a number that it lets go. */
static __always_inline bool has_own_descriptors(struct task_struct *p)
{
	return LOOSE(p)->signal->nr_threads == 1 && BPF_CORE_READ(p, files, count.counter) == 1;
}

/* The process has no children, neither living nor dead ones. */
static __always_inline bool has_no_children(struct task_struct *p)
{
	struct list_head *first = BPF_CORE_READ(p, children.next);

	return first == (void *)p + bpf_core_field_offset(struct task_struct, children);
}

/*
 * No task can tell when the process begins to deal with those signals otherwise: it has one thread, none of them was sent in
 * the search so far, and no child of its own could end.
 */
static __always_inline bool hears_nothing(const struct zug_sandbox *s, struct task_struct *p, __u64 signals)
{
	return LOOSE(p)->signal->nr_threads == 1 && !(signals & s->turn.signals) &&
	       (!(signals & SIGCHLD_BIT) || has_no_children(p));
}

/* /dev/null, zero, full: all that is done with it is as if it was not. */
static __always_inline bool is_void(struct inode *inode)
{
	__u32 dev = BPF_CORE_READ(inode, i_rdev), minor = dev & 0xfffff;

	return (BPF_CORE_READ(inode, i_mode) & 0170000) == 0020000 /* S_IFCHR */ && dev >> 20 == 1 &&
	       (minor == 3 || minor == 5 || minor == 7);
}

static __always_inline bool is_looked_after(struct dentry *d)
{
	return BPF_CORE_READ(d, d_inode, i_fsnotify_mask) || BPF_CORE_READ(d, d_parent, d_inode, i_fsnotify_mask);
}

/*
 * Whether a descriptor of that file is closed is seen by nobody: no lock was ever taken of it, nobody watches it, no process
 * serves it, and it is no program that could not be executed until then. (What a test writes its output to could be one,
 * and stays open elsewhere.)
 */
static __always_inline bool closes_unseen(struct file *f)
{
	struct inode *inode = BPF_CORE_READ(f, f_inode);
	__u32 mode = BPF_CORE_READ(inode, i_mode);

	if (is_void(inode))
		return true;
	if ((mode & 0170000) != 0100000 /* S_IFREG */ || BPF_CORE_READ(inode, i_flctx) ||
	    BPF_CORE_READ(inode, i_sb, s_magic) == FUSE_MAGIC_ || is_looked_after(BPF_CORE_READ(f, f_path.dentry)))
		return false;
	return !(BPF_CORE_READ(f, f_mode) & FMODE_WRITE_) || !(mode & 0111) || BPF_CORE_READ(f, f_ref.refcnt.counter) > 0;
}

/* A path that is /dev/null, or the name of something in a folder of the test's $PATH that the test has not for itself. */
static __noinline bool leads_to_unseen(struct zug_sandbox *s, __u32 slot, __u32 len, bool only_looks)
{
	__u64 folder = 0, number = ZUG_FOLDER_NUMBER;
	const struct zug_call *c;
	bool named = false;
	__u32 i;

	if (!s || slot >= ZUG_MAX_SANDBOXES || len < 2 || len > ZUG_CALL_PATH)
		return false;
	c = &call_memories[slot];
	if (c->path[0][0] != '/')
		return false;
	if (len == sizeof("/dev/null") && c->path[0][8] == 'l' &&
	    *(const __u64 *)c->path[0] == (NAME('/', 'd', 'e', 'v', '/') | NAME('n', 'u', 'l', 0, 0) << 40))
		return true;
	if (!only_looks)
		return false;
	bpf_for(i, 0, len - 1) {
		__u8 ch = c->path[0][i & (ZUG_CALL_PATH - 1)];

		if (ch == '/') {
			folder = number;
			named = false;
		} else {
			named = true;
		}
		number = zug_folder_number(number, ch);
	}
	if (!named)
		return false;
	bpf_for(i, 0, ZUG_LOOKUPS) {
		__u64 wanted = s->setup.lookups[i & (ZUG_LOOKUPS - 1)];

		if (wanted && wanted == folder)
			return true;
	}
	return false;
}

/* True when no other task can see what the call does that the current task, the holder, begins. */
__noinline int acts_unseen(__s32 nr, const struct call_args *args)
{
	struct task_struct *p = bpf_get_current_task_btf();
	const volatile struct zug_syscall *d = syscall_of(nr);
	struct task_state *t = state_of(p);
	struct zug_sandbox *s;
	struct file *f;
	bool only_looks;
	__u32 len, slot;

	if (!args || !t || t->slot >= ZUG_MAX_SANDBOXES)
		return 0;
	slot = t->slot;
	/* or it is read again where it is used, and its bounds are not known there */
	barrier_var(slot);
	slot &= ZUG_MAX_SANDBOXES - 1;
	s = &sandboxes[slot];
	if (nr == NR_rt_sigaction)
		return args->a[0] >= 1 && args->a[0] <= 64 && hears_nothing(s, p, 1ull << (args->a[0] - 1));
	if (nr == NR_rt_sigprocmask)
		return !has_pending_signal(p) && hears_nothing(s, p, newly_blocked(p, args));
	if (nr == NR_close) {
		f = has_own_descriptors(p) ? fd_file(p, args->a[0]) : NULL;
		return f && closes_unseen(f);
	}
	only_looks = !d->writes && d->lease == ZUG_CALL_PASSES;
	if (!d->path_arg || d->path2_arg || !(only_looks || (d->lease == ZUG_CALL_OPENS && has_own_descriptors(p))))
		return 0;
	len = read_path(call_memories[slot].path[0], args->a[(d->path_arg - 1) & 7]);
	return leads_to_unseen(s, slot, len, only_looks);
}

#endif
