/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace_frames.h - checksums and compression of a trace's frames
 *
 * zug has trace_frames.c, with zlib and zstd; libzug has a file of its own (lib/zug/frames.c), which
 * needs no library and stores frames as they are.
 */
#ifndef ZUG_TRACE_FRAMES_H
#define ZUG_TRACE_FRAMES_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32 as zlib has it. */
uint32_t trace_crc32(const void *p, size_t len);

/* The bytes that trace_compress() may need for so many. */
size_t trace_compress_bound(size_t len);
/*
 * The number of bytes in to, or -errno; what is not smaller than len is to be stored as it is. *state is
 * NULL at first, and kept for the next call; trace_compress_end() frees it.
 */
long trace_compress(void **state, void *to, size_t room, const void *from, size_t len);
void trace_compress_end(void *state);
/* The number of bytes in to; -EBADMSG: damaged; -ENOTSUP: only stored frames can be read. */
long trace_decompress(void *to, size_t room, const void *from, size_t len);

#endif
