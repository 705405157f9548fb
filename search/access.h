/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * access.h - what an operation touches, as happens-before and reduction see it
 *
 * Labels may say too much but never too little. An operation of which nothing
 * is known (a point named by the user, a system call without object, going on
 * after a block in the kernel) could do anything; all such operations count as
 * writes of one object, ACCESS_OPAQUE, and so are never reordered with each
 * other. Operations that are known to concern their own task alone are local.
 * Who gets a signal, and whether a wait ends by it, depends on all that could
 * do anything, too: that is so for what sends one (the end of a process is such
 * a thing where its parent notices that), for what waits for one, and for what
 * blocks one or says how it is handled.
 */
#ifndef ZUG_SEARCH_ACCESS_H
#define ZUG_SEARCH_ACCESS_H

#include "lib/label.h"

#define ACCESS_OPAQUE	0x6f70617175650001ull

struct access {
	uint64_t object[2];	/* 0: none; object[1] is 0 when object[0] is */
	bool write;
	bool acquire;		/* may have to wait */
	bool release;		/* may let others go on, and never waits itself */
};

static inline bool access_op_local(unsigned int op)
{
	switch (op) {
	case ZUG_OP_BEGIN:
	case ZUG_OP_END:
	case ZUG_OP_YIELD:
	case ZUG_OP_PAUSE:
	case ZUG_OP_SLEEP:
	case ZUG_OP_CREATE:
	case ZUG_OP_JOIN:
	case ZUG_OP_DETACH:
	case ZUG_OP_FORK:
	case ZUG_OP_CHOICE:
		return true;
	}
	return false;
}

/*
 * It sends a signal, waits for one or for a child, or says what is to become of one, and that has a name; anything that could
 * do anything matters to it.
 */
static inline bool access_is_signal(const struct zug_label *l)
{
	return l->object && (l->op == ZUG_OP_KILL || l->op == ZUG_OP_SIGNAL_WAIT || l->op == ZUG_OP_WAITPID ||
			     l->op == ZUG_OP_SIGACTION || l->op == ZUG_OP_SIGPROCMASK ||
			     (l->op == ZUG_OP_END && l->flags & ZUG_L_ENDS_ALL));
}

static inline struct access access_of(const struct zug_label *l)
{
	unsigned int flags = l->flags | zug_op_flags(l->op);
	struct access a = {
		.object = { l->object ? l->object : l->object2, l->object ? l->object2 : 0 },
		.write = flags & ZUG_L_WRITE,
		.acquire = flags & ZUG_L_ACQUIRE,
		.release = (flags & ZUG_L_RELEASE) && !(flags & ZUG_L_ACQUIRE),
	};

	/* a wait for a resource began in the step before it, which may be one that says nothing */
	if (access_is_signal(l) || l->op == ZUG_OP_RESOURCE_SIGNAL || l->op == ZUG_OP_RESOURCE_SIGNAL_ALL)
		a.object[1] = ACCESS_OPAQUE;
	if (!a.object[0] && !access_op_local(l->op)) {
		a.object[0] = ACCESS_OPAQUE;
		a.write = true;
	}
	if (a.object[0] == a.object[1])
		a.object[1] = 0;
	return a;
}

/*
 * It could do anything as far as its label tells, and most often concerns its own process alone, or what else it names: it
 * says how a signal is handled or waits for one, executes a program, makes a pipe, goes on, also because its time is over, or
 * ends, or looks at or closes what has no name. Shells do little else.
 */
static inline bool access_is_own_affair(unsigned int op, const struct access *a)
{
	switch (op) {
	case ZUG_OP_SIGACTION: case ZUG_OP_SIGPROCMASK: case ZUG_OP_EXEC: case ZUG_OP_WAITPID: case ZUG_OP_RESUME:
	case ZUG_OP_PIPE: case ZUG_OP_SOCKET: case ZUG_OP_MMAP: case ZUG_OP_STAT: case ZUG_OP_CLOSE:
	case ZUG_OP_EXPIRE: case ZUG_OP_SIGNAL_WAIT:
		return true;
	}
	return a->object[1] == ACCESS_OPAQUE;
}

/* For schedules that are only a guess, and are executed: what is an own affair depends on nothing but what it names. */
static inline struct access access_likely(const struct zug_label *l)
{
	struct access a = access_of(l);

	if (!access_is_own_affair(l->op, &a))
		return a;
	/* a wait for a condition that is over takes its lock, the second object, again */
	if (a.object[1] == ACCESS_OPAQUE)
		a.object[1] = 0;
	if (a.object[0] == ACCESS_OPAQUE)
		a.object[0] = 0;
	return a;
}

/* It makes, moves or removes a name in a folder, or may do so. The folder is not in its label. */
static inline bool access_changes_names(const struct zug_label *l)
{
	switch (l->op) {
	case ZUG_OP_OPEN:
		return l->flags & ZUG_L_WRITE;
	case ZUG_OP_MKDIR: case ZUG_OP_RMDIR: case ZUG_OP_UNLINK: case ZUG_OP_RENAME: case ZUG_OP_LINK: case ZUG_OP_MKNOD:
		return true;
	}
	return false;
}

/* It depends on the names that a folder has by then. */
static inline bool access_lists_names(const struct zug_label *l)
{
	return l->op == ZUG_OP_LIST || l->op == ZUG_OP_ADD_WATCH;
}

/* It writes an object that has a name, which others may look at. */
static inline bool access_writes(const struct zug_label *l)
{
	return l->object && l->flags & ZUG_L_WRITE && !access_op_local(l->op);
}

/* False when an operation with that label certainly does not depend on a: cheaper than to look closely. */
static inline bool access_may_depend(const struct access *a, const struct zug_label *l)
{
	if ((a->object[0] == ACCESS_OPAQUE || a->object[1] == ACCESS_OPAQUE) &&
	    ((!l->object && !l->object2) || access_is_signal(l)))
		return true;
	return a->object[0] && (l->object == a->object[0] || l->object2 == a->object[0] ||
				(a->object[1] && (l->object == a->object[1] || l->object2 == a->object[1])));
}

static inline bool access_dependent(const struct access *a, const struct access *b)
{
	if (!(a->write | b->write) || !a->object[0] || !b->object[0])
		return false;
	return a->object[0] == b->object[0] || a->object[0] == b->object[1] ||
	       (a->object[1] && (a->object[1] == b->object[0] || a->object[1] == b->object[1]));
}

#endif
