/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * codec.h - one function that both writes a state and reads it back
 *
 * A state function calls codec_*() for each of its fields in turn; when writing
 * they are appended to the buffer, when reading they are set. Nothing is ever
 * read beyond the end; after the first failure all calls do nothing, and error
 * says why. Native byte order: a saved search is resumed by the same build.
 */
#ifndef ZUG_SEARCH_CODEC_H
#define ZUG_SEARCH_CODEC_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct codec {
	bool write;
	unsigned char *buf;	/* NULL when writing: only count */
	size_t len, pos;
	int error;		/* 0, -EBADMSG (does not fit together), -ENOMEM, -ENOSPC */
};

static inline void codec_bytes(struct codec *c, void *p, size_t n)
{
	if (c->error || !n)
		return;
	if (!c->buf) {
		if (c->write)
			c->pos += n;
		else
			c->error = -EBADMSG;
		return;
	}
	if (n > c->len - c->pos) {
		c->error = c->write ? -ENOSPC : -EBADMSG;
		return;
	}
	if (c->write)
		memcpy(c->buf + c->pos, p, n);
	else
		memcpy(p, c->buf + c->pos, n);
	c->pos += n;
}

/* For any one field. */
#define codec_field(c, field)	codec_bytes(c, &(field), sizeof(field))

/* Something that must be the same when reading: versions, sizes, options. */
static inline void codec_same(struct codec *c, uint64_t value)
{
	uint64_t got = value;

	codec_bytes(c, &got, sizeof(got));
	if (!c->error && got != value)
		c->error = -EBADMSG;
}

/*
 * An array of *nr elements, allocated with room for *room when reading (room
 * may be NULL). p: address of the pointer to it.
 */
static inline void codec_array(struct codec *c, void *p, uint64_t *nr, uint64_t *room, size_t size)
{
	void **array = p, *fresh;

	codec_bytes(c, nr, sizeof(*nr));
	if (c->error)
		return;
	if (!c->write) {
		if (*nr > (c->len - c->pos) / size) {
			c->error = -EBADMSG;
			return;
		}
		fresh = calloc(*nr + 1, size);
		if (!fresh) {
			c->error = -ENOMEM;
			return;
		}
		free(*array);
		*array = fresh;
		if (room)
			*room = *nr + 1;
	}
	codec_bytes(c, *array, *nr * size);
}

/* The same for counts of 32 bits. */
static inline void codec_array32(struct codec *c, void *p, uint32_t *nr, uint32_t *room,
				 size_t size)
{
	uint64_t n = *nr, r = 0;

	codec_array(c, p, &n, &r, size);
	if (c->error || c->write)
		return;
	if (n >= UINT32_MAX) {
		c->error = -EBADMSG;
		return;
	}
	*nr = (uint32_t)n;
	if (room)
		*room = (uint32_t)r;
}

#endif
