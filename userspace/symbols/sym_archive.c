// SPDX-License-Identifier: GPL-2.0-only
/*
 * sym_archive.c - names for the C library's functions in a static program that was stripped
 *
 * The library's archive is usually there that the program was linked with. Read sym_archive.h first. Long pieces are found by
 * their bytes (find_places()), and some are not what they look like. So what each piece calls has to be where the program has
 * it (drop_disputed()), and a piece has to lie among others. What a known piece refers to is known by that (follow()), also
 * functions that are too short to be told by their bytes. The short ones that nothing of the library calls are sought between
 * the others, where nothing but the archive's pieces lies (fill_gaps()). Where two pieces or two places are possible there is
 * no name, and there is none at all where the function that every program begins with is not among them.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "lib/base/array.h"
#include "lib/base/hash.h"
#include "symbols/sym_archive.h"

/* Of so many fixed bytes a piece is known by itself; of so many between others, and of so many with what it calls. */
#define LONG		32
#define SHORT		16
#define SHORT_CALLS	7
/* Functions begin at multiples of it. */
#define ALIGN		16
/* In the library's code there are not so many bytes in a row without a name; in front of it lies the program's. */
#define GAP_MAX		(64 << 10)
/* Fewer pieces than that are no C library. */
#define PIECES_MIN	8

/* The program's code, and what was found in it. */
struct match {
	struct symfile *f;
	struct sym_archive *a;
	const uint8_t *code;	/* of the segment that the program begins in */
	uint64_t vaddr, size;
	bool fixed;		/* it is always at these addresses */
	uint8_t *taken;		/* by byte: a piece that is known lies there */
	struct id_map selected;	/* words of the program that get the address that an IFUNC says: which of selectors */
	uint64_t *selectors;	/* where these functions are */
	uint32_t nr_selectors, size_selectors;
	uint32_t *todo;		/* pieces whose references are to be followed */
	uint32_t nr_todo;
};

/* The holes of a piece apart, these bytes are there. */
static bool fits(const struct match *m, const struct sym_archive_piece *p, uint64_t at)
{
	const struct sym_archive_hole *h = m->a->holes + p->hole;
	const uint8_t *code;
	uint32_t from = 0;

	if (at < m->vaddr || at - m->vaddr > m->size || p->size > m->size - (at - m->vaddr) || at & (p->align - 1))
		return false;
	code = m->code + (at - m->vaddr);
	for (uint32_t i = 0; i < p->nr_holes; i++) {
		if (h[i].begin > from && memcmp(code + from, p->bytes + from, h[i].begin - from))
			return false;
		from = h[i].end > from ? h[i].end : from;
	}
	return from >= p->size || !memcmp(code + from, p->bytes + from, p->size - from);
}

static bool is_free(const struct match *m, const struct sym_archive_piece *p, uint64_t at)
{
	return !memchr(m->taken + (at - m->vaddr), 1, p->size);
}

static void mark(struct match *m, const struct sym_archive_piece *p, bool taken)
{
	memset(m->taken + (p->at - m->vaddr), taken, p->size);
}

static void know(struct match *m, uint32_t piece, uint64_t at)
{
	m->a->pieces[piece].at = at;
	mark(m, &m->a->pieces[piece], true);
	m->todo[m->nr_todo++] = piece;
}

static int32_t read32(const uint8_t *p)
{
	int32_t x;

	memcpy(&x, p, sizeof(x));
	return x;
}

/* Where the program has what a hole of a piece at that address leads to; 0: that cannot be told. */
static uint64_t leads_to(const struct match *m, const struct sym_archive_hole *h, uint64_t at)
{
	const uint64_t vaddr = at + h->field;
	const uint8_t *field = m->code + (vaddr - m->vaddr);
	uint64_t relative = vaddr + read32(field) - h->addend;

	switch (h->type) {
	case R_X86_64_PC32:
	case R_X86_64_PLT32:
		return relative;
	case R_X86_64_32:
	case R_X86_64_32S:
		return m->fixed ? (uint64_t)(int64_t)read32(field) - h->addend : 0;
	case R_X86_64_GOTPCRELX:
	case R_X86_64_REX_GOTPCRELX:
		if (h->field < 2)
			return 0;
		/* the linker has made lea of mov, call and jmp (with a byte to fill it up), or mov of a constant */
		if (field[-2] == 0x8d || (field[-2] == 0x67 && field[-1] == 0xe8))
			return relative;
		if (field[-2] == 0xe9)
			return vaddr + 3 + read32(field - 1);
		return field[-2] == 0xc7 && m->fixed ? (uint64_t)(int64_t)read32(field) : 0;
	default:
		return 0;
	}
}

/* Words that hold the address of a function for this processor, with the IFUNC that chooses it. */
static void find_selectors(struct match *m)
{
	GElf_Shdr sh;
	GElf_Rela rel;

	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(m->f->elf, scn));) {
		Elf_Data *data = gelf_getshdr(scn, &sh) && sh.sh_type == SHT_RELA ? elf_getdata(scn, NULL) : NULL;

		for (int i = 0; data && gelf_getrela(data, i, &rel); i++) {
			if (GELF_R_TYPE(rel.r_info) != R_X86_64_IRELATIVE ||
			    !ARRAY_RESERVE(m->selectors, m->size_selectors, m->nr_selectors + 1) ||
			    !id_map_add(&m->selected, rel.r_offset, m->nr_selectors, NULL))
				continue;
			m->selectors[m->nr_selectors++] = rel.r_addend;
		}
	}
}

/* The IFUNC that chooses where the stub there jumps to (jmp *word, with endbr64 or bnd before it); 0: it is none. */
static uint64_t selector_behind(const struct match *m, uint64_t vaddr)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	const uint32_t *which;
	const uint8_t *code;

	if (vaddr < m->vaddr || vaddr - m->vaddr >= m->size || m->size - (vaddr - m->vaddr) < 16)
		return 0;
	code = m->code + (vaddr - m->vaddr);
	code += memcmp(code, endbr, sizeof(endbr)) ? 0 : sizeof(endbr);
	code += *code == 0xf2;
	if (code[0] != 0xff || code[1] != 0x25)
		return 0;
	which = id_map_find(&m->selected, m->vaddr + (code - m->code) + 6 + read32(code + 2));
	return which ? m->selectors[*which] : 0;
}

static uint64_t place_of(const struct match *m, const struct sym_archive_function *f)
{
	const struct sym_archive_piece *p = &m->a->pieces[f->piece];

	return p->at ? p->at + f->value : 0;
}

/* Where a name is, by what is known so far: by references, or else by the only piece that may have it. 0: not known. */
static uint64_t known_place(const struct match *m, uint32_t name)
{
	const struct sym_archive_name *n = &m->a->names[name];
	uint64_t strong = 0, weak = 0;
	uint32_t nr_weak = 0;

	if (n->at || n->doubtful)
		return n->doubtful ? 0 : n->at;
	for (uint32_t i = n->function; i != SYM_ARCHIVE_NONE; i = m->a->functions[i].next) {
		uint64_t at = place_of(m, &m->a->functions[i]);

		if (!at)
			continue;
		if (m->a->functions[i].bind != STB_WEAK)
			strong = at;
		else
			nr_weak++, weak = at;
	}
	return strong ? strong : nr_weak == 1 ? weak : 0;
}

enum says { NOTHING, AGREES, MISSES, DISAGREES };

/*
 * Whether what a hole of a piece leads to is there, if the piece is at that address. MISSES: it is something else, for the
 * program or another library of its has a function of that name as well, or this is not that piece.
 */
static enum says hole_says(const struct match *m, const struct sym_archive_hole *h, uint64_t at)
{
	const struct sym_archive *a = m->a;
	uint64_t to = leads_to(m, h, at);
	bool sought = false;

	if (!to)
		return NOTHING;
	if (h->name == SYM_ARCHIVE_NONE) {
		if (h->piece == SYM_ARCHIVE_NONE || !a->pieces[h->piece].at)
			return NOTHING;
		return a->pieces[h->piece].at + h->value == to ? AGREES : DISAGREES;
	}
	if (a->names[h->name].selects)
		to = selector_behind(m, to);
	if (!to || a->names[h->name].function == SYM_ARCHIVE_NONE)
		return NOTHING;
	if (known_place(m, h->name))
		return known_place(m, h->name) == to ? AGREES : DISAGREES;
	for (uint32_t i = a->names[h->name].function; i != SYM_ARCHIVE_NONE; i = a->functions[i].next) {
		const struct sym_archive_piece *p = &a->pieces[a->functions[i].piece];

		sought |= !p->at;
		if (!p->at && fits(m, p, to - a->functions[i].value))
			return p->fixed >= SHORT ? AGREES : NOTHING;
	}
	return sought ? MISSES : DISAGREES;
}

static void ask_holes(const struct match *m, const struct sym_archive_piece *p, uint64_t at, uint32_t *agree, uint32_t *miss,
		      uint32_t *disagree)
{
	*agree = *miss = *disagree = 0;
	for (uint32_t i = 0; i < p->nr_holes; i++) {
		enum says says = hole_says(m, &m->a->holes[p->hole + i], at);

		*agree += says == AGREES;
		*miss += says == MISSES;
		*disagree += says == DISAGREES;
	}
}

/* ---- by their bytes ---- */

#define BUCKETS 65536

static uint64_t read64(const uint8_t *p)
{
	uint64_t x;

	memcpy(&x, p, sizeof(x));
	return x;
}

static uint32_t bucket_of(uint64_t bytes)
{
	return (uint32_t)(bytes * 0x9e3779b97f4a7c15ull >> 48);
}

static void note_place(struct match *m, uint32_t first, uint64_t vaddr, uint64_t bytes)
{
	for (uint32_t i = first; i != SYM_ARCHIVE_NONE; i = m->a->pieces[i].same_anchor) {
		struct sym_archive_piece *p = &m->a->pieces[i];

		if (read64(p->bytes + p->anchor) != bytes || p->nr_places > 1 || vaddr < p->anchor || !fits(m, p, vaddr - p->anchor))
			continue;
		if (!p->nr_places++)
			p->place = vaddr - p->anchor;
	}
}

/* Where the pieces could be by their bytes, all of them in one pass over the code. 0 or -ENOMEM. */
static int find_places(struct match *m)
{
	uint32_t *buckets = malloc(BUCKETS * sizeof(*buckets));

	if (!buckets)
		return -ENOMEM;
	memset(buckets, 0xff, BUCKETS * sizeof(*buckets));
	for (uint32_t i = 0; i < m->a->nr_pieces; i++) {
		struct sym_archive_piece *p = &m->a->pieces[i];
		uint32_t *bucket = p->anchor == SYM_ARCHIVE_NONE ? NULL : &buckets[bucket_of(read64(p->bytes + p->anchor))];

		if (!bucket)
			continue;
		p->same_anchor = *bucket;
		*bucket = i;
	}
	for (uint64_t i = 0; i + 8 <= m->size; i++) {
		uint64_t bytes = read64(m->code + i);
		uint32_t first = buckets[bucket_of(bytes)];

		if (first != SYM_ARCHIVE_NONE)
			note_place(m, first, m->vaddr + i, bytes);
	}
	free(buckets);
	return 0;
}

/* The same functions at the same places: of two files that are alike. */
static bool are_alike(const struct sym_archive *a, const struct sym_archive_piece *p, const struct sym_archive_piece *q)
{
	if (p->size != q->size || p->nr_functions != q->nr_functions)
		return false;
	for (uint32_t i = 0; i < p->nr_functions; i++) {
		const struct sym_archive_function *x = &a->functions[p->function + i], *y = &a->functions[q->function + i];

		if (x->value != y->value || strcmp(a->names[x->name].text, a->names[y->name].text))
			return false;
	}
	return true;
}

/* Long pieces with one place, where no other piece could be. */
static void take_long(struct match *m)
{
	struct sym_archive *a = m->a;

	for (uint32_t i = 0; i < a->nr_pieces; i++) {
		struct sym_archive_piece *p = &a->pieces[i];
		bool sole = p->nr_places == 1 && p->fixed >= LONG;

		for (uint32_t k = 0; sole && k < a->nr_pieces; k++) {
			const struct sym_archive_piece *q = &a->pieces[k];

			sole = k == i || !q->nr_places || q->place >= p->place + p->size || p->place >= q->place + q->size ||
			       (k > i && q->place == p->place && are_alike(a, p, q));
		}
		if (sole)
			know(m, i, p->place);
	}
}

/* Takes those out whose references say that they, or others, are something else. */
static void drop_disputed(struct match *m)
{
	struct sym_archive *a = m->a;
	uint32_t agree, miss, disagree;
	bool again = true;

	while (again) {
		again = false;
		for (uint32_t i = 0; i < a->nr_pieces; i++) {
			struct sym_archive_piece *p = &a->pieces[i];

			if (!p->at)
				continue;
			ask_holes(m, p, p->at, &agree, &miss, &disagree);
			if (disagree && disagree >= agree) {
				mark(m, p, false);
				p->at = 0;
				again = true;
			}
		}
	}
}

/* ---- by others ---- */

/* A known piece refers to the name there: that is its place, if a piece that has it is there. */
static void note_reference(struct match *m, uint32_t name, uint64_t to)
{
	struct sym_archive *a = m->a;
	struct sym_archive_name *n = &a->names[name];

	to = n->selects ? selector_behind(m, to) : to;
	if (!to || n->doubtful || (n->at && n->at == to))
		return;
	if (n->at) {
		n->doubtful = true;
		return;
	}
	if (n->function == SYM_ARCHIVE_NONE && to >= m->vaddr && to - m->vaddr < m->size)
		n->at = to;
	for (uint32_t i = n->function; i != SYM_ARCHIVE_NONE; i = a->functions[i].next)
		if (place_of(m, &a->functions[i]) == to)
			n->at = to;
	for (uint32_t i = n->function; i != SYM_ARCHIVE_NONE && !n->at; i = a->functions[i].next) {
		struct sym_archive_piece *p = &a->pieces[a->functions[i].piece];

		if (p->at || !fits(m, p, to - a->functions[i].value) || !is_free(m, p, to - a->functions[i].value))
			continue;
		know(m, a->functions[i].piece, to - a->functions[i].value);
		n->at = to;
	}
	/* the program has a function of that name itself, or another library of its */
	n->doubtful |= n->function != SYM_ARCHIVE_NONE && !n->at;
}

/* What known pieces refer to becomes known. */
static void follow(struct match *m)
{
	struct sym_archive *a = m->a;

	while (m->nr_todo) {
		const struct sym_archive_piece *p = &a->pieces[m->todo[--m->nr_todo]];

		for (uint32_t i = 0; p->at && i < p->nr_holes; i++) {
			const struct sym_archive_hole *h = &a->holes[p->hole + i];
			uint64_t to = leads_to(m, h, p->at);
			struct sym_archive_piece *q;

			if (!to)
				continue;
			if (h->name != SYM_ARCHIVE_NONE) {
				note_reference(m, h->name, to);
				continue;
			}
			q = h->piece == SYM_ARCHIVE_NONE ? NULL : &a->pieces[h->piece];
			if (q && !q->at && fits(m, q, to - h->value) && is_free(m, q, to - h->value))
				know(m, h->piece, to - h->value);
		}
	}
}

/* ---- between others ---- */

/* Known pieces lie right before and right behind it, as far as they can with their alignment. */
static bool is_enclosed(const struct match *m, const struct sym_archive_piece *p, uint64_t at)
{
	const uint64_t begin = at - m->vaddr, end = begin + p->size;

	return begin >= ALIGN && m->size - end >= ALIGN && memchr(m->taken + begin - ALIGN, 1, ALIGN) &&
	       memchr(m->taken + end, 1, ALIGN);
}

/* In a gap: how much speaks for a piece there. 0: too little, or something against it. */
static uint32_t strength(const struct match *m, const struct sym_archive_piece *p, uint64_t at)
{
	uint32_t agree, miss, disagree;

	if (p->at || p->start || !fits(m, p, at) || !is_free(m, p, at))
		return 0;
	ask_holes(m, p, at, &agree, &miss, &disagree);
	if (miss || disagree)
		return 0;
	return p->fixed >= SHORT || (agree && (p->fixed + 4 * agree >= SHORT_CALLS || is_enclosed(m, p, at))) ?
	       p->fixed + 4 * agree : 0;
}

/* The only piece that may be there. */
static uint32_t sole_piece(const struct match *m, uint64_t at)
{
	const struct sym_archive *a = m->a;
	uint32_t found = SYM_ARCHIVE_NONE;

	for (uint32_t i = 0; i < a->nr_pieces; i++) {
		const struct sym_archive_piece *p = &a->pieces[i];

		/* most begin with other bytes */
		if (p->at || ((!p->nr_holes || a->holes[p->hole].begin) && p->bytes[0] != m->code[at - m->vaddr]) ||
		    !strength(m, p, at))
			continue;
		if (found != SYM_ARCHIVE_NONE)
			return SYM_ARCHIVE_NONE;
		found = i;
	}
	return found;
}

/*
 * Pieces of a member lie one behind the other. So the one behind (or before) a known one is told by its place, where what it
 * refers to is right. True: more is known than before.
 */
static bool take_neighbours(struct match *m)
{
	struct sym_archive *a = m->a;
	bool more = false;

	for (uint32_t i = 0; i + 1 < a->nr_pieces; i++) {
		struct sym_archive_piece *p = &a->pieces[i], *q = p + 1, *other = p->at ? q : p;
		uint32_t agree, miss, disagree;
		uint64_t at;

		if (p->member != q->member || !p->at == !q->at)
			continue;
		at = p->at ? p->at + p->size + q->align - 1 : q->at - p->size;
		at &= ~(uint64_t)(other->align - 1);
		if (!fits(m, other, at) || !is_free(m, other, at))
			continue;
		ask_holes(m, other, at, &agree, &miss, &disagree);
		if (!agree || miss || disagree)
			continue;
		know(m, (uint32_t)(other - a->pieces), at);
		more = true;
	}
	return more;
}

/* Notes which pieces may be where in the gap. */
static void look_in_gap(struct match *m, uint64_t from, uint64_t to)
{
	/* a piece that needs no alignment follows the one before it at once */
	for (uint64_t at = from; at < to; at = (at | (ALIGN - 1)) + 1) {
		uint32_t i = sole_piece(m, at);

		if (i != SYM_ARCHIVE_NONE && !m->a->pieces[i].nr_places++)
			m->a->pieces[i].place = at;
	}
}

/* The code of the archive, from its first piece behind the program's begin to its last one. */
static void bounds(const struct match *m, uint64_t *lo, uint64_t *hi)
{
	*lo = UINT64_MAX;
	*hi = 0;
	for (uint32_t i = 0; i < m->a->nr_pieces; i++) {
		const struct sym_archive_piece *p = &m->a->pieces[i];

		if (!p->at || p->start || p->at <= m->f->ehdr.e_entry)
			continue;
		*lo = p->at < *lo ? p->at : *lo;
		*hi = p->at + p->size > *hi ? p->at + p->size : *hi;
	}
}

static void fill_gaps(struct match *m)
{
	struct sym_archive *a = m->a;
	uint64_t lo, hi;
	bool again = true;

	while (again) {
		again = take_neighbours(m);
		follow(m);
		bounds(m, &lo, &hi);
		for (uint32_t i = 0; i < a->nr_pieces; i++)
			a->pieces[i].nr_places = 0;
		for (uint64_t at = lo; at < hi;) {
			const uint8_t *end = memchr(m->taken + (at - m->vaddr), 1, hi - at);
			uint64_t to = end ? m->vaddr + (end - m->taken) : hi;

			if (to > at)
				look_in_gap(m, at, to);
			end = memchr(m->taken + (to - m->vaddr), 0, hi - to);
			at = end ? m->vaddr + (end - m->taken) : hi;
		}
		for (uint32_t i = 0; i < a->nr_pieces; i++)
			if (a->pieces[i].nr_places == 1 && !a->pieces[i].at && is_free(m, &a->pieces[i], a->pieces[i].place)) {
				know(m, i, a->pieces[i].place);
				again = true;
			}
		follow(m);
	}
}

/* ---- the names ---- */

static int compare_places(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

/*
 * The program, or another library of its, may have a copy of a function of the C library's. What lies before the code of the
 * archive is not part of it.
 */
static int drop_others(struct match *m, uint64_t begin)
{
	struct sym_archive *a = m->a;
	uint64_t *places = malloc((a->nr_pieces + 1) * 2 * sizeof(*places)), lo = begin;
	size_t nr = 0;

	if (!places)
		return -ENOMEM;
	for (uint32_t i = 0; i < a->nr_pieces; i++)
		if (a->pieces[i].at && a->pieces[i].at < begin && a->pieces[i].at > m->f->ehdr.e_entry && !a->pieces[i].start) {
			places[2 * nr] = a->pieces[i].at;
			places[2 * nr++ + 1] = a->pieces[i].at + a->pieces[i].size;
		}
	if (nr)
		qsort(places, nr, 2 * sizeof(*places), compare_places);
	while (nr && lo - places[2 * nr - 1] <= GAP_MAX)
		lo = places[2 * --nr];
	free(places);
	for (uint32_t i = 0; i < a->nr_pieces; i++)
		if (a->pieces[i].at < lo && a->pieces[i].at > m->f->ehdr.e_entry && !a->pieces[i].start) {
			mark(m, &a->pieces[i], false);
			a->pieces[i].at = 0;
		}
	return 0;
}

/* Where the function begins with which the C library begins every program; 0: it is not there. */
static uint64_t library_begin(const struct match *m)
{
	uint32_t name = sym_archive_name(m->a, "__libc_start_main");

	return name == SYM_ARCHIVE_NONE ? 0 : known_place(m, name);
}

/* The start file that the program begins with, and what that refers to: main is the program's own. */
static void take_start(struct match *m)
{
	struct sym_archive *a = m->a;
	uint32_t name = sym_archive_name(a, "_start");

	for (uint32_t i = name == SYM_ARCHIVE_NONE ? name : a->names[name].function; i != SYM_ARCHIVE_NONE;
	     i = a->functions[i].next) {
		struct sym_archive_piece *p = &a->pieces[a->functions[i].piece];
		uint64_t at = m->f->ehdr.e_entry - a->functions[i].value;
		uint32_t agree, miss, disagree;

		if (!p->start || !fits(m, p, at) || !is_free(m, p, at))
			continue;
		ask_holes(m, p, at, &agree, &miss, &disagree);
		if (!miss && !disagree) {
			know(m, a->functions[i].piece, at);
			return;
		}
	}
}

static int recognise(struct match *m)
{
	uint32_t nr = 0;
	int ret = find_places(m);

	if (ret)
		return ret;
	take_long(m);
	drop_disputed(m);
	for (uint32_t i = 0; i < m->a->nr_pieces; i++)
		nr += m->a->pieces[i].at != 0;
	if (nr < PIECES_MIN || !library_begin(m))
		return -ENOENT;
	ret = drop_others(m, library_begin(m));
	if (ret)
		return ret;
	follow(m);
	take_start(m);
	follow(m);
	fill_gaps(m);
	return 0;
}

static void add_name(struct match *m, struct sym_list *l, const char *name, const struct sym *as)
{
	const char *copy = sym_string(&m->f->strings, name);

	if (!copy || !ARRAY_RESERVE(l->list, l->size, l->nr + 1))
		return;
	l->list[l->nr] = *as;
	l->list[l->nr++].name = copy;
}

/* The functions of known pieces, where a symbol table would have the name there. */
static void tell(struct match *m, struct sym_archive_names *names)
{
	const struct sym_archive *a = m->a;
	uint32_t main = sym_archive_name(a, "main");
	uint64_t end;

	for (uint32_t i = 0; i < a->nr_functions; i++) {
		const struct sym_archive_function *f = &a->functions[i];
		const struct sym_archive_name *n = &a->names[f->name];
		uint64_t at = place_of(m, f);

		if (at && (n->local || known_place(m, f->name) == at))
			add_name(m, &names->list, n->text,
				 &(struct sym){ .vaddr = at, .size = f->size, .type = f->type, .bind = f->bind });
	}
	if (main != SYM_ARCHIVE_NONE && a->names[main].at && !a->names[main].doubtful)
		add_name(m, &names->list, "main",
			 &(struct sym){ .vaddr = a->names[main].at, .type = STT_FUNC, .bind = STB_GLOBAL });
	bounds(m, &names->begin, &end);
}

/* The segment that the program begins in. */
static bool find_code(struct match *m)
{
	const uint64_t entry = m->f->ehdr.e_entry;
	size_t size;
	const char *file = elf_rawfile(m->f->elf, &size);

	for (size_t i = 0; file && i < m->f->nr_phdrs; i++) {
		const GElf_Phdr *p = &m->f->phdrs[i];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) || entry < p->p_vaddr || entry - p->p_vaddr >= p->p_filesz ||
		    p->p_offset > size || p->p_filesz > size - p->p_offset)
			continue;
		m->code = (const uint8_t *)file + p->p_offset;
		m->vaddr = p->p_vaddr;
		m->size = p->p_filesz;
		return true;
	}
	return false;
}

/* Where distributions put the archives of C libraries, with their start files. */
static const char *const folders[] = {
	"/usr/lib/x86_64-linux-musl", "/usr/lib/x86_64-linux-gnu", "/usr/lib/musl/lib", "/usr/local/musl/lib",
	"/usr/x86_64-linux-musl/lib64", "/usr/lib64", "/usr/lib",
};

static bool add_folder(struct sym_archive *a, const char *folder)
{
	static const char *const starts[] = { "crt1.o", "Scrt1.o", "rcrt1.o", "gcrt1.o" };
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/libc.a", folder);
	if (!sym_archive_add(a, path, false))
		return false;
	/* an older glibc has its threads in another one */
	snprintf(path, sizeof(path), "%s/libpthread.a", folder);
	sym_archive_add(a, path, false);
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, starts[i]);
		sym_archive_add(a, path, true);
	}
	return true;
}

bool sym_archive_look(struct symfile *f, const char *folder, struct sym_archive_names *names)
{
	struct sym_archive a = { 0 };
	struct match m = { .f = f, .a = &a, .fixed = f->ehdr.e_type == ET_EXEC };
	bool found = false;

	if (find_code(&m) && add_folder(&a, folder)) {
		find_selectors(&m);
		m.taken = calloc(m.size, 1);
		/* a piece that is dropped may become known once more */
		m.todo = malloc((a.nr_pieces + 1) * 2 * sizeof(*m.todo));
		found = m.taken && m.todo && !a.no_memory && !recognise(&m);
	}
	if (found)
		tell(&m, names);
	id_map_free(&m.selected);
	free(m.selectors);
	free(m.taken);
	free(m.todo);
	sym_archive_free(&a);
	return found;
}

/* A program that is complete in itself, with a C library that may have an archive. */
static bool is_static_program(struct symfile *f)
{
	GElf_Shdr shdr;
	GElf_Dyn dyn;
	Elf_Scn *scn;
	Elf_Data *data;

	if (f->interp || !f->ehdr.e_entry || symfile_is_go(f))
		return false;
	if (f->ehdr.e_type == ET_EXEC)
		return true;
	/* a shared library, and the dynamic loader, are not marked as programs */
	scn = sym_find_section(f->elf, SHT_DYNAMIC, &shdr);
	data = scn ? elf_getdata(scn, NULL) : NULL;
	for (int i = 0; data && gelf_getdyn(data, i, &dyn) && dyn.d_tag != DT_NULL; i++)
		if (dyn.d_tag == DT_FLAGS_1 && dyn.d_un.d_val & DF_1_PIE)
			return true;
	return false;
}

const struct sym_archive_names *sym_archive_names(struct symfile *f)
{
	struct sym_archive_names *names = &f->archive;
	char path[PATH_MAX];
	struct stat st;

	if (names->sought)
		return names;
	names->sought = true;
	names->begin = UINT64_MAX;
	if (!is_static_program(f))
		return names;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]) && !names->id; i++) {
		snprintf(path, sizeof(path), "%s/libc.a", folders[i]);
		if (stat(path, &st) || !sym_archive_look(f, folders[i], names))
			continue;
		names->id = hash_bytes(HASH_BEGIN, path, strlen(path));
		names->id = hash_bytes(names->id, &st.st_size, sizeof(st.st_size));
		names->id = hash_bytes(names->id, &st.st_mtim, sizeof(st.st_mtim));
	}
	return names;
}

uint64_t symfile_archive(struct symfile *f)
{
	sym_read_symbols(f);
	return f->archive.id;
}
