/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A campaign's beginning and end, its single steps and its results. campaign_step() is the heart:
 * until the points are found it primes, then it asks the search for one schedule after another;
 * campaign_run.c loops over it. What is a point, and why, is the policies' business (points.h).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/clock.h"
#include "campaign/campaign_internal.h"
#include "campaign/campaign_lanes.h"

/* At most so many executions only to see what the test maps. */
#define PRIMING_ROUNDS 4

static int set_up(struct campaign *c, struct kernel *k, const struct campaign_options *o,
		  const struct campaign_observer *observer, const volatile sig_atomic_t *stop,
		  char *err, size_t errlen)
{
	/* what the user got wrong comes before what the machine lacks */
	struct campaign_options own = *o;
	int ret;

	campaign_parts_options(&own);
	ret = campaign_lanes_check(&own, k, err, errlen);
	ret = ret ? ret : session_prepare(&c->s, &own, observer, stop, err, errlen);
	c->s.until_ns = o->search.time_ns ? c->start_ns + o->search.time_ns : 0;
	ret = ret ? ret : points_new(&c->points, &c->s, err, errlen);
	ret = ret ? ret : campaign_parts_open(c, err, errlen);
	if (ret > 0)
		return ret;
	if (!ret && (campaign_load_state(c, err, errlen) || campaign_record_open(c, err, errlen)))
		ret = -EINVAL;
	ret = ret ? ret : session_open(&c->s, k, err, errlen);
	ret = ret ? ret : points_start(c->points, err, errlen);
	return ret ? ret : session_start(&c->s, err, errlen);
}

int campaign_new(struct campaign **out, struct kernel *k, const struct campaign_options *o,
		 const struct campaign_observer *observer, const volatile sig_atomic_t *stop,
		 char *err, size_t errlen)
{
	struct campaign *c = calloc(1, sizeof(*c));
	int ret;

	*out = NULL;
	snprintf(err, errlen, "out of memory");
	if (!c)
		return -ENOMEM;
	c->start_ns = clock_now_ns();
	ret = set_up(c, k, o, observer, stop, err, errlen);
	if (ret < 0) {
		campaign_free(c);
		return ret;
	}
	c->made_before = ret;
	if (!ret)
		points_watch(c->points);
	c->setup_ns = clock_now_ns() - c->start_ns;
	err[0] = 0;
	*out = c;
	return 0;
}

void campaign_end(struct campaign *c)
{
	char err[256];

	campaign_lanes_stop(c);
	campaign_close_record(c, err, sizeof(err));
	campaign_parts_close(c);
}

void campaign_free(struct campaign *c)
{
	if (!c)
		return;
	campaign_end(c);
	points_free(c->points);
	session_close(&c->s);
	failures_release(&c->failures);
	failures_release(&c->once);
	free(c->first_points);
	free(c);
}

/* ---- steps ---- */

/* The errors of launching say what is wrong with the command, at first. */
static int launch_error(int ret)
{
	return ret == -ENOEXEC || ret == -ENOENT || ret == -EACCES ? -EINVAL :
	       ret == -ENOMEM					   ? ret :
								     -EIO;
}

uint64_t campaign_left(const struct campaign *c)
{
	const struct options_search *o = &c->s.o.search;
	uint64_t made = o->script ? c->searched : c->s.figures.executions - c->before;

	if (c->s.frozen)
		return campaign_parts_left(c);
	return !o->executions ? UINT64_MAX : o->executions > made ? o->executions - made : 0;
}

/* The next schedule of the search; apart: as search_begin_apart(). */
static int sample(struct campaign *c, bool apart, struct execution *x, enum campaign_step *what,
		  char *err, size_t errlen)
{
	int ret = apart ? search_begin_apart(c->s.search) : search_begin(c->s.search);

	*what = ret == SEARCH_EXHAUSTED ? CAMPAIGN_EXHAUSTED : CAMPAIGN_EXECUTED;
	if (ret == SEARCH_EXHAUSTED)
		return 0;
	if (ret < 0) {
		snprintf(err, errlen, "the search failed: %s", strerror(-ret));
		return -ENOTRECOVERABLE;
	}
	ret = session_execute(&c->s, NULL, x, err, errlen);
	/* the points are found: the next one may be forked */
	if (c->phase == POINTS_SEARCHING && !c->s.template.settled)
		session_template_expect(&c->s, campaign_left(c));
	/* first: what comes after may replay it */
	search_end(c->s.search,
		   &(struct search_end){ .result = ret ? SEARCH_ABANDONED : campaign_verdict(x),
					 .failure = x->outcome.failure });
	campaign_parts_note(c);
	if (!ret)
		ret = points_after(c->points, c->phase, x, err, errlen);
	if (!ret && x->diverged && !c->diverged++)
		snprintf(c->first_divergence, sizeof(c->first_divergence), "%s", x->divergence);
	if (!ret && x->outcome.kind == ZUG_OUTCOME_ENVIRONMENT && !c->abandoned++)
		session_say(&c->s, "an execution was given up: %s", x->outcome.message);
	return ret == -EINVAL || ret == -ENOTRECOVERABLE ? ret : ret ? -EIO : 0;
}

/*
 * The first execution, under the schedule that never preempts: what the test maps shows in it. Its points
 * are noted: if they stay as they are, it was a part of the search.
 */
static int first(struct campaign *c, struct execution *x, char *err, size_t errlen)
{
	int ret;

	free(c->first_points);
	c->first_points = strdup(c->s.points_json);
	if (!c->first_points) {
		snprintf(err, errlen, "out of memory");
		return -ENOMEM;
	}
	if (search_begin_base(c->s.search) != SEARCH_GO) {
		snprintf(err, errlen, "the search does not begin");
		return -ENOTRECOVERABLE;
	}
	ret = session_execute(&c->s, NULL, x, err, errlen);
	search_end(c->s.search,
		   &(struct search_end){ .result = ret ? SEARCH_ABANDONED : campaign_verdict(x),
					 .failure = x->outcome.failure });
	campaign_parts_note(c);
	return ret;
}

/* The points are known; the options name them. */
static int search_with_points(struct campaign *c)
{
	c->phase = POINTS_SEARCHING;
	if (!c->s.sampled || !strcmp(c->first_points, c->s.points_json))
		return 0;
	return search_renew(c->s.search);
}

/*
 * Finds the points. A bug that is found meanwhile counts all the same, and is replayed with the
 * points it was found with: what an execution showed is learnt before the next one.
 *
 * The first execution is under the schedule that never preempts. A search that samples chooses the
 * schedules of all others: that they also look for points is no reason to try nothing. A systematic
 * one begins when the points are known, and so does one that is resumed, whose state is about these.
 */
static int prime(struct campaign *c, struct execution *x, enum campaign_step *what, char *err,
		 size_t errlen)
{
	int changed = 0, ret;
	bool more, apart;

	c->s.sampled = !c->before && search_samples(c->s.search);

	if (c->prime_rounds) {
		changed = points_learn(c->points, c->phase, err, errlen);
		if (changed < 0)
			return changed;
		if (!changed || c->prime_rounds == PRIMING_ROUNDS)
			c->phase = POINTS_SETTLING;
	}
	if (c->phase == POINTS_SETTLING) {
		ret = points_settle(c->points, &more, err, errlen);
		if (!ret && !more)
			ret = search_with_points(c);
		if (ret || !more)
			return ret;
	}
	ret = points_begin(c->points, &apart, err, errlen);
	if (ret)
		return ret;
	if (c->prime_rounds++ && c->s.sampled)
		return sample(c, true, x, what, err, errlen);
	ret = c->s.sampled ? first(c, x, err, errlen) : session_follow(&c->s, NULL, x, err, errlen);
	if (ret)
		return ret == -ENOTRECOVERABLE ? ret : launch_error(ret);
	campaign_parts_note(c);
	return points_after(c->points, c->phase, x, err, errlen);
}

int campaign_find_points(struct campaign *c, uint64_t until_ns, char *err, size_t errlen)
{
	bool race = c->s.o.failure.race;
	enum campaign_step what;
	struct execution x;
	int ret = 0;
	char *before;

	/* what these executions find is not told, and a shard has to make the same as the others */
	if (c->phase == POINTS_SEARCHING || c->s.frozen || c->s.o.results.keep_going || c->parts.log)
		return 0;
	before = strdup(c->s.points_json);
	snprintf(err, errlen, "out of memory");
	if (!before)
		return -ENOMEM;
	c->s.aside = ASIDE_EXPLAIN;
	c->s.looks_aside = true;
	while (!ret && c->phase != POINTS_SEARCHING && !session_late(&c->s, until_ns) && !session_interrupted(&c->s)) {
		session_say_trying(&c->s, "looking for data races beside it");
		ret = prime(c, &x, &what, err, errlen);
	}
	c->s.aside = ASIDE_NOT;
	c->s.looks_aside = false;
	c->s.o.failure.race = race;
	engine_hold(c->s.engine, NULL, NULL);
	if (!ret)
		ret = c->s.update_options(c->s.judge_ctx, err, errlen);
	if (!ret)
		ret = c->phase == POINTS_SEARCHING && strcmp(before, c->s.points_json);
	free(before);
	return ret;
}

/* The next execution of the search, with its points. */
static int make(struct campaign *c, struct execution *x, enum campaign_step *what, char *err, size_t errlen)
{
	bool apart;
	int ret = points_begin(c->points, &apart, err, errlen);

	*what = CAMPAIGN_EXHAUSTED;
	if (!ret && (apart || !c->s.exhausted))
		ret = sample(c, apart, x, what, err, errlen);
	return ret;
}

/* The same for each shard and lane; at the end those that only early time-outs make others. */
static int explore(struct campaign *c, struct execution *x, enum campaign_step *what, char *err,
		   size_t errlen)
{
	int ret;

	for (;;) {
		*what = CAMPAIGN_SHARED;
		ret = campaign_parts_enter(c, err, errlen);
		if (ret <= 0)
			return ret;
		ret = campaign_lanes_take(c, make, x, err, errlen);
		if (ret == TAKEN_PART)
			continue;
		*what = ret == TAKEN_STOP ? CAMPAIGN_WAITED : CAMPAIGN_EXECUTED;
		if (ret != TAKEN_NOT)
			return ret < 0 ? ret : 0;
		ret = make(c, x, what, err, errlen);
		if (ret || *what != CAMPAIGN_EXHAUSTED)
			return ret;
		ret = campaign_parts_leave(c, err, errlen);
		if (c->parts.over)
			*what = CAMPAIGN_SHARED;
		if (ret < 0 || c->parts.over || (!ret && c->s.exhausted))
			return ret;
		c->s.exhausted |= !ret;
	}
}

/* Points have changed while the search went on. */
static int begin_anew(struct campaign *c, char *err, size_t errlen)
{
	campaign_parts_renew(c);
	if (!c->s.sampled)
		return session_restart(&c->s, err, errlen);
	if (!search_renew(c->s.search))
		return 0;
	snprintf(err, errlen, "out of memory");
	return -ENOMEM;
}

int campaign_step(struct campaign *c, struct execution *x, enum campaign_step *what,
		  char *err, size_t errlen)
{
	int ret;

	*what = CAMPAIGN_PRIMED;
	if (c->phase != POINTS_SEARCHING) {
		ret = prime(c, x, what, err, errlen);
		if (ret || c->phase != POINTS_SEARCHING)
			return ret;
	} else if (!c->s.frozen) {
		ret = points_learn(c->points, c->phase, err, errlen);
		if (ret > 0)
			ret = begin_anew(c, err, errlen);
		if (ret)
			return ret;
	}
	return explore(c, x, what, err, errlen);
}

/* ---- following a trace ---- */

int campaign_prepare_replay(struct campaign *c, const struct trace *t, uint64_t executions, char *err, size_t errlen)
{
	struct execution x;
	int ret;

	replay_number_tasks(t, &c->s.spawn);
	/* addresses of variables are known once the program was mapped */
	if (c->s.o.points.watches && c->s.o.points.watches[0]) {
		if (search_begin(c->s.search) != SEARCH_GO ||
		    session_execute(&c->s, NULL, &x, err, errlen))
			return -EIO;
		search_end(c->s.search, &(struct search_end){ .result = SEARCH_ABANDONED });
	}
	ret = points_settle(c->points, &(bool){ false }, err, errlen);
	if (!ret)
		session_template_expect(&c->s, executions);
	return ret;
}

int campaign_follow(struct campaign *c, const struct replay *r, struct execution *x, char *err,
		    size_t errlen)
{
	return session_follow(&c->s, r, x, err, errlen);
}

bool campaign_is_late(const struct campaign *c)
{
	return session_late(&c->s, 0);
}

/* ---- results ---- */

#define ON_TIME " in which no time-out ends early"

/* Some executions ended time-outs early, but not all schedules with such ends were tried. */
static bool on_time_only(const struct campaign *c)
{
	return c->s.timed && c->s.o.inputs.timeouts == TIMEOUTS_AUTO;
}

const char *campaign_tried(const struct campaign *c)
{
	/* by: bounded, ruled, on time only */
	static const char *const told[2][2][2] = {
		{ { "every schedule was tried", "every schedule was tried" ON_TIME },
		  { "every schedule that the rules allow was tried",
		    "every schedule that the rules allow was tried" ON_TIME } },
		{ { "every schedule within the bound was tried",
		    "every schedule within the bound was tried" ON_TIME },
		  { "every schedule within the bound and the rules was tried",
		    "every schedule within the bound and the rules was tried" ON_TIME } },
	};
	bool ruled = c->s.o.search.rules && !c->s.o.search.script;
	struct search_stats st;

	search_get_stats(c->s.search, &st);
	campaign_parts_stats(c, &st);
	if (st.incomplete)
		return "nothing is left to try, but not everything was tried";
	return told[st.bound_done != UINT32_MAX && !st.unbounded][ruled][on_time_only(c)];
}

void campaign_get_result(const struct campaign *c, struct campaign_result *r)
{
	const struct session_figures *f = &c->s.figures;
	const struct race_book *races = points_races(c->points);

	*r = (struct campaign_result){
		.executions = f->executions,
		.number = f->executions + c->s.skipped,
		.searched = c->searched,
		.resumed = c->before,
		.aside = f->aside,
		.steps = f->steps,
		.run_ns = f->run_ns,
		.spent = f->spent,
		.findings = c->failures.findings,
		.diverged = c->diverged,
		.elapsed_ns = clock_now_ns() - c->start_ns,
		.setup_ns = c->setup_ns,
		.passed = c->passed,
		.primed = c->phase == POINTS_SEARCHING,
		.exhausted = c->exhausted,
		.on_time = on_time_only(c),
		.tried = c->exhausted ? campaign_tried(c) : NULL,
		.cut = c->cut,
		.share = c->parts.log && !c->exhausted,
		.stopped = c->stopped,
		.first_divergence = c->first_divergence,
		.failures = c->failures.list,
		.nr_failures = c->failures.nr,
		.once = c->once.list,
		.nr_once = c->once.nr,
		.lanes = c->lanes.figures,
		.nr_lanes = c->lanes.nr,
		.serial_ns = campaign_lanes_serial(c),
		.serial_nr = c->serial.nr,
		.races = races->list,
		.nr_races = races->nr,
		.nr_suppressed = races->nr_suppressed,
		.suppression_used = races->used,
		.symbols = c->s.symbols,
		.record = c->s.o.results.record,
	};
	search_get_stats(c->s.search, &r->search);
	campaign_parts_stats(c, &r->search);
	r->preemptions_done = campaign_preemptions_done(&r->search);
}

void campaign_get_notes(const struct campaign *c, struct campaign_notes *n)
{
	*n = (struct campaign_notes){ 0 };
	if (c->made_before)
		return;
	points_note(c->points, n);
	n->start = session_template_note(&c->s);
}

int campaign_points(const struct campaign *c, struct point_table *t)
{
	*t = (struct point_table){ 0 };
	if (c->made_before)
		return 0;
	return points_table(c->points, t);
}

bool campaign_has_point(const struct campaign *c, const char *path, uint64_t offset)
{
	for (unsigned int i = 0; i < probes_nr_sites(c->s.probes); i++) {
		const struct probe_site *s = probes_site(c->s.probes, i);

		if (s->offset == offset && !s->silent && !strcmp(probes_module(c->s.probes, s->module)->path, path))
			return true;
	}
	return false;
}

const char *campaign_file(const struct campaign *c)
{
	return c->s.paths.program;
}

int campaign_output(const struct campaign *c, bool standard_error, char **head, char **tail)
{
	return capture_text(c->s.capture, standard_error, head, tail);
}

void campaign_pass_on(struct campaign *c, int out, int err)
{
	capture_copy(c->s.capture, 0, out, c->s.stop);
	capture_copy(c->s.capture, 1, err, c->s.stop);
}

/* The statement is about a part of the program that is no more. */
static bool is_gone(const struct search_script_line *l)
{
	return l->state == SEARCH_SCRIPT_GONE || l->state == SEARCH_SCRIPT_UNTIL_GONE ||
	       l->state == SEARCH_SCRIPT_NO_TASK;
}

void campaign_script_result(const struct campaign *c, struct script_result *r)
{
	struct search_script_line l;

	*r = (struct script_result){ .nr = search_script_lines(c->s.search),
				     .strict = search_script_strict(c->s.search) };
	for (unsigned int i = 0; i < r->nr; i++) {
		search_script_line(c->s.search, i, &l);
		r->made += l.state == SEARCH_SCRIPT_MADE;
		r->gone += is_gone(&l);
	}
	/*
	 * a correction may take away some of its places; where nothing is left, it is about another
	 * program
	 */
	r->fits = !(r->nr && r->gone == r->nr) && !(r->strict && r->made < r->nr);
}

void campaign_script_line(const struct campaign *c, unsigned int i, struct search_script_line *l)
{
	search_script_line(c->s.search, i, l);
}
