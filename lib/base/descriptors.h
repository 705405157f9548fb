/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ZUG_DESCRIPTORS_H
#define ZUG_DESCRIPTORS_H

/* Lets this process have as many descriptors as it may (RLIMIT_NOFILE). */
void descriptors_raise(void);
/* In a child that is about to execute another program: the limit is what it was. */
void descriptors_restore(void);

#endif
