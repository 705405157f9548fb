/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "progress_check.h"

void progress_reset(struct progress_check *p)
{
	if (p->tasks)
		memset(p->tasks, 0, p->nr * sizeof(*p->tasks));
	p->steps = 0;
	p->spun = false;
}

void progress_free(struct progress_check *p)
{
	free(p->tasks);
}

void progress_made(struct progress_check *p)
{
	if (p->steps)
		progress_reset(p);
}

static struct progress_task *task_of(struct progress_check *p, uint32_t task)
{
	if (task >= p->nr) {
		uint32_t nr = 2 * task + 16;
		struct progress_task *t = realloc(p->tasks, nr * sizeof(*t));

		if (!t)
			return NULL;
		memset(t + p->nr, 0, (nr - p->nr) * sizeof(*t));
		p->tasks = t;
		p->nr = nr;
	}
	return &p->tasks[task];
}

void progress_point(struct progress_check *p, uint32_t task, bool yield, bool spin)
{
	struct progress_task *t = task_of(p, task);

	if (!t)
		return;
	if (!spin) {
		/* a real point: nobody's earlier states count any more */
		if (p->spun)
			for (uint32_t i = 0; i < p->nr; i++)
				p->tasks[i].nr_states = p->tasks[i].repeats = 0;
		p->spun = false;
	} else {
		p->spun = true;
	}
	p->steps++;
	t->steps++;
	t->yields += yield;
}

void progress_spin(struct progress_check *p, uint32_t task, uint64_t registers)
{
	struct progress_task *t = task_of(p, task);

	if (!t || !registers)
		return;
	for (uint32_t i = 0; i < t->nr_states && i < PROGRESS_STATES; i++)
		if (t->states[i] == registers) {
			t->repeats++;
			return;
		}
	t->states[t->nr_states++ % PROGRESS_STATES] = registers;
}

static void add_name(char *who, size_t len, uint32_t task)
{
	size_t n = strlen(who);

	snprintf(who + n, len - n, "%sT%u", n ? ", " : "", task);
}

enum progress progress_verdict(const struct progress_check *p, const struct world *w,
			       char *who, size_t len)
{
	bool livelock = p->steps >= PROGRESS_WINDOW, spin = p->spun;

	if (!livelock && !spin)
		return PROGRESS_FINE;
	who[0] = 0;
	for (uint32_t i = 0; i < w->nr_tasks; i++) {
		enum task_state_kind state = w->tasks[i].state;
		const struct progress_task *t = i < p->nr ? &p->tasks[i] : NULL;

		if (state == TASK_BLOCKED && w->tasks[i].wait != WAIT_INSIDE)
			return PROGRESS_FINE;	/* may come back and change things */
		if (state != TASK_PARKED && state != TASK_RUNNING)
			continue;
		/* one yield in a hundred steps: less is a task that works and is polite */
		if (!t || !t->steps || t->yields * 100 < t->steps)
			livelock = false;
		if (!t || t->repeats < PROGRESS_REPEATS)
			spin = false;
		add_name(who, len, i);
	}
	if (!who[0])
		return PROGRESS_FINE;
	if (spin) {
		size_t n = strlen(who);

		snprintf(who + n, len - n, strchr(who, ',') ? " spin" : " spins");
		return PROGRESS_SPIN;
	}
	return livelock ? PROGRESS_LIVELOCK : PROGRESS_FINE;
}
