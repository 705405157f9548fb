// SPDX-License-Identifier: GPL-2.0-only
/* cmd_show.c - zug show: print a trace */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "commands.h"
#include "exit_codes.h"
#include "report.h"
#include "symbols.h"

static const char usage[] =
	"usage: zug show [--steps=A..B] [--task=T1] [--object=NAME] [--all] [--brief] [--json]\n"
	"                [--color=auto|always|never] TRACE\n";

static const char help[] =
	"\n"
	"Prints a trace: a column per task, each step with its operation, object and place in the\n"
	"source; preemptions; how it ended; for a deadlock, who waits for whom, and where.\n"
	"\n"
	"  -s, --steps=A..B    only steps A to B (A.. and ..B leave an end open, A is one step)\n"
	"  -t, --task=T1       only steps of that task\n"
	"  -o, --object=NAME   only steps on objects of that name; * ? [] match as in a shell\n"
	"  -a, --all           every step; without it, of a long trace those that matter\n"
	"  -b, --brief         what failed, the decisions that lead there, stacks, end of the output\n"
	"  -j, --json          one JSON object on standard output\n"
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

static int show(const char *path, struct report_options *o, bool brief, bool json)
{
	char err[512];
	struct trace *t = trace_open(path, err, sizeof(err));

	if (!t) {
		fprintf(stderr, "zug show: %s\n", err);
		return ZUG_EXIT_USAGE;
	}
	if (o->task != TRACE_NO_TASK && !trace_task(t, o->task)) {
		fprintf(stderr, "zug show: %s: no task T%u; it has %u\n", path, o->task,
			trace_nr_tasks(t));
		trace_free(t);
		return ZUG_EXIT_USAGE;
	}
	if (trace_truncated(t))
		fprintf(stderr, "zug show: %s: cut off after %llu steps%s; this is what there is\n",
			path, (unsigned long long)trace_nr_steps(t),
			trace_outcome(t) ? "" : ", before its outcome");
	o->symbols = symbols_new();
	if (json)
		report_json(stdout, t, o);
	else if (brief)
		report_finding(stdout, t, o);
	else
		report_trace(stdout, t, o);
	symbols_free(o->symbols);
	trace_free(t);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "zug show: standard output: %s\n", strerror(errno));
		return ZUG_EXIT_ENVIRONMENT;
	}
	return ZUG_EXIT_PASS;
}

int cmd_show(int argc, char **argv)
{
	static const struct option options[] = {
		{ "steps", required_argument, NULL, 's' },
		{ "task", required_argument, NULL, 't' },
		{ "object", required_argument, NULL, 'o' },
		{ "all", no_argument, NULL, 'a' },
		{ "brief", no_argument, NULL, 'b' },
		{ "json", no_argument, NULL, 'j' },
		{ "color", required_argument, NULL, 'c' },
		{ "colour", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct report_options o;
	bool brief = false, json = false, filtered = false;
	int c;

	report_options_init(&o, stdout);
	while ((c = getopt_long(argc, argv, "+s:t:o:abjc:h", options, NULL)) != -1) {
		switch (c) {
		case 's':
			if (!parse_steps(optarg, &o))
				return usage_error("--steps takes A..B, A.., ..B or A, with A <= B; "
						   "not '%s'", optarg);
			filtered = true;
			break;
		case 't':
			if (!parse_task(optarg, &o.task))
				return usage_error("--task takes a task as it is shown, T0, T1 ...; "
						   "not '%s'", optarg);
			filtered = true;
			break;
		case 'o':
			o.object = optarg;
			filtered = true;
			break;
		case 'a':
			o.all = true;
			break;
		case 'b':
			brief = true;
			break;
		case 'j':
			json = true;
			break;
		case 'c':
			if (!strcmp(optarg, "always"))
				o.colour = true;
			else if (!strcmp(optarg, "never"))
				o.colour = false;
			else if (strcmp(optarg, "auto"))
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
	}
	if (optind == argc)
		return usage_error("no trace named");
	if (optind + 1 < argc)
		return usage_error("one trace at a time: '%s' is too many", argv[optind + 1]);
	if (brief && json)
		return usage_error("--brief and --json exclude each other");
	if (brief && (filtered || o.all))
		return usage_error("--brief chooses the steps itself");
	return show(argv[optind], &o, brief, json);
}
