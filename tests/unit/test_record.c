// SPDX-License-Identifier: GPL-2.0-only
/* test_record.c - writing and reading the record of a campaign, and files that are refused */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli/exit_codes.h"
#include "report/record.h"
#include "show_output.h"

static char dir[] = "/tmp/zug-test-record-XXXXXX";
static char path[64], other[64];

static const struct record_head head = {
	.argv = (char *[]){ "./test", "a b", "\xff", NULL }, .cwd = "/home", .strategy = "default", .seed = 5,
	.kernel = "6.18", .zug_version = "0.1.0", .executions = 2000, .time_ns = 60000000000ull,
};

static int set_up(void **state)
{
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/record", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
	return 0;
}

static int tear_down(void **state)
{
	char cmd[100];

	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	return system(cmd);
}

static struct record *begin(void)
{
	char err[200] = "";
	struct record *r = record_open(path, &head, err, sizeof(err));

	if (!r)
		print_message("%s\n", err);
	assert_non_null(r);
	return r;
}

static void execute(struct record *r, uint64_t n)
{
	record_execution(r, &(struct record_execution){ .n = n, .ns = n * 10000000, .steps = 10 * n, .schedules = n,
		.distinct = 1 + n / 2, .bound = 1, .bound_done = n < 50 ? UINT32_MAX : 0, .new_probability = NAN,
		.estimate = NAN, .strategy = n % 2 ? "random" : "pct", .preemptions = n % 20,
		.spent = { .ns[SPENT_SEARCH] = 3000 * n, .ns[SPENT_DRAIN] = 2000 * n, .all_ns = 9000 * n,
			   .points = 7 * n, .asked = 5 * n } });
}

static void finding(struct record *r, uint64_t n, uint64_t failure)
{
	record_finding(r, &(struct record_finding){ .n = n, .ns = n * 10000000, .failure = failure, .steps = 10,
		.preemptions = 1, .kind = "deadlock", .message = "T1 waits\033[2J", .strategy = "pct",
		.trace = failure == 1 ? "out/it's.trace" : NULL });
}

static struct json_object *get(struct json_object *o, const char *name)
{
	struct json_object *v = NULL;

	if (!json_object_object_get_ex(o, name, &v))
		fail_msg("no %s", name);
	return v;
}

static unsigned int lines(void)
{
	unsigned int nr = 0;
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	for (int c; (c = getc(f)) != EOF;)
		nr += c == '\n';
	fclose(f);
	return nr;
}

static void a_campaign(void **state)
{
	struct record *r;
	struct json_object *o, *campaign, *samples, *last, *spent;
	char *out;

	unlink(path);
	r = begin();
	for (uint64_t n = 1; n <= 100000; n++) {
		execute(r, n);
		if (n % 1000 == 0)
			finding(r, n, n % 3000 ? 1 : 2);
	}
	record_end(r, "the number of executions (--executions)", 1);
	assert_int_equal(record_close(r), 0);
	/* each of the first executions has a line, the others have a few hundred */
	assert_in_range(lines(), 300, 600);
	out = show(ZUG_EXIT_PASS, path, NULL);
	expect(out, "command   ./test 'a b' ");
	expect(out, "result    2 failures found in 100000 executions\n");
	expect(out, "ended     the number of executions (--executions)\n");
	expect(out, "figures   1000.0 s, 1000000 steps, 100000 distinct schedules in 50001 equivalence classes\n");
	expect(out, "covered   every schedule of the known points with up to 1 preemption\n");
	expect(out, "\npct                   50000          50000        100\n");
	expect(out, "execution 1000, after 10.0 s, by pct: deadlock\n    T1 waits\\x1b[2J\n    zug show 'out/it'\\''s.trace'\n");
	expect(out, "execution 3000, after 30.0 s, by pct: deadlock\n    T1 waits\\x1b[2J\n");
	assert_null(strchr(out, '\033'));
	free(out);
	out = show(ZUG_EXIT_PASS, "--json", path, NULL);
	o = json_tokener_parse(out);
	assert_non_null(o);
	assert_int_equal(json_object_array_length(get(o, "campaigns")), 1);
	campaign = json_object_array_get_idx(get(o, "campaigns"), 0);
	samples = get(campaign, "samples");
	/* the distance between samples is bounded, and the last execution has one */
	for (size_t i = 1; i < json_object_array_length(samples); i++) {
		int64_t n = json_object_get_int64(get(json_object_array_get_idx(samples, i), "n"));
		int64_t before = json_object_get_int64(get(json_object_array_get_idx(samples, i - 1), "n"));

		assert_true(n > before && (n <= 100 ? n == before + 1 : n <= before + before / 50 + 1));
	}
	last = json_object_array_get_idx(samples, json_object_array_length(samples) - 1);
	assert_int_equal(json_object_get_int(get(last, "n")), 100000);
	assert_int_equal(json_object_array_length(get(campaign, "findings")), 2);
	assert_int_equal(json_object_get_int(get(get(campaign, "end"), "findings")), 100);
	/* where the time went, in microseconds */
	spent = get(last, "spent");
	assert_int_equal(json_object_get_int(get(spent, "search")), 300000);
	assert_int_equal(json_object_get_int(get(spent, "drain")), 200000);
	assert_int_equal(json_object_get_int(get(spent, "trace")), 0);
	assert_int_equal(json_object_get_int(get(spent, "rest")), 400000);
	assert_int_equal(json_object_get_int(get(spent, "questions")), 500000);
	/* ten and more preemptions are counted together */
	assert_int_equal(json_object_get_int(json_object_array_get_idx(get(last, "preemptions"), 9)), 55000);
	json_object_put(o);
	free(out);
	out = show(ZUG_EXIT_PASS, "--html", path, NULL);
	expect(out, "<title>2 failures found in 100000 executions - ./test</title>");
	assert_null(strstr(out, "<!--zug:"));
	free(out);
}

static void campaigns_are_appended(void **state)
{
	struct record *r;
	char *out;
	FILE *f;

	unlink(path);
	r = begin();
	execute(r, 1);
	assert_int_equal(record_close(r), 0);
	out = show(ZUG_EXIT_PASS, path, NULL);
	expect(out, "result    nothing found in 1 execution\n");
	expect(out, "ended     unknown: the campaign still runs, or was killed\n");
	free(out);
	/* a campaign was killed in the middle of a line */
	f = fopen(path, "a");
	fputs("{\"n\":2,\"at\"", f);
	fclose(f);
	out = show(ZUG_EXIT_PASS, path, NULL);
	expect(out, "result    nothing found in 1 execution\n");
	free(out);
	r = begin();
	for (uint64_t n = 1; n <= 7; n++)
		execute(r, n);
	record_end(r, "interrupted", UINT32_MAX);
	assert_int_equal(record_close(r), 0);
	out = show(ZUG_EXIT_PASS, path, NULL);
	expect(out, "record    the last of 2 campaigns in this file\n");
	expect(out, "result    nothing found in 7 executions\nended     interrupted\n");
	free(out);
}

static void write_other(const char *text)
{
	FILE *f = fopen(other, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

#define HEAD "{\"record\":\"zugzwang campaign\",\"version\":1,\"argv\":[\"x\"],\"cwd\":\"/\",\"strategy\":\"s\"," \
	"\"seed\":1,\"kernel\":\"k\",\"zug_version\":\"0\",\"executions\":1,\"time_ms\":0,\"start\":1}\n"

static void what_is_refused(void **state)
{
	char err[200] = "", *out;
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "{\"record\":\"zugzwang campaign\",\"version\":2}\n", "is a version 2 record, made by a newer zugzwang" },
		{ "{\"record\":\"zugzwang campaign\",\"version\":1}\n", "damaged in line 1: its member 'argv'" },
		{ "{\"record\":\"zugzwang campaign\"", "it has no campaign" },
		{ HEAD "[]\n", "damaged in line 2: not a JSON object" },
		{ HEAD "{\"n\":1}\n", "damaged in line 2: its member 'at'" },
		{ HEAD "{\"n\":\"x\"}\n", "damaged in line 2: its member 'n'" },
		{ HEAD "{\"n\":1,\"at\":1,\"steps\":1,\"schedules\":1,\"distinct\":1,\"bound\":null,\"bound_done\":null,"
		  "\"chance\":null,\"by\":{\"pct\":[1]},\"preemptions\":[]}\n", "damaged in line 2: its member 'by'" },
		{ HEAD "{\"n\":1,\"at\":1,\"steps\":1,\"schedules\":1,\"distinct\":1,\"bound\":null,\"bound_done\":null,"
		  "\"chance\":null,\"by\":{},\"preemptions\":[{}]}\n", "damaged in line 2: its member 'preemptions'" },
		{ HEAD "{\"finding\":1,\"at\":1,\"kind\":[]}\n", "damaged in line 2: its member 'kind'" },
		{ HEAD "{\"end\":7}\n", "damaged in line 2: its member 'end'" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		write_other(bad[i].text);
		out = show(ZUG_EXIT_USAGE, other, NULL);
		expect(out, bad[i].says);
		free(out);
	}
	/* unknown kinds of lines, of a later zug, are ignored */
	write_other(HEAD "{\"weather\":\"fine\"}\n");
	out = show(ZUG_EXIT_PASS, other, NULL);
	expect(out, "nothing found in 0 executions");
	free(out);
	out = show(ZUG_EXIT_PASS, "--html", other, NULL);
	free(out);
	out = show(ZUG_EXIT_USAGE, "--steps=1..2", other, NULL);
	expect(out, "is the record of a campaign, and has no steps");
	free(out);
	out = show(ZUG_EXIT_USAGE, "--perfetto", other, NULL);
	expect(out, "is the record of a campaign, and has no steps");
	free(out);
	/* another file is not changed */
	write_other("precious\n");
	assert_null(record_open(other, &head, err, sizeof(err)));
	expect(err, "not the record of a campaign; it was not changed");
	assert_null(record_open("/nonexistent/record", &head, err, sizeof(err)));
	expect(err, "--record /nonexistent/record: No such file or directory");
	assert_null(record_open("/dev/full", &head, err, sizeof(err)));
	expect(err, "--record /dev/full: No space left on device");
}

/* Any bytes give a record, or one line of error. */
static void any_bytes(void **state)
{
	uint64_t random = 88172645463325252u;
	FILE *null = fopen("/dev/null", "w");
	static char text[1 << 20];
	struct record *r;
	unsigned int read = 0;
	size_t len;
	FILE *f;

	unlink(path);
	r = begin();
	for (uint64_t n = 1; n <= 12; n++)
		execute(r, n);
	finding(r, 12, 1);
	record_once(r, &(struct record_finding){ .n = 12, .ns = 1, .failure = 2, .kind = "timeout", .message = "no end",
		.strategy = "pct", .trace = "out/once.trace" });
	record_end(r, "interrupted", 0);
	assert_int_equal(record_close(r), 0);
	f = fopen(path, "r");
	len = fread(text, 1, sizeof(text), f);
	fclose(f);
	for (int i = 0; i < 3000; i++) {
		static char copy[sizeof(text)];
		struct campaign_record *c;
		char err[300] = "";
		size_t cut = len;

		memcpy(copy, text, len);
		for (int k = 0; k < 1 + i % 4; k++) {
			static const char likely[] = "{}[],:\"0123456789-.e\nntf\\ ";

			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			copy[random % len] = random >> 40 & 1 ? likely[(random >> 20) % (sizeof(likely) - 1)] : (char)(random >> 50);
			if (random % 50 == 0)
				cut = random % len;
		}
		f = fopen(other, "w");
		fwrite(copy, 1, cut, f);
		fclose(f);
		c = record_read(other, err, sizeof(err));
		assert_true(c || (err[0] && !strchr(err, '\n')));
		if (!c)
			continue;
		read++;
		record_text(null, c);
		assert_int_equal(record_html(null, c), 0);
		record_free(c);
	}
	/* both cases occur */
	assert_in_range(read, 300, 2900);
	fclose(null);
}

/* A failure that did not come again is told apart, and not counted. */
static void seen_once(void **state)
{
	char err[300], *out = NULL;
	struct campaign_record *c;
	struct record *r;
	size_t len;
	FILE *f;

	unlink(path);
	r = begin();
	execute(r, 1);
	record_once(r, &(struct record_finding){ .n = 1, .ns = 1, .failure = 2, .kind = "timeout", .message = "no end",
		.strategy = "pct", .trace = "out/once.trace" });
	record_end(r, "every schedule was tried", 0);
	assert_int_equal(record_close(r), 0);
	c = record_read(path, err, sizeof(err));
	assert_non_null(c);
	f = open_memstream(&out, &len);
	record_text(f, c);
	fclose(f);
	assert_non_null(strstr(out, "seen once, did not repeat: timeout\n    no end\n    zug show out/once.trace\n"));
	assert_non_null(strstr(out, "nothing found in 1 execution"));
	free(out);
	record_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_campaign),
		cmocka_unit_test(campaigns_are_appended),
		cmocka_unit_test(what_is_refused),
		cmocka_unit_test(any_bytes),
		cmocka_unit_test(seen_once),
	};

	return cmocka_run_group_tests_name("record", tests, set_up, tear_down);
}
