/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * state.bpf.h - maps, per-task state and event output, shared by the BPF parts
 */
#ifndef ZUG_STATE_BPF_H
#define ZUG_STATE_BPF_H

#define PF_EXITING_		0x00000004
#define CLONE_VM_		0x00000100
#define CLONE_VFORK_		0x00004000
#define CLONE_THREAD_		0x00010000
#define TASK_INTERRUPTIBLE_	0x00000001
#define TASK_UNINTERRUPTIBLE_	0x00000002
#define TASK_STOPPED_		0x00000004
#define TASK_TRACED_		0x00000008
#define TASK_DEAD_		0x00000080
#define AF_UNIX_		1
#define AF_INET_		2
#define AF_INET6_		10
#define AF_INET_		2
#define AF_INET6_		10
#define SIGNAL_GROUP_EXIT_	0x00000004
#define SIGNAL_UNKILLABLE_	0x00000040	/* the first process of a PID namespace */
#define SIGKILL_BIT		(1ull << (9 - 1))
#define VM_EXEC_		0x00000004ul
#define VM_SHARED_		0x00000008ul

#define ZUG_SLICE_INF		((__u64)-1)
#define ZUG_DSQ(slot)		((__u64)(slot) + 1)	/* where tasks of a sandbox are parked */

const volatile __u32 zug_abi_version = ZUG_ABI_VERSION;

/*
 * Mapped by user space, which writes watches (while nothing is under control), leases (while no task has the turn),
 * known_files, sleeps, nr_slots, rounds, planted, searches and owners; the rest is written here.
 */
struct zug_sandbox sandboxes[ZUG_MAX_SANDBOXES];
struct zug_watch watches[ZUG_MAX_SANDBOXES][ZUG_MAX_WATCHES];
struct zug_lease leases[ZUG_MAX_SANDBOXES];
struct zug_call call_memories[ZUG_MAX_SANDBOXES];
struct zug_path call_paths[ZUG_MAX_SANDBOXES];
struct zug_known_file known_files[ZUG_MAX_SANDBOXES][ZUG_KNOWN_FILES];
struct zug_installed installed;
__u32 paths_ahead[ZUG_MAX_SANDBOXES];	/* the holder has passed calls with paths since it got the turn */
volatile __u32 sleeps[ZUG_MAX_SANDBOXES];	/* who reads the events of the sandbox waits in epoll: wake it up */
volatile __u32 nr_slots;	/* only sandboxes below that are in use */
/*
 * The sandboxes that were last begun on each CPU, a bit for each: a CPU that asks for a task looks at its own. Of a machine
 * with more CPUs several share a line.
 */
#define LANE_LINES	1024	/* a power of two */
#define SLOT_WORDS	(ZUG_MAX_SANDBOXES / 64)
static __u64 lane_slots[LANE_LINES][SLOT_WORDS];
volatile __u32 mm_counter;
/* The probes that a search has planted are a round; it gives them up, and plants others in another one. */
volatile __u32 last_round;	/* modulo ZUG_COOKIE_ROUNDS */
volatile __u32 rounds[ZUG_MAX_SANDBOXES];	/* that of the search whose first sandbox this is */
volatile __u8 live_rounds[ZUG_COOKIE_ROUNDS];	/* true while its probes count */
volatile __u8 planted[ZUG_MAX_SANDBOXES];	/* that search has files or places in modules or site_index */
__u8 counts_hits[ZUG_MAX_SANDBOXES];	/* one of its tasks has put something into hit_counts */
__u32 searches[ZUG_MAX_SANDBOXES];	/* which search the sandbox belongs to: its first one */
/* Which search has these numbers of sites and modules: its first sandbox plus 1; 0: none. */
__u16 site_owners[ZUG_MAX_SITES / ZUG_SITE_CHUNK];
__u16 module_owners[ZUG_MAX_MODULES / ZUG_MODULE_CHUNK];
volatile __u64 nameless_counter;
volatile __u64 exit_kind;	/* why the scheduler was unloaded; 0 while it is loaded */
volatile __s64 exit_code;
char exit_reason[128];
char exit_message[256];

/*
 * To read pointers through a pointer of the kernel's: for each that is read through a trusted one the verifier searches all
 * types of the kernel by name, three times, on each path to it. That was a third of the time of loading. And BPF_CORE_READ()
 * calls the kernel for each pointer on the way: where every point comes by, it takes longer than what is done with it.
 */
#define LOOSE(p)		bpf_core_cast(p, typeof(*(p)))

#define SIGCHLD_		17

/* Six are passed; the rest is so that an index can be kept in bounds by a mask. */
struct call_args {
	__u64 a[8];
};

enum task_flags {
	TF_PRE = 1 << 0,	/* adopted, not executed anything yet: not controlled */
	TF_START = 1 << 1,	/* exec'd: control begins at the next system call */
	TF_STOP = 1 << 2,	/* must stop now: ev says why */
	TF_IO = 1 << 3,		/* holds the turn in an uninterruptible wait */
	TF_VFORK = 1 << 4,	/* is about to wait for a vfork child */
	TF_YIELD = 1 << 5,	/* in sched_yield() */
	TF_DYING = 1 << 6,	/* runs freely to its death */
	TF_BLIP = 1 << 7,	/* dispatched for the watchdog only */
	TF_RAN = 1 << 8,	/* has run at all */
	TF_TIMED = 1 << 9,	/* the system call it is in has a time-out */
	TF_TRACED = 1 << 10,	/* holds the turn while a debugger has stopped it */
	TF_REWROTE = 1 << 11,	/* the time-out in its memory is not the program's own */
	TF_FRESH = 1 << 12,	/* has executed a program, or mapped one: user space wants a look before its next system call */
	TF_AGAIN = 1 << 13,	/* its next system call is a repetition: no point, no new time-out */
	TF_TAKEN = 1 << 14,	/* user space takes it out of its wait: its stop for that gives the turn up */
	TF_STEP = 1 << 15,	/* before a probed instruction that accesses watched memory: stops after it, too */
	TF_FIFO = 1 << 16,	/* opens a FIFO: waits until its other end is opened */
	TF_DYING_WAIT = 1 << 17,	/* sleeps while it dies, and is counted in dying_waits */
	TF_ENDLESS = 1 << 18,	/* TF_TIMED, and the kernel waits for ever: the socket's time-out is kept here */
	TF_INSTANT = 1 << 19,	/* the wait of its system call has no length: the turn stays meanwhile */
	TF_LOOKS = 1 << 21,	/* its poll() has no time to wait: it yields when nothing is ready */
	TF_INSIDE = 1 << 20,	/* the system call it is in is part of a primitive */
	TF_SLEPT = 1 << 24,	/* it has blocked in the system call that it is in */
	TF_REPEATS = 1 << 25,	/* that call is a repetition */
	TF_HAND = 1 << 26,	/* with TF_STOP: the turn goes to the next one of the plan, nobody is asked */
	TF_HANDED = 1 << 28,	/* has handed the turn on, and is about to be put into the queue (hand_ahead()) */
	TF_FORCED = 1 << 29,	/* as TF_REWROTE, but user space has written it, in memory that is not to be written */
	TF_DONE = 1 << 27,	/* its instruction with a breakpoint has changed memory already (execute_watched()) */
	TF_PROTOTYPE = 1 << 22,	/* see template.bpf.h */
	TF_TEMPLATE = 1 << 23,
};

/* A primitive that a task has called. */
struct primitive_call {
	__u64 sp;		/* where its return address lies; 0: none */
	__u64 ret, ip;		/* that address; its own */
	__u64 start, end;	/* the code of its library */
	__u64 reads;		/* it is one of ZUG_SITE_READS: no primitive */
	__u64 lock;		/* it makes an access there, as part of an operation on a lock; 0: that is not so */
};

/* The stack pointer of a primitive's own system calls lies at most so far below its return address. */
#define PRIMITIVE_STACK		16384
/* Words from the stack pointer at its system call up to the return address of syscall(): glibc's 1, musl's 12. */
#define SYSCALL_FRAME		12
/* Signal handlers within each other that are told apart. */
#define PRIMITIVE_LEVELS	4

/* Of an instruction: where its memory lies, its operands, and its result. */
struct computed {
	__u64 addr, a, b, r;
};

/* Linux 6.18: a uprobe's program may change registers. */
struct bpf_prog_aux___writes {
	bool kprobe_write_ctx;
} __attribute__((preserve_access_index));

struct task_state {
	__u32 id;
	__u32 slot;
	__u32 flags;
	__s32 nr;		/* system call it is in, -1 none */
	__u64 args[4];
	__u64 deadline;		/* of the wait, on the clock of its sandbox; 0: none, or the kernel knows it */
	__u64 time_addr;	/* where its time-out lies, if it was rewritten or could not be read */
	__u64 time_orig[2];	/* what the program had written there */
	__u64 interval;		/* of the timer that it sets */
	__u64 path;		/* its place in the tree of tasks, as a hash: equal in all executions */
	__u64 nr_random;	/* random numbers that it has had */
	__u32 nr_children;
	__u32 handlers;		/* of signals, that it is in; one that it left by longjmp() counts on */
	__u32 blip;
	__u32 mm;
	__u32 run;		/* of which execution of the sandbox */
	__u32 joins;		/* its last point was a join: the futex it waits for is part of it */
	__u32 gathers;		/* its last point was one of ZUG_ACCESS_GATHERS */
	__u32 peer;		/* its place in the plan, when it was looked for last */
	__u32 gives_buffers;	/* it has come to a call that accesses memory: the label of the system call in it may */
				/* name that */
	__u32 opens;		/* it passes an open(), and user space does not know yet to which file its path leads */
	__u32 tells_eintr;	/* its last point was a primitive with ZUG_SITE_EINTR */
	__u32 dying_round;	/* of its sandbox when it got TF_DYING_WAIT */
	__u64 tries;		/* the lock that its last point was to take, by an instruction (ZUG_ARG_OPERAND); 0: none */
	__u32 small;		/* the primitive that it last reached is a lock of Rust's: the next one may lie right */
				/* behind it */
	__u64 prim[2];		/* addresses of the primitive it last reached, and of a wait's mutex */
	__u32 nr_inner;		/* so often in a row it has passed what is no point (passes_inner()) */
	__u64 last_lock;	/* of its last point at an instruction: the lock there; 0: there was none */
	__u32 fault;		/* the call that it makes is to have that fault (zug_ctl.fault); 0: none, or it is over */
	__s32 timed_nr;		/* the call that deadline belongs to */
	__u32 looked;		/* its poll() has looked and found nothing since it last waited, or found something */
	__u32 clock_looks;	/* so often it has looked at the clock since a point; the points that there were by then */
	__u64 clock_points;
	struct zug_event ev;	/* the stop it is about to make */
	__u64 regs[32];		/* struct pt_regs as words, in a probed instruction with an operand */
	struct primitive_call inside[PRIMITIVE_LEVELS];	/* by handlers: each may have interrupted a primitive */
	__u64 rep_ip, rep_left;	/* its last point, if that repeats, and its count then */
	struct computed done;	/* with TF_DONE */
	__u64 step_addr, step_ip;	/* with TF_STEP: what the instruction accesses (0: not known), and its end */
};

/*
 * By the address of the task. Not in a storage of the task's own: a fork that fails early (RLIMIT_NPROC, or no
 * number is left on the machine) frees that of its parent, in Linux 6.18 and others: the child begins as a copy of the parent.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, ZUG_MAX_TASKS);
	__type(key, __u64);
	__type(value, struct task_state);
} tasks SEC(".maps");

/* How a task's state begins. */
static const struct task_state no_state;

/* By number, modulo the size of this: a task that has, or had, a state. */
#define MARKS			65536	/* a power of two */
static __u8 marks[MARKS];
#define MARK(p)			marks[(p)->pid & (MARKS - 1)]

struct event_ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, ZUG_RING_BYTES);
};

/* The ring of each sandbox, which user space makes: so each may have a reader of its own. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, ZUG_MAX_SANDBOXES);
	__type(key, __u32);
	__array(values, struct event_ring);
} events SEC(".maps");

static __always_inline struct task_state *state_of(struct task_struct *p)
{
	__u64 key = (__u64)p;

	return bpf_map_lookup_elem(&tasks, &key);
}

/* The same of the current task, in programs that every task of the machine comes to: nearly all of them cost one look. */
static __always_inline struct task_state *state_of_current(struct task_struct *p)
{
	return MARK(p) ? state_of(p) : NULL;
}

/* A state for a task that may have one already, of no execution that goes on. NULL: no memory. */
static __always_inline struct task_state *state_new(struct task_struct *p)
{
	__u64 key = (__u64)p;

	MARK(p) = 1;
	return bpf_map_update_elem(&tasks, &key, &no_state, BPF_ANY) ? NULL : bpf_map_lookup_elem(&tasks, &key);
}

static __always_inline void state_free(struct task_struct *p)
{
	__u64 key = (__u64)p;

	bpf_map_delete_elem(&tasks, &key);
}

static __always_inline struct zug_sandbox *sandbox_of(const struct task_state *t)
{
	__u32 slot = t->slot;

	if (slot >= ZUG_MAX_SANDBOXES)
		return NULL;
	return &sandboxes[slot];
}

static __always_inline __u32 search_of(const struct task_state *t)
{
	return searches[t->slot & (ZUG_MAX_SANDBOXES - 1)];
}

static __always_inline __u32 round_of(const struct task_state *t)
{
	return rounds[search_of(t) & (ZUG_MAX_SANDBOXES - 1)];
}

/* Data of the test is watched. */
static __always_inline bool any_watch(const struct task_state *t)
{
	return watches[t->slot & (ZUG_MAX_SANDBOXES - 1)][0].len;
}

/* Belongs to the execution that goes on in its sandbox. */
static __always_inline bool member(const struct task_state *t, const struct zug_sandbox *s)
{
	return s->state == ZUG_SB_ACTIVE && t->run == s->run;
}

/* Under control: a member that has executed its program, in a sandbox that is not being drained. */
static __always_inline bool controlled(const struct task_state *t, const struct zug_sandbox *s)
{
	return member(t, s) && !(t->flags & (TF_PRE | TF_START));
}

/*
 * Other tasks stand in the queue, or are out of it for a blip: they can go on. The kernel asks for the next task before it
 * puts the one that leaves the lane back, so the only other one may be out when the holder yields.
 */
static __always_inline bool others_queued(const struct zug_sandbox *s, __u32 slot)
{
	return s->blip || scx_bpf_dsq_nr_queued(ZUG_DSQ(slot));
}

static __always_inline void event_init(struct zug_event *e, __u32 kind, struct task_struct *p,
				       const struct task_state *t)
{
	__builtin_memset(e, 0, sizeof(*e));
	e->kind = kind;
	e->sandbox = t->slot;
	e->task = t->id;
	e->pid = p->pid;
	e->tgid = p->tgid;
	e->site = ZUG_NO_SITE;
	e->nr = -1;
	e->mm = t->mm;
}

/* The current task stops before it is back in user mode, with the event that it has. */
static __always_inline void stop_here(struct task_state *t)
{
	t->flags |= TF_STOP;
	scx_bpf_kick_cpu(bpf_get_smp_processor_id(), SCX_KICK_PREEMPT);
}

/* Or it lets others run there, as in sched_yield(). */
static __always_inline void yield_here(struct task_state *t)
{
	t->flags |= TF_YIELD;
	scx_bpf_kick_cpu(bpf_get_smp_processor_id(), SCX_KICK_PREEMPT);
}

/* User space has time for that until the next question. */
static __always_inline bool is_note(const struct zug_sandbox *s, const struct zug_event *e)
{
	if (e->flags & (ZUG_EF_LONE | ZUG_EF_LEASED))
		return true;
	/* without a holder no question may come */
	return s->holder && !(e->flags & ZUG_EF_ASK) &&
	       (e->kind == ZUG_EV_NEW || e->kind == ZUG_EV_WAKE || e->kind == ZUG_EV_EXEC || e->kind == ZUG_EV_MODULE ||
		e->kind == ZUG_EV_UNPROBED || e->kind == ZUG_EV_RETURNS);
}

static __always_inline bool is_crowded(void *ring)
{
	return bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) > ZUG_RING_BYTES / 2;
}

__noinline int event_send(struct zug_sandbox *s, const struct zug_event *e)
{
	__u64 flags = BPF_RB_NO_WAKEUP;
	void *ring;

	if (!s || !e)
		return 0;
	/* its number where it lies: there is no room for another one on the stack */
	ring = bpf_map_lookup_elem(&events, &e->sandbox);
	if (ring && sleeps[e->sandbox & (ZUG_MAX_SANDBOXES - 1)] && (!is_note(s, e) || is_crowded(ring)))
		flags = BPF_RB_FORCE_WAKEUP;
	if (!ring || bpf_ringbuf_output(ring, (void *)e, sizeof(*e), flags))
		__sync_fetch_and_add(&s->nr_lost, 1);
	return 0;
}

/* Events of tasks that do not stop must not fill the ring: beyond half of it tasks are made to stop. */
static __always_inline bool ring_crowded(const struct task_state *t)
{
	void *ring = bpf_map_lookup_elem(&events, &t->slot);

	return ring && is_crowded(ring);
}

static __always_inline void emit(struct zug_sandbox *s, __u32 kind, __u32 flags,
				 struct task_struct *p, const struct task_state *t,
				 __u64 a0, __u64 a1)
{
	struct zug_event e;

	event_init(&e, kind, p, t);
	e.flags = flags;
	e.arg[0] = a0;
	e.arg[1] = a1;
	event_send(s, &e);
}

/* What ended the lease first counts. */
static __always_inline void lease_note(struct zug_lease *l, enum zug_why why)
{
	if (!l->why)
		l->why = why;
}

/* The same of the lease of that task's sandbox. */
static __always_inline void lease_noted(const struct task_state *t, enum zug_why why)
{
	if (t->slot < ZUG_MAX_SANDBOXES)
		lease_note(&leases[t->slot], why);
}

/* The next point of the holder is for user space to see. */
static __always_inline void lease_ends(const struct task_state *t, enum zug_why why)
{
	if (t->slot >= ZUG_MAX_SANDBOXES)
		return;
	if (leases[t->slot].left)
		lease_note(&leases[t->slot], why);
	leases[t->slot].left = leases[t->slot].plan.next = 0;
}

/* The call that is to have a fault has had it, or goes on without. */
static __noinline int fault_over(struct zug_sandbox *s, struct task_struct *p, struct task_state *t, bool had)
{
	if (t->fault)
		emit(s, ZUG_EV_FAULT, 0, p, t, had, 0);
	t->fault = 0;
	return 0;
}

/* What a task calls itself: its number in its own pid namespace. */
static __always_inline __u32 own_pid(struct task_struct *p)
{
	struct pid *pid = LOOSE(p)->thread_pid;
	__u32 level = pid->level, nr = 0;

	bpf_probe_read_kernel(&nr, sizeof(nr), (void *)pid + bpf_core_field_offset(struct pid, numbers) +
			      level * sizeof(struct upid));
	return nr;
}

/* Will die without executing another instruction of its program. */
static __always_inline bool is_dying(struct task_struct *p, const struct task_state *t)
{
	return (t->flags & TF_DYING) || (p->pending.signal.sig[0] & SIGKILL_BIT);
}

#endif
