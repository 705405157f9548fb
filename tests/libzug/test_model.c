/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_model.c - programs of libzug and the same ones as models: equal executions, one by one, under
 * every strategy, and equal numbers where all of them are made
 */
#include <stdio.h>
#include <string.h>
#include "lib/zug/internal.h"
#define ZUG_PTHREAD_NO_NAMES
#include "lib/zug/zug_pthread.h"
#include "tests/model/gen.h"
#include "tests/model/programs.h"
#include "tests/model/tap.h"

#define CODE		48
#define MAX_ORDER	4096

/* A program that both can run: the first task starts the others, joins them, and each task has a first and a last step. */
struct twin {
	struct model model;
	struct model_step code[MODEL_TASKS][CODE];
	uint32_t nr_resources;
};

/* Task t of the twin is task t - 1 of what it is made of. */
static void make_twin(struct twin *w, const struct model *from)
{
	uint32_t nr = from->nr_tasks, n = 0;

	memset(w, 0, sizeof(*w));
	w->model = *from;
	w->model.nr_tasks = nr + 1;
	w->model.nr_started = 1;
	memset(w->model.routine, 0, sizeof(w->model.routine));
	/* the first values of semaphores */
	for (int i = 0; i < MODEL_OBJECTS; i++)
		for (; w->model.sems[i]; w->model.sems[i]--)
			w->code[0][n++] = (struct model_step){ .op = M_SEM_POST, .a = (uint8_t)i };
	for (uint32_t t = 0; t < nr; t++)
		w->code[0][n++] = (struct model_step){ .op = M_FORK, .a = (uint8_t)(t + 1) };
	for (uint32_t t = 0; t < nr; t++)
		w->code[0][n++] = (struct model_step){ .op = M_JOIN, .a = (uint8_t)(t + 1) };
	w->code[0][n++] = (struct model_step){ .op = M_END };
	w->model.code[0] = w->code[0];
	w->model.len[0] = n;
	for (uint32_t t = 0; t < nr; t++) {
		struct model_step *to = w->code[t + 1];

		n = 0;
		to[n++] = (struct model_step){ .op = M_LOCAL };
		for (uint32_t i = 0; i < from->len[t]; i++) {
			to[n] = from->code[t][i];
			to[n++].to++;
		}
		to[n++] = (struct model_step){ .op = M_END };
		w->model.code[t + 1] = to;
		w->model.len[t + 1] = n;
		w->model.parent[t + 1] = 0;
	}
}

/* ---- the same by libzug ---- */

static const struct model *program;
static int16_t vars[MODEL_OBJECTS];
static char files[MODEL_TASKS][8], var_names[MODEL_OBJECTS][8];

static char locks[MODEL_OBJECTS], conds[MODEL_OBJECTS], sems[MODEL_OBJECTS];

static void interpret(void *arg)
{
	uint32_t t = (uint32_t)(size_t)arg, pc = 0;
	const struct model_step *code = program->code[t];
	const char *file = files[t];
	int16_t reg[MODEL_REGS] = { 0 };
	int ops[MODEL_TASKS] = { 0 };

	for (pc = t ? 1 : 0; pc < program->len[t]; pc++) {
		const struct model_step *o = &code[pc];
		int16_t r = reg[o->b % MODEL_REGS];
		int line = (int)pc + 1;

		switch (o->op) {
		case M_READ:
			zug_at_read(var_names[o->a], file, line, file);
			reg[o->b] = vars[o->a];
			break;
		case M_WRITE:
			zug_at_write(var_names[o->a], file, line, file);
			vars[o->a] = o->imm;
			break;
		case M_STORE:
			zug_at_write(var_names[o->a], file, line, file);
			vars[o->a] = (int16_t)(r + o->imm);
			break;
		case M_LOCK:
			zug_at_mutex_lock(&locks[o->a], 0, "lock", file, line, file);
			break;
		case M_UNLOCK:
			zug_at_mutex_unlock(&locks[o->a], "lock", file, line, file);
			break;
		case M_TRYLOCK:
			reg[o->b] = zug_at_mutex_trylock(&locks[o->a], "lock", file, line, file) == 0;
			break;
		case M_WAIT:
			zug_at_cond_wait(&conds[o->a], &locks[o->b], 0, "cond", "lock", file, line, file);
			break;
		case M_SIGNAL:
		case M_BROADCAST:
			zug_at_cond_signal(&conds[o->a], o->op == M_BROADCAST, "cond", file, line, file);
			break;
		case M_SEM_WAIT:
			zug_at_sem_wait(&sems[o->a], ZUG_BLOCK, "sem", file, line, file);
			break;
		case M_SEM_POST:
			zug_at_sem_post(&sems[o->a], "sem", file, line, file);
			break;
		case M_YIELD:
			zug_at_yield(file, line, file);
			break;
		case M_CHOICE:
			reg[o->b] = (int16_t)zug_at_next_integer(o->imm, file, line, file);
			break;
		case M_FORK:
			ops[o->a] = zug_at_spawn(files[o->a], interpret, (void *)(size_t)o->a, file, line, file);
			break;
		case M_JOIN:
			if (zug_at_join_operation(ops[o->a], file, line, file))
				return;
			break;
		case M_END:
			/* the library makes the last step */
			return;
		case M_SET:
			reg[o->b] = o->imm;
			break;
		case M_JUMP:
			pc = o->to - 1u;
			break;
		case M_JUMP_NE:
			if (r != o->imm)
				pc = o->to - 1u;
			break;
		case M_JUMP_EQ:
			if (r == o->imm)
				pc = o->to - 1u;
			break;
		case M_ASSERT:
			if (r != o->imm)
				zug_at_fail("assertion", file, line, file);
			break;
		default:
			fprintf(stderr, "operation %u is not of these tests\n", o->op);
			abort();
		}
	}
}

static void prepare(void)
{
	memcpy(vars, program->vars, sizeof(vars));
	for (int i = 0; i < MODEL_TASKS; i++)
		snprintf(files[i], sizeof(files[i]), "T%d", i);
	for (int i = 0; i < MODEL_OBJECTS; i++)
		snprintf(var_names[i], sizeof(var_names[i]), "v%d", i);
}

/* The schedule of the execution that has just ended. */
static bool is_schedule(const uint32_t *order, uint64_t nr)
{
	if (z.log.nr_steps != nr)
		return false;
	for (uint32_t i = 0; i < nr; i++)
		if (z.log.steps[i].task != order[i])
			return false;
	return true;
}

/* So many executions of both. */
static bool same_executions(const struct model *m, const char *strategy, uint64_t seed, unsigned int flags, int nr)
{
	struct zug_options o = { .strategy = strategy, .seed = seed, .executions = (unsigned long)nr,
				 .flags = ZUG_QUIET | ZUG_NO_MINIMIZE | flags };
	struct search *s = model_search(strategy, seed, 1);
	static uint32_t want[MAX_ORDER];
	struct zug_campaign *t;
	bool same = true, more = true;

	program = m;
	t = zug_open("twin", &o);
	if (!t) {
		printf("# %s\n", zug_message());
		search_free(s);
		return false;
	}
	for (int k = 0; k < nr && same && more; k++) {
		struct model_result r;

		more = zug_attach(t) == 1;
		if (!more) {
			same = model_run(m, s, &r, want, MAX_ORDER) != SEARCH_GO;
			break;
		}
		prepare();
		interpret(NULL);
		more = !zug_detach(t);
		if (model_run(m, s, &r, want, MAX_ORDER) != SEARCH_GO || r.cut) {
			same = false;
			break;
		}
		same = is_schedule(want, r.steps) && r.failed == !more;
		if (!same)
			printf("# %s seed %lu differs in execution %d: %u steps\n", strategy, (unsigned long)seed, k + 1,
			       z.log.nr_steps);
	}
	zug_close(t);
	search_free(s);
	return same;
}

static void test_same(void)
{
	static const char *const strategies[] = { "portfolio", "random", "pct:depth=3", "pos", "surw", "guided", "urw",
						  "preemption:bound=2", "delay:bound=2", "dfs", "dpor" };
	struct rng rng;

	for (size_t i = 0; i < sizeof(strategies) / sizeof(*strategies); i++) {
		bool good = true;

		rng_seed(&rng, 17, i);
		for (int k = 0; k < tap_scale(12, 200) && good; k++) {
			struct gen_program p;
			struct twin w;

			gen_program(&p, &rng, (GEN_ALL & ~(unsigned int)GEN_FORK) | (k % 2 ? GEN_YIELD : 0), 4, 14, 2);
			make_twin(&w, &p.model);
			good = same_executions(&w.model, strategies[i], (uint64_t)k + 1, k % 4 ? ZUG_FIBERS : 0, 40);
		}
		tap_ok(good, "%s makes the same executions as with models", strategies[i]);
	}
}

/* ---- all executions ---- */

static void body(void *arg)
{
	(void)arg;
	prepare();
	interpret(NULL);
}

static void test_all(void)
{
	static const struct { const char *family; uint32_t n; const char *strategy; } cases[] = {
		{ "lines", 2, "dpor" }, { "lines", 1, "dfs" }, { "lines", 2, "preemption:bound=1" },
		{ "lines", 2, "delay:bound=2" }, { "lines", 3, "dpor" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct program *p = program_new(cases[i].family, cases[i].n);
		struct zug_report report;
		struct zug_options o = { .strategy = cases[i].strategy, .executions = 10000000, .seed = 1,
					 .flags = ZUG_QUIET | ZUG_FIBERS, .report = &report };
		struct search *s = model_search(cases[i].strategy, 1, 1);
		struct search_stats stats;
		struct model_result r;
		struct twin w;
		uint64_t made = 0;

		make_twin(&w, &p->model);
		program = &w.model;
		zug_test(body, NULL, &o);
		while (model_run(&w.model, s, &r, NULL, 0) == SEARCH_GO)
			made++;
		search_get_stats(s, &stats);
		tap_ok(report.exhausted && report.executions == made && report.schedules == stats.schedules &&
			       report.classes == stats.distinct && made > 1,
		       "%s of %s %u: all %lu executions, as many as the model's %lu", cases[i].strategy, cases[i].family,
		       cases[i].n, report.executions, (unsigned long)made);
		search_free(s);
		program_free(p);
	}
}

int main(void)
{
	test_same();
	test_all();
	return tap_done();
}
