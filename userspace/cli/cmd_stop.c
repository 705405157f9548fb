/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "cli/cli_options.h"
#include "zugd/client.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "zugd/protocol.h"

struct stop {
	const char *socket;
};

static const struct option_row rows[] = {
	{ .name = "socket", .argument = "PATH", .kind = OPTION_TEXT, OPTION_AT(struct stop, socket),
	  .help = "of zugd (default $ZUG_SOCKET, or " CLIENT_SOCKET ")" },
};

static const struct command_line line = {
	.command = "zug stop",
	.rows = rows,
	.nr_rows = sizeof(rows) / sizeof(rows[0]),
	.usage = "zug stop [--socket PATH]\n",
	.about =
		"Ends zugd: what it executes is cut short, what waits is refused, and nothing of it is left.\n",
	.end = "Exit status: 0 when it has ended, or none was running; 3 when it cannot be told to.\n",
};

int cmd_stop(int argc, char **argv)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	struct json_object *m;
	struct stop o;
	char **operands;
	const char *path;
	int ret = cli_options(&line, &o, argc, argv, 0, 0, &operands), fd, pid;

	if (ret)
		return ret == -1 ? ZUG_EXIT_PASS : ret;
	path = client_socket(o.socket);
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
		fprintf(stderr, "zug stop: zugd refused: %s\n",
			protocol_text(m, "message") ? protocol_text(m, "message") : "it did not say why");
		json_object_put(m);
		return ZUG_EXIT_ENVIRONMENT;
	}
	/* the connection ends with its last act but one */
	while (pid > 0 && !kill(pid, 0))
		nanosleep(&pause, NULL);
	printf("zugd (pid %d) has ended\n", pid);
	return ZUG_EXIT_PASS;
}
