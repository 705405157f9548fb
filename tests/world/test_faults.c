/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_faults.c - system calls that fail, or do less than they could: which, how often, in the
 * trace, in a replay, by a plan
 */
#include <errno.h>
#include <string.h>
#include "campaign/run_options.h"
#include "search/script.h"
#include "run.h"
#include "search/script.h"

#define PROGRAM(...)	&(const struct mw_program){ __VA_ARGS__ }
#define CALL(what, mask)	{ .op = W_CALL, .zop = (what), .faults = (mask) }
#define BIT(fault)	(1u << (fault))

/* Adds what each of three calls gave to variables 0 to 2. */
#define THREE_CALLS(mask)	.code = { TASK(CALL(ZUG_OP_WRITE, (mask)), STORE(0, 0, 0),	\
					       CALL(ZUG_OP_WRITE, (mask)), STORE(1, 0, 0),	\
					       CALL(ZUG_OP_WRITE, (mask)), STORE(2, 0, 0)) }

struct tally {
	uint32_t executions, failed[3], both, none, other;
	uint32_t most;		/* in one execution */
};

/* All executions of a systematic search. */
static struct tally all(const struct mw_program *p, const struct engine_options *o, int64_t failure)
{
	const struct how how = { .strategy = "dfs", .o = *o, .no_trace = true };
	struct tally t = { 0 };
	struct session n;
	struct run *r;

	session_begin(&n, p, &how);
	while (t.executions < 1000 && (r = session_run(&n))) {
		uint32_t nr = 0;

		for (int i = 0; i < 3; i++) {
			t.failed[i] += r->vars[i] == failure;
			nr += r->vars[i] == failure;
			t.other += r->vars[i] != failure && r->vars[i] != 0;
		}
		t.most = nr > t.most ? nr : t.most;
		t.none += !nr;
		t.executions++;
		run_free(r);
	}
	session_end(&n);
	return t;
}

static void searched(void)
{
	struct engine_options o = { .faults = BIT(FAULT_ENOSPC), .max_faults = 1 };
	struct tally t =
		all(PROGRAM(THREE_CALLS(BIT(FAULT_ENOSPC) | BIT(FAULT_EINTR))), &o, -ENOSPC);

	check(t.executions == 4 && t.none == 1 && t.failed[0] == 1 && t.failed[1] == 1 &&
		      t.failed[2] == 1,
	      NULL, "each call fails in one execution, and in one none does");
	check(!t.other && t.most == 1, NULL,
	      "calls fail only with the faults that are wanted, and not more often");
	o.max_faults = 2;
	t = all(PROGRAM(THREE_CALLS(BIT(FAULT_ENOSPC))), &o, -ENOSPC);
	check(t.executions == 1 + 3 + 3 && t.most == 2, NULL, "two faults in one execution");
	o.max_faults = 3;
	t = all(PROGRAM(THREE_CALLS(BIT(FAULT_ENOSPC))), &o, -ENOSPC);
	check(t.executions == 8 && t.most == 3, NULL, "three faults in one execution");
	o = (struct engine_options){ .faults = BIT(FAULT_ENOSPC) | BIT(FAULT_EINTR),
				     .max_faults = 1 };
	t = all(PROGRAM(THREE_CALLS(BIT(FAULT_ENOSPC) | BIT(FAULT_EINTR))), &o, -EINTR);
	check(t.executions == 7 && t.failed[0] == 1 && t.other == 3, NULL,
	      "two ways to fail are two executions");
	t = all(PROGRAM(THREE_CALLS(0)), &o, -EINTR);
	check(t.executions == 1, NULL, "a call that cannot fail is not asked about");
	o = (struct engine_options){ .faults = BIT(FLOW_LOSS), .max_faults = 1, .max_flows = 2 };
	t = all(PROGRAM(THREE_CALLS(BIT(FLOW_LOSS))), &o, -1);
	check(t.executions == 7 && t.most == 2, NULL, "flows have their own bound (--max-flows)");
	t = all(PROGRAM(.code = { TASK({ .op = W_CALL,
					 .zop = ZUG_OP_READ,
					 .faults = BIT(FLOW_SHORT_READ),
					 .amounts = { 1, 8, 15 } },
				       STORE(0, 0, 0)) }),
		&(struct engine_options){ .faults = BIT(FLOW_SHORT_READ), .max_flows = 1 }, 8);
	check(t.executions == 4 && t.failed[0] == 1 && t.other == 2, NULL,
	      "each amount of a flow is an execution");
	t = all(PROGRAM(.code = { TASK({ .op = W_CALL,
					 .zop = ZUG_OP_WRITE,
					 .faults = BIT(FAULT_ENOSPC),
					 .answer = WORLD_FAULT_MISSED },
				       STORE(0, 0, 0)) }),
		&(struct engine_options){ .faults = BIT(FAULT_ENOSPC), .max_faults = 1 }, -ENOSPC);
	check(t.executions == 2 && t.none == 2, NULL, "a fault that is missed changes nothing");
}

/* The fault that happened first. */
static const struct trace_step *faulty(const struct run *r)
{
	for (uint64_t i = 0; i < r->x.steps; i++)
		if (zug_op_is_fault(trace_step(r->t, i)->label.op))
			return trace_step(r->t, i);
	return NULL;
}

/* An execution in which something like that happens, or NULL. */
static struct run *one_with(const struct mw_program *p, const struct engine_options *o,
			    unsigned int op)
{
	for (uint64_t seed = 1; seed < 200; seed++) {
		struct run *r =
			run(p, &(struct how){ .strategy = "random", .seed = seed, .o = *o });

		if (faulty(r) && faulty(r)->label.op == op)
			return r;
		run_free(r);
	}
	return NULL;
}

static void traced(void)
{
	static const struct {
		enum fault fault;
		uint16_t op;
		int64_t value;
	} kinds[] = {
		{ FAULT_ENOSPC, ZUG_OP_FAIL_ENOSPC, -ENOSPC },
		{ FAULT_EINTR, ZUG_OP_FAIL_EINTR, -EINTR },
		{ FAULT_ENOMEM, ZUG_OP_FAIL_ENOMEM, -ENOMEM },
		{ FAULT_REFUSED, ZUG_OP_FAIL_REFUSED, -ECONNREFUSED },
		{ FLOW_LOSS, ZUG_OP_LOST, -1 },
		{ FLOW_REORDER, ZUG_OP_REORDERED, -1 },
		{ FLOW_SHORT_READ, ZUG_OP_SHORT_READ, 7 },
		{ FLOW_SHORT_WRITE, ZUG_OP_SHORT_WRITE, 7 },
		{ FLOW_STDIN, ZUG_OP_SHORT_READ, 7 },
		{ FLOW_DELAY, ZUG_OP_DELAYED, 7 },
	};
	char what[128], name[64];

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const uint32_t amount = kinds[i].value == 7 ? 7 : 0;
		const struct mw_program p = { .code = { TASK({ .op = W_CALL, .zop = ZUG_OP_WRITE, .faults = BIT(kinds[i].fault),
							      .amounts = { amount } }, STORE(0, 0, 0), LOCAL) } };
		const struct engine_options o = { .faults = BIT(kinds[i].fault), .max_faults = 1, .max_flows = 1 };
		struct run *r = one_with(&p, &o, kinds[i].op), *again = r ? run(&p, &(struct how){ .replay = r->t, .o = o }) : NULL;

		run_options_fault(kinds[i].fault, name, sizeof(name));
		snprintf(what, sizeof(what), "%s is the operation of its step", name);
		check(r && r->vars[0] == kinds[i].value && fault_amount(faulty(r)->label.object2) == amount &&
		      faulty(r)->label.flags & zug_op_flags(kinds[i].op), r, what);
		snprintf(what, sizeof(what), "%s is replayed", name);
		check(again && !again->x.diverged && again->vars[0] == kinds[i].value && again->x.hash == r->x.hash, again, what);
		if (again)
			run_free(again);
		if (r)
			run_free(r);
	}
}

static void killed(void)
{
	const struct mw_program p = {
		.code = { TASK(FORK(1), LOCAL, JOIN(1), READ(0, 0), ASSERT(0, 1)),
			  TASK(LOCAL, CALL(ZUG_OP_WRITE, BIT(FAULT_KILL)), WRITE(0, 1)) }
	};
	const struct engine_options o = { .faults = BIT(FAULT_KILL), .max_faults = 1 };
	struct run *r = one_with(&p, &o, ZUG_OP_KILLED), *again;

	check(r && is_outcome(r, ZUG_OUTCOME_ABORT, NULL) && r->vars[0] == 0, r,
	      "a process is killed before its call");
	check(r && !strcmp(ops_of(r->t, 1), "begin begin killed") && r->grants + 1 == r->x.steps, r,
	      "a process that is killed gets no turn");
	again = run(&p, &(struct how){ .replay = r->t, .o = o });
	check(!again->x.diverged && again->x.outcome.failure == r->x.outcome.failure, again,
	      "a replay kills the process at the same call");
	run_free(again);
	run_free(r);
}

static bool broken(const struct run *r)
{
	return r->x.outcome.kind == ZUG_OUTCOME_ENVIRONMENT;
}

static void refused(void)
{
	const struct engine_options o = { .faults = BIT(FAULT_ENOSPC), .max_faults = 1 };
	const struct mw_program p = { .code = { TASK({ .op = W_CALL,
						       .zop = ZUG_OP_WRITE,
						       .faults = BIT(FAULT_ENOSPC),
						       .answer = -EPERM }) } };
	struct run *r = find(&p, &(struct how){ .strategy = "dfs", .o = o }, broken);

	check(is_outcome(r, ZUG_OUTCOME_ENVIRONMENT, "T0") && strstr(r->x.outcome.message, "Operation not permitted") &&
	      strstr(r->x.outcome.message, "a debugger, or the test itself, may trace it"),
	      r, "a fault that cannot be made is the environment's");
	run_free(r);
}

/* What is recorded happens again; what is not does not. */
static void replayed(void)
{
	const struct mw_program p = { THREE_CALLS(BIT(FAULT_ENOSPC)) };
	const struct engine_options o = { .faults = BIT(FAULT_ENOSPC), .max_faults = 3 };
	uint32_t good = 0, nr = 0, with = 0;

	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct run *r =
			run(&p, &(struct how){ .strategy = "random", .seed = seed, .o = o });
		struct run *again =
			run(&p, &(struct how){ .replay = r->t, .o = o, .seed = seed + 9 });

		nr++;
		with += !!faulty(r);
		good += !again->x.diverged && !memcmp(r->vars, again->vars, sizeof(r->vars));
		run_free(again);
		run_free(r);
	}
	check(good == nr && with > 10, NULL, "the same calls fail in a replay, and no others");
	{
		const struct mw_program now = { THREE_CALLS(0) };
		struct run *r = one_with(&p, &o, ZUG_OP_FAIL_ENOSPC),
			   *again = run(&now, &(struct how){ .replay = r->t, .o = o });

		check(!again->x.diverged && !again->vars[0] && !again->vars[1] && !again->vars[2],
		      again, "a replay makes a call as it is when it cannot fail any more");
		run_free(again);
		run_free(r);
	}
	{
		const struct mw_program cut = { .code = { TASK({ .op = W_CALL,
								 .zop = ZUG_OP_READ,
								 .faults = BIT(FLOW_SHORT_READ),
								 .amounts = { 15 } },
							       STORE(0, 0, 0)) } };
		const struct mw_program less = { .code = { TASK({ .op = W_CALL,
								  .zop = ZUG_OP_READ,
								  .faults = BIT(FLOW_SHORT_READ),
								  .amounts = { 1, 4 } },
								STORE(0, 0, 0)) } };
		const struct engine_options flows = { .faults = BIT(FLOW_SHORT_READ),
						      .max_flows = 1 };
		struct run *r = one_with(&cut, &flows, ZUG_OP_SHORT_READ),
			   *again = run(&less, &(struct how){ .replay = r->t, .o = flows });

		check(r->vars[0] == 15 && again->vars[0] == 4, again,
		      "a replay of a short read reads less when there is less than was recorded");
		run_free(again);
		run_free(r);
	}
}

/* ---- by a script ---- */

static bool is_on(void *ctx, uint64_t object, const char *pattern)
{
	char name[16];

	(void)ctx;
	snprintf(name, sizeof(name), "p%u", (unsigned int)(object & UINT32_MAX) - 1);
	return object >> 32 == MW_PIPES && !strcmp(name, pattern);
}

/* An execution under a script; *line: what came of its only statement. */
static struct run *scripted(const struct mw_program *p, const struct engine_options *o,
			    const char *script, struct search_script_line *line)
{
	const struct search_names names = { .on = is_on };
	const struct search_options so = {
		.rules = script, .script = "script", .names = &names, .fair = 1, .preemptions = -1
	};
	char err[256];
	struct how how = { .o = *o, .search = search_new(&so, err, sizeof(err)) };
	struct run *r;

	if (!how.search) {
		fprintf(stderr, "%s: %s\n", script, err);
		abort();
	}
	r = run(p, &how);
	search_script_line(how.search, 0, line);
	search_free(how.search);
	return r;
}

static void scripts(void)
{
	const struct mw_program p = { THREE_CALLS(BIT(FAULT_ENOSPC)) };
	const struct mw_program cannot = { THREE_CALLS(0) };
	const struct engine_options o = { .faults = BIT(FAULT_ENOSPC), .max_faults = 3 };
	const struct mw_program timer = {
		.code = { TASK({ .op = W_TIMER, .a = 0, .imm = 3600 * SECOND }, CREATE(1), PUT(0),
			       PUT(0), JOIN(1)),
			  TASK(SEM_WAIT(0)) }
	};
	struct search_script_line line;
	struct run *r = scripted(&p, &o, "let T0 at write on p0 nth 2 get fail-enospc", &line);

	check(!r->vars[0] && r->vars[1] == -ENOSPC && !r->vars[2] &&
		      line.state == SEARCH_SCRIPT_MADE,
	      r, "a script makes the call fail that it names");
	run_free(r);
	r = scripted(&cannot, &o, "let T0 at write on p0 nth 2 get fail-enospc", &line);
	check(!r->vars[1] && line.state == SEARCH_SCRIPT_UNABLE, r,
	      "a script says that the call cannot fail");
	run_free(r);
	r = scripted(&timer, &(struct engine_options){ .explore_timeouts = true },
		     "let T0 at write on p0 nth 2 get timer", &line);
	check(line.state == SEARCH_SCRIPT_MADE && strstr(schedule_of(r->t), "0 0 0 0"), r,
	      "a script lets a timer fire");
	check(faults_decided(trace_step(r->t, 4)) && !faults_decided(trace_step(r->t, 3)), r,
	      "the step before which it fires says so");
	run_free(r);
}

/* ---- by a plan ---- */

struct plan {
	const struct trace *t;
	uint64_t without;
	bool gone;
};

static void make_plan(struct engine *e, struct model_world *m, void *ctx)
{
	const struct plan *p = ctx;

	(void)m;
	if (faults_make_plan(engine_faults(e), p->t, p->without, p->gone))
		abort();
}

static bool last_two(const struct run *r)
{
	return !r->vars[0] && r->vars[1] && r->vars[2];
}

static void planned(void)
{
	const struct mw_program p = { THREE_CALLS(BIT(FAULT_ENOSPC)) };
	const struct engine_options o = { .faults = BIT(FAULT_ENOSPC), .max_faults = 3 };
	struct plan plan = { .without = UINT64_MAX };
	struct run *r, *again;
	uint64_t first;

	r = find(&p, &(struct how){ .strategy = "dfs", .o = o }, last_two);
	first = faulty(r)->step;
	plan.t = r->t;
	again = run(&p, &(struct how){ .o = o, .prepare = make_plan, .ctx = &plan });
	check(!again->vars[0] && again->vars[1] && again->vars[2], again,
	      "the faults of a plan happen under any schedule");
	run_free(again);
	plan.without = first;
	again = run(&p, &(struct how){ .o = o, .prepare = make_plan, .ctx = &plan });
	check(!again->vars[0] && !again->vars[1] && again->vars[2], again,
	      "a plan leaves out the fault that it is told to");
	run_free(again);
	plan.t = NULL;
	again = run(&p, &(struct how){
				.o = o, .strategy = "random", .prepare = make_plan, .ctx = &plan });
	check(!again->vars[0] && !again->vars[1] && !again->vars[2], again,
	      "an empty plan lets none happen");
	run_free(again);
	run_free(r);
}

static bool in_both_rounds(const struct run *r)
{
	uint64_t at[2], nr = 0;

	for (uint64_t i = 0; i < r->x.steps && nr < 2; i++)
		if (zug_op_is_fault(trace_step(r->t, i)->label.op))
			at[nr++] = i;
	return nr == 2 && at[1] > at[0] + 3;
}

/* A call that is repeated after it has failed: without it all that follows is one step nearer. */
static void repeated(void)
{
	const struct mw_program p = {
		.code = { TASK({ .op = W_SET, .b = 1, .imm = 0 },
			       CALL(ZUG_OP_WRITE, BIT(FAULT_EINTR)), STORE(0, 0, 0),
			       JUMP_NE(0, 0, 1), /* again until it works */
			       READ(3, 1), STORE(3, 1, 1), READ(3, 1), JUMP_NE(1, 2, 1)) }
	}; /* twice */
	const struct engine_options o = { .faults = BIT(FAULT_EINTR), .max_faults = 2 };
	struct plan plan = { .without = UINT64_MAX };
	struct run *r, *again;
	uint64_t faults[2], nr = 0, left = 0;

	r = find(&p, &(struct how){ .strategy = "dfs", .o = o }, in_both_rounds);
	for (uint64_t i = 0; r && i < r->x.steps; i++)
		if (zug_op_is_fault(trace_step(r->t, i)->label.op))
			faults[nr++] = i;
	check(r != NULL, r, "a call that fails is repeated, in two rounds");
	if (!r)
		return;
	plan.t = r->t;
	plan.without = faults[0];
	for (int gone = 0; gone < 2; gone++) {
		plan.gone = gone;
		again = run(&p, &(struct how){ .o = o, .prepare = make_plan, .ctx = &plan });
		left = 0;
		for (uint64_t i = 0; i < again->x.steps; i++)
			left += zug_op_is_fault(trace_step(again->t, i)->label.op);
		if (gone)
			check(left == 1 && again->x.steps == r->x.steps - 2, again,
			      "a plan without a repeated call finds the later one by its new ordinal");
		else
			check(left == 0, again,
			      "a plan that counts the repeated call does not find the later one");
		run_free(again);
	}
	run_free(r);
}

/* ---- values that a test asks for ---- */

/* Two tasks ask: variables 0 and 1 are what they got; and one that runs after both asks again. */
#define ASKS(variable)	TASK({ .op = W_CHOICE, .imm = 3 }, STORE(variable, 0, 0))

static bool is_wanted(const struct run *r)
{
	return r->vars[0] == 2 && r->vars[1] == 1;
}

static void give_values(struct engine *e, struct model_world *m, void *ctx)
{
	(void)m;
	if (engine_give_values(e, ctx))
		abort();
}

static void values(void)
{
	const struct mw_program p = { .nr_started = 2, .code = { ASKS(0), ASKS(1) } };
	const struct engine_options o = { 0 };
	struct search_script_line line;
	struct run *r, *again;
	uint32_t nr = 0, seen = 0;
	struct session n;

	session_begin(&n, &p, &(struct how){ .strategy = "dpor", .no_trace = true });
	while (nr < 100 && (r = session_run(&n))) {
		nr++;
		seen |= 1u << (3 * r->vars[0] + r->vars[1]);
		run_free(r);
	}
	session_end(&n);
	check(nr == 9 && seen == 0x1ff, NULL, "dpor tries each combination of values once");
	r = find(&p, &(struct how){ .strategy = "random" }, is_wanted);
	again = run(&p, &(struct how){ .replay = r->t });
	check(is_wanted(again) && !again->x.diverged, again, "a replay gives the recorded values");
	run_free(again);
	again = run(&p, &(struct how){ .strategy = "random", .prepare = give_values, .ctx = r->t });
	check(is_wanted(again), again, "values that are given come under another schedule");
	run_free(again);
	run_free(r);
	r = scripted(&p, &o, "let T1 at choice get value 2", &line);
	check(r->vars[0] + r->vars[1] == 2 && line.state == SEARCH_SCRIPT_MADE, r, "a script says a value, and the rest is 0");
	run_free(r);
	r = scripted(&p, &o, "let T1 at choice get value 3", &line);
	check(!r->vars[0] && !r->vars[1] && line.state == SEARCH_SCRIPT_UNABLE, r, "a value that cannot be");
	run_free(r);
}

#define NUMBERS(variable)	TASK({ .op = W_CHOICE, .a = 1, .imm = 100 }, STORE(variable, 0, 0))

static void leave_numbers(struct engine *e, struct model_world *m, void *ctx)
{
	(void)m;
	(void)ctx;
	engine_leave_numbers(e, true);
}

static void numbers(void)
{
	const struct mw_program p = { .nr_started = 2, .code = { NUMBERS(0), NUMBERS(1) } };
	struct run *r, *again;
	struct session n;
	uint32_t nr = 0;

	session_begin(&n, &p, &(struct how){ .strategy = "dpor", .no_trace = true });
	while (nr < 10 && (r = session_run(&n))) {
		nr += !r->vars[0] && !r->vars[1] ? 1 : 10;
		run_free(r);
	}
	session_end(&n);
	check(nr == 1, NULL, "dpor leaves random numbers of the program alone");
	session_begin(&n, &p, &(struct how){ .strategy = "random" });
	r = session_run(&n);
	check(r && !r->vars[0] && !r->vars[1], r, "and so does the first execution");
	run_free(r);
	r = session_run(&n);
	check(r && r->vars[0] && r->vars[1] && r->vars[0] != r->vars[1], r, "the second one has others");
	again = run(&p, &(struct how){ .replay = r->t });
	check(again->vars[0] == r->vars[0] && again->vars[1] == r->vars[1] && !again->x.diverged, again, "which a replay has, too");
	run_free(again);
	again = run(&p, &(struct how){ .replay = r->t, .prepare = leave_numbers });
	check(!again->vars[0] && !again->vars[1] && !again->x.diverged, again, "unless it is to leave them alone");
	run_free(again);
	run_free(r);
	session_end(&n);
}

int main(void)
{
	searched();
	traced();
	killed();
	refused();
	replayed();
	scripts();
	planned();
	repeated();
	values();
	numbers();
	return tap_done();
}
