/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * zug diff: compares two traces (diff_two()); of one trace, finds the closest schedule that passes
 * and compares with that (diff_one(): campaign/minimize.h first, then campaign/closest.h).
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "campaign/closest.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "campaign/minimize.h"
#include "report/report_diff.h"
#include "cli/retrace.h"
#include "symbols/symbols.h"
#include "cli/trace_check.h"

#define ROWS 12
#define ROWS_ALONE 5		/* beside the pair, on one screen */
#define EXECUTIONS 200
/* A trace that is not minimised yet gets half of the time for that, and no more than this. */
#define MINIMIZE_MOST_NS 60000000000ull

struct diff_options {
	struct retrace_options r;	/* r.path is A */
	const char *b;			/* NULL: one trace */
	const char *output;
	int rows;			/* -1: the default */
	uint64_t executions;		/* 0: the default */
};

static const struct option_row rows[] = {
	{ .name = "steps", .letter = 's', .argument = "N", .kind = OPTION_NUMBER, .max = 1000000,
	  .unset = -1, OPTION_AT(struct diff_options, rows),
	  .help = "show N steps after the parting (default 12; of one trace 5)" },
	{ .section = "of one trace", .name = "output", .letter = 'o', .argument = "FILE",
	  .kind = OPTION_TEXT, OPTION_AT(struct diff_options, output),
	  .help = "the passing trace (default: TRACE with .pass before its .trace)" },
	{ .name = "executions", .argument = "N", .kind = OPTION_NUMBER,
	  .min = 1, OPTION_AT(struct diff_options, executions),
	  .help = "at most N executions near it (default 200)" },
	RETRACE_TIME,
	RETRACE_ROWS(RETRACE_REBUILT),
	RETRACE_COLOUR,
};

static const struct command_line line = {
	.command = "zug diff",
	.rows = rows,
	.nr_rows = sizeof(rows) / sizeof(rows[0]),
	.usage = "zug diff [options] A B\n"
		 "       zug diff [options] TRACE\n",
	.about =
		"Compares two traces of one test: how long they are the same, the decision at which they part, what\n"
		"followed in each, and what each task then did otherwise. Tasks are named as in A.\n"
		"\n"
		"Of one failing trace, looks for the closest schedule that passes, and shows the two operations whose\n"
		"order makes the difference; or the call that --faults or --flows changed, when it passes without\n"
		"that. It is minimised first if it was not.\n",
	.end = "Exit status: 0 when the schedules are the same, 1 when they differ; 5 when nothing near TRACE passes.\n",
};

/* Options about executions are of no use with two traces. */
static int check(const struct diff_options *o)
{
	const char *alone = o->output	   ? "--output" :
			    o->executions  ? "--executions" :
			    o->r.time_ns != RETRACE_TIME_UNSET ? "--time" :
			    o->r.force	   ? "--force" :
			    o->r.lane >= 0 ? "--lane" :
			    o->r.socket	   ? "--socket" :
			    o->r.quiet	   ? "--quiet" :
					     NULL;

	if (!o->b || !alone)
		return 0;
	fprintf(stderr,
		"zug diff: %s makes sense with one trace only: two are compared, nothing is executed\n",
		alone);
	return ZUG_EXIT_USAGE;
}

/* 0, an enum zug_exit with a message printed, or -1 after --help. */
static int parse(struct diff_options *o, int argc, char **argv)
{
	char **operands;
	int ret;

	memset(o, 0, sizeof(*o));
	ret = cli_options(&line, o, argc, argv, 1, 2, &operands);
	if (ret)
		return ret;
	o->r.path = operands[0];
	o->b = operands[1];
	return check(o);
}

/* ---- two traces ---- */

static struct trace *open_trace(const char *path)
{
	char err[512];
	struct trace *t = trace_open(path, err, sizeof(err));

	if (!t)
		fprintf(stderr, "zug diff: %s\n", err);
	else if (trace_truncated(t))
		fprintf(stderr,
			"zug diff: %s: cut off after %llu steps: what is missing counts as its end\n",
			path, (unsigned long long)trace_nr_steps(t));
	return t;
}

/* Places of two builds cannot be compared; what is the same program is told by its path. */
static void compare_builds(const struct trace *a, const struct trace *b)
{
	const struct trace_module *x, *y;

	for (uint32_t i = 0; (x = trace_module(a, i)); i++)
		for (uint32_t k = 0; (y = trace_module(b, k)); k++)
			if (!strcmp(x->path, y->path) && strcmp(x->build_id, y->build_id))
				fprintf(stderr,
					"zug diff: %s was rebuilt between the two traces: its places look different where "
					"they are not\n",
					x->path);
	if (strcmp(trace_header(a)->argv[0] ? trace_header(a)->argv[0] : "",
		   trace_header(b)->argv[0] ? trace_header(b)->argv[0] : ""))
		fprintf(stderr, "zug diff: not traces of one command\n");
}

static int diff_two(const struct diff_options *o)
{
	struct trace *a = open_trace(o->r.path), *b = a ? open_trace(o->b) : NULL;
	int ret = ZUG_EXIT_USAGE;
	struct report_options ro;
	char why[80];

	if (b) {
		compare_builds(a, b);
		report_options_init(&ro, stdout);
		report_options_colour(&ro, o->r.colour);
		ro.symbols = symbols_new();
		ro.foreign = trace_is_foreign(a, o->r.path, why, sizeof(why)) ||
			     trace_is_foreign(b, o->b, why, sizeof(why));
		printf("A  %s\nB  %s\n\n", o->r.path, o->b);
		ret = report_diff(stdout, a, b, o->rows < 0 ? ROWS : o->rows, &ro);
		symbols_free(ro.symbols);
		ret = ret < 0 ? ZUG_EXIT_INTERNAL : ret ? ZUG_EXIT_FINDING : ZUG_EXIT_PASS;
		if (fflush(stdout) || ferror(stdout)) {
			fprintf(stderr, "zug diff: standard output: %s\n", strerror(errno));
			ret = ZUG_EXIT_ENVIRONMENT;
		}
	}
	trace_free(a);
	trace_free(b);
	return ret;
}

/* ---- one trace and its neighbour ---- */

static void say_missing(const struct closest *m, const char *path, FILE *err_to)
{
	if (!m->r.reproduced && !m->came[0])
		fprintf(err_to, "zug diff: interrupted before %s had been followed once\n", path);
	else if (!m->r.reproduced)
		fprintf(err_to,
			"zug diff: %s does not fail again under its own schedule: %s; zug replay -n 20 says how "
			"often it does\n",
			path, m->came);
	else if (m->interrupted || m->late)
		fprintf(err_to, "zug diff: %s: none of %lu executions near %s passed\n",
			m->interrupted ? "interrupted" : "the time (--time) is over",
			(unsigned long)m->r.trials, path);
	else if (m->r.trials == 1 && m->r.all)
		fprintf(err_to,
			"zug diff: there is only one schedule: at no point of %s could another task have had the "
			"turn\n",
			path);
	else
		fprintf(err_to,
			"zug diff: no schedule near %s passes: of the %s%lu that differ from it in one decision or in the order of one pair "
			"%lu fail like it and %lu in another way%s\n",
			path, m->r.all ? "" : "first ", (unsigned long)m->r.trials - 1,
			(unsigned long)m->r.alike, (unsigned long)m->r.otherwise,
			m->r.all ? "; it may fail under every schedule" :
				   " (--executions tries more)");
}

/* step: the call or timer of this step of a makes the difference; UINT64_MAX: a decision does */
static int say_closest(const struct diff_options *o, const char *path, const struct trace *a,
		       const char *to, uint64_t step, const struct closest *m, FILE *out,
		       FILE *err_to)
{
	struct report_options ro;
	char err[512];
	struct trace *b;
	int ret;

	if (!m->r.found) {
		say_missing(m, path, err_to);
		return ZUG_EXIT_INCOMPLETE;
	}
	b = trace_open(to, err, sizeof(err));
	if (!b) {
		fprintf(err_to, "zug diff: %s\n", err);
		return ZUG_EXIT_ENVIRONMENT;
	}
	fprintf(out, "A  %s  fails\nB  %s  passes: the closest to it of %lu executions%s\n\n", path,
		to, (unsigned long)m->r.trials,
		m->interrupted ? " (interrupted)" : m->late ? " (then the time was over: --time)" : "");
	report_options_init(&ro, out);
	report_options_colour(&ro, o->r.colour);
	ro.symbols = symbols_new();
	ret = report_neighbour(out, a, b, &m->r, step, o->rows < 0 ? ROWS_ALONE : o->rows, &ro);
	symbols_free(ro.symbols);
	trace_free(b);
	fprintf(out, "\nmore of it: zug diff %s %s\n", path, to);
	return ret < 0 ? ZUG_EXIT_INTERNAL : ZUG_EXIT_FINDING;
}

/*
 * A schedule with superfluous decisions has neighbours that fail all the same. *t becomes the
 * simplest one, in path.
 */
static int simplify(struct retrace *r, const struct diff_options *o, struct trace **t, char *path,
		    size_t len, FILE *out, FILE *err_to)
{
	uint64_t half = r->o.search.time_ns ? r->o.search.time_ns / 2 : MINIMIZE_MOST_NS;
	struct minimize_limits limits = minimize_aside(*t, half < MINIMIZE_MOST_NS ? half : MINIMIZE_MOST_NS);
	struct minimized m;
	char err[1024];
	int ret;

	if (o->executions)
		limits.executions = o->executions;
	retrace_name_beside(o->r.path, "min", path, len);
	ret = minimize_trace(r->c, *t, &limits, path, &m, err, sizeof(err));
	campaign_text_clear(&r->text);
	if (ret) {
		fprintf(err_to, "zug diff: %s\n", err);
		return ZUG_EXIT_ENVIRONMENT;
	}
	if (!m.reproduced) {
		struct closest none = { 0 };

		snprintf(none.came, sizeof(none.came), "%s", m.came);
		say_missing(&none, o->r.path, err_to);
		return ZUG_EXIT_INCOMPLETE;
	}
	*t = trace_open(path, err, sizeof(err));
	if (!*t) {
		fprintf(err_to, "zug diff: %s\n", err);
		return ZUG_EXIT_ENVIRONMENT;
	}
	minimized_text(out, &m);
	fprintf(out, "the simplest: %s\n\n", path);
	return 0;
}

static int diff_one(struct retrace *r, const struct diff_options *o, FILE *out, FILE *err_to)
{
	char path[PATH_MAX], to[PATH_MAX], err[1024];
	struct trace *t = r->t;
	uint64_t step;
	struct closest m;
	int ret = retrace_prepare(r, UINT64_MAX);

	snprintf(path, sizeof(path), "%s", o->r.path);
	if (!ret && !trace_minimized(t))
		ret = simplify(r, o, &t, path, sizeof(path), out, err_to);
	if (ret)
		return ret;
	if (o->output)
		snprintf(to, sizeof(to), "%s", o->output);
	else
		retrace_name_beside(o->r.path, "pass", to, sizeof(to));
	ret = closest_without(r->c, t, to, &step, &m, err, sizeof(err));
	if (!ret && m.r.reproduced && !m.r.found)
		ret = closest_trace(r->c, t, o->executions ? o->executions : EXECUTIONS, to, &m,
				    err, sizeof(err));
	campaign_text_clear(&r->text);
	if (ret)
		fprintf(err_to, "zug diff: %s\n", err);
	ret = ret ? ZUG_EXIT_ENVIRONMENT : say_closest(o, path, t, to, step, &m, out, err_to);
	if (t != r->t)
		trace_free(t);
	return ret;
}

int diff_execute(struct kernel *k, int argc, char **argv, FILE *out, FILE *err_to,
		 const volatile sig_atomic_t *stop)
{
	struct diff_options o;
	struct retrace r;
	int ret;

	ret = parse(&o, argc, argv);
	if (ret)
		return ret;
	ret = retrace_open(&r, &o.r, "diff", err_to);
	if (!ret)
		ret = trace_check_failing(r.t, o.r.path, "diff", err_to);
	if (!ret)
		ret = retrace_begin(&r, &o.r, k, out, err_to, stop);
	if (!ret)
		ret = diff_one(&r, &o, out, err_to);
	retrace_end(&r);
	return ret;
}

int cmd_diff(int argc, char **argv)
{
	struct diff_options o;
	int ret = parse(&o, argc, argv);

	if (ret)
		return ret == -1 ? ZUG_EXIT_PASS : ret;
	return o.b ? diff_two(&o) : command_dispatch(o.r.socket, "diff", argc, argv, diff_execute);
}
