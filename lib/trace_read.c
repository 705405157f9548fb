// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_read.c - the reading side of trace.h: the file, its frames, and access to what is in it
 *
 * trace_open() reads the whole file, checks and decompresses its frames one by one, and hands each
 * to trace_decode() of trace_decode.c, which fills the tables. What a crafted file may cost is
 * bounded (trace_format.h). Read docs/trace-format.md first.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/base/array.h"
#include "lib/trace_frames.h"
#include "lib/trace_reader.h"

static void say(char *err, size_t errlen, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void say(char *err, size_t errlen, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err, errlen, fmt, ap);
	va_end(ap);
}

static int check_preamble(const unsigned char *p, size_t len, char *err, size_t errlen)
{
	size_t n = len < TRACE_MAGIC_LEN ? len : TRACE_MAGIC_LEN;
	uint32_t version;

	if (!len) {
		say(err, errlen, "is empty");
		return -EBADMSG;
	}
	if (memcmp(p, TRACE_MAGIC, n)) {
		/* A transfer that rewrites line ends leaves the first four bytes alone. */
		say(err, errlen, "%s", n >= 4 && !memcmp(p, TRACE_MAGIC, 4) ?
		    "damaged: was copied as text, not as a binary file" : "not a zugzwang trace");
		return -EBADMSG;
	}
	if (len < TRACE_PREAMBLE_LEN) {
		say(err, errlen, "cut off before its header");
		return -EBADMSG;
	}
	version = trace_get_u32(p + 8);
	if (!version || trace_get_u32(p + 12)) {
		say(err, errlen, "damaged at byte 8: no valid version");
		return -EBADMSG;
	}
	if (version > TRACE_VERSION) {
		say(err, errlen, "is a version %u trace, made by a newer zugzwang: this one reads "
		    "version %u", version, TRACE_VERSION);
		return -EBADMSG;
	}
	return 0;
}

/* One frame at byte at of the file. The number of its bytes, 0 when it is cut off, or -errno. */
static int64_t read_frame(struct trace *t, const unsigned char *data, size_t len, size_t at,
			  unsigned char **raw, size_t *raw_size, char *err, size_t errlen)
{
	const unsigned char *p = data + at, *records;
	uint32_t stored, rawlen;
	const char *why;
	size_t where;
	long n;
	int ret;

	if (len - at < TRACE_FRAME_HEAD_LEN)
		return 0;
	stored = trace_get_u32(p);
	rawlen = trace_get_u32(p + 4);
	if (trace_crc32(p, 12) != trace_get_u32(p + 12) || !stored || stored > rawlen ||
	    rawlen > TRACE_FRAME_MAX) {
		say(err, errlen, "damaged at byte %zu: the frame head is wrong", at);
		return -EBADMSG;
	}
	if (stored > len - at - TRACE_FRAME_HEAD_LEN)
		return 0;
	p += TRACE_FRAME_HEAD_LEN;
	if (trace_crc32(p, stored) != trace_get_u32(p - 8)) {
		say(err, errlen, "damaged at byte %zu: the checksum of a frame of %u bytes is wrong",
		    at, stored);
		return -EBADMSG;
	}
	records = p;
	if (stored < rawlen) {
		if (*raw_size < rawlen) {
			free(*raw);
			*raw_size = 0;
			*raw = malloc(rawlen);
			if (!*raw) {
				say(err, errlen, "out of memory");
				return -ENOMEM;
			}
			*raw_size = rawlen;
		}
		n = trace_decompress(*raw, rawlen, p, stored);
		if (n == -ENOTSUP) {
			say(err, errlen, "its frames are compressed, which libzug cannot read");
			return n;
		}
		if (n != rawlen) {
			say(err, errlen, "damaged at byte %zu: a frame does not decompress", at);
			return -EBADMSG;
		}
		records = *raw;
	}
	ret = trace_decode(t, records, rawlen, &why, &where);
	if (ret == -EBADMSG)
		say(err, errlen, "damaged at byte %zu: %s (record byte %zu of the frame there)",
		    at, why, where);
	else if (ret == -EFBIG)
		say(err, errlen, "too large: its decoded form needs more than %llu MiB",
		    (unsigned long long)(t->memory_max >> 20));
	else if (ret)
		say(err, errlen, "%s", why);
	return ret ? ret : (int64_t)TRACE_FRAME_HEAD_LEN + stored;
}

struct trace *trace_parse(const void *data, size_t len, char *err, size_t errlen)
{
	struct trace *t;
	unsigned char *raw = NULL;
	size_t raw_size = 0, at = TRACE_PREAMBLE_LEN;
	int64_t n;

	if (check_preamble(data, len, err, errlen))
		return NULL;
	t = trace_new();
	if (!t) {
		say(err, errlen, "out of memory");
		return NULL;
	}
	while (at < len) {
		n = read_frame(t, data, len, at, &raw, &raw_size, err, errlen);
		if (n < 0)
			goto bad;
		if (!n) {
			t->truncated = true;
			break;
		}
		at += n;
	}
	if (!t->has_header) {
		say(err, errlen, "cut off before its header");
		goto bad;
	}
	/* A writer that died between two frames leaves no half frame behind, but no outcome. */
	if (!t->has_outcome)
		t->truncated = true;
	free(raw);
	trace_decode_end(t);
	return t;
bad:
	free(raw);
	trace_free(t);
	return NULL;
}

static int read_file(int fd, unsigned char **data, size_t *len, char *err, size_t errlen)
{
	size_t size = 64u << 10, n = 0;
	unsigned char *buf = malloc(size), *p;
	ssize_t r;

	while (buf) {
		r = read(fd, buf + n, size - n);
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0) {
			say(err, errlen, "%s", strerror(errno));
			free(buf);
			return -EIO;
		}
		if (r == 0) {
			*data = buf;
			*len = n;
			return 0;
		}
		n += r;
		/* Known foreign at once: the file may be a disk image or an endless device. */
		if (n >= TRACE_PREAMBLE_LEN && n - r < TRACE_PREAMBLE_LEN &&
		    check_preamble(buf, n, err, errlen)) {
			free(buf);
			return -EBADMSG;
		}
		if (n < size)
			continue;
		if (size >= TRACE_FILE_MAX) {
			say(err, errlen, "too large: more than %llu MiB", TRACE_FILE_MAX >> 20);
			free(buf);
			return -EFBIG;
		}
		size *= 2;
		p = realloc(buf, size);
		if (!p)
			free(buf);
		buf = p;
	}
	say(err, errlen, "out of memory");
	return -ENOMEM;
}

struct trace *trace_open(const char *path, char *err, size_t errlen)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char why[200];
	unsigned char *data;
	size_t len;
	struct trace *t = NULL;

	if (fd < 0) {
		say(err, errlen, "%s: %s", path, strerror(errno));
		return NULL;
	}
	if (read_file(fd, &data, &len, why, sizeof(why)) == 0) {
		t = trace_parse(data, len, why, sizeof(why));
		free(data);
	}
	close(fd);
	if (!t)
		say(err, errlen, "%s: %s", path, why);
	return t;
}

bool trace_truncated(const struct trace *t)
{
	return t->truncated;
}

const struct trace_header *trace_header(const struct trace *t)
{
	return &t->header;
}

const struct trace_outcome *trace_outcome(const struct trace *t)
{
	return t->has_outcome ? &t->outcome : NULL;
}

const struct trace_minimized *trace_minimized(const struct trace *t)
{
	return t->has_minimized ? &t->minimized : NULL;
}

uint64_t trace_nr_steps(const struct trace *t)
{
	return t->nr_steps;
}

const struct trace_step *trace_step(const struct trace *t, uint64_t i)
{
	return i < t->nr_steps ? &t->chunks[i / STEP_CHUNK][i % STEP_CHUNK] : NULL;
}

const struct trace_task *trace_task(const struct trace *t, uint32_t task)
{
	int64_t i = trace_table_find(&t->tasks, task, trace_task_id);

	return i < 0 ? NULL : (const struct trace_task *)t->tasks.entries + i;
}

const struct trace_module *trace_module(const struct trace *t, uint32_t module)
{
	int64_t i = trace_table_find(&t->modules, module, trace_module_id);

	return i < 0 ? NULL : (const struct trace_module *)t->modules.entries + i;
}

const struct trace_site *trace_site(const struct trace *t, uint64_t site)
{
	int64_t i = trace_table_find(&t->sites, site, trace_site_id);

	return i < 0 ? NULL : (const struct trace_site *)t->sites.entries + i;
}

const struct trace_object *trace_object(const struct trace *t, uint64_t object)
{
	int64_t i = trace_table_find(&t->objects, object, trace_object_id);

	return i < 0 ? NULL : (const struct trace_object *)t->objects.entries + i;
}

uint32_t trace_nr_tasks(const struct trace *t)
{
	return t->tasks.nr;
}

const struct trace_task *trace_task_at(const struct trace *t, uint32_t i)
{
	return i < t->tasks.nr ? (const struct trace_task *)t->tasks.entries + i : NULL;
}

const struct trace_object *trace_object_at(const struct trace *t, uint32_t i)
{
	return i < t->objects.nr ? (const struct trace_object *)t->objects.entries + i : NULL;
}

uint32_t trace_nr_stacks(const struct trace *t)
{
	return t->nr_stacks;
}

const struct trace_stack *trace_stack_at(const struct trace *t, uint32_t i)
{
	return i < t->nr_stacks ? &t->stacks[i] : NULL;
}

/* The first note that is not before step i. */
static uint32_t first_note(const struct trace *t, uint64_t i)
{
	return ARRAY_FROM(t->nr_notes, n, t->notes[n].step < i);
}

uint32_t trace_nr_notes(const struct trace *t, uint64_t i)
{
	uint32_t first = first_note(t, i), n = 0;

	while (first + n < t->nr_notes && t->notes[first + n].step == i)
		n++;
	return n;
}

const struct trace_note *trace_note_at(const struct trace *t, uint64_t i, uint32_t k)
{
	uint64_t n = (uint64_t)first_note(t, i) + k;

	return n < t->nr_notes && t->notes[n].step == i ? &t->notes[n].note : NULL;
}
