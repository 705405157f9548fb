/* SPDX-License-Identifier: GPL-2.0-only */
/* cli_options.h - command lines of commands: parsed, and what is wrong with them printed */
#ifndef ZUG_CLI_OPTIONS_H
#define ZUG_CLI_OPTIONS_H

#include "campaign/run_options.h"
#include "lib/base/command_line.h"

/*
 * Both return 0; -1 after --help, which was printed; or an enum zug_exit with a message printed.
 *
 * o gets the values of c's rows, *operands the first of min to max operands in argv (max -1: any
 * number).
 */
int cli_options(const struct command_line *c, void *o, int argc, char **argv, int min, int max,
		char ***operands);
/* run_options_parse(), and options that belong to other commands are refused. */
int cli_run_options(struct run_options *o, enum run_command command, int argc, char **argv);

#endif
