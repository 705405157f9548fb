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
#include <stdio.h>
#include "engine/engine_internal.h"
#include "engine/expiry.h"

#define MOST_POINTS 1000000
/* Steps of a plan in a replay. */
#define MOST_AHEAD 4096

void lease_begin(struct engine *e)
{
	bool looks = e->on_step && (!e->step_looks || e->step_looks(e->on_step_ctx));

	e->leased = WORLD_NO_TASK;
	e->unleased = ASK_FIRST;
	e->run_to = 0;
	e->leases = e->w->ops->lease && !e->o.ask_always && !looks && !e->on_state && !e->faults.mask && e->callers_from &&
		    !engine_debugger(e);
}

/* The step that is replayed nth from here is that task's, with no timer or fault before or in it. */
static bool is_replayed(const struct engine *e, uint32_t task, uint64_t nth)
{
	const struct trace_step *s = e->x->diverged ? NULL : replay_step(e->r, e->x->steps + nth);

	return s && s->task == task && !zug_op_is_fault(s->label.op) && s->label.op != ZUG_OP_EXPIRE &&
	       !(s->label.flags & ZUG_L_TIMER);
}

/* So many steps from here on are that task's. A run of them is counted once: while it lasts, its end stays where it is. */
static uint64_t replayed(struct engine *e, uint32_t task)
{
	uint64_t at = e->x->steps;

	if (e->run_task != task || at < e->run_from || at >= e->run_to) {
		e->run_task = task;
		e->run_from = at;
		for (e->run_to = at; e->run_to - at < MOST_POINTS && is_replayed(e, task, e->run_to - at);)
			e->run_to++;
	}
	return e->x->diverged ? 0 : e->run_to - at;
}

static uint64_t at_most(uint64_t nr, uint64_t most)
{
	return nr < most ? nr : most;
}

static bool holds(const struct engine *e)
{
	return e->hold && !e->holds_none && !e->r && e->holds < ENGINE_HOLDS;
}

/*
 * A task is held now, or the one that goes on may come to where it is. (Where that is a place, or an end, no lease does:
 * world.ends_stop.)
 */
static bool may_hold(const struct engine *e)
{
	if (!holds(e))
		return false;
	for (uint32_t i = 0; i < e->nr_cands; i++)
		if (decide_may_hold(e, &e->cands[i].label))
			return true;
	return decide_may_hold(e, &(struct zug_label){ .op = ZUG_OP_BEGIN });
}

/* So many steps come before the next one at which tasks are held otherwise than now. */
static uint64_t before_holding(const struct engine *e)
{
	return holds(e) && e->hold_at_times ? ENGINE_HOLD_EVERY - e->x->steps % ENGINE_HOLD_EVERY : UINT64_MAX;
}

/*
 * Who makes the next steps, or is chosen at the next points, up to most: as many as are known. In a replay all are; a plan
 * that goes to the end of a long trace would count the same steps again at each question.
 */
static uint64_t plan_runs(struct engine *e, const struct search_point *p, struct world_plan *plan, uint64_t most)
{
	uint64_t nr = 0;

	if (e->r && most > MOST_AHEAD) {
		most = MOST_AHEAD;
		plan->rule.base = false;
	}
	while (nr < most) {
		uint32_t task = search_ahead(e->s, p, nr), at = plan->nr_runs - 1;

		if (task == SEARCH_NO_TASK || (e->r && !is_replayed(e, task, nr)))
			break;
		if (!plan->nr_runs || plan->runs[at].task != task) {
			if (plan->nr_runs == WORLD_PLAN_RUNS) {
				plan->rule.base = false;
				break;
			}
			at = plan->nr_runs++;
			plan->runs[at].task = task;
			plan->runs[at].steps = 0;
		}
		plan->runs[at].steps++;
		nr++;
	}
	return nr;
}

/*
 * The weights of the tasks, and, where the rule is one for them, of those that are still to come, as far as there is
 * room. false: they are too many, or too heavy to be drawn.
 */
static bool plan_weights(struct engine *e, const struct search_point *p, struct world_plan *plan)
{
	uint32_t nr = plan->rule.shares ? e->w->nr_tasks : p->nr, room = WORLD_PLAN_TASKS - p->nr;
	uint64_t sum = 0;

	if (p->nr > WORLD_PLAN_TASKS)
		return false;
	for (uint32_t i = 0, at = 0; i < nr; i++) {
		uint32_t task = plan->rule.shares ? i : p->cand[i].task;
		bool lives = at < p->nr && p->cand[at].task == task;
		uint64_t weight;

		if (!lives && (e->w->tasks[task].state != TASK_NONE || !room))
			continue;
		at += lives;
		room -= !lives;
		weight = search_weight(e->s, task);
		sum += weight + plan->rule.least;
		plan->weights[plan->nr_weights].task = task;
		plan->weights[plan->nr_weights].weight = weight;
		plan->weights[plan->nr_weights].priority =
			lives ? search_priority(e->s, task, &plan->weights[plan->nr_weights].held) : 0;
		plan->nr_weights++;
	}
	return (plan->rule.by != SEARCH_BY_DRAWS && plan->rule.by != SEARCH_BY_SELECTION) || sum < UINT32_MAX;
}

/* Whom the turn goes to from here, at most for so many steps. false: that is not known, or no other task comes into it. */
static bool make_plan(struct engine *e, const struct search_point *p, uint32_t task, struct world_plan *plan, uint64_t most)
{
	uint32_t at = search_cand_of(p, task);

	*plan = (struct world_plan){ 0 };
	/* the kernel side does not know which tasks are the runtime's */
	if (e->nr_runtime && !e->r)
		return false;
	most = at_most(most, search_steps_left(e->s));
	search_rule(e->s, p, &plan->rule);
	if (plan->rule.by == SEARCH_BY_STEPS) {
		plan->nr = (uint32_t)plan_runs(e, p, plan, most);
		plan->nr = plan->rule.base ? (uint32_t)most : plan->nr;
		return plan->nr_runs > 1 || (plan->nr_runs && plan->runs[0].task != task);
	}
	plan->nr = (uint32_t)most;
	/* one that is woken up by this, as its time-out is over, stands nowhere yet */
	if (!most || at == UINT32_MAX || p->cand[at].blocked)
		return false;
	if (plan->rule.by == SEARCH_BY_DIFFERENCES)
		plan_runs(e, p, plan, most);
	if (plan->rule.by != SEARCH_BY_CHOICES)
		return plan_weights(e, p, plan);
	return plan_runs(e, p, plan, most) || plan->rule.base;
}

/* A task of the same process does. */
static bool process_lives(void *ctx, uint32_t task)
{
	const struct engine *e = ctx;

	for (uint32_t i = 0; i < e->w->nr_tasks; i++)
		if (world_lives(&e->w->tasks[i]) && e->w->tasks[i].process == e->w->tasks[task].process)
			return true;
	return false;
}

/*
 * A use of what was destroyed is misuse, and has to be seen before it is made. What is replayed has none, but perhaps as its
 * last step: most reaches up to there.
 */
static bool may_use_destroyed(struct engine *e, uint64_t *most)
{
	uint64_t last = e->r && e->r->nr ? e->r->nr - 1 : 0;

	if (!misuse_after_destroy(e->misuse, process_lives, e))
		return false;
	if (!e->r || e->x->diverged || e->x->steps >= last)
		return true;
	*most = at_most(*most, last - e->x->steps);
	return false;
}

/*
 * A blocked task that may go on as if its time-out were over may do so at each point of the lease, and no other one:
 * notes which these are. Returns the time on the test's clock at which there are others, or at which a timer fires, or
 * may fire early. 0: they are others already, as the clock has gone on with this decision.
 */
static uint64_t note_expiring(struct engine *e, const struct search_point *p, uint32_t task)
{
	uint64_t timer = engine_look(e) ? e->status.next_timer : 0, clock = e->r ? timer : early_from(e, timer, false), from;

	for (uint32_t i = 0; i < e->nr_timed; i++) {
		struct world_task *t = &e->w->tasks[e->timed[i]];
		uint32_t at = search_cand_of(p, t->task);

		t->expires = false;
		if (!expiry_may(t, UINT64_MAX) || world_of_runtime(e->w, t->task))
			continue;
		t->expires = may_expire(e, t, e->status.clock);
		if (t->expires != p->cand[at].enabled && t->task != task)
			return 0;
		from = t->own_time ? t->deadline : early_from(e, t->deadline, t->installed);
		if (!t->expires && from < clock)
			clock = from;
	}
	return clock > e->status.clock ? clock : 0;
}

/* A replay may end with a misuse, which has to be seen before it is made: so many points may be passed before that. */
static uint64_t before_misuse(const struct engine *e)
{
	const struct trace_outcome *o = e->r ? trace_outcome(e->r->trace) : NULL;
	uint64_t last = e->r && e->r->nr ? e->r->nr - 1 : 0;

	if (!e->r || (o && o->kind != ZUG_OUTCOME_MISUSE))
		return UINT64_MAX;
	return last > e->x->steps ? last - e->x->steps : 0;
}

/*
 * What the lease says of yields: as many as do not reach farther than most points, of which nr are promised up to the first
 * one.
 */
static void give_yields(struct engine *e, uint64_t nr, uint64_t most)
{
	uint64_t points, yields = e->r ? 0 : search_yields(e->s, &points);

	if (yields && nr < most)
		yields = at_most(yields, (most - nr) / (points + 1));
	e->w->yields = nr < most ? (uint32_t)yields : 0;
	e->w->yield_points = e->w->yields ? (uint32_t)points : 0;
}

/*
 * Where a task may be taken for one that yields: a plan reaches up to there, whoever makes the steps. What is replayed has its
 * yields in the trace.
 */
static void plan_rounds(struct engine *e, const struct search_point *p, uint32_t task, struct world_plan *plan)
{
	plan->calm = e->r ? WORLD_CALM_ALWAYS : progress_loops_calm(&e->loops);
	plan->same = PROGRESS_STARVING - e->same;
	plan->longest = PROGRESS_STARVING;
	for (uint32_t i = 0; i < e->w->nr_tasks; i++)
		e->w->tasks[i].rounds = PROGRESS_ROUNDS;
	for (uint32_t i = 0; i < p->nr; i++) {
		const struct search_cand *c = &p->cand[i];

		/*
		 * what the one makes that goes on now is behind it, one that is woken up goes on with another operation, and
		 * what is left out is none that counts
		 */
		bool unknown = c->blocked || c->task == task || c->label.flags & ZUG_L_LEFT_OUT;

		e->w->tasks[c->task].rounds = progress_loops_left(&e->loops, c->task, unknown ? NULL : &c->label);
	}
}

/* The lease that goes with the grant. ASK_NR, or why there is none. */
static enum ask_cause give(struct engine *e, const struct search_point *p, uint32_t task)
{
	struct world_plan plan;
	enum search_until until;
	uint64_t nr, most, alone, clock;

	if (!e->leases)
		return ASK_LOOKED;
	/* what was promised where one task alone could be chosen says nothing of other points */
	if (e->status.quiet || (e->forced && !e->r))
		return ASK_UNPROMISED;
	/* nor of those behind a timer that has fired since */
	if (e->w->tasks[task].label.flags & ZUG_L_TIMER)
		return ASK_TIMER;
	/* a task that it wakes up may be the only one that can be chosen: one of the program's, or one that begins a thread */
	if (!e->r && e->nr_runtime && (e->begins || world_of_runtime(e->w, task)))
		return ASK_WORLD;
	/* callers are looked for where all tasks stand */
	if (e->x->steps >= e->callers_from)
		return ASK_LOOKED;
	/* and there progress is judged */
	most = at_most(progress_calm(&e->pc), e->callers_from - e->x->steps);
	/* or a task is on trial */
	if (may_hold(e) || e->on_trial)
		return ASK_HOLDS;
	if (may_use_destroyed(e, &most))
		return ASK_DESTROYED;
	most = at_most(at_most(most, before_misuse(e)), before_holding(e));
	clock = note_expiring(e, p, task);
	if (!clock)
		return ASK_TIMER;
	if (!e->r && e->yielded)
		return ASK_UNPROMISED;
	alone = e->r ? most : at_most(most, steps_before_starving(e, task));
	nr = at_most(search_promise(e->s, p, &until), alone);
	if (e->r) {
		nr = at_most(nr, replayed(e, task));
	} else if (e->nr_runtime) {
		nr = until == SEARCH_UNTIL_OWN ? at_most(nr, 1) : nr;
		until = SEARCH_UNTIL_WAKE;
	}
	give_yields(e, nr, alone);
	if (make_plan(e, p, task, &plan, most)) {
		plan_rounds(e, p, task, &plan);
		e->w->ops->lease(e->w, (uint32_t)nr, until, clock, e->r != NULL, &plan);
		return ASK_NR;
	}
	if (!nr)
		return ASK_UNPROMISED;
	e->w->ops->lease(e->w, (uint32_t)nr, until, clock, e->r != NULL, NULL);
	return ASK_NR;
}

void lease_give(struct engine *e, const struct search_point *p, uint32_t task)
{
	e->unleased = give(e, p, task);
	/* none of an earlier point */
	if (e->unleased != ASK_NR && e->leases)
		e->w->ops->lease(e->w, 0, SEARCH_UNTIL_CHANGE, 0, e->r != NULL, NULL);
}

/* ZUG_DEBUG=questions: for people who work on zugzwang itself. */
static void show_question(const struct engine *e, const struct search_point *p, uint32_t task, enum ask_cause cause)
{
	uint32_t last = p->last == SEARCH_NO_TASK ? SEARCH_NO_TASK : search_cand_of(p, p->last);
	struct search_stats stats;

	search_get_stats(e->s, &stats);
	fprintf(stderr, "question step %lu of %s, T%u", (unsigned long)e->x->steps, e->r ? "a replay" : stats.strategy, task);
	if (last < p->nr)
		fprintf(stderr, ", T%u stands before %s", p->last, zug_op_name(p->cand[last].label.op));
	fprintf(stderr, ": %s\n", ask_cause_name(cause));
}

void lease_note_question(struct engine *e, const struct search_point *p, uint32_t task)
{
	enum ask_cause cause = e->unleased;

	if (cause == ASK_NR)
		cause = e->w->ops->lease_ended ? e->w->ops->lease_ended(e->w) : ASK_WORLD;
	e->x->asked++;
	e->x->spent.causes[cause]++;
	if (e->o.show_questions)
		show_question(e, p, task, cause);
}
