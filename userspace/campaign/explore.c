/* SPDX-License-Identifier: GPL-2.0-only */
/* The two loops over executions: exploring, and replaying one schedule. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "campaign/campaign_internal.h"
#include "cli/exit_codes.h"
#include "report/report.h"

#define PROGRESS_NS 200000000ull	/* of the progress line */

const char *campaign_seconds(uint64_t ns, char *buf, size_t len)
{
	if (ns < 1000000000ull)
		snprintf(buf, len, "%.0f ms", ns / 1e6);
	else if (ns < 120000000000ull)
		snprintf(buf, len, "%.1f s", ns / 1e9);
	else
		snprintf(buf, len, "%.0f min", ns / 60e9);
	return buf;
}

static void progress(struct campaign *c, bool last)
{
	static uint64_t shown;
	uint64_t now = campaign_now(), spent = now - c->start_ns - c->setup_ns;
	struct search_stats st;
	char eta[64] = "", bound[32] = "", t[32];

	if (c->o.results.quiet || !isatty(fileno(c->err)))
		return;
	if (last) {
		fprintf(c->err, "\r\033[K");
		return;
	}
	if (now - shown < PROGRESS_NS)
		return;
	shown = now;
	search_get_stats(c->search, &st);
	if (st.bound != UINT32_MAX)
		snprintf(bound, sizeof(bound), ", bound %u", st.bound);
	if (!isnan(st.estimate_total) && st.estimate_total > c->executions && spent)
		snprintf(eta, sizeof(eta), ", about %s left", campaign_seconds((st.estimate_total - c->executions) *
			 (spent / (c->executions ? c->executions : 1)), t, sizeof(t)));
	else if (c->o.search.executions && c->executions)
		snprintf(eta, sizeof(eta), ", at most %s left", campaign_seconds((c->o.search.executions - c->executions) *
			 (spent / c->executions), t, sizeof(t)));
	fprintf(c->err, "\r\033[K%lu executions, %.0f/s%s, %lu distinct schedules%s",
		(unsigned long)c->executions, c->executions * 1e9 / (spent ? spent : 1), bound,
		(unsigned long)st.schedules, eta);
	fflush(c->err);
}

/* What an end without a finding means. */
static void summary(struct campaign *c, const char *why, bool exhausted)
{
	struct search_stats st;
	char t[32], t2[32];

	progress(c, true);
	search_get_stats(c->search, &st);
	if (c->nr_failures)
		campaign_list_failures(c);
	fprintf(c->out, "%s %lu executions (%s, %s each; %lu steps, at most %lu in one; "
		"%lu distinct schedules, %lu of them not equivalent)\n", c->nr_failures ? "searched" :
		"nothing found in", (unsigned long)c->executions,
		campaign_seconds(campaign_now() - c->start_ns, t, sizeof(t)),
		campaign_seconds(c->executions ? c->run_ns / c->executions : 0, t2, sizeof(t2)),
		(unsigned long)c->steps, (unsigned long)st.max_steps, (unsigned long)st.schedules,
		(unsigned long)st.distinct);
	if (exhausted && !st.incomplete && st.bound_done != UINT32_MAX && st.unbounded)
		fprintf(c->out, "covered: every schedule of the points there are; none has more than %u preemptions; "
			"a switch where there is no point is not covered\n", st.bound_done);
	else if (exhausted && !st.incomplete && st.bound_done != UINT32_MAX)
		fprintf(c->out, "covered: every schedule of the points there are with up to %u preemptions; "
			"what needs more, or a switch where there is no point, is not covered\n", st.bound_done);
	else if (exhausted && !st.incomplete)
		fprintf(c->out, "covered: every schedule of the points there are; a switch where there is no "
			"point is not covered\n");
	else if (exhausted)
		fprintf(c->out, "stopped: nothing is left to try, but not everything was tried: executions did not follow "
			"their schedules, were cut short, or were too long; nothing is covered completely\n");
	else if (st.bound_done != UINT32_MAX && !st.incomplete)
		fprintf(c->out, "stopped: %s; covered completely: up to %u preemptions\n", why, st.bound_done);
	else
		fprintf(c->out, "stopped: %s; a sample: more executions may find more\n", why);
	campaign_tell_races(c, c->out);
	campaign_sample_tell(c, c->out);
	campaign_monitors_tell(c, c->out);
	campaign_say_silent(c, c->out);
	campaign_waits_tell(c, c->out);
	if (c->diverged)
		fprintf(c->out, "%lu executions did not follow the schedule they were given (first: %s): the "
			"test depends on something that is not controlled; zug check, in the place of zug run, says on "
			"what\n", (unsigned long)c->diverged,
			c->first_divergence);
	fflush(c->out);
}

enum search_result campaign_result(const struct execution *x)
{
	if (x->diverged)
		return SEARCH_DIVERGED;
	if (x->outcome.kind == ZUG_OUTCOME_PASS)
		return SEARCH_PASS;
	return zug_outcome_is_finding(x->outcome.kind) ? SEARCH_FAIL : SEARCH_ABANDONED;
}

/* So many executions at most only to see what the test maps. */
#define PRIMING_ROUNDS 4

/*
 * A test that has joined by itself stands still in the kernel until its execution begins, and there taking
 * probes away would wait for it: a grace period of RCU. They may only become more.
 */
static bool keeps_probes(const struct campaign *c)
{
	return kworld_launch(c->world)->joined;
}

/*
 * Probes added later change every schedule, so what the test maps is learnt first. A bug found
 * meanwhile is found all the same, and replayed with the probes it was found with: what an
 * execution showed is learnt before the next one.
 */
static int prime(struct campaign *c, struct execution *x, char *err, size_t errlen)
{
	int ret = 0, more = 0, waits = 0;

	if (c->prime_rounds && !keeps_probes(c))
		waits = campaign_waits(c, err, errlen);
	if (waits < 0)
		return ZUG_EXIT_ENVIRONMENT;
	if (c->prime_rounds)
		ret = campaign_learn(c, err, errlen);
	ret += ret >= 0 ? waits : 0;
	if (ret >= 0 && c->prime_rounds && !keeps_probes(c)) {
		/* what is left without points may show more of the test */
		int cooled = campaign_cool(c, err, errlen);

		ret = cooled < 0 ? cooled : ret + cooled;
	}
	if (ret < 0)
		return ZUG_EXIT_ENVIRONMENT;
	c->looked |= c->prime_rounds && (!ret || c->prime_rounds == PRIMING_ROUNDS);
	if (c->looked) {
		more = keeps_probes(c) ? 0 : campaign_sample(c, err, errlen);
		if (more < 0)
			return more == -ENOMEM ? ZUG_EXIT_INTERNAL : ZUG_EXIT_ENVIRONMENT;
		ret = campaign_monitors_resolve(c, true, err, errlen);
		if (ret)
			return ret;
		err[0] = 0;
		ret = campaign_set_watches(c);
		if (!ret && !more)
			ret = campaign_split_watched(c, err, errlen);
		c->primed = !ret && !more;
		if (ret || !more)
			return ret;
	}
	c->prime_rounds++;
	if (search_replay(c->search, NULL, 0) || search_begin(c->search) != SEARCH_GO) {
		snprintf(err, errlen, "the search does not begin");
		return ZUG_EXIT_INTERNAL;
	}
	campaign_waits_guard(c);
	ret = campaign_execute(c, NULL, x, err, errlen);
	search_end(c->search, &(struct search_end){ .result = SEARCH_ABANDONED });
	if (!ret && x->outcome.kind == ZUG_OUTCOME_RACE && campaign_race_warns(c)) {
		ret = campaign_keep_race(c, x, err, errlen);
		outcome_set(&x->outcome, ZUG_OUTCOME_PASS, "%s", "");
	}
	if (!ret && !c->looked && !keeps_probes(c) && x->outcome.kind == ZUG_OUTCOME_TIMEOUT &&
	    campaign_cut_by_atomics(c, x)) {
		c->cut = true;
		outcome_set(&x->outcome, ZUG_OUTCOME_PASS, "%s", "");
	}
	/* stopping at every access takes long, or was cut: that is no finding */
	if ((more && x->outcome.kind == ZUG_OUTCOME_TIMEOUT) || (!ret && campaign_waits_cut(c)))
		outcome_set(&x->outcome, ZUG_OUTCOME_PASS, "%s", "");
	if (!ret)
		return 0;
	return ret == -ENOEXEC || ret == -ENOENT || ret == -EACCES ? ZUG_EXIT_USAGE : ZUG_EXIT_ENVIRONMENT;
}

int campaign_step(struct campaign *c, struct execution *x, enum campaign_step *what,
		  char *err, size_t errlen)
{
	int ret, waits;

	if (!c->primed) {
		ret = prime(c, x, err, errlen);
		*what = CAMPAIGN_PRIMED;
		if (ret || !c->primed)
			return ret;
	} else {
		waits = keeps_probes(c) ? 0 : campaign_waits(c, err, errlen);
		if (waits < 0)
			return ZUG_EXIT_ENVIRONMENT;
		ret = waits ? campaign_restart(c, err, errlen) : 0;
		if (ret)
			return ret;
	}
	ret = search_begin(c->search);
	*what = ret == SEARCH_EXHAUSTED ? CAMPAIGN_EXHAUSTED : CAMPAIGN_EXECUTED;
	if (ret == SEARCH_EXHAUSTED)
		return 0;
	if (ret < 0) {
		snprintf(err, errlen, "the search failed: %s", strerror(-ret));
		return ZUG_EXIT_INTERNAL;
	}
	campaign_waits_guard(c);
	ret = campaign_execute(c, NULL, x, err, errlen);
	if (!ret && campaign_waits_cut(c))
		outcome_set(&x->outcome, ZUG_OUTCOME_PASS, "%s", "");
	if (!ret && x->diverged && !c->diverged++)
		snprintf(c->first_divergence, sizeof(c->first_divergence), "%s", x->divergence);
	search_end(c->search, &(struct search_end){ .result = ret ? SEARCH_ABANDONED : campaign_result(x),
						    .failure = x->outcome.failure });
	return ret ? ZUG_EXIT_ENVIRONMENT : 0;
}

/* Writes the state of the search about once a second, so that a crash of ours loses little. */
static int keep_state(struct campaign *c, bool now)
{
	int ret;

	if (!c->o.search.resume || (!now && campaign_now() - c->saved_ns < 1000000000ull))
		return 0;
	c->saved_ns = campaign_now();
	ret = campaign_save_state(c);
	if (!ret)
		return 0;
	progress(c, true);
	fprintf(c->err, "zug: --resume %s: cannot write the state of the search: %s\n", c->o.search.resume,
		strerror(-ret));
	return ZUG_EXIT_ENVIRONMENT;
}

int campaign_run(struct campaign *c)
{
	struct execution x;
	char err[1024];
	bool exhausted = false, cut = false;
	const char *why = "the number of executions (--executions)";
	struct search_stats st;
	enum campaign_step what;
	uint64_t searched = 0, passed = 0;
	int ret, end = 0;

	for (;;) {
		if (c->stop && *c->stop) {
			why = "interrupted";
			cut = true;
			break;
		}
		if (c->o.search.executions && searched >= c->o.search.executions)
			break;
		if (c->o.search.time_ns && c->primed && campaign_now() - c->start_ns >= c->o.search.time_ns) {
			why = "the time (--time)";
			break;
		}
		c->keep_passes = !searched;
		ret = campaign_step(c, &x, &what, err, sizeof(err));
		c->keep_passes = false;
		if (ret) {
			progress(c, true);
			if (err[0])
				fprintf(c->err, "zug: %s\n", err);
			return ret;
		}
		if (what == CAMPAIGN_EXHAUSTED) {
			exhausted = true;
			break;
		}
		campaign_record_execution(c, &x);
		passed += what == CAMPAIGN_EXECUTED && x.outcome.kind == ZUG_OUTCOME_PASS;
		if (what == CAMPAIGN_EXECUTED && !searched++ && (ret = campaign_warn(c, &x)))
			return ret;
		if (getenv("ZUG_DEBUG") && strstr(getenv("ZUG_DEBUG"), "times"))
			fprintf(c->err, "execution %lu: launch %.2f ms, run %.2f ms, drain %.2f ms, %lu steps\n",
				(unsigned long)c->executions, x.launch_ns / 1e6,
				(x.wall_ns - x.launch_ns - x.drain_ns) / 1e6, x.drain_ns / 1e6,
				(unsigned long)x.steps);
		if (x.ungranted) {
			progress(c, true);
			fprintf(c->err, "zug: execution %lu: %lu runs without a grant; its result cannot be "
				"trusted; please report this (trace: %s)\n", (unsigned long)c->executions,
				(unsigned long)x.ungranted, c->current);
			return ZUG_EXIT_INTERNAL;
		}
		if (zug_outcome_is_finding(x.outcome.kind)) {
			bool known = c->o.results.keep_going && campaign_knows(c, x.outcome.failure);

			if (!known)
				progress(c, true);
			end = campaign_on_finding(c, &x);
			campaign_record_finding(c, &x);
			if (c->o.search.script)
				campaign_script_tell(c, passed);
			if (end != ZUG_EXIT_FINDING)
				return end;
			if (!known && (ret = keep_state(c, true)))
				return ret;
			if (!c->o.results.keep_going)
				return end;
		}
		ret = keep_state(c, false);
		if (ret)
			return ret;
		progress(c, false);
	}
	if (sandbox_limit_hits(c->sandbox))
		fprintf(c->err, "zug: the test met its limit of tasks (--max-tasks %d): forks failed\n",
			c->o.machine.max_tasks ? c->o.machine.max_tasks : SANDBOX_MAX_TASKS);
	if (c->own_sandbox && sandbox_thrown(c->sandbox))
		fprintf(c->err, "zug: what the test changed in its working folder (%s) is gone: each execution has a "
			"copy (--share PATH keeps a file or folder)\n", sandbox_thrown(c->sandbox));
	search_get_stats(c->search, &st);
	campaign_record_end(c, !exhausted ? why : st.incomplete ? "nothing is left to try, but not everything was tried" :
			       "every schedule was tried");
	ret = keep_state(c, true);
	if (c->nr_failures)
		end = ZUG_EXIT_FINDING;
	if (c->o.search.script && !cut) {
		progress(c, true);
		if (c->nr_failures)
			campaign_list_failures(c);
		else
			end = campaign_script_tell(c, passed);
	} else {
		summary(c, why, exhausted);
	}
	if (ret)
		return ret;
	if (end)
		return end;
	if (cut || c->diverged)
		return ZUG_EXIT_INCOMPLETE;
	return ZUG_EXIT_PASS;
}

/* ---- replay ---- */

static void pass_on(struct campaign *c)
{
	char *head, *tail;

	for (int i = 0; i < 2; i++) {
		FILE *to = i ? c->err : c->out;

		if (capture_text(c->capture, i, &head, &tail))
			continue;
		fputs(head, to);
		if (tail)
			fprintf(to, "\n[... %s cut ...]\n%s", i ? "error output" : "output", tail);
		fflush(to);
		free(head);
		free(tail);
	}
}

int campaign_prepare_replay(struct campaign *c, const struct trace *t)
{
	struct execution x;
	char err[1024];
	int ret;

	replay_number_tasks(t, &c->spawn);
	ret = campaign_monitors_resolve(c, true, err, sizeof(err));
	if (ret) {
		fprintf(c->err, "zug: %s\n", err);
		return ret;
	}
	if (!c->o.points.watches || !c->o.points.watches[0])
		return 0;
	/* addresses of variables are known once the program was mapped */
	if (search_begin(c->search) != SEARCH_GO || campaign_execute(c, NULL, &x, err, sizeof(err))) {
		fprintf(c->err, "zug: %s\n", err);
		return ZUG_EXIT_ENVIRONMENT;
	}
	search_end(c->search, &(struct search_end){ .result = SEARCH_ABANDONED });
	return campaign_set_watches(c);
}

int campaign_replay(struct campaign *c, const struct trace *t, int times)
{
	const struct trace_outcome *want = trace_outcome(t);
	struct replay r;
	struct execution x, first = { 0 };
	struct report_options ro;
	char err[1024];
	int ret, same = 0, diverged = 0, i;

	if (replay_init(&r, t)) {
		replay_release(&r);
		return ZUG_EXIT_INTERNAL;
	}
	ret = campaign_prepare_replay(c, t);
	if (ret) {
		replay_release(&r);
		return ret;
	}
	for (i = 0; i < times && !(c->stop && *c->stop); i++) {
		if (search_replay(c->search, r.tasks, r.nr) || search_begin(c->search) != SEARCH_GO) {
			replay_release(&r);
			return ZUG_EXIT_INTERNAL;
		}
		ret = campaign_execute(c, &r, &x, err, sizeof(err));
		search_end(c->search, &(struct search_end){ .result = SEARCH_ABANDONED });
		if (ret) {
			fprintf(c->err, "zug: %s\n", err);
			replay_release(&r);
			return ZUG_EXIT_ENVIRONMENT;
		}
		if (!i) {
			first = x;
			pass_on(c);
		}
		if (x.diverged) {
			if (!diverged++)
				fprintf(c->err, "zug: replay %d did not follow: %s\n", i + 1, x.divergence);
		} else if (x.outcome.kind == ZUG_OUTCOME_INTERRUPTED) {
			fprintf(c->err, "zug: replay %d was cut: %s\n", i + 1, x.outcome.message);
		} else if (!want || (want->kind == x.outcome.kind && want->failure == x.outcome.failure)) {
			same += x.hash == first.hash;
		} else if (same + 1 == i + 1) {
			fprintf(c->err, "zug: replay %d followed the schedule but ended differently: %s %s\n", i + 1,
				zug_outcome_name(x.outcome.kind), x.outcome.message);
		}
		if (times > 1 && !c->o.results.quiet && isatty(fileno(c->err)))
			fprintf(c->err, "\r\033[K%d of %d replays", i + 1, times);
	}
	if (times > 1 && !c->o.results.quiet && isatty(fileno(c->err)))
		fprintf(c->err, "\r\033[K");
	report_options_init(&ro, c->out);
	report_options_colour(&ro, c->o.results.colour);
	fprintf(c->out, "zug: replayed %d of %d times exactly (%lu steps): ", same, i, (unsigned long)r.nr);
	report_outcome_text(c->out, first.outcome.kind, first.outcome.message, &ro);
	putc('\n', c->out);
	replay_release(&r);
	if (i < times || diverged || same < i)
		return ZUG_EXIT_INCOMPLETE;
	return zug_outcome_is_finding(first.outcome.kind) ? ZUG_EXIT_FINDING : ZUG_EXIT_PASS;
}
