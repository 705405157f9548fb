/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * surw.c - uniform random walk, and its selective form
 *
 * Zhao, Wolff, Mathur, Roychoudhury: Selectively uniform concurrency testing
 * (ASPLOS 2025). A random walk favours schedules with few choices. URW picks a
 * task with a chance proportional to the steps that it (and the tasks it will
 * create) has left, which makes every interleaving equally likely when counts
 * are exact and no task blocks. SURW does so for a few interesting events only,
 * here in each execution those on one object, drawn by how often it is used:
 * a task is chosen in advance by weight to make the next interesting event, and
 * all others are held before theirs; everything else is made in random order.
 *
 * Deviations: counts are means over the executions so far, of all strategies
 * (profile.h), instead of one profiling run (a first execution is a random walk);
 * an object counts only if two tasks use it and one writes, by those of its events
 * that are more than a process' own affair (profile_telling()); where there is none
 * every event counts. Where most steps are those of packages that are compiled into the program (profile_drowns_own()),
 * most executions have the events that the program's own code makes, on whatever object, as the interesting ones. Then the task
 * that is chosen goes on up to its next one, and through it: in random order the many steps before that would all be switches.
 * Which tasks make such events is known from the executions before: in a quarter of these executions they come first, in half of
 * them the others, such as a server's clients, and in a quarter that is drawn each time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "search/profile.h"
#include "search/strategies/strategies.h"

struct surw_task {
	uint64_t left;		/* interesting events to come, in 1/PROFILE_SCALE */
	uint64_t total;		/* the same at its beginning, with the tasks it will create */
	uint64_t prio;		/* of its pending operation; 0: to be drawn */
	bool born;
	bool held;
};

#define MAX_PROMISE	100	/* steps that are looked ahead */

struct surw {
	struct search_env *env;
	bool selective;
	struct surw_task *tasks;
	uint32_t nr_tasks;
	bool all;		/* every event is interesting */
	uint64_t object;	/* or those on this one */
	enum { OWN_FIRST, OTHERS_FIRST, ANY_FIRST } first;	/* PROFILE_OWN: who goes on where both can */
	uint32_t intended;	/* who makes the next interesting event, or SEARCH_NO_TASK */
	uint32_t nr_held;	/* tasks that are held */
};

static int urw_init(void *state, struct search_env *env, const int64_t *args)
{
	struct surw *s = state;

	(void)args;
	s->env = env;
	return 0;
}

static int surw_init(void *state, struct search_env *env, const int64_t *args)
{
	struct surw *s = state;

	s->selective = true;
	return urw_init(state, env, args);
}

static void fini(void *state)
{
	struct surw *s = state;

	free(s->tasks);
}

static void draw_object(struct surw *s)
{
	static const uint8_t firsts[] = { OTHERS_FIRST, OTHERS_FIRST, OWN_FIRST, ANY_FIRST };
	const struct profile *p = s->env->profile;
	uint64_t sum = 0, at;

	s->all = true;
	if (s->selective && profile_drowns_own(p) && rng_below(&s->env->rng, 4)) {
		s->all = false;
		s->object = PROFILE_OWN;
		s->first = firsts[rng_below(&s->env->rng, 4)];
		return;
	}
	for (uint32_t i = 0; i < p->nr_objects; i++)
		sum += profile_telling(&p->objects[i]);
	if (!s->selective || !sum)
		return;
	at = rng_below(&s->env->rng, sum);
	for (uint32_t i = 0; s->all; i++) {
		if (at < profile_telling(&p->objects[i])) {
			s->all = false;
			s->object = p->objects[i].object;
		}
		at -= profile_telling(&p->objects[i]);
	}
}

/* Interesting events of each task and of those it creates, as means. */
static void weigh(struct surw *s)
{
	const struct profile *p = s->env->profile;
	const uint32_t *at = s->all ? NULL : id_map_find(&p->index, s->object);

	for (uint32_t n = at ? p->objects[*at].first : UINT32_MAX; n != UINT32_MAX; n = p->pairs[n].next)
		s->tasks[p->pairs[n].task].total = profile_weight_on(p, &p->objects[*at], &p->pairs[n]);
	for (uint32_t t = 0; s->all && t < p->nr_tasks; t++)
		s->tasks[t].total = profile_weight(p, t);
	/* Children have higher numbers than their parents. */
	for (uint32_t t = p->nr_tasks; t-- > 0;)
		if (p->parent[t] != SEARCH_NO_TASK)
			s->tasks[p->parent[t]].total += s->tasks[t].total;
}

static int begin(void *state, uint64_t iteration)
{
	struct surw *s = state;

	(void)iteration;
	if (!ARRAY_RESERVE_ZERO(s->tasks, s->nr_tasks, s->env->profile->nr_tasks))
		return -ENOMEM;
	if (s->nr_tasks)
		memset(s->tasks, 0, s->nr_tasks * sizeof(*s->tasks));
	s->intended = SEARCH_NO_TASK;
	s->nr_held = 0;
	draw_object(s);
	weigh(s);
	return SEARCH_GO;
}

static bool is_born(const struct surw *s, uint32_t task)
{
	return task < s->nr_tasks && s->tasks[task].born;
}

/* A new task takes its share from the one that created it. */
static int meet_one(struct surw *s, const struct search_cand *c)
{
	struct surw_task *t, *parent;

	if (is_born(s, c->task))
		return 0;
	if (!ARRAY_RESERVE_ZERO(s->tasks, s->nr_tasks, c->task + 1))
		return -ENOMEM;
	t = &s->tasks[c->task];
	t->born = true;
	t->left = t->total;
	if (c->parent >= s->nr_tasks)
		return 0;
	parent = &s->tasks[c->parent];
	if (c->parent == s->intended && parent->left &&
	    rng_below(&s->env->rng, parent->left) < t->left)
		s->intended = c->task;
	parent->left -= t->left < parent->left ? t->left : parent->left;
	return 0;
}

/* All new ones, in the order of their numbers. */
static int meet(struct surw *s, const struct search_point *p)
{
	uint32_t begin = 0, end = p->nr, nr = 0, at;
	int ret = 0;

	for (uint32_t i = 0; p->changed && i < p->nr_changed; i++) {
		at = search_cand_of(p, p->changed[i]);
		if (at != UINT32_MAX && !is_born(s, p->changed[i])) {
			begin = at;
			nr++;
		}
	}
	if (p->changed && nr < 2)
		end = begin + nr;
	else
		begin = 0;
	for (uint32_t i = begin; i < end && !ret; i++)
		ret = meet_one(s, &p->cand[i]);
	return ret;
}

/* One event at least, where the counts say that there is none: it is there. */
static uint64_t weight(const struct surw *s, const struct search_cand *c)
{
	uint64_t left = s->tasks[c->task].left;

	return left ? left : s->all ? PROFILE_SCALE : 0;
}

static uint32_t draw_by_weight(struct surw *s, const struct choice *c)
{
	uint64_t sum = 0, at;

	for (uint32_t i = 0; i < c->nr; i++)
		sum += weight(s, choice_cand(c, i));
	if (!sum)
		return CHOICE_NONE;
	at = rng_below(&s->env->rng, sum);
	for (uint32_t i = 0;; i++) {
		uint64_t w = weight(s, choice_cand(c, i));

		if (at < w)
			return i;
		at -= w;
	}
}

static bool interesting(const struct surw *s, const struct search_cand *c)
{
	struct access a = access_of(&c->label);

	if (s->object == PROFILE_OWN)
		return c->label.flags & ZUG_L_OWN;
	return a.object[0] == s->object || a.object[1] == s->object;
}

static void release_all(struct surw *s, const struct choice *c)
{
	for (uint32_t i = 0; s->nr_held && i < c->point->nr; i++)
		s->tasks[c->point->cand[i].task].held = false;
	s->nr_held = 0;
	s->intended = SEARCH_NO_TASK;
}

/* The free task whose pending operation has the highest priority. */
static uint32_t draw_free(struct surw *s, const struct choice *c)
{
	uint32_t best = CHOICE_NONE;
	uint64_t highest = 0;

	for (uint32_t i = 0; i < c->nr; i++) {
		struct surw_task *t = &s->tasks[choice_cand(c, i)->task];

		if (t->held)
			continue;
		if (!t->prio)
			t->prio = rng_next(&s->env->rng) | 1;
		if (t->prio > highest) {
			highest = t->prio;
			best = i;
		}
	}
	return best;
}

static bool may_come_next(const struct surw *s, const struct search_cand *c)
{
	return c->task == s->intended || !interesting(s, c);
}

/* The free task with the highest priority that may come next; those before it are held. CHOICE_NONE: all are. */
static uint32_t hold_others(struct surw *s, const struct choice *c)
{
	uint32_t best = CHOICE_NONE;
	uint64_t highest = 0;

	for (uint32_t i = 0; i < c->nr; i++) {
		const struct surw_task *t = &s->tasks[choice_cand(c, i)->task];

		if (t->held || t->prio <= highest || !may_come_next(s, choice_cand(c, i)))
			continue;
		best = i;
		highest = t->prio;
	}
	for (uint32_t i = 0; i < c->nr; i++) {
		struct surw_task *t = &s->tasks[choice_cand(c, i)->task];

		if (t->held || t->prio < highest || (t->prio == highest && i >= best) || may_come_next(s, choice_cand(c, i)))
			continue;
		t->held = true;
		s->nr_held++;
	}
	return best;
}

static uint32_t pick_selectively(struct surw *s, const struct choice *c)
{
	for (;;) {
		uint32_t i = draw_free(s, c), w;

		if (i == CHOICE_NONE) {
			/* The task that was meant to come next cannot: start again. */
			release_all(s, c);
			continue;
		}
		if (!interesting(s, choice_cand(c, i)))
			return i;
		if (s->intended == SEARCH_NO_TASK) {
			w = draw_by_weight(s, c);
			s->intended = choice_cand(c, w == CHOICE_NONE ? i : w)->task;
		}
		i = hold_others(s, c);
		if (i != CHOICE_NONE)
			return i;
	}
}

/* One of the tasks that make no event of the program's own, such as the clients of a server; CHOICE_NONE: there is none. */
static uint32_t draw_other(struct surw *s, const struct choice *c)
{
	uint32_t others = 0, at;

	for (uint32_t i = 0; i < c->nr; i++)
		others += !weight(s, choice_cand(c, i));
	at = others ? (uint32_t)rng_below(&s->env->rng, others) : 0;
	for (uint32_t i = 0; others && i < c->nr; i++)
		if (!weight(s, choice_cand(c, i)) && !at--)
			return i;
	return CHOICE_NONE;
}

/*
 * The program's own events: the task that makes the next one goes on, unless it yields or has to wait. Tasks that make none
 * bring them about: two requests are only there at once where the clients go on before the server answers the first.
 */
static uint32_t pick_own(struct surw *s, const struct choice *c)
{
	uint32_t i = 0;

	while (i < c->nr && choice_cand(c, i)->task != s->intended)
		i++;
	if (i < c->nr && !(c->point->yielded && c->point->last == s->intended))
		return i;
	i = CHOICE_NONE;
	if (s->first == OTHERS_FIRST || (s->first == ANY_FIRST && rng_below(&s->env->rng, 2)))
		i = draw_other(s, c);
	if (i == CHOICE_NONE)
		i = draw_by_weight(s, c);
	if (i == CHOICE_NONE)
		i = (uint32_t)rng_below(&s->env->rng, c->nr);
	s->intended = choice_cand(c, i)->task;
	return i;
}

static int pick(void *state, const struct choice *c)
{
	struct surw *s = state;
	const struct search_cand *cand;
	struct surw_task *t;
	uint32_t i = 0;

	if (meet(s, c->point))
		return -ENOMEM;
	if (c->nr == 1 && (s->all || !interesting(s, choice_cand(c, 0))))
		i = 0;
	else if (!s->env->profile->executions)
		i = (uint32_t)rng_below(&s->env->rng, c->nr);
	else if (s->all)
		i = draw_by_weight(s, c);
	else if (c->nr > 1)
		i = s->object == PROFILE_OWN ? pick_own(s, c) : pick_selectively(s, c);
	cand = choice_cand(c, i);
	t = &s->tasks[cand->task];
	t->prio = 0;
	if (s->all || interesting(s, cand)) {
		t->left -= t->left < PROFILE_SCALE ? t->left : PROFILE_SCALE;
		/* none is held, nor intended, where all events are interesting */
		if (!s->all)
			release_all(s, c);
	}
	return (int)i;
}

/* The task that draw_by_weight() takes next (or, in a first execution, a plain draw); tasks have left[] weights. */
static uint32_t next_by_weight(const struct surw *s, struct rng *rng, const struct search_point *p, uint32_t task,
			       uint64_t left)
{
	uint64_t sum = 0, at, w;

	for (uint32_t pass = 0; pass < 2; pass++) {
		at = pass ? rng_below(rng, sum) : 0;
		for (uint32_t i = 0; i < p->nr; i++) {
			if (!p->cand[i].enabled)
				continue;
			w = p->cand[i].task == task ? (left ? left : PROFILE_SCALE) : weight(s, &p->cand[i]);
			if (!s->env->profile->executions)
				w = 1;
			if (!pass)
				sum += w;
			else if (at < w)
				return p->cand[i].task;
			else
				at -= w;
		}
	}
	return SEARCH_NO_TASK;
}

/*
 * What will be drawn, while the enabled tasks are the same. Of the selective form, without the rule, the next point at most:
 * whether an event is interesting is not known before its label is, unless it is the task's turn to make one. Of the program's own
 * events the next one ends the promise.
 */
static uint64_t promise(const void *state, const struct search_point *p, uint32_t task, enum search_until *until)
{
	const struct surw *s = state;
	uint64_t left = s->tasks[task].left, best = 0, prio, nr = 0, first = SEARCH_NO_TASK;
	struct rng rng = s->env->rng;
	uint32_t enabled = 0;

	if (!s->all && s->object == PROFILE_OWN && s->intended == task) {
		*until = SEARCH_UNTIL_OWN;
		return UINT64_MAX;
	}
	*until = SEARCH_UNTIL_CHANGE;
	for (uint32_t i = 0; i < p->nr; i++)
		enabled += p->cand[i].enabled;
	if (enabled < 2)
		return 0;
	if (s->all || !s->env->profile->executions) {
		while (nr < MAX_PROMISE && next_by_weight(s, &rng, p, task, left) == task) {
			left -= left < PROFILE_SCALE ? left : PROFILE_SCALE;
			nr++;
		}
		return nr;
	}
	if (s->object == PROFILE_OWN)
		return 0;
	for (uint32_t i = 0; i < p->nr; i++) {
		const struct surw_task *t = &s->tasks[p->cand[i].task];

		if (!p->cand[i].enabled || t->held)
			continue;
		prio = t->prio ? t->prio : rng_next(&rng) | 1;
		if (prio > best) {
			best = prio;
			first = p->cand[i].task;
		}
	}
	return first == task && s->intended == task;
}

/* draw_by_weight(), and in a first execution a plain draw; or pick_selectively(). */
static void rule(const void *state, struct search_rule *r)
{
	const struct surw *s = state;

	if (s->env->profile->executions && s->all)
		r->step = r->least = PROFILE_SCALE;
	r->shares = true;
	r->intended = s->intended;
	if (s->all || !s->env->profile->executions) {
		r->by = SEARCH_BY_DRAWS;
		return;
	}
	/* what is drawn at one of these events depends on all tasks; up to there the promise says it */
	if (s->object == PROFILE_OWN)
		return;
	r->by = SEARCH_BY_SELECTION;
	r->step = PROFILE_SCALE;
	r->least = 0;
	r->object = s->object;
}

static uint64_t priority(const void *state, uint32_t task, bool *held)
{
	const struct surw *s = state;

	*held = task < s->nr_tasks && s->tasks[task].held;
	return task < s->nr_tasks ? s->tasks[task].prio : 0;
}

static uint64_t weight_left(const void *state, uint32_t task)
{
	const struct surw *s = state;

	if (!s->env->profile->executions || task >= s->nr_tasks)
		return 0;
	return s->tasks[task].born ? s->tasks[task].left : s->tasks[task].total;
}

const struct strategy_type strategy_urw = {
	.info = {
		.name = "urw",
		.line = "uniform random walk: every interleaving alike, tasks of different lengths",
		.params = "",
		.guarantee = "all interleavings equally likely, if no task blocks and counts are stable",
	},
	.flags = STRATEGY_EVERY_STEP | STRATEGY_FAIR | STRATEGY_COUNTS | STRATEGY_PATIENT,
	.size = sizeof(struct surw),
	.init = urw_init,
	.begin = begin,
	.pick = pick,
	.promise = promise,
	.rule = rule,
	.weight = weight_left,
	.fini = fini,
};

const struct strategy_type strategy_surw = {
	.info = {
		.name = "surw",
		.line = "uniform over the events of one object, drawn for each execution: long tests",
		.params = "",
		.guarantee = "all orders of that object's events equally likely, if no task blocks and "
			     "counts are stable",
	},
	.flags = STRATEGY_EVERY_STEP | STRATEGY_FAIR | STRATEGY_COUNTS | STRATEGY_PATIENT,
	.size = sizeof(struct surw),
	.init = surw_init,
	.begin = begin,
	.pick = pick,
	.promise = promise,
	.rule = rule,
	.weight = weight_left,
	.priority = priority,
	.fini = fini,
};
