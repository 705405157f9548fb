// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>
#include "symbols/intern.h"

void intern_release(struct intern *in)
{
	free(in->keys);
	free(in->slots);
	free(in->bytes);
	*in = (struct intern){ 0 };
}

/* FNV-1a, mixed: its low bits alone are weak. */
static uint64_t hash_of(const unsigned char *p, size_t len)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * 0x100000001b3u;
	return h ^ h >> 32;
}

static uint32_t *slot_of(const struct intern *in, uint64_t hash, const void *key, size_t len)
{
	uint32_t i = hash & (in->nr_slots - 1);

	for (; in->slots[i]; i = (i + 1) & (in->nr_slots - 1)) {
		const struct intern_key *k = &in->keys[in->slots[i] - 1];

		if (k->hash == hash && k->len == len && !memcmp(in->bytes + k->at, key, len))
			break;
	}
	return &in->slots[i];
}

static bool rehash(struct intern *in)
{
	uint32_t nr = in->nr_slots ? in->nr_slots * 2 : 64, *slots = calloc(nr, sizeof(*slots));

	if (!slots)
		return false;
	for (uint32_t k = 0; k < in->nr; k++) {
		uint32_t i = in->keys[k].hash & (nr - 1);

		while (slots[i])
			i = (i + 1) & (nr - 1);
		slots[i] = k + 1;
	}
	free(in->slots);
	in->slots = slots;
	in->nr_slots = nr;
	return true;
}

static bool more(struct intern *in, size_t len)
{
	void *p;

	if (in->nr == in->size) {
		uint32_t size = in->size ? in->size * 2 : 64;

		p = realloc(in->keys, size * sizeof(*in->keys));
		if (!p)
			return false;
		in->keys = p;
		in->size = size;
	}
	if (in->room - in->used < len) {
		size_t room = (in->room ? in->room * 2 : 1024) + len;

		p = realloc(in->bytes, room);
		if (!p)
			return false;
		in->bytes = p;
		in->room = room;
	}
	return true;
}

uint32_t intern_add(struct intern *in, const void *key, size_t len, bool *added)
{
	uint64_t hash = hash_of(key, len);
	uint32_t *slot;

	*added = false;
	if ((in->nr + 1) * 2 > in->nr_slots && !rehash(in))
		return INTERN_FAILED;
	slot = slot_of(in, hash, key, len);
	if (*slot)
		return *slot - 1;
	if (!more(in, len))
		return INTERN_FAILED;
	in->keys[in->nr] = (struct intern_key){ hash, in->used, len };
	memcpy(in->bytes + in->used, key, len);
	in->used += len;
	*slot = ++in->nr;
	*added = true;
	return in->nr - 1;
}

uint32_t intern_find(const struct intern *in, const void *key, size_t len)
{
	uint32_t *slot = in->nr_slots ? slot_of(in, hash_of(key, len), key, len) : NULL;

	return slot && *slot ? *slot - 1 : INTERN_FAILED;
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
