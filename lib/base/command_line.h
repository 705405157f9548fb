/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * command_line.h - options of a command from one table
 *
 * A row is one option: its names, its argument, where its value is kept, what it may be combined
 * with, its help. Parsing, checks, help and the list for completion come from the rows.
 *
 *	struct cat { bool numbers; const char *to; };
 *	static const struct option_row rows[] = {
 *		{ .name = "number", .letter = 'n', .kind = OPTION_FLAG,
 *		  OPTION_AT(struct cat, numbers), .help = "number the lines" },
 *		...
 *	};
 *	static const struct command_line line = { .command = "cat", .rows = rows, .nr_rows = ... };
 */
#ifndef ZUG_COMMAND_LINE_H
#define ZUG_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum option_kind {
	OPTION_FLAG,		/* no argument; sets a bool, or clears it */
	OPTION_NUMBER,		/* min to max */
	OPTION_DURATION,	/* nanoseconds: 100ms, 10s, 2m, 1h; seconds without a unit */
	OPTION_SIZE,		/* bytes: 64M */
	OPTION_TEXT,
	OPTION_LIST,		/* may be repeated; the list of arguments ends with NULL */
	OPTION_CHOICE,		/* one of words */
	OPTION_SET,		/* several of words, with commas: or-ed; other bits stay */
	OPTION_CUSTOM,		/* parse() */
};

enum option_store {
	STORE_NONE, STORE_BOOL, STORE_INT, STORE_U32, STORE_U64, STORE_TEXT, STORE_LIST
};

/* Where a row's value is kept; the type of the member is found by itself. */
#define OPTION_AT(type, member) \
	.offset = offsetof(type, member),				\
	.store = _Generic(((type *)0)->member, bool: STORE_BOOL, int: STORE_INT,	\
			  uint32_t: STORE_U32, uint64_t: STORE_U64,	\
			  const char *: STORE_TEXT, char **: STORE_LIST)

struct option_word {
	const char *name;
	int64_t value;
};

struct option_row {
	const char *section;		/* the heading before this row in help, or NULL */
	const char *name;
	const char *alias;		/* another spelling, or NULL */
	char letter;			/* or 0 */
	const char *argument;		/* as help shows it */
	enum option_kind kind;
	enum option_store store;
	size_t offset;
	bool clears;			/* a flag: the member is true without the option */
	uint64_t min, max;		/* of a number; max 0: no bound */
	const struct option_word *words;	/* ends with {0} */
	const char *preset;		/* the argument when the option is not given; NULL: unset */
	int64_t unset;			/* the value without a preset */
	const char *help;		/* the preset is added to it */
	const char *zero;		/* what 0 means, for help and messages */
	const char *valid;		/* what is valid, for messages; NULL: made up */
	/* Of a custom option: 0, or -errno; err is "", or what is wrong with the text. */
	int (*parse)(const struct option_row *r, const char *text, void *options, char *err,
		     size_t errlen);
	/* Of a custom option: its value as an argument. NULL: it cannot be told. */
	void (*print)(const void *options, char *buf, size_t len);

	/* When the option is given: */
	const char *needs;		/* names: one of them must be given, too */
	const char *excludes;		/* names: none of them may be given */
	const char *why;		/* why it excludes them, or NULL */
	/* What else is wrong, from all the values: "needs ..." after the option's name, or NULL. */
	const char *(*conflict)(const void *options);
	unsigned int commands;		/* bits of the commands that take it; 0: all */

	/* In the trace of an execution: */
	const char *key;		/* NULL: not kept */
	unsigned int place;		/* keys are written in this order */
	int64_t absent;			/* the value of traces without the key */
	bool inverted;			/* the key says the opposite of the member */
	bool script;			/* scripts may have the option */
};

/* So many rows at most, for arrays that say which were given. */
#define COMMAND_LINE_ROWS 96

struct command_line {
	const char *command;		/* "zug pin": begins messages */
	const char *usage;		/* lines */
	const char *about, *end;	/* help before the options and behind them; lines */
	const struct option_row *rows;
	unsigned int nr_rows;
	unsigned int bit;		/* of the command, in the rows' commands */
	const char *only;		/* names of the options that help shows; NULL: all */
	bool ends_at_operand;		/* else options may stand behind operands */
};

/* Sets each member of the rows to its value when no option is given. Frees nothing. */
void command_line_defaults(const struct command_line *c, void *options);

/*
 * Takes the options; given[i] becomes true for a row that was given. The operands are
 * argv[returned]... then, as getopt_long() leaves them. 0 when --help was asked for, and printed;
 * -errno with a line in err, which begins with the option. Texts stay in argv.
 */
int command_line_parse(const struct command_line *c, void *options, bool *given, int argc,
		       char **argv, char *err, size_t errlen);
/* Options that do not belong together. 0, or -EINVAL with a line in err. */
int command_line_check(const struct command_line *c, const void *options, const bool *given,
		       char *err, size_t errlen);
/* The first option that was given and belongs to other commands, or NULL. */
const struct option_row *command_line_foreign(const struct command_line *c, const bool *given);
/* Frees the lists. */
void command_line_free(const struct command_line *c, void *options);

void command_line_help(const struct command_line *c, FILE *f);
/* For completion: each option on a line, with the words that it takes. */
void command_line_list(const struct command_line *c, FILE *f);

/* The argument that gives a row its value (of one that is no list); "" for a flag. buf. */
const char *option_print(const struct option_row *r, const void *options, char *buf, size_t len);
/* True when a row has the value that it has when no option is given. */
bool option_is_preset(const struct option_row *r, const void *options);
int64_t option_get(const struct option_row *r, const void *options);
void option_set(const struct option_row *r, void *options, int64_t value);
/* The member of a row that keeps a text, or a list. */
const char **option_text(const struct option_row *r, const void *options);
char ***option_list(const struct option_row *r, const void *options);
/* Adds a copy of a text to a list. 0 or -ENOMEM. */
int option_append(char ***list, const char *text);
/* "sync,atomic" to the or-ed values. False: an unknown word, or none at all. */
bool option_parse_set(const struct option_word *words, const char *text, int64_t *value);
void option_print_set(const struct option_word *words, int64_t value, char *buf, size_t len);
/* A number as a row takes it; decimal, or hexadecimal after 0x. */
bool option_number(const char *text, uint64_t max, uint64_t *value);

#endif
