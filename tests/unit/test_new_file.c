/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_new_file.c - files that zug writes go nowhere else through links that others have planted. As
 * root, which owns the folder of the test, user 65534 plants them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "lib/base/new_file.h"
#include "lib/base/proc_status.h"

#define OTHER 65534

static char dir[] = "/tmp/zug-test-new-file-XXXXXX";

static int set_up(void **state)
{
	return !mkdtemp(dir) || chdir(dir) || mkdir("target", 0755) || chmod(dir, 0755) ? -1 : 0;
}

static int tear_down(void **state)
{
	char line[128];

	snprintf(line, sizeof(line), "rm -rf %s", dir);
	return chdir("/") || system(line);
}

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void expect_text(const char *path, const char *text)
{
	char buf[64] = "";
	int fd = open(path, O_RDONLY);
	ssize_t n;

	assert_true(fd >= 0);
	n = read(fd, buf, sizeof(buf) - 1);
	assert_true(n >= 0);
	close(fd);
	assert_string_equal(buf, text);
}

static void write_new(const char *path, const char *text)
{
	int fd = new_file(path, 0644);

	if (fd < 0)
		fail_msg("%s: %s", path, new_file_error(fd));
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* A link that belongs to another user. */
static void plant(const char *target, const char *path)
{
	assert_int_equal(symlink(target, path), 0);
	assert_int_equal(lchown(path, OTHER, OTHER), 0);
}

static void files_are_made_and_emptied(void **state)
{
	struct stat before, after;

	write_new("plain", "one, and more of it");
	assert_int_equal(stat("plain", &before), 0);
	write_new("./target/../plain", "two");
	expect_text("plain", "two");
	assert_int_equal(stat("plain", &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	assert_int_equal(new_file("target", 0644), -EISDIR);
	assert_int_equal(new_file("target/", 0644), -EISDIR);
	assert_int_equal(new_file("absent/file", 0644), -ENOENT);
	assert_int_equal(new_file("plain/file", 0644), -ENOTDIR);
	assert_int_equal(new_file("", 0644), -ENOENT);
	assert_int_equal(new_file_only("plain", 0644), -EEXIST);
	assert_true(close(new_file_only("only", 0644)) == 0);
	assert_int_equal(new_folder("target/sub", 0755), 0);
	assert_int_equal(new_folder("target/sub", 0755), -EEXIST);
	assert_int_equal(new_file_rename("only", "target/sub/only"), 0);
	assert_int_equal(new_file_unlink("target/sub/only"), 0);
	assert_int_equal(new_file_unlink("target/sub/only"), -ENOENT);
}

static void devices_are_what_they_are(void **state)
{
	int fd = new_file("/dev/null", 0644), p[2];
	char path[64];
	struct stat st;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
	assert_int_equal(stat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	/* as a shell's >(command) */
	assert_int_equal(pipe(p), 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", p[1]);
	fd = new_file(path, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(read(p[0], path, 1), 1);
	close(fd);
	close(p[0]);
	close(p[1]);
}

static void own_links_are_followed(void **state)
{
	assert_int_equal(symlink("target/there", "mine"), 0);
	write_new("mine", "mine");
	expect_text("target/there", "mine");
	assert_int_equal(symlink("target", "folder"), 0);
	write_new("folder/inside", "inside");
	expect_text("target/inside", "inside");
	/* a name is removed or replaced, not what it leads to */
	assert_int_equal(new_file_unlink("mine"), 0);
	expect_text("target/there", "mine");
	assert_int_equal(symlink("loop", "loop"), 0);
	assert_int_equal(new_file("loop", 0644), -ELOOP);
}

static void links_of_others_are_not(void **state)
{
	if (geteuid())
		skip();
	put("target/precious", "precious");
	plant("target/precious", "trap");
	assert_int_equal(new_file("trap", 0644), -ELOOP);
	assert_int_equal(new_file_append("trap", 0644), -ELOOP);
	assert_int_equal(new_file_only("trap", 0644), -EEXIST);
	expect_text("target/precious", "precious");
	plant("target", "other");
	assert_int_equal(new_file("other/precious", 0644), -ELOOP);
	assert_int_equal(new_folder("other/new", 0755), -ELOOP);
	assert_int_equal(new_file_rename("plain", "other/precious"), -ELOOP);
	assert_int_equal(new_file_unlink("other/precious"), -ELOOP);
	expect_text("target/precious", "precious");
	assert_non_null(strstr(new_file_error(-ELOOP), "another user"));
	/* the name itself can be taken away */
	assert_int_equal(new_file_unlink("trap"), 0);
	write_new("trap", "new");
	expect_text("target/precious", "precious");
}

static void another_name_of_a_file_is_replaced(void **state)
{
	if (geteuid())
		skip();
	put("target/linked", "linked");
	assert_int_equal(link("target/linked", "hard"), 0);
	write_new("hard", "new");
	expect_text("target/linked", "linked");
	expect_text("hard", "new");
	/* and the file of another user, who may have it open */
	put("theirs", "theirs");
	assert_int_equal(chown("theirs", OTHER, OTHER), 0);
	int old = open("theirs", O_RDONLY);

	write_new("theirs", "new");
	expect_text("theirs", "new");
	assert_int_equal(lseek(old, 0, SEEK_END), 6);
	close(old);
}

/* In a child, because the owner stays for good. */
static void files_belong_to_whom_they_are_for(void **state)
{
	struct stat st;
	int status;
	pid_t pid;

	if (geteuid())
		skip();
	pid = fork();
	if (!pid) {
		new_file_owner(OTHER, OTHER - 1);
		if (symlink("target/for", "given") || lchown("given", OTHER, OTHER) || new_folder("folder-for", 0755))
			_exit(1);
		_exit(close(new_file("given", 0600)) ? 2 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(stat("target/for", &st), 0);
	assert_int_equal(st.st_uid, OTHER);
	assert_int_equal(st.st_gid, OTHER - 1);
	assert_int_equal(stat("folder-for", &st), 0);
	assert_int_equal(st.st_uid, OTHER);
}

/*
 * Another user exchanges a name for a link all the time, in a folder of his own; what the link leads
 * to stays as it was.
 */
static void no_race_is_won(void **state)
{
	int status, fd, made = 0;
	pid_t pid;

	if (geteuid())
		skip();
	put("target/raced", "raced");
	assert_int_equal(mkdir("theirs-all", 0755), 0);
	assert_int_equal(chown("theirs-all", OTHER, OTHER), 0);
	pid = fork();
	if (!pid) {
		if (setgid(OTHER) || setuid(OTHER))
			_exit(1);
		for (;;) {
			if (symlink("../target/raced", "theirs-all/swap") && errno != EEXIST)
				_exit(1);
			unlink("theirs-all/swap");
		}
	}
	/* the other one may have no turn for long, right behind its symlink() */
	for (int i = 0; i < 3000 || (!made && i < 1000000); i++) {
		fd = new_file("theirs-all/swap", 0644);
		if (fd < 0)
			continue;
		made++;
		assert_int_equal(write(fd, "spoilt", 6), 6);
		close(fd);
	}
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_true(made);
	expect_text("target/raced", "raced");
}

static void names_tell_whose_they_are(void **state)
{
	char name[80];
	int status;
	pid_t pid;

	assert_false(proc_name_is_orphan(proc_own_name()));
	snprintf(name, sizeof(name), "%s-0.trace", proc_own_name());
	assert_false(proc_name_is_orphan(name));
	/* our number, but another process's begin */
	snprintf(name, sizeof(name), "zug-%d.%llu-1", getpid(), (unsigned long long)proc_started(getpid()) + 1);
	assert_true(proc_name_is_orphan(name));
	snprintf(name, sizeof(name), "zug-%d-1", getpid());
	assert_false(proc_name_is_orphan(name));
	snprintf(name, sizeof(name), "%s", proc_own_name());
	pid = fork();
	if (!pid)
		_exit(!strcmp(name, proc_own_name()) || proc_name_is_orphan(proc_own_name()));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	snprintf(name, sizeof(name), "zug-%d-1", pid);
	assert_true(proc_name_is_orphan(name));
	snprintf(name, sizeof(name), "zug-%d.12-1", pid);
	assert_true(proc_name_is_orphan(name));
	assert_false(proc_name_is_orphan("zug-out"));
	assert_false(proc_name_is_orphan("zug-12x"));
	assert_false(proc_name_is_orphan("zug"));
	assert_false(proc_name_is_orphan("zug-"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_made_and_emptied),
		cmocka_unit_test(devices_are_what_they_are),
		cmocka_unit_test(own_links_are_followed),
		cmocka_unit_test(links_of_others_are_not),
		cmocka_unit_test(another_name_of_a_file_is_replaced),
		cmocka_unit_test(files_belong_to_whom_they_are_for),
		cmocka_unit_test(no_race_is_won),
		cmocka_unit_test(names_tell_whose_they_are),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
