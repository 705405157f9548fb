/* SPDX-License-Identifier: GPL-2.0-only */
/* A campaign's record (--record): what campaign_run() tells record.c. Without the option nothing. */
#include <stdio.h>
#include <string.h>
#include "campaign/campaign_internal.h"
#include "lib/version.h"
#include "report/record.h"

int campaign_record_open(struct campaign *c, char *err, size_t errlen)
{
	const struct record_head h = {
		.argv = c->o.command.argv, .cwd = c->o.command.cwd, .kernel = c->release, .zug_version = ZUG_VERSION,
		.strategy = c->o.search.strategy ? c->o.search.strategy : "default", .seed = c->o.search.seed,
		.executions = c->o.search.executions, .time_ns = c->o.search.time_ns,
	};

	if (!c->o.results.record)
		return 0;
	c->record = record_open(c->o.results.record, &h, err, errlen);
	return c->record ? 0 : -1;
}

void campaign_record_execution(struct campaign *c, const struct execution *x)
{
	struct search_stats st;

	if (!c->record)
		return;
	search_get_stats(c->search, &st);
	record_execution(c->record, &(struct record_execution){
		.n = c->executions, .ns = campaign_now() - c->start_ns, .steps = c->steps,
		.schedules = st.schedules, .distinct = st.distinct, .bound = st.bound,
		.bound_done = st.bound_done, .new_probability = st.new_probability,
		.estimate = st.estimate_total, .preemptions = x->preemptions,
		.strategy = c->primed ? st.strategy : "first look" });
	c->recorded = c->executions;
}

void campaign_record_finding(struct campaign *c, const struct execution *x)
{
	const char *trace = NULL;
	struct search_stats st;

	if (!c->record)
		return;
	search_get_stats(c->search, &st);
	for (unsigned int i = 0; i < c->nr_failures; i++)
		if (c->failures[i].failure == x->outcome.failure)
			trace = c->failures[i].trace;
	record_finding(c->record, &(struct record_finding){
		.n = c->recorded, .ns = campaign_now() - c->start_ns, .failure = x->outcome.failure,
		.steps = x->steps, .preemptions = x->preemptions, .trace = trace,
		.kind = zug_outcome_name(x->outcome.kind), .message = x->outcome.message,
		.strategy = c->primed ? st.strategy : "first look" });
}

void campaign_record_end(struct campaign *c, const char *why)
{
	struct search_stats st;

	if (!c->record || c->record_ended)
		return;
	search_get_stats(c->search, &st);
	record_end(c->record, why, st.bound_done);
	c->record_ended = true;
}

void campaign_record_close(struct campaign *c)
{
	int ret;

	if (c->record && c->findings)
		campaign_record_end(c, "a finding");
	ret = record_close(c->record);
	if (c->o.results.record && c->recorded && !ret)
		fprintf(c->out, "record: %s (a page of it: zug show --html %s)\n", c->o.results.record, c->o.results.record);
	if (ret)
		fprintf(c->err, "zug: --record %s: %s; what follows is missing\n", c->o.results.record, strerror(-ret));
}
