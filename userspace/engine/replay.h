/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * replay.h - the steps of a trace, to be followed
 *
 * A step of a task that was stopped in a long computation (ZUG_OP_SPIN) and went on at once is not
 * followed: where the timer struck is chance. It is where the task lost the turn there.
 */
#ifndef ZUG_REPLAY_H
#define ZUG_REPLAY_H

#include <stdbool.h>
#include <stdint.h>
#include "lib/trace.h"
#include "engine/spawn.h"

struct replay {
	const struct trace *trace;	/* the caller's */
	uint64_t nr;			/* steps to follow */
	uint64_t *steps;		/* their numbers in the trace */
	uint32_t *tasks;		/* the task of each, for search_replay() */
	uint64_t hash;		/* of them all: as in struct execution */
};

/* 0 or -ENOMEM; replay_release() in either case. */
int replay_init(struct replay *r, const struct trace *t);
void replay_release(struct replay *r);
/* Step i to follow; NULL beyond the end. */
const struct trace_step *replay_step(const struct replay *r, uint64_t i);
/* True when a step of that label is only a matter of when the timer struck. */
bool replay_is_chance(const struct zug_label *l, uint32_t task, uint32_t last);
/* The hash of an execution so far, with one more step. */
uint64_t replay_hash(uint64_t hash, uint32_t task, const struct zug_label *l);
/* Gives spawn paths the numbers that they have in a trace. */
void replay_number_tasks(const struct trace *t, struct spawn_table *spawn);

#endif
