/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * model_plan.c - how a task of a model world goes on under a lease, and where a plan gives the turn, as the kernel side does
 * it (bpf/points.bpf.h, bpf/plan.bpf.h)
 */
#include "search/access.h"
#include "search/rng.h"
#include "model_world_internal.h"

/* Other tasks may go on by their time-outs than when the lease began, or a timer is to fire. */
static bool alarm_due(const struct mw_state *s)
{
	return s->clock >= s->lease_clock;
}

/* A lease or a plan can go over such an operation, if its lock allows that. */
static bool is_plain(const struct model_world *m, const struct mw_op *o)
{
	switch (o->op) {
	case W_LOCK: case W_SPIN_LOCK: case W_SEM_WAIT: case W_UNLOCK: case W_SPIN_UNLOCK: case W_WAIT: case W_TIMED_WAIT:
	case W_TRYLOCK: case W_TIMEDLOCK: case W_SIGNAL: case W_BROADCAST: case W_SEM_POST: case W_SEM_TIMED:
	case W_READ: case W_WRITE: case W_STORE: case W_LOCAL: case W_CREATE:
		return true;
	case W_INIT:
		return m->s->known;
	case W_LEAVE:
		return !m->w.ends_stop;
	}
	return false;
}

/* An operation at one of the places at which the engine wants every task to stop. */
static bool is_stop(const struct model_world *m, uint32_t t)
{
	uint64_t site = mw_site(t, m->s->task[t].pc);

	return site == m->w.stops_at[0] || site == m->w.stops_at[1];
}

/* What is known of the operation before which a task stands: struct zug_pass. */
static bool may_pass(const struct model_world *m, uint32_t t)
{
	const struct mw_state *s = m->s;
	const struct mw_op *o = &m->p->code[t][s->task[t].pc];

	switch (o->op) {
	case W_LOCK:
		return s->owner[o->a] == WORLD_NO_TASK || (m->p->blind && s->owner[o->a] != t);
	case W_SPIN_LOCK:
		return s->owner[o->a] == WORLD_NO_TASK;
	case W_SEM_WAIT:
		return m->p->blind || s->sems[o->a];
	case W_UNLOCK:
	case W_SPIN_UNLOCK:
		return s->owner[o->a] == t;
	case W_WAIT:
	case W_TIMED_WAIT:
		return s->owner[o->b] == t;
	}
	return is_plain(m, o) && !is_stop(m, t);
}

/* What other tasks stand before has changed: W_LOCK, W_SEM_WAIT and their kin. */
static bool is_changed(const struct model_world *m, uint32_t t)
{
	const struct mw_state *s = m->s;

	for (uint32_t i = 0; i < MW_TASKS; i++) {
		const struct mw_op *o = &m->p->code[i][s->task[i].pc];

		if (i == t || s->task[i].life != READY)
			continue;
		if ((o->op == W_LOCK || o->op == W_SPIN_LOCK) && s->owner[o->a] != s->leased.owner[o->a])
			return true;
		if ((o->op == W_WAIT || o->op == W_TIMED_WAIT) && s->owner[o->b] != s->leased.owner[o->b])
			return true;
		if (o->op == W_SEM_WAIT && s->sems[o->a] != s->leased.sems[o->a])
			return true;
	}
	return false;
}

bool mw_is_leased(struct model_world *m, uint32_t t)
{
	struct mw_state *s = m->s;

	bool yields = s->yields && m->p->code[t][s->task[t].pc].op == W_YIELD;

	if (s->until == SEARCH_UNTIL_OWN ? s->created : s->until != SEARCH_UNTIL_DONE && s->woken)
		s->lease = 0;
	if (!s->lease || alarm_due(s) || (!may_pass(m, t) && !yields) || s->nr > MW_MAX_QUEUE || mw_next_happening(m) <= m->now ||
	    (s->until == SEARCH_UNTIL_CHANGE && is_changed(m, t)))
		s->lease = 0;
	/* the yield itself is one of them, too */
	if (s->lease && yields) {
		s->yields--;
		s->lease = m->w.yield_points + 1;
	}
	/* it ends behind that point */
	if (s->lease && s->until == SEARCH_UNTIL_OWN && mw_label_of(m, t).flags & ZUG_L_OWN)
		s->lease = 1;
	return s->lease;
}

/* ---- plans: as bpf/plan.bpf.h ---- */

/* Its time-out may be over: it is enabled, but not handed the turn. */
static bool may_expire(const struct model_world *m, uint32_t t)
{
	return m->s->task[t].life == BLOCKED && m->s->task[t].deadline && m->w.tasks[t].expires;
}

/* A task that waits for nothing. */
static bool is_enabled(const struct model_world *m, uint32_t t)
{
	const struct mw_op *o = &m->p->code[t][m->s->task[t].pc];

	if (may_expire(m, t))
		return true;
	if (m->s->task[t].life != READY)
		return false;
	if (m->s->task[t].fresh || (o->op != W_LOCK && o->op != W_SPIN_LOCK && o->op != W_SEM_WAIT))
		return true;
	return may_pass(m, t) || (m->p->blind && o->op != W_SPIN_LOCK);
}

/* Of a task that the plan has not, too: it has come since. */
static uint64_t plan_weight(const struct world_plan *plan, uint32_t task)
{
	for (uint32_t i = 0; i < plan->nr_weights; i++)
		if (plan->weights[i].task == task && plan->weights[i].weight)
			return plan->weights[i].weight;
	return plan->rule.least;
}

bool mw_plan_looks(const struct mw_state *s)
{
	const struct search_rule *r = &s->plan.rule;

	return (r->by == SEARCH_BY_TURNS && r->writes) || r->by == SEARCH_BY_STEPS || r->by == SEARCH_BY_ORDER ||
	       r->by == SEARCH_BY_SELECTION || r->nr_constraints;
}

/* The next of the runs. */
static uint32_t run_step(struct mw_state *s)
{
	while (s->run < s->plan.nr_runs && !s->plan.runs[s->run].steps)
		s->run++;
	if (s->run == s->plan.nr_runs)
		return WORLD_NO_TASK;
	s->plan.runs[s->run].steps--;
	return s->plan.runs[s->run].task;
}

/* The last task goes on with its turn. */
static bool owes_step(const struct search_rule *r)
{
	return !r->begun || (r->owed && !(r->writes && r->wrote));
}

/* That task makes a step of its turn, or begins another one; its rank says that it has had one. */
static void turn_step(struct mw_state *s, uint32_t task, bool same)
{
	struct search_rule *r = &s->plan.rule;
	struct rng rng = { .state = r->state };

	if (same) {
		r->owed -= r->begun;
		return;
	}
	r->owed = r->turn - 1;
	if (r->begun && !s->ranks[task] && !rng_below(&rng, 2))
		r->owed += rng_below(&rng, r->ahead);
	s->ranks[task] |= r->begun;
	r->state = rng.state;
}

void mw_plan_counts(struct mw_state *s, uint32_t task)
{
	struct world_plan *plan = &s->plan;

	if (plan->rule.by == SEARCH_BY_TURNS)
		turn_step(s, task, owes_step(&plan->rule));
	if (plan->rule.by == SEARCH_BY_DIFFERENCES || plan->rule.by == SEARCH_BY_QUOTAS) {
		run_step(s);
		s->ranks[task]++;
	}

	if (plan->rule.by == SEARCH_BY_PENDING)
		s->ranks[task] = 0;
	for (uint32_t i = 0; i < plan->nr_weights && plan->rule.by == SEARCH_BY_DRAWS; i++)
		if (plan->weights[i].task == task)
			plan->weights[i].weight -= plan->rule.step < plan->weights[i].weight ? plan->rule.step :
						   plan->weights[i].weight;
}

void mw_plan_born(struct mw_state *s, uint32_t task, uint32_t parent)
{
	struct world_plan *plan = &s->plan;
	struct rng rng = { .state = plan->rule.state };
	uint32_t its = 0, from = 0;

	if (!plan->rule.shares)
		return;
	while (its < plan->nr_weights && plan->weights[its].task != task)
		its++;
	while (from < plan->nr_weights && plan->weights[from].task != parent)
		from++;
	if (its == plan->nr_weights || from == plan->nr_weights) {
		s->lease = 0;
		return;
	}
	if (plan->rule.intended == parent && plan->weights[from].weight &&
	    rng_below(&rng, plan->weights[from].weight) < plan->weights[its].weight)
		plan->rule.intended = task;
	plan->rule.state = rng.state;
	plan->weights[from].weight -= plan->weights[its].weight < plan->weights[from].weight ? plan->weights[its].weight :
											  plan->weights[from].weight;
}

void mw_plan_goes_on(struct mw_state *s, uint32_t task)
{
	struct world_plan *plan = &s->plan;

	if (plan->calm == WORLD_CALM_ALWAYS)
		return;
	plan->calm -= !!plan->calm;
	s->rounds[task] -= !!s->rounds[task];
	plan->same = task == s->holder ? plan->same - !!plan->same : plan->longest;
	s->holder = task;
	if (!plan->same || (!s->rounds[task] && !plan->calm))
		s->lease = 0;
}

/* Which of the enabled tasks is chosen by their ranks. */
static uint32_t ranked_step(struct model_world *m, const bool *on)
{
	struct search_rule *r = &m->s->plan.rule;
	struct rng rng = { .state = r->state };
	uint64_t *rank = m->s->ranks;
	uint32_t best = MW_TASKS;

	if (m->s->choices == r->choices)
		return WORLD_NO_TASK;
	m->s->choices++;
	for (uint32_t t = 0; t < MW_TASKS; t++) {
		if (!on[t])
			continue;
		if (!rank[t])
			rank[t] = rank_draw(&rng);
		if (best == MW_TASKS || rank[t] > rank[best])
			best = t;
	}
	r->state = rng.state;
	for (uint32_t i = 0; i < r->nr_changes; i++)
		if (r->changes[i].at == m->s->choices)
			rank[best] = rank[best] < SEARCH_RANK_ZERO ? --r->lowest : SEARCH_RANK_ZERO + r->changes[i].rank;
	return best;
}

/* The operation of task i, where task t has come to a point, and the others stand. */
static struct zug_label label_next(struct model_world *m, uint32_t t, uint32_t i)
{
	struct zug_label l = i == t && m->s->task[t].life == READY ? mw_label_of(m, t) : m->s->task[i].shown.label;

	if (may_expire(m, i)) {
		l.op = ZUG_OP_EXPIRE;
		l.flags |= zug_op_flags(ZUG_OP_EXPIRE);
	}
	return l;
}

/* Which of them has the turn behind task t. */
static uint32_t turned_step(struct model_world *m, uint32_t t, const bool *on, uint32_t nr)
{
	struct mw_state *s = m->s;
	struct search_rule *r = &s->plan.rule;
	struct zug_label l;
	uint32_t next = t;
	bool same;

	if (nr > 1 && s->choices++ == r->choices)
		return WORLD_NO_TASK;
	r->begun |= !on[t];
	same = on[t] && owes_step(r);
	if (!same)
		do
			next = (next + 1) % MW_TASKS;
		while (!on[next]);
	turn_step(s, next, same);
	l = label_next(m, t, next);
	r->wrote = r->writes && access_writes(&l);
	return next;
}

static struct access access_next(struct model_world *m, uint32_t t, uint32_t i)
{
	struct zug_label l = label_next(m, t, i);

	return access_of(&l);
}

static bool is_operation(const struct zug_label *l, const struct search_operation *o)
{
	return l->site == o->site && l->op == o->op && access_of(l).object[0] == o->object;
}

static bool is_pending(struct model_world *m, uint32_t t, const struct search_operation *o)
{
	for (uint32_t i = 0; i < MW_TASKS; i++) {
		struct zug_label l = label_next(m, t, i);

		if ((m->s->task[i].life == READY || m->s->task[i].life == BLOCKED) && is_operation(&l, o) && l.object == o->object)
			return true;
	}
	return false;
}

/* How much the constraints want the operation of task i: wish() of guided.c. */
static int wish(struct model_world *m, uint32_t t, uint32_t i)
{
	const struct search_rule *r = &m->s->plan.rule;
	struct zug_label l = label_next(m, t, i);
	struct access a = access_of(&l);
	int sum = 0;

	for (uint32_t n = 0; n < r->nr_constraints; n++) {
		const struct search_constraint *c = &r->constraints[n];

		if (m->s->met[n])
			continue;
		if (is_operation(&l, &c->access))
			sum += c->wrote == c->see ? c->see : -1;
		else if (is_operation(&l, &c->write) && is_pending(m, t, &c->access))
			sum += c->see ? 1 : -1;
		else if (c->see && c->wrote && a.write && a.object[0] == c->write.object)
			sum--;
	}
	return (sum > 0) - (sum < 0);
}

/* Task i makes its operation: which constraints that meets. */
static void meet(struct model_world *m, uint32_t t, uint32_t i)
{
	struct search_rule *r = &m->s->plan.rule;
	struct zug_label l = label_next(m, t, i);
	struct access a = access_of(&l);

	for (uint32_t n = 0; n < r->nr_constraints; n++) {
		struct search_constraint *c = &r->constraints[n];

		m->s->met[n] |= is_operation(&l, &c->access) && c->wrote == c->see;
		if (a.write && a.object[0] == c->write.object)
			c->wrote = is_operation(&l, &c->write);
	}
}

static bool depends(struct model_world *m, uint32_t t, uint32_t i, uint32_t other)
{
	struct access a = access_next(m, t, i), b = access_next(m, t, other);

	return access_dependent(&a, &b);
}

/* Which of them has the operation with the highest priority. */
static uint32_t pending_step(struct model_world *m, uint32_t t, const bool *on, uint32_t nr)
{
	struct search_rule *r = &m->s->plan.rule;
	struct rng rng = { .state = r->state };
	uint64_t *prio = m->s->ranks;
	uint32_t best = r->base && on[t] ? t : MW_TASKS;
	int most = 0;

	for (uint32_t i = 0; i < MW_TASKS && !(r->base && on[t]); i++) {
		if (!on[i])
			continue;
		if (nr > 1 && !prio[i])
			prio[i] = rng_next(&rng) | 1;
		if (best == MW_TASKS || wish(m, t, i) > most || (wish(m, t, i) == most && prio[i] > prio[best])) {
			best = i;
			most = wish(m, t, i);
		}
	}
	r->state = rng.state;
	if (best < MW_TASKS)
		meet(m, t, best);
	for (uint32_t i = 0; i < MW_TASKS && best < MW_TASKS; i++)
		if (i == best || (prio[i] && depends(m, t, best, i)))
			prio[i] = 0;
	return best == MW_TASKS ? WORLD_NO_TASK : best;
}

/* Which of them is chosen by the base scheduler, behind task t. */
static uint32_t base_step(uint32_t t, const bool *on)
{
	while (!on[t])
		t = (t + 1) % MW_TASKS;
	return t;
}

/* Which of them a difference says, or the base scheduler. */
static uint32_t differing_step(struct mw_state *s, uint32_t t, const bool *on)
{
	const struct search_rule *r = &s->plan.rule;
	uint32_t next = base_step(t, on), ahead = run_step(s);

	if (ahead == WORLD_NO_TASK && !r->base)
		return WORLD_NO_TASK;
	for (uint32_t i = 0; i < r->nr_order && ahead == WORLD_NO_TASK; i++) {
		const struct search_difference *d = &r->differences[i];

		if (d->task != t || d->nth != s->ranks[t])
			continue;
		if (d->next == SEARCH_NO_TASK)
			return WORLD_NO_TASK;
		if (d->next >= MW_TASKS || !on[d->next])
			continue;
		next = d->next;
		break;
	}
	if (ahead < MW_TASKS && on[ahead])
		next = ahead;
	s->ranks[next]++;
	return next;
}

/* Which of them has the first quota that is open, or the base scheduler says. */
static uint32_t quota_step(struct mw_state *s, uint32_t t, const bool *on)
{
	const struct search_rule *r = &s->plan.rule;
	uint32_t next = WORLD_NO_TASK;

	for (uint32_t i = 0; i < r->nr_order && next == WORLD_NO_TASK; i++) {
		const struct search_quota *q = &r->quotas[i];

		if (q->task < MW_TASKS && on[q->task] && s->ranks[q->task] < q->steps)
			next = q->task;
	}
	if (next == WORLD_NO_TASK && r->base)
		next = base_step(t, on);
	if (next != WORLD_NO_TASK)
		s->ranks[next]++;
	return next;
}

/* Which of them was chosen in advance, or is by the base scheduler, behind task t. */
static uint32_t chosen_step(struct model_world *m, uint32_t t, const bool *on)
{
	uint32_t task = run_step(m->s);

	if (task != WORLD_NO_TASK)
		return task < MW_TASKS && on[task] ? task : WORLD_NO_TASK;
	return m->s->plan.rule.base ? base_step(t, on) : WORLD_NO_TASK;
}

/* Which of them is drawn by their weights. */
static uint32_t drawn_step(struct mw_state *s, const bool *on)
{
	struct world_plan *plan = &s->plan;
	struct rng rng = { .state = plan->rule.state };
	uint64_t sum = 0, at;
	uint32_t nr = 0;

	for (uint32_t t = 0; t < MW_TASKS; t++) {
		sum += on[t] ? plan_weight(plan, t) : 0;
		nr += on[t];
	}
	at = nr > 1 ? rng_below(&rng, sum) : 0;
	plan->rule.state = rng.state;
	for (uint32_t t = 0; t < MW_TASKS; t++) {
		if (!on[t])
			continue;
		if (at < plan_weight(plan, t)) {
			mw_plan_counts(s, t);
			return t;
		}
		at -= plan_weight(plan, t);
	}
	return WORLD_NO_TASK;
}

static bool selects(struct model_world *m, uint32_t t, uint32_t i)
{
	struct access a = access_next(m, t, i);

	return a.object[0] == m->s->plan.rule.object || a.object[1] == m->s->plan.rule.object;
}

/* Of those of the plan's tasks that are enabled the place of one, drawn by their weights; or that one. */
static uint32_t intended_step(struct world_plan *plan, struct rng *rng, const bool *on, uint32_t otherwise)
{
	uint64_t sum = 0, at;

	for (uint32_t i = 0; i < plan->nr_weights; i++)
		sum += on[plan->weights[i].task] ? plan->weights[i].weight : 0;
	at = sum ? rng_below(rng, sum) : 0;
	for (uint32_t i = 0; i < plan->nr_weights && sum; i++) {
		if (!on[plan->weights[i].task])
			continue;
		if (at < plan->weights[i].weight)
			return i;
		at -= plan->weights[i].weight;
	}
	return otherwise;
}

static void release_all(struct world_plan *plan)
{
	for (uint32_t i = 0; i < plan->nr_weights; i++)
		plan->weights[i].held = false;
	plan->rule.intended = SEARCH_NO_TASK;
}

/* Of those of the plan's tasks that are enabled and not held the place of the one with the highest priority; or nr_weights. */
static uint32_t highest_step(struct world_plan *plan, struct rng *rng, const bool *on)
{
	uint32_t best = plan->nr_weights;

	for (uint32_t i = 0; i < plan->nr_weights; i++) {
		if (!on[plan->weights[i].task] || plan->weights[i].held)
			continue;
		if (!plan->weights[i].priority)
			plan->weights[i].priority = rng_next(rng) | 1;
		if (best == plan->nr_weights || plan->weights[i].priority > plan->weights[best].priority)
			best = i;
	}
	return best;
}

/* Which of them is chosen where operations on one object have an order of their own: pick_selectively() of surw.c. */
static uint32_t selected_step(struct model_world *m, uint32_t t, const bool *on, uint32_t nr)
{
	struct world_plan *plan = &m->s->plan;
	struct rng rng = { .state = plan->rule.state };
	uint32_t i = 0;

	if (!nr)
		return WORLD_NO_TASK;
	while (nr == 1 && !on[plan->weights[i].task])
		i++;
	while (nr > 1) {
		i = highest_step(plan, &rng, on);
		if (i == plan->nr_weights) {
			release_all(plan);
			continue;
		}
		if (!selects(m, t, plan->weights[i].task))
			break;
		if (plan->rule.intended == SEARCH_NO_TASK)
			plan->rule.intended = plan->weights[intended_step(plan, &rng, on, i)].task;
		if (plan->rule.intended == plan->weights[i].task)
			break;
		plan->weights[i].held = true;
	}
	plan->rule.state = rng.state;
	plan->weights[i].priority = 0;
	if (selects(m, t, plan->weights[i].task)) {
		plan->weights[i].weight -= plan->rule.step < plan->weights[i].weight ? plan->rule.step : plan->weights[i].weight;
		release_all(plan);
	}
	return plan->weights[i].task;
}

static bool is_ordered(const struct zug_label *l, uint32_t task, const struct search_ordered *o)
{
	return l->site == o->site && l->op == o->op && (l->site || task == o->task);
}

/* Who makes the next step of the order. */
static uint32_t ordered_step(struct model_world *m, uint32_t t, const bool *on)
{
	struct search_rule *r = &m->s->plan.rule;
	uint32_t *at = &m->s->run, next;
	struct zug_label l;

	if (*at == r->nr_order)
		return WORLD_NO_TASK;
	if (r->owed && on[t]) {
		r->owed--;
		next = t;
	} else {
		r->owed = 0;
		next = r->order[*at].task;
		if (next >= MW_TASKS || !on[next])
			return WORLD_NO_TASK;
	}
	l = label_next(m, t, next);
	for (uint32_t k = *at; k < r->nr_order && r->order[k].task == r->order[*at].task; k++)
		if (is_ordered(&l, next, &r->order[k])) {
			*at = k + 1;
			break;
		}
	for (uint32_t k = *at; !r->owed && k < r->nr_order && r->order[k].task == next; k++)
		if (k + 1 == r->nr_order || r->order[k + 1].task != next)
			r->owed = k + 1 - *at;
	return next;
}

/* It goes on behind its wait, and looks only then whether it has to wait again. */
static bool is_woken(const struct model_world *m, uint32_t t)
{
	return m->s->task[t].life == READY && m->s->task[t].shown.label.op == ZUG_OP_RESUME;
}

uint32_t mw_planned_step(struct model_world *m, uint32_t t)
{
	struct mw_state *s = m->s;
	uint32_t nr = 0, only = WORLD_NO_TASK, next;
	bool on[MW_TASKS];

	if (s->plan.rule.by == SEARCH_BY_STEPS) {
		next = run_step(s);
		return next == WORLD_NO_TASK && s->plan.rule.base ? t : next;
	}
	for (uint32_t i = 0; i < MW_TASKS; i++) {
		on[i] = is_enabled(m, i) || (i != t && is_woken(m, i));
		nr += on[i];
		only = on[i] ? i : only;
	}
	if (s->plan.rule.by == SEARCH_BY_ORDER)
		return ordered_step(m, t, on);
	if (s->plan.rule.by == SEARCH_BY_DRAWS)
		return drawn_step(s, on);
	if (s->plan.rule.by == SEARCH_BY_PENDING)
		return pending_step(m, t, on, nr);
	if (s->plan.rule.by == SEARCH_BY_SELECTION)
		return selected_step(m, t, on, nr);
	if (s->plan.rule.by == SEARCH_BY_TURNS)
		return nr ? turned_step(m, t, on, nr) : WORLD_NO_TASK;
	if (s->plan.rule.by == SEARCH_BY_DIFFERENCES)
		return nr ? differing_step(s, t, on) : WORLD_NO_TASK;
	if (s->plan.rule.by == SEARCH_BY_QUOTAS)
		return nr ? quota_step(s, t, on) : WORLD_NO_TASK;
	if (nr < 2)
		return only;
	return s->plan.rule.by == SEARCH_BY_RANKS ? ranked_step(m, on) : chosen_step(m, t, on);
}

uint32_t mw_follow_plan(struct model_world *m, uint32_t t)
{
	struct mw_state *s = m->s;
	uint32_t to = WORLD_NO_TASK;

	if (s->until != SEARCH_UNTIL_DONE && s->woken)
		s->lease = 0;
	if (s->lease && !alarm_due(s) && s->nr <= MW_MAX_QUEUE && mw_next_happening(m) > m->now &&
	    (s->task[t].life != READY || (is_plain(m, op_of(m, t)) && !is_stop(m, t))))
		to = mw_planned_step(m, t);
	if (to != WORLD_NO_TASK && to != t &&
	    (s->task[to].life != READY || !is_enabled(m, to) ||
	     !(s->task[to].fresh || (is_plain(m, op_of(m, to)) && may_pass(m, to)))))
		to = WORLD_NO_TASK;
	if (to == t && !may_pass(m, t))
		to = WORLD_NO_TASK;
	if (to == WORLD_NO_TASK)
		s->lease = 0;
	return to;
}
