/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --point, --from, --only and --not: places that the user names, where the search begins, and where
 * points are. A name may mean something in a file that only a program maps which the test starts, so
 * it is looked for again whenever files have become known; what is unknown when an execution has
 * shown no more of them is an error, and at once what is not in the file that it names. A replay has
 * the files of its trace from the start, and what is not in them was not known then either.
 *
 * What the test does before it comes to a --from (or --from-output, --from-call) is the same in all executions, but for
 * what is not under control: no schedule of it is searched. So the first execution of the search shows whether the test
 * gets there at all.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "campaign/policy.h"

struct named {
	struct session *s;
	char **places;		/* NULL: none */
	bool from;
	bool *found;		/* by place of the options */
	unsigned int modules;	/* so many files have been looked through */
};

static int open_named(struct named *p, struct session *s, char **places, bool from)
{
	unsigned int nr = 0;

	while (places && places[nr])
		nr++;
	p->found = calloc(nr + 1, sizeof(*p->found));
	if (!p->found)
		return -ENOMEM;
	p->s = s;
	p->places = places;
	p->from = from;
	return 0;
}

static int open_points(void *state, struct session *s, struct race_book *races, char *err,
		       size_t errlen)
{
	return open_named(state, s, s->o.points.places, false);
}

static int open_from(void *state, struct session *s, struct race_book *races, char *err, size_t errlen)
{
	return open_named(state, s, s->o.points.from, true);
}

static void release_points(void *state)
{
	struct named *p = state;

	free(p->found);
}

static int look(struct named *p, const char *place, char *err, size_t errlen)
{
	struct session *s = p->s;
	bool sync = s->o.points.sync && !s->o.replay.probed;
	bool again;
	int ret;

	if (!p->from)
		return probes_add_point(s->probes, place, s->o.command.cwd, sync, err, errlen);
	ret = probes_add_from(s->probes, place, s->o.command.cwd, sync, &again, err, errlen);
	return ret > 0 && again && session_replant(s, err, errlen) ? -EIO : ret;
}

/* How many places were added. */
static int look_for_all(struct named *p, char *err, size_t errlen)
{
	uint32_t before = probes_nr_sites(p->s->probes);
	const char *behind = p->from ? p->s->o.points.behind : NULL;

	if (behind && probes_add_behind(p->s->probes, behind, p->s->o.command.cwd, err, errlen) < 0)
		return -EINVAL;
	for (unsigned int i = 0; p->places && p->places[i]; i++) {
		int ret = look(p, p->places[i], err, errlen);

		p->found[i] |= ret > 0;
		if (ret == -EOPNOTSUPP || ret == -ENOMEM || ret == -EIO || (ret == -ENXIO && !p->s->o.replay.probed))
			return ret == -ENOMEM || ret == -EIO ? ret : -EINVAL;
	}
	p->modules = probes_nr_modules(p->s->probes);
	return (int)(probes_nr_sites(p->s->probes) - before);
}

static int start(void *state, char *err, size_t errlen)
{
	int ret = look_for_all(state, err, errlen);

	return ret < 0 ? ret : 0;
}

/* All files are known: what is in none of them is an error. */
static int refuse_unknown(struct named *p, char *err, size_t errlen)
{
	if (p->s->o.replay.probed || (p->from && p->s->begins))
		return 0;
	for (unsigned int i = 0; p->places && p->places[i]; i++)
		if (!p->found[i]) {
			int ret = look(p, p->places[i], err, errlen);

			if (!ret)
				probes_say_unknown(p->s->probes, p->from, p->places[i], err, errlen);
			if (ret <= 0)
				return ret == -ENOMEM ? ret : -EINVAL;
			p->found[i] = true;
		}
	return 0;
}

static int learn(void *state, bool only_more, char *err, size_t errlen)
{
	struct named *p = state;

	return probes_nr_modules(p->s->probes) == p->modules ? refuse_unknown(p, err, errlen) :
							       look_for_all(p, err, errlen);
}

static int settle(void *state, bool only_more, bool *more, char *err, size_t errlen)
{
	return refuse_unknown(state, err, errlen);
}

/* ---- --only and --not ---- */

static int open_scope(void *state, struct session *s, struct race_book *races, char *err, size_t errlen)
{
	((struct named *)state)->s = s;
	return 0;
}

/* All files are known: what is in none of them is an error. */
static int settle_scope(void *state, bool only_more, bool *more, char *err, size_t errlen)
{
	const struct session *s = ((struct named *)state)->s;
	char **lists[] = { s->o.points.only, s->o.points.without };

	for (int i = 0; i < 2 && !s->o.replay.probed; i++)
		for (char **item = lists[i]; item && *item; item++)
			if (!probes_scope_known(s->probes, *item) && !probes_scope_interpreted(s->probes)) {
				snprintf(err, errlen,
					 "--%s %s: no such library, function, source file or folder in the program "
					 "or its libraries (a folder has a slash behind its name)",
					 i ? "not" : "only", *item);
				return -EINVAL;
			}
	return 0;
}

/* ---- --from ---- */

/* What the first option says of where the search begins. */
static void name_begin(const struct options_points *o, char *buf, size_t len)
{
	const char *first = o->from && o->from[0] ? o->from[0] : o->from_output ? o->from_output : o->from_calls[0];
	int nr = !!o->from_output;

	for (char **s = o->from; s && *s; s++)
		nr++;
	for (char **s = o->from_calls; s && *s; s++)
		nr++;
	snprintf(buf, len, "--from%s %s%s", o->from && o->from[0] ? "" : o->from_output ? "-output" : "-call", first,
		 nr > 1 ? " (and the others)" : "");
}

/* Where no execution of the search has come. */
static int after_from(void *state, enum points_phase phase, struct execution *x, char *err, size_t errlen)
{
	const struct named *p = state;
	char name[256];

	/* a program in Python need not make a task */
	if (!session_begins_late(&p->s->o) || p->s->begins || phase != POINTS_SEARCHING || !x->before ||
	    x->outcome.kind == ZUG_OUTCOME_INTERRUPTED)
		return 0;
	name_begin(&p->s->o.points, name, sizeof(name));
	if (x->outcome.kind != ZUG_OUTCOME_PASS) {
		session_say(p->s, "execution %lu ended before the test came to %s: nothing of it was searched",
			    (unsigned long)p->s->figures.executions, name);
		return 0;
	}
	snprintf(err, errlen, "%s: the test ended without getting there, so that nothing of it was searched%s", name,
		 p->places && p->places[0] ?
			 ": name a function that it calls (the compiler may have inlined the calls of this one)" : "");
	return -EINVAL;
}

const struct point_policy policy_points = {
	.size = sizeof(struct named), .open = open_points, .release = release_points,
	.start = start, .learn = learn, .settle = settle,
};

const struct point_policy policy_from = {
	.size = sizeof(struct named), .open = open_from, .release = release_points,
	.start = start, .learn = learn, .settle = settle, .after = after_from,
};

const struct point_policy policy_scope = { .size = sizeof(struct named), .open = open_scope, .settle = settle_scope };
