/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ZUG_FILE_PIECE_H
#define ZUG_FILE_PIECE_H

#include <stdint.h>
#include <sys/types.h>

/*
 * A piece of a file, for many short looks in ascending order: those that lie near each other take one read together. It does
 * not see what is written to the file meanwhile. Begins as { .fd = FD }.
 */
struct file_piece {
	int fd;
	off_t begin;
	ssize_t len;
	uint8_t bytes[4096];
};

/* n bytes of the file at that offset, or as many as it has. Returns how many, with *bytes; -1: it cannot be read. */
ssize_t file_piece_at(struct file_piece *p, off_t offset, ssize_t n, const uint8_t **bytes);

#endif
