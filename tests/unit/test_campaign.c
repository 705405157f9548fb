/* SPDX-License-Identifier: GPL-2.0-only */
/* test_campaign.c - the data of a campaign: failures, data races, places, and what its ends mean */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "campaign/minimize.h"
#include "campaign/probe_places.h"
#include "campaign/race_book.h"
#include "campaign/result.h"
#include "campaign/session.h"
#include "campaign/step_bound.h"
#include "campaign/untried.h"
#include "cli/exit_codes.h"
#include "cli/points_text.h"
#include "lib/trace.h"
#include "sample_trace.h"

static struct execution failing(uint64_t failure, const char *message)
{
	struct execution x = { .outcome = { .kind = ZUG_OUTCOME_DEADLOCK, .failure = failure } };

	outcome_set(&x.outcome, ZUG_OUTCOME_DEADLOCK, "%s", message);
	x.outcome.failure = failure;
	return x;
}

static void failures_are_counted(void **state)
{
	struct failure_list l = { 0 };
	struct campaign_failure *f;
	struct execution x;
	bool new;

	for (uint64_t round = 0; round < 3; round++)
		for (uint64_t id = 1; id <= 100; id++) {
			x = failing(id, round ? "again" : "first");
			f = failures_note(&l, &x, 1000 * round + id, &new);
			assert_non_null(f);
			assert_int_equal(new, !round);
			assert_int_equal(f->times, round + 1);
			/* what was seen first stays */
			assert_int_equal(f->first, id);
			assert_string_equal(f->message, "first");
		}
	assert_int_equal(l.nr, 100);
	assert_int_equal(l.findings, 300);
	assert_ptr_equal(failures_find(&l, 50), &l.list[49]);
	assert_null(failures_find(&l, 101));
	failures_drop(&l, 101);
	failures_drop(&l, 50);
	assert_null(failures_find(&l, 50));
	assert_int_equal(l.nr, 99);
	assert_int_equal(l.findings, 297);
	failures_release(&l);
}

/* Two preemptions may take more than two delays. */
static void delays_are_no_preemptions(void **state)
{
	struct search_options o = { .strategy = "delay:bound=1", .preemptions = -1, .max_steps = 100 };
	struct search *s = search_new(&o, NULL, 0);
	struct search_stats st;

	assert_non_null(s);
	search_get_stats(s, &st);
	assert_true(st.delays);
	st.bound_done = 2;
	assert_int_equal(campaign_preemptions_done(&st), UINT32_MAX);
	st.delays = false;
	assert_int_equal(campaign_preemptions_done(&st), 2);
	search_free(s);
}

/* Nothing is known of a test before an execution has passed; then one that is ten times longer than these has no end. */
static void steps_follow(void **state)
{
	static const struct {
		uint64_t steps, bound;
	} passed[] = {
		{ 500, 100000 }, { 10000, 100000 }, { 9000, 100000 },
		{ 10001, 1000000 }, { 297007, 10000000 }, { 500, 10000000 },
	};
	struct search_options so = { .strategy = "random", .preemptions = -1, .max_steps = 100000 };
	struct search *s = search_new(&so, NULL, 0);
	struct step_bound b = { .least = 100000 };

	assert_non_null(s);
	assert_int_equal(step_bound(&b), 1000000);
	for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++) {
		step_bound_passed(&b, passed[i].steps);
		assert_int_equal(step_bound(&b), passed[i].bound);
		search_bound(s, step_bound(&b));
		assert_int_equal(search_steps_left(s), passed[i].bound);
	}
	search_free(s);
}

/* Where what was found is made simpler before it is told, a long execution is made as many times as a short one. */
static void long_ones_are_minimised(void **state)
{
	static const struct {
		unsigned int steps;
		uint64_t bound;
	} traces[] = { { 20, 50000 }, { 5000, 250000 } };
	char path[] = "/tmp/zug-campaign-XXXXXX", err[256];
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	for (size_t i = 0; i < sizeof(traces) / sizeof(traces[0]); i++) {
		struct minimize_limits limits;
		struct trace *t;

		sample_long(path, traces[i].steps);
		t = trace_open(path, err, sizeof(err));
		assert_non_null(t);
		limits = minimize_aside(t, 7);
		assert_true(limits.steps >= traces[i].bound && limits.steps < traces[i].bound + 1000);
		assert_true(limits.executions == 200 && limits.time_ns == 7);
		trace_free(t);
	}
	unlink(path);
}

static void add_point(struct point_table *t, const char *object, const char *place, const char *op,
		      uint64_t times, uint64_t since, const char *why)
{
	assert_int_equal(point_table_add(t, &(struct point_row){ object, place, op, times, since, why, 0 }), 0);
}

static void points_are_tabled(void **state)
{
	struct point_table t = { 0 };
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	/* one place in two instructions, and for two objects of one name */
	add_point(&t, "", "main (a.c:9)", "exit", 20, 1, NULL);
	add_point(&t, "sum", "add (a.c:3)", NULL, 0, 0, "never unordered");
	add_point(&t, "count", "add (a.c:4)", "data-read", 5, 4, NULL);
	add_point(&t, "count", "add (a.c:4)", "data-write", 5, 4, NULL);
	add_point(&t, "count", "add (a.c:4)", "data-read", 2, 3, NULL);
	add_point(&t, "sum", "add (a.c:3)", NULL, 0, 0, "never unordered");
	add_point(&t, "sum", "add (a.c:3)", NULL, 0, 0, "no access seen");
	add_point(&t, "count", "a place with a name that is far longer than its column is wide", NULL, 0, 0, "hot");
	/* a point while it was looked at; and one of two instructions of a line that is none */
	assert_int_equal(point_table_add(&t, &(struct point_row){ "sum", "add (a.c:5)", "data-write", 3, 2, NULL, 77 }), 0);
	assert_int_equal(point_table_add(&t, &(struct point_row){ "sum", "add (a.c:5)", NULL, 0, 0, "never unordered", 77 }), 0);
	assert_int_equal(point_table_add(&t, &(struct point_row){ "sum", "add (a.c:5)", "data-read", 4, 2, NULL, 78 }), 0);
	point_table_settle(&t);
	assert_int_equal(t.nr, 8);
	points_text(f, &t);
	fclose(f);
	assert_string_equal(text,
		"\n4 points, 4 that are none:\n"
		"  object  place                                             operation         times  since  no point, because\n"
		"  count   add (a.c:4)                                       data-read             7      3\n"
		"  count   add (a.c:4)                                       data-write            5      4\n"
		"  count   a place with a name that is far longer than its column is wide  -                     -      -  hot\n"
		"  sum     add (a.c:5)                                       data-read             4      2\n"
		"  sum     add (a.c:3)                                       -                     -      -  never unordered\n"
		"  sum     add (a.c:3)                                       -                     -      -  no access seen\n"
		"  sum     add (a.c:5)                                       data-write            3      2  never unordered\n"
		"  -       main (a.c:9)                                      exit                 20      1\n");
	free(text);
	point_table_release(&t);
	assert_int_equal(t.nr, 0);
}

static void races_are_known(void **state)
{
	char *known[] = { (char *)"ff", (char *)"1a", NULL };
	char *suppressions[] = { (char *)"a*", (char *)"b*", NULL };
	struct race_book b;
	char **list;

	assert_int_equal(race_book_init(&b, known, "1f", suppressions, true), 0);
	assert_true(b.fail);
	assert_int_equal(b.only, 0x1f);
	assert_false(b.used[0] || b.used[1]);
	assert_true(race_book_knows(&b, 0xff));
	assert_true(race_book_knows(&b, 0x1a));
	assert_false(race_book_knows(&b, 1));
	race_book_know(&b, 1);
	race_book_know(&b, 0xff);
	list = race_book_list(&b);
	assert_non_null(list);
	/* in the order in which they became known, each once */
	assert_string_equal(list[0], "ff");
	assert_string_equal(list[1], "1a");
	assert_string_equal(list[2], "1");
	assert_null(list[3]);
	assert_false(race_book_is_counter(&b, 1));
	race_book_add_counter(&b, 1);
	race_book_add_counter(&b, 1);
	assert_true(race_book_is_counter(&b, 1));
	assert_int_equal(b.nr_counters, 1);
	for (int i = 0; list[i]; i++)
		free(list[i]);
	free(list);
	race_book_release(&b);
}

static void places_have_names(void **state)
{
	struct place_list l = { 0 };
	uint64_t offset;

	assert_int_equal(place_list_add(&l, "/usr/lib/libstdc++.so", 0x1234), 0);
	assert_int_equal(place_list_add(&l, "/bin/x", 0), 0);
	assert_string_equal(l.list[0], "/usr/lib/libstdc++.so+0x1234");
	assert_null(l.list[2]);
	/* the last '+' is the one before the offset */
	assert_int_equal(probe_place_parse(l.list[0], &offset), strlen("/usr/lib/libstdc++.so"));
	assert_int_equal(offset, 0x1234);
	assert_int_equal(probe_place_parse(l.list[1], &offset), strlen("/bin/x"));
	assert_int_equal(offset, 0);
	assert_int_equal(probe_place_parse("no place", &offset), 0);
	place_list_release(&l);
}

static void ends_have_statuses(void **state)
{
	assert_int_equal(exit_of_campaign(CAMPAIGN_PASSED), ZUG_EXIT_PASS);
	assert_int_equal(exit_of_campaign(CAMPAIGN_FAILED), ZUG_EXIT_FINDING);
	assert_int_equal(exit_of_campaign(CAMPAIGN_INCOMPLETE), ZUG_EXIT_INCOMPLETE);
	assert_int_equal(exit_of_campaign(CAMPAIGN_MISFIT), ZUG_EXIT_SCRIPT);
	assert_int_equal(exit_of_campaign(-EINVAL), ZUG_EXIT_USAGE);
	assert_int_equal(exit_of_campaign(-ENOMEM), ZUG_EXIT_INTERNAL);
	assert_int_equal(exit_of_campaign(-ENOTRECOVERABLE), ZUG_EXIT_INTERNAL);
	assert_int_equal(exit_of_campaign(-EIO), ZUG_EXIT_ENVIRONMENT);
	assert_int_equal(exit_of_campaign(-EACCES), ZUG_EXIT_ENVIRONMENT);
}

/* What is told after these steps: "timeouts", "signals", "stores" in that order. */
struct did {
	uint32_t task;
	unsigned int op;
	uint64_t object;
};

static void assert_told_of(const struct did *steps, const struct campaign_options *o, bool early, bool conditions,
			   const char *want)
{
	static const char *const marks[][2] = { { "--timeouts explore", "timeouts " },
						{ "--faults eintr", "signals " },
						{ "weak memory", "stores " },
						{ "--point strtok", "strtok " },
						{ "--strategy lockstep", "lockstep " },
						{ "--faults spurious", "spurious " } };
	struct untried *u = calloc(1, sizeof(*u));
	char *text = NULL, got[64] = "";
	size_t len;
	FILE *to = open_memstream(&text, &len);

	assert_non_null(u);
	assert_non_null(to);
	untried_begin(u);
	u->early = early;
	u->conditions = conditions;
	u->keep[0] = "strtok";
	for (; steps->op; steps++)
		untried_step(u, steps->task, &(struct zug_label){ .op = steps->op,
			     .flags = zug_op_flags(steps->op), .object = steps->object }, true);
	untried_text(u, o, NULL, NULL, to);
	fclose(to);
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (strstr(text, marks[i][0]))
			strcat(got, marks[i][1]);
	assert_string_equal(got, want);
	free(text);
	free(u);
}

static void assert_told(const struct did *steps, const struct campaign_options *o, const char *want)
{
	assert_told_of(steps, o, false, false, want);
}

static void untried_is_told(void **state)
{
	struct campaign_options o = { 0 };

	assert_told((struct did[]){ { 0, ZUG_OP_LOCK, 1 }, { 0, ZUG_OP_SIGACTION, 0 }, { 0 } }, &o, "");
	assert_told((struct did[]){ { 0, ZUG_OP_COND_TIMEDWAIT, 1 }, { 0 } }, &o, "timeouts ");
	assert_told((struct did[]){ { 0, ZUG_OP_SIGACTION, 0 }, { 1, ZUG_OP_KILL, 0 }, { 0 } }, &o,
		    "signals ");
	/* the store buffers of two tasks */
	assert_told((struct did[]){ { 0, ZUG_OP_ATOMIC_STORE, 1 }, { 0, ZUG_OP_ATOMIC_LOAD, 2 },
				    { 1, ZUG_OP_ATOMIC_STORE, 2 }, { 1, ZUG_OP_ATOMIC_LOAD, 1 },
				    { 0 } }, &o, "stores ");
	assert_told((struct did[]){ { 0, ZUG_OP_DATA_WRITE, 1 }, { 1, ZUG_OP_DATA_WRITE, 2 },
				    { 0, ZUG_OP_DATA_WRITE, 3 }, { 1, ZUG_OP_DATA_READ, 1 },
				    { 0, ZUG_OP_DATA_READ, 2 }, { 0 } }, &o, "stores ");
	/* a barrier; a lock; one's own store; one task; a message, which x86 keeps in order */
	assert_told((struct did[]){ { 0, ZUG_OP_ATOMIC_STORE, 1 }, { 0, ZUG_OP_FENCE, 0 },
				    { 0, ZUG_OP_ATOMIC_LOAD, 2 }, { 1, ZUG_OP_ATOMIC_STORE, 2 },
				    { 1, ZUG_OP_ATOMIC_LOAD, 1 }, { 0 } }, &o, "");
	assert_told((struct did[]){ { 0, ZUG_OP_DATA_WRITE, 1 }, { 0, ZUG_OP_UNLOCK, 9 },
				    { 0, ZUG_OP_DATA_READ, 2 }, { 1, ZUG_OP_DATA_WRITE, 2 },
				    { 1, ZUG_OP_ATOMIC_RMW, 3 }, { 1, ZUG_OP_DATA_READ, 1 },
				    { 0 } }, &o, "");
	assert_told((struct did[]){ { 0, ZUG_OP_DATA_WRITE, 1 }, { 0, ZUG_OP_DATA_READ, 1 },
				    { 1, ZUG_OP_DATA_WRITE, 1 }, { 1, ZUG_OP_DATA_READ, 1 },
				    { 0 } }, &o, "");
	assert_told((struct did[]){ { 0, ZUG_OP_DATA_WRITE, 1 }, { 0, ZUG_OP_DATA_READ, 2 },
				    { 0, ZUG_OP_DATA_WRITE, 2 }, { 0, ZUG_OP_DATA_READ, 1 },
				    { 0 } }, &o, "");
	assert_told((struct did[]){ { 0, ZUG_OP_DATA_WRITE, 1 }, { 0, ZUG_OP_DATA_WRITE, 2 },
				    { 1, ZUG_OP_DATA_READ, 2 }, { 1, ZUG_OP_DATA_READ, 1 },
				    { 0 } }, &o, "");
	/* two tasks that try, and let the other go on; one; they do not try */
	assert_told((struct did[]){ { 0, ZUG_OP_TRYLOCK, 1 }, { 0, ZUG_OP_YIELD, 0 }, { 1, ZUG_OP_YIELD, 0 },
				    { 1, ZUG_OP_SEM_TRYWAIT, 2 }, { 0 } }, &o, "lockstep ");
	assert_told((struct did[]){ { 0, ZUG_OP_TRYLOCK, 1 }, { 0, ZUG_OP_YIELD, 0 }, { 1, ZUG_OP_TRYLOCK, 1 }, { 0 } }, &o, "");
	assert_told((struct did[]){ { 0, ZUG_OP_YIELD, 0 }, { 1, ZUG_OP_YIELD, 0 }, { 0 } }, &o, "");
	o.search.strategy = "lockstep";
	assert_told((struct did[]){ { 0, ZUG_OP_TRYLOCK, 1 }, { 0, ZUG_OP_PAUSE, 0 }, { 1, ZUG_OP_PAUSE, 0 },
				    { 1, ZUG_OP_TRYLOCK, 2 }, { 0 } }, &o, "");
	o.search.strategy = NULL;
	/* a function that threads should not share, where there are threads */
	assert_told((struct did[]){ { 0, ZUG_OP_CREATE, 0 }, { 0 } }, &o, "strtok ");
	/* the race scan sees its calls */
	o.points.races = true;
	assert_told((struct did[]){ { 0, ZUG_OP_CREATE, 0 }, { 0 } }, &o, "");
	o.points.races = false;
	o.points.places = (char *[]){ "strtok", NULL };
	assert_told((struct did[]){ { 0, ZUG_OP_CREATE, 0 }, { 0 } }, &o, "");
	/* what is tried is not told */
	o.inputs.faults = 1u << FAULT_EINTR;
	assert_told_of((struct did[]){ { 0, ZUG_OP_SLEEP, 0 }, { 0, ZUG_OP_SIGACTION, 0 },
				       { 1, ZUG_OP_KILL, 0 }, { 0 } }, &o, true, false, "");
	assert_told_of((struct did[]){ { 0, ZUG_OP_LOCK, 1 }, { 0 } }, &o, false, true, "spurious ");
	o.inputs.faults |= 1u << FAULT_SPURIOUS;
	assert_told_of((struct did[]){ { 0, ZUG_OP_LOCK, 1 }, { 0 } }, &o, false, true, "");
}

/* The execution that notes which lines call a library's code is written into the trace; what was found out before stays. */
static void callers_keep_what_decides(void **state)
{
	char dir[] = "/tmp/zug-callers-XXXXXX", found[64], callers[64], with[64], err[256];
	const struct trace_pair pair = { .step = 7, .after_step = 9, .preempted = 2, .by = 1 };
	const struct trace_minimized *m;
	struct trace_writer *w;
	struct trace *t, *told;
	int ret;

	assert_non_null(mkdtemp(dir));
	snprintf(found, sizeof(found), "%s/found.zug", dir);
	snprintf(callers, sizeof(callers), "%s/callers.zug", dir);
	snprintf(with, sizeof(with), "%s/with.zug", dir);
	sample_deadlock(callers, dir);
	t = trace_open(callers, err, sizeof(err));
	assert_non_null(t);
	w = trace_copy(t, found, &ret);
	assert_non_null(w);
	trace_add_minimized(w, &(struct trace_minimized){
		.executions = 9, .minimal = true, .near = 4, .nr_pairs = 1, .pairs = &pair,
		.critical = { .known = true, .alone = true, .first_task = 2, .first_step = 7, .second_task = 1,
			      .second_step = 9, .first = trace_step(t, 7)->label, .second = trace_step(t, 9)->label } });
	assert_int_equal(trace_close(w, false), 0);
	/* the same steps, with a caller */
	w = trace_create(callers, trace_header(t), &ret);
	assert_non_null(w);
	for (uint64_t i = 0; i < trace_nr_steps(t); i++) {
		if (i == 7)
			trace_add_note(w, &(struct trace_note){ .kind = TRACE_NOTE_CALLER, .task = 2, .arg = 5,
								.text = "push\tqueue.h" });
		trace_add_step(w, trace_step(t, i));
	}
	assert_int_equal(trace_close(w, false), 0);
	trace_free(t);

	t = trace_open(found, err, sizeof(err));
	told = trace_open(callers, err, sizeof(err));
	assert_non_null(t);
	assert_non_null(told);
	assert_int_equal(trace_write_callers(t, told, with), 0);
	trace_free(t);
	trace_free(told);
	t = trace_open(with, err, sizeof(err));
	assert_non_null(t);
	m = trace_minimized(t);
	assert_non_null(m);
	assert_true(m->critical.known && m->critical.alone && m->critical.first_step == 7 && m->critical.second_step == 9);
	assert_int_equal(m->critical.second.op, trace_step(t, 9)->label.op);
	assert_true(m->executions == 9 && m->minimal && m->near == 4 && m->nr_pairs == 1 && m->pairs[0].after_step == 9);
	ret = 0;
	for (uint32_t k = 0; k < trace_nr_notes(t, 7); k++)
		ret += trace_note_at(t, 7, k)->kind == TRACE_NOTE_CALLER;
	assert_int_equal(ret, 1);
	trace_free(t);
	unlink(found);
	unlink(callers);
	unlink(with);
	snprintf(with, sizeof(with), "%s/abba.c", dir);
	unlink(with);
	rmdir(dir);
}

/* Templates, one after another, that end after so many executions each: how many are made until no more are. */
static int templates_made(const uint64_t *lives, int nr)
{
	struct session_template t = { 0 };

	for (int i = 0; i < nr; i++) {
		t.lives = lives[i];
		if (session_template_ended(&t))
			return i + 1;
	}
	return 0;
}

/* Behind how many executions that leave the points alone a template is made, where the last one took so many of them. */
static int rests_behind(uint64_t executions)
{
	struct session_template t = { .exec_ns = 1000, .made_ns = executions * 1000 + 500 };

	while (!session_template_points_rest(&t))
		t.same++;
	return t.same;
}

/* A program whose points change every few executions is not stopped at each of its calls for a template that will not last. */
static void templates_wait_for_points(void **state)
{
	assert_true(session_template_points_rest(&(struct session_template){ .same = 1 }));
	assert_false(session_template_points_rest(&(struct session_template){ .same = 0 }));
	/* no point comes before it: the first one is made at once, and the next ones are not */
	assert_true(session_template_points_rest(&(struct session_template){ .quiet = true }));
	assert_false(session_template_points_rest(&(struct session_template){ .quiet = true, .made_ns = 1000, .exec_ns = 1000 }));
	assert_int_equal(rests_behind(0), 1);
	assert_int_equal(rests_behind(3), 3);
	assert_int_equal(rests_behind(100), TEMPLATE_WORTH);
}

/* What ends templates again and again costs a start of the program each time: it is no reason to make them without end. */
static void templates_end(void **state)
{
	/* one copy and the failure that ends it, each time */
	assert_int_equal(templates_made((uint64_t[]){ 2, 2, 2, 2, 2, 2 }, 6), 4);
	assert_int_equal(templates_made((uint64_t[]){ 7, 2, 7, 3, 2, 2 }, 6), 4);
	/* the first execution of each */
	assert_int_equal(templates_made((uint64_t[]){ 1, 1, 1 }, 3), 2);
	assert_int_equal(templates_made((uint64_t[]){ 100, 1, 1 }, 3), 2);
	/* those that were worth it */
	assert_int_equal(templates_made((uint64_t[]){ 8, 8, 8, 8, 8, 8 }, 6), 0);
	assert_int_equal(templates_made((uint64_t[]){ 2, 2, 2, 8, 2, 2, 2, 9, 3 }, 9), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(failures_are_counted),
		cmocka_unit_test(delays_are_no_preemptions),
		cmocka_unit_test(steps_follow),
		cmocka_unit_test(long_ones_are_minimised),
		cmocka_unit_test(points_are_tabled),
		cmocka_unit_test(races_are_known),
		cmocka_unit_test(places_have_names),
		cmocka_unit_test(ends_have_statuses),
		cmocka_unit_test(untried_is_told),
		cmocka_unit_test(callers_keep_what_decides),
		cmocka_unit_test(templates_wait_for_points),
		cmocka_unit_test(templates_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
