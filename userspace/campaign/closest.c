/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "campaign/campaign_internal.h"
#include "campaign/closest.h"
#include "engine/faults.h"
#include "campaign/trials.h"

struct progress {
	const struct campaign *c;
	const struct search *s;
	struct closest *m;
};

static bool after(void *ctx, const struct execution *x)
{
	struct progress *p = ctx;
	struct neighbour_result r;

	neighbour_result(p->s, &r);
	if (r.trials == 1 && !r.reproduced && x->outcome.kind != ZUG_OUTCOME_INTERRUPTED)
		outcome_words(&x->outcome, p->m->came, sizeof(p->m->came));
	session_say_trying(&p->c->s, "near it: %lu executions, %s", (unsigned long)r.trials,
			r.found ? "one passes" : "none passes so far");
	return r.found && r.trial == r.trials;
}

int closest_trace(struct campaign *c, const struct trace *t, uint64_t executions, const char *to,
		  struct closest *m, char *err, size_t errlen)
{
	struct progress p = { .c = c, .m = m };
	struct trials trials;
	int ret;

	memset(m, 0, sizeof(*m));
	snprintf(err, errlen, "out of memory");
	ret = trials_init(&trials, c, t);
	if (ret)
		goto out;
	trials.search = neighbour_new(&trials.options, trials.follow.tasks, trials.follow.nr,
				     trace_outcome(t)->failure, executions, err, errlen);
	if (!trials.search) {
		ret = -ENOMEM;
		goto out;
	}
	trials.passes = true;
	trials.after = after;
	trials.ctx = &p;
	p.s = trials.search;
	ret = trials_run(c, &trials, err, errlen);
	neighbour_result(trials.search, &m->r);
	m->interrupted = session_interrupted(&c->s);
	if (!ret && m->r.found)
		ret = trials_keep(trials.best, to, err, errlen);
out:
	trials_release(&trials);
	return ret;
}

/* ---- without what was made of a call ---- */

int closest_without(struct campaign *c, const struct trace *t, const char *to, uint64_t *step,
		    struct closest *m, char *err, size_t errlen)
{
	const struct trials_once all = { .without = UINT64_MAX, .passes = true, .to = to };
	uint64_t nr = trace_nr_steps(t), decided = 0;
	struct execution x;
	int ret;

	memset(m, 0, sizeof(*m));
	*step = UINT64_MAX;
	for (uint64_t i = 0; i < nr; i++)
		decided += faults_decided(trace_step(t, i));
	m->r.reproduced = !decided;
	if (!decided)
		return 0;
	ret = trials_once(c, t, &all, &x, err, errlen);
	m->r.trials = 1;
	m->r.reproduced = ret >= 0 && x.outcome.failure == trace_outcome(t)->failure;
	if (!m->r.reproduced && x.outcome.kind != ZUG_OUTCOME_INTERRUPTED)
		outcome_words(&x.outcome, m->came, sizeof(m->came));
	for (uint64_t i = nr; i-- > 0 && ret >= 0 && m->r.reproduced && !m->r.found &&
			      !session_interrupted(&c->s);) {
		if (!faults_decided(trace_step(t, i)))
			continue;
		ret = trials_once(c, t,
				  &(struct trials_once){ .without = i, .passes = true, .to = to },
				  &x, err, errlen);
		m->r.trials++;
		m->r.found = ret == 1;
		if (m->r.found)
			*step = i;
	}
	m->interrupted = session_interrupted(&c->s);
	return ret < 0 ? ret : 0;
}
