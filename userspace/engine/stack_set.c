/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "engine/stack_set.h"
#include "lib/base/array.h"

struct stack_entry {
	uint32_t task;
	char *state;
	struct trace_frame *frames;
	uint32_t nr;
};

int stack_set_add(struct stack_set *s, uint32_t task, const char *state, const struct trace_frame *frames, int nr)
{
	struct stack_entry *e;

	if (!ARRAY_RESERVE(s->entries, s->room, s->nr + 1))
		return -ENOMEM;
	nr = nr > 0 ? nr : 0;
	e = &s->entries[s->nr];
	*e = (struct stack_entry){ .task = task, .state = strdup(state), .frames = calloc(nr + 1, sizeof(*frames)),
				   .nr = nr };
	if (!e->state || !e->frames) {
		free(e->state);
		free(e->frames);
		return -ENOMEM;
	}
	memcpy(e->frames, frames, nr * sizeof(*frames));
	s->nr++;
	return 0;
}

bool stack_set_has(const struct stack_set *s, uint32_t task)
{
	for (uint32_t i = 0; i < s->nr; i++)
		if (s->entries[i].task == task)
			return true;
	return false;
}

void stack_set_write(const struct stack_set *s, struct trace_writer *t, const struct stack_set *besides)
{
	for (uint32_t i = 0; i < s->nr; i++) {
		const struct stack_entry *e = &s->entries[i];

		if (besides && stack_set_has(besides, e->task))
			continue;
		trace_add_stack(t, &(struct trace_stack){ .task = e->task, .state = e->state, .nr_frames = e->nr,
							  .frames = e->frames });
	}
}

void stack_set_clear(struct stack_set *s)
{
	for (uint32_t i = 0; i < s->nr; i++) {
		free(s->entries[i].state);
		free(s->entries[i].frames);
	}
	free(s->entries);
	*s = (struct stack_set){ 0 };
}
