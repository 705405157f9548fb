/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sym_java_fields.c - how HotSpot is made to call a function of its own at each access of a field
 *
 * For debuggers that watch fields, the code of the interpreter looks at a counter of watched fields before each getfield and
 * putfield, and calls a function of libjvm where it is not 0; the function finds that this field is not watched, and returns.
 * That code is there if, when the interpreter is made, a debugger had said that it may want it; then an interpreter without
 * bytecodes that stand for several is made, too. Both are variables of libjvm, which its symbols name.
 *
 * Elements of arrays no debugger watches. But what executes a bytecode is looked up in a table, and a second table has, for all
 * of them, code that calls a function first, for a debugger that steps. What the second has for bytecodes that access
 * elements is copied into the first. The function finds that nothing is to be done, and the bytecode is executed by a
 * third, which stays.
 */
#include <string.h>
#include "symbols/sym_java.h"

static const char *const names[] = {
	"JNI_CreateJavaVM",
	"JVM_StartThread",
	"_ZN18InterpreterRuntime17post_field_accessEP10JavaThreadP7oopDescP22ConstantPoolCacheEntry",
	"_ZN18InterpreterRuntime23post_field_modificationEP10JavaThreadP7oopDescP22ConstantPoolCacheEntryP6jvalue",
	"_ZN11JvmtiExport22_can_post_field_accessE",
	"_ZN11JvmtiExport28_can_post_field_modificationE",
	"RewriteFrequentPairs",
	"_ZN11JvmtiExport19_field_access_countE",
	"_ZN11JvmtiExport25_field_modification_countE",
	"_ZN18InterpreterRuntime12at_safepointEP10JavaThread",
	"_ZN19TemplateInterpreter13_active_tableE",
	"_ZN19TemplateInterpreter13_safept_tableE",
};
enum { MAKES, STARTS, READS, WRITES, CAN_READ, CAN_WRITE, PAIRS, READ_COUNT, WRITE_COUNT, STEPS, TABLE, STEPPING, NAMES };
/* Addresses of code. */
#define TABLE_SIZE	(SYMFILE_TABLE_STATES * SYMFILE_TABLE_CODES * 8)
_Static_assert(sizeof(names) / sizeof(names[0]) == NAMES, "names");

/* A function, by its offset in the file; there may be copies of it. */
static void note_function(struct symfile_places *p, uint64_t offset)
{
	if (p->nr < SYMFILE_PLACES)
		p->at[p->nr++] = offset;
}

static int note_name(const struct symdef *d, unsigned int name, void *arg)
{
	struct symfile_fields *x = arg;

	if (name < CAN_READ || name == STEPS ? !d->is_function || d->offset == UINT64_MAX : !d->is_object)
		return 0;
	switch (name) {
	case MAKES:
		note_function(&x->makes, d->offset);
		break;
	case STARTS:
		note_function(&x->starts, d->offset);
		break;
	case READS:
		note_function(&x->reads, d->offset);
		break;
	case WRITES:
		note_function(&x->writes, d->offset);
		break;
	case CAN_READ:
	case CAN_WRITE:
	case PAIRS:
		x->possible[name - CAN_READ] = (struct symfile_setting){ d->vaddr, 1, name != PAIRS };
		break;
	case STEPS:
		note_function(&x->steps, d->offset);
		break;
	case TABLE:
	case STEPPING:
		*(name == TABLE ? &x->table : &x->stepping) = d->size == TABLE_SIZE ? d->vaddr : 0;
		break;
	default:
		x->wanted[name - READ_COUNT] = (struct symfile_setting){ d->vaddr, 4, 1 };
	}
	return 0;
}

const struct symfile_fields *symfile_fields(struct symfile *f)
{
	struct symfile_fields *x = &f->java_fields;
	bool all;

	if (!symfile_is_java(f))
		return NULL;
	if (!x->sought) {
		symfile_find_names(f, names, NAMES, note_name, x);
		all = x->makes.nr && x->starts.nr && x->reads.nr == 1 && x->writes.nr == 1;
		for (int i = 0; i < SYMFILE_POSSIBLE; i++)
			all = all && x->possible[i].vaddr;
		for (int i = 0; i < SYMFILE_WANTED; i++)
			all = all && x->wanted[i].vaddr;
		x->is = all;
		if (!x->table || !x->stepping || x->steps.nr != 1)
			x->steps.nr = 0;
		/* an interpreted frame's method, as in sym_java.c: no function of C++ has changed rbp yet */
		x->base = 5;
		x->path[0] = -24;
		x->sought = true;
	}
	return x->is ? x : NULL;
}
