// SPDX-License-Identifier: GPL-2.0-only
/* sym_go.c - the goroutine that a task executes, and the random numbers of Go's runtime */
#include <dwarf.h>
#include <string.h>
#include "lib/base/remote.h"
#include "search/rng.h"
#include "symbols/sym_internal.h"

/* Go's linker gives each thread's goroutine this place below its thread pointer, in programs without C. */
#define GOROUTINE_BELOW 8
/* A generator has 32 words that it gives out, and four that it makes the next ones of (internal/chacha8rand, from 1.22 on). */
#define CHACHA_WORDS	(32 + 4)
#define THREADS_MAX	10000	/* the runtime makes no more, unless it is told to */

/* Where a structure has a member; 0: it has none of that name, or at its begin. */
static uint64_t member_at(Dwarf_Die *type, const char *name)
{
	Dwarf_Attribute attr;
	Dwarf_Word at = 0;
	Dwarf_Die child;

	if (dwarf_child(type, &child))
		return 0;
	do {
		const char *is = dwarf_diename(&child);

		if (dwarf_tag(&child) == DW_TAG_member && is && !strcmp(is, name) &&
		    dwarf_attr(&child, DW_AT_data_member_location, &attr) && !dwarf_formudata(&attr, &at))
			return at;
	} while (!dwarf_siblingof(&child, &child));
	return 0;
}

/* What the unit of the runtime tells of its data. */
static void read_runtime(struct sym_go *go, Dwarf_Die *unit)
{
	uint64_t at;
	Dwarf_Die child, type;

	if (dwarf_child(unit, &child))
		return;
	do {
		const char *is = dwarf_diename(&child);
		int tag = dwarf_tag(&child);

		if (!is || strncmp(is, "runtime.", 8))
			continue;
		is += 8;
		if (tag == DW_TAG_structure_type && !strcmp(is, "g")) {
			go->number = member_at(&child, "goid");
		} else if (tag == DW_TAG_structure_type && !strcmp(is, "m")) {
			go->next = member_at(&child, "alllink");
			at = member_at(&child, "cheaprand");
			go->numbers = at ? at : member_at(&child, "fastrand");
			go->chacha = member_at(&child, "chacha8");
		} else if (tag == DW_TAG_variable && !strcmp(is, "globalRand") && sym_type_of(&child, &type)) {
			go->all_chacha = member_at(&type, "state");
		}
	} while (!dwarf_siblingof(&child, &child));
}

static int note_variable(const struct symdef *d, unsigned int nr, void *arg)
{
	((uint64_t *)arg)[nr] = d->vaddr;
	return 0;
}

static const struct sym_go *go_of(struct symfile *f)
{
	static const char *const names[] = { "runtime.allm", "runtime.fastrandseed", "runtime.globalRand" };
	uint64_t at[sizeof(names) / sizeof(names[0])] = { 0 };

	if (f->go_sought)
		return &f->go;
	f->go_sought = true;
	sym_read_cus(f);
	for (size_t i = 0; i < f->nr_cus; i++) {
		const char *unit = dwarf_diename(&f->cus[i]);

		if (unit && !strcmp(unit, "runtime"))
			read_runtime(&f->go, &f->cus[i]);
	}
	symfile_find_names(f, names, sizeof(names) / sizeof(names[0]), note_variable, at);
	f->go.threads = at[0];
	f->go.seed = at[1];
	f->go.all = at[2];
	return &f->go;
}

uint32_t symfile_goroutine(struct symfile *f, int pid, uint64_t tls)
{
	const struct sym_go *go = go_of(f);
	uint64_t g, number;

	if (!go->number || !remote_read(pid, tls - GOROUTINE_BELOW, &g, sizeof(g)) ||
	    !remote_read(pid, g + go->number, &number, sizeof(number)) || number > UINT32_MAX)
		return 0;
	return number;
}

/* Words of a generator, any of which may have any value: what they become follows from what they are. */
static void mix_words(int pid, uint64_t addr, unsigned int nr, uint64_t value)
{
	uint64_t words[CHACHA_WORDS];

	if (!remote_read(pid, addr, words, nr * sizeof(words[0])))
		return;
	for (unsigned int i = 0; i < nr; i++)
		words[i] = mix64(words[i] ^ mix64(value << 8 | i));
	remote_write(pid, addr, words, nr * sizeof(words[0]));
}

void symfile_go_numbers(struct symfile *f, int pid, uint64_t bias, uint32_t value)
{
	const struct sym_go *go = go_of(f);
	uint64_t m = 0, next;

	/* threads that are made later draw theirs from these */
	if (go->seed)
		mix_words(pid, bias + go->seed, 1, value);
	if (go->all && go->all_chacha)
		mix_words(pid, bias + go->all + go->all_chacha, CHACHA_WORDS, value);
	if (!go->threads || !go->next || !go->numbers || !remote_read(pid, bias + go->threads, &m, sizeof(m)))
		return;
	for (unsigned int i = 0; m && i < THREADS_MAX; i++, m = next) {
		mix_words(pid, m + go->numbers, 1, value);
		if (go->chacha)
			mix_words(pid, m + go->chacha, CHACHA_WORDS, value);
		if (!remote_read(pid, m + go->next, &next, sizeof(next)))
			return;
	}
}
