/* SPDX-License-Identifier: GPL-2.0-only */
/* sym_bash.h - the line of a script that bash executes, read from its memory */
#ifndef ZUG_SYM_BASH_H
#define ZUG_SYM_BASH_H

#include "symbols/sym_internal.h"

/* True when the file is bash, which exports what tells where it is. */
bool sym_is_bash(struct symfile *f);
/*
 * Where a task of that process is in its script, which a process that it forks goes on with; the function is NULL outside
 * of one. The names are kept in 'strings'. bias: address minus vaddr of f. false: it executes none (bash -c, a terminal),
 * or the memory is not as expected.
 */
bool sym_bash_place(struct symfile *f, struct sym_string **strings, int pid, uint64_t bias, struct trace_frame *frame);

#endif
