/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pair_order.h - which pairs of critical.h are reversed first
 *
 * What ends a task comes first; then, where all tasks wait at the end, those on the objects that they wait for. Of these
 * and of the rest those that tear an update (torn.h) come first, and last those on files that no operation is seen to change.
 */
#ifndef ZUG_SEARCH_PAIR_ORDER_H
#define ZUG_SEARCH_PAIR_ORDER_H

#include "search/critical.h"

/*
 * Sorts the pairs; those of a kind stay in the order of critical_pairs(). waited: the objects that the tasks wait for; 0 of
 * them where one can go on. 0 or -ENOMEM.
 */
int pair_order(const struct critical *c, const uint64_t *waited, size_t nr_waited, struct critical_pair *pairs, size_t nr);

#endif
