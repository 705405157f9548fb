/* SPDX-License-Identifier: GPL-2.0-only */
/* safestack.h - a lock-free stack whose bug is known as the rarest, as a program for the search */
#ifndef ZUG_BENCH_SAFESTACK_H
#define ZUG_BENCH_SAFESTACK_H

#include <stdbool.h>
#include "search/search.h"

/* One execution under the next schedule of the search. True: two tasks had the same item. */
bool safestack_fails(struct search *s);

#endif
