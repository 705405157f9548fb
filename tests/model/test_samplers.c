/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_samplers.c - the random strategies against formulas and the oracle
 *
 * A measured rate must lie within 4.5 standard deviations of the exact one
 * (a false alarm in 150,000 checks, and seeds are fixed), a chi-square value
 * below its mean plus 4.5 deviations.
 */
#include <math.h>
#include <string.h>
#include "gen.h"
#include "oracle.h"
#include "programs.h"
#include "tap.h"

#define SIGMAS	4.5

static double fail_rate(const struct model *m, const char *strategy, int executions, int skip)
{
	struct search *s = model_search(strategy, 7, 1);
	struct model_result r;
	int failed = 0;

	for (int i = 0; i < executions + skip; i++) {
		model_run(m, s, &r, NULL, 0);
		failed += i >= skip && r.failed;
	}
	search_free(s);
	return (double)failed / executions;
}

static bool fails_within(const struct model *m, const char *strategy, uint64_t seed, int executions)
{
	struct search *s = model_search(strategy, seed, 1);
	struct model_result r = { 0 };

	for (int i = 0; i < executions && !r.failed; i++)
		model_run(m, s, &r, NULL, 0);
	search_free(s);
	return r.failed;
}

static bool close_to(double rate, double exact, int executions)
{
	return fabs(rate - exact) <= SIGMAS * sqrt(exact * (1 - exact) / executions) + 1e-9;
}

static void test_random(void)
{
	static const struct { const char *family; uint32_t n; } on[] = {
		{ "lostupdate", 0 }, { "lostupdate", 1 }, { "abba", 0 }, { "philosophers", 3 },
		{ "reorder", 2 }, { "twostage", 1 }, { "lostwakeup", 1 }, { "window", 2 },
	};
	int n = tap_scale(30000, 300000);

	for (size_t i = 0; i < sizeof(on) / sizeof(on[0]); i++) {
		struct program *p = program_new(on[i].family, on[i].n);
		struct oracle o;
		double rate = fail_rate(&p->model, "random", n, 0);
		bool known = oracle_run(&p->model, 3000000, false, &o);

		tap_ok(known && close_to(rate, o.random_fails, n),
		       "random: %s fails at the exact rate (%.4f, exact %.4f)", p->name, rate,
		       o.random_fails);
		oracle_free(&o);
		program_free(p);
	}
}

/* How often each of a few thousand hashes came. */
struct counts {
	uint64_t key[8192];
	uint32_t nr[8192];
	uint32_t distinct;
};

static void count(struct counts *c, uint64_t key)
{
	uint32_t i = (uint32_t)mix64(key) & 8191;

	while (c->nr[i] && c->key[i] != key)
		i = (i + 1) & 8191;
	c->distinct += !c->nr[i];
	c->key[i] = key;
	c->nr[i]++;
}

static double chi_square(const struct counts *c, uint32_t cells, int n)
{
	double want = (double)n / cells, sum = (cells - c->distinct) * want;

	for (int i = 0; i < 8192; i++)
		if (c->nr[i])
			sum += (c->nr[i] - want) * (c->nr[i] - want) / want;
	return sum;
}

static bool uniform(double chi, uint32_t cells)
{
	return fabs(chi - (cells - 1)) < SIGMAS * sqrt(2.0 * (cells - 1));
}

/* Hash of the order in which the tasks made their steps on variable 0, or all steps. */
static uint64_t order_hash(const struct model *m, const uint32_t *order, uint64_t nr,
			   bool variable_0)
{
	struct model_state s;
	uint64_t h = 1;

	model_start(m, &s);
	for (uint64_t i = 0; i < nr; i++) {
		const struct model_step *o = &m->code[order[i]][s.task[order[i]].pc];

		if (!variable_0 || (o->op == M_WRITE && o->a == 0))
			h = mix64(h + order[i] + 1);
		model_step(m, &s, order[i], 0);
	}
	return h;
}

static double sample(const struct model *m, const char *strategy, uint32_t cells, int n,
		     bool variable_0)
{
	struct search *s = model_search(strategy, 3, 1);
	struct counts *c = calloc(1, sizeof(*c));
	struct model_result r;
	uint32_t order[128];
	double chi;

	/* The first execution is for the profile. */
	model_run(m, s, &r, NULL, 0);
	for (int i = 0; i < n; i++) {
		model_run(m, s, &r, order, 128);
		count(c, order_hash(m, order, r.steps, variable_0));
	}
	chi = c->distinct > cells ? INFINITY : chi_square(c, cells, n);
	free(c);
	search_free(s);
	return chi;
}

static struct gen_program *new_lines(const uint32_t *steps, uint32_t nr, bool fork)
{
	struct gen_program *p = calloc(1, sizeof(*p));

	p->model.name = "lines";
	p->model.nr_tasks = nr;
	p->model.nr_started = fork ? 1 : nr;
	for (uint32_t t = 0; t < nr; t++) {
		uint32_t len = 0;

		for (uint32_t u = 1; fork && !t && u < nr; u++)
			p->code[t][len++] = (struct model_step){ .op = M_FORK, .a = (uint8_t)u };
		for (uint32_t i = 0; i < steps[t]; i++)
			p->code[t][len++] = (struct model_step){ .op = M_WRITE };
		p->model.code[t] = p->code[t];
		p->model.len[t] = len;
	}
	return p;
}

static void test_uniform(void)
{
	static const uint32_t unequal[] = { 5, 2, 1 }, equal[] = { 2, 2, 2 };
	struct gen_program *p = new_lines(unequal, 3, false);
	int n = tap_scale(50000, 500000);
	struct oracle o;
	double chi;

	chi = sample(&p->model, "urw", 168, n, false);
	tap_ok(uniform(chi, 168), "urw: 168 = 8!/(5!2!1!) schedules alike (chi-square %.0f)", chi);
	chi = sample(&p->model, "random", 168, n, false);
	tap_ok(!uniform(chi, 168), "random is not (chi-square %.0f): the test can tell", chi);
	free(p);

	p = new_lines(equal, 3, true);
	oracle_run(&p->model, 100000, false, &o);
	chi = sample(&p->model, "urw", (uint32_t)o.schedules, n, false);
	tap_ok(uniform(chi, (uint32_t)o.schedules),
	       "urw: %llu schedules of a test that forks alike (chi-square %.0f)",
	       (unsigned long long)o.schedules, chi);
	oracle_free(&o);
	free(p);
}

/* Steps on variable 0 between steps that concern no other task. */
static void test_selective(void)
{
	struct gen_program *p = calloc(1, sizeof(*p));
	int n = tap_scale(50000, 500000);
	static const char *const each[] = { "sns", "nnsnn", "ssnnn" };
	double chi;

	p->model.nr_tasks = p->model.nr_started = 3;
	for (uint32_t t = 0; t < 3; t++) {
		for (uint32_t i = 0; each[t][i]; i++)
			p->code[t][i] = (struct model_step){
				.op = M_WRITE, .a = each[t][i] == 's' ? 0 : (uint8_t)(1 + t),
			};
		p->model.code[t] = p->code[t];
		p->model.len[t] = (uint32_t)strlen(each[t]);
	}
	chi = sample(&p->model, "surw", 30, n, true);
	tap_ok(uniform(chi, 30), "surw: 30 = 5!/(2!1!2!) orders of the shared steps alike (chi-square "
	       "%.0f)", chi);
	chi = sample(&p->model, "urw", 30, n, true);
	tap_ok(uniform(chi, 30) == false, "urw is not uniform in these (chi-square %.0f)", chi);
	free(p);
}

/*
 * Two processes do little that matters to both: surw takes what they share, not what each does for itself (1 of 3 orders
 * fails).
 */
static void test_shells(void)
{
	const int n = 400;
	int nr = 0;
	struct search *s = model_search("surw", 1, 1);

	for (int i = 0; i < n; i++)
		nr += shells_run(s, search_begin(s), NULL, SHELL_SIGNALS);
	search_free(s);
	tap_ok(nr > n / 5, "surw: what two processes share is not hidden by what each does for itself (%d of %d executions)", nr, n);
}

/*
 * Two tasks read a variable and store one more, among many steps on what a pool of threads shares. Once the search knows whose
 * code it is half of the executions have all 6 orders of these four alike, of which 4 fail.
 */
static void test_drowned(void)
{
	enum { OTHERS = 10, AROUND = 12 };
	struct model_step code[3][2 * AROUND + 3] = { 0 };
	struct model m = { .name = "drowned", .nr_tasks = 3, .nr_started = 3 };
	int n = tap_scale(4000, 40000);
	double rate[2];

	for (uint32_t t = 0; t < 2; t++) {
		uint32_t len = 0;

		for (uint32_t i = 0; i < 2 * AROUND; i++) {
			if (i == AROUND) {
				code[t][len++] = (struct model_step){ .op = M_READ };
				code[t][len++] = (struct model_step){ .op = M_STORE, .imm = 1 };
			}
			code[t][len++] = (struct model_step){ .op = M_WRITE, .a = 1 + i % OTHERS, .imm = 1 };
		}
		code[t][len++] = (struct model_step){ .op = M_END };
		m.len[t] = len;
		code[2][t] = (struct model_step){ .op = M_JOIN, .a = (uint8_t)t };
	}
	code[2][2] = (struct model_step){ .op = M_READ };
	code[2][3] = (struct model_step){ .op = M_ASSERT, .imm = 2 };
	m.len[2] = 4;
	for (uint32_t t = 0; t < 3; t++)
		m.code[t] = code[t];
	for (int own = 0; own < 2; own++) {
		m.own = (uint32_t)own;
		rate[own] = fail_rate(&m, "surw", n, 1);
	}
	tap_ok(rate[1] > 0.9 * 0.5 * 4 / 6, "surw: the program's own steps among those of a pool fail in %.3f of the executions",
	       rate[1]);
	tap_ok(rate[0] < rate[1] / 2, "  and in %.3f where nothing says whose they are", rate[0]);
}

/*
 * Two clients do much for each of four requests, and a thread of a server answers each of them: the last two requests are counted
 * by a read and a store, so that both have to be there at once. Only the server's steps are the program's own. busy: it is the
 * server that does much, in packages, and there are other clients that do little.
 */
static void test_clients(bool busy)
{
	enum { REQUESTS = 4, AROUND = 12, OTHERS = 10, NUMBER = 0, ANSWERS = 2, SEEDS = 100 };
	struct model_step code[7][REQUESTS * (AROUND + 4)] = { 0 };
	struct model m = { .name = "clients", .nr_tasks = 5 + 2 * busy, .nr_started = 5 + 2 * busy };
	int n = tap_scale(4000, 40000), found = 0;
	double rate[2];

#define ADD(t, ...)	code[t][m.len[t]++] = (struct model_step){ __VA_ARGS__ }
	for (uint8_t c = 0; c < 2; c++) {
		for (int i = 0; i < REQUESTS; i++) {
			for (uint8_t k = 0; k < AROUND; k++)
				ADD(busy ? c : 2 + c, .op = M_WRITE, .a = 1 + k % OTHERS, .imm = 1);
			ADD(2 + c, .op = M_SEM_POST, .a = c);
			ADD(2 + c, .op = M_SEM_WAIT, .a = ANSWERS + c);
			ADD(c, .op = M_SEM_WAIT, .a = c);
			ADD(c, .op = M_READ, .a = NUMBER);
			if (i == REQUESTS - 1)
				ADD(c, .op = M_STORE, .a = NUMBER, .imm = 1);
			ADD(c, .op = M_SEM_POST, .a = ANSWERS + c);
		}
		ADD(4, .op = M_JOIN, .a = 2 + c);
	}
	for (uint8_t t = 5; t < m.nr_tasks; t++) {
		ADD(t, .op = M_WRITE, .a = 1, .imm = 1);
		ADD(4, .op = M_JOIN, .a = t);
	}
	ADD(4, .op = M_READ, .a = NUMBER);
	ADD(4, .op = M_ASSERT, .imm = 2);
#undef ADD
	for (uint32_t t = 0; t < m.nr_tasks; t++)
		m.code[t] = code[t];
	for (int own = 0; own < 2; own++) {
		m.own = (uint32_t)own;
		rate[own] = fail_rate(&m, "surw", n, 1);
	}
	tap_ok(rate[1] > 0.15, "surw: two requests come to a server's own steps at once in %.3f of the executions", rate[1]);
	tap_ok(rate[0] < rate[1] / 2, "  and in %.3f where nothing says whose they are", rate[0]);
	m.own = 1;
	for (int seed = 1; seed <= SEEDS; seed++)
		found += fails_within(&m, "portfolio", seed, 16);
	tap_ok(found > SEEDS * 9 / 10, "portfolio: and in %d of %d searches within 16 executions", found, SEEDS);
}

/* What a replay has shown is counted: the first execution of surw is uniform then, too. */
static void test_informed(void)
{
	static const uint32_t each[] = { 3, 2, 2 };
	struct gen_program *p = new_lines(each, 3, false);
	int n = tap_scale(20000, 200000);

	for (int informed = 1; informed >= 0; informed--) {
		struct counts *c = calloc(1, sizeof(*c));
		double chi;

		for (int seed = 0; seed < n; seed++) {
			struct search *s = model_search("surw", (uint64_t)seed, 1);
			struct model_result r;
			uint32_t order[16];

			if (informed) {
				search_replay(s, NULL, 0);
				model_run(&p->model, s, &r, NULL, 0);
			}
			model_run(&p->model, s, &r, order, 16);
			count(c, order_hash(&p->model, order, r.steps, true));
			search_free(s);
		}
		chi = chi_square(c, 210, n);
		tap_ok(uniform(chi, 210) == informed, "surw: a first execution %s a replay has %s 210 = 7!/(3!2!2!) "
		       "orders alike (chi-square %.0f)", informed ? "after" : "without",
		       informed ? "all" : "not all", chi);
		free(c);
	}
	free(p);
}

/*
 * Task 0 makes n steps of its own, then writes x; task 1 writes x. Task 1's
 * priority stays until x is written, so it comes last exactly if it is the
 * least of n + 2 priorities.
 */
static void test_pos(void)
{
	int runs = tap_scale(40000, 400000);
	struct program *p0;
	double rate0;

	for (uint32_t n = 0; n <= 6; n += 2) {
		struct gen_program *p = calloc(1, sizeof(*p));
		uint32_t len = 0;
		double rate;

		for (uint32_t i = 0; i < n; i++)
			p->code[0][len++] = (struct model_step){ .op = M_WRITE, .a = 1 };
		p->code[0][len++] = (struct model_step){ .op = M_WRITE, .imm = 1 };
		p->code[1][0] = (struct model_step){ .op = M_READ };
		/* Fails if task 1 read what task 0 wrote. */
		p->code[1][1] = (struct model_step){ .op = M_ASSERT };
		p->model.nr_tasks = p->model.nr_started = 2;
		for (uint32_t t = 0; t < 2; t++)
			p->model.code[t] = p->code[t];
		p->model.len[0] = len;
		p->model.len[1] = 2;
		rate = fail_rate(&p->model, "pos", runs, 0);
		tap_ok(close_to(rate, 1.0 / (n + 2), runs),
		       "pos: last of %u priorities at the rate 1/%u (%.4f)", n + 2, n + 2, rate);
		free(p);
	}
	/*
	 * Where all pending steps depend on each other it is the random walk: between two writes of
	 * task 0 with 1/4. Had task 1 kept its priority, it would be 1/6.
	 */
	p0 = program_new("window", 0);
	rate0 = fail_rate(&p0->model, "pos", runs, 0);
	tap_ok(close_to(rate0, 0.25, runs), "pos: priorities are drawn again (%.4f, exact 1/4)", rate0);
	program_free(p0);
	/* Elsewhere it is not far below. */
	for (int i = 0; i < 2; i++) {
		struct program *p = program_new(i ? "reorder" : "lines", 2);
		struct oracle o;
		double rate = fail_rate(&p->model, "pos", runs, 0);

		oracle_run(&p->model, 3000000, false, &o);
		if (!i)
			tap_ok(rate == 0, "pos: nothing fails where nothing can");
		else
			tap_ok(rate > 0.5 * o.random_fails, "pos: %s not below half the random "
			       "walk (%.4f, %.4f)", p->name, rate, o.random_fails);
		oracle_free(&o);
		program_free(p);
	}
}

/*
 * Task 0: n steps, x := 1, x := 0, n steps. Task 1 reads x and must find 1.
 * Bug depth 2: task 0 must start above task 1 (1/2), and the one change point
 * must be the step between (1/k).
 */
static void test_pct_depth_2(void)
{
	int runs = tap_scale(60000, 600000);

	for (uint32_t n = 0; n <= 8; n += 4) {
		struct program *p = program_new("window", n);
		uint32_t k = 2 * n + 2;
		double exact = 1.0 / (2.0 * k), rate;
		char spec[64];

		snprintf(spec, sizeof(spec), "pct:depth=2,steps=%u", k);
		rate = fail_rate(&p->model, spec, runs, 0);
		tap_ok(close_to(rate, exact, runs), "pct: depth 2, %u points: rate %.4f, exact 1/%u",
		       k, rate, 2 * k);
		/* Learning: once task 0 has gone first, k is known. */
		rate = fail_rate(&p->model, "pct:depth=2", runs, 100);
		tap_ok(close_to(rate, exact, runs), "pct: the same when k is learnt (%.4f)", rate);
		rate = fail_rate(&p->model, "pct:depth=1", 2000, 0);
		tap_ok(rate == 0, "pct: depth 1 cannot find it");
		program_free(p);
	}
}

/*
 * Depth 3. Task 0: noise, x := 1, read y (must be 1 to fail), x := 0, noise.
 * Task 1: read x, if 1: y := 1, y := 0. Task 0 is preempted at one place, then
 * task 1 at one place.
 */
static void test_pct_depth_3(void)
{
	static const struct model_step task0[] = {
		{ M_WRITE, 8, 0, 0, 0 }, { M_WRITE, 8, 0, 0, 0 }, { M_WRITE, 0, 0, 1, 0 },
		{ M_READ, 1, 0, 0, 0 }, { M_ASSERT, 0, 0, 0, 0 }, { M_WRITE, 0, 0, 0, 0 },
		{ M_WRITE, 8, 0, 0, 0 }, { M_WRITE, 8, 0, 0, 0 },
	};
	static const struct model_step task1[] = {
		{ M_READ, 0, 0, 0, 0 }, { M_JUMP_NE, 0, 0, 1, 4 }, { M_WRITE, 1, 0, 1, 0 },
		{ M_WRITE, 1, 0, 0, 0 }, { M_WRITE, 9, 0, 0, 0 }, { M_WRITE, 9, 0, 0, 0 },
	};
	struct model m = {
		.name = "nested", .nr_tasks = 2, .nr_started = 2,
		.code = { task0, task1 }, .len = { 8, 6 },
	};
	const uint32_t k = 12;
	int runs = tap_scale(100000, 1000000);
	double least = 1.0 / (2.0 * k * k), rate;

	rate = fail_rate(&m, "pct:depth=3,steps=12", runs, 0);
	tap_ok(rate >= least - SIGMAS * sqrt(least / runs),
	       "pct: depth 3 at no less than 1/(n k^2) (%.5f, least %.5f)", rate, least);
	rate = fail_rate(&m, "pct:depth=2,steps=12", 20000, 0);
	tap_ok(rate == 0, "pct: depth 2 cannot find it (%.5f)", rate);
}

/* Every order of tasks that fork each other: with depth 1, priorities alone decide. */
static void test_pct_ranks(void)
{
	static const uint32_t one[] = { 1, 1, 1 };
	struct gen_program *p = new_lines(one, 3, true);
	struct search *s = model_search("pct:depth=1", 5, 1);
	struct counts *c = calloc(1, sizeof(*c));
	struct model_result r;
	int n = tap_scale(30000, 300000);
	uint32_t order[16];
	double first[3] = { 0 };

	for (int i = 0; i < n; i++) {
		uint32_t last = 0;

		model_run(&p->model, s, &r, order, 16);
		/* The task whose write comes last has the lowest rank. */
		last = order[r.steps - 1];
		first[last]++;
	}
	/*
	 * The root's two forks come before its write; who ends last is the lowest of three
	 * random ranks, so each with 1/3.
	 */
	tap_ok(close_to(first[0] / n, 1 / 3., n) && close_to(first[1] / n, 1 / 3., n),
	       "pct: a new task gets any rank (%.3f %.3f %.3f)", first[0] / n, first[1] / n,
	       first[2] / n);
	free(c);
	free(p);
	search_free(s);
}

int main(void)
{
	test_random();
	test_uniform();
	test_selective();
	test_drowned();
	test_clients(false);
	test_clients(true);
	test_shells();
	test_informed();
	test_pos();
	test_pct_depth_2();
	test_pct_depth_3();
	test_pct_ranks();
	return tap_done();
}
