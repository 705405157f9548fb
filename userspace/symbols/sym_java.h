/* SPDX-License-Identifier: GPL-2.0-only */
/* sym_java.h - the Java methods in which a task stands, read from its memory */
#ifndef ZUG_SYM_JAVA_H
#define ZUG_SYM_JAVA_H

#include "symbols/sym_internal.h"

/* The longest name that is read. */
#define JAVA_TEXT_MAX	1024

/* What is read of one task. */
struct java {
	struct symfile_java *l;
	int pid;
	uint64_t bias;
	struct sym_string **strings;
	int version;
	uint64_t code, code_end;	/* the interpreter's */
	uint64_t call_stub;		/* where Java returns to C++ */
	uint64_t stack, stack_end;
};

bool sym_java_word(const struct java *j, uint64_t addr, uint64_t *word);
bool sym_java_half(const struct java *j, uint64_t addr, uint32_t *half);
/*
 * Offsets and addresses, of which the last are the file's (without the bias). They are read once. false: not of this
 * version.
 */
bool sym_java_layout(struct java *j, struct symfile_java *l);
/* What is kept of frames is freed. */
void sym_java_release(struct symfile_java *l);
/* A Symbol, into JAVA_TEXT_MAX + 1 bytes; false: it is none, or too long. The second: one that a constant pool has. */
bool sym_java_symbol(const struct java *j, uint64_t addr, char *text);
bool sym_java_pool_symbol(const struct java *j, uint64_t pool, uint16_t index, char *text);

/*
 * The library's jar that a class of that process comes from ("com/acme/Bank$Account"), by its path; NULL: it is the program's, or
 * the JDK's.
 */
const char *sym_java_jar_of(struct symfile_java *l, struct sym_string **strings, int pid, const char *class);
void sym_java_jars_release(struct symfile_java *l);
/* For tests, too: a jar at that path is a library's; fn gets each class of a jar's directory, of which the number is returned. */
bool sym_java_is_library_jar(const char *path);
int sym_java_jar_classes(const uint8_t *directory, size_t len, void (*fn)(void *arg, const char *name, size_t len), void *arg);

/*
 * The interpreted methods of a task of that process, innermost first; their names are kept in 'strings'. bias: address
 * minus vaddr of f, the machine; tls: the task's thread pointer. 0: it executes none, or the memory is not as expected.
 */
int sym_java_frames(struct symfile *f, struct sym_string **strings, int pid, uint64_t bias, uint64_t tls,
		    struct interpreted_frame *frames, int max);
/* symbols_begins_thread() */
bool sym_java_begins_thread(const struct trace_frame *frames, int nr);
/*
 * The line of the bytecode at 'at' by a method's compressed table of line numbers, as JDK 'version' makes it. 0: it has
 * none. For tests, too.
 */
int sym_java_line(const uint8_t *table, size_t len, int version, uint32_t at);

#endif
