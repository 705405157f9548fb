/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rewriting.h - a file that is changed: the sandbox's own copy, which nothing executes now. Its times stay, as programs look at
 * them.
 */
#ifndef ZUG_REWRITING_H
#define ZUG_REWRITING_H

#include <sys/stat.h>

struct rewriting {
	int fd;			/* -1: not open yet */
	struct stat st;
};

/* Opens the file when there is something to change. 0 or -errno. */
int rewriting_begin(struct rewriting *r, const char *copy);
void rewriting_end(struct rewriting *r);

#endif
