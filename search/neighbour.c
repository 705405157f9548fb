/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * neighbour.c - the closest schedule that passes (neighbour.h)
 *
 * Choi, Zeller: Isolating failure-inducing thread schedules (2002), for schedules that are minimal already: there one
 * difference is enough to turn them, so that each is tried by itself instead of halving the set of them.
 *
 * The phases of next_trial() say which schedules are tried; compare() says how far one that passes
 * is from the failing one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "search/around.h"
#include "search/neighbour.h"
#include "search/pairing.h"
#include "search/schedule.h"
#include "search/search_internal.h"

/* A decision is made at most this many steps earlier or later. */
#define MOVES_MAX	64
/* Orders are compared over this many steps from the first difference on. */
#define COMPARED_MAX	2000
/* At most this many other decisions are kept: the last ones, which are closest to the failure. */
#define OTHERS_MAX	65536

enum phase { FOLLOW, INSTEAD, EARLIER, LATER, ANYWHERE, DONE };

/* A task that could have had the turn. */
struct other {
	uint32_t last, nth;	/* when that task had made nth steps */
	uint32_t task;
	bool difference;	/* the decision there was not the base scheduler's */
};

struct neighbour {
	struct around a;
	struct schedule fails, now;
	struct other *others;		/* of the failing execution, in its order */
	size_t nr_others, room_others;
	struct difference *trial;	/* what this execution follows */
	size_t nr_trial;
	struct other instead;		/* and in front of that */
	bool use_instead;
	enum phase phase;
	size_t at;			/* the number of others, or of fails.diffs, that remain */
	uint32_t moved;			/* EARLIER, LATER: by this many steps */
	struct neighbour_result best;
};

static void fini(void *state)
{
	struct neighbour *n = state;

	schedule_release(&n->fails);
	schedule_release(&n->now);
	around_release(&n->a);
	free(n->others);
	free(n->trial);
}

/* ---- which schedule is next ---- */

static void start(struct neighbour *n, enum phase phase)
{
	n->phase = phase;
	n->at = phase == INSTEAD || phase == ANYWHERE ? n->nr_others : n->fails.nr_diffs;
	n->moved = 0;
}

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
	case INSTEAD:
		return next_instead(n, true);
	case EARLIER:
	case LATER:
		return next_moved(n);
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
	while (n->phase != FOLLOW && n->phase != DONE && !next_trial(n))
		start(n, n->phase + 1);
	if (n->phase == DONE)
		return SEARCH_EXHAUSTED;
	n->a.trials++;
	schedule_clear(&n->now);
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

static uint32_t follow(const struct neighbour *n, const struct choice *c)
{
	uint32_t pos = CHOICE_NONE;

	if (n->phase == FOLLOW)
		return around_follow(&n->a, c);
	if (n->use_instead && n->instead.last == c->point->last && n->instead.nth == schedule_nth(n->a.env, c))
		pos = schedule_position(c, n->instead.task);
	return pos == CHOICE_NONE ? schedule_follow(n->trial, n->nr_trial, n->a.env, c) : pos;
}

static int pick(void *state, const struct choice *c)
{
	struct neighbour *n = state;
	uint32_t pos = follow(n, c);

	if (n->phase == FOLLOW)
		n->a.error = note_others(n, c, pos);
	if (!n->a.error)
		n->a.error = schedule_note(&n->now, n->a.env, c, pos);
	return n->a.error ? n->a.error : (int)pos;
}

/* ---- how far it is ---- */

static const struct zug_label *step_of(const void *ctx, uint64_t i, uint32_t *task)
{
	const struct schedule *s = ctx;

	*task = s->tasks[i];
	return &s->labels[i];
}

/* Neither has an object with a name: they may depend on each other. */
static bool vague(const struct access *a, const struct access *b)
{
	return a->object[0] == ACCESS_OPAQUE && b->object[0] == ACCESS_OPAQUE;
}

/*
 * Counts the pairs in which a came before b in the failing execution, and b before a in this one. The first of
 * them by the place of a, and of these by that of b, becomes r's; a vague one only when there is no other.
 */
static int compare(struct neighbour *n, struct neighbour_result *r)
{
	const struct schedule *f = &n->fails, *p = &n->now;
	struct pairing *same = pairing_new(&(struct pairing_steps){ f, f->nr, step_of },
					   &(struct pairing_steps){ p, p->nr, step_of });
	size_t part = 0, f_end, p_end;
	bool have = false, have_vague = true;

	if (!same)
		return -ENOMEM;
	while (part < f->nr && part < p->nr && pairing_in_second(same, part) == part)
		part++;
	f_end = f->nr - part > COMPARED_MAX ? part + COMPARED_MAX : f->nr;
	p_end = p->nr - part > COMPARED_MAX ? part + COMPARED_MAX : p->nr;
	r->part = part;
	r->nr = p->nr;
	r->nr_pairs = 0;
	for (size_t i = part; i < f_end; i++) {
		struct access a = access_of(&f->labels[i]);
		uint64_t in_p = pairing_in_second(same, i);

		if (!a.object[0] || in_p == PAIRING_STRAYED)
			continue;
		for (size_t k = part; k < p_end && k < in_p; k++) {
			const struct zug_label label = pairing_label(same, &p->labels[k]);
			struct access b = access_of(&label);
			uint64_t in_f = pairing_in_first(same, k);
			bool is_vague = vague(&a, &b);

			if (p->tasks[k] == f->tasks[i] || in_f < i || in_f == PAIRING_STRAYED || !access_dependent(&a, &b))
				continue;
			r->nr_pairs++;
			if (have && (is_vague || !have_vague))
				continue;
			have = true;
			have_vague = is_vague;
			r->first = (struct neighbour_op){ f->tasks[i], f->labels[i], i, in_p };
			r->second = (struct neighbour_op){ p->tasks[k], p->labels[k], in_f, k };
		}
	}
	pairing_free(same);
	return 0;
}

static bool closer(const struct neighbour_result *a, const struct neighbour_result *b)
{
	if (!b->found)
		return true;
	/* what passes without any such pair explains nothing */
	if (!a->nr_pairs != !b->nr_pairs)
		return a->nr_pairs;
	return a->nr_pairs < b->nr_pairs || (a->nr_pairs == b->nr_pairs && a->part > b->part);
}

static void passed(struct neighbour *n)
{
	struct neighbour_result r = { .found = true, .trial = n->a.trials, .alike = n->best.alike,
				      .otherwise = n->best.otherwise };

	n->a.error = compare(n, &r);
	if (!n->a.error && closer(&r, &n->best))
		n->best = r;
}

static void end(void *state, const struct search_end *e)
{
	struct neighbour *n = state;
	bool fails = e->result == SEARCH_FAIL && e->failure == n->a.failure;
	struct schedule swap = n->fails;

	if (n->a.error)
		return;
	if (n->phase == FOLLOW) {
		n->a.reproduced = fails;
		n->fails = n->now;
		n->now = swap;
		n->trial = calloc(n->fails.nr_diffs + 1, sizeof(*n->trial));
		n->a.error = n->trial ? 0 : -ENOMEM;
		start(n, fails && n->trial ? INSTEAD : DONE);
		return;
	}
	n->best.alike += fails;
	n->best.otherwise += !fails && e->result == SEARCH_FAIL;
	if (e->result == SEARCH_PASS)
		passed(n);
	/* what fails alike may pass a step further; another failure or a pass ends that way */
	if ((n->phase == EARLIER || n->phase == LATER) && !fails) {
		n->at--;
		n->moved = 0;
	}
}

static const struct strategy_type strategy_neighbour = {
	.info = { .name = "neighbour", .line = "", .params = "", .guarantee = "" },
	.flags = STRATEGY_EVERY_STEP | STRATEGY_EXHAUSTIVE,
	.size = sizeof(struct neighbour),
	.init = around_init,
	.begin = begin,
	.pick = pick,
	.choose = schedule_choose,
	.end = end,
	.fini = fini,
};

struct search *neighbour_new(const struct search_options *opts, const uint32_t *tasks, size_t nr,
			     uint64_t failure, uint64_t trials, char *err, size_t errlen)
{
	return around_new(opts, &strategy_neighbour, tasks, nr, failure, trials, err, errlen);
}

void neighbour_result(const struct search *s, struct neighbour_result *result)
{
	const struct neighbour *n = search_state(s);

	*result = n->best;
	result->reproduced = n->a.reproduced;
	result->all = n->a.reproduced && n->phase == DONE;
	result->trials = n->a.trials;
}
