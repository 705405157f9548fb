/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * patience.h - executions in which tasks that yield go on all the same, for a while
 *
 * Adaptive waits yield or pause a bounded number of times before they block (libstdc++'s atomic waits, std::mutex of
 * Rust, spinning barriers). The fair filter (fair.h) lets no task yield twice while another one that it starves can
 * run, so under it such a loop never comes to its end, and what lies behind is never seen. In a share of the
 * executions of some strategies (STRATEGY_PATIENT) a task that yields is patient: it alone goes on, up to
 * PATIENCE_YIELDS times in one wait. If it blocks or leaves the loop by then, its next wait is a new one. If not, the
 * loop has no bound, and only the fair filter acts on the task from then on. So an execution is longer by a fixed
 * number of yields a task, and ends as all others do.
 *
 * No execution before the first one with a yield is patient. Where patience is seen to end waits, more executions are
 * patient than where it is not.
 */
#ifndef ZUG_SEARCH_PATIENCE_H
#define ZUG_SEARCH_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>
#include "search/search.h"

#define PATIENCE_YIELDS	64	/* in one wait */
#define PATIENCE_STEPS	8	/* a task that has made more steps since it yielded has left the loop */

struct patience {
	uint64_t seen;			/* executions with a yield */
	uint64_t made, met, paid;	/* patient ones; those with a yield; those in which some wait came to its end */
	/* of this execution */
	bool on, yields, pays;
	uint32_t *spent;		/* yields of its wait, by task */
	uint32_t nr_spent;
	uint32_t task;			/* it alone may go on, or SEARCH_NO_TASK */
	uint32_t since;			/* steps since it yielded */
};

void patience_fini(struct patience *p);
/* True when the execution with that number should be patient. */
bool patience_draw(const struct patience *p, uint64_t seed, uint64_t iteration);
/* True while too few executions were patient for all to be said to be covered. */
bool patience_owes(const struct patience *p);
/* An execution begins; on: it is patient. */
void patience_begin(struct patience *p, bool on);
/* The execution comes to that point, after a step with these flags (ZUG_L_*). -ENOMEM. */
int patience_step(struct patience *p, const struct search_point *point, unsigned int flags);
/* It has ended; learns: it teaches how many are to be patient. */
void patience_end(struct patience *p, bool learns);
/* So many steps more the patient task makes, if it does not yield. */
uint64_t patience_promise(const struct patience *p);
/* So many times it may still yield in this wait. */
uint32_t patience_left(const struct patience *p);

#endif
