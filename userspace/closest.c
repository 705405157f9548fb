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
		snprintf(p->m->came, sizeof(p->m->came), "%s%s%s", zug_outcome_name(x->outcome.kind),
			 x->outcome.message[0] ? ": " : "", x->outcome.message);
	trials_progress(p->c, "near it: %lu executions, %s", (unsigned long)r.trials,
			r.found ? "one passes" : "none passes so far");
	return r.found && r.trial == r.trials;
}

/* A copy, since the folder of the executions may be on another file system. */
static int keep(const char *from, const char *to, char *err, size_t errlen)
{
	struct trace *t = trace_open(from, err, errlen);
	struct trace_writer *w;
	int ret = -EIO;

	if (!t)
		return ret;
	w = trace_copy(t, to, &ret);
	if (w)
		ret = trace_close(w, false);
	if (!w || ret)
		snprintf(err, errlen, "cannot write %s: %s", to, strerror(-ret));
	trace_free(t);
	return w ? ret : ret ? ret : -EIO;
}

int closest_trace(struct campaign *c, const struct trace *t, uint64_t executions, const char *to,
		  struct closest *m, char *err, size_t errlen)
{
	struct search_options opts = trials_search_options(c, t);
	struct trials trials = { .from = t, .passes = true, .after = after };
	struct progress p = { .c = c, .m = m };
	struct search *s = NULL;
	struct replay follow;
	char *best = NULL;
	int ret = -ENOMEM;

	memset(m, 0, sizeof(*m));
	snprintf(err, errlen, "out of memory");
	if (replay_init(&follow, t) || asprintf(&best, "%s.best", c->current) < 0) {
		best = NULL;
		goto out;
	}
	s = neighbour_new(&opts, follow.tasks, follow.nr, trace_outcome(t)->failure, executions, err, errlen);
	if (!s)
		goto out;
	p.s = trials.search = s;
	trials.best = best;
	trials.ctx = &p;
	ret = trials_run(c, &trials, err, errlen);
	neighbour_result(s, &m->r);
	m->interrupted = c->stop && *c->stop;
	if (!ret && m->r.found)
		ret = keep(best, to, err, errlen);
out:
	if (best)
		unlink(best);
	free(best);
	search_free(s);
	replay_release(&follow);
	return ret;
}
