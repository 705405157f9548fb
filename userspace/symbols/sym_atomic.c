// SPDX-License-Identifier: GPL-2.0-only
/*
 * sym_atomic.c - tells by the source whether an access is atomic
 *
 * On x86 an atomic load, and a store that is not sequentially consistent, are the same instructions
 * as plain ones. The source line that DWARF names tells them apart: it lies in a header or library
 * file for atomics (<atomic>, core/src/sync/atomic.rs), or it uses one of their words. What else such a line
 * does, compilers tell by the column: in "ring[atomic_load(&head) % 8] = v" the store's is that of '='.
 * symfile_says_atomic() is what others call.
 */
#include <ctype.h>
#include <dwarf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "lib/base/array.h"
#include "symbols/sym_internal.h"

#define SOURCE_MAX (8u << 20)

static const char *const words[] = {
	"atomic", "memory_order", "_acquire", "_release", "_relaxed", "read_once", "write_once",
};
/* Libraries whose files of atomics have other names: Go's, libc++'s, Boost's. */
static const char *const folders[] = {
	"/sync/atomic/", "/internal/atomic/", "/runtime/atomic/", "/__atomic/", "/boost/atomic/",
};

/* All source of a program is searched: two characters decide nearly always. */
static bool says_so(const char *text, size_t len)
{
	for (size_t i = 0; i + 1 < len; i++) {
		char first = text[i] | 0x20, second = text[i + 1] | 0x20;

		for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++) {
			size_t n;

			if (first != (words[w][0] | 0x20) || second != words[w][1])
				continue;
			n = strlen(words[w]);
			if (i + n <= len && !strncasecmp(text + i, words[w], n))
				return true;
		}
	}
	return false;
}

/* Takes the comments out of a line; one that began on another line is not recognised. */
static size_t without_comment(const char *line, size_t len)
{
	for (size_t i = 0; i + 1 < len; i++)
		if (line[i] == '/' && (line[i + 1] == '/' || line[i + 1] == '*'))
			return i;
	return len;
}

static Elf_Data *section(struct symfile *f, const char *name)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	size_t names;

	if (elf_getshdrstrndx(f->elf, &names))
		return NULL;
	while ((scn = elf_nextscn(f->elf, scn))) {
		const char *n = gelf_getshdr(scn, &shdr) ? elf_strptr(f->elf, names, shdr.sh_name) : NULL;

		if (n && !strcmp(n, name))
			return elf_rawdata(scn, NULL);
	}
	return NULL;
}

static bool read_lines(struct symfile *f, struct atomic_source *s, const char *path)
{
	struct stat st;
	size_t size = 0, len;
	uint32_t nr = 0;
	char *line = NULL;
	ssize_t n;
	FILE *in;

	if (stat(path, &st) || !S_ISREG(st.st_mode) || st.st_size > SOURCE_MAX)
		return false;
	in = fopen(path, "re");
	if (!in)
		return false;
	while ((n = getline(&line, &size, in)) > 0) {
		nr++;
		len = without_comment(line, n);
		if (!says_so(line, len))
			continue;
		if (!ARRAY_RESERVE(s->lines, s->size_lines, s->nr_lines + 1))
			break;
		line[len] = 0;
		s->lines[s->nr_lines++] = (struct atomic_line){ nr, sym_string(&f->strings, line) };
	}
	free(line);
	fclose(in);
	return true;
}

/* The source where it was compiled, or, as debuggers look for it, below the folder: /build/src/x.c, src/x.c, x.c. */
static bool read_source(struct symfile *f, struct atomic_source *s)
{
	const char *folder = f->owner->folder;
	char path[PATH_MAX];

	if (!s->full)
		return false;
	if (read_lines(f, s, s->full))
		return true;
	for (const char *end = strchr(s->full, '/'); folder && end; end = strchr(end + 1, '/')) {
		if (!strncmp(end, "/../", 4) || snprintf(path, sizeof(path), "%s%s", folder, end) >= (int)sizeof(path))
			continue;
		if (read_lines(f, s, path))
			return true;
	}
	return false;
}

/* Of a source file that does nothing but define atomic operations. */
static bool is_name_of_atomics(const char *name, size_t len)
{
	static const char *const names[] = { "atomic", "atomics", "atomic_ops", "atomic-ops" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == len && !strncasecmp(name, names[i], len))
			return true;
	return false;
}

static bool is_about_atomics(const char *path)
{
	static const char *const sources[] = { ".c", ".cc", ".cpp", ".cxx", ".c++", ".C", ".m", ".mm" };
	const char *base = strrchr(path, '/'), *dot;

	base = base ? base + 1 : path;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (strstr(path, folders[i]) || !strncmp(path, folders[i] + 1, strlen(folders[i] + 1)))
			return true;
	/* a program may have any name: its lines tell */
	dot = strrchr(base, '.');
	for (size_t i = 0; dot && i < sizeof(sources) / sizeof(sources[0]); i++)
		if (!strcmp(dot, sources[i]))
			return is_name_of_atomics(base, (size_t)(dot - base));
	return strcasestr(base, "atomic");
}

static struct atomic_source *source_of(struct symfile *f, Dwarf_Die *cu, const char *path)
{
	Dwarf_Attribute attr;
	struct atomic_source *s;
	const char *dir;
	char full[PATH_MAX];

	/* libdw gives the same pointer for the same file */
	for (size_t i = 0; i < f->nr_sources; i++)
		if (f->sources[i].path == path)
			return &f->sources[i];
	if (!ARRAY_RESERVE(f->sources, f->sources_size, f->nr_sources + 1))
		return NULL;
	s = &f->sources[f->nr_sources++];
	memset(s, 0, sizeof(*s));
	s->path = path;
	s->all = is_about_atomics(path);
	dir = dwarf_formstring(dwarf_attr_integrate(cu, DW_AT_comp_dir, &attr));
	snprintf(full, sizeof(full), "%s%s%s", path[0] == '/' || !dir ? "" : dir, path[0] == '/' || !dir ? "" : "/", path);
	s->full = sym_string(&f->strings, full);
	if (!s->all)
		s->readable = read_source(f, s);
	return s;
}

/* Without lines Go's library cannot be told from the code of a static program, nor can a C library without names. */
static enum symsays without_lines(struct symfile *f, uint64_t offset)
{
	/* the names that an archive tells are the C library's alone: what is C++'s is not known */
	if (f->whole < 0)
		f->whole = (symfile_libc(f) != SYMLIBC_NONE || symfile_is_go(f)) &&
			   (symfile_library(f) == UINT64_MAX || (symfile_archive(f) && sym_rodata_has(f, "St9exception")));
	return f->whole || symfile_is_library(f, offset) ? SYMSAYS_NOTHING : SYMSAYS_UNKNOWN;
}

/* The length of the name that begins there; 0: none does. */
static size_t name_length(const char *p)
{
	size_t n = 0;

	while (isalnum((unsigned char)p[n]) || p[n] == '_')
		n++;
	return isdigit((unsigned char)*p) ? 0 : n;
}

/* The column, from 1 on, of a line of which the compiler says that: what stands there. */
static const char *at_column(const struct atomic_line *line, Dwarf_Line *l)
{
	int column;

	if (!line->text || dwarf_linecol(l, &column) || column <= 0 || (size_t)column > strlen(line->text))
		return NULL;
	return line->text + column - 1;
}

/* Other code of that line stands at one of the words of atomics: so its columns are those of what is done there. */
static bool tells_columns(Dwarf_Die *cu, const struct atomic_source *s, const struct atomic_line *line)
{
	Dwarf_Lines *lines;
	size_t nr;
	int at;

	if (dwarf_getsrclines(cu, &lines, &nr))
		return false;
	for (size_t i = 0; i < nr; i++) {
		Dwarf_Line *l = dwarf_onesrcline(lines, i);
		const char *p;

		if (!l || dwarf_linesrc(l, NULL, NULL) != s->path || dwarf_lineno(l, &at) || at != (int)line->nr)
			continue;
		p = at_column(line, l);
		if (p && says_so(p, name_length(p)))
			return true;
	}
	return false;
}

/*
 * The line has a word of atomics, and the access stands elsewhere on it: at an assignment, at the index of an array, or at a
 * name, where the compiler is seen to tell names from each other.
 */
static bool is_beside(Dwarf_Die *cu, const struct atomic_source *s, const struct atomic_line *line, Dwarf_Line *l)
{
	static const char *const keywords[] = { "return", "if", "while", "for", "do", "switch", "else", "case" };
	const char *p = at_column(line, l);
	size_t n;

	if (!p)
		return false;
	if (*p == '[' || (*p == '=' && p[1] != '=' && (p == line->text || !strchr("=!<>", p[-1]))))
		return true;
	n = name_length(p);
	if (!n || says_so(p, n))
		return false;
	for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++)
		if (strlen(keywords[i]) == n && !strncmp(p, keywords[i], n))
			return false;
	return p[n] == '[' || tells_columns(cu, s, line);
}

/*
 * Rust's library is compiled with lines, which are in every program that cargo has not stripped of them: a function in
 * Rust that has none, although others have some, is of a program that was compiled without.
 */
static bool is_rust_without_lines(struct symfile *f, uint64_t vaddr)
{
	const struct sym *s = sym_at(f, vaddr, true);

	return s && (!strncmp(s->name, "_R", 2) || (!strncmp(s->name, "_ZN", 3) && strstr(s->name, "17h")));
}

enum symsays symfile_says_atomic(struct symfile *f, uint64_t offset)
{
	uint64_t vaddr = symfile_vaddr_of(f, offset);
	Dwarf_Die *cu = vaddr != UINT64_MAX ? sym_cu_at(f, vaddr) : NULL;
	Dwarf_Line *l = cu ? dwarf_getsrc_die(cu, vaddr) : NULL;
	const char *file = l ? dwarf_linesrc(l, NULL, NULL) : NULL;
	struct atomic_source *s;
	int line = 0;

	if (vaddr == UINT64_MAX)
		return SYMSAYS_NOTHING;
	if (!cu && f->dwarf)
		return is_rust_without_lines(f, vaddr) ? SYMSAYS_UNKNOWN : SYMSAYS_NOTHING;
	if (!cu)
		return without_lines(f, offset);
	/* line 0: code that the compiler made of several lines */
	if (!file || dwarf_lineno(l, &line) || line <= 0)
		return SYMSAYS_UNKNOWN;
	s = source_of(f, cu, file);
	if (!s)
		return SYMSAYS_UNKNOWN;
	if (s->all)
		return SYMSAYS_ATOMIC;
	/* all atomic accesses of Rust are functions of core/src/sync/atomic.rs */
	if (!s->readable && dwarf_srclang(cu) == DW_LANG_Rust)
		return SYMSAYS_PLAIN;
	if (!s->readable) {
		s->missed = symbols_is_source(file) && !symbols_of_library(file);
		return SYMSAYS_UNKNOWN;
	}
	for (size_t i = 0; i < s->nr_lines; i++)
		if (s->lines[i].nr == (uint32_t)line)
			return is_beside(cu, s, &s->lines[i], l) ? SYMSAYS_PLAIN : SYMSAYS_ATOMIC;
	return SYMSAYS_PLAIN;
}

/* Where package managers put what others have written. */
static bool is_of_package(const char *file)
{
	static const char *const packages[] = { "cargo/registry/", "cargo/git/checkouts/", "/pkg/mod/", "/vendor/" };

	for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++)
		if (strstr(file, packages[i]))
			return true;
	return false;
}

/* What is compiled again for each program that uses it, in functions that no one has written for that program. */
static bool is_of_language(const char *file)
{
	return symbols_of_language(file) || strstr(file, "/c++/");
}

/* Counts the owners of what a smart pointer of C++ points to, in whatever function that is inlined. */
static bool counts_owners(const struct trace_frame *frame)
{
	static const char *const counts[] = {
		/* of libstdc++, and of libc++ */
		"_Sp_counted_base<", "__gnu_cxx::__exchange_and_add", "__gnu_cxx::__atomic_add",
		"::__shared_count::", "::__shared_weak_count::", "__libcpp_atomic_refcount_",
	};

	for (size_t i = 0; frame->function && i < sizeof(counts) / sizeof(counts[0]); i++)
		if (strstr(frame->function, counts[i]) && !strstr(frame->function, "use_count"))
			return true;
	return false;
}

bool symfile_is_own(struct symfile *f, uint64_t offset)
{
	struct trace_frame frames[64];
	int nr = symfile_frames(f, offset, frames, sizeof(frames) / sizeof(frames[0]));
	uint64_t vaddr = symfile_vaddr_of(f, offset);
	const char *name, *dir;
	Dwarf_Attribute attr;
	Dwarf_Die *cu;

	for (int i = 0; i < nr; i++) {
		if (counts_owners(&frames[i]))
			return false;
		if (frames[i].file && !is_of_language(frames[i].file) && strcmp(frames[i].file, "<autogenerated>"))
			return !symbols_of_library(frames[i].file) && !is_of_package(frames[i].file);
	}
	cu = vaddr != UINT64_MAX ? sym_cu_at(f, vaddr) : NULL;
	/* a unit of Go is a package, which has its files' names in full */
	if (nr > 0 && cu && dwarf_srclang(cu) == DW_LANG_Go)
		return false;
	name = cu ? dwarf_diename(cu) : NULL;
	dir = cu ? dwarf_formstring(dwarf_attr_integrate(cu, DW_AT_comp_dir, &attr)) : NULL;
	return name && dir && !is_of_language(name) && !symbols_of_library(name) && !is_of_package(name) &&
	       !is_of_language(dir) && !symbols_of_library(dir) && !is_of_package(dir);
}

bool symfile_is_go(struct symfile *f)
{
	return section(f, ".gopclntab");
}

bool symfile_is_rust(struct symfile *f, uint64_t offset)
{
	uint64_t vaddr = symfile_vaddr_of(f, offset);
	Dwarf_Die *cu = vaddr != UINT64_MAX ? sym_cu_at(f, vaddr) : NULL;

	return cu && dwarf_srclang(cu) == DW_LANG_Rust;
}

uint32_t symfile_missing_sources(struct symfile *f, const char **first)
{
	uint32_t nr = 0;

	for (size_t i = 0; i < f->nr_sources; i++)
		if (f->sources[i].missed && !nr++)
			*first = f->sources[i].full;
	return nr;
}

bool symfile_has_lines(struct symfile *f)
{
	sym_read_cus(f);
	return f->nr_cus != 0;
}

/* ---- whose compiler ---- */

/* .comment has a line of each compiler; assembled code has none. */
static bool comments_of_gcc(struct symfile *f)
{
	const Elf_Data *data = section(f, ".comment");
	size_t size = data ? data->d_size : 0;
	const char *text = data ? data->d_buf : NULL;
	bool gcc = false;

	for (size_t at = 0; text && at < size; at += strnlen(text + at, size - at) + 1) {
		if (!text[at])
			continue;
		if (size - at < 5 || strncmp(text + at, "GCC: ", 5))
			return false;
		gcc = true;
	}
	return gcc;
}

bool symfile_by_gcc(struct symfile *f, uint64_t offset)
{
	uint64_t vaddr = symfile_vaddr_of(f, offset);
	Dwarf_Die *cu = vaddr != UINT64_MAX ? sym_cu_at(f, vaddr) : NULL;
	Dwarf_Attribute attr;
	const char *producer;

	if (!cu) {
		if (f->by_gcc < 0)
			f->by_gcc = comments_of_gcc(f);
		return f->by_gcc;
	}
	producer = dwarf_formstring(dwarf_attr_integrate(cu, DW_AT_producer, &attr));
	return producer && !strncmp(producer, "GNU ", 4) && strncmp(producer, "GNU AS", 6);
}

void sym_atomic_free(struct symfile *f)
{
	for (size_t i = 0; i < f->nr_sources; i++)
		free(f->sources[i].lines);
	free(f->sources);
}
