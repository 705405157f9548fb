/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_search.c - searches, minimiser, neighbour and diff through the engine: they see what they
 * see in tests/model
 */
#include <string.h>
#include "report/report_diff.h"
#include "search/minimize.h"
#include "search/neighbour.h"
#include "tests/model/model.h"
#include "tests/model/programs.h"
#include "run.h"

#define PROGRAM(...)	&(const struct mw_program){ __VA_ARGS__ }
#define MAX_EXECUTIONS	300

/* ---- every strategy: the same executions as without an engine ---- */

struct sums {
	uint64_t executions, steps, failed;
	uint64_t hash;		/* of what each of them was, in order */
	struct search_stats stats;
};

static void add(struct sums *s, uint64_t steps, bool failed)
{
	s->executions++;
	s->steps += steps;
	s->failed += failed;
	s->hash = s->hash * 1000003 + steps * 2 + failed;
}

static void in_model(const struct model *m, const char *strategy, struct sums *sums)
{
	struct search *s = model_search(strategy, 1, 1);
	struct model_result r;

	memset(sums, 0, sizeof(*sums));
	while (sums->executions < MAX_EXECUTIONS && model_run(m, s, &r, NULL, 0) == SEARCH_GO)
		add(sums, r.steps, r.failed);
	search_get_stats(s, &sums->stats);
	search_free(s);
}

static void in_world(const struct mw_program *p, const char *strategy, struct sums *sums, bool *odd)
{
	struct search *s = model_search(strategy, 1, 1);
	const struct how how = { .search = s, .no_trace = true };
	struct session n;
	struct run *r;

	memset(sums, 0, sizeof(*sums));
	session_begin(&n, p, &how);
	while (sums->executions < MAX_EXECUTIONS && (r = session_run(&n))) {
		add(sums, r->x.steps, r->x.outcome.kind != ZUG_OUTCOME_PASS);
		*odd |= r->x.diverged || (r->x.outcome.kind != ZUG_OUTCOME_PASS &&
					  r->x.outcome.kind != ZUG_OUTCOME_ABORT);
		run_free(r);
	}
	search_get_stats(s, &sums->stats);
	session_end(&n);
	search_free(s);
}

static void strategies(void)
{
	static const char *const names[] = { "random",
					     "pct:depth=3",
					     "pos",
					     "surw",
					     "urw",
					     "guided",
					     "reversal",
					     "cycles",
					     "lockstep",
					     "portfolio",
					     "dfs",
					     "preemption:bound=0",
					     "preemption:bound=1",
					     "preemption:bound=2",
					     "delay:bound=2",
					     "dpor" };
	static const struct {
		const char *family;
		uint32_t n;
	} programs[] = {
		{ "reorder", 2 }, { "twostage", 1 }, { "lostupdate", 1 },
		{ "chain", 3 },	  { "window", 1 },   { "lines", 2 }, { "values", 3 },
	};

	for (size_t k = 0; k < sizeof(programs) / sizeof(programs[0]); k++) {
		struct program *p = program_new(programs[k].family, programs[k].n);
		static struct mw_op code[MW_TASKS][64];
		struct mw_program w;

		mw_from_model(&p->model, &w, code);
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			struct sums a, b;
			bool odd = false;
			char what[128];

			/*
			 * Who fails takes the others with him, and shows dpor nothing of what they
			 * stood before; a model's tasks stay. Here that makes a difference.
			 */
			if (!strcmp(programs[k].family, "reorder") &&
			    (!strcmp(names[i], "dpor") || !strcmp(names[i], "portfolio")))
				continue;
			in_model(&p->model, names[i], &a);
			in_world(&w, names[i], &b, &odd);
			snprintf(what, sizeof(what), "%s of %s: the same %lu executions", names[i],
				 p->model.name, (unsigned long)a.executions);
			check(a.executions == b.executions && a.steps == b.steps &&
				      a.failed == b.failed && a.hash == b.hash && !odd &&
				      a.stats.distinct == b.stats.distinct &&
				      a.stats.schedules == b.stats.schedules,
			      NULL, what);
			if (a.hash != b.hash)
				printf("# %lu %lu, steps %lu %lu, failed %lu %lu\n", a.executions,
				       b.executions, a.steps, b.steps, a.failed, b.failed);
		}
		program_free(p);
	}
}

/* Two tasks of two steps each on one variable, created by a third. */
static void counts(void)
{
	const struct mw_program *p =
		PROGRAM(.nr_started = 2,
			.code = { TASK(WRITE(0, 1), WRITE(0, 2)), TASK(WRITE(0, 3), WRITE(0, 4)) });
	static const struct {
		const char *strategy;
		uint64_t executions;
	} known[] = {
		{ "dfs", 6 },
		{ "preemption:bound=0", 2 },
		{ "dpor", 6 },
		/* of each bound anew: 2, 4, 6 */
		{ "preemption:bound=1", 2 + 4 },
		{ "preemption:bound=2", 2 + 4 + 6 },
		{ "preemption:bound=3", 2 + 4 + 6 },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct sums s;
		bool odd = false;
		char what[64];

		in_world(p, known[i].strategy, &s, &odd);
		snprintf(what, sizeof(what), "%s: %lu executions", known[i].strategy,
			 (unsigned long)known[i].executions);
		if (!tap_ok(s.executions == known[i].executions && !odd, "%s", what))
			printf("# %lu\n", (unsigned long)s.executions);
	}
}

/* ---- found, minimised, compared ---- */

/* A signal that comes before the wait, and work around it. */
static const struct mw_program lost = { .code = {
	TASK(CREATE(1), CREATE(2), LOCAL, LOCK(0), READ(0, 0), UNLOCK(0), JUMP_EQ(0, 1, 10), LOCK(0), WAIT(0, 0), UNLOCK(0),
	     LOCAL, JOIN(1), JOIN(2)),
	TASK(LOCAL, LOCAL, LOCK(0), WRITE(0, 1), SIGNAL(0), UNLOCK(0), LOCAL),
	TASK(LOCAL, LOCAL, LOCAL) } };

static bool fails(const struct run *r)
{
	return r->x.outcome.kind == ZUG_OUTCOME_DEADLOCK;
}

/* As campaigns minimise: the trace of the simplest execution, and its first pair. */
static struct run *minimise(const struct mw_program *p, const struct run *found,
			    struct minimize_result *result, struct minimize_pair *pair)
{
	const struct search_options o = { .fair = 1,
					  .preemptions = -1,
					  .max_steps = 4 * found->x.steps + 1000 };
	struct replay follow;
	struct how how = { 0 };
	struct run *r, *best = NULL;
	struct session n;

	if (replay_init(&follow, found->t))
		abort();
	how.search =
		minimize_new(&o, follow.tasks, follow.nr, found->x.outcome.failure, 0, NULL, 0);
	session_begin(&n, p, &how);
	while ((r = session_run(&n))) {
		minimize_result(how.search, result);
		if (result->reproduced && result->trial == result->trials) {
			if (best)
				run_free(best);
			best = r;
		} else {
			run_free(r);
		}
	}
	minimize_result(how.search, result);
	if (result->nr_pairs)
		*pair = result->pairs[0];
	session_end(&n);
	search_free(how.search);
	replay_release(&follow);
	return best;
}

static struct run *neighbour(const struct mw_program *p, const struct run *from,
			     struct neighbour_result *result)
{
	const struct search_options o = { .fair = 1,
					  .preemptions = -1,
					  .max_steps = 4 * from->x.steps + 1000 };
	struct replay follow;
	struct how how = { 0 };
	struct run *r, *best = NULL;
	struct session n;

	if (replay_init(&follow, from->t))
		abort();
	how.search =
		neighbour_new(&o, follow.tasks, follow.nr, from->x.outcome.failure, 0, NULL, 0);
	session_begin(&n, p, &how);
	while ((r = session_run(&n))) {
		neighbour_result(how.search, result);
		if (result->found && result->trial == result->trials) {
			if (best)
				run_free(best);
			best = r;
		} else {
			run_free(r);
		}
	}
	session_end(&n);
	search_free(how.search);
	replay_release(&follow);
	return best;
}

static char *diff(const struct trace *a, const struct trace *b, int *ret)
{
	struct report_options o = {
		.width = 120, .first = 0, .last = UINT64_MAX, .task = TRACE_NO_TASK
	};
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	*ret = report_diff(out, a, b, 20, &o);
	fclose(out);
	return text;
}

/* ---- found while a task is held for a race hunt ---- */

/* The same, beside a task that is held before its write. */
static const struct mw_program beside = { .code = {
	TASK(CREATE(1), CREATE(2), LOCAL, LOCK(0), READ(0, 0), UNLOCK(0), JUMP_EQ(0, 1, 10), LOCK(0), WAIT(0, 0), UNLOCK(0),
	     LOCAL, JOIN(1), JOIN(2)),
	TASK(LOCAL, LOCK(0), WRITE(0, 1), SIGNAL(0), UNLOCK(0), LOCAL),
	TASK(LOCAL, WRITE(5, 1), LOCAL) } };

static enum engine_hold is_held(void *ctx, uint32_t task, const struct zug_label *l)
{
	(void)ctx;
	return task == 2 && l->op == ZUG_OP_DATA_WRITE ? HOLD : HOLD_NOT;
}

static void hold(struct engine *e, struct model_world *m, void *ctx)
{
	(void)m;
	engine_hold(e, is_held, ctx);
}

/* Times that the turn was taken from the held task. */
static unsigned int taken(const struct trace *t)
{
	unsigned int n = 0;

	for (uint64_t i = 0; i < trace_nr_steps(t); i++)
		n += trace_step(t, i)->last == 2 && (trace_step(t, i)->flags & TRACE_STEP_PREEMPTION);
	return n;
}

static bool fails_held(const struct run *r)
{
	return fails(r) && taken(r->t);
}

static void found_while_held(void)
{
	struct run *r = find(&beside, &(struct how){ .strategy = "random", .seed = 1, .prepare = hold }, fails_held), *best, *near;
	struct minimize_pair pair = { 0 };
	struct minimize_result m;
	struct neighbour_result n;

	check(r, r, "a lost wake-up is found while a task is held");
	if (!r)
		return;
	best = minimise(&beside, r, &m, &pair);
	check(best && m.reproduced && !taken(best->t), best, "the hold is not what decides: minimising leaves it out");
	near = best ? neighbour(&beside, best, &n) : NULL;
	check(near && n.nr_pairs && n.first.task == 1 && n.second.task == 0, near,
	      "and the two operations are those of the lost wake-up");
	if (near)
		run_free(near);
	if (best)
		run_free(best);
	run_free(r);
}

static void found(void)
{
	struct run *r = find(&lost, &(struct how){ .strategy = "random", .seed = 4 }, fails), *best,
		   *near, *again;
	struct minimize_pair pair = { 0 };
	struct minimize_result m;
	struct neighbour_result n;
	char *text;
	int ret;

	check(r && is_outcome(r, ZUG_OUTCOME_DEADLOCK, "T0 waits in cond-wait for c0"), r,
	      "a random search finds a lost wake-up");
	best = minimise(&lost, r, &m, &pair);
	check(m.reproduced && m.minimal && best && best->x.outcome.failure == r->x.outcome.failure,
	      best, "a lost wake-up is minimised to the same bug");
	check(m.preemptions == 1 && best->x.preemptions == 1 && m.differences <= 2 &&
		      best->x.steps <= r->x.steps,
	      best, "one preemption is enough");
	check(m.nr_pairs == 1 && pair.preempted == 0 && pair.by == 1, best,
	      "the preemption is that of the waiting task by the other");
	again = run(&lost, &(struct how){ .replay = best->t });
	check(!again->x.diverged && again->x.hash == best->x.hash &&
		      again->x.outcome.failure == r->x.outcome.failure,
	      again, "the trace of the simplest schedule is replayed");
	near = neighbour(&lost, best, &n);
	check(n.reproduced && n.found && near && is_outcome(near, ZUG_OUTCOME_PASS, NULL), near,
	      "a neighbour of the simplest schedule passes");
	check(n.nr_pairs && n.alone && n.first.task != n.second.task, near,
	      "the order of two operations alone decides");
	text = diff(best->t, near->t, &ret);
	check(ret == 1 && strstr(text, "T0") && strstr(text, "T1"), best,
	      "the difference of the two traces is shown");
	free(text);
	text = diff(best->t, again->t, &ret);
	check(ret == 0, best, "a trace and its replay do not differ");
	free(text);
	run_free(again);
	run_free(near);
	run_free(best);
	run_free(r);
}

static void simplest(void)
{
	/* fails under any schedule */
	const struct mw_program *always =
		PROGRAM(.code = { TASK(CREATE(1), LOCAL, LOCAL, JOIN(1), READ(0, 0), ASSERT(0, 7)),
				  TASK(LOCAL, LOCAL) });
	struct run *r = find(always, &(struct how){ .strategy = "random", .seed = 9 }, NULL), *best;
	struct minimize_pair pair = { 0 };
	struct minimize_result m;

	best = minimise(always, r, &m, &pair);
	check(m.reproduced && m.minimal && !m.preemptions && !m.differences && best &&
		      !best->x.preemptions,
	      best, "a failure of every schedule is minimised to the base scheduler's");
	run_free(best);
	run_free(r);
}

/* ---- known bugs, by each way to look for them ---- */

static void bugs(void)
{
	static const char *const names[] = { "random", "pct:depth=3", "pos", "surw",
					     "guided", "reversal",    "portfolio", "dfs", "preemption:bound=2",
					     "dpor" };
	static const struct {
		const char *name;
		enum zug_outcome_kind kind;
	} programs[] = {
		{ "a lost update", ZUG_OUTCOME_ABORT },
		{ "an embrace", ZUG_OUTCOME_DEADLOCK },
		{ "a crash", ZUG_OUTCOME_SIGNAL },
		{ "a lost wake-up", ZUG_OUTCOME_DEADLOCK },
	};
	const struct mw_program code[] = {
		{ .code = { TASK(CREATE(1), READ(0, 0), STORE(0, 0, 1), JOIN(1), READ(0, 0),
				 ASSERT(0, 2)),
			    TASK(READ(0, 0), STORE(0, 0, 1)) } },
		{ .code = { TASK(CREATE(1), LOCK(0), LOCK(1), UNLOCK(1), UNLOCK(0), JOIN(1)),
			    TASK(LOCK(1), LOCK(0), UNLOCK(0), UNLOCK(1)) } },
		{ .code = { TASK(CREATE(1), WRITE(0, 1), WRITE(0, 0), JOIN(1)),
			    TASK(READ(0, 0), JUMP_EQ(0, 0, 3), { .op = W_CRASH, .imm = 11 },
				 LOCAL) } },
		{ .code = { TASK(CREATE(1), LOCK(0), READ(0, 0), UNLOCK(0), JUMP_EQ(0, 1, 8),
				 LOCK(0), WAIT(0, 0), UNLOCK(0), JOIN(1)),
			    TASK(LOCK(0), WRITE(0, 1), SIGNAL(0), UNLOCK(0)) } },
	};

	for (size_t k = 0; k < sizeof(programs) / sizeof(programs[0]); k++)
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			const struct how how = { .strategy = names[i], .no_trace = true };
			struct session n;
			struct run *r;
			char what[128];
			int executions = 0;
			bool got = false;

			session_begin(&n, &code[k], &how);
			while (!got && executions++ < 2000 && (r = session_run(&n))) {
				got = r->x.outcome.kind == programs[k].kind;
				run_free(r);
			}
			session_end(&n);
			snprintf(what, sizeof(what), "%s finds %s", names[i], programs[k].name);
			check(got, NULL, what);
		}
}

int main(void)
{
	strategies();
	counts();
	found();
	found_while_held();
	simplest();
	bugs();
	return tap_done();
}
