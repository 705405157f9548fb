/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loops that wait for another task without a point. A switch where the timer strikes could not be
 * replayed. So when a task was stopped again and again in a computation, the loads of shared memory
 * near that place become points that yield where the task goes round (goes_round() of kworld_code.c). In a loop that waits,
 * other tasks run soon, and the loop ends. In a loop that computes, such a point is reached more often than any search could
 * follow: it is taken out for good.
 *
 * A loop that goes round in one state while others could run has ended its execution as a spin. On several processors,
 * or where the kernel preempts, it ends: unless such loops are failures (o.failure.spins), the first executions that come
 * to it do not count, and find its loads: those near the place where it was stopped, and those of the race scan that it came to
 * more often than their limit, as a loop does that looks by a function and does more beside it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "campaign/policy.h"
#include "campaign/scan.h"

/* Bytes before and after the place where a task was stopped: a loop that waits is short. */
#define NEAR 64

enum state {
	TRIED = 0,	/* nothing is known yet */
	WAITS,		/* was reached, and left again */
	COMPUTES,	/* is no point any more */
};

struct wait {
	uint32_t site;
	uint32_t limit;	/* it was a point before, so many times in an execution; 0: it was none */
	char *name;	/* "PATH+0xOFFSET" */
	enum state state;
};

/* A function of a loop in which a task went round for ever, while others could run. */
struct spun {
	uint32_t module;
	uint64_t function;
	unsigned int times;	/* executions that it has cost */
};

/* By then the loads of a loop are points, if they can be. */
#define SPINS_FORGIVEN 4

struct waits {
	struct session *s;
	struct spun *spun;
	unsigned int nr_spun, room_spun;
	struct wait *list;
	unsigned int nr, room;
	char **names;		/* of those that are points */
	uint32_t *used_up;	/* sites of the race scan that an execution which ended as a spin came to too often */
	unsigned int nr_used_up, room_used_up;
	bool woken;		/* a silent site is a point again, and is to be planted */
	bool cut; /* a point proved to be in a computation, and has ended the execution */
};

static int open_waits(void *state, struct session *s, struct race_book *races, char *err,
		      size_t errlen)
{
	struct waits *w = state;

	w->s = s;
	return 0;
}

static void release_waits(void *state)
{
	struct waits *w = state;

	for (unsigned int i = 0; i < w->nr; i++)
		free(w->list[i].name);
	free(w->list);
	free(w->spun);
	free(w->names);
	free(w->used_up);
}

/* The site that exists there; UINT32_MAX: none. */
static uint32_t find_site(const struct session *session, uint32_t module, uint64_t offset)
{
	for (uint32_t i = 0; i < probes_nr_sites(session->probes); i++) {
		const struct probe_site *s = probes_site(session->probes, i);

		if (s->module == module && s->offset == offset)
			return i;
	}
	return UINT32_MAX;
}

static bool is_ours(const struct waits *w, uint32_t site)
{
	for (unsigned int i = 0; i < w->nr; i++)
		if (w->list[i].site == site)
			return true;
	return false;
}

/*
 * The load there can be made a point. *site: UINT32_MAX: a new one; else one that exists and is silent, as the race scan had
 * no use for it, or that is a point of the race scan, which is none any more in an execution that has come there too often.
 */
static bool can_add(const struct waits *w, uint32_t module, uint64_t offset, uint32_t *site)
{
	const struct probe_site *there;

	*site = find_site(w->s, module, offset);
	if (*site == UINT32_MAX)
		return true;
	there = probes_site(w->s->probes, *site);
	return (there->silent || there->limit) && (there->op == ZUG_OP_DATA_READ || there->op == ZUG_OP_ATOMIC_LOAD) &&
	       !is_ours(w, *site);
}

/* Makes a point of one load. 1, 0: it cannot be or is one already, or -errno. */
static int add(struct waits *w, uint32_t module, uint64_t offset, char *err, size_t errlen)
{
	struct probe_code place = { .offset = offset, .waits = true };
	struct session *s = w->s;
	const struct probe_site *there;
	uint32_t site, limit = 0;
	int ret = 1;

	if (!can_add(w, module, offset, &site))
		return 0;
	if (!ARRAY_RESERVE(w->list, w->room, w->nr + 1))
		goto no_memory;
	if (site != UINT32_MAX) {
		there = probes_site(s->probes, site);
		limit = there->silent ? 0 : there->limit;
		probes_wait_at(s->probes, site);
		w->woken = true;
	} else {
		site = probes_nr_sites(s->probes);
		ret = probes_add_code(s->probes, module, &place, 1, err, errlen);
	}
	if (ret <= 0)
		return ret;
	w->list[w->nr] = (struct wait){ .site = site, .limit = limit };
	if (asprintf(&w->list[w->nr].name, "%s+0x%lx", probes_module(s->probes, module)->path,
		     (unsigned long)offset) < 0)
		goto no_memory;
	w->nr++;
	return ret;
no_memory:
	snprintf(err, errlen, "out of memory");
	return -ENOMEM;
}

/* The code in which a task was stopped, and the function (*f); NULL: none of the program or its own libraries. */
static const struct code *code_around(const struct waits *w, const struct place_site *at, const struct code_function **f)
{
	struct session *s = w->s;
	const struct probe_module *m = at ? probes_module(s->probes, at->module) : NULL;
	const struct code *code;
	char ignored[256];

	if (!m || (strcmp(m->path, s->paths.program) && probes_is_system(m->path)))
		return NULL;
	code = probes_code(s->probes, at->module, ignored, sizeof(ignored));
	*f = code ? code_function(code, at->offset) : NULL;
	return *f ? code : NULL;
}

/* A load of shared memory that can be probed, near the place where a task was stopped in f. */
static bool is_near(const struct code_place *p, const struct code_function *f, uint64_t offset)
{
	return p->kind == CODE_LOAD && !(p->flags & (CODE_LOCAL | CODE_NO_ADDR)) && (p->flags & CODE_PROBE) &&
	       p->offset >= f->start && p->offset < f->end && p->offset + NEAR >= offset && p->offset <= offset + NEAR;
}

/* Makes points of the loads near the place where a task was stopped. How many, or -errno. */
static int add_near(struct waits *w, const struct place_site *at, char *err, size_t errlen)
{
	const struct code_function *f;
	const struct code *code = code_around(w, at, &f);
	int nr = 0, ret;

	for (uint32_t i = 0; code && i < code_nr(code); i++) {
		const struct code_place *p = code_at(code, i);

		if (!is_near(p, f, at->offset))
			continue;
		ret = add(w, at->module, p->offset, err, errlen);
		if (ret < 0)
			return ret;
		nr += ret;
	}
	return nr;
}

/* True when some load near that place is no point yet, and could be one. */
static bool more_near(const struct waits *w, const struct place_site *at)
{
	const struct code_function *f;
	const struct code *code = code_around(w, at, &f);

	for (uint32_t i = 0; code && i < code_nr(code); i++) {
		const struct code_place *p = code_at(code, i);
		uint32_t site;

		if (is_near(p, f, at->offset) && can_add(w, at->module, p->offset, &site))
			return true;
	}
	return false;
}

/* What a loop that goes through these places has cost so far; NULL: they are in no code of the program, or no memory. */
static struct spun *cost_of(struct waits *w, const uint64_t *sites, unsigned int nr)
{
	struct spun one = { 0 };
	bool any = false;

	for (unsigned int i = 0; i < nr; i++) {
		const struct place_site *at = places_find_site(w->s->places, sites[i]);
		const struct code_function *f;

		if (!code_around(w, at, &f))
			continue;
		one = (struct spun){ .module = at->module, .function = f->start };
		any = true;
		for (unsigned int k = 0; k < w->nr_spun; k++)
			if (w->spun[k].module == one.module && w->spun[k].function == one.function)
				return &w->spun[k];
	}
	if (!any || !ARRAY_RESERVE(w->spun, w->room_spun, w->nr_spun + 1))
		return NULL;
	w->spun[w->nr_spun] = one;
	return &w->spun[w->nr_spun++];
}

/*
 * The loop may call functions, and the timer strikes anywhere in it. In lanes, which learn nothing, only loads that are
 * no points yet are a reason.
 */
static bool may_end(struct waits *w, const uint64_t *sites, unsigned int nr)
{
	struct spun *spun;

	if (!w->s->frozen) {
		spun = cost_of(w, sites, nr);
		return spun && spun->times++ < SPINS_FORGIVEN;
	}
	for (unsigned int i = 0; i < nr; i++)
		if (more_near(w, places_find_site(w->s->places, sites[i])))
			return true;
	return false;
}

/*
 * Notes the loads of the race scan that were points in this execution up to their limit, and then none: a loop that looks at
 * them waits without a point by what zug does, and not by what the test does. Another execution may come before the next one
 * that learns. True: there are some.
 */
static bool note_used_up(struct waits *w)
{
	bool any = false;

	for (uint32_t i = 0; i < probes_nr_sites(w->s->probes); i++) {
		const struct probe_site *s = probes_site(w->s->probes, i);

		if (s->limit < LIMIT || s->silent || s->code.kind != CODE_LOAD || kworld_hits(w->s->world, i) < s->limit ||
		    is_ours(w, i))
			continue;
		any = true;
		if (!w->s->frozen && ARRAY_RESERVE(w->used_up, w->room_used_up, w->nr_used_up + 1))
			w->used_up[w->nr_used_up++] = i;
	}
	return any;
}

static void judge_spin(void *state, struct execution *x)
{
	struct waits *w = state;
	const uint64_t *sites;
	unsigned int nr;

	if (x->outcome.kind != ZUG_OUTCOME_SPIN || w->s->o.failure.spins || w->s->aside)
		return;
	nr = kworld_long_computation(w->s->world, &sites);
	if (!note_used_up(w) && !may_end(w, sites, nr))
		return;
	outcome_set(&x->outcome, ZUG_OUTCOME_DISCARDED, "a loop that waits without a point was found");
	x->outcome.failure = 0;
	x->cut = true;
}

/* Judges the points by the last execution. How many are no points any more. */
static int judge(struct waits *w)
{
	int nr = 0;

	for (unsigned int i = 0; i < w->nr; i++) {
		struct wait *one = &w->list[i];
		uint32_t hits = kworld_hits(w->s->world, one->site);

		if (one->state != TRIED)
			continue;
		if (hits >= KWORLD_HOT) {
			one->state = COMPUTES;
			if (one->limit)
				probes_wait_no_more(w->s->probes, one->site, one->limit);
			else
				probes_silence(w->s->probes, one->site, true);
			nr++;
		} else if (hits > 1) {
			one->state = WAITS;
		}
	}
	return nr;
}

static int learn(void *state, bool only_more, char *err, size_t errlen)
{
	struct waits *w = state;
	struct session *s = w->s;
	const uint64_t *sites;
	unsigned int nr;
	int added = 0, gone, ret;

	if (only_more)
		return 0;
	gone = judge(w);
	if (gone && session_replant(s, err, errlen))
		return -EIO;
	nr = kworld_long_computation(s->world, &sites);
	for (unsigned int i = 0; i < nr && !w->cut; i++) {
		ret = add_near(w, places_find_site(s->places, sites[i]), err, errlen);
		if (ret < 0)
			return ret == -ENOMEM ? ret : -EIO;
		added += ret;
	}
	while (w->nr_used_up) {
		const struct probe_site *one = probes_site(w->s->probes, w->used_up[--w->nr_used_up]);

		ret = add(w, one->module, one->offset, err, errlen);
		if (ret < 0)
			return ret == -ENOMEM ? ret : -EIO;
		added += ret;
	}
	if (w->woken && session_replant(s, err, errlen))
		return -EIO;
	w->woken = false;
	return gone || added;
}

static void begin(void *state, bool *apart)
{
	((struct waits *)state)->cut = false;
}

static bool on_step(void *state, const struct search_point *p, uint32_t i, struct outcome *o)
{
	struct waits *w = state;

	if (w->s->aside)
		return false;
	for (unsigned int k = 0; k < w->nr && !w->cut; k++)
		w->cut = w->list[k].state == TRIED &&
			 kworld_hits(w->s->world, w->list[k].site) >= KWORLD_HOT;
	if (w->cut)
		outcome_set(o, ZUG_OUTCOME_TIMEOUT, "a point in a computation was found");
	return w->cut;
}

static bool looks(void *state)
{
	const struct waits *w = state;

	for (unsigned int k = 0; k < w->nr && !w->s->aside; k++)
		if (w->list[k].state == TRIED)
			return true;
	return false;
}

static int after(void *state, enum points_phase phase, struct execution *x, char *err,
		 size_t errlen)
{
	x->cut |= ((struct waits *)state)->cut;
	if (x->cut)
		outcome_set(&x->outcome, ZUG_OUTCOME_PASS, "%s", "");
	return 0;
}

static int lists(void *state, struct options_replay *l)
{
	struct waits *w = state;
	unsigned int n = 0;

	free(w->names);
	w->names = calloc(w->nr + 1, sizeof(*w->names));
	if (!w->names)
		return -ENOMEM;
	for (unsigned int i = 0; i < w->nr; i++)
		if (w->list[i].state != COMPUTES)
			w->names[n++] = w->list[i].name;
	if (n)
		l->waits = w->names;
	return 0;
}

static int table(void *state, struct point_table *t)
{
	const struct waits *w = state;
	int ret = 0;

	for (unsigned int i = 0; i < w->nr && !ret; i++) {
		const struct probe_site *s = probes_site(w->s->probes, w->list[i].site);

		if (w->list[i].state == COMPUTES && !w->list[i].limit)
			ret = session_table_absent(w->s, t, s->module, s->offset, "in a computation, left out");
	}
	return ret;
}

static void note(void *state, struct campaign_notes *n)
{
	const struct waits *w = state;
	struct trace_frame frame;
	char function[256];
	bool any = false;
	size_t len;
	FILE *f = open_memstream(&n->waits, &len);

	for (unsigned int i = 0; f && i < w->nr; i++) {
		const struct wait *one = &w->list[i];
		const struct probe_site *s = probes_site(w->s->probes, one->site);

		if (one->state != WAITS)
			continue;
		fprintf(f, "%s",
			any ? ", " : "points in loops that wait for other tasks without yielding: ");
		any = true;
		if (symfile_frames(probes_module(w->s->probes, s->module)->file, s->offset, &frame,
				   1) > 0 &&
		    frame.function && frame.file) {
			symbols_brief(frame.function, function, sizeof(function));
			fprintf(f, "%s (%s:%u)", function, strrchr(frame.file, '/') ?
				strrchr(frame.file, '/') + 1 : frame.file, frame.line);
		} else {
			fprintf(f, "%s", one->name);
		}
	}
	if (any)
		fprintf(f, "\n");
	if (f)
		fclose(f);
}

const struct point_policy policy_waits = {
	.size = sizeof(struct waits),
	.open = open_waits,
	.release = release_waits,
	.learn = learn,
	.learns_always = true,
	.begin = begin,
	.on_step = on_step,
	.looks = looks,
	.judge = judge_spin,
	.after = after,
	.lists = lists,
	.table = table,
	.note = note,
};
