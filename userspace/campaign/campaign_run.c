/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The loop of zug run: one execution after another, until a finding, a bound or the end of the
 * search.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/clock.h"
#include "campaign/campaign_internal.h"
#include "campaign/campaign_lanes.h"
#include "campaign/repeat.h"
#include "report/plan.h"
#include "search/parts.h"

#define KEEP_STATE_NS 1000000000ull	/* so that a crash of ours loses little */

static int keep_state(struct campaign *c, bool now, char *err, size_t errlen)
{
	const char *path = c->s.o.search.resume;
	int ret;

	if (!path || (!now && clock_now_ns() - c->saved_ns < KEEP_STATE_NS))
		return 0;
	c->saved_ns = clock_now_ns();
	ret = campaign_save_state(c);
	if (!ret)
		return 0;
	snprintf(err, errlen, "--resume %s: cannot write the state of the search: %s", path,
		 strerror(-ret));
	return -EIO;
}

/* The bound that has been reached, or the interruption; NULL: none. */
static const char *bound_reached(struct campaign *c)
{
	c->cut = session_interrupted(&c->s);
	if (c->cut)
		return "interrupted";
	if (!campaign_left(c))
		return "the number of executions (--executions)";
	if (session_late(&c->s, 0))
		return c->severed ? "the time (--time), in the middle of an execution" : "the time (--time)";
	return NULL;
}

/* 0, or -errno with a line in err; *end: the search is over with this finding. */
static int take_finding(struct campaign *c, const struct execution *x, bool *end, char *err,
			size_t errlen)
{
	struct campaign_finding counted = { .stage = FINDING_COUNTED };
	bool known = c->s.o.results.keep_going && failures_find(&c->failures, x->outcome.failure);
	bool once;
	int ret;

	/* what is done with a failure may take probes out */
	if (!known)
		campaign_lanes_stop(c);
	ret = campaign_on_finding(c, x, &once, err, errlen);

	if (once) {
		const struct campaign_failure *f = failures_find(&c->once, x->outcome.failure);

		if (!ret && f->times == 1) {
			campaign_record_once(c, x);
			campaign_parts_finding(c, f, true);
		}
		return ret;
	}
	if (!ret && !known)
		campaign_parts_finding(c, failures_find(&c->failures, x->outcome.failure), false);
	campaign_record_finding(c, x);
	if (c->s.observer->finding)
		c->s.observer->finding(c->s.observer->ctx, c, &counted);
	if (!ret && !known)
		ret = keep_state(c, true, err, errlen);
	*end = !c->s.o.results.keep_going;
	return ret;
}

/* The bound of steps follows from an execution that has passed. */
static int bound_steps(struct campaign *c, const struct execution *x, char *err, size_t errlen)
{
	step_bound_passed(&c->s.steps, x->steps);
	return session_bound_steps(&c->s) ? c->s.update_options(c->s.judge_ctx, err, errlen) : 0;
}

/*
 * One execution and what follows from it. 0, or -errno with a line in err; *end: the search is
 * over.
 */
static int run_once(struct campaign *c, bool *end, char *err, size_t errlen)
{
	enum campaign_step what;
	struct execution x;
	int ret;

	*end = false;
	c->s.keep_passes = !c->searched || session_template_on_trial(&c->s);
	ret = campaign_step(c, &x, &what, err, errlen);
	c->s.keep_passes = false;
	if (ret)
		return ret;
	if (what == CAMPAIGN_EXHAUSTED) {
		c->exhausted = *end = true;
		return 0;
	}
	if (what == CAMPAIGN_SHARED) {
		*end = true;
		/* with all parts it is the whole */
		c->exhausted = c->s.o.search.alone && c->parts.owner;
		return 0;
	}
	if (what == CAMPAIGN_WAITED)
		return 0;
	if (x.outcome.kind == ZUG_OUTCOME_PASS)
		ret = bound_steps(c, &x, err, errlen);
	if (ret)
		return ret;
	campaign_record_execution(c, &x);
	c->severed = x.outcome.kind == ZUG_OUTCOME_INTERRUPTED;
	c->whole += !c->severed;
	c->passed += what == CAMPAIGN_EXECUTED && x.outcome.kind == ZUG_OUTCOME_PASS;
	if (what == CAMPAIGN_EXECUTED && !c->searched++ && !c->severed)
		ret = repeat_first(c, &x, err, errlen);
	else if (what == CAMPAIGN_EXECUTED && !c->severed && session_template_on_trial(&c->s) &&
		 kworld_used_template(c->s.world))
		ret = repeat_by_exec(c, &x, err, errlen);
	if (ret)
		return ret;
	if (c->s.observer->executed)
		c->s.observer->executed(c->s.observer->ctx, c, &x);
	if (x.ungranted) {
		snprintf(
			err, errlen,
			"execution %lu: %lu runs without a grant; its result cannot be trusted; please report "
			"this (trace: %s)",
			(unsigned long)c->s.figures.executions, (unsigned long)x.ungranted,
			c->s.paths.current);
		return -ENOTRECOVERABLE;
	}
	/* with a script, what fails while points are looked for has not followed it */
	if (zug_outcome_is_finding(x.outcome.kind) && !(c->s.o.search.script && what == CAMPAIGN_PRIMED))
		ret = take_finding(c, &x, end, err, errlen);
	if (!ret)
		ret = campaign_parts_executed(c, &x, err, errlen);
	return ret || *end ? ret : keep_state(c, false, err, errlen);
}

static void say_limits(struct campaign *c)
{
	int max_tasks = c->s.o.machine.max_tasks;

	if (sandbox_limit_hits(c->s.sandbox))
		session_say(&c->s, "the test met its limit of tasks (--max-tasks %d): forks failed",
			    max_tasks ? max_tasks : SANDBOX_MAX_TASKS);
	if (sandbox_refused(c->s.sandbox))
		session_say(&c->s,
			    "zug has no room for the states of more tasks (%d of all tests on this machine): forks failed",
			    ZUG_MAX_TASKS);
	if (sandbox_memory_kills(c->s.sandbox))
		session_say(&c->s, "the test met its limit of memory (--memory-max, or zugd --user-memory): the kernel killed processes of it");
	if (sandbox_was_left(c->s.sandbox))
		session_say(&c->s, "processes of the test moved to another cgroup: zug ended them, too, but limits of "
			    "tasks and memory did not hold for them");
}

static void say_thrown(struct campaign *c)
{
	if (!c->s.o.machine.sandbox && sandbox_thrown(c->s.sandbox))
		session_say(
			&c->s,
			"what the test changed in its working folder (%s) is gone: each execution has a "
			"copy (--share PATH keeps a file or folder)",
			sandbox_thrown(c->s.sandbox));
}

static int end_of(const struct campaign *c)
{
	struct script_result script = { 0 };

	if (c->s.o.search.script)
		campaign_script_result(c, &script);
	/* a failure without any statement of the script is not the one that the script is about */
	if (c->failures.nr)
		return script.nr && script.gone == script.nr ? CAMPAIGN_MISFIT : CAMPAIGN_FAILED;
	if (c->s.o.search.script && !c->cut && !c->once.nr) {
		if (!c->passed)
			return CAMPAIGN_INCOMPLETE;
		if (!script.fits)
			return CAMPAIGN_MISFIT;
	}
	if (c->made_before)
		return c->once.nr ? CAMPAIGN_INCOMPLETE : CAMPAIGN_PASSED;
	return c->cut || !c->whole || c->diverged || c->once.nr ? CAMPAIGN_INCOMPLETE : CAMPAIGN_PASSED;
}

int campaign_run(struct campaign *c, char *err, size_t errlen)
{
	const char *why;
	bool end;
	int ret;

	err[0] = 0;
	if (c->made_before) {
		session_say(&c->s, "%s was complete: nothing is left to do", c->parts.dir);
		return end_of(c);
	}
	c->s.cuts = true;
	while (!(why = bound_reached(c))) {
		ret = run_once(c, &end, err, errlen);
		if (ret)
			return ret;
		if (end && !c->exhausted && !c->parts.over) {
			say_limits(c);
			ret = campaign_parts_end(c, "a finding", true, err, errlen);
			return ret ? ret : end_of(c);
		}
		if (end)
			break;
	}
	say_limits(c);
	say_thrown(c);
	if (c->exhausted)
		why = campaign_tried(c);
	else if (c->parts.over)
		why = c->s.o.search.shards ? "its share is made" : "the tree is divided";
	ret = campaign_parts_end(c, why, c->exhausted || c->parts.over || !campaign_left(c), err, errlen);
	if (ret)
		return ret;
	campaign_record_end(c, why);
	c->stopped = why;
	ret = keep_state(c, true, err, errlen);
	return ret ? ret : end_of(c);
}

static void measure(const struct search *s, struct campaign_plan *p)
{
	p->subtrees = search_parts(s);
	p->bounds = search_max_bound(s);
	for (uint64_t i = 0; i < p->subtrees; i++) {
		double size = search_subtree(s, i).size;

		p->total += size;
		p->largest = size > p->largest ? size : p->largest;
		p->smallest = !i || size < p->smallest ? size : p->smallest;
	}
}

int campaign_plan(struct campaign *c, struct campaign_plan *p, char *err, size_t errlen)
{
	const char *path = c->s.o.search.plan;
	int ret = campaign_run(c, err, errlen);

	*p = (struct campaign_plan){ .measured = c->searched };
	if (ret)
		return ret;
	if (!c->parts.over)
		return CAMPAIGN_INCOMPLETE;
	measure(c->s.search, p);
	ret = plan_write(path, c->s.search, c->s.o.command.argv[0]);
	if (ret)
		snprintf(err, errlen, "--plan %s: %s", path, strerror(-ret));
	return ret ? -EIO : 0;
}
