/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sym_archive.h - the code of a C library's archive, as a linker takes it: in pieces (sym_archive.c, sym_archive_read.c)
 *
 * A piece is a section of a member with code. A linker copies it as it is, but for the bytes that relocations fill in, and
 * those of an instruction that it may make simpler.
 */
#ifndef ZUG_SYM_ARCHIVE_H
#define ZUG_SYM_ARCHIVE_H

#include "symbols/sym_internal.h"

#define SYM_ARCHIVE_NONE UINT32_MAX

/* Bytes of a piece that the linker fills in. */
struct sym_archive_hole {
	uint32_t begin, end;
	uint32_t field;		/* where the relocation is */
	uint32_t type;		/* R_X86_64_*; NONE: of no interest beyond that */
	int64_t addend;
	uint32_t name;		/* what it leads to: a name, or else code of the same member */
	uint32_t piece, value;
};

/* A function that begins in a piece. */
struct sym_archive_function {
	uint32_t name;
	uint32_t piece, value, size;
	uint32_t next;		/* another one of that name */
	uint8_t type, bind;
};

struct sym_archive_piece {
	const uint8_t *bytes;
	uint32_t size, align, member;
	uint32_t hole, nr_holes, function, nr_functions;
	uint32_t fixed;		/* bytes outside of holes */
	uint32_t anchor;	/* 8 of them in a row begin there; NONE: there are not so many */
	bool start;		/* of a start file, not of the archive */
	/* sym_archive.c */
	uint64_t at;		/* its vaddr in the program; 0: not known */
	uint32_t nr_places;	/* that it could be at, 2 for more */
	uint64_t place;		/* the first of them */
	uint32_t same_anchor;	/* the next piece whose anchor is alike */
};

struct sym_archive_name {
	const char *text;
	uint32_t function;	/* the first of that name; NONE: it is in no piece */
	uint64_t at;		/* where what is known to be in the program refers to; 0: nowhere */
	bool local, doubtful, selects;	/* doubtful: to several places; selects: one is an IFUNC */
};

struct sym_archive {
	struct sym_archive_piece *pieces;
	struct sym_archive_hole *holes;
	struct sym_archive_function *functions;
	struct sym_archive_name *names;
	uint32_t nr_pieces, nr_holes, nr_functions, nr_names, nr_members;
	uint32_t size_pieces, size_holes, size_functions, size_names;
	struct id_map name_of;	/* by a hash of the text */
	struct sym_archive_file *files;
	bool no_memory;
};

/* Adds the pieces of an archive, or of a start file ('start'). False: it cannot be read, or has none. */
bool sym_archive_add(struct sym_archive *a, const char *path, bool start);
void sym_archive_free(struct sym_archive *a);
/* That global name; NONE: it is not in the archive. */
uint32_t sym_archive_name(const struct sym_archive *a, const char *text);

/* The names that the archive in that folder has for the program's functions. False: the program was linked with another one. */
bool sym_archive_look(struct symfile *f, const char *folder, struct sym_archive_names *names);

#endif
