/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_identity.c - one bug is one identity, two are two
 */
#include <stdbool.h>
#include <stdio.h>
#include "search/identity.h"

static int nr_tests, nr_failed;

static void ok(bool good, const char *what)
{
	nr_tests++;
	nr_failed += !good;
	printf("%sok %d - %s\n", good ? "" : "not ", nr_tests, what);
}

static bool same(const char *a, const char *b)
{
	return identity_message(a) == identity_message(b);
}

int main(void)
{
	const uint64_t a[] = { 1, 2, 3, 4 }, b[] = { 1, 2, 3, 5 }, c[] = { 2, 1, 3 };
	const struct identity_wait ab[] = { { 1, 10, 16 }, { 2, 20, 16 } };
	const struct identity_wait ba[] = { { 2, 20, 16 }, { 1, 10, 16 } };
	const struct identity_wait ac[] = { { 1, 10, 16 }, { 3, 20, 16 } };
	const uint64_t loop[] = { 7, 8, 7, 8, 8 }, once[] = { 8, 7 };

	ok(identity_signal(11, a, 4) == identity_signal(11, b, 4), "three frames count");
	ok(identity_signal(11, a, 4) != identity_signal(6, a, 4), "so does the signal");
	ok(identity_signal(11, a, 3) != identity_signal(11, c, 3), "and the order of frames");
	ok(same("a.c:12: main: Assertion `x' failed.", "a.c:12: main: Assertion `x' failed."),
	   "the same assertion");
	ok(!same("a.c:12: main: Assertion `x' failed.", "a.c:13: main: Assertion `x' failed."),
	   "another line is another assertion");
	ok(same("==123==ERROR: heap-use-after-free on 0x7f12 thread T1",
		"==98765==ERROR: heap-use-after-free on 0xbeef thread T1"),
	   "process numbers and addresses do not count");
	ok(same("lost 3 of 10", "lost 42 of 10000"), "nor do counts");
	ok(!same("lock1 held", "lock2 held"), "digits of a name do");
	ok(identity_exit(1, "") != identity_exit(2, ""), "exit statuses differ");
	ok(identity_exit(1, "a.rs:3") != identity_exit(1, "a.rs:4") && identity_exit(1, "a.rs:3") != identity_exit(2, "a.rs:3") &&
	   identity_exit(1, "") != identity_exit(1, "a.rs:3"), "exits differ by their reason");
	ok(identity_exit(1, "") != identity_signal(1, a, 0), "kinds differ");
	ok(identity_deadlock(ab, 2) == identity_deadlock(ba, 2), "a cycle has no first task");
	ok(identity_deadlock(ab, 2) != identity_deadlock(ac, 2), "but it has its places");
	ok(identity_livelock(loop, 5) == identity_livelock(once, 2), "a loop is a set of places");
	ok(identity_misuse(1, 5) != identity_misuse(2, 5), "another rule is another misuse");
	ok(identity_misuse(1, 5) != identity_misuse(1, 6), "so is another place");
	ok(identity_race(1, 2) == identity_race(2, 1), "a race has no direction");
	ok(identity_message("") && identity_exit(0, ""), "never 0");
	printf("1..%d\n", nr_tests);
	return nr_failed != 0;
}
