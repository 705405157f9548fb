/* SPDX-License-Identifier: GPL-2.0-only */
/* compiled.h - programs that the compiler makes for a test, here and now, and their symbols */
#ifndef ZUG_TESTS_COMPILED_H
#define ZUG_TESTS_COMPILED_H

#include "symbols/symbols.h"

/* The folder of the test group's programs, and what is known of them: from begin to end. */
extern char compiled_dir[];
extern struct symbols *compiled_syms;

int compiled_begin(void **state);
int compiled_end(void **state);

/* A file of the folder; the last 64 paths stay. */
const char *compiled_path(const char *name);
void compiled_write(const char *name, const void *data, size_t len);
/* A command, which must succeed. */
void compiled_run(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Writes the source into that file, and runs the command in the folder. */
void compiled_make(const char *name, const char *source, const char *compile);
struct symfile *compiled_open(const char *path);

struct compiled_found {
	int nr;
	struct symdef last;
	char names[1000];
};

struct compiled_found compiled_find(struct symfile *f, const char *pattern);

/* A program with locks, data, and frames that are inlined; with an argument it waits for ever in wait_here(). */
extern const char compiled_c[];

#endif
