// SPDX-License-Identifier: GPL-2.0-only
/*
 * symbols.c - ELF files: opening, headers, symbol tables, separate debug files
 *
 * Read struct symfile (sym_internal.h) first: a file is opened by symbols_file(), and everything
 * else is read when it is first asked for, by the other sym_*.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <elfutils/libdwelf.h>
#include "lib/base/array.h"
#include "symbols/sym_internal.h"
#include "symbols/sym_java.h"
#include "symbols/sym_python.h"

#define DEBUG_ROOT "/usr/lib/debug"

const char *sym_string(struct sym_string **list, const char *text)
{
	size_t n = strlen(text) + 1;
	struct sym_string *s = malloc(sizeof(*s) + n);

	if (!s)
		return NULL;
	memcpy(s->text, text, n);
	s->next = *list;
	*list = s;
	return s->text;
}

void sym_strings_free(struct sym_string *list)
{
	while (list) {
		struct sym_string *next = list->next;

		free(list);
		list = next;
	}
}

struct symbols *symbols_new(void)
{
	elf_version(EV_CURRENT);
	return calloc(1, sizeof(struct symbols));
}

int symbols_look_in(struct symbols *s, const char *folder)
{
	char *copy = strdup(folder);

	if (!copy)
		return -ENOMEM;
	free(s->folder);
	s->folder = copy;
	return 0;
}

static void symfile_free(struct symfile *f)
{
	sym_kept_write(f);
	sym_lines_free(f);
	sym_atomic_free(f);
	sym_data_free(f);
	sym_callers_free(f);
	sym_python_free(f);
	sym_java_release(&f->java);
	sym_java_jars_release(&f->java);
	dwarf_end(f->dwarf);
	elf_end(f->debug_elf);
	elf_end(f->elf);
	if (f->debug_fd >= 0)
		close(f->debug_fd);
	if (f->fd >= 0)
		close(f->fd);
	free(f->begins[0]);
	free(f->begins[1]);
	free(f->interp);
	free(f->phdrs);
	free(f->syms);
	free(f->archive.list.list);
	free(f->mangled);
	free(f->mangled_at);
	free(f->path);
	free(f->file);
	free(f->dash.script);
	sym_strings_free(f->strings);
	free(f);
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	sym_unwinder_free(s->unwinder);
	while (s->files) {
		struct symfile *next = s->files->next;

		symfile_free(s->files);
		s->files = next;
	}
	sym_strings_free(s->strings);
	free(s->folder);
	free(s);
}

static const char *machine_name(unsigned int machine, char *buf, size_t len)
{
	static const struct {
		unsigned int machine;
		const char *name;
	} names[] = {
		{ EM_386, "i386" }, { EM_ARM, "arm" }, { EM_AARCH64, "aarch64" },
		{ EM_RISCV, "riscv" }, { EM_PPC, "powerpc" }, { EM_PPC64, "powerpc64" },
		{ EM_S390, "s390x" }, { EM_MIPS, "mips" }, { EM_SPARCV9, "sparc64" },
		{ EM_X86_64, "x32 (32-bit pointers)" }, { 258, "loongarch" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].machine == machine)
			return names[i].name;
	snprintf(buf, len, "machine number %u", machine);
	return buf;
}

static bool read_headers(struct symfile *f, char *err, size_t errlen)
{
	char buf[40];
	const void *id;
	ssize_t n;

	if (elf_kind(f->elf) != ELF_K_ELF || !gelf_getehdr(f->elf, &f->ehdr)) {
		snprintf(err, errlen, "%s: not an ELF file", f->path);
		return false;
	}
	if (f->ehdr.e_machine != EM_X86_64 || gelf_getclass(f->elf) != ELFCLASS64) {
		snprintf(err, errlen, "%s: built for %s, not for x86-64", f->path,
			 machine_name(f->ehdr.e_machine, buf, sizeof(buf)));
		return false;
	}
	if (f->ehdr.e_type != ET_EXEC && f->ehdr.e_type != ET_DYN) {
		snprintf(err, errlen, "%s: %s, neither a program nor a shared library", f->path,
			 f->ehdr.e_type == ET_REL ? "an object file" :
			 f->ehdr.e_type == ET_CORE ? "a core dump" : "an unknown kind of ELF file");
		return false;
	}
	if (elf_getphdrnum(f->elf, &f->nr_phdrs) || !f->nr_phdrs) {
		snprintf(err, errlen, "%s: damaged: no program headers", f->path);
		return false;
	}
	f->phdrs = calloc(f->nr_phdrs, sizeof(*f->phdrs));
	if (!f->phdrs) {
		snprintf(err, errlen, "%s: out of memory", f->path);
		return false;
	}
	for (size_t i = 0; i < f->nr_phdrs; i++) {
		GElf_Phdr *p = &f->phdrs[i];
		char interp[4096];

		if (!gelf_getphdr(f->elf, i, p)) {
			snprintf(err, errlen, "%s: damaged: program header %zu", f->path, i);
			return false;
		}
		if (p->p_type == PT_INTERP && p->p_filesz && p->p_filesz < sizeof(interp) &&
		    !f->interp &&
		    pread(f->fd, interp, p->p_filesz, p->p_offset) == (ssize_t)p->p_filesz) {
			interp[p->p_filesz] = '\0';
			f->interp = strdup(interp);
		}
	}
	n = dwelf_elf_gnu_build_id(f->elf, &id);
	if (n > 0 && n <= 64)
		for (ssize_t i = 0; i < n; i++)
			sprintf(f->build_id + 2 * i, "%02x", ((const unsigned char *)id)[i]);
	return true;
}

struct symfile *symbols_file(struct symbols *s, const char *path, const char *file,
			     char *err, size_t errlen)
{
	struct symfile *f;
	struct stat st;

	for (f = s->files; f; f = f->next)
		if (!strcmp(f->path, path))
			return f;
	f = file ? NULL : sym_take_ahead(s, path);
	if (f)
		return f;
	f = calloc(1, sizeof(*f));
	if (!f)
		goto memory;
	f->fd = f->debug_fd = -1;
	f->libc = f->by_gcc = f->whole = -1;
	f->owner = s;
	f->path = strdup(path);
	f->file = strdup(file ? file : path);
	if (!f->path || !f->file)
		goto memory;
	/* O_NONBLOCK: a FIFO shall be refused, not waited for. */
	f->fd = open(f->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (f->fd < 0 || fstat(f->fd, &st)) {
		snprintf(err, errlen, "%s: %s", path, strerror(errno));
		goto out;
	}
	if (!S_ISREG(st.st_mode)) {
		snprintf(err, errlen, "%s: not a regular file", path);
		goto out;
	}
	f->elf = elf_begin(f->fd, ELF_C_READ_MMAP_PRIVATE, NULL);
	if (!f->elf) {
		snprintf(err, errlen, "%s: not an ELF file", path);
		goto out;
	}
	f->st = st;
	if (!read_headers(f, err, errlen))
		goto out;
	f->next = s->files;
	s->files = f;
	return f;
memory:
	snprintf(err, errlen, "%s: out of memory", path);
out:
	if (f)
		symfile_free(f);
	return NULL;
}

const char *symfile_build_id(struct symfile *f)
{
	return f->build_id;
}

bool symfile_is_dynamic(struct symfile *f)
{
	return f->interp;
}

const char *symfile_interp(struct symfile *f)
{
	return f->interp;
}

uint64_t symfile_offset_of(struct symfile *f, uint64_t vaddr)
{
	for (size_t i = 0; i < f->nr_phdrs; i++) {
		const GElf_Phdr *p = &f->phdrs[i];

		if (p->p_type == PT_LOAD && vaddr >= p->p_vaddr && vaddr - p->p_vaddr < p->p_filesz)
			return vaddr - p->p_vaddr + p->p_offset;
	}
	return UINT64_MAX;
}

uint64_t symfile_vaddr_of(struct symfile *f, uint64_t offset)
{
	for (size_t i = 0; i < f->nr_phdrs; i++) {
		const GElf_Phdr *p = &f->phdrs[i];

		if (p->p_type == PT_LOAD && offset >= p->p_offset &&
		    offset - p->p_offset < p->p_filesz)
			return offset - p->p_offset + p->p_vaddr;
	}
	return UINT64_MAX;
}

void symfile_extent(struct symfile *f, uint64_t *lo, uint64_t *hi)
{
	*lo = *hi = 0;
	for (size_t i = 0; i < f->nr_phdrs; i++) {
		const GElf_Phdr *p = &f->phdrs[i];

		if (p->p_type != PT_LOAD)
			continue;
		if (!*hi || p->p_vaddr < *lo)
			*lo = p->p_vaddr;
		if (p->p_vaddr + p->p_memsz > *hi)
			*hi = p->p_vaddr + p->p_memsz;
	}
}

int symfile_code_bias(struct symfile *f, uint64_t start, uint64_t offset, uint64_t *bias)
{
	for (size_t i = 0; i < f->nr_phdrs; i++) {
		const GElf_Phdr *p = &f->phdrs[i];

		/* the mapping starts at a page, the segment need not */
		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) ||
		    offset < (p->p_offset & ~0xfffull) || offset >= p->p_offset + p->p_filesz)
			continue;
		*bias = start + p->p_offset - offset - p->p_vaddr;
		return 0;
	}
	return -ENOENT;
}

Elf_Scn *sym_find_section(Elf *elf, unsigned int type, GElf_Shdr *shdr)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, shdr) && shdr->sh_type == type)
			return scn;
	return NULL;
}

/* ---- separate debug files ---- */

static Elf *open_debug_file(const char *path, int *fd)
{
	Elf *elf;

	*fd = open(path, O_RDONLY | O_CLOEXEC);
	if (*fd < 0)
		return NULL;
	elf = elf_begin(*fd, ELF_C_READ_MMAP_PRIVATE, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF)
		return elf;
	elf_end(elf);
	close(*fd);
	*fd = -1;
	return NULL;
}

static bool same_build_id(struct symfile *f, Elf *elf)
{
	const unsigned char *id;
	char hex[3];
	ssize_t n = dwelf_elf_gnu_build_id(elf, (const void **)&id);

	if (n <= 0 || (size_t)n * 2 != strlen(f->build_id))
		return false;
	for (ssize_t i = 0; i < n; i++) {
		sprintf(hex, "%02x", id[i]);
		if (memcmp(hex, f->build_id + 2 * i, 2))
			return false;
	}
	return true;
}

static bool same_crc(int fd, uint32_t want)
{
	unsigned char buf[65536];
	uint32_t crc = 0;
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, buf, sizeof(buf), at)) > 0) {
		crc = crc32(crc, buf, n);
		at += n;
	}
	return !n && crc == want;
}

static bool has_section(Elf *elf, const char *name)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	size_t strndx;
	const char *s;

	if (elf_getshdrstrndx(elf, &strndx))
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type == SHT_NOBITS)
			continue;
		s = elf_strptr(elf, strndx, shdr.sh_name);
		if (s && !strcmp(s, name))
			return true;
	}
	return false;
}

/* The rules of gdb: by build-id, then .gnu_debuglink beside the file. Never over the network. */
void sym_find_debug_file(struct symfile *f)
{
	const char *link, *slash = strrchr(f->path, '/');
	int dir = slash ? slash - f->path : 0;
	char path[4096];
	GElf_Word crc;
	Elf *elf;
	int fd;

	if (f->debug_sought)
		return;
	f->debug_sought = true;
	if (has_section(f->elf, ".debug_info") || has_section(f->elf, ".zdebug_info"))
		return;
	if (strlen(f->build_id) > 2) {
		snprintf(path, sizeof(path), DEBUG_ROOT "/.build-id/%.2s/%s.debug", f->build_id,
			 f->build_id + 2);
		elf = open_debug_file(path, &fd);
		if (elf && same_build_id(f, elf))
			goto found;
		elf_end(elf);
		if (fd >= 0)
			close(fd);
	}
	link = dwelf_elf_gnu_debuglink(f->elf, &crc);
	if (!link || strchr(link, '/'))
		return;
	for (int i = 0; i < 3; i++) {
		static const char *const forms[] = { "%s%.*s/%s", "%s%.*s/.debug/%s", "%s%.*s/%s" };

		snprintf(path, sizeof(path), forms[i], i == 2 ? DEBUG_ROOT : "", dir, f->path, link);
		if (!strcmp(path, f->path))
			continue;
		elf = open_debug_file(path, &fd);
		if (elf && same_crc(fd, crc))
			goto found;
		elf_end(elf);
		if (fd >= 0)
			close(fd);
	}
	return;
found:
	f->debug_elf = elf;
	f->debug_fd = fd;
}

void sym_read_debug(struct symfile *f)
{
	if (f->debug_tried)
		return;
	f->debug_tried = true;
	sym_find_debug_file(f);
	/* takes its time: all of it may be compressed */
	if (f->debug_elf || has_section(f->elf, ".debug_info") || has_section(f->elf, ".zdebug_info"))
		f->dwarf = dwarf_begin_elf(f->debug_elf ? f->debug_elf : f->elf, DWARF_C_READ, NULL);
}

/* ---- symbol tables ---- */

/* The version of dynamic symbol i; "*hidden" ones (@ instead of @@) are definitions as well. */
static const char *version_of(Elf *elf, Elf_Data *versym, Elf_Data *verdef, size_t strndx, int i)
{
	GElf_Versym v;
	GElf_Verdef def;
	GElf_Verdaux aux;
	size_t at = 0;

	if (!versym || !verdef || !gelf_getversym(versym, i, &v))
		return NULL;
	v &= 0x7fff;
	/* 1 is the base version: the name of the file */
	if (v < 2)
		return NULL;
	while (gelf_getverdef(verdef, at, &def)) {
		if (def.vd_ndx == v)
			return gelf_getverdaux(verdef, at + def.vd_aux, &aux) ?
			       elf_strptr(elf, strndx, aux.vda_name) : NULL;
		if (!def.vd_next)
			break;
		at += def.vd_next;
	}
	return NULL;
}

static void add_symbol(struct symfile *f, struct sym_list *l, const Elf64_Sym *sym, const char *name,
		       const char *version)
{
	unsigned int type = GELF_ST_TYPE(sym->st_info);
	const char *at;
	struct sym s;

	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS || !name || !*name)
		return;
	if (type == STT_NOTYPE) {
		/* Hand-written assembly; what is not in code is a linker's mark, not an object. */
		for (size_t i = 0; i < f->nr_phdrs; i++) {
			const GElf_Phdr *p = &f->phdrs[i];

			if (p->p_type == PT_LOAD && p->p_flags & PF_X && sym->st_value >= p->p_vaddr &&
			    sym->st_value - p->p_vaddr < p->p_memsz &&
			    GELF_ST_BIND(sym->st_info) != STB_LOCAL)
				type = STT_FUNC;
		}
	}
	if (type != STT_FUNC && type != STT_OBJECT && type != STT_GNU_IFUNC && type != STT_TLS)
		return;
	at = strchr(name, '@');
	if (at) {
		char base[512];

		if (!version)
			version = sym_string(&f->strings, at + strspn(at, "@"));
		snprintf(base, sizeof(base), "%.*s", (int)(at - name), name);
		name = sym_string(&f->strings, base);
	}
	if (!name || !ARRAY_RESERVE(l->list, l->size, l->nr + 1))
		return;
	s = (struct sym){ name, version, sym->st_value, sym->st_size, type,
			  GELF_ST_BIND(sym->st_info) };
	l->list[l->nr++] = s;
}

const char *sym_table_names(Elf *elf, size_t section, size_t *size)
{
	Elf_Scn *scn = elf_getscn(elf, section);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	const char *text = data ? data->d_buf : NULL;

	*size = text ? data->d_size : 0;
	return *size && !text[*size - 1] ? text : NULL;
}

/* A symbol table as it lies in the file. */
struct table {
	Elf *elf;
	const Elf64_Sym *syms;
	size_t nr;
	const char *text;	/* its names */
	size_t size;
	Elf_Data *versym, *verdef;
	size_t version_names;	/* a section */
};

/* 1: it is there; 0: there is none; -1: it is there, and has no names. */
static int find_table(Elf *elf, unsigned int type, struct table *t)
{
	GElf_Shdr shdr, defs = { 0 };
	Elf_Scn *scn = sym_find_section(elf, type, &shdr), *other;
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;

	if (!data)
		return 0;
	*t = (struct table){ .elf = elf, .syms = data->d_buf, .nr = data->d_size / sizeof(*t->syms) };
	t->text = sym_table_names(elf, shdr.sh_link, &t->size);
	if (!t->text)
		return -1;
	if (type == SHT_DYNSYM) {
		other = sym_find_section(elf, SHT_GNU_versym, &defs);
		t->versym = other ? elf_getdata(other, NULL) : NULL;
		other = sym_find_section(elf, SHT_GNU_verdef, &defs);
		t->verdef = other ? elf_getdata(other, NULL) : NULL;
		t->version_names = defs.sh_link;
	}
	return 1;
}

/* The symbols by how their names begin; NULL: no memory. */
static struct sym_begins *sort_by_begin(const struct table *t)
{
	struct sym_begins *b = calloc(1, sizeof(*b) + t->nr * sizeof(b->order[0]));
	uint16_t *begins = malloc(t->nr * sizeof(*begins));

	if (!b || !begins) {
		free(begins);
		free(b);
		return NULL;
	}
	for (size_t i = 0; i < t->nr; i++) {
		begins[i] = t->syms[i].st_name < t->size ? sym_begin(t->text + t->syms[i].st_name) : 0;
		b->first[begins[i] + 1]++;
	}
	for (size_t i = 0; i < SYM_BEGINS; i++)
		b->first[i + 1] += b->first[i];
	/* from the end: so each end of a group becomes its begin */
	for (size_t i = t->nr; i--;)
		b->order[--b->first[begins[i] + 1]] = i;
	memmove(b->first, b->first + 1, SYM_BEGINS * sizeof(b->first[0]));
	b->first[SYM_BEGINS] = t->nr;
	free(begins);
	return b;
}

static void take_symbol(struct symfile *f, const struct table *t, size_t i, struct sym_list *l, const struct sym_filter *filter)
{
	const char *name = t->text + t->syms[i].st_name;

	if (i && t->syms[i].st_name < t->size && (!filter || filter->wanted(name, filter->arg)))
		add_symbol(f, l, &t->syms[i], name,
			   t->verdef ? version_of(t->elf, t->versym, t->verdef, t->version_names, i) : NULL);
}

static bool read_table(struct symfile *f, Elf *elf, unsigned int type, struct sym_list *l, const struct sym_filter *filter)
{
	const int which = type == SHT_SYMTAB;
	const struct sym_begins *b;
	struct table t;
	int there = find_table(elf, type, &t);

	if (there <= 0)
		return there;
	/* to sort them takes as long as to go through them */
	if (filter && !f->begins[which] && f->passes[which]++ >= SYM_PASSES)
		f->begins[which] = sort_by_begin(&t);
	b = filter ? f->begins[which] : NULL;
	if (!b) {
		for (size_t i = 1; i < t.nr; i++)
			take_symbol(f, &t, i, l, filter);
		return true;
	}
	for (size_t at = 0; at < SYM_BEGINS; at++)
		for (size_t i = b->first[at]; filter->begins[at / 64] >> at % 64 & 1 && i < b->first[at + 1]; i++)
			take_symbol(f, &t, b->order[i], l, filter);
	return true;
}

static int compare_syms(const void *a, const void *b)
{
	const struct sym *x = a, *y = b;
	int c;

	if (x->vaddr != y->vaddr)
		return x->vaddr < y->vaddr ? -1 : 1;
	c = strcmp(x->name, y->name);
	if (c)
		return c;
	/* the newest version first: it stays */
	return strverscmp(y->version ? y->version : "", x->version ? x->version : "");
}

static void sort_and_unite(struct sym_list *l)
{
	size_t nr = 0;

	if (!l->nr)
		return;
	qsort(l->list, l->nr, sizeof(*l->list), compare_syms);
	for (size_t i = 0; i < l->nr; i++) {
		const struct sym *s = &l->list[i], *k = nr ? &l->list[nr - 1] : NULL;

		if (k && k->vaddr == s->vaddr && !strcmp(k->name, s->name))
			continue;
		l->list[nr++] = *s;
	}
	l->nr = nr;
}

static void take_archive_names(struct symfile *f, struct sym_list *l, const struct sym_filter *filter)
{
	const struct sym_list *names = &sym_archive_names(f)->list;

	for (size_t i = 0; i < names->nr; i++) {
		const char *name = names->list[i].name;

		if ((!filter || filter->wanted(name, filter->arg)) && ARRAY_RESERVE(l->list, l->size, l->nr + 1))
			l->list[l->nr++] = names->list[i];
	}
}

bool sym_read_tables(struct symfile *f, struct sym_list *l, const struct sym_filter *filter)
{
	bool has_symtab;

	read_table(f, f->elf, SHT_DYNSYM, l, filter);
	has_symtab = read_table(f, f->elf, SHT_SYMTAB, l, filter);
	if (!has_symtab) {
		sym_find_debug_file(f);
		if (f->debug_elf)
			has_symtab = read_table(f, f->debug_elf, SHT_SYMTAB, l, filter);
	}
	if (!has_symtab)
		take_archive_names(f, l, filter);
	sort_and_unite(l);
	return has_symtab;
}

void sym_read_symbols(struct symfile *f)
{
	struct sym_list l = { 0 };

	if (f->syms_read)
		return;
	f->syms_read = true;
	f->has_symtab = sym_read_tables(f, &l, NULL);
	f->syms = l.list;
	f->nr_syms = l.nr;
}

bool symfile_has_symtab(struct symfile *f)
{
	GElf_Shdr shdr;

	if (!f->syms_read && sym_find_section(f->elf, SHT_SYMTAB, &shdr))
		return true;
	sym_read_symbols(f);
	return f->has_symtab;
}

bool symfile_has_symbols(struct symfile *f)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = f->syms_read ? NULL : sym_find_section(f->elf, SHT_DYNSYM, &shdr);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	const Elf64_Sym *syms = data ? data->d_buf : NULL;

	for (size_t i = 1; syms && i < data->d_size / sizeof(*syms); i++)
		if (syms[i].st_shndx != SHN_UNDEF && syms[i].st_shndx != SHN_ABS &&
		    (ELF64_ST_TYPE(syms[i].st_info) == STT_FUNC || ELF64_ST_TYPE(syms[i].st_info) == STT_OBJECT))
			return true;
	return symfile_has_symtab(f) || f->nr_syms;
}

const struct sym *sym_at(struct symfile *f, uint64_t vaddr, bool function)
{
	const struct sym *best = NULL;
	size_t lo;

	sym_read_symbols(f);
	lo = ARRAY_FROM(f->nr_syms, i, f->syms[i].vaddr <= vaddr);
	/* Aliases and nested symbols: the nearest start wins, then global names, then short ones. */
	for (size_t i = lo; i-- > 0 && lo - i < 64;) {
		const struct sym *s = &f->syms[i];
		bool code = s->type == STT_FUNC || s->type == STT_GNU_IFUNC;

		if (best && s->vaddr != best->vaddr)
			break;
		if (code != function || s->type == STT_TLS ||
		    vaddr - s->vaddr >= (s->size ? s->size : 1))
			continue;
		if (!best || (s->bind != STB_LOCAL && best->bind == STB_LOCAL) ||
		    ((s->bind == STB_LOCAL) == (best->bind == STB_LOCAL) &&
		     strlen(s->name) < strlen(best->name)))
			best = s;
	}
	return best;
}

/* ---- which C library ---- */

bool sym_rodata_has(struct symfile *f, const char *text)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	Elf_Data *data;

	while ((scn = elf_nextscn(f->elf, scn))) {
		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_PROGBITS ||
		    !(shdr.sh_flags & SHF_ALLOC) || shdr.sh_flags & (SHF_WRITE | SHF_EXECINSTR))
			continue;
		data = elf_getdata(scn, NULL);
		if (data && data->d_buf && memmem(data->d_buf, data->d_size, text, strlen(text)))
			return true;
	}
	return false;
}

static bool has_soname(struct symfile *f)
{
	GElf_Shdr shdr;
	GElf_Dyn dyn;
	Elf_Scn *scn = sym_find_section(f->elf, SHT_DYNAMIC, &shdr);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;

	for (int i = 0; data && gelf_getdyn(data, i, &dyn) && dyn.d_tag != DT_NULL; i++)
		if (dyn.d_tag == DT_SONAME)
			return true;
	return false;
}

static int note_name(const struct symdef *d, unsigned int name, void *arg)
{
	(void)d;
	*(unsigned int *)arg |= 1u << name;
	return 0;
}

enum symlibc symfile_libc(struct symfile *f)
{
	static const char *const names[] = {
		"gnu_get_libc_version", "__libc_setup_tls",			/* glibc */
		"__init_libc", "__dls2b", "__libc_start_init",			/* musl */
		"__libc_start_main",
	};
	unsigned int defines = 0;

	if (f->libc >= 0)
		return f->libc;
	f->libc = SYMLIBC_NONE;
	symfile_find_names(f, names, sizeof(names) / sizeof(names[0]), note_name, &defines);
	if (defines & 3 || sym_rodata_has(f, "GNU C Library (") ||
	    /* a stripped static program; the loader, which knows that word too, has a soname */
	    (!f->interp && !has_soname(f) && sym_rodata_has(f, "GLIBC_TUNABLES")))
		f->libc = SYMLIBC_GLIBC;
	else if (defines & 28 || (defines & 32 && sym_rodata_has(f, "/etc/ld-musl-")))
		f->libc = SYMLIBC_MUSL;
	return f->libc;
}
