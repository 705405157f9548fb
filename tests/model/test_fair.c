/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_fair.c - the fair scheduler: it ends every spin loop, loses no outcome of
 * programs that yield only when they cannot go on, and lets gratuitous yields
 * cost outcomes only where the paper says so
 */
#include <string.h>
#include "gen.h"
#include "oracle.h"
#include "programs.h"
#include "search/patience.h"
#include "tap.h"

/* Executions for one program; larger ones are left out. */
#define LIMIT	6000

static const char *const samplers[] = {
	"portfolio", "random", "pct", "pct:depth=5,suffix=0", "pos", "urw", "surw", "lockstep",
};

static void test_ends(void)
{
	for (uint32_t n = 1; n <= 5; n += 2) {
		struct program *p = program_new("spin", n);

		for (size_t i = 0; i < sizeof(samplers) / sizeof(samplers[0]); i++) {
			struct search *s = model_search(samplers[i], 3, 1);
			struct model_result r;
			uint64_t longest = 0;
			int cut = 0;

			for (int k = 0; k < 300; k++) {
				if (model_run(&p->model, s, &r, NULL, 0) != SEARCH_GO)
					break;
				cut += r.cut;
				longest = r.steps > longest ? r.steps : longest;
			}
			/* with patience: three steps for each of its yields */
			tap_ok(!cut && longest < 200 + 3 * PATIENCE_YIELDS * n, "%s: %s ends (%llu steps at most)", p->name,
			       samplers[i], (unsigned long long)longest);
			search_free(s);
		}
		program_free(p);
	}
}

/* Two tasks that wait for each other with yields: no schedule ends, and the bound says so. */
static void test_livelock(void)
{
	static const struct model_step wait[2][4] = {
		{ { M_READ, 0, 0, 0, 0 }, { M_JUMP_EQ, 0, 0, 1, 4 }, { M_YIELD, 0, 0, 0, 0 },
		  { M_JUMP, 0, 0, 0, 0 } },
		{ { M_READ, 1, 0, 0, 0 }, { M_JUMP_EQ, 0, 0, 1, 4 }, { M_YIELD, 0, 0, 0, 0 },
		  { M_JUMP, 0, 0, 0, 0 } },
	};
	struct model m = {
		.name = "livelock", .nr_tasks = 2, .nr_started = 2,
		.code = { wait[0], wait[1] }, .len = { 4, 4 },
	};
	struct search *s = model_search("random", 1, 1);
	struct model_result r;

	model_run(&m, s, &r, NULL, 0);
	tap_ok(r.cut && r.steps == 20000, "a livelock runs into the step bound");
	search_free(s);
}

static void explore(const struct model *m, const char *strategy, uint32_t fair, struct set *out,
		    uint64_t *executions, int *cut)
{
	struct search *s = model_search(strategy, 1, fair);
	struct model_result r;

	memset(out, 0, sizeof(*out));
	*executions = 0;
	*cut = 0;
	while (*executions < LIMIT && *cut < 5 && model_run(m, s, &r, NULL, 0) == SEARCH_GO) {
		++*executions;
		*cut += r.cut;
		if (!r.cut)
			set_add(out, r.outcome);
	}
	search_free(s);
}

/*
 * Random programs in which a task may wait, with yields, for a flag that a task
 * with a lower number sets without waiting for it: they always can end.
 */
static void spin_program(struct gen_program *p, struct rng *rng)
{
	uint32_t nr = 2 + (uint32_t)rng_below(rng, 2);

	memset(p, 0, sizeof(*p));
	p->model.name = "spins";
	p->model.nr_tasks = p->model.nr_started = nr;
	for (uint32_t t = 0; t < nr; t++) {
		struct model_step *code = p->code[t];
		uint32_t len = 0, accesses = 1 + (uint32_t)rng_below(rng, 2);
		/* Flags are variables 4 and up; each task sets its own at a random place. */
		uint32_t set_at = (uint32_t)rng_below(rng, accesses + 1);
		uint32_t wait_at = t ? (uint32_t)rng_below(rng, accesses + 1) : UINT32_MAX;

		for (uint32_t i = 0; i <= accesses; i++) {
			uint8_t v = (uint8_t)rng_below(rng, 2);

			if (i == wait_at) {
				uint16_t at = (uint16_t)len;

				code[len++] = (struct model_step){ M_READ, (uint8_t)(4 + t - 1), 2, 0, 0 };
				code[len++] = (struct model_step){ M_JUMP_EQ, 0, 2, 1,
								   (uint16_t)(at + 4) };
				code[len++] = (struct model_step){ .op = M_YIELD };
				code[len++] = (struct model_step){ M_JUMP, 0, 0, 0, at };
			}
			if (i == set_at)
				code[len++] = (struct model_step){ M_WRITE, (uint8_t)(4 + t), 0, 1, 0 };
			if (i == accesses)
				break;
			switch (rng_below(rng, 3)) {
			case 0:
				code[len++] = (struct model_step){ M_READ, v, (uint8_t)i, 0, 0 };
				break;
			case 1:
				code[len++] = (struct model_step){ M_WRITE, v, 0, (int16_t)(t + 2), 0 };
				break;
			default:
				code[len++] = (struct model_step){ M_STORE, v, (uint8_t)i, 1, 0 };
			}
		}
		p->model.code[t] = code;
		p->model.len[t] = len;
	}
}

static void test_outcomes(void)
{
	static const struct { const char *strategy; uint32_t fair; } with[] = {
		{ "dfs", 1 }, { "dfs", 2 }, { "dfs:cache=yes", 1 }, { "dpor", 1 },
		{ "preemption:bound=20", 1 }, { "preemption:bound=20,cache=yes", 1 },
	};
	int programs = tap_scale(150, 1000);
	struct gen_program *p = malloc(sizeof(*p));

	for (size_t k = 0; k < sizeof(with) / sizeof(with[0]); k++) {
		int lost = 0, endless = 0, tried = 0;
		uint64_t total = 0;

		for (int i = 0; i < programs; i++) {
			struct set want, got;
			uint64_t executions;
			struct rng rng;
			int cut;

			rng_seed(&rng, 77, (uint64_t)i);
			spin_program(p, &rng);
			if (oracle_outcomes(&p->model, 20000, &want)) {
				explore(&p->model, with[k].strategy, with[k].fair, &got, &executions,
					&cut);
				tried += executions < LIMIT;
				endless += cut != 0;
				if (executions < LIMIT)
					lost += !set_subset(&want, &got) || !set_subset(&got, &want);
				total += executions;
				set_free(&got);
			}
			set_free(&want);
		}
		tap_ok(!lost && !endless && tried > programs / 3, "%s, fair=%u: the outcomes of %d "
		       "programs with spin loops (%d lose one, %d do not end, %llu executions)",
		       with[k].strategy, with[k].fair, tried, lost, endless,
		       (unsigned long long)total);
	}
	free(p);
}

/* Without the filter a depth-first search spins for ever. */
static void test_needed(void)
{
	struct program *p = program_new("spin", 1);
	struct set out;
	uint64_t executions;
	int cut;

	explore(&p->model, "dfs", 0, &out, &executions, &cut);
	tap_ok(executions == LIMIT, "fair=0: a depth-first search finds ever longer spins");
	set_free(&out);
	explore(&p->model, "dfs", 1, &out, &executions, &cut);
	tap_ok(!cut && executions < 1000, "fair=1: it ends after %llu executions",
	       (unsigned long long)executions);
	set_free(&out);
	program_free(p);
}

/* Gratuitous yields: k=2 keeps what k=1 may lose. */
static void test_gratuitous(void)
{
	struct gen_program *p = malloc(sizeof(*p));
	int programs = tap_scale(200, 1000), lost[3] = { 0 };

	for (int i = 0; i < programs; i++) {
		struct oracle o;
		struct rng rng;

		rng_seed(&rng, 5, (uint64_t)i);
		gen_program(p, &rng, GEN_LOCKS | GEN_YIELD, 3, 9, 2);
		if (oracle_run(&p->model, 20000, false, &o)) {
			for (uint32_t k = 1; k <= 2; k++) {
				struct set got;
				uint64_t executions;
				int cut;

				explore(&p->model, "dfs", k, &got, &executions, &cut);
				lost[k] += got.nr != o.outcomes.nr;
				set_free(&got);
			}
		}
		oracle_free(&o);
	}
	printf("# gratuitous yields: k=1 loses outcomes of %d, k=2 of %d programs of %d\n", lost[1],
	       lost[2], programs);
	tap_ok(lost[2] <= lost[1], "fair=2 loses no more than fair=1 under gratuitous yields");
	free(p);
}

int main(void)
{
	test_ends();
	test_livelock();
	test_needed();
	test_outcomes();
	test_gratuitous();
	return tap_done();
}
