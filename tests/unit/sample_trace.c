// SPDX-License-Identifier: GPL-2.0-only
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include "lib/base/machine_mark.h"
#include "report/report.h"
#include "sample_trace.h"

#define LOCK_A 0xa1a1a1a1a1a1a1a1
#define LOCK_B 0xb2b2b2b2b2b2b2b2

static struct trace_writer *create(const char *path, const char *dir)
{
	char options[80];
	const struct trace_header h = {
		.argv = (char *[]){ "./abba", "two words", NULL },
		.cwd = dir,
		.envp = (char *[]){ "LANG=C", NULL },
		.kernel = "6.18.15+deb13-cloud-amd64",
		.zug_version = "0.1.0",
		.strategy = "pct:d=2",
		.seed = 42,
		.execution = 17,
		.options = options,
	};
	struct trace_writer *w;
	int err;

	snprintf(options, sizeof(options), "{\"points\":[\"sync\"],\"" MACHINE_MARK_KEY "\":\"%s\"}", machine_mark());
	w = trace_create(path, &h, &err);
	assert(w);
	return w;
}

static void add_site(struct trace_writer *w, uint64_t site, const char *function, uint32_t line)
{
	const struct trace_frame frame = { function, "abba.c", line, false };

	trace_add_site(w, &(struct trace_site){ site, 0, site * 16, 1, &frame, NULL });
}

static void step(struct trace_writer *w, uint64_t i, uint32_t last, uint32_t task, uint32_t op,
		 uint64_t object, uint64_t site, uint32_t flags, uint32_t enabled_mask)
{
	uint32_t enabled[8], n = 0;
	struct trace_step s = {
		.step = i, .last = last, .task = task, .flags = flags, .enabled = enabled,
		.label = { .op = op, .flags = zug_op_flags(op), .object = object, .site = site },
	};

	for (uint32_t k = 0; k < 8; k++)
		if (enabled_mask & 1u << k)
			enabled[n++] = k;
	s.nr_enabled = n;
	assert(trace_add_step(w, &s) == 0);
}

static void tables(struct trace_writer *w)
{
	trace_add_task(w, &(struct trace_task){ 0, TRACE_NO_TASK, 0, 100, 0, "abba" });
	trace_add_task(w, &(struct trace_task){ 1, 0, 0, 101, 0, "abba" });
	trace_add_task(w, &(struct trace_task){ 2, 0, 1, 102, 0, "abba" });
	trace_add_module(w, &(struct trace_module){ 0, "/nonexistent/abba", "00ff" });
	trace_add_object(w, &(struct trace_object){ LOCK_A, "mutex", "a" });
	trace_add_object(w, &(struct trace_object){ LOCK_B, "mutex", "b" });
	add_site(w, 1, "main", 9);
	add_site(w, 2, "a_then_b", 2);
	add_site(w, 3, "a_then_b", 3);
	add_site(w, 4, "b_then_a", 5);
	add_site(w, 5, "b_then_a", 6);
	trace_add_site(w, &(struct trace_site){ 6, 0, 0x1139, 0, NULL, NULL });
}

void sample_deadlock(const char *path, const char *dir)
{
	struct trace_writer *w = create(path, dir);
	const struct trace_frame stack1[] = {
		{ "pthread_mutex_lock", NULL, 0, false }, { "a_then_b", "abba.c", 3, false },
		{ "start_thread", NULL, 0, false },
	};
	char source[200];
	FILE *f;

	snprintf(source, sizeof(source), "%s/abba.c", dir);
	f = fopen(source, "w");
	assert(f);
	fputs("/* 1 */\n\tlock(&a);\n\tlock(&b);\n/* 4 */\n\tlock(&b); \033[2J\n\tlock(&a);\n", f);
	fclose(f);

	tables(w);
	step(w, 0, TRACE_NO_TASK, 0, ZUG_OP_BEGIN, 0, 6, 0, 1);
	step(w, 1, 0, 0, ZUG_OP_CREATE, 0, 1, 0, 1);
	step(w, 2, 0, 0, ZUG_OP_CREATE, 0, 1, 0, 3);
	step(w, 3, 0, 0, ZUG_OP_JOIN, 0, 1, 0, 7);
	trace_add_note(w, &(struct trace_note){ TRACE_NOTE_BLOCK, 0, TRACE_NO_TASK, 0, "join T1" });
	step(w, 4, 0, 1, ZUG_OP_BEGIN, 0, 0, 0, 6);
	step(w, 5, 1, 1, ZUG_OP_LOCK, LOCK_A, 2, 0, 6);
	step(w, 6, 1, 2, ZUG_OP_BEGIN, 0, 0, TRACE_STEP_PREEMPTION, 6);
	step(w, 7, 2, 2, ZUG_OP_LOCK, LOCK_B, 4, 0, 6);
	step(w, 8, 2, 2, ZUG_OP_LOCK, LOCK_A, 5, 0, 6);
	trace_add_note(w, &(struct trace_note){ TRACE_NOTE_BLOCK, 2, TRACE_NO_TASK, LOCK_A, "futex a" });
	step(w, 9, 2, 1, ZUG_OP_LOCK, LOCK_B, 3, 0, 2);
	trace_add_note(w, &(struct trace_note){ TRACE_NOTE_BLOCK, 1, TRACE_NO_TASK, LOCK_B, "futex b" });
	trace_add_stack(w, &(struct trace_stack){ 1, "waits for b", 3, stack1 });
	trace_add_outcome(w, &(struct trace_outcome){
		.kind = ZUG_OUTCOME_DEADLOCK, .failure = 0xdead,
		.message = "T0 waits in join; T1 waits in lock for b, held by T2; "
			   "T2 waits in lock for a, held by T1",
		.out_head = "hello \033]0;evil\007\n", .err_tail = "last words" });
	assert(trace_close(w, false) == 0);
}

void sample_long(const char *path, unsigned int nr_steps)
{
	struct trace_writer *w = create(path, "/nonexistent");

	tables(w);
	for (unsigned int i = 0; i < nr_steps; i++) {
		unsigned int last = i ? (i - 1) / 10 % 3 : TRACE_NO_TASK, task = i / 10 % 3;
		bool preempted = i == nr_steps / 20 * 10 || i == nr_steps - 10;

		step(w, i, last, task, i % 2 ? ZUG_OP_UNLOCK : ZUG_OP_LOCK, i % 4 < 2 ? LOCK_A : LOCK_B,
		     2 + i % 4, preempted ? TRACE_STEP_PREEMPTION : 0, 7);
	}
	trace_add_outcome(w, &(struct trace_outcome){ .kind = ZUG_OUTCOME_ABORT, .code = 6,
		.message = "abba.c:9: main: Assertion `sum == 100' failed." });
	assert(trace_close(w, false) == 0);
}

#define BUSY_TASKS 12
#define BUSY_LOCKS 24
#define BUSY_VARIABLES 40
#define BUSY_SITES 150

/* xorshift64 */
static uint64_t random_number(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

struct busy_task {
	uint32_t wants, holds;		/* lock + 1, 0: none */
	unsigned int left;		/* operations until it unlocks, or sleeps */
	bool begun, sleeps;
};

static void busy_tables(struct trace_writer *w)
{
	char name[64];

	for (uint32_t i = 0; i < BUSY_TASKS; i++)
		trace_add_task(w, &(struct trace_task){ i, i ? i / 4 * 4 == i ? 0 : i / 4 * 4 : TRACE_NO_TASK,
							i, 1000 + i, i / 4 * 4, i / 4 ? "worker" : "server" });
	trace_add_module(w, &(struct trace_module){ 0, "/nonexistent/server", "00ff" });
	for (uint32_t i = 0; i < BUSY_LOCKS; i++) {
		snprintf(name, sizeof(name), "table[%u].lock", i);
		trace_add_object(w, &(struct trace_object){ 0x1000 + i, "mutex", name });
	}
	for (uint32_t i = 0; i < BUSY_VARIABLES; i++) {
		snprintf(name, sizeof(name), "stats.counter_%u", i);
		trace_add_object(w, &(struct trace_object){ 0x2000 + i, "variable", name });
	}
	for (uint32_t i = 0; i < BUSY_SITES; i++) {
		struct trace_frame frames[2] = { { NULL, "abba.c", 1 + i % 6, true },
						 { "serve_request", "server.c", 100 + i, false } };

		snprintf(name, sizeof(name), "handler_%u", i);
		frames[0].function = name;
		trace_add_site(w, &(struct trace_site){ 1 + i, 0, 16 * i, 2, frames, NULL });
	}
}

static void busy_operation(struct busy_task *who, struct zug_label *l, uint64_t *random)
{
	if (!who->begun) {
		*l = (struct zug_label){ .op = ZUG_OP_BEGIN };
		who->begun = true;
		who->left = 3;
	} else if (who->wants) {
		*l = (struct zug_label){ .op = ZUG_OP_LOCK, .object = 0x1000 + who->wants - 1 };
		who->holds = who->wants;
		who->wants = 0;
		who->left = 1 + random_number(random) % 6;
	} else if (who->left) {
		*l = (struct zug_label){ .op = random_number(random) % 3 ? ZUG_OP_DATA_READ : ZUG_OP_DATA_WRITE,
					 .object = 0x2000 + random_number(random) % BUSY_VARIABLES };
		who->left--;
	} else if (who->holds) {
		*l = (struct zug_label){ .op = ZUG_OP_UNLOCK, .object = 0x1000 + who->holds - 1 };
		who->holds = 0;
		who->left = random_number(random) % 4;
	} else {
		*l = (struct zug_label){ .op = ZUG_OP_FUTEX_WAIT };
		who->sleeps = random_number(random) % 4 == 0;
		who->wants = 1 + random_number(random) % BUSY_LOCKS;
	}
	l->site = l->op == ZUG_OP_BEGIN ? 0 : 1 + (l->op + l->object * 7) % BUSY_SITES;
	l->flags = zug_op_flags(l->op);
}

void sample_busy(const char *path, const char *dir, unsigned int nr_steps)
{
	struct trace_writer *w = create(path, dir);
	struct busy_task who[BUSY_TASKS] = { 0 };
	uint32_t last = TRACE_NO_TASK, enabled[BUSY_TASKS];
	uint64_t random = 88172645463325252u;

	busy_tables(w);
	for (unsigned int i = 0; i < nr_steps; i++) {
		struct trace_step s = { .step = i, .last = last, .enabled = enabled };
		bool goes_on = false;

		for (uint32_t k = 0; k < BUSY_TASKS; k++) {
			bool held = false;

			for (uint32_t m = 0; m < BUSY_TASKS; m++)
				held |= who[k].wants && who[m].holds == who[k].wants;
			if (who[k].sleeps && random_number(&random) % 20 == 0 && last != k) {
				who[k].sleeps = false;
				trace_add_note(w, &(struct trace_note){ TRACE_NOTE_WAKE, k, last, 0, NULL });
			}
			if (held || who[k].sleeps || (k && i < k * 20))
				continue;
			enabled[s.nr_enabled++] = k;
			goes_on |= k == last;
		}
		if (!s.nr_enabled) {
			/* all tasks sleep: a timer wakes the first */
			who[0].sleeps = false;
			who[0].wants = 0;
			trace_add_note(w, &(struct trace_note){ TRACE_NOTE_WAKE, 0, TRACE_NO_TASK, 0, NULL });
			enabled[s.nr_enabled++] = 0;
		}
		s.task = goes_on && random_number(&random) % 20 ? last :
			 enabled[random_number(&random) % s.nr_enabled];
		if (goes_on && s.task != last)
			s.flags = TRACE_STEP_PREEMPTION;
		busy_operation(&who[s.task], &s.label, &random);
		assert(trace_add_step(w, &s) == 0);
		if (who[s.task].sleeps)
			trace_add_note(w, &(struct trace_note){ TRACE_NOTE_BLOCK, s.task, TRACE_NO_TASK, 0, "futex" });
		last = s.task;
	}
	trace_add_outcome(w, &(struct trace_outcome){ .kind = ZUG_OUTCOME_ABORT, .code = 6, .failure = 0xbad,
		.message = "server.c:118: serve_request: Assertion `stats.total == sum' failed." });
	assert(trace_close(w, false) == 0);
}

struct trace_writer *sample_begin(const char *path)
{
	const struct trace_header h = { .cwd = "/src", .argv = (char *[]){ "x", NULL }, .envp = (char *[]){ NULL } };
	int err;
	struct trace_writer *w = trace_create(path, &h, &err);

	assert(w);
	return w;
}

const uint32_t sample_both[2] = { 0, 1 };

struct trace_writer *sample_begin_two(const char *path)
{
	struct trace_writer *w = sample_begin(path);

	trace_add_task(w, &(struct trace_task){ .parent = TRACE_NO_TASK, .comm = "x" });
	trace_add_task(w, &(struct trace_task){ .task = 1, .parent = 0, .comm = "x" });
	return w;
}

struct trace *sample_end(struct trace_writer *w, const char *path, char **told)
{
	struct report_options o;
	struct trace *t;
	char error[256];
	size_t len;
	FILE *f;

	if (trace_close(w, false))
		abort();
	t = trace_open(path, error, sizeof(error));
	assert(t);
	f = open_memstream(told, &len);
	assert(f);
	report_options_init(&o, f);
	report_finding(f, t, &o);
	fclose(f);
	return t;
}
