/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rules_internal.h - what rules_parse.c makes, and rules.c and strategies/script.c follow
 */
#ifndef ZUG_SEARCH_RULES_INTERNAL_H
#define ZUG_SEARCH_RULES_INTERNAL_H

#include "search/vector_clocks.h"
#include "search/rules.h"

#define RULES_NAME	256	/* bytes of a pattern, with the end */

enum rule_kind { RULE_STAY, RULE_SWITCH, RULE_HOLD, RULE_FREE, RULE_TIME, RULE_PLACE, RULE_BEFORE,
		 RULE_LET };

struct rule_match {
	uint32_t task;			/* SEARCH_NO_TASK: any */
	int op;				/* -1: any */
	bool ordered;			/* accesses that other synchronisation orders */
	char on[RULES_NAME], in[RULES_NAME];	/* "": any */
};

enum rule_compare { CMP_NONE, CMP_EQ, CMP_NE, CMP_LT, CMP_LE, CMP_GT, CMP_GE };

/*
 * A statement 'before' or 'let': where its task stops, and which goes on instead; or what becomes
 * of its call.
 */
struct rule_before {
	uint32_t run;
	uint16_t fault;			/* let: the operation that it becomes; ZUG_OP_NONE: a timer fires */
	uint32_t amount;		/* of it; 0: not said */
	uint64_t nth, until_nth;	/* which operation like that of the task, 1 the first */
	bool until_exit, has_until;	/* the task waits until the other has ended, or stands before rule.until */
	char *text;			/* the statement, for messages */
	unsigned int line;

	/* of the current execution */
	uint64_t came, came_until;	/* operations like that which were made */
	uint64_t near, near_until;	/* operations on that object in that function, whichever */
	bool made, waits, unable;
	bool now;			/* let: it is the step that was chosen last */
	bool arrived;			/* the other came to where it was to stop */
	bool saw_task, saw_run;		/* these tasks were there */
};

/* A hold of one task at one of its operations. */
struct rule_hold {
	uint32_t task;
	bool decided, held;
	uint64_t nth;		/* operation of the task: number of steps it has made */
	uint64_t until;		/* step of the execution when it ends; UINT64_MAX: open */
};

struct rule {
	enum rule_kind kind;
	struct rule_match match;
	enum rule_compare compare;
	char variable[RULES_NAME];
	int64_t number;
	uint64_t steps;			/* for N; 0: open */
	bool has_until;
	bool over;			/* a step that matches until was made in this execution */
	struct rule_match until;
	double chance;
	uint32_t tasks;
	double delay, fraction, fallthrough;
	struct rule_before before;	/* RULE_BEFORE, RULE_LET; until is of the task that goes on */
	uint32_t group;			/* 0: none; else of which one statement is active */
	uint32_t member;		/* number in its group */

	/* of the current execution */
	bool active;
	struct rule_hold *holds;
	uint32_t nr_holds, room_holds;
	uint64_t next;			/* RULE_TIME: when it draws again */
	uint32_t *free_tasks;		/* RULE_TIME: those that are not held, at most 'tasks' */
	uint32_t nr_free, nr_live;
	uint64_t salt;			/* RULE_PLACE: which places */
	uint64_t *spent;		/* RULE_PLACE: places that have had their hold */
	uint32_t nr_spent, room_spent;
};

struct rule_group {
	bool alternate;			/* else at random */
	uint32_t members;
};

struct rules {
	struct search_names names;
	struct rule *rules;
	uint32_t nr, room;
	struct rule_group *groups;	/* number 1 is groups[0] */
	uint32_t nr_groups, room_groups;
	unsigned int kinds;
	bool strict;

	struct vector_clocks *clocks;		/* what is ordered, if any statement asks; else NULL */
	struct rng *rng;
	uint64_t step;
	uint64_t *made;			/* by task: steps made in this execution */
	uint32_t nr_made;
};

/* rules.c: true when the candidate stands before an operation like that. */
bool rules_match(const struct rules *r, const struct rule_match *m, const struct search_cand *c);

#endif
