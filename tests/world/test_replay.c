/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_replay.c - a recorded execution is followed: to the same steps and the same end, past
 * wake-ups that come early or late, and up to where the program does something else
 */
#include <string.h>
#include "run.h"

#define PROGRAM(...)	&(const struct mw_program){ __VA_ARGS__ }

/* No other task gives way to one that goes on alone. */
static uint32_t flags_of(const struct trace_step *s)
{
	return s->flags & ~(s->nr_enabled == 1 ? TRACE_STEP_YIELDED : 0);
}

static bool same_steps(const struct trace *a, const struct trace *b)
{
	if (trace_nr_steps(a) != trace_nr_steps(b))
		return false;
	for (uint64_t i = 0; i < trace_nr_steps(a); i++) {
		const struct trace_step *x = trace_step(a, i), *y = trace_step(b, i);

		if (x->task != y->task || memcmp(&x->label, &y->label, sizeof(x->label)) ||
		    x->last != y->last || flags_of(x) != flags_of(y) ||
		    x->nr_enabled != y->nr_enabled ||
		    memcmp(x->enabled, y->enabled, x->nr_enabled * sizeof(*x->enabled)))
			return false;
	}
	return true;
}

/* An execution of 'recorded', replayed in 'now'. */
static struct run *follow(const struct mw_program *recorded, const struct how *how,
			  const struct mw_program *now, struct run **first)
{
	struct how again = { .o = how->o };

	*first = run(recorded, how);
	again.replay = (*first)->t;
	return run(now, &again);
}

static void done(struct run *r, struct run *first)
{
	run_free(r);
	run_free(first);
}

/* ---- the same ---- */

static const struct mw_program counters = { .code = {
	TASK(CREATE(1), READ(0, 0), STORE(0, 0, 1), JOIN(1), READ(0, 0), ASSERT(0, 2)),
	TASK(READ(0, 0), STORE(0, 0, 1)),
} };
static const struct mw_program philosophers = { .blind = true, .code = {
	TASK(CREATE(1), CREATE(2), CREATE(3), JOIN(1), JOIN(2), JOIN(3)),
	TASK(LOCK(0), LOCK(1), UNLOCK(1), UNLOCK(0)), TASK(LOCK(1), LOCK(2), UNLOCK(2), UNLOCK(1)),
	TASK(LOCK(2), LOCK(0), UNLOCK(0), UNLOCK(2)) } };
static const struct mw_program queue = { .code = {
	TASK(CREATE(1), CREATE(2), LOCK(0), WRITE(0, 1), SIGNAL(0), UNLOCK(0), JOIN(1), JOIN(2)),
	TASK(LOCK(0), READ(0, 0), JUMP_EQ(0, 1, 5), WAIT(0, 0), JUMP(1), UNLOCK(0)),
	TASK(LOCK(0), READ(0, 0), JUMP_EQ(0, 1, 5), WAIT(0, 0), JUMP(1), UNLOCK(0)) } };
static const struct mw_program sleepers = { .code = {
	TASK(CREATE(1), CREATE(2), SLEEP(3 * MS), JOIN(1), JOIN(2)), TASK(SLEEP(2 * MS), WRITE(0, 1), SLEEP(9 * MS)),
	TASK({ .op = W_SEM_TIMED, .a = 0, .b = 0, .imm = 5 * MS }, TIMER(1, 4 * MS), SEM_WAIT(1), LOCAL) } };
static const struct mw_program pipeline = { .code = {
	TASK(FORK(1), FORK(2), PUT(0), PUT(0), YIELD, PUT(0), JOIN(1), JOIN(2)), TASK(GET(0), PUT(1), GET(0), PUT(1), GET(0), PUT(1)),
	TASK(GET(1), YIELD, GET(1), GET(1)) } };
static const struct mw_program misused = { .code = {
	TASK(CREATE(1), LOCK(0), LOCAL, UNLOCK(0), JOIN(1)), TASK(LOCAL, LOCAL, UNLOCK(0)) } };
static const struct mw_program crashes = { .code = {
	TASK(CREATE(1), WRITE(0, 1), JOIN(1)), TASK(READ(0, 0), JUMP_EQ(0, 0, 3), { .op = W_CRASH, .imm = 11 }, LOCAL) } };

static void the_same(const struct mw_program *p, const char *name, uint64_t timeouts)
{
	uint64_t other_steps = 0, other_end = 0, other_hash = 0, diverged = 0;
	char what[128];

	for (uint64_t seed = 1; seed <= 50; seed++) {
		const struct how how = { .strategy = "random",
					 .seed = seed,
					 .o.explore_timeouts = timeouts };
		struct run *first, *r = follow(p, &how, p, &first);
		struct replay replay;

		other_steps += !same_steps(r->t, first->t);
		other_end += r->x.outcome.kind != first->x.outcome.kind ||
			     r->x.outcome.failure != first->x.outcome.failure ||
			     strcmp(r->x.outcome.message, first->x.outcome.message);
		diverged += r->x.diverged;
		if (replay_init(&replay, first->t))
			abort();
		other_hash += replay.hash != first->x.hash || r->x.hash != first->x.hash;
		replay_release(&replay);
		done(r, first);
	}
	snprintf(what, sizeof(what), "%s: 50 schedules are followed", name);
	check(!diverged, NULL, what);
	snprintf(what, sizeof(what), "%s: to the same steps", name);
	check(!other_steps, NULL, what);
	snprintf(what, sizeof(what), "%s: to the same end", name);
	check(!other_end, NULL, what);
	snprintf(what, sizeof(what), "%s: with the hash that the trace tells", name);
	check(!other_hash, NULL, what);
}

static void each_stops(void)
{
	struct run *first = run(&counters, &(struct how){ .o.ask_always = true });
	struct run *r = run(&counters, &(struct how){ .replay = first->t, .o.ask_always = true });

	check(r->stop_always && r->grants == r->x.steps && first->grants < first->x.steps, r,
	      "without leases a replay stops at every point");
	run_free(r);
	r = run(&counters, &(struct how){ .replay = first->t });
	check(r->stop_always && !r->x.diverged && r->grants < r->x.steps / 2 && r->x.asked == r->grants &&
		      !strcmp(schedule_of(r->t), schedule_of(first->t)),
	      r, "with leases it does so where another task goes on");
	done(r, first);
}

/* ---- wake-ups from outside ---- */

#define FROM_OUTSIDE(at)	PROGRAM(.outside = 1, .arrivals = { { .ns = (at), .kind = MW_BYTE } }, .code = {	\
	TASK(CREATE(1), GET(0), WRITE(0, 1), JOIN(1)), TASK(LOCAL, LOCAL, LOCAL, READ(0, 0)) })

static void wakers(void)
{
	/* it came while T1 made its steps, and T0 went on at once; or when T1 had ended */
	const struct how soon = { SCHEDULE(0, 0, 0, 1, 0, 0) };
	const struct how last = { SCHEDULE(0, 0, 0, 1, 1, 1, 1, 1) };
	const struct how taken = { SCHEDULE(0, 0, 0, 1, 0, 0), .o.timeout_ns = SECOND };
	struct run *first, *r = follow(FROM_OUTSIDE(1500), &soon, FROM_OUTSIDE(1500), &first);

	check(!r->x.diverged && same_steps(r->t, first->t) &&
		      !strcmp(schedule_of(first->t), "0 0 0 1 0 0 0 1 1 1 1 0"),
	      first, "a wake-up from outside is replayed");
	done(r, first);
	r = follow(FROM_OUTSIDE(1500), &soon, FROM_OUTSIDE(500 * MS), &first);
	check(!r->x.diverged && same_steps(r->t, first->t) && r->ns >= 500 * MS, r,
	      "a replay waits for a wake-up that comes later");
	done(r, first);
	r = follow(FROM_OUTSIDE(1500), &soon, FROM_OUTSIDE(1999 * MS), &first);
	check(!r->x.diverged && same_steps(r->t, first->t), r, "a replay waits for two seconds");
	done(r, first);
	r = follow(FROM_OUTSIDE(1500), &soon, FROM_OUTSIDE(2100 * MS), &first);
	check(r->x.diverged && r->x.diverged_at == 4 &&
		      strstr(r->x.divergence,
			     "step 4: T0 was to resume, but it cannot run (read p0)"),
	      r, "a replay that has waited for two seconds says that it diverged");
	check(is_outcome(r, ZUG_OUTCOME_PASS, NULL) && r->ns >= 2000 * MS, r,
	      "the program goes on after a divergence");
	done(r, first);
	r = follow(FROM_OUTSIDE(50 * MS), &last, FROM_OUTSIDE(1500), &first);
	check(!r->x.diverged && !strcmp(schedule_of(r->t), schedule_of(first->t)) &&
		      r->x.steps == first->x.steps,
	      r, "a replay holds a wake-up back that comes early");
	check(same_steps(r->t, first->t), r,
	      "a wake-up that comes early is seen at the step at which it was recorded");
	done(r, first);
	r = follow(FROM_OUTSIDE(1500), &taken, FROM_OUTSIDE(1500 * MS), &first);
	check(is_outcome(r, ZUG_OUTCOME_TIMEOUT, NULL), r, "the time-out ends a replay that waits");
	done(r, first);
}

static void slow(void)
{
	const struct mw_program waits = { .outside = 1,
					  .code = { TASK(GET(0), GET(0), GET(0), LOCAL) },
					  .arrivals = { { 600 * MS, MW_BYTE, 0 },
							{ 1200 * MS, MW_BYTE, 0 },
							{ 1800 * MS, MW_BYTE, 0 } } };
	struct run *first = run(&waits, &(struct how){ 0 });
	struct run *r = run(&waits, &(struct how){ .replay = first->t, .o.timeout_ns = SECOND });
	struct run *free_one = run(&waits, &(struct how){ .o.timeout_ns = SECOND });

	check(is_outcome(r, ZUG_OUTCOME_PASS, NULL) &&
		      is_outcome(free_one, ZUG_OUTCOME_TIMEOUT, NULL),
	      r, "the time of a replay does not run out while it follows its trace");
	run_free(free_one);
	done(r, first);
}

/* ---- divergence ---- */

#define WRITES(...)	PROGRAM(.code = { TASK(CREATE(1), __VA_ARGS__, JOIN(1)), TASK(READ(0, 0)) })

static void diverges(const struct mw_program *recorded, const struct how *how,
		     const struct mw_program *now, uint64_t step, const char *words,
		     const char *what)
{
	struct run *first, *r = follow(recorded, how, now, &first);

	check(r->x.diverged && r->x.diverged_at == step && strstr(r->x.divergence, words), r, what);
	done(r, first);
}

static void divergence(void)
{
	const struct how base = { 0 }, other = { SCHEDULE(0, 0, 1, 1) };
	struct run *first, *r = follow(WRITES(WRITE(0, 1), LOCAL), &base,
				       WRITES(WRITE(0, 1), READ(0, 0)), &first);
	const struct trace_note *n = NULL;

	check(r->x.diverged && r->x.diverged_at == 3 &&
		      strstr(r->x.divergence,
			     "step 3: T0 was to begin, but it is about to data-read v0"),
	      r, "another operation than was recorded is a divergence");
	for (uint32_t k = 0; k < trace_nr_notes(r->t, 3); k++)
		n = trace_note_at(r->t, 3, k)->kind == TRACE_NOTE_MESSAGE
			    ? trace_note_at(r->t, 3, k)
			    : n;
	check(n && !strcmp(n->text, r->x.divergence), r,
	      "the trace of a replay notes its divergence");
	done(r, first);
	diverges(WRITES(WRITE(0, 1), WRITE(0, 1)), &base,
		 WRITES({ .op = W_SET }, WRITE(0, 1), WRITE(0, 1)), 2, "T0 was to data-write",
		 "the same operation at another place is a divergence");
	diverges(WRITES(LOCAL, LOCAL), &base, WRITES(LOCAL), 3,
		 "T0 was to begin, but it is about to join t1", "a missing step is a divergence");
	diverges(WRITES(LOCAL, LOCAL), &base,
		 PROGRAM(.code = { TASK(CREATE(1), LOCAL, LOCAL), TASK(READ(0, 0)) }), 4,
		 "the program ended at step 4 of 8", "a program that ends early is a divergence");
	diverges(WRITES(LOCAL), &other,
		 PROGRAM(.code = { TASK(LOCAL, LOCAL, LOCAL, LOCAL), TASK(LOCAL) }), 1,
		 "T0 was to create, but it is about to begin", "the first divergence is told");
	diverges(PROGRAM(.code = { TASK(LOCAL, CREATE(1), LOCAL), TASK(LOCAL) }),
		 &(struct how){ SCHEDULE(0, 0, 0, 1, 1) },
		 PROGRAM(.code = { TASK(LOCAL, { .op = W_FORK, .a = 1 }, LOCAL), TASK(LOCAL) }), 2,
		 "T0 was to create, but it is about to fork",
		 "a process instead of a thread is a divergence");
	r = follow(PROGRAM(.code = { TASK(CREATE(2), CREATE(1), LOCAL), TASK(LOCAL), TASK(LOCAL) }),
		   &(struct how){ SCHEDULE(0, 0, 0, 1) },
		   PROGRAM(.code = { TASK(CREATE(2), CREATE(2), LOCAL), TASK(LOCAL), TASK(LOCAL) }),
		   &first);
	check(r->x.diverged && r->x.diverged_at == 3 &&
		      strstr(r->x.divergence,
			     "T1 was to begin, but it cannot run (it does not exist)") &&
		      r->ns >= 2000 * MS,
	      r, "a missing task is a divergence");
	done(r, first);
	r = follow(PROGRAM(.code = { TASK(CREATE(1), SEM_WAIT(0), LOCAL, JOIN(1)),
				     TASK(LOCAL, SEM_POST(0)) },
			   .sems = { 1 }, .blind = true),
		   &base,
		   PROGRAM(.code = { TASK(CREATE(1), SEM_WAIT(0), LOCAL, JOIN(1)),
				     TASK(LOCAL, SEM_POST(0)) },
			   .blind = true),
		   &first);
	check(r->x.diverged && r->x.diverged_at == 3 &&
		      strstr(r->x.divergence, "T0 was to begin, but it cannot run (futex)") &&
		      is_outcome(r, ZUG_OUTCOME_PASS, NULL),
	      r, "a task that waits where it did not is a divergence");
	done(r, first);
	diverges(PROGRAM(.passes_anyway = true,
			 .code = { TASK(CREATE(1), JOIN(1), LOCAL), TASK(LOCAL) }),
		 &base,
		 PROGRAM(.passes_anyway = true,
			 .code = { TASK(LOCAL, JOIN(1), LOCAL), TASK(LOCAL) }),
		 1, "T0 was to create, but it is about to begin",
		 "another operation at a point that is passed is a divergence");
	diverges(PROGRAM(.code = { TASK(LOCAL, CREATE(1), LOCAL), TASK(LOCAL) }),
		 &(struct how){ SCHEDULE(0, 0, 0, 1) },
		 PROGRAM(.passes_anyway = true,
			 .code = { TASK(LOCAL, { .op = W_CALL, .zop = ZUG_OP_CREATE }, LOCAL) }),
		 3, "T1 was to begin, but T0 went on alone",
		 "another task at a point that is passed is a divergence");
	r = follow(WRITES(LOCAL), &base,
		   PROGRAM(.code = { TASK(CREATE(1), LOCAL, JOIN(1), LOCAL, LOCAL),
				     TASK(READ(0, 0)) }),
		   &first);
	check(!r->x.diverged && r->x.steps == first->x.steps + 2 &&
		      is_outcome(r, ZUG_OUTCOME_PASS, NULL),
	      r, "steps after the last one recorded are free");
	done(r, first);
}

static void operations(void)
{
	const struct mw_program unnamed = {
		.code = { TASK(LOCAL, { .op = W_CALL, .zop = ZUG_OP_SYSCALL }) }
	};
	const struct mw_program named = { .code = { TASK(LOCAL,
							 { .op = W_CALL, .zop = ZUG_OP_SEMOP }) } };
	struct run *first, *r = follow(&unnamed, &(struct how){ 0 }, &named, &first);

	check(!r->x.diverged, r, "a system call that got a name later matches older traces");
	done(r, first);
	diverges(&named, &(struct how){ 0 }, &unnamed, 2,
		 "T0 was to semop, but it is about to syscall",
		 "a system call without a name does not match one with a name");
}

/* ---- computations: where the timer strikes is chance ---- */

#define COMPUTES(n)	PROGRAM(.code = { TASK(CREATE(1), LOCAL, { .op = W_COMPUTE, .imm = (n) }, LOCAL, JOIN(1)),	\
						  TASK(LOCAL, LOCAL) })
#define BUSY		PROGRAM(.code = { TASK(CREATE(1), LOCAL, { .op = W_BUSY, .a = 0, .imm = 1 }, JOIN(1)), TASK(LOCAL, WRITE(0, 1)) })

static void chance(void)
{
	struct run *first, *r = follow(COMPUTES(3), &(struct how){ 0 }, COMPUTES(8), &first);

	check(!r->x.diverged && r->x.hash == first->x.hash &&
		      !strcmp(ops_of(r->t, 0), "begin create begin begin join resume"),
	      r, "stops of a computation that went on are not followed");
	done(r, first);
	r = follow(COMPUTES(0), &(struct how){ SCHEDULE(0, 0, 0, 1, 1, 1) }, COMPUTES(5), &first);
	check(!r->x.diverged && r->x.hash == first->x.hash &&
		      !strcmp(schedule_of(r->t), schedule_of(first->t)),
	      r, "further stops of a computation do not matter");
	done(r, first);
	r = follow(BUSY, &(struct how){ 0 }, BUSY, &first);
	check(!r->x.diverged && r->x.hash == first->x.hash && same_steps(r->t, first->t), r,
	      "a computation loses the turn where it did");
	check(r->ns < first->ns, r, "a computation loses the turn at its first stop");
	done(r, first);
	r = follow(COMPUTES(20), &(struct how){ .strategy = "random", .seed = 5 }, COMPUTES(20),
		   &first);
	check(!r->x.diverged && r->x.hash == first->x.hash, r, "a long computation is replayed");
	done(r, first);
}

/* ---- a schedule that cannot be followed, of a search ---- */

static void stale(void)
{
	struct run *r = run(&counters, &(struct how){ SCHEDULE(0, 1) });

	check(r->x.diverged &&
		      !strcmp(r->x.divergence,
			      "step 1: the program did not follow the schedule of an earlier execution"),
	      r, "a schedule that the program does not follow is told");
	check(is_outcome(r, ZUG_OUTCOME_PASS, NULL) && r->x.steps == 10, r,
	      "an execution that left its schedule goes on to its end");
	run_free(r);
}

/* ---- numbers of tasks ---- */

static void numbers(void)
{
	struct run *r = run(PROGRAM(.code = { TASK(CREATE(1), CREATE(4), LOCAL), TASK(CREATE(2)),
					      TASK(LOCAL), TASK(LOCAL), TASK(LOCAL) }),
			    &(struct how){ SCHEDULE(0, 0, 0, 1, 1, 2, 4) });
	struct spawn_table spawn = { 0 };

	replay_number_tasks(r->t, &spawn);
	check(spawn_number(&spawn, TRACE_NO_TASK, 0) == 0 && spawn_number(&spawn, 0, 0) == 1 &&
		      spawn_number(&spawn, 0, 1) == 4 && spawn_number(&spawn, 1, 0) == 2,
	      r, "tasks get the numbers that they have in the trace");
	check(spawn_number(&spawn, 0, 2) == 5 && spawn_number(&spawn, 0, 3) == 6, r,
	      "other tasks get numbers that are not in the trace");
	spawn_free(&spawn);
	run_free(r);
	r = run(PROGRAM(.code = { TASK(LOCAL) }), &(struct how){ 0 });
	check(!replay_step(&(struct replay){ 0 }, 0), r, "a replay of nothing has no step");
	run_free(r);
}

int main(void)
{
	the_same(&counters, "an update that is lost", 0);
	the_same(&philosophers, "philosophers", 0);
	the_same(&queue, "a condition", 0);
	the_same(&sleepers, "sleepers", 0);
	the_same(&sleepers, "sleepers whose time-outs are explored", 1);
	the_same(&pipeline, "processes and pipes", 0);
	the_same(&misused, "a misuse", 0);
	the_same(&crashes, "a crash", 0);
	each_stops();
	wakers();
	slow();
	divergence();
	operations();
	chance();
	stale();
	numbers();
	return tap_done();
}
