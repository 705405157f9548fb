/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * engine_steps.c - what the trace is told of an execution: tasks, steps, notes, and where it left
 * the replayed trace
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "engine/engine_internal.h"
#include "lib/base/array.h"

static bool steps_told(const struct engine *e, uint32_t task)
{
	return task < e->told_room && e->told[task];
}

void steps_tell_task(struct engine *e, uint32_t task)
{
	const struct world_task *t = &e->w->tasks[task];

	if (!e->t || !ARRAY_RESERVE_ZERO(e->told, e->told_room, task + 1) || e->told[task])
		return;
	e->told[task] = true;
	trace_add_task(e->t, &(struct trace_task){ .task = task, .parent = t->parent, .nth = t->nth,
						   .pid = t->own_pid, .process = t->process, .comm = t->comm });
}

/* The enabled tasks that the trace does not know yet. */
static void tell_enabled(struct engine *e)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < e->nr_untold; i++) {
		uint32_t task = e->untold[i];

		if (candidates_is_enabled(e, task))
			steps_tell_task(e, task);
		else if (!steps_told(e, task))
			e->untold[nr++] = task;
	}
	e->nr_untold = nr;
}

void steps_untold(struct engine *e, uint32_t task)
{
	uint32_t i;

	if (!e->t || steps_told(e, task) || !ARRAY_RESERVE(e->untold, e->untold_room, e->nr_untold + 1))
		return;
	for (i = e->nr_untold; i && e->untold[i - 1] >= task; i--)
		if (e->untold[i - 1] == task)
			return;
	memmove(&e->untold[i + 1], &e->untold[i], (e->nr_untold - i) * sizeof(*e->untold));
	e->untold[i] = task;
	e->nr_untold++;
}

void steps_note(struct engine *e, enum trace_note_kind kind, uint32_t task, uint32_t arg, const char *text)
{
	if (!e->t)
		return;
	if (task != WORLD_NO_TASK)
		steps_tell_task(e, task);
	trace_add_note(e->t, &(struct trace_note){
		.kind = kind, .task = task, .arg = arg, .text = text && text[0] ? text : NULL,
		.object = task != WORLD_NO_TASK && kind == TRACE_NOTE_BLOCK ?
			  e->w->tasks[task].label.object : 0 });
}

void steps_note_timer(struct engine *e, const char *early, const struct world_timer *t)
{
	const struct zug_label set = { .op = ZUG_OP_SYSCALL, .site = t->site };
	char text[128];

	if (!e->t)
		return;
	if (t->task != WORLD_NO_TASK)
		steps_tell_task(e, t->task);
	e->w->ops->describe(e->w, e->t, &set);
	snprintf(text, sizeof(text), "%s\t%s", early, t->text);
	trace_add_note(e->t, &(struct trace_note){
		.kind = TRACE_NOTE_EARLY, .task = TRACE_NO_TASK, .arg = t->task, .object = t->site, .text = text });
}

void steps_record(struct engine *e, uint32_t task, uint32_t nr_enabled)
{
	struct world_task *t = &e->w->tasks[task];
	struct trace_step s = { .step = e->x->steps, .task = task, .label = t->label, .last = e->last,
				.nr_enabled = nr_enabled, .enabled = e->enabled,
				.bits = e->bits, .nr_words = candidates_words(e) };
	bool last_enabled = e->last != WORLD_NO_TASK && candidates_is_enabled(e, e->last);
	bool passes = t->label.flags & ZUG_L_LEFT_OUT && e->last == task && e->w->passes;

	e->x->handlers |= t->label.op == ZUG_OP_HANDLER;
	if (e->last != task && e->last != WORLD_NO_TASK)
		e->x->switches++;
	if (e->last != task && last_enabled && !e->yielded) {
		s.flags |= TRACE_STEP_PREEMPTION;
		e->x->preemptions++;
	}
	if (e->yielded)
		s.flags |= TRACE_STEP_YIELDED;
	if (nr_enabled == 1)
		s.flags |= TRACE_STEP_LONE;
	if (!replay_is_chance(&t->label, task, e->last))
		e->x->hash = replay_hash(e->x->hash, task, &t->label);
	if (e->t) {
		steps_tell_task(e, task);
		tell_enabled(e);
		e->w->ops->describe(e->w, e->t, &t->label);
		trace_add_step(e->t, &s);
	}
	takers_step(&e->takers, task, &t->label);
	e->x->steps++;
	e->nr_moves += t->label.op != ZUG_OP_SPIN;
	e->x->left_out += !!(t->label.flags & ZUG_L_LEFT_OUT);
	e->w->passes = passes ? e->w->passes - 1 : LEFT_OUT_MOST;
	/*
	 * at what is left out others could run, too, and had no chance: it neither counts, nor makes the steps around it
	 * count anew
	 */
	if (!passes)
		e->same = e->last == task && nr_enabled > 1 ? e->same + 1 : 0;
	e->last = task;
	/* what is left out may be a loop that waits for another task */
	e->yielded = e->same >= PROGRESS_STARVING || !e->w->passes;
	if (e->yielded)
		e->same = 0;
	if (!passes)
		e->yielded |= progress_loops_step(&e->loops, task, &t->label, e->enabled, nr_enabled,
						  candidates_is_enabled(e, e->loops.waits));
}

uint64_t steps_before_starving(const struct engine *e, uint32_t task)
{
	uint64_t same = PROGRESS_STARVING - e->same, over = PROGRESS_STARVING - e->passed_over;
	uint64_t calm = progress_loops_calm(&e->loops), rounds = progress_loops_left(&e->loops, task, NULL);

	rounds = rounds > calm ? rounds : calm;
	same = same < rounds ? same : rounds;
	return e->yielded ? 0 : same < over ? same : over;
}

void steps_diverged(struct engine *e, const char *fmt, ...)
{
	va_list ap;

	if (e->x->diverged)
		return;
	e->x->diverged = true;
	e->x->diverged_at = e->x->steps;
	va_start(ap, fmt);
	vsnprintf(e->x->divergence, sizeof(e->x->divergence), fmt, ap);
	va_end(ap);
	steps_note(e, TRACE_NOTE_MESSAGE, WORLD_NO_TASK, 0, e->x->divergence);
}
