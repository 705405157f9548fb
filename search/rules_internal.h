/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rules_internal.h - between rules_parse.c and rules.c
 */
#ifndef ZUG_SEARCH_RULES_INTERNAL_H
#define ZUG_SEARCH_RULES_INTERNAL_H

#include "order.h"
#include "rules.h"

#define RULES_NAME	64	/* bytes of a pattern, with the end */

enum rule_kind { RULE_STAY, RULE_SWITCH, RULE_HOLD, RULE_FREE, RULE_TIME, RULE_PLACE };

struct rule_match {
	uint32_t task;			/* SEARCH_NO_TASK: any */
	int op;				/* -1: any */
	bool ordered;			/* accesses that other synchronisation orders */
	char on[RULES_NAME], in[RULES_NAME];	/* "": any */
};

enum rule_compare { CMP_NONE, CMP_EQ, CMP_NE, CMP_LT, CMP_LE, CMP_GT, CMP_GE };

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
	uint32_t group;			/* 0: none; else of which one statement is active */
	uint32_t member;		/* number in its group */

	/* of the current execution */
	bool active;
	struct rule_hold *holds;
	uint32_t nr_holds, room_holds;
	uint64_t next;			/* RULE_TIME: when it draws again */
	uint32_t *free_tasks;		/* RULE_TIME: who is not held; 'tasks' of them at most */
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
	uint32_t nr_groups;
	unsigned int kinds;

	struct order *order;		/* what is ordered, if any statement asks; else NULL */
	struct rng *rng;
	uint64_t step;
	uint64_t *made;			/* by task: steps made in this execution */
	uint32_t nr_made;
	uint64_t overrides;
};

#endif
