/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * reversal.c - aims at what comes of two operations in the other order, with few preemptions
 *
 * In each execution pairs of dependent operations of two tasks are looked for whose order nothing else gives (a reversal of
 * dpor.c). The schedule in which the second comes before the first is an aim: all steps up to the first one, then those that
 * do not come of it, then the second. An execution follows an aim to its end. Behind that the task that runs goes on, so that
 * what comes of the execution has few preemptions as well; where it cannot, priorities decide as in pos.c.
 *
 * Aims are taken in this order: those in which an operation comes next to one on the same object as never before (by place
 * and object: Yu et al., Maple, OOPSLA 2012); those in which nothing is closed, for each process closes what it has been given
 * of its parent's; those with the fewest preemptions, as most bugs need few; the newest. An aim is
 * dropped when its steps, whatever the order of independent ones, were those of some execution's beginning. What is compared
 * is the set of operations with their pasts: the events of an unfolding (Rodriguez et al., CONCUR 2015).
 *
 * dpor.c makes each reversal, too, and can end, but goes depth first; this keeps no tree. It learns from its own executions and
 * the first one, which never preempts: what comes of samples, with their many preemptions, leads away from what is near to that
 * (measured: bakery-0 was found by the 76th execution of a portfolio then, and by the 27th without). When points come later it
 * forgets its aims, and never preempts in its next execution, to begin again there.
 *
 * Steps on objects that one task alone uses do not count: they mean nothing to another task. What could do anything, and is
 * most often a process' own affair, depends on nothing but what it names (access_likely()): otherwise hardly anything that a
 * shell does before one of these could come after what another process does behind one. Nor does data that was a point in
 * executions apart only: in those that look for data races other accesses are points each time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "lib/base/id_map.h"
#include "search/priorities.h"
#include "search/save.h"
#include "search/seen.h"
#include "search/strategies/strategies.h"

#define NONE		UINT32_MAX
#define SHARED		UINT32_MAX
#define MAX_STEPS	4000	/* what comes later in an execution is not looked at */
#define MAX_AIMS	128
#define MAX_ORDER	1000	/* steps of an aim: 128 * 1000 * 8 = 1 MB */
#define MAX_OBJECTS	(1u << 16)
#define MAX_PARTNERS	8	/* of an operation that may wait */
#define MAX_WORK	400000	/* steps that are looked at to find the pairs of an execution */

/* What is known of a set of hashes, all in one table. */
enum { NEXT_TO = 1, BEGINNING, TRIED, REGULAR };

struct step {
	struct access access;
	uint16_t op;
	bool preempts;		/* the task before could have gone on */
	uint32_t task;
	uint32_t before;	/* the task's step before; of its first one, the step that created it; or NONE */
	uint32_t enabler;	/* the step that ended its wait, or NONE */
	uint32_t prev[2];	/* the step before on each object, or NONE */
	uint64_t key;		/* place and operation */
	uint64_t past;		/* the key, and the pasts of all that comes before */
	uint64_t beginning;	/* sum of the pasts of all steps before it */
	uint32_t preemptions;	/* of all steps before it */
};

struct aim_step {
	uint32_t task;
	uint32_t key;		/* a part of it */
};

struct aim {
	uint64_t beginning;	/* sum of the pasts */
	uint64_t next_to;	/* the last operation, and the one that it comes next to */
	uint32_t preemptions;
	bool closes;		/* one of the two operations closes a descriptor */
	struct aim_step *order;
	uint32_t nr;
};

struct user {
	uint64_t object;
	uint32_t task;		/* the only one that uses it, or SHARED */
};

/* A task in the execution that is observed. */
struct life {
	uint32_t last;		/* its last step, or that of its creator; NONE */
	uint32_t enabler;
	bool live, enabled;
};

/* What a key stands for. */
struct operation {
	uint64_t site;
	uint32_t op;
};

struct reversal {
	struct search_env *env;
	struct seen seen;
	struct id_map by_key;	/* of operations: the part of the key that aims have */
	struct operation *operations;
	uint32_t nr_operations, room_operations;
	bool ambiguous;		/* two have the same: nothing is told of them */
	struct user *users;	/* by object, in order of first use */
	uint32_t nr_users, room_users;
	struct id_map by_object;	/* of users */
	struct aim aims[MAX_AIMS];	/* the oldest first */
	uint32_t nr_aims;
	uint32_t worst;		/* settle(): the aim with the most preemptions, the oldest of these; NONE: to be found */

	/* of the execution that this strategy chooses */
	const struct aim *now;	/* what it follows; NULL: nothing, or no more */
	struct aim taken;	/* now is this, unless the search is frozen */
	uint32_t at;
	uint64_t owed;		/* steps that the last task makes next: promised */
	bool behind;		/* it has followed it to its end */
	struct priorities prio;
	bool renewed, base;	/* points have come; it never preempts for that */

	/* of the execution that is observed, if it is watched */
	bool own, started, watched, apart;
	struct step *steps;
	uint32_t nr_steps, room_steps;
	uint32_t nr_kept;	/* settle(): of these steps, those that count */
	struct life *lives;	/* by task */
	uint32_t nr_lives;
	struct id_map last;	/* settle(): the last step on each object */
	uint32_t *kept;		/* settle(): by step, the last one that counts of its task */
	bool *after;		/* mark() */
	uint32_t room_kept, room_after;
};

static void reversal_fini(void *state)
{
	struct reversal *r = state;

	for (uint32_t i = 0; i < r->nr_aims; i++)
		free(r->aims[i].order);
	free(r->taken.order);
	seen_fini(&r->seen);
	free(r->operations);
	id_map_free(&r->by_key);
	free(r->users);
	id_map_free(&r->by_object);
	id_map_free(&r->last);
	priorities_free(&r->prio);
	free(r->steps);
	free(r->lives);
	free(r->kept);
	free(r->after);
}

static int reversal_init(void *state, struct search_env *env, const int64_t *args)
{
	struct reversal *r = state;

	(void)args;
	r->env = env;
	return seen_init(&r->seen, env->memory / 8);
}

static uint64_t salted(uint64_t hash, int kind)
{
	return hash + (uint64_t)kind * 0x9e3779b97f4a7c15ull;
}

static bool knows(const struct reversal *r, uint64_t hash, int kind)
{
	return seen_has(&r->seen, salted(hash, kind));
}

static void note(struct reversal *r, uint64_t hash, int kind)
{
	seen_add(&r->seen, salted(hash, kind));
}

/* Without the object: one on the heap is named by the task that comes to it first, and that depends on the order. */
static uint64_t key_of(const struct search_cand *c)
{
	uint64_t place = c->label.site ? c->label.site : ((uint64_t)c->task << 32) + 1;

	return mix64(place * 0x9e3779b97f4a7c15ull + c->label.op);
}

/* ---- what an execution shows ---- */

static void forget_execution(struct reversal *r)
{
	r->nr_steps = 0;
	for (uint32_t t = 0; t < r->nr_lives; t++)
		r->lives[t] = (struct life){ .last = NONE, .enabler = NONE };
}

static void look_at(struct reversal *r, const struct search_point *p, uint32_t i, uint32_t last)
{
	struct life *l = &r->lives[p->cand[i].task];

	if (!l->live)
		l->last = last;
	else if (p->cand[i].enabled && !l->enabled && p->cand[i].task != p->last)
		l->enabler = last;
	l->live = true;
	l->enabled = p->cand[i].enabled;
}

/* A task that can run now and could not before was let go on by the last step. */
static int look(struct reversal *r, const struct search_point *p)
{
	uint32_t nr = r->nr_lives, last;

	if (!ARRAY_RESERVE_ZERO(r->lives, r->nr_lives, p->cand[p->nr - 1].task + 1))
		return -ENOMEM;
	for (; nr < r->nr_lives; nr++)
		r->lives[nr].last = r->lives[nr].enabler = NONE;
	last = p->last < r->nr_lives ? r->lives[p->last].last : NONE;
	for (uint32_t i = 0; i < (p->changed ? p->nr_changed : p->nr); i++) {
		uint32_t at = p->changed ? search_cand_of(p, p->changed[i]) : i;

		if (at != UINT32_MAX)
			look_at(r, p, at, last);
	}
	return 0;
}

static int learn_user(struct reversal *r, uint64_t object, uint32_t task)
{
	const uint32_t *i = id_map_find(&r->by_object, object);

	if (i) {
		if (r->users[*i].task != task)
			r->users[*i].task = SHARED;
		return 0;
	}
	if (r->nr_users == MAX_OBJECTS)
		return 0;
	if (!ARRAY_RESERVE(r->users, r->room_users, r->nr_users + 1) ||
	    !id_map_add(&r->by_object, object, r->nr_users, NULL))
		return -ENOMEM;
	r->users[r->nr_users++] = (struct user){ .object = object, .task = task };
	return 0;
}

/* For reversal_rule(), which says nothing where a key is not known. */
static int learn_operation(struct reversal *r, const struct search_cand *c, uint32_t key)
{
	uint64_t site = c->label.site;
	uint32_t *i;
	bool added;

	if (r->nr_operations == MAX_OBJECTS)
		return 0;
	if (!ARRAY_RESERVE(r->operations, r->room_operations, r->nr_operations + 1))
		return -ENOMEM;
	i = id_map_add(&r->by_key, key + 1ull, r->nr_operations, &added);
	if (!i)
		return -ENOMEM;
	if (added)
		r->operations[r->nr_operations++] = (struct operation){ .site = site, .op = c->label.op };
	else if (r->operations[*i].site != site || r->operations[*i].op != c->label.op)
		r->ambiguous = true;
	return 0;
}

static int settle(struct reversal *r);

static int reversal_observe(void *state, const struct search_point *p, uint32_t i)
{
	const struct search_cand *c = &p->cand[i];
	struct reversal *r = state;
	struct life *l;
	struct step *s;

	if (r->env->frozen)
		return 0;
	if (!p->step) {
		if (settle(r))
			return -ENOMEM;
		r->watched = r->own || !r->started;
		r->own = false;
		r->started = true;
		r->apart = r->env->apart;
	}
	if (!r->watched)
		return 0;
	if (look(r, p))
		return -ENOMEM;
	if (r->nr_steps == MAX_STEPS || r->nr_steps != p->step)
		return 0;
	if (!ARRAY_RESERVE(r->steps, r->room_steps, r->nr_steps + 1))
		return -ENOMEM;
	l = &r->lives[c->task];
	s = &r->steps[r->nr_steps];
	*s = (struct step){
		.access = access_likely(&c->label), .op = c->label.op, .task = c->task, .before = l->last,
		.enabler = l->enabler,
		.preempts = p->last != c->task && p->last < r->nr_lives && r->lives[p->last].enabled && !p->yielded,
	};
	s->key = key_of(c);
	if (learn_operation(r, c, (uint32_t)s->key))
		return -ENOMEM;
	for (int o = 0; o < 2 && s->access.object[o]; o++)
		if (learn_user(r, s->access.object[o], c->task))
			return -ENOMEM;
	l->last = r->nr_steps++;
	l->enabler = NONE;
	return 0;
}

static bool counts(struct reversal *r, const struct step *s)
{
	if (zug_op_is_data(s->op) && !r->apart)
		note(r, s->key, REGULAR);
	else if (zug_op_is_data(s->op) && !knows(r, s->key, REGULAR))
		return false;
	for (int o = 0; o < 2 && s->access.object[o]; o++) {
		const uint32_t *i = id_map_find(&r->by_object, s->access.object[o]);

		if (!i || r->users[*i].task == SHARED)
			return true;
	}
	return !s->access.object[0];
}

static uint32_t step_before(const struct reversal *r, uint32_t at, uint64_t object)
{
	const struct step *s = &r->steps[at];

	return s->prev[s->access.object[0] != object];
}

/* The sum of the pasts of what comes before a step on that object, from step 'at' back; without what mark() has marked. */
static uint64_t past_of_object(const struct reversal *r, uint64_t object, bool write, uint32_t at, bool unmarked)
{
	uint64_t sum = 0;

	for (; at != NONE; at = step_before(r, at, object)) {
		const struct step *s = &r->steps[at];

		if (unmarked && r->after[at])
			continue;
		if (write || s->access.write)
			sum += s->past;
		if (s->access.write)
			break;
	}
	return sum;
}

static uint64_t past_of(const struct reversal *r, const struct step *s, bool unmarked)
{
	uint64_t past = mix64(s->key + 1);

	if (s->before != NONE)
		past = mix64(past + r->steps[s->before].past);
	if (s->enabler != NONE)
		past = mix64(past + 3 * r->steps[s->enabler].past);
	for (int o = 0; o < 2 && s->access.object[o]; o++)
		past = mix64(past + 5 * past_of_object(r, s->access.object[o], s->access.write, s->prev[o], unmarked));
	return past;
}

/* Two operations that follow each other on one object. */
static uint64_t neighbours(const struct reversal *r, uint32_t at, const struct step *s)
{
	return mix64(at == NONE ? 0 : r->steps[at].key) + s->key;
}

/* Leaves of the steps those that count, with their pasts, and notes these. */
static int keep_steps(struct reversal *r)
{
	uint64_t beginning = 0;
	uint32_t nr = 0, preemptions = 0;

	if (!ARRAY_RESERVE(r->kept, r->room_kept, r->nr_steps + 1) ||
	    !ARRAY_RESERVE_ZERO(r->after, r->room_after, r->nr_steps + 1))
		return -ENOMEM;
	id_map_clear(&r->last);
	for (uint32_t i = 0; i < r->nr_steps; i++) {
		struct step s = r->steps[i];

		s.before = s.before == NONE ? NONE : r->kept[s.before];
		s.enabler = s.enabler == NONE ? NONE : r->kept[s.enabler];
		r->kept[i] = s.before;
		if (!counts(r, &s))
			continue;
		for (int o = 0; o < 2; o++) {
			bool added = true;
			uint32_t *last = s.access.object[o] ? id_map_add(&r->last, s.access.object[o], nr, &added) : NULL;

			if (s.access.object[o] && !last)
				return -ENOMEM;
			s.prev[o] = added ? NONE : *last;
			if (last)
				*last = nr;
		}
		/* where an object says why it had to wait, the order can be reversed, unless it has waited already */
		if (s.enabler != NONE && s.op != ZUG_OP_RESUME && access_dependent(&r->steps[s.enabler].access, &s.access))
			s.enabler = NONE;
		s.past = past_of(r, &s, false);
		for (int o = 0; o < 2 && s.access.object[o]; o++)
			note(r, neighbours(r, s.prev[o], &s), NEXT_TO);
		s.beginning = beginning;
		s.preemptions = preemptions;
		beginning += s.past;
		preemptions += s.preempts;
		note(r, beginning, BEGINNING);
		r->kept[i] = nr;
		r->steps[nr++] = s;
	}
	r->nr_kept = nr;
	return 0;
}

/*
 * Marks what comes of step i, up to step j; false: j does so by more than its objects. Nothing is marked before, and
 * what comes before step i never is: so a pair costs what lies between its steps, not all that lies before.
 */
static bool mark(struct reversal *r, uint32_t i, uint32_t j)
{
	r->after[i] = true;
	for (uint32_t k = i + 1;; k++) {
		const struct step *s = &r->steps[k];
		bool after = (s->before != NONE && r->after[s->before]) ||
			     (s->enabler != NONE && r->after[s->enabler]);

		if (k == j)
			return !after;
		for (int o = 0; o < 2 && s->access.object[o]; o++)
			for (uint32_t at = s->prev[o]; at != NONE && at >= i && !after;
			     at = step_before(r, at, s->access.object[o])) {
				after = r->after[at] && (s->access.write || r->steps[at].access.write);
				if (r->steps[at].access.write)
					break;
			}
		r->after[k] = after;
	}
}

static void unmark(struct reversal *r, uint32_t i, uint32_t j)
{
	memset(&r->after[i], 0, (j + 1 - i) * sizeof(*r->after));
}

static void drop_aim(struct reversal *r, uint32_t i)
{
	r->nr_aims--;
	r->worst = NONE;
	memmove(&r->aims[i], &r->aims[i + 1], (r->nr_aims - i) * sizeof(r->aims[0]));
}

static uint32_t most_preemptions(const struct reversal *r)
{
	uint32_t worst = 0;

	for (uint32_t i = 1; i < r->nr_aims; i++)
		if (r->aims[i].preemptions > r->aims[worst].preemptions)
			worst = i;
	return worst;
}

/* Makes room for an aim with so many preemptions; false: all that are there have fewer. */
static bool make_room(struct reversal *r, uint32_t preemptions)
{
	if (r->nr_aims < MAX_AIMS)
		return true;
	if (r->worst == NONE)
		r->worst = most_preemptions(r);
	if (r->aims[r->worst].preemptions < preemptions)
		return false;
	free(r->aims[r->worst].order);
	drop_aim(r, r->worst);
	return true;
}

/* Step j comes before step i, and the steps that mark() has marked come later. */
static int add_aim(struct reversal *r, uint32_t i, uint32_t j, uint64_t object)
{
	struct aim a = { .closes = r->steps[i].op == ZUG_OP_CLOSE || r->steps[j].op == ZUG_OP_CLOSE };
	uint32_t last = i ? i - 1 : NONE, near = r->steps[j].prev[r->steps[j].access.object[0] != object];

	a.beginning = past_of(r, &r->steps[j], true) + r->steps[i].beginning;
	for (uint32_t k = i; k < j; k++)
		a.beginning += r->after[k] ? 0 : r->steps[k].past;
	if (knows(r, a.beginning, BEGINNING) || knows(r, a.beginning, TRIED))
		return 0;
	for (uint32_t k = 0; k < r->nr_aims; k++)
		if (r->aims[k].beginning == a.beginning)
			return 0;
	while (near != NONE && r->after[near])
		near = step_before(r, near, object);
	a.next_to = neighbours(r, near, &r->steps[j]);
	r->after[j] = false;
	a.preemptions = r->steps[i].preemptions;
	a.nr = i;
	for (uint32_t k = i; k <= j; k++) {
		if (r->after[k])
			continue;
		if (last != NONE && last + 1 != k)
			a.preemptions += r->steps[last].task != r->steps[k].task;
		else
			a.preemptions += r->steps[k].preempts;
		last = k;
		a.nr++;
	}
	if (a.nr > MAX_ORDER || !make_room(r, a.preemptions))
		return 0;
	a.order = malloc(a.nr * sizeof(*a.order));
	if (!a.order)
		return -ENOMEM;
	a.nr = 0;
	for (uint32_t k = 0; k <= j; k++)
		if (!r->after[k])
			a.order[a.nr++] = (struct aim_step){
				.task = r->steps[k].task, .key = (uint32_t)r->steps[k].key,
			};
	r->aims[r->nr_aims++] = a;
	return 0;
}

static bool is_exclusive_lock(unsigned int op)
{
	return op == ZUG_OP_LOCK || op == ZUG_OP_SPIN_LOCK;
}

static bool is_lock(unsigned int op)
{
	return is_exclusive_lock(op) || op == ZUG_OP_RDLOCK || op == ZUG_OP_WRLOCK;
}

/*
 * Aims of what comes before step j on that object: as in reversals.c, an unlock cannot change places with the lock after it,
 * and what may wait has more than one partner.
 */
static int find_partners(struct reversal *r, uint32_t j, int o, uint32_t *work)
{
	const struct step *s = &r->steps[j];
	uint32_t partners = 0;

	/* a signal is handled when it has been sent, and not before */
	if (s->op == ZUG_OP_HANDLER)
		return 0;
	for (uint32_t i = s->prev[o]; i != NONE && *work < MAX_WORK; i = step_before(r, i, s->access.object[o])) {
		const struct step *b = &r->steps[i];

		if (b->task != s->task && (b->access.write || s->access.write) &&
		    !(is_lock(s->op) && b->access.release)) {
			int ret = 0;

			*work += j;
			partners++;
			if (mark(r, i, j))
				ret = add_aim(r, i, j, s->access.object[o]);
			unmark(r, i, j);
			if (ret)
				return ret;
		}
		if (s->access.acquire ? partners == MAX_PARTNERS || (is_exclusive_lock(s->op) && is_exclusive_lock(b->op)) :
					b->access.write)
			break;
	}
	return 0;
}

/* Learns from the execution that was watched last, if that has not been done. */
static int settle(struct reversal *r)
{
	uint32_t work = 0;
	int ret = r->nr_steps ? keep_steps(r) : 0;

	r->worst = NONE;
	for (uint32_t j = r->nr_steps ? r->nr_kept : 0; !ret && j-- > 1;)
		for (int o = 0; o < 2 && r->steps[j].access.object[o] && !ret; o++)
			ret = find_partners(r, j, o, &work);
	forget_execution(r);
	return ret;
}

/* ---- choosing ---- */

/* In what order aims are taken: the lowest first. */
static unsigned int rank_of(const struct reversal *r, const struct aim *a)
{
	return a->closes ? 2 : knows(r, a->next_to, NEXT_TO);
}

/* The best aim, or NONE. */
static uint32_t best_aim(const struct reversal *r)
{
	uint32_t best = NONE;
	unsigned int rank, best_rank = 0;

	for (uint32_t i = r->nr_aims; i-- > 0;) {
		const struct aim *a = &r->aims[i];

		rank = rank_of(r, a);
		if (best == NONE || rank < best_rank || (rank == best_rank && a->preemptions < r->aims[best].preemptions)) {
			best = i;
			best_rank = rank;
		}
	}
	return best;
}

static int reversal_begin(void *state, uint64_t iteration)
{
	struct reversal *r = state;
	uint32_t best;

	(void)iteration;
	if (settle(r))
		return -ENOMEM;
	r->own = true;
	r->base = false;
	r->behind = false;
	priorities_clear(&r->prio);
	free(r->taken.order);
	r->taken.order = NULL;
	r->now = NULL;
	r->at = 0;
	r->owed = 0;
	if (r->env->frozen) {
		if (r->nr_aims)
			r->now = &r->aims[rng_below(&r->env->rng, r->nr_aims)];
		return SEARCH_GO;
	}
	for (uint32_t i = r->nr_aims; i-- > 0;)
		if (knows(r, r->aims[i].beginning, BEGINNING)) {
			free(r->aims[i].order);
			drop_aim(r, i);
		}
	if (r->renewed) {
		r->renewed = false;
		r->base = true;
		return SEARCH_GO;
	}
	best = best_aim(r);
	if (best == NONE)
		return SEARCH_GO;
	r->taken = r->aims[best];
	r->now = &r->taken;
	note(r, r->taken.beginning, TRIED);
	drop_aim(r, best);
	return SEARCH_GO;
}

/* Aims without the new points lead nowhere near them: it begins again at the execution that never preempts. */
static int reversal_renew(void *state)
{
	struct reversal *r = state;

	if (settle(r))
		return -ENOMEM;
	while (r->nr_aims)
		free(r->aims[--r->nr_aims].order);
	r->renewed = true;
	return 0;
}

/* The last task, as long as it can go on. */
static uint32_t stay(const struct choice *c)
{
	uint32_t pos = c->point->last == SEARCH_NO_TASK ? 0 : choice_from(c, c->point->last);

	return pos == c->nr ? 0 : pos;
}

/*
 * The last task, if it has steps to make that were promised; else CHOICE_NONE. Where the aim has steps that are no points now,
 * these are more than the aim wants of it.
 */
static uint32_t owing(struct reversal *r, const struct choice *c)
{
	uint32_t last = c->point->last, pos = r->owed ? choice_from(c, last) : c->nr;

	if (pos == c->nr || c->point->yielded || choice_cand(c, pos)->task != last) {
		r->owed = 0;
		return CHOICE_NONE;
	}
	r->owed--;
	return pos;
}

/* The next steps of the aim that are the task's. */
static uint64_t run_of(const struct reversal *r, uint32_t task)
{
	uint64_t nr = 0;

	while (r->now && r->at + nr < r->now->nr && r->now->order[r->at + nr].task == task)
		nr++;
	return nr;
}

/* The aim's next task, or CHOICE_NONE: nothing is followed any more. */
static uint32_t follow(struct reversal *r, const struct choice *c)
{
	uint32_t task, pos;

	if (!r->now)
		return CHOICE_NONE;
	task = r->now->order[r->at].task;
	pos = choice_from(c, task);
	if (pos == c->nr || choice_cand(c, pos)->task != task) {
		r->now = NULL;
		return CHOICE_NONE;
	}
	return pos;
}

/*
 * The aim's next task makes a step. Where that is no step of the aim it does not count, or is a point since the aim was made;
 * where it is a later one of the task's, those before are no points now. True: it was the last.
 */
static bool come_along(struct reversal *r, uint32_t key)
{
	const struct aim *a = r->now;

	for (uint32_t k = r->at; k < a->nr && a->order[k].task == a->order[r->at].task; k++)
		if (a->order[k].key == key) {
			r->at = k + 1;
			break;
		}
	return r->at == a->nr;
}

static int reversal_pick(void *state, const struct choice *c)
{
	struct reversal *r = state;
	const struct search_point *p = c->point;
	const struct search_cand *chosen;
	struct access a;
	uint32_t pos;

	if (priorities_reserve(&r->prio, p))
		return -ENOMEM;
	pos = r->base ? stay(c) : r->behind ? c->last : owing(r, c);
	if (pos == CHOICE_NONE)
		pos = follow(r, c);
	if (pos == CHOICE_NONE)
		pos = priorities_highest(&r->prio, &r->env->rng, c);
	chosen = choice_cand(c, pos);
	a = access_of(&chosen->label);
	if (priorities_redraw(&r->prio, p, chosen->task, &a))
		return -ENOMEM;
	if (r->now && come_along(r, (uint32_t)key_of(chosen))) {
		r->now = NULL;
		r->behind = true;
	}
	if (!r->owed)
		r->owed = run_of(r, chosen->task);
	return (int)pos;
}

/* The aim's next steps of the task, and all behind it; without an aim as in pos.c. */
static uint64_t reversal_promise(const void *state, const struct search_point *point, uint32_t task,
				 enum search_until *until)
{
	const struct reversal *r = state;

	*until = SEARCH_UNTIL_CHANGE;
	if (r->base)
		return 0;
	if (!r->owed && !r->now && !r->behind)
		return priorities_next(&r->prio, &r->env->rng, point) == task;
	*until = SEARCH_UNTIL_DONE;
	return r->behind ? UINT64_MAX : r->owed;
}

/* The next steps of the aim, in whole runs of a task. */
static void tell_order(const struct reversal *r, struct search_rule *rule)
{
	uint32_t nr = 0;

	for (uint32_t k = r->at; k < r->now->nr; k++) {
		const struct aim_step *s = &r->now->order[k];
		const uint32_t *i = id_map_find(&r->by_key, s->key + 1ull);

		if (nr && s->task != rule->order[nr - 1].task)
			rule->nr_order = nr;
		if (!i || nr == SEARCH_ORDER)
			return;
		rule->order[nr++] = (struct search_ordered){
			.task = s->task, .op = r->operations[*i].op, .site = r->operations[*i].site,
		};
	}
	rule->nr_order = nr;
}

/* Along an aim, without one, and behind one. */
static void reversal_rule(const void *state, struct search_rule *rule)
{
	const struct reversal *r = state;

	/* stay() */
	if (r->base) {
		rule->by = SEARCH_BY_DIFFERENCES;
		rule->base = true;
		return;
	}
	if (r->now && !r->ambiguous)
		tell_order(r, rule);
	if (rule->nr_order) {
		rule->by = SEARCH_BY_ORDER;
		rule->owed = r->owed;
	}
	if (r->now || (r->owed && !r->behind))
		return;
	rule->by = SEARCH_BY_PENDING;
	rule->base = r->behind;
}

static uint64_t reversal_weight(const void *state, uint32_t task)
{
	const struct reversal *r = state;

	return priorities_of(&r->prio, task);
}

static void reversal_save(void *state, struct codec *c)
{
	struct reversal *r = state;

	if (c->write && settle(r)) {
		c->error = -ENOMEM;
		return;
	}
	save_seen(c, &r->seen);
	codec_field(c, r->started);
	codec_field(c, r->renewed);
	codec_array32(c, &r->users, &r->nr_users, &r->room_users, sizeof(*r->users));
	for (uint32_t i = 0; !c->write && !c->error && i < r->nr_users; i++)
		if (!id_map_add(&r->by_object, r->users[i].object, i, NULL))
			c->error = -ENOMEM;
	codec_field(c, r->nr_aims);
	if (!c->error && r->nr_aims > MAX_AIMS)
		c->error = -EBADMSG;
	for (uint32_t i = 0; i < r->nr_aims && i < MAX_AIMS; i++) {
		struct aim *a = &r->aims[i];

		if (!c->write)
			a->order = NULL;
		codec_field(c, a->beginning);
		codec_field(c, a->next_to);
		codec_field(c, a->preemptions);
		codec_field(c, a->closes);
		codec_array32(c, &a->order, &a->nr, NULL, sizeof(*a->order));
		if (!c->error && !a->nr)
			c->error = -EBADMSG;
	}
}

const struct strategy_type strategy_reversal = {
	.info = {
		.name = "reversal",
		.line = "reverses pairs of operations of earlier executions, few preemptions first: small and deep tests",
		.params = "",
		.guarantee = "none of its own; what it does not aim at is chosen as in pos",
	},
	.flags = STRATEGY_EVERY_STEP | STRATEGY_FAIR,
	.size = sizeof(struct reversal),
	.init = reversal_init,
	.begin = reversal_begin,
	.pick = reversal_pick,
	.observe = reversal_observe,
	.renew = reversal_renew,
	.promise = reversal_promise,
	.rule = reversal_rule,
	.weight = reversal_weight,
	.fini = reversal_fini,
	.save = reversal_save,
};
