// SPDX-License-Identifier: GPL-2.0-only
/* test_pinned.c - script files: options, tasks and statements told apart; whatever the text, no crash */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "campaign/run_options.h"
#include "engine/script.h"

static char path[] = "/tmp/zug-test-pinned-XXXXXX";

static int load(struct script *s, const char *text, size_t len, char *err, size_t errlen)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	fclose(f);
	return script_load(s, path, &run_options_script, err, errlen);
}

static void test_parts(void **state)
{
	static const char text[] = "# a script\n option watch a.b[3]  \noption aslr\n\ttask T2 child 3 of T1 # it\n"
				   "before T1 run T2\noption match # no comment\ntask T1 child 1 of T0\noptions\n";
	struct spawn_table spawn = { 0 };
	struct script s;
	char err[512];

	assert_int_equal(load(&s, text, strlen(text), err, sizeof(err)), 0);
	assert_int_equal(s.nr_options, 3);
	assert_string_equal(s.options[0].argument, "--watch=a.b[3]");
	assert_int_equal(s.options[0].line, 2);
	assert_string_equal(s.options[1].argument, "--aslr");
	assert_string_equal(s.options[2].argument, "--match=# no comment");
	/* what is left stands on its lines */
	assert_int_equal(strlen(s.rules), strlen(text));
	assert_string_equal(s.rules + strlen(s.rules) - 8, "options\n");
	assert_non_null(strstr(s.rules, "\nbefore T1 run T2\n"));
	assert_null(strstr(s.rules, "option "));
	assert_null(strstr(s.rules, "task"));
	assert_int_equal(s.nr_tasks, 2);
	script_number_tasks(&s, &spawn);
	assert_int_equal(spawn.nr, 3);
	assert_int_equal(spawn_number(&spawn, 0, 0), 1);
	assert_int_equal(spawn_number(&spawn, 1, 2), 2);
	/* others come after them */
	assert_int_equal(spawn_number(&spawn, 0, 1), 3);
	spawn_free(&spawn);
	script_free(&s);
	assert_int_equal(load(&s, "", 0, err, sizeof(err)), 0);
	assert_string_equal(s.rules, "");
	script_free(&s);
}

static void test_refused(void **state)
{
	static const struct { const char *text, *why; } bad[] = {
		{ "option", ":1: '' is no option" }, { "\noption output x", ":2: 'output' is no option of a script" },
		{ "option races yes", "'races' has no value" }, { "task", "not 'task T1 child 1 of T0'" },
		{ "task T1 child 1 of T0 x", "not 'task" },
		{ "task T0 child 1 of T1", "T0 is the command" }, { "task T1 child 0 of T0", "counted from 1" },
		{ "task T1 child 1 of T1", "child of itself" }, { "task T9999999 child 1 of T0", "not 'task" },
		{ "task T1 child 1 of T0\ntask T2 child 1 of T0", ":2: 'task T2 child 1 of T0': line 1" },
	};
	struct script s;
	char err[512];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(load(&s, bad[i].text, strlen(bad[i].text), err, sizeof(err)), -EINVAL);
		if (!strstr(err, bad[i].why) || strncmp(err, path, strlen(path)))
			fail_msg("'%s': %s", bad[i].text, err);
		script_free(&s);
	}
	assert_int_equal(load(&s, "strict\0x", 8, err, sizeof(err)), -EINVAL);
	assert_non_null(strstr(err, "not a script"));
	script_free(&s);
	assert_int_equal(script_load(&s, "/nonesuch/x.zug", &run_options_script, err, sizeof(err)), -ENOENT);
	assert_string_equal(err, "/nonesuch/x.zug: No such file or directory");
	script_free(&s);
}

static void test_garbage(void **state)
{
	static const char *const words[] = { "option", "task", "watch", "T1", "child", "of", "T0", "1", "2", "\n", "#", " ",
		"\t", "before", "\r", "=", "\x7f", "\xff" };
	char text[256], err[512];
	struct script s;

	srand(3);
	for (int i = 0; i < 3000; i++) {
		text[0] = err[0] = 0;
		for (int n = rand() % 16; n > 0; n--) {
			strcat(text, words[rand() % (sizeof(words) / sizeof(words[0]))]);
			strcat(text, rand() % 4 ? " " : "");
		}
		if (load(&s, text, strlen(text), err, sizeof(err)))
			assert_true(err[0]);
		else
			assert_int_equal(strlen(s.rules), strlen(text));
		script_free(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts), cmocka_unit_test(test_refused), cmocka_unit_test(test_garbage),
	};
	int fd = mkstemp(path), ret;

	if (fd < 0)
		return 1;
	close(fd);
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return ret;
}
