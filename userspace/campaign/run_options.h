/* SPDX-License-Identifier: GPL-2.0-only */
/* run_options.h - the options that zug run, zug exec and zugd share */
#ifndef ZUG_RUN_OPTIONS_H
#define ZUG_RUN_OPTIONS_H

#include <stdio.h>
#include "campaign/campaign.h"
#include "campaign/script.h"

struct run_options {
	struct campaign_options c;
	char *rules;			/* owned, behind c.rules */
	struct script script;		/* owned, behind c.script; no path: none was given */
	char **invariants, **discards;	/* owned lists behind these of c */
	char **watches, **points, **code, **shares;	/* owned lists behind those of c */
	char **suppressions;		/* owned, with its strings, behind c.suppressions */
	char cwd[4096];
	const char *socket;		/* of zugd; NULL: not given */
	bool foreground;		/* zugd only */
	const char *junit, *json;	/* zug run: files for its results; NULL: none */
	bool each_case;			/* zug run: a search for each test case of the command */
	int times;			/* zug check: executions; 0: not given */
	int nr_options;			/* arguments before the command */
};

/*
 * Parses a command line up to the command. 0, an enum zug_exit with a message printed, or -1 after --help.
 * what: "run", for messages. The command is left in c.argv; with need_command it must be there.
 */
int run_options_parse(struct run_options *o, const char *what, int argc, char **argv,
		      bool need_command);
/* Where one execution is one call: options that bound a whole search are usage errors. */
int run_options_refuse_bounds(const struct run_options *o, const char *what);
void run_options_free(struct run_options *o);
void run_options_help(FILE *f);
/* What --points would be for these options. buf. */
const char *run_options_points(const struct campaign_options *o, char *buf, size_t len);
/* What --world would be. buf. */
const char *run_options_world(uint32_t own, char *buf, size_t len);

#endif
