/* SPDX-License-Identifier: GPL-2.0-only */
/* probe_places.h - places of the code as traces write them: "PATH+0xOFFSET" */
#ifndef ZUG_PROBE_PLACES_H
#define ZUG_PROBE_PLACES_H

#include <stddef.h>
#include <stdint.h>

/* The list ends with NULL, or is NULL. */
struct place_list {
	char **list;
	unsigned int nr, room;
};

/* 0 or -ENOMEM. */
int place_list_add(struct place_list *l, const char *path, uint64_t offset);
void place_list_release(struct place_list *l);

/* The length of the path in such a name, and the offset behind it. 0: it is none. */
size_t probe_place_parse(const char *place, uint64_t *offset);

#endif
