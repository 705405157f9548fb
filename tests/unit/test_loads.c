/* SPDX-License-Identifier: GPL-2.0-only */
/* test_loads.c - which instructions of a function load a member of a structure, as an interpreter's loop does */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "probes/code.h"

static const char text[] =
	"\x90\x90"
	"\x8b\x40\x64"				/* 2: mov 0x64(%rax),%eax */
	"\x41\x8b\x4f\x64"			/* 5: mov 0x64(%r15),%ecx: its prefix is part of the registers */
	"\x83\x7b\x64\x00"			/* 9: cmpl $0,0x64(%rbx) */
	"\x8b\x40\x68"				/* another member */
	"\x8b\x44\x24\x64"			/* the stack */
	"\x8b\x44\x88\x64"			/* an array */
	"\x89\x40\x64"				/* a store */
	"\x48\x8b\x40\x64"			/* eight bytes */
	"\x8b\x40\x64"				/* behind the end */
	/* 34: a state of which the lowest byte is tested, and others */
	"\x49\x8b\x46\x18"			/* 34: mov 0x18(%r14),%rax */
	"\x48\x83\xc5\x04"			/* add $4,%rbp */
	"\x84\xc0"				/* test %al,%al */
	"\x48\x8b\x47\x18"			/* mov 0x18(%rdi),%rax */
	"\x48\x85\xc0"				/* test %rax,%rax */
	"\x49\x8b\x4e\x18"			/* 51: mov 0x18(%r14),%rcx */
	"\x48\x3b\x8f\xa8\x00\x00\x00"		/* cmp 0xa8(%rdi),%rcx */
	"\x48\x8b\x47\x18"			/* mov 0x18(%rdi),%rax */
	"\x84\xc9"				/* test %cl,%cl: of another register */;
#define END	31
#define STATE	34
#define STATE_END	(sizeof(text) - 1)

static char path[] = "/tmp/test-loads-XXXXXX";

static int write_file(void **state)
{
	int fd = mkstemp(path);

	if (fd < 0 || write(fd, text, sizeof(text) - 1) != (ssize_t)sizeof(text) - 1)
		return -1;
	return close(fd);
}

static int remove_file(void **state)
{
	return unlink(path);
}

static void loads(void **state)
{
	struct code_place *list;
	uint32_t nr;

	assert_int_equal(code_loads(path, 0, END, 0x64, 4, false, &list, &nr), 0);
	assert_int_equal(nr, 3);
	assert_int_equal(list[0].offset, 2);
	assert_int_equal(list[0].base, 0);
	assert_int_equal(list[0].disp, 0x64);
	assert_int_equal(list[1].offset, 5);
	assert_int_equal(list[1].base, 15);
	assert_int_equal(list[2].offset, 9);
	assert_int_equal(list[2].base, 3);
	free(list);
	assert_int_equal(code_loads(path, 0, END, 0x60, 4, false, &list, &nr), 0);
	assert_int_equal(nr, 0);
	free(list);
}

static void lowest_byte(void **state)
{
	struct code_place *list;
	uint32_t nr;

	assert_int_equal(code_loads(path, STATE, STATE_END, 0x18, 8, false, &list, &nr), 0);
	assert_int_equal(nr, 4);
	free(list);
	assert_int_equal(code_loads(path, STATE, STATE_END, 0x18, 8, true, &list, &nr), 0);
	assert_int_equal(nr, 2);
	assert_int_equal(list[0].offset, 34);
	assert_int_equal(list[1].offset, 51);
	free(list);
	/* where none is tested there is nothing to be told from others */
	assert_int_equal(code_loads(path, STATE + 10, STATE_END, 0x18, 8, true, &list, &nr), 0);
	assert_int_equal(nr, 0);
	free(list);
}

static void refused(void **state)
{
	struct code_place *list = (void *)1;
	uint32_t nr = 1;

	assert_true(code_loads(path, 0, 1000, 0x64, 4, false, &list, &nr) < 0);
	assert_null(list);
	assert_int_equal(nr, 0);
	assert_true(code_loads(path, 5, 5, 0x64, 4, false, &list, &nr) < 0);
	assert_true(code_loads("/nowhere", 0, END, 0x64, 4, false, &list, &nr) < 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(loads),
		cmocka_unit_test(lowest_byte),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests_name("loads of a member", tests, write_file, remove_file);
}
