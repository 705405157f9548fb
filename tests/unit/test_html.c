// SPDX-License-Identifier: GPL-2.0-only
/* test_html.c - the waits and arrows of a trace, its page and its trace events */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <fcntl.h>
#include <getopt.h>
#include <json-c/json.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "report/causality.h"
#include "sample_trace.h"

static char dir[] = "/tmp/zug-test-html-XXXXXX";
static char deadlock[64], busy[64], out[64];

static int set_up(void **state)
{
	if (!mkdtemp(dir))
		return -1;
	snprintf(deadlock, sizeof(deadlock), "%s/deadlock.zug", dir);
	snprintf(busy, sizeof(busy), "%s/busy.zug", dir);
	snprintf(out, sizeof(out), "%s/out", dir);
	sample_deadlock(deadlock, dir);
	sample_busy(busy, dir, 20000);
	return 0;
}

static int tear_down(void **state)
{
	char cmd[100];

	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	return system(cmd);
}

/* Runs "zug show ARGS"; its standard error is in the file "said". */
static void show(int want, ...)
{
	char *argv[16] = { (char *)"show" }, said[80];
	int argc = 1, status;
	va_list ap;
	pid_t pid;

	snprintf(said, sizeof(said), "%s/said", dir);
	va_start(ap, want);
	while ((argv[argc] = va_arg(ap, char *)))
		argc++;
	va_end(ap);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		int fd = open(said, O_WRONLY | O_CREAT | O_TRUNC, 0644);

		dup2(fd, 2);
		optind = 0;
		status = cmd_show(argc, argv);
		fflush(stdout);
		_exit(status);
	}
	waitpid(pid, &status, 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), want);
}

static char *slurp(const char *path)
{
	FILE *f = fopen(path, "r");
	struct stat st;
	char *text;

	assert_non_null(f);
	assert_int_equal(fstat(fileno(f), &st), 0);
	text = calloc(1, st.st_size + 1);
	assert_int_equal(fread(text, 1, st.st_size, f), st.st_size);
	fclose(f);
	return text;
}

static void expect_said(const char *want)
{
	char path[80], *said;

	snprintf(path, sizeof(path), "%s/said", dir);
	said = slurp(path);
	if (!strstr(said, want))
		print_message("no '%s' in: %s\n", want, said);
	assert_non_null(strstr(said, want));
	free(said);
}

static struct json_object *get(struct json_object *o, const char *name)
{
	struct json_object *v;

	if (!json_object_object_get_ex(o, name, &v)) {
		print_message("no %s\n", name);
		fail();
	}
	return v;
}

static int at(struct json_object *array, size_t i)
{
	assert_true(i < json_object_array_length(array));
	return json_object_get_int(json_object_array_get_idx(array, i));
}

/* Reads the data as the page's script does. */
static struct json_object *page_data(const char *html)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *p = strstr(html, "id=\"data\">"), *end;
	unsigned char *packed, *text;
	unsigned int bits = 0, nr = 0;
	uLongf len = 0, size = 64 << 20;
	struct json_object *o;

	assert_non_null(p);
	p += strlen("id=\"data\">");
	end = strchr(p, '<');
	packed = malloc(end - p);
	text = calloc(1, size);
	assert_true(packed && text);
	for (; p < end && *p != '='; p++) {
		if (*p == '\n')
			continue;
		assert_non_null(strchr(digits, *p));
		bits = bits << 6 | (unsigned int)(strchr(digits, *p) - digits);
		nr += 6;
		if (nr >= 8) {
			nr -= 8;
			packed[len++] = bits >> nr;
		}
	}
	assert_int_equal(uncompress(text, &size, packed, len), Z_OK);
	o = json_tokener_parse((char *)text);
	assert_non_null(o);
	free(packed);
	free(text);
	return o;
}

/* ---- causality ---- */

static void who_waits_for_what(void **state)
{
	char err[200];
	struct trace *t = trace_open(deadlock, err, sizeof(err));
	struct causality f;

	assert_non_null(t);
	assert_int_equal(causality_init(&f, t), 0);
	assert_int_equal(f.nr_waits, 3);
	/* T0 joins from step 4 on */
	assert_int_equal(f.waits[0].task, 0);
	assert_int_equal(f.waits[0].from, 4);
	assert_int_equal(f.waits[0].to, 10);
	assert_string_equal(f.waits[0].text, "join T1");
	assert_int_equal(f.waits[0].holder, TRACE_NO_TASK);
	/* T1 blocks after the last step, for b, and T2 since step 9, for a: each holds the other's lock */
	assert_int_equal(f.waits[1].task, 1);
	assert_int_equal(f.waits[1].from, 10);
	assert_int_equal(f.waits[1].to, 10);
	assert_int_equal(f.waits[1].holder, 2);
	assert_int_equal(f.waits[2].task, 2);
	assert_int_equal(f.waits[2].from, 9);
	assert_int_equal(f.waits[2].holder, 1);
	assert_int_equal(f.waits[2].object, trace_step(t, 8)->label.object);
	/* nothing was ever released */
	assert_int_equal(f.nr_arrows, 0);
	causality_release(&f);
	trace_free(t);
}

static void causality_of_a_busy_trace(void **state)
{
	char err[200];
	struct trace *t = trace_open(busy, err, sizeof(err));
	size_t kinds[4] = { 0 };
	struct causality f;

	assert_non_null(t);
	assert_int_equal(causality_init(&f, t), 0);
	assert_true(f.nr_waits > 100);
	for (size_t i = 0; i < f.nr_waits; i++) {
		const struct causality_wait *w = &f.waits[i];

		assert_true(w->from <= w->to && w->to <= 20000);
		/* a task has one wait at a time, and no step in it */
		if (i && w[-1].task == w->task)
			assert_true(w[-1].to <= w->from);
		for (uint64_t k = w->from; k < w->to; k++)
			assert_int_not_equal(trace_step(t, k)->task, w->task);
	}
	for (size_t i = 0; i < f.nr_arrows; i++) {
		const struct causality_arrow *a = &f.arrows[i];
		const struct trace_step *from = trace_step(t, a->from), *to = trace_step(t, a->to);

		assert_true(a->from < a->to && a->to < 20000);
		assert_true(!i || a[-1].to <= a->to);
		assert_int_not_equal(from->task, to->task);
		kinds[a->kind]++;
		if (a->kind == CAUSALITY_SYNC) {
			assert_int_equal(from->label.op, ZUG_OP_UNLOCK);
			assert_int_equal(from->label.object, to->label.object);
		} else if (a->kind == CAUSALITY_DATA) {
			assert_true(zug_label_dependent(&from->label, &to->label));
		}
	}
	assert_true(kinds[CAUSALITY_WAKE] && kinds[CAUSALITY_SYNC] && kinds[CAUSALITY_DATA]);
	causality_release(&f);
	trace_free(t);
}

/* ---- the page ---- */

static void a_page(void **state)
{
	struct json_object *o, *steps, *labels, *strings, *files, *excerpt;
	char *html, source[80];

	show(ZUG_EXIT_PASS, "--html", "-o", out, deadlock, NULL);
	html = slurp(out);
	assert_non_null(strstr(html, "<title>deadlock - ./abba</title>"));
	/* the failure is shown without scripts, too */
	assert_non_null(strstr(html, "<h1 id=\"words\">deadlock: T0 waits in join; T1 waits in lock for b, held by T2"));
	assert_non_null(strstr(html, "Content-Security-Policy"));
	assert_null(strstr(html, "http://"));
	assert_null(strstr(html, "https://"));
	assert_null(strstr(html, "<!--zug:"));
	o = page_data(html);
	assert_string_equal(json_object_get_string(get(o, "command")), "./abba 'two words'");
	assert_string_equal(json_object_get_string(get(get(o, "outcome"), "cycle")),
			    "T1 waits for b, held by T2; T2 waits for a, held by T1");
	steps = get(o, "steps");
	assert_int_equal(json_object_array_length(get(steps, "task")), 10);
	assert_int_equal(at(get(steps, "task"), 6), 2);
	assert_int_equal(at(get(steps, "flags"), 6), TRACE_STEP_PREEMPTION);
	labels = get(o, "labels");
	strings = get(o, "strings");
	assert_string_equal(json_object_get_string(json_object_array_get_idx(strings,
		at(json_object_array_get_idx(labels, at(get(steps, "label"), 5)), 0))), "lock");
	files = json_object_array_get_idx(get(o, "files"), 0);
	assert_string_equal(json_object_get_string(json_object_array_get_idx(files, 0)), "abba.c");
	excerpt = json_object_array_get_idx(files, 2);
	assert_string_equal(json_object_get_string(get(excerpt, "3")), "    lock(&b);");
	/* control characters of a source are made visible */
	assert_string_equal(json_object_get_string(get(excerpt, "5")), "    lock(&b); \\x1b[2J");
	assert_int_equal(json_object_get_int(json_object_array_get_idx(files, 3)), 0);
	json_object_put(o);
	free(html);
	/* the source was changed after the trace */
	snprintf(source, sizeof(source), "%s/abba.c", dir);
	assert_int_equal(utimes(source, (struct timeval[2]){ { 4000000000, 0 }, { 4000000000, 0 } }), 0);
	show(ZUG_EXIT_PASS, "--html", "-o", out, deadlock, NULL);
	html = slurp(out);
	o = page_data(html);
	files = json_object_array_get_idx(get(o, "files"), 0);
	assert_int_equal(json_object_get_int(json_object_array_get_idx(files, 3)), 1);
	json_object_put(o);
	free(html);
}

/* What the page tells of the order that decides; an update that another came into has no passing order. */
static void what_decides(void **state)
{
	struct trace_minimized m = { .executions = 9, .minimal = true, .near = 4, .critical = {
		.known = true, .first_task = 2, .first_step = 7, .second_task = 1, .second_step = 9 } };
	char path[80], err[256], *html;
	struct json_object *o, *c;
	struct trace_writer *w;
	struct trace *t = trace_open(deadlock, err, sizeof(err));
	int ret;

	(void)state;
	assert_non_null(t);
	m.critical.first = trace_step(t, 7)->label;
	m.critical.second = trace_step(t, 9)->label;
	snprintf(path, sizeof(path), "%s/decides.zug", dir);
	for (int torn = 0; torn < 2; torn++) {
		m.critical.known = !torn;
		m.critical.torn = torn;
		w = trace_copy(t, path, &ret);
		assert_non_null(w);
		trace_add_minimized(w, &m);
		assert_int_equal(trace_close(w, false), 0);
		show(ZUG_EXIT_PASS, "--html", "-o", out, path, NULL);
		html = slurp(out);
		o = page_data(html);
		c = get(o, "critical");
		assert_int_equal(json_object_array_length(c), 3);
		assert_int_equal(json_object_is_type(json_object_array_get_idx(c, 0), json_type_null), torn);
		assert_int_equal(at(json_object_array_get_idx(c, 1), 0), 2);
		assert_int_equal(at(json_object_array_get_idx(c, 2), 1), 9);
		json_object_put(o);
		free(html);
	}
	trace_free(t);
}

static void numbers_point_into_tables(void **state)
{
	struct json_object *o, *steps, *sets, *a;
	size_t nr_labels, nr_strings, nr_sites, nr_objects;
	char *html;

	show(ZUG_EXIT_PASS, "--html", "--output", out, busy, NULL);
	html = slurp(out);
	assert_true(strlen(html) < 1000000);
	o = page_data(html);
	steps = get(o, "steps");
	sets = get(o, "sets");
	nr_labels = json_object_array_length(get(o, "labels"));
	nr_strings = json_object_array_length(get(o, "strings"));
	nr_sites = json_object_array_length(get(o, "sites"));
	nr_objects = json_object_array_length(get(o, "objects"));
	assert_int_equal(json_object_array_length(get(steps, "task")), 20000);
	for (size_t i = 0; i < 20000; i++) {
		struct json_object *set;
		bool enabled = false;

		assert_true(at(get(steps, "label"), i) < (int)nr_labels);
		assert_true(at(get(steps, "set"), i) < (int)json_object_array_length(sets));
		set = json_object_array_get_idx(sets, at(get(steps, "set"), i));
		for (size_t k = 0; k < json_object_array_length(set); k++)
			enabled |= at(set, k) == at(get(steps, "task"), i);
		assert_true(enabled);
	}
	for (size_t i = 0; i < nr_labels; i++) {
		a = json_object_array_get_idx(get(o, "labels"), i);
		assert_true(at(a, 0) < (int)nr_strings && at(a, 2) < (int)nr_objects && at(a, 4) < (int)nr_sites);
	}
	for (size_t i = 0; i < nr_sites; i++) {
		a = json_object_array_get_idx(get(o, "sites"), i);
		for (size_t k = 1; k < json_object_array_length(a); k++)
			assert_true(at(a, k) < (int)json_object_array_length(get(o, "frames")));
	}
	/* server.c does not exist: the page has the path that was tried */
	a = json_object_array_get_idx(get(o, "files"), 1);
	assert_null(json_object_array_get_idx(a, 2));
	assert_non_null(strstr(json_object_get_string(json_object_array_get_idx(a, 1)), "/server.c"));
	json_object_put(o);
	free(html);
}

static void a_window_of_steps(void **state)
{
	struct json_object *o;
	char *html;

	show(ZUG_EXIT_PASS, "--html", "--steps=100..199", "-o", out, busy, NULL);
	html = slurp(out);
	o = page_data(html);
	assert_int_equal(json_object_get_int(get(o, "first")), 100);
	assert_int_equal(json_object_get_int(get(o, "total")), 20000);
	assert_int_equal(json_object_array_length(get(get(o, "steps"), "task")), 100);
	for (size_t i = 0; i < json_object_array_length(get(o, "arrows")); i += 3) {
		assert_true(at(get(o, "arrows"), i) < at(get(o, "arrows"), i + 1));
		assert_true(at(get(o, "arrows"), i + 1) < 100);
	}
	json_object_put(o);
	free(html);
}

/* Names come from the program, and may contain markup. */
static void markup_in_names_is_text(void **state)
{
	const struct trace_header h = {
		.argv = (char *[]){ "</title><script>alert(1)</script>", NULL }, .cwd = "/", .envp = (char *[]){ NULL },
		.kernel = "", .zug_version = "", .strategy = "</script>", .seed = 1, .execution = 1, .options = "",
	};
	char path[80], *html;
	int err;
	struct trace_writer *w;

	snprintf(path, sizeof(path), "%s/markup.zug", dir);
	w = trace_create(path, &h, &err);
	assert_non_null(w);
	trace_add_task(w, &(struct trace_task){ 0, TRACE_NO_TASK, 0, 1, 0, "</script>" });
	trace_add_outcome(w, &(struct trace_outcome){ .kind = ZUG_OUTCOME_ABORT, .message = "<img src=x onerror=alert(1)>\xff" });
	assert_int_equal(trace_close(w, false), 0);
	show(ZUG_EXIT_PASS, "--html", "-o", out, path, NULL);
	html = slurp(out);
	assert_null(strstr(html, "<img"));
	assert_null(strstr(html, "alert(1)</script>"));
	assert_non_null(strstr(html, "&lt;img src=x"));
	json_object_put(page_data(html));
	free(html);
	/* a trace without steps has trace events, too */
	show(ZUG_EXIT_PASS, "--perfetto", "-o", out, path, NULL);
}

/* ---- trace events ---- */

static struct json_object *events(const char *trace, char **text)
{
	struct json_object *o;

	show(ZUG_EXIT_PASS, "--perfetto", "-o", out, trace, NULL);
	*text = slurp(out);
	o = json_tokener_parse(*text);
	assert_non_null(o);
	return o;
}

static void trace_events(void **state)
{
	struct json_object *o, *list, *e;
	size_t slices = 0, waits = 0, instants = 0, begun = 0, ended = 0;
	int64_t last = 0, busy_until[64] = { 0 };
	bool *open = calloc(1000000, sizeof(*open));
	char *text;

	o = events(busy, &text);
	list = get(o, "traceEvents");
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		const char *phase;
		int64_t ts;
		int id, track;

		e = json_object_array_get_idx(list, i);
		phase = json_object_get_string(get(e, "ph"));
		if (*phase == 'M')
			continue;
		ts = json_object_get_int64(get(e, "ts"));
		track = json_object_get_int(get(e, "tid")) - 1000;
		assert_in_range(track, 0, 11);
		assert_int_equal(json_object_get_int(get(e, "pid")), 1000 + track / 4 * 4);
		/* events are in the order of time */
		assert_true(ts >= last);
		last = ts;
		switch (*phase) {
		case 'X':
			/* slices of one track follow each other */
			assert_true(busy_until[track] <= ts);
			busy_until[track] = ts + json_object_get_int64(get(e, "dur"));
			if (strcmp(json_object_get_string(get(e, "cat")), "wait"))
				slices++;
			else
				waits++;
			break;
		case 'i':
			instants++;
			break;
		case 's':
			id = json_object_get_int(get(e, "id"));
			assert_false(open[id]);
			open[id] = true;
			begun++;
			break;
		case 'f':
			id = json_object_get_int(get(e, "id"));
			assert_true(open[id]);
			open[id] = false;
			ended++;
			break;
		default:
			fail_msg("phase %s", phase);
		}
	}
	assert_int_equal(slices, 20000);
	assert_true(waits > 100 && instants > 100 && begun > 100);
	assert_int_equal(begun, ended);
	json_object_put(o);
	free(text);
	free(open);
}

static void trace_events_of_a_deadlock(void **state)
{
	struct json_object *o;
	char *text;

	o = events(deadlock, &text);
	assert_non_null(strstr(text, "\"name\":\"T1 abba\""));
	assert_non_null(strstr(text, "\"name\":\"preemption: T1 could go on, T2 gets the turn\""));
	assert_non_null(strstr(text, "\"name\":\"waits for b\",\"dur\":1,\"args\":{\"held by\":\"T2\"}"));
	assert_non_null(strstr(text, "\"name\":\"lock a\",\"dur\":1,\"args\":{\"step\":5,\"at\":\"a_then_b abba.c:2\",\"could run\":\"T1 T2\"}"));
	assert_string_equal(json_object_get_string(get(get(o, "otherData"), "time")), "1 microsecond is 1 step");
	json_object_put(o);
	free(text);
}

/* ---- bad input ---- */

static void what_cannot_be(void **state)
{
	char path[80], foreign[80], *text;
	struct stat st;
	FILE *f;

	snprintf(foreign, sizeof(foreign), "%s/foreign", dir);
	f = fopen(foreign, "w");
	fputs("<html>", f);
	fclose(f);
	unlink(out);
	show(ZUG_EXIT_USAGE, "--html", "-o", out, foreign, NULL);
	expect_said("not a zugzwang trace");
	/* no output was begun */
	assert_int_not_equal(stat(out, &st), 0);
	show(ZUG_EXIT_USAGE, "--html", "--task=T1", deadlock, NULL);
	expect_said("--html cannot be combined with --task");
	show(ZUG_EXIT_USAGE, "--perfetto", "--object=a", deadlock, NULL);
	expect_said("--perfetto cannot be combined with --object");
	show(ZUG_EXIT_USAGE, "--html", "--json", deadlock, NULL);
	expect_said("--json cannot be combined with --html");
	show(ZUG_EXIT_USAGE, "--html", "-o", "", deadlock, NULL);
	expect_said("--output : not the name of a file");
	snprintf(path, sizeof(path), "%s/none/page.html", dir);
	show(ZUG_EXIT_ENVIRONMENT, "--html", "-o", path, deadlock, NULL);
	expect_said("none/page.html: No such file or directory");
	show(ZUG_EXIT_ENVIRONMENT, "--html", "-o", "/dev/full", busy, NULL);
	expect_said("/dev/full: No space left on device");
	show(ZUG_EXIT_ENVIRONMENT, "--perfetto", "-o", "/dev/full", deadlock, NULL);
	expect_said("/dev/full: No space left on device");
	/* --output is for the table, too */
	show(ZUG_EXIT_PASS, "-o", out, deadlock, NULL);
	text = slurp(out);
	assert_non_null(strstr(text, "---- preemption: T1 could go on, T2 gets the turn"));
	free(text);
}

/* A page is not written to a terminal, but to a file, whose name is printed. */
static void to_a_terminal(void **state)
{
	char said[200] = "", page[80], *html, *const argv[] = { (char *)"show", (char *)"--html", deadlock, NULL };
	int master, status;
	pid_t pid = forkpty(&master, NULL, NULL, NULL);

	assert_true(pid >= 0);
	if (!pid) {
		if (chdir(dir))
			_exit(99);
		optind = 0;
		status = cmd_show(3, (char **)argv);
		fflush(stdout);
		_exit(status);
	}
	for (size_t at = 0; at < sizeof(said) - 1;) {
		ssize_t n = read(master, said + at, sizeof(said) - 1 - at);

		if (n <= 0)
			break;
		at += n;
	}
	waitpid(pid, &status, 0);
	close(master);
	assert_int_equal(status, 0);
	assert_string_equal(said, "written to deadlock.zug.html\r\n");
	snprintf(page, sizeof(page), "%s/deadlock.zug.html", dir);
	html = slurp(page);
	assert_non_null(strstr(html, "</html>"));
	free(html);
}

/* A trace that is cut off gives a page of its steps; a damaged one gives none. */
static void cut_off_and_damaged(void **state)
{
	char path[80], *bytes, *html;
	struct json_object *o;
	struct stat st;
	FILE *f;

	snprintf(path, sizeof(path), "%s/broken.zug", dir);
	/* the trace has several compressed frames: the last one is removed */
	sample_busy(path, dir, 100000);
	assert_int_equal(stat(path, &st), 0);
	bytes = slurp(path);
	f = fopen(path, "w");
	fwrite(bytes, 1, st.st_size - 10, f);
	fclose(f);
	show(ZUG_EXIT_PASS, "--html", "-o", out, path, NULL);
	expect_said("cut off after");
	html = slurp(out);
	o = page_data(html);
	assert_true(json_object_get_boolean(get(o, "truncated")));
	assert_null(get(o, "outcome"));
	json_object_put(o);
	free(html);
	show(ZUG_EXIT_PASS, "--perfetto", "-o", out, path, NULL);
	bytes[st.st_size / 2] ^= 1;
	f = fopen(path, "w");
	fwrite(bytes, 1, st.st_size, f);
	fclose(f);
	show(ZUG_EXIT_USAGE, "--html", "-o", out, path, NULL);
	expect_said("damaged at byte");
	show(ZUG_EXIT_USAGE, "--perfetto", "-o", out, path, NULL);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_waits_for_what),
		cmocka_unit_test(causality_of_a_busy_trace),
		cmocka_unit_test(a_page),
		cmocka_unit_test(what_decides),
		cmocka_unit_test(numbers_point_into_tables),
		cmocka_unit_test(a_window_of_steps),
		cmocka_unit_test(markup_in_names_is_text),
		cmocka_unit_test(trace_events),
		cmocka_unit_test(trace_events_of_a_deadlock),
		cmocka_unit_test(what_cannot_be),
		cmocka_unit_test(to_a_terminal),
		cmocka_unit_test(cut_off_and_damaged),
	};

	return cmocka_run_group_tests_name("html", tests, set_up, tear_down);
}
