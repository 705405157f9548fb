/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * campaign_text.h - what a campaign tells, and what it came to, as text for people
 *
 *	campaign_text_init(&t, &o, out, err);
 *	ret = campaign_new(&c, k, &o, &t.observer, stop, line, sizeof(line));
 */
#ifndef ZUG_CAMPAIGN_TEXT_H
#define ZUG_CAMPAIGN_TEXT_H

#include <stdio.h>
#include "campaign/campaign.h"
#include "campaign/minimize.h"
#include "cli/exit_codes.h"

struct campaign_text {
	struct campaign_observer observer; /* messages and progress go to err, findings to out */
	FILE *out, *err;
	const struct campaign_options *o;
	bool progress;			/* err is a terminal, and a progress line is wanted */
	bool shown;			/* there is one now */
	uint64_t shown_ns;
};

/* o, out and err stay the caller's, and must outlive the campaign. */
void campaign_text_init(struct campaign_text *t, const struct campaign_options *o, FILE *out,
			FILE *err);
/* Takes the progress line away, before something else is printed. */
void campaign_text_clear(struct campaign_text *t);
/* Prints the line of an error, unless it is empty. The exit status. */
enum zug_exit campaign_text_error(struct campaign_text *t, int ret, const char *line);
/* campaign_new() with this observer. 0, or an enum zug_exit with a message printed. */
int campaign_text_new(struct campaign_text *t, struct campaign **c, struct kernel *k,
		      const volatile sig_atomic_t *stop);
/* campaign_run(), and its summary. The exit status. */
enum zug_exit campaign_text_run(struct campaign_text *t, struct campaign *c);
/* Ends the record, and says where it is. */
void campaign_text_end(struct campaign_text *t, struct campaign *c);

/* --profile: where the time of the executions went. */
void profile_text(FILE *out, const struct campaign *c);
/* "minimised in 57 executions: 5 preemptions, 14 decisions, 120 steps -> 1, 1, 96", one line. */
void minimized_text(FILE *out, const struct minimized *m);
/* The statements of the script that were not made in the last execution, and why. How many. */
unsigned int script_text_unmade(const struct campaign *c, const char *script, FILE *out);

#endif
