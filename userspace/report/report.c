// SPDX-License-Identifier: GPL-2.0-only
/*
 * report.c - the outcome, the header of a trace, and the explanation of a finding
 *
 * report_finding() is what a person reads first: the outcome, the decisions that lead to it
 * (put_decisions()), the stacks (report_wait.c) and the end of the test's output. report_trace()
 * prints the header and all steps (report_steps.c). report_text.c has the names, places and source
 * lines that all of them print.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "lib/base/shell_word.h"
#include "report/report_internal.h"
#include "symbols/symbols.h"

#define DECISIONS_MAX 8		/* decisions of a finding: more do not explain more */
#define ORDERS_MIN 6		/* schedules near one: where fewer fail alike, that says little */
#define ROUNDS_MAX 4		/* the same of a livelock, where they repeat */
#define VALUES_MAX 12
#define MEANWHILE_MAX 6		/* steps of other tasks while one is stopped */
#define EXPIRED_MAX	3	/* time-outs that end in their time */
#define OUTPUT_LINES 12
#define DEFAULT_WIDTH 120

void report_options_init(struct report_options *o, FILE *out)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	const char *columns = getenv("COLUMNS");
	struct winsize size;

	*o = (struct report_options){ .last = UINT64_MAX, .task = TRACE_NO_TASK,
				      .width = DEFAULT_WIDTH };
	o->colour = isatty(fileno(out)) && !(no_color && *no_color) &&
		    !(term && !strcmp(term, "dumb"));
	if (ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
		o->width = size.ws_col;
	else if (columns && atoi(columns) >= 40)
		o->width = atoi(columns);
}

void report_options_colour(struct report_options *o, int colour)
{
	if (colour != REPORT_COLOUR_AUTO)
		o->colour = colour == REPORT_COLOUR_ALWAYS;
}

/* ---- outcome ---- */

void report_outcome_words(const struct report *r, char *buf, size_t len)
{
	const struct trace_outcome *o = trace_outcome(r->t);
	char message[900], cycle[900] = "";
	const char *name;

	if (!o) {
		snprintf(buf, len, "no outcome: the trace is cut off");
		return;
	}
	report_clean(message, sizeof(message), o->message);
	report_rename_objects(r, message, sizeof(message));
	switch (o->kind) {
	case ZUG_OUTCOME_ABORT:
		snprintf(buf, len, "aborted (SIGABRT)%s%s", message[0] ? ": " : "", message);
		return;
	case ZUG_OUTCOME_SIGNAL:
		name = sigabbrev_np(o->code);
		/* the engine's message names the signal itself */
		if (!strncmp(message, "killed by ", 10))
			snprintf(buf, len, "%s", message);
		else if (name)
			snprintf(buf, len, "killed by SIG%s%s%s", name, message[0] ? ": " : "", message);
		else
			snprintf(buf, len, "killed by signal %d%s%s", o->code, message[0] ? ": " : "",
				 message);
		return;
	case ZUG_OUTCOME_EXIT:
		/* most messages name the status themselves */
		if (!strncmp(message, "exit status ", 12)) {
			snprintf(buf, len, "%s", message);
			return;
		}
		snprintf(buf, len, "exit status %d%s%s", o->code, message[0] ? ": " : "", message);
		return;
	case ZUG_OUTCOME_DEADLOCK:
	case ZUG_OUTCOME_LOCK_CYCLE:
		/* the engine's message often names the holders itself */
		if (!strstr(message, "held by") && report_wait_cycle(r, cycle, sizeof(cycle)) &&
		    message[0])
			strncat(message, "; ", sizeof(message) - strlen(message) - 1);
		break;
	}
	snprintf(buf, len, "%s%s%s%s", zug_outcome_name(o->kind), message[0] || cycle[0] ? ": " : "",
		 message, cycle);
}

void report_outcome_text(FILE *out, unsigned int kind, const char *message, const struct report_options *o)
{
	const struct report r = { .o = o };

	fprintf(out, "%s%s%s", report_style(&r, kind == ZUG_OUTCOME_PASS ? STYLE_GOOD : STYLE_ALARM),
		zug_outcome_name(kind), message[0] ? ": " : "");
	report_put(out, message, false);
	fputs(report_style(&r, STYLE_PLAIN), out);
}

/* Names the tasks that wait for each other, where the outcome lists every task that waits. */
static void put_cycle(struct report *r, const char *indent)
{
	const struct trace_outcome *o = trace_outcome(r->t);
	char cycle[900];

	if (!o || (o->kind != ZUG_OUTCOME_DEADLOCK && o->kind != ZUG_OUTCOME_LOCK_CYCLE) ||
	    !strstr(o->message, "held by") || !report_wait_cycle(r, cycle, sizeof(cycle)))
		return;
	fprintf(r->out, "%scycle: %s\n", indent, cycle);
}

/* A process that crashed and is not the command: the command's failure may be its consequence. */
static void put_crash(struct report *r)
{
	char place[600], comm[64] = "", name[32];

	for (uint32_t i = 0; i < trace_nr_stacks(r->t); i++) {
		const struct trace_stack *s = trace_stack_at(r->t, i);
		const struct trace_task *task = trace_task(r->t, s->task);
		const struct trace_frame *f = report_main_frame(s->frames, s->nr_frames);

		/* what the engine says of such a task */
		if (strncmp(s->state, "died of ", 8))
			continue;
		place[0] = '\0';
		if (f)
			report_frame(r, f, place, sizeof(place));
		if (task && task->comm[0])
			report_clean(comm, sizeof(comm), task->comm);
		fprintf(r->out, "%s%s%s%s%s %s%s%s%s\n", report_style(r, STYLE_ALARM),
			report_task_name(s->task, name, sizeof(name)), comm[0] ? " (" : "", comm,
			comm[0] ? ")" : "", s->state, place[0] ? " in " : "", place,
			report_style(r, STYLE_PLAIN));
	}
}

void report_put_outcome(struct report *r)
{
	const struct trace_outcome *o = trace_outcome(r->t);
	char text[2048];

	report_outcome_words(r, text, sizeof(text));
	fprintf(r->out, "%s%s%s\n",
		report_style(r, o && o->kind == ZUG_OUTCOME_PASS ? STYLE_GOOD : STYLE_ALARM), text,
		report_style(r, STYLE_PLAIN));
}

void report_outcome_line(FILE *out, const struct trace *t, const struct report_options *o)
{
	struct report r;

	report_begin(&r, out, t, o);
	report_put_outcome(&r);
	report_end(&r);
}

/* ---- header ---- */

static void put_field(struct report *r, const char *name)
{
	fprintf(r->out, "%s%-10s%s", report_style(r, STYLE_DIM), name, report_style(r, STYLE_PLAIN));
}

static void put_header(struct report *r)
{
	const struct trace_header *h = trace_header(r->t);
	uint64_t switches = 0, preemptions = 0, nr = trace_nr_steps(r->t);

	for (uint64_t i = 0; i < nr; i++) {
		const struct trace_step *s = trace_step(r->t, i);

		switches += s->last != TRACE_NO_TASK && s->last != s->task;
		preemptions += !!(s->flags & TRACE_STEP_PREEMPTION);
	}
	put_field(r, "command");
	for (char *const *a = h->argv; *a; a++) {
		fputs(a == h->argv ? "" : " ", r->out);
		shell_word_put(r->out, *a);
	}
	putc('\n', r->out);
	put_field(r, "in");
	report_put(r->out, h->cwd, false);
	putc('\n', r->out);
	put_field(r, "found by");
	report_put(r->out, h->strategy[0] ? h->strategy : "?", false);
	fprintf(r->out, ", seed %llu, execution %llu; zug ", (unsigned long long)h->seed,
		(unsigned long long)h->execution);
	report_put(r->out, h->zug_version, false);
	fputs(", Linux ", r->out);
	report_put(r->out, h->kernel, false);
	putc('\n', r->out);
	put_field(r, "schedule");
	fprintf(r->out, "%llu step%s, %u task%s, %llu switch%s, %llu preemption%s%s\n",
		(unsigned long long)nr, plural(nr), trace_nr_tasks(r->t), plural(trace_nr_tasks(r->t)),
		(unsigned long long)switches, switches == 1 ? "" : "es", (unsigned long long)preemptions,
		plural(preemptions), trace_truncated(r->t) ? " (cut off)" : "");
	put_field(r, "outcome");
	report_put_outcome(r);
	put_cycle(r, "          ");
	if (trace_outcome(r->t) && trace_outcome(r->t)->ungranted)
		fprintf(r->out, "%s%llu run%s without a grant: the schedule was not kept; this is a bug "
			"in zugzwang%s\n", report_style(r, STYLE_ALARM),
			(unsigned long long)trace_outcome(r->t)->ungranted,
			plural(trace_outcome(r->t)->ungranted), report_style(r, STYLE_PLAIN));
}

/* ---- output of the test ---- */

/*
 * Prints the head and the tail of an output. With max_lines: only the last lines, which tell why
 * the test failed.
 */
static void put_output(struct report *r, const char *name, const char *head, const char *tail,
		       int max_lines)
{
	const char *parts[2] = { head, tail }, *p;
	int lines = 0;

	if (max_lines && tail && *tail)
		parts[0] = NULL;
	for (int i = 0; i < 2; i++) {
		if (!parts[i] || !*parts[i])
			continue;
		p = parts[i];
		if (max_lines) {
			size_t n = strlen(p);

			while (n && lines < max_lines)
				lines += p[--n] == '\n' && p[n + 1];
			if (lines == max_lines)
				p += n + 1;
		}
		fprintf(r->out, "\n%s%s%s%s\n", report_style(r, STYLE_STRONG), name,
			parts[0] && parts[1] && *parts[1] ? i ? ", end" : ", start" :
			p != parts[i] ? ", end" : "", report_style(r, STYLE_PLAIN));
		while (*p) {
			size_t n = strcspn(p, "\n");
			char *line = strndup(p, n);

			fputs("    ", r->out);
			if (line)
				report_put(r->out, line, true);
			putc('\n', r->out);
			free(line);
			p += n + (p[n] == '\n');
		}
	}
}

static void put_outputs(struct report *r, int max_lines)
{
	const struct trace_outcome *o = trace_outcome(r->t);

	const char *dump = o && max_lines && o->kind != ZUG_OUTCOME_EXIT ? report_go_dump(o->err_head) : NULL;
	char *own = dump ? strndup(o->err_head, dump - o->err_head) : NULL;

	if (!o)
		return;
	put_output(r, "standard output", o->out_head, o->out_tail, max_lines);
	/* not what zug has asked for, whose last lines are the processor's registers */
	if (own)
		put_output(r, "standard error", own, NULL, max_lines);
	else
		put_output(r, "standard error", o->err_head, o->err_tail, max_lines);
	free(own);
}

/* ---- decisions ---- */

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

/* How much step i tells of what a task that is stopped before 'pending' misses; 0: nothing. */
static int weight_of(struct report *r, uint64_t i, const struct zug_label *pending)
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
	if (object && (object == pending->object || (c && (object == c->first.object || object == c->second.object))))
		return 3;
	return is_private(r, s) || is_of_library(r, s) ? 1 : 2;
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
 * those that come first. Memory that only one task uses, and what a library accesses, is told only where there is nothing
 * else.
 */
static void put_meanwhile(struct report *r, uint64_t first, uint64_t end, const struct zug_label *pending)
{
	unsigned int of[5] = { 0 }, left = MEANWHILE_MAX;
	uint64_t hidden = 0;

	for (uint64_t i = first; i < end; i++)
		of[weight_of(r, i, pending)]++;
	for (int w = 4; w > 0; w--) {
		of[w] = w == 1 && left < MEANWHILE_MAX ? 0 : of[w] < left ? of[w] : left;
		left -= of[w];
	}
	r->in_row = true;
	for (uint64_t i = first; i < end; i++) {
		int w = weight_of(r, i, pending);

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

/* Prints the calls that the search made fail, or do less than they could. Returns their number. */
static unsigned int put_faults(struct report *r)
{
	unsigned int n = 0;

	for (uint64_t i = 0; i < trace_nr_steps(r->t); i++) {
		const struct trace_step *s = trace_step(r->t, i);

		if (!zug_op_is_fault(s->label.op))
			continue;
		if (!n++)
			fprintf(r->out, "\n%sSystem calls that the search changed (--faults, --flows):%s\n",
				report_style(r, STYLE_STRONG), report_style(r, STYLE_PLAIN));
		fprintf(r->out, "  %sstep %llu%s\n", report_style(r, STYLE_ALARM), (unsigned long long)s->step,
			report_style(r, STYLE_PLAIN));
		report_action(r, s->task, "gets", s);
	}
	return n;
}

/* Prints the time-outs that ended before their time. Returns their number. */
static unsigned int put_early(struct report *r)
{
	unsigned int n = 0;
	char name[32];

	for (uint64_t i = 0; i < trace_nr_steps(r->t); i++)
		for (uint32_t k = 0; k < trace_nr_notes(r->t, i); k++) {
			const struct trace_note *note = trace_note_at(r->t, i, k);
			const struct trace_step *s = trace_step(r->t, i);

			if (note->kind != TRACE_NOTE_EARLY || note->task != s->task)
				continue;
			if (!n++)
				fprintf(r->out, "\n%sTime-outs that end early, while other tasks are slow (--timeouts never: none does):%s\n",
					report_style(r, STYLE_STRONG), report_style(r, STYLE_PLAIN));
			fprintf(r->out, "  %sstep %llu: the time-out of %s is over %s early%s\n",
				report_style(r, STYLE_ALARM), (unsigned long long)s->step,
				report_task_name(s->task, name, sizeof(name)), note->text ? note->text : "",
				report_style(r, STYLE_PLAIN));
			report_action(r, s->task, "does", s);
		}
	return n;
}

static bool is_early(const struct trace *t, uint64_t i)
{
	for (uint32_t k = 0; k < trace_nr_notes(t, i); k++)
		if (trace_note_at(t, i, k)->kind == TRACE_NOTE_EARLY)
			return true;
	return false;
}

/*
 * Prints the last time-outs that ended in their time: of waits for something, not of sleeps. What a task does that gives up
 * is told by no switch, but a failure may need it.
 */
static void put_expired(struct report *r)
{
	uint64_t last[EXPIRED_MAX];
	unsigned int total = 0;

	for (uint64_t i = 0; i < trace_nr_steps(r->t); i++) {
		const struct zug_label *l = &trace_step(r->t, i)->label;

		if (l->op == ZUG_OP_EXPIRE && l->object && !is_early(r->t, i))
			last[total++ % EXPIRED_MAX] = i;
	}
	if (!total)
		return;
	fprintf(r->out, "\n%sWaits that end by their time-out%s%s\n", report_style(r, STYLE_STRONG),
		total > EXPIRED_MAX ? " (the last ones):" : ":", report_style(r, STYLE_PLAIN));
	for (unsigned int n = total > EXPIRED_MAX ? total - EXPIRED_MAX : 0; n < total; n++) {
		const struct trace_step *s = trace_step(r->t, last[n % EXPIRED_MAX]);

		report_action(r, s->task, "does", s);
	}
}

void report_early(const struct trace_note *n, char *buf, size_t len, const char **which)
{
	const char *tab = n->text ? strchr(n->text, '\t') : NULL;
	char text[64];

	snprintf(text, sizeof(text), "%.*s", tab ? (int)(tab - n->text) : 60, n->text ? n->text : "");
	report_clean(buf, len, text);
	*which = tab ? tab + 1 : NULL;
}

/* Which timer fires before step i, and where it was set. */
static void put_timer(struct report *r, uint64_t i)
{
	const struct trace_note *n = NULL;
	const char *which = NULL;
	char text[160], early[80], name[32];

	for (uint32_t k = 0; k < trace_nr_notes(r->t, i) && !which; k++) {
		n = trace_note_at(r->t, i, k);
		if (n->kind == TRACE_NOTE_EARLY && n->task == TRACE_NO_TASK)
			report_early(n, early, sizeof(early), &which);
	}
	if (which) {
		report_clean(text, sizeof(text), which);
		fprintf(r->out, ", %s early: the timer of %s", early, text);
	}
	if (which && n->arg != TRACE_NO_TASK)
		fprintf(r->out, ", which %s has set", report_task_name(n->arg, name, sizeof(name)));
	fputc('\n', r->out);
	if (which && n->arg != TRACE_NO_TASK && n->object) {
		const struct zug_label set = { .op = ZUG_OP_SYSCALL, .site = n->object };

		report_action(r, n->arg, "sets it by", &(struct trace_step){ .step = i, .task = n->arg, .label = set });
	}
}

/* Prints the steps before which the search let a timer fire, early. Returns their number. */
static unsigned int put_timers(struct report *r)
{
	unsigned int n = 0;

	for (uint64_t i = 0; i < trace_nr_steps(r->t); i++) {
		const struct trace_step *s = trace_step(r->t, i);
		struct zug_label l = s->label;

		if (!(l.flags & ZUG_L_TIMER))
			continue;
		if (!n++)
			fprintf(r->out,
				"\n%sTimers that fire early, while other tasks are slow (--timeouts never: none does):%s\n",
				report_style(r, STYLE_STRONG), report_style(r, STYLE_PLAIN));
		fprintf(r->out, "  %sbefore step %llu%s", report_style(r, STYLE_ALARM), (unsigned long long)s->step,
			report_style(r, STYLE_PLAIN));
		put_timer(r, i);
		l.flags &= ~ZUG_L_TIMER;
		report_action(r, s->task, "does", &(struct trace_step){ .step = s->step, .task = s->task, .label = l });
	}
	return n;
}

/* Prints the values that the test asked for. */
static void put_values(struct report *r)
{
	unsigned int n = 0;

	for (uint64_t i = 0; i < trace_nr_steps(r->t); i++) {
		const struct trace_step *s = trace_step(r->t, i);

		if (s->label.op != ZUG_OP_CHOICE)
			continue;
		if (!n++)
			fprintf(r->out, "\n%sThe values that the test asked for:%s\n", report_style(r, STYLE_STRONG),
				report_style(r, STYLE_PLAIN));
		if (n > VALUES_MAX) {
			fprintf(r->out, "      ... and more: zug show has all steps\n");
			return;
		}
		report_action(r, s->task, "does", s);
	}
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
};

static bool is_told(const struct trace *t, uint64_t i, const struct decisions *d)
{
	return i < d->end && is_decision(trace_step(t, i), d->preemptions) &&
	       (!d->critical || leads_to_critical(t, i, d->critical));
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
		"one other could run.\n", faults ? "No special schedule is needed" : "No scheduling decision is needed");
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
	unsigned int total = 0, most = DECISIONS_MAX, skip, n = 0;
	bool faults = put_faults(r) + put_early(r) + put_timers(r), critical = put_critical(r, m);
	struct decisions d = { .end = report_loops(r) };

	put_messages(r);
	for (uint64_t i = 0; i < nr && i < d.end && !d.preemptions; i++)
		d.preemptions = trace_step(r->t, i)->flags & TRACE_STEP_PREEMPTION;
	if (!d.preemptions && d.end == UINT64_MAX)
		put_expired(r);
	/* of many that there was no time to leave out, those that make the order */
	if (critical && (!d.preemptions || (!m->minimal && m->preemptions > DECISIONS_MAX)) && m->critical.first_step < nr)
		d.critical = &m->critical;
	for (uint64_t i = 0; i < nr; i++)
		total += is_told(r->t, i, &d);
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
	fprintf(r->out, "\n%s%s%s\n", report_style(r, STYLE_STRONG), d.preemptions ? d.critical ?
		"Of the preemptions, some of which may not be needed, these lead there:" :
		"The preemptions that lead there:" : d.critical ?
		"No preemption is needed: these switches, where a task blocks, yields or ends, lead there:" :
		"No preemption is needed, only this order of switches:", report_style(r, STYLE_PLAIN));
	if (trace_outcome(r->t) && trace_outcome(r->t)->kind == ZUG_OUTCOME_LIVELOCK && d.end == UINT64_MAX)
		most = ROUNDS_MAX;
	skip = total > most ? total - most : 0;
	if (skip)
		fprintf(r->out, "  (%u earlier one%s left out)\n", skip, skip == 1 ? " is" : "s are");
	for (uint64_t i = 0; i < nr; i++)
		if (is_told(r->t, i, &d) && n++ >= skip)
			put_decision(r, i, d.preemptions);
	if (!critical && m && m->near)
		put_undecided(r, m, d.preemptions);
}

void report_finding(FILE *out, const struct trace *t, const struct report_options *o)
{
	struct report r;
	bool goroutines;

	report_begin(&r, out, t, o);
	put_crash(&r);
	report_put_outcome(&r);
	put_cycle(&r, "");
	goroutines = report_goroutines(&r);
	put_values(&r);
	put_decisions(&r);
	put_last(&r);
	report_signals(&r);
	report_source_notes(&r);
	report_stacks(&r, goroutines ? STACKS_OWN : STACKS_BRIEF);
	put_outputs(&r, OUTPUT_LINES);
	report_end(&r);
}

void report_race(FILE *out, const struct trace *t, const struct report_options *o)
{
	struct report r;

	report_begin(&r, out, t, o);
	report_put_outcome(&r);
	report_stacks(&r, STACKS_RACING);
	report_end(&r);
}

void report_trace(FILE *out, const struct trace *t, const struct report_options *o)
{
	struct report r;

	report_begin(&r, out, t, o);
	put_header(&r);
	putc('\n', out);
	report_steps(&r);
	report_stacks(&r, STACKS_ALL);
	put_outputs(&r, 0);
	report_end(&r);
}
