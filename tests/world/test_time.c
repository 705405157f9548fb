/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_time.c - time-outs that expire and timers that fire: on the test's own clock, when no task
 * can go on, or whenever the search wants it
 */
#include <errno.h>
#include <string.h>
#include "run.h"

#define PROGRAM(...)	&(const struct mw_program){ __VA_ARGS__ }
#define SEM_TIMED(s, r, ns)	{ .op = W_SEM_TIMED, .a = (s), .b = (r), .imm = (ns) }
#define TIMED_WAIT(c, m, ns)	{ .op = W_TIMED_WAIT, .a = (c), .b = (m), .imm = (ns) }

static const struct how plain;

/* Of a semaphore that is posted after 'steps' steps. */
#define POSTED(steps, ns)	.code = { TASK(CREATE(1), SEM_TIMED(0, 0, (ns)), STORE(0, 0, 10), JOIN(1)),	\
	TASK({ .op = W_SET, .b = 0, .imm = 0 }, READ(1, 0), STORE(1, 0, 1), READ(1, 0), JUMP_NE(0, (steps), 1), SEM_POST(0)) }

static void alone(void)
{
	struct run *r = run(PROGRAM(.code = { TASK(SLEEP(3600 * SECOND), LOCAL) }), &plain);

	check(is_outcome(r, ZUG_OUTCOME_PASS, NULL) && r->ns < SECOND, r,
	      "an hour of sleep takes no time");
	check(!strcmp(ops_of(r->t, 0), "begin sleep expire begin") &&
		      !strcmp(notes_of(r->t, 0), "block exit"),
	      r, "the expiry of a time-out is a step");
	run_free(r);
	r = run(PROGRAM(POSTED(1, SECOND)), &plain);
	check(r->vars[0] == 11 && is_outcome(r, ZUG_OUTCOME_PASS, NULL), r,
	      "a wait that ends in time does not expire");
	check(!strcmp(ops_of(r->t, 0), "begin create sem-timedwait resume data-write join"), r,
	      "a wait that ends in time resumes");
	run_free(r);
	r = run(PROGRAM(.code = { TASK(SEM_TIMED(0, 0, MS), STORE(0, 0, 10)) }), &plain);
	check(r->vars[0] == 10, r, "a wait that does not end expires");
	run_free(r);
	r = run(PROGRAM(.code = { TASK(LOCK(0), TIMED_WAIT(0, 0, MS), STORE(0, 0, 10),
				       UNLOCK(0)) }),
		&plain);
	check(r->vars[0] == 10 && is_outcome(r, ZUG_OUTCOME_PASS, NULL), r,
	      "a wait for a condition takes its mutex again after it");
	run_free(r);
	r = run(PROGRAM(.code = { TASK(CREATE(1), SEM_TIMED(0, 0, MS), STORE(0, 0, 10), JOIN(1)),
				  TASK(GET(3)) }),
		&plain);
	check(is_outcome(r, ZUG_OUTCOME_DEADLOCK, "T0 waits in join for t1; T1 waits in read p3") &&
		      r->vars[0] == 10,
	      r, "there is no deadlock while a time-out may expire");
	run_free(r);
}

/* The clock makes a microsecond a step. */
static void clock_goes_on(void)
{
	struct run *r = run(PROGRAM(POSTED(1000, 100000)), &(struct how){ SCHEDULE(0, 0, 0) });

	check(r->vars[0] == 10, r, "a time-out expires when the clock of the steps has come to it");
	run_free(r);
	r = run(PROGRAM(POSTED(20, 100000)), &(struct how){ SCHEDULE(0, 0, 0) });
	check(r->vars[0] == 11, r, "a time-out does not expire before");
	run_free(r);
	r = run(PROGRAM(.code = { TASK(CREATE(1), CREATE(2), SLEEP(9 * MS), WRITE(0, 3), JOIN(1),
				       JOIN(2)),
				  TASK(SLEEP(5 * MS), WRITE(0, 1)),
				  TASK(SLEEP(20 * MS), WRITE(0, 2)) }),
		&plain);
	check(r->vars[0] == 2 && !strcmp(schedule_of(r->t), "0 0 0 1 2 0 1 2 1 1 0 0 0 0 2 2 0"), r,
	      "sleepers wake up in the order of their times");
	run_free(r);
	r = run(PROGRAM(.code = { TASK(CREATE(1), CREATE(2), JOIN(1), JOIN(2)),
				  TASK(SLEEP(5 * MS), WRITE(0, 1)),
				  TASK(SLEEP(5 * MS + 900000), WRITE(0, 2)) }),
		&(struct how){ SCHEDULE(0, 0, 0, 0, 1, 1, 2, 2, 2, 2, 1, 1) });
	check(!r->x.diverged && r->vars[0] == 1, r,
	      "sleepers less than a millisecond apart wake up in any order");
	run_free(r);
	r = run(PROGRAM(.code = { TASK(CREATE(1), CREATE(2), JOIN(1), JOIN(2)),
				  TASK(SLEEP(5 * MS), WRITE(0, 1)),
				  TASK(SLEEP(6200000), WRITE(0, 2)) }),
		&(struct how){ SCHEDULE(0, 0, 0, 0, 1, 1, 2, 2, 2, 2, 1, 1) });
	check(r->x.diverged && r->x.diverged_at == 8, r,
	      "sleepers further apart wake up in one order");
	run_free(r);
}

static void outside(void)
{
	/* one waits for the outside, one sleeps */
	struct run *r =
		run(PROGRAM(.outside = 1,
			    .code = { TASK(CREATE(1), GET(0), READ(0, 0), STORE(1, 0, 0), JOIN(1)),
				      TASK(SLEEP(SECOND), WRITE(0, 1)) },
			    .arrivals = { { 10 * MS, MW_BYTE, 0 } }),
		    &plain);

	check(r->vars[1] == 0 && is_outcome(r, ZUG_OUTCOME_PASS, NULL), r,
	      "the clock does not jump while the outside may answer");
	run_free(r);
	r = run(PROGRAM(.outside = 1,
			.code = { TASK(CREATE(1), GET(0), READ(0, 0), STORE(1, 0, 0), JOIN(1)),
				  TASK(SLEEP(SECOND), WRITE(0, 1)) },
			.arrivals = { { 100 * MS, MW_BYTE, 0 } }),
		&plain);
	check(r->vars[1] == 1 && is_outcome(r, ZUG_OUTCOME_PASS, NULL), r,
	      "the clock jumps when the outside has not answered for 20 ms");
	run_free(r);
	r = run(PROGRAM(.code = { TASK(SLEEP(SECOND), LOCAL) }, .in_flight_ns = 10 * MS), &plain);
	check(r->ns >= 10 * MS && r->ns < 40 * MS && is_outcome(r, ZUG_OUTCOME_PASS, NULL), r,
	      "the clock does not jump while something is on its way");
	run_free(r);
	r = run(PROGRAM(.code = { TASK(SLEEP(SECOND), LOCAL) }, .in_flight_ns = SECOND), &plain);
	check(r->ns > 20 * MS && r->ns < 60 * MS && is_outcome(r, ZUG_OUTCOME_PASS, NULL), r,
	      "the clock jumps when it has been on its way for 20 ms");
	run_free(r);
}

/* Of the first time-out or timer that ended early, in front of that step; NULL: none did. */
static const char *early(const struct run *r, uint64_t step)
{
	for (uint32_t k = 0; k < trace_nr_notes(r->t, step); k++)
		if (trace_note_at(r->t, step, k)->kind == TRACE_NOTE_EARLY)
			return trace_note_at(r->t, step, k)->text;
	return NULL;
}

static void explored(void)
{
	const struct mw_program *p = PROGRAM(POSTED(2, 3600 * SECOND));
	const struct how follows = { SCHEDULE(0, 0, 0, 0), .o.explore_timeouts = true };
	struct run *r = run(p, &follows);
	uint32_t timeouts = 0, in_time = 0;

	check(r->vars[0] == 10 &&
		      !strcmp(ops_of(r->t, 0),
			      "begin create sem-timedwait expire data-write join resume"),
	      r, "a time-out that is explored may expire at once");
	check(r->x.preemptions == 0 && trace_step(r->t, 3)->flags & TRACE_STEP_YIELDED, r,
	      "a task that waits with a time-out has given the turn away");
	check(r->t && trace_step(r->t, 3)->nr_enabled == 2, r,
	      "a task with a time-out that is explored is enabled");
	check(early(r, 3) && !strcmp(early(r, 3), "3600 s") && r->x.early == 1, r,
	      "the trace says by how much a time-out was early");
	run_free(r);
	r = run(p, &(struct how){ SCHEDULE(0, 0, 0, 0) });
	check(r->x.diverged && r->vars[0] == 11, r,
	      "a time-out that is not explored does not expire at once");
	run_free(r);
	for (uint64_t seed = 1; seed <= 200; seed++) {
		r = run(p, &(struct how){ .strategy = "random",
					  .seed = seed,
					  .o.explore_timeouts = true });
		timeouts += r->vars[0] == 10;
		in_time += r->vars[0] == 11;
		run_free(r);
	}
	check(timeouts && in_time && timeouts + in_time == 200, NULL,
	      "a random search finds waits that expire and waits that do not");
	r = run(PROGRAM(.code = { TASK(SLEEP(SECOND), LOCAL) }),
		&(struct how){ SCHEDULE(0, 0, 0), .o.explore_timeouts = true });
	check(!r->x.early && is_outcome(r, ZUG_OUTCOME_PASS, NULL), r,
	      "a time-out is not early when nothing else can go on");
	run_free(r);
}

/* As the 5 ms after which a Python thread asks for the GIL: at any decision, and early by nothing. */
static void any_time(void)
{
	const struct mw_program *p = PROGRAM(POSTED(2, 5 * MS), .any_time = true);
	struct run *r = run(p, &(struct how){ SCHEDULE(0, 0, 0, 0) });

	check(!r->x.diverged && r->vars[0] == 10, r, "a time-out that counts what others compute may expire at once");
	check(!early(r, 3) && !r->x.early, r, "it is not early then");
	check(r->t && trace_step(r->t, 3)->nr_enabled == 2 && trace_step(r->t, 3)->flags & TRACE_STEP_YIELDED, r,
	      "a task with such a time-out is enabled, and has given the turn away");
	run_free(r);
	r = run(p, &(struct how){ SCHEDULE(0, 0, 0, 1, 1) });
	check(r->vars[0] == 11, r, "it need not expire");
	run_free(r);
}

/* As the waits of the threads of Go's runtime. */
static void own_time(void)
{
	unsigned int in_time = 0;

	for (uint64_t seed = 1; seed <= 50; seed++) {
		struct run *r = run(PROGRAM(POSTED(2, 5 * MS), .own_time = true),
				    &(struct how){ .strategy = "random", .seed = seed, .o.explore_timeouts = true });

		in_time += r->vars[0] == 11 && !r->x.early;
		run_free(r);
	}
	check(in_time == 50, NULL, "the time-out of a runtime's own wait never ends early");
}

static void meanwhile(void)
{
	struct run *r = run(
		PROGRAM(.woken_meanwhile = true, .code = { TASK(SLEEP(SECOND), LOCAL) }), &plain);

	check(!strcmp(ops_of(r->t, 0), "begin sleep resume begin"), r,
	      "a wait that something else ended does not expire");
	run_free(r);
	r = run(PROGRAM(.fails_expire = -EPERM, .code = { TASK(SLEEP(SECOND), LOCAL) }), &plain);
	check(is_outcome(r, ZUG_OUTCOME_ENVIRONMENT,
			 "the time-out of T0 cannot be made to expire (Operation not permitted)") &&
		      r->drains == 1,
	      r, "a time-out that cannot expire is the environment's fault");
	run_free(r);
}

static void timers(void)
{
	struct run *r =
		run(PROGRAM(.code = { TASK(TIMER(0, 3600 * SECOND), SEM_WAIT(0), LOCAL) }), &plain);

	check(is_outcome(r, ZUG_OUTCOME_PASS, NULL) && r->ns < SECOND, r,
	      "a timer fires when no task can go on");
	check(!strcmp(ops_of(r->t, 0), "begin syscall sem-wait resume begin"), r,
	      "a timer that fires is no step");
	run_free(r);
	r = run(PROGRAM(.code = { TASK(TIMER(0, 20000), { .op = W_SET, .b = 0, .imm = 0 },
				       READ(1, 0), STORE(1, 0, 1), READ(1, 0), JUMP_NE(0, 8, 2),
				       SEM_WAIT(0)) }),
		&plain);
	check(is_outcome(r, ZUG_OUTCOME_PASS, NULL) && !strstr(notes_of(r->t, 0), "block"), r,
	      "a timer fires when its time has come");
	run_free(r);
	r = run(PROGRAM(.code = { TASK(TIMER(0, 50 * MS), TIMER(1, 10 * MS), CREATE(1), CREATE(2),
				       JOIN(1), JOIN(2)),
				  TASK(SEM_WAIT(0), WRITE(0, 1)), TASK(SEM_WAIT(1), WRITE(0, 2)) }),
		&plain);
	check(r->vars[0] == 1 && is_outcome(r, ZUG_OUTCOME_PASS, NULL), r,
	      "timers fire in the order of their times");
	run_free(r);
	r = run(PROGRAM(.code = { TASK(TIMER(0, 50 * MS), CREATE(1), SEM_WAIT(0), WRITE(0, 1),
				       JOIN(1)),
				  TASK(SLEEP(10 * MS), WRITE(0, 2)) }),
		&plain);
	check(r->vars[0] == 1 && is_outcome(r, ZUG_OUTCOME_PASS, NULL), r,
	      "a time-out that comes before a timer expires first");
	run_free(r);
	r = run(PROGRAM(.code = { TASK(TIMER(0, 10 * MS), CREATE(1), SEM_WAIT(0), WRITE(0, 1),
				       JOIN(1)),
				  TASK(SLEEP(50 * MS), WRITE(0, 2)) }),
		&plain);
	check(r->vars[0] == 2 && is_outcome(r, ZUG_OUTCOME_PASS, NULL), r,
	      "a timer that comes before a time-out fires first");
	run_free(r);
	r = run(PROGRAM(.outside = 1,
			.code = { TASK(TIMER(0, SECOND), CREATE(1), GET(0), JOIN(1)),
				  TASK(SEM_WAIT(0)) },
			.arrivals = { { 10 * MS, MW_BYTE, 0 } }),
		&plain);
	check(!strcmp(schedule_of(r->t), "0 0 0 0 1 1 0 0 1 0"), r,
	      "a timer does not fire before the outside had time to answer");
	run_free(r);
	r = run(PROGRAM(.code = { TASK(TIMER(0, SECOND), CREATE(1), { .op = W_SPIN_LOCK, .a = 0 },
				       SEM_WAIT(0), { .op = W_SPIN_UNLOCK, .a = 0 }, JOIN(1)),
				  TASK({ .op = W_SPIN_LOCK, .a = 0 },
				       { .op = W_SPIN_UNLOCK, .a = 0 }) }),
		&(struct how){ SCHEDULE(0, 0, 0, 0, 1) });
	check(is_outcome(r, ZUG_OUTCOME_PASS, NULL), r,
	      "a timer fires for a task that holds a spin lock");
	run_free(r);
	r = run(PROGRAM(.code = { TASK(TIMER(1, 10 * MS), TIMER(1, 20 * MS), TIMER(1, 30 * MS), TIMER(1, 40 * MS), TIMER(1, 50 * MS),
				       TIMER(0, 60 * MS), SEM_WAIT(0), LOCAL) }),
		&plain);
	check(is_outcome(r, ZUG_OUTCOME_PASS, NULL), r, "timers that do nothing, one after another, leave a later one its time");
	run_free(r);
}

/* How many time-outs and timers ended early where only those do that are likely to. */
static uint64_t likely_early(const struct mw_program *p, uint64_t seed)
{
	struct run *r = run(p, &(struct how){ .strategy = "random", .seed = seed,
					      .o.explore_timeouts = true, .o.likely_timeouts = true });
	uint64_t nr = r->x.early;

	run_free(r);
	return nr;
}

static void timers_explored(void)
{
#define TIMED_TASKS(ns) { TASK(TIMER(0, ns), CREATE(1), READ(0, 0), STORE(1, 0, 0), JOIN(1)),	\
		      TASK(SEM_WAIT(0), WRITE(0, 1)) }
	const struct mw_program *p = PROGRAM(.code = TIMED_TASKS(3600 * SECOND));
	const struct mw_program *soon = PROGRAM(.code = TIMED_TASKS(5 * SECOND));
	const struct mw_program *minute = PROGRAM(.code = TIMED_TASKS(60 * SECOND));
	const struct mw_program *watched = PROGRAM(.code = TIMED_TASKS(5 * SECOND), .watchdog = true);
	const struct mw_program *own = PROGRAM(POSTED(2, 25 * SECOND));
	const struct mw_program *installed = PROGRAM(POSTED(2, 25 * SECOND), .installed = true);
	const struct mw_program *several = PROGRAM(POSTED(2, 25 * SECOND), .several = true);
	/* 30 s in all are three times 8 s */
	const struct mw_program *often = PROGRAM(.code = {
		TASK(CREATE(1), SLEEP(8 * SECOND), SLEEP(8 * SECOND), SLEEP(8 * SECOND), SLEEP(8 * SECOND), JOIN(1)),
		TASK({ .op = W_SET, .b = 0, .imm = 0 }, READ(1, 0), STORE(1, 0, 1), READ(1, 0), JUMP_NE(0, 20, 1)) });
	uint32_t early = 0, late = 0, flagged = 0, followed = 0, spared = 0, fired = 0, likely = 0, far = 0, nr = 60;
	uint64_t of_own = 0, of_installed = 0, of_several = 0, most = 0, nr_often;

	for (uint64_t seed = 1; seed <= nr; seed++) {
		struct run *r = run(p, &(struct how){ .strategy = "random",
						      .seed = seed,
						      .o.explore_timeouts = true }),
			   *again;
		bool flag = false;

		again = run(p, &(struct how){ .replay = r->t, .o.explore_timeouts = true });
		for (uint64_t i = 0; i < r->x.steps; i++)
			flag |= !!(trace_step(r->t, i)->label.flags & ZUG_L_TIMER);
		if (flag)
			fired += r->x.early == 1;
		early += r->vars[1] == 1;
		late += r->vars[1] == 0;
		flagged += flag;
		followed += !again->x.diverged && again->vars[1] == r->vars[1] &&
			    again->x.steps == r->x.steps;
		run_free(again);
		run_free(r);
		spared += !likely_early(watched, seed);
		likely += likely_early(soon, seed);
		far += likely_early(p, seed) + likely_early(minute, seed);
		of_own += likely_early(own, seed);
		of_installed += likely_early(installed, seed);
		of_several += likely_early(several, seed);
		nr_often = likely_early(often, seed);
		most = nr_often > most ? nr_often : most;
	}
	check(fired == flagged, NULL, "it says by how much each was early");
	check(likely, NULL, "a timer that is likely to be early is explored");
	check(!far, NULL, "one that would be a minute or an hour early is not");
	check(of_own && !of_installed, NULL, "25 s of a test's own program are, but not of one that is installed everywhere");
	check(!of_several, NULL, "nor of programs that talk to each other");
	check(most == 3, NULL, "a machine is 30 s slow in all");
	check(spared == nr, NULL, "a timer whose signal would end the test is spared");
	check(early && late, NULL, "a timer that is explored may fire before any step");
	check(flagged >= early && flagged, NULL, "the trace says before which step a timer fired");
	check(followed == nr, NULL, "a replay lets the timer fire there");
}

int main(void)
{
	alone();
	clock_goes_on();
	outside();
	explored();
	any_time();
	own_time();
	meanwhile();
	timers();
	timers_explored();
	return tap_done();
}
