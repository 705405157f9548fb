/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * runtimes.c - where the search begins in a program that an interpreter executes, or a virtual machine, or that has a runtime
 * of its own
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
/* The same, of the interpreter alone: a shell that starts it makes tasks as well. */
static char *python_from[] = {
	"PyThread_start_new_thread", "PyOS_BeforeFork", "vfork", "setitimer", "alarm", "timer_create", NULL
};
/*
 * The machine makes threads in Java itself, then its launcher calls the main method with java_behind. Up to the first thread
 * of the program, or its first process, nothing can come in another order.
 */
static char *java_from[] = { "JVM_StartThread", "Java_java_lang_ProcessImpl_forkAndExec", NULL };
static const char java_behind[] = "jni_CallStaticVoidMethod";
/* What a program in Java does that others see, and the interpreter does not do itself. */
static char *java_points[] = { "InterpreterRuntime::monitorenter", "JVM_MonitorWait", "JVM_MonitorNotify",
			       "JVM_MonitorNotifyAll", "Unsafe_Park", "Unsafe_Unpark", NULL };
static const struct runtime_flag java_flags[] = {
	/* code that is made at run time has no names */
	{ "-Xint", .unless = "-X[imc][nio][txm]*" },
	{ "-XX:+UseSerialGC", .unless = "-XX:+Use*GC" },
	/* else the interpreter takes a monitor that is free itself */
	{ "-XX:+UseHeavyMonitors", .needs = "UseHeavyMonitors" },
	/* numbers for jstat: a file that is mapped, a thread that looks at times, and a sleep of a millisecond at the end */
	{ "-XX:-UsePerfData", .unless = "-XX:[+-]UsePerfData", .needs = "UsePerfData" },
	{ NULL },
};
/* This executes the script, once the threads of the runtime are there. */
static char *node_from[] = { "node::LoadEnvironment", NULL };

/*
 * What a program in JavaScript does that others see: shared memory, and messages between threads. What the loop waits for, and
 * what the pool has done for it, are system calls.
 */
static char *node_points[] = { "Builtins_AtomicsLoad", "Builtins_AtomicsStore", "Builtins_AtomicsAdd", "Builtins_AtomicsSub",
			       "Builtins_AtomicsAnd", "Builtins_AtomicsOr", "Builtins_AtomicsXor", "Builtins_AtomicsExchange",
			       "Builtins_AtomicsCompareExchange", "Builtins_AtomicsWait", "Builtins_AtomicsNotify",
			       "node::worker::MessagePort::PostMessage", "node::worker::MessagePort::ReceiveMessage", NULL };
/* With another flag of V8's, node compiles its own JavaScript anew, in each worker: these leave the compiled one valid. */
static const struct runtime_flag node_flags[] = {
	{ "--single-threaded-gc", .unless = "--*single[-_]threaded*" },
	{ "--no-concurrent-recompilation", .unless = "--*concurrent[-_]recompilation*" },
	{ "--v8-pool-size=1", .unless = "--v8[-_]pool[-_]size*" },
	{ NULL },
};

/* The runtime and its collector have made threads and channels before, and packages were initialised. */
static char *go_from[] = { "main.main", NULL };

static const struct language_runtime known[] = {
	{ .name = "python", .defines = "Py_BytesMain", .program = "python*", .library = "../lib/*/libpython3*.so.*",
	  .from_calls = python_calls, .beginning = "the first task that it makes", .uncaught = "Exception in thread " },
	{ .name = "java", .defines = "JNI_CreateJavaVM", .program = "java", .library = "../lib/server/libjvm.so",
	  .also = "../lib/libjava.so",
	  .from = java_from, .behind = java_behind, .beginning = "the first thread that the program makes",
	  .sources = ".java", .rechecks = "ObjectMonitor::EnterI", .uncaught = "Exception in thread \"",
	  .points = java_points, .syscalls = ZUG_SYS_FILE | ZUG_SYS_IPC,
	  .kinds = "syscall:file,syscall:ipc", .usual = true, .flags = java_flags },
	{ .name = "node", .defines = "napi_create_function", .program = "node*", .library = "../lib/*/libnode.so.*", .from = node_from,
	  .beginning = "the start of the script", .points = node_points, .syscalls = ZUG_SYS_FILE | ZUG_SYS_IPC | ZUG_SYS_POLL,
	  .kinds = "syscall:file,syscall:ipc,syscall:poll", .usual = true, .strategy = "portfolio:events=yes",
	  .spin_ns = 2000000000, .shares = "Builtins_Atomics", .asks_machine = true, .flags = node_flags },
	/* a program of Go's, and none that has Go in a library */
	{ .name = "go", .defines = "_rt0_amd64_linux", .program = "*", .from = go_from, .beginning = "the function main.main" },
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

const struct language_runtime *language_runtime_named(const char *name)
{
	for (size_t i = 0; name && i < RUNTIMES; i++)
		if (!strcmp(known[i].name, name))
			return &known[i];
	return NULL;
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
	       (!r->from || symfile_find(f, r->from[0], count_function, NULL) > 0) &&
	       (!r->behind || symfile_find(f, r->behind, count_function, NULL) > 0);
}

/* The file that is that runtime: the program itself, or a library that lies where the runtime's does. malloc'd; NULL: none. */
static char *runtime_file(struct symbols *symbols, const struct language_runtime *r, const char *program)
{
	char *file = begins_there(symbols, r, program) ? strdup(program) : NULL;
	const char *slash = strrchr(program, '/');
	char pattern[PATH_MAX];
	glob_t found;

	if (!file && slash && r->library) {
		snprintf(pattern, sizeof(pattern), "%.*s/%s", (int)(slash - program), program, r->library);
		if (!glob(pattern, 0, NULL, &found)) {
			for (size_t i = 0; i < found.gl_pathc && !file; i++)
				if (begins_there(symbols, r, found.gl_pathv[i]))
					file = strdup(found.gl_pathv[i]);
			globfree(&found);
		}
	}
	return file;
}

/*
 * The file that is executed for a program: itself, or the interpreter that its first line names. malloc'd; NULL: none.
 * *name: how env is told it alone, malloc'd, or NULL.
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

/* A script that has a runtime's name, or that of one of its versions, executes it: version managers put such ones into PATH. */
static const struct language_runtime *runtime_of_shim(const char *program)
{
	FILE *f = program ? fopen(program, "re") : NULL;
	bool script = f && fgetc(f) == '#' && fgetc(f) == '!';

	if (f)
		fclose(f);
	for (const struct language_runtime *r = known; script && r < known + RUNTIMES; r++) {
		const char *name = strrchr(program, '/') + 1;
		size_t n = strcspn(r->program, "*");

		if (!strncmp(name, r->program, n) && !name[n + strspn(name + n, "0123456789.")])
			return r;
	}
	return NULL;
}

/* *file: its file, malloc'd. */
static const struct language_runtime *runtime_of(struct symbols *symbols, const char *program, char **file)
{
	*file = NULL;
	for (const struct language_runtime *r = known; program && r < known + RUNTIMES; r++) {
		if (!fnmatch(r->program, strrchr(program, '/') + 1, 0))
			*file = runtime_file(symbols, r, program);
		if (*file)
			return r;
	}
	return NULL;
}

int session_skip_env(struct session *s)
{
	char *name, *program = executed(s, &name), *file = NULL, **given = s->o.command.argv;
	struct symbols *symbols = symbols_new();
	const struct language_runtime *r = name && symbols ? runtime_of(symbols, program, &file) : NULL;
	size_t nr = 0;

	symbols_free(symbols);
	free(file);
	if (!r) {
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

static bool defines(struct symbols *symbols, const char *path, const char *name)
{
	char err[256];
	struct symfile *f = path ? symbols_file(symbols, path, NULL, err, sizeof(err)) : NULL;

	return f && symfile_find(f, name, count_function, NULL) > 0;
}

/* The user has said something of that flag, or of its kin: in the command, or in a variable such as JAVA_TOOL_OPTIONS. */
static bool is_said(const struct session *s, const struct runtime_flag *flag)
{
	const char *like = flag->unless ? flag->unless : flag->text;
	char variable[128];

	for (char **a = s->o.command.argv + 1; *a; a++)
		if (!strcmp(*a, flag->text) || !fnmatch(like, *a, 0))
			return true;
	snprintf(variable, sizeof(variable), "*_OPTIONS=*%s*", like);
	for (char **v = s->o.command.envp; v && *v; v++)
		if (!fnmatch(variable, *v, 0))
			return true;
	return false;
}

/* The user's command with the flags of the runtime that are missing there. 0 or -ENOMEM. */
static int add_flags(struct session *s, const struct language_runtime *r, struct symbols *symbols, const char *runtime_file)
{
	char **given = s->o.command.argv, **with;
	size_t nr = 0, added = 0;

	while (given[nr])
		nr++;
	with = calloc(nr + RUNTIME_FLAGS + 1, sizeof(*with));
	if (!with)
		return -ENOMEM;
	for (const struct runtime_flag *f = r->flags; f->text; f++)
		if (!is_said(s, f) && (!f->needs || defines(symbols, runtime_file, f->needs)))
			with[1 + added++] = (char *)f->text;
	with[0] = given[0];
	memcpy(with + 1 + added, given + 1, (nr - 1) * sizeof(*with));
	s->launched.with_flags = s->o.command.argv = with;
	return 0;
}

static bool same_list(char *const *a, char *const *b)
{
	static char *const none[] = { NULL };

	a = a ? a : none;
	b = b ? b : none;
	while (*a && *b && !strcmp(*a, *b)) {
		a++;
		b++;
	}
	return !*a && !*b;
}

static bool contains(char *const *list, const char *text)
{
	while (*list && strcmp(*list, text))
		list++;
	return *list;
}

/* The list names functions of that runtime, and no others. */
static bool names_points_of(char *const *list, const struct language_runtime *r)
{
	size_t nr = 0;

	while (list && list[nr] && contains(r->points, list[nr]))
		nr++;
	return nr && !list[nr];
}

/* Makes points of the functions of the runtime that its file has: a stripped one has those that it exports. 0 or -ENOMEM. */
static int take_points(struct session *s, const struct language_runtime *r, struct symbols *symbols, const char *runtime_file)
{
	size_t nr = 0, there = 0;

	while (r->points[nr])
		nr++;
	s->launched.points = calloc(nr + 1, sizeof(*s->launched.points));
	if (!s->launched.points)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		if (defines(symbols, runtime_file, r->points[i]))
			s->launched.points[there++] = r->points[i];
	s->o.points.places = s->launched.points;
	return 0;
}

/* No option says which points there are, or a script says the runtime's. */
static bool has_usual_points(const struct options_points *o, const struct language_runtime *r)
{
	if (!same_list(o->code, NULL) || !same_list(o->watches, NULL) || !same_list(o->only, NULL) ||
	    !same_list(o->without, NULL))
		return false;
	if (!o->sync && !o->atomic && o->syscalls == r->syscalls && names_points_of(o->places, r))
		return true;
	return o->sync && o->atomic && o->syscalls == ZUG_SYS_ALL && same_list(o->places, NULL);
}

/* Neither an option nor a script says where the search begins. */
static bool says_no_begin(const struct campaign_options *o)
{
	return !o->search.script && !o->points.from_output && same_list(o->points.from, NULL) &&
	       same_list(o->points.from_calls, NULL);
}

/* No option says where the search begins, or a script says what is said of the runtime. */
static bool begins_as_usual(const struct campaign_options *o, const struct language_runtime *r)
{
	const struct options_points *p = &o->points;

	if (p->from_output)
		return false;
	if (says_no_begin(o))
		return true;
	return same_list(p->from, r->from) && same_list(p->from_calls, r->from_calls);
}

/* The search begins at functions of the runtime that a script executes: there may be more programs before. */
static void begin_behind_shim(struct session *s, const char *interpreter)
{
	const struct language_runtime *r = runtime_of_shim(s->paths.program);

	r = r ? r : runtime_of_shim(interpreter);
	if (!r || !says_no_begin(&s->o))
		return;
	s->o.points.from = r->from_calls ? python_from : r->from;
	s->o.points.behind = r->behind;
	s->begins = r->beginning;
}

/* The files of the runtime are known before the first execution, which has its points then. */
static void note_files(struct session *s, const struct language_runtime *r, const char *program, const char *file)
{
	char path[PATH_MAX];
	int nr = 0;

	if ((s->launched.runtime[nr] = realpath(file, NULL)))
		nr++;
	if (!r->also)
		return;
	snprintf(path, sizeof(path), "%.*s/%s", (int)(strrchr(program, '/') - program), program, r->also);
	s->launched.runtime[nr] = realpath(path, NULL);
}

int session_begin_at_program(struct session *s)
{
	struct campaign_options *o = &s->o;
	const struct language_runtime *r;
	struct symbols *symbols;
	char *program, *name, *file;
	int ret = 0;

	if (o->points.from_start || o->replay.probed || o->machine.sandbox || o->inputs.faults || o->failure.invariants ||
	    o->failure.discards)
		return 0;
	symbols = symbols_new();
	if (!symbols)
		return -ENOMEM;
	program = executed(s, &name);
	r = runtime_of(symbols, program, &file);
	if (r && !begins_as_usual(o, r))
		r = NULL;
	if (r) {
		note_files(s, r, program, file);
		o->points.from = r->from;
		o->points.from_calls = r->from_calls;
		o->points.behind = r->behind;
		o->points.runtime = r->name;
		s->begins = r->beginning;
	}
	if (!file)
		begin_behind_shim(s, program);
	if (r && r->usual && has_usual_points(&o->points, r)) {
		o->points.sync = o->points.atomic = o->points.races = false;
		o->points.syscalls = r->syscalls;
		o->points.fields = true;
		if (r->spin_ns && o->failure.spin_ns && o->failure.spin_ns < r->spin_ns)
			o->failure.spin_ns = r->spin_ns;
		if (!o->search.strategy)
			o->search.strategy = r->strategy;
		ret = take_points(s, r, symbols, file);
		/* of a script the interpreter's flags are the first line's */
		if (!ret && !strcmp(program, s->paths.program))
			ret = add_flags(s, r, symbols, file);
	}
	symbols_free(symbols);
	free(program);
	free(name);
	free(file);
	return ret;
}
