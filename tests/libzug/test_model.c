/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_model.c - programs of libzug and the same ones as models: equal executions, one by one, under
 * every strategy, and equal numbers where all of them are made
 */
#include <stdio.h>
#include <string.h>
#include "lib/zug/internal.h"
#include "tests/model/gen.h"
#include "tests/model/programs.h"
#include "tests/model/tap.h"
#include "twin.h"

#define MAX_ORDER	4096

/* So many executions of both. */
static bool same_executions(const struct model *m, const char *strategy, uint64_t seed, unsigned int flags, int nr)
{
	struct zug_options o = { .strategy = strategy, .seed = seed, .executions = (unsigned long)nr,
				 .flags = ZUG_QUIET | ZUG_NO_MINIMIZE | flags };
	struct search *s = model_search(strategy, seed, 1);
	static uint32_t want[MAX_ORDER];
	struct zug_campaign *t;
	bool same = true, more = true;

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
		twin_execute(m);
		more = !zug_detach(t);
		if (model_run(m, s, &r, want, MAX_ORDER) != SEARCH_GO || r.cut) {
			same = false;
			break;
		}
		same = twin_is_schedule(want, r.steps) && r.failed == !more;
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
	static const char *const strategies[] = { "portfolio", "random", "pct:depth=3", "pos", "surw", "guided", "reversal",
						  "cycles", "lockstep",
						  "urw", "preemption:bound=2", "delay:bound=2", "dfs", "dpor" };
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
	twin_execute(arg);
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
		zug_test(body, &w.model, &o);
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
