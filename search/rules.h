/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rules.h - the schedule language: where tasks are held, where the turn stays
 *
 * One statement a line (or between ';'), '#' starts a comment. Earlier lines go
 * before later ones.
 *
 *	stay   [WHO] [WHERE]		no preemption before such an operation
 *	switch [WHO] [WHERE]		preemption allowed: an exception to 'stay' lines below it
 *	hold   [WHO] [WHERE] [while VAR CMP NUMBER] [for N | until [WHO] WHERE] [chance P]
 *					a task that is about to do that is not given the turn
 *	free   [WHO] [WHERE]		is not held by lines below
 *	random-time  [tasks N] [delay D]
 *					all but N tasks, drawn at random, are held; drawn again
 *					after D steps (exponential)
 *	random-place [WHO] [WHERE] [fraction F] [fallthrough P] [delay D] [tasks N]
 *					at a random fraction of places a task is held, once each,
 *					for D steps (exponential), while N tasks live
 *	before TASK [WHERE] [nth N] run TASK [until exit | until [WHERE] [nth N]]
 *					in scripts: when the first task would make its N-th step
 *					like that, the other goes on instead, once
 *	let TASK [WHERE] [nth N] get OUTCOME [AMOUNT]
 *					in scripts: the system call of its N-th step like that fails, or
 *					does less; timer: a timer of the test fires before that step
 *	strict				in scripts: what cannot be made is an error
 *	alternate ... end		one of the statements between, in turn, per execution
 *	any ... end			one of them, at random
 *
 *	WHO	T0, T1, ... (default: every task)
 *	OUTCOME	fail-eintr, short-read, killed, ...: an operation that zug_op_is_fault(), or timer;
 *		value N: the operation (CHOICE) gets that value
 *	WHERE	[at OPERATION] [on OBJECT] [in FUNCTION-OR-MODULE] [ordered] [line FILE:LINE]
 *	CMP	== != < <= > >=
 *
 * 'ordered' is an access to a watched variable that, in all executions so far,
 * other synchronisation has put in order (vector_clocks.h): 'stay ordered' wastes no
 * preemption on it. What is ordered is learnt, so it is for samplers only.
 *
 * 'hold T1 at lock on q.mutex while q.len == 3 until T0 at unlock on q.mutex'
 *
 * A hold lasts for N steps of other tasks; until a step that matches has been
 * made (after that no task is held); or else as long as its condition is true and
 * another task may run. When all would be held, the last lines give way first: a
 * rule never stops a test. Njord's tactics (random time and instruction,
 * restrictive and composite ones) are these statements: 'free' above others is a
 * restrictive tactic.
 *
 * A word with spaces, '#' or ';' in it stands in double quotes, with \\ before '"' and '\\' themselves.
 * 'line' is for people: where the place was. Nothing is matched with it.
 *
 * Names of functions, modules, objects and variables mean nothing to this
 * library: the caller matches them (struct search_names).
 */
#ifndef ZUG_SEARCH_RULES_H
#define ZUG_SEARCH_RULES_H

#include "search/rng.h"
#include "search/search.h"

/* kinds of statements that there are */
enum { RULES_STAY = 1 << 0, RULES_HOLD = 1 << 1, RULES_SCRIPT = 1 << 2 };

struct rules;

/*
 * NULL with a message in err when text is not understood: "rules, line 3: ...", or "NAME:3: ..." with a
 * name of the file.
 */
struct rules *rules_parse(const char *text, const char *name, const struct search_names *names, char *err,
			  size_t errlen);
void rules_free(struct rules *r);
unsigned int rules_kinds(const struct rules *r);

/* A new execution, the iteration-th one of the search. */
void rules_begin(struct rules *r, struct rng *rng, uint64_t iteration);

/* The same for an execution that is forced: rules only learn from it. */
void rules_begin_forced(struct rules *r);

/*
 * Takes the tasks that are held out of allowed (nr indices into point->cand). The
 * number of those that are left, at least one; -ENOMEM.
 */
int rules_hold(struct rules *r, const struct search_point *point, uint32_t *allowed, uint32_t nr);

/* True when the turn may be taken from that candidate, the last task, now. */
bool rules_may_switch(const struct rules *r, const struct search_cand *last);

/* point->cand[i] makes its step. -ENOMEM. */
int rules_step(struct rules *r, const struct search_point *point, uint32_t i, bool forced);

#endif
