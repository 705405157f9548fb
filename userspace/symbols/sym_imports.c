// SPDX-License-Identifier: GPL-2.0-only
/* sym_imports.c - the functions of other files that a file can call by their names, and where their addresses are put */
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "symbols/sym_internal.h"

/* dlsym() is given names that lie in the file, or that the program composes: libffi calls what a script names. */
static const char *const by_name[] = { "dlsym", "dlvsym" };
static const char calls_anything[] = "ffi_call";

struct wanted {
	const char *const *names;
	unsigned int nr;
	size_t *lens, shortest;
	bool ends[256];		/* some name ends with that character: most strings of a file, and all data, do not */
};

/* Strings of the file that end with a name: the linker keeps a string within one that ends alike. */
static void look_for_strings(Elf_Data *data, const struct wanted *w, bool *takes)
{
	const char *start = data->d_buf, *end = start + data->d_size, *zero;

	for (const char *p = start; p < end && (zero = memchr(p, 0, end - p)); p = zero + 1) {
		if ((size_t)(zero - p) < w->shortest || !w->ends[(unsigned char)zero[-1]])
			continue;
		for (unsigned int i = 0; i < w->nr; i++)
			if ((size_t)(zero - p) >= w->lens[i] && !memcmp(zero - w->lens[i], w->names[i], w->lens[i]))
				takes[i] = true;
	}
}

/* false: out of memory */
static bool take_strings(struct symfile *f, const char *const *names, unsigned int nr, bool *takes)
{
	struct wanted w = { .names = names, .nr = nr, .lens = calloc(nr + 1, sizeof(*w.lens)), .shortest = SIZE_MAX };
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	Elf_Data *data;

	if (!w.lens)
		return false;
	for (unsigned int i = 0; i < nr; i++) {
		w.lens[i] = strlen(names[i]);
		w.shortest = w.lens[i] < w.shortest ? w.lens[i] : w.shortest;
		w.ends[(unsigned char)names[i][w.lens[i] - 1]] = true;
	}
	while ((scn = elf_nextscn(f->elf, scn))) {
		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_PROGBITS || !(shdr.sh_flags & SHF_ALLOC) ||
		    shdr.sh_flags & SHF_EXECINSTR)
			continue;
		data = elf_getdata(scn, NULL);
		if (data && data->d_buf)
			look_for_strings(data, &w, takes);
	}
	free(w.lens);
	return true;
}

static bool is_linked(const struct symfile *f)
{
	for (size_t i = 0; i < f->nr_phdrs; i++)
		if (f->phdrs[i].p_type == PT_DYNAMIC)
			return true;
	return false;
}

bool symfile_imports(struct symfile *f, const char *const *names, unsigned int nr, bool *takes)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = sym_find_section(f->elf, SHT_DYNSYM, &shdr);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	const Elf64_Sym *syms = data ? data->d_buf : NULL;
	size_t size = 0;
	const char *text = syms ? sym_table_names(f->elf, shdr.sh_link, &size) : NULL;
	bool looks_up = false;

	if (!text)
		return !is_linked(f);
	for (size_t i = 1; i < data->d_size / sizeof(*syms); i++) {
		const char *name;

		if (syms[i].st_shndx != SHN_UNDEF || syms[i].st_name >= size)
			continue;
		name = text + syms[i].st_name;
		if (!strcmp(name, calls_anything))
			return false;
		for (size_t k = 0; k < sizeof(by_name) / sizeof(by_name[0]); k++)
			looks_up |= !strcmp(name, by_name[k]);
		for (unsigned int k = 0; k < nr; k++)
			takes[k] |= !strcmp(name, names[k]);
	}
	return !looks_up || take_strings(f, names, nr, takes);
}

static const char *linked_in(struct symfile *f, Elf_Scn *scn, const GElf_Shdr *sh, uint64_t vaddr,
			     const char *(*says)(const char *name))
{
	Elf_Scn *table = elf_getscn(f->elf, sh->sh_link);
	Elf_Data *data = elf_getdata(scn, NULL), *symbols = table ? elf_getdata(table, NULL) : NULL;
	size_t nr = data && sh->sh_entsize ? data->d_size / sh->sh_entsize : 0;
	GElf_Shdr names;

	if (!symbols || !gelf_getshdr(table, &names))
		return NULL;
	for (size_t i = 0; i < nr; i++) {
		const char *name;
		GElf_Rela rel;
		GElf_Sym sym;

		if (!gelf_getrela(data, i, &rel) || rel.r_offset != vaddr ||
		    (GELF_R_TYPE(rel.r_info) != R_X86_64_JUMP_SLOT && GELF_R_TYPE(rel.r_info) != R_X86_64_GLOB_DAT) ||
		    !gelf_getsym(symbols, GELF_R_SYM(rel.r_info), &sym))
			continue;
		name = elf_strptr(f->elf, names.sh_link, sym.st_name);
		return name ? says(name) : NULL;
	}
	return NULL;
}

const char *symfile_linked(struct symfile *f, uint64_t vaddr, const char *(*says)(const char *name))
{
	const char *said = NULL;
	GElf_Shdr shdr;

	for (Elf_Scn *scn = NULL; !said && (scn = elf_nextscn(f->elf, scn));)
		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == SHT_RELA)
			said = linked_in(f, scn, &shdr, vaddr, says);
	sym_read_symbols(f);
	for (size_t i = ARRAY_FROM(f->nr_syms, k, f->syms[k].vaddr < vaddr);
	     !said && i < f->nr_syms && f->syms[i].vaddr == vaddr; i++)
		said = says(f->syms[i].name);
	return said;
}
