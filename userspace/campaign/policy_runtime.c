/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes no points: tells which options keep the search at the program, where a language's runtime starts up for thousands of
 * steps in each execution; and that --only and --not name nothing of what an interpreter executes
 */
#include <stdio.h>
#include <string.h>
#include "campaign/policy.h"

/* So many steps are no small program's: most of them are the runtime's own. */
#define LONG_STEPS	3000

/* Known by what only it defines. */
static const struct {
	const char *defines, *options;
} runtimes[] = {
	{ "Py_BytesMain", "--from PyThread_start_new_thread begins where it makes the program's first thread" },
	{ "JNI_CreateJavaVM", "--from-output REGEX --points none --point InterpreterRuntime::monitorenter, with "
			      "java -Xint -XX:+UseSerialGC -XX:+UseHeavyMonitors, searches the program alone" },
	{ "napi_create_function", "--from-output REGEX --points none --point Builtins_AtomicsLoad --point Builtins_AtomicsStore "
				  "--spin 0, with node --single-threaded-gc, searches the program alone" },
};
#define RUNTIMES	(sizeof(runtimes) / sizeof(runtimes[0]))

struct runtime {
	struct session *s;
	uint64_t steps;		/* of the longest execution */
};

static int open_runtime(void *state, struct session *s, struct race_book *races, char *err, size_t errlen)
{
	((struct runtime *)state)->s = s;
	return 0;
}

static int after(void *state, enum points_phase phase, struct execution *x, char *err, size_t errlen)
{
	struct runtime *r = state;

	if (x->steps > r->steps)
		r->steps = x->steps;
	return 0;
}

static int note_defined(const struct symdef *d, unsigned int name, void *arg)
{
	if (!d->is_function || d->offset == UINT64_MAX)
		return 0;
	*(unsigned int *)arg = name;
	return 1;
}

static void note(void *state, struct campaign_notes *n)
{
	const char *names[RUNTIMES];
	const struct runtime *r = state;
	const struct options_points *o = &r->s->o.points;
	const char *first;

	if (probes_scope_interpreted(r->s->probes) && !probes_scope_met(r->s->probes)) {
		first = o->only && o->only[0] ? o->only[0] : o->without[0];
		if (asprintf(&n->runtime, "--%s %s: no function that was executed at a point has that name or source file\n",
			     o->only && o->only[0] ? "only" : "not", first) < 0)
			n->runtime = NULL;
		return;
	}
	if (r->steps < LONG_STEPS || (o->from && o->from[0]) || o->from_output || (o->from_calls && o->from_calls[0]))
		return;
	for (size_t i = 0; i < RUNTIMES; i++)
		names[i] = runtimes[i].defines;
	for (unsigned int m = 0; m < probes_nr_modules(r->s->probes) && !n->runtime; m++) {
		const struct probe_module *mod = probes_module(r->s->probes, m);
		unsigned int which = RUNTIMES;

		if (!mod->file || !probes_is_runtime(r->s->probes, m))
			continue;
		symfile_find_names(mod->file, names, RUNTIMES, note_defined, &which);
		if (which < RUNTIMES &&
		    asprintf(&n->runtime, "many of the %lu steps of an execution are the start of %s: %s\n",
			     (unsigned long)r->steps, strrchr(mod->path, '/') ? strrchr(mod->path, '/') + 1 : mod->path,
			     runtimes[which].options) < 0)
			n->runtime = NULL;
	}
}

const struct point_policy policy_runtime = {
	.size = sizeof(struct runtime), .open = open_runtime, .after = after, .note = note,
};
