/* SPDX-License-Identifier: GPL-2.0-only */
/* search_state.h - what a search keeps, for search.c, search_parts.c and search_values.c */
#ifndef ZUG_SEARCH_STATE_H
#define ZUG_SEARCH_STATE_H

#include "search/division.h"
#include "search/fair.h"
#include "search/hb.h"
#include "search/parts.h"
#include "search/patience.h"
#include "search/seen.h"
#include "search/strategy.h"

struct search {
	struct search_env env;
	const struct strategy_type *type;
	void *state;			/* of the strategy */
	int64_t args[STRATEGY_MAX_PARAMS];
	uint64_t options;		/* hash of what a resumed search must have in common */
	uint64_t max_steps;

	struct hb hb;
	struct profile profile;		/* if the strategy wants it */
	bool unmet;		/* a task may have come since, while the number of tasks was the same */
	uint32_t nr_met, counted;	/* at the last step of this execution that was counted: tasks, who made it */
	struct fair fair;
	struct patience patience;
	struct rules *rules;		/* NULL: none */
	struct seen classes, schedules;

	/* the current execution */
	bool running;
	bool asked;			/* pick() said -ESTALE for this point: ask again */
	bool diverged;
	uint64_t step;
	uint64_t schedule;		/* hash of the decisions so far */
	uint32_t last;			/* the task chosen at the point before */
	unsigned int last_flags;	/* of its label */
	uint32_t *allowed;		/* scratch for the choice */
	uint32_t *enabled;		/* of a point whose caller gives no list */
	uint32_t nr_enabled;
	size_t room_allowed, room_enabled;

	struct rng numbers_rng;		/* of search_choose_numbers() */
	bool numbers_asked;		/* a strategy that tries everything tries one value alone */

	/* rare values: asked for so far, number of the next that is not 0; most in one execution */
	struct rng rare_rng;
	uint64_t rare, rare_next, rare_max;

	/* a forced execution */
	uint32_t *forced;
	size_t nr_forced;
	bool force;			/* the current or next execution is forced */
	bool loose;			/* it left what was forced: go on by the base scheduler */

	/* parts (parts.h) */
	struct division division;
	bool dividing, divided;
	bool inside;			/* a part was entered, and is not over */
	uint64_t first;			/* iteration of part 0, where a part is one execution */
	struct search_part_end part_end;
	struct branch *path;		/* scratch for the division */
	size_t room_path;

	uint64_t iteration;		/* of the strategy */
	uint64_t complete;		/* executions that were not cut */
	struct search_stats stats;
};

/* ---- search_parts.c ---- */

/* Before a strategy chooses an execution: SEARCH_GO, there is one of a part, or of the division; SEARCH_EXHAUSTED; -errno. */
int search_begin_part(struct search *s);
/* There is none, for the reason ret, which is returned. */
int search_end_part(struct search *s, int ret);
/* An execution of the division has ended: notes its path. */
void search_note_path(struct search *s);

#endif
