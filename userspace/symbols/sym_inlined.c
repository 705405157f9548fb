// SPDX-License-Identifier: GPL-2.0-only
/* sym_inlined.c - functions that exist only within others */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include "symbols/sym_internal.h"

#define DEPTH_MAX 128

struct inlined_search {
	struct symfile *f;
	const char *pattern;
	struct symfile_inlined *found;
};

static void note(struct inlined_search *s, Dwarf_Die *die)
{
	struct symfile_inlined *in = s->found;
	struct trace_frame frames[16];
	Dwarf_Addr base, lo, hi;
	uint64_t offset;
	int nr;

	if (dwarf_entrypc(die, &lo) && dwarf_ranges(die, 0, &base, &lo, &hi) <= 0)
		return;
	offset = symfile_offset_of(s->f, lo);
	nr = offset == UINT64_MAX ? 0 : symfile_frames(s->f, offset, frames, 16);
	if (nr < 2)
		return;
	if (!in->nr++) {
		in->body = frames[0];
		in->into = frames[1];
	}
	/* the first line of it that any copy has code for */
	if (frames[0].file && in->body.file && !strcmp(frames[0].file, in->body.file) && frames[0].line < in->body.line)
		in->body.line = frames[0].line;
}

static void search(struct inlined_search *s, Dwarf_Die *scope, int depth)
{
	Dwarf_Die child;
	const char *name;
	int tag;

	if (depth == DEPTH_MAX || dwarf_child(scope, &child))
		return;
	do {
		tag = dwarf_tag(&child);
		if (tag == DW_TAG_inlined_subroutine) {
			name = sym_die_name(s->f, &child);
			if (name && sym_name_matches(s->pattern, name))
				note(s, &child);
		}
		if (dwarf_haschildren(&child) > 0)
			search(s, &child, depth + 1);
	} while (!dwarf_siblingof(&child, &child));
}

uint32_t symfile_inlined(struct symfile *f, const char *pattern, struct symfile_inlined *found)
{
	struct inlined_search s = { .f = f, .pattern = pattern, .found = found };

	*found = (struct symfile_inlined){ 0 };
	sym_read_cus(f);
	for (size_t i = 0; i < f->nr_cus; i++)
		search(&s, &f->cus[i], 0);
	return found->nr;
}
