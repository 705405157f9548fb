/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * zug pin: minimises a trace, writes the script that names its decisions (campaign/pin.h), follows
 * the script a few times and keeps it. pin_execute() has the order.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/base/clock.h"
#include "lib/base/new_file.h"
#include "lib/base/proc_status.h"
#include "lib/base/shell_word.h"
#include "campaign/campaign.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "campaign/minimize.h"
#include "campaign/pin.h"
#include "cli/libzug_follow.h"
#include "cli/retrace.h"
#include "engine/script.h"
#include "symbols/symbols.h"
#include "cli/trace_check.h"

struct pin_options {
	struct retrace_options r;
	const char *output;
	char out[PATH_MAX];
	int verify;
	uint64_t begin_ns;
};

static const struct option_row rows[] = {
	{ .name = "output", .letter = 'o', .argument = "FILE",
	  .kind = OPTION_TEXT, OPTION_AT(struct pin_options, output),
	  .help = "the script (default: TRACE with .zug in place of .trace)" },
	{ .name = "verify", .argument = "N", .kind = OPTION_NUMBER, .min = 1, .max = 10000,
	  .preset = "3", OPTION_AT(struct pin_options, verify),
	  .help = "follow the script N times before it is kept" },
	RETRACE_TIME,
	RETRACE_ROWS("although the program was rebuilt since, or FILE exists already"),
};

static const struct command_line line = {
	.command = "zug pin",
	.rows = rows,
	.nr_rows = sizeof(rows) / sizeof(rows[0]),
	.usage = "zug pin [options] TRACE\n",
	.about =
		"Writes a script that makes the failure of TRACE come again: a few lines that say which task stops\n"
		"before which operation, and who goes on instead. 'zug run --script FILE -- COMMAND' follows it,\n"
		"also when the program has changed elsewhere: a regression test.\n",
	.end = "Exit status: 0 when the script was written, 5 when the failure did not come again.\n",
};

/* 0, an enum zug_exit with a message printed, or -1 after --help. */
static int parse(struct pin_options *o, int argc, char **argv)
{
	char **operands;
	size_t n;
	int ret;

	memset(o, 0, sizeof(*o));
	ret = cli_options(&line, o, argc, argv, 1, 1, &operands);
	o->r.colour = REPORT_COLOUR_AUTO;
	if (ret)
		return ret;
	o->r.path = operands[0];
	n = strlen(o->r.path);
	if (o->output)
		snprintf(o->out, sizeof(o->out), "%s", o->output);
	else
		snprintf(o->out, sizeof(o->out), "%.*s.zug",
			 (int)(n > 6 && !strcmp(o->r.path + n - 6, ".trace") ? n - 6 : n),
			 o->r.path);
	if (!o->r.force && !access(o->out, F_OK)) {
		fprintf(stderr,
			"zug pin: %s exists already, and may have been edited: name another file with -o, or "
			"overwrite it with --force\n",
			o->out);
		return ZUG_EXIT_USAGE;
	}
	return 0;
}

/* *t becomes the simplest schedule that fails like that, the caller's. An enum zug_exit. */
static int simplify(struct retrace *r, struct trace **t, FILE *out, FILE *err_to)
{
	const struct minimize_limits limits = MINIMIZE_ALONE;
	char path[96], err[1024];
	struct minimized m;
	struct trace *simple;
	int ret;

	ret = retrace_prepare(r, UINT64_MAX);
	if (ret)
		return ret;
	snprintf(path, sizeof(path), "/run/%s-pin.trace", proc_own_name());
	ret = minimize_trace(r->c, *t, &limits, path, &m, err, sizeof(err));
	campaign_text_clear(&r->text);
	if (ret) {
		fprintf(err_to, "zug pin: %s\n", err);
		new_file_unlink(path);
		return ZUG_EXIT_ENVIRONMENT;
	}
	if (!m.reproduced) {
		fprintf(err_to,
			"zug pin: the trace does not fail again under its own schedule%s%s; zug replay -n 20 says "
			"how often it does\n",
			m.came[0] ? ": " : "", m.came);
		return ZUG_EXIT_INCOMPLETE;
	}
	minimized_text(out, &m);
	simple = trace_open(path, err, sizeof(err));
	new_file_unlink(path);
	if (!simple) {
		fprintf(err_to, "zug pin: %s: %s\n", path, err);
		return ZUG_EXIT_ENVIRONMENT;
	}
	*t = simple;
	return 0;
}

/* What is pinned, and where: the same for all that is tried. */
struct pinning {
	struct kernel *k;
	const struct trace *t;
	const struct campaign_options *o;
	const struct pin_options *po;
	const char *path;		/* of the script, beside its place */
	struct id_map absent;		/* where the failure did not come, the places of t that were no points */
	FILE *out, *err_to;
	const volatile sig_atomic_t *stop;
};

/* The first execution that did not fail like the trace. */
struct otherwise {
	char came[1200];
	char *unmade;		/* the statements that were not made then, as lines */
	size_t len;
	unsigned int nr_unmade;
};

static void note_otherwise(struct otherwise *o, const struct campaign *c, const char *script,
			   const struct execution *x)
{
	FILE *f;

	if (o->came[0])
		return;
	outcome_words(&x->outcome, o->came, sizeof(o->came));
	f = open_memstream(&o->unmade, &o->len);
	if (!f)
		return;
	o->nr_unmade = script_text_unmade(c, script, f);
	fclose(f);
}

/*
 * The script as zug run would follow it, so often, but when the time is over only once: *followed.
 * How many executions failed as the trace did, or -1.
 */
static int follow(struct pinning *p, struct otherwise *otherwise, int *followed)
{
	const uint64_t failure = trace_outcome(p->t)->failure;
	struct campaign_options o = *p->o;
	struct campaign_text text;
	enum campaign_step what;
	struct script script;
	struct campaign *c;
	struct execution x;
	char err[1024] = "";
	uint64_t used = clock_now_ns() - p->po->begin_ns;
	int same = 0, done = 0, ret = -1;

	/* what is left of the time */
	if (o.search.time_ns)
		o.search.time_ns = used < o.search.time_ns ? o.search.time_ns - used : 1;
	if (script_load(&script, p->path, &run_options_script, err, sizeof(err))) {
		fprintf(p->err_to, "zug pin: %s\n", err);
		goto out;
	}
	o.search.script = &script;
	o.search.rules = script.rules;
	o.search.strategy = NULL;
	/* what the test maps, what of it is hot and which places race is learnt as in any search */
	o.points.races = pin_needs_races(p->o);
	o.replay = (struct options_replay){ .debugger = o.replay.debugger };
	campaign_text_init(&text, &o, p->out, p->err_to);
	if (campaign_text_new(&text, &c, p->k, p->stop))
		goto out;
	/* followed once, the script is known to do what it is for */
	while (done < p->po->verify && !(p->stop && *p->stop) && !(done && campaign_is_late(c))) {
		ret = campaign_step(c, &x, &what, err, sizeof(err));
		if (ret) {
			if (err[0])
				fprintf(p->err_to, "zug pin: %s\n", err);
			same = -1;
			break;
		}
		if (what != CAMPAIGN_EXECUTED)
			continue;
		done++;
		if (x.outcome.failure == failure && failure)
			same++;
		else
			note_otherwise(otherwise, c, p->path, &x);
	}
	if (same >= 0 && same < done && pin_absent(p->t, c, &p->absent))
		same = -1;
	campaign_free(c);
	*followed = done;
	ret = same;
out:
	script_free(&script);
	return ret;
}

static void say_otherwise(const struct pinning *p, const struct otherwise *o, int same, int followed, int statements)
{
	if (!followed) {
		fprintf(p->err_to,
			"zug pin: interrupted before an execution had followed the script; it is kept, untried, as %s\n",
			p->path);
		return;
	}
	fprintf(p->err_to,
		"zug pin: the failure came in %d of %d executions of the script%s%s; it is kept as %s\n",
		same, followed, o->came[0] ? ", else " : "", o->came, p->path);
	if (o->nr_unmade)
		fprintf(p->err_to, "%u of %d statements not made, or only in part:\n%s", o->nr_unmade,
			statements, o->unmade);
	else if (o->came[0] && statements)
		fputs("every statement was made: the failure also depends on something that is not in the script\n",
		      p->err_to);
}

/* The number of statements, or an enum zug_exit below 0 with a message printed. */
static int write_statements(const struct pinning *p)
{
	struct symbols *s = symbols_new();
	FILE *f = new_file_stream(p->path);
	int statements = -ENOMEM;

	if (!f) {
		fprintf(p->err_to, "zug pin: cannot write %s: %s\n", p->path, new_file_error(errno));
		symbols_free(s);
		return -ZUG_EXIT_USAGE;
	}
	if (s)
		statements = pin_write(f, p->t, p->o, s, &p->absent, p->po->r.path, p->po->out);
	symbols_free(s);
	if (fclose(f) && statements >= 0)
		statements = -errno;
	if (statements >= 0)
		return statements;
	fprintf(p->err_to, "zug pin: %s: %s\n", p->path, statements == -EINVAL ?
		"its steps do not follow the rules of the default schedule" : strerror(-statements));
	new_file_unlink(p->path);
	return -ZUG_EXIT_ENVIRONMENT;
}

/* The script that was followed so often, with the same failure each time, gets its name. An enum zug_exit. */
static int keep_script(const struct pinning *p, int statements, int followed)
{
	int ret = new_file_rename(p->path, p->po->out);

	if (ret) {
		fprintf(p->err_to, "zug pin: cannot write %s: %s\n", p->po->out, new_file_error(ret));
		new_file_unlink(p->path);
		return ZUG_EXIT_ENVIRONMENT;
	}
	fprintf(p->out, "%s: %d statement%s; followed %d time%s, the same failure each time%s\n", p->po->out,
		statements, statements == 1 ? "" : "s", followed, followed == 1 ? "" : "s",
		followed < p->po->verify ? " (--verify wanted more)" : "");
	fprintf(p->out, "run it: zug run --script %s -- COMMAND\n", p->po->out);
	return ZUG_EXIT_PASS;
}

/* Writes the script beside its place, and keeps it when it does what it is for. */
static int write_script(struct pinning *p)
{
	struct otherwise otherwise = { 0 };
	int statements, same, followed = 0;

	/* once more where data that the search knew as points would be counted, and is none when the script is followed */
	for (int again = 0; again < 2; again++) {
		size_t nr_absent = p->absent.nr;

		free(otherwise.unmade);
		otherwise = (struct otherwise){ 0 };
		statements = write_statements(p);
		if (statements < 0)
			return -statements;
		same = follow(p, &otherwise, &followed);
		if (same < 0 || same == followed || p->absent.nr == nr_absent || !otherwise.nr_unmade)
			break;
	}
	if (same >= 0 && (same < followed || !followed))
		say_otherwise(p, &otherwise, same, followed, statements);
	free(otherwise.unmade);
	if (same < 0) {
		new_file_unlink(p->path);
		return ZUG_EXIT_ENVIRONMENT;
	}
	return same < followed || !followed ? ZUG_EXIT_INCOMPLETE : keep_script(p, statements, followed);
}

int pin_execute(struct kernel *k, int argc, char **argv, FILE *out, FILE *err_to,
		const volatile sig_atomic_t *stop)
{
	struct pin_options po;
	struct kernel *own = NULL;
	struct trace *t;
	struct retrace r;
	char err[512];
	int ret;

	ret = parse(&po, argc, argv);
	if (ret)
		return ret;
	po.begin_ns = clock_now_ns();
	ret = retrace_open(&r, &po.r, "pin", err_to);
	if (!ret)
		ret = trace_check_failing(r.t, po.r.path, "pin", err_to);
	/* one for all the campaigns below */
	if (!ret && !k && kernel_open(&own, err, sizeof(err))) {
		fprintf(err_to, "zug: %s\n", err);
		ret = ZUG_EXIT_ENVIRONMENT;
	}
	if (!k)
		k = own;
	if (!ret)
		ret = retrace_begin(&r, &po.r, k, out, err_to, stop);
	t = r.t;
	/* of a time-out every trial would be one, too */
	if (!ret && !trace_minimized(t) && trace_outcome(t)->kind != ZUG_OUTCOME_TIMEOUT)
		ret = simplify(&r, &t, out, err_to);
	campaign_free(r.c);
	r.c = NULL;
	if (!ret) {
		char path[PATH_MAX + 8];
		struct pinning p = { .k = k, .t = t, .o = &r.o, .po = &po, .path = path, .out = out, .err_to = err_to, .stop = stop };

		snprintf(path, sizeof(path), "%s.new", po.out);
		ret = write_script(&p);
		id_map_free(&p.absent);
	}
	if (t != r.t)
		trace_free(t);
	retrace_end(&r);
	kernel_close(own);
	return ret;
}

/* libzug follows the script, not zug; its trace is of the simplest schedule already. */
static int pin_of_libzug(const struct trace *t, const struct pin_options *po)
{
	const uint64_t most = po->r.time_ns == RETRACE_TIME_UNSET ? RETRACE_TIME_NS : po->r.time_ns;
	const uint64_t until = most ? clock_now_ns() + most : 0;
	const struct id_map none = { 0 };
	struct symbols *s = symbols_new();
	char path[PATH_MAX + 8], came[1200] = "";
	int statements = s ? 0 : -ENOMEM, followed = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s.new", po->out);
	f = s ? fopen(path, "we") : NULL;
	if (s && !f)
		statements = -errno;
	if (f) {
		statements = pin_write(f, t, NULL, s, &none, po->r.path, po->out);
		if (fclose(f) && statements >= 0)
			statements = -errno;
	}
	symbols_free(s);
	if (statements < 0) {
		fprintf(stderr, "zug pin: cannot write %s: %s\n", path, strerror(-statements));
		if (f)
			unlink(path);
		return ZUG_EXIT_USAGE;
	}
	while (followed < po->verify && libzug_follow(t, path, until, came, sizeof(came)))
		followed++;
	if (followed < po->verify) {
		fprintf(stderr, "zug pin: %s was followed %d of %d times, then: %s\n", path, followed, po->verify, came);
		return ZUG_EXIT_INCOMPLETE;
	}
	if (rename(path, po->out)) {
		fprintf(stderr, "zug pin: cannot write %s: %s\n", po->out, strerror(errno));
		return ZUG_EXIT_USAGE;
	}
	printf("%s: %d statement%s; followed %d time%s, the same failure each time\nrun it: ZUG_SCRIPT=", po->out, statements,
	       statements == 1 ? "" : "s", followed, followed == 1 ? "" : "s");
	shell_word_put(stdout, po->out);
	shell_words_put(stdout, trace_header(t)->argv);
	putchar('\n');
	return ZUG_EXIT_PASS;
}

int cmd_pin(int argc, char **argv)
{
	struct pin_options po;
	int ret = parse(&po, argc, argv);
	struct trace *t;
	char why[512];

	if (ret)
		return ret == -1 ? ZUG_EXIT_PASS : ret;
	t = trace_open(po.r.path, why, sizeof(why));
	if (t && !strncmp(trace_header(t)->options, TRACE_LIBZUG_OPTIONS, strlen(TRACE_LIBZUG_OPTIONS))) {
		ret = trace_check_failing(t, po.r.path, "pin", stderr);
		ret = ret ? ret : trace_check_origin(t, po.r.path, stderr, po.r.trust);
		ret = ret ? ret : pin_of_libzug(t, &po);
		trace_free(t);
		return ret;
	}
	trace_free(t);
	return command_dispatch(po.r.socket, "pin", argc, argv, pin_execute);
}
