/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * script.h - a script file: the options and tasks it names, and its statements
 *
 *	option NAME [VALUE]		as --NAME=VALUE on the command line; VALUE is the whole rest
 *	task T3 child 2 of T1		which task T3 is: the second one that T1 created
 *	anything else			statements of the schedule language (search/rules.h)
 */
#ifndef ZUG_SCRIPT_H
#define ZUG_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "engine/spawn.h"
#include "search/script.h"

struct script_option {
	char *argument;		/* "--NAME=VALUE" */
	unsigned int line;
};

struct script_task {
	uint32_t task, parent, nth;	/* nth: 0 for the first child */
	unsigned int line;
};

struct script {
	char *path;
	char *rules; /* the statements, on the lines where they stand in the file */
	struct script_option *options;
	size_t nr_options;
	struct script_task *tasks;
	size_t nr_tasks;
	bool races; /* "option races": look for data races first, to make points of their places */
};

/* The options that a script may have, besides 'races'. */
struct script_allows {
	bool (*option)(const char *name, size_t len);
	void (*list)(char *buf, size_t len);	/* their names, for a message */
};

/* 0, or -errno with a line in err ("test.zug:3: ..."). script_free() in either case. */
int script_load(struct script *s, const char *path, const struct script_allows *allows, char *err, size_t errlen);
void script_free(struct script *s);
/* Gives the spawn paths that the script names their numbers. The table is empty before. */
void script_number_tasks(const struct script *s, struct spawn_table *spawn);
/* The pattern of a statement is the name, or a glob that matches it. */
bool rule_name_is(const char *pattern, const char *name);
/* A statement that was not made, or only in part: two lines, which say why. */
void script_unmade_text(const struct search_script_line *l, const char *script, FILE *out);

#endif
