// SPDX-License-Identifier: GPL-2.0-only
/*
 * report_torn.c - work that two tasks do in two steps under one lock, and in which they came between each other
 *
 * Where an execution takes seconds there is no time to make a schedule simple and to try which order decides: a failure has
 * hundreds of preemptions then. But what such programs do wrong is mostly this: a task looks at something under a lock, in one
 * function, and changes it under the same lock in another one; and a second task has done its look in between. A trace shows
 * that. Counters and logs do so, too, and more often: so the functions in which the lock is taken least often come first.
 */
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "lib/base/hash.h"
#include "report/report_internal.h"
#include "symbols/symbols.h"

#define STEPS_MAX	1000000	/* of a trace that is looked through */
#define ROW_MAX		4000	/* times that a lock is taken: one that is taken more often says nothing */
#define TOLD_MAX	3

/* A task takes a lock. */
struct taking {
	uint64_t object, step, function;
	uint32_t task;
	bool again;		/* it may be the second half of one: a wait behind a try */
};

/* Of a lock: the look of one task, that of another one behind it, and then the first one's change. */
struct tear {
	const struct taking *look, *other, *change;
	unsigned int often;	/* that the lock is taken in these two functions */
};

static bool takes(const struct zug_label *l)
{
	switch (l->op) {
	case ZUG_OP_LOCK: case ZUG_OP_TRYLOCK: case ZUG_OP_RDLOCK: case ZUG_OP_WRLOCK: case ZUG_OP_SPIN_LOCK:
	case ZUG_OP_SEM_WAIT: case ZUG_OP_SEM_TRYWAIT: case ZUG_OP_MONITOR_ENTER: case ZUG_OP_CALL:
		return l->object;
	}
	return false;
}

/* The function of the program in which the step is made, as a hash; 0: none is known. */
static uint64_t function_of(struct report *r, const struct trace_step *s)
{
	const struct trace_frame *frames, *at;
	struct report_caller caller;
	uint32_t nr;

	if (report_caller_of(r, s->task, s, &caller)) {
		at = &caller.frame;
	} else {
		nr = report_frames(r, s->label.site, &frames);
		at = report_main_frame(frames, nr);
	}
	if (!at || !at->function || !at->file || !at->line || symbols_of_library(at->file))
		return 0;
	return hash_bytes(hash_bytes(HASH_BEGIN, at->file, strlen(at->file) + 1), at->function, strlen(at->function));
}

static int compare(const void *a, const void *b)
{
	const struct taking *x = a, *y = b;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	return x->step < y->step ? -1 : x->step > y->step;
}

/* All of the trace, by object; *nr of them. NULL: none, or no memory. */
static struct taking *all_takings(struct report *r, size_t *nr)
{
	struct taking *all = NULL;
	size_t room = 0;

	*nr = 0;
	for (uint64_t i = 0; i < trace_nr_steps(r->t) && i < STEPS_MAX; i++) {
		const struct trace_step *s = trace_step(r->t, i);
		uint64_t function = takes(&s->label) ? function_of(r, s) : 0;

		if (!function)
			continue;
		if (!ARRAY_RESERVE(all, room, *nr + 1))
			break;
		all[(*nr)++] = (struct taking){ .object = s->label.object, .step = i, .function = function, .task = s->task,
						 .again = s->label.op == ZUG_OP_SEM_WAIT };
	}
	if (all)
		qsort(all, *nr, sizeof(*all), compare);
	return all;
}

/* The next one of that task behind at; end: none. */
static const struct taking *next_of(const struct taking *at, const struct taking *end, uint32_t task)
{
	while (++at < end && at->task != task)
		;
	return at;
}

/* The row's look at 'look' is torn: *t. The other one makes its own change, too, and later. */
static bool is_torn(const struct taking *look, const struct taking *end, struct tear *t)
{
	const struct taking *change = look, *own;

	/* one that waits for a lock takes it in two steps */
	do {
		change = next_of(change, end, look->task);
	} while (change < end && change->function == look->function);
	for (const struct taking *o = look + 1; change < end && o < change; o++) {
		if (o->task == look->task || o->function != look->function)
			continue;
		own = o;
		do {
			own = next_of(own, end, o->task);
		} while (own < end && own->function == o->function);
		if (own < end && own > change && own->function == change->function) {
			*t = (struct tear){ .look = look, .other = o, .change = change };
			return true;
		}
	}
	return false;
}

static bool same_work(const struct tear *a, const struct tear *b)
{
	return a->look->object == b->look->object && a->look->function == b->look->function &&
	       a->change->function == b->change->function;
}

/* Keeps the tears with the fewest takings; the first of the same work. Returns how many. */
static unsigned int keep(struct tear *kept, unsigned int nr, const struct tear *t)
{
	unsigned int at = nr;

	for (unsigned int i = 0; i < nr; i++)
		if (same_work(&kept[i], t))
			return nr;
	while (at && kept[at - 1].often > t->often)
		at--;
	if (at == TOLD_MAX)
		return nr;
	nr = nr < TOLD_MAX ? nr + 1 : nr;
	memmove(&kept[at + 1], &kept[at], (nr - at - 1) * sizeof(*kept));
	kept[at] = *t;
	return nr;
}

static unsigned int find(const struct taking *all, size_t nr, struct tear *kept)
{
	unsigned int nr_kept = 0;
	size_t end;

	for (size_t begin = 0; begin < nr; begin = end) {
		for (end = begin; end < nr && all[end].object == all[begin].object;)
			end++;
		for (size_t i = begin; end - begin <= ROW_MAX && i < end; i++) {
			struct tear t;

			if (!is_torn(&all[i], all + end, &t))
				continue;
			t.often = 0;
			for (size_t k = begin; k < end; k++)
				t.often += !all[k].again && (all[k].function == t.look->function ||
							     all[k].function == t.change->function);
			nr_kept = keep(kept, nr_kept, &t);
		}
	}
	return nr_kept;
}

static void put_step(struct report *r, const struct taking *t)
{
	report_action(r, t->task, "does", trace_step(r->t, t->step));
}

bool report_torn(struct report *r)
{
	struct tear kept[TOLD_MAX];
	size_t nr;
	struct taking *all = all_takings(r, &nr);
	unsigned int n = all ? find(all, nr, kept) : 0;

	for (unsigned int i = 0; i < n; i++) {
		fprintf(r->out, "\n%s%s%s\n", report_style(r, STYLE_ALARM), i ? "Or because" : "It may fail because",
			report_style(r, STYLE_PLAIN));
		put_step(r, kept[i].look);
		put_step(r, kept[i].other);
		fprintf(r->out, "  %sboth before%s\n", report_style(r, STYLE_STRONG), report_style(r, STYLE_PLAIN));
		put_step(r, kept[i].change);
	}
	if (n)
		fprintf(r->out, "  There was no time to try whether that decides (zug minimize, zug diff).\n");
	free(all);
	return n;
}
