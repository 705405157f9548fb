// SPDX-License-Identifier: GPL-2.0-only
/* report_action.c - one step as a sentence: who does what, where, and that line of the source */
#include <string.h>
#include "report/report_internal.h"
#include "symbols/symbols.h"

/* The last program that the task has executed before that step; NULL: none is known. */
static const char *executed(const struct trace *t, uint32_t task, uint64_t step)
{
	const char *last = NULL;

	for (uint64_t i = 0; i <= trace_nr_steps(t) && i <= step; i++)
		for (uint32_t k = 0; k < trace_nr_notes(t, i); k++) {
			const struct trace_note *n = trace_note_at(t, i, k);

			if (n->kind == TRACE_NOTE_EXEC && n->task == task && n->text)
				last = n->text;
		}
	return last;
}

/* Whose step of the task that is; 0: not known. */
static uint32_t goroutine_of(const struct trace *t, uint32_t task, uint64_t step)
{
	for (uint32_t k = 0; step != UINT64_MAX && k < trace_nr_notes(t, step); k++) {
		const struct trace_note *n = trace_note_at(t, step, k);

		if (n->kind == TRACE_NOTE_GOROUTINE && n->task == task)
			return n->arg;
	}
	return 0;
}

/* Of a task that has executed another program, as those of scripts do: " (cat)". Of a Go program: the goroutine. */
static const char *program_of(const struct report *r, uint32_t task, uint64_t step, char *buf, size_t len)
{
	const char *path = task ? executed(r->t, task, step) : NULL;
	uint32_t goroutine = goroutine_of(r->t, task, step);
	char name[64];

	if (goroutine) {
		snprintf(buf, len, " (goroutine %u)", goroutine);
		return buf;
	}
	if (!path)
		return "";
	report_clean(name, sizeof(name), strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
	snprintf(buf, len, " (%s)", name);
	return buf;
}

static bool is_own(const struct trace_frame *f)
{
	return f->file && f->line && symbols_is_source(f->file) && !symbols_of_library(f->file);
}

bool report_caller_of(struct report *r, uint32_t task, const struct trace_step *s, struct report_caller *c)
{
	const struct trace_frame *frames, *main;
	uint32_t nr;

	for (uint32_t k = 0; s->step != UINT64_MAX && k < trace_nr_notes(r->t, s->step); k++) {
		const struct trace_note *n = trace_note_at(r->t, s->step, k);
		const char *tab = n->kind == TRACE_NOTE_CALLER && n->task == task && n->text ? strchr(n->text, '\t') : NULL;

		if (!tab)
			continue;
		snprintf(c->function, sizeof(c->function), "%.*s", (int)(tab - n->text), n->text);
		c->frame = (struct trace_frame){ .function = c->function, .file = tab[1] ? tab + 1 : NULL, .line = n->arg };
		return true;
	}
	nr = report_frames(r, s->label.site, &frames);
	main = report_main_frame(frames, nr);
	if (main && is_own(main))
		return false;
	/* what a task never did it was about to do at the end */
	for (uint32_t i = 0; s->step == UINT64_MAX && i < trace_nr_stacks(r->t); i++) {
		const struct trace_stack *st = trace_stack_at(r->t, i);

		for (uint32_t k = 0; st->task == task && k < st->nr_frames; k++)
			if (is_own(&st->frames[k])) {
				c->frame = st->frames[k];
				return true;
			}
	}
	return false;
}

void report_step_place(struct report *r, const struct trace_step *s, char *buf, size_t len)
{
	struct report_caller caller;

	if (report_caller_of(r, s->task, s, &caller))
		report_frame(r, &caller.frame, buf, len);
	else
		report_site(r, s->label.site, buf, len);
}

/* A point between two operations of a program that is interpreted is a place, where nothing is done. */
static const char *verb_at_place(const char *verb)
{
	static const char *const at[][2] = {
		{ "does", "goes on at" }, { "would do", "would go on at" }, { "is stopped before", "is stopped at" },
	};

	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++)
		if (!strcmp(verb, at[i][0]))
			return at[i][1];
	return NULL;
}

static bool same_line(const struct trace_frame *a, const struct trace_frame *b)
{
	return a->file && b->file && a->line == b->line && !strcmp(a->file, b->file);
}

void report_action(struct report *r, uint32_t task, const char *verb, const struct trace_step *s)
{
	const struct trace_frame *frames, *frame;
	char label[600], site[600], name[32], program[72];
	const char *at = s->label.op == ZUG_OP_POINT ? verb_at_place(verb) : NULL;
	struct report_caller caller;
	bool called;
	uint32_t nr;

	report_label(r, &s->label, label, sizeof(label));
	nr = report_frames(r, s->label.site, &frames);
	frame = report_main_frame(frames, nr);
	called = report_caller_of(r, task, s, &caller);
	if (called) {
		frame = &caller.frame;
		report_frame(r, frame, site, sizeof(site));
	} else {
		report_site(r, s->label.site, site, sizeof(site));
	}
	at = called ? at : NULL;
	fprintf(r->out, "      %s%s%s%s %s %s%s%s%s%s\n", report_task_style(r, task),
		report_task_name(task, name, sizeof(name)), report_style(r, STYLE_PLAIN),
		program_of(r, task, s->step, program, sizeof(program)), at ? at : verb,
		report_style(r, STYLE_STRONG), at ? "" : label, report_style(r, STYLE_PLAIN),
		site[0] && !at ? "  " : "", site);
	if (frame && !(called && r->in_row && same_line(frame, &r->in_row_at))) {
		/* the source of a caller may belong to another file than the place does: to none, if it is interpreted */
		if (!called)
			report_check_source(r, s->label.site, frame);
		report_source_line(r, frame, 8);
	}
	r->in_row_at = frame ? (struct trace_frame){ .file = frame->file, .line = frame->line } : (struct trace_frame){ 0 };
}
