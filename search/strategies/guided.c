/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * guided.c - search guided by which operation sees whose effect
 *
 * After Wolff, Mathur et al.: Greybox fuzzing for concurrency testing (RFF,
 * ASPLOS 2024), with labels for coverage. What an execution shows is the set of
 * pairs (write, later access to the same object without another write
 * between); one that shows a new pair is kept, as the constraints that it ran
 * under. Executions to come take a kept one, add, drop or turn round a
 * constraint 'this access shall (not) see that write', and follow it as far as
 * waiting goes; the rest is partial order sampling (pos.c).
 *
 * Deviations: pairs count for locks and other objects too, for labels are of
 * operations and not of memory accesses; a kept execution becomes less likely
 * with each child that shows nothing new, instead of RFF's power schedule.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "lib/base/id_map.h"
#include "search/priorities.h"
#include "search/save.h"
#include "search/seen.h"
#include "search/strategies/strategies.h"

#define MAX_RULES	SEARCH_CONSTRAINTS	/* of one execution */
#define MAX_KEPT	512
#define MAX_EVENTS	4096	/* abstract operations that are told apart */

/* An abstract operation: one place in the code acting on one object. */
struct abstract {
	uint64_t key;
	uint64_t site, object;
	uint32_t op;
	uint32_t task;		/* one that made it */
	bool write;
	bool shared;		/* more than one task made it */
};

struct rule {
	uint64_t write, access;	/* keys */
	bool see;		/* the access shall see the write; else shall not */
	bool met;		/* in this execution */
};

struct kept {
	struct rule rules[MAX_RULES];
	uint32_t nr;
	uint32_t failed;	/* children without news since the last with some */
};

struct guided {
	struct search_env *env;
	struct seen pairs;
	bool news;		/* this execution showed a new pair */
	struct kept kept[MAX_KEPT];
	uint32_t nr_kept;
	struct kept now;	/* what this execution follows */
	uint32_t parent;

	struct abstract abstracts[MAX_EVENTS];	/* in order of first use */
	uint32_t nr_abstracts;
	struct id_map by_key;		/* of abstracts */

	/* of this execution */
	struct id_map written;		/* objects, in writers */
	uint64_t *writers;		/* the keys of the last writes */
	uint32_t room_writers;
	struct priorities prio;
};

static void guided_fini(void *state)
{
	struct guided *g = state;

	seen_fini(&g->pairs);
	id_map_free(&g->by_key);
	id_map_free(&g->written);
	free(g->writers);
	priorities_free(&g->prio);
}

static int guided_init(void *state, struct search_env *env, const int64_t *args)
{
	struct guided *g = state;

	(void)args;
	g->env = env;
	/* The first kept one has no constraints. */
	g->nr_kept = 1;
	return seen_init(&g->pairs, env->memory / 8);
}

/* The less a kept execution has led to, the less likely it is taken again. */
static uint32_t draw_parent(struct guided *g)
{
	uint32_t best = (uint32_t)rng_below(&g->env->rng, g->nr_kept);

	for (int tries = 0; tries < 3; tries++) {
		uint32_t other = (uint32_t)rng_below(&g->env->rng, g->nr_kept);

		if (g->kept[other].failed < g->kept[best].failed)
			best = other;
	}
	return best;
}

static const struct abstract *draw_abstract(struct guided *g)
{
	return &g->abstracts[rng_below(&g->env->rng, g->nr_abstracts)];
}

/* A write and an access to the same object that two tasks can make. */
static bool draw_rule(struct guided *g, struct rule *r)
{
	for (int tries = 0; tries < 64; tries++) {
		const struct abstract *w = draw_abstract(g), *a = draw_abstract(g);

		if (!w->write || w->object != a->object)
			continue;
		if (w->task == a->task && !w->shared && !a->shared)
			continue;
		*r = (struct rule){
			.write = w->key, .access = a->key,
			.see = rng_below(&g->env->rng, 4) != 0,
		};
		return true;
	}
	return false;
}

static void mutate(struct guided *g)
{
	struct kept *k = &g->now;
	uint32_t kind = (uint32_t)rng_below(&g->env->rng, 6), at;

	if (k->nr && kind < 2) {
		at = (uint32_t)rng_below(&g->env->rng, k->nr);
		if (kind)
			k->rules[at].see = !k->rules[at].see;
		else
			k->rules[at] = k->rules[--k->nr];
		return;
	}
	if (!g->nr_abstracts)
		return;
	at = k->nr < MAX_RULES ? k->nr : (uint32_t)rng_below(&g->env->rng, MAX_RULES);
	if (draw_rule(g, &k->rules[at]) && at == k->nr)
		k->nr++;
}

static int guided_begin(void *state, uint64_t iteration)
{
	struct guided *g = state;

	priorities_clear(&g->prio);
	id_map_clear(&g->written);
	g->parent = draw_parent(g);
	g->now = g->kept[g->parent];
	for (uint32_t i = 0; i < g->now.nr; i++)
		g->now.rules[i].met = false;
	/* Now and then without any change, and the first execution without constraints. */
	(void)iteration;
	if (rng_below(&g->env->rng, 8))
		mutate(g);
	return SEARCH_GO;
}

static uint64_t key_of(const struct search_cand *c, uint64_t object)
{
	uint64_t place = c->label.site ? c->label.site : ((uint64_t)c->task << 32) + 1;

	return mix64(mix64(place * 0x9e3779b97f4a7c15ull + c->label.op) + object) ?: 1;
}

static int learn(struct guided *g, uint64_t key, const struct search_cand *c, const struct access *a)
{
	const uint32_t *i = id_map_find(&g->by_key, key);

	if (i) {
		g->abstracts[*i].shared |= g->abstracts[*i].task != c->task;
		return 0;
	}
	if (g->nr_abstracts == MAX_EVENTS)
		return 0;
	if (!id_map_add(&g->by_key, key, g->nr_abstracts, NULL))
		return -ENOMEM;
	g->abstracts[g->nr_abstracts++] = (struct abstract){
		.key = key, .site = c->label.site, .object = a->object[0], .op = c->label.op, .task = c->task, .write = a->write,
	};
	return 0;
}

/* 0: it was not written. */
static uint64_t last_writer(const struct guided *g, uint64_t object)
{
	const uint32_t *i = id_map_find(&g->written, object);

	return i ? g->writers[*i] : 0;
}

static int set_writer(struct guided *g, uint64_t object, uint64_t key)
{
	const uint32_t *i;

	if (!ARRAY_RESERVE(g->writers, g->room_writers, g->written.nr + 1) ||
	    !(i = id_map_add(&g->written, object, (uint32_t)g->written.nr, NULL)))
		return -ENOMEM;
	g->writers[*i] = key;
	return 0;
}

static bool is_pending(const struct search_point *p, uint64_t key, uint64_t object)
{
	for (uint32_t i = 0; i < p->nr; i++)
		if (p->cand[i].label.object == object && key_of(&p->cand[i], object) == key)
			return true;
	return false;
}

/* The sum of what the constraints want: above 0 soon, below 0 not yet. */
static int wish(const struct guided *g, const struct search_point *p, const struct search_cand *c)
{
	struct access a = access_of(&c->label);
	uint64_t object = a.object[0], key, writer;
	int sum = 0;

	if (!g->now.nr || !object)
		return 0;
	key = key_of(c, object);
	writer = last_writer(g, object);
	for (uint32_t i = 0; i < g->now.nr; i++) {
		const struct rule *r = &g->now.rules[i];

		if (r->met)
			continue;
		if (r->access == key)
			sum += (writer == r->write) == r->see ? r->see : -1;
		else if (r->write == key && is_pending(p, r->access, object))
			sum += r->see ? 1 : -1;
		else if (r->see && a.write && writer == r->write)
			sum--;
	}
	return sum > 0 ? 1 : sum < 0 ? -1 : 0;
}

static uint32_t choose_cand(struct guided *g, const struct choice *c)
{
	uint32_t best = 0;
	int best_wish = 0;

	if (!g->now.nr)
		return priorities_highest(&g->prio, &g->env->rng, c);
	for (uint32_t i = 0; i < c->nr && c->nr > 1; i++) {
		const struct search_cand *cand = choice_cand(c, i);
		uint64_t *one = &g->prio.prio[cand->task];
		int w = wish(g, c->point, cand);

		if (!*one)
			*one = rng_next(&g->env->rng) | 1;
		if (!i || w > best_wish || (w == best_wish && *one > g->prio.prio[choice_cand(c, best)->task])) {
			best = i;
			best_wish = w;
		}
	}
	return best;
}

static int guided_pick(void *state, const struct choice *c)
{
	struct guided *g = state;
	const struct search_point *p = c->point;
	const struct search_cand *chosen;
	struct access a;
	uint64_t key, writer;
	uint32_t best;

	if (priorities_reserve(&g->prio, p))
		return -ENOMEM;
	best = choose_cand(g, c);
	chosen = choice_cand(c, best);
	a = access_of(&chosen->label);
	if (priorities_redraw(&g->prio, p, chosen->task, &a))
		return -ENOMEM;
	if (!a.object[0])
		return (int)best;
	key = key_of(chosen, a.object[0]);
	writer = last_writer(g, a.object[0]);
	for (uint32_t i = 0; i < g->now.nr; i++)
		g->now.rules[i].met |= g->now.rules[i].access == key &&
			(g->now.rules[i].write == writer) == g->now.rules[i].see;
	return (int)best;
}

/* Every execution shows pairs, whatever strategy chooses in it. */
static int guided_observe(void *state, const struct search_point *p, uint32_t i)
{
	const struct search_cand *c = &p->cand[i];
	struct access a = access_of(&c->label);
	struct guided *g = state;
	uint64_t key, writer;

	if (!p->step) {
		id_map_clear(&g->written);
		g->news = false;
	}
	if (!a.object[0])
		return 0;
	key = key_of(c, a.object[0]);
	writer = last_writer(g, a.object[0]);
	if (!g->env->frozen && learn(g, key, c, &a))
		return -ENOMEM;
	g->news |= !g->env->frozen && seen_add(&g->pairs, mix64(writer) + key);
	return a.write ? set_writer(g, a.object[0], key) : 0;
}

/* Without constraints it is pos.c, where no more than one point is known without the rule. */
static uint64_t guided_promise(const void *state, const struct search_point *point, uint32_t task,
			       enum search_until *until)
{
	const struct guided *g = state;

	*until = SEARCH_UNTIL_CHANGE;
	return !g->now.nr && priorities_next(&g->prio, &g->env->rng, point) == task;
}

/* false: it is not at a place in the code. */
static bool operation_of(const struct guided *g, uint64_t key, struct search_operation *o)
{
	const uint32_t *i = id_map_find(&g->by_key, key);
	const struct abstract *a = i ? &g->abstracts[*i] : NULL;

	if (!a || !a->site)
		return false;
	*o = (struct search_operation){ .site = a->site, .object = a->object, .op = a->op };
	return true;
}

static void guided_rule(const void *state, struct search_rule *r)
{
	const struct guided *g = state;

	for (uint32_t i = 0; i < g->now.nr; i++) {
		const struct rule *rule = &g->now.rules[i];
		struct search_constraint *c = &r->constraints[r->nr_constraints];

		if (rule->met)
			continue;
		if (!operation_of(g, rule->write, &c->write) || !operation_of(g, rule->access, &c->access))
			return;
		c->see = rule->see;
		c->wrote = last_writer(g, c->write.object) == rule->write;
		r->nr_constraints++;
	}
	r->by = SEARCH_BY_PENDING;
}

static uint64_t guided_weight(const void *state, uint32_t task)
{
	const struct guided *g = state;

	return priorities_of(&g->prio, task);
}

static void guided_end(void *state, const struct search_end *end)
{
	struct guided *g = state;

	(void)end;
	if (g->env->frozen)
		return;
	if (!g->news) {
		g->kept[g->parent].failed++;
		return;
	}
	g->kept[g->parent].failed = 0;
	g->now.failed = 0;
	if (g->nr_kept < MAX_KEPT)
		g->kept[g->nr_kept++] = g->now;
	else
		g->kept[1 + g->parent % (MAX_KEPT - 1)] = g->now;
}

static void guided_save(void *state, struct codec *c)
{
	struct guided *g = state;

	save_seen(c, &g->pairs);
	codec_field(c, g->nr_kept);
	codec_field(c, g->nr_abstracts);
	if (!c->error && (!g->nr_kept || g->nr_kept > MAX_KEPT || g->nr_abstracts > MAX_EVENTS))
		c->error = -EBADMSG;
	if (c->error)
		return;
	codec_bytes(c, g->kept, g->nr_kept * sizeof(*g->kept));
	codec_bytes(c, g->abstracts, g->nr_abstracts * sizeof(*g->abstracts));
	for (uint32_t i = 0; !c->write && !c->error && i < g->nr_abstracts; i++)
		if (!id_map_add(&g->by_key, g->abstracts[i].key, i, NULL))
			c->error = -ENOMEM;
}

const struct strategy_type strategy_guided = {
	.info = {
		.name = "guided",
		.line = "aims at operations that see effects not seen before: rare orders, long searches",
		.params = "",
		.guarantee = "none of its own; what it does not aim at is chosen as in pos",
	},
	.flags = STRATEGY_EVERY_STEP | STRATEGY_FAIR,
	.size = sizeof(struct guided),
	.init = guided_init,
	.begin = guided_begin,
	.pick = guided_pick,
	.observe = guided_observe,
	.promise = guided_promise,
	.rule = guided_rule,
	.weight = guided_weight,
	.end = guided_end,
	.fini = guided_fini,
	.save = guided_save,
};
