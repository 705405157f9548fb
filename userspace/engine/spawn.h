/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spawn.h - maps spawn paths (parent, ordinal among its children) to numbers that are equal in all
 * executions
 */
#ifndef ZUG_SPAWN_H
#define ZUG_SPAWN_H

#include <stdint.h>
#include "lib/base/id_map.h"

struct spawn_path {
	uint32_t parent, nth;	/* nth: 0 is the first child */
};

/* All zero is an empty table; the root is number 0. */
struct spawn_table {
	struct spawn_path *paths;	/* by number */
	uint32_t nr, room;
	struct id_map numbers;		/* of paths */
};

/* The number of a path, given out in order of first request. UINT32_MAX: out of memory. */
uint32_t spawn_number(struct spawn_table *t, uint32_t parent, uint32_t nth);
/* Only the first nr numbers have been given out. */
void spawn_forget(struct spawn_table *t, uint32_t nr);
void spawn_free(struct spawn_table *t);

#endif
