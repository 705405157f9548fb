/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rules.c - tactics and scopes at work (rules.h)
 *
 * After Njord (entropy injection): tactics in order of priority each enable or
 * disable tasks or leave them to the next; a task that none disables runs. Delays
 * are counted in steps of the execution: they mean the same on every machine,
 * and a held task cannot be late.
 *
 * rules_hold() takes the tasks out that are held, rules_may_switch() keeps the turn where it has to
 * stay, rules_step() counts. Statements of scripts are followed by strategies/script.c.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "search/rules_internal.h"

void rules_free(struct rules *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < r->nr; i++) {
		free(r->rules[i].holds);
		free(r->rules[i].free_tasks);
		free(r->rules[i].spent);
		free(r->rules[i].before.text);
	}
	free(r->rules);
	free(r->groups);
	free(r->made);
	vector_clocks_free(r->clocks);
	free(r);
}

unsigned int rules_kinds(const struct rules *r)
{
	return r->kinds;
}

void rules_begin_forced(struct rules *r)
{
	if (r->clocks)
		vector_clocks_begin(r->clocks);
}

void rules_begin(struct rules *r, struct rng *rng, uint64_t iteration)
{
	rules_begin_forced(r);
	r->rng = rng;
	r->step = 0;
	if (r->nr_made)
		memset(r->made, 0, r->nr_made * sizeof(*r->made));
	for (uint32_t i = 0; i < r->nr; i++) {
		struct rule *rule = &r->rules[i];

		rule->active = true;
		rule->nr_holds = rule->nr_free = rule->nr_live = rule->nr_spent = 0;
		rule->next = 0;
		rule->over = false;
		if (rule->kind == RULE_PLACE)
			rule->salt = rng_next(rng);
	}
	for (uint32_t g = 0; g < r->nr_groups; g++) {
		uint32_t members = r->groups[g].members, chosen;

		chosen = (uint32_t)(r->groups[g].alternate ? iteration % members :
				    rng_below(rng, members));
		for (uint32_t i = 0; i < r->nr; i++)
			if (r->rules[i].group == g + 1)
				r->rules[i].active = r->rules[i].member == chosen;
	}
}

/* It is on an object of that name, or on data that the source calls so. */
static bool is_on(const struct search_names *n, const struct zug_label *l, const char *pattern)
{
	if (n->on && ((l->object && n->on(n->ctx, l->object, pattern)) ||
		      (l->object2 && n->on(n->ctx, l->object2, pattern))))
		return true;
	return n->data && l->site && zug_op_is_access(l->op) && n->data(n->ctx, l->site, pattern);
}

bool rules_match(const struct rules *r, const struct rule_match *m, const struct search_cand *c)
{
	const struct search_names *n = &r->names;

	if (m->task != SEARCH_NO_TASK && m->task != c->task)
		return false;
	if (m->op >= 0 && !zug_op_is(c->label.op, (unsigned int)m->op))
		return false;
	if (m->ordered && !(c->label.object && vector_clocks_always(r->clocks, c->label.object)))
		return false;
	if (m->on[0] && !is_on(n, &c->label, m->on))
		return false;
	return !m->in[0] || (n->in && c->label.site && n->in(n->ctx, c->label.site, m->in));
}

/* An unknown value makes no condition true. */
static bool condition(const struct rules *r, const struct rule *rule, uint32_t task)
{
	int64_t v;

	if (rule->compare == CMP_NONE)
		return true;
	if (!r->names.value || !r->names.value(r->names.ctx, task, rule->variable, &v))
		return false;
	switch (rule->compare) {
	case CMP_EQ:
		return v == rule->number;
	case CMP_NE:
		return v != rule->number;
	case CMP_LT:
		return v < rule->number;
	case CMP_LE:
		return v <= rule->number;
	case CMP_GT:
		return v > rule->number;
	default:
		return v >= rule->number;
	}
}

static uint64_t exponential(struct rules *r, double mean)
{
	return (uint64_t)ceil(-mean * log(1 - rng_unit(r->rng)) + 1e-9);
}

/* The hold of that task, for the operation before which it stands; NULL: no memory. */
static struct rule_hold *get_hold(const struct rules *r, struct rule *rule, uint32_t task)
{
	struct rule_hold *h = NULL;

	for (uint32_t i = 0; i < rule->nr_holds && !h; i++)
		if (rule->holds[i].task == task)
			h = &rule->holds[i];
	if (!h) {
		if (!ARRAY_RESERVE(rule->holds, rule->room_holds, rule->nr_holds + 1))
			return NULL;
		h = &rule->holds[rule->nr_holds++];
		*h = (struct rule_hold){ .task = task };
	}
	if (h->decided && h->nth != r->made[task])
		h->decided = false;
	return h;
}

static bool expired(const struct rules *r, const struct rule_hold *h)
{
	return r->step >= h->until;
}

static int hold_by_place(struct rules *r, struct rule *rule, const struct search_cand *c)
{
	struct rule_hold *h;

	if (rule->over || !rules_match(r, &rule->match, c))
		return 0;
	h = get_hold(r, rule, c->task);
	if (!h)
		return -ENOMEM;
	if (!h->decided) {
		/* A condition that is not true yet may become true while the task stands here. */
		if (!condition(r, rule, c->task))
			return 0;
		*h = (struct rule_hold){
			.task = c->task, .decided = true, .nth = r->made[c->task],
			.held = rule->chance >= 1 || rng_unit(r->rng) < rule->chance,
			.until = rule->steps ? r->step + rule->steps : UINT64_MAX,
		};
	}
	if (h->held && (expired(r, h) || !condition(r, rule, c->task)))
		h->held = false;
	return h->held;
}

static bool is_spent(const struct rule *rule, uint64_t site)
{
	for (uint32_t i = 0; i < rule->nr_spent; i++)
		if (rule->spent[i] == site)
			return true;
	return false;
}

static int spend(struct rule *rule, uint64_t site)
{
	if (!ARRAY_RESERVE(rule->spent, rule->room_spent, rule->nr_spent + 1))
		return -ENOMEM;
	rule->spent[rule->nr_spent++] = site;
	return 0;
}

/* Njord's RandomInstruction, over the places of labels instead of instructions. */
static int hold_at_random_place(struct rules *r, struct rule *rule, const struct search_cand *c,
				uint32_t live)
{
	uint64_t site = c->label.site ? c->label.site : (uint64_t)c->label.op << 32 | c->task;
	bool busy = false;
	struct rule_hold *h;

	if (live < rule->tasks || !rules_match(r, &rule->match, c))
		return 0;
	h = get_hold(r, rule, c->task);
	if (!h)
		return -ENOMEM;
	if (h->decided) {
		if (expired(r, h))
			h->held = false;
		return h->held;
	}
	/* While one task is held, the other places are not looked at. */
	for (uint32_t i = 0; i < rule->nr_holds; i++)
		busy |= rule->holds[i].decided && rule->holds[i].held &&
			!expired(r, &rule->holds[i]);
	*h = (struct rule_hold){ .task = c->task, .decided = true, .nth = r->made[c->task] };
	if (busy || is_spent(rule, site) ||
	    (double)(mix64(site ^ rule->salt) >> 11) * 0x1p-53 >= rule->fraction ||
	    rng_unit(r->rng) < rule->fallthrough)
		return 0;
	h->held = true;
	h->until = r->step + exponential(r, rule->delay);
	return spend(rule, site) ? -ENOMEM : 1;
}

/* Njord's RandomTime: which tasks are not held, drawn again when time is up or tasks changed. */
static int redraw(struct rules *r, struct rule *rule, const struct search_point *p)
{
	if (rule->nr_live == p->nr && r->step < rule->next)
		return 0;
	if (!rule->free_tasks)
		rule->free_tasks = malloc(rule->tasks * sizeof(*rule->free_tasks));
	if (!rule->free_tasks)
		return -ENOMEM;
	rule->nr_live = p->nr;
	rule->nr_free = 0;
	rule->next = r->step + exponential(r, rule->delay);
	/* Reservoir sampling. */
	for (uint32_t i = 0; i < p->nr; i++) {
		uint32_t at = i < rule->tasks ? i : (uint32_t)rng_below(r->rng, i + 1);

		if (at < rule->tasks)
			rule->free_tasks[at] = p->cand[i].task;
	}
	rule->nr_free = p->nr < rule->tasks ? p->nr : rule->tasks;
	return 0;
}

static bool is_free(const struct rule *rule, uint32_t task)
{
	for (uint32_t i = 0; i < rule->nr_free; i++)
		if (rule->free_tasks[i] == task)
			return true;
	return false;
}

/* The number of the rule that holds the candidate, r->nr if none does; -ENOMEM. */
static int64_t holder(struct rules *r, const struct search_point *p, const struct search_cand *c)
{
	for (uint32_t i = 0; i < r->nr; i++) {
		struct rule *rule = &r->rules[i];
		int ret = 0;

		if (!rule->active)
			continue;
		switch (rule->kind) {
		case RULE_FREE:
			if (rules_match(r, &rule->match, c))
				return r->nr;
			break;
		case RULE_HOLD:
			ret = hold_by_place(r, rule, c);
			break;
		case RULE_TIME:
			ret = !is_free(rule, c->task);
			break;
		case RULE_PLACE:
			ret = hold_at_random_place(r, rule, c, p->nr);
			break;
		case RULE_STAY:
		case RULE_SWITCH:
		case RULE_BEFORE:
		case RULE_LET:
			break;
		}
		if (ret < 0)
			return ret;
		if (ret)
			return i;
	}
	return r->nr;
}

int rules_hold(struct rules *r, const struct search_point *p, uint32_t *allowed, uint32_t nr)
{
	int64_t weakest = -1;
	uint32_t left = 0;

	if (!ARRAY_RESERVE_ZERO(r->made, r->nr_made, p->cand[p->nr - 1].task + 1))
		return -ENOMEM;
	if (!(r->kinds & RULES_HOLD) || nr == 1)
		return (int)nr;
	for (uint32_t i = 0; i < r->nr; i++)
		if (r->rules[i].active && r->rules[i].kind == RULE_TIME && redraw(r, &r->rules[i], p))
			return -ENOMEM;
	/* The tasks that are not held are left, or else those that the last of the rules holds. */
	for (uint32_t i = 0; i < nr; i++) {
		int64_t by = holder(r, p, &p->cand[allowed[i]]);

		if (by < 0)
			return (int)by;
		if (by > weakest) {
			weakest = by;
			left = 0;
		}
		if (by == weakest)
			allowed[left++] = allowed[i];
	}
	return (int)left;
}

bool rules_may_switch(const struct rules *r, const struct search_cand *last)
{
	for (uint32_t i = 0; i < r->nr; i++) {
		const struct rule *rule = &r->rules[i];

		if (rule->active && rule->kind <= RULE_SWITCH && rules_match(r, &rule->match, last))
			return rule->kind == RULE_SWITCH;
	}
	return true;
}

int rules_step(struct rules *r, const struct search_point *p, uint32_t at, bool forced)
{
	const struct search_cand *c = &p->cand[at];
	struct vector_clocks_race race;

	if (r->clocks && vector_clocks_step(r->clocks, p, at, &race) < 0)
		return -ENOMEM;
	if (forced)
		return 0;
	if (!ARRAY_RESERVE_ZERO(r->made, r->nr_made, c->task + 1))
		return -ENOMEM;
	for (uint32_t i = 0; i < r->nr; i++) {
		struct rule *rule = &r->rules[i];

		if (rule->kind == RULE_HOLD && rule->has_until && !rule->over)
			rule->over = rules_match(r, &rule->until, c);
	}
	r->made[c->task]++;
	r->step++;
	return 0;
}
