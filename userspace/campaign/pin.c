/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From a trace to a script (zug pin). The decisions that differ from the default schedule
 * (search/script.h finds them) become statements 'before T1 at OPERATION on OBJECT in FUNCTION run
 * T2'. pin_write() has the order of a script's parts; find_place() says how a step gets its name,
 * put_statement() how a decision becomes a statement.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "search/script.h"
#include "lib/base/shell_word.h"
#include "lib/version.h"
#include "engine/faults.h"
#include "engine/values.h"
#include "campaign/pin.h"
#include "report/report_internal.h"
#include "campaign/rule_names.h"
#include "campaign/run_options.h"

/* Longer names are cut and made patterns: less than the language takes in a word. */
#define NAME_MAX_BYTES 200
/* The characters that mkstemp() puts for XXXXXX, and those that mktemp(1) appends. */
#define TEMPORARY 6
#define TEMPORARY_OF_SHELL 10

/* A place where a task stands, in the words of the language; "": any. */
struct where {
	int op;				/* -1: any */
	char on[NAME_MAX_BYTES + 8], in[NAME_MAX_BYTES + 8];
	const char *file;		/* of the source; NULL: unknown */
	uint32_t line;
	uint64_t nth;
};

struct pin {
	const struct trace *t;
	struct symbols *symbols;
	const struct id_map *absent;
	struct script_difference *d;
	size_t nr;
	uint64_t at;			/* walking the points: the next step */
	struct search_cand *cands;
	uint32_t nr_cands;
};

/* ---- the decisions ---- */

static bool next_point(void *ctx, struct search_point *p, uint32_t *task)
{
	struct pin *n = ctx;
	const struct trace_step *s;
	struct search_cand *c;

	if (n->at == trace_nr_steps(n->t))
		return false;
	s = trace_step(n->t, n->at);
	if (s->nr_enabled > n->nr_cands) {
		c = realloc(n->cands, s->nr_enabled * sizeof(*c));
		if (!c)
			return false;
		n->cands = c;
		n->nr_cands = s->nr_enabled;
	}
	for (uint32_t i = 0; i < s->nr_enabled; i++)
		n->cands[i] = (struct search_cand){ .task = s->enabled[i],
						    .parent = SEARCH_NO_TASK,
						    .enabled = true };
	*p = (struct search_point){ .step = n->at++, .cand = n->cands, .nr = s->nr_enabled,
				    .last = s->last == TRACE_NO_TASK ? SEARCH_NO_TASK : s->last,
				    .yielded = s->flags & TRACE_STEP_YIELDED };
	*task = s->task;
	return true;
}

/* The next step of a task from step i on; UINT64_MAX: none. */
static uint64_t next_step(const struct trace *t, uint32_t task, uint64_t i)
{
	for (; i < trace_nr_steps(t); i++)
		if (trace_step(t, i)->task == task)
			return i;
	return UINT64_MAX;
}

/* Its last step before step i; UINT64_MAX: none. */
static uint64_t last_step(const struct trace *t, uint32_t task, uint64_t i)
{
	while (i-- > 0)
		if (trace_step(t, i)->task == task)
			return i;
	return UINT64_MAX;
}

/*
 * The operation that a task stands before at step i: its next one, or the one that the minimiser
 * saw.
 */
static const struct zug_label *pending(const struct trace *t, uint32_t task, uint64_t i)
{
	const struct trace_minimized *m = trace_minimized(t);
	uint64_t k = next_step(t, task, i);

	if (k != UINT64_MAX)
		return &trace_step(t, k)->label;
	for (uint32_t j = 0; m && j < m->nr_pairs; j++)
		if (m->pairs[j].step == i && m->pairs[j].preempted == task)
			return &m->pairs[j].before;
	return NULL;
}

/* ---- places ---- */

/* A long name is cut, and stands for all that begin like it. */
static void copy_name(char *to, const char *name)
{
	size_t n = 0;

	if (strlen(name) < NAME_MAX_BYTES) {
		strcpy(to, name);
		return;
	}
	for (; *name && n < NAME_MAX_BYTES; name++) {
		if (strchr("*?[\\", *name))
			to[n++] = '\\';
		to[n++] = *name;
	}
	strcpy(to + n, "*");
}

static const char *object_name(const struct trace *t, uint64_t object)
{
	const struct trace_object *o = object ? trace_object(t, object) : NULL;

	return o && o->name && o->name[0] ? o->name : NULL;
}

/*
 * True when mkstemp() or mktemp(1) may have made the n characters. A pattern in place of typed ones
 * matches, too. What is separate from the characters before it is not expected to be a Word.
 */
static bool is_made_up(const char *p, int n, bool separate)
{
	unsigned int upper = 0, digits = 0, changes = 0;

	for (int i = 0; i < n; i++) {
		if (!isalnum((unsigned char)p[i]))
			return false;
		upper += !!isupper((unsigned char)p[i]);
		digits += !!isdigit((unsigned char)p[i]);
		changes += i && !isupper((unsigned char)p[i]) != !isupper((unsigned char)p[i - 1]);
	}
	if (separate && digits && digits < (unsigned int)n)
		return true;
	if (separate && upper && upper + digits < (unsigned int)n && !(upper == 1 && isupper((unsigned char)p[0])))
		return true;
	return changes > 1 && upper < (unsigned int)n;
}

/* A name below a folder for temporary files: there mkdtemp() makes folders, of which few are typed. */
static bool is_temporary(const char *name)
{
	static const char *const folders[] = { "/tmp/", "/var/tmp/", "/dev/shm/", "/run/" };

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (!strncmp(name, folders[i], strlen(folders[i])))
			return true;
	return false;
}

/*
 * A file below the folder where the test ran is found in every folder, and a temporary one under
 * every name that it may have.
 */
static void name_file(const struct trace *t, const char *name, char *to)
{
	const char *cwd = trace_header(t)->cwd, *end;
	const bool temporary = is_temporary(name);
	size_t n = strlen(cwd), at = 0;

	if (n > 1 && !strncmp(name, cwd, n) && name[n] == '/') {
		name += n;
		to[at++] = '*';
	}
	for (; *name; name = end) {
		size_t len;

		end = strchrnul(name + 1, '/');
		len = end - name;
		for (size_t i = 0; i < len; i++) {
			size_t left = len - i;
			bool separate = i && strchr("./-_", name[i - 1]);
			bool made_up =
				(i && left == TEMPORARY && (is_made_up(name + i, left, separate) ||
							    (temporary && *end && separate))) ||
				(i && left == TEMPORARY_OF_SHELL && name[i - 1] == '.' &&
				 is_made_up(name + i, left, true));

			if (at + TEMPORARY_OF_SHELL + 1 >= NAME_MAX_BYTES) {
				strcpy(to + at, "*");
				return;
			}
			if (made_up) {
				memset(to + at, '?', left);
				at += left;
				break;
			}
			if (strchr("*?[\\", name[i]))
				to[at++] = '\\';
			to[at++] = name[i];
		}
	}
	to[at] = 0;
}

/*
 * Of a call that was changed the operation that it was to be, if other steps of that place show one
 * system call, or one wait; -1: unknown. (The function of the C library around the call has the same place.)
 */
static int op_of(const struct trace *t, const struct zug_label *l)
{
	int op = -1;

	if (!zug_op_is_fault(l->op))
		return l->op;
	for (uint64_t i = 0; l->site && i < trace_nr_steps(t); i++) {
		const struct zug_label *o = &trace_step(t, i)->label;

		if (o->site != l->site || (l->op == ZUG_OP_SPURIOUS) != (o->op < ZUG_OP_OPEN) || zug_op_is_fault(o->op))
			continue;
		if (op >= 0 && op != o->op)
			return -1;
		op = o->op;
	}
	return op;
}

static struct symfile *file_of(const struct pin *n, const struct trace_site *site,
			       const struct trace_module **m)
{
	char err[256];

	*m = site && site->module != UINT32_MAX ? trace_module(n->t, site->module) : NULL;
	return *m ? symbols_file(n->symbols, (*m)->path, NULL, err, sizeof(err)) : NULL;
}

static const char *base_of(const char *path)
{
	return strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
}

/*
 * The innermost frame that was not inlined from a header of the language (std::lock_guard): people
 * know that place.
 */
static int own_frame(const struct trace_frame *frames, int nr)
{
	for (int i = 0; i < nr && frames[i].function; i++)
		if (!frames[i].file || !symbols_of_library(frames[i].file))
			return i;
	return 0;
}

/* libzug knows places by their source, and has written that into the trace. NULL: the place is code of a file. */
static const struct trace_frame *told_frame(const struct trace_site *site)
{
	return site && site->module == UINT32_MAX && site->nr_frames && site->frames[0].function ? site->frames : NULL;
}

/*
 * Names the place by the program's function, not by the function of the C library that called the
 * kernel.
 */
static void name_place(const struct pin *n, uint64_t id, struct where *w)
{
	const struct trace_site *site = id ? trace_site(n->t, id) : NULL;
	const struct trace_frame *told = told_frame(site);
	const struct trace_module *m;
	struct symfile *f = file_of(n, site, &m);
	struct trace_frame frames[8];
	char brief[256];
	int nr;

	if (told) {
		copy_name(w->in, told->function);
		w->file = told->file;
		w->line = told->line;
		return;
	}
	nr = f ? symfile_frames(f, site->offset, frames, 8) : 0;
	if (nr < 1 || !frames[0].function)
		return;
	/* a static program has it within */
	if (symfile_libc(f) != SYMLIBC_NONE &&
	    strcmp(base_of(m->path), base_of(trace_header(n->t)->argv[0])))
		return;
	told = &frames[own_frame(frames, nr)];
	symbols_brief(told->function, brief, sizeof(brief));
	copy_name(w->in, brief);
	w->file = told->file;
	w->line = told->line;
}

/* What a member is called in the source: its object has a number only. NULL: it has no such name. */
static const char *data_name(const struct trace *t, const struct zug_label *l)
{
	const struct trace_site *site = l->site ? trace_site(t, l->site) : NULL;

	return site && zug_op_is_access(l->op) ? site->data : NULL;
}

static bool matches(const struct pin *n, const struct where *w, const struct trace_step *s)
{
	const struct trace_site *site = s->label.site ? trace_site(n->t, s->label.site) : NULL;
	const char *data = data_name(n->t, &s->label);
	const char *a = object_name(n->t, s->label.object),
		   *b = object_name(n->t, s->label.object2);
	const struct trace_module *m;
	struct symfile *f;

	if (w->op >= 0 && op_of(n->t, &s->label) != w->op)
		return false;
	if (w->on[0] && !(a && rule_name_is(w->on, a)) && !(b && rule_name_is(w->on, b)) &&
	    !(data && rule_name_is(w->on, data)))
		return false;
	if (!w->in[0])
		return true;
	if (told_frame(site))
		return rule_name_is(w->in, site->frames[0].function);
	f = file_of(n, site, &m);
	return f && rule_place_is(f, m->path, site->offset, w->in);
}

/*
 * Numbers of what a search learns to see: they depend on what else is seen, and a function says
 * more.
 */
static bool is_learnt(const char *name)
{
	return !strncmp(name, "variable #", 10) || !strncmp(name, "atomic #", 8);
}

/* "mutex #6 of T0" -> 6 and 0. */
static bool number_of(const char *name, unsigned long *nth, unsigned long *task)
{
	const char *number = strstr(name, " #");

	return number && sscanf(number, " #%lu of T%lu", nth, task) == 2;
}

/*
 * All that a task uses first is numbered together: the number of a mutex depends on the data that was seen before it,
 * and the data on what the executions before have learnt.
 */
static bool is_behind_learnt(const struct trace *t, const char *name)
{
	unsigned long nth, task, other, of;
	const struct trace_object *o;

	if (!number_of(name, &nth, &task))
		return false;
	for (uint32_t i = 0; (o = trace_object_at(t, i)); i++)
		if (o->name && is_learnt(o->name) && number_of(o->name, &other, &of) && of == task && other < nth)
			return true;
	return false;
}

/* Code of a library is there: people know the line of the program that calls it, where the trace has that. */
static void tell_caller(const struct pin *n, uint32_t task, uint64_t step, struct where *w)
{
	uint64_t next = next_step(n->t, task, step);

	if (next == UINT64_MAX || (w->file && w->line && !symbols_of_library(w->file)))
		return;
	for (uint32_t k = 0; k < trace_nr_notes(n->t, next); k++) {
		const struct trace_note *note = trace_note_at(n->t, next, k);
		bool calls = note->kind == TRACE_NOTE_CALLER && note->task == task && note->text;
		const char *tab = calls ? strchr(note->text, '\t') : NULL;

		if (!tab || !tab[1])
			continue;
		w->file = tab + 1;
		w->line = note->arg;
	}
}

static void find_place(const struct pin *n, uint32_t task, uint64_t step, struct where *w)
{
	const struct zug_label *l = pending(n->t, task, step);
	const char *name = l ? object_name(n->t, l->object) : NULL, *data = l ? data_name(n->t, l) : NULL;

	*w = (struct where){ .op = l ? op_of(n->t, l) : -1, .nth = 1 };
	/* who is about to be created has no name yet */
	if (l && l->op == ZUG_OP_CREATE)
		name = NULL;
	if (name && name[0] == '/')
		name_file(n->t, name, w->on);
	else if (name)
		copy_name(w->on, name);
	if (l)
		name_place(n, l->site, w);
	tell_caller(n, task, step, w);
	/* which other data are points may be another matter next time: it is not counted where this has a name */
	if (data && is_learnt(w->on))
		copy_name(w->on, data);
	else if ((w->in[0] && is_learnt(w->on)) || (w->op >= 0 && is_behind_learnt(n->t, w->on)))
		w->on[0] = 0;
	/*
	 * when it is unknown whether a step before was such an operation, all operations at the
	 * place are counted
	 */
	for (uint64_t i = 0; w->op >= 0 && i < step; i++) {
		const struct trace_step *s = trace_step(n->t, i);
		struct where any = *w;

		any.op = -1;
		if (s->task == task && op_of(n->t, &s->label) < 0 && matches(n, &any, s))
			w->op = -1;
	}
	for (uint64_t i = 0; i < step; i++) {
		const struct trace_step *s = trace_step(n->t, i);

		w->nth += s->task == task && !id_map_find(n->absent, s->label.site) && matches(n, w, s);
	}
}

int pin_absent(const struct trace *t, const struct campaign *c, struct id_map *absent)
{
	for (uint64_t i = 0; i < trace_nr_steps(t); i++) {
		const struct zug_label *l = &trace_step(t, i)->label;
		const struct trace_site *site = l->site ? trace_site(t, l->site) : NULL;
		const struct trace_module *m = site && site->module != UINT32_MAX ? trace_module(t, site->module) : NULL;

		if (!m || !(zug_op_is_access(l->op) || l->op == ZUG_OP_POINT) || campaign_has_point(c, m->path, site->offset))
			continue;
		if (!id_map_add(absent, l->site, 0, NULL))
			return -ENOMEM;
	}
	return 0;
}

/* ---- the text ---- */

static void put_word(FILE *out, const char *s)
{
	if (!s[strcspn(s, " \t\"#;\\")] && s[0]) {
		fputs(s, out);
		return;
	}
	putc('"', out);
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			putc('\\', out);
		putc(*s, out);
	}
	putc('"', out);
}

static void put_place(FILE *out, const struct where *w)
{
	char line[512];

	if (w->op >= 0)
		fprintf(out, " at %s", zug_op_name(w->op));
	if (w->on[0]) {
		fputs(" on ", out);
		put_word(out, w->on);
	}
	if (w->in[0]) {
		fputs(" in ", out);
		put_word(out, w->in);
	}
	if (w->nth > 1)
		fprintf(out, " nth %lu", (unsigned long)w->nth);
	if (w->file && w->line) {
		snprintf(line, sizeof(line), "%.200s:%u", base_of(w->file), w->line);
		fputs(" line ", out);
		put_word(out, line);
	}
}

/*
 * The first step after the end of the task, if it ends between steps from-1 and to-1; else
 * UINT64_MAX.
 */
static uint64_t ends_before(const struct trace *t, uint32_t task, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i <= to && i <= trace_nr_steps(t); i++)
		for (uint32_t k = 0; k < trace_nr_notes(t, i); k++) {
			const struct trace_note *note = trace_note_at(t, i, k);

			if (note->kind == TRACE_NOTE_EXIT && note->task == task)
				return i;
		}
	return UINT64_MAX;
}

/*
 * True when a decision between the two steps passes the task over. after: UINT64_MAX for the
 * beginning of the trace.
 */
static bool passed_over(const struct pin *n, uint32_t task, uint64_t after, uint64_t before)
{
	for (size_t i = 0; i < n->nr; i++)
		if ((after == UINT64_MAX || n->d[i].step > after) && n->d[i].step < before &&
		    n->d[i].instead_of == task)
			return true;
	return false;
}

/* Decision k, of those that another statement has said already, is left out. */
static void put_statement(FILE *out, struct pin *n, size_t k, bool *said)
{
	const struct script_difference *d = &n->d[k];
	uint64_t back = next_step(n->t, d->instead_of, d->step), end;
	struct where w;

	find_place(n, d->instead_of, d->step, &w);
	fprintf(out, "before T%u", d->instead_of);
	put_place(out, &w);
	fprintf(out, " run T%u", d->task);
	if (back == UINT64_MAX || passed_over(n, d->instead_of, d->step, back)) {
		putc('\n', out);
		return;
	}
	/*
	 * it goes on as soon as the other has ended, or by the next decision instead of the other
	 */
	end = ends_before(n->t, d->task, d->step + 1, back);
	for (size_t i = k + 1; i < n->nr && n->d[i].step <= back; i++) {
		if (n->d[i].step < back || n->d[i].task != d->instead_of)
			continue;
		if (n->d[i].instead_of == d->task &&
		    !passed_over(n, d->task, last_step(n->t, d->task, back), back)) {
			find_place(n, d->task, back, &w);
			fputs(" until", out);
			put_place(out, &w);
			said[i] = true;
		} else if (end == back) {
			said[i] = true;
		}
	}
	if (end == back)
		fputs(" until exit", out);
	putc('\n', out);
}

/* What is decided with a step besides its task: faults, timers, values. How many statements. */
static int put_lets(FILE *out, const struct pin *n, uint64_t step)
{
	const struct trace_step *s = trace_step(n->t, step);
	uint32_t amount = fault_amount(s->label.object2), value;
	struct where w;
	int nr = 0;

	if (s->label.op == ZUG_OP_CHOICE && value_of(s->label.object2, &value)) {
		find_place(n, s->task, step, &w);
		fprintf(out, "let T%u", s->task);
		put_place(out, &w);
		fprintf(out, " get value %u\n", value);
		return 1;
	}

	for (int timer = 1; timer >= 0; timer--) {
		if (timer ? !(s->label.flags & ZUG_L_TIMER) : !zug_op_is_fault(s->label.op))
			continue;
		find_place(n, s->task, step, &w);
		fprintf(out, "let T%u", s->task);
		put_place(out, &w);
		fprintf(out, " get %s", timer ? "timer" : zug_op_name(s->label.op));
		if (!timer && amount)
			fprintf(out, " %u", amount);
		putc('\n', out);
		nr++;
	}
	return nr;
}

bool pin_needs_races(const struct campaign_options *o)
{
	return o->failure.race || (o->replay.data && o->replay.data[0]);
}

static void put_options(FILE *out, const struct campaign_options *from)
{
	const char *base = base_of(from->command.argv[0]);
	struct campaign_options o = *from;
	size_t n = strlen(base), nr = 0;
	char *watches[ZUG_MAX_WATCHES + 1] = { NULL };

	/*
	 * a variable of the program itself is found under any name that the program has next time
	 */
	for (char **w = from->points.watches; w && *w && nr < ZUG_MAX_WATCHES; w++)
		watches[nr++] = !strncmp(*w, base, n) && (*w)[n] == ':' && (*w)[n + 1] != ':' ?
					*w + n + 1 :
					*w;
	o.points.watches = watches;
	if (pin_needs_races(from))
		fputs("option races\n", out);
	run_options_print(&o, out);
}

/* A task, after its parents, which its line names. */
static void put_task(FILE *out, const struct trace *t, uint32_t task, bool *told)
{
	const struct trace_task *tt = trace_task(t, task);
	char comm[64];

	if (!tt || told[task] || tt->parent == TRACE_NO_TASK)
		return;
	told[task] = true;
	put_task(out, t, tt->parent, told);
	report_clean(comm, sizeof(comm), tt->comm ? tt->comm : "");
	fprintf(out, "task T%u child %u of T%u", task, tt->nth + 1, tt->parent);
	fprintf(out, comm[0] ? "\t# %s\n" : "%s\n", comm);
}

/* The order of numbers is that of the default schedule, so all of a few are named. */
#define TASKS_NAMED 32

static int put_tasks(FILE *out, const struct pin *n)
{
	uint32_t highest = 0, used = 0;
	bool *told;

	for (uint32_t i = 0; i < trace_nr_tasks(n->t); i++)
		if (trace_task_at(n->t, i)->task > highest)
			highest = trace_task_at(n->t, i)->task;
	told = calloc((size_t)highest + 1, sizeof(*told));
	if (!told)
		return -ENOMEM;
	for (size_t i = 0; i < n->nr; i++) {
		used = n->d[i].instead_of > used ? n->d[i].instead_of : used;
		used = n->d[i].task > used ? n->d[i].task : used;
	}
	if (used && used < TASKS_NAMED)
		used = highest < TASKS_NAMED ? highest : TASKS_NAMED;
	for (uint32_t i = 1; i <= used; i++)
		put_task(out, n->t, i, told);
	free(told);
	return 0;
}

static void put_head(FILE *out, const struct trace *t, const char *path, const char *name, bool test)
{
	const struct trace_outcome *o = trace_outcome(t);
	char message[512];

	report_clean(message, sizeof(message), o->message ? o->message : "");
	fprintf(out,
		"# A schedule under which a test fails; made by zug pin (zug %s) from %s:\n#   %s%s%s\n",
		ZUG_VERSION, path, zug_outcome_name(o->kind), message[0] ? ": " : "", message);
	fprintf(out, test ? "# ZUG_SCRIPT=" : "# zug run --script ");
	shell_word_put(out, name);
	if (!test)
		fputs(" --", out);
	shell_words_put(out, trace_header(t)->argv);
	fputs("\n# Each 'before' is one switch; otherwise each task runs on until it blocks. zug-pin(1) has the language.\n",
	      out);
}

/* The test of libzug that the trace is of: a program may have several. */
static void put_test(FILE *out, const struct trace *t)
{
	const char *name = trace_header(t)->options + strlen(TRACE_LIBZUG_OPTIONS);

	fprintf(out, "option test %.*s\n", (int)strcspn(name, "\""), name);
}

int pin_write(FILE *out, const struct trace *t, const struct campaign_options *o, struct symbols *s,
	      const struct id_map *absent, const char *path, const char *name)
{
	struct pin n = { .t = t, .symbols = s, .absent = absent };
	int ret = script_differences(o ? o->search.fair : 1, next_point, &n, &n.d), statements = 0;
	uint64_t step = 0;
	bool *said;

	free(n.cands);
	if (ret < 0)
		return ret;
	n.nr = ret;
	said = calloc(n.nr + 1, sizeof(*said));
	if (!said) {
		free(n.d);
		return -ENOMEM;
	}
	put_head(out, t, path, name, !o);
	if (o)
		put_options(out, o);
	else
		put_test(out, t);
	ret = put_tasks(out, &n);
	for (size_t i = 0; i < n.nr; i++) {
		for (; step < n.d[i].step; step++)
			statements += put_lets(out, &n, step);
		if (said[i])
			continue;
		put_statement(out, &n, i, said);
		statements++;
	}
	for (; step < trace_nr_steps(t); step++)
		statements += put_lets(out, &n, step);
	free(said);
	free(n.d);
	return ret ? ret : statements;
}
