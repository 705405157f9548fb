/* SPDX-License-Identifier: GPL-2.0-only */
/* campaign_internal.h - inside of campaign.h: what the loop's files share */
#ifndef ZUG_CAMPAIGN_INTERNAL_H
#define ZUG_CAMPAIGN_INTERNAL_H

#include "campaign/campaign.h"
#include "campaign/campaign_parts.h"
#include "campaign/points.h"
#include "campaign/session.h"
#include "report/shard.h"

struct record;

/* Its share of a search (campaign_parts.c). */
struct campaign_parts {
	char *dir, *record;	/* the shard's folder, and its record */
	struct shard_log *log;
	struct shard *old;	/* what an earlier run has made; NULL: nothing */
	uint64_t old_prologue;	/* executions of its prologue */
	bool dividing;
	bool inside;		/* a part was entered */
	bool over;		/* nothing is left that is its own; of zug plan: the division is made */
	bool unbounded;		/* there is no last part */
	uint64_t prologue;	/* executions */
	uint64_t nr;		/* parts, or those that an earlier run may have made */
	uint32_t *done;		/* by part: 1 + the bound up to which it was made */
	uint32_t *owner;	/* by subtree; NULL: a part is one execution */
	uint64_t next, part, n;	/* n: executions of this part so far */
	uint32_t bound, max_bound;
	uint32_t deepest;	/* the greatest bound under which there was something to search */
	uint32_t tasks;		/* numbers of tasks that the prologue has given out */
	uint64_t class, schedule;	/* of the last execution */
};

struct lane;
struct lane_boxes;
struct lane_part;

/* -j: copies of this process that make parts, too (campaign_lanes.c). */
struct campaign_lanes {
	struct lane *list;	/* NULL: none now */
	struct campaign_lane *figures;	/* of each */
	struct lane_boxes *boxes;	/* of each: what it has to do, and what it tells */
	uint32_t nr;
	bool *quiet;		/* CPUs that have no other work; NULL: all will do */
	uint32_t keep;		/* where another process gives lanes: so many at most */
	struct lane_part *given;	/* parts that they have, or have made, in their order */
	size_t first, nr_given, room;	/* given[first..nr_given) are not done with */
	size_t nr_back;		/* of these, so many have been taken from a lane */
	uint64_t looked_ns;	/* when it was last seen which lanes go on */
	uint32_t taken;
	uint64_t part;		/* the next one to be given is not before it, under this bound */
	uint32_t bound;
	bool inside;		/* the executions of a part are being counted */
};

struct campaign {
	struct session s;
	struct campaign_parts parts;
	struct campaign_lanes lanes;
	struct {
		uint64_t ns, nr;	/* this process has used for so many executions of lanes */
		uint64_t since_ns;	/* what it had used when it last went on with them; 0: it does not */
	} serial;
	struct points *points;
	struct failure_list failures;
	struct failure_list once;	/* that did not come again when they were replayed */

	/* how far the search has found its points */
	int prime_rounds;
	char *first_points;		/* session.points_json of the first execution */
	enum points_phase phase;

	uint64_t abandoned;	/* executions that could not go on, by no fault of the test */
	uint64_t searched, passed, diverged;	/* executions of the search; the others looked for points */
	uint64_t before;		/* executions of earlier runs */
	uint64_t whole;			/* executions that were not cut by the user or the time */
	bool severed;			/* the last one was */
	char first_divergence[256];
	bool exhausted, cut;
	const char *stopped;		/* as in struct campaign_result */

	uint64_t start_ns, setup_ns, saved_ns;
	struct record *record;
	uint64_t recorded;		/* number of the execution that was recorded last */
	bool record_ended;
	bool made_before;		/* the shard was complete: nothing is executed */
};

/* How many executions --executions still allows: it counts all, with a script those that follow it. */
uint64_t campaign_left(const struct campaign *c);

/*
 * Finds the points where the search has not come to that yet, beside it, until until_ns on clock_now_ns() (0: no bound). 1:
 * they are others now; 0: they are as before, or time was too short; -errno with a line in err.
 */
int campaign_find_points(struct campaign *c, uint64_t until_ns, char *err, size_t errlen);

/* What was tried when nothing is left to try, in words. */
const char *campaign_tried(const struct campaign *c);

/* --resume: writes the state of the search; reads it. Without the option both do nothing. */
int campaign_save_state(struct campaign *c);
int campaign_load_state(struct campaign *c, char *err, size_t errlen);

/*
 * --record: each execution, then its finding if it is one (when its trace was kept), then the end.
 */
int campaign_record_open(struct campaign *c, char *err, size_t errlen);
void campaign_record_execution(struct campaign *c, const struct execution *x);
void campaign_record_finding(struct campaign *c, const struct execution *x);
/* A failure that did not come again. */
void campaign_record_once(struct campaign *c, const struct execution *x);
void campaign_record_end(struct campaign *c, const char *why);

/*
 * What campaign_run() does with a failure: keeps its trace, verifies it, counts and minimises it,
 * and tells the observer. 0, or -errno with a line in err; *once: it did not come again.
 */
int campaign_on_finding(struct campaign *c, const struct execution *x, bool *once, char *err,
			size_t errlen);

#endif
