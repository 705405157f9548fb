/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_runtime.c - tasks that live where the search begins, and that a language's runtime has for itself: T1 here, and
 * what it makes
 */
#include "run.h"

#define PROGRAM(...)	&(const struct mw_program){ .begins = 3, __VA_ARGS__ }
#define SEEDS		40

static const struct how apart = { .o.runtime_tasks = true, .o.max_steps = 3000 };

/* It looks after something again and again. */
#define LOOKS	TASK(SLEEP(50 * MS), LOCAL, JUMP(0))
/* Until the search begins. */
#define BEGIN	CREATE(1), LOCAL, LOCAL

static void waits_for_ever(void)
{
	const struct mw_program *p = PROGRAM(.code = { TASK(BEGIN, LOCAL, GET(3)), LOOKS });
	struct run *r = run(p, &apart), *again;

	check(is_outcome(r, ZUG_OUTCOME_DEADLOCK, "T0 waits in read p3"), r,
	      "a program that waits for ever does so also where its runtime wakes up at times");
	again = run(p, &(struct how){ .replay = r->t, .o = apart.o });
	check(!again->x.diverged && again->x.steps == r->x.steps && is_outcome(again, ZUG_OUTCOME_DEADLOCK, NULL), again,
	      "a replay ends there, too");
	run_free(again);
	run_free(r);
	r = run(p, &(struct how){ .o.max_steps = 3000 });
	check(is_outcome(r, ZUG_OUTCOME_TIMEOUT, NULL), r, "tasks of which nothing is said may yet do something");
	run_free(r);
	r = run(PROGRAM(.code = { TASK(BEGIN, LOCAL, SLEEP(60 * SECOND), LOCAL), LOOKS }),
		&(struct how){ .o.runtime_tasks = true });
	check(is_outcome(r, ZUG_OUTCOME_PASS, NULL), r, "a program that sleeps for a minute does not wait for ever");
	run_free(r);
}

/* How long the start of a runtime took decides which of its tasks wakes up first. */
static void wakes_in_another_order(void)
{
#define WAKES(first, second) \
	&(const struct mw_program){ .begins = 4, .code = { TASK(CREATE(1), CREATE(2), LOCAL, LOCAL, LOCAL, GET(3)), \
							   TASK(SLEEP(first), LOCAL, JUMP(0)), TASK(SLEEP(second), LOCAL, JUMP(0)) } }
	struct run *r = run(WAKES(50 * MS, 170 * MS), &apart);
	struct run *again = run(WAKES(50 * MS, 130 * MS), &(struct how){ .replay = r->t, .o = apart.o });

	check(is_outcome(r, ZUG_OUTCOME_DEADLOCK, NULL) && !again->x.diverged && again->x.steps == r->x.steps &&
		      is_outcome(again, ZUG_OUTCOME_DEADLOCK, NULL),
	      again, "a replay follows where tasks of the runtime wake up in another order");
	run_free(again);
	run_free(r);
	r = run(PROGRAM(.code = { TASK(BEGIN, SLEEP(50 * MS), LOCAL), TASK(SLEEP(70 * MS), LOCAL) }), &apart);
	again = run(PROGRAM(.code = { TASK(BEGIN, SLEEP(50 * MS), LOCAL), TASK(SLEEP(30 * MS), LOCAL) }),
		    &(struct how){ .replay = r->t, .o = apart.o });
	check(!again->x.diverged && again->x.steps == r->x.steps, again, "and where one of them wakes up before one of the program's");
	run_free(again);
	run_free(r);
}

static bool alone_or_not_there(const struct trace *t, uint32_t task, uint64_t from)
{
	for (uint64_t i = from; i < trace_nr_steps(t); i++) {
		const struct trace_step *s = trace_step(t, i);

		for (uint32_t k = 0; k < s->nr_enabled && s->nr_enabled > 1; k++)
			if (s->enabled[k] == task)
				return false;
	}
	return true;
}

static void no_choice(void)
{
	const struct mw_program *p =
		PROGRAM(.code = { TASK(BEGIN, CREATE(2), READ(0, 0), STORE(0, 0, 1), JOIN(2)),
				  TASK(LOCAL, LOCAL, CREATE(3), LOCAL, SLEEP(SECOND), LOCAL),
				  TASK(READ(0, 0), STORE(0, 0, 1)), TASK(LOCAL, LOCAL) });
	uint32_t lost = 0, alone = 0, exact = 0, early = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		const struct how random = { .strategy = "random", .seed = seed,
					    .o = { .runtime_tasks = true, .explore_timeouts = true } };
		struct run *r = run(p, &random), *again;

		again = run(p, &(struct how){ .replay = r->t, .o = random.o });
		lost += r->vars[0] == 1;
		alone += alone_or_not_there(r->t, 1, 4) && alone_or_not_there(r->t, 3, 4);
		exact += !again->x.diverged && again->x.steps == r->x.steps && again->vars[0] == r->vars[0];
		early += r->x.early;
		run_free(again);
		run_free(r);
	}
	check(lost && lost < SEEDS, NULL, "the program's tasks come in any order");
	check(alone == SEEDS, NULL, "the runtime's task, and the one that it makes, are chosen where no other could be alone");
	check(!early, NULL, "their time-outs do not end early");
	check(exact == SEEDS, NULL, "replays are exact");
}

static void waits_for_runtime(void)
{
	/* two tasks that yield by turns until T1 has written */
	struct run *r = run(PROGRAM(.code = { TASK(BEGIN, CREATE(2), READ(0, 0), YIELD, JUMP_NE(0, 1, 4), JOIN(2)),
					      TASK(WRITE(0, 1)), TASK(READ(0, 0), YIELD, JUMP_NE(0, 1, 0)) }),
			    &apart);

	check(is_outcome(r, ZUG_OUTCOME_PASS, NULL), r, "a program that waits in a loop for its runtime goes on");
	run_free(r);
}

/* T3, which the program makes and its language begins by three steps, makes these at once and alone, wherever T2 is. */
static void begins_at_once(void)
{
	const struct mw_program *p =
		PROGRAM(.starts[3] = 3, .code = { TASK(BEGIN, CREATE(2), CREATE(3), READ(0, 0), LOCAL, JOIN(2), JOIN(3)),
						  LOOKS, TASK(LOCAL, STORE(0, 0, 1), LOCAL, LOCAL),
						  TASK(LOCAL, LOCAL, LOCAL, LOCAL, STORE(0, 0, 2)) });
	uint32_t apart_nr = 0, last = 0, exact = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		const struct how random = { .strategy = "random", .seed = seed, .o.runtime_tasks = true };
		struct run *r = run(p, &random), *again = run(p, &(struct how){ .replay = r->t, .o = random.o });
		uint64_t first = 0, nr = trace_nr_steps(r->t);

		while (first < nr && trace_step(r->t, first)->task != 3)
			first++;
		for (uint64_t i = first; i < first + 3 && i < nr; i++)
			apart_nr += trace_step(r->t, i)->task != 3 || trace_step(r->t, i)->nr_enabled != 1;
		last += r->vars[0] == 2;
		exact += !again->x.diverged && again->x.steps == r->x.steps && again->vars[0] == r->vars[0];
		run_free(again);
		run_free(r);
	}
	check(!apart_nr, NULL, "a task that its language begins goes on alone");
	check(last && last < SEEDS, NULL, "and behind that in any order");
	check(exact == SEEDS, NULL, "replays of it are exact");
}

/* T3 yields while its language begins it: another task makes a step, and then T3 goes on alone again. No lease reaches over that. */
static void yields_meanwhile(void)
{
	static const char *const strategies[] = { "random", "urw", "pos", "pct" };
	const struct mw_program *p =
		PROGRAM(.starts[3] = 4, .code = { TASK(BEGIN, CREATE(2), CREATE(3), READ(0, 0), LOCAL, JOIN(2), JOIN(3)), LOOKS,
						  TASK(LOCAL, LOCAL, LOCAL, LOCAL, LOCAL, LOCAL, STORE(0, 0, 1)),
						  TASK(LOCAL, YIELD, LOCAL, LOCAL, LOCAL, STORE(0, 0, 2)) });
	uint32_t passed = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct run *r = run(p, &(struct how){ .strategy = strategies[seed % 4], .seed = seed, .o.runtime_tasks = true });

		passed += is_outcome(r, ZUG_OUTCOME_PASS, NULL);
		run_free(r);
	}
	check(passed == SEEDS, NULL, "a task may yield while its language begins it");
}

int main(void)
{
	waits_for_ever();
	wakes_in_another_order();
	no_choice();
	waits_for_runtime();
	begins_at_once();
	yields_meanwhile();
	return tap_done();
}
