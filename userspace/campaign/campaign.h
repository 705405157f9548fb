/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * campaign.h - many executions of one test, until a bug, a bound or exhaustion
 *
 * One struct serves zug run (campaign_run(): the whole loop), commands that follow a trace
 * (campaign_prepare_replay(), then campaign_follow(), minimize_trace(), closest_trace()), zug check
 * (check.h) and zugd (campaign_once()).
 *
 * The room's files in their order. A file calls files above it only: tests/tools/rooms-calls.
 *
 *	options, script, rule_names	how a test is executed and searched; what names mean
 *	result, race_book		what came of it: data
 *	session_*			kernel side, sandbox, probes, world, engine; one execution
 *	policy_*			the reasons for which places are points (policy.h)
 *	points				the table of policies, which the loop calls
 *	campaign_parts, _lanes		its share of a search that many machines make; several executions at a time
 *	campaign			one step: an execution that finds points, or of the search
 *	trials, minimize, closest	executions beside the search: simpler schedules, neighbours
 *	campaign_findings, _run, _once	the loop, and one execution for zugd
 *	check, pin			zug check and zug pin
 *
 * Nothing here prints, or knows exit statuses: functions return 0, or -errno with a line in err;
 * what people should know meanwhile goes to the observer; cli/ renders the result.
 */
#ifndef ZUG_CAMPAIGN_H
#define ZUG_CAMPAIGN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include "campaign/observer.h"
#include "campaign/options.h"
#include "campaign/options_trace.h"
#include "campaign/point_table.h"
#include "campaign/result.h"
#include "engine/engine.h"
#include "kernel/kernel.h"
#include "sandbox/sandbox.h"
#include "search/script.h"

struct campaign;

/*
 * Sets everything up; nothing is executed yet. k: an open kernel, which stays the caller's; NULL:
 * one of its own. The observer, and what the options point to, must outlive the campaign. stop: set
 * to interrupt it; may be NULL.
 */
int campaign_new(struct campaign **c, struct kernel *k, const struct campaign_options *o,
		 const struct campaign_observer *observer, const volatile sig_atomic_t *stop,
		 char *err, size_t errlen);
void campaign_free(struct campaign *c);
/* Before that: no process and no file of it is left that the user could see change. */
void campaign_end(struct campaign *c);

/* The whole search. An enum campaign_end, or -errno with a line in err. */
int campaign_run(struct campaign *c, char *err, size_t errlen);
/*
 * Ends the record (--record). 1: there is one, with executions in it; 0; -errno with a line in err.
 */
int campaign_close_record(struct campaign *c, char *err, size_t errlen);

/* zug plan: divides the tree of schedules, and writes the plan (options.search.plan). As campaign_run(). */
struct campaign_plan {
	uint64_t subtrees, measured;	/* measured: executions for it */
	double total, largest, smallest;	/* executions below them, estimated */
	bool bounds;
};
int campaign_plan(struct campaign *c, struct campaign_plan *p, char *err, size_t errlen);

/* One execution: at first ones that find the points, then one schedule after another. */
enum campaign_step {
	CAMPAIGN_PRIMED = 1, CAMPAIGN_EXECUTED, CAMPAIGN_EXHAUSTED,
	CAMPAIGN_SHARED,	/* its share is made (--shard) */
	CAMPAIGN_WAITED,	/* nothing was executed: the campaign is to end */
};
int campaign_step(struct campaign *c, struct execution *x, enum campaign_step *what,
		  char *err, size_t errlen);

/* The time (--time) is over. */
bool campaign_is_late(const struct campaign *c);

/* ---- results ---- */

void campaign_get_result(const struct campaign *c, struct campaign_result *r);
/* To be released by campaign_notes_release(). */
void campaign_get_notes(const struct campaign *c, struct campaign_notes *n);
/* --list-points: 0 or -ENOMEM; point_table_release() in either case. */
int campaign_points(const struct campaign *c, struct point_table *t);
/* True when the instruction at that offset of a file is a point. */
bool campaign_has_point(const struct campaign *c, const char *path, uint64_t offset);
/* The file that is executed. */
const char *campaign_file(const struct campaign *c);
/* What the last execution wrote: head and tail as of capture_text(). */
int campaign_output(const struct campaign *c, bool standard_error, char **head, char **tail);
/* The same, all of it to two descriptors, unless it was so much that the middle is lost. */
void campaign_pass_on(struct campaign *c, int out, int err);

/* What came of the script, in the last execution. */
struct script_result {
	unsigned int nr, made, gone;	/* statements */
	bool strict;
	bool fits; /* the script is about this program: not all places are gone, and strict ones are
		      made */
};
void campaign_script_result(const struct campaign *c, struct script_result *r);
/* Statement i of nr. */
void campaign_script_line(const struct campaign *c, unsigned int i, struct search_script_line *l);

/* ---- for zugd ---- */

/*
 * zugd gets its executions one by one, and has many campaigns on one kernel. The probes of one are
 * planted at a time: campaign_park() takes them out, campaign_unpark() plants them again. A new
 * campaign is not parked.
 */
void campaign_park(struct campaign *c);
int campaign_unpark(struct campaign *c, char *err, size_t errlen);

/*
 * What the next execution runs with; everything stays the caller's, and must live until it is done.
 */
struct campaign_io {
	char **envp;
	int in;			/* the test's standard input; -1: /dev/null */
	bool joined; /* nothing is started: sandbox_join() has brought it in, and it waits */
	const struct campaign_observer *observer;
};

struct campaign_once {
	struct execution x;
	bool exhausted;		/* every schedule had been tried: it ran under the default one */
	const struct campaign_failure *failure;	/* the campaign's; NULL: nothing wrong */
};
/* One execution; the trace of every new failure is kept in the folder for traces. */
int campaign_once(struct campaign *c, const struct campaign_io *io, struct campaign_once *r,
		  char *err, size_t errlen);

/* ---- following a trace ---- */

/*
 * Before a trace's schedule is followed so many times (UINT64_MAX: many), or searched around, in a campaign that was made
 * from its options: numbers the tasks as it does, and sets the watchpoints.
 */
int campaign_prepare_replay(struct campaign *c, const struct trace *t, uint64_t executions, char *err, size_t errlen);
/* One execution under the schedule of r. */
int campaign_follow(struct campaign *c, const struct replay *r, struct execution *x, char *err,
		    size_t errlen);

#endif
