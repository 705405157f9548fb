/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdbool.h>
#include <sys/resource.h>
#include "lib/base/descriptors.h"

static struct rlimit before;
static bool raised;

void descriptors_raise(void)
{
	struct rlimit l;

	if (raised || getrlimit(RLIMIT_NOFILE, &before) || before.rlim_cur == before.rlim_max)
		return;
	l = before;
	l.rlim_cur = l.rlim_max;
	raised = !setrlimit(RLIMIT_NOFILE, &l);
}

void descriptors_restore(void)
{
	if (raised)
		setrlimit(RLIMIT_NOFILE, &before);
}
