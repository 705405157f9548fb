/* SPDX-License-Identifier: GPL-2.0-only */
/* points.c - asks each point policy in turn (points.h) */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "campaign/points.h"

/*
 * In the order in which they learn and settle. The waits come first: they need the counts of the
 * last execution, which the hot places of policy_code read and reset. Steps are shown, and
 * executions judged, in the opposite order.
 */
static const struct point_policy *const policies[] = {
	&policy_waits, &policy_files, &policy_points,	&policy_code,	 &policy_recorded, &policy_from, &policy_scope,
	&policy_scan,  &policy_races, &policy_own, &policy_timeouts, &policy_monitors,
	&policy_signals, &policy_watches, &policy_untried, &policy_runtime, &policy_seen,
};

#define NR_POLICIES (sizeof(policies) / sizeof(policies[0]))

struct points {
	struct session *s;
	struct race_book races;
	void *state[NR_POLICIES];
	size_t stepping[NR_POLICIES], nr_stepping;	/* those that look at each step, the last one first */
	bool apart;		/* the last execution was */
};

int points_new(struct points **out, struct session *s, char *err, size_t errlen)
{
	const struct campaign_options *o = &s->o;
	struct points *p = *out = calloc(1, sizeof(*p));
	int ret;

	snprintf(err, errlen, "out of memory");
	if (!p)
		return -ENOMEM;
	p->s = s;
	for (size_t i = NR_POLICIES; i-- > 0;)
		if (policies[i]->on_step)
			p->stepping[p->nr_stepping++] = i;
	ret = race_book_init(&p->races, o->replay.races, o->replay.race, o->failure.suppressions, o->failure.race);
	for (size_t i = 0; i < NR_POLICIES && !ret; i++) {
		p->state[i] = calloc(1, policies[i]->size);
		ret = p->state[i] ? policies[i]->open(p->state[i], s, &p->races, err, errlen) :
				    -ENOMEM;
	}
	return ret;
}

void points_free(struct points *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < NR_POLICIES; i++) {
		if (p->state[i] && policies[i]->release)
			policies[i]->release(p->state[i]);
		free(p->state[i]);
	}
	race_book_release(&p->races);
	free(p);
}

/* Makes the options of the traces' headers anew. */
static int update_options(void *ctx, char *err, size_t errlen)
{
	struct points *p = ctx;
	struct options_replay lists = p->s->o.replay;
	struct campaign_options o = p->s->o;
	int ret = 0;

	for (size_t i = 0; i < NR_POLICIES && !ret; i++)
		if (policies[i]->lists)
			ret = policies[i]->lists(p->state[i], &lists);
	free(p->s->options_json);
	free(p->s->points_json);
	/* an execution before they are set has no steps of them, and neither has its replay */
	if (!p->s->nr_watches)
		o.points.watches = NULL;
	p->s->options_json = ret ? NULL : campaign_options_json(&o, &lists);
	o.failure.max_steps = 0;
	p->s->points_json = ret ? NULL : campaign_options_json(&o, &lists);
	if (p->s->options_json && p->s->points_json)
		return 0;
	snprintf(err, errlen, "out of memory");
	return -ENOMEM;
}

int points_start(struct points *p, char *err, size_t errlen)
{
	int ret = 0;

	for (size_t i = 0; i < NR_POLICIES && !ret; i++)
		if (policies[i]->start)
			ret = policies[i]->start(p->state[i], err, errlen);
	return ret ? ret : update_options(p, err, errlen);
}

static bool on_step(void *ctx, const struct search_point *at, uint32_t cand, struct outcome *o)
{
	struct points *p = ctx;

	for (size_t k = 0; k < p->nr_stepping; k++)
		if (policies[p->stepping[k]]->on_step(p->state[p->stepping[k]], at, cand, o))
			return true;
	return false;
}

static void judge(void *ctx, struct execution *x)
{
	struct points *p = ctx;

	for (size_t i = NR_POLICIES; i-- > 0;)
		if (policies[i]->judge)
			policies[i]->judge(p->state[i], x);
}

static bool looks(void *ctx)
{
	struct points *p = ctx;

	for (size_t i = 0; i < NR_POLICIES; i++)
		if (policies[i]->looks && policies[i]->looks(p->state[i]))
			return true;
	return false;
}

void points_watch_steps(struct points *p)
{
	engine_watch_steps(p->s->engine, on_step, looks, p);
}

void points_watch(struct points *p)
{
	points_watch_steps(p);
	p->s->judge = judge;
	p->s->update_options = update_options;
	p->s->judge_ctx = p;
	for (size_t i = 0; i < NR_POLICIES; i++)
		if (policies[i]->watch)
			policies[i]->watch(p->state[i]);
}

/*
 * A test that has joined by itself stands still in the kernel until its execution begins, and there
 * taking probes away would wait for it: a grace period of RCU. The probes may only become more.
 */
static bool only_more(const struct points *p)
{
	return kworld_launch(p->s->world)->joined;
}

int points_learn(struct points *p, enum points_phase phase, char *err, size_t errlen)
{
	int changed = 0, ret;

	for (size_t i = 0; i < NR_POLICIES; i++) {
		if (!policies[i]->learn ||
		    (phase == POINTS_SEARCHING && !policies[i]->learns_always))
			continue;
		ret = policies[i]->learn(p->state[i], only_more(p), err, errlen);
		if (ret < 0)
			return ret;
		changed += ret;
	}
	ret = changed || phase != POINTS_SEARCHING ? update_options(p, err, errlen) : 0;
	return ret ? ret : changed;
}

int points_settle(struct points *p, bool *more, char *err, size_t errlen)
{
	int ret = 0;

	*more = false;
	for (size_t i = 0; i < NR_POLICIES && !ret; i++)
		if (policies[i]->settle)
			ret = policies[i]->settle(p->state[i], only_more(p), more, err, errlen);
	/* a replay has the points that were recorded */
	return ret || p->s->o.replay.probed ? ret : update_options(p, err, errlen);
}

int points_begin(struct points *p, bool *apart, char *err, size_t errlen)
{
	bool race = p->s->o.failure.race, early = p->s->o.inputs.explore_timeouts, was_apart = p->apart;

	*apart = false;
	for (size_t i = 0; i < NR_POLICIES; i++)
		if (policies[i]->begin)
			policies[i]->begin(p->state[i], apart);
	p->apart = *apart;
	return *apart || was_apart || p->s->o.failure.race != race || p->s->o.inputs.explore_timeouts != early ?
		       update_options(p, err, errlen) : 0;
}

int points_after(struct points *p, enum points_phase phase, struct execution *x, char *err,
		 size_t errlen)
{
	int ret = 0;

	for (size_t i = NR_POLICIES; i-- > 0 && !ret;)
		if (policies[i]->after)
			ret = policies[i]->after(p->state[i], phase, x, err, errlen);
	return ret;
}

void points_note(struct points *p, struct campaign_notes *n)
{
	for (size_t i = 0; i < NR_POLICIES; i++)
		if (policies[i]->note)
			policies[i]->note(p->state[i], n);
}

int points_table(struct points *p, struct point_table *t)
{
	int ret = 0;

	for (size_t i = 0; i < NR_POLICIES && !ret; i++)
		if (policies[i]->table)
			ret = policies[i]->table(p->state[i], t);
	if (!ret)
		point_table_settle(t);
	return ret;
}

struct race_book *points_races(struct points *p)
{
	return &p->races;
}
