/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_minimize.c - minimised schedules still fail, are no worse, cannot be
 * minimised further, and come close to the best there is
 */
#include <string.h>
#include "search/minimize.h"
#include "gen.h"
#include "oracle.h"
#include "programs.h"
#include "tap.h"

#define MAX_ORDER	1024

static const struct search_options options = { .fair = 1, .max_steps = 20000, .preemptions = -1 };

/* Run until the minimiser is done; the result stays valid until the search is freed. */
static struct search *minimise(const struct model *m, const uint32_t *order, uint64_t nr,
			       uint64_t failure, struct minimize_result *result)
{
	struct search *s = minimize_new(&options, order, nr, failure, 0, NULL, 0);
	struct model_result r;

	while (model_run(m, s, &r, NULL, 0) == SEARCH_GO)
		;
	minimize_result(s, result);
	return s;
}

static bool replays(const struct model *m, const uint32_t *order, size_t nr, uint64_t failure)
{
	struct search *s = model_search("random", 1, 1);
	struct model_result r;

	search_replay(s, order, nr);
	model_run(m, s, &r, NULL, 0);
	search_free(s);
	return r.failed && r.outcome == failure && r.steps == nr;
}

/* Preemptions of a schedule, counted here. */
static uint32_t preemptions(const struct model *m, const uint32_t *order, uint64_t nr)
{
	struct model_state s;
	uint32_t sum = 0;

	model_start(m, &s);
	for (uint64_t i = 0; i < nr; i++) {
		if (i && order[i] != s.last && !s.yielded && s.task[s.last].status == TASK_LIVE &&
		    model_enabled(m, &s, s.last))
			sum++;
		model_step(m, &s, order[i], 0);
	}
	return sum;
}

/* The fewest preemptions that any schedule fails with in that way, up to 3. */
static int fewest(const struct model *m, uint64_t failure)
{
	struct search *s = model_search("preemption:bound=3", 1, 1);
	struct model_result r;
	uint32_t order[MAX_ORDER];
	int found = -1;

	while (found < 0 && model_run(m, s, &r, order, MAX_ORDER) == SEARCH_GO)
		if (r.failed && r.outcome == failure)
			found = (int)preemptions(m, order, r.steps);
	search_free(s);
	return found;
}

static int all_found, all_not_least;

struct tally {
	int found, lost, worse, again, unpaired, wrong_count, not_least, minimal;
	uint64_t trials, before, after;
};

static void check_failure(const struct model *m, const uint32_t *order, uint64_t steps,
			  uint64_t failure, struct tally *t)
{
	struct minimize_result a, b;
	struct search *first = minimise(m, order, steps, failure, &a), *second;
	uint32_t before = preemptions(m, order, steps);
	int least;

	t->found++;
	t->lost += !a.reproduced || !replays(m, a.tasks, a.nr, failure);
	t->minimal += a.minimal;
	t->worse += a.preemptions > before || (a.preemptions == before && a.nr > steps);
	t->wrong_count += a.preemptions != preemptions(m, a.tasks, a.nr);
	t->before += before;
	t->after += a.preemptions;
	t->trials += a.trials;
	for (size_t i = 0; i < a.nr_pairs; i++)
		t->unpaired += a.pairs[i].before.op == ZUG_OP_NONE;
	second = minimise(m, a.tasks, a.nr, failure, &b);
	t->again += b.preemptions != a.preemptions || b.differences != a.differences;
	least = fewest(m, failure);
	t->not_least += least >= 0 && a.preemptions > (uint32_t)least;
	all_found++;
	all_not_least += least >= 0 && a.preemptions > (uint32_t)least;
	search_free(second);
	search_free(first);
}

static void report(const char *what, const struct tally *t)
{
	tap_ok(t->found && !t->lost, "%s: all of %d minimised schedules fail as before (%d do not)",
	       what, t->found, t->lost);
	tap_ok(!t->worse && !t->wrong_count, "%s: never more preemptions, never longer at the same "
	       "number (%llu before, %llu after, %llu trials)", what,
	       (unsigned long long)t->before, (unsigned long long)t->after,
	       (unsigned long long)t->trials);
	tap_ok(!t->again && t->minimal == t->found, "%s: minimising again changes nothing", what);
	tap_ok(!t->unpaired, "%s: every preemption has the operation before which it came", what);
}

static void test_programs(void)
{
	static const struct { const char *family; uint32_t n; } on[] = {
		{ "lostupdate", 0 }, { "lostupdate", 20 }, { "abba", 3 }, { "philosophers", 3 },
		{ "philosophers", 4 }, { "reorder", 3 }, { "twostage", 2 }, { "lostwakeup", 5 },
		{ "chain", 4 },
	};

	for (size_t i = 0; i < sizeof(on) / sizeof(on[0]); i++) {
		struct program *p = program_new(on[i].family, on[i].n);
		struct tally t = { 0 };

		for (uint64_t seed = 1; seed <= 10; seed++) {
			uint32_t order[MAX_ORDER];
			struct model_result r;

			if (model_fail(&p->model, seed, 5000, &r, order, MAX_ORDER))
				check_failure(&p->model, order, r.steps, r.outcome, &t);
		}
		report(p->name, &t);
		program_free(p);
	}
}

/* Any deadlock of a random program will do. */
static void check_random_program(struct gen_program *p, int number, struct tally *t)
{
	uint32_t order[MAX_ORDER];
	struct model_result r;
	struct rng rng;

	rng_seed(&rng, 99, (uint64_t)number);
	gen_program(p, &rng, GEN_ALL & ~GEN_CHOICE, 3, 14, 2);
	if (model_fail(&p->model, (uint64_t)number, 50, &r, order, MAX_ORDER))
		check_failure(&p->model, order, r.steps, r.outcome, t);
}

static void test_random_programs(void)
{
	struct gen_program *p = malloc(sizeof(*p));
	int programs = tap_scale(400, 4000);
	struct tally t = { 0 };

	for (int i = 0; i < programs; i++)
		check_random_program(p, i, &t);
	free(p);
	report("random programs", &t);
}

/*
 * A difference can go that could not while another one was there. About one program in 4,000 has one of the first kind, and one
 * in 2,500 one of the second: numbers of such programs.
 */
static void test_rounds(void)
{
	static const int singles[] = { 1929, 2156, 6299, 10192, 15971, 25735, 26564, 31756 },
			 moved[] = { 2019, 2455, 4411, 4738, 6544, 9185, 10262, 13477 };
	struct gen_program *p = malloc(sizeof(*p));
	struct tally after_singles = { 0 }, after_moves = { 0 };

	for (size_t i = 0; i < sizeof(singles) / sizeof(*singles); i++)
		check_random_program(p, singles[i], &after_singles);
	for (size_t i = 0; i < sizeof(moved) / sizeof(*moved); i++)
		check_random_program(p, moved[i], &after_moves);
	free(p);
	report("differences that can go when another one has gone", &after_singles);
	report("differences that can go when steps have changed places", &after_moves);
}

/* A minimiser that is stopped tells about how much is left; one that is through, nothing. */
static void test_left(void)
{
	struct program *p = program_new("philosophers", 4);
	struct minimize_result before = { 0 }, r;
	int fell = 0, rounds = 0;
	uint32_t order[MAX_ORDER];
	struct model_result m, end;
	struct search *s;

	model_fail(&p->model, 3, 5000, &m, order, MAX_ORDER);
	s = minimize_new(&options, order, m.steps, m.outcome, 0, NULL, 0);
	minimize_result(s, &r);
	tap_ok(!r.left, "nothing is known to be left before the first trial");
	while (model_run(&p->model, s, &end, NULL, 0) == SEARCH_GO) {
		minimize_result(s, &r);
		/* what is accepted brings new trials */
		if (rounds++ && r.trial == before.trial)
			fell += r.left <= before.left;
		else
			fell++;
		if (rounds == 1)
			tap_ok(r.left > r.differences, "more trials than differences are left at first");
		before = r;
	}
	minimize_result(s, &r);
	tap_ok(r.minimal && !r.left, "nothing is left of what is minimal");
	tap_ok(fell == rounds, "a trial that fails otherwise leaves fewer, not more (%d of %d)", fell, rounds);
	search_free(s);
	program_free(p);
}

/* What the last steps differ in goes first where they are said to be a loop; the result is as good. */
static void test_loop(void)
{
	struct program *p = program_new("lostupdate", 10);
	int at_once = 0, good = 0, nr = 0;

	for (int i = 0; i < 20; i++) {
		struct minimize_result a;
		uint32_t order[MAX_ORDER];
		struct model_result r, end;
		struct search *s;

		if (!model_fail(&p->model, (uint64_t)i, 50, &r, order, MAX_ORDER))
			continue;
		nr++;
		s = minimize_new(&options, order, r.steps, r.outcome, 0, NULL, 0);
		minimize_loop(s, r.steps / 4);
		model_run(&p->model, s, &end, NULL, 0);
		model_run(&p->model, s, &end, NULL, 0);
		minimize_result(s, &a);
		at_once += a.trial == 2;
		while (model_run(&p->model, s, &end, NULL, 0) == SEARCH_GO)
			;
		minimize_result(s, &a);
		good += a.reproduced && a.minimal && a.preemptions == 1 && !a.left &&
			replays(&p->model, a.tasks, a.nr, r.outcome);
		search_free(s);
	}
	tap_ok(nr > 5 && good == nr, "a schedule whose end is said to be a loop is minimised (%d of %d)", good, nr);
	tap_ok(at_once > 0, "its end is left out at once where that fails alike (%d)", at_once);
	program_free(p);
}

/* What fails where a task goes on although it yields: the base scheduler, which is fair, never comes there. */
static void test_patient(void)
{
	struct program *p = program_new("impatient", 4);
	int nr = 0, good = 0;

	for (uint64_t seed = 1; seed <= 10; seed++) {
		uint32_t order[MAX_ORDER];
		struct minimize_result a;
		struct model_result r;
		struct search *s;

		if (!model_fail(&p->model, seed, 500, &r, order, MAX_ORDER))
			continue;
		nr++;
		s = minimise(&p->model, order, r.steps, r.outcome, &a);
		good += a.reproduced && a.minimal && a.preemptions <= 1 && a.differences <= 4 &&
			replays(&p->model, a.tasks, a.nr, r.outcome);
		search_free(s);
	}
	tap_ok(nr > 5 && good == nr, "what patient executions have found is minimised (%d of %d)", good, nr);
	program_free(p);
}

/* Every third execution fails whatever its schedule is: it is a chance that no schedule gives. */
static bool with_chance(bool twice, uint64_t seed)
{
	struct program *p = program_new("lostupdate", 4);
	struct minimize_result a;
	uint32_t order[MAX_ORDER];
	struct model_result r, end;
	struct search *s;
	int nr = 0;
	bool same;

	model_fail(&p->model, seed, -1, &r, order, MAX_ORDER);
	s = minimize_new(&options, order, r.steps, r.outcome, 0, NULL, 0);
	if (twice)
		minimize_twice(s);
	do {
		p->model.vars[0] = nr++ % 3 == 2;
	} while (model_run(&p->model, s, &end, NULL, 0) == SEARCH_GO);
	p->model.vars[0] = 0;
	minimize_result(s, &a);
	same = a.reproduced && a.minimal && replays(&p->model, a.tasks, a.nr, r.outcome);
	search_free(s);
	program_free(p);
	return same;
}

static void test_twice(void)
{
	int once = 0, twice = 0;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		once += with_chance(false, seed);
		twice += with_chance(true, seed);
	}
	tap_ok(twice == 20, "what fails by chance is not accepted where a trial has to fail twice (%d of 20 are right)", twice);
	tap_ok(once < 20, "elsewhere it is (%d of 20 are right)", once);
}

/* The pair that a lost update comes down to: two accesses to the same variable. */
static void test_pair(void)
{
	struct program *p = program_new("lostupdate", 10);
	uint32_t order[MAX_ORDER];
	struct minimize_result a;
	struct model_result r;
	struct search *min;

	model_fail(&p->model, 4, -1, &r, order, MAX_ORDER);
	min = minimise(&p->model, order, r.steps, r.outcome, &a);
	tap_ok(a.preemptions == 1 && a.nr_pairs == 1, "a lost update needs one preemption");
	tap_ok(a.nr_pairs == 1 && a.pairs[0].before.op == ZUG_OP_DATA_WRITE &&
	       a.pairs[0].after.op == ZUG_OP_DATA_READ &&
	       a.pairs[0].before.object == a.pairs[0].after.object,
	       "its pair: the store came after the other task's first access");
	search_free(min);
	/* What does not fail is said not to. */
	min = minimise(&p->model, order, 0, r.outcome, &a);
	tap_ok(!a.reproduced && !a.minimal, "a schedule that does not fail is not minimised");
	search_free(min);
	program_free(p);
}

/* Steps that could come in a row do so in one trial: of hundreds of preemptions few are left after five executions. */
static void test_few_trials(void)
{
	struct program *p = program_new("lostupdate", 100);
	uint32_t order[MAX_ORDER], before = 0, left = 0, nr = 0;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct minimize_result result;
		struct model_result r;
		struct search *s;

		if (!model_fail(&p->model, seed, 5000, &r, order, MAX_ORDER))
			continue;
		before += preemptions(&p->model, order, r.steps);
		s = minimize_new(&options, order, r.steps, r.outcome, 5, NULL, 0);
		while (model_run(&p->model, s, &r, NULL, 0) == SEARCH_GO)
			;
		minimize_result(s, &result);
		left += result.preemptions;
		nr++;
		search_free(s);
	}
	tap_ok(nr && before > 100 * nr && left <= 2 * nr, "five executions leave %.1f of %.1f preemptions of %u schedules",
	       left / (double)nr, before / (double)nr, nr);
	program_free(p);
}

/* ---- executions of thousands of steps ---- */

/*
 * Two clients, 2 and 3, do much for each request, in libraries that they share; threads of a server, 0 and 1, answer. Its own
 * steps are the read and the store of one number, which loses an update where both come between. A thread for each client, which
 * stores for the last request alone; or (pool) each takes whatever request is there, and stores always.
 */
#define LARGE_ORDER	4000
enum { LARGE_REQUESTS = 5, LARGE_AROUND = 290, LARGE_NUMBER = 0, LARGE_OTHERS = 10, LARGE_ANSWERS = 2 };
static struct model_step large_code[5][LARGE_REQUESTS * (LARGE_AROUND + 5)];

static struct model large_program(bool pool)
{
	struct model m = { .name = "large", .nr_tasks = 5, .nr_started = 5, .own = 1 << LARGE_NUMBER };

	memset(large_code, 0, sizeof(large_code));
#define ADD(t, ...)	large_code[t][m.len[t]++] = (struct model_step){ __VA_ARGS__ }
	for (uint8_t c = 0; c < 2; c++) {
		uint8_t at = pool ? 0 : c;

		for (int i = 0; i < LARGE_REQUESTS; i++) {
			for (int k = 0; k < LARGE_AROUND; k++)
				ADD(2 + c, .op = M_WRITE, .a = (uint8_t)(1 + k % LARGE_OTHERS), .imm = 1);
			ADD(2 + c, .op = M_SEM_POST, .a = at);
			ADD(2 + c, .op = M_SEM_WAIT, .a = LARGE_ANSWERS + at);
			ADD(c, .op = M_SEM_WAIT, .a = at);
			ADD(c, .op = M_READ, .a = LARGE_NUMBER);
			if (pool || i == LARGE_REQUESTS - 1)
				ADD(c, .op = M_STORE, .a = LARGE_NUMBER, .imm = 1);
			ADD(c, .op = M_SEM_POST, .a = LARGE_ANSWERS + at);
		}
		ADD(4, .op = M_JOIN, .a = 2 + c);
	}
	ADD(4, .op = M_READ, .a = LARGE_NUMBER);
	ADD(4, .op = M_ASSERT, .imm = pool ? 2 * LARGE_REQUESTS : 2);
#undef ADD
	for (uint32_t t = 0; t < 5; t++)
		m.code[t] = large_code[t];
	m.routine[1] = pool ? 1 : 0;
	return m;
}

/* A schedule in which the turn goes from a task that could go on at one step in twelve; its length if it fails, else 0. */
static uint64_t large_schedule(const struct model *m, uint64_t seed, uint32_t *order, uint64_t *failure)
{
	struct model_state s;
	uint32_t able[5], nr, last = 0;
	uint64_t steps = 0;
	struct rng rng;

	rng_seed(&rng, 7, seed);
	model_start(m, &s);
	while (!model_over(m, &s)) {
		nr = 0;
		for (uint32_t t = 0; t < 5; t++)
			if (s.task[t].status == TASK_LIVE && model_enabled(m, &s, t))
				able[nr++] = t;
		if (!steps || s.task[last].status != TASK_LIVE || !model_enabled(m, &s, last) || !rng_below(&rng, 12))
			last = able[rng_below(&rng, nr)];
		order[steps++] = last;
		model_step(m, &s, last, 0);
	}
	*failure = model_outcome(m, &s);
	return s.failed ? steps : 0;
}

/* So many executions leave few of hundreds of preemptions; 'most' in the mean. */
static void test_large(bool pool, bool own, double most)
{
	enum { WANTED = 10, EXECUTIONS = 16 };
	static uint32_t order[LARGE_ORDER];
	struct model m = large_program(pool);
	uint32_t before = 0, left = 0, nr = 0, worst = 0;
	uint64_t failure, steps, sum = 0;

	m.own = own ? m.own : 0;
	for (uint64_t seed = 1; seed <= 5000 && nr < WANTED; seed++) {
		struct minimize_result result;
		struct model_result r;
		struct search *s;

		steps = large_schedule(&m, seed, order, &failure);
		if (!steps)
			continue;
		before += preemptions(&m, order, steps);
		sum += steps;
		s = minimize_new(&options, order, steps, failure, EXECUTIONS, NULL, 0);
		while (model_run(&m, s, &r, NULL, 0) == SEARCH_GO)
			;
		minimize_result(s, &result);
		nr += result.reproduced;
		left += result.preemptions;
		worst = result.preemptions > worst ? result.preemptions : worst;
		search_free(s);
	}
	tap_ok(nr == WANTED && before > 100 * nr && left <= most * nr,
	       "%d executions%s%s leave %.1f of %.1f preemptions of %u schedules of %.0f steps, at most %u", EXECUTIONS,
	       pool ? ", with a pool of threads," : "", own ? " that know the program's own steps" : "", left / (double)nr,
	       before / (double)nr, nr, sum / (double)nr, worst);
}

/* What processes do for themselves is put into a row at once, as if it did not depend on what others do for themselves. */
static void test_own_affairs(void)
{
	uint32_t order[SHELL_STEPS];
	struct minimize_result r;
	struct search *s;
	int trials = 0;

	for (uint32_t i = 0; i < SHELL_STEPS; i++)
		order[i] = i % 2;
	s = minimize_new(&options, order, SHELL_STEPS, 1, 0, NULL, 0);
	for (int begun; (begun = search_begin(s)) == SEARCH_GO; trials++)
		shells_run(s, begun, NULL, SHELL_SIGNALS);
	minimize_result(s, &r);
	tap_ok(r.reproduced && r.preemptions == 1 && trials <= 10, "two shells that take turns: %u preemptions after %d executions",
	       r.preemptions, trials);
	search_free(s);
}

int main(void)
{
	test_own_affairs();
	test_programs();
	test_random_programs();
	test_loop();
	test_patient();
	test_twice();
	test_pair();
	test_left();
	test_few_trials();
	test_large(false, true, 2);
	test_large(false, false, 9);
	test_large(true, true, 2);
	tap_ok(all_not_least * 20 <= all_found, "the fewest preemptions there are, in 19 of 20 (%d of "
	       "%d have more)", all_not_least, all_found);
	test_rounds();	/* of programs that were chosen, which say nothing of how often */
	return tap_done();
}
