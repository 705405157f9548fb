// SPDX-License-Identifier: GPL-2.0-only
/* sym_archive_read.c - reads the members of an archive: pieces of code, their functions, and what relocations fill in */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/base/array.h"
#include "lib/base/hash.h"
#include "symbols/sym_archive.h"

/* An open file with its members, in whose memory the bytes of pieces lie. */
struct sym_archive_file {
	struct sym_archive_file *next;
	int fd;
	Elf *elf;
	Elf **members;
	size_t nr_members, size_members;
};

/* A member while it is read. */
struct member {
	struct sym_archive *a;
	Elf *elf;
	uint32_t *piece_of;	/* by section; NONE: no code */
	size_t nr_sections;
	Elf_Data *symbols;
	size_t strings;		/* their section */
	bool start;
};

static uint32_t add_name(struct sym_archive *a, const char *text, bool local)
{
	uint32_t *known = local ? NULL : id_map_find(&a->name_of, hash_bytes(HASH_BEGIN, text, strlen(text)));

	if (known && !strcmp(a->names[*known].text, text))
		return *known;
	if (!ARRAY_RESERVE(a->names, a->size_names, a->nr_names + 1) ||
	    (!local && !id_map_add(&a->name_of, hash_bytes(HASH_BEGIN, text, strlen(text)), a->nr_names, NULL))) {
		a->no_memory = true;
		return SYM_ARCHIVE_NONE;
	}
	a->names[a->nr_names] = (struct sym_archive_name){ .text = text, .function = SYM_ARCHIVE_NONE, .local = local };
	return a->nr_names++;
}

uint32_t sym_archive_name(const struct sym_archive *a, const char *text)
{
	const uint32_t *known = id_map_find(&a->name_of, hash_bytes(HASH_BEGIN, text, strlen(text)));

	return known && !strcmp(a->names[*known].text, text) ? *known : SYM_ARCHIVE_NONE;
}

/*
 * The bytes around a relocation that a linker may change: the instruction before it as well, where it has a simpler one for
 * what lies in the same file (the x86-64 ABI, "linker optimisations"). False: it is not known.
 */
static bool hole_of(uint32_t type, int *before, int *after)
{
	*before = 0;
	*after = 4;
	switch (type) {
	case R_X86_64_PC32:
	case R_X86_64_PLT32:
	case R_X86_64_32:
	case R_X86_64_32S:
	case R_X86_64_GOTPCREL:
	case R_X86_64_TPOFF32:
	case R_X86_64_DTPOFF32:
		return true;
	case R_X86_64_64:
	case R_X86_64_PC64:
		*after = 8;
		return true;
	case R_X86_64_GOTPCRELX:
		*before = 2;
		return true;
	case R_X86_64_REX_GOTPCRELX:
	case R_X86_64_GOTTPOFF:
	case R_X86_64_GOTPC32_TLSDESC:
		*before = 3;
		return true;
	case R_X86_64_TLSDESC_CALL:
		*after = 2;
		return true;
	case R_X86_64_TLSGD:
		*before = 4;
		*after = 12;
		return true;
	case R_X86_64_TLSLD:
		*before = 3;
		*after = 9;
		return true;
	default:
		return false;
	}
}

static const char *name_text(const struct member *m, const GElf_Sym *sym)
{
	const char *text = elf_strptr(m->elf, m->strings, sym->st_name);

	return text ? text : "";
}

/* What the symbol stands for: a name, or (of a local one) code of this member. */
static void lead(const struct member *m, const GElf_Sym *sym, struct sym_archive_hole *h)
{
	const char *text = name_text(m, sym);

	h->name = h->piece = SYM_ARCHIVE_NONE;
	if (GELF_ST_BIND(sym->st_info) != STB_LOCAL)
		h->name = *text ? add_name(m->a, text, false) : SYM_ARCHIVE_NONE;
	else if (sym->st_shndx < m->nr_sections)
		h->piece = m->piece_of[sym->st_shndx];
	h->value = (uint32_t)sym->st_value;
}

static int compare_holes(const void *pa, const void *pb)
{
	const struct sym_archive_hole *a = pa, *b = pb;

	return (a->begin > b->begin) - (a->begin < b->begin);
}

/* False: what the linker does there is not known, so the piece is useless. */
static bool add_holes(struct member *m, struct sym_archive_piece *p, Elf_Data *relocations, size_t entry)
{
	struct sym_archive *a = m->a;
	size_t nr = entry ? relocations->d_size / entry : 0;

	p->hole = a->nr_holes;
	for (size_t i = 0; i < nr; i++) {
		struct sym_archive_hole h = { 0 };
		int before, after;
		GElf_Rela rel;
		GElf_Sym sym;

		if (!gelf_getrela(relocations, i, &rel) || !gelf_getsym(m->symbols, GELF_R_SYM(rel.r_info), &sym))
			return false;
		h.type = GELF_R_TYPE(rel.r_info);
		if (h.type == R_X86_64_NONE)
			continue;
		if (!hole_of(h.type, &before, &after) || rel.r_offset > p->size || p->size - rel.r_offset < 4)
			return false;
		h.field = (uint32_t)rel.r_offset;
		h.begin = h.field > (uint32_t)before ? h.field - before : 0;
		h.end = h.field + after < p->size ? h.field + after : p->size;
		h.addend = rel.r_addend;
		lead(m, &sym, &h);
		if (!ARRAY_RESERVE(a->holes, a->size_holes, a->nr_holes + 1)) {
			a->no_memory = true;
			return false;
		}
		a->holes[a->nr_holes++] = h;
		p->nr_holes++;
	}
	if (p->nr_holes)
		qsort(a->holes + p->hole, p->nr_holes, sizeof(*a->holes), compare_holes);
	return true;
}

/* The middle of the longest run of fixed bytes: functions begin and end alike. */
static void find_anchor(const struct sym_archive *a, struct sym_archive_piece *p)
{
	uint32_t from = 0, longest = 0;

	p->fixed = 0;
	p->anchor = SYM_ARCHIVE_NONE;
	for (uint32_t i = 0; i <= p->nr_holes; i++) {
		const struct sym_archive_hole *h = i < p->nr_holes ? &a->holes[p->hole + i] : NULL;
		uint32_t to = h ? h->begin : p->size;

		if (to > from) {
			p->fixed += to - from;
			if (to - from > longest) {
				longest = to - from;
				p->anchor = longest < 8 ? SYM_ARCHIVE_NONE : from + (longest - 8) / 2;
			}
		}
		if (h && h->end > from)
			from = h->end;
	}
}

static void add_function(struct member *m, const GElf_Sym *sym)
{
	struct sym_archive *a = m->a;
	uint32_t piece = sym->st_shndx < m->nr_sections ? m->piece_of[sym->st_shndx] : SYM_ARCHIVE_NONE;
	unsigned int type = GELF_ST_TYPE(sym->st_info), bind = GELF_ST_BIND(sym->st_info);
	const char *text = name_text(m, sym);
	struct sym_archive_function *f;
	uint32_t name;

	if (piece == SYM_ARCHIVE_NONE || !*text || sym->st_value >= a->pieces[piece].size ||
	    (type != STT_FUNC && type != STT_GNU_IFUNC && (type != STT_NOTYPE || bind == STB_LOCAL)))
		return;
	name = add_name(a, text, bind == STB_LOCAL);
	if (name == SYM_ARCHIVE_NONE || !ARRAY_RESERVE(a->functions, a->size_functions, a->nr_functions + 1)) {
		a->no_memory = true;
		return;
	}
	f = &a->functions[a->nr_functions];
	*f = (struct sym_archive_function){ .name = name, .piece = piece, .value = (uint32_t)sym->st_value,
					    .size = (uint32_t)sym->st_size, .bind = bind,
					    .type = type == STT_NOTYPE ? STT_FUNC : type };
	a->nr_functions++;
	a->names[name].selects |= type == STT_GNU_IFUNC;
}

static int compare_functions(const void *pa, const void *pb)
{
	const struct sym_archive_function *a = pa, *b = pb;

	return a->piece != b->piece ? (a->piece < b->piece ? -1 : 1) : (a->value > b->value) - (a->value < b->value);
}

/* Those of each piece in a row; one that says no size (assembler's) ends where the next one begins. */
static void arrange_functions(struct sym_archive *a, uint32_t from)
{
	uint32_t end = 0;

	if (a->nr_functions > from)
		qsort(a->functions + from, a->nr_functions - from, sizeof(*a->functions), compare_functions);
	for (uint32_t i = a->nr_functions; i-- > from;) {
		struct sym_archive_function *f = &a->functions[i];
		struct sym_archive_piece *p = &a->pieces[f->piece];

		if (!p->nr_functions)
			end = p->size;
		else if (f[1].value != f->value)
			end = f[1].value;
		if (!f->size)
			f->size = end - f->value;
		p->nr_functions++;
		p->function = i;
	}
}

/* By name, in all of the archive. */
static void link_functions(struct sym_archive *a)
{
	for (uint32_t i = 0; i < a->nr_names; i++)
		a->names[i].function = SYM_ARCHIVE_NONE;
	for (uint32_t i = a->nr_functions; i-- > 0;) {
		struct sym_archive_name *n = &a->names[a->functions[i].name];

		a->functions[i].next = n->function;
		n->function = i;
	}
}

static bool find_pieces(struct member *m)
{
	struct sym_archive *a = m->a;
	GElf_Shdr sh;
	size_t n = 0;

	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(m->elf, scn)) && gelf_getshdr(scn, &sh);) {
		Elf_Data *data;

		n = elf_ndxscn(scn);
		if (sh.sh_type == SHT_SYMTAB) {
			m->symbols = elf_getdata(scn, NULL);
			m->strings = sh.sh_link;
		}
		if (sh.sh_type != SHT_PROGBITS || !(sh.sh_flags & SHF_EXECINSTR) || !sh.sh_size || sh.sh_size > UINT32_MAX / 2)
			continue;
		data = elf_getdata(scn, NULL);
		if (!data || !data->d_buf || data->d_size != sh.sh_size || n >= m->nr_sections)
			continue;
		if (!ARRAY_RESERVE(a->pieces, a->size_pieces, a->nr_pieces + 1)) {
			a->no_memory = true;
			return false;
		}
		a->pieces[a->nr_pieces] = (struct sym_archive_piece){
			.bytes = data->d_buf, .size = (uint32_t)data->d_size, .start = m->start, .member = a->nr_members,
			.align = sh.sh_addralign ? (uint32_t)sh.sh_addralign : 1,
		};
		m->piece_of[n] = a->nr_pieces++;
	}
	return m->symbols;
}

static void read_pieces(struct member *m, uint32_t first)
{
	struct sym_archive *a = m->a;
	uint32_t functions = a->nr_functions;
	GElf_Shdr sh;
	GElf_Sym sym;

	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(m->elf, scn)) && gelf_getshdr(scn, &sh);) {
		uint32_t piece = sh.sh_type == SHT_RELA && sh.sh_info < m->nr_sections ? m->piece_of[sh.sh_info] :
											 SYM_ARCHIVE_NONE;
		Elf_Data *data = piece == SYM_ARCHIVE_NONE ? NULL : elf_getdata(scn, NULL);

		/* nothing is as long as that, so it is nowhere */
		if (piece != SYM_ARCHIVE_NONE && (!data || !add_holes(m, &a->pieces[piece], data, sh.sh_entsize)))
			a->pieces[piece].size = UINT32_MAX;
	}
	for (size_t i = 1; gelf_getsym(m->symbols, (int)i, &sym); i++)
		add_function(m, &sym);
	arrange_functions(a, functions);
	for (uint32_t i = first; i < a->nr_pieces; i++)
		if (a->pieces[i].size != UINT32_MAX)
			find_anchor(a, &a->pieces[i]);
		else
			a->pieces[i].anchor = SYM_ARCHIVE_NONE;
}

static void add_member(struct sym_archive *a, Elf *elf, bool start)
{
	struct member m = { .a = a, .elf = elf, .start = start };
	uint32_t first = a->nr_pieces;
	GElf_Ehdr eh;

	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &eh) || eh.e_machine != EM_X86_64 || eh.e_type != ET_REL ||
	    gelf_getclass(elf) != ELFCLASS64 || elf_getshdrnum(elf, &m.nr_sections))
		return;
	m.piece_of = malloc((m.nr_sections + 1) * sizeof(*m.piece_of));
	if (!m.piece_of) {
		a->no_memory = true;
		return;
	}
	a->nr_members++;
	memset(m.piece_of, 0xff, m.nr_sections * sizeof(*m.piece_of));
	if (find_pieces(&m) && a->nr_pieces > first)
		read_pieces(&m, first);
	else
		a->nr_pieces = first;
	free(m.piece_of);
}

static void add_members(struct sym_archive *a, struct sym_archive_file *file, bool start)
{
	Elf_Cmd cmd = ELF_C_READ_MMAP_PRIVATE;

	if (elf_kind(file->elf) != ELF_K_AR) {
		add_member(a, file->elf, start);
		return;
	}
	while (cmd != ELF_C_NULL && !a->no_memory) {
		Elf *elf = elf_begin(file->fd, cmd, file->elf);

		if (!elf)
			break;
		if (!ARRAY_RESERVE(file->members, file->size_members, file->nr_members + 1)) {
			a->no_memory = true;
			elf_end(elf);
			break;
		}
		file->members[file->nr_members++] = elf;
		add_member(a, elf, start);
		cmd = elf_next(elf);
	}
}

bool sym_archive_add(struct sym_archive *a, const char *path, bool start)
{
	struct sym_archive_file *file = calloc(1, sizeof(*file));
	uint32_t before = a->nr_pieces;

	if (!file)
		return false;
	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	file->elf = file->fd >= 0 ? elf_begin(file->fd, ELF_C_READ_MMAP_PRIVATE, NULL) : NULL;
	file->next = a->files;
	a->files = file;
	if (file->elf)
		add_members(a, file, start);
	link_functions(a);
	return a->nr_pieces > before && !a->no_memory;
}

void sym_archive_free(struct sym_archive *a)
{
	while (a->files) {
		struct sym_archive_file *file = a->files;

		a->files = file->next;
		for (size_t i = 0; i < file->nr_members; i++)
			elf_end(file->members[i]);
		free(file->members);
		elf_end(file->elf);
		if (file->fd >= 0)
			close(file->fd);
		free(file);
	}
	free(a->pieces);
	free(a->holes);
	free(a->functions);
	free(a->names);
	id_map_free(&a->name_of);
	*a = (struct sym_archive){ 0 };
}
