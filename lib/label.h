/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * label.h - the vocabulary shared by the search, the engine and the trace
 *
 * A label says what a task is about to do: (operation, object, flags, site).
 * It is written down *before* the operation executes, so it may be coarser
 * than what then happens: ZUG_L_WRITE and ZUG_L_RELEASE may be set without
 * need (this costs pruning, never soundness), but never be missing.
 */
#ifndef ZUG_LABEL_H
#define ZUG_LABEL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Operations. The numbers are part of the trace format: append only.
 * Names (zug_op_name()) are what a person reads and types.
 */
enum zug_op {
	ZUG_OP_NONE = 0,	/* nothing known about the operation */
	ZUG_OP_BEGIN,		/* first step of a task */
	ZUG_OP_END,		/* the task is exiting (pthread_exit and the like) */
	ZUG_OP_YIELD,		/* sched_yield and its kin */
	ZUG_OP_SPIN,		/* ran long without a point: a switch was forced */
	ZUG_OP_RESUME,		/* goes on after having been blocked in the kernel */
	ZUG_OP_EXPIRE,		/* goes on because its time-out is over */

	ZUG_OP_LOCK = 16,	/* mutex: blocks until free */
	ZUG_OP_TRYLOCK,
	ZUG_OP_TIMEDLOCK,
	ZUG_OP_UNLOCK,
	ZUG_OP_MUTEX_INIT,
	ZUG_OP_MUTEX_DESTROY,
	ZUG_OP_COND_WAIT,	/* object: the condition; object2: the mutex */
	ZUG_OP_COND_TIMEDWAIT,
	ZUG_OP_COND_SIGNAL,
	ZUG_OP_COND_BROADCAST,
	ZUG_OP_COND_INIT,
	ZUG_OP_COND_DESTROY,
	ZUG_OP_RDLOCK,
	ZUG_OP_WRLOCK,
	ZUG_OP_TRYRDLOCK,
	ZUG_OP_TRYWRLOCK,
	ZUG_OP_TIMEDRDLOCK,
	ZUG_OP_TIMEDWRLOCK,
	ZUG_OP_RWUNLOCK,
	ZUG_OP_SPIN_LOCK,
	ZUG_OP_SPIN_TRYLOCK,
	ZUG_OP_SPIN_UNLOCK,
	ZUG_OP_BARRIER_INIT,
	ZUG_OP_BARRIER_WAIT,
	ZUG_OP_BARRIER_DESTROY,
	ZUG_OP_SEM_INIT,
	ZUG_OP_SEM_OPEN,
	ZUG_OP_SEM_WAIT,
	ZUG_OP_SEM_TRYWAIT,
	ZUG_OP_SEM_TIMEDWAIT,
	ZUG_OP_SEM_POST,
	ZUG_OP_SEM_DESTROY,
	ZUG_OP_ONCE,		/* pthread_once, call_once */
	ZUG_OP_GUARD_ACQUIRE,	/* __cxa_guard_* */
	ZUG_OP_GUARD_RELEASE,
	ZUG_OP_GUARD_ABORT,
	ZUG_OP_RWLOCK_INIT,
	ZUG_OP_RWLOCK_DESTROY,
	ZUG_OP_SPIN_INIT,
	ZUG_OP_SPIN_DESTROY,
	ZUG_OP_SEM_GETVALUE,
	/* Go's channels, and sync.WaitGroup; whether a goroutine will wait is not known before */
	ZUG_OP_CHAN_SEND,
	ZUG_OP_CHAN_RECV,
	ZUG_OP_CHAN_CLOSE,
	ZUG_OP_SELECT,		/* object, object2: the channels, if it has one or two */
	ZUG_OP_GROUP_ADD,	/* Add and Done */
	ZUG_OP_GROUP_WAIT,

	ZUG_OP_CREATE = 64,	/* thread creation */
	ZUG_OP_JOIN,
	ZUG_OP_DETACH,
	ZUG_OP_FORK,
	ZUG_OP_EXEC,
	ZUG_OP_WAITPID,
	ZUG_OP_KILL,

	ZUG_OP_DATA_READ = 80,	/* plain access to a variable; ACCESS: read or write not known */
	ZUG_OP_DATA_WRITE,
	ZUG_OP_DATA_ACCESS,
	ZUG_OP_POINT,		/* a place named by the user (--point) */
	ZUG_OP_CHOICE,		/* a value chosen by the search, not a task */
	ZUG_OP_ATOMIC_LOAD,	/* plain instructions that access what LOCK or xchg accesses elsewhere */
	ZUG_OP_ATOMIC_STORE,
	ZUG_OP_ATOMIC_RMW,	/* LOCK, xchg; compare-and-swap, whether it will succeed or not */
	ZUG_OP_FENCE,
	ZUG_OP_PAUSE,		/* the processor's hint of a loop that waits: a yield */

	ZUG_OP_OPEN = 96,	/* system calls */
	ZUG_OP_CLOSE,
	ZUG_OP_READ,
	ZUG_OP_WRITE,
	ZUG_OP_UNLINK,
	ZUG_OP_RENAME,
	ZUG_OP_FLOCK,
	ZUG_OP_PIPE,
	ZUG_OP_SOCKET,
	ZUG_OP_CONNECT,
	ZUG_OP_ACCEPT,
	ZUG_OP_SEND,
	ZUG_OP_RECV,
	ZUG_OP_FUTEX_WAIT,
	ZUG_OP_FUTEX_WAKE,
	ZUG_OP_SYSCALL,		/* any other; none of them is a point */
	ZUG_OP_POLL,
	ZUG_OP_SLEEP,
	ZUG_OP_SIGNAL_WAIT,
	ZUG_OP_MKDIR,
	ZUG_OP_RMDIR,
	ZUG_OP_LINK,
	ZUG_OP_STAT,
	ZUG_OP_TRUNCATE,
	ZUG_OP_BIND,
	ZUG_OP_LISTEN,
	/* system calls that the search made fail (--faults) */
	ZUG_OP_FAIL_ENOSPC,
	ZUG_OP_FAIL_EINTR,
	ZUG_OP_FAIL_ENOMEM,
	ZUG_OP_FAIL_REFUSED,
	ZUG_OP_KILLED,		/* its process is dead when the call is over */
	ZUG_OP_SHORT_WRITE,
	/* what flows, as the search wants it (--flows); object2: how much (userspace/faults.h) */
	ZUG_OP_SHORT_READ,
	ZUG_OP_LOST,		/* a datagram */
	ZUG_OP_REORDERED,	/* a datagram: it comes after the next one */
	ZUG_OP_DELAYED,
	/* system calls that were ZUG_OP_SYSCALL once: zug_op_is() */
	ZUG_OP_SIGACTION,
	ZUG_OP_SIGPROCMASK,
	ZUG_OP_SEMOP,
	ZUG_OP_SEMCTL,
	ZUG_OP_MSGCTL,
	ZUG_OP_TIMERFD_SETTIME,
	ZUG_OP_MMAP,
	ZUG_OP_HANDLER,		/* a handler of a signal begins; object: as that of the kill */
	/* of a test that uses libzug: what operations wait for, without memory; object: the resource */
	ZUG_OP_RESOURCE_WAIT,	/* goes on after a signal */
	ZUG_OP_RESOURCE_SIGNAL,
	ZUG_OP_RESOURCE_SIGNAL_ALL,
	/* more system calls on files */
	ZUG_OP_ADD_WATCH,	/* inotify: of what is changed before nothing is told */
	ZUG_OP_MKNOD,
	ZUG_OP_CHMOD,
	/*
	 * Go's scheduler; object: the goroutine. No decisions, but what a task does for one comes after what others did
	 * for it
	 */
	ZUG_OP_GO_READY,	/* it was made or woken; or it gives way, waits or ends */
	ZUG_OP_GO_ON,		/* it is executed */
	/* Java's; object: what is entered, waited for, unparked, or the field */
	ZUG_OP_MONITOR_ENTER,
	ZUG_OP_MONITOR_WAIT,
	ZUG_OP_MONITOR_NOTIFY,
	ZUG_OP_PARK,
	ZUG_OP_UNPARK,
	ZUG_OP_FIELD_READ,	/* of what refers to something else: what that is may be changed by what follows */
	ZUG_OP_FIELD_WRITE,
	ZUG_OP_MQ_NOTIFY,	/* of a message that is there already nothing is told */
	ZUG_OP_IPC_GET,		/* semget() and its kin: looks for a key, and may create what it is to name */
	/* of what all threads of a process have in common */
	ZUG_OP_CHDIR,		/* the working folder */
	ZUG_OP_UMASK,		/* which rights new files do not have */
	ZUG_OP_DUP2,		/* a descriptor, which leads elsewhere from then on */
	ZUG_OP_EPOLL_CTL,	/* what is told of a descriptor, from then on */
	ZUG_OP_CALL,		/* Java: of a method of an object that threads share, as of java.util.concurrent; with */
				/* WRITE it may change */
	/* System V shared memory: who has it attached counts, and it is gone when it is removed and none has */
	ZUG_OP_SHMAT,
	ZUG_OP_SHMDT,
	ZUG_OP_SHMCTL,
	ZUG_OP_FCNTL,		/* of a descriptor: whether an exec closes it */
	/* a wait for a condition that the search let return at once, without a signal (--faults spurious) */
	ZUG_OP_SPURIOUS,
	ZUG_OP_PDEATHSIG,	/* prctl(PR_SET_PDEATHSIG): of a parent that has ended already no signal comes; object: as of */
				/* that one's end */
	ZUG_OP_LIST,		/* getdents(): the names that a folder has; what changes them names other objects */
	ZUG_OP_NR,		/* one more than the highest number */
};

/*
 * Object ids are hashes of what identifies the object in every schedule, or are numbered: what nothing but its use
 * identifies (on the heap, on a stack, behind a descriptor) is the nth new object of a task, counted from 0. With who uses
 * it first such an object gets another id in another schedule, and its id may be another object's.
 */
#define ZUG_OBJECT_NUMBERED	(0x4e6full << 48)

static inline uint64_t zug_object_numbered(uint32_t task, uint64_t n)
{
	return ZUG_OBJECT_NUMBERED | (uint64_t)(task & 0xfffff) << 28 | (n & 0xfffffff);
}

static inline bool zug_object_is_numbered(uint64_t object)
{
	return object >> 48 == ZUG_OBJECT_NUMBERED >> 48;
}

/* Of a numbered one. */
static inline uint32_t zug_object_task(uint64_t object)
{
	return object >> 28 & 0xfffff;
}

static inline uint64_t zug_object_nth(uint64_t object)
{
	return object & 0xfffffff;
}

/* Properties of a label */
#define ZUG_L_WRITE	(1u << 0)	/* may change its object */
#define ZUG_L_RELEASE	(1u << 1)	/* may enable tasks that are waiting for its object */
#define ZUG_L_ACQUIRE	(1u << 2)	/* may have to wait for its object */
#define ZUG_L_YIELD	(1u << 3)	/* the task says it cannot make progress now */
#define ZUG_L_TIMED	(1u << 4)	/* has a time-out */
#define ZUG_L_COARSE	(1u << 5)	/* the executed operation may differ (trylock, timed, access) */
#define ZUG_L_TIMER	(1u << 6)	/* of a step: the search lets a timer of the test fire before it */
#define ZUG_L_PART	(1u << 7)	/* object2 is a piece that object may lie in: dependent on it, but not what it */
					/* acts on */
#define ZUG_L_ENDS_ALL	(1u << 8)	/* others end with it, handle a signal, or are copied: none of theirs commutes */
					/* with it */
#define ZUG_L_LEFT_OUT	(1u << 9)	/* --only and --not leave it out: who makes it goes on, and that is no decision */
#define ZUG_L_COPIES	(1u << 10)	/* object2 is only read: what is written to object comes from there */
#define ZUG_L_FREES	(1u << 11)	/* a write that ends the life of a block of memory, which begins where object does */
#define ZUG_L_OWN	(1u << 12)	/* made by the program's own code, where other code in its file is told from that */

struct zug_label {
	uint16_t op;		/* enum zug_op */
	uint16_t flags;		/* ZUG_L_* */
	uint32_t pad;		/* 0 */
	uint64_t object;	/* canonical object id, equal in all schedules; 0: none */
	uint64_t object2;	/* a second object (the mutex of a cond_wait; rename's target; where a connect goes); 0: none */
	uint64_t site;		/* canonical id of the place in the code; 0: unknown */
};

/* A call that the search made fail, do less than it could, or return with nothing done. */
static inline bool zug_op_is_fault(unsigned int op)
{
	return (op >= ZUG_OP_FAIL_ENOSPC && op <= ZUG_OP_DELAYED) || op == ZUG_OP_SPURIOUS;
}

/*
 * A function of a library, at its entry: a task that stands there has not done it when a signal comes. (An
 * instruction with a breakpoint is executed before the signal is handled.)
 */
static inline bool zug_op_is_call(unsigned int op)
{
	return op >= ZUG_OP_LOCK && op < ZUG_OP_FORK;
}

/* The same, and it is about an object that synchronises, in memory. */
static inline bool zug_op_is_sync(unsigned int op)
{
	return op >= ZUG_OP_LOCK && op < ZUG_OP_CREATE;
}

/* A plain access to data. */
static inline bool zug_op_is_data(unsigned int op)
{
	return op == ZUG_OP_DATA_READ || op == ZUG_OP_DATA_WRITE || op == ZUG_OP_DATA_ACCESS;
}

static inline bool zug_op_is_atomic(unsigned int op)
{
	return op == ZUG_OP_ATOMIC_LOAD || op == ZUG_OP_ATOMIC_STORE || op == ZUG_OP_ATOMIC_RMW;
}

/* An access to memory that an instruction makes: of data, or an atomic one. */
static inline bool zug_op_is_access(unsigned int op)
{
	return zug_op_is_data(op) || zug_op_is_atomic(op);
}

/* A call that waits for a lock until it has it, and the lock's memory says whether it would wait. */
static inline bool zug_op_waits_for_lock(unsigned int op)
{
	return op == ZUG_OP_LOCK || op == ZUG_OP_RDLOCK || op == ZUG_OP_WRLOCK || op == ZUG_OP_SEM_WAIT ||
	       op == ZUG_OP_SPIN_LOCK;
}

/* A call that reads from, or writes to, a buffer of the program, which may be the second object of its label. */
static inline bool zug_op_has_buffer(unsigned int op)
{
	return op == ZUG_OP_READ || op == ZUG_OP_WRITE || op == ZUG_OP_RECV || op == ZUG_OP_SEND;
}

/*
 * True when a trace or a script that says 'wanted' means 'op'; those from before 'op' had a name of
 * its own are still good.
 */
static inline bool zug_op_is(unsigned int op, unsigned int wanted)
{
	return op == wanted || (wanted == ZUG_OP_SYSCALL && op >= ZUG_OP_SIGACTION && op <= ZUG_OP_MMAP);
}

/* "lock", "cond-wait", ..., "op-NUMBER" for one without a name, or "op-unknown". Static storage. */
const char *zug_op_name(unsigned int op);
/* The same of a label; "free" where that is known, and "kill-0" for a kill() that sends nothing. */
const char *zug_label_name(const struct zug_label *l);
/* The operation of that name, or -ENOENT. */
int zug_op_by_name(const char *name);
/* The flags every label of that operation has at least; 0 for an unknown one. */
unsigned int zug_op_flags(unsigned int op);

/* Two operations of different tasks commute unless this holds (over-approximate). */
static inline bool zug_label_dependent(const struct zug_label *a, const struct zug_label *b)
{
	if (!((a->flags | b->flags) & ZUG_L_WRITE))
		return false;
	return (a->object && (a->object == b->object || a->object == b->object2)) ||
	       (a->object2 && (a->object2 == b->object || a->object2 == b->object2));
}

#endif
