/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "cli/cli_options.h"
#include "cli/exit_codes.h"

/* ret: 0 or -errno. */
static int say(const struct command_line *c, int ret, const char *err)
{
	if (ret)
		fprintf(stderr, "%s: %s\n", c->command, err);
	return !ret ? 0 : ret == -ENOMEM ? ZUG_EXIT_INTERNAL : ZUG_EXIT_USAGE;
}

int cli_options(const struct command_line *c, void *o, int argc, char **argv, int min, int max,
		char ***operands)
{
	bool given[COMMAND_LINE_ROWS] = { false };
	char err[1024];
	int ret, nr;

	command_line_defaults(c, o);
	ret = command_line_parse(c, o, given, argc, argv, err, sizeof(err));
	if (ret <= 0)
		return ret ? say(c, ret, err) : -1;
	*operands = argv + ret;
	nr = argc - ret;
	ret = command_line_check(c, o, given, err, sizeof(err));
	if (!ret && (nr < min || (max >= 0 && nr > max))) {
		ret = -EINVAL;
		if (nr < min)
			snprintf(err, sizeof(err), "an argument is missing\nusage: %.*s",
				 (int)strlen(c->usage) - 1, c->usage);
		else
			snprintf(err, sizeof(err), "'%s' is one argument too many\nusage: %.*s",
				 (*operands)[max], (int)strlen(c->usage) - 1, c->usage);
	}
	return say(c, ret, err);
}

int cli_run_options(struct run_options *o, enum run_command command, int argc, char **argv)
{
	char err[1024];
	int ret = run_options_parse(o, command, argc, argv, err, sizeof(err));

	if (!ret)
		ret = run_options_refuse_foreign(o, command, err, sizeof(err));
	return ret > 0 ? -1 : say(run_options_line(command), ret, err);
}
