/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "campaign_internal.h"
#include "closest.h"
#include "trials.h"

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
	trials_progress(p->c, "near it: %lu executions, %s", (unsigned long)r.trials,
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
	m->interrupted = c->stop && *c->stop;
	if (!ret && m->r.found)
		ret = trials_keep(trials.best, to, err, errlen);
out:
	trials_release(&trials);
	return ret;
}
