/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * neighbour_names.c - how far a schedule that passes is from the failing one, and which two operations decide (neighbour.h)
 */
#include <errno.h>
#include "search/access.h"
#include "search/neighbour_internal.h"
#include "search/pair_order.h"
#include "search/pairing.h"

/* Orders are compared over this many steps from the first difference on. */
#define COMPARED_MAX	2000

static const struct zug_label *step_of(const void *ctx, uint64_t i, uint32_t *task)
{
	const struct schedule *s = ctx;

	*task = s->tasks[i];
	return &s->labels[i];
}

static bool has_object(const struct access *a, uint64_t object)
{
	return object && object != ACCESS_OPAQUE && (a->object[0] == object || a->object[1] == object);
}

/* They share no object with a name: they may depend on each other. */
static bool vague(const struct access *a, const struct access *b)
{
	return !has_object(a, b->object[0]) && !has_object(a, b->object[1]);
}

/* What processes do because there are others: they start and end, wait for each other, let go of what they have inherited. */
static bool is_of_processes(const struct zug_label *l)
{
	switch (l->op) {
	case ZUG_OP_BEGIN: case ZUG_OP_END: case ZUG_OP_RESUME: case ZUG_OP_WAITPID: case ZUG_OP_HANDLER:
	case ZUG_OP_SIGACTION: case ZUG_OP_SIGPROCMASK: case ZUG_OP_SIGNAL_WAIT:
		return true;
	case ZUG_OP_CLOSE:
		return zug_object_is_numbered(l->object);
	}
	return false;
}

/*
 * How much a pair says that may be one of many: the program's own operations say more than a library's, and of these those
 * on what tasks share for its own sake. The pairs of processes that start and end follow from all others.
 */
enum saying { SAYS_SHARED, SAYS_PROCESSES, SAYS_FOREIGN, SAYS_VAGUE, SAYS_NOTHING };

static enum saying says(const struct neighbour *n, const struct zug_label *a, const struct zug_label *b, bool is_vague)
{
	if (is_vague)
		return SAYS_VAGUE;
	if (n->foreign && n->foreign(n->foreign_ctx, a->site) && n->foreign(n->foreign_ctx, b->site))
		return SAYS_FOREIGN;
	return is_of_processes(a) || is_of_processes(b) ? SAYS_PROCESSES : SAYS_SHARED;
}

/* The step of this execution that is the task's nth; UINT64_MAX: none. */
static uint64_t nth_of(const struct schedule *s, uint32_t task, size_t nth)
{
	for (size_t i = 0; i < s->nr; i++)
		if (s->tasks[i] == task && !nth--)
			return i;
	return UINT64_MAX;
}

/* The task's next step of that label after step i; UINT64_MAX: none. */
static uint64_t next_such(const struct schedule *s, size_t i, uint32_t task, const struct zug_label *l)
{
	for (i++; i < s->nr; i++)
		if (s->tasks[i] == task && neighbour_is_same(&s->labels[i], l))
			return i;
	return UINT64_MAX;
}

/* The handler came when the task stood before a call, since the signal was sent: *last, its step. */
static bool handled_before(const struct neighbour *n, const struct critical_pair *pair, uint32_t task, size_t *last)
{
	for (*last = pair->second < n->led.nr ? pair->second : n->led.nr; --*last > pair->first;)
		if (n->fails.tasks[*last] == task)
			return zug_op_is_call(n->fails.labels[*last].op);
	return false;
}

/*
 * The step after an open, the end of another one's use, or a look at a file's attributes with which its task uses it, before
 * step end. Where the file is not
 * read or written then, but cut or removed, a look before that is what decides.
 */
static size_t use_of(const struct schedule *s, size_t step, size_t end)
{
	const struct zug_label *l = &s->labels[step], *x;
	size_t look = l->op == ZUG_OP_STAT ? step : end;

	if (l->op != ZUG_OP_OPEN && l->op != ZUG_OP_STAT && l->op != ZUG_OP_CLOSE)
		return step;
	for (size_t i = step + 1; i < end && i < s->nr; i++) {
		x = &s->labels[i];
		if (s->tasks[i] != s->tasks[step] || x->object != l->object || x->op == ZUG_OP_OPEN)
			continue;
		if (x->op == ZUG_OP_CLOSE)
			return step;
		if (x->op != ZUG_OP_STAT)
			return x->op == ZUG_OP_READ || x->op == ZUG_OP_WRITE || look == end ? i : look;
		look = look == end ? i : look;
	}
	return step;
}

/*
 * One of the operations sends, and the other waited for that in the execution where it came first: what it got is the same
 * in both. Steps may be none.
 */
static bool waited_all_the_same(const struct neighbour *n, uint64_t a_failing, uint64_t a_passing, uint64_t b_failing,
				uint64_t b_passing)
{
	return (a_failing < n->fails.nr && b_failing < n->fails.nr && pair_waited(&n->fails, a_failing, b_failing)) ||
	       (a_passing < n->now.nr && b_passing < n->now.nr && pair_waited(&n->now, b_passing, a_passing));
}

/*
 * A wide pair stands for all that two tasks did with an object there, and may be two looks at it, which decide nothing:
 * then the second task's operation that changes the object is the one to name, or the first task's.
 */
static void name_changes(const struct schedule *s, size_t *first, size_t *second)
{
	struct access a = access_of(&s->labels[*first]), b = access_of(&s->labels[*second]);
	uint64_t object = s->labels[*first].object;
	size_t i;

	if (access_dependent(&a, &b))
		return;
	for (i = *first + 1; i < *second; i++)
		if (s->tasks[i] == s->tasks[*second] && s->labels[i].object == object && access_writes(&s->labels[i])) {
			*second = i;
			return;
		}
	while (--i > *first)
		if (s->tasks[i] == s->tasks[*first] && s->labels[i].object == object && access_writes(&s->labels[i])) {
			*first = i;
			return;
		}
}

/* The task's last step of that label before step end of s; UINT64_MAX: none. */
static uint64_t last_such(const struct schedule *s, uint64_t end, uint32_t task, const struct zug_label *l)
{
	for (uint64_t i = end < s->nr ? end : s->nr; i-- > 0;)
		if (s->tasks[i] == task && neighbour_is_same(&s->labels[i], l))
			return i;
	return UINT64_MAX;
}

/* Steps first and second stand for the pair of this trial. True: they are the ones to name (name_reversed()). */
static bool name_steps(struct neighbour *n, const struct critical_pair *pair, size_t first, size_t second,
		       const struct pairing *same, struct neighbour_result *r)
{
	struct neighbour_op a = { .failing = first }, b = { .failing = second };
	size_t nr = n->led.nr, last;
	struct zug_label there;

	a.label = *critical_label(&n->failing, first, &a.task);
	b.label = *critical_label(&n->failing, second, &b.task);
	b.passing = nth_of(&n->now, b.task, neighbour_steps_of(&n->fails, b.task, second < nr ? second : nr));
	/* how many steps a thread of a runtime makes before is another matter in each execution */
	if (pair->own)
		b.passing = last_such(&n->now, nth_of(&n->now, a.task, neighbour_steps_of(&n->fails, a.task, first)), b.task, &b.label);
	if (b.passing == UINT64_MAX)
		return false;
	there = pairing_label(same, &n->now.labels[b.passing]);
	if (b.label.op == ZUG_OP_HANDLER && handled_before(n, pair, b.task, &last)) {
		b.label = n->fails.labels[last];
		b.failing = last;
		b.passing = nth_of(&n->now, b.task, neighbour_steps_of(&n->fails, b.task, last));
	} else if (b.label.op == ZUG_OP_HANDLER) {
		/* without the signal the task has done what comes after the handler, if that returns */
		b.label = there;
		b.failing = next_such(&n->fails, second, b.task, &there);
	} else if (!neighbour_is_same(&there, &b.label)) {
		return false;
	} else if (second >= nr) {
		b.failing = UINT64_MAX;
	}
	a.passing = nth_of(&n->now, a.task, neighbour_steps_of(&n->fails, a.task, a.failing));
	if (a.passing < b.passing || waited_all_the_same(n, a.failing, a.passing, b.failing, b.passing))
		return false;
	r->second_here = b.label;
	b.label = n->now.labels[b.passing];
	r->first = a;
	r->second = b;
	r->nr_pairs += !r->nr_pairs;
	return true;
}

/*
 * The pair of this trial is the one to name, if its operations came in the other order here: the second
 * is the same operation as there, and the first came later, or never.
 */
static void name_reversed(struct neighbour *n, const struct pairing *same, struct neighbour_result *r)
{
	const struct critical_pair *pair = &n->pairs[n->phase == ALIKE ? n->at_alike - 1 : n->nr_pairs - 1 - n->at];
	size_t first = pair->wide ? use_of(&n->led, pair->first, pair->second) : pair->first, second = pair->second;
	size_t a = first, b = second;

	if (pair->wide && !pair->points && second < n->led.nr)
		name_changes(&n->led, &a, &b);
	if (!name_steps(n, pair, a, b, same, r) &&
	    ((a == first && b == second) || !name_steps(n, pair, first, second, same, r)))
		return;
	r->alone = !pair->named && !(pair->ends && pair->wide) && neighbour_reverses(n);
	/* of points the closest is looked for: a task that is held for long passes, too */
	n->named = pair->points;
	n->decides = !r->alone && !pair->points;
}

/* What the torn update has read, and what came between. */
void neighbour_name_torn(const struct neighbour *n, const struct torn *t, struct neighbour_result *r)
{
	r->first = (struct neighbour_op){ n->fails.tasks[t->read], n->fails.labels[t->read], t->read, UINT64_MAX };
	r->second = (struct neighbour_op){ n->fails.tasks[t->between], n->fails.labels[t->between], t->between,
					   UINT64_MAX };
	r->second_here = r->second.label;
}

void neighbour_in_execution(const struct neighbour *n, struct neighbour_result *r)
{
	struct neighbour_op *const ops[] = { &r->first, &r->second };

	for (int i = 0; i < 2; i++) {
		ops[i]->failing = settled_at(&n->fails_steps, ops[i]->failing);
		ops[i]->passing = settled_at(&n->now_steps, ops[i]->passing);
	}
}

/* The first torn update of this trial's object is the one to name, if it is whole here. */
static bool name_whole(const struct neighbour *n, const struct pairing *same, struct neighbour_result *r)
{
	struct neighbour_result named = *r;
	struct neighbour_op *a = &named.first, *b = &named.second;
	struct zug_label there;

	neighbour_name_torn(n, &n->torn[n->at_torn - 1], &named);
	b->passing = nth_of(&n->now, b->task, neighbour_steps_of(&n->fails, b->task, b->failing));
	a->passing = nth_of(&n->now, a->task, neighbour_steps_of(&n->fails, a->task, a->failing));
	if (b->passing == UINT64_MAX || a->passing <= b->passing)
		return false;
	there = pairing_label(same, &n->now.labels[b->passing]);
	if (!neighbour_is_same(&there, &b->label))
		return false;
	b->label = n->now.labels[b->passing];
	named.alone = n->nr_made == 1;
	named.nr_pairs += !named.nr_pairs;
	*r = named;
	return true;
}

/*
 * The last step that was waited for and the first one that waited are the ones to name, where they come the other way round in
 * the failing execution.
 */
static void name_siblings(struct neighbour *n, const struct pairing *same, struct neighbour_result *r)
{
	struct neighbour_op *ops[2], first = { .failing = UINT64_MAX }, second = first;
	struct zug_label there;

	if (!neighbour_siblings_decide(n, &second.passing, &first.passing))
		return;
	ops[0] = &first;
	ops[1] = &second;
	for (int i = 0; i < 2; i++) {
		struct neighbour_op *o = ops[i];

		if (o->passing >= n->now.nr)
			return;
		o->task = n->now.tasks[o->passing];
		o->label = n->now.labels[o->passing];
		there = pairing_label(same, &o->label);
		o->failing = neighbour_in_failing(n, o->passing);
	}
	if (first.failing == UINT64_MAX || second.failing <= first.failing)
		return;
	first.label = n->fails.labels[first.failing];
	r->first = first;
	r->second = second;
	r->second_here = there;
	r->nr_pairs += !r->nr_pairs;
	n->named = true;
}

/*
 * Counts the pairs in which a came before b in the failing execution, and b before a in this one. Of those that say most the
 * first by the place of a, and of these by that of b, becomes r's.
 */
int neighbour_compare(struct neighbour *n, struct neighbour_result *r)
{
	const struct schedule *f = &n->fails, *p = &n->now;
	struct pairing *same = pairing_new(&(struct pairing_steps){ f, f->nr, step_of },
					   &(struct pairing_steps){ p, p->nr, step_of });
	size_t part = 0, f_end, p_end;
	enum saying have = SAYS_NOTHING, kind;

	if (!same)
		return -ENOMEM;
	while (part < f->nr && part < p->nr && pairing_in_second(same, part) == part)
		part++;
	f_end = f->nr - part > COMPARED_MAX ? part + COMPARED_MAX : f->nr;
	p_end = p->nr - part > COMPARED_MAX ? part + COMPARED_MAX : p->nr;
	r->part = part;
	r->nr = p->nr;
	r->nr_pairs = 0;
	for (size_t i = part; i < f_end; i++) {
		struct access a = access_of(&f->labels[i]);
		uint64_t in_p = pairing_in_second(same, i);

		if (!a.object[0] || in_p == PAIRING_STRAYED)
			continue;
		for (size_t k = part; k < p_end && k < in_p; k++) {
			const struct zug_label label = pairing_label(same, &p->labels[k]);
			struct access b = access_of(&label);
			uint64_t in_f = pairing_in_first(same, k);
			bool is_vague = vague(&a, &b);

			if (p->tasks[k] == f->tasks[i] || in_f < i || in_f == PAIRING_STRAYED || !access_dependent(&a, &b) ||
			    critical_are_apart(&f->labels[i], &label))
				continue;
			/* that the failure comes before what may depend on it says nothing */
			if ((is_vague && i + 1 == f->nr) || waited_all_the_same(n, i, in_p, in_f, k))
				continue;
			r->nr_pairs++;
			kind = says(n, &f->labels[i], &label, is_vague);
			if (kind >= have)
				continue;
			have = kind;
			r->first = (struct neighbour_op){ f->tasks[i], f->labels[i], i, in_p };
			r->second = (struct neighbour_op){ p->tasks[k], p->labels[k], in_f, k };
			r->second_here = label;
		}
	}
	if (neighbour_reverses(n) || n->phase == ALIKE)
		name_reversed(n, same, r);
	else if (neighbour_in_siblings(n))
		name_siblings(n, same, r);
	else if (neighbour_follows_order(n))
		n->decides = name_whole(n, same, r);
	pairing_free(same);
	neighbour_in_execution(n, r);
	r->nr = n->now_steps.whole;
	r->part = r->part < n->now_steps.nr ? settled_at(&n->now_steps, r->part) : r->nr;
	return 0;
}
