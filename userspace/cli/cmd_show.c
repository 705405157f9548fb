// SPDX-License-Identifier: GPL-2.0-only
/* cmd_show.c - zug show: print a trace */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/base/new_file.h"
#include "cli/cli_options.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/trace_check.h"
#include "report/record.h"
#include "report/report.h"
#include "symbols/symbols.h"

static bool parse_number(const char *s, const char *end, uint64_t *v)
{
	char *stop;

	if (s == end || *s < '0' || *s > '9')
		return false;
	errno = 0;
	*v = strtoull(s, &stop, 10);
	return !errno && stop == end;
}

enum view { VIEW_TABLE, VIEW_BRIEF, VIEW_JSON, VIEW_HTML, VIEW_PERFETTO };

struct show {
	struct report_options o;
	bool brief, json, html, perfetto;	/* views that were asked for: one at most */
	enum view view;
	const char *output;		/* NULL: standard output */
	int colour;
	bool filtered;			/* some steps are asked for, or all */
	struct campaign_record *record;	/* of a campaign, instead of a trace */
};

static int parse_steps(const struct option_row *r, const char *s, void *options, char *err,
		       size_t errlen)
{
	const char *dots = strstr(s, ".."), *end = s + strlen(s);
	struct report_options *o = &((struct show *)options)->o;

	if (!dots) {
		if (!parse_number(s, end, &o->first))
			return -EINVAL;
		o->last = o->first;
		return 0;
	}
	if (dots != s && !parse_number(s, dots, &o->first))
		return -EINVAL;
	if (dots + 2 != end && !parse_number(dots + 2, end, &o->last))
		return -EINVAL;
	return o->first <= o->last && (dots != s || dots + 2 != end) ? 0 : -EINVAL;
}

static int parse_task(const struct option_row *r, const char *s, void *options, char *err,
		      size_t errlen)
{
	uint64_t v;

	if (*s == 'T' || *s == 't')
		s++;
	if (!parse_number(s, s + strlen(s), &v) || v >= TRACE_NO_TASK)
		return -EINVAL;
	((struct show *)options)->o.task = v;
	return 0;
}

static int parse_output(const struct option_row *r, const char *s, void *options, char *err,
			size_t errlen)
{
	((struct show *)options)->output = s;
	return *s ? 0 : -EINVAL;
}

#define AT(member) OPTION_AT(struct show, member)

static const struct option_row rows[] = {
	{ .name = "steps", .letter = 's', .argument = "A..B", .kind = OPTION_CUSTOM,
	  .parse = parse_steps, .valid = "A..B, A.., ..B or A, with A <= B",
	  .help = "only steps A to B (A.. and ..B leave an end open, A is one step)" },
	{ .name = "task", .letter = 't', .argument = "T1", .kind = OPTION_CUSTOM,
	  .parse = parse_task, .valid = "a task as zug show names it: T0, T1 ...",
	  .help = "only steps of that task" },
	{ .name = "object", .argument = "NAME", .kind = OPTION_TEXT, AT(o.object),
	  .help = "only steps on objects of that name; * ? [] match as in a shell" },
	{ .name = "all", .letter = 'a', .kind = OPTION_FLAG, AT(o.all),
	  .excludes = "brief html perfetto", .why = "the view chooses the steps",
	  .help = "every step; without it, of a long trace those that matter" },
	{ .name = "brief", .letter = 'b', .kind = OPTION_FLAG, AT(brief),
	  .excludes = "json html perfetto steps task object",
	  .why = "it chooses the steps itself, and is a view of its own",
	  .help = "what failed, the decisions that lead there, stacks, end of the output" },
	{ .name = "json", .letter = 'j', .kind = OPTION_FLAG, AT(json), .excludes = "html perfetto",
	  .why = "each is a view of its own",
	  .help = "one JSON object" },
	{ .name = "html", .kind = OPTION_FLAG, AT(html), .excludes = "perfetto task object",
	  .why = "a page shows the steps of all tasks; --steps chooses among them",
	  .help = "a page for the browser: a lane per task, source, search; one file, no network" },
	{ .name = "perfetto", .kind = OPTION_FLAG, AT(perfetto), .excludes = "task object",
	  .why = "trace events are of all tasks; --steps chooses among them",
	  .help = "trace events for ui.perfetto.dev; a microsecond there is a step" },
	{ .name = "source", .argument = "FOLDER", .kind = OPTION_LIST, AT(o.sources),
	  .help = "look for source files there, too (may be repeated)" },
	{ .name = "output", .letter = 'o', .argument = "FILE", .kind = OPTION_CUSTOM,
	  .parse = parse_output, AT(output), .valid = "the name of a file",
	  .help = "write there instead of to standard output; pages and trace events go, when "
		  "that is a terminal, to the trace's name with .html or .perfetto.json added, "
		  "in the current folder" },
	{ .name = "color", .alias = "colour", .letter = 'c', .argument = "WHEN",
	  .kind = OPTION_CHOICE, AT(colour), .words = colour_words, .unset = REPORT_COLOUR_AUTO,
	  .help = "auto (default: on a terminal, unless NO_COLOR is set), always, never" },
};

static const struct command_line line = {
	.command = "zug show",
	.rows = rows,
	.nr_rows = sizeof(rows) / sizeof(rows[0]),
	.ends_at_operand = true,
	.usage =
		"zug show [--steps=A..B] [--task=T1] [--object=NAME] [--all] [--brief] [--json]\n"
		"                [--html] [--perfetto] [--source=FOLDER] [--output=FILE]\n"
		"                [--color=auto|always|never] TRACE\n",
	.about =
		"Prints a trace (or the record of a campaign): a column per task, each step with its operation, object\n"
		"and place in the source; preemptions; how it ended; for a deadlock, which task waits for which, and where.\n",
};

/* A page is nothing for a terminal. Malloc'd, NULL: no memory. */
static char *page_name(const char *path, enum view view)
{
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	char *name;

	if (asprintf(&name, "%s%s", base, view == VIEW_HTML ? ".html" : ".perfetto.json") < 0)
		return NULL;
	return name;
}

static int render(const struct show *s, FILE *out, const struct trace *t, const char *path)
{
	if (s->record) {
		if (s->view == VIEW_HTML)
			return record_html(out, s->record);
		if (s->view == VIEW_JSON)
			return record_json(out, s->record);
		record_text(out, s->record);
		return 0;
	}
	switch (s->view) {
	case VIEW_TABLE:
		report_trace(out, t, &s->o);
		break;
	case VIEW_BRIEF:
		report_finding(out, t, &s->o);
		break;
	case VIEW_JSON:
		report_json(out, t, &s->o);
		break;
	case VIEW_HTML:
		return report_html(out, t, &s->o, path);
	case VIEW_PERFETTO:
		return report_perfetto(out, t, &s->o);
	}
	return 0;
}

/* Writes to the file that was asked for, or to the default one; half a file is removed again. */
static int write_view(const struct show *s, const struct trace *t, const char *path)
{
	bool page = s->view == VIEW_HTML || s->view == VIEW_PERFETTO;
	char *named = page && !s->output && isatty(STDOUT_FILENO) ? page_name(path, s->view) : NULL;
	const char *name = s->output ? s->output : named;
	FILE *out = name ? new_file_stream(name) : stdout;
	struct stat st;
	int ret = out ? 0 : -errno;

	if (!ret)
		ret = render(s, out, t, path);
	if (out && (fflush(out) || ferror(out)) && !ret)
		ret = errno ? -errno : -EIO;
	if (out && name && fstat(fileno(out), &st))
		st.st_mode = 0;
	if (out && name && fclose(out) && !ret)
		ret = -errno;
	if (ret && out && name && S_ISREG(st.st_mode))
		new_file_unlink(name);
	if (ret)
		fprintf(stderr, "zug show: %s: %s\n", name ? name : "standard output",
			strerror(-ret));
	else if (named)
		printf("written to %s\n", named);
	free(named);
	return ret ? ZUG_EXIT_ENVIRONMENT : ZUG_EXIT_PASS;
}

/* The record of a campaign, which has neither steps nor tasks. */
static int show_record(const char *path, struct show *s)
{
	char err[512];
	int ret;

	if (s->filtered || s->view == VIEW_BRIEF || s->view == VIEW_PERFETTO) {
		fprintf(stderr,
			"zug show: %s: is the record of a campaign, and has no steps: only --html, --json "
			"and the plain figures are of use with it\n",
			path);
		return ZUG_EXIT_USAGE;
	}
	s->record = record_read(path, err, sizeof(err));
	if (!s->record) {
		fprintf(stderr, "zug show: %s\n", err);
		return ZUG_EXIT_USAGE;
	}
	ret = write_view(s, NULL, path);
	record_free(s->record);
	return ret;
}

static int show(const char *path, struct show *s)
{
	char err[512];
	struct trace *t = trace_open(path, err, sizeof(err));
	int ret;

	if (!t) {
		fprintf(stderr, "zug show: %s\n", err);
		return ZUG_EXIT_USAGE;
	}
	if (s->o.task != TRACE_NO_TASK && !trace_task(t, s->o.task)) {
		fprintf(stderr, "zug show: %s: no task T%u; it has %u\n", path, s->o.task,
			trace_nr_tasks(t));
		trace_free(t);
		return ZUG_EXIT_USAGE;
	}
	if (s->o.first && s->o.first >= trace_nr_steps(t)) {
		fprintf(stderr, "zug show: %s: no step %llu; it has %llu, from 0 on\n", path,
			(unsigned long long)s->o.first, (unsigned long long)trace_nr_steps(t));
		trace_free(t);
		return ZUG_EXIT_USAGE;
	}
	if (trace_truncated(t))
		fprintf(stderr, "zug show: %s: cut off after %llu steps%s; this is what there is\n",
			path, (unsigned long long)trace_nr_steps(t),
			trace_outcome(t) ? "" : ", before its outcome");
	s->o.foreign = trace_is_foreign(t, path, err, sizeof(err));
	if (s->o.foreign)
		fprintf(stderr, "zug show: %s %s: source lines are shown from below the current folder%s only\n",
			path, err, s->o.sources ? " and --source" : " (and --source)");
	s->o.symbols = symbols_new();
	ret = write_view(s, t, path);
	symbols_free(s->o.symbols);
	trace_free(t);
	return ret;
}

int cmd_show(int argc, char **argv)
{
	struct show s = { 0 };
	char **operands;
	int ret;

	report_options_init(&s.o, stdout);
	ret = cli_options(&line, &s, argc, argv, 1, 1, &operands);
	if (ret)
		return ret == -1 ? ZUG_EXIT_PASS : ret;
	s.view = s.brief    ? VIEW_BRIEF :
		 s.json	    ? VIEW_JSON :
		 s.html	    ? VIEW_HTML :
		 s.perfetto ? VIEW_PERFETTO :
			      VIEW_TABLE;
	/* a file is no terminal */
	if (s.output)
		s.o.colour = false;
	report_options_colour(&s.o, s.colour);
	s.filtered = s.o.first || s.o.last != UINT64_MAX || s.o.task != TRACE_NO_TASK ||
		     s.o.object || s.o.all;
	return record_is_one(operands[0]) ? show_record(operands[0], &s) : show(operands[0], &s);
}
