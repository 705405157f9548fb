/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <zlib.h>
#include <zstd.h>
#include "lib/trace_frames.h"

uint32_t trace_crc32(const void *p, size_t len)
{
	return crc32(0, p, len);
}

size_t trace_compress_bound(size_t len)
{
	return ZSTD_compressBound(len);
}

long trace_compress(void **state, void *to, size_t room, const void *from, size_t len)
{
	size_t n;

	if (!*state)
		*state = ZSTD_createCCtx();
	if (!*state)
		return -ENOMEM;
	n = ZSTD_compressCCtx(*state, to, room, from, len, 3);
	return ZSTD_isError(n) ? -EIO : (long)n;
}

void trace_compress_end(void *state)
{
	ZSTD_freeCCtx(state);
}

long trace_decompress(void *to, size_t room, const void *from, size_t len)
{
	size_t n = ZSTD_decompress(to, room, from, len);

	return ZSTD_isError(n) ? -EBADMSG : (long)n;
}
