/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * neighbour_siblings.c - one child's work after the other's (neighbour.h)
 *
 * Where a test has several programs, a client reaches another one's data through a server, a file or a child of its own. No two
 * operations of the clients depend on each other there, and to reverse one pair of those in the server changes next to nothing.
 * So two children of one task are taken with all that they make, as a shell's jobs: the second one's tasks are held until the
 * first one's have ended. Where that passes it is made less, by halves:
 *
 *  UNTIL	the second is held only until the first has made a step, the earliest that still passes: all else then goes on
 *		as in the failing schedule;
 *  AT_ONCE	of the steps that the first makes in that execution from there on, the earliest behind which it can be held in
 *		its turn, until the second has ended;
 *  FROM	before that step the second goes on as far as it still passes.
 *
 * That step, and the next one of the second, decide.
 */
#include <errno.h>
#include <stdlib.h>
#include "lib/base/array.h"
#include "search/access.h"
#include "search/neighbour_internal.h"

/* Creators are followed so far up. */
#define DEPTH_MAX	64

/* The bits of who uses an object, and that one changes it. */
enum { FIRST = 1, SECOND = 2, OTHERS = 4, CHANGED = 8 };

struct use {
	uint64_t object;
	uint8_t users;
};

void neighbour_siblings_release(struct siblings *s)
{
	for (int i = 0; i <= SIBLINGS_FROM; i++)
		free(s->points[i].at);
	free(s->made_at);
}

static bool is_below(const struct births *b, uint32_t root, uint32_t task)
{
	for (int i = 0; i < DEPTH_MAX && task < b->nr; i++) {
		if (task == root)
			return true;
		task = b->parents[task];
	}
	return false;
}

static uint8_t user(const struct births *b, const struct sibling_pair *p, uint32_t task)
{
	return is_below(b, p->first, task) ? FIRST : is_below(b, p->second, task) ? SECOND : OTHERS;
}

static unsigned int depth(const struct births *b, uint32_t task)
{
	unsigned int i = 0;

	for (; i < DEPTH_MAX && task < b->nr; i++)
		task = b->parents[task];
	return i;
}

/* ---- which two ---- */

/* The last step of a child or of what it has made; what was made in the failing execution, by task: 0, or 1 + that step. */
static size_t *find_ends(const struct neighbour *n)
{
	const struct births *b = &n->births;
	size_t *ends = calloc(b->nr + 1, sizeof(*ends));

	for (size_t i = 0; ends && i < n->fails.nr; i++) {
		uint32_t task = n->fails.tasks[i];

		for (int k = 0; k < DEPTH_MAX && task < b->nr; k++) {
			ends[task] = i + 1;
			task = b->parents[task];
		}
	}
	return ends;
}

/* One of the two has made tasks of its own, or there are several programs. */
static bool are_several(const struct neighbour *n, uint32_t a, uint32_t b, bool programs)
{
	for (uint32_t t = 0; !programs && t < n->births.nr; t++)
		programs = n->births.parents[t] == a || n->births.parents[t] == b;
	return programs;
}

/* a is to be tried before b: the test's own children before those of its servers, and those that were made last. */
static bool comes_before(const struct births *b, uint32_t a_first, uint32_t a_second, const struct sibling_pair *p)
{
	unsigned int deep = depth(b, a_first), deep_p = depth(b, p->first);

	if (deep != deep_p)
		return deep < deep_p;
	if (b->at[a_second] != b->at[p->second])
		return b->at[a_second] > b->at[p->second];
	return b->at[a_first] > b->at[p->first];
}

/* Of two children the one that was made first is 'first'. */
static void add_pair(struct siblings *s, const struct births *b, uint32_t first, uint32_t second)
{
	size_t at = s->nr;

	while (at && comes_before(b, first, second, &s->pairs[at - 1]))
		at--;
	if (at == SIBLINGS_MAX)
		return;
	if (s->nr < SIBLINGS_MAX)
		s->nr++;
	for (size_t i = s->nr - 1; i > at; i--)
		s->pairs[i] = s->pairs[i - 1];
	s->pairs[at] = (struct sibling_pair){ first, second };
}

/* The children of one task whose work overlaps in the failing execution. */
static void find_pairs(struct neighbour *n)
{
	const struct births *b = &n->births;
	bool programs = schedule_has_op(&n->fails, ZUG_OP_EXEC);
	size_t *ends = find_ends(n);

	n->siblings.known = true;
	if (!ends) {
		n->a.error = -ENOMEM;
		return;
	}
	for (uint32_t i = 0; i < b->nr; i++) {
		if (!ends[i] || b->parents[i] >= b->nr)
			continue;
		for (uint32_t k = 0; k < b->nr; k++)
			if (k != i && ends[k] && b->parents[k] == b->parents[i] &&
			    (b->at[i] < b->at[k] || (b->at[i] == b->at[k] && i < k)) && ends[i] > b->at[k] + 1 &&
			    are_several(n, i, k, programs))
				add_pair(&n->siblings, b, i, k);
	}
	free(ends);
}

/* ---- how long one is held ---- */

static int by_object(const void *a, const void *b)
{
	const struct use *x = a, *y = b;

	return (x->object > y->object) - (x->object < y->object);
}

/*
 * A file that is read stays as it is, and what is closed, unless a lock goes with that: each job of a shell closes the script,
 * which only the shell reads, and its copies of pipes.
 */
static bool leaves_as_it_is(const struct neighbour *n, const struct zug_label *l)
{
	if (l->op == ZUG_OP_CLOSE)
		return !schedule_has_op(&n->now, ZUG_OP_FLOCK);
	return l->op == ZUG_OP_READ && !zug_object_is_numbered(l->object);
}

/*
 * The objects of the execution that has just passed and who uses them, in the order of their numbers; nr of them. NULL: no
 * memory.
 */
static struct use *find_uses(const struct neighbour *n, const struct sibling_pair *p, size_t *nr)
{
	struct use *uses = calloc(2 * n->now.nr + 1, sizeof(*uses));
	size_t have = 0;

	for (size_t i = 0; uses && i < n->now.nr; i++) {
		const struct zug_label *l = &n->now.labels[i];
		struct access a = access_of(l);
		uint8_t who = user(&n->births_now, p, n->now.tasks[i]);

		if (a.write && !leaves_as_it_is(n, l))
			who |= CHANGED;
		for (int k = 0; k < 2; k++)
			if (a.object[k] && a.object[k] != ACCESS_OPAQUE)
				uses[have++] = (struct use){ a.object[k], who };
	}
	if (uses)
		qsort(uses, have, sizeof(*uses), by_object);
	*nr = 0;
	for (size_t i = 0; i < have; i++) {
		if (*nr && uses[*nr - 1].object == uses[i].object)
			uses[*nr - 1].users |= uses[i].users;
		else
			uses[(*nr)++] = uses[i];
	}
	return uses;
}

static bool is_shared(const struct use *uses, size_t nr, const struct access *a, uint8_t own)
{
	for (int k = 0; k < 2; k++) {
		const struct use key = { .object = a->object[k] };
		const struct use *u = a->object[k] ? bsearch(&key, uses, nr, sizeof(*uses), by_object) : NULL;

		if (u && u->users & CHANGED && u->users & ~(own | CHANGED))
			return true;
	}
	return false;
}

/* Step i is made by that side, and others may see it. */
static bool shows(const struct neighbour *n, const struct use *uses, size_t nr, size_t i, uint8_t side)
{
	const struct zug_label *l = &n->now.labels[i];
	struct access a = access_of(l);

	return user(&n->births_now, &n->siblings.now, n->now.tasks[i]) == side && is_shared(uses, nr, &a, side) &&
	       (l->op != ZUG_OP_CLOSE || !leaves_as_it_is(n, l));
}

/* The steps of a side that others may see, as the number that it has made with each: the places to halve in that part. */
static void find_points(struct neighbour *n, enum siblings_part part)
{
	struct siblings *s = &n->siblings;
	struct sibling_points *points = &s->points[part];
	uint8_t own = part == SIBLINGS_FROM ? SECOND : FIRST;
	struct use *uses;
	size_t nr;

	points->nr = 0;
	uses = find_uses(n, &s->now, &nr);
	if (!uses || !ARRAY_RESERVE(points->at, points->room, n->now.nr + 1)) {
		n->a.error = -ENOMEM;
		free(uses);
		return;
	}
	for (size_t i = 0; i < n->now.nr; i++) {
		uint64_t step = n->now_steps.at[i];

		if (part != SIBLINGS_UNTIL && step < s->first_step)
			continue;
		if (step < s->nr_made && shows(n, uses, nr, i, own))
			points->at[points->nr++] = s->made_at[step];
	}
	free(uses);
}

/* Steps of the first, and of the second, that are looked at for two on one object. */
#define NEAR_FIRST	64
#define NEAR_SECOND	256

/* What a program does, rather than how its processes begin, end and are told of it. */
static bool is_work(const struct zug_label *l)
{
	struct access a = access_of(l);

	switch (l->op) {
	case ZUG_OP_END: case ZUG_OP_HANDLER: case ZUG_OP_RESUME: case ZUG_OP_CLOSE:
		return false;
	}
	return !access_is_signal(l) && a.object[0] && a.object[0] != ACCESS_OPAQUE;
}

/* Steps i and k act on one object, and one of them changes it. */
static bool concern_each_other(const struct neighbour *n, size_t i, size_t k)
{
	const struct zug_label *x = &n->now.labels[i], *y = &n->now.labels[k];
	struct access a = access_of(x), b = access_of(y);

	return is_work(x) && is_work(y) && access_dependent(&a, &b) && !critical_are_apart(x, y) &&
	       ((a.write && !leaves_as_it_is(n, x)) || (b.write && !leaves_as_it_is(n, y)));
}

/* The same operation at the same place; a numbered object may have another number. */
static bool corresponds(const struct zug_label *here, const struct zug_label *there)
{
	return there->op == here->op && there->site == here->site &&
	       (there->object == here->object || zug_object_is_numbered(here->object));
}

/*
 * The task has gone another way in between: the failing execution's step is the one of that task which does the same with that
 * object for as many times.
 */
static size_t as_often(const struct neighbour *n, size_t step)
{
	const struct zug_label *here = &n->now.labels[step];
	uint32_t task = n->now.tasks[step];
	size_t nth = 0;

	if (!here->object || zug_object_is_numbered(here->object))
		return SIZE_MAX;
	for (size_t i = 0; i < step; i++)
		nth += n->now.tasks[i] == task && corresponds(here, &n->now.labels[i]);
	for (size_t i = 0; i < n->fails.nr; i++)
		if (n->fails.tasks[i] == task && corresponds(here, &n->fails.labels[i]) && !nth--)
			return i;
	return SIZE_MAX;
}

size_t neighbour_in_failing(const struct neighbour *n, size_t step)
{
	uint32_t task = n->now.tasks[step];
	size_t nth = neighbour_steps_of(&n->now, task, step);

	for (size_t i = 0; i < n->fails.nr; i++)
		if (n->fails.tasks[i] == task && !nth--)
			return corresponds(&n->now.labels[step], &n->fails.labels[i]) ? i : as_often(n, step);
	return as_often(n, step);
}

/* The second's first step from 'from' on that concerns the first's step i, and came before it there; SIZE_MAX: none is near. */
static size_t concerned_by(const struct neighbour *n, size_t i, size_t from)
{
	size_t own = neighbour_in_failing(n, i), there;

	for (size_t k = from, near = 0; k < n->now.nr && near < NEAR_SECOND; k++) {
		if (user(&n->births_now, &n->siblings.now, n->now.tasks[k]) != SECOND)
			continue;
		near++;
		if (k < i || !concern_each_other(n, i, k))
			continue;
		there = neighbour_in_failing(n, k);
		if (there != SIZE_MAX && own > there)
			return k;
	}
	return SIZE_MAX;
}

/*
 * That step of the first one, and that of the second, may say nothing to each other: what was held is a program's next step,
 * which only leads to the one that matters, and the halves may not have come to their end. Then two near them on one object
 * that have come the other way round are meant, if there are such: that step, or what the first one did next; or, where it is
 * the end of a process, what that did before.
 */
static void meet(const struct neighbour *n, size_t *first, size_t *second)
{
	bool back = !is_work(&n->now.labels[*first]);

	for (size_t i = *first, near = 0; i < n->now.nr && near < NEAR_FIRST; i += back ? -1 : 1) {
		size_t k;

		if (user(&n->births_now, &n->siblings.now, n->now.tasks[i]) != FIRST)
			continue;
		near++;
		k = concerned_by(n, i, *second);
		if (k != SIZE_MAX) {
			*first = i;
			*second = k;
			return;
		}
	}
}

bool neighbour_siblings_decide(struct neighbour *n, uint64_t *first, uint64_t *second)
{
	const struct siblings *s = &n->siblings;
	size_t nr, i, k;
	struct use *uses;

	if (s->first_step == UINT64_MAX || s->second_step == UINT64_MAX)
		return false;
	uses = find_uses(n, &s->now, &nr);
	if (!uses) {
		n->a.error = -ENOMEM;
		return false;
	}
	i = settled_before(&n->now_steps, s->first_step);
	k = settled_before(&n->now_steps, s->second_step);
	while (i < n->now.nr && i && !shows(n, uses, nr, i, FIRST))
		i--;
	while (k < n->now.nr && !shows(n, uses, nr, k, SECOND))
		k++;
	if (i >= n->now.nr || k >= n->now.nr || !shows(n, uses, nr, i, FIRST)) {
		free(uses);
		return false;
	}
	free(uses);
	meet(n, &i, &k);
	*first = i;
	*second = k;
	return true;
}

static void begin_halving(struct siblings *s, enum siblings_part part)
{
	s->part = part;
	s->low = -1;
	s->high = (ptrdiff_t)s->points[part].nr;
}

/* The next place to try between one that passes and one that does not; false: the two are next to each other. */
static bool halve(struct siblings *s)
{
	if (s->high - s->low <= 1)
		return false;
	s->middle = s->low + (s->high - s->low) / 2;
	if (s->part == SIBLINGS_UNTIL)
		s->target = s->until = s->points[s->part].at[s->middle];
	else if (s->part == SIBLINGS_AT_ONCE)
		s->target = s->points[s->part].at[s->middle];
	else
		s->from = s->points[s->part].at[s->middle] - 1;
	return true;
}

bool neighbour_next_siblings(struct neighbour *n)
{
	struct siblings *s = &n->siblings;

	if (!s->known)
		find_pairs(n);
	if (n->a.error || neighbour_explains(n))
		return false;
	s->made[0] = s->made[1] = s->nr_made = 0;
	s->first_step = s->second_step = UINT64_MAX;
	while (s->part != SIBLINGS_ALL) {
		if (halve(s))
			return true;
		/* it has to fail where the first is held behind an earlier step, or the halves say little */
		if (s->part == SIBLINGS_FROM ||
		    (s->part == SIBLINGS_AT_ONCE && (s->low < 0 || s->passes_at_once == SIZE_MAX))) {
			n->decides = s->named && s->part == SIBLINGS_FROM;
			s->nr = s->at = 0;
			s->part = SIBLINGS_ALL;
			return false;
		}
		s->until = s->passes_until;
		s->target = s->passes_at_once;
		begin_halving(s, s->part + 1);
	}
	if (s->at == 2 * s->nr)
		return false;
	s->now = s->pairs[s->at / 2];
	if (s->at++ % 2)
		s->now = (struct sibling_pair){ s->now.second, s->now.first };
	s->until = s->target = s->passes_at_once = SIZE_MAX;
	s->from = 0;
	return true;
}

void neighbour_siblings_end(struct neighbour *n, bool passes)
{
	struct siblings *s = &n->siblings;

	/* what the next part halves are the steps of what has passed with the fewest */
	if (passes && s->part <= SIBLINGS_UNTIL) {
		s->passes_until = s->until;
		find_points(n, SIBLINGS_AT_ONCE);
	} else if (passes && s->part == SIBLINGS_AT_ONCE) {
		s->passes_at_once = s->target;
		find_points(n, SIBLINGS_FROM);
	}
	if (s->part == SIBLINGS_ALL) {
		if (passes) {
			find_points(n, SIBLINGS_UNTIL);
			begin_halving(s, SIBLINGS_UNTIL);
		}
	} else if (passes == (s->part != SIBLINGS_FROM)) {
		s->high = s->middle;
	} else {
		s->low = s->middle;
	}
}

/* ---- one execution ---- */

static bool is_over(const struct neighbour *n, const struct search_point *p)
{
	const struct siblings *s = &n->siblings;

	if (s->made[0] >= s->until)
		return true;
	/* what was not made yet is not over; what waits for it is only let go on where nothing else can */
	if (s->now.first >= n->births_now.nr || n->births_now.at[s->now.first] == UINT32_MAX)
		return false;
	for (uint32_t i = 0; i < p->nr; i++)
		if (is_below(&n->births_now, s->now.first, p->cand[i].task))
			return false;
	return true;
}

/* The next position behind pos whose task is not below root; pos: there is none. */
static uint32_t beside(const struct neighbour *n, const struct choice *c, uint32_t pos, uint32_t root)
{
	for (uint32_t i = 0, at = pos; i < c->nr; i++, at = at + 1 < c->nr ? at + 1 : 0)
		if (!is_below(&n->births_now, root, choice_cand(c, at)->task))
			return at;
	return pos;
}

uint32_t neighbour_follow_siblings(struct neighbour *n, const struct choice *c)
{
	struct siblings *s = &n->siblings;
	uint32_t pos = schedule_follow(n->fails.diffs, &n->index, n->a.env, c);

	if (s->part == SIBLINGS_FROM && s->made[0] + 1 == s->target)
		return beside(n, c, pos, s->made[1] < s->from ? s->now.first : s->now.second);
	if (!is_over(n, c->point))
		return beside(n, c, pos, s->now.second);
	if (s->part > SIBLINGS_UNTIL && s->made[0] >= s->target)
		return beside(n, c, pos, s->now.first);
	return pos;
}

int neighbour_siblings_step(struct neighbour *n, uint32_t task)
{
	struct siblings *s = &n->siblings;
	uint8_t who = user(&n->births_now, &s->now, task);
	size_t step = n->now.nr;

	if (!ARRAY_RESERVE(s->made_at, s->room_made, step + 1))
		return -ENOMEM;
	while (s->nr_made <= step)
		s->made_at[s->nr_made++] = 0;
	if (who == OTHERS)
		return 0;
	s->made_at[step] = ++s->made[who == SECOND];
	if (who == FIRST && s->made[0] <= s->target) {
		s->first_step = step;
		s->second_step = UINT64_MAX;
	}
	if (who == SECOND && s->second_step == UINT64_MAX)
		s->second_step = step;
	return 0;
}

/* A task of neither goes on as in the failing schedule; those of the two are asked about at each of their steps. */
uint64_t neighbour_siblings_promise(const struct neighbour *n, uint32_t task)
{
	return user(&n->births_now, &n->siblings.now, task) != OTHERS ? 0 :
		schedule_promise(&n->index, n->a.env, task);
}
