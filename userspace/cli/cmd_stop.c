/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "zugd/client.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "zugd/protocol.h"

static void usage(FILE *f)
{
	fputs("usage: zug stop [--socket PATH]\n\n"
	      "Ends zugd: what it executes is cut short, what waits is refused, and nothing of it is left.\n\n"
	      "  --socket PATH        of zugd (default $ZUG_SOCKET, or " CLIENT_SOCKET ")\n\n"
	      "Exit status: 0 when it has ended, or none was running; 3 when it cannot be told to.\n", f);
}

int cmd_stop(int argc, char **argv)
{
	static const struct option options[] = {
		{ "socket", required_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	const struct timespec pause = { .tv_nsec = 10000000 };
	struct json_object *m;
	const char *path = NULL;
	int opt, fd, pid;

	optind = 0;
	while ((opt = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (opt == 'h') {
			usage(stdout);
			return ZUG_EXIT_PASS;
		}
		if (opt != 's') {
			usage(stderr);
			return ZUG_EXIT_USAGE;
		}
		path = optarg;
	}
	if (optind != argc) {
		usage(stderr);
		return ZUG_EXIT_USAGE;
	}
	path = client_socket(path);
	fd = client_connect(path);
	if (fd == -ENOENT || fd == -ECONNREFUSED) {
		printf("no zugd is running at %s\n", path);
		return ZUG_EXIT_PASS;
	}
	if (fd < 0) {
		fprintf(stderr, "zug stop: %s: %s\n", path, strerror(-fd));
		return ZUG_EXIT_ENVIRONMENT;
	}
	pid = client_peer(fd);
	m = client_ask(fd, "stop");
	close(fd);
	if (m) {
		fprintf(stderr, "zug stop: zugd refused: %s\n", protocol_text(m, "message"));
		json_object_put(m);
		return ZUG_EXIT_ENVIRONMENT;
	}
	/* the connection ends with its last act but one */
	while (pid > 0 && !kill(pid, 0))
		nanosleep(&pause, NULL);
	printf("zugd (pid %d) has ended\n", pid);
	return ZUG_EXIT_PASS;
}
