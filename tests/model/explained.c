/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * explained.c - failures of a model program are made minimal and explained, and each explanation is checked
 */
#include <string.h>
#include "search/access.h"
#include "search/minimize.h"
#include "search/search_internal.h"
#include "explained.h"
#include "tap.h"

const struct search_options explained_options = { .fair = 1, .max_steps = 20000, .preemptions = -1 };

/* The minimal schedule that fails as order does. Its length. */
uint64_t explained_minimal(const struct model *m, uint32_t *order, uint64_t nr, uint64_t failure)
{
	struct search *s = minimize_new(&explained_options, order, nr, failure, 0, NULL, 0);
	struct minimize_result result;
	struct model_result r;

	while (model_run(m, s, &r, NULL, 0) == SEARCH_GO)
		;
	minimize_result(s, &result);
	nr = result.nr;
	memcpy(order, result.tasks, nr * sizeof(*order));
	search_free(s);
	return nr;
}

/* The tasks of the execution number 'trial' of that neighbour search: its length, and whether it failed. */
uint64_t explained_trial(const struct model *m, const uint32_t *order, uint64_t nr, uint64_t failure, uint64_t number,
		      uint32_t *tasks, bool *failed)
{
	struct search *s = neighbour_new(&explained_options, order, nr, failure, 0, NULL, 0);
	struct model_result r = { 0 };

	while (number-- && model_run(m, s, &r, tasks, EXPLAINED_ORDER) == SEARCH_GO)
		;
	search_free(s);
	*failed = r.failed;
	return r.steps;
}

static bool stands(const struct neighbour_op *o, const uint32_t *fails, uint64_t nr_f, const uint32_t *passes,
		   uint64_t nr_p)
{
	return (o->failing == UINT64_MAX || (o->failing < nr_f && fails[o->failing] == o->task)) &&
	       (o->passing == UINT64_MAX || (o->passing < nr_p && passes[o->passing] == o->task));
}

void explained_check(const struct model *m, uint32_t *order, uint64_t nr, uint64_t failure, struct explained_tally *t)
{
	struct neighbour_result n;
	struct access a, b;
	uint32_t tasks[EXPLAINED_ORDER];
	struct model_result r;
	struct search *s;
	uint64_t steps;
	bool failed;

	nr = explained_minimal(m, order, nr, failure);
	s = neighbour_new(&explained_options, order, nr, failure, 0, NULL, 0);
	while (model_run(m, s, &r, NULL, 0) == SEARCH_GO)
		;
	neighbour_result(s, &n);
	search_free(s);
	t->failures++;
	t->not_replayed += !n.reproduced || !n.all;
	t->trials += n.trials;
	if (!n.found)
		return;
	t->found++;
	steps = explained_trial(m, order, nr, failure, n.trial, tasks, &failed);
	t->not_passing += failed || steps != n.nr;
	for (uint64_t i = 0; i < n.part; i++)
		t->wrong_part += order[i] != tasks[i];
	t->wrong_part += n.part < nr && n.part < steps && order[n.part] == tasks[n.part];
	if (!n.nr_pairs) {
		t->unpaired++;
		return;
	}
	a = access_of(&n.first.label);
	b = access_of(&n.second.label);
	t->wrong_pair += n.first.task == n.second.task || !access_dependent(&a, &b) ||
			 n.first.failing >= n.second.failing || n.second.passing >= n.first.passing ||
			 !stands(&n.first, order, nr, tasks, steps) || !stands(&n.second, order, nr, tasks, steps);
}

void explained_report(const char *what, const struct explained_tally *t)
{
	tap_ok(t->failures && !t->not_replayed && !t->not_passing && !t->wrong_part && !t->wrong_pair,
	       "%s: of %d failures %d have a neighbour, all of which pass (%d do not), part where they are said to "
	       "(%d do not), with a pair in both orders (%d are wrong, %d have none); %llu trials", what, t->failures,
	       t->found, t->not_passing, t->wrong_part, t->wrong_pair, t->unpaired,
	       (unsigned long long)t->trials);
}

/* The seed's first failure, made minimal, is explained; false: it does not fail so often. */
bool explained_first(const struct model *m, uint64_t seed, uint64_t most, struct explained_tally *all,
		     struct neighbour_result *n)
{
	uint32_t order[EXPLAINED_ORDER];
	struct model_result r;
	struct search *s;
	uint64_t steps;

	if (!model_fail(m, seed, most, &r, order, EXPLAINED_ORDER))
		return false;
	explained_check(m, order, r.steps, r.outcome, all);
	model_fail(m, seed, most, &r, order, EXPLAINED_ORDER);
	steps = explained_minimal(m, order, r.steps, r.outcome);
	s = neighbour_new(&explained_options, order, steps, r.outcome, 0, NULL, 0);
	while (model_run(m, s, &r, NULL, 0) == SEARCH_GO)
		;
	neighbour_result(s, n);
	search_free(s);
	return true;
}
