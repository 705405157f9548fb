/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * vector_clocks.c - data races (vector_clocks.h)
 *
 * Flanagan, Freund: FastTrack, efficient and precise dynamic race detection
 * (PLDI 2009): the last write of a variable is an epoch (clock at task), its
 * reads are an epoch as long as they are ordered and a vector after that. The
 * clocks know nothing of the order in which the search ran the tasks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "lib/base/id_map.h"
#include "search/access.h"
#include "search/vector_clocks.h"

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
	uint64_t object;
	uint32_t *clock;		/* of a synchronisation object, or NULL */
	struct variable var;
	uint32_t once_task;		/* the task that came to this pthread_once first, + 1; 0: none */
	/* over all executions */
	bool ever_raced, ever_written, shared;
	uint32_t first_task;
};

struct vector_clocks {
	struct entry *entries;
	uint32_t nr, room;
	struct id_map index;		/* of the objects, in entries */
	uint32_t *clocks;		/* VECTOR_CLOCKS_TASKS for each task */
	bool started[VECTOR_CLOCKS_TASKS];
	bool waited[VECTOR_CLOCKS_TASKS];	/* was not able to run since its last operation began */
	struct zug_label pending[VECTOR_CLOCKS_TASKS];	/* last operation: synchronises until it is over */
	uint64_t once[VECTOR_CLOCKS_TASKS];	/* the pthread_once that it is in or comes from, 0 none */
	uint32_t width;			/* tasks in use */
};

static uint32_t *clock_of(struct vector_clocks *vc, uint32_t task)
{
	return vc->clocks + (size_t)task * VECTOR_CLOCKS_TASKS;
}

struct vector_clocks *vector_clocks_new(void)
{
	struct vector_clocks *vc = calloc(1, sizeof(*vc));

	if (!vc)
		return NULL;
	vc->clocks = calloc((size_t)VECTOR_CLOCKS_TASKS * VECTOR_CLOCKS_TASKS, sizeof(*vc->clocks));
	if (!vc->clocks) {
		free(vc);
		return NULL;
	}
	return vc;
}

void vector_clocks_free(struct vector_clocks *vc)
{
	if (!vc)
		return;
	for (uint32_t i = 0; i < vc->nr; i++) {
		free(vc->entries[i].clock);
		free(vc->entries[i].var.reads);
		free(vc->entries[i].var.read_labels);
	}
	free(vc->entries);
	id_map_free(&vc->index);
	free(vc->clocks);
	free(vc);
}

void vector_clocks_begin(struct vector_clocks *vc)
{
	for (uint32_t i = 0; i < vc->nr; i++) {
		struct entry *e = &vc->entries[i];

		if (e->clock)
			memset(e->clock, 0, VECTOR_CLOCKS_TASKS * sizeof(*e->clock));
		free(e->var.reads);
		free(e->var.read_labels);
		memset(&e->var, 0, sizeof(e->var));
		e->once_task = 0;
	}
	memset(vc->clocks, 0, (size_t)vc->width * VECTOR_CLOCKS_TASKS * sizeof(*vc->clocks));
	memset(vc->started, 0, sizeof(vc->started));
	memset(vc->waited, 0, sizeof(vc->waited));
	memset(vc->pending, 0, sizeof(vc->pending));
	memset(vc->once, 0, sizeof(vc->once));
	vc->width = 0;
}

/* NULL: that object was not seen. */
static struct entry *find(const struct vector_clocks *vc, uint64_t object)
{
	const uint32_t *i = id_map_find(&vc->index, object);

	return i ? &vc->entries[*i] : NULL;
}

static struct entry *get(struct vector_clocks *vc, uint64_t object)
{
	const uint32_t *i;
	bool added;

	if (!ARRAY_RESERVE(vc->entries, vc->room, vc->nr + 1) ||
	    !(i = id_map_add(&vc->index, object, vc->nr, &added)))
		return NULL;
	if (added)
		vc->entries[vc->nr++] = (struct entry){ .object = object, .first_task = SEARCH_NO_TASK };
	return &vc->entries[*i];
}

static void join(const struct vector_clocks *vc, uint32_t *into, const uint32_t *from)
{
	for (uint32_t t = 0; t < vc->width; t++)
		if (from[t] > into[t])
			into[t] = from[t];
}

static int acquire(struct vector_clocks *vc, uint32_t task, uint64_t object)
{
	struct entry *e;

	if (!object)
		return 0;
	e = get(vc, object);
	if (!e)
		return -ENOMEM;
	if (e->clock)
		join(vc, clock_of(vc, task), e->clock);
	return 0;
}

static int release(struct vector_clocks *vc, uint32_t task, uint64_t object)
{
	struct entry *e;

	if (!object)
		return 0;
	e = get(vc, object);
	if (!e)
		return -ENOMEM;
	if (!e->clock)
		e->clock = calloc(VECTOR_CLOCKS_TASKS, sizeof(*e->clock));
	if (!e->clock)
		return -ENOMEM;
	join(vc, e->clock, clock_of(vc, task));
	return 0;
}

/*
 * Atomic accesses (zug_op_is_atomic()) order as sequential consistency does: a reader comes after all writers before it.
 */

/* A task that may take something from the object is ordered after those that put it there. */
static int take(struct vector_clocks *vc, uint32_t task, const struct zug_label *l)
{
	if (!((l->flags | zug_op_flags(l->op)) & (ZUG_L_ACQUIRE | ZUG_L_COARSE)) && l->op != ZUG_OP_RESUME &&
	    !zug_op_is_atomic(l->op))
		return 0;
	return acquire(vc, task, l->object) ?: acquire(vc, task, l->object2);
}

static int give(struct vector_clocks *vc, uint32_t task, const struct zug_label *l)
{
	unsigned int flags = l->flags | zug_op_flags(l->op);
	int ret = 0;

	if (flags & ZUG_L_RELEASE || (zug_op_is_atomic(l->op) && flags & ZUG_L_WRITE)) {
		ret = release(vc, task, l->object);
		ret = ret ? ret : release(vc, task, l->object2);
		clock_of(vc, task)[task]++;
	}
	return ret;
}

/*
 * A pthread_once is seen before it begins, and its end is not: what the first task in it does to
 * data until its next point is taken for the initialisation, after which all others come out. (What
 * it does to data behind that, without a point in between, seems to be ordered, too.)
 */
static int once_enters(struct vector_clocks *vc, uint32_t task, uint64_t object)
{
	struct entry *e = object ? get(vc, object) : NULL;

	if (!e)
		return object ? -ENOMEM : 0;
	if (!e->once_task)
		e->once_task = task + 1;
	vc->once[task] = object;
	return 0;
}

static int once_initialises(struct vector_clocks *vc, uint32_t task)
{
	int ret;

	if (!vc->once[task] || find(vc, vc->once[task])->once_task != task + 1)
		return 0;
	ret = release(vc, task, vc->once[task]);
	clock_of(vc, task)[task]++;
	return ret;
}

static int once_leaves(struct vector_clocks *vc, uint32_t task, bool data)
{
	uint64_t object = vc->once[task];
	bool first = object && find(vc, object)->once_task == task + 1;

	if (!object || (first && data))
		return 0;
	vc->once[task] = 0;
	return first ? 0 : acquire(vc, task, object);
}

/*
 * New tasks begin after what their parent has done so far. A task that cannot run now is waiting.
 */
static void look(struct vector_clocks *vc, const struct search_point *p)
{
	for (uint32_t i = 0; i < p->nr; i++) {
		uint32_t t = p->cand[i].task, parent = p->cand[i].parent;

		if (t < VECTOR_CLOCKS_TASKS && !p->cand[i].enabled)
			vc->waited[t] = true;
		if (t >= VECTOR_CLOCKS_TASKS || vc->started[t])
			continue;
		vc->started[t] = true;
		if (t >= vc->width)
			vc->width = t + 1;
		if (parent < VECTOR_CLOCKS_TASKS && vc->started[parent] && parent != t) {
			join(vc, clock_of(vc, t), clock_of(vc, parent));
			clock_of(vc, parent)[parent]++;
		}
		clock_of(vc, t)[t]++;
	}
}

/*
 * A join, or a wait for a child, that does not say whose end it waited for: all tasks that are gone
 * by now came before.
 */
static void join_the_gone(struct vector_clocks *vc, const struct search_point *p, uint32_t task)
{
	bool here[VECTOR_CLOCKS_TASKS] = { false };

	for (uint32_t i = 0; i < p->nr; i++)
		if (p->cand[i].task < VECTOR_CLOCKS_TASKS)
			here[p->cand[i].task] = true;
	for (uint32_t t = 0; t < vc->width; t++)
		if (vc->started[t] && !here[t])
			join(vc, clock_of(vc, task), clock_of(vc, t));
}

static bool ordered(const struct epoch *e, const uint32_t *clock)
{
	return !e->clock || e->clock <= clock[e->task];
}

static int report(struct entry *mine, const struct entry *e, const struct epoch *earlier, uint32_t task,
		  const struct zug_label *l, struct vector_clocks_race *race)
{
	mine->ever_raced = true;
	if (mine->var.raced)
		return 0;
	mine->var.raced = true;
	*race = (struct vector_clocks_race){
		.object = mine->object, .with = e->object, .task = task, .other = earlier->task, .label = *l,
		.earlier = earlier->label,
	};
	return 1;
}

/*
 * 1: reading, or writing, mine races with what was done to e, which is mine or a piece that
 * overlaps it.
 */
static int check(struct vector_clocks *vc, struct entry *mine, const struct entry *e, bool write, uint32_t task,
		 const struct zug_label *l, struct vector_clocks_race *race)
{
	const struct variable *v = &e->var;
	const uint32_t *c = clock_of(vc, task);

	if (!ordered(&v->write, c))
		return report(mine, e, &v->write, task, l, race);
	if (!write)
		return 0;
	if (!v->reads && !ordered(&v->read, c))
		return report(mine, e, &v->read, task, l, race);
	for (uint32_t t = 0; v->reads && t < vc->width; t++) {
		struct epoch r = { t, v->reads[t], v->read_labels[t] };

		if (!ordered(&r, c))
			return report(mine, e, &r, task, l, race);
	}
	return 0;
}

static int note_read(struct vector_clocks *vc, struct variable *v, uint32_t task, const struct zug_label *l)
{
	uint32_t *c = clock_of(vc, task);

	if (v->reads) {
		v->reads[task] = c[task];
		v->read_labels[task] = *l;
	} else if (v->read.clock && v->read.task != task && !ordered(&v->read, c)) {
		v->reads = calloc(VECTOR_CLOCKS_TASKS, sizeof(*v->reads));
		v->read_labels = calloc(VECTOR_CLOCKS_TASKS, sizeof(*v->read_labels));
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

static void note_write(struct vector_clocks *vc, struct variable *v, uint32_t task, const struct zug_label *l)
{
	free(v->reads);
	free(v->read_labels);
	v->reads = NULL;
	v->read_labels = NULL;
	v->read = (struct epoch){ 0 };
	v->write = (struct epoch){ task, clock_of(vc, task)[task], *l };
}

static int access_data(struct vector_clocks *vc, uint32_t task, const struct zug_label *l,
		       const struct vector_clocks_access *a, struct vector_clocks_race *race)
{
	struct entry *e;
	int found, ret = 0;

	if (!a->object)
		return 0;
	e = get(vc, a->object);
	if (!e)
		return -ENOMEM;
	if (e->first_task == SEARCH_NO_TASK)
		e->first_task = task;
	e->shared |= e->first_task != task;
	e->ever_written |= l->op != ZUG_OP_DATA_READ;
	found = check(vc, e, e, a->write, task, l, race);
	for (uint32_t i = 0; i < a->nr_overlaps && !found; i++) {
		const struct entry *other = find(vc, a->overlaps[i]);

		if (other)
			found = check(vc, e, other, a->write, task, l, race);
	}
	if (a->write)
		note_write(vc, &e->var, task, l);
	else
		ret = note_read(vc, &e->var, task, l);
	return ret ? ret : found;
}

/* The first race is the one that is told, and all accesses are noted. */
static int access_all(struct vector_clocks *vc, uint32_t task, const struct zug_label *l, const struct vector_clocks_access *a,
		      uint32_t nr, struct vector_clocks_race *race)
{
	int ret = 0;

	for (uint32_t n = 0; n < nr; n++) {
		struct vector_clocks_race other;
		int found = access_data(vc, task, l, &a[n], ret == 1 ? &other : race);

		if (found < 0)
			return found;
		ret |= found;
	}
	return ret;
}

int vector_clocks_step_on(struct vector_clocks *vc, const struct search_point *p, uint32_t i,
			  const struct vector_clocks_access *a, uint32_t nr,
			  struct vector_clocks_race *race)
{
	const struct zug_label *l = &p->cand[i].label;
	uint32_t task = p->cand[i].task;
	int found, ret;

	look(vc, p);
	if (task >= VECTOR_CLOCKS_TASKS)
		return 0;
	/* If the operation before waited in the kernel, what it waited for came first. */
	ret = vc->waited[task] ? take(vc, task, &vc->pending[task]) : 0;
	if (ret)
		return ret;
	vc->waited[task] = false;
	if ((vc->pending[task].op == ZUG_OP_JOIN || vc->pending[task].op == ZUG_OP_WAITPID) &&
	    !vc->pending[task].object)
		join_the_gone(vc, p, task);
	ret = once_leaves(vc, task, zug_op_is_data(l->op));
	if (ret)
		return ret;
	vc->pending[task] = *l;
	if (!zug_op_is_data(l->op)) {
		/* what it gives on comes after what it accesses, as that comes after what it takes */
		ret = take(vc, task, l);
		found = ret ? ret : access_all(vc, task, l, a, nr, race);
		if (found >= 0)
			ret = give(vc, task, l);
		if (!ret && found >= 0 && l->op == ZUG_OP_ONCE)
			ret = once_enters(vc, task, l->object);
		return ret ? ret : found;
	}
	vc->pending[task] = (struct zug_label){ .op = ZUG_OP_NONE };
	found = access_all(vc, task, l, a, nr, race);
	if (found < 0)
		return found;
	return once_initialises(vc, task) ? -ENOMEM : found;
}

int vector_clocks_step(struct vector_clocks *vc, const struct search_point *p, uint32_t i,
		       struct vector_clocks_race *race)
{
	const struct zug_label *l = &p->cand[i].label;
	const struct vector_clocks_access a[2] = {
		{ .object = l->object, .write = l->op == ZUG_OP_DATA_WRITE },
		{ .object = l->object2, .write = l->op == ZUG_OP_DATA_WRITE },
	};

	return vector_clocks_step_on(vc, p, i, a, zug_op_is_data(l->op) ? 2 : 0, race);
}

bool vector_clocks_always(const struct vector_clocks *vc, uint64_t object)
{
	const struct entry *e = find(vc, object);

	return e && e->shared && e->ever_written && !e->ever_raced;
}
