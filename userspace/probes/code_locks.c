/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * code_locks.c - which atomic instructions take and give back the locks of Rust's standard library
 *
 * A Mutex of std is a word for futexes, and so is an RwLock. To lock a free one, and to unlock one for which none waits, are
 * atomic instructions, which the compiler puts into the program's functions; a function of the library is called where that
 * is not enough. So the calls of these functions tell which instructions these are:
 *
 *	lock	lock cmpxchg; jne to a call of lock_contended (read_contended, write_contended)
 *	unlock	xchg; cmp $2; and a call of Mutex::wake, or of lock_contended
 *	rwunlock	lock xadd of -1 or -0x3fffffff, and a call of wake_writer_or_readers
 *
 * Where nothing is optimised the instruction lies in a function of core::sync::atomic. Then the call of that, in the function
 * that also calls the one of the library, is the place (CODE_CALL), and its first argument leads to the lock. In the same way
 * calls are told that only look whether a thread has panicked: these are no operations of the program's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "probes/code_internal.h"

/* In bytes: from where a failed attempt goes on to the call of the library; from one call to the other. */
#define SLOW_WITHIN	32
#define CALLS_WITHIN	128
/* Instructions: from the xchg to the cmp; from where a constant is loaded to the xadd. */
#define TEST_WITHIN	4
#define ADD_WITHIN	8

enum code_role code_role(const char *name)
{
	static const struct {
		const char *type, *function;
		enum code_role role;
	} slow[] = {
		{ "5Mutex", "14lock_contended", ROLE_LOCK }, { "5Mutex", "4wake", ROLE_UNLOCK },
		{ "6RwLock", "14read_contended", ROLE_RDLOCK }, { "6RwLock", "15write_contended", ROLE_WRLOCK },
		{ "6RwLock", "22wake_writer_or_readers", ROLE_RWUNLOCK },
	};
	static const struct {
		const char *function;
		enum code_role role;
	} atomic[] = {
		{ "23atomic_compare_exchange", ROLE_EXCHANGE }, { "28atomic_compare_exchange_weak", ROLE_EXCHANGE },
		{ "16compare_exchange", ROLE_EXCHANGE }, { "21compare_exchange_weak", ROLE_EXCHANGE },
		{ "11atomic_swap", ROLE_SWAP }, { "4swap", ROLE_SWAP },
		{ "10atomic_sub", ROLE_SUBTRACT }, { "9fetch_sub", ROLE_SUBTRACT },
		{ "11atomic_load", ROLE_LOAD }, { "4load", ROLE_LOAD },
	};
	static const char *const panic[] = { "6poison4Flag5guard", "6poison4Flag6borrow", "6poison4Flag4done",
					     "11panic_count13count_is_zero", "NtB2_4Flag5guard", "NtB2_4Flag6borrow",
					     "NtB2_4Flag4done" };
	const char *in, *end;

	if (strncmp(name, "_ZN", 3) && strncmp(name, "_R", 2))
		return ROLE_NONE;
	if ((in = strstr(name, "3std3sys")) && strstr(in, "futex")) {
		for (size_t i = 0; i < sizeof(slow) / sizeof(slow[0]); i++)
			if (strstr(in, slow[i].type) && (end = strstr(in, slow[i].function)) &&
			    (strchr(".", end[strlen(slow[i].function)]) || !strncmp(end + strlen(slow[i].function), "17h", 3)))
				return slow[i].role;
	} else if ((in = strstr(name, "4core4sync6atomic"))) {
		for (size_t i = 0; i < sizeof(atomic) / sizeof(atomic[0]); i++)
			if (strstr(in, atomic[i].function))
				return atomic[i].role;
	} else if (strstr(name, "3std")) {
		for (size_t i = 0; i < sizeof(panic) / sizeof(panic[0]); i++)
			if (strstr(name, panic[i]))
				return ROLE_PANICS;
	}
	return ROLE_NONE;
}

void code_locks_begin(struct code_locks *l, enum code_role function)
{
	l->nr_ops = l->nr_slow = l->test = 0;
	l->add = ADD_WITHIN + 1;
	l->function = function;
}

void code_locks_free(struct code_locks *l)
{
	free(l->ops);
	free(l->slow);
}

void code_locks_instruction(struct code_locks *l, const ZydisDecodedInstruction *in, uint32_t offset)
{
	struct code_lock_op *op = l->nr_ops && l->test ? &l->ops[l->nr_ops - 1] : NULL;
	const uint32_t value = in->raw.imm[0].value.u;

	l->add += l->add <= ADD_WITHIN;
	if (in->mnemonic == ZYDIS_MNEMONIC_MOV && in->raw.imm[0].size && (value == -1u || value == -0x3fffffffu))
		l->add = 0;
	if (!op)
		return;
	if (op->role == ROLE_EXCHANGE && l->test == TEST_WITHIN && in->raw.imm[0].is_relative) {
		if (in->mnemonic == ZYDIS_MNEMONIC_JNZ)
			op->fails = offset + in->length + (int32_t)value;
		else if (in->mnemonic == ZYDIS_MNEMONIC_JZ)
			op->fails = offset + in->length;
	}
	op->two |= op->role == ROLE_SWAP && in->mnemonic == ZYDIS_MNEMONIC_CMP && value == 2;
	l->test--;
}

static int add_op(struct code_locks *l, struct code_lock_op op)
{
	if (!ARRAY_RESERVE(l->ops, l->size_ops, l->nr_ops + 1))
		return -ENOMEM;
	l->ops[l->nr_ops++] = op;
	l->test = TEST_WITHIN;
	return 0;
}

int code_locks_place(struct code_locks *l, const ZydisDecodedInstruction *in, uint32_t place, const struct code_place *p)
{
	struct code_lock_op op = { .offset = p->offset, .place = place };

	if (p->size != 4 || p->flags & (CODE_TLS | CODE_CONST | CODE_NO_ADDR))
		return 0;
	if (p->kind == CODE_XCHG)
		op.role = ROLE_SWAP;
	else if (p->kind == CODE_LOCK && in->mnemonic == ZYDIS_MNEMONIC_CMPXCHG)
		op.role = ROLE_EXCHANGE;
	else if (p->kind == CODE_LOCK && in->mnemonic == ZYDIS_MNEMONIC_XADD && l->add <= ADD_WITHIN)
		op.role = ROLE_SUBTRACT;
	return op.role ? add_op(l, op) : 0;
}

int code_locks_call(struct code_locks *l, uint32_t offset, enum code_role role, uint32_t place)
{
	return add_op(l, (struct code_lock_op){ .offset = offset, .place = place, .role = role, .call = true });
}

int code_locks_slow(struct code_locks *l, uint32_t offset, enum code_role role)
{
	if (!ARRAY_RESERVE(l->slow, l->size_slow, l->nr_slow + 1))
		return -ENOMEM;
	l->slow[l->nr_slow++] = (struct code_lock_slow){ offset, role };
	return 0;
}

static bool takes(enum code_role role)
{
	return role == ROLE_LOCK || role == ROLE_RDLOCK || role == ROLE_WRLOCK;
}

/* The first call of a function that waits for a lock, from that offset on, within so many bytes; ROLE_NONE: there is none. */
static enum code_role waits_from(const struct code_locks *l, uint32_t offset, uint32_t within)
{
	const struct code_lock_slow *first = NULL;

	for (uint32_t i = 0; i < l->nr_slow; i++)
		if (takes(l->slow[i].role) && l->slow[i].offset - offset <= within &&
		    (!first || l->slow[i].offset < first->offset))
			first = &l->slow[i];
	return first ? first->role : ROLE_NONE;
}

static bool calls(const struct code_locks *l, enum code_role role)
{
	for (uint32_t i = 0; i < l->nr_slow; i++)
		if (l->slow[i].role == role)
			return true;
	return false;
}

static enum code_role role_of(const struct code_locks *l, uint32_t i)
{
	const struct code_lock_op *op = &l->ops[i];
	uint32_t within = CALLS_WITHIN;

	switch (op->role) {
	case ROLE_EXCHANGE:
		if (!op->call)
			return op->fails ? waits_from(l, op->fails, SLOW_WITHIN) : ROLE_NONE;
		if (i + 1 < l->nr_ops && l->ops[i + 1].offset - op->offset < within)
			within = l->ops[i + 1].offset - op->offset;
		return waits_from(l, op->offset, within);
	case ROLE_SWAP:
		/* the library's own functions make the system call themselves */
		return op->two && (calls(l, ROLE_UNLOCK) || calls(l, ROLE_LOCK)) ? ROLE_UNLOCK : ROLE_NONE;
	case ROLE_SUBTRACT:
		return calls(l, ROLE_RWUNLOCK) ? ROLE_RWUNLOCK : ROLE_NONE;
	case ROLE_LOAD:
		/* before it a reader looks whether it may try at all */
		return l->function == ROLE_PANICS || (i + 1 < l->nr_ops && l->ops[i + 1].offset - op->offset < CALLS_WITHIN &&
						      l->ops[i + 1].call && role_of(l, i + 1) == ROLE_RDLOCK) ?
			       ROLE_LOAD : ROLE_NONE;
	default:
		return ROLE_NONE;
	}
}

void code_locks_end(struct code_locks *l, struct code *c, uint32_t first)
{
	uint32_t n = first;

	for (uint32_t i = 0; i < l->nr_ops; i++) {
		struct code_place *p = &c->places[l->ops[i].place];
		enum code_role role = role_of(l, i);

		if (role)
			p->flags |= CODE_RUST(role == ROLE_LOAD ? CODE_RUST_PART : (unsigned int)role);
		/* the same look, where it is inlined */
		if (role == ROLE_RDLOCK && !l->ops[i].call && l->ops[i].place > first && p[-1].kind == CODE_LOAD &&
		    p[-1].base == p->base && p[-1].disp == p->disp && p[-1].size == p->size && p[-1].index == p->index)
			p[-1].flags |= CODE_RUST(CODE_RUST_PART);
	}
	for (uint32_t i = first; i < c->nr_places; i++)
		if (c->places[i].kind != CODE_CALL || code_rust(&c->places[i]))
			c->places[n++] = c->places[i];
	c->nr_places = n;
}
