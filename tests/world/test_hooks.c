/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_hooks.c - what looks on while an execution goes on, and may end it: at steps, at states, a
 * debugger; and what holds tasks back
 */
#include <string.h>
#include "run.h"

#define PROGRAM(...)	&(const struct mw_program){ __VA_ARGS__ }

static const struct mw_program two = { .code = {
	TASK(CREATE(1), WRITE(0, 1), WRITE(0, 2), JOIN(1)), TASK(READ(0, 0), STORE(1, 0, 0)) } };

/* ---- steps ---- */

struct seen {
	uint64_t nr, stop_at;
	enum zug_outcome_kind kind;
	uint64_t wrong;
	uint32_t last;
	char text[256];
};

static bool on_step(void *ctx, const struct search_point *p, uint32_t i, struct outcome *o)
{
	struct seen *s = ctx;

	s->wrong += p->step != s->nr || p->last != s->last;
	s->last = p->cand[i].task;
	snprintf(s->text + strlen(s->text), sizeof(s->text) - strlen(s->text), "%s%u",
		 s->nr ? " " : "", p->cand[i].task);
	if (s->nr++ != s->stop_at)
		return false;
	outcome_set(o, s->kind, "seen enough");
	o->racing[0] = 0;
	o->racing[1] = 1;
	return true;
}

static void watch_steps(struct engine *e, struct model_world *m, void *ctx)
{
	(void)m;
	engine_watch_steps(e, on_step, NULL, ctx);
}

static void steps(void)
{
	struct seen s = { .stop_at = UINT64_MAX, .last = SEARCH_NO_TASK };
	struct run *r = run(&two, &(struct how){ .prepare = watch_steps, .ctx = &s });

	check(s.nr == r->x.steps && !s.wrong && !strcmp(s.text, schedule_of(r->t)), r,
	      "each step is shown before it is made");
	check(!r->stop_always, r, "steps that are passed are shown as well");
	run_free(r);
	s = (struct seen){ .stop_at = 3, .kind = ZUG_OUTCOME_RACE, .last = SEARCH_NO_TASK };
	r = run(&two, &(struct how){ .prepare = watch_steps, .ctx = &s });
	check(is_outcome(r, ZUG_OUTCOME_RACE, "seen enough") && r->x.steps == 4 && r->vars[0] == 1,
	      r, "a watcher of steps can end the execution");
	check(trace_nr_stacks(r->t) == 2 &&
		      !strncmp(trace_stack_at(r->t, 1)->state, "races: about to begin", 21),
	      r, "the stacks say which tasks race");
	check(trace_step(r->t, 3)->label.op == ZUG_OP_DATA_WRITE, r,
	      "the step before which it ends is the last in the trace");
	run_free(r);
	s = (struct seen){ .stop_at = 1, .kind = ZUG_OUTCOME_RACE, .last = SEARCH_NO_TASK };
	r = run(&two, &(struct how){ .prepare = watch_steps, .ctx = &s });
	check(is_outcome(r, ZUG_OUTCOME_RACE, NULL) && r->x.steps == 2 &&
		      trace_step(r->t, 1)->flags & TRACE_STEP_LONE,
	      r, "a watcher of steps can end the execution before a step that is passed");
	run_free(r);
}

/* ---- states: --invariant and --discard-if ---- */

struct states {
	struct model_world *m;
	uint64_t nr;
	int64_t wrong;		/* of variable 0 */
	enum zug_outcome_kind kind;
	char text[256];
};

static bool on_state(void *ctx, uint32_t task, struct outcome *o)
{
	struct states *s = ctx;
	size_t n = strlen(s->text);

	s->nr++;
	snprintf(s->text + n, sizeof(s->text) - n, task == WORLD_NO_TASK ? "%s-" : "%s%u",
		 n ? " " : "", task);
	if (s->m->vars[0] != s->wrong)
		return false;
	outcome_set(o, s->kind, "T%u made it wrong", task);
	return true;
}

static void watch_states(struct engine *e, struct model_world *m, void *ctx)
{
	((struct states *)ctx)->m = m;
	engine_watch_states(e, on_state, ctx);
}

static void states(void)
{
	struct states s = { .wrong = 9 };
	struct run *r = run(&two, &(struct how){ .prepare = watch_states, .ctx = &s });

	check(r->stop_always && r->grants == r->x.steps, r,
	      "with a watcher of states every point stops");
	check(!strcmp(s.text, "- 0 0 0 0 0 1 1 1"), r,
	      "a watcher of states is told the task of the last step");
	check(s.nr == r->x.steps, r, "a watcher of states is called before every decision");
	run_free(r);
	s = (struct states){ .wrong = 2, .kind = ZUG_OUTCOME_INVARIANT };
	r = run(&two, &(struct how){ .prepare = watch_states, .ctx = &s });
	check(is_outcome(r, ZUG_OUTCOME_INVARIANT, "T0 made it wrong") && r->x.steps == 4 &&
		      r->vars[0] == 2,
	      r, "a false invariant ends the execution right after the step that made it false");
	check(trace_nr_stacks(r->t) == 2 && r->drains == 1, r,
	      "a false invariant has the stacks of all tasks");
	run_free(r);
	s = (struct states){ .wrong = 2, .kind = ZUG_OUTCOME_DISCARDED };
	r = run(&two, &(struct how){ .prepare = watch_states, .ctx = &s });
	check(is_outcome(r, ZUG_OUTCOME_DISCARDED, NULL) &&
		      !zug_outcome_is_finding(r->x.outcome.kind),
	      r, "an execution that is discarded is no finding");
	run_free(r);
}

/* ---- tasks that are held back ---- */

struct held {
	uint16_t op;
	uint32_t task;		/* by the place; UINT32_MAX: any */
	uint16_t last;		/* these are held to the last; 0: none */
};

static enum engine_hold is_held(void *ctx, uint32_t task, const struct zug_label *l)
{
	const struct held *h = ctx;

	(void)task;

	if (h->last && l->op == h->last)
		return HOLD_LAST;
	return l->op == h->op && (h->task == UINT32_MAX || l->site >> 16 == h->task) ? HOLD : HOLD_NOT;
}

static void hold(struct engine *e, struct model_world *m, void *ctx)
{
	(void)m;
	engine_hold(e, is_held, ctx);
}

static void cut_at_once(struct engine *e, struct model_world *m, void *ctx)
{
	(void)m;
	(void)ctx;
	engine_until(e, 1);
}

static void cuts(void)
{
	struct run *r = run(&two, &(struct how){ .prepare = cut_at_once });

	check(r->x.outcome.kind == ZUG_OUTCOME_INTERRUPTED && !zug_outcome_is_finding(r->x.outcome.kind) &&
		      r->drains == 1,
	      r, "an execution that has no time left is cut, and is no finding");
	run_free(r);
}

static void holds(void)
{
	struct held writes = { .op = ZUG_OP_DATA_WRITE };
	struct run *r = run(&two, &(struct how){ .prepare = hold, .ctx = &writes });
	uint64_t other = 0, nr = 0;

	check(!strcmp(schedule_of(r->t), "0 0 1 1 1 0 0 0") && r->vars[1] == 0, r,
	      "a task that is held waits while another can go on");
	check(trace_step(r->t, 2)->nr_enabled == 2, r,
	      "a task that is held counts as enabled in the trace");
	run_free(r);
	r = run(&two, &(struct how){ .strategy = "random",
				     .prepare = hold,
				     .ctx = &(struct held){ .op = ZUG_OP_DATA_WRITE, .task = UINT32_MAX } });
	check(is_outcome(r, ZUG_OUTCOME_PASS, NULL) && r->vars[0] == 2, r,
	      "one task goes on where all are held");
	run_free(r);
	for (uint64_t seed = 1; seed <= 20; seed++) {
		r = run(&two, &(struct how){ .strategy = "random",
					     .seed = seed,
					     .prepare = hold,
					     .ctx = &writes });
		other += r->vars[1] != 0;
		run_free(r);
	}
	check(!other, NULL, "a task is held whatever the search would choose");
	r = run(&two, &(struct how){ 0 });
	{
		struct run *again =
			run(&two, &(struct how){ .replay = r->t, .prepare = hold, .ctx = &writes });

		check(!again->x.diverged && again->x.hash == r->x.hash, again,
		      "a replay holds no task");
		run_free(again);
	}
	run_free(r);
	{
		/* T1 never ends while T0 is held */
		const struct mw_program waits = { .code = { TASK(CREATE(1), WRITE(0, 1), JOIN(1)),
							    TASK(READ(0, 0), JUMP_EQ(0, 0, 0)) } };

		r = run(&waits, &(struct how){ .prepare = hold, .ctx = &writes });
		for (uint64_t i = 0; i < r->x.steps; i++)
			nr += trace_step(r->t, i)->task == 1;
		check(is_outcome(r, ZUG_OUTCOME_PASS, NULL) && nr >= ENGINE_HOLDS &&
			      nr < ENGINE_HOLDS + 210,
		      r, "no task is held for ever");
		run_free(r);
	}
	{
		/* two that wait in loops which zugzwang knows to wait */
		const struct mw_op look = { .op = W_READ, .waits = true };
		const struct mw_program waits = { .code = { TASK(CREATE(1), CREATE(2), WRITE(0, 1), JOIN(1), JOIN(2)),
							    TASK(look, JUMP_EQ(0, 0, 0)), TASK(look, JUMP_EQ(0, 0, 0)) } };

		r = run(&waits, &(struct how){ .strategy = "random", .prepare = hold, .ctx = &writes });
		check(is_outcome(r, ZUG_OUTCOME_PASS, NULL) && r->x.steps < 50, r,
		      "a task is not held while all that could go on wait in loops");
		run_free(r);
	}
	{
		/* two writers, and a first task that ends without waiting for them */
		const struct mw_program left = { .code = { TASK(CREATE(1), CREATE(2), EXIT(0)), TASK(WRITE(0, 1)),
							   TASK(WRITE(1, 1)) } };
		struct held ends = { ZUG_OP_DATA_WRITE, UINT32_MAX, ZUG_OP_SYSCALL };

		nr = 0;
		for (uint64_t seed = 1; seed <= 20; seed++) {
			r = run(&left, &(struct how){ .strategy = "random", .seed = seed, .prepare = hold, .ctx = &ends });
			nr += r->vars[0] && r->vars[1];
			run_free(r);
		}
		check(nr == 20, NULL, "where all are held, what is held to the last waits for the others");
	}
}

/* ---- a world that does not name what has changed ---- */

static bool forget(void *ctx, uint32_t task, struct outcome *o)
{
	struct model_world *m = ctx;

	(void)task;
	(void)o;
	world_changes_seen(&m->w);
	return false;
}

static bool name_all(void *ctx, uint32_t task, struct outcome *o)
{
	struct model_world *m = ctx;

	(void)task;
	(void)o;
	world_changed_all(&m->w);
	return false;
}

static void forgets(struct engine *e, struct model_world *m, void *ctx)
{
	engine_watch_states(e, ctx ? name_all : forget, m);
}

static void forgetful(void)
{
	struct run *r = run(&two, &(const struct how){ .prepare = forgets });

	check(is_outcome(r, ZUG_OUTCOME_ENVIRONMENT, NULL) && strstr(r->err, "the candidate that was kept of T"), r,
	      "a stale candidate is noticed");
	run_free(r);
	r = run(&two, &(const struct how){ .prepare = forgets, .ctx = (void *)two.code });
	check(is_outcome(r, ZUG_OUTCOME_PASS, NULL), r, "a world may name all tasks");
	run_free(r);
}

/* ---- a debugger ---- */

struct toy {
	struct debugger d;
	struct model_world *m;
	uint64_t granting, running, ending, stop_at, takes_ns;
	bool not_while_running;
	bool exited, ok;
	char why[128], text[256];
};

static bool granting(struct debugger *d, struct world *w, uint64_t step, uint32_t task)
{
	struct toy *t = (struct toy *)d;

	snprintf(t->text + strlen(t->text), sizeof(t->text) - strlen(t->text), "%s%u",
		 step ? " " : "", task);
	t->ok &= step == t->granting && w->tasks[task].state == TASK_PARKED;
	t->m->now += t->takes_ns;
	return t->granting++ != t->stop_at;
}

static bool running(struct debugger *d, struct world *w)
{
	struct toy *t = (struct toy *)d;

	(void)w;
	t->running++;
	t->m->now += t->takes_ns;
	return !t->not_while_running;
}

static void ending(struct debugger *d, struct world *w, const char *why, bool exited)
{
	struct toy *t = (struct toy *)d;

	(void)w;
	t->ending++;
	t->exited = exited;
	snprintf(t->why, sizeof(t->why), "%s", why);
}

static void keep_world(struct engine *e, struct model_world *m, void *ctx)
{
	(void)e;
	((struct toy *)ctx)->m = m;
}

static struct run *debug(const struct mw_program *p, struct toy *t, const struct how *recorded)
{
	struct run *first = run(p, recorded), *r;
	struct how how = { .replay = first->t, .o = recorded->o, .prepare = keep_world, .ctx = t };

	t->d = (struct debugger){ granting, running, ending };
	t->ok = true;
	how.o.debugger = &t->d;
	r = run(p, &how);
	run_free(first);
	return r;
}

static void debugger(void)
{
	const struct mw_program fails = { .code = { TASK(CREATE(1), LOCK(0), GET(0)),
						    TASK(LOCK(0)) } };
	const struct how base = { 0 };
	struct toy t = { .stop_at = UINT64_MAX };
	struct run *r = debug(&two, &t, &base);

	check(t.ok && t.granting == r->x.steps && !strcmp(t.text, schedule_of(r->t)), r,
	      "a debugger is told which task gets the turn");
	check(r->x.asked == r->x.steps, r, "all tasks stand at each step that a debugger is told");
	check(t.running >= r->x.steps, r, "a debugger is called while a task has the turn");
	check(t.ending == 1 && t.exited && !strcmp(t.why, "pass"), r, "a debugger is told the end");
	run_free(r);
	t = (struct toy){ .stop_at = UINT64_MAX };
	r = debug(&fails, &t, &base);
	check(t.ending == 1 && !t.exited && !strncmp(t.why, "deadlock: T0 waits", 18), r,
	      "a debugger is told how the execution failed");
	run_free(r);
	t = (struct toy){ .stop_at = 3 };
	r = debug(&two, &t, &base);
	check(is_outcome(r, ZUG_OUTCOME_INTERRUPTED, "ended in the debugger") && r->x.steps == 3 &&
		      t.ending == 1,
	      r, "a debugger can end the execution before a step");
	run_free(r);
	t = (struct toy){ .stop_at = UINT64_MAX, .not_while_running = true };
	r = debug(&two, &t, &base);
	check(is_outcome(r, ZUG_OUTCOME_INTERRUPTED, "ended in the debugger") && r->x.steps == 0, r,
	      "a debugger can end the execution at any time");
	run_free(r);
	t = (struct toy){ .stop_at = UINT64_MAX, .takes_ns = 10 * SECOND };
	r = debug(&two, &t, &(const struct how){ .o.timeout_ns = 5 * SECOND });
	check(is_outcome(r, ZUG_OUTCOME_PASS, NULL) && r->ns > 100 * SECOND, r,
	      "a debugger's time does not count for the time-out");
	check(r->x.wall_ns < SECOND, r, "a debugger's time does not count in the trace");
	run_free(r);
	t = (struct toy){ .stop_at = 0 };
	t.d = (struct debugger){ granting, running, ending };
	r = run(&two, &(struct how){ .o.debugger = &t.d });
	check(is_outcome(r, ZUG_OUTCOME_PASS, NULL) && !t.granting && !t.ending, r,
	      "a debugger is not called where nothing is replayed");
	run_free(r);
}

int main(void)
{
	steps();
	states();
	cuts();
	holds();
	forgetful();
	debugger();
	return tap_done();
}
