/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * script.h - the statements 'before' and 'let' of the schedule language: a schedule by its places
 *
 * A schedule differs from what the base scheduler (schedule.h) would do in a few decisions. Each of
 * these is 'whoever would go on stops before this operation, and another one goes on': so a
 * schedule is a list of such statements, whose places survive when steps elsewhere come and go.
 * What becomes of a system call, or that a timer fires, is no question of who goes on: 'let' says that, of a step.
 */
#ifndef ZUG_SEARCH_SCRIPT_H
#define ZUG_SEARCH_SCRIPT_H

#include "search/rules.h"
#include "search/strategy.h"

/* The base scheduler; what is different is said by script_pick(). */
extern const struct strategy_type strategy_script;

/* Who goes on when candidate i would: its index, or another's. */
uint32_t script_pick(struct rules *r, const struct search_point *p, uint32_t i);

struct rule_before;
/* The statement 'let' (timer: of a timer; else of a call) that is about the step that was chosen last, or NULL. */
struct rule_before *script_let(struct rules *r, bool timer);

/* Is any statement about that object, or about accesses to data at that place (site)? */
bool script_is_on(const struct rules *r, uint64_t object);
bool script_is_in(const struct rules *r, uint64_t site);

unsigned int script_lines(const struct rules *r);
void script_line(const struct rules *r, unsigned int i, struct search_script_line *line);
bool script_strict(const struct rules *r);

/* Where a recorded schedule does what the base scheduler would not. */
struct script_difference {
	uint64_t step;			/* the decision */
	uint32_t instead_of, task;	/* who would have gone on, who did */
	bool preemption;
};

/*
 * next() fills in the point before each step, from 0 on (as for search_pick(); labels do not matter), and
 * says who made it; false at the end. *differences is malloc'd. How many, or -errno: -ENOMEM, -EINVAL where
 * the points make no sense.
 */
int script_differences(uint32_t fair, bool (*next)(void *ctx, struct search_point *p, uint32_t *task),
		       void *ctx, struct script_difference **differences);

#endif
