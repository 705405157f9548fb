/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sym_internal.h - inside of symbols.h: one opened ELF file and what was read of it so far
 *
 * Everything beyond the ELF header is read when it is first asked for, and kept.
 */
#ifndef ZUG_SYM_INTERNAL_H
#define ZUG_SYM_INTERNAL_H

#include <gelf.h>
#include <sys/stat.h>
#include <elfutils/libdw.h>
#include "lib/base/id_map.h"
#include "symbols/symbols.h"

/* A definition in a symbol table of the file or of its separate debug file. */
struct sym {
	const char *name;	/* without @VERSION */
	const char *version;	/* NULL without */
	uint64_t vaddr, size;
	uint8_t type;		/* STT_FUNC, STT_OBJECT, STT_GNU_IFUNC, STT_TLS */
	uint8_t bind;
};

/* Code of one function, [lo, hi). */
struct sym_function {
	uint64_t lo, hi;
	Dwarf_Die die;
};

/* The code of one compilation unit: lo <= vaddr < hi. */
struct cu_range {
	uint64_t lo, hi;
	uint32_t cu;
};

/* A variable at a fixed address, from DWARF. */
struct sym_variable {
	const char *name;	/* demangled, qualified */
	uint64_t vaddr, size;	/* size 0: unknown */
	Dwarf_Die die;
	const char *file;
	int line;
};

struct frames_entry {
	uint64_t offset;
	int nr;
	struct trace_frame *frames;
};

/* A source file, and the lines that speak of atomic accesses. */
struct atomic_source {
	const char *path;	/* libdw's */
	const char *full;	/* where the compiler read it; NULL: out of memory */
	bool all;		/* it is about nothing else */
	bool readable, missed;	/* missed: one was asked for that cannot be read */
	struct atomic_line {
		uint32_t nr;
		const char *text;	/* without its comment; NULL: out of memory */
	} *lines;
	size_t nr_lines, size_lines;
};

struct sym_string {
	struct sym_string *next;
	char text[];
};

/* Where CPython's interpreter has its data; 0: nowhere. */
struct symfile_python {
	uint64_t runtime, runtime_size, version, code, text, bytes;
	uint64_t version_offset, runtime_offset;	/* in the file */
	uint64_t loop_begin, loop_end;	/* the function that executes the program, in the file */
	struct python_known *known;	/* what was read of its code objects */
};

/* Where Go's runtime has its data; 0: not known. */
struct sym_go {
	uint64_t number;		/* in a goroutine (runtime.g): its number */
	uint64_t next, numbers, chacha;	/* in a thread (runtime.m): the next one; what its random numbers follow from */
	uint64_t threads, seed, all;	/* variables: the first thread; what numbers of new threads follow from, up to 1.21 and then */
	uint64_t all_chacha;		/* in the latter: its generator */
};

/* Where bash has its data; 0: nowhere. */
struct symfile_bash {
	bool sought;
	uint64_t line, variables;
	uint32_t others;	/* of its names that are no data of ours, but tell bash from another program */
};

/* Where dash has its data, 0: nowhere; and the last script of it that was looked at. */
struct symfile_dash {
	bool sought, whole;	/* whole: the script reads no other files */
	uint64_t line, name;
	char *script;
	int32_t nr_lines;	/* of it */
};

/* What HotSpot tells of its own data: addresses of static members, offsets of others, sizes of types, constants. */
enum symjava {
	SYMJAVA_VERSION, SYMJAVA_THREADS, SYMJAVA_LIST_LENGTH, SYMJAVA_LIST_THREADS, SYMJAVA_OSTHREAD, SYMJAVA_PTHREAD,
	SYMJAVA_STACK_BASE, SYMJAVA_STACK_SIZE, SYMJAVA_ANCHOR, SYMJAVA_ANCHOR_SP, SYMJAVA_ANCHOR_FP, SYMJAVA_ANCHOR_PC,
	SYMJAVA_INTERPRETER, SYMJAVA_STUBS, SYMJAVA_STUBS_SIZE, SYMJAVA_CALL_STUB, SYMJAVA_WRAPPER_ANCHOR,
	SYMJAVA_METHOD_CONST, SYMJAVA_CONST_POOL, SYMJAVA_CONST_SIZE, SYMJAVA_CONST_FLAGS, SYMJAVA_CODE_SIZE,
	SYMJAVA_NAME_INDEX, SYMJAVA_METHOD_NUMBER, SYMJAVA_POOL_HOLDER, SYMJAVA_POOL_LENGTH, SYMJAVA_POOL_SOURCE,
	SYMJAVA_CLASS_NAME, SYMJAVA_CLASS_POOL, SYMJAVA_CLASS_METHODS, SYMJAVA_ARRAY_LENGTH, SYMJAVA_ARRAY_METHODS,
	SYMJAVA_SYMBOL_LENGTH, SYMJAVA_SYMBOL_TEXT, SYMJAVA_POOL_BYTES, SYMJAVA_CONST_BYTES, SYMJAVA_HAS_LINES,
	SYMJAVA_CALL_WRAPPER, SYMJAVA_LAST_SP, NR_SYMJAVA_FRAMES,
	/* what an operation is about: sym_java_subject.c does without what a version has not */
	SYMJAVA_ENVIRONMENT = NR_SYMJAVA_FRAMES, SYMJAVA_THREAD_OBJECT, SYMJAVA_ACCESS_INDICES, SYMJAVA_ACCESS_HOLDER,
	SYMJAVA_ACCESS_OFFSET, SYMJAVA_OBJECT_CLASS, SYMJAVA_NARROW_BASE, SYMJAVA_NARROW_SHIFT, SYMJAVA_MIRRORED, NR_SYMJAVA,
};

#define SYMJAVA_VARIABLES	15

struct symfile_java {
	bool sought, is, read;	/* read: its tables */
	uint64_t variables[SYMJAVA_VARIABLES];	/* where they lie in the file */
	const uint64_t *told;	/* while its tables are read: what these variables are */
	uint64_t known;		/* bits of enum symjava */
	int64_t value[NR_SYMJAVA];
	struct id_map frame_of;	/* in frames, by a hash of what they were read from */
	struct java_frame *frames;
	size_t nr_frames, room_frames;
	struct id_map jar_of;	/* in jars, by a hash of a class's name: that has it; JAVA_NO_JAR: none of a library */
	const char **jars;	/* of libraries, which were read */
	size_t nr_jars, room_jars;
};

#define JAVA_NO_JAR UINT32_MAX

/* A function of an interpreted language. */
struct interpreted_frame {
	struct trace_frame frame;
	uint64_t code;	/* Python: the code object; Java: the method */
	bool begins;	/* Python: it executes nothing of it yet but what is on the line that the function begins with */
	bool entry;	/* code of another language called the interpreter for it: behind it begins the stack of another call */
};

struct sym_list {
	struct sym *list;
	size_t nr, size;
};

/* How names begin: a hash of their first three characters. No name that is looked for is shorter. */
#define SYM_BEGINS 4096
static inline unsigned int sym_begin(const char *name)
{
	return name[0] && name[1] ? (name[0] * 31u + name[1] * 131u + name[2] * 7u) % SYM_BEGINS : 0;
}

/* Which symbols are to be read. */
struct sym_filter {
	uint64_t begins[SYM_BEGINS / 64];	/* bitmap of sym_begin(): others are not wanted */
	bool (*wanted)(const char *name, void *arg);
	void *arg;
};

/* The symbols of a table by the begins of their names, for one that is asked for names again and again. */
#define SYM_PASSES 1			/* so often it is gone through before */
struct sym_begins {
	uint32_t first[SYM_BEGINS + 1];	/* in order */
	uint32_t order[];		/* numbers of symbols */
};

/* What the archive of its C library says of a static program without symbols (sym_archive.c). */
struct sym_archive_names {
	bool sought;
	struct sym_list list;
	uint64_t begin;		/* of the archive's code, behind the program's; UINT64_MAX: there is none */
	uint64_t id;		/* of the archive; 0: none was found */
};

struct symfile {
	struct symfile *next;
	const struct symbols *owner;
	char *path, *file;
	int fd;
	struct stat st;		/* when it was opened */
	Elf *elf;
	GElf_Ehdr ehdr;
	GElf_Phdr *phdrs;
	size_t nr_phdrs;
	char build_id[2 * 64 + 1];
	char *interp;
	int libc;		/* enum symlibc, -1 not looked at */

	bool python_sought;
	struct symfile_python python;
	struct symfile_bash bash;
	struct symfile_dash dash;
	struct symfile_java java;
	struct symfile_fields java_fields;
	bool go_sought;
	struct sym_go go;

	struct sym_archive_names archive;
	bool library_sought;
	uint64_t library, c_library;	/* symfile_library(), symfile_c_library() */

	bool syms_read, has_symtab;
	struct sym *syms;	/* ascending by vaddr, then name */
	size_t nr_syms;
	char *mangled;		/* names of syms that begin with '_', each with its 0: sought as one text; NULL: not made */
	size_t *mangled_at;	/* where the name of each of syms begins there, and behind the last one the end of all */

	bool debug_sought, debug_tried;	/* for a separate file; for DWARF */
	int debug_fd;		/* a separate debug file, -1 none */
	Elf *debug_elf;
	Dwarf *dwarf;		/* NULL: no DWARF */

	bool eh_cfi_tried, debug_cfi_tried;
	Dwarf_CFI *eh_cfi, *debug_cfi;	/* NULL: none; the second is dwarf's own */

	bool has_function;
	Dwarf_Die function;	/* the one that was looked into last (sym_pointee.c) */

	bool cus_read;
	Dwarf_Die *cus;
	size_t nr_cus, cus_size;
	struct cu_range *ranges;
	size_t nr_ranges, ranges_size;

	bool *cus_functions;			/* one for each unit: its functions are among these */
	struct sym_function *functions;		/* those in namespaces and types, ascending by lo */
	size_t nr_functions, functions_size;

	bool variables_read;
	struct sym_variable *variables;		/* ascending by vaddr */
	size_t nr_variables, variables_size;
	struct id_map data_index;		/* by vaddr: which of data_names */
	char **data_names;			/* what symfile_data_name() has found */
	size_t data_names_size;

	struct frames_entry *frames;
	uint32_t nr_frames, frames_size;
	struct id_map frames_of;		/* by offset, in frames */
	bool kept_sought;
	uint32_t nr_kept;			/* so many of the frames come from the cache (sym_kept.c) */
	char *kept_names;			/* their names; NULL: none */

	const char **names;			/* that took a walk through their units to find */
	uint32_t nr_names, names_size;
	struct id_map name_of;			/* by address of the DIE, in names */

	struct atomic_source *sources;
	size_t nr_sources, sources_size;
	int by_gcc, whole;	/* all of it, as its sections say; with its libraries within; -1 not looked at */

	/* of the dynamic symbols, then of all */
	unsigned int passes[2];
	struct sym_begins *begins[2];		/* NULL: they are not sorted */

	struct sym_string *strings;
};

struct unwinder;

struct symbols {
	struct symfile *files;
	struct unwinder *unwinder;	/* of the last stack; NULL: there was none */
	char *folder;		/* where sources are sought as well; NULL: nowhere */
	/* stacks of an earlier unwind stay valid: their strings */
	struct sym_string *strings;
};

/* sym_ahead.c: a file of symbols_prepare(), which is s's from now on; NULL: there is none, or it has changed since. */
struct symfile *sym_take_ahead(struct symbols *s, const char *path);

/* A copy that lives as long as the list it is put on; NULL when out of memory. */
const char *sym_string(struct sym_string **list, const char *text);
void sym_strings_free(struct sym_string *list);

/* True when it is that name, or a copy of that function which the compiler specialised. */
bool sym_equals_clone(const char *name, const char *wanted);

/* Opens the separate debug file, if there is one. */
void sym_find_debug_file(struct symfile *f);
/* The same, and DWARF of either. */
void sym_read_debug(struct symfile *f);
/* The text is in its constant data. */
bool sym_rodata_has(struct symfile *f, const char *text);
/* The first section of that type, NULL: none. */
Elf_Scn *sym_find_section(Elf *elf, unsigned int type, GElf_Shdr *shdr);
/*
 * The names that a table of symbols refers to (sh_link), of *size bytes, the last one 0; they live as long as elf. NULL: there
 * are none, for the section is not closed by a zero byte, or the file does not have it (SHT_NOBITS).
 */
const char *sym_table_names(Elf *elf, size_t section, size_t *size);
/*
 * Symbols of the file or its debug file, in the order of f->syms: all, or those whose name is wanted. The list is to be
 * freed. True when either has a full symbol table.
 */
bool sym_read_tables(struct symfile *f, struct sym_list *l, const struct sym_filter *filter);
void sym_read_symbols(struct symfile *f);
/* The names that the archive of its C library has for code of a static program, which has no symbol table. */
const struct sym_archive_names *sym_archive_names(struct symfile *f);
/* As symfile_step(), of a function without call frame information (sym_depth.c). */
int sym_depth(struct symfile *f, uint64_t offset, struct symfile_step *step);

/* The function (or data) definition that contains vaddr, NULL: none. */
const struct sym *sym_at(struct symfile *f, uint64_t vaddr, bool function);

/* sym_lines.c */
void sym_read_cus(struct symfile *f);
void sym_lines_free(struct symfile *f);
/* Adds what symfile_frames() says at that offset. 0 or -ENOMEM. */
int sym_add_frames(struct symfile *f, uint64_t offset, const struct trace_frame *frames, int nr);
/* The compilation unit of that code, NULL: none. */
Dwarf_Die *sym_cu_at(struct symfile *f, uint64_t vaddr);

/* stacks.c */
void sym_unwinder_free(struct unwinder *w);

/* sym_kept.c */
#define SYM_FRAMES_MAX	64	/* at one place */
#define SYM_KEPT_MAGIC	"zugframe"
#define SYM_KEPT_VERSION 1

/* A file of the cache begins with it; frames follow, those of a place one behind the other, and the names. */
struct sym_kept_header {
	char magic[8];
	uint32_t version, crc;		/* crc: of header (crc 0), frames and names */
	uint32_t nr, names;		/* bytes of names; the last one is 0 */
};

struct sym_kept_frame {
	uint64_t offset;
	uint32_t function, file;	/* 1 + where it begins in the names; 0: unknown */
	uint32_t line;
	uint16_t inlined, none;		/* none: there is no frame at that offset */
};

uint32_t sym_kept_checksum(struct sym_kept_header h, const void *frames_and_names);
/* Frames from a file of the cache. 0, or -errno: it is not sound. */
int sym_kept_take(struct symfile *f, int fd);
/* The frames that an earlier run has found, where it takes long to find them. */
void sym_kept_read(struct symfile *f);
/* Keeps those that were found since. */
void sym_kept_write(struct symfile *f);

/* sym_callers.c */
void sym_callers_free(struct symfile *f);

/* sym_atomic.c */
void sym_atomic_free(struct symfile *f);

/* The name that people know: demangled and qualified; on f's strings. NULL: it has none. */
const char *sym_die_name(struct symfile *f, Dwarf_Die *die);
/* DW_LANG_*, or -1. */
int sym_language(Dwarf_Die *die);

/* sym_origin.c */
/* How a register got its value: the instruction at vaddr put base + disp there, or (load) what lies in memory there. */
struct sym_origin {
	uint64_t vaddr;
	int64_t disp;
	unsigned int base;	/* DWARF's number */
	bool load;
	bool fixed;		/* no register: disp is an address */
};
/* That of the register (DWARF's number), before the instruction at vaddr is executed. false: it is not known. */
bool sym_origin(struct symfile *f, uint64_t vaddr, unsigned int reg, struct sym_origin *o);
/* The file offset of the call that ends before that one. False: none does. */
bool sym_call_that_ends(struct symfile *f, uint64_t end, uint64_t *call);

/* sym_data.c */
void sym_data_free(struct symfile *f);
/* The variable at a fixed address that vaddr lies in, NULL: none. */
const struct sym_variable *sym_variable_at(struct symfile *f, uint64_t vaddr);
/* Of a variable, member, array or pointer: the type without typedefs, const and the like; false: void or broken. */
bool sym_type_of(Dwarf_Die *die, Dwarf_Die *type);
uint64_t sym_type_size(Dwarf_Die *type);	/* 0: unknown */
bool sym_is_class(Dwarf_Die *type);		/* structure, class or union */
/*
 * The element type of an array seen with its first skip dimensions indexed. The number of elements
 * (0: unknown); *element_size is of what one index of that dimension steps over; last: no dimension is left.
 */
bool sym_array_dimension(Dwarf_Die *type, int skip, Dwarf_Die *element, uint64_t *element_size,
			 uint64_t *count, bool *last);
/* Appends the members and elements that lead to offset at of the type: ".list[2].lock". *type is lost. */
void sym_name_inside(Dwarf_Die *type, uint64_t at, char *buf, size_t len);
/*
 * True when the variable, member or pointee, or the part of it at offset at, is of a type that is
 * _Atomic.
 */
bool sym_atomic_inside(Dwarf_Die *die, uint64_t at);
/* The variable of that name (file: in a source of that name, NULL: any), qualified or not. false: none, or err says
 * why it is not clear which. */
bool sym_find_variable(struct symfile *f, const char *name, const char *file, Dwarf_Die *type, bool *typed,
		       uint64_t *vaddr, uint64_t *size, char *err, size_t errlen);
/* The member of that name, anonymous members and base classes searched as well. */
bool sym_find_member(Dwarf_Die *type, const char *name, Dwarf_Die *member, uint64_t *offset);

/* sym_names.c: the demangled name without its argument list, return type and Rust hash; malloc'd. */
char *sym_short_name(const char *demangled);
/*
 * A part of the pattern that is in each mangled name which the pattern means, as it is: its length; 0: none is known.
 */
size_t sym_literal_part(const char *pattern, const char **part);
/* True when symfile_find() takes pattern for that name, which is demangled. */
bool sym_name_matches(const char *pattern, const char *name);

#endif
