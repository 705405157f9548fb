/* SPDX-License-Identifier: GPL-2.0-only */
/* runtimes.h - runtimes of languages that are known, and where they begin to execute the user's program */
#ifndef ZUG_RUNTIMES_H
#define ZUG_RUNTIMES_H

#include "campaign/session.h"

struct language_runtime {
	const char *defines;		/* what only this runtime does */
	const char *program;		/* a glob of its file's name */
	const char *library;		/* a glob, from the program's folder, of the file that may define it instead */
	char **from, **from_calls;	/* where its program begins: a function, system calls; NULL: none */
	const char *beginning;		/* the same in words */
	const char *hint;		/* options of zug that keep the search at the program; NULL: --only */
	const char *flags;		/* of the runtime, for them */
};

/* The runtime that the file defines; NULL: none that is known. */
const struct language_runtime *language_runtime_of(struct symfile *f);
/*
 * Lets the search begin where the test's program, if it is a runtime that is known, begins to execute the user's program:
 * sets points.from, points.from_calls and 'begins'. For options that do not say where. Not where they need what comes before.
 */
void session_begin_at_program(struct session *s);
/*
 * Executions of a script whose first line is '#!/usr/bin/env NAME', where that is such a runtime, begin with the command that env
 * executes: a process that has executed two programs cannot be copied behind the start of the second. 0 or -ENOMEM.
 */
int session_skip_env(struct session *s);

#endif
