/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "lib/base/array.h"
#include "campaign/race_book.h"

int race_book_init(struct race_book *b, char *const *known, const char *only, char *const *suppressions, bool fail)
{
	size_t n = 0;

	*b = (struct race_book){ .fail = fail, .only = only ? strtoull(only, NULL, 16) : 0 };
	while (suppressions && suppressions[n])
		n++;
	b->used = calloc(n + 1, sizeof(*b->used));
	for (; known && *known; known++)
		race_book_know(b, strtoull(*known, NULL, 16));
	return b->used ? 0 : -ENOMEM;
}

void race_book_release(struct race_book *b)
{
	for (unsigned int i = 0; i < b->nr; i++) {
		free(b->list[i].object);
		free(b->list[i].message);
		free(b->list[i].trace);
	}
	free(b->list);
	free(b->known);
	free(b->counters);
	free(b->used);
}

static bool contains(const uint64_t *list, unsigned int nr, uint64_t race)
{
	for (unsigned int i = 0; i < nr; i++)
		if (list[i] == race)
			return true;
	return false;
}

bool race_book_knows(const struct race_book *b, uint64_t race)
{
	return contains(b->known, b->nr_known, race);
}

void race_book_know(struct race_book *b, uint64_t race)
{
	if (!race_book_knows(b, race) && ARRAY_RESERVE(b->known, b->room_known, b->nr_known + 1))
		b->known[b->nr_known++] = race;
}

bool race_book_is_counter(const struct race_book *b, uint64_t race)
{
	return contains(b->counters, b->nr_counters, race);
}

void race_book_add_counter(struct race_book *b, uint64_t race)
{
	if (!race_book_is_counter(b, race) &&
	    ARRAY_RESERVE(b->counters, b->room_counters, b->nr_counters + 1))
		b->counters[b->nr_counters++] = race;
}

char **race_book_list(const struct race_book *b)
{
	char **list = calloc(b->nr_known + 1, sizeof(*list));

	for (unsigned int i = 0; list && i < b->nr_known; i++)
		if (asprintf(&list[i], "%lx", (unsigned long)b->known[i]) < 0) {
			list[i] = NULL;
			break;
		}
	return list;
}
