/* SPDX-License-Identifier: GPL-2.0-only */
#include <string.h>
#include "gen.h"

#define NR_LOCKS	2

struct writer {
	struct gen_program *p;
	struct rng *rng;
	unsigned int what;
	uint32_t task, len, nr_vars;
};

static uint32_t draw(struct writer *w, uint32_t n)
{
	return (uint32_t)rng_below(w->rng, n);
}

static struct model_step *emit(struct writer *w, enum model_op op, uint32_t a, uint32_t b,
			       int imm)
{
	struct model_step *s = &w->p->code[w->task][w->len++];

	*s = (struct model_step){
		.op = (uint8_t)op, .a = (uint8_t)a, .b = (uint8_t)b, .imm = (int16_t)imm,
	};
	return s;
}

static void emit_access(struct writer *w)
{
	uint32_t var = draw(w, w->nr_vars);

	switch (draw(w, 3)) {
	case 0:
		emit(w, M_READ, var, draw(w, MODEL_REGS), 0);
		break;
	case 1:
		emit(w, M_WRITE, var, 0, (int)draw(w, 3));
		break;
	default:
		emit(w, M_STORE, var, draw(w, MODEL_REGS), 1);
	}
}

/* One thing to do, of 'room' steps at most. Returns the number of steps that it took. */
static uint32_t emit_some(struct writer *w, uint32_t room)
{
	uint32_t from = w->len, kind = draw(w, 12), lock = draw(w, NR_LOCKS);
	struct model_step *jump;

	if (w->what & GEN_LOCKS && room >= 3 && kind < 3) {
		emit(w, M_LOCK, lock, 0, 0);
		if (room >= 5 && draw(w, 2)) {
			emit(w, M_LOCK, !lock, 0, 0);
			emit_access(w);
			emit(w, M_UNLOCK, !lock, 0, 0);
		} else if (w->what & GEN_CONDS && draw(w, 4) == 0) {
			emit(w, M_WAIT, 0, lock, 0);
			emit(w, M_UNLOCK, lock, 0, 0);
			return 4;
		} else {
			emit_access(w);
		}
		emit(w, M_UNLOCK, lock, 0, 0);
	} else if (w->what & GEN_CONDS && kind == 3) {
		emit(w, draw(w, 2) ? M_SIGNAL : M_BROADCAST, 0, 0, 0);
	} else if (w->what & GEN_SEMS && kind == 4) {
		emit(w, draw(w, 3) ? M_SEM_POST : M_SEM_WAIT, 0, 0, 0);
	} else if (w->what & GEN_TRYLOCK && room >= 3 && kind == 5) {
		emit(w, M_TRYLOCK, lock, 2, 0);
		jump = emit(w, M_JUMP_NE, 0, 2, 1);
		emit_access(w);
		emit(w, M_UNLOCK, lock, 0, 0);
		jump->to = (uint16_t)w->len;
		return 3;
	} else if (w->what & GEN_BRANCH && room >= 2 && kind == 6) {
		emit(w, M_READ, draw(w, w->nr_vars), 1, 0);
		jump = emit(w, M_JUMP_EQ, 0, 1, 0);
		emit_access(w);
		jump->to = (uint16_t)w->len;
		return 2;
	} else if (w->what & GEN_CHOICE && kind == 7) {
		emit(w, M_CHOICE, 0, draw(w, MODEL_REGS), 2);
	} else if (w->what & GEN_YIELD && kind == 8) {
		emit(w, M_YIELD, 0, 0, 0);
	} else {
		emit_access(w);
	}
	return w->len - from;
}

void gen_program(struct gen_program *p, struct rng *rng, unsigned int what, uint32_t max_tasks,
		 uint32_t max_steps, uint32_t nr_vars)
{
	struct writer w = { .p = p, .rng = rng, .what = what, .nr_vars = nr_vars };
	uint32_t nr = 2 + draw(&w, max_tasks - 1), each = max_steps / nr;
	bool fork = what & GEN_FORK && draw(&w, 3) == 0;

	memset(p, 0, sizeof(*p));
	p->model.name = "random";
	p->model.nr_tasks = nr;
	p->model.nr_started = fork ? 1 : nr;
	p->model.sems[0] = (int16_t)draw(&w, 3);
	for (uint32_t t = 0; t < nr; t++) {
		bool joined = fork && t == 1;
		uint32_t room = each > 4 ? 4 + draw(&w, each - 3) : each;

		if (room > GEN_CODE - 6)
			room = GEN_CODE - 6;
		w.task = t;
		w.len = 0;
		if (fork && !t)
			for (uint32_t u = 1; u < nr; u++)
				emit(&w, M_FORK, u, 0, 0);
		room = w.len + joined < room ? room - w.len - joined : 0;
		while (room) {
			uint32_t took = emit_some(&w, room);

			room -= took < room ? took : room;
			/* A join in the middle, so that something comes after it. */
			if (fork && !t && room == 1) {
				emit(&w, M_JOIN, 1, 0, 0);
				fork = false;
			}
		}
		if (what & GEN_END_ALL && !t)
			emit(&w, M_END_ALL, 0, 0, 0);
		else if (joined || (p->model.nr_started == 1 && t))
			emit(&w, M_END, 0, 0, 0);
		p->model.code[t] = p->code[t];
		p->model.len[t] = w.len;
	}
}
