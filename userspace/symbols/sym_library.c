// SPDX-License-Identifier: GPL-2.0-only
/*
 * sym_library.c - where the C (and C++) library begins in a static program
 *
 * Linkers put functions where their files stand on the command line: the start files, the program's
 * objects, its libraries, and last what the compiler adds, libstdc++ and the C library. So from the
 * first function that only these can have on, in the order of addresses, the code is theirs. Linkers
 * of GNU put functions that are hardly ever executed (.text.unlikely), and main (.text.startup),
 * before all others, in an order of their own; the others begin with _start, the entry. Of a program without symbols it is
 * known which code was in the C library's archive (sym_archive.c).
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

/* Names that are reserved, and used by no program's own functions: the C library's. */
static bool is_c_name(const char *name)
{
	static const char *const names[] = {
		"__libc_", "__pthread_", "__lll_", "__nptl_", "_IO_", "_nl_", "_dl_",			/* glibc */
		"__init_libc", "__init_tp", "libc_start_", "__stdio_", "__tl_", "__vm_", "__timedwait",	/* musl */
		"__lockfile", "__syscall_", "__funcs_on_exit",
	};

	return begins_with(name, names, sizeof(names) / sizeof(names[0]));
}

/* The same of libstdc++ and libgcc. */
static bool is_compilers_name(const char *name)
{
	static const char *const names[] = {
		"__cxa_guard_", "__cxa_throw", "__cxa_begin_catch", "__cxa_allocate_exception", "__cxa_get_globals",
		"__gxx_personality", "_ZN10__cxxabiv1", "_ZNK10__cxxabiv1", "_Unwind_", "__gcc_personality",
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

static int note_main(const struct symdef *d, unsigned int name, void *arg)
{
	(void)name;
	if (d->is_function)
		*(uint64_t *)arg = d->vaddr;
	return 0;
}

/* Finds the first function of either library. */
static void find_libraries(struct symfile *f)
{
	static const char *const names[] = { "main" };
	uint64_t c = UINT64_MAX, any = UINT64_MAX, main = UINT64_MAX;

	f->library_sought = true;
	f->library = f->c_library = UINT64_MAX;
	/* a shared library has no main(), and perhaps very many symbols */
	if (f->interp || !f->ehdr.e_entry || !symfile_find_names(f, names, 1, note_main, &main))
		return;
	sym_read_symbols(f);
	if (symfile_archive(f))
		any = c = f->archive.begin;
	for (size_t i = 0; i < f->nr_syms && !symfile_archive(f); i++) {
		const struct sym *s = &f->syms[i];

		if (s->type != STT_FUNC && s->type != STT_GNU_IFUNC)
			continue;
		if (s->vaddr <= f->ehdr.e_entry || is_start_name(s->name))
			continue;
		if (is_c_name(s->name) && s->vaddr < c)
			c = s->vaddr;
		if ((is_c_name(s->name) || is_compilers_name(s->name)) && s->vaddr < any)
			any = s->vaddr;
	}
	/* main among the library's: they were linked in another order */
	if (c == UINT64_MAX || main >= any)
		return;
	f->library = symfile_offset_of(f, any);
	f->c_library = symfile_offset_of(f, c);
}

uint64_t symfile_library(struct symfile *f)
{
	if (!f->library_sought)
		find_libraries(f);
	return f->library;
}

uint64_t symfile_c_library(struct symfile *f)
{
	if (!f->library_sought)
		find_libraries(f);
	return f->c_library;
}

bool symfile_is_library(struct symfile *f, uint64_t offset)
{
	uint64_t first = symfile_library(f), vaddr;
	const struct sym *s;

	if (first == UINT64_MAX || offset >= first)
		return first != UINT64_MAX;
	vaddr = symfile_vaddr_of(f, offset);
	s = vaddr == UINT64_MAX ? NULL : sym_at(f, vaddr, true);
	if (s && symfile_archive(f))
		return strcmp(s->name, "main") != 0;
	return s && (is_c_name(s->name) || is_compilers_name(s->name) || is_start_name(s->name));
}
