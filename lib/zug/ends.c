/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ends.c - ends that the test does not make: no operation can go on, or those that go on get
 * nowhere; and failed assertions
 *
 * Livelock and the identity of a failure are judged as the engine judges them, on its own picture
 * of a world, which is made at the end only.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/failure.h"
#include "search/identity.h"
#include "lib/zug/internal.h"
#include "lib/zug/under.h"

static void set_outcome(enum zug_outcome_kind kind, uint64_t failure, const char *fmt, va_list ap)
{
	vsnprintf(z.message, sizeof(z.message), fmt, ap);
	z.outcome = (struct trace_outcome){ .kind = kind, .failure = failure, .message = z.message };
	if (zug_outcome_is_finding(kind) && !failure)
		z.outcome.failure = identity_message(z.message);
	z.over = true;
}

void end_set(enum zug_outcome_kind kind, uint64_t failure, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set_outcome(kind, failure, fmt, ap);
	va_end(ap);
}

int end_leave(struct operation *me)
{
	if (me != z.root)
		turn_abandon(me);
	if (test_can_jump())
		test_jump();
	return ZUG_E_OVER;
}

int end_fail(struct operation *me, enum zug_outcome_kind kind, uint64_t failure, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set_outcome(kind, failure, fmt, ap);
	va_end(ap);
	return end_leave(me);
}

/* TSan does not look: the thread of the operation does not know that it is looked at. */
__attribute__((no_sanitize_thread)) void end_stuck(void)
{
	const struct operation *op = z.current;
	const struct place *p = op->state == OP_ENDED ? NULL : place_of(z.cands[op->pos].label.site);

	/* the operation may go on at any time: nothing here is for certain, and the test is over */
	end_set(ZUG_OUTCOME_ENVIRONMENT, 0, "T%u (%s) %s %s:%d for %.1f s%s", op->task, op->name,
		op->claimed ? "has come to no point after" : "was created and has not been started after",
		p && p->line ? p->file : "?", p ? p->line : 0, z.stuck_after,
		op->claimed ? ": it blocks in what is no call of zug, or computes" : "");
	z.stuck = true;
	z.current = z.root;
}

int zug_at_fail(const char *message, const char *file, int line, const char *func)
{
	int error;
	struct operation *me = op_self(&error);

	if (under_zug)
		under_fail(message, file, line, func);
	if (!me)
		return error;
	return end_fail(me, ZUG_OUTCOME_ABORT, 0, "%s:%d: %s: %s", file, line, func, message ? message : "failed");
}

/* ---- the engine's picture ---- */

static uint32_t owner_of(const struct operation *op)
{
	const struct object *o = op->on;

	if (op->need == NEED_END)
		return op->target->task;
	return (op->need == NEED_MUTEX || op->need == NEED_NO_WRITER || op->need == NEED_FREE) && o && o->owner ?
	       o->owner->task : WORLD_NO_TASK;
}

static bool would_block(struct world *w, const struct world_task *t, uint32_t *owner)
{
	const struct operation *op = z.ops[t->task];

	(void)w;
	if (owner)
		*owner = owner_of(op);
	return !z.cands[op->pos].enabled;
}

static int no_stack(struct world *w, const struct world_task *t, struct trace_frame *frames, int max)
{
	(void)w, (void)t, (void)frames, (void)max;
	return 0;
}

static const struct world_ops picture_ops = { .would_block = would_block, .stack = no_stack };

/* Of all operations; tasks to be freed. False: out of memory. */
static bool picture(struct world *w)
{
	*w = (struct world){ .ops = &picture_ops, .nr_tasks = z.nr_ops };
	w->tasks = calloc(z.nr_ops + 1, sizeof(*w->tasks));
	for (uint32_t i = 0; w->tasks && i < z.nr_cands; i++) {
		const struct search_cand *c = &z.cands[i];

		w->tasks[c->task] = (struct world_task){
			.task = c->task, .parent = c->parent, .label = c->label,
			.state = c->enabled ? TASK_PARKED : TASK_BLOCKED, .wait = WAIT_INSIDE };
	}
	return w->tasks;
}

static void judge(enum zug_outcome_kind kind, const char *message)
{
	struct outcome o = { .kind = kind };
	struct world w;

	if (picture(&w))
		failure_identify(&o, &w, z.last, &z.progress, NULL);
	free(w.tasks);
	end_set(kind, o.failure, "%s", message);
}

/* What an operation that waits has called. */
static unsigned int called(const struct operation *op, unsigned int label)
{
	if (label != ZUG_OP_RESUME || !op->on)
		return label;
	return op->need == NEED_MUTEX ? ZUG_OP_LOCK :
	       op->on->kind == OBJECT_BARRIER ? ZUG_OP_BARRIER_WAIT : ZUG_OP_COND_WAIT;
}

const char *end_state(const struct operation *op, char *buf, size_t len)
{
	const struct search_cand *c = &z.cands[op->pos];
	uint32_t owner = owner_of(op);
	char name[64], by[80] = "";

	if (owner != WORLD_NO_TASK && op->need != NEED_END)
		snprintf(by, sizeof(by), ", held by T%u%s", owner, owner == op->task ? " itself" : "");
	if (op->need == NEED_END)
		snprintf(by, sizeof(by), " for T%u (%s)", owner, z.ops[owner]->name);
	object_name(c->label.object, name, sizeof(name));
	if (c->enabled)
		snprintf(buf, len, "could run: about to %s%s%s", zug_op_name(c->label.op), name[0] ? " " : "", name);
	else
		snprintf(buf, len, "waits in %s%s%s%s", zug_op_name(called(op, c->label.op)),
			 name[0] && op->need != NEED_END ? " for " : "", op->need != NEED_END ? name : "", by);
	return buf;
}

void end_deadlock(void)
{
	char text[sizeof(z.message)] = "", one[160];

	for (uint32_t i = 0; i < z.nr_cands; i++) {
		size_t n = strlen(text);

		end_state(z.ops[z.cands[i].task], one, sizeof(one));
		snprintf(text + n, sizeof(text) - n, "%sT%u (%s) %s", n ? "; " : "", z.cands[i].task,
			 z.ops[z.cands[i].task]->name, one);
	}
	judge(ZUG_OUTCOME_DEADLOCK, text);
}

bool end_livelock(void)
{
	char who[128] = "", text[256];
	struct world w;
	unsigned int nr = 0;
	uint64_t steps;

	if (z.progress.steps < PROGRESS_WINDOW || z.progress.steps % 1024)
		return false;
	if (picture(&w))
		nr = progress_livelock(&z.progress, &w, who, sizeof(who), &steps);
	free(w.tasks);
	if (!nr)
		return false;
	snprintf(text, sizeof(text), "%s only %s: %llu steps without anything new", who,
		 nr == 1 ? "yields, and no other operation can run" : "yield to each other", (unsigned long long)steps);
	judge(ZUG_OUTCOME_LIVELOCK, text);
	return true;
}
