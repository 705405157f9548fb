/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * minimize.h - make a failing schedule as simple as it can be
 *
 * A minimiser is a search like any other, driven by the same loop:
 *
 *	s = minimize_new(&opts, tasks, nr, failure, trials, err, sizeof(err));
 *	while (search_begin(s) == SEARCH_GO) { ... search_end(s, &end); }
 *	minimize_result(s, &result);
 *	search_free(s);
 *
 * The first execution follows the given schedule and must fail with the given
 * identity; every further one is a simpler schedule that is tried. What failed
 * in the same way is kept if it is simpler: fewer preemptions; then fewer
 * decisions that differ from the base scheduler's; then fewer steps.
 *
 * A schedule is described by these differences only: (task, number of its
 * step) -> the task that goes on instead. So it survives when unrelated steps vanish, and
 * what names a task that cannot run there is skipped.
 *
 * The end result is minimal under these moves: no difference can be left out,
 * or skipped to the task of the next one; no block of steps can trade places with
 * independent ones so that it becomes simpler (where nothing differs, none is tried); and no preemption can be made one
 * step of the preempted task later. Where more than one preemption is left, each of the last 64
 * that were not made was tried alone as well.
 */
#ifndef ZUG_SEARCH_MINIMIZE_H
#define ZUG_SEARCH_MINIMIZE_H

#include "search/search.h"

/*
 * opts: fair and max_steps as for the search that found the failure; seed and
 * strategy do not matter. tasks (nr of them, copied): the decisions. trials: the
 * number of executions at most, 0: until minimal.
 */
struct search *minimize_new(const struct search_options *opts, const uint32_t *tasks, size_t nr,
			    uint64_t failure, uint64_t trials, char *err, size_t errlen);

/*
 * Before the first execution: it has other accesses of data as points than the schedule had (around.h). labels: of its
 * nr steps. 0 or -ENOMEM.
 */
int minimize_other_data(struct search *s, const struct zug_label *labels);

/*
 * Before the first execution: so many of the last steps of the schedule are a loop of tasks that get nowhere. What differs
 * in them is left out first, all together.
 */
void minimize_loop(struct search *s, uint64_t steps);

/*
 * Before the first execution: what fails is executed once more, and accepted when it fails again, in the same order of
 * tasks.
 */
void minimize_twice(struct search *s);

/*
 * Before the first execution: which places are in the program's own code, besides those whose labels say so (ZUG_L_OWN). What
 * that code does not take part in is left out first. ctx stays the caller's.
 */
void minimize_set_users(struct search *s, bool (*users)(const void *ctx, uint64_t site), const void *ctx);

/*
 * The reason why a preemption matters: the preempted operation and the one that came before it
 * instead.
 */
struct minimize_pair {
	uint64_t step;			/* of the preemption, in result.tasks */
	uint32_t preempted, by;		/* tasks */
	struct zug_label before;	/* what the preempted task was about to do */
	struct zug_label after;		/* the first operation of others in between that touches it;
					 * op ZUG_OP_NONE: none does */
	uint64_t after_step;		/* of it; UINT64_MAX: none */
};

struct minimize_result {
	bool reproduced;		/* the given schedule did fail as said */
	bool minimal;			/* false: trials ran out */
	const uint32_t *tasks;		/* the simplest schedule, for search_replay(); owned by s */
	size_t nr;
	uint32_t preemptions, differences;
	uint64_t trials;		/* executions made */
	uint64_t left;			/* about so many more, if nothing simpler fails; 0: minimal */
	uint64_t trial;			/* which of them, from 1 on, was the simplest schedule */
	const struct minimize_pair *pairs;	/* one for each preemption; owned by s */
	size_t nr_pairs;
};

void minimize_result(const struct search *s, struct minimize_result *result);

#endif
