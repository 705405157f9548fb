// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where signals were handled: a preemption tells when another task sent one, and not what the handler
 * came in between of.
 */
#include <string.h>
#include "lib/base/installed.h"
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

static bool begins(const struct trace *t, uint64_t i, uint32_t task)
{
	return trace_step(t, i)->task == task && trace_step(t, i)->label.op == ZUG_OP_HANDLER;
}

/* The handler that begins with step i returns before step s. */
static bool returns_before(const struct trace *t, uint64_t i, uint32_t task, uint64_t s)
{
	unsigned int depth = 1;

	for (i++; i <= s; i++) {
		for (uint32_t nr = trace_nr_notes(t, i), k = 0; k < nr; k++) {
			const struct trace_note *n = trace_note_at(t, i, k);

			if (n && n->kind == TRACE_NOTE_SIGNAL && n->task == task && !n->arg && !--depth)
				return true;
		}
		depth += i < s && begins(t, i, task);
	}
	return false;
}

/*
 * What the handler that begins with step i changes, its task may have looked at before: the last such step;
 * NULL: none.
 */
static const struct trace_step *looked_before(const struct trace *t, uint64_t i)
{
	uint32_t task = trace_step(t, i)->task;

	for (uint64_t b = i + 1; b < trace_nr_steps(t); b++) {
		const struct trace_step *s = trace_step(t, b);

		if (s->task != task || !s->label.object)
			continue;
		if (returns_before(t, i, task, b))
			return NULL;
		if (!((s->label.flags | zug_op_flags(s->label.op)) & ZUG_L_WRITE))
			continue;
		for (uint64_t k = i; k-- > 0;)
			if (trace_step(t, k)->task == task && trace_step(t, k)->label.object == s->label.object)
				return trace_step(t, k);
	}
	return NULL;
}

/*
 * Step i is where pthread_cancel() reaches a thread that waits, and unwinds it: glibc sends signal 32 for that, musl 33 (with
 * glibc that is setuid() in all threads).
 */
static bool cancels(struct report *r, uint64_t i)
{
	const struct zug_label *l = &trace_step(r->t, i)->label;
	const struct trace_site *site = trace_site(r->t, l->site);
	const struct trace_module *file = site ? trace_module(r->t, site->module) : NULL;
	char object[300];

	if (l->op != ZUG_OP_HANDLER)
		return false;
	report_object_name(r, l->object, object, sizeof(object));
	return !strcmp(object, file && strstr(file->path, "musl") ? "signal 33" : "signal 32");
}

static void put_signal(struct report *r, uint64_t i)
{
	bool cancel = cancels(r, i);
	const struct trace_step *handler = trace_step(r->t, i), *before = looked_before(r->t, i), *last = NULL, *s;
	char object[300], site[600], name[32];
	unsigned int steps = 0;

	for (uint64_t b = i; b-- > 0 && !last;)
		if (trace_step(r->t, b)->task == handler->task)
			last = trace_step(r->t, b);
	report_object_name(r, handler->label.object, object, sizeof(object));
	report_site(r, handler->label.site, site, sizeof(site));
	if (cancel)
		site[0] = 0;
	fprintf(r->out, "  %sstep %llu: %s %s %s%s%s%s\n", report_style(r, STYLE_STRONG), (unsigned long long)i,
		cancel ? "pthread_cancel()" : object, cancel ? "reaches" : "is delivered to",
		report_task_name(handler->task, name, sizeof(name)), report_style(r, STYLE_PLAIN),
		site[0] ? "  handler " : "", site);
	if (before && before != last)
		put_step(r, before, "has done");
	if (last)
		put_step(r, last, zug_op_is_call(last->label.op) ? "has not yet done" : "has done");
	for (uint64_t b = i + 1; b < trace_nr_steps(r->t); b++) {
		s = trace_step(r->t, b);
		if (s->task != handler->task)
			continue;
		if (returns_before(r->t, i, handler->task, b)) {
			put_step(r, s, steps ? "goes on with" : "goes on, after a handler without points, with");
			return;
		}
		if (steps++ == HANDLER_STEPS_MAX)
			return;
		put_step(r, s, cancel ? "does behind that" : "does in the handler");
	}
}

static bool of_signals(const struct zug_label *l)
{
	return l->op == ZUG_OP_KILL || l->op == ZUG_OP_HANDLER || l->op == ZUG_OP_SIGNAL_WAIT;
}

static bool is_data(const struct zug_label *l)
{
	return l->object && zug_op_is_access(l->op);
}

/* The handler that begins with step i accesses data that its task accesses elsewhere, too. */
static bool shares_data(const struct trace *t, uint64_t i)
{
	uint32_t task = trace_step(t, i)->task;
	uint64_t nr = trace_nr_steps(t), end = i + 1;

	while (end < nr && !(trace_step(t, end)->task == task && returns_before(t, i, task, end)))
		end++;
	for (uint64_t b = i + 1; b < end; b++) {
		const struct trace_step *s = trace_step(t, b);

		for (uint64_t k = 0; s->task == task && is_data(&s->label) && k < nr; k++)
			if ((k < i || k >= end) && trace_step(t, k)->task == task &&
			    trace_step(t, k)->label.object == s->label.object)
				return true;
	}
	return false;
}

/* Two other operations alone decide: a shell handles the end of each of its children. A thread that is cancelled ends there. */
static bool beside_the_point(struct report *r)
{
	const struct trace_minimized *m = trace_minimized(r->t);

	if (!m || !m->critical.known || !m->critical.alone || of_signals(&m->critical.first) || of_signals(&m->critical.second))
		return false;
	for (uint64_t i = 0; i < trace_nr_steps(r->t); i++)
		if (cancels(r, i) || (trace_step(r->t, i)->label.op == ZUG_OP_HANDLER && shares_data(r->t, i)))
			return false;
	return true;
}

/*
 * Step i is where a handler begins that is worth a word. A shell, make(1) and the like collect their children in a handler of
 * their own, many times: an order that depends on that shows in what their next commands do. Go's runtime takes goroutines
 * off their threads by SIGURG.
 */
static bool is_told(struct report *r, uint64_t i)
{
	const struct zug_label *l = &trace_step(r->t, i)->label;
	const struct trace_module *file;
	const struct trace_frame *frames;
	const struct trace_site *site;
	char object[300];

	if (l->op != ZUG_OP_HANDLER)
		return false;
	site = trace_site(r->t, l->site);
	file = site ? trace_module(r->t, site->module) : NULL;
	report_object_name(r, l->object, object, sizeof(object));
	if (!strcmp(object, "SIGURG") && report_frames(r, l->site, &frames) && frames[0].function &&
	    !strcmp(frames[0].function, "runtime.sigtramp"))
		return false;
	return strcmp(object, "SIGCHLD") || !file || !path_is_installed(file->path);
}

void report_signals(struct report *r)
{
	uint64_t nr = trace_nr_steps(r->t);
	unsigned int total = 0, n = 0;

	if (beside_the_point(r))
		return;
	for (uint64_t i = 0; i < nr; i++)
		total += is_told(r, i);
	if (!total)
		return;
	fprintf(r->out, "\n%sSignals that were handled:%s\n", report_style(r, STYLE_STRONG),
		report_style(r, STYLE_PLAIN));
	if (total > SIGNALS_MAX)
		fprintf(r->out, "  (%u earlier one%s left out)\n", total - SIGNALS_MAX,
			total - SIGNALS_MAX == 1 ? " is" : "s are");
	for (uint64_t i = 0; i < nr; i++)
		if (is_told(r, i) && n++ + SIGNALS_MAX >= total)
			put_signal(r, i);
}
