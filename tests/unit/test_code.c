// SPDX-License-Identifier: GPL-2.0-only
/* test_code.c - the catalogue of memory accesses, of code assembled here and now and of real files */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "probes/code.h"
#include "code_places.h"
#include "compiled.h"

/* One function for each kind of instruction, and ones that must be left out. */
static const char asm_source[] =
	"	.text\n"
	"	.macro func name\n"
	"	.globl \\name\n"
	"	.type \\name, @function\n"
	"\\name:\n"
	"	.endm\n"
	"	.macro over name\n"
	"	ret\n"
	"	.size \\name, . - \\name\n"
	"	.endm\n"
	"func locks\n"
	"	lock addl $1, counter(%rip)\n"
	"	lock xaddq %rax, 8(%rdi,%rsi,4)\n"
	"	lock cmpxchg16b (%r12)\n"
	"	.byte 0x66, 0xf0, 0x0f, 0xb1, 0x0b\n"		/* data16 lock cmpxchg %cx, (%rbx) */
	"	.byte 0xf2, 0xf0, 0x0f, 0xb1, 0x0b\n"		/* xacquire lock cmpxchg %ecx, (%rbx) */
	"	lock orq $0, (%rsp)\n"
	"	lock incl 8(%rsp)\n"
	"	xchg %eax, counter(%rip)\n"
	"	xchg %eax, %ebx\n"
	"over locks\n"
	"func fences\n"
	"	mfence\n"
	"	lfence\n"
	"	pause\n"
	"	rdtsc\n"
	"	rdtscp\n"
	"	rdrand %eax\n"
	"	nopw 0(%rax,%rax,1)\n"
	"	leaq 8(%rdi), %rax\n"
	"	prefetcht0 (%rdi)\n"
	"over fences\n"
	"func plain\n"
	"	incl counter(%rip)\n"
	"	movl counter(%rip), %eax\n"
	"	movl %eax, 4(%rdi)\n"
	"	cmpb $1, (%rsi)\n"
	"	movups %xmm0, -16(%rax,%rcx,8)\n"
	"	vmovdqu (%rax), %ymm1\n"
	"	fstpl (%rdx)\n"
	"	setne (%rbx)\n"
	"	movl table(%rip), %eax\n"
	"	movl %fs:-8, %eax\n"
	"	movl 16(%rsp), %eax\n"
	"	movl -4(%rbp), %eax\n"
	"	movl (%eax), %ecx\n"
	"	callq *(%r11)\n"
	"	pushq 8(%r8)\n"
	"	popq 8(%r9)\n"
	"	pushq %rax\n"
	"	popq %rax\n"
	"over plain\n"
	"func switches\n"
	"	movslq (%rcx,%rax,4), %rax\n"
	"	addq %rcx, %rax\n"
	"	jmp *%rax\n"
	"	movl (%rdx,%rax), %eax\n"		/* as gcc without optimisation */
	"	cltq\n"
	"	leaq counter(%rip), %rdx\n"
	"	addq %rdx, %rax\n"
	"	notrack jmp *%rax\n"
	"	movl (%rdi,%rsi,4), %edi\n"		/* the argument of a function that a pointer leads to */
	"	movq 8(%rdx), %rax\n"
	"	jmp *%rax\n"
	"	movl (%rdi,%rsi,4), %eax\n"
	"	addl %eax, %ebx\n"
	"	ret\n"
	"	addq %rdx, %rax\n"
	"	jmp *%rax\n"
	"over switches\n"
	"func framed\n"
	"	pushq %rbp\n"
	"	movq %rsp, %rbp\n"
	"	movl %edi, -4(%rbp)\n"
	"	popq %rbp\n"
	"over framed\n"
	"func strings\n"
	"	rep movsb\n"
	"	stosq\n"
	"	lodsb\n"
	"	repne scasb\n"
	"over strings\n"
	"func skips_lock\n"			/* as old C libraries do when there is one thread */
	"	cmpl $0, counter(%rip)\n"
	"	je 1f\n"
	"	.byte 0xf0\n"
	"1:	decl (%rdi)\n"
	"over skips_lock\n"
	"func jumps_into\n"
	"	movl counter(%rip), %eax\n"
	"	jmp 1f + 1\n"
	"1:	movl $0x11223344, (%rdi)\n"
	"over jumps_into\n"
	"	.type broken, @function\n"
	"broken:\n"
	"	movl counter(%rip), %eax\n"
	"	.byte 0x06, 0x07\n"
	"	.size broken, . - broken\n"
	"	.type cut_off, @function\n"
	"cut_off:\n"
	"	.byte 0x48, 0xc7, 0x05\n"		/* its end lies behind the symbol's */
	"	.size cut_off, . - cut_off\n"
	"	.long 0x12345678\n"
	"func outer\n"
	"	movl counter(%rip), %eax\n"
	"	.globl inner\n"
	"	.type inner, @function\n"
	"inner:	movl counter(%rip), %ecx\n"
	"	.size inner, . - inner\n"
	"	movl counter(%rip), %edx\n"
	"over outer\n"
	"	.data\n"
	"counter: .long 0\n"
	"	.section .rodata\n"
	"table: .long 1\n"
	"	.section .note.GNU-stack\n";

/* What asks the processor, and constants that look like it. */
static const char asks_source[] =
	"	.text\n"
	"	.globl asks\n"
	"	.type asks, @function\n"
	"asks:\n"
	"	.cfi_startproc\n"
	"	movl $0x310f, %eax\n"
	"	movq $0xf9010f, %rcx\n"
	"	rdtsc\n"
	"	xorl %ecx, %ecx\n"
	"	rdtscp\n"
	"	shlq $32, %rdx\n"
	"	rdrand %eax\n"
	"	rdseed %r12\n"
	"	inc %r9d\n"
	"	rdrand %dx\n"
	"	movabsq $0x20e2c148310f48f0, %rax\n"
	"	movl $0xf0c70f, %edx\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size asks, . - asks\n"
	"	.section .note.GNU-stack\n";

static const char c_source[] =
	"#include <stdatomic.h>\n"
	"struct node { struct node *next; int value; };\n"
	"static _Atomic(struct node *) top;\n"
	"static atomic_long counter;\n"
	"static int plain;\n"
	"__attribute__((noinline)) void push(struct node *n)\n"
	"{\n"
	"	struct node *old = atomic_load(&top);\n"
	"	do\n"
	"		n->next = old;\n"
	"	while (!atomic_compare_exchange_weak(&top, &old, n));\n"
	"}\n"
	"__attribute__((noinline)) struct node *pop(void)\n"
	"{\n"
	"	struct node *old = atomic_load(&top);\n"
	"	while (old && !atomic_compare_exchange_weak(&top, &old, old->next))\n"
	"		;\n"
	"	return old;\n"
	"}\n"
	"long add(long n) { return atomic_fetch_add(&counter, n) + n; }\n"
	"long both(_Atomic long *a, long n) { long old = atomic_load(a); atomic_fetch_or(a, n); return old; }\n"
	"void fence(void) { __asm__ volatile(\"mfence\" ::: \"memory\"); plain++; }\n"
	"_Bool wide(unsigned short *p, unsigned short a, unsigned short b)\n"
	"{\n"
	"	_Bool ok;\n"
	"	__asm__ volatile(\".byte 0x66, 0xf0; cmpxchg %2, (%3); sete %0\" : \"=q\"(ok), \"+a\"(a)\n"
	"			 : \"q\"((unsigned)b), \"r\"(p) : \"memory\", \"cc\");\n"
	"	return ok;\n"
	"}\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	struct node n = { 0, argc };\n"
	"	long l = 1;\n"
	"	push(&n);\n"
	"	fence();\n"
	"	return pop() != &n || add(argc) != argc || both((void *)&l, 2) != 1;\n"
	"}\n";

static void check(const struct code_place *p, enum code_kind kind, unsigned int size, unsigned int must,
		  unsigned int must_not)
{
	if (p->kind != kind || p->size != size || (p->flags & must) != must || (p->flags & must_not))
		fail_msg("at 0x%x: %s of %u bytes, flags %x; expected %s of %u bytes, flags %x, not %x", p->offset,
			 code_kind_name(p->kind), p->size, p->flags, code_kind_name(kind), size, must, must_not);
}

static void test_kinds(void **state)
{
	const char *path = compiled_path("kinds.so");
	struct code *c = code_places_open(path, CODE_CACHE_NONE);
	struct code_stats st;
	struct code_places f;

	f = code_places_of(c, path, "locks");
	assert_int_equal(f.nr, 8);
	check(f.p[0], CODE_LOCK, 4, CODE_READ | CODE_WRITE | CODE_REWRITE, CODE_NEXT | CODE_PROBE | CODE_LOCAL);
	assert_int_equal(f.p[0]->base, CODE_RIP);
	check(f.p[1], CODE_LOCK, 8, CODE_READ | CODE_WRITE | CODE_REWRITE, CODE_PROBE | CODE_NEXT);
	check(f.p[2], CODE_LOCK, 16, CODE_READ | CODE_WRITE | CODE_REWRITE, CODE_PROBE);
	check(f.p[3], CODE_LOCK, 2, CODE_READ | CODE_WRITE | CODE_REWRITE, CODE_PROBE);
	check(f.p[4], CODE_LOCK, 4, CODE_READ | CODE_WRITE, CODE_PROBE | CODE_REWRITE);
	check(f.p[5], CODE_FENCE, 8, CODE_STACK | CODE_REWRITE, CODE_NEXT | CODE_PROBE);
	check(f.p[6], CODE_LOCK, 4, CODE_STACK | CODE_REWRITE | CODE_NEXT, 0);
	check(f.p[7], CODE_XCHG, 4, CODE_READ | CODE_WRITE | CODE_PROBE, CODE_REWRITE | CODE_LOCAL);

	f = code_places_of(c, path, "fences");
	assert_int_equal(f.nr, 6);
	check(f.p[0], CODE_FENCE, 0, CODE_REWRITE | CODE_NO_ADDR, CODE_PROBE | CODE_NEXT);
	check(f.p[1], CODE_FENCE, 0, CODE_NO_ADDR | CODE_NEXT, CODE_PROBE | CODE_REWRITE);
	check(f.p[2], CODE_PAUSE, 0, CODE_PROBE, 0);
	check(f.p[3], CODE_TIME, 0, CODE_PROBE, 0);
	check(f.p[4], CODE_TIME, 0, 0, CODE_PROBE);
	check(f.p[5], CODE_RANDOM, 0, CODE_PROBE, 0);

	f = code_places_of(c, path, "plain");
	assert_int_equal(f.nr, 16);
	check(f.p[0], CODE_RMW, 4, CODE_READ | CODE_WRITE | CODE_PROBE | CODE_SHARED, CODE_LOCAL);
	check(f.p[1], CODE_LOAD, 4, CODE_READ | CODE_SHARED, CODE_WRITE | CODE_LOCAL);
	check(f.p[2], CODE_STORE, 4, CODE_WRITE, CODE_READ | CODE_SHARED);
	check(f.p[3], CODE_LOAD, 1, CODE_READ, CODE_WRITE);
	check(f.p[4], CODE_STORE, 16, CODE_WRITE, CODE_READ);
	check(f.p[5], CODE_LOAD, 32, CODE_READ, CODE_PROBE);	/* VEX 6f: the kernel takes it for outs */
	check(f.p[6], CODE_STORE, 8, CODE_WRITE, CODE_READ);
	check(f.p[7], CODE_STORE, 1, CODE_WRITE, CODE_READ);
	check(f.p[8], CODE_LOAD, 4, CODE_CONST, 0);
	check(f.p[9], CODE_LOAD, 4, CODE_TLS, CODE_CONST);
	check(f.p[10], CODE_LOAD, 4, CODE_STACK, 0);
	check(f.p[11], CODE_LOAD, 4, 0, CODE_STACK);
	check(f.p[12], CODE_LOAD, 4, CODE_NO_ADDR, 0);
	check(f.p[13], CODE_LOAD, 8, CODE_READ, CODE_WRITE | CODE_STACK);
	check(f.p[14], CODE_LOAD, 8, CODE_READ, CODE_WRITE | CODE_STACK);
	check(f.p[15], CODE_STORE, 8, CODE_WRITE, CODE_READ | CODE_STACK);

	f = code_places_of(c, path, "switches");
	assert_int_equal(f.nr, 5);
	check(f.p[0], CODE_LOAD, 4, CODE_CONST, 0);
	check(f.p[1], CODE_LOAD, 4, CODE_CONST, 0);
	check(f.p[2], CODE_LOAD, 4, 0, CODE_CONST);
	check(f.p[3], CODE_LOAD, 8, 0, CODE_CONST);
	check(f.p[4], CODE_LOAD, 4, 0, CODE_CONST);

	f = code_places_of(c, path, "framed");
	assert_int_equal(f.nr, 1);
	check(f.p[0], CODE_STORE, 4, CODE_STACK, 0);

	f = code_places_of(c, path, "strings");
	assert_int_equal(f.nr, 4);
	check(f.p[0], CODE_STRING, 1, CODE_READ | CODE_WRITE | CODE_REP, 0);
	assert_int_equal(f.p[0]->base, 7);
	check(f.p[1], CODE_STRING, 8, CODE_WRITE, CODE_READ | CODE_REP);
	check(f.p[2], CODE_STRING, 1, CODE_READ, CODE_WRITE);
	assert_int_equal(f.p[2]->base, 6);
	check(f.p[3], CODE_STRING, 1, CODE_READ | CODE_REP, CODE_WRITE);

	f = code_places_of(c, path, "skips_lock");
	assert_int_equal(f.nr, 2);
	check(f.p[1], CODE_LOCK, 4, CODE_REWRITE, 0);

	/* data, or worse */
	assert_int_equal(code_places_of(c, path, "jumps_into").nr, 0);
	assert_int_equal(code_places_of(c, path, "broken").nr, 0);
	assert_int_equal(code_places_of(c, path, "cut_off").nr, 0);
	assert_int_equal(code_places_of(c, path, "outer").nr, 3);
	code_get_stats(c, &st);
	assert_int_equal(st.left_out, 3);
	f = code_places_of(c, path, "outer");
	assert_non_null(code_function(c, f.start));
	assert_int_equal(code_function(c, f.start)->end, f.start + 6);	/* where inner begins */
	assert_null(code_function(c, code_places_of(c, path, "broken").start));
	assert_ptr_equal(code_find(c, f.p[1]->offset), f.p[1]);
	assert_null(code_find(c, f.p[1]->offset + 1));
	code_free(c);
}

/* The address that the operand has, as the BPF side computes it from what the catalogue says. */
static int operand_at(const struct code_place *p, uint64_t addr, const uint64_t *regs, uint64_t fsbase,
		      uint64_t *operand)
{
	uint64_t a = (int64_t)p->disp;

	if (p->flags & CODE_NO_ADDR)
		return -ENOENT;
	if (p->base == CODE_RIP)
		a += addr + p->len;
	else if (p->base != CODE_NO_REG)
		a += regs[code_dwarf_register(p->base)];
	if (p->index != CODE_NO_REG)
		a += regs[code_dwarf_register(p->index)] << p->shift;
	if (p->flags & CODE_TLS)
		a += fsbase;
	*operand = a;
	return 0;
}

static void test_operands(void **state)
{
	const char *path = compiled_path("kinds.so");
	struct code *c = code_places_open(path, CODE_CACHE_NONE);
	uint64_t regs[17], a, vaddr;
	struct code_places f;

	/* in DWARF order rax rdx rcx rbx rsi rdi rbp rsp r8..r15 rip */
	for (int i = 0; i < 17; i++)
		regs[i] = 0x100000 * (i + 1);
	f = code_places_of(c, path, "locks");
	assert_int_equal(operand_at(f.p[1], 0, regs, 0, &a), 0);
	assert_int_equal(a, 8 + regs[5] + 4 * regs[4]);
	assert_int_equal(operand_at(f.p[2], 0, regs, 0, &a), 0);
	assert_int_equal(a, regs[12]);
	assert_true(code_static_operand(c, f.p[0], &vaddr));
	assert_int_equal(operand_at(f.p[0], 0x555555554000 + f.p[0]->offset, regs, 0, &a), 0);
	assert_int_equal(a, 0x555555554000 + f.p[0]->offset + f.p[0]->len + f.p[0]->disp);
	assert_false(code_static_operand(c, f.p[1], &vaddr));
	f = code_places_of(c, path, "plain");
	assert_int_equal(operand_at(f.p[4], 0, regs, 0, &a), 0);
	assert_int_equal(a, regs[0] + 8 * regs[2] - 16);
	assert_int_equal(operand_at(f.p[9], 0, regs, 0x7000, &a), 0);
	assert_int_equal(a, 0x7000 - 8);
	assert_int_equal(operand_at(f.p[12], 0, regs, 0, &a), -ENOENT);
	code_free(c);
}

static void test_values(void **state)
{
	/* what, its value or -1, and whether it adds */
	static const struct {
		uint8_t bytes[12], len, size;
		enum code_kind kind;
		int64_t value;
		bool counts;
	} list[] = {
		{ { 0x89, 0x07 }, 2, 4, CODE_STORE, 0x01020304, false },				/* mov %eax, (%rdi) */
		{ { 0x48, 0x89, 0x07 }, 3, 8, CODE_STORE, 0x1a01020304, false },			/* mov %rax, (%rdi) */
		{ { 0x44, 0x88, 0x07 }, 3, 1, CODE_STORE, 0x88, false },				/* mov %r8b, (%rdi) */
		{ { 0x88, 0x27 }, 2, 1, CODE_STORE, -1, false },					/* mov %ah, (%rdi) */
		{ { 0xc7, 0x07, 0xff, 0xff, 0xff, 0xff }, 6, 4, CODE_STORE, 0xffffffff, false },	/* movl $-1, (%rdi) */
		{ { 0x66, 0xc7, 0x07, 5, 0 }, 5, 2, CODE_STORE, 5, false },				/* movw $5, (%rdi) */
		{ { 0x0f, 0x95, 0x03 }, 3, 1, CODE_STORE, -1, false },					/* setne (%rbx) */
		{ { 0x83, 0x07, 1 }, 3, 4, CODE_RMW, -1, true },					/* addl $1, (%rdi) */
		{ { 0x48, 0xff, 0x0f }, 3, 8, CODE_RMW, -1, true },					/* decq (%rdi) */
		{ { 0x83, 0x0f, 1 }, 3, 4, CODE_RMW, -1, false },					/* orl $1, (%rdi) */
	};
	uint64_t regs[17] = { [0] = 0x1a01020304, [8] = 0x7788 }, value;

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		struct code_place p = { .kind = list[i].kind, .len = list[i].len, .size = list[i].size };
		int ret = code_stored_value(&p, list[i].bytes, p.len, regs, &value);

		assert_int_equal(ret, list[i].value == -1 ? -ENOENT : 0);
		if (!ret)
			assert_true(value == (uint64_t)list[i].value);
		assert_int_equal(code_counts(&p, list[i].bytes, p.len), list[i].counts);
	}
}

/* What an instruction accesses, with what a register leads to: rax 0x1000, rcx 2, rsp 0x7000, fs 0x9000. */
static void test_memory(void **state)
{
	static const struct {
		const char *bytes;
		int len, nr;
		struct code_memory m[2];
	} list[] = {
		{ "\x89\x05\x00\x01\x00\x00", 6, 1, { { 0x400106, 4, true } } },	/* mov %eax,0x100(%rip) */
		{ "\x8b\x44\x88\x10", 4, 1, { { 0x1018, 4, false } } },		/* mov 0x10(%rax,%rcx,4),%eax */
		{ "\xf0\x48\x0f\xb1\x08", 5, 1, { { 0x1000, 8, true } } },	/* lock cmpxchg %rcx,(%rax) */
		{ "\x64\x8b\x04\x25\x28\x00\x00\x00", 8, 1, { { 0x9028, 4, false } } },	/* mov %fs:0x28,%eax */
		{ "\x55", 1, 1, { { 0x6ff8, 8, true } } },				/* push %rbp */
		{ "\xe8\x00\x00\x00\x00", 5, 1, { { 0x6ff8, 8, true } } },		/* call */
		{ "\xc3", 1, 1, { { 0x7000, 8, false } } },				/* ret */
		{ "\xff\x10", 2, 2, { { 0x1000, 8, false }, { 0x6ff8, 8, true } } },	/* call *(%rax) */
		{ "\xf3\xa4", 2, 2, { { 0x2000, 1, true }, { 0x3000, 1, false } } },	/* rep movsb */
		{ "\x8d\x44\x88\x10", 4, 0, { { 0 } } },					/* lea */
		{ "\x0f\x1f\x40\x00", 4, 0, { { 0 } } },					/* nopl 0(%rax) */
		{ "\xf3\x0f\x1e\xfa", 4, 0, { { 0 } } },					/* endbr64 */
		{ "\x01\xc8", 2, 0, { { 0 } } },						/* add %ecx,%eax */
		{ "\x65\x8b\x00", 3, -ENOENT, { { 0 } } },					/* mov %gs:(%rax),%eax */
		{ "\xc8\x10\x00\x00", 4, -ENOENT, { { 0 } } },				/* enter */
		{ "\x0f", 1, -ENOENT, { { 0 } } },
	};
	/* in DWARF order: rax rdx rcx rbx rsi rdi rbp rsp ... rip, then the base of fs */
	const uint64_t regs[18] = { [0] = 0x1000, [2] = 2, [4] = 0x3000, [5] = 0x2000, [7] = 0x7000, [16] = 0x400000,
				    [17] = 0x9000 };

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		struct code_memory m[4];
		int nr = code_memory((const uint8_t *)list[i].bytes, list[i].len, regs, m, 4);

		if (nr != list[i].nr)
			fail_msg("instruction %zu: %d pieces", i, nr);
		for (int k = 0; k < nr; k++)
			if (m[k].addr != list[i].m[k].addr || m[k].size != list[i].m[k].size ||
			    m[k].write != list[i].m[k].write)
				fail_msg("instruction %zu: %lx, %u bytes, write %d", i, (unsigned long)m[k].addr, m[k].size,
					 m[k].write);
	}
}

static void same_places(const struct code *a, const struct code *b)
{
	assert_int_equal(code_nr(a), code_nr(b));
	for (uint32_t i = 0; i < code_nr(a); i++)
		assert_memory_equal(code_at(a, i), code_at(b, i), sizeof(struct code_place));
}

/* However a file was linked or stripped, the same places of the same functions. */
static void test_forms(void **state)
{
	static const char *const forms[] = { "-no-pie", "-pie", "-static", "-static-pie" };
	struct code_stats full, stripped;
	struct code *c, *s;

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		compiled_run("gcc -O2 %s -o %s %s", forms[i], compiled_path("form"), compiled_path("c.c"));
		c = code_places_open(compiled_path("form"), CODE_CACHE_NONE);
		assert_int_equal(code_places_of(c, compiled_path("form"), "add").p[0]->kind, CODE_LOCK);
		compiled_run("strip -o %s %s", compiled_path("stripped"), compiled_path("form"));
		s = code_places_open(compiled_path("stripped"), CODE_CACHE_NONE);
		code_get_stats(c, &full);
		code_get_stats(s, &stripped);
		/* .eh_frame knows a function or two less or more (_init, the start code) */
		assert_true(stripped.places[CODE_LOCK] == full.places[CODE_LOCK]);
		assert_true(stripped.bytes > full.bytes * 99 / 100 && full.left_out <= 1);
		code_free(s);
		code_free(c);
	}
	/* without section headers, too */
	compiled_run("gcc -O2 -o %s %s && strip %s", compiled_path("form"), compiled_path("c.c"), compiled_path("form"));
	c = code_places_open(compiled_path("form"), CODE_CACHE_NONE);
	{
		FILE *f = fopen(compiled_path("form"), "r+");
		Elf64_Ehdr eh;

		assert_non_null(f);
		assert_int_equal(fread(&eh, sizeof(eh), 1, f), 1);
		eh.e_shoff = eh.e_shnum = eh.e_shstrndx = 0;
		rewind(f);
		assert_int_equal(fwrite(&eh, sizeof(eh), 1, f), 1);
		fclose(f);
	}
	s = code_places_open(compiled_path("form"), CODE_CACHE_NONE);
	same_places(c, s);
	assert_true(code_nr(s) > 10);
	code_free(s);
	code_free(c);
}

/* What is most likely an atomic load is told from other loads. */
static void test_shared(void **state)
{
	const char *path = compiled_path("c.so");
	struct code *c = code_places_open(path, CODE_CACHE_NONE);
	unsigned int shared = 0, others = 0;
	struct code_places f;

	f = code_places_of(c, path, "pop");
	for (unsigned int i = 0; i < f.nr; i++) {
		shared += f.p[i]->kind == CODE_LOAD && (f.p[i]->flags & CODE_SHARED);
		others += f.p[i]->kind == CODE_LOAD && !(f.p[i]->flags & (CODE_SHARED | CODE_LOCAL));
	}
	assert_true(shared >= 1 && others >= 1);	/* top, and old->next */
	f = code_places_of(c, path, "both");
	shared = 0;
	for (unsigned int i = 0; i < f.nr; i++)
		shared += f.p[i]->kind == CODE_LOAD && (f.p[i]->flags & CODE_SHARED);
	assert_true(shared >= 1);
	f = code_places_of(c, path, "fence");
	for (unsigned int i = 0; i < f.nr; i++)
		assert_false(f.p[i]->flags & CODE_SHARED);
	code_free(c);
}

/* Code without its LOCK prefixes does the same, alone on a processor, and every place can be probed. */
static void test_rewrite(void **state)
{
	struct code *c = code_places_open(compiled_path("c.so"), CODE_CACHE_NONE), *after;
	long (*add)(long), (*both)(long *, long);
	bool (*wide)(unsigned short *, unsigned short, unsigned short);
	void (*push)(void *), (*fence)(void);
	void *(*pop)(void), *lib;
	struct code_stats st, st2;
	unsigned int nr = 0;
	uint8_t buf[16];
	unsigned short word = 7;
	long node[2][2] = { { 0 } }, bits = 5;
	int fd;

	compiled_run("cp %s %s", compiled_path("c.so"), compiled_path("rewritten.so"));
	fd = open(compiled_path("rewritten.so"), O_RDWR);
	assert_true(fd >= 0);
	for (uint32_t i = 0; i < code_nr(c); i++) {
		const struct code_place *p = code_at(c, i);

		assert_int_equal(pread(fd, buf, sizeof(buf), p->offset), sizeof(buf));
		assert_true(code_verify(p, buf, sizeof(buf)));
		buf[0] ^= 0x11;
		assert_false(code_verify(p, buf, sizeof(buf)));
		buf[0] ^= 0x11;
		if (!(p->flags & CODE_REWRITE))
			continue;
		assert_int_equal(code_rewrite(p, buf), 0);
		assert_int_equal(buf[0], 0x90);
		assert_int_equal(pwrite(fd, buf, p->len, p->offset), p->len);
		nr++;
	}
	close(fd);
	assert_true(nr >= 6);
	after = code_places_open(compiled_path("rewritten.so"), CODE_CACHE_NONE);
	code_get_stats(c, &st);
	code_get_stats(after, &st2);
	assert_int_equal(st2.places[CODE_LOCK], 0);
	assert_int_equal(st2.left_out, st.left_out);
	lib = dlopen(compiled_path("rewritten.so"), RTLD_NOW | RTLD_LOCAL);
	if (!lib)
		fail_msg("%s", dlerror());
	*(void **)&add = dlsym(lib, "add");
	*(void **)&both = dlsym(lib, "both");
	*(void **)&wide = dlsym(lib, "wide");
	*(void **)&push = dlsym(lib, "push");
	*(void **)&pop = dlsym(lib, "pop");
	*(void **)&fence = dlsym(lib, "fence");
	assert_int_equal(add(3), 3);
	assert_int_equal(add(4), 7);
	assert_int_equal(both(&bits, 2), 5);
	assert_int_equal(bits, 7);
	assert_true(wide(&word, 7, 9));
	assert_false(wide(&word, 7, 9));
	assert_int_equal(word, 9);
	push(node[0]);
	fence();
	push(node[1]);
	assert_ptr_equal(pop(), node[1]);
	assert_ptr_equal(pop(), node[0]);
	assert_null(pop());
	dlclose(lib);
	code_free(after);
	code_free(c);
}

static char *cache_file(void)
{
	static char path[PATH_MAX];
	DIR *d = opendir(compiled_path("cache/zugzwang"));
	struct dirent *e;
	int nr = 0;

	if (!d)
		return NULL;
	while ((e = readdir(d)))
		if (e->d_name[0] != '.') {
			snprintf(path, sizeof(path), "%s/cache/zugzwang/%s", compiled_dir, e->d_name);
			nr++;
		}
	closedir(d);
	assert_true(nr <= 1);
	return nr ? path : NULL;
}

static void damage(const char *path, long at)
{
	FILE *f = fopen(path, "r+");
	int byte;

	assert_non_null(f);
	fseek(f, at, at < 0 ? SEEK_END : SEEK_SET);
	byte = fgetc(f);
	fseek(f, -1, SEEK_CUR);
	fputc(byte ^ 0x40, f);
	fclose(f);
}

static void test_cache(void **state)
{
	static const long places[] = { 0, 9, 20, 60, 200, -1, -300 };
	const char *path = compiled_path("c.so");
	struct code *fresh = code_places_open(path, CODE_CACHE_NONE), *c;
	struct code_stats st;
	char *file;

	compiled_run("rm -rf %s", compiled_path("cache"));
	setenv("XDG_CACHE_HOME", compiled_path("cache"), 1);
	for (size_t i = 0; i <= sizeof(places) / sizeof(places[0]); i++) {
		/* not there, or damaged: made anew, and then good */
		c = code_places_open(path, CODE_CACHE);
		code_get_stats(c, &st);
		assert_false(st.cached);
		same_places(c, fresh);
		code_free(c);
		file = cache_file();
		assert_non_null(file);
		c = code_places_open(path, CODE_CACHE);
		code_get_stats(c, &st);
		assert_true(st.cached);
		assert_true(st.functions >= 6 && st.places[CODE_LOCK] >= 4);
		same_places(c, fresh);
		assert_non_null(code_function(c, code_at(c, 0)->offset));
		code_free(c);
		if (i < sizeof(places) / sizeof(places[0]))
			damage(file, places[i]);
	}
	/* cut short */
	assert_int_equal(truncate(file, 100), 0);
	c = code_places_open(path, CODE_CACHE);
	code_get_stats(c, &st);
	assert_false(st.cached);
	same_places(c, fresh);
	code_free(c);
	/* asked for */
	c = code_places_open(path, CODE_CACHE_RENEW);
	code_get_stats(c, &st);
	assert_false(st.cached);
	code_free(c);
	/* no place for it: works, and says nothing */
	setenv("XDG_CACHE_HOME", "/proc/none", 1);
	c = code_places_open(path, CODE_CACHE);
	same_places(c, fresh);
	code_free(c);
	/* a file without build-id is known by where it lies and its time */
	setenv("XDG_CACHE_HOME", compiled_path("cache"), 1);
	compiled_run("rm -rf %s && gcc -shared -Wl,--build-id=none -o %s %s", compiled_path("cache"), compiled_path("kinds2.so"),
	    compiled_path("kinds.s"));
	code_free(code_places_open(compiled_path("kinds2.so"), CODE_CACHE));
	c = code_places_open(compiled_path("kinds2.so"), CODE_CACHE);
	code_get_stats(c, &st);
	assert_true(st.cached);
	code_free(c);
	compiled_run("touch -d 2001-01-01 %s", compiled_path("kinds2.so"));
	c = code_places_open(compiled_path("kinds2.so"), CODE_CACHE);
	code_get_stats(c, &st);
	assert_false(st.cached);
	code_free(c);
	code_free(fresh);
}

static void test_refused(void **state)
{
	struct code *c;
	char err[256] = "";

	assert_int_equal(code_open(&c, compiled_path("kinds.s"), NULL, CODE_CACHE_NONE, err, sizeof(err)), -ENOEXEC);
	assert_non_null(strstr(err, "not a program or shared library"));
	assert_int_equal(code_open(&c, compiled_path("missing"), NULL, CODE_CACHE_NONE, err, sizeof(err)), -ENOENT);
	compiled_run("gcc -c -o %s %s", compiled_path("c.o"), compiled_path("c.c"));
	assert_int_equal(code_open(&c, compiled_path("c.o"), NULL, CODE_CACHE_NONE, err, sizeof(err)), -ENOEXEC);
}

static void test_asks(void **state)
{
	static const struct code_ask want[] = {
		{ .kind = CODE_TIME, .len = 2 },
		{ .kind = CODE_TIME, .len = 3, .cpu = true },
		{ .kind = CODE_RANDOM, .len = 3, .reg = 0, .size = 4 },
		{ .kind = CODE_RANDOM, .len = 4, .reg = 12, .size = 8 },
		{ .kind = CODE_RANDOM, .len = 4, .reg = 2, .size = 2 },
	};
	static const char *const forms[] = { "", "-Wl,-s" };
	struct code_ask *list;
	uint32_t nr;

	compiled_write("asks.s", asks_source, strlen(asks_source));
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		compiled_run("gcc -shared %s -o %s %s", forms[i], compiled_path("asks.so"), compiled_path("asks.s"));
		assert_int_equal(code_asks(compiled_path("asks.so"), &list, &nr), 0);
		assert_int_equal(nr, sizeof(want) / sizeof(want[0]));
		for (uint32_t k = 0; k < nr; k++) {
			assert_int_equal(list[k].kind, want[k].kind);
			assert_int_equal(list[k].len, want[k].len);
			assert_int_equal(list[k].cpu, want[k].cpu);
			assert_int_equal(list[k].reg, want[k].reg);
			assert_int_equal(list[k].size, want[k].size);
			assert_true(!k || list[k].offset >= list[k - 1].offset + list[k - 1].len);
		}
		free(list);
	}
	/* where nobody can tell functions apart, what can be nothing else */
	compiled_run("sed -e /movabs/d -e /cfi_/d -e /asks.*function/d -e /size/d -e /globl/d %s >%s && gcc -shared -nostdlib -Wl,-s -o %s %s",
	    compiled_path("asks.s"), compiled_path("bare.s"), compiled_path("bare.so"), compiled_path("bare.s"));
	assert_int_equal(code_asks(compiled_path("bare.so"), &list, &nr), 0);
	assert_int_equal(nr, 1);
	assert_true(list[0].cpu && list[0].len == 3);
	free(list);
	assert_int_equal(code_asks(compiled_path("asks.s"), &list, &nr), -ENOEXEC);
	assert_int_equal(code_asks(compiled_path("missing"), &list, &nr), -ENOENT);
}

/* Writes two bytes into a file whose time stays as it was. */
static void change(const char *path, uint32_t offset, const char *bytes)
{
	int fd = open(path, O_WRONLY);
	struct stat st;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(pwrite(fd, bytes, 2, offset), 2);
	assert_int_equal(futimens(fd, (struct timespec[2]){ st.st_atim, st.st_mtim }), 0);
	close(fd);
}

static uint32_t nr_asks(const char *path, uint32_t *first)
{
	struct code_ask *list;
	uint32_t nr;

	assert_int_equal(code_asks(path, &list, &nr), 0);
	*first = nr ? list[0].offset : 0;
	free(list);
	return nr;
}

/* What was found in a large file is taken from the cache, as far as the file agrees. */
static void test_asks_kept(void **state)
{
	char path[256];
	uint32_t first, other;

	snprintf(path, sizeof(path), "%s", compiled_path("large.so"));
	setenv("XDG_CACHE_HOME", compiled_path("cache"), 1);
	compiled_run("rm -rf %s && gcc -shared -Wl,--build-id -o %s %s && truncate -s 300000 %s", compiled_path("cache"), path,
	    compiled_path("asks.s"), path);
	assert_int_equal(nr_asks(path, &first), 5);
	change(path, first, "\x90\x90");
	assert_int_equal(nr_asks(path, &other), 4);
	/* it is not looked for: so what was kept is taken */
	change(path, first, "\x0f\x31");
	assert_int_equal(nr_asks(path, &other), 4);
	compiled_run("touch -d 2001-01-01 %s", path);
	assert_int_equal(nr_asks(path, &other), 5);
	assert_int_equal(other, first);
}

/* Damaged files are refused or give what can be told, and never more. */
static void test_damaged(void **state)
{
	FILE *f = fopen(compiled_path("c.so"), "r");
	unsigned char *data;
	struct code_ask *asks;
	struct code *c;
	char err[256];
	uint32_t seed = 1, nr;
	size_t size;

	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	size = ftell(f);
	rewind(f);
	data = malloc(size);
	assert_non_null(data);
	assert_int_equal(fread(data, 1, size, f), size);
	fclose(f);
	for (int i = 0; i < 200; i++) {
		unsigned char *copy = malloc(size);

		memcpy(copy, data, size);
		for (int k = 0; k < 1 + i % 20; k++) {
			seed = seed * 1103515245 + 12345;
			copy[(seed >> 8) % (i % 2 ? size : 1024)] = seed >> 3;
		}
		compiled_write("damaged.so", copy, i % 5 ? size : size / 2 + i);
		free(copy);
		if (!code_asks(compiled_path("damaged.so"), &asks, &nr)) {
			for (uint32_t k = 0; k < nr; k++)
				assert_true(asks[k].offset + asks[k].len <= size);
			free(asks);
		}
		if (code_open(&c, compiled_path("damaged.so"), NULL, CODE_CACHE_NONE, err, sizeof(err)))
			continue;
		for (uint32_t k = 0; k < code_nr(c); k++)
			assert_true(code_at(c, k)->offset + code_at(c, k)->len <= size);
		code_free(c);
	}
	free(data);
}

static long count_lines(const char *cmd)
{
	FILE *f = popen(cmd, "r");
	long n = -1;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%ld", &n), 1);
	pclose(f);
	return n;
}

/* objdump finds the same atomic instructions in the C library, at the same addresses. */
static void test_libc(void **state)
{
	static const char libc[] = "/lib/x86_64-linux-gnu/libc.so.6";
	struct code *c = code_places_open(libc, CODE_CACHE_NONE);
	unsigned long addr, locked = 0, stack = 0;
	struct code_stats st;
	char line[512];
	FILE *f;

	code_get_stats(c, &st);
	f = popen("objdump -d --no-show-raw-insn /lib/x86_64-linux-gnu/libc.so.6 | grep -P '^ +[0-9a-f]+:\t(data16 )?lock '", "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		const struct code_place *p;

		assert_int_equal(sscanf(line, " %lx:", &addr), 1);
		/* the first segments are mapped one to one */
		p = code_find(c, addr);
		if (!p || (p->kind != CODE_LOCK && p->kind != CODE_FENCE))
			fail_msg("not found: %s", line);
		locked++;
		stack += p->kind == CODE_FENCE;
	}
	pclose(f);
	assert_true(locked > 100);
	assert_int_equal(st.places[CODE_LOCK] + stack, locked);
	/* ____longjmp_chk: glibc 2.41 has bytes that are no instructions behind its call of __fortify_fail. */
	assert_in_range(st.left_out, 0, 1);
	assert_int_equal(st.places[CODE_XCHG],
			 count_lines("objdump -d --no-show-raw-insn /lib/x86_64-linux-gnu/libc.so.6 | "
				     "grep -cP ':\\txchg .*[(:]'"));
	code_free(c);
}

/* A program of more than a megabyte of code. (tools/bench says how long that takes.) */
static void test_large(void **state)
{
	static const char *const files[] = { "/usr/bin/qemu-system-x86_64", "/usr/lib/llvm-19/lib/libLLVM.so.1",
					     "/usr/lib/x86_64-linux-gnu/libcrypto.so.3" };
	struct code_stats st;
	struct code *c;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (access(files[i], R_OK))
			continue;
		c = code_places_open(files[i], CODE_CACHE_NONE);
		code_get_stats(c, &st);
		print_message("# %s: %.1f MB of code, %u functions, %u left out, %u places\n", files[i], st.bytes / 1e6,
			      st.functions, st.left_out, code_nr(c));
		assert_true(st.bytes > 1000000 && st.left_out < 10 + st.functions / 1000);
		code_free(c);
		return;
	}
	skip();
}

static int set_up(void **state)
{
	if (compiled_begin(state))
		return -1;
	compiled_write("kinds.s", asm_source, strlen(asm_source));
	compiled_write("c.c", c_source, strlen(c_source));
	compiled_run("gcc -shared -o %s %s", compiled_path("kinds.so"), compiled_path("kinds.s"));
	compiled_run("gcc -O2 -shared -fPIC -fvisibility=default -o %s %s", compiled_path("c.so"), compiled_path("c.c"));
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_operands),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_rewrite),
		cmocka_unit_test(test_cache),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_asks), cmocka_unit_test(test_asks_kept),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_libc),
		cmocka_unit_test(test_large),
	};

	return cmocka_run_group_tests(tests, set_up, compiled_end);
}
