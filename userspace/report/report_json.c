// SPDX-License-Identifier: GPL-2.0-only
/*
 * report_json.c - a trace as one JSON object
 *
 * The object is written piece by piece, because a trace may have millions of steps. report_json()
 * shows the order.
 */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include "symbols/intern.h"
#include "report/json_text.h"
#include "report/report_internal.h"

void report_json_string(FILE *out, const char *s)
{
	struct json_object *o = json_text(s);

	fputs(json_line(o), out);
	json_object_put(o);
}

/* Ids have 64 bits, and most readers of JSON keep only 53 of a number: so they are strings. */
static struct json_object *id(uint64_t v)
{
	char buf[32];

	snprintf(buf, sizeof(buf), "0x%llx", (unsigned long long)v);
	return json_object_new_string(buf);
}

static struct json_object *task_number(uint32_t task)
{
	return task == TRACE_NO_TASK ? NULL : json_object_new_uint64(task);
}

static struct json_object *strings(char *const *v)
{
	struct json_object *a = json_object_new_array();

	for (; *v; v++)
		json_object_array_add(a, json_text(*v));
	return a;
}

static struct json_object *frames_array(const struct trace_frame *f, uint32_t nr)
{
	struct json_object *a = json_object_new_array();

	for (uint32_t i = 0; i < nr; i++) {
		struct json_object *o = json_object_new_object();

		json_object_object_add(o, "function", json_text(f[i].function));
		json_object_object_add(o, "file", json_text(f[i].file));
		json_object_object_add(o, "line",
				       f[i].line ? json_object_new_uint64(f[i].line) : NULL);
		json_object_object_add(o, "inlined", json_object_new_boolean(f[i].inlined));
		json_object_array_add(a, o);
	}
	return a;
}

static void put(struct report *r, const char *before, struct json_object *o)
{
	fprintf(r->out, "%s%s", before, json_line(o));
	json_object_put(o);
}

static void put_header(struct report *r)
{
	const struct trace_header *h = trace_header(r->t);
	struct json_object *o = json_object_new_object(), *options;

	options = h->options[0] ? json_tokener_parse(h->options) : NULL;
	json_object_object_add(o, "argv", strings(h->argv));
	json_object_object_add(o, "cwd", json_text(h->cwd));
	json_object_object_add(o, "env", strings(h->envp));
	json_object_object_add(o, "kernel", json_text(h->kernel));
	json_object_object_add(o, "zug_version", json_text(h->zug_version));
	json_object_object_add(o, "strategy", json_text(h->strategy));
	json_object_object_add(o, "seed", json_object_new_uint64(h->seed));
	json_object_object_add(o, "execution", json_object_new_uint64(h->execution));
	json_object_object_add(o, "options", options);
	json_object_object_add(o, "copied", json_object_new_boolean(h->copied));
	put(r, "{\"version\":1,\n\"header\":", o);
}

static void put_tasks(struct report *r)
{
	fputs(",\n\"tasks\":[", r->out);
	for (uint32_t i = 0; i < trace_nr_tasks(r->t); i++) {
		const struct trace_task *t = trace_task_at(r->t, i);
		struct json_object *o = json_object_new_object();

		json_object_object_add(o, "task", task_number(t->task));
		json_object_object_add(o, "parent", task_number(t->parent));
		json_object_object_add(o, "nth", json_object_new_uint64(t->nth));
		json_object_object_add(o, "pid", json_object_new_uint64(t->pid));
		json_object_object_add(o, "process", task_number(t->process));
		json_object_object_add(o, "comm", json_text(t->comm));
		put(r, i ? ",\n" : "\n", o);
	}
	fputs("]", r->out);
}

static void add_object(struct report *r, struct json_object *o, const char *name,
		       const char *kind_name, uint64_t object)
{
	const struct trace_object *t = trace_object(r->t, object);

	if (!object)
		return;
	json_object_object_add(o, name, t && t->name[0] ? json_text(t->name) : id(object));
	if (t && t->kind[0])
		json_object_object_add(o, kind_name, json_text(t->kind));
}

static void add_site(struct report *r, struct json_object *o, uint64_t site)
{
	const struct trace_site *s = site ? trace_site(r->t, site) : NULL;
	const struct trace_module *m = s ? trace_module(r->t, s->module) : NULL;
	const struct trace_frame *frames;
	struct json_object *place;
	uint32_t nr;

	if (!site)
		return;
	place = json_object_new_object();
	json_object_object_add(place, "site", id(site));
	if (s)
		json_object_object_add(place, "offset", id(s->offset));
	if (m) {
		json_object_object_add(place, "module", json_text(m->path));
		json_object_object_add(place, "build_id", json_text(m->build_id));
	}
	nr = report_frames(r, site, &frames);
	json_object_object_add(place, "frames", frames_array(frames, nr));
	json_object_object_add(o, "site", place);
}

static struct json_object *note_object(struct report *r, const struct trace_note *n)
{
	static const char *const kinds[] = {
		[TRACE_NOTE_BLOCK] = "block", [TRACE_NOTE_WAKE] = "wake", [TRACE_NOTE_EXIT] = "exit",
		[TRACE_NOTE_EXEC] = "exec", [TRACE_NOTE_MESSAGE] = "message",
		[TRACE_NOTE_SIGNAL] = "signal", [TRACE_NOTE_EARLY] = "early",
		[TRACE_NOTE_CALLER] = "caller", [TRACE_NOTE_GOROUTINE] = "goroutine",
	};
	struct json_object *o = json_object_new_object();
	bool known = n->kind < sizeof(kinds) / sizeof(*kinds) && kinds[n->kind];

	json_object_object_add(o, "note", json_text(known ? kinds[n->kind] : "unknown"));
	json_object_object_add(o, "task", task_number(n->task));
	if (n->kind == TRACE_NOTE_WAKE)
		json_object_object_add(o, "by", task_number(n->arg));
	if (n->kind == TRACE_NOTE_SIGNAL)
		json_object_object_add(o, "signal", json_object_new_int(n->arg));
	if (n->kind == TRACE_NOTE_CALLER)
		json_object_object_add(o, "line", json_object_new_int(n->arg));
	if (n->kind == TRACE_NOTE_GOROUTINE)
		json_object_object_add(o, "number", json_object_new_int(n->arg));
	/* of a timer it is a place */
	if (n->kind != TRACE_NOTE_EARLY)
		add_object(r, o, "object", "kind", n->object);
	if (n->text)
		json_object_object_add(o, "text", json_text(n->text));
	return o;
}

static struct json_object *label_object(struct report *r, const struct zug_label *l)
{
	static const struct {
		uint16_t flag;
		const char *name;
	} flags[] = {
		{ ZUG_L_WRITE, "write" }, { ZUG_L_RELEASE, "release" }, { ZUG_L_ACQUIRE, "acquire" },
		{ ZUG_L_YIELD, "yield" }, { ZUG_L_TIMED, "timed" }, { ZUG_L_COARSE, "coarse" },
		{ ZUG_L_TIMER, "timer" }, { ZUG_L_COPIES, "copies" }, { ZUG_L_FREES, "frees" },
		{ ZUG_L_OWN, "own" },
	};
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "op", json_text(zug_op_name(l->op)));
	add_object(r, o, "object", "kind", l->object);
	add_object(r, o, "object2", "kind2", l->object2);
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		if (l->flags & flags[i].flag)
			json_object_object_add(o, flags[i].name, json_object_new_boolean(true));
	add_site(r, o, l->site);
	return o;
}

/*
 * Prints the members of a label's object, without its braces. Steps repeat few labels: the text of
 * each is made once.
 */
static void put_label(struct report *r, struct texts *texts, const struct zug_label *l)
{
	const char *s = texts_find(texts, l, sizeof(*l));
	struct json_object *o;

	if (s) {
		fputs(s, r->out);
		return;
	}
	o = label_object(r, l);
	s = json_line(o);
	fwrite(s + 1, 1, strlen(s) - 2, r->out);
	texts_add(texts, l, sizeof(*l), s + 1, strlen(s) - 2);
	json_object_put(o);
}

static void put_task_number(struct report *r, const char *before, uint32_t task)
{
	if (task == TRACE_NO_TASK)
		fprintf(r->out, "%snull", before);
	else
		fprintf(r->out, "%s%u", before, task);
}

static void put_step(struct report *r, struct texts *texts, const char *before, const struct trace_step *s)
{
	fprintf(r->out, "%s{\"step\":%llu", before, (unsigned long long)s->step);
	put_task_number(r, ",\"task\":", s->task);
	putc(',', r->out);
	put_label(r, texts, &s->label);
	put_task_number(r, ",\"last\":", s->last);
	fputs(",\"enabled\":[", r->out);
	for (uint32_t i = 0; i < s->nr_enabled; i++)
		put_task_number(r, i ? "," : "", s->enabled[i]);
	putc(']', r->out);
	if (s->flags & TRACE_STEP_PREEMPTION)
		fputs(",\"preemption\":true", r->out);
	if (s->flags & TRACE_STEP_YIELDED)
		fputs(",\"yielded\":true", r->out);
	if (s->flags & TRACE_STEP_LONE)
		fputs(",\"lone\":true", r->out);
	putc('}', r->out);
}

/*
 * Prints the steps and the notes between them, in order. A step has the member "step", a note the
 * member "note".
 */
static void put_steps(struct report *r)
{
	uint64_t nr = trace_nr_steps(r->t);
	struct texts texts = { 0 };
	const char *before = "\n";

	fputs(",\n\"steps\":[", r->out);
	for (uint64_t i = 0; i <= nr; i++) {
		const struct trace_step *s = i < nr ? trace_step(r->t, i) : NULL;

		for (uint32_t k = 0, n = trace_nr_notes(r->t, i); k < n; k++) {
			const struct trace_note *note = trace_note_at(r->t, i, k);

			if (r->o->object || i < r->o->first || (i > r->o->last && i < nr) ||
			    (r->o->task != TRACE_NO_TASK && note->task != r->o->task))
				continue;
			put(r, before, note_object(r, note));
			before = ",\n";
		}
		if (!s || !report_step_chosen(r, s))
			continue;
		put_step(r, &texts, before, s);
		before = ",\n";
	}
	fputs("]", r->out);
	texts_release(&texts);
}

static void put_outcome(struct report *r)
{
	const struct trace_outcome *t = trace_outcome(r->t);
	struct json_object *o;
	char cycle[1024];

	if (!t) {
		fputs(",\n\"outcome\":null", r->out);
		return;
	}
	o = json_object_new_object();
	json_object_object_add(o, "kind", json_text(zug_outcome_name(t->kind)));
	json_object_object_add(o, "finding", json_object_new_boolean(zug_outcome_is_finding(t->kind)));
	json_object_object_add(o, "code", json_object_new_int(t->code));
	json_object_object_add(o, "failure", id(t->failure));
	json_object_object_add(o, "ungranted", json_object_new_uint64(t->ungranted));
	json_object_object_add(o, "wall_ns", json_object_new_uint64(t->wall_ns));
	json_object_object_add(o, "message", json_text(t->message));
	if ((t->kind == ZUG_OUTCOME_DEADLOCK || t->kind == ZUG_OUTCOME_LOCK_CYCLE) &&
	    report_wait_cycle(r, cycle, sizeof(cycle)))
		json_object_object_add(o, "cycle", json_text(cycle));
	json_object_object_add(o, "stdout_head", json_text(t->out_head));
	json_object_object_add(o, "stdout_tail", json_text(t->out_tail));
	json_object_object_add(o, "stderr_head", json_text(t->err_head));
	json_object_object_add(o, "stderr_tail", json_text(t->err_tail));
	put(r, ",\n\"outcome\":", o);
}

static struct json_object *operation_object(struct report *r, uint32_t task, uint64_t step, const struct zug_label *l)
{
	struct json_object *o = label_object(r, l);

	json_object_object_add(o, "task", task_number(task));
	json_object_object_add(o, "step", step == UINT64_MAX ? NULL : json_object_new_uint64(step));
	return o;
}

static void add_pair(struct report *r, struct json_object *to, const struct trace_critical *c)
{
	json_object_object_add(to, "first", operation_object(r, c->first_task, c->first_step, &c->first));
	json_object_object_add(to, "second", operation_object(r, c->second_task, c->second_step, &c->second));
}

/* What minimising came to: the two operations whose order decides. */
static void put_minimized(struct report *r)
{
	const struct trace_minimized *m = trace_minimized(r->t);
	struct json_object *o, *pair, *torn;

	if (!m) {
		fputs(",\n\"minimized\":null", r->out);
		return;
	}
	o = json_object_new_object();
	json_object_object_add(o, "executions", json_object_new_uint64(m->executions));
	json_object_object_add(o, "minimal", json_object_new_boolean(m->minimal));
	json_object_object_add(o, "preemptions", json_object_new_uint64(m->preemptions));
	json_object_object_add(o, "tried_near", json_object_new_uint64(m->near));
	json_object_object_add(o, "failed_alike", json_object_new_uint64(m->alike));
	pair = m->critical.known ? json_object_new_object() : NULL;
	json_object_object_add(o, "critical", pair);
	torn = m->critical.torn ? json_object_new_object() : NULL;
	json_object_object_add(o, "torn", torn);
	if (pair) {
		json_object_object_add(pair, "alone", json_object_new_boolean(m->critical.alone));
		add_pair(r, pair, &m->critical);
	} else if (torn) {
		add_pair(r, torn, &m->critical);
	}
	put(r, ",\n\"minimized\":", o);
}

static void put_stacks(struct report *r)
{
	fputs(",\n\"stacks\":[", r->out);
	for (uint32_t i = 0; i < trace_nr_stacks(r->t); i++) {
		const struct trace_stack *s = trace_stack_at(r->t, i);
		struct json_object *o = json_object_new_object();

		json_object_object_add(o, "task", task_number(s->task));
		json_object_object_add(o, "state", json_text(s->state));
		json_object_object_add(o, "frames", frames_array(s->frames, s->nr_frames));
		put(r, i ? ",\n" : "\n", o);
	}
	fputs("]", r->out);
}

void report_json(FILE *out, const struct trace *t, const struct report_options *o)
{
	struct report r;

	report_begin(&r, out, t, o);
	put_header(&r);
	fprintf(out, ",\n\"truncated\":%s", trace_truncated(t) ? "true" : "false");
	put_tasks(&r);
	put_steps(&r);
	put_outcome(&r);
	put_minimized(&r);
	put_stacks(&r);
	fputs("}\n", out);
	report_end(&r);
}
