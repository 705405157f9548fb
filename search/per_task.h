/* SPDX-License-Identifier: GPL-2.0-only */
/* per_task.h - arrays with an entry for each task, which grow as tasks are made */
#ifndef ZUG_SEARCH_PER_TASK_H
#define ZUG_SEARCH_PER_TASK_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * The array of *nr entries of size bytes (none: NULL and 0) with room for one of task: it may have moved, and *nr have
 * grown; new entries are zero. NULL: no memory, and all is as it was.
 */
static inline void *per_task_room(void *array, uint32_t *nr, uint32_t task, size_t size)
{
	uint64_t more = *nr ? *nr : 16;
	char *grown;

	while (more <= task)
		more *= 2;
	grown = realloc(array, more * size);
	if (!grown)
		return NULL;
	memset(grown + *nr * size, 0, (more - *nr) * size);
	*nr = more;
	return grown;
}

/* Makes room for an entry of task in the array. 0 or -ENOMEM. */
#define PER_TASK_RESERVE(array, nr, task) ({							\
	void *array_ = (task) < (nr) ? (array) : per_task_room(array, &(nr), task, sizeof(*(array))); \
												\
	if (array_)										\
		(array) = array_;								\
	array_ ? 0 : -ENOMEM;									\
})

#endif
