/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * run_options.h - the options that zug run, zug exec, zug check and zugd share
 *
 * A new option is a row in run_options.c and its use: parsing, checks, help, completion, traces and
 * scripts follow from the row.
 */
#ifndef ZUG_RUN_OPTIONS_H
#define ZUG_RUN_OPTIONS_H

#include "campaign/options.h"
#include "engine/script.h"
#include "lib/base/command_line.h"

/* Of the kernel side's sandboxes the search has one itself: ZUG_MAX_SANDBOXES - 1. */
#define RUN_MOST_LANES 255

struct run_options {
	struct campaign_options c;	/* first: rows of its members serve it alone, too */
	char *rules;			/* owned, behind c.search.rules */
	const char *script_path;
	struct script script;		/* owned, behind c.search.script */
	char cwd[4096];
	const char *socket;		/* of zugd; NULL: not given */
	bool foreground;		/* zugd only */
	const char *cgroup;		/* zugd only: below which all of its cgroups are; NULL: the root */
	uint32_t shared_lanes;		/* zugd only: CPUs for all clients; 0: not given */
	struct user_quota {
		uint32_t lanes, queue;	/* CPUs in use, and requests that wait; 0: as many as there are */
		uint64_t time_ns;	/* of each request; 0: as long as it takes */
		uint64_t memory;	/* of all requests of a member, in bytes; 0: no limit */
	} quota;			/* zugd only: of each user */
	const char *junit, *json;	/* zug run: files for its results; NULL: none */
	bool each_case;			/* zug run: a search for each test case of the command */
	int times;			/* zug check: executions */
	int nr_options;			/* arguments before the command */
	bool given[COMMAND_LINE_ROWS];	/* the rows that the command line, or the script, names */
};

/* For --color. */
extern const struct option_word colour_words[];
/* For --ask. */
extern const struct option_word ask_words[];

enum run_command { RUN_COMMAND, RUN_EXEC, RUN_CHECK, RUN_DAEMON, RUN_PLAN };

/* The table, for help and tests. */
const struct command_line *run_options_line(enum run_command command);

/*
 * Parses a command line up to the command, which is left in c.command.argv. 0; 1 when --help was
 * asked for, and printed; -errno with a line in err. run_options_free() in any case.
 */
int run_options_parse(struct run_options *o, enum run_command command, int argc, char **argv,
		      char *err, size_t errlen);
/* Options that belong to other commands. 0, or -EINVAL with a line in err. */
int run_options_refuse_foreign(const struct run_options *o, enum run_command command, char *err,
			       size_t errlen);
void run_options_free(struct run_options *o);

/* The options that scripts may name. */
bool run_options_in_scripts(const char *name, size_t len);
void run_options_list_for_scripts(char *buf, size_t len);
extern const struct script_allows run_options_script;	/* these */
/* Lines "option NAME VALUE" for what is not the default; printed for a script. */
void run_options_print(const struct campaign_options *o, FILE *out);

/* "faults eintr", "flows loss": the option that allows an enum fault. buf. */
const char *run_options_fault(int fault, char *buf, size_t len);

/*
 * Rows whose values a trace keeps, in the order of their keys (place 1, 2 ...): of options, and of
 * members that no option sets. NULL behind the last.
 */
const struct option_row *run_options_kept(unsigned int place);

#endif
