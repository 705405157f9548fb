/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * values.h - values that a test asks for (ZUG_OP_CHOICE): what the search chose, in traces and in replays
 *
 * A value is known by its task and its ordinal among that task's choices, so a schedule that differs
 * from the recorded one keeps it. In traces it is the second object of its step.
 */
#ifndef ZUG_VALUES_H
#define ZUG_VALUES_H

#include <stdbool.h>
#include <stdint.h>
#include "lib/base/id_map.h"
#include "lib/trace.h"

uint64_t value_object(uint32_t value);
/* False: it is no value. */
bool value_of(uint64_t object, uint32_t *value);

/* Zeroed: empty. */
struct values {
	struct id_map given;	/* by task and ordinal */
	struct id_map nr;	/* by task: its choices so far, in the execution that goes on */
};

void values_free(struct values *v);
/* None is given. */
void values_clear(struct values *v);
/* A new execution. */
void values_begin(struct values *v);
/* The ordinal of the task's choice that comes now. */
uint32_t values_next(struct values *v, uint32_t task);
/* That choice of the task is to have the value. false: out of memory. */
bool values_give(struct values *v, uint32_t task, uint32_t nth, uint32_t value);
/* Gives the values of a trace, and no others. 0 or -ENOMEM. */
int values_of_trace(struct values *v, const struct trace *t);
/* What was given, below nr; 0: nothing was. */
uint32_t values_given(const struct values *v, uint32_t task, uint32_t nth, uint32_t nr);

#endif
