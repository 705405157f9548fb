/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include "lib/base/rights.h"
#include "probes/rewriting.h"

int rewriting_begin(struct rewriting *r, const char *copy)
{
	if (r->fd >= 0)
		return 0;
	/* the file may be root's, its copy is ours */
	rights_raise();
	r->fd = open(copy, O_RDWR | O_CLOEXEC);
	rights_lower();
	return r->fd < 0 || fstat(r->fd, &r->st) ? -errno : 0;
}

void rewriting_end(struct rewriting *r)
{
	const struct timespec times[2] = { r->st.st_atim, r->st.st_mtim };

	if (r->fd < 0)
		return;
	rights_raise();
	futimens(r->fd, times);
	rights_lower();
	close(r->fd);
}
