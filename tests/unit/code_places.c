// SPDX-License-Identifier: GPL-2.0-only
/* code_places.c - the catalogue of a file that a test compiled, and the places of one of its functions */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "symbols/symbols.h"
#include "code_places.h"

struct code *code_places_open(const char *path, enum code_cache cache)
{
	struct code *c;
	char err[512] = "";

	if (code_open(&c, path, NULL, cache, err, sizeof(err)))
		fail_msg("%s", err);
	return c;
}

static int on_symbol(const struct symdef *d, void *arg)
{
	struct code_places *f = arg;

	f->start = d->offset;
	f->size = d->size;
	return 1;
}

struct code_places code_places_of(const struct code *c, const char *path, const char *name)
{
	struct symbols *s = symbols_new();
	struct code_places f = { 0 };
	char err[256];
	struct symfile *sf = symbols_file(s, path, NULL, err, sizeof(err));

	assert_non_null(sf);
	assert_int_equal(symfile_find(sf, name, on_symbol, &f), 1);
	for (uint32_t i = 0; i < code_nr(c); i++) {
		const struct code_place *p = code_at(c, i);

		if (p->offset >= f.start && p->offset < f.start + f.size && f.nr < sizeof(f.p) / sizeof(f.p[0]))
			f.p[f.nr++] = p;
	}
	symbols_free(s);
	return f;
}
