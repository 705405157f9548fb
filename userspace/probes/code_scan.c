/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * code_scan.c - from machine code to places
 *
 * The disassembler is Zydis. Measured beside capstone 4 (Debian 12) on 10 MB of libLLVM: 0.22 s with
 * operands against 0.78 s; and capstone 4 takes cmpxchg, movups to memory and fstp for reads only,
 * which would make writers invisible.
 *
 * One pass over the bytes. Only instructions with a memory operand have their operands decoded.
 * code_scan() goes over the functions of a file, scan_function() over the instructions of one,
 * access_of() makes a place of one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <Zydis/Zydis.h>
#include "lib/base/array.h"
#include "probes/code_internal.h"

struct scan {
	struct code *c;
	const uint8_t *file;
	size_t size;
	ZydisDecoder decoder;
	uint64_t *starts;	/* bitmap: an instruction begins at this file offset */
	uint32_t begin;		/* of the function that is scanned */
	struct jump {
		uint32_t from, to;
	} *jumps;		/* that do not stay in their function, or went backwards to no instruction */
	size_t nr_jumps, size_jumps;
	uint64_t *atomics;	/* vaddrs that LOCK or xchg accesses */
	size_t nr_atomics, size_atomics;
	struct code_locks locks;
};

static bool is_start(const struct scan *s, uint32_t offset)
{
	return s->starts[offset / 64] >> (offset % 64) & 1;
}

/* ---- what uprobes take ---- */

/* First opcode bytes (of VEX instructions: the only one) that arch/x86/kernel/uprobes.c calls good, 64-bit. */
static bool good_opcode(uint8_t op)
{
	static const uint8_t bad[] = {
		0x06, 0x07, 0x0e, 0x16, 0x17, 0x1e, 0x1f, 0x27, 0x2f, 0x37, 0x3f, 0x60, 0x61, 0x62, 0x6c,
		0x6d, 0x6e, 0x6f, 0x82, 0x9a, 0xcc, 0xcd, 0xce, 0xcf, 0xd4, 0xd5, 0xd6, 0xe4, 0xe5, 0xe6,
		0xe7, 0xea, 0xec, 0xed, 0xee, 0xef, 0xf1, 0xf4, 0xfa, 0xfb,
	};

	return !memchr(bad, op, sizeof(bad));
}

/* Second bytes after 0x0f that it does not; kernels differ, so this is what all of them take. */
static bool good_second(uint8_t op)
{
	static const uint8_t bad[] = {
		0x00, 0x01, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x30, 0x34, 0x35, 0x37, 0x78,
		0x79, 0xae,
	};

	return !memchr(bad, op, sizeof(bad));
}

static bool probeable(const ZydisDecodedInstruction *in)
{
	for (int i = 0; i < in->raw.prefix_count; i++)
		switch (in->raw.prefixes[i].value) {
		case 0x26: case 0x2e: case 0x36: case 0x3e: case 0xf0:
			return false;
		}
	switch (in->encoding) {
	case ZYDIS_INSTRUCTION_ENCODING_LEGACY:
		break;
	case ZYDIS_INSTRUCTION_ENCODING_VEX:
		return good_opcode(in->opcode);
	default:
		return false;
	}
	switch (in->opcode_map) {
	case ZYDIS_OPCODE_MAP_DEFAULT:
		/* mov to ss masks exceptions */
		return good_opcode(in->opcode) && !(in->opcode == 0x8e && in->raw.modrm.reg == 2);
	case ZYDIS_OPCODE_MAP_0F:
		return good_second(in->opcode);
	case ZYDIS_OPCODE_MAP_0F38:
	case ZYDIS_OPCODE_MAP_0F3A:
		return true;
	default:
		return false;
	}
}

/* ---- one instruction ---- */

/* The prefixes before LOCK can be moved behind a nop; those of lock elision mean something only with it. */
static bool rewritable(const ZydisDecodedInstruction *in)
{
	if (in->mnemonic == ZYDIS_MNEMONIC_MFENCE)
		return in->length == 3;
	for (int i = 0; i < in->raw.prefix_count; i++)
		if (in->raw.prefixes[i].value == 0xf2 || in->raw.prefixes[i].value == 0xf3)
			return false;
	return in->attributes & ZYDIS_ATTRIB_HAS_LOCK;
}

/* Names a memory operand but does not access it. */
static bool no_access(ZydisMnemonic m)
{
	switch (m) {
	case ZYDIS_MNEMONIC_NOP: case ZYDIS_MNEMONIC_LEA: case ZYDIS_MNEMONIC_PREFETCH:
	case ZYDIS_MNEMONIC_PREFETCHNTA: case ZYDIS_MNEMONIC_PREFETCHT0: case ZYDIS_MNEMONIC_PREFETCHT1:
	case ZYDIS_MNEMONIC_PREFETCHT2: case ZYDIS_MNEMONIC_PREFETCHW: case ZYDIS_MNEMONIC_PREFETCHWT1:
	case ZYDIS_MNEMONIC_CLFLUSH: case ZYDIS_MNEMONIC_CLFLUSHOPT: case ZYDIS_MNEMONIC_CLWB:
	case ZYDIS_MNEMONIC_CLDEMOTE: case ZYDIS_MNEMONIC_INVLPG:
		return true;
	default:
		return false;
	}
}

static uint8_t reg_number(ZydisRegister r, uint16_t *flags)
{
	if (r == ZYDIS_REGISTER_NONE)
		return CODE_NO_REG;
	if (r == ZYDIS_REGISTER_RIP)
		return CODE_RIP;
	/* 32-bit addresses wrap: no compiler uses them, and they are not told */
	if (ZydisRegisterGetClass(r) != ZYDIS_REGCLASS_GPR64) {
		*flags |= CODE_NO_ADDR;
		return CODE_NO_REG;
	}
	return ZydisRegisterGetId(r);
}

static void set_operand(const struct scan *s, struct code_place *p, const ZydisDecodedOperand *op,
			bool frame_pointer)
{
	uint64_t vaddr;

	p->base = reg_number(op->mem.base, &p->flags);
	p->index = reg_number(op->mem.index, &p->flags);
	p->shift = op->mem.scale > 1 ? __builtin_ctz(op->mem.scale) : 0;
	if (op->mem.disp.has_displacement) {
		p->disp = op->mem.disp.value;
		if (p->disp != op->mem.disp.value)
			p->flags |= CODE_NO_ADDR;
	}
	if (op->mem.segment == ZYDIS_REGISTER_FS)
		p->flags |= CODE_TLS;
	else if (op->mem.segment == ZYDIS_REGISTER_GS)
		p->flags |= CODE_NO_ADDR;
	if (p->base == 4 || (p->base == 5 && frame_pointer))
		p->flags |= CODE_STACK;
	if (code_static_operand(s->c, p, &vaddr) && code_is_const(s->c, vaddr))
		p->flags |= CODE_CONST;
}

static enum code_kind string_kind(ZydisMnemonic m)
{
	switch (m) {
	case ZYDIS_MNEMONIC_MOVSB: case ZYDIS_MNEMONIC_MOVSW: case ZYDIS_MNEMONIC_MOVSD:
	case ZYDIS_MNEMONIC_MOVSQ: case ZYDIS_MNEMONIC_STOSB: case ZYDIS_MNEMONIC_STOSW:
	case ZYDIS_MNEMONIC_STOSD: case ZYDIS_MNEMONIC_STOSQ: case ZYDIS_MNEMONIC_LODSB:
	case ZYDIS_MNEMONIC_LODSW: case ZYDIS_MNEMONIC_LODSD: case ZYDIS_MNEMONIC_LODSQ:
	case ZYDIS_MNEMONIC_CMPSB: case ZYDIS_MNEMONIC_CMPSW: case ZYDIS_MNEMONIC_CMPSD:
	case ZYDIS_MNEMONIC_CMPSQ: case ZYDIS_MNEMONIC_SCASB: case ZYDIS_MNEMONIC_SCASW:
	case ZYDIS_MNEMONIC_SCASD: case ZYDIS_MNEMONIC_SCASQ:
		return CODE_STRING;
	default:
		return 0;
	}
}

/* A place that is about no operand. */
static enum code_kind other_kind(ZydisMnemonic m)
{
	switch (m) {
	case ZYDIS_MNEMONIC_PAUSE: case ZYDIS_MNEMONIC_TPAUSE:
		return CODE_PAUSE;
	case ZYDIS_MNEMONIC_MFENCE: case ZYDIS_MNEMONIC_LFENCE: case ZYDIS_MNEMONIC_SFENCE:
		return CODE_FENCE;
	case ZYDIS_MNEMONIC_RDTSC: case ZYDIS_MNEMONIC_RDTSCP:
		return CODE_TIME;
	case ZYDIS_MNEMONIC_RDRAND: case ZYDIS_MNEMONIC_RDSEED:
		return CODE_RANDOM;
	default:
		return 0;
	}
}

/* `lock orq $0,(%rsp)` is a fence; on a variable of the frame the prefix is there for those who have its address. */
static bool changes_nothing(const ZydisDecodedInstruction *in)
{
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_ADD: case ZYDIS_MNEMONIC_OR: case ZYDIS_MNEMONIC_SUB: case ZYDIS_MNEMONIC_XOR:
		return in->raw.imm[0].size && !in->raw.imm[0].value.u;
	default:
		return false;
	}
}

/* Puts into p what the instruction does with memory; false: nothing of interest. */
static bool access_of(const struct scan *s, const ZydisDecoderContext *ctx, const ZydisDecodedInstruction *in,
		      bool frame_pointer, struct code_place *p)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	const ZydisDecodedOperand *mem = NULL;
	bool has_modrm = in->attributes & ZYDIS_ATTRIB_HAS_MODRM;

	p->kind = 0;
	p->len = in->length;
	/* lodsb and the like have theirs hidden; movsd is also the name of an SSE move */
	if (!has_modrm)
		p->kind = string_kind(in->mnemonic);
	if (!p->kind && has_modrm && (in->raw.modrm.mod == 3 || no_access(in->mnemonic)))
		return false;
	if (!p->kind && !has_modrm &&
	    !(in->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && (in->opcode & 0xfc) == 0xa0))
		return false;	/* mov rax, [64-bit address] is the only other one */
	if (ZYAN_FAILED(ZydisDecoderDecodeOperands(&s->decoder, ctx, in, ops, in->operand_count)))
		return false;
	for (int i = 0; i < in->operand_count; i++) {
		/* what push, pop and call do to the stack is hidden */
		if (ops[i].type != ZYDIS_OPERAND_TYPE_MEMORY || ops[i].mem.type != ZYDIS_MEMOP_TYPE_MEM ||
		    (!p->kind && ops[i].visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN))
			continue;
		if (ops[i].actions & ZYDIS_OPERAND_ACTION_MASK_READ)
			p->flags |= CODE_READ;
		if (ops[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			p->flags |= CODE_WRITE;
		/* of movs, where it writes to */
		if (!mem || (ops[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			mem = &ops[i];
	}
	if (!mem || !(p->flags & (CODE_READ | CODE_WRITE)) || mem->size / 8 > 64)
		return false;
	p->size = mem->size / 8;
	set_operand(s, p, mem, frame_pointer);
	if (p->kind) {
		if (in->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE))
			p->flags |= CODE_REP;
	} else if (in->attributes & ZYDIS_ATTRIB_HAS_LOCK) {
		p->kind = (p->flags & CODE_STACK) && changes_nothing(in) ? CODE_FENCE : CODE_LOCK;
	} else if (in->mnemonic == ZYDIS_MNEMONIC_XCHG) {
		p->kind = CODE_XCHG;
	} else {
		p->kind = p->flags & CODE_WRITE ? p->flags & CODE_READ ? CODE_RMW : CODE_STORE : CODE_LOAD;
	}
	return true;
}

static int add_place(struct code *c, const struct code_place *p)
{
	if (!ARRAY_RESERVE(c->places, c->size_places, c->nr_places + 1))
		return -ENOMEM;
	c->places[c->nr_places++] = *p;
	return 0;
}

static int add_jump(struct scan *s, uint32_t from, uint32_t to)
{
	if (!ARRAY_RESERVE(s->jumps, s->size_jumps, s->nr_jumps + 1))
		return -ENOMEM;
	s->jumps[s->nr_jumps++] = (struct jump){ from, to };
	return 0;
}

/* ---- calls of the C library ---- */

/* The stub of a procedure linkage table: a jump to where a word of the file leads, whose address is returned. */
static bool stub_word(const struct scan *s, uint32_t offset, uint64_t *vaddr)
{
	const uint8_t *p = s->file + offset, *end = s->file + s->size;
	int32_t disp;

	if (end - p < 16)
		return false;
	if (p[0] == 0xf3 && p[1] == 0x0f && p[2] == 0x1e && p[3] == 0xfa)
		p += 4;
	if (*p == 0xf2)
		p++;
	if (p[0] != 0xff || p[1] != 0x25)
		return false;
	memcpy(&disp, p + 2, sizeof(disp));
	*vaddr = code_vaddr(s->c, offset) + (p + 6 - (s->file + offset)) + disp;
	return true;
}

/* to: the file offset of what a call or jump goes to. */
static const struct code_target *called(const struct scan *s, uint32_t to)
{
	const struct code_target *t = code_target(s->c, code_vaddr(s->c, to), false);
	uint64_t word;

	return t || !stub_word(s, to, &word) ? t : code_target(s->c, word, true);
}

static bool is_call(const ZydisDecodedInstruction *in)
{
	return in->mnemonic == ZYDIS_MNEMONIC_CALL || in->mnemonic == ZYDIS_MNEMONIC_JMP;
}

/* The text that begins at vaddr, where nothing can be written; NULL: there is none in the file. */
static const char *constant_text(const struct scan *s, uint64_t vaddr)
{
	for (uint32_t i = 0; i < s->c->nr_segments; i++) {
		const struct code_segment *g = &s->c->segments[i];
		uint64_t at = g->offset + (vaddr - g->vaddr);

		if (g->write || vaddr < g->vaddr || vaddr - g->vaddr >= g->filesz)
			continue;
		if (at < s->size && memchr(s->file + at, 0, s->size - at))
			return (const char *)s->file + at;
	}
	return NULL;
}

/*
 * The instruction that ends at `end` of the function that is scanned: where it begins. 0: it is not known, or comes from
 * elsewhere.
 */
static uint32_t instruction_before(const struct scan *s, uint32_t end, ZydisDecodedInstruction *in, ZydisDecodedOperand *ops)
{
	enum { LONGEST = 15 };
	uint32_t at = end;

	while (at > s->begin && end - at < LONGEST)
		if (is_start(s, --at))
			return code_decode(s->file + at, end - at, in, ops) && in->length == end - at && !is_call(in) &&
			       !in->raw.imm[0].is_relative && in->mnemonic != ZYDIS_MNEMONIC_RET ? at : 0;
	return 0;
}

/* Its register of 64 bits. */
static ZydisRegister whole(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER ?
	       ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, op->reg.value) : ZYDIS_REGISTER_NONE;
}

/*
 * The text whose address is in a register before the instruction at `offset`: it was put there a few instructions before, as a
 * number or relative to the instruction, or is moved there from another register. NULL: no such instruction.
 */
static const char *text_in(const struct scan *s, uint32_t offset, uint8_t reg)
{
	enum { INSTRUCTIONS = 24 };
	ZydisRegister holds = ZYDIS_REGISTER_RAX + reg;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;
	uint32_t at = offset;

	for (unsigned int n = 0; n < INSTRUCTIONS && (at = instruction_before(s, at, &in, ops)); n++) {
		bool writes = false;

		for (int i = 0; i < in.operand_count && !writes; i++)
			writes = ops[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE && whole(&ops[i]) == holds;
		if (!writes)
			continue;
		if (in.mnemonic == ZYDIS_MNEMONIC_MOV && whole(&ops[1]) != ZYDIS_REGISTER_NONE) {
			holds = whole(&ops[1]);
			continue;
		}
		if (in.mnemonic == ZYDIS_MNEMONIC_LEA && ops[1].mem.base == ZYDIS_REGISTER_RIP)
			return constant_text(s, code_vaddr(s->c, at) + in.length + ops[1].mem.disp.value);
		if (in.mnemonic == ZYDIS_MNEMONIC_MOV && ops[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
			return constant_text(s, ops[1].imm.value.u);
		return NULL;
	}
	return NULL;
}

/* The register with the first string that a call there prints, and that is no constant; CODE_NO_REG: it is not known. */
static uint8_t printed_string(const struct scan *s, uint32_t offset, uint8_t format)
{
	static const uint8_t args[] = { CODE_RDI, CODE_RSI, CODE_RDX, CODE_RCX, CODE_R8, CODE_R9 };
	const char *text = format ? text_in(s, offset, args[format - 1]) : NULL;
	int nr;

	for (unsigned int i = 0; text && (nr = code_printed_string(text, i)) >= 0; i++) {
		if ((size_t)nr + format >= sizeof(args))
			break;
		if (!text_in(s, offset, args[nr + format]))
			return args[nr + format];
	}
	return CODE_NO_REG;
}

static int add_block(struct scan *s, uint32_t offset, const ZydisDecodedInstruction *in, enum code_block b,
		     const struct code_target *t)
{
	const struct code_block_access *access = code_block_access(b);
	struct code_place p = {
		.offset = offset, .kind = CODE_BLOCK, .len = in->length, .size = b,
		.base = access->base, .index = CODE_NO_REG,
		.flags = access->operand | (access->atomic ? CODE_SHARED : 0) | (probeable(in) ? CODE_PROBE : 0),
	};

	if (b == t->block)
		p.index = printed_string(s, offset, t->format);
	if (access->base == CODE_NO_REG) {
		if (p.index == CODE_NO_REG)
			return 0;
		p.base = p.index;
		p.index = CODE_NO_REG;
	}
	if (access->keeps)
		p.disp = t->keeper - (code_vaddr(s->c, offset) + in->length);
	return add_place(s->c, &p);
}

/*
 * What a call has returned lies in memory that the function keeps, and is used behind it: at the first instruction there that
 * can be probed and accesses no other data. One that looks into the result is that as well: nothing else leads there.
 */
#define KEPT_WITHIN 4	/* instructions behind the call, at most */
struct kept_result {
	const struct code_target *by;
	uint32_t left;		/* instructions that may still be it; 0: none */
};

static int add_call(struct scan *s, uint32_t offset, const ZydisDecodedInstruction *in, const struct code_target *t,
		    struct kept_result *k)
{
	const struct code_place p = {
		.offset = offset, .kind = CODE_CALL, .len = in->length, .base = CODE_RDI, .index = CODE_NO_REG, .flags = CODE_PROBE,
	};

	if (t->role) {
		k->left = 0;
		if (t->role < ROLE_EXCHANGE)
			return code_locks_slow(&s->locks, offset, t->role);
		if (t->role == ROLE_PANICS || in->mnemonic != ZYDIS_MNEMONIC_CALL || !probeable(in))
			return 0;
		return code_locks_call(&s->locks, offset, t->role, s->c->nr_places) ?: add_place(s->c, &p);
	}
	*k = (struct kept_result){ .by = t, .left = t->returns && in->mnemonic == ZYDIS_MNEMONIC_CALL ? KEPT_WITHIN : 0 };
	return add_block(s, offset, in, t->block, t);
}

/* p: what the instruction accesses; kind 0: nothing. 1: it is that place, and has been added; 0: it is not; or -errno. */
static int add_kept(struct scan *s, struct kept_result *k, const ZydisDecodedInstruction *in, const struct code_place *p)
{
	bool of_result = p->kind == CODE_LOAD && p->base == CODE_RAX;

	if (!k->left)
		return 0;
	k->left--;
	if (in->raw.imm[0].is_relative || is_call(in) || in->mnemonic == ZYDIS_MNEMONIC_RET) {
		k->left = 0;
		return 0;
	}
	if (!probeable(in) || (p->kind && !of_result && !(p->flags & CODE_LOCAL)))
		return 0;
	k->left = 0;
	return add_block(s, p->offset, in, CODE_BLOCK_KEPT, k->by) ?: 1;
}

/* ---- one function ---- */

/*
 * C11 atomic loads and stores are plain instructions: what accesses the same member, or the same
 * static variable, as a LOCK or xchg of its function is most likely one of them.
 */
static int mark_shared(struct scan *s, uint32_t first)
{
	struct code *c = s->c;
	uint32_t nr = 0, list[32];
	uint64_t vaddr;

	for (uint32_t i = first; i < c->nr_places; i++) {
		const struct code_place *p = &c->places[i];

		if ((p->kind != CODE_LOCK && p->kind != CODE_XCHG) ||
		    (p->flags & (CODE_TLS | CODE_CONST | CODE_NO_ADDR)))
			continue;
		if (!code_static_operand(c, p, &vaddr)) {
			if (nr < 32)
				list[nr++] = i;
			continue;
		}
		if (!ARRAY_RESERVE(s->atomics, s->size_atomics, s->nr_atomics + 1))
			return -ENOMEM;
		s->atomics[s->nr_atomics++] = vaddr;
	}
	for (uint32_t i = first; nr && i < c->nr_places; i++) {
		struct code_place *p = &c->places[i];

		if (p->kind > CODE_RMW || (p->flags & (CODE_TLS | CODE_CONST | CODE_NO_ADDR)) || p->base == CODE_RIP)
			continue;
		for (uint32_t k = 0; k < nr; k++) {
			const struct code_place *a = &c->places[list[k]];

			if (p->disp == a->disp && p->size == a->size &&
			    (p->index == CODE_NO_REG) == (a->index == CODE_NO_REG) &&
			    (p->base == CODE_NO_REG) == (a->base == CODE_NO_REG) &&
			    (!((p->flags | a->flags) & CODE_STACK) || p->base == a->base))
				p->flags |= CODE_SHARED;
		}
	}
	return 0;
}

/*
 * What a function reads of the table of a switch: "movsxd rax, [rcx + 4 * rax]" and "add rax, rcx", or without optimisation
 * "mov eax, [rdx + rax]", "cdqe", "lea" and "add", and then "jmp rax". No task writes to such a table.
 */
#define TABLE_JUMP 4	/* instructions from the read to the jump, at most */
struct table_read {
	uint32_t place, since;	/* since: instructions; more than TABLE_JUMP: there is none */
	ZydisMnemonic last;
};

static bool may_read_table(const ZydisDecodedInstruction *in, const struct code_place *p)
{
	return p->kind == CODE_LOAD && p->size == 4 && p->index != CODE_NO_REG &&
	       (in->mnemonic == ZYDIS_MNEMONIC_MOVSXD || in->mnemonic == ZYDIS_MNEMONIC_MOV);
}

static void look_for_table(struct code *c, struct table_read *t, const ZydisDecodedInstruction *in)
{
	if (++t->since <= TABLE_JUMP && in->mnemonic == ZYDIS_MNEMONIC_JMP && !in->raw.imm[0].is_relative &&
	    in->raw.modrm.mod == 3 && t->last == ZYDIS_MNEMONIC_ADD)
		c->places[t->place].flags |= CODE_CONST;
	if (in->mnemonic == ZYDIS_MNEMONIC_RET)
		t->since = TABLE_JUMP;
	t->last = in->mnemonic;
}

/* 0, -EINVAL: it does not decode, or -ENOMEM. */
static int scan_function(struct scan *s, const struct code_function *f)
{
	ZydisDecodedInstruction in;
	ZydisDecoderContext ctx;
	struct code *c = s->c;
	uint32_t off = f->start, first = c->nr_places, n = 0, pending = UINT32_MAX;
	struct table_read table = { .since = TABLE_JUMP };
	size_t first_jump = s->nr_jumps;
	struct kept_result kept = { 0 };
	const struct code_target *t;
	bool frame_pointer = false;
	int ret = 0;

	s->begin = f->start;
	t = c->nr_targets ? code_target(c, code_vaddr(c, f->start), false) : NULL;
	code_locks_begin(&s->locks, t ? t->role : ROLE_NONE);
	for (; off < f->end && !ret; off += in.length, n++) {
		struct code_place p = { .offset = off, .base = CODE_NO_REG, .index = CODE_NO_REG };

		if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&s->decoder, &ctx, s->file + off, s->size - off,
							      &in)) || in.length > f->end - off) {
			c->nr_places = first;
			s->nr_jumps = first_jump;
			return -EINVAL;
		}
		s->starts[off / 64] |= 1ull << (off % 64);
		if (pending != UINT32_MAX) {
			if (probeable(&in))
				c->places[pending].flags |= CODE_NEXT;
			pending = UINT32_MAX;
		}
		look_for_table(c, &table, &in);
		code_locks_instruction(&s->locks, &in, off);
		/* mov rbp, rsp */
		if (in.mnemonic == ZYDIS_MNEMONIC_MOV && n < 16 && in.length == 3 && s->file[off] == 0x48 &&
		    ((s->file[off + 1] == 0x89 && s->file[off + 2] == 0xe5) ||
		     (s->file[off + 1] == 0x8b && s->file[off + 2] == 0xec)))
			frame_pointer = true;
		if (in.raw.imm[0].is_relative) {
			int64_t to = (int64_t)off + in.length + in.raw.imm[0].value.s;

			/* one forward in the function cannot be judged yet; most of the others can */
			if (to < 0 || to >= UINT32_MAX || to > off || to < f->start || !is_start(s, to))
				ret = to < 0 || to >= (int64_t)s->size ? 0 : add_jump(s, off, to);
			if (!ret && c->nr_targets && is_call(&in) && to >= 0 && to < (int64_t)s->size &&
			    (to < f->start || to >= f->end) && (t = called(s, to)))
				ret = add_call(s, off, &in, t, &kept);
			else
				kept.left = 0;
			continue;
		}
		if (c->nr_targets && is_call(&in) && in.raw.modrm.mod == 0 && in.raw.modrm.rm == 5 &&
		    (t = code_target(c, code_vaddr(c, off) + in.length + (int32_t)in.raw.disp.value, true))) {
			ret = add_call(s, off, &in, t, &kept);
			continue;
		}
		if (!access_of(s, &ctx, &in, frame_pointer, &p)) {
			p.kind = other_kind(in.mnemonic);
			p.flags = CODE_NO_ADDR;
		}
		ret = add_kept(s, &kept, &in, &p);
		if (ret || !p.kind) {
			ret = ret < 0 ? ret : 0;
			continue;
		}
		if (probeable(&in)) {
			p.flags |= CODE_PROBE;
		} else {
			if (rewritable(&in))
				p.flags |= CODE_REWRITE;
			pending = c->nr_places;
		}
		if (may_read_table(&in, &p))
			table = (struct table_read){ .place = c->nr_places, .last = in.mnemonic };
		ret = code_locks_place(&s->locks, &in, c->nr_places, &p) ?: add_place(c, &p);
	}
	code_locks_end(&s->locks, c, first);
	return ret ? ret : mark_shared(s, first);
}

static int compare_u64(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

/* Plain accesses to the static variables that some LOCK or xchg of the file accesses. */
static void mark_static(struct scan *s)
{
	struct code *c = s->c;
	uint64_t vaddr, lo, hi;

	if (!s->nr_atomics)
		return;
	qsort(s->atomics, s->nr_atomics, sizeof(*s->atomics), compare_u64);
	lo = s->atomics[0];
	hi = s->atomics[s->nr_atomics - 1];
	for (uint32_t i = 0; i < c->nr_places; i++) {
		struct code_place *p = &c->places[i];

		if (p->kind > CODE_RMW || (p->flags & (CODE_LOCAL | CODE_NO_ADDR)) ||
		    !code_static_operand(c, p, &vaddr) || vaddr < lo || vaddr > hi)
			continue;
		if (bsearch(&vaddr, s->atomics, s->nr_atomics, sizeof(vaddr), compare_u64))
			p->flags |= CODE_SHARED;
	}
}

/*
 * A jump into the middle of an instruction says that one of the two ends is no code. Old C libraries
 * jump behind a LOCK prefix on purpose, when there is one thread only.
 */
static int judge_jumps(struct scan *s, struct code_function *list, uint32_t *nr)
{
	struct code *c = s->c;
	uint8_t *bad = NULL;
	uint32_t n = 0, k = 0, f = 0;

	for (size_t i = 0; i < s->nr_jumps; i++) {
		const struct code_function *at;
		uint32_t to = s->jumps[i].to;

		if (is_start(s, to) || (to && s->file[to - 1] == 0xf0 && is_start(s, to - 1)))
			continue;
		at = code_function_in(list, *nr, to);
		if (!at)
			continue;
		if (!bad && !(bad = calloc(*nr, 1)))
			return -ENOMEM;
		bad[at - list] = 1;
		at = code_function_in(list, *nr, s->jumps[i].from);
		if (at)
			bad[at - list] = 1;
	}
	if (!bad)
		return 0;
	for (uint32_t i = 0; i < c->nr_places; i++) {
		while (list[f].end <= c->places[i].offset)
			f++;
		if (!bad[f])
			c->places[n++] = c->places[i];
	}
	c->nr_places = n;
	for (uint32_t i = 0; i < *nr; i++) {
		if (bad[i])
			c->stats.left_out++;
		else
			list[k++] = list[i];
	}
	*nr = k;
	free(bad);
	return 0;
}

int code_scan(struct code *c, const uint8_t *file, size_t size, struct code_function *list, uint32_t nr)
{
	struct scan s = { .c = c, .file = file, .size = size };
	uint32_t k = 0;
	int ret = 0;

	ZydisDecoderInit(&s.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	s.starts = calloc(size / 64 + 1, sizeof(*s.starts));
	if (!s.starts)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr && !ret; i++) {
		if (list[i].end > size)
			continue;
		ret = scan_function(&s, &list[i]);
		if (!ret) {
			c->stats.bytes += list[i].end - list[i].start;
			list[k++] = list[i];
		} else if (ret == -EINVAL) {
			c->stats.left_out++;
			ret = 0;
		}
	}
	if (!ret)
		ret = judge_jumps(&s, list, &k);
	if (!ret) {
		mark_static(&s);
		c->functions = malloc((k + 1) * sizeof(*list));
		if (c->functions) {
			if (k)
				memcpy(c->functions, list, k * sizeof(*list));
			c->nr_functions = k;
		} else {
			ret = -ENOMEM;
		}
	}
	free(s.starts);
	free(s.jumps);
	free(s.atomics);
	code_locks_free(&s.locks);
	return ret;
}

/* ---- one place again ---- */

bool code_verify(const struct code_place *p, const uint8_t *bytes, size_t n)
{
	struct code none = { 0 };
	struct scan s = { .c = &none };
	struct code_place now = { .base = CODE_NO_REG, .index = CODE_NO_REG };
	const uint16_t same = CODE_READ | CODE_WRITE | CODE_TLS | CODE_REP;
	ZydisDecodedInstruction in;
	ZydisDecoderContext ctx;

	ZydisDecoderInit(&s.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&s.decoder, &ctx, bytes, n, &in)) || in.length != p->len)
		return false;
	/* where it goes the instruction alone does not say */
	if (p->kind == CODE_CALL)
		return in.mnemonic == ZYDIS_MNEMONIC_CALL && probeable(&in);
	if (p->kind == CODE_BLOCK)
		return is_call(&in) == (p->size != CODE_BLOCK_KEPT) && !(p->flags & CODE_PROBE) == !probeable(&in);
	if (!access_of(&s, &ctx, &in, p->flags & CODE_STACK, &now))
		return other_kind(in.mnemonic) == (enum code_kind)p->kind;
	return now.kind == p->kind && now.size == p->size && now.base == p->base && now.index == p->index &&
	       now.shift == p->shift && now.disp == p->disp && (now.flags & same) == (p->flags & same) &&
	       !(p->flags & CODE_PROBE) == !probeable(&in) && (!(p->flags & CODE_REWRITE) || rewritable(&in));
}

int code_rewrite(const struct code_place *p, uint8_t *buf)
{
	int i;

	if (!(p->flags & CODE_REWRITE))
		return -EINVAL;
	if (p->len == 3 && buf[0] == 0x0f && buf[1] == 0xae) {
		memset(buf, 0x90, 3);
		return 0;
	}
	for (i = 0; i < p->len && buf[i] != 0xf0; i++)
		;
	if (i == p->len)
		return -EINVAL;
	memmove(buf + 1, buf, i);
	buf[0] = 0x90;
	return 0;
}
