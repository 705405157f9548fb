/* SPDX-License-Identifier: GPL-2.0-only */
/* program.h - the file of a command */
#ifndef ZUG_PROGRAM_H
#define ZUG_PROGRAM_H

#include "campaign/options.h"

/*
 * Like the shell: a name with a slash is a path, any other is looked for in PATH. malloc'd; NULL with a line in err: there
 * is no such program.
 */
char *find_program(const struct campaign_options *o, const char *name, char *err, size_t errlen);

#endif
