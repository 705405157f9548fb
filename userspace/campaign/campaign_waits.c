/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loops that wait for another task without a point. A switch where the timer strikes could not be replayed:
 * so when a task was stopped again and again in a computation, the loads of shared memory around there
 * become points at which others get a turn. Is it a loop that waits, others come soon, and it ends; is it one that
 * computes, its points are reached more often than any search could follow, and are taken out for good.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "campaign/campaign_internal.h"
#include "cli/exit_codes.h"

/* Before and after where it was stopped, in bytes: a loop that waits is short. */
#define NEAR 64

enum state {
	TRIED = 0,	/* nothing is known yet */
	WAITS,		/* was reached, and left again */
	COMPUTES,	/* is no point any more */
};

struct waits {
	struct wait {
		uint32_t site;
		char *name;	/* "PATH+0xOFFSET" */
		enum state state;
	} *list;
	unsigned int nr;
	bool woken;		/* a silent site is a point again, and is to be planted */
	bool cut;
};

/* The site there is already; UINT32_MAX: none. */
static uint32_t find_site(const struct campaign *c, uint32_t module, uint64_t offset)
{
	for (uint32_t i = 0; i < probes_nr_sites(c->probes); i++) {
		const struct probe_site *s = probes_site(c->probes, i);

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

static int add(struct campaign *c, uint32_t module, uint64_t offset, char *err, size_t errlen)
{
	struct probe_code place = { .offset = offset, .waits = true };
	struct waits *w = c->waits;
	uint32_t site = find_site(c, module, offset);
	const struct probe_site *there = site == UINT32_MAX ? NULL : probes_site(c->probes, site);
	struct wait *list;
	int ret = 1;

	/* what the look for data races had no use for is there, and silent */
	if (there && (!there->silent || there->op != ZUG_OP_DATA_READ || is_ours(w, site)))
		return 0;
	list = realloc(w->list, (w->nr + 1) * sizeof(*list));
	if (!list)
		goto no_memory;
	w->list = list;
	if (there) {
		probes_wait_at(c->probes, site);
		w->woken = true;
	} else {
		site = probes_nr_sites(c->probes);
		ret = probes_add_code(c->probes, module, &place, 1, err, errlen);
	}
	if (ret <= 0)
		return ret;
	list[w->nr] = (struct wait){ .site = site };
	if (asprintf(&list[w->nr].name, "%s+0x%lx", probes_module(c->probes, module)->path,
		     (unsigned long)offset) < 0)
		goto no_memory;
	w->nr++;
	return ret;
no_memory:
	snprintf(err, errlen, "out of memory");
	return -ENOMEM;
}

/* The loads around one stop. How many became points. */
static int add_near(struct campaign *c, const struct place_site *at, char *err, size_t errlen)
{
	const struct probe_module *m = at ? probes_module(c->probes, at->module) : NULL;
	const struct code_function *f;
	struct code *code;
	char ignored[256];
	int nr = 0, ret;

	if (!m || (strcmp(m->path, c->file) && probes_is_system(m->path)))
		return 0;
	code = probes_code(c->probes, at->module, ignored, sizeof(ignored));
	f = code ? code_function(code, at->offset) : NULL;
	for (uint32_t i = 0; f && i < code_nr(code); i++) {
		const struct code_place *p = code_at(code, i);

		if (p->kind != CODE_LOAD || (p->flags & (CODE_LOCAL | CODE_NO_ADDR)) || !(p->flags & CODE_PROBE) ||
		    p->offset < f->start || p->offset >= f->end || p->offset + NEAR < at->offset ||
		    p->offset > at->offset + NEAR)
			continue;
		ret = add(c, at->module, p->offset, err, errlen);
		if (ret < 0)
			return ret;
		nr += ret;
	}
	return nr;
}

/* What the last execution says of those there are. How many are points no more. */
static int judge(struct campaign *c)
{
	int nr = 0;

	for (unsigned int i = 0; i < c->waits->nr; i++) {
		struct wait *w = &c->waits->list[i];
		uint32_t hits = kworld_hits(c->world, w->site);

		if (w->state != TRIED)
			continue;
		if (hits >= KWORLD_HOT) {
			w->state = COMPUTES;
			probes_silence(c->probes, w->site, true);
			nr++;
		} else if (hits > 1) {
			w->state = WAITS;
		}
	}
	return nr;
}

int campaign_waits(struct campaign *c, char *err, size_t errlen)
{
	const uint64_t *sites;
	unsigned int nr;
	int added = 0, gone, ret;

	if (!c->waits)
		c->waits = calloc(1, sizeof(*c->waits));
	if (!c->waits) {
		snprintf(err, errlen, "out of memory");
		return -ENOMEM;
	}
	gone = judge(c);
	if (gone) {
		kernel_clear_probes(c->k);
		if (probes_replant(c->probes, err, errlen))
			return -EIO;
	}
	nr = kworld_long_computation(c->world, &sites);
	for (unsigned int i = 0; i < nr && !c->waits->cut; i++) {
		ret = add_near(c, places_find_site(c->places, sites[i]), err, errlen);
		if (ret < 0)
			return ret;
		added += ret;
	}
	if (!gone && !added)
		return 0;
	if (c->waits->woken) {
		c->waits->woken = false;
		kernel_clear_probes(c->k);
		if (probes_replant(c->probes, err, errlen))
			return -EIO;
	}
	if (campaign_update_json(c)) {
		snprintf(err, errlen, "out of memory");
		return -ENOMEM;
	}
	return 1;
}

bool campaign_waits_over(struct campaign *c)
{
	struct waits *w = c->waits;

	for (unsigned int i = 0; w && i < w->nr && !w->cut; i++)
		w->cut = w->list[i].state == TRIED && kworld_hits(c->world, w->list[i].site) >= KWORLD_HOT;
	return w && w->cut;
}

void campaign_waits_guard(struct campaign *c)
{
	if (c->waits)
		c->waits->cut = false;
}

bool campaign_waits_cut(const struct campaign *c)
{
	return c->waits && c->waits->cut;
}

char **campaign_waits_list(const struct campaign *c)
{
	unsigned int nr = c->waits ? c->waits->nr : 0, n = 0;
	char **list = calloc(nr + 1, sizeof(*list));

	for (unsigned int i = 0; list && i < nr; i++)
		if (c->waits->list[i].state != COMPUTES)
			list[n++] = c->waits->list[i].name;
	return list;
}

void campaign_waits_tell(const struct campaign *c, FILE *f)
{
	struct trace_frame frame;
	bool any = false;

	for (unsigned int i = 0; c->waits && i < c->waits->nr; i++) {
		const struct wait *w = &c->waits->list[i];
		const struct probe_site *s = probes_site(c->probes, w->site);

		if (w->state != WAITS)
			continue;
		fprintf(f, "%s", any ? ", " : "points in loops that wait for other tasks without one: ");
		any = true;
		if (symfile_frames(probes_module(c->probes, s->module)->file, s->offset, &frame, 1) > 0 &&
		    frame.function && frame.file)
			fprintf(f, "%s (%s:%u)", frame.function, strrchr(frame.file, '/') ?
				strrchr(frame.file, '/') + 1 : frame.file, frame.line);
		else
			fprintf(f, "%s", w->name);
	}
	if (any)
		fprintf(f, "\n");
}

void campaign_waits_free(struct campaign *c)
{
	for (unsigned int i = 0; c->waits && i < c->waits->nr; i++)
		free(c->waits->list[i].name);
	if (c->waits)
		free(c->waits->list);
	free(c->waits);
	c->waits = NULL;
}
