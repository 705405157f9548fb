// SPDX-License-Identifier: GPL-2.0-only
/*
 * report_diff.c - two executions of one test, side by side
 *
 * start() gives the tasks and objects of B the names that they have in A, then finds the first step
 * that differs. put_parting() prints the two ways from there, put_tasks() the first difference of
 * each task. report_neighbour() begins with the pair of operations whose order decides between
 * failing and passing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "engine/faults.h"
#include "report/report_diff.h"
#include "report/report_internal.h"

struct side {
	const char *name;	/* "A" */
	struct report r;
	const struct trace *t;
	struct id_map as;	/* numbers of t's tasks to those in A; new ones for tasks only in t */
};

struct diff {
	FILE *out;
	struct side a, b;
	struct pairing *same;
	uint64_t part;		/* the first step that differs */
};

/* ---- tasks ---- */

static bool same_path(const struct trace *a, const struct trace_task *x, const struct trace *b,
		      const struct trace_task *y)
{
	/*
	 * in a damaged table a task may be its own ancestor: no path is longer than the number of
	 * tasks
	 */
	for (uint32_t depth = 0; x && y && depth <= trace_nr_tasks(a); depth++) {
		if (x->parent == TRACE_NO_TASK || y->parent == TRACE_NO_TASK)
			return x->parent == y->parent;
		if (x->nth != y->nth)
			return false;
		x = trace_task(a, x->parent);
		y = trace_task(b, y->parent);
	}
	return false;
}

/* Gives B's tasks the numbers of A's. */
static int match_tasks(struct diff *d)
{
	uint32_t nr_a = trace_nr_tasks(d->a.t), nr_b = trace_nr_tasks(d->b.t), next = 0;

	for (uint32_t i = 0; i < nr_a; i++)
		if (trace_task_at(d->a.t, i)->task >= next)
			next = trace_task_at(d->a.t, i)->task + 1;
	for (uint32_t i = 0; i < nr_b; i++) {
		const struct trace_task *y = trace_task_at(d->b.t, i);
		uint32_t k = 0;

		while (k < nr_a && !same_path(d->a.t, trace_task_at(d->a.t, k), d->b.t, y))
			k++;
		if (!id_map_add(&d->b.as, y->task,
				k < nr_a ? trace_task_at(d->a.t, k)->task : next++, NULL))
			return -ENOMEM;
	}
	return 0;
}

static uint32_t name_of(const struct side *s, uint32_t task)
{
	const uint32_t *as = id_map_find(&s->as, task);

	return as ? *as : task;
}

/* ---- steps ---- */

static const struct zug_label *step_of(const void *ctx, uint64_t i, uint32_t *task)
{
	const struct side *s = ctx;
	const struct trace_step *st = trace_step(s->t, i);

	*task = name_of(s, st->task);
	return &st->label;
}

static uint32_t task_in_a(const void *ctx, uint32_t task)
{
	return name_of(ctx, task);
}

/* The label with the objects of A. */
static struct zug_label label_of(const struct diff *d, const struct side *s, const struct zug_label *l)
{
	return s == &d->b ? pairing_label(d->same, l) : *l;
}

static bool equal(const struct zug_label *x, const struct zug_label *y)
{
	/* the place where a long computation was stopped is chance */
	return x->op == y->op && x->object == y->object && x->object2 == y->object2 &&
	       (x->site == y->site || x->op == ZUG_OP_SPIN);
}

/* x is of A, y of B. */
static bool same_label(const struct diff *d, const struct zug_label *x, const struct zug_label *y)
{
	const struct zug_label l = label_of(d, &d->b, y);

	return equal(x, &l);
}

static bool same_step(const struct diff *d, const struct trace_step *x, const struct trace_step *y)
{
	return x->task == name_of(&d->b, y->task) && same_label(d, &x->label, &y->label) &&
	       !((x->label.flags ^ y->label.flags) & ZUG_L_TIMER);
}

/*
 * The line of the program that calls the library's code at that place, in the task; the failing trace has it, for
 * its step 'at' (UINT64_MAX: for all its steps there, if it is the same for each). False: it is not known, or not needed.
 */
static bool caller_in_a(struct diff *d, uint32_t task, uint64_t site, uint64_t at, struct report_caller *c)
{
	struct report_caller other;
	bool found = false;

	for (uint64_t i = at < UINT64_MAX ? at : 0; site && i < trace_nr_steps(d->a.t); i++) {
		const struct trace_step *x = trace_step(d->a.t, i);
		bool here = x->task == task && x->label.site == site;

		if (at < UINT64_MAX)
			return here && report_caller_of(&d->a.r, task, x, c);
		if (!here)
			continue;
		if (!report_caller_of(&d->a.r, task, x, found ? &other : c) ||
		    (found && (other.frame.line != c->frame.line || strcmp(other.frame.file, c->frame.file))))
			return false;
		found = true;
	}
	return found;
}

/* The place of an operation as the program's user knows it. Returns its frame for the source line, NULL: none is known. */
static const struct trace_frame *place_of(struct diff *d, struct side *s, uint32_t task, uint64_t site, uint64_t at,
					  char *buf, size_t len, struct report_caller *c)
{
	const struct trace_frame *frames;
	uint32_t nr;

	if (caller_in_a(d, task, site, at, c)) {
		report_frame(&d->a.r, &c->frame, buf, len);
		return &c->frame;
	}
	report_site(&s->r, site, buf, len);
	nr = report_frames(&s->r, site, &frames);
	return report_main_frame(frames, nr);
}

static void put_step(struct diff *d, struct side *s, const struct trace_step *st, const char *lead)
{
	char label[600], site[600], name[32];
	struct report_caller caller;

	report_label(&s->r, &st->label, label, sizeof(label));
	place_of(d, s, name_of(s, st->task), st->label.site, s == &d->a ? st->step : UINT64_MAX, site, sizeof(site), &caller);
	fprintf(d->out, "%s%5llu  %s%s%s %s%s%s\n", lead, (unsigned long long)st->step,
		report_task_style(&s->r, name_of(s, st->task)),
		report_task_name(name_of(s, st->task), name, sizeof(name)), report_style(&s->r, STYLE_PLAIN),
		label, site[0] ? "  " : "", site);
}

static bool could_run(const struct side *s, const struct trace_step *st, uint32_t task)
{
	for (uint32_t i = 0; i < st->nr_enabled; i++)
		if (name_of(s, st->enabled[i]) == task)
			return true;
	return false;
}

/* Prints why the two differ at these steps, x of A and y of B. */
static void say_why(struct diff *d, const struct trace_step *x, const struct trace_step *y)
{
	uint32_t p = x->task, q = name_of(&d->b, y->task);
	bool in_a = faults_decided(x), in_b = faults_decided(y);
	char first[32], second[32];

	report_task_name(p, first, sizeof(first));
	report_task_name(q, second, sizeof(second));
	if (p == q && (in_a || in_b) && x->label.site == y->label.site)
		fprintf(d->out, "A decision: %s runs in both; in %s the search %s, in %s it does not.\n",
			first, in_a ? "A" : "B", zug_op_is_fault((in_a ? x : y)->label.op) ?
			"changes what its call does" : "lets a timer fire before that", in_a ? "B" : "A");
	else if (p == q)
		fprintf(d->out, "Not a decision: %s has the turn in both, but does not do the same. "
			"What it does depends on more than the schedule.\n", first);
	else if (could_run(&d->a, x, q) && could_run(&d->b, y, p))
		fprintf(d->out, "A decision: both tasks could run; %s got the turn in A, %s in B.\n",
			first, second);
	else
		fprintf(d->out, "Not a decision: %s could not run in %s. What happened outside the schedule "
			"differs (a timer, for example).\n", could_run(&d->a, x, q) ? first : second,
			could_run(&d->a, x, q) ? "B" : "A");
}

static void put_following(struct diff *d, struct side *s, unsigned int rows)
{
	uint64_t nr = trace_nr_steps(s->t), i;

	fprintf(d->out, "\n%s%s goes on:%s\n", report_style(&s->r, STYLE_STRONG), s->name,
		report_style(&s->r, STYLE_PLAIN));
	for (i = d->part; i < nr && i - d->part < rows; i++)
		put_step(d, s, trace_step(s->t, i), "");
	if (i < nr)
		fprintf(d->out, "       ... %llu more step%s\n", (unsigned long long)(nr - i),
			plural(nr - i));
	fputs("       ", d->out);
	report_put_outcome(&s->r);
}

/* ---- what each task did ---- */

static const struct trace_step *next_of(const struct side *s, uint64_t *i, uint32_t task)
{
	while (*i < trace_nr_steps(s->t)) {
		const struct trace_step *st = trace_step(s->t, (*i)++);

		if (name_of(s, st->task) == task)
			return st;
	}
	return NULL;
}

static void put_task(struct diff *d, uint32_t task)
{
	const struct trace_step *x, *y;
	uint64_t i = 0, k = 0, n = 0;
	char name[32];

	do {
		x = next_of(&d->a, &i, task);
		y = next_of(&d->b, &k, task);
		n += x && y && same_label(d, &x->label, &y->label);
	} while (x && y && same_label(d, &x->label, &y->label));
	if (!x && !y)
		return;
	fprintf(d->out, "  %s, after %llu equal step%s:\n", report_task_name(task, name, sizeof(name)),
		(unsigned long long)n, plural(n));
	if (x)
		put_step(d, &d->a, x, "    A ");
	else
		fputs("    A       has no further step\n", d->out);
	if (y)
		put_step(d, &d->b, y, "    B ");
	else
		fputs("    B       has no further step\n", d->out);
}

static void put_tasks(struct diff *d)
{
	fprintf(d->out, "\n%sThe first difference of each task:%s\n",
		report_style(&d->a.r, STYLE_STRONG), report_style(&d->a.r, STYLE_PLAIN));
	for (uint32_t i = 0; i < trace_nr_tasks(d->a.t); i++)
		put_task(d, trace_task_at(d->a.t, i)->task);
	for (uint32_t i = 0; i < trace_nr_tasks(d->b.t); i++) {
		uint32_t task = name_of(&d->b, trace_task_at(d->b.t, i)->task);

		if (!trace_task(d->a.t, task))
			put_task(d, task);
	}
}

/* ---- the whole ---- */

static void put_parting(struct diff *d, unsigned int rows)
{
	uint64_t nr_a = trace_nr_steps(d->a.t), nr_b = trace_nr_steps(d->b.t);

	if (d->part > 1)
		fprintf(d->out, "The first %llu steps are the same; the last of them:\n",
			(unsigned long long)d->part);
	else
		fputs(d->part ? "Only the first step is the same:\n" :
		      "They differ from the first step on.\n", d->out);
	if (d->part)
		put_step(d, &d->a, trace_step(d->a.t, d->part - 1), "");
	putc('\n', d->out);
	if (d->part < nr_a && d->part < nr_b)
		say_why(d, trace_step(d->a.t, d->part), trace_step(d->b.t, d->part));
	else
		fprintf(d->out, "%s ends there, %s goes on.\n", d->part < nr_a ? "B" : "A",
			d->part < nr_a ? "A" : "B");
	put_following(d, &d->a, rows);
	put_following(d, &d->b, rows);
}

/* 0 or -ENOMEM; finish() follows in either case. */
static int start(struct diff *d, FILE *out, const struct trace *a, const struct trace *b,
		 const struct report_options *o)
{
	uint64_t nr_a = trace_nr_steps(a), nr_b = trace_nr_steps(b);

	*d = (struct diff){ .out = out, .a = { .name = "A", .t = a }, .b = { .name = "B", .t = b } };
	report_begin(&d->a.r, out, a, o);
	report_begin(&d->b.r, out, b, o);
	if (match_tasks(d))
		return -ENOMEM;
	d->same = pairing_new(&(struct pairing_steps){ &d->a, nr_a, step_of },
			      &(struct pairing_steps){ &d->b, nr_b, step_of });
	if (!d->same || report_name_objects(&d->b.r, a, d->same, task_in_a, &d->b))
		return -ENOMEM;
	while (d->part < nr_a && d->part < nr_b &&
	       same_step(d, trace_step(a, d->part), trace_step(b, d->part)))
		d->part++;
	return 0;
}

static void finish(struct diff *d)
{
	report_end(&d->a.r);
	report_end(&d->b.r);
	pairing_free(d->same);
	id_map_free(&d->b.as);
}

int report_diff(FILE *out, const struct trace *a, const struct trace *b, unsigned int rows,
		const struct report_options *o)
{
	uint64_t nr_a = trace_nr_steps(a), nr_b = trace_nr_steps(b);
	struct diff d;
	int ret = start(&d, out, a, b, o);

	if (ret)
		goto out;
	ret = d.part < nr_a || d.part < nr_b;
	if (ret) {
		put_parting(&d, rows);
		put_tasks(&d);
	} else {
		fprintf(out, "The schedules are the same: %llu step%s.\nA ", (unsigned long long)nr_a, plural(nr_a));
		report_put_outcome(&d.a.r);
		fputs("B ", out);
		report_put_outcome(&d.b.r);
	}
out:
	finish(&d);
	return ret;
}

/* ---- a failing trace and its neighbour ---- */

/*
 * True when step i of side s is that operation, whose label is of side `labelled`. It may be
 * another one: searches count some steps that a trace does not have.
 */
static bool is_step(const struct diff *d, const struct side *s, uint64_t i, const struct neighbour_op *op,
		    const struct side *labelled)
{
	const struct trace_step *st = i < trace_nr_steps(s->t) ? trace_step(s->t, i) : NULL;
	struct zug_label x, y;

	if (!st || st->task != op->task)
		return false;
	x = label_of(d, s, &st->label);
	y = label_of(d, labelled, &op->label);
	return equal(&x, &y);
}

static void put_op(struct diff *d, struct side *s, const struct neighbour_op *op)
{
	const struct trace_frame *frame;
	char label[600], site[600], name[32];
	struct report_caller caller;

	report_label(&s->r, &op->label, label, sizeof(label));
	frame = place_of(d, s, op->task, op->label.site, op->failing < trace_nr_steps(d->a.t) ? op->failing : UINT64_MAX,
			 site, sizeof(site), &caller);
	fprintf(d->out, "    %s%s%s %s%s%s%s%s\n", report_task_style(&s->r, op->task),
		report_task_name(op->task, name, sizeof(name)), report_style(&s->r, STYLE_PLAIN),
		report_style(&s->r, STYLE_STRONG), label, report_style(&s->r, STYLE_PLAIN), site[0] ? "  " : "", site);
	if (frame)
		report_source_line(&s->r, frame, 6);
}

/*
 * "A: steps 12 and 15", "B: step 13; the other never happens". x, the first of the two there, is of
 * side s.
 */
static void put_step_numbers(struct diff *d, const struct side *s, const struct neighbour_op *x, uint64_t at_x,
		       const struct neighbour_op *y, uint64_t at_y)
{
	const struct side *other = s == &d->a ? &d->b : &d->a;

	if (!is_step(d, s, at_x, x, s) || (at_y != UINT64_MAX && !is_step(d, s, at_y, y, other)))
		return;
	if (at_y == UINT64_MAX)
		fprintf(d->out, "  (%s: step %llu; the other never happens)", s->name,
			(unsigned long long)at_x);
	else
		fprintf(d->out, "  (%s: steps %llu and %llu)", s->name, (unsigned long long)at_x, (unsigned long long)at_y);
}

static void put_pair(struct diff *d, const struct neighbour_result *n)
{
	const struct report *r = &d->a.r;

	if (!n->nr_pairs) {
		fputs("No two operations on one object differ in their order: the cause lies between two "
		      "points.\nA new search with --point FUNCTION or --watch NAME can make it visible.\n\n",
		      d->out);
		return;
	}
	fprintf(d->out, "%sIt fails when%s\n", report_style(r, STYLE_ALARM), report_style(r, STYLE_PLAIN));
	put_op(d, &d->a, &n->first);
	fprintf(d->out, "%scomes before%s", report_style(r, STYLE_STRONG), report_style(r, STYLE_PLAIN));
	put_step_numbers(d, &d->a, &n->first, n->first.failing, &n->second, n->second.failing);
	putc('\n', d->out);
	put_op(d, &d->b, &n->second);
	fprintf(d->out, "%sand passes when it is the other way round%s", report_style(r, STYLE_GOOD),
		report_style(r, STYLE_PLAIN));
	put_step_numbers(d, &d->b, &n->second, n->second.passing, &n->first, n->first.passing);
	fputs(".\n", d->out);
	if (n->nr_pairs > 1)
		fprintf(d->out, "%llu more pair%s of operations also differ%s in order.\n",
			(unsigned long long)n->nr_pairs - 1, n->nr_pairs == 2 ? "" : "s", n->nr_pairs == 2 ? "s" : "");
	putc('\n', d->out);
}

/* Prints the step whose call the search changed, or before which it let a timer fire. */
static void put_cause(struct diff *d, uint64_t step)
{
	const struct trace_step *s = trace_step(d->a.t, step);
	const struct neighbour_op op = { .task = s->task, .label = s->label, .failing = step };
	const struct report *r = &d->a.r;

	fprintf(d->out, "%sIt fails when%s\n", report_style(r, STYLE_ALARM), report_style(r, STYLE_PLAIN));
	put_op(d, &d->a, &op);
	fprintf(d->out, "%sand passes under the same schedule when%s %s%s\n\n", report_style(r, STYLE_GOOD),
		report_style(r, STYLE_PLAIN), s->label.op == ZUG_OP_KILLED ? "its process is not killed" :
		zug_op_is_fault(s->label.op) ? "that call is not changed" : "",
		!(s->label.flags & ZUG_L_TIMER) ? "." : zug_op_is_fault(s->label.op) ?
		" and no timer fires before it." : "no timer fires there.");
}

int report_neighbour(FILE *out, const struct trace *a, const struct trace *b, const struct neighbour_result *n,
		     uint64_t step, unsigned int rows, const struct report_options *o)
{
	struct diff d;
	int ret = start(&d, out, a, b, o);

	if (!ret) {
		fputs("A ", out);
		report_put_outcome(&d.a.r);
		putc('\n', out);
		if (step == UINT64_MAX)
			put_pair(&d, n);
		else
			put_cause(&d, step);
		put_parting(&d, rows);
	}
	finish(&d);
	return ret;
}
