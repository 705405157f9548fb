/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>
#include <string.h>
#include "cli/cli_options.h"
#include "zugd/client.h"
#include "cli/commands.h"
#include "zugd/daemon.h"
#include "cli/exit_codes.h"

int cmd_exec(int argc, char **argv)
{
	struct run_options o;
	const char *path;
	int ret, fd;

	ret = cli_run_options(&o, RUN_EXEC, argc, argv);
	path = client_socket(o.socket);
	run_options_free(&o);
	if (ret)
		return ret == -1 ? ZUG_EXIT_PASS : EXEC_FAILED;
	fd = client_connect(path);
	if (fd < 0) {
		fprintf(stderr, "zug exec: no zugd at %s: %s; start one with: zugd\n", path,
			strerror(-fd));
		return EXEC_FAILED;
	}
	return client_hand_over(fd, "exec", argc - 1, argv + 1, EXEC_FAILED);
}
