/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "search/pair_order.h"
#include "search/torn.h"

/* The first operation reads what an update is made of, and the second is in the other's change that came into it. */
static bool tears(const struct critical *c, const struct critical_pair *p, const struct torn *t)
{
	uint32_t first, second;
	const struct zug_label *l;

	critical_label(c, p->first, &first);
	l = critical_label(c, p->second, &second);
	return p->first >= t->look && p->first <= t->read && p->second <= t->between &&
	       first == c->s->tasks[t->read] && second == c->s->tasks[t->between] &&
	       (l->object == t->object || l->object2 == t->object);
}

bool pair_is_waited(const struct critical *c, const struct critical_pair *p, const uint64_t *waited, size_t nr)
{
	uint32_t task;
	const struct zug_label *a = critical_label(c, p->first, &task), *b = critical_label(c, p->second, &task);

	for (size_t i = 0; i < nr; i++)
		if ((a->object == waited[i] || a->object2 == waited[i]) && (b->object == waited[i] || b->object2 == waited[i]))
			return true;
	return false;
}

/* What is sent stays there until it is received. (A signal, or the wake-up of a condition, is lost.) */
static bool sends(const struct zug_label *l)
{
	return l->op == ZUG_OP_WRITE || l->op == ZUG_OP_SEND;
}

static bool receives(const struct zug_label *l)
{
	return l->op == ZUG_OP_READ || l->op == ZUG_OP_RECV || l->op == ZUG_OP_POLL || l->op == ZUG_OP_RESUME;
}

/* A pipe, a socket: what has a name is a file, which holds what was written before. */
static bool share_channel(const struct zug_label *a, const struct zug_label *b)
{
	return (zug_object_is_numbered(a->object) && (a->object == b->object || a->object == b->object2)) ||
	       (zug_object_is_numbered(a->object2) && a->object2 == b->object);
}

/* The first one is what the second one comes of: a signal and its handler, a close() and the end of what is read. */
static bool brings_about(const struct zug_label *a, const struct zug_label *b)
{
	return (b->op == ZUG_OP_HANDLER && (a->op == ZUG_OP_KILL || a->op == ZUG_OP_END) && a->object == b->object) ||
	       (b->op == ZUG_OP_RESUME && a->op == ZUG_OP_CLOSE && share_channel(a, b));
}

/* A task stands behind a call, where the handler of a signal may begin that comes of it: what it does next says more. */
static bool stands_behind(const struct zug_label *a, const struct zug_label *b)
{
	return a->op == ZUG_OP_RESUME && a->object && a->object == b->object && (b->op == ZUG_OP_KILL || b->op == ZUG_OP_END);
}

bool pair_waited(const struct schedule *s, size_t receive, size_t send)
{
	if (!receives(&s->labels[receive]) || !sends(&s->labels[send]) || receive > send ||
	    !share_channel(&s->labels[receive], &s->labels[send]))
		return false;
	for (size_t i = receive + 1; i < s->nr; i++)
		if (s->tasks[i] == s->tasks[receive])
			return s->labels[i].op == ZUG_OP_RESUME && i > send;
	return false;
}

bool pair_is_late(const struct critical *c, const struct critical_pair *p)
{
	uint32_t task;
	const struct zug_label *a = critical_label(c, p->first, &task), *b = critical_label(c, p->second, &task);

	if (p->ends)
		return false;
	return (critical_is_foreign(c, a) && critical_is_foreign(c, b)) || (sends(a) && receives(b) && share_channel(a, b)) ||
	       brings_about(a, b) || stands_behind(a, b) || stands_behind(b, a) ||
	       (p->second < c->s->nr && pair_waited(c->s, p->first, p->second));
}

/* One of them acts on a part of what the other acts on: they may have nothing in common. */
static bool is_of_parts(const struct critical *c, const struct critical_pair *p)
{
	uint32_t task;
	const struct zug_label *a = critical_label(c, p->first, &task), *b = critical_label(c, p->second, &task);

	return (a->flags & ZUG_L_PART && a->object2 == b->object) || (b->flags & ZUG_L_PART && b->object2 == a->object);
}

static bool both_read(const struct critical *c, const struct critical_pair *p)
{
	uint32_t task;

	return critical_both_read(critical_label(c, p->first, &task), critical_label(c, p->second, &task));
}

bool pair_is_freed(const struct critical *c, const struct critical_pair *p)
{
	uint32_t task;

	return critical_label(c, p->first, &task)->flags & ZUG_L_FREES;
}

/* Kinds of those that are not late: two of each, for those of parts come last. */
#define KINDS	14

int pair_order(const struct critical *c, const uint64_t *waited, size_t nr_waited, struct critical_pair *pairs, size_t nr)
{
	struct torn *torn = calloc(TORN_MAX, sizeof(*torn));
	struct critical_pair *sorted = calloc(nr + 1, sizeof(*sorted));
	unsigned char *kind = calloc(nr + 1, 1);
	size_t nr_torn, at = 0;
	int ret = torn && sorted && kind ? 0 : -ENOMEM;

	nr_torn = ret ? 0 : torn_updates(c, 0, torn, TORN_MAX);
	for (size_t i = 0; !ret && i < nr; i++) {
		size_t k = 0;

		while (k < nr_torn && !tears(c, &pairs[i], &torn[k]))
			k++;
		kind[i] = critical_is_unchanged(c, &pairs[i]) || both_read(c, &pairs[i]) ? 2 : k == nr_torn;
		if (pairs[i].ends || pair_is_freed(c, &pairs[i]))
			kind[i] = 0;
		else
			kind[i] += pair_is_waited(c, &pairs[i], waited, nr_waited) ? 1 : 4;
		kind[i] = 2 * kind[i] + is_of_parts(c, &pairs[i]);
		if (pair_is_late(c, &pairs[i]))
			kind[i] += KINDS;
	}
	for (unsigned int now = 0; !ret && now < 2 * KINDS; now++)
		for (size_t i = 0; i < nr; i++)
			if (kind[i] == now)
				sorted[at++] = pairs[i];
	if (!ret && nr)
		memcpy(pairs, sorted, nr * sizeof(*sorted));
	free(torn);
	free(sorted);
	free(kind);
	return ret;
}
