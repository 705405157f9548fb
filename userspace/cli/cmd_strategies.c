/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>
#include <string.h>
#include "search/search.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"

int cmd_strategies(int argc, char **argv)
{
	const struct search_strategy_info *s;

	if (argc > 1 && (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help"))) {
		printf("usage: zug strategies\n\nLists the strategies of zug run --strategy NAME[:ARG=VALUE,...].\n");
		return ZUG_EXIT_PASS;
	}
	if (argc > 1) {
		fprintf(stderr, "zug strategies: takes no arguments\n");
		return ZUG_EXIT_USAGE;
	}
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
