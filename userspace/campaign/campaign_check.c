/* SPDX-License-Identifier: GPL-2.0-only */
/* zug check: one schedule is executed many times. Does everything repeat, and if not, where does it begin to differ? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "campaign/campaign_check.h"
#include "campaign/campaign_internal.h"
#include "cli/exit_codes.h"

/* Executions that are ended at the step that differs, to see the stacks there. */
#define STACK_TRIES 10

static bool same_label(const struct zug_label *a, const struct zug_label *b)
{
	return a->op == b->op && a->object == b->object && a->object2 == b->object2 &&
	       (a->site == b->site || a->op == ZUG_OP_SPIN);
}

static bool same_step(const struct trace_step *a, const struct trace_step *b)
{
	return a && b && a->task == b->task && same_label(&a->label, &b->label);
}

static bool same_text(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

static enum check_difference compare(const struct replay *a, const struct replay *b, uint64_t *at)
{
	const struct trace_outcome *x = trace_outcome(a->trace), *y = trace_outcome(b->trace);

	for (*at = 0; *at < a->nr && *at < b->nr; ++*at)
		if (!same_step(replay_step(a, *at), replay_step(b, *at)))
			return CHECK_STEPS;
	if (a->nr != b->nr)
		return CHECK_STEPS;
	if (!x || !y || x->kind != y->kind || x->code != y->code || x->failure != y->failure)
		return CHECK_OUTCOME;
	if (!same_text(x->out_head, y->out_head) || !same_text(x->out_tail, y->out_tail) ||
	    !same_text(x->err_head, y->err_head) || !same_text(x->err_tail, y->err_tail))
		return CHECK_OUTPUT;
	return CHECK_SAME;
}

static struct trace *last_trace(struct campaign *c)
{
	char err[512];
	struct trace *t = trace_open(c->current, err, sizeof(err));

	if (!t)
		fprintf(c->err, "zug check: %s: %s\n", c->current, err);
	return t;
}

static int follow(struct campaign *c, const struct replay *r, struct execution *x)
{
	char err[1024];

	if (search_replay(c->search, r->tasks, r->nr) || search_begin(c->search) != SEARCH_GO)
		return ZUG_EXIT_INTERNAL;
	if (campaign_execute(c, r, x, err, sizeof(err))) {
		fprintf(c->err, "zug check: %s\n", err);
		return ZUG_EXIT_ENVIRONMENT;
	}
	search_end(c->search, &(struct search_end){ .result = SEARCH_ABANDONED });
	return 0;
}

struct stop_at {
	uint64_t step;
};

static bool reached(void *ctx, const struct search_point *p, uint32_t i, struct outcome *o)
{
	if (p->step != ((struct stop_at *)ctx)->step)
		return false;
	outcome_set(o, ZUG_OUTCOME_TIMEOUT, "what was to be seen has been seen");
	return true;
}

/* Executes up to the step that differs until both sides of it were seen, with their stacks. */
static int see_stacks(struct campaign *c, const struct replay *r, struct check_result *res)
{
	struct stop_at stop = { res->at };
	const struct trace_step *want = replay_step(r, res->at), *got;
	struct execution x;
	struct replay now;
	struct trace *t;
	int ret = 0;

	engine_watch_steps(c->engine, reached, &stop);
	for (int i = 0; i < STACK_TRIES && !ret && !(res->at_first && res->at_other); i++) {
		if (c->stop && *c->stop)
			break;
		ret = follow(c, r, &x);
		t = ret ? NULL : last_trace(c);
		if (!t || replay_init(&now, t)) {
			trace_free(t);
			break;
		}
		got = replay_step(&now, res->at);
		replay_release(&now);
		if (got && same_step(want, got) && !res->at_first)
			res->at_first = t;
		else if (got && !same_step(want, got) && !res->at_other)
			res->at_other = t;
		else
			trace_free(t);
	}
	engine_watch_steps(c->engine, campaign_on_step, c);
	return ret;
}

/* The schedule: the first that the search makes, once what the test maps is known. */
static int record(struct campaign *c)
{
	enum campaign_step what = CAMPAIGN_PRIMED;
	struct execution x;
	char err[1024] = "";
	int ret;

	while (what == CAMPAIGN_PRIMED) {
		if (c->stop && *c->stop)
			return ZUG_EXIT_INCOMPLETE;
		ret = campaign_step(c, &x, &what, err, sizeof(err));
		if (ret) {
			if (err[0])
				fprintf(c->err, "zug: %s\n", err);
			return ret;
		}
	}
	if (what != CAMPAIGN_EXECUTED || x.outcome.kind == ZUG_OUTCOME_INTERRUPTED)
		return ZUG_EXIT_INCOMPLETE;
	return 0;
}

static bool keep(struct campaign *c, char **path)
{
	char err[600] = "cannot create a trace in the folder for traces";

	*path = campaign_trace_name(c, "");
	if (*path && !campaign_keep_trace(c, *path, err, sizeof(err)))
		return true;
	fprintf(c->err, "zug check: %s\n", err);
	return false;
}

int campaign_check(struct campaign *c, int times, struct check_result *res)
{
	struct replay first = { 0 }, now;
	struct execution x;
	int ret;

	memset(res, 0, sizeof(*res));
	res->since = time(NULL);
	c->keep_passes = true;
	c->one_by_one = true;
	ret = record(c);
	if (ret)
		return ret;
	res->first = last_trace(c);
	if (!res->first || !keep(c, &res->path_first) || replay_init(&first, res->first)) {
		ret = ZUG_EXIT_ENVIRONMENT;
		goto out;
	}
	c->aside = true;
	res->steps = first.nr;
	for (res->done = 1; res->done < times && res->what == CHECK_SAME;) {
		if (c->stop && *c->stop) {
			ret = ZUG_EXIT_INCOMPLETE;
			goto out;
		}
		ret = follow(c, &first, &x);
		if (ret)
			goto out;
		if (x.outcome.kind == ZUG_OUTCOME_INTERRUPTED)
			continue;
		res->done++;
		res->other = last_trace(c);
		if (!res->other || replay_init(&now, res->other)) {
			ret = ZUG_EXIT_INTERNAL;
			goto out;
		}
		res->what = compare(&first, &now, &res->at);
		replay_release(&now);
		if (res->what == CHECK_SAME && x.diverged) {
			/* it came to the same, but not by the decisions that were made */
			res->what = CHECK_STEPS;
			res->at = x.diverged_at;
		}
		if (res->what == CHECK_SAME) {
			trace_free(res->other);
			res->other = NULL;
		}
	}
	if (res->what != CHECK_SAME && !keep(c, &res->path_other))
		ret = ZUG_EXIT_ENVIRONMENT;
	if (res->what == CHECK_STEPS && !ret)
		ret = see_stacks(c, &first, res);
	if (res->what == CHECK_SAME)
		unlink(res->path_first);
out:
	replay_release(&first);
	return ret;
}

/* Of a first execution that took longer nobody wants another one. */
#define WARN_WALL_NS 2000000000ull

int campaign_warn(struct campaign *c, const struct execution *x)
{
	enum check_difference what = CHECK_SAME;
	struct replay first = { 0 }, now = { 0 };
	struct trace *t = NULL, *other = NULL;
	struct execution again;
	uint64_t at = 0;
	int ret = 0;

	if (x->outcome.kind != ZUG_OUTCOME_PASS || x->diverged || x->wall_ns > WARN_WALL_NS)
		return 0;
	t = last_trace(c);
	if (!t || replay_init(&first, t))
		goto out;
	c->aside = true;
	ret = follow(c, &first, &again);
	c->aside = false;
	if (ret || again.outcome.kind == ZUG_OUTCOME_INTERRUPTED)
		goto out;
	other = last_trace(c);
	if (other && !replay_init(&now, other))
		what = compare(&first, &now, &at);
	if (what == CHECK_STEPS || what == CHECK_OUTCOME || again.diverged)
		fprintf(c->err, "zug: the first execution did not repeat (step %lu of %lu): the test depends on something "
			"that is not controlled; zug check, in the place of zug run, says on what\n",
			(unsigned long)(again.diverged ? again.diverged_at : at), (unsigned long)first.nr);
out:
	replay_release(&first);
	replay_release(&now);
	trace_free(t);
	trace_free(other);
	return ret;
}

void check_result_release(struct check_result *r)
{
	trace_free(r->first);
	trace_free(r->other);
	trace_free(r->at_first);
	trace_free(r->at_other);
	free(r->path_first);
	free(r->path_other);
	memset(r, 0, sizeof(*r));
}
