/* SPDX-License-Identifier: GPL-2.0-only */
/* intern.h - numbers for keys, in the order in which they were first asked for: 0, 1, 2... */
#ifndef ZUG_INTERN_H
#define ZUG_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/base/id_map.h"

#define INTERN_FAILED UINT32_MAX	/* no memory */

struct intern {
	struct intern_key {
		size_t at, len;		/* in bytes */
	} *keys;
	uint32_t nr, size;
	struct id_map by_hash;
	unsigned char *bytes;
	size_t used, room;
};

/* All zero is an empty one. */
void intern_release(struct intern *in);
/* The number of a key of len bytes, which are copied. *added: it was not there. */
uint32_t intern_add(struct intern *in, const void *key, size_t len, bool *added);
/* The number of a key, INTERN_FAILED: it is not there. */
uint32_t intern_find(const struct intern *in, const void *key, size_t len);
/* The key of a number. Valid until the next intern_add(). Aligned for any type if all keys have one size. */
const void *intern_key(const struct intern *in, uint32_t nr);

/* A cache of texts made for keys, bounded: when it is full nothing is added. All zero is an empty one. */
struct texts {
	struct intern keys;
	char **texts;
};

void texts_release(struct texts *t);
/* NULL: not there. */
const char *texts_find(const struct texts *t, const void *key, size_t len);
/* Keeps a copy of the first n bytes of text if there is room and memory; the key must not be there. */
void texts_add(struct texts *t, const void *key, size_t len, const char *text, size_t n);

#endif
