/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes no points: watches what the test does that the search tries in one way only (untried.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "campaign/policy.h"
#include "campaign/untried.h"
#include "engine/world.h"

struct watched {
	struct session *s;
	const struct race_book *races;
	struct untried u;
};

static int open_untried(void *state, struct session *s, struct race_book *races, char *err,
			size_t errlen)
{
	struct watched *w = state;

	w->s = s;
	w->races = races;
	return 0;
}

/* The task stands before a wait for a condition that could return at once. */
static bool may_return(struct session *s, uint32_t task, const struct zug_label *l)
{
	struct world_faults can;

	if (l->op != ZUG_OP_COND_WAIT && l->op != ZUG_OP_COND_TIMEDWAIT)
		return false;
	s->world->ops->faults(s->world, &s->world->tasks[task], 1u << FAULT_SPURIOUS, &can);
	return can.possible;
}

static bool on_step(void *state, const struct search_point *p, uint32_t i, struct outcome *o)
{
	struct watched *w = state;
	struct untried *u = &w->u;
	bool timer;

	if (!p->step)
		untried_begin(u);
	/* while the scan looks, everything that may be shared is a point */
	untried_step(u, p->cand[i].task, &p->cand[i].label, !w->races->scanning);
	u->conditions = u->conditions || may_return(w->s, p->cand[i].task, &p->cand[i].label);
	if (!u->timed || (u->handlers && !u->signals)) {
		timer = kworld_any_timer(w->s->world);
		u->signals |= timer;
		/* what of a poll() its label does not say */
		u->timed |= timer || kworld_any_timed(w->s->world);
	}
	u->early |= w->s->o.inputs.explore_timeouts;
	w->s->timed |= u->timed && !w->s->frozen;
	return false;
}

static const char *name_of(void *ctx, uint64_t object)
{
	const struct place_object *o = places_find_object(((struct session *)ctx)->places, object);

	return o ? o->name : NULL;
}

/*
 * Which functions of a C library that keep something the test's own files call. An interpreter offers them all to the programs
 * that it executes: what it imports says nothing of this one.
 */
static void find_keepers(struct watched *w)
{
	const char *const *names = untried_keepers();
	unsigned int nr = 0, n = 0;
	bool calls[32] = { 0 };

	while (nr < sizeof(calls) && names[nr])
		nr++;
	for (unsigned int i = 0; i < probes_nr_modules(w->s->probes); i++) {
		struct symfile *f = probes_module(w->s->probes, i)->file;

		if (f && !symfile_of_system(f) && !probes_is_runtime(w->s->probes, i))
			symfile_imports(f, names, nr, calls);
	}
	memset(w->u.keep, 0, sizeof(w->u.keep));
	for (unsigned int i = 0; i < nr && n < UNTRIED_KEEP; i++)
		if (calls[i])
			w->u.keep[n++] = names[i];
}

static void note(void *state, struct campaign_notes *n)
{
	struct watched *w = state;
	size_t len;
	FILE *to = open_memstream(&n->untried, &len);

	if (!to)
		return;
	if (w->u.threads)
		find_keepers(w);
	untried_text(&w->u, &w->s->o, name_of, w->s, to);
	fclose(to);
}

const struct point_policy policy_untried = {
	.size = sizeof(struct watched), .open = open_untried, .on_step = on_step, .note = note,
};
