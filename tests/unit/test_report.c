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

static void expect_not(const char *out, const char *text)
{
	if (strstr(out, text))
		print_message("'%s' in:\n%s\n", text, out);
	assert_null(strstr(out, text));
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

/* Begins the trace in the file 'real', of a program "x". */
static struct trace_writer *begin_real(void)
{
	const struct trace_header h = { .cwd = "/src", .argv = (char *[]){ "x", NULL }, .envp = (char *[]){ NULL } };
	int err;
	struct trace_writer *w = trace_create(real, &h, &err);

	assert_non_null(w);
	return w;
}

static const uint32_t both[] = { 0, 1 };

/* The same with two tasks, both of which can always run. */
static struct trace_writer *begin_two(void)
{
	struct trace_writer *w = begin_real();

	trace_add_task(w, &(struct trace_task){ .parent = TRACE_NO_TASK, .comm = "x" });
	trace_add_task(w, &(struct trace_task){ .task = 1, .parent = 0, .comm = "x" });
	return w;
}

/* Ends that trace, and tells its finding into *told (malloc'd). */
static struct trace *end_real(struct trace_writer *w, char **told)
{
	struct report_options o;
	struct trace *t;
	char error[256];
	size_t len;
	FILE *f;

	assert_int_equal(trace_close(w, false), 0);
	t = trace_open(real, error, sizeof(error));
	assert_non_null(t);
	f = open_memstream(told, &len);
	assert_non_null(f);
	report_options_init(&o, f);
	report_finding(f, t, &o);
	fclose(f);
	return t;
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
		struct trace_writer *w = begin_real();
		struct trace *t;
		char *out;

		trace_add_task(w, &(struct trace_task){ .parent = TRACE_NO_TASK, .comm = "x" });
		trace_add_module(w, &(struct trace_module){ 1, "/src/x", "" });
		trace_add_site(w, &(struct trace_site){ 7, 1, 16, 1, k ? method : wrapper, NULL });
		trace_add_step(w, &(struct trace_step){ .last = TRACE_NO_TASK, .nr_enabled = 1, .enabled = enabled,
							.label = { .op = ZUG_OP_FAIL_EINTR, .site = 7 } });
		trace_add_outcome(w, &(struct trace_outcome){ .kind = ZUG_OUTCOME_EXIT, .code = 1 });
		t = end_real(w, &out);
		expect(out, k ? "account.go:7" : "<autogenerated>:1");
		assert_int_equal(!strstr(out, "no source lines"), !k);
		trace_free(t);
		free(out);
	}
}

/* A handler's step, and one behind it, are such operations; those on data are on the same. At 'real'. */
static struct trace *handled(uint16_t op)
{
	static const char *const functions[] = { "main", "on_child", "looks", "waits" };
	uint64_t object = op == ZUG_OP_DATA_READ ? 6 : 0;
	uint32_t enabled[1] = { 0 };
	struct trace_writer *w = begin_real();
	struct trace *t;
	char *out;

	trace_add_task(w, &(struct trace_task){ .parent = TRACE_NO_TASK, .comm = "x" });
	trace_add_module(w, &(struct trace_module){ 1, "/src/x", "" });
	trace_add_object(w, &(struct trace_object){ 5, "signal", "SIGCHLD" });
	trace_add_object(w, &(struct trace_object){ 6, "variable", "flag" });
	for (uint64_t i = 0; i < 4; i++) {
		struct trace_frame frame = { functions[i], "x.c", 1 + i, false };

		if (i == 3)
			trace_add_note(w, &(struct trace_note){ .kind = TRACE_NOTE_SIGNAL });
		trace_add_site(w, &(struct trace_site){ .site = 7 + i, .module = 1, .offset = 16 * i, .nr_frames = 1, .frames = &frame });
		trace_add_step(w, &(struct trace_step){ .step = i, .last = i ? 0 : TRACE_NO_TASK, .nr_enabled = 1,
							.enabled = enabled,
							.label = { .op = i == 1 ? ZUG_OP_HANDLER : i ? op : ZUG_OP_YIELD,
								   .object = i == 1 ? 5 : i ? object : 0, .site = 7 + i } });
	}
	trace_add_outcome(w, &(struct trace_outcome){ .kind = ZUG_OUTCOME_EXIT, .code = 1 });
	t = end_real(w, &out);
	free(out);
	return t;
}

/* Where a handler came in: after which step, what it does, and with what its task goes on. */
static void signals_have_a_place(void **state)
{
	struct trace_minimized m = { .executions = 2, .minimal = true, .near = 2, .critical = {
		.known = true, .alone = true, .second_step = 3 } };
	char beside[80];
	struct trace *t = handled(ZUG_OP_YIELD);
	struct trace_writer *w;
	char *out;
	int ret;

	out = show(ZUG_EXIT_PASS, "--brief", real, NULL);
	expect(out, "Signals that were handled:\n"
		    "  step 1: SIGCHLD is delivered to T0  handler on_child x.c:2\n"
		    "      T0 has done yield  main x.c:1\n"
		    "      T0 does in the handler yield  looks x.c:3\n"
		    "      T0 goes on with yield  waits x.c:4\n");
	free(out);
	/* other operations decide */
	snprintf(beside, sizeof(beside), "%s/signals.zug", dir);
	w = trace_copy(t, beside, &ret);
	assert_non_null(w);
	m.critical.first = m.critical.second = trace_step(t, 0)->label;
	trace_add_minimized(w, &m);
	assert_int_equal(trace_close(w, false), 0);
	trace_free(t);
	out = show(ZUG_EXIT_PASS, "--brief", beside, NULL);
	expect(out, "It fails when");
	expect_not(out, "Signals that were handled");
	free(out);
	/* they do, but the handler reads what its task reads, too */
	t = handled(ZUG_OP_DATA_READ);
	w = trace_copy(t, beside, &ret);
	assert_non_null(w);
	trace_add_minimized(w, &m);
	assert_int_equal(trace_close(w, false), 0);
	trace_free(t);
	out = show(ZUG_EXIT_PASS, "--brief", beside, NULL);
	expect(out, "It fails when");
	expect(out, "      T0 does in the handler data-read flag  looks x.c:3\n"
		    "      T0 goes on with data-read flag  waits x.c:4\n");
	free(out);
	out = show(ZUG_EXIT_PASS, real, NULL);
	expect(out, "signal-handler SIGCHLD");
	expect(out, "~ the handler returns");
	free(out);
}

/* Two tasks go round and round: the round is told, and the switches before it. */
static void a_livelock_shows_its_round(void **state)
{
	static const uint16_t ops[] = { ZUG_OP_TRYLOCK, ZUG_OP_UNLOCK, ZUG_OP_YIELD };
	struct trace_writer *w = begin_real();
	struct trace *t;
	char *out;

	for (uint32_t i = 0; i < 2; i++)
		trace_add_task(w, &(struct trace_task){ .task = i, .parent = i ? 0 : TRACE_NO_TASK, .comm = "x" });
	trace_add_object(w, &(struct trace_object){ 5, "mutex", "a" });
	for (uint64_t i = 0; i < 32; i++) {
		uint32_t task = i < 2 ? (uint32_t)i : (uint32_t)(i - 2) / 3 % 2;

		trace_add_step(w, &(struct trace_step){
			.step = i, .task = task, .last = i ? (uint32_t)(i == 1 ? 0 : (i - 3) / 3 % 2) : TRACE_NO_TASK,
			.nr_enabled = 2, .enabled = both,
			.label = { .op = i < 2 ? ZUG_OP_BEGIN : ops[(i - 2) % 3], .object = i < 2 ? 0 : 5,
				   .flags = i < 2 ? 0 : zug_op_flags(ops[(i - 2) % 3]) } });
	}
	trace_add_outcome(w, &(struct trace_outcome){ .kind = ZUG_OUTCOME_LIVELOCK, .message = "T0, T1 only yield" });
	t = end_real(w, &out);
	expect(out, "\nAgain and again, from step 2 to the end:\n"
		    "      T1 does trylock a\n"
		    "      T1 does unlock a\n"
		    "      T1 does yield a\n"
		    "      T0 does trylock a\n"
		    "      T0 does unlock a\n"
		    "      T0 does yield a\n"
		    "    a: changed last by T1 (step 30: unlock)\n");
	expect_not(out, "step 5: the turn goes");
	trace_free(t);
	free(out);
}

/* A wait that ends in its time is told where no preemption explains the failure; a sleep is not, nor is what ends early. */
static void time_outs_that_end_are_named(void **state)
{
	struct trace_writer *w = begin_real();
	struct trace *t;
	char *out;

	for (uint32_t i = 0; i < 2; i++)
		trace_add_task(w, &(struct trace_task){ .task = i, .parent = i ? 0 : TRACE_NO_TASK, .comm = "x" });
	trace_add_object(w, &(struct trace_object){ 5, "cond", "c" });
	for (uint64_t i = 0; i < 6; i++) {
		unsigned int op = i < 2 ? ZUG_OP_BEGIN : ZUG_OP_EXPIRE;

		if (i == 4)
			trace_add_note(w, &(struct trace_note){ .kind = TRACE_NOTE_EARLY, .task = 0, .text = "1 s" });
		trace_add_step(w, &(struct trace_step){
			.step = i, .task = i & 1, .last = i ? (uint32_t)(i - 1) & 1 : TRACE_NO_TASK, .nr_enabled = 2, .enabled = both,
			.label = { .op = op, .object = i < 2 || i == 5 ? 0 : 5, .flags = zug_op_flags(op) } });
	}
	trace_add_outcome(w, &(struct trace_outcome){ .kind = ZUG_OUTCOME_DEADLOCK, .message = "T0 waits" });
	t = end_real(w, &out);
	expect(out, "\nWaits that end by their time-out:\n"
		    "      T0 does expire c\n"
		    "      T1 does expire c\n"
		    "\n");
	expect(out, "  step 4: the time-out of T0 is over 1 s early\n");
	trace_free(t);
	free(out);
}

/* Two tasks wait for the same variable, which one of them was the last to change: that is the one to tell. */
static void a_livelock_names_the_last_change(void **state)
{
	struct trace_writer *w = begin_real();
	struct trace *t;
	char *out;

	for (uint32_t i = 0; i < 2; i++)
		trace_add_task(w, &(struct trace_task){ .task = i, .parent = i ? 0 : TRACE_NO_TASK, .comm = "x" });
	trace_add_object(w, &(struct trace_object){ 5, "data", "round" });
	trace_add_object(w, &(struct trace_object){ 6, "data", "never" });
	for (uint64_t i = 0; i < 34; i++) {
		unsigned int op = i == 1 ? ZUG_OP_ATOMIC_STORE : i < 2 ? ZUG_OP_BEGIN : i & 2 ? ZUG_OP_YIELD :
				  ZUG_OP_ATOMIC_LOAD;

		trace_add_step(w, &(struct trace_step){
			.step = i, .task = i & 1, .last = i ? (uint32_t)(i - 1) & 1 : TRACE_NO_TASK,
			.nr_enabled = 2, .enabled = both,
			.label = { .op = op, .object = op == ZUG_OP_YIELD ? 0 : i % 8 < 4 ? 5 : 6, .flags = zug_op_flags(op) } });
	}
	trace_add_outcome(w, &(struct trace_outcome){ .kind = ZUG_OUTCOME_LIVELOCK, .message = "T0, T1 only yield" });
	t = end_real(w, &out);
	expect(out, "    never: no task has changed it\n");
	expect(out, "    round: changed last by T1 (step 1: atomic-store)\n");
	trace_free(t);
	free(out);
}

/* A time-out: T1 looks at a flag again and again, while T0 now and then does something else. T2 alone has changed the flag. */
static void a_timeout_shows_its_loops(void **state)
{
	uint32_t all[3] = { 0, 1, 2 }, before = TRACE_NO_TASK;
	struct trace_writer *w = begin_real();
	struct trace *t;
	char *out;

	for (uint32_t i = 0; i < 3; i++)
		trace_add_task(w, &(struct trace_task){ .task = i, .parent = i ? 0 : TRACE_NO_TASK, .comm = "x" });
	trace_add_object(w, &(struct trace_object){ 5, "data", "flag" });
	trace_add_object(w, &(struct trace_object){ 6, "data", "other" });
	for (uint64_t i = 0; i < 200; i++) {
		uint32_t task = i == 3 ? 2 : (i * i) % 31 % 4 || i > 195 ? 1 : 0;
		unsigned int op = task == 2 ? ZUG_OP_ATOMIC_STORE : task ? ZUG_OP_ATOMIC_LOAD : ZUG_OP_DATA_READ;

		trace_add_step(w, &(struct trace_step){
			.step = i, .task = task, .last = before, .nr_enabled = 3, .enabled = all,
			.label = { .op = op, .object = task ? 5 : 6, .flags = zug_op_flags(op) } });
		before = task;
	}
	trace_add_stack(w, &(struct trace_stack){ 2, "waits in lock for m, held by T1", 0, NULL });
	trace_add_outcome(w, &(struct trace_outcome){ .kind = ZUG_OUTCOME_TIMEOUT, .message = "no end within 200 steps" });
	t = end_real(w, &out);
	expect(out, "\nWhat ran at the end:\n"
		    "  T1 made 67 of the last 100 steps, in a loop:\n"
		    "      T1 does atomic-load flag\n"
		    "    flag: changed last by T2, which waits in lock for m, held by T1 (step 3: atomic-store)\n"
		    "  T0 made 33 of the last 100 steps, in a loop:\n"
		    "      T0 does data-read other\n"
		    "    other: no other task has changed it\n"
		    "  after the last step T1 ran on, without coming to a point\n");
	expect_not(out, "the turn goes");
	trace_free(t);
	free(out);
}

/* A time-out at whose end all tasks wait: no loop is told. */
static void a_timeout_without_a_loop(void **state)
{
	uint32_t one = 0;
	struct trace_writer *w = begin_real();
	struct trace *t;
	char *out;

	trace_add_task(w, &(struct trace_task){ .parent = TRACE_NO_TASK, .comm = "x" });
	for (uint64_t i = 0; i < 4; i++)
		trace_add_step(w, &(struct trace_step){ .step = i, .last = i ? 0 : TRACE_NO_TASK, .nr_enabled = 1,
							.enabled = &one, .label = { .op = ZUG_OP_SLEEP } });
	trace_add_stack(w, &(struct trace_stack){ 0, "waits in nanosleep", 0, NULL });
	trace_add_outcome(w, &(struct trace_outcome){ .kind = ZUG_OUTCOME_TIMEOUT, .message = "no end within 1.0 s" });
	t = end_real(w, &out);
	expect(out, "No task could run at the end: only time, or something outside of the test, can wake one.\n");
	expect_not(out, "Again and again");
	expect_not(out, "What ran");
	trace_free(t);
	free(out);
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
	struct trace_writer *w = begin_real();
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

/* The two operations of a pair lie in a header's method: the lines that call it are told, and what was never done from the stack. */
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
	struct trace_writer *w = begin_two();
	struct trace *t, *callers;

	trace_add_module(w, &(struct trace_module){ 1, "/src/x", "" });
	trace_add_site(w, &(struct trace_site){ 8, 1, 32, 1, theirs, NULL });
	for (uint64_t i = 0; i < 2; i++) {
		if (i)
			trace_add_note(w, &(struct trace_note){ .kind = TRACE_NOTE_CALLER, .task = 1, .arg = 26,
								.text = "Pool::work()\t/src/pool.cc" });
		trace_add_step(w, &(struct trace_step){ .step = i, .task = i, .last = i ? 0 : TRACE_NO_TASK, .nr_enabled = 2,
							.enabled = both, .flags = i ? TRACE_STEP_PREEMPTION : 0,
							.label = { .op = ZUG_OP_ATOMIC_LOAD, .site = 8 } });
	}
	trace_add_stack(w, &(struct trace_stack){ 0, "could run", 2, stack });
	trace_add_outcome(w, &(struct trace_outcome){ .kind = ZUG_OUTCOME_EXIT, .code = 1 });
	trace_add_minimized(w, &m);
	t = end_real(w, &out);
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
static void callers_without_lines(void **state)
{
	static const struct trace_frame theirs[] = { { "__libc_open64", "../sysdeps/unix/sysv/linux/open64.c", 41, false } };
	static const struct trace_frame fileops[] = { { "_IO_new_file_close_it", "./libio/fileops.c", 142, false } };
	static const char *const text[] = { "dash+0x12631\t", "dash+0x4689\t" };
	const uint32_t enabled[] = { 0 };
	struct trace_writer *w = begin_real();
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

/*
 * While a task is stopped others do much: the operation that decides, and those on its object, are told first, with the
 * programs. What only one task uses is not told.
 */
static void what_matters_meanwhile(void **state)
{
	struct trace_minimized m = { .executions = 2, .minimal = true, .preemptions = 1, .near = 2, .critical = {
		.known = true, .alone = true, .first_task = 1, .first_step = 11, .second_task = 0, .second_step = 14,
		.first = { .op = ZUG_OP_DATA_WRITE, .object = 5 }, .second = { .op = ZUG_OP_DATA_READ, .object = 5 } } };
	struct trace_writer *w = begin_two();
	struct trace *t;
	char *out;

	for (uint64_t i = 0; i < 16; i++) {
		struct trace_step s = { .step = i, .task = i && i < 14, .nr_enabled = 2, .enabled = both,
					.flags = i == 1 ? TRACE_STEP_PREEMPTION : 0,
					.label = { .op = i > 6 && i < 9 ? ZUG_OP_LOCK : ZUG_OP_DATA_READ,
						   .object = i == 5 || i == 14 ? 5 : i == 15 ? 103 : 100 + i } };

		if (i == 1)
			s.label = (struct zug_label){ .op = ZUG_OP_BEGIN };
		if (i == 11)
			s.label = m.critical.first;
		s.last = i ? i > 1 && i <= 14 : TRACE_NO_TASK;
		trace_add_step(w, &s);
		if (i == 2)
			trace_add_note(w, &(struct trace_note){ .kind = TRACE_NOTE_EXEC, .task = 1, .text = "/bin/cat" });
	}
	for (uint64_t i = 100; i < 116; i++) {
		char name[8];

		snprintf(name, sizeof(name), "v%d", (int)i - 100);
		trace_add_object(w, &(struct trace_object){ i, "variable", name });
	}
	trace_add_object(w, &(struct trace_object){ 5, "variable", "sum" });
	trace_add_outcome(w, &(struct trace_outcome){ .kind = ZUG_OUTCOME_EXIT, .code = 1 });
	trace_add_minimized(w, &m);
	t = end_real(w, &out);
	expect(out, "      T0 is stopped before data-read sum\n"
		    "      ... 1 more step\n"
		    "      T1 (cat) does data-read v3\n"
		    "      ... 1 more step\n"
		    "      T1 (cat) does data-read sum\n"
		    "      ... 1 more step\n"
		    "      T1 (cat) does lock v7\n"
		    "      T1 (cat) does lock v8\n"
		    "      ... 2 more steps\n"
		    "      T1 (cat) does data-write sum\n"
		    "      ... 2 more steps before it goes on\n");
	free(out);
	trace_free(t);
}

/* What comes of steps that do not say so: another process, and a task's end. What a library reads is not told. */
static void what_comes_of_steps_meanwhile(void **state)
{
	static const uint16_t ops[] = { ZUG_OP_BEGIN, ZUG_OP_UNLOCK, ZUG_OP_SEM_WAIT, ZUG_OP_DATA_READ, ZUG_OP_DATA_READ, ZUG_OP_DATA_READ };
	static const uint32_t tasks[] = { 0, 1, 1, 1, 0, 0 };
	static const uint64_t objects[] = { 0, 5, 5, 6, 5, 6 };
	struct trace_frame library = { "std::__invoke", "/usr/include/c++/12/bits/invoke.h", 61, false };
	struct trace_writer *w = begin_two();
	struct trace *t;
	char *out;

	trace_add_task(w, &(struct trace_task){ .task = 2, .parent = 1, .process = 2, .comm = "x" });
	trace_add_module(w, &(struct trace_module){ 1, "/src/x", "" });
	trace_add_site(w, &(struct trace_site){ .site = 7, .module = 1, .nr_frames = 1, .frames = &library });
	for (uint64_t i = 0; i < 6; i++) {
		trace_add_step(w, &(struct trace_step){ .step = i, .task = tasks[i], .last = i ? tasks[i - 1] : TRACE_NO_TASK,
							.nr_enabled = 2, .enabled = both,
							.flags = i == 1 ? TRACE_STEP_PREEMPTION : 0,
							.label = { .op = ops[i], .object = objects[i], .site = i == 3 ? 7 : 0 } });
		if (i == 1)
			trace_add_note(w, &(struct trace_note){ .kind = TRACE_NOTE_WAKE, .task = 2, .arg = 1 });
		if (i == 2)
			trace_add_note(w, &(struct trace_note){ .kind = TRACE_NOTE_WAKE, .task = 2, .arg = 1 });
		if (i == 2)
			trace_add_note(w, &(struct trace_note){ .kind = TRACE_NOTE_EXIT, .task = 1 });
	}
	trace_add_object(w, &(struct trace_object){ 5, "variable", "m" });
	trace_add_outcome(w, &(struct trace_outcome){ .kind = ZUG_OUTCOME_EXIT, .code = 1 });
	t = end_real(w, &out);
	expect(out, "      T0 is stopped before data-read m\n"
		    "      T1 does unlock m\n"
		    "      T1 creates process T2\n"
		    "      T1 does sem-wait m\n"
		    "      T1 ends\n"
		    "      ... 1 more step before it goes on\n");
	free(out);
	trace_free(t);
}

/* A reader that asks for the lock once more, behind a writer, waits for itself. */
static void a_task_may_wait_for_itself(void **state)
{
	static const struct zug_label labels[] = {
		{ .op = ZUG_OP_RDLOCK, .object = 5 }, { .op = ZUG_OP_WRLOCK, .object = 5 }, { .op = ZUG_OP_RDLOCK, .object = 5 },
	};
	struct trace_writer *w = begin_two();
	struct trace *t;
	char *out;

	for (uint64_t i = 0; i < 3; i++) {
		trace_add_step(w, &(struct trace_step){ .step = i, .task = i == 1, .last = i ? i == 2 : TRACE_NO_TASK,
							.nr_enabled = 2, .enabled = both, .label = labels[i] });
		if (i)
			trace_add_note(w, &(struct trace_note){ .kind = TRACE_NOTE_BLOCK, .task = i == 1, .object = 5 });
	}
	trace_add_object(w, &(struct trace_object){ 5, "rwlock", "table" });
	trace_add_outcome(w, &(struct trace_outcome){ .kind = ZUG_OUTCOME_DEADLOCK,
						      .message = "T0 waits in rdlock for table; T1 waits in wrlock for table" });
	t = end_real(w, &out);
	expect(out, "; T0 waits for table, held by T0 itself\n");
	free(out);
	trace_free(t);
}

/* The step that ends a process is not told again as the last one where it is one of the two that decide. */
static void the_last_step_is_told_once(void **state)
{
	struct trace_minimized m = { .executions = 1, .minimal = true, .near = 2, .critical = {
		.known = true, .alone = true, .first_task = 1, .first_step = 2, .second_step = UINT64_MAX,
		.first = { .op = ZUG_OP_KILL, .object = 5 }, .second = { .op = ZUG_OP_SIGACTION, .object = 5 } } };

	for (int decides = 0; decides < 2; decides++) {
		struct trace_writer *w = begin_two();
		struct trace *t;
		char *out;

		for (uint64_t i = 0; i < 3; i++)
			trace_add_step(w, &(struct trace_step){ .step = i, .task = i > 1, .last = i ? 0 : TRACE_NO_TASK, .nr_enabled = 2,
								.enabled = both, .label = { .op = i > 1 ? ZUG_OP_KILL : ZUG_OP_BEGIN } });
		trace_add_outcome(w, &(struct trace_outcome){ .kind = ZUG_OUTCOME_SIGNAL, .code = 10 });
		m.critical.first_step = 1 + decides;
		trace_add_minimized(w, &m);
		t = end_real(w, &out);
		expect(out, "It fails when\n");
		(decides ? expect_not : expect)(out, "step 2 is the last\n");
		free(out);
		trace_free(t);
	}
}

/* Where all that was tried near a schedule fails alike, its switches say nothing; where some fail in another way, they may. */
static void what_fails_in_any_order_is_told(void **state)
{
	static const struct {
		uint64_t near, alike;
		uint32_t preemptions;
		bool any;
	} cases[] = { { 7, 6, 0, true }, { 7, 5, 0, false }, { 6, 5, 0, false }, { 7, 6, 1, false } };

	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		struct trace_minimized m = { .executions = 2, .minimal = true, .near = cases[k].near, .alike = cases[k].alike,
					     .preemptions = cases[k].preemptions };
		struct trace_writer *w = begin_two();
		struct trace *t;
		char *out;

		for (uint64_t i = 0; i < 3; i++)
			trace_add_step(w, &(struct trace_step){ .step = i, .task = i > 1, .last = i ? 0 : TRACE_NO_TASK, .nr_enabled = 2,
								.enabled = both, .label = { .op = i > 1 ? ZUG_OP_KILL : ZUG_OP_YIELD },
								.flags = i > 1 && m.preemptions ? TRACE_STEP_PREEMPTION : 0 });
		trace_add_outcome(w, &(struct trace_outcome){ .kind = ZUG_OUTCOME_EXIT, .code = 1 });
		trace_add_minimized(w, &m);
		t = end_real(w, &out);
		(cases[k].any ? expect : expect_not)(out, "No order of the tasks was found that decides:\n"
			"  All 6 schedules near this one that were tried fail alike. The test may fail in whatever order its tasks\n"
			"  run, and the cause need not lie in their order (zug diff tries more schedules).\n");
		(cases[k].any ? expect_not : expect)(out, "step 2: the turn goes from T0 to T1\n");
		free(out);
		trace_free(t);
	}
}

/*
 * Of an operation on two pieces of memory the one that others use is told: what is copied from there to the task's own is
 * read, and what links a node into a list is a write of the list.
 */
static void copies_are_told_by_what_is_shared(void **state)
{
	static const struct zug_label labels[] = {
		{ .op = ZUG_OP_DATA_WRITE, .object = 5 },
		{ .op = ZUG_OP_DATA_WRITE, .flags = ZUG_L_COPIES, .object = 6, .object2 = 5 },
		{ .op = ZUG_OP_DATA_WRITE, .object = 7, .object2 = 5 },
		{ .op = ZUG_OP_DATA_WRITE, .flags = ZUG_L_COPIES, .object = 5, .object2 = 8 },
		{ .op = ZUG_OP_DATA_WRITE, .flags = ZUG_L_PART, .object = 9, .object2 = 5 },
		{ .op = ZUG_OP_COND_WAIT, .object = 10, .object2 = 5 },
		{ .op = ZUG_OP_DATA_WRITE, .flags = ZUG_L_FREES, .object = 11 },
	};
	struct trace_writer *w = begin_two();
	struct trace *t;
	char *out;

	for (uint64_t i = 0; i < 7; i++)
		trace_add_step(w, &(struct trace_step){ .step = i, .task = !!i, .last = i ? i > 1 : TRACE_NO_TASK, .nr_enabled = 2,
							.enabled = both, .label = labels[i] });
	for (uint64_t i = 5; i < 12; i++) {
		char name[8];

		snprintf(name, sizeof(name), i == 5 ? "shared" : "own%d", (int)i);
		trace_add_object(w, &(struct trace_object){ i, "variable", name });
	}
	trace_add_outcome(w, &(struct trace_outcome){ .kind = ZUG_OUTCOME_EXIT, .code = 1 });
	t = end_real(w, &out);
	free(out);
	out = show(0, real, NULL);
	expect(out, "data-write shared\n");
	expect(out, "data-read shared\n");
	expect(out, "data-write shared (own8)\n");
	expect(out, "data-write own9\n");
	expect(out, "cond-wait own10 (shared)\n");
	expect(out, "free own11\n");
	expect_not(out, "own6");
	expect_not(out, "own7");
	free(out);
	trace_free(t);
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
		cmocka_unit_test(signals_have_a_place),
		cmocka_unit_test(a_livelock_shows_its_round),
		cmocka_unit_test(time_outs_that_end_are_named),
		cmocka_unit_test(a_livelock_names_the_last_change),
		cmocka_unit_test(a_timeout_shows_its_loops),
		cmocka_unit_test(a_timeout_without_a_loop),
		cmocka_unit_test(own_lines_come_first),
		cmocka_unit_test(callers_of_headers),
		cmocka_unit_test(callers_without_lines),
		cmocka_unit_test(what_matters_meanwhile),
		cmocka_unit_test(what_comes_of_steps_meanwhile),
		cmocka_unit_test(a_task_may_wait_for_itself),
		cmocka_unit_test(the_last_step_is_told_once),
		cmocka_unit_test(what_fails_in_any_order_is_told),
		cmocka_unit_test(copies_are_told_by_what_is_shared),
		cmocka_unit_test(places_are_looked_up),
		cmocka_unit_test(the_manual_agrees),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
