/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What --code, --only and --not name: files of the test, functions, source files, and folders of these
 *
 * Any of the functions and sources of a place counts, also those that were inlined there.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include "probes/probes_internal.h"

#define FRAMES_MAX 8

static bool is_module(const struct probe_module *m, const char *item)
{
	const char *base = strrchr(m->path, '/');

	return !fnmatch(item, m->path, 0) || (base && !fnmatch(item, base + 1, 0));
}

static bool is_source(const char *item)
{
	static const char *const ends[] = { ".c", ".h", ".cc", ".cpp", ".cxx", ".C", ".hh", ".hpp", ".inl",
					    ".rs", ".go", ".s", ".S", ".d", ".f90", ".zig", ".m", ".py", ".java", ".kt",
					    ".scala" };
	const char *dot = strrchr(item, '.');

	for (size_t i = 0; dot && i < sizeof(ends) / sizeof(ends[0]); i++)
		if (!strcmp(dot, ends[i]))
			return true;
	return false;
}

/* "bank.c", "src/bank.c", a glob of that; a folder, with a slash in or behind its name: "src/", "src/cache". */
static bool lies_in(const char *path, const char *item)
{
	char glob[512];
	size_t n = strlen(item);

	if (!is_source(item) && !strchr(item, '/'))
		return false;
	while (!strncmp(item, "./", 2)) {
		item += 2;
		n -= 2;
	}
	while (n && item[n - 1] == '/')
		n--;
	if (!n || n > sizeof(glob) - 8)
		return false;
	for (int folder = 0; folder < 2; folder++) {
		snprintf(glob, sizeof(glob), "%s%.*s%s", item[0] == '/' ? "" : "*/", (int)n, item, folder ? "/*" : "");
		/* a path that the compiler was given may be relative */
		if (!fnmatch(glob, path, 0) || (item[0] != '/' && !fnmatch(glob + 2, path, 0)))
			return true;
	}
	return false;
}

/* A name, with its argument list or without. */
static bool is_function(const char *name, const char *item)
{
	size_t n = strcspn(name, "(");
	char bare[256];

	if (!fnmatch(item, name, 0))
		return true;
	if (!name[n] || n >= sizeof(bare))
		return false;
	snprintf(bare, sizeof(bare), "%.*s", (int)n, name);
	return !fnmatch(item, bare, 0);
}

static bool is_frame(const struct trace_frame *f, const char *item)
{
	return (f->file && lies_in(f->file, item)) || (!is_source(item) && f->function && is_function(f->function, item));
}

static bool names(const struct probe_module *m, uint64_t offset, char *const *list)
{
	struct trace_frame frames[FRAMES_MAX];
	int nr = -1;

	for (char *const *s = list; s && *s; s++) {
		if (is_module(m, *s))
			return true;
		if (nr < 0)
			nr = m->file ? symfile_frames(m->file, offset, frames, FRAMES_MAX) : 0;
		for (int i = 0; i < nr; i++)
			if (is_frame(&frames[i], *s))
				return true;
	}
	return false;
}

bool probes_in_scope(const struct probe_module *m, uint64_t offset, char *const *scope)
{
	return !scope || !scope[0] || names(m, offset, scope);
}

static bool is_such_source(const char *path, void *item)
{
	return lies_in(path, item);
}

static int stop_at_first(const struct symdef *d, void *arg)
{
	return 1;
}

bool probes_scope_known(struct probes *p, const char *item)
{
	for (unsigned int m = 0; m < p->nr_modules; m++) {
		const struct probe_module *mod = &p->modules[m];

		if (is_module(mod, item))
			return true;
		if (mod->file && (symfile_has_source(mod->file, is_such_source, (void *)item) ||
				  (!is_source(item) && symfile_find(mod->file, item, stop_at_first, NULL))))
			return true;
	}
	return false;
}

void probes_leave_out(struct probes *p, char *const *only, char *const *without)
{
	p->only = only && only[0] ? only : NULL;
	p->without = without && without[0] ? without : NULL;
}

void probes_see_executed(struct probes *p)
{
	p->executed = true;
}

bool probes_knows_executed(const struct probes *p)
{
	return p->knows_executed;
}

bool probes_serves_any(struct probes *p, uint32_t module)
{
	/* an extension of Python makes a module in one of these ways; one that calls any function does so for the program */
	static const char *const makes[] = { "PyModuleDef_Init", "PyModule_Create2" };
	struct probe_module *m = &p->modules[module];
	bool takes[2] = { false };

	if (!m->file || !symfile_of_system(m->file) || symfile_libc(m->file) != SYMLIBC_NONE)
		return false;
	if (m->extends == EXTENDS_UNKNOWN)
		m->extends = symfile_interprets(m->file) || !symfile_imports(m->file, makes, 2, takes) || takes[0] || takes[1] ?
				     EXTENDS : EXTENDS_NOT;
	return m->extends == EXTENDS_NOT;
}

void probes_see_fields(struct probes *p)
{
	p->fields = true;
}

bool probes_has_scope(const struct probes *p)
{
	return p->only || p->without;
}

bool probes_leaves_out(const struct probes *p)
{
	return probes_has_scope(p) || p->go;
}

enum probes_verdict probes_judge(const struct probes *p, uint32_t module, uint64_t offset)
{
	const struct probe_module *m = &p->modules[module];

	if (p->without && names(m, offset, p->without))
		return PROBES_NOT;
	return p->only && names(m, offset, p->only) ? PROBES_ONLY : PROBES_NEITHER;
}

/* What no file has that is looked into. */
static bool unknown_item(struct probes *p, char *const *list)
{
	for (char *const *s = list; s && *s; s++)
		if (!probes_scope_known(p, *s))
			return true;
	return false;
}

bool probes_scope_interpreted(struct probes *p)
{
	bool any = false;

	if (!probes_has_scope(p) || p->scope_modules == p->nr_modules)
		return p->scope_interpreted;
	for (unsigned int m = 0; m < p->nr_modules && !any; m++)
		any = p->modules[m].file && symfile_interprets(p->modules[m].file);
	p->scope_modules = p->nr_modules;
	return p->scope_interpreted = any && (unknown_item(p, p->only) || unknown_item(p, p->without));
}

static bool names_frame(const struct trace_frame *f, char *const *list)
{
	for (char *const *s = list; s && *s; s++)
		if (is_frame(f, *s))
			return true;
	return false;
}

enum probes_verdict probes_judge_interpreted(struct probes *p, const struct trace_frame *frames, int nr)
{
	enum probes_verdict v = PROBES_NEITHER;
	int own = symbols_own_frame(frames, nr);

	for (int i = 0; i < nr && (own < 0 || i <= own); i++) {
		if (names_frame(&frames[i], p->without))
			v = PROBES_NOT;
		else if (v != PROBES_NOT && names_frame(&frames[i], p->only))
			v = PROBES_ONLY;
	}
	p->scope_met |= v != PROBES_NEITHER;
	return v;
}

bool probes_scope_met(const struct probes *p)
{
	return p->scope_met;
}

bool probes_judged_out(const struct probes *p, enum probes_verdict here, enum probes_verdict caller,
		       enum probes_verdict interpreted)
{
	if (here == PROBES_NOT || caller == PROBES_NOT || interpreted == PROBES_NOT)
		return true;
	return p->only && here != PROBES_ONLY && caller != PROBES_ONLY && interpreted != PROBES_ONLY;
}

enum probes_scope probes_scope_of(const struct probes *p, uint32_t module, uint64_t offset)
{
	struct symfile *f = p->modules[module].file;
	enum probes_verdict v;

	if (!probes_has_scope(p))
		return PROBES_IN;
	v = probes_judge(p, module, offset);
	if (v == PROBES_NEITHER && !(f && symfile_owner(f, offset) == SYMOWNER_PROGRAM))
		return PROBES_BY_CALLER;
	return probes_judged_out(p, v, v, PROBES_NEITHER) ? PROBES_LEFT_OUT : PROBES_IN;
}
