/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_diff.c - the first difference of two traces, and its reason
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "report/report_diff.h"

#define LOCK 77

static char path[] = "/tmp/zug-test-diff-XXXXXX";

struct one {
	uint32_t task;
	unsigned int op;	/* ON() adds a numbered object */
	uint64_t site;
	uint32_t enabled;	/* bits */
};

#define ON(task, nth, op)	((op) | ((task) * 16u + (nth)) << 16)

/* A place in a header's method. A failing trace has the lines that call it. */
#define HEADER 40
static const struct trace_frame method[] = { { "std::mutex::lock()", "/usr/include/c++/12/mutex", 100, false } };

static void add_numbered(struct trace_writer *w, uint64_t object)
{
	char name[64];

	snprintf(name, sizeof(name), "mutex #%u of T%u", (unsigned int)zug_object_nth(object), zug_object_task(object));
	trace_add_object(w, &(struct trace_object){ object, "mutex", name });
}

/* Makes a trace of these steps; second: number of the root's second child in it. */
static struct trace *make(uint32_t second, const struct one *steps, size_t nr, const char *message)
{
	static char *const argv[] = { "test", NULL };
	const struct trace_header h = { .argv = argv, .cwd = "/", .envp = argv, .kernel = "", .zug_version = "",
					.strategy = "", .options = "{}" };
	char err[256];
	int ret;
	struct trace_writer *w = trace_create(path, &h, &ret);
	uint32_t last = TRACE_NO_TASK;
	struct trace *t;

	assert_non_null(w);
	trace_add_task(w, &(struct trace_task){ 0, TRACE_NO_TASK, 0, 1, 0, "test" });
	trace_add_task(w, &(struct trace_task){ 1, 0, 0, 2, 0, "test" });
	trace_add_task(w, &(struct trace_task){ second, 0, 1, 3, 0, "test" });
	trace_add_object(w, &(struct trace_object){ LOCK, "mutex", "m" });
	trace_add_module(w, &(struct trace_module){ 1, "/src/x", "" });
	trace_add_site(w, &(struct trace_site){ HEADER, 1, 32, 1, method, NULL });
	for (size_t i = 0; i < nr; i++) {
		uint32_t enabled[32], n = 0;
		unsigned int op = steps[i].op & 0xffff, on = steps[i].op >> 16;
		uint64_t object = on ? zug_object_numbered(on / 16, on % 16) : op == ZUG_OP_LOCK ? LOCK : 0;

		for (uint32_t k = 0; k < 32; k++)
			if (steps[i].enabled >> k & 1)
				enabled[n++] = k;
		if (zug_object_is_numbered(object))
			add_numbered(w, object);
		if (steps[i].site == HEADER && message)
			trace_add_note(w, &(struct trace_note){ .kind = TRACE_NOTE_CALLER, .task = steps[i].task, .arg = 10 + i,
								.text = "work()\t/src/work.cc" });
		assert_int_equal(trace_add_step(w, &(struct trace_step){
			.step = i, .task = steps[i].task, .last = last, .nr_enabled = n, .enabled = enabled,
			.label = { .op = op, .site = steps[i].site,
				   .object = object } }), 0);
		last = steps[i].task;
	}
	trace_add_outcome(w, &(struct trace_outcome){ .kind = message ? ZUG_OUTCOME_ABORT : ZUG_OUTCOME_PASS,
						      .message = message ? message : "" });
	assert_int_equal(trace_close(w, false), 0);
	t = trace_open(path, err, sizeof(err));
	assert_non_null(t);
	return t;
}

static char *diff(struct trace *a, struct trace *b, int want)
{
	struct report_options o;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	report_options_init(&o, stdout);
	o.colour = false;
	assert_int_equal(report_diff(f, a, b, 3, &o), want);
	fclose(f);
	trace_free(a);
	trace_free(b);
	return text;
}

static void has(const char *text, const char *what)
{
	if (!strstr(text, what))
		print_message("no '%s' in:\n%s", what, text);
	assert_non_null(strstr(text, what));
}

static void one_schedule(void **state)
{
	const struct one steps[] = { { 0, ZUG_OP_BEGIN, 1, 1 }, { 2, ZUG_OP_LOCK, 2, 5 } };
	const struct one same[] = { { 0, ZUG_OP_BEGIN, 1, 1 }, { 9, ZUG_OP_LOCK, 2, 0x201 } };
	/* the second child has another number, but is the same task */
	char *text = diff(make(2, steps, 2, "no"), make(9, same, 2, NULL), 0);

	has(text, "The schedules are the same: 2 steps.\nA aborted (SIGABRT): no\nB pass\n");
	free(text);
}

static void a_decision(void **state)
{
	const struct one x[] = { { 0, ZUG_OP_CREATE, 1, 1 }, { 1, ZUG_OP_LOCK, 2, 6 }, { 2, ZUG_OP_LOCK, 3, 6 },
				 { 1, ZUG_OP_YIELD, 4, 6 } };
	const struct one y[] = { { 0, ZUG_OP_CREATE, 1, 1 }, { 9, ZUG_OP_LOCK, 3, 0x202 }, { 1, ZUG_OP_LOCK, 2, 0x202 },
				 { 1, ZUG_OP_END, 4, 6 }, { 0, ZUG_OP_JOIN, 5, 1 } };
	char *text = diff(make(2, x, 4, "no"), make(9, y, 5, NULL), 1);

	has(text, "Only the first step is the same:\n    0  T0 create\n\n"
		  "A decision: both tasks could run; T1 got the turn in A, T2 in B.\n");
	has(text, "A goes on:\n    1  T1 lock m\n    2  T2 lock m\n    3  T1 yield\n       aborted (SIGABRT): no\n");
	has(text, "B goes on:\n    1  T2 lock m\n    2  T1 lock m\n    3  T1 end\n       ... 1 more step\n       pass\n");
	has(text, "  T0, after 1 equal step:\n    A       has no further step\n    B     4  T0 join\n");
	has(text, "  T1, after 1 equal step:\n    A     3  T1 yield\n    B     3  T1 end\n");
	/* T2 did the same in both */
	assert_null(strstr(text, "T2, after"));
	free(text);
}

/* The program's lines are told; of B, which has none, where all of A's steps there have the same. */
static void callers_of_headers(void **state)
{
	const struct one x[] = { { 0, ZUG_OP_CREATE, 1, 1 }, { 1, ZUG_OP_LOCK, HEADER, 6 }, { 2, ZUG_OP_LOCK, HEADER, 6 },
				 { 2, ZUG_OP_LOCK, HEADER, 6 } };
	const struct one y[] = { { 0, ZUG_OP_CREATE, 1, 1 }, { 9, ZUG_OP_LOCK, HEADER, 0x202 }, { 1, ZUG_OP_LOCK, HEADER, 0x202 },
				 { 9, ZUG_OP_LOCK, HEADER, 6 } };
	char *text = diff(make(2, x, 4, "no"), make(9, y, 4, NULL), 1);

	has(text, "A goes on:\n    1  T1 lock m  work work.cc:11\n    2  T2 lock m  work work.cc:12\n"
		  "    3  T2 lock m  work work.cc:13\n");
	has(text, "B goes on:\n    1  T2 lock m  std::mutex::lock mutex:100\n    2  T1 lock m  work work.cc:11\n"
		  "    3  T2 lock m  std::mutex::lock mutex:100\n");
	free(text);
}

static void no_decision(void **state)
{
	const struct one x[] = { { 0, ZUG_OP_CREATE, 1, 1 }, { 0, ZUG_OP_LOCK, 2, 1 } };
	const struct one y[] = { { 0, ZUG_OP_CREATE, 1, 1 }, { 0, ZUG_OP_YIELD, 2, 1 } };
	const struct one z[] = { { 0, ZUG_OP_CREATE, 1, 1 }, { 1, ZUG_OP_LOCK, 2, 2 } };
	char *text = diff(make(2, x, 2, NULL), make(2, y, 2, NULL), 1);

	has(text, "Not a decision: T0 has the turn in both, but does not do the same.");
	free(text);
	text = diff(make(2, x, 2, NULL), make(2, z, 2, NULL), 1);
	has(text, "Not a decision: T1 could not run in A. What happened outside the schedule differs");
	free(text);
	text = diff(make(2, x, 1, NULL), make(2, x, 2, NULL), 1);
	has(text, "A ends there, B goes on.");
	free(text);
}

/* Two locks on the heap: the first user of each gives it its number. */
static void numbered(void **state)
{
	const unsigned int lock_p = ON(1, 0, ZUG_OP_LOCK), lock_q = ON(1, 1, ZUG_OP_LOCK);
	const struct one x[] = { { 0, ZUG_OP_CREATE, 1, 1 }, { 1, lock_p, 2, 6 }, { 1, lock_q, 3, 6 },
				 { 1, ON(1, 1, ZUG_OP_UNLOCK), 4, 6 }, { 2, lock_q, 5, 6 }, { 2, lock_p, 6, 6 } };
	/* q, p, q, p, p, and a lock that A does not have */
	const struct one y[] = { { 0, ZUG_OP_CREATE, 1, 1 }, { 2, ON(2, 0, ZUG_OP_LOCK), 5, 6 }, { 1, lock_p, 2, 6 },
				 { 1, ON(2, 0, ZUG_OP_LOCK), 3, 6 }, { 1, lock_p, 7, 6 }, { 2, lock_p, 6, 6 },
				 { 2, ON(1, 1, ZUG_OP_LOCK), 8, 6 } };
	char *text = diff(make(2, x, 6, "T1 waits for mutex #1 of T1"), make(2, y, 7, "T1 waits for mutex #0 of T2"), 1);

	has(text, "A goes on:\n    1  T1 lock mutex #0 of T1\n    2  T1 lock mutex #1 of T1\n");
	has(text, "T1 waits for mutex #1 of T1\n\nB goes on:\n    1  T2 lock mutex #1 of T1\n    2  T1 lock mutex #0 of T1\n"
		  "    3  T1 lock mutex #1 of T1\n");
	has(text, "T1 waits for mutex #1 of T1\n\nThe first difference");
	has(text, "  T1, after 2 equal steps:\n    A     3  T1 unlock mutex #1 of T1\n"
		  "    B     4  T1 lock mutex #0 of T1\n");
	has(text, "  T2, after 2 equal steps:\n    A       has no further step\n    B     6  T2 lock mutex #2 of T1\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_schedule),
		cmocka_unit_test(a_decision),
		cmocka_unit_test(callers_of_headers),
		cmocka_unit_test(no_decision),
		cmocka_unit_test(numbered),
	};
	int ret;

	close(mkstemp(path));
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return ret;
}
