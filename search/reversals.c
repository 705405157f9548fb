/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * reversals.c - which pairs of events of an execution can be reversed, and where
 * that has to be tried
 *
 * The race detection of source-DPOR (its races are called reversals here): Abdulla, Aronis,
 * Jonsson, Sagonas: Optimal dynamic partial order reduction (POPL 2014), Algorithm 1, run once for
 * a whole execution as Nidhugg does. For e_i and e_j let v be what comes after e_i but does not
 * happen after it, then e_j; some task that can begin v must go first before e_i, unless one does
 * already or sleeps there.
 *
 * Locks (Rule L): an unlock cannot be swapped with the lock after it. The
 * partner of a lock is the lock before it. For other operations that may wait
 * (semaphores, conditions, pipes) which swap is possible depends on counts that
 * labels do not tell; all earlier ones on the object are taken as partners.
 * Too many partners cost executions that the sleep sets cut, too few lose bugs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "search/reversals.h"

void reversals_fini(struct reversals *r)
{
	free(r->events);
	free(r->clocks);
	id_map_free(&r->objects);
	memset(r, 0, sizeof(*r));
}

int reversals_reserve(struct reversals *r)
{
	if (!ARRAY_RESERVE(r->events, r->room, r->nr + 1) ||
	    !ARRAY_RESERVE(r->clocks, r->room_clocks, r->nr + 1))
		return -ENOMEM;
	return 0;
}

void reversals_truncate(struct reversals *r, uint32_t nr)
{
	if (nr < r->nr)
		r->nr = nr;
	if (nr < r->nr_clocked)
		r->nr_clocked = nr;
}

void reversals_redo_last(struct reversals *r)
{
	if (r->nr_clocked == r->nr)
		r->nr_clocked--;
}

/* Makes event i the last one on the object, and *prev the one before it. */
static int enter(struct reversals *r, uint64_t object, uint32_t i, uint32_t *prev)
{
	bool added;
	uint32_t *last;

	*prev = REVERSALS_NONE;
	if (!object)
		return 0;
	last = id_map_add(&r->objects, object, i, &added);
	if (!last)
		return -ENOMEM;
	if (!added)
		*prev = *last;
	*last = i;
	return 0;
}

static uint32_t *clock_of(const struct reversals *r, uint32_t i)
{
	return r->clocks[i].all;
}

static void join(const struct reversals *r, uint32_t *into, const uint32_t *from)
{
	for (uint32_t u = 0; u < r->width; u++)
		if (from[u] > into[u])
			into[u] = from[u];
}

static bool comes_before(const struct reversals *r, uint32_t i, const uint32_t *clock)
{
	return clock[r->events[i].task] >= r->events[i].nth;
}

/*
 * An event is ordered, besides by its objects, by its task, by the task's creation, and by the step
 * that ended its wait.
 */
static void clock_before(const struct reversals *r, uint8_t task, const struct access *a,
			 uint32_t creator, uint32_t enabler, uint32_t *clock)
{
	memset(clock, 0, REVERSALS_TASKS * sizeof(*clock));
	if (r->last[task] != REVERSALS_NONE)
		join(r, clock, clock_of(r, r->last[task]));
	else if (creator != REVERSALS_NONE)
		join(r, clock, clock_of(r, creator));
	/*
	 * Where an object says why (an unlock before a lock) the order may be reversed elsewhere,
	 * and the rules for partners apply; only what no object explains is fixed.
	 */
	if (enabler != REVERSALS_NONE && !access_dependent(&r->events[enabler].access, a))
		join(r, clock, clock_of(r, enabler));
}

/* Everything on the object back to the last write comes before a write; that write before a read. */
static void join_object(const struct reversals *r, uint32_t *clock, uint64_t object, bool write,
			uint32_t i)
{
	while (i != REVERSALS_NONE) {
		const struct event *e = &r->events[i];

		if (e->access.write || write)
			join(r, clock, clock_of(r, i));
		if (e->access.write)
			break;
		i = e->prev[e->access.object[0] != object];
	}
}

/*
 * e_i and an operation of 'task' after it (event j, or one still pending when
 * j == r->nr) are to be reversed: a task that can begin v must go first
 * before e_i.
 */
static void reverse(struct reversals *r, uint32_t i, uint32_t j, uint8_t task,
		    const struct access *a, const uint32_t *before)
{
	struct event *ei = &r->events[i];
	uint32_t first[REVERSALS_TASKS];	/* first event in v of each task in 'in_v' */
	uint64_t in_v = 0, initials = 0;
	bool last_begins = true;

	for (uint32_t k = i + 1; k < j; k++) {
		const struct event *e = &r->events[k];
		const uint32_t *clock = clock_of(r, k);
		bool begins = true;

		if (comes_before(r, i, clock))
			continue;
		if (in_v >> e->task & 1)
			begins = false;
		else
			first[e->task] = e->nth;
		for (uint64_t m = in_v; m && begins; m &= m - 1) {
			int u = __builtin_ctzll(m);

			begins = clock[u] < first[u];
		}
		in_v |= 1ull << e->task;
		if (begins)
			initials |= 1ull << e->task;
		if (access_dependent(&e->access, a) || (j < r->nr && r->events[j].ends))
			last_begins = false;
	}
	for (uint64_t m = in_v; m && last_begins; m &= m - 1) {
		int u = __builtin_ctzll(m);

		last_begins = before[u] < first[u];
	}
	if (last_begins && !(in_v >> task & 1))
		initials |= 1ull << task;

	if (initials & (ei->backtrack | ei->sleep | ei->done))
		return;
	if (!(initials & ei->enabled))
		return;		/* no task can begin v before e_i: no reversal */
	if (!(initials & ei->allowed)) {
		ei->backtrack |= ei->allowed;
		return;
	}
	initials &= ei->allowed;
	if (initials >> task & 1)
		ei->backtrack |= 1ull << task;
	else
		ei->backtrack |= initials & -initials;
}

/* Exclusive locks: at most one task is between such an operation and its release. */
static bool is_exclusive_lock(unsigned int op)
{
	return op == ZUG_OP_LOCK || op == ZUG_OP_SPIN_LOCK;
}

static bool is_rwlock(unsigned int op)
{
	return op == ZUG_OP_RDLOCK || op == ZUG_OP_WRLOCK;
}

/* The partners of an operation that may have to wait, on one object. */
static void waiting_partners(struct reversals *r, uint32_t i, uint32_t j, uint8_t task, uint16_t op,
			     const struct access *a, uint64_t object, const uint32_t *before)
{
	uint32_t prev;

	for (; i != REVERSALS_NONE; i = prev) {
		const struct event *e = &r->events[i];

		prev = e->prev[e->access.object[0] != object];
		if (comes_before(r, i, before)) {
			if (e->access.write)
				return;
			continue;
		}
		if (!access_dependent(&e->access, a))
			continue;
		if (e->access.release && (is_exclusive_lock(op) || is_rwlock(op)))
			continue;
		reverse(r, i, j, task, a, before);
		if (is_exclusive_lock(op) && is_exclusive_lock(e->op))
			return;
	}
}

/*
 * The partners of any other operation: the last ones on its objects that it
 * depends on, except where one of them comes before another.
 */
static void direct_partners(struct reversals *r, uint32_t j, uint8_t task, const struct access *a,
			    const uint32_t prev[2], const uint32_t *before)
{
	uint32_t seen[REVERSALS_TASKS] = { 0 };

	/*
	 * The latest comes first, so that all that comes before a partner has been joined by then.
	 */
	uint32_t at[2] = { prev[0], prev[1] };

	while (at[0] != REVERSALS_NONE || at[1] != REVERSALS_NONE) {
		int o = at[0] == REVERSALS_NONE ||
			(at[1] != REVERSALS_NONE && at[1] > at[0]);
		uint32_t i = at[o];
		const struct event *e = &r->events[i];

		at[o] = e->access.write ? REVERSALS_NONE :
			e->prev[e->access.object[0] != a->object[o]];
		if (!e->access.write && !a->write)
			continue;
		if (comes_before(r, i, before) || comes_before(r, i, seen))
			continue;
		join(r, seen, clock_of(r, i));
		reverse(r, i, j, task, a, before);
	}
}

static void find_partners(struct reversals *r, uint32_t j, uint8_t task, uint16_t op,
			  const struct access *a, const uint32_t prev[2], const uint32_t *before)
{
	if (!a->acquire) {
		direct_partners(r, j, task, a, prev, before);
		return;
	}
	for (int o = 0; o < 2; o++)
		if (a->object[o])
			waiting_partners(r, prev[o], j, task, op, a, a->object[o], before);
}

/*
 * What ends other tasks (event j) depends on all that they do: its partners are the last steps of
 * theirs.
 */
static void end_partners(struct reversals *r, uint32_t j, const uint32_t *before)
{
	const struct event *e = &r->events[j];
	uint32_t seen[REVERSALS_TASKS] = { 0 };

	for (uint32_t i = j; i-- > 0;) {
		if (r->events[i].task == e->task || comes_before(r, i, before) ||
		    comes_before(r, i, seen))
			continue;
		join(r, seen, clock_of(r, i));
		reverse(r, i, j, e->task, &e->access, before);
	}
}

int reversals_detect(struct reversals *r, uint32_t from)
{
	id_map_clear(&r->objects);
	for (int u = 0; u < REVERSALS_TASKS; u++)
		r->last[u] = REVERSALS_NONE;
	for (uint32_t i = 0; i < r->nr; i++)
		if (r->events[i].task >= r->width)
			r->width = r->events[i].task + 1u;
	for (uint32_t j = 0; j < r->nr; j++) {
		struct event *e = &r->events[j];

		if (enter(r, e->access.object[0], j, &e->prev[0]) ||
		    enter(r, e->access.object[1], j, &e->prev[1]))
			return -ENOMEM;
		if (j >= r->nr_clocked) {
			uint32_t *clock = clock_of(r, j), *before = r->clocks[j].before;

			clock_before(r, e->task, &e->access, e->creator, e->enabler, before);
			memcpy(clock, before, REVERSALS_TASKS * sizeof(*clock));
			for (int o = 0; o < 2; o++)
				if (e->access.object[o])
					join_object(r, clock, e->access.object[o],
						    e->access.write, e->prev[o]);
			clock[e->task] = e->nth;
		}
		r->last[e->task] = j;
	}
	r->nr_clocked = r->nr;
	for (uint32_t j = from; j < r->nr; j++) {
		const struct event *e = &r->events[j];

		if (e->ends)
			end_partners(r, j, r->clocks[j].before);
		else
			find_partners(r, j, e->task, e->op, &e->access, e->prev,
				      r->clocks[j].before);
	}
	return 0;
}

void reversals_probe(struct reversals *r, uint8_t task, const struct zug_label *label,
		     uint32_t creator, uint32_t enabler)
{
	uint32_t before[REVERSALS_TASKS], prev[2] = { REVERSALS_NONE, REVERSALS_NONE };
	const uint32_t *last;
	struct access a = access_of(label);

	if (task >= r->width)
		r->width = task + 1u;
	clock_before(r, task, &a, creator, enabler, before);
	for (int o = 0; o < 2; o++)
		if (a.object[o] && (last = id_map_find(&r->objects, a.object[o])))
			prev[o] = *last;
	find_partners(r, r->nr, task, label->op, &a, prev, before);
}
