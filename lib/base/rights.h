/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rights.h - a process of root's that works for a user who may not be root
 *
 * It begins with rights_confine(). From then on its files, folders and paths are the user's: without a call of
 * rights_raise() it has no capability in effect, and opens, reads and signals what the user may. What only root can do
 * stands between rights_raise() and rights_lower(), which nest, and names no path that came from the user. A path of the
 * user's that is needed there is opened by rights_open(), with the user's rights, and then used by its descriptor.
 *
 * All calls are about the calling thread, and do nothing in a process that is not confined. A thread that is made later
 * begins with rights_thread(). CAP_KILL is never raised: the user's own processes may be signalled without it.
 */
#ifndef ZUG_RIGHTS_H
#define ZUG_RIGHTS_H

#include <stdbool.h>
#include <sys/stat.h>
#include "lib/base/run_user.h"

/*
 * For good, in a process of one thread, whose capabilities in effect are those to be raised. 0, or -errno: then the process
 * is to end. u has to stay.
 */
int rights_confine(const struct run_user *u);
/* The user; NULL: the process is not confined. */
const struct run_user *rights_user(void);

/* Between the two new files are root's, and the capabilities are in effect. errno stays. */
void rights_raise(void);
void rights_lower(void);
/* As open(), with the user's rights, also where they are raised. A descriptor, or -1 with errno. */
int rights_open(const char *path, int flags);
/* As stat(), in the same way. 0, or -1 with errno. */
int rights_stat(const char *path, struct stat *st);
/* At the beginning of a thread that is root's to its end. */
void rights_thread(void);

static inline void rights_end_of_scope(const int *raised)
{
	(void)raised;
	rights_lower();
}

/* A declaration: raised until the end of the block. */
#define RIGHTS_RAISED \
	__attribute__((cleanup(rights_end_of_scope), unused)) const int rights_are_raised = (rights_raise(), 1)

#endif
