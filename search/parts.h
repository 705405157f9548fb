/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * parts.h - a search in parts that do not depend on each other, for many machines or lanes
 *
 * A search begins as always (search.h): that is its prologue, in which it learns. Then it is frozen: what it has learnt
 * stays as it is, and what is left to do is a list of parts. What a part comes to depends on the options, the
 * prologue and the part's number alone: not on who makes it, and not on what was made before it.
 *
 *	of a strategy that samples	a part is one execution, and there is no last part
 *	of one that tries everything	a part is a subtree of the tree of schedules, under one bound; before
 *					it is frozen it has to be divided
 *
 *	search_divide(s, 64);				a systematic strategy only: these executions
 *	while (search_begin(s) == SEARCH_GO) { ... }	are random ones, that measure the tree
 *	search_freeze(s);
 *	for (each part that is mine)
 *		if (search_enter(s, part, bound) == SEARCH_GO)
 *			while (search_begin(s) == SEARCH_GO) { ... }
 *
 * In the frozen part a portfolio has its samplers only, each with the share that it had earned: searches that try
 * everything cannot be parts of single executions.
 */
#ifndef ZUG_SEARCH_PARTS_H
#define ZUG_SEARCH_PARTS_H

#include "search/search.h"

/* The strategy tries everything, in subtrees: it has to be divided before it is frozen. */
bool search_divides(const struct search *s);
/*
 * Begins the division into about so many subtrees (fewer where the tree is small). The next executions are random
 * ones; search_begin() answers SEARCH_EXHAUSTED when the division is made. After search_renew() it has to begin
 * again. -EINVAL: the strategy does not divide; -EBUSY, -ENOMEM.
 */
int search_divide(struct search *s, uint32_t wanted);
/*
 * A division that was made before, of the same program: the choices of each subtree and its size, as search_subtree()
 * told them.
 */
struct search_subtree {
	const uint32_t *choices;	/* the option taken at each point with a choice; nr of them */
	uint32_t nr;
	uint32_t cost;		/* preemptions or delays of these choices */
	double size;		/* executions below it, estimated (Knuth) */
};
int search_set_division(struct search *s, const struct search_subtree *list, uint64_t nr, bool cut);
/* Subtree i, as long as the division is not changed. */
struct search_subtree search_subtree(const struct search *s, uint64_t i);
/* Something of the tree is over the greatest bound, and in no subtree. */
bool search_division_cut(const struct search *s);

/*
 * From now on nothing is learnt, and search_begin() answers SEARCH_EXHAUSTED until a part is entered. -EINVAL: the
 * search follows a script, or it has to be divided; -EBUSY: during an execution.
 */
int search_freeze(struct search *s);
/* Number of parts under each bound; UINT64_MAX: of a strategy that samples. */
uint64_t search_parts(const struct search *s);
/* The greatest bound: parts are entered with 0, 1 ... up to it. 0: the strategy has no bounds. */
uint32_t search_max_bound(const struct search *s);
/* SEARCH_GO; SEARCH_EXHAUSTED: there is nothing in it under that bound; or -errno. */
int search_enter(struct search *s, uint64_t part, uint32_t bound);
/* Of the part that was entered last, when it is over. */
struct search_part_end {
	bool cut;		/* a greater bound would find more here */
	bool incomplete;	/* not all of it could be tried */
	bool missed;		/* executions did not come to where it begins */
};
void search_part_end(const struct search *s, struct search_part_end *e);

/*
 * An execution of the part that was entered, which passed or failed, and which another search made that was a copy of
 * this one when it was frozen: it counts as if this one had made it. The part must not be gone on with.
 */
struct search_made {
	uint64_t class, schedule, steps;	/* search_hashes() */
};
void search_count(struct search *s, const struct search_made *m);

/*
 * Shares parts out, so that each of nr has about the same to do: owner[i] becomes the number, from 0, of who makes
 * part i. The greatest part goes to who has least, and so on. 0 or -ENOMEM.
 */
int search_share(const double *size, uint64_t parts, uint32_t nr, uint32_t *owner);

#endif
