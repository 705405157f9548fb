/* SPDX-License-Identifier: GPL-2.0-only */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>
#include "kworld/vdso.h"

/* mov $NR,%eax; syscall; ret */
static const uint8_t call_clock_gettime[] = { 0xb8, 228, 0, 0, 0, 0x0f, 0x05, 0xc3 };
static const uint8_t call_gettimeofday[] = { 0xb8, 96, 0, 0, 0, 0x0f, 0x05, 0xc3 };
/* its caller then makes the system call: mov $-ENOSYS,%rax; ret */
static const uint8_t refuse[] = { 0x48, 0xc7, 0xc0, 0xda, 0xff, 0xff, 0xff, 0xc3 };
/*
 * The answer of the call time() is in a register, which cannot be changed from outside: clock_gettime() instead.
 *	push %rdi; sub $16,%rsp; xor %edi,%edi; mov %rsp,%rsi; mov $228,%eax; syscall
 *	mov (%rsp),%rax; add $16,%rsp; pop %rdi; test %rdi,%rdi; je 1f; mov %rax,(%rdi); 1: ret
 */
static const uint8_t call_time[] = {
	0x57, 0x48, 0x83, 0xec, 0x10, 0x31, 0xff, 0x48, 0x89, 0xe6, 0xb8, 228, 0, 0, 0, 0x0f, 0x05,
	0x48, 0x8b, 0x04, 0x24, 0x48, 0x83, 0xc4, 0x10, 0x5f, 0x48, 0x85, 0xff, 0x74, 0x03,
	0x48, 0x89, 0x07, 0xc3,
};

static struct patch {
	const char *name;
	const uint8_t *code;
	size_t len;
	uint64_t offset;	/* from the vDSO's start; 0: this kernel's has no such function */
} patches[] = {
	{ "__vdso_clock_gettime", call_clock_gettime, sizeof(call_clock_gettime), 0 },
	{ "__vdso_gettimeofday", call_gettimeofday, sizeof(call_gettimeofday), 0 },
	{ "__vdso_time", call_time, sizeof(call_time), 0 },
	{ "__vdso_getrandom", refuse, sizeof(refuse), 0 },
};

/* Finds the functions of the vDSO, which all processes share with this one. */
static int find_functions(void)
{
	const uint8_t *base = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *e = (const Elf64_Ehdr *)base;
	const Elf64_Phdr *ph;
	const Elf64_Dyn *d = NULL;
	const Elf64_Sym *sym = NULL;
	const char *names = NULL;
	uint64_t vaddr = 0;

	if (!base)
		return 0;
	ph = (const Elf64_Phdr *)(base + e->e_phoff);
	for (int i = 0; i < e->e_phnum; i++) {
		if (ph[i].p_type == PT_LOAD)
			vaddr = ph[i].p_vaddr - ph[i].p_offset;
		if (ph[i].p_type == PT_DYNAMIC)
			d = (const Elf64_Dyn *)(base + ph[i].p_offset);
	}
	for (; d && d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_SYMTAB)
			sym = (const Elf64_Sym *)(base + d->d_un.d_ptr - vaddr);
		if (d->d_tag == DT_STRTAB)
			names = (const char *)(base + d->d_un.d_ptr - vaddr);
	}
	/* the names come right after the symbols, as linkers have it everywhere */
	if (!sym || !names || (const void *)sym >= (const void *)names)
		return -ENOEXEC;
	for (; (const char *)(sym + 1) <= names; sym++)
		for (size_t i = 0; i < sizeof(patches) / sizeof(patches[0]); i++)
			if (!strcmp(names + sym->st_name, patches[i].name)) {
				if (sym->st_size < patches[i].len)
					return -ENOEXEC;
				patches[i].offset = sym->st_value - vaddr;
			}
	return 0;
}

int vdso_patch(int pid, bool clocks, bool random)
{
	static int found = 1;
	uint64_t auxv[128], base = 0;
	char path[64];
	int fd, ret = 0;
	ssize_t n;

	if (found > 0)
		found = find_functions();
	if (found)
		return found;
	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, auxv, sizeof(auxv));
	close(fd);
	for (ssize_t i = 0; i + 1 < n / (ssize_t)sizeof(auxv[0]) && auxv[i]; i += 2)
		if (auxv[i] == AT_SYSINFO_EHDR)
			base = auxv[i + 1];
	if (!base)
		return 0;
	/* only this way in writes where the process itself may not */
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	for (size_t i = 0; i < sizeof(patches) / sizeof(patches[0]) && !ret; i++)
		if (patches[i].offset && (patches[i].code == refuse ? random : clocks) &&
		    pwrite(fd, patches[i].code, patches[i].len, base + patches[i].offset) !=
		    (ssize_t)patches[i].len)
			ret = errno ? -errno : -EIO;
	close(fd);
	return ret;
}
