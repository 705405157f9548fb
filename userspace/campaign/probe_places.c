/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "campaign/probe_places.h"

int place_list_add(struct place_list *l, const char *path, uint64_t offset)
{
	if (!ARRAY_RESERVE(l->list, l->room, l->nr + 2) ||
	    asprintf(&l->list[l->nr], "%s+0x%lx", path, (unsigned long)offset) < 0)
		return -ENOMEM;
	l->list[++l->nr] = NULL;
	return 0;
}

void place_list_release(struct place_list *l)
{
	for (unsigned int i = 0; i < l->nr; i++)
		free(l->list[i]);
	free(l->list);
}

size_t probe_place_parse(const char *place, uint64_t *offset)
{
	const char *plus = strrchr(place, '+');

	*offset = plus ? strtoull(plus + 1, NULL, 16) : 0;
	return plus ? plus - place : 0;
}
