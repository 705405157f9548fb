/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * minimize.c - delta debugging of schedules (minimize.h)
 *
 * Zeller, Hildebrandt: Simplifying and isolating failure-inducing input (2002)
 * on the list of differences from the base scheduler, which is what Hermit does
 * with its preemptions. First the steps of each task that could come in a row do so,
 * all at once: the same execution as far as the program can tell, with fewer switches
 * (Jalbert, Sen: A trace simplification technique, 2010). Then those preemptions go,
 * together, during which nothing happened that the preempted task touches. Where there
 * are many preemptions, the order of the program's own steps alone is tried before all that
 * (own_order.h), then one hold at such a step (own_hold.h), and behind it all goes
 * that is not at these. Failures are not monotone in these, so after the chunks
 * each single one is tried until none can go (of a livelock, those within its
 * loop go together, before all others); then each preemption is moved
 * later as long as it fails: where that stops, the next step of the preempted
 * task is one half of the pair that matters.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "lib/base/id_map.h"
#include "search/around.h"
#include "search/minimize.h"
#include "search/own_hold.h"
#include "search/own_order.h"
#include "search/schedule.h"
#include "search/search_internal.h"
#include "search/strategies/strategies.h"

/* An execution, and the pairs of its preemptions. */
struct record {
	struct schedule s;
	struct minimize_pair *pairs;
	size_t nr_pairs, room_pairs;
	size_t *enabled;		/* by step: from which on its task was enabled, before it made the step */
	size_t room_enabled;
	struct difference *others;	/* preemptions that were not made: OTHERS_MAX at most, the last ones */
	size_t nr_others, room_others;
};

/* Of so many steps, the last ones, it is seen which could come in another order (GATHER). */
#define GATHER_MAX	4096

/*
 * From so many preemptions on those at the program's own steps are tried first, where these are one in OWN_ONE_IN steps at
 * most.
 */
#define OWN_MIN		16
#define OWN_ONE_IN	3
/* So many holds at own steps are tried, each alone. */
#define HOLDS_MAX	12

/* So many preemptions elsewhere are tried, each alone, where more than one is left. */
#define OTHERS_MAX	64

enum phase { FOLLOW, OWN, HOLDS, GATHER, LOOP, NEEDLESS, OTHERS, CHUNKS, SINGLES, REORDER, LATER, ELSEWHERE, DONE };

struct minimize {
	struct around a;		/* its order: of the trial in GATHER and REORDER */
	uint64_t best_trial;
	struct record best, now;
	struct difference *trial;	/* what this execution follows */
	size_t nr_trial;
	struct difference_index index;	/* of trial */
	enum phase phase;
	uint64_t loop;			/* so many of the last steps are a loop; 0: none are known to be */
	size_t chunk, at;		/* in best.diffs, or (REORDER) best.tasks: what is changed */
	bool strict;			/* GATHER, NEEDLESS: see access_at() */
	int move;			/* REORDER, SINGLES: which change is tried there */
	bool changed;			/* something was accepted in this round of a phase */
	bool moved;		/* a preemption was made later */
	bool twice;			/* what fails is executed once more before it is accepted */
	bool again;			/* this trial is the one before it, whose tasks are first */
	struct schedule first;
	size_t *since;			/* by task: the step from which on it is enabled; NOT_ENABLED: it is not */
	uint32_t nr_since;
	bool (*users)(const void *ctx, uint64_t site);	/* the place is in the program's own code; NULL: only labels tell */
	const void *users_ctx;
	struct id_map sites;		/* what it has said */
	struct own_order own;
	struct own_holds holds;
};

#define NOT_ENABLED SIZE_MAX

static void record_free(struct record *r)
{
	schedule_release(&r->s);
	free(r->pairs);
	free(r->enabled);
	free(r->others);
}

static void fini(void *state)
{
	struct minimize *m = state;

	record_free(&m->best);
	record_free(&m->now);
	schedule_release(&m->first);
	free(m->trial);
	difference_index_release(&m->index);
	free(m->since);
	id_map_free(&m->sites);
	own_order_release(&m->own);
	own_holds_release(&m->holds);
	around_release(&m->a);
}

/* Everything of best but from..to-1 becomes the trial. */
static void try_without(struct minimize *m, size_t from, size_t to)
{
	m->nr_trial = 0;
	for (size_t i = 0; i < m->best.s.nr_diffs; i++)
		if (i < from || i >= to)
			m->trial[m->nr_trial++] = m->best.s.diffs[i];
}

/*
 * After difference 'at' the task goes on that the next difference names, and the next one is left
 * out.
 */
static void try_skipping(struct minimize *m, size_t at)
{
	try_without(m, at + 1, at + 2);
	m->trial[at].next = m->best.s.diffs[at + 1].next;
}

static void try_later(struct minimize *m, size_t at)
{
	try_without(m, 0, 0);
	m->trial[at].nth++;
}

/* The end of the block (the run of steps of one task) that starts at 'from'. */
static size_t block_end(const struct schedule *r, size_t from)
{
	size_t to = from;

	while (to < r->nr && r->tasks[to] == r->tasks[from])
		to++;
	return to;
}

static bool independent(const struct schedule *r, size_t a, size_t b, size_t c)
{
	for (size_t i = a; i < b; i++) {
		struct access x = access_of(&r->labels[i]);

		for (size_t k = b; k < c; k++) {
			struct access y = access_of(&r->labels[k]);

			if (r->tasks[i] == r->tasks[k] || access_dependent(&x, &y))
				return false;
		}
	}
	return true;
}

/* Decisions a..b-1 and b..c-1 change places. */
static bool try_swapped(struct minimize *m, size_t a, size_t b, size_t c)
{
	const struct schedule *r = &m->best.s;

	if (a == b || b == c || !independent(r, a, b, c))
		return false;
	m->a.nr_order = r->nr;
	memcpy(m->a.order, r->tasks, a * sizeof(*m->a.order));
	memcpy(m->a.order + a, r->tasks + b, (c - b) * sizeof(*m->a.order));
	memcpy(m->a.order + a + (c - b), r->tasks + a, (b - a) * sizeof(*m->a.order));
	memcpy(m->a.order + c, r->tasks + c, (r->nr - c) * sizeof(*m->a.order));
	return true;
}

/*
 * Blocks that do not depend on each other may change places: the same execution
 * as far as the program can tell, but another number of preemptions. The block
 * that starts at m->at goes behind the next one, or to the block of its task
 * before or after it.
 */
static bool try_reordered(struct minimize *m)
{
	const struct schedule *r = &m->best.s;
	size_t from = m->at, to = block_end(r, from), near;

	switch (m->move++) {
	case 0:
		return to < r->nr && try_swapped(m, from, to, block_end(r, to));
	case 1:
		for (near = from; near > 0 && r->tasks[near - 1] != r->tasks[from];)
			near--;
		return near && try_swapped(m, near, from, to);
	default:
		m->move = 0;
		m->at = to;
		for (near = to; near < r->nr && r->tasks[near] != r->tasks[from];)
			near++;
		return near < r->nr && try_swapped(m, from, to, near);
	}
}

/*
 * What a step depends on, where a change of many steps at once is tried: as is likely at first, and if the failure does not
 * come then (strict), whatever it could depend on.
 */
static struct access access_at(const struct minimize *m, const struct zug_label *l)
{
	return m->strict ? access_of(l) : access_likely(l);
}

static bool has_own_affairs(const struct schedule *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		struct access a = access_of(&s->labels[i]);

		if (access_is_own_affair(s->labels[i].op, &a))
			return true;
	}
	return false;
}

/* The next of the two ways to see dependences; false: there is none that is another one. */
static bool next_sight(struct minimize *m)
{
	m->strict = m->at;
	return !m->at || (m->at == 1 && has_own_affairs(&m->best.s));
}

/* What others did while the task was preempted there concerns nothing that it did when it went on. */
static bool is_needless(const struct minimize *m, const struct difference *d)
{
	const struct schedule *r = &m->best.s;
	size_t on = d->step, end;

	if (!d->preemption)
		return false;
	while (on < r->nr && r->tasks[on] != d->task)
		on++;
	end = block_end(r, on);
	for (size_t i = d->step; i < on; i++) {
		struct access x = access_at(m, &r->labels[i]);

		for (size_t k = on; k < end; k++) {
			struct access y = access_at(m, &r->labels[k]);

			if (access_dependent(&x, &y))
				return false;
		}
	}
	return on > d->step && on < r->nr;
}

/* All preemptions that look needless go at once, which is one execution instead of many. False: none does. */
static bool try_without_needless(struct minimize *m)
{
	const struct schedule *s = &m->best.s;

	m->nr_trial = 0;
	for (size_t i = 0; i < s->nr_diffs; i++)
		if (!is_needless(m, &s->diffs[i]))
			m->trial[m->nr_trial++] = s->diffs[i];
	return m->nr_trial < s->nr_diffs;
}

/* ---- steps of a task in a row ---- */

static bool is_yield(const struct zug_label *l)
{
	return l->op == ZUG_OP_YIELD || l->op == ZUG_OP_PAUSE || l->op == ZUG_OP_SLEEP;
}

/* Step b comes after step a, and has to. access: of the steps from 'from' on. */
static bool is_behind(const struct record *r, const struct access *access, size_t from, size_t a, size_t b)
{
	return r->s.tasks[a] == r->s.tasks[b] || r->enabled[b] == a + 1 ||
	       access_dependent(&access[a - from], &access[b - from]);
}

/*
 * The steps from 'from' on, each task's in a row as far as nothing that others do has to come between; there the task goes on
 * whose step came first. waits: by step, how many that have to come before it are still to come.
 */
static void gather(struct minimize *m, const struct access *access, uint32_t *waits, size_t from)
{
	const struct schedule *s = &m->best.s;
	size_t first = from, at = from;
	uint32_t *order = m->a.order, task;

	memcpy(order, s->tasks, from * sizeof(*order));
	for (size_t b = from; b < s->nr; b++)
		for (size_t a = from; a < b; a++)
			waits[b - from] += is_behind(&m->best, access, from, a, b);
	for (m->a.nr_order = from; m->a.nr_order < s->nr;) {
		task = s->tasks[at];
		order[m->a.nr_order++] = task;
		waits[at - from] = UINT32_MAX;
		for (size_t b = at + 1; b < s->nr; b++)
			if (waits[b - from] != UINT32_MAX && is_behind(&m->best, access, from, at, b))
				waits[b - from]--;
		while (first < s->nr && waits[first - from] == UINT32_MAX)
			first++;
		if (is_yield(&s->labels[at])) {
			at = first;
			continue;
		}
		while (++at < s->nr && s->tasks[at] != task)
			;
		if (at == s->nr || waits[at - from])
			at = first;
	}
}

static size_t switches(const uint32_t *tasks, size_t nr)
{
	size_t n = 0;

	for (size_t i = 1; i < nr; i++)
		n += tasks[i] != tasks[i - 1];
	return n;
}

/* False: there would not be fewer switches. */
static bool try_gathered(struct minimize *m)
{
	const struct schedule *s = &m->best.s;
	size_t from = s->nr > GATHER_MAX ? s->nr - GATHER_MAX : 0;
	struct access *access = malloc((s->nr - from + 1) * sizeof(*access));
	uint32_t *waits = calloc(s->nr - from + 1, sizeof(*waits));
	bool fewer = false;

	if (access && waits) {
		for (size_t i = from; i < s->nr; i++)
			access[i - from] = access_at(m, &s->labels[i]);
		gather(m, access, waits, from);
		fewer = switches(m->a.order, s->nr) < switches(s->tasks, s->nr);
	} else {
		m->a.error = -ENOMEM;
	}
	free(access);
	free(waits);
	return fewer;
}

/* ---- the program's own steps ---- */

static bool is_own(void *ctx, const struct zug_label *l)
{
	struct minimize *m = ctx;
	uint32_t *known;
	bool added;

	if (l->flags & ZUG_L_OWN)
		return true;
	if (!m->users || !l->site)
		return false;
	known = id_map_add(&m->sites, l->site, 0, &added);
	if (!known)
		return false;
	if (added)
		*known = m->users(m->users_ctx, l->site);
	return *known;
}

/* By step of best, whether it is one of the program's own; NULL: out of memory. *nr of them are. */
static bool *own_steps(struct minimize *m, size_t *nr)
{
	const struct schedule *s = &m->best.s;
	bool *own = calloc(s->nr + 1, sizeof(*own));

	*nr = 0;
	for (size_t i = 0; own && i < s->nr; i++) {
		own[i] = is_own(m, &s->labels[i]);
		*nr += own[i];
	}
	if (!own)
		m->a.error = -ENOMEM;
	return own;
}

/* An own step says something where most steps are others. */
static bool try_own(struct minimize *m)
{
	size_t nr;
	bool *own, few;

	if (m->loop || m->best.s.preemptions < OWN_MIN)
		return false;
	own = m->at ? NULL : own_steps(m, &nr);
	few = m->at || (nr > 1 && nr * OWN_ONE_IN <= m->best.s.nr);
	if (own && few)
		m->a.error = m->phase == OWN ? own_order_of(&m->own, &m->best.s, own) : own_holds_of(&m->holds, &m->best.s, own);
	free(own);
	return few && !m->a.error;
}

/* The next step of that task from 'from' on; s->nr: none. */
static size_t next_step(const struct schedule *s, size_t from, uint32_t task)
{
	while (from < s->nr && s->tasks[from] != task)
		from++;
	return from;
}

/* A task is stopped before one of the own steps, or behind it; or another task goes on with one. */
static bool is_at_own(const struct schedule *s, const bool *own, const struct difference *d)
{
	size_t stopped = next_step(s, d->step, d->task);

	return own[d->step] || (d->step && own[d->step - 1]) || (stopped < s->nr && own[stopped]);
}

/* All differences go that are not at the program's own steps. */
static bool try_without_others(struct minimize *m)
{
	const struct schedule *s = &m->best.s;
	size_t nr;
	bool *own = s->preemptions < OWN_MIN ? NULL : own_steps(m, &nr);

	m->nr_trial = 0;
	for (size_t i = 0; own && i < s->nr_diffs; i++)
		if (is_at_own(s, own, &s->diffs[i]))
			m->trial[m->nr_trial++] = s->diffs[i];
	free(own);
	return m->nr_trial && m->nr_trial < s->nr_diffs;
}

/* Set up the next trial; false when the phase is over. */
static bool next_of_phase(struct minimize *m)
{
	size_t nr = m->best.s.nr_diffs;

	switch (m->phase) {
	case OWN:
		/* with tasks that change roles, and without */
		return m->at < 2 && try_own(m);
	case HOLDS:
		return m->at < HOLDS_MAX && try_own(m) && m->at < m->holds.nr;
	case GATHER:
		return !m->loop && m->best.s.preemptions && next_sight(m) && try_gathered(m);
	case LOOP:
		while (m->at < nr && m->best.s.diffs[m->at].step + m->loop < m->best.s.nr)
			m->at++;
		if (!m->loop || m->at >= nr)
			return false;
		try_without(m, m->at, nr);
		return true;
	case NEEDLESS:
		return next_sight(m) && try_without_needless(m);
	case OTHERS:
		return !m->at && try_without_others(m);
	case CHUNKS:
		for (; m->chunk > 1; m->chunk /= 2, m->at = 0) {
			if (m->at >= nr)
				continue;
			try_without(m, m->at, m->at + m->chunk);
			return true;
		}
		return false;
	case SINGLES:
		if (m->at >= nr && m->changed) {
			m->at = 0;
			m->changed = false;
		}
		if (m->at >= nr)
			return false;
		if (m->move)
			try_skipping(m, m->at);
		else
			try_without(m, m->at, m->at + 1);
		return true;
	case REORDER:
		/* without differences only steps could become fewer, at an execution for each exchange */
		while (nr && m->at < m->best.s.nr)
			if (try_reordered(m))
				return true;
		return false;
	case LATER:
		while (m->at < nr && !m->best.s.diffs[m->at].preemption)
			m->at++;
		if (m->at >= nr)
			return false;
		try_later(m, m->at);
		return true;
	case ELSEWHERE:
		if (m->best.s.preemptions < 2 || m->at >= m->best.nr_others)
			return false;
		m->trial[0] = m->best.others[m->at];
		m->nr_trial = 1;
		return true;
	default:
		return false;
	}
}

static int begin(void *state, uint64_t iteration)
{
	struct minimize *m = state;
	int ret = around_begin(&m->a);

	(void)iteration;
	if (ret != SEARCH_GO)
		return ret;
	while (!m->again && m->phase != FOLLOW && m->phase != DONE && !next_of_phase(m)) {
		/* A move may have made another difference superfluous. */
		if (m->phase >= REORDER && m->changed)
			m->phase = SINGLES;
		else
			m->phase++;
		m->at = 0;
		m->move = 0;
		m->changed = false;
	}
	if (m->a.error)
		return m->a.error;
	if (m->phase == DONE)
		return SEARCH_EXHAUSTED;
	if (difference_index_make(&m->index, m->trial, m->nr_trial))
		return -ENOMEM;
	if (m->phase == OWN)
		own_order_begin(&m->own, !m->at);
	if (m->phase == HOLDS)
		own_holds_begin(&m->holds, m->at);
	m->a.trials++;
	schedule_clear(&m->now.s);
	m->now.nr_pairs = m->now.nr_others = 0;
	for (uint32_t i = 0; i < m->nr_since; i++)
		m->since[i] = NOT_ENABLED;
	return SEARCH_GO;
}

/* The trial is an order of all steps, and not one of differences. */
static bool follows_order(const struct minimize *m)
{
	return m->phase == FOLLOW || m->phase == GATHER || m->phase == REORDER;
}

/* It is said by the program's own steps. */
static bool follows_own(const struct minimize *m)
{
	return m->phase == OWN || m->phase == HOLDS;
}

static uint32_t follow(struct minimize *m, const struct choice *c)
{
	if (follows_order(m))
		return around_follow(&m->a, c);
	if (m->phase == OWN)
		return own_order_follow(&m->own, c, is_own, m);
	if (m->phase == HOLDS)
		return own_holds_follow(&m->holds, c, is_own, m);
	return schedule_follow(m->trial, &m->index, m->a.env, c);
}

/* A preemption is one half of a pair. */
static int note_pair(struct minimize *m, const struct choice *c, uint32_t pos)
{
	struct record *r = &m->now;

	if (!ARRAY_RESERVE(r->pairs, r->room_pairs, r->nr_pairs + 1))
		return -ENOMEM;
	r->pairs[r->nr_pairs++] = (struct minimize_pair){
		.step = c->point->step, .preempted = c->point->last, .by = choice_cand(c, pos)->task,
		.before = choice_cand(c, c->last)->label,
	};
	return 0;
}

/* Where the task could have gone on, and whether it did or not: what could have had the turn instead. */
static int note_elsewhere(struct minimize *m, const struct choice *c, uint32_t pos)
{
	struct record *r = &m->now;

	for (uint32_t i = 0; i < c->nr; i++) {
		if (i == pos || i == c->last)
			continue;
		if (r->nr_others == OTHERS_MAX)
			memmove(r->others, r->others + 1, --r->nr_others * sizeof(*r->others));
		if (!ARRAY_RESERVE(r->others, r->room_others, r->nr_others + 1))
			return -ENOMEM;
		r->others[r->nr_others++] = (struct difference){
			.task = c->point->last, .nth = schedule_nth(m->a.env, c),
			.next = choice_cand(c, i)->task, .preemption = true, .step = r->s.nr,
		};
	}
	return 0;
}

/* From which step on the task that makes this one could make it. */
static int note_enabled(struct minimize *m, const struct choice *c, uint32_t task)
{
	const struct search_point *p = c->point;
	uint32_t before = m->nr_since;

	if (!ARRAY_RESERVE(m->since, m->nr_since, p->cand[p->nr - 1].task + 1) ||
	    !ARRAY_RESERVE(m->now.enabled, m->now.room_enabled, m->now.s.nr + 1))
		return -ENOMEM;
	for (uint32_t i = before; i < m->nr_since; i++)
		m->since[i] = NOT_ENABLED;
	for (uint32_t i = 0; i < p->nr; i++) {
		size_t *since = &m->since[p->cand[i].task];

		if (p->cand[i].enabled && *since == NOT_ENABLED)
			*since = m->now.s.nr;
	}
	m->now.enabled[m->now.s.nr] = m->since[task];
	m->since[task] = NOT_ENABLED;
	return 0;
}

static int pick(void *state, const struct choice *fair)
{
	struct minimize *m = state;
	const struct choice choice = around_choice(&m->a, fair), *c = &choice;
	uint32_t pos = follow(m, c);

	if (pos == CHOICE_NONE) {
		m->a.error = -ENOMEM;
		return m->a.error;
	}
	around_chosen(&m->a, fair, c, pos);
	if (!c->free && pos != c->last)
		m->a.error = note_pair(m, c, pos);
	if (!c->free && !m->a.error)
		m->a.error = note_elsewhere(m, c, pos);
	if (!m->a.error)
		m->a.error = note_enabled(m, c, choice_cand(c, pos)->task);
	if (!m->a.error)
		m->a.error = schedule_note(&m->now.s, m->a.env, c, pos);
	return m->a.error ? m->a.error : (int)c->allowed[pos];
}

static uint64_t promise(const void *state, const struct search_point *point, uint32_t task,
			enum search_until *until)
{
	const struct minimize *m = state;

	*until = SEARCH_UNTIL_DONE;
	if (follows_order(m))
		return around_promise(&m->a, point, task);
	/* where the next own step comes is not known */
	if (follows_own(m))
		return 0;
	return schedule_promise(&m->index, m->a.env, task);
}

static uint32_t ahead(const void *state, uint64_t nth)
{
	const struct minimize *m = state;

	return follows_order(m) ? around_ahead(&m->a, m->now.s.nr, nth) : SEARCH_NO_TASK;
}

static void rule(const void *state, struct search_rule *r)
{
	const struct minimize *m = state;

	if (follows_order(m))
		around_rule(&m->a, r);
	else if (!follows_own(m))
		schedule_rule(m->trial, &m->index, m->a.env, r);
}

static bool simpler(const struct minimize *m)
{
	const struct schedule *a = &m->now.s, *b = &m->best.s;

	if (a->preemptions != b->preemptions)
		return a->preemptions < b->preemptions;
	if (a->nr_diffs != b->nr_diffs)
		return a->nr_diffs < b->nr_diffs;
	/* Once preemptions have been moved, steps would only turn that back, again and again. */
	return !m->moved && a->nr < b->nr;
}

static int accept(struct minimize *m)
{
	struct record swap = m->best;
	uint32_t *order;
	struct difference *trial;

	m->best = m->now;
	m->now = swap;
	m->best_trial = m->a.trials;
	/* A trial has as many entries as the best schedule has, at most. */
	trial = realloc(m->trial, (m->best.s.nr_diffs + 1) * sizeof(*trial));
	if (!trial)
		return -ENOMEM;
	m->trial = trial;
	order = realloc(m->a.order, (m->best.s.nr + 1) * sizeof(*order));
	if (!order)
		return -ENOMEM;
	m->a.order = order;
	return 0;
}

static uint64_t lateness(const struct schedule *r)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < r->nr_diffs; i++)
		sum += r->diffs[i].preemption ? r->diffs[i].nth : 0;
	return sum;
}

/* Preemptions come later, and nothing got worse. */
static bool came_later(const struct minimize *m)
{
	return m->now.s.preemptions == m->best.s.preemptions &&
	       m->now.s.nr_diffs == m->best.s.nr_diffs && lateness(&m->now.s) > lateness(&m->best.s);
}

/* What is good in this trial is to be tried once more; the second time *good says whether it was the same. */
static bool must_repeat(struct minimize *m, bool *good)
{
	struct schedule swap = m->first;

	if (m->again) {
		m->again = false;
		*good = *good && m->first.nr == m->now.s.nr &&
			!memcmp(m->first.tasks, m->now.s.tasks, m->first.nr * sizeof(*m->first.tasks));
	} else if (m->twice && *good) {
		m->again = true;
		m->first = m->now.s;
		m->now.s = swap;
	}
	return m->again;
}

/* Chunks begin with all differences. */
static void set_chunk(struct minimize *m)
{
	for (m->chunk = 1; m->chunk < m->best.s.nr_diffs; m->chunk *= 2)
		;
}

static void end(void *state, const struct search_end *e)
{
	struct minimize *m = state;
	bool fails = e->result == SEARCH_FAIL && e->failure == m->a.failure;
	bool good;

	if (m->a.error)
		return;
	switch (m->phase) {
	case FOLLOW:
		m->a.reproduced = fails;
		m->phase = fails ? OWN : DONE;
		if (fails)
			m->a.error = accept(m);
		set_chunk(m);
		return;
	case LATER:
		good = fails && (simpler(m) || came_later(m));
		break;
	default:
		good = fails && simpler(m);
	}
	if (must_repeat(m, &good))
		return;
	if (m->phase < CHUNKS) {
		if (good)
			m->a.error = accept(m);
		set_chunk(m);
		if (m->phase == OWN || m->phase == HOLDS || m->phase == OTHERS) {
			m->at += good ? HOLDS_MAX : 1;
			return;
		}
		if (m->phase == GATHER) {
			m->at += good ? 2 : 1;
			return;
		}
		/* without these, others may look needless now */
		m->at = m->phase == NEEDLESS && !good ? m->at + 1 : 0;
		m->phase = NEEDLESS;
		return;
	}
	if (good) {
		m->a.error = accept(m);
		m->changed = true;
		m->moved |= m->phase == LATER;
		m->move = 0;
		if (m->phase == REORDER)
			m->at = 0;
	} else if (m->phase == SINGLES && !m->move && m->at + 1 < m->best.s.nr_diffs) {
		m->move = 1;
	} else if (m->phase != REORDER) {
		m->move = 0;
		/* Accepted: the next one stands at the same place now. */
		m->at += m->phase == CHUNKS ? m->chunk : 1;
	}
}

static const struct strategy_type strategy_minimize = {
	.info = { .name = "minimize", .line = "", .params = "", .guarantee = "" },
	.flags = STRATEGY_EVERY_STEP | STRATEGY_EXHAUSTIVE | STRATEGY_ANY_TASK,
	.size = sizeof(struct minimize),
	.init = around_init,
	.begin = begin,
	.pick = pick,
	.promise = promise,
	.ahead = ahead,
	.rule = rule,
	.weight = around_weight,
	.choose = schedule_choose,
	.end = end,
	.fini = fini,
};

struct search *minimize_new(const struct search_options *opts, const uint32_t *tasks, size_t nr,
			    uint64_t failure, uint64_t trials, char *err, size_t errlen)
{
	return around_new(opts, &strategy_minimize, tasks, nr, failure, trials, err, errlen);
}

/* The first step of others, between the preemption and the preempted task's next, that touches it. */
static void complete_pairs(struct record *r)
{
	for (size_t i = 0; i < r->nr_pairs; i++) {
		struct minimize_pair *p = &r->pairs[i];
		struct access before = access_of(&p->before);

		p->after = (struct zug_label){ .op = ZUG_OP_NONE };
		p->after_step = UINT64_MAX;
		for (size_t k = p->step; k < r->s.nr && r->s.tasks[k] != p->preempted; k++) {
			struct access a = access_of(&r->s.labels[k]);

			if (access_dependent(&a, &before)) {
				p->after = r->s.labels[k];
				p->after_step = k;
				p->by = r->s.tasks[k];
				break;
			}
		}
	}
}

/* Of nr trials of a phase: all if it is to come, or those from 'at' on. */
static size_t of_phase(const struct minimize *m, enum phase phase, size_t nr)
{
	return m->phase > phase ? 0 : m->phase < phase ? nr : m->at < nr ? nr - m->at : 0;
}

/*
 * Trials of the phases that are not over, if none of them is accepted. Exchanges (REORDER) are not
 * counted: how many there are turns out when they are tried.
 */
static uint64_t trials_left(const struct minimize *m)
{
	const struct schedule *s = &m->best.s;
	uint64_t left = of_phase(m, SINGLES, s->nr_diffs);
	size_t at = m->phase == CHUNKS ? m->at : 0;

	left += m->phase == LOOP && m->loop;
	for (size_t chunk = m->phase <= CHUNKS ? m->chunk : 0; chunk > 1; chunk /= 2, at = 0)
		left += at < s->nr_diffs ? (s->nr_diffs - at + chunk - 1) / chunk : 0;
	/* what was accepted in these phases sends it to the begin of SINGLES */
	if (m->phase >= SINGLES && m->phase != DONE && m->changed)
		left += s->nr_diffs;
	for (size_t i = s->nr_diffs - of_phase(m, LATER, s->nr_diffs); i < s->nr_diffs; i++)
		left += s->diffs[i].preemption;
	if (s->preemptions > 1)
		left += of_phase(m, ELSEWHERE, m->best.nr_others);
	return left;
}

int minimize_other_data(struct search *s, const struct zug_label *labels)
{
	struct minimize *m = search_state(s);

	return around_other_data(&m->a, labels);
}

void minimize_loop(struct search *s, uint64_t steps)
{
	struct minimize *m = search_state(s);

	m->loop = steps;
}

void minimize_twice(struct search *s)
{
	struct minimize *m = search_state(s);

	m->twice = true;
}

void minimize_set_users(struct search *s, bool (*users)(const void *ctx, uint64_t site), const void *ctx)
{
	struct minimize *m = search_state(s);

	m->users = users;
	m->users_ctx = ctx;
}

void minimize_result(const struct search *s, struct minimize_result *result)
{
	struct minimize *m = search_state(s);

	if (m->a.reproduced)
		complete_pairs(&m->best);
	*result = (struct minimize_result){
		.reproduced = m->a.reproduced,
		.minimal = m->a.reproduced && m->phase == DONE,
		.tasks = m->best.s.tasks,
		.nr = m->best.s.nr,
		.preemptions = m->best.s.preemptions,
		.differences = (uint32_t)m->best.s.nr_diffs,
		.trials = m->a.trials,
		.left = m->a.reproduced ? trials_left(m) : 0,
		.trial = m->best_trial,
		.pairs = m->best.pairs,
		.nr_pairs = m->best.nr_pairs,
	};
}
