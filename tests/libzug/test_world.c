/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_world.c - random programs by libzug alone, and by zug's engine in the tests' world: the same
 * schedules, operations, values and outcomes, execution by execution
 *
 * Without yields: the kernel's tasks have yielded when they stand there, and those of libzug when they have made that
 * step (test_model.c has them).
 */
#include <stdio.h>
#include <string.h>
#include "lib/zug/internal.h"
#include "tests/model/gen.h"
#include "tests/world/run.h"
#include "twin.h"

/* How the random programs came out, over all of them: each kind must have been there. */
static unsigned int passed, aborted, deadlocked;

/* At the end the first task says what it wants to find in a variable. */
static void add_assertion(struct twin *w, int16_t value)
{
	uint32_t n = w->model.len[0] - 1;

	w->code[0][n++] = (struct model_step){ .op = M_READ };
	w->code[0][n++] = (struct model_step){ .op = M_ASSERT, .imm = value };
	w->code[0][n++] = (struct model_step){ .op = M_END };
	w->model.len[0] = n;
}

static bool differ(const char *strategy, unsigned long seed, int execution, const char *what, const char *here,
		   const char *there)
{
	printf("# %s seed %lu, execution %d: another %s: %s, and not %s\n", strategy, seed, execution, what, here, there);
	return false;
}

/* A cycle of locks is told while others still live; libzug goes on until none does. */
static enum zug_outcome_kind outcome_of(const struct run *r)
{
	return r->x.outcome.kind == ZUG_OUTCOME_LOCK_CYCLE ? ZUG_OUTCOME_DEADLOCK : r->x.outcome.kind;
}

/* Before it says that there is a deadlock, the engine lets each task try what will block. */
static bool is_attempt(const struct run *r, uint64_t step)
{
	unsigned int op = trace_step(r->t, step)->label.op;

	return outcome_of(r) == ZUG_OUTCOME_DEADLOCK &&
	       (op == ZUG_OP_JOIN || op == ZUG_OP_LOCK || op == ZUG_OP_SEM_WAIT || op == ZUG_OP_COND_WAIT);
}

/* What libzug has just executed, beside the same of the world. */
static bool is_same(const struct run *r, const char *strategy, unsigned long seed, int nr)
{
	char here[32], there[32];

	if (outcome_of(r) != z.outcome.kind)
		return differ(strategy, seed, nr, "outcome", zug_outcome_name(z.outcome.kind), zug_outcome_name(r->x.outcome.kind));
	for (uint32_t i = 0; i < z.log.nr_steps && i < trace_nr_steps(r->t); i++) {
		const struct log_step *a = &z.log.steps[i];
		const struct trace_step *b = trace_step(r->t, i);

		snprintf(here, sizeof(here), "T%u %s", a->task, zug_op_name(a->label.op));
		snprintf(there, sizeof(there), "T%u %s", b->task, zug_op_name(b->label.op));
		if (strcmp(here, there))
			return differ(strategy, seed, nr, "step", here, there);
	}
	for (uint64_t i = z.log.nr_steps; i < r->x.steps; i++)
		if (!is_attempt(r, i))
			return differ(strategy, seed, nr, "end", "none", zug_op_name(trace_step(r->t, i)->label.op));
	if (z.log.nr_steps > r->x.steps || (z.preemptions != r->x.preemptions && z.log.nr_steps == r->x.steps)) {
		snprintf(here, sizeof(here), "%u, %u", z.log.nr_steps, z.preemptions);
		snprintf(there, sizeof(there), "%lu, %lu", (unsigned long)r->x.steps, (unsigned long)r->x.preemptions);
		return differ(strategy, seed, nr, "number of steps, preemptions", here, there);
	}
	for (int i = 0; i < MODEL_OBJECTS && i < MW_OBJECTS; i++)
		if (twin_vars[i] != r->vars[i])
			return differ(strategy, seed, nr, "value", "", "");
	return true;
}

static void count(enum zug_outcome_kind kind)
{
	passed += kind == ZUG_OUTCOME_PASS;
	aborted += kind == ZUG_OUTCOME_ABORT;
	deadlocked += kind == ZUG_OUTCOME_DEADLOCK;
}

/* Up to the first that fails, with which a test of libzug is over. */
static bool same_executions(const struct model *m, const char *strategy, unsigned long seed, unsigned int flags, int nr)
{
	struct zug_options o = { .strategy = strategy, .seed = seed, .executions = (unsigned long)nr,
				 .flags = ZUG_QUIET | ZUG_NO_MINIMIZE | flags };
	static struct mw_op code[MW_TASKS][64];
	const struct how how = { .search = model_search(strategy, seed, 1), .o.ask_always = true };
	struct mw_program w;
	struct session n;
	struct zug_campaign *t = zug_open("twin", &o);
	bool same = t, failed = false;

	mw_from_model(m, &w, code);
	session_begin(&n, &w, &how);
	for (int k = 1; k <= nr && same && !failed; k++) {
		bool more = zug_attach(t) == 1;
		struct run *r;

		if (more) {
			twin_execute(m);
			failed = zug_detach(t);
		}
		r = session_run(&n);
		if (!r || !more) {
			same = !r == !more;
			failed = true;
		}
		if (r && more) {
			same = is_same(r, strategy, seed, k);
			count(outcome_of(r));
		}
		if (r)
			run_free(r);
	}
	zug_close(t);
	session_end(&n);
	search_free(how.search);
	return same;
}

int main(void)
{
	static const char *const strategies[] = { "portfolio", "random", "pct:depth=3", "pos", "surw", "guided", "reversal",
						  "cycles", "lockstep",
						  "urw", "preemption:bound=2", "delay:bound=2", "dfs", "dpor" };
	struct rng rng;

	for (size_t i = 0; i < sizeof(strategies) / sizeof(*strategies); i++) {
		bool good = true;

		rng_seed(&rng, 23, i);
		for (int k = 0; k < tap_scale(60, 1000) && good; k++) {
			struct gen_program p;
			struct twin w;

			gen_program(&p, &rng, GEN_ALL & ~(unsigned int)GEN_FORK, 4, 14, 2);
			make_twin(&w, &p.model);
			add_assertion(&w, (int16_t)(k % 3));
			good = same_executions(&w.model, strategies[i], (unsigned long)k + 1, k % 4 ? ZUG_FIBERS : 0, 40);
		}
		tap_ok(good, "%s makes the same executions as zug's engine", strategies[i]);
	}
	tap_ok(passed && aborted && deadlocked, "%u of them passed, %u failed an assertion, %u ended in a deadlock", passed,
	       aborted, deadlocked);
	return tap_done();
}
