/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "search/minimize.h"
#include "campaign/campaign_internal.h"
#include "engine/faults.h"
#include "campaign/minimize.h"
#include "campaign/trials.h"

/* The trace at 'from', with what was found out about it. */
static int write_result(struct campaign *c, const char *from, const char *to,
			const struct minimized *m, const struct minimize_result *r, char *err,
			size_t errlen)
{
	struct trace_pair *pairs = calloc(r->nr_pairs + 1, sizeof(*pairs));
	struct trace *t = trace_open(from, err, errlen);
	struct trace_writer *w = NULL;
	int ret = -ENOMEM;

	if (!t || !pairs) {
		ret = t ? -ENOMEM : -EIO;
		goto out;
	}
	w = trace_copy(t, to, &ret);
	if (!w) {
		snprintf(err, errlen, "cannot write %s: %s", to, strerror(-ret));
		goto out;
	}
	for (size_t i = 0; i < r->nr_pairs; i++) {
		const struct minimize_pair *p = &r->pairs[i];

		pairs[i] = (struct trace_pair){ .step = p->step, .after_step = p->after_step,
						.preempted = p->preempted, .by = p->by,
						.before = p->before, .after = p->after };
		trials_describe(c, w, t, &p->before);
	}
	ret = trials_name_data(c, w, t);
	trace_add_minimized(w, &(struct trace_minimized){
		.executions = m->executions, .minimal = m->minimal, .steps_before = m->steps_before,
		.preemptions_before = m->preemptions_before, .preemptions = m->preemptions,
		.decisions_before = m->decisions_before, .decisions = m->decisions,
		.nr_pairs = r->nr_pairs, .pairs = pairs });
	ret = trace_close(w, ret) ?: ret;
	if (ret)
		snprintf(err, errlen, "cannot write %s: %s", to, strerror(-ret));
out:
	trace_free(t);
	free(pairs);
	return ret;
}

struct progress {
	const struct campaign *c;
	const struct search *s;
	struct minimized *m;
};

/* The trace of the simplest one so far is kept. */
static bool after(void *ctx, const struct execution *x)
{
	struct progress *p = ctx;
	struct minimized *m = p->m;
	struct minimize_result r;

	minimize_result(p->s, &r);
	if (r.trials == 1 && r.reproduced && !m->dropped && !m->dropped_timers) {
		m->preemptions_before = r.preemptions;
		m->decisions_before = r.differences;
		m->steps_before = r.nr;
	} else if (r.trials == 1 && !r.reproduced && x->outcome.kind != ZUG_OUTCOME_INTERRUPTED) {
		outcome_words(&x->outcome, m->came, sizeof(m->came));
	}
	session_say_trying(&p->c->s,
			   "minimising: %lu executions, %u preemptions, %u decisions, %zu steps",
			   (unsigned long)r.trials, r.preemptions, r.differences, r.nr);
	return r.reproduced && r.trial == r.trials;
}

static int minimize_schedule(struct campaign *c, const struct trace *t,
			     const struct minimize_limits *limits, const char *to,
			     struct minimized *m, char *err, size_t errlen)
{
	struct progress p = { .c = c, .m = m };
	struct minimize_result r;
	struct trials trials;
	int ret;

	snprintf(err, errlen, "out of memory");
	ret = trials_init(&trials, c, t);
	if (ret)
		goto out;
	trials.search = minimize_new(&trials.options, trials.follow.tasks, trials.follow.nr,
				     trace_outcome(t)->failure, limits->executions, err, errlen);
	if (!trials.search) {
		ret = -ENOMEM;
		goto out;
	}
	trials.max_steps = limits->steps;
	trials.after = after;
	trials.ctx = &p;
	p.s = trials.search;
	ret = trials_run(c, &trials, err, errlen);
	minimize_result(trials.search, &r);
	m->executions += r.trials;
	m->reproduced = r.reproduced;
	if (!r.reproduced)
		goto out;
	m->minimal = r.minimal;
	m->preemptions = r.preemptions;
	m->decisions = r.differences;
	m->steps = r.nr;
	m->simpler = r.trial > 1 || m->dropped || m->dropped_timers;
	if (!ret)
		ret = write_result(c, trials.best, to, m, &r, err, errlen);
out:
	trials_release(&trials);
	return ret;
}

/*
 * A fault that the trace at 'to' can do without is left out: *less is that trace, still to be
 * minimised, or NULL. 0 or -errno with a line in err.
 */
static int drop_fault(struct campaign *c, const struct minimize_limits *limits, const char *to,
		      struct minimized *m, struct trace **less, char *err, size_t errlen)
{
	struct trace *t = trace_open(to, err, errlen);
	int ret = t ? 0 : -EIO;
	struct execution x;
	bool timer = false;

	*less = NULL;
	/* the call is made as it should be; or, for it was repeated after that, it is not made */
	for (uint64_t i = 0; t && !ret && i < 2 * trace_nr_steps(t); i++) {
		const struct trace_step *s = trace_step(t, i / 2);

		if (!faults_decided(s) || (i % 2 && !zug_op_is_fault(s->label.op)))
			continue;
		timer = !zug_op_is_fault(s->label.op);
		if (limits->executions && m->executions >= limits->executions) {
			m->minimal = false;
			break;
		}
		ret = trials_once(
			c, t, &(struct trials_once){ .without = i / 2, .gone = i % 2, .to = to },
			&x, err, errlen);
		m->executions++;
	}
	trace_free(t);
	if (ret == 1) {
		m->dropped_timers += timer;
		m->dropped += !timer;
		*less = trace_open(to, err, errlen);
	}
	return ret == 1 ? *less ? 0 : -EIO : ret;
}

int minimize_trace(struct campaign *c, const struct trace *t, const struct minimize_limits *limits,
		   const char *to, struct minimized *m, char *err, size_t errlen)
{
	struct trace *less;
	int ret;

	memset(m, 0, sizeof(*m));
	ret = minimize_schedule(c, t, limits, to, m, err, errlen);
	while (!ret && m->reproduced && m->minimal && !session_interrupted(&c->s)) {
		struct minimize_limits left = *limits;

		ret = drop_fault(c, limits, to, m, &less, err, errlen);
		if (ret || !less)
			break;
		if (limits->executions)
			left.executions = limits->executions - m->executions + 1;
		ret = minimize_schedule(c, less, &left, to, m, err, errlen);
		trace_free(less);
	}
	return ret;
}
