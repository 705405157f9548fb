// SPDX-License-Identifier: GPL-2.0-only
/*
 * sym_library.c - where the C (and C++) library begins in a static program
 *
 * Linkers put functions where their files stand on the command line: the start files, the program's objects, its
 * libraries, and last what the compiler adds, libstdc++ and the C library. So from the first function that only these
 * can have on, in the order of addresses, the code is theirs. Linkers of GNU put functions that are hardly ever executed
 * (.text.unlikely), and main (.text.startup), before all others, in an order of their own; the others begin with
 * _start, the entry.
 */
#include <string.h>
#include "symbols/sym_internal.h"

static bool begins_with(const char *name, const char *const *list, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!strncmp(name, list[i], strlen(list[i])))
			return true;
	return false;
}

/* Names that are reserved, and used by no program's own functions. */
static bool is_library_name(const char *name)
{
	static const char *const names[] = {
		"__libc_", "__pthread_", "__lll_", "__nptl_", "_IO_", "_nl_", "_dl_",			/* glibc */
		"__init_libc", "__init_tp", "libc_start_", "__stdio_", "__tl_", "__vm_", "__timedwait",	/* musl */
		"__lockfile", "__syscall_", "__funcs_on_exit",
		"__cxa_guard_", "__cxa_throw", "__cxa_begin_catch", "__cxa_allocate_exception",		/* libstdc++ */
		"__cxa_get_globals", "__gxx_personality", "_ZN10__cxxabiv1", "_ZNK10__cxxabiv1",
		"_Unwind_", "__gcc_personality",							/* libgcc */
	};

	return begins_with(name, names, sizeof(names) / sizeof(names[0]));
}

/* Functions of the start files, which lie among the program's; the C library's that GNU linkers may put before all. */
static bool is_start_name(const char *name)
{
	static const char *const names[] = {
		"_start", "_start_c", "_init", "_fini", "_dl_relocate_static_pie", "deregister_tm_clones",
		"register_tm_clones", "__do_global_dtors_aux", "frame_dummy", "abort", "exit",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* The vaddr of the first function of the library, UINT64_MAX: none. */
static uint64_t first_of_library(struct symfile *f)
{
	uint64_t first = UINT64_MAX, main = UINT64_MAX;

	sym_read_symbols(f);
	for (size_t i = 0; i < f->nr_syms; i++) {
		const struct sym *s = &f->syms[i];

		if (s->type != STT_FUNC && s->type != STT_GNU_IFUNC)
			continue;
		if (!strcmp(s->name, "main") && s->bind == STB_GLOBAL)
			main = s->vaddr;
		else if (first == UINT64_MAX && s->vaddr > f->ehdr.e_entry && !is_start_name(s->name) &&
			 is_library_name(s->name))
			first = s->vaddr;
	}
	/* a shared library has no main(); where that lies among the library's they were linked in another order */
	return main < first ? first : UINT64_MAX;
}

uint64_t symfile_library(struct symfile *f)
{
	if (!f->library_sought) {
		f->library_sought = true;
		f->library = f->interp ? UINT64_MAX : first_of_library(f);
		if (f->library != UINT64_MAX)
			f->library = symfile_offset_of(f, f->library);
	}
	return f->library;
}

bool symfile_is_library(struct symfile *f, uint64_t offset)
{
	uint64_t first = symfile_library(f), vaddr;
	const struct sym *s;

	if (first == UINT64_MAX || offset >= first)
		return first != UINT64_MAX;
	vaddr = symfile_vaddr_of(f, offset);
	s = vaddr == UINT64_MAX ? NULL : sym_at(f, vaddr, true);
	return s && (is_library_name(s->name) || is_start_name(s->name));
}
