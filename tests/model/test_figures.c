/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_figures.c - estimates and bounds on memory: they say what happens
 */
#include <math.h>
#include <string.h>
#include "search/cache.h"
#include "search/rng.h"
#include "search/seen.h"
#include "gen.h"
#include "oracle.h"
#include "programs.h"
#include "tap.h"

/*
 * At the end the estimate is the truth. On the way it is of the right order: within a factor of ten
 * after a tenth of the search, on programs whose tree is not lopsided.
 */
static void test_knuth(void)
{
	static const char *const with[] = { "dfs", "preemption:bound=2", "delay:bound=2" };
	struct program *p = program_new("lines", 3);

	for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++) {
		struct search *s = model_search(with[i], 1, 1);
		struct search_stats st;
		struct model_result r;
		double early = 0;
		uint64_t nr = 0;

		while (model_run(&p->model, s, &r, NULL, 0) == SEARCH_GO) {
			nr++;
			search_get_stats(s, &st);
			if (i == 0 && nr == 168)
				early = st.estimate_total;
		}
		search_get_stats(s, &st);
		tap_ok(fabs(st.estimate_total - (double)nr) < 0.5,
		       "%s: at the end the estimate is the number of executions (%llu)", with[i],
		       (unsigned long long)nr);
		if (i == 0)
			tap_ok(early > (double)nr / 10 && early < (double)nr * 10,
			       "%s: after a tenth it is %.0f", with[i], early);
		search_free(s);
	}
	program_free(p);
}

/* Good and Turing: the chance that the next execution is new, against how many of the next are. */
static void test_good_turing(void)
{
	static const char *const with[] = { "random", "pos", "pct:depth=3,steps=30" };
	struct program *p = program_new("twostage", 5);

	for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++) {
		struct search *s = model_search(with[i], 5, 1);
		struct search_stats before, after;
		struct model_result r;
		double measured;
		int more = 300;

		for (int k = 0; k < 1000; k++)
			model_run(&p->model, s, &r, NULL, 0);
		search_get_stats(s, &before);
		for (int k = 0; k < more; k++)
			model_run(&p->model, s, &r, NULL, 0);
		search_get_stats(s, &after);
		measured = (double)(after.distinct - before.distinct) / more;
		tap_ok(fabs(measured - before.new_probability) < 0.08,
		       "%s: chance of something new %.3f, %.3f of the next %d executions are", with[i],
		       before.new_probability, measured, more);
		search_free(s);
	}
	program_free(p);
}

static void test_cache_size(void)
{
	struct cache c;
	struct rng rng;
	double worst = 0;
	bool good = true;

	rng_seed(&rng, 1, 1);
	cache_init(&c, 1 << 20);
	for (int i = 0; i < 200000; i++) {
		uint64_t state = rng_next(&rng);
		size_t before = c.nr;

		cache_insert(&c, state, (uint32_t)i % 50, 2, false);
		if (c.nr > 2000 && 16.0 * (double)c.size / (double)c.nr > worst)
			worst = 16.0 * (double)c.size / (double)c.nr;
		if (c.nr == before)
			continue;
		good &= !cache_dominated(&c, state, (uint32_t)(i + 1) % 47, 1);
		good &= cache_dominated(&c, state, 60, 3);
	}
	tap_ok(worst < 32, "a state takes %.1f bytes at most", worst);
	tap_ok(16 * c.size <= 1 << 20 && c.full, "the limit is kept, and the table says that it is full");
	tap_ok(good, "and knows what it holds");
	cache_fini(&c);
}

/* With next to no memory: more executions, no outcome less. */
static void test_forgetting(void)
{
	struct gen_program *p = malloc(sizeof(*p));
	uint64_t large = 0, small = 0;
	int lost = 0;

	for (uint64_t k = 0; k < 100; k++) {
		struct rng rng;
		struct oracle o;

		rng_seed(&rng, 61, k);
		gen_program(p, &rng, 0, 3, 11, 2);
		oracle_run(&p->model, 100000, false, &o);
		for (int little = 0; little < 2; little++) {
			struct search_options opts = {
				.strategy = "dfs:cache=yes", .preemptions = -1, .memory = little ? 64 : 0,
			};
			struct search *s = search_new(&opts, NULL, 0);
			struct set got = { 0 };
			struct model_result r;

			while (model_run(&p->model, s, &r, NULL, 0) == SEARCH_GO) {
				set_add(&got, r.outcome);
				*(little ? &small : &large) += 1;
			}
			lost += got.nr != o.outcomes.nr;
			set_free(&got);
			search_free(s);
		}
		oracle_free(&o);
	}
	free(p);
	tap_ok(!lost && small >= large, "64 bytes of memory lose nothing but time (%llu executions, "
	       "%llu with enough)", (unsigned long long)small, (unsigned long long)large);
}

static void test_seen(void)
{
	struct seen s;
	uint64_t fresh = 0;

	seen_init(&s, 1 << 16);
	for (uint64_t i = 0; i < 3000; i++)
		fresh += seen_add(&s, mix64(i));
	for (uint64_t i = 0; i < 1000; i++)
		fresh += seen_add(&s, mix64(i));
	tap_ok(fresh == 3000 && s.nr == 3000 && s.once == 2000 && !s.full,
	       "hashes are counted, and those met once");
	for (uint64_t i = 3000; i < 100000; i++)
		seen_add(&s, mix64(i));
	tap_ok(s.full && s.nr < 100000 && !seen_add(&s, mix64(5)), "a full table forgets the new, not the old");
	seen_fini(&s);
}

int main(void)
{
	test_knuth();
	test_good_turing();
	test_cache_size();
	test_forgetting();
	test_seen();
	return tap_done();
}
