/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>
#include <string.h>
#include "zugd/client.h"
#include "cli/commands.h"
#include "zugd/daemon.h"
#include "cli/exit_codes.h"
#include "campaign/run_options.h"

static void help(void)
{
	printf("usage: zug exec [options] -- COMMAND [ARGUMENT...]\n\n"
	       "Executes COMMAND once, under the next schedule of its search, which zugd keeps between\n"
	       "calls: put it before the command of a test that a harness repeats.\n\n"
	       "Exit status: the test's own (128 + N when signal N killed it); %d when it failed without\n"
	       "leaving a status (deadlock, time-out, --match...); %d when it could not be executed.\n\n",
	       EXEC_FINDING, EXEC_FAILED);
	run_options_help(stdout);
}

int cmd_exec(int argc, char **argv)
{
	struct run_options o;
	const char *path;
	int ret, fd;

	ret = run_options_parse(&o, "exec", argc, argv, true);
	if (ret == -1) {
		help();
		run_options_free(&o);
		return ZUG_EXIT_PASS;
	}
	if (!ret)
		ret = run_options_refuse_bounds(&o, "exec");
	if (!ret && (o.c.machine.name || o.foreground)) {
		fprintf(stderr, "zug exec: %s\n", o.foreground ? "--foreground belongs to zugd" :
			"--name: the sandbox is zugd's");
		ret = ZUG_EXIT_USAGE;
	}
	path = client_socket(o.socket);
	run_options_free(&o);
	if (ret)
		return EXEC_FAILED;
	fd = client_connect(path);
	if (fd < 0) {
		fprintf(stderr, "zug exec: no zugd at %s: %s; start one with: zugd\n", path, strerror(-fd));
		return EXEC_FAILED;
	}
	return client_hand_over(fd, "exec", argc - 1, argv + 1, EXEC_FAILED);
}
