/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * race_book.h - what is known of data races: data that the scan writes for the detection, and the
 * list of warnings
 */
#ifndef ZUG_RACE_BOOK_H
#define ZUG_RACE_BOOK_H

#include <stdbool.h>
#include <stdint.h>
#include "campaign/result.h"

struct race_book {
	uint64_t *known; /* identities that do not count: reported, suppressed, or of atomic
			    accesses */
	unsigned int nr_known, room_known;
	uint64_t *counters;	/* identities of pairs whose data is only ever added to */
	unsigned int nr_counters, room_counters;
	struct campaign_race *list;	/* warnings */
	unsigned int nr, room;
	bool *used;		/* by suppression */
	unsigned int nr_suppressed;
	bool fail;		/* --fail-on-race */
	uint64_t only;		/* the race that an execution is followed up to: no other one ends it; 0: none */
	bool scanning; /* the scan compares accesses by clocks: no race ends an execution */
	bool scanned;		/* the scan is over */
	bool noting; /* the first race of this execution is noted, and does not end it */
};

/* known: identities in hexadecimal, NULL-terminated or NULL; only: one, or NULL. 0 or -ENOMEM. */
int race_book_init(struct race_book *b, char *const *known, const char *only, char *const *suppressions, bool fail);
void race_book_release(struct race_book *b);
/* The race does not count from now on. */
void race_book_know(struct race_book *b, uint64_t race);
bool race_book_knows(const struct race_book *b, uint64_t race);
void race_book_add_counter(struct race_book *b, uint64_t race);
bool race_book_is_counter(const struct race_book *b, uint64_t race);
/* The known identities as strings: for free() each, and the list. NULL: out of memory. */
char **race_book_list(const struct race_book *b);

#endif
