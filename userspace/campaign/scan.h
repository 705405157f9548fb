/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * scan.h - inside of policy_scan.c: the race scan's state
 *
 *	scan_places.c	which instructions of the program it looks at, how many at a time, and how often
 *	scan_look.c	what they access in an execution, and what of it is left unordered
 *	policy_scan.c	the order of things, which tasks are held, and what comes of it
 */
#ifndef ZUG_SCAN_H
#define ZUG_SCAN_H

#include "campaign/policy.h"
#include "search/lives.h"
#include "search/ranges.h"
#include "search/vector_clocks.h"

/* So often in one execution an instruction is a point at most; what is reached that often stays so limited. */
#define LIMIT 256
/*
 * A search that samples looks in one of so many executions after its first looks, and while there are
 * places that it has not looked at in one of so many.
 */
#define EVERY 16
#define EVERY_NEW 4
#define EVERY_BRIEF 6	/* instead of EVERY, where an execution is so short that a look costs little more */
/* Suspected pairs that are tried, one in an execution. */
#define PAIRS 16
/* Names that are told. */
#define NAMES 12
/* Pieces of memory that overlap one that is accessed: of more than these so many are looked at. */
#define OVERLAPS 128

struct access_place {
	uint32_t module, offset;
	uint16_t op; /* for probes_add_code(): ZUG_OP_NONE, or atomic because the source says so */
	bool split, counts;	/* counts: it is an addition */
	bool plain;		/* it is known to be no atomic access */
	bool added;		/* a point of the search */
	bool hot;		/* was reached very often in one execution */
	bool looked;		/* was looked at in some execution */
	bool shared;		/* several tasks access the same there, and one of them writes */
	uint32_t site, hits;	/* of the probes, UINT32_MAX: none; stops in this execution */
	uint32_t reached;	/* so often in one execution, about; beyond ZUG_HOT_HITS it is not counted */
	uint32_t within;	/* as struct probe_site has it */
	uint64_t label_site;	/* of its labels, once it was reached */
	uint64_t key;		/* equal for what may well access the same */
};

/*
 * A piece of memory that a task accessed at a place in this execution, by its number in s->ranges,
 * plus 1.
 */
struct seen {
	uint32_t range;		/* 0: free */
	uint32_t task, place;	/* place: NO_PLACE: an atomic instruction, which is a point anyway */
	uint8_t how;		/* HOW_*, of all times */
};
#define NO_PLACE	UINT32_MAX
#define HOW_WRITE	1u	/* it was written there */
#define HOW_HANDLER	2u	/* in a signal handler */
#define HOW_OUTSIDE	4u	/* outside of one */
#define HOW_AFTER_KILL	8u	/* when a process of the test had been killed */

/*
 * Where accesses that synchronise count as reads, and frees as writes, beside the lives of the memory: they race with frees and
 * with nothing else.
 */
#define BESIDE	(1u << 31)

struct raced {
	uint32_t range;
	uint64_t object;	/* the smaller of the two that overlap */
	uint64_t a, b;		/* sites */
};

struct suspect {
	uint64_t a, b;		/* sites */
	bool sure; /* it will be a race, if it is one at all, and not only a possible one */
};

struct scan {
	struct session *session;
	struct race_book *races;
	struct vector_clocks *order;
	struct access_place *places;	/* by module and offset */
	uint32_t nr, size;
	uint32_t *turns;	/* the places in the order in which they are looked at */
	uint32_t nr_turns;	/* all of them at first */
	uint32_t first, window;	/* of turns: the places of this look begin there, and are so many */
	uint32_t nr_batches, round, rounds, last_round;
	uint32_t span;		/* batches that are looked at, where the search does not sample */
	uint32_t stops;		/* of a look in a search that samples, about */
	bool brief;		/* an execution has few steps, and that search */
	uint32_t nr_looked;	/* places that were looked at */
	uint32_t since;		/* executions since the last look */
	bool late;		/* this execution looks, in the search */
	uint32_t nr_ends;	/* decisions of this execution that held a task at its end */
	bool cuts;		/* a process has ended while others of its tasks could go on */
	bool ends_last;		/* this execution holds such an end */
	bool endless;		/* and the others went on for too long */
	uint32_t limit;		/* of a place in a look */
	bool moved;		/* this look has other points than the one before it */
	bool heated;		/* the last look found more places that are hot */
	struct seen *seen;
	size_t nr_seen, size_seen;
	struct ranges *ranges;	/* of this execution */
	uint64_t *objects;	/* by range: of its begin */
	struct range_life {
		uint32_t number;	/* as lives_space() takes it */
		bool freed;		/* it was freed, and not accessed in another way */
	} *range_lives;		/* by range */
	uint32_t size_objects, size_lives;
	struct lives *lives;	/* of this execution */
	struct raced raced[256];
	uint32_t nr_raced;
	struct suspect pairs[PAIRS];
	uint32_t nr_pairs, pair;	/* pair: that is tried now, plus 1 */
	char *names[NAMES];
	uint32_t nr_names, nr_unnamed;
	uint64_t steps;
	bool handlers;		/* some names are of what signal handlers access */
	bool kills;		/* and some of what processes write that are killed */
	bool unknown;		/* of some accesses it is unknown whether they are atomic */
	bool killed;		/* in this execution a process has been killed */
	bool no_memory;
	char **data;		/* for replays: the points */
	bool holding;		/* this execution holds tasks for a pair */
	enum { UNBEGUN = 0, LOOKING, CONFIRMING, HOLDING, DONE } mode;
};

/* ---- scan_places.c ---- */

/* The places of the program, and how they are looked at. 0 or -ENOMEM. */
int scan_plan(struct scan *s);
/* The places of the next look, and their limit: s->first, s->window, s->limit, s->moved. */
void scan_next_window(struct scan *s);
/*
 * Only these have a turn from now on: what several tasks access, which was in order in all looks so far. Another schedule may
 * show it without. False: there is nothing.
 */
bool scan_turn_to_shared(struct scan *s);
/* After a look: how often each place was reached. */
void scan_count(struct scan *s);
/* So often a place is a point in an execution that looks, or in another one. */
uint32_t scan_limit(const struct scan *s, const struct access_place *a, bool looks);
/* Place i of the turns, which come round. */
struct access_place *scan_turn(const struct scan *s, uint32_t i);
/* NULL: that instruction is none of them. */
struct access_place *scan_place(const struct scan *s, uint32_t module, uint64_t offset);

/* ---- scan_look.c ---- */

/* Candidate i makes the step: notes what it accesses, and which accesses no order is between. */
void scan_look(struct scan *s, const struct search_point *p, uint32_t i);

#endif
