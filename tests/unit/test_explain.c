// SPDX-License-Identifier: GPL-2.0-only
/* test_explain.c - how reports explain a failure: what decides, what happened meanwhile, and what went on at the end */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli/exit_codes.h"
#include "sample_trace.h"
#include "show_output.h"

static char dir[] = "/tmp/zug-test-explain-XXXXXX";
static char real[64];

static int set_up(void **state)
{
	unsetenv("COLUMNS");
	if (!mkdtemp(dir))
		return -1;
	snprintf(real, sizeof(real), "%s/real.zug", dir);
	return 0;
}

static int tear_down(void **state)
{
	char cmd[100];

	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	return system(cmd);
}

/* A handler's step, and one behind it, are such operations, in that file; those on data are on the same. At 'real'. */
static struct trace *handled_by(uint16_t op, const char *file, const char *signal, const char *handler)
{
	const char *const functions[] = { "main", handler, "looks", "waits" };
	uint64_t object = op == ZUG_OP_DATA_READ ? 6 : 0;
	uint32_t enabled[1] = { 0 };
	struct trace_writer *w = sample_begin(real);
	struct trace *t;
	char *out;

	trace_add_task(w, &(struct trace_task){ .parent = TRACE_NO_TASK, .comm = "x" });
	trace_add_module(w, &(struct trace_module){ 1, file, "" });
	trace_add_object(w, &(struct trace_object){ 5, "signal", signal });
	trace_add_object(w, &(struct trace_object){ 6, "variable", "flag" });
	for (uint64_t i = 0; i < 4; i++) {
		struct trace_frame frame = { functions[i], "x.c", 1 + i, false };

		if (i == 3)
			trace_add_note(w, &(struct trace_note){ .kind = TRACE_NOTE_SIGNAL });
		trace_add_site(w, &(struct trace_site){ .site = 7 + i, .module = 1, .offset = 16 * i, .nr_frames = 1,
							.frames = &frame });
		trace_add_step(w, &(struct trace_step){ .step = i, .last = i ? 0 : TRACE_NO_TASK, .nr_enabled = 1,
							.enabled = enabled,
							.label = { .op = i == 1 ? ZUG_OP_HANDLER : i ? op : ZUG_OP_YIELD,
								   .object = i == 1 ? 5 : i ? object : 0, .site = 7 + i } });
	}
	trace_add_outcome(w, &(struct trace_outcome){ .kind = ZUG_OUTCOME_EXIT, .code = 1 });
	t = sample_end(w, real, &out);
	free(out);
	return t;
}

static struct trace *handled(uint16_t op, const char *file)
{
	return handled_by(op, file, "SIGCHLD", "on_child");
}

/* What is shown of the trace with that result of minimising. Frees t; the caller frees the text. */
static char *brief_of_minimized(struct trace *t, const struct trace_minimized *m)
{
	char beside[80];
	struct trace_writer *w;
	int ret;

	snprintf(beside, sizeof(beside), "%s/signals.zug", dir);
	w = trace_copy(t, beside, &ret);
	assert_non_null(w);
	trace_add_minimized(w, m);
	assert_int_equal(trace_close(w, false), 0);
	trace_free(t);
	return show(ZUG_EXIT_PASS, "--brief", beside, NULL);
}

/* Where a handler came in: after which step, what it does, and with what its task goes on. */
static void signals_have_a_place(void **state)
{
	struct trace_minimized m = { .executions = 2, .minimal = true, .near = 2, .critical = {
		.known = true, .alone = true, .second_step = 3 } };
	struct trace *t = handled(ZUG_OP_YIELD, "/src/x");
	char *out;

	out = show(ZUG_EXIT_PASS, "--brief", real, NULL);
	expect(out, "Signals that were handled:\n"
		    "  step 1: SIGCHLD is delivered to T0  handler on_child x.c:2\n"
		    "      T0 has done yield  main x.c:1\n"
		    "      T0 does in the handler yield  looks x.c:3\n"
		    "      T0 goes on with yield  waits x.c:4\n");
	free(out);
	/* other operations decide */
	m.critical.first = m.critical.second = trace_step(t, 0)->label;
	out = brief_of_minimized(t, &m);
	expect(out, "It fails when");
	expect_not(out, "Signals that were handled");
	free(out);
	/* they do, but the handler reads what its task reads, too */
	t = handled(ZUG_OP_DATA_READ, "/src/x");
	out = brief_of_minimized(t, &m);
	expect(out, "It fails when");
	expect(out, "      T0 does in the handler data-read flag  looks x.c:3\n"
		    "      T0 goes on with data-read flag  waits x.c:4\n");
	free(out);
	/* Go's runtime does that for itself; a program may use the signal, too */
	trace_free(handled_by(ZUG_OP_YIELD, "/src/x", "SIGURG", "runtime.sigtramp"));
	out = show(ZUG_EXIT_PASS, "--brief", real, NULL);
	expect_not(out, "Signals that were handled");
	free(out);
	trace_free(handled_by(ZUG_OP_YIELD, "/src/x", "SIGURG", "on_urgent"));
	out = show(ZUG_EXIT_PASS, "--brief", real, NULL);
	expect(out, "SIGURG is delivered to T0  handler on_urgent");
	free(out);
	/* a thread is cancelled, whatever decides */
	t = handled_by(ZUG_OP_YIELD, "/lib/libc.so.6", "signal 32", "sigcancel_handler");
	out = brief_of_minimized(t, &m);
	expect(out, "  step 1: pthread_cancel() reaches T0\n"
		    "      T0 has done yield  main x.c:1\n"
		    "      T0 does behind that yield  looks x.c:3\n");
	free(out);
	trace_free(handled(ZUG_OP_DATA_READ, "/src/x"));
	out = show(ZUG_EXIT_PASS, real, NULL);
	expect(out, "signal-handler SIGCHLD");
	expect(out, "~ the handler returns");
	free(out);
	/* a shell's handler, which collects its children */
	trace_free(handled(ZUG_OP_YIELD, "/usr/bin/bash"));
	out = show(ZUG_EXIT_PASS, "--brief", real, NULL);
	expect_not(out, "Signals that were handled");
	free(out);
	out = show(ZUG_EXIT_PASS, real, NULL);
	expect(out, "signal-handler SIGCHLD");
	free(out);
}

/* Two tasks go round and round: the round is told, and the switches before it. */
static void a_livelock_shows_its_round(void **state)
{
	static const uint16_t ops[] = { ZUG_OP_TRYLOCK, ZUG_OP_UNLOCK, ZUG_OP_YIELD };
	struct trace_writer *w = sample_begin_two(real);
	struct trace *t;
	char *out;

	trace_add_object(w, &(struct trace_object){ 5, "mutex", "a" });
	for (uint64_t i = 0; i < 32; i++) {
		uint32_t task = i < 2 ? (uint32_t)i : (uint32_t)(i - 2) / 3 % 2;

		trace_add_step(w, &(struct trace_step){
			.step = i, .task = task, .last = i ? (uint32_t)(i == 1 ? 0 : (i - 3) / 3 % 2) : TRACE_NO_TASK,
			.nr_enabled = 2, .enabled = sample_both,
			.label = { .op = i < 2 ? ZUG_OP_BEGIN : ops[(i - 2) % 3], .object = i < 2 ? 0 : 5,
				   .flags = i < 2 ? 0 : zug_op_flags(ops[(i - 2) % 3]) } });
	}
	trace_add_outcome(w, &(struct trace_outcome){ .kind = ZUG_OUTCOME_LIVELOCK, .message = "T0, T1 only yield" });
	t = sample_end(w, real, &out);
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
	struct trace_writer *w = sample_begin_two(real);
	struct trace *t;
	char *out;

	trace_add_object(w, &(struct trace_object){ 5, "cond", "c" });
	for (uint64_t i = 0; i < 6; i++) {
		unsigned int op = i < 2 ? ZUG_OP_BEGIN : ZUG_OP_EXPIRE;

		if (i == 4)
			trace_add_note(w, &(struct trace_note){ .kind = TRACE_NOTE_EARLY, .task = 0, .text = "1 s" });
		trace_add_step(w, &(struct trace_step){
			.step = i, .task = i & 1, .last = i ? (uint32_t)(i - 1) & 1 : TRACE_NO_TASK,
			.nr_enabled = 2, .enabled = sample_both,
			.label = { .op = op, .object = i < 2 || i == 5 ? 0 : 5, .flags = zug_op_flags(op) } });
	}
	trace_add_outcome(w, &(struct trace_outcome){ .kind = ZUG_OUTCOME_DEADLOCK, .message = "T0 waits" });
	t = sample_end(w, real, &out);
	expect(out, "\nWaits that end by their time-out:\n"
		    "      T0 does expire c\n"
		    "      T1 does expire c\n"
		    "\n");
	expect(out, "  step 4: the time-out of T0 is over 1 s early\n");
	trace_free(t);
	free(out);
}

/* Of two tasks that wait for one condition a signal wakes the one that has nothing to do: that is told, but of no broadcast. */
static void a_signal_for_another_task_is_named(void **state)
{
	static const struct { uint32_t task; unsigned int op; } steps[] = {
		{ 0, ZUG_OP_BEGIN }, { 1, ZUG_OP_BEGIN }, { 2, ZUG_OP_BEGIN }, { 0, ZUG_OP_COND_WAIT }, { 1, ZUG_OP_COND_WAIT },
		{ 2, ZUG_OP_COND_SIGNAL }, { 0, ZUG_OP_RESUME }, { 0, ZUG_OP_COND_WAIT },
	};
	static const uint32_t all[] = { 0, 1, 2 };

	for (int broadcast = 0; broadcast < 2; broadcast++) {
		struct trace_writer *w = sample_begin_two(real);
		struct trace *t;
		char *out;

		trace_add_task(w, &(struct trace_task){ .task = 2, .parent = 0, .comm = "x" });
		trace_add_object(w, &(struct trace_object){ 5, "cond", "c" });
		for (uint64_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
			unsigned int op = broadcast && i == 5 ? ZUG_OP_COND_BROADCAST : steps[i].op;

			trace_add_step(w, &(struct trace_step){
				.step = i, .task = steps[i].task, .last = i ? steps[i - 1].task : TRACE_NO_TASK, .nr_enabled = 3,
				.enabled = all,
				.label = { .op = op, .object = i < 3 ? 0 : 5, .flags = zug_op_flags(op) } });
		}
		trace_add_outcome(w, &(struct trace_outcome){ .kind = ZUG_OUTCOME_DEADLOCK, .message = "T0, T1 wait" });
		t = sample_end(w, real, &out);
		if (broadcast)
			expect_not(out, "wakes");
		else
			expect(out, "\nThe last signal of c wakes T0, which waits for it again; T1 waited, too, and sleeps on:\n"
				    "      T2 does cond-signal c\n");
		trace_free(t);
		free(out);
	}
}

/* Two tasks wait for the same variable, which one of them was the last to change: that is the one to tell. */
static void a_livelock_names_the_last_change(void **state)
{
	struct trace_writer *w = sample_begin_two(real);
	struct trace *t;
	char *out;

	trace_add_object(w, &(struct trace_object){ 5, "data", "round" });
	trace_add_object(w, &(struct trace_object){ 6, "data", "never" });
	for (uint64_t i = 0; i < 34; i++) {
		unsigned int op = i == 1 ? ZUG_OP_ATOMIC_STORE : i < 2 ? ZUG_OP_BEGIN : i & 2 ? ZUG_OP_YIELD :
				  ZUG_OP_ATOMIC_LOAD;

		trace_add_step(w, &(struct trace_step){
			.step = i, .task = i & 1, .last = i ? (uint32_t)(i - 1) & 1 : TRACE_NO_TASK,
			.nr_enabled = 2, .enabled = sample_both,
			.label = { .op = op, .object = op == ZUG_OP_YIELD ? 0 : i % 8 < 4 ? 5 : 6, .flags = zug_op_flags(op) } });
	}
	trace_add_outcome(w, &(struct trace_outcome){ .kind = ZUG_OUTCOME_LIVELOCK, .message = "T0, T1 only yield" });
	t = sample_end(w, real, &out);
	expect(out, "    never: no task has changed it\n");
	expect(out, "    round: changed last by T1 (step 1: atomic-store)\n");
	trace_free(t);
	free(out);
}

/* T2 spins on a lock that T1 held when their process was forked; it has another id in the copy. */
static void a_copied_lock_names_its_holder(void **state)
{
	struct trace_writer *w = sample_begin(real);
	struct trace *t;
	char *out;

	for (uint32_t i = 0; i < 3; i++)
		trace_add_task(w, &(struct trace_task){ .task = i, .parent = i ? 0 : TRACE_NO_TASK, .process = i == 2 ? 2 : 0,
							.comm = "x" });
	trace_add_object(w, &(struct trace_object){ 5, "data", "held" });
	trace_add_object(w, &(struct trace_object){ 6, "data", "held" });
	for (uint64_t i = 0; i < 34; i++) {
		unsigned int op = i == 1 ? ZUG_OP_ATOMIC_RMW : i < 3 ? ZUG_OP_BEGIN : i & 1 ? ZUG_OP_YIELD : ZUG_OP_ATOMIC_LOAD;
		uint32_t one[1] = { i < 3 ? (uint32_t)i : 2 };

		trace_add_step(w, &(struct trace_step){
			.step = i, .task = one[0], .last = i ? (i > 3 ? 2 : (uint32_t)i - 1) : TRACE_NO_TASK,
			.nr_enabled = 1, .enabled = one,
			.label = { .op = op, .flags = zug_op_flags(op),
				   .object = i == 1 ? 5 : op == ZUG_OP_ATOMIC_LOAD ? 6 : 0 } });
	}
	trace_add_outcome(w, &(struct trace_outcome){ .kind = ZUG_OUTCOME_LIVELOCK, .message = "T2 only yields" });
	t = sample_end(w, real, &out);
	expect(out, "    held: its process has a copy, as it was when that was forked; "
		    "changed last before by T1 (step 1: atomic-rmw)\n");
	trace_free(t);
	free(out);
}

/* A time-out: T1 looks at a flag again and again, while T0 now and then does something else. T2 alone has changed the flag. */
static void a_timeout_shows_its_loops(void **state)
{
	uint32_t all[3] = { 0, 1, 2 }, before = TRACE_NO_TASK;
	struct trace_writer *w = sample_begin(real);
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
	t = sample_end(w, real, &out);
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
	struct trace_writer *w = sample_begin(real);
	struct trace *t;
	char *out;

	trace_add_task(w, &(struct trace_task){ .parent = TRACE_NO_TASK, .comm = "x" });
	for (uint64_t i = 0; i < 4; i++)
		trace_add_step(w, &(struct trace_step){ .step = i, .last = i ? 0 : TRACE_NO_TASK, .nr_enabled = 1,
							.enabled = &one, .label = { .op = ZUG_OP_SLEEP } });
	trace_add_stack(w, &(struct trace_stack){ 0, "waits in nanosleep", 0, NULL });
	trace_add_outcome(w, &(struct trace_outcome){ .kind = ZUG_OUTCOME_TIMEOUT, .message = "no end within 1.0 s" });
	t = sample_end(w, real, &out);
	expect(out, "No task could run at the end: only time, or something outside of the test, can wake one.\n");
	expect_not(out, "Again and again");
	expect_not(out, "What ran");
	trace_free(t);
	free(out);
}

/*
 * While a task is stopped others do much: the operation that decides, and those on its object, are told first, with the
 * programs. What only one task uses is not told, nor is what none changes.
 */
static void what_matters_meanwhile(void **state)
{
	struct trace_minimized m = { .executions = 2, .minimal = true, .preemptions = 1, .near = 2, .critical = {
		.known = true, .alone = true, .first_task = 1, .first_step = 11, .second_task = 0, .second_step = 14,
		.first = { .op = ZUG_OP_DATA_WRITE, .object = 5 }, .second = { .op = ZUG_OP_DATA_READ, .object = 5 } } };
	struct trace_writer *w = sample_begin_two(real);
	struct trace *t;
	char *out;

	for (uint64_t i = 0; i < 16; i++) {
		struct trace_step s = { .step = i, .task = i && i < 14, .nr_enabled = 2, .enabled = sample_both,
					.flags = i == 1 ? TRACE_STEP_PREEMPTION : 0,
					.label = { .op = i > 6 && i < 9 ? ZUG_OP_LOCK : ZUG_OP_DATA_READ,
						   .object = i == 5 || i == 14 ? 5 : i == 15 ? 103 : 100 + i } };

		if (i == 1)
			s.label = (struct zug_label){ .op = ZUG_OP_BEGIN };
		if (i == 11)
			s.label = m.critical.first;
		if (i == 15)
			s.label.op = ZUG_OP_DATA_WRITE;
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
	t = sample_end(w, real, &out);
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

/* A line that looks twice is told once; what a test says of its failure, and what it does for that behind it, is not told. */
static void what_says_little_meanwhile(void **state)
{
	static const struct {
		uint16_t op;
		uint8_t object, line;
	} steps[] = {
		{ ZUG_OP_BEGIN, 0, 0 }, { ZUG_OP_BEGIN, 0, 0 }, { ZUG_OP_ATOMIC_LOAD, 5, 1 }, { ZUG_OP_ATOMIC_LOAD, 5, 1 },
		{ ZUG_OP_ATOMIC_LOAD, 5, 2 }, { ZUG_OP_DATA_READ, 8, 2 }, { ZUG_OP_ATOMIC_STORE, 5, 2 }, { ZUG_OP_WRITE, 6, 3 },
		{ ZUG_OP_STAT, 7, 0 }, { ZUG_OP_STAT, 7, 3 }, { ZUG_OP_OPEN, 7, 4 }, { ZUG_OP_ATOMIC_LOAD, 5, 5 },
		{ ZUG_OP_DATA_READ, 8, 5 },
	};
	struct trace_writer *w = sample_begin_two(real);
	struct trace *t;
	char *out;

	trace_add_module(w, &(struct trace_module){ 1, "/src/x", "" });
	trace_add_object(w, &(struct trace_object){ 5, "variable", "word" });
	trace_add_object(w, &(struct trace_object){ 6, "file", "stderr" });
	trace_add_object(w, &(struct trace_object){ 7, "file", "/x" });
	trace_add_object(w, &(struct trace_object){ 8, "variable", "fixed" });
	for (uint32_t line = 1; line < 6; line++)
		trace_add_site(w, &(struct trace_site){ .site = line, .module = 1, .offset = line, .nr_frames = 1,
							.frames = &(struct trace_frame){ "go", "x.c", line, false } });
	for (uint64_t i = 0; i < 13; i++)
		trace_add_step(w, &(struct trace_step){
			.step = i, .task = i && i < 11, .last = i ? i > 1 && i < 12 : TRACE_NO_TASK, .nr_enabled = 2,
			.enabled = sample_both, .flags = i == 1 ? TRACE_STEP_PREEMPTION : 0,
			.label = { .op = steps[i].op, .object = steps[i].object, .flags = zug_op_flags(steps[i].op),
				   .site = steps[i].line } });
	trace_add_outcome(w, &(struct trace_outcome){ .kind = ZUG_OUTCOME_EXIT, .code = 1 });
	t = sample_end(w, real, &out);
	expect(out, "      T0 is stopped before atomic-load word  go x.c:5\n"
		    "      T1 does atomic-load word  go x.c:1\n"
		    "      ... 1 more step\n"
		    "      T1 does atomic-load word  go x.c:2\n"
		    "      ... 1 more step\n"
		    "      T1 does atomic-store word  go x.c:2\n"
		    "      ... 3 more steps\n"
		    "      T1 does open /x  go x.c:4\n");
	free(out);
	trace_free(t);
}

/*
 * Two tasks take turns at each step, as there was no time to leave that out: told are the preemptions before the steps of the
 * program's own code. Where it has none, or the schedule is minimal, the last ones are told.
 */
static void of_many_the_own_ones_are_told(void **state)
{
	enum { STEPS = 24, OWN = 6 };

	for (int k = 0; k < 3; k++) {
		bool minimal = k == 1, own = k != 2;
		struct trace_minimized m = { .executions = 2, .minimal = minimal, .preemptions = STEPS - 1, .near = 1 };
		struct trace_writer *w = sample_begin_two(real);
		struct trace *t;
		char *out;

		trace_add_object(w, &(struct trace_object){ 5, "variable", "word" });
		for (uint64_t i = 0; i < STEPS; i++)
			trace_add_step(w, &(struct trace_step){
				.step = i, .task = i % 2, .last = i ? (i + 1) % 2 : TRACE_NO_TASK, .nr_enabled = 2,
				.enabled = sample_both, .flags = i ? TRACE_STEP_PREEMPTION : 0,
				.label = { .op = ZUG_OP_DATA_WRITE, .object = 5,
					   .flags = zug_op_flags(ZUG_OP_DATA_WRITE) | (own && i == OWN ? ZUG_L_OWN : 0) } });
		trace_add_outcome(w, &(struct trace_outcome){ .kind = ZUG_OUTCOME_EXIT, .code = 1 });
		trace_add_minimized(w, &m);
		t = sample_end(w, real, &out);
		if (own && !minimal) {
			expect(out, "  (of 23 the last 1 before the program's own code; the others are left out)\n"
				    "  step 5: the turn goes from T0 to T1\n");
			assert_null(strstr(out, "step 23: the turn"));
		} else {
			expect(out, "  (15 earlier ones are left out)\n  step 16: the turn goes from T1 to T0\n");
			assert_null(strstr(out, "step 5: the turn"));
		}
		free(out);
		trace_free(t);
	}
}

/* What comes of steps that do not say so: another process, and a task's end. What a library reads is not told. */
static void what_comes_of_steps_meanwhile(void **state)
{
	static const uint16_t ops[] = { ZUG_OP_BEGIN, ZUG_OP_UNLOCK, ZUG_OP_SEM_WAIT, ZUG_OP_DATA_READ, ZUG_OP_DATA_READ,
					ZUG_OP_DATA_READ };
	static const uint32_t tasks[] = { 0, 1, 1, 1, 0, 0 };
	static const uint64_t objects[] = { 0, 5, 5, 6, 5, 6 };
	struct trace_frame library = { "std::__invoke", "/usr/include/c++/12/bits/invoke.h", 61, false };
	struct trace_writer *w = sample_begin_two(real);
	struct trace *t;
	char *out;

	trace_add_task(w, &(struct trace_task){ .task = 2, .parent = 1, .process = 2, .comm = "x" });
	trace_add_module(w, &(struct trace_module){ 1, "/src/x", "" });
	trace_add_site(w, &(struct trace_site){ .site = 7, .module = 1, .nr_frames = 1, .frames = &library });
	for (uint64_t i = 0; i < 6; i++) {
		trace_add_step(w, &(struct trace_step){ .step = i, .task = tasks[i], .last = i ? tasks[i - 1] : TRACE_NO_TASK,
							.nr_enabled = 2, .enabled = sample_both,
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
	t = sample_end(w, real, &out);
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
	struct trace_writer *w = sample_begin_two(real);
	struct trace *t;
	char *out;

	for (uint64_t i = 0; i < 3; i++) {
		trace_add_step(w, &(struct trace_step){ .step = i, .task = i == 1, .last = i ? i == 2 : TRACE_NO_TASK,
							.nr_enabled = 2, .enabled = sample_both, .label = labels[i] });
		if (i)
			trace_add_note(w, &(struct trace_note){ .kind = TRACE_NOTE_BLOCK, .task = i == 1, .object = 5 });
	}
	trace_add_object(w, &(struct trace_object){ 5, "rwlock", "table" });
	trace_add_outcome(w, &(struct trace_outcome){ .kind = ZUG_OUTCOME_DEADLOCK,
						      .message = "T0 waits in rdlock for table; T1 waits in wrlock for table" });
	t = sample_end(w, real, &out);
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
		struct trace_writer *w = sample_begin_two(real);
		struct trace *t;
		char *out;

		for (uint64_t i = 0; i < 3; i++)
			trace_add_step(w, &(struct trace_step){
				.step = i, .task = i > 1, .last = i ? 0 : TRACE_NO_TASK, .nr_enabled = 2, .enabled = sample_both,
				.label = { .op = i > 1 ? ZUG_OP_KILL : ZUG_OP_BEGIN } });
		trace_add_outcome(w, &(struct trace_outcome){ .kind = ZUG_OUTCOME_SIGNAL, .code = 10 });
		m.critical.first_step = 1 + decides;
		trace_add_minimized(w, &m);
		t = sample_end(w, real, &out);
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
		struct trace_writer *w = sample_begin_two(real);
		struct trace *t;
		char *out;

		for (uint64_t i = 0; i < 3; i++)
			trace_add_step(w, &(struct trace_step){
				.step = i, .task = i > 1, .last = i ? 0 : TRACE_NO_TASK, .nr_enabled = 2, .enabled = sample_both,
				.label = { .op = i > 1 ? ZUG_OP_KILL : ZUG_OP_YIELD },
				.flags = i > 1 && m.preemptions ? TRACE_STEP_PREEMPTION : 0 });
		trace_add_outcome(w, &(struct trace_outcome){ .kind = ZUG_OUTCOME_EXIT, .code = 1 });
		trace_add_minimized(w, &m);
		t = sample_end(w, real, &out);
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
	struct trace_writer *w = sample_begin_two(real);
	struct trace *t;
	char *out;

	for (uint64_t i = 0; i < 7; i++)
		trace_add_step(w, &(struct trace_step){ .step = i, .task = !!i, .last = i ? i > 1 : TRACE_NO_TASK, .nr_enabled = 2,
							.enabled = sample_both, .label = labels[i] });
	for (uint64_t i = 5; i < 12; i++) {
		char name[8];

		snprintf(name, sizeof(name), i == 5 ? "shared" : "own%d", (int)i);
		trace_add_object(w, &(struct trace_object){ i, "variable", name });
	}
	trace_add_outcome(w, &(struct trace_outcome){ .kind = ZUG_OUTCOME_EXIT, .code = 1 });
	t = sample_end(w, real, &out);
	free(out);
	out = show(0, real, NULL);
	expect(out, "data-write shared\n");
	expect(out, "data-read shared\n");
	expect(out, "data-write own9\n");
	expect(out, "cond-wait own10 (shared)\n");
	expect(out, "free own11\n");
	expect_not(out, "own6");
	expect_not(out, "own7");
	expect_not(out, "own8");
	free(out);
	trace_free(t);
}

/* A program of one task that ends with that status and that error output, as it is told. */
static char *ended_as(uint32_t kind, int code, const char *err)
{
	struct trace_writer *w = sample_begin(real);
	char *out;

	trace_add_task(w, &(struct trace_task){ .parent = TRACE_NO_TASK, .comm = "x" });
	trace_add_outcome(w, &(struct trace_outcome){ .kind = kind, .code = code, .err_head = err });
	trace_add_stack(w, &(struct trace_stack){ .state = "exits", .nr_frames = 1, .frames = (struct trace_frame[]){
						  { "runtime.exit", "/usr/lib/go-1.19/src/runtime/sys_linux_amd64.s", 60, false } } });
	trace_free(sample_end(w, real, &out));
	return out;
}

static char *ended(int code, const char *err)
{
	return ended_as(ZUG_OUTCOME_EXIT, code, err);
}

/* The threads of a Go program wait for goroutines; what these wait for is told in their place, where the runtime says it. */
static void goroutines_are_told(void **state)
{
	char *out = ended(2, "x\nfatal error: all goroutines are asleep - deadlock!\n\n"
			     "goroutine 1 [semacquire, 2 minutes]:\n"
			     "sync.runtime_Semacquire(0xc0000140a8?)\n\t/usr/lib/go-1.19/src/runtime/sema.go:62 +0x25\n"
			     "sync.(*WaitGroup).Wait(0x404b39?)\n\t/usr/lib/go-1.19/src/sync/waitgroup.go:139 +0x52\n"
			     "main.main()\n\t/src/x/main.go:55 +0x1d7\n\n"
			     "goroutine 18 gp=0xc000007a40 m=nil [chan send]:\n"
			     "main.(*node).Status(...)\n\t/src/x/node.go:26\n"
			     "main.main.func2({0x1, 0x2})\n\t/src/x/main.go:53 +0x89\n"
			     "created by main.main in goroutine 1\n\t/src/x/main.go:53 +0x179\n\n"
			     "goroutine 2 [force gc (idle)]:\n"
			     "runtime.gopark()\n\t/usr/lib/go-1.19/src/runtime/proc.go:1\n"
			     "created by runtime.init.7\n\t/src/x/proc.go:9 +0x1\n");

	expect(out, "The goroutines, where the program ends:\n"
		    "      goroutine 1 waits: sync.(*WaitGroup).Wait  main.main x/main.go:55\n"
		    "      goroutine 18 waits: chan send  main.(*node).Status x/node.go:26\n");
	expect_not(out, "goroutine 2 waits");
	expect_not(out, "runtime.exit");
	free(out);
	out = ended(2, "panic: send on closed channel\n\ngoroutine 7 [running]:\n"
		       "main.(*node).do(...)\n\t/src/x/node.go:9\n");
	expect(out, "goroutine 7 runs  main.(*node).do x/node.go:9\n");
	free(out);
	/* one that hangs was asked by zug */
	out = ended_as(ZUG_OUTCOME_TIMEOUT, 0, "own words\nSIGQUIT: quit\nPC=0x463ac1 m=0 sigcode=0\n\ngoroutine 1 [chan receive]:\n"
		       "runtime.gopark()\n\t/usr/lib/go-1.19/src/runtime/proc.go:363 +0xd6 fp=0xc00\n"
		       "main.main()\n\t/src/x/main.go:5 +0x1 fp=0xc000086f80 sp=0xc000086f50 pc=0x46710f\n\n"
		       "goroutine 9 [runnable]:\nmain.f()\n\t/src/x/main.go:7 +0x1\n\n"
		       "rax 0xca\nrbx 0x0\n");
	expect(out, "The goroutines, where the program was ended:\n"
		    "      goroutine 1 waits: chan receive  main.main x/main.go:5\n"
		    "      goroutine 9 could run  main.f x/main.go:7\n");
	expect(out, "standard error\n    own words\n");
	expect_not(out, "rax");
	free(out);
	/* what was asked for by a program that goes on (debug.Stack()) */
	out = ended(1, "goroutine 7 [running]:\nmain.f()\n\t/src/x/node.go:9\n");
	expect_not(out, "where the program ends");
	expect(out, "runtime.exit");
	free(out);
}

/* Of a long output the last lines are shown, each as a whole. */
static void the_end_of_the_output_is_whole(void **state)
{
	char err[400] = "", *out;

	for (int i = 1; i <= 20; i++)
		sprintf(err + strlen(err), "line %d\n", i);
	out = ended(1, err);
	expect(out, "standard error, end\n    line 9\n    line 10\n");
	expect_not(out, "line 8\n");
	free(out);
	out = ended(1, "one\ntwo\n");
	expect(out, "standard error\n    one\n    two\n");
	free(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signals_have_a_place),
		cmocka_unit_test(a_livelock_shows_its_round),
		cmocka_unit_test(time_outs_that_end_are_named),
		cmocka_unit_test(a_signal_for_another_task_is_named),
		cmocka_unit_test(a_livelock_names_the_last_change), cmocka_unit_test(a_copied_lock_names_its_holder),
		cmocka_unit_test(a_timeout_shows_its_loops),
		cmocka_unit_test(a_timeout_without_a_loop),
		cmocka_unit_test(what_matters_meanwhile),
		cmocka_unit_test(what_says_little_meanwhile),
		cmocka_unit_test(of_many_the_own_ones_are_told),
		cmocka_unit_test(what_comes_of_steps_meanwhile),
		cmocka_unit_test(a_task_may_wait_for_itself),
		cmocka_unit_test(the_last_step_is_told_once),
		cmocka_unit_test(what_fails_in_any_order_is_told),
		cmocka_unit_test(copies_are_told_by_what_is_shared),
		cmocka_unit_test(goroutines_are_told),
		cmocka_unit_test(the_end_of_the_output_is_whole),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
