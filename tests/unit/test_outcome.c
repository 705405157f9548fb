/* SPDX-License-Identifier: GPL-2.0-only */
/* test_outcome.c - which of the lines that a test has written is told as its failure */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "engine/outcome.h"

#define EXIT(status)	((status) << 8)
#define MAIN	"thread 'main' (1) panicked at src/main.rs:"
#define OTHER	"thread '<unnamed>' (3) panicked at src/queue.rs:24:9:\nan item\n"
#define NOTE	"note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n"

static void judge(const char *text, struct outcome *o)
{
	const struct outcome_rules rules = { 0 };
	struct capture *c = capture_new();

	assert_non_null(c);
	assert_int_equal(write(capture_err(c), text, strlen(text)), strlen(text));
	*o = (struct outcome){ 0 };
	outcome_judge(o, EXIT(101), &rules, c);
	capture_free(c);
	assert_int_equal(o->kind, ZUG_OUTCOME_EXIT);
}

static void told(const char *text, const char *message)
{
	struct outcome o;

	judge(text, &o);
	assert_string_equal(o.message, message);
}

static void test_panic(void **state)
{
	(void)state;
	told(MAIN "9:5:\noverdrawn: -60\n" NOTE, "exit status 101 (expected 0): " MAIN "9:5: overdrawn: -60");
	/* one that was caught is not why it ended */
	told(OTHER MAIN "9:5:\noverdrawn: -60\n", "exit status 101 (expected 0): " MAIN "9:5: overdrawn: -60");
}

/* What another thread says of it is no cause. */
static void test_hearsay(void **state)
{
	static const char *const heard[] = {
		"called `Result::unwrap()` on an `Err` value: PoisonError { .. }",
		"called `Result::unwrap()` on an `Err` value: Any { .. }",
		"called `Result::unwrap()` on an `Err` value: JoinError::Panic(Id(9), ...)",
		"a scoped thread panicked",
	};
	struct outcome o;
	char text[1024];

	(void)state;
	for (size_t i = 0; i < sizeof(heard) / sizeof(heard[0]); i++) {
		snprintf(text, sizeof(text), OTHER NOTE MAIN "15:27:\n%s\n" NOTE, heard[i]);
		told(text, "exit status 101 (expected 0): thread '<unnamed>' (3) panicked at src/queue.rs:24:9: an item");
		/* and if there is nothing else it is better than nothing */
		snprintf(text, sizeof(text), MAIN "15:27:\n%s\n", heard[i]);
		judge(text, &o);
		assert_non_null(strstr(o.message, heard[i]));
	}
}

/* The cause stands before what was cut out of a long output. */
static void test_long(void **state)
{
	static char text[16 << 20];
	struct outcome o;
	size_t n;

	(void)state;
	n = snprintf(text, sizeof(text), OTHER);
	memset(text + n, 'x', sizeof(text) - n);
	snprintf(text + sizeof(text) - 200, 200, "\n" MAIN "15:27:\na scoped thread panicked\n");
	judge(text, &o);
	assert_non_null(strstr(o.message, "queue.rs:24:9: an item"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_panic), cmocka_unit_test(test_hearsay), cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
