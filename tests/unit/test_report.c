// SPDX-License-Identifier: GPL-2.0-only
/* test_report.c - what zug show prints, and how it ends */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/exit_codes.h"
#include "report/report.h"
#include "symbols/symbols.h"
#include "sample_trace.h"
#include "show_output.h"

static char dir[] = "/tmp/zug-test-report-XXXXXX";
static char deadlock[64], lengthy[64], other[64], real[64];

static int set_up(void **state)
{
	unsetenv("COLUMNS");
	if (!mkdtemp(dir))
		return -1;
	snprintf(deadlock, sizeof(deadlock), "%s/deadlock.zug", dir);
	snprintf(lengthy, sizeof(lengthy), "%s/long.zug", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
	snprintf(real, sizeof(real), "%s/real.zug", dir);
	sample_deadlock(deadlock, dir);
	sample_long(lengthy, 1000);
	return 0;
}

static int tear_down(void **state)
{
	char cmd[100];

	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	return system(cmd);
}

static void a_deadlock_in_columns(void **state)
{
	char *out = show(ZUG_EXIT_PASS, deadlock, NULL);

	expect(out, "command   ./abba 'two words'\n");
	expect(out, "found by  pct:d=2, seed 42, execution 17; zug 0.1.0, Linux 6.18.15");
	expect(out, "schedule  10 steps, 3 tasks, 3 switches, 1 preemption\n");
	expect(out, "outcome   deadlock: T0 waits in join; T1 waits in lock for b, held by T2; "
		    "T2 waits in lock for a, held by T1\n"
		    "          cycle: T1 waits for b, held by T2; T2 waits for a, held by T1\n");
	expect(out, " step  T0 abba            T1 abba            T2 abba\n");
	expect(out, "    5  :                  lock a             |                  a_then_b abba.c:2\n"
		    "       ---- preemption: T1 could go on, T2 gets the turn\n"
		    "    6  :                  |                  begin\n"
		    "    7  :                  |                  lock b             b_then_a abba.c:5\n"
		    "    8  :                  |                  lock a             b_then_a abba.c:6\n"
		    "       :                  |                  ~ blocks: futex a\n"
		    "    9  :                  lock b             :                  a_then_b abba.c:3\n");
	/* a place without symbols is shown as it is */
	expect(out, "abba+0x1139\n");
	expect(out, "\nT1 (abba): waits for b\n    #0  pthread_mutex_lock\n    #1  a_then_b abba.c:3\n"
		    "          3 |     lock(&b);\n    #2  start_thread\n");
	/* control characters in the program's output do not reach the terminal */
	expect(out, "hello \\x1b]0;evil\\x07\n");
	expect(out, "standard error\n    last words\n");
	assert_null(strchr(out, '\033'));
	free(out);
}

static void a_deadlock_in_brief(void **state)
{
	char *out = show(ZUG_EXIT_PASS, "--brief", deadlock, NULL);

	expect(out, "cycle: T1 waits for b, held by T2; T2 waits for a, held by T1\n"
		    "\n"
		    "The preemptions that lead there:\n"
		    "  step 6: the turn goes from T1 to T2\n"
		    "      T1 is stopped before lock b  a_then_b abba.c:3\n"
		    "            3 |     lock(&b);\n"
		    "      T2 does lock b  b_then_a abba.c:5\n"
		    "            5 |     lock(&b); [2J\n"
		    "      T2 does lock a  b_then_a abba.c:6\n"
		    "            6 |     lock(&a);\n"
		    "\n"
		    "T1 (abba): waits for b\n");
	expect_not(out, "start_thread");
	free(out);
}

/* Written into a minimised trace: the operations whose order decides; a process that crashed besides. */
static void what_decides_comes_first(void **state)
{
	const struct trace_frame crash[] = {
		{ "memcpy", NULL, 0, false }, { "answer", "abba.c", 6, false },
	};
	char path[80], err[256], *out;
	struct trace *t = trace_open(deadlock, err, sizeof(err));
	struct trace_minimized m = { .executions = 9, .minimal = true, .near = 4, .critical = {
		.known = true, .alone = true, .first_task = 2, .first_step = 7, .second_task = 1, .second_step = 9 } }, torn;
	struct trace_writer *w;
	int ret;

	assert_non_null(t);
	m.critical.first = trace_step(t, 7)->label;
	m.critical.second = trace_step(t, 9)->label;
	snprintf(path, sizeof(path), "%s/torn.zug", dir);
	w = trace_copy(t, path, &ret);
	assert_non_null(w);
	torn = m;
	torn.critical.known = torn.critical.alone = false;
	torn.critical.torn = true;
	trace_add_minimized(w, &torn);
	assert_int_equal(trace_close(w, false), 0);
	out = show(ZUG_EXIT_PASS, "--brief", path, NULL);
	expect(out, "It may fail because\n"
		    "      T2 does lock b  b_then_a abba.c:5\n");
	expect(out, "  and what was read before that change is the base of a later one. No schedule without that was\n"
		    "  seen to pass, in 3 near this one (zug diff tries more).\n");
	free(out);
	out = show(ZUG_EXIT_PASS, "--json", path, NULL);
	expect(out, "\"critical\":null,\"torn\":{\"first\":{\"op\":\"lock\",\"object\":\"b\",");
	free(out);
	snprintf(path, sizeof(path), "%s/critical.zug", dir);
	w = trace_copy(t, path, &ret);
	assert_non_null(w);
	trace_add_stack(w, &(struct trace_stack){ 2, "died of SIGSEGV", 2, crash });
	trace_add_minimized(w, &m);
	assert_int_equal(trace_close(w, false), 0);
	trace_free(t);
	out = show(ZUG_EXIT_PASS, "--brief", path, NULL);
	assert_true(!strncmp(out, "T2 (abba) died of SIGSEGV in answer abba.c:6\ndeadlock: ", 55));
	expect(out, "\nIt fails when\n"
		    "      T2 does lock b  b_then_a abba.c:5\n"
		    "            5 |     lock(&b); [2J\n"
		    "  before\n"
		    "      T1 does lock b  a_then_b abba.c:3\n"
		    "            3 |     lock(&b);\n"
		    "  and passes when these two alone come the other way round.\n"
		    "\nThe preemptions that lead there:\n");
	free(out);
	out = show(ZUG_EXIT_PASS, "--json", path, NULL);
	expect(out, "\"critical\":{\"alone\":true,\"first\":{\"op\":\"lock\",\"object\":\"b\",");
	expect(out, "\"task\":2,\"step\":7},\"second\":{\"op\":\"lock\",\"object\":\"b\",");
	expect(out, "\"task\":1,\"step\":9}},\"torn\":null}");
	free(out);
}

/* A timer that fires early: which one, and who has set it where. */
static void early_timers_are_named(void **state)
{
	char path[80], err[256], *out;
	struct trace *t = trace_open(deadlock, err, sizeof(err));
	struct trace_writer *w;
	int ret;

	assert_non_null(t);
	snprintf(path, sizeof(path), "%s/timer.zug", dir);
	w = trace_create(path, trace_header(t), &ret);
	assert_non_null(w);
	for (uint32_t i = 0; i < trace_nr_tasks(t); i++)
		trace_add_task(w, trace_task_at(t, i));
	for (uint64_t i = 0; i < trace_nr_steps(t); i++) {
		struct trace_step s = *trace_step(t, i);

		if (i == 5) {
			trace_add_note(w, &(struct trace_note){ .kind = TRACE_NOTE_EARLY, .task = TRACE_NO_TASK, .arg = 1,
								.object = s.label.site,
								.text = "4.5 s\ttimer_settime(), SIGUSR1" });
			s.label.flags |= ZUG_L_TIMER;
		}
		trace_add_step(w, &s);
	}
	trace_add_outcome(w, trace_outcome(t));
	assert_int_equal(trace_close(w, false), 0);
	trace_free(t);
	out = show(ZUG_EXIT_PASS, "--brief", path, NULL);
	expect(out, "\nTimers that fire early, while other tasks are slow (--timeouts never: none does):\n"
		    "  before step 5, 4.5 s early: the timer of timer_settime(), SIGUSR1, which T1 has set\n"
		    "      T1 sets it by syscall");
	free(out);
	out = show(ZUG_EXIT_PASS, path, NULL);
	expect(out, "~ a timer fires 4.5 s early\n");
	free(out);
}

/* The sources were moved: below the working folder, by the end of their path. */
static void sources_are_looked_for_below(void **state)
{
	const struct trace_frame frame = { "lost", "/nonexistent/build/sub/moved.c", 2, false };
	char path[80], name[80], err[256], *out;
	struct trace *t = trace_open(deadlock, err, sizeof(err));
	struct trace_writer *w;
	FILE *f;
	int ret;

	assert_non_null(t);
	snprintf(name, sizeof(name), "%s/sub", dir);
	mkdir(name, 0755);
	snprintf(name, sizeof(name), "%s/sub/moved.c", dir);
	f = fopen(name, "w");
	assert_non_null(f);
	fputs("one\nthe moved line\n", f);
	fclose(f);
	snprintf(path, sizeof(path), "%s/moved.zug", dir);
	w = trace_copy(t, path, &ret);
	assert_non_null(w);
	trace_add_stack(w, &(struct trace_stack){ 2, "waits", 1, &frame });
	assert_int_equal(trace_close(w, false), 0);
	trace_free(t);
	out = show(ZUG_EXIT_PASS, "--brief", path, NULL);
	expect(out, "    #0  lost moved.c:2\n          2 | the moved line\n");
	free(out);
}

static void a_long_trace_is_windowed(void **state)
{
	char *out = show(ZUG_EXIT_PASS, lengthy, NULL), *p = out;
	int lines = 0;

	for (; *p; p++)
		lines += *p == '\n';
	assert_true(lines < 60);
	expect(out, "aborted (SIGABRT): abba.c:9: main: Assertion `sum == 100' failed.");
	expect(out, "... 495 steps left out\n");
	expect(out, "---- preemption: T1 could go on, T2 gets the turn\n  500 ");
	expect(out, "  999 ");
	expect(out, "975 of 1000 steps left out; --all shows them");
	free(out);

	out = show(ZUG_EXIT_PASS, "--all", lengthy, NULL);
	expect(out, "\n  333 ");
	expect_not(out, "left out");
	free(out);
}

static void steps_can_be_chosen(void **state)
{
	char *out = show(ZUG_EXIT_PASS, "--steps=7..8", deadlock, NULL);

	expect(out, "\n    7 ");
	expect(out, "\n    8 ");
	expect_not(out, "\n    6 ");
	expect_not(out, "\n    9 ");
	expect(out, "2 of 10 steps shown");
	free(out);
	out = show(ZUG_EXIT_PASS, "--steps=9..", deadlock, NULL);
	expect(out, "1 of 10 steps shown");
	free(out);
	out = show(ZUG_EXIT_PASS, "--steps", "3", deadlock, NULL);
	expect(out, "1 of 10 steps shown");
	free(out);
	out = show(ZUG_EXIT_PASS, "--task=T2", deadlock, NULL);
	expect(out, "3 of 10 steps shown");
	expect_not(out, "a_then_b abba.c:2");
	free(out);
	out = show(ZUG_EXIT_PASS, "--object=a", deadlock, NULL);
	expect(out, "2 of 10 steps shown");
	free(out);
	out = show(ZUG_EXIT_PASS, "--object=[ab]", deadlock, NULL);
	expect(out, "4 of 10 steps shown");
	free(out);
	out = show(ZUG_EXIT_PASS, "--object=c", deadlock, NULL);
	expect(out, "0 of 10 steps shown");
	expect(out, "no step acts on an object of that name (* matches any text); the trace has: a, b\n");
	free(out);
}

static void colours_when_asked(void **state)
{
	char *out = show(ZUG_EXIT_PASS, "--color=always", deadlock, NULL);

	expect(out, "\033[1;31mdeadlock");
	/* only the colours of the report itself */
	expect(out, "\\x1b]0;evil\\x07");
	free(out);
}

static void narrow_terminals_get_lanes(void **state)
{
	char *out;

	setenv("COLUMNS", "60", 1);
	out = show(ZUG_EXIT_PASS, deadlock, NULL);
	unsetenv("COLUMNS");
	expect(out, " step  T0  T1  T2\n");
	expect(out, "    8  :   |   *   lock a  b_then_a abba.c:6\n"
		    "       :   |   ~   ~ blocks: futex a\n");
	free(out);
}

static struct json_object *field(struct json_object *o, const char *name)
{
	struct json_object *v = NULL;

	assert_true(json_object_object_get_ex(o, name, &v));
	return v;
}

static void json_says_the_same(void **state)
{
	char *out = show(ZUG_EXIT_PASS, "--json", deadlock, NULL);
	struct json_object *o = json_tokener_parse(out), *steps, *s;
	int nr = 0, notes = 0;

	assert_non_null(o);
	assert_string_equal(json_object_get_string(field(field(o, "outcome"), "kind")), "deadlock");
	assert_string_equal(json_object_get_string(field(field(o, "outcome"), "cycle")),
			    "T1 waits for b, held by T2; T2 waits for a, held by T1");
	assert_int_equal(json_object_get_int(field(field(o, "header"), "seed")), 42);
	assert_non_null(field(field(field(o, "header"), "options"), "points"));
	assert_int_equal(json_object_array_length(field(o, "tasks")), 3);
	steps = field(o, "steps");
	for (size_t i = 0; i < json_object_array_length(steps); i++) {
		s = json_object_array_get_idx(steps, i);
		if (json_object_object_get_ex(s, "note", NULL)) {
			notes++;
			continue;
		}
		if (nr == 6)
			assert_true(json_object_get_boolean(field(s, "preemption")));
		assert_int_equal(json_object_get_int(field(s, "step")), nr++);
	}
	assert_int_equal(nr, 10);
	assert_int_equal(notes, 3);
	assert_int_equal(json_object_array_length(field(o, "stacks")), 1);
	json_object_put(o);
	free(out);
}

static void expect_usage(const char *a, const char *b, const char *why)
{
	char *out = show(ZUG_EXIT_USAGE, a, b, NULL);

	expect(out, why);
	free(out);
}

static void bad_input_is_named(void **state)
{
	FILE *f = fopen(other, "w");

	fputs("#!/bin/sh\n", f);
	fclose(f);
	expect_usage(NULL, NULL, "an argument is missing");
	expect_usage(deadlock, deadlock, "is one argument too many");
	expect_usage("--steps=8..7", deadlock, "--steps 8..7: not A..B");
	expect_usage("--steps=..", deadlock, "--steps ..: not A..B");
	expect_usage("--steps=900..", deadlock, "no step 900; it has ");
	expect_usage("--steps=x", deadlock, "--steps x: not A..B");
	expect_usage("--task=main", deadlock, "--task main: not a task");
	expect_usage("--task=T9", deadlock, "no task T9; it has 3");
	expect_usage("--color=red", deadlock, "--color red: not auto, always or never");
	expect_usage("--nix", deadlock, "unknown option '--nix'; zug show --help lists the options");
	expect_usage(other, NULL, "other: not a zugzwang trace");
	expect_usage("/nonexistent", NULL, "No such file");
}

static void a_truncated_trace_is_shown_as_far_as_it_goes(void **state)
{
	const struct trace_header h = { .argv = (char *[]){ "x", NULL }, .envp = (char *[]){ NULL } };
	const uint32_t enabled[] = { 0 };
	int err;
	struct trace_writer *w = trace_create(other, &h, &err);
	struct trace_step s = { .last = TRACE_NO_TASK, .nr_enabled = 1, .enabled = enabled };
	char *out;

	assert_non_null(w);
	trace_add_step(w, &s);
	assert_int_equal(trace_close(w, false), 0);
	out = show(ZUG_EXIT_PASS, other, NULL);
	expect(out, "cut off after 1 steps, before its outcome");
	expect(out, "no outcome: the trace is cut off");
	expect(out, "\n    0 ");
	free(out);
}

static int take_offset(const struct symdef *d, void *arg)
{
	*(uint64_t *)arg = d->offset;
	return 0;
}

/* Which source lines a report of the trace has: a foreign one does not make its reader print any file. */
static bool shows_source(bool foreign, char **sources)
{
	struct report_options o;
	char error[256], *out;
	struct trace *t = trace_open(deadlock, error, sizeof(error));
	size_t len;
	FILE *f = open_memstream(&out, &len);
	bool shows;

	assert_non_null(t);
	assert_non_null(f);
	report_options_init(&o, f);
	o.foreign = foreign;
	o.sources = sources;
	report_finding(f, t, &o);
	fclose(f);
	trace_free(t);
	shows = strstr(out, " |");
	free(out);
	return shows;
}

static void foreign_traces_choose_no_files(void **state)
{
	char *sources[] = { (char *)"/nonexistent", dir, NULL }, *root[] = { (char *)"/", NULL }, old[4096];

	assert_true(shows_source(false, NULL));
	assert_false(shows_source(true, NULL));
	assert_true(shows_source(true, sources));
	assert_true(shows_source(true, root));
	assert_non_null(getcwd(old, sizeof(old)));
	assert_int_equal(chdir(dir), 0);
	assert_true(shows_source(true, NULL));
	assert_int_equal(chdir(old), 0);
}

/* The wrapper of a method has no source file: it is not reported as missing. */
static void compilers_write_too(void **state)
{
	static const struct trace_frame wrapper[] = { { "main.(*Account).Lock", "<autogenerated>", 1, false } };
	static const struct trace_frame method[] = { { "main.(*Account).add", "/nowhere/account.go", 7, false } };
	const uint32_t enabled[] = { 0 };

	for (int k = 0; k < 2; k++) {
		struct trace_writer *w = sample_begin(real);
		struct trace *t;
		char *out;

		trace_add_task(w, &(struct trace_task){ .parent = TRACE_NO_TASK, .comm = "x" });
		trace_add_module(w, &(struct trace_module){ 1, "/src/x", "" });
		trace_add_site(w, &(struct trace_site){ 7, 1, 16, 1, k ? method : wrapper, NULL });
		trace_add_step(w, &(struct trace_step){ .last = TRACE_NO_TASK, .nr_enabled = 1, .enabled = enabled,
							.label = { .op = ZUG_OP_FAIL_EINTR, .site = 7 } });
		trace_add_outcome(w, &(struct trace_outcome){ .kind = ZUG_OUTCOME_EXIT, .code = 1 });
		t = sample_end(w, real, &out);
		expect(out, k ? "account.go:7" : "<autogenerated>:1");
		assert_int_equal(!strstr(out, "no source lines"), !k);
		trace_free(t);
		free(out);
	}
}

/* A lock_guard is inlined from the library: the report shows the program's line around it. */
static void own_lines_come_first(void **state)
{
	static const struct trace_frame frames[] = {
		{ "std::mutex::lock()", "/usr/include/c++/12/bits/std_mutex.h", 100, true },
		{ "Queue::push(int)", "/src/queue.cc", 11, true },
		{ "std::__invoke<f>", "/usr/include/c++/12/bits/invoke.h", 61, true },
		{ "run()", "/src/queue.cc", 30, false },
	}, theirs[] = { { "std::mutex::lock()", "/usr/include/c++/12/bits/std_mutex.h", 100, false } };
	const uint32_t enabled[] = { 0 };
	struct trace_writer *w = sample_begin(real);
	char *out;

	trace_add_task(w, &(struct trace_task){ .parent = TRACE_NO_TASK, .comm = "x" });
	trace_add_module(w, &(struct trace_module){ 1, "/src/x", "" });
	trace_add_site(w, &(struct trace_site){ 7, 1, 16, 4, frames, NULL });
	trace_add_site(w, &(struct trace_site){ 8, 1, 32, 1, theirs, NULL });
	for (uint64_t i = 0; i < 2; i++)
		trace_add_step(w, &(struct trace_step){ .step = i, .last = TRACE_NO_TASK, .nr_enabled = 1, .enabled = enabled,
							.label = { .op = ZUG_OP_POINT, .site = 7 + i } });
	trace_add_outcome(w, &(struct trace_outcome){ .kind = ZUG_OUTCOME_PASS });
	assert_int_equal(trace_close(w, false), 0);
	out = show(ZUG_EXIT_PASS, real, NULL);
	expect(out, "Queue::push queue.cc:11 (in run :30)\n");
	expect(out, "std::mutex::lock std_mutex.h:100\n");
	free(out);
}

/*
 * The two operations of a pair lie in a header's method: the lines that call it are told, and what was never done from the
 * stack.
 */
static void callers_of_headers(void **state)
{
	static const struct trace_frame theirs[] = { { "std::atomic<int>::load()", "/usr/include/c++/12/atomic", 100, false } };
	static const struct trace_frame stack[] = { theirs[0], { "Pool::stop()", "/src/pool.cc", 51, false } };
	static const struct trace_pair stopped = { .step = 1, .preempted = 0, .by = 1, .after_step = UINT64_MAX,
						   .before = { .op = ZUG_OP_ATOMIC_STORE, .site = 8 } };
	struct trace_minimized m = { .executions = 2, .minimal = true, .near = 2, .nr_pairs = 1, .pairs = &stopped, .critical = {
		.known = true, .alone = true, .first_task = 1, .first_step = 1, .second_task = 0, .second_step = UINT64_MAX,
		.first = { .op = ZUG_OP_ATOMIC_LOAD, .site = 8 }, .second = { .op = ZUG_OP_ATOMIC_STORE, .site = 8 } } };
	char copy[96], why[256], *out, *again;
	struct trace_writer *w = sample_begin_two(real);
	struct trace *t, *callers;

	trace_add_module(w, &(struct trace_module){ 1, "/src/x", "" });
	trace_add_site(w, &(struct trace_site){ 8, 1, 32, 1, theirs, NULL });
	for (uint64_t i = 0; i < 2; i++) {
		if (i)
			trace_add_note(w, &(struct trace_note){ .kind = TRACE_NOTE_CALLER, .task = 1, .arg = 26,
								.text = "Pool::work()\t/src/pool.cc" });
		trace_add_step(w, &(struct trace_step){ .step = i, .task = i, .last = i ? 0 : TRACE_NO_TASK, .nr_enabled = 2,
							.enabled = sample_both, .flags = i ? TRACE_STEP_PREEMPTION : 0,
							.label = { .op = ZUG_OP_ATOMIC_LOAD, .site = 8 } });
	}
	trace_add_stack(w, &(struct trace_stack){ 0, "could run", 2, stack });
	trace_add_outcome(w, &(struct trace_outcome){ .kind = ZUG_OUTCOME_EXIT, .code = 1 });
	trace_add_minimized(w, &m);
	t = sample_end(w, real, &out);
	expect(out, "      T1 does atomic-load  Pool::work pool.cc:26\n");
	expect(out, "      T0 would do atomic-store  Pool::stop pool.cc:51\n");
	expect(out, "      T0 is stopped before atomic-store  Pool::stop pool.cc:51\n");
	again = show(ZUG_EXIT_PASS, "--json", real, NULL);
	expect(again, "\"caller\"");
	free(again);
	free(out);
	/* those of another trace are taken as well */
	snprintf(copy, sizeof(copy), "%s/callers.zug", dir);
	callers = trace_open(real, why, sizeof(why));
	assert_non_null(callers);
	assert_int_equal(trace_write_callers(t, callers, copy), 0);
	trace_free(callers);
	trace_free(t);
	t = trace_open(copy, why, sizeof(why));
	assert_non_null(t);
	assert_int_equal(trace_nr_notes(t, 0), 0);
	assert_int_equal(trace_nr_notes(t, 1), 2);
	trace_free(t);
}

/* The same in a program that was stripped: where it calls the C library has no line, but a place in its file. */
struct taken {
	uint32_t task;
	uint64_t lock;
	const char *function;
};

/* A trace of so many steps of two tasks that take locks, in these functions, with a preemption before each. */
static void write_takings(const char *path, const struct taken *taken, int nr)
{
	static const struct trace_frame libc[] = { { "pthread_mutex_lock", NULL, 0, false } };
	struct trace_minimized m = { .executions = 3, .near = 1, .preemptions = nr };
	const uint32_t enabled[] = { 1, 2 };
	struct trace_writer *w = sample_begin(path);

	for (uint32_t i = 0; i < 3; i++)
		trace_add_task(w, &(struct trace_task){ .parent = i ? 0 : TRACE_NO_TASK, .comm = "x" });
	trace_add_module(w, &(struct trace_module){ 1, "/usr/lib/x86_64-linux-gnu/libc.so.6", "" });
	trace_add_site(w, &(struct trace_site){ 8, 1, 32, 1, libc, NULL });
	for (int i = 0; i < nr; i++) {
		char text[64];

		snprintf(text, sizeof(text), "%s\tshop.py", taken[i].function);
		trace_add_note(w, &(struct trace_note){ .kind = TRACE_NOTE_CALLER, .task = taken[i].task, .arg = 7, .text = text });
		trace_add_step(w, &(struct trace_step){ .step = i, .task = taken[i].task, .last = 3 - taken[i].task,
							.nr_enabled = 2, .enabled = enabled, .flags = TRACE_STEP_PREEMPTION,
							.label = { .op = ZUG_OP_LOCK, .site = 8, .object = taken[i].lock } });
	}
	trace_add_minimized(w, &m);
	trace_add_outcome(w, &(struct trace_outcome){ .kind = ZUG_OUTCOME_EXIT, .code = 1 });
	assert_int_equal(trace_close(w, false), 0);
}

/* Nine preemptions that there was no time to leave out: the look and the change that another task's look came between. */
static void work_in_two_steps(void **state)
{
	struct taken taken[] = {
		{ 1, 5, "count" }, { 2, 5, "count" }, { 1, 5, "log" }, { 1, 6, "find" }, { 2, 6, "find" }, { 2, 5, "log" },
		{ 1, 5, "count" }, { 1, 6, "take" }, { 2, 6, "take" }, { 2, 5, "count" },
	};
	char *out, *first, *second;

	write_takings(real, taken, 10);
	out = show(ZUG_EXIT_PASS, "--brief", real, NULL);
	first = strstr(out, "find shop.py:7\n");
	expect(out, "\nIt may fail because\n      T1 does lock ");
	expect(out, "  both before\n      T1 does lock ");
	expect(out, "take shop.py:7\n\nOr because\n");
	second = strstr(out, "count shop.py:7\n");
	assert_true(first && second && first < second);
	free(out);
	/* the second one looks when the first has changed it */
	taken[4] = (struct taken){ 1, 6, "take" };
	taken[7] = (struct taken){ 2, 6, "find" };
	write_takings(real, taken, 10);
	out = show(ZUG_EXIT_PASS, "--brief", real, NULL);
	expect_not(out, "does lock #6  find shop.py:7\n      T2 does lock #6  find");
	expect(out, "\nIt may fail because\n");
	free(out);
	/* few preemptions tell it themselves */
	write_takings(real, taken, 7);
	out = show(ZUG_EXIT_PASS, "--brief", real, NULL);
	expect_not(out, "may fail because");
	free(out);
}

static void callers_without_lines(void **state)
{
	static const struct trace_frame theirs[] = { { "__libc_open64", "../sysdeps/unix/sysv/linux/open64.c", 41, false } };
	static const struct trace_frame fileops[] = { { "_IO_new_file_close_it", "./libio/fileops.c", 142, false } };
	static const char *const text[] = { "dash+0x12631\t", "dash+0x4689\t" };
	const uint32_t enabled[] = { 0 };
	struct trace_writer *w = sample_begin(real);
	char *out;

	trace_add_task(w, &(struct trace_task){ .parent = TRACE_NO_TASK, .comm = "x" });
	trace_add_module(w, &(struct trace_module){ 1, "/usr/lib/x86_64-linux-gnu/libc.so.6", "" });
	trace_add_site(w, &(struct trace_site){ 8, 1, 32, 1, theirs, NULL });
	trace_add_site(w, &(struct trace_site){ 9, 1, 64, 1, fileops, NULL });
	for (uint64_t i = 0; i < 2; i++) {
		trace_add_note(w, &(struct trace_note){ .kind = TRACE_NOTE_CALLER, .text = text[i] });
		trace_add_step(w, &(struct trace_step){ .step = i, .last = TRACE_NO_TASK, .nr_enabled = 1, .enabled = enabled,
							.label = { .op = ZUG_OP_OPEN, .site = 8 + i } });
	}
	trace_add_outcome(w, &(struct trace_outcome){ .kind = ZUG_OUTCOME_PASS });
	assert_int_equal(trace_close(w, false), 0);
	out = show(ZUG_EXIT_PASS, real, NULL);
	expect(out, "open   dash+0x12631\n");
	expect(out, "open   dash+0x4689\n");
	free(out);
}

/* A site without frames in the trace is looked up in the file, if that is still the same build. */
static void places_are_looked_up(void **state)
{
	char cwd[4096];
	const struct trace_header h = { .cwd = getcwd(cwd, sizeof(cwd)), .argv = (char *[]){ "x", NULL },
					.envp = (char *[]){ NULL } };
	const uint32_t enabled[] = { 0 };
	struct trace_step s = { .last = TRACE_NO_TASK, .nr_enabled = 1, .enabled = enabled,
				.label = { .op = ZUG_OP_POINT, .site = 7 } };
	struct symbols *syms = symbols_new();
	struct symfile *self;
	uint64_t offset = 0;
	char path[300], line[400], *out;
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	int err;

	assert_true(n > 0);
	path[n] = '\0';
	self = symbols_file(syms, path, NULL, line, sizeof(line));
	assert_non_null(self);
	assert_int_equal(symfile_find(self, "cmd_show", take_offset, &offset), 1);
	for (int stale = 0; stale < 2; stale++) {
		struct trace_writer *w = trace_create(real, &h, &err);

		assert_non_null(w);
		trace_add_task(w, &(struct trace_task){ .parent = TRACE_NO_TASK, .comm = "x" });
		trace_add_module(w, &(struct trace_module){ 1, path, stale ? "dead" :
							    symfile_build_id(self) });
		trace_add_site(w, &(struct trace_site){ 7, 1, offset, 0, NULL, NULL });
		trace_add_step(w, &s);
		trace_add_outcome(w, &(struct trace_outcome){ .kind = ZUG_OUTCOME_PASS });
		assert_int_equal(trace_close(w, false), 0);
		out = show(ZUG_EXIT_PASS, real, NULL);
		expect(out, "outcome   pass\n");
		expect(out, stale ? "was rebuilt since the trace was recorded" : "cmd_show userspace/cli/cmd_show.c:");
		if (stale)
			expect_not(out, "cmd_show");
		free(out);
	}
	symbols_free(syms);
}

/* The SYNOPSIS of the man page is what --help prints. */
static void the_manual_agrees(void **state)
{
	const char *slash = strrchr(__FILE__, '/');
	char path[300], man[4096] = "", *out = show(ZUG_EXIT_PASS, "--help", NULL), *end, *p, *q;
	FILE *f;

	snprintf(path, sizeof(path), "%.*s/../../docs/man/zug-show.1", (int)(slash - __FILE__), __FILE__);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_true(fread(man, 1, sizeof(man) - 1, f) > 0);
	fclose(f);
	p = strstr(man, ".SH SYNOPSIS\n.nf\n");
	assert_non_null(p);
	p += strlen(".SH SYNOPSIS\n.nf\n");
	end = strstr(p, ".fi\n");
	assert_non_null(end);
	*end = '\0';
	/* as groff prints it: \- is - */
	for (q = p; *p; p++)
		if (*p != '\\')
			*q++ = *p;
	*q = '\0';
	p = strstr(man, ".SH SYNOPSIS\n.nf\n") + strlen(".SH SYNOPSIS\n.nf\n");
	for (q = strtok_r(p, "\n", &end); q; q = strtok_r(NULL, "\n", &end))
		expect(out, q);
	free(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_deadlock_in_columns),
		cmocka_unit_test(a_deadlock_in_brief),
		cmocka_unit_test(what_decides_comes_first),
		cmocka_unit_test(early_timers_are_named),
		cmocka_unit_test(sources_are_looked_for_below),
		cmocka_unit_test(foreign_traces_choose_no_files),
		cmocka_unit_test(a_long_trace_is_windowed),
		cmocka_unit_test(steps_can_be_chosen),
		cmocka_unit_test(colours_when_asked),
		cmocka_unit_test(narrow_terminals_get_lanes),
		cmocka_unit_test(json_says_the_same),
		cmocka_unit_test(bad_input_is_named),
		cmocka_unit_test(a_truncated_trace_is_shown_as_far_as_it_goes),
		cmocka_unit_test(compilers_write_too),
		cmocka_unit_test(own_lines_come_first),
		cmocka_unit_test(callers_of_headers),
		cmocka_unit_test(work_in_two_steps),
		cmocka_unit_test(callers_without_lines),
		cmocka_unit_test(places_are_looked_up),
		cmocka_unit_test(the_manual_agrees),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
