/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * machine_mark.h - which machine wrote a trace
 *
 * A trace is executed, and sources that it names are shown, without further ado only where it was
 * written. The mark is a hash of /etc/machine-id: it tells an honest trace's origin, but who has seen
 * a trace of this machine can copy its mark.
 */
#ifndef ZUG_MACHINE_MARK_H
#define ZUG_MACHINE_MARK_H

#include <stdbool.h>

/* The key of the mark in the options of a trace. */
#define MACHINE_MARK_KEY "machine"

/* 16 hexadecimal digits; "0" on a machine without an id. */
const char *machine_mark(void);

#endif
