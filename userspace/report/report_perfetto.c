// SPDX-License-Identifier: GPL-2.0-only
/*
 * report_perfetto.c - a trace as Chrome's trace events, which ui.perfetto.dev opens
 *
 * One microsecond of the time axis is one step. A step is a slice on its task's track, a wait a
 * slice of category "wait", and an arrow of causality.h a flow (the format's word) between the
 * slices of its two steps. Events are written in the order of their time, and slices of one track
 * never overlap.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/id_map.h"
#include "report/causality.h"
#include "symbols/intern.h"
#include "report/json_text.h"
#include "report/report_internal.h"

/* Made-up ids begin above all that the kernel gives. */
#define MADE_UP_ID (1u << 22)

struct perfetto {
	struct id_map tids;	/* of tasks */
	struct report *r;
	struct causality causality;
	uint64_t first, end;
	const char *before;
	struct texts labels, places;	/* of steps, as JSON strings */
	size_t *waits;		/* indices of causality.waits, sorted by from */
	size_t nr_waits;
	uint32_t *arrows;	/* indices of causality.arrows, sorted by from */
	size_t nr_arrows;
};

/* Tasks keep their real thread ids where these differ: the test's output may name them. */
static int number_tasks(struct perfetto *p)
{
	struct id_map used = { 0 };
	uint32_t nr = trace_nr_tasks(p->r->t);
	int ret = 0;

	for (uint32_t i = 0; i < nr && !ret; i++) {
		const struct trace_task *t = trace_task_at(p->r->t, i);
		bool first;

		if (!id_map_add(&used, t->pid, 0, &first) ||
		    !id_map_add(&p->tids, t->task,
				first && t->pid ? t->pid : MADE_UP_ID + t->task, NULL))
			ret = -ENOMEM;
	}
	id_map_free(&used);
	return ret;
}

static uint32_t tid_of(struct perfetto *p, uint32_t task)
{
	const uint32_t *tid = id_map_find(&p->tids, task);

	return tid ? *tid : MADE_UP_ID + task;
}

static uint32_t pid_of(struct perfetto *p, uint32_t task)
{
	const struct trace_task *t = trace_task(p->r->t, task);

	return tid_of(p, t ? t->process : task);
}

static void begin_event(struct perfetto *p, const char *phase, uint64_t ts, uint32_t task)
{
	fprintf(p->r->out, "%s{\"ph\":\"%s\",\"ts\":%llu,\"pid\":%u,\"tid\":%u", p->before, phase,
		(unsigned long long)ts, pid_of(p, task), tid_of(p, task));
	p->before = ",\n";
}

static void put_name(struct perfetto *p, const char *category, const char *name)
{
	fprintf(p->r->out, ",\"cat\":\"%s\",\"name\":", category);
	report_json_string(p->r->out, name);
}

/* Prints a JSON string, and keeps it for the next step with that key. */
static void put_kept(struct perfetto *p, struct texts *texts, const void *key, size_t len, const char *text)
{
	struct json_object *o = json_text(text);
	const char *s = json_line(o);

	fputs(s, p->r->out);
	texts_add(texts, key, len, s, strlen(s));
	json_object_put(o);
}

/* ---- tracks ---- */

static void put_track(struct perfetto *p, const struct trace_task *t)
{
	char comm[64], name[100];

	report_clean(comm, sizeof(comm), t->comm);
	if (t->process == t->task || !trace_task(p->r->t, t->process)) {
		snprintf(name, sizeof(name), "T%u %s", t->task, comm);
		fprintf(p->r->out, "%s{\"ph\":\"M\",\"pid\":%u,\"name\":\"process_name\",\"args\":{\"name\":",
			p->before, pid_of(p, t->task));
		report_json_string(p->r->out, name);
		fputs("}}", p->r->out);
		p->before = ",\n";
	}
	snprintf(name, sizeof(name), "T%u %s", t->task, comm);
	fprintf(p->r->out, "%s{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":",
		p->before, pid_of(p, t->task), tid_of(p, t->task));
	report_json_string(p->r->out, name);
	fprintf(p->r->out, "}},\n{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":\"thread_sort_index\","
		"\"args\":{\"sort_index\":%u}}", pid_of(p, t->task), tid_of(p, t->task), t->task);
	p->before = ",\n";
}

/* ---- events ---- */

static void put_instant(struct perfetto *p, uint64_t ts, uint32_t task, const char *category,
			const char *name)
{
	begin_event(p, "i", ts, task);
	put_name(p, category, name);
	fputs(",\"s\":\"t\"}", p->r->out);
}

static void put_notes(struct perfetto *p, uint64_t i)
{
	for (uint32_t k = 0, n = trace_nr_notes(p->r->t, i); k < n; k++) {
		const struct trace_note *note = trace_note_at(p->r->t, i, k);
		char text[600], clean[512];

		report_clean(clean, sizeof(clean), note->text ? note->text : "");
		if (note->kind == TRACE_NOTE_EXEC)
			snprintf(text, sizeof(text), "exec %s", clean);
		else if (note->kind == TRACE_NOTE_MESSAGE)
			snprintf(text, sizeof(text), "%s", clean);
		else if (note->kind == TRACE_NOTE_EXIT)
			snprintf(text, sizeof(text), "gone");
		else if (note->kind == TRACE_NOTE_SIGNAL)
			report_signal_note(note, text, sizeof(text));
		else
			continue;
		/* a warning that concerns no task in particular is put on the track of the first */
		put_instant(p, i - p->first, note->task == TRACE_NO_TASK ? 0 : note->task,
			    note->kind == TRACE_NOTE_MESSAGE ? "warning" : "task", text);
	}
}

static void put_step(struct perfetto *p, const struct trace_step *s)
{
	const char *kept;
	char text[600];

	begin_event(p, "X", s->step - p->first, s->task);
	fputs(",\"cat\":\"step\",\"name\":", p->r->out);
	kept = texts_find(&p->labels, &s->label, sizeof(s->label));
	if (kept) {
		fputs(kept, p->r->out);
	} else {
		report_label(p->r, &s->label, text, sizeof(text));
		put_kept(p, &p->labels, &s->label, sizeof(s->label), text);
	}
	fprintf(p->r->out, ",\"dur\":1,\"args\":{\"step\":%llu", (unsigned long long)s->step);
	if (s->label.site) {
		fputs(",\"at\":", p->r->out);
		kept = texts_find(&p->places, &s->label.site, sizeof(s->label.site));
		if (kept) {
			fputs(kept, p->r->out);
		} else {
			report_site(p->r, s->label.site, text, sizeof(text));
			put_kept(p, &p->places, &s->label.site, sizeof(s->label.site), text);
		}
	}
	fputs(",\"could run\":\"", p->r->out);
	for (uint32_t i = 0; i < s->nr_enabled; i++)
		fprintf(p->r->out, "%sT%u", i ? " " : "", s->enabled[i]);
	fputs("\"}}", p->r->out);
	if (s->flags & TRACE_STEP_PREEMPTION && s->last != TRACE_NO_TASK) {
		snprintf(text, sizeof(text), "preemption: T%u could go on, T%u gets the turn", s->last, s->task);
		put_instant(p, s->step - p->first, s->last, "preemption", text);
	}
}

static void put_wait(struct perfetto *p, const struct causality_wait *w)
{
	uint64_t from = w->from > p->first ? w->from : p->first;
	uint64_t to = w->to > p->end ? p->end : w->to;
	char text[400], object[300] = "";

	if (w->object)
		report_object_name(p->r, w->object, object, sizeof(object));
	else if (w->text)
		report_clean(object, sizeof(object), w->text);
	snprintf(text, sizeof(text), "waits%s%s", object[0] ? w->object ? " for " : " in " : "", object);
	begin_event(p, "X", from - p->first, w->task);
	put_name(p, "wait", text);
	/* a wait to the end is drawn one step longer */
	fprintf(p->r->out, ",\"dur\":%llu,\"args\":{", (unsigned long long)(to - from + (w->to >= p->end)));
	if (w->holder != TRACE_NO_TASK)
		fprintf(p->r->out, "\"held by\":\"T%u\"", w->holder);
	fputs("}}", p->r->out);
}

static void put_arrow(struct perfetto *p, uint32_t i, bool ends)
{
	static const char *const names[] = {
		[CAUSALITY_START] = "creates", [CAUSALITY_WAKE] = "wakes",
		[CAUSALITY_SYNC] = "hands over",
		[CAUSALITY_DATA] = "accesses the same",
	};
	const struct causality_arrow *a = &p->causality.arrows[i];
	uint64_t step = ends ? a->to : a->from;

	begin_event(p, ends ? "f" : "s", step - p->first, trace_step(p->r->t, step)->task);
	put_name(p, "happens before", names[a->kind]);
	fprintf(p->r->out, ",\"id\":%u%s}", i + 1, ends ? ",\"bp\":\"e\"" : "");
}

/* ---- orders ---- */

static int compare_waits(const void *a, const void *b, void *ctx)
{
	const struct causality *c = ctx;
	const struct causality_wait *x = &c->waits[*(const size_t *)a];
	const struct causality_wait *y = &c->waits[*(const size_t *)b];

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->task < y->task ? -1 : x->task > y->task;
}

static int compare_arrows(const void *a, const void *b, void *ctx)
{
	const struct causality *c = ctx;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;

	if (c->arrows[i].from != c->arrows[k].from)
		return c->arrows[i].from < c->arrows[k].from ? -1 : 1;
	return i < k ? -1 : i > k;
}

/* Sorts the waits and arrows that reach into the chosen steps by where they begin. */
static int sort_causality(struct perfetto *p)
{
	p->waits = calloc(p->causality.nr_waits + 1, sizeof(*p->waits));
	p->arrows = calloc(p->causality.nr_arrows + 1, sizeof(*p->arrows));
	if (!p->waits || !p->arrows)
		return -ENOMEM;
	for (size_t i = 0; i < p->causality.nr_waits; i++)
		if (p->causality.waits[i].to >= p->first && p->causality.waits[i].from <= p->end)
			p->waits[p->nr_waits++] = i;
	for (size_t i = 0; i < p->causality.nr_arrows; i++)
		if (p->causality.arrows[i].from >= p->first && p->causality.arrows[i].to < p->end)
			p->arrows[p->nr_arrows++] = i;
	qsort_r(p->waits, p->nr_waits, sizeof(*p->waits), compare_waits, &p->causality);
	qsort_r(p->arrows, p->nr_arrows, sizeof(*p->arrows), compare_arrows, &p->causality);
	return 0;
}

static void put_events(struct perfetto *p)
{
	const struct causality *c = &p->causality;
	size_t wait = 0, begun = 0, ended = 0;

	for (uint64_t i = p->first; i <= p->end; i++) {
		put_notes(p, i);
		while (wait < p->nr_waits && c->waits[p->waits[wait]].from <= i)
			put_wait(p, &c->waits[p->waits[wait++]]);
		if (i == p->end)
			break;
		put_step(p, trace_step(p->r->t, i));
		while (ended < c->nr_arrows && c->arrows[ended].to <= i) {
			if (c->arrows[ended].to == i && c->arrows[ended].from >= p->first)
				put_arrow(p, ended, true);
			ended++;
		}
		while (begun < p->nr_arrows && c->arrows[p->arrows[begun]].from <= i)
			put_arrow(p, p->arrows[begun++], false);
	}
}

static void put_other(struct perfetto *p)
{
	const struct trace_header *h = trace_header(p->r->t);
	char words[2048];

	report_outcome_words(p->r, words, sizeof(words));
	fputs("{\"otherData\":{\"time\":\"1 microsecond is 1 step\",\"outcome\":", p->r->out);
	report_json_string(p->r->out, words);
	fputs(",\"command\":", p->r->out);
	report_json_string(p->r->out, h->argv[0] ? h->argv[0] : "");
	fprintf(p->r->out, ",\"first step\":\"%llu\"},\n\"traceEvents\":[\n", (unsigned long long)p->first);
}

int report_perfetto(FILE *out, const struct trace *t, const struct report_options *o)
{
	uint64_t nr = trace_nr_steps(t);
	struct report r;
	struct perfetto p = { .r = &r, .before = "" };
	int ret;

	report_begin(&r, out, t, o);
	p.first = o->first < nr ? o->first : nr;
	p.end = o->last < nr ? o->last + 1 : nr;
	ret = causality_init(&p.causality, t);
	if (!ret)
		ret = number_tasks(&p);
	if (!ret)
		ret = sort_causality(&p);
	if (!ret) {
		put_other(&p);
		for (uint32_t i = 0; i < trace_nr_tasks(t); i++)
			put_track(&p, trace_task_at(t, i));
		put_events(&p);
		fputs("\n]}\n", out);
	}
	causality_release(&p.causality);
	id_map_free(&p.tids);
	texts_release(&p.labels);
	texts_release(&p.places);
	free(p.waits);
	free(p.arrows);
	report_end(&r);
	return ret;
}
