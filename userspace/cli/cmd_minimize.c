/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "campaign/minimize.h"
#include "report/report.h"
#include "cli/retrace.h"
#include "symbols/symbols.h"
#include "cli/trace_check.h"

struct minimize_options {
	struct retrace_options r;
	const char *output;
	char out[PATH_MAX];
	struct minimize_limits limits;
};

static const struct option_row rows[] = {
	{ .name = "output", .letter = 'o', .argument = "FILE",
	  .kind = OPTION_TEXT, OPTION_AT(struct minimize_options, output),
	  .help = "the new trace (default: TRACE with .min before its .trace)" },
	{ .name = "executions", .argument = "N", .kind = OPTION_NUMBER,
	  OPTION_AT(struct minimize_options, limits.executions), .preset = "5000",
	  .zero = "no bound",
	  .help = "at most N executions" },
	RETRACE_TIME,
	RETRACE_ROWS(RETRACE_REBUILT),
	RETRACE_COLOUR,
};

static const struct command_line line = {
	.command = "zug minimize",
	.rows = rows,
	.nr_rows = sizeof(rows) / sizeof(rows[0]),
	.usage = "zug minimize [options] TRACE\n",
	.about =
		"Looks for the simplest schedule that fails as TRACE does: first the fewest preemptions, then the\n"
		"fewest decisions that are not 'go on', then the fewest steps. Writes it as a trace of its own, and\n"
		"names the pairs of operations whose order matters. At a bound, and after Ctrl-C, the best so far is kept.\n",
	.end = "Exit status: 1 when there is a trace of the failure, 5 when TRACE did not fail again like that.\n",
};

/* 0, an enum zug_exit with a message printed, or -1 after --help. */
static int parse(struct minimize_options *o, int argc, char **argv)
{
	char **operands;
	int ret;

	memset(o, 0, sizeof(*o));
	ret = cli_options(&line, o, argc, argv, 1, 1, &operands);
	if (ret)
		return ret;
	o->r.path = operands[0];
	if (o->output)
		snprintf(o->out, sizeof(o->out), "%s", o->output);
	else
		retrace_name_beside(o->r.path, "min", o->out, sizeof(o->out));
	return 0;
}

/* An enum zug_exit. */
static int say_result(const struct minimize_options *mo, const struct minimized *m, FILE *out,
		      FILE *err_to)
{
	struct report_options ro;
	char err[512];
	struct trace *t;

	if (!m->reproduced && !m->came[0]) {
		fprintf(err_to, "zug minimize: interrupted before %s had been followed once\n",
			mo->r.path);
		return ZUG_EXIT_INCOMPLETE;
	}
	if (!m->reproduced) {
		fprintf(err_to,
			"zug minimize: %s does not fail again under its own schedule: %s; zug replay -n 20 "
			"says how often it does\n",
			mo->r.path, m->came);
		return ZUG_EXIT_INCOMPLETE;
	}
	minimized_text(out, m);
	t = trace_open(mo->out, err, sizeof(err));
	if (!t) {
		fprintf(err_to, "zug minimize: %s: %s\n", mo->out, err);
		return ZUG_EXIT_ENVIRONMENT;
	}
	putc('\n', out);
	report_options_init(&ro, out);
	report_options_colour(&ro, mo->r.colour);
	ro.symbols = symbols_new();
	report_finding(out, t, &ro);
	symbols_free(ro.symbols);
	trace_free(t);
	fprintf(out, "\ntrace: %s (%lu steps, %u preemption%s)\n", mo->out, (unsigned long)m->steps,
		m->preemptions, m->preemptions == 1 ? "" : "s");
	return ZUG_EXIT_FINDING;
}

static int minimize(struct retrace *r, const struct minimize_options *mo, FILE *out, FILE *err_to)
{
	struct minimized m;
	char err[1024];
	int ret = retrace_prepare(r, UINT64_MAX);

	if (ret)
		return ret;
	ret = minimize_trace(r->c, r->t, &mo->limits, mo->out, &m, err, sizeof(err));
	campaign_text_clear(&r->text);
	if (ret) {
		fprintf(err_to, "zug minimize: %s\n", err);
		return ZUG_EXIT_ENVIRONMENT;
	}
	return say_result(mo, &m, out, err_to);
}

int minimize_execute(struct kernel *k, int argc, char **argv, FILE *out, FILE *err_to,
		     const volatile sig_atomic_t *stop)
{
	struct minimize_options mo;
	struct retrace r;
	int ret;

	ret = parse(&mo, argc, argv);
	if (ret)
		return ret;
	ret = retrace_open(&r, &mo.r, "minimize", err_to);
	if (!ret)
		ret = trace_check_failing(r.t, mo.r.path, "minimize", err_to);
	if (!ret)
		ret = retrace_begin(&r, &mo.r, k, out, err_to, stop);
	if (!ret)
		ret = minimize(&r, &mo, out, err_to);
	retrace_end(&r);
	return ret;
}

int cmd_minimize(int argc, char **argv)
{
	struct minimize_options mo;
	int ret = parse(&mo, argc, argv);

	if (ret)
		return ret == -1 ? ZUG_EXIT_PASS : ret;
	return command_dispatch(mo.r.socket, "minimize", argc, argv, minimize_execute);
}
