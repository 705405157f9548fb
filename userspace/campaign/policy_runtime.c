/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes no points: tells which options keep the search at the program, where a language's runtime makes thousands of steps in
 * each execution; and that --only and --not name nothing of what an interpreter executes
 */
#include <stdio.h>
#include <string.h>
#include "lib/base/shell_word.h"
#include "campaign/policy.h"
#include "campaign/runtimes.h"

/* So many steps are no small program's: most of them are the runtime's own. */
#define LONG_STEPS	3000

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

/* The options that name the points of that runtime, and its flags. */
static void put_points(FILE *out, const struct language_runtime *k)
{
	fprintf(out, "--points %s", k->kinds);
	if (k->spin_ns)
		fprintf(out, " --spin %lus", (unsigned long)(k->spin_ns / 1000000000));
	for (char **place = k->points; *place; place++) {
		fprintf(out, " --point ");
		shell_word_put(out, *place);
	}
	fprintf(out, ", and the flags");
	for (const struct runtime_flag *f = k->flags; f->text; f++)
		fprintf(out, " %s", f->text);
	fprintf(out, " of the runtime");
}

/* The first argument that is a source file of Python; NULL: none. */
static const char *python_source(const struct session *s)
{
	for (char **a = s->o.command.argv; *a; a++) {
		size_t len = strlen(*a);

		if (len > 3 && !strcmp(*a + len - 3, ".py"))
			return strrchr(*a, '/') ? strrchr(*a, '/') + 1 : *a;
	}
	return NULL;
}

/* How to search less, of a file that is such a runtime. */
static void put_hint(FILE *out, const struct runtime *r, const struct language_runtime *k, const char *file)
{
	const struct options_points *o = &r->s->o.points;
	const char *source = python_source(r->s);

	if ((o->only && o->only[0]) || (o->places && o->places[0]))
		return;
	fprintf(out, "many of the %lu steps of an execution are the own ones of %s; points in the program alone: ",
		(unsigned long)r->steps, file);
	if (k->points) {
		put_points(out, k);
	} else {
		fprintf(out, "--only ");
		shell_word_put(out, source ? source : "FILE.py");
	}
	if (!session_begins_late(&r->s->o))
		fprintf(out, "; --from-output REGEX begins at a line that the program writes");
	fputc('\n', out);
}

static void note(void *state, struct campaign_notes *n)
{
	const struct runtime *r = state;
	const struct options_points *o = &r->s->o.points;
	size_t len;
	FILE *out;

	if (probes_scope_interpreted(r->s->probes) && !probes_scope_met(r->s->probes)) {
		if (asprintf(&n->runtime, "--%s %s: no function that was executed at a point has that name or source file\n",
			     o->only && o->only[0] ? "only" : "not", o->only && o->only[0] ? o->only[0] : o->without[0]) < 0)
			n->runtime = NULL;
		return;
	}
	out = open_memstream(&n->runtime, &len);
	if (!out) {
		n->runtime = NULL;
		return;
	}
	if (r->s->begins)
		fprintf(out, "the search began at %s, behind the start of the runtime (--from-start: at the first step)\n",
			r->s->begins);
	if (r->s->launched.with_flags) {
		fprintf(out, "executed with points in the program alone, as:");
		shell_words_put(out, r->s->o.command.argv);
		fputc('\n', out);
	}
	for (unsigned int m = 0; r->steps >= LONG_STEPS && m < probes_nr_modules(r->s->probes); m++) {
		const struct probe_module *mod = probes_module(r->s->probes, m);
		const struct language_runtime *k;

		if (!mod->file || !probes_is_runtime(r->s->probes, m))
			continue;
		k = language_runtime_of(mod->file);
		if (!k)
			continue;
		put_hint(out, r, k, strrchr(mod->path, '/') ? strrchr(mod->path, '/') + 1 : mod->path);
		break;
	}
	fclose(out);
}

const struct point_policy policy_runtime = {
	.size = sizeof(struct runtime), .open = open_runtime, .after = after, .note = note,
};
