/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is done with a failure: which bug it is, its trace, the simplest schedule of it, its
 * replays. campaign_on_finding() goes through these stages, and tells the observer each
 * (observer.h).
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "campaign/campaign_internal.h"
#include "campaign/closest.h"
#include "campaign/minimize.h"

/* The bounds of minimising a finding before it is reported; zug minimize has none. */
#define MINIMIZE_EXECUTIONS 200
#define MINIMIZE_STEPS 50000
/* Executions near it that look for the two operations whose order decides. */
#define EXPLAIN_EXECUTIONS 40
/* The same where a preemption is left: that is an explanation, too. */
#define EXPLAIN_BESIDES 16

static void tell(const struct campaign *c, struct campaign_finding *f, enum finding_stage stage)
{
	f->stage = stage;
	if (c->s.observer->finding)
		c->s.observer->finding(c->s.observer->ctx, c, f);
}

/* "zug-out/test.1.trace" -> "zug-out/test.1.found.trace"; malloc'd. */
static char *name_with(const char *path, const char *word)
{
	size_t n = strlen(path);
	char *name;

	if (n > 6 && !strcmp(path + n - 6, ".trace"))
		n -= 6;
	return asprintf(&name, "%.*s.%s.trace", (int)n, path, word) < 0 ? NULL : name;
}

/*
 * The simplest schedule that fails like t, as a trace at 'min'. 0; -EAGAIN: there is none, and the
 * observer knows why.
 */
static int find_simplest(struct campaign *c, const struct trace *t, const char *min,
			 struct minimized *m)
{
	const struct minimize_limits limits = { MINIMIZE_EXECUTIONS, MINIMIZE_STEPS };
	char err[PATH_MAX + 128];
	struct trace *simple;
	int done = 0, same = 0;

	if (minimize_trace(c, t, &limits, min, m, err, sizeof(err))) {
		session_say(&c->s, "not minimised: %s", err);
		return -EAGAIN;
	}
	if (!m->reproduced) {
		if (m->came[0])
			session_say(&c->s,
				    "not minimised: the same schedule ended differently (%s)",
				    m->came);
		return -EAGAIN;
	}
	simple = trace_open(min, err, sizeof(err));
	if (simple && m->simpler)
		same = session_verify(&c->s, simple, 1, &done);
	if (!simple || same != done) {
		session_say(&c->s, "not minimised: a simpler schedule failed, but not again");
		trace_free(simple);
		return -EAGAIN;
	}
	trace_free(simple);
	return 0;
}

/*
 * The simplest schedule takes the place of the one that was found, which stays beside it. If
 * anything goes wrong here, the trace at its path fails as it was found to.
 */
static void simplify(struct campaign *c, struct campaign_finding *f)
{
	char err[PATH_MAX + 128], *found = name_with(f->trace, "found"),
				  *min = name_with(f->trace, "new");
	struct trace *t = trace_open(f->trace, err, sizeof(err));
	struct minimized m;

	if (!found || !min || !t || find_simplest(c, t, min, &m))
		goto out;
	if (closest_explain(c, min, m.preemptions ? EXPLAIN_BESIDES : EXPLAIN_EXECUTIONS, err, sizeof(err)))
		session_say(&c->s, "what decides was not looked for: %s", err);
	if ((m.simpler && rename(f->trace, found)) || rename(min, f->trace)) {
		session_say(&c->s, "not minimised: %s: %s", min, strerror(errno));
		goto out;
	}
	f->minimized = &m;
	f->as_found = m.simpler ? found : NULL;
	tell(c, f, FINDING_MINIMIZED);
	f->minimized = NULL;
	f->as_found = NULL;
out:
	if (min)
		unlink(min);
	free(found);
	free(min);
	trace_free(t);
}

static void verify(struct campaign *c, struct campaign_finding *f)
{
	char err[512];
	struct trace *t = c->s.o.results.verify ? trace_open(f->trace, err, sizeof(err)) : NULL;

	if (t)
		f->same = session_verify(&c->s, t, c->s.o.results.verify, &f->replays);
	trace_free(t);
}

int campaign_on_finding(struct campaign *c, const struct execution *x, char *err, size_t errlen)
{
	struct campaign_finding f = { 0 };
	struct campaign_failure *failure;
	char *path;
	bool new;

	f.failure = failure = failures_note(&c->failures, x, c->s.figures.executions, &new);
	if (!failure) {
		snprintf(err, errlen, "out of memory");
		return -ENOMEM;
	}
	if (!new && c->s.o.results.keep_going)
		return 0;
	path = session_trace_name(&c->s, "", err, errlen);
	if (!path)
		return -EIO;
	if (session_keep_trace(&c->s, path, err, errlen)) {
		unlink(path);
		free(path);
		f.trace = c->s.paths.current;
		session_say(&c->s, "%s", err);
		err[0] = 0;
		tell(c, &f, FINDING_LOST);
		return -EIO;
	}
	free(failure->trace);
	f.trace = failure->trace = path;
	tell(c, &f, FINDING_FOUND);
	/* of a time-out every trial would be one, too */
	if (c->s.o.results.minimize && x->outcome.kind != ZUG_OUTCOME_TIMEOUT)
		simplify(c, &f);
	tell(c, &f, FINDING_EXPLAINED);
	verify(c, &f);
	if (x->outcome.kind == ZUG_OUTCOME_RACE)
		race_book_know(points_races(c->points), x->outcome.failure);
	tell(c, &f, FINDING_VERIFIED);
	return 0;
}
