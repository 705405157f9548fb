/* SPDX-License-Identifier: GPL-2.0-only */
/* exit_codes.h - how zug ends; printed by zug --help, so a change here is a change of interface */
#ifndef ZUG_EXIT_CODES_H
#define ZUG_EXIT_CODES_H

enum zug_exit {
	ZUG_EXIT_PASS = 0, /* searched as far as was asked, or replayed: nothing wrong */
	ZUG_EXIT_FINDING = 1, /* the program under test fails under some schedule */
	ZUG_EXIT_USAGE = 2, /* the command line, or a file named on it, makes no sense */
	ZUG_EXIT_ENVIRONMENT = 3, /* kernel, privileges, set-up */
	ZUG_EXIT_INTERNAL = 4, /* a bug of zugzwang */
	ZUG_EXIT_INCOMPLETE = 5, /* cut by time, Ctrl-C or divergence before it was done */
	ZUG_EXIT_SCRIPT = 6, /* a script does not fit the program any more: its places are gone */
};

/* The status for what a function of campaign.h has returned: an enum campaign_end, or -errno. */
enum zug_exit exit_of_campaign(int ret);

#endif
