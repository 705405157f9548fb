// SPDX-License-Identifier: GPL-2.0-only
/*
 * report.c - the outcome, the header of a trace, the output of the test; and what a report consists of
 *
 * report_finding() is what a person reads first: the outcome, what the search changed (report_changed.c), the decisions that
 * lead there (report_decisions.c), the stacks (report_wait.c) and the end of the test's output. report_trace() prints the
 * header and all steps (report_steps.c). report_action.c makes a sentence of a step; report_text.c has the names, places and
 * source lines that all of them print.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "lib/base/shell_word.h"
#include "report/report_internal.h"

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

void report_finding(FILE *out, const struct trace *t, const struct report_options *o)
{
	struct report r;
	bool goroutines;

	report_begin(&r, out, t, o);
	put_crash(&r);
	report_put_outcome(&r);
	put_cycle(&r, "");
	goroutines = report_goroutines(&r);
	report_values(&r);
	report_decisions(&r);
	report_wakes(&r);
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
