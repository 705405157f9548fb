/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * misuse.c - what labels prove about objects (misuse.h)
 *
 * The list of errors is that of Nekara's memcached study (ASE 2021, 5).
 *
 * misuse_step() first looks at what the last step did (look_after()), settles what the task's last operation did, for
 * it has come back now, then looks at the next one: dispatch() has the rules by operation.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "lib/base/id_map.h"
#include "search/misuse.h"

enum state { UNKNOWN, FREE, HELD };

struct object {
	uint64_t id;
	uint64_t site;		/* of the operation that gave the state */
	uint64_t init_site, destroy_site, join_site, detach_site;
	uint32_t holder;
	uint8_t state;
	bool init, destroyed, joined, detached;
	bool gone;		/* destroyed, and its address means nothing else: a use is misuse */
	uint32_t gone_by;	/* the task that destroyed it */
	bool nested;		/* its holder locked it again: unlocks prove nothing */
};

/* The effect of a task's last operation, which is known once the task makes its next one. */
struct pending {
	uint64_t object;	/* it holds this lock then; 0: none */
	uint64_t joined;	/* this thread was joined; 0: none */
	uint64_t site;
	bool was_free;		/* the lock's memory said so when the task went on */
	bool taken;		/* and said when it stopped, without another having run, that it is the task's now */
};

struct misuse {
	bool (*read)(void *ctx, uint32_t task, uint64_t object, struct misuse_memory *memory);
	void *ctx;
	struct object *objects;
	uint32_t nr, room;
	struct id_map index;	/* of ids, in objects */
	struct pending *pending;	/* by task */
	uint32_t nr_pending;
	uint32_t last;		/* the task that made the last step; SEARCH_NO_TASK: none */
	uint32_t *gone_by;	/* objects that are gone, by the task that destroyed them */
	uint32_t nr_gone_by;
	struct misuse_report *report;
};

static const char *const texts[MISUSE_NR] = {
	[MISUSE_NONE] = "nothing wrong",
	[MISUSE_UNLOCK_FREE] = "unlock of a lock that is not held",
	[MISUSE_UNLOCK_FOREIGN] = "unlock of a lock that another task holds",
	[MISUSE_RELOCK] = "lock of a mutex that the task itself holds",
	[MISUSE_INIT_USED] = "init of a lock that is in use",
	[MISUSE_INIT_TWICE] = "second init of one object",
	[MISUSE_DESTROY_USED] = "destroy of an object that is in use",
	[MISUSE_USE_DESTROYED] = "use of an object after its destroy",
	[MISUSE_JOIN_TWICE] = "second join of one thread",
	[MISUSE_JOIN_DETACHED] = "join of a detached thread",
	[MISUSE_WAIT_UNLOCKED] = "wait for a condition without holding its mutex",
};

const char *misuse_text(enum misuse_kind kind)
{
	return (unsigned int)kind < MISUSE_NR ? texts[kind] : "unknown misuse";
}

struct misuse *misuse_new(bool (*read)(void *ctx, uint32_t task, uint64_t object,
				       struct misuse_memory *memory), void *ctx)
{
	struct misuse *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->read = read;
	m->ctx = ctx;
	m->last = SEARCH_NO_TASK;
	return m;
}

void misuse_free(struct misuse *m)
{
	if (!m)
		return;
	free(m->objects);
	id_map_free(&m->index);
	free(m->pending);
	free(m->gone_by);
	free(m);
}

void misuse_begin(struct misuse *m)
{
	id_map_clear(&m->index);
	m->nr = 0;
	m->last = SEARCH_NO_TASK;
	if (m->nr_pending)
		memset(m->pending, 0, m->nr_pending * sizeof(*m->pending));
	if (m->nr_gone_by)
		memset(m->gone_by, 0, m->nr_gone_by * sizeof(*m->gone_by));
}

/* Enters an object, so that get() finds it. */
static int enter(struct misuse *m, uint64_t id)
{
	bool added;

	if (!id)
		return 0;
	if (!ARRAY_RESERVE(m->objects, m->room, m->nr + 1) ||
	    !id_map_add(&m->index, id, m->nr, &added))
		return -ENOMEM;
	if (added)
		m->objects[m->nr++] = (struct object){ .id = id, .holder = SEARCH_NO_TASK };
	return 0;
}

static struct object *get(struct misuse *m, uint64_t id)
{
	return &m->objects[*id_map_find(&m->index, id)];
}

static bool alive(const struct search_point *p, uint32_t task)
{
	return search_cand_of(p, task) != UINT32_MAX;
}

/* It waits for a lock again, after its wait for a condition: for that condition it waits no more. */
static bool was_woken(const struct zug_label *l)
{
	return (l->op == ZUG_OP_RESUME || l->op == ZUG_OP_EXPIRE) && l->object2;
}

/* A task that cannot go on because of this object. */
static uint32_t waiter(const struct search_point *p, uint64_t id)
{
	for (uint32_t i = 0; i < p->nr; i++) {
		const struct search_cand *c = &p->cand[i];

		if (!c->enabled && ((c->label.object == id && !was_woken(&c->label)) || c->label.object2 == id))
			return c->task;
	}
	return SEARCH_NO_TASK;
}

/*
 * The state on which labels and memory agree: HELD with *holder, FREE, or UNKNOWN where either does
 * not know or they differ.
 */
static enum state agreed(struct misuse *m, const struct search_point *p, uint32_t task,
			 const struct object *o, uint32_t *holder, struct misuse_memory *memory)
{
	memset(memory, 0, sizeof(*memory));
	*holder = o->holder;
	if (o->state == UNKNOWN || (o->state == HELD && !alive(p, o->holder)))
		return UNKNOWN;
	if (!m->read)
		return o->state;
	if (!m->read(m->ctx, task, o->id, memory))
		return UNKNOWN;
	if (memory->locked != (o->state == HELD))
		return UNKNOWN;
	if (memory->locked && memory->owner_known && memory->owner != o->holder)
		return UNKNOWN;
	return o->state;
}

static int wrong(struct misuse *m, enum misuse_kind kind, const struct object *o, uint32_t other,
		 uint64_t site)
{
	m->report->kind = kind;
	m->report->object = o->id;
	m->report->other = other;
	m->report->earlier_site = site;
	return 1;
}

static bool is_fixed(struct misuse *m, uint32_t task, uint64_t id)
{
	struct misuse_memory memory;

	return m->read && m->read(m->ctx, task, id, &memory) && memory.fixed;
}

/*
 * What a lock's memory says of the task that made the last step, and stands at its next one: no other has run. Then
 * what was free and is locked is the task's, also where memory does not say whose it is.
 */
static void look_after(struct misuse *m)
{
	struct misuse_memory memory;
	struct pending *p;

	if (m->last == SEARCH_NO_TASK || !m->read)
		return;
	p = &m->pending[m->last];
	if (!p->object || p->taken)
		return;
	/* a task that passed a point because no other could run */
	if (!m->read(m->ctx, m->last, p->object, &memory))
		p->taken = p->was_free;
	else
		p->taken = memory.locked && (memory.owner_known ? memory.owner == m->last : p->was_free);
}

/* A task that has not made its operation yet, or not to its end, goes on. */
static void look_before(struct misuse *m, uint32_t task)
{
	struct pending *p = &m->pending[task];
	struct misuse_memory memory;

	if (p->object && m->read && !p->taken)
		p->was_free = m->read(m->ctx, task, p->object, &memory) && !memory.locked;
}

/*
 * The last operation of this task has returned, or a signal handler has interrupted it: the lock's memory tells, where it
 * can be read.
 */
static void settle(struct misuse *m, uint32_t task, const struct zug_label *next)
{
	struct pending *p = &m->pending[task];
	struct object *o;

	/* Going on in the kernel is still the same operation. */
	if (next->op == ZUG_OP_RESUME)
		return;
	if (p->object && (p->taken || !m->read)) {
		o = get(m, p->object);
		o->state = HELD;
		o->holder = task;
		o->site = p->site;
	}
	if (p->joined) {
		o = get(m, p->joined);
		o->joined = true;
		o->join_site = p->site;
	}
	*p = (struct pending){ 0 };
}

static void forget_state(struct object *o)
{
	o->state = UNKNOWN;
	o->holder = SEARCH_NO_TASK;
}

static int on_lock(struct misuse *m, uint32_t task, struct object *o)
{
	struct misuse_memory memory;

	/*
	 * Only its memory tells which kind of mutex it is, and only the task itself changes that
	 * while it is the owner. The labels may be wrong here: a signal handler runs after the
	 * unlock that it interrupts was labelled, and before that is done.
	 */
	if (m->read && m->read(m->ctx, task, o->id, &memory) && memory.locked && memory.owner_known &&
	    memory.owner == task && !memory.recursive)
		return wrong(m, MISUSE_RELOCK, o, task,
			     o->state == HELD && o->holder == task ? o->site : 0);
	if (o->state == HELD && o->holder == task)
		o->nested = true;
	forget_state(o);
	m->pending[task].object = o->id;
	m->pending[task].site = m->report->label.site;
	return 0;
}

static int on_unlock(struct misuse *m, const struct search_point *p, uint32_t task,
		     struct object *o)
{
	struct misuse_memory memory;
	uint32_t holder;

	switch (agreed(m, p, task, o, &holder, &memory)) {
	case FREE:
		return wrong(m, MISUSE_UNLOCK_FREE, o, SEARCH_NO_TASK, o->site);
	case HELD:
		if (holder != task)
			return wrong(m, MISUSE_UNLOCK_FOREIGN, o, holder, o->site);
		break;
	case UNKNOWN:
		break;
	}
	/* A recursive mutex may still be held: then nothing is known. */
	if (o->state == HELD && o->holder == task && !o->nested && !memory.recursive) {
		o->state = FREE;
		o->site = m->report->label.site;
		o->holder = SEARCH_NO_TASK;
	} else {
		forget_state(o);
	}
	return 0;
}

static void set_gone(struct misuse *m, uint32_t task, struct object *o, bool gone)
{
	if (o->gone)
		m->gone_by[o->gone_by]--;
	o->gone = gone;
	o->gone_by = task;
	if (gone)
		m->gone_by[task]++;
}

static int on_init(struct misuse *m, const struct search_point *p, uint32_t task,
		   struct object *o, bool lock)
{
	struct misuse_memory memory;
	uint32_t holder, waits = waiter(p, o->id);

	if (waits != SEARCH_NO_TASK)
		return wrong(m, MISUSE_INIT_USED, o, waits, o->site);
	if (lock && agreed(m, p, task, o, &holder, &memory) == HELD)
		return wrong(m, MISUSE_INIT_USED, o, holder, o->site);
	if (o->init && is_fixed(m, task, o->id))
		return wrong(m, MISUSE_INIT_TWICE, o, SEARCH_NO_TASK, o->init_site);
	o->nested = false;
	o->init = true;
	o->destroyed = false;
	set_gone(m, task, o, false);
	o->init_site = m->report->label.site;
	if (lock) {
		o->state = FREE;
		o->site = o->init_site;
		o->holder = SEARCH_NO_TASK;
	}
	return 0;
}

static int on_destroy(struct misuse *m, const struct search_point *p, uint32_t task,
		      struct object *o)
{
	struct misuse_memory memory;
	uint32_t holder, waits = waiter(p, o->id);

	if (waits != SEARCH_NO_TASK)
		return wrong(m, MISUSE_DESTROY_USED, o, waits, o->site);
	/*
	 * C11 lets a thread destroy the mutex that it holds itself; pthread_mutex_destroy() refuses it, whatever the
	 * schedule
	 */
	if (agreed(m, p, task, o, &holder, &memory) == HELD && holder != task)
		return wrong(m, MISUSE_DESTROY_USED, o, holder, o->site);
	forget_state(o);
	o->init = false;
	o->destroyed = true;
	set_gone(m, task, o, is_fixed(m, task, o->id));
	o->destroy_site = m->report->label.site;
	return 0;
}

static int on_wait(struct misuse *m, const struct search_point *p, uint32_t task, uint64_t mutex)
{
	struct misuse_memory memory;
	struct object *o;
	uint32_t holder;

	if (!mutex)
		return 0;
	o = get(m, mutex);
	switch (agreed(m, p, task, o, &holder, &memory)) {
	case FREE:
		return wrong(m, MISUSE_WAIT_UNLOCKED, o, SEARCH_NO_TASK, o->site);
	case HELD:
		if (holder != task)
			return wrong(m, MISUSE_WAIT_UNLOCKED, o, holder, o->site);
		break;
	case UNKNOWN:
		break;
	}
	forget_state(o);
	m->pending[task].object = mutex;
	m->pending[task].site = m->report->label.site;
	return 0;
}

static int on_join(struct misuse *m, uint32_t task, struct object *o)
{
	if (o->joined)
		return wrong(m, MISUSE_JOIN_TWICE, o, SEARCH_NO_TASK, o->join_site);
	if (o->detached)
		return wrong(m, MISUSE_JOIN_DETACHED, o, SEARCH_NO_TASK, o->detach_site);
	m->pending[task].joined = o->id;
	m->pending[task].site = m->report->label.site;
	return 0;
}

static bool uses_initialised(unsigned int op)
{
	switch (op) {
	case ZUG_OP_LOCK:
	case ZUG_OP_UNLOCK:
	case ZUG_OP_COND_WAIT:
	case ZUG_OP_COND_SIGNAL:
	case ZUG_OP_COND_BROADCAST:
	case ZUG_OP_RDLOCK:
	case ZUG_OP_WRLOCK:
	case ZUG_OP_BARRIER_WAIT:
	case ZUG_OP_SEM_WAIT:
	case ZUG_OP_SEM_POST:
		return true;
	}
	return false;
}

static int dispatch(struct misuse *m, const struct search_point *p, uint32_t task,
		    const struct zug_label *l)
{
	struct object *o = get(m, l->object);

	if (o->destroyed && uses_initialised(l->op) && is_fixed(m, task, o->id))
		return wrong(m, MISUSE_USE_DESTROYED, o, SEARCH_NO_TASK, o->destroy_site);
	switch (l->op) {
	case ZUG_OP_LOCK:
	case ZUG_OP_SPIN_LOCK:
		return on_lock(m, task, o);
	case ZUG_OP_TRYLOCK:
	case ZUG_OP_TIMEDLOCK:
	case ZUG_OP_SPIN_TRYLOCK:
		forget_state(o);
		return 0;
	case ZUG_OP_UNLOCK:
	case ZUG_OP_SPIN_UNLOCK:
		return on_unlock(m, p, task, o);
	case ZUG_OP_MUTEX_INIT:
	case ZUG_OP_SPIN_INIT:
		return on_init(m, p, task, o, true);
	case ZUG_OP_COND_INIT:
	case ZUG_OP_RWLOCK_INIT:
	case ZUG_OP_BARRIER_INIT:
	case ZUG_OP_SEM_INIT:
		return on_init(m, p, task, o, false);
	case ZUG_OP_MUTEX_DESTROY:
	case ZUG_OP_SPIN_DESTROY:
	case ZUG_OP_COND_DESTROY:
	case ZUG_OP_RWLOCK_DESTROY:
	case ZUG_OP_BARRIER_DESTROY:
	case ZUG_OP_SEM_DESTROY:
		return on_destroy(m, p, task, o);
	case ZUG_OP_COND_WAIT:
	case ZUG_OP_COND_TIMEDWAIT:
		return on_wait(m, p, task, l->object2);
	case ZUG_OP_JOIN:
		return on_join(m, task, o);
	case ZUG_OP_DETACH:
		o->detached = true;
		o->detach_site = l->site;
		return 0;
	case ZUG_OP_CREATE:
		/* A new thread, should its identity be used again. */
		o->joined = o->detached = false;
		return 0;
	}
	return 0;
}

bool misuse_after_destroy(const struct misuse *m, bool (*lives)(void *ctx, uint32_t task), void *ctx)
{
	for (uint32_t i = 0; i < m->nr_gone_by; i++)
		if (m->gone_by[i] && lives(ctx, i))
			return true;
	return false;
}

int misuse_step(struct misuse *m, const struct search_point *p, uint32_t i,
		struct misuse_report *report)
{
	const struct zug_label *l = &p->cand[i].label;
	uint32_t task = p->cand[i].task;
	int ret = 0;

	if (!ARRAY_RESERVE_ZERO(m->pending, m->nr_pending, task + 1) ||
	    !ARRAY_RESERVE_ZERO(m->gone_by, m->nr_gone_by, task + 1) || enter(m, l->object) ||
	    enter(m, l->object2))
		return -ENOMEM;
	look_after(m);
	settle(m, task, l);
	m->last = task;
	if (l->object) {
		*report = (struct misuse_report){ .task = task, .label = *l, .other = SEARCH_NO_TASK };
		m->report = report;
		ret = dispatch(m, p, task, l);
	}
	look_before(m, task);
	return ret;
}
