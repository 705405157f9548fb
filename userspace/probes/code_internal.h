/* SPDX-License-Identifier: GPL-2.0-only */
/* code_internal.h - inside of code.h: the file (code.c), decoding (code_scan.c), the cache (code_cache.c) */
#ifndef ZUG_CODE_INTERNAL_H
#define ZUG_CODE_INTERNAL_H

#include <sys/stat.h>
#include <libelf.h>
#include <Zydis/Zydis.h>
#include "probes/code.h"

struct code_segment {
	uint64_t offset, vaddr, filesz, memsz;
	bool exec, write;
};

/* What a function has to do with locks of Rust's standard library. The first ones are those of enum code_rust. */
enum code_role {
	ROLE_NONE,
	/* is called where the atomic instruction is not enough */
	ROLE_LOCK, ROLE_UNLOCK, ROLE_RDLOCK, ROLE_WRLOCK, ROLE_RWUNLOCK,
	ROLE_EXCHANGE, ROLE_SWAP, ROLE_SUBTRACT, ROLE_LOAD,	/* makes an atomic access */
	ROLE_PANICS,		/* looks whether a thread has panicked */
};

/*
 * The target of a call of such a function: the function, or the word of the file that holds its
 * address.
 */
struct code_target {
	uint64_t vaddr;
	uint8_t block;		/* enum code_block */
	uint8_t role;		/* enum code_role */
	bool word;
	uint8_t format;		/* the argument, from 1 on, that says what is printed; 0: none does */
	uint8_t keeps;		/* which of the things that functions keep; 0: none */
	bool returns;		/* and what a call returns lies in it */
	uint64_t keeper;	/* the vaddr that stands for it in this file */
};

struct code {
	struct code_place *places;
	uint32_t nr_places, size_places;
	struct code_function *functions;	/* decoded ones, by start */
	uint32_t nr_functions;
	struct code_segment *segments;
	uint32_t nr_segments;
	uint64_t relro_start, relro_end;	/* vaddrs */
	uint64_t archive;			/* symfile_archive() */
	struct code_target *targets;		/* while it is scanned: by vaddr */
	size_t nr_targets, size_targets;
	struct code_stats stats;
};

/* In hex; "": it has none. */
void code_build_id(Elf *elf, char *id, size_t len);
/* c->segments and the two bounds. 0, -ENOEXEC or -ENOMEM. */
int code_segments(struct code *c, Elf *elf);
/* Functions of the file that lie in executable segments: by start, not overlapping. malloc'd. 0 or -errno. */
int code_bounds(struct code *c, int fd, struct code_function **list, uint32_t *nr);
/* c->targets, by the symbols and relocations of a file, and by what symbols.h knows of names in it (NULL: no more). 0 or -errno. */
int code_targets(struct code *c, Elf *elf, struct symfile *names);
/* The function that is called at vaddr, or by the word there; NULL: none of those above. */
const struct code_target *code_target(const struct code *c, uint64_t vaddr, bool word);
/* code_locks.c: the function of that name; and what was seen in the one that is decoded. */
enum code_role code_role(const char *name);
struct code_locks {
	struct code_lock_op {
		uint32_t offset, place;
		uint32_t fails;		/* where an inlined exchange goes that has failed; 0: not known */
		enum code_role role;
		bool call;		/* of the function that makes the access; else it is inlined */
		bool two;		/* what a swap returns is compared with 2 */
	} *ops;
	struct code_lock_slow {
		uint32_t offset;
		enum code_role role;
	} *slow;
	uint32_t nr_ops, nr_slow;
	size_t size_ops, size_slow;
	uint32_t test;		/* so many instructions may still test the last operation */
	uint32_t add;		/* so many have come since a constant was loaded */
	enum code_role function;
};
void code_locks_begin(struct code_locks *l, enum code_role function);
/* Each instruction, before what follows here is told of it. */
void code_locks_instruction(struct code_locks *l, const ZydisDecodedInstruction *in, uint32_t offset);
/* One that is that place; a call, which is that place, of a function that makes an access; one of the library. 0 or -ENOMEM. */
int code_locks_place(struct code_locks *l, const ZydisDecodedInstruction *in, uint32_t place, const struct code_place *p);
int code_locks_call(struct code_locks *l, uint32_t offset, enum code_role role, uint32_t place);
int code_locks_slow(struct code_locks *l, uint32_t offset, enum code_role role);
/* Marks the places, from first on, that belong to locks, and removes calls that do not. */
void code_locks_end(struct code_locks *l, struct code *c, uint32_t first);
void code_locks_free(struct code_locks *l);

/* Decodes these functions into places; those that do not decode are taken out of the list. 0 or -errno. */
int code_scan(struct code *c, const uint8_t *file, size_t size, struct code_function *list, uint32_t nr);

/* The one of these functions, by start and not overlapping, that has code at offset, or NULL. */
const struct code_function *code_function_in(const struct code_function *list, uint32_t nr, uint64_t offset);

uint64_t code_vaddr(const struct code *c, uint64_t offset);	/* UINT64_MAX: not mapped executable */
uint64_t code_offset(const struct code *c, uint64_t vaddr);
/* One instruction with its operands; false: it is none. */
bool code_decode(const uint8_t *bytes, size_t n, ZydisDecodedInstruction *in, ZydisDecodedOperand *ops);
/* By the processor's number, of registers in DWARF order. */
uint64_t code_register(const uint64_t *regs, uint8_t nr);
bool code_is_const(const struct code *c, uint64_t vaddr);

/* A file of the cache begins with it; places and functions follow. */
#define CODE_CACHE_MAGIC	"zugcode"
#define CODE_CACHE_VERSION	18	/* also when what the scanner finds changes, or the names that an archive tells */

struct code_cache_header {
	char magic[8];
	uint32_t version;
	uint32_t place_size;
	uint64_t file_size;
	uint64_t bytes;
	uint32_t nr_places, nr_functions, left_out;
	uint32_t places[CODE_NR_KINDS];
	uint32_t crc;		/* of the whole file, this field being 0 */
};

uint32_t code_cache_checksum(struct code_cache_header h, const void *places, const void *functions);
/* Places and functions of c, from a file of the cache, of a program of that size. 0, or -errno: it is not sound. */
int code_cache_take(struct code *c, int fd, uint64_t file_size);
/* The same, found by id: hex of the build-id, "" without one. Places and functions of c. 0, or -errno: not there, not sound. */
int code_cache_read(struct code *c, const char *id, const struct stat *st);
void code_cache_write(const struct code *c, const char *id, const struct stat *st);

#endif
