// SPDX-License-Identifier: GPL-2.0-only
/*
 * report_decisions.c - why a test fails: the two operations whose order decides, and the switches that lead there
 */
#include <string.h>
#include "report/report_internal.h"
#include "symbols/symbols.h"

#define DECISIONS_MAX	8	/* decisions of a finding: more do not explain more */
#define ORDERS_MIN	6	/* schedules near one: where fewer fail alike, that says little */
#define ROUNDS_MAX	4	/* the same of a livelock, where they repeat */
#define MEANWHILE_MAX	6	/* steps of other tasks while one is stopped */
#define COMPLAINT_MAX	500	/* steps behind what is written about a failure */

static const struct trace_step *next_of(const struct trace *t, uint64_t from, uint32_t task)
{
	for (uint64_t i = from; i < trace_nr_steps(t); i++)
		if (trace_step(t, i)->task == task)
			return trace_step(t, i);
	return NULL;
}

/* The step accesses memory that no other task accesses in this trace. */
static bool is_private(struct report *r, const struct trace_step *s)
{
	const struct zug_label *l = &s->label;

	if (!zug_op_is_access(l->op) || !l->object)
		return false;
	return report_is_private(r, l->object) && (!l->object2 || report_is_private(r, l->object2));
}

/* The step reads what nobody changes in this trace. */
static bool is_constant(struct report *r, const struct trace_step *s)
{
	const struct zug_label *l = &s->label;

	return (l->op == ZUG_OP_DATA_READ || l->op == ZUG_OP_ATOMIC_LOAD) && l->object &&
	       !report_is_changed(r, l->object) && !(l->object2 && report_is_changed(r, l->object2));
}

/* Code of a library's headers accesses data, and no line of the program is known to have called it. */
static bool is_of_library(struct report *r, const struct trace_step *s)
{
	const struct trace_frame *frames, *main;
	struct report_caller caller;
	uint32_t nr;

	if (!zug_op_is_access(s->label.op) || report_caller_of(r, s->task, s, &caller))
		return false;
	nr = report_frames(r, s->label.site, &frames);
	main = report_main_frame(frames, nr);
	return main && main->file && symbols_of_library(main->file);
}

/* The caller of that step, or where it has none the place, is a line of the program. */
static bool line_of(struct report *r, const struct trace_step *s, struct report_caller *c)
{
	const struct trace_frame *frames, *main;
	uint32_t nr;

	if (report_caller_of(r, s->task, s, c))
		return c->frame.file && c->frame.line;
	nr = report_frames(r, s->label.site, &frames);
	main = report_main_frame(frames, nr);
	if (main)
		c->frame = *main;
	return main && main->file && main->line;
}

static bool is_same_line(const struct report_caller *a, const struct report_caller *b)
{
	return a->frame.line == b->frame.line && !strcmp(a->frame.file, b->frame.file);
}

/* The task has just done the same with the same there, as a line does that writes a message in parts, or looks twice. */
static bool repeats(struct report *r, uint64_t i, uint64_t first)
{
	const struct trace_step *s = trace_step(r->t, i), *last;
	struct report_caller a, b;

	for (uint64_t k = i; k-- > first;) {
		last = trace_step(r->t, k);
		if (last->task == s->task)
			return last->label.op == s->label.op && last->label.object == s->label.object && line_of(r, last, &a) &&
			       line_of(r, s, &b) && is_same_line(&a, &b);
	}
	return false;
}

static bool writes_stderr(const struct trace *t, const struct trace_step *s)
{
	const struct trace_object *o = s->label.op == ZUG_OP_WRITE ? trace_object(t, s->label.object) : NULL;

	return o && o->name && !strcmp(o->name, "stderr");
}

/*
 * What a test says of its failure is not why it fails; nor is what else is done for that behind it, as long as the task comes
 * to no other line of the program: a panic's stack is read from files.
 */
static bool is_complaint(struct report *r, uint64_t i, uint64_t first)
{
	const struct trace_step *s = trace_step(r->t, i), *before;
	uint64_t end = i > first + COMPLAINT_MAX ? i - COMPLAINT_MAX : first;
	struct report_caller at, now;
	bool known = line_of(r, s, &at);

	if (writes_stderr(r->t, s))
		return true;
	for (uint64_t k = i; k-- > end;) {
		before = trace_step(r->t, k);
		if (before->task != s->task || !line_of(r, before, &now))
			continue;
		if (known && !is_same_line(&at, &now))
			return false;
		if (writes_stderr(r->t, before))
			return true;
		at = now;
		known = true;
	}
	return false;
}

/* How much step i, of those from 'first' on, tells of what a task that is stopped before 'pending' misses; 0: nothing. */
static int weight_of(struct report *r, uint64_t i, uint64_t first, const struct zug_label *pending)
{
	const struct trace *t = r->t;
	const struct trace_minimized *m = trace_minimized(t);
	const struct trace_critical *c = m && m->critical.known ? &m->critical : NULL;
	const struct trace_step *s = trace_step(t, i);
	uint64_t object = s->label.object;

	if (s->label.op == ZUG_OP_BEGIN || s->label.op == ZUG_OP_RESUME || s->label.flags & ZUG_L_LEFT_OUT)
		return 0;
	if (c && (i == c->first_step || i == c->second_step))
		return 4;
	if (is_complaint(r, i, first) || repeats(r, i, first))
		return 1;
	if (object && (object == pending->object || (c && (object == c->first.object || object == c->second.object))))
		return 3;
	return is_private(r, s) || is_constant(r, s) || is_of_library(r, s) ? 1 : 2;
}

static void put_more(struct report *r, uint64_t nr, const char *until)
{
	if (nr)
		fprintf(r->out, "      ... %llu more step%s%s\n", (unsigned long long)nr, plural(nr), until);
}

/* The note is the first that a task becomes runnable: it was created then. */
static bool is_first_wake(const struct trace *t, uint64_t i, uint32_t k)
{
	uint32_t task = trace_note_at(t, i, k)->task;

	for (uint64_t b = 0; b <= i; b++)
		for (uint32_t nr = b < i ? trace_nr_notes(t, b) : k, n = 0; n < nr; n++)
			if (trace_note_at(t, b, n)->kind == TRACE_NOTE_WAKE && trace_note_at(t, b, n)->task == task)
				return false;
	return true;
}

/* That the task's creation of another one, or its own end, came of step i, where the operation does not say so itself. */
static void put_life(struct report *r, uint64_t i)
{
	const struct trace_step *s = trace_step(r->t, i);
	const struct trace_task *task = trace_task(r->t, s->task), *child;
	char name[32], other[32];

	for (uint32_t nr = trace_nr_notes(r->t, i + 1), k = 0; k < nr; k++) {
		const struct trace_note *n = trace_note_at(r->t, i + 1, k);
		bool ends = n->kind == TRACE_NOTE_EXIT && n->task == s->task && s->label.op != ZUG_OP_END;
		bool starts = n->kind == TRACE_NOTE_WAKE && n->arg == s->task && s->label.op != ZUG_OP_CREATE;

		child = starts ? trace_task(r->t, n->task) : NULL;
		starts = child && task && child->parent == s->task && is_first_wake(r->t, i + 1, k);
		if (!ends && !starts)
			continue;
		fprintf(r->out, "      %s%s%s %s%s\n", report_task_style(r, s->task),
			report_task_name(s->task, name, sizeof(name)), report_style(r, STYLE_PLAIN),
			ends ? "ends" : child->process != task->process ? "creates process " : "creates ",
			ends ? "" : report_task_name(n->task, other, sizeof(other)));
	}
}

/*
 * Prints steps of the other tasks while one is stopped before 'pending': the bug is mostly among them. Where there are
 * many, the two operations whose order decides come first, then those on their objects and on that of 'pending', then
 * those that come first. Memory that only one task uses or none changes, what a library accesses, what only repeats the
 * step before, and what is written about the failure is told only where there is nothing else.
 */
static void put_meanwhile(struct report *r, uint64_t first, uint64_t end, const struct zug_label *pending)
{
	unsigned int of[5] = { 0 }, left = MEANWHILE_MAX;
	uint64_t hidden = 0;

	for (uint64_t i = first; i < end; i++)
		of[weight_of(r, i, first, pending)]++;
	for (int w = 4; w > 0; w--) {
		of[w] = w == 1 && left < MEANWHILE_MAX ? 0 : of[w] < left ? of[w] : left;
		left -= of[w];
	}
	r->in_row = true;
	for (uint64_t i = first; i < end; i++) {
		int w = weight_of(r, i, first, pending);

		if (!w || !of[w]) {
			hidden += w > 0;
			continue;
		}
		of[w]--;
		put_more(r, hidden, "");
		hidden = 0;
		report_action(r, trace_step(r->t, i)->task, "does", trace_step(r->t, i));
		put_life(r, i);
	}
	r->in_row = false;
	put_more(r, hidden, end < trace_nr_steps(r->t) ? " before it goes on" : "");
}

/*
 * Fills in the step before which step i stopped a task. False: the task never took it, and the
 * trace has no note of it.
 */
static bool pending_of(const struct trace *t, uint64_t i, struct trace_step *pending, bool *runs_again)
{
	const struct trace_minimized *m = trace_minimized(t);
	uint32_t task = trace_step(t, i)->last;
	const struct trace_step *s = next_of(t, i + 1, task);

	*runs_again = s;
	if (s) {
		*pending = *s;
		return true;
	}
	for (uint32_t k = 0; m && k < m->nr_pairs; k++)
		if (m->pairs[k].step == i && m->pairs[k].preempted == task) {
			*pending = (struct trace_step){ .step = UINT64_MAX, .task = task, .label = m->pairs[k].before };
			return true;
		}
	return false;
}

static bool is_decision(const struct trace_step *s, bool preemptions)
{
	if (preemptions)
		return s->flags & TRACE_STEP_PREEMPTION;
	/* without preemptions, switches where several tasks could run are the decisions */
	return s->last != s->task && s->last != TRACE_NO_TASK && s->nr_enabled > 1;
}

/* The step as of that operation, for report_action(). */
static void put_operation(struct report *r, uint32_t task, uint64_t step, const struct zug_label *l)
{
	const struct trace_step s = { .step = step, .task = task, .label = *l };

	report_action(r, task, step == UINT64_MAX ? "would do" : "does", &s);
}

/* Prints the two operations whose order decides. False: they are not known. */
static bool put_critical(struct report *r, const struct trace_minimized *m)
{
	const struct trace_critical *c = m ? &m->critical : NULL;

	if (!c || !c->known)
		return false;
	fprintf(r->out, "\n%sIt fails when%s\n", report_style(r, STYLE_ALARM), report_style(r, STYLE_PLAIN));
	put_operation(r, c->first_task, c->first_step, &c->first);
	fprintf(r->out, "  %sbefore%s\n", report_style(r, STYLE_STRONG), report_style(r, STYLE_PLAIN));
	put_operation(r, c->second_task, c->second_step, &c->second);
	fprintf(r->out, "  %sand passes when %s%s\n", report_style(r, STYLE_GOOD), c->alone ?
		"these two alone come the other way round." :
		"they come the other way round (and others with them).", report_style(r, STYLE_PLAIN));
	return true;
}

/* That a task spins, and no operation, is the failure. */
static bool spins(const struct report *r)
{
	const struct trace_outcome *o = trace_outcome(r->t);

	return o && o->kind == ZUG_OUTCOME_SPIN;
}

/* Nothing that was tried near the schedule changes anything: the failure is that of a test that fails by itself. */
static bool is_in_any_order(const struct trace_minimized *m)
{
	return m && !m->critical.known && !m->critical.torn && !m->preemptions && m->near - 1 >= ORDERS_MIN &&
	       m->alike == m->near - 1;
}

/*
 * What can be said when no two operations are known whose order decides: an update that another one came
 * into, or what was looked for.
 */
static void put_undecided(struct report *r, const struct trace_minimized *m, bool preemptions)
{
	const struct trace_critical *c = &m->critical;
	unsigned long long others = m->near - 1;

	if (c->torn) {
		fprintf(r->out, "\n%sIt may fail because%s\n", report_style(r, STYLE_ALARM), report_style(r, STYLE_PLAIN));
		put_operation(r, c->first_task, c->first_step, &c->first);
		fprintf(r->out, "  %sbefore%s\n", report_style(r, STYLE_STRONG), report_style(r, STYLE_PLAIN));
		put_operation(r, c->second_task, c->second_step, &c->second);
		fprintf(r->out,
			"  and what was read before that change is the base of a later one. No schedule without that was\n"
			"  seen to pass, in %llu near this one (zug diff tries more).\n",
			others);
	} else if (is_in_any_order(m)) {
		fprintf(r->out, "  All %llu schedules near this one that were tried fail alike. The test may fail in whatever order its tasks\n"
			"  run, and the cause need not lie in their order (zug diff tries more schedules).\n", others);
	} else if (others && !preemptions && !spins(r)) {
		fprintf(r->out,
			"  No two operations were found whose order decides, in %llu schedule%s near this one. If one of\n"
			"  them passes (zug diff), the cause lies between two points (zug run --point FUNCTION or --watch NAME).\n",
			others, plural(others));
	} else if (!others && !preemptions) {
		fprintf(r->out,
			"  There was no time to look for the two operations whose order decides: zug diff does that.\n");
	}
}

/* A switch between the two operations, or the one that brought the first: it made their order. */
static bool leads_to_critical(const struct trace *t, uint64_t i, const struct trace_critical *c)
{
	const struct trace_step *s = trace_step(t, i);
	uint64_t end = c->second_step == UINT64_MAX ? trace_nr_steps(t) : c->second_step + 1;

	if (i >= end)
		return false;
	if (i > c->first_step)
		return s->last == c->first_task || s->task == c->second_task;
	if (s->task != c->first_task)
		return false;
	for (uint64_t k = i; k < c->first_step; k++)
		if (trace_step(t, k)->task != c->first_task)
			return false;
	return true;
}

/* What the decisions of this trace are called, and which switches they are. */
struct decisions {
	bool preemptions;
	const struct trace_critical *critical;	/* without preemptions; NULL: not known */
	uint64_t end;				/* from that step on all repeats */
	bool own;				/* of many only those before steps of the program's own code */
};

static bool is_told(const struct trace *t, uint64_t i, const struct decisions *d)
{
	struct trace_step pending;
	bool runs_again;

	return i < d->end && is_decision(trace_step(t, i), d->preemptions) &&
	       (!d->critical || leads_to_critical(t, i, d->critical)) &&
	       (!d->own || (pending_of(t, i, &pending, &runs_again) && pending.label.flags & ZUG_L_OWN));
}

static unsigned int nr_told(const struct trace *t, const struct decisions *d)
{
	unsigned int nr = 0;

	for (uint64_t i = 0; i < trace_nr_steps(t); i++)
		nr += is_told(t, i, d);
	return nr;
}

/*
 * There was no time to leave out most of them, and what decides is not known: most are those of libraries and other programs.
 * Those at the program's own code are told, if there are any.
 */
static bool tells_own(const struct trace *t, const struct trace_minimized *m, const struct decisions *d, unsigned int total)
{
	struct decisions own = *d;

	own.own = true;
	return d->preemptions && !d->critical && m && !m->minimal && total > DECISIONS_MAX && nr_told(t, &own);
}

static void put_decision(struct report *r, uint64_t i, bool preemption)
{
	const struct trace_step *s = trace_step(r->t, i);
	uint64_t nr = trace_nr_steps(r->t);
	struct trace_step pending = { 0 };
	bool runs_again;
	char from[32], to[32];

	fprintf(r->out, "  %sstep %llu: the turn goes from %s to %s%s\n",
		report_style(r, preemption ? STYLE_ALARM : STYLE_STRONG),
		(unsigned long long)s->step, report_task_name(s->last, from, sizeof(from)),
		report_task_name(s->task, to, sizeof(to)), report_style(r, STYLE_PLAIN));
	if (pending_of(r->t, i, &pending, &runs_again))
		report_action(r, s->last, preemption ? "is stopped before" : "later does", &pending);
	if (!runs_again)
		fprintf(r->out, "      %s does not run again\n",
			report_task_name(s->last, from, sizeof(from)));
	if (preemption)
		put_meanwhile(r, i, runs_again ? pending.step : nr, &pending.label);
	else
		report_action(r, s->task, "does", s);
}

static void put_no_decisions(struct report *r, const struct trace_minimized *m, bool faults, bool known)
{
	if (known)
		return;
	fprintf(r->out, "\n%s: it fails when no task is preempted, and wherever one blocks, yields or ends only\n"
		"one other could run.\n", faults ? "Beside that no special schedule is needed" : "No scheduling decision is needed");
	if (m && m->near && !faults)
		put_undecided(r, m, false);
}

/* The last step, where it is the failure (misuse), or where neither a stack nor what decides shows where that was. */
static void put_last(struct report *r)
{
	const struct trace_outcome *o = trace_outcome(r->t);
	uint64_t nr = trace_nr_steps(r->t);
	const struct trace_minimized *m = trace_minimized(r->t);
	bool misuse = o && o->kind == ZUG_OUTCOME_MISUSE, told;

	told = nr && m && m->critical.known && (m->critical.first_step == nr - 1 || m->critical.second_step == nr - 1);
	if (!nr || ((told || trace_nr_stacks(r->t)) && !misuse))
		return;
	fprintf(r->out, "%s  %sstep %llu is the %s%s\n", misuse ? "\n" : "", report_style(r, STYLE_STRONG),
		(unsigned long long)nr - 1, misuse ? "misuse" : "last", report_style(r, STYLE_PLAIN));
	report_action(r, trace_step(r->t, nr - 1)->task, misuse ? "is about to do" : "does",
		   trace_step(r->t, nr - 1));
}

/* Where the test was answered in another way than the kernel would answer, the failure may come from that. */
static void put_messages(struct report *r)
{
	char text[512];

	for (uint64_t i = 0; i < trace_nr_steps(r->t); i++)
		for (uint32_t k = 0; k < trace_nr_notes(r->t, i); k++) {
			const struct trace_note *n = trace_note_at(r->t, i, k);

			if (n->kind != TRACE_NOTE_MESSAGE || n->task == TRACE_NO_TASK)
				continue;
			report_clean(text, sizeof(text), n->text ? n->text : "");
			fprintf(r->out, "\n%sNote:%s %s\n", report_style(r, STYLE_STRONG), report_style(r, STYLE_PLAIN), text);
			return;
		}
}

static void put_decisions(struct report *r)
{
	const struct trace_minimized *m = trace_minimized(r->t);
	uint64_t nr = trace_nr_steps(r->t);
	unsigned int total, told, most = DECISIONS_MAX, skip, n = 0;
	bool faults = report_faults(r) + report_early_waits(r) + report_timers(r), critical = put_critical(r, m);
	struct decisions d = { .end = report_loops(r) };

	put_messages(r);
	for (uint64_t i = 0; i < nr && i < d.end && !d.preemptions; i++)
		d.preemptions = trace_step(r->t, i)->flags & TRACE_STEP_PREEMPTION;
	if (!d.preemptions && d.end == UINT64_MAX)
		report_expired(r);
	/* of many that there was no time to leave out, those that make the order */
	if (critical && (!d.preemptions || (!m->minimal && m->preemptions > DECISIONS_MAX)) && m->critical.first_step < nr)
		d.critical = &m->critical;
	total = nr_told(r->t, &d);
	if (!total) {
		put_no_decisions(r, m, faults, critical || d.end != UINT64_MAX);
		return;
	}
	/* a time-out is not made simpler: most of its decisions are nothing that it needs */
	if (trace_outcome(r->t) && trace_outcome(r->t)->kind == ZUG_OUTCOME_TIMEOUT && !m)
		return;
	if (!faults && is_in_any_order(m)) {
		fprintf(r->out, "\n%sNo order of the tasks was found that decides:%s\n", report_style(r, STYLE_STRONG),
			report_style(r, STYLE_PLAIN));
		put_undecided(r, m, d.preemptions);
		return;
	}
	/* so many that there was no time to leave out tell nothing themselves, nor does a pair with others */
	if (d.preemptions && m && !m->minimal && !m->critical.alone && !m->critical.torn && m->preemptions > DECISIONS_MAX)
		report_torn(r);
	fprintf(r->out, "\n%s%s%s\n", report_style(r, STYLE_STRONG), d.preemptions ? d.critical ?
		"Of the preemptions, some of which may not be needed, these lead there:" :
		"The preemptions that lead there:" : d.critical ?
		"No preemption is needed: these switches, where a task blocks, yields or ends, lead there:" :
		"No preemption is needed, only this order of switches:", report_style(r, STYLE_PLAIN));
	if (trace_outcome(r->t) && trace_outcome(r->t)->kind == ZUG_OUTCOME_LIVELOCK && d.end == UINT64_MAX)
		most = ROUNDS_MAX;
	d.own = tells_own(r->t, m, &d, total);
	told = d.own ? nr_told(r->t, &d) : total;
	skip = told > most ? told - most : 0;
	if (d.own)
		fprintf(r->out, "  (of %u the last %u before the program's own code; the others are left out)\n", total, told - skip);
	else if (skip)
		fprintf(r->out, "  (%u earlier one%s left out)\n", skip, skip == 1 ? " is" : "s are");
	for (uint64_t i = 0; i < nr; i++)
		if (is_told(r->t, i, &d) && n++ >= skip)
			put_decision(r, i, d.preemptions);
	if (!critical && m && m->near)
		put_undecided(r, m, d.preemptions);
}

void report_decisions(struct report *r)
{
	put_decisions(r);
	put_last(r);
}
