/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bench_search.c - the findings of strategies, and their cost
 *
 *	bench_search find [SEEDS [LIMIT [STRATEGY...]]]
 *	bench_search generated [PROGRAMS [STRATEGY...]]
 *	bench_search speed
 *	bench_search safestack [SEEDS [LIMIT [STRATEGY...]]]
 *	bench_search lanes [US [STRATEGY...]]
 *
 * find: executions to the first bug, median and quartiles over seeds, for each
 * program and strategy, as a Markdown table. A search that gives up after LIMIT
 * executions counts as infinitely long. The first execution never preempts, as that of `zug run`.
 *
 * generated: for random programs, the share of those of which a strategy shows the rarest known
 * end within so many executions, as a Markdown table. No strategy was made with these in mind.
 *
 * speed: time a step against a bare loop over the same programs that picks at
 * random, without fairness, hashes or records.
 *
 * safestack: executions until the bug of a program whose bug is known as very rare (safestack.c), one
 * line for each seed.
 *
 * lanes: what a search takes itself for an execution that a lane has made, with lanes that sleep for US in place of an
 * execution, as a Markdown table: CPU time, and how often it sleeps. The campaign's own figures are no part of it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "search/parts.h"
#include "search/rng.h"
#include "tests/model/gen.h"
#include "tests/model/programs.h"
#include "tools/bench/lane_loop.h"
#include "tools/bench/safestack.h"

static const struct { const char *family; uint32_t n; } programs[] = {
	{ "reorder", 2 }, { "reorder", 3 }, { "reorder", 4 }, { "reorder", 9 }, { "reorder", 19 },
	{ "twostage", 1 }, { "twostage", 9 }, { "twostage", 19 }, { "twostage", 99 },
	{ "philosophers", 3 }, { "philosophers", 5 }, { "philosophers", 8 },
	{ "lostupdate", 0 }, { "lostupdate", 20 }, { "lostupdate", 100 },
	{ "abba", 0 }, { "abba", 20 }, { "window", 20 }, { "lostwakeup", 10 },
	{ "bakery", 0 }, { "bakery", 20 },
	{ "chain", 2 }, { "chain", 4 }, { "chain", 6 },
};

static const char *const default_strategies[] = {
	"random", "pct:depth=2", "pct:depth=3", "pct:depth=5", "pos", "urw", "surw",
	"preemption:bound=3", "delay:bound=5", "dpor", NULL
};

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

#define THE_BUG	0	/* no outcome is that */

/* The execution came to that end, or to THE_BUG. */
static bool ended(const struct model_result *r, uint64_t outcome)
{
	return outcome == THE_BUG ? r->failed : r->outcome == outcome;
}

/* Executions until that outcome, or THE_BUG; UINT64_MAX: more than the limit. */
static uint64_t executions_to(const struct model *m, const char *strategy, uint64_t seed,
			      uint64_t limit, uint64_t outcome)
{
	struct search *s = model_search(strategy, seed, 1);
	struct model_result r;
	uint64_t nr = 0;
	bool found = false;

	if (limit && model_run_base(m, s, &r) == SEARCH_GO) {
		nr++;
		found = ended(&r, outcome);
	}
	while (nr < limit && !found && model_run(m, s, &r, NULL, 0) == SEARCH_GO) {
		nr++;
		found = ended(&r, outcome);
	}
	search_free(s);
	return found ? nr : UINT64_MAX;
}

static void print_count(uint64_t n)
{
	if (n == UINT64_MAX)
		printf("-");
	else
		printf("%llu", (unsigned long long)n);
}

/* False: the seed changes nothing. */
static bool draws(const char *strategy)
{
	static const char *const systematic[] = { "preemption", "delay", "dfs", "dpor" };

	for (size_t i = 0; i < sizeof(systematic) / sizeof(systematic[0]); i++)
		if (!strncmp(strategy, systematic[i], strlen(systematic[i])))
			return false;
	return true;
}

static void find(int seeds, uint64_t limit, const char *const *strategies)
{
	uint64_t *nr = calloc((size_t)seeds, sizeof(*nr));

	printf("| program |");
	for (int i = 0; strategies[i]; i++)
		printf(" %s |", strategies[i]);
	printf("\n|---|");
	for (int i = 0; strategies[i]; i++)
		printf("---|");
	printf("\n");
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		struct program *p = program_new(programs[i].family, programs[i].n);

		program_share_places(p);
		printf("| %s |", p->name);
		for (int k = 0; strategies[k]; k++) {
			int n = draws(strategies[k]) ? seeds : 1;

			for (int s = 0; s < n; s++)
				nr[s] = executions_to(&p->model, strategies[k], (uint64_t)s + 1,
						      limit, THE_BUG);
			qsort(nr, (size_t)n, sizeof(*nr), compare);
			printf(" ");
			print_count(nr[n / 2]);
			if (n > 1) {
				printf(" (");
				print_count(nr[n / 4]);
				printf("..");
				print_count(nr[n * 3 / 4]);
				printf(")");
			}
			printf(" |");
			fflush(stdout);
		}
		printf("\n");
		program_free(p);
	}
	free(nr);
}

/* ---- random programs ---- */

#define POOL	400	/* executions of each sampler, among whose outcomes the rarest is the target */

/* Tasks of the generator, of which some execute the code of another: a few kinds of tasks, many of some. */
static void make_random(struct gen_program *p, uint64_t nr)
{
	struct rng rng;
	uint32_t kinds, task;

	rng_seed(&rng, 2718, nr);
	gen_program(p, &rng, (unsigned int)rng_next(&rng) & GEN_ALL & ~(unsigned int)(GEN_FORK | GEN_CHOICE), 4,
		    8 + (uint32_t)rng_below(&rng, 28), 1 + (uint32_t)rng_below(&rng, 4));
	kinds = p->model.nr_tasks;
	if (nr % 2)
		return;
	for (uint32_t more = 1 + (uint32_t)rng_below(&rng, 9); more; more--) {
		uint32_t like = (uint32_t)rng_below(&rng, kinds);

		task = p->model.nr_tasks++;
		p->model.code[task] = p->code[like];
		p->model.len[task] = p->model.len[like];
		p->model.routine[task] = like + 1;
	}
	p->model.nr_started = p->model.nr_tasks;
}

struct outcome { uint64_t hash, nr; };

/* An end of the program that samplers of several kinds came to most seldom. 0: there is one end only. */
static uint64_t rare_outcome(const struct model *m)
{
	static const char *const samplers[] = { "random", "pct:depth=3", "pos", "urw", "surw" };
	static struct outcome got[POOL * 5];
	uint64_t nr = 0, best = 0, target = 0;

	for (size_t k = 0; k < sizeof(samplers) / sizeof(samplers[0]); k++) {
		struct search *s = model_search(samplers[k], 77, 1);
		struct model_result r;

		for (int i = 0; i < POOL; i++) {
			uint64_t at = 0;

			model_run(m, s, &r, NULL, 0);
			while (at < nr && got[at].hash != r.outcome)
				at++;
			if (at == nr)
				got[nr++] = (struct outcome){ .hash = r.outcome };
			got[at].nr++;
		}
		search_free(s);
	}
	for (uint64_t i = 0; i < nr; i++)
		if (nr > 1 && (!best || got[i].nr < best)) {
			best = got[i].nr;
			target = got[i].hash;
		}
	return target;
}

static void generated(int programs_wanted, const char *const *strategies)
{
	static const uint64_t within[] = { 3, 5, 10, 20, 50, 100, 500 };
	enum { NR = sizeof(within) / sizeof(within[0]) };
	struct gen_program *p = calloc(1, sizeof(*p));
	uint64_t found[32][NR] = { 0 }, rows = 0;

	for (int n = 0; n < programs_wanted; n++) {
		uint64_t target;

		make_random(p, (uint64_t)n);
		target = rare_outcome(&p->model);
		if (!target)
			continue;
		rows++;
		for (int k = 0; strategies[k]; k++) {
			uint64_t took = executions_to(&p->model, strategies[k], (uint64_t)n + 1, within[NR - 1], target);

			for (int w = 0; w < NR; w++)
				found[k][w] += took <= within[w];
		}
	}
	printf("| strategy |");
	for (int w = 0; w < NR; w++)
		printf(" %llu |", (unsigned long long)within[w]);
	printf("\n|---|");
	for (int w = 0; w < NR; w++)
		printf("---|");
	printf("\n");
	for (int k = 0; strategies[k]; k++) {
		printf("| %s |", strategies[k]);
		for (int w = 0; w < NR; w++)
			printf(" %.1f %% |", 100.0 * (double)found[k][w] / (double)rows);
		printf("\n");
	}
	free(p);
}

static double seconds(void)
{
	struct timespec t;

	timespec_get(&t, TIME_UTC);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The minimal work: candidates, a random one, the step. */
static double bare(const struct model *m, uint64_t *steps)
{
	struct search_cand cand[MODEL_TASKS];
	struct model_state st;
	double from = seconds();
	struct rng rng;

	*steps = 0;
	rng_seed(&rng, 1, 1);
	for (uint64_t n = 0; *steps < 3000000; n++) {
		model_start(m, &st);
		for (;;) {
			uint32_t nr, enabled, at;

			nr = model_cands(m, &st, cand, &enabled);
			if (!enabled || st.failed)
				break;
			at = (uint32_t)rng_below(&rng, enabled);
			for (uint32_t i = 0; i < nr; i++)
				if (cand[i].enabled && !at--) {
					model_step(m, &st, cand[i].task, 0);
					break;
				}
			++*steps;
		}
	}
	return (seconds() - from) / (double)*steps;
}

static double searched(const struct model *m, const char *strategy, uint32_t fair,
		       double *per_minute)
{
	struct search *s = model_search(strategy, 1, fair);
	struct model_result r;
	uint64_t steps = 0, executions = 0;
	double from = seconds(), took;

	while (steps < 3000000 && model_run(m, s, &r, NULL, 0) == SEARCH_GO) {
		steps += r.steps;
		executions++;
	}
	took = seconds() - from;
	search_free(s);
	*per_minute = (double)executions / took * 60;
	return took / (double)steps;
}

static void speed(void)
{
	static const struct { const char *family; uint32_t n; } on[] = {
		{ "lines", 10 }, { "philosophers", 8 }, { "lostupdate", 100 },
	};
	static const char *const names[] = {
		"random", "pct", "pos", "urw", "surw", "preemption", "preemption:cache=yes",
		"delay", "dfs", "dpor",
	};

	printf("| program | strategy | ns a step | against the bare loop | executions a minute |\n");
	printf("|---|---|---|---|---|\n");
	for (size_t i = 0; i < sizeof(on) / sizeof(on[0]); i++) {
		struct program *p = program_new(on[i].family, on[i].n);
		uint64_t steps;
		double base = bare(&p->model, &steps), per_minute, t;

		printf("| %s | bare loop | %.0f | 1 | |\n", p->name, base * 1e9);
		for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
			t = searched(&p->model, names[k], 1, &per_minute);
			printf("| %s | %s | %.0f | %.2f | %.0f |\n", p->name, names[k], t * 1e9,
			       t / base, per_minute);
		}
		program_free(p);
	}
}

static void safestack(int seeds, uint64_t limit, const char *const *strategies)
{
	for (int k = 0; strategies[k]; k++)
		for (int seed = 1; seed <= seeds; seed++) {
			struct search *s = model_search(strategies[k], (uint64_t)seed, 1);
			uint64_t nr = 0;
			bool found = false;
			double from = seconds();

			for (; nr < limit && !found; nr++)
				found = safestack_fails(s);
			printf("%s, seed %d: %s %llu executions, %.0f s\n", strategies[k], seed,
			       found ? "found in" : "not in", (unsigned long long)nr, seconds() - from);
			fflush(stdout);
			search_free(s);
		}
}

static const char *const samplers[] = { "random", "pct", "pos", "surw", "urw", "guided", "reversal", "portfolio", NULL };
static const uint32_t lane_counts[] = { 2, 3, 16, 64 };

static int lanes(uint32_t us, const char *const *strategies)
{
	struct lane_loop cost;

	printf("| us a CPU (waits), of an execution |");
	for (unsigned int k = 0; k < sizeof(lane_counts) / sizeof(*lane_counts); k++)
		printf(" %u lanes |", lane_counts[k]);
	printf("\n|---|---|---|---|---|\n");
	for (; *strategies; strategies++) {
		printf("| %s |", *strategies);
		for (unsigned int k = 0; k < sizeof(lane_counts) / sizeof(*lane_counts); k++) {
			struct search *s = model_search(*strategies, 1, 1);
			struct program *p = program_new("bakery", 20);
			struct model_result r;

			for (int i = 0; i < 64 && model_run(&p->model, s, &r, NULL, 0) == SEARCH_GO; i++)
				;
			if (search_divides(s) || search_freeze(s) ||
			    lane_loop(s, lane_counts[k], us, 400 * lane_counts[k], &cost)) {
				fprintf(stderr, "%s: cannot be measured\n", *strategies);
				return 1;
			}
			printf(" %.2f (%.3f) |", cost.cpu_us, cost.waits);
			fflush(stdout);
			search_free(s);
			program_free(p);
		}
		printf("\n");
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc >= 2 && !strcmp(argv[1], "find")) {
		find(argc > 2 ? atoi(argv[2]) : 30,
		     argc > 3 ? strtoull(argv[3], NULL, 10) : 10000,
		     argc > 4 ? (const char *const *)&argv[4] : default_strategies);
		return 0;
	}
	if (argc >= 2 && !strcmp(argv[1], "generated")) {
		generated(argc > 2 ? atoi(argv[2]) : 1000, argc > 3 ? (const char *const *)&argv[3] : default_strategies);
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "speed")) {
		speed();
		return 0;
	}
	if (argc >= 2 && !strcmp(argv[1], "safestack")) {
		safestack(argc > 2 ? atoi(argv[2]) : 5, argc > 3 ? strtoull(argv[3], NULL, 10) : 2000000,
			  argc > 4 ? (const char *const *)&argv[4] : default_strategies);
		return 0;
	}
	if (argc >= 2 && !strcmp(argv[1], "lanes"))
		return lanes(argc > 2 ? atoi(argv[2]) : 5000, argc > 3 ? (const char *const *)&argv[3] : samplers);
	fprintf(stderr, "usage: %s find [SEEDS [LIMIT [STRATEGY...]]] | generated [PROGRAMS [STRATEGY...]] | speed | "
		"safestack [SEEDS [LIMIT [STRATEGY...]]] | lanes [US [STRATEGY...]]\n", argv[0]);
	return 2;
}
