/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bench_search.c - the findings of strategies, and their cost
 *
 *	bench_search find [SEEDS [LIMIT [STRATEGY...]]]
 *	bench_search speed
 *
 * find: executions to the first bug, median and quartiles over seeds, for each
 * program and strategy, as a Markdown table. A search that gives up after LIMIT
 * executions counts as infinitely long.
 *
 * speed: time a step against a bare loop over the same programs that picks at
 * random, without fairness, hashes or records.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "search/rng.h"
#include "tests/model/programs.h"

static const struct { const char *family; uint32_t n; } programs[] = {
	{ "reorder", 2 }, { "reorder", 4 }, { "reorder", 9 }, { "reorder", 19 },
	{ "twostage", 1 }, { "twostage", 9 }, { "twostage", 19 },
	{ "philosophers", 3 }, { "philosophers", 5 }, { "philosophers", 8 },
	{ "lostupdate", 0 }, { "lostupdate", 20 }, { "lostupdate", 100 },
	{ "abba", 0 }, { "abba", 20 }, { "window", 20 }, { "lostwakeup", 10 },
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

static uint64_t executions_to_bug(const struct model *m, const char *strategy, uint64_t seed,
				  uint64_t limit)
{
	struct search *s = model_search(strategy, seed, 1);
	struct model_result r;
	uint64_t nr = 0;
	bool found = false;

	while (nr < limit && !found && model_run(m, s, &r, NULL, 0) == SEARCH_GO) {
		nr++;
		found = r.failed;
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

		printf("| %s |", p->name);
		for (int k = 0; strategies[k]; k++) {
			for (int s = 0; s < seeds; s++)
				nr[s] = executions_to_bug(&p->model, strategies[k], (uint64_t)s + 1,
							  limit);
			qsort(nr, (size_t)seeds, sizeof(*nr), compare);
			printf(" ");
			print_count(nr[seeds / 2]);
			printf(" (");
			print_count(nr[seeds / 4]);
			printf("..");
			print_count(nr[seeds * 3 / 4]);
			printf(") |");
			fflush(stdout);
		}
		printf("\n");
		program_free(p);
	}
	free(nr);
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

int main(int argc, char **argv)
{
	if (argc >= 2 && !strcmp(argv[1], "find")) {
		find(argc > 2 ? atoi(argv[2]) : 30,
		     argc > 3 ? strtoull(argv[3], NULL, 10) : 10000,
		     argc > 4 ? (const char *const *)&argv[4] : default_strategies);
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "speed")) {
		speed();
		return 0;
	}
	fprintf(stderr, "usage: %s find [SEEDS [LIMIT [STRATEGY...]]] | speed\n", argv[0]);
	return 2;
}
