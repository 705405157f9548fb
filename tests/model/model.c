/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "search/rng.h"
#include "model.h"

/* Ids of objects: the kind above, the number below. */
enum { LOCKS = 1, CONDS, SEMS, VARS, TASKS };
#define OBJECT(kind, nr)	((uint64_t)(kind) << 32 | ((nr) + 1))

/* Silent operations up to the next step or the end. */
static void settle(const struct model *m, struct model_state *s, uint32_t t)
{
	struct model_task *task = &s->task[t];

	while (task->pc < m->len[t]) {
		const struct model_step *o = &m->code[t][task->pc];
		int16_t reg = task->reg[o->b % MODEL_REGS];

		switch (o->op) {
		case M_SET:
			task->reg[o->b] = o->imm;
			break;
		case M_JUMP:
			task->pc = o->to;
			continue;
		case M_JUMP_NE:
			if (reg != o->imm) {
				task->pc = o->to;
				continue;
			}
			break;
		case M_JUMP_EQ:
			if (reg == o->imm) {
				task->pc = o->to;
				continue;
			}
			break;
		case M_ASSERT:
			if (reg != o->imm && !s->failed)
				s->failed = (uint16_t)(1 + t * 256 + task->pc);
			break;
		default:
			return;
		}
		task->pc++;
	}
	task->status = TASK_ENDED;
}

void model_start(const struct model *m, struct model_state *s)
{
	memset(s, 0, sizeof(*s));
	memcpy(s->vars, m->vars, sizeof(s->vars));
	memcpy(s->sems, m->sems, sizeof(s->sems));
	memset(s->owner, 0xff, sizeof(s->owner));
	s->last = SEARCH_NO_TASK;
	for (uint32_t t = 0; t < m->nr_started; t++) {
		s->task[t].status = TASK_LIVE;
		settle(m, s, t);
	}
}

static const struct model_step *next(const struct model *m, const struct model_state *s,
				     uint32_t t)
{
	return &m->code[t][s->task[t].pc];
}

struct zug_label model_label(const struct model *m, const struct model_state *s, uint32_t t)
{
	static const struct { uint16_t op; uint8_t kind; } map[] = {
		[M_LOCK] = { ZUG_OP_LOCK, LOCKS }, [M_UNLOCK] = { ZUG_OP_UNLOCK, LOCKS },
		[M_TRYLOCK] = { ZUG_OP_TRYLOCK, LOCKS }, [M_WAIT] = { ZUG_OP_COND_WAIT, CONDS },
		[M_SIGNAL] = { ZUG_OP_COND_SIGNAL, CONDS },
		[M_BROADCAST] = { ZUG_OP_COND_BROADCAST, CONDS },
		[M_SEM_WAIT] = { ZUG_OP_SEM_WAIT, SEMS }, [M_SEM_POST] = { ZUG_OP_SEM_POST, SEMS },
		[M_READ] = { ZUG_OP_DATA_READ, VARS }, [M_WRITE] = { ZUG_OP_DATA_WRITE, VARS },
		[M_STORE] = { ZUG_OP_DATA_WRITE, VARS }, [M_YIELD] = { ZUG_OP_YIELD, 0 },
		[M_TRYWAIT] = { ZUG_OP_SEM_TRYWAIT, SEMS }, [M_LOOK] = { ZUG_OP_POINT, 0 },
		[M_WANT] = { ZUG_OP_BEGIN, 0 }, [M_TAKE] = { ZUG_OP_BEGIN, 0 }, [M_GIVE] = { ZUG_OP_BEGIN, 0 },
		[M_LOCAL] = { ZUG_OP_BEGIN, 0 }, [M_EXEC] = { ZUG_OP_EXEC, TASKS }, [M_FORK] = { ZUG_OP_CREATE, TASKS },
		[M_JOIN] = { ZUG_OP_JOIN, TASKS }, [M_CHOICE] = { ZUG_OP_CHOICE, 0 },
		[M_END] = { ZUG_OP_END, TASKS }, [M_END_ALL] = { ZUG_OP_END, 0 },
	};
	const struct model_step *o = next(m, s, t);
	struct zug_label l = {
		.op = map[o->op].op,
		.site = (uint64_t)(m->routine[t] ? m->routine[t] - 1 : t) << 16 | (s->task[t].pc + 1u),
	};

	if (map[o->op].kind)
		l.object = OBJECT(map[o->op].kind, o->op == M_END ? t : o->a);
	if (o->op == M_WAIT) {
		l.object2 = OBJECT(LOCKS, o->b);
		if (s->task[t].waits || s->task[t].relock)
			l.op = ZUG_OP_RESUME;
	}
	if (map[o->op].kind == VARS && m->atomic >> o->a & 1)
		l.op = l.op == ZUG_OP_DATA_READ ? ZUG_OP_ATOMIC_LOAD : ZUG_OP_ATOMIC_STORE;
	l.flags = (uint16_t)(zug_op_flags(l.op) | (o->op == M_END_ALL ? ZUG_L_ENDS_ALL : 0));
	if (l.op == ZUG_OP_RESUME)
		l.flags = ZUG_L_WRITE | ZUG_L_ACQUIRE;
	if (o->op == M_LOOK || (map[o->op].kind == VARS && m->own >> o->a & 1))
		l.flags |= ZUG_L_OWN;
	return l;
}

bool model_enabled(const struct model *m, const struct model_state *s, uint32_t t)
{
	const struct model_task *task = &s->task[t];
	const struct model_step *o;

	if (task->status != TASK_LIVE || task->waits)
		return false;
	o = next(m, s, t);
	switch (o->op) {
	case M_LOCK:
	case M_TAKE:
		return s->owner[o->a] < 0;
	case M_LOOK:
		return !task->gave || s->owner[o->a] < 0;
	case M_WAIT:
		return !task->relock || s->owner[o->b] < 0;
	case M_SEM_WAIT:
		return s->sems[o->a] > 0;
	case M_JOIN:
		return s->task[o->a].status == TASK_ENDED;
	}
	return true;
}

uint32_t model_values(const struct model *m, const struct model_state *s, uint32_t t)
{
	const struct model_step *o = next(m, s, t);

	return o->op == M_CHOICE ? (uint32_t)o->imm : 1;
}

static void wake(const struct model *m, struct model_state *s, uint8_t cond, bool all)
{
	for (;;) {
		uint32_t first = SEARCH_NO_TASK;

		for (uint32_t t = 0; t < m->nr_tasks; t++)
			if (s->task[t].status == TASK_LIVE && s->task[t].waits &&
			    next(m, s, t)->a == cond &&
			    (first == SEARCH_NO_TASK || s->ticket[t] < s->ticket[first]))
				first = t;
		if (first == SEARCH_NO_TASK)
			return;
		s->task[first].waits = false;
		s->task[first].relock = true;
		if (!all)
			return;
	}
}

/* The lock goes to the first task that stands before it, which is behind that step then, and t waits for it. */
static void give_away(const struct model *m, struct model_state *s, uint32_t t, uint8_t lock)
{
	uint32_t to = 0;

	if (!s->wanted[lock])
		return;
	s->wanted[lock] = false;
	while (to < m->nr_tasks && (to == t || s->task[to].status != TASK_LIVE || next(m, s, to)->op != M_TAKE ||
				    next(m, s, to)->a != lock))
		to++;
	if (to == m->nr_tasks)
		return;
	s->owner[lock] = (int16_t)to;
	s->task[to].pc++;
	settle(m, s, to);
	s->task[t].gave = true;
}

void model_step(const struct model *m, struct model_state *s, uint32_t t, int16_t value)
{
	struct model_task *task = &s->task[t];
	const struct model_step *o = next(m, s, t);

	s->last = t;
	s->yielded = o->op == M_YIELD;
	switch (o->op) {
	case M_LOCK:
	case M_TAKE:
		s->owner[o->a] = (int16_t)t;
		break;
	case M_UNLOCK:
	case M_GIVE:
		s->owner[o->a] = -1;
		break;
	case M_TRYLOCK:
		task->reg[o->b] = s->owner[o->a] < 0;
		if (s->owner[o->a] < 0)
			s->owner[o->a] = (int16_t)t;
		break;
	case M_WAIT:
		if (!task->relock) {
			s->owner[o->b] = -1;
			s->ticket[t] = s->queue_end[o->a]++;
			task->waits = true;
			return;
		}
		task->relock = false;
		s->owner[o->b] = (int16_t)t;
		break;
	case M_SIGNAL:
	case M_BROADCAST:
		wake(m, s, o->a, o->op == M_BROADCAST);
		break;
	case M_SEM_WAIT:
		s->sems[o->a]--;
		break;
	case M_SEM_POST:
		s->sems[o->a]++;
		break;
	case M_TRYWAIT:
		task->reg[o->b] = s->sems[o->a] > 0;
		s->sems[o->a] -= s->sems[o->a] > 0;
		break;
	case M_LOOK:
		if (s->task[t].gave) {
			s->task[t].gave = false;
			s->owner[o->a] = (int16_t)t;
			break;
		}
		give_away(m, s, t, o->a);
		if (s->task[t].gave)
			return;
		break;
	case M_WANT:
		s->wanted[o->a] = true;
		break;
	case M_READ:
		task->reg[o->b] = s->vars[o->a];
		break;
	case M_WRITE:
		s->vars[o->a] = o->imm;
		break;
	case M_STORE:
		s->vars[o->a] = (int16_t)(task->reg[o->b] + o->imm);
		break;
	case M_FORK:
		s->task[o->a].status = TASK_LIVE;
		settle(m, s, o->a);
		break;
	case M_CHOICE:
		task->reg[o->b] = value;
		break;
	case M_END:
		task->status = TASK_ENDED;
		return;
	case M_END_ALL:
		for (uint32_t u = 0; u < m->nr_tasks; u++)
			s->task[u].status = TASK_ENDED;
		return;
	}
	task->pc++;
	settle(m, s, t);
}

uint32_t model_cands(const struct model *m, const struct model_state *s, struct search_cand *cand,
		     uint32_t *nr_enabled)
{
	uint32_t nr = 0, enabled = 0;

	for (uint32_t t = 0; t < m->nr_tasks; t++) {
		if (s->task[t].status != TASK_LIVE)
			continue;
		cand[nr].task = t;
		cand[nr].parent = t < m->nr_started ? SEARCH_NO_TASK : m->parent[t];
		cand[nr].enabled = model_enabled(m, s, t);
		cand[nr].label = model_label(m, s, t);
		enabled += cand[nr++].enabled;
	}
	*nr_enabled = enabled;
	return nr;
}

bool model_over(const struct model *m, const struct model_state *s)
{
	for (uint32_t t = 0; t < m->nr_tasks && !s->failed; t++)
		if (s->task[t].status == TASK_LIVE && model_enabled(m, s, t))
			return false;
	return true;
}

static bool deadlocked(const struct model *m, const struct model_state *s)
{
	for (uint32_t t = 0; t < m->nr_tasks; t++)
		if (s->task[t].status == TASK_LIVE)
			return !s->failed;
	return false;
}

uint64_t model_outcome(const struct model *m, const struct model_state *s)
{
	uint64_t h = mix64(s->failed + 1u) + deadlocked(m, s);

	/* Of a failed execution only the failure counts: others were cut at any place. */
	if (s->failed)
		return h;
	for (int i = 0; i < MODEL_OBJECTS; i++)
		h = mix64(h + (uint16_t)s->vars[i]);
	for (uint32_t t = 0; t < m->nr_tasks; t++) {
		h = mix64(h + s->task[t].pc);
		for (int i = 0; i < MODEL_REGS; i++)
			h = mix64(h + (uint16_t)s->task[t].reg[i]);
	}
	return h;
}

/* Ids as of objects on the heap. */
struct numbering {
	uint64_t of[TASKS][MODEL_OBJECTS];	/* by kind and number, 0: not used yet */
	uint64_t nr[MODEL_TASKS];		/* by task */
};

static uint64_t *id_of(struct numbering *n, uint64_t object)
{
	return object && object >> 32 < TASKS ? &n->of[object >> 32][(object & UINT32_MAX) - 1] : NULL;
}

/* Of an object that no task has used yet: the id that it will have when this task is the first. */
static void number(struct numbering *n, struct search_cand *c)
{
	uint64_t *ids[2] = { id_of(n, c->label.object), id_of(n, c->label.object2) };
	uint64_t *objects[2] = { &c->label.object, &c->label.object2 };
	uint64_t nr = n->nr[c->task];

	for (int i = 0; i < 2; i++)
		if (ids[i])
			*objects[i] = *ids[i] ? *ids[i] : zug_object_numbered(c->task, nr++);
}

static void use(struct numbering *n, const struct zug_label *was, const struct search_cand *c)
{
	uint64_t *ids[2] = { id_of(n, was->object), id_of(n, was->object2) };
	uint64_t objects[2] = { c->label.object, c->label.object2 };

	for (int i = 0; i < 2; i++)
		if (ids[i] && !*ids[i]) {
			*ids[i] = objects[i];
			n->nr[c->task]++;
		}
}

static int model_go(const struct model *m, struct search *s, struct model_state *st,
		    struct model_result *r, uint32_t *order, uint64_t max_order)
{
	struct search_cand cand[MODEL_TASKS];
	struct search_point p = { .cand = cand };
	struct numbering ids = { 0 };

	for (;;) {
		uint32_t enabled, values;
		int i, value = 0;

		p.nr = model_cands(m, st, cand, &enabled);
		for (uint32_t k = 0; k < p.nr && m->numbered; k++)
			number(&ids, &cand[k]);
		p.step = r->steps;
		p.last = st->last;
		p.yielded = st->yielded;
		if (!enabled || st->failed) {
			search_final(s, &p);
			return 0;
		}
		i = search_pick(s, &p);
		if (i == -ESTALE)
			i = search_pick(s, &p);
		if (i < 0)
			return i;
		if (m->numbered) {
			const struct zug_label was = model_label(m, st, cand[i].task);

			use(&ids, &was, &cand[i]);
		}
		values = model_values(m, st, cand[i].task);
		if (values > 1)
			value = search_choose(s, values);
		if (value < 0)
			return value;
		if (order && r->steps < max_order)
			order[r->steps] = cand[i].task;
		model_step(m, st, cand[i].task, (int16_t)value);
		r->steps++;
	}
}

/* ret: what search_begin() or its like has answered. */
static int run(const struct model *m, struct search *s, int ret, struct model_result *r, uint32_t *order,
	       uint64_t max_order)
{
	struct model_state st;
	struct search_end end;

	memset(r, 0, sizeof(*r));
	if (ret != SEARCH_GO)
		return ret;
	model_start(m, &st);
	r->error = model_go(m, s, &st, r, order, max_order);
	r->cut = r->error != 0;
	r->deadlock = !r->cut && deadlocked(m, &st);
	r->failed = !r->cut && (st.failed || r->deadlock);
	r->outcome = r->cut ? 0 : model_outcome(m, &st);
	end.result = r->cut ? SEARCH_ABANDONED : r->failed ? SEARCH_FAIL : SEARCH_PASS;
	end.failure = r->failed ? r->outcome : 0;
	search_end(s, &end);
	return SEARCH_GO;
}

int model_run(const struct model *m, struct search *s, struct model_result *r, uint32_t *order,
	      uint64_t max_order)
{
	return run(m, s, search_begin(s), r, order, max_order);
}

int model_run_apart(const struct model *m, struct search *s, struct model_result *r, uint32_t *order,
		    uint64_t max_order)
{
	return run(m, s, search_begin_apart(s), r, order, max_order);
}

int model_run_base(const struct model *m, struct search *s, struct model_result *r)
{
	return run(m, s, search_begin_base(s), r, NULL, 0);
}

bool model_fail(const struct model *m, uint64_t seed, int executions, struct model_result *r, uint32_t *order,
		uint64_t max_order)
{
	struct search *s = model_search("random", seed, 1);

	memset(r, 0, sizeof(*r));
	while (!r->failed && executions--)
		model_run(m, s, r, order, max_order);
	search_free(s);
	return r->failed;
}

void model_object_name(uint64_t object, char *name)
{
	snprintf(name, 16, "%c%u", object >> 32 == LOCKS ? 'm' : 'v', (unsigned int)(object & 0xffff) - 1);
}

bool model_is_on(void *ctx, uint64_t object, const char *pattern)
{
	char name[16];

	(void)ctx;
	model_object_name(object, name);
	return !strcmp(name, pattern);
}

bool model_is_in(void *ctx, uint64_t site, const char *pattern)
{
	char name[16];

	(void)ctx;
	snprintf(name, sizeof(name), "f%u", (unsigned int)(site >> 16));
	return !strcmp(name, pattern);
}

struct search *model_search(const char *strategy, uint64_t seed, uint32_t fair)
{
	struct search_options o = {
		.strategy = strategy, .seed = seed, .fair = fair, .max_steps = 20000,
		.preemptions = -1,
	};
	char err[512];
	struct search *s = search_new(&o, err, sizeof(err));

	if (s)
		return s;
	fprintf(stderr, "%s: %s\n", strategy, err);
	abort();
}
