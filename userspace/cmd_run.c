/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include "campaign.h"
#include "client.h"
#include "commands.h"
#include "exit_codes.h"
#include "interrupt.h"
#include "protocol.h"
#include "run_options.h"

int run_execute(struct kernel *k, int argc, char **argv, FILE *out, FILE *err,
		const volatile sig_atomic_t *stop)
{
	struct run_options o;
	struct campaign *c;
	int ret;

	ret = run_options_parse(&o, "run", argc, argv, true);
	if (!ret)
		ret = campaign_new(&c, k, &o.c, out, err, stop, -1);
	if (!ret) {
		ret = campaign_run(c);
		campaign_free(c);
	}
	run_options_free(&o);
	return ret;
}

int cmd_run(int argc, char **argv)
{
	struct run_options o;
	int ret, fd;

	ret = run_options_parse(&o, "run", argc, argv, true);
	if (ret == -1) {
		printf("usage: zug run [options] -- COMMAND [ARGUMENT...]\n\n"
		       "Executes COMMAND under one schedule after another, until it fails, a bound is\n"
		       "reached, or every schedule was tried. A running zugd does it in zug's place.\n\n");
		run_options_help(stdout);
		ret = ZUG_EXIT_PASS;
		goto out;
	}
	if (!ret && o.foreground) {
		fprintf(stderr, "zug run: --foreground belongs to zugd\n");
		ret = ZUG_EXIT_USAGE;
	}
	if (ret)
		goto out;
	fd = client_connect(protocol_socket(o.socket));
	if (fd >= 0) {
		ret = client_hand_over(fd, "run", argc - 1, argv + 1, ZUG_EXIT_ENVIRONMENT);
	} else if (o.socket) {
		fprintf(stderr, "zug run: no zugd at %s: %s\n", o.socket, strerror(-fd));
		ret = ZUG_EXIT_ENVIRONMENT;
	} else {
		interrupt_catch();
		ret = run_execute(NULL, argc, argv, stdout, stderr, interrupt_flag());
	}
out:
	run_options_free(&o);
	return ret;
}
