/* SPDX-License-Identifier: GPL-2.0-only */
/* sym_dash.h - the line of a script that dash executes, read from its memory */
#ifndef ZUG_SYM_DASH_H
#define ZUG_SYM_DASH_H

#include "symbols/sym_internal.h"

/* True when the file is dash, and its code tells where it keeps the line. */
bool sym_is_dash(struct symfile *f);
/* As sym_bash_place(); there is never a function, and nothing is said of a script that reads another one ('.'). */
bool sym_dash_place(struct symfile *f, struct sym_string **strings, int pid, uint64_t bias, struct trace_frame *frame);

/* ---- what it reads of others ---- */

/*
 * In code that lies at vaddr: where the instructions around one that refers to 'text' load the line and the script's name from,
 * into d. They stay 0 where there is no such place.
 */
void sym_dash_find(const uint8_t *code, size_t size, uint64_t vaddr, uint64_t text, struct symfile_dash *d);
/*
 * The script of a command line of len bytes, whose arguments end with a 0 each, with a 0 behind them; NULL: it names
 * none.
 */
const char *sym_dash_script(const char *args, size_t len);
/* One of the commands of that script is '.', so that other files have lines of their own. */
bool sym_dash_reads_others(const char *text);

#endif
