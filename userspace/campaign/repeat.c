/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>
#include <string.h>
#include "campaign/campaign_internal.h"
#include "campaign/repeat.h"

/* A first execution that took longer is not worth another one. */
#define WARN_WALL_NS 2000000000ull

static bool same_label(const struct zug_label *a, const struct zug_label *b)
{
	return a->op == b->op && a->object == b->object && a->object2 == b->object2 &&
	       (a->site == b->site || a->op == ZUG_OP_SPIN);
}

bool repeat_same_step(const struct trace_step *a, const struct trace_step *b)
{
	return a && b && a->task == b->task && same_label(&a->label, &b->label);
}

static bool same_text(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

enum check_difference repeat_compare(const struct replay *a, const struct replay *b, uint64_t *at)
{
	const struct trace_outcome *x = trace_outcome(a->trace), *y = trace_outcome(b->trace);

	for (*at = 0; *at < a->nr && *at < b->nr; ++*at)
		if (!repeat_same_step(replay_step(a, *at), replay_step(b, *at)))
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

/* How two executions of one schedule differ. */
struct difference {
	enum check_difference what;
	uint64_t at;		/* step */
	bool diverged;		/* the second one did not follow */
};

static bool differs(const struct difference *d)
{
	return d->what == CHECK_STEPS || d->what == CHECK_OUTCOME || d->diverged;
}

/* Follows a schedule once more. 0: *d says what came of it; 1: it was interrupted; -errno with a line in err. */
static int follow(struct campaign *c, const struct replay *r, struct difference *d, char *err, size_t errlen)
{
	struct replay now = { 0 };
	struct trace *t = NULL;
	struct execution x;
	int ret;

	*d = (struct difference){ .what = CHECK_SAME };
	c->s.aside = ASIDE_REPEAT;
	ret = session_follow(&c->s, r, &x, err, errlen);
	c->s.aside = ASIDE_NOT;
	if (!ret && x.outcome.kind == ZUG_OUTCOME_INTERRUPTED)
		ret = 1;
	if (ret)
		return ret;
	t = trace_open(c->s.paths.current, err, errlen);
	if (t && !replay_init(&now, t))
		d->what = repeat_compare(r, &now, &d->at);
	d->diverged = x.diverged;
	if (x.diverged)
		d->at = x.diverged_at;
	replay_release(&now);
	trace_free(t);
	return 0;
}

static void give_up(struct campaign *c, const struct difference *d, const struct replay *r)
{
	const struct trace_step *step = replay_step(r, d->at);
	char why[192];

	snprintf(why, sizeof(why), "copies of the process go another way than the program when it is started, first at step "
		 "%lu of %lu%s%s", (unsigned long)d->at, (unsigned long)r->nr, step ? ": " : "",
		 step ? zug_op_name(step->label.op) : "");
	session_template_give_up(&c->s, why);
}

/*
 * The same, from a template if the session has one, and if that differs by exec as well. When only the first of these
 * differs there are no more templates.
 */
static int follow_both(struct campaign *c, const struct replay *r, struct difference *d, char *err, size_t errlen)
{
	struct difference forked;
	int ret = follow(c, r, d, err, errlen);

	if (ret || !differs(d) || !kworld_used_template(c->s.world))
		return ret;
	forked = *d;
	c->s.template.paused = true;
	ret = follow(c, r, d, err, errlen);
	c->s.template.paused = false;
	if (!ret && !differs(d))
		give_up(c, &forked, r);
	return ret;
}

/* The schedule of the last execution, whose trace was kept. false: it is of no use here. */
static bool last_schedule(const struct campaign *c, const struct execution *x, struct replay *r, struct trace **t)
{
	char err[256];

	*t = NULL;
	if (x->outcome.kind != ZUG_OUTCOME_PASS || x->cut || x->diverged || x->wall_ns > WARN_WALL_NS)
		return false;
	*t = trace_open(c->s.paths.current, err, sizeof(err));
	return *t && !replay_init(r, *t);
}

int repeat_first(struct campaign *c, const struct execution *x, char *err, size_t errlen)
{
	struct replay first = { 0 };
	struct difference d = { 0 };
	struct trace *t;
	int ret = 0;

	if (last_schedule(c, x, &first, &t))
		ret = follow_both(c, &first, &d, err, errlen);
	if (!ret && differs(&d))
		session_say(
			&c->s,
			"the first execution did not repeat (step %lu of %lu): the test depends on something "
			"that is not controlled; zug check says on what",
			(unsigned long)d.at, (unsigned long)first.nr);
	replay_release(&first);
	trace_free(t);
	return ret > 0 ? 0 : ret;
}

int repeat_by_exec(struct campaign *c, const struct execution *x, char *err, size_t errlen)
{
	struct replay second = { 0 };
	struct difference d = { 0 };
	struct trace *t;
	int ret = 0;

	/* one that takes long is not worth another one either */
	c->s.template.proved = x->outcome.kind == ZUG_OUTCOME_PASS && !x->diverged;
	if (last_schedule(c, x, &second, &t)) {
		c->s.template.paused = true;
		ret = follow(c, &second, &d, err, errlen);
		c->s.template.paused = false;
	}
	if (!ret && differs(&d))
		give_up(c, &d, &second);
	replay_release(&second);
	trace_free(t);
	return ret > 0 ? 0 : ret;
}
