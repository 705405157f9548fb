/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cache_file.h - files that are kept between runs, in $XDG_CACHE_HOME/zugzwang or ~/.cache/zugzwang
 *
 * Without a cache all works, so nothing says why there is none: no such folder, or none that may be written. A file of
 * another user is as good as none.
 */
#ifndef ZUG_CACHE_FILE_H
#define ZUG_CACHE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

/* A descriptor to read the file of that name from, or -errno. */
int cache_file_open(const char *name);
/* Puts these pieces into the file of that name, in one step: another zug may read it meanwhile. */
void cache_file_put(const char *name, const struct iovec *pieces, int nr);
/* n bytes, from where the file stands; false: there are not so many. */
bool cache_file_read(int fd, void *buf, size_t n);

#endif
