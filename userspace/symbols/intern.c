// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "lib/base/hash.h"
#include "symbols/intern.h"

void intern_release(struct intern *in)
{
	free(in->keys);
	id_map_free(&in->by_hash);
	free(in->bytes);
	*in = (struct intern){ 0 };
}

/*
 * The number of a key, or INTERN_FAILED and the hash under which it belongs: keys with one hash lie
 * under those that come after it.
 */
static uint32_t find(const struct intern *in, const void *key, size_t len, uint64_t *hash)
{
	const uint32_t *nr;

	for (*hash = hash_bytes(HASH_BEGIN, key, len); (nr = id_map_find(&in->by_hash, *hash)); ++*hash)
		if (in->keys[*nr].len == len && !memcmp(in->bytes + in->keys[*nr].at, key, len))
			return *nr;
	return INTERN_FAILED;
}

uint32_t intern_add(struct intern *in, const void *key, size_t len, bool *added)
{
	uint64_t hash;
	uint32_t nr = find(in, key, len, &hash);

	*added = false;
	if (nr != INTERN_FAILED)
		return nr;
	if (!ARRAY_RESERVE(in->keys, in->size, in->nr + 1) ||
	    !ARRAY_RESERVE(in->bytes, in->room, in->used + len) ||
	    !id_map_add(&in->by_hash, hash, in->nr, NULL))
		return INTERN_FAILED;
	in->keys[in->nr] = (struct intern_key){ in->used, len };
	memcpy(in->bytes + in->used, key, len);
	in->used += len;
	*added = true;
	return in->nr++;
}

uint32_t intern_find(const struct intern *in, const void *key, size_t len)
{
	uint64_t hash;

	return find(in, key, len, &hash);
}

const void *intern_key(const struct intern *in, uint32_t nr)
{
	return in->bytes + in->keys[nr].at;
}

/* ---- texts ---- */

#define TEXTS_MAX 65536u

void texts_release(struct texts *t)
{
	for (uint32_t i = 0; t->texts && i < t->keys.nr; i++)
		free(t->texts[i]);
	free(t->texts);
	intern_release(&t->keys);
	t->texts = NULL;
}

const char *texts_find(const struct texts *t, const void *key, size_t len)
{
	uint32_t nr = intern_find(&t->keys, key, len);

	return nr == INTERN_FAILED ? NULL : t->texts[nr];
}

void texts_add(struct texts *t, const void *key, size_t len, const char *text, size_t n)
{
	uint32_t nr;
	bool added;

	if (!t->texts)
		t->texts = calloc(TEXTS_MAX, sizeof(*t->texts));
	if (!t->texts || t->keys.nr == TEXTS_MAX)
		return;
	nr = intern_add(&t->keys, key, len, &added);
	if (added)
		t->texts[nr] = strndup(text, n);
}
