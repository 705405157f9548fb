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

struct lookup {
	const char *const *names;
	unsigned int nr;
	uint64_t first[64];	/* bitmap of the hashes of the names' first three characters */
};

/* No name that is looked for is shorter. */
static unsigned int begin_of(const char *name)
{
	return name[0] && name[1] ? (name[0] * 31u + name[1] * 131u + name[2] * 7u) & 4095 : 0;
}

static bool is_wanted(const char *name, void *arg)
{
	const struct lookup *l = arg;
	unsigned int at = begin_of(name);

	if (!(l->first[at / 64] >> at % 64 & 1))
		return false;
	for (unsigned int i = 0; i < l->nr; i++)
		if (sym_equals_clone(name, l->names[i]))
			return true;
	/* "name@VERSION", in a full table */
	return strchr(name, '@');
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
	struct lookup l = { .names = names, .nr = nr };
	struct sym_list list = { 0 };
	int found = 0, ret = 0;

	for (unsigned int i = 0; i < nr; i++)
		l.first[begin_of(names[i]) / 64] |= 1ull << begin_of(names[i]) % 64;
	if (f->syms_read)
		pick_wanted(f, &l, &list);
	else
		sym_read_tables(f, &list, is_wanted, &l);
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
