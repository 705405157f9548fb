/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * portfolio.c - several strategies in turn, more of those that show something new
 *
 * After Nekara (ASE 2021) and Coyote: no strategy is best on all programs, and
 * ones that fail for different reasons complement each other. The first turns are
 * given in a fixed order (opening[]), later ones by stride scheduling: a member with
 * weight w gets its next turn 1/w later. A weight is 1, plus the member's bonus
 * times the share of its latest executions that were happens-before classes that no
 * execution had shown before; so no member starves, a search that shows little new
 * is left to those that can end it, and only counts matter, never time.
 *
 * The order and the bonuses are what finds most bugs in few executions, measured
 * (docs/strategies.md): samplers that need to know nothing first, those that learn
 * as soon as there is something to learn, and learning from all executions, of
 * whichever member (env->profile, observe()); reversal from the 11th execution on where
 * few tasks are, when what is easy has been found; searches that try schedules in a fixed
 * order come last. A member that has an aim of its own from time to time (cycles) has every
 * other turn as long as it has one, and none otherwise.
 *
 * A search in parts (parts.h) leaves the exhaustive members out: they are not made of single executions.
 *
 * An execution apart (search_begin_apart()) is for members that sample. The one that never preempts,
 * before all turns (search_begin_base()), is the first of dpor, which begins with it.
 *
 * dpor is a member because it is quick on small tests, but its end does not end
 * the search: it assumes that all racing variables are labelled. The end of the
 * preemption-bounded member, without a bound that cuts, does.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "search/profile.h"
#include "search/strategies/strategies.h"

#define MEMORY		16.0	/* executions over which novelty is averaged */
#define REVERSAL_FROM	10	/* executions in which samplers find what is easy */
#define REVERSAL_END	40	/* from there up to this one reversal has a bonus of its own, ... */
#define REVERSAL_BONUS	900.0	/* ... divided by the square of the number of tasks */
#define DROWNED_BONUS	30.0	/* of surw, where most steps are those of packages: it alone looks for the program's own */
#define DPOR_FROM	32
#define DPOR_END	120	/* the same of dpor, ... */
#define DPOR_BONUS	100.0	/* ... divided by the number of tasks */

#define PORTFOLIO_PARAMS(P) \
	P(events, 0, 0, 1, "first turns for a program whose main thread is a loop of events")
enum { PORTFOLIO_EVENTS };	/* their places among the arguments */

static const struct {
	const char *spec;
	double bonus;
} parts[] = {
	{ "random", 3 },
	{ "guided", 12 },
	{ "surw", 9 },
	{ "pos", 3 },
	{ "urw", 5 },
	{ "dpor", 7 },
	{ "pct:depth=3", 3 },
	{ "preemption:bound=65000", 3 },
	{ "reversal", 6 },
	{ "lockstep:suffix=1000", 4 },	/* far from a livelock: see lockstep.c */
	{ "cycles", 9 },	/* when it has an aim: every other turn, or in a search in parts by weight */
};

/* Until that execution every other one is for a server's own steps. */
#define SERVING_END	80

/* pct chooses in one of so many patient executions (patience.h). */
#define PATIENT_PCT	8

#define NR_MEMBERS	(sizeof(parts) / sizeof(parts[0]))

/*
 * Who gets the first turns: numbers of parts[]. Those that are not here come right behind. One that
 * cannot choose an execution has its turn when it can.
 */
static const uint8_t opening[] = { 0, 2, 1, 5, 9, 3, 4, 1, 2, 1, 0 };

/*
 * The same with events=yes. What matters is in which order the answers of a pool or of others come to one loop: to hold one of
 * them back for long is what pos and guided do, and surw looks for what the program does itself. A random walk, turns of equal
 * length and dpor, to which the loop's own operations are all that depends on each other, found next to nothing there
 * (docs/strategies.md).
 */
static const uint8_t opening_events[] = { 1, 2, 3, 1, 2, 1, 3, 1, 2, 8, 1, 2, 6, 1, 3, 2, 1, 8, 1, 2, 3, 1, 6, 2 };

struct member {
	const struct strategy_type *type;
	void *state;
	uint64_t iteration;
	double next;		/* when its turn comes, in virtual time */
	double novelty;		/* 0..1 */
	bool done;		/* exhausted */
};

struct portfolio {
	struct search_env *env;
	struct member members[NR_MEMBERS];
	uint8_t observing[NR_MEMBERS], nr_observing;	/* those that look at each step */
	struct member *now;
	struct member *base;	/* chooses the next execution, which never preempts; NULL: none does */
	const uint8_t *opening;
	size_t nr_opening;
	uint64_t opened;	/* bits: turns of the opening that were given */
	bool aimed;		/* the last turn was of a member that had an aim of its own */
	bool covered;		/* a systematic member has ended the search, but for patient executions */
	uint64_t iteration;	/* executions before this one */
};

static void portfolio_fini(void *state)
{
	struct portfolio *p = state;

	for (size_t i = 0; i < NR_MEMBERS; i++) {
		struct member *m = &p->members[i];

		if (m->state && m->type->fini)
			m->type->fini(m->state);
		free(m->state);
	}
}

/* The member's state as it is at first; again: for another time. */
static int start_member(struct portfolio *p, size_t i, bool again)
{
	struct search_env *env = p->env;
	int64_t values[STRATEGY_MAX_PARAMS];
	int preemptions = env->preemptions, ret;
	struct member *m = &p->members[i];

	m->type = strategy_parse(parts[i].spec, values, env->err, env->errlen);
	if (!m->type)
		return -EINVAL;
	if (!m->state)
		m->state = calloc(1, m->type->size);
	if (!m->state)
		return -ENOMEM;
	m->novelty = 1;
	m->iteration = 0;
	/* A bound that the user sets is for the member that has bounds. */
	env->preemptions = m->type == &strategy_preemption ? preemptions : -1;
	if (again)
		ret = strategy_again(m->type, m->state, env, values);
	else
		ret = m->type->init ? m->type->init(m->state, env, values) : 0;
	env->preemptions = preemptions;
	/* With rules the others do alone what the exhaustive ones cannot. */
	m->done = ret == -EINVAL && env->rules && m->type->flags & STRATEGY_EXHAUSTIVE;
	return m->done ? 0 : ret;
}

static int portfolio_init(void *state, struct search_env *env, const int64_t *args)
{
	struct portfolio *p = state;
	int ret = 0;

	p->env = env;
	p->opening = args[PORTFOLIO_EVENTS] ? opening_events : opening;
	p->nr_opening = args[PORTFOLIO_EVENTS] ? sizeof(opening_events) : sizeof(opening);
	for (size_t i = 0; i < NR_MEMBERS && !ret; i++) {
		ret = start_member(p, i, false);
		if (!ret && p->members[i].type->observe)
			p->observing[p->nr_observing++] = (uint8_t)i;
	}
	return ret;
}

/* What the others have learnt stays true, and whose turn it is. */
static int portfolio_renew(void *state)
{
	struct portfolio *p = state;
	int ret = 0;

	p->covered = false;
	for (size_t i = 0; i < NR_MEMBERS && !ret; i++)
		if (p->members[i].type->flags & STRATEGY_EXHAUSTIVE)
			ret = start_member(p, i, true);
		else if (p->members[i].type->renew)
			ret = p->members[i].type->renew(p->members[i].state);
	return ret;
}

/* The first execution of a systematic member never preempts. */
static bool portfolio_base(void *state)
{
	struct portfolio *p = state;

	for (size_t i = 0; i < NR_MEMBERS && !p->base; i++) {
		struct member *m = &p->members[i];

		if (m->type->flags & STRATEGY_EXHAUSTIVE && !m->done && !m->iteration)
			p->base = m;
	}
	return p->base;
}

static bool may_choose(const struct portfolio *p, const struct member *m)
{
	return !m->done && !((p->env->apart || p->env->frozen) && m->type->flags & STRATEGY_EXHAUSTIVE) &&
	       !(m->type->idle && m->type->idle(m->state));
}

/* What a member has earned: it gets a turn so often. */
static double weight(const struct portfolio *p, const struct member *m)
{
	double bonus = parts[m - p->members].bonus, tasks = fmax(1, p->env->max_enabled);

	if (m->type == &strategy_reversal && p->iteration >= REVERSAL_FROM && p->iteration < REVERSAL_END)
		bonus = fmax(bonus, REVERSAL_BONUS / (tasks * tasks));
	if (m->type == &strategy_surw && profile_drowns_own(p->env->profile))
		bonus = fmax(bonus, DROWNED_BONUS);
	if (m->type == &strategy_dpor && p->iteration >= DPOR_FROM && p->iteration < DPOR_END)
		bonus = fmax(bonus, DPOR_BONUS / tasks);
	return 1 + bonus * m->novelty;
}

/* Where every execution is a part of its own, members are drawn, with their weights as they were at last. */
static struct member *draw_member(struct portfolio *p)
{
	uint64_t sum = 0, at, w;

	for (bool pass = false;; pass = true) {
		at = pass ? rng_below(&p->env->rng, sum) : UINT64_MAX;
		for (size_t i = 0; i < NR_MEMBERS; i++) {
			struct member *m = &p->members[i];

			w = may_choose(p, m) ? (uint64_t)(weight(p, m) * 1024) : 0;
			if (pass && at < w)
				return m;
			if (pass)
				at -= w;
			else
				sum += w;
		}
	}
}

/* A member that has an aim of its own (idle()) has every other turn, or else none. */
static struct member *aiming_member(struct portfolio *p)
{
	p->aimed = !p->aimed;
	for (size_t i = 0; i < NR_MEMBERS && p->aimed; i++)
		if (p->members[i].type->idle && may_choose(p, &p->members[i]))
			return &p->members[i];
	p->aimed = false;
	return NULL;
}

/*
 * Behind a wait that came to its end the order of few operations beside it matters: surw draws these. pct, whose few changes
 * of priorities seldom fall there, sees every step.
 */
static struct member *patient_member(struct portfolio *p)
{
	const struct strategy_type *type = rng_below(&p->env->rng, PATIENT_PCT) ? &strategy_surw : &strategy_pct;

	for (size_t i = 0; i < NR_MEMBERS; i++)
		if (p->members[i].type == type)
			return &p->members[i];
	return NULL;
}

/*
 * Of a server whose clients are programs of their own nearly all steps are theirs: surw alone looks for what the server does, and
 * has every other turn at first.
 */
static struct member *serving_member(struct portfolio *p)
{
	if (p->iteration >= SERVING_END || p->iteration % 2 || !profile_has_clients(p->env->profile))
		return NULL;
	for (size_t i = 0; i < NR_MEMBERS; i++)
		if (p->members[i].type == &strategy_surw && may_choose(p, &p->members[i]))
			return &p->members[i];
	return NULL;
}

static struct member *next_member(struct portfolio *p)
{
	struct member *next = p->env->patient ? patient_member(p) : NULL;

	if (next)
		return next;
	if (p->env->frozen)
		return draw_member(p);
	next = aiming_member(p);
	if (!next)
		next = serving_member(p);
	if (next)
		return next;
	for (size_t i = 0; i < p->nr_opening; i++)
		if (!(p->opened >> i & 1) && may_choose(p, &p->members[p->opening[i]])) {
			p->opened |= 1ull << i;
			return &p->members[p->opening[i]];
		}
	for (size_t i = 0; i < NR_MEMBERS; i++) {
		struct member *m = &p->members[i];

		if (!m->type->idle && may_choose(p, m) && (!next || m->next < next->next))
			next = m;
	}
	return next;
}

static int portfolio_begin(void *state, uint64_t iteration)
{
	struct portfolio *p = state;
	struct search_stats stats;
	int ret;

	p->iteration = iteration;
	if (p->covered && !p->env->patient)
		return SEARCH_EXHAUSTED;
	for (;;) {
		p->now = p->base ? p->base : next_member(p);
		ret = p->now->type->begin(p->now->state, p->now->iteration);
		if (ret != SEARCH_EXHAUSTED)
			break;
		p->now->done = true;
		stats = (struct search_stats){ .bound_done = UINT32_MAX };
		if (p->now->type == &strategy_preemption)
			p->now->type->stats(p->now->state, &stats);
		/* A bound set by the user was reached: the samplers may go beyond it. */
		if (p->now->type == &strategy_preemption && p->env->preemptions < 0 && !p->env->rules &&
		    !stats.incomplete) {
			p->covered = true;
			return SEARCH_EXHAUSTED;
		}
	}
	p->now->iteration++;
	p->base = NULL;
	return ret;
}

static const struct strategy_type *portfolio_now(const void *state)
{
	const struct portfolio *p = state;

	return p->now->type;
}

static int portfolio_pick(void *state, const struct choice *c)
{
	struct portfolio *p = state;
	const struct strategy_type *type = p->now->type;

	if (c->nr == 1 && !(type->flags & STRATEGY_EVERY_STEP))
		return 0;
	return type->pick(p->now->state, c);
}

static int portfolio_observe(void *state, const struct search_point *point, uint32_t at)
{
	struct portfolio *p = state;

	for (size_t k = 0; k < p->nr_observing; k++) {
		const struct member *m = &p->members[p->observing[k]];

		if (!m->done && m->type->observe(m->state, point, at))
			return -ENOMEM;
	}
	return 0;
}

static uint64_t portfolio_promise(const void *state, const struct search_point *point, uint32_t task,
				  enum search_until *until)
{
	const struct portfolio *p = state;

	return strategy_promise(p->now->type, p->now->state, point, task, until);
}

static uint32_t portfolio_ahead(const void *state, uint64_t nth)
{
	const struct portfolio *p = state;

	return p->now->type->ahead ? p->now->type->ahead(p->now->state, nth) : SEARCH_NO_TASK;
}

static void portfolio_rule(const void *state, struct search_rule *r)
{
	const struct portfolio *p = state;

	if (p->now->type->rule)
		p->now->type->rule(p->now->state, r);
}

static uint64_t portfolio_weight(const void *state, uint32_t task)
{
	const struct portfolio *p = state;

	return p->now->type->weight ? p->now->type->weight(p->now->state, task) : 0;
}

static uint64_t portfolio_priority(const void *state, uint32_t task, bool *held)
{
	const struct portfolio *p = state;

	return p->now->type->priority ? p->now->type->priority(p->now->state, task, held) : 0;
}

static int portfolio_choose(void *state, uint32_t nr)
{
	struct portfolio *p = state;

	if (p->now->type->choose)
		return p->now->type->choose(p->now->state, nr);
	return -ENOSYS;
}

static void portfolio_final(void *state, const struct search_point *point)
{
	struct portfolio *p = state;

	if (p->now->type->final)
		p->now->type->final(p->now->state, point);
}

static void portfolio_end(void *state, const struct search_end *end)
{
	struct portfolio *p = state;
	struct member *m = p->now;

	if (!p->env->frozen) {
		m->novelty += ((p->env->novel ? 1 : 0) - m->novelty) / MEMORY;
		m->next += 1 / weight(p, m);
	}
	if (m->type->end)
		m->type->end(m->state, end);
}

static void portfolio_save(void *state, struct codec *c)
{
	struct portfolio *p = state;

	codec_same(c, NR_MEMBERS);
	codec_field(c, p->opened);
	codec_field(c, p->aimed);
	codec_field(c, p->covered);
	for (size_t i = 0; i < NR_MEMBERS; i++) {
		struct member *m = &p->members[i];

		codec_same(c, m->type->size);
		codec_field(c, m->iteration);
		codec_field(c, m->next);
		codec_field(c, m->novelty);
		codec_field(c, m->done);
		if (m->type->save)
			m->type->save(m->state, c);
	}
}

static void portfolio_stats(const void *state, struct search_stats *stats)
{
	const struct portfolio *p = state;

	if (p->now)
		stats->strategy = p->now->type->info.name;
	for (size_t i = 0; i < NR_MEMBERS; i++) {
		const struct member *m = &p->members[i];
		struct search_stats own = *stats;

		if (!m->type->stats)
			continue;
		m->type->stats(m->state, &own);
		stats->sleep_blocked += own.sleep_blocked;
		if (m->type == &strategy_preemption) {
			stats->bound = own.bound;
			stats->bound_done = own.bound_done;
			stats->unbounded = own.unbounded;
			stats->incomplete = own.incomplete;
		}
	}
}

static const struct strategy_param portfolio_params[] = { PORTFOLIO_PARAMS(STRATEGY_PARAM_ENTRY) { 0 } };

const struct strategy_type strategy_portfolio = {
	.info = {
		.name = "portfolio",
		.line = "several strategies in turn, more of what shows new behaviour: start here",
		.params = PORTFOLIO_PARAMS(STRATEGY_PARAM_TEXT),
		.guarantee = "those of its members (random, guided, surw, pos, urw, dpor, pct, preemption, reversal, lockstep, cycles) "
			     "for a share of the executions",
	},
	.params = portfolio_params,
	.flags = STRATEGY_EVERY_STEP | STRATEGY_EXHAUSTIVE | STRATEGY_COUNTS,
	.size = sizeof(struct portfolio),
	.init = portfolio_init,
	.begin = portfolio_begin,
	.base = portfolio_base,
	.now = portfolio_now,
	.pick = portfolio_pick,
	.observe = portfolio_observe,
	.renew = portfolio_renew,
	.promise = portfolio_promise,
	.ahead = portfolio_ahead,
	.rule = portfolio_rule,
	.weight = portfolio_weight,
	.priority = portfolio_priority,
	.choose = portfolio_choose,
	.final = portfolio_final,
	.end = portfolio_end,
	.fini = portfolio_fini,
	.stats = portfolio_stats,
	.save = portfolio_save,
};
