/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * neighbour.c - the closest schedule that passes (neighbour.h)
 *
 * Choi, Zeller: Isolating failure-inducing thread schedules (2002), for schedules that are minimal already: there one
 * difference is enough to turn them, so that each is tried by itself instead of halving the set of them.
 *
 * The phases of next_trial() say which schedules are tried: orders of the same operations (neighbour_orders.c), then other
 * decisions. neighbour_names.c says how far one that passes is from the failing one, and what decides.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "search/neighbour_internal.h"
#include "search/pair_order.h"
#include "search/search_internal.h"

/* A decision is made at most this many steps earlier or later. */
#define MOVES_MAX	64
/* At most this many other decisions are kept: the last ones, which are closest to the failure. */
#define OTHERS_MAX	65536

/* So many times the same steps at the end, and at most so many steps, are the rounds of a livelock. */
#define ROUNDS_MIN	64
#define ROUND_MAX	24

static void births_release(struct births *b)
{
	free(b->at);
	free(b->parents);
}

static void fini(void *state)
{
	struct neighbour *n = state;

	schedule_release(&n->fails);
	schedule_release(&n->now);
	schedule_release(&n->whole);
	settled_release(&n->fails_steps);
	settled_release(&n->now_steps);
	free(n->done);
	free(n->last);
	around_release(&n->a);
	free(n->others);
	free(n->trial);
	difference_index_release(&n->index);
	free(n->pending);
	free(n->ended);
	free(n->waited);
	births_release(&n->births);
	births_release(&n->births_now);
	births_release(&n->births_whole);
	free(n->pairs);
	free(n->torn);
	free(n->order);
	free(n->nth);
	neighbour_siblings_release(&n->siblings);
}

/* ---- which schedule is next ---- */

static void start(struct neighbour *n, enum phase phase)
{
	n->phase = phase;
	if (phase == OWN_FIRST)
		n->at = n->nr_pairs;
	else if (phase == REVERSE)
		n->at = n->nr_pairs - n->nr_own;
	else if (phase == WHOLE_FIRST || phase == WHOLE || phase == ALIKE)
		n->at = 0;
	else
		n->at = phase == INSTEAD || phase == ANYWHERE ? n->nr_others : n->fails.nr_diffs;
	n->moved = 0;
}

/* ---- another decision ---- */

/* The failing schedule with another decision at one place. */
static bool next_instead(struct neighbour *n, bool differences)
{
	while (n->at)
		if (n->others[--n->at].difference == differences) {
			n->instead = n->others[n->at];
			n->use_instead = true;
			return true;
		}
	return false;
}

/* The failing schedule with one difference some steps away from its place. */
static bool next_moved(struct neighbour *n)
{
	struct difference *d;

	while (n->at) {
		d = &n->trial[n->at - 1];
		if (++n->moved <= MOVES_MAX && (n->phase == LATER || d->nth >= n->moved)) {
			d->nth = n->phase == LATER ? d->nth + n->moved : d->nth - n->moved;
			return true;
		}
		n->at--;
		n->moved = 0;
	}
	return false;
}

static bool next_trial(struct neighbour *n)
{
	n->use_instead = false;
	if (n->fails.nr_diffs)
		memcpy(n->trial, n->fails.diffs, n->fails.nr_diffs * sizeof(*n->trial));
	n->nr_trial = n->fails.nr_diffs;
	switch (n->phase) {
	case OWN_FIRST:
		return n->at > n->nr_pairs - n->nr_own && neighbour_next_reversed(n);
	case SIBLINGS_FIRST:
		return neighbour_has_many_pairs(n) && neighbour_next_siblings(n);
	case SIBLINGS:
		return neighbour_next_siblings(n);
	case WHOLE_FIRST:
		return neighbour_has_many_pairs(n) && neighbour_next_whole(n);
	case REVERSE:
		return neighbour_next_reversed(n);
	case WHOLE:
		return neighbour_next_whole(n);
	case ALIKE:
		return neighbour_next_alike(n);
	case INSTEAD:
		return !neighbour_explains(n) && next_instead(n, true);
	case EARLIER:
	case LATER:
		return !neighbour_explains(n) && next_moved(n);
	case ANYWHERE:
		return !n->best.found && next_instead(n, false);
	default:
		return false;
	}
}

static int begin(void *state, uint64_t iteration)
{
	struct neighbour *n = state;
	int ret = around_begin(&n->a);

	(void)iteration;
	if (ret != SEARCH_GO)
		return ret;
	while (!n->again && n->phase != FOLLOW && n->phase != DONE && !next_trial(n))
		start(n, n->phase + 1);
	if (n->a.error)
		return n->a.error;
	if (n->again)
		n->first_left = 0;
	n->again = false;
	if (n->phase == DONE)
		return SEARCH_EXHAUSTED;
	if (neighbour_in_siblings(n) ? difference_index_make(&n->index, n->fails.diffs, n->fails.nr_diffs) :
				       difference_index_make(&n->index, n->trial, n->nr_trial))
		return -ENOMEM;
	n->a.trials++;
	schedule_clear(&n->now);
	n->births_now.nr = 0;
	n->nr_done = 0;
	for (uint32_t i = 0; i < n->room_last; i++)
		n->last[i] = 0;
	return SEARCH_GO;
}

/* ---- one execution ---- */

static int note_others(struct neighbour *n, const struct choice *c, uint32_t pos)
{
	uint32_t nth = schedule_nth(n->a.env, c);

	for (uint32_t i = 0; i < c->nr; i++) {
		if (i == pos)
			continue;
		if (n->nr_others == OTHERS_MAX) {
			n->nr_others /= 2;
			memmove(n->others, n->others + n->nr_others, n->nr_others * sizeof(*n->others));
		}
		if (!ARRAY_RESERVE(n->others, n->room_others, n->nr_others + 1))
			return -ENOMEM;
		n->others[n->nr_others++] = (struct other){
			.last = c->point->last, .nth = nth, .task = choice_cand(c, i)->task,
			.difference = pos != schedule_base(c),
		};
	}
	return 0;
}

static uint32_t follow(struct neighbour *n, const struct choice *c)
{
	uint32_t pos = CHOICE_NONE;

	if (n->phase == FOLLOW)
		return around_follow(&n->a, c);
	if (neighbour_in_siblings(n))
		return neighbour_follow_siblings(n, c);
	if (neighbour_follows_order(n))
		return neighbour_follow_order(n, c);
	if (n->use_instead && n->instead.last == c->point->last && n->instead.nth == schedule_nth(n->a.env, c))
		pos = schedule_position(c, n->instead.task);
	return pos == CHOICE_NONE ? schedule_follow(n->trial, &n->index, n->a.env, c) : pos;
}

/* Tasks that were about to do something are gone: another one's last step has ended them, if it can. */
static int note_ended(struct neighbour *n, const struct search_point *p)
{
	size_t by = n->now.nr - 1;
	const struct zug_label *l = n->now.nr ? &n->now.labels[by] : NULL;

	if (!l || !(l->flags & ZUG_L_ENDS_ALL))
		return 0;
	for (size_t i = 0; i < n->nr_pending; i++) {
		if (search_cand_of(p, n->pending[i].task) != UINT32_MAX)
			continue;
		if (!ARRAY_RESERVE(n->ended, n->room_ended, n->nr_ended + 1))
			return -ENOMEM;
		n->ended[n->nr_ended] = n->pending[i];
		n->ended[n->nr_ended].ended = true;
		n->ended[n->nr_ended++].by = by;
	}
	return 0;
}

/* All tasks wait: for what? */
static int note_waited(struct neighbour *n, const struct search_point *p)
{
	for (uint32_t i = 0; i < p->nr; i++)
		if (p->cand[i].enabled)
			return 0;
	for (uint32_t i = 0; i < p->nr; i++) {
		const struct zug_label *l = &p->cand[i].label;

		if (!l->object)
			continue;
		if (!ARRAY_RESERVE(n->waited, n->room_waited, n->nr_waited + 1))
			return -ENOMEM;
		n->waited[n->nr_waited++] = l->object;
	}
	return 0;
}

/* The last operation is the failure: on what? */
static int note_misused(struct neighbour *n)
{
	const struct zug_label *l = n->now.nr ? &n->now.labels[n->now.nr - 1] : NULL;

	if (!l || !ARRAY_RESERVE(n->waited, n->room_waited, n->nr_waited + 2))
		return l ? -ENOMEM : 0;
	n->waited[n->nr_waited++] = l->object;
	if (l->object2)
		n->waited[n->nr_waited++] = l->object2;
	return 0;
}

/* What the tasks are about to do, but for the chosen one: an operation that it is in already is none. */
static int note_pending(struct neighbour *n, const struct search_point *p, uint32_t chosen)
{
	if (note_ended(n, p))
		return -ENOMEM;
	n->nr_pending = 0;
	for (uint32_t i = 0; i < p->nr; i++) {
		const struct search_cand *cand = &p->cand[i];
		size_t k = cand->task < n->room_last ? n->last[cand->task] : 0;

		if (cand->task == chosen || (k && !cand->enabled && n->now.labels[k - 1].op == cand->label.op &&
					     n->now.labels[k - 1].site == cand->label.site))
			continue;
		if (!ARRAY_RESERVE(n->pending, n->room_pending, n->nr_pending + 1))
			return -ENOMEM;
		n->pending[n->nr_pending++] = (struct critical_pending){ .task = cand->task, .label = cand->label };
	}
	return 0;
}

/* steps: made so far. */
static int note_births(struct births *b, const struct search_point *p, size_t steps)
{
	uint32_t most = p->cand[p->nr - 1].task + 1, *at, *parents;

	if (most > b->nr) {
		at = realloc(b->at, most * sizeof(*at));
		b->at = at ? at : b->at;
		parents = realloc(b->parents, most * sizeof(*parents));
		b->parents = parents ? parents : b->parents;
		if (!at || !parents)
			return -ENOMEM;
		for (uint32_t i = b->nr; i < most; i++)
			b->at[i] = b->parents[i] = UINT32_MAX;
		b->nr = most;
	}
	for (uint32_t i = 0; i < p->nr; i++) {
		uint32_t task = p->cand[i].task;

		if (b->at[task] != UINT32_MAX)
			continue;
		b->at[task] = steps;
		b->parents[task] = p->cand[i].parent;
	}
	return 0;
}

static int note_done(struct neighbour *n, uint32_t task, const struct zug_label *l)
{
	if (!ARRAY_RESERVE(n->done, n->room_done, task + 1))
		return -ENOMEM;
	while (n->nr_done <= task)
		n->done[n->nr_done++] = (struct settling){ 0 };
	settling_step(&n->done[task], l);
	return 0;
}

static int note_last(struct neighbour *n, uint32_t task)
{
	if (!ARRAY_RESERVE_ZERO(n->last, n->room_last, task + 1))
		return -ENOMEM;
	n->last[task] = n->now.nr;
	return 0;
}

static void final(void *state, const struct search_point *p)
{
	struct neighbour *n = state;

	/* when the command has ended no task is left: what they were about to do was noted before that */
	if (n->phase == FOLLOW && !n->a.error && p->nr)
		n->a.error = note_pending(n, p, SEARCH_NO_TASK);
	if (n->phase == FOLLOW && !n->a.error)
		n->a.error = note_waited(n, p);
}

static int pick(void *state, const struct choice *fair)
{
	struct neighbour *n = state;
	const struct choice choice = around_choice(&n->a, fair), *c = &choice;
	uint32_t pos;

	if (neighbour_in_siblings(n) && note_births(&n->births_now, c->point, n->now.nr)) {
		n->a.error = -ENOMEM;
		return n->a.error;
	}
	pos = follow(n, c);
	around_chosen(&n->a, fair, c, pos);
	if (n->phase == FOLLOW)
		n->a.error = note_others(n, c, pos);
	if (n->phase == FOLLOW && !n->a.error)
		n->a.error = note_births(&n->births, c->point, n->now.nr);
	if (n->phase == WHOLE_FIRST || n->phase == WHOLE || n->phase == ALIKE)
		n->a.error = note_births(&n->births_now, c->point, n->now.nr);
	if (n->phase == FOLLOW && !n->a.error)
		n->a.error = note_pending(n, c->point, choice_cand(c, pos)->task);
	if (!n->a.error && neighbour_in_siblings(n))
		n->a.error = neighbour_siblings_step(n, choice_cand(c, pos)->task);
	if (!n->a.error)
		n->a.error = note_done(n, choice_cand(c, pos)->task, &choice_cand(c, pos)->label);
	if (!n->a.error)
		n->a.error = schedule_note(&n->now, n->a.env, c, pos);
	if (!n->a.error && n->phase == FOLLOW)
		n->a.error = note_last(n, choice_cand(c, pos)->task);
	return n->a.error ? n->a.error : (int)c->allowed[pos];
}

static uint64_t promise(const void *state, const struct search_point *point, uint32_t task,
			enum search_until *until)
{
	const struct neighbour *n = state;
	uint64_t made = hb_steps(n->a.env->hb, task), nr;

	*until = SEARCH_UNTIL_DONE;
	if (n->phase == FOLLOW)
		return around_promise(&n->a, point, task);
	if (neighbour_in_siblings(n))
		return neighbour_siblings_promise(n, task);
	if (neighbour_follows_order(n))
		return neighbour_order_promise(n, task);
	nr = schedule_promise(&n->index, n->a.env, task);
	if (n->use_instead && n->instead.last == task && n->instead.nth >= made && n->instead.nth - made < nr)
		nr = n->instead.nth - made;
	return nr;
}

static uint32_t ahead(const void *state, uint64_t nth)
{
	const struct neighbour *n = state;

	return n->phase == FOLLOW ? around_ahead(&n->a, n->now.nr, nth) : SEARCH_NO_TASK;
}

static void rule(const void *state, struct search_rule *r)
{
	const struct neighbour *n = state;

	if (n->phase == FOLLOW) {
		around_rule(&n->a, r);
		return;
	}
	/* whom it holds depends on what the two children have done */
	if (neighbour_in_siblings(n))
		return;
	if (neighbour_follows_order(n)) {
		neighbour_order_rule(n, r);
		return;
	}
	/* it comes before all others */
	if (n->use_instead)
		r->differences[r->nr_order++] = (struct search_difference){
			.task = n->instead.last, .nth = n->instead.nth, .next = n->instead.task };
	schedule_rule(n->trial, &n->index, n->a.env, r);
}

static uint64_t weight(const void *state, uint32_t task)
{
	const struct neighbour *n = state;

	if (n->phase == FOLLOW || !neighbour_follows_order(n))
		return around_weight(state, task);
	return task < n->nr_done ? n->done[task].made : 0;
}

/* ---- what was tried ---- */

static bool closer(const struct neighbour_result *a, const struct neighbour_result *b)
{
	if (!b->found || a->alone != b->alone)
		return !b->found || a->alone;
	/* what passes without any such pair explains nothing */
	if (!a->nr_pairs != !b->nr_pairs)
		return a->nr_pairs;
	return a->nr_pairs < b->nr_pairs || (a->nr_pairs == b->nr_pairs && a->part > b->part);
}

static void passed(struct neighbour *n)
{
	struct neighbour_result r = { .found = true, .trial = n->a.trials, .alike = n->best.alike,
				      .otherwise = n->best.otherwise };

	n->named = false;
	n->a.error = neighbour_compare(n, &r);
	if (neighbour_in_siblings(n)) {
		if (!n->a.error && (n->named || !n->siblings.named))
			n->best = r;
		n->siblings.named |= n->named;
		n->named = false;
		return;
	}
	if (n->looking && !n->a.error) {
		n->nr_looks = r.alone ? 0 : n->nr_looks;
		n->best = r.alone ? r : n->best;
		return;
	}
	if (n->a.error || (n->points && !n->named && !n->decides && !r.alone))
		return;
	if (neighbour_reverses(n) && r.alone)
		neighbour_find_looks(n, &n->pairs[n->nr_pairs - 1 - n->at]);
	if (n->decides || n->named > n->points || closer(&r, &n->best))
		n->best = r;
	if (n->named) {
		n->points = true;
		n->points_group = n->pairs[n->nr_pairs - 1 - n->at].group;
	}
}

/* Its steps without the rounds of a livelock, but the first. */
static size_t without_rounds(const struct schedule *s)
{
	for (size_t p = 1; p <= ROUND_MAX && ROUNDS_MIN * p <= s->nr; p++) {
		size_t i = s->nr - p;

		while (i > 0 && s->tasks[i - 1] == s->tasks[i - 1 + p] &&
		       neighbour_is_same(&s->labels[i - 1], &s->labels[i - 1 + p]))
			i--;
		if (s->nr - i >= ROUNDS_MIN * p)
			return i + p;
	}
	return s->nr;
}

/* Libraries alone update it so. */
static bool is_foreign(const struct neighbour *n, const struct torn *t)
{
	return n->foreign && n->foreign(n->foreign_ctx, n->fails.labels[t->own].site) &&
	       n->foreign(n->foreign_ctx, n->fails.labels[t->between].site);
}

/* The first torn update of each object, of that first which is torn last. 0 or -ENOMEM. */
static int find_torn(struct neighbour *n)
{
	struct torn *all, first;
	size_t nr, k;

	n->torn = calloc(WHOLE_OBJECTS + TORN_MAX, sizeof(*n->torn));
	if (!n->torn)
		return -ENOMEM;
	all = n->torn + WHOLE_OBJECTS;
	nr = torn_updates(&n->failing, 0, all, TORN_MAX);
	while (nr-- && n->nr_torn < WHOLE_OBJECTS) {
		if (is_foreign(n, &all[nr]))
			continue;
		for (k = 0; k < n->nr_torn && n->torn[k].object != all[nr].object; k++)
			;
		if (k == n->nr_torn && torn_updates(&n->failing, all[nr].object, &first, 1))
			n->torn[n->nr_torn++] = first;
	}
	return 0;
}

/* Pending operations are also those of the tasks that were ended before its end. 0 or -ENOMEM. */
static int add_ended(struct neighbour *n)
{
	if (!ARRAY_RESERVE(n->pending, n->room_pending, n->nr_pending + n->nr_ended))
		return -ENOMEM;
	for (size_t i = 0; i < n->nr_ended; i++)
		if (n->ended[i].by < n->led.nr)
			n->pending[n->nr_pending++] = n->ended[i];
	return 0;
}

/* So many pairs at the end are late ones. */
static size_t late_pairs(const struct neighbour *n)
{
	size_t nr = 0;

	while (n->nr_handed + n->nr_own + nr < n->nr_pairs && pair_is_late(&n->failing, &n->pairs[n->nr_pairs - 1 - nr]))
		nr++;
	return nr;
}

/* The failing execution is known: what could have come in another order there? */
static int find_pairs(struct neighbour *n)
{
	n->led = n->fails;
	n->led.nr = without_rounds(&n->fails);
	if (n->led.nr < n->fails.nr)
		n->nr_pending = 0;
	if (add_ended(n))
		return -ENOMEM;
	n->failing = neighbour_critical(&n->led, &n->births);
	n->failing.pending = n->pending;
	n->failing.nr_pending = n->nr_pending;
	n->failing.foreign = n->foreign;
	n->failing.foreign_ctx = n->foreign_ctx;
	if (neighbour_make_room(n, n->fails.nr + CRITICAL_MORE) || find_torn(n))
		return -ENOMEM;
	if (critical_pairs(&n->failing, PAIRS_MAX, &n->pairs, &n->nr_pairs) ||
	    pair_order(&n->failing, n->waited, n->nr_waited, n->pairs, n->nr_pairs) || neighbour_add_handed(n))
		return -ENOMEM;
	n->nr_late = late_pairs(n);
	if (neighbour_take_own_first(n))
		return -ENOMEM;
	if (n->a.max_trials && n->nr_pairs > n->a.max_trials) {
		n->nr_pairs = n->a.max_trials;
		n->nr_handed = n->nr_handed < n->nr_pairs ? n->nr_handed : n->nr_pairs;
		n->nr_own = n->nr_own < n->nr_pairs ? n->nr_own : n->nr_pairs;
		n->nr_late = late_pairs(n);
	}
	return 0;
}

/* Of the execution that is over only the program's own steps are compared. 0 or -ENOMEM. */
static int settle(struct neighbour *n, struct births *b)
{
	int ret = settled_steps(&n->now, &n->now_steps);

	for (uint32_t i = 0; !ret && i < b->nr; i++)
		if (b->at[i] != UINT32_MAX)
			b->at[i] = settled_before(&n->now_steps, b->at[i]);
	for (size_t i = 0; !ret && n->phase == FOLLOW && i < n->nr_ended; i++)
		n->ended[i].by = settled_before(&n->now_steps, n->ended[i].by);
	return ret;
}

/* The next update is made whole in this execution. */
static void keep_whole(struct neighbour *n)
{
	struct schedule s = n->whole;
	struct births b = n->births_whole;

	n->whole = n->now;
	n->now = s;
	n->births_whole = n->births_now;
	n->births_now = b;
	n->whole_fails = true;
}

static void end(void *state, const struct search_end *e)
{
	struct neighbour *n = state;
	bool fails = e->result == SEARCH_FAIL && e->failure == n->a.failure;
	struct schedule swap = n->fails;
	struct settled swap_steps = n->fails_steps;

	if (!n->a.error && n->phase == FOLLOW && n->misuse)
		n->a.error = note_misused(n);
	if (!n->a.error)
		n->a.error = settle(n, n->phase == FOLLOW ? &n->births : &n->births_now);
	if (n->a.error)
		return;
	if (n->phase == FOLLOW) {
		n->a.reproduced = fails;
		n->fails = n->now;
		n->now = swap;
		n->fails_steps = n->now_steps;
		n->now_steps = swap_steps;
		n->trial = calloc(n->fails.nr_diffs + 1, sizeof(*n->trial));
		n->a.error = n->trial ? 0 : -ENOMEM;
		if (fails && !n->a.error)
			n->a.error = find_pairs(n);
		start(n, fails && !n->a.error ? OWN_FIRST : DONE);
		return;
	}
	/* it says nothing about its schedule */
	n->again = e->result == SEARCH_ABANDONED && !n->repeated && !neighbour_in_siblings(n);
	n->repeated = n->again;
	if (n->again)
		return;
	n->best.alike += fails;
	n->best.otherwise += !fails && e->result == SEARCH_FAIL;
	if (e->result == SEARCH_PASS)
		passed(n);
	if (neighbour_in_siblings(n))
		neighbour_siblings_end(n, e->result == SEARCH_PASS);
	else if (fails && (n->phase == WHOLE_FIRST || n->phase == WHOLE || n->phase == ALIKE))
		keep_whole(n);
	/* what fails alike may pass a step further; another failure or a pass ends that way */
	if ((n->phase == EARLIER || n->phase == LATER) && !fails) {
		n->at--;
		n->moved = 0;
	}
}

static const struct strategy_type strategy_neighbour = {
	.info = { .name = "neighbour", .line = "", .params = "", .guarantee = "" },
	.flags = STRATEGY_EVERY_STEP | STRATEGY_EXHAUSTIVE | STRATEGY_ANY_TASK,
	.size = sizeof(struct neighbour),
	.init = around_init,
	.begin = begin,
	.pick = pick,
	.promise = promise,
	.ahead = ahead,
	.rule = rule,
	.weight = weight,
	.choose = schedule_choose,
	.final = final,
	.end = end,
	.fini = fini,
};

struct search *neighbour_new(const struct search_options *opts, const uint32_t *tasks, size_t nr,
			     uint64_t failure, uint64_t trials, char *err, size_t errlen)
{
	return around_new(opts, &strategy_neighbour, tasks, nr, failure, trials, err, errlen);
}

void neighbour_set_foreign(struct search *s, bool (*foreign)(const void *ctx, uint64_t site), const void *ctx)
{
	struct neighbour *n = search_state(s);

	n->foreign = foreign;
	n->foreign_ctx = ctx;
}

void neighbour_set_users(struct search *s, bool (*users)(const void *ctx, uint64_t site), const void *ctx)
{
	struct neighbour *n = search_state(s);

	n->users = users;
	n->users_ctx = ctx;
}

void neighbour_set_misuse(struct search *s)
{
	struct neighbour *n = search_state(s);

	n->misuse = true;
}

void neighbour_result(const struct search *s, struct neighbour_result *result)
{
	const struct neighbour *n = search_state(s);

	*result = n->best;
	if (!result->found && n->nr_torn) {
		result->torn = true;
		neighbour_name_torn(n, n->torn, result);
		neighbour_in_execution(n, result);
	}
	result->reproduced = n->a.reproduced;
	result->all = n->a.reproduced && n->phase == DONE;
	result->trials = n->a.trials;
}
