/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * calls.bpf.h - system calls as points: which of them are, what they act on, and what user space reads for their labels;
 * what libzug tells by one
 */
#ifndef ZUG_CALLS_BPF_H
#define ZUG_CALLS_BPF_H

#include "points.bpf.h"
#include "call_lease.bpf.h"
#include "signal_lease.bpf.h"
#include "distribution.bpf.h"
#include "unseen.bpf.h"
#include "inside.h"

/* The primitive that was the task's last point waits, or wakes others: that is one operation with it. */
static __always_inline bool within_primitive(struct task_state *t, __u64 addr)
{
	bool joins = t->joins;

	t->joins = 0;
	if (t->flags & TF_INSIDE)
		return true;
	/* no primitive is longer than 64 bytes */
	return joins || (t->prim[0] && addr - t->prim[0] < (t->small ? ZUG_SMALL_LOCK : 64)) ||
	       (t->prim[1] && addr - t->prim[1] < 64);
}

/* Its wait is then a point of its own. */
static __always_inline bool may_be_interrupted(const struct zug_sandbox *s, const struct task_state *t)
{
	return s->setup.syscall_points & ZUG_SYS_WAIT && t->tells_eintr;
}

/* Such a call is a point with these arguments only. */
static __always_inline bool is_some(int nr, const __u64 *a)
{
	__u32 cmd = a[1];

	if (nr == NR_lseek)
		return (__u32)a[2] == 2 /* SEEK_END */;
	if (nr == NR_prctl)
		return (__u32)a[0] == 1 /* PR_SET_PDEATHSIG */ && cmd;
	return cmd == 6 /* F_SETLK */ || cmd == 7 /* F_SETLKW */ || cmd == 37 /* F_OFD_SETLK */ ||
	       cmd == 38 /* F_OFD_SETLKW */;
}

/* That system call makes a process, not a thread. */
static __always_inline bool makes_process(int nr, __u64 arg)
{
	__u64 flags = nr == NR_clone ? arg : 0;

	if (nr != NR_fork && nr != NR_vfork && nr != NR_clone && nr != NR_clone3)
		return false;
	if (nr == NR_clone3 && bpf_probe_read_user(&flags, sizeof(flags), (void *)arg))
		return false;
	return !(flags & CLONE_THREAD_);
}

/*
 * A process with several threads is copied: the locks that others have taken by then, and the descriptors that they have
 * opened, are there in the copy. That is a point of its own: the one before it may be the lock of the same data.
 */
static __always_inline bool copies_threads(const struct zug_sandbox *s, struct task_struct *p, int nr, __u64 arg)
{
	return s->setup.syscall_points & ZUG_SYS_PROCESS && LOOSE(p)->signal->nr_threads > 1 && makes_process(nr, arg);
}

/*
 * All threads of a process have one working folder, one mask for the rights of new files, and the same descriptors: to
 * change one of these, or whether it is closed at an exec, is a point there.
 */
static __always_inline bool changes_process(const struct zug_sandbox *s, struct task_struct *p, int nr, __u64 cmd)
{
	return (nr == NR_chdir || nr == NR_fchdir || nr == NR_umask || nr == NR_dup2 || nr == NR_dup3 ||
		(nr == NR_fcntl && (__u32)cmd == ZUG_F_SETFD)) &&
	       s->setup.syscall_points & ZUG_SYS_FILE && LOOSE(p)->signal->nr_threads > 1;
}

/* The descriptors that poll() and its kin are asked about go to fds. Their number; 0: none, or more than two. */
static __always_inline __u32 polled(const struct call_args *args, __s32 fds[2])
{
	struct { __s32 fd; __s16 events, revents; } list[2] = {};
	__u64 nr = args->a[1];

	if (!nr || nr > 2 ||
	    bpf_probe_read_user(list, nr == 1 ? sizeof(list[0]) : sizeof(list), (void *)args->a[0]))
		return 0;
	fds[0] = list[0].fd;
	fds[1] = list[1].fd;
	return nr;
}

static __always_inline __u32 selected(const struct call_args *args, __s32 fds[2])
{
	__u64 in_set, any = 0, n = args->a[0];
	__u32 i;

	if (!n || n > 64)
		return 0;
	for (i = 1; i <= 3; i++) {
		if (!args->a[i])
			continue;
		if (bpf_probe_read_user(&in_set, sizeof(in_set), (void *)args->a[i]))
			return 0;
		any |= in_set;
	}
	if (n < 64)
		any &= (1ull << n) - 1;
	if (!any)
		return 0;
	fds[0] = __builtin_ctzll(any);
	any &= any - 1;
	if (!any)
		return 1;
	fds[1] = __builtin_ctzll(any);
	return any & (any - 1) ? 0 : 2;
}

/*
 * Of a tree of descriptors: its root, and the one that hangs from it. The kernel orders it by addresses of its own, so the
 * smaller descriptor comes first here.
 */
static __always_inline __u32 epoll_watched(struct task_struct *p, __u64 epfd, __s32 fds[2])
{
	struct file *f = fd_file(p, epfd);
	struct rb_node *root, *left, *right, *other;
	struct eventpoll *ep;

	if (!f || BPF_CORE_READ(f, f_inode, i_sb, s_magic) != ANON_INODE_FS_MAGIC_)
		return 0;
	ep = BPF_CORE_READ(f, private_data);
	root = BPF_CORE_READ(ep, rbr.rb_root.rb_node);
	if (!root)
		return 0;
	fds[0] = BPF_CORE_READ((struct epitem *)root, ffd.fd);
	left = BPF_CORE_READ(root, rb_left);
	right = BPF_CORE_READ(root, rb_right);
	other = left ? left : right;
	if (!other)
		return 1;
	if ((left && right) || BPF_CORE_READ(other, rb_left) || BPF_CORE_READ(other, rb_right))
		return 0;
	fds[1] = BPF_CORE_READ((struct epitem *)other, ffd.fd);
	if (fds[1] < fds[0]) {
		__s32 larger = fds[0];

		fds[0] = fds[1];
		fds[1] = larger;
	}
	return 2;
}

/* What they lead to is the call's objects, and word says the descriptors. */
static __always_inline void poll_where(struct task_struct *p, __s32 nr, const struct call_args *args, struct zug_event *e)
{
	__s32 fds[2] = {};
	__u32 n;

	switch (nr) {
	case NR_poll:
	case NR_ppoll:
		n = polled(args, fds);
		break;
	case NR_select:
	case NR_pselect6:
		n = selected(args, fds);
		break;
	default:
		n = epoll_watched(p, args->a[0], fds);
	}
	if (!n || fds[0] < 0 || !fd_where(p, fds[0], &e->obj) ||
	    (n == 2 && (fds[1] < 0 || !fd_where(p, fds[1], &e->obj2))))
		return;
	e->word[2] = fds[0];
	e->word[3] = fds[1];
	e->flags |= n == 2 ? ZUG_EF_OBJECT | ZUG_EF_OBJECT2 : ZUG_EF_OBJECT;
}

/* The object of a system call that the current task begins. */

__noinline int call_where(__s32 nr, const struct call_args *args)
{
	struct task_struct *p = bpf_get_current_task_btf();
	const volatile struct zug_syscall *d = syscall_of(nr);
	struct task_state *t = state_of(p);
	__u64 set;

	if (!t || !args)
		return 0;
	if (nr == NR_futex) {
		if (addr_where(mm_space(LOOSE(p)->mm), args->a[0], &t->ev.obj))
			t->ev.flags |= ZUG_EF_OBJECT;
	} else if (d->sysv) {
		t->ev.obj.ino = (__u32)args->a[0] + 1ull;
		t->ev.obj.dev = ZUG_DEV_SYSV;
		t->ev.obj.offset = d->sysv;
		t->ev.flags |= ZUG_EF_OBJECT;
	} else if (d->polls) {
		poll_where(p, nr, args, &t->ev);
	} else if (nr == NR_rt_sigprocmask) {
		set = newly_blocked(p, args);
		t->ev.word[2] = set;
		t->ev.word[3] = set >> 32;
	} else if (d->fd_arg && fd_where(p, args->a[(d->fd_arg - 1) & 7], &t->ev.obj)) {
		t->ev.flags |= ZUG_EF_OBJECT;
	}
	return 0;
}

static __always_inline __u32 read_stack(struct zug_call *c)
{
	__u64 to_end = 4096 - (c->sp & 4095);

	if (!bpf_probe_read_user(c->stack, sizeof(c->stack), (void *)c->sp))
		return sizeof(c->stack);
	/* it ends with this page, or the next one is not there */
	if (to_end >= sizeof(c->stack) || bpf_probe_read_user(c->stack, to_end & (sizeof(c->stack) - 1), (void *)c->sp))
		return 0;
	return to_end;
}

/* What user space wants to see of the memory of the current task, for the label of its call (struct zug_call). */
__noinline int call_memory(__s32 nr, const struct call_args *args)
{
	struct task_struct *p = bpf_get_current_task_btf();
	const volatile struct zug_syscall *d = syscall_of(nr);
	struct task_state *t = state_of(p);
	struct zug_call *c;
	struct file *f;
	__u64 fd;

	if (!t || !args || t->slot >= ZUG_MAX_SANDBOXES)
		return 0;
	c = &call_memories[t->slot];
	c->task = t->id;
	c->sp = t->ev.sp;
	c->root_mnt = (__u64)BPF_CORE_READ(p, fs, root.mnt);
	c->root_dentry = (__u64)BPF_CORE_READ(p, fs, root.dentry);
	c->cwd_mnt = (__u64)BPF_CORE_READ(p, fs, pwd.mnt);
	c->cwd_dentry = (__u64)BPF_CORE_READ(p, fs, pwd.dentry);
	c->stack_len = read_stack(c);
	c->path_len[0] = c->path_len[1] = 0;
	c->at.ino = 0;
	if (d->path_arg)
		c->path_len[0] = read_path(c->path[0], args->a[(d->path_arg - 1) & 7]);
	if (d->path2_arg)
		c->path_len[1] = read_path(c->path[1], args->a[(d->path2_arg - 1) & 7]);
	if (c->path_len[0] != 1 || d->path_arg < 2)
		return 0;
	fd = args->a[(d->path_arg - 2) & 7];
	f = fd_file(p, fd);
	if (f && fd_where(p, fd, &c->at))
		c->at_links = BPF_CORE_READ(f, f_inode, i_nlink);
	return 0;
}

/* libzug tells what the task is about to do (zug_note.h). */
static __noinline int note(struct zug_sandbox *s, struct task_struct *p, struct task_state *t, const struct call_args *args)
{
	const __u64 *a = args->a;
	__u64 hello = ZUG_NOTE;
	__u32 what = a[1];

	if (what & ZUG_NOTE_HELLO) {
		write_user(a[5], &hello, sizeof(hello));
		return 0;
	}
	if (t->id != s->holder)
		return 0;
	t->prim[0] = t->prim[1] = 0;
	t->last_lock = 0;
	t->joins = t->gathers = t->tells_eintr = 0;
	event_init(&t->ev, ZUG_EV_NOTE, p, t);
	t->mm = mm_number(LOOSE(p)->mm);
	t->ev.mm = t->mm;
	t->ev.ip = user_ip(p);
	t->ev.arg[0] = what;
	t->ev.arg[1] = a[2];
	t->ev.arg[2] = a[3];
	t->ev.answer = a[5];
	if (a[4])
		bpf_probe_read_user_str(t->ev.name, sizeof(t->ev.name), (void *)a[4]);
	/* the place that it tells is the label's, and not seen at the point that comes next */
	if (what & ZUG_NOTE_NEXT && t->slot < ZUG_MAX_SANDBOXES && leases[t->slot].plan.nr_constraints)
		lease_ends(t, ZUG_WHY_RACES);
	if (what & ZUG_NOTE_NEXT) {
		t->ev.flags |= ZUG_EF_LONE;
		event_send(s, &t->ev);
		return 0;
	}
	if (!(what & ZUG_NOTE_CHOICE) && quiet_pass(s))
		return 0;
	stop(s, t, NULL, what & ZUG_NOTE_CHOICE);
	return 0;
}

/* True for a system call with which the search begins (--from-call). */
static __always_inline bool begins_with(const struct zug_sandbox *s, __s32 nr)
{
	__u32 i = nr;

	return i < ZUG_NR_SYSCALLS && s->setup.from_calls[(i / 64) & (ZUG_NR_SYSCALLS / 64 - 1)] & 1ull << (i & 63);
}

static __always_inline bool writes_text(__s32 nr)
{
	return nr == NR_write || nr == NR_writev || nr == NR_pwrite64 || nr == NR_pwritev || nr == NR_pwritev2;
}

/* Of sendto() and sendmsg() the address and its length: ZUG_SENDTO_LENGTH. */
static __always_inline __u64 sends_to(__s32 nr, const struct call_args *args)
{
	struct { __u64 name; __u32 len, pad; } header = { .name = args->a[4], .len = args->a[5] };

	if (nr == NR_sendmsg && bpf_probe_read_user(&header, sizeof(header), (void *)args->a[1]))
		return 0;
	return header.name ? header.name | (__u64)header.len << ZUG_SENDTO_LENGTH : 0;
}

/* t->ev is all that is told of a system call of the holder. */
__noinline int tell_call(struct task_state *t, __u32 kind, const struct call_args *args)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(p);

	if (!t || !args)
		return 0;
	event_init(&t->ev, kind, p, t);
	t->mm = mm_number(LOOSE(p)->mm);
	t->ev.mm = t->mm;
	t->ev.nr = t->nr;
	t->ev.arg[0] = args->a[0];
	t->ev.arg[1] = args->a[1];
	t->ev.arg[2] = args->a[2];
	t->ev.arg[3] = t->nr == NR_sendto || t->nr == NR_sendmsg ? sends_to(t->nr, args) : args->a[3];
	t->ev.ip = LOOSE(regs)->ip;
	call_where(t->nr, args);
	t->ev.sp = LOOSE(regs)->sp;
	t->ev.bp = LOOSE(regs)->bp;
	return 0;
}

/* A system call that is a point: the holder stops, or passes under its lease. */
__noinline int call_point(struct task_state *t, const struct call_args *args)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct zug_sandbox *s;
	int says = PLAN_STOPS;
	bool in = true;

	if (!t || !args || t->slot >= ZUG_MAX_SANDBOXES)
		return 0;
	s = &sandboxes[t->slot & (ZUG_MAX_SANDBOXES - 1)];
	tell_call(t, ZUG_EV_SYSCALL, args);
	t->ev.before_addr = t->last_lock;
	t->nr_inner = 0;
	s->nr_points++;
	reaches_point(s);
	/* what is left out is no decision, and user space names what it acts on */
	if (s->turn.own_only)
		in = left_to_library(s, t, mm_space(LOOSE(p)->mm), ZUG_CALLER_IN, 0) == ZUG_CALLER_IN;
	if (!in)
		lease_noted(t, ZUG_WHY_OTHER);
	else if (!ring_crowded(t))
		says = call_leased(t, args);
	else
		lease_noted(t, ZUG_WHY_RING);
	if (says == PLAN_PASSES)
		return 0;
	/* a label needs a look at the task: at paths, descriptors, its stack */
	if (says == PLAN_STOPS)
		call_memory(t->nr, args);
	halt(s, t);
	return 0;
}

/* It has a handler for that signal, neither SIG_DFL nor SIG_IGN. */
static __always_inline bool handles(struct task_struct *p, __u32 signal)
{
	struct sighand_struct *hand = BPF_CORE_READ(p, sighand);
	__u32 at = (signal - 1) & 63;
	__u64 handler = 0;

	if (hand)
		bpf_probe_read_kernel(&handler, sizeof(handler), (void *)hand + bpf_core_field_offset(hand->action) +
				      at * bpf_core_type_size(struct k_sigaction) +
				      bpf_core_field_offset(struct k_sigaction, sa.sa_handler));
	return handler > 1;
}

/*
 * That signal would be handled as soon as the task is back in user mode, or as soon as its library lets it: where all
 * signals are blocked that is what the library does while it forks.
 */
static __always_inline bool would_handle(struct task_struct *p, int signal)
{
	const __u64 blocked = p->blocked.sig[0], never = SIGKILL_BIT | 1ull << (19 - 1) /* SIGSTOP */;

	return handles(p, signal) && (!(blocked >> (signal - 1) & 1) || !~(blocked | ZUG_LIBRARY_SIGNALS | never));
}

/* The signal that another process may send because of that call, which is over, and that is handled here; 0: none. */
static __always_inline int signal_behind(struct task_struct *p, const struct task_state *t, __s32 nr, __s64 ret)
{
	if (ret > 0)
		return makes_process(nr, t->args[0]) && would_handle(p, SIGCHLD_) ? SIGCHLD_ : 0;
	if (ret || (nr != NR_kill && nr != NR_rt_sigqueueinfo && nr != NR_pidfd_send_signal) || !t->args[1])
		return 0;
	return would_handle(p, 10) ? 10 /* SIGUSR1 */ : would_handle(p, 12) ? 12 /* SIGUSR2 */ :
	       would_handle(p, 34) ? 34 /* SIGRTMIN */ : would_handle(p, 15) ? 15 /* SIGTERM */ :
	       would_handle(p, 1) ? 1 /* SIGHUP */ : would_handle(p, 2) ? 2 /* SIGINT */ : 0;
}

/* A prototype stops there: from the next call on a debugger follows it. */
static __always_inline bool halts_behind(struct zug_sandbox *s, struct task_struct *p, struct task_state *t)
{
	if (!s->setup.halt_behind || s->nr_calls < s->setup.halt_behind || t->id != s->holder || t->flags & TF_STOP ||
	    !stops_at_exit)
		return false;
	s->setup.halt_behind = 0;
	event_init(&t->ev, ZUG_EV_FRESH, p, t);
	t->ev.arg[0] = 1;
	stop_here(t);
	return true;
}

/*
 * A process has made another one, or has sent a signal, and goes on. The other one may end before that, or answer by a signal,
 * and the handler comes here: at the next system call it would be too late, for a task stands in the kernel there. What has
 * waited for its child, as after vfork(), has gone on at a point of its own.
 */
static __always_inline void call_over(struct zug_sandbox *s, struct task_struct *p, struct task_state *t, __s32 nr, __s64 ret)
{
	const struct call_args args = { .a = { t->args[0] } };
	int signal;

	note_opened(s, p, t, ret);
	if (halts_behind(s, p, t))
		return;
	if (t->id != s->holder || t->flags & (TF_STOP | TF_SLEPT) || !controlled(t, s) ||
	    !(s->setup.syscall_points & ZUG_SYS_SIGNAL))
		return;
	signal = signal_behind(p, t, nr, ret);
	if (!signal || quiet_pass(s))
		return;
	tell_call(t, ZUG_EV_BEHIND, &args);
	/* should user space be asked: its stack */
	call_memory(nr, &args);
	t->ev.arg[0] = signal;
	stop_at_signal(s, t, signal);
}

/* Before the search begins: a call of the only task, up to the first before which executions may part (template.bpf.h). */
static __noinline void count_call(struct zug_sandbox *s, __s32 nr, const struct call_args *args)
{
	const __u64 *a = args->a;

	s->nr_calls++;
	if (nr == NR_set_tid_address)
		s->tid_address = a[0];
	if (nr == NR_set_robust_list) {
		s->robust_list = a[0];
		s->robust_len = a[1];
	}
	if (!zug_stays_inside(nr, a) && !zug_only_reads(nr, a))
		s->moment = s->nr_calls;
}

/* A handler, neither SIG_DFL nor SIG_IGN, is about to be set. */
static __always_inline bool sets_handler(__s32 nr, __u64 action)
{
	__u64 handler = 0;

	return nr == NR_rt_sigaction && action && !bpf_probe_read_user(&handler, sizeof(handler), (void *)action) &&
	       handler > 1;
}

#define SA_ABOUT_CHILDREN	3	/* SA_NOCLDSTOP, SA_NOCLDWAIT */

/* ILL, TRAP, ABRT, BUS, FPE, SEGV, PIPE, STKFLT, XCPU, XFSZ, VTALRM, PROF, SYS: what its own steps bring upon a process. */
#define OWN_SIGNALS	(1ull << 3 | 1ull << 4 | 1ull << 5 | 1ull << 6 | 1ull << 7 | 1ull << 10 | 1ull << 12 | 1ull << 15 | \
			 1ull << 23 | 1ull << 24 | 1ull << 25 | 1ull << 26 | 1ull << 30)

/*
 * False for a call that asks how a signal is dealt with, sets what is set, or is about a signal that comes of the process's own
 * steps: of a process that has had one task only, nothing depends on when that is. Programs do it for all signals before they
 * execute another one, and bash in each process that it makes.
 */
static __always_inline bool changes_action(struct task_struct *p, const __u64 *a)
{
	const struct space *sp = mm_space(LOOSE(p)->mm);
	__u64 wanted[2] = {}, old[2] = {};	/* sa_handler, sa_flags */
	__u64 sighand = (__u64)BPF_CORE_READ(p, sighand);

	if (!sp || sp->mates || a[0] < 1 || a[0] > 64)
		return true;
	if (!a[1] || OWN_SIGNALS >> (a[0] - 1) & 1)
		return false;
	return bpf_probe_read_user(wanted, sizeof(wanted), (void *)a[1]) ||
	       bpf_probe_read_kernel(old, sizeof(old), (void *)(sighand + bpf_core_field_offset(struct sighand_struct, action) +
								(a[0] - 1) * bpf_core_type_size(struct k_sigaction))) ||
	       wanted[0] > 1 || old[0] != wanted[0] || (old[1] ^ wanted[1]) & SA_ABOUT_CHILDREN;
}

/* The task is stopped for user space alone, which prepares it, and goes on. */
static __always_inline void stop_fresh(struct task_struct *p, struct task_state *t)
{
	event_init(&t->ev, ZUG_EV_FRESH, p, t);
	t->flags &= ~TF_FRESH;
	stop_here(t);
}

/* Keeps what the call is and how it may wait, for who looks at the task while it is in the kernel. */
static __always_inline void call_noted(struct task_struct *p, struct task_state *t, __s32 nr, const struct call_args *args,
				       struct pt_regs *regs, __u64 ip)
{
	const __u64 *a = args->a;

	if (nr == NR_restart_syscall) {
		t->flags &= ~TF_YIELD;
	} else {
		t->flags &= ~(TF_TIMED | TF_ENDLESS | TF_INSTANT | TF_LOOKS | TF_YIELD | TF_FIFO | TF_INSIDE | TF_SLEPT |
			      TF_REPEATS);
		wait_begins(nr, args);
	}
	if (nr == NR_futex && (a[5] == ZUG_NOTE || inside_primitive(t, ip, LOOSE(regs)->sp)))
		t->flags |= TF_INSIDE;
}

/*
 * Before the search has begun: sees whether it begins with this call, and stops at a text that it may begin with.
 * True: the task stops. *begins: it does begin, here.
 */
static __always_inline bool quiet_call(struct zug_sandbox *s, struct task_state *t, __s32 nr, const struct call_args *args,
				       bool *begins)
{
	*begins = begins_with(s, nr) && s->quiet == ZUG_QUIET_NEAR;
	if (*begins) {
		s->quiet = ZUG_QUIET_NOT;
		return false;
	}
	if (!s->setup.tell_output || !writes_text(nr))
		return false;
	tell_call(t, ZUG_EV_OUTPUT, args);
	call_memory(nr, args);
	if ((t->ev.obj.mode & 0170000) != 0100000 /* S_IFREG */ && (t->ev.obj.mode & 0170000) != 0010000 /* S_IFIFO */)
		return false;
	stop(s, t, NULL, true);
	return true;
}

/* A call of no class that has points may still end the process, or set a timer of the virtual clock. */
static __always_inline void call_of_no_class(struct zug_sandbox *s, struct task_struct *p, struct task_state *t, __s32 nr,
					     const struct call_args *args)
{
	if (nr == NR_exit_group && (args->a[0] & 0xff)) {
		event_init(&t->ev, ZUG_EV_FATAL, p, t);
		t->ev.nr = 0;
		t->ev.arg[0] = args->a[0] & 0xff;
		stop_here(t);
	} else if (sets_timer(nr) && s->setup.virtual_time) {
		tell_call(t, ZUG_EV_SYNC, args);
		call_memory(nr, args);
		timer_force(t, nr);
		stop_here(t);
	} else {
		sync_paths(p, t);
	}
}

/*
 * It wakes who waits for the interpreter's own lock: part of what within_interpreter() passes. Whether the primitive is known by
 * then depends on what was a point before.
 */
static __always_inline bool wakes_interpreter(const struct space *sp, const __u64 *a)
{
	return sp && (a[1] & ZUG_FUTEX_CMD) == ZUG_FUTEX_WAKE && a[0] >= sp->data && a[0] < sp->data_end;
}

/* A call of a class that has points, which yet is none: it changes nothing, or a primitive or the loader makes it. */
static __always_inline bool is_no_point(struct zug_sandbox *s, struct task_struct *p, struct task_state *t, __s32 nr,
					const struct call_args *args, struct pt_regs *regs, __u64 ip)
{
	const struct space *sp = mm_space(LOOSE(p)->mm);
	const __u64 *a = args->a;

	if (nr == NR_rt_sigaction && !changes_action(p, a))
		return true;
	if (nr == NR_rt_sigprocmask && !has_pending_signal(p) && !newly_blocked(p, args))
		return true;
	if ((nr == NR_futex && within_primitive(t, a[0]) && !may_be_interrupted(s, t)) ||
	    (nr == NR_futex && wakes_interpreter(sp, a)) ||
	    (syscalls[nr].some && !is_some(nr, a) && !changes_process(s, p, nr, a[1])) ||
	    in_loader(sp, ip))
		return true;
	return primitive_of(t)->reads && inside_primitive(t, ip, LOOSE(regs)->sp);
}

static __always_inline int call_begins(struct task_struct *p, struct task_state *t, __s32 nr, const struct call_args *args)
{
	struct zug_sandbox *s;
	const __u64 *a = args->a;
	struct pt_regs *regs;
	bool begins = false;
	__u64 ip;

	if (sets_handler(nr, a[1]))
		mm_note(LOOSE(p)->mm, false, true);
	if (!(s = sandbox_of(t)) || t->run != s->run || (t->flags & TF_PRE))
		return 0;
	/* also of those that run freely to their end */
	if (s->env_used != ZUG_ENV_ALL) {
		int used = environment_use(nr, args);

		if (used)
			__sync_fetch_and_or(&s->env_used, used);
	}
	if (!member(t, s))
		return 0;
	if (s->quiet && s->next_id == 2 && !s->moment)
		count_call(s, nr, args);
	t->nr = nr;
	if (nr == NR_rt_sigreturn && t->handlers) {
		t->handlers--;
		if (t->id == s->holder)
			emit(s, ZUG_EV_RETURNS, 0, p, t, 0, 0);
	}
	t->args[0] = a[0];
	t->args[1] = a[1];
	t->args[2] = a[2];
	t->args[3] = a[3];
	if (t->flags & TF_AGAIN) {
		/* the same call once more: its timer ran out too early */
		t->flags = (t->flags & ~TF_AGAIN) | TF_REPEATS;
		return 0;
	}
	regs = (struct pt_regs *)bpf_task_pt_regs(p);
	ip = LOOSE(regs)->ip;
	call_noted(p, t, nr, args, regs, ip);
	if (t->flags & TF_START) {
		event_init(&t->ev, ZUG_EV_START, p, t);
		t->ev.state = own_pid(p);
		stop_here(t);
		return 0;
	}
	if ((t->flags & TF_FRESH) && t->id == s->holder) {
		stop_fresh(p, t);
		return 0;
	}
	if (s->quiet && t->id == s->holder && quiet_call(s, t, nr, args, &begins))
		return 0;
	if (nr == NR_prctl && a[0] == ZUG_NOTE)
		return note(s, p, t, args);
	if (nr == NR_sched_yield) {
		t->flags |= TF_YIELD;
		return 0;
	}
	/* before the sleep, which takes no time of the test's */
	if ((t->flags & TF_INSTANT) && is_sleep(nr) && t->id == s->holder) {
		yield_here(t);
		return 0;
	}
	if (t->id != s->holder || nr < 0 || nr >= ZUG_NR_SYSCALLS)
		return 0;
	if (nr == NR_exit)
		plan_reads_last(p, t);
	if (!(syscalls[nr].class & s->setup.syscall_points) && !copies_threads(s, p, nr, a[0]) &&
	    !changes_process(s, p, nr, a[1])) {
		call_of_no_class(s, p, t, nr, args);
		return 0;
	}
	if (is_no_point(s, p, t, nr, args, regs, ip) || quiet_pass(s))
		return 0;
	if (s->setup.syscall_points & ZUG_SYS_NOT_INSTALLED && !begins && asks_distribution(nr, args))
		return 0;
	if (s->setup.syscall_points & ZUG_SYS_SEEN_ONLY && !begins && acts_unseen(nr, args))
		return 0;
	return call_point(t, args);
}

static __always_inline int enters_call(struct task_struct *p, struct task_state *t, __s32 nr, const struct call_args *args)
{
	struct zug_sandbox *s = sandbox_of(t);
	bool quiet = s && s->quiet && s->turn.looks_out;
	int ret = call_begins(p, t, nr, args);

	/* the search has begun, and the task stops for nothing else */
	if (quiet && !s->quiet && t->id == s->holder && !(t->flags & TF_STOP))
		stop_fresh(p, t);
	return ret;
}

/* The kernel has room for what perf would want to know, and fills it, at each call of each task of the machine. */
SEC("tp/raw_syscalls/sys_enter")
int zug_sys_enter(struct trace_event_raw_sys_enter *ctx)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct task_state *t = state_of_current(p);
	struct call_args args = {};

	if (!t)
		return 0;
	bpf_probe_read_kernel(args.a, 48, (void *)ctx->args);
	return enters_call(p, t, ctx->id, &args);
}

/* The same without that, where the kernel lets it run with preemption off: before Linux 7.0. */
SEC("tp_btf/sys_enter")
int BPF_PROG(zug_sys_enter_raw, struct pt_regs *regs, long id)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct task_state *t = state_of_current(p);
	struct call_args args = {};

	if (!t)
		return 0;
	args.a[0] = regs->di;
	args.a[1] = regs->si;
	args.a[2] = regs->dx;
	args.a[3] = regs->r10;
	args.a[4] = regs->r8;
	args.a[5] = regs->r9;
	return enters_call(p, t, id, &args);
}

/* The path has been looked up: what it waits for from here on is the other end. Until its next system call. */
SEC("fentry/fifo_open")
int BPF_PROG(zug_fifo_open)
{
	struct task_state *t = state_of(bpf_get_current_task_btf());
	struct zug_sandbox *s;

	if (t && (s = sandbox_of(t)) && member(t, s))
		t->flags |= TF_FIFO;
	return 0;
}

#endif
