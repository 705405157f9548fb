// SPDX-License-Identifier: GPL-2.0-only
/*
 * report_text.c - what all reports print: names of tasks and objects, places, source lines
 *
 * Names and texts of the program under test go through report_put() or report_clean(), which make
 * control characters visible. report_site() prints a place: from the trace, or from the program's
 * files where the trace has no names (look_up()) and the files are still the same build.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/base/array.h"
#include "lib/base/installed.h"
#include "lib/base/shell_word.h"
#include "report/report_internal.h"
#include "symbols/symbols.h"

#define FRAMES_MAX 16
#define SOURCE_MAX (8u << 20)

struct resolved_site {
	uint32_t nr;
	struct trace_frame *frames;	/* NULL: no names are known */
};

void report_begin(struct report *r, FILE *out, const struct trace *t,
		  const struct report_options *o)
{
	*r = (struct report){ .out = out, .t = t, .o = o };
}

void report_end(struct report *r)
{
	for (size_t i = 0; i < r->nr_sites; i++)
		free(r->sites[i].frames);
	free(r->sites);
	id_map_free(&r->site_numbers);
	free(r->source_path);
	free(r->source);
	free(r->missing);
	free(r->changed);
	id_map_free(&r->stale);
	id_map_free(&r->users);
	id_map_free(&r->written);
	report_forget_names(r);
}

const char *report_style(const struct report *r, enum report_style style)
{
	static const char *const codes[] = {
		[STYLE_PLAIN] = "\033[0m", [STYLE_STRONG] = "\033[1m", [STYLE_DIM] = "\033[2m",
		[STYLE_ALARM] = "\033[1;31m", [STYLE_GOOD] = "\033[32m",
	};

	return r->o->colour ? codes[style] : "";
}

const char *report_task_style(const struct report *r, uint32_t task)
{
	static const char *const codes[] = {
		"\033[36m", "\033[33m", "\033[35m", "\033[32m", "\033[34m", "\033[31m",
	};

	return r->o->colour ? codes[task % (sizeof(codes) / sizeof(*codes))] : "";
}

void report_put(FILE *out, const char *s, bool lines)
{
	for (const unsigned char *p = (const unsigned char *)s; *p;) {
		int n = control_bytes(p);

		if (!n || (lines && (*p == '\n' || *p == '\t'))) {
			putc(*p++, out);
			continue;
		}
		while (n--)
			fprintf(out, "\\x%02x", *p++);
	}
}

void report_clean(char *buf, size_t len, const char *s)
{
	size_t at = 0;

	for (const unsigned char *p = (const unsigned char *)s; *p && at + 9 < len;) {
		int n = control_bytes(p);

		if (!n)
			buf[at++] = *p++;
		while (n--)
			at += snprintf(buf + at, len - at, "\\x%02x", *p++);
	}
	if (len)
		buf[at] = '\0';
}

const char *report_task_name(uint32_t task, char *buf, size_t len)
{
	if (task == TRACE_NO_TASK)
		snprintf(buf, len, "outside");
	else
		snprintf(buf, len, "T%u", task);
	return buf;
}

void report_object_name(const struct report *r, uint64_t object, char *buf, size_t len)
{
	const struct trace_object *o = trace_object(r->t, object);
	const char *alias = report_alias(r, object);

	if (alias)
		report_clean(buf, len, alias);
	else if (o && o->name[0])
		report_clean(buf, len, o->name);
	else if (o && o->kind[0])
		report_clean(buf, len, o->kind);
	else
		snprintf(buf, len, "#%llx", (unsigned long long)object);
}

/* "*counter" for what only its use identifies, where the source says it. */
static void put_source_name(const struct report *r, const struct zug_label *l, char *buf, size_t len)
{
	const struct trace_site *s = zug_object_is_numbered(l->object) ? trace_site(r->t, l->site) : NULL;
	char name[128], object[128];

	if (!s || !s->data)
		return;
	report_clean(name, sizeof(name), s->data);
	snprintf(object, sizeof(object), "%.*s", (int)sizeof(object) - 1, buf);
	snprintf(buf, len, "%s, %s", name, object);
}

struct zug_label report_told(struct report *r, const struct zug_label *l)
{
	struct zug_label told = *l;

	if ((zug_op_has_buffer(l->op) || l->op == ZUG_OP_RESUME) && l->object2 && report_is_private(r, l->object2))
		told.object2 = 0;
	if (!zug_op_is_data(l->op) || !l->object || !l->object2 || l->flags & ZUG_L_PART ||
	    !report_is_private(r, l->object) || report_is_private(r, l->object2))
		return told;
	told.object = l->object2;
	told.object2 = 0;
	if (l->flags & ZUG_L_COPIES)
		told.op = ZUG_OP_DATA_READ;
	return told;
}

/* An atomic instruction of Go's locks, which are inlined into the program's functions, is told as "sync.(*Mutex).Lock". */
static const char *operation(struct report *r, const struct zug_label *l, char *buf, size_t len)
{
	const struct trace_frame *frames;
	const char *call = NULL;
	uint32_t nr;

	if (l->op != ZUG_OP_ATOMIC_LOAD && l->op != ZUG_OP_ATOMIC_STORE && l->op != ZUG_OP_ATOMIC_RMW)
		return zug_label_name(l);
	nr = report_frames(r, l->site, &frames);
	for (uint32_t i = 0; i < nr && frames[i].function && frames[i].file && symbols_of_language(frames[i].file); i++)
		if (!strncmp(frames[i].function, "sync.(*", 7))
			call = frames[i].function;
	if (!call)
		return zug_label_name(l);
	report_clean(buf, len, call);
	return buf;
}

/* What strcpy() and its kin copy to where other tasks look, and no other task looks at itself. */
static bool is_own_buffer(struct report *r, const struct zug_label *l)
{
	return zug_op_is_data(l->op) && report_is_private(r, l->object2) && !report_is_private(r, l->object);
}

/* A numbered object of another execution, which has another number here, if any: the explanation says so by ~. */
static bool is_elsewhere(const struct report *r, uint64_t object)
{
	return zug_object_is_numbered(~object) && !trace_object(r->t, object) && !report_alias(r, object);
}

/* It depends on whether a process has ended; the signal that this sends to its parent is not what a reader looks for. */
static bool is_look(const struct zug_label *l)
{
	return (l->op == ZUG_OP_KILL && !(l->flags & ZUG_L_WRITE)) || l->op == ZUG_OP_PDEATHSIG;
}

void report_label(struct report *r, const struct zug_label *label, char *buf, size_t len)
{
	const struct zug_label told = report_told(r, label), *l = &told;
	const struct trace_object *o = trace_object(r->t, l->object);
	char a[300], b[256], op[128];

	a[0] = b[0] = '\0';
	/* a process that ends: the signal that it sends, where its parent notices that */
	if (l->op == ZUG_OP_END && o && !strcmp(o->kind, "signal"))
		report_object_name(r, l->object, b, sizeof(b));
	/* whether a process has ended, and its parent knows */
	else if (is_look(l) && l->object2)
		report_object_name(r, l->object2, a, sizeof(a));
	else if (l->object && l->op != ZUG_OP_END && !is_elsewhere(r, l->object))
		report_object_name(r, l->object, a, sizeof(a));
	/* the source's name is that of the first of two */
	if (l->object == label->object)
		put_source_name(r, l, a, sizeof(a));
	if (l->object2 && !(l->flags & ZUG_L_PART) && !is_own_buffer(r, l) && !is_elsewhere(r, l->object2) &&
	    !is_look(l))
		report_object_name(r, l->object2, b, sizeof(b));
	snprintf(buf, len, "%s%s%s%s%s%s%s", operation(r, l, op, sizeof(op)), a[0] ? " " : "", a, b[0] ? " (" : "",
		 b, b[0] ? ")" : "", l->flags & ZUG_L_TIMER ? " after a timer fires" : "");
}

/* ---- places ---- */

static void tell_stale(struct report *r, const struct trace_module *m)
{
	bool added;

	if (!id_map_add(&r->stale, m->module, 0, &added) || !added)
		return;
	fprintf(stderr, "zug: ");
	report_put(stderr, m->path, false);
	fprintf(stderr, " was rebuilt since the trace was recorded (other build-id): its places are shown "
		"as offsets\n");
}

static uint32_t look_up(struct report *r, const struct trace_site *s, struct trace_frame *frames)
{
	const struct trace_module *m = trace_module(r->t, s->module);
	struct symfile *f;
	char err[256];
	int nr;

	if (!m || !m->path[0] || !r->o->symbols)
		return 0;
	f = symbols_file(r->o->symbols, m->path, NULL, err, sizeof(err));
	if (!f)
		return 0;
	if (m->build_id[0] && strcmp(m->build_id, symfile_build_id(f))) {
		tell_stale(r, m);
		return 0;
	}
	nr = symfile_frames(f, s->offset, frames, FRAMES_MAX);
	return nr > 0 ? nr : 0;
}

uint32_t report_frames(struct report *r, uint64_t site, const struct trace_frame **frames)
{
	const struct trace_site *s = trace_site(r->t, site);
	struct trace_frame found[FRAMES_MAX];
	struct resolved_site *new;
	uint32_t *number;
	bool added;

	*frames = NULL;
	if (!s)
		return 0;
	if (s->nr_frames) {
		*frames = s->frames;
		return s->nr_frames;
	}
	if (!ARRAY_RESERVE(r->sites, r->sites_room, r->nr_sites + 1))
		return 0;
	number = id_map_add(&r->site_numbers, site, r->nr_sites, &added);
	if (!number)
		return 0;
	if (added) {
		new = &r->sites[r->nr_sites++];
		new->nr = look_up(r, s, found);
		new->frames = calloc(new->nr, sizeof(*found));
		if (!new->frames)
			new->nr = 0;
		else
			memcpy(new->frames, found, new->nr * sizeof(*found));
	}
	*frames = r->sites[*number].frames;
	return r->sites[*number].nr;
}

/* The path below the test's working folder, else the last component. */
const char *report_short_file(const struct report *r, const char *file)
{
	const char *cwd = trace_header(r->t)->cwd, *slash = strrchr(file, '/');
	size_t n = strlen(cwd);

	while (!strncmp(file, "./", 2))
		file += 2;
	if (n > 1 && !strncmp(file, cwd, n) && file[n] == '/')
		return file + n + 1;
	return file[0] == '/' && slash ? slash + 1 : file;
}

void report_frame(const struct report *r, const struct trace_frame *f, char *buf, size_t len)
{
	char function[256] = "", raw[512] = "", file[256] = "";

	if (f->function) {
		symbols_brief(f->function, raw, sizeof(raw));
		report_clean(function, sizeof(function), raw);
	}
	if (f->file)
		report_clean(file, sizeof(file), report_short_file(r, f->file));
	if (file[0] && f->line)
		snprintf(buf, len, "%s%s%s:%u", function, function[0] ? " " : "", file, f->line);
	else
		snprintf(buf, len, "%s%s%s", function, function[0] && file[0] ? " " : "", file);
}

/* A frame behind another one: the file of both is told once. */
static void caller(const struct report *r, const struct trace_frame *f, const struct trace_frame *before, char *buf,
		   size_t len)
{
	char line[16];

	report_frame(r, f, buf, len);
	if (!f->function || !f->file || !f->line || !before->file || strcmp(f->file, before->file))
		return;
	report_frame(r, &(struct trace_frame){ .function = f->function }, buf, len);
	snprintf(line, sizeof(line), " :%u", f->line);
	strncat(buf, line, len - strlen(buf) - 1);
}

void report_site(struct report *r, uint64_t site, char *buf, size_t len)
{
	const struct trace_frame *frames, *main, *told;
	uint32_t nr = report_frames(r, site, &frames);
	const struct trace_module *m;
	const struct trace_site *s;
	char path[256];
	bool inner = false;
	size_t at;

	if (len)
		buf[0] = '\0';
	if (nr) {
		main = told = report_main_frame(frames, nr);
		report_frame(r, main, buf, len);
		for (uint32_t i = main - frames + 1; i < nr && frames[i - 1].inlined; i++) {
			if (frames[i].file && symbols_of_library(frames[i].file))
				continue;
			at = strlen(buf);
			if (at + 8 > len)
				return;
			at += snprintf(buf + at, len - at, inner ? ", in " : " (in ");
			caller(r, &frames[i], told, buf + at, len - at);
			told = &frames[i];
			inner = true;
		}
		at = strlen(buf);
		if (inner && at + 2 <= len)
			strcpy(buf + at, ")");
		return;
	}
	s = trace_site(r->t, site);
	if (!s)
		return;
	m = trace_module(r->t, s->module);
	if (m)
		report_clean(path, sizeof(path), strrchr(m->path, '/') ? strrchr(m->path, '/') + 1 :
			     m->path);
	snprintf(buf, len, "%s%s0x%llx", m ? path : "", m ? "+" : "", (unsigned long long)s->offset);
}

/* ---- source lines ---- */

static void compiled_path(const struct report *r, const char *file, char *buf, size_t len)
{
	if (file[0] == '/')
		snprintf(buf, len, "%s", file);
	else
		snprintf(buf, len, "%s/%s", trace_header(r->t)->cwd, file);
}

/*
 * Where the source was compiled; or, as debuggers look for it, below the test's working folder or the
 * current one by the end of its path: /build/src/x.c, src/x.c, x.c.
 */
/* True when the file lies in a folder, or below it, once all links are followed. */
static bool lies_below(const char *path, const char *folder)
{
	char file[PATH_MAX], top[PATH_MAX];
	size_t n;

	if (!realpath(path, file) || !realpath(folder, top))
		return false;
	n = strlen(top);
	return !strncmp(file, top, n) && (file[n] == '/' || n == 1);
}

/* The source may be shown: a foreign trace must not make its reader print any file. */
static bool may_show(const struct report *r, const char *path)
{
	if (access(path, R_OK))
		return false;
	if (!r->o->foreign || lies_below(path, "."))
		return true;
	for (char **s = r->o->sources; s && *s; s++)
		if (lies_below(path, *s))
			return true;
	return false;
}

/* Looks for the end of a path in a folder. */
static bool find_below(const struct report *r, const char *folder, const char *file, char *buf, size_t len)
{
	for (const char *end = file + (file[0] == '/'); end; end = strchr(end, '/') ? strchr(end, '/') + 1 : NULL) {
		if (!strncmp(end, "../", 3))
			continue;
		snprintf(buf, len, "%s/%s", folder, end);
		if (may_show(r, buf))
			return true;
	}
	return false;
}

const char *report_source_path(const struct report *r, const char *file, char *buf, size_t len)
{
	compiled_path(r, file, buf, len);
	if (may_show(r, buf))
		return buf;
	for (char **s = r->o->sources; s && *s; s++)
		if (find_below(r, *s, file, buf, len))
			return buf;
	if (find_below(r, trace_header(r->t)->cwd ? trace_header(r->t)->cwd : ".", file, buf, len) ||
	    find_below(r, ".", file, buf, len))
		return buf;
	compiled_path(r, file, buf, len);
	return buf;
}

const char *report_source(struct report *r, const char *path)
{
	struct stat st;
	FILE *f;

	if (r->source_path && !strcmp(r->source_path, path))
		return r->source;
	free(r->source_path);
	free(r->source);
	r->source = NULL;
	r->source_path = strdup(path);
	if (!r->source_path || !may_show(r, path) || stat(path, &st) || !S_ISREG(st.st_mode) || st.st_size > SOURCE_MAX)
		return NULL;
	f = fopen(path, "re");
	if (!f)
		return NULL;
	r->source = malloc(st.st_size + 1);
	if (r->source)
		r->source[fread(r->source, 1, st.st_size, f)] = '\0';
	fclose(f);
	return r->source;
}

bool report_source_line(struct report *r, const struct trace_frame *f, int indent)
{
	char path[4096], text[512];
	const char *p;
	size_t n;

	if (!f->file || !f->line)
		return false;
	p = report_source(r, report_source_path(r, f->file, path, sizeof(path)));
	if (!p)
		return false;
	for (uint32_t line = 1; p && line < f->line; line++) {
		p = strchr(p, '\n');
		if (p)
			p++;
	}
	if (!p || !*p)
		return false;
	n = strcspn(p, "\n");
	snprintf(text, sizeof(text), "%.*s", (int)(n < sizeof(text) ? n : sizeof(text) - 1), p);
	fprintf(r->out, "%*s%s%5u |%s ", indent, "", report_style(r, STYLE_DIM), f->line,
		report_style(r, STYLE_PLAIN));
	for (p = text; *p; p++)
		if (*p == '\t')
			fputs("    ", r->out);
		else if ((unsigned char)*p >= ' ')
			putc(*p, r->out);
	putc('\n', r->out);
	return true;
}

bool report_is_system_module(const struct trace_module *m)
{
	return !m || path_is_installed(m->path);
}

void report_check_source(struct report *r, uint64_t site, const struct trace_frame *f)
{
	const struct trace_site *s = trace_site(r->t, site);
	const struct trace_module *m = s ? trace_module(r->t, s->module) : NULL;
	struct stat source, built;
	char path[4096];

	/* sources of the system's libraries are not expected to be there */
	if (report_is_system_module(m) || !f->file || !f->line || !symbols_is_source(f->file))
		return;
	report_source_path(r, f->file, path, sizeof(path));
	if (stat(path, &source)) {
		if (!r->missing)
			r->missing = strdup(path);
	} else if (!stat(m->path, &built) && source.st_mtime > built.st_mtime && !r->changed) {
		r->changed = strdup(path);
	}
}

void report_source_notes(const struct report *r)
{
	if (r->missing) {
		fprintf(r->out, "\n%sno source lines: ", report_style(r, STYLE_DIM));
		report_put(r->out, r->missing, false);
		fprintf(r->out, " cannot be read%s\n", report_style(r, STYLE_PLAIN));
	}
	if (r->changed) {
		fprintf(r->out, "\n%s", report_style(r, STYLE_DIM));
		report_put(r->out, r->changed, false);
		fprintf(r->out, " was changed after the program was built: line numbers may be wrong%s\n",
			report_style(r, STYLE_PLAIN));
	}
}

const struct trace_frame *report_main_frame(const struct trace_frame *frames, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		if (frames[i].file && frames[i].line && symbols_is_source(frames[i].file) &&
		    !symbols_of_library(frames[i].file))
			return &frames[i];
	for (uint32_t i = 0; i < nr; i++)
		if (frames[i].file && frames[i].line)
			return &frames[i];
	return nr ? &frames[0] : NULL;
}
