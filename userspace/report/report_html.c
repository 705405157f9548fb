// SPDX-License-Identifier: GPL-2.0-only
/*
 * report_html.c - a trace as a page: the data that userspace/report/html/model.js reads
 *
 * The data are columns of small numbers, and tables into which the numbers point; compressed, a
 * step takes about one byte. The columns are written first and collect the entries of the tables;
 * put_data() shows the order.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "lib/base/shell_word.h"
#include "report/causality.h"
#include "symbols/intern.h"
#include "report/page.h"
#include "report/report_internal.h"
#include "symbols/symbols.h"

#define STEPS_MAX 1000000u	/* the last ones: a browser takes seconds for more */
#define CONTEXT 4		/* source lines before and after a place */
#define EXCERPTS_MAX (4u << 20)	/* bytes of source, before compression */
#define LINE_MAX_BYTES 240

struct html {
	struct report *r;
	const char *path;
	FILE *out;
	uint64_t first, end;	/* the steps that the page has */
	struct intern strings, objects, labels, sites, frames, files, sets;
	struct causality causality;
	size_t excerpts;	/* bytes of source so far */
	bool failed;		/* out of memory */
};

static int number(struct html *h, struct intern *in, const void *key, size_t len)
{
	bool added;
	uint32_t nr = intern_add(in, key, len, &added);

	h->failed |= nr == INTERN_FAILED;
	return nr == INTERN_FAILED ? -1 : (int)nr;
}

static int string(struct html *h, const char *s)
{
	return s ? number(h, &h->strings, s, strlen(s) + 1) : -1;
}

static int clean_string(struct html *h, const char *s)
{
	char buf[2048];

	if (!s)
		return -1;
	report_clean(buf, sizeof(buf), s);
	return string(h, buf);
}

static int object(struct html *h, uint64_t id)
{
	return id ? number(h, &h->objects, &id, sizeof(id)) : -1;
}

/* ---- places ---- */

struct frame_key {
	int function, file;
	uint32_t line, inlined;
};

static int frame(struct html *h, const struct trace_frame *f)
{
	struct frame_key key = { -1, -1, f->line, f->inlined };
	char function[256];

	if (f->function) {
		symbols_brief(f->function, function, sizeof(function));
		key.function = clean_string(h, function);
	}
	if (f->file)
		key.file = number(h, &h->files, f->file, strlen(f->file) + 1);
	return number(h, &h->frames, &key, sizeof(key));
}

/* ---- what a step does ---- */

enum op_class { CLASS_OTHER, CLASS_ACQUIRE, CLASS_RELEASE, CLASS_DATA, CLASS_TASK, CLASS_SYSCALL };

static enum op_class class_of(const struct zug_label *l)
{
	unsigned int flags = l->flags | zug_op_flags(l->op);

	if (l->op >= ZUG_OP_LOCK && l->op < ZUG_OP_CREATE)
		return flags & ZUG_L_ACQUIRE || !(flags & ZUG_L_RELEASE) ? CLASS_ACQUIRE : CLASS_RELEASE;
	if ((l->op >= ZUG_OP_CREATE && l->op < ZUG_OP_DATA_READ) || l->op == ZUG_OP_BEGIN ||
	    l->op == ZUG_OP_END)
		return CLASS_TASK;
	if (l->op >= ZUG_OP_DATA_READ && l->op < ZUG_OP_OPEN)
		return CLASS_DATA;
	return l->op >= ZUG_OP_OPEN ? CLASS_SYSCALL : CLASS_OTHER;
}

struct label_key {
	int op, class, object, object2, site;
};

static int label(struct html *h, const struct zug_label *what)
{
	const struct zug_label told = report_told(h->r, what), *l = &told;
	struct label_key key = {
		.op = string(h, zug_label_name(l)), .class = class_of(l),
		.object = object(h, l->object), .object2 = object(h, l->object2),
		.site = l->site ? number(h, &h->sites, &l->site, sizeof(l->site)) : -1,
	};

	return number(h, &h->labels, &key, sizeof(key));
}

/* ---- columns ---- */

static void begin_column(struct html *h, const char *before, const char *name)
{
	fprintf(h->out, "%s\"%s\":[", before, name);
}

static void put_steps(struct html *h)
{
	const struct trace *t = h->r->t;

	fputs("\"steps\":{", h->out);
	begin_column(h, "", "task");
	for (uint64_t i = h->first; i < h->end; i++)
		fprintf(h->out, i == h->first ? "%u" : ",%u", trace_step(t, i)->task);
	begin_column(h, "],\n", "label");
	for (uint64_t i = h->first; i < h->end; i++)
		fprintf(h->out, i == h->first ? "%d" : ",%d", label(h, &trace_step(t, i)->label));
	begin_column(h, "],\n", "set");
	for (uint64_t i = h->first; i < h->end; i++) {
		const uint32_t *set = trace_step(t, i)->enabled;

		/* a trace that was read keeps equal sets in one array */
		fprintf(h->out, i == h->first ? "%d" : ",%d", number(h, &h->sets, &set, sizeof(set)));
	}
	begin_column(h, "],\n", "flags");
	for (uint64_t i = h->first; i < h->end; i++)
		fprintf(h->out, i == h->first ? "%u" : ",%u", trace_step(t, i)->flags);
	fputs("]},\n", h->out);
}

static void put_notes(struct html *h)
{
	const char *before = "";

	fputs("\"notes\":[", h->out);
	for (uint64_t i = h->first; i <= h->end; i++)
		for (uint32_t k = 0, n = trace_nr_notes(h->r->t, i); k < n; k++) {
			const struct trace_note *note = trace_note_at(h->r->t, i, k);

			if (trace_note_tells(note))
				continue;
			fprintf(h->out, "%s[%llu,%u,%d,%d,%d,%d]", before, (unsigned long long)(i - h->first), note->kind,
				(int)note->task, (int)note->arg,
				object(h, note->kind == TRACE_NOTE_EARLY ? 0 : note->object), clean_string(h, note->text));
			before = ",\n";
		}
	fputs("],\n", h->out);
}

/*
 * Prints the waits and arrows that reach into the page's steps; positions are relative to the first
 * step.
 */
static void put_causality(struct html *h)
{
	const char *before = "";

	fputs("\"waits\":[", h->out);
	for (size_t i = 0; i < h->causality.nr_waits; i++) {
		const struct causality_wait *w = &h->causality.waits[i];

		if (w->to < h->first || w->from > h->end)
			continue;
		fprintf(h->out, "%s[%u,%lld,%llu,%d,%d,%d]", before, w->task,
			(long long)(w->from - h->first), (unsigned long long)(w->to - h->first),
			object(h, w->object), (int)w->holder, clean_string(h, w->text));
		before = ",\n";
	}
	fputs("],\n\"arrows\":[", h->out);
	before = "";
	for (size_t i = 0; i < h->causality.nr_arrows; i++) {
		const struct causality_arrow *a = &h->causality.arrows[i];

		if (a->from < h->first || a->to >= h->end)
			continue;
		fprintf(h->out, "%s%llu,%llu,%d", before, (unsigned long long)(a->from - h->first),
			(unsigned long long)(a->to - h->first), a->kind);
		before = ",\n";
	}
	fputs("],\n", h->out);
}

/* ---- tables ---- */

static void put_tasks(struct html *h)
{
	fputs("\"tasks\":[", h->out);
	for (uint32_t i = 0; i < trace_nr_tasks(h->r->t); i++) {
		const struct trace_task *t = trace_task_at(h->r->t, i);

		fprintf(h->out, "%s[%u,%d,%u,%d,%d]", i ? "," : "", t->task, (int)t->parent, t->pid,
			(int)t->process, clean_string(h, t->comm));
	}
	fputs("],\n\"stacks\":[", h->out);
	for (uint32_t i = 0; i < trace_nr_stacks(h->r->t); i++) {
		const struct trace_stack *s = trace_stack_at(h->r->t, i);

		fprintf(h->out, "%s[%u,%d,[", i ? "," : "", s->task, clean_string(h, s->state));
		for (uint32_t k = 0; k < s->nr_frames; k++)
			fprintf(h->out, "%s%d", k ? "," : "", frame(h, &s->frames[k]));
		fputs("]]", h->out);
	}
	fputs("],\n", h->out);
}

static void put_labels(struct html *h)
{
	fputs("\"labels\":[", h->out);
	for (uint32_t i = 0; i < h->labels.nr; i++) {
		const struct label_key *k = intern_key(&h->labels, i);

		fprintf(h->out, "%s[%d,%d,%d,%d,%d]", i ? "," : "", k->op, k->class, k->object,
			k->object2, k->site);
	}
	fputs("],\n\"objects\":[", h->out);
	for (uint32_t i = 0; i < h->objects.nr; i++) {
		uint64_t id = *(const uint64_t *)intern_key(&h->objects, i);
		const struct trace_object *o = trace_object(h->r->t, id);
		char name[512];

		report_object_name(h->r, id, name, sizeof(name));
		fprintf(h->out, "%s[%d,%d]", i ? "," : "", clean_string(h, o ? o->kind : ""),
			string(h, name));
	}
	fputs("],\n", h->out);
}

static void put_sets(struct html *h)
{
	/* the length of a set is in the first step that has it */
	const char *before = "";
	uint32_t done = 0;

	fputs("\"sets\":[", h->out);
	for (uint64_t i = h->first; i < h->end && done < h->sets.nr; i++) {
		const struct trace_step *s = trace_step(h->r->t, i);

		if (s->enabled != *(const uint32_t *const *)intern_key(&h->sets, done))
			continue;
		fprintf(h->out, "%s[", before);
		for (uint32_t k = 0; k < s->nr_enabled; k++)
			fprintf(h->out, "%s%u", k ? "," : "", s->enabled[k]);
		putc(']', h->out);
		before = ",";
		done++;
	}
	fputs("],\n", h->out);
}

static void put_sites(struct html *h)
{
	fputs("\"sites\":[", h->out);
	for (uint32_t i = 0; i < h->sites.nr; i++) {
		uint64_t id = *(const uint64_t *)intern_key(&h->sites, i);
		const struct trace_frame *frames;
		uint32_t nr = report_frames(h->r, id, &frames);
		char raw[600];

		report_site(h->r, id, raw, sizeof(raw));
		fprintf(h->out, "%s[%d", i ? "," : "", string(h, raw));
		for (uint32_t k = 0; k < nr; k++)
			fprintf(h->out, ",%d", frame(h, &frames[k]));
		putc(']', h->out);
	}
	fputs("],\n\"frames\":[", h->out);
	for (uint32_t i = 0; i < h->frames.nr; i++) {
		const struct frame_key *k = intern_key(&h->frames, i);

		fprintf(h->out, "%s[%d,%d,%u,%u]", i ? "," : "", k->function, k->file, k->line,
			k->inlined);
	}
	fputs("],\n", h->out);
}

/* ---- source ---- */

static void put_excerpt(struct html *h, uint32_t file, const char *text)
{
	const char *before = "", *p = text;
	uint32_t nr_lines = 1;
	bool *wanted;

	for (const char *q = text; *q; q++)
		nr_lines += *q == '\n' && q[1];
	wanted = calloc(nr_lines + 1, sizeof(*wanted));
	if (!wanted) {
		h->failed = true;
		return;
	}
	for (uint32_t i = 0; i < h->frames.nr; i++) {
		const struct frame_key *k = intern_key(&h->frames, i);

		if (k->file != (int)file || !k->line)
			continue;
		for (uint32_t l = k->line > CONTEXT ? k->line - CONTEXT : 1;
		     l <= k->line + CONTEXT && l <= nr_lines; l++)
			wanted[l] = true;
	}
	for (uint32_t line = 1; line <= nr_lines && h->excerpts < EXCERPTS_MAX; line++) {
		size_t n = strcspn(p, "\n");

		if (wanted[line]) {
			char raw[LINE_MAX_BYTES + 4], clean[4 * LINE_MAX_BYTES + 32];
			size_t at = 0;

			/* tabs as in the text reports */
			for (size_t i = 0; i < n && at + 4 < sizeof(raw); i++)
				at += snprintf(raw + at, sizeof(raw) - at, p[i] == '\t' ? "    " : "%c", p[i]);
			raw[at] = '\0';
			report_clean(clean, sizeof(clean), raw);
			fprintf(h->out, "%s\"%u\":", before, line);
			report_json_string(h->out, clean);
			h->excerpts += n;
			before = ",";
		}
		p += n + (p[n] == '\n');
	}
	free(wanted);
}

/* True when the source was written after the trace, so that its lines may have moved since. */
static bool is_younger(const struct html *h, const char *source)
{
	struct stat a, b;

	return !stat(source, &a) && !stat(h->path, &b) && a.st_mtime > b.st_mtime;
}

/*
 * [name to show, path that was tried ("": it is no file), {line: text} or null: not found, 1:
 * younger than the trace]
 */
static void put_files(struct html *h)
{
	fputs("\"files\":[", h->out);
	for (uint32_t i = 0; i < h->files.nr; i++) {
		const char *file = intern_key(&h->files, i), *text;
		char path[4096], clean[4200];

		text = symbols_is_source(file) ?
		       report_source(h->r, report_source_path(h->r, file, path, sizeof(path))) : NULL;
		fputs(i ? ",\n[" : "\n[", h->out);
		report_clean(clean, sizeof(clean), report_short_file(h->r, file));
		report_json_string(h->out, clean);
		putc(',', h->out);
		/*
		 * a library's path is relative to the folder where it was built, which is unknown
		 */
		report_clean(clean, sizeof(clean), !symbols_is_source(file) ? "" :
			     !text && symbols_of_library(file) ? file : path);
		report_json_string(h->out, clean);
		if (text) {
			fputs(",{", h->out);
			put_excerpt(h, i, text);
			fprintf(h->out, "},%d]", is_younger(h, path));
		} else {
			fputs(",null,0]", h->out);
		}
	}
	fputs("],\n\"strings\":[", h->out);
	for (uint32_t i = 0; i < h->strings.nr; i++) {
		fputs(i ? ",\n" : "\n", h->out);
		report_json_string(h->out, intern_key(&h->strings, i));
	}
	fputs("]}\n", h->out);
}

/* ---- head ---- */

static void put_field(struct html *h, const char *name, const char *value)
{
	char clean[4096];

	fprintf(h->out, "\"%s\":", name);
	if (value)
		report_clean(clean, sizeof(clean), value);
	report_json_string(h->out, value ? clean : NULL);
	fputs(",\n", h->out);
}

/* To be freed; NULL: out of memory. */
static char *command_line(const struct trace_header *head)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	for (char *const *a = head->argv; *a; a++) {
		if (a != head->argv)
			putc(' ', f);
		shell_word_put(f, *a);
	}
	if (fclose(f)) {
		free(text);
		text = NULL;
	}
	return text;
}

static void put_lines(struct html *h, const char *text)
{
	char *copy = NULL;
	size_t len;
	FILE *f = text ? open_memstream(&copy, &len) : NULL;

	if (f) {
		report_put(f, text, true);
		fclose(f);
	}
	report_json_string(h->out, copy);
	free(copy);
}

static void put_head(struct html *h)
{
	const struct trace_header *head = trace_header(h->r->t);
	const struct trace_outcome *o = trace_outcome(h->r->t);
	char words[2048], cycle[1024], *command = command_line(head);

	fputs("{\"version\":1,\n", h->out);
	put_field(h, "trace", h->path);
	put_field(h, "command", command ? command : "?");
	free(command);
	put_field(h, "cwd", head->cwd);
	put_field(h, "strategy", head->strategy);
	put_field(h, "kernel", head->kernel);
	put_field(h, "zug", head->zug_version);
	fprintf(h->out, "\"seed\":\"%llu\",\"execution\":\"%llu\",\"first\":%llu,\"total\":%llu,"
		"\"truncated\":%s,\n", (unsigned long long)head->seed,
		(unsigned long long)head->execution, (unsigned long long)h->first,
		(unsigned long long)trace_nr_steps(h->r->t),
		trace_truncated(h->r->t) ? "true" : "false");
	if (!o) {
		fputs("\"outcome\":null,\n", h->out);
		return;
	}
	report_outcome_words(h->r, words, sizeof(words));
	fprintf(h->out, "\"outcome\":{\"kind\":\"%s\",\"finding\":%s,\"ungranted\":%llu,\n",
		zug_outcome_name(o->kind), zug_outcome_is_finding(o->kind) ? "true" : "false",
		(unsigned long long)o->ungranted);
	put_field(h, "words", words);
	if ((o->kind == ZUG_OUTCOME_DEADLOCK || o->kind == ZUG_OUTCOME_LOCK_CYCLE) &&
	    report_wait_cycle(h->r, cycle, sizeof(cycle)))
		put_field(h, "cycle", cycle);
	fputs("\"output\":[", h->out);
	put_lines(h, o->out_head);
	putc(',', h->out);
	put_lines(h, o->out_tail);
	putc(',', h->out);
	put_lines(h, o->err_head);
	putc(',', h->out);
	put_lines(h, o->err_tail);
	fputs("]},\n", h->out);
}

/* [task, its place among the page's steps (-1: not among them), label] */
static void put_operation(struct html *h, uint32_t task, uint64_t step, const struct zug_label *l)
{
	long long at = step == UINT64_MAX || step < h->first || step >= h->end ? -1 : (long long)(step - h->first);

	fprintf(h->out, "[%u,%lld,%d]", task, at, label(h, l));
}

/* The two operations whose order decides: [alone, first, second]; alone is null: an update that the second came into. */
static void put_critical(struct html *h)
{
	const struct trace_minimized *m = trace_minimized(h->r->t);

	if (!m || !(m->critical.known || m->critical.torn)) {
		fputs("\"critical\":null,\n", h->out);
		return;
	}
	fprintf(h->out, "\"critical\":[%s,", m->critical.torn ? "null" : m->critical.alone ? "true" : "false");
	put_operation(h, m->critical.first_task, m->critical.first_step, &m->critical.first);
	putc(',', h->out);
	put_operation(h, m->critical.second_task, m->critical.second_step, &m->critical.second);
	fputs("],\n", h->out);
}

static int put_data(FILE *json, void *ctx)
{
	struct html *h = ctx;

	h->out = json;
	put_head(h);
	put_critical(h);
	put_steps(h);
	put_notes(h);
	put_causality(h);
	put_tasks(h);
	put_labels(h);
	put_sets(h);
	put_sites(h);
	put_files(h);
	return h->failed ? -ENOMEM : 0;
}

int report_html(FILE *out, const struct trace *t, const struct report_options *o, const char *path)
{
	char words[2048], title[2300];
	uint64_t nr = trace_nr_steps(t);
	struct report r;
	struct html h = { .r = &r, .path = path };
	int ret;

	report_begin(&r, out, t, o);
	h.first = o->first < nr ? o->first : nr;
	h.end = o->last < nr ? o->last + 1 : nr;
	if (h.end - h.first > STEPS_MAX)
		h.first = h.end - STEPS_MAX;
	report_outcome_words(&r, words, sizeof(words));
	snprintf(title, sizeof(title), "%s - %.200s", trace_outcome(t) ?
		 zug_outcome_name(trace_outcome(t)->kind) : "cut off", trace_header(t)->argv[0] ?
		 trace_header(t)->argv[0] : "?");
	ret = causality_init(&h.causality, t);
	if (!ret)
		ret = page_write(out, PAGE_TRACE, title, words, put_data, &h);
	causality_release(&h.causality);
	intern_release(&h.strings);
	intern_release(&h.objects);
	intern_release(&h.labels);
	intern_release(&h.sites);
	intern_release(&h.frames);
	intern_release(&h.files);
	intern_release(&h.sets);
	report_end(&r);
	return ret;
}
