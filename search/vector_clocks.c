/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * order.c - data races by vector clocks (order.h)
 *
 * Flanagan, Freund: FastTrack, efficient and precise dynamic race detection
 * (PLDI 2009): the last write of a variable is an epoch (clock at task), its
 * reads are an epoch as long as they are ordered and a vector after that. The
 * clocks know nothing of the order in which the search ran the tasks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "search/access.h"
#include "search/vector_clocks.h"
#include "search/rng.h"

struct epoch {
	uint32_t task, clock;		/* clock 0: none */
	struct zug_label label;
};

struct variable {
	struct epoch write, read;
	uint32_t *reads;		/* by task, when reads are not ordered; else NULL */
	struct zug_label *read_labels;
	bool raced;			/* in this execution */
};

struct entry {
	uint64_t object;		/* 0: empty */
	uint32_t *clock;		/* of a synchronisation object, or NULL */
	struct variable var;
	uint32_t once_task;		/* who came to this pthread_once first, + 1; 0 nobody */
	/* over all executions */
	bool ever_raced, ever_written, shared;
	uint32_t first_task;
};

struct order {
	struct entry *entries;
	uint32_t mask, nr;
	uint32_t *clocks;		/* ORDER_TASKS for each task */
	bool started[ORDER_TASKS];
	bool waited[ORDER_TASKS];	/* was not able to run since its last operation began */
	struct zug_label pending[ORDER_TASKS];	/* last operation: synchronises until it is over */
	uint64_t once[ORDER_TASKS];	/* the pthread_once that it is in or comes from, 0 none */
	uint32_t width;			/* tasks in use */
};

static uint32_t *clock_of(struct order *o, uint32_t task)
{
	return o->clocks + (size_t)task * ORDER_TASKS;
}

struct order *order_new(void)
{
	struct order *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->mask = 63;
	o->entries = calloc(o->mask + 1, sizeof(*o->entries));
	o->clocks = calloc((size_t)ORDER_TASKS * ORDER_TASKS, sizeof(*o->clocks));
	if (!o->entries || !o->clocks) {
		order_free(o);
		return NULL;
	}
	return o;
}

void order_free(struct order *o)
{
	if (!o)
		return;
	for (uint32_t i = 0; o->entries && i <= o->mask; i++) {
		free(o->entries[i].clock);
		free(o->entries[i].var.reads);
		free(o->entries[i].var.read_labels);
	}
	free(o->entries);
	free(o->clocks);
	free(o);
}

void order_begin(struct order *o)
{
	for (uint32_t i = 0; i <= o->mask; i++) {
		struct entry *e = &o->entries[i];

		if (e->clock)
			memset(e->clock, 0, ORDER_TASKS * sizeof(*e->clock));
		free(e->var.reads);
		free(e->var.read_labels);
		memset(&e->var, 0, sizeof(e->var));
		e->once_task = 0;
	}
	memset(o->clocks, 0, (size_t)o->width * ORDER_TASKS * sizeof(*o->clocks));
	memset(o->started, 0, sizeof(o->started));
	memset(o->waited, 0, sizeof(o->waited));
	memset(o->pending, 0, sizeof(o->pending));
	memset(o->once, 0, sizeof(o->once));
	o->width = 0;
}

static struct entry *slot(const struct order *o, uint64_t object)
{
	uint32_t i = (uint32_t)mix64(object) & o->mask;

	while (o->entries[i].object && o->entries[i].object != object)
		i = (i + 1) & o->mask;
	return &o->entries[i];
}

static struct entry *get(struct order *o, uint64_t object)
{
	struct entry *e, *old = o->entries;
	uint32_t size = o->mask + 1;

	if ((o->nr + 1) * 2 > size) {
		o->entries = calloc((size_t)size * 2, sizeof(*old));
		if (!o->entries) {
			o->entries = old;
			return NULL;
		}
		o->mask = size * 2 - 1;
		for (uint32_t i = 0; i < size; i++)
			if (old[i].object)
				*slot(o, old[i].object) = old[i];
		free(old);
	}
	e = slot(o, object);
	if (!e->object) {
		*e = (struct entry){ .object = object, .first_task = SEARCH_NO_TASK };
		o->nr++;
	}
	return e;
}

static void join(const struct order *o, uint32_t *into, const uint32_t *from)
{
	for (uint32_t t = 0; t < o->width; t++)
		if (from[t] > into[t])
			into[t] = from[t];
}

static int acquire(struct order *o, uint32_t task, uint64_t object)
{
	struct entry *e;

	if (!object)
		return 0;
	e = get(o, object);
	if (!e)
		return -ENOMEM;
	if (e->clock)
		join(o, clock_of(o, task), e->clock);
	return 0;
}

static int release(struct order *o, uint32_t task, uint64_t object)
{
	struct entry *e;

	if (!object)
		return 0;
	e = get(o, object);
	if (!e)
		return -ENOMEM;
	if (!e->clock)
		e->clock = calloc(ORDER_TASKS, sizeof(*e->clock));
	if (!e->clock)
		return -ENOMEM;
	join(o, e->clock, clock_of(o, task));
	return 0;
}

static bool is_data(unsigned int op)
{
	return op == ZUG_OP_DATA_READ || op == ZUG_OP_DATA_WRITE || op == ZUG_OP_DATA_ACCESS;
}

/* Atomic accesses order as sequential consistency does: whoever reads comes after all who wrote. */
static bool is_atomic(unsigned int op)
{
	return op == ZUG_OP_ATOMIC_LOAD || op == ZUG_OP_ATOMIC_STORE || op == ZUG_OP_ATOMIC_RMW;
}

/* Whoever may take something from the object is ordered after who put it there. */
static int synchronise(struct order *o, uint32_t task, const struct zug_label *l, bool give)
{
	unsigned int flags = l->flags | zug_op_flags(l->op);
	int ret = 0;

	if (flags & (ZUG_L_ACQUIRE | ZUG_L_COARSE) || l->op == ZUG_OP_RESUME || is_atomic(l->op)) {
		ret = acquire(o, task, l->object);
		ret = ret ? ret : acquire(o, task, l->object2);
	}
	if (!ret && give && (flags & ZUG_L_RELEASE || (is_atomic(l->op) && flags & ZUG_L_WRITE))) {
		ret = release(o, task, l->object);
		ret = ret ? ret : release(o, task, l->object2);
		clock_of(o, task)[task]++;
	}
	return ret;
}

/*
 * A pthread_once is seen before it begins, and its end is not: what the one who came first does to data until its next
 * point is taken for the initialisation, after which all others come out. (What it does to data behind that, without a
 * point in between, seems to be ordered, too.)
 */
static int once_enters(struct order *o, uint32_t task, uint64_t object)
{
	struct entry *e = object ? get(o, object) : NULL;

	if (!e)
		return object ? -ENOMEM : 0;
	if (!e->once_task)
		e->once_task = task + 1;
	o->once[task] = object;
	return 0;
}

static int once_initialises(struct order *o, uint32_t task)
{
	int ret;

	if (!o->once[task] || slot(o, o->once[task])->once_task != task + 1)
		return 0;
	ret = release(o, task, o->once[task]);
	clock_of(o, task)[task]++;
	return ret;
}

static int once_leaves(struct order *o, uint32_t task, bool data)
{
	uint64_t object = o->once[task];
	bool first = object && slot(o, object)->once_task == task + 1;

	if (!object || (first && data))
		return 0;
	o->once[task] = 0;
	return first ? 0 : acquire(o, task, object);
}

/* New tasks begin after what their parent has done so far. Who cannot run now is waiting. */
static void look(struct order *o, const struct search_point *p)
{
	for (uint32_t i = 0; i < p->nr; i++) {
		uint32_t t = p->cand[i].task, parent = p->cand[i].parent;

		if (t < ORDER_TASKS && !p->cand[i].enabled)
			o->waited[t] = true;
		if (t >= ORDER_TASKS || o->started[t])
			continue;
		o->started[t] = true;
		if (t >= o->width)
			o->width = t + 1;
		if (parent < ORDER_TASKS && o->started[parent] && parent != t) {
			join(o, clock_of(o, t), clock_of(o, parent));
			clock_of(o, parent)[parent]++;
		}
		clock_of(o, t)[t]++;
	}
}

/*
 * A join, or a wait for a child, that does not say whose end it waited for: whoever is gone by now
 * came before.
 */
static void join_the_gone(struct order *o, const struct search_point *p, uint32_t task)
{
	bool here[ORDER_TASKS] = { false };

	for (uint32_t i = 0; i < p->nr; i++)
		if (p->cand[i].task < ORDER_TASKS)
			here[p->cand[i].task] = true;
	for (uint32_t t = 0; t < o->width; t++)
		if (o->started[t] && !here[t])
			join(o, clock_of(o, task), clock_of(o, t));
}

static bool ordered(const struct epoch *e, const uint32_t *clock)
{
	return !e->clock || e->clock <= clock[e->task];
}

static int report(struct entry *mine, const struct entry *e, const struct epoch *earlier, uint32_t task,
		  const struct zug_label *l, struct order_race *race)
{
	mine->ever_raced = true;
	if (mine->var.raced)
		return 0;
	mine->var.raced = true;
	*race = (struct order_race){
		.object = mine->object, .with = e->object, .task = task, .other = earlier->task, .label = *l,
		.earlier = earlier->label,
	};
	return 1;
}

/* Does reading, or writing, mine race with what was done to e, which is mine or a piece that overlaps it? */
static int check(struct order *o, struct entry *mine, const struct entry *e, bool write, uint32_t task,
		 const struct zug_label *l, struct order_race *race)
{
	const struct variable *v = &e->var;
	const uint32_t *c = clock_of(o, task);

	if (!ordered(&v->write, c))
		return report(mine, e, &v->write, task, l, race);
	if (!write)
		return 0;
	if (!v->reads && !ordered(&v->read, c))
		return report(mine, e, &v->read, task, l, race);
	for (uint32_t t = 0; v->reads && t < o->width; t++) {
		struct epoch r = { t, v->reads[t], v->read_labels[t] };

		if (!ordered(&r, c))
			return report(mine, e, &r, task, l, race);
	}
	return 0;
}

static int note_read(struct order *o, struct variable *v, uint32_t task, const struct zug_label *l)
{
	uint32_t *c = clock_of(o, task);

	if (v->reads) {
		v->reads[task] = c[task];
		v->read_labels[task] = *l;
	} else if (v->read.clock && v->read.task != task && !ordered(&v->read, c)) {
		v->reads = calloc(ORDER_TASKS, sizeof(*v->reads));
		v->read_labels = calloc(ORDER_TASKS, sizeof(*v->read_labels));
		if (!v->reads || !v->read_labels)
			return -ENOMEM;
		v->reads[v->read.task] = v->read.clock;
		v->read_labels[v->read.task] = v->read.label;
		v->reads[task] = c[task];
		v->read_labels[task] = *l;
	} else {
		v->read = (struct epoch){ task, c[task], *l };
	}
	return 0;
}

static void note_write(struct order *o, struct variable *v, uint32_t task, const struct zug_label *l)
{
	free(v->reads);
	free(v->read_labels);
	v->reads = NULL;
	v->read_labels = NULL;
	v->read = (struct epoch){ 0 };
	v->write = (struct epoch){ task, clock_of(o, task)[task], *l };
}

static int access_data(struct order *o, uint32_t task, const struct zug_label *l, const struct order_access *a,
		       struct order_race *race)
{
	struct entry *e;
	int found, ret = 0;

	if (!a->object)
		return 0;
	e = get(o, a->object);
	if (!e)
		return -ENOMEM;
	if (e->first_task == SEARCH_NO_TASK)
		e->first_task = task;
	e->shared |= e->first_task != task;
	e->ever_written |= l->op != ZUG_OP_DATA_READ;
	found = check(o, e, e, a->write, task, l, race);
	for (uint32_t i = 0; i < a->nr_overlaps && !found; i++) {
		const struct entry *other = slot(o, a->overlaps[i]);

		if (other->object)
			found = check(o, e, other, a->write, task, l, race);
	}
	if (a->write)
		note_write(o, &e->var, task, l);
	else
		ret = note_read(o, &e->var, task, l);
	return ret ? ret : found;
}

int order_step_on(struct order *o, const struct search_point *p, uint32_t i, const struct order_access *a, uint32_t nr,
		  struct order_race *race)
{
	const struct zug_label *l = &p->cand[i].label;
	uint32_t task = p->cand[i].task;
	int ret;

	look(o, p);
	if (task >= ORDER_TASKS)
		return 0;
	/* If the operation before waited in the kernel, what it waited for came first. */
	ret = o->waited[task] ? synchronise(o, task, &o->pending[task], false) : 0;
	if (ret)
		return ret;
	o->waited[task] = false;
	if ((o->pending[task].op == ZUG_OP_JOIN || o->pending[task].op == ZUG_OP_WAITPID) &&
	    !o->pending[task].object)
		join_the_gone(o, p, task);
	ret = once_leaves(o, task, is_data(l->op));
	if (ret)
		return ret;
	o->pending[task] = *l;
	if (!is_data(l->op)) {
		ret = synchronise(o, task, l, true);
		return ret || l->op != ZUG_OP_ONCE ? ret : once_enters(o, task, l->object);
	}
	o->pending[task] = (struct zug_label){ .op = ZUG_OP_NONE };
	/* the first race is the one that is told, and all accesses are noted */
	for (uint32_t n = 0; n < nr; n++) {
		struct order_race other;
		int found = access_data(o, task, l, &a[n], ret == 1 ? &other : race);

		if (found)
			ret = found < 0 ? found : 1;
		if (ret < 0)
			return ret;
	}
	return once_initialises(o, task) ? -ENOMEM : ret;
}

int order_step(struct order *o, const struct search_point *p, uint32_t i, struct order_race *race)
{
	const struct zug_label *l = &p->cand[i].label;
	const struct order_access a[2] = {
		{ .object = l->object, .write = l->op == ZUG_OP_DATA_WRITE },
		{ .object = l->object2, .write = l->op == ZUG_OP_DATA_WRITE },
	};

	return order_step_on(o, p, i, a, 2, race);
}

bool order_always(const struct order *o, uint64_t object)
{
	const struct entry *e = slot(o, object);

	return e->object && e->shared && e->ever_written && !e->ever_raced;
}
