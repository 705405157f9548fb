// SPDX-License-Identifier: GPL-2.0-only
/* report_brief.c - of a minimised trace, the operations whose order matters; and what to do with it */
#include <string.h>
#include "report_internal.h"

#define AROUND 1	/* lines of source before and after the one that is meant */

static void put_source(struct report *r, uint64_t site)
{
	const struct trace_frame *frames, *frame;
	uint32_t nr = report_frames(r, site, &frames);

	frame = report_main_frame(frames, nr);
	for (int d = -AROUND; frame && frame->line && d <= AROUND; d++) {
		struct trace_frame at = *frame;

		if (d < 0 && at.line <= (uint32_t)-d)
			continue;
		at.line += d;
		report_source_line(r, &at, 8, !d);
	}
}

static void put_operation(struct report *r, uint32_t task, const char *verb, const struct zug_label *l)
{
	char label[600], site[600], name[32];

	report_label(r, l, label, sizeof(label));
	report_site(r, l->site, site, sizeof(site));
	fprintf(r->out, "      %s%s%s %s %s%s%s%s%s\n", report_task_style(r, task),
		report_task_name(task, name, sizeof(name)), report_style(r, STYLE_PLAIN), verb,
		report_style(r, STYLE_STRONG), label, report_style(r, STYLE_PLAIN), site[0] ? "  " : "", site);
	put_source(r, l->site);
}

static const struct trace_step *next_of(const struct trace *t, uint64_t from, uint32_t task)
{
	for (uint64_t i = from; i < trace_nr_steps(t); i++)
		if (trace_step(t, i)->task == task)
			return trace_step(t, i);
	return NULL;
}

static void put_pair(struct report *r, const struct trace_pair *p)
{
	const struct trace_step *again = next_of(r->t, p->step + 1, p->preempted);
	char name[32], other[32], when[64];

	report_task_name(p->preempted, name, sizeof(name));
	report_task_name(p->by, other, sizeof(other));
	fprintf(r->out, "  %sat step %llu %s is stopped%s\n", report_style(r, STYLE_ALARM),
		(unsigned long long)p->step, name, report_style(r, STYLE_PLAIN));
	put_operation(r, p->preempted, "was about to", &p->before);
	snprintf(when, sizeof(when), "comes first, at step %llu, with", (unsigned long long)p->after_step);
	if (p->after.op != ZUG_OP_NONE)
		put_operation(r, p->by, when, &p->after);
	else
		fprintf(r->out, "      %s gets the turn; no operation seen meanwhile touches what %s was about "
			"to use\n", other, name);
	if (again)
		fprintf(r->out, "      %s goes on at step %llu\n", name, (unsigned long long)again->step);
	else
		fprintf(r->out, "      %s does not go on\n", name);
}

bool report_pairs(struct report *r)
{
	const struct trace_minimised *m = trace_minimised(r->t);

	if (!m || !m->nr_pairs)
		return false;
	fprintf(r->out, "\n%s%s%s\n", report_style(r, STYLE_STRONG), m->nr_pairs == 1 ?
		"One preemption leads there:" : "The preemptions that lead there:",
		report_style(r, STYLE_PLAIN));
	for (uint32_t i = 0; i < m->nr_pairs; i++)
		put_pair(r, &m->pairs[i]);
	fprintf(r->out, "  (the simplest of %llu executions; %s)\n", (unsigned long long)m->executions,
		m->minimal ? "without any of its decisions it does not fail like this" :
		"cut short: there may be a simpler one");
	return true;
}

void report_commands(FILE *out, const char *path)
{
	fprintf(out, "replay it: zug replay %s\nin gdb: zug replay --gdb %s\nall of it: zug show %s\n", path, path,
		path);
}
