/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * symbols.h - ELF and DWARF of the files under test: names to places and back
 *
 * A file is opened once and shared (struct symfile, reference counted inside
 * a struct symbols). All offsets are *file offsets*, what uprobes take; all
 * vaddrs are the file's own virtual addresses, before any load bias.
 */
#ifndef ZUG_SYMBOLS_H
#define ZUG_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include "bpf/zug_abi.h"
#include "lib/trace.h"

struct symbols;
struct symfile;

struct symbols *symbols_new(void);
void symbols_free(struct symbols *s);
/* Sources that do not lie where they were compiled are sought below that folder, too, by the end of their path. */
int symbols_look_in(struct symbols *s, const char *folder);

/*
 * path as the test sees it; file is where to read it now (NULL: path).
 * NULL with one line in err: not an ELF file, wrong machine ("built for aarch64"),
 * unreadable. Owned by s; the same path gives the same symfile.
 */
struct symfile *symbols_file(struct symbols *s, const char *path, const char *file,
			     char *err, size_t errlen);
/* Reads what symbols_file() of any list will be asked for: for a process that has nothing else to do. */
void symbols_prepare(const char *path);
const char *symfile_build_id(struct symfile *f);	/* hex, "" without one */
bool symfile_is_dynamic(struct symfile *f);	/* has an interpreter */
bool symfile_has_symtab(struct symfile *f);
bool symfile_has_symbols(struct symfile *f);	/* or at least names that it exports */
const char *symfile_interp(struct symfile *f);	/* NULL when static */
/*
 * A number for the archive of the C library that says which names functions of a static program have, which itself has no symbol
 * table; 0: it has one, or there is no such archive. It is another one when the archive has changed.
 */
uint64_t symfile_archive(struct symfile *f);
/*
 * All files that starting this program maps: itself, its interpreter and the
 * libraries as that interpreter resolves them (asked by running `interp --list`,
 * which does not run the program). malloc'd, NULL-terminated; free with symbols_free_paths().
 */
char **symbols_needed_paths(struct symbols *s, const char *exe, char *const *envp);
void symbols_free_paths(char **paths);

/*
 * A demangled name of a function or a type as people read it: without its argument list and return type, and with
 * "..." for template arguments that are long. Other names stay as they are.
 */
void symbols_brief(const char *name, char *buf, size_t len);

/* One definition of a name. */
struct symdef {
	const char *name;	/* as in the file (mangled) */
	const char *demangled;	/* NULL: not mangled */
	const char *version;	/* "GLIBC_2.34", NULL without */
	bool is_function, is_object, is_ifunc;
	uint64_t vaddr, size;
	uint64_t offset;	/* file offset; UINT64_MAX: not in the file (.bss) */
};
/*
 * Calls fn for every definition (dynamic and static tables, duplicates at the same
 * address once) whose mangled or demangled name matches: exact, or a glob when
 * pattern has one of *?[ . For demangled names the argument list may be left out
 * ("bank::transfer" matches "bank::transfer(int, int)"). Returns their number.
 */
int symfile_find(struct symfile *f, const char *pattern,
		 int (*fn)(const struct symdef *d, void *arg), void *arg);
/*
 * The same for names of C functions and objects, as they are in the file (and the compiler's copies of them,
 * "name.constprop.0"): all in one pass, which is what a large file takes. By name, then address; until fn returns other
 * than 0.
 */
int symfile_find_names(struct symfile *f, const char *const *names, unsigned int nr,
		       int (*fn)(const struct symdef *d, unsigned int name, void *arg), void *arg);
/*
 * Sets takes[i] for each of these functions of other files that it may call: because it imports the name, or because it
 * looks names up (dlsym) and has that one among its strings. false: it may call any (libffi; nothing to tell it by; no memory).
 */
bool symfile_imports(struct symfile *f, const char *const *names, unsigned int nr, bool *takes);
/* True when that part of the file is mapped read-only. */
bool symfile_is_constant(const struct symfile *f, uint64_t vaddr);
/*
 * What says() says of the function whose address the linker puts into the word at vaddr, or of the file's own one that begins
 * there: of the first of its names of which it says something. NULL: nothing.
 */
const char *symfile_linked(struct symfile *f, uint64_t vaddr, const char *(*says)(const char *name));
/*
 * Copies of functions of that name within others: their number, a line of theirs with code, and the
 * place of the first.
 */
struct symfile_inlined {
	uint32_t nr;
	struct trace_frame body, into;
};
uint32_t symfile_inlined(struct symfile *f, const char *pattern, struct symfile_inlined *found);
/* The names nearest to a misspelt one, "a, b or c"; "" when none is near. */
void symfile_nearest(struct symfile *f, const char *name, bool functions, char *buf, size_t len);

/* A variable or member by C-like name: symbol[.member | [index]]*; size from DWARF, else the symbol. */
int symfile_variable(struct symfile *f, const char *expr, uint64_t *vaddr, uint64_t *size,
		     char *err, size_t errlen);
/* The name of the data at vaddr ("accounts[3].lock" with DWARF, else "accounts+0x18"), or -ENOENT. */
int symfile_data_name(struct symfile *f, uint64_t vaddr, char *buf, size_t len);
/*
 * The name of the data that the instruction at a file offset accesses disp bytes behind the address
 * in a register (DWARF's number): "struct node.next" or "*out", where that register holds a pointer
 * variable there; else -ENOENT.
 */
int symfile_pointee_name(struct symfile *f, uint64_t offset, unsigned int reg, int64_t disp, char *buf, size_t len);
/*
 * The same of what a call is given as its first argument, "struct pool.lock": the last byte of the call is at that offset, as
 * callers have it. -ENOENT: there is no call, too.
 */
int symfile_argument_name(struct symfile *f, uint64_t offset, char *buf, size_t len);
/*
 * True when the variable, or that member of it, is of a type that is _Atomic in C; the second: of
 * data reached as above.
 */
bool symfile_is_atomic(struct symfile *f, uint64_t vaddr);
bool symfile_pointee_is_atomic(struct symfile *f, uint64_t offset, unsigned int reg, int64_t disp);

/*
 * Statement starts of FILE:LINE (file matches by trailing path components) as
 * file offsets; -ENOENT: no code there, *nearest is then the next line with code, 0 none.
 */
int symfile_line(struct symfile *f, const char *file, uint32_t line,
		 uint64_t *offsets, int max, uint32_t *nearest);

/* True when it was compiled from a source whose path is_it() takes. */
bool symfile_has_source(struct symfile *f, bool (*is_it)(const char *path, void *arg), void *arg);

/* Source position of a file offset of code, inlined frames first; frames point into f. 0..max, or -errno. */
int symfile_frames(struct symfile *f, uint64_t offset, struct trace_frame *frames, int max);

/* True when it lies where the distribution keeps its shared libraries. */
bool symfile_of_system(const struct symfile *f);
/* The owner of code. UNKNOWN: there is nothing to tell it by. */
enum symowner { SYMOWNER_UNKNOWN, SYMOWNER_PROGRAM, SYMOWNER_LIBRARY };
enum symowner symfile_owner(struct symfile *f, uint64_t offset);
/*
 * The way from a function to its caller while the instruction at that file offset is executed: its
 * frame ends size bytes above the stack pointer (by_bp: above the frame pointer, rbp), the return
 * address lies right below that end, and the caller's frame pointer, if it was kept, at bp_at bytes
 * from it. 0; -ENOENT: not known, too complicated, or no caller. By call frame information, or
 * where there is none by the function's instructions.
 */
struct symfile_step {
	int32_t size, bp_at;
	bool by_bp, bp_kept;
};
int symfile_step(struct symfile *f, uint64_t offset, struct symfile_step *step);

/*
 * The number of the goroutine that a task executes of a Go program without C, by its thread pointer; 0: none, or not known,
 * as there is no debug information.
 */
uint32_t symfile_goroutine(struct symfile *f, int pid, uint64_t tls);
/*
 * Lets the random numbers of the Go runtime in that process, whose tasks stand still, follow from that value: which of several
 * cases of a select that are ready is taken, where a walk through a map begins, whose goroutines a thread takes. Nothing is
 * changed where debug information does not tell where the runtime has them (1.17 to 1.24 were looked at).
 */
void symfile_go_numbers(struct symfile *f, int pid, uint64_t bias, uint32_t value);

/* A source file of a language's or a C library (as debug information names it): none that the user wrote. */
bool symbols_of_library(const char *file);
/* The same of Java, of a class in a library's jar: its file has that jar for a folder. NULL is none. */
bool symbols_of_jar(const char *file);
/*
 * false: a compiler's word for code that is in no file ("<autogenerated>", "<built-in>"), also
 * below a folder.
 */
bool symbols_is_source(const char *file);
/* The first frame of the program's own code; -1: none. */
int symbols_own_frame(const struct trace_frame *frames, int nr);
bool symbols_of_language(const char *file);	/* of Rust's or Go's, which are in every program */
/*
 * ATOMIC when the innermost source line says that its accesses are atomic: it lies in a file for
 * atomics, or has words such as atomic_load, memory_order, READ_ONCE. (Those of Rust are in a file
 * for atomics always.) UNKNOWN: the source cannot be read, or nothing of the file was compiled with
 * -g. NOTHING: code whose owner is not known.
 */
enum symsays { SYMSAYS_NOTHING, SYMSAYS_UNKNOWN, SYMSAYS_PLAIN, SYMSAYS_ATOMIC };
enum symsays symfile_says_atomic(struct symfile *f, uint64_t offset);
bool symfile_is_go(struct symfile *f);	/* a program in Go, with symbols or without */
bool symfile_is_rust(struct symfile *f, uint64_t offset);	/* was compiled from Rust, with -g */
/*
 * True when the program's own code makes what is done there: the innermost function that is no language's is neither in a
 * library nor in a package that was fetched for the program (Cargo's, vendored ones). Of code that has functions of the
 * language alone (without optimisation, those of core::sync::atomic) the one who compiled it counts.
 */
bool symfile_is_own(struct symfile *f, uint64_t offset);
/*
 * True when it was compiled by GCC, which never makes one instruction of an atomic load and an
 * atomic store, as LLVM does.
 */
bool symfile_by_gcc(struct symfile *f, uint64_t offset);
/*
 * The number of sources for want of which symfile_says_atomic() said UNKNOWN; *first is one of
 * them, in f.
 */
uint32_t symfile_missing_sources(struct symfile *f, const char **first);
bool symfile_has_lines(struct symfile *f);	/* anything of it was compiled with -g */

/*
 * The file offset from which on a static program's code is that of its C (or C++) library, which is linked behind
 * its own; UINT64_MAX: there is none, or no symbols to tell it by. What lies before, in groups by how often it is
 * executed, symfile_is_library() tells by its names; start files are the library's, too.
 */
uint64_t symfile_library(struct symfile *f);
uint64_t symfile_c_library(struct symfile *f);	/* the same, without libstdc++ */
bool symfile_is_library(struct symfile *f, uint64_t offset);

uint64_t symfile_offset_of(struct symfile *f, uint64_t vaddr);	/* UINT64_MAX: not in the file */
uint64_t symfile_vaddr_of(struct symfile *f, uint64_t offset);	/* UINT64_MAX: not mapped */
/* The file's vaddrs when loaded: lo <= vaddr < hi, .bss included. Both 0 without PT_LOAD. */
void symfile_extent(struct symfile *f, uint64_t *lo, uint64_t *hi);
/* An executable mapping of file offset `offset` (bytes) at `start`: address minus vaddr, or -ENOENT. */
int symfile_code_bias(struct symfile *f, uint64_t start, uint64_t offset, uint64_t *bias);
/* C library of that file, by its content. */
enum symlibc {
	SYMLIBC_NONE, SYMLIBC_GLIBC, SYMLIBC_MUSL,
	SYMLIBC_RUST,	/* no C library, and of no file: locks of Rust's library (probes_layout()) */
};
enum symlibc symfile_libc(struct symfile *f);

/* malloc'd, NULL when name is not mangled (C++ and Rust). */
char *symbols_demangle(const char *name);

/* ---- stacks ---- */

/* User registers of a stopped task, in DWARF order of x86-64 (rax rdx rcx rbx rsi rdi rbp rsp r8..r15 rip). */
struct user_registers {
	uint64_t r[17];
	uint64_t tls;		/* the thread pointer (fsbase); 0: unknown, and then no frames of an interpreter are found */
};
/*
 * Unwinds a task that does not run (parked or blocked), without ptrace: memory by
 * process_vm_readv, modules from /proc/PID/maps (through /proc/PID/root), registers given.
 * frames[].function/file are owned by s. Number of frames, or -errno.
 */
int symbols_unwind(struct symbols *s, int pid, int tid, const struct user_registers *regs,
		   struct trace_frame *frames, int max);
/*
 * Of such a stack only the functions of an interpreted language (Python, Java), which symbols_unwind() puts where the
 * interpreter executes them. 0: it executes none, or they cannot be read.
 */
int symbols_interpreted(struct symbols *s, int tid, uint64_t tls, struct trace_frame *frames, int max);
/* The same where it is known which file of the task's process that interpreter is, and where its code lies. Fast. */
int symbols_interpreted_by(struct symbols *s, struct symfile *f, uint64_t bias, int tid, uint64_t tls,
			   struct trace_frame *frames, int max);
/* Of Python: the innermost function of these begins. */
/* The addresses of the methods of Java's that the task executes, innermost first, and symbols_java_says() of each. Their number. */
int symbols_java_methods(struct symbols *s, struct symfile *f, uint64_t bias, int tid, uint64_t tls, uint64_t *methods,
			 uint32_t *says, int max);
bool symbols_interpreted_begins(struct symbols *s, struct symfile *f, uint64_t bias, int tid, uint64_t tls);
/*
 * Where a task of a shell is in the script that it executes (the innermost file and function). 1: in *frame, whose names s
 * owns; 0: it executes none; -ENOENT: the program is neither bash nor dash.
 */
int symbols_script(struct symbols *s, int tid, struct trace_frame *frame);
bool symbols_have_scripts(struct symbols *s);	/* one of its files is bash or dash */
/*
 * By these frames the language's library starts a thread, waits for its end, or goes through its begin or end: what the program
 * does there is start() and join(), and which of its operations come first depends on others than these. (Python's
 * threading.py, Java's Thread.) Or the library loads and links code, or ends the program.
 */
bool symbols_begins_thread(const struct trace_frame *frames, int nr);
/* What the kernel side is to be told of such a function of Python's: ZUG_CODE_*. */
uint32_t symbols_code_of(const struct trace_frame *frame);
/*
 * Of Python: the code objects of the functions that the task executes, from the innermost on, and what is to be told of each.
 * How many, at most max.
 */
int symbols_interpreted_codes(struct symbols *s, struct symfile *f, uint64_t bias, int tid, uint64_t tls, uint64_t *codes,
			      struct zug_code *told, int max);
/* True when the file is Java's machine: HotSpot's (libjvm.so), which tells where its data lies. */
bool symfile_is_java(struct symfile *f);
/* What functions of Java's machine do for the program. */
enum java_operation {
	JAVA_NONE, JAVA_ENTER, JAVA_WAIT, JAVA_NOTIFY, JAVA_PARK, JAVA_UNPARK, JAVA_READ, JAVA_WRITE,
	JAVA_CALL,	/* of a method, whose object is that of the field which it reads first */
	JAVA_ELEMENT,	/* of an array, which is read or written */
};
/* By the function's name, demangled or not. */
enum java_operation symfile_java_operation(struct symfile *f, const char *function);
/*
 * At the function's entry the address of the operation's object lies at 'at' behind a register (its number in instructions).
 * false: it does not.
 */
bool symbols_java_leads(enum java_operation operation, uint8_t *base, int32_t *at);
/* What such an operation is about. */
struct java_subject {
	uint64_t object;	/* its address, until the collector moves it; of a field that is not static the field's; */
				/* 0: static */
	bool refers;		/* a field, or an element, that refers to an object */
	bool writes;		/* an element is written */
	char name[128];		/* "Account", "Account.class", "Account.balance", "int[] element 2"; "": not known */
};
/*
 * args: the first three arguments of the function, which the task may have left meanwhile; of JAVA_READ and JAVA_WRITE
 * the first is the method that is executed, and of operations with an object (but JAVA_PARK) the second is that; of
 * JAVA_ELEMENT as of ZUG_SITE_ELEMENT. false: it cannot be read.
 */
bool symfile_java_subject(struct symfile *f, enum java_operation operation, int pid, uint64_t bias, const uint64_t *args,
			  struct java_subject *s);
/* True when the file is such an interpreter; when one is among the files. */
bool symfile_interprets(struct symfile *f);
/*
 * Where it keeps its own state, with the lock that a thread must have to execute the program (Python's GIL). false: it is
 * none, or has none.
 */
bool symfile_interpreter_data(struct symfile *f, uint64_t *vaddr, uint64_t *size);
bool symbols_interpret(struct symbols *s);
/*
 * Where it looks whether another thread wants to execute the program: instructions of one function (by file offsets) that load
 * so many bytes at disp behind a register. From there path leads to what the thread executes (bpf/zug_abi.h).
 */
struct symfile_looks {
	uint64_t begin, end;
	int32_t disp;
	unsigned int bytes;
	bool low_byte;		/* others load such a member as well: the register is that of which the lowest byte is */
				/* tested alone */
	int16_t path[ZUG_SITE_PATH];
};
/* false: it is no interpreter, or that is not known of its version. */
bool symfile_interpreter_looks(struct symfile *f, struct symfile_looks *looks);
/* How to come from its data to what a thread executes. The same. */
bool symfile_interpreter_frames(struct symfile *f, struct zug_frames *frames);
/*
 * How an interpreter can be made to call functions of its own where the program accesses a field: variables of the file
 * that have to be set before a function of it, and, when the program makes a thread, before another one. Functions are
 * file offsets. From a register (its number in instructions) path leads to what the thread executes, as above.
 */
#define SYMFILE_PLACES	4
#define SYMFILE_POSSIBLE 3
#define SYMFILE_WANTED	2
/*
 * Where it has tables, too, that say what code executes a bytecode: by the stack's state, then by bytecode. Another table has
 * code that calls a function first ('steps').
 */
#define SYMFILE_TABLE_STATES 10
#define SYMFILE_TABLE_CODES 256
struct symfile_fields {
	bool sought, is;
	struct symfile_places {
		uint64_t at[SYMFILE_PLACES];
		uint32_t nr;
	} makes, starts, reads, writes;	/* it makes its code; it makes a thread of the program's; it is called at an access */
	struct symfile_places steps;	/* it is called before a bytecode; nr 0: there are no such tables */
	uint64_t table, stepping;	/* vaddr of the table that is used, and of the other one */
	struct symfile_setting {
		uint64_t vaddr;
		uint32_t size, value;
	} possible[SYMFILE_POSSIBLE], wanted[SYMFILE_WANTED];	/* before 'makes'; before 'starts' */
	uint8_t base;
	int16_t path[ZUG_SITE_PATH];
};
/* NULL: it is none that can. */
const struct symfile_fields *symfile_fields(struct symfile *f);
/*
 * The innermost is a method of one of the language's classes for data that threads must not share, as lists are: what calls it
 * says whether it accesses data for the program. And whether the program itself does.
 */
bool symbols_may_access(const struct trace_frame *frame);
bool symbols_accesses_by(const struct trace_frame *frames, int nr);
/*
 * It is a method of one of the language's classes for data that threads share (java.util.concurrent): what it does inside is in
 * order whatever comes between, so that a call of the program's is one operation. And which of the frames is the
 * program's, where all before it are such methods and none makes an object; 0: it is none.
 */
bool symbols_serves_threads(const struct trace_frame *frame);
int symbols_call_of(const struct trace_frame *frames, int nr);
/* It is one of an atomic variable; and that of it which changes nothing. */
bool symbols_is_atomic(const struct trace_frame *frame);
bool symbols_only_reads(const struct trace_frame *frame);
/* The program itself has called what these do, by nothing but methods of the language's own classes. */
bool symbols_done_for_program(const struct trace_frame *frames, int nr);
/* The static initialiser of one of the language's own classes. */
bool symbols_initialises_class(const struct trace_frame *frame);
/* What the kernel side is told of a method of Java's: ZUG_JAVA_*. */
unsigned int symbols_java_says(const struct trace_frame *frame);

#endif
