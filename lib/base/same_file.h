/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ZUG_SAME_FILE_H
#define ZUG_SAME_FILE_H

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

/* The same file, of which nothing was written or changed between. */
static inline bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       !memcmp(&a->st_mtim, &b->st_mtim, sizeof(a->st_mtim)) && !memcmp(&a->st_ctim, &b->st_ctim, sizeof(a->st_ctim));
}

#endif
