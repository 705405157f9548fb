/* SPDX-License-Identifier: GPL-2.0-only */
/* stack_set.h - stacks that were taken at a moment which may turn out to be the failure */
#ifndef ZUG_STACK_SET_H
#define ZUG_STACK_SET_H

#include <stdbool.h>
#include <stdint.h>
#include "lib/trace.h"

/* All zero: empty. */
struct stack_set {
	struct stack_entry *entries;
	uint32_t nr, room;
};

/* Frames are copied, their strings are not. 0 or -ENOMEM. */
int stack_set_add(struct stack_set *s, uint32_t task, const char *state, const struct trace_frame *frames, int nr);
bool stack_set_has(const struct stack_set *s, uint32_t task);
/* Those of tasks that are not in besides, which may be NULL. */
void stack_set_write(const struct stack_set *s, struct trace_writer *t, const struct stack_set *besides);
void stack_set_clear(struct stack_set *s);

#endif
