// SPDX-License-Identifier: GPL-2.0-only
/* cmd_show.c - zug show: print a trace */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "report/record.h"
#include "report/report.h"
#include "symbols/symbols.h"

static const char usage[] =
	"usage: zug show [--steps=A..B] [--task=T1] [--object=NAME] [--all] [--brief] [--json]\n"
	"                [--html] [--perfetto] [--output=FILE] [--color=auto|always|never] TRACE\n";

static const char help[] =
	"\n"
	"Prints a trace (or the record of a campaign): a column per task, each step with its operation, object and place in the\n"
	"source; preemptions; how it ended; for a deadlock, who waits for whom, and where.\n"
	"\n"
	"  -s, --steps=A..B    only steps A to B (A.. and ..B leave an end open, A is one step)\n"
	"  -t, --task=T1       only steps of that task\n"
	"      --object=NAME   only steps on objects of that name; * ? [] match as in a shell\n"
	"  -a, --all           every step; without it, of a long trace those that matter\n"
	"  -b, --brief         what failed, the decisions that lead there, stacks, end of the output\n"
	"  -j, --json          one JSON object\n"
	"      --html          a page for the browser: a lane per task, source, search; one file, no network\n"
	"      --perfetto      trace events for ui.perfetto.dev; a microsecond there is a step\n"
	"  -o, --output=FILE   there instead of to standard output; pages and trace events go, when that\n"
	"                      is a terminal, to the trace's name with .html or .perfetto.json added,\n"
	"                      in the current folder\n"
	"  -c, --color=WHEN    auto (default: on a terminal, unless NO_COLOR is set), always, never\n"
	"  -h, --help\n";

static int usage_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static int usage_error(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "zug show: ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n%s", usage);
	return ZUG_EXIT_USAGE;
}

static bool parse_number(const char *s, const char *end, uint64_t *v)
{
	char *stop;

	if (s == end || *s < '0' || *s > '9')
		return false;
	errno = 0;
	*v = strtoull(s, &stop, 10);
	return !errno && stop == end;
}

static bool parse_steps(const char *s, struct report_options *o)
{
	const char *dots = strstr(s, ".."), *end = s + strlen(s);

	if (!dots) {
		if (!parse_number(s, end, &o->first))
			return false;
		o->last = o->first;
		return true;
	}
	if (dots != s && !parse_number(s, dots, &o->first))
		return false;
	if (dots + 2 != end && !parse_number(dots + 2, end, &o->last))
		return false;
	return o->first <= o->last && (dots != s || dots + 2 != end);
}

static bool parse_task(const char *s, uint32_t *task)
{
	uint64_t v;

	if (*s == 'T' || *s == 't')
		s++;
	if (!parse_number(s, s + strlen(s), &v) || v >= TRACE_NO_TASK)
		return false;
	*task = v;
	return true;
}

enum view { VIEW_TABLE, VIEW_BRIEF, VIEW_JSON, VIEW_HTML, VIEW_PERFETTO };

struct show {
	struct report_options o;
	enum view view;
	const char *view_name;		/* the option */
	const char *output;		/* NULL: standard output */
	bool filtered;			/* some steps are asked for, or all */
	struct campaign_record *record;	/* of a campaign, instead of a trace */
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

/* To the file that was asked for, or that suits; half a file is worth nothing and goes again. */
static int write_view(const struct show *s, const struct trace *t, const char *path)
{
	bool page = s->view == VIEW_HTML || s->view == VIEW_PERFETTO;
	char *named = page && !s->output && isatty(STDOUT_FILENO) ? page_name(path, s->view) : NULL;
	const char *name = s->output ? s->output : named;
	FILE *out = name ? fopen(name, "we") : stdout;
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
		unlink(name);
	if (ret)
		fprintf(stderr, "zug show: %s: %s\n", name ? name : "standard output", strerror(-ret));
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
		fprintf(stderr, "zug show: %s: is the record of a campaign, and has no steps: only --html, --json "
			"and the plain figures are of use with it\n", path);
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
	s->o.symbols = symbols_new();
	ret = write_view(s, t, path);
	symbols_free(s->o.symbols);
	trace_free(t);
	return ret;
}

static bool choose(struct show *s, enum view view, const char *name)
{
	if (s->view != VIEW_TABLE && s->view != view) {
		usage_error("%s and %s exclude each other", s->view_name, name);
		return false;
	}
	s->view = view;
	s->view_name = name;
	return true;
}

int cmd_show(int argc, char **argv)
{
	enum { OPT_OBJECT = 256, OPT_HTML, OPT_PERFETTO };
	static const struct option options[] = {
		{ "steps", required_argument, NULL, 's' },
		{ "task", required_argument, NULL, 't' },
		{ "object", required_argument, NULL, OPT_OBJECT },
		{ "all", no_argument, NULL, 'a' },
		{ "brief", no_argument, NULL, 'b' },
		{ "json", no_argument, NULL, 'j' },
		{ "html", no_argument, NULL, OPT_HTML },
		{ "perfetto", no_argument, NULL, OPT_PERFETTO },
		{ "output", required_argument, NULL, 'o' },
		{ "color", required_argument, NULL, 'c' },
		{ "colour", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct show s = { .view = VIEW_TABLE };
	bool filtered = false, ok = true;
	int c, colour = REPORT_COLOUR_AUTO;

	report_options_init(&s.o, stdout);
	while ((c = getopt_long(argc, argv, "+s:t:o:abjc:h", options, NULL)) != -1) {
		switch (c) {
		case 's':
			if (!parse_steps(optarg, &s.o))
				return usage_error("--steps takes A..B, A.., ..B or A, with A <= B; "
						   "not '%s'", optarg);
			filtered = true;
			break;
		case 't':
			if (!parse_task(optarg, &s.o.task))
				return usage_error("--task takes a task as it is shown, T0, T1 ...; "
						   "not '%s'", optarg);
			filtered = true;
			break;
		case OPT_OBJECT:
			s.o.object = optarg;
			filtered = true;
			break;
		case 'a':
			s.o.all = true;
			break;
		case 'b':
			ok = choose(&s, VIEW_BRIEF, "--brief");
			break;
		case 'j':
			ok = choose(&s, VIEW_JSON, "--json");
			break;
		case OPT_HTML:
			ok = choose(&s, VIEW_HTML, "--html");
			break;
		case OPT_PERFETTO:
			ok = choose(&s, VIEW_PERFETTO, "--perfetto");
			break;
		case 'o':
			s.output = optarg;
			break;
		case 'c':
			if (report_colour_parse(optarg, &colour))
				return usage_error("--color takes auto, always or never; not '%s'",
						   optarg);
			break;
		case 'h':
			printf("%s%s", usage, help);
			return ZUG_EXIT_PASS;
		default:
			fputs(usage, stderr);
			return ZUG_EXIT_USAGE;
		}
		if (!ok)
			return ZUG_EXIT_USAGE;
	}
	if (optind == argc)
		return usage_error("no trace named");
	if (optind + 1 < argc)
		return usage_error("one trace at a time: '%s' is too many", argv[optind + 1]);
	if (s.view == VIEW_BRIEF && (filtered || s.o.all))
		return usage_error("--brief chooses the steps itself");
	if ((s.view == VIEW_HTML || s.view == VIEW_PERFETTO) &&
	    (s.o.object || s.o.task != TRACE_NO_TASK || s.o.all))
		return usage_error("%s shows everybody's steps; of --all, --task, --object and --steps it "
				   "knows --steps", s.view_name);
	if (s.output && !*s.output)
		return usage_error("--output takes the name of a file");
	/* a file is no terminal */
	if (s.output)
		s.o.colour = false;
	report_options_colour(&s.o, colour);
	s.filtered = filtered || s.o.all;
	return record_is_one(argv[optind]) ? show_record(argv[optind], &s) : show(argv[optind], &s);
}
