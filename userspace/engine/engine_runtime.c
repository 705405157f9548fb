/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * engine_runtime.c - the tasks of a language's runtime, which are none of the program's
 *
 * A virtual machine has threads of its own when it begins to execute the program: its collector, its compiler, threads
 * that look after memory at times. They are those that live where the search begins, but for the one that comes there, and
 * whatever they make. In which order they come is no choice: they have the turn when the program's tasks wait or yield, one
 * after another, and none of their time-outs ends early. Nor does it help a program that waits for ever that they wake up
 * at times, or that the runtime looks again at times at the lock for which a task of the program's waits.
 *
 * A task of the program's in the runtime's code that begins a thread, or joins one (world_task.begins), goes on before
 * all others where it can: threads hand the turn to each other in there, and each of these steps would be a choice that
 * changes nothing.
 */
#include <string.h>
#include "engine/engine_internal.h"
#include "lib/base/array.h"

/* So many time-outs in a row, without another step of the program's, lead to none. */
#define IN_VAIN 200

static void set(struct engine *e, uint32_t task)
{
	struct world *w = e->w;

	if (!ARRAY_RESERVE_ZERO(w->of_runtime, w->of_runtime_room, task + 1) || w->of_runtime[task])
		return;
	w->of_runtime[task] = true;
	e->nr_runtime++;
}

void runtime_begins(struct engine *e, uint32_t program)
{
	for (uint32_t i = 0; e->o.runtime_tasks && i < e->w->nr_tasks; i++)
		if (i != program && world_lives(&e->w->tasks[i]))
			set(e, i);
}

void runtime_new_task(struct engine *e, uint32_t task)
{
	if (e->nr_runtime && world_of_runtime(e->w, e->w->tasks[task].parent))
		set(e, task);
}

void runtime_reset(struct engine *e)
{
	if (e->w->of_runtime)
		memset(e->w->of_runtime, 0, e->w->of_runtime_room * sizeof(*e->w->of_runtime));
	e->nr_runtime = e->passed_over = e->in_vain = 0;
}

/* The last of the runtime's tasks goes on, or the next one by number. */
static uint32_t next_of_runtime(const struct engine *e)
{
	uint32_t first = WORLD_NO_TASK, last = e->last;

	for (uint32_t i = 0; i < e->nr_enabled; i++) {
		uint32_t task = e->enabled[i];

		if (!world_of_runtime(e->w, task))
			continue;
		if (last != WORLD_NO_TASK && (task > last || (task == last && !e->yielded)))
			return task;
		if (first == WORLD_NO_TASK)
			first = task;
	}
	return first;
}

/* The first of the program's tasks that begins a thread, and did not yield. */
static uint32_t next_that_begins(const struct engine *e)
{
	for (uint32_t i = 0; i < e->nr_enabled; i++) {
		uint32_t task = e->enabled[i];

		if (e->w->tasks[task].begins && !world_of_runtime(e->w, task) && !(e->yielded && task == e->last))
			return task;
	}
	return WORLD_NO_TASK;
}

static uint32_t show_alone(struct engine *e, uint32_t only)
{
	for (uint32_t i = 0; i < e->nr_cands; i++)
		e->cands[i].enabled &= e->cands[i].task == only;
	return candidates_list(e);
}

uint32_t runtime_leave(struct engine *e)
{
	uint32_t own = 0, program = 0, only = WORLD_NO_TASK;

	e->begins = false;
	if (!e->nr_runtime || e->status.quiet)
		return e->nr_enabled;
	only = next_that_begins(e);
	/* one that has yielded is the only one again behind the next step */
	e->begins = only != WORLD_NO_TASK || (e->yielded && e->last != WORLD_NO_TASK && e->w->tasks[e->last].begins &&
					      !world_of_runtime(e->w, e->last));
	if (only != WORLD_NO_TASK)
		return show_alone(e, only);
	for (uint32_t i = 0; i < e->nr_enabled; i++) {
		own += world_of_runtime(e->w, e->enabled[i]);
		program += !world_of_runtime(e->w, e->enabled[i]) && !(e->yielded && e->enabled[i] == e->last);
	}
	if (!own)
		return e->nr_enabled;
	/* the program's tasks may wait in a loop, by turns, for one of these */
	if (!program || e->passed_over >= PROGRESS_STARVING)
		only = next_of_runtime(e);
	e->passed_over = only == WORLD_NO_TASK ? e->passed_over + 1 : 0;
	if (only != WORLD_NO_TASK)
		return show_alone(e, only);
	for (uint32_t i = 0; i < e->nr_cands; i++) {
		struct search_cand *c = &e->cands[i];

		c->enabled &= !world_of_runtime(e->w, c->task);
	}
	return candidates_list(e);
}

void runtime_step(struct engine *e, uint32_t task, bool expires)
{
	if (expires)
		e->in_vain++;
	else if (!world_of_runtime(e->w, task))
		e->in_vain = 0;
}

/* The task waits for a lock, however often its time-out is over. */
static bool only_rechecks(struct engine *e, const struct world_task *t)
{
	const char *name = e->o.runtime_rechecks;
	struct trace_frame frames[64];
	int nr = name ? e->w->ops->stack(e->w, t, frames, 64) : 0;

	for (int i = 0; i < nr; i++)
		if (frames[i].function && !strncmp(frames[i].function, name, strlen(name)))
			return true;
	return false;
}

bool runtime_alone(struct engine *e)
{
	bool any = false;

	/* what can run comes first: whether it stops before it waits again is another thing in a replay */
	if (!e->nr_runtime || e->nr_parked || e->in_vain < IN_VAIN || e->status.next_timer != UINT64_MAX ||
	    e->w->ops->in_flight(e->w))
		return false;
	for (uint32_t i = 0; i < e->w->nr_tasks; i++) {
		const struct world_task *t = &e->w->tasks[i];

		if (world_of_runtime(e->w, i) || !world_lives(t))
			continue;
		if (t->state != TASK_BLOCKED || (t->deadline ? !only_rechecks(e, t) : t->wait != WAIT_INSIDE)) {
			e->in_vain = 0;
			return false;
		}
		any = true;
	}
	return any;
}
