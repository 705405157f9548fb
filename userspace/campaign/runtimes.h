/* SPDX-License-Identifier: GPL-2.0-only */
/* runtimes.h - runtimes of languages that are known, and where they begin to execute the user's program */
#ifndef ZUG_RUNTIMES_H
#define ZUG_RUNTIMES_H

#include "campaign/session.h"

#define RUNTIME_FLAGS 4		/* most of a runtime */

struct runtime_flag {
	const char *text;
	const char *unless;		/* not where an argument is like that (a glob); NULL: but for the flag itself */
	const char *needs;		/* the runtime has a variable of that name; NULL: any has that flag */
};

struct language_runtime {
	const char *name;
	const char *defines;		/* what only this runtime does */
	const char *program;		/* a glob of its file's name */
	const char *library;		/* a glob, from the program's folder, of the file that may define it instead; */
					/* NULL: none may */
	const char *also;		/* another file of it, likewise, that the program loads and the search has places */
					/* in; NULL: none */
	char **from, **from_calls;	/* where its program begins: a function, system calls; NULL: none */
	const char *behind;		/* once that function was called; NULL: from its start on */
	const char *beginning;		/* the same in words */
	const char *sources;		/* how names of the sources end in its stacks; NULL: they have none */
	const char *rechecks;		/* the function in which its tasks wait for a lock, and look at it again at */
					/* times; NULL: none */
	const char *uncaught;		/* with this the runtime tells that an exception has ended a thread; NULL: that */
					/* fails anyway */
	char **points;			/* the functions of the runtime that are the program's points; NULL: all points are */
	uint32_t syscalls;		/* and these system calls, ZUG_SYS_*, as --points has them */
	const char *kinds;		/* the same in words */
	uint64_t spin_ns;		/* a task of it computes so long before it is looked at (--spin), or longer; 0: */
					/* as always */
	const char *strategy;		/* how it is searched where no option says that; NULL: as always */
	bool usual;			/* they are, where no option says what the points are; and it has tasks of its own */
	const char *shares;		/* how names of points begin that are about memory that its threads share; NULL: */
					/* none do */
	bool asks_machine;		/* its threads read files of the kernel's when they begin, and do not mean what */
					/* the test does */
	const struct runtime_flag *flags;	/* of the runtime, with which it comes to these functions; up to one */
						/* without text */
};

/* The runtime that the file defines; NULL: none that is known. */
const struct language_runtime *language_runtime_of(struct symfile *f);
/* That of a name; NULL: there is none, or name is NULL. */
const struct language_runtime *language_runtime_named(const char *name);
/*
 * Lets the search begin where the test's program, if it is a runtime that is known, begins to execute the user's program: sets
 * points.from, points.from_calls, points.runtime and 'begins'. For options that do not say where; not where they need
 * what comes before. Where no option says what the points are, they are the program's alone, and the command has the flags
 * that this takes. 0 or -ENOMEM.
 */
int session_begin_at_program(struct session *s);
/*
 * Executions of a script whose first line is '#!/usr/bin/env NAME', where that is such a runtime, begin with the command
 * that env executes: a process that has executed two programs cannot be copied behind the start of the second. 0 or
 * -ENOMEM.
 */
int session_skip_env(struct session *s);

#endif
