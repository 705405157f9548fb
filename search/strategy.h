/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * strategy.h - what a strategy is
 *
 * A strategy is private state plus a choice. Five calls, begin() and pick()
 * required:
 *
 *	init -> (begin -> pick* -> end)* -> fini
 *
 * The core (search.c) owns everything else: seeds, the fair filter, scoping,
 * step bounds, replay of prefixes, recording, checks of indices, happens-before
 * and the counters. A strategy does no I/O, keeps no global state, and takes
 * its random numbers from env->rng alone, which is seeded anew for each
 * execution from (seed, iteration).
 */
#ifndef ZUG_SEARCH_STRATEGY_H
#define ZUG_SEARCH_STRATEGY_H

#include "lib/base/array.h"
#include "search/codec.h"
#include "search/division.h"
#include "search/hb.h"
#include "search/profile.h"
#include "search/rng.h"
#include "search/search.h"

#define CHOICE_NONE	UINT32_MAX

/* A point after all filters: what the strategy may choose from. */
struct choice {
	const struct search_point *point;	/* with the list of the enabled candidates */
	const uint32_t *allowed;	/* indices into point->cand, ascending; nr of them */
	uint32_t nr;			/* at least 1 */
	uint32_t last;			/* position in allowed of point->last, or CHOICE_NONE */
	uint32_t base;			/* position that the base scheduler takes; CHOICE_NONE: schedule_base() works it out */
	bool free;			/* the last task yielded, or cannot go on: leaving it is free */
	uint64_t fair_hash;		/* state of the fair filter; 0 when it blocks no task */
};

static inline const struct search_cand *choice_cand(const struct choice *c, uint32_t pos)
{
	return &c->point->cand[c->allowed[pos]];
}

/* The first position whose task is not below that one; c->nr: none. */
static inline uint32_t choice_from(const struct choice *c, uint32_t task)
{
	return ARRAY_FROM(c->nr, pos, choice_cand(c, pos)->task < task);
}

/* The core lends this to a strategy. Everything but rng is read-only. */
struct search_env {
	struct rng rng;
	const struct hb *hb;		/* of the current execution, up to this point */
	const struct profile *profile;	/* steps in all executions so far, for STRATEGY_COUNTS */
	uint64_t seed;
	uint64_t memory;		/* bytes that tables may take */
	int preemptions;		/* search_options.preemptions */
	unsigned int rules;		/* RULES_* of the statements that there are (rules.h) */
	struct rules *script;		/* these statements, if they are a script; else NULL */
	uint64_t max_choices;		/* most points with a choice in one execution so far */
	uint64_t choices;		/* the same, of this execution, up to this point */
	uint32_t max_enabled;		/* most tasks that were enabled at one point, in all executions so far */
	bool patient;			/* this execution is to be patient (patience.h), if it has STRATEGY_PATIENT */
	bool apart;			/* of this execution: as search_begin_apart() */
	bool frozen;			/* nothing is learnt any more (parts.h) */
	bool novel;			/* in end(): no execution had shown this happens-before class before */
	char *err;			/* during init() only: where to say what is wrong */
	size_t errlen;
};

enum {
	STRATEGY_FAIR		= 1 << 0,	/* starves no task for ever, with probability 1 */
	STRATEGY_EXHAUSTIVE	= 1 << 1,	/* begin() answers SEARCH_EXHAUSTED in the end */
	STRATEGY_EVERY_STEP	= 1 << 2,	/* pick() wants points with one allowed task too */
	STRATEGY_ANY_TASK	= 1 << 3,	/* pick() answers with an index into point->cand */
	STRATEGY_COUNTS		= 1 << 4,	/* wants env->profile */
	STRATEGY_PATIENT	= 1 << 5,	/* patience (patience.h) may make some of its choices */
};

struct strategy_param {
	const char *name;
	int64_t def, min, max;	/* a range of 0..1 also takes "no" and "yes" */
};

/* The part of the tree that a systematic strategy is confined to. */
struct confine {
	const uint32_t *choices;	/* NULL and 0: all of it, as after init() */
	uint32_t nr, bound;
	bool measures;
};

/* Its choices, copied in place of those that *pinned had (NULL: none). 0 or -ENOMEM, and *pinned is as it was. */
int confine_pin(const struct confine *c, uint32_t **pinned, uint32_t *nr);

/* An argument that users may expect, but that would lose bugs: refused with the reason. */
struct strategy_refusal {
	const char *param;
	const char *why;
};

struct strategy_type {
	struct search_strategy_info info;
	const struct strategy_param *params;	/* up to name == NULL; NULL: none */
	const struct strategy_refusal *refused;	/* up to param == NULL; NULL: none */
	unsigned int flags;
	size_t size;				/* of the private state, zeroed before init() */

	/* args: one value for each of params. -EINVAL with a message in env->err, -ENOMEM. */
	int (*init)(void *state, struct search_env *env, const int64_t *args);
	/* SEARCH_GO, SEARCH_EXHAUSTED or -errno. */
	int (*begin)(void *state, uint64_t iteration);
	/* Optional: the next execution is to be the schedule that never preempts; false: it cannot be a part of the search. */
	bool (*base)(void *state);
	/*
	 * Optional: it knows nothing to aim at in the next execution. A portfolio passes it over then, and gives it the
	 * next turn but one when it does.
	 */
	bool (*idle)(const void *state);
	/*
	 * A position in c->allowed, or -errno. -ESTALE: the execution does not follow the prefix
	 * that this strategy replays; the next call, for the same point, must give a position.
	 */
	int (*pick)(void *state, const struct choice *c);
	void (*end)(void *state, const struct search_end *end);
	void (*fini)(void *state);

	/* Optional: what chooses in this execution, of several in one. */
	const struct strategy_type *(*now)(const void *state);
	/* Optional: as search_renew(). Without it exhaustive ones begin again, and others go on. 0 or -errno. */
	int (*renew)(void *state);
	/*
	 * Optional: that step is made, in an execution that the search chose: also where another member
	 * of a portfolio is asked, but not in replays. -ENOMEM.
	 */
	int (*observe)(void *state, const struct search_point *point, uint32_t i);
	/*
	 * Optional: as search_promise(), of the task that the last pick() chose at that point, which has
	 * the list of the enabled candidates. No rule and no fairness will be in the way.
	 */
	uint64_t (*promise)(const void *state, const struct search_point *point, uint32_t task,
			    enum search_until *until);
	/*
	 * Optional: as search_ahead(), search_rule() (where *r says STEPS, has the state of the generator, and is for equal
	 * weights), search_weight() and search_priority(), likewise.
	 */
	uint32_t (*ahead)(const void *state, uint64_t nth);
	void (*rule)(const void *state, struct search_rule *r);
	uint64_t (*weight)(const void *state, uint32_t task);
	uint64_t (*priority)(const void *state, uint32_t task, bool *held);
	/* Optional: a value below nr that the program asks for (ZUG_OP_CHOICE); without it, or -ENOSYS: a random one. */
	int (*choose)(void *state, uint32_t nr);
	/* Optional: the state at the end, where perhaps no task can run (search_final()). */
	void (*final)(void *state, const struct search_point *point);
	/* Optional: fill in what only the strategy knows (bounds, estimates). */
	void (*stats)(const void *state, struct search_stats *stats);
	/*
	 * Optional, both or none: begins anew with what lies below these choices (the option taken at each point that has
	 * more than one), under that bound alone. measures: executions take random options behind the choices, and
	 * branches() is asked for the path of each, up to max choices; the number of those that there were, or of those
	 * on the way if it did not come below the choices. -ENOMEM.
	 */
	int (*confine)(void *state, const struct confine *c);
	uint64_t (*branches)(const void *state, struct branch *path, uint64_t max);
	/* The greatest bound; without it there are none. */
	uint32_t (*max_bound)(const void *state);
	/* Optional: all that the next executions depend on (codec.h). Without it the state is none. */
	void (*save)(void *state, struct codec *c);
};

/* What that strategy promises, if anything: with one enabled task each of them chooses that one. */
uint64_t strategy_promise(const struct strategy_type *type, const void *state, const struct search_point *point,
			  uint32_t task, enum search_until *until);

/* The strategy begins again, with the same arguments. As its init(). */
int strategy_again(const struct strategy_type *type, void *state, struct search_env *env, const int64_t *args);

/* NULL at the end; the first is the default. */
extern const struct strategy_type *const strategy_types[];

/*
 * Parameters are written once, as a list P(name, default, min, max, text), and
 * made into the table and the text that users read.
 */
#define STRATEGY_PARAM_ENTRY(n, d, lo, hi, text)	{ #n, d, lo, hi },
#define STRATEGY_PARAM_TEXT(n, d, lo, hi, text)		#n "=" #d ": " text ", " #lo ".." #hi "\n"

/* Into err, as snprintf(); nothing if err is NULL. */
__attribute__((format(printf, 3, 4)))
void strategy_message(char *err, size_t errlen, const char *fmt, ...);

/* Say in env->err what is wrong; for init(). */
__attribute__((format(printf, 2, 3)))
void strategy_error(const struct search_env *env, const char *fmt, ...);

#define STRATEGY_MAX_PARAMS	16
/*
 * Parses "NAME[:arg=value,...]". The type, with a value for each parameter in
 * args (room for STRATEGY_MAX_PARAMS), or NULL with a message that names the
 * valid choices in err.
 */
const struct strategy_type *strategy_parse(const char *spec, int64_t *args, char *err,
					   size_t errlen);

#endif
