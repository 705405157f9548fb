/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes no points: with --list-points, counts the steps of the search's executions by place,
 * operation and object, and tells which points no execution came to.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "lib/base/id_map.h"
#include "search/rng.h"
#include "campaign/policy.h"

/* Kinds of steps that are told apart. */
#define KINDS_MAX 20000

/* Steps at one place, of one operation on one object. */
struct kind {
	uint64_t site, object;
	uint16_t op;
	uint64_t times, since, code;
	char *object_name, *place;	/* after the first execution that had one */
};

struct seen_points {
	struct session *s;
	struct kind *list;
	uint32_t nr, room, named;
	struct id_map by_id;	/* of place, operation and object: where it is in the list */
	uint64_t more;		/* steps of further kinds */
	bool no_memory;
};

static int open_seen(void *state, struct session *s, struct race_book *races, char *err,
		     size_t errlen)
{
	struct seen_points *p = state;

	p->s = s;
	return 0;
}

static void release_seen(void *state)
{
	struct seen_points *p = state;

	for (uint32_t i = 0; i < p->nr; i++) {
		free(p->list[i].object_name);
		free(p->list[i].place);
	}
	free(p->list);
	id_map_free(&p->by_id);
}

static void note_step(struct seen_points *p, const struct zug_label *l)
{
	uint64_t id = mix64(l->site ^ mix64(l->object + mix64(l->op)));
	uint32_t *at = id_map_find(&p->by_id, id);

	if (!at && p->nr == KINDS_MAX) {
		p->more++;
		return;
	}
	if (!at) {
		at = ARRAY_RESERVE(p->list, p->room, p->nr + 1) ?
			     id_map_add(&p->by_id, id, p->nr, NULL) :
			     NULL;
		p->no_memory |= !at;
		if (!at)
			return;
		/* the execution that goes on is not counted yet */
		p->list[p->nr++] = (struct kind){ .site = l->site, .object = l->object, .op = l->op,
						  .since = p->s->figures.executions + 1 };
	}
	p->list[*at].times++;
}

static bool on_step(void *state, const struct search_point *p, uint32_t i, struct outcome *o)
{
	struct seen_points *seen = state;

	if (seen->s->o.results.list_points && !seen->s->aside)
		note_step(seen, &p->cand[i].label);
	return false;
}

/* The names are those of this execution. */
static int name_kind(struct seen_points *p, struct kind *k)
{
	const struct place_object *o = places_find_object(p->s->places, k->object);
	const struct place_site *at = places_find_site(p->s->places, k->site);
	char object[256] = "", place[256] = "";

	if (k->object && zug_op_is_access(k->op))
		session_data_text(p->s, k->object, k->site, object, sizeof(object));
	else if (o && o->name)
		snprintf(object, sizeof(object), "%s", o->name);
	if (at)
		k->code = point_table_code(at->module, at->offset);
	if (k->site)
		session_place_text(p->s, k->site, place, sizeof(place));
	k->object_name = strdup(object);
	k->place = strdup(place);
	return k->object_name && k->place ? 0 : -ENOMEM;
}

static int after(void *state, enum points_phase phase, struct execution *x, char *err,
		 size_t errlen)
{
	struct seen_points *p = state;

	for (; p->named < p->nr; p->named++)
		p->no_memory |= name_kind(p, &p->list[p->named]) != 0;
	if (!p->no_memory)
		return 0;
	snprintf(err, errlen, "out of memory");
	return -ENOMEM;
}

static bool was_reached(const struct seen_points *p, uint64_t code)
{
	for (uint32_t i = 0; i < p->nr; i++)
		if (p->list[i].code == code)
			return true;
	return false;
}

/*
 * Code places and those of --point. A primitive has a probe in its library, whether the test uses it or
 * not, and its steps are told by their callers.
 */
static int add_unreached(const struct seen_points *p, struct point_table *t)
{
	int ret = 0;

	for (uint32_t i = 0; i < probes_nr_sites(p->s->probes) && !ret; i++) {
		const struct probe_site *site = probes_site(p->s->probes, i);

		if (!site->silent && (site->code.kind || site->op == ZUG_OP_POINT) &&
		    !was_reached(p, point_table_code(site->module, site->offset)))
			ret = session_table_absent(p->s, t, site->module, site->offset, "no access seen");
	}
	return ret;
}

static int table(void *state, struct point_table *t)
{
	const struct seen_points *p = state;
	int ret = 0;

	for (uint32_t i = 0; i < p->named && !ret; i++) {
		const struct kind *k = &p->list[i];

		ret = point_table_add(t, &(struct point_row){ .object = k->object_name,
							      .place = k->place,
							      .op = zug_op_name(k->op),
							      .times = k->times,
							      .since = k->since,
							      .code = k->code });
	}
	if (!ret && p->more)
		ret = point_table_add(t, &(struct point_row){ .place = "further places and objects",
							      .op = "any", .times = p->more,
							      .why = "too many to list" });
	return ret ? ret : add_unreached(p, t);
}

const struct point_policy policy_seen = {
	.size = sizeof(struct seen_points), .open = open_seen, .release = release_seen,
	.on_step = on_step, .after = after, .table = table,
};
