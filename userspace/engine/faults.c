/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * faults.c - which calls have a fault (faults.h): as the search says, the trace that is
 * replayed, a script, or a plan
 *
 * faults_decide() is where to begin: it is called for every step, once its task has been chosen.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/faults.h"
#include "search/script.h"

static const uint16_t ops[FAULT_NR] = {
	[FAULT_ENOSPC] = ZUG_OP_FAIL_ENOSPC,
	[FAULT_EINTR] = ZUG_OP_FAIL_EINTR,
	[FAULT_ENOMEM] = ZUG_OP_FAIL_ENOMEM,
	[FAULT_REFUSED] = ZUG_OP_FAIL_REFUSED,
	[FAULT_KILL] = ZUG_OP_KILLED,
	[FAULT_SHORT] = ZUG_OP_SHORT_WRITE,
	[FLOW_SHORT_READ] = ZUG_OP_SHORT_READ,
	[FLOW_SHORT_WRITE] = ZUG_OP_SHORT_WRITE,
	[FLOW_STDIN] = ZUG_OP_SHORT_READ,
	[FLOW_LOSS] = ZUG_OP_LOST,
	[FLOW_REORDER] = ZUG_OP_REORDERED,
	[FLOW_DELAY] = ZUG_OP_DELAYED,
	[FAULT_SPURIOUS] = ZUG_OP_SPURIOUS,
};

/* The fault of a step. fault -1: it has none. */
struct happening {
	int fault;
	uint32_t amount;	/* 0: it has none */
};

struct fault_plan {
	uint32_t task;
	uint64_t site;
	uint64_t nth, seen;	/* ordinal of that step among those of the task at that site; these steps so far */
	uint16_t op;
	uint32_t amount;
	bool timer;		/* not a fault: a timer fires before the step */
};

int faults_of(uint32_t mask, unsigned int op)
{
	for (int i = 0; i < FAULT_NR; i++)
		if (mask & 1u << i && ops[i] == op)
			return i;
	return -1;
}

bool faults_decided(const struct trace_step *s)
{
	return zug_op_is_fault(s->label.op) || s->label.flags & ZUG_L_TIMER;
}

static void add_plan(struct faults *f, const struct fault_plan *p, bool timer)
{
	f->plan[f->nr_plan] = *p;
	f->plan[f->nr_plan++].timer = timer;
}

int faults_make_plan(struct faults *f, const struct trace *t, uint64_t without, bool gone)
{
	uint64_t nr = t ? trace_nr_steps(t) : 0;

	faults_free_plan(f);
	f->plan = malloc((2 * nr + 1) * sizeof(*f->plan));
	if (!f->plan)
		return -ENOMEM;
	for (uint64_t i = 0; i < nr; i++) {
		const struct trace_step *s = trace_step(t, i);
		struct fault_plan p = { .task = s->task, .site = s->label.site, .op = s->label.op,
					.amount = fault_amount(s->label.object2) };

		if (!faults_decided(s) || i == without)
			continue;
		for (uint64_t k = 0; k < i; k++)
			p.nth += trace_step(t, k)->task == s->task && trace_step(t, k)->label.site == s->label.site &&
				 !(gone && k == without);
		if (zug_op_is_fault(p.op))
			add_plan(f, &p, false);
		if (s->label.flags & ZUG_L_TIMER)
			add_plan(f, &p, true);
	}
	return 0;
}

void faults_free_plan(struct faults *f)
{
	free(f->plan);
	f->plan = NULL;
	f->nr_plan = 0;
}

void faults_begin(struct faults *f)
{
	f->nr = f->nr_flows = 0;
	for (size_t i = 0; i < f->nr_plan; i++)
		f->plan[i].seen = 0;
}

/* The entry of the plan that is due at this step of the task, or NULL. */
static const struct fault_plan *planned(struct faults *f, uint32_t task, uint64_t site, bool timer)
{
	const struct fault_plan *found = NULL;

	for (size_t i = 0; i < f->nr_plan; i++) {
		struct fault_plan *p = &f->plan[i];

		if (p->timer == timer && p->task == task && p->site == site && p->seen++ == p->nth)
			found = p;
	}
	return found;
}

/*
 * The fault that makes that operation, among those that are possible now, with as much as there is
 * now.
 */
static struct happening again(struct world *w, const struct world_task *t, uint32_t mask, unsigned int op,
			      uint32_t amount)
{
	struct happening h = { -1, amount };
	struct world_faults can;
	uint32_t most;

	w->ops->faults(w, t, mask, &can);
	h.fault = faults_of(can.possible, op);
	if (h.fault < 0 || !can.nr_amounts[h.fault])
		return h;
	/* the last is the most: of fewer bytes than were recorded all but one */
	most = can.amounts[h.fault][can.nr_amounts[h.fault] - 1];
	if (!amount || (h.fault != FLOW_DELAY && amount > most))
		h.amount = most;
	return h;
}

/* The search's answer among those that are possible. fault < -1: -errno. */
static struct happening asked(struct search *s, const struct world_faults *can)
{
	struct happening h = { -1, 0 };
	uint32_t nr = 0;
	int value;

	for (int i = 0; i < FAULT_NR; i++)
		if (can->possible & 1u << i)
			nr += can->nr_amounts[i] ? can->nr_amounts[i] : 1;
	value = search_choose_rare(s, nr + 1);
	if (value < -1)
		h.fault = value;
	for (int i = 0; i < FAULT_NR && value > 0; i++) {
		if (!(can->possible & 1u << i))
			continue;
		nr = can->nr_amounts[i];
		if ((uint32_t)value <= (nr ? nr : 1))
			h = (struct happening){ i, nr ? can->amounts[i][value - 1] : 0 };
		value -= nr ? nr : 1;
	}
	return h;
}

int faults_decide(struct faults *f, struct world *w, struct search *s, const struct trace_step *want, bool replay,
		  uint32_t task)
{
	struct world_task *t = &w->tasks[task];
	struct happening h = { -1, 0 };
	const struct fault_plan *p;
	struct world_faults can;
	uint32_t amount;
	unsigned int op;
	bool script = false;
	int ret;

	if (!f->mask || t->state != TASK_PARKED)
		return 0;
	if (f->plan) {
		p = planned(f, task, t->label.site, false);
		if (p)
			h = again(w, t, f->mask, p->op, p->amount);
	} else if (replay) {
		if (want && zug_op_is_fault(want->label.op))
			h = again(w, t, f->mask, want->label.op, fault_amount(want->label.object2));
	} else if (search_script_let(s, false, &op, &amount)) {
		script = true;
		h = again(w, t, f->mask, op, amount);
	} else {
		w->ops->faults(w, t, f->mask, &can);
		if (f->nr >= f->max)
			can.possible &= FLOWS;
		if (f->nr_flows >= f->max_flows)
			can.possible &= ~FLOWS;
		if (can.possible)
			h = asked(s, &can);
	}
	if (h.fault < 0)
		return h.fault < -1 ? h.fault : 0;
	ret = w->ops->inject(w, t, h.fault, h.amount);
	/* the world may have moved its tasks for a new one */
	t = &w->tasks[task];
	if (ret < 0)
		return ret;
	if (ret == WORLD_FAULT_MISSED)
		return 0;
	if (script)
		search_script_was_made(s, false);
	f->nr += !(FLOWS & 1u << h.fault);
	f->nr_flows += !!(FLOWS & 1u << h.fault);
	t->label.op = ops[h.fault];
	t->label.flags |= zug_op_flags(t->label.op);
	return ret;
}

int faults_timer(struct faults *f, struct world *w, struct search *s, const struct trace_step *want, bool replay,
		 uint32_t task)
{
	unsigned int op;
	uint32_t amount;

	if (f->plan)
		return planned(f, task, w->tasks[task].label.site, true) != NULL;
	if (replay)
		return want && want->label.flags & ZUG_L_TIMER;
	if (!search_script_let(s, true, &op, &amount))
		return search_choose_rare(s, 2);
	search_script_was_made(s, true);
	return 1;
}
