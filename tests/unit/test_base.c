/* SPDX-License-Identifier: GPL-2.0-only */
/* lib/base: arrays that grow, maps of ids, another process's memory */
#include <setjmp.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "lib/base/array.h"
#include "lib/base/clock.h"
#include "lib/base/id_map.h"
#include "lib/base/installed.h"
#include "lib/base/mounts.h"
#include "lib/base/patient_write.h"
#include "lib/base/remote.h"

/* A pipe that is full, and not read. */
static void test_writes_have_an_end(void **state)
{
	char bytes[70000] = { 1 }, got[4096];
	volatile sig_atomic_t stop = 1;
	size_t nr = 0;
	ssize_t n;
	int p[2];

	assert_int_equal(pipe(p), 0);
	assert_int_equal(patient_write(p[1], bytes, sizeof(bytes), 100000000, NULL), -ETIMEDOUT);
	assert_int_equal(patient_write(p[1], bytes, sizeof(bytes), UINT64_MAX, &stop), -EINTR);
	while (nr < 65536 && (n = read(p[0], got, sizeof(got))) > 0)
		nr += n;
	assert_int_equal(nr, 65536);
	assert_int_equal(patient_write(p[1], bytes, 4096, 100000000, NULL), 0);
	signal(SIGPIPE, SIG_IGN);
	close(p[0]);
	assert_int_equal(patient_write(p[1], bytes, 1, 100000000, NULL), -EPIPE);
	signal(SIGPIPE, SIG_DFL);
	close(p[1]);
}

static const char *put_list(char *path, const char *text)
{
	int fd = memfd_create("list", 0);

	assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	sprintf(path, "/proc/self/fd/%d", fd);
	return path;
}

static void test_file_systems_of_its_own(void **state)
{
	static const char own[] = "36 35 98:0 / / rw master:1 - ext4 /dev/sda1 rw\n"
				  "40 36 0:50 / /home rw - fuse.sshfs host: rw\n"
				  "41 36 0:20 / /sys/fs/fuse/connections rw - fusectl fusectl rw\n";
	char path[40], copy[40], more[400];

	put_list(path, own);
	assert_false(mounts_fuse_of(put_list(copy, own), path));
	snprintf(more, sizeof(more), "%s70 36 0:51 / /tmp/fuse rw - tmpfs none rw\n71 36 0:52 / /x rw - fusectl none rw\n", own);
	assert_false(mounts_fuse_of(put_list(copy, more), path));
	snprintf(more, sizeof(more), "%s70 36 0:51 / /tmp/x rw shared:1 - fuse fuse rw\n", own);
	assert_true(mounts_fuse_of(put_list(copy, more), path));
	assert_false(mounts_fuse_of("/proc/none", path));
	assert_false(mounts_own_fuse(getpid()));
}

/* The root is another path of everything here: only a mount of the whole file system, that is the folder's, leads there. */
static void test_other_path(void **state)
{
	static const struct {
		bool same_device;
		const char *root, *at, *path;
	} cases[] = {
		{ true, "/", "/proc/self/root", "/proc/self/root/usr" }, { false, "/", "/proc/self/root", "" },
		{ true, "/home", "/proc/self/root", "" }, { true, "/", "/", "" }, { true, "/", "/proc/self/fd", "" },
	};
	char list[40], text[200], path[64];
	struct stat st;

	assert_int_equal(stat("/usr", &st), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(text, sizeof(text), "36 35 %u:%u %s %s rw master:1 - ext4 /dev/sda1 rw\n", major(st.st_dev),
			 minor(st.st_dev) + !cases[i].same_device, cases[i].root, cases[i].at);
		mounts_other_path(put_list(list, text), "/usr", path, sizeof(path));
		assert_string_equal(path, cases[i].path);
	}
	mounts_other_path("/proc/none", "/usr", path, sizeof(path));
	assert_string_equal(path, "");
	snprintf(text, sizeof(text), "36 35 %u:%u / /proc/self/root rw - ext4 /dev/sda1 rw\n", major(st.st_dev), minor(st.st_dev));
	mounts_other_path(put_list(list, text), "/usr", path, strlen("/proc/self/root/usr"));
	assert_string_equal(path, "");
}

static void test_array_grows(void **state)
{
	uint32_t *a = NULL, room = 0;

	for (uint32_t i = 0; i < 1000; i++) {
		uint32_t before = room;

		assert_true(ARRAY_RESERVE(a, room, i + 1));
		assert_true(room > i);
		/* at least doubled, or left alone */
		assert_true(room == before || room >= 2 * before);
		a[i] = i;
	}
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(a[i], i);
	free(a);
}

static void test_array_zeroes_new_room_only(void **state)
{
	uint64_t *a = NULL;
	size_t room = 0;

	assert_true(ARRAY_RESERVE_ZERO(a, room, 3));
	for (size_t i = 0; i < room; i++) {
		assert_int_equal(a[i], 0);
		a[i] = 7;
	}
	size_t before = room;
	assert_true(ARRAY_RESERVE_ZERO(a, room, before + 1));
	for (size_t i = 0; i < room; i++)
		assert_int_equal(a[i], i < before ? 7 : 0);
	free(a);
}

static void test_array_refuses_what_cannot_be(void **state)
{
	uint64_t *a = NULL;
	size_t room = 0;

	assert_false(ARRAY_RESERVE(a, room, SIZE_MAX / 4));
	assert_null(a);
	assert_int_equal(room, 0);
}

static void test_id_map(void **state)
{
	struct id_map m = { 0 };
	bool added;

	assert_null(id_map_find(&m, 0));
	/* 0 is an id like any other; so are ids that differ in high bits only */
	for (uint64_t i = 0; i < 5000; i++) {
		uint32_t *v = id_map_add(&m, i << 40, i, &added);

		assert_non_null(v);
		assert_true(added);
	}
	assert_int_equal(m.nr, 5000);
	for (uint64_t i = 0; i < 5000; i++) {
		assert_int_equal(*id_map_find(&m, i << 40), i);
		assert_null(id_map_find(&m, (i << 40) + 1));
	}
	assert_int_equal(*id_map_add(&m, 3ull << 40, 99, &added), 3);
	assert_false(added);
	*id_map_find(&m, 3ull << 40) = 99;
	assert_int_equal(*id_map_find(&m, 3ull << 40), 99);
	id_map_clear(&m);
	assert_int_equal(m.nr, 0);
	assert_null(id_map_find(&m, 3ull << 40));
	assert_non_null(id_map_add(&m, 1, 2, NULL));
	/* after 2^32 times an id of the first round must not be there again */
	m.round = UINT32_MAX - 1;
	id_map_clear(&m);
	assert_null(id_map_find(&m, 1));
	assert_non_null(id_map_add(&m, 2, 3, &added));
	assert_true(added && m.nr == 1);
	id_map_free(&m);
	assert_null(id_map_find(&m, 1));
}

static void test_remote(void **state)
{
	long page = sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), buf[16];
	pid_t child;

	assert_true(p != MAP_FAILED);
	memcpy(p, "original", 8);
	assert_int_equal(munmap(p + page, page), 0);
	child = fork();
	if (!child) {
		pause();
		_exit(0);
	}
	assert_true(remote_read(child, (uintptr_t)p, buf, 8));
	assert_memory_equal(buf, "original", 8);
	assert_true(remote_write(child, (uintptr_t)p, "changed!", 8));
	assert_true(remote_read(child, (uintptr_t)p, buf, 8));
	assert_memory_equal(buf, "changed!", 8);
	assert_memory_equal(p, "original", 8);
	/* nothing can be read beyond the page, and not all of what crosses its end */
	assert_false(remote_read(child, (uintptr_t)p + page, buf, 1));
	assert_false(remote_read(child, (uintptr_t)p + page - 4, buf, 8));
	assert_true(remote_read_some(child, (uintptr_t)p + page, buf, 1) < 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_false(remote_read(child, (uintptr_t)p, buf, 8));
	munmap(p, page);
}

static void test_what_the_distribution_installs(void **state)
{
	static const char *const its[] = { "/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/bin/sort", "/bin/sh", "/usr/share/locale",
					   "/lib64/ld-linux-x86-64.so.2", "/run/vm/root/usr/bin/sort", "/run/host/usr/lib/x.so" };
	static const char *const others[] = { "/usr/local/bin/server", "/usr/src/server/main.c", "/library/x.so", "/usr",
					      "/home/a/usr/lib/x.so", "lib/x.so", "[vdso]", "", "/run/host/usr/local/bin/server",
					      "/run/vm/root/home/a/usr/lib/x.so", "/run/user/1000/usr/x", "/run/media/disk/usr/x",
					      "/run/usr/x" };

	for (size_t i = 0; i < sizeof(its) / sizeof(its[0]); i++)
		assert_true(path_is_installed(its[i]));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(path_is_installed(others[i]));
}

static void test_clock_goes_on(void **state)
{
	uint64_t before = clock_now_ns();

	usleep(2000);
	assert_true(clock_now_ns() - before >= 2000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_writes_have_an_end),
		cmocka_unit_test(test_array_grows),
		cmocka_unit_test(test_array_zeroes_new_room_only),
		cmocka_unit_test(test_array_refuses_what_cannot_be),
		cmocka_unit_test(test_id_map),
		cmocka_unit_test(test_remote),
		cmocka_unit_test(test_file_systems_of_its_own),
		cmocka_unit_test(test_other_path),
		cmocka_unit_test(test_what_the_distribution_installs),
		cmocka_unit_test(test_clock_goes_on),
	};

	return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
