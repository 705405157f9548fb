/* SPDX-License-Identifier: GPL-2.0-only */
#include "search/access.h"
#include "search/torn.h"

/* An update of more steps than that is not looked for: this goes back from each change. */
#define UPDATE_MAX	2000

enum part { NEITHER, LOOKS, CHANGES };

static bool comes_from(const struct critical *c, uint32_t task, uint32_t ancestor)
{
	for (uint32_t n = 0; task < c->nr_tasks && n < c->nr_tasks; n++, task = c->parents[task])
		if (task == ancestor)
			return true;
	return false;
}

/* Two tasks are of one side that the third is not of. */
static bool is_side(const struct critical *c, uint32_t a, uint32_t b, uint32_t other)
{
	if (a == b)
		return a != other;
	return (comes_from(c, a, b) && !comes_from(c, other, b)) || (comes_from(c, b, a) && !comes_from(c, other, a));
}

static bool is_on(const struct zug_label *l, uint64_t object)
{
	return l->object == object || l->object2 == object;
}

/* A file is opened to be read, or to be changed (created, made empty, added to): what the task does with it next. */
static enum part of_open(const struct critical *c, size_t step, uint64_t object)
{
	const struct schedule *s = c->s;

	for (size_t i = step + 1; i < s->nr && i < step + UPDATE_MAX; i++)
		if (s->tasks[i] == s->tasks[step] && is_on(&s->labels[i], object) && s->labels[i].op != ZUG_OP_CLOSE &&
		    s->labels[i].op != ZUG_OP_STAT)
			return s->labels[i].op == ZUG_OP_READ ? LOOKS : CHANGES;
	return CHANGES;
}

static enum part part_of(const struct critical *c, size_t step, uint64_t object)
{
	const struct zug_label *l = &c->s->labels[step];

	/* it only copies from there; or what it reads elsewhere is written there */
	if (l->object2 == object && l->object != object && l->flags & ZUG_L_COPIES)
		return LOOKS;
	if (l->object2 == object && l->object != object && (l->op == ZUG_OP_READ || l->op == ZUG_OP_RECV))
		return CHANGES;
	switch (l->op) {
	case ZUG_OP_DATA_READ:
	case ZUG_OP_ATOMIC_LOAD:
	case ZUG_OP_READ:
	case ZUG_OP_STAT:
		return LOOKS;
	case ZUG_OP_OPEN:
		return of_open(c, step, object);
	case ZUG_OP_DATA_WRITE:
	case ZUG_OP_DATA_ACCESS:
	case ZUG_OP_ATOMIC_STORE:
	case ZUG_OP_ATOMIC_RMW:
	case ZUG_OP_WRITE:
	case ZUG_OP_UNLINK:
	case ZUG_OP_RENAME:
	case ZUG_OP_LINK:
	case ZUG_OP_MKDIR:
	case ZUG_OP_RMDIR:
	case ZUG_OP_TRUNCATE:
		return CHANGES;
	}
	return NEITHER;
}

/* Another file has that name from then on, or none: who has opened the old one reads that. */
static bool replaces(const struct zug_label *l, uint64_t object)
{
	return (l->op == ZUG_OP_RENAME && l->object2 == object) || (l->op == ZUG_OP_UNLINK && l->object == object);
}

/* The update that step 'own' ends, if it is torn. */
static bool look_back(const struct critical *c, size_t own, uint64_t object, struct torn *t)
{
	const struct schedule *s = c->s;
	size_t end = own > UPDATE_MAX ? own - UPDATE_MAX : 0;
	uint32_t task = s->tasks[own];
	bool reads = false, read_on = false, vague;
	enum part part;

	*t = (struct torn){ .look = SIZE_MAX, .read = SIZE_MAX, .between = SIZE_MAX, .own = own, .object = object };
	for (size_t i = own; i-- > end;) {
		part = is_on(&s->labels[i], object) ? part_of(c, i, object) : NEITHER;
		if (part == NEITHER)
			continue;
		if (t->between == SIZE_MAX) {
			/* it has changed it before, or has looked at it again since; but for what it has opened before that */
			if (comes_from(c, s->tasks[i], task)) {
				read_on = s->labels[i].op == ZUG_OP_READ && !zug_object_is_numbered(object);
				if (!read_on)
					break;
			} else if (part == CHANGES) {
				if (read_on && !replaces(&s->labels[i], object))
					break;
				t->between = i;
			}
			continue;
		}
		if (!is_side(c, s->tasks[i], task, s->tasks[t->between]))
			continue;
		if (part == CHANGES)
			break;
		t->look = i;
		vague = s->labels[i].op == ZUG_OP_STAT || s->labels[i].op == ZUG_OP_OPEN;
		if (!vague || !reads)
			t->read = i;
		reads |= !vague;
	}
	return t->look != SIZE_MAX;
}

size_t torn_updates(const struct critical *c, uint64_t object, struct torn *updates, size_t most)
{
	const struct schedule *s = c->s;
	size_t nr = 0;

	for (size_t i = 0; i < s->nr && nr < most; i++) {
		const uint64_t on[] = { s->labels[i].object, s->labels[i].object2 };

		for (int k = 0; k < 2 && nr < most; k++)
			if (on[k] && (!object || on[k] == object) && part_of(c, i, on[k]) == CHANGES)
				nr += look_back(c, i, on[k], &updates[nr]);
	}
	return nr;
}
