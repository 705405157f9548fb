/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * script.h - a search that follows a script: the statements 'before' and 'let' of the schedule language (rules.h)
 *
 * A schedule differs from what the base scheduler (schedule.h) would do in a few decisions. Each of
 * these is 'the task that would go on stops before this operation, and another one goes on': so a
 * schedule is a list of such statements, whose places survive when steps elsewhere come and go.
 * 'let' says how the system call of a step ends, or that a timer fires before it.
 *
 * These functions are for searches with search_options.script; of others they say that there is
 * nothing.
 */
#ifndef ZUG_SEARCH_SCRIPT_H
#define ZUG_SEARCH_SCRIPT_H

#include "search/search.h"

/* The result of a statement 'before' or 'let' of a script in the current (or last) execution. */
enum search_script_state {
	SEARCH_SCRIPT_MADE,	/* the switch was made */
	SEARCH_SCRIPT_PART,	/* it was, but the other task did not reach the place where it was to stop */
	SEARCH_SCRIPT_UNTIL_GONE, /* the same, and it did nothing on that object in that function */
	SEARCH_SCRIPT_UNABLE,	/* the task came there, but the other could not run; or its call cannot have that outcome */
	SEARCH_SCRIPT_FEWER,	/* it made such an operation less often */
	SEARCH_SCRIPT_OTHER,	/* it uses that object in that function, but otherwise */
	SEARCH_SCRIPT_GONE,	/* it does nothing on that object in that function */
	SEARCH_SCRIPT_NO_TASK,	/* one of the two tasks did not exist */
};
struct search_script_line {
	unsigned int line;	/* of the script */
	const char *text;	/* the statement; owned by the search */
	enum search_script_state state;
	uint32_t task, run;	/* the one stops, the other goes on; state NO_TASK: run did not exist, or else task */
	uint64_t nth, came;	/* the number that is wanted, and how often it came there */
	bool run_exists;
	bool let;	/* a statement 'let'; fault: what the call is to become, ZUG_OP_NONE: a timer fires */
	uint16_t fault;
};
unsigned int search_script_lines(const struct search *s);	/* 0: no script */
void search_script_line(const struct search *s, unsigned int i, struct search_script_line *line);
bool search_script_strict(const struct search *s);

/*
 * True when a statement of the script is about that object, or about accesses to data at that place
 * (the site of a label).
 */
bool search_script_is_on(const struct search *s, uint64_t object);
bool search_script_is_in(const struct search *s, uint64_t site);

/*
 * To be called after a search_pick(): true when a statement 'let' says how the call ends
 * that this step makes (timer: that a timer fires before it), op and amount (0: not said) being as
 * in the label of such a step. The caller says with _was_made() that it came so.
 */
bool search_script_let(struct search *s, bool timer, unsigned int *op, uint32_t *amount);
void search_script_was_made(struct search *s, bool timer);

/* A decision of a recorded schedule that the base scheduler would not make. */
struct script_difference {
	uint64_t step;			/* the decision */
	uint32_t instead_of, task;	/* the task that would have gone on, and the one that did */
	bool preemption;
};

/*
 * next() fills in the point before each step, from 0 on (as for search_pick(); labels do not matter), and
 * says who made it; false at the end. *differences is malloc'd. The number of differences, or -errno: -ENOMEM, -EINVAL where
 * the points make no sense.
 */
int script_differences(uint32_t fair, bool (*next)(void *ctx, struct search_point *p, uint32_t *task),
		       void *ctx, struct script_difference **differences);

#endif
