/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One execution at a time, for zugd: its clients decide when, and many campaigns share one kernel.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "lib/base/new_file.h"
#include "campaign/campaign_internal.h"

void campaign_park(struct campaign *c)
{
	session_park(&c->s);
}

int campaign_unpark(struct campaign *c, char *err, size_t errlen)
{
	return session_unpark(&c->s, err, errlen);
}

/* A test that fails every other time must not fill the disk with traces of one bug. */
static void on_failure(struct campaign *c, struct campaign_once *r)
{
	struct campaign_failure *f;
	char err[512];
	bool new;

	f = failures_note(&c->failures, &r->x, c->s.figures.executions, &new);
	if (r->x.outcome.kind == ZUG_OUTCOME_RACE)
		race_book_know(points_races(c->points), r->x.outcome.failure);
	r->failure = f;
	if (!f || !new)
		return;
	f->trace = session_trace_name(&c->s, "", err, sizeof(err));
	if (f->trace && !session_keep_trace(&c->s, f->trace, err, sizeof(err)))
		return;
	session_say(&c->s, "%s", err);
	if (f->trace)
		new_file_unlink(f->trace);
	free(f->trace);
	f->trace = NULL;
}

int campaign_once(struct campaign *c, const struct campaign_io *io, struct campaign_once *r,
		  char *err, size_t errlen)
{
	struct launch *l = kworld_launch(c->s.world);
	enum campaign_step what;
	int ret;

	*r = (struct campaign_once){ 0 };
	c->s.one_by_one = true;
	/* its caller's environment and descriptors are others each time */
	c->s.o.machine.start = START_EXEC;
	c->s.o.command.envp = io->envp;
	c->s.observer = io->observer;
	l->envp = io->envp;
	l->in = io->in >= 0 ? io->in : c->s.input_fd;
	l->joined = io->joined;
	ret = campaign_step(c, &r->x, &what, err, errlen);
	if (!ret && what == CAMPAIGN_EXHAUSTED) {
		/*
		 * nothing new can be tried, but the test must run: its caller waits for its result
		 */
		c->exhausted = r->exhausted = true;
		ret = session_follow(&c->s, NULL, &r->x, err, errlen);
	}
	if (ret)
		return ret;
	if (r->x.ungranted) {
		snprintf(err, errlen,
			 "%lu runs without a grant: the result cannot be trusted; please report "
			 "this",
			 (unsigned long)r->x.ungranted);
		return -ENOTRECOVERABLE;
	}
	if (zug_outcome_is_finding(r->x.outcome.kind))
		on_failure(c, r);
	return 0;
}
