/* SPDX-License-Identifier: GPL-2.0-only */
/* test_apart.c - begins of functions that are moved to where no other code is, in a copy of their file */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <iconv.h>
#include <libintl.h>
#include <link.h>
#include <locale.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "probes/probes_internal.h"

static char path[] = "/tmp/test-apart-XXXXXX";

static int make_file(void **state)
{
	int fd = mkstemp(path);

	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	return unlink(path);
}

static void write_file(const void *bytes, size_t size)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

static void read_at(uint64_t offset, void *bytes, size_t size)
{
	int fd = open(path, O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(pread(fd, bytes, size, offset), size);
	close(fd);
}

struct function {
	const void *at;
	uint64_t offset;	/* in its file */
};

static int in_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct function *f = arg;
	uint64_t vaddr = (uintptr_t)f->at - info->dlpi_addr;

	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && vaddr - info->dlpi_phdr[i].p_vaddr < info->dlpi_phdr[i].p_filesz)
			f->offset = vaddr - info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_offset;
	return f->offset != 0;
}

/* The C library with all that is moved does what it did, and what is moved once stays there. */
static void library(void **state)
{
	static const char *const names[] = { "setlocale", "newlocale", "dcgettext", "dcngettext", "iconv_open" };
	char *(*set)(int, const char *), *(*get)(const char *, const char *, int);
	char *(*get_n)(const char *, const char *, const char *, unsigned long, int);
	locale_t (*make)(int, const char *, locale_t);
	iconv_t (*open_codes)(const char *, const char *);
	struct function f[5] = { 0 };
	struct stat before, after;
	uint8_t code[5], begin;
	char command[256];
	uint64_t again;
	Dl_info info;
	void *lib;

	assert_true(dladdr(dlsym(RTLD_DEFAULT, "iconv_open"), &info));
	snprintf(command, sizeof(command), "cat %s >%s", info.dli_fname, path);
	assert_int_equal(system(command), 0);
	assert_int_equal(stat(path, &before), 0);
	for (int i = 0; i < 5; i++) {
		f[i].at = dlsym(RTLD_DEFAULT, names[i]);
		assert_non_null(f[i].at);
		assert_int_equal(dl_iterate_phdr(in_object, &f[i]), 1);
		again = f[i].offset;
		assert_int_equal(probes_put_apart(path, &again), 0);
		assert_int_not_equal(again, f[i].offset);
		read_at(again, &begin, 1);
		assert_int_equal(begin, 0x90);
		read_at(f[i].offset, code, sizeof(code));
		assert_int_equal(code[0], 0xe9);
		assert_int_equal(f[i].offset + 5 + *(int32_t *)(code + 1), again);
		assert_int_equal(probes_put_apart(path, &f[i].offset), 0);
		assert_int_equal(f[i].offset, again);
		for (int j = 0; j < i; j++)
			assert_int_not_equal(f[i].offset, f[j].offset);
	}
	assert_int_equal(stat(path, &after), 0);
	assert_int_equal(before.st_size, after.st_size);
	assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);

	lib = dlmopen(LM_ID_NEWLM, path, RTLD_NOW);
	assert_non_null(lib);
	set = dlsym(lib, "setlocale");
	make = dlsym(lib, "newlocale");
	get = dlsym(lib, "dcgettext");
	get_n = dlsym(lib, "dcngettext");
	open_codes = dlsym(lib, "iconv_open");
	assert_string_equal(set(LC_ALL, NULL), "C");
	assert_null(set(LC_ALL, "no such locale"));
	assert_non_null(make(LC_ALL_MASK, "C", (locale_t)0));
	assert_string_equal(get("zug", "text", LC_MESSAGES), "text");
	assert_string_equal(get_n("zug", "one", "many", 2, LC_MESSAGES), "many");
	assert_ptr_not_equal(open_codes("UCS-4", "UTF-8"), (iconv_t)-1);
	assert_ptr_equal(open_codes("no such codes", "UTF-8"), (iconv_t)-1);
	dlclose(lib);
}

#define CODE	0x1000

/* A file with one segment of code, which ends at end, and another segment at next; 0: none. */
static struct image {
	Elf64_Ehdr eh;
	Elf64_Phdr ph[2];
	uint8_t rest[0x3000 - sizeof(Elf64_Ehdr) - 2 * sizeof(Elf64_Phdr)];
} image;

static void write_image(const char *code, size_t len, uint64_t end, uint64_t next)
{
	image = (struct image){ .eh = { .e_ident = ELFMAG, .e_phoff = sizeof(Elf64_Ehdr), .e_phentsize = sizeof(Elf64_Phdr),
					.e_phnum = next ? 2 : 1 },
				.ph = { { .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = CODE, .p_vaddr = CODE,
					  .p_filesz = end - CODE, .p_memsz = end - CODE },
					{ .p_type = PT_LOAD, .p_flags = PF_R, .p_offset = next, .p_vaddr = next, .p_filesz = 16,
					  .p_memsz = 16 } } };
	image.eh.e_ident[EI_CLASS] = ELFCLASS64;
	memcpy((uint8_t *)&image + CODE, code, len);
	write_file(&image, sizeof(image));
}

static int moved(const char *code, size_t len, uint64_t end, uint64_t next, uint64_t *to)
{
	int ret;

	write_image(code, len, end, next);
	*to = CODE;
	ret = probes_put_apart(path, to);
	if (ret) {
		uint8_t bytes[16];

		assert_int_equal(*to, CODE);
		read_at(CODE, bytes, sizeof(bytes));
		assert_memory_equal(bytes, (uint8_t *)&image + CODE, sizeof(bytes));
	}
	return ret;
}

#define MOVED(code, end, next)	moved(code, sizeof(code) - 1, end, next, &to)

static void what_can_stand_elsewhere(void **state)
{
	static const uint8_t there[] = { 0x90, 0x55, 0x48, 0x89, 0xe5, 0x53, 0xe9 };
	uint8_t bytes[11];
	uint64_t to;

	/* push %rbp; mov %rsp,%rbp; push %rbx */
	assert_int_equal(MOVED("\x55\x48\x89\xe5\x53\x90", 0x1f01, 0x2000), 0);
	assert_int_equal(to, 0x1f20);
	read_at(to, bytes, sizeof(bytes));
	assert_memory_equal(bytes, there, sizeof(there));
	/* back to where the first instructions end */
	assert_int_equal(to + 11 + *(int32_t *)(bytes + 7), CODE + 5);
	/* a call, a jump, what a jump goes round, an address in relation to its own, a return, a system call, no code */
	assert_int_equal(MOVED("\x55\xe8\0\0\0\0\x90\x90", 0x1f01, 0x2000), -ENOENT);
	assert_int_equal(MOVED("\xe9\x10\0\0\0\x90\x90\x90", 0x1f01, 0x2000), -ENOENT);
	assert_int_equal(MOVED("\x85\xff\x75\x10\x90\x90\x90", 0x1f01, 0x2000), -ENOENT);
	assert_int_equal(MOVED("\x48\x8d\x05\x10\0\0\0\x90", 0x1f01, 0x2000), -ENOENT);
	assert_int_equal(MOVED("\x31\xc0\xc3\x90\x90\x90", 0x1f01, 0x2000), -ENOENT);
	assert_int_equal(MOVED("\x31\xc0\x0f\x05\x90\x90", 0x1f01, 0x2000), -ENOENT);
	assert_int_equal(MOVED("\x06\x06\x06\x06\x06\x06", 0x1f01, 0x2000), -ENOENT);
}

static void where_there_is_room(void **state)
{
	static const char code[] = "\x55\x48\x89\xe5\x53\x90";
	uint64_t to;

	assert_int_equal(MOVED(code, 0x1fe0, 0x2000), 0);
	assert_int_equal(to, 0x1fe0);
	assert_int_equal(MOVED(code, 0x1fe1, 0x2000), -ENOENT);
	assert_int_equal(MOVED(code, 0x2000, 0x2000), -ENOENT);
	/* nothing of the file, as far as the segments tell, and of what else? */
	assert_int_equal(MOVED(code, 0x1f01, 0), -ENOENT);
	assert_int_equal(MOVED(code, 0x1f01, 0x1f80), -ENOENT);
	/* the rest is filled */
	write_image(code, 6, 0x1fa1, 0x2000);
	image.rest[0x1fdf - sizeof(image.eh) - sizeof(image.ph)] = 1;
	image.rest[0x1fe0 - sizeof(image.eh) - sizeof(image.ph)] = 1;
	write_file(&image, sizeof(image));
	to = CODE;
	assert_int_equal(probes_put_apart(path, &to), -ENOSPC);
	/* no such file, and none of these */
	write_file("text", 4);
	assert_int_equal(probes_put_apart(path, &to), -ENOENT);
	assert_int_equal(probes_put_apart("/nonexistent", &to), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(library),
		cmocka_unit_test(what_can_stand_elsewhere),
		cmocka_unit_test(where_there_is_room),
	};

	return cmocka_run_group_tests_name("apart", tests, make_file, remove_file);
}
