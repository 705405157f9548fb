/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "engine/replay.h"

bool replay_is_chance(const struct zug_label *l, uint32_t task, uint32_t last)
{
	return l->op == ZUG_OP_SPIN && task == last;
}

uint64_t replay_hash(uint64_t hash, uint32_t task, const struct zug_label *l)
{
	const uint64_t v[4] = { task, l->op, l->object, l->op == ZUG_OP_SPIN ? 0 : l->site };

	for (int i = 0; i < 4; i++) {
		hash ^= v[i] + 0x9e3779b97f4a7c15ull + (hash << 6) + (hash >> 2);
		hash *= 0xbf58476d1ce4e5b9ull;
	}
	return hash;
}

int replay_init(struct replay *r, const struct trace *t)
{
	uint64_t nr = trace_nr_steps(t);

	*r = (struct replay){ .trace = t };
	r->steps = malloc((nr + 1) * sizeof(*r->steps));
	r->tasks = malloc((nr + 1) * sizeof(*r->tasks));
	if (!r->steps || !r->tasks)
		return -ENOMEM;
	for (uint64_t i = 0; i < nr; i++) {
		const struct trace_step *s = trace_step(t, i);

		if (replay_is_chance(&s->label, s->task, s->last))
			continue;
		r->hash = replay_hash(r->hash, s->task, &s->label);
		r->steps[r->nr] = i;
		r->tasks[r->nr++] = s->task;
	}
	return 0;
}

void replay_release(struct replay *r)
{
	free(r->steps);
	free(r->tasks);
	memset(r, 0, sizeof(*r));
}

const struct trace_step *replay_step(const struct replay *r, uint64_t i)
{
	return i < r->nr ? trace_step(r->trace, r->steps[i]) : NULL;
}

void replay_number_tasks(const struct trace *t, struct spawn_table *spawn)
{
	uint32_t nr = trace_nr_tasks(t), highest = 0;

	for (uint32_t i = 0; i < nr; i++)
		if (trace_task_at(t, i)->task > highest)
			highest = trace_task_at(t, i)->task;
	/*
	 * numbers that other executions of the campaign used stay out of the way: no task is such a
	 * child
	 */
	for (uint32_t k = 0; nr && k <= highest; k++) {
		const struct trace_task *task = trace_task(t, k);

		spawn_number(spawn, task ? task->parent : TRACE_NO_TASK - 1, task ? task->nth : k);
	}
}
