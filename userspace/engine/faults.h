/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * faults.h - system calls that do not do all that they could, because the search wants it
 *
 * Faults (--faults) make a call fail. Flows (--flows) are what a call may do without failing: move fewer bytes than
 * there are, or have what it sends lost, overtaken or late. Both are decisions that go with a step: it is the task
 * that has got the turn, and stands before a system call, that is affected. They are asked for with
 * search_choose_rare(), are written into the trace as the operation of that step (fail-eintr, short-read, ...), and
 * are followed from there when the trace is replayed.
 */
#ifndef ZUG_FAULTS_H
#define ZUG_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include "search/search.h"
#include "engine/world.h"


/*
 * How much, in the label of a step (object2): so many bytes come through at once, or after so many milliseconds. Not
 * the same for two tasks: it is nothing that they share.
 */
enum fault_unit { FAULT_BYTES = 1, FAULT_MS };
static inline uint64_t fault_amount_id(enum fault_unit unit, uint32_t task, uint32_t amount)
{
	return 0xb17e5ull << 44 | (uint64_t)(task & 0x3ff) << 34 | (uint64_t)unit << 32 | amount;
}
/* 0: not such an id. */
static inline uint32_t fault_amount(uint64_t id)
{
	return id >> 44 == 0xb17e5 ? (uint32_t)id : 0;
}

/* The enum fault of the mask whose steps have that operation; -1: none. */
int faults_of(uint32_t mask, unsigned int op);

/* Does the search have a say in that step, beyond who makes it: a fault, a flow, a timer that fires before it? */
bool faults_decided(const struct trace_step *s);

struct faults {
	uint32_t mask;		/* that may happen */
	uint32_t max, max_flows;	/* in one execution */
	uint32_t nr, nr_flows;	/* in this one */
	struct fault_plan *plan;	/* faults_plan() */
	size_t nr_plan;
};

/*
 * From the next execution on exactly the faults of that trace happen, and timers fire as in it, where its tasks come to
 * these places, whatever their order (NULL: none happens), but for what is decided with step without (UINT64_MAX: all);
 * gone: that step is not made at all, for what failed was repeated. faults_free_plan(): the search decides again. 0 or
 * -ENOMEM.
 */
int faults_make_plan(struct faults *f, const struct trace *t, uint64_t without, bool gone);
void faults_free_plan(struct faults *f);

void faults_begin(struct faults *f);
/*
 * The task has been chosen for this step. want: the step that is replayed, NULL: none; replay: nothing is decided. Does
 * to the call what is to be done, and puts that into the label of the task. 1: the task is dead, and gets no turn;
 * 0; -errno: a fault cannot be made here.
 */
int faults_decide(struct faults *f, struct world *w, struct search *s, const struct trace_step *want, bool replay,
		  uint32_t task);

/* Does the next timer of the test fire before that step? 1, 0 or -errno. The same arguments. */
int faults_timer(struct faults *f, struct world *w, struct search *s, const struct trace_step *want, bool replay,
		 uint32_t task);

#endif
