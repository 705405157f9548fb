// SPDX-License-Identifier: GPL-2.0-only
/* sym_callers.c - the owner of code, and where the caller of its function is found */
#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/installed.h"
#include "symbols/sym_internal.h"

/* DWARF numbers of x86-64. */
#define REG_BP	6
#define REG_SP	7
#define REG_RA	16
/* More than any function keeps on its stack before it calls the kernel. */
#define FRAME_MAX (1 << 20)

void sym_callers_free(struct symfile *f)
{
	if (f->eh_cfi)
		dwarf_cfi_end(f->eh_cfi);
}

/* Go has .debug_frame alone. */
static Dwarf_Frame *frame_at(struct symfile *f, uint64_t vaddr)
{
	Dwarf_Frame *frame;

	if (!f->eh_cfi_tried) {
		f->eh_cfi_tried = true;
		f->eh_cfi = dwarf_getcfi_elf(f->elf);
	}
	if (f->eh_cfi && !dwarf_cfi_addrframe(f->eh_cfi, vaddr, &frame))
		return frame;
	/* reading debug information takes long: only where nothing else has it */
	if (!f->debug_cfi_tried) {
		f->debug_cfi_tried = true;
		sym_read_debug(f);
		f->debug_cfi = f->dwarf ? dwarf_getcfi(f->dwarf) : NULL;
	}
	if (f->debug_cfi && !dwarf_cfi_addrframe(f->debug_cfi, vaddr, &frame))
		return frame;
	return NULL;
}

/* "At the frame plus so much": where a register is kept. */
static bool kept_at(Dwarf_Frame *frame, int reg, bool *kept, int32_t *at)
{
	Dwarf_Op memory[3], *ops;
	size_t nr;

	if (dwarf_frame_register(frame, reg, memory, &ops, &nr))
		return false;
	*kept = nr;
	if (!nr)
		return !ops;	/* it still holds its value; or that is lost */
	if (ops[0].atom != DW_OP_call_frame_cfa)
		return false;
	if (nr == 1)
		*at = 0;
	else if (nr == 2 && ops[1].atom == DW_OP_plus_uconst)
		*at = (int64_t)ops[1].number;
	else
		return false;
	return true;
}

int symfile_step(struct symfile *f, uint64_t offset, struct symfile_step *step)
{
	uint64_t vaddr = symfile_vaddr_of(f, offset);
	Dwarf_Frame *frame = vaddr != UINT64_MAX ? frame_at(f, vaddr) : NULL;
	Dwarf_Op *ops;
	size_t nr;
	int ret = -ENOENT;
	int32_t at;
	bool kept;

	if (!frame)
		return sym_depth(f, offset, step);
	*step = (struct symfile_step){ 0 };
	/* an outermost function has no return address */
	if (!kept_at(frame, REG_RA, &kept, &at) || !kept || at != -8 ||
	    !kept_at(frame, REG_BP, &step->bp_kept, &step->bp_at))
		goto out;
	if (dwarf_frame_cfa(frame, &ops, &nr) || nr != 1 || ops[0].atom != DW_OP_bregx ||
	    (ops[0].number != REG_SP && ops[0].number != REG_BP) ||
	    (int64_t)ops[0].number2 < 8 || (int64_t)ops[0].number2 > FRAME_MAX)
		goto out;
	step->by_bp = ops[0].number == REG_BP;
	step->size = ops[0].number2;
	ret = 0;
out:
	free(frame);
	return ret;
}

/* True of a shared library of the system: users do not look for their bugs there. */
bool symfile_of_system(const struct symfile *f)
{
	const char *base = strrchr(f->path, '/');

	return base && strstr(base, ".so") && path_is_installed(f->path);
}

enum symowner symfile_owner(struct symfile *f, uint64_t offset)
{
	struct trace_frame frames[16];
	bool named = false;
	int nr;

	if (symfile_of_system(f) || (symfile_libc(f) != SYMLIBC_NONE && strstr(f->path, ".so")))
		return SYMOWNER_LIBRARY;
	nr = symfile_frames(f, offset, frames, 16);
	for (int i = 0; i < nr; i++) {
		if (frames[i].file && !symbols_of_library(frames[i].file))
			return SYMOWNER_PROGRAM;
		named |= frames[i].function && strcmp(frames[i].function, "_start");
	}
	/*
	 * code without lines in a program with lines was linked to it: its C library, code of the
	 * language
	 */
	if (f->dwarf)
		return SYMOWNER_LIBRARY;
	/* a static program's C library cannot be told from its own code */
	return named && symfile_libc(f) == SYMLIBC_NONE ? SYMOWNER_PROGRAM : SYMOWNER_UNKNOWN;
}
