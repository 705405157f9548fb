/* SPDX-License-Identifier: GPL-2.0-only */
#include <signal.h>
#include <stdio.h>
#include "campaign.h"
#include "commands.h"
#include "exit_codes.h"
#include "interrupt.h"
#include "run_options.h"

int cmd_run(int argc, char **argv)
{
	struct run_options o;
	struct campaign *c;
	int ret;

	ret = run_options_parse(&o, "run", argc, argv, true);
	if (ret == -1) {
		printf("usage: zug run [options] -- COMMAND [ARGUMENT...]\n\n"
		       "Executes COMMAND under one schedule after another, until it fails, a bound is\n"
		       "reached, or every schedule was tried.\n\n");
		run_options_help(stdout);
		run_options_free(&o);
		return ZUG_EXIT_PASS;
	}
	if (!ret) {
		interrupt_catch();
		ret = campaign_new(&c, NULL, &o.c, stdout, stderr, interrupt_flag(), -1);
		if (!ret) {
			ret = campaign_run(c);
			campaign_free(c);
		}
	}
	run_options_free(&o);
	return ret;
}
