/* SPDX-License-Identifier: GPL-2.0-only */
/* check_causes.h - why one schedule does not give the same execution */
#ifndef ZUG_CHECK_CAUSES_H
#define ZUG_CHECK_CAUSES_H

#include <signal.h>
#include <stdio.h>
#include "campaign/check.h"

/*
 * Prints what makes executions differ, as far as can be told, and what would tame it. k: an open
 * kernel; o: what the campaign was made from (it is gone, for others are made here, to try what
 * would help).
 */
void check_causes(struct kernel *k, const struct campaign_options *o,
		  const struct check_result *res, FILE *out, const volatile sig_atomic_t *stop);

#endif
