// SPDX-License-Identifier: GPL-2.0-only
/*
 * sym_lookup.c - many names at once, in one pass over the tables as they lie in the file
 *
 * A campaign begins with the question which of some dozens of functions some dozens of libraries define: hardly
 * any of their many thousand symbols matters, and nothing is sorted or kept for those that do not. Nor is any of those that
 * were read for something else compared with each name.
 */
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "symbols/sym_internal.h"

/* Slots of the table of names, at least four for each: most that are no name's are empty. */
#define SLOTS_MOST 1024

struct lookup {
	const char *const *names;
	unsigned int nr;
	struct sym_filter filter;
	uint16_t slots[SLOTS_MOST];	/* by stem_of(): a name and 1, 0 none */
	uint32_t mask;
};

/* A hash of what a name is without a version, and without what compilers append to the name of a clone. */
static uint32_t stem_of(const char *name)
{
	uint32_t h = 0;

	for (const char *p = name; *p && *p != '@'; p++) {
		if (*p == '.' && (!strncmp(p, ".constprop.", 11) || !strncmp(p, ".isra.", 6) || !strncmp(p, ".lto_priv.", 10)))
			break;
		h = h * 0x01000193 + (unsigned char)*p;
	}
	return h ^ h >> 15;
}

static bool is_wanted(const char *name, void *arg)
{
	const struct lookup *l = arg;
	unsigned int at = sym_begin(name);

	if (!(l->filter.begins[at / 64] >> at % 64 & 1))
		return false;
	/* "name@VERSION", in a full table, is compared when the version is cut off */
	for (at = stem_of(name) & l->mask; l->slots[at]; at = (at + 1) & l->mask)
		if (sym_equals_clone(name, l->names[l->slots[at] - 1]) || strchr(name, '@'))
			return true;
	return false;
}

static void lookup_begin(struct lookup *l, const char *const *names, unsigned int nr)
{
	*l = (struct lookup){ .names = names, .nr = nr, .filter = { .wanted = is_wanted, .arg = l }, .mask = 63 };
	while (l->mask < 4 * nr && l->mask < SLOTS_MOST - 1)
		l->mask = l->mask * 2 + 1;
	for (unsigned int i = 0; i < nr; i++) {
		uint32_t at = stem_of(names[i]) & l->mask;

		l->filter.begins[sym_begin(names[i]) / 64] |= 1ull << sym_begin(names[i]) % 64;
		while (l->slots[at])
			at = (at + 1) & l->mask;
		l->slots[at] = i + 1;
	}
}

/* Those that have been read already, without those that cannot be meant. */
static void pick_wanted(const struct symfile *f, struct lookup *l, struct sym_list *list)
{
	for (size_t i = 0; i < f->nr_syms; i++)
		if (is_wanted(f->syms[i].name, l) && ARRAY_RESERVE(list->list, list->size, list->nr + 1))
			list->list[list->nr++] = f->syms[i];
}

int symfile_find_names(struct symfile *f, const char *const *names, unsigned int nr,
		       int (*fn)(const struct symdef *d, unsigned int name, void *arg), void *arg)
{
	struct sym_list list = { 0 };
	int found = 0, ret = 0;
	struct lookup l;

	lookup_begin(&l, names, nr);
	if (f->syms_read)
		pick_wanted(f, &l, &list);
	else
		sym_read_tables(f, &list, &l.filter);
	for (unsigned int n = 0; n < nr && !ret; n++)
		for (size_t i = 0; i < list.nr && !ret; i++) {
			const struct sym *s = &list.list[i];
			struct symdef d;

			if (s->type == STT_TLS || !sym_equals_clone(s->name, names[n]))
				continue;
			d = (struct symdef){
				.name = s->name, .version = s->version,
				.is_function = s->type == STT_FUNC || s->type == STT_GNU_IFUNC,
				.is_object = s->type == STT_OBJECT, .is_ifunc = s->type == STT_GNU_IFUNC,
				.vaddr = s->vaddr, .size = s->size, .offset = symfile_offset_of(f, s->vaddr),
			};
			found++;
			ret = fn(&d, n, arg);
		}
	free(list.list);
	return found;
}
