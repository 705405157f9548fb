/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cycles.c - aims at deadlocks that the orders predict in which tasks took locks
 *
 * After Goodlock (Havelund, SPIN 2000; Agarwal, Wang and Stoller, HVC 2005) and DeadlockFuzzer (Joshi et al., PLDI 2009). The
 * executions of all strategies are watched. A task that takes lock b while it has lock a is an edge from a to b. Edges of
 * different tasks that come round to where they began may be a deadlock, unless two of these tasks have a lock in common: only
 * one of the two can be there then. A lock that both have for reading is not in common.
 *
 * An execution for such a cycle holds each task of it that stands before the second lock of its edge and has the first one,
 * until no other task can run. When all tasks of the cycle stand there, none of them can go on. If only held tasks are left
 * before that, one of them is let go, for the rest of the execution.
 *
 * What a task does before it comes there may need a lock that another one has there already. So in the second and the third
 * try they come one after the other: a task does not take the first lock of its edge before those that come before it stand
 * at their places; in the third try the order is the other way round. In the first try the task that runs goes on, and where
 * it cannot the next is drawn; in the others each is drawn. Where a task comes to its place several times, a later try lets
 * it pass some of them, which is drawn as well.
 *
 * With N tasks in the cycle, all of them have to stop at one place each. A sampler needs the more executions the more tasks
 * there are, and the more other steps each makes. This strategy needs no luck once each edge was seen, in any executions.
 *
 * A semaphore counts as a lock once a task has given it back that had taken it (Python's locks are semaphores), and not if
 * another task has ever done that. Such a task tries first, and waits where that fails, so its place is before the attempt.
 *
 * Where an interpreter executes the program, a task that is held there has the interpreter's lock, and no other one comes to
 * its place. It can give that lock away where the interpreter looks whether others want it (the program's own points). So it is
 * held at the first of these behind the first lock of its edge, too, once in an execution.
 *
 * What a try cannot see: that the tasks of a cycle never live at the same time, or are put in order by something else. So
 * tries are few. What a task does before there is another one is no edge: that is how locks are made.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "search/strategies/strategies.h"

#define MAX_HELD	8	/* locks of a task; what it takes beyond these is not looked at */
#define MAX_EDGES	512
#define MAX_CYCLES	32	/* of a search */
#define MAX_LENGTH	16	/* tasks of a cycle */
#define MAX_TRIES	3	/* of a cycle */
#define MAX_WAIT	2000	/* decisions of an execution in which a task is held: others may go on for ever */
#define MAX_WORK	20000	/* edges that are looked at for the cycles of a new one */
#define MAX_SEMAPHORES	256	/* others are no locks */

struct held {
	uint64_t object;
	uint32_t depth;		/* it was taken so often: a recursive mutex */
	bool read;
};

struct edge {
	uint64_t key;		/* of the locks and the task */
	uint64_t wanted;
	uint32_t task;
	uint32_t first;		/* of has: where the edge begins */
	uint32_t times, most;	/* it was taken: in the execution that is watched, and most often in one */
	uint32_t nr_has;
	bool read;		/* wanted for reading */
	struct held has[MAX_HELD];
};

struct cycle {
	uint32_t edges[MAX_LENGTH];
	uint32_t nr, tries;
};

struct owner {
	struct held has[MAX_HELD];
	uint32_t nr;
};

struct semaphore {
	uint64_t object;
	bool own, others;	/* it was given back by the task that had it; by another one */
	bool taken;		/* in the execution that is watched, ... */
	uint32_t task;		/* ... by that one */
};

struct cycles {
	struct search_env *env;
	struct edge edges[MAX_EDGES];
	uint32_t nr_edges;
	struct cycle cycles[MAX_CYCLES];
	uint32_t nr_cycles;
	struct semaphore semaphores[MAX_SEMAPHORES];
	uint32_t nr_semaphores;

	/* of the execution that is watched */
	struct owner *owners;	/* by task */
	uint32_t nr_owners;
	bool crowded;		/* several tasks live, or have lived at a time */

	/* of the execution that this strategy chooses */
	const struct cycle *now;	/* what it aims at; NULL: nothing */
	uint32_t try;		/* counted from 0 */
	bool ordered;		/* its tasks come one after the other */
	uint32_t skip[MAX_LENGTH];	/* by edge of the cycle: so often its task is not held; UINT32_MAX: not any more */
	uint32_t on_way;	/* bits, by edge: its task is not held on its way any more */
	uint32_t waited;	/* decisions in which a task was held */
};

static int cycles_init(void *state, struct search_env *env, const int64_t *args)
{
	struct cycles *s = state;

	(void)args;
	s->env = env;
	return 0;
}

static void cycles_fini(void *state)
{
	struct cycles *s = state;

	free(s->owners);
}

/* ---- who has which locks ---- */

enum use { NO_LOCK, WAITS_FOR, TRIES, LEAVES };

static enum use use_of(unsigned int op)
{
	switch (op) {
	case ZUG_OP_LOCK:
	case ZUG_OP_RDLOCK:
	case ZUG_OP_WRLOCK:
	case ZUG_OP_SPIN_LOCK:
	case ZUG_OP_SEM_WAIT:
		return WAITS_FOR;
	case ZUG_OP_TRYLOCK:
	case ZUG_OP_TIMEDLOCK:
	case ZUG_OP_TRYRDLOCK:
	case ZUG_OP_TRYWRLOCK:
	case ZUG_OP_TIMEDRDLOCK:
	case ZUG_OP_TIMEDWRLOCK:
	case ZUG_OP_SPIN_TRYLOCK:
	case ZUG_OP_SEM_TRYWAIT:
	case ZUG_OP_SEM_TIMEDWAIT:
		return TRIES;
	case ZUG_OP_UNLOCK:
	case ZUG_OP_RWUNLOCK:
	case ZUG_OP_SPIN_UNLOCK:
	case ZUG_OP_SEM_POST:
		return LEAVES;
	}
	return NO_LOCK;
}

/* Where that fails the task waits. */
static bool may_wait(unsigned int op)
{
	return use_of(op) == WAITS_FOR || op == ZUG_OP_SEM_TRYWAIT;
}

static bool is_semaphore(unsigned int op)
{
	return op == ZUG_OP_SEM_WAIT || op == ZUG_OP_SEM_TRYWAIT || op == ZUG_OP_SEM_TIMEDWAIT || op == ZUG_OP_SEM_POST;
}

/* Notes that the task does that with a semaphore. True: it is used as a lock is. */
static bool semaphore_used(struct cycles *s, uint32_t task, uint64_t object, enum use use)
{
	struct semaphore *m = s->semaphores, *end = m + s->nr_semaphores;

	while (m < end && m->object != object)
		m++;
	if (m == end) {
		if (s->nr_semaphores == MAX_SEMAPHORES)
			return false;
		*m = (struct semaphore){ .object = object };
		s->nr_semaphores++;
	}
	if (use == LEAVES) {
		m->own |= m->taken && m->task == task;
		m->others |= !m->taken || m->task != task;
		m->taken = false;
	} else if (!m->taken || use == WAITS_FOR) {
		m->taken = true;
		m->task = task;
	}
	return m->own && !m->others;
}

static bool reads(unsigned int op)
{
	return op == ZUG_OP_RDLOCK || op == ZUG_OP_TRYRDLOCK || op == ZUG_OP_TIMEDRDLOCK;
}

static struct held *find_held(struct owner *o, uint64_t object)
{
	for (uint32_t i = 0; i < o->nr; i++)
		if (o->has[i].object == object)
			return &o->has[i];
	return NULL;
}

/* Another task has it, so that an attempt fails. */
static bool is_taken(const struct cycles *s, uint32_t task, uint64_t object, bool read)
{
	for (uint32_t t = 0; t < s->nr_owners; t++) {
		const struct held *h = t == task ? NULL : find_held(&s->owners[t], object);

		if (h && !(read && h->read))
			return true;
	}
	return false;
}

static void leave(struct owner *o, uint64_t object)
{
	struct held *h = find_held(o, object);

	if (!h || --h->depth)
		return;
	o->nr--;
	memmove(h, h + 1, (size_t)(&o->has[o->nr] - h) * sizeof(*h));
}

/* ---- edges and cycles ---- */

static bool excludes(const struct held *a, uint64_t object, bool read)
{
	return a->object == object && !(a->read && read);
}

/* The task at edge a waits for the one at edge b. */
static bool leads_to(const struct edge *a, const struct edge *b)
{
	return excludes(&b->has[b->first], a->wanted, a->read);
}

/* Two tasks can be there at the same time. */
static bool can_both(const struct edge *a, const struct edge *b)
{
	if (a->task == b->task)
		return false;
	for (uint32_t i = 0; i < a->nr_has; i++)
		for (uint32_t k = 0; k < b->nr_has; k++)
			if (excludes(&a->has[i], b->has[k].object, b->has[k].read))
				return false;
	return true;
}

/* Adds the cycles that begin with these edges. */
static void add_cycles(struct cycles *s, struct cycle *path, uint32_t *work)
{
	const struct edge *last = &s->edges[path->edges[path->nr - 1]];

	if (path->nr > 1 && leads_to(last, &s->edges[path->edges[0]])) {
		if (s->nr_cycles < MAX_CYCLES)
			s->cycles[s->nr_cycles++] = *path;
		return;
	}
	for (uint32_t i = 0; i < s->nr_edges && path->nr < MAX_LENGTH && s->nr_cycles < MAX_CYCLES; i++) {
		const struct edge *e = &s->edges[i];
		bool can = leads_to(last, e);

		if (++*work > MAX_WORK)
			return;
		for (uint32_t k = 0; k < path->nr && can; k++)
			can = can_both(&s->edges[path->edges[k]], e);
		if (!can)
			continue;
		path->edges[path->nr++] = i;
		add_cycles(s, path, work);
		path->nr--;
	}
}

static uint64_t key_of(const struct edge *e)
{
	uint64_t key = mix64(e->wanted + e->read) + e->task;

	for (uint32_t i = 0; i < e->nr_has; i++)
		key = mix64(key * 2 + e->has[i].read) + e->has[i].object;
	return mix64(key + e->first);
}

static void add_edge(struct cycles *s, const struct edge *e)
{
	struct cycle path = { .edges = { s->nr_edges }, .nr = 1 };
	uint32_t work = 0;

	for (uint32_t i = 0; i < s->nr_edges; i++) {
		struct edge *known = &s->edges[i];

		if (known->key != e->key)
			continue;
		if (++known->times > known->most)
			known->most = known->times;
		return;
	}
	if (s->nr_edges == MAX_EDGES)
		return;
	s->edges[s->nr_edges++] = *e;
	add_cycles(s, &path, &work);
}

/* The task takes that lock, which it may have to wait for. */
static void add_edges(struct cycles *s, const struct search_cand *c)
{
	const struct owner *o = &s->owners[c->task];
	struct edge e = { .wanted = c->label.object, .task = c->task, .nr_has = o->nr, .read = reads(c->label.op),
			  .times = 1, .most = 1 };

	memcpy(e.has, o->has, o->nr * sizeof(*e.has));
	for (e.first = 0; e.first < e.nr_has; e.first++) {
		e.key = key_of(&e);
		add_edge(s, &e);
	}
}

/* ---- the cycle that an execution aims at ---- */

/* The edge of the cycle at which that task stands; its nr: none. */
static uint32_t edge_at(struct cycles *s, const struct search_cand *c)
{
	if (!may_wait(c->label.op) || c->task >= s->nr_owners)
		return s->now->nr;
	for (uint32_t i = 0; i < s->now->nr; i++) {
		const struct edge *e = &s->edges[s->now->edges[i]];

		if (e->task == c->task && e->wanted == c->label.object &&
		    find_held(&s->owners[c->task], e->has[e->first].object))
			return i;
	}
	return s->now->nr;
}

/* The edge of the cycle on whose way that task is, at a place where it can give an interpreter's lock away; its nr: none. */
static uint32_t edge_on_way(struct cycles *s, const struct search_cand *c)
{
	struct owner *o = c->task < s->nr_owners ? &s->owners[c->task] : NULL;

	for (uint32_t i = 0; o && c->label.op == ZUG_OP_POINT && c->label.flags & ZUG_L_OWN && i < s->now->nr; i++) {
		const struct edge *e = &s->edges[s->now->edges[i]];

		if (e->task == c->task && !(s->on_way >> i & 1) && find_held(o, e->has[e->first].object) &&
		    !find_held(o, e->wanted))
			return i;
	}
	return s->now->nr;
}

/* The same of its place, or the way there. */
static uint32_t edge_of(struct cycles *s, const struct search_cand *c)
{
	uint32_t i = edge_at(s, c);

	return i < s->now->nr ? i : edge_on_way(s, c);
}

/* The tasks that come to their places before that of edge i do stand there. */
static bool is_next(struct cycles *s, const struct search_point *p, uint32_t i)
{
	for (uint32_t k = 0; k < s->now->nr; k++) {
		uint32_t at = search_cand_of(p, s->edges[s->now->edges[k]].task);

		if ((s->try & 1 ? k < i : k > i) && (at == UINT32_MAX || edge_of(s, &p->cand[at]) != k))
			return false;
	}
	return true;
}

/* It is about to begin its edge, and others come first. */
static bool comes_later(struct cycles *s, const struct search_point *p, const struct search_cand *c)
{
	enum use use = use_of(c->label.op);

	if (use != WAITS_FOR && use != TRIES)
		return false;
	for (uint32_t i = 0; i < s->now->nr; i++) {
		const struct edge *e = &s->edges[s->now->edges[i]];

		if (e->task == c->task && e->has[e->first].object == c->label.object)
			return !is_next(s, p, i);
	}
	return false;
}

static bool is_held(struct cycles *s, const struct search_point *p, const struct search_cand *c)
{
	uint32_t i;

	if (!s->now || s->waited == MAX_WAIT)
		return false;
	i = edge_of(s, c);
	return i < s->now->nr ? !s->skip[i] : s->ordered && comes_later(s, p, c);
}

static void forget_execution(struct cycles *s)
{
	for (uint32_t t = 0; t < s->nr_owners; t++)
		s->owners[t].nr = 0;
	for (uint32_t i = 0; i < s->nr_edges; i++)
		s->edges[i].times = 0;
	for (uint32_t i = 0; i < s->nr_semaphores; i++)
		s->semaphores[i].taken = false;
	s->crowded = false;
}

static int cycles_observe(void *state, const struct search_point *p, uint32_t i)
{
	struct cycles *s = state;
	const struct search_cand *c = &p->cand[i];
	const struct zug_label *l = &c->label;
	enum use use = use_of(l->op);
	struct owner *o;
	struct held *h;

	if (!p->step)
		forget_execution(s);
	s->crowded |= p->nr > 1;
	if (use == NO_LOCK || !l->object || (is_semaphore(l->op) && !semaphore_used(s, c->task, l->object, use)))
		return 0;
	if (!ARRAY_RESERVE_ZERO(s->owners, s->nr_owners, c->task + 1))
		return -ENOMEM;
	o = &s->owners[c->task];
	if (use == LEAVES) {
		leave(o, l->object);
		return 0;
	}
	if (use == TRIES && is_taken(s, c->task, l->object, reads(l->op)))
		return 0;
	if (may_wait(l->op) && s->now) {
		uint32_t k = edge_at(s, c);

		if (k < s->now->nr)
			s->skip[k] -= s->skip[k] && s->skip[k] != UINT32_MAX;
	}
	h = find_held(o, l->object);
	if (may_wait(l->op) && s->crowded && !s->env->frozen && !(l->flags & ZUG_L_LEFT_OUT) && (!h || h->read))
		add_edges(s, c);
	if (h)
		h->depth++;
	else if (o->nr < MAX_HELD)
		o->has[o->nr++] = (struct held){ .object = l->object, .depth = 1, .read = reads(l->op) };
	return 0;
}

/* ---- choosing ---- */

/* The cycle with the fewest tries, the oldest of these; NULL: all had enough. */
static struct cycle *next_cycle(struct cycles *s)
{
	struct cycle *next = NULL;

	for (uint32_t i = 0; i < s->nr_cycles; i++)
		if (s->cycles[i].tries < MAX_TRIES && (!next || s->cycles[i].tries < next->tries))
			next = &s->cycles[i];
	return next;
}

static bool cycles_idle(const void *state)
{
	return !next_cycle((struct cycles *)state);
}

static int cycles_begin(void *state, uint64_t iteration)
{
	struct cycles *s = state;
	struct cycle *next = next_cycle(s);

	(void)iteration;
	/* each part is made of its own random numbers alone */
	if (s->env->frozen && s->nr_cycles)
		next = &s->cycles[rng_below(&s->env->rng, s->nr_cycles)];
	s->now = next;
	if (!next)
		return SEARCH_GO;
	s->try = s->env->frozen ? (uint32_t)rng_below(&s->env->rng, MAX_TRIES) : next->tries++;
	s->ordered = s->try;
	s->on_way = 0;
	s->waited = 0;
	for (uint32_t i = 0; i < next->nr; i++)
		s->skip[i] = s->try ? (uint32_t)rng_below(&s->env->rng, s->edges[next->edges[i]].most) : 0;
	return SEARCH_GO;
}

/* All that can run are held: one of them is let go, or the order is. */
static int let_go(struct cycles *s, const struct choice *c)
{
	int pos = (int)rng_below(&s->env->rng, c->nr);
	const struct search_cand *cand = choice_cand(c, (uint32_t)pos);
	uint32_t i = edge_at(s, cand), way = edge_on_way(s, cand);

	if (i < s->now->nr)
		s->skip[i] = UINT32_MAX;
	else if (way < s->now->nr)
		s->on_way |= 1u << way;
	else
		s->ordered = false;
	return pos;
}

static int cycles_pick(void *state, const struct choice *c)
{
	struct cycles *s = state;
	uint32_t nr = 0;
	uint64_t at;

	for (uint32_t pos = 0; pos < c->nr; pos++)
		nr += !is_held(s, c->point, choice_cand(c, pos));
	if (!nr)
		return let_go(s, c);
	s->waited += nr < c->nr;
	if (s->now && !s->try && !c->free && !is_held(s, c->point, choice_cand(c, c->last)))
		return (int)c->last;
	at = rng_below(&s->env->rng, nr);
	for (uint32_t pos = 0;; pos++)
		if (!is_held(s, c->point, choice_cand(c, pos)) && !at--)
			return (int)pos;
}

static void cycles_end(void *state, const struct search_end *end)
{
	struct cycles *s = state;

	/* it is a deadlock, or is out of reach behind another failure */
	if (s->now && end->result == SEARCH_FAIL && !s->env->frozen)
		s->cycles[s->now - s->cycles].tries = MAX_TRIES;
	s->now = NULL;
}

static void cycles_save(void *state, struct codec *c)
{
	struct cycles *s = state;

	codec_field(c, s->nr_edges);
	codec_field(c, s->nr_cycles);
	codec_field(c, s->nr_semaphores);
	if (!c->error && (s->nr_edges > MAX_EDGES || s->nr_cycles > MAX_CYCLES || s->nr_semaphores > MAX_SEMAPHORES))
		c->error = -EBADMSG;
	if (c->error)
		return;
	codec_bytes(c, s->edges, s->nr_edges * sizeof(*s->edges));
	codec_bytes(c, s->cycles, s->nr_cycles * sizeof(*s->cycles));
	codec_bytes(c, s->semaphores, s->nr_semaphores * sizeof(*s->semaphores));
	for (uint32_t i = 0; !c->write && !c->error && i < s->nr_edges; i++)
		if (s->edges[i].nr_has > MAX_HELD || s->edges[i].first >= s->edges[i].nr_has)
			c->error = -EBADMSG;
	for (uint32_t i = 0; !c->write && !c->error && i < s->nr_cycles; i++) {
		if (s->cycles[i].nr > MAX_LENGTH)
			c->error = -EBADMSG;
		for (uint32_t k = 0; !c->error && k < s->cycles[i].nr; k++)
			if (s->cycles[i].edges[k] >= s->nr_edges)
				c->error = -EBADMSG;
	}
	if (c->error)
		s->nr_edges = s->nr_cycles = s->nr_semaphores = 0;
}

const struct strategy_type strategy_cycles = {
	.info = {
		.name = "cycles",
		.line = "brings tasks to where the locks that they took in different orders are a deadlock",
		.params = "",
		.guarantee = "none of its own; without such locks it is a random walk",
	},
	.flags = STRATEGY_FAIR,
	.size = sizeof(struct cycles),
	.init = cycles_init,
	.begin = cycles_begin,
	.idle = cycles_idle,
	.pick = cycles_pick,
	.observe = cycles_observe,
	.end = cycles_end,
	.fini = cycles_fini,
	.save = cycles_save,
};
