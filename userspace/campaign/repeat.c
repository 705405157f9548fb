/* SPDX-License-Identifier: GPL-2.0-only */
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

int repeat_first(struct campaign *c, const struct execution *x, char *err, size_t errlen)
{
	enum check_difference what = CHECK_SAME;
	struct replay first = { 0 }, now = { 0 };
	struct trace *t = NULL, *other = NULL;
	struct execution again;
	uint64_t at = 0;
	int ret = 0;

	if (x->outcome.kind != ZUG_OUTCOME_PASS || x->diverged || x->wall_ns > WARN_WALL_NS)
		return 0;
	t = trace_open(c->s.paths.current, err, errlen);
	if (!t || replay_init(&first, t))
		goto out;
	c->s.aside = true;
	ret = session_follow(&c->s, &first, &again, err, errlen);
	c->s.aside = false;
	if (ret || again.outcome.kind == ZUG_OUTCOME_INTERRUPTED)
		goto out;
	other = trace_open(c->s.paths.current, err, errlen);
	if (other && !replay_init(&now, other))
		what = repeat_compare(&first, &now, &at);
	if (what == CHECK_STEPS || what == CHECK_OUTCOME || again.diverged)
		session_say(
			&c->s,
			"the first execution did not repeat (step %lu of %lu): the test depends on something "
			"that is not controlled; zug check says on what",
			(unsigned long)(again.diverged ? again.diverged_at : at),
			(unsigned long)first.nr);
out:
	replay_release(&first);
	replay_release(&now);
	trace_free(t);
	trace_free(other);
	return ret;
}
