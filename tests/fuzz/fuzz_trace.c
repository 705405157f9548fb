// SPDX-License-Identifier: GPL-2.0-only
/*
 * fuzz_trace.c - reads any bytes as a trace, and prints all reports of it
 *
 * With libFuzzer:  clang -g -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -iquote . -iquote userspace \
 *	tests/fuzz/fuzz_trace.c $(find lib userspace/report userspace/symbols -name '*.c') \
 *	-ldw -lelf -lzstd -ljson-c -lz -liberty -o build/fuzz_trace && build/fuzz_trace tests/fuzz/corpus
 * In `make check`, tests/unit/test_trace_fuzz.c drives it with mutations of its own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "fuzz_trace.h"
#include "lib/trace_format.h"
#include "report/report.h"

/* A mutation with wrong checksums never reaches the decoder, so the checksums are made right. */
static void fix_checksums(unsigned char *data, size_t len)
{
	size_t at = TRACE_PREAMBLE_LEN;

	if (len >= TRACE_PREAMBLE_LEN) {
		memcpy(data, TRACE_MAGIC, TRACE_MAGIC_LEN);
		trace_put_u32(data + 8, TRACE_VERSION);
		trace_put_u32(data + 12, 0);
	}
	while (at + TRACE_FRAME_HEAD_LEN <= len) {
		unsigned char *head = data + at, *stored = head + TRACE_FRAME_HEAD_LEN;
		size_t n = trace_get_u32(head);
		bool plain = n == trace_get_u32(head + 4);

		if (n > len - at - TRACE_FRAME_HEAD_LEN)
			n = len - at - TRACE_FRAME_HEAD_LEN;
		trace_put_u32(head, n);
		if (plain)
			trace_put_u32(head + 4, n);
		trace_put_u32(head + 8, crc32(0, stored, n));
		trace_put_u32(head + 12, crc32(0, head, 12));
		at += TRACE_FRAME_HEAD_LEN + n;
	}
}

static void use(const unsigned char *data, size_t len)
{
	struct report_options o;
	struct trace *t;
	char err[256] = "";
	FILE *null;

	t = trace_parse(data, len, err, sizeof(err));
	if (!t) {
		/* exactly one line */
		if (!err[0] || strchr(err, '\n'))
			abort();
		return;
	}
	null = fopen("/dev/null", "w");
	if (!null)
		abort();
	report_options_init(&o, null);
	report_trace(null, t, &o);
	report_finding(null, t, &o);
	o.all = true;
	o.width = 40;
	o.colour = true;
	report_trace(null, t, &o);
	report_json(null, t, &o);
	if (report_html(null, t, &o, "x") || report_perfetto(null, t, &o))
		abort();
	fclose(null);
	trace_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	unsigned char *copy = malloc(len ? len : 1);

	if (!copy)
		return 0;
	memcpy(copy, data, len);
	use(copy, len);
	fix_checksums(copy, len);
	use(copy, len);
	free(copy);
	return 0;
}
