/* SPDX-License-Identifier: GPL-2.0-only */
/* sym_dash.h - the line of a script that dash executes, read from its memory */
#ifndef ZUG_SYM_DASH_H
#define ZUG_SYM_DASH_H

#include "symbols/sym_internal.h"

/* True when the file is dash, and its code tells where it keeps the line. */
bool sym_is_dash(struct symfile *f);
/* As sym_bash_place(); there is never a function, and nothing is said of a script that reads another one ('.'). */
bool sym_dash_place(struct symfile *f, struct sym_string **strings, int pid, uint64_t bias, struct trace_frame *frame);

#endif
