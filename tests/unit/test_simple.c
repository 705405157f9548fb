/* SPDX-License-Identifier: GPL-2.0-only */
/* test_simple.c - which instructions the kernel side executes in their place, and what it is told of them */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "probes/code.h"

/* Words of struct pt_regs. */
enum { BP = 4, BX = 5, R10 = 7, AX = 10, CX = 11, SI = 13, DI = 14, SP = 19 };
#define NONE ZUG_INSN_NO_REG

static struct zug_insn simple(const char *bytes, size_t n)
{
	struct zug_insn i;

	memset(&i, 0xff, sizeof(i));
	code_simple((const uint8_t *)bytes, n, &i);
	return i;
}
#define SIMPLE(bytes) simple(bytes, sizeof(bytes) - 1)

static void assert_insn(struct zug_insn is, struct zug_insn want)
{
	assert_memory_equal(&is, &want, sizeof(is));
}

static void moves(void **state)
{
	/* mov 0x10(%rdi),%eax: glibc's pthread_mutex_lock */
	assert_insn(SIMPLE("\x8b\x47\x10"), (struct zug_insn){
		.op = ZUG_INSN_MOVE, .len = 3, .to = ZUG_INSN_REG, .to_reg = AX, .from = ZUG_INSN_MEM, .size = 4,
		.from_size = 4, .base = DI, .index = NONE, .disp = 16 });
	/* movq $-3,0x18(%rsi,%rcx,8) */
	assert_insn(SIMPLE("\x48\xc7\x44\xce\x18\xfd\xff\xff\xff"), (struct zug_insn){
		.op = ZUG_INSN_MOVE, .len = 9, .to = ZUG_INSN_MEM, .from = ZUG_INSN_IMM, .size = 8, .from_size = 8,
		.base = SI, .index = CX, .shift = 3, .disp = 24, .imm = -3 });
	/* mov 0x2a(%rip),%r10b */
	assert_insn(SIMPLE("\x44\x8a\x15\x2a\x00\x00\x00"), (struct zug_insn){
		.op = ZUG_INSN_MOVE, .len = 7, .to = ZUG_INSN_REG, .to_reg = R10, .from = ZUG_INSN_MEM, .size = 1,
		.from_size = 1, .base = ZUG_INSN_IP, .index = NONE, .disp = 42 });
	/* movsbl (%rbx),%eax; movzwl %cx,%eax; lea 0x8(%rsp),%rbp */
	assert_insn(SIMPLE("\x0f\xbe\x03"), (struct zug_insn){
		.op = ZUG_INSN_MOVE, .len = 3, .to = ZUG_INSN_REG, .to_reg = AX, .from = ZUG_INSN_MEM, .size = 4,
		.from_size = 1, .extend_sign = 1, .base = BX, .index = NONE });
	assert_insn(SIMPLE("\x0f\xb7\xc1"), (struct zug_insn){
		.op = ZUG_INSN_MOVE, .len = 3, .to = ZUG_INSN_REG, .to_reg = AX, .from = ZUG_INSN_REG, .from_reg = CX,
		.size = 4, .from_size = 2, .base = NONE, .index = NONE });
	assert_insn(SIMPLE("\x48\x8d\x6c\x24\x08"), (struct zug_insn){
		.op = ZUG_INSN_MOVE, .len = 5, .to = ZUG_INSN_REG, .to_reg = BP, .from = ZUG_INSN_ADDR, .size = 8,
		.from_size = 8, .base = SP, .index = NONE, .disp = 8 });
}

static void arithmetic(void **state)
{
	/* sub $0x28,%rsp; addl $1,(%rbx); cmp %rcx,(%rsi); testb $15,(%rdi): musl's pthread_mutex_lock */
	assert_insn(SIMPLE("\x48\x83\xec\x28"), (struct zug_insn){
		.op = ZUG_INSN_SUB, .len = 4, .to = ZUG_INSN_REG, .to_reg = SP, .from = ZUG_INSN_IMM, .size = 8,
		.from_size = 8, .base = NONE, .index = NONE, .imm = 0x28 });
	assert_insn(SIMPLE("\x83\x03\x01"), (struct zug_insn){
		.op = ZUG_INSN_ADD, .len = 3, .to = ZUG_INSN_MEM, .from = ZUG_INSN_IMM, .size = 4, .from_size = 4,
		.base = BX, .index = NONE, .imm = 1 });
	assert_insn(SIMPLE("\x48\x39\x0e"), (struct zug_insn){
		.op = ZUG_INSN_CMP, .len = 3, .to = ZUG_INSN_MEM, .from = ZUG_INSN_REG, .from_reg = CX, .size = 8,
		.from_size = 8, .base = SI, .index = NONE });
	assert_insn(SIMPLE("\xf6\x07\x0f"), (struct zug_insn){
		.op = ZUG_INSN_TEST, .len = 3, .to = ZUG_INSN_MEM, .from = ZUG_INSN_IMM, .size = 1, .from_size = 1,
		.base = DI, .index = NONE, .imm = 15 });
}

/* What the processor has to execute. */
static void others(void **state)
{
	static const struct { const char *bytes; size_t n; } list[] = {
#define INSN(bytes) { bytes, sizeof(bytes) - 1 }
		INSN("\x64\x48\x8b\x04\x25\x28\x00\x00\x00"),	/* mov %fs:0x28,%rax */
		INSN("\x88\xe1"),				/* mov %ah,%cl */
		INSN("\x48\xb8\xf0\xde\xbc\x9a\x78\x56\x34\x12"), /* movabs $0x123456789abcdef0,%rax */
		INSN("\xa1\xf0\xde\xbc\x9a\x78\x56\x34\x12"),	/* movabs 0x123456789abcdef0,%eax */
		INSN("\x67\x8b\x07"),				/* mov (%edi),%eax */
		INSN("\xf0\x83\x03\x01"),			/* lock addl $1,(%rbx) */
		INSN("\xff\x03"),				/* incl (%rbx) */
		INSN("\x83\x13\x01"),				/* adcl $1,(%rbx) */
		INSN("\x0f\x10\x07"),				/* movups (%rdi),%xmm0 */
		INSN("\xf3\xa4"),				/* rep movsb */
		INSN("\x8e\xd8"),				/* mov %eax,%ds */
		INSN("\x0f\x20\xc0"),				/* mov %cr0,%rax */
		INSN("\xc3"), INSN("\x90"), INSN("\x8b"), INSN(""),
	};

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		assert_insn(simple(list[i].bytes, list[i].n), (struct zug_insn){ 0 });
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(moves),
		cmocka_unit_test(arithmetic),
		cmocka_unit_test(others),
	};

	return cmocka_run_group_tests_name("instructions executed in their place", tests, NULL, NULL);
}
