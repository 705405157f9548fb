/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --watch: the watchpoints are set once addresses are known, which one execution may show. When the
 * points are settled, instructions that read and write a watched variable without LOCK are split into
 * two steps. A replay has those that its trace lists (policy_recorded.c).
 */
#include <errno.h>
#include <stdlib.h>
#include "campaign/policy.h"
#include "campaign/probe_places.h"

struct watches {
	struct session *s;
	struct place_list split;
};

static int open_watches(void *state, struct session *s, struct race_book *races, char *err,
			size_t errlen)
{
	struct watches *c = state;

	c->s = s;
	return 0;
}

static void release_watches(void *state)
{
	struct watches *c = state;

	place_list_release(&c->split);
}

static int split_variable(struct watches *c, const struct session_watch *w, char *err,
			  size_t errlen)
{
	struct session *s = c->s;
	struct code *code = probes_code(s->probes, w->module, err, errlen);
	uint64_t at;
	int ret;

	/* of a file that cannot be disassembled nothing is known, and no point is lost but these */
	for (uint32_t i = 0; code && i < code_nr(code); i++) {
		const struct code_place *p = code_at(code, i);
		struct probe_code place = { .offset = p->offset, .split = true };

		if (p->kind != CODE_RMW || !code_static_operand(code, p, &at) || at < w->vaddr ||
		    at >= w->vaddr + w->size)
			continue;
		ret = probes_add_code(s->probes, w->module, &place, 1, err, errlen);
		if (ret < 0)
			return -EIO;
		if (ret &&
		    place_list_add(&c->split, probes_module(s->probes, w->module)->path, p->offset))
			return -ENOMEM;
	}
	return 0;
}

static int learn(void *state, bool only_more, char *err, size_t errlen)
{
	struct watches *c = state;
	char why[512];

	/* what stays unknown is told when the points are settled */
	return c->s->o.points.watches && !c->s->nr_watches && !session_set_watches(c->s, why, sizeof(why)) &&
	       c->s->nr_watches;
}

static int settle(void *state, bool only_more, bool *more, char *err, size_t errlen)
{
	struct watches *c = state;
	int ret = c->s->nr_watches ? 0 : session_set_watches(c->s, err, errlen);

	for (unsigned int i = 0; i < c->s->nr_watches && !ret && !*more && !c->s->o.replay.probed;
	     i++)
		ret = split_variable(c, &c->s->watch[i], err, errlen);
	return ret;
}

static int lists(void *state, struct options_replay *l)
{
	struct watches *c = state;

	if (c->split.nr)
		l->split = c->split.list;
	return 0;
}

const struct point_policy policy_watches = {
	.size = sizeof(struct watches), .open = open_watches, .release = release_watches,
	.learn = learn, .settle = settle, .lists = lists,
};
