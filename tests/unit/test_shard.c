/* SPDX-License-Identifier: GPL-2.0-only */
/* test_shard.c - logs of shards: written, cut off, merged, refused; and which shard an engine says this is */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "campaign/shard_number.h"
#include "report/json_text.h"
#include "report/merge.h"
#include "report/plan.h"
#include "report/record.h"
#include "search/rng.h"

static char dir[] = "/tmp/zug-test-shard-XXXXXX";
static char err[1024];

#define PROLOGUE	8
#define ALL		50	/* executions */

static int set_up(void **state)
{
	return !mkdtemp(dir) || chdir(dir);
}

static int tear_down(void **state)
{
	char cmd[100];

	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	return chdir("/") || system(cmd);
}

static int clean(void **state)
{
	return system("rm -rf shard-* other copy merged*");
}

static struct json_object *head(uint32_t k, uint32_t n, uint64_t seed)
{
	char text[400];

	snprintf(text, sizeof(text),
		 "{\"shard\":\"zugzwang shard\",\"version\":1,\"k\":%u,\"n\":%u,\"argv\":[\"./test\"],\"cwd\":\"/home/%u\","
		 "\"kernel\":\"6.18\",\"zug_version\":\"1\",\"strategy\":\"random\",\"seed\":%llu,\"executions\":%d,"
		 "\"options\":{\"fair\":1,\"code\":[\"a\"]},\"started\":%u}",
		 k, n, k, (unsigned long long)seed, ALL, 1000 + k);
	return json_tokener_parse(text);
}

static struct shard_log *open_log(const char *at, uint32_t k, uint32_t n, struct shard **old)
{
	struct json_object *h = head(k, n, 1);
	struct shard_log *l = shard_log_open(at, h, old, err, sizeof(err));

	json_object_put(h);
	return l;
}

/* Execution i of the whole search: what it comes to depends on i alone. Every 13th fails, in one of two ways. */
static struct shard_execution made(uint64_t i)
{
	bool fails = i % 13 == 12;

	return (struct shard_execution){
		.part = i < PROLOGUE ? SHARD_PROLOGUE : (int64_t)(i - PROLOGUE), .n = i < PROLOGUE ? i : 0,
		.result = fails ? 'f' : 'p', .class = mix64(i % 20), .schedule = mix64(i), .steps = 10 + i, .ns = 1000000,
		.failure = fails ? 0xabc + i % 2 : 0,
	};
}

static void put(struct shard_log *l, uint64_t i)
{
	struct shard_execution x = made(i);
	char trace[40];

	snprintf(trace, sizeof(trace), "test.%llu.trace", (unsigned long long)i);
	if (x.failure)
		shard_log_finding(l, &(struct shard_finding){ .part = x.part, .n = x.n, .number = i + 1, .failure = x.failure,
							      .kind = "assert", .message = "a < b", .trace = trace });
	shard_log_execution(l, &x);
}

static void freeze(struct shard_log *l, int points)
{
	char text[100];

	snprintf(text, sizeof(text), "{\"executions\":%d,\"subtrees\":0,\"points\":{\"nr\":%d}}", PROLOGUE, points);
	shard_log_frozen(l, json_tokener_parse(text));
}

/* What shard k of n makes, up to that execution. */
static void make_shard(const char *at, uint32_t k, uint32_t n, uint64_t upto, bool ends)
{
	struct shard *old;
	struct shard_log *l = open_log(at, k, n, &old);

	assert_non_null(l);
	assert_null(old);
	for (uint64_t i = 0; i < PROLOGUE && i < upto; i++)
		put(l, i);
	if (upto >= PROLOGUE)
		freeze(l, 3);
	for (uint64_t i = PROLOGUE; i < upto; i++)
		if ((i - PROLOGUE) % n == k - 1)
			put(l, i);
	if (ends)
		shard_log_end(l, "its share is made", true);
	assert_int_equal(shard_log_close(l), 0);
}

static void make_shards(uint32_t n, uint32_t but)
{
	char at[40];

	for (uint32_t k = 1; k <= n; k++) {
		snprintf(at, sizeof(at), "shard-%u-of-%u", k, n);
		if (k != but)
			make_shard(at, k, n, ALL, true);
	}
}

static enum merge_end merge(struct merge *m, const char *a, const char *b)
{
	char *dirs[] = { (char *)a, (char *)b };

	err[0] = 0;
	return merge_read(m, dirs, b ? 2 : 1, err, sizeof(err));
}

static void is_whole(const struct merge *m)
{
	assert_int_equal(m->executions, ALL);
	assert_int_equal(m->prologue, PROLOGUE);
	assert_int_equal(m->schedules, ALL);
	assert_int_equal(m->classes, 20);
	assert_int_equal(m->failing, 3);
	assert_int_equal(m->nr_bugs, 2);
	assert_int_equal(m->bugs[0].failure, 0xabc);
	assert_int_equal(m->bugs[0].first->number, 13);
	assert_int_equal(m->bugs[0].executions, 2);
	assert_int_equal(m->bugs[1].first->number, 26);
}

static void test_whole(void **state)
{
	struct merge m;

	for (uint32_t n = 1; n <= 7; n += 2) {
		make_shards(n, 0);
		assert_int_equal(merge(&m, ".", NULL), MERGE_GOOD);
		is_whole(&m);
		assert_int_equal(m.nr, n);
		assert_true(merge_is_complete(&m));
		merge_release(&m);
		/* the same folder twice, and one of its shards by itself */
		assert_int_equal(merge(&m, ".", "../zug-none/.."), MERGE_REFUSED);
		merge_release(&m);
		assert_int_equal(merge(&m, ".", "./."), MERGE_GOOD);
		is_whole(&m);
		merge_release(&m);
		clean(state);
	}
}

static void test_copy(void **state)
{
	struct merge m;

	make_shards(3, 0);
	make_shard("copy/shard-2-of-3", 2, 3, 30, false);
	assert_int_equal(merge(&m, "copy", "."), MERGE_GOOD);
	is_whole(&m);
	assert_int_equal(m.nr_same, 1);
	assert_string_equal(m.same[0], "copy/shard-2-of-3");
	assert_true(merge_is_complete(&m));
	merge_release(&m);
}

static void test_missing(void **state)
{
	struct merge m;
	char *text;
	size_t len;
	FILE *f;

	make_shards(9, 4);
	assert_int_equal(system("rm -rf shard-[567]-of-9"), 0);
	make_shard("shard-7-of-9", 7, 9, 20, false);
	assert_int_equal(merge(&m, ".", NULL), MERGE_GOOD);
	assert_int_equal(m.nr_missing, 3);
	assert_int_equal(m.missing[0], 4);
	assert_int_equal(m.shards[3].state, MERGE_PARTLY);
	assert_false(merge_is_complete(&m));
	f = open_memstream(&text, &len);
	merge_text(f, &m);
	fclose(f);
	assert_non_null(strstr(text, "missing: 3 of 9 shards: 4-6\n"));
	assert_non_null(strstr(text, "partly: it still runs, or was killed"));
	free(text);
	merge_release(&m);
	/* killed before its first line was whole */
	assert_int_equal(system("head -c 20 shard-2-of-9/log > x && mv x shard-2-of-9/log && : > shard-3-of-9/log"), 0);
	assert_int_equal(merge(&m, ".", NULL), MERGE_GOOD);
	assert_int_equal(m.nr_missing, 5);
	assert_int_equal(m.nr_empty, 2);
	f = open_memstream(&text, &len);
	merge_text(f, &m);
	fclose(f);
	assert_non_null(strstr(text, "./shard-3-of-9: its log has no whole line"));
	assert_non_null(strstr(text, "missing: 5 of 9 shards: 2-6\n"));
	free(text);
	merge_release(&m);
	assert_int_equal(merge(&m, "shard-2-of-9", NULL), MERGE_REFUSED);
	assert_non_null(strstr(err, "shard-2-of-9/log has no whole line"));
	merge_release(&m);
}

/* Killed in the middle of a line: the line does not count, and the next run goes on behind the last whole one. */
static void test_torn(void **state)
{
	struct shard *old, *s;
	struct shard_log *l;
	int fd;

	make_shard("shard-1-of-2", 1, 2, 20, false);
	s = shard_read("shard-1-of-2", err, sizeof(err));
	assert_non_null(s);
	fd = open("shard-1-of-2/log", O_WRONLY | O_APPEND);
	assert_int_equal(write(fd, "{\"x\":[14,0,", 11), 11);
	close(fd);
	l = open_log("shard-1-of-2", 1, 2, &old);
	assert_non_null(l);
	assert_true(old->torn);
	assert_int_equal(old->nr_executions, s->nr_executions);
	put(l, 22);
	shard_log_close(l);
	shard_free(old);
	old = shard_read("shard-1-of-2", err, sizeof(err));
	assert_false(old->torn);
	assert_int_equal(old->nr_executions, s->nr_executions + 1);
	shard_free(old);
	shard_free(s);
}

static void test_begun_again(void **state)
{
	struct shard *old;
	struct shard_log *l;

	make_shard("shard-1-of-2", 1, 2, 5, false);
	l = open_log("shard-1-of-2", 1, 2, &old);
	assert_non_null(old);
	assert_null(old->frozen);
	assert_int_equal(shard_log_restart(l), 0);
	shard_free(old);
	put(l, 0);
	shard_log_close(l);
	old = shard_read("shard-1-of-2", err, sizeof(err));
	assert_int_equal(old->nr_executions, 1);
	shard_free(old);
	/* and before its first line was whole */
	assert_int_equal(system("printf '{\"shard\"' > shard-1-of-2/log"), 0);
	l = open_log("shard-1-of-2", 1, 2, &old);
	assert_non_null(l);
	assert_null(old);
	shard_log_close(l);
}

static void test_refused(void **state)
{
	struct json_object *h = head(2, 2, 7);
	struct shard *old;
	struct shard_log *l, *again;
	struct merge m;

	make_shard("shard-1-of-2", 1, 2, ALL, true);
	l = shard_log_open("shard-2-of-2", h, &old, err, sizeof(err));
	assert_non_null(l);
	/* another zug has it */
	again = shard_log_open("shard-2-of-2", h, &old, err, sizeof(err));
	assert_null(again);
	assert_non_null(strstr(err, "another zug works at this shard"));
	json_object_put(h);
	shard_log_close(l);
	assert_int_equal(merge(&m, ".", NULL), MERGE_REFUSED);
	assert_non_null(strstr(err, "different searches: the seed is 1 there, and 7 here"));
	merge_release(&m);
	/* the shard of another search is not gone on with */
	assert_null(open_log("shard-2-of-2", 2, 2, &old));
	assert_non_null(strstr(err, "the seed is 7 there, and 1 here"));
	assert_int_equal(merge(&m, "nowhere", NULL), MERGE_REFUSED);
	merge_release(&m);
	assert_int_equal(system("rm -rf shard-2-of-2; echo '{}' >> shard-1-of-2/log"), 0);
	assert_int_equal(merge(&m, ".", NULL), MERGE_REFUSED);
	assert_non_null(strstr(err, "damaged in line"));
	merge_release(&m);
	/* more shards than a search may have */
	assert_int_equal(system("sed -i -e '1s/\"n\": *2/\"n\":1000001/' -e '2,$d' shard-1-of-2/log; grep -q 1000001 shard-1-of-2/log"), 0);
	assert_int_equal(merge(&m, ".", NULL), MERGE_REFUSED);
	assert_non_null(strstr(err, "its first line is damaged"));
	merge_release(&m);
}

/* The disk is full: what is there counts, and the next run goes on behind the last whole line. */
static void test_full(void **state)
{
	struct rlimit old_limit, limit;
	struct shard *old, *s;
	struct shard_log *l;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old_limit);
	limit = old_limit;
	limit.rlim_cur = 700;
	l = open_log("shard-1-of-2", 1, 2, &old);
	assert_non_null(l);
	setrlimit(RLIMIT_FSIZE, &limit);
	for (uint64_t i = 0; i < PROLOGUE; i++)
		put(l, i);
	setrlimit(RLIMIT_FSIZE, &old_limit);
	assert_int_not_equal(shard_log_error(l), 0);
	assert_int_not_equal(shard_log_close(l), 0);
	s = shard_read("shard-1-of-2", err, sizeof(err));
	assert_non_null(s);
	assert_true(s->torn && s->nr_executions > 0 && s->nr_executions < PROLOGUE);
	l = open_log("shard-1-of-2", 1, 2, &old);
	assert_int_equal(old->nr_executions, s->nr_executions);
	for (uint64_t i = s->nr_executions; i < PROLOGUE; i++)
		put(l, i);
	assert_int_equal(shard_log_close(l), 0);
	shard_free(old);
	shard_free(s);
	s = shard_read("shard-1-of-2", err, sizeof(err));
	assert_int_equal(s->nr_executions, PROLOGUE);
	shard_free(s);
}

/* The search ended before there was anything to share. */
static void test_prologue_only(void **state)
{
	struct shard *old;
	struct shard_log *l;
	struct merge m;
	char at[40], *text;
	size_t len;
	FILE *f;

	for (uint32_t k = 1; k <= 2; k++) {
		snprintf(at, sizeof(at), "shard-%u-of-2", k);
		l = open_log(at, k, 2, &old);
		for (uint64_t i = 0; i < 5; i++)
			put(l, i);
		shard_log_end(l, "every schedule was tried", true);
		shard_log_close(l);
	}
	assert_int_equal(merge(&m, ".", NULL), MERGE_GOOD);
	assert_int_equal(m.executions, 5);
	assert_true(merge_is_complete(&m));
	f = open_memstream(&text, &len);
	merge_text(f, &m);
	fclose(f);
	assert_non_null(strstr(text, "the prologue was the whole search: every schedule was tried\n"));
	free(text);
	merge_release(&m);
}

/* Other options of one object are told by their names. */
static void test_difference(void **state)
{
	struct json_object *a = head(1, 2, 1), *b = head(2, 2, 1), *options;
	char text[200];

	assert_false(shard_differs(a, b, text, sizeof(text)));
	json_object_object_get_ex(b, "options", &options);
	json_object_object_add(options, "fair", json_object_new_int(3));
	assert_true(shard_differs(a, b, text, sizeof(text)));
	assert_string_equal(text, "options, fair is 1 there, and 3 here");
	json_object_object_add(options, "fair", json_object_new_int(1));
	json_object_object_add(options, "watch", json_object_new_string("x"));
	assert_true(shard_differs(a, b, text, sizeof(text)));
	assert_string_equal(text, "options, watch is nothing there, and \"x\" here");
	json_object_put(a);
	json_object_put(b);
}

static void edit(const char *what)
{
	char cmd[200];

	snprintf(cmd, sizeof(cmd), "sed -i '%s'", what);
	assert_int_equal(system(cmd), 0);
}

static void test_diverged(void **state)
{
	struct merge m;

	/* the prologue of one has come to something else */
	make_shards(3, 0);
	edit("s/{\"x\":\\[-1,0,5,\"p\"/{\"x\":[-1,0,5,\"f\"/' 'shard-3-of-3/log");
	assert_int_equal(merge(&m, ".", NULL), MERGE_DIVERGED);
	assert_non_null(strstr(err, "execution 6 of the prologue diverged: in ./shard-1-of-3 it passed"));
	assert_non_null(strstr(err, "in ./shard-3-of-3 it failed"));
	merge_release(&m);
	clean(state);
	/* and what it has learnt */
	make_shards(3, 0);
	edit("s/\"nr\":3/\"nr\":4/' 'shard-2-of-3/log");
	assert_int_equal(merge(&m, ".", NULL), MERGE_DIVERGED);
	assert_non_null(strstr(err, "points, nr is 3 there, and 4 here"));
	merge_release(&m);
	clean(state);
	/* two with one number: an execution that fails, in two ways */
	make_shards(2, 0);
	make_shard("copy/shard-1-of-2", 1, 2, ALL, true);
	edit("s/\\[4,0,0,\"f\",\"[0-9a-f]*\"/[4,0,0,\"f\",\"0123\"/' 'copy/shard-1-of-2/log");
	assert_int_equal(merge(&m, ".", "copy"), MERGE_DIVERGED);
	assert_non_null(strstr(err, "(trace: ./shard-1-of-2/test.12.trace)"));
	assert_non_null(strstr(err, "(trace: copy/shard-1-of-2/test.12.trace)"));
	merge_release(&m);
}

static void test_record(void **state)
{
	struct campaign_record *r;
	struct merge m;
	char *text;
	size_t len;
	FILE *f;

	make_shards(30, 0);
	assert_int_equal(merge(&m, ".", NULL), MERGE_GOOD);
	assert_int_equal(merge_record("merged.record", &m, err, sizeof(err)), 0);
	r = record_read("merged.record", err, sizeof(err));
	assert_non_null(r);
	f = open_memstream(&text, &len);
	assert_int_equal(record_json(f, r), 0);
	fclose(f);
	assert_non_null(strstr(text, "shards 4-6"));
	assert_non_null(strstr(text, "./shard-5-of-30/test.12.trace"));
	free(text);
	record_free(r);
	f = open_memstream(&text, &len);
	assert_int_equal(merge_json(f, &m), 0);
	fclose(f);
	assert_non_null(strstr(text, "\"executions\":50,\"prologue\":8"));
	assert_non_null(strstr(text, "\"complete\":true"));
	free(text);
	merge_release(&m);
}

/* A shard of an exhaustive search: it makes the subtrees that are its own, under each bound. */
static void make_subtrees(uint32_t k, uint32_t n, uint32_t bounds, uint64_t but)
{
	char at[40];
	struct shard *old;
	struct shard_log *l;

	snprintf(at, sizeof(at), "shard-%u-of-%u", k, n);
	l = open_log(at, k, n, &old);
	assert_non_null(l);
	shard_log_frozen(l, json_tokener_parse("{\"executions\":0,\"subtrees\":6,\"bounds\":2,\"cut\":0}"));
	for (uint32_t b = 0; b < bounds; b++)
		for (uint64_t p = 0; p < 6; p++)
			if (p % n == k - 1 && (b + 1 < bounds || p != but) && (!b || p != 3))
				shard_log_part(l, &(struct shard_part){ .part = p, .bound = b, .cut = b < 2 && p != 3 });
	shard_log_end(l, "its share is made", true);
	shard_log_close(l);
}

static void test_coverage(void **state)
{
	struct merge m;

	for (uint32_t k = 1; k <= 2; k++)
		make_subtrees(k, 2, 3, 99);
	assert_int_equal(merge(&m, ".", NULL), MERGE_GOOD);
	assert_int_equal(m.bound_done, 2);
	assert_true(m.all);
	merge_release(&m);
	clean(state);
	make_subtrees(1, 2, 2, 99);
	make_subtrees(2, 2, 2, 5);
	assert_int_equal(merge(&m, ".", NULL), MERGE_GOOD);
	assert_int_equal(m.bound_done, 0);
	assert_int_equal(m.parts_done, 5);
	assert_false(m.all);
	merge_release(&m);
}

static void expect(const char *text, uint32_t k, uint32_t n, const char *part_of_error)
{
	struct shard_number s;

	err[0] = 0;
	if (part_of_error) {
		assert_int_equal(shard_number_parse(text, &s, err, sizeof(err)), -EINVAL);
		assert_non_null(strstr(err, part_of_error));
		return;
	}
	assert_int_equal(shard_number_parse(text, &s, err, sizeof(err)), 0);
	assert_int_equal(s.k, k);
	assert_int_equal(s.n, n);
}

static void test_numbers(void **state)
{
	expect("3/8", 3, 8, NULL);
	expect("0/8", 0, 0, "from 1/N to N/N");
	expect("9/8", 0, 0, "there is no shard 9 of 8");
	expect("-1/8", 0, 0, "K/N");
	expect("3/", 0, 0, "number of shards");
	expect("auto", 0, 0, "SLURM_ARRAY_TASK_ID");
	setenv("SLURM_ARRAY_TASK_ID", "7", 1);
	setenv("SLURM_ARRAY_TASK_COUNT", "4", 1);
	setenv("SLURM_ARRAY_TASK_MIN", "1", 1);
	setenv("SLURM_ARRAY_TASK_STEP", "2", 1);
	expect("auto", 4, 4, NULL);
	expect("auto/5", 0, 0, "says that there are 4, not 5");
	setenv("SLURM_ARRAY_TASK_ID", "9", 1);
	expect("auto", 0, 0, "number the jobs from 1 to 7");
	setenv("SLURM_ARRAY_TASK_ID", "x", 1);
	expect("auto", 0, 0, "is 'x', not a number");
	unsetenv("SLURM_ARRAY_TASK_ID");
	setenv("JOB_COMPLETION_INDEX", "0", 1);
	expect("auto", 0, 0, "does not say how many there are");
	expect("auto/3", 1, 3, NULL);
	setenv("ZUG_SHARDS", "5", 1);
	expect("auto", 1, 5, NULL);
	unsetenv("JOB_COMPLETION_INDEX");
	setenv("PBS_ARRAY_INDEX", "5", 1);
	expect("auto", 5, 5, NULL);
	setenv("PBS_ARRAY_INDEX", "0", 1);
	expect("auto", 0, 0, "number the jobs from 1 to 5");
	unsetenv("PBS_ARRAY_INDEX");
	setenv("LSB_JOBINDEX", "0", 1);
	expect("auto", 0, 0, "none of the variables");
	setenv("LSB_JOBINDEX", "2", 1);
	setenv("LSB_JOBINDEX_END", "6", 1);
	expect("auto", 2, 6, NULL);
}

static void test_plan(void **state)
{
	struct plan *p;

	assert_null(plan_read("nothing", err, sizeof(err)));
	assert_non_null(strstr(err, "No such file"));
	assert_int_equal(system("echo '{\"plan\":\"zugzwang plan\",\"version\":1,\"cut\":false,\"subtrees\":[{\"choices\":[0,2],"
				"\"cost\":1,\"size\":40.5},{\"choices\":[1],\"cost\":0,\"size\":3}]}' > merged.plan"), 0);
	p = plan_read("merged.plan", err, sizeof(err));
	assert_non_null(p);
	assert_int_equal(p->nr, 2);
	assert_int_equal(p->list[0].choices[1], 2);
	assert_int_equal(p->list[0].cost, 1);
	plan_free(p);
	assert_int_equal(system("sed -i 's/\\[1\\]/[-1]/' merged.plan"), 0);
	assert_null(plan_read("merged.plan", err, sizeof(err)));
	assert_non_null(strstr(err, "damaged"));
	assert_int_equal(system("echo '{' > merged.plan"), 0);
	assert_null(plan_read("merged.plan", err, sizeof(err)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_whole, clean), cmocka_unit_test_setup(test_copy, clean),
		cmocka_unit_test_setup(test_missing, clean), cmocka_unit_test_setup(test_torn, clean),
		cmocka_unit_test_setup(test_begun_again, clean), cmocka_unit_test_setup(test_refused, clean),
		cmocka_unit_test(test_difference), cmocka_unit_test_setup(test_diverged, clean),
		cmocka_unit_test_setup(test_full, clean), cmocka_unit_test_setup(test_prologue_only, clean),
		cmocka_unit_test_setup(test_record, clean), cmocka_unit_test_setup(test_coverage, clean),
		cmocka_unit_test(test_numbers), cmocka_unit_test(test_plan),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("shards", tests, set_up, tear_down);
}
