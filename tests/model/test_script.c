/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_script.c - any schedule, told by where it differs from the base scheduler, is made again; and
 * what the statements 'before' mean, refuse and tell
 */
#include <stdlib.h>
#include <string.h>
#include "search/script.h"
#include "gen.h"
#include "programs.h"
#include "tap.h"

#define MAX_ORDER	1024
#define MAX_TEXT	(64 * 1024)

static struct search *new_script(const char *text, char *err)
{
	static const struct search_names names = { .in = model_is_in, .on = model_is_on };
	struct search_options o = { .fair = 1, .max_steps = 20000, .preemptions = -1, .rules = text,
				    .script = "test.zug", .names = &names };
	static char buf[512];

	return search_new(&o, err ? err : buf, sizeof(buf));
}

/* A recorded execution, step by step. */
struct recorded {
	const struct model *m;
	const uint32_t *order;
	uint64_t nr, at;
	struct model_state s;
	struct search_cand cands[MODEL_TASKS];
};

static bool next(void *ctx, struct search_point *p, uint32_t *task)
{
	struct recorded *r = ctx;
	uint32_t enabled;

	if (r->at)
		model_step(r->m, &r->s, r->order[r->at - 1], 0);
	if (r->at == r->nr)
		return false;
	*p = (struct search_point){ .step = r->at, .last = r->s.last, .yielded = r->s.yielded,
				    .cand = r->cands };
	p->nr = model_cands(r->m, &r->s, r->cands, &enabled);
	*task = r->order[r->at++];
	return true;
}

/* The steps of a task before step at that are like its next one (any: of whatever kind). */
static unsigned int nth(const struct model *m, const uint32_t *order, uint64_t at, uint32_t task, bool any,
			struct zug_label *label)
{
	struct model_state s;
	unsigned int n = 1;

	/* what it stands before does not change while it stands there */
	model_start(m, &s);
	for (uint64_t i = 0; i < at; i++)
		model_step(m, &s, order[i], 0);
	*label = model_label(m, &s, task);
	model_start(m, &s);
	for (uint64_t i = 0; i < at; i++) {
		struct zug_label l = model_label(m, &s, order[i]);

		n += order[i] == task && (any || (l.op == label->op && (l.object == label->object ||
			(label->object && l.object2 == label->object))));
		model_step(m, &s, order[i], 0);
	}
	return n;
}

/* places: by operation and object, else by numbers of steps. How many statements. */
static int write_script(const struct model *m, const uint32_t *order, uint64_t nr, bool places, char *text)
{
	struct recorded r = { .m = m, .order = order, .nr = nr };
	struct script_difference *d;
	char *at = text;
	int n;

	model_start(m, &r.s);
	n = script_differences(1, next, &r, &d);
	*text = 0;
	for (int i = 0; i < n; i++) {
		struct zug_label l;
		unsigned int k = nth(m, order, d[i].step, d[i].instead_of, !places, &l);
		char name[16];

		at += sprintf(at, "before T%u", d[i].instead_of);
		model_object_name(l.object, name);
		if (places)
			at += sprintf(at, " at %s%s%s", zug_op_name(l.op), l.object ? " on " : "",
				      l.object ? name : "");
		at += sprintf(at, " nth %u run T%u\n", k, d[i].task);
	}
	if (n >= 0)
		free(d);
	return n;
}

struct tally {
	int schedules, statements, bad, wrong[2], unmade[2];
};

static void check(const struct model *m, const uint32_t *order, const struct model_result *was, struct tally *t)
{
	static char text[MAX_TEXT];

	t->schedules++;
	for (int places = 0; places < 2; places++) {
		int n = write_script(m, order, was->steps, places, text);
		struct search *s = n < 0 ? NULL : new_script(text, NULL);
		struct search_script_line line;
		uint32_t again[MAX_ORDER];
		struct model_result r;

		if (!s) {
			t->bad++;
			continue;
		}
		t->statements += n;
		/* twice: nothing is left over from the execution before */
		for (int k = 0; k < 2; k++) {
			model_run(m, s, &r, again, MAX_ORDER);
			t->wrong[places] += r.steps != was->steps || r.outcome != was->outcome ||
				    memcmp(again, order, was->steps * sizeof(*order)) != 0;
		}
		for (unsigned int i = 0; i < search_script_lines(s); i++) {
			search_script_line(s, i, &line);
			t->unmade[places] += line.state != SEARCH_SCRIPT_MADE;
		}
		search_free(s);
	}
}

static void test_again(void)
{
	static const char *const families[] = { "lostupdate", "abba", "philosophers", "reorder", "twostage",
						"lostwakeup", "chain", "spin" };
	struct gen_program *g = malloc(sizeof(*g));
	struct model_result r;
	uint32_t order[MAX_ORDER];
	struct tally t = { 0 };

	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		struct program *p = program_new(families[i], 4);
		struct search *s = model_search("random", i + 1, 1);

		for (int k = 0; k < 100; k++) {
			model_run(&p->model, s, &r, order, MAX_ORDER);
			if (!r.cut && r.steps < MAX_ORDER)
				check(&p->model, order, &r, &t);
		}
		search_free(s);
		program_free(p);
	}
	for (int i = 0; i < tap_scale(300, 3000); i++) {
		struct rng rng;
		struct search *s;

		rng_seed(&rng, 7, (uint64_t)i);
		gen_program(g, &rng, GEN_ALL & ~GEN_CHOICE, 4, 18, 2);
		s = model_search("random", (uint64_t)i, 1);
		for (int k = 0; k < 5; k++) {
			model_run(&g->model, s, &r, order, MAX_ORDER);
			check(&g->model, order, &r, &t);
		}
		search_free(s);
	}
	free(g);
	tap_ok(t.schedules > 1000 && !t.bad, "%d schedules, told in %d statements", t.schedules, t.statements);
	tap_ok(!t.wrong[0] && !t.unmade[0], "by the numbers of steps they come again, step for step (%d do not)",
	       t.wrong[0]);
	tap_ok(!t.wrong[1] && !t.unmade[1], "and by operation and object (%d do not)", t.wrong[1]);
}

/* Tasks of 'write v0' that say in which order they ran. */
static void run_lines(const char *text, uint32_t nr_tasks, char *said, struct search **keep)
{
	static const struct model_step code[] = {
		{ M_WRITE, 0, 0, 0, 0 }, { M_WRITE, 1, 0, 0, 0 }, { M_WRITE, 0, 0, 0, 0 },
	};
	struct model m = { .name = "lines", .nr_tasks = nr_tasks, .nr_started = nr_tasks };
	struct search *s = new_script(text, NULL);
	struct model_result r = { 0 };
	uint32_t order[64];

	for (uint32_t i = 0; i < nr_tasks; i++) {
		m.code[i] = code;
		m.len[i] = 3;
	}
	strcpy(said, "refused");
	if (s) {
		model_run(&m, s, &r, order, 64);
		for (uint64_t i = 0; i < r.steps; i++)
			said[i] = (char)('0' + order[i]);
		said[r.steps] = 0;
	}
	if (keep)
		*keep = s;
	else
		search_free(s);
}

static void test_meaning(void)
{
	static const struct { const char *text, *order, *what; } on_lines[] = {
		{ "", "000111222", "nothing said: no task is preempted" },
		{ "before T0 at data-write on v1 run T2", "022200111", "one switch" },
		{ "before T0 on v0 nth 2 run T1", "001112220", "the second time; afterwards as by default" },
		{ "before T0 on v0 nth 2 run T1 until exit", "001110222", "and back, when the other has ended" },
		{ "before T0 on v1 run T1 until on v0 nth 2", "011001222", "and back, before a place of the other" },
		{ "before T0 run T1; before T1 run T2", "222000111", "one after the other, at the start" },
		{ "before T0 run T1\nbefore T0 run T2", "111222000", "the same place twice" },
		{ "before T0 on v1 line a.c:3 run T1 until exit\nbefore T1 on v1 run T2 until exit", "012221100",
		  "one within another" },
		{ "before T0 \"at\" \"data-write\" on \"v1\" run T2 # so", "022200111", "quoted words" },
		{ "before T0 run T1 until on v9", "111000222", "a place that does not come: until it ends" },
		{ "hold T0 until T2 on v1; before T1 on v1 run T2", "122200011", "with a hold of the same language" },
	};
	char said[80];

	for (size_t i = 0; i < sizeof(on_lines) / sizeof(on_lines[0]); i++) {
		run_lines(on_lines[i].text, 3, said, NULL);
		tap_ok(!strcmp(said, on_lines[i].order), "%s: %s (%s)", on_lines[i].what, said, on_lines[i].order);
	}
}

/* A task that spins, politely, for the one that waits for its end. */
static void test_yield(void)
{
	static const struct model_step a[] = { { M_WRITE, 0, 0, 0, 0 }, { M_WRITE, 1, 0, 0, 0 } };
	static const struct model_step b[] = { { M_YIELD, 0, 0, 0, 0 }, { M_WRITE, 0, 0, 0, 0 } };
	struct model m = { .name = "polite", .nr_tasks = 2, .nr_started = 2, .code = { a, b }, .len = { 2, 2 } };
	struct search *s = new_script("before T0 on v1 run T1 until exit", NULL);
	struct model_result r = { 0 };
	uint32_t order[8] = { 9 };

	model_run(&m, s, &r, order, 8);
	tap_ok(r.steps == 4 && !order[0] && order[1] == 1 && !order[2] && order[3] == 1,
	       "a wait ends where the other yields: a script never stops a test");
	search_free(s);
}

static void test_told(void)
{
	static const struct { const char *text; enum search_script_state state; const char *what; } lines[] = {
		{ "before T0 on v1 run T1", SEARCH_SCRIPT_MADE, "made" },
		{ "before T2 on v1 run T1", SEARCH_SCRIPT_UNABLE, "the other has ended" },
		{ "before T0 on v0 nth 3 run T1", SEARCH_SCRIPT_FEWER, "twice, not three times" },
		{ "before T0 at data-read on v0 run T1", SEARCH_SCRIPT_OTHER, "another operation" },
		{ "before T0 on v7 run T1", SEARCH_SCRIPT_GONE, "another object" },
		{ "before T7 run T1", SEARCH_SCRIPT_NO_TASK, "no such task" },
		{ "before T0 run T7", SEARCH_SCRIPT_NO_TASK, "no such other task" },
		{ "before T0 run T1 until on v0 nth 3", SEARCH_SCRIPT_PART, "in part" },
		{ "before T0 run T1 until on v9", SEARCH_SCRIPT_UNTIL_GONE, "its end is gone" },
		{ "let T0 on v0 nth 2 get fail-eintr", SEARCH_SCRIPT_UNABLE, "a call that cannot have that" },
		{ "let T0 on v0 nth 3 get killed", SEARCH_SCRIPT_FEWER, "a call that does not come a third time" },
		{ "let T0 on v7 get timer", SEARCH_SCRIPT_GONE, "a call that is gone" },
		{ "let T7 get short-read 3", SEARCH_SCRIPT_NO_TASK, "a call of no task" },
	};
	struct search_script_line line = { 0 };
	struct search *s;
	char said[80];

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		run_lines(lines[i].text, 3, said, &s);
		if (s)
			search_script_line(s, 0, &line);
		tap_ok(s && search_script_lines(s) == 1 && line.state == lines[i].state && line.line == 1 &&
		       !strcmp(line.text, lines[i].text), "told: %s (%d)", lines[i].what, line.state);
		search_free(s);
	}
	run_lines("\n # x\n  before T0 on v0 run T1 # y\nstrict", 3, said, &s);
	if (s)
		search_script_line(s, 0, &line);
	tap_ok(s && search_script_is_on(s, 1) && !search_script_is_on(s, 2), "what it is about");
	tap_ok(s && line.line == 3 && !strcmp(line.text, "before T0 on v0 run T1") && search_script_strict(s),
	       "its line, its text, and 'strict'");
	search_free(s);
}

/* What is said of calls is said at their steps, and only there. */
static void test_let(void)
{
	static const struct { bool timer; uint64_t step; unsigned int op; uint32_t amount; } said[] = {
		{ true, 1, ZUG_OP_NONE, 0 }, { false, 2, ZUG_OP_SHORT_READ, 3 }, { true, 2, ZUG_OP_NONE, 0 },
		{ false, 4, ZUG_OP_FAIL_EINTR, 0 },
	};
	struct search *s = new_script("let T0 at read nth 2 get timer; let T0 nth 3 get short-read 3\nlet T0 nth 3 get timer\n"
				      "let T1 at write get fail-eintr", NULL);
	struct search_script_line line;
	size_t nr = 0, made = 0;
	bool right = s != NULL;

	for (int k = 0; s && k < 2; k++) {
		right &= search_begin(s) == SEARCH_GO;
		nr = made = 0;
		for (uint64_t step = 0; step < 5; step++) {
			struct search_cand c[2] = {
				{ .task = 0, .label.op = ZUG_OP_READ, .enabled = step < 3 },
				{ .task = 1, .label.op = step < 4 ? ZUG_OP_READ : ZUG_OP_WRITE, .enabled = true },
			};
			struct search_point p = { .step = step, .last = !step ? SEARCH_NO_TASK : step > 3, .cand = c, .nr = 2 };

			right &= search_pick(s, &p) == (step < 3 ? 0 : 1);
			for (int timer = 1; timer >= 0; timer--) {
				unsigned int op;
				uint32_t amount;

				if (!search_script_let(s, timer, &op, &amount))
					continue;
				for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
					made += said[i].timer == timer && said[i].step == step && said[i].op == op &&
						said[i].amount == amount;
				nr++;
				search_script_was_made(s, timer);
			}
		}
		search_end(s, &(struct search_end){ .result = SEARCH_PASS });
	}
	for (unsigned int i = 0; right && i < 4; i++) {
		search_script_line(s, i, &line);
		right &= line.let && line.state == SEARCH_SCRIPT_MADE;
	}
	tap_ok(right && nr == 4 && made == 4, "calls: %zu of %zu statements at their steps", made, nr);
	search_free(s);
}

static void test_refused(void)
{
	static const struct { const char *text, *say; } bad[] = {
		{ "before", "needs something" }, { "before x run T1", "not a task" },
		{ "before T0", "'run TASK' is missing" }, { "before T0 run T0", "instead of itself" },
		{ "before T0 at nonesuch run T1", "unknown operation" }, { "before T0 T1 run T1", "takes one task" },
		{ "before T0 nth 0 run T1", "from 1" }, { "before T0 run T1 until", "needs something" },
		{ "before T0 run T1 until T2 at lock", "takes T1, the task that runs" },
		{ "before T0 run T1 while x == 1", "not expected" }, { "\n\nbefore T0 on \"x run T1", "test.zug:3: " },
		{ "any; before T0 run T1; end", "within a group" }, { "stay nth 2", "not expected" },
		{ "before T0 on \"\" run T1", "empty word" }, { "let T0 at read", "'get OUTCOME' is missing" },
		{ "let T0 get read", "unknown outcome" }, { "let T0 get", "needs something" },
		{ "let T0 get short-read 0", "from 1" }, { "let T0 get delayed 5 6", "not expected" },
		{ "let T0 T1 get lost", "takes one task" }, { "any; let T0 get lost; end", "within a group" },
	};
	struct search_options o = { .strategy = "random", .fair = 1, .preemptions = -1,
				    .rules = "before T0 run T1" };
	char err[512];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct search *s = new_script(bad[i].text, err);

		tap_ok(!s && strstr(err, bad[i].say) && strstr(err, "test.zug:"), "'%s': %s",
		       bad[i].text + strspn(bad[i].text, "\n"), s ? "taken" : err);
		search_free(s);
	}
	tap_ok(!search_new(&o, err, sizeof(err)) && strstr(err, "--script"), "not without --script: %s", err);
}

int main(void)
{
	test_again();
	test_meaning();
	test_yield();
	test_told();
	test_let();
	test_refused();
	return tap_done();
}
