// SPDX-License-Identifier: GPL-2.0-only
/*
 * report_steps.c - the steps of a trace, a column per task
 *
 * report_steps() chooses the steps (choose_steps()), then measures the columns of those
 * (lay_out()), then prints a row for each step and each note. Where the columns would not fit,
 * tasks get narrow lanes and the text stands beside them.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "report/report_internal.h"

#define SHORT_TRACE 80		/* steps of a trace that is shown whole; of a longer one only these: */
#define AT_START 3
#define AT_END 16
#define BEFORE_PREEMPTION 2
#define AFTER_PREEMPTION 3
#define PREEMPTIONS_MAX 12	/* the last ones, nearest to the failure */
#define OBJECTS_NAMED 16	/* names that are suggested when --object matches none */

#define NUMBER_WIDTH 7
#define COLUMN_MIN 6
#define COLUMN_MAX 34
#define LANE_WIDTH 3
#define SITE_MIN 24

struct column {
	uint32_t task;
	int width;
	bool begun, gone, enabled;
};

struct table {
	struct report *r;
	bool *shown;		/* per step */
	struct column *columns;
	size_t nr_columns, columns_room;
	bool lanes;		/* there are too many tasks for text in columns */
};

static bool is_object(const struct report *r, uint64_t object)
{
	char name[256];

	if (!object)
		return false;
	report_object_name(r, object, name, sizeof(name));
	return !strcmp(r->o->object, name) || !fnmatch(r->o->object, name, 0);
}

bool report_step_chosen(const struct report *r, const struct trace_step *s)
{
	const struct report_options *o = r->o;

	if (s->step < o->first || s->step > o->last)
		return false;
	if (o->task != TRACE_NO_TASK && s->task != o->task)
		return false;
	return !o->object || is_object(r, s->label.object) || is_object(r, s->label.object2);
}

static void show_around(struct table *t, uint64_t i, uint64_t before, uint64_t after)
{
	uint64_t nr = trace_nr_steps(t->r->t);

	for (uint64_t k = i < before ? 0 : i - before; k < nr && k <= i + after; k++)
		t->shown[k] = true;
}

static bool choose_steps(struct table *t)
{
	const struct report_options *o = t->r->o;
	uint64_t nr = trace_nr_steps(t->r->t), chosen = 0;
	int preemptions = 0;

	t->shown = calloc(nr + 1, sizeof(*t->shown));
	if (!t->shown)
		return false;
	for (uint64_t i = 0; i < nr; i++)
		chosen += t->shown[i] = report_step_chosen(t->r, trace_step(t->r->t, i));
	if (o->all || chosen <= SHORT_TRACE || o->first || o->last != UINT64_MAX)
		return true;
	/*
	 * of the steps that a filter has chosen, the last are shown; without a filter, the ones
	 * that matter
	 */
	if (o->object || o->task != TRACE_NO_TASK) {
		uint64_t keep = SHORT_TRACE;

		for (uint64_t i = nr; i-- > 0;)
			if (t->shown[i] && !keep)
				t->shown[i] = false;
			else if (t->shown[i])
				keep--;
		return true;
	}
	memset(t->shown, 0, nr * sizeof(*t->shown));
	show_around(t, 0, 0, AT_START - 1);
	show_around(t, nr - 1, AT_END - 1, 0);
	for (uint64_t i = nr; i-- > 0 && preemptions < PREEMPTIONS_MAX;) {
		if (!(trace_step(t->r->t, i)->flags & TRACE_STEP_PREEMPTION))
			continue;
		show_around(t, i, BEFORE_PREEMPTION, AFTER_PREEMPTION);
		preemptions++;
	}
	return true;
}

static struct column *column(struct table *t, uint32_t task)
{
	for (size_t i = 0; i < t->nr_columns; i++)
		if (t->columns[i].task == task)
			return &t->columns[i];
	return NULL;
}

static int compare_columns(const void *a, const void *b)
{
	const struct column *x = a, *y = b;

	return x->task < y->task ? -1 : x->task > y->task;
}

static bool add_column(struct table *t, uint32_t task)
{
	if (task == TRACE_NO_TASK || column(t, task))
		return true;
	if (!ARRAY_RESERVE(t->columns, t->columns_room, t->nr_columns + 1))
		return false;
	t->columns[t->nr_columns++] = (struct column){ .task = task, .width = COLUMN_MIN };
	return true;
}

static void note_text(struct table *t, const struct trace_note *n, char *buf, size_t len)
{
	char text[300] = "", name[32];
	const char *which;

	if (n->text)
		report_clean(text, sizeof(text), n->text);
	else if (n->object)
		report_object_name(t->r, n->object, text, sizeof(text));
	switch (n->kind) {
	case TRACE_NOTE_BLOCK:
		snprintf(buf, len, "~ blocks%s%s", text[0] ? ": " : "", text);
		break;
	case TRACE_NOTE_WAKE:
		snprintf(buf, len, "~ woken by %s", report_task_name(n->arg, name, sizeof(name)));
		break;
	case TRACE_NOTE_EXIT:
		snprintf(buf, len, "~ gone");
		break;
	case TRACE_NOTE_EXEC:
		snprintf(buf, len, "~ exec %s", text);
		break;
	case TRACE_NOTE_EARLY:
		report_early(n, text, sizeof(text), &which);
		snprintf(buf, len, "~ %s %s early", n->task == TRACE_NO_TASK ? "a timer fires" :
			 "its time-out is over", text);
		break;
	case TRACE_NOTE_SIGNAL:
		report_signal_note(n, text, sizeof(text));
		snprintf(buf, len, "~ %s", text);
		break;
	default:
		snprintf(buf, len, "! %s", text);
	}
}

static void cell_width(struct table *t, uint32_t task, const char *text)
{
	struct column *c = column(t, task);
	int n = strlen(text) + 1;

	if (c && n > c->width)
		c->width = n < COLUMN_MAX ? n : COLUMN_MAX;
}

static bool lay_out(struct table *t)
{
	uint64_t nr = trace_nr_steps(t->r->t);
	int total = NUMBER_WIDTH + SITE_MIN;
	char text[600], name[200];

	for (uint64_t i = 0; i < nr; i++) {
		const struct trace_step *s = trace_step(t->r->t, i);

		if (!t->shown[i])
			continue;
		if (!add_column(t, s->task) || ((s->flags & TRACE_STEP_PREEMPTION) && !add_column(t, s->last)))
			return false;
		report_label(t->r, &s->label, text, sizeof(text));
		cell_width(t, s->task, text);
	}
	for (uint64_t i = 0; i <= nr; i++) {
		if (!t->shown[i < nr ? i : nr ? nr - 1 : 0])
			continue;
		for (uint32_t k = 0, n = trace_nr_notes(t->r->t, i); k < n; k++) {
			const struct trace_note *note = trace_note_at(t->r->t, i, k);

			note_text(t, note, text, sizeof(text));
			if (note->kind != TRACE_NOTE_MESSAGE && !trace_note_tells(note))
				cell_width(t, note->task, text);
		}
	}
	if (t->nr_columns)
		qsort(t->columns, t->nr_columns, sizeof(*t->columns), compare_columns);
	for (size_t i = 0; i < t->nr_columns; i++) {
		const struct trace_task *task = trace_task(t->r->t, t->columns[i].task);

		snprintf(text, sizeof(text), "T%u %.15s", t->columns[i].task, task ? task->comm : "");
		report_clean(name, sizeof(name), text);
		cell_width(t, t->columns[i].task, name);
		total += t->columns[i].width + 1;
	}
	t->lanes = total > t->r->o->width;
	for (size_t i = 0; t->lanes && i < t->nr_columns; i++)
		t->columns[i].width = LANE_WIDTH;
	return true;
}

/* Prints blanks up to column start, or one blank when the text already reaches further. */
static int pad_to(FILE *out, int at, int start)
{
	int n = start > at ? start - at : at > start ? 1 : 0;

	fprintf(out, "%*s", n, "");
	return at + n;
}

/*
 * Prints a row: the text in the task's column or beside the lanes, and a mark for each other task.
 */
static void put_row(struct table *t, uint64_t step, bool numbered, uint32_t task, const char *text,
		    const char *mark, const char *site, enum report_style style)
{
	struct report *r = t->r;
	int at = 0, start = NUMBER_WIDTH;

	if (numbered)
		at = fprintf(r->out, "%5llu", (unsigned long long)step);
	for (size_t i = 0; i < t->nr_columns; i++) {
		struct column *c = &t->columns[i];
		bool here = c->task == task;
		const char *cell = !here ? (!c->begun || c->gone ? "" : c->enabled ? "|" : ":") :
				   t->lanes ? mark : text;

		if (cell[0]) {
			at = pad_to(r->out, at, start) + strlen(cell);
			fprintf(r->out, "%s%s%s", here ? report_task_style(r, c->task) :
				report_style(r, STYLE_DIM), cell, report_style(r, STYLE_PLAIN));
		}
		start += c->width + 1;
	}
	if (t->lanes) {
		at = pad_to(r->out, at, start) + strlen(text);
		start = at + 2;
		fprintf(r->out, "%s%s%s", report_style(r, style), text, report_style(r, STYLE_PLAIN));
	}
	if (site && site[0]) {
		pad_to(r->out, at, start);
		fprintf(r->out, "%s%s%s", report_style(r, STYLE_DIM), site,
			report_style(r, STYLE_PLAIN));
	}
	putc('\n', r->out);
}

static void put_heading(struct table *t)
{
	struct report *r = t->r;
	int at = 5, start = NUMBER_WIDTH;
	char text[64], name[200];

	fprintf(r->out, "%s%5s", report_style(r, STYLE_STRONG), "step");
	for (size_t i = 0; i < t->nr_columns; i++) {
		const struct trace_task *task = trace_task(r->t, t->columns[i].task);

		snprintf(text, sizeof(text), t->lanes ? "T%u" : "T%u %.15s", t->columns[i].task,
			 task ? task->comm : "");
		report_clean(name, sizeof(name), text);
		at = pad_to(r->out, at, start);
		at += fprintf(r->out, "%s", name);
		start += t->columns[i].width + 1;
	}
	fprintf(r->out, "%s\n", report_style(r, STYLE_PLAIN));
}

static void put_notes(struct table *t, uint64_t i, bool show)
{
	for (uint32_t k = 0, n = trace_nr_notes(t->r->t, i); k < n; k++) {
		const struct trace_note *note = trace_note_at(t->r->t, i, k);
		struct column *c = note->task == TRACE_NO_TASK ? NULL : column(t, note->task);
		char text[600];

		if (c && note->kind == TRACE_NOTE_EXIT)
			c->gone = true;
		if (!show || trace_note_tells(note) || (t->r->o->task != TRACE_NO_TASK && note->task != t->r->o->task))
			continue;
		note_text(t, note, text, sizeof(text));
		if (note->kind == TRACE_NOTE_MESSAGE || !c) {
			char name[32] = "";

			/* the task has no column */
			if (note->task != TRACE_NO_TASK)
				report_task_name(note->task, name, sizeof(name));
			fprintf(t->r->out, "%*s%s%s%s%s%s\n", NUMBER_WIDTH, "",
				report_style(t->r, STYLE_DIM), name, name[0] ? " " : "", text,
				report_style(t->r, STYLE_PLAIN));
			continue;
		}
		c->begun = true;
		put_row(t, 0, false, note->task, text, "~", NULL, STYLE_DIM);
	}
}

static void put_step(struct table *t, const struct trace_step *s)
{
	struct report *r = t->r;
	char text[600], site[600], from[32], to[32];

	if (s->flags & TRACE_STEP_PREEMPTION)
		fprintf(r->out, "%*s%s---- preemption: %s could go on, %s gets the turn%s\n",
			NUMBER_WIDTH, "", report_style(r, STYLE_ALARM),
			report_task_name(s->last, from, sizeof(from)),
			report_task_name(s->task, to, sizeof(to)), report_style(r, STYLE_PLAIN));
	report_label(r, &s->label, text, sizeof(text));
	report_step_place(r, s, site, sizeof(site));
	put_row(t, s->step, true, s->task, text, "*", site, STYLE_PLAIN);
}

static void follow_enabled(struct table *t, const struct trace_step *s)
{
	for (size_t i = 0; i < t->nr_columns; i++)
		t->columns[i].enabled = false;
	for (uint32_t k = 0; k < s->nr_enabled; k++) {
		struct column *c = column(t, s->enabled[k]);

		if (c)
			c->begun = c->enabled = true;
	}
}

/* No step acts on the object that was asked for: prints the names that there are. */
static void put_objects(const struct report *r)
{
	uint64_t seen[OBJECTS_NAMED];
	unsigned int nr = 0, k;
	char name[256];

	for (uint64_t i = 0; i < trace_nr_steps(r->t) && nr < OBJECTS_NAMED; i++) {
		uint64_t object = trace_step(r->t, i)->label.object;

		for (k = 0; k < nr && seen[k] != object; k++)
			;
		if (!object || k < nr)
			continue;
		report_object_name(r, object, name, sizeof(name));
		fprintf(r->out, "%s%s", nr ? ", " : "       no step acts on an object of that name (* matches any "
			"text); the trace has: ", name);
		seen[nr++] = object;
	}
	if (nr)
		fputs(nr == OBJECTS_NAMED ? ", ...\n" : "\n", r->out);
}

void report_steps(struct report *r)
{
	struct table t = { .r = r };
	uint64_t nr = trace_nr_steps(r->t), left_out = 0, total = 0;
	bool filtered = r->o->object || r->o->task != TRACE_NO_TASK;
	const uint32_t *enabled = NULL;

	if (!choose_steps(&t) || !lay_out(&t)) {
		fprintf(stderr, "zug: out of memory\n");
		goto out;
	}
	if (t.nr_columns)
		put_heading(&t);
	for (uint64_t i = 0; i < nr; i++) {
		const struct trace_step *s = trace_step(r->t, i);
		bool show = t.shown[i];

		if (show && left_out && !filtered)
			fprintf(r->out, "%*s%s... %llu step%s left out%s\n", NUMBER_WIDTH, "",
				report_style(r, STYLE_DIM), (unsigned long long)left_out,
				plural(left_out), report_style(r, STYLE_PLAIN));
		if (show)
			left_out = 0;
		else
			left_out++, total++;
		put_notes(&t, i, show && (!r->o->object || i == 0));
		/* a trace that was read keeps equal sets in one array */
		if (s->enabled != enabled)
			follow_enabled(&t, s);
		enabled = s->enabled;
		if (show)
			put_step(&t, s);
	}
	put_notes(&t, nr, nr && t.shown[nr - 1] && !r->o->object);
	if (total && (r->o->first || r->o->last != UINT64_MAX || filtered))
		fprintf(r->out, "%*s%s%llu of %llu steps shown%s\n", NUMBER_WIDTH, "",
			report_style(r, STYLE_DIM), (unsigned long long)(nr - total),
			(unsigned long long)nr, report_style(r, STYLE_PLAIN));
	else if (total)
		fprintf(r->out, "%*s%s%llu of %llu steps left out; --all shows them%s\n",
			NUMBER_WIDTH, "", report_style(r, STYLE_DIM), (unsigned long long)total,
			(unsigned long long)nr, report_style(r, STYLE_PLAIN));
	if (total == nr && r->o->object)
		put_objects(r);
out:
	free(t.shown);
	free(t.columns);
}
