/* SPDX-License-Identifier: GPL-2.0-only */
/* sym_java.h - the Java methods in which a task stands, read from its memory */
#ifndef ZUG_SYM_JAVA_H
#define ZUG_SYM_JAVA_H

#include "symbols/sym_internal.h"

/* True when the file is HotSpot's virtual machine (libjvm.so), which tells where its data lies. */
bool sym_is_java(struct symfile *f);
/*
 * The interpreted methods of a task of that process, innermost first; their names are kept in 'strings'. bias: address
 * minus vaddr of f, the machine; tls: the task's thread pointer. 0: it executes none, or the memory is not as expected.
 */
int sym_java_frames(struct symfile *f, struct sym_string **strings, int pid, uint64_t bias, uint64_t tls,
		    struct interpreted_frame *frames, int max);
/*
 * The line of the bytecode at 'at' by a method's compressed table of line numbers, as JDK 'version' makes it. 0: it has
 * none. For tests, too.
 */
int sym_java_line(const uint8_t *table, size_t len, int version, uint32_t at);

#endif
