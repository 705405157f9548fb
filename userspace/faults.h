/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * faults.h - system calls that fail because the search wants it
 *
 * A fault is a decision that goes with a step: the task that has got the turn, and stands before a system call,
 * makes it fail. It is asked for with search_choose_rare(), is written into the trace as the operation of that step
 * (fail-eintr, ...), and is followed from there when the trace is replayed.
 */
#ifndef ZUG_FAULTS_H
#define ZUG_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include "../search/search.h"
#include "world.h"

/* In the order of ZUG_OP_FAIL_ENOSPC and its followers. */
enum fault { FAULT_ENOSPC, FAULT_EINTR, FAULT_ENOMEM, FAULT_REFUSED, FAULT_KILL, FAULT_SHORT, FAULT_NR };

/* "enospc", ... */
const char *fault_name(enum fault f);
/* "enospc,kill" to a mask of 1 << enum fault. False: an unknown name. */
bool faults_parse(const char *text, uint32_t *mask);
/* The fault that an operation is, or -1. */
int fault_of_op(unsigned int op);

struct faults {
	uint32_t mask;		/* that may happen */
	uint32_t max;		/* in one execution */
	uint32_t nr;		/* in this one */
	struct fault_plan *plan;	/* faults_plan() */
	size_t nr_plan;
};

/*
 * From the next execution on exactly the faults of that trace happen, where its tasks come to these places, whatever
 * their order (NULL: none happens). faults_free_plan(): the search decides again. 0 or -ENOMEM.
 */
int faults_make_plan(struct faults *f, const struct trace *t);
void faults_free_plan(struct faults *f);

void faults_begin(struct faults *f);
/*
 * The task has been chosen for this step. want: the step that is replayed, NULL: none; replay: nothing is decided. Does
 * to the call what is to be done, and puts that into the label of the task. 1: the task is dead, and gets no turn;
 * 0; -errno: a fault cannot be made here.
 */
int faults_decide(struct faults *f, struct world *w, struct search *s, const struct trace_step *want, bool replay,
		  uint32_t task);

#endif
