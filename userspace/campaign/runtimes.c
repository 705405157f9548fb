/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * runtimes.c - where the search begins in a program that an interpreter executes, or a virtual machine
 *
 * The start of a runtime takes thousands of steps in each execution, and is the same in all of them.
 */
#include <errno.h>
#include <fnmatch.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "campaign/program.h"
#include "campaign/runtimes.h"

/*
 * Python has one thread until the program makes another task: nothing before that can come in another order. A timer of
 * the program's may send a signal earlier.
 */
static char *python_calls[] = { "clone", "clone3", "fork", "vfork", "setitimer", "alarm", "timer_create", NULL };
/* With this the launcher calls the main method. The machine has made threads before. */
static char *java_from[] = { "jni_CallStaticVoidMethod", NULL };
/* This executes the script, once the threads of the runtime are there. */
static char *node_from[] = { "node::LoadEnvironment", NULL };

static const struct language_runtime known[] = {
	{ .defines = "Py_BytesMain", .program = "python*", .library = "../lib/*/libpython3*.so.*", .from_calls = python_calls,
	  .beginning = "the first task that it makes" },
	{ .defines = "JNI_CreateJavaVM", .program = "java", .library = "../lib/server/libjvm.so", .from = java_from,
	  .beginning = "the main method", .hint = "--points none --point InterpreterRuntime::monitorenter",
	  .flags = "-Xint -XX:+UseSerialGC -XX:+UseHeavyMonitors" },
	{ .defines = "napi_create_function", .program = "node*", .library = "../lib/*/libnode.so.*", .from = node_from,
	  .beginning = "the start of the script", .hint = "--points syscall --point Builtins_AtomicsLoad "
	  "--point Builtins_AtomicsStore --spin 0", .flags = "--single-threaded-gc" },
};
#define RUNTIMES	(sizeof(known) / sizeof(known[0]))

static int note_defined(const struct symdef *d, unsigned int name, void *arg)
{
	if (!d->is_function || d->offset == UINT64_MAX)
		return 0;
	*(unsigned int *)arg = name;
	return 1;
}

const struct language_runtime *language_runtime_of(struct symfile *f)
{
	const char *names[RUNTIMES];
	unsigned int which = RUNTIMES;

	for (size_t i = 0; i < RUNTIMES; i++)
		names[i] = known[i].defines;
	symfile_find_names(f, names, RUNTIMES, note_defined, &which);
	return which < RUNTIMES ? &known[which] : NULL;
}

static int count_function(const struct symdef *d, void *arg)
{
	return 0;
}

/* True when that file is the runtime, and has the function at which its program begins. */
static bool begins_there(struct symbols *symbols, const struct language_runtime *r, const char *path)
{
	char err[256];
	struct symfile *f = symbols_file(symbols, path, NULL, err, sizeof(err));

	return f && language_runtime_of(f) == r &&
	       (!r->from || symfile_find(f, r->from[0], count_function, NULL) > 0);
}

/* True when the program is that runtime, by itself or by a library that lies where the runtime's does. */
static bool is_runtime(const struct language_runtime *r, const char *program)
{
	struct symbols *symbols = symbols_new();
	bool is = symbols && begins_there(symbols, r, program);
	const char *slash = strrchr(program, '/');
	char pattern[PATH_MAX];
	glob_t found;

	if (symbols && !is && slash) {
		snprintf(pattern, sizeof(pattern), "%.*s/%s", (int)(slash - program), program, r->library);
		if (!glob(pattern, 0, NULL, &found)) {
			for (size_t i = 0; i < found.gl_pathc && !is; i++)
				is = begins_there(symbols, r, found.gl_pathv[i]);
			globfree(&found);
		}
	}
	symbols_free(symbols);
	return is;
}

/*
 * The file that is executed for a program: itself, or the interpreter that its first line names. malloc'd; NULL: none. *name: how
 * env is told it alone, malloc'd, or NULL.
 */
static char *executed(const struct session *s, char **name)
{
	char line[PATH_MAX] = "", err[256], *words, *first, *then;
	FILE *f = fopen(s->paths.program, "re");
	bool script = f && fgets(line, sizeof(line), f) && !strncmp(line, "#!", 2);

	*name = NULL;
	if (f)
		fclose(f);
	if (!script)
		return strdup(s->paths.program);
	first = strtok_r(line + 2, " \t\n", &words);
	then = strtok_r(NULL, " \t\n", &words);
	if (!first || strcmp(strrchr(first, '/') ? strrchr(first, '/') + 1 : first, "env"))
		return first ? find_program(&s->o, first, err, sizeof(err)) : NULL;
	if (then && !strtok_r(NULL, " \t\n", &words))
		*name = strdup(then);
	return then ? find_program(&s->o, then, err, sizeof(err)) : NULL;
}

static const struct language_runtime *runtime_of(const char *program)
{
	for (const struct language_runtime *r = known; program && r < known + RUNTIMES; r++)
		if (!fnmatch(r->program, strrchr(program, '/') + 1, 0) && is_runtime(r, program))
			return r;
	return NULL;
}

int session_skip_env(struct session *s)
{
	char *name, *program = executed(s, &name), **given = s->o.command.argv;
	size_t nr = 0;

	if (!name || !runtime_of(program)) {
		free(name);
		free(program);
		return 0;
	}
	while (given[nr])
		nr++;
	/* its name, the script, and what the script is given */
	s->launched.argv = calloc(nr + 2, sizeof(*s->launched.argv));
	s->launched.program = program;
	s->launched.name = name;
	if (!s->launched.argv)
		return -ENOMEM;
	s->launched.argv[0] = name;
	s->launched.argv[1] = s->paths.program;
	for (size_t i = 1; i < nr; i++)
		s->launched.argv[i + 1] = given[i];
	return 0;
}

void session_begin_at_program(struct session *s)
{
	struct campaign_options *o = &s->o;
	const struct language_runtime *r;
	char *program, *name;

	if (o->points.from_start || o->replay.probed || o->search.script || o->machine.sandbox ||
	    o->inputs.faults || o->failure.invariants || o->failure.discards)
		return;
	program = executed(s, &name);
	r = runtime_of(program);
	if (r) {
		o->points.from = r->from;
		o->points.from_calls = r->from_calls;
		s->begins = r->beginning;
	}
	free(program);
	free(name);
}
