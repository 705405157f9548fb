/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * probes.h - which places of which files stop a task
 *
 * Modules are the files that tests map; sites are probed places in them. Both
 * are numbered from 0 and never change during a campaign. Probes are planted
 * in the sandbox's private copies, between executions only.
 */
#ifndef ZUG_PROBES_H
#define ZUG_PROBES_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include "kernel/kernel.h"
#include "sandbox/sandbox.h"
#include "probes/code.h"
#include "symbols/symbols.h"

struct probes;

struct probe_module {
	const char *path;	/* as the test sees it */
	struct symfile *file;	/* NULL: not readable as ELF */
	uint64_t c_library;	/* symfile_c_library() */
	uint64_t ino, dev;	/* of what is mapped (the private copy, if there is one) */
	int nr_sites;
	bool sync_points;	/* primitives in it are points */
	bool sync_wanted;	/* they are to be, once one of the modules uses them */
	bool code_points;	/* probes_add_atomics() has been there */
	struct code *code;	/* its catalogue, once probes_code() was asked for it */
	struct probe_foreign *foreign;	/* once probes_is_own() was asked */
	enum { EXTENDS_UNKNOWN = 0, EXTENDS, EXTENDS_NOT } extends;	/* an interpreter, once that was asked */
	bool go;	/* a program of Go's, without C, whose operations are points */
	bool tells;	/* its points itself, by libzug (probes_tells()) */
	bool told_frames;	/* the kernel side finds what an interpreter executes (struct zug_frames) */
	bool made; /* by the test: it exists only in executions, and nothing in it is probed */
	struct kernel_answer *answers;	/* instructions that are answered in the processor's place */
	uint32_t nr_answers;
};

struct probe_site {
	uint32_t module;
	uint64_t offset;	/* in the file */
	const char *symbol;	/* "pthread_mutex_lock", or what the user named */
	uint16_t op;
	uint8_t obj_arg, obj2_arg;
	uint16_t named_by;	/* the operation whose objects its object is one of; 0: op */
	bool entry;		/* at a function's first instruction: the return address is on the stack */
	bool here;		/* a lock's atomic instruction, or the call of what makes it: code has the lock's place */
	bool inner;		/* of that function: part of such a call */
	bool own;		/* made by the program's own code: symfile_is_own(); of code of a program in Rust alone */
	bool split;		/* a read-modify-write that is two steps: ZUG_OP_DATA_READ, then ZUG_OP_DATA_WRITE */
	bool waits;		/* in a loop that waits: others are to have a turn */
	bool silent;		/* not a point any more */
	bool from;		/* the search begins there (--from) */
	bool once;		/* and the place is no point again after that */
	bool behind;		/* it begins behind that place, which is no point (probes_add_behind()) */
	bool executes;		/* an interpreter looks there what others want (symfile_looks); of code only base and */
				/* disp are set */
	uint8_t fields;		/* enum probe_fields, with executes: there it is one that calls functions at accesses */
				/* (symfile_fields) */
	uint8_t java;		/* enum java_operation: what a function of Java's machine does there */
	bool go;		/* an operation of Go's library or runtime, at its entry; of code only base is set: what */
				/* has the object */
	uint32_t limit;		/* in one execution it is a point this many times at most; 0: always */
	uint32_t within;	/* this many bytes before its operand larger accesses begin that contain it; 0: none known */
	enum symlibc layout;	/* of its lock's memory: SYMLIBC_RUST; SYMLIBC_NONE: that of the file's C library */
	struct code_place code;	/* a place in the code with its operand; kind 0: a function, or a named place */
};

/* The layout of the locks of a site in that module; SYMLIBC_NONE: it is not known. */
enum symlibc probes_layout(const struct probe_module *mod, const struct probe_site *s);

/* What is done where an interpreter is to tell of accesses of fields. */
enum probe_fields {
	PROBE_FIELDS_NOT,
	PROBE_FIELDS_POSSIBLE,	/* its variables are set, so that it can */
	PROBE_FIELDS_WANTED,	/* likewise, so that it does */
	PROBE_FIELDS_ACCESS,	/* it does: a point, where it executes what is the program's own */
};

struct probes *probes_new(struct kernel *k, struct sandbox *s, struct symbols *symbols);
void probes_free(struct probes *p);

/*
 * Says what is answered in the processor's place in files that are added from now on, where the
 * kernel can do that.
 */
void probes_answer(struct probes *p, bool time, bool random);

/*
 * Makes path a module and probes the synchronisation primitives that it defines (with sync), and what asks the
 * processor; of a C library's primitives those that any module uses, now or later: each process has to be given every
 * breakpoint, which takes longer than all else at its start. The number of places added, in that file or another, or
 * -errno with a line in err.
 * The same path again adds nothing.
 */
int probes_add_file(struct probes *p, const char *path, bool sync, char *err, size_t errlen);

/*
 * Makes a file that the test itself makes a module, for its names; copy: what it had in it. The
 * module or -errno. probes_made(): the module of such a path, -1: none.
 */
int probes_add_made(struct probes *p, const char *path, const char *copy);
int probes_made(const struct probes *p, const char *path);
/*
 * What cannot be looked into may use any primitive: all that C libraries define are probed from now
 * on. The number of places added, or -errno with a line in err.
 */
int probes_use_all(struct probes *p, char *err, size_t errlen);

/*
 * --point: SYMBOL, a glob, FILE:LINE or BINARY:SYMBOL+OFF, looked for in the modules
 * there are (BINARY: that file, from cwd, which becomes a module with 'sync' if it is none). Number
 * of sites; less than 0 with a line in err; -EOPNOTSUPP: the place is there, but cannot be probed; -ENXIO: it is not in the
 * BINARY, which is known. 0: in none of the modules so far.
 */
int probes_add_point(struct probes *p, const char *spec, const char *cwd, bool sync, char *err,
		     size_t errlen);
/*
 * --from: the same, for places where the search begins. A place that is a site already begins it from the next
 * probes_replant() on; *again: there is one.
 */
int probes_add_from(struct probes *p, const char *spec, const char *cwd, bool sync, bool *again, char *err, size_t errlen);
/* A function that has to be called before one of these begins the search, likewise. */
int probes_add_behind(struct probes *p, const char *function, const char *cwd, char *err, size_t errlen);
/* A line about such a place that is in none of the modules: it names the nearest symbol, which in large files takes seconds. */
void probes_say_unknown(struct probes *p, bool from, const char *spec, char *err, size_t errlen);

/* The catalogue of a module, made or read from the cache when first asked for. NULL with a line in err. */
struct code *probes_code(struct probes *p, uint32_t module, char *err, size_t errlen);

/*
 * Places of a module's catalogue become points: between executions only. op: ZUG_OP_NONE for what
 * probes_code_op() says; split (for CODE_RMW only) and waits as struct probe_site has them. A LOCK instruction is
 * probed where it stands, after code_rewrite() of the private copy; without one, and where nothing else is
 * possible, the point is on the next instruction, has the operation ZUG_OP_POINT and no object. How many
 * became points (what is one already, or has no way to be one, does not count), or -errno with a line in err.
 */
struct probe_code {
	uint64_t offset;	/* of a place of the catalogue */
	uint16_t op, named_by;
	bool split, waits;
	uint32_t limit, within;	/* these and named_by as struct probe_site has them */
};
int probes_add_code(struct probes *p, uint32_t module, const struct probe_code *places, int nr,
		    char *err, size_t errlen);
/* The operation of a code place: ZUG_OP_ATOMIC_*, _DATA_*, _FENCE, _PAUSE; ZUG_OP_NONE: never a point. */
uint16_t probes_code_op(const struct code_place *c);

/*
 * --points atomic: the atomic instructions of a module, and what is most likely an atomic load or store,
 * within scope (see --code; NULL or empty: all that is its own). Their number, or -errno.
 */
int probes_add_atomics(struct probes *p, uint32_t module, char *const *scope, char *err, size_t errlen);
/*
 * True when the code at a file offset is the program's (or library's) own. It is not in the C library of a
 * static program (symfile_is_library(), or it has no source lines and other code has them), in Go's
 * runtime, in Rust's libraries except for their primitives, and in a sanitizer.
 */
bool probes_is_own(struct probes *p, uint32_t module, uint64_t offset);
/* Code that the user has written, of a program with lines: of no library, header or package. */
bool probes_is_of_user(const struct probes *p, uint32_t module, uint64_t offset);
/*
 * The same, and not in Rust's or Go's libraries, primitives or not: their own data is their affair.
 */
bool probes_is_users(struct probes *p, uint32_t module, uint64_t offset);
/*
 * The interpreter of a language whose programs are no machine code of its own files: nothing in it is own. Known by what
 * it defines.
 */
bool probes_is_runtime(struct probes *p, uint32_t module);
/* What code of a file frees are blocks of glibc's malloc(), whose size is in the word before each. */
bool probes_has_glibc_blocks(struct probes *p, uint32_t module);
/*
 * --only and --not: files, functions, sources and folders in which points are, and in which none is; lists end with NULL
 * and stay the caller's. Before any place is planted. What is left out is passed (ZUG_SITE_LEFT_OUT): it orders, and is no
 * decision.
 */
void probes_leave_out(struct probes *p, char *const *only, char *const *without);
bool probes_has_scope(const struct probes *p);
/* Some points may be left out: because of these lists, or because Go's runtime makes them. */
bool probes_leaves_out(const struct probes *p);
/*
 * Where an interpreter looks whether another thread wants to execute the program is a point in files that are added from now
 * on, like a primitive: there the program's operations of several threads may be switched. So it is where it executes what is
 * the program's own, not of its language's library, and not left out.
 */
void probes_see_executed(struct probes *p);
/* There are such places, in one of the files. */
bool probes_knows_executed(const struct probes *p);
/*
 * A library of the distribution that knows nothing of an interpreter that uses it: neither that itself nor an extension of it.
 * What it locks is its own.
 */
bool probes_serves_any(struct probes *p, uint32_t module);
/*
 * Accesses of fields by what an interpreter executes are points, likewise, where the interpreter can be made to tell of
 * them.
 */
void probes_see_fields(struct probes *p);
/* Whether the instruction at a file offset is left out; BY_CALLER: what calls its function says so, which is a library's. */
enum probes_scope { PROBES_IN, PROBES_LEFT_OUT, PROBES_BY_CALLER };
enum probes_scope probes_scope_of(const struct probes *p, uint32_t module, uint64_t offset);
/*
 * What the lists say of a place; and whether an operation is left out that is made there, for a caller in the program, and
 * for what an interpreter executes: it is where one of them is named by --not, or none is by --only.
 */
enum probes_verdict { PROBES_NEITHER, PROBES_ONLY, PROBES_NOT };
enum probes_verdict probes_judge(const struct probes *p, uint32_t module, uint64_t offset);
bool probes_judged_out(const struct probes *p, enum probes_verdict here, enum probes_verdict caller,
		       enum probes_verdict interpreted);
/*
 * True where an item means nothing in the modules, and one of them is an interpreter: it names what that executes (Python,
 * Java). Then also what --point names there is looked at: each such place serves the whole program.
 */
bool probes_scope_interpreted(struct probes *p);
/*
 * What the lists say of an operation that an interpreted program makes, by its functions, the innermost first: the first that
 * is no library's counts, and what it calls.
 */
enum probes_verdict probes_judge_interpreted(struct probes *p, const struct trace_frame *frames, int nr);
/* It has been something else than PROBES_NEITHER. */
bool probes_scope_met(const struct probes *p);
/* True when an item of --code, --only or --not means anything in the modules there are. */
bool probes_scope_known(struct probes *p, const char *item);
/* A file of the distribution, which --code has to name to be looked into. */
bool probes_is_system(const char *path);

/*
 * Fills in what the kernel side is told of a code place: its operand, in what->flags and after; op
 * is not touched.
 */
void probes_code_site(const struct probe_site *s, struct zug_site *what);
/* The same of one where a lock of Rust's is taken or given back. */
void probes_lock_site(const struct probe_site *s, struct zug_site *what);

/* This site is no point from now on, or one again; between executions only, before probes_replant(). */
void probes_silence(struct probes *p, uint32_t site, bool silent);

/* A silent one, or one that has a limit, is a point at all times, as in a loop that waits. */
void probes_wait_at(struct probes *p, uint32_t site);
/* And that is taken back: it is a point up to that limit. */
void probes_wait_no_more(struct probes *p, uint32_t site, uint32_t limit);

/* Sets the limit of a site. */
void probes_set_limit(struct probes *p, uint32_t site, uint32_t limit);

/* Sets the larger accesses that it lies in. */
void probes_set_within(struct probes *p, uint32_t site, uint32_t within);

/* After kernel_clear_probes(): plants everything again. 0, or -errno with a line in err. */
int probes_replant(struct probes *p, char *err, size_t errlen);
/*
 * Some probes are planted while other things are done. Before an execution, and before this process is copied: waits for
 * them. 0, or -errno with a line in err.
 */
int probes_planted(struct probes *p, char *err, size_t errlen);

/* A module that uses libzug, or libzug: what it does to data between the points that it tells is one step, and no race. */
void probes_tells(struct probes *p, uint32_t module);

unsigned int probes_nr_modules(const struct probes *p);
const struct probe_module *probes_module(const struct probes *p, uint32_t module);
int probes_module_by_file(const struct probes *p, uint64_t ino, uint32_t kdev);	/* -1: unknown */
unsigned int probes_nr_sites(const struct probes *p);
const struct probe_site *probes_site(const struct probes *p, uint32_t site);
/* When a task with a lease may pass it; never where there is no such site. */
struct zug_pass probes_site_pass(const struct probes *p, uint32_t site);

#endif
