/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_exact.c - the systematic strategies against closed formulas and the
 * oracle: same number of schedules, same classes, no outcome lost
 */
#include <string.h>
#include "gen.h"
#include "oracle.h"
#include "tap.h"

struct explored {
	uint64_t executions, redundant;
	struct set outcomes;
	struct search_stats stats;
	bool exhausted;
};

static void explore(const struct model *m, const char *strategy, uint32_t fair,
		    struct explored *e)
{
	struct search *s = model_search(strategy, 1, fair);
	struct model_result r;

	memset(e, 0, sizeof(*e));
	while (e->executions < 2000000 && model_run(m, s, &r, NULL, 0) == SEARCH_GO) {
		e->executions++;
		if (!r.cut)
			set_add(&e->outcomes, r.outcome);
	}
	e->exhausted = e->executions < 2000000;
	search_get_stats(s, &e->stats);
	search_free(s);
}

/* Straight lines: tasks[i] steps that write one variable. */
static void lines(struct gen_program *p, uint32_t nr, const uint32_t *steps, bool shared)
{
	memset(p, 0, sizeof(*p));
	p->model.name = "lines";
	p->model.nr_tasks = p->model.nr_started = nr;
	for (uint32_t t = 0; t < nr; t++) {
		for (uint32_t i = 0; i < steps[t]; i++)
			p->code[t][i] = (struct model_step){
				.op = M_WRITE, .a = shared ? 0 : (uint8_t)t, .imm = (int16_t)i,
			};
		p->model.code[t] = p->code[t];
		p->model.len[t] = steps[t];
	}
}

static uint64_t multinomial(uint32_t nr, const uint32_t *steps)
{
	uint64_t n = 0, result = 1;

	for (uint32_t t = 0; t < nr; t++)
		for (uint32_t i = 1; i <= steps[t]; i++)
			result = result * ++n / i;
	return result;
}

static uint64_t binomial(uint64_t n, uint64_t k)
{
	uint64_t r = 1;

	for (uint64_t i = 1; i <= k; i++)
		r = r * (n - k + i) / i;
	return k > n ? 0 : r;
}

static void test_formulas(void)
{
	static const struct { uint32_t nr, steps[4]; } cases[] = {
		{ 2, { 1, 1 } }, { 2, { 4, 4 } }, { 2, { 7, 2 } }, { 3, { 2, 3, 2 } },
		{ 3, { 3, 3, 3 } }, { 4, { 2, 2, 2, 1 } }, { 1, { 5 } },
	};
	struct gen_program p;
	struct explored e;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t want = multinomial(cases[i].nr, cases[i].steps);

		lines(&p, cases[i].nr, cases[i].steps, true);
		explore(&p.model, "dfs", 0, &e);
		tap_ok(e.executions == want && e.stats.schedules == want &&
		       e.stats.distinct == want,
		       "dfs: %llu = (sum n)!/prod(n!) schedules of %u lines",
		       (unsigned long long)want, cases[i].nr);
		set_free(&e.outcomes);
		lines(&p, cases[i].nr, cases[i].steps, false);
		explore(&p.model, "dfs", 0, &e);
		tap_ok(e.executions == want && e.stats.distinct == 1,
		       "dfs: one class where nothing is shared");
		set_free(&e.outcomes);
	}
	/*
	 * Two tasks of n steps, at most c preemptions. A schedule is an alternation of blocks; a
	 * switch is a preemption unless the task before it has ended. With i blocks for one task
	 * and j for the other (j = i or i - 1), i + j - 2 switches are preemptions, for the last
	 * but one block ends its task or the last one does; each composition has
	 * C(n-1, i-1) C(n-1, j-1) forms.
	 */
	for (uint32_t n = 2; n <= 6; n++) {
		uint32_t steps[2] = { n, n };
		uint64_t total = 0, upto = 0;

		lines(&p, 2, steps, true);
		explore(&p.model, "preemption:bound=2", 0, &e);
		for (uint32_t c = 0; c <= 2; c++) {
			for (uint32_t i = 1; i <= n; i++)
				for (uint32_t j = i > 1 ? i - 1 : 1; j <= i; j++)
					if (i + j - 2 == c)
						upto += 2 * binomial(n - 1, i - 1) *
							binomial(n - 1, j - 1);
			total += upto;
		}
		tap_ok(e.executions == total && e.stats.schedules == upto,
		       "preemption: two lines of %u: %llu schedules, %llu executions over bounds 0..2",
		       n, (unsigned long long)upto, (unsigned long long)total);
		set_free(&e.outcomes);
	}
}

enum { BOUNDS = 3 };

struct tally {
	int programs, skipped;
	int dfs_count, dfs_classes, dfs_outcomes, preemption_count, delay_count;
	int preemption_outcomes, delay_outcomes;
	int cache_outcomes, cache_preemption, cache_delay, cache_more;
	uint64_t plain, cached;
};

static bool equal_sets(const struct set *a, const struct set *b)
{
	return a->nr == b->nr && set_subset(a, b);
}

static void check_bound(const struct model *m, const struct oracle *o, int bound, bool delay,
			struct tally *t)
{
	const struct set *want = delay ? &o->outcomes_delays[bound] :
		&o->outcomes_preemptions[bound];
	const uint64_t *counts = delay ? o->delays : o->preemptions;
	const char *name = delay ? "delay" : "preemption";
	uint64_t total = 0, plain;
	struct explored e;
	char spec[64];

	/* Bounds are searched in turn until one cuts nothing. */
	for (int c = 0; c <= bound; c++) {
		total += counts[c];
		if (counts[c] == o->schedules)
			break;
	}
	snprintf(spec, sizeof(spec), "%s:bound=%d", name, bound);
	explore(m, spec, 0, &e);
	*(delay ? &t->delay_count : &t->preemption_count) +=
		e.executions != total || e.stats.schedules != counts[bound];
	*(delay ? &t->delay_outcomes : &t->preemption_outcomes) +=
		!equal_sets(&e.outcomes, want);
	plain = e.executions;
	t->plain += plain;
	set_free(&e.outcomes);
	snprintf(spec, sizeof(spec), "%s:bound=%d,cache=yes", name, bound);
	explore(m, spec, 0, &e);
	*(delay ? &t->cache_delay : &t->cache_preemption) += !equal_sets(&e.outcomes, want);
	t->cache_more += e.executions > plain;
	t->cached += e.executions;
	set_free(&e.outcomes);
}

static void check_program(const struct model *m, struct tally *t)
{
	struct explored e;
	struct oracle o;

	if (!oracle_run(m, 30000, false, &o)) {
		t->skipped++;
		oracle_free(&o);
		return;
	}
	t->programs++;
	explore(m, "dfs", 0, &e);
	t->dfs_count += e.executions != o.schedules || e.stats.schedules != o.schedules;
	t->dfs_classes += e.stats.distinct != o.classes.nr;
	t->dfs_outcomes += !equal_sets(&e.outcomes, &o.outcomes);
	set_free(&e.outcomes);
	explore(m, "dfs:cache=yes", 0, &e);
	t->cache_outcomes += !equal_sets(&e.outcomes, &o.outcomes);
	t->cache_more += e.executions > o.schedules;
	set_free(&e.outcomes);
	for (int c = 0; c < BOUNDS; c++) {
		check_bound(m, &o, c, false, t);
		check_bound(m, &o, c, true, t);
	}
	oracle_free(&o);
}

static void test_random_programs(const char *what, unsigned int kinds, uint32_t tasks,
				 uint32_t steps, int nr)
{
	struct gen_program *p = malloc(sizeof(*p));
	struct tally t = { 0 };

	for (int i = 0; i < nr; i++) {
		struct rng rng;

		rng_seed(&rng, kinds, (uint64_t)i);
		gen_program(p, &rng, kinds, tasks, steps, 2);
		check_program(&p->model, &t);
	}
	free(p);
	printf("# %s: %d programs, %d too large\n", what, t.programs, t.skipped);
	tap_ok(!t.dfs_count, "%s: dfs makes every schedule once (%d wrong)", what, t.dfs_count);
	tap_ok(!t.dfs_classes, "%s: hashes tell classes apart (%d wrong)", what, t.dfs_classes);
	tap_ok(!t.dfs_outcomes, "%s: dfs finds all outcomes (%d wrong)", what, t.dfs_outcomes);
	tap_ok(!t.preemption_count, "%s: preemption-bounded counts (%d wrong)", what,
	       t.preemption_count);
	tap_ok(!t.delay_count, "%s: delay-bounded counts (%d wrong)", what, t.delay_count);
	tap_ok(!t.preemption_outcomes && !t.delay_outcomes, "%s: outcomes within the bounds", what);
	tap_ok(!t.cache_outcomes, "%s: dfs with cache loses no outcome (%d do)", what,
	       t.cache_outcomes);
	tap_ok(!t.cache_preemption, "%s: preemption with cache loses no outcome (%d do)", what,
	       t.cache_preemption);
	tap_ok(!t.cache_delay, "%s: delay with cache loses no outcome (%d do)", what,
	       t.cache_delay);
	tap_ok(!t.cache_more && t.cached < t.plain, "%s: caching saves executions: %llu of %llu",
	       what, (unsigned long long)t.cached, (unsigned long long)t.plain);
}

int main(void)
{
	test_formulas();
	test_random_programs("locks", GEN_LOCKS, 3, 11, tap_scale(300, 3000));
	test_random_programs("all", GEN_ALL, 3, 11, tap_scale(300, 3000));
	test_random_programs("yields", GEN_ALL | GEN_YIELD, 3, 10, tap_scale(300, 3000));
	return tap_done();
}
