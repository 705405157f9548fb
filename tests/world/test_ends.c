/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_ends.c - ends that the program does not make: deadlock and its grace, cycles of locks,
 * livelock, spinning, misuse; and when two of them are the same bug
 */
#include <string.h>
#include "engine/takers.h"
#include "run.h"

#define PROGRAM(...)	&(const struct mw_program){ __VA_ARGS__ }

static const struct how plain;

/* Runs it and says how it ended. */
static void ends(const struct mw_program *p, const struct how *how, enum zug_outcome_kind kind,
		 const char *message, const char *what)
{
	struct run *r = run(p, how);

	check(is_outcome(r, kind, message), r, what);
	run_free(r);
}

static uint64_t failure_of(const struct mw_program *p, const struct how *how)
{
	struct run *r = run(p, how);
	uint64_t failure = r->x.outcome.failure;

	run_free(r);
	return failure;
}

static const char *state_of(const struct run *r, uint32_t task)
{
	for (uint32_t i = 0; i < trace_nr_stacks(r->t); i++)
		if (trace_stack_at(r->t, i)->task == task)
			return trace_stack_at(r->t, i)->state;
	return "";
}

/* ---- deadlock ---- */

#define ABBA							\
	.code = { TASK(CREATE(1), CREATE(2), JOIN(1), JOIN(2)),		\
		  TASK(LOCK(0), LOCK(1), UNLOCK(1), UNLOCK(0)),		\
		  TASK(LOCK(1), LOCK(0), UNLOCK(0), UNLOCK(1)) }
/* T1 and T2 each stand before their second lock. */
#define EMBRACE	SCHEDULE(0, 0, 0, 0, 1, 1, 2, 2)

static void deadlock(void)
{
	struct run *r = run(PROGRAM(ABBA), &(struct how){ EMBRACE });

	check(is_outcome(r, ZUG_OUTCOME_DEADLOCK,
			 "T0 waits in join for t1; T1 waits in lock for m1, held by T2; "
			 "T2 waits in lock for m0, held by T1"),
	      r, "a deadlock says who waits for what, and who holds it");
	check(r->ns >= 30 * MS && r->ns < 50 * MS, r, "a deadlock is told after a grace of 20 ms");
	check(trace_nr_stacks(r->t) == 3 &&
		      !strcmp(state_of(r, 1), "waits in lock for m1, held by T2"),
	      r, "a deadlock has the stacks of all tasks");
	check(!r->ret && r->x.status == -1 && r->x.outcome.failure, r,
	      "a deadlock is a finding, and the test has no status");
	run_free(r);
	ends(PROGRAM(.blind = true, ABBA), &(struct how){ EMBRACE }, ZUG_OUTCOME_DEADLOCK,
	     "T1 waits in lock for m1, held by T2",
	     "a deadlock of tasks that wait for locks in the kernel");
	ends(PROGRAM(ABBA), &(struct how){ 0 }, ZUG_OUTCOME_PASS, NULL,
	     "locks in two orders do not deadlock under every schedule");
	ends(PROGRAM(.code = { TASK(LOCK(0), WAIT(0, 0)) }), &plain, ZUG_OUTCOME_DEADLOCK,
	     "T0 waits in cond-wait for c0", "a wait for a signal that never comes is a deadlock");
	ends(PROGRAM(.code = { TASK(GET(2)) }), &plain, ZUG_OUTCOME_DEADLOCK, "T0 waits in read p2",
	     "a read of a pipe that nothing is written to is a deadlock");
	ends(PROGRAM(.code = { TASK(CREATE(1), JOIN(1)), TASK(SEM_WAIT(0)) }), &plain,
	     ZUG_OUTCOME_DEADLOCK, "T1 waits in sem-wait for s0",
	     "a wait for a semaphore that is not posted is a deadlock");
	ends(PROGRAM(.code = { TASK(FORK(1), LOCK(0), GET(0)), TASK(LOCAL) }), &plain,
	     ZUG_OUTCOME_DEADLOCK, NULL, "a deadlock counts only tasks that live");
}

static void grace(void)
{
	struct run *r;

	ends(PROGRAM(.code = { TASK(GET(0), LOCAL) },
		     .arrivals = { { .ns = 25 * MS, .kind = MW_BYTE } }),
	     &plain, ZUG_OUTCOME_PASS, NULL, "a task that wakes up within the grace goes on");
	ends(PROGRAM(.code = { TASK(GET(0), GET(0), LOCAL) },
		     .arrivals = { { 25 * MS, MW_BYTE, 0 }, { 50 * MS, MW_BYTE, 0 } }),
	     &plain, ZUG_OUTCOME_PASS, NULL, "the grace begins anew after a wake-up");
	ends(PROGRAM(.code = { TASK(GET(0), LOCAL) },
		     .arrivals = { { .ns = 90 * MS, .kind = MW_BYTE } }),
	     &plain, ZUG_OUTCOME_DEADLOCK, NULL, "a wake-up after the grace is too late");
	r = run(PROGRAM(.code = { TASK(GET(0), LOCAL) }, .in_flight_ns = 500 * MS), &plain);
	check(is_outcome(r, ZUG_OUTCOME_DEADLOCK, NULL) && r->ns >= 500 * MS, r,
	      "the grace lasts while something is on its way in the network");
	run_free(r);
	ends(PROGRAM(.code = { TASK(GET(0), LOCAL) }, .in_flight_ns = 500 * MS,
		     .arrivals = { { .ns = 400 * MS, .kind = MW_BYTE } }),
	     &plain, ZUG_OUTCOME_PASS, NULL, "what was on its way wakes its task up");
	ends(PROGRAM(.outside = 1, .code = { TASK(GET(0), LOCAL) },
		     .arrivals = { { .ns = 2 * SECOND, .kind = MW_BYTE } }),
	     &plain, ZUG_OUTCOME_PASS, NULL, "a wait for the outside is no deadlock");
	ends(PROGRAM(.outside = 1, .code = { TASK(CREATE(1), LOCK(0), JOIN(1)),
					     TASK(CREATE(2), GET(0)), TASK(LOCK(0)) }),
	     &(struct how){ .o.timeout_ns = SECOND }, ZUG_OUTCOME_TIMEOUT, NULL,
	     "tasks that wait for a task that waits for the outside are in no deadlock");
	ends(PROGRAM(.real_time = true, .code = { TASK(SLEEP(3 * SECOND)) }), &plain,
	     ZUG_OUTCOME_PASS, NULL, "a sleep in the machine's time is no deadlock");
	ends(PROGRAM(.real_time = true,
		     .code = { TASK(LOCK(0),
				    { .op = W_TIMED_WAIT, .a = 0, .b = 0, .imm = 5 * SECOND },
				    ASSERT(0, 0)) }),
	     &plain, ZUG_OUTCOME_PASS, NULL,
	     "a wait with a time-out in the machine's time is no deadlock");
	ends(PROGRAM(.code = { TASK({ .op = W_STUCK, .imm = 1900 }, LOCAL) }), &plain,
	     ZUG_OUTCOME_PASS, NULL, "a task in an uninterruptible wait is in no deadlock");
}

static void cycle(void)
{
	const struct mw_program others = { .outside = 1,
					   .code = { TASK(CREATE(1), CREATE(2), GET(0), JOIN(1)),
						     TASK(LOCK(0), LOCK(1), UNLOCK(1), UNLOCK(0)),
						     TASK(LOCK(1), LOCK(0), UNLOCK(0), UNLOCK(1)) },
					   .blind = true };
	const struct mw_program runs = { .code = { TASK(CREATE(1), CREATE(2), YIELD, LOCAL, LOCAL,
							LOCAL, JOIN(1)),
						   TASK(LOCK(0), LOCK(1), UNLOCK(1), UNLOCK(0)),
						   TASK(LOCK(1), LOCK(0), UNLOCK(0), UNLOCK(1)) },
					 .blind = true };
	struct run *r = run(&others, &(struct how){ SCHEDULE(0, 0, 0, 0, 1, 1, 2, 2, 1, 2) });

	check(is_outcome(
		      r, ZUG_OUTCOME_LOCK_CYCLE,
		      "T2 waits in lock for m0, held by T1; T1 waits in lock for m1, held by T2"),
	      r, "a lock cycle is found while another task may wake up");
	check(r->ns < 5 * MS, r, "a lock cycle is found at once");
	check(strstr(state_of(r, 0), "waits in read p0") && strstr(state_of(r, 1), "held by T2"), r,
	      "a lock cycle has the stacks of all tasks");
	run_free(r);
	ends(&runs, &(struct how){ SCHEDULE(0, 0, 0, 1, 1, 2, 2, 1, 2) }, ZUG_OUTCOME_LOCK_CYCLE,
	     "T2 waits", "a lock cycle is found while another task could run");
	ends(PROGRAM(.blind = true, ABBA), &(struct how){ SCHEDULE(0, 0, 0, 1, 1, 2, 2, 1, 2) },
	     ZUG_OUTCOME_LOCK_CYCLE, NULL,
	     "a task that is about to wait for the cycle counts as living");
	ends(PROGRAM(.blind = true, .outside = 1,
		     .code = { TASK(CREATE(1), LOCK(0), GET(0), UNLOCK(0)),
			       TASK(LOCK(0), UNLOCK(0)) },
		     .arrivals = { { .ns = SECOND, .kind = MW_BYTE } }),
	     &(struct how){ SCHEDULE(0, 0, 0, 0, 1, 1) }, ZUG_OUTCOME_PASS, NULL,
	     "a chain that leads to a task which may wake up is no cycle");
	ends(PROGRAM(.blind = true, .outside = 1,
		     .code = { TASK(CREATE(1), CREATE(2), GET(0)),
			       TASK(LOCK(0), LOCK(1), WAIT(0, 0)), TASK(LOCK(0), LOCK(1)) },
		     .arrivals = { { .ns = SECOND, .kind = MW_BYTE } }),
	     &(struct how){ SCHEDULE(0, 0, 0, 0, 1, 1, 1, 1, 2, 2) }, ZUG_OUTCOME_PASS, NULL,
	     "a wait for a condition is no part of a lock cycle");
}

#define STORE(v, r, n)	{ .op = W_STORE, .a = (v), .b = (r), .imm = (n) }
/* T0 sleeps 150 times, as long as nothing else happens; `then` comes behind that. */
#define SLEEPS(first, ...)							\
	TASK(CREATE(1), CREATE(2), first, READ(0, 0), JUMP_EQ(0, 150, 8), STORE(0, 0, 1), SLEEP(10 * MS), JUMP(3), __VA_ARGS__)
#define THEIR_LOCKS	SCHEDULE(0, 0, 0, 0, 1, 1, 2, 2)

/* Semaphores as locks: none of them says who has it. */
static void cycle_by_steps(void)
{
	const struct mw_op *one = TASK(SEM_WAIT(0), SEM_POST(0), SEM_WAIT(0), SEM_WAIT(1), SEM_POST(1), SEM_POST(0));
	const struct mw_op *other = TASK(SEM_WAIT(1), SEM_WAIT(0), SEM_POST(0), SEM_POST(1));
	const struct how embrace = { SCHEDULE(0, 0, 0, 0, 1, 1, 1, 1, 2, 2) };
	const struct mw_program polls = { .code = { SLEEPS(LOCAL, JUMP(3)), one, other }, .sems = { 1, 1 } };
	const struct mw_program all = { .code = { TASK(CREATE(1), CREATE(2), LOCAL, LOCAL, JOIN(1)), one, other },
					.sems = { 1, 1 } };
	struct run *r = run(&polls, &embrace);

	check(is_outcome(r, ZUG_OUTCOME_LOCK_CYCLE,
			 "T1 waits in sem-wait for s1, held by T2; T2 waits in sem-wait for s0, held by T1"),
	      r, "semaphores that are used as locks are a cycle, while another task sleeps again and again");
	check(r->x.steps > 3 * TAKERS_IN_VAIN && r->x.steps < 5 * TAKERS_IN_VAIN, r, "that is told after 100 time-outs");
	check(r->x.outcome.failure && r->x.outcome.failure == failure_of(&all, &embrace), r,
	      "a cycle of semaphores is the same bug as the deadlock");
	run_free(r);
	ends(PROGRAM(.code = { SLEEPS(LOCAL, LOCAL), one, other }, .sems = { 1, 1 }), &plain, ZUG_OUTCOME_PASS, NULL,
	     "semaphores that are taken in two orders need not be a cycle");
	ends(PROGRAM(.code = { SLEEPS(LOCAL, SEM_POST(2)), TASK(SEM_WAIT(0), SEM_WAIT(2), SEM_POST(0)),
			       TASK(SEM_WAIT(0), SEM_POST(0)) }, .sems = { 1, 1 }),
	     &(struct how){ THEIR_LOCKS }, ZUG_OUTCOME_PASS, NULL, "a chain of semaphores that leads to a sleeping task is none");
	ends(PROGRAM(.code = { SLEEPS(SEM_POST(0), SEM_POST(1)), TASK(SEM_WAIT(0), SEM_WAIT(1), SEM_POST(0)),
			       TASK(SEM_WAIT(1), SEM_WAIT(0), SEM_POST(1)) }, .sems = { 0, 1 }),
	     &(struct how){ THEIR_LOCKS }, ZUG_OUTCOME_PASS, NULL,
	     "a semaphore that another task posts is no lock, and so in no cycle");
	ends(PROGRAM(.code = { SLEEPS(LOCAL, SEM_POST(0), SEM_POST(1)), TASK(SEM_WAIT(0), SEM_WAIT(0)),
			       TASK(SEM_WAIT(1), SEM_WAIT(1)) }, .sems = { 1, 1 }),
	     &plain, ZUG_OUTCOME_PASS, NULL, "a task that takes a semaphore twice waits for a post, and for no owner");
}

static void same_bug(void)
{
	const struct how embrace = { EMBRACE };
	uint64_t bug = failure_of(PROGRAM(ABBA), &embrace);
	/* the other task comes first, another waits behind */
	uint64_t reversed =
		failure_of(PROGRAM(ABBA), &(struct how){ SCHEDULE(0, 0, 0, 0, 2, 2, 1, 1) });
	uint64_t live =
		failure_of(PROGRAM(.blind = true, .outside = 1,
				   .code = { TASK(CREATE(1), CREATE(2), GET(0), JOIN(1)),
					     TASK(LOCK(0), LOCK(1), UNLOCK(1), UNLOCK(0)),
					     TASK(LOCK(1), LOCK(0), UNLOCK(0), UNLOCK(1)) }),
			   &(struct how){ SCHEDULE(0, 0, 0, 0, 1, 1, 2, 2, 1, 2) });
	uint64_t elsewhere =
		failure_of(PROGRAM(.code = { TASK(CREATE(1), CREATE(2), JOIN(1), JOIN(2)),
					     TASK(LOCK(0), LOCAL, LOCK(1), UNLOCK(1), UNLOCK(0)),
					     TASK(LOCK(1), LOCK(0), UNLOCK(0), UNLOCK(1)) }),
			   &(struct how){ SCHEDULE(0, 0, 0, 0, 1, 1, 1, 2, 2) });
	uint64_t one = failure_of(PROGRAM(.code = { TASK(CREATE(1), CREATE(2), JOIN(1), JOIN(2)),
						    TASK(SEM_WAIT(0)), TASK(LOCAL) }),
				  &plain);
	uint64_t other = failure_of(PROGRAM(.code = { TASK(CREATE(1), CREATE(2), JOIN(2), JOIN(1)),
						      TASK(SEM_WAIT(0)), TASK(LOCAL) }),
				    &plain);
	uint64_t join =
		failure_of(PROGRAM(.code = { TASK(CREATE(1), JOIN(1)), TASK(JOIN(0)) }), &plain);

	check(bug && bug == reversed, NULL,
	      "a deadlock is the same bug, whichever task comes first");
	check(bug == live, NULL, "a deadlock is the same bug as its lock cycle");
	check(bug != elsewhere, NULL, "a deadlock at another place is another bug");
	check(one && one == other, NULL,
	      "a task that waits for the end of a waiting task does not count");
	check(join && join != one, NULL, "tasks that wait for each other's end count");
}

/* ---- no progress ---- */

static void livelock(void)
{
	const struct mw_program polite = { .code = { TASK(CREATE(1), READ(0, 0), YIELD,
							  JUMP_EQ(0, 0, 1), JOIN(1)),
						     TASK(READ(0, 0), YIELD, JUMP_EQ(0, 0, 0)) } };
	const struct mw_program longer = {
		.code = { TASK(CREATE(1), READ(0, 0), YIELD, JUMP_EQ(0, 0, 1), JOIN(1)),
			  TASK(READ(0, 0), LOCAL, YIELD, JUMP_EQ(0, 0, 0)) }
	};
	/* one yield in 200 steps: it works */
	const struct mw_program works = {
		.code = { TASK(CREATE(1), YIELD, { .op = W_SET, .b = 1, .imm = 0 }, READ(0, 0),
			       STORE(0, 0, 1), READ(0, 0), JUMP_NE(0, 5100, 3), JOIN(1)),
			  TASK(YIELD, READ(0, 0), JUMP_NE(0, 5100, 0)) }
	};
	/* the same of two, that come back to where they stood with each round: what they count is in memory */
	const struct mw_program both_work = {
		.code = { TASK(CREATE(1), { .op = W_SET, .b = 0, .imm = 0 }, YIELD, READ(2, 1), STORE(2, 1, 1), JUMP_NE(1, 59, 3),
			       WRITE(2, 0), READ(0, 0), STORE(0, 0, 1), JUMP_NE(0, 250, 1), JOIN(1)),
			  TASK({ .op = W_SET, .b = 0, .imm = 0 }, YIELD, READ(3, 1), STORE(3, 1, 1), JUMP_NE(1, 59, 2),
			       WRITE(3, 0), READ(1, 0), STORE(1, 0, 1), JUMP_NE(0, 250, 0)) }
	};
	const struct mw_program awaits = { .outside = 1,
					   .arrivals = { { .ns = SECOND, .kind = MW_BYTE } },
					   .code = { TASK(CREATE(1), READ(0, 0), YIELD,
							  JUMP_EQ(0, 0, 1)),
						     TASK(GET(0), WRITE(0, 1)) },
					   .grant_ns = 40000 };
	const struct mw_program both_await = {
		.outside = 1, .arrivals = { { .ns = SECOND, .kind = MW_BYTE } }, .grant_ns = 40000,
		.code = { TASK(CREATE(1), CREATE(2), READ(0, 0), YIELD, JUMP_EQ(0, 0, 2), JOIN(1), JOIN(2)),
			  TASK(GET(0), WRITE(0, 1)), TASK(READ(0, 0), YIELD, JUMP_EQ(0, 0, 0)) }
	};
	const struct mw_program makes = { .code = { TASK(CREATE(1), READ(0, 0), YIELD,
							 JUMP_EQ(0, 0, 1), WRITE(1, 1), JOIN(1)),
						    TASK({ .op = W_COMPUTE, .imm = 0 }, READ(0, 1),
							 JUMP_EQ(1, 0, 1)) } };
	/* the other task has ended, and will not write what this one waits for */
	const struct mw_program alone = { .code = { TASK(CREATE(1), READ(0, 0), YIELD,
							 JUMP_EQ(0, 0, 1), JOIN(1)),
						    TASK(LOCAL) } };
	const struct mw_program looks = { .code = { TASK(CREATE(1), JOIN(1), READ(0, 0), READ(1, 1),
							 JUMP_EQ(0, 0, 2)),
						    TASK(LOCAL) } };
	const struct mw_program counts = {
		.code = { TASK(CREATE(1), JOIN(1), READ(0, 0), STORE(0, 0, 1), JUMP_NE(0, 12000, 2)),
			  TASK(LOCAL) }
	};
	const struct mw_program alarmed = {
		.code = { TASK({ .op = W_TIMER, .a = 0, .imm = SECOND }, READ(0, 0), YIELD,
			       JUMP_EQ(0, 0, 1)) }
	};
	/* what changes is not where it stands */
	const struct mw_program tallies = {
		.code = { TASK(CREATE(1), JOIN(1), READ(1, 1), STORE(1, 1, 1), { .op = W_SET, .b = 1, .imm = 0 }, YIELD,
			       { .op = W_JUMP, .to = 2 }),
			  TASK(LOCAL) }
	};
	/* they count their rounds */
	const struct mw_program rounds = {
		.code = { TASK(CREATE(1), READ(0, 0), STORE(0, 0, 1), YIELD, JUMP_NE(0, 6000, 1), JOIN(1)),
			  TASK(READ(1, 0), STORE(1, 0, 1), YIELD, JUMP_NE(0, 6000, 0)) }
	};
	const struct mw_program rounds_for_ever = {
		.code = { TASK(CREATE(1), READ(0, 0), STORE(0, 0, 1), YIELD, JUMP_NE(0, -1, 1)),
			  TASK(READ(1, 0), STORE(1, 0, 1), YIELD, JUMP_NE(0, -1, 0)) }
	};
	const struct mw_program lone_rounds = {
		.code = { TASK(CREATE(1), JOIN(1), READ(0, 0), STORE(0, 0, 1), YIELD, JUMP_NE(0, 12000, 2)), TASK(LOCAL) }
	};
	const struct how turns = { .strategy = "random" };
	struct run *r = run(&tallies, &plain), *again;

	check(is_outcome(r, ZUG_OUTCOME_LIVELOCK, "T0 only yields, and no other task can run: 10000 "
			 "steps without anything new") && r->x.steps < 11600,
	      r, "the last task that can run only yields: a livelock, at points that are passed");
	again = run(&tallies, &(struct how){ .replay = r->t });
	check(again->x.outcome.kind == ZUG_OUTCOME_LIVELOCK && !again->x.diverged && again->x.hash == r->x.hash, again,
	      "and the same livelock in its replay");
	run_free(r);
	run_free(again);
	ends(&rounds, &(struct how){ .strategy = "random", .no_trace = true }, ZUG_OUTCOME_PASS, NULL,
	     "tasks that yield to each other and count their rounds are no livelock");
	ends(&rounds_for_ever, &(struct how){ .strategy = "random", .no_trace = true }, ZUG_OUTCOME_LIVELOCK,
	     "T0, T1 only yield to each other: 100000 steps without anything new",
	     "unless they do so for half of the steps that an execution may have");
	ends(&lone_rounds, &(struct how){ .no_trace = true }, ZUG_OUTCOME_PASS, NULL, "nor is the last one that does");
	r = run(&alone, &plain);
	check(is_outcome(r, ZUG_OUTCOME_LIVELOCK, "T0 goes round in the same state for ever, and no other task "
			 "can run to change it") && r->x.steps < 10520,
	      r, "the last task that can run waits in vain, and yields: a livelock, at points that are passed");
	again = run(&alone, &(struct how){ .replay = r->t });
	check(again->x.outcome.kind == ZUG_OUTCOME_LIVELOCK && !again->x.diverged &&
		      again->x.hash == r->x.hash,
	      again, "and the same livelock in its replay, where every point stops");
	run_free(r);
	run_free(again);
	r = run(&looks, &plain);
	check(is_outcome(r, ZUG_OUTCOME_LIVELOCK, "T0 goes round in the same state for ever, and no "
			 "other task can run to change it") && r->x.steps < 10520,
	      r, "the last task that can run looks for what no task will do: a livelock");
	again = run(&looks, &(struct how){ .replay = r->t });
	check(again->x.outcome.kind == ZUG_OUTCOME_LIVELOCK && !again->x.diverged &&
		      again->x.hash == r->x.hash,
	      again, "which is the same in its replay");
	run_free(r);
	run_free(again);
	ends(&counts, &(struct how){ .no_trace = true }, ZUG_OUTCOME_PASS, NULL,
	     "the last task works for more steps than that: no livelock");
	r = run(&alarmed, &(struct how){ .no_trace = true });
	check(is_outcome(r, ZUG_OUTCOME_LIVELOCK, NULL) && r->x.steps > 20000, r,
	      "there is no livelock before a timer has fired that might change something");
	run_free(r);
	r = run(&polite, &turns);

	check(is_outcome(r, ZUG_OUTCOME_LIVELOCK,
			 "T0, T1 only yield to each other: 10000 steps without anything new"),
	      r, "two tasks that yield to each other for ever are a livelock");
	check(trace_nr_stacks(r->t) == 1 && r->x.steps > 10000 && r->x.steps < 16000, r,
	      "a livelock is told when each stands where it was, after 10000 steps, with the stacks of parked tasks");
	run_free(r);
	check(failure_of(&polite, &turns) != failure_of(&longer, &turns), NULL,
	      "a livelock at other places is another bug");
	check(failure_of(&polite, &turns) ==
		      failure_of(&polite, &(struct how){ .strategy = "random", .seed = 7 }),
	      NULL, "a livelock is the same bug in any order");
	ends(&works, &(struct how){ .no_trace = true }, ZUG_OUTCOME_PASS, NULL,
	     "a task that works and yields now and then is no livelock");
	ends(&both_work, &(struct how){ .strategy = "random", .no_trace = true }, ZUG_OUTCOME_PASS, NULL, "nor are two");
	ends(&awaits, &(struct how){ .no_trace = true }, ZUG_OUTCOME_PASS, NULL,
	     "there is no livelock while a task may be woken from outside");
	ends(&both_await, &(struct how){ .strategy = "random", .no_trace = true }, ZUG_OUTCOME_PASS, NULL,
	     "also where two wait for what it does");
	ends(&makes, &(struct how){ .strategy = "random", .no_trace = true }, ZUG_OUTCOME_TIMEOUT,
	     NULL, "there is no livelock while a task runs that does not yield");
}

static void spin_locks(void)
{
	const struct mw_program dead = { .code = { TASK(CREATE(1), JOIN(1),
							{ .op = W_SPIN_LOCK, .a = 0 }),
						   TASK({ .op = W_SPIN_LOCK, .a = 0 }) } };
	const struct mw_program timed = {
		.code = { TASK(CREATE(1), { .op = W_SPIN_LOCK, .a = 0 }, SLEEP(MS),
			       { .op = W_SPIN_UNLOCK, .a = 0 }, JOIN(1)),
			  TASK({ .op = W_SPIN_LOCK, .a = 0 }, { .op = W_SPIN_UNLOCK, .a = 0 }) }
	};
	struct run *r = run(&dead, &plain);

	check(is_outcome(r, ZUG_OUTCOME_LIVELOCK, "T0 spins for m0: held, and no task can release them"), r,
	      "a spin lock of a dead task is waited for in vain");
	check(r->x.steps < 90, r, "the livelock of a spin lock is told after 64 looks");
	check(r->x.outcome.failure ==
		      failure_of(&dead, &(struct how){ .strategy = "random", .seed = 3 }),
	      r, "the livelock of a spin lock is always the same bug");
	run_free(r);
	ends(&timed, &(struct how){ SCHEDULE(0, 0, 0, 0, 1) }, ZUG_OUTCOME_PASS, NULL,
	     "the holder of a spin lock may be asleep");
}

static void spins(void)
{
	const struct mw_program proven = {
		.code = { TASK(CREATE(1), LOCAL, { .op = W_COMPUTE, .a = MW_PROVEN, .imm = 50 }),
			  TASK(LOCAL) }
	};
	const struct mw_program tried = {
		.code = { TASK(CREATE(1), LOCAL,
			       { .op = W_COMPUTE, .a = MW_AGAIN_THEN_PROVEN, .imm = 50 }),
			  TASK(LOCAL) }
	};
	const struct mw_program elsewhere = {
		.code = { TASK(CREATE(1), LOCAL, JOIN(1)),
			  TASK({ .op = W_COMPUTE, .a = MW_PROVEN, .imm = 50 }) }
	};
	const struct mw_program works = {
		.code = { TASK(CREATE(1), LOCAL,
			       { .op = W_COMPUTE, .a = MW_AGAIN_THEN_NOT, .imm = 6 }, JOIN(1)),
			  TASK(LOCAL) }
	};
	const struct mw_program alone = {
		.code = { TASK(LOCAL, { .op = W_COMPUTE, .a = MW_PROVEN, .imm = 50 }) }
	};
	const struct mw_program blocked = {
		.code = { TASK(CREATE(1), LOCK(0), LOCAL,
			       { .op = W_COMPUTE, .a = MW_AGAIN_THEN_NOT, .imm = 5 }, UNLOCK(0), JOIN(1)),
			  TASK(LOCK(0), UNLOCK(0)) }
	};
	const struct mw_program keeps = {
		.code = { TASK(CREATE(1), LOCK(0), LOCAL,
			       { .op = W_COMPUTE, .a = MW_PROVEN, .imm = 5 }, UNLOCK(0), JOIN(1)),
			  TASK(LOCK(0), UNLOCK(0)) }
	};
	const struct mw_program busy = {
		.code = { TASK(CREATE(1), LOCAL, { .op = W_BUSY, .a = 0, .imm = 1 }, JOIN(1)),
			  TASK(WRITE(0, 1)) }
	};
	const struct mw_program endless = {
		.code = { TASK(CREATE(1), LOCAL, { .op = W_BUSY, .a = 0, .imm = 1 }, JOIN(1)),
			  TASK({ .op = W_BUSY, .a = 1, .imm = 1 }) }
	};
	struct run *r = run(&proven, &plain);

	check(is_outcome(
		      r, ZUG_OUTCOME_SPIN,
		      "T0 loops without yielding, in the same state again and again, while T1 could run: "
		      "only a preemption by the kernel would end that"),
	      r, "a loop that only another task could end is a spin");
	check(trace_nr_stacks(r->t) == 2 && r->grants < 6, r,
	      "a spin is told at its proof, with the stacks");
	check(r->x.outcome.failure == failure_of(&tried, &plain), r,
	      "a spin is known by its function");
	check(r->x.outcome.failure != failure_of(&elsewhere, &(struct how){ SCHEDULE(0, 0, 1) }), r,
	      "a spin in another function is another bug");
	run_free(r);
	r = run(&tried, &plain);
	check(is_outcome(r, ZUG_OUTCOME_SPIN, NULL) && r->x.steps == 3, r,
	      "a task on trial for a spin goes on alone, and makes no steps");
	run_free(r);
	ends(&works, &plain, ZUG_OUTCOME_PASS, NULL, "a computation is no spin");
	ends(&alone, &plain, ZUG_OUTCOME_LIVELOCK,
	     "T0 goes round in the same state for ever, and no other task can run to change it",
	     "a computation that repeats its state while no other task lives is a livelock");
	ends(&blocked, &(struct how){ SCHEDULE(0, 0, 0, 1) }, ZUG_OUTCOME_PASS, NULL,
	     "a computation works while other tasks would block at once");
	ends(&keeps, &(struct how){ SCHEDULE(0, 0, 0, 1) }, ZUG_OUTCOME_LIVELOCK, NULL,
	     "a loop that never gives back the lock before which the others stand is a livelock");
	r = run(&busy, &plain);
	check(is_outcome(r, ZUG_OUTCOME_PASS, NULL) &&
		      !strcmp(ops_of(r->t, 0), "begin create begin spin join"),
	      r, "other tasks get the turn after ten stops of a computation");
	check(!strcmp(schedule_of(r->t), "0 0 0 1 1 0 0") && r->grants == 14 && r->ns / MS == 100,
	      r, "other tasks do not get the turn before ten stops of a computation");
	run_free(r);
	ends(&busy, &(struct how){ .o.timeout_ns = 50 * MS }, ZUG_OUTCOME_PASS, NULL,
	     "the time for which a task computes until others get the turn is not the test's");
	r = run(&endless, &(struct how){ .o.timeout_ns = 500 * MS });
	check(is_outcome(r, ZUG_OUTCOME_TIMEOUT, NULL) && r->ns < 3 * SECOND, r,
	      "two tasks that compute for ever end by the time-out all the same");
	run_free(r);
}

/* Where an execution comes to points it may have more time than one that does not. */
static void slow_programs(void)
{
	const struct mw_program slow = {
		.code = { TASK(CREATE(1), WRITE(0, 1), WRITE(0, 2), WRITE(0, 3), WRITE(0, 4), WRITE(0, 5), JOIN(1)),
			  TASK(WRITE(0, 6), WRITE(0, 7), WRITE(0, 8), WRITE(0, 9)) },
		.grant_ns = 300 * MS
	};
	const struct mw_program endless = {
		.code = { TASK(CREATE(1), LOCAL, { .op = W_BUSY, .a = 0, .imm = 1 }, JOIN(1)),
			  TASK({ .op = W_BUSY, .a = 1, .imm = 1 }) }
	};
	struct run *r;

	ends(&slow, &(struct how){ .o.timeout_ns = 2 * SECOND }, ZUG_OUTCOME_TIMEOUT, "no end within 2.0 s (--timeout)",
	     "an execution ends by the time-out although it comes to points");
	ends(&slow, &(struct how){ .o.timeout_ns = 2 * SECOND, .o.longest_ns = 8 * SECOND }, ZUG_OUTCOME_PASS, NULL,
	     "one that comes to points has longer, where that is said");
	ends(&slow, &(struct how){ .o.timeout_ns = SECOND, .o.longest_ns = 2 * SECOND }, ZUG_OUTCOME_TIMEOUT, NULL,
	     "and not more than that");
	r = run(&endless, &(struct how){ .o.timeout_ns = 500 * MS, .o.longest_ns = 100 * SECOND });
	check(is_outcome(r, ZUG_OUTCOME_TIMEOUT, NULL) && r->ns < 4 * SECOND, r, "one that computes for ever has no more");
	run_free(r);
}

/* How often the timer strikes in a computation is up to the machine, so nothing that is decided may depend on it. */
static void timer_strikes(void)
{
	uint64_t first[20];
	struct run *r;
	char what[96];

	for (int32_t n = 0; n < 5; n++) {
		const struct mw_program computes = {
			.code = { TASK(CREATE(1), CREATE(2), READ(0, 0), { .op = W_COMPUTE, .a = MW_AGAIN_THEN_NOT, .imm = n },
				       WRITE(0, 1), READ(0, 0), JOIN(1), JOIN(2)),
				  TASK(WRITE(0, 2), READ(0, 0)), TASK(WRITE(0, 3), READ(0, 0)) }
		};
		uint32_t same = 0;

		for (uint64_t seed = 0; seed < 20; seed++) {
			r = run(&computes, &(struct how){ .strategy = seed % 2 ? "random" : "pct:depth=3", .seed = seed });
			if (!n)
				first[seed] = r->x.hash;
			same += r->x.hash == first[seed];
			run_free(r);
		}
		r = run(&computes, &(struct how){ SCHEDULE(0, 0, 0, 0, 1) });
		snprintf(what, sizeof(what), "%d stops of a computation change nothing that is decided", n);
		check(same == 20 && r->x.preemptions == 1, r, what);
		run_free(r);
	}
}

/* A task that loops without a point, while none of the others can run. */
static void spins_alone(void)
{
	const struct mw_program in_vain = {
		.code = { TASK(CREATE(1), CREATE(2), LOCAL, { .op = W_BUSY, .a = 0, .b = MW_PROVEN, .imm = 1 }, JOIN(1)),
			  TASK(LOCAL), TASK(SEM_WAIT(0)) }
	};
	/* it works, and sleepers do not make points of it */
	const struct mw_program works = {
		.code = { TASK(CREATE(1), LOCAL, { .op = W_COMPUTE, .a = MW_COMPUTES, .imm = 200 }, JOIN(1)),
			  TASK(SLEEP(SECOND)) }
	};
	const struct mw_program sleeps = {
		.code = { TASK(CREATE(1), LOCAL, { .op = W_BUSY, .a = 0, .b = MW_PROVEN, .imm = 1 }, JOIN(1)),
			  TASK(SLEEP(SECOND), WRITE(0, 1)) }
	};
	const struct mw_program alarmed = {
		.code = { TASK(CREATE(1), TIMER(0, SECOND), LOCAL, { .op = W_BUSY, .a = 0, .b = MW_PROVEN, .imm = 1 }, JOIN(1)),
			  TASK(SEM_WAIT(0), WRITE(0, 1)) }
	};
	const struct mw_program outside = {
		.outside = 1,
		.code = { TASK(CREATE(1), LOCAL, { .op = W_BUSY, .a = 0, .b = MW_PROVEN, .imm = 1 }, JOIN(1)),
			  TASK(GET(0), WRITE(0, 1)) }
	};
	/* the same with a point in the loop */
	const struct mw_program looks = {
		.code = { TASK(CREATE(1), READ(0, 0), JUMP_EQ(0, 0, 1), JOIN(1)),
			  TASK(SLEEP(5 * SECOND), WRITE(0, 1)) }
	};
	struct run *r = run(&in_vain, &(struct how){ SCHEDULE(0, 0, 0, 1, 1, 2, 2, 0) }), *again;

	check(is_outcome(r, ZUG_OUTCOME_LIVELOCK, "T0 goes round in the same state for ever, and no other task "
			 "can run to change it") && trace_nr_stacks(r->t) == 2,
	      r, "a loop without a point for what no task is left to do is a livelock");
	check(!strstr(ops_of(r->t, 0), "spin"), r, "which is no step");
	again = run(&in_vain, &(struct how){ .replay = r->t });
	check(again->x.outcome.kind == ZUG_OUTCOME_LIVELOCK && !again->x.diverged &&
		      again->x.hash == r->x.hash && again->x.outcome.failure == r->x.outcome.failure,
	      again, "and the same livelock in its replay");
	run_free(r);
	run_free(again);
	r = run(&works, &(struct how){ SCHEDULE(0, 0, 1, 1, 0) });
	check(is_outcome(r, ZUG_OUTCOME_PASS, NULL) && !strstr(ops_of(r->t, 0), "spin"), r,
	      "a long computation of the only task that can run makes no steps");
	run_free(r);
	r = run(&sleeps, &(struct how){ SCHEDULE(0, 0, 1, 1) });
	check(is_outcome(r, ZUG_OUTCOME_PASS, NULL), r, "time passes while a task waits in a loop for one that sleeps");
	again = run(&sleeps, &(struct how){ .replay = r->t });
	check(is_outcome(again, ZUG_OUTCOME_PASS, NULL) && !again->x.diverged && again->x.hash == r->x.hash, again,
	      "in a replay, too");
	run_free(r);
	run_free(again);
	ends(&alarmed, &(struct how){ SCHEDULE(0, 0, 1, 0, 0) }, ZUG_OUTCOME_PASS, NULL, "and so a timer fires");
	ends(&outside, &(struct how){ SCHEDULE(0, 0, 1, 1, 0), .o.timeout_ns = 3 * SECOND }, ZUG_OUTCOME_TIMEOUT, NULL,
	     "a loop for one that may be woken from outside is no livelock");
	r = run(&looks, &(struct how){ .strategy = "random", .no_trace = true });
	check(is_outcome(r, ZUG_OUTCOME_PASS, NULL) && r->x.steps < 12000, r,
	      "time passes for one that goes round with a point in its loop");
	run_free(r);
}

/* A process that crashes and is not the command: its stack is kept, whatever follows. */
static void crash(void)
{
	const struct mw_program p = { .code = {
		TASK(FORK(1), LOCAL, LOCAL, { .op = W_QUIT, .imm = 5 }), TASK(LOCAL, { .op = W_CRASH, .imm = 11 }) } };
	struct run *r = run(&p, &(struct how){ SCHEDULE(0, 0, 1, 1, 0, 0, 0) });

	check(is_outcome(r, ZUG_OUTCOME_EXIT, "exit status 5") && !strcmp(state_of(r, 1), "died of SIGSEGV"), r,
	      "a crash of another process than the command's is kept with its stack");
	check(!strcmp(state_of(r, 0), "exits with status 5"), r, "beside the command's");
	run_free(r);
	ends(PROGRAM(.code = { TASK(CREATE(1), JOIN(1), LOCK(0)), TASK(LOCK(0)) }), &plain, ZUG_OUTCOME_DEADLOCK,
	     "T0 waits in lock for m0, held by T1, which has ended", "a lock whose holder has ended says so");
}

/* ---- misuse ---- */

static void misuse(void)
{
	struct run *r = run(PROGRAM(.code = { TASK(CREATE(1), LOCK(0), LOCAL, UNLOCK(0), JOIN(1)),
					      TASK(UNLOCK(0)) }),
			    &(struct how){ SCHEDULE(0, 0, 0, 0, 1, 1), .o.ask_always = true });
	uint64_t bug = r->x.outcome.failure;

	check(is_outcome(r, ZUG_OUTCOME_MISUSE,
			 "T1: unlock of a lock that another task holds (T0): m0"),
	      r, "the unlock of another task's lock is a misuse");
	check(!strcmp(ops_of(r->t, 1), "begin unlock") && r->grants == 4 &&
		      trace_nr_stacks(r->t) == 2,
	      r, "a misuse is told before it happens");
	check(!strcmp(state_of(r, 1), "the misuse: about to unlock m0"), r,
	      "a misuse has the stack of its task");
	run_free(r);
	ends(PROGRAM(.code = { TASK(LOCK(0), UNLOCK(0), UNLOCK(0)) }), &plain, ZUG_OUTCOME_MISUSE,
	     "T0: unlock of a lock that is not held: m0", "the unlock of a free one, at a point that is passed");
	ends(PROGRAM(.code = { TASK(CREATE(1), LOCK(0), UNLOCK(0), UNLOCK(0), JOIN(1)), TASK(LOCAL) }), &plain, ZUG_OUTCOME_MISUSE,
	     "T0: unlock of a lock that is not held: m0", "and at one that is not");
	ends(PROGRAM(.code = { TASK(LOCK(0), LOCK(0)) }), &plain, ZUG_OUTCOME_MISUSE,
	     "T0: lock of a mutex that the task itself holds (T0): m0",
	     "a second lock by the same task");
	ends(PROGRAM(.code = { TASK(CREATE(1), LOCK(0), LOCAL, UNLOCK(0), JOIN(1)), TASK({ .op = W_DESTROY, .a = 0 }) }),
	     &(struct how){ SCHEDULE(0, 0, 0, 0, 1, 1), .o.ask_always = true },
	     ZUG_OUTCOME_MISUSE, "destroy of an object that is in use",
	     "the destroy of a lock that another task holds is a misuse");
	ends(PROGRAM(.code = { TASK(LOCK(0), UNLOCK(0), { .op = W_DESTROY, .a = 0 }, LOCK(0)) }),
	     &plain, ZUG_OUTCOME_MISUSE, "use of an object after its destroy",
	     "the use of a lock after its destroy is a misuse");
	ends(PROGRAM(.code = { TASK({ .op = W_INIT, .a = 0 }, { .op = W_INIT, .a = 0 }) }), &plain,
	     ZUG_OUTCOME_MISUSE, "second init", "a second init of a global lock is a misuse");
	ends(PROGRAM(.code = { TASK(CREATE(1), JOIN(1), JOIN(1)), TASK(LOCAL) }), &plain,
	     ZUG_OUTCOME_MISUSE, "second join of one thread: t1", "a second join is a misuse");
	ends(PROGRAM(.code = { TASK(CREATE(1), { .op = W_DETACH, .a = 1 }, JOIN(1)), TASK(LOCAL) }),
	     &plain, ZUG_OUTCOME_MISUSE, "join of a detached thread",
	     "a join of a detached thread is a misuse");
	ends(PROGRAM(.code = { TASK(LOCK(0), UNLOCK(0), WAIT(0, 0)) }), &plain, ZUG_OUTCOME_MISUSE,
	     "without holding its mutex", "a wait for a condition without its mutex is a misuse");
	check(bug && bug == failure_of(PROGRAM(.code = { TASK(CREATE(1), LOCK(0), LOCAL, LOCAL,
							      UNLOCK(0), JOIN(1)),
							 TASK(UNLOCK(0)) }),
				       &(struct how){ SCHEDULE(0, 0, 0, 0, 0, 1, 1) }),
	      NULL, "a misuse is known by its kind and place");
}

int main(void)
{
	deadlock();
	crash();
	grace();
	cycle();
	cycle_by_steps();
	same_bug();
	livelock();
	spin_locks();
	spins();
	slow_programs();
	timer_strikes();
	spins_alone();
	misuse();
	return tap_done();
}
