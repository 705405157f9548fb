/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * save.c - states that several strategies have, written and read
 */
#include "search/diverge.h"
#include "search/profile.h"
#include "search/save.h"
#include "search/seen.h"

void save_diverge(struct codec *c, struct diverge *d)
{
	uint64_t depth = d->depth;

	codec_field(c, depth);
	d->depth = (size_t)depth;
	codec_field(c, d->seen);
	codec_field(c, d->attempts);
	codec_field(c, d->given_up);
}

void save_seen(struct codec *c, struct seen *s)
{
	uint64_t size = s->mask + 1, room;

	codec_array(c, &s->table, &size, &room, sizeof(*s->table));
	/* A table whose size is no power of two would be probed for ever. */
	if (!c->error && (size < 2 || size & (size - 1)))
		c->error = -EBADMSG;
	s->mask = c->error ? s->mask : size - 1;
	codec_field(c, s->nr);
	codec_field(c, s->once);
	codec_field(c, s->full);
	if (!c->error && s->nr > size / 2 + 1)
		c->error = -EBADMSG;
}

void save_profile(struct codec *c, struct profile *p)
{
	uint32_t nr = p->nr_tasks;

	codec_field(c, p->executions);
	codec_array32(c, &p->steps, &nr, NULL, sizeof(*p->steps));
	codec_array32(c, &p->parent, &nr, &p->room_parent, sizeof(*p->parent));
	p->nr_tasks = nr;
	codec_array32(c, &p->lives, &p->nr_lives, NULL, sizeof(*p->lives));
	codec_array32(c, &p->pairs, &p->nr_pairs, &p->room_pairs, sizeof(*p->pairs));
	codec_array32(c, &p->objects, &p->nr_objects, &p->room_objects, sizeof(*p->objects));
	if (!c->write && !c->error && profile_index(p))
		c->error = -ENOMEM;
}
