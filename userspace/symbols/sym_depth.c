/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sym_depth.c - finds a function's caller without call frame information: by the function's instructions
 *
 * Code that knows its frame by the stack pointer alone, as musl's does, moves that by constants. So
 * the depth of the stack is followed along all paths from the function's start, as the kernel's
 * objtool does. Nothing is said about a function with something that is not followed (a frame
 * pointer, an alignment of the stack), with two paths that come to one instruction with different
 * depths, or with a return that would not find its address.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <Zydis/Zydis.h>
#include "symbols/sym_internal.h"

/* Functions of a C library are smaller. */
#define FUNCTION_MAX (16u << 10)
#define DEPTH_MAX (1 << 20)
#define UNSEEN (-1)

struct walk {
	ZydisDecoder decoder;
	uint8_t *code;
	uint32_t size;
	int32_t *depth;		/* of each byte of an instruction: between the stack pointer and the return address, */
				/* before it */
	uint32_t *todo;		/* starts of instructions, whose depth is known */
	uint32_t nr_todo;
	int32_t saved_at;	/* the depth at which the frame pointer is pushed, UNSEEN: it is not */
};

static bool is_sp(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, op->reg.value) == ZYDIS_REGISTER_RSP;
}

static bool writes_sp(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops)
{
	for (int i = 0; i < in->operand_count; i++)
		if (is_sp(&ops[i]) && (ops[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			return true;
	return false;
}

/* The bytes by which the stack is deeper after it. false: not known. */
static bool moves_by(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops, int64_t *by)
{
	*by = 0;
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_PUSHFQ:
		*by = 8;
		return in->operand_width == 64;
	case ZYDIS_MNEMONIC_POP:
	case ZYDIS_MNEMONIC_POPFQ:
		*by = -8;
		return in->operand_width == 64 && !(in->mnemonic == ZYDIS_MNEMONIC_POP && is_sp(&ops[0]));
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_ADD:
		if (!is_sp(&ops[0]))
			return true;
		*by = in->mnemonic == ZYDIS_MNEMONIC_SUB ? ops[1].imm.value.s : -ops[1].imm.value.s;
		return ops[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
	case ZYDIS_MNEMONIC_LEA:
		if (!is_sp(&ops[0]))
			return true;
		*by = -ops[1].mem.disp.value;
		return ops[1].mem.base == ZYDIS_REGISTER_RSP && ops[1].mem.index == ZYDIS_REGISTER_NONE;
	case ZYDIS_MNEMONIC_CALL:	/* and back */
		return true;
	default:
		return !writes_sp(in, ops);
	}
}

/* A path comes to 'to'. false: another one comes there with another depth. */
static bool reach(struct walk *w, uint32_t to, int32_t depth)
{
	if (w->depth[to] != UNSEEN)
		return w->depth[to] == depth;
	w->depth[to] = depth;
	w->todo[w->nr_todo++] = to;
	return true;
}

/* A jump out of the function is its end: the function that is jumped to returns in its place. */
static bool jump(struct walk *w, uint32_t at, const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, int32_t depth)
{
	int64_t to;

	/*
	 * by a table within the function, or out of it: code that only this leads to stays unknown
	 */
	if (op->type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return true;
	to = (int64_t)at + in->length + op->imm.value.s;
	return to < 0 || to >= w->size ? depth == 0 : reach(w, (uint32_t)to, depth);
}

static bool note_save(struct walk *w, int32_t depth)
{
	if (w->saved_at != UNSEEN && w->saved_at != depth)
		return false;
	w->saved_at = depth;
	return true;
}

/* The instruction at 'at', and where it leads to. */
static bool follow(struct walk *w, uint32_t at)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	int32_t depth = w->depth[at];
	ZydisDecodedInstruction in;
	int64_t by, after;

	if (ZYAN_FAILED(ZydisDecoderDecodeFull(&w->decoder, w->code + at, w->size - at, &in, ops)))
		return false;
	for (uint32_t i = 1; i < in.length; i++) {
		if (w->depth[at + i] != UNSEEN)
			return false;
		w->depth[at + i] = depth;
	}
	if (in.mnemonic == ZYDIS_MNEMONIC_PUSH && ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    ops[0].reg.value == ZYDIS_REGISTER_RBP && !note_save(w, depth))
		return false;
	switch (in.meta.category) {
	case ZYDIS_CATEGORY_RET:
		return depth == 0;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return jump(w, at, &in, &ops[0], depth);
	case ZYDIS_CATEGORY_COND_BR:
		if (!jump(w, at, &in, &ops[0], depth))
			return false;
		break;
	default:
		break;
	}
	if (in.mnemonic == ZYDIS_MNEMONIC_HLT || in.mnemonic == ZYDIS_MNEMONIC_UD2 || in.mnemonic == ZYDIS_MNEMONIC_INT3)
		return true;
	if (!moves_by(&in, ops, &by))
		return false;
	after = depth + by;
	if (after < 0 || after > DEPTH_MAX)
		return false;
	/* a call that does not return is a function's end, too */
	return at + in.length >= w->size ? in.mnemonic == ZYDIS_MNEMONIC_CALL : reach(w, at + in.length, (int32_t)after);
}

static bool follow_all(struct walk *w)
{
	ZydisDecoderInit(&w->decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (uint32_t i = 0; i < w->size; i++)
		w->depth[i] = UNSEEN;
	reach(w, 0, 0);
	while (w->nr_todo)
		if (!follow(w, w->todo[--w->nr_todo]))
			return false;
	return true;
}

int sym_depth(struct symfile *f, uint64_t offset, struct symfile_step *step)
{
	uint64_t vaddr = symfile_vaddr_of(f, offset);
	const struct sym *s = vaddr != UINT64_MAX ? sym_at(f, vaddr, true) : NULL;
	struct walk w = { .saved_at = UNSEEN };
	int ret = -ENOENT;
	uint32_t at;

	/* a part that its compiler put elsewhere begins with a frame */
	if (!s || !s->size || s->size > FUNCTION_MAX || strstr(s->name, ".cold"))
		return ret;
	at = (uint32_t)(vaddr - s->vaddr);
	w.size = (uint32_t)s->size;
	w.code = malloc(w.size);
	w.depth = malloc(w.size * sizeof(*w.depth));
	w.todo = malloc(w.size * sizeof(*w.todo));
	if (!w.code || !w.depth || !w.todo)
		goto out;
	if (pread(f->fd, w.code, w.size, (off_t)(offset - at)) != (ssize_t)w.size || !follow_all(&w) || w.depth[at] == UNSEEN)
		goto out;
	/* pushed before anything else is made of it, for it is the caller's */
	*step = (struct symfile_step){ .size = w.depth[at] + 8, .bp_kept = w.saved_at != UNSEEN && w.depth[at] > w.saved_at,
				       .bp_at = -(w.saved_at + 16) };
	ret = 0;
out:
	free(w.code);
	free(w.depth);
	free(w.todo);
	return ret;
}
