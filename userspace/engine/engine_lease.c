/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * engine_lease.c - how many points a task may pass before the next question, because the answers are
 * known already
 *
 * The search promises to choose the same task again (search_promise()), and the world lets that task
 * pass its next points. Each of them is told later as a question (world_event.leased), and decided as
 * any other one, from what the world says of that moment: so an execution is the same with leases and
 * without, and a promise that is not kept shows. Here is what the engine itself has to see at a point,
 * or would do there: no lease reaches so far.
 */
#include "engine/engine_internal.h"

#define MOST_POINTS 1000000

void lease_begin(struct engine *e)
{
	bool looks = e->on_step && (!e->step_looks || e->step_looks(e->on_step_ctx));

	e->leased = WORLD_NO_TASK;
	e->leases = e->w->ops->lease && !e->o.ask_always && !looks && !e->on_state && !e->faults.mask && !e->callers &&
		    !e->o.explore_timeouts && !engine_debugger(e);
}

/* The step that is replayed nth from here is that task's, with no timer or fault before or in it. */
static bool is_replayed(const struct engine *e, uint32_t task, uint64_t nth)
{
	const struct trace_step *s = e->x->diverged ? NULL : replay_step(e->r, e->x->steps + nth);

	return s && s->task == task && !zug_op_is_fault(s->label.op) && s->label.op != ZUG_OP_EXPIRE &&
	       !(s->label.flags & ZUG_L_TIMER);
}

static uint64_t replayed(const struct engine *e, uint32_t task)
{
	uint64_t nr = 0;

	while (nr < MOST_POINTS && is_replayed(e, task, nr))
		nr++;
	return nr;
}

static uint64_t at_most(uint64_t nr, uint64_t most)
{
	return nr < most ? nr : most;
}

/* A task is held now, or the one that goes on may come to where it is. (No task ends under a lease: world.ends_stop.) */
static bool may_hold(const struct engine *e)
{
	if (!e->hold || e->r)
		return false;
	for (uint32_t i = 0; e->hold_op == ZUG_OP_END && i < e->nr_cands; i++)
		if (e->cands[i].label.op == ZUG_OP_END)
			return true;
	return e->hold_op != ZUG_OP_END;
}

/* The step that the plan has next can be made without the engine, as far as it knows already. */
static bool may_plan(const struct engine *e, uint32_t task, uint64_t nth)
{
	if (task == SEARCH_NO_TASK || task >= e->w->nr_tasks || !world_lives(&e->w->tasks[task]))
		return false;
	return !e->r || is_replayed(e, task, nth);
}

/* The next steps of all tasks, up to most: as many as are known. */
static void plan_steps(struct engine *e, const struct search_point *p, struct world_plan *plan, uint64_t most)
{
	plan->kind = PLAN_STEPS;
	while (plan->nr < most) {
		uint32_t task = search_ahead(e->s, p, plan->nr), at = plan->nr_runs - 1;

		if (!may_plan(e, task, plan->nr))
			break;
		if (!plan->nr_runs || plan->runs[at].task != task) {
			if (plan->nr_runs == WORLD_PLAN_RUNS)
				break;
			at = plan->nr_runs++;
			plan->runs[at].task = task;
			plan->runs[at].steps = 0;
		}
		plan->runs[at].steps++;
		plan->nr++;
	}
}

/*
 * The weights of the tasks that may be drawn. false: they are too many, or too heavy; or the task that gets the turn is woken up
 * by that, as its time-out is over.
 */
static bool plan_weights(struct engine *e, const struct search_point *p, uint32_t chosen, struct world_plan *plan)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < p->nr; i++) {
		uint32_t task = p->cand[i].task;
		uint64_t weight = search_weight(e->s, task);

		if (p->cand[i].blocked && task == chosen)
			return false;
		if (p->cand[i].blocked)
			continue;
		if (plan->nr_weights == WORLD_PLAN_TASKS)
			return false;
		sum += weight + plan->draws.least;
		plan->weights[plan->nr_weights].task = task;
		plan->weights[plan->nr_weights++].weight = (uint32_t)weight;
	}
	return sum < UINT32_MAX;
}

/* Whom the turn goes to from here, at most for so many steps. false: that is not known, or no other task comes into it. */
static bool make_plan(struct engine *e, const struct search_point *p, uint32_t task, struct world_plan *plan, uint64_t most)
{
	*plan = (struct world_plan){ 0 };
	most = at_most(most, search_steps_left(e->s));
	if (search_draws(e->s, p, &plan->draws)) {
		plan->kind = PLAN_DRAWS;
		plan->nr = most;
		return most && plan_weights(e, p, task, plan);
	}
	plan_steps(e, p, plan, most);
	return plan->nr_runs > 1;
}

void lease_give(struct engine *e, const struct search_point *p, uint32_t task)
{
	struct world_plan plan;
	enum search_until until;
	uint64_t nr, most;

	/* what was promised where one task alone could be chosen says nothing of other points */
	if (!e->leases || e->status.quiet || (e->forced && !e->r))
		return;
	/* a task is on trial, or any use of what was destroyed is misuse */
	if (may_hold(e) || e->on_trial || misuse_after_destroy(e->misuse))
		return;
	/* progress is judged where all tasks stand */
	most = e->pc.steps < PROGRESS_WINDOW ? PROGRESS_WINDOW - 1 - e->pc.steps : 0;
	if (!e->r)
		most = at_most(most, steps_before_starving(e));
	nr = at_most(search_promise(e->s, p, &until), most);
	if (e->r)
		nr = at_most(nr, replayed(e, task));
	if (make_plan(e, p, task, &plan, most))
		e->w->ops->lease(e->w, (uint32_t)nr, until, e->r != NULL, &plan);
	else if (nr)
		e->w->ops->lease(e->w, (uint32_t)nr, until, e->r != NULL, NULL);
}
