/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace_format.h - the bytes of a trace file; shared by writer, reader and tests only
 *
 * docs/trace-format.md is the description; this is its letter.
 */
#ifndef ZUG_TRACE_FORMAT_H
#define ZUG_TRACE_FORMAT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "lib/trace.h"

/*
 * The file: TRACE_MAGIC, version (u32), 0 (u32), then frames. As in PNG, the first byte is no
 * text and the line ends show what a text-mode transfer did. All integers are little-endian.
 */
#define TRACE_MAGIC		"\x8bZUG\r\n\x1a\n"
#define TRACE_MAGIC_LEN		8
#define TRACE_PREAMBLE_LEN	16

/*
 * A frame: stored length, raw length, CRC-32 of the stored bytes, CRC-32 of these first 12 bytes;
 * then the stored bytes: one zstd frame, or the raw bytes themselves when both lengths are equal.
 * A frame holds whole records.
 */
#define TRACE_FRAME_HEAD_LEN	16
#define TRACE_FRAME_TARGET	(128u << 10)	/* the writer closes a frame at this many raw bytes */
#define TRACE_FRAME_MAX		(32u << 20)	/* one record can be large: a whole environment */

/*
 * A reader spends at most this many bytes on the decoded form; a crafted file can ask for any
 * amount.
 */
#define TRACE_MEMORY_MAX	(4ull << 30)
#define TRACE_FILE_MAX		(1ull << 30)

/* Records other than steps: tag, length of the body, body. An unknown tag is passed over. */
enum trace_tag {
	TRACE_TAG_HEADER = 1,
	TRACE_TAG_TASK,
	TRACE_TAG_MODULE,
	TRACE_TAG_SITE,
	TRACE_TAG_OBJECT,
	TRACE_TAG_NOTE,
	TRACE_TAG_STACK,
	TRACE_TAG_OUTCOME,
	TRACE_TAG_MINIMIZED,
};

/*
 * A step: one byte, 0x80 with the bits below, then in this order what they announce, then the
 * label. What is not announced is as predicted: the task of the step before runs on, it was the
 * last to run, nothing joined or left the enabled set, no flags.
 */
#define TRACE_STEP_TAG		0x80
#define TRACE_STEP_TASK		(1u << 0)	/* task */
#define TRACE_STEP_LAST		(1u << 1)	/* last + 1, 0 for none */
#define TRACE_STEP_ENABLED	(1u << 2)	/* count of tasks that join or leave; first, gaps - 1 */
#define TRACE_STEP_FLAGS	(1u << 3)	/* flags */
#define TRACE_STEP_LITERAL	(1u << 4)	/* a new label, else the index of a known one */
#define TRACE_STEP_BITS		0x1f

/*
 * Labels are numbered 0..TRACE_LABELS-1 in the order in which they are first written out; after
 * the last number 0 is taken again. Both sides keep the ring, so its memory is bounded.
 */
#define TRACE_LABELS		4096

static inline uint32_t trace_get_u32(const unsigned char *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline void trace_put_u32(unsigned char *p, uint32_t v)
{
	p[0] = v;
	p[1] = v >> 8;
	p[2] = v >> 16;
	p[3] = v >> 24;
}

/* LEB128; at most 10 bytes. Returns the number of bytes written. */
static inline size_t trace_put_varint(unsigned char *p, uint64_t v)
{
	size_t n = 0;

	while (v >= 0x80) {
		p[n++] = v | 0x80;
		v >>= 7;
	}
	p[n++] = v;
	return n;
}

static inline bool trace_label_equal(const struct zug_label *a, const struct zug_label *b)
{
	return a->op == b->op && a->flags == b->flags && a->object == b->object &&
	       a->object2 == b->object2 && a->site == b->site;
}

#endif
