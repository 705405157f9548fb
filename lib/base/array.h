/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * array.h - arrays that grow
 *
 * An array is a pointer and the number of elements that it has room for, both kept by the caller; free() ends it.
 */
#ifndef ZUG_ARRAY_H
#define ZUG_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Gives *array room for 'wanted' elements of 'size' bytes, and at least doubles *room when it has to move it; new room is
 * not initialised. The first time there is room for at least 16. false: out of memory (or the array would have more than
 * SIZE_MAX bytes), and nothing has changed.
 */
bool array_reserve_bytes(void **array, size_t *room, size_t wanted, size_t size);

/* The same for a typed array and a room that is any unsigned integer: ARRAY_RESERVE(a->list, a->room, a->nr + 1). */
#define ARRAY_RESERVE(array, room, wanted) ({						\
	size_t array_room_ = (room), array_wanted_ = (wanted);				\
	bool array_ok_ = array_wanted_ <= array_room_;					\
											\
	if (!array_ok_) {								\
		void *array_moved_ = (array);						\
											\
		array_ok_ = array_reserve_bytes(&array_moved_, &array_room_, array_wanted_,	\
						sizeof(*(array)));			\
		(array) = array_moved_;							\
		(room) = array_room_;							\
	}										\
	array_ok_;									\
})

/* The same, with new room filled with zeros. */
#define ARRAY_RESERVE_ZERO(array, room, wanted) ({					\
	size_t array_before_ = (room);							\
	bool array_done_ = ARRAY_RESERVE(array, room, wanted);				\
	if (array_done_ && (room) > array_before_)					\
		memset((array) + array_before_, 0, ((room) - array_before_) * sizeof(*(array)));	\
	array_done_;									\
})

/*
 * The first of nr sorted elements that is not below what is looked for; nr: there is none. 'below' says it of element
 * 'i', a name of the caller's choice: ARRAY_FROM(a->nr, i, a->list[i].step < step).
 */
#define ARRAY_FROM(nr, i, below) ({							\
	size_t array_low_ = 0, array_high_ = (nr);					\
											\
	while (array_low_ < array_high_) {						\
		size_t i = array_low_ + (array_high_ - array_low_) / 2;			\
											\
		if (below)								\
			array_low_ = i + 1;						\
		else									\
			array_high_ = i;						\
	}										\
	array_low_;									\
})

#endif
