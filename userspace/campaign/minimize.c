/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/base/clock.h"
#include "search/minimize.h"
#include "campaign/campaign_internal.h"
#include "engine/faults.h"
#include "engine/values.h"
#include "campaign/minimize.h"
#include "campaign/trials.h"
#include "engine/progress_check.h"

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
	const struct minimize_limits *limits;
	uint64_t begin_ns, made;	/* made: executions before this search of the simplest */
	bool first;			/* its first execution is the one that is to be simplified, whole */
	struct minimized *m;
};

/* "minimising: 57 of at most 200 executions, 12 of at most 60 s, about 14 left; so far 1 preemption, ..." */
static void say_progress(const struct progress *p, const struct minimize_result *r)
{
	char executions[48] = "", time[48] = "";

	if (p->limits->executions)
		snprintf(executions, sizeof(executions), " of at most %lu",
			 (unsigned long)p->limits->executions);
	if (p->limits->time_ns)
		snprintf(time, sizeof(time), " of at most %.0f", p->limits->time_ns / 1e9);
	session_say_trying(&p->c->s,
			   "minimising: %lu%s executions, %.0f%s s, about %lu left; so far %u preemption%s, "
			   "%u decision%s, %zu steps",
			   (unsigned long)(p->made + r->trials), executions,
			   (clock_now_ns() - p->begin_ns) / 1e9, time, (unsigned long)r->left,
			   r->preemptions, r->preemptions == 1 ? "" : "s", r->differences,
			   r->differences == 1 ? "" : "s", r->nr);
}

/* The trace of the simplest one so far is kept. */
static bool after(void *ctx, const struct execution *x)
{
	struct progress *p = ctx;
	struct minimized *m = p->m;
	struct minimize_result r;

	minimize_result(p->s, &r);
	if (r.trials == 1 && r.reproduced && p->first && !m->dropped && !m->dropped_timers) {
		m->preemptions_before = r.preemptions;
		m->decisions_before = r.differences;
		m->steps_before = r.nr;
	} else if (r.trials == 1 && !r.reproduced && x->outcome.kind != ZUG_OUTCOME_INTERRUPTED) {
		outcome_words(&x->outcome, m->came, sizeof(m->came));
	}
	say_progress(p, &r);
	return r.reproduced && r.trial == r.trials;
}

/* When the time of all that has been made since begin_ns is over; 0: no bound. */
static uint64_t until_ns(const struct minimize_limits *limits, uint64_t begin_ns)
{
	return limits->time_ns ? begin_ns + limits->time_ns : 0;
}

/* What has ended the search of the simplest before it was minimal. */
static enum minimize_cut what_cut(const struct campaign *c, const struct minimize_limits *limits,
				  uint64_t begin_ns, uint64_t executions)
{
	return session_interrupted(&c->s)						   ? MINIMIZE_INTERRUPTED :
	       limits->executions && executions >= limits->executions ? MINIMIZE_CUT_EXECUTIONS :
	       session_late(&c->s, until_ns(limits, begin_ns))				   ? MINIMIZE_CUT_TIME :
									     MINIMIZE_CUT_STEPS;
}

/* The first trial follows steps of t although points on data are others. 0 or -ENOMEM. */
static int follow_other_data(struct trials *trials)
{
	const struct replay *r = &trials->follow;
	struct zug_label *labels = malloc((r->nr + 1) * sizeof(*labels));
	int ret = -ENOMEM;

	for (uint64_t i = 0; labels && i < r->nr; i++)
		labels[i] = replay_step(r, i)->label;
	if (labels)
		ret = minimize_other_data(trials->search, labels);
	free(labels);
	return ret;
}

/* One search of the simplest: what it is given, and what came of it. */
struct simplest {
	const struct trace *t;
	const struct minimize_limits *limits;	/* of all that has been made since begin_ns */
	uint64_t begin_ns;
	uint64_t window;	/* of a livelock: so many steps; 0: in full */
	bool once;		/* the schedule is executed, and nothing simpler is looked for */
	struct trials trials;
	struct minimize_result r;	/* its schedule is the search's */
};

/* tasks: nr of them, the schedule that is begun with; NULL: that of s->t. trials_release() follows. 0 or -errno. */
static int find(struct campaign *c, struct simplest *s, const uint32_t *tasks, size_t nr, bool first, struct minimized *m,
		char *err, size_t errlen)
{
	const struct minimize_limits *limits = s->limits;
	struct progress p = {
		.c = c, .m = m, .limits = limits, .begin_ns = s->begin_ns, .made = m->executions, .first = first
	};
	/* one more than is left: the first follows what has been seen to fail */
	uint64_t left = limits->executions ? limits->executions - m->executions + !!m->executions : 0;
	int ret;

	snprintf(err, errlen, "out of memory");
	memset(&s->r, 0, sizeof(s->r));
	ret = trials_init(&s->trials, c, s->t);
	if (ret)
		return ret;
	s->trials.search = minimize_new(&s->trials.options, tasks ? tasks : s->trials.follow.tasks,
					tasks ? nr : s->trials.follow.nr, trace_outcome(s->t)->failure, s->once ? 1 : left, err,
					errlen);
	if (!s->trials.search || (limits->other_data && !tasks && follow_other_data(&s->trials)))
		return -ENOMEM;
	if (trace_outcome(s->t)->kind == ZUG_OUTCOME_LIVELOCK)
		minimize_loop(s->trials.search, s->window ? s->window : PROGRESS_WINDOW);
	if (limits->twice && !s->once)
		minimize_twice(s->trials.search);
	s->trials.max_steps = limits->steps;
	s->trials.until_ns = until_ns(limits, s->begin_ns);
	s->trials.after = after;
	s->trials.ctx = &p;
	p.s = s->trials.search;
	session_template_expect(&c->s, UINT64_MAX);
	engine_set_window(c->s.engine, s->window);
	ret = trials_run(c, &s->trials, err, errlen);
	engine_set_window(c->s.engine, 0);
	minimize_result(s->trials.search, &s->r);
	m->executions += s->r.trials;
	return ret;
}

/* What s has found is m's; the trace and the pairs are those of 'whole', which is that schedule in full. */
static int take(struct campaign *c, const struct simplest *s, const struct simplest *whole, const char *to, struct minimized *m,
		char *err, size_t errlen)
{
	m->reproduced = true;
	m->minimal = s->r.minimal;
	m->left = s->r.left;
	m->cut = s->r.minimal ? MINIMIZE_WHOLE : what_cut(c, s->limits, s->begin_ns, m->executions);
	m->preemptions = whole->r.preemptions;
	m->decisions = whole->r.differences;
	m->steps = whole->r.nr;
	m->simpler = s->r.trial > 1 || s->limits->other_data || m->dropped || m->dropped_timers;
	return write_result(c, whole->trials.best, to, m, &whole->r, err, errlen);
}

/*
 * A livelock: the simplest with few steps in its loop (TRIAL_WINDOW), and then in full. *done: that schedule fails in full as
 * well, and is m's, or the failure did not come again; false: all has to be done in full.
 */
static int minimize_livelock(struct campaign *c, const struct simplest *of, const char *to, struct minimized *m, bool *done,
			     char *err, size_t errlen)
{
	struct simplest found = *of, few = *of, whole = *of;
	int ret;

	found.once = whole.once = true;
	few.window = TRIAL_WINDOW;
	ret = find(c, &found, NULL, 0, true, m, err, errlen);
	*done = ret || !found.r.reproduced;
	m->reproduced = found.r.reproduced;
	trials_release(&found.trials);
	if (*done)
		return ret;
	ret = find(c, &few, NULL, 0, false, m, err, errlen);
	if (!ret && few.r.reproduced)
		ret = find(c, &whole, few.r.tasks, few.r.nr, false, m, err, errlen);
	*done = ret || (few.r.reproduced && whole.r.reproduced);
	if (!ret && *done)
		ret = take(c, &few, &whole, to, m, err, errlen);
	trials_release(&whole.trials);
	trials_release(&few.trials);
	return ret;
}

static int minimize_schedule(struct campaign *c, const struct trace *t, const struct minimize_limits *limits, uint64_t begin_ns,
			     const char *to, struct minimized *m, char *err, size_t errlen)
{
	struct simplest s = { .t = t, .limits = limits, .begin_ns = begin_ns };
	bool done = false;
	int ret = 0;

	if (trace_outcome(t)->kind == ZUG_OUTCOME_LIVELOCK && trace_nr_steps(t) > PROGRESS_WINDOW)
		ret = minimize_livelock(c, &s, to, m, &done, err, errlen);
	if (ret || done)
		return ret;
	ret = find(c, &s, NULL, 0, true, m, err, errlen);
	m->reproduced = s.r.reproduced;
	if (!ret && m->reproduced)
		ret = take(c, &s, &s, to, m, err, errlen);
	trials_release(&s.trials);
	return ret;
}

/*
 * A fault that the trace at 'to' can do without is left out: *less is that trace, still to be
 * minimised, or NULL. 0 or -errno with a line in err.
 */
static int drop_fault(struct campaign *c, const struct minimize_limits *limits, uint64_t begin_ns,
		      const char *to, struct minimized *m, struct trace **less, char *err,
		      size_t errlen)
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
		if ((limits->executions && m->executions >= limits->executions) ||
		    session_late(&c->s, until_ns(limits, begin_ns)) || session_interrupted(&c->s)) {
			m->minimal = false;
			m->cut = what_cut(c, limits, begin_ns, m->executions);
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

static bool has_early(const struct trace *t)
{
	for (uint64_t i = 0; i <= trace_nr_steps(t); i++)
		for (uint32_t k = 0; k < trace_nr_notes(t, i); k++)
			if (trace_note_at(t, i, k)->kind == TRACE_NOTE_EARLY)
				return true;
	return false;
}

static int allow_early(struct campaign *c, bool may, char *err, size_t errlen)
{
	session_explore_timeouts(&c->s, may);
	return c->s.update_options ? c->s.update_options(c->s.judge_ctx, err, errlen) : 0;
}

/*
 * The same schedule, as far as it goes, where no time-out ends before its time: *less is its trace if
 * it fails like that too, and NULL if it does not.
 */
static int without_early(struct campaign *c, const struct trace *t, const char *to,
			 struct minimized *m, struct trace **less, char *err, size_t errlen)
{
	struct execution x;
	int ret;

	*less = NULL;
	if (!has_early(t))
		return 0;
	ret = allow_early(c, false, err, errlen);
	if (!ret)
		ret = trials_once(c, t, &(struct trials_once){ .without = UINT64_MAX, .to = to }, &x,
				  err, errlen);
	m->executions++;
	if (ret == 1) {
		*less = trace_open(to, err, errlen);
		return *less ? 0 : -EIO;
	}
	return ret ? ret : allow_early(c, true, err, errlen);
}

static bool has_numbers(const struct trace *t)
{
	uint32_t value;

	/* a value that the program asks for itself is about no object */
	for (uint64_t i = 0; i < trace_nr_steps(t); i++) {
		const struct zug_label *l = &trace_step(t, i)->label;

		if (l->op == ZUG_OP_CHOICE && l->object && value_of(l->object2, &value) && value)
			return true;
	}
	return false;
}

/* The same schedule, as far as it goes, where random numbers of the program are as its runtime made them: as without_early(). */
static int without_numbers(struct campaign *c, const struct trace *t, const char *to, struct minimized *m, struct trace **less,
			   char *err, size_t errlen)
{
	struct execution x;
	int ret;

	*less = NULL;
	if (!has_numbers(t))
		return 0;
	engine_leave_numbers(c->s.engine, true);
	ret = trials_once(c, t, &(struct trials_once){ .without = UINT64_MAX, .to = to }, &x, err, errlen);
	engine_leave_numbers(c->s.engine, false);
	m->executions++;
	if (ret == 1) {
		*less = trace_open(to, err, errlen);
		return *less ? 0 : -EIO;
	}
	return ret;
}

int minimize_trace(struct campaign *c, const struct trace *t, const struct minimize_limits *limits,
		   const char *to, struct minimized *m, char *err, size_t errlen)
{
	uint64_t begin_ns = clock_now_ns();
	struct trace *less, *plain = NULL;
	int ret;

	memset(m, 0, sizeof(*m));
	ret = without_early(c, t, to, m, &less, err, errlen);
	if (!ret)
		ret = without_numbers(c, less ? less : t, to, m, &plain, err, errlen);
	if (!ret)
		ret = minimize_schedule(c, plain ? plain : less ? less : t, limits, begin_ns, to, m, err, errlen);
	if (less || plain)
		m->simpler = true;
	trace_free(less);
	trace_free(plain);
	while (!ret && m->reproduced && m->minimal) {
		ret = drop_fault(c, limits, begin_ns, to, m, &less, err, errlen);
		if (ret || !less)
			break;
		ret = minimize_schedule(c, less, limits, begin_ns, to, m, err, errlen);
		trace_free(less);
	}
	m->time_ns = clock_now_ns() - begin_ns;
	return ret;
}
