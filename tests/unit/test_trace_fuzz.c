// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_trace_fuzz.c - a bounded run of the fuzz target: the corpus, and mutations of it
 *
 * Frames are stored uncompressed here (the format allows it), so that a mutation changes records.
 * The same seeds give the same inputs; LONG=1 takes 50 times as many.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>
#include "lib/trace_format.h"
#include "noise.h"
#include "sample_trace.h"
#include "tests/fuzz/fuzz_trace.c"

#define INPUTS_MAX 32
#define INPUT_MAX (64u << 10)
#define MUTATIONS 4000

struct input {
	unsigned char *data;
	size_t len;
};

static struct input inputs[INPUTS_MAX];
static unsigned int nr_inputs;

/* The same trace with its frames stored as they are. */
static struct input unpack(const unsigned char *data, size_t len)
{
	struct input in = { malloc(INPUT_MAX), 0 };
	size_t at = TRACE_PREAMBLE_LEN;

	assert_non_null(in.data);
	if (len < at || memcmp(data, TRACE_MAGIC, TRACE_MAGIC_LEN))
		at = len;
	in.len = at < INPUT_MAX ? at : INPUT_MAX;
	memcpy(in.data, data, in.len);
	while (at + TRACE_FRAME_HEAD_LEN <= len) {
		size_t stored = trace_get_u32(data + at), raw = trace_get_u32(data + at + 4);
		unsigned char *head = in.data + in.len;

		at += TRACE_FRAME_HEAD_LEN;
		if (stored > len - at || raw > INPUT_MAX - in.len - TRACE_FRAME_HEAD_LEN)
			break;
		if (stored == raw)
			memcpy(head + TRACE_FRAME_HEAD_LEN, data + at, raw);
		else if (ZSTD_isError(ZSTD_decompress(head + TRACE_FRAME_HEAD_LEN, raw, data + at, stored)))
			break;
		trace_put_u32(head, raw);
		trace_put_u32(head + 4, raw);
		in.len += TRACE_FRAME_HEAD_LEN + raw;
		at += stored;
	}
	return in;
}

static void add_file(const char *path)
{
	unsigned char *buf = malloc(INPUT_MAX);
	FILE *f = fopen(path, "rb");
	size_t len;

	assert_non_null(buf);
	assert_non_null(f);
	len = fread(buf, 1, INPUT_MAX, f);
	fclose(f);
	assert_true(nr_inputs + 2 <= INPUTS_MAX);
	inputs[nr_inputs++] = unpack(buf, len);
	inputs[nr_inputs++] = (struct input){ buf, len };
}

static int gather(void **state)
{
	char dir[] = "/tmp/zug-test-fuzz-XXXXXX", path[600];
	const char *slash = strrchr(__FILE__, '/');
	struct dirent *e;
	DIR *d;

	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/t", dir);
	sample_deadlock(path, dir);
	add_file(path);
	sample_long(path, 300);
	add_file(path);
	unlink(path);
	snprintf(path, sizeof(path), "%s/abba.c", dir);
	unlink(path);
	rmdir(dir);
	snprintf(path, sizeof(path), "%.*s/../fuzz/corpus", (int)(slash - __FILE__), __FILE__);
	d = opendir(path);
	if (!d)
		return -1;
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%.*s/../fuzz/corpus/%s", (int)(slash - __FILE__), __FILE__,
			 e->d_name);
		add_file(path);
	}
	closedir(d);
	return 0;
}

static int drop(void **state)
{
	for (unsigned int i = 0; i < nr_inputs; i++)
		free(inputs[i].data);
	return 0;
}

/* Numbers that sit at the edges of what the decoder checks. */
static const unsigned char edges[][10] = {
	{ 0xff, 0xff, 0xff, 0xff, 0x0f }, { 0x80, 0x80, 0x80, 0x80, 0x10 },
	{ 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01 }, { 0 }, { 1 }, { 0x7f },
	{ 0x80, 0x20 }, { 0xff, 0xff, 0x03 },
};

static size_t mutate(unsigned char *buf, size_t len)
{
	for (unsigned int n = 1 + next_random() % 4; n; n--) {
		size_t at = len ? next_random() % len : 0, k = 1 + next_random() % 16;
		const struct input *other = &inputs[next_random() % nr_inputs];
		size_t from = next_random() % other->len;
		const unsigned char *edge = edges[next_random() % (sizeof(edges) / sizeof(*edges))];

		if (!len)
			return len;
		switch (next_random() % 7) {
		case 0:
			buf[at] ^= 1u << next_random() % 8;
			break;
		case 1:
			buf[at] = next_random();
			break;
		case 2:
			len = at;
			break;
		case 3:
			k = k < len - at ? k : len - at;
			memmove(buf + at, buf + at + k, len - at - k);
			len -= k;
			break;
		case 4:
			k = k < INPUT_MAX - len ? k : INPUT_MAX - len;
			memmove(buf + at + k, buf + at, len - at);
			len += k;
			break;
		case 5:
			k = k * 8 < len - at ? k * 8 : len - at;
			k = k < other->len - from ? k : other->len - from;
			memcpy(buf + at, other->data + from, k);
			break;
		default:
			for (k = 0; k < 10 && at + k < len; k++) {
				buf[at + k] = edge[k];
				if (!(edge[k] & 0x80))
					break;
			}
		}
	}
	return len;
}

static void the_corpus_is_read(void **state)
{
	for (unsigned int i = 0; i < nr_inputs; i++)
		LLVMFuzzerTestOneInput(inputs[i].data, inputs[i].len);
}

static void mutations_do_no_harm(void **state)
{
	unsigned char *buf = malloc(INPUT_MAX);
	unsigned int nr = MUTATIONS * (getenv("LONG") ? 50 : 1);

	assert_non_null(buf);
	for (unsigned int i = 0; i < nr; i++) {
		const struct input *in = &inputs[next_random() % nr_inputs];

		memcpy(buf, in->data, in->len);
		LLVMFuzzerTestOneInput(buf, mutate(buf, in->len));
	}
	free(buf);
}

static void noise_does_no_harm(void **state)
{
	unsigned char *buf = malloc(4096);

	assert_non_null(buf);
	for (unsigned int i = 0; i < 500; i++) {
		size_t len = next_random() % 512;

		for (size_t k = 0; k < len; k++)
			buf[k] = next_random();
		LLVMFuzzerTestOneInput(buf, len);
		/* the same as the records of one frame */
		if (len > TRACE_PREAMBLE_LEN + TRACE_FRAME_HEAD_LEN) {
			size_t n = len - TRACE_PREAMBLE_LEN - TRACE_FRAME_HEAD_LEN;

			trace_put_u32(buf + TRACE_PREAMBLE_LEN, n);
			trace_put_u32(buf + TRACE_PREAMBLE_LEN + 4, n);
			LLVMFuzzerTestOneInput(buf, len);
		}
	}
	free(buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_corpus_is_read),
		cmocka_unit_test(mutations_do_no_harm),
		cmocka_unit_test(noise_does_no_harm),
	};

	return cmocka_run_group_tests(tests, gather, drop);
}
