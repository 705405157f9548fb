/* SPDX-License-Identifier: GPL-2.0-only */
#include "engine/expiry.h"

uint64_t expiry_first(const struct world *w)
{
	uint64_t first = UINT64_MAX;

	for (uint32_t i = 0; i < w->nr_tasks; i++) {
		const struct world_task *t = &w->tasks[i];

		if (t->state == TASK_BLOCKED && t->deadline && t->deadline < first)
			first = t->deadline;
	}
	return first;
}

uint64_t expiry_limit(const struct world *w, uint64_t clock, bool idle)
{
	uint64_t first;

	first = idle ? expiry_first(w) : UINT64_MAX;
	if (first == UINT64_MAX || first + EXPIRY_SLACK_NS < clock)
		return clock;
	return first + EXPIRY_SLACK_NS;
}

bool expiry_may(const struct world_task *t, uint64_t limit)
{
	return t->state == TASK_BLOCKED && t->deadline && t->deadline <= limit;
}

bool expiry_outside(const struct world_task *t)
{
	return t->state == TASK_BLOCKED && (t->outside || t->wait == WAIT_UNKNOWN);
}
