/*
 * A static program without symbols, and without a C library whose archive could tell them: zug can find no primitives in it.
 * build: -O2 -static -nostdlib -fno-stack-protector -s
 */
#include <sys/syscall.h>

static long call(long nr, long a, long b, long c, long d)
{
	register long fourth __asm__("r10") = d;
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(fourth) : "rcx", "r11", "memory");
	return ret;
}

__attribute__((force_align_arg_pointer)) void _start(void)
{
	long child = call(SYS_fork, 0, 0, 0, 0);

	if (child > 0)
		call(SYS_wait4, child, 0, 0, 0);
	call(SYS_exit_group, child < 0, 0, 0, 0);
	__builtin_unreachable();
}
