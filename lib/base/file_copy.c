/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stddef.h>
#include <sys/sendfile.h>
#include "lib/base/file_copy.h"

int file_copy(int in, int out)
{
	ssize_t n;

	do
		n = sendfile(out, in, NULL, 1 << 24);
	while (n > 0 || (n < 0 && errno == EINTR));
	return n < 0 ? -errno : 0;
}
