/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pair_order.h - which pairs of critical.h are reversed first
 *
 * What ends a task comes first, or the life of a block of memory; then, where all tasks wait at the end, those on the objects
 * that they wait for, and where the last operation is a misuse, those on what that acts on. Of these and of the rest those that
 * tear an update (torn.h) come first, and last those on files that no operation is seen to change, or that both operations
 * read. Of equals those come first in which both operations act on the same, and not one of them on a part of it.
 *
 * Late, behind all others, are pairs that are no choice of the program: both operations are made by libraries, which
 * synchronise their own tasks with them; or one sends what the other receives, and waits for if it comes too early; or one
 * brings the other about, as a signal does its handler; or one only stands where such a handler may begin.
 */
#ifndef ZUG_SEARCH_PAIR_ORDER_H
#define ZUG_SEARCH_PAIR_ORDER_H

#include "search/critical.h"

/*
 * Sorts the pairs; those of a kind stay in the order of critical_pairs(). waited: the objects that the tasks wait for, or
 * that are misused; 0 of them where there are none. 0 or -ENOMEM.
 */
int pair_order(const struct critical *c, const uint64_t *waited, size_t nr_waited, struct critical_pair *pairs, size_t nr);

/* What both act on is among these objects: a wait that is over has a lock in common with others, too. */
bool pair_is_waited(const struct critical *c, const struct critical_pair *p, const uint64_t *waited, size_t nr);
/* What the second one acts on has been freed by the first. */
bool pair_is_freed(const struct critical *c, const struct critical_pair *p);
/* The pair is a late one. */
bool pair_is_late(const struct critical *c, const struct critical_pair *p);

/*
 * Step 'receive' of s takes what comes through a pipe, a socket or the like, and has waited until step 'send' sent something
 * there: in the other order it would have taken the same.
 */
bool pair_waited(const struct schedule *s, size_t receive, size_t send);

#endif
