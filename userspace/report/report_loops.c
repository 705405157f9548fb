// SPDX-License-Identifier: GPL-2.0-only
/*
 * report_loops.c - what an execution that gets nowhere, or does not end in time, did at its end
 *
 * A round is a row of steps of all tasks that comes again and again until the end. Where there is none, each task that
 * ran has a loop of its own, or is told to get on. What a loop looks at (put_changers()) is what its task may wait for:
 * the report says which other task changed it last, and where that task is at the end.
 */
#include <stdlib.h>
#include <string.h>
#include "report/report_internal.h"

#define ROUND_MAX	24	/* steps of a round, or of a task's loop */
#define ROUNDS_MIN	3
#define SHOWN_MAX	8	/* steps of a loop that are printed */
#define LAST_MAX	4000	/* steps at the end that are looked at for each task's loop */
#define TASKS_MAX	4	/* tasks whose loops are printed */
#define OBJECTS_MAX	3	/* objects of a loop whose changes are told */

static bool same_step(const struct trace *t, uint64_t a, uint64_t b)
{
	const struct trace_step *x = trace_step(t, a), *y = trace_step(t, b);

	return x->task == y->task && x->label.op == y->label.op && x->label.object == y->label.object &&
	       (x->label.site == y->label.site || x->label.op == ZUG_OP_SPIN);
}

/* Steps of the trace: all, or those of one task. */
struct row {
	const uint64_t *at;	/* NULL: all */
	uint64_t nr;
};

static uint64_t step_of(const struct row *s, uint64_t i)
{
	return s->at ? s->at[i] : i;
}

/* The steps at the end of the row that come again and again: their number, and *from, where they begin in it. 0: none do. */
static uint64_t find_round(const struct trace *t, const struct row *s, uint64_t *from)
{
	uint64_t p, i;

	for (p = 1; p <= ROUND_MAX && ROUNDS_MIN * p <= s->nr; p++) {
		for (i = s->nr - p; i-- > 0 && same_step(t, step_of(s, i), step_of(s, i + p));)
			;
		*from = i + 1;
		if (s->nr - *from >= ROUNDS_MIN * p)
			return p;
	}
	*from = UINT64_MAX;
	return 0;
}

/* ---- what the loop waits for ---- */

/* It looks at its object, to see whether another task has changed it. */
static bool looks(const struct zug_label *l)
{
	switch (l->op) {
	case ZUG_OP_TRYLOCK:
	case ZUG_OP_TRYRDLOCK:
	case ZUG_OP_TRYWRLOCK:
	case ZUG_OP_SPIN_TRYLOCK:
	case ZUG_OP_SPIN_LOCK:
	case ZUG_OP_SEM_TRYWAIT:
	case ZUG_OP_ATOMIC_RMW:
	case ZUG_OP_WAITPID:
	case ZUG_OP_OPEN:
		return true;
	}
	return l->flags & (ZUG_L_ACQUIRE | ZUG_L_TIMED) || !(l->flags & ZUG_L_WRITE);
}

static bool is_gone(const struct trace *t, uint32_t task)
{
	for (uint64_t i = trace_nr_steps(t) + 1; i-- > 0;)
		for (uint32_t k = trace_nr_notes(t, i); k-- > 0;) {
			const struct trace_note *n = trace_note_at(t, i, k);

			if (n->task == task && n->kind == TRACE_NOTE_EXIT)
				return true;
		}
	return false;
}

/* Where a task is at the end: ", which has ended". */
static void say_where(const struct report *r, uint32_t task, char *buf, size_t len)
{
	uint64_t last = trace_nr_steps(r->t);
	char state[256];

	buf[0] = '\0';
	for (uint32_t i = 0; i < trace_nr_stacks(r->t); i++) {
		const struct trace_stack *s = trace_stack_at(r->t, i);

		if (s->task != task)
			continue;
		report_clean(state, sizeof(state), s->state);
		report_rename_objects(r, state, sizeof(state));
		while (last-- > 0 && trace_step(r->t, last)->task != task)
			;
		if (strncmp(state, "could run", 9))
			snprintf(buf, len, ", which %s", state);
		else
			snprintf(buf, len, ", which could run, and made its last step at step %llu", (unsigned long long)last);
		return;
	}
	if (is_gone(r->t, task))
		snprintf(buf, len, ", which has ended");
}

/*
 * A fork has copied the object with that name into the task's process: the step with which another process changed it
 * last before that. NULL: none did.
 */
static const struct trace_step *changed_before_fork(struct report *r, uint32_t task, const char *object)
{
	const struct trace_task *child = task == TRACE_NO_TASK ? NULL : trace_task(r->t, task);
	uint64_t i = 0;
	char name[256];

	if (!child)
		return NULL;
	while (i < trace_nr_steps(r->t) && trace_step(r->t, i)->task != child->process)
		i++;
	while (i-- > 0) {
		const struct trace_step *s = trace_step(r->t, i);
		const struct trace_task *by = trace_task(r->t, s->task);

		if (!s->label.object || !(s->label.flags & ZUG_L_WRITE) || !by || by->process == child->process)
			continue;
		report_object_name(r, s->label.object, name, sizeof(name));
		if (!strcmp(name, object))
			return s;
	}
	return NULL;
}

/*
 * Says who changes an object that the task looks at. TRACE_NO_TASK: several do, so the last change is told whoever made it:
 * it is another task's for one of them.
 */
static void put_changer(struct report *r, uint32_t task, uint64_t object)
{
	char name[256], who[32], where[400], place[600];
	const struct trace_step *s = NULL, *copied;
	uint64_t i = trace_nr_steps(r->t);

	report_object_name(r, object, name, sizeof(name));
	if (!name[0])
		return;
	for (; i-- > 0; s = NULL) {
		s = trace_step(r->t, i);
		if (s->task != task && (s->label.object == object || s->label.object2 == object) &&
		    s->label.flags & ZUG_L_WRITE)
			break;
	}
	copied = s ? NULL : changed_before_fork(r, task, name);
	if (copied) {
		report_step_place(r, copied, place, sizeof(place));
		fprintf(r->out,
			"    %s%s%s: its process has a copy, as it was when that was forked; changed last before by %s%s%s"
			" (step %llu: %s%s%s)\n",
			report_style(r, STYLE_STRONG), name, report_style(r, STYLE_PLAIN),
			report_task_style(r, copied->task), report_task_name(copied->task, who, sizeof(who)),
			report_style(r, STYLE_PLAIN), (unsigned long long)copied->step, zug_label_name(&copied->label),
			place[0] ? "  " : "", place);
		return;
	}
	if (!s) {
		fprintf(r->out, "    %s%s%s: no%s task has changed it\n", report_style(r, STYLE_STRONG), name,
			report_style(r, STYLE_PLAIN), task == TRACE_NO_TASK ? "" : " other");
		return;
	}
	report_step_place(r, s, place, sizeof(place));
	say_where(r, s->task, where, sizeof(where));
	fprintf(r->out, "    %s%s%s: changed last by %s%s%s%s (step %llu: %s%s%s)\n", report_style(r, STYLE_STRONG), name,
		report_style(r, STYLE_PLAIN), report_task_style(r, s->task), report_task_name(s->task, who, sizeof(who)),
		report_style(r, STYLE_PLAIN), where, (unsigned long long)s->step, zug_label_name(&s->label),
		place[0] ? "  " : "", place);
}

/* The same for all that the loop's steps [from, from + p) of the row look at. */
static void put_changers(struct report *r, const struct row *s, uint64_t from, uint64_t p)
{
	uint64_t objects[OBJECTS_MAX];
	unsigned int nr = 0, k;

	for (uint64_t i = from; i < from + p && nr < OBJECTS_MAX; i++) {
		const struct trace_step *step = trace_step(r->t, step_of(s, i));
		uint32_t task = step->task;

		if (!step->label.object || !looks(&step->label))
			continue;
		for (k = 0; k < nr && objects[k] != step->label.object; k++)
			;
		if (k < nr)
			continue;
		objects[nr++] = step->label.object;
		for (uint64_t other = i + 1; other < from + p; other++) {
			const struct trace_step *o = trace_step(r->t, step_of(s, other));

			if (o->task != task && o->label.object == step->label.object && looks(&o->label))
				task = TRACE_NO_TASK;
		}
		put_changer(r, task, step->label.object);
	}
}

static void put_steps(struct report *r, const struct row *s, uint64_t from, uint64_t p)
{
	for (uint64_t i = from; i < from + p && i < from + SHOWN_MAX; i++)
		report_action(r, trace_step(r->t, step_of(s, i))->task, "does", trace_step(r->t, step_of(s, i)));
	if (p > SHOWN_MAX)
		fprintf(r->out, "      ... %llu more steps\n", (unsigned long long)(p - SHOWN_MAX));
}

/* ---- each task by itself ---- */

/* So many steps at the end are looked at: not the program's begin. */
static uint64_t nr_last(const struct trace *t)
{
	uint64_t nr = trace_nr_steps(t);

	return (nr + 1) / 2 < LAST_MAX ? (nr + 1) / 2 : LAST_MAX;
}

/* The number of different places of the row's steps; more than ROUND_MAX: many. */
static unsigned int nr_places(const struct trace *t, const struct row *s)
{
	uint64_t seen[ROUND_MAX + 1];
	unsigned int nr = 0, k;

	for (uint64_t i = 0; i < s->nr && nr <= ROUND_MAX; i++) {
		uint64_t site = trace_step(t, step_of(s, i))->label.site;

		for (k = 0; k < nr && seen[k] != site; k++)
			;
		if (k == nr)
			seen[nr++] = site;
	}
	return nr;
}

static void put_task(struct report *r, uint32_t task, const struct row *s, uint64_t last)
{
	unsigned int places = nr_places(r->t, s);
	uint64_t from, p = find_round(r->t, s, &from);
	char name[32];

	fprintf(r->out, "  %s%s%s made %llu of the last %llu steps", report_task_style(r, task),
		report_task_name(task, name, sizeof(name)), report_style(r, STYLE_PLAIN), (unsigned long long)s->nr,
		(unsigned long long)last);
	if (p && s->nr - from >= s->nr / 2) {
		fprintf(r->out, ", in a loop:\n");
		put_steps(r, s, s->nr - p, p);
		put_changers(r, s, s->nr - p, p);
		return;
	}
	if (places > ROUND_MAX) {
		fprintf(r->out, ", at many places: it gets on\n");
		return;
	}
	/* a loop that does not go the same way each time: its last steps, one of each place */
	fprintf(r->out, ", at %u place%s:\n", places, places == 1 ? "" : "s");
	p = s->nr < places ? s->nr : places;
	put_steps(r, s, s->nr - p, p);
	put_changers(r, s, s->nr - p, p);
}

/* Prints the loops of those that ran, the one with most steps first. */
static void put_tasks(struct report *r)
{
	uint64_t nr = trace_nr_steps(r->t), last = nr_last(r->t);
	uint64_t *of = calloc(trace_nr_tasks(r->t) + 1, sizeof(*of)), *at = calloc(last + 1, sizeof(*at));
	uint32_t most;
	unsigned int n;

	for (uint64_t i = nr - last; of && i < nr; i++)
		if (trace_step(r->t, i)->task < trace_nr_tasks(r->t))
			of[trace_step(r->t, i)->task]++;
	if (of && at && last)
		fprintf(r->out, "\n%sWhat ran at the end:%s\n", report_style(r, STYLE_ALARM), report_style(r, STYLE_PLAIN));
	for (n = 0; of && at && n < TASKS_MAX; n++) {
		struct row s = { .at = at };

		most = 0;
		for (uint32_t i = 1; i < trace_nr_tasks(r->t); i++)
			most = of[i] > of[most] ? i : most;
		if (!of[most])
			break;
		for (uint64_t i = nr - last; i < nr; i++)
			if (trace_step(r->t, i)->task == most)
				at[s.nr++] = i;
		put_task(r, most, &s, last);
		of[most] = 0;
	}
	free(of);
	free(at);
}

static bool has_stack(const struct trace *t, uint32_t task)
{
	for (uint32_t i = 0; i < trace_nr_stacks(t); i++)
		if (trace_stack_at(t, i)->task == task)
			return true;
	return false;
}

/* All tasks wait: none of them used the time. */
static bool all_wait(const struct trace *t)
{
	uint64_t nr = trace_nr_steps(t);
	uint32_t last = nr ? trace_step(t, nr - 1)->task : 0;

	for (uint32_t i = 0; i < trace_nr_stacks(t); i++)
		if (strncmp(trace_stack_at(t, i)->state, "waits ", 6))
			return false;
	return trace_nr_stacks(t) && (has_stack(t, last) || is_gone(t, last));
}

/* Not time had an end, but steps: a task that waits at the last one has made them. */
static bool used_steps(const struct trace_outcome *o)
{
	return o->message && strstr(o->message, "(--max-steps)");
}

/* Says of a time-out what its time, or its steps, were used for. */
static void put_use(struct report *r)
{
	uint64_t nr = trace_nr_steps(r->t);
	uint32_t last;
	char name[32];

	if (!used_steps(trace_outcome(r->t)) && all_wait(r->t)) {
		fprintf(r->out, "\nNo task could run at the end: only time, or something outside of the test, can wake one.\n");
		return;
	}
	put_tasks(r);
	last = nr ? trace_step(r->t, nr - 1)->task : 0;
	if (nr && trace_nr_stacks(r->t) && !has_stack(r->t, last) && !is_gone(r->t, last))
		fprintf(r->out, "  after the last step %s%s%s ran on, without coming to a point\n", report_task_style(r, last),
			report_task_name(last, name, sizeof(name)), report_style(r, STYLE_PLAIN));
}

uint64_t report_loops(struct report *r)
{
	const struct trace_outcome *o = trace_outcome(r->t);
	const struct row all = { .nr = trace_nr_steps(r->t) };
	uint64_t from = UINT64_MAX, p, i;

	if (!o || (o->kind != ZUG_OUTCOME_LIVELOCK && o->kind != ZUG_OUTCOME_TIMEOUT))
		return UINT64_MAX;
	p = find_round(r->t, &all, &from);
	/* what a time-out was used for took a long time, and no task may have run in it */
	if (o->kind == ZUG_OUTCOME_TIMEOUT && (!p || all.nr - from < nr_last(r->t) || (!used_steps(o) && all_wait(r->t)))) {
		put_use(r);
		return UINT64_MAX;
	}
	if (!p)
		return UINT64_MAX;
	/* a round is best read from where the turn changes */
	for (i = from + 1; i < from + p && trace_step(r->t, i)->task == trace_step(r->t, i - 1)->task; i++)
		;
	i = i == from + p ? from : i;
	/* the lines that call a library are known of the last steps */
	i += (all.nr - p - i) / p * p;
	fprintf(r->out, "\n%sAgain and again, from step %llu to the end:%s\n", report_style(r, STYLE_ALARM),
		(unsigned long long)from, report_style(r, STYLE_PLAIN));
	for (uint64_t k = i; k < i + p; k++)
		report_action(r, trace_step(r->t, k)->task, "does", trace_step(r->t, k));
	put_changers(r, &all, i, p);
	return from;
}
