/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "faults.h"

static const char *const names[FAULT_NR] = {
	[FAULT_ENOSPC] = "enospc", [FAULT_EINTR] = "eintr", [FAULT_ENOMEM] = "enomem",
	[FAULT_REFUSED] = "refused", [FAULT_KILL] = "kill", [FAULT_SHORT] = "short",
};

struct fault_plan {
	uint32_t task;
	uint64_t site;
	uint64_t nth, seen;	/* the how manieth step of the task at that site; of this execution so far */
	enum fault fault;
};

const char *fault_name(enum fault f)
{
	return names[f];
}

bool faults_parse(const char *text, uint32_t *mask)
{
	*mask = 0;
	while (*text) {
		size_t n = strcspn(text, ",");
		int i;

		for (i = 0; i < FAULT_NR; i++)
			if (strlen(names[i]) == n && !strncmp(names[i], text, n))
				break;
		if (i == FAULT_NR)
			return false;
		*mask |= 1u << i;
		text += n + (text[n] == ',');
	}
	return *mask;
}

int fault_of_op(unsigned int op)
{
	return op >= ZUG_OP_FAIL_ENOSPC && op < ZUG_OP_FAIL_ENOSPC + FAULT_NR ? (int)(op - ZUG_OP_FAIL_ENOSPC) : -1;
}

int faults_make_plan(struct faults *f, const struct trace *t)
{
	uint64_t nr = t ? trace_nr_steps(t) : 0;

	faults_free_plan(f);
	f->plan = malloc((nr + 1) * sizeof(*f->plan));
	if (!f->plan)
		return -ENOMEM;
	for (uint64_t i = 0; i < nr; i++) {
		const struct trace_step *s = trace_step(t, i);
		struct fault_plan p = { .task = s->task, .site = s->label.site };

		if (fault_of_op(s->label.op) < 0)
			continue;
		p.fault = fault_of_op(s->label.op);
		for (uint64_t k = 0; k < i; k++)
			p.nth += trace_step(t, k)->task == s->task && trace_step(t, k)->label.site == s->label.site;
		f->plan[f->nr_plan++] = p;
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
	f->nr = 0;
	for (size_t i = 0; i < f->nr_plan; i++)
		f->plan[i].seen = 0;
}

/* What the plan says of this step, or -1. */
static int planned(struct faults *f, uint32_t task, uint64_t site)
{
	int fault = -1;

	for (size_t i = 0; i < f->nr_plan; i++) {
		struct fault_plan *p = &f->plan[i];

		if (p->task == task && p->site == site && p->seen++ == p->nth)
			fault = p->fault;
	}
	return fault;
}

/* The search's answer: an enum fault, -1 for none, or another -errno. */
static int asked(struct faults *f, struct search *s, uint32_t possible)
{
	uint32_t nr = f->nr < f->max ? __builtin_popcount(possible) : 0;
	int value = search_choose_rare(s, nr + 1);

	if (value <= 0)
		return value < -1 ? value : -1;
	for (int i = 0; i < FAULT_NR; i++)
		if ((possible & 1u << i) && !--value)
			return i;
	return -1;
}

int faults_decide(struct faults *f, struct world *w, struct search *s, const struct trace_step *want, bool replay,
		  uint32_t task)
{
	struct world_task *t = &w->tasks[task];
	uint32_t possible;
	int fault, ret;

	if (!f->mask || t->state != TASK_PARKED)
		return 0;
	possible = w->ops->faults(w, t) & f->mask;
	if (f->plan)
		fault = planned(f, task, t->label.site);
	else if (replay)
		fault = want ? fault_of_op(want->label.op) : -1;
	else
		fault = possible ? asked(f, s, possible) : -1;
	if (fault < -1)
		return fault;
	if (fault < 0 || !(possible & 1u << fault))
		return 0;
	ret = w->ops->fault(w, t, fault);
	if (ret < 0)
		return ret;
	f->nr++;
	t->label.op = ZUG_OP_FAIL_ENOSPC + fault;
	t->label.flags |= zug_op_flags(t->label.op);
	return ret;
}
