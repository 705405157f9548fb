/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include "campaign.h"
#include "client.h"
#include "commands.h"
#include "exit_codes.h"
#include "interrupt.h"
#include "protocol.h"

static void usage(FILE *f)
{
	fputs("usage: zug replay [options] TRACE\n\n"
	      "Executes the test of a trace again under the recorded schedule, and says whether it did the same.\n\n"
	      "  -n, --times N        so often (default 1)\n"
	      "  --lane CPU           where it runs (default: the last CPU)\n"
	      "  --socket PATH        of zugd, when it is not " PROTOCOL_SOCKET "\n"
	      "  -q, --quiet          no progress line\n\n"
	      "Exit status: 1 when the failure showed again, 0 when a passing trace passed again, 5 when it\n"
	      "did not follow the schedule or ended differently.\n", f);
}

/* Another kernel may schedule the same program differently inside its own calls. */
static void compare_kernel(const struct trace *t, FILE *err)
{
	struct utsname u;
	char now[256];

	uname(&u);
	snprintf(now, sizeof(now), "%s %s", u.release, u.version);
	if (trace_header(t)->kernel && strcmp(trace_header(t)->kernel, now))
		fprintf(err, "zug: recorded on another kernel (%s): it may not follow\n",
			trace_header(t)->kernel);
}

struct replay_options {
	const char *path, *socket;
	long times, lane;
	bool quiet;
};

/* 0, an enum zug_exit with a message printed, or -1 after --help. */
static int parse(struct replay_options *o, int argc, char **argv)
{
	static const struct option options[] = {
		{ "times", required_argument, NULL, 'n' },
		{ "lane", required_argument, NULL, 'l' },
		{ "socket", required_argument, NULL, 's' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	char *end;
	int opt;

	*o = (struct replay_options){ .times = 1, .lane = -1 };
	optind = 0;
	while ((opt = getopt_long(argc, argv, "n:qh", options, NULL)) != -1) {
		switch (opt) {
		case 'n':
			o->times = strtol(optarg, &end, 10);
			if (*end || o->times < 1 || o->times > 1000000) {
				fprintf(stderr, "zug replay: --times %s: not a number from 1 to 1000000\n", optarg);
				return ZUG_EXIT_USAGE;
			}
			break;
		case 'l':
			o->lane = strtol(optarg, &end, 10);
			if (*end || o->lane < 0 || o->lane > 8191) {
				fprintf(stderr, "zug replay: --lane %s: not the number of a CPU\n", optarg);
				return ZUG_EXIT_USAGE;
			}
			break;
		case 's':
			o->socket = optarg;
			break;
		case 'q':
			o->quiet = true;
			break;
		case 'h':
			usage(stdout);
			return -1;
		default:
			usage(stderr);
			return ZUG_EXIT_USAGE;
		}
	}
	if (optind != argc - 1) {
		usage(stderr);
		return ZUG_EXIT_USAGE;
	}
	o->path = argv[optind];
	return 0;
}

int replay_execute(struct kernel *k, int argc, char **argv, FILE *out, FILE *err_to,
		   const volatile sig_atomic_t *stop)
{
	struct campaign_holder *holder = NULL;
	struct replay_options ro;
	struct campaign_options o;
	struct campaign *c;
	struct trace *t;
	char err[512];
	int ret;

	ret = parse(&ro, argc, argv);
	if (ret)
		return ret;
	t = trace_open(ro.path, err, sizeof(err));
	if (!t) {
		fprintf(err_to, "zug replay: %s: %s\n", ro.path, err);
		return ZUG_EXIT_USAGE;
	}
	if (trace_truncated(t))
		fprintf(err_to, "zug: %s was cut off: replaying the %lu steps that are there\n", ro.path,
			(unsigned long)trace_nr_steps(t));
	if (campaign_options_from_trace(&o, t, &holder, err, sizeof(err))) {
		fprintf(err_to, "zug replay: %s: %s\n", ro.path, err);
		ret = ZUG_EXIT_USAGE;
		goto out;
	}
	compare_kernel(t, err_to);
	o.lane = ro.lane;
	o.quiet = ro.quiet;
	ret = campaign_new(&c, k, &o, out, err_to, stop, -1);
	if (!ret) {
		ret = campaign_replay(c, t, ro.times);
		campaign_free(c);
	}
out:
	campaign_options_free(holder);
	trace_free(t);
	return ret;
}

int cmd_replay(int argc, char **argv)
{
	struct replay_options ro;
	int ret, fd;

	ret = parse(&ro, argc, argv);
	if (ret)
		return ret == -1 ? ZUG_EXIT_PASS : ret;
	fd = client_connect(protocol_socket(ro.socket));
	if (fd >= 0)
		return client_hand_over(fd, "replay", argc - 1, argv + 1, ZUG_EXIT_ENVIRONMENT);
	if (ro.socket) {
		fprintf(stderr, "zug replay: no zugd at %s: %s\n", ro.socket, strerror(-fd));
		return ZUG_EXIT_ENVIRONMENT;
	}
	interrupt_catch();
	return replay_execute(NULL, argc, argv, stdout, stderr, interrupt_flag());
}
