/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * code.c - the file behind a catalogue: segments, bounds of functions; lookups
 *
 * code_open() first: bounds of functions come from symbols and .eh_frame (code_bounds()),
 * code_scan.c decodes what lies within them, code_cache.c keeps the result.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>
#include "lib/base/array.h"
#include "probes/code_internal.h"

uint64_t code_vaddr(const struct code *c, uint64_t offset)
{
	for (uint32_t i = 0; i < c->nr_segments; i++) {
		const struct code_segment *s = &c->segments[i];

		if (s->exec && offset >= s->offset && offset - s->offset < s->filesz)
			return s->vaddr + (offset - s->offset);
	}
	return UINT64_MAX;
}

uint64_t code_offset(const struct code *c, uint64_t vaddr)
{
	for (uint32_t i = 0; i < c->nr_segments; i++) {
		const struct code_segment *s = &c->segments[i];

		if (s->exec && vaddr >= s->vaddr && vaddr - s->vaddr < s->filesz)
			return s->offset + (vaddr - s->vaddr);
	}
	return UINT64_MAX;
}

bool code_is_const(const struct code *c, uint64_t vaddr)
{
	if (vaddr >= c->relro_start && vaddr < c->relro_end)
		return true;
	for (uint32_t i = 0; i < c->nr_segments; i++) {
		const struct code_segment *s = &c->segments[i];

		if (vaddr >= s->vaddr && vaddr - s->vaddr < s->memsz)
			return !s->write;
	}
	return false;
}

/* ---- bounds of functions ---- */

struct bounds {
	struct code_function *list;
	size_t nr, size;
};

static int add_bounds(struct bounds *b, const struct code *c, uint64_t vaddr, uint64_t size)
{
	uint64_t offset = code_offset(c, vaddr);

	/* the file is wrong about a function that would leave its segment */
	if (!size || offset == UINT64_MAX || code_offset(c, vaddr + size - 1) != offset + size - 1)
		return 0;
	if (!ARRAY_RESERVE(b->list, b->size, b->nr + 1))
		return -ENOMEM;
	b->list[b->nr++] = (struct code_function){ .start = offset, .end = offset + size };
	return 0;
}

static int symbol_bounds(struct bounds *b, const struct code *c, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t nr = data && sh->sh_entsize ? data->d_size / sh->sh_entsize : 0;
	GElf_Sym sym;
	int ret = 0;

	for (size_t i = 0; i < nr && !ret; i++) {
		if (!gelf_getsym(data, i, &sym) || sym.st_shndx == SHN_UNDEF)
			continue;
		if (GELF_ST_TYPE(sym.st_info) == STT_FUNC || GELF_ST_TYPE(sym.st_info) == STT_GNU_IFUNC)
			ret = add_bounds(b, c, sym.st_value, sym.st_size);
	}
	return ret;
}

/* Bytes of a pointer in that encoding; 0: not a fixed number. */
static int pointer_size(uint8_t encoding)
{
	switch (encoding & 0xf) {
	case DW_EH_PE_absptr: case DW_EH_PE_udata8: case DW_EH_PE_sdata8:
		return 8;
	case DW_EH_PE_udata4: case DW_EH_PE_sdata4:
		return 4;
	case DW_EH_PE_udata2: case DW_EH_PE_sdata2:
		return 2;
	}
	return 0;
}

static uint8_t fde_encoding(const Dwarf_CIE *cie)
{
	const uint8_t *p = cie->augmentation_data, *end = p + cie->augmentation_data_size;

	if (!cie->augmentation || cie->augmentation[0] != 'z')
		return DW_EH_PE_absptr;
	for (const char *a = cie->augmentation + 1; *a && p < end; a++) {
		switch (*a) {
		case 'R':
			return *p;
		case 'L':
			p++;
			break;
		case 'P':
			if (!pointer_size(*p))
				return DW_EH_PE_omit;
			p += 1 + pointer_size(*p);
			break;
		case 'S': case 'B':
			break;
		default:
			return DW_EH_PE_omit;
		}
	}
	return DW_EH_PE_absptr;
}

static int64_t read_pointer(const uint8_t *p, uint8_t encoding)
{
	union {
		uint64_t u8;
		int32_t s4;
		uint32_t u4;
		int16_t s2;
		uint16_t u2;
	} v = { 0 };

	memcpy(&v, p, pointer_size(encoding));
	switch (encoding & 0xf) {
	case DW_EH_PE_udata4:
		return v.u4;
	case DW_EH_PE_sdata4:
		return v.s4;
	case DW_EH_PE_udata2:
		return v.u2;
	case DW_EH_PE_sdata2:
		return v.s2;
	}
	return v.u8;
}

static int frame_bounds(struct bounds *b, const struct code *c, Elf *elf, Elf_Data *data, uint64_t vaddr)
{
	const unsigned char *ident = (const unsigned char *)elf_getident(elf, NULL);
	Dwarf_Off off = 0, next, cie_at = UINT64_MAX;
	uint8_t encoding = DW_EH_PE_omit;
	Dwarf_CFI_Entry e, cie;
	int ret;

	for (; !dwarf_next_cfi(ident, data, true, off, &next, &e) && next > off; off = next) {
		const uint8_t *p;
		uint64_t start;
		int size;

		if (dwarf_cfi_cie_p(&e))
			continue;
		if (e.fde.CIE_pointer != cie_at) {
			Dwarf_Off unused;

			cie_at = e.fde.CIE_pointer;
			encoding = dwarf_next_cfi(ident, data, true, cie_at, &unused, &cie) || !dwarf_cfi_cie_p(&cie) ?
				   DW_EH_PE_omit : fde_encoding(&cie.cie);
		}
		size = encoding == DW_EH_PE_omit ? 0 : pointer_size(encoding);
		p = e.fde.start;
		if (!size || e.fde.end - p < 2 * size)
			continue;
		start = read_pointer(p, encoding);
		if ((encoding & 0x70) == DW_EH_PE_pcrel)
			start += vaddr + (p - (const uint8_t *)data->d_buf);
		else if ((encoding & 0x70) != DW_EH_PE_absptr)
			continue;
		/* the length has the format of the pointer, but is no address and has no sign */
		ret = add_bounds(b, c, start, read_pointer(p + size, encoding & 7));
		if (ret)
			return ret;
	}
	return 0;
}

/* Without section headers .eh_frame is found as the unwinder does: by its index's segment. */
static int frames_by_segment(struct bounds *b, const struct code *c, Elf *elf, const GElf_Phdr *index)
{
	size_t size;
	const char *raw = elf_rawfile(elf, &size);
	uint64_t vaddr;
	Elf_Data *data;
	int32_t rel;

	if (!raw || index->p_filesz < 8 || index->p_offset > size || size - index->p_offset < 8 ||
	    (uint8_t)raw[index->p_offset + 1] != (DW_EH_PE_pcrel | DW_EH_PE_sdata4))
		return 0;
	memcpy(&rel, raw + index->p_offset + 4, sizeof(rel));
	vaddr = index->p_vaddr + 4 + rel;
	for (uint32_t i = 0; i < c->nr_segments; i++) {
		const struct code_segment *s = &c->segments[i];

		if (vaddr < s->vaddr || vaddr - s->vaddr >= s->filesz)
			continue;
		data = elf_getdata_rawchunk(elf, s->offset + (vaddr - s->vaddr),
					    s->filesz - (vaddr - s->vaddr), ELF_T_BYTE);
		return data ? frame_bounds(b, c, elf, data, vaddr) : 0;
	}
	return 0;
}

static int compare_bounds(const void *pa, const void *pb)
{
	const struct code_function *a = pa, *b = pb;

	return a->start != b->start ? (a->start < b->start ? -1 : 1) : (a->end > b->end) - (a->end < b->end);
}

/*
 * Symbols may lie inside of one another (several entries of one function): each begins a stretch of its
 * own, which ends where the next begins, and goes on to the end of the outermost.
 */
static uint32_t cut(struct code_function *f, size_t nr)
{
	uint32_t n = 0, end = 0;

	if (nr)
		qsort(f, nr, sizeof(*f), compare_bounds);
	for (size_t i = 0; i < nr; i++) {
		if (f[i].end > end)
			end = f[i].end;
		if (n && f[n - 1].start == f[i].start) {
			f[n - 1].end = end;
			continue;
		}
		if (n && f[n - 1].end > f[i].start)
			f[n - 1].end = f[i].start;
		f[n++] = (struct code_function){ .start = f[i].start, .end = end };
	}
	return n;
}

/* Sections of the linker's jumps to other files, and to what a static program chooses at its start. */
struct jumps {
	struct code_function list[8];
	uint32_t nr;
};

static void note_jumps(struct jumps *j, const char *name, const GElf_Shdr *sh)
{
	if (j->nr < sizeof(j->list) / sizeof(j->list[0]) && sh->sh_flags & SHF_EXECINSTR &&
	    (!strncmp(name, ".plt", 4) || !strcmp(name, ".iplt")))
		j->list[j->nr++] = (struct code_function){ sh->sh_offset, sh->sh_offset + sh->sh_size };
}

/* Without section headers: it begins with jmp *ADDRESS(%rip), perhaps behind endbr64, bnd or a push of the same kind. */
static bool looks_like_jump(int fd, uint32_t offset)
{
	uint8_t b[16] = { 0 }, *p = b;

	if (pread(fd, b, sizeof(b), offset) <= 0)
		return false;
	if (!memcmp(p, "\xf3\x0f\x1e\xfa", 4))
		p += 4;
	if (!memcmp(p, "\xff\x35", 2))
		p += 6;
	if (*p == 0xf2)
		p++;
	return !memcmp(p, "\xff\x25", 2);
}

/* They load addresses that the loader has stored: no data of the program's. */
static uint32_t leave_out(struct code_function *f, uint32_t nr, const struct jumps *j, int fd, bool sections)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < nr; i++) {
		bool jump = !sections && looks_like_jump(fd, f[i].start);

		for (uint32_t k = 0; k < j->nr; k++)
			jump |= f[i].start >= j->list[k].start && f[i].start < j->list[k].end;
		if (!jump)
			f[n++] = f[i];
	}
	return n;
}

int code_bounds(struct code *c, int fd, struct code_function **list, uint32_t *nr)
{
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	struct bounds b = { 0 };
	struct jumps jumps = { .nr = 0 };
	bool frames = false, sections = false;
	size_t names, n;
	GElf_Phdr ph;
	int ret = 0;

	if (!elf)
		return -ENOEXEC;
	if (!elf_getshdrstrndx(elf, &names)) {
		for (Elf_Scn *scn = NULL; !ret && (scn = elf_nextscn(elf, scn));) {
			GElf_Shdr sh;
			const char *name;
			Elf_Data *data;

			if (!gelf_getshdr(scn, &sh) || sh.sh_type == SHT_NOBITS)
				continue;
			sections = true;
			if (sh.sh_type == SHT_SYMTAB || sh.sh_type == SHT_DYNSYM) {
				ret = symbol_bounds(&b, c, scn, &sh);
				continue;
			}
			name = elf_strptr(elf, names, sh.sh_name);
			if (name)
				note_jumps(&jumps, name, &sh);
			if (name && !strcmp(name, ".eh_frame") && (data = elf_getdata(scn, NULL)) && data->d_buf) {
				frames = true;
				ret = frame_bounds(&b, c, elf, data, sh.sh_addr);
			}
		}
	}
	if (!ret && !frames && !elf_getphdrnum(elf, &n))
		for (size_t i = 0; i < n && !ret; i++)
			if (gelf_getphdr(elf, i, &ph) && ph.p_type == PT_GNU_EH_FRAME)
				ret = frames_by_segment(&b, c, elf, &ph);
	elf_end(elf);
	if (ret) {
		free(b.list);
		return ret;
	}
	*nr = leave_out(b.list, cut(b.list, b.nr), &jumps, fd, sections);
	*list = b.list;
	return 0;
}

/* ---- opening ---- */

int code_segments(struct code *c, Elf *elf)
{
	GElf_Ehdr eh;
	GElf_Phdr ph;
	size_t n;

	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &eh) || eh.e_machine != EM_X86_64 ||
	    gelf_getclass(elf) != ELFCLASS64 || (eh.e_type != ET_EXEC && eh.e_type != ET_DYN) ||
	    elf_getphdrnum(elf, &n))
		return -ENOEXEC;
	c->segments = calloc(n + 1, sizeof(*c->segments));
	if (!c->segments)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (!gelf_getphdr(elf, i, &ph))
			return -ENOEXEC;
		if (ph.p_type == PT_GNU_RELRO) {
			c->relro_start = ph.p_vaddr;
			c->relro_end = ph.p_vaddr + ph.p_memsz;
		}
		if (ph.p_type == PT_LOAD)
			c->segments[c->nr_segments++] = (struct code_segment){
				.offset = ph.p_offset, .vaddr = ph.p_vaddr, .filesz = ph.p_filesz,
				.memsz = ph.p_memsz, .exec = ph.p_flags & PF_X, .write = ph.p_flags & PF_W,
			};
	}
	return 0;
}

void code_build_id(Elf *elf, char *id, size_t len)
{
	const void *bytes;
	ssize_t n = dwelf_elf_gnu_build_id(elf, &bytes);

	id[0] = 0;
	for (ssize_t i = 0; i < n && (size_t)(2 * i + 3) <= len; i++)
		sprintf(id + 2 * i, "%02x", ((const unsigned char *)bytes)[i]);
}

static void count(struct code *c)
{
	memset(c->stats.places, 0, sizeof(c->stats.places));
	for (uint32_t i = 0; i < c->nr_places; i++)
		c->stats.places[c->places[i].kind]++;
	c->stats.functions = c->nr_functions;
}

int code_open(struct code **out, const char *path, struct symfile *file, enum code_cache cache, char *err, size_t errlen)
{
	struct code_function *list = NULL;
	struct code *c = calloc(1, sizeof(*c));
	void *map = MAP_FAILED;
	uint32_t nr = 0;
	Elf *elf = NULL;
	struct stat st;
	char id[140];
	int fd = -1, ret = -ENOMEM;

	*out = NULL;
	if (!c)
		goto fail;
	elf_version(EV_CURRENT);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st)) {
		ret = -errno;
		goto fail;
	}
	ret = -EFBIG;
	if ((uint64_t)st.st_size >= UINT32_MAX)
		goto fail;
	ret = -ENOEXEC;
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!elf)
		goto fail;
	ret = code_segments(c, elf);
	if (ret)
		goto fail;
	code_build_id(elf, id, sizeof(id));
	c->archive = file ? symfile_archive(file) : 0;
	if (cache == CODE_CACHE && !code_cache_read(c, id, &st)) {
		c->stats.cached = true;
		goto done;
	}
	map = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED) {
		ret = -errno;
		goto fail;
	}
	ret = code_bounds(c, fd, &list, &nr);
	if (!ret)
		ret = code_targets(c, elf, c->archive ? file : NULL);
	if (!ret)
		ret = code_scan(c, map, st.st_size, list, nr);
	if (ret)
		goto fail;
	count(c);
	if (cache != CODE_CACHE_NONE)
		code_cache_write(c, id, &st);
done:
	ret = 0;
	*out = c;
	c = NULL;
fail:
	if (ret == -ENOEXEC)
		snprintf(err, errlen, "%s: not a program or shared library for x86-64", path);
	else if (ret)
		snprintf(err, errlen, "%s: cannot be disassembled: %s", path, strerror(-ret));
	if (map != MAP_FAILED)
		munmap(map, st.st_size);
	free(list);
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	code_free(c);
	return ret;
}

void code_free(struct code *c)
{
	if (!c)
		return;
	free(c->places);
	free(c->functions);
	free(c->segments);
	free(c->targets);
	free(c);
}

/* ---- looking up ---- */

void code_get_stats(const struct code *c, struct code_stats *s)
{
	*s = c->stats;
}

uint32_t code_nr(const struct code *c)
{
	return c->nr_places;
}

const struct code_place *code_at(const struct code *c, uint32_t i)
{
	return i < c->nr_places ? &c->places[i] : NULL;
}

void code_set_plain(struct code *c, uint32_t i)
{
	c->places[i].flags &= ~CODE_SHARED;
}

const struct code_place *code_find(const struct code *c, uint64_t offset)
{
	uint32_t i = ARRAY_FROM(c->nr_places, n, c->places[n].offset < offset);

	return i < c->nr_places && c->places[i].offset == offset ? &c->places[i] : NULL;
}

const struct code_function *code_function_in(const struct code_function *list, uint32_t nr, uint64_t offset)
{
	uint32_t i = ARRAY_FROM(nr, n, list[n].end <= offset);

	return i < nr && list[i].start <= offset ? &list[i] : NULL;
}

const struct code_function *code_function(const struct code *c, uint64_t offset)
{
	return code_function_in(c->functions, c->nr_functions, offset);
}

bool code_static_operand(const struct code *c, const struct code_place *p, uint64_t *vaddr)
{
	if ((p->flags & (CODE_NO_ADDR | CODE_TLS)) || p->index != CODE_NO_REG)
		return false;
	if (p->base == CODE_RIP)
		*vaddr = code_vaddr(c, p->offset) + p->len + p->disp;
	else if (p->base == CODE_NO_REG)
		*vaddr = (int64_t)p->disp;
	else
		return false;
	return true;
}

uint8_t code_dwarf_register(uint8_t nr)
{
	/* the order differs in the first eight: rax rdx rcx rbx rsi rdi rbp rsp */
	static const uint8_t dwarf[16] = { 0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15 };

	return nr < 16 ? dwarf[nr] : CODE_NO_REG;
}

uint64_t code_register(const uint64_t *regs, uint8_t nr)
{
	return regs[code_dwarf_register(nr & 15)];
}

uint16_t code_second(const struct code_place *p)
{
	const bool copies = p->base == CODE_RDI && (p->flags & CODE_READ) && (p->flags & CODE_WRITE);

	switch (p->kind) {
	case CODE_STRING:
		return copies ? CODE_READ : 0;
	case CODE_BLOCK:
		return p->index == CODE_NO_REG ? code_block_access(p->size)->second : CODE_READ;
	default:
		return 0;
	}
}

uint8_t code_second_register(const struct code_place *p)
{
	return p->kind == CODE_BLOCK && p->index != CODE_NO_REG ? p->index : CODE_RSI;
}

const char *code_kind_name(enum code_kind kind)
{
	static const char *const names[CODE_NR_KINDS] = {
		[CODE_LOAD] = "load", [CODE_STORE] = "store", [CODE_RMW] = "read-modify-write",
		[CODE_LOCK] = "locked", [CODE_XCHG] = "xchg", [CODE_STRING] = "string",
		[CODE_PAUSE] = "pause", [CODE_FENCE] = "fence", [CODE_TIME] = "time",
		[CODE_RANDOM] = "random", [CODE_BLOCK] = "call", [CODE_CALL] = "lock",
	};

	return (unsigned int)kind < CODE_NR_KINDS && names[kind] ? names[kind] : "none";
}
