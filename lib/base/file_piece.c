/* SPDX-License-Identifier: GPL-2.0-only */
#include <unistd.h>
#include "lib/base/file_piece.h"

ssize_t file_piece_at(struct file_piece *p, off_t offset, ssize_t n, const uint8_t **bytes)
{
	if (offset < p->begin || offset + n > p->begin + p->len) {
		p->begin = offset;
		p->len = pread(p->fd, p->bytes, sizeof(p->bytes), offset);
	}
	*bytes = p->bytes + (offset - p->begin);
	return p->len < 0 ? -1 : p->begin + p->len - offset < n ? p->begin + p->len - offset : n;
}
