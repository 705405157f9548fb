/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * division.h - the tree of schedules, divided into subtrees of about equal size
 *
 * Knuth, Estimating the efficiency of backtrack programs (1975): a random path from the root to a leaf, where each branch
 * has the same chance, says how many leaves there are: the product of the numbers of branches on it, in the mean over
 * many paths. So random executions measure a subtree. The greatest one is taken apart at its next choice, until there are
 * enough; a path goes on to serve the child that it went through.
 */
#ifndef ZUG_SEARCH_DIVISION_H
#define ZUG_SEARCH_DIVISION_H

#include <stdbool.h>
#include <stdint.h>

/* A choice on the path of an execution. Of the options 0..nr-1 the first 'allowed' ones are within the bound. */
struct branch {
	uint32_t nr, allowed, taken;
	uint32_t cost, step;	/* of taking option 0; more for each further one, or for any other one */
	bool grows;		/* step is added for each further one */
};

struct subtree {
	uint32_t *choices, nr;
	uint32_t cost;
	uint32_t probes, lost;	/* random executions that went through it; that did not come to it */
	double size;		/* their mean */
	struct branch *path;	/* of one of them, from here on */
	uint64_t nr_path;
};

struct division {
	struct subtree *list;
	uint64_t nr, room, wanted;
	uint64_t at;		/* the subtree that is measured */
	bool cut;		/* options over the bound were left out */
};

void division_fini(struct division *d);	/* one of zeros is fine */
/* A new one, with the root alone. -ENOMEM. */
int division_begin(struct division *d, uint64_t wanted);
/* The next subtree to measure, after taking some apart if need be. NULL: it is done; *error: -ENOMEM. */
const struct subtree *division_next(struct division *d, int *error);
/*
 * What a random execution in it met: all choices on its path, from the root; nr less than the subtree's own: it did
 * not come there. -ENOMEM.
 */
int division_note(struct division *d, const struct branch *path, uint64_t nr);
/* Appends a subtree that is known. -ENOMEM. */
int division_add(struct division *d, const uint32_t *choices, uint32_t nr, uint32_t cost, double size);

#endif
