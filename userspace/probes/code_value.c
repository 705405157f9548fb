/* SPDX-License-Identifier: GPL-2.0-only */
/* code_value.c - what an instruction is about to write: for races that look harmless */
#include <errno.h>
#include <Zydis/Zydis.h>
#include "probes/code_internal.h"

static bool decode(const uint8_t *bytes, size_t n, ZydisDecodedInstruction *in, ZydisDecodedOperand *ops)
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

	if (p->kind != CODE_STORE || !p->size || p->size > 8 || !decode(bytes, n, &in, ops) ||
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

bool code_counts(const struct code_place *p, const uint8_t *bytes, size_t n)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;

	if (p->kind != CODE_RMW || !decode(bytes, n, &in, ops))
		return false;
	return in.mnemonic == ZYDIS_MNEMONIC_ADD || in.mnemonic == ZYDIS_MNEMONIC_SUB ||
	       in.mnemonic == ZYDIS_MNEMONIC_INC || in.mnemonic == ZYDIS_MNEMONIC_DEC;
}
