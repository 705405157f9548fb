/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * faults.h - calls that do not do all that they could, because the search wants it
 *
 * Faults (--faults) make a system call fail, or a wait for a condition return without a signal.
 * Flows (--flows) are what a call may do without failing: move fewer bytes than there are, or have
 * what it sends lost, overtaken or late. Both are decisions that go with a step: it is the task
 * that has got the turn, and stands before a system call, that is affected. They are asked for
 * with search_choose_rare(), are written into the trace as the operation of that step (fail-eintr,
 * short-read, ...), and are followed from there when the trace is replayed.
 */
#ifndef ZUG_FAULTS_H
#define ZUG_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include "search/search.h"
#include "engine/world.h"

/*
 * An amount, as object2 of a step's label: so many bytes come through at once, or it is late by so
 * many milliseconds. Two tasks have different ids for it: it is nothing that they share.
 */
enum fault_unit { FAULT_BYTES = 1, FAULT_MS };
static inline uint64_t fault_amount_id(enum fault_unit unit, uint32_t task, uint32_t amount)
{
	return 0xb17e5ull << 44 | (uint64_t)(task & 0x3ff) << 34 | (uint64_t)unit << 32 | amount;
}
/* The amount of such an id; 0: it is none. */
static inline uint32_t fault_amount(uint64_t id)
{
	return id >> 44 == 0xb17e5 ? (uint32_t)id : 0;
}

/* The enum fault of the mask whose steps have that operation; -1: none. */
int faults_of(uint32_t mask, unsigned int op);

/*
 * True when the search decided more of that step than its task: a fault, a flow, a timer that fires
 * before it.
 */
bool faults_decided(const struct trace_step *s);

struct faults {
	uint32_t mask;		/* that may happen */
	uint32_t max, max_flows;	/* in one execution */
	uint32_t nr, nr_flows;	/* in this one */
	struct fault_plan *plan;	/* faults_make_plan(); NULL: the search decides */
	size_t nr_plan;
};

/*
 * Makes a plan: from the next execution on the faults and timers of a trace happen, and no others,
 * where its tasks come to the same places, in whatever order (t NULL: none happens). What was
 * decided with step `without` is left out (UINT64_MAX: nothing is); gone: that step is not made
 * either, since its call was repeated after it had failed. faults_free_plan(): the search decides
 * again. 0 or -ENOMEM.
 */
int faults_make_plan(struct faults *f, const struct trace *t, uint64_t without, bool gone);
void faults_free_plan(struct faults *f);

void faults_begin(struct faults *f);
/*
 * Decides whether the call of the task that was chosen for this step has a fault, injects it, and
 * writes it into the label of the task. want: the step that is replayed, NULL: none; replay: the
 * search is not asked. 1: the task is dead, and gets no turn; 0; -errno: the fault cannot be
 * injected.
 */
int faults_decide(struct faults *f, struct world *w, struct search *s, const struct trace_step *want, bool replay,
		  uint32_t task);

/*
 * Decides whether the next timer of the test fires before that step: 1, 0 or -errno. The same
 * arguments.
 */
int faults_timer(struct faults *f, struct world *w, struct search *s, const struct trace_step *want, bool replay,
		 uint32_t task);

#endif
