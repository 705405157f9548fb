/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include "lib/base/array.h"
#include "search/own_order.h"

/*
 * Where others come instead of a step, it may take longer than it did: twice as many steps as it took, and so many more, and a
 * part of all.
 */
#define PATIENCE	200
#define PATIENCE_PART	4

/* It is looked for among so many steps that are still to come: one that is further away has gone another way. */
#define AHEAD_MAX	1000

void own_order_release(struct own_order *o)
{
	free(o->list);
	free(o->roles);
	*o = (struct own_order){ 0 };
}

int own_order_of(struct own_order *o, const struct schedule *of, const bool *own)
{
	size_t last = 0;

	o->nr = 0;
	for (size_t i = 0; i < of->nr; i++) {
		if (!own[i])
			continue;
		if (!ARRAY_RESERVE(o->list, o->room, o->nr + 1))
			return -ENOMEM;
		o->list[o->nr++] = (struct own_step){
			.site = of->labels[i].site, .task = of->tasks[i],
			.patience = (uint32_t)(2 * (i - last) + of->nr / PATIENCE_PART) + PATIENCE };
		last = i;
	}
	return 0;
}

void own_order_begin(struct own_order *o, bool swap)
{
	for (size_t i = 0; i < o->nr; i++)
		o->list[i].made = false;
	for (uint32_t t = 0; t < o->nr_roles; t++)
		o->roles[t] = t;
	o->first = o->turn = 0;
	o->waited = 0;
	o->swap = swap;
}

static uint32_t *role_of(struct own_order *o, uint32_t task)
{
	if (!ARRAY_RESERVE(o->roles, o->room_roles, task + 1))
		return NULL;
	for (; o->nr_roles <= task; o->nr_roles++)
		o->roles[o->nr_roles] = o->nr_roles;
	return &o->roles[task];
}

/*
 * Which of the steps the task stands before: the one whose turn it is, if tasks may change roles; else the next one of its role
 * at that place, or of any role. o->nr: none.
 */
static size_t find(struct own_order *o, uint32_t task, uint64_t site)
{
	const uint32_t *role = role_of(o, task);
	size_t any = o->nr, end = o->nr - o->first > AHEAD_MAX ? o->first + AHEAD_MAX : o->nr;

	if (o->swap && o->turn < o->nr && !o->list[o->turn].made && o->list[o->turn].site == site)
		return o->turn;
	for (size_t i = o->first; role && i < end; i++) {
		if (o->list[i].made || o->list[i].site != site)
			continue;
		if (o->list[i].task == *role)
			return i;
		any = any == o->nr && o->swap ? i : any;
	}
	return any;
}

/* The step that the candidate would make, of those that are still to come; o->nr: it is none of these. */
static size_t step_of(struct own_order *o, const struct search_cand *cand, own_order_is_own *is_own, void *ctx)
{
	return is_own(ctx, &cand->label) ? find(o, cand->task, cand->label.site) : o->nr;
}

/* That step is made, or (o->nr) another one. Those before it that have not come need not come any more. */
static uint32_t make(struct own_order *o, const struct choice *c, size_t step, uint32_t pos)
{
	uint32_t *role = role_of(o, choice_cand(c, pos)->task);

	if (step == o->nr) {
		o->waited++;
		return pos;
	}
	o->list[step].made = true;
	if (role)
		*role = o->list[step].task;
	o->turn = step >= o->turn ? step + 1 : o->turn;
	while (o->turn < o->nr && o->list[o->turn].made)
		o->turn++;
	while (o->first < o->nr && o->list[o->first].made)
		o->first++;
	o->waited = 0;
	return pos;
}

uint32_t own_order_follow(struct own_order *o, const struct choice *c, own_order_is_own *is_own, void *ctx)
{
	uint32_t base = schedule_base(c), other = CHOICE_NONE, first = CHOICE_NONE;
	bool late = o->turn < o->nr && o->waited > o->list[o->turn].patience;
	size_t least = o->nr;

	for (uint32_t k = 0; k < c->nr; k++) {
		uint32_t pos = base + k < c->nr ? base + k : base + k - c->nr;
		size_t step = step_of(o, choice_cand(c, pos), is_own, ctx);

		/* the base scheduler's choice, unless it would come too early */
		if (!k && (step <= o->turn || (step == o->nr && !late)))
			return make(o, c, step, pos);
		if (step == o->nr && other == CHOICE_NONE)
			other = pos;
		if (step < least) {
			least = step;
			first = pos;
		}
	}
	if (first != CHOICE_NONE && (late || least <= o->turn || other == CHOICE_NONE))
		return make(o, c, least, first);
	return make(o, c, o->nr, other);
}
