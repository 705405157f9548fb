/* SPDX-License-Identifier: GPL-2.0-only */
/* code_value.c - what one instruction is about to access and to write: for races that look harmless, and debuggers */
#include <errno.h>
#include <Zydis/Zydis.h>
#include "probes/code_internal.h"

bool code_decode(const uint8_t *bytes, size_t n, ZydisDecodedInstruction *in, ZydisDecodedOperand *ops)
{
	ZydisDecoder d;

	ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&d, bytes, n, in, ops));
}

int code_stored_value(const struct code_place *p, const uint8_t *bytes, size_t n, const uint64_t *regs,
		      uint64_t *value)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;
	uint64_t v;

	if (p->kind != CODE_STORE || !p->size || p->size > 8 || !code_decode(bytes, n, &in, ops) ||
	    in.mnemonic != ZYDIS_MNEMONIC_MOV)
		return -ENOENT;
	if (ops[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
		v = ops[1].imm.value.u;
	} else if (ops[1].type == ZYDIS_OPERAND_TYPE_REGISTER) {
		ZydisRegister r = ops[1].reg.value;

		/* ah, bh, ch, dh lie across two bytes of others */
		if (ZydisRegisterGetId(r) < 0 || ZydisRegisterGetId(r) > 15 ||
		    (r >= ZYDIS_REGISTER_AH && r <= ZYDIS_REGISTER_BH) ||
		    ZydisRegisterGetClass(r) > ZYDIS_REGCLASS_GPR64)
			return -ENOENT;
		v = code_register(regs, ZydisRegisterGetId(ZydisRegisterGetLargestEnclosing(
						ZYDIS_MACHINE_MODE_LONG_64, r)));
	} else {
		return -ENOENT;
	}
	*value = p->size == 8 ? v : v & ((1ull << 8 * p->size) - 1);
	return 0;
}

/* The value of a register in an address; false: the registers at hand do not tell. */
static bool value_of(ZydisRegister r, const uint64_t *regs, uint64_t next, uint64_t *value)
{
	*value = 0;
	if (r == ZYDIS_REGISTER_NONE)
		return true;
	if (r == ZYDIS_REGISTER_RIP || r == ZYDIS_REGISTER_EIP)
		*value = next;
	else if (ZydisRegisterGetClass(r) == ZYDIS_REGCLASS_GPR64 || ZydisRegisterGetClass(r) == ZYDIS_REGCLASS_GPR32)
		*value = code_register(regs, ZydisRegisterGetId(r));
	else
		return false;
	return true;
}

static bool memory_of(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, const uint64_t *regs,
		      struct code_memory *m)
{
	uint64_t base, index, next = regs[16] + in->length;

	/* vsib: as many addresses as a vector has elements; xsave and its kin tell no size */
	if (op->mem.type == ZYDIS_MEMOP_TYPE_VSIB || !op->size || op->size / 8 > CODE_MEMORY_MOST ||
	    !value_of(op->mem.base, regs, next, &base) || !value_of(op->mem.index, regs, next, &index) ||
	    op->mem.segment == ZYDIS_REGISTER_GS)
		return false;
	m->addr = base + index * op->mem.scale + op->mem.disp.value;
	if (in->address_width == 32)
		m->addr = (uint32_t)m->addr;
	if (op->mem.segment == ZYDIS_REGISTER_FS)
		m->addr += regs[17];
	m->size = op->size / 8;
	m->write = op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
	/* push and call store below the stack pointer that they find */
	if (op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && op->mem.base == ZYDIS_REGISTER_RSP && m->write &&
	    !op->mem.disp.value)
		m->addr -= m->size;
	return true;
}

int code_memory(const uint8_t *bytes, size_t n, const uint64_t *regs, struct code_memory *m, int max)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;
	int nr = 0;

	if (!code_decode(bytes, n, &in, ops) || in.mnemonic == ZYDIS_MNEMONIC_ENTER)
		return -ENOENT;
	for (int i = 0; i < in.operand_count; i++) {
		/* lea, and the hint that a long nop carries, access nothing */
		if (ops[i].type != ZYDIS_OPERAND_TYPE_MEMORY || ops[i].mem.type == ZYDIS_MEMOP_TYPE_AGEN ||
		    in.mnemonic == ZYDIS_MNEMONIC_NOP)
			continue;
		if (nr == max || !memory_of(&in, &ops[i], regs, &m[nr]))
			return -ENOENT;
		nr++;
	}
	return nr;
}

bool code_counts(const struct code_place *p, const uint8_t *bytes, size_t n)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;

	if (p->kind != CODE_RMW || !code_decode(bytes, n, &in, ops))
		return false;
	return in.mnemonic == ZYDIS_MNEMONIC_ADD || in.mnemonic == ZYDIS_MNEMONIC_SUB ||
	       in.mnemonic == ZYDIS_MNEMONIC_INC || in.mnemonic == ZYDIS_MNEMONIC_DEC;
}
