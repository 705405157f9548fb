/* SPDX-License-Identifier: GPL-2.0-only */
/* Has a command executed by zugd, when one is running, or here. */
#include <stdio.h>
#include <string.h>
#include "cli/cli_options.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "kernel/interrupt.h"
#include "zugd/client.h"

int command_dispatch(const char *socket, const char *name, int argc, char **argv,
		     int (*execute)(struct kernel *k, int argc, char **argv, FILE *out, FILE *err,
				    const volatile sig_atomic_t *stop))
{
	int fd = client_connect(client_socket(socket));

	if (fd >= 0)
		return client_hand_over(fd, name, argc - 1, argv + 1, ZUG_EXIT_ENVIRONMENT);
	if (socket) {
		fprintf(stderr, "zug %s: no zugd at %s: %s\n", name, socket, strerror(-fd));
		return ZUG_EXIT_ENVIRONMENT;
	}
	interrupt_catch();
	return execute(NULL, argc, argv, stdout, stderr, interrupt_flag());
}

int command_with_run_options(enum run_command command, const char *name, int argc, char **argv,
			     int (*execute)(struct kernel *k, int argc, char **argv, FILE *out,
					    FILE *err, const volatile sig_atomic_t *stop))
{
	struct run_options o;
	int ret = cli_run_options(&o, command, argc, argv);

	if (!ret)
		ret = command_dispatch(o.socket, name, argc, argv, execute);
	else if (ret == -1)
		ret = ZUG_EXIT_PASS;
	run_options_free(&o);
	return ret;
}
