/* SPDX-License-Identifier: GPL-2.0-only */
/* neighbour_own.c - pairs of the program's own code, where several programs take part (neighbour.h) */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "search/neighbour_internal.h"

/* So many own steps on one object are looked through for spans. */
#define STEPS_MAX	4000

/* A program makes both operations and one of the places is in its own code: the other may be in a method of its language's. */
static bool is_users(const struct neighbour *n, const struct critical_pair *p)
{
	uint32_t task;
	uint64_t first = critical_label(&n->failing, p->first, &task)->site;
	uint64_t second = critical_label(&n->failing, p->second, &task)->site;

	return n->users(n->users_ctx, first) || n->users(n->users_ctx, second);
}

/* ---- spans ---- */

/*
 * A task makes an own step on an object, another one does something with that, and the first comes back to it with its next own
 * step: what it has seen may have changed. The pair is that own step, the first one of those that it makes there in a row, and
 * the last thing that the other one did.
 */
struct span {
	size_t first, second;
	uint32_t often;		/* that the place of the first is come to */
	bool stopped;		/* the task was preempted in between, and could have come back before */
};

static int compare(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->stopped != y->stopped)
		return x->stopped ? -1 : 1;
	if (x->often != y->often)
		return x->often < y->often ? -1 : 1;
	if (x->first != y->first)
		return x->first < y->first ? 1 : -1;
	return x->second < y->second ? 1 : x->second > y->second ? -1 : 0;
}

/*
 * The last step of another task on the same object before the task of step 'first' comes back to it, if that other task has an
 * own step there; 0: none. end: the task's next own step there.
 */
static size_t between(const struct schedule *s, const bool *own, size_t first, size_t end)
{
	uint64_t object = s->labels[first].object;
	size_t last = 0;

	for (size_t i = first + 1; i < end; i++) {
		if (s->labels[i].object != object)
			continue;
		if (s->tasks[i] != s->tasks[first])
			last = i;
		else if (last)
			break;
	}
	for (size_t i = last; i > first; i--)
		if (own[i] && s->tasks[i] == s->tasks[last] && s->labels[i].object == object)
			return last;
	return 0;
}

/* Own steps on objects: the last ones first. */
struct own_steps {
	size_t *at, nr;
};

static bool is_alike(const struct schedule *s, size_t a, size_t b)
{
	return s->tasks[a] == s->tasks[b] && s->labels[a].object == s->labels[b].object;
}

/* The next own step of the same task on the same object; s->nr: there is none. */
static size_t next_own(const struct schedule *s, const struct own_steps *mine, size_t k)
{
	for (size_t i = k; i-- > 0;)
		if (is_alike(s, mine->at[i], mine->at[k]))
			return mine->at[i];
	return s->nr;
}

/* The first one of those before it that the task makes at the same place, with none on that object elsewhere in between. */
static size_t first_in_row(const struct schedule *s, const struct own_steps *mine, size_t k)
{
	size_t first = mine->at[k];

	for (size_t i = k + 1; i < mine->nr; i++) {
		if (!is_alike(s, mine->at[i], first))
			continue;
		if (s->labels[mine->at[i]].site != s->labels[first].site)
			break;
		first = mine->at[i];
	}
	return first;
}

static uint32_t how_often(const struct schedule *s, const struct own_steps *mine, uint64_t site)
{
	uint32_t nr = 0;

	for (size_t i = 0; i < mine->nr; i++)
		nr += s->labels[mine->at[i]].site == site;
	return nr;
}

static bool is_stopped(const struct neighbour *n, size_t first, size_t second)
{
	const struct schedule *s = &n->fails;

	for (size_t i = 0; i < s->nr_diffs; i++) {
		const struct difference *d = &s->diffs[i];
		size_t at = d->preemption && d->task == s->tasks[first] ? settled_before(&n->fails_steps, d->step) : 0;

		if (at > first && at <= second)
			return true;
	}
	return false;
}

/*
 * All of them: first those in which the task was preempted, and of these those at the rarest places. *nr: so many; NULL: none,
 * or no memory.
 */
static struct span *find_spans(const struct neighbour *n, const bool *own, size_t *nr)
{
	const struct schedule *s = &n->led;
	struct own_steps mine = { .at = malloc((s->nr + 1) * sizeof(*mine.at)) };
	struct span *spans = calloc(STEPS_MAX, sizeof(*spans));

	*nr = 0;
	for (size_t i = s->nr; mine.at && i-- > 0 && mine.nr < STEPS_MAX;)
		if (own[i] && s->labels[i].object)
			mine.at[mine.nr++] = i;
	for (size_t k = 0; spans && k < mine.nr; k++) {
		size_t end = next_own(s, &mine, k), last = end < s->nr ? between(s, own, mine.at[k], end) : 0;

		if (last)
			spans[(*nr)++] = (struct span){ first_in_row(s, &mine, k), last,
							how_often(s, &mine, s->labels[mine.at[k]].site),
							is_stopped(n, mine.at[k], last) };
	}
	free(mine.at);
	if (spans && *nr)
		qsort(spans, *nr, sizeof(*spans), compare);
	return spans;
}

/* Writes the first spans as pairs, one for each place. Returns how many. */
static size_t put_spans(const struct neighbour *n, struct critical_pair *to)
{
	const struct schedule *s = &n->led;
	bool *own = calloc(s->nr + 1, sizeof(*own));
	struct span *spans = NULL;
	size_t nr = 0, put = 0;

	for (size_t i = 0; own && i < s->nr; i++)
		own[i] = s->labels[i].site && n->users(n->users_ctx, s->labels[i].site);
	if (own)
		spans = find_spans(n, own, &nr);
	for (size_t i = 0; spans && i < nr && put < SPANS_MAX && spans[i].stopped == spans[0].stopped; i++) {
		size_t k = 0;

		while (k < put && s->labels[to[k].first].site != s->labels[spans[i].first].site)
			k++;
		if (k == put)
			to[put++] = (struct critical_pair){
				.first = spans[i].first, .second = spans[i].second, .wide = true, .own = true };
	}
	free(spans);
	free(own);
	return put;
}

int neighbour_take_own_first(struct neighbour *n)
{
	size_t nr, late = n->nr_pairs - n->nr_late;
	struct critical_pair *sorted;
	bool *own;

	if (!n->users || n->nr_handed || !neighbour_has_many_pairs(n) || !schedule_has_op(&n->fails, ZUG_OP_EXEC))
		return 0;
	sorted = calloc(n->nr_pairs + SPANS_MAX, sizeof(*sorted));
	own = calloc(n->nr_pairs, sizeof(*own));
	if (!sorted || !own) {
		free(sorted);
		free(own);
		return -ENOMEM;
	}
	nr = put_spans(n, sorted);
	for (size_t i = 0; i < n->nr_pairs && nr < OWN_MAX; i++) {
		own[i] = is_users(n, &n->pairs[i]);
		if (!own[i])
			continue;
		sorted[nr++] = n->pairs[i];
		n->nr_late -= i >= late;
	}
	n->nr_own = nr;
	for (size_t i = 0; i < n->nr_pairs; i++)
		if (!own[i])
			sorted[nr++] = n->pairs[i];
	free(own);
	free(n->pairs);
	n->pairs = sorted;
	n->nr_pairs = nr;
	return 0;
}
