/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ZUG_FILE_COPY_H
#define ZUG_FILE_COPY_H

/* Appends all that can be read from the regular file in, from its position on, at the position of out. 0 or -errno. */
int file_copy(int in, int out);

#endif
