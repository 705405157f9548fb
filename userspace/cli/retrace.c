/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cli/exit_codes.h"
#include "report/report.h"
#include "cli/retrace.h"
#include "cli/trace_check.h"

void retrace_name_beside(const char *path, const char *word, char *out, size_t len)
{
	size_t n = strlen(path);

	if (n > 6 && !strcmp(path + n - 6, ".trace"))
		n -= 6;
	snprintf(out, len, "%.*s.%s.trace", (int)n, path, word);
}

int retrace_open(struct retrace *r, const struct retrace_options *o, const char *command, FILE *err)
{
	char why[512];
	int ret;

	*r = (struct retrace){ 0 };
	r->t = trace_open(o->path, why, sizeof(why));
	if (!r->t) {
		fprintf(err, "zug %s: %s\n", command, why);
		return ZUG_EXIT_USAGE;
	}
	if (trace_truncated(r->t))
		fprintf(err,
			"zug %s: %s was cut off: only the %lu steps that are there can be followed\n",
			command, o->path, (unsigned long)trace_nr_steps(r->t));
	if (!strncmp(trace_header(r->t)->options, TRACE_LIBZUG_OPTIONS, strlen(TRACE_LIBZUG_OPTIONS))) {
		fprintf(err, "zug %s: %s was written by a test with libzug, which repeats it without zug: ZUG_REPLAY=%s %s\n",
			command, o->path, o->path, trace_header(r->t)->argv[0] ? trace_header(r->t)->argv[0] : "TEST");
		return ZUG_EXIT_USAGE;
	}
	if (campaign_options_from_header(&r->o, trace_header(r->t), &r->holder, why, sizeof(why))) {
		fprintf(err, "zug %s: %s: %s\n", command, o->path, why);
		return ZUG_EXIT_USAGE;
	}
	ret = trace_check_origin(r->t, o->path, err, o->trust);
	if (ret)
		return ret;
	trace_check_kernel(r->t, err);
	r->o.machine.lane = o->lane;
	r->o.search.ask_always = o->ask_always;
	r->o.search.time_ns = o->time_ns == RETRACE_TIME_UNSET ? RETRACE_TIME_NS : o->time_ns;
	r->o.results.quiet = o->quiet;
	r->o.results.colour = o->colour;
	return 0;
}

int retrace_begin(struct retrace *r, const struct retrace_options *o, struct kernel *k, FILE *out,
		  FILE *err, const volatile sig_atomic_t *stop)
{
	int ret = trace_check_builds(r->t, err, o->force);

	campaign_text_init(&r->text, &r->o, out, err);
	return ret ? ret : campaign_text_new(&r->text, &r->c, k, stop);
}

int retrace_prepare(struct retrace *r, uint64_t executions)
{
	char line[1024] = "";
	int ret = campaign_prepare_replay(r->c, r->t, executions, line, sizeof(line));

	return ret ? campaign_text_error(&r->text, ret, line) : 0;
}

void retrace_end(struct retrace *r)
{
	campaign_free(r->c);
	campaign_options_free(r->holder);
	trace_free(r->t);
}
