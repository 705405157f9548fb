/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "zugd/client.h"
#include "cli/exit_codes.h"
#include "kernel/interrupt.h"
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

int retrace_command(const struct retrace_options *o, const char *command, int argc, char **argv,
		    int (*execute)(struct kernel *k, int argc, char **argv, FILE *out, FILE *err,
				   const volatile sig_atomic_t *stop))
{
	int fd = client_connect(protocol_socket(o->socket));

	if (fd >= 0)
		return client_hand_over(fd, command, argc - 1, argv + 1, ZUG_EXIT_ENVIRONMENT);
	if (o->socket) {
		fprintf(stderr, "zug %s: no zugd at %s: %s\n", command, o->socket, strerror(-fd));
		return ZUG_EXIT_ENVIRONMENT;
	}
	interrupt_catch();
	return execute(NULL, argc, argv, stdout, stderr, interrupt_flag());
}

int retrace_open(struct retrace *r, const struct retrace_options *o, const char *command, FILE *err)
{
	char why[512];

	*r = (struct retrace){ 0 };
	r->t = trace_open(o->path, why, sizeof(why));
	if (!r->t) {
		fprintf(err, "zug %s: %s\n", command, why);
		return ZUG_EXIT_USAGE;
	}
	if (trace_truncated(r->t))
		fprintf(err, "zug %s: %s was cut off: only the %lu steps that are there can be followed\n", command,
			o->path, (unsigned long)trace_nr_steps(r->t));
	if (campaign_options_from_header(&r->o, trace_header(r->t), &r->holder, why, sizeof(why))) {
		fprintf(err, "zug %s: %s: %s\n", command, o->path, why);
		return ZUG_EXIT_USAGE;
	}
	trace_check_kernel(r->t, err);
	r->o.machine.lane = o->lane;
	r->o.results.quiet = o->quiet;
	r->o.results.colour = o->colour;
	return 0;
}

int retrace_begin(struct retrace *r, const struct retrace_options *o, struct kernel *k, FILE *out, FILE *err,
		  const volatile sig_atomic_t *stop)
{
	int ret = trace_check_builds(r->t, err, o->force);

	return ret ? ret : campaign_new(&r->c, k, &r->o, out, err, stop, -1);
}

void retrace_end(struct retrace *r)
{
	campaign_free(r->c);
	campaign_options_free(r->holder);
	trace_free(r->t);
}
