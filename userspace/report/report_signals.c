/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where signals were handled: a preemption tells when another task sent one, and not what the handler
 * came in between of.
 */
#include <string.h>
#include "report/report_internal.h"

#define SIGNALS_MAX 4		/* that are shown: the last ones */
#define HANDLER_STEPS_MAX 6

void report_signal_note(const struct trace_note *n, char *buf, size_t len)
{
	const char *name = n->arg ? sigabbrev_np(n->arg) : NULL;

	if (!n->arg)
		snprintf(buf, len, "the handler returns");
	else if (name)
		snprintf(buf, len, "handler of SIG%s", name);
	else
		snprintf(buf, len, "handler of signal %u", n->arg);
}

static const struct trace_note *signal_note(const struct trace *t, uint64_t i, uint32_t k)
{
	const struct trace_note *n = trace_note_at(t, i, k);

	return n && n->kind == TRACE_NOTE_SIGNAL && n->task != TRACE_NO_TASK ? n : NULL;
}

static void put_step(struct report *r, const struct trace_step *s, const char *verb)
{
	char label[600], site[600], name[32];

	report_label(r, &s->label, label, sizeof(label));
	report_site(r, s->label.site, site, sizeof(site));
	fprintf(r->out, "      %s%s%s %s %s%s%s%s%s\n", report_task_style(r, s->task),
		report_task_name(s->task, name, sizeof(name)), report_style(r, STYLE_PLAIN), verb,
		report_style(r, STYLE_STRONG), label, report_style(r, STYLE_PLAIN),
		site[0] ? "  " : "", site);
}

/* The handler that begins with note k before step i returns before step s. */
static bool returns_before(const struct trace *t, uint64_t i, uint32_t k, uint32_t task, uint64_t s)
{
	unsigned int depth = 1;

	for (; i <= s; i++, k = 0)
		for (uint32_t nr = trace_nr_notes(t, i), m = k; m < nr; m++) {
			const struct trace_note *n = signal_note(t, i, m);

			if (n && n->task == task && !(depth += n->arg ? 1 : -1))
				return true;
		}
	return false;
}

static void put_signal(struct report *r, uint64_t i, uint32_t k, const struct trace_note *n)
{
	const struct trace_step *last = NULL, *s;
	unsigned int steps = 0;
	char text[64], name[32];

	for (uint64_t b = i; b-- > 0 && !last;)
		if (trace_step(r->t, b)->task == n->task)
			last = trace_step(r->t, b);
	report_signal_note(n, text, sizeof(text));
	fprintf(r->out, "  %sbefore step %llu: %s in %s%s\n", report_style(r, STYLE_STRONG),
		(unsigned long long)i, text, report_task_name(n->task, name, sizeof(name)),
		report_style(r, STYLE_PLAIN));
	if (last)
		put_step(r, last, "has done");
	for (uint64_t b = i; b < trace_nr_steps(r->t); b++) {
		s = trace_step(r->t, b);
		if (s->task != n->task)
			continue;
		if (returns_before(r->t, i, k + 1, n->task, b)) {
			put_step(r, s, steps ? "goes on with" : "goes on, after a handler without points, with");
			return;
		}
		if (steps++ == HANDLER_STEPS_MAX)
			return;
		put_step(r, s, "does in the handler");
	}
}

void report_signals(struct report *r)
{
	uint64_t nr = trace_nr_steps(r->t);
	unsigned int total = 0, n = 0;

	for (uint64_t i = 0; i <= nr; i++)
		for (uint32_t k = 0; k < trace_nr_notes(r->t, i); k++)
			total += signal_note(r->t, i, k) && signal_note(r->t, i, k)->arg;
	if (!total)
		return;
	fprintf(r->out, "\n%sSignals that were handled:%s\n", report_style(r, STYLE_STRONG),
		report_style(r, STYLE_PLAIN));
	if (total > SIGNALS_MAX)
		fprintf(r->out, "  (%u earlier one%s left out)\n", total - SIGNALS_MAX,
			total - SIGNALS_MAX == 1 ? " is" : "s are");
	for (uint64_t i = 0; i <= nr; i++)
		for (uint32_t k = 0; k < trace_nr_notes(r->t, i); k++) {
			const struct trace_note *note = signal_note(r->t, i, k);

			if (note && note->arg && n++ + SIGNALS_MAX >= total)
				put_signal(r, i, k, note);
		}
}
