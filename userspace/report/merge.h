/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * merge.h - what the shards of a search came to, together (zug merge)
 *
 * Exact, in any order, and as often as wanted: it only reads. Executions are counted once, whichever shard made them; the
 * prologue, which every shard makes, is one.
 */
#ifndef ZUG_MERGE_H
#define ZUG_MERGE_H

#include <stdio.h>
#include "report/shard.h"

/* A way to fail. */
struct merge_bug {
	uint64_t failure;
	uint64_t executions;			/* that failed so */
	const struct shard_finding *first;	/* with the lowest number */
	const struct shard *shard;		/* which found it */
	unsigned int shards;			/* that found it */
};

enum merge_state {
	MERGE_COMPLETE = 0,
	MERGE_FOUND,		/* it ended with its first finding */
	MERGE_PARTLY,		/* it was ended before, or is still being written */
};

struct merge_shard {
	const struct shard *s;
	enum merge_state state;
	uint64_t executions, failing;	/* of its own, without the prologue */
	uint64_t distinct;
};

struct merge {
	struct merge_shard *shards;	/* by their numbers; of two with the same number the one that is further */
	unsigned int nr, of;		/* that are there; that there are */
	struct shard **owned;
	unsigned int nr_owned, room_owned;
	char **same;			/* folders that were named twice, or are copies: they do not count */
	unsigned int nr_same;
	char **empty;			/* folders of shards whose logs have no whole line: they are missing */
	unsigned int nr_empty, room_empty;

	uint64_t prologue, executions, steps, failing, diverged, abandoned;
	uint64_t classes, schedules;
	uint64_t *missing;		/* numbers of the shards that are not there */
	unsigned int nr_missing;
	struct merge_bug *bugs;		/* in the order of their first executions */
	unsigned int nr_bugs, room_bugs;
	unsigned int nr_once;

	/* of an exhaustive strategy */
	uint64_t parts;			/* subtrees; 0: it samples */
	uint32_t bound_done;		/* UINT32_MAX: none */
	bool bounded;			/* it has bounds */
	bool all;			/* nothing is left to try, under any bound */
	uint64_t parts_done;		/* under the bound that is not done, or of all */
	const char *ended;		/* all ended so in the prologue, which was the whole search; NULL: they did not */
	bool incomplete;		/* something could not be tried, or did not follow its schedule */
};

enum merge_end {
	MERGE_GOOD = 0,
	MERGE_REFUSED,		/* not shards, or of different searches: the line says what differs */
	MERGE_DIVERGED,		/* two have made the same thing with different results: the line has both */
	MERGE_NO_MEMORY,
};
/* dirs: shards, or folders that have shards in them. merge_release() in any case. */
enum merge_end merge_read(struct merge *m, char *const *dirs, unsigned int nr, char *err, size_t errlen);
void merge_release(struct merge *m);

/* Nothing is missing, and everything could be tried. */
bool merge_is_complete(const struct merge *m);
void merge_text(FILE *out, const struct merge *m);
int merge_json(FILE *out, const struct merge *m);
/* The same as the record of a campaign (record.h), whose page shows the shards in place of strategies. */
int merge_record(const char *path, const struct merge *m, char *err, size_t errlen);

#endif
