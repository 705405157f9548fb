/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * minimize.c - the simplest schedule that fails as a trace does, and without what it can do without (minimize.h)
 *
 * First the same schedule is tried without early time-outs and without chosen random numbers, then its decisions are made
 * simpler (search/minimize.h), and then one fault after the other is left out, each time with the decisions made simpler again.
 */
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

/* What minimize_trace() was asked for: the same for all that is tried. */
struct minimizing {
	struct campaign *c;
	const struct minimize_limits *limits;	/* of all that has been made since begin_ns */
	uint64_t begin_ns;
	const char *to;				/* where the simplest trace goes */
	struct minimized *m;
	char *err;
	size_t errlen;
};

/* The trace at 'from', with what was found out about it. */
static int write_result(const struct minimizing *z, const char *from, const struct minimize_result *r)
{
	struct trace_pair *pairs = calloc(r->nr_pairs + 1, sizeof(*pairs));
	struct trace *t = trace_open(from, z->err, z->errlen);
	const struct minimized *m = z->m;
	struct trace_writer *w = NULL;
	int ret = -ENOMEM;

	if (!t || !pairs) {
		ret = t ? -ENOMEM : -EIO;
		goto out;
	}
	w = trace_copy(t, z->to, &ret);
	if (!w) {
		snprintf(z->err, z->errlen, "cannot write %s: %s", z->to, strerror(-ret));
		goto out;
	}
	for (size_t i = 0; i < r->nr_pairs; i++) {
		const struct minimize_pair *p = &r->pairs[i];

		pairs[i] = (struct trace_pair){ .step = p->step, .after_step = p->after_step,
						.preempted = p->preempted, .by = p->by,
						.before = p->before, .after = p->after };
		trials_describe(z->c, w, t, &p->before);
	}
	ret = trials_name_data(z->c, w, t);
	trace_add_minimized(w, &(struct trace_minimized){
		.executions = m->executions, .minimal = m->minimal, .steps_before = m->steps_before,
		.preemptions_before = m->preemptions_before, .preemptions = m->preemptions,
		.decisions_before = m->decisions_before, .decisions = m->decisions,
		.nr_pairs = r->nr_pairs, .pairs = pairs });
	ret = trace_close(w, ret) ?: ret;
	if (ret)
		snprintf(z->err, z->errlen, "cannot write %s: %s", z->to, strerror(-ret));
out:
	trace_free(t);
	free(pairs);
	return ret;
}

struct progress {
	const struct minimizing *z;
	const struct search *s;
	uint64_t made;			/* executions before this search of the simplest */
	bool first;			/* its first execution is the one that is to be simplified, whole */
};

/* "minimising: 57 of at most 200 executions, 12 of at most 60 s, about 14 left; so far 1 preemption, ..." */
static void say_progress(const struct progress *p, const struct minimize_result *r)
{
	const struct minimize_limits *limits = p->z->limits;
	char executions[48] = "", time[48] = "";

	if (limits->executions)
		snprintf(executions, sizeof(executions), " of at most %lu",
			 (unsigned long)limits->executions);
	if (limits->time_ns)
		snprintf(time, sizeof(time), " of at most %.0f", limits->time_ns / 1e9);
	session_say_trying(&p->z->c->s,
			   "minimising: %lu%s executions, %.0f%s s, about %lu left; so far %u preemption%s, "
			   "%u decision%s, %zu steps",
			   (unsigned long)(p->made + r->trials), executions,
			   (clock_now_ns() - p->z->begin_ns) / 1e9, time, (unsigned long)r->left,
			   r->preemptions, r->preemptions == 1 ? "" : "s", r->differences,
			   r->differences == 1 ? "" : "s", r->nr);
}

/* The trace of the simplest one so far is kept. */
static bool after(void *ctx, const struct execution *x)
{
	struct progress *p = ctx;
	struct minimized *m = p->z->m;
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

/* When the time is over; 0: no bound. */
static uint64_t until_ns(const struct minimizing *z)
{
	return z->limits->time_ns ? z->begin_ns + z->limits->time_ns : 0;
}

static bool is_late(const struct minimizing *z)
{
	return session_late(&z->c->s, until_ns(z));
}

static bool all_made(const struct minimizing *z)
{
	return z->limits->executions && z->m->executions >= z->limits->executions;
}

/* What has ended the search of the simplest before it was minimal. */
static enum minimize_cut what_cut(const struct minimizing *z)
{
	return session_interrupted(&z->c->s) ? MINIMIZE_INTERRUPTED :
	       all_made(z) ? MINIMIZE_CUT_EXECUTIONS :
	       is_late(z) ? MINIMIZE_CUT_TIME : MINIMIZE_CUT_STEPS;
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
	uint64_t window;	/* of a livelock: so many steps; 0: in full */
	bool once;		/* the schedule is executed, and nothing simpler is looked for */
	struct trials trials;
	struct minimize_result r;	/* its schedule is the search's */
};

/* tasks: nr of them, the schedule that is begun with; NULL: that of s->t. trials_release() follows. 0 or -errno. */
static int find(const struct minimizing *z, struct simplest *s, const uint32_t *tasks, size_t nr, bool first)
{
	const struct minimize_limits *limits = z->limits;
	struct campaign *c = z->c;
	struct progress p = { .z = z, .made = z->m->executions, .first = first };
	/* one more than is left: the first follows what has been seen to fail */
	uint64_t left = limits->executions ? limits->executions - p.made + !!p.made : 0;
	int ret;

	snprintf(z->err, z->errlen, "out of memory");
	memset(&s->r, 0, sizeof(s->r));
	ret = trials_init(&s->trials, c, s->t);
	if (ret)
		return ret;
	s->trials.search = minimize_new(&s->trials.options, tasks ? tasks : s->trials.follow.tasks,
					tasks ? nr : s->trials.follow.nr, trace_outcome(s->t)->failure, s->once ? 1 : left,
					z->err, z->errlen);
	if (!s->trials.search || (limits->other_data && !tasks && follow_other_data(&s->trials)))
		return -ENOMEM;
	if (trace_outcome(s->t)->kind == ZUG_OUTCOME_LIVELOCK)
		minimize_loop(s->trials.search, s->window ? s->window : PROGRESS_WINDOW);
	if (limits->twice && !s->once)
		minimize_twice(s->trials.search);
	minimize_set_users(s->trials.search, session_is_users, &c->s);
	s->trials.max_steps = limits->steps;
	s->trials.until_ns = until_ns(z);
	s->trials.after = after;
	s->trials.ctx = &p;
	p.s = s->trials.search;
	session_template_expect(&c->s, UINT64_MAX);
	engine_set_window(c->s.engine, s->window);
	ret = trials_run(c, &s->trials, z->err, z->errlen);
	engine_set_window(c->s.engine, 0);
	minimize_result(s->trials.search, &s->r);
	z->m->executions += s->r.trials;
	return ret;
}

/* What s has found is the result; the trace and the pairs are those of 'whole', which is that schedule in full. */
static int take(const struct minimizing *z, const struct simplest *s, const struct simplest *whole)
{
	struct minimized *m = z->m;

	m->reproduced = true;
	m->minimal = s->r.minimal;
	m->left = s->r.left;
	m->cut = s->r.minimal ? MINIMIZE_WHOLE : what_cut(z);
	m->preemptions = whole->r.preemptions;
	m->decisions = whole->r.differences;
	m->steps = whole->r.nr;
	m->simpler = s->r.trial > 1 || z->limits->other_data || m->dropped || m->dropped_timers;
	return write_result(z, whole->trials.best, &whole->r);
}

/*
 * A livelock: the simplest with few steps in its loop (TRIAL_WINDOW), and then in full. *done: that schedule fails in full as
 * well, and is the result, or the failure did not come again; false: all has to be done in full.
 */
static int minimize_livelock(const struct minimizing *z, const struct simplest *of, bool *done)
{
	struct simplest found = *of, few = *of, whole = *of;
	int ret;

	found.once = whole.once = true;
	few.window = TRIAL_WINDOW;
	ret = find(z, &found, NULL, 0, true);
	*done = ret || !found.r.reproduced;
	z->m->reproduced = found.r.reproduced;
	trials_release(&found.trials);
	if (*done)
		return ret;
	ret = find(z, &few, NULL, 0, false);
	if (!ret && few.r.reproduced)
		ret = find(z, &whole, few.r.tasks, few.r.nr, false);
	*done = ret || (few.r.reproduced && whole.r.reproduced);
	if (!ret && *done)
		ret = take(z, &few, &whole);
	trials_release(&whole.trials);
	trials_release(&few.trials);
	return ret;
}

static int minimize_schedule(const struct minimizing *z, const struct trace *t)
{
	struct simplest s = { .t = t };
	bool done = false;
	int ret = 0;

	if (trace_outcome(t)->kind == ZUG_OUTCOME_LIVELOCK && trace_nr_steps(t) > PROGRESS_WINDOW)
		ret = minimize_livelock(z, &s, &done);
	if (ret || done)
		return ret;
	ret = find(z, &s, NULL, 0, true);
	z->m->reproduced = s.r.reproduced;
	if (!ret && z->m->reproduced)
		ret = take(z, &s, &s);
	trials_release(&s.trials);
	return ret;
}

/*
 * One execution of t's schedule, as far as it goes. 1: it fails like that too, and *less is its trace; 0: it does not. -errno
 * with a line in z->err.
 */
static int try_once(const struct minimizing *z, const struct trace *t, uint64_t without, bool gone, struct trace **less)
{
	struct execution x;
	int ret = trials_once(z->c, t, &(struct trials_once){ .without = without, .gone = gone, .to = z->to }, &x, z->err, z->errlen);

	z->m->executions++;
	if (ret != 1)
		return ret;
	*less = trace_open(z->to, z->err, z->errlen);
	return *less ? 1 : -EIO;
}

/*
 * A fault that the trace at z->to can do without is left out: *less is that trace, still to be
 * minimised, or NULL. 0 or -errno with a line in z->err.
 */
static int drop_fault(const struct minimizing *z, struct trace **less)
{
	struct trace *t = trace_open(z->to, z->err, z->errlen);
	struct minimized *m = z->m;
	int ret = t ? 0 : -EIO;
	bool timer = false;

	*less = NULL;
	/* the call is made as it should be; or, for it was repeated after that, it is not made */
	for (uint64_t i = 0; t && !ret && i < 2 * trace_nr_steps(t); i++) {
		const struct trace_step *s = trace_step(t, i / 2);

		if (!faults_decided(s) || (i % 2 && !zug_op_is_fault(s->label.op)))
			continue;
		timer = !zug_op_is_fault(s->label.op);
		if (all_made(z) || is_late(z) || session_interrupted(&z->c->s)) {
			m->minimal = false;
			m->cut = what_cut(z);
			break;
		}
		ret = try_once(z, t, i / 2, i % 2, less);
	}
	trace_free(t);
	if (ret < 0)
		return ret;
	m->dropped_timers += *less && timer;
	m->dropped += *less && !timer;
	return 0;
}

static bool has_early(const struct trace *t)
{
	for (uint64_t i = 0; i <= trace_nr_steps(t); i++)
		for (uint32_t k = 0; k < trace_nr_notes(t, i); k++)
			if (trace_note_at(t, i, k)->kind == TRACE_NOTE_EARLY)
				return true;
	return false;
}

static int allow_early(const struct minimizing *z, bool may)
{
	struct session *s = &z->c->s;

	session_explore_timeouts(s, may);
	return s->update_options ? s->update_options(s->judge_ctx, z->err, z->errlen) : 0;
}

/*
 * The same schedule, as far as it goes, where no time-out ends before its time: *less is its trace if
 * it fails like that too, and NULL if it does not.
 */
static int without_early(const struct minimizing *z, const struct trace *t, struct trace **less)
{
	int ret;

	*less = NULL;
	if (!has_early(t))
		return 0;
	ret = allow_early(z, false);
	if (!ret)
		ret = try_once(z, t, UINT64_MAX, false, less);
	if (ret)
		return ret < 0 ? ret : 0;
	return allow_early(z, true);
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

/* The same where random numbers of the program are as its runtime made them. */
static int without_numbers(const struct minimizing *z, const struct trace *t, struct trace **less)
{
	int ret;

	*less = NULL;
	if (!has_numbers(t))
		return 0;
	engine_leave_numbers(z->c->s.engine, true);
	ret = try_once(z, t, UINT64_MAX, false, less);
	engine_leave_numbers(z->c->s.engine, false);
	return ret < 0 ? ret : 0;
}

int minimize_trace(struct campaign *c, const struct trace *t, const struct minimize_limits *limits,
		   const char *to, struct minimized *m, char *err, size_t errlen)
{
	const struct minimizing z = { c, limits, clock_now_ns(), to, m, err, errlen };
	struct trace *less, *plain = NULL;
	int ret;

	memset(m, 0, sizeof(*m));
	ret = without_early(&z, t, &less);
	if (!ret)
		ret = without_numbers(&z, less ? less : t, &plain);
	if (!ret)
		ret = minimize_schedule(&z, plain ? plain : less ? less : t);
	if (less || plain)
		m->simpler = true;
	trace_free(less);
	trace_free(plain);
	while (!ret && m->reproduced && m->minimal) {
		ret = drop_fault(&z, &less);
		if (ret || !less)
			break;
		ret = minimize_schedule(&z, less);
		trace_free(less);
	}
	m->time_ns = clock_now_ns() - z.begin_ns;
	return ret;
}
