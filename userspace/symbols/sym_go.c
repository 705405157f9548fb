// SPDX-License-Identifier: GPL-2.0-only
/* sym_go.c - the goroutine that a task executes */
#include <dwarf.h>
#include <string.h>
#include "lib/base/remote.h"
#include "symbols/sym_internal.h"

/* Go's linker gives each thread's goroutine this place below its thread pointer, in programs without C. */
#define GOROUTINE_BELOW 8

/* Where a structure has a member; 0: it has none of that name, or at its begin. */
static uint64_t member_at(Dwarf_Die *type, const char *name)
{
	Dwarf_Attribute attr;
	Dwarf_Word at = 0;
	Dwarf_Die child;

	if (dwarf_child(type, &child))
		return 0;
	do {
		const char *is = dwarf_diename(&child);

		if (dwarf_tag(&child) == DW_TAG_member && is && !strcmp(is, name) &&
		    dwarf_attr(&child, DW_AT_data_member_location, &attr) && !dwarf_formudata(&attr, &at))
			return at;
	} while (!dwarf_siblingof(&child, &child));
	return 0;
}

/* The structure runtime.g is in the unit of the runtime. */
static uint64_t find_number(struct symfile *f)
{
	Dwarf_Die child;

	sym_read_cus(f);
	for (size_t i = 0; i < f->nr_cus; i++) {
		const char *unit = dwarf_diename(&f->cus[i]);

		if (!unit || strcmp(unit, "runtime") || dwarf_child(&f->cus[i], &child))
			continue;
		do {
			const char *is = dwarf_diename(&child);

			if (dwarf_tag(&child) == DW_TAG_structure_type && is && !strcmp(is, "runtime.g"))
				return member_at(&child, "goid");
		} while (!dwarf_siblingof(&child, &child));
	}
	return 0;
}

uint32_t symfile_goroutine(struct symfile *f, int pid, uint64_t tls)
{
	uint64_t g, number;

	if (!f->go_sought) {
		f->go_sought = true;
		f->go_number = find_number(f);
	}
	if (!f->go_number || !remote_read(pid, tls - GOROUTINE_BELOW, &g, sizeof(g)) ||
	    !remote_read(pid, g + f->go_number, &number, sizeof(number)) || number > UINT32_MAX)
		return 0;
	return number;
}
