/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include "campaign.h"
#include "commands.h"
#include "exit_codes.h"
#include "interrupt.h"

static void usage(FILE *f)
{
	fputs("usage: zug replay [options] TRACE\n\n"
	      "Executes the test of a trace again under the recorded schedule, and says whether it did the same.\n\n"
	      "  -n, --times N        so often (default 1)\n"
	      "  --lane CPU           where it runs (default: the last CPU)\n"
	      "  -q, --quiet          no progress line\n\n"
	      "Exit status: 1 when the failure showed again, 0 when a passing trace passed again, 5 when it\n"
	      "did not follow the schedule or ended differently.\n", f);
}

/* Another kernel may schedule the same program differently inside its own calls. */
static void compare_kernel(const struct trace *t)
{
	struct utsname u;
	char now[256];

	uname(&u);
	snprintf(now, sizeof(now), "%s %s", u.release, u.version);
	if (trace_header(t)->kernel && strcmp(trace_header(t)->kernel, now))
		fprintf(stderr, "zug: recorded on another kernel (%s): it may not follow\n",
			trace_header(t)->kernel);
}

int cmd_replay(int argc, char **argv)
{
	static const struct option options[] = {
		{ "times", required_argument, NULL, 'n' },
		{ "lane", required_argument, NULL, 'l' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct campaign_holder *holder = NULL;
	struct campaign_options o;
	struct campaign *c;
	struct trace *t;
	char err[512], *end;
	long times = 1, lane = -1;
	bool quiet = false;
	int opt, ret;

	optind = 0;
	while ((opt = getopt_long(argc, argv, "n:qh", options, NULL)) != -1) {
		switch (opt) {
		case 'n':
			times = strtol(optarg, &end, 10);
			if (*end || times < 1 || times > 1000000) {
				fprintf(stderr, "zug replay: --times %s: not a number from 1 to 1000000\n", optarg);
				return ZUG_EXIT_USAGE;
			}
			break;
		case 'l':
			lane = strtol(optarg, &end, 10);
			if (*end || lane < 0 || lane > 8191) {
				fprintf(stderr, "zug replay: --lane %s: not the number of a CPU\n", optarg);
				return ZUG_EXIT_USAGE;
			}
			break;
		case 'q':
			quiet = true;
			break;
		case 'h':
			usage(stdout);
			return ZUG_EXIT_PASS;
		default:
			usage(stderr);
			return ZUG_EXIT_USAGE;
		}
	}
	if (optind != argc - 1) {
		usage(stderr);
		return ZUG_EXIT_USAGE;
	}
	t = trace_open(argv[optind], err, sizeof(err));
	if (!t) {
		fprintf(stderr, "zug replay: %s: %s\n", argv[optind], err);
		return ZUG_EXIT_USAGE;
	}
	if (trace_truncated(t))
		fprintf(stderr, "zug: %s was cut off: replaying the %lu steps that are there\n", argv[optind],
			(unsigned long)trace_nr_steps(t));
	if (campaign_options_from_trace(&o, t, &holder, err, sizeof(err))) {
		fprintf(stderr, "zug replay: %s: %s\n", argv[optind], err);
		ret = ZUG_EXIT_USAGE;
		goto out;
	}
	compare_kernel(t);
	o.lane = lane;
	o.quiet = quiet;
	interrupt_catch();
	ret = campaign_new(&c, NULL, &o, stdout, stderr, interrupt_flag(), -1);
	if (!ret) {
		ret = campaign_replay(c, t, times);
		campaign_free(c);
	}
out:
	campaign_options_free(holder);
	trace_free(t);
	return ret;
}
