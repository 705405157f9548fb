// SPDX-License-Identifier: GPL-2.0-only
/* test_trace.c - what is written is read; what is damaged is refused, what is cut off is kept */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/trace.h"
#include "lib/trace_format.h"

static char dir[] = "/tmp/zug-test-trace-XXXXXX";
static char path[64];

static int make_dir(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/t.zug", dir);
	return 0;
}

static int remove_dir(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(dir);
}

static const struct trace_header header = {
	.argv = (char *[]){ "./bank", "--fast", "", NULL },
	.cwd = "/home/u/src",
	.envp = (char *[]){ "HOME=/home/u", "LANG=C", NULL },
	.kernel = "6.18.15+deb13-cloud-amd64 #1 SMP",
	.zug_version = "0.1",
	.strategy = "pct:d=3",
	.seed = UINT64_MAX,
	.execution = 17,
	.options = "{\"points\":\"sync\"}",
};

static struct trace_writer *create(void)
{
	int err;
	struct trace_writer *w = trace_create(path, &header, &err);

	assert_non_null(w);
	return w;
}

static struct trace *reopen(void)
{
	char err[200] = "";
	struct trace *t = trace_open(path, err, sizeof(err));

	if (!t)
		print_message("%s\n", err);
	assert_non_null(t);
	return t;
}

static unsigned char *slurp(size_t *len)
{
	FILE *f = fopen(path, "rb");
	unsigned char *p = malloc(1 << 24);

	assert_non_null(f);
	*len = fread(p, 1, 1 << 24, f);
	fclose(f);
	return p;
}

/* What everything_comes_back() wrote, step apart whose label is given. */
static void is_all_there(const struct trace *t, const struct zug_label *label)
{
	assert_false(trace_truncated(t));
	assert_string_equal(trace_header(t)->argv[1], "--fast");
	assert_string_equal(trace_header(t)->argv[2], "");
	assert_null(trace_header(t)->argv[3]);
	assert_string_equal(trace_header(t)->envp[1], "LANG=C");
	assert_string_equal(trace_header(t)->cwd, header.cwd);
	assert_string_equal(trace_header(t)->kernel, header.kernel);
	assert_string_equal(trace_header(t)->strategy, header.strategy);
	assert_string_equal(trace_header(t)->options, header.options);
	assert_true(trace_header(t)->seed == UINT64_MAX && trace_header(t)->execution == 17);

	assert_int_equal(trace_nr_tasks(t), 2);
	assert_int_equal(trace_task_at(t, 0)->parent, TRACE_NO_TASK);
	assert_int_equal(trace_task(t, 2)->nth, 1);
	assert_int_equal(trace_task(t, 2)->pid, 42);
	assert_null(trace_task(t, 1));
	assert_string_equal(trace_module(t, 3)->build_id, "0123ab");
	assert_int_equal(trace_site(t, 99)->offset, 0x1139);
	assert_int_equal(trace_site(t, 99)->nr_frames, 3);
	assert_string_equal(trace_site(t, 99)->data, "*sum");
	assert_string_equal(trace_site(t, 99)->frames[0].function, "bank::add(int)");
	assert_true(trace_site(t, 99)->frames[0].inlined);
	assert_int_equal(trace_site(t, 99)->frames[1].line, 31);
	assert_null(trace_site(t, 99)->frames[2].file);
	assert_string_equal(trace_object(t, 1ull << 63)->name, "m");

	assert_int_equal(trace_nr_steps(t), 2);
	assert_int_equal(trace_step(t, 0)->last, TRACE_NO_TASK);
	assert_int_equal(trace_step(t, 0)->flags, TRACE_STEP_PREEMPTION);
	assert_int_equal(trace_step(t, 0)->nr_enabled, 3);
	assert_int_equal(trace_step(t, 0)->enabled[2], 7);
	assert_int_equal(trace_step(t, 1)->step, 1);
	assert_int_equal(trace_step(t, 1)->task, 0);
	assert_int_equal(trace_step(t, 1)->last, 2);
	assert_int_equal(trace_step(t, 1)->nr_enabled, 1);
	assert_int_equal(trace_step(t, 1)->enabled[0], 0);
	assert_true(trace_label_equal(&trace_step(t, 1)->label, label));
	assert_null(trace_step(t, 2));

	assert_int_equal(trace_nr_notes(t, 0), 0);
	assert_int_equal(trace_nr_notes(t, 1), 2);
	assert_int_equal(trace_nr_notes(t, 2), 1);
	assert_string_equal(trace_note_at(t, 1, 0)->text, "futex m");
	assert_int_equal(trace_note_at(t, 1, 0)->arg, TRACE_NO_TASK);
	assert_int_equal(trace_note_at(t, 1, 1)->arg, 0);
	assert_null(trace_note_at(t, 1, 1)->text);
	assert_null(trace_note_at(t, 1, 2));
	assert_int_equal(trace_note_at(t, 2, 0)->kind, TRACE_NOTE_EXIT);

	assert_int_equal(trace_nr_stacks(t), 1);
	assert_string_equal(trace_stack_at(t, 0)->state, "waits");
	assert_int_equal(trace_stack_at(t, 0)->nr_frames, 2);
	assert_int_equal(trace_outcome(t)->kind, ZUG_OUTCOME_ABORT);
	assert_int_equal(trace_outcome(t)->code, -6);
	assert_true(trace_outcome(t)->wall_ns == 12345678901);
	assert_string_equal(trace_outcome(t)->err_tail, "tail\n");
	assert_null(trace_outcome(t)->out_head);
}

static void everything_comes_back(void **state)
{
	static const struct trace_frame frames[] = {
		{ "bank::add(int)", "bank.h", 7, true },
		{ "main", "src/bank.c", 31, false },
		{ NULL, NULL, 0, false },
	};
	const uint32_t enabled[] = { 0, 2, 7 };
	struct trace_writer *w = create();
	struct trace_step step = {
		.task = 2, .last = TRACE_NO_TASK, .flags = TRACE_STEP_PREEMPTION,
		.nr_enabled = 3, .enabled = enabled,
		.label = { .op = ZUG_OP_LOCK, .flags = ZUG_L_WRITE, .object = 1ull << 63,
			   .object2 = 5, .site = 99 },
	};
	const struct trace_outcome outcome = {
		.kind = ZUG_OUTCOME_ABORT, .code = -6, .failure = 0xabcdef, .ungranted = 1,
		.wall_ns = 12345678901, .message = "Assertion failed", .err_tail = "tail\n",
	};
	const struct trace_pair pairs[] = {
		{ .step = 0, .after_step = 1, .preempted = 2, .by = 0, .before = { .op = ZUG_OP_LOCK, .site = 99 },
		  .after = { .op = ZUG_OP_UNLOCK, .object = 1ull << 63, .flags = ZUG_L_WRITE } },
		{ .step = 1, .after_step = UINT64_MAX, .preempted = 0, .by = 2,
		  .before = { .op = ZUG_OP_JOIN, .object2 = 5 } },
	};
	char copied[] = "/tmp/zug-trace-copy-XXXXXX";
	const struct trace_minimized *m;
	struct trace_minimized torn;
	char message[256];
	struct trace *t;
	int err;

	(void)state;
	assert_int_equal(trace_add_task(w, &(struct trace_task){ 0, TRACE_NO_TASK, 0, 41, 0, "bank" }), 0);
	assert_int_equal(trace_add_task(w, &(struct trace_task){ 2, 0, 1, 42, 0, "bank" }), 0);
	assert_int_equal(trace_add_module(w, &(struct trace_module){ 3, "/usr/bin/bank", "0123ab" }), 0);
	assert_int_equal(trace_add_site(w, &(struct trace_site){ 99, 3, 0x1139, 0, NULL, NULL }), 0);
	assert_int_equal(trace_add_object(w, &(struct trace_object){ 1ull << 63, "mutex", "m" }), 0);
	assert_int_equal(trace_add_step(w, &step), 0);
	assert_int_equal(trace_add_note(w, &(struct trace_note){ TRACE_NOTE_BLOCK, 2, TRACE_NO_TASK, 5, "futex m" }), 0);
	assert_int_equal(trace_add_note(w, &(struct trace_note){ TRACE_NOTE_WAKE, 2, 0, 0, NULL }), 0);
	step.step = 1;
	step.task = 0;
	step.last = 2;
	step.flags = 0;
	step.nr_enabled = 1;
	assert_int_equal(trace_add_step(w, &step), 0);
	assert_int_equal(trace_add_note(w, &(struct trace_note){ TRACE_NOTE_EXIT, 0, TRACE_NO_TASK, 0, NULL }), 0);
	assert_int_equal(trace_add_site(w, &(struct trace_site){ 99, 3, 0x1139, 3, frames, "*sum" }), 0);
	assert_int_equal(trace_add_stack(w, &(struct trace_stack){ 2, "waits", 2, frames }), 0);
	assert_int_equal(trace_add_outcome(w, &outcome), 0);
	assert_int_equal(trace_add_minimized(w, &(struct trace_minimized){
		.executions = 57, .minimal = true, .steps_before = 120, .preemptions_before = 5,
		.preemptions = 1, .decisions_before = 14, .decisions = 2, .nr_pairs = 2,
		.pairs = pairs, .near = 12, .alike = 7, .critical = {
			.known = true, .alone = true, .first_task = 2, .first_step = 0, .first = pairs[0].before,
			.second_task = 0, .second_step = UINT64_MAX, .second = pairs[1].after } }), 0);
	assert_int_equal(trace_close(w, false), 0);

	t = reopen();
	is_all_there(t, &step.label);
	m = trace_minimized(t);
	assert_non_null(m);
	assert_true(m->executions == 57 && m->minimal && m->steps_before == 120);
	assert_true(m->preemptions_before == 5 && m->preemptions == 1);
	assert_true(m->decisions_before == 14 && m->decisions == 2);
	assert_int_equal(m->nr_pairs, 2);
	for (int i = 0; i < 2; i++) {
		assert_true(m->pairs[i].step == pairs[i].step && m->pairs[i].after_step == pairs[i].after_step);
		assert_true(m->pairs[i].preempted == pairs[i].preempted && m->pairs[i].by == pairs[i].by);
		assert_true(trace_label_equal(&m->pairs[i].before, &pairs[i].before));
		assert_true(trace_label_equal(&m->pairs[i].after, &pairs[i].after));
	}
	assert_true(m->near == 12 && m->alike == 7 && m->critical.known && m->critical.alone);
	assert_true(m->critical.first_task == 2 && !m->critical.first_step);
	assert_true(!m->critical.second_task && m->critical.second_step == UINT64_MAX);
	assert_true(trace_label_equal(&m->critical.first, &pairs[0].before));
	assert_true(trace_label_equal(&m->critical.second, &pairs[1].after));
	torn = *m;
	torn.critical.known = torn.critical.alone = false;
	torn.critical.torn = true;
	for (int i = 0; i < 2; i++) {
		close(mkstemp(copied));
		w = trace_copy(t, copied, &err);
		assert_non_null(w);
		if (!i)
			trace_add_minimized(w, &torn);
		assert_int_equal(trace_close(w, false), 0);
		trace_free(t);
		t = trace_open(copied, message, sizeof(message));
		unlink(copied);
		memcpy(copied + strlen(copied) - 6, "XXXXXX", 6);
		assert_non_null(t);
		is_all_there(t, &step.label);
		m = trace_minimized(t);
		assert_int_equal(!m, i);
		if (i)
			continue;
		assert_true(m->critical.torn && !m->critical.known && m->critical.second_step == UINT64_MAX);
		assert_true(trace_label_equal(&m->critical.second, &pairs[1].after));
	}
	trace_free(t);
}

/* A program of nr_tasks threads, each in a loop of lock, access, unlock, with some blocking. */
struct source {
	uint64_t rng;
	uint32_t task, phase[16];
	bool blocked[16];
};

static uint64_t next_random(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

static uint64_t write_steps(struct trace_writer *w, uint64_t nr, uint32_t nr_tasks, uint64_t seed)
{
	static const unsigned int ops[] = { ZUG_OP_LOCK, ZUG_OP_DATA_ACCESS, ZUG_OP_DATA_ACCESS,
					    ZUG_OP_UNLOCK, ZUG_OP_WRITE };
	struct source s = { .rng = seed * 2654435761u + 1 };
	uint32_t enabled[16], last = TRACE_NO_TASK, n, pick;
	uint64_t sum = 0;

	for (uint64_t i = 0; i < nr; i++) {
		struct trace_step step = { .step = i, .last = last, .enabled = enabled };
		uint64_t r = next_random(&s.rng);

		if (r % 16 == 0 || s.blocked[s.task]) {
			pick = (r >> 8) % nr_tasks;
			s.blocked[pick] = !s.blocked[pick] && pick;
			trace_add_note(w, &(struct trace_note){
				s.blocked[pick] ? TRACE_NOTE_BLOCK : TRACE_NOTE_WAKE, pick, s.task,
				0x1234567890abcdef + pick, s.blocked[pick] ? "futex queue.lock" : NULL });
		}
		for (uint32_t k = n = 0; k < nr_tasks; k++)
			if (!s.blocked[k])
				enabled[n++] = k;
		step.nr_enabled = n;
		pick = (r >> 16) % 4 ? s.task : enabled[(r >> 24) % n];
		if (s.blocked[pick])
			pick = enabled[0];
		step.task = pick;
		if (last != TRACE_NO_TASK && pick != last && !s.blocked[last])
			step.flags = TRACE_STEP_PREEMPTION;
		step.label.op = ops[s.phase[pick] % 5];
		step.label.flags = zug_op_flags(step.label.op);
		step.label.object = 0xfeedfacecafe0000 + s.phase[pick] / 5 % 12 * 0x01234567;
		step.label.site = 0x0badc0de00000000 + s.phase[pick] % 60 * 0x9e3779b97f4a7c15;
		s.phase[pick]++;
		s.task = last = pick;
		assert_int_equal(trace_add_step(w, &step), 0);
		sum = sum * 31 + step.task + step.label.site + step.nr_enabled * 7;
	}
	return sum;
}

static uint64_t sum_steps(const struct trace *t)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < trace_nr_steps(t); i++) {
		const struct trace_step *s = trace_step(t, i);

		sum = sum * 31 + s->task + s->label.site + s->nr_enabled * 7;
	}
	return sum;
}

static void a_step_takes_few_bytes(void **state)
{
	struct trace_writer *w = create();
	uint64_t sum = write_steps(w, 10000, 4, 1);
	struct stat st;
	struct trace *t;

	(void)state;
	assert_int_equal(trace_close(w, false), 0);
	assert_int_equal(stat(path, &st), 0);
	print_message("# 10000 steps of 4 tasks with blocking: %.2f bytes a step\n",
		      st.st_size / 10000.0);
	assert_true(st.st_size < 80000);
	t = reopen();
	assert_int_equal(trace_nr_steps(t), 10000);
	assert_true(sum_steps(t) == sum);
	trace_free(t);
}

/* More distinct labels than the ring has numbers: old ones are written out again. */
static void labels_may_outnumber_the_ring(void **state)
{
	struct trace_writer *w = create();
	const uint32_t enabled[] = { 0 };
	struct trace *t;

	(void)state;
	for (uint64_t i = 0; i < 30000; i++) {
		struct trace_step s = { .step = i, .nr_enabled = 1, .enabled = enabled,
			.last = i ? 0 : TRACE_NO_TASK,
			.label = { .op = ZUG_OP_LOCK, .object = i * i % 7001, .site = i % 3 } };

		assert_int_equal(trace_add_step(w, &s), 0);
	}
	assert_int_equal(trace_close(w, false), 0);
	t = reopen();
	for (uint64_t i = 0; i < 30000; i++) {
		assert_int_equal(trace_step(t, i)->label.object, i * i % 7001);
		assert_int_equal(trace_step(t, i)->label.site, i % 3);
	}
	trace_free(t);
}

static void a_million_steps_take_bounded_memory(void **state)
{
	struct rusage before, after;
	struct trace_writer *w = create();
	struct stat st;
	struct trace *t;
	uint64_t sum;

	(void)state;
	getrusage(RUSAGE_SELF, &before);
	sum = write_steps(w, 1000000, 8, 3);
	assert_int_equal(trace_close(w, false), 0);
	getrusage(RUSAGE_SELF, &after);
	assert_int_equal(stat(path, &st), 0);
	print_message("# 1000000 steps: %.2f bytes a step, writer grew by %ld KiB\n",
		      st.st_size / 1e6, after.ru_maxrss - before.ru_maxrss);
	assert_true(after.ru_maxrss - before.ru_maxrss < 8192);
	t = reopen();
	assert_int_equal(trace_nr_steps(t), 1000000);
	assert_true(sum_steps(t) == sum);
	trace_free(t);
}

static void every_prefix_is_readable_or_refused(void **state)
{
	struct trace_writer *w = create();
	char err[200];
	unsigned char *p;
	size_t len;
	uint64_t nr = 0;

	(void)state;
	write_steps(w, 300, 3, 5);
	trace_flush(w);
	trace_add_object(w, &(struct trace_object){ 1, "mutex", "later" });
	trace_flush(w);
	trace_add_outcome(w, &(struct trace_outcome){ .kind = ZUG_OUTCOME_PASS });
	assert_int_equal(trace_close(w, false), 0);
	p = slurp(&len);
	for (size_t n = 0; n < len; n++) {
		struct trace *t;

		err[0] = '\0';
		t = trace_parse(p, n, err, sizeof(err));
		if (!t) {
			assert_true(err[0] != '\0' && !strchr(err, '\n'));
			assert_int_equal(nr, 0);
			continue;
		}
		assert_true(trace_truncated(t));
		assert_true(trace_nr_steps(t) >= nr);
		nr = trace_nr_steps(t);
		trace_free(t);
	}
	assert_int_equal(nr, 300);
	free(p);
}

static void every_flipped_bit_is_noticed(void **state)
{
	struct trace_writer *w = create();
	char err[200];
	unsigned char *p;
	size_t len;

	(void)state;
	write_steps(w, 100, 3, 7);
	trace_add_outcome(w, &(struct trace_outcome){ .kind = ZUG_OUTCOME_PASS });
	assert_int_equal(trace_close(w, false), 0);
	p = slurp(&len);
	for (size_t bit = 0; bit < len * 8; bit++) {
		err[0] = '\0';
		p[bit / 8] ^= 1 << bit % 8;
		assert_null(trace_parse(p, len, err, sizeof(err)));
		assert_true(err[0] != '\0');
		p[bit / 8] ^= 1 << bit % 8;
	}
	free(p);
}

static void expect_refusal(const char *bytes, size_t len, const char *why)
{
	char err[200];
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	fwrite(bytes, 1, len, f);
	fclose(f);
	assert_null(trace_open(path, err, sizeof(err)));
	if (!strstr(err, why))
		print_message("wanted '%s', got '%s'\n", why, err);
	assert_non_null(strstr(err, why));
}

static void foreign_files_are_named_as_such(void **state)
{
	char err[200];

	(void)state;
	expect_refusal("", 0, "is empty");
	expect_refusal("\x7f" "ELF\2\1\1\0\0\0\0\0\0\0\0\0\0\0", 18, "not a zugzwang trace");
	expect_refusal("hello", 5, "not a zugzwang trace");
	expect_refusal("\x8bZUG\n\x1a\n\0\0\0\0\0\0\0\0\0\0\0", 18, "copied as text");
	expect_refusal(TRACE_MAGIC "\1\0\0\0\0\0\0\0", 16, "cut off");
	expect_refusal(TRACE_MAGIC "\2\0\0\0\0\0\0\0", 16, "version 2");
	assert_null(trace_open("/nonexistent/t", err, sizeof(err)));
	assert_string_equal(err, "/nonexistent/t: No such file or directory");
	assert_null(trace_open("/tmp", err, sizeof(err)));
	assert_string_equal(err, "/tmp: Is a directory");
	assert_null(trace_open("/dev/zero", err, sizeof(err)));
	assert_non_null(strstr(err, "not a zugzwang trace"));
}

static void a_full_disk_sticks_and_leaves_whole_frames(void **state)
{
	struct rlimit old, tiny = { 20000, RLIM_INFINITY };
	const uint32_t enabled[] = { 0 };
	struct trace_writer *w;
	struct trace *t;
	uint64_t rng = 1;
	int err = 0, closed;

	(void)state;
	assert_non_null(w = trace_create("/dev/full", &header, &err));
	assert_int_equal(trace_flush(w), -ENOSPC);
	assert_int_equal(trace_add_object(w, &(struct trace_object){ 1, "mutex", "m" }), -ENOSPC);
	assert_int_equal(trace_close(w, false), -ENOSPC);

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	setrlimit(RLIMIT_FSIZE, &tiny);
	w = create();
	for (uint64_t i = 0; i < 20000 && !err; i++) {
		struct trace_step s = { .step = i, .nr_enabled = 1, .enabled = enabled,
			.last = i ? 0 : TRACE_NO_TASK, .label.object = next_random(&rng) };

		err = trace_add_step(w, &s);
		if (!err && i % 256 == 0)
			err = trace_flush(w);
	}
	closed = trace_close(w, false);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(err, -EFBIG);
	assert_int_equal(closed, -EFBIG);
	t = reopen();
	assert_true(trace_truncated(t));
	assert_true(trace_nr_steps(t) > 512);
	trace_free(t);
}

static void a_discarded_trace_leaves_no_file(void **state)
{
	struct trace_writer *w;
	int err;

	(void)state;
	unlink(path);
	w = create();
	write_steps(w, 10, 2, 1);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(trace_close(w, true), 0);
	assert_int_equal(access(path, F_OK), -1);
	w = create();
	assert_int_equal(trace_flush(w), 0);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(trace_close(w, true), 0);
	assert_int_equal(access(path, F_OK), -1);
	assert_null(trace_create("/nonexistent/t", &header, &err));
	assert_int_equal(err, -ENOENT);
	assert_null(trace_create("/tmp", &header, &err));
	assert_int_equal(err, -EISDIR);
	/* what was not looked at is said when it is written */
	w = trace_create_again("/nonexistent/t", &header, &err);
	assert_non_null(w);
	assert_int_equal(trace_flush(w), -ENOENT);
	trace_close(w, true);
}

static void wrong_steps_are_refused(void **state)
{
	const uint32_t enabled[] = { 3, 3 };
	struct trace_step s = { .step = 0, .nr_enabled = 2, .enabled = enabled };
	struct trace_writer *w = create();

	(void)state;
	assert_int_equal(trace_add_step(w, &s), -EINVAL);
	assert_int_equal(trace_close(w, true), 0);
	w = create();
	s.nr_enabled = 1;
	s.step = 1;
	assert_int_equal(trace_add_step(w, &s), -EINVAL);
	assert_int_equal(trace_close(w, true), 0);
}

static void outcomes_have_names(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ZUG_OUTCOME_NR; i++)
		assert_string_not_equal(zug_outcome_name(i), "unknown");
	assert_string_equal(zug_outcome_name(ZUG_OUTCOME_NR), "unknown");
	assert_true(zug_outcome_is_finding(ZUG_OUTCOME_DEADLOCK));
	assert_false(zug_outcome_is_finding(ZUG_OUTCOME_PASS));
	assert_false(zug_outcome_is_finding(ZUG_OUTCOME_DIVERGED));
	assert_false(zug_outcome_is_finding(1000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* first: its peak must not hide behind another's */
		cmocka_unit_test(a_million_steps_take_bounded_memory),
		cmocka_unit_test(everything_comes_back),
		cmocka_unit_test(a_step_takes_few_bytes),
		cmocka_unit_test(labels_may_outnumber_the_ring),
		cmocka_unit_test(every_prefix_is_readable_or_refused),
		cmocka_unit_test(every_flipped_bit_is_noticed),
		cmocka_unit_test(foreign_files_are_named_as_such),
		cmocka_unit_test(a_full_disk_sticks_and_leaves_whole_frames),
		cmocka_unit_test(a_discarded_trace_leaves_no_file),
		cmocka_unit_test(wrong_steps_are_refused),
		cmocka_unit_test(outcomes_have_names),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
