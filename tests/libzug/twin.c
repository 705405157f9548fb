/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/zug/internal.h"
#define ZUG_PTHREAD_NO_NAMES
#include "lib/zug/zug_pthread.h"
#include "twin.h"

/* Task t of the twin is task t - 1 of what it is made of. */
void make_twin(struct twin *w, const struct model *from)
{
	uint32_t nr = from->nr_tasks, n = 0;

	memset(w, 0, sizeof(*w));
	w->model = *from;
	w->model.nr_tasks = nr + 1;
	w->model.nr_started = 1;
	memset(w->model.routine, 0, sizeof(w->model.routine));
	/* the first values of semaphores */
	for (int i = 0; i < MODEL_OBJECTS; i++)
		for (; w->model.sems[i]; w->model.sems[i]--)
			w->code[0][n++] = (struct model_step){ .op = M_SEM_POST, .a = (uint8_t)i };
	for (uint32_t t = 0; t < nr; t++)
		w->code[0][n++] = (struct model_step){ .op = M_FORK, .a = (uint8_t)(t + 1) };
	for (uint32_t t = 0; t < nr; t++)
		w->code[0][n++] = (struct model_step){ .op = M_JOIN, .a = (uint8_t)(t + 1) };
	w->code[0][n++] = (struct model_step){ .op = M_END };
	w->model.code[0] = w->code[0];
	w->model.len[0] = n;
	for (uint32_t t = 0; t < nr; t++) {
		struct model_step *to = w->code[t + 1];

		n = 0;
		to[n++] = (struct model_step){ .op = M_LOCAL };
		for (uint32_t i = 0; i < from->len[t]; i++) {
			to[n] = from->code[t][i];
			to[n++].to++;
		}
		to[n++] = (struct model_step){ .op = M_END };
		w->model.code[t + 1] = to;
		w->model.len[t + 1] = n;
		w->model.parent[t + 1] = 0;
	}
}

/* ---- the same by libzug ---- */

static const struct model *program;
int16_t twin_vars[MODEL_OBJECTS];
static char files[MODEL_TASKS][8], var_names[MODEL_OBJECTS][8];

static char locks[MODEL_OBJECTS], conds[MODEL_OBJECTS], sems[MODEL_OBJECTS];

static void interpret(void *arg)
{
	uint32_t t = (uint32_t)(size_t)arg, pc = 0;
	const struct model_step *code = program->code[t];
	const char *file = files[t];
	int16_t reg[MODEL_REGS] = { 0 };
	int ops[MODEL_TASKS] = { 0 };

	for (pc = t ? 1 : 0; pc < program->len[t]; pc++) {
		const struct model_step *o = &code[pc];
		int16_t r = reg[o->b % MODEL_REGS];
		int line = (int)pc + 1;

		switch (o->op) {
		case M_READ:
			zug_at_read(var_names[o->a], file, line, file);
			reg[o->b] = twin_vars[o->a];
			break;
		case M_WRITE:
			zug_at_write(var_names[o->a], file, line, file);
			twin_vars[o->a] = o->imm;
			break;
		case M_STORE:
			zug_at_write(var_names[o->a], file, line, file);
			twin_vars[o->a] = (int16_t)(r + o->imm);
			break;
		case M_LOCK:
			zug_at_mutex_lock(&locks[o->a], 0, "lock", file, line, file);
			break;
		case M_UNLOCK:
			zug_at_mutex_unlock(&locks[o->a], "lock", file, line, file);
			break;
		case M_TRYLOCK:
			reg[o->b] = zug_at_mutex_trylock(&locks[o->a], "lock", file, line, file) == 0;
			break;
		case M_WAIT:
			zug_at_cond_wait(&conds[o->a], &locks[o->b], 0, "cond", "lock", file, line, file);
			break;
		case M_SIGNAL:
		case M_BROADCAST:
			zug_at_cond_signal(&conds[o->a], o->op == M_BROADCAST, "cond", file, line, file);
			break;
		case M_SEM_WAIT:
			zug_at_sem_wait(&sems[o->a], ZUG_BLOCK, "sem", file, line, file);
			break;
		case M_SEM_POST:
			zug_at_sem_post(&sems[o->a], "sem", file, line, file);
			break;
		case M_YIELD:
			zug_at_yield(file, line, file);
			break;
		case M_CHOICE:
			reg[o->b] = (int16_t)zug_at_next_integer(o->imm, file, line, file);
			break;
		case M_FORK:
			ops[o->a] = zug_at_spawn(files[o->a], interpret, (void *)(size_t)o->a, file, line, file);
			break;
		case M_JOIN:
			if (zug_at_join_operation(ops[o->a], file, line, file))
				return;
			break;
		case M_END:
			/* the library makes the last step */
			return;
		case M_SET:
			reg[o->b] = o->imm;
			break;
		case M_JUMP:
			pc = o->to - 1u;
			break;
		case M_JUMP_NE:
			if (r != o->imm)
				pc = o->to - 1u;
			break;
		case M_JUMP_EQ:
			if (r == o->imm)
				pc = o->to - 1u;
			break;
		case M_ASSERT:
			if (r != o->imm)
				zug_at_fail("assertion", file, line, file);
			break;
		default:
			fprintf(stderr, "operation %u is not of these tests\n", o->op);
			abort();
		}
	}
}

void twin_execute(const struct model *m)
{
	program = m;
	memcpy(twin_vars, program->vars, sizeof(twin_vars));
	for (int i = 0; i < MODEL_TASKS; i++)
		snprintf(files[i], sizeof(files[i]), "T%d", i);
	for (int i = 0; i < MODEL_OBJECTS; i++)
		snprintf(var_names[i], sizeof(var_names[i]), "v%d", i);
	interpret(NULL);
}

bool twin_is_schedule(const uint32_t *order, uint64_t nr)
{
	if (z.log.nr_steps != nr)
		return false;
	for (uint32_t i = 0; i < nr; i++)
		if (z.log.steps[i].task != order[i])
			return false;
	return true;
}
