/* SPDX-License-Identifier: GPL-2.0-only */
/* sym_python.h - the Python functions in which a task stands, read from its memory */
#ifndef ZUG_SYM_PYTHON_H
#define ZUG_SYM_PYTHON_H

#include "symbols/sym_internal.h"

/* True when the file is CPython's interpreter, of a version whose memory can be read. */
bool sym_is_python(struct symfile *f);
/*
 * The frames of a task of that process, innermost first; their names are kept in 'strings'. bias: address minus vaddr of
 * f, the interpreter; tls: the task's thread pointer. 0: it executes no Python, or the memory is not as expected.
 */
int sym_python_frames(struct symfile *f, struct sym_string **strings, int pid, uint64_t bias, uint64_t tls,
		      struct interpreted_frame *frames, int max);
/* Frees what is kept of the file. */
void sym_python_free(struct symfile *f);
/* What the kernel side is told of the function of a frame; what ZUG_CODE_UNKNOWN: nothing can be told. */
struct zug_code sym_python_code(const struct trace_frame *f);
/* symbols_begins_thread() */
bool sym_python_begins_thread(const struct trace_frame *frames, int nr);
/* The function of the interpreter in which all Python code is executed. */
bool sym_is_python_loop(const char *function);
/*
 * The line of the code unit at that offset (in bytes) by a code object's co_linetable. -1: it has none. For tests, too.
 */
int sym_python_line(const uint8_t *table, size_t len, int first, int64_t at);

#endif
