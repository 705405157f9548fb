/* SPDX-License-Identifier: GPL-2.0-only */
/* result.h - what a campaign came to, as data: cli/ and zugd render it */
#ifndef ZUG_RESULT_H
#define ZUG_RESULT_H

#include <stdbool.h>
#include <stdint.h>
#include "engine/engine.h"
#include "search/search.h"

struct symbols;

/* The cause of an error. */
enum campaign_blame {
	BLAME_USER = 0, /* -EINVAL: the command line, or a file named on it, makes no sense */
	BLAME_ZUG, /* -ENOMEM, -ENOTRECOVERABLE */
	BLAME_MACHINE, /* any other: kernel, privileges, set-up */
};
enum campaign_blame campaign_blame(int error);

/* How a search ends when nothing went wrong. */
enum campaign_end {
	CAMPAIGN_PASSED = 0,	/* nothing wrong was found, as far as was asked */
	CAMPAIGN_FAILED,	/* the test fails under some schedule */
	CAMPAIGN_INCOMPLETE,	/* interrupted, executions did not follow their schedule, or a
				   failure did not come again in its replays */
	CAMPAIGN_MISFIT,	/* the script does not fit the program any more */
};

/*
 * What an execution is for that is made beside the search: it has no number of its own, and
 * --executions does not count it.
 */
enum campaign_aside {
	ASIDE_NOT = 0,		/* it is one of the search */
	ASIDE_REPEAT,		/* shows whether an execution repeats */
	ASIDE_REPLAY,		/* verifies a failure or a data race */
	ASIDE_MINIMIZE,
	ASIDE_EXPLAIN,		/* looks for the closest schedule that passes */
	ASIDE_NR
};
/* One word, for programs, and a few, behind a number of executions. */
const char *campaign_aside_name(enum campaign_aside what);
const char *campaign_aside_words(enum campaign_aside what);

/* What an execution is for the search. */
enum search_result campaign_verdict(const struct execution *x);

/* A way to fail that was seen. */
struct campaign_failure {
	uint64_t failure;	/* its identity */
	unsigned int kind;	/* enum zug_outcome_kind */
	uint64_t times;
	uint64_t first;		/* number of the execution that showed it first */
	char *trace;		/* kept when it was seen first; NULL: it could not be kept */
	char *message;
};

struct failure_list {
	struct campaign_failure *list;
	unsigned int nr, room;
	uint64_t findings;	/* executions that failed */
};

/* Counts the failure of an execution; *new: it was not known. NULL: out of memory. */
struct campaign_failure *failures_note(struct failure_list *f, const struct execution *x,
				       uint64_t execution, bool *new);
/* Takes over a failure that was counted before. 0 or -ENOMEM. */
int failures_add(struct failure_list *f, const struct campaign_failure *known);
/* NULL: not known. */
struct campaign_failure *failures_find(const struct failure_list *f, uint64_t failure);
/* Takes a failure off the list. */
void failures_drop(struct failure_list *f, uint64_t failure);
void failures_release(struct failure_list *f);

/* Races that look harmless, and those that may be none, are told apart. */
enum campaign_race_kind {
	RACE_REAL = 0,
	RACE_SAME_VALUE, /* two plain stores, of the same value then */
	RACE_COUNTER, /* in the first executions the data was only added to, and never read */
	RACE_POSSIBLE, /* a race unless both accesses are atomic, which only the sources tell */
};

/* A data race that was a warning, not a finding. */
struct campaign_race {
	uint64_t race;		/* its identity: the pair of places */
	enum campaign_race_kind kind;
	char *object, *message, *trace;
};

/* Lines about the points of a search, each with its end; NULL: there is nothing to say. */
struct campaign_notes {
	char *races; /* data whose accesses became points, and what the scan could not tell */
	char *monitors; /* --invariant and --discard-if: what was not tested, or does not count */
	char *code;		/* atomic instructions that are no points, or only at first */
	char *waits;		/* points in loops that wait */
	char *timeouts;		/* executions with early time-outs that do not count */
	char *untried; /* what the test does that the search tries in one way only */
	char *files;		/* files without points */
	char *runtime;		/* options for the runtime of a language */
	char *start;		/* how executions were started, with --start */
};
void campaign_notes_release(struct campaign_notes *n);

/* Up to so many preemptions all schedules were tried; UINT32_MAX: of no number. */
uint32_t campaign_preemptions_done(const struct search_stats *s);

/* A lane of -j. */
struct campaign_lane {
	int cpu;
	uint64_t executions;	/* made so far; not all of them are in the figures yet */
	bool ended;		/* it was killed, or could not go on: the others do its work */
};

/* All pointers are the campaign's, until its next execution. */
struct campaign_result {
	uint64_t executions, steps, findings, diverged;
	uint64_t number;	/* of the last execution, among those of all shards */
	uint64_t searched;	/* of the executions; the others looked for points before the search */
	uint64_t resumed;	/* of the executions; those of earlier runs (--resume) */
	const uint64_t *aside;	/* further executions, by enum campaign_aside */
	uint64_t run_ns;	/* of all executions */
	struct spent spent;	/* the same in parts */
	uint64_t elapsed_ns,
		setup_ns; /* since the campaign began; of that, before the first execution */
	uint64_t passed;	/* executions of the search that passed */
	bool primed;		/* the points are those of the search */
	bool exhausted;		/* nothing is left to try */
	bool on_time;		/* then: but not each one in which a time-out ends early, as some do (--timeouts auto) */
	const char *tried;	/* what was tried then, in words: "every schedule was tried"; else NULL */
	bool cut;		/* interrupted */
	bool share;		/* it made its share, and not all of the search */
	const char *stopped; /* the bound that ended the search; NULL: it goes on, or ended with a
				finding */
	const char *first_divergence;
	struct search_stats search;
	uint32_t preemptions_done; /* all schedules with up to so many were tried; UINT32_MAX: unknown */
	const struct campaign_failure *failures;
	unsigned int nr_failures;
	const struct campaign_failure *once; /* failures that did not come again: no findings */
	unsigned int nr_once;
	const struct campaign_lane *lanes;	/* those that execute now */
	unsigned int nr_lanes;
	uint64_t serial_nr, serial_ns;	/* executions that lanes have made, and what the search itself has used of its */
					/* CPU for them */
	const struct campaign_race *races;
	unsigned int nr_races, nr_suppressed;
	const bool *suppression_used;	/* by suppression of the options; NULL: none was */
	struct symbols *symbols;	/* for reports */
	const char *record;	/* its file; NULL: there is none */
};

#endif
