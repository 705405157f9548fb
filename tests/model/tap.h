/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tap.h - the Test Anything Protocol, as far as these tests need it
 */
#ifndef ZUG_TESTS_TAP_H
#define ZUG_TESTS_TAP_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

extern int tap_nr, tap_failed;

__attribute__((format(printf, 2, 3)))
bool tap_ok(bool good, const char *fmt, ...);

/* The plan, and the exit status of main(). */
int tap_done(void);

/* LONG=1: more of everything ('make check-long'). */
static inline int tap_scale(int usual, int in_long)
{
	const char *s = getenv("LONG");

	return s && *s == '1' ? in_long : usual;
}

#endif
