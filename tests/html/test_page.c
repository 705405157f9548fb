// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_page.c - the pages of zug show --html in a browser: their contents, keys, clicks and a hundred
 * thousand steps. Leaves pictures in build/html/ for inspection.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/trace.h"
#include "tests/unit/sample_trace.h"
#include "report/record.h"
#include "browser.h"

#define OUT "build/html"

static struct browser *b;

static void run(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static void run(const char *fmt, ...)
{
	char command[1000];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	if (system(command))
		fail_msg("%s failed", command);
}

/* Two strategies, a bound that is completed, a failure found again and again. */
static void write_record(const char *path)
{
	const struct record_head h = {
		.argv = (char *[]){ "./abba", "<b>", NULL }, .cwd = "/tmp", .strategy = "default", .seed = 3,
		.kernel = "6.18", .zug_version = "0.1.0", .executions = 2000,
	};
	char err[200];
	struct record *r;

	unlink(path);
	r = record_open(path, &h, err, sizeof(err));
	if (!r)
		fail_msg("%s", err);
	for (uint64_t n = 1; n <= 2000; n++) {
		const char *strategy = n % 3 ? "random" : "preemption";

		record_execution(r, &(struct record_execution){ .n = n, .ns = n * 25000000, .steps = n * 40,
			.schedules = n * 9 / 10, .distinct = 20 + n / 10, .bound = n / 700,
			.bound_done = n < 700 ? UINT32_MAX : n / 700 - 1, .new_probability = 20.0 / (20 + n),
			.estimate = NAN, .strategy = strategy, .preemptions = n % 4 });
		if (n % 500 == 0)
			record_finding(r, &(struct record_finding){ .n = n, .ns = n * 25000000, .failure = 7,
				.steps = 40, .preemptions = 2, .kind = "abort", .strategy = strategy,
				.message = "x.c:7: f: Assertion `<i>a</i>' failed.", .trace = "zug-out/x.1.trace" });
	}
	record_end(r, "the number of executions (--executions)", 2);
	if (record_close(r))
		fail_msg("%s: cannot be written", path);
}

static int set_up(void **state)
{
	char cwd[4096];

	if (mkdir(OUT, 0755) && access(OUT, W_OK))
		return -1;
	if (!getcwd(cwd, sizeof(cwd) - sizeof(OUT)))
		return -1;
	strcat(cwd, "/" OUT);
	sample_deadlock(OUT "/deadlock.zug", cwd);
	sample_busy(OUT "/busy.zug", cwd, 100000);
	run("build/zug show --html -o " OUT "/deadlock.html " OUT "/deadlock.zug");
	run("build/zug show --html -o " OUT "/busy.html " OUT "/busy.zug");
	write_record(OUT "/campaign.rec");
	run("build/zug show --html -o " OUT "/campaign.html " OUT "/campaign.rec");
	b = browser_start();
	return 0;
}

static int tear_down(void **state)
{
	browser_stop(b);
	return 0;
}

static void expect_is(const char *expression, const char *want)
{
	char *got = browser_eval(b, expression);

	if (strcmp(got, want))
		print_message("%s: %s, not %s\n", expression, got, want);
	assert_string_equal(got, want);
	free(got);
}

static void expect_part(const char *expression, const char *want)
{
	char *got = browser_eval(b, expression);

	if (!strstr(got, want))
		print_message("%s: no '%s' in %s\n", expression, want, got);
	assert_non_null(strstr(got, want));
	free(got);
}

static double value(const char *expression)
{
	char *got = browser_eval(b, expression);
	double v = strtod(got, NULL);

	free(got);
	return v;
}

/* After two frames all requested drawing is done. */
#define DRAWN "await new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)));"

static void settle(void)
{
	free(browser_eval(b, "(async () => { " DRAWN " })()"));
}

/* The position of a step in the window. */
static void at_step(unsigned int step, double *x, double *y)
{
	char expression[200];

	snprintf(expression, sizeof(expression), "zug.view.x(%u + 0.5) + zug.view.stage.getBoundingClientRect().left", step);
	*x = value(expression);
	snprintf(expression, sizeof(expression), "zug.view.y(zug.model.lane[%u]) + zug.view.laneHeight / 2 + "
		 "zug.view.stage.getBoundingClientRect().top", step);
	*y = value(expression);
}

static void quiet(void)
{
	assert_int_equal(browser_errors(b), 0);
	assert_int_equal(browser_requests(b), 0);
}

static void a_deadlock(void **state)
{
	double x, y;

	browser_dark(b, false);
	browser_open(b, OUT "/deadlock.html");
	expect_is("byId('badge').textContent", "\"deadlock\"");
	expect_part("byId('words').textContent", "T1 waits in lock for b, held by T2");
	expect_part("byId('cycle').textContent", "cycle: T1 waits for b, held by T2; T2 waits for a, held by T1");
	expect_part("byId('facts').textContent", "./abba 'two words'");
	expect_is("zug.model.nr", "10");
	expect_is("zug.model.preemptions.length", "1");
	/* it opens on the last preemption, and describes it */
	expect_is("zug.view.selected", "6");
	expect_part("byId('selected').textContent", "T1 was stopped before lock b");
	expect_part("byId('selected').textContent", "lock(&b);");
	expect_part("byId('stacks').textContent", "a_then_b abba.c:3");
	/* the output of the program is text, also when it looks like HTML */
	expect_part("byId('output').textContent", "hello \\\\x1b]0;evil\\\\x07");
	settle();
	expect_is("zug.view.drawn.boxes", "10");
	at_step(8, &x, &y);
	browser_click(b, x, y);
	expect_is("zug.view.selected", "8");
	expect_part("byId('selected').textContent", "lock a");
	expect_part("byId('selected').textContent", "b_then_a abba.c:6");
	expect_part("byId('selected').querySelector('.here').textContent", "lock(&a);");
	browser_hover(b, x, y);
	expect_is("byId('tip').hidden", "false");
	expect_part("byId('tip').textContent", "b_then_a abba.c:6");
	/* after the end the tasks wait; the page names the object and its holder */
	free(browser_eval(b, "hover({ clientX: zug.view.x(10.3) + byId('lanes').getBoundingClientRect().left, "
			     "clientY: zug.view.y(2) + zug.view.laneHeight / 2 + byId('lanes').getBoundingClientRect().top })"));
	expect_part("byId('tip').textContent", "T2 waits in lock for a, held by T1");
	browser_screenshot(b, OUT "/deadlock-light.png");
	browser_dark(b, true);
	browser_key(b, "?");
	settle();
	expect_is("getComputedStyle(document.body).backgroundColor", "\"rgb(20, 23, 28)\"");
	expect_is("theme.back", "\"#14171c\"");
	browser_screenshot(b, OUT "/deadlock-dark.png");
	quiet();
}

static void keys(void **state)
{
	double scale;

	browser_dark(b, false);
	browser_open(b, OUT "/deadlock.html");
	browser_key(b, "f");
	expect_is("zug.view.selected", "9");
	expect_part("byId('selected').textContent", "The last step.");
	browser_key(b, "ArrowLeft");
	expect_is("zug.view.selected", "8");
	browser_key(b, "ArrowUp");
	expect_is("zug.model.lane[zug.view.selected]", "1");
	browser_key(b, "p");
	expect_is("zug.view.selected", "6");
	scale = value("zug.view.scale");
	browser_key(b, "+");
	settle();
	assert_true(value("zug.view.scale") > scale * 1.5);
	browser_key(b, "0");
	assert_true(value("zug.view.scale") == scale);
	/* search: typed, Enter, round the end */
	browser_key(b, "/");
	for (const char *p = "b_then"; *p; p++)
		browser_key(b, (char[]){ *p, 0 });
	expect_is("byId('search-count').textContent", "\"2\"");
	browser_key(b, "Enter");
	expect_is("zug.view.selected", "7");
	expect_is("byId('search-count').textContent", "\"1 of 2\"");
	browser_key(b, "Enter");
	browser_key(b, "Enter");
	expect_is("zug.view.selected", "7");
	browser_key(b, "Escape");
	browser_key(b, "Escape");
	expect_is("zug.view.selected", "-1");
	quiet();
}

/* A hundred thousand steps: the amount of drawing depends on the window alone. */
static void a_busy_trace(void **state)
{
	double x, y, first, width;
	struct stat st;

	assert_int_equal(stat(OUT "/busy.html", &st), 0);
	print_message("100,000 steps: %lld bytes\n", (long long)st.st_size);
	assert_true(st.st_size < 5000000);
	browser_open(b, OUT "/busy.html");
	expect_is("zug.model.nr", "100000");
	expect_is("zug.model.processes", "3");
	print_message("loaded in %.0f ms (in the page)\n", value("zug.loadMs"));
	width = value("zug.view.width");
	settle();
	assert_true(value("zug.view.drawn.boxes") < width);
	browser_screenshot(b, OUT "/busy-near.png");
	/* all of it: at most one column a pixel and lane, and no boxes */
	browser_key(b, "0");
	settle();
	expect_is("zug.view.isWhole()", "true");
	expect_is("zug.view.drawn.boxes", "0");
	assert_true(value("zug.view.drawn.columns") > width);
	assert_true(value("zug.view.drawn.columns") <= 12 * (width + 1));
	browser_screenshot(b, OUT "/busy-all.png");
	print_message("a zoom step takes %.1f ms\n", value("(async () => { let t = performance.now(); "
		"for (let i = 0; i < 20; i++) { view.zoom(1.3, 500); view.draw(); view.drawOverview(); } "
		"return (performance.now() - t) / 20; })()"));
	/* at every zoom: no more boxes than pixels, arrows within their limit */
	browser_key(b, "0");
	expect_is("(() => { let worst = 0; view.fit(); for (let i = 0; i < 60; i++) { view.zoom(1.2, 700); view.draw(); "
		     "worst = Math.max(worst, view.drawn.boxes, view.drawn.arrows, view.drawn.columns / 12); } "
		     "return worst <= view.width + 2; })()", "true");
	/* the preemptions, by button and by key */
	first = value("zug.model.preemptions[0]");
	free(browser_eval(b, "zug.select(-1)"));
	browser_key(b, "n");
	assert_true(value("zug.view.selected") == first);
	free(browser_eval(b, "byId('preemption-on').click()"));
	assert_true(value("zug.view.selected") > first);
	expect_is("zug.view.isVisible(zug.view.selected)", "true");
	/* a click on one */
	settle();
	x = value("zug.view.x(zug.view.selected) + byId('lanes').getBoundingClientRect().left");
	y = value("byId('lanes').getBoundingClientRect().top + 24");
	browser_hover(b, x, y);
	expect_part("byId('tip').textContent", "could have gone on");
	free(browser_eval(b, "window.was = zug.view.selected; zug.view.selected = 5"));
	browser_click(b, x, y);
	expect_is("zug.view.selected === window.was", "true");
	/* the wheel zooms where the mouse is */
	free(browser_eval(b, "zug.view.fit(), window.was = zug.view.scale"));
	browser_wheel(b, 700, 400, -200);
	settle();
	expect_is("zug.view.scale > window.was * 1.3", "true");
	free(browser_eval(b, "zug.search('handler_7'); jump(view.matches, 1)"));
	expect_part("byId('selected').textContent", "handler_7");
	quiet();
}

/* More lanes than fit: they scroll, and the selected step is brought into view. */
static void many_tasks(void **state)
{
	const struct trace_header h = {
		.argv = (char *[]){ "./many", NULL }, .cwd = "/", .envp = (char *[]){ NULL }, .kernel = "",
		.zug_version = "", .strategy = "random", .options = "",
	};
	uint32_t enabled[300];
	int err;
	struct trace_writer *w = trace_create(OUT "/many.zug", &h, &err);

	assert_non_null(w);
	for (uint32_t i = 0; i < 300; i++) {
		trace_add_task(w, &(struct trace_task){ i, i ? 0 : TRACE_NO_TASK, i, 500 + i, i - i % 3, "task" });
		enabled[i] = i;
	}
	for (uint32_t i = 0; i < 3000; i++)
		trace_add_step(w, &(struct trace_step){ .step = i, .task = i * 7 % 300, .enabled = enabled, .nr_enabled = 300,
			.last = i ? (i - 1) * 7 % 300 : TRACE_NO_TASK, .label = { .op = ZUG_OP_YIELD } });
	/* cut off: no outcome */
	assert_int_equal(trace_close(w, false), 0);
	run("build/zug show --html -o " OUT "/many.html " OUT "/many.zug 2>/dev/null");
	browser_open(b, OUT "/many.html");
	expect_is("byId('badge').textContent", "\"cut off\"");
	expect_is("byId('notice').textContent", "\"The trace is cut off: the steps after its end are not known.\"");
	expect_is("zug.model.processes", "100");
	settle();
	expect_is("view.contentHeight > view.height && view.y(model.lane[view.selected]) >= RULER && "
		  "view.y(model.lane[view.selected]) + view.laneHeight <= view.height", "true");
	expect_is("(view.top = 0, view.clamp(), view.top)", "0");
	browser_key(b, "PageDown");
	expect_is("view.top > 100", "true");
	/* lanes out of view are not drawn */
	browser_key(b, "0");
	settle();
	expect_is("view.drawn.columns <= (view.height / 20) * view.width", "true");
	quiet();
}

static void a_campaign(void **state)
{
	browser_dark(b, false);
	browser_open(b, OUT "/campaign.html");
	expect_is("byId('badge').textContent", "\"1 failure\"");
	expect_part("byId('words').textContent", "Assertion `<i>a</i>' failed.");
	expect_part("byId('facts').textContent", "./abba <b>");
	expect_part("byId('cards').textContent", "up to 2");
	expect_is("byId('charts').querySelectorAll('canvas').length", "6");
	expect_is("zug.charts.every(c => c.shown.points > 1 && c.shown.points < 3000)", "true");
	/* something was drawn in each */
	expect_is("zug.charts.every(c => new Uint32Array(c.canvas.getContext('2d').getImageData(0, 0, c.canvas.width, "
		  "c.canvas.height).data.buffer).some(v => v))", "true");
	expect_part("byId('tables').textContent", "zug-out/x.1.trace");
	browser_screenshot(b, OUT "/campaign-light.png");
	browser_dark(b, true);
	settle();
	expect_is("theme.back", "\"#14171c\"");
	browser_screenshot(b, OUT "/campaign-dark.png");
	quiet();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_deadlock),
		cmocka_unit_test(keys),
		cmocka_unit_test(a_busy_trace),
		cmocka_unit_test(many_tasks),
		cmocka_unit_test(a_campaign),
	};

	return cmocka_run_group_tests_name("pages", tests, set_up, tear_down);
}
