/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is done with a failure: its trace, its replays (what does not come again is no finding),
 * which bug it is, the simplest schedule of it. campaign_on_finding() goes through these stages, and tells the observer each
 * (observer.h).
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/base/clock.h"
#include "lib/base/new_file.h"
#include "campaign/campaign_internal.h"
#include "campaign/closest.h"
#include "campaign/minimize.h"

/* So often is a failure that did not come again replayed when it is seen again. */
#define ONCE_TRIED 3
/* Executions near it that look for the two operations whose order decides. */
#define EXPLAIN_EXECUTIONS 40
/* The same where a preemption is left: that is an explanation, too. */
#define EXPLAIN_BESIDES 32
/*
 * The time for minimising and explaining is a quarter of that of the search so far: what took long to
 * find may take longer to become simple, and whatever the search took this adds little to it. At
 * least LEAST, so that a finding of the first second is made simple all the same, and as long as so many
 * executions like the failing one take; at most MOST, for a user waits for it.
 */
#define SIMPLIFY_LEAST_NS 10000000000ull
#define SIMPLIFY_LEAST_EXECUTIONS 24
#define SIMPLIFY_MOST_NS 180000000000ull
/*
 * Explaining has what minimising has left of that time, but at least LEAST, and as long as its executions take: what
 * took long to become simple is explained, too. At most SIMPLIFY_MOST_NS more.
 */
#define EXPLAIN_LEAST_NS 10000000000ull

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

static void note_replays(struct campaign_finding *f, const struct session_replays *replays)
{
	f->replays = replays->made;
	f->same = replays->same;
	f->alike = replays->alike;
}

/* From now to the end, but at most that; 0: no bound. At least a nanosecond, as 0 is none. */
static uint64_t time_left(uint64_t end, uint64_t now, uint64_t most)
{
	uint64_t left = end > now ? end - now : 1;

	return most && most < left ? most : left;
}

/* As long as so many executions like that of t take, but at least 'least' and at most SIMPLIFY_MOST_NS. */
static uint64_t time_of_executions(const struct trace *t, uint64_t executions, uint64_t least)
{
	uint64_t ns = executions * trace_outcome(t)->wall_ns;

	return ns < least ? least : ns > SIMPLIFY_MOST_NS ? SIMPLIFY_MOST_NS : ns;
}

/* The limits of minimising; *until: the end of the time for it and for explaining, 0: none. */
static struct minimize_limits time_to_simplify(const struct campaign *c, const struct trace *t, uint64_t *until)
{
	uint64_t now = clock_now_ns(), own = c->s.o.results.minimize_ns, quarter = (now - c->start_ns) / 4;
	struct minimize_limits limits = MINIMIZE_ALONE;

	if (own == MINIMIZE_NS_AUTO) {
		own = time_of_executions(t, SIMPLIFY_LEAST_EXECUTIONS, SIMPLIFY_LEAST_NS);
		own = quarter < own ? own : quarter < SIMPLIFY_MOST_NS ? quarter : SIMPLIFY_MOST_NS;
		limits = minimize_aside(t, 0);
	}
	/* what the search leaves of its own time is shared as well */
	if (c->s.until_ns)
		own = time_left(c->s.until_ns, now, own);
	limits.time_ns = minimize_share(own, trace_outcome(t)->wall_ns);
	*until = own ? now + own : 0;
	return limits;
}

/* Minimises t, and replays what came of it: m->simpler, *repeats. 0; -EAGAIN: t cannot be minimised, with the reason in err. */
static int try_simpler(struct campaign *c, const struct trace *t, const struct minimize_limits *limits, const char *min,
		       struct minimized *m, struct session_replays *replays, char *err, size_t errlen)
{
	struct trace *simple;
	int times = c->s.o.results.verify;

	*replays = (struct session_replays){ 0 };
	if (minimize_trace(c, t, limits, min, m, err, errlen))
		return -EAGAIN;
	if (!m->reproduced) {
		snprintf(err, errlen, m->came[0] ? "the same schedule ended differently (%s)" : "%s", m->came);
		return -EAGAIN;
	}
	simple = trace_open(min, err, errlen);
	if (!simple)
		return -EAGAIN;
	if (m->simpler)
		session_verify(&c->s, simple, times ? times : 1, replays);
	trace_free(simple);
	return 0;
}

/*
 * The simplest schedule that fails like t each time, as a trace at 'min', and what came of its replays. Where the simplest
 * one does not fail again, only what fails twice in a row counts; and where that does not fail again either, t itself is
 * what is explained. 0; -EAGAIN: there is none, with the reason in err.
 */
static int find_simplest(struct campaign *c, const struct trace *t, const struct minimize_limits *limits, uint64_t until,
			 const char *min, struct minimized *m, struct campaign_finding *f, char *err, size_t errlen)
{
	struct minimize_limits with = *limits;
	struct session_replays replays;
	uint64_t before = 0, now;

	for (int tries = 0; tries < 3; tries++) {
		if (try_simpler(c, t, &with, min, m, &replays, err, errlen))
			return -EAGAIN;
		m->executions += before;
		if (replays.same == replays.made)
			break;
		before = m->executions;
		now = clock_now_ns();
		with.twice = true;
		with.time_ns = !until ? limits->time_ns :
					minimize_share(time_left(until, now, 0), trace_outcome(t)->wall_ns);
		/* the first execution follows t */
		with.executions = tries ? 1 : limits->executions;
	}
	if (replays.same != replays.made) {
		snprintf(err, errlen, "a simpler schedule failed, but not again");
		return -EAGAIN;
	}
	if (before && !m->simpler)
		m->cut = MINIMIZE_ONCE;
	if (m->simpler && c->s.o.results.verify)
		note_replays(f, &replays);
	return 0;
}

/* The operations whose order decides in the trace at 'min', written into it. */
static bool explain(struct campaign *c, const char *min, const struct minimized *m, uint64_t until)
{
	char err[PATH_MAX + 128];
	bool known = true;

	if (session_late(&c->s, 0))
		session_say(&c->s, "what decides was not looked for: the time (--time) is over");
	else if (closest_explain(c, min, m->preemptions ? EXPLAIN_BESIDES : EXPLAIN_EXECUTIONS, until, &known, err,
				 sizeof(err)))
		session_say(&c->s, "what decides was not looked for: %s", err);
	return known;
}

/*
 * No two operations decide in the trace at 'min', but not all of them may be points yet: data that tasks access
 * unordered is looked for now, and where it tells more the trace becomes one with these accesses.
 */
static void explain_with_data(struct campaign *c, const char *min, struct minimized *m, uint64_t until,
			      struct campaign_finding *f)
{
	struct campaign_finding before = *f;
	struct minimize_limits limits;
	char err[PATH_MAX + 128], *with = name_with(min, "data");
	struct minimized more;
	struct trace *t = NULL;
	int ret = with ? campaign_find_points(c, until, err, sizeof(err)) : 0;

	if (ret < 0)
		session_say(&c->s, "data races beside it were not looked for: %s", err);
	if (ret > 0)
		t = trace_open(min, err, sizeof(err));
	if (!t)
		goto out;
	limits = minimize_aside(t, 0);
	limits.other_data = true;
	if (until)
		limits.time_ns = minimize_share(time_left(until, clock_now_ns(), 0), trace_outcome(t)->wall_ns);
	more.came[0] = 0;
	/* with these accesses it may not fail: a loop that waits lets others go on at them */
	if (find_simplest(c, t, &limits, until, with, &more, f, err, sizeof(err)) ||
	    !explain(c, with, &more, until) || !more.reproduced || new_file_rename(with, min)) {
		*f = before;
		goto out;
	}
	session_say(&c->s, "data that tasks access unordered was looked for to explain it: the trace has these accesses");
	more.executions += m->executions;
	more.time_ns += m->time_ns;
	more.preemptions_before = m->preemptions_before;
	more.decisions_before = m->decisions_before;
	more.steps_before = m->steps_before;
	more.dropped += m->dropped;
	more.dropped_timers += m->dropped_timers;
	*m = more;
out:
	if (with)
		new_file_unlink(with);
	free(with);
	trace_free(t);
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
	struct minimize_limits limits;
	struct minimized m;
	uint64_t until, executions;

	if (!found || !min || !t)
		goto out;
	limits = time_to_simplify(c, t, &until);
	if (find_simplest(c, t, &limits, until, min, &m, f, err, sizeof(err))) {
		if (err[0])
			session_say(&c->s, "not minimised: %s", err);
		goto out;
	}
	executions = m.preemptions ? EXPLAIN_BESIDES : EXPLAIN_EXECUTIONS;
	if (c->s.o.results.minimize_ns == MINIMIZE_NS_AUTO) {
		uint64_t least = clock_now_ns() + time_of_executions(t, executions, EXPLAIN_LEAST_NS);

		until = until < least ? least : until;
	}
	if (!explain(c, min, &m, until))
		explain_with_data(c, min, &m, until, f);
	if ((m.simpler && new_file_rename(f->trace, found)) || new_file_rename(min, f->trace)) {
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
		new_file_unlink(min);
	free(found);
	free(min);
	trace_free(t);
}

/*
 * Replays the trace of a failure. True: the failure did not come again, in any of a few replays. What
 * could not be replayed at all, or was interrupted, is believed.
 */
static bool came_once(struct campaign *c, struct campaign_finding *f)
{
	struct session_replays replays = { 0 };
	int times = c->s.o.results.verify, made = 0;
	char err[512];
	struct trace *t = times ? trace_open(f->trace, err, sizeof(err)) : NULL;

	if (!t)
		return false;
	session_verify(&c->s, t, times, &replays);
	while (!replays.alike && replays.made < REPLAYS_FOR_ONCE && replays.made > made) {
		made = replays.made;
		session_verify(&c->s, t, 1, &replays);
	}
	trace_free(t);
	note_replays(f, &replays);
	return !replays.alike && replays.made >= REPLAYS_FOR_ONCE;
}

/* A path for the trace of the last execution, which is there; NULL with a line in err. */
static char *keep_trace(struct campaign *c, struct campaign_finding *f, char *err, size_t errlen)
{
	char *path = session_trace_name(&c->s, "", err, errlen);

	if (!path || !session_keep_trace(&c->s, path, err, errlen))
		return path;
	new_file_unlink(path);
	free(path);
	f->trace = c->s.paths.current;
	session_say(&c->s, "%s", err);
	err[0] = 0;
	tell(c, f, FINDING_LOST);
	return NULL;
}

/* Counts a failure that did not come again; the trace of the first time stays. */
static int note_once(struct campaign *c, const struct execution *x, struct campaign_finding *f,
		     char *path)
{
	struct campaign_failure *failure;
	bool new;

	f->failure = failure = failures_note(&c->once, x, c->s.figures.executions + c->s.skipped, &new);
	if (failure && new)
		failure->trace = path;
	else
		new_file_unlink(path);
	if (failure && new)
		tell(c, f, FINDING_ONCE);
	else
		free(path);
	return failure ? 0 : -ENOMEM;
}

/* Known as one that does not come again, and tried often enough. */
static bool is_known_once(struct campaign *c, const struct execution *x)
{
	struct campaign_failure *known = failures_find(&c->once, x->outcome.failure);

	if (!known || known->times < ONCE_TRIED)
		return false;
	known->times++;
	c->once.findings++;
	return true;
}

int campaign_on_finding(struct campaign *c, const struct execution *x, bool *once, char *err,
			size_t errlen)
{
	struct campaign_failure lost = { .kind = x->outcome.kind };
	struct campaign_finding f = { .failure = &lost, .after_ns = clock_now_ns() - c->start_ns };
	struct campaign_failure *failure;
	uint64_t execution = c->s.figures.executions + c->s.skipped;
	char *path;
	bool new;

	*once = !failures_find(&c->failures, x->outcome.failure) && is_known_once(c, x);
	if (*once)
		return 0;
	if (c->s.o.results.keep_going && failures_find(&c->failures, x->outcome.failure))
		return failures_note(&c->failures, x, execution, &new) ? 0 : -ENOMEM;
	path = keep_trace(c, &f, err, errlen);
	if (!path)
		return -EIO;
	f.trace = path;
	*once = came_once(c, &f);
	if (*once)
		return note_once(c, x, &f, path);
	failures_drop(&c->once, x->outcome.failure);
	f.failure = failure = failures_note(&c->failures, x, execution, &new);
	if (!failure) {
		snprintf(err, errlen, "out of memory");
		free(path);
		return -ENOMEM;
	}
	free(failure->trace);
	failure->trace = path;
	tell(c, &f, FINDING_FOUND);
	/* of a time-out every trial would be one, too */
	if (c->s.o.results.minimize && session_late(&c->s, 0))
		session_say(&c->s, "not minimised: the time (--time) is over; zug minimize does it");
	else if (c->s.o.results.minimize && x->outcome.kind != ZUG_OUTCOME_TIMEOUT)
		simplify(c, &f);
	if ((c->s.o.results.minimize || c->s.o.search.script) && x->outcome.kind != ZUG_OUTCOME_TIMEOUT &&
	    !session_interrupted(&c->s) && closest_note_callers(c, f.trace, err, errlen))
		session_say(&c->s, "which lines of the program lead there was not noted: %s", err);
	tell(c, &f, FINDING_EXPLAINED);
	if (x->outcome.kind == ZUG_OUTCOME_RACE && !c->s.frozen)
		race_book_know(points_races(c->points), x->outcome.failure);
	tell(c, &f, FINDING_VERIFIED);
	return 0;
}
