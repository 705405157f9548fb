/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * under.h - the calls of zug.h in a program that zug executes
 *
 * There zug schedules: each thread is an operation, and what the calls tell are points and labels of zug's own
 * search. Arguments, results and errors are those of zug.h; caller is the return address of the call.
 */
#ifndef ZUG_UNDER_H
#define ZUG_UNDER_H

#include <stdbool.h>
#include <stdint.h>

/* The process is executed by zug. Does not change after the program has begun. */
extern bool under_zug __attribute__((visibility("hidden")));
#define CALLER	__builtin_return_address(0)

int under_spawn(const char *name, void (*fn)(void *arg), void *arg, const void *caller);
int under_create(const char *name, const void *caller);
int under_start(int handle);
int under_complete(int handle, const void *caller);
int under_join(int handle, const void *caller);
/* Waits for all operations that under_spawn() has made: the end of an execution. */
void under_join_all(void);

/* A point before an operation; name: of the data that it is on, or NULL. */
int under_point(unsigned int op, const char *name, const void *caller);
int under_yield(void);
int under_choose(int nr, const void *caller);
__attribute__((noreturn)) void under_fail(const char *message, const char *file, int line, const char *func);

int under_create_resource(const char *name);
int under_delete(int resource);
/* Until nr_left of nr resources have been signalled: the index of the first. */
int under_wait(const int *list, int nr, int nr_left, const void *caller);
int under_signal(int resource, bool all, const void *caller);

#endif
