/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pass.c - which places a task with a lease may pass (struct zug_lease)
 *
 * Not those where it would block or yield, and not those where it may be about to misuse a primitive:
 * there all tasks have to stand. What a lock's memory says decides, as in kworld/locks.c, which has the
 * layouts; where it is not clear the task stops, which is always right.
 */
#include <linux/futex.h>
#include "probes/probes_internal.h"

static struct zug_pass only_if(uint8_t index, uint32_t mask, uint32_t value)
{
	return (struct zug_pass){ .kind = ZUG_PASS_IF, .index = index, .mask = mask, .value = value };
}

static struct zug_pass unless(uint32_t mask, uint32_t value)
{
	return (struct zug_pass){ .kind = ZUG_PASS_UNLESS, .mask = mask, .value = value };
}

/* Where it may not pass it surely blocks if the kind of the lock is 0. plain: where that is, ZUG_PASS_KIND_*. */
static struct zug_pass plainly(struct zug_pass pass, uint8_t plain)
{
	pass.plain = plain;
	return pass;
}

/* An operation that only the owner of the mutex may make. (musl keeps no owner of its normal mutexes.) */
static struct zug_pass as_owner(bool musl)
{
	return (struct zug_pass){ .kind = ZUG_PASS_OWNER, .index = musl ? 1 : 2,
				  .mask = musl ? FUTEX_TID_MASK : UINT32_MAX };
}

/* Rust's: see kworld/locks.c. A reader's count stays far below what these bits stand for. */
static struct zug_pass pass_of_rust(uint16_t op)
{
	if (!zug_op_waits_for_lock(op))
		return (struct zug_pass){ .kind = ZUG_PASS_ALWAYS };
	return op == ZUG_OP_RDLOCK ? only_if(0, 0xffff0000, 0) : only_if(0, op == ZUG_OP_WRLOCK ? 0x3fffffff : UINT32_MAX, 0);
}

static struct zug_pass pass_of_lock(uint16_t op, bool musl)
{
	const uint32_t low = 0x7fffffff;
	struct zug_pass pass;

	switch (op) {
	case ZUG_OP_LOCK:
		/* others count, or are partly the kernel's */
		return plainly(musl ? only_if(1, low, 0) : only_if(0, UINT32_MAX, 0),
			       musl ? ZUG_PASS_KIND_MUSL : ZUG_PASS_KIND_GLIBC);
	case ZUG_OP_RDLOCK:
		return musl ? unless(low, low) : unless(3, 3);
	case ZUG_OP_WRLOCK:
		/* neither written nor read: the rest are phases */
		pass = only_if(0, musl ? low : ~5u, 0);
		pass.plain = musl ? 0 : ZUG_PASS_UNCLEAR;
		return pass;
	case ZUG_OP_SEM_WAIT:
		return unless(musl ? low : UINT32_MAX, 0);
	case ZUG_OP_SPIN_LOCK:
		return only_if(0, UINT32_MAX, musl ? 0 : 1);
	}
	return (struct zug_pass){ .kind = ZUG_PASS_NEVER };
}

/* How much is accessed depends on memory as it is before. */
static bool reads_text(const struct code_place *p)
{
	return p->kind == CODE_BLOCK && (code_block_access(p->size)->text || p->index != CODE_NO_REG);
}

static struct zug_pass pass_of(const struct probe_module *mod, const struct probe_site *s)
{
	enum symlibc libc = probes_layout(mod, s);

	if (s->waits || reads_text(&s->code))
		return (struct zug_pass){ .kind = ZUG_PASS_NEVER };
	if (libc == SYMLIBC_RUST)
		return pass_of_rust(s->op);
	if (zug_op_waits_for_lock(s->op) && libc != SYMLIBC_NONE)
		return pass_of_lock(s->op, libc == SYMLIBC_MUSL);
	if (zug_op_waits_for_lock(s->op))
		return (struct zug_pass){ .kind = ZUG_PASS_ALWAYS };
	switch (s->op) {
	case ZUG_OP_UNLOCK: case ZUG_OP_COND_WAIT: case ZUG_OP_COND_TIMEDWAIT:
		if (libc != SYMLIBC_NONE)
			return as_owner(libc == SYMLIBC_MUSL);
		break;
	case ZUG_OP_TRYLOCK: case ZUG_OP_TIMEDLOCK: case ZUG_OP_COND_SIGNAL: case ZUG_OP_COND_BROADCAST:
	case ZUG_OP_TRYRDLOCK: case ZUG_OP_TRYWRLOCK: case ZUG_OP_TIMEDRDLOCK: case ZUG_OP_TIMEDWRLOCK:
	case ZUG_OP_RWUNLOCK: case ZUG_OP_SPIN_TRYLOCK: case ZUG_OP_SPIN_UNLOCK: case ZUG_OP_BARRIER_WAIT:
	case ZUG_OP_SEM_TRYWAIT: case ZUG_OP_SEM_TIMEDWAIT: case ZUG_OP_SEM_POST: case ZUG_OP_SEM_GETVALUE:
	case ZUG_OP_ONCE: case ZUG_OP_GUARD_ACQUIRE: case ZUG_OP_GUARD_RELEASE: case ZUG_OP_GUARD_ABORT: case ZUG_OP_CREATE:
	case ZUG_OP_JOIN: case ZUG_OP_DETACH:
	case ZUG_OP_CHAN_SEND: case ZUG_OP_CHAN_RECV: case ZUG_OP_CHAN_CLOSE: case ZUG_OP_SELECT:
	case ZUG_OP_GROUP_ADD: case ZUG_OP_GROUP_WAIT: case ZUG_OP_GO_READY: case ZUG_OP_GO_ON:
	case ZUG_OP_POINT: case ZUG_OP_DATA_READ: case ZUG_OP_DATA_WRITE: case ZUG_OP_DATA_ACCESS:
	case ZUG_OP_ATOMIC_LOAD: case ZUG_OP_ATOMIC_STORE: case ZUG_OP_ATOMIC_RMW: case ZUG_OP_FENCE:
		break;
	/* of a task that is alone nothing else has to be seen of it than of any operation */
	case ZUG_OP_MUTEX_INIT: case ZUG_OP_COND_INIT: case ZUG_OP_BARRIER_INIT: case ZUG_OP_SEM_INIT: case ZUG_OP_RWLOCK_INIT:
	case ZUG_OP_SPIN_INIT:
		return (struct zug_pass){ .kind = ZUG_PASS_NEVER, .plain = ZUG_PASS_ALONE };
	default:
		return (struct zug_pass){ .kind = ZUG_PASS_NEVER };
	}
	return (struct zug_pass){ .kind = ZUG_PASS_ALWAYS };
}

struct zug_pass probes_pass(const struct probe_module *mod, const struct probe_site *s)
{
	struct zug_pass pass = pass_of(mod, s);

	pass.steps = s->split ? 2 : 1;
	return pass;
}
