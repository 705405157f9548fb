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
#include "search/critical.h"
#include "search/neighbour.h"
#include "search/pair_order.h"
#include "search/pairing.h"
#include "search/schedule.h"
#include "search/search_internal.h"
#include "search/torn.h"

/* A decision is made at most this many steps earlier or later. */
#define MOVES_MAX	64
/* Orders are compared over this many steps from the first difference on. */
#define COMPARED_MAX	2000
/* At most this many other decisions are kept: the last ones, which are closest to the failure. */
#define OTHERS_MAX	65536

/*
 * At most this many pairs of operations are reversed; what is bounded keeps a quarter for other schedules, and half of
 * that for others than those of several pairs.
 */
#define PAIRS_MAX	4096

/* So many times the same steps at the end, and at most so many steps, are the rounds of a livelock. */
#define ROUNDS_MIN	64
#define ROUND_MAX	24

/* Where more pairs are there, torn updates come before them. */
#define PAIRS_FEW	16
/* Objects whose torn updates are made whole; and so many updates of each. */
#define WHOLE_OBJECTS	4
#define WHOLE_MAX	8

enum phase { FOLLOW, WHOLE_FIRST, REVERSE, WHOLE, ALIKE, INSTEAD, EARLIER, LATER, ANYWHERE, DONE };

/* A task that could have had the turn. */
struct other {
	uint32_t last, nth;	/* when that task had made nth steps */
	uint32_t task;
	bool difference;	/* the decision there was not the base scheduler's */
};

/* When each task was first seen, and its creator: both by task. */
struct births {
	uint32_t *at, *parents, nr;
};

/* What makes one torn update whole: in steps of their tasks, so that it says something in another schedule, too. */
struct whole {
	uint32_t task, look, other, between;
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
	struct schedule led;		/* the failing execution, up to where it only repeats; in fails' memory */
	struct critical failing;	/* REVERSE: the same, and its pairs */
	struct critical_pending *pending;
	size_t nr_pending, room_pending;
	struct critical_pending *ended;	/* what tasks were about to do that others have ended */
	size_t nr_ended, room_ended;
	uint64_t *waited;		/* all tasks wait at the end of the failing execution: for these objects */
	size_t nr_waited, room_waited;
	struct births births, births_now;	/* of fails, now */
	struct critical_pair *pairs;
	size_t nr_pairs;
	struct torn *torn;		/* in led, one for each object, the last first; and room for those of whole */
	size_t nr_torn, at_torn;
	struct schedule whole;		/* the execution in which the first nr_made updates were made whole */
	struct births births_whole;
	struct whole made[WHOLE_MAX];
	size_t nr_made;
	bool whole_fails;		/* it fails alike: the next update of the object can be made whole in it */
	size_t at_alike;		/* ALIKE: the number of pairs whose places were tried, or are being tried */
	bool decides;			/* best names what decides, where that alone was not reversed */
	uint32_t *order;		/* the reversed schedule: its tasks, */
	size_t room_order, room_nth;
	size_t nr_order, first_left;	/* those before first_left have made their steps */
	uint32_t *nth;			/* and which of its task's steps each is */
	enum phase phase;
	size_t at;			/* the number of pairs, others, or of fails.diffs, that remain */
	uint32_t moved;			/* EARLIER, LATER: by this many steps */
	struct neighbour_result best;
};

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
	around_release(&n->a);
	free(n->others);
	free(n->trial);
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
}

/* ---- which schedule is next ---- */

/* What was found names what decides. */
static bool explains(const struct neighbour *n)
{
	return n->best.alone || n->decides;
}

static size_t steps_of(const struct schedule *s, uint32_t task, size_t end)
{
	size_t nth = 0;

	for (size_t i = 0; i < end; i++)
		nth += s->tasks[i] == task;
	return nth;
}

static void start(struct neighbour *n, enum phase phase)
{
	n->phase = phase;
	if (phase == REVERSE)
		n->at = n->nr_pairs;
	else if (phase == WHOLE_FIRST || phase == WHOLE || phase == ALIKE)
		n->at = 0;
	else
		n->at = phase == INSTEAD || phase == ANYWHERE ? n->nr_others : n->fails.nr_diffs;
	n->moved = 0;
}

/* An order of so many tasks can be followed: 0 or -ENOMEM. */
static int make_room(struct neighbour *n, size_t nr)
{
	return ARRAY_RESERVE(n->order, n->room_order, nr) && ARRAY_RESERVE(n->nth, n->room_nth, nr) ? 0 : -ENOMEM;
}

/* The order is followed from its begin on. */
static void take_order(struct neighbour *n)
{
	uint32_t *seen = calloc(n->births.nr + n->births_now.nr + n->births_whole.nr + 1, sizeof(*seen));

	n->first_left = 0;
	if (!n->nr_order || !seen)
		n->a.error = -ENOMEM;
	for (size_t i = 0; !n->a.error && i < n->nr_order; i++)
		n->nth[i] = seen[n->order[i]]++;
	free(seen);
}

/* The failing schedule with one pair the other way round. */
static bool next_reversed(struct neighbour *n)
{
	if (!n->at || explains(n) || (n->a.max_trials && n->a.trials > n->a.max_trials / 4 * 3))
		return false;
	n->at--;
	n->nr_order = critical_reverse(&n->failing, &n->pairs[n->nr_pairs - 1 - n->at], n->order);
	take_order(n);
	return !n->a.error;
}

static struct critical critical_of(const struct schedule *s, const struct births *b)
{
	return (struct critical){ .s = s, .births = b->at, .parents = b->parents, .nr_tasks = b->nr };
}

/* The schedule with the side's task held from its first look on, until the other has changed the object. */
static bool hold(struct neighbour *n, const struct schedule *s, const struct torn *t)
{
	uint32_t task = s->tasks[t->look];

	n->a.error = make_room(n, s->nr);
	n->nr_order = 0;
	for (size_t i = 0; !n->a.error && i <= t->between; i++)
		if (i < t->look || s->tasks[i] != task)
			n->order[n->nr_order++] = s->tasks[i];
	for (size_t i = t->look; !n->a.error && i < s->nr; i++)
		if (i > t->between || s->tasks[i] == task)
			n->order[n->nr_order++] = s->tasks[i];
	if (!n->a.error)
		take_order(n);
	return !n->a.error;
}

static bool is_made(const struct neighbour *n, const struct whole *w)
{
	for (size_t i = 0; i < n->nr_made; i++)
		if (n->made[i].task == w->task && n->made[i].look == w->look && n->made[i].other == w->other &&
		    n->made[i].between == w->between)
			return true;
	return false;
}

/* The first update of that object in the schedule that is torn and was not tried yet is made whole. */
static bool make_whole(struct neighbour *n, const struct critical *c, uint64_t object)
{
	struct torn *t = n->torn + WHOLE_OBJECTS;
	size_t nr = n->nr_made < WHOLE_MAX ? torn_updates(c, object, t, TORN_MAX) : 0;

	for (; nr--; t++) {
		const struct schedule *s = c->s;
		struct whole w = { s->tasks[t->look], steps_of(s, s->tasks[t->look], t->look), s->tasks[t->between],
				   steps_of(s, s->tasks[t->between], t->between) };

		if (is_made(n, &w))
			continue;
		n->made[n->nr_made++] = w;
		return hold(n, s, t);
	}
	return false;
}

/*
 * One more update of the object is made whole where that fails as before; or the first of the next
 * object.
 */
static bool next_whole(struct neighbour *n)
{
	struct critical c = critical_of(&n->whole, &n->births_whole);

	if (explains(n))
		return false;
	if (n->whole_fails) {
		n->whole_fails = false;
		if (make_whole(n, &c, n->torn[n->at_torn - 1].object))
			return true;
	}
	while (!n->a.error && n->at_torn < n->nr_torn) {
		n->nr_made = 0;
		if (make_whole(n, &n->failing, n->torn[n->at_torn++].object))
			return true;
	}
	return false;
}

/* ---- several pairs at the same places ---- */

static bool is_place(const struct zug_label *a, const struct zug_label *b)
{
	return a->op == b->op && a->site == b->site;
}

/* The pairs p of c and q of d are of operations at the same places. */
static bool are_alike(const struct critical *c, const struct critical_pair *p, const struct critical *d,
		      const struct critical_pair *q)
{
	uint32_t task;

	/* points have all one place, the function */
	return !p->points && !q->points && p->wide == q->wide && p->named == q->named &&
	       is_place(critical_label(c, p->first, &task), critical_label(d, q->first, &task)) &&
	       is_place(critical_label(c, p->second, &task), critical_label(d, q->second, &task));
}

/* The pair is reversed in c, unless it was. */
static bool reverse_in(struct neighbour *n, const struct critical *c, const struct critical_pair *p)
{
	struct whole w = { .look = 0 };
	size_t nr = c->s->nr;

	critical_label(c, p->first, &w.task);
	critical_label(c, p->second, &w.other);
	w.look = steps_of(c->s, w.task, p->first);
	w.between = steps_of(c->s, w.other, p->second < nr ? p->second : nr);
	if (n->nr_made == WHOLE_MAX || is_made(n, &w))
		return false;
	n->made[n->nr_made++] = w;
	n->a.error = make_room(n, nr + CRITICAL_MORE);
	if (n->a.error)
		return false;
	n->nr_order = critical_reverse(c, p, n->order);
	take_order(n);
	return !n->a.error;
}

/* One more pair alike in the execution where those before it are reversed. */
static bool next_beside(struct neighbour *n)
{
	struct critical c = critical_of(&n->whole, &n->births_whole);
	const struct critical_pair *like = &n->pairs[n->at_alike - 1];
	struct critical_pair *pairs = NULL;
	bool found = false;
	size_t nr = 0;

	n->a.error = critical_pairs(&c, PAIRS_MAX, &pairs, &nr);
	for (size_t i = 0; !n->a.error && i < nr && !found; i++)
		found = are_alike(&c, &pairs[i], &n->failing, like) && reverse_in(n, &c, &pairs[i]);
	free(pairs);
	return found;
}

/* No pair before this one is alike, but one behind it. */
static bool is_first_of_several(const struct neighbour *n, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (are_alike(&n->failing, &n->pairs[i], &n->failing, &n->pairs[at]))
			return false;
	for (size_t i = at + 1; i < n->nr_pairs; i++)
		if (are_alike(&n->failing, &n->pairs[i], &n->failing, &n->pairs[at]))
			return true;
	return false;
}

/* The failing schedule with one pair after the other reversed, of those at the same places: several tasks do the same. */
static bool next_alike(struct neighbour *n)
{
	if (explains(n) || (n->a.max_trials && n->a.trials > n->a.max_trials / 8 * 7))
		return false;
	if (n->whole_fails) {
		n->whole_fails = false;
		if (n->at_alike && next_beside(n))
			return true;
	}
	while (!n->a.error && n->at_alike < n->nr_pairs) {
		n->nr_made = 0;
		if (is_first_of_several(n, n->at_alike++) && reverse_in(n, &n->failing, &n->pairs[n->at_alike - 1]))
			return true;
	}
	return false;
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
	case WHOLE_FIRST:
		return n->nr_pairs > PAIRS_FEW && next_whole(n);
	case REVERSE:
		return next_reversed(n);
	case WHOLE:
		return next_whole(n);
	case ALIKE:
		return next_alike(n);
	case INSTEAD:
		return !explains(n) && next_instead(n, true);
	case EARLIER:
	case LATER:
		return !explains(n) && next_moved(n);
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
	if (n->a.error)
		return n->a.error;
	if (n->phase == DONE)
		return SEARCH_EXHAUSTED;
	n->a.trials++;
	schedule_clear(&n->now);
	n->births_now.nr = 0;
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

static bool follows_order(const struct neighbour *n)
{
	return n->phase == WHOLE_FIRST || n->phase == REVERSE || n->phase == WHOLE || n->phase == ALIKE;
}

/* The first task of the reversed schedule that can run and has not made that step yet. */
static uint32_t follow_reversed(struct neighbour *n, const struct choice *c)
{
	uint32_t pos;

	while (n->first_left < n->nr_order &&
	       n->nth[n->first_left] < hb_steps(n->a.env->hb, n->order[n->first_left]))
		n->first_left++;
	for (size_t i = n->first_left; i < n->nr_order; i++) {
		if (n->nth[i] < hb_steps(n->a.env->hb, n->order[i]))
			continue;
		pos = schedule_position(c, n->order[i]);
		if (pos != CHOICE_NONE)
			return pos;
	}
	return schedule_base(c);
}

static uint32_t follow(struct neighbour *n, const struct choice *c)
{
	uint32_t pos = CHOICE_NONE;

	if (n->phase == FOLLOW)
		return around_follow(&n->a, c);
	if (follows_order(n))
		return follow_reversed(n, c);
	if (n->use_instead && n->instead.last == c->point->last && n->instead.nth == schedule_nth(n->a.env, c))
		pos = schedule_position(c, n->instead.task);
	return pos == CHOICE_NONE ? schedule_follow(n->trial, n->nr_trial, n->a.env, c) : pos;
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

/* What the tasks are about to do, but for the chosen one: an operation that it is in already is none. */
static int note_pending(struct neighbour *n, const struct search_point *p, uint32_t chosen)
{
	if (note_ended(n, p))
		return -ENOMEM;
	n->nr_pending = 0;
	for (uint32_t i = 0; i < p->nr; i++) {
		const struct search_cand *cand = &p->cand[i];
		size_t k = n->now.nr;

		while (k > 0 && n->now.tasks[k - 1] != cand->task)
			k--;
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

static void final(void *state, const struct search_point *p)
{
	struct neighbour *n = state;

	/* when the command has ended no task is left: what they were about to do was noted before that */
	if (n->phase == FOLLOW && !n->a.error && p->nr)
		n->a.error = note_pending(n, p, SEARCH_NO_TASK);
	if (n->phase == FOLLOW && !n->a.error)
		n->a.error = note_waited(n, p);
}

static int pick(void *state, const struct choice *c)
{
	struct neighbour *n = state;
	uint32_t pos = follow(n, c);

	if (n->phase == FOLLOW)
		n->a.error = note_others(n, c, pos);
	if (n->phase == FOLLOW && !n->a.error)
		n->a.error = note_births(&n->births, c->point, n->now.nr);
	if (n->phase == WHOLE_FIRST || n->phase == WHOLE || n->phase == ALIKE)
		n->a.error = note_births(&n->births_now, c->point, n->now.nr);
	if (n->phase == FOLLOW && !n->a.error)
		n->a.error = note_pending(n, c->point, choice_cand(c, pos)->task);
	if (!n->a.error)
		n->a.error = schedule_note(&n->now, n->a.env, c, pos);
	return n->a.error ? n->a.error : (int)pos;
}

/* The steps of the reversed schedule that come next whatever other tasks can do: no step before them is left. */
static uint64_t reversed_promise(const struct neighbour *n, uint32_t task)
{
	uint64_t nr = 0;

	for (size_t i = n->first_left; i < n->nr_order; i++) {
		if (n->nth[i] < hb_steps(n->a.env->hb, n->order[i]))
			continue;
		if (n->order[i] != task)
			break;
		nr++;
	}
	return nr;
}

static uint64_t promise(const void *state, const struct search_point *point, uint32_t task,
			enum search_until *until)
{
	const struct neighbour *n = state;
	uint64_t made = hb_steps(n->a.env->hb, task), nr;

	*until = SEARCH_UNTIL_DONE;
	if (n->phase == FOLLOW)
		return around_promise(&n->a, point, task);
	if (follows_order(n))
		return reversed_promise(n, task);
	nr = schedule_promise(n->trial, n->nr_trial, n->a.env, task);
	if (n->use_instead && n->instead.last == task && n->instead.nth >= made && n->instead.nth - made < nr)
		nr = n->instead.nth - made;
	return nr;
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

/* The step of this execution that is the task's nth; UINT64_MAX: none. */
static uint64_t nth_of(const struct schedule *s, uint32_t task, size_t nth)
{
	for (size_t i = 0; i < s->nr; i++)
		if (s->tasks[i] == task && !nth--)
			return i;
	return UINT64_MAX;
}

static bool is_same(const struct zug_label *a, const struct zug_label *b)
{
	return a->op == b->op && a->site == b->site && a->object == b->object;
}

/* The task's next step of that label after step i; UINT64_MAX: none. */
static uint64_t next_such(const struct schedule *s, size_t i, uint32_t task, const struct zug_label *l)
{
	for (i++; i < s->nr; i++)
		if (s->tasks[i] == task && is_same(&s->labels[i], l))
			return i;
	return UINT64_MAX;
}

/* The handler came when the task stood before a call, since the signal was sent: *last, its step. */
static bool handled_before(const struct neighbour *n, const struct critical_pair *pair, uint32_t task, size_t *last)
{
	for (*last = pair->second < n->led.nr ? pair->second : n->led.nr; --*last > pair->first;)
		if (n->fails.tasks[*last] == task)
			return zug_op_is_call(n->fails.labels[*last].op);
	return false;
}

/* The step after an open or a look at a file's attributes with which its task uses it, before step end. */
static size_t use_of(const struct schedule *s, size_t step, size_t end)
{
	const struct zug_label *l = &s->labels[step], *x;

	if (l->op != ZUG_OP_OPEN && l->op != ZUG_OP_STAT)
		return step;
	for (size_t i = step + 1; i < end && i < s->nr; i++) {
		x = &s->labels[i];
		if (s->tasks[i] == s->tasks[step] && x->object == l->object && x->op != ZUG_OP_OPEN && x->op != ZUG_OP_STAT)
			return x->op == ZUG_OP_CLOSE ? step : i;
	}
	return step;
}

/*
 * The pair of this trial is the one to name, if its operations came in the other order here: the second
 * is the same operation as there, and the first came later, or never.
 */
static void name_reversed(struct neighbour *n, const struct pairing *same, struct neighbour_result *r)
{
	const struct critical_pair *pair = &n->pairs[n->phase == ALIKE ? n->at_alike - 1 : n->nr_pairs - 1 - n->at];
	struct neighbour_op a = { .failing = pair->wide ? use_of(&n->led, pair->first, pair->second) : pair->first };
	struct neighbour_op b = { .failing = pair->second };
	size_t nr = n->led.nr, last;
	struct zug_label there;

	a.label = *critical_label(&n->failing, a.failing, &a.task);
	b.label = *critical_label(&n->failing, pair->second, &b.task);
	b.passing = nth_of(&n->now, b.task, steps_of(&n->fails, b.task, pair->second < nr ? pair->second : nr));
	if (b.passing == UINT64_MAX)
		return;
	there = pairing_label(same, &n->now.labels[b.passing]);
	if (b.label.op == ZUG_OP_HANDLER && handled_before(n, pair, b.task, &last)) {
		b.label = n->fails.labels[last];
		b.failing = last;
		b.passing = nth_of(&n->now, b.task, steps_of(&n->fails, b.task, last));
	} else if (b.label.op == ZUG_OP_HANDLER) {
		/* without the signal the task has done what comes after the handler, if that returns */
		b.label = there;
		b.failing = next_such(&n->fails, pair->second, b.task, &there);
	} else if (!is_same(&there, &b.label)) {
		return;
	} else if (pair->second >= nr) {
		b.failing = UINT64_MAX;
	}
	a.passing = nth_of(&n->now, a.task, steps_of(&n->fails, a.task, a.failing));
	if (a.passing < b.passing)
		return;
	r->second_here = b.label;
	b.label = n->now.labels[b.passing];
	r->first = a;
	r->second = b;
	r->nr_pairs += !r->nr_pairs;
	r->alone = !pair->named && !(pair->ends && pair->wide) && n->phase == REVERSE;
	n->decides = !r->alone;
}

/* What the torn update has read, and what came between. */
static void name_torn(const struct neighbour *n, const struct torn *t, struct neighbour_result *r)
{
	r->first = (struct neighbour_op){ n->fails.tasks[t->read], n->fails.labels[t->read], t->read, UINT64_MAX };
	r->second = (struct neighbour_op){ n->fails.tasks[t->between], n->fails.labels[t->between], t->between,
					   UINT64_MAX };
	r->second_here = r->second.label;
}

/* The first torn update of this trial's object is the one to name, if it is whole here. */
static bool name_whole(const struct neighbour *n, const struct pairing *same, struct neighbour_result *r)
{
	struct neighbour_result named = *r;
	struct neighbour_op *a = &named.first, *b = &named.second;
	struct zug_label there;

	name_torn(n, &n->torn[n->at_torn - 1], &named);
	b->passing = nth_of(&n->now, b->task, steps_of(&n->fails, b->task, b->failing));
	a->passing = nth_of(&n->now, a->task, steps_of(&n->fails, a->task, a->failing));
	if (b->passing == UINT64_MAX || a->passing <= b->passing)
		return false;
	there = pairing_label(same, &n->now.labels[b->passing]);
	if (!is_same(&there, &b->label))
		return false;
	b->label = n->now.labels[b->passing];
	named.alone = n->nr_made == 1;
	named.nr_pairs += !named.nr_pairs;
	*r = named;
	return true;
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
			r->second_here = label;
		}
	}
	if (n->phase == REVERSE || n->phase == ALIKE)
		name_reversed(n, same, r);
	else if (follows_order(n))
		n->decides = name_whole(n, same, r);
	pairing_free(same);
	return 0;
}

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

	n->a.error = compare(n, &r);
	if (!n->a.error && (n->decides || closer(&r, &n->best)))
		n->best = r;
}

/* Its steps without the rounds of a livelock, but the first. */
static size_t without_rounds(const struct schedule *s)
{
	for (size_t p = 1; p <= ROUND_MAX && ROUNDS_MIN * p <= s->nr; p++) {
		size_t i = s->nr - p;

		while (i > 0 && s->tasks[i - 1] == s->tasks[i - 1 + p] && is_same(&s->labels[i - 1], &s->labels[i - 1 + p]))
			i--;
		if (s->nr - i >= ROUNDS_MIN * p)
			return i + p;
	}
	return s->nr;
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

/* The failing execution is known: what could have come in another order there? */
static int find_pairs(struct neighbour *n)
{
	n->led = n->fails;
	n->led.nr = without_rounds(&n->fails);
	if (n->led.nr < n->fails.nr)
		n->nr_pending = 0;
	if (add_ended(n))
		return -ENOMEM;
	n->failing = critical_of(&n->led, &n->births);
	n->failing.pending = n->pending;
	n->failing.nr_pending = n->nr_pending;
	if (make_room(n, n->fails.nr + CRITICAL_MORE) || find_torn(n))
		return -ENOMEM;
	if (critical_pairs(&n->failing, PAIRS_MAX, &n->pairs, &n->nr_pairs) ||
	    pair_order(&n->failing, n->waited, n->nr_waited, n->pairs, n->nr_pairs))
		return -ENOMEM;
	if (n->a.max_trials && n->nr_pairs > n->a.max_trials)
		n->nr_pairs = n->a.max_trials;
	return 0;
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

	if (n->a.error)
		return;
	if (n->phase == FOLLOW) {
		n->a.reproduced = fails;
		n->fails = n->now;
		n->now = swap;
		n->trial = calloc(n->fails.nr_diffs + 1, sizeof(*n->trial));
		n->a.error = n->trial ? 0 : -ENOMEM;
		if (fails && !n->a.error)
			n->a.error = find_pairs(n);
		start(n, fails && !n->a.error ? WHOLE_FIRST : DONE);
		return;
	}
	n->best.alike += fails;
	n->best.otherwise += !fails && e->result == SEARCH_FAIL;
	if (e->result == SEARCH_PASS)
		passed(n);
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
	.flags = STRATEGY_EVERY_STEP | STRATEGY_EXHAUSTIVE,
	.size = sizeof(struct neighbour),
	.init = around_init,
	.begin = begin,
	.pick = pick,
	.promise = promise,
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

void neighbour_result(const struct search *s, struct neighbour_result *result)
{
	const struct neighbour *n = search_state(s);

	*result = n->best;
	if (!result->found && n->nr_torn) {
		result->torn = true;
		name_torn(n, n->torn, result);
	}
	result->reproduced = n->a.reproduced;
	result->all = n->a.reproduced && n->phase == DONE;
	result->trials = n->a.trials;
}
