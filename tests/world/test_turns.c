/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_turns.c - from questions to decisions to steps: who gets the turn, what the trace says of
 * it, and how a program's own end is judged
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include "run.h"

/* Two tasks that count, without a lock. */
static const struct mw_program counters = { .code = {
	TASK(CREATE(1), READ(0, 0), STORE(0, 0, 1), JOIN(1)),
	TASK(READ(0, 0), STORE(0, 0, 1)),
} };
/* The same with one. */
static const struct mw_program locked = { .code = {
	TASK(CREATE(1), LOCK(0), READ(0, 0), STORE(0, 0, 1), UNLOCK(0), JOIN(1)),
	TASK(LOCK(0), READ(0, 0), STORE(0, 0, 1), UNLOCK(0)),
} };

static uint64_t flags_of(const struct run *r, uint64_t step)
{
	return trace_step(r->t, step)->flags;
}

static bool enabled_are(const struct run *r, uint64_t step, const char *want)
{
	const struct trace_step *s = trace_step(r->t, step);
	char text[64] = "";

	for (uint32_t i = 0; i < s->nr_enabled; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%u", i ? " " : "",
			 s->enabled[i]);
	return !strcmp(text, want);
}

static void base(void)
{
	struct run *r = run(&counters, &(struct how){ 0 });

	check(is_outcome(r, ZUG_OUTCOME_PASS, NULL) && !r->ret && !r->err[0], r,
	      "a program that ends passes");
	check(!strcmp(schedule_of(r->t), "0 0 0 0 0 1 1 1 0"), r,
	      "the trace has the task of each step");
	check(!strcmp(ops_of(r->t, 0), "begin create data-read data-write join resume"), r,
	      "the trace has the operation of each step");
	check(r->x.steps == 9 && r->x.switches == 2 && !r->x.preemptions, r,
	      "steps, switches and preemptions are counted");
	check(r->x.nr_tasks == 2 && trace_nr_tasks(r->t) == 2, r,
	      "tasks are counted, and told once");
	check(enabled_are(r, 0, "0") && enabled_are(r, 2, "0 1") && enabled_are(r, 6, "1"), r,
	      "the trace has the tasks that could run");
	check(flags_of(r, 1) & TRACE_STEP_LONE && !(flags_of(r, 2) & TRACE_STEP_LONE) &&
		      flags_of(r, 6) & TRACE_STEP_LONE,
	      r, "the trace says where no other task could run");
	check(r->grants < r->x.steps && !r->stop_always, r, "a step that is passed needs no grant");
	check(trace_step(r->t, 0)->last == TRACE_NO_TASK && trace_step(r->t, 5)->last == 0 &&
		      trace_step(r->t, 6)->last == 1,
	      r, "the trace has the task of the step before");
	check(r->vars[0] == 2 && r->drains == 1, r, "the world is drained once");
	check(r->x.status == 0 && r->x.launch_ns < r->x.wall_ns && r->x.wall_ns == r->ns, r,
	      "status and times are the world's");
	check(trace_task(r->t, 1)->parent == 0 && trace_task(r->t, 0)->parent == TRACE_NO_TASK &&
		      !strcmp(trace_task(r->t, 1)->comm, "model") &&
		      trace_task(r->t, 1)->process == 0,
	      r, "the trace has the tasks and their parents");
	check(trace_object(r->t, mw_object(MW_VARS, 0)) &&
		      !strcmp(trace_object(r->t, mw_object(MW_VARS, 0))->name, "v0"),
	      r, "the trace has the names of objects");
	check(trace_site(r->t, mw_site(1, 0)) && trace_site(r->t, mw_site(1, 0))->nr_frames == 1, r,
	      "the trace has the names of places");
	run_free(r);
}

static void preemptions(void)
{
	const struct mw_program elsewhere = { .code = { TASK({ .op = W_SET }, CREATE(1), READ(0, 0),
							     STORE(0, 0, 1), JOIN(1)),
							TASK(READ(0, 0), STORE(0, 0, 1)) } };
	struct run *r = run(&counters, &(struct how){ SCHEDULE(0, 0, 0, 1, 1, 1, 0, 0) });
	struct run *other = run(&counters, &(struct how){ SCHEDULE(0, 0, 0, 0, 1, 1, 1, 0) });

	check(r->vars[0] == 1 && !strcmp(schedule_of(r->t), "0 0 0 1 1 1 0 0"), r,
	      "the decisions are the search's");
	check(r->x.preemptions == 1 && flags_of(r, 3) & TRACE_STEP_PREEMPTION &&
		      !(flags_of(r, 4) & TRACE_STEP_PREEMPTION) &&
		      !(flags_of(r, 6) & TRACE_STEP_PREEMPTION),
	      r, "the turn taken from a task that could go on is a preemption");
	check(r->x.hash != other->x.hash, r, "another schedule has another hash");
	run_free(other);
	other = run(&counters, &(struct how){ SCHEDULE(0, 0, 0, 1, 1, 1, 0, 0) });
	check(r->x.hash == other->x.hash && r->x.hash, r, "the same schedule has the same");
	run_free(other);
	other = run(&elsewhere, &(struct how){ SCHEDULE(0, 0, 0, 1, 1, 1, 0, 0) });
	check(r->x.hash != other->x.hash && r->x.steps == other->x.steps, r,
	      "the same operations at other places have another hash");
	run_free(other);
	run_free(r);
}

static void yields(void)
{
	const struct mw_program polite = { .code = { TASK(CREATE(1), YIELD, LOCAL), TASK(LOCAL) } };
	const struct mw_program long_one = {
		.code = { TASK(CREATE(1), { .op = W_SET, .b = 0, .imm = 0 }, LOCAL, READ(0, 0),
			       STORE(0, 0, 1), READ(0, 1), JUMP_NE(1, 60, 2), JOIN(1)),
			  TASK(LOCAL) }
	};
	/* of four points in a round one is left out */
	const struct mw_program mixed = {
		.code = { TASK(CREATE(1), { .op = W_SET, .b = 0, .imm = 0 }, LOCAL, READ(0, 0),
			       { .op = W_LOCAL, .left_out = true }, STORE(0, 0, 1), JUMP_NE(0, 60, 2), JOIN(1)),
			  TASK(LOCAL) }
	};
	struct run *r = run(&polite, &(struct how){ SCHEDULE(0, 0, 1, 1, 0, 0) });
	uint64_t first = 0;

	check(!r->x.preemptions && flags_of(r, 2) & TRACE_STEP_YIELDED, r,
	      "after a yield no turn is taken away");
	run_free(r);
	r = run(&polite, &(struct how){ SCHEDULE(0, 0, 0, 1, 1, 0) });
	check(r->x.preemptions == 1, r, "after a yield the task that has gone on can be preempted");
	run_free(r);
	r = run(&long_one, &(struct how){ 0 });
	for (uint64_t i = 0; i < r->x.steps && !first; i++)
		if (flags_of(r, i) & TRACE_STEP_YIELDED)
			first = i;
	/* the create is the last step before the other is there */
	check(first == 102, r,
	      "a task that starves others for a hundred steps is taken to have yielded");
	run_free(r);
	r = run(&mixed, &(struct how){ .o.ask_always = true });
	first = 0;
	for (uint64_t i = 0; i < r->x.steps && !first; i++)
		if (flags_of(r, i) & TRACE_STEP_YIELDED)
			first = i;
	/* 33 points that are left out do not count */
	check(first == 102 + 33, r, "  also where points that are left out lie between these");
	run_free(r);
}

static void locks(void)
{
	const struct mw_program blind = { .blind = true,
					  .code = { TASK(CREATE(1), LOCK(0), LOCAL, UNLOCK(0),
							 JOIN(1)),
						    TASK(LOCK(0), UNLOCK(0)) } };
	struct run *r = run(&locked, &(struct how){ SCHEDULE(0, 0, 0, 1) });
	const struct trace_note *n;

	check(enabled_are(r, 4, "0") && r->vars[0] == 2, r,
	      "a task before a lock that is held is not enabled");
	check(!strcmp(notes_of(r->t, 1), "wake exit"), r,
	      "a task that is not enabled does not wait in the kernel");
	run_free(r);
	r = run(&blind, &(struct how){ SCHEDULE(0, 0, 0, 1, 1) });
	check(!strcmp(notes_of(r->t, 1), "wake block wake exit") &&
		      !strcmp(ops_of(r->t, 1), "begin lock resume unlock"),
	      r, "a task waits in the kernel for a lock of which nothing is known");
	n = trace_note_at(r->t, 5, 0);
	check(n->kind == TRACE_NOTE_BLOCK && !strcmp(n->text, "futex") &&
		      n->object == mw_object(MW_LOCKS, 0),
	      r, "a wait is noted with its place and object");
	check(!strcmp(ops_of(r->t, TRACE_NO_TASK),
		      "begin create lock begin lock begin unlock join resume unlock resume"),
	      r, "the holder of a lock goes on while others wait for it");
	run_free(r);
}

static void notes(void)
{
	const struct mw_program wakes = { .code = { TASK(CREATE(1), LOCAL, PUT(0), JOIN(1)),
						    TASK(GET(0)) } };
	const struct mw_program says = {
		.code = { TASK({ .op = W_SAY, .text = "mind the step" }, FORK(1), LOCAL, JOIN(1)),
			  TASK(LOCAL, { .op = W_EXEC, .text = "other" }, LOCAL) }
	};
	struct run *r = run(&wakes, &(struct how){ SCHEDULE(0, 0, 1, 1) });
	const struct trace_note *n = NULL;

	for (uint64_t i = 0; i <= trace_nr_steps(r->t); i++)
		for (uint32_t k = 0; k < trace_nr_notes(r->t, i); k++)
			if (trace_note_at(r->t, i, k)->kind == TRACE_NOTE_WAKE &&
			    trace_note_at(r->t, i, k)->task == 1)
				n = trace_note_at(r->t, i, k);
	check(n && n->arg == 0, r, "a wake-up is noted with the waker");
	run_free(r);
	r = run(&says, &(struct how){ 0 });
	n = trace_note_at(r->t, 1, 0);
	check(n->kind == TRACE_NOTE_MESSAGE && !strcmp(n->text, "mind the step") &&
		      n->task == TRACE_NO_TASK,
	      r, "a message of the world is noted");
	check(strstr(notes_of(r->t, 1), "exec") && trace_task(r->t, 1)->process == 1, r,
	      "an exec is noted, and a process has its number");
	run_free(r);
}

static void ends(void)
{
	const struct mw_program exits = { .code = { TASK(CREATE(1), LOCAL, EXIT(3)),
						    TASK(LOCAL) } };
	const struct mw_program good = { .code = { TASK(CREATE(1), LOCAL, EXIT(0)), TASK(LOCAL) } };
	const struct mw_program quits = { .code = { TASK(CREATE(1), LOCAL, QUIT(3)),
						    TASK(LOCAL) } };
	const struct mw_program child = { .code = { TASK(FORK(1), LOCAL, JOIN(1)),
						    TASK(LOCAL, QUIT(3)) } };
	const struct mw_program crash = { .code = { TASK(CREATE(1), LOCAL, JOIN(1)),
						    TASK(LOCAL,
							 { .op = W_CRASH, .imm = SIGSEGV }) } };
	const struct mw_program aborts = { .code = { TASK(READ(0, 0), ASSERT(0, 1)) } };
	const struct mw_program explains = {
		.code = { TASK({ .op = W_ASSERT,
				 .b = 0,
				 .imm = 1,
				 .text = "first\na.c:7: Assertion `x' failed.\nlast\n" }) }
	};
	const struct mw_program prints = {
		.code = { TASK({ .op = W_PRINT, .text = "a\nit went wrong\n" }, LOCAL) }
	};
	struct how wants_3 = { .o.rules.expect_exit = 3 };
	struct run *r = run(&exits, &(struct how){ 0 });
	regex_t re;

	check(is_outcome(r, ZUG_OUTCOME_EXIT, "exit status 3 (expected 0)") &&
		      r->x.outcome.code == 3 && r->x.outcome.failure,
	      r, "an unexpected exit status is a failure");
	check(trace_nr_stacks(r->t) == 2 &&
		      !strcmp(trace_stack_at(r->t, 0)->state, "exits with status 3") &&
		      strstr(trace_stack_at(r->t, 1)->state, "could run: about to begin"),
	      r, "an unexpected exit status has the stacks of before it");
	run_free(r);
	r = run(&exits, &wants_3);
	check(is_outcome(r, ZUG_OUTCOME_PASS, NULL) && !trace_nr_stacks(r->t), r,
	      "an expected exit status passes");
	run_free(r);
	r = run(&counters, &wants_3);
	check(is_outcome(r, ZUG_OUTCOME_EXIT, "exit status 0 (expected 3)"), r,
	      "status 0 is a failure where another is expected");
	run_free(r);
	r = run(&good, &wants_3);
	check(is_outcome(r, ZUG_OUTCOME_EXIT, NULL) && trace_nr_stacks(r->t) == 2 &&
		      !strcmp(trace_stack_at(r->t, 0)->state, "exits with status 0"),
	      r, "status 0 where another is expected has stacks");
	run_free(r);
	r = run(&quits, &(struct how){ 0 });
	check(is_outcome(r, ZUG_OUTCOME_EXIT, NULL) && trace_nr_stacks(r->t) == 2 &&
		      !strcmp(trace_stack_at(r->t, 0)->state, "exits with status 3"),
	      r, "an exit that is no point has stacks");
	run_free(r);
	r = run(&quits, &wants_3);
	check(is_outcome(r, ZUG_OUTCOME_PASS, NULL) && !trace_nr_stacks(r->t), r,
	      "an expected exit that is no point has no stacks");
	run_free(r);
	r = run(&child, &(struct how){ 0 });
	check(is_outcome(r, ZUG_OUTCOME_PASS, NULL), r,
	      "the status of another process is not the test's");
	run_free(r);
	r = run(&crash, &(struct how){ 0 });
	check(is_outcome(r, ZUG_OUTCOME_SIGNAL, "SIGSEGV") && r->x.outcome.site == mw_site(1, 1), r,
	      "a crash has its place");
	check(trace_nr_stacks(r->t) == 2 && !strcmp(trace_stack_at(r->t, 1)->state, "died here") &&
		      !strcmp(trace_stack_at(r->t, 1)->frames[0].function, "f1") &&
		      strstr(trace_stack_at(r->t, 0)->state, "waits in join for t1"),
	      r, "a crash has the stacks of all tasks");
	run_free(r);
	r = run(&aborts, &(struct how){ 0 });
	check(is_outcome(r, ZUG_OUTCOME_ABORT, "model.c:1: Assertion `the model' failed."), r,
	      "an abort is told by the words of its assertion");
	run_free(r);
	r = run(&explains, &(struct how){ 0 });
	check(is_outcome(r, ZUG_OUTCOME_ABORT, NULL) &&
		      !strcmp(r->x.outcome.message, "a.c:7: Assertion `x' failed."),
	      r, "an abort is not told by later words");
	run_free(r);
	if (regcomp(&re, "went [a-z]*", REG_EXTENDED))
		abort();
	r = run(&prints, &(struct how){ .o.rules.match = &re });
	check(is_outcome(r, ZUG_OUTCOME_MATCH, "error output: it went wrong"), r,
	      "output that matches is a failure");
	run_free(r);
	r = run(&prints, &(struct how){ .o.rules.uncaught = "went " });
	check(is_outcome(r, ZUG_OUTCOME_MATCH, "error output: it went wrong"), r,
	      "what a runtime says of a thread's exception is a failure, though the program succeeds");
	run_free(r);
	regfree(&re);
	if (regcomp(&re, "another", REG_EXTENDED))
		abort();
	r = run(&prints, &(struct how){ .o.rules = { .uncaught = "went ", .match = &re } });
	check(is_outcome(r, ZUG_OUTCOME_PASS, NULL), r, "the user's words take the place of the runtime's");
	run_free(r);
	regfree(&re);
}

/* Two executions of one engine. */
static void again(void)
{
	const struct mw_program prints = { .code = { TASK(READ(0, 0), STORE(0, 0, 1), CREATE(1),
							  ASSERT(0, 0), JOIN(1)),
						     TASK(LOCAL) } };
	struct capture *c = capture_new();
	struct model_world *m = mw_new(&prints, c);
	struct search *s = new_search(NULL, 1);
	regex_t re;
	struct engine *e = engine_new(&m->w, s, c, &(struct engine_options){ .rules.match = &re });
	struct mw_program fails = prints;
	struct execution x[3];
	struct trace *t;
	struct memory_trace mt;
	char err[256];

	if (regcomp(&re, "Assertion", REG_EXTENDED))
		abort();
	fails.vars[0] = 1;
	for (int i = 0; i < 3; i++) {
		m->p = i == 1 ? &fails : &prints;
		search_begin(s);
		memory_trace_begin(&mt);
		engine_run(e, NULL, mt.w, &x[i], err, sizeof(err));
		search_end(s, &(struct search_end){ 0 });
		t = memory_trace_end(&mt, &x[i]);
		if (i == 2)
			check(trace_nr_tasks(t) == 2 && trace_nr_stacks(t) == 0, NULL,
			      "each trace has its own tasks and no older stacks");
		trace_free(t);
	}
	check(x[0].outcome.kind == ZUG_OUTCOME_PASS && x[1].outcome.kind == ZUG_OUTCOME_MATCH &&
		      x[2].outcome.kind == ZUG_OUTCOME_PASS,
	      NULL, "what one execution printed is not the next one's");
	check(x[0].hash == x[2].hash && x[0].steps == x[2].steps && x[0].switches == x[2].switches,
	      NULL, "nothing of one execution is left in the next");
	regfree(&re);
	engine_free(e);
	search_free(s);
	mw_free(m);
	capture_free(c);
	engine_free(NULL);
}

static void cut(void)
{
	const struct mw_program fails_start = { .fails_start = -ENOENT, .code = { TASK(LOCAL) } };
	const struct mw_program fails_drain = { .fails_drain = -ETIME, .code = { TASK(LOCAL) } };
	const struct mw_program fails_tend = { .fails_tend = -EBUSY,
					       .outside = 1,
					       .code = { TASK(GET(0)) } };
	const struct mw_program breaks = { .code = { TASK(LOCAL, { .op = W_BREAK }) } };
	const struct mw_program ungranted = { .ungranted = 2, .code = { TASK(LOCAL) } };
	const struct mw_program outside = { .outside = 1,
					    .code = { TASK(LOCAL, GET(0), LOCAL) },
					    .arrivals = { { .ns = 5500 * MS, .kind = MW_BYTE } } };
	const struct mw_program endless = { .code = { TASK(READ(0, 0), STORE(0, 0, 1), JUMP(0)) } };
	const struct mw_program stuck = { .code = { TASK(CREATE(1), { .op = W_STUCK, .imm = 1500 },
							 LOCAL, JOIN(1)),
						    TASK(LOCAL) } };
	const struct mw_program lent = { .outside = 1,
					 .arrivals = { { .ns = 3 * SECOND, .kind = MW_BYTE } },
					 .code = { TASK(CREATE(1), { .op = W_STUCK, .imm = 2500 },
							LOCAL, JOIN(1)),
						   TASK(LOCAL, GET(0)) } };
	/* all others wait for it */
	const struct mw_program slow = { .code = { TASK(CREATE(1), { .op = W_STUCK, .imm = 5000 }, SEM_POST(0), JOIN(1)),
						   TASK(SEM_WAIT(0)) } };
	static volatile sig_atomic_t stop = 1;
	struct run *r = run(&fails_start, &(struct how){ 0 });

	check(is_outcome(r, ZUG_OUTCOME_ENVIRONMENT, "does not start") && r->ret == -ENOENT &&
		      !r->drains,
	      r, "a world that does not start is the environment's fault");
	run_free(r);
	r = run(&fails_drain, &(struct how){ 0 });
	check(is_outcome(r, ZUG_OUTCOME_ENVIRONMENT, "does not end") && r->ret == -ETIME, r,
	      "a world that does not end is the environment's fault");
	run_free(r);
	r = run(&breaks, &(struct how){ 0 });
	check(is_outcome(r, ZUG_OUTCOME_ENVIRONMENT, "the model broke") && r->ret == -EPIPE &&
		      r->drains == 1,
	      r, "a world that breaks is drained");
	check(r->x.status == -1, r, "a test whose world broke has no status");
	run_free(r);
	r = run(&fails_tend, &(struct how){ 0 });
	check(is_outcome(r, ZUG_OUTCOME_ENVIRONMENT, "cannot go on") && r->ret == -EBUSY &&
		      r->ns < 2 * SECOND,
	      r, "a world that cannot go on is the environment's fault");
	run_free(r);
	r = run(&ungranted, &(struct how){ 0 });
	check(r->x.ungranted == 2, r, "runs without a grant are counted");
	run_free(r);
	r = run(&outside, &(struct how){ 0 });
	check(is_outcome(r, ZUG_OUTCOME_PASS, NULL) && r->tends == 5, r,
	      "a long execution is tended once a second");
	run_free(r);
	r = run(&outside, &(struct how){ .o.timeout_ns = 3 * SECOND });
	check(is_outcome(r, ZUG_OUTCOME_TIMEOUT, "no end within 3.0 s (--timeout)") &&
		      r->ns / MS >= 3000 && r->ns / MS < 3100,
	      r, "an execution ends when its time is over");
	check(trace_nr_stacks(r->t) == 1 &&
		      strstr(trace_stack_at(r->t, 0)->state, "waits in read p0"),
	      r, "an execution that takes too long has stacks");
	run_free(r);
	r = run(&outside, &(struct how){ .o.timeout_ns = 6 * SECOND });
	check(is_outcome(r, ZUG_OUTCOME_PASS, NULL), r, "an execution within its time goes on");
	run_free(r);
	r = run(&endless, &(struct how){ .no_trace = true });
	check(is_outcome(r, ZUG_OUTCOME_TIMEOUT, "no end within 200000 steps (--max-steps)"), r,
	      "an execution ends after --max-steps");
	run_free(r);
	r = run(&outside, &(struct how){ .o.stop = &stop });
	check(is_outcome(r, ZUG_OUTCOME_INTERRUPTED, "interrupted") && r->ns < SECOND, r,
	      "an execution ends when its user interrupts it");
	run_free(r);
	r = run(&stuck, &(struct how){ 0 });
	check(is_outcome(r, ZUG_OUTCOME_PASS, NULL) && r->ns / MS >= 1500 &&
		      !strstr(notes_of(r->t, 0), "block wake block"),
	      r, "a task in an uninterruptible wait keeps the turn");
	run_free(r);
	r = run(&lent, &(struct how){ 0 });
	check(is_outcome(r, ZUG_OUTCOME_PASS, NULL) &&
		      !strcmp(notes_of(r->t, 0), "block wake block wake exit") &&
		      !strcmp(schedule_of(r->t), "0 0 1 1 1 0 0 0 1 0"),
	      r, "a turn that the world lends goes to other tasks");
	run_free(r);
	r = run(&slow, &(struct how){ 0 });
	check(is_outcome(r, ZUG_OUTCOME_PASS, NULL), r, "all wait for a task whose turn was lent: no deadlock");
	run_free(r);
}

int main(void)
{
	base();
	preemptions();
	yields();
	locks();
	notes();
	ends();
	again();
	cut();
	return tap_done();
}
