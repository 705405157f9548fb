/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libzug_follow.h - a test with libzug, executed with a script
 */
#ifndef ZUG_LIBZUG_FOLLOW_H
#define ZUG_LIBZUG_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/trace.h"

/*
 * Executes the command of the trace, where it was executed then, with ZUG_SCRIPT. True when the test fails as in the
 * trace and the whole script was followed; otherwise 'came' says what happened. It is killed at that time of
 * clock_now_ns(); 0: never.
 */
bool libzug_follow(const struct trace *t, const char *script, uint64_t until_ns, char *came, size_t len);

#endif
