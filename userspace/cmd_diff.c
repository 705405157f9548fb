/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include "commands.h"
#include "exit_codes.h"
#include "report_diff.h"
#include "symbols.h"

#define ROWS 12

static const char usage[] =
	"usage: zug diff [--steps=N] [--color=auto|always|never] A B\n";

static const char help[] =
	"\n"
	"Compares two traces of one test: how long they are the same, the decision at which they part, what\n"
	"followed in each, and what each task then did otherwise. Tasks are named as in A.\n"
	"\n"
	"  -s, --steps=N       so many steps after the parting (default 12)\n"
	"  -c, --color=WHEN    auto (default: on a terminal, unless NO_COLOR is set), always, never\n"
	"  -h, --help\n"
	"\n"
	"Exit status: 0 when the schedules are the same, 1 when they differ.\n";

static struct trace *open_trace(const char *path)
{
	char err[512];
	struct trace *t = trace_open(path, err, sizeof(err));

	if (!t)
		fprintf(stderr, "zug diff: %s\n", err);
	else if (trace_truncated(t))
		fprintf(stderr, "zug diff: %s: cut off after %llu steps: what is missing counts as its end\n", path,
			(unsigned long long)trace_nr_steps(t));
	return t;
}

/* Places of two builds cannot be compared; what is the same program is told by its path. */
static void compare_builds(const struct trace *a, const struct trace *b)
{
	const struct trace_module *x, *y;

	for (uint32_t i = 0; (x = trace_module(a, i)); i++)
		for (uint32_t k = 0; (y = trace_module(b, k)); k++)
			if (!strcmp(x->path, y->path) && strcmp(x->build_id, y->build_id))
				fprintf(stderr, "zug diff: %s was another build in each: its places look different where "
					"they are not\n", x->path);
	if (strcmp(trace_header(a)->argv[0] ? trace_header(a)->argv[0] : "",
		   trace_header(b)->argv[0] ? trace_header(b)->argv[0] : ""))
		fprintf(stderr, "zug diff: not traces of one command\n");
}

static int diff(const char *path_a, const char *path_b, unsigned int rows, struct report_options *o)
{
	struct trace *a = open_trace(path_a), *b = a ? open_trace(path_b) : NULL;
	int ret = ZUG_EXIT_USAGE;

	if (b) {
		compare_builds(a, b);
		o->symbols = symbols_new();
		printf("A  %s\nB  %s\n\n", path_a, path_b);
		ret = report_diff(stdout, a, b, rows, o);
		symbols_free(o->symbols);
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

int cmd_diff(int argc, char **argv)
{
	static const struct option options[] = {
		{ "steps", required_argument, NULL, 's' },
		{ "color", required_argument, NULL, 'c' },
		{ "colour", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct report_options o;
	int colour = REPORT_COLOUR_AUTO, c;
	unsigned long rows = ROWS;
	char *end;

	report_options_init(&o, stdout);
	while ((c = getopt_long(argc, argv, "s:c:h", options, NULL)) != -1) {
		switch (c) {
		case 's':
			rows = strtoul(optarg, &end, 10);
			if (optarg[0] < '0' || optarg[0] > '9' || *end || rows > 1000000) {
				fprintf(stderr, "zug diff: --steps %s: not a number from 0 to 1000000\n", optarg);
				return ZUG_EXIT_USAGE;
			}
			break;
		case 'c':
			if (report_colour_parse(optarg, &colour)) {
				fprintf(stderr, "zug diff: --color %s: not auto, always or never\n", optarg);
				return ZUG_EXIT_USAGE;
			}
			break;
		case 'h':
			printf("%s%s", usage, help);
			return ZUG_EXIT_PASS;
		default:
			fputs(usage, stderr);
			return ZUG_EXIT_USAGE;
		}
	}
	report_options_colour(&o, colour);
	if (optind + 2 != argc) {
		fprintf(stderr, "zug diff: two traces are compared, not %d\n%s", argc - optind, usage);
		return ZUG_EXIT_USAGE;
	}
	return diff(argv[optind], argv[optind + 1], rows, &o);
}
