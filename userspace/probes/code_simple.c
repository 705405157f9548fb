/* SPDX-License-Identifier: GPL-2.0-only */
/* code_simple.c - instructions that the kernel side executes in their place (bpf/execute.bpf.h) */
#include <string.h>
#include <Zydis/Zydis.h>
#include "probes/code_internal.h"

uint8_t code_saved_register(uint8_t nr)
{
	static const uint8_t words[16] = { 10, 11, 12, 5, 19, 4, 13, 14, 9, 8, 7, 6, 3, 2, 1, 0 };

	return nr < 16 ? words[nr] : CODE_NO_REG;
}

static uint8_t op_of(ZydisMnemonic m)
{
	switch (m) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
	case ZYDIS_MNEMONIC_LEA:
		return ZUG_INSN_MOVE;
	case ZYDIS_MNEMONIC_ADD:
		return ZUG_INSN_ADD;
	case ZYDIS_MNEMONIC_SUB:
		return ZUG_INSN_SUB;
	case ZYDIS_MNEMONIC_AND:
		return ZUG_INSN_AND;
	case ZYDIS_MNEMONIC_OR:
		return ZUG_INSN_OR;
	case ZYDIS_MNEMONIC_XOR:
		return ZUG_INSN_XOR;
	case ZYDIS_MNEMONIC_CMP:
		return ZUG_INSN_CMP;
	case ZYDIS_MNEMONIC_TEST:
		return ZUG_INSN_TEST;
	default:
		return ZUG_INSN_NONE;
	}
}

/* The number of a general register; false: it is another one, or ah, bh, ch, dh, which lie in the middle of others. */
static bool general(ZydisRegister r, uint8_t *nr)
{
	ZydisRegisterClass class = ZydisRegisterGetClass(r);

	if (class < ZYDIS_REGCLASS_GPR8 || class > ZYDIS_REGCLASS_GPR64 ||
	    (r >= ZYDIS_REGISTER_AH && r <= ZYDIS_REGISTER_BH))
		return false;
	*nr = code_saved_register(ZydisRegisterGetId(ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r)));
	return *nr != CODE_NO_REG;
}

static bool part_of_address(ZydisRegister r, uint8_t *nr)
{
	*nr = r == ZYDIS_REGISTER_RIP ? ZUG_INSN_IP : ZUG_INSN_NO_REG;
	return r == ZYDIS_REGISTER_NONE || r == ZYDIS_REGISTER_RIP ||
	       (ZydisRegisterGetClass(r) == ZYDIS_REGCLASS_GPR64 && general(r, nr));
}

static bool set_memory(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *o, struct zug_insn *insn)
{
	int64_t disp = o->mem.disp.value;

	insn->shift = o->mem.scale == 8 ? 3 : o->mem.scale / 2;
	insn->disp = disp;
	return in->address_width == 64 && insn->disp == disp && part_of_address(o->mem.base, &insn->base) &&
	       part_of_address(o->mem.index, &insn->index) && insn->index != ZUG_INSN_IP &&
	       o->mem.segment != ZYDIS_REGISTER_FS && o->mem.segment != ZYDIS_REGISTER_GS;
}

/* One operand: where it is, and its register. */
static bool set_place(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *o, struct zug_insn *insn,
		      uint8_t *place, uint8_t *reg)
{
	switch (o->type) {
	case ZYDIS_OPERAND_TYPE_REGISTER:
		*place = ZUG_INSN_REG;
		return general(o->reg.value, reg);
	case ZYDIS_OPERAND_TYPE_MEMORY:
		*place = o->mem.type == ZYDIS_MEMOP_TYPE_AGEN ? ZUG_INSN_ADDR : ZUG_INSN_MEM;
		return set_memory(in, o, insn);
	case ZYDIS_OPERAND_TYPE_IMMEDIATE:
		*place = ZUG_INSN_IMM;
		insn->imm = o->imm.value.s;
		/* a constant of 8 bytes that is not one of 4 with its sign */
		return insn->imm == o->imm.value.s || insn->size <= 4;
	default:
		return false;
	}
}

static bool is_size(uint32_t bytes)
{
	return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

void code_simple(const uint8_t *bytes, size_t n, struct zug_insn *insn)
{
	ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;
	struct zug_insn i = { 0 };

	memset(insn, 0, sizeof(*insn));
	if (!code_decode(bytes, n, &in, o) || in.operand_count_visible != 2 ||
	    in.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY || in.attributes & ZYDIS_ATTRIB_HAS_LOCK)
		return;
	i.op = op_of(in.mnemonic);
	i.len = in.length;
	i.size = o[0].size / 8;
	i.from_size = o[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE || in.mnemonic == ZYDIS_MNEMONIC_LEA ? i.size : o[1].size / 8;
	i.extend_sign = in.mnemonic == ZYDIS_MNEMONIC_MOVSX || in.mnemonic == ZYDIS_MNEMONIC_MOVSXD;
	i.base = i.index = ZUG_INSN_NO_REG;
	if (!i.op || !is_size(i.size) || !is_size(i.from_size) || !set_place(&in, &o[0], &i, &i.to, &i.to_reg) ||
	    !set_place(&in, &o[1], &i, &i.from, &i.from_reg) || i.to == ZUG_INSN_IMM)
		return;
	*insn = i;
}
