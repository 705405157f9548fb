// SPDX-License-Identifier: GPL-2.0-only
/*
 * sym_pointee.c - names of what an instruction accesses through a pointer: "struct node.next"
 *
 * Memory on the heap has no symbol. But the pointer that led there is a variable more often than
 * not, and while the instruction stands before it, DWARF says which variable its base register
 * holds.
 */
#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "symbols/sym_internal.h"

/*
 * True when the variable is a pointer that lives in that register at vaddr; *pointee is the type
 * that it points to.
 */
static bool points(Dwarf_Die *variable, uint64_t vaddr, unsigned int reg, Dwarf_Die *pointee)
{
	Dwarf_Attribute attr;
	Dwarf_Die type;
	Dwarf_Op *ops;
	size_t nr;

	if (dwarf_tag(variable) != DW_TAG_variable && dwarf_tag(variable) != DW_TAG_formal_parameter)
		return false;
	if (!dwarf_attr_integrate(variable, DW_AT_location, &attr) ||
	    dwarf_getlocation_addr(&attr, vaddr, &ops, &nr, 1) != 1 || nr != 1 || ops[0].atom != DW_OP_reg0 + reg)
		return false;
	if (!sym_type_of(variable, &type))
		return false;
	return (dwarf_tag(&type) == DW_TAG_pointer_type || dwarf_tag(&type) == DW_TAG_reference_type) &&
	       sym_type_of(&type, pointee);
}

static bool find_pointer(Dwarf_Die *scope, uint64_t vaddr, unsigned int reg, Dwarf_Die *variable, Dwarf_Die *pointee)
{
	if (dwarf_child(scope, variable))
		return false;
	do
		if (points(variable, vaddr, reg, pointee))
			return true;
	while (dwarf_siblingof(variable, variable) == 0);
	return false;
}

/* The variable that the register holds there, and what it points to. */
static bool pointer_in(struct symfile *f, uint64_t offset, unsigned int reg, Dwarf_Die *variable, Dwarf_Die *pointee)
{
	uint64_t vaddr = symfile_vaddr_of(f, offset);
	Dwarf_Die *cu = vaddr != UINT64_MAX && reg < 16 ? sym_cu_at(f, vaddr) : NULL, *scopes = NULL;
	int nr = cu ? dwarf_getscopes(cu, vaddr, &scopes) : 0;
	bool found = false;

	for (int i = 0; i < nr && !found; i++)
		found = find_pointer(&scopes[i], vaddr, reg, variable, pointee);
	free(scopes);
	return found;
}

bool symfile_pointee_is_atomic(struct symfile *f, uint64_t offset, unsigned int reg, int64_t disp)
{
	Dwarf_Die variable, pointee, pointer;

	return disp >= 0 && pointer_in(f, offset, reg, &variable, &pointee) && sym_type_of(&variable, &pointer) &&
	       sym_atomic_inside(&pointer, disp);
}

int symfile_pointee_name(struct symfile *f, uint64_t offset, unsigned int reg, int64_t disp, char *buf, size_t len)
{
	Dwarf_Die variable, pointee;
	char brief[256];
	const char *name;
	uint64_t size;

	if (!pointer_in(f, offset, reg, &variable, &pointee))
		return -ENOENT;
	size = sym_type_size(&pointee);
	name = dwarf_diename(&pointee);
	/* before it, or in an array behind it, of which the element is not known */
	if (!sym_is_class(&pointee) || !name || disp < 0 || (uint64_t)disp >= size)
		name = NULL;
	if (name) {
		symbols_brief(name, brief, sizeof(brief));
		snprintf(buf, len, "%s %s", dwarf_tag(&pointee) == DW_TAG_union_type ? "union" :
			 dwarf_tag(&pointee) == DW_TAG_class_type ? "class" : "struct", brief);
		sym_name_inside(&pointee, disp, buf, len);
		return 0;
	}
	name = dwarf_diename(&variable);
	/* reserved names: __atomic_load_ptr, inside a macro of <stdatomic.h> */
	if (!name || !strncmp(name, "__", 2))
		return -ENOENT;
	snprintf(buf, len, disp ? "%s[...]" : "*%s", name);
	return 0;
}
