/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spent.h - where the time of executions went
 *
 * The kernel side and the world measure what happens between the test and zug, the engine what zug does with a
 * question (struct world_ops.spent, engine.c). Times of points that are passed are the test's.
 */
#ifndef ZUG_SPENT_H
#define ZUG_SPENT_H

#include <stdint.h>

enum spent_part {
	SPENT_ENVIRONMENT = 0,	/* the start: until the root command's process is in its environment */
	SPENT_PROGRAM,		/* the start: from there to the first decision, at the first system call after exec */
	SPENT_TEST,		/* the test's own instructions, and the points that it passed */
	/* a question, hop by hop */
	SPENT_STOP,		/* from the point to the event: the task has left its CPU */
	SPENT_WAKE,		/* until zug has the event */
	SPENT_READ,		/* what it means, what the test's memory says, and which tasks can go on */
	SPENT_SEARCH,		/* the strategy, and all that looks at each step */
	SPENT_TRACE,
	SPENT_GRANT,		/* until the chosen task runs */
	SPENT_DRAIN,
	SPENT_NR
};
#define SPENT_IS_HOP(part) ((part) >= SPENT_STOP && (part) <= SPENT_GRANT)

/* Why a task stopped and zug was asked, although the search might have said before what it would choose there. */
enum ask_cause {
	/* no lease was given with the last decision, */
	ASK_FIRST = 0,		/* nor was there one: the search begins */
	ASK_LOOKED,		/* each step is looked at: --ask always, faults, monitors, a debugger, a look at data */
	ASK_HOLDS,		/* tasks are held, or one is on trial */
	ASK_TIMER,		/* a timer has fired, or time-outs and timers may end early */
	ASK_DESTROYED,		/* a lock was destroyed in a process that lives */
	ASK_UNPROMISED,		/* the strategy knows nothing of the next step */
	ASK_WORLD,		/* the world could not give it */
	/* or it does not reach farther: enum zug_why of bpf/zug_abi.h */
	ASK_USED_UP, ASK_TIME, ASK_RING, ASK_WATCHED, ASK_PLACE, ASK_OBJECT, ASK_HELD, ASK_LOCK, ASK_CALL, ASK_FILE, ASK_UNCLEAR,
	ASK_PLAN, ASK_RACES, ASK_NEXT, ASK_BLOCKS, ASK_ENDS, ASK_YIELDS, ASK_WAKES, ASK_CREATES, ASK_SIGNAL, ASK_DIES,
	ASK_SETS_TIMER, ASK_OTHER,
	ASK_NR
};

struct spent {
	uint64_t ns[SPENT_NR];
	uint64_t causes[ASK_NR];	/* of decisions for which all tasks stood still */
	uint64_t all_ns;	/* of all executions, whatever it went into */
	uint64_t executions, points, asked;	/* points that were reached; of these, and of other stops, questions */
	uint64_t copied;	/* executions whose first process was forked from a template */
};

void spent_add(struct spent *to, const struct spent *more);
/* What the parts do not say. */
uint64_t spent_rest_ns(const struct spent *s);
/* One word, and a few. */
const char *spent_name(enum spent_part part);
const char *spent_words(enum spent_part part);
/* The cause as a name of JSON, and as a clause. */
const char *ask_cause_name(enum ask_cause cause);
const char *ask_cause_words(enum ask_cause cause);

#endif
