/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdlib.h>
#include "lib/base/array.h"

bool array_reserve_bytes(void **array, size_t *room, size_t wanted, size_t size)
{
	size_t n = *room > SIZE_MAX / 2 ? SIZE_MAX : 2 * *room, bytes;
	void *moved;

	if (wanted <= *room)
		return true;
	if (n < 16)
		n = 16;
	if (n < wanted)
		n = wanted;
	if (__builtin_mul_overflow(n, size, &bytes))
		return false;
	moved = realloc(*array, bytes);
	if (!moved)
		return false;
	*array = moved;
	*room = n;
	return true;
}
