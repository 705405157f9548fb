/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * torn.h - updates of one execution that others come into: a side reads something, another writes it, and the
 * side writes it without having read it again
 *
 * A side is a task, or a task with those that it has created: a shell whose child reads a file writes what the
 * child has read. The other is not of them.
 *
 * Lu et al.: AVIO (2006): with one object these are the interleavings that no order of whole updates has.
 */
#ifndef ZUG_SEARCH_TORN_H
#define ZUG_SEARCH_TORN_H

#include "search/critical.h"

/* So many torn updates are looked for in a schedule. */
#define TORN_MAX	256

struct torn {
	size_t look;		/* the first of the side's operations in this update that look at it */
	size_t read;		/* the first of them that reads it, if one does: not an open or a look at its attributes */
	size_t between;		/* the last of the other's that change it */
	size_t own;		/* the side's that changes it then */
	uint64_t object;
};

/*
 * The torn updates, the first first: their number, at most 'most'. object: of this one alone; 0: of all.
 */
size_t torn_updates(const struct critical *c, uint64_t object, struct torn *updates, size_t most);

#endif
