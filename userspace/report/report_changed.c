// SPDX-License-Identifier: GPL-2.0-only
/*
 * report_changed.c - what a test was given by the search and not by the kernel: calls that fail, time-outs and timers that
 * are early, the values that it asked for
 */
#include <stdio.h>
#include <string.h>
#include "engine/values.h"
#include "report/report_internal.h"

#define VALUES_MAX	12
#define EXPIRED_MAX	3	/* time-outs that end in their time */

/* Prints the calls that the search made fail, or do less than they could. Returns their number. */
unsigned int report_faults(struct report *r)
{
	unsigned int n = 0;

	for (uint64_t i = 0; i < trace_nr_steps(r->t); i++) {
		const struct trace_step *s = trace_step(r->t, i);

		if (!zug_op_is_fault(s->label.op))
			continue;
		if (!n++)
			fprintf(r->out, "\n%sCalls that the search changed (--faults, --flows):%s\n",
				report_style(r, STYLE_STRONG), report_style(r, STYLE_PLAIN));
		fprintf(r->out, "  %sstep %llu%s\n", report_style(r, STYLE_ALARM), (unsigned long long)s->step,
			report_style(r, STYLE_PLAIN));
		report_action(r, s->task, "gets", s);
	}
	return n;
}

/* Prints the time-outs that ended before their time. Returns their number. */
unsigned int report_early_waits(struct report *r)
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
void report_expired(struct report *r)
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
unsigned int report_timers(struct report *r)
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

/* Random numbers of the program's own follow from it, and it left them as they were. */
static bool left_numbers(const struct trace_step *s)
{
	uint32_t value;

	return s->label.object && value_of(s->label.object2, &value) && !value;
}

/* Prints the values that the test asked for. */
void report_values(struct report *r)
{
	unsigned int n = 0;

	for (uint64_t i = 0; i < trace_nr_steps(r->t); i++) {
		const struct trace_step *s = trace_step(r->t, i);

		if (s->label.op != ZUG_OP_CHOICE || left_numbers(s))
			continue;
		if (!n++)
			fprintf(r->out, "\n%sThe values that the test was given:%s\n", report_style(r, STYLE_STRONG),
				report_style(r, STYLE_PLAIN));
		if (n > VALUES_MAX) {
			fprintf(r->out, "      ... and more: zug show has all steps\n");
			return;
		}
		report_action(r, s->task, "does", s);
		if (s->label.object)
			fprintf(r->out, "      (from these follow the ready case that a select takes, and where a walk through a map begins)\n");
	}
}
