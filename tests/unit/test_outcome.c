/* SPDX-License-Identifier: GPL-2.0-only */
/* test_outcome.c - which of the lines that a test has written is told as its failure */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "engine/outcome.h"

#define EXIT(status)	((status) << 8)
#define MAIN	"thread 'main' (1) panicked at src/main.rs:"
#define OTHER	"thread '<unnamed>' (3) panicked at src/queue.rs:24:9:\nan item\n"
#define OLD_OTHER "thread '<unnamed>' panicked at "
#define OLD_MAIN "thread 'main' panicked at "
#define NOTE	"note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n"

static void judge_status(const char *out, const char *err, int status, struct outcome *o)
{
	const struct outcome_rules rules = { 0 };
	struct capture *c = capture_new();

	assert_non_null(c);
	assert_int_equal(write(capture_out(c), out, strlen(out)), strlen(out));
	assert_int_equal(write(capture_err(c), err, strlen(err)), strlen(err));
	*o = (struct outcome){ 0 };
	outcome_judge(o, status, &rules, c);
	capture_free(c);
}

static void judge(const char *text, struct outcome *o)
{
	judge_status("", text, EXIT(101), o);
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

/* make(1) has the last word, but what failed first is the cause. */
static void test_make(void **state)
{
	(void)state;
	told("ld: cannot find lib.a\nmake: *** [Makefile:3: prog] Error 1\nmake: *** Waiting for unfinished jobs....\n"
	     "prog: saved\nmake: *** [Makefile:7: other] Error 2\n",
	     "exit status 101 (expected 0): ld: cannot find lib.a");
	told("cat: x: No such file\nmake[1]: *** [Makefile:2: y] Error 1\nmake[1]: Leaving directory '/x'\n"
	     "make: *** [Makefile:1: all] Error 2\n",
	     "exit status 101 (expected 0): cat: x: No such file");
	told("make: *** [Makefile:3: prog] Error 1\n", "exit status 101 (expected 0): make: *** [Makefile:3: prog] Error 1");
	told("make: *** [Makefile:3: prog] Error 1\nno program\n", "exit status 101 (expected 0): no program");
	told("maker: no\nmake: nothing\n", "exit status 101 (expected 0): make: nothing");
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
		/* Rust 1.63 */
		snprintf(text, sizeof(text), OLD_OTHER "'an item', src/queue.rs:24:9\n" OLD_MAIN "'%s', src/main.rs:15:27\n" NOTE,
			 heard[i]);
		told(text, "exit status 101 (expected 0): " OLD_OTHER "'an item', src/queue.rs:24:9");
	}
}

/* Rust before 1.73 tells the words first, in as many lines as they have, and the place behind them. */
static void test_quoted(void **state)
{
	static const char left[] = OLD_MAIN "'assertion failed: `(left == right)`\n  left: `%d`,\n right: `30`', src/main.rs:%d:5\n";
	struct outcome a, b;
	char text[1024];

	(void)state;
	snprintf(text, sizeof(text), left, 10, 37);
	told(text, "exit status 101 (expected 0): " OLD_MAIN
	     "'assertion failed: `(left == right)` left: `10`, right: `30`', src/main.rs:37:5");
	judge(text, &a);
	snprintf(text, sizeof(text), left, 20, 37);
	judge(text, &b);
	assert_true(a.failure == b.failure);
	snprintf(text, sizeof(text), left, 10, 38);
	judge(text, &b);
	assert_true(a.failure != b.failure);
	/* what is far away is no part of it */
	told(OLD_MAIN "'1\n2\n3\n4\n5\n6\n7\n8\n', x\n", "exit status 101 (expected 0): " OLD_MAIN "'1");
	told(OLD_MAIN "it's\nmore\n", "exit status 101 (expected 0): " OLD_MAIN "it's");
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

/* Test programs write about what failed on their output. */
static void test_harness(void **state)
{
	static const struct {
		const char *out, *err, *message;
	} programs[] = {
		{ "running 2 tests\ntest tests::alone ... ok\ntest tests::pool ... FAILED\n\n---- tests::pool stdout ----\n"
		  "\nthread 'tests::pool' (7) panicked at src/lib.rs:30:9:\npool is empty\n" NOTE "\n\nfailures:\n    tests::pool\n",
		  "", "thread 'tests::pool' (7) panicked at src/lib.rs:30:9: pool is empty" },
		{ "--- FAIL: TestDefault (0.00s)\n    store_test.go:52: two defaults: [x y]\nFAIL\n", "",
		  "--- FAIL: TestDefault (0.00s) store_test.go:52: two defaults: [x y]" },
		{ "[ RUN      ] Pool.Take\npool_test.cc:30: Failure\nExpected equality of these values:\n  1\n  2\n", "",
		  "pool_test.cc:30: Failure Expected equality of these values:" },
		{ "...\npool.cpp:30: FAILED:\n  REQUIRE( left == 2 )\nwith expansion:\n", "", "pool.cpp:30: FAILED: REQUIRE( left == 2 )" },
		{ "JUnit version 4.13.2\n..E\nTime: 0.1\nThere was 1 failure:\n1) deposits(AccountTest)\n"
		  "java.lang.AssertionError: expected:<3> but was:<2>\n\tat org.junit.Assert.fail(Assert.java:89)\n", "",
		  "1) deposits(AccountTest) java.lang.AssertionError: expected:<3> but was:<2>" },
		{ "Time: 0.1\nThere were 2 failures:\n1) a(B)\njava.lang.Error\n2) c(B)\njava.lang.Error\n", "", "1) a(B) java.lang.Error" },
		{ "\nFailures (1):\n  JUnit Jupiter:AccountTest:deposits()\n    MethodSource [methodName = 'deposits']\n", "",
		  "JUnit Jupiter:AccountTest:deposits() MethodSource [methodName = 'deposits']" },
		/* what stands in the error output says more */
		{ "--- FAIL: TestClose (0.00s)\n",
		  "panic: send on closed channel [recovered]\n\tpanic: send on closed channel\n\ngoroutine 6",
		  "panic: send on closed channel" },
		{ "all is well\n", "cannot open it\n", "cannot open it" },
		/* a script's echo */
		{ "begun\ncounter is 1, not 2\n", "", "counter is 1, not 2" },
	};
	struct outcome o;

	(void)state;
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		judge_status(programs[i].out, programs[i].err, EXIT(1), &o);
		assert_int_equal(o.kind, ZUG_OUTCOME_EXIT);
		assert_string_equal(o.message + strlen("exit status 1 (expected 0): "), programs[i].message);
	}
}

/* Two bugs of a program may end it with one status, as all panics do; and one bug may tell other numbers each time. */
static void test_identity(void **state)
{
	static const struct {
		const char *first, *second;
		bool same;
	} pairs[] = {
		{ "fatal error: all goroutines are asleep - deadlock!\n", "panic: send on closed channel\n", false },
		{ "panic: send on closed channel\n\ngoroutine 18 [running]:\n", "panic: send on closed channel\n", true },
		{ "panic: close of closed channel\n", "panic: send on closed channel\n", false },
		{ "panic: lost a\n", "panic: send on closed channel\n", false },
		{ "panic: lost a\n", "panic: lost b\n", true },
		{ "panic: runtime error: index out of range [5] with length 3\n",
		  "panic: runtime error: index out of range [4] with length 4\n", true },
		{ MAIN "9:5:\noverdrawn: -60\n", MAIN "9:5:\noverdrawn: by a lot\n", true },
		{ MAIN "9:5:\noverdrawn: -60\n", MAIN "12:5:\noverdrawn: -60\n", false },
		{ MAIN "9:5:\noverdrawn\n", "thread '<unnamed>' (5) panicked at src/main.rs:9:5:\noverdrawn\n", true },
		{ "thread 'main' panicked at 'a, b', src/main.rs:9:5\n", "thread 'main' panicked at 'c', src/main.rs:9:5\n", true },
		{ "thread 'main' panicked at 'a', src/main.rs:9:5\n", "thread 'main' panicked at 'a', src/main.rs:10:5\n", false },
		{ "lost 3\n", "cannot open x\n", true },
	};
	static const char *const tests[] = { "--- FAIL: TestA (0.00s)\n    a_test.go:4: 1\n",
					     "--- FAIL: TestA (0.01s)\n    a_test.go:4: 2\n",
					     "--- FAIL: TestB (0.00s)\n    a_test.go:9: 1\n" };
	struct outcome a, b;

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		judge(pairs[i].first, &a);
		judge(pairs[i].second, &b);
		if ((a.failure == b.failure) != pairs[i].same)
			print_message("%s%s", pairs[i].first, pairs[i].second);
		assert_int_equal(a.failure == b.failure, pairs[i].same);
	}
	for (int i = 1; i < 3; i++) {
		judge_status(tests[0], "", EXIT(1), &a);
		judge_status(tests[i], "", EXIT(1), &b);
		assert_int_equal(a.failure == b.failure, i == 1);
	}
}

/* UBSan's words are also those of panics in Go, which a program may catch. */
static void test_ubsan(void **state)
{
	static const char *const reports[] = {
		"sum.c:7:12: runtime error: signed integer overflow: 1 + 2147483647 cannot be represented in type 'int'",
		"<unknown>: runtime error: load of null pointer of type 'int'",
		"/tmp/a.out(+0x1234): runtime error: division by zero",
	};
	static const char *const panics[] = {
		"panic: runtime error: index out of range [0] with length 0",
		"2026/11/26 14:00:00 http: panic serving 127.0.0.1:45678: runtime error: integer divide by zero",
		"http: panic serving [::1]:45678: runtime error: integer divide by zero",
	};
	struct outcome o;

	(void)state;
	for (size_t i = 0; i < sizeof(reports) / sizeof(reports[0]); i++) {
		judge_status("", reports[i], EXIT(0), &o);
		assert_int_equal(o.kind, ZUG_OUTCOME_SANITIZER);
		assert_string_equal(o.message, reports[i]);
	}
	for (size_t i = 0; i < sizeof(panics) / sizeof(panics[0]); i++) {
		judge_status("", panics[i], EXIT(0), &o);
		assert_int_equal(o.kind, ZUG_OUTCOME_PASS);
		judge_status("", panics[i], EXIT(2), &o);
		assert_int_equal(o.kind, ZUG_OUTCOME_EXIT);
	}
}

/* The exit status of a program in Python is 0 where an exception has ended a thread. */
static void test_uncaught(void **state)
{
	static const char trace[] = "Exception in thread Thread-1 (work):\nTraceback (most recent call last):\n"
				    "  File \"a.py\", line 9, in work\n    got = items.pop()\n          ^^^^^^^^^^^\n"
				    "IndexError: pop from empty list\n";
	static const char chained[] = "\nDuring handling of the above exception, another exception occurred:\n\n"
				      "Traceback (most recent call last):\n  File \"a.py\", line 11, in work\n    f()\n"
				      "KeyError: 'a'\nnot this line\n";
	static const struct {
		const char *more, *message;
	} cases[] = {
		{ "", "error output: Exception in thread Thread-1 (work): IndexError: pop from empty list" },
		{ "and more\n", "error output: Exception in thread Thread-1 (work): IndexError: pop from empty list" },
		{ chained, "error output: Exception in thread Thread-1 (work): KeyError: 'a'" },
	};
	struct outcome_rules rules = { .uncaught = "Exception in thread " };

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		const char *more = cases[i / 2].more;
		struct capture *c = capture_new();
		struct outcome o = { 0 };

		assert_non_null(c);
		assert_int_equal(write(capture_err(c), trace, strlen(trace)), strlen(trace));
		assert_int_equal(write(capture_err(c), more, strlen(more)), strlen(more));
		rules.uncaught = i % 2 ? NULL : "Exception in thread ";
		outcome_judge(&o, 0, &rules, c);
		capture_free(c);
		assert_int_equal(o.kind, i % 2 ? ZUG_OUTCOME_PASS : ZUG_OUTCOME_MATCH);
		assert_string_equal(o.message, i % 2 ? "" : cases[i / 2].message);
	}
}

/* A task that is let go may write before it is killed: that is none of the execution's output. */
static void test_written_too_late(void **state)
{
	struct capture *c = capture_new();

	(void)state;
	assert_non_null(c);
	for (int round = 0; round < 2; round++) {
		char *head, *tail;

		capture_reset(c);
		assert_int_equal(write(capture_out(c), "begun\n", 6), 6);
		capture_stop(c);
		assert_int_equal(write(capture_out(c), "ended\n", 6), 6);
		assert_int_equal(write(capture_err(c), "late\n", 5), 5);
		assert_int_equal(capture_text(c, 0, &head, &tail), 0);
		assert_string_equal(head, "begun\n");
		free(head);
		assert_int_equal(capture_text(c, 1, &head, &tail), 0);
		assert_string_equal(head, "");
		free(head);
	}
	capture_free(c);
}

/* What node, Python's unittest, pytest and TAP print, and what of it is told. */
static void test_scripts(void **state)
{
	static const struct {
		const char *out, *err, *message;
	} cases[] = {
		{ "", "node:internal/process/promises:394\n      triggerUncaughtException(err, true /* fromPromise */);\n      ^\n\n"
		  "AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n\n6 !== 3\n\n"
		  "    at node:internal/x:1:2\n    at main (/t/stock.js:38:9) {\n  generatedMessage: true\n}\n\nNode.js v20.20.2\n",
		  "AssertionError [ERR_ASSERTION]: Expected values to be strictly equal: 6 !== 3 at main (/t/stock.js:38:9)" },
		{ "", "/t/a.js:3\n  throw new Error('lost');\n  ^\n\nError: lost\n    at Object.<anonymous> (/t/a.js:3:9)\n"
		  "    at Module._compile (node:internal/modules/cjs/loader:1:2)\n\nNode.js v18.20.4\n",
		  "Error: lost at Object.<anonymous> (/t/a.js:3:9)" },
		{ "", "Node.js v18.20.4\n", "Node.js v18.20.4" },
		{ "", ".F\n======\nFAIL: test_two (__main__.BankTest.test_two)\n------\nTraceback (most recent call last):\n"
		  "  File \"/t/bank.py\", line 9, in test_two\n    self.assertEqual(a, 7)\nAssertionError: 3 != 7\n\n------\n"
		  "Ran 2 tests in 0.010s\n\nFAILED (failures=1)\n",
		  "FAIL: test_two (__main__.BankTest.test_two): AssertionError: 3 != 7" },
		{ "", "FAILED (failures=1)\n", "FAILED (failures=1)" },
		{ "=== short test summary info ===\nFAILED test_pool.py::test_take - assert 1 == 2\n=== 1 failed in 0.02s ===\n", "",
		  "FAILED test_pool.py::test_take - assert 1 == 2" },
		{ "TAP version 13\nok 1 - a\nnot ok 2 - takes one\n  ---\n# fail 1\n", "", "not ok 2 - takes one" },
	};
	struct outcome o;
	char whole[512];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		judge_status(cases[i].out, cases[i].err, EXIT(1), &o);
		snprintf(whole, sizeof(whole), "exit status 1 (expected 0): %s", cases[i].message);
		assert_string_equal(o.message, whole);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_panic), cmocka_unit_test(test_make), cmocka_unit_test(test_hearsay),
		cmocka_unit_test(test_quoted), cmocka_unit_test(test_long),
		cmocka_unit_test(test_harness), cmocka_unit_test(test_identity), cmocka_unit_test(test_ubsan),
		cmocka_unit_test(test_uncaught), cmocka_unit_test(test_written_too_late),
		cmocka_unit_test(test_scripts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
