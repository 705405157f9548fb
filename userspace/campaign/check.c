/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * zug check: executes one schedule many times, and says whether everything repeats; if not, where
 * it begins to differ. The schedule is the first of the search. What makes the difference is looked
 * for in cli/check_causes.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "lib/base/new_file.h"
#include "campaign/campaign_internal.h"
#include "campaign/check.h"

/* Executions that are ended at the step that differs, to see the stacks there. */
#define STACK_TRIES 10

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
static int see_stacks(struct campaign *c, const struct replay *r, struct check_result *res,
		      char *err, size_t errlen)
{
	struct stop_at stop = { res->at };
	const struct trace_step *want = replay_step(r, res->at), *got;
	struct execution x;
	struct replay now;
	struct trace *t;
	int ret = 0;

	engine_watch_steps(c->s.engine, reached, NULL, &stop);
	for (int i = 0; i < STACK_TRIES && !ret && !(res->at_first && res->at_other); i++) {
		if (session_interrupted(&c->s))
			break;
		ret = session_follow(&c->s, r, &x, err, errlen);
		t = ret ? NULL : trace_open(c->s.paths.current, err, errlen);
		if (!t || replay_init(&now, t)) {
			trace_free(t);
			break;
		}
		got = replay_step(&now, res->at);
		replay_release(&now);
		if (got && repeat_same_step(want, got) && !res->at_first)
			res->at_first = t;
		else if (got && !repeat_same_step(want, got) && !res->at_other)
			res->at_other = t;
		else
			trace_free(t);
	}
	points_watch_steps(c->points);
	return ret;
}

/*
 * Makes the schedule: the first whole one of the search, once its points are found. 0, CAMPAIGN_INCOMPLETE,
 * or -errno.
 */
static int record(struct campaign *c, struct check_result *res, char *err, size_t errlen)
{
	enum campaign_step what = CAMPAIGN_PRIMED;
	struct execution x = { 0 };
	int ret;

	while (what == CAMPAIGN_PRIMED || (what == CAMPAIGN_EXECUTED && x.cut)) {
		if (session_interrupted(&c->s))
			return CAMPAIGN_INCOMPLETE;
		ret = campaign_step(c, &x, &what, err, errlen);
		if (ret)
			return ret;
		if (x.outcome.kind == ZUG_OUTCOME_INTERRUPTED)
			continue;
		res->primed++;
		res->primed_steps = x.steps;
		res->primed_ns = x.wall_ns;
		session_say_trying(&c->s, "making the schedule: %lu steps in %.1f s", (unsigned long)x.steps, x.wall_ns / 1e9);
	}
	return what != CAMPAIGN_EXECUTED || x.outcome.kind == ZUG_OUTCOME_INTERRUPTED ?
		       CAMPAIGN_INCOMPLETE :
		       0;
}

static int keep(struct campaign *c, char **path, char *err, size_t errlen)
{
	*path = session_trace_name(&c->s, "", err, errlen);
	return *path && !session_keep_trace(&c->s, *path, err, errlen) ? 0 : -EIO;
}

/* One more execution. 0 when it was interrupted, too: it does not count. */
static int compare_once(struct campaign *c, const struct replay *first, int times, struct check_result *res,
			char *err, size_t errlen)
{
	struct replay now;
	struct execution x;
	int ret = session_follow(&c->s, first, &x, err, errlen);

	if (ret || x.outcome.kind == ZUG_OUTCOME_INTERRUPTED)
		return ret;
	res->done++;
	res->other = trace_open(c->s.paths.current, err, errlen);
	if (!res->other || replay_init(&now, res->other))
		return -ENOTRECOVERABLE;
	res->what = repeat_compare(first, &now, &res->at);
	replay_release(&now);
	if (res->what == CHECK_SAME && x.diverged) {
		/* it came to the same, but not by the decisions that were made */
		res->what = CHECK_STEPS;
		res->at = x.diverged_at;
	}
	if (res->what == CHECK_SAME) {
		trace_free(res->other);
		res->other = NULL;
		session_say_trying(&c->s, "%d of %d executions, all the same: %lu steps, %.1f s each", res->done, times,
				   (unsigned long)res->steps, x.wall_ns / 1e9);
	}
	return 0;
}

static int compare_all(struct campaign *c, const struct replay *first, int times,
		       struct check_result *res, char *err, size_t errlen)
{
	int ret = 0;

	c->s.aside = ASIDE_REPEAT;
	session_template_expect(&c->s, times - 1);
	res->steps = first->nr;
	for (res->done = 1; res->done < times && res->what == CHECK_SAME && !ret;) {
		if (session_interrupted(&c->s))
			return CAMPAIGN_INCOMPLETE;
		ret = compare_once(c, first, times, res, err, errlen);
	}
	if (ret)
		return ret;
	if (res->what != CHECK_SAME)
		ret = keep(c, &res->path_other, err, errlen);
	if (res->what == CHECK_STEPS && !ret)
		ret = see_stacks(c, first, res, err, errlen);
	if (res->what == CHECK_SAME)
		new_file_unlink(res->path_first);
	return ret;
}

int check_repeats(struct campaign *c, int times, struct check_result *res, char *err, size_t errlen)
{
	struct replay first = { 0 };
	int ret;

	*res = (struct check_result){ .since = time(NULL) };
	c->s.keep_passes = true;
	c->s.one_by_one = true;
	ret = record(c, res, err, errlen);
	if (ret)
		return ret;
	res->first = trace_open(c->s.paths.current, err, errlen);
	if (!res->first || keep(c, &res->path_first, err, errlen) ||
	    replay_init(&first, res->first))
		ret = -EIO;
	else
		ret = compare_all(c, &first, times, res, err, errlen);
	replay_release(&first);
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
