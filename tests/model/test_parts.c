/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_parts.c - a search in parts: what a part comes to does not depend on who makes it, nor on what
 * else was made; subtrees together are the whole tree, each schedule and each class once
 */
#include <string.h>
#include "search/division.h"
#include "search/parts.h"
#include "gen.h"
#include "oracle.h"
#include "programs.h"
#include "tap.h"

#define PROLOGUE	30

/* What executions came to. */
struct made {
	struct set classes;	/* final states, with the decisions that led there */
	struct set outcomes;
	uint64_t executions, wrong;
};

static uint64_t schedule_of(const uint32_t *order, uint64_t steps)
{
	uint64_t h = steps + 1;

	for (uint64_t i = 0; i < steps; i++)
		h = mix64(h + order[i] + 1);
	return h;
}

static bool make_one(const struct model *m, struct search *s, struct made *made, uint64_t salt)
{
	struct model_result r;
	uint32_t order[512];

	if (model_run(m, s, &r, order, 512) != SEARCH_GO)
		return false;
	made->executions++;
	set_add(&made->classes, mix64(schedule_of(order, r.steps) + salt));
	if (!r.cut)
		set_add(&made->outcomes, r.outcome);
	return true;
}

static void made_free(struct made *m)
{
	set_free(&m->classes);
	set_free(&m->outcomes);
}

/* The prologue, and for a systematic strategy the division; then the search is frozen. */
static struct search *frozen(const struct model *m, const char *strategy, uint32_t wanted)
{
	struct search *s = model_search(strategy, 7, 1);
	struct made ignored = { 0 };
	int n = 0;

	if (search_divides(s))
		search_divide(s, wanted);
	while ((search_divides(s) || n++ < PROLOGUE) && make_one(m, s, &ignored, 0))
		;
	made_free(&ignored);
	if (!search_freeze(s))
		return s;
	search_free(s);
	return NULL;
}

static bool is_mine(uint64_t part, uint32_t k, uint32_t n)
{
	return part % n == k;
}

/* The parts of machine k of n, of the first 'limit' ones. */
static void make_parts(const struct model *m, const char *strategy, uint32_t k, uint32_t n, uint64_t limit,
		       struct made *made)
{
	struct search *s = frozen(m, strategy, 12);
	struct search_part_end e;
	uint64_t parts;

	if (!s) {
		made->wrong++;
		return;
	}
	parts = search_parts(s) < limit ? search_parts(s) : limit;
	for (uint32_t b = 0; b <= search_max_bound(s); b++)
		for (uint64_t i = 0; i < parts; i++) {
			if (!is_mine(i, k, n) || search_enter(s, i, b) != SEARCH_GO)
				continue;
			while (make_one(m, s, made, mix64(i) + b))
				;
			search_part_end(s, &e);
			made->wrong += e.incomplete;
		}
	search_free(s);
}

static void test_machines(const struct model *m, const char *strategy)
{
	struct made whole = { 0 }, shared = { 0 };

	make_parts(m, strategy, 0, 1, 200, &whole);
	for (uint32_t n = 2; n <= 5; n += 3) {
		shared = (struct made){ 0 };
		for (uint32_t k = n; k-- > 0;)
			make_parts(m, strategy, k, n, 200, &shared);
		tap_ok(!whole.wrong && !shared.wrong && whole.executions && whole.executions == shared.executions &&
		       whole.classes.nr == shared.classes.nr && set_subset(&whole.classes, &shared.classes),
		       "%s, %s: %u machines make what one makes (%llu executions)", m->name, strategy, n,
		       (unsigned long long)shared.executions);
		made_free(&shared);
	}
	made_free(&whole);
}

/* Everything, serially: executions of the last round, that of the greatest bound. */
static void explore(const struct model *m, const char *strategy, struct made *made, struct search_stats *st)
{
	struct search *s = model_search(strategy, 7, 1);

	while (make_one(m, s, made, 0))
		;
	search_get_stats(s, st);
	search_free(s);
}

/* All parts under that bound alone. */
static void explore_parts(const struct model *m, const char *strategy, uint32_t wanted, uint32_t bound,
			  struct made *made, struct search_stats *st)
{
	struct search *s = frozen(m, strategy, wanted);
	struct search_part_end e;

	if (!s) {
		made->wrong++;
		return;
	}
	for (uint64_t i = 0; i < search_parts(s); i++) {
		uint64_t first = made->executions;

		if (search_enter(s, i, bound) != SEARCH_GO)
			continue;
		while (make_one(m, s, made, 0))
			;
		search_part_end(s, &e);
		made->wrong += e.incomplete || made->executions == first;
	}
	search_get_stats(s, st);
	search_free(s);
}

struct tally {
	int programs, dfs, bounded, dpor, classes;
};

/* Under that bound there are as many executions as schedules, and under the greatest one all are different. */
static bool is_bounded(const struct model *m, const char *strategy, const uint64_t *schedules, uint32_t wanted,
		       uint32_t bound)
{
	struct search_stats st;
	struct made all = { 0 };

	explore_parts(m, strategy, wanted, bound, &all, &st);
	made_free(&all);
	return !all.wrong && all.executions == schedules[bound] && (bound < 2 || st.schedules == all.executions);
}

/* Against the oracle: each schedule once, each class once. */
static void check_whole(const struct model *m, const struct oracle *o, uint32_t wanted, struct tally *t)
{
	struct search_stats st;
	struct made all = { 0 };

	explore_parts(m, "dfs", wanted, 0, &all, &st);
	t->dfs += !all.wrong && all.executions == o->schedules && st.schedules == o->schedules;
	made_free(&all);
	for (uint32_t b = 0; b < 3; b++)
		t->bounded += is_bounded(m, "preemption:bound=2", o->preemptions, wanted, b) &&
			      is_bounded(m, "delay:bound=2", o->delays, wanted, b);
}

/* dpor in parts finds what dpor finds, and each class is completed once. */
static void check_dpor(const struct model *m, const struct oracle *o, uint32_t wanted, struct tally *t)
{
	struct made all = { 0 }, serial = { 0 };
	struct search_stats st, whole;
	struct search *s;
	uint64_t complete = 0;

	explore(m, "dpor", &serial, &whole);
	s = frozen(m, "dpor", wanted);
	search_get_stats(s, &st);
	for (uint64_t i = 0; i < search_parts(s); i++) {
		struct search_stats before, after;

		search_get_stats(s, &before);
		search_enter(s, i, 0);
		while (make_one(m, s, &all, 0))
			;
		search_get_stats(s, &after);
		complete += after.executions - before.executions - (after.sleep_blocked - before.sleep_blocked);
	}
	search_free(s);
	t->dpor += all.outcomes.nr == o->outcomes.nr && set_subset(&o->outcomes, &all.outcomes);
	t->classes += complete == whole.executions - whole.sleep_blocked && complete == o->classes.nr;
	made_free(&all);
	made_free(&serial);
}

static void test_whole(uint32_t wanted, unsigned int what, const char *of)
{
	struct tally t = { 0 };
	struct gen_program p;
	struct oracle o;
	struct rng rng;

	rng_seed(&rng, 5, wanted);
	for (int i = 0; i < tap_scale(60, 600); i++) {
		gen_program(&p, &rng, what, 3, 8, 2);
		if (!oracle_run(&p.model, 20000, false, &o))
			continue;
		t.programs++;
		check_whole(&p.model, &o, wanted, &t);
		check_dpor(&p.model, &o, wanted, &t);
		oracle_free(&o);
	}
	tap_ok(t.programs > 10 && t.dfs == t.programs, "%s, %u subtrees: dfs makes each schedule once (%d of %d)", of,
	       wanted, t.dfs, t.programs);
	tap_ok(t.bounded == 3 * t.programs, "%s, %u subtrees: so do bounded searches (%d of %d)", of, wanted, t.bounded,
	       3 * t.programs);
	tap_ok(t.dpor == t.programs, "%s, %u subtrees: dpor loses no outcome (%d of %d)", of, wanted, t.dpor, t.programs);
	tap_ok(t.classes == t.programs, "%s, %u subtrees: and completes each class once (%d of %d)", of, wanted, t.classes,
	       t.programs);
}

/* Nothing that is made in the frozen part changes what comes later. */
static void test_order(const struct model *m, const char *strategy)
{
	struct search *up = frozen(m, strategy, 12), *down = frozen(m, strategy, 12);
	struct made a = { 0 }, b = { 0 };

	for (uint64_t i = 0; i < 100; i++) {
		search_enter(up, i, 0);
		make_one(m, up, &a, mix64(i));
		tap_failed += make_one(m, up, &a, mix64(i)) != 0;
	}
	for (uint64_t i = 100; i-- > 0;) {
		search_enter(down, i, 0);
		make_one(m, down, &b, mix64(i));
	}
	tap_ok(a.executions == 100 && a.classes.nr == b.classes.nr && set_subset(&a.classes, &b.classes),
	       "%s, %s: 100 executions are the same in any order", m->name, strategy);
	made_free(&a);
	made_free(&b);
	search_free(up);
	search_free(down);
}

static void test_refusals(void)
{
	struct search *s = model_search("dfs", 1, 1), *r = model_search("random", 1, 1);

	tap_ok(search_freeze(s) && search_enter(s, 0, 0) < 0, "a tree has to be divided before it is frozen");
	tap_ok(search_divide(r, 4) && !search_divides(r) && !search_freeze(r), "executions are not divided");
	tap_ok(search_begin(r) == SEARCH_EXHAUSTED && search_save(r, NULL, 0) < 0,
	       "a frozen search begins nothing by itself, and is not saved");
	search_free(s);
	search_free(r);
}

static void test_share(void)
{
	double size[] = { 1, 50, 3, 20, 30, 8, 1, 7 }, load[3] = { 0 };
	uint32_t owner[8];
	bool fair;

	search_share(size, 8, 3, owner);
	for (int i = 0; i < 8; i++)
		load[owner[i]] += size[i];
	fair = load[0] == 50 && load[1] >= 34 && load[1] <= 36 && load[2] >= 34 && load[2] <= 36;
	tap_ok(fair, "parts are shared out evenly: %g, %g, %g", load[0], load[1], load[2]);
}

int main(void)
{
	static const char *const strategies[] = {
		"portfolio", "random", "pct", "pos", "surw", "urw", "guided", "preemption:bound=2",
		"delay:bound=2", "dfs", "dpor", "dfs:cache=yes",
	};
	struct program *a = program_new("twostage", 2), *b = program_new("abba", 1);

	for (size_t i = 0; i < sizeof(strategies) / sizeof(strategies[0]); i++) {
		test_machines(&a->model, strategies[i]);
		test_machines(&b->model, strategies[i]);
		if (i < 7)
			test_order(&a->model, strategies[i]);
	}
	for (uint32_t wanted = 1; wanted <= 40; wanted += 13) {
		test_whole(wanted, GEN_ALL & ~GEN_CHOICE, "programs");
		test_whole(wanted, GEN_ALL, "programs with choices of values");
	}
	test_share();
	test_refusals();
	program_free(a);
	program_free(b);
	return tap_done();
}
