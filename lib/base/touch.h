/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ZUG_TOUCH_H
#define ZUG_TOUCH_H

/*
 * Has the kernel map what this process has of programs and of memory of its own, as it would page by page when each is used:
 * for a process that waits, and that is to be quick then. A kernel older than Linux 5.14 does nothing.
 */
void touch_memory(void);

#endif
