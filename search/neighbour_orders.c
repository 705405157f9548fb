/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * neighbour_orders.c - the failing schedule in another order (neighbour.h)
 *
 * Each neighbour_next_...() writes the next order of its phase: one pair the other way round, one torn update made whole, one
 * more pair at the same places. neighbour_follow_order() is how an execution follows it.
 */
#include <errno.h>
#include <stdlib.h>
#include "lib/base/array.h"
#include "search/neighbour_internal.h"
#include "search/pair_order.h"
#include "search/search_internal.h"

/* An order of so many tasks can be followed: 0 or -ENOMEM. */
int neighbour_make_room(struct neighbour *n, size_t nr)
{
	return ARRAY_RESERVE(n->order, n->room_order, nr) && ARRAY_RESERVE(n->nth, n->room_nth, nr) ? 0 : -ENOMEM;
}

/* The order is followed from its begin on. */
static void take_order(struct neighbour *n)
{
	uint32_t *seen = calloc(n->births.nr + n->births_now.nr + n->births_whole.nr + 1, sizeof(*seen));

	n->first_left = 0;
	if (!n->nr_order || !seen)
		n->a.error = -ENOMEM;
	for (size_t i = 0; !n->a.error && i < n->nr_order; i++)
		n->nth[i] = seen[n->order[i]]++;
	free(seen);
}

/* ---- what keeps tasks apart ---- */

static bool looks_at(const struct zug_label *l)
{
	return l->op == ZUG_OP_DATA_READ || l->op == ZUG_OP_ATOMIC_LOAD;
}

static bool writes_to(const struct zug_label *l)
{
	return (zug_op_is_data(l->op) || zug_op_is_atomic(l->op)) && (l->flags | zug_op_flags(l->op)) & ZUG_L_WRITE;
}

/* Of these tasks, a looks at something else than that object, and b changes it then. */
static bool is_look(const struct neighbour *n, const struct critical_pair *p, uint32_t a, uint32_t b, uint64_t but)
{
	const struct schedule *s = &n->led;

	return p->second < s->nr && !p->wide && !p->ends && !p->points && !p->vague && s->tasks[p->first] == a &&
	       s->tasks[p->second] == b && looks_at(&s->labels[p->first]) && writes_to(&s->labels[p->second]) &&
	       s->labels[p->first].object != but;
}

/*
 * Nothing that the task does behind step i, before step j, depends on what others do until then; and nothing that it writes,
 * ever: else it has acted on what it saw, while that was so.
 */
static bool stands_still(const struct neighbour *n, size_t i, size_t j)
{
	const struct schedule *s = &n->led;
	struct access a, b;

	for (size_t own = i + 1; own < j; own++) {
		size_t end = writes_to(&s->labels[own]) ? s->nr - 1 : j;

		if (s->tasks[own] != s->tasks[i])
			continue;
		a = access_of(&s->labels[own]);
		for (size_t k = own + 1; k <= end; k++) {
			b = access_of(&s->labels[k]);
			if (s->tasks[k] != s->tasks[i] && access_dependent(&a, &b))
				return false;
		}
	}
	return true;
}

/*
 * A task looks at something, and goes on when another one has changed that. The other way round it sees the change, and does
 * all else where it did it before: if that passes, it acts on what is no longer so.
 */
static bool is_stale(const struct neighbour *n, const struct critical_pair *p)
{
	return p->second < n->led.nr && is_look(n, p, n->led.tasks[p->first], n->led.tasks[p->second], 0) &&
	       !critical_is_foreign(&n->failing, &n->led.labels[p->first]) && stands_still(n, p->first, p->second);
}

/* What a task waits for at the end, or what was freed, says enough. */
static bool says_enough(const struct neighbour *n, const struct critical_pair *found)
{
	return found->ends || found->points || pair_is_freed(&n->failing, found) ||
	       pair_is_waited(&n->failing, found, n->waited, n->nr_waited);
}

static bool is_of_word(const struct neighbour *n, const struct critical_pair *p)
{
	return p->first < n->led.nr && zug_op_is_atomic(n->led.labels[p->first].op);
}

/* Both access the same data, or word: 0, or that. The second may be about to. */
static uint64_t accessed(const struct neighbour *n, const struct critical_pair *found)
{
	const struct zug_label *x, *y;
	uint32_t task;

	if (found->wide)
		return 0;
	x = critical_label(&n->failing, found->first, &task);
	y = critical_label(&n->failing, found->second, &task);
	return x->object == y->object && zug_op_is_access(x->op) && zug_op_is_access(y->op) ? x->object : 0;
}

/*
 * One of the two tasks has looked at something else before it came to that data, and the other has changed it then, before it
 * came there itself.
 */
static bool is_way(const struct neighbour *n, const struct critical_pair *p, const struct critical_pair *found, uint64_t data)
{
	uint32_t a, b;

	critical_label(&n->failing, found->first, &a);
	critical_label(&n->failing, found->second, &b);
	return (is_look(n, p, a, b, data) || is_look(n, p, b, a, data)) && p->first < found->first &&
	       p->second < found->second && !critical_is_foreign(&n->failing, &n->led.labels[p->first]);
}

/*
 * A pair passes; another one behind it may say more. That is so of a look whose answer was no longer true when its task acted
 * on it. And where two tasks were where one alone may be, it is so of how they came there, if they have flags or words of
 * their own for that: a look that comes out otherwise keeps them apart. Atomic words come first: they are to protect plain
 * data, so a look at data says no more than another one.
 */
void neighbour_find_looks(struct neighbour *n, const struct critical_pair *found)
{
	uint64_t data = accessed(n, found);
	bool stale = is_stale(n, found);

	n->nr_looks = n->at_look = 0;
	if (says_enough(n, found) || (stale && is_of_word(n, found)))
		return;
	for (int words = 1; words >= stale; words--)
		for (size_t i = (size_t)(found - n->pairs) + 1; i < n->nr_pairs; i++) {
			const struct critical_pair *p = &n->pairs[i];

			if (n->nr_looks < LOOKS_MAX && is_of_word(n, p) == words &&
			    (is_stale(n, p) || (data && is_way(n, p, found, data))))
				n->looks[n->nr_looks++] = i;
		}
}

/* The failing schedule with the next of these looks behind what changes its answer. */
static bool next_look(struct neighbour *n)
{
	n->looking = n->at_look < n->nr_looks;
	if (!n->looking)
		return false;
	n->at = n->nr_pairs - 1 - n->looks[n->at_look++];
	n->nr_order = critical_reverse(&n->failing, &n->pairs[n->nr_pairs - 1 - n->at], n->order);
	take_order(n);
	return !n->a.error;
}

/* The failing schedule with one pair the other way round. */
bool neighbour_next_reversed(struct neighbour *n)
{
	if (neighbour_explains(n) && next_look(n))
		return true;
	if (neighbour_explains(n) || (n->a.max_trials && n->a.trials > n->a.max_trials / 4 * 3))
		return false;
	n->decides = n->points && (!n->at || neighbour_handed_over(n, &n->pairs[n->nr_pairs - n->at]));
	if (!n->at || n->decides)
		return false;
	n->at--;
	n->nr_order = critical_reverse(&n->failing, &n->pairs[n->nr_pairs - 1 - n->at], n->order);
	take_order(n);
	return !n->a.error;
}

/* The schedule with the side's task held from its first look on, until the other has changed the object. */
static bool hold(struct neighbour *n, const struct schedule *s, const struct torn *t)
{
	uint32_t task = s->tasks[t->look];

	n->a.error = neighbour_make_room(n, s->nr);
	n->nr_order = 0;
	for (size_t i = 0; !n->a.error && i <= t->between; i++)
		if (i < t->look || s->tasks[i] != task)
			n->order[n->nr_order++] = s->tasks[i];
	for (size_t i = t->look; !n->a.error && i < s->nr; i++)
		if (i > t->between || s->tasks[i] == task)
			n->order[n->nr_order++] = s->tasks[i];
	if (!n->a.error)
		take_order(n);
	return !n->a.error;
}

static bool is_made(const struct neighbour *n, const struct whole *w)
{
	for (size_t i = 0; i < n->nr_made; i++)
		if (n->made[i].task == w->task && n->made[i].look == w->look && n->made[i].other == w->other &&
		    n->made[i].between == w->between)
			return true;
	return false;
}

/* The first update of that object in the schedule that is torn and was not tried yet is made whole. */
static bool make_whole(struct neighbour *n, const struct critical *c, uint64_t object)
{
	struct torn *t = n->torn + WHOLE_OBJECTS;
	size_t nr = n->nr_made < WHOLE_MAX ? torn_updates(c, object, t, TORN_MAX) : 0;

	for (; nr--; t++) {
		const struct schedule *s = c->s;
		struct whole w = { s->tasks[t->look], neighbour_steps_of(s, s->tasks[t->look], t->look), s->tasks[t->between],
				   neighbour_steps_of(s, s->tasks[t->between], t->between) };

		if (is_made(n, &w))
			continue;
		n->made[n->nr_made++] = w;
		return hold(n, s, t);
	}
	return false;
}

/*
 * One more update of the object is made whole where that fails as before; or the first of the next
 * object.
 */
bool neighbour_next_whole(struct neighbour *n)
{
	struct critical c = neighbour_critical(&n->whole, &n->births_whole);

	if (neighbour_explains(n))
		return false;
	if (n->whole_fails) {
		n->whole_fails = false;
		if (make_whole(n, &c, n->torn[n->at_torn - 1].object))
			return true;
	}
	while (!n->a.error && n->at_torn < n->nr_torn) {
		n->nr_made = 0;
		if (make_whole(n, &n->failing, n->torn[n->at_torn++].object))
			return true;
	}
	return false;
}

/* ---- several pairs at the same places ---- */

static bool is_place(const struct zug_label *a, const struct zug_label *b)
{
	return a->op == b->op && a->site == b->site;
}

/* The pairs p of c and q of d are of operations at the same places. */
static bool are_alike(const struct critical *c, const struct critical_pair *p, const struct critical *d,
		      const struct critical_pair *q)
{
	uint32_t task;

	/* points have all one place, the function */
	return !p->points && !q->points && p->wide == q->wide && p->named == q->named &&
	       is_place(critical_label(c, p->first, &task), critical_label(d, q->first, &task)) &&
	       is_place(critical_label(c, p->second, &task), critical_label(d, q->second, &task));
}

/* The pair is reversed in c, unless it was. */
static bool reverse_in(struct neighbour *n, const struct critical *c, const struct critical_pair *p)
{
	struct whole w = { .look = 0 };
	size_t nr = c->s->nr;

	critical_label(c, p->first, &w.task);
	critical_label(c, p->second, &w.other);
	w.look = neighbour_steps_of(c->s, w.task, p->first);
	w.between = neighbour_steps_of(c->s, w.other, p->second < nr ? p->second : nr);
	if (n->nr_made == WHOLE_MAX || is_made(n, &w))
		return false;
	n->made[n->nr_made++] = w;
	n->a.error = neighbour_make_room(n, nr + CRITICAL_MORE);
	if (n->a.error)
		return false;
	n->nr_order = critical_reverse(c, p, n->order);
	take_order(n);
	return !n->a.error;
}

/* One more pair alike in the execution where those before it are reversed. */
static bool next_beside(struct neighbour *n)
{
	struct critical c = neighbour_critical(&n->whole, &n->births_whole);
	const struct critical_pair *like = &n->pairs[n->at_alike - 1];
	struct critical_pair *pairs = NULL;
	bool found = false;
	size_t nr = 0;

	n->a.error = critical_pairs(&c, PAIRS_MAX, &pairs, &nr);
	for (size_t i = 0; !n->a.error && i < nr && !found; i++)
		found = are_alike(&c, &pairs[i], &n->failing, like) && reverse_in(n, &c, &pairs[i]);
	free(pairs);
	return found;
}

/* No pair before this one is alike, but one behind it. */
static bool is_first_of_several(const struct neighbour *n, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (are_alike(&n->failing, &n->pairs[i], &n->failing, &n->pairs[at]))
			return false;
	for (size_t i = at + 1; i < n->nr_pairs; i++)
		if (are_alike(&n->failing, &n->pairs[i], &n->failing, &n->pairs[at]))
			return true;
	return false;
}

/* The failing schedule with one pair after the other reversed, of those at the same places: several tasks do the same. */
bool neighbour_next_alike(struct neighbour *n)
{
	if (neighbour_explains(n) || (n->a.max_trials && n->a.trials > n->a.max_trials / 8 * 7))
		return false;
	if (n->whole_fails) {
		n->whole_fails = false;
		if (n->at_alike && next_beside(n))
			return true;
	}
	while (!n->a.error && n->at_alike < n->nr_pairs) {
		n->nr_made = 0;
		if (is_first_of_several(n, n->at_alike++) && reverse_in(n, &n->failing, &n->pairs[n->at_alike - 1]))
			return true;
	}
	return false;
}

/* So many of its own steps the task has made, which can run if pos is one. */
static uint32_t made(const struct neighbour *n, const struct choice *c, uint32_t task, uint32_t pos)
{
	return task < n->nr_done ? settling_made(&n->done[task], pos == CHOICE_NONE ? NULL : &choice_cand(c, pos)->label) : 0;
}

/* The first task of the reversed schedule that can run and has not made that step yet. */
uint32_t neighbour_follow_order(struct neighbour *n, const struct choice *c)
{
	bool first = true;
	uint32_t pos;

	for (size_t i = n->first_left; i < n->nr_order; i++) {
		pos = schedule_position(c, n->order[i]);
		if (n->nth[i] < made(n, c, n->order[i], pos)) {
			n->first_left += first;
			continue;
		}
		if (pos != CHOICE_NONE)
			return pos;
		first = false;
	}
	return schedule_base(c);
}

/* The steps of the reversed schedule that come next whatever other tasks can do: no step before them is left. */
uint64_t neighbour_order_promise(const struct neighbour *n, uint32_t task)
{
	uint64_t nr = 0;

	for (size_t i = n->first_left; i < n->nr_order; i++) {
		uint32_t of = n->order[i];

		/* whether its last step has taken effect turns out when it goes on */
		if (of != task && of < n->nr_done && n->done[of].point)
			break;
		if (of < n->nr_done && n->nth[i] < n->done[of].made)
			continue;
		if (of != task)
			break;
		nr++;
	}
	return nr;
}

void neighbour_order_rule(const struct neighbour *n, struct search_rule *r)
{
	size_t i;

	/* where a task can go on, and stands before a step of its own, its last one has taken effect */
	for (i = n->first_left; i < n->nr_order; i++) {
		struct search_quota *last = r->nr_order ? &r->quotas[r->nr_order - 1] : NULL;
		uint32_t of = n->order[i];

		if (of < n->nr_done && n->nth[i] < n->done[of].made)
			continue;
		if (last && last->task == of)
			last->steps = n->nth[i] + 1;
		else if (r->nr_order < SEARCH_ORDER)
			r->quotas[r->nr_order++] = (struct search_quota){ .task = of, .steps = n->nth[i] + 1 };
		else
			break;
	}
	r->by = SEARCH_BY_QUOTAS;
	r->base = i == n->nr_order;
}
