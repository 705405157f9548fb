/* SPDX-License-Identifier: GPL-2.0-only */
/* frames.c - frames of traces without a library: they are stored as they are */
#include <errno.h>
#include "lib/trace_frames.h"

uint32_t trace_crc32(const void *p, size_t len)
{
	const unsigned char *byte = p;
	uint32_t crc = ~0u;

	while (len--) {
		crc ^= *byte++;
		for (int i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

size_t trace_compress_bound(size_t len)
{
	return len;
}

long trace_compress(void **state, void *to, size_t room, const void *from, size_t len)
{
	(void)state, (void)to, (void)room, (void)from;
	return (long)len;
}

void trace_compress_end(void *state)
{
	(void)state;
}

long trace_decompress(void *to, size_t room, const void *from, size_t len)
{
	(void)to, (void)room, (void)from, (void)len;
	return -ENOTSUP;
}
