/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * search.h - what the engine (and every other user of the library) calls
 *
 * A search is a sequence of executions of the same program:
 *
 *	s = search_new(&opts, err, sizeof(err));
 *	while (search_begin(s) == SEARCH_GO) {
 *		... run the program; at each choice point:
 *			i = search_pick(s, &point);	// give the turn to point.cand[i]
 *		search_end(s, &end);
 *	}
 *	search_free(s);
 *
 * The library is pure: no I/O, no clock, no global state; the same options and
 * the same answers from the program give the same search. It never sees a
 * kernel. It owns seeds, the fair filter, step bounds, prefix replay, recording
 * and index checks; a strategy (strategy.h) only chooses.
 *
 * Every step of an execution must be shown to search_pick(), also where just
 * one task is enabled: happens-before and step counts need all of them. With
 * one enabled task no random number is drawn, and the answer is that task.
 */
#ifndef ZUG_SEARCH_H
#define ZUG_SEARCH_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include "lib/base/array.h"
#include "lib/label.h"

#define SEARCH_NO_TASK	UINT32_MAX

/* One live task at a choice point. */
struct search_cand {
	uint32_t task;		/* stable number of the task's spawn path: equal in all executions */
	uint32_t parent;	/* the task that created it, SEARCH_NO_TASK for the root */
	bool enabled;		/* could run, and would not block at once */
	bool blocked;		/* waits in the kernel: it can run after it has woken up, and not before */
	struct zug_label label;	/* what it is about to do; op ZUG_OP_NONE when blocked and unknown */
};

/* A choice point. The caller owns everything; valid during the call only. */
struct search_point {
	uint64_t step;		/* 0 for the first one of an execution, then +1 */
	uint32_t last;		/* the task that made the last step, SEARCH_NO_TASK at step 0 */
	bool yielded;		/* last yielded or timed out: leaving it is no preemption */
	uint32_t nr;		/* entries in cand: all live tasks, in ascending task order */
	const struct search_cand *cand;	/* at least one is enabled */
	const uint32_t *enabled;	/* indices of those that are, ascending, nr_enabled of them; NULL: the search */
					/* looks itself */
	uint32_t nr_enabled;
	/*
	 * What spares looks at every task. All others are in cand as they were at the point before, or are in neither; one
	 * may be named twice. NULL: any may be another.
	 */
	const uint32_t *changed;
	uint32_t nr_changed;
	const uint32_t *places;	/* by task, nr_places of them: its index in cand and 1 more, 0: it is not there; or NULL */
	uint32_t nr_places;
	const uint64_t *bits;	/* with the list of those that are enabled: the same, nr_words with a bit for each task; or NULL */
	uint32_t nr_words;
};

/* Where the task is among the candidates; UINT32_MAX: it is none. */
static inline uint32_t search_cand_of(const struct search_point *p, uint32_t task)
{
	uint32_t low;

	if (p->places)
		return task < p->nr_places ? p->places[task] - 1 : UINT32_MAX;
	low = ARRAY_FROM(p->nr, c, p->cand[c].task < task);
	return low < p->nr && p->cand[low].task == task ? low : UINT32_MAX;
}

enum search_result { SEARCH_PASS, SEARCH_FAIL, SEARCH_DIVERGED, SEARCH_ABANDONED };

/* The end of an execution. */
struct search_end {
	enum search_result result;	/* ABANDONED: cut (bound, time-out, interrupted); not judged */
	uint64_t failure;		/* identity of the failure, 0 when it passed */
};

enum { SEARCH_GO = 1, SEARCH_EXHAUSTED = 0 };	/* search_begin; negative: -errno */

/*
 * The meaning of names in rules; the library asks for each pattern with a label that it meets. NULL
 * functions match nothing.
 */
struct search_names {
	/* The place is in that function or module. */
	bool (*in)(void *ctx, uint64_t site, const char *pattern);
	/* The object has that name. */
	bool (*on)(void *ctx, uint64_t object, const char *pattern);
	/*
	 * What the instruction at that place accesses has that name in the source, such as "struct ring.head". NULL:
	 * unknown.
	 */
	bool (*data)(void *ctx, uint64_t site, const char *pattern);
	/* The value of a variable as that task sees it; false: unknown. */
	bool (*value)(void *ctx, uint32_t task, const char *name, int64_t *value);
	void *ctx;
};

struct search_options {
	const char *strategy;	/* "random", "pct:depth=3", ...; NULL: the default */
	uint64_t seed;
	uint32_t fair;		/* the filter acts on every fair-th yield of a task; 0: off */
	uint64_t max_steps;	/* search_pick() answers -ELOOP after that; 0: no bound */
	int preemptions;	/* -1: the strategy's own; else an upper bound for systematic ones */
	uint64_t memory;	/* bytes that tables may take; 0: 256 MiB; full ones forget */
	const char *rules;	/* the schedule language of rules.h; NULL: none */
	const char *script;	/* rules are a script, of a file of that name: the base scheduler (never
				 * preempts, lowest number first) decides where it says nothing; else NULL */
	const struct search_names *names;	/* copied; NULL: patterns match nothing */
};

struct search;

/*
 * A new search, or NULL with a message in err that names the valid choices
 * when the strategy, an argument of it, or a combination is refused.
 */
struct search *search_new(const struct search_options *opts, char *err, size_t errlen);
void search_free(struct search *s);

/* Start the next execution. SEARCH_EXHAUSTED: everything within the bounds was covered. */
int search_begin(struct search *s);
/*
 * The same for an execution that is unlike the others: it has other points than the search, or some of its tasks are held.
 * Only strategies that sample choose its schedule, and it is no part of what a systematic one covers. -EINVAL: the
 * strategy does not sample.
 */
int search_begin_apart(struct search *s);
/*
 * The same under the schedule that never preempts. To a portfolio it is the first execution of a systematic member, which
 * would begin with it anyway.
 */
int search_begin_base(struct search *s);
/* The strategy, or some member of a portfolio, samples schedules. */
bool search_samples(const struct search *s);
/*
 * The points have changed: systematic strategies begin again; those that sample keep what they have learnt, and learn the
 * rest. Executions are still counted, and no schedule is drawn again with the same random numbers. 0 or -errno: it can only
 * be freed then.
 */
int search_renew(struct search *s);

/*
 * Chooses the task that gets the turn: an index into point->cand, always an enabled one.
 * -ELOOP: max_steps reached (end the execution). -EINVAL: the point is malformed (no
 * candidate, none enabled, not ascending, step out of order).
 * -ESTALE: the program did not follow the prefix being replayed; the execution must go on
 * (call again with the same point: the answer is then a free choice) or be abandoned.
 */
int search_pick(struct search *s, const struct search_point *point);

void search_end(struct search *s, const struct search_end *end);

/*
 * A promise, after the search_pick() for that point and before the next one: at so many of the next
 * points (0: none) search_pick() will choose the same task again, if it is enabled there and has not
 * yielded, until what *until says has happened. Tasks that end or are replaced end it in any case.
 */
enum search_until {
	SEARCH_UNTIL_CHANGE,	/* another task has become enabled, or is not enabled any more */
	SEARCH_UNTIL_WAKE,	/* another task has been created, or has woken up: it was blocked */
	SEARCH_UNTIL_DONE,	/* nothing of that: to the last of these points */
	SEARCH_UNTIL_OWN,	/* the task has made an operation of the program's own code (ZUG_L_OWN), or created a task */
};
uint64_t search_promise(const struct search *s, const struct search_point *point, enum search_until *until);

/*
 * What is known of further steps, at the same time: the rule by which one of the enabled tasks is chosen, where there are
 * several, until a task yields. search_ahead() is the task that makes the next step but nth if it is enabled there, whatever
 * comes before; or, by choices, that is chosen at the next point but nth that has several. SEARCH_NO_TASK: that is not known.
 * search_weight() is 0 for a task that has none; of one that is not there yet it is what that will have (shares).
 */
#define SEARCH_CHANGES	4
#define SEARCH_ORDER	64
#define SEARCH_RANK_ZERO	(1ull << 63)	/* ranks below it are of tasks that have yielded */
/* An operation at a place in the code, on an object. */
struct search_operation {
	uint64_t site, object;
	uint32_t op;
};
/* PENDING: an access that is to see a write, or not to. */
#define SEARCH_CONSTRAINTS	6
struct search_constraint {
	struct search_operation write, access;	/* on the same object */
	bool see;
	bool wrote;		/* the last write to the object was that one */
};
struct search_rule {
	enum {
		SEARCH_BY_STEPS,	/* search_ahead() */
		SEARCH_BY_DRAWS,	/* rng_below() the sum of their weights, in their order; until a task is new, but */
					/* open or shares */
		SEARCH_BY_RANKS,	/* the greatest weight; who has none draws it first: rank_draw() of rng.h, in */
					/* their order */
		SEARCH_BY_CHOICES,	/* search_ahead() */
		/*
		 * As by ranks, but who has none draws rng_next() | 1; and behind each step, also where one task alone is
		 * enabled, the task has none any more, nor have those before an operation that depends on it
		 * (search/access.h). Constraints come before priorities, until they are met: wish() of
		 * strategies/guided.c.
		 */
		SEARCH_BY_PENDING,
		/*
		 * As by pending operations, but another one's does not lose its priority; and an operation on the object
		 * is made by the intended task alone: drawn by weight where the first such operation comes, of all that
		 * are enabled. Others that would come with one are held up to the next operation on the object, or until
		 * no task is left. Until a task is new, but shares.
		 */
		SEARCH_BY_SELECTION,
		/*
		 * The last task goes on for as many steps as are owed, while it can; else the task of the first step of
		 * the order that is open, which has to be enabled. If the step that is made is the open one, or one
		 * behind it of the same task, that one and those before are done. A task of which no steps are owed owes
		 * the open ones from there on that are its own. Until all are done.
		 */
		SEARCH_BY_ORDER,
		/*
		 * In turns: while they have not begun the last task goes on; they begin where it cannot. From then on it
		 * goes on for as many steps as are owed, while it can; behind them the next one by number, round robin,
		 * makes a turn's steps. One that has no weight has some then, and makes rng_below() ahead steps more if
		 * rng_below() 2 is 0. Steps where one task alone is enabled count. With writes a turn ends behind a step
		 * that writes what others may see, too.
		 */
		SEARCH_BY_TURNS,
		/*
		 * The last task goes on, while it can, and then the next one by number, round robin; but where the last
		 * one has made as many steps (its weight) as the first difference says that is about it and whose next
		 * task can go on, that one goes on. Before all of that search_ahead() says it, of tasks that can go on.
		 */
		SEARCH_BY_DIFFERENCES,
		/*
		 * The task of the first quota that can go on and has made fewer steps (its weight) than that says; where
		 * there is none it is the base scheduler's, as by differences.
		 */
		SEARCH_BY_QUOTAS,
	} by;
	uint64_t state;		/* but by steps and choices: of the generator */
	uint32_t step;		/* DRAWS: what a task's weight loses with each step of its, drawn or not; SELECTION: on */
				/* the object */
	uint32_t least;		/* DRAWS: the weight of one that has none */
	bool open;		/* DRAWS: which a new task has, too */
	/*
	 * DRAWS, SELECTION: a new task takes its weight from that of the task that created it. If that one is intended
	 * and has any, the new one is instead where rng_below() that weight is below its own.
	 */
	bool shares;
	uint32_t choices;	/* RANKS, TURNS: for so many points with several enabled tasks */
	uint32_t nr_changes;	/* RANKS: */
	struct {
		uint32_t at;	/* 1: the next of these points. Who is chosen there has another weight behind it, */
		uint32_t rank;	/* so much above SEARCH_RANK_ZERO; or, if it was below that, one less than lowest, which */
				/* becomes that */
	} changes[SEARCH_CHANGES];
	uint64_t lowest;
	uint32_t nr_constraints;	/* PENDING */
	struct search_constraint constraints[SEARCH_CONSTRAINTS];
	uint64_t owed;		/* ORDER, TURNS */
	uint32_t turn, ahead;	/* TURNS */
	bool begun;		/* TURNS: they have */
	bool writes, wrote;	/* TURNS: wrote: the last step did */
	uint32_t nr_order;	/* ORDER, DIFFERENCES, QUOTAS */
	union {
		struct search_ordered {
			uint32_t task, op;
			uint64_t site;	/* 0: it has none, and the task tells it */
		} order[SEARCH_ORDER];
		struct search_difference {
			uint32_t task, nth;
			uint32_t next;	/* SEARCH_NO_TASK: that is not known */
		} differences[SEARCH_ORDER];
		struct search_quota {
			uint32_t task, steps;
		} quotas[SEARCH_ORDER];
	};
	uint64_t object;	/* SELECTION */
	uint32_t intended;	/* SELECTION, shares: SEARCH_NO_TASK: to be drawn */
	/*
	 * STEPS, CHOICES: behind those that are known the last task goes on; or else, with CHOICES, the next by number,
	 * round robin.
	 * PENDING: the last task goes on wherever it is enabled. DIFFERENCES, QUOTAS: the base scheduler decides.
	 */
	bool base;
};
uint32_t search_ahead(const struct search *s, const struct search_point *point, uint64_t nth);
void search_rule(const struct search *s, const struct search_point *point, struct search_rule *r);
uint64_t search_weight(const struct search *s, uint32_t task);
/* SELECTION: the priority of its operation; 0: to be drawn. */
uint64_t search_priority(const struct search *s, uint32_t task, bool *held);
/*
 * The task that was promised the turn has it so many times more although it yields, and behind each yield at *points points.
 * 0: a yield ends the promise.
 */
uint32_t search_yields(const struct search *s, uint64_t *points);
/* So many steps may still be made. */
uint64_t search_steps_left(const struct search *s);
/* Between executions: the bound of steps is that from now on (search_options.max_steps). */
void search_bound(struct search *s, uint64_t max_steps);

/*
 * Force the next execution to follow these tasks, one a step, as long as they
 * last (replay; priming). The strategy is not consulted, and learns nothing from
 * their steps. tasks is copied.
 */
int search_replay(struct search *s, const uint32_t *tasks, size_t nr);

/* Figures for progress lines and summaries. All counts are exact; estimates say what they assume. */
struct search_stats {
	uint64_t executions, steps, max_steps;
	uint64_t distinct;	/* distinct happens-before classes of complete executions */
	uint64_t schedules;	/* distinct decision sequences */
	uint32_t bound;		/* preemption (or delay) bound being explored; UINT32_MAX: none */
	uint32_t bound_done;	/* the highest bound completed, UINT32_MAX: none */
	bool unbounded;		/* and no schedule needs more than that */
	bool delays;		/* the bounds count delays, not preemptions */
	double estimate_total;	/* executions within the bound (Knuth); NaN: unknown */
	double new_probability;	/* chance of a new class next (Good-Turing); NaN: unknown */
	uint64_t divergences;	/* executions that did not follow their prefix */
	bool incomplete;	/* something was cut: exhaustion is no proof */
	const char *strategy;	/* that chose the last execution: of a portfolio the member */
	uint64_t sleep_blocked;	/* dpor: executions that turned out to be known; part of executions */
};
void search_get_stats(const struct search *s, struct search_stats *stats);
/* Of the last execution: its happens-before class, and its decisions. */
void search_hashes(const struct search *s, uint64_t *class, uint64_t *schedule);

/* The strategies there are, for `zug strategies` and for messages. NULL at the end. */
struct search_strategy_info {
	const char *name;
	const char *line;	/* one line: what it is and when to use it */
	const char *params;	/* "depth=3: number of ordering constraints, 1..64\n..." or "" */
	const char *guarantee;	/* what it promises, one line */
};
const struct search_strategy_info *search_strategy_info(unsigned int nr);

/*
 * A value in [0, nr) for the program (ZUG_OP_CHOICE), chosen by the search. Call it after the
 * search_pick() that gave the turn to the task that asks, before the next one. Or -errno.
 */
int search_choose(struct search *s, uint32_t nr);

/*
 * The same of what the program draws its own random numbers from, where 0 leaves these as they are: 0 in the first
 * execution and for strategies that try everything, which would not come to an end; else any value with the same odds. It
 * tells no schedules apart, nor classes of them.
 */
int search_choose_numbers(struct search *s, uint32_t nr);

/*
 * The same where 0 is what mostly happens and everything else is rare (a fault): a strategy that tries everything
 * tries these values too; others have about one that is not 0 in an execution, anywhere in it with the same odds.
 * nr 1: it can only be 0 here, but counts as a place where it could have been another.
 */
int search_choose_rare(struct search *s, uint32_t nr);

/*
 * Show the state in which an execution ended, before search_end(): the tasks that are still alive
 * (point->nr may be 0, and perhaps none is enabled), what each waits for, and the last step made.
 * Without it dpor cannot see why a deadlock happened; the other strategies do not need it.
 */
void search_final(struct search *s, const struct search_point *point);

/*
 * A search can be interrupted and resumed: between search_end() and the next search_begin() its
 * state can be written into a buffer, and read into a new search with the same options. Written
 * before each execution, or now and then, it costs a crash no more than what came after it.
 * Tables that only save work (caches of states) start empty.
 *
 * search_save(): bytes written, or needed when buf is NULL; -ENOSPC when len is too small;
 * -EBUSY during an execution.
 * search_load(): 0; -EBADMSG when it is damaged, of another version, or of a search with other
 * options; then the search can only be freed.
 */
long search_save(const struct search *s, void *buf, size_t len);
int search_load(struct search *s, const void *buf, size_t len);

#endif
