/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>
#include <string.h>
#include "search/search.h"
#include "cli/cli_options.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"

static const struct command_line line = {
	.command = "zug strategies", .usage = "zug strategies\n",
	.about = "Lists the strategies of zug run --strategy NAME[:ARG=VALUE,...].\n",
};

int cmd_strategies(int argc, char **argv)
{
	const struct search_strategy_info *s;
	char **operands;
	int ret = cli_options(&line, NULL, argc, argv, 0, 0, &operands);

	if (ret)
		return ret == -1 ? ZUG_EXIT_PASS : ret;
	for (unsigned int i = 0; (s = search_strategy_info(i)); i++) {
		const char *p = s->params;

		printf("%s\n  %s\n", s->name, s->line);
		while (p && *p) {
			size_t n = strcspn(p, "\n");

			printf("  :%.*s\n", (int)n, p);
			p += n + (p[n] == '\n');
		}
		if (s->guarantee && s->guarantee[0])
			printf("  guarantee: %s\n", s->guarantee);
	}
	return ZUG_EXIT_PASS;
}
