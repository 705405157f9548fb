/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a campaign tells, and what it came to, as text for people: the observer (messages, the
 * progress line, findings) and the summary at the end. campaign_text_run() is what zug run does,
 * campaign_text_init() begins the list of callbacks.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/base/clock.h"
#include "lib/base/debug.h"
#include "engine/script.h"
#include "cli/campaign_text.h"
#include "cli/points_text.h"
#include "report/report.h"

#define PROGRESS_NS 200000000ull	/* between two progress lines */
#define LANES_ALONE 8			/* so many lanes are shown one by one */
/* Races that are shown with their steps; each further one gets a line. */
#define RACES_SHOWN 3

static const char *seconds(uint64_t ns, char *buf, size_t len)
{
	if (ns < 1000000000ull)
		snprintf(buf, len, "%.0f ms", ns / 1e6);
	else if (ns < 120000000000ull)
		snprintf(buf, len, "%.1f s", ns / 1e9);
	else
		snprintf(buf, len, "%.0f min", ns / 60e9);
	return buf;
}

static void count(FILE *out, uint64_t n, const char *what, const char *after)
{
	fprintf(out, "%lu %s%s%s", (unsigned long)n, what, n == 1 ? "" : "s", after);
}

/* Says why minimising ended before it was through, and how far it was. */
static void cut_text(FILE *out, const struct minimized *m)
{
	char text[32];

	if (m->cut == MINIMIZE_ONCE) {
		fputs("; simpler ones failed like that, but not again", out);
		return;
	}
	if (m->cut == MINIMIZE_INTERRUPTED)
		fputs("; interrupted", out);
	else
		fprintf(out, "; stopped after %s%s", seconds(m->time_ns, text, sizeof(text)),
			m->cut == MINIMIZE_CUT_EXECUTIONS ? " by its bound of executions" :
			m->cut == MINIMIZE_CUT_STEPS	  ? " by its bound of steps" :
							    "");
	if (m->left)
		fprintf(out, " with about %lu of %lu tries left", (unsigned long)m->left,
			(unsigned long)(m->executions + m->left));
	fputs(": there may be a simpler one", out);
}

void minimized_text(FILE *out, const struct minimized *m)
{
	fprintf(out, "minimised in ");
	count(out, m->executions, "execution", ": ");
	count(out, m->preemptions_before, "preemption", ", ");
	count(out, m->decisions_before, "decision", ", ");
	count(out, m->steps_before, "step", "");
	if (m->simpler) {
		fputs(" -> ", out);
		count(out, m->preemptions, "preemption", ", ");
		count(out, m->decisions, "decision", ", ");
		count(out, m->steps, "step", "");
	}
	if (m->dropped) {
		fputs(", ", out);
		count(out, m->dropped, "fault",
		      m->dropped == 1 ? " was not needed" : " were not needed");
	}
	if (m->dropped_timers) {
		fputs(", ", out);
		count(out, m->dropped_timers, "timer", " need not fire early");
	}
	if (!m->minimal)
		cut_text(out, m);
	else if (!m->simpler && m->executions < 2)
		fputs("; there was nothing to leave out", out);
	else if (!m->simpler)
		fprintf(out, "; none of the %lu simpler ones that were tried fails like that",
			(unsigned long)m->executions - 1);
	putc('\n', out);
}

/* ---- the progress line ---- */

void campaign_text_clear(struct campaign_text *t)
{
	if (t->shown)
		fputs("\r\033[K", t->err);
	t->shown = false;
}

/* Now is the time for another one. */
static bool is_due(struct campaign_text *t)
{
	uint64_t now = clock_now_ns();

	if (!t->progress || now - t->shown_ns < PROGRESS_NS)
		return false;
	t->shown_ns = now;
	t->shown = true;
	return true;
}

/* ", lanes 12+11+0 (ended)+14": what each lane has made; of many the least and the most. "": there are none. */
static void say_lanes(const struct campaign_result *r, char *text, size_t len)
{
	uint64_t least = UINT64_MAX, most = 0;
	unsigned int ended = 0;
	size_t n = 0;

	text[0] = 0;
	for (unsigned int i = 0; i < r->nr_lanes; i++) {
		const struct campaign_lane *l = &r->lanes[i];

		ended += l->ended;
		least = l->executions < least && !l->ended ? l->executions : least;
		most = l->executions > most ? l->executions : most;
		if (r->nr_lanes <= LANES_ALONE)
			n += snprintf(text + n, len - n, "%s%lu%s", i ? "+" : ", lanes ", (unsigned long)l->executions,
				      l->ended ? " (ended)" : "");
	}
	if (r->nr_lanes <= LANES_ALONE)
		return;
	n = snprintf(text, len, ", %u lanes with %lu to %lu", r->nr_lanes, (unsigned long)(ended < r->nr_lanes ? least : 0),
		     (unsigned long)most);
	if (ended)
		snprintf(text + n, len - n, " (%u ended)", ended);
}

static void show_progress(struct campaign_text *t, const struct campaign *c)
{
	char eta[64] = "", bound[32] = "", text[32], lanes[320];
	struct campaign_result r;
	uint64_t spent, made;

	if (!is_due(t))
		return;
	campaign_get_result(c, &r);
	made = r.executions - r.resumed;
	spent = r.elapsed_ns - r.setup_ns;
	if (r.search.bound != UINT32_MAX)
		snprintf(bound, sizeof(bound), ", bound %u", r.search.bound);
	if (!isnan(r.search.estimate_total) && r.search.estimate_total > r.executions && spent)
		snprintf(eta, sizeof(eta), ", about %s left",
			 seconds((r.search.estimate_total - r.executions) *
					 (spent / (r.executions ? r.executions : 1)),
				 text, sizeof(text)));
	else if (made && t->o->search.executions >= made)
		snprintf(eta, sizeof(eta), ", at most %s left",
			 seconds((t->o->search.executions - made) * (spent / made), text,
				 sizeof(text)));
	say_lanes(&r, lanes, sizeof(lanes));
	fprintf(t->err, "\r\033[K%lu executions, %.0f/s%s, %lu distinct schedules%s%s",
		(unsigned long)r.executions, r.executions * 1e9 / (spent ? spent : 1), bound,
		(unsigned long)r.search.schedules, lanes, eta);
	fflush(t->err);
}

/* ---- messages ---- */

static void on_message(void *ctx, const char *line)
{
	struct campaign_text *t = ctx;

	campaign_text_clear(t);
	fprintf(t->err, "zug: %s\n", line);
}

static void on_executed(void *ctx, const struct campaign *c, const struct execution *x)
{
	struct campaign_text *t = ctx;
	struct campaign_result r;

	if (debug_word("times")) {
		campaign_get_result(c, &r);
		fprintf(t->err,
			"execution %lu: launch %.2f ms, run %.2f ms, drain %.2f ms, %lu steps, %lu asked, "
			"%s, hash %016lx, trace %016lx\n",
			(unsigned long)r.executions, x->launch_ns / 1e6,
			(x->wall_ns - x->launch_ns - x->drain_ns) / 1e6, x->drain_ns / 1e6,
			(unsigned long)x->steps, (unsigned long)x->asked,
			zug_outcome_name(x->outcome.kind), (unsigned long)x->hash, (unsigned long)x->trace_sum);
	}
	show_progress(t, c);
}

static void on_waiting(void *ctx, const struct campaign *c)
{
	show_progress(ctx, c);
}

static void on_trying(void *ctx, const char *what)
{
	struct campaign_text *t = ctx;

	if (!is_due(t))
		return;
	fprintf(t->err, "\r\033[K%s", what);
	fflush(t->err);
}

/* ---- data races ---- */

enum race_group { RACES, POSSIBLE, HARMLESS };

static enum race_group group_of(const struct campaign_race *r)
{
	return r->kind == RACE_REAL ? RACES : r->kind == RACE_POSSIBLE ? POSSIBLE : HARMLESS;
}

static void race_text(FILE *to, const struct campaign_result *r, const struct campaign_race *race)
{
	struct report_options ro;
	char err[512];
	struct trace *t = trace_open(race->trace, err, sizeof(err));

	if (!t) {
		fprintf(to, "  %s\n  (%s: %s)\n", race->message, race->trace, err);
		return;
	}
	report_options_init(&ro, to);
	ro.symbols = r->symbols;
	report_race(to, t, &ro);
	trace_free(t);
}

static void races_of_group(FILE *to, const struct campaign_result *r, enum race_group group)
{
	unsigned int shown = 0;

	for (unsigned int i = 0; i < r->nr_races; i++) {
		const struct campaign_race *race = &r->races[i];

		if (group_of(race) != group)
			continue;
		if (group == HARMLESS)
			fprintf(to, "  %s (%s)\n", race->message, race->kind == RACE_SAME_VALUE ?
				"both store the same value" : "it is only ever added to, and was not read");
		else if (group == POSSIBLE)
			fprintf(to, "  %.*s\n", (int)strcspn(race->message, ";"), race->message);
		else if (shown++ < RACES_SHOWN)
			race_text(to, r, race);
		else
			fprintf(to, "  %s\n", race->message);
		fprintf(to, "    its trace: %s\n", race->trace);
	}
}

static void races_text(const struct campaign_text *t, const struct campaign_result *r)
{
	char **suppressions = t->o->failure.suppressions;
	unsigned int nr[3] = { 0 };
	FILE *to = t->out;

	for (unsigned int i = 0; i < r->nr_races; i++)
		nr[group_of(&r->races[i])]++;
	if (nr[RACES]) {
		fprintf(to, "%u data race%s (a warning; --fail-on-race makes it a finding):\n",
			nr[RACES], nr[RACES] == 1 ? "" : "s");
		races_of_group(to, r, RACES);
	}
	if (nr[POSSIBLE]) {
		fprintf(to,
			"%u possible data race%s (none, if both accesses are atomic, which cannot be told without the "
			"sources):\n",
			nr[POSSIBLE], nr[POSSIBLE] == 1 ? "" : "s");
		races_of_group(to, r, POSSIBLE);
	}
	if (nr[HARMLESS]) {
		fprintf(to, "%u data race%s that look%s harmless:\n", nr[HARMLESS],
			nr[HARMLESS] == 1 ? "" : "s", nr[HARMLESS] == 1 ? "s" : "");
		races_of_group(to, r, HARMLESS);
	}
	if (r->nr_suppressed)
		fprintf(to, "%u data race%s suppressed (--suppressions)\n", r->nr_suppressed,
			r->nr_suppressed == 1 ? "" : "s");
	for (unsigned int i = 0; suppressions && suppressions[i]; i++)
		if (!r->suppression_used[i])
			fprintf(to, "suppression race:%s: matched no data race\n", suppressions[i]);
}

/* ---- failures that did not come again ---- */

static void once_summary_text(FILE *out, const struct campaign_result *r)
{
	fprintf(out,
		"%u failure%s did not repeat: the test depends on something that is not controlled (zug check "
		"says on what), or this is a fault of zug:\n",
		r->nr_once, r->nr_once == 1 ? "" : "s");
	for (unsigned int i = 0; i < r->nr_once; i++) {
		const struct campaign_failure *f = &r->once[i];

		fprintf(out, "  %s: %.200s\n    seen %lu time%s, first in execution %lu; trace: %s\n",
			zug_outcome_name(f->kind), f->message, (unsigned long)f->times,
			f->times == 1 ? "" : "s", (unsigned long)f->first,
			f->trace ? f->trace : "(not kept)");
	}
}

/* ---- scripts ---- */

unsigned int script_text_unmade(const struct campaign *c, const char *script, FILE *out)
{
	struct search_script_line l;
	struct script_result r;
	unsigned int unmade = 0;

	campaign_script_result(c, &r);
	for (unsigned int i = 0; i < r.nr; i++) {
		campaign_script_line(c, i, &l);
		if (l.state == SEARCH_SCRIPT_MADE)
			continue;
		script_unmade_text(&l, script, out);
		unmade++;
	}
	return unmade;
}

static void monitors_text(const struct campaign *c, FILE *out)
{
	struct campaign_notes n;

	campaign_get_notes(c, &n);
	fputs(n.monitors ? n.monitors : "", out);
	campaign_notes_release(&n);
}

/* Says which statements of the script were made in the last execution. */
static void script_text(const struct campaign_text *t, const struct campaign *c)
{
	const char *path = t->o->search.script->path;
	struct campaign_result r;
	struct script_result s;
	FILE *out = t->out;
	bool failed;
	char text[32];

	campaign_get_result(c, &r);
	campaign_script_result(c, &s);
	failed = r.nr_failures;
	if (!failed && !r.passed) {
		if (r.nr_once)
			once_summary_text(out, &r);
		else
			fprintf(out, "%s: no execution of it counts\n", path);
		monitors_text(c, out);
		return;
	}
	if (failed)
		fprintf(out, "%s: ", path);
	else
		fprintf(out,
			"%s under %s (%lu execution%s, %lu of them under it, %s): ",
			s.fits ? "passed" : "did not fail",
			path, (unsigned long)r.executions, r.executions == 1 ? "" : "s",
			(unsigned long)r.searched, seconds(r.elapsed_ns, text, sizeof(text)));
	fprintf(out, "%u of %u statements made\n", s.made, s.nr);
	/* a failure may come before the last of them */
	if (!failed) {
		monitors_text(c, out);
		script_text_unmade(c, path, out);
	}
	if (!failed && s.fits && s.gone)
		fprintf(out,
			"a correction may take away what is gone; if none did, pin the failure again (zug pin): with "
			"'strict' this is an error\n");
	if (failed && s.nr && s.gone == s.nr)
		fprintf(out,
			"%s does not fit the program: the failure came without any of its statements\n",
			path);
	if (!failed && !s.fits)
		fprintf(out,
			"%s does not fit the program%s: mend it, or pin the failure again (zug pin)\n",
			path, s.gone == s.nr ? " any more" : ", and it is 'strict'");
	fflush(out);
}

/* ---- findings ---- */

static void show(const struct campaign_text *t, const struct campaign *c, const char *path)
{
	struct report_options ro;
	struct campaign_result r;
	char err[512];
	struct trace *trace = trace_open(path, err, sizeof(err));

	if (!trace) {
		fprintf(t->err, "zug: %s: %s\n", path, err);
		return;
	}
	campaign_get_result(c, &r);
	report_options_init(&ro, t->out);
	report_options_colour(&ro, t->o->results.colour);
	ro.symbols = r.symbols;
	report_finding(t->out, trace, &ro);
	trace_free(trace);
}

static void trace_text(const struct campaign_text *t, const char *path)
{
	uint64_t preemptions = 0;
	char err[512];
	struct trace *trace = trace_open(path, err, sizeof(err));

	if (!trace) {
		fprintf(t->err, "zug: %s\n", err);
		return;
	}
	for (uint64_t i = 0; i < trace_nr_steps(trace); i++)
		preemptions += !!(trace_step(trace, i)->flags & TRACE_STEP_PREEMPTION);
	fprintf(t->out, "\ntrace: %s (%lu steps, %lu preemption%s)\n", path,
		(unsigned long)trace_nr_steps(trace), (unsigned long)preemptions,
		preemptions == 1 ? "" : "s");
	trace_free(trace);
}

static void explained_text(const struct campaign_text *t, const struct campaign *c,
			   const char *path)
{
	struct campaign_notes n;

	show(t, c, path);
	campaign_get_notes(c, &n);
	fprintf(t->out, "%s%s", n.races ? n.races : "", n.monitors ? n.monitors : "");
	campaign_notes_release(&n);
	trace_text(t, path);
}

/* Executions that have no number: those beside the search's. */
static void aside_text(FILE *out, const struct campaign_result *r)
{
	unsigned int nr = 0;

	for (int i = ASIDE_NOT + 1; i < ASIDE_NR; i++) {
		if (!r->aside[i])
			continue;
		fprintf(out, nr++ ? ", " : "beside the %lu execution%s of the search: ",
			(unsigned long)r->executions, r->executions == 1 ? "" : "s");
		fprintf(out, "%lu %s", (unsigned long)r->aside[i], campaign_aside_words(i));
	}
	if (nr)
		putc('\n', out);
}

static void verified_text(const struct campaign_text *t, const struct campaign *c,
			  const struct campaign_finding *f)
{
	struct campaign_result r;

	if (f->replays)
		fprintf(t->out, "replayed: %d of %d times the same failure, step for step%s\n",
			f->same, f->replays,
			f->replays < t->o->results.verify ? "; --verify wanted more" : "");
	if (f->alike > f->same)
		fprintf(t->out, "%d time%s the same failure in another way: the test depends on "
			"something that is not controlled; zug check says on what\n",
			f->alike - f->same, f->alike - f->same == 1 ? "" : "s");
	fprintf(t->out,
		"replay it: zug replay %s\ndebug it: zug replay --gdb %s\nall of it: zug show %s\n"
		"a picture: zug show --html %s\nthe closest that passes: zug diff %s\n",
		f->trace, f->trace, f->trace, f->trace, f->trace);
	campaign_get_result(c, &r);
	aside_text(t->out, &r);
	if (!t->o->results.keep_going)
		races_text(t, &r);
	else
		putc('\n', t->out);
	fflush(t->out);
}

static void once_text(const struct campaign_text *t, const struct campaign_finding *f)
{
	fprintf(t->out,
		"seen once, did not repeat: %s: %.200s\n"
		"    in execution %lu; %d of %d replays failed like that: no finding, the search goes on\n"
		"    trace: %s\n",
		zug_outcome_name(f->failure->kind), f->failure->message,
		(unsigned long)f->failure->first, f->alike, f->replays, f->trace);
	fflush(t->out);
}

static void on_finding(void *ctx, const struct campaign *c, const struct campaign_finding *f)
{
	struct campaign_text *t = ctx;
	struct campaign_result r;
	char text[32];

	if (f->stage != FINDING_COUNTED)
		campaign_text_clear(t);
	switch (f->stage) {
	case FINDING_FOUND:
		campaign_get_result(c, &r);
		fprintf(t->out, "found in execution %lu, after %s: %s\n\n",
			(unsigned long)r.number, seconds(f->after_ns, text, sizeof(text)),
			zug_outcome_name(f->failure->kind));
		fflush(t->out);
		break;
	case FINDING_ONCE:
		once_text(t, f);
		break;
	case FINDING_LOST:
		show(t, c, f->trace);
		break;
	case FINDING_MINIMIZED:
		minimized_text(t->out, f->minimized);
		if (f->as_found)
			fprintf(t->out, "as it was found: %s\n", f->as_found);
		if (!f->minimized->minimal)
			fprintf(t->out, "go on with it: zug minimize %s\n", f->trace);
		putc('\n', t->out);
		break;
	case FINDING_EXPLAINED:
		explained_text(t, c, f->trace);
		break;
	case FINDING_VERIFIED:
		verified_text(t, c, f);
		break;
	case FINDING_COUNTED:
		if (t->o->search.script)
			script_text(t, c);
		break;
	}
}

/* ---- the end ---- */

static void failures_text(FILE *out, const struct campaign_result *r)
{
	fprintf(out, "%u distinct failure%s in %lu executions:\n", r->nr_failures,
		r->nr_failures == 1 ? "" : "s", (unsigned long)r->executions);
	for (unsigned int i = 0; i < r->nr_failures; i++) {
		const struct campaign_failure *f = &r->failures[i];

		fprintf(out, "  %s: %.200s\n    %lu time%s, first in execution %lu; trace: %s\n",
			zug_outcome_name(f->kind), f->message, (unsigned long)f->times,
			f->times == 1 ? "" : "s", (unsigned long)f->first,
			f->trace ? f->trace : "(could not be kept)");
	}
}

/* Says what an end without a finding means. */
static void coverage_text(FILE *out, const struct campaign_result *r, bool rules)
{
	const char *bound = r->search.delays ? "delay" : "preemption", *ruled = rules ? " that the rules allow" : "";
	const char *timed = r->on_time ? " in which no time-out ends early (--timeouts explore: those, too)" : "";
	const struct search_stats *st = &r->search;
	bool bounded = st->bound_done != UINT32_MAX;

	if (r->share)
		fprintf(out, "stopped: %s; zug merge tells what all shards have found together\n", r->stopped);
	else if (r->exhausted && st->incomplete)
		fprintf(out,
			"stopped: nothing is left to try, but not everything was tried: executions did not follow "
			"their schedules, were cut short, or were too long; nothing is covered completely\n");
	else if (r->exhausted && bounded && st->unbounded)
		fprintf(out,
			"covered: every schedule of the points there are%s%s; none has more than %u %s%s; "
			"a switch where there is no point is not covered\n",
			ruled, timed, st->bound_done, bound, st->bound_done == 1 ? "" : "s");
	else if (r->exhausted && bounded)
		fprintf(out,
			"covered: every schedule of the points there are%s%s with up to %u %s%s; "
			"what needs more, or a switch where there is no point, is not covered\n",
			ruled, timed, st->bound_done, bound, st->bound_done == 1 ? "" : "s");
	else if (r->exhausted)
		fprintf(out,
			"covered: every schedule of the points there are%s%s; a switch where there is no "
			"point is not covered\n",
			ruled, timed);
	else if (bounded && !st->incomplete)
		fprintf(out, "stopped: %s; covered completely: up to %u %s%s%s\n", r->stopped,
			st->bound_done, bound, st->bound_done == 1 ? "" : "s", timed);
	else
		fprintf(out, "stopped: %s; a sample: more executions may find more\n", r->stopped);
}

static void summary_text(const struct campaign_text *t, const struct campaign *c,
			 const struct campaign_result *r)
{
	uint64_t looked = r->executions - r->resumed - r->searched;
	char text[32], each[32], only[64] = "";
	struct campaign_notes n;

	if (r->nr_failures)
		failures_text(t->out, r);
	if (looked)
		snprintf(only, sizeof(only), "; %lu of them only looked for points",
			 (unsigned long)looked);
	fprintf(t->out,
		"%s %lu execution%s (%s, %s each; %lu steps, at most %lu in one; "
		"%lu distinct schedule%s in %lu equivalence class%s%s)\n",
		r->nr_failures ? "searched" : "nothing found in", (unsigned long)r->executions,
		r->executions == 1 ? "" : "s",
		seconds(r->elapsed_ns, text, sizeof(text)),
		seconds(r->executions ? r->run_ns / r->executions : 0, each, sizeof(each)),
		(unsigned long)r->steps, (unsigned long)r->search.max_steps,
		(unsigned long)r->search.schedules, r->search.schedules == 1 ? "" : "s",
		(unsigned long)r->search.distinct, r->search.distinct == 1 ? "" : "es", only);
	aside_text(t->out, r);
	coverage_text(t->out, r, t->o->search.rules != NULL);
	races_text(t, r);
	campaign_get_notes(c, &n);
	fprintf(t->out, "%s%s%s%s%s", n.races ? n.races : "", n.monitors ? n.monitors : "",
		n.timeouts ? n.timeouts : "", n.code ? n.code : "", n.waits ? n.waits : "");
	if (!r->nr_failures)
		fprintf(t->out, "%s%s%s", n.untried ? n.untried : "", n.files ? n.files : "", n.runtime ? n.runtime : "");
	fputs(n.start ? n.start : "", t->out);
	campaign_notes_release(&n);
	if (r->nr_once)
		once_summary_text(t->out, r);
	if (r->diverged)
		fprintf(t->out,
			"%lu executions did not follow the schedule they were given (first: %s): the "
			"test depends on something that is not controlled; zug check says on "
			"what\n",
			(unsigned long)r->diverged, r->first_divergence);
	fflush(t->out);
}

/* The text at the end of a search; a search that ended with a finding has told it already. */
static void end_text(const struct campaign_text *t, const struct campaign *c)
{
	struct campaign_result r;

	campaign_get_result(c, &r);
	if (!r.stopped)
		return;
	if (!t->o->search.script || r.cut)
		summary_text(t, c, &r);
	else if (r.nr_failures)
		failures_text(t->out, &r);
	else
		script_text(t, c);
}

/* Of decisions, which are fewer than questions: a call that zug looks at alone is none. */
static void questions_text(FILE *out, const struct spent *s)
{
	uint64_t all = 0, done = 0;
	int most;

	for (int i = 0; i < ASK_NR; i++)
		all += s->causes[i];
	if (!all)
		return;
	fprintf(out, "  %lu decisions for which all tasks stood still, %.1f %% of the points:\n", (unsigned long)all,
		s->points ? 100.0 * all / s->points : 0);
	for (;;) {
		most = -1;
		for (int i = 0; i < ASK_NR; i++)
			if (s->causes[i] && !(done & 1ull << i) && (most < 0 || s->causes[i] > s->causes[most]))
				most = i;
		if (most < 0)
			return;
		done |= 1ull << most;
		fprintf(out, "  %8lu %5.1f %%  %s\n", (unsigned long)s->causes[most], 100.0 * s->causes[most] / all,
			ask_cause_words(most));
	}
}

void profile_text(FILE *out, const struct campaign *c)
{
	double nr, all;
	struct campaign_result r;
	const struct spent *s = &r.spent;

	campaign_get_result(c, &r);
	nr = s->executions ? s->executions : 1;
	all = s->all_ns ? s->all_ns : 1;
	fprintf(out, "profile of %lu executions: %.2f ms each, %.0f points, %.1f questions at points and elsewhere\n",
		(unsigned long)s->executions, s->all_ns / nr / 1e6, s->points / nr, s->asked / nr);
	fprintf(out, "  %-12s %9s %6s %14s\n", "", "ms", "%", "us a question");
	for (int i = 0; i <= SPENT_NR; i++) {
		uint64_t ns = i < SPENT_NR ? s->ns[i] : spent_rest_ns(s);

		fprintf(out, "  %-12s %9.3f %6.1f", i < SPENT_NR ? spent_name(i) : "rest", ns / nr / 1e6,
			100 * ns / all);
		if (SPENT_IS_HOP(i))
			fprintf(out, " %14.1f", s->asked ? ns / 1e3 / s->asked : 0);
		else
			fprintf(out, " %14s", "");
		fprintf(out, "   %s\n", i < SPENT_NR ? spent_words(i) : "all else");
	}
	questions_text(out, s);
	if (s->copied)
		fprintf(out, "%lu of them began as copies of a process that stands before its first point\n",
			(unsigned long)s->copied);
	if (r.serial_nr)
		fprintf(out, "lanes made %lu of them; the search itself took %.1f us of a CPU for each\n",
			(unsigned long)r.serial_nr, r.serial_ns / 1e3 / r.serial_nr);
	fflush(out);
}

void campaign_text_init(struct campaign_text *t, const struct campaign_options *o, FILE *out,
			FILE *err)
{
	*t = (struct campaign_text){
		.observer = { .message = on_message,
			      .executed = on_executed,
			      .waiting = on_waiting,
			      .trying = on_trying,
			      .finding = on_finding,
			      .ctx = t },
		.out = out,
		.err = err,
		.o = o,
		.progress = !o->results.quiet && isatty(fileno(err)),
	};
}

enum zug_exit campaign_text_error(struct campaign_text *t, int ret, const char *line)
{
	campaign_text_clear(t);
	if (ret < 0 && line[0])
		fprintf(t->err, "zug: %s\n", line);
	return exit_of_campaign(ret);
}

int campaign_text_new(struct campaign_text *t, struct campaign **c, struct kernel *k,
		      const volatile sig_atomic_t *stop)
{
	struct campaign_result r;
	char line[1024];
	int ret = campaign_new(c, k, t->o, &t->observer, stop, line, sizeof(line));

	if (ret)
		return campaign_text_error(t, ret, line);
	campaign_get_result(*c, &r);
	if (debug_word("times"))
		fprintf(t->err, "set-up: %.2f ms\n", r.setup_ns / 1e6);
	return 0;
}

enum zug_exit campaign_text_run(struct campaign_text *t, struct campaign *c)
{
	char line[1024] = "";
	int ret = campaign_run(c, line, sizeof(line));
	enum zug_exit code = campaign_text_error(t, ret, line);

	end_text(t, c);
	if (t->o->results.list_points) {
		struct point_table table;

		if (!campaign_points(c, &table))
			points_text(t->out, &table);
		point_table_release(&table);
	}
	if (t->o->results.profile)
		profile_text(t->out, c);
	return code;
}

void campaign_text_end(struct campaign_text *t, struct campaign *c)
{
	struct campaign_result r;
	char line[512];
	int ret = campaign_close_record(c, line, sizeof(line));

	campaign_get_result(c, &r);
	if (ret > 0)
		fprintf(t->out, "record: %s (a page of it: zug show --html %s)\n", r.record, r.record);
	else
		campaign_text_error(t, ret, line);
}
