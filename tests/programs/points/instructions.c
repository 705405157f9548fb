/*
 * Instructions that zug executes in place of the processor, each the first one of a function: moves,
 * arithmetic and comparisons of all sizes, with registers, constants and memory, also with memory that
 * is not there yet, or must not be written. Prints what each changed: registers, flags, memory.
 * build: -O1 -fno-pie -no-pie -Wl,-z,noexecstack
 */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* By the names in the code below. */
struct registers {
	uint64_t ax, bx, cx, dx, si, di, bp, r8, r9, r10, r11, r12, r13, r14, r15, flags;
};

static const char *const names[] = { "ax", "bx", "cx", "dx", "si", "di", "bp", "r8", "r9", "r10", "r11",
				     "r12", "r13", "r14", "r15", "flags" };

/* rsi: the buffer; rdi: 3; rbp: a page that nothing has touched; r15: a page that cannot be written. */
#define INSTRUCTIONS(X) \
	X(mov_r64, "mov %rcx, %rax") X(mov_r32, "mov %ecx, %eax") X(mov_r16, "mov %cx, %ax") \
	X(mov_r8, "mov %cl, %al") X(mov_r8_rex, "mov %sil, %r9b") X(mov_ah, "mov %ah, %cl") \
	X(mov_imm8, "movb $0x81, %al") X(mov_imm16, "movw $0x8123, %ax") X(mov_imm32, "movl $0x81234567, %eax") \
	X(mov_imm32s, "movq $-5, %r10") X(mov_imm64, "movabs $0x123456789abcdef0, %r11") \
	X(load8, "movb 5(%rsi), %al") X(load16, "movw 5(%rsi), %r8w") X(load32, "movl (%rsi,%rdi,4), %edx") \
	X(load64, "movq 8(%rsi,%rdi,8), %r12") X(load_rip, "movl constant(%rip), %eax") \
	X(load_far, "movl constant, %eax") X(load_index, "movl constant(,%rdi,1), %eax") \
	X(store8, "movb %al, 1(%rsi)") X(store16, "movw %ax, 2(%rsi,%rdi)") X(store32, "movl %r9d, 4(%rsi)") \
	X(store64, "movq %r10, 16(%rsi,%rdi,8)") X(store_imm8, "movb $0x7f, 9(%rsi)") \
	X(store_imm32, "movl $-2, 12(%rsi)") X(store_imm64, "movq $-3, 24(%rsi)") X(store_ah, "movb %ah, 1(%rsi)") \
	X(movzx8, "movzbl 6(%rsi), %eax") X(movzx16, "movzwl 6(%rsi), %r13d") X(movzx_r, "movzbl %cl, %edx") \
	X(movsx8, "movsbl 6(%rsi), %eax") X(movsx8_64, "movsbq 6(%rsi), %rax") X(movsx16, "movswl 6(%rsi), %eax") \
	X(movsxd, "movslq 4(%rsi), %r14") X(movsx_r, "movsbw %cl, %dx") X(movsxd_r, "movslq %ecx, %rax") \
	X(lea, "lea 0x11(%rsi,%rdi,4), %rax") X(lea_rip, "lea constant(%rip), %rbx") X(lea32, "lea -1(%rcx), %eax") \
	X(add_r, "add %rcx, %rax") X(add_carry, "addl $0xffffffff, %ecx") X(add8, "addb $0x7f, %cl") \
	X(add_m, "addl $1, 4(%rsi)") X(add_m64, "addq %r10, 8(%rsi)") X(add_from, "addw 2(%rsi), %ax") \
	X(sub_r, "sub %rax, %rcx") X(sub_imm, "subq $0x28, %r8") X(sub_m, "subb $1, 7(%rsi)") \
	X(and_r, "and %ecx, %eax") X(and_imm, "andq $-16, %r9") X(or_m, "orl $0x80000000, (%rsi)") \
	X(xor_r, "xor %eax, %eax") X(xor_m, "xorq %rcx, 32(%rsi)") \
	X(cmp_r, "cmp %rcx, %rax") X(cmp_equal, "cmp %r9, %r9") X(cmp_m, "cmpl $0, 4(%rsi)") X(cmp8, "cmpb $-1, %al") \
	X(cmp_below, "cmpw $1, 40(%rsi)") X(cmp_from, "cmpq 8(%rsi), %rax") X(cmp_overflow, "cmpl $1, %r13d") \
	X(test_r, "test %ecx, %ecx") X(test_imm, "testb $15, (%rsi)") X(test_m, "testq %rcx, 8(%rsi)") \
	X(load_new, "movq 64(%rbp), %rax") X(store_new, "movq %rcx, 4096(%rbp)") X(add_new, "addl $5, 8192(%rbp)") \
	X(load_fixed, "movl (%r15), %eax") X(store_fixed, "movl %ecx, (%r15)") X(cmp_none, "cmpl $1, 1") \
	X(load_fs, "movq %fs:0x28, %rax; xor %eax, %eax") X(inc, "incl 4(%rsi)") X(shift, "shll $1, 4(%rsi)")

#define FUNCTION(name, text) asm(".globl insn_" #name "\n.type insn_" #name ", @function\ninsn_" #name ": " text \
				 "; ret\n.size insn_" #name ", .-insn_" #name "\n"); void insn_##name(void);
INSTRUCTIONS(FUNCTION)
#define ENTRY(name, text) { #name, insn_##name },
static const struct { const char *name; void (*code)(void); } list[] = { INSTRUCTIONS(ENTRY) };

asm(".data\n.globl constant\nconstant: .long 0x90abcdef, 0x13579bdf\n.text\n");
extern const uint32_t constant[];

/* Calls code with these registers, and notes those that it leaves. */
void call_with(struct registers *r, void (*code)(void));
asm(".globl call_with\n"
    "call_with: push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15; push %rdi; push %rsi\n"
    "mov %rdi, %rax; pushq 120(%rax); popfq\n"
    "mov 8(%rax), %rbx; mov 16(%rax), %rcx; mov 24(%rax), %rdx; mov 32(%rax), %rsi; mov 40(%rax), %rdi\n"
    "mov 48(%rax), %rbp; mov 56(%rax), %r8; mov 64(%rax), %r9; mov 72(%rax), %r10; mov 80(%rax), %r11\n"
    "mov 88(%rax), %r12; mov 96(%rax), %r13; mov 104(%rax), %r14; mov 112(%rax), %r15; mov (%rax), %rax\n"
    "call *(%rsp)\n"
    "pushfq; push %rax; mov 24(%rsp), %rax\n"
    "mov %rbx, 8(%rax); mov %rcx, 16(%rax); mov %rdx, 24(%rax); mov %rsi, 32(%rax); mov %rdi, 40(%rax)\n"
    "mov %rbp, 48(%rax); mov %r8, 56(%rax); mov %r9, 64(%rax); mov %r10, 72(%rax); mov %r11, 80(%rax)\n"
    "mov %r12, 88(%rax); mov %r13, 96(%rax); mov %r14, 104(%rax); mov %r15, 112(%rax)\n"
    "popq (%rax); popq 120(%rax)\n"
    "pop %rsi; pop %rdi; pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx; ret\n");

static sigjmp_buf fault;

static void on_fault(int sig)
{
	siglongjmp(fault, sig);
}

/* All arithmetic flags but AF, which and, or, xor and test leave undefined. */
#define FLAGS 0x8c5ull

static void try(const char *name, void (*code)(void), uint64_t flags)
{
	static unsigned char buffer[64], before[64];
	char *new = mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *fixed = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct registers r = {
		.ax = 0xfedcba9876543210, .bx = 1, .cx = 0x8000000180808001, .dx = 0x5555555555555555,
		.si = (uintptr_t)buffer, .di = 3, .bp = (uintptr_t)new, .r8 = 0x10, .r9 = 0x7fffffff80000000,
		.r10 = 0x0123456789abcdef, .r11 = 11, .r12 = 12, .r13 = 0x80000000, .r14 = 14,
		.r15 = (uintptr_t)fixed, .flags = flags,
	}, was = r;
	int sig;

	for (unsigned int i = 0; i < sizeof(buffer); i++)
		buffer[i] = before[i] = 0x75 + 37 * i;
	memset(buffer + 40, 0, 8);
	memset(before + 40, 0, 8);
	printf("%s:", name);
	sig = sigsetjmp(fault, 1);
	if (sig)
		printf(" signal %d", sig);
	else
		call_with(&r, code);
	for (unsigned int i = 0; i < sizeof(r) / sizeof(uint64_t); i++) {
		uint64_t a = ((uint64_t *)&was)[i], b = ((uint64_t *)&r)[i];

		if (i == 15)
			printf(" flags=%llx", (unsigned long long)(b & FLAGS));
		else if (a != b)
			printf(" %s=%llx", names[i], (unsigned long long)b);
	}
	for (unsigned int i = 0; i < sizeof(buffer); i++)
		if (buffer[i] != before[i])
			printf(" [%u]=%x", i, buffer[i]);
	for (unsigned int i = 0; i < 4 * 4096; i++)
		if (new[i])
			printf(" new[%u]=%x", i, (unsigned char)new[i]);
	putchar('\n');
	munmap(new, 4 * 4096);
	munmap(fixed, 4096);
}

int main(void)
{
	signal(SIGSEGV, on_fault);
	for (unsigned int i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		try(list[i].name, list[i].code, 0x202);
		try(list[i].name, list[i].code, 0x202 | FLAGS);
	}
	return 0;
}
