/* SPDX-License-Identifier: GPL-2.0-only */
/* search_values.c - values that a test asks for, and decisions that are rare: faults, timers */
#include <errno.h>
#include "search/schedule.h"
#include "search/search_state.h"

/*
 * The place of the next rare value: anywhere in an execution as long as the longest, or a little behind it; in one
 * that is longer already, as long again as it is.
 */
static uint64_t rare_place(struct search *s)
{
	uint64_t left = s->rare_max > s->rare ? s->rare_max - s->rare : s->rare;

	return s->rare + rng_below(&s->rare_rng, (uint32_t)(left + left / 4 + 1));
}

static int rare_value(struct search *s, uint32_t nr)
{
	if (!s->rare)
		s->rare_next = rare_place(s);
	if (s->rare++ < s->rare_next || nr == 1)
		return 0;
	s->rare_next = rare_place(s);
	return 1 + (int)rng_below(&s->rare_rng, nr - 1);
}

/* A step was made, and there is one of so many values to choose. */
static bool may_choose(const struct search *s, uint32_t nr)
{
	return s->running && s->step && nr && nr <= INT32_MAX;
}

static int choose(struct search *s, uint32_t nr, bool rare)
{
	int value = -ENOSYS;

	if (!may_choose(s, nr))
		return -EINVAL;
	if (s->force)
		value = 0;
	else if (s->type->choose)
		value = s->type->choose(s->state, nr);
	if (value == -ENOSYS && rare)
		value = rare_value(s, nr);
	else if (value == -ENOSYS)
		value = nr > 1 ? (int)rng_below(&s->env.rng, nr) : 0;
	if (value < 0)
		return value;
	if ((uint32_t)value >= nr)
		return -EPROTO;
	hb_push_value(&s->hb, s->last, (uint32_t)value);
	s->schedule = mix64(s->schedule ^ ((uint64_t)value + 1) << 32);
	return value;
}

int search_choose(struct search *s, uint32_t nr)
{
	return choose(s, nr, false);
}

int search_choose_numbers(struct search *s, uint32_t nr)
{
	int value = -ENOSYS;

	if (!may_choose(s, nr))
		return -EINVAL;
	s->numbers_asked = true;
	if (s->force || s->iteration <= 1)
		return 0;
	if (s->type->choose)
		value = s->type->choose(s->state, 1);
	return value == -ENOSYS ? (int)rng_below(&s->numbers_rng, nr) : value;
}

int search_choose_rare(struct search *s, uint32_t nr)
{
	return choose(s, nr, true);
}
