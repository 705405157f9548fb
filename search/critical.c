/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * critical.c - pairs of operations that could come in the other order (critical.h)
 *
 * A vector clock for each step says which steps happen before it: those of its task, the ones that
 * it depends on, and what led to its task's creation. Abdulla et al.: Optimal dynamic partial order
 * reduction (2014): there a pair is a race, and critical_reverse() is notdep(e, E).proc(e').
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "search/access.h"
#include "search/critical.h"

/* Only so many steps at the end are looked at: the failure is there. */
#define LOOKED_MAX	2000
/* What a task does with an object in a row is looked for over so many steps. */
#define ROW_MAX		200
/* Points in a row that are one side of a pair. */
#define POINTS_ROW	8
/* What points of the user are about, where that counts as one object. */
#define POINTS_OBJECT	0x706f696e74730001ull
/* Tasks times steps that clocks are kept for. */
#define CLOCKS_MAX	(1u << 20)

/* The clocks of steps from 'from' on; entry [step][task]: one more than the last step of that task before it. */
struct clocks {
	const struct critical *c;
	size_t from, nr;		/* of steps, with the pending ones */
	bool named;			/* operations of which nothing is known, and those of libraries, order nothing */
	bool points;			/* and points of the user are operations on one object */
	uint32_t *at;
};

const struct zug_label *critical_label(const struct critical *c, size_t step, uint32_t *task)
{
	if (step >= c->s->nr) {
		*task = c->pending[step - c->s->nr].task;
		return &c->pending[step - c->s->nr].label;
	}
	*task = c->s->tasks[step];
	return &c->s->labels[step];
}

/* A system call on a file that has a name. */
static bool is_on_file(const struct zug_label *l)
{
	switch (l->op) {
	case ZUG_OP_OPEN: case ZUG_OP_CLOSE: case ZUG_OP_READ: case ZUG_OP_WRITE: case ZUG_OP_UNLINK: case ZUG_OP_RENAME:
	case ZUG_OP_MKDIR: case ZUG_OP_RMDIR: case ZUG_OP_LINK: case ZUG_OP_STAT: case ZUG_OP_TRUNCATE:
	case ZUG_OP_MKNOD: case ZUG_OP_CHMOD: case ZUG_OP_FLOCK:
		return l->object && !zug_object_is_numbered(l->object);
	}
	return false;
}

/* What calls the library in a program without symbols is not known; its files are the program's all the same. */
bool critical_is_foreign(const struct critical *c, const struct zug_label *l)
{
	return !is_on_file(l) && c->foreign && l->site && c->foreign(c->foreign_ctx, l->site);
}

static uint32_t *clock_of(const struct clocks *k, size_t step)
{
	return k->at + (step - k->from) * k->c->nr_tasks;
}

static void join(const struct clocks *k, size_t step, size_t earlier)
{
	uint32_t *to = clock_of(k, step), task;
	const uint32_t *from = clock_of(k, earlier);

	critical_label(k->c, earlier, &task);
	for (uint32_t i = 0; i < k->c->nr_tasks; i++)
		if (from[i] > to[i])
			to[i] = from[i];
	if (to[task] <= earlier)
		to[task] = earlier + 1;
}

/* True when step a happens before step b. */
static bool before(const struct clocks *k, size_t a, size_t b)
{
	uint32_t task;

	critical_label(k->c, a, &task);
	return clock_of(k, b)[task] > a;
}

/* The end of what a task does with a file, on which none has a lock that would go with it. */
static bool only_closes(const struct critical *c, const struct zug_label *l)
{
	uint32_t task;

	if (l->op != ZUG_OP_CLOSE || zug_object_is_numbered(l->object))
		return false;
	for (size_t i = 0; i < c->s->nr + c->nr_pending; i++) {
		const struct zug_label *x = critical_label(c, i, &task);

		if (x->op == ZUG_OP_FLOCK && x->object == l->object)
			return false;
	}
	return true;
}

/* What that operation touches. Points of the user order others also where nothing else that could do anything does. */
static struct access touched(const struct clocks *k, const struct zug_label *l)
{
	struct access a = access_of(l);

	/* what is left out is no operation of the program: the lock of an interpreter orders all that it executes */
	if (l->flags & ZUG_L_LEFT_OUT)
		return (struct access){ 0 };
	if (k->points && l->op == ZUG_OP_POINT)
		return (struct access){ .object = { POINTS_OBJECT }, .write = true };
	if (!k->named || l->op == ZUG_OP_POINT)
		return a;
	/* how a library's tasks wait for each other orders what the program does only because it came so */
	if (critical_is_foreign(k->c, l))
		return (struct access){ 0 };
	if (only_closes(k->c, l))
		return (struct access){ 0 };
	if (a.object[0] == ACCESS_OPAQUE)
		a.object[0] = 0;
	if (a.object[1] == ACCESS_OPAQUE)
		a.object[1] = 0;
	return a;
}

static bool is_named(const struct access *a)
{
	return a->object[0] && a->object[0] != ACCESS_OPAQUE;
}

static bool is_unlock(unsigned int op)
{
	return op == ZUG_OP_UNLOCK || op == ZUG_OP_RWUNLOCK || op == ZUG_OP_SPIN_UNLOCK || op == ZUG_OP_GUARD_RELEASE;
}

/* The last step of 'task' before 'end', from k->from on; SIZE_MAX: none. */
static size_t last_of(const struct clocks *k, uint32_t task, size_t end)
{
	uint32_t t;

	while (end-- > k->from) {
		critical_label(k->c, end, &t);
		if (t == task && end < k->c->s->nr)
			return end;
	}
	return SIZE_MAX;
}

static bool acts_on(const struct zug_label *l, uint64_t object)
{
	return object && (l->object == object || l->object2 == object);
}

/* The lock that this operation gives back; 0: none. */
static uint64_t lock_given(const struct zug_label *l)
{
	if (is_unlock(l->op))
		return l->object;
	return l->op == ZUG_OP_COND_WAIT || l->op == ZUG_OP_COND_TIMEDWAIT ? l->object2 : 0;
}

/* It has to wait for an object that another has; a wait for a condition that is over takes its lock again. */
static bool acquires(const struct zug_label *l)
{
	return (l->flags | zug_op_flags(l->op)) & ZUG_L_ACQUIRE || (l->op == ZUG_OP_RESUME && l->object2);
}

/* The operation that took what this one gives back; SIZE_MAX: none is known. */
static size_t taken_at(const struct clocks *k, size_t given)
{
	uint32_t task, t;
	uint64_t lock = lock_given(critical_label(k->c, given, &task));

	for (size_t i = given; i-- > k->from;) {
		const struct zug_label *x = critical_label(k->c, i, &t);

		if (t == task && acts_on(x, lock) && lock_given(x) != lock)
			return i;
	}
	return SIZE_MAX;
}

/* It takes a lock for reading, or gives back one that it has for reading. */
static bool is_reader(const struct clocks *k, size_t step)
{
	uint32_t task;
	const struct zug_label *l = critical_label(k->c, step, &task);
	size_t taken;

	if (l->op == ZUG_OP_RWUNLOCK) {
		taken = taken_at(k, step);
		if (taken == SIZE_MAX)
			return false;
		l = critical_label(k->c, taken, &task);
	}
	return l->op == ZUG_OP_RDLOCK || l->op == ZUG_OP_TRYRDLOCK || l->op == ZUG_OP_TIMEDRDLOCK;
}

/* It does more with that object than to copy from it. */
static bool changes(const struct zug_label *l, uint64_t object)
{
	return (l->flags | zug_op_flags(l->op)) & ZUG_L_WRITE &&
	       (l->object == object || (l->object2 == object && !(l->flags & ZUG_L_COPIES)));
}

/* What both act on one of them changes. */
static bool change_the_same(const struct zug_label *x, const struct zug_label *y)
{
	const uint64_t objects[2] = { x->object, x->object2 };

	for (int i = 0; i < 2; i++)
		if (acts_on(y, objects[i]) && (changes(x, objects[i]) || changes(y, objects[i])))
			return true;
	return false;
}

bool critical_are_apart(const struct zug_label *x, const struct zug_label *y)
{
	return (x->flags & y->flags & ZUG_L_PART && x->object != y->object) ||
	       ((x->flags | y->flags) & ZUG_L_COPIES && !change_the_same(x, y));
}

/*
 * What is connected or sent to may have no socket yet, and what is listed or watched may be another folder: the address or the
 * folder is the same, or the reversal shows that it is not.
 */
static bool meet(const struct zug_label *x, const struct zug_label *y)
{
	if (x->op == ZUG_OP_LISTEN || x->op == ZUG_OP_BIND)
		return y->op == ZUG_OP_CONNECT || (y->op == ZUG_OP_SEND && y->object2);
	return access_lists_names(x) && access_changes_names(y);
}

/* Steps i and j depend on each other. Readers of a lock do not, also when one of them gives it back. */
static bool dependent(const struct clocks *k, size_t i, const struct access *a, size_t j, const struct access *b)
{
	uint32_t task;
	const struct zug_label *x = critical_label(k->c, i, &task), *y = critical_label(k->c, j, &task);

	if (a->object[0] && b->object[0] && (meet(x, y) || meet(y, x)))
		return true;
	return access_dependent(a, b) && !(is_reader(k, i) && is_reader(k, j)) && !critical_are_apart(x, y);
}

struct found {
	struct critical_pair *pairs;
	size_t nr, room;
};

/* The steps of q's task before j do not depend on i, and i's task p has not created q after it. */
static bool can_be_reversed(const struct clocks *k, size_t i, uint32_t p, size_t j, uint32_t q)
{
	size_t last = last_of(k, q, j);

	return !(last != SIZE_MAX && last > i && before(k, i, last)) &&
	       !(q < k->c->nr_tasks && k->c->births[q] > i && k->c->parents[q] == p);
}

static int note_pair(const struct clocks *k, struct found *f, size_t i, size_t j, bool wide, unsigned int span)
{
	uint32_t task;
	const struct zug_label *a = critical_label(k->c, i, &task), *b = critical_label(k->c, j, &task);

	for (size_t n = 0; n < f->nr; n++)
		if (f->pairs[n].first == i && f->pairs[n].second == j && !f->pairs[n].ends)
			return 0;
	if (!ARRAY_RESERVE(f->pairs, f->room, f->nr + 1))
		return -ENOMEM;
	f->pairs[f->nr] = (struct critical_pair){ .first = i, .second = j, .wide = wide, .named = k->named,
						 .points = k->points, .span = span,
						 .vague = !k->points && !acts_on(a, b->object) && !acts_on(a, b->object2) &&
							  !meet(a, b) && !meet(b, a) };
	for (size_t n = 0; n < f->nr && !k->points; n++) {
		const struct zug_label *x = critical_label(k->c, f->pairs[n].first, &task), *y;

		y = critical_label(k->c, f->pairs[n].second, &task);
		f->pairs[n].again |= x->op == a->op && x->site == a->site && y->op == b->op && y->site == b->site &&
				     x->object == a->object && f->pairs[n].named == k->named;
	}
	f->nr++;
	return 0;
}

bool critical_both_read(const struct zug_label *a, const struct zug_label *b)
{
	return a->op == ZUG_OP_READ && b->op == ZUG_OP_READ && a->object == b->object && !zug_object_is_numbered(a->object);
}

/*
 * The first, or the last, step of those that i's task makes on the object in a row, without another's that depends on one: of
 * those that make a pair with step 'with'.
 */
static size_t end_of_row(const struct clocks *k, size_t i, bool first, size_t with)
{
	uint32_t task, t;
	const struct zug_label *l = critical_label(k->c, i, &task), *x;
	const struct zug_label *other = critical_label(k->c, with, &t);
	uint64_t object = l->object;
	struct access a, b;
	size_t at = i;

	for (size_t n = 1; n < ROW_MAX && (first ? n <= i - k->from : i + n < k->c->s->nr); n++) {
		x = critical_label(k->c, first ? i - n : i + n, &t);
		if ((x->object != object && x->object2 != object) || (!first && x->op == ZUG_OP_CLOSE) ||
		    (t == task && critical_both_read(x, other)))
			continue;
		a = access_of(critical_label(k->c, at, &task));
		b = access_of(x);
		if (t == task)
			at = first ? i - n : i + n;
		else if (dependent(k, at, &a, first ? i - n : i + n, &b))
			break;
	}
	return at;
}

/*
 * The next point of that step's task (forward; or the one before), with no point of another between: SIZE_MAX: none.
 */
static size_t point_beside(const struct clocks *k, size_t at, bool forward)
{
	const struct zug_label *l;
	uint32_t task, t;

	critical_label(k->c, at, &task);
	while (forward ? ++at < k->c->s->nr : at-- > k->from) {
		l = critical_label(k->c, at, &t);
		if (l->op == ZUG_OP_POINT && !(l->flags & ZUG_L_LEFT_OUT))
			return t == task ? at : SIZE_MAX;
	}
	return SIZE_MAX;
}

/* Points i and j, and those in a row with each: what is read before i is written behind j. 0 or -ENOMEM. */
static int add_points(const struct clocks *k, struct found *f, size_t i, size_t j)
{
	uint32_t p, q;
	size_t end;
	int ret = 0;

	critical_label(k->c, i, &p);
	critical_label(k->c, j, &q);
	for (unsigned int back = 0; !ret && back < POINTS_ROW && i != SIZE_MAX && can_be_reversed(k, i, p, j, q); back++) {
		end = j;
		for (unsigned int on = 0; !ret && back + on < POINTS_ROW && end != SIZE_MAX; on++) {
			ret = note_pair(k, f, i, end, true, back + on);
			end = end < k->c->s->nr ? point_beside(k, end, true) : SIZE_MAX;
		}
		i = point_beside(k, i, false);
	}
	return ret;
}

/*
 * Steps i and j as a pair, if it can be reversed: the steps of j's task before j must not depend on
 * i; and as wide ones. 0 or -ENOMEM.
 */
static int add(const struct clocks *k, struct found *f, size_t i, size_t j)
{
	uint32_t p, q;
	const struct zug_label *a = critical_label(k->c, i, &p), *b = critical_label(k->c, j, &q);
	size_t start, end;
	int ret;

	if (acts_on(b, lock_given(a)) && acquires(b)) {
		i = taken_at(k, i);
		if (i == SIZE_MAX)
			return 0;
	}
	if (!f || !can_be_reversed(k, i, p, j, q))
		return 0;
	start = end_of_row(k, i, true, j);
	if (lock_given(critical_label(k->c, start, &p)))
		start = taken_at(k, start);
	if (start == SIZE_MAX || !can_be_reversed(k, start, p, j, q))
		start = i;
	end = j < k->c->s->nr ? end_of_row(k, j, false, i) : j;
	if (lock_given(critical_label(k->c, end, &q)))
		end = taken_at(k, end);
	ret = end > j && end != SIZE_MAX ? note_pair(k, f, start, end, true, 0) : 0;
	if (!ret && start < i)
		ret = note_pair(k, f, start, j, true, 0);
	return ret ? ret : note_pair(k, f, i, j, false, 0);
}

/* The number of steps that come before step j, or, of a pending one, before its task ended. */
static size_t steps_before(const struct critical *c, size_t j)
{
	return j < c->s->nr ? j : c->pending[j - c->s->nr].ended ? c->pending[j - c->s->nr].by : c->s->nr;
}

/*
 * A block of memory is gone then, whatever the same task does with that memory afterwards: where it gets it again, its
 * write there is the one that comes last.
 */
static bool ends_block(const struct zug_label *l)
{
	return l->flags & ZUG_L_FREES;
}

/* The clock of step j; and, going back from it, the steps that race with it (f: NULL, not those). */
static int look_back(const struct clocks *k, struct found *f, size_t j)
{
	const struct critical *c = k->c;
	uint32_t task, other;
	const struct zug_label *l = critical_label(c, j, &task);
	struct access a = touched(k, l);
	size_t last = last_of(k, task, j);
	int ret = 0;

	if (last != SIZE_MAX)
		join(k, j, last);
	else if (task < c->nr_tasks && c->parents[task] < c->nr_tasks) {
		last = last_of(k, c->parents[task], c->births[task] < j ? c->births[task] : j);
		if (last != SIZE_MAX)
			join(k, j, last);
	}
	/* from the last one back: what an earlier one has seen is no race */
	for (size_t i = steps_before(c, j); !ret && i-- > k->from;) {
		const struct zug_label *x = critical_label(c, i, &other);
		struct access b = touched(k, x);
		bool seen;

		if (other == task || !dependent(k, i, &b, j, &a))
			continue;
		seen = before(k, i, j);
		join(k, j, i);
		if (!seen && f && k->points && x->op == ZUG_OP_POINT && l->op == ZUG_OP_POINT)
			ret = add_points(k, f, i, j);
		else if ((!seen || ends_block(x)) && !k->points && is_named(&a) && is_named(&b))
			ret = add(k, f, i, j);
	}
	return ret;
}

static int start(struct clocks *k, const struct critical *c, bool named, bool points)
{
	size_t most = c->nr_tasks ? CLOCKS_MAX / c->nr_tasks : 0;

	if (most > LOOKED_MAX)
		most = LOOKED_MAX;
	*k = (struct clocks){ .c = c, .named = named, .points = points, .from = c->s->nr > most ? c->s->nr - most : 0 };
	k->nr = c->s->nr + c->nr_pending - k->from;
	k->at = calloc(k->nr * c->nr_tasks + 1, sizeof(*k->at));
	return k->at ? 0 : -ENOMEM;
}

/* Pairs of what ends a task and what that was about to do, for so many tasks: the last ones. */
#define ENDED_MAX	4

static int add_ended(const struct clocks *k, struct found *f)
{
	const struct critical *c = k->c;
	size_t first = c->nr_pending;
	int ret = 0;

	for (unsigned int n = 0; n < ENDED_MAX && first; n += c->pending[first].ended)
		first--;
	for (size_t i = first; !ret && i < c->nr_pending; i++) {
		if (!c->pending[i].ended || c->pending[i].by < k->from)
			continue;
		for (int wide = 1; !ret && wide >= 0; wide--) {
			ret = note_pair(k, f, c->pending[i].by, c->s->nr + i, wide, 0);
			if (!ret)
				f->pairs[f->nr - 1].ends = true;
		}
	}
	return ret;
}

static int find(const struct critical *c, struct found *f, bool named, bool points)
{
	struct clocks k;
	int ret = start(&k, c, named, points);

	for (size_t j = k.from; !ret && j < c->s->nr + c->nr_pending; j++)
		ret = look_back(&k, f, j);
	if (!ret && !named)
		ret = add_ended(&k, f);
	free(k.at);
	return ret;
}

#define RANKS_NAMED	6
#define RANKS		(RANKS_NAMED + POINTS_ROW)
/* Where more pairs are there, those of what all schedules name alike come first. */
#define PAIRS_FEW	16
/* so many half ranks later */
#define NUMBERED_LATER	3

static unsigned int rank_of(const struct critical *c, const struct critical_pair *p)
{
	uint32_t task;

	if (p->ends)
		return 0;
	if (p->points)
		return RANKS_NAMED + p->span;
	if (p->vague)
		return RANKS_NAMED - 1;
	/* processes do so much of which nothing is known that nearly all that they do with files is in some order */
	if (p->named && is_on_file(critical_label(c, p->first, &task)) && is_on_file(critical_label(c, p->second, &task)))
		return p->again ? 2 : 1;
	return p->named ? p->again ? 4 : 3 : p->again ? 2 : p->wide;
}

/* A pipe, a socket: with many of them most pairs are about how processes are started, and end. */
static bool is_numbered(const struct critical *c, const struct critical_pair *p)
{
	uint32_t task;

	return zug_object_is_numbered(critical_label(c, p->first, &task)->object);
}

/* The user named points, and the program came to one. */
static bool has_points(const struct critical *c)
{
	uint32_t task;

	for (size_t i = 0; i < c->s->nr + c->nr_pending; i++) {
		const struct zug_label *l = critical_label(c, i, &task);

		if (l->op == ZUG_OP_POINT && !(l->flags & ZUG_L_LEFT_OUT))
			return true;
	}
	return false;
}

int critical_pairs(const struct critical *c, size_t most, struct critical_pair **pairs, size_t *nr)
{
	struct found f = { 0 };
	struct critical_pair *sorted;
	size_t n = 0;
	int ret = find(c, &f, false, false);

	ret = ret ? ret : find(c, &f, true, false);
	if (!ret && has_points(c))
		ret = find(c, &f, true, true);
	sorted = calloc(f.nr + 1, sizeof(*sorted));
	if (!sorted)
		ret = -ENOMEM;
	/* the last first */
	for (unsigned int turn = 0; !ret && turn < 2 * RANKS + NUMBERED_LATER; turn++)
		for (size_t i = f.nr; i-- > 0 && n < most;)
			if (2 * rank_of(c, &f.pairs[i]) +
			    (f.nr > PAIRS_FEW && is_numbered(c, &f.pairs[i]) ? NUMBERED_LATER : 0) == turn)
				sorted[n++] = f.pairs[i];
	free(f.pairs);
	if (ret) {
		free(sorted);
		return ret;
	}
	*pairs = sorted;
	*nr = n;
	return 0;
}

static bool only_looks(const struct zug_label *l)
{
	return l->op == ZUG_OP_OPEN || l->op == ZUG_OP_STAT || l->op == ZUG_OP_READ || l->op == ZUG_OP_CLOSE;
}

bool critical_is_unchanged(const struct critical *c, const struct critical_pair *p)
{
	uint32_t task;
	uint64_t object = critical_label(c, p->first, &task)->object;

	if (!object || critical_label(c, p->second, &task)->object != object)
		return false;
	for (size_t i = 0; i < c->s->nr + c->nr_pending; i++) {
		const struct zug_label *l = critical_label(c, i, &task);

		if ((l->object == object || l->object2 == object) && !only_looks(l))
			return false;
	}
	return true;
}

size_t critical_reverse(const struct critical *c, const struct critical_pair *pair, uint32_t *order)
{
	size_t end = pair->second < c->s->nr ? pair->second : c->s->nr, nr = 0;
	struct clocks k;
	uint32_t task;

	critical_label(c, pair->second, &task);
	if (start(&k, c, pair->named, pair->points))
		return 0;
	for (size_t j = k.from; j < end; j++)
		look_back(&k, NULL, j);
	for (int late = 0; late < 2; late++) {
		for (size_t i = late ? pair->first : 0; i < end; i++)
			if ((i == pair->first || (i > pair->first && before(&k, pair->first, i) &&
						  !(pair->wide && c->s->tasks[i] == task))) == late)
				order[nr++] = c->s->tasks[i];
		for (size_t i = 0; !late && i < (pair->ends && pair->wide ? CRITICAL_MORE : 1); i++)
			order[nr++] = task;
	}
	free(k.at);
	for (size_t i = end + 1; i < c->s->nr; i++)
		order[nr++] = c->s->tasks[i];
	return nr;
}
