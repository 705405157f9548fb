/* SPDX-License-Identifier: GPL-2.0-only */
/* trials.c - runs a search of trials in place of the campaign's own, and keeps the trace of the best one (trials.h) */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/base/clock.h"
#include "search/minimize.h"
#include "campaign/campaign_internal.h"
#include "campaign/trials.h"
#include "engine/faults.h"
#include "lib/base/id_map.h"
#include "lib/base/new_file.h"

#define SECOND_NS 1000000000ull

/*
 * A schedule that is tried may take so much longer than the failure did; one that hangs must not
 * cost minutes.
 */
#define TRIAL_TIMES 10
#define TRIAL_LONG_TIMES 3	/* where the failure took more than a second, and nine seconds */
#define TRIAL_STEPS 4

static uint64_t trial_timeout(const struct campaign *c, const struct trace *from)
{
	uint64_t wall = trace_outcome(from)->wall_ns, ns = TRIAL_TIMES * wall + 2 * SECOND_NS;

	if (wall > SECOND_NS)
		ns = TRIAL_LONG_TIMES * wall + (TRIAL_TIMES - TRIAL_LONG_TIMES + 2) * SECOND_NS;

	return c->s.o.failure.timeout_ns && session_longest(&c->s) < ns ? session_longest(&c->s) : ns;
}

int trials_init(struct trials *t, const struct campaign *c, const struct trace *from)
{
	*t = (struct trials){ .from = from, .without = UINT64_MAX, .what = ASIDE_MINIMIZE, .options = {
		.fair = c->s.o.search.fair, .preemptions = -1, .memory = c->s.o.search.memory,
		.max_steps = TRIAL_STEPS * trace_nr_steps(from) + 1000 } };
	if (c->s.o.failure.max_steps && c->s.o.failure.max_steps < t->options.max_steps)
		t->options.max_steps = c->s.o.failure.max_steps;
	if (asprintf(&t->best, "%s.best", c->s.paths.current) < 0)
		t->best = NULL;
	return replay_init(&t->follow, from) || !t->best ? -ENOMEM : 0;
}

void trials_release(struct trials *t)
{
	if (t->best)
		new_file_unlink(t->best);
	free(t->best);
	search_free(t->search);
	replay_release(&t->follow);
}

int trials_keep(const struct campaign *c, const char *from, const char *to, char *err, size_t errlen)
{
	struct trace *t = trace_open(from, err, errlen);
	struct trace_writer *w;
	int ret = -EIO;

	if (!t)
		return ret;
	w = trace_copy(t, to, &ret);
	if (w) {
		ret = trials_name_data(c, w, t);
		ret = trace_close(w, ret) ?: ret;
	} else if (!ret)
		ret = -EIO;
	if (ret)
		snprintf(err, errlen, "cannot write %s: %s", to, strerror(-ret));
	trace_free(t);
	return ret;
}

void trials_describe(const struct campaign *c, struct trace_writer *w, const struct trace *t,
		     const struct zug_label *l)
{
	const struct place_site *s = l->site ? places_find_site(c->s.places, l->site) : NULL;
	const struct place_object *o = l->object ? places_find_object(c->s.places, l->object) :
						   NULL;

	if (s && !trace_site(t, l->site))
		trace_add_site(w, &(struct trace_site){ .site = s->site, .module = s->module,
							.offset = s->offset });
	if (o && !trace_object(t, l->object))
		trace_add_object(w, &(struct trace_object){ .object = l->object, .kind = o->kind,
							    .name = o->name });
}

/* What the source calls what is accessed, or locked, there. */
static bool source_name(const struct campaign *c, const struct zug_label *l, char *buf, size_t len)
{
	return zug_op_is_access(l->op) ? session_member_text(&c->s, l->site, buf, len) :
					 session_argument_text(&c->s, l->site, buf, len);
}

int trials_name_data(const struct campaign *c, struct trace_writer *w, const struct trace *t)
{
	struct id_map told = { 0 };
	char name[128];
	bool added = true;

	for (uint64_t i = 0; i < trace_nr_steps(t); i++) {
		const struct zug_label *l = &trace_step(t, i)->label;
		const struct trace_site *s = zug_object_is_numbered(l->object) ? trace_site(t, l->site) : NULL;
		struct trace_site with;

		if (!s || s->data || !(zug_op_is_access(l->op) || zug_op_is_sync(l->op)))
			continue;
		if (!id_map_add(&told, l->site, 0, &added)) {
			id_map_free(&told);
			return -ENOMEM;
		}
		if (!added || !source_name(c, l, name, sizeof(name)))
			continue;
		with = *s;
		with.data = name;
		trace_add_site(w, &with);
	}
	id_map_free(&told);
	return 0;
}

/* A trial that would outlast the time is ended with it, and says nothing then. */
static enum search_result verdict(const struct execution *x, uint64_t end)
{
	return end && x->outcome.kind == ZUG_OUTCOME_TIMEOUT && clock_now_ns() >= end ?
		       SEARCH_ABANDONED :
		       campaign_verdict(x);
}

static int run(struct campaign *c, const struct trials *t, char *err, size_t errlen)
{
	uint64_t steps = 0, timeout = trial_timeout(c, t->from), end = 0, now;
	struct execution x;
	int ret;

	while (!session_interrupted(&c->s) && !(t->max_steps && steps > t->max_steps)) {
		now = clock_now_ns();
		if (end && now >= end)
			break;
		engine_use(c->s.engine, t->search, end && end - now < timeout ? end - now : timeout, 0);
		ret = search_begin(t->search);
		if (ret == SEARCH_EXHAUSTED)
			return 0;
		if (ret < 0) {
			snprintf(err, errlen, "the search of the trials failed: %s",
				 strerror(-ret));
			return ret;
		}
		ret = session_execute(&c->s, NULL, &x, err, errlen);
		search_end(t->search, &(struct search_end){ .result = ret ? SEARCH_ABANDONED :
									    verdict(&x, end),
							    .failure = x.outcome.failure });
		if (ret)
			return ret;
		if (x.outcome.kind == ZUG_OUTCOME_ENVIRONMENT && !c->abandoned++)
			session_say(&c->s, "an execution was given up: %s", x.outcome.message);
		end = session_until(&c->s, t->until_ns);
		/* what is left out costs little */
		steps += x.steps - x.left_out;
		if (t->after(t->ctx, &x) && new_file_rename(c->s.paths.current, t->best)) {
			ret = -errno;
			snprintf(err, errlen, "cannot keep the trace %s: %s", t->best,
				 strerror(errno));
			return ret;
		}
	}
	return 0;
}

int trials_run(struct campaign *c, const struct trials *t, char *err, size_t errlen)
{
	int ret = faults_make_plan(engine_faults(c->s.engine), t->from, t->without, t->gone);

	if (!ret)
		ret = engine_give_values(c->s.engine, t->from);
	if (ret) {
		snprintf(err, errlen, "out of memory");
		return ret;
	}
	c->s.aside = t->what;
	c->s.keep_passes = t->passes;
	ret = run(c, t, err, errlen);
	engine_use(c->s.engine, c->s.search, c->s.o.failure.timeout_ns, session_longest(&c->s));
	faults_free_plan(engine_faults(c->s.engine));
	engine_give_values(c->s.engine, NULL);
	c->s.keep_passes = false;
	c->s.aside = ASIDE_NOT;
	return ret;
}

static void leave_out(struct replay *r, uint64_t step)
{
	for (size_t i = 0; i < r->nr; i++)
		if (r->steps[i] == step) {
			r->nr--;
			memmove(&r->tasks[i], &r->tasks[i + 1], (r->nr - i) * sizeof(*r->tasks));
			return;
		}
}

struct once {
	uint64_t failure;	/* 0: it is to pass */
	struct execution *x;
	bool kept;
};

static bool after_once(void *ctx, const struct execution *x)
{
	struct once *once = ctx;

	*once->x = *x;
	once->kept = once->failure ? campaign_verdict(x) == SEARCH_FAIL &&
					     x->outcome.failure == once->failure :
				     x->outcome.kind == ZUG_OUTCOME_PASS;
	return once->kept;
}

int trials_once(struct campaign *c, const struct trace *from, const struct trials_once *o,
		struct execution *x, char *err, size_t errlen)
{
	uint64_t failure = trace_outcome(from)->failure;
	struct once once = { .failure = o->passes ? 0 : failure, .x = x };
	struct trials t;
	int ret;

	snprintf(err, errlen, "out of memory");
	memset(x, 0, sizeof(*x));
	x->outcome.kind = ZUG_OUTCOME_INTERRUPTED;
	ret = trials_init(&t, c, from);
	if (ret)
		goto out;
	if (o->gone)
		leave_out(&t.follow, o->without);
	t.search = minimize_new(&t.options, t.follow.tasks, t.follow.nr, failure, 1, err, errlen);
	if (!t.search) {
		ret = -ENOMEM;
		goto out;
	}
	t.without = o->without;
	t.gone = o->gone;
	t.passes = o->passes;
	t.what = o->passes ? ASIDE_EXPLAIN : ASIDE_MINIMIZE;
	t.after = after_once;
	t.ctx = &once;
	ret = trials_run(c, &t, err, errlen);
	if (!ret && once.kept) {
		ret = trials_keep(c, t.best, o->to, err, errlen);
		ret = ret ? ret : 1;
	}
out:
	trials_release(&t);
	return ret;
}
