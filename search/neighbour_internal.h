/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * neighbour_internal.h - what the parts of neighbour.h share: the strategy, the orders that it tries, the names of what
 * decides
 */
#ifndef ZUG_SEARCH_NEIGHBOUR_INTERNAL_H
#define ZUG_SEARCH_NEIGHBOUR_INTERNAL_H

#include "search/around.h"
#include "search/critical.h"
#include "search/neighbour.h"
#include "search/schedule.h"
#include "search/settled.h"
#include "search/torn.h"

/*
 * At most this many pairs of operations are reversed; what is bounded keeps a quarter for other schedules, and half of
 * that for others than those of several pairs.
 */
#define PAIRS_MAX	4096

/* Objects whose torn updates are made whole; and so many updates of each. */
#define WHOLE_OBJECTS	4
#define WHOLE_MAX	8

enum phase {
	FOLLOW, OWN_FIRST, WHOLE_FIRST, SIBLINGS_FIRST, REVERSE, WHOLE, ALIKE, SIBLINGS, INSTEAD, EARLIER, LATER, ANYWHERE, DONE
};

/* Where more pairs are there, torn updates come before them. */
#define PAIRS_FEW	16

/* Of several programs so many pairs of a program's own code are tried before all else, so many of them spans. */
#define OWN_MAX		12
#define SPANS_MAX	6

/* So many pairs of children are tried, each in both orders. */
#define SIBLINGS_MAX	3

/* So many looks that may say more than the pair that was found are tried. */
#define LOOKS_MAX	4

/* A task that could have had the turn. */
struct other {
	uint32_t last, nth;	/* when that task had made nth steps */
	uint32_t task;
	bool difference;	/* the decision there was not the base scheduler's */
};

/* When each task was first seen, and its creator: both by task. */
struct births {
	uint32_t *at, *parents, nr;
};

/* What makes one torn update whole: in steps of their tasks, so that it says something in another schedule, too. */
struct whole {
	uint32_t task, look, other, between;
};

/* Two children of one task, with all tasks below them: the second is held for the first. */
struct sibling_pair {
	uint32_t first, second;
};

/* neighbour_siblings.c; steps are those of the execution as it is made (settled.h). */
struct siblings {
	bool known, named;		/* the pairs were looked for; best names two operations of theirs */
	struct sibling_pair pairs[SIBLINGS_MAX], now;
	size_t nr, at;			/* at: of 2 * nr, each pair in both orders */
	enum siblings_part { SIBLINGS_ALL, SIBLINGS_UNTIL, SIBLINGS_AT_ONCE, SIBLINGS_FROM } part;
	size_t until, target, from;	/* so many steps: see neighbour_siblings.c; target: behind which the second goes on */
	size_t passes_until, passes_at_once;	/* the fewest with which it has passed; SIZE_MAX: it has not */
	struct sibling_points {
		size_t *at, nr, room;
	} points[SIBLINGS_FROM + 1];	/* of each part: so many steps its side had made with each */
	ptrdiff_t low, high, middle;	/* of those that are halved now; -1 and their number: none of them */
	size_t made[2];			/* steps of the first and the second */
	size_t *made_at, nr_made, room_made;	/* by step: so many has its side made with it; 0: neither side's */
	uint64_t first_step, second_step;	/* the last one that is waited for; the first one that waits */
};

struct neighbour {
	struct around a;
	struct schedule fails, now;	/* from their ends on with the program's own steps alone */
	struct settled fails_steps, now_steps;
	struct settling *done;		/* by task, in the execution that goes on */
	uint32_t nr_done, room_done;
	size_t *last;			/* FOLLOW: by task, one more than the number of its last step; 0: it has made none */
	uint32_t room_last;
	struct other *others;		/* of the failing execution, in its order */
	size_t nr_others, room_others;
	struct difference *trial;	/* what this execution follows */
	size_t nr_trial;
	struct difference_index index;	/* of trial; while siblings are looked at, of those of fails */
	struct other instead;		/* and in front of that */
	bool use_instead;
	struct schedule led;		/* the failing execution, up to where it only repeats; in fails' memory */
	struct critical failing;	/* REVERSE: the same, and its pairs */
	struct critical_pending *pending;
	size_t nr_pending, room_pending;
	struct critical_pending *ended;	/* what tasks were about to do that others have ended */
	size_t nr_ended, room_ended;
	uint64_t *waited;		/* all tasks wait at the end of the failing execution: for these objects; or its last */
					/* operation is a misuse of these */
	bool misuse;			/* the latter */
	size_t nr_waited, room_waited;
	bool (*foreign)(const void *ctx, uint64_t site);
	const void *foreign_ctx;
	bool (*users)(const void *ctx, uint64_t site);
	const void *users_ctx;
	struct births births, births_now;	/* of fails, now */
	struct critical_pair *pairs;
	size_t nr_pairs, nr_late;	/* the last ones are late (pair_order.h) */
	size_t nr_handed;		/* the first ones are of neighbour_add_handed() */
	size_t nr_own;			/* the first ones are of OWN_FIRST */
	size_t looks[LOOKS_MAX];	/* pairs that neighbour_next_look() tries, by index */
	unsigned int nr_looks, at_look;
	bool looking;			/* this execution is one of these */
	struct torn *torn;		/* in led, one for each object, the last first; and room for those of whole */
	size_t nr_torn, at_torn;
	struct schedule whole;		/* the execution in which the first nr_made updates were made whole */
	struct births births_whole;
	struct whole made[WHOLE_MAX];
	size_t nr_made;
	bool whole_fails;		/* it fails alike: the next update of the object can be made whole in it */
	size_t at_alike;		/* ALIKE: the number of pairs whose places were tried, or are being tried */
	struct siblings siblings;
	bool again, repeated;		/* the trial is made once more, or was: its execution was given up */
	bool decides;			/* best names what decides, where that alone was not reversed */
	bool named, points;		/* two points were reversed in the last execution that passed; in best, */
	uint8_t points_group;		/* in that group of them (critical_pair) */
	uint32_t *order;		/* the reversed schedule: its tasks, */
	size_t room_order, room_nth;
	size_t nr_order, first_left;	/* those before first_left have made their steps */
	uint32_t *nth;			/* and which of its task's own steps each is */
	enum phase phase;
	size_t at;			/* the number of pairs, others, or of fails.diffs, that remain */
	uint32_t moved;			/* EARLIER, LATER: by this many steps */
	struct neighbour_result best;
};

/* What was found names what decides. */
static inline bool neighbour_explains(const struct neighbour *n)
{
	return n->best.alone || n->decides;
}

/* One pair is reversed. */
static inline bool neighbour_reverses(const struct neighbour *n)
{
	return n->phase == OWN_FIRST || n->phase == REVERSE;
}

/* An order of tasks is followed, not the failing schedule with another decision. */
static inline bool neighbour_follows_order(const struct neighbour *n)
{
	return n->phase == WHOLE_FIRST || neighbour_reverses(n) || n->phase == WHOLE || n->phase == ALIKE;
}

static inline bool neighbour_in_siblings(const struct neighbour *n)
{
	return n->phase == SIBLINGS_FIRST || n->phase == SIBLINGS;
}

static inline bool neighbour_has_many_pairs(const struct neighbour *n)
{
	return n->nr_pairs - n->nr_late - n->nr_handed > PAIRS_FEW;
}

static inline bool neighbour_is_same(const struct zug_label *a, const struct zug_label *b)
{
	return a->op == b->op && a->site == b->site && a->object == b->object;
}

/* The steps of that task before step end. */
static inline size_t neighbour_steps_of(const struct schedule *s, uint32_t task, size_t end)
{
	size_t nth = 0;

	for (size_t i = 0; i < end; i++)
		nth += s->tasks[i] == task;
	return nth;
}

static inline struct critical neighbour_critical(const struct schedule *s, const struct births *b)
{
	return (struct critical){ .s = s, .births = b->at, .parents = b->parents, .nr_tasks = b->nr };
}

/* ---- neighbour_handed.c ---- */

/*
 * In front of all pairs come those of points at preemptions at which a task gives an interpreter's lock away (settled.h). 0 or
 * -ENOMEM.
 */
int neighbour_add_handed(struct neighbour *n);
/* Of such pairs the one that changes the fewest orders is told: none of the next ones can be it. */
bool neighbour_handed_over(const struct neighbour *n, const struct critical_pair *next);

/* ---- neighbour_own.c ---- */

/*
 * Of several programs, a server and clients of a script's, most operations are those by which the programs begin, and are told
 * of each other's ends; what a user has written comes first. 0 or -ENOMEM.
 */
int neighbour_take_own_first(struct neighbour *n);

/* ---- neighbour_orders.c ---- */

/* An order of so many tasks can be followed: 0 or -ENOMEM. */
int neighbour_make_room(struct neighbour *n, size_t nr);
/* The next order of each phase that follows one; false: there is no other, or n->a.error. */
bool neighbour_next_reversed(struct neighbour *n);
/* That pair alone was reversed, and it passes: which others are tried for what they say beside it? */
void neighbour_find_looks(struct neighbour *n, const struct critical_pair *found);
bool neighbour_next_whole(struct neighbour *n);
bool neighbour_next_alike(struct neighbour *n);
/* The position that the order says, and how many of the next steps of that task it says whatever others can do. */
uint32_t neighbour_follow_order(struct neighbour *n, const struct choice *c);
uint64_t neighbour_order_promise(const struct neighbour *n, uint32_t task);
/* As search_rule(), of tasks whose weights are their own steps (settling.made). */
void neighbour_order_rule(const struct neighbour *n, struct search_rule *r);

/* ---- neighbour_siblings.c ---- */

void neighbour_siblings_release(struct siblings *s);
/* The next execution of SIBLINGS; false: there is no other, or n->a.error. */
bool neighbour_next_siblings(struct neighbour *n);
/* It has come to its end, n->now has its steps. */
void neighbour_siblings_end(struct neighbour *n, bool passes);
/* The position that is taken; the task makes the next step: 0 or -ENOMEM; how many of its next steps are certain. */
uint32_t neighbour_follow_siblings(struct neighbour *n, const struct choice *c);
int neighbour_siblings_step(struct neighbour *n, uint32_t task);
uint64_t neighbour_siblings_promise(const struct neighbour *n, uint32_t task);
/*
 * Of the execution that has passed the last step that was waited for, and the first one that waited, as steps of n->now; others
 * may see what these do. False: there are none such, or n->a.error.
 */
bool neighbour_siblings_decide(struct neighbour *n, uint64_t *first, uint64_t *second);
/*
 * Where the failing execution has step 'step' of n->now, as the same one of its task's, or, of a task that has gone another way,
 * as the one that does the same for as many times; SIZE_MAX: nowhere.
 */
size_t neighbour_in_failing(const struct neighbour *n, size_t step);

/* ---- neighbour_names.c ---- */

/*
 * How far the execution that has just passed is from the failing one, and the two operations to name. 0 or -ENOMEM.
 */
int neighbour_compare(struct neighbour *n, struct neighbour_result *r);
/* The steps of the pair become their numbers in the executions. */
void neighbour_in_execution(const struct neighbour *n, struct neighbour_result *r);
/* What that torn update has read, and what came between. */
void neighbour_name_torn(const struct neighbour *n, const struct torn *t, struct neighbour_result *r);

#endif
