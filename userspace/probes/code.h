/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * code.h - the places in a file's machine code where memory is accessed, or time is spent waiting
 *
 * A catalogue of one ELF file, made by disassembling its functions: every atomic
 * instruction, pause, fence, load, store, read-modify-write, string operation, and
 * what reads the time or hardware randomness. Functions are bounded by symbols and
 * .eh_frame, so that data in the text is not taken for code; a function that does
 * not decode from its first byte to its last, or that has a jump into the middle of an
 * instruction, is left out and counted. So an offset of a place is always the
 * first byte of an instruction.
 *
 * All offsets are file offsets, what uprobes take. Nothing here needs a kernel.
 */
#ifndef ZUG_CODE_H
#define ZUG_CODE_H

#include <stdbool.h>
#include "symbols/symbols.h"
#include <stddef.h>
#include <stdint.h>
#include "bpf/zug_abi.h"

struct code;

enum code_kind {
	CODE_LOAD = 1,		/* reads memory */
	CODE_STORE,		/* writes it */
	CODE_RMW,		/* reads and writes it, no LOCK: two operations on two processors, one on one */
	CODE_LOCK,		/* LOCK-prefixed read-modify-write */
	CODE_XCHG,		/* xchg with memory: atomic without a prefix (a sequentially consistent store) */
	CODE_STRING,		/* movs, stos, lods, cmps, scas, with rep or without */
	CODE_PAUSE,		/* pause, tpause: the hint of a loop that waits */
	CODE_FENCE,		/* mfence, lfence, sfence, and a LOCK operation on the stack that changes nothing */
	CODE_TIME,		/* rdtsc, rdtscp */
	CODE_RANDOM,		/* rdrand, rdseed */
	CODE_BLOCK,		/* calls (or jumps to) a function of a library that accesses what its arguments lead to */
	CODE_CALL,		/* calls a function of Rust's that makes an atomic access, for a lock, where its first */
				/* argument leads */
	CODE_NR_KINDS,
};

/* Of a CODE_BLOCK place: what it calls, in `size`. Its operand is what its first argument leads to, or the one told here. */
enum code_block {
	CODE_BLOCK_COPY = 1,	/* memcpy, memmove, mempcpy: to the first, from the second, third bytes */
	CODE_BLOCK_FILL,	/* memset: the first, third bytes */
	CODE_BLOCK_COMPARE,	/* memcmp: both are read, third bytes */
	CODE_BLOCK_STRCPY,	/* strcpy, stpcpy: to the first, from the second, as long as that string */
	CODE_BLOCK_STRLEN,	/* strlen: reads the first, a string */
	CODE_BLOCK_STRCMP,	/* strcmp: reads both, as far as they are equal, and one byte */
	/* how much they access is not known before: one byte, at least */
	CODE_BLOCK_TEXT,	/* atoi, strtol, strchr, strdup, sscanf...: read the first, a string */
	CODE_BLOCK_TEXTS,	/* strncmp, strcasecmp, strstr: read both */
	CODE_BLOCK_STRNCPY,	/* to the first, from the second */
	CODE_BLOCK_STRCAT,	/* to the first, behind the string that it is, from the second */
	CODE_BLOCK_SEARCH,	/* memchr: reads the first, third bytes */
	CODE_BLOCK_SORT,	/* qsort: changes the first, the product of the second and the third bytes */
	CODE_BLOCK_TIME,	/* localtime_r: writes its second, a struct tm */
	CODE_BLOCK_WORD,	/* getline, asprintf, strsep: write the first, a pointer */
	CODE_BLOCK_CLOCK,	/* gettimeofday: writes the first, a struct timeval */
	CODE_BLOCK_CLOCK_SECOND,	/* clock_gettime: writes the second, a struct timespec */
	CODE_BLOCK_TO_SECOND,	/* ctime_r, strerror_r, readlink: write a string to the second */
	CODE_BLOCK_TO_THIRD,	/* inet_ntop: writes a string to the third */
	CODE_BLOCK_PRINT,	/* sprintf and its kin */
	CODE_BLOCK_PRINT_N,	/* snprintf and its kin; nothing is written where the second is 0 */
	CODE_BLOCK_PRINT_TEXT,	/* printf and its kin, with a string: read that */
	CODE_BLOCK_PUTS,	/* puts, fputs: read the first, a string */
	CODE_BLOCK_FREE,	/* free, realloc, operator delete: ends the life of the block that is the first */
	CODE_BLOCK_FREE_SIZED,	/* operator delete with a size, Rust's: the same, and the second is how many bytes it has */
	CODE_BLOCK_UNMAP,	/* munmap: the same of pages */
	/* libatomic's, of 16 bytes: what the processor does in an instruction where it is smaller */
	CODE_BLOCK_ATOMIC_LOAD,
	CODE_BLOCK_ATOMIC_STORE,
	CODE_BLOCK_ATOMIC_RMW,
	CODE_BLOCK_CLOSE,	/* fclose, closedir, freeaddrinfo: a library frees what is the first */
	CODE_BLOCK_STREAM,	/* fprintf, fflush, getc, readdir: needs what is the first, and has a lock for all else */
				/* that it does */
	CODE_BLOCK_PUTC,	/* putc: needs the second */
	CODE_BLOCK_FGETS,	/* writes the first */
	CODE_BLOCK_FREAD,	/* writes the first, the product of the second and the third bytes at most */
	CODE_BLOCK_FWRITE,	/* reads as many */
	CODE_BLOCK_SEND,	/* write, send, sendto, pwrite: reads the second, third bytes */
	CODE_BLOCK_RECEIVE,	/* read, recv, recvfrom, pread: writes the second, third bytes at most */
	/*
	 * their second leads to an array of struct iovec, the third says of how many; or to a struct msghdr, which tells
	 * both
	 */
	CODE_BLOCK_SEND_PIECES,	/* writev, pwritev */
	CODE_BLOCK_RECEIVE_PIECES,	/* readv, preadv */
	CODE_BLOCK_SEND_MESSAGE,	/* sendmsg */
	CODE_BLOCK_RECEIVE_MESSAGE,	/* recvmsg */
	/*
	 * of libstdc++, which alone changes the links of its containers: two pointers of a list, a colour and three of a
	 * tree
	 */
	CODE_BLOCK_LIST,	/* changes the list's node that is its first argument, or what lies around it */
	CODE_BLOCK_LIST_TWO,	/* and the one that is its second */
	CODE_BLOCK_TREE_WALK,	/* reads the tree's node that is its first */
	CODE_BLOCK_TREE_ERASE,	/* changes that, and the head of the tree, its second */
	CODE_BLOCK_TREE_INSERT,	/* changes the head, its fourth, and the new node, its second */
	/*
	 * members of std::string that libstdc++ has compiled: the object is a pointer, a length, and 16 bytes for what
	 * is short
	 */
	CODE_BLOCK_STRING,	/* changes the string */
	CODE_BLOCK_STRING_TAKES,	/* and reads its second, another string */
	CODE_BLOCK_STRING_TEXT,	/* and reads its second, characters */
	CODE_BLOCK_STRING_ENDS,	/* gives back its buffer: the destructor, what takes a larger one */
	CODE_BLOCK_STRING_RESERVES,	/* makes room for its second, a number */
	CODE_BLOCK_STRING_APPENDS,	/* its second, third characters */
	CODE_BLOCK_STRING_ADDS,	/* its second, another string */
	CODE_BLOCK_STRING_ASSIGNS,	/* becomes its second, another string */
	CODE_BLOCK_STRING_SWAP,	/* changes both: swap, assignment of what is moved */
	CODE_BLOCK_STRING_READ,	/* reads the string: compare, find */
	CODE_BLOCK_STRING_READ_TWO,	/* and its second, another string */
	CODE_BLOCK_STRING_LOOK,	/* reads its pointer and its length: size, begin, operator[] */
	CODE_BLOCK_STRING_COPY,	/* reads its second, a string: copy constructor, substr */
	CODE_BLOCK_STRING_MOVE,	/* changes its second: move constructor */
	/* and of streams; an istream has an ostream behind it where it is both */
	CODE_BLOCK_OUT,		/* changes the ostream: operator<< */
	CODE_BLOCK_OUT_TEXT,	/* and reads its second, characters */
	CODE_BLOCK_OUT_STRING,	/* and reads its second, a string */
	CODE_BLOCK_IN,		/* changes the istream: operator>> */
	CODE_BLOCK_IN_STRING,	/* and its second, a string: getline */
	CODE_BLOCK_STREAM_TEXT,	/* reads its second, a stringstream: str */
	CODE_BLOCK_STREAM_SET,	/* changes the stringstream, and reads its second, a string: str */
	/*
	 * What a function of the C library keeps for all threads (code_keeps()): the operand is the word with the function's
	 * address, in a static program the function itself. It stands for what all functions of that kind keep.
	 */
	CODE_BLOCK_KEEP,	/* changes it: strtok, localtime, setenv */
	CODE_BLOCK_KEEP_READ,	/* reads it: getenv */
	CODE_BLOCK_KEPT,	/* no call: what a call before it has returned lies in what is kept, and is used from here on */
	CODE_NR_BLOCKS,
};

#define CODE_READ	(1u << 0)	/* reads its operand */
#define CODE_WRITE	(1u << 1)	/* writes it; compare-and-swap: may write */
#define CODE_STACK	(1u << 2)	/* operand in the own frame: relative to rsp, or to rbp in a function that sets it up */
#define CODE_TLS	(1u << 3)	/* operand relative to fs: thread-local */
#define CODE_CONST	(1u << 4)	/* operand in memory that is read-only once the program runs */
#define CODE_NO_ADDR	(1u << 5)	/* no operand, or none whose address follows from the registers */
#define CODE_PROBE	(1u << 6)	/* a uprobe can be put on it */
#define CODE_REWRITE	(1u << 7)	/* one can be, once code_rewrite() was applied to a private copy */
#define CODE_NEXT	(1u << 8)	/* one can be put on the instruction after it (that is: after its effect) */
#define CODE_SHARED	(1u << 9)	/* plain access to what LOCK or xchg accesses elsewhere: most likely an atomic one */
#define CODE_REP	(1u << 10)	/* string operation with a count in rcx */
#define CODE_RUST(which)	((which) << 11)	/* enum code_rust */

/* An operand that no other task can reach, or that never changes: never worth a point. */
#define CODE_LOCAL	(CODE_STACK | CODE_TLS | CODE_CONST)

#define CODE_RAX	0		/* as base: what a call has returned */
#define CODE_RCX	1		/* as base: the fourth argument */
#define CODE_RDX	2		/* the third */
#define CODE_RSI	6		/* as base: of a string operation, where it reads; of the arguments, the second */
#define CODE_RDI	7
#define CODE_R8		8
#define CODE_R9		9
#define CODE_RIP	16		/* as base */
#define CODE_NO_REG	255

struct code_place {
	uint32_t offset;	/* of the instruction's first byte, prefixes included */
	int32_t disp;
	uint16_t flags;		/* CODE_* */
	uint8_t kind;		/* enum code_kind */
	uint8_t len;		/* of the instruction */
	uint8_t size;		/* bytes accessed; string operations: of one element; CODE_BLOCK: enum code_block */
	uint8_t base, index;	/* the processor's numbers (rax rcx rdx rbx rsp rbp rsi rdi r8...), CODE_RIP, CODE_NO_REG;
				   CODE_BLOCK: index leads to a string that it prints, its second operand */
	uint8_t shift;		/* of the index */
};

/* What an atomic instruction, or a CODE_CALL, does with a lock of Rust's standard library (code_locks.c). */
enum code_rust {
	CODE_RUST_LOCK = 1,
	CODE_RUST_UNLOCK,
	CODE_RUST_RDLOCK,
	CODE_RUST_WRLOCK,
	CODE_RUST_RWUNLOCK,
	CODE_RUST_PART,		/* a look that is part of one of these */
};

static inline unsigned int code_rust(const struct code_place *p)
{
	return p->flags >> 11 & 7;
}

struct code_function {
	uint32_t start, end;	/* file offsets; end is not part of it */
};

struct code_stats {
	uint32_t functions;	/* that are in the catalogue */
	uint32_t left_out;	/* that did not decode */
	uint64_t bytes;		/* of machine code, decoded */
	uint32_t places[CODE_NR_KINDS];	/* by kind */
	bool cached;		/* was read from the cache */
};

enum code_cache {
	CODE_CACHE_NONE = 0,
	CODE_CACHE,		/* read it if it is there and sound, else write it */
	CODE_CACHE_RENEW,	/* write it only */
};

/* The function of that name; 0: none of interest. */
enum code_block code_block(const char *name);

/* What a call of one accesses. */
struct code_block_access {
	uint16_t operand;	/* CODE_READ or CODE_WRITE: it reads, or changes, its operand */
	uint16_t second;	/* the same of what its second argument leads to; 0: it is no address */
	uint8_t base;		/* the argument that leads to the operand */
	uint8_t bytes;		/* at each; 0: they do not follow from the function */
	bool text;		/* as many as memory says, as it is before the call */
	bool call;		/* the system call makes the access that the function is named after */
	bool common;		/* a program may well have a function of its own with that name */
	bool later;		/* what it writes may have to come first: it waits for that */
	bool frees;		/* the operand is memory that is none afterwards */
	bool atomic;		/* it is an atomic access */
	bool stream;		/* the operand is a stream; the standard ones may be used by several threads at a time */
	bool keeps;		/* the operand stands for what the function keeps */
	enum code_grows {	/* of a std::string that has a buffer on the heap, when that is given back */
		CODE_GROWS_NOT,
		CODE_GROWS_ALWAYS,
		CODE_GROWS_TO_NUMBER,	/* where the second argument is more than it has room for */
		CODE_GROWS_BY_NUMBER,	/* where the third and its length are */
		CODE_GROWS_TO_STRING,	/* where the length of the string that is the second is */
		CODE_GROWS_BY_STRING,	/* where that and its own are */
	} grows;
	uint8_t second_bytes;	/* at the second; 0: as many as at the operand */
	bool pieces;		/* at the operand struct iovec lie, or, with `message`, what tells that behind so many bytes */
	uint8_t message;
};

/* Of one that is not 0. */
const struct code_block_access *code_block_access(enum code_block b);
/* What the function of that name keeps for all threads: "the result of localtime() and its kin"; NULL: nothing known. */
const char *code_keeps(const char *name);

/*
 * Reads the file at path (any ELF program or shared library for x86-64). The cache is in
 * $XDG_CACHE_HOME/zugzwang, or ~/.cache/zugzwang; without either, or where it cannot be written,
 * there is none. 0, or -errno with one line in err: -ENOEXEC not such a file, -EFBIG 4 GB or more.
 * A file with no functions that can be told gives an empty catalogue. file is the same, for names that its own tables do not
 * have (symfile_archive()); NULL: without these.
 */
int code_open(struct code **out, const char *path, struct symfile *file, enum code_cache cache, char *err, size_t errlen);
void code_free(struct code *c);

void code_get_stats(const struct code *c, struct code_stats *s);
/* By increasing offset. */
uint32_t code_nr(const struct code *c);
const struct code_place *code_at(const struct code *c, uint32_t i);
/* The source says that place i is no atomic access: it is not SHARED from now on, in memory alone. */
void code_set_plain(struct code *c, uint32_t i);
/* The place at an offset, NULL: none. */
const struct code_place *code_find(const struct code *c, uint64_t offset);
/* The function around an offset; NULL: none that was decoded. */
const struct code_function *code_function(const struct code *c, uint64_t offset);

/* DWARF's number of one of the processor's registers; CODE_NO_REG: it is none (CODE_RIP...). */
uint8_t code_dwarf_register(uint8_t nr);
/*
 * CODE_READ or CODE_WRITE: what a string operation, or a call, does to its second operand, where rsi leads to, or the
 * register that code_second_register() tells; 0: it has none.
 */
uint16_t code_second(const struct code_place *p);
uint8_t code_second_register(const struct code_place *p);
/*
 * Of the values that a format of printf() prints, those that are strings as long as they are: number i of them, from 0 on, as
 * the number of general registers that the values before it take. -1: there is none, or the format is one that is not known.
 */
int code_printed_string(const char *format, unsigned int i);
/* The vaddr in the file of an operand that depends on no register but rip; false: it does. */
bool code_static_operand(const struct code *c, const struct code_place *p, uint64_t *vaddr);

/*
 * True when the instruction in the file still is what the catalogue says. (A cache may be wrong.)
 */
bool code_verify(const struct code_place *p, const uint8_t *bytes, size_t n);

/*
 * The value that a plain store (mov of a register or a constant) is about to write; bytes: the
 * instruction. 0, or -ENOENT: it cannot be told.
 */
int code_stored_value(const struct code_place *p, const uint8_t *bytes, size_t n, const uint64_t *regs,
		      uint64_t *value);
/* What an instruction accesses. */
struct code_memory {
	uint64_t addr;
	uint32_t size;		/* CODE_MEMORY_MOST at most */
	bool write;
};
#define CODE_MEMORY_MOST 64	/* bytes: a vector register */
/*
 * What the instruction that begins with bytes accesses, its stack too; of a repeated string
 * operation, the first element. regs: in DWARF order, then the base of fs. The number of pieces, or
 * -ENOENT: it cannot be told (no instruction, gs, gather and scatter, xsave...), or there are more
 * than max.
 */
int code_memory(const uint8_t *bytes, size_t n, const uint64_t *regs, struct code_memory *m, int max);
/* Which word of struct pt_regs one of the processor's registers is; CODE_NO_REG: it is none (CODE_RIP...). */
uint8_t code_saved_register(uint8_t nr);
/* The longest instruction, in bytes. */
#define CODE_LONGEST 15
/*
 * Whether the instruction that begins with bytes is a move, an arithmetic or a comparison of general registers, constants
 * and at most one piece of memory, which the kernel side executes in its place. Then it is in *insn; else insn->op is
 * ZUG_INSN_NONE.
 */
void code_simple(const uint8_t *bytes, size_t n, struct zug_insn *insn);
/* True when it adds to its operand, or subtracts. */
bool code_counts(const struct code_place *p, const uint8_t *bytes, size_t n);

/*
 * The kernel's uprobes refuse the LOCK prefix and mfence. All tasks of a sandbox run on one
 * processor, where every instruction is indivisible and a fence orders nothing that was not
 * ordered: in the sandbox's private copy of the file the prefix, or the fence, gives way to a nop
 * of the same length, which can be probed. What jumps behind the prefix still finds the
 * instruction there. buf: the p->len bytes at p->offset, changed in place. 0, or -EINVAL.
 */
int code_rewrite(const struct code_place *p, uint8_t *buf);

/*
 * Where code of the file, from begin to end, loads that many bytes at disp behind a register and a probe can be: places with
 * base and disp alone, by increasing offset; free() the list. low_byte: only those behind the register where the lowest byte of
 * what was loaded is tested alone, most often. Decoded from begin on, without a catalogue. 0 or -errno.
 */
int code_loads(const char *path, uint64_t begin, uint64_t end, int32_t disp, unsigned int bytes, bool low_byte,
	       struct code_place **list, uint32_t *nr);

/* An instruction that asks the processor. */
struct code_ask {
	uint32_t offset;	/* in the file */
	uint8_t kind;		/* CODE_TIME, CODE_RANDOM */
	uint8_t len;
	uint8_t reg, size;	/* CODE_RANDOM: where the answer goes, by the processor's numbers, and its bytes */
	bool cpu;		/* rdtscp */
};
/*
 * All of a file, without its catalogue: by increasing offset; free() the list. In code whose
 * functions cannot be told apart only rdtsc behind lfence, or before what makes one number of its
 * two halves. 0, or -errno as code_open().
 */
int code_asks(const char *path, struct code_ask **list, uint32_t *nr);

const char *code_kind_name(enum code_kind kind);	/* "load", ..., "locked", "xchg", ... */

#endif
