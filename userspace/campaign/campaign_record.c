/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A campaign's record (--record): what campaign_run() writes by report/record.h. Without the option
 * nothing.
 */
#include <stdio.h>
#include <string.h>
#include "lib/base/clock.h"
#include "lib/version.h"
#include "campaign/campaign_internal.h"
#include "report/record.h"

int campaign_record_open(struct campaign *c, char *err, size_t errlen)
{
	const struct campaign_options *o = &c->s.o;
	const struct record_head h = {
		.argv = o->command.argv,
		.cwd = o->command.cwd,
		.kernel = c->s.release,
		.zug_version = ZUG_VERSION,
		.strategy = o->search.strategy ? o->search.strategy : "default",
		.seed = o->search.seed,
		.executions = o->search.executions,
		.time_ns = o->search.time_ns,
	};

	if (!o->results.record)
		return 0;
	c->record = record_open(o->results.record, &h, err, errlen);
	return c->record ? 0 : -1;
}

static const char *strategy_now(const struct campaign *c, const struct search_stats *st)
{
	bool sampled = c->s.sampled && c->prime_rounds > 1;

	return c->phase == POINTS_SEARCHING || sampled ? st->strategy : "first look";
}

void campaign_record_execution(struct campaign *c, const struct execution *x)
{
	struct search_stats st;

	if (!c->record)
		return;
	search_get_stats(c->s.search, &st);
	record_execution(c->record,
			 &(struct record_execution){ .n = c->s.figures.executions,
						     .ns = clock_now_ns() - c->start_ns,
						     .steps = c->s.figures.steps,
						     .schedules = st.schedules,
						     .distinct = st.distinct,
						     .bound = st.bound,
						     .bound_done = campaign_preemptions_done(&st),
						     .new_probability = st.new_probability,
						     .estimate = st.estimate_total,
						     .preemptions = x->preemptions,
						     .spent = c->s.figures.spent,
						     .strategy = strategy_now(c, &st) });
	c->recorded = c->s.figures.executions;
}

static void put_failure(struct campaign *c, const struct execution *x,
			const struct failure_list *list,
			void (*put)(struct record *r, const struct record_finding *f))
{
	const struct campaign_failure *f = failures_find(list, x->outcome.failure);
	struct search_stats st;

	if (!c->record)
		return;
	search_get_stats(c->s.search, &st);
	put(c->record, &(struct record_finding){
		.n = c->recorded, .ns = clock_now_ns() - c->start_ns, .failure = x->outcome.failure,
		.steps = x->steps, .preemptions = x->preemptions, .trace = f ? f->trace : NULL,
		.kind = zug_outcome_name(x->outcome.kind), .message = x->outcome.message,
		.strategy = strategy_now(c, &st) });
}

void campaign_record_finding(struct campaign *c, const struct execution *x)
{
	put_failure(c, x, &c->failures, record_finding);
}

void campaign_record_once(struct campaign *c, const struct execution *x)
{
	put_failure(c, x, &c->once, record_once);
}

void campaign_record_end(struct campaign *c, const char *why)
{
	struct search_stats st;

	if (!c->record || c->record_ended)
		return;
	search_get_stats(c->s.search, &st);
	record_end(c->record, why, campaign_preemptions_done(&st));
	c->record_ended = true;
}

int campaign_close_record(struct campaign *c, char *err, size_t errlen)
{
	int ret;

	if (!c->record)
		return 0;
	if (c->failures.findings)
		campaign_record_end(c, "a finding");
	ret = record_close(c->record);
	c->record = NULL;
	if (ret)
		snprintf(err, errlen, "--record %s: %s; what follows is missing",
			 c->s.o.results.record, strerror(-ret));
	return ret ? ret : c->recorded > 0;
}
