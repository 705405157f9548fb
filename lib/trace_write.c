// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_write.c - the writing side of trace.h
 *
 * Records are appended to a buffer (put_*(), open and close of a record); trace_flush() compresses
 * the buffer into a frame and writes that. Steps are the bulk: trace_add_step() writes what differs
 * from its prediction, which trace_steps.c makes again. Read docs/trace-format.md first.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/base/array.h"
#include "lib/base/hash.h"
#include "lib/base/new_file.h"
#include "lib/trace.h"
#include "lib/trace_format.h"
#include "lib/trace_frames.h"

#define HINTS (2 * TRACE_LABELS)

struct trace_writer {
	char *path;
	int fd;			/* -1 until the first frame: a discarded execution costs no file */
	int error;		/* the first, negative; 0 none */
	uint64_t written;
	uint64_t sum;		/* trace_sum() */

	unsigned char *buf;	/* records of the frame being built */
	size_t len, size;
	size_t body;		/* where the body of the open record begins */
	size_t summed;		/* what of the buffer has gone into the sum, or stays out of it */
	unsigned char *frame;	/* head and stored bytes */
	size_t frame_size;
	void *compressor;

	/* what the next step is predicted from */
	uint64_t nr_steps;
	uint32_t task;
	uint32_t *enabled;
	uint32_t nr_enabled, enabled_size;
	uint64_t *bits;			/* the same set where steps have trace_step.bits */
	size_t nr_words, used_words;	/* room; of which these may have bits */
	uint32_t *toggles;		/* the tasks of one of the two sets, ascending: the last step's, and this one's */
	uint32_t nr_toggles, room_toggles;
	struct zug_label *labels;	/* the ring */
	uint32_t nr_labels, next_label;
	uint16_t *hints;		/* hash of a label -> its index in the ring, perhaps */
};

static int fail(struct trace_writer *w, int err)
{
	if (!w->error)
		w->error = err;
	return w->error;
}

static bool reserve(struct trace_writer *w, size_t more)
{
	if (w->error)
		return false;
	if (w->len + more > TRACE_FRAME_MAX) {
		fail(w, -E2BIG);
		return false;
	}
	if (ARRAY_RESERVE(w->buf, w->size, w->len + more))
		return true;
	fail(w, -ENOMEM);
	return false;
}

static void put_varint(struct trace_writer *w, uint64_t v)
{
	/* most are small, and a step has a dozen */
	if (v < 0x80 && w->len < w->size && w->len < TRACE_FRAME_MAX && !w->error)
		w->buf[w->len++] = (unsigned char)v;
	else if (reserve(w, 10))
		w->len += trace_put_varint(w->buf + w->len, v);
}

/* Length + 1 and the bytes; 0 for NULL. */
static void put_string(struct trace_writer *w, const char *s)
{
	size_t n = s ? strlen(s) : 0;

	put_varint(w, s ? n + 1 : 0);
	if (n && reserve(w, n)) {
		memcpy(w->buf + w->len, s, n);
		w->len += n;
	}
}

static void put_strings(struct trace_writer *w, char *const *v)
{
	uint64_t n = 0;

	while (v && v[n])
		n++;
	put_varint(w, n);
	for (uint64_t i = 0; i < n; i++)
		put_string(w, v[i]);
}

static void put_frames(struct trace_writer *w, const struct trace_frame *f, uint32_t n)
{
	put_varint(w, n);
	for (uint32_t i = 0; i < n; i++) {
		put_string(w, f[i].function);
		put_string(w, f[i].file);
		put_varint(w, (uint64_t)f[i].line << 1 | f[i].inlined);
	}
}

static int write_all(struct trace_writer *w, const unsigned char *p, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t r = write(w->fd, p + done, n - done);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0) {
			int err = r < 0 ? -errno : -EIO;

			/* The file that stays behind must end with a whole frame. */
			if (ftruncate(w->fd, w->written) == 0)
				lseek(w->fd, w->written, SEEK_SET);
			return err;
		}
		done += r;
	}
	w->written += n;
	return 0;
}

static int start_file(struct trace_writer *w)
{
	unsigned char preamble[TRACE_PREAMBLE_LEN] = { 0 };

	w->fd = new_file(w->path, 0666);
	if (w->fd < 0)
		return w->fd;
	memcpy(preamble, TRACE_MAGIC, TRACE_MAGIC_LEN);
	trace_put_u32(preamble + 8, TRACE_VERSION);
	return write_all(w, preamble, sizeof(preamble));
}

int trace_flush(struct trace_writer *w)
{
	size_t bound = trace_compress_bound(w->len);
	long stored;
	unsigned char *p;
	int err;

	if (w->error || !w->len)
		return w->error;
	if (w->fd < 0) {
		err = start_file(w);
		if (err)
			return fail(w, err);
	}
	if (!ARRAY_RESERVE(w->frame, w->frame_size, TRACE_FRAME_HEAD_LEN + bound))
		return fail(w, -ENOMEM);
	p = w->frame + TRACE_FRAME_HEAD_LEN;
	stored = trace_compress(&w->compressor, p, bound, w->buf, w->len);
	if (stored < 0)
		return fail(w, (int)stored);
	if ((size_t)stored >= w->len) {
		stored = (long)w->len;
		memcpy(p, w->buf, stored);
	}
	trace_put_u32(w->frame, stored);
	trace_put_u32(w->frame + 4, w->len);
	trace_put_u32(w->frame + 8, trace_crc32(p, stored));
	trace_put_u32(w->frame + 12, trace_crc32(w->frame, 12));
	err = write_all(w, w->frame, TRACE_FRAME_HEAD_LEN + stored);
	if (err)
		return fail(w, err);
	w->len = 0;
	return 0;
}

/*
 * What was put since the last call goes into the sum, eight bytes at a time: this is done at each step of each execution.
 * (A product moves no bit down, so the upper half is folded in.)
 */
static void add_to_sum(struct trace_writer *w)
{
	size_t at = w->summed, end = w->error ? at : w->len;
	uint64_t word;

	for (; at + sizeof(word) <= end; at += sizeof(word)) {
		memcpy(&word, w->buf + at, sizeof(word));
		w->sum = (w->sum ^ word) * 0x9e3779b97f4a7c15ull;
		w->sum ^= w->sum >> 32;
	}
	if (at < end)
		w->sum = hash_bytes(w->sum, w->buf + at, end - at);
	w->summed = w->len;
}

/* A number that two executions of the same schedule need not share: it stays out of the sum. */
static void put_unsummed(struct trace_writer *w, uint64_t v)
{
	add_to_sum(w);
	put_varint(w, v);
	w->summed = w->len;
}

uint64_t trace_sum(const struct trace_writer *w)
{
	return w->sum;
}

static void begin_record(struct trace_writer *w, enum trace_tag tag)
{
	if (reserve(w, 1))
		w->buf[w->len++] = tag;
	w->body = w->summed = w->len;
}

/* The length of the body is known only now: it is moved up to let the length in. */
static int end_record(struct trace_writer *w)
{
	unsigned char length[10];
	size_t n;

	if (w->error)
		return w->error;
	add_to_sum(w);
	n = trace_put_varint(length, w->len - w->body);
	if (!reserve(w, n))
		return w->error;
	memmove(w->buf + w->body + n, w->buf + w->body, w->len - w->body);
	memcpy(w->buf + w->body, length, n);
	w->len += n;
	return w->len >= TRACE_FRAME_TARGET ? trace_flush(w) : 0;
}

/*
 * The file is made with the first frame. That it cannot be made is better said now than when the
 * first bug has been found.
 */
static int check_path(const char *path)
{
	char *copy;
	struct stat st;
	int err = 0;

	if (stat(path, &st) == 0) {
		if (S_ISDIR(st.st_mode))
			return -EISDIR;
		return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) ? -errno : 0;
	}
	if (errno != ENOENT)
		return -errno;
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	if (faccessat(AT_FDCWD, dirname(copy), W_OK | X_OK, AT_EACCESS))
		err = -errno;
	free(copy);
	return err;
}

struct trace_writer *trace_create(const char *path, const struct trace_header *h, int *err)
{
	*err = check_path(path);
	return *err ? NULL : trace_create_again(path, h, err);
}

struct trace_writer *trace_create_again(const char *path, const struct trace_header *h, int *err)
{
	struct trace_writer *w;

	*err = -ENOMEM;
	w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	w->fd = -1;
	w->task = TRACE_NO_TASK;
	w->size = 8192;
	w->path = strdup(path);
	w->buf = malloc(w->size);
	if (!w->path || !w->buf)
		goto out;

	begin_record(w, TRACE_TAG_HEADER);
	put_strings(w, h->argv);
	put_string(w, h->cwd);
	put_strings(w, h->envp);
	put_string(w, h->kernel);
	put_string(w, h->zug_version);
	put_string(w, h->strategy);
	put_varint(w, h->seed);
	put_varint(w, h->execution);
	put_string(w, h->options);
	put_varint(w, h->copied);
	*err = end_record(w);
	w->sum = HASH_BEGIN;
	if (!*err)
		return w;
out:
	trace_close(w, true);
	return NULL;
}

int trace_add_task(struct trace_writer *w, const struct trace_task *t)
{
	begin_record(w, TRACE_TAG_TASK);
	put_varint(w, t->task);
	put_varint(w, t->parent == TRACE_NO_TASK ? 0 : (uint64_t)t->parent + 1);
	put_varint(w, t->nth);
	put_unsummed(w, t->pid);
	put_varint(w, t->process);
	put_string(w, t->comm);
	return end_record(w);
}

int trace_add_module(struct trace_writer *w, const struct trace_module *m)
{
	begin_record(w, TRACE_TAG_MODULE);
	put_varint(w, m->module);
	put_string(w, m->path);
	put_string(w, m->build_id);
	return end_record(w);
}

int trace_add_site(struct trace_writer *w, const struct trace_site *s)
{
	begin_record(w, TRACE_TAG_SITE);
	put_varint(w, s->site);
	put_varint(w, s->module == UINT32_MAX ? 0 : (uint64_t)s->module + 1);
	put_varint(w, s->offset);
	put_frames(w, s->frames, s->nr_frames);
	if (s->data)
		put_string(w, s->data);
	return end_record(w);
}

int trace_add_object(struct trace_writer *w, const struct trace_object *o)
{
	begin_record(w, TRACE_TAG_OBJECT);
	put_varint(w, o->object);
	put_string(w, o->kind);
	put_string(w, o->name);
	return end_record(w);
}

int trace_add_note(struct trace_writer *w, const struct trace_note *n)
{
	begin_record(w, TRACE_TAG_NOTE);
	put_varint(w, n->kind);
	put_varint(w, n->task == TRACE_NO_TASK ? 0 : (uint64_t)n->task + 1);
	put_varint(w, n->arg == TRACE_NO_TASK ? 0 : (uint64_t)n->arg + 1);
	put_varint(w, n->object);
	put_string(w, n->text);
	return end_record(w);
}

int trace_add_stack(struct trace_writer *w, const struct trace_stack *s)
{
	begin_record(w, TRACE_TAG_STACK);
	put_varint(w, s->task);
	put_string(w, s->state);
	put_frames(w, s->frames, s->nr_frames);
	return end_record(w);
}

int trace_add_outcome(struct trace_writer *w, const struct trace_outcome *o)
{
	begin_record(w, TRACE_TAG_OUTCOME);
	put_varint(w, o->kind);
	put_varint(w, (uint32_t)o->code);
	put_varint(w, o->failure);
	put_varint(w, o->ungranted);
	put_unsummed(w, o->wall_ns);
	put_string(w, o->message);
	put_string(w, o->out_head);
	put_string(w, o->out_tail);
	put_string(w, o->err_head);
	put_string(w, o->err_tail);
	return end_record(w);
}

static void put_label(struct trace_writer *w, const struct zug_label *l)
{
	put_varint(w, l->op);
	put_varint(w, l->flags);
	put_varint(w, l->object);
	put_varint(w, l->object2);
	put_varint(w, l->site);
}

static void put_critical(struct trace_writer *w, const struct trace_minimized *m)
{
	const struct trace_critical *c = &m->critical;

	put_varint(w, m->near);
	put_varint(w, c->known ? 1 + c->alone : c->torn ? 3 : 0);
	if (c->known || c->torn) {
		put_varint(w, c->first_task);
		put_varint(w, c->first_step + 1);
		put_label(w, &c->first);
		put_varint(w, c->second_task);
		put_varint(w, c->second_step + 1);
		put_label(w, &c->second);
	}
	put_varint(w, m->alike);
}

int trace_add_minimized(struct trace_writer *w, const struct trace_minimized *m)
{
	begin_record(w, TRACE_TAG_MINIMIZED);
	put_varint(w, m->executions);
	put_varint(w, m->minimal);
	put_varint(w, m->steps_before);
	put_varint(w, m->preemptions_before);
	put_varint(w, m->preemptions);
	put_varint(w, m->decisions_before);
	put_varint(w, m->decisions);
	put_varint(w, m->nr_pairs);
	for (uint32_t i = 0; i < m->nr_pairs; i++) {
		const struct trace_pair *p = &m->pairs[i];

		put_varint(w, p->step);
		put_varint(w, p->after_step == UINT64_MAX ? 0 : p->after_step + 1);
		put_varint(w, p->preempted);
		put_varint(w, p->by);
		put_label(w, &p->before);
		put_label(w, &p->after);
	}
	put_critical(w, m);
	return end_record(w);
}

static uint32_t hash_label(const struct zug_label *l)
{
	uint64_t h = l->op | (uint64_t)l->flags << 16;

	h = (h ^ l->object) * 0x9e3779b97f4a7c15u;
	h = (h ^ h >> 32 ^ l->object2) * 0x9e3779b97f4a7c15u;
	h = (h ^ h >> 32 ^ l->site) * 0x9e3779b97f4a7c15u;
	return h >> 40;
}

/* The index of the label, or -1 when it has to be written out (and has now got one). */
static int find_label(struct trace_writer *w, const struct zug_label *l)
{
	uint16_t *hint;

	if (!w->labels) {
		/* without zeros: nr_labels says how far it is written, and this is large for a short execution */
		w->labels = malloc(TRACE_LABELS * sizeof(*w->labels));
		w->hints = calloc(HINTS, sizeof(*w->hints));
		if (!w->labels || !w->hints) {
			fail(w, -ENOMEM);
			return -1;
		}
	}
	hint = &w->hints[hash_label(l) % HINTS];
	if (*hint < w->nr_labels && trace_label_equal(&w->labels[*hint], l))
		return *hint;
	*hint = w->next_label;
	w->labels[w->next_label] = *l;
	w->next_label = (w->next_label + 1) % TRACE_LABELS;
	if (w->nr_labels < TRACE_LABELS)
		w->nr_labels++;
	return -1;
}

/* ---- which tasks are enabled now and were not, or were and are not ---- */

/* After room was made for it. */
static void add_toggle(struct trace_writer *w, uint32_t task)
{
	w->toggles[w->nr_toggles++] = task;
}

/* Sets change little from step to step: so many members that are the same are passed over at once. */
#define SAME 16

/* Both ascending lists at once. */
static int compare_lists(struct trace_writer *w, const struct trace_step *s)
{
	uint32_t i = 0, j = 0, same = SAME;

	if (!ARRAY_RESERVE(w->toggles, w->room_toggles, (size_t)w->nr_enabled + s->nr_enabled))
		return -ENOMEM;
	while (i < w->nr_enabled || j < s->nr_enabled) {
		if (j && j < s->nr_enabled && s->enabled[j] <= s->enabled[j - 1])
			return -EINVAL;
		if (same >= SAME && i + SAME <= w->nr_enabled && j + SAME <= s->nr_enabled &&
		    !memcmp(&w->enabled[i], &s->enabled[j], SAME * sizeof(*s->enabled))) {
			i += SAME;
			j += SAME;
			continue;
		}
		if (same >= SAME)
			same = 0;
		if (i < w->nr_enabled && j < s->nr_enabled && w->enabled[i] == s->enabled[j]) {
			i++, j++, same++;
			continue;
		}
		same = SAME;
		if (j == s->nr_enabled || (i < w->nr_enabled && w->enabled[i] < s->enabled[j]))
			add_toggle(w, w->enabled[i++]);
		else
			add_toggle(w, s->enabled[j++]);
	}
	return 0;
}

static int compare_bits(struct trace_writer *w, const struct trace_step *s)
{
	uint32_t words = w->used_words > s->nr_words ? w->used_words : s->nr_words;

	for (uint32_t i = 0; i < words; i++) {
		uint64_t toggled = (i < w->used_words ? w->bits[i] : 0) ^ (i < s->nr_words ? s->bits[i] : 0);

		if (toggled && !ARRAY_RESERVE(w->toggles, w->room_toggles, w->nr_toggles + 64))
			return -ENOMEM;
		for (; toggled; toggled &= toggled - 1)
			add_toggle(w, i * 64 + (uint32_t)__builtin_ctzll(toggled));
	}
	return 0;
}

static int find_toggles(struct trace_writer *w, const struct trace_step *s)
{
	w->nr_toggles = 0;
	if (s->bits)
		return compare_bits(w, s);
	if (s->nr_enabled && s->nr_enabled == w->nr_enabled &&
	    !memcmp(w->enabled, s->enabled, s->nr_enabled * sizeof(*s->enabled)))
		return 0;
	return compare_lists(w, s);
}

static void put_toggles(struct trace_writer *w)
{
	put_varint(w, w->nr_toggles);
	for (uint32_t i = 0; i < w->nr_toggles; i++)
		put_varint(w, i ? w->toggles[i] - w->toggles[i - 1] - 1 : w->toggles[i]);
}

static bool enabled_set(struct trace_writer *w, const struct trace_step *s)
{
	if (s->bits) {
		if (!ARRAY_RESERVE(w->bits, w->nr_words, s->nr_words)) {
			fail(w, -ENOMEM);
			return false;
		}
		memcpy(w->bits, s->bits, s->nr_words * sizeof(*w->bits));
		w->used_words = s->nr_words;
		return true;
	}
	if (!ARRAY_RESERVE(w->enabled, w->enabled_size, s->nr_enabled)) {
		fail(w, -ENOMEM);
		return false;
	}
	if (s->nr_enabled)
		memcpy(w->enabled, s->enabled, s->nr_enabled * sizeof(*w->enabled));
	w->nr_enabled = s->nr_enabled;
	return true;
}

int trace_add_step(struct trace_writer *w, const struct trace_step *s)
{
	unsigned int bits = 0;
	size_t start;
	int label, err;

	if (w->error)
		return w->error;
	if (s->step != w->nr_steps || s->task == TRACE_NO_TASK)
		return fail(w, -EINVAL);
	err = find_toggles(w, s);
	if (err)
		return fail(w, err);
	start = w->summed = w->len;
	if (!reserve(w, 1))
		return w->error;
	w->len++;
	if (s->task != w->task) {
		bits |= TRACE_STEP_TASK;
		put_varint(w, s->task);
	}
	if (s->last != w->task) {
		bits |= TRACE_STEP_LAST;
		put_varint(w, s->last == TRACE_NO_TASK ? 0 : (uint64_t)s->last + 1);
	}
	if (w->nr_toggles) {
		bits |= TRACE_STEP_ENABLED;
		put_toggles(w);
		if (!enabled_set(w, s))
			return w->error;
	}
	if (s->flags) {
		bits |= TRACE_STEP_FLAGS;
		put_varint(w, s->flags);
	}
	label = find_label(w, &s->label);
	if (label < 0) {
		bits |= TRACE_STEP_LITERAL;
		put_label(w, &s->label);
	} else {
		put_varint(w, label);
	}
	if (w->error)
		return w->error;
	w->buf[start] = TRACE_STEP_TAG | bits;
	add_to_sum(w);
	w->task = s->task;
	w->nr_steps++;
	return w->len >= TRACE_FRAME_TARGET ? trace_flush(w) : 0;
}

int trace_close(struct trace_writer *w, bool discard)
{
	int err;

	if (!w)
		return 0;
	if (!discard)
		trace_flush(w);
	if (w->fd >= 0) {
		if (discard) {
			new_file_unlink(w->path);
		} else if (!w->error && fsync(w->fd) && errno != EINVAL && errno != EROFS) {
			fail(w, -errno);
		}
		if (close(w->fd) && errno != EINTR)
			fail(w, -errno);
	}
	err = discard ? 0 : w->error;
	trace_compress_end(w->compressor);
	free(w->labels);
	free(w->hints);
	free(w->enabled);
	free(w->bits);
	free(w->toggles);
	free(w->frame);
	free(w->buf);
	free(w->path);
	free(w);
	return err;
}
