/* SPDX-License-Identifier: GPL-2.0-only */
/* The one place where the ends and errors of campaigns become exit statuses. */
#include "campaign/result.h"
#include "cli/exit_codes.h"

enum zug_exit exit_of_campaign(int ret)
{
	static const enum zug_exit of_end[] = {
		[CAMPAIGN_PASSED] = ZUG_EXIT_PASS, [CAMPAIGN_FAILED] = ZUG_EXIT_FINDING,
		[CAMPAIGN_INCOMPLETE] = ZUG_EXIT_INCOMPLETE, [CAMPAIGN_MISFIT] = ZUG_EXIT_SCRIPT,
	};
	static const enum zug_exit of_blame[] = {
		[BLAME_USER] = ZUG_EXIT_USAGE,
		[BLAME_ZUG] = ZUG_EXIT_INTERNAL,
		[BLAME_MACHINE] = ZUG_EXIT_ENVIRONMENT,
	};

	return ret < 0 ? of_blame[campaign_blame(ret)] : of_end[ret];
}
