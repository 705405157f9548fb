/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * inputs.bpf.h - what a test is told instead of the truth: the time, random numbers, how many CPUs
 *
 * Memory of the test is written at two moments, with page faults off:
 *
 *  - when a call ends, over what the kernel has just written there itself, so
 *    it is present and writable;
 *  - when a timed wait begins, over its time-out, which the program has just
 *    written. Where that fails (a constant, a page never touched) the kernel's
 *    own timer runs, and user space undoes its expiry: see kworld_time.c.
 */
#ifndef ZUG_INPUTS_BPF_H
#define ZUG_INPUTS_BPF_H

#include "clock.bpf.h"
#include "file_times.bpf.h"
#include "syscalls.bpf.h"

#define FUTEX_CLOCK_REALTIME_	256

#define AT_RANDOM_		25
/* Of a call that asks for more the rest stays the kernel's. */
#define RANDOM_MAX		65536

/* Longer than any execution; also in ns it fits into the kernel's signed 64 bits. */
#define FOREVER_S		8000000000ull

/* False where the program at the ends of calls may be preempted: no task can be stopped then. */
const volatile bool stops_at_exit = true;

/* What is known of a system call. (x86-64 has less than 512.) */
static __always_inline const volatile struct zug_syscall *syscall_of(__s32 nr)
{
	__u32 i = nr;

	/* a value of its own: the verifier makes false conclusions from what nr is compared with */
	asm volatile("" : "+r"(i));
	return &syscalls[i & (ZUG_NR_SYSCALLS - 1)];
}

static __always_inline bool has_timeout(__s32 nr, const __u64 *a)
{
	const volatile struct zug_syscall *d = syscall_of(nr);
	__u64 v;
	__u32 op;

	if (nr == NR_futex) {
		op = a[1] & 0x7f;
		/* WAIT, LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI, LOCK_PI2 */
		return (op == 0 || op == 6 || op == 9 || op == 11 || op == 13) && a[3];
	}
	if (d->time_kind == ZUG_TIME_ALWAYS)
		return true;
	if (!d->time_arg)
		return false;
	v = a[(d->time_arg - 1) & 7];
	return d->time_kind == ZUG_TIME_MS ? (__s32)v >= 0 : v != 0;
}

/*
 * A wait whose time-out is relative, and that the kernel leaves to its timer even where there is no time to wait (poll()
 * and its kin only look then).
 */
static __always_inline bool waits_by_timer(__s32 nr, const __u64 *a)
{
	return nr == NR_nanosleep || (nr == NR_clock_nanosleep && !(a[1] & 1)) || nr == NR_semtimedop ||
	       (nr == NR_futex && !(a[1] & 0x7f));
}

/*
 * A sleep or wait of no length. Whether the task blocks in it or the kernel's timer is faster depends on the machine: it
 * keeps the turn, and a sleep is a yield. In a page that was not touched yet the time cannot be read when the call begins;
 * when the task blocks it can.
 */
static __always_inline bool is_instant(__s32 nr, const __u64 *a)
{
	const volatile struct zug_syscall *d = syscall_of(nr);
	struct user_time ut;
	__u32 arg = nr == NR_futex ? 4 : d->time_arg;

	return waits_by_timer(nr, a) && arg && !bpf_probe_read_user(&ut, sizeof(ut), (void *)a[(arg - 1) & 3]) &&
	       !ut.sec && !ut.frac;
}

/*
 * poll() and its kin with no time to wait, and nothing to look at: a sleep of no length. *nothing: that; else what they
 * look at may be ready.
 */
static __always_inline bool only_looks(__s32 nr, const __u64 *a, bool *nothing)
{
	const volatile struct zug_syscall *d = syscall_of(nr);
	__u64 v = a[(d->time_arg - 1) & 7];
	struct user_time ut;

	if (!(d->class & ZUG_SYS_POLL))
		return false;
	*nothing = nr == NR_poll || nr == NR_ppoll ? !a[1] :
		   nr == NR_select || nr == NR_pselect6 ? !a[1] && !a[2] && !a[3] : false;
	if (d->time_kind == ZUG_TIME_MS)
		return !(__u32)v;
	return !bpf_probe_read_user(&ut, sizeof(ut), (void *)v) && !ut.sec && !ut.frac;
}

/* Of a call with a time to wait that is over: it waits for nothing else, or has looked already. */
static __always_inline bool is_sleep(__s32 nr)
{
	return nr == NR_nanosleep || nr == NR_clock_nanosleep || (syscall_of(nr)->class & ZUG_SYS_POLL);
}

enum time_base { RELATIVE, SINCE_EPOCH, SINCE_BOOT };

/* What a time-out counts from. */
static __always_inline enum time_base timeout_base(__s32 nr, const __u64 *a)
{
	if (nr == NR_futex) {
		__u32 op = a[1] & 0x7f;

		if (op == 0)
			return RELATIVE;
		return op == 6 || (a[1] & FUTEX_CLOCK_REALTIME_) ? SINCE_EPOCH : SINCE_BOOT;
	}
	if (nr == NR_clock_nanosleep)
		return !(a[1] & 1) ? RELATIVE : a[0] == CLOCK_REALTIME_ || a[0] == CLOCK_TAI_ ? SINCE_EPOCH : SINCE_BOOT;
	if (nr == NR_futex_waitv)
		return a[4] == CLOCK_REALTIME_ ? SINCE_EPOCH : SINCE_BOOT;
	return syscall_of(nr)->time_abs ? SINCE_EPOCH : RELATIVE;
}

/*
 * A time-out that is past already, by the machine's clock: whether a task blocks for it or the kernel's timer is faster
 * depends on the machine. It keeps the turn, and a sleep is a yield.
 */
static __always_inline bool is_past(const struct zug_sandbox *s, __s32 nr, const __u64 *a)
{
	const volatile struct zug_syscall *d = syscall_of(nr);
	__u32 arg = nr == NR_futex ? 4 : d->time_arg;
	enum time_base base = timeout_base(nr, a);
	struct user_time ut;
	__u64 now;

	if (base == RELATIVE || !arg || bpf_probe_read_user(&ut, sizeof(ut), (void *)a[(arg - 1) & 7]) ||
	    (__u64)ut.sec >= FOREVER_S || (__u64)ut.frac >= NS_PER_S)
		return false;
	now = base == SINCE_BOOT ? bpf_ktime_get_ns() : bpf_ktime_get_tai_ns() - s->setup.tai_ahead;
	return ut.sec * NS_PER_S + ut.frac <= now;
}

/* Reads the time-out at addr, from which the end of the wait follows. False: it cannot be read, or has no end. */
static __always_inline bool timeout_read(struct zug_sandbox *s, struct task_state *t, __s32 nr, const __u64 *a, __u64 addr)
{
	const volatile struct zug_syscall *d = syscall_of(nr);
	struct user_time ut;
	__u64 ns, base;

	t->time_addr = addr;
	if (bpf_probe_read_user(&ut, sizeof(ut), (void *)addr))
		return false;	/* when the task has blocked it can be read */
	t->time_addr = 0;
	t->time_orig[0] = ut.sec;
	t->time_orig[1] = ut.frac;
	/* what is no time the kernel refuses; but select() takes more than 999,999 us */
	if (ut.sec < 0 || ut.frac < 0 || (__u64)ut.sec >= FOREVER_S || (d->time_kind != ZUG_TIME_VAL && ut.frac >= NS_PER_S))
		return false;
	ns = ut.sec * NS_PER_S + (d->time_kind == ZUG_TIME_VAL ? ut.frac * 1000 : ut.frac);
	switch (timeout_base(nr, a)) {
	case RELATIVE:
		base = 0;
		break;
	case SINCE_EPOCH:
		base = s->setup.clock_real;
		break;
	default:
		base = s->setup.clock_mono;
	}
	if (!base && !ns)
		return false;
	/* one that is past is left to user space, too: the kernel may block for it, or not */
	t->deadline = base && ns <= base + s->clock ? s->clock : ns - base + (base ? 0 : s->clock);
	if (!t->deadline)
		t->deadline = 1;
	return true;
}

/*
 * The sets of a select() whose time-out stays the kernel's, by the slot: where its timer is faster than the wait they are
 * cleared, and the call is to be repeated with them.
 */
#define SETS_BYTES	128
struct select_sets {
	__u8 set[3][SETS_BYTES];
	__u32 len;		/* of each */
	bool kept;
};
static struct select_sets select_sets[ZUG_MAX_SANDBOXES];

static __always_inline bool is_select(__s32 nr)
{
	return nr == NR_select || nr == NR_pselect6;
}

static __always_inline void sets_keep(const struct task_state *t, const __u64 *a)
{
	struct select_sets *k = &select_sets[t->slot & (ZUG_MAX_SANDBOXES - 1)];
	__u64 len = ((__u32)a[0] + 63ull) / 64 * 8;
	__u32 i;

	k->kept = false;
	if (len > SETS_BYTES)
		return;
	for (i = 0; i < 3; i++)
		if (a[i + 1] && bpf_probe_read_user(k->set[i], len, (void *)a[i + 1]))
			return;
	k->len = len;
	k->kept = true;
}

/* False: they were not kept. */
static __always_inline bool sets_restore(const struct task_state *t)
{
	const struct select_sets *k = &select_sets[t->slot & (ZUG_MAX_SANDBOXES - 1)];
	__u32 i, len = k->len;

	if (!k->kept || len > SETS_BYTES)
		return false;
	if (!len)
		return true;
	for (i = 0; i < 3; i++)
		if (t->args[i + 1] && write_user(t->args[i + 1], k->set[i], len))
			return false;
	return true;
}

/* A timed wait is about to begin: its end is noted, and that it never comes by itself. */
static __always_inline void timeout_begin(struct zug_sandbox *s, struct task_state *t, __s32 nr,
					  const __u64 *a)
{
	const volatile struct zug_syscall *d = syscall_of(nr);
	struct user_time never = { FOREVER_S, 0 };
	__u32 arg = nr == NR_futex ? 4 : d->time_arg;
	__u64 addr = a[(arg - 1) & 7];

	t->deadline = 0;
	t->time_addr = 0;
	t->flags &= ~TF_REWROTE;
	t->timed_nr = nr;
	if (d->time_kind == ZUG_TIME_MS) {
		if ((__s32)addr > 0)
			t->deadline = s->clock + (__u64)(__u32)addr * 1000000;
		return;
	}
	if (is_select(nr))
		sets_keep(t, a);
	if (!timeout_read(s, t, nr, a, addr))
		return;
	if (write_user(addr, &never, sizeof(never))) {
		if (!is_past(s, nr, a))
			return;
		t->flags = (t->flags & ~TF_TIMED) | TF_INSTANT;
		t->deadline = 0;
		return;
	}
	t->time_addr = addr;
	t->flags |= TF_REWROTE;
}

/*
 * The time-out of the current task's call could not be read when that began, and the kernel has read it meanwhile. False: it
 * is of no length or past, or has no end.
 */
__noinline int late_deadline(__s32 nr)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct task_state *t = state_of(p);
	struct call_args args = {};
	struct zug_sandbox *s;
	__u64 addr;

	if (!t || !(s = sandbox_of(t)))
		return 0;
	if (t->deadline || !t->time_addr)
		return 1;
	args.a[0] = t->args[0];
	args.a[1] = t->args[1];
	args.a[2] = t->args[2];
	args.a[3] = t->args[3];
	args.a[4] = BPF_CORE_READ((struct pt_regs *)bpf_task_pt_regs(p), r8);
	if (is_instant(nr, args.a) || is_past(s, nr, args.a))
		return 0;
	addr = t->time_addr;
	timeout_read(s, t, nr, args.a, addr);
	t->time_addr = addr;
	return 1;
}

/*
 * Time-outs of sockets, by the inode's number. The kernel is told that they are as long as can be (not for ever: signals
 * do then what they do to a wait that has a time-out).
 */
struct sock_timeout {
	__u64 ns;		/* 0: none */
	__u64 endless;		/* the kernel knows nothing of it */
};

struct sock_timeouts {
	struct sock_timeout rcv, snd;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, struct sock_timeouts);
} sock_timeouts SEC(".maps");

#define SOL_SOCKET_		1
#define SO_RCVTIMEO_		20
#define SO_SNDTIMEO_		21
#define SO_RCVTIMEO_NEW_	66
#define SO_SNDTIMEO_NEW_	67

/* 0: none of them; 1, 2: as zug_syscall.sock_time has it */
static __always_inline __u32 sock_time_option(__u64 level, __u64 name)
{
	if ((__u32)level != SOL_SOCKET_)
		return 0;
	return (__u32)name == SO_RCVTIMEO_ || (__u32)name == SO_RCVTIMEO_NEW_ ? 1 :
	       (__u32)name == SO_SNDTIMEO_ || (__u32)name == SO_SNDTIMEO_NEW_ ? 2 : 0;
}

/* The socket behind a descriptor and its inode's number; NULL: it is none. */
static __always_inline struct sock *fd_sock(struct task_struct *p, __u64 fd, __u64 *ino)
{
	struct file *f = fd_file(p, fd);
	struct socket *sock;

	if (!f || (BPF_CORE_READ(f, f_inode, i_mode) & 0170000) != 0140000)
		return NULL;
	*ino = BPF_CORE_READ(f, f_inode, i_ino);
	sock = BPF_CORE_READ(f, private_data);
	return BPF_CORE_READ(sock, sk);
}

/* setsockopt() is about to set one. */
static __always_inline void sock_time_begin(struct task_state *t, const __u64 *a)
{
	struct user_time ut, never = { FOREVER_S, 0 };

	t->timed_nr = -1;
	t->flags &= ~TF_REWROTE;
	if (!sock_time_option(a[1], a[2]) || (__s32)a[4] < (__s32)sizeof(ut) ||
	    bpf_probe_read_user(&ut, sizeof(ut), (void *)a[3]))
		return;
	if (ut.sec < 0 || ut.frac < 0 || ut.frac >= 1000000 || ut.sec >= FOREVER_S)
		return;
	t->timed_nr = NR_setsockopt;
	t->interval = ut.sec * NS_PER_S + ut.frac * 1000;
	t->time_addr = a[3];
	t->time_orig[0] = ut.sec;
	t->time_orig[1] = ut.frac;
	if (t->interval && !write_user(a[3], &never, sizeof(never)))
		t->flags |= TF_REWROTE;
}

static __always_inline void sock_time_end(struct task_struct *p, struct task_state *t, __s64 ret)
{
	struct sock_timeout one = { t->interval, !!(t->flags & TF_REWROTE) };
	struct sock_timeouts both = {}, *known;
	__u64 ino;

	if (t->timed_nr != NR_setsockopt)
		return;
	if (t->flags & TF_REWROTE)
		write_user(t->time_addr, t->time_orig, sizeof(t->time_orig));
	t->flags &= ~TF_REWROTE;
	t->timed_nr = -1;
	if (ret || !fd_sock(p, t->args[0], &ino))
		return;
	known = bpf_map_lookup_elem(&sock_timeouts, &ino);
	if (known)
		both = *known;
	if (sock_time_option(t->args[1], t->args[2]) == 1)
		both.rcv = one;
	else
		both.snd = one;
	bpf_map_update_elem(&sock_timeouts, &ino, &both, BPF_ANY);
}

/* getsockopt() has told what the kernel knows. */
static __always_inline void sock_time_told(struct task_struct *p, struct task_state *t)
{
	__u32 option = sock_time_option(t->args[1], t->args[2]), len = 0;
	struct sock_timeouts *known;
	__u64 ino;

	if (!option || !fd_sock(p, t->args[0], &ino) || !(known = bpf_map_lookup_elem(&sock_timeouts, &ino)) ||
	    bpf_probe_read_user(&len, sizeof(len), (void *)BPF_CORE_READ((struct pt_regs *)bpf_task_pt_regs(p), r8)) ||
	    len < sizeof(struct user_time))
		return;
	if (option == 1 ? known->rcv.endless : known->snd.endless)
		put_time(t->args[3], option == 1 ? known->rcv.ns : known->snd.ns, true);
}

/* A connection that was accepted has the time-outs of the listening socket (but an AF_UNIX one). */
static __always_inline void sock_time_inherit(struct task_struct *p, struct task_state *t, __u64 fd)
{
	struct sock_timeouts both, *known;
	struct sock *sk;
	__u64 ino;

	if (!fd_sock(p, t->args[0], &ino) || !(known = bpf_map_lookup_elem(&sock_timeouts, &ino)))
		return;
	both = *known;
	sk = fd_sock(p, fd, &ino);
	if (sk && BPF_CORE_READ(sk, __sk_common.skc_family) != AF_UNIX_)
		bpf_map_update_elem(&sock_timeouts, &ino, &both, BPF_ANY);
}

/* A call begins that may wait for a socket: notes the time-out of that. */
static __always_inline void sock_wait_begin(struct zug_sandbox *s, struct task_struct *p, struct task_state *t,
					    __u32 kind, __u64 fd)
{
	const struct sock_timeouts *known;
	struct sock_timeout one;
	struct sock *sk;
	__u64 ino;
	long timeo;

	sk = fd_sock(p, fd, &ino);
	if (!sk)
		return;
	timeo = kind == 1 ? BPF_CORE_READ(sk, sk_rcvtimeo) : BPF_CORE_READ(sk, sk_sndtimeo);
	if (timeo == (long)(~0ul >> 1))
		return;
	t->flags |= TF_TIMED;
	t->timed_nr = -1;
	t->deadline = 0;
	t->time_addr = 0;
	t->flags &= ~TF_REWROTE;
	known = s->setup.virtual_time ? bpf_map_lookup_elem(&sock_timeouts, &ino) : NULL;
	if (!known)
		return;
	one = kind == 1 ? known->rcv : known->snd;
	if (!one.ns)
		return;
	t->deadline = s->clock + one.ns;
	if (one.endless)
		t->flags |= TF_ENDLESS;
}

/* The time that a timer is set to, from memory. False: it is not to be read (then timed_nr is nr), or no time, or none (0). */
static __always_inline bool timer_read(struct zug_sandbox *s, struct task_state *t, __s32 nr, __u64 flags)
{
	bool val = nr == NR_setitimer;
	const __u64 second = val ? NS_PER_S / 1000 : NS_PER_S;
	struct user_time ut[2];
	__u64 ns;

	t->timed_nr = nr;
	t->deadline = 0;
	t->interval = 0;
	if (bpf_probe_read_user(ut, sizeof(ut), (void *)(t->time_addr - sizeof(ut[0]))))
		return false;
	ut[1].sec &= ~ZUG_TIME_FORCED;
	/* the kernel refuses what is no time */
	if (ut[0].sec < 0 || ut[1].sec < 0 || ut[0].sec >= FOREVER_S || ut[1].sec >= FOREVER_S ||
	    (__u64)ut[0].frac >= second || (__u64)ut[1].frac >= second) {
		t->timed_nr = -1;
		t->time_addr = 0;
		return false;
	}
	t->interval = ut[0].sec * NS_PER_S + (val ? ut[0].frac * 1000 : ut[0].frac);
	ns = ut[1].sec * NS_PER_S + (val ? ut[1].frac * 1000 : ut[1].frac);
	if (!ns) {
		t->time_addr = 0;
		return false;
	}
	if (val || !(flags & 1)) {
		t->deadline = s->clock + ns;
	} else {
		/* of which clock the timer is was said long ago; the two are far apart */
		__u64 base = ns > s->setup.clock_real / 2 ? s->setup.clock_real : s->setup.clock_mono;

		t->deadline = ns <= base + s->clock ? s->clock + 1 : ns - base;
	}
	t->time_orig[0] = ut[1].sec;
	t->time_orig[1] = ut[1].frac;
	return true;
}

/*
 * A timer is about to be set: user space is told when it is to fire, and the kernel that it never does. (The
 * seconds of alarm() are in a register: the kernel has its own alarm as well.)
 */
static __always_inline void timer_begin(struct zug_sandbox *s, struct task_state *t, __s32 nr,
					const __u64 *a)
{
	struct user_time never = { FOREVER_S, 0 };
	bool val = nr == NR_setitimer;

	t->timed_nr = -1;
	t->deadline = 0;
	t->interval = 0;
	t->time_addr = 0;
	t->flags &= ~TF_REWROTE;
	if (nr == NR_alarm) {
		t->timed_nr = nr;
		if (a[0])
			t->deadline = s->clock + (__u64)(__u32)a[0] * NS_PER_S;
		return;
	}
	if (nr == NR_timer_create || nr == NR_timer_delete) {
		t->timed_nr = nr;
		return;
	}
	if (val && a[0])
		return;		/* of CPU time */
	t->time_addr = (val ? a[1] : a[2]) + sizeof(never);
	if (!timer_read(s, t, nr, a[1]))
		return;
	if (!write_user(t->time_addr, &never, sizeof(never)))
		t->flags |= TF_REWROTE;
}

/*
 * The time of the timer that is about to be set lies where programs here cannot read or write, as constants do: user space can,
 * now that the task stops for it, and puts it back where it stops behind the call. t->ev is filled.
 */
static __always_inline void timer_force(struct task_state *t, __s32 nr)
{
	if (!stops_at_exit || t->timed_nr != nr || !t->time_addr || t->flags & TF_REWROTE)
		return;
	t->flags |= TF_FORCED;
	t->ev.obj2.offset = t->time_addr;
}

/* What timers are set to, on the clock of their sandbox: the kernel's own are set to later than ever, or never fire in time. */
struct timer_key {
	__u32 tgid;
	__s32 nr;	/* the call that sets it, setitimer for alarm */
	__s32 id;
};

struct timer_set {
	__u64 deadline, interval;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct timer_key);
	__type(value, struct timer_set);
} timers_set SEC(".maps");

/* The kernel has written a struct itimerval or itimerspec of that timer to addr: what is left is written anew. */
static __always_inline void timer_left(const struct zug_sandbox *s, const struct timer_key *key, __u64 addr)
{
	struct timer_set *set = addr ? bpf_map_lookup_elem(&timers_set, key) : NULL;
	__u64 left = 0;

	if (!set)
		return;
	if (set->deadline > s->clock)
		left = set->deadline - s->clock;
	else if (set->deadline && set->interval)
		left = set->interval - (s->clock - set->deadline) % set->interval;
	put_time(addr + sizeof(struct user_time), left, key->nr == NR_setitimer);
}

static __always_inline void timer_note(const struct zug_sandbox *s, struct task_struct *p, const struct task_state *t, __s32 nr)
{
	struct timer_key key = { .tgid = p->tgid, .nr = nr, .id = t->args[0] };
	struct timer_set set = { t->deadline, t->interval };

	if (nr == NR_timer_create)
		return;
	if (nr == NR_alarm) {
		key.nr = NR_setitimer;
		key.id = 0;
	} else if (nr == NR_timer_delete) {
		key.nr = NR_timer_settime;
		bpf_map_delete_elem(&timers_set, &key);
		return;
	} else {
		timer_left(s, &key, nr == NR_setitimer ? t->args[2] : t->args[3]);
	}
	bpf_map_update_elem(&timers_set, &key, &set, BPF_ANY);
}

static __always_inline void timer_end(struct zug_sandbox *s, struct task_struct *p, struct task_state *t,
				      __s32 nr, __s64 ret)
{
	bool forced = t->flags & TF_FORCED;
	__u64 addr = t->time_addr;
	struct zug_event e;

	if (t->flags & TF_REWROTE)
		write_user(t->time_addr, t->time_orig, sizeof(t->time_orig));
	t->flags &= ~(TF_REWROTE | TF_FORCED);
	if (nr != t->timed_nr || (ret < 0 && !forced))
		return;
	if (forced)
		timer_read(s, t, nr, t->args[1]);
	else if (addr && !t->deadline)
		return;		/* it could not be read */
	event_init(&e, ZUG_EV_TIMER, p, t);
	if (forced)
		e.obj2.offset = addr;
	if (ret < 0) {
		t->ev = e;
		stop_here(t);
		return;
	}
	lease_ends(t, ZUG_WHY_TIMER);
	timer_note(s, p, t, nr);
	e.nr = nr;
	e.arg[0] = t->args[0];
	e.arg[1] = t->interval;
	e.deadline = t->deadline;
	if (nr == NR_timer_create) {
		__u32 id = 0;

		bpf_probe_read_user(&id, sizeof(id), (void *)t->args[2]);
		e.arg[0] = id;
		e.arg[1] = t->args[1] != 0;
		if (t->args[1])
			bpf_probe_read_user(e.word, 20, (void *)t->args[1]);
	}
	if (forced) {
		t->ev = e;
		stop_here(t);
		return;
	}
	event_send(s, &e);
}

static __always_inline bool sets_timer(__s32 nr)
{
	return syscall_of(nr)->timer;
}

/* The call is over: what was its time-out is the program's again, or what is left of it. */
static __always_inline void timeout_end(struct zug_sandbox *s, struct task_state *t, __s32 nr, __s64 ret)
{
	const volatile struct zug_syscall *d = syscall_of(nr);
	__u64 left = t->deadline > s->clock ? t->deadline - s->clock : 0;
	__u64 rem = nr == NR_nanosleep ? t->args[1] :
		    nr == NR_clock_nanosleep && !(t->args[1] & 1) ? t->args[3] : 0;

	if (nr != t->timed_nr || !t->deadline)
		return;
	/* the kernel's own timer ran out before the task had even blocked, or it would have been sent back */
	if (!(t->flags & (TF_REWROTE | TF_TAKEN)) && !t->time_addr && t->deadline > s->clock &&
	    (!ret || ret == -110 /* ETIMEDOUT */))
		s->clock = t->deadline;
	if (t->time_addr && d->time_left)
		put_time(t->time_addr, left, d->time_kind == ZUG_TIME_VAL);
	else if (t->flags & TF_REWROTE)
		write_user(t->time_addr, t->time_orig, sizeof(t->time_orig));
	t->flags &= ~TF_REWROTE;
	if (ret && rem)
		put_time(rem, left, false);
}

/* sched_getaffinity() says --cpus many, whatever the machine has. */
static __always_inline void show_cpus(struct zug_sandbox *s, __u64 addr, __u64 len)
{
	__u32 n = s->setup.nr_cpus, i;
	__u64 word;

	bpf_for(i, 0, 16) {
		if ((__u64)(i + 1) * 8 > len)
			break;
		/* nothing but i changes from round to round, which the verifier would follow through all of them */
		word = n >= 64 * (i + 1) ? ~0ull : n > 64 * i ? (1ull << (n & 63)) - 1 : 0;
		write_user((addr + i * 8), &word, sizeof(word));
	}
}

/* The next random number of a task: of its place in the tree of tasks, and of how many it has had. */
static __always_inline __u64 random_next(const struct zug_sandbox *s, struct task_state *t)
{
	__u64 z = s->setup.seed + t->path + ++t->nr_random * 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* The kernel has just filled len bytes with randomness of its own. */
__noinline int fill_random(__u64 addr, __u64 len)
{
	struct task_state *t = state_of(bpf_get_current_task_btf());
	struct zug_sandbox *s;
	__u32 i;

	if (!t || !(s = sandbox_of(t)))
		return 0;
	bpf_for(i, 0, RANDOM_MAX / 8) {
		__u64 v;
		__u32 k;

		if (8ull * i >= len)
			break;
		v = random_next(s, t);
		if (len - 8ull * i >= 8) {
			write_user(addr + 8 * i, &v, 8);
			continue;
		}
		bpf_for(k, 0, 7) {
			__u8 byte = v >> (8 * k);

			if (8ull * i + k < len)
				write_user(addr + 8 * i + k, &byte, 1);
		}
	}
	return 0;
}

/* /dev/random or /dev/urandom */
static __always_inline bool fd_is_random(struct task_struct *p, __u64 fd)
{
	struct file *f = fd_file(p, fd);
	__u32 mode, rdev;

	if (!f)
		return false;
	mode = BPF_CORE_READ(f, f_inode, i_mode);
	rdev = BPF_CORE_READ(f, f_inode, i_rdev);
	return (mode & 0170000) == 0020000 && (rdev == (1 << 20 | 8) || rdev == (1 << 20 | 9));
}

/* What the C library makes its stack guard of, which the kernel puts on every new stack. */
static __always_inline void random_exec(struct mm_struct *mm)
{
	unsigned long auxv[2];
	__u32 i;

	bpf_for(i, 0, 28) {
		if (bpf_core_read(auxv, sizeof(auxv), &mm->saved_auxv[2 * i]) || !auxv[0])
			break;
		if (auxv[0] == AT_RANDOM_) {
			fill_random(auxv[1], 16);
			break;
		}
	}
}

/* Such a call says with ret that its time is over. */
static __always_inline bool says_over(__s32 nr, __s64 ret)
{
	switch (nr) {
	case NR_futex:
	case NR_futex_waitv:
	case NR_mq_timedsend:
	case NR_mq_timedreceive:
		return ret == -110; /* ETIMEDOUT */
	case NR_rt_sigtimedwait:
	case NR_semtimedop:
		return ret == -11; /* EAGAIN */
	default:
		return is_sleep(nr) && !ret;
	}
}

int stands_behind(__s32 nr);

/*
 * The kernel's timer, which could not be taken away, was faster than the holder's way to sleep. Whether it is depends on the
 * machine, so the task stops as if it had blocked: user space lets it look again, or its time be over.
 */
static __always_inline bool over_early(struct zug_sandbox *s, struct task_state *t, __s32 nr, __s64 ret)
{
	if (t->flags & (TF_SLEPT | TF_REPEATS | TF_REWROTE | TF_ENDLESS | TF_TAKEN) || !stops_at_exit ||
	    t->id != s->holder || nr != t->timed_nr || !says_over(nr, ret) || !late_deadline(nr) || !t->deadline)
		return false;
	return !is_select(nr) || sets_restore(t);
}

/* What the time-outs of sockets are told, and asked for. */
__noinline int socket_told(__s32 nr, __s64 ret)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct task_state *t = state_of(p);

	if (!t)
		return 0;
	if (nr == NR_setsockopt)
		sock_time_end(p, t, ret);
	else if (nr == NR_getsockopt && !ret)
		sock_time_told(p, t);
	else if (ret >= 0 && (nr == NR_accept || nr == NR_accept4))
		sock_time_inherit(p, t, ret);
	return 0;
}

static __always_inline bool reads_timer(__s32 nr)
{
	return nr == NR_getitimer || nr == NR_timer_gettime || nr == NR_timerfd_gettime;
}

/* The current task has asked how much is left of a timer. */
__noinline int timer_told(__s32 nr)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct task_state *t = state_of(p);
	struct timer_key key = { .tgid = p->tgid };
	struct zug_sandbox *s;

	if (!t || !(s = sandbox_of(t)))
		return 0;
	key.nr = nr == NR_getitimer ? NR_setitimer : nr == NR_timer_gettime ? NR_timer_settime : NR_timerfd_settime;
	key.id = t->args[0];
	timer_left(s, &key, t->args[1]);
	return 0;
}

/* A timed wait of the current task, or the setting of a timer, is over. */
__noinline int wait_ends(__s32 nr, __s64 ret)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct task_state *t = state_of(p);
	struct zug_sandbox *s;

	if (!t || !(s = sandbox_of(t)))
		return 0;
	if (sets_timer(nr))
		timer_end(s, p, t, nr, ret);
	else if ((t->flags & TF_TIMED) && over_early(s, t, nr, ret))
		stands_behind(nr);
	else if (t->flags & TF_TIMED)
		timeout_end(s, t, nr, ret);
	return 0;
}

/* The current task is about to wait with a time-out, or to set a timer. */
__noinline int wait_begins(__s32 nr, const struct call_args *args)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct task_state *t;
	struct zug_sandbox *s;
	bool nothing, timed;

	if (!args)
		return 0;
	timed = has_timeout(nr, args->a);
	/* most calls: the task's state is not looked up for them again */
	if (!timed && !sets_timer(nr) && nr != NR_setsockopt && !syscall_of(nr)->sock_time)
		return 0;
	t = state_of(p);
	if (!t || !(s = sandbox_of(t)))
		return 0;
	if (timed) {
		if (only_looks(nr, args->a, &nothing)) {
			t->flags |= nothing || !stops_at_exit ? TF_INSTANT : TF_LOOKS;
			return 0;
		}
		if (is_instant(nr, args->a) || (!s->setup.virtual_time && is_past(s, nr, args->a))) {
			t->flags |= TF_INSTANT;
			return 0;
		}
		t->flags |= TF_TIMED;
		if (s->setup.virtual_time)
			timeout_begin(s, t, nr, args->a);
	} else if (s->setup.virtual_time && sets_timer(nr)) {
		timer_begin(s, t, nr, args->a);
	} else if (s->setup.virtual_time && nr == NR_setsockopt) {
		sock_time_begin(t, args->a);
	} else {
		const volatile struct zug_syscall *d = syscall_of(nr);

		if (d->sock_time)
			sock_wait_begin(s, p, t, d->sock_time, args->a[(d->fd_arg - 1) & 7]);
	}
	return 0;
}

/* Calls that the filter of the sandbox answers in the kernel's place: they succeed, and change nothing. */
static __always_inline bool answered(__s32 nr)
{
	return nr == NR_sched_setscheduler || nr == NR_sched_setparam || nr == NR_sched_setattr || nr == NR_sched_setaffinity;
}

/* A call that the filter of the sandbox has refused, as io_uring, or answered. */
static __always_inline void refused(struct zug_sandbox *s, struct task_struct *p, struct task_state *t, __s32 nr)
{
	struct zug_event e;

	event_init(&e, ZUG_EV_REFUSED, p, t);
	e.nr = nr;
	event_send(s, &e);
}

/* calls.bpf.h */
static __always_inline void call_over(struct zug_sandbox *s, struct task_struct *p, struct task_state *t, __s32 nr, __s64 ret);

SEC("tp_btf/sys_exit")
int BPF_PROG(zug_sys_exit, struct pt_regs *regs, long ret)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct task_state *t = state_of_current(p);
	struct zug_sandbox *s;
	__s32 nr;

	if (!t || !(s = sandbox_of(t)) || !member(t, s) || (t->flags & TF_PRE))
		return 0;
	nr = regs->orig_ax;
	if (!ret && answered(nr))
		refused(s, p, t, nr);
	else if (ret >= 0)
		nameless_made(p, t, nr, ret);
	else if (nr == NR_io_uring_setup && ret == -38 /* ENOSYS */)
		refused(s, p, t, nr);
	/*
	 * It looked whether something is ready, and nothing is. The first time is no yield: a loop of events looks
	 * before it waits for the next one (libuv's does), and has got on since it did so last. A loop that looks again
	 * and again yields.
	 */
	if ((t->flags & TF_LOOKS) && !ret && t->id == s->holder) {
		if (t->looked)
			yield_here(t);
		t->looked = 1;
	} else if ((t->flags & TF_SLEPT) || (ret > 0 && syscall_of(nr)->class & ZUG_SYS_POLL)) {
		t->looked = 0;
	}
	t->flags &= ~TF_LOOKS;
	call_over(s, p, t, nr, ret);
	if (nr == NR_sched_getaffinity && s->setup.nr_cpus && ret > 0) {
		show_cpus(s, t->args[2], ret);
		return 0;
	}
	if (s->setup.seeded && ret > 0) {
		if (nr == NR_getrandom)
			fill_random(t->args[0], ret);
		else if (nr == NR_read && fd_is_random(p, t->args[0]))
			fill_random(t->args[1], ret);
	}
	if (!s->setup.virtual_time)
		return 0;
	if ((nr == NR_clock_gettime || nr == NR_gettimeofday) && !ret) {
		clock_look(s);
		if (nr == NR_gettimeofday)
			put_time(t->args[0], s->setup.clock_real + s->clock, true);
		else
			put_time(t->args[1], clock_of(s, t->args[0]), false);
		if (stops_at_exit && looks_on(s, t))
			yield_here(t);
	} else if (!ret && (nr == NR_newfstatat || nr == NR_stat || nr == NR_fstat || nr == NR_lstat ||
			    nr == NR_statx)) {
		file_times(s, p, t, nr);
	} else if (nr == NR_setsockopt || nr == NR_getsockopt || nr == NR_accept || nr == NR_accept4) {
		socket_told(nr, ret);
	} else if (!ret && reads_timer(nr)) {
		timer_told(nr);
	} else if (sets_timer(nr) || t->flags & TF_TIMED) {
		wait_ends(nr, ret);
	}
	return 0;
}

#endif
