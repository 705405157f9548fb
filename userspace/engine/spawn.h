/* SPDX-License-Identifier: GPL-2.0-only */
/* spawn.h - spawn paths: (parent, how manieth child) to a number that is equal in all executions */
#ifndef ZUG_SPAWN_H
#define ZUG_SPAWN_H

#include <stdint.h>

struct spawn_path {
	uint32_t parent, nth;
};

/* All zero is an empty table; the root is number 0. */
struct spawn_table {
	struct spawn_path *paths;	/* by number */
	uint32_t nr, size;
	uint32_t *index;		/* open addressing, number + 1 */
	uint32_t index_size;
};

/* The number of a path, given out in order of first request. UINT32_MAX: out of memory. */
uint32_t spawn_number(struct spawn_table *t, uint32_t parent, uint32_t nth);
void spawn_free(struct spawn_table *t);

#endif
