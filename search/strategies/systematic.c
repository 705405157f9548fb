/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * systematic.c - depth-first search of all schedules, of those with few
 * preemptions, or of those with few delays
 *
 * Musuvathi, Qadeer: Iterative context bounding for systematic testing of
 * multithreaded programs (PLDI 2007); Emmi, Qadeer, Rakamaric: Delay-bounded
 * scheduling (POPL 2011); caching: CHESS (OSDI 2008, 4.4.2) with the rule of
 * cache.h.
 *
 * Only the stack of choices of the last execution is kept for the next one, so
 * memory grows with depth and not with the number of executions. At a point the
 * options stand in the order of the base scheduler: the last task if it may go
 * on without having yielded, then by number, round robin. Taking the option at
 * position j costs
 *
 *	dfs		0
 *	preemption	1 if the last task could go on and j > 0, else 0
 *	delay		j: that many tasks, whose turn it was, are skipped
 *
 * and bounds 0, 1, 2, ... are searched one after the other, each from the
 * start: the executions of smaller bounds come again, which costs a fraction
 * because the last bound dominates, and saves a queue of all prefixes.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "search/cache.h"
#include "search/diverge.h"
#include "search/rules.h"
#include "search/save.h"
#include "search/strategies/strategies.h"

/*
 * Longer executions are searched up to here only: a choice takes about 100 bytes with its options.
 * 200,000 * 100 = 20 MB.
 */
#define MAX_NODES	200000

enum metric { METRIC_NONE, METRIC_PREEMPTION, METRIC_DELAY };

struct option {
	uint32_t task;		/* or value */
	uint64_t child;		/* state after it, for the cache; 0: not known before */
};

struct node {
	uint64_t print;		/* of the point: must be the same in every replay */
	size_t options;		/* index into systematic.options */
	uint32_t nr;
	uint32_t cur;		/* the option taken */
	uint32_t cost;		/* before this point */
	bool free;		/* leaving the last task costs nothing here */
	bool value;		/* a choice of a value: costs nothing */
};

struct systematic {
	struct search_env *env;
	enum metric metric;
	bool use_cache;
	struct cache cache;

	struct node *nodes;
	uint64_t nr_nodes, room_nodes;
	struct option *options;
	uint64_t nr_options, room_options;

	size_t prefix;		/* nodes to replay in this execution */
	size_t depth;		/* choices met so far in this execution */
	uint32_t cost;		/* of the current execution so far */
	bool redundant;		/* the rest of it is known */
	bool cut;		/* an option of this round was over the bound */
	bool open;		/* this round has begun */
	bool incomplete;
	struct diverge diverge;

	/* confine(): options of the first choices, which are never left */
	uint32_t *pinned, nr_pinned;
	bool confined;		/* there is one round, with that bound */
	bool measures;		/* random options behind the pinned ones, and no other execution after it */

	uint32_t bound, max_bound, bound_done;
	uint64_t round;		/* executions of this round */
	uint64_t before;	/* executions of earlier rounds */
};

static int init(struct systematic *s, struct search_env *env, enum metric metric, bool cached)
{
	if (env->rules & RULES_HOLD) {
		strategy_error(env, "rules that hold tasks make a systematic search leave schedules out; "
			       "use random, pct, pos, surw, guided or portfolio");
		return -EINVAL;
	}
	if (env->rules && cached) {
		strategy_error(env, "cache=yes refuses rules: which switches they allow depends on more than "
			       "the state");
		return -EINVAL;
	}
	s->env = env;
	s->metric = metric;
	s->use_cache = cached;
	s->bound_done = UINT32_MAX;
	return cached ? cache_init(&s->cache, env->memory) : 0;
}

static int bounded_init(void *state, struct search_env *env, const int64_t *args,
			enum metric metric)
{
	struct systematic *s = state;

	s->max_bound = env->preemptions >= 0 ? (uint32_t)env->preemptions : (uint32_t)args[0];
	return init(s, env, metric, args[1]);
}

static int preemption_init(void *state, struct search_env *env, const int64_t *args)
{
	return bounded_init(state, env, args, METRIC_PREEMPTION);
}

static int delay_init(void *state, struct search_env *env, const int64_t *args)
{
	if (env->preemptions >= 0) {
		strategy_error(env, "strategy delay counts delays, not preemptions; use delay:bound=%d",
			       env->preemptions);
		return -EINVAL;
	}
	return bounded_init(state, env, args, METRIC_DELAY);
}

static int dfs_init(void *state, struct search_env *env, const int64_t *args)
{
	if (env->preemptions >= 0) {
		strategy_error(env, "strategy dfs has no preemption bound; use preemption:bound=%d",
			       env->preemptions);
		return -EINVAL;
	}
	return init(state, env, METRIC_NONE, args[0]);
}

static void fini(void *state)
{
	struct systematic *s = state;

	cache_fini(&s->cache);
	free(s->nodes);
	free(s->options);
	free(s->pinned);
}

static uint32_t option_cost(const struct systematic *s, const struct node *n, uint32_t pos)
{
	if (n->value || s->metric == METRIC_NONE)
		return 0;
	if (s->metric == METRIC_DELAY)
		return pos;
	return pos && !n->free;
}

static uint64_t cache_state(const struct systematic *s, uint64_t hash, uint64_t fair_hash,
			    uint32_t last)
{
	uint64_t state = hash ^ mix64(fair_hash);

	/* Which tasks a delay skips depends on the last one, whatever it can do. */
	return s->metric == METRIC_DELAY ? mix64(state + last + 1) : state;
}

/* Two last tasks make a difference for preemptions only. */
static bool cache_free(const struct systematic *s, const struct choice *c)
{
	return s->metric != METRIC_PREEMPTION || c->free;
}

static void truncate_nodes(struct systematic *s, size_t nr)
{
	if (nr < s->nr_nodes) {
		s->nr_options = s->nodes[nr].options;
		s->nr_nodes = nr;
	}
}

/* The deepest option not taken yet that the bound and the cache allow. */
static bool advance(struct systematic *s)
{
	while (s->nr_nodes > s->nr_pinned) {
		struct node *n = &s->nodes[s->nr_nodes - 1];

		while (++n->cur < n->nr) {
			const struct option *o = &s->options[n->options + n->cur];
			uint32_t cost = n->cost + option_cost(s, n, n->cur);

			if (s->metric != METRIC_NONE && cost > s->bound) {
				s->cut = true;
				continue;
			}
			if (o->child && cache_dominated(&s->cache, o->child, o->task, cost))
				continue;
			return true;
		}
		truncate_nodes(s, s->nr_nodes - 1);
	}
	truncate_nodes(s, 0);
	return false;
}

static int begin(void *state, uint64_t iteration)
{
	struct systematic *s = state;

	(void)iteration;
	if (s->open && !s->nr_nodes) {
		s->bound_done = s->bound;
		if (s->confined || !s->cut || s->bound >= s->max_bound)
			return SEARCH_EXHAUSTED;
		s->bound++;
		s->before += s->round;
		s->round = 0;
		if (s->use_cache)
			cache_clear(&s->cache);
	}
	if (!s->nr_nodes)
		s->cut = false;
	s->open = true;
	s->prefix = s->nr_nodes;
	s->depth = 0;
	s->cost = 0;
	s->redundant = false;
	diverge_begin(&s->diverge);
	return SEARCH_GO;
}

/* The position in c->allowed of the option at position pos of the base scheduler's order. */
static uint32_t rotate(const struct choice *c, uint32_t pos)
{
	uint32_t first = 0;

	if (!c->free && !pos)
		return c->last;
	if (c->point->last != SEARCH_NO_TASK)
		first = choice_from(c, c->point->last + 1);
	/* The last task stands in front, or else where round robin comes back to it. */
	pos -= !c->free;
	first = (first + pos) % c->nr;
	return first;
}

static uint64_t fingerprint(const struct choice *c)
{
	uint64_t h = mix64(c->point->step ^ (uint64_t)c->point->last << 32);

	for (uint32_t i = 0; i < c->nr; i++)
		h = mix64(h + ((uint64_t)choice_cand(c, i)->task << 16 |
			       choice_cand(c, i)->label.op));
	return h + c->free;
}

static struct node *push(struct systematic *s, uint64_t print, uint32_t nr, bool value, bool free)
{
	struct node *n;

	if (!ARRAY_RESERVE(s->nodes, s->room_nodes, s->nr_nodes + 1) ||
	    !ARRAY_RESERVE(s->options, s->room_options, s->nr_options + nr))
		return NULL;
	n = &s->nodes[s->nr_nodes++];
	*n = (struct node){
		.print = print, .options = s->nr_options, .nr = nr, .cost = s->cost,
		.free = free, .value = value,
	};
	s->nr_options += nr;
	return n;
}

/* How many of a choice's options that bound allows: the first ones, as no option costs less than the one before it. */
static uint32_t nr_allowed(const struct systematic *s, const struct node *n, uint32_t bound)
{
	uint32_t left = bound - n->cost;

	if (s->metric == METRIC_NONE)
		return n->nr;
	if (n->cost > bound)
		return 0;
	if (n->value)
		return n->nr;
	if (s->metric == METRIC_DELAY)
		return left < n->nr ? left + 1 : n->nr;
	return left || n->free ? n->nr : 1;
}

/* The option that a new choice begins with. False: it has not got the one that is pinned. */
static bool first_option(struct systematic *s, struct node *n)
{
	uint64_t at = s->nr_nodes - 1;

	if (at < s->nr_pinned)
		n->cur = s->pinned[at];
	else if (s->measures)
		n->cur = (uint32_t)rng_below(&s->env->rng, nr_allowed(s, n, s->max_bound));
	if (n->cur < n->nr) {
		s->cost += option_cost(s, n, n->cur);
		return true;
	}
	diverge_note(&s->diverge, at, n->print);
	s->diverge.adopted = false;
	truncate_nodes(s, at);
	return false;
}

static int record(struct systematic *s, const struct choice *c, uint64_t print)
{
	const struct hb *hb = s->env->hb;
	struct node *n = push(s, print, c->nr, false, c->free);

	if (!n)
		return -ENOMEM;
	if (!first_option(s, n))
		return -ESTALE;
	/* with many tasks most of a step would go into what is not needed: places one by one, and flags without the cache */
	for (uint32_t i = 0, at = rotate(c, 0); i < c->nr; i++) {
		const struct search_cand *cand = choice_cand(c, at);
		uint64_t child = 0;

		/* Known before the step only if the label is exact and fairness stays out of it. */
		if (s->use_cache && !c->fair_hash && cand->label.op != ZUG_OP_CHOICE &&
		    !((cand->label.flags | zug_op_flags(cand->label.op)) & (ZUG_L_COARSE | ZUG_L_YIELD)))
			child = cache_state(s, hb_peek(hb, cand->task, &cand->label), 0, cand->task);
		s->options[n->options + i] = (struct option){ cand->task, child };
		at = i || c->free ? (at + 1) % c->nr : rotate(c, 1);
	}
	s->depth = s->nr_nodes;
	return (int)rotate(c, n->cur);
}

/* True when the rest of the execution need not be recorded. */
static bool known_state(struct systematic *s, const struct choice *c)
{
	uint32_t last = c->point->last;
	uint64_t state;

	if (!s->use_cache || s->measures)
		return false;
	state = cache_state(s, s->env->hb->hash, c->fair_hash, last);
	if (cache_dominated(&s->cache, state, last, s->cost))
		return true;
	cache_insert(&s->cache, state, last, s->cost, cache_free(s, c));
	return false;
}

/* -ESTALE the first time; then true when the execution is to be recorded from here. */
static int leave_prefix(struct systematic *s, uint64_t print)
{
	if (!s->diverge.now) {
		if (diverge_note(&s->diverge, s->depth, print)) {
			truncate_nodes(s, s->depth);
			s->prefix = s->depth;
			/*
			 * States that were met under the old behaviour say nothing about the new
			 * one.
			 */
			if (s->use_cache)
				cache_clear(&s->cache);
		}
		return -ESTALE;
	}
	return 0;
}

static int replay_node(struct systematic *s, const struct choice *c)
{
	const struct node *n = &s->nodes[s->depth];
	uint32_t pos = rotate(c, n->cur);

	s->cost += option_cost(s, n, n->cur);
	s->depth++;
	return (int)pos;
}

static int pick(void *state, const struct choice *c)
{
	struct systematic *s = state;
	bool lost = s->diverge.now && !s->diverge.adopted;
	uint64_t print;

	if (s->redundant || lost)
		return (int)rotate(c, 0);
	if (s->depth >= s->prefix && c->point->step && known_state(s, c)) {
		s->redundant = true;
		return (int)rotate(c, 0);
	}
	if (c->nr == 1)
		return 0;
	print = fingerprint(c);
	if (s->depth == MAX_NODES) {
		s->incomplete = true;
		return (int)rotate(c, 0);
	}
	if (s->depth >= s->prefix)
		return record(s, c, print);
	if (s->nodes[s->depth].print != print || s->nodes[s->depth].nr != c->nr ||
	    s->nodes[s->depth].value)
		return leave_prefix(s, print);
	return replay_node(s, c);
}

/*
 * The choices of the prefix, and behind it the last task as long as it can go on: as it does in an
 * execution that has left its prefix.
 */
static uint64_t promise(const void *state, const struct search_point *point, uint32_t task,
			enum search_until *until)
{
	const struct systematic *s = state;
	size_t at = s->depth;

	(void)point;
	*until = SEARCH_UNTIL_DONE;
	if (s->redundant || s->diverge.now)
		return UINT64_MAX;
	for (; at < s->prefix; at++) {
		const struct node *n = &s->nodes[at];

		if (n->value || s->options[n->options + n->cur].task != task)
			return at - s->depth;
	}
	return s->measures || s->nr_nodes < s->nr_pinned ? at - s->depth : UINT64_MAX;
}

/* The choices of the prefix, as far as they are tasks. */
static uint32_t ahead(const void *state, uint64_t nth)
{
	const struct systematic *s = state;

	if (s->redundant || s->diverge.now || s->depth >= s->prefix || nth >= s->prefix - s->depth)
		return SEARCH_NO_TASK;
	for (size_t at = s->depth; at <= s->depth + nth; at++)
		if (s->nodes[at].value)
			return SEARCH_NO_TASK;
	return s->options[s->nodes[s->depth + nth].options + s->nodes[s->depth + nth].cur].task;
}

static void rule(const void *state, struct search_rule *r)
{
	const struct systematic *s = state;

	r->by = SEARCH_BY_CHOICES;
	r->base = s->redundant || s->diverge.now || !(s->measures || s->nr_nodes < s->nr_pinned);
}

static int choose(void *state, uint32_t nr)
{
	struct systematic *s = state;
	uint64_t print = mix64(nr + 0x76616c7565ull);
	struct node *n;

	if (s->redundant || (s->diverge.now && !s->diverge.adopted) || nr == 1 ||
	    s->depth == MAX_NODES)
		return 0;
	if (s->depth < s->prefix) {
		n = &s->nodes[s->depth];
		if (n->print == print && n->value) {
			s->depth++;
			return (int)n->cur;
		}
		/* A value cannot be asked for twice, so there is no -ESTALE here. */
		leave_prefix(s, print);
		if (!s->diverge.adopted)
			return 0;
	}
	n = push(s, print, nr, true, true);
	if (!n)
		return -ENOMEM;
	if (!first_option(s, n))
		return 0;
	memset(&s->options[n->options], 0, nr * sizeof(*s->options));
	s->depth = s->nr_nodes;
	return (int)n->cur;
}

static void end(void *state, const struct search_end *e)
{
	struct systematic *s = state;

	s->round++;
	if (s->measures)
		return;
	if (!s->diverge.now &&
	    (s->depth < s->prefix || s->nr_nodes < s->nr_pinned || e->result == SEARCH_DIVERGED))
		diverge_note(&s->diverge, s->depth, 0);
	else if (e->result == SEARCH_ABANDONED && !s->redundant)
		s->incomplete = true;
	switch (diverge_end(&s->diverge)) {
	case DIVERGE_RETRY:
		return;
	case DIVERGE_GIVE_UP:
		truncate_nodes(s, s->diverge.depth);
		break;
	case DIVERGE_NONE:
		break;
	}
	advance(s);
}

/*
 * Knuth, Estimating the efficiency of backtrack programs (1975), turned round:
 * if every subtree were as large as its siblings, the share of the tree that
 * lies before the current path is known.
 */
static double share_done(const struct systematic *s)
{
	double share = 0, width = 1;

	for (size_t i = s->nr_pinned; i < s->nr_nodes; i++) {
		const struct node *n = &s->nodes[i];
		uint32_t allowed = nr_allowed(s, n, s->bound);

		width /= allowed;
		share += (n->cur < allowed ? n->cur : allowed) * width;
	}
	return share;
}

static void stats(const void *state, struct search_stats *stats)
{
	const struct systematic *s = state;
	double share = s->nr_nodes ? share_done(s) : s->round ? 1 : 0;

	if (s->metric != METRIC_NONE) {
		stats->bound = s->bound;
		stats->bound_done = s->bound_done;
		stats->unbounded = s->bound_done == s->bound && !s->cut;
		stats->delays = s->metric == METRIC_DELAY;
	}
	if (share > 0)
		stats->estimate_total = (double)s->before + (double)s->round / share;
	stats->incomplete |= s->incomplete || s->diverge.given_up;
}

/* ---- parts of the tree ---- */

static int confine(void *state, const struct confine *c)
{
	struct systematic *s = state;
	int ret = confine_pin(c, &s->pinned, &s->nr_pinned);

	if (ret)
		return ret;
	s->measures = c->measures;
	s->confined = true;
	s->bound = c->measures ? s->max_bound : c->bound;
	s->bound_done = UINT32_MAX;
	truncate_nodes(s, 0);
	s->open = s->cut = s->incomplete = false;
	s->round = s->before = 0;
	s->diverge = (struct diverge){ 0 };
	if (s->use_cache)
		cache_clear(&s->cache);
	return 0;
}

static uint64_t branches(const void *state, struct branch *path, uint64_t max)
{
	const struct systematic *s = state;

	for (uint64_t i = 0; i < s->nr_nodes && i < max; i++) {
		const struct node *n = &s->nodes[i];

		path[i] = (struct branch){
			.nr = n->nr, .allowed = nr_allowed(s, n, s->max_bound), .taken = n->cur, .cost = n->cost,
			.step = option_cost(s, n, 1), .grows = s->metric == METRIC_DELAY,
		};
	}
	return s->nr_nodes;
}

static uint32_t max_bound(const void *state)
{
	return ((const struct systematic *)state)->max_bound;
}

static void save(void *state, struct codec *c)
{
	struct systematic *s = state;

	codec_array(c, &s->nodes, &s->nr_nodes, &s->room_nodes, sizeof(*s->nodes));
	codec_array(c, &s->options, &s->nr_options, &s->room_options, sizeof(*s->options));
	codec_field(c, s->cut);
	codec_field(c, s->open);
	codec_field(c, s->incomplete);
	codec_field(c, s->bound);
	codec_field(c, s->bound_done);
	codec_field(c, s->round);
	codec_field(c, s->before);
	save_diverge(c, &s->diverge);
}

#define CACHE_PARAM(P) \
	P(cache, 0, 0, 1, "skip states that were met before; only when every variable that " \
	  "tasks race for is labelled (--watch)")
#define PREEMPTION_PARAMS(P) \
	P(bound, 2, 0, 65000, "most preemptions; 0, 1, 2, ... are searched in turn") \
	CACHE_PARAM(P)
#define DELAY_PARAMS(P) \
	P(bound, 2, 0, 65000, "most delays; 0, 1, 2, ... are searched in turn") \
	CACHE_PARAM(P)

static const struct strategy_param preemption_params[] = {
	PREEMPTION_PARAMS(STRATEGY_PARAM_ENTRY) { 0 }
};
static const struct strategy_param delay_params[] = { DELAY_PARAMS(STRATEGY_PARAM_ENTRY) { 0 } };
static const struct strategy_param dfs_params[] = { CACHE_PARAM(STRATEGY_PARAM_ENTRY) { 0 } };

static const struct strategy_refusal systematic_refused[] = {
	{ "sleep", "sleep sets lose bugs under a bound, where an earlier subtree may have been "
		   "cut; for reduction without a bound use dpor" },
	{ NULL, NULL }
};

/* The members that the three have in common. */
#define SYSTEMATIC \
	.refused = systematic_refused, .flags = STRATEGY_EXHAUSTIVE | STRATEGY_EVERY_STEP, \
	.size = sizeof(struct systematic), .begin = begin, .pick = pick, .end = end, .fini = fini, \
	.promise = promise, .ahead = ahead, .rule = rule, .choose = choose, .stats = stats, .confine = confine, .branches = branches, \
	.max_bound = max_bound, .save = save

const struct strategy_type strategy_preemption = {
	.info = {
		.name = "preemption",
		.line = "all schedules with 0, then 1, then 2, ... preemptions: small tests, certainty",
		.params = PREEMPTION_PARAMS(STRATEGY_PARAM_TEXT),
		.guarantee = "when a bound is done, no bug with so many preemptions is left",
	},
	.params = preemption_params,
	.init = preemption_init,
	SYSTEMATIC,
};

const struct strategy_type strategy_delay = {
	.info = {
		.name = "delay",
		.line = "all schedules with 0, then 1, then 2, ... delays: fewer than preemptions, many tasks",
		.params = DELAY_PARAMS(STRATEGY_PARAM_TEXT),
		.guarantee = "when a bound is done, no bug with so many delays is left",
	},
	.params = delay_params,
	.init = delay_init,
	SYSTEMATIC,
};

const struct strategy_type strategy_dfs = {
	.info = {
		.name = "dfs",
		.line = "all schedules, depth first: very small tests",
		.params = CACHE_PARAM(STRATEGY_PARAM_TEXT),
		.guarantee = "when it ends, no bug is left",
	},
	.params = dfs_params,
	.init = dfs_init,
	SYSTEMATIC,
};
