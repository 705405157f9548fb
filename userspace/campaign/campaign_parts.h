/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * campaign_parts.h - a campaign that makes its share of a search (--shard K/N)
 *
 * At first it does what all shards do, the prologue; then its search is frozen (search/parts.h), and it makes the parts
 * that are its own. All of it is in the log of its folder (report/shard.h). Run again, it makes the prologue once more,
 * for points live in the kernel and not in a file, and then the parts that the log has not.
 *
 * With -j and without --shard all parts are its own, and there is no log. Without both all of these do nothing.
 */
#ifndef ZUG_CAMPAIGN_PARTS_H
#define ZUG_CAMPAIGN_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "campaign/options.h"
#include "engine/engine.h"
#include "search/parts.h"

struct campaign;
struct campaign_failure;

/* Executions of the prologue of a strategy that samples; one that looks for points goes on until it has them. */
#define PARTS_PROLOGUE 64
/* Subtrees of an exhaustive one: so many, or so many for each shard. */
#define PARTS_SUBTREES 64
#define PARTS_SUBTREES_EACH 4

/* Before the session is prepared: options that are the same for all shards. */
void campaign_parts_options(struct campaign_options *o);
/* After it: the folder and the log. 1: the shard was complete, there is nothing to do; 0; -errno with a line in err. */
int campaign_parts_open(struct campaign *c, char *err, size_t errlen);
void campaign_parts_close(struct campaign *c);

/*
 * Before an execution of the search: divides, freezes, and enters the next part. 1: go on; 0: nothing is left that is
 * its own; -errno with a line in err.
 */
int campaign_parts_enter(struct campaign *c, char *err, size_t errlen);
/* The search is exhausted: a part is over, or the division is made, and there is more. -errno with a line in err. */
int campaign_parts_leave(struct campaign *c, char *err, size_t errlen);
/* For a copy of this process: enters that part. SEARCH_GO, SEARCH_EXHAUSTED or -errno. */
int campaign_parts_go(struct campaign *c, uint64_t part, uint32_t bound);
/* The first part from *part on that is to be made here, under the bound that is searched. False: there is none. */
bool campaign_parts_after(const struct campaign *c, uint64_t *part);
/* All executions of the part that was entered were made by others, and counted; e: what came of it. */
void campaign_parts_over(struct campaign *c, const struct search_part_end *e);
/* The points have changed: a division that was begun is none. */
void campaign_parts_renew(struct campaign *c);
/* Right after an execution: which one it was, before replays. */
void campaign_parts_note(struct campaign *c);
/* Executions that are left to its share; UINT64_MAX: no bound, or it is not known yet. */
uint64_t campaign_parts_left(const struct campaign *c);
/* The bound that is searched, for what people read. */
void campaign_parts_stats(const struct campaign *c, struct search_stats *st);

/* Into the log: a failure that was found, before its execution. 0 or -errno with a line in err. */
void campaign_parts_finding(struct campaign *c, const struct campaign_failure *f, bool once);
int campaign_parts_executed(struct campaign *c, const struct execution *x, char *err, size_t errlen);
int campaign_parts_end(struct campaign *c, const char *why, bool complete, char *err, size_t errlen);

#endif
