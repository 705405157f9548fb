/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * zug_abi.h - what the BPF programs and user space agree on
 *
 * Included on both sides. Fixed-width types, explicit padding; the sizes are
 * asserted at the end, the version is checked when the programs are loaded.
 */
#ifndef ZUG_ABI_H
#define ZUG_ABI_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif
#include "zug_abi_lease.h"
#include "zug_note.h"

#define ZUG_ABI_VERSION		46
#define ZUG_MAX_SANDBOXES	256	/* a power of two */
#define ZUG_MAX_TASKS		32768	/* of all sandboxes together */
/* The kernel's watchdog looks every 15 s, and strikes when a task has waited for 30 s. */
#define ZUG_BLIP_NS		8000000000ull
#define ZUG_BLIP_LOOK_NS	1000000000ull	/* between looks for sandboxes that are due */
#define ZUG_RING_BYTES		(8u << 20)
#define ZUG_MAX_SITES		65536
#define ZUG_MAX_MODULES		2048
/* Several searches share the numbers of sites and modules: each takes so many at a time. */
#define ZUG_SITE_CHUNK		512
#define ZUG_MODULE_CHUNK	32
#define ZUG_MAX_WATCHES		4	/* debug registers of x86-64 */
#define ZUG_NR_SYSCALLS		512	/* a power of two */
#define ZUG_NO_SITE		0xffffffffu
#define ZUG_DEV_ADDRESS		0xfffffffeu	/* zug_known_file.dev of an address of sockets, whose number is */
						/* zug_address_number() */
#define ZUG_DEV_SYSV		0xffffffffu	/* zug_where.dev of a System V IPC object: ino is its id + 1, offset */
						/* zug_syscall.sysv */
#define ZUG_INO_NONE		(1ull << 63)	/* zug_where.ino of shared memory whose file has the number 0, as the first */
						/* System V segment of a namespace has */

/* A task is known by the number its sandbox gave it: 1, 2, 3... in order of creation; 0 is no task. */

enum zug_event_kind {
	ZUG_EV_NEW = 1,		/* arg[0]: creator's id, [1]: clone flags, [2]: what it calls itself (its own namespace's */
				/* pid) */
	ZUG_EV_START,		/* first exec done, control begins (gives up the turn) */
	ZUG_EV_POINT,		/* before a probed instruction: site, ip, arg[0..3] (or [0]: operand), ret, obj */
	ZUG_EV_SYSCALL,		/* before a system call: nr, ip, sp, bp, arg[0..3], obj of its first fd. LEASED: sp is an */
				/* address in what has called it (0: it is known by ip); of an empty path obj2 is the */
				/* file, state its number of names */
	ZUG_EV_WATCH,		/* after an access to a watched variable: ip, arg[0]: address, arg[1]: index */
	ZUG_EV_YIELD,		/* sched_yield() */
	ZUG_EV_SPIN,		/* ran for spin_ns without reaching a point, or alone for lone_ns: then arg[0] is 1 */
	ZUG_EV_BLOCK,		/* not runnable any more: nr, arg[0..3], state, obj */
	ZUG_EV_WAKE,		/* runnable: arg[0]: waker's id, 0 for none of the sandbox */
	ZUG_EV_EXIT,		/* dead; arg[0]: wait status of its process so far; ip: if a fault ended it in its turn */
	ZUG_EV_EXEC,		/* new program: arg[0]: start_code, [1]: start_data, [2]: start_brk, [3]: address space; */
				/* obj: its file */
	ZUG_EV_ASK,		/* no task has the turn: decide (may also be a flag of another event) */
	ZUG_EV_MODULE,		/* a probed module is mapped: site: module; arg[0]: start, [1]: end, [2]: pgoff, [3]: */
				/* address space */
	ZUG_EV_UNPROBED,	/* executable mapping of a file without probes: obj; arg as in MODULE */
	ZUG_EV_LEAVE,		/* left the scheduling class (arg[0] = 0), the cgroup (1) or the lane (2: nothing is */
				/* under control any more) */
	ZUG_EV_UNGRANTED,	/* ran without a grant: a bug of ours */
	ZUG_EV_LENT,		/* waited uninterruptibly for long: its turn was lent to the others */
	ZUG_EV_REFUSED,		/* a system call that zugzwang does not let through: nr */
	ZUG_EV_FRESH,		/* at its first system call after an exec, an UNPROBED, or the MODULE of an interpreter */
				/* while quiet; or where that ends with zug_turn.looks_out (gives up the turn): prepare */
				/* it, and let it go on. arg[0] 1: at zug_setup.halt_behind */
	ZUG_EV_TIMER,		/* has set a timer by nr (-1: it could not); arg[0]: its id or descriptor, [1]: interval, ns, */
				/* deadline: 0 for never; timer_create: arg[1]: word holds its sigevent */
	ZUG_EV_STEPPED,		/* right after the instruction of a WATCHED point: as WATCH; arg[0] 0: its operand is not */
				/* known */
	ZUG_EV_HOT,		/* a place beyond its limit is still reached often: take its breakpoint away here; site, ip */
	ZUG_EV_FATAL,		/* a signal of its own doing (nr) will end its process (gives up the turn): no point, let */
				/* it go on; nr 0: it ends its process with status arg[0], not 0 */
	ZUG_EV_FAULT,		/* the call that ZUG_CMD_FAULT was given for: arg[0]: 1 it had the fault, 0 it did not; comes */
				/* before all that the task does after that call, also when the call blocks */
	ZUG_EV_SIGNAL,		/* before the first instruction of a handler: ip; arg[0]: the signal */
	ZUG_EV_RETURNS,		/* a handler returns */
	ZUG_EV_LOCK,		/* lock arg[0] of the lease has changed: word. Comes before the point at which that was seen */
	ZUG_EV_NOTE,		/* libzug tells what comes next (zug_note.h): arg[0]: what, [1]: object, [2]: caller, */
				/* answer, name, ip */
	ZUG_EV_OUTPUT,		/* as SYSCALL, of a write to a file or pipe (gives up the turn): with ZUG_CMD_LOUD it is */
				/* where the search begins, else no point, let it go on */
	ZUG_EV_PATH,		/* struct zug_path: of the SYSCALL that comes next and is LEASED */
	ZUG_EV_SYNC,		/* before a system call that changes what paths lead to, or sets a timer by nr (gives up */
				/* the turn): no point, let it go on */
	ZUG_EV_HAND,		/* stops at the point that comes next, which is LEASED, and task arg[0] has the turn; */
				/* arg[1]: 1 + the place in the lease of the lock before which it stops (0: none), [2]: */
				/* its address; word */
	ZUG_EV_BEHIND,		/* as SYSCALL, behind a fork() or kill() of a process that handles signal arg[0], which */
				/* may come of that */
};

/* Flags of an event */
#define ZUG_EF_ASK	(1u << 0)	/* the turn is free: a decision is due */
#define ZUG_EF_LONE	(1u << 1)	/* not stopped: no other task was runnable, or the point is left out */
#define ZUG_EF_TIMED	(1u << 3)	/* BLOCK: the wait has a time-out */
#define ZUG_EF_TIMER	(1u << 4)	/* BLOCK: an alarm or POSIX timer of the process is armed */
#define ZUG_EF_VFORK	(1u << 5)	/* BLOCK: waits for its vfork child */
#define ZUG_EF_STOPPED	(1u << 6)	/* BLOCK: stopped by a signal */
#define ZUG_EF_ROOT	(1u << 7)	/* EXIT: the last thread of its process */
#define ZUG_EF_NEW	(1u << 8)	/* WAKE: runs for the first time */
#define ZUG_EF_THREAD	(1u << 9)	/* NEW: shares its creator's thread group */
#define ZUG_EF_OBJECT	(1u << 10)	/* obj is known */
#define ZUG_EF_OBJECT2	(1u << 11)	/* obj2 is known */
#define ZUG_EF_WORDS	(1u << 12)	/* word is known */
#define ZUG_EF_WATCHED	(1u << 13)	/* POINT: the instruction may access watched memory, and a STEPPED follows */

#define ZUG_EF_HANDLER	(1u << 14)	/* POINT at an instruction with an operand: in a signal handler */
#define ZUG_EF_ENDLESS	(1u << 15)	/* BLOCK with a deadline: the kernel itself would wait for ever */
#define ZUG_EF_INSIDE	(1u << 16)	/* BLOCK: in the primitive that the task called last */
#define ZUG_EF_LEASED	(1u << 17)	/* POINT, SYSCALL: not stopped, as the holder's lease says (struct zug_lease) */
#define ZUG_EF_BEFORE	(1u << 18)	/* POINT, SYSCALL: before_addr and before are known */
#define ZUG_EF_LEFT_OUT	(1u << 19)	/* POINT: --only and --not leave it out */
#define ZUG_EF_CALLER	(1u << 20)	/* POINT that stops: whether they do user space has to find out, from what calls it */
#define ZUG_EF_CODE	(1u << 23)	/* POINT, SYSCALL that stops: whether they do user space has to find out, from */
					/* functions (struct zug_code) */
#define ZUG_EF_EXECUTES	(1u << 22)	/* POINT that stops: whether it is one user space has to find out, from what is */
					/* executed: arg[0] */
#define ZUG_EF_BEGINS	(1u << 24)	/* with LEFT_OUT: to start a thread, to load a class or the like */
#define ZUG_EF_OVER	(1u << 21)	/* BLOCK: the kernel's timer was faster. The task has not slept, and stands */
					/* behind the call */

/* Where an object lies: a file (or shared memory) and an offset, or a private address. */
struct zug_where {
	__u64 ino;	/* 0: private memory, offset is an address of that process */
	__u64 offset;	/* shared mapping: into the file; socket: its family; private memory: the address */
	__u32 dev;	/* kernel encoding: major << 20 | minor */
	__u32 mode;	/* inode mode of a file descriptor's object, 0 for memory */
};

struct zug_event {
	__u32 kind;
	__u32 flags;
	__u32 sandbox;
	__u32 task;	/* id */
	__u32 pid, tgid;
	__u32 site;	/* POINT: index of the site table, or ZUG_NO_SITE */
	__s32 nr;	/* system call number, -1 none */
	union {
		__u64 ip;
		__u64 deadline;		/* BLOCK, TIMER: on the clock of the sandbox; 0: not known, never */
	};
	union {
		__u64 ret;		/* POINT: the word on top of the stack (return address at a function's start);
					 * at a load of ZUG_SITE_WAITS how_it_stands() */
		__u64 sp;		/* SYSCALL: the stack pointer */
		__u64 answer;		/* NOTE: where the value goes */
		__u64 time_addr;	/* BLOCK: the time-out to put back, or, without a deadline, to read */
	};
	__u64 arg[4];		/* POINT with ZUG_EF_CALLER at a function: [2] and [3] are stack and frame pointer */
	__u32 state;	/* BLOCK: the kernel's task state; START, EXEC, MODULE, UNPROBED: what the task calls itself */
	__u32 mm;	/* number of the address space, changes with every exec and unmap */
	struct zug_where obj, obj2;	/* SYNC before a timer is set, and TIMER that stops behind that: in obj2.offset the time */
					/* that is in memory which only user space can write (TF_FORCED) */
	union {
		char comm[16];		/* EXEC */
		struct {
			__u64 before_addr;	/* POINT that stops, or what passes under a lease: the primitive of the */
						/* point before, if it was one */
			__u32 before[6];	/* its memory now */
		};
	};
	union {
		__u32 word[6];		/* POINT: the lock's own memory then (a wait's mutex); valid with ZUG_EF_WORDS */
		char name[ZUG_NOTE_NAME];	/* NOTE */
		__u64 stack[2];		/* POINT with ZUG_EF_CALLER at an instruction: stack and frame pointer */
		__u64 time_orig[2];	/* BLOCK: what lay at time_addr */
		__u64 bp;		/* SYSCALL: the frame pointer; of poll() and its kin word[2..3]: what obj and */
					/* obj2 are by; of rt_sigprocmask() the signals that it blocks, and that were not */
					/* blocked */
	};
};

/* What user space adds to the seconds of a timer's time for as long as the call that sets it is in the kernel: it never comes. */
#define ZUG_TIME_FORCED	(1ll << 62)

/* SYSCALL of sendto() and sendmsg(): arg[3] has the address below that bit, and its length above. */
#define ZUG_SENDTO_LENGTH	48

/* ZUG_EV_PATH: a path, or an address of sockets. As long as an event. */
#define ZUG_PATH_TEXT	168
struct zug_path {
	__u32 kind;
	__u32 flags;
	__u32 sandbox;
	__u32 task;
	__u32 len;		/* with the 0 at the end */
	__u32 pad;
	char text[ZUG_PATH_TEXT];
};

enum zug_sandbox_state {
	ZUG_SB_FREE = 0,	/* slot not in use */
	ZUG_SB_ACTIVE,
	ZUG_SB_DRAIN,		/* everything runs freely, nothing is reported */
};

enum zug_holder_io {
	ZUG_IO_NOT = 0,
	ZUG_IO_STORAGE,		/* waits uninterruptibly, or for storage */
	ZUG_IO_DYING,		/* waits for tasks that die (core dump, exec, the end of a PID namespace): they run meanwhile */
};

/* zug_sandbox.lend: a dying task waits for something that only the others can do */
#define ZUG_LEND_DYING	(~0u)

/* A path, character by character, as a number. */
#define ZUG_FOLDER_NUMBER	0xcbf29ce484222325ull
static inline __u64 zug_folder_number(__u64 number, __u8 ch)
{
	return (number ^ ch) * 0x100000001b3ull;
}

#define ZUG_LOOKUPS	16	/* a power of two */

/* What user space says about a sandbox when an execution begins (ZUG_CMD_BEGIN). */
struct zug_setup {
	__u64 cgid;		/* inode number of the cgroup */
	__u64 clock_real, clock_mono;	/* what CLOCK_REALTIME and CLOCK_MONOTONIC say at the beginning of virtual time, ns */
	__u64 files_since;	/* the machine's CLOCK_REALTIME now: file times after that are the execution's, ns */
	__u64 files_from, files_until;	/* file times from then to then are those of its environment; 0: none */
	__u64 files_done;	/* then its environment was made, the same clock; 0: it has no files of its own */
	__u64 tai_ahead;	/* of CLOCK_TAI before CLOCK_REALTIME, ns */
	__u64 seed;		/* of random numbers, with seeded */
	__u32 lane;		/* CPU */
	__u32 syscall_points;	/* bit mask of ZUG_SYS_* classes that are choice points */
	__u32 nr_cpus;		/* what sched_getaffinity() says; 0: the machine's own */
	__u32 virtual_time;	/* the test sees the clock of the sandbox, and its time-outs expire when user space says so */
	__u32 seeded;		/* the test gets random numbers of the seed instead of the machine's */
	__u32 stepped;		/* instructions at points are never executed in their place: a debugger may watch what */
				/* they access */
	__u32 quiet;		/* what zug_sandbox.quiet is at first */
	__u32 tell_output;	/* while it is: ZUG_EV_OUTPUT */
	__u32 halt_behind;	/* the task stops behind the system call of that number (zug_sandbox.nr_calls), with */
				/* FRESH; 0: none */
	__u32 blip_ms;		/* blips are so far apart; 0: ZUG_BLIP_NS */
	__u64 from_calls[ZUG_NR_SYSCALLS / 64];	/* bits: system calls that end it */
	__u64 lookups[ZUG_LOOKUPS];	/* numbers of the folders in which looking for a name is no point, with */
				/* ZUG_SYS_SEEN_ONLY */
};

/* What comes with the turn (ZUG_CMD_GRANT), and stays until the next one is granted. */
struct zug_turn {
	__u64 alarm;		/* from then on points stop also where no other task is runnable: a time-out may expire; */
				/* 0: never */
	__u64 spin_ns;		/* so long the holder may compute without a point; 0: for ever */
	__u64 lone_ns;		/* and so long where no other task is runnable; at least spin_ns */
	__u32 any_time;		/* a time-out may expire at each point that is not left out: it stops also where no other */
				/* task is runnable */
	__u32 stop_always;	/* stop at every point, also where no other task could run (replay) */
	__u32 own_only;		/* of an interpreter's task only what the program's own functions do is a point */
	__u32 looks_out;	/* breakpoints are out of processes until the search begins: the task that comes there stops */
	__u64 granted_at;	/* now, on CLOCK_MONOTONIC */
	__u64 signals;		/* bits: of these it matters when a task begins to deal with them otherwise, with */
				/* ZUG_SYS_SEEN_ONLY */
};

/* How far an execution is from where the search begins. */
enum zug_quiet {
	ZUG_QUIET_NOT,
	ZUG_QUIET_NEAR,
	ZUG_QUIET_FAR,		/* to a place with ZUG_SITE_BEHIND first */
};

/*
 * One sandbox, in memory that user space maps. Only the BPF programs write it: user space reads it, and changes it by
 * commands (enum zug_cmd).
 */
struct zug_sandbox {
	struct zug_setup setup;
	struct zug_turn turn;
	__u32 state;		/* enum zug_sandbox_state */
	__u32 next_id;
	__u32 holder;		/* the task that has the turn; 0: none */
	__u32 aux;		/* a dying task that runs meanwhile, 0 none */
	__u32 grant;		/* the task that was granted the turn, and is not dispatched yet */
	__u32 grant_pid;	/* its number in the machine */
	__u32 need_ask;		/* ask when the dying are gone */
	__u32 holder_io;	/* the holder keeps the turn in a wait: enum zug_holder_io */
	__u32 blip;		/* number of the current blip */
	__u32 run;		/* number of the execution: what is left of an earlier one is not controlled */
	__u32 may_die;		/* a task may have SIGKILL pending: look before asking */
	__u32 lend;		/* pid of the holder whose turn is to be lent, if it still waits, or ZUG_LEND_DYING; 0 none */
	__u32 dying_waits;	/* how many tasks sleep while they die: no question comes before they are dead */
	__u32 dying_round;	/* what slept in an earlier one does not count any more */
	__u32 nr_file_looks;	/* how many times of files have been given a time of the execution */
	__u32 looks;		/* at the clock, and yields, since a task blocked or ended */
	__u32 nr_idle;		/* points since a task began, ended, or began to wait for a time */
	__u32 env_used;		/* ZUG_ENV_*: parts of its environment that may not be what they were */
	__u32 template_run;	/* the execution in which its template was made; 0: it has none */
	__u32 forked;		/* this execution was forked from that */
	__u32 quiet;		/* ZUG_QUIET_*: points are passed without an event until a task comes to where the search */
				/* begins */
	__u32 nr_quiet;		/* how many were */
	/*
	 * while it is, and there is one task: its system calls, and the number of the first that does not stay inside
	 * (inside.h); 0: none
	 */
	__u32 nr_calls, moment;
	__u64 tid_address, robust_list, robust_len;	/* as it has told the kernel by these */
	__u64 io_since;		/* ns, valid while holder_io */
	__u64 dying_since;	/* ns, valid while dying_waits: when the last of them fell asleep */
	__u64 turn_since;	/* ns, when the holder last stopped or passed a point */
	__u64 blip_since;	/* ns, when the last blip began, or else the execution */
	__u64 clock;		/* virtual time: ns since the execution began */
	__u64 nr_points, nr_asks, nr_switches;
	__u64 asked_at;		/* ns, when the last question was sent */
	/*
	 * what zug_turn's times and questions come to, ns: the holder ran; from a point to its question; from a grant to
	 * the run
	 */
	__u64 ran_ns, stop_ns, grant_ns;
	__u64 stopping;		/* the holder leaves its CPU for a point */
	__u64 nr_ungranted;	/* runs without a grant: 0, or zugzwang is broken */
	__u64 nr_lost;		/* events that found no room: 0, or zugzwang is broken */
	__u64 nr_refused;	/* tasks that could not begin, because there was no room for their states (ZUG_MAX_TASKS) */
	__u64 signals_sent;	/* bits: the signals that its tasks were sent, but for KILL, and for CHLD at ends of children */
};

/*
 * What the arguments and the stack of a system call lead to, for its label: to read it from user space takes ten times as
 * long. Of the ZUG_EV_SYSCALL that came last, until its task goes on. What could not be read at once is left out.
 */
#define ZUG_CALL_STACK	2048
#define ZUG_CALL_PATH	256
struct zug_call {
	__u64 sp;
	__u64 root_mnt, root_dentry;	/* the folder that is / for the task: equal for the same one, as long as that is open */
	__u64 cwd_mnt, cwd_dentry;	/* the same of its current one */
	struct zug_where at;	/* the descriptor that an empty first path is about; ino 0: there is none */
	__u32 at_links;		/* names of that file */
	__u32 task;
	__u32 stack_len;	/* bytes at sp */
	__u32 path_len[2];	/* with the 0 at the end; 0: not known */
	__u32 pad;
	char path[2][ZUG_CALL_PATH];
	__u8 stack[ZUG_CALL_STACK];
};

/* What the sandbox's clock said when a file was looked at that was newer than all before: of ZUG_FILE_TIMES at most. */
#define ZUG_FILE_TIMES	1024
struct zug_file_look {
	__u64 machine;		/* ns since the execution began */
	__u64 clock;
};

/*
 * What lies behind descriptors and has a name in execution run, so that user space need not look at the descriptor of a task
 * that goes on. It writes them, at zug_file_place(); a later one takes the place of an earlier one.
 */
#define ZUG_KNOWN_FILES	256	/* a power of two */
struct zug_known_file {
	__u64 number;		/* zug_file_number() */
	__u32 dev;
	__u32 run;		/* 0: there is none */
	__u64 object;		/* as labels say it */
	__u32 by_path;		/* it was named where a path led to it, in some execution: so is all that comes to it so */
	__u32 opened;		/* the kernel side's own: the execution in which a task has passed an open() of it */
};
/* Of an inode, or of one of those that share it, which the offset of their zug_where tells apart. */
static inline __u64 zug_file_number(__u64 ino, __u64 offset)
{
	return ino + offset * 0x9e3779b97f4a7c15ull;
}
/* Of an address of sockets: of one with a path no more than that, and of one of the internet no more than the port counts. */
#define ZUG_ADDRESS		112	/* room for one, with zeros behind it */
static inline __u64 zug_address_number(const char *text, __u32 len)
{
	__u64 number = len, word;

	for (int i = 0; i < ZUG_ADDRESS; i += sizeof(word)) {
		__builtin_memcpy(&word, text + i, sizeof(word));
		number = zug_mix(number ^ word);
	}
	return number;
}
static inline __u32 zug_file_place(__u64 number, __u32 dev)
{
	return (__u32)(number ^ number >> 8 ^ dev) & (ZUG_KNOWN_FILES - 1);
}

/* Where the distribution lies: the folder /usr, and another path by which programs may come to it; "": there is none. */
#define ZUG_INSTALLED_PATH	64
struct zug_installed {
	__u64 ino;		/* of /usr; 0: not known */
	__u32 dev;
	char other[ZUG_INSTALLED_PATH];
	__u32 pad;
};

/* Parts of an environment that a task has used in a way that may have changed them. What is not here, kernel and user
 * space find out by looking (ZUG_CMD_ENVIRONMENT). */
#define ZUG_ENV_NET	(1u << 0)
#define ZUG_ENV_MOUNTS	(1u << 1)
#define ZUG_ENV_IPC	(1u << 2)	/* its settings */
#define ZUG_ENV_HOST	(1u << 3)
#define ZUG_ENV_FILES	(1u << 4)	/* attributes of a file or folder */
#define ZUG_ENV_ALL	0x1f

/* Classes of system calls that can be choice points */
#define ZUG_SYS_FILE	(1u << 0)
#define ZUG_SYS_IPC	(1u << 1)	/* pipes, sockets, eventfd */
#define ZUG_SYS_SIGNAL	(1u << 2)
#define ZUG_SYS_PROCESS	(1u << 3)
#define ZUG_SYS_FUTEX	(1u << 4)	/* but those within a probed primitive */
#define ZUG_SYS_ALL	(0x1f | ZUG_SYS_POLL)
#define ZUG_SYS_ALLOC	(1u << 5)	/* fork and mmap: points only where they may fail (--faults enomem) */
#define ZUG_SYS_WAIT	(1u << 6)	/* waits: points only where they may be interrupted (--faults eintr) */
#define ZUG_SYS_POLL	(1u << 7)	/* poll, select and epoll_wait */
/* no class: calls that only read what the distribution has installed are no points (distribution.bpf.h) */
#define ZUG_SYS_NOT_INSTALLED	(1u << 8)
/* nor are those whose effect no other task can see (unseen.bpf.h) */
#define ZUG_SYS_SEEN_ONLY	(1u << 9)
/* nor are the locks that a library of the distribution takes for itself in a process with one task (passes_inner()) */
#define ZUG_SYS_NO_INNER	(1u << 10)

#define ZUG_TIME_SPEC	0	/* pointer to a timespec, NULL is for ever */
#define ZUG_TIME_MS	1	/* milliseconds, negative is for ever */
#define ZUG_TIME_ALWAYS	2	/* pointer to a timespec: a sleep */
#define ZUG_TIME_VAL	3	/* pointer to a timeval, NULL is for ever */

/* A system call; all 0 for one that is of no interest. */
struct zug_syscall {
	__u8 class;	/* ZUG_SYS_*, 0: never a point */
	__u8 fd_arg;	/* 1..: which argument is a descriptor, 0 none */
	__u8 time_arg;	/* 1..: which argument holds the time-out, 0 none */
	__u8 time_kind;	/* ZUG_TIME_* */
	__u8 time_abs;	/* an absolute time of CLOCK_REALTIME */
	__u8 time_left;	/* the kernel writes back what is left of it */
	__u8 timer;	/* sets or ends a timer */
	__u8 wait_fd;	/* waits for fd_arg's object */
	__u8 io;	/* waits for nothing but storage: keeps the turn meanwhile */
	__u8 some;	/* a point only with some arguments: fcntl() that locks, lseek() that asks for the file's size, */
		/* prctl() that wants a signal when the parent ends */
	__u8 sysv;	/* its first argument is a System V id: 1 of semaphores, 2 of a queue, 3 of memory */
	__u8 sock_time;	/* a time-out of fd_arg's socket ends its wait: 1 SO_RCVTIMEO, 2 SO_SNDTIMEO */
	__u8 polls;	/* poll() and its kin: one or two descriptors that it looks at are its objects */
	__u8 path_arg, path2_arg;	/* 1..: which arguments are paths; the descriptor of the first one's folder is */
					/* the one before */
	__u8 lease;	/* enum zug_call_lease */
	__u8 object;	/* enum zug_call_object */
	__u8 writes;	/* its label says so */
	__u8 runtime;	/* the runtime of a language may make it for itself, and then it is left out (ZUG_LEASE_RUNTIME) */
	__u16 op;	/* enum zug_op of its label; 0: more than its number says that */
};

/* What the label of a system call says that it acts on. */
enum zug_call_object {
	ZUG_CALL_UNKNOWN = 0,	/* user space looks for that */
	ZUG_CALL_ANY,		/* nothing: it could do anything */
	ZUG_CALL_FILE,		/* the file that path_arg leads to */
	ZUG_CALL_FD,		/* what lies behind fd_arg */
	ZUG_CALL_POLLED,	/* what lies behind the descriptors that it polls */
	ZUG_CALL_SIGNAL,	/* a signal to its process, or the ends of its children */
	ZUG_CALL_CHILDREN,	/* the same ends, where it does not wait for one */
	ZUG_CALL_PARENT,	/* the children of its process's parent, or the signal that this is told by */
};

/* How a task with a lease goes on at a system call. */
enum zug_call_lease {
	ZUG_CALL_STOPS = 0,
	ZUG_CALL_PASSES,	/* its label follows from the event */
	ZUG_CALL_READS,		/* the same, but what has no name may be a descriptor of signals, of which user space */
				/* asks the process */
	ZUG_CALL_OPENS,		/* passes if it creates nothing: flags come behind its path */
	ZUG_CALL_ENDS,		/* passes if it is not the root command that ends, and with status 0; or that one with */
				/* zug_lease.root_ends */
	ZUG_CALL_MASKS,		/* passes unless a signal is pending by which it could let the task be ended or stopped */
	ZUG_CALL_EXECS,		/* passes in a process with one thread */
	ZUG_CALL_KILLS,		/* passes if the signal goes to the thread that sends it: its number, and the signal, are */
				/* the last arguments */
	ZUG_CALL_CONNECTS,	/* passes: the address that it names goes ahead of it, as a path does */
	ZUG_CALL_BINDS,		/* the same, unless it makes a file and paths were passed before it; where it is no */
				/* point, as MOVES */
	ZUG_CALL_MOVES,		/* no point, but it changes what paths lead to: ZUG_EV_SYNC where paths were passed before it */
};

/* Signals 32 to 34: those that C libraries keep for themselves. */
#define ZUG_LIBRARY_SIGNALS	(7ull << 31)

/*
 * True for the set at addr with which a library blocks all signals for a moment, for its own sake: a constant beside its code,
 * which makes the call at ip, or where a thread that ends is described, behind its thread pointer tls (glibc 2.41; 0:
 * not known).
 */
static inline _Bool zug_blocks_all(__u64 set, __u64 addr, __u64 ip, __u64 tls)
{
	const __u64 beside = 16ull << 20, description = 4096;

	return !~(set | ZUG_LIBRARY_SIGNALS) && (addr - ip + beside < 2 * beside || (tls && addr - tls < description));
}

/*
 * Beyond its limit a place stops at hits that are a power of two, below this number. Behind the last of those its
 * breakpoint is taken out of the process: each hit costs a sixth of a stop.
 */
#define ZUG_HOT_HITS	64

/* A probed place. Index = id of the site in events. */
#define ZUG_ARG_NONE	0	/* 1..4: first to fourth argument register */
/*
 * An instruction that the kernel side can execute in its place (execute.bpf.h): to = from, or to = to OP from. Registers are
 * indices into struct pt_regs as an array of words.
 */
enum zug_insn_op {
	ZUG_INSN_NONE = 0,	/* the processor executes it, in a single step */
	ZUG_INSN_MOVE, ZUG_INSN_ADD, ZUG_INSN_SUB, ZUG_INSN_AND, ZUG_INSN_OR, ZUG_INSN_XOR,
	ZUG_INSN_CMP, ZUG_INSN_TEST,	/* set flags only */
};
enum zug_insn_place { ZUG_INSN_REG, ZUG_INSN_MEM, ZUG_INSN_IMM, ZUG_INSN_ADDR };
#define ZUG_INSN_NO_REG		31
#define ZUG_INSN_IP		16	/* the instruction's end */
struct zug_insn {
	__u8 op;		/* enum zug_insn_op */
	__u8 len;		/* of the instruction */
	__u8 to, from;		/* enum zug_insn_place; at most one is MEM or ADDR */
	__u8 to_reg, from_reg;
	__u8 size;		/* of to: 1, 2, 4 or 8 bytes */
	__u8 from_size;		/* of from, if that is smaller: extended */
	__u8 extend_sign;	/* else with zeros */
	__u8 base, index;	/* of the memory operand: also ZUG_INSN_NO_REG, ZUG_INSN_IP */
	__u8 shift;
	__s32 disp;
	__s32 imm;		/* extended with its sign */
	__u32 pad;
};

/*
 * An instruction that is a whole operation on a lock: all else is as at a function whose first argument is the lock. Where it
 * has a length (ZUG_SITE_LEN) it is a call, and the access that the function there makes of the lock is part of it. A function
 * with a length is part of that, too, where the lock was taken: it waits.
 */
#define ZUG_ARG_OPERAND	5
#define ZUG_SMALL_LOCK	8	/* bytes of such a lock */
#define ZUG_SITE_PATH	6
#define ZUG_PATH_HERE	(-0x8000)
struct zug_site {
	__u16 op;		/* enum zug_op; 0: not a stop */
	__u8 obj_arg;		/* which argument points to the object, 0 none; ZUG_ARG_OPERAND: it is at the operand */
	__u8 obj2_arg;		/* the same of the second; of an instruction: where ZUG_SITE_SECOND leads, as base; 0: rsi */
	__u32 flags;		/* ZUG_SITE_* */
	/* ZUG_SITE_OPERAND: the object is base + (index << shift) + disp */
	__u8 base, index;	/* index into struct pt_regs as an array of words, plus 1; 0 none */
	__u8 shift;
	__u8 ip_add;		/* relative to the instruction's end, this many bytes after its begin; 0: not */
	__s32 disp;		/* with ZUG_SITE_OUTER: its library's code begins so many bytes before; 0: where its file */
				/* does */
	__u32 limit;		/* in one execution few stops after so many hits; 0: always one */
	struct zug_pass pass;
	struct zug_insn insn;
	__u32 access;		/* ZUG_ACCESS_* of its operation; its objects are those of the event */
	__u32 within;		/* the operand lies so many bytes behind the begin of another object, which counts as */
				/* well; 0: of none */
	/*
	 * ZUG_SITE_EXECUTES, zug_site_leads(): from the operand on, where the address of the next one lies, behind each
	 * (right there: ZUG_PATH_HERE); 0: no more.
	 * ZUG_SITE_PIECES: [0], if not 0, is where in the operand the address of the pieces lies, and behind that their number.
	 */
	__s16 path[ZUG_SITE_PATH];
};
/* How often a place with a limit was reached in one execution: by sandbox, because each of them has its own. */
struct zug_hits_key {
	__u32 sandbox, site;
};
struct zug_hits {
	__u32 hits, run;	/* so many in that execution */
	__u32 hits_before, run_before;	/* the same of the execution in which the template was made */
};
#define ZUG_SITE_OUTER	(1u << 0)	/* not a stop when called from its own library */
#define ZUG_SITE_CALL	(1u << 1)	/* a function's entry: not a stop when the dynamic loader calls it */
#define ZUG_SITE_JOIN	(1u << 2)	/* waits for a futex of its own */
#define ZUG_SITE_OPERAND (1u << 3)	/* the object is the instruction's memory operand; its address is arg[0] */
#define ZUG_SITE_CODE	(1u << 4)	/* an instruction, not a function: the word on the stack says nothing */
#define ZUG_SITE_ANY	(1u << 5)	/* an instruction of which it is not known whether it accesses watched memory */
#define ZUG_SITE_SECOND	(1u << 6)	/* accesses also what rsi, or the register obj2_arg, (arg[1]) leads to: obj2 */
#define ZUG_SITE_EINTR	(1u << 7)	/* a primitive that says when a signal has ended its wait */
/*
 * a primitive: what its library does until it returns is part of it; an instruction: it may be part of a call
 * (ZUG_ARG_OPERAND)
 */
#define ZUG_SITE_WHOLE	(1u << 8)
#define ZUG_SITE_REP	(1u << 9)	/* repeats with a count in rcx: one stop for all of it, though each trap is one round */
#define ZUG_SITE_FROM	(1u << 10)	/* ends zug_sandbox.quiet */
#define ZUG_SITE_ONCE	(1u << 11)	/* with ZUG_SITE_FROM: a stop only where it does that */
#define ZUG_SITE_CHOICE	(1u << 11)	/* without ZUG_SITE_FROM: a stop always, the search chooses a value there */
#define ZUG_SITE_WAITS	(1u << 12)	/* in a loop that waits for other tasks: a stop also while the sandbox is quiet */
#define ZUG_SITE_LEFT_OUT (1u << 13)	/* passed where others could run, too: --only and --not leave it out */
#define ZUG_SITE_CALLED	(1u << 14)	/* its caller says whether it is left out (struct zug_caller_key) */
/*
 * An interpreter looks there whether another thread is to execute the program. What it executes itself, an object at the end
 * of path, says whether that is a stop: as callers do (struct zug_caller_key), but for what is left out, which is no point.
 */
#define ZUG_SITE_EXECUTES (1u << 15)
#define ZUG_SITE_ALONE	(1u << 23)	/* with ZUG_SITE_EXECUTES: of what is not known yet nothing is asked where no */
					/* other could run */
#define ZUG_SITE_BEHIND	(1u << 23)	/* with ZUG_SITE_FROM, and without that: no stop, and it ends ZUG_QUIET_FAR alone */
#define ZUG_SITE_NESTS	(1u << 28)	/* a primitive of a library that stops at its own calls, but not at those that */
					/* this one makes */
#define ZUG_SITE_CASES	(1u << 30)	/* a select of Go's: the operand is its list of cases, the objects (arg[0] and */
					/* [1]) are its channels */
/*
 * The operand is an array of struct iovec, of as many as rdx says. The objects are the first two of these pieces that are not
 * empty: their addresses are arg[0] and [1], their lengths arg[2] and [3]. What rsi leads to is in ret. Where that
 * memory is not there arg[0] is 0, and arg[3] what rdx says.
 */
#define ZUG_SITE_PIECES	(1u << 31)
#define ZUG_MAX_PIECES	4	/* so many are looked at */
/*
 * With ZUG_SITE_EXECUTES (no flag is left): a function that Java's interpreter calls before it executes a bytecode. A
 * stop where that accesses an element of an array: the array's address is arg[1], the bytecode with the index << 8
 * arg[2].
 */
#define ZUG_SITE_ELEMENT (1u << 31)
#define ZUG_JAVA_LOADS	0x2e	/* iaload and seven more */
#define ZUG_JAVA_STORES	0x4f	/* iastore and seven more, in the same order */
#define ZUG_JAVA_ARRAYS	8
#define ZUG_JAVA_BYTES	5	/* baload is so many behind iaload, then comes caload */
#define ZUG_JAVA_SHORTS	7
#define ZUG_SITE_READS	(1u << 29)	/* not a stop: its library reads files of its own until it returns, and these */
					/* calls are no points */
/*
 * Of a function, without ZUG_SITE_OPERAND: Java's interpreter enters a monitor there. The methods that it executes say whether
 * that is left out (struct zug_caller_key, ZUG_JAVA_*).
 */
#define ZUG_SITE_MONITOR (1u << 16)
/* of ZUG_SITE_OPERAND, in flags: bytes that the instruction accesses (up to 64, 0: none), and its own length */
#define ZUG_SITE_SIZE(flags) ((flags) >> 16 & 127)
#define ZUG_SITE_LEN(flags) ((flags) >> 24 & 15)
#define ZUG_SITE_SHAPE(size, len) ((__u32)(size) << 16 | (__u32)(len) << 24)
/*
 * What path leads to from the operand (base and disp), as it is at that moment, goes with the event: as arg[1] of a
 * function, as arg[3] of an instruction. (No flag is left.)
 */
static inline int zug_site_leads(const struct zug_site *s)
{
	return s->path[0] && !(s->flags & (ZUG_SITE_EXECUTES | ZUG_SITE_PIECES));
}

/*
 * The cookie of a probe. The kernel takes probes out a little after they were given up, and what a probe of an earlier round
 * would do is done by one of this round.
 */
#define ZUG_COOKIE(round, what)	((__u64)(what) | (__u64)(round) << 48)
#define ZUG_COOKIE_ROUND(cookie) ((cookie) >> 48)
#define ZUG_COOKIE_ROUNDS	0x10000

/* What the cookie of an instruction that asks the processor says, which zug_answer() executes in its place. */
#define ZUG_ANSWER_RANDOM	(1u << 4)	/* rdrand, rdseed; else the time */
#define ZUG_ANSWER_CPU		(1u << 5)	/* rdtscp: rcx as well */
#define ZUG_ANSWER_LEN(how)	((how) & 15)	/* of the instruction */
#define ZUG_ANSWER_REG(how)	((how) >> 8 & 31)	/* where a random number goes: which word of struct pt_regs */
#define ZUG_ANSWER_SIZE(how)	((how) >> 13 & 15)	/* its bytes */
#define ZUG_ANSWER_SHAPE(len, reg, size) ((len) | (reg) << 8 | (size) << 13)

struct zug_site_key {
	__u64 offset;		/* in the file */
	__u32 module;
	__u32 pad;
};

/*
 * A caller of primitives, by its return address in an address space: whether --only and --not leave its points out, or
 * where its own return address lies, because its caller says that. User space tells it when it has been asked.
 */
struct zug_caller_key {
	__u32 mm;
	__u32 run;		/* of what an interpreter executes: of which execution of the sandbox; else 0 */
	__u64 addr;
};
enum { ZUG_CALLER_UNKNOWN = 0, ZUG_CALLER_IN, ZUG_CALLER_LEFT_OUT, ZUG_CALLER_ABOVE, ZUG_CALLER_NONE };
/*
 * What a method of Java's, told by its address, says of the operations in it and in what it calls. Frames of the interpreter
 * lie one behind the other: the word at a frame is the address of its caller's, and that of its method lies so far before it.
 * The key with the address ZUG_JAVA_TOLD says that user space tells of methods.
 */
enum {
	ZUG_JAVA_UNKNOWN = 0,
	ZUG_JAVA_OWN,		/* the program's */
	ZUG_JAVA_FOREIGN,	/* a library's, or where a thread begins: whatever calls it is not looked at */
	ZUG_JAVA_BEGINS,	/* it starts a thread, loads a class or the like */
	ZUG_JAVA_SELF,		/* the language's, which does it for itself, unless for what begins */
	ZUG_JAVA_CALLER,	/* the language's, which does it for its caller */
};
#define ZUG_JAVA_METHOD	24
#define ZUG_JAVA_FRAMES	32	/* so many are looked at */
#define ZUG_JAVA_TOLD	1
struct zug_caller {
	__u32 what;		/* ZUG_CALLER_*, or ZUG_JAVA_* */
	union {
		__s32 size;	/* ABOVE: its frame ends so many bytes above the stack pointer, behind the return address */
		__u32 hits;	/* IN, of what an interpreter executes: how often, in that execution */
	};
	__s32 bp_at;		/* its caller's frame pointer lies so many bytes behind that end; 0: it is still in the */
				/* register */
	__u32 by_bp;		/* above the frame pointer instead */
};

/*
 * Of a place in a file's code: what the caller of a system call is there. IN: the place itself; NONE: it cannot be told;
 * ABOVE: the place before its return address says.
 */
struct zug_step_key {
	__u64 offset;		/* in the file */
	__u32 module;
	__u32 round;		/* of its search: modules get other numbers then */
};
#define ZUG_CALLER_DEPTH 24	/* Rust's standard library, Go's and C++'s streams are about ten functions deep */

struct zug_file_key {
	__u64 ino;
	__u32 dev;		/* kernel encoding */
	__u32 search;		/* its first sandbox: two searches may use one file */
};

/*
 * How to come from an interpreter's own data to the functions that a thread executes: offsets in its structures. The innermost
 * frame of a thread leads to that of its caller; each has a code object, whose file is an object, too.
 */
struct zug_frames {
	__u16 known;		/* 0: it cannot be read */
	__u16 interpreters;	/* in its data: the first interpreter */
	__u16 threads;		/* its first thread */
	__u16 thread_next, thread_id, thread_frame;	/* id: its thread pointer */
	__u16 cframe_frame;	/* thread_frame leads there first; ZUG_FRAMES_NONE: it does not */
	__u16 code, previous;	/* of a frame */
	__u16 owner;		/* a byte: ZUG_FRAMES_OF_C says that it is a call from C; ZUG_FRAMES_NONE: it has none */
	__u16 file, name;	/* of a code object: texts */
	__u16 text_length, text_begin;	/* of a text in ASCII */
	__u16 pad;
};
#define ZUG_FRAMES_NONE	0xffff
#define ZUG_FRAMES_OF_C	3
#define ZUG_FRAMES_MOST	64	/* so many frames say it */

/*
 * What is said of a function that an interpreter executes, by the address of its code object and the sandbox: copies of a
 * template have most of them at the same places, and so have executions that begin by exec. What else lies there has another
 * name, or another file.
 */
struct zug_code_key {
	__u32 sandbox;
	__u32 pad;
	__u64 addr;
};
enum {
	ZUG_CODE_UNKNOWN = 0,
	ZUG_CODE_OWN,		/* it is the program's own */
	ZUG_CODE_LIBRARY,	/* it is the language's library */
	ZUG_CODE_BEGINS,	/* the same, and starts a thread, waits for its end, or is its begin and end */
	ZUG_CODE_RUNS,		/* the same: what a thread is for, below its begin */
};
struct zug_code {
	__u32 what;
	__u32 pad;
	__u64 file_length, file_end[2];	/* of the file's name, and the last words of it; [0]: 0 of a short one */
	__u64 name_length, name_begin;	/* the same of the function, but the first word; bytes behind its end are 0 */
};
#define ZUG_CODE_FILE_LEAST	8	/* functions of files with shorter names are not told */

struct zug_module {
	__u32 number;
	__u32 of_system;	/* it is a library of the distribution */
	/*
	 * Of an interpreter whose own locks are no points: where it has them, behind the place in memory where its file
	 * would begin; so many bytes, 0: none.
	 */
	__u64 data, data_size;
	struct zug_frames frames;
};

struct zug_watch {
	__u64 addr;		/* in the address space of programs started from exe */
	__u64 exe_ino;
	__u32 exe_dev;
	__u32 len;		/* 1, 2, 4, 8; 0: slot not in use */
};

/* The one way in: BPF_PROG_TYPE_SYSCALL program zug_ctl. */
enum zug_cmd {
	/* to a sandbox */
	ZUG_CMD_BEGIN = 1,	/* a new execution, as setup says. The slot was free, or drained. */
	ZUG_CMD_FREE,		/* the slot is not in use any more */
	ZUG_CMD_GRANT,		/* the turn is task's, whose number in the machine is pid, with turn */
	ZUG_CMD_TURN,		/* turn is now what came with the turn */
	ZUG_CMD_TAKE_BACK,	/* task, which was granted the turn and has not got it, does not get it; else -EAGAIN */
	ZUG_CMD_CLOCK,		/* the clock goes on to clock, if it is not there yet */
	ZUG_CMD_DRAIN,
	ZUG_CMD_LEND,		/* the holder, pid (or ZUG_LEND_DYING), waits uninterruptibly on another task: ask again */
	ZUG_CMD_KILLING,	/* tasks are about to be killed: ask when they are dead */
	ZUG_CMD_KILLED,		/* a task that does not have the turn has SIGKILL pending: look for it */
	ZUG_CMD_LOUD,		/* not quiet any more */
	ZUG_CMD_CAN_ANSWER,	/* whether zug_answer() can be used; else -EOPNOTSUPP */
	ZUG_CMD_ENVIRONMENT,	/* environment.fd -> the rest of it. -EOPNOTSUPP: this kernel does not tell */
	/* to a task */
	ZUG_CMD_ADOPT,		/* pid becomes a member; control begins at its next exec. Returns its id in task. */
	ZUG_CMD_RELEASE,	/* pid is no member any more, if it has not executed anything; else -EBUSY */
	ZUG_CMD_REGS,		/* pid -> regs */
	ZUG_CMD_SIGNAL,		/* signal.signal -> what pid does with it */
	ZUG_CMD_FOLDER,		/* pid -> folder: its current one */
	ZUG_CMD_FAULT,		/* the system call before which pid stands is to have fault; ZUG_EV_FAULT says whether it had */
	ZUG_CMD_AGAIN,		/* the next system call of pid is the same once more */
	ZUG_CMD_TAKE,		/* the next stop of pid by ptrace gives the turn up, as a wait does */
	ZUG_CMD_TEMPLATE,	/* pid, the only task, has the turn and is stopped by ptrace: it is a prototype */
				/* (template.bpf.h) */
	ZUG_CMD_GO,		/* pid, the child of a template, is stopped by ptrace: it has the turn, with turn, when */
				/* it goes on */
};

/* zug_ctl.fault: an errno (up to 4095), with which a hook refuses the call, if it comes to one that can; or */
#define ZUG_FAULT_SHORT	(1u << 12)	/* the call moves fewer bytes than were asked for: user space sees to that; or */
#define ZUG_FAULT_RETURN	(1u << 13)	/* of the function at whose entry it stands: it returns 0 at once */

struct zug_regs {
	__u64 regs[17];		/* in DWARF order of x86-64 */
	__u64 fsbase;		/* thread pointer */
	__u64 vectors;		/* floating point and vector registers, as a hash */
	__u64 stepped;		/* the kernel executes a probed instruction out of line: where it is in the program; 0: */
				/* it does not */
};

/* Descriptors of the caller; -1: none. */
enum zug_env_fd {
	ZUG_ENV_FD_FILES,	/* in the memory file system of the private folders */
	ZUG_ENV_FD_SHM,		/* in the one of /dev/shm */
	ZUG_ENV_FD_MNT_NS,
	ZUG_ENV_FD_IPC_NS,
	ZUG_ENV_FD_PID_NS,
	ZUG_ENV_NR_FDS
};

/* What the kernel knows of an environment; 0 for what has no descriptor. */
struct zug_environment {
	__s32 fd[ZUG_ENV_NR_FDS];
	__u32 ipc_made;		/* an IPC object was made, or exists */
	__u32 nr_pids;		/* in use */
	__u32 pad;
	__u64 files_ino, shm_ino;	/* inode number of the next new file */
	__u64 mounts;		/* a number that changes with every change of the mounts */
};

/* Bit N - 1 is signal N. All 0 for a task that is dead. */
struct zug_signal {
	__u64 pending;		/* for the task or its process */
	__u64 blocked;
	__u32 signal;
	__u32 handled;		/* it has a handler for that one */
};

/* As struct zug_call has it. */
struct zug_folder {
	__u64 mnt, dentry;
};

struct zug_ctl {
	__u32 cmd;
	__u32 sandbox;
	__u32 task;
	__u32 pid;
	__u32 fault;
	__s32 ret;		/* 0 or -errno */
	union {
		struct zug_regs regs;
		struct zug_setup setup;
		struct zug_turn turn;
		struct zug_environment environment;
		struct zug_signal signal;
		struct zug_folder folder;
		__u64 clock;
	};
};

_Static_assert(sizeof(struct zug_where) == 24, "zug_where");
_Static_assert(sizeof(struct zug_event) == 192, "zug_event");
_Static_assert(sizeof(struct zug_sandbox) == 616, "zug_sandbox");
_Static_assert(sizeof(struct zug_call) == 88 + 2 * ZUG_CALL_PATH + ZUG_CALL_STACK, "zug_call");
_Static_assert(sizeof(struct zug_path) == sizeof(struct zug_event), "zug_path");
_Static_assert(sizeof(struct zug_known_file) == 32, "zug_known_file");
_Static_assert(sizeof(struct zug_installed) == 80, "zug_installed");
_Static_assert(sizeof(struct zug_step_key) == 16, "zug_step_key");
_Static_assert(sizeof(struct zug_syscall) == 22, "zug_syscall");
_Static_assert(sizeof(struct zug_insn) == 24, "zug_insn");
_Static_assert(sizeof(struct zug_site) == 76, "zug_site");
_Static_assert(sizeof(struct zug_site_key) == 16, "zug_site_key");
_Static_assert(sizeof(struct zug_caller_key) == 16, "zug_caller_key");
_Static_assert(sizeof(struct zug_caller) == 16, "zug_caller");
_Static_assert(sizeof(struct zug_file_key) == 16, "zug_file_key");
_Static_assert(sizeof(struct zug_module) == 56, "zug_module");
_Static_assert(sizeof(struct zug_code) == 48, "zug_code");
_Static_assert(sizeof(struct zug_ctl) == 328, "zug_ctl");

#endif
