/* SPDX-License-Identifier: GPL-2.0-only */
/* code_places.h - the catalogue of a file that a test compiled, and the places of one of its functions */
#ifndef ZUG_TESTS_CODE_PLACES_H
#define ZUG_TESTS_CODE_PLACES_H

#include "probes/code.h"

/* The catalogue of a file; the test fails where there is none. For code_free(). */
struct code *code_places_open(const char *path, enum code_cache cache);

struct code_places {
	const struct code_place *p[64];
	unsigned int nr;
	uint64_t start, size;	/* of the function, in the file; bytes */
};

/* The first 64 places of the function of that name, which must have a symbol. They are the catalogue's. */
struct code_places code_places_of(const struct code *c, const char *path, const char *name);

#endif
