/* SPDX-License-Identifier: GPL-2.0-only */
/* search_parts.c - a search in parts (parts.h): what the core keeps of the part that it is in */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "search/search_state.h"

int confine_pin(const struct confine *c, uint32_t **pinned, uint32_t *nr)
{
	uint32_t *choices = calloc(c->nr + 1, sizeof(*choices));

	if (!choices)
		return -ENOMEM;
	if (c->nr)
		memcpy(choices, c->choices, c->nr * sizeof(*choices));
	free(*pinned);
	*pinned = choices;
	*nr = c->nr;
	return 0;
}

bool search_divides(const struct search *s)
{
	return s->type->confine;
}

int search_divide(struct search *s, uint32_t wanted)
{
	if (s->running)
		return -EBUSY;
	if (!search_divides(s) || s->env.frozen || !wanted)
		return -EINVAL;
	s->divided = false;
	s->dividing = true;
	return division_begin(&s->division, wanted);
}

int search_set_division(struct search *s, const struct search_subtree *list, uint64_t nr, bool cut)
{
	int ret = 0;

	if (s->running)
		return -EBUSY;
	if (!search_divides(s) || s->env.frozen || !nr)
		return -EINVAL;
	division_fini(&s->division);
	for (uint64_t i = 0; i < nr && !ret; i++)
		ret = division_add(&s->division, list[i].choices, list[i].nr, list[i].cost, list[i].size);
	s->division.cut = cut;
	s->dividing = false;
	s->divided = !ret;
	return ret;
}

struct search_subtree search_subtree(const struct search *s, uint64_t i)
{
	const struct subtree *t = &s->division.list[i];

	return (struct search_subtree){ t->choices, t->nr, t->cost, t->size };
}

bool search_division_cut(const struct search *s)
{
	return s->division.cut;
}

int search_freeze(struct search *s)
{
	if (s->running)
		return -EBUSY;
	if (s->env.script || (search_divides(s) && !s->divided))
		return -EINVAL;
	s->env.frozen = true;
	s->inside = false;
	s->first = s->iteration;
	return 0;
}

uint64_t search_parts(const struct search *s)
{
	return search_divides(s) ? s->division.nr : UINT64_MAX;
}

uint32_t search_max_bound(const struct search *s)
{
	return s->type->max_bound ? s->type->max_bound(s->state) : 0;
}

int search_enter(struct search *s, uint64_t part, uint32_t bound)
{
	const struct subtree *t;
	int ret;

	if (s->running)
		return -EBUSY;
	if (!s->env.frozen || part >= search_parts(s))
		return -EINVAL;
	s->part_end = (struct search_part_end){ 0 };
	s->inside = true;
	s->iteration = s->first + part;
	if (!search_divides(s))
		return SEARCH_GO;
	t = &s->division.list[part];
	if (t->cost > bound && s->type->max_bound) {
		s->inside = false;
		s->part_end.cut = true;
		return SEARCH_EXHAUSTED;
	}
	ret = s->type->confine(s->state, &(struct confine){ .choices = t->choices, .nr = t->nr, .bound = bound });
	return ret ? ret : SEARCH_GO;
}

void search_part_end(const struct search *s, struct search_part_end *e)
{
	*e = s->part_end;
}

int search_begin_part(struct search *s)
{
	const struct subtree *t;
	int ret = 0;

	if (s->env.frozen)
		return s->inside ? SEARCH_GO : SEARCH_EXHAUSTED;
	if (!s->dividing)
		return SEARCH_GO;
	t = division_next(&s->division, &ret);
	if (!ret && t)
		ret = s->type->confine(s->state, &(struct confine){ .choices = t->choices, .nr = t->nr, .measures = true });
	return ret ? ret : t ? SEARCH_GO : SEARCH_EXHAUSTED;
}

int search_end_part(struct search *s, int ret)
{
	struct search_stats st = { .bound_done = UINT32_MAX };

	if (ret == SEARCH_EXHAUSTED && s->dividing) {
		s->dividing = false;
		s->divided = true;
	} else if (ret == SEARCH_EXHAUSTED && s->inside && search_divides(s)) {
		s->type->stats(s->state, &st);
		s->part_end.cut = st.bound_done != UINT32_MAX && !st.unbounded;
		s->part_end.incomplete = st.incomplete;
	}
	s->inside = false;
	return ret;
}

void search_note_path(struct search *s)
{
	uint64_t nr = s->type->branches(s->state, NULL, 0);

	if (!ARRAY_RESERVE(s->path, s->room_path, nr))
		return;
	s->type->branches(s->state, s->path, nr);
	/* without memory it is measured again */
	(void)division_note(&s->division, s->path, nr);
}

void search_count(struct search *s, const struct search_made *m)
{
	s->complete++;
	seen_add(&s->classes, m->class);
	seen_add(&s->schedules, m->schedule);
	if (m->steps > s->stats.max_steps)
		s->stats.max_steps = m->steps;
	s->stats.steps += m->steps;
	s->stats.executions++;
}
