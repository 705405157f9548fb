/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * zug_abi_lease.h - leases and plans, as the BPF programs and user space agree on them: how far tasks go on without a question
 *
 * A part of zug_abi.h, which includes it.
 */
#ifndef ZUG_ABI_LEASE_H
#define ZUG_ABI_LEASE_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

/* When a holder with a lease may pass a place: word[index] of the event, which is its lock's memory, decides. */
enum zug_pass_kind {
	ZUG_PASS_NEVER = 0,
	ZUG_PASS_ALWAYS,
	ZUG_PASS_IF,		/* (word & mask) == value */
	ZUG_PASS_UNLESS,
	ZUG_PASS_OWNER,		/* (word & mask) is the number that the task has for itself */
	ZUG_PASS_ASLEEP,	/* of a peer: it waits in the kernel, or is not there yet */
};
struct zug_pass {
	__u8 kind;
	__u8 index;
	__u8 steps;		/* that passing it is, for user space */
	__u8 plain;		/* of a lock, 1 + index of the word that is 0 where the task surely blocks if it may not */
				/* pass; 0: it always does */
	__u32 mask, value;
};
#define ZUG_PASS_KIND_MUSL	1	/* plain: of a mutex, whose kind is there */
#define ZUG_PASS_KIND_GLIBC	5
#define ZUG_PASS_UNCLEAR	7	/* plain: whether it blocks cannot be told */
#define ZUG_PASS_ALONE		1	/* plain, of NEVER: it does not end the lease of a task that is alone */

/*
 * Behind the lease of one task: who has the turn next, without a question. At each step the kernel side finds out who is
 * to make it: the holder goes on, or hands the turn to the next one. Where it cannot tell, or that task has something
 * for user space to see, it asks.
 */
#define ZUG_PLAN_PEERS		256	/* a power of two */
#define ZUG_PLAN_RUNS		256
#define ZUG_PLAN_CHANGES	4
#define ZUG_PLAN_ORDERED	64	/* a power of two */
enum zug_plan_kind {
	ZUG_PLAN_NONE = 0,
	ZUG_PLAN_STEPS,		/* runs say who makes the next steps */
	/*
	 * who is chosen where several tasks are enabled: as enum search_rule.by of search/search.h, whose generator is
	 * that of rng.h
	 */
	ZUG_PLAN_DRAWS,
	ZUG_PLAN_RANKS,
	ZUG_PLAN_CHOICES,	/* runs say who, and behind them base */
	ZUG_PLAN_PENDING,
	ZUG_PLAN_SELECTION,
	ZUG_PLAN_ORDER,
	ZUG_PLAN_TURNS,
	ZUG_PLAN_DIFFERENCES,
	ZUG_PLAN_QUOTAS,
};

/*
 * What the operation before which a task stands accesses, as access_of() of search/access.h says it of its label: so far as it
 * decides whether two of them depend on each other.
 */
#define ZUG_ACCESS_KNOWN	(1u << 0)	/* else nothing is known of it */
#define ZUG_ACCESS_WRITES	(1u << 1)
#define ZUG_ACCESS_GATHERS	(1u << 2)	/* of a site: it waits until enough tasks have come, and not for a task */
						/* that has something */
#define ZUG_ACCESS_FILE		(1u << 3)	/* an object is one that a path may lead to. Without object[0]: which one */
						/* is not known */
#define ZUG_ACCESS_ENDS		(1u << 4)	/* of a site: on a lock or condition, and it ends at once; of a lock */
						/* where pass says that it is free */
#define ZUG_ACCESS_NEW		(1u << 5)	/* an object is none of the program's own static data: user space may */
						/* give it a number at this point */
#define ZUG_ACCESS_INNER	(1u << 6)	/* of a site: on a lock, and it may be no point (ZUG_SYS_NO_INNER) */
#define ZUG_ACCESS_OWN		(1u << 7)	/* of a site: it lies in code of the program's own, or may do */
#define ZUG_OBJECT_ANY		1ull		/* it could do anything; with WRITES */
struct zug_access {
	__u64 object[2];	/* in memory: zug_object_key(), else as labels say it; 0: none. [1] is 0 when [0] is */
	__u32 how;		/* ZUG_ACCESS_* */
	__u32 marks;		/* of constraints: what it is to them */
};

/* struct search_constraint of search/search.h: what an operation on the object is to the one with that number. */
#define ZUG_CONSTRAINTS		6
#define ZUG_MARK_ACCESS(i)	(1u << (i))
#define ZUG_MARK_WRITE(i)	(1u << (8 + (i)))
#define ZUG_MARK_OBJECT(i)	(1u << (16 + (i)))	/* its first object is that */
/* In that process, code of that operation does not lie where the constraint says. */
#define ZUG_ELSEWHERE_WRITE(i)	(1u << (i))
#define ZUG_ELSEWHERE_ACCESS(i)	(1u << (8 + (i)))
struct zug_constraint {
	__u64 object;		/* as in zug_access; 0: no task has come to it yet */
	__u64 write, access;	/* where the code of these operations lies */
	__u16 write_op, access_op;
	__u8 see, wrote;
	__u8 met;
	__u8 pad;
};

/* The finaliser of splitmix64, as mix64() of search/rng.h. */
static inline __u64 zug_mix(__u64 x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

/* What a label says of a signal to a process, and of the ends of its children. process: of the search's numbers. */
static inline __u64 zug_signal_object(__u32 process, __u32 signal)
{
	return zug_mix(zug_mix(process + 1ull) ^ (0x5167ull << 32 | signal));
}
static inline __u64 zug_children_object(__u32 process)
{
	return zug_mix(zug_mix(process + 1ull) ^ 0x6368696c64ull);
}

/* An object in memory, private to that process (ino 0: its address) or shared; no other one is likely to have the same key. */
static inline __u64 zug_object_key(__u32 tgid, __u64 ino, __u32 dev, __u64 offset)
{
	return (ino ? (ino + ((__u64)dev << 32)) * 0xd1342543de82ef95ull : tgid * 0x9e3779b97f4a7c15ull) + offset;
}

/* The locks of a lease, and where one is looked for first in its index, which is at most half full. */
#define ZUG_LEASE_LOCKS		128	/* a power of two */
#define ZUG_LEASE_INDEX		(2 * ZUG_LEASE_LOCKS)
static inline __u32 zug_lock_slot(__u64 addr)
{
	return addr * 0x9e3779b97f4a7c15ull >> 32 & (ZUG_LEASE_INDEX - 1);
}

struct zug_peer {
	__u32 task, pid;	/* as with ZUG_CMD_GRANT; 0: it is not there yet, but parent's */
	__u16 parent, nth;	/* 1 + the peer that is its parent; among the children that are still to come, who come */
				/* in that order */
	__u16 lock;		/* 1 + the place of the lock that it stands before; 0: none */
	__u16 before;		/* the kernel side's own, as behind: the peers that stand before the same lock, from */
				/* zug_plan.first on */
	__u64 weight;		/* but with STEPS and CHOICES; SELECTION: what decides who is intended */
	struct zug_pass pass;	/* what that says: whether it is enabled. NEVER: it is, but its next step is for user */
				/* space to see */
	__u16 on;		/* the kernel side's own: it is in zug_plan.set */
	__u16 born;		/* the kernel side's own: children that it has created with this plan */
	struct zug_access access;	/* PENDING, SELECTION, TURNS that end with a write */
	__u64 priority;		/* SELECTION */
	__u16 held;		/* SELECTION. PENDING: ZUG_ELSEWHERE_*, of its process */
	__u16 behind;
	__u32 process;		/* the search's number of it */
	__u64 place;		/* ORDER: of the code before whose operation it stands; 0: it stands elsewhere */
	__u32 op;		/* and that; without a place enum zug_op's BEGIN (zug_plan.begins), or 0: not known */
	__u32 rounds;		/* counted down with each step of its own: see zug_plan.calm */
};
/* ORDER: a step. place 0: where it is cannot be told, unless op is BEGIN. */
struct zug_ordered {
	__u64 place;
	__u32 op;
	__u32 peer;
};
/*
 * DIFFERENCES: where the holder, that peer, has made so many steps, the next one goes on. next: not below
 * ZUG_PLAN_PEERS: unknown.
 * QUOTAS: the peer, while it has made fewer steps.
 */
struct zug_difference {
	__u64 nth;
	__u32 peer;
	__u32 next;
};
#define ZUG_CALM_ALWAYS	0xffffffffu
struct zug_plan {
	__u32 kind;		/* enum zug_plan_kind */
	__u32 nr_peers;		/* in the order of the search. But with STEPS: all tasks that there are */
	__u32 holder;		/* the peer that has the turn */
	__u32 next;		/* 1 + the one that gets it when the holder has stopped; 0: none */
	__u32 nr_runs, at;
	/* the kernel side's own: */
	__u32 counted;		/* which tasks are enabled is known: set, and how many, and their weights */
	__u32 nr_on, sum;
	__u32 top;		/* RANKS: 1 + the enabled one with the highest; 0: unknown */
	__u32 drawn, chosen;
	__u32 cursor;		/* of for_peers() */
	__u32 highest;		/* SELECTION: 1 + the one that highest() has found; 0: none */
	__u32 released;		/* SELECTION: no peer is held */
	__u32 in_memory;	/* SELECTION: object lies in the memory of a process */
	__u32 look;		/* the lock that is looked at next in turn */
	__s32 wish;
	__u64 set[ZUG_PLAN_PEERS / 64];
	__u64 best;
	__u64 draws;		/* state of the generator */
	__u32 weight_step;	/* what a task's weight loses with a step */
	__u32 weight_least;	/* the weight of one that has none. (The sum of all weights is below 2^32.) */
	__u64 lowest;		/* RANKS; with SELECTION the kernel side's own */
	__u32 choices;		/* RANKS, TURNS: made so far, */
	__u32 choices_end;	/* and as many as it holds for */
	struct {
		__u32 at, rank;
	} changes[ZUG_PLAN_CHANGES];
	__u32 base;		/* STEPS, CHOICES, PENDING: search_rule.base */
	__u32 read_last;	/* the thread whose locks were read when it was about to end */
	__u32 nr_constraints;	/* PENDING */
	__u32 marked;		/* the kernel side's own: marks of all tasks */
	struct zug_constraint constraints[ZUG_CONSTRAINTS];
	__u64 object;		/* SELECTION: search_rule.object; 0: no task has come to it yet */
	__u32 intended;		/* SELECTION: 1 + the peer; 0: none */
	__u16 born_of, born_at;	/* the kernel side's own: 1 + the peer whose child came last, and the peer behind that one */
	__u64 sp;		/* of the holder, while it stops at a system call */
	__u32 nr_order;		/* ORDER, DIFFERENCES, QUOTAS */
	__u32 owed;		/* ORDER, TURNS: as enum search_rule.by says it; at: the first step that is open */
	__u32 begins;		/* ORDER: the number of the operation BEGIN */
	__u32 unsure;		/* the kernel side's own: which steps are done is not clear, but so many are still owed */
	__u32 shares;		/* DRAWS, SELECTION: search_rule.shares */
	__u32 turn, ahead, begun;	/* TURNS: as struct search_rule has them */
	__u32 object_by;	/* SELECTION, without an object: 1 + the peer that comes to it first, if any does; 0: */
				/* none will */
	__u32 writes, wrote;	/* TURNS: as struct search_rule has them */
	/*
	 * A lease ends where user space may take a task for one that yields: behind `calm` steps, at one of a peer that has no
	 * rounds left, and at any one behind `same` steps of the same peer, `longest` of another one. CALM_ALWAYS: nowhere.
	 */
	__u32 calm, same, longest;
	union {
		struct zug_ordered order[ZUG_PLAN_ORDERED];
		struct zug_difference differences[ZUG_PLAN_ORDERED];
	};
	__u16 first[ZUG_LEASE_LOCKS];	/* the kernel side's own, while counted: 1 + a peer that stands before that lock; */
					/* 0: none does */
	struct zug_peer peers[ZUG_PLAN_PEERS];
	struct {
		__u32 peer, steps;
	} runs[ZUG_PLAN_RUNS];
};

/* Why a lease, with its plan, does not reach beyond a question. (User space counts them: enum ask_cause of lib/spent.h.) */
enum zug_why {
	ZUG_WHY_USED_UP = 0,	/* nothing but that its points are all passed */
	ZUG_WHY_TIME,		/* a time-out or a timer is over, or may end early from here on */
	ZUG_WHY_RING,		/* the ring of events is half full */
	ZUG_WHY_WATCHED,	/* watched data, or what has called is not known */
	ZUG_WHY_PLACE,		/* the place always stops: an access in two steps, an operation that may be misuse */
	ZUG_WHY_OBJECT,		/* an object of the operation, or its lock's memory, cannot be read */
	ZUG_WHY_HELD,		/* the lock is held, and there is no plan */
	ZUG_WHY_LOCK,		/* a lock before which others stand has changed, or cannot be read */
	ZUG_WHY_CALL,		/* a system call that user space has to see */
	ZUG_WHY_FILE,		/* a file or path of a call that user space has no name for, or a caller that is not known */
	ZUG_WHY_UNCLEAR,	/* it is not clear which tasks are enabled */
	ZUG_WHY_PLAN,		/* the plan knows no further step */
	ZUG_WHY_RACES,		/* it is not clear which operations depend on each other */
	ZUG_WHY_NEXT,		/* the next task does something that user space has to see */
	ZUG_WHY_BLOCKS,		/* the holder blocks, and the plan does not go on there */
	ZUG_WHY_ENDS,		/* the same, of the end of a task */
	ZUG_WHY_YIELDS,
	ZUG_WHY_WAKES,		/* a task has woken up that the plan does not know, or by something outside */
	ZUG_WHY_CREATES,	/* a process was created, or executes another program */
	ZUG_WHY_SIGNAL,
	ZUG_WHY_DIES,		/* a task that does not have the turn */
	ZUG_WHY_TIMER,		/* a timer was set */
	ZUG_WHY_OTHER,		/* an event that is no point in code and no call */
	ZUG_WHY_NR
};

/*
 * A lease: the holder passes its next points, which are logged but do not stop it, also where other tasks could run. User space
 * writes it before a grant, while no task has the turn. The kernel side counts it down. It ends the lease, and stops the
 * holder at its next point, where it cannot tell that this makes no difference; and what the holder says of other tasks'
 * locks comes with the points: their memory is looked at, at each of them.
 */
#define ZUG_LEASE_LOOKS		16	/* where there are more, not all are looked at: the one that the holder has used, */
					/* and one more in turn */
#define ZUG_LEASE_CHANGE	(1u << 0)	/* ends when one of the locks changes */
#define ZUG_LEASE_WAKE		(1u << 1)	/* ends when a task wakes up, or is created */
#define ZUG_LEASE_KNOWN		(1u << 2)	/* its points are those of a trace: where the holder is alone it yields */
						/* without stopping, and it initialises locks */
#define ZUG_LEASE_CALLS		(1u << 3)	/* also system calls */
#define ZUG_LEASE_ENDS		(1u << 4)	/* also those that end a process */
#define ZUG_LEASE_NETWORK	(1u << 5)	/* the network is the test's own */
#define ZUG_LEASE_OWN		(1u << 6)	/* ends behind a point that may be of the program's own code (ZUG_ACCESS_OWN), */
						/* and where a task is created */
#define ZUG_LEASE_STRANGE	(1u << 7)	/* code of a file that the search does not know has no place in labels */
#define ZUG_LEASE_RUNTIME	(1u << 8)	/* CALLS: but those that a runtime may make for itself (zug_syscall.runtime) */
struct zug_lease {
	__u32 left;		/* points, of all tasks of the plan */
	__u32 flags;		/* ZUG_LEASE_* */
	__u32 nr_locks;
	__u32 passes;		/* with any grant: points that are left out which the holder may pass before it stops at one */
	__u32 root;		/* CALLS: the first process of the test, */
	__u32 why;		/* enum zug_why: what ended it first; user space begins with 0 */
	__u32 root_ends;	/* the status with which that may end all the same */
	__u32 yields;		/* without a plan: it goes over so many yields, */
	__u32 yield_points;	/* and so many points behind each */
	__u32 pad;
	__u64 root_mnt, root_dentry;	/* CALLS: paths from that folder can be looked up when the task has gone on, ... */
	__u64 cwd_mnt, cwd_dentry;	/* ... and relative ones in that one */
	__u64 stops[2];		/* where the code of operations lies that always stop; 0: none */
	__u64 clock;		/* with zug_turn.any_time: no point is passed from then on, as other time-outs may expire */
	struct {
		__u64 addr;
		__u32 word[6];
	} locks[ZUG_LEASE_LOCKS];	/* in the holder's address space: what other tasks stand before */
	__u8 index[ZUG_LEASE_INDEX];	/* 1 + the place of a lock, at zug_lock_slot() or behind that; 0: none */
	struct zug_plan plan;
};

_Static_assert(sizeof(struct zug_peer) == 96, "zug_peer");
_Static_assert(sizeof(struct zug_plan) == 28368, "zug_plan");
_Static_assert(sizeof(struct zug_lease) == 32816, "zug_lease");

#endif
