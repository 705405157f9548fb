/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * call_lease.bpf.h - system calls that a task passes under a lease
 *
 * Where the task stops, user space looks at it for the call's label: at its stack, its paths, its descriptors. Here the task goes
 * on, so all of that has to be in the event, or may be looked up later:
 *
 *  - what has called it: the way up the stack is known for each place in code (struct zug_step_key), as user space has gone it before;
 *  - the file behind a descriptor: user space has a name for it already (known_files). Other objects are told by numbers;
 *  - a path from the root: the text goes ahead of the event, and user space looks at the file when it comes to the event. What
 *    changes where paths lead stops, so the file is still the same then.
 */
#ifndef ZUG_CALL_LEASE_BPF_H
#define ZUG_CALL_LEASE_BPF_H

#define S_IFMT_			0170000
#define S_IFSOCK_		0140000
#define S_IFREG_		0100000
#define S_IFDIR_		0040000
#define S_IFCHR_		0020000
#define S_IFIFO_		0010000
#define O_CREAT_		0100
#define O_TMPFILE_		020000000
#define PIPEFS_MAGIC_		0x50495045

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct zug_step_key);
	__type(value, struct zug_caller);
} steps SEC(".maps");

/* *caller: an address in what has called the task's system call; 0: it cannot be told. false: user space has to look. */
static __noinline bool find_caller(struct task_struct *p, struct task_state *t, __u64 *caller)
{
	__u64 sp = t->ev.sp, bp = t->ev.bp, at = t->ev.ip - 2, ret = 0;
	__u32 i;

	bpf_for(i, 0, ZUG_CALLER_DEPTH) {
		struct zug_step_key key = {};
		struct zug_caller *c;
		__u64 end;

		if (!find_code(p, t, at, &key) || !(c = bpf_map_lookup_elem(&steps, &key)) || c->what == ZUG_CALLER_UNKNOWN)
			return false;
		if (c->what == ZUG_CALLER_IN) {
			*caller = at;
			return true;
		}
		end = (c->by_bp ? bp : sp) + c->size;
		if (c->what == ZUG_CALLER_NONE || end <= sp)
			break;
		if (bpf_probe_read_user(&ret, sizeof(ret), (void *)(end - sizeof(ret))) ||
		    (c->bp_at && bpf_probe_read_user(&bp, sizeof(bp), (void *)(end + c->bp_at))))
			return false;
		sp = end;
		at = ret - 1;
	}
	*caller = 0;
	return true;
}

static __always_inline bool file_known(const struct zug_sandbox *s, const struct task_state *t, const struct zug_where *w)
{
	const struct zug_known_file *f = &known_files[t->slot & (ZUG_MAX_SANDBOXES - 1)][zug_file_place(w->ino, w->dev)];

	return f->run == s->run && f->ino == w->ino && f->dev == w->dev;
}

static __always_inline bool object_told(const struct zug_sandbox *s, const struct task_state *t, __u32 flag, const struct zug_where *w)
{
	return !(t->ev.flags & flag) || (w->mode & S_IFMT_) != S_IFREG_ || file_known(s, t, w);
}

/* The empty path is about a descriptor: that is told as obj2, without its flag. */
static __always_inline bool tell_itself(struct task_struct *p, struct task_state *t, __u64 fd)
{
	struct zug_sandbox *s = sandbox_of(t);
	struct zug_where *w = &t->ev.obj2;
	struct file *f = fd_file(p, fd);

	if (!s || !f || !fd_where(p, fd, w))
		return false;
	t->ev.state = BPF_CORE_READ(f, f_inode, i_nlink);
	switch (w->mode & S_IFMT_) {
	case S_IFREG_:
	case S_IFDIR_:
	case S_IFCHR_:
		return t->ev.state && file_known(s, t, w);
	case S_IFIFO_:
		return BPF_CORE_READ(f, f_inode, i_sb, s_magic) == PIPEFS_MAGIC_;
	case S_IFSOCK_:
	case 0:
		return true;
	}
	return false;
}

static __always_inline bool begins_with_text(const char *text, const char *with, __u32 len)
{
	__u32 i;

	for (i = 0; i < len; i++)
		if (text[i] != with[i])
			return false;
	return true;
}

/*
 * The path of a call, relative to the descriptor fd (-1: the call has none). Its text goes ahead of the event (len 0: none does). false: user space has to look at the
 * task. Devices make others (/dev/ptmx), and the kernel's own files change by themselves.
 */
static __noinline bool tell_path(struct task_struct *p, struct task_state *t, __u64 addr, __u64 fd, struct zug_path *path)
{
	const struct zug_lease *l = &leases[t->slot & (ZUG_MAX_SANDBOXES - 1)];
	long n = bpf_probe_read_user_str(path->text, sizeof(path->text), (void *)addr);

	path->len = 0;
	if (n <= 0 || n >= ZUG_PATH_TEXT)
		return false;
	if (n == 1)
		return tell_itself(p, t, fd);
	path->len = n;
	return path->text[0] == '/' && l->root_dentry && (__u64)BPF_CORE_READ(p, fs, root.dentry) == l->root_dentry &&
	       (__u64)BPF_CORE_READ(p, fs, root.mnt) == l->root_mnt && !begins_with_text(path->text, "/dev/p", 6) &&
	       !begins_with_text(path->text, "/sys/", 5);
}

/* The holder passes a system call under its lease, or hands the turn on: enum plan_says. t->ev is filled. */
static __noinline int call_leased(struct zug_sandbox *s, struct task_struct *p, struct task_state *t, const struct call_args *args)
{
	const volatile struct zug_syscall *d = syscall_of(t->nr);
	struct zug_event *e = &t->ev;
	struct zug_path *path;
	__u32 slot = t->slot;
	struct stand at = { .pass.kind = ZUG_PASS_ALWAYS };
	struct zug_lease *l;
	__u64 caller = 0;
	int says;

	if (slot >= ZUG_MAX_SANDBOXES || !args)
		return PLAN_STOPS;
	l = &leases[slot];
	path = &call_paths[slot];
	path->len = 0;
	if (!l->left || !(l->flags & ZUG_LEASE_CALLS))
		return PLAN_STOPS;
	switch (d->lease) {
	case ZUG_CALL_PASSES:
		break;
	case ZUG_CALL_MASKS:
		/* it may let one be handled */
		if (has_pending_signal(p))
			return PLAN_STOPS;
		break;
	case ZUG_CALL_READS:
		if (e->flags & ZUG_EF_OBJECT && !(e->obj.mode & S_IFMT_))
			return PLAN_STOPS;
		break;
	case ZUG_CALL_OPENS:
		if (args->a[d->path_arg & 7] & (O_CREAT_ | O_TMPFILE_))
			return PLAN_STOPS;
		break;
	case ZUG_CALL_ENDS:
		if (!(l->flags & ZUG_LEASE_ENDS) || p->tgid == l->root || args->a[0] & 0xff)
			return PLAN_STOPS;
		break;
	default:
		return PLAN_STOPS;
	}
	if (!object_told(s, t, ZUG_EF_OBJECT, &e->obj) || !object_told(s, t, ZUG_EF_OBJECT2, &e->obj2))
		return PLAN_STOPS;
	if (d->path_arg && !tell_path(p, t, args->a[(d->path_arg - 1) & 7],
				      d->path_arg > 1 ? args->a[(d->path_arg - 2) & 7] : -1ull, path))
		return PLAN_STOPS;
	if (!find_caller(p, t, &caller))
		return PLAN_STOPS;
	/* the end of one thread of several concerns no other task */
	if (t->nr == NR_exit && LOOSE(p)->signal->live.counter > 1)
		at.access.how = ZUG_ACCESS_KNOWN;
	says = lease_says(s, p, t, l, 1, &at, true);
	if (says == PLAN_STOPS)
		return says;
	l->plan.sp = e->sp;
	e->sp = caller;
	if (path->len) {
		path->kind = ZUG_EV_PATH;
		path->flags = ZUG_EF_LEASED;
		path->sandbox = slot;
		path->task = t->id;
		paths_ahead[slot] = 1;
		event_send(s, (struct zug_event *)path);
	}
	/* it is no earlier call's, should user space be asked all the same */
	call_memories[slot].task = 0;
	if (says == PLAN_PASSES)
		event_send(s, e);
	return says;
}

/* Of a call that is no point, and that may change what paths lead to: user space has to look at those that were passed before. */
static __always_inline void sync_paths(struct task_struct *p, struct task_state *t)
{
	__u32 slot = t->slot;

	if (slot >= ZUG_MAX_SANDBOXES || !paths_ahead[slot] || syscall_of(t->nr)->lease != ZUG_CALL_MOVES)
		return;
	event_init(&t->ev, ZUG_EV_SYNC, p, t);
	t->flags |= TF_STOP;
	scx_bpf_kick_cpu(bpf_get_smp_processor_id(), SCX_KICK_PREEMPT);
}

#endif
