/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * search.c - the core between the caller and a strategy
 *
 * At every point the candidates pass these filters, in this order:
 *
 *	enabled -> patience or fair -> held by rules -> scope of rules -> strategy
 *
 * and what the strategy answers is checked, recorded and hashed. The fair
 * filter stands before the bound of a systematic strategy: leaving a task that
 * it blocks is no preemption. Parts are in search_parts.c, values that a test asks for in search_values.c.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "search/search_internal.h"
#include "search/rules_internal.h"
#include "search/save.h"
#include "search/schedule.h"
#include "search/search_state.h"
#include "search/strategies/strategies.h"

/* Numbers of tasks index tables; a caller that hands out greater ones has a bug. */
#define MAX_TASKS	(1u << 20)
/* Shared out: happens-before classes, schedules, and the strategy's own tables. */
#define DEFAULT_MEMORY	(256ull << 20)

struct search *search_new(const struct search_options *opts, char *err, size_t errlen)
{
	int64_t args[STRATEGY_MAX_PARAMS] = { 0 };
	const struct strategy_type *type;

	if (opts->script)
		return search_new_type(opts, &strategy_script, args, err, errlen);
	type = strategy_parse(opts->strategy, args, err, errlen);
	return type ? search_new_type(opts, type, args, err, errlen) : NULL;
}

void *search_state(const struct search *s)
{
	return s->state;
}

const struct strategy_type *search_type(const struct search *s)
{
	return s->type;
}

static uint64_t hash_options(const struct search_options *opts, const struct strategy_type *type,
			     const int64_t *args)
{
	uint64_t h = mix64(mix64(opts->seed + 1) + opts->fair);

	for (const char *n = type->info.name; *n; n++)
		h = mix64(h + (unsigned char)*n);
	for (int i = 0; type->params && type->params[i].name; i++)
		h = mix64(h + (uint64_t)args[i]);
	for (const char *r = opts->rules ? opts->rules : ""; *r; r++)
		h = mix64(h + (unsigned char)*r);
	return mix64(mix64(h + (uint64_t)opts->preemptions) + opts->max_steps);
}

struct search *search_new_type(const struct search_options *opts, const struct strategy_type *type,
			       const int64_t *args, char *err, size_t errlen)
{
	struct search *s;
	uint64_t memory;
	int ret;

	s = calloc(1, sizeof(*s));
	if (!s)
		goto nomem;
	memory = opts->memory ? opts->memory : DEFAULT_MEMORY;
	s->type = type;
	s->max_steps = opts->max_steps;
	s->options = hash_options(opts, type, args);
	for (int i = 0; type->params && type->params[i].name; i++)
		s->args[i] = args[i];
	s->env.seed = opts->seed;
	s->env.memory = memory / 2;
	s->env.preemptions = opts->preemptions;
	s->env.hb = &s->hb;
	s->env.profile = &s->profile;
	s->env.err = err;
	s->env.errlen = errlen;
	s->stats.bound = s->stats.bound_done = UINT32_MAX;
	if (opts->rules) {
		s->rules = rules_parse(opts->rules, opts->script, opts->names, err, errlen);
		if (!s->rules) {
			search_free(s);
			return NULL;
		}
		s->env.rules = rules_kinds(s->rules);
		s->env.script = opts->script ? s->rules : NULL;
		if (s->env.rules & RULES_SCRIPT && !opts->script) {
			strategy_message(err, errlen, "rules: 'before', 'let' and 'strict' belong in a script (--script)");
			search_free(s);
			return NULL;
		}
	}
	s->state = calloc(1, type->size ? type->size : 1);
	if (!s->state || fair_init(&s->fair, opts->fair) ||
	    seen_init(&s->classes, memory / 4) || seen_init(&s->schedules, memory / 4))
		goto nomem;
	ret = type->init ? type->init(s->state, &s->env, s->args) : 0;
	s->env.err = NULL;
	if (ret == -ENOMEM)
		goto nomem;
	if (ret) {
		search_free(s);
		return NULL;
	}
	return s;
nomem:
	search_free(s);
	strategy_message(err, errlen, "out of memory");
	return NULL;
}

void search_free(struct search *s)
{
	if (!s)
		return;
	if (s->state && s->type->fini)
		s->type->fini(s->state);
	free(s->state);
	hb_fini(&s->hb);
	profile_fini(&s->profile);
	fair_fini(&s->fair);
	patience_fini(&s->patience);
	rules_free(s->rules);
	seen_fini(&s->classes);
	seen_fini(&s->schedules);
	division_fini(&s->division);
	free(s->path);
	free(s->allowed);
	free(s->enabled);
	free(s->forced);
	free(s);
}

int search_replay(struct search *s, const uint32_t *tasks, size_t nr)
{
	uint32_t *copy;

	if (s->running)
		return -EBUSY;
	copy = malloc((nr + 1) * sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	if (nr)
		memcpy(copy, tasks, nr * sizeof(*copy));
	free(s->forced);
	s->forced = copy;
	s->nr_forced = nr;
	s->force = true;
	return 0;
}

bool search_samples(const struct search *s)
{
	return s->type == &strategy_portfolio || !(s->type->flags & STRATEGY_EXHAUSTIVE || s->env.script);
}

int search_renew(struct search *s)
{
	if (s->running)
		return -EBUSY;
	s->env.max_choices = 0;
	s->dividing = s->divided = false;
	if (s->type->renew)
		return s->type->renew(s->state);
	return s->type->flags & STRATEGY_EXHAUSTIVE ? strategy_again(s->type, s->state, &s->env, s->args) : 0;
}

int strategy_again(const struct strategy_type *type, void *state, struct search_env *env, const int64_t *args)
{
	if (type->fini)
		type->fini(state);
	memset(state, 0, type->size);
	return type->init ? type->init(state, env, args) : 0;
}

/* Of a portfolio the member. */
static const struct strategy_type *chooser(const struct search *s)
{
	return s->type->now && !s->force ? s->type->now(s->state) : s->type;
}

/* The strategy alone chooses in this execution, under a fair scheduler. */
static bool may_be_patient(const struct search *s)
{
	return !s->force && !s->env.apart && !s->rules && s->fair.every;
}

static int begin(struct search *s, bool apart)
{
	int ret;

	if (s->running)
		return -EBUSY;
	s->env.apart = apart;
	hb_reset(&s->hb);
	fair_reset(&s->fair);
	s->step = 0;
	s->schedule = 0;
	s->last = SEARCH_NO_TASK;
	s->last_flags = 0;
	s->asked = s->diverged = s->loose = false;
	s->env.choices = 0;
	s->env.patient = false;
	s->rare = s->rare_next = 0;
	if (s->rules && s->force)
		rules_begin_forced(s->rules);
	if (!s->force) {
		rng_seed(&s->env.rng, s->env.seed, s->iteration);
		/* apart from the schedule's, which is the same with values and without */
		rng_seed(&s->rare_rng, ~s->env.seed, s->iteration);
		rng_seed(&s->numbers_rng, mix64(s->env.seed), s->iteration);
		if (s->rules)
			rules_begin(s->rules, &s->env.rng, s->iteration);
		ret = search_begin_part(s);
		s->env.patient = may_be_patient(s) && patience_draw(&s->patience, s->env.seed, s->iteration);
		if (ret == SEARCH_GO)
			ret = s->type->begin(s->state, s->iteration);
		/* systematic members have covered what fair schedules show */
		if (ret == SEARCH_EXHAUSTED && s->type->now && patience_owes(&s->patience) && may_be_patient(s)) {
			s->env.patient = true;
			ret = s->type->begin(s->state, s->iteration);
		}
		if (ret != SEARCH_GO)
			return search_end_part(s, ret);
		s->inside &= search_divides(s);
		s->iteration++;
	}
	patience_begin(&s->patience, s->env.patient && chooser(s)->flags & STRATEGY_PATIENT);
	s->running = true;
	return SEARCH_GO;
}

int search_begin(struct search *s)
{
	return begin(s, false);
}

int search_begin_apart(struct search *s)
{
	return search_samples(s) ? begin(s, true) : -EINVAL;
}

int search_begin_base(struct search *s)
{
	int ret = 0;

	if (s->running)
		return -EBUSY;
	if (!s->type->base || !s->type->base(s->state))
		ret = search_replay(s, NULL, 0);
	return ret ? ret : begin(s, false);
}

/* Lists the enabled candidates of a point whose caller has not. */
static int list_enabled(struct search *s, struct search_point *p)
{
	if (!ARRAY_RESERVE(s->enabled, s->room_enabled, p->nr))
		return -ENOMEM;
	p->nr_enabled = 0;
	for (uint32_t i = 0; i < p->nr; i++) {
		if (i && p->cand[i].task <= p->cand[i - 1].task)
			return -EINVAL;
		if (p->cand[i].enabled)
			s->enabled[p->nr_enabled++] = i;
	}
	p->enabled = s->enabled;
	p->bits = NULL;
	s->nr_enabled = p->nr_enabled;
	return 0;
}

/* After it p has a list of the enabled candidates, with at least one. */
static int check_point(struct search *s, struct search_point *p)
{
	int ret = 0;

	if (!s->running || p->step != s->step || !p->nr || p->last != s->last)
		return -EINVAL;
	/* a caller that keeps its candidates in order has no more to say about them at each step */
	if (!p->enabled)
		ret = list_enabled(s, p);
	if (ret)
		return ret;
	return p->nr_enabled && p->cand[p->enabled[0]].enabled && p->cand[p->nr - 1].task < MAX_TASKS ? 0 : -EINVAL;
}

static int reserve(struct search *s, const struct search_point *p)
{
	if (hb_reserve_task(&s->hb, p->cand[p->nr - 1].task) ||
	    !ARRAY_RESERVE(s->allowed, s->room_allowed, p->nr))
		return -ENOMEM;
	return 0;
}

static int fill_choice(struct search *s, const struct search_point *p, struct choice *c)
{
	bool ruled = s->rules && !s->force;
	uint32_t i;
	int left;

	*c = (struct choice){
		.point = p,
		.allowed = s->allowed,
		.last = CHOICE_NONE,
		.base = CHOICE_NONE,
		.fair_hash = s->fair.hash,
	};
	if (s->patience.task != SEARCH_NO_TASK) {
		s->allowed[0] = search_cand_of(p, s->patience.task);
		c->nr = 1;
	} else if (!s->fair.hash && !ruled) {
		c->allowed = p->enabled;
		c->nr = p->nr_enabled;
	} else {
		c->nr = fair_filter(&s->fair, p, s->allowed);
	}
	if (ruled) {
		left = rules_hold(s->rules, p, s->allowed, c->nr);
		if (left < 0)
			return left;
		c->nr = (uint32_t)left;
	}
	i = choice_from(c, p->last);
	if (i < c->nr && choice_cand(c, i)->task == p->last)
		c->last = i;
	c->free = p->yielded || c->last == CHOICE_NONE;
	if (ruled && !c->free && !rules_may_switch(s->rules, choice_cand(c, c->last))) {
		s->allowed[0] = s->allowed[c->last];
		c->nr = 1;
		c->last = 0;
	}
	return 0;
}

/* The candidate that a forced execution names, or -ESTALE; then the base scheduler goes on. */
static int forced_pick(struct search *s, const struct choice *c)
{
	const struct search_point *p = c->point;

	if (s->loose || s->step >= s->nr_forced)
		return (int)c->allowed[schedule_base(c)];
	for (uint32_t i = 0; i < p->nr; i++)
		if (p->cand[i].task == s->forced[s->step] && p->cand[i].enabled)
			return (int)i;
	s->loose = true;
	return -ESTALE;
}

static int strategy_pick(struct search *s, const struct choice *c)
{
	int pos;

	if (c->nr == 1 && !(s->type->flags & STRATEGY_EVERY_STEP))
		return (int)c->allowed[0];
	pos = s->type->pick(s->state, c);
	if (pos < 0)
		return pos;
	if (s->type->flags & STRATEGY_ANY_TASK)
		return (uint32_t)pos < c->point->nr && c->point->cand[pos].enabled ? pos : -EPROTO;
	if ((uint32_t)pos >= c->nr)
		return -EPROTO;
	return (int)c->allowed[pos];
}

/* Replays show nothing new, and their number must not change what a search does. */
static bool is_replay(const struct search *s)
{
	return s->force && s->nr_forced;
}

static int meet(struct search *s, const struct search_cand *c)
{
	return profile_has_met(&s->profile, c->task) ? 0 : profile_meet(&s->profile, c->task, c->parent);
}

/* The tasks that have come since the number of tasks was another one. */
static int meet_new(struct search *s, const struct search_point *p)
{
	bool any = !p->changed || s->unmet;
	int ret = 0;

	for (uint32_t k = 0; k < (any ? p->nr : p->nr_changed) && !ret; k++) {
		uint32_t at = any ? k : search_cand_of(p, p->changed[k]);

		if (at != UINT32_MAX)
			ret = meet(s, &p->cand[at]);
	}
	s->unmet = false;
	return ret;
}

/* Whether a task has come though the number of tasks is the same. */
static bool is_unmet(const struct search *s, const struct search_point *p)
{
	for (uint32_t k = 0; p->changed && k < p->nr_changed; k++)
		if (!profile_has_met(&s->profile, p->changed[k]))
			return true;
	return !p->changed;
}

/* Steps teach where tasks end, too: one that is gone after its own step came to its end, others were killed. */
static int count_step(struct search *s, const struct search_point *p, uint32_t i)
{
	if (p->step && search_cand_of(p, s->counted) == UINT32_MAX)
		profile_ended(&s->profile, s->counted);
	s->counted = p->cand[i].task;
	/* who is killed before it makes a step is only seen here */
	if (p->nr == s->nr_met)
		s->unmet |= is_unmet(s, p);
	else if (meet_new(s, p))
		return -ENOMEM;
	s->nr_met = p->nr;
	return profile_step(&s->profile, p->cand[i].task, p->cand[i].parent, &p->cand[i].label);
}

/* Everything that follows from giving the turn to candidate i. */
static int commit(struct search *s, const struct search_point *p, uint32_t i)
{
	if (hb_push(&s->hb, p->cand[i].task, &p->cand[i].label))
		return -ENOMEM;
	if (s->type->flags & STRATEGY_COUNTS && !s->env.frozen && !is_replay(s) && count_step(s, p, i))
		return -ENOMEM;
	if (s->type->observe && !is_replay(s) && s->type->observe(s->state, p, i))
		return -ENOMEM;
	if (s->rules && rules_step(s->rules, p, i, s->force))
		return -ENOMEM;
	s->schedule = mix64(s->schedule + p->cand[i].task + 1);
	s->last = p->cand[i].task;
	s->last_flags = p->cand[i].label.flags | zug_op_flags(p->cand[i].label.op);
	s->step++;
	s->stats.steps++;
	return 0;
}

int search_pick(struct search *s, const struct search_point *point)
{
	struct search_point listed = *point, *p = &listed;
	struct choice c;
	int ret, i;

	ret = check_point(s, p);
	if (ret)
		return ret;
	if (s->max_steps && s->step >= s->max_steps)
		return -ELOOP;
	ret = reserve(s, p);
	if (ret)
		return ret;
	if (s->step && !s->asked) {
		ret = fair_step(&s->fair, p);
		if (!ret)
			ret = patience_step(&s->patience, p, s->last_flags);
		if (ret)
			return ret;
	}
	ret = fill_choice(s, p, &c);
	if (ret)
		return ret;
	i = s->force ? forced_pick(s, &c) : strategy_pick(s, &c);
	if (i == -ESTALE && !s->asked) {
		s->asked = s->diverged = true;
		return -ESTALE;
	}
	if (i < 0)
		return i == -ESTALE ? -EPROTO : i;
	s->asked = false;
	if (c.nr > 1)
		s->env.choices++;
	if (p->nr_enabled > s->env.max_enabled && !s->env.frozen && !is_replay(s))
		s->env.max_enabled = p->nr_enabled;
	ret = commit(s, p, (uint32_t)i);
	return ret ? ret : i;
}

/* ---- promises ---- */

uint64_t strategy_promise(const struct strategy_type *type, const void *state, const struct search_point *p,
			  uint32_t task, enum search_until *until)
{
	uint64_t nr = type->promise ? type->promise(state, p, task, until) : 0;

	if (nr || p->nr_enabled > 1)
		return nr;
	*until = SEARCH_UNTIL_CHANGE;
	return UINT64_MAX;
}

/* The steps that the forced task makes next; the base scheduler lets it go on behind the end. */
static uint64_t forced_promise(const struct search *s, enum search_until *until)
{
	uint64_t nr = 0;

	*until = SEARCH_UNTIL_DONE;
	if (s->loose)
		return UINT64_MAX;
	while (s->step + nr < s->nr_forced && s->forced[s->step + nr] == s->last)
		nr++;
	return s->step + nr < s->nr_forced ? nr : UINT64_MAX;
}

/* Something may be said of the next steps. */
static bool is_ahead(const struct search *s, const struct search_point *p)
{
	return s->running && s->step && p->step + 1 == s->step && !s->asked;
}

/* Some of them are chosen by the strategy alone. */
static bool is_free_ahead(const struct search *s, const struct search_point *p)
{
	return is_ahead(s, p) && !s->fair.hash && s->patience.task == SEARCH_NO_TASK;
}

uint64_t search_promise(const struct search *s, const struct search_point *point, enum search_until *until)
{
	struct search_point p = *point;
	uint64_t nr;

	*until = SEARCH_UNTIL_CHANGE;
	if (!is_ahead(s, &p))
		return 0;
	if (!p.enabled) {
		p.enabled = s->enabled;
		p.nr_enabled = s->nr_enabled;
	}
	if (s->patience.task != SEARCH_NO_TASK) {
		*until = SEARCH_UNTIL_DONE;
		nr = patience_promise(&s->patience);
	} else if (s->fair.hash) {
		nr = 0;		/* without an edge of the fair filter none comes before a task yields */
	} else if (s->force) {
		nr = forced_promise(s, until);
	} else {
		nr = s->rules ? 0 : strategy_promise(s->type, s->state, &p, s->last, until);
	}
	return nr < search_steps_left(s) ? nr : search_steps_left(s);
}

uint32_t search_yields(const struct search *s, uint64_t *points)
{
	*points = PATIENCE_STEPS;
	return s->running && s->patience.task != SEARCH_NO_TASK && s->patience.task == s->last ? patience_left(&s->patience)
											       : 0;
}

void search_bound(struct search *s, uint64_t max_steps)
{
	s->max_steps = max_steps;
}

uint64_t search_steps_left(const struct search *s)
{
	return s->max_steps ? s->max_steps - s->step : UINT64_MAX;
}

uint32_t search_ahead(const struct search *s, const struct search_point *point, uint64_t nth)
{
	if (!is_free_ahead(s, point))
		return SEARCH_NO_TASK;
	if (s->force)
		return !s->loose && nth < s->nr_forced - s->step && s->step < s->nr_forced ? s->forced[s->step + nth]
											   : SEARCH_NO_TASK;
	return s->type->ahead && !s->rules ? s->type->ahead(s->state, nth) : SEARCH_NO_TASK;
}

void search_rule(const struct search *s, const struct search_point *point, struct search_rule *r)
{
	*r = (struct search_rule){ .by = SEARCH_BY_STEPS, .state = s->env.rng.state, .least = 1 };
	if (is_free_ahead(s, point) && !s->force && !s->rules && s->type->rule)
		s->type->rule(s->state, r);
}

uint64_t search_weight(const struct search *s, uint32_t task)
{
	return s->type->weight ? s->type->weight(s->state, task) : 0;
}

uint64_t search_priority(const struct search *s, uint32_t task, bool *held)
{
	*held = false;
	return s->type->priority ? s->type->priority(s->state, task, held) : 0;
}

void search_final(struct search *s, const struct search_point *p)
{
	if (s->running && !s->force && s->type->final && p->step == s->step && p->last == s->last)
		s->type->final(s->state, p);
}

void search_end(struct search *s, const struct search_end *end)
{
	struct search_end e = *end;

	if (!s->running)
		return;
	s->running = false;
	if (s->diverged && e.result == SEARCH_PASS)
		e.result = SEARCH_DIVERGED;
	if (s->diverged)
		s->stats.divergences++;
	if (s->step > s->stats.max_steps)
		s->stats.max_steps = s->step;
	/* An execution that ran into a bound says nothing about how long the others are. */
	if (s->rare > s->rare_max && !s->env.frozen)
		s->rare_max = s->rare;
	if (s->env.choices > s->env.max_choices && !s->env.frozen && (s->force || e.result != SEARCH_ABANDONED))
		s->env.max_choices = s->env.choices;
	s->env.novel = false;
	if (e.result == SEARCH_PASS || e.result == SEARCH_FAIL) {
		s->complete++;
		s->env.novel = seen_add(&s->classes, s->hb.hash);
		seen_add(&s->schedules, s->schedule);
	}
	if (e.result == SEARCH_PASS && s->nr_met)
		profile_ended(&s->profile, s->counted);
	s->nr_met = 0;
	s->unmet = false;
	if (!is_replay(s) && !s->env.frozen)
		profile_end(&s->profile);
	patience_end(&s->patience, !is_replay(s) && !s->env.frozen);
	if (s->force) {
		s->force = false;
		return;
	}
	s->stats.executions++;
	if (s->dividing)
		search_note_path(s);
	if (s->type->end)
		s->type->end(s->state, &e);
}

void search_get_stats(const struct search *s, struct search_stats *stats)
{
	*stats = s->stats;
	stats->distinct = s->classes.nr;
	stats->schedules = s->schedules.nr;
	stats->estimate_total = NAN;
	stats->strategy = s->type->info.name;
	/* Good, 1953: the chance of something new is the share of what was met only once. */
	stats->new_probability = s->complete && !s->classes.full ?
		(double)s->classes.once / (double)s->complete : NAN;
	if (s->type->stats)
		s->type->stats(s->state, stats);
	stats->incomplete |= s->numbers_asked;
}

void search_hashes(const struct search *s, uint64_t *class, uint64_t *schedule)
{
	*class = s->hb.hash;
	*schedule = s->schedule;
}

/* One more whenever a state changes its form. */
#define SAVE_VERSION	7

static void save_state(struct search *s, struct codec *c)
{
	codec_same(c, 0x6775677a61767331ull + SAVE_VERSION);
	codec_same(c, s->options);
	codec_same(c, s->type->size);
	codec_field(c, s->iteration);
	codec_field(c, s->complete);
	codec_field(c, s->stats);
	codec_field(c, s->env.max_choices);
	codec_field(c, s->env.max_enabled);
	codec_field(c, s->rare_max);
	codec_field(c, s->patience.seen);
	codec_field(c, s->patience.made);
	codec_field(c, s->patience.met);
	codec_field(c, s->patience.paid);
	save_profile(c, &s->profile);
	save_seen(c, &s->classes);
	save_seen(c, &s->schedules);
	if (s->type->save)
		s->type->save(s->state, c);
}

static uint64_t checksum(const unsigned char *p, size_t n)
{
	uint64_t h = n;

	for (size_t i = 0; i < n; i++)
		h = mix64(h + p[i]);
	return h;
}

long search_save(const struct search *s, void *buf, size_t len)
{
	struct codec c = { .write = true, .buf = buf, .len = len };
	uint64_t sum;

	/* parts are entered anew, by their numbers */
	if (s->running || s->dividing || s->env.frozen)
		return -EBUSY;
	/* Writing reads the state only. */
	save_state((struct search *)s, &c);
	sum = buf && !c.error ? checksum(buf, c.pos) : 0;
	codec_field(&c, sum);
	return c.error ? c.error : (long)c.pos;
}

int search_load(struct search *s, const void *buf, size_t len)
{
	struct codec c = { .buf = (unsigned char *)buf, .len = len };
	uint64_t sum;

	if (s->running)
		return -EBUSY;
	if (len < sizeof(sum))
		return -EBADMSG;
	c.len -= sizeof(sum);
	memcpy(&sum, c.buf + c.len, sizeof(sum));
	if (sum != checksum(buf, c.len))
		return -EBADMSG;
	save_state(s, &c);
	if (!c.error && c.pos != c.len)
		return -EBADMSG;
	return c.error;
}
