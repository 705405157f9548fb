/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --point: places that the user names. A name may mean something in a file that only a program maps
 * which the test starts, so it is looked for again whenever files have become known; what is
 * unknown when an execution has shown no more of them is an error, and at once what is not in the
 * file that it names. A replay has the files of its
 * trace from the start, and what is not in them was not known then either.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "campaign/policy.h"

struct named {
	struct session *s;
	bool *found;		/* by place of the options */
	unsigned int modules;	/* so many files have been looked through */
};

static int open_points(void *state, struct session *s, struct race_book *races, char *err,
		       size_t errlen)
{
	struct named *p = state;
	unsigned int nr = 0;

	while (s->o.points.places && s->o.points.places[nr])
		nr++;
	p->found = calloc(nr + 1, sizeof(*p->found));
	if (!p->found)
		return -ENOMEM;
	p->s = s;
	return 0;
}

static void release_points(void *state)
{
	struct named *p = state;

	free(p->found);
}

static int look(struct named *p, const char *place, char *err, size_t errlen)
{
	const struct session *s = p->s;
	bool sync = s->o.points.sync && !s->o.replay.probed;

	return probes_add_point(s->probes, place, s->o.command.cwd, sync, err, errlen);
}

/* How many places were added. */
static int look_for_all(struct named *p, char *err, size_t errlen)
{
	uint32_t before = probes_nr_sites(p->s->probes);

	for (unsigned int i = 0; p->s->o.points.places && p->s->o.points.places[i]; i++) {
		int ret = look(p, p->s->o.points.places[i], err, errlen);

		p->found[i] |= ret > 0;
		if (ret == -EOPNOTSUPP || ret == -ENOMEM || (ret == -ENXIO && !p->s->o.replay.probed))
			return ret == -ENOMEM ? ret : -EINVAL;
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
	if (p->s->o.replay.probed)
		return 0;
	for (unsigned int i = 0; p->s->o.points.places && p->s->o.points.places[i]; i++)
		if (!p->found[i]) {
			int ret = look(p, p->s->o.points.places[i], err, errlen);

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

const struct point_policy policy_points = {
	.size = sizeof(struct named), .open = open_points, .release = release_points,
	.start = start, .learn = learn, .settle = settle,
};
