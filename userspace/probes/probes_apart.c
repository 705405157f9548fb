/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * probes_apart.c - breakpoints apart from other code
 *
 * The kernel gives each process that is executed a copy of each page in which it has a breakpoint. That costs a fault and a
 * copy, and an emulator translates all code of such a page that is executed anew. So the begin of a function whose page many
 * programs execute goes elsewhere in the private copy of its file: into the rest of the last page of its code, behind all code.
 * The function begins with a jump there,
 *
 *	f:	jmp 1f			1:	nop		the breakpoint
 *	2:	...				(the first instructions of f)
 *						jmp 2b
 *
 * What calls it sees no difference, and nor does a copy of the file that a test makes. Functions that begin with what depends
 * on its own address stay as they are.
 */
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <Zydis/Zydis.h>
#include "probes/code_internal.h"
#include "probes/probes_internal.h"
#include "probes/rewriting.h"

#define PAGE		4096ull
#define NOP		0x90
#define JUMP		0xe9
#define JUMP_LEN	5
#define ROOM		32	/* of a begin: a nop, at most 4 + 15 bytes of instructions, a jump */

/* The rest of the last page of the segment with the code at offset: [*begin, *end). false: there is none. */
static bool rest_of_code(int fd, uint64_t offset, uint64_t *begin, uint64_t *end)
{
	uint64_t next = UINT64_MAX, last = 0;
	Elf64_Phdr ph[64];
	Elf64_Ehdr eh;

	if (pread(fd, &eh, sizeof(eh), 0) != sizeof(eh) || memcmp(eh.e_ident, ELFMAG, SELFMAG) ||
	    eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_phentsize != sizeof(*ph) || eh.e_phnum > 64 ||
	    pread(fd, ph, eh.e_phnum * sizeof(*ph), eh.e_phoff) != (ssize_t)(eh.e_phnum * sizeof(*ph)))
		return false;
	for (int i = 0; i < eh.e_phnum; i++)
		if (ph[i].p_type == PT_LOAD && ph[i].p_flags & PF_X && offset >= ph[i].p_offset &&
		    offset - ph[i].p_offset < ph[i].p_filesz && ph[i].p_filesz == ph[i].p_memsz)
			last = ph[i].p_offset + ph[i].p_filesz;
	/* what lies between two segments is part of neither, nor of anything else */
	for (int i = 0; i < eh.e_phnum; i++)
		if (ph[i].p_type == PT_LOAD && ph[i].p_offset >= last && ph[i].p_offset < next)
			next = ph[i].p_offset;
	*begin = (last + ROOM - 1) / ROOM * ROOM;
	*end = (last + PAGE - 1) / PAGE * PAGE;
	return last && next != UINT64_MAX && next >= *end && *begin < *end;
}

/* The length of the first instructions, which a jump takes the place of; 0: they cannot stand elsewhere. */
static size_t movable(const uint8_t *code, size_t n)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;
	size_t len = 0;

	while (len < JUMP_LEN) {
		if (!code_decode(code + len, n - len, &in, ops) || in.attributes & ZYDIS_ATTRIB_IS_RELATIVE ||
		    in.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE || in.meta.category == ZYDIS_CATEGORY_INTERRUPT ||
		    in.meta.category == ZYDIS_CATEGORY_SYSCALL)
			return 0;
		len += in.length;
	}
	return len;
}

static void put_jump(uint8_t *code, uint64_t at, uint64_t to)
{
	int32_t distance = to - (at + JUMP_LEN);

	code[0] = JUMP;
	memcpy(code + 1, &distance, sizeof(distance));
}

/* The place that the function's begin was moved to earlier, by another campaign too; 0: it was not. */
static uint64_t moved_to(int fd, const uint8_t *code, uint64_t offset, uint64_t begin, uint64_t end)
{
	int32_t distance;
	uint64_t to;
	uint8_t nop;

	memcpy(&distance, code + 1, sizeof(distance));
	to = offset + JUMP_LEN + distance;
	return code[0] == JUMP && to >= begin && to < end && pread(fd, &nop, 1, to) == 1 && nop == NOP ? to : 0;
}

static int put_apart(int fd, uint64_t *offset)
{
	static const uint8_t nothing[ROOM];
	uint8_t code[ROOM], there[ROOM] = { 0 }, jump[JUMP_LEN];
	uint64_t begin, end, to;
	size_t len;

	if (!rest_of_code(fd, *offset, &begin, &end) || pread(fd, code, sizeof(code), *offset) != sizeof(code))
		return -ENOENT;
	to = moved_to(fd, code, *offset, begin, end);
	if (to) {
		*offset = to;
		return 0;
	}
	len = movable(code, sizeof(code));
	if (!len)
		return -ENOENT;
	for (to = begin; to + ROOM <= end; to += ROOM)
		if (pread(fd, there, sizeof(there), to) == sizeof(there) && !memcmp(there, nothing, sizeof(there)))
			break;
	if (to + ROOM > end)
		return -ENOSPC;
	there[0] = NOP;
	memcpy(there + 1, code, len);
	put_jump(there + 1 + len, to + 1 + len, *offset + len);
	put_jump(jump, *offset, to);
	if (pwrite(fd, there, sizeof(there), to) != sizeof(there) || pwrite(fd, jump, sizeof(jump), *offset) != sizeof(jump))
		return -EIO;
	*offset = to;
	return 0;
}

int probes_put_apart(const char *copy, uint64_t *offset)
{
	struct rewriting r = { .fd = -1 };
	int ret = rewriting_begin(&r, copy);

	ret = ret ? ret : put_apart(r.fd, offset);
	rewriting_end(&r);
	return ret;
}
