/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dpor.c - dynamic partial order reduction: one execution per happens-before class
 *
 * Source-DPOR with sleep sets (Abdulla, Aronis, Jonsson, Sagonas, POPL 2014), reversals in
 * reversals.c. At each point one task goes first; after the execution its reversals say where
 * another one has to. A task whose turn at a point has been explored sleeps in what comes after it,
 * until a task makes a step that depends on its own: so no class is completed twice. When all that
 * could run sleep, the rest of the execution is known (sleep-blocked). It is run to its end all the
 * same, unrecorded: in a real program a task that had to wait makes a step more than one that had
 * not, which no label tells before.
 *
 * No bound can be combined with it: sleep sets assume that what was explored
 * was explored to the end. The same goes for a cache of states.
 */
#include <errno.h>
#include <math.h>
#include "search/diverge.h"
#include "search/reversals.h"
#include "search/save.h"
#include "search/strategies/strategies.h"

/*
 * Longer executions are searched up to here only: an event takes 600 bytes, and finding reversals
 * takes time that grows with the square of their number. 20,000 * 600 = 12 MB.
 */
#define MAX_EVENTS	20000

struct dpor {
	struct search_env *env;
	struct reversals reversals;
	uint32_t prefix;	/* events to replay in this execution */
	uint32_t depth;		/* steps of this execution, up to now */
	uint64_t sleep;		/* at the next point */
	bool blocked;		/* sleep-blocked: the rest is known */
	bool started;
	bool overflow;		/* too long, or a task that no mask holds: the rest is not searched */
	bool incomplete;
	struct diverge diverge;

	/*
	 * confine(): options of the first choices, which are never left. At these every task that is awake goes first in
	 * some part of the tree, in the order of their numbers: what a reversal would ask for is there already.
	 */
	uint32_t *pinned, nr_pinned;
	bool measures;		/* random options behind the pinned ones, and no other execution after it */
	uint32_t met;		/* choices of this execution so far */
	uint32_t floor;		/* events up to the last pinned choice, once it was met */
	bool floor_value;	/* which is a value of the last of them, not its task */

	/* at the last point, and after it if the caller shows that */
	struct zug_label pending[REVERSALS_TASKS];
	uint64_t live, enabled;
	uint32_t creator[REVERSALS_TASKS], enabler[REVERSALS_TASKS];
	bool final;

	uint64_t complete, sleep_blocked;
};

static int dpor_init(void *state, struct search_env *env, const int64_t *args)
{
	struct dpor *d = state;

	(void)args;
	if (env->preemptions >= 0) {
		strategy_error(env, "strategy dpor refuses a preemption bound: its sleep sets would "
			       "lose bugs; use preemption:bound=%d", env->preemptions);
		return -EINVAL;
	}
	if (env->rules) {
		strategy_error(env, "strategy dpor refuses rules: a reversal that they forbid would be lost, "
			       "and what follows from it; use preemption");
		return -EINVAL;
	}
	d->env = env;
	return 0;
}

static void dpor_fini(void *state)
{
	struct dpor *d = state;

	reversals_fini(&d->reversals);
	free(d->pinned);
}

static int dpor_begin(void *state, uint64_t iteration)
{
	struct dpor *d = state;

	(void)iteration;
	if (d->started && !d->reversals.nr)
		return SEARCH_EXHAUSTED;
	d->started = true;
	d->prefix = d->reversals.nr;
	d->depth = d->met = 0;
	d->sleep = 0;
	d->blocked = d->overflow = d->final = false;
	d->live = d->enabled = 0;
	diverge_begin(&d->diverge);
	return SEARCH_GO;
}

static uint32_t position(const struct choice *c, uint32_t task)
{
	for (uint32_t i = 0; i < c->nr; i++)
		if (choice_cand(c, i)->task == task)
			return i;
	return CHOICE_NONE;
}

/* The base scheduler among the tasks in 'among', which is not empty. */
static uint32_t base_among(const struct choice *c, uint64_t among)
{
	uint32_t first = CHOICE_NONE;

	for (uint32_t i = 0; i < c->nr; i++) {
		uint32_t task = choice_cand(c, i)->task;

		if (task >= REVERSALS_TASKS || !(among >> task & 1))
			continue;
		if (i == c->last && !c->free)
			return i;
		if (first == CHOICE_NONE ||
		    (choice_cand(c, first)->task <= c->point->last && task > c->point->last))
			first = i;
	}
	return first;
}

/* Looks at a point: a task that can run now and could not before was let go on by the last step. */
static void look(struct dpor *d, const struct search_point *p)
{
	uint64_t live = 0, enabled = 0;

	for (uint32_t i = 0; i < p->nr; i++) {
		uint32_t t = p->cand[i].task;

		if (t >= REVERSALS_TASKS) {
			d->overflow = d->incomplete = true;
			continue;
		}
		live |= 1ull << t;
		d->pending[t] = p->cand[i].label;
		if (!(d->live >> t & 1)) {
			d->creator[t] = d->depth ? d->depth - 1 : REVERSALS_NONE;
			d->enabler[t] = REVERSALS_NONE;
		} else if (p->cand[i].enabled && !(d->enabled >> t & 1) && t != p->last) {
			d->enabler[t] = d->depth - 1;
		}
		if (p->cand[i].enabled)
			enabled |= 1ull << t;
	}
	d->live = live;
	d->enabled = enabled;
}

static uint64_t fingerprint(const struct choice *c)
{
	uint64_t h = mix64(c->point->last + 1);

	for (uint32_t i = 0; i < c->nr; i++)
		h = mix64(h + ((uint64_t)choice_cand(c, i)->task << 16 |
			       choice_cand(c, i)->label.op));
	return h;
}

static uint64_t allowed_mask(const struct choice *c)
{
	uint64_t m = 0;

	for (uint32_t i = 0; i < c->nr; i++)
		m |= 1ull << choice_cand(c, i)->task;
	return m;
}

/* The tasks of m whose next operation ends others. */
static uint64_t ending(const struct dpor *d, uint64_t m)
{
	uint64_t ends = 0;

	for (; m; m &= m - 1) {
		int q = __builtin_ctzll(m);

		if (d->pending[q].flags & ZUG_L_ENDS_ALL)
			ends |= 1ull << q;
	}
	return ends;
}

/* The tasks that still sleep after event e: those that the step does not touch. */
static uint64_t sleep_after(const struct dpor *d, const struct event *e)
{
	uint64_t sleep = 0;

	for (uint64_t m = (e->sleep | e->done) & ~(1ull << e->task); m; m &= m - 1) {
		int q = __builtin_ctzll(m);
		struct access a = access_of(&d->pending[q]);

		if (!access_dependent(&a, &e->access) && !ending(d, 1ull << q | 1ull << e->task))
			sleep |= 1ull << q;
	}
	return sleep;
}

static void take(struct dpor *d, struct event *e, const struct search_cand *cand)
{
	e->task = (uint8_t)cand->task;
	e->op = cand->label.op;
	e->ends = cand->label.flags & ZUG_L_ENDS_ALL;
	e->access = access_of(&cand->label);
	e->nth = hb_steps(d->env->hb, cand->task) + 1;
	e->creator = e->nth == 1 ? d->creator[cand->task] : REVERSALS_NONE;
	e->enabler = d->enabler[cand->task];
	d->enabler[cand->task] = REVERSALS_NONE;
	d->sleep = sleep_after(d, e);
	d->depth++;
}

static uint32_t nth_task(uint64_t mask, uint32_t nth)
{
	while (nth--)
		mask &= mask - 1;
	return (uint32_t)__builtin_ctzll(mask);
}

/*
 * A choice among nr options. Where it is pinned or drawn: true, with the option, or with nr if there is none like the
 * pinned one.
 */
static bool is_set(struct dpor *d, uint32_t nr, uint32_t *option)
{
	uint32_t at = d->met++;

	if (at >= d->nr_pinned && !d->measures)
		return false;
	if (at < d->nr_pinned)
		*option = d->pinned[at] < nr ? d->pinned[at] : nr;
	else
		*option = (uint32_t)rng_below(&d->env->rng, nr);
	/* the event is there, or about to be */
	if (at + 1 == d->nr_pinned) {
		d->floor = d->depth + 1;
		d->floor_value = false;
	}
	return true;
}

/* The execution does not come to the part of the tree. */
static int miss(struct dpor *d, uint64_t print)
{
	diverge_note(&d->diverge, d->depth, print);
	d->diverge.adopted = false;
	return -ESTALE;
}

static int record(struct dpor *d, const struct choice *c, uint64_t print)
{
	uint32_t nr, option;
	uint64_t allowed = allowed_mask(c), awake;
	struct event *e;
	uint32_t pos;

	/* A task that cannot run now may come back changed: it does not sleep on. */
	d->sleep &= d->enabled;
	awake = allowed & ~d->sleep;
	if (!awake) {
		d->blocked = true;
		return (int)base_among(c, allowed);
	}
	if (reversals_reserve(&d->reversals))
		return -ENOMEM;
	nr = (uint32_t)__builtin_popcountll(awake);
	pos = base_among(c, awake);
	option = UINT32_MAX;
	if (nr > 1 && is_set(d, nr, &option)) {
		if (option == nr)
			return miss(d, print);
		pos = position(c, nth_task(awake, option));
	}
	e = &d->reversals.events[d->reversals.nr++];
	*e = (struct event){
		.print = print, .enabled = d->enabled, .allowed = allowed, .sleep = d->sleep,
		.backtrack = 1ull << choice_cand(c, pos)->task,
	};
	if (option != UINT32_MAX) {
		e->backtrack = awake;
		e->done = awake & ((1ull << choice_cand(c, pos)->task) - 1);
	}
	take(d, e, choice_cand(c, pos));
	/* what it ends would have gone on: as in reopen() */
	if (e->ends)
		e->backtrack |= awake;
	return (int)pos;
}

static int dpor_pick(void *state, const struct choice *c)
{
	struct dpor *d = state;
	uint64_t print;
	struct event *e;
	uint32_t pos;

	if (d->blocked || (d->diverge.now && !d->diverge.adopted) || d->overflow)
		return (int)(c->free ? 0 : c->last);
	look(d, c->point);
	if (d->overflow)
		return (int)(c->free ? 0 : c->last);
	if (d->depth == MAX_EVENTS) {
		d->overflow = d->incomplete = true;
		return (int)(c->free ? 0 : c->last);
	}
	print = fingerprint(c);
	if (d->depth >= d->prefix)
		return record(d, c, print);
	e = &d->reversals.events[d->depth];
	pos = position(c, e->task);
	if (e->print != print || pos == CHOICE_NONE) {
		if (diverge_note(&d->diverge, d->depth, print)) {
			reversals_truncate(&d->reversals, d->depth);
			d->prefix = d->depth;
		}
		return -ESTALE;
	}
	d->met += __builtin_popcountll(e->allowed & ~e->sleep) > 1;
	take(d, e, choice_cand(c, pos));
	return (int)pos;
}

/*
 * The steps of the prefix, and behind it the last task as long as it can go on: what it has done since
 * keeps it awake.
 */
static uint64_t dpor_promise(const void *state, const struct search_point *point, uint32_t task,
			     enum search_until *until)
{
	const struct dpor *d = state;
	uint32_t at = d->depth;

	(void)point;
	*until = SEARCH_UNTIL_DONE;
	if (d->blocked || d->diverge.now || d->overflow)
		return UINT64_MAX;
	for (; at < d->prefix; at++)
		if (d->reversals.events[at].task != task)
			return at - d->depth;
	return d->measures || d->met < d->nr_pinned ? at - d->depth : UINT64_MAX;
}

/* The steps of the prefix. */
static uint32_t dpor_ahead(const void *state, uint64_t nth)
{
	const struct dpor *d = state;

	if (d->blocked || d->diverge.now || d->overflow || d->depth >= d->prefix || nth >= d->prefix - d->depth)
		return SEARCH_NO_TASK;
	return d->reversals.events[d->depth + nth].task;
}

static void dpor_rule(const void *state, struct search_rule *r)
{
	const struct dpor *d = state;

	r->base = d->blocked || d->diverge.now || d->overflow || !(d->measures || d->met < d->nr_pinned);
}

/* A new value, which may be pinned or drawn. True: it has none like the pinned one. */
static bool is_set_value(struct dpor *d, struct event *e, uint32_t nr)
{
	uint32_t option = 0;

	d->depth--;
	if (is_set(d, nr, &option) && option == nr)
		miss(d, nr);
	d->depth++;
	d->floor_value |= d->met == d->nr_pinned;
	e->cur_value = option < nr ? option : 0;
	return option == nr;
}

static int dpor_choose(void *state, uint32_t nr)
{
	struct dpor *d = state;
	struct event *e;

	if (d->blocked || (d->diverge.now && !d->diverge.adopted) || d->overflow || !d->depth)
		return 0;
	e = &d->reversals.events[d->depth - 1];
	if (d->depth - 1 < d->prefix && e->value && e->nr_values != nr) {
		diverge_note(&d->diverge, d->depth - 1, nr);
		if (!d->diverge.adopted)
			return 0;
		e->cur_value = 0;
	}
	if (nr > 1 && e->value)
		d->met++;
	else if (nr > 1 && is_set_value(d, e, nr))
		return 0;
	e->value = true;
	e->nr_values = nr;
	return (int)e->cur_value;
}

static void dpor_final(void *state, const struct search_point *point)
{
	struct dpor *d = state;

	if (d->blocked || (d->diverge.now && !d->diverge.adopted) || d->overflow)
		return;
	look(d, point);
	d->final = true;
}

/*
 * A failure may cut an execution while tasks can still run. What they would
 * have done is unknown, so each of them has to go before the last step once.
 */
static void reopen(struct dpor *d)
{
	struct event *e = &d->reversals.events[d->reversals.nr - 1];

	e->backtrack |= e->allowed & ~e->sleep;
}

static void find_reversals(struct dpor *d, const struct search_end *end)
{
	uint64_t waiting = d->live & ~d->enabled;
	struct reversals *r = &d->reversals;

	if (!r->nr)
		return;
	if (reversals_detect(r, d->prefix ? d->prefix - 1 : 0)) {
		d->incomplete = true;
		return;
	}
	if (!d->final && !d->blocked)
		waiting &= ~(1ull << r->events[r->nr - 1].task);
	for (; waiting; waiting &= waiting - 1) {
		int t = __builtin_ctzll(waiting);

		reversals_probe(r, (uint8_t)t, &d->pending[t], d->creator[t],
			    d->enabler[t]);
	}
	if (!d->blocked && end->result == SEARCH_FAIL && (!d->final || d->enabled))
		reopen(d);
}

/* The last event has another value to try: it is the next one. */
static bool next_value(struct dpor *d)
{
	struct reversals *r = &d->reversals;
	struct event *e = r->nr ? &r->events[r->nr - 1] : NULL;

	if (!e || !e->value || e->cur_value + 1 >= e->nr_values)
		return false;
	e->cur_value++;
	reversals_redo_last(r);
	return true;
}

/* The deepest event that has another beginning to try. */
static void advance(struct dpor *d)
{
	struct reversals *r = &d->reversals;

	while (r->nr > d->floor) {
		struct event *e = &r->events[r->nr - 1];
		uint64_t todo;

		if (next_value(d))
			return;
		e->done |= 1ull << e->task;
		todo = e->backtrack & ~e->done & ~e->sleep;
		if (todo) {
			e->task = (uint8_t)__builtin_ctzll(todo);
			e->value = false;
			e->cur_value = e->nr_values = 0;
			reversals_redo_last(r);
			return;
		}
		reversals_truncate(r, r->nr - 1);
	}
	/* of the last pinned task the values are not pinned */
	if (r->nr == d->floor && !d->floor_value && next_value(d))
		return;
	reversals_truncate(r, 0);
}

static void dpor_end(void *state, const struct search_end *end)
{
	struct dpor *d = state;

	if (d->measures)
		return;
	if (!d->diverge.now &&
	    (d->depth < d->prefix || d->met < d->nr_pinned || end->result == SEARCH_DIVERGED))
		diverge_note(&d->diverge, d->depth, 0);
	switch (diverge_end(&d->diverge)) {
	case DIVERGE_RETRY:
		return;
	case DIVERGE_GIVE_UP:
		/* The event before the point still has its other beginnings. */
		reversals_truncate(&d->reversals, (uint32_t)d->diverge.depth);
		advance(d);
		return;
	case DIVERGE_NONE:
		break;
	}
	if (end->result == SEARCH_ABANDONED && !d->blocked)
		d->incomplete = true;
	if (d->blocked)
		d->sleep_blocked++;
	else
		d->complete++;
	find_reversals(d, end);
	advance(d);
}

static void dpor_stats(const void *state, struct search_stats *stats)
{
	const struct dpor *d = state;

	stats->incomplete |= d->incomplete || d->diverge.given_up;
	stats->sleep_blocked = d->sleep_blocked;
}

/* ---- parts of the tree ---- */

static int dpor_confine(void *state, const struct confine *c)
{
	struct dpor *d = state;
	int ret = confine_pin(c, &d->pinned, &d->nr_pinned);

	if (ret)
		return ret;
	d->measures = c->measures;
	d->floor = 0;
	d->floor_value = false;
	reversals_truncate(&d->reversals, 0);
	d->started = d->incomplete = false;
	d->diverge = (struct diverge){ 0 };
	return 0;
}

static uint64_t dpor_branches(const void *state, struct branch *path, uint64_t max)
{
	const struct dpor *d = state;
	uint64_t nr = 0;

	for (uint32_t i = 0; i < d->reversals.nr; i++) {
		const struct event *e = &d->reversals.events[i];
		uint64_t awake = e->allowed & ~e->sleep, before = awake & ((1ull << e->task) - 1);
		uint32_t tasks = (uint32_t)__builtin_popcountll(awake);

		if (tasks > 1 && nr++ < max)
			path[nr - 1] = (struct branch){ .nr = tasks, .allowed = tasks,
							.taken = (uint32_t)__builtin_popcountll(before) };
		if (e->value && e->nr_values > 1 && nr++ < max)
			path[nr - 1] = (struct branch){ .nr = e->nr_values, .allowed = e->nr_values,
							.taken = e->cur_value };
	}
	return nr;
}

static void dpor_save(void *state, struct codec *c)
{
	struct dpor *d = state;

	codec_array32(c, &d->reversals.events, &d->reversals.nr, &d->reversals.room, sizeof(*d->reversals.events));
	if (!c->error && !c->write) {
		d->reversals.nr_clocked = 0;
		c->error = reversals_reserve(&d->reversals);
	}
	codec_field(c, d->started);
	codec_field(c, d->incomplete);
	codec_field(c, d->complete);
	codec_field(c, d->sleep_blocked);
	save_diverge(c, &d->diverge);
}

static const struct strategy_refusal dpor_refused[] = {
	{ "bound", "sleep sets lose bugs under a bound; use preemption:bound=N" },
	{ "cache", "a cut execution would hide the reversals that ask for others; use dfs:cache=yes" },
	{ NULL, NULL }
};

const struct strategy_type strategy_dpor = {
	.info = {
		.name = "dpor",
		.line = "one execution for each happens-before class: to verify small tests",
		.params = "",
		.guarantee = "when it ends, no bug is left, if all that tasks race for is labelled",
	},
	.refused = dpor_refused,
	.flags = STRATEGY_EXHAUSTIVE | STRATEGY_EVERY_STEP,
	.size = sizeof(struct dpor),
	.init = dpor_init,
	.begin = dpor_begin,
	.pick = dpor_pick,
	.promise = dpor_promise,
	.ahead = dpor_ahead,
	.rule = dpor_rule,
	.end = dpor_end,
	.fini = dpor_fini,
	.choose = dpor_choose,
	.final = dpor_final,
	.confine = dpor_confine,
	.branches = dpor_branches,
	.stats = dpor_stats,
	.save = dpor_save,
};
