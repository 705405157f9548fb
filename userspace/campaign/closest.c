/* SPDX-License-Identifier: GPL-2.0-only */
/* closest.c - the passing execution that is closest to a trace, and what of it is written into that trace (closest.h) */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/base/clock.h"
#include "lib/base/new_file.h"
#include "campaign/campaign_internal.h"
#include "campaign/closest.h"
#include "engine/faults.h"
#include "campaign/trials.h"

/*
 * Steps of all executions together that look for what decides, without those that are left out, beside so many executions like
 * the failing one.
 */
#define EXPLAIN_STEPS 100000

/* So many of the last steps are told with their callers, and all from the operations that decide on: the failure is there. */
#define CALLERS_LAST 2000
/* The same of a schedule that there was no time to make simple: the report looks for its cause in all of it (report_torn()). */
#define CALLERS_LAST_UNCUT 10000

struct progress {
	const struct campaign *c;
	const struct search *s;
	struct closest *m;
	uint64_t most;		/* executions */
};

static bool after(void *ctx, const struct execution *x)
{
	struct progress *p = ctx;
	struct neighbour_result r;

	neighbour_result(p->s, &r);
	if (r.trials == 1 && !r.reproduced && x->outcome.kind != ZUG_OUTCOME_INTERRUPTED)
		outcome_words(&x->outcome, p->m->came, sizeof(p->m->came));
	session_say_trying(&p->c->s, "looking for the closest that passes: %lu of at most %lu executions, %s",
			   (unsigned long)r.trials, (unsigned long)p->most,
			   r.found ? "one passes" : "none passes so far");
	return r.found && r.trial == r.trials;
}

struct near_limits {
	uint64_t executions, steps, until_ns;	/* 0: no bound */
};

/*
 * The search near t; in *m what it came to. to: where the trace of the closest goes; NULL: it is not
 * kept. 0 or -errno with a line in err.
 */
static int look(struct campaign *c, const struct trace *t, const struct near_limits *limits,
		const char *to, struct closest *m, char *err, size_t errlen)
{
	struct progress p = { .c = c, .m = m, .most = limits->executions };
	struct trials trials;
	int ret;

	memset(m, 0, sizeof(*m));
	snprintf(err, errlen, "out of memory");
	ret = trials_init(&trials, c, t);
	if (ret)
		goto out;
	trials.search = neighbour_new(&trials.options, trials.follow.tasks, trials.follow.nr,
				     trace_outcome(t)->failure, limits->executions, err, errlen);
	if (!trials.search) {
		ret = -ENOMEM;
		goto out;
	}
	neighbour_set_foreign(trials.search, session_is_foreign, &c->s);
	neighbour_set_users(trials.search, session_is_users, &c->s);
	if (trace_outcome(t)->kind == ZUG_OUTCOME_MISUSE)
		neighbour_set_misuse(trials.search);
	trials.passes = true;
	trials.max_steps = limits->steps;
	trials.until_ns = limits->until_ns;
	trials.what = ASIDE_EXPLAIN;
	trials.after = after;
	trials.ctx = &p;
	p.s = trials.search;
	session_template_expect(&c->s, UINT64_MAX);
	engine_set_window(c->s.engine, trace_outcome(t)->kind == ZUG_OUTCOME_LIVELOCK ? TRIAL_WINDOW : 0);
	ret = trials_run(c, &trials, err, errlen);
	engine_set_window(c->s.engine, 0);
	neighbour_result(trials.search, &m->r);
	m->interrupted = session_interrupted(&c->s);
	m->late = !m->r.all && session_late(&c->s, limits->until_ns);
	if (!ret && m->r.found && to)
		ret = trials_keep(c, trials.best, to, err, errlen);
out:
	trials_release(&trials);
	return ret;
}

int closest_trace(struct campaign *c, const struct trace *t, uint64_t executions, const char *to,
		  struct closest *m, char *err, size_t errlen)
{
	return look(c, t, &(struct near_limits){ .executions = executions }, to, m, err, errlen);
}

/* ---- what decides, in the trace itself ---- */

static void write_critical(const struct campaign *c, struct trace_writer *w, const struct trace *t,
			   const struct neighbour_result *r)
{
	struct trace_minimized m = *trace_minimized(t);

	m.near = r->trials;
	m.alike = r->alike;
	m.critical = (struct trace_critical){ .known = r->found && r->nr_pairs, .alone = r->alone, .torn = r->torn };
	if (m.critical.known || m.critical.torn) {
		m.critical.first_task = r->first.task;
		m.critical.first_step = r->first.failing;
		m.critical.first = r->first.label;
		m.critical.second_task = r->second.task;
		m.critical.second_step = r->second.failing;
		m.critical.second = r->second_here;
		trials_describe(c, w, t, &m.critical.second);
	}
	trace_add_minimized(w, &m);
}

static bool something_else(const struct trace *t)
{
	for (uint64_t i = 0; i < trace_nr_steps(t); i++)
		if (faults_decided(trace_step(t, i)))
			return true;
	return false;
}

/*
 * The steps of t with the lines that call the library code which makes them, in a trace at 'to'. NULL: there is no
 * such execution.
 */
static struct trace *note_callers(struct campaign *c, const struct trace *t, const char *to)
{
	const struct trace_minimized *m = trace_minimized(t);
	uint64_t nr = trace_nr_steps(t), last = m && !m->minimal ? CALLERS_LAST_UNCUT : CALLERS_LAST;
	uint64_t from = nr > last ? nr - last : 0;
	const struct trials_once same = { .without = UINT64_MAX, .to = to };
	struct trace *told = NULL;
	struct execution x;
	char err[512];
	int ret;

	if (m && m->critical.known && m->critical.first_step < from)
		from = m->critical.first_step;
	if (m && m->critical.known && m->critical.second_step < from)
		from = m->critical.second_step;
	engine_note_callers(c->s.engine, from);
	ret = trials_once(c, t, &same, &x, err, sizeof(err));
	engine_note_callers(c->s.engine, UINT64_MAX);
	told = ret == 1 ? trace_open(to, err, sizeof(err)) : NULL;
	for (uint64_t i = 0; told && i < nr; i++) {
		const struct trace_step *a = trace_step(t, i), *b = trace_step(told, i);

		if (b && a->task == b->task && a->label.op == b->label.op && a->label.site == b->label.site)
			continue;
		trace_free(told);
		told = NULL;
	}
	return told;
}

/* A step of t is made by code of a library that has lines: a method of a header; or by an interpreter, a shell as well. */
static bool has_library_lines(const struct campaign *c, const struct trace *t)
{
	if (symbols_interpret(c->s.symbols) || symbols_have_scripts(c->s.symbols))
		return true;
	for (uint64_t i = 0; i < trace_nr_steps(t); i++)
		if (session_in_library(&c->s, trace_step(t, i)->label.site))
			return true;
	return false;
}

int closest_explain(struct campaign *c, const char *path, uint64_t executions, uint64_t until_ns,
		    bool *known, char *err, size_t errlen)
{
	struct near_limits limits = { executions, EXPLAIN_STEPS, until_ns };
	struct trace *t = trace_open(path, err, errlen);
	struct trace_writer *w;
	struct closest m;
	char *with;
	int ret;

	*known = true;
	if (!t)
		return -EIO;
	if (!trace_minimized(t) || something_else(t)) {
		trace_free(t);
		return 0;
	}
	if (asprintf(&with, "%s.with", path) < 0) {
		trace_free(t);
		snprintf(err, errlen, "out of memory");
		return -ENOMEM;
	}
	/* of a long execution as many are made as of a short one, as far as there is time */
	limits.steps += executions * trace_nr_steps(t);
	ret = look(c, t, &limits, NULL, &m, err, errlen);
	*known = ret || !m.r.reproduced || m.r.torn || (m.r.found && m.r.nr_pairs);
	if (!ret && m.late && !m.r.found)
		session_say(&c->s, "what decides was looked for in %lu executions, until the time for that was over; "
			    "zug diff tries more", (unsigned long)m.r.trials);
	if (!ret && m.r.reproduced) {
		w = trace_copy(t, with, &ret);
		if (w) {
			write_critical(c, w, t, &m.r);
			ret = trace_close(w, false);
		}
		if (!ret && new_file_rename(with, path))
			ret = -errno;
		if (ret)
			snprintf(err, errlen, "cannot write %s: %s", path, strerror(-ret));
	}
	trace_free(t);
	free(with);
	return ret;
}

int closest_note_callers(struct campaign *c, const char *path, char *err, size_t errlen)
{
	struct trace *t = trace_open(path, err, errlen), *callers = NULL;
	char *with = NULL;
	int ret = 0;

	if (!t)
		return -EIO;
	if (asprintf(&with, "%s.with", path) < 0) {
		with = NULL;
		ret = -ENOMEM;
	}
	/* one execution, also when the time is over: nothing else tells the program's line */
	if (with && has_library_lines(c, t))
		callers = note_callers(c, t, with);
	if (callers)
		ret = trace_write_callers(t, callers, with);
	if (callers && !ret && new_file_rename(with, path))
		ret = -errno;
	if (ret)
		snprintf(err, errlen, "cannot write %s: %s", path, strerror(-ret));
	trace_free(callers);
	trace_free(t);
	free(with);
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
			      !session_interrupted(&c->s) && !session_late(&c->s, 0);) {
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
	m->late = session_late(&c->s, 0);
	return ret < 0 ? ret : 0;
}
