/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sym_origin.c - finds the instruction that has given a register its value
 *
 * Without optimisation a pointer lies in memory, and a register holds it for one or two
 * instructions only: no debug information tells that. So the function is decoded from its start,
 * and what each register was last written by is kept, as far as it is the same on all paths: it is
 * forgotten where a jump leads to, and after a jump that always happens. Nothing is said about a
 * function with a jump by a table.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <Zydis/Zydis.h>
#include "symbols/sym_internal.h"

/* Beyond that it takes long, and functions are generated ones. */
#define FUNCTION_MAX (64u << 10)
#define REGISTERS 16
#define UNKNOWN UINT32_MAX
/* since the function was called, which has given the register its value */
#define ENTRY (UINT32_MAX - 1)

struct function {
	ZydisDecoder decoder;
	uint8_t *code;
	uint32_t size;
	uint8_t *target;	/* by byte: a jump leads there */
};

/* DWARF's number of the whole register; REGISTERS: another kind. */
static unsigned int number_of(ZydisRegister reg)
{
	static const uint8_t numbers[] = { 0, 2, 1, 3, 7, 6, 4, 5 };
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
	unsigned int nr = whole - ZYDIS_REGISTER_RAX;

	if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15)
		return REGISTERS;
	return nr < sizeof(numbers) ? numbers[nr] : nr;
}

static bool decode(const struct function *fn, uint32_t at, ZydisDecodedInstruction *in, ZydisDecodedOperand *ops)
{
	return at < fn->size &&
	       ZYAN_SUCCESS(ZydisDecoderDecodeFull(&fn->decoder, fn->code + at, fn->size - at, in, ops));
}

/* false: not all of the function could be followed. */
static bool find_targets(struct function *fn)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;

	for (uint32_t at = 0; at < fn->size; at += in.length) {
		int64_t to;

		if (!decode(fn, at, &in, ops))
			return false;
		if (in.meta.category != ZYDIS_CATEGORY_UNCOND_BR && in.meta.category != ZYDIS_CATEGORY_COND_BR)
			continue;
		if (ops[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
			return false;
		to = (int64_t)at + in.length + ops[0].imm.value.s;
		if (to >= 0 && to < fn->size)
			fn->target[to] = 1;
	}
	return true;
}

static void forget(uint32_t *writer)
{
	for (int i = 0; i < REGISTERS; i++)
		writer[i] = UNKNOWN;
}

static void note_writes(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops, uint32_t at, uint32_t *writer)
{
	/* a call keeps rbx, rbp, rsp and r12 to r15 */
	static const uint8_t lost[] = { 0, 1, 2, 4, 5, 8, 9, 10, 11 };

	if (in->mnemonic == ZYDIS_MNEMONIC_CALL || in->mnemonic == ZYDIS_MNEMONIC_SYSCALL)
		for (size_t i = 0; i < sizeof(lost); i++)
			writer[lost[i]] = UNKNOWN;
	for (int i = 0; i < in->operand_count; i++) {
		unsigned int nr = ops[i].type == ZYDIS_OPERAND_TYPE_REGISTER ? number_of(ops[i].reg.value) : REGISTERS;

		if (nr < REGISTERS && (ops[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			writer[nr] = at;
	}
	if (in->meta.category == ZYDIS_CATEGORY_UNCOND_BR || in->meta.category == ZYDIS_CATEGORY_RET)
		forget(writer);
}

static bool is_register(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->size == 64 && number_of(op->reg.value) < REGISTERS;
}

/* What the instruction at 'at' has put into the register. */
static bool describe(const struct function *fn, uint32_t at, uint64_t vaddr, unsigned int reg, struct sym_origin *o)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;

	if (!decode(fn, at, &in, ops) || in.operand_count < 2 || !is_register(&ops[0]) ||
	    number_of(ops[0].reg.value) != reg)
		return false;
	*o = (struct sym_origin){ .vaddr = vaddr, .base = reg };
	switch (in.mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		if (is_register(&ops[1])) {
			o->base = number_of(ops[1].reg.value);
			return true;
		}
		o->load = true;
		break;
	case ZYDIS_MNEMONIC_LEA:
		break;
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
		if (ops[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
			return false;
		o->disp = in.mnemonic == ZYDIS_MNEMONIC_ADD ? ops[1].imm.value.s : -ops[1].imm.value.s;
		return true;
	default:
		return false;
	}
	if (ops[1].type != ZYDIS_OPERAND_TYPE_MEMORY || ops[1].mem.index != ZYDIS_REGISTER_NONE ||
	    ops[1].mem.segment == ZYDIS_REGISTER_FS || ops[1].mem.segment == ZYDIS_REGISTER_GS)
		return false;
	o->disp = ops[1].mem.disp.value;
	o->fixed = ops[1].mem.base == ZYDIS_REGISTER_RIP || ops[1].mem.base == ZYDIS_REGISTER_NONE;
	if (ops[1].mem.base == ZYDIS_REGISTER_RIP)
		o->disp += (int64_t)(vaddr + in.length);
	o->base = number_of(ops[1].mem.base);
	return o->fixed || o->base < REGISTERS;
}

bool sym_origin(struct symfile *f, uint64_t vaddr, unsigned int reg, struct sym_origin *o)
{
	const struct sym *s = sym_at(f, vaddr, true);
	uint64_t offset = s ? symfile_offset_of(f, s->vaddr) : UINT64_MAX;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;
	uint32_t writer[REGISTERS], end, at = 0;
	struct function fn = { 0 };
	bool known = false;

	if (offset == UINT64_MAX || reg >= REGISTERS || !s->size || s->size > FUNCTION_MAX)
		return false;
	end = (uint32_t)(vaddr - s->vaddr);
	fn.size = (uint32_t)s->size;
	fn.code = malloc(fn.size);
	fn.target = calloc(fn.size, 1);
	ZydisDecoderInit(&fn.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!fn.code || !fn.target || pread(f->fd, fn.code, fn.size, (off_t)offset) != (ssize_t)fn.size ||
	    !find_targets(&fn))
		goto out;
	for (int i = 0; i < REGISTERS; i++)
		writer[i] = ENTRY;
	for (; at < end; at += in.length) {
		if (fn.target[at])
			forget(writer);
		if (!decode(&fn, at, &in, ops))
			goto out;
		note_writes(&in, ops, at, writer);
	}
	known = at == end && !fn.target[end] && writer[reg] != UNKNOWN;
	if (known && writer[reg] == ENTRY)
		*o = (struct sym_origin){ .vaddr = s->vaddr, .base = reg };
	else
		known = known && describe(&fn, writer[reg], s->vaddr + writer[reg], reg, o);
out:
	free(fn.code);
	free(fn.target);
	return known;
}

bool sym_call_that_ends(struct symfile *f, uint64_t end, uint64_t *call)
{
	/* by the length: call rel32, call [rip+rel32], call reg, call r8 to r15, call [reg+disp8], call [r8+disp8] */
	static const uint8_t lengths[] = { 5, 6, 2, 3, 4 };
	uint8_t code[ZYDIS_MAX_INSTRUCTION_LENGTH];
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (size_t i = 0; i < sizeof(lengths) && end >= lengths[i]; i++) {
		*call = end - lengths[i];
		if (pread(f->fd, code, lengths[i], (off_t)*call) == lengths[i] &&
		    ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, lengths[i], &in, ops)) &&
		    in.mnemonic == ZYDIS_MNEMONIC_CALL && in.length == lengths[i])
			return true;
	}
	return false;
}
