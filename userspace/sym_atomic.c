// SPDX-License-Identifier: GPL-2.0-only
/*
 * sym_atomic.c - does the source say that an access is atomic?
 *
 * On x86 an atomic load, and a store that is not sequentially consistent, are the same instructions as
 * plain ones. What tells them apart is the source line that DWARF names: it lies in a header or library file
 * for atomics (<atomic>, core/src/sync/atomic.rs), or it uses one of their words.
 */
#include <dwarf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "sym_internal.h"

#define SOURCE_MAX (8u << 20)

static const char *const words[] = {
	"atomic", "memory_order", "_acquire", "_release", "_relaxed", "read_once", "write_once",
};

/* All source of a program is looked through: two characters decide nearly always. */
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

/* What a line says without its comments; those that began on another line are not known for what they are. */
static size_t without_comment(const char *line, size_t len)
{
	for (size_t i = 0; i + 1 < len; i++)
		if (line[i] == '/' && (line[i + 1] == '/' || line[i + 1] == '*'))
			return i;
	return len;
}

static void read_lines(struct atomic_source *s, const char *path)
{
	struct stat st;
	size_t size = 0, len;
	uint32_t nr = 0;
	char *line = NULL;
	ssize_t n;
	FILE *f;

	if (stat(path, &st) || !S_ISREG(st.st_mode) || st.st_size > SOURCE_MAX)
		return;
	f = fopen(path, "re");
	if (!f)
		return;
	s->readable = true;
	while ((n = getline(&line, &size, f)) > 0) {
		nr++;
		len = without_comment(line, n);
		if (!says_so(line, len))
			continue;
		if (!sym_grow(&s->lines, s->nr_lines, &s->size_lines, sizeof(*s->lines)))
			break;
		s->lines[s->nr_lines++] = nr;
	}
	free(line);
	fclose(f);
}

static const struct atomic_source *source_of(struct symfile *f, Dwarf_Die *cu, const char *path)
{
	Dwarf_Attribute attr;
	struct atomic_source *s;
	const char *base, *dir;
	char full[PATH_MAX];

	/* libdw gives the same pointer for the same file */
	for (size_t i = 0; i < f->nr_sources; i++)
		if (f->sources[i].path == path)
			return &f->sources[i];
	if (!sym_grow(&f->sources, f->nr_sources, &f->sources_size, sizeof(*f->sources)))
		return NULL;
	s = &f->sources[f->nr_sources++];
	memset(s, 0, sizeof(*s));
	s->path = path;
	base = strrchr(path, '/');
	s->all = says_so(base ? base + 1 : path, strlen(base ? base + 1 : path));
	dir = dwarf_formstring(dwarf_attr_integrate(cu, DW_AT_comp_dir, &attr));
	snprintf(full, sizeof(full), "%s%s%s", path[0] == '/' || !dir ? "" : dir, path[0] == '/' || !dir ? "" : "/", path);
	if (!s->all)
		read_lines(s, full);
	return s;
}

enum symsays symfile_says_atomic(struct symfile *f, uint64_t offset)
{
	uint64_t vaddr = symfile_vaddr_of(f, offset);
	Dwarf_Die *cu = vaddr != UINT64_MAX ? sym_cu_at(f, vaddr) : NULL;
	Dwarf_Line *l = cu ? dwarf_getsrc_die(cu, vaddr) : NULL;
	const char *file = l ? dwarf_linesrc(l, NULL, NULL) : NULL;
	const struct atomic_source *s;
	int line = 0;

	if (!file || dwarf_lineno(l, &line) || line <= 0)
		return SYMSAYS_NOTHING;
	s = source_of(f, cu, file);
	if (!s || (!s->all && !s->readable))
		return SYMSAYS_NOTHING;
	for (size_t i = 0; i < s->nr_lines; i++)
		if (s->lines[i] == (uint32_t)line)
			return SYMSAYS_ATOMIC;
	return s->all ? SYMSAYS_ATOMIC : SYMSAYS_PLAIN;
}

void sym_atomic_free(struct symfile *f)
{
	for (size_t i = 0; i < f->nr_sources; i++)
		free(f->sources[i].lines);
	free(f->sources);
}
