/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * call_lease.bpf.h - system calls that a task passes under a lease
 *
 * Where the task stops, user space looks at it for the call's label: at its stack, its paths, its descriptors. Here the
 * task goes on, so all of that has to be in the event, or may be looked up later:
 *
 *  - what has called it: the way up the stack is known for each place in code (struct zug_step_key), as user space has gone it
 *    before;
 *  - the file behind a descriptor: user space has a name for it already (known_files). Other objects are told by numbers;
 *  - the address that connect() and bind() name: it goes ahead of the event, too;
 *  - a path from the root, or from the current folder, if user space knows that one: the text goes ahead of the event, and user
 *    space looks at the file when it comes to the event. What changes where paths lead stops, so the file is still the same
 *    then.
 */
#ifndef ZUG_CALL_LEASE_BPF_H
#define ZUG_CALL_LEASE_BPF_H

#define S_IFMT_			0170000
#define S_IFSOCK_		0140000
#define S_IFREG_		0100000
#define S_IFDIR_		0040000
#define S_IFCHR_		0020000
#define S_IFIFO_		0010000
#define O_ACCMODE_		03
#define O_CREAT_		0100
#define O_TRUNC_		01000
#define AT_FDCWD_		(-100)
#define O_TMPFILE_		020000000
#define WNOHANG_		1

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct zug_step_key);
	__type(value, struct zug_caller);
} steps SEC(".maps");

/* *caller: an address in what has called the task's system call; 0: it cannot be told. false: user space has to look. */
__noinline int find_caller(const struct task_state *t, __u64 *caller)
{
	struct task_struct *p = bpf_get_current_task_btf();
	__u64 sp, bp, at, ret = 0;
	bool strange;
	__u32 i;
	int in;

	if (!t || !caller)
		return false;
	/* what lies in no file of the search has no place in labels */
	strange = leases[t->slot & (ZUG_MAX_SANDBOXES - 1)].flags & ZUG_LEASE_STRANGE;
	sp = t->ev.sp;
	bp = t->ev.bp;
	at = t->ev.ip - 2;
	bpf_for(i, 0, ZUG_CALLER_DEPTH) {
		struct zug_step_key key = {};
		struct zug_caller *c;
		__u64 end;

		in = find_code(p, t, at, &key);
		if (!in && strange)
			break;
		if (in <= 0 || !(c = bpf_map_lookup_elem(&steps, &key)) || c->what == ZUG_CALLER_UNKNOWN)
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

/* As labels say it; 0: it has no name yet. */
static __always_inline __u64 known_object(const struct zug_sandbox *s, const struct task_state *t, const struct zug_where *w)
{
	__u64 number = zug_file_number(w->ino, w->offset), object;
	const volatile struct zug_known_file *f =
		&known_files[t->slot & (ZUG_MAX_SANDBOXES - 1)][zug_file_place(number, w->dev)];

	object = f->object;
	return f->run == s->run && f->number == number && f->dev == w->dev ? object : 0;
}

/*
 * A task has passed the open() that is over. User space names the file where it comes to that event, before all that comes
 * later: as it has done before, by the same number.
 */
static __always_inline void note_opened(const struct zug_sandbox *s, struct task_struct *p, struct task_state *t, __s64 fd)
{
	volatile struct zug_known_file *f;
	struct zug_where w = {};
	__u64 number;

	if (!t->opens)
		return;
	t->opens = 0;
	if (fd < 0 || s->env_used & ZUG_ENV_MOUNTS || !fd_where(p, fd, &w))
		return;
	number = zug_file_number(w.ino, w.offset);
	f = &known_files[t->slot & (ZUG_MAX_SANDBOXES - 1)][zug_file_place(number, w.dev)];
	if (f->number == number && f->dev == w.dev && f->by_path)
		f->opened = s->run;
}

/* It has a name, or will have it when user space comes to an event of its. */
static __always_inline bool will_be_known(const struct zug_sandbox *s, const struct task_state *t, const struct zug_where *w)
{
	__u64 number = zug_file_number(w->ino, w->offset);
	const volatile struct zug_known_file *f =
		&known_files[t->slot & (ZUG_MAX_SANDBOXES - 1)][zug_file_place(number, w->dev)];

	return f->number == number && f->dev == w->dev && (f->run == s->run ? f->object != 0 : f->opened == s->run);
}

static __always_inline bool object_told(const struct zug_sandbox *s, const struct task_state *t, __u32 flag,
					const struct zug_where *w)
{
	__u32 type = w->mode & S_IFMT_;

	return !(t->ev.flags & flag) || (type != S_IFREG_ && type != S_IFDIR_ && type != S_IFCHR_) || will_be_known(s, t, w);
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
		return t->ev.state && will_be_known(s, t, w);
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

/* User space can look up relative paths of the task when that has gone on. */
static __always_inline bool cwd_known(struct task_struct *p, const struct zug_lease *l)
{
	return l->cwd_dentry && (__u64)BPF_CORE_READ(p, fs, pwd.dentry) == l->cwd_dentry &&
	       (__u64)BPF_CORE_READ(p, fs, pwd.mnt) == l->cwd_mnt;
}

/*
 * The path of a call, relative to the descriptor fd. Its text goes ahead of the event (len 0: none does). false: user space has
 * to look at the task. Devices make others (/dev/ptmx), and the kernel's own files change by themselves.
 */
__noinline int tell_path(struct task_state *t, __u64 addr, __u64 fd, struct zug_path *path)
{
	struct task_struct *p = bpf_get_current_task_btf();
	const struct zug_lease *l;
	long n;

	if (!t || !path)
		return false;
	l = &leases[t->slot & (ZUG_MAX_SANDBOXES - 1)];
	n = bpf_probe_read_user_str(path->text, sizeof(path->text), (void *)addr);
	path->len = 0;
	if (n <= 0 || n >= ZUG_PATH_TEXT)
		return false;
	if (n == 1)
		return tell_itself(p, t, fd);
	path->len = n;
	if (!l->root_dentry || (__u64)BPF_CORE_READ(p, fs, root.dentry) != l->root_dentry ||
	    (__u64)BPF_CORE_READ(p, fs, root.mnt) != l->root_mnt)
		return false;
	if (path->text[0] != '/')
		return (__s32)fd == AT_FDCWD_ && cwd_known(p, l);
	return !begins_with_text(path->text, "/dev/p", 6) && !begins_with_text(path->text, "/sys/", 5);
}

#define AF_UNIX_LEN_		110	/* struct sockaddr_un, the longest one that labels know */

/*
 * The address of connect() or bind(), which goes ahead of the event as labels know it (address_object() of user space). *number
 * is what that is known by, 0: it names nothing that other tasks could. false: it cannot be read.
 */
__noinline int tell_address(const struct call_args *args, struct zug_path *path, __u64 *number)
{
	__u64 len, from;
	__u16 *family, *port;
	long n;

	if (!args || !path || !number)
		return false;
	len = args->a[2];
	from = args->a[1];
	family = (__u16 *)path->text;
	port = family + 1;
	if (len < sizeof(*family))
		return false;
	if (len > AF_UNIX_LEN_)
		len = AF_UNIX_LEN_;
	__builtin_memset(path->text, 0, ZUG_ADDRESS);
	if (bpf_probe_read_user(path->text, len, (void *)from))
		return false;
	*number = 0;
	if (*family == AF_INET_ || *family == AF_INET6_) {
		*family = AF_INET_;
		len = sizeof(*family) + sizeof(*port);
		__builtin_memset(path->text + 4, 0, ZUG_ADDRESS - 4);
	} else if (*family == AF_UNIX_ && path->text[2]) {
		/* what comes behind the end of a path is chance */
		__builtin_memset(path->text + 2, 0, ZUG_ADDRESS - 2);
		n = bpf_probe_read_user_str(path->text + 2, len - 1, (void *)(from + 2));
		if (n <= 0 || n > AF_UNIX_LEN_)
			return false;
		len = sizeof(*family) + n - 1;
	}
	path->len = len;
	if (*family == AF_UNIX_ || (*family == AF_INET_ && *port))
		*number = zug_address_number(path->text, len);
	return true;
}

/* bind() makes a file of that name. */
static __always_inline bool makes_socket(const struct zug_path *path)
{
	return *(const __u16 *)path->text == AF_UNIX_ && path->text[2];
}

/*
 * The only signal of rt_sigprocmask()'s new ones, as t->ev tells them, or the one that rt_sigaction() sets; 0: there is
 * none.
 */
static __always_inline __u32 signal_of_call(const struct task_state *t, const struct call_args *args)
{
	__u64 set = t->ev.word[2] | (__u64)t->ev.word[3] << 32;

	if (t->nr != NR_rt_sigprocmask)
		return args->a[1] ? args->a[0] : 0;
	return set & (set - 1) ? 0 : set ? lowest_bit(set) + 1 : 0;
}

/* A path may lead to it. */
static __always_inline bool has_path(struct task_struct *p, const struct zug_where *w, __u64 fd)
{
	struct file *f;

	if ((w->mode & S_IFMT_) != S_IFIFO_)
		return w->mode & S_IFMT_ && (w->mode & S_IFMT_) != S_IFSOCK_;
	f = fd_file(p, fd);
	return !f || BPF_CORE_READ(f, f_inode, i_sb, s_magic) != PIPEFS_MAGIC_;
}

/* The same of the end of a process, of which tell_end() has told: label_end() of user space. */
__noinline int end_access(struct zug_access *a, __u32 slot)
{
	struct task_struct *p = bpf_get_current_task_btf(), *parent = BPF_CORE_READ(p, real_parent);
	struct zug_plan *plan = &leases[slot & (ZUG_MAX_SANDBOXES - 1)].plan;
	struct task_state *t = state_of(p), *x;
	__u32 i;

	if (!a || !t || !t->ev.word[0]) {
		if (a)
			a->how = 0;
		return 0;
	}
	parent = bpf_task_from_pid(BPF_CORE_READ(parent, pid));
	if (!parent) {
		a->how = 0;
		return 0;
	}
	x = state_of(parent);
	/* it is none of the test's, or has ended */
	if (!x || x->slot != slot || x->run != t->run) {
		bpf_task_release(parent);
		return 0;
	}
	i = find_peer(plan, x->id, x->peer);
	bpf_task_release(parent);
	if (i >= plan->nr_peers) {
		a->how = 0;
		return 0;
	}
	a->object[0] = t->ev.word[1] ? zug_signal_object(plan->peers[i & (ZUG_PLAN_PEERS - 1)].process, SIGCHLD_) :
				       zug_children_object(plan->peers[i & (ZUG_PLAN_PEERS - 1)].process);
	if (t->ev.word[1] || LOOSE(p)->signal->live.counter > 1)
		a->object[1] = ZUG_OBJECT_ANY;
	return 0;
}

/*
 * What a system call accesses, of which t->ev tells, as access_of() of search/access.h says it of the label. by_text: it has a
 * path that is not empty; which file that leads to is not known here. address: as tell_address() says it.
 */
__noinline int call_access(struct zug_access *a, __u32 process, int by_text, const struct call_args *args, __u64 address)
{
	struct zug_where named = { .ino = address, .dev = ZUG_DEV_ADDRESS };
	struct task_struct *p = bpf_get_current_task_btf();
	const volatile struct zug_syscall *d;
	struct task_state *t = state_of(p);
	struct zug_sandbox *s;
	__u32 signal;

	if (!a || !args || !t || !(s = sandbox_of(t)))
		return 0;
	d = syscall_of(t->nr);
	a->how = ZUG_ACCESS_KNOWN | (d->writes ? ZUG_ACCESS_WRITES : 0);
	switch (d->object) {
	case ZUG_CALL_FILE:
		if (by_text) {
			a->how |= ZUG_ACCESS_FILE;
			if (d->lease == ZUG_CALL_OPENS && args->a[d->path_arg & 7] & (O_ACCMODE_ | O_CREAT_ | O_TRUNC_))
				a->how |= ZUG_ACCESS_WRITES;
			return 0;
		}
		/* of a pipe, or the like, the label says nothing: known_file() of user space */
		if (!has_path(p, &t->ev.obj2, args->a[(d->path_arg - 2) & 7]))
			break;
		a->object[0] = known_object(s, t, &t->ev.obj2);
		a->how = a->object[0] ? a->how | ZUG_ACCESS_FILE : 0;
		break;
	case ZUG_CALL_ANY:
		break;
	case ZUG_CALL_FD:
	case ZUG_CALL_POLLED:
		a->object[0] = t->ev.flags & ZUG_EF_OBJECT ? known_object(s, t, &t->ev.obj) : ZUG_OBJECT_ANY;
		if (address)
			a->object[1] = known_object(s, t, &named);
		else
			a->object[1] = t->ev.flags & ZUG_EF_OBJECT2 ? known_object(s, t, &t->ev.obj2) : 0;
		if ((t->ev.flags & ZUG_EF_OBJECT &&
		     has_path(p, &t->ev.obj, d->fd_arg ? args->a[(d->fd_arg - 1) & 7] : -1ull)) ||
		    (t->ev.flags & ZUG_EF_OBJECT2 && has_path(p, &t->ev.obj2, -1ull)))
			a->how |= ZUG_ACCESS_FILE;
		/* label_buffer() of user space */
		if (!a->object[0] || ((address || t->ev.flags & ZUG_EF_OBJECT2) && !a->object[1]) || t->gives_buffers)
			a->how = 0;
		if (a->object[0] == a->object[1])
			a->object[1] = 0;
		break;
	case ZUG_CALL_SIGNAL:
		signal = signal_of_call(t, args);
		if (signal) {
			a->object[0] = signal == SIGCHLD_ ? zug_children_object(process) : zug_signal_object(process, signal);
			a->object[1] = ZUG_OBJECT_ANY;
		}
		break;
	case ZUG_CALL_CHILDREN:
		if (args->a[t->nr == NR_wait4 ? 2 : 3] & WNOHANG_) {
			a->object[0] = zug_children_object(process);
			a->object[1] = ZUG_OBJECT_ANY;
		}
		break;
	case ZUG_CALL_PARENT:
		end_access(a, t->slot);
		return 0;
	default:
		a->how = 0;
	}
	if (!a->object[0])
		a->object[0] = ZUG_OBJECT_ANY;
	if (a->object[0] == ZUG_OBJECT_ANY)
		a->how |= ZUG_ACCESS_WRITES;
	return 0;
}

/*
 * The holder's process is about to end: word[1] says whether its parent notices that, which may be another one when user space
 * comes to the event (word[0]: it says so). false: that is not clear.
 */
static __always_inline bool tell_end(struct task_struct *p, struct zug_event *e)
{
	struct task_struct *parent = BPF_CORE_READ(p, real_parent);
	__u64 handler = (__u64)BPF_CORE_READ(parent, sighand, action[SIGCHLD_ - 1].sa.sa_handler);

	if (BPF_CORE_READ(parent, signal, nr_threads) != 1)
		return false;
	e->word[0] = 1;
	e->word[1] = handler > 1 || BPF_CORE_READ(parent, blocked.sig[0]) >> (SIGCHLD_ - 1) & 1;
	return true;
}

/* With that call a process ends that is not the test's first. */
static __always_inline bool ends_child(struct task_struct *p, const struct task_state *t, const struct zug_lease *l)
{
	return p->tgid != l->root && (t->nr == NR_exit_group || LOOSE(p)->signal->live.counter == 1);
}

/*
 * rt_sigprocmask() may let the task be ended or stopped by a signal that is pending. That it handles one comes with an event of
 * its own; the end of a child does no more than that.
 */
static __always_inline bool lets_through(struct task_struct *p, const struct call_args *args)
{
	__u64 pending = pending_signals(p) & ~(1ull << (SIGCHLD_ - 1)), blocked = p->blocked.sig[0], set = 0;

	if (!pending)
		return false;
	if (!args->a[1])
		return pending & ~blocked;
	if (bpf_probe_read_user(&set, sizeof(set), (void *)args->a[1]))
		return true;
	blocked = (__u32)args->a[0] == 0 /* SIG_BLOCK */ ? blocked | set : (__u32)args->a[0] == 1 /* SIG_UNBLOCK */ ?
							   blocked & ~set : set;
	return pending & ~blocked;
}

/* User space need not see the call itself when it is made. */
static __always_inline bool call_passes(struct task_struct *p, const struct task_state *t, const struct zug_lease *l,
					const struct call_args *args)
{
	const volatile struct zug_syscall *d = syscall_of(t->nr);
	__u32 thread;

	switch (d->lease) {
	case ZUG_CALL_PASSES:
		/* an address is read while it stands */
		return (t->nr != NR_sendto && t->nr != NR_sendmsg) || !t->ev.arg[3];
	case ZUG_CALL_CONNECTS:
	case ZUG_CALL_BINDS:
		return true;
	case ZUG_CALL_MASKS:
		return !lets_through(p, args);
	case ZUG_CALL_EXECS:
		return LOOSE(p)->signal->nr_threads == 1;
	case ZUG_CALL_READS:
		return !(t->ev.flags & ZUG_EF_OBJECT) || t->ev.obj.mode & S_IFMT_;
	case ZUG_CALL_OPENS:
		return !(args->a[d->path_arg & 7] & (O_CREAT_ | O_TMPFILE_));
	case ZUG_CALL_KILLS:
		thread = t->nr == NR_tgkill;
		return (__u32)args->a[thread] == own_pid(p) && args->a[thread + 1];
	case ZUG_CALL_ENDS:
		return l->flags & ZUG_LEASE_ENDS && (args->a[0] & 0xff) == (p->tgid == l->root ? l->root_ends : 0);
	default:
		return false;
	}
}

/* The holder passes a system call under its lease, or hands the turn on: enum plan_says. t->ev is filled. */
__noinline int call_leased(struct task_state *t, const struct call_args *args)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct stand at = { .pass.kind = ZUG_PASS_ALWAYS };
	const volatile struct zug_syscall *d;
	__u64 address = 0, caller = 0;
	struct zug_sandbox *s;
	struct zug_path *path;
	struct zug_lease *l;
	struct zug_event *e;
	__u32 slot;
	bool named;
	int says;

	if (!t || !args || t->slot >= ZUG_MAX_SANDBOXES)
		return PLAN_STOPS;
	slot = t->slot & (ZUG_MAX_SANDBOXES - 1);
	s = &sandboxes[slot];
	l = &leases[slot];
	e = &t->ev;
	d = syscall_of(t->nr);
	named = d->lease == ZUG_CALL_CONNECTS || d->lease == ZUG_CALL_BINDS;
	path = &call_paths[slot];
	path->len = 0;
	if (!l->left)
		return PLAN_STOPS;
	if (lease_due(s, l)) {
		lease_note(l, ZUG_WHY_TIME);
		return PLAN_STOPS;
	}
	if (!(l->flags & ZUG_LEASE_CALLS) || (l->flags & ZUG_LEASE_RUNTIME && d->runtime) || !call_passes(p, t, l, args) ||
	    (d->lease == ZUG_CALL_ENDS && ends_child(p, t, l) && !tell_end(p, e)) ||
	    (named && !tell_address(args, path, &address)) ||
	    (d->lease == ZUG_CALL_BINDS && paths_ahead[slot] && makes_socket(path))) {
		lease_note(l, ZUG_WHY_CALL);
		return PLAN_STOPS;
	}
	if (!object_told(s, t, ZUG_EF_OBJECT, &e->obj) || !object_told(s, t, ZUG_EF_OBJECT2, &e->obj2) ||
	    (d->path_arg && !tell_path(t, args->a[(d->path_arg - 1) & 7],
				       d->path_arg > 1 ? args->a[(d->path_arg - 2) & 7] : (__u64)AT_FDCWD_, path)) ||
	    !find_caller(t, &caller)) {
		lease_note(l, ZUG_WHY_FILE);
		return PLAN_STOPS;
	}
	/* the end of one thread of several concerns no other task, and nothing comes behind that of the root command */
	if ((t->nr == NR_exit && LOOSE(p)->signal->live.counter > 1) || (t->nr == NR_exit_group && p->tgid == l->root))
		at.access.how = ZUG_ACCESS_KNOWN;
	else if (l->plan.writes && d->lease == ZUG_CALL_ENDS)
		/* to that strategy an end writes nothing */
		at.access.how = ZUG_ACCESS_KNOWN;
	else if (l->plan.kind == ZUG_PLAN_PENDING || l->plan.kind == ZUG_PLAN_SELECTION || l->plan.writes)
		call_access(&at.access, l->plan.peers[l->plan.holder & (ZUG_PLAN_PEERS - 1)].process, !!path->len, args,
			    address);
	/* whether it is one of those that the search has in view has to be known */
	if (at.access.how & ZUG_ACCESS_FILE && !at.access.object[0] &&
	    (l->plan.kind == ZUG_PLAN_SELECTION || l->plan.nr_constraints)) {
		lease_note(l, ZUG_WHY_RACES);
		return PLAN_STOPS;
	}
	/* kworld_caller() */
	if ((l->plan.kind == ZUG_PLAN_ORDER || l->plan.nr_constraints) && d->op) {
		at.op = d->op;
		at.place = caller ? caller : e->ip - 2;
	}
	says = lease_says(t, l, 1, &at, true);
	if (says == PLAN_STOPS)
		return says;
	l->plan.sp = e->sp;
	e->sp = caller;
	if (path->len) {
		path->kind = ZUG_EV_PATH;
		path->flags = ZUG_EF_LEASED;
		path->sandbox = slot;
		path->task = t->id;
		paths_ahead[slot] |= !named;
		event_send(s, (struct zug_event *)path);
	}
	/* it is no earlier call's, should user space be asked all the same */
	call_memories[slot].task = 0;
	if (says != PLAN_PASSES)
		return says;
	event_send(s, e);
	/* links may lead from there to what is another file to each process */
	t->opens = d->lease == ZUG_CALL_OPENS && path->len && !begins_with_text(path->text, "/dev/", 5) &&
		   !begins_with_text(path->text, "/proc/", 6) && !begins_with_text(path->text, "//", 2);
	return says;
}

/*
 * Of a call that is no point, and that may change what paths lead to: user space has to look at those that were passed
 * before.
 */
static __always_inline void sync_paths(struct task_struct *p, struct task_state *t)
{
	__u32 slot = t->slot;

	if (slot >= ZUG_MAX_SANDBOXES || !paths_ahead[slot] ||
	    (syscall_of(t->nr)->lease != ZUG_CALL_MOVES && syscall_of(t->nr)->lease != ZUG_CALL_BINDS))
		return;
	event_init(&t->ev, ZUG_EV_SYNC, p, t);
	stop_here(t);
}

#endif
