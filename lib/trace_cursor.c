// SPDX-License-Identifier: GPL-2.0-only
/* trace_cursor.c - reading numbers and strings out of records, and the memory they go to */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/trace_reader.h"

#define ARENA_BLOCK (64u << 10)

uint64_t cursor_bad(struct cursor *c, int error, const char *why)
{
	if (!c->error) {
		c->error = error;
		c->why = why;
		c->at = c->p;
	}
	c->p = c->end;
	return 0;
}

bool cursor_charge(struct cursor *c, uint64_t bytes)
{
	struct trace *t = c->t;

	if (c->error)
		return false;
	if (bytes > t->memory_max - t->memory) {
		cursor_bad(c, -EFBIG, "too large to read");
		return false;
	}
	t->memory += bytes;
	return true;
}

void *cursor_alloc(struct cursor *c, size_t size)
{
	struct trace *t = c->t;
	struct arena_block *b = t->arena;
	size_t room;
	void *p;

	size = (size + 7) & ~(size_t)7;
	if (!b || b->size - b->used < size) {
		room = size > ARENA_BLOCK ? size : ARENA_BLOCK;
		if (!cursor_charge(c, sizeof(*b) + room))
			return NULL;
		b = malloc(sizeof(*b) + room);
		if (!b) {
			cursor_bad(c, -ENOMEM, "out of memory");
			return NULL;
		}
		b->next = t->arena;
		b->used = 0;
		b->size = room;
		t->arena = b;
	}
	p = b->data + b->used;
	b->used += size;
	return p;
}

/* Room for one more entry in an array that is reallocated as it grows. */
void *cursor_grow(struct cursor *c, void *array, uint32_t nr, uint32_t *size, size_t entry)
{
	uint32_t want = *size ? *size * 2 : 16;
	void *p;

	if (nr < *size)
		return array;
	if (*size > UINT32_MAX / 4) {
		cursor_bad(c, -EFBIG, "too large to read");
		return NULL;
	}
	if (!cursor_charge(c, (uint64_t)(want - *size) * entry))
		return NULL;
	p = realloc(array, want * entry);
	if (!p) {
		cursor_bad(c, -ENOMEM, "out of memory");
		return NULL;
	}
	*size = want;
	return p;
}

uint64_t cursor_varint(struct cursor *c)
{
	uint64_t v = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		unsigned char byte;

		if (c->p == c->end)
			return cursor_bad(c, -EBADMSG, "a record ends early");
		byte = *c->p++;
		if (shift == 63 && byte > 1)
			break;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
	return cursor_bad(c, -EBADMSG, "a number is too long");
}

uint32_t cursor_u32(struct cursor *c)
{
	uint64_t v = cursor_varint(c);

	return v <= UINT32_MAX ? v : cursor_bad(c, -EBADMSG, "a number is too large");
}

/* A task number or TRACE_NO_TASK, written as number + 1 or 0. */
uint32_t cursor_task(struct cursor *c)
{
	uint64_t v = cursor_varint(c);

	if (v > UINT32_MAX)
		return cursor_bad(c, -EBADMSG, "a task number is too large");
	return v ? v - 1 : TRACE_NO_TASK;
}

const char *cursor_string(struct cursor *c)
{
	uint64_t n = cursor_varint(c);
	char *s;

	if (!n)
		return NULL;
	n--;
	if (n > (size_t)(c->end - c->p)) {
		cursor_bad(c, -EBADMSG, "a string ends early");
		return NULL;
	}
	s = cursor_alloc(c, n + 1);
	if (!s)
		return NULL;
	memcpy(s, c->p, n);
	s[n] = '\0';
	c->p += n;
	return s;
}

/* For fields that are never NULL to a reader. */
const char *cursor_text(struct cursor *c)
{
	const char *s = cursor_string(c);

	return s ? s : "";
}

char *const *cursor_strings(struct cursor *c)
{
	uint64_t n = cursor_varint(c);
	const char **v;

	/* Each takes a byte at least. */
	if (n > (size_t)(c->end - c->p)) {
		cursor_bad(c, -EBADMSG, "a list ends early");
		n = 0;
	}
	v = cursor_alloc(c, (n + 1) * sizeof(*v));
	if (!v)
		return NULL;
	for (uint64_t i = 0; i < n; i++)
		v[i] = cursor_text(c);
	v[n] = NULL;
	return (char *const *)v;
}

const struct trace_frame *cursor_frames(struct cursor *c, uint32_t *nr)
{
	uint64_t n = cursor_varint(c), line;
	struct trace_frame *f;

	*nr = 0;
	if (n > (size_t)(c->end - c->p) / 3)
		cursor_bad(c, -EBADMSG, "a list of frames ends early");
	if (c->error || !n)
		return NULL;
	f = cursor_alloc(c, n * sizeof(*f));
	if (!f)
		return NULL;
	for (uint64_t i = 0; i < n; i++) {
		f[i].function = cursor_string(c);
		f[i].file = cursor_string(c);
		line = cursor_varint(c);
		f[i].line = line >> 1 <= UINT32_MAX ? line >> 1 : 0;
		f[i].inlined = line & 1;
	}
	*nr = n;
	return f;
}

