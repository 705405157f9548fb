/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * label.c - names and least flags of the operations
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include "lib/label.h"

#define W	ZUG_L_WRITE
#define R	ZUG_L_RELEASE
#define A	ZUG_L_ACQUIRE
#define Y	ZUG_L_YIELD
#define T	ZUG_L_TIMED
#define C	ZUG_L_COARSE

static const struct op_info {
	const char *name;
	unsigned int flags;
} ops[ZUG_OP_NR] = {
	[ZUG_OP_NONE]		= { "none", 0 },
	[ZUG_OP_BEGIN]		= { "begin", 0 },
	[ZUG_OP_END]		= { "end", W | R },
	[ZUG_OP_YIELD]		= { "yield", Y },
	/* A forced switch says the same as a yield: the task makes no progress alone. */
	[ZUG_OP_SPIN]		= { "spin", Y },
	[ZUG_OP_RESUME]		= { "resume", 0 },
	/* The task leaves the queue of the object that it waited for. */
	[ZUG_OP_EXPIRE]		= { "expire", W | T },

	[ZUG_OP_LOCK]		= { "lock", W | A },
	[ZUG_OP_TRYLOCK]	= { "trylock", W | C },
	[ZUG_OP_TIMEDLOCK]	= { "timedlock", W | A | T | C },
	[ZUG_OP_UNLOCK]		= { "unlock", W | R },
	[ZUG_OP_MUTEX_INIT]	= { "mutex-init", W },
	[ZUG_OP_MUTEX_DESTROY]	= { "mutex-destroy", W },
	[ZUG_OP_COND_WAIT]	= { "cond-wait", W | R | A },
	[ZUG_OP_COND_TIMEDWAIT]	= { "cond-timedwait", W | R | A | T | C },
	[ZUG_OP_COND_SIGNAL]	= { "cond-signal", W | R },
	[ZUG_OP_COND_BROADCAST]	= { "cond-broadcast", W | R },
	[ZUG_OP_COND_INIT]	= { "cond-init", W },
	[ZUG_OP_COND_DESTROY]	= { "cond-destroy", W },
	/* Readers commute with each other, so a read lock does not count as a write. */
	[ZUG_OP_RDLOCK]		= { "rdlock", A },
	[ZUG_OP_WRLOCK]		= { "wrlock", W | A },
	[ZUG_OP_TRYRDLOCK]	= { "tryrdlock", C },
	[ZUG_OP_TRYWRLOCK]	= { "trywrlock", W | C },
	[ZUG_OP_TIMEDRDLOCK]	= { "timedrdlock", A | T | C },
	[ZUG_OP_TIMEDWRLOCK]	= { "timedwrlock", W | A | T | C },
	[ZUG_OP_RWUNLOCK]	= { "rwunlock", W | R },
	[ZUG_OP_SPIN_LOCK]	= { "spin-lock", W | A },
	[ZUG_OP_SPIN_TRYLOCK]	= { "spin-trylock", W | C },
	[ZUG_OP_SPIN_UNLOCK]	= { "spin-unlock", W | R },
	[ZUG_OP_BARRIER_INIT]	= { "barrier-init", W },
	[ZUG_OP_BARRIER_WAIT]	= { "barrier-wait", W | R | A },
	[ZUG_OP_BARRIER_DESTROY] = { "barrier-destroy", W },
	[ZUG_OP_SEM_INIT]	= { "sem-init", W },
	[ZUG_OP_SEM_OPEN]	= { "sem-open", W },
	[ZUG_OP_SEM_WAIT]	= { "sem-wait", W | A },
	[ZUG_OP_SEM_TRYWAIT]	= { "sem-trywait", W | C },
	[ZUG_OP_SEM_TIMEDWAIT]	= { "sem-timedwait", W | A | T | C },
	[ZUG_OP_SEM_POST]	= { "sem-post", W | R },
	[ZUG_OP_SEM_DESTROY]	= { "sem-destroy", W },
	[ZUG_OP_ONCE]		= { "once", W | R | A },
	[ZUG_OP_GUARD_ACQUIRE]	= { "guard-acquire", W | A },
	[ZUG_OP_GUARD_RELEASE]	= { "guard-release", W | R },
	[ZUG_OP_GUARD_ABORT]	= { "guard-abort", W | R },
	[ZUG_OP_RWLOCK_INIT]	= { "rwlock-init", W },
	[ZUG_OP_RWLOCK_DESTROY]	= { "rwlock-destroy", W },
	[ZUG_OP_SPIN_INIT]	= { "spin-init", W },
	[ZUG_OP_SPIN_DESTROY]	= { "spin-destroy", W },
	[ZUG_OP_SEM_GETVALUE]	= { "sem-getvalue", C },
	[ZUG_OP_CHAN_SEND]	= { "chan-send", W | R | A },
	[ZUG_OP_CHAN_RECV]	= { "chan-recv", W | R | A },
	[ZUG_OP_CHAN_CLOSE]	= { "chan-close", W | R },
	[ZUG_OP_SELECT]		= { "select", W | R | A },
	[ZUG_OP_GROUP_ADD]	= { "group-add", W | R },
	[ZUG_OP_GROUP_WAIT]	= { "group-wait", W | A },

	[ZUG_OP_CREATE]		= { "create", W | R },
	[ZUG_OP_JOIN]		= { "join", W | A },
	[ZUG_OP_DETACH]		= { "detach", W },
	[ZUG_OP_FORK]		= { "fork", W | R },
	[ZUG_OP_EXEC]		= { "exec", W },
	[ZUG_OP_WAITPID]	= { "waitpid", W | A },
	[ZUG_OP_KILL]		= { "kill", W | R },

	[ZUG_OP_DATA_READ]	= { "data-read", 0 },
	[ZUG_OP_DATA_WRITE]	= { "data-write", W },
	[ZUG_OP_DATA_ACCESS]	= { "data-access", W | C },
	[ZUG_OP_POINT]		= { "point", 0 },
	[ZUG_OP_CHOICE]		= { "choice", 0 },
	[ZUG_OP_ATOMIC_LOAD]	= { "atomic-load", 0 },
	[ZUG_OP_ATOMIC_STORE]	= { "atomic-store", W },
	[ZUG_OP_ATOMIC_RMW]	= { "atomic-rmw", W },
	[ZUG_OP_FENCE]		= { "fence", 0 },
	[ZUG_OP_PAUSE]		= { "pause", Y },

	/* A write where it may create or change the file. */
	[ZUG_OP_OPEN]		= { "open", 0 },
	[ZUG_OP_CLOSE]		= { "close", W | R },
	/* Reading takes bytes from a pipe and moves a shared file position. */
	[ZUG_OP_READ]		= { "read", W | A },
	[ZUG_OP_WRITE]		= { "write", W | R | A },
	[ZUG_OP_UNLINK]		= { "unlink", W },
	[ZUG_OP_RENAME]		= { "rename", W },
	[ZUG_OP_FLOCK]		= { "flock", W | R | A },
	[ZUG_OP_PIPE]		= { "pipe", W },
	[ZUG_OP_SOCKET]		= { "socket", W },
	[ZUG_OP_CONNECT]	= { "connect", W | R | A },
	[ZUG_OP_ACCEPT]		= { "accept", W | A },
	[ZUG_OP_SEND]		= { "send", W | R | A },
	[ZUG_OP_RECV]		= { "recv", W | A },
	[ZUG_OP_FUTEX_WAIT]	= { "futex-wait", W | A },
	[ZUG_OP_FUTEX_WAKE]	= { "futex-wake", W | R },
	[ZUG_OP_SYSCALL]	= { "syscall", W | R | A },
	[ZUG_OP_POLL]		= { "poll", A },
	[ZUG_OP_SLEEP]		= { "sleep", Y | T },
	[ZUG_OP_SIGNAL_WAIT]	= { "signal-wait", W | A },
	[ZUG_OP_MKDIR]		= { "mkdir", W },
	[ZUG_OP_RMDIR]		= { "rmdir", W },
	[ZUG_OP_LINK]		= { "link", W },
	[ZUG_OP_STAT]		= { "stat", 0 },
	[ZUG_OP_TRUNCATE]	= { "truncate", W },
	[ZUG_OP_BIND]		= { "bind", W },
	[ZUG_OP_LISTEN]		= { "listen", W | R },

	[ZUG_OP_FAIL_ENOSPC]	= { "fail-enospc", W | R | A },
	[ZUG_OP_FAIL_EINTR]	= { "fail-eintr", W | R | A },
	[ZUG_OP_FAIL_ENOMEM]	= { "fail-enomem", W | R | A },
	[ZUG_OP_FAIL_REFUSED]	= { "fail-refused", W | R | A },
	[ZUG_OP_KILLED]		= { "killed", W | R | A },
	[ZUG_OP_SHORT_WRITE]	= { "short-write", W | R | A },
	[ZUG_OP_SHORT_READ]	= { "short-read", W | R | A },
	[ZUG_OP_LOST]		= { "lost", W },
	[ZUG_OP_REORDERED]	= { "reordered", W | R | A },
	[ZUG_OP_DELAYED]	= { "delayed", W | R | A },

	[ZUG_OP_SIGACTION]	= { "sigaction", W | R | A },
	[ZUG_OP_SIGPROCMASK]	= { "sigprocmask", W | R | A },
	[ZUG_OP_SEMOP]		= { "semop", W | R | A },
	[ZUG_OP_SEMCTL]		= { "semctl", W | R | A },
	[ZUG_OP_MSGCTL]		= { "msgctl", W | R | A },
	[ZUG_OP_TIMERFD_SETTIME] = { "timerfd-settime", W | R | A },
	[ZUG_OP_MMAP]		= { "mmap", W | R | A },
	/* What it means for other tasks is what its code does. */
	[ZUG_OP_HANDLER]	= { "signal-handler", 0 },
	[ZUG_OP_RESOURCE_WAIT]	= { "resource-wait", W | A },
	[ZUG_OP_RESOURCE_SIGNAL] = { "resource-signal", W | R },
	[ZUG_OP_RESOURCE_SIGNAL_ALL] = { "resource-signal-all", W | R },
	[ZUG_OP_ADD_WATCH]	= { "inotify-add-watch", W | R | A },
	[ZUG_OP_MQ_NOTIFY]	= { "mq-notify", W },
	[ZUG_OP_IPC_GET]	= { "ipc-get", 0 },
	[ZUG_OP_CHDIR]		= { "chdir", W },
	[ZUG_OP_UMASK]		= { "umask", W },
	[ZUG_OP_DUP2]		= { "dup2", W | R },
	[ZUG_OP_EPOLL_CTL]	= { "epoll-ctl", W | R },
	[ZUG_OP_MKNOD]		= { "mknod", W },
	[ZUG_OP_CHMOD]		= { "chmod", W },
	[ZUG_OP_GO_READY]	= { "go-ready", W | R | A },
	[ZUG_OP_GO_ON]		= { "go-on", W | A },
	[ZUG_OP_MONITOR_ENTER]	= { "monitor-enter", W | A },
	[ZUG_OP_MONITOR_WAIT]	= { "monitor-wait", W | R | A },
	[ZUG_OP_MONITOR_NOTIFY]	= { "monitor-notify", W | R },
	[ZUG_OP_PARK]		= { "park", W | A },
	[ZUG_OP_UNPARK]		= { "unpark", W | R },
	[ZUG_OP_FIELD_READ]	= { "field-read", 0 },
	[ZUG_OP_FIELD_WRITE]	= { "field-write", W },
	[ZUG_OP_CALL]		= { "call", 0 },
	[ZUG_OP_SHMAT]		= { "shmat", W },
	[ZUG_OP_SHMDT]		= { "shmdt", W },
	[ZUG_OP_SHMCTL]		= { "shmctl", W },
	[ZUG_OP_FCNTL]		= { "fcntl", W },
	[ZUG_OP_SPURIOUS]	= { "spurious-wakeup", 0 },
	[ZUG_OP_PDEATHSIG]	= { "parent-death-signal", 0 },
	[ZUG_OP_LIST]		= { "list", 0 },
};

#undef W
#undef R
#undef A
#undef Y
#undef T
#undef C

/* Spelled out for every number without a name, so that no buffer is shared between callers. */
#define N(n)	[n] = "op-" #n
static const char *const nameless[ZUG_OP_NR] = {
	N(7), N(8), N(9), N(10), N(11), N(12), N(13), N(14), N(15),
	N(63),
	N(71), N(72), N(73), N(74), N(75), N(76), N(77), N(78), N(79),
	N(90), N(91), N(92), N(93), N(94), N(95),
};
#undef N

const char *zug_op_name(unsigned int op)
{
	if (op >= ZUG_OP_NR)
		return "op-unknown";
	if (ops[op].name)
		return ops[op].name;
	return nameless[op] ? nameless[op] : "op-unknown";
}

const char *zug_label_name(const struct zug_label *l)
{
	if (l->op == ZUG_OP_KILL && !(l->flags & ZUG_L_WRITE))
		return "kill-0";
	return l->flags & ZUG_L_FREES ? "free" : zug_op_name(l->op);
}

int zug_op_by_name(const char *name)
{
	for (int i = 0; i < ZUG_OP_NR; i++)
		if (ops[i].name && !strcmp(ops[i].name, name))
			return i;
	return -ENOENT;
}

unsigned int zug_op_flags(unsigned int op)
{
	return op < ZUG_OP_NR ? ops[op].flags : 0;
}
