/* SPDX-License-Identifier: GPL-2.0-only */
/* test_cases.c - lists of test cases as the frameworks print them; results that machines can read whatever is in them */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <json-c/json.h>
#include "cli/cases.h"
#include "cli/exit_codes.h"
#include "cli/results.h"

static void googletest(void **state)
{
	static const char text[] = "Running main() from ./googletest/src/gtest_main.cc\nSum.\n  Empty\n  DISABLED_Large\n"
		"DISABLED_All.\n  One\nTyped/0.  # TypeParam = int\n  Works\nTwo/Numbers.\n  Small/0  # GetParam() = 3\n";
	char *argv[] = { (char *)"./t", (char *)"-x", NULL }, **command;
	struct case_list l;

	assert_int_equal(cases_parse(&l, CASES_GOOGLETEST, text, 0), 0);
	assert_int_equal(l.nr, 3);
	assert_string_equal(l.names[0], "Sum.Empty");
	assert_string_equal(l.names[1], "Typed/0.Works");
	assert_string_equal(l.names[2], "Two/Numbers.Small/0");
	command = cases_command(&l, 2, argv);
	assert_string_equal(command[1], "-x");
	assert_string_equal(command[2], "--gtest_filter=Two/Numbers.Small/0");
	assert_null(command[3]);
	cases_free_command(command);
	cases_free(&l);
}

static void what_is_no_list(void **state)
{
	static const char *const texts[] = { "", "sum 2\n", "Sum.\nfoo\n", "  Name before its suite\n", "Sum.\n", "a line.\n  x\n" };
	struct case_list l;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_equal(cases_parse(&l, CASES_GOOGLETEST, texts[i], 0), -EINVAL);
		assert_int_equal(cases_parse(&l, CASES_RUST, texts[i], 0), -EINVAL);
	}
	assert_int_equal(cases_parse(&l, CASES_GOOGLETEST, "Sum.\n  Empty\n", 1), -EINVAL);
	assert_int_equal(cases_parse(&l, CASES_CATCH2, "All available test cases:\n  one\n", 0), -EINVAL);
	/* version 2 ends with their number */
	assert_int_equal(cases_parse(&l, CASES_CATCH2_OLD, "one\ntwo\n", 0), -EINVAL);
}

static void catch2(void **state)
{
	char *argv[] = { (char *)"./t", NULL }, **command;
	struct case_list l;

	assert_int_equal(cases_parse(&l, CASES_CATCH2_OLD, "a, b\nc [d] *\"e\"\\\n", 2), 0);
	assert_int_equal(l.nr, 2);
	command = cases_command(&l, 1, argv);
	assert_string_equal(command[1], "c \\[d\\] \\*\\\"e\\\"\\\\");
	cases_free_command(command);
	cases_free(&l);
}

static void rust(void **state)
{
	char *argv[] = { (char *)"./t", NULL }, **command;
	struct case_list l;

	assert_int_equal(cases_parse(&l, CASES_RUST, "tests::a: test\ntests::b: benchmark\ntests::c: test\n", 0), 0);
	assert_int_equal(l.nr, 2);
	command = cases_command(&l, 1, argv);
	assert_string_equal(command[1], "--exact");
	assert_string_equal(command[3], "tests::c");
	cases_free_command(command);
	cases_free(&l);
}

static char *read_all(const char *path)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	assert_true(getdelim(&text, &size, 0, f) > 0);
	fclose(f);
	unlink(path);
	return text;
}

static int json_length(struct json_object *o, const char *list)
{
	struct json_object *v;

	assert_true(json_object_object_get_ex(o, list, &v));
	return json_object_array_length(v);
}

static void results_of_anything(void **state)
{
	/* what XML may not contain, what it would misread, and what is no UTF-8 */
	static const char said[] = "a<b>&\"'\n\nline\x01\x1b[31m \xff\xc3\xa4 \xed\xa0\x80 ]]>\n";
	struct campaign_failure failure = { .kind = ZUG_OUTCOME_DEADLOCK, .times = 2, .trace = (char *)"out/t.1.trace",
					    .message = (char *)"T1 <waits>\x02" };
	struct campaign_result f = { .executions = 7, .steps = 70, .preemptions_done = UINT32_MAX, .failures = &failure,
				      .nr_failures = 1 };
	const uint64_t aside[ASIDE_NR] = { [ASIDE_REPLAY] = 4, [ASIDE_MINIMIZE] = 12 };
	struct results *r = results_new("./t \"x\"");
	struct point_table points = { 0 };
	char xml[] = "/tmp/test_cases.XXXXXX", *text, err[200];
	struct json_object *j, *cases, *one, *v;
	unsigned int n, failed, incomplete;

	close(mkstemp(xml));
	assert_int_equal(results_exit(r), ZUG_EXIT_PASS);
	f.aside = aside;
	assert_int_equal(point_table_add(&points, &(struct point_row){ .object = "counter", .place = "f (a.c:1)",
								       .op = "data-write", .times = 9, .since = 3 }), 0);
	assert_int_equal(point_table_add(&points, &(struct point_row){ .place = "/lib/x.so", .why = "library" }), 0);
	assert_int_equal(results_add(r, "first", ZUG_EXIT_FINDING, 1500000000, &f, &points, said), 0);
	f.nr_failures = 0;
	assert_int_equal(results_add(r, "second", ZUG_EXIT_PASS, 0, &f, NULL, NULL), 0);
	assert_int_equal(results_add(r, "third", ZUG_EXIT_INCOMPLETE, 0, &f, NULL, "cut"), 0);
	f.once = &failure;
	f.nr_once = 1;
	assert_int_equal(results_add(r, "fourth", ZUG_EXIT_INCOMPLETE, 0, &f, NULL, "once"), 0);
	assert_int_equal(results_exit(r), ZUG_EXIT_FINDING);
	results_count(r, &n, &failed, &incomplete);
	assert_int_equal(n, 4);
	assert_int_equal(failed, 1);
	assert_int_equal(incomplete, 2);
	assert_int_equal(results_write_junit(r, xml, err, sizeof(err)), 0);
	text = read_all(xml);
	assert_non_null(strstr(text, "<testsuite name=\"./t &#34;x&#34;\" tests=\"4\" failures=\"1\" errors=\"2\""));
	assert_non_null(strstr(text, "name=\"first\" time=\"1.500\""));
	assert_non_null(strstr(text, "message=\"deadlock: T1 &#60;waits&#62;?\">a&#60;b&#62;&#38;&#34;'\n\nline??[31m ?\xc3\xa4 ??? ]]&#62;"));
	assert_non_null(strstr(text, "<error type=\"incomplete\" message=\"the search was cut"));
	assert_non_null(strstr(text, "<error type=\"incomplete\" message=\"a failure was seen once"));
	free(text);
	assert_int_equal(results_write_json(r, xml, err, sizeof(err)), 0);
	text = read_all(xml);
	j = json_tokener_parse(text);
	assert_non_null(j);
	assert_true(json_object_object_get_ex(j, "cases", &cases));
	assert_int_equal(json_object_array_length(cases), 4);
	one = json_object_array_get_idx(cases, 0);
	assert_true(json_object_object_get_ex(one, "verdict", &v));
	assert_string_equal(json_object_get_string(v), "failed");
	assert_int_equal(json_length(one, "failures"), 1);
	assert_int_equal(json_length(one, "seen_once"), 0);
	assert_int_equal(json_length(one, "points"), 2);
	assert_true(json_object_object_get_ex(one, "beside", &v));
	assert_true(json_object_object_get_ex(v, "minimize", &v));
	assert_int_equal(json_object_get_int(v), 12);
	assert_true(json_object_object_get_ex(one, "points", &v));
	v = json_object_array_get_idx(v, 0);
	assert_string_equal(json_object_to_json_string_ext(v, JSON_C_TO_STRING_PLAIN),
			    "{\"object\":\"counter\",\"place\":\"f (a.c:1)\",\"operation\":\"data-write\",\"times\":9,"
			    "\"since\":3,\"why_none\":null}");
	one = json_object_array_get_idx(cases, 3);
	assert_false(json_object_object_get_ex(one, "points", &v));
	assert_int_equal(json_length(one, "failures"), 0);
	assert_int_equal(json_length(one, "seen_once"), 1);
	json_object_put(j);
	free(text);
	assert_true(results_write_junit(r, "/none/x", err, sizeof(err)) < 0);
	assert_non_null(strstr(err, "/none/x: No such file"));
	results_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(googletest),
		cmocka_unit_test(what_is_no_list),
		cmocka_unit_test(catch2),
		cmocka_unit_test(rust),
		cmocka_unit_test(results_of_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
