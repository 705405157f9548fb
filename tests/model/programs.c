/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "programs.h"

#define MAX_CODE	512

static struct model_step *add(struct program *p, uint32_t t, enum model_op op, uint32_t a,
			      uint32_t b, int imm)
{
	struct model_step *s;

	if (!p->code[t]) {
		p->code[t] = calloc(MAX_CODE, sizeof(*s));
		if (!p->code[t])
			abort();
		p->model.code[t] = p->code[t];
	}
	if (p->model.len[t] == MAX_CODE)
		abort();
	s = &p->code[t][p->model.len[t]++];
	*s = (struct model_step){ (uint8_t)op, (uint8_t)a, (uint8_t)b, (int16_t)imm, 0 };
	return s;
}

/* Steps that concern a variable of the task's own. */
static void noise(struct program *p, uint32_t t, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		add(p, t, M_WRITE, 16 + t % 8, 0, (int)i);
}

static void reorder(struct program *p, uint32_t n)
{
	struct model_step *none;

	for (uint32_t t = 0; t < n; t++) {
		add(p, t, M_WRITE, 0, 0, 1);
		add(p, t, M_WRITE, 1, 0, 1);
	}
	add(p, n, M_READ, 0, 0, 0);
	add(p, n, M_READ, 1, 1, 0);
	none = add(p, n, M_JUMP_EQ, 0, 0, 0);
	add(p, n, M_ASSERT, 0, 1, 1);
	none->to = (uint16_t)p->model.len[n];
	p->model.nr_tasks = n + 1;
}

static void twostage(struct program *p, uint32_t n)
{
	struct model_step *none;

	for (uint32_t t = 0; t < n; t++) {
		add(p, t, M_LOCK, 0, 0, 0);
		add(p, t, M_WRITE, 0, 0, 1);
		add(p, t, M_UNLOCK, 0, 0, 0);
		add(p, t, M_LOCK, 1, 0, 0);
		add(p, t, M_WRITE, 1, 0, 2);
		add(p, t, M_UNLOCK, 1, 0, 0);
	}
	add(p, n, M_LOCK, 0, 0, 0);
	add(p, n, M_READ, 0, 0, 0);
	add(p, n, M_UNLOCK, 0, 0, 0);
	none = add(p, n, M_JUMP_EQ, 0, 0, 0);
	add(p, n, M_LOCK, 1, 0, 0);
	add(p, n, M_READ, 1, 1, 0);
	add(p, n, M_UNLOCK, 1, 0, 0);
	add(p, n, M_ASSERT, 0, 1, 2);
	none->to = (uint16_t)p->model.len[n];
	p->model.nr_tasks = n + 1;
}

static void philosophers(struct program *p, uint32_t n)
{
	for (uint32_t t = 0; t < n; t++) {
		add(p, t, M_LOCK, t, 0, 0);
		add(p, t, M_LOCK, (t + 1) % n, 0, 0);
		add(p, t, M_UNLOCK, (t + 1) % n, 0, 0);
		add(p, t, M_UNLOCK, t, 0, 0);
	}
	p->model.nr_tasks = n;
}

static void lostupdate(struct program *p, uint32_t n)
{
	for (uint32_t t = 0; t < 2; t++) {
		noise(p, t, n);
		add(p, t, M_READ, 0, 0, 0);
		add(p, t, M_STORE, 0, 0, 1);
		noise(p, t, n);
		add(p, t, M_END, 0, 0, 0);
	}
	add(p, 2, M_JOIN, 0, 0, 0);
	add(p, 2, M_JOIN, 1, 0, 0);
	add(p, 2, M_READ, 0, 0, 0);
	add(p, 2, M_ASSERT, 0, 0, 2);
	p->model.nr_tasks = 3;
}

/*
 * n tasks read a number and yield before they write it back with one more, so that it fails without a preemption; with
 * three or more no single pair of operations can be reversed so that it passes. They write another variable, too.
 */
static void clerks(struct program *p, uint32_t n)
{
	for (uint32_t t = 0; t < n; t++) {
		for (int i = 0; i < 4; i++)
			add(p, t, M_WRITE, 1, 0, i);
		add(p, t, M_READ, 0, 0, 0);
		add(p, t, M_YIELD, 0, 0, 0);
		add(p, t, M_STORE, 0, 0, 1);
		add(p, t, M_END, 0, 0, 0);
	}
	for (uint32_t t = 0; t < n; t++)
		add(p, n, M_JOIN, t, 0, 0);
	add(p, n, M_READ, 0, 0, 0);
	add(p, n, M_ASSERT, 0, 0, (int)n);
	p->model.nr_tasks = n + 1;
}

static void abba(struct program *p, uint32_t n)
{
	for (uint32_t t = 0; t < 2; t++) {
		noise(p, t, n);
		add(p, t, M_LOCK, t, 0, 0);
		add(p, t, M_LOCK, !t, 0, 0);
		add(p, t, M_UNLOCK, !t, 0, 0);
		add(p, t, M_UNLOCK, t, 0, 0);
		noise(p, t, n);
	}
	p->model.nr_tasks = 2;
}

/*
 * Task 0 writes 1, 2, 3, ... into x, one of a long row of steps each; task 1 has
 * to read every odd one in turn. Each hand-over is one ordering constraint.
 */
static void chain(struct program *p, uint32_t n)
{
	struct model_step *out[64];
	uint32_t nr = 0, reads = (n + 1) / 2;

	for (uint32_t i = 0; i < reads; i++) {
		noise(p, 0, 3);
		add(p, 0, M_WRITE, 0, 0, (int)(2 * i + 1));
		add(p, 0, M_WRITE, 0, 0, (int)(2 * i + 2));
		noise(p, 0, 3);
		noise(p, 1, 3);
		add(p, 1, M_READ, 0, 0, 0);
		out[nr++] = add(p, 1, M_JUMP_NE, 0, 0, (int)(2 * i + 1));
	}
	add(p, 1, M_ASSERT, 0, 2, 1);
	while (nr)
		out[--nr]->to = (uint16_t)p->model.len[1];
	p->model.nr_tasks = 2;
}

/*
 * Two tasks take numbers, and one goes in before the other when both have the same: Lamport's bakery, in which they do
 * not say that they choose. Each has to stand still while the other makes all steps up to a place; n more steps before.
 */
static void bakery(struct program *p, uint32_t n)
{
	enum { INSIDE, NUMBER, CHOOSING = NUMBER + 2 };

	for (uint32_t t = 0; t < 2; t++) {
		uint32_t other = !t, wait;
		struct model_step *none, *own, *greater;

		noise(p, t, n);
		add(p, t, M_READ, NUMBER + other, 0, 0);
		add(p, t, M_STORE, NUMBER + t, 0, 1);
		add(p, t, M_WRITE, CHOOSING + t, 0, 0);
		add(p, t, M_READ, CHOOSING + other, 0, 0);
		wait = p->model.len[t];
		add(p, t, M_READ, NUMBER + other, 0, 0);
		none = add(p, t, M_JUMP_EQ, 0, 0, 0);
		add(p, t, M_READ, NUMBER + other, 0, 0);
		add(p, t, M_READ, NUMBER + t, 1, 0);
		/* numbers are 1 or 2; task 0 waits for a smaller one, task 1 for the same, too */
		own = add(p, t, M_JUMP_EQ, 0, 1, t ? 2 : 1);
		greater = add(p, t, M_JUMP_EQ, 0, 0, 2);
		if (t)
			own->to = (uint16_t)p->model.len[t];
		add(p, t, M_YIELD, 0, 0, 0);
		add(p, t, M_JUMP, 0, 0, 0)->to = (uint16_t)wait;
		if (!t)
			own->to = (uint16_t)p->model.len[t];
		none->to = greater->to = (uint16_t)p->model.len[t];
		add(p, t, M_TRYLOCK, INSIDE, 0, 0);
		add(p, t, M_ASSERT, 0, 0, 1);
		add(p, t, M_UNLOCK, INSIDE, 0, 0);
		add(p, t, M_WRITE, NUMBER + t, 0, 0);
	}
	p->model.nr_tasks = 2;
}

static void window(struct program *p, uint32_t n)
{
	struct model_step *none;

	noise(p, 0, n);
	add(p, 0, M_WRITE, 0, 0, 1);
	add(p, 0, M_WRITE, 0, 0, 0);
	noise(p, 0, n);
	add(p, 1, M_READ, 0, 0, 0);
	none = add(p, 1, M_JUMP_EQ, 0, 0, 0);
	add(p, 1, M_ASSERT, 0, 0, 0);
	none->to = (uint16_t)p->model.len[1];
	p->model.nr_tasks = 2;
}

static void lostwakeup(struct program *p, uint32_t n)
{
	struct model_step *set;

	noise(p, 0, n);
	add(p, 0, M_READ, 0, 0, 0);
	set = add(p, 0, M_JUMP_EQ, 0, 0, 1);
	add(p, 0, M_LOCK, 0, 0, 0);
	add(p, 0, M_WAIT, 0, 0, 0);
	add(p, 0, M_UNLOCK, 0, 0, 0);
	set->to = (uint16_t)p->model.len[0];
	noise(p, 1, n);
	add(p, 1, M_WRITE, 0, 0, 1);
	add(p, 1, M_LOCK, 0, 0, 0);
	add(p, 1, M_SIGNAL, 0, 0, 0);
	add(p, 1, M_UNLOCK, 0, 0, 0);
	p->model.nr_tasks = 2;
}

/* n tasks wait for a gate that the last one opens: it signals one of them. */
static void gate(struct program *p, uint32_t n)
{
	for (uint32_t t = 0; t < n; t++) {
		add(p, t, M_LOCK, 0, 0, 0);
		add(p, t, M_READ, 0, 0, 0);
		add(p, t, M_JUMP_EQ, 0, 0, 1)->to = 5;
		add(p, t, M_WAIT, 0, 0, 0);
		add(p, t, M_JUMP, 0, 0, 0)->to = 1;
		add(p, t, M_UNLOCK, 0, 0, 0);
	}
	add(p, n, M_LOCK, 0, 0, 0);
	add(p, n, M_WRITE, 0, 0, 1);
	add(p, n, M_SIGNAL, 0, 0, 0);
	add(p, n, M_UNLOCK, 0, 0, 0);
	p->model.nr_tasks = n + 1;
}

/* A task yields n times for a flag, and gives up then: under a fair scheduler it never does. */
static void impatient(struct program *p, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		add(p, 0, M_READ, 0, 0, 0);
		add(p, 0, M_JUMP_EQ, 0, 0, 1)->to = (uint16_t)(3 * n + 1);
		add(p, 0, M_YIELD, 0, 0, 0);
	}
	add(p, 0, M_ASSERT, 0, 0, 1);
	noise(p, 1, 2);
	add(p, 1, M_WRITE, 0, 0, 1);
	p->model.nr_tasks = 2;
}

static void spin(struct program *p, uint32_t n)
{
	for (uint32_t t = 0; t < n; t++) {
		add(p, t, M_READ, 0, 0, 0);
		add(p, t, M_JUMP_EQ, 0, 0, 1)->to = 4;
		add(p, t, M_YIELD, 0, 0, 0);
		add(p, t, M_JUMP, 0, 0, 0)->to = 0;
	}
	noise(p, n, 2);
	add(p, n, M_WRITE, 0, 0, 1);
	p->model.nr_tasks = n + 1;
}

static void lines(struct program *p, uint32_t n)
{
	for (uint32_t t = 0; t < 3; t++)
		for (uint32_t i = 0; i < n; i++)
			add(p, t, M_WRITE, 0, 0, (int)i);
	p->model.nr_tasks = 3;
}

static void values(struct program *p, uint32_t n)
{
	for (uint32_t t = 0; t < 2; t++) {
		add(p, t, M_CHOICE, 0, 0, (int)n);
		add(p, t, M_STORE, 0, 0, 0);
	}
	p->model.nr_tasks = 2;
}

struct program *program_new(const char *family, uint32_t n)
{
	static const struct {
		const char *name;
		void (*make)(struct program *p, uint32_t n);
	} families[] = {
		{ "reorder", reorder }, { "twostage", twostage },
		{ "philosophers", philosophers }, { "lostupdate", lostupdate }, { "clerks", clerks },
		{ "abba", abba }, { "chain", chain }, { "window", window },
		{ "lostwakeup", lostwakeup }, { "bakery", bakery }, { "spin", spin }, { "lines", lines },
		{ "values", values }, { "gate", gate }, { "impatient", impatient },
	};
	struct program *p;

	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		if (strcmp(families[i].name, family))
			continue;
		p = calloc(1, sizeof(*p));
		if (!p)
			abort();
		families[i].make(p, n);
		p->model.nr_started = p->model.nr_tasks;
		snprintf(p->name, sizeof(p->name), "%s-%u", family, n);
		p->model.name = p->name;
		return p;
	}
	return NULL;
}

static bool same_code(const struct model *m, uint32_t t, uint32_t u)
{
	if (m->len[t] != m->len[u])
		return false;
	for (uint32_t i = 0; i < m->len[t]; i++) {
		const struct model_step *a = &m->code[t][i], *b = &m->code[u][i];

		if (a->op != b->op || a->b != b->b || a->imm != b->imm || a->to != b->to)
			return false;
	}
	return true;
}

void program_share_places(struct program *p)
{
	struct model *m = &p->model;

	for (uint32_t t = 1; t < m->nr_tasks; t++)
		for (uint32_t u = 0; u < t && !m->routine[t]; u++)
			if (same_code(m, t, u))
				m->routine[t] = u + 1;
}

void program_free(struct program *p)
{
	if (!p)
		return;
	for (uint32_t t = 0; t < MODEL_TASKS; t++)
		free(p->code[t]);
	free(p);
}

/* The one of the two that reads; the other writes. */
static uint32_t reader(enum shell_affairs affairs)
{
	return affairs != SHELL_LOOKS_FIRST;
}

/* Its step that reads. */
static uint32_t read_at(enum shell_affairs affairs)
{
	return affairs == SHELL_LOOKS_FIRST ? 0 : SHELL_AFFAIRS;
}

static struct zug_label label_of_shell(uint32_t task, uint32_t n, enum shell_affairs affairs)
{
	bool reads = task == reader(affairs), own = reads ? n != read_at(affairs) : n < SHELL_AFFAIRS;
	struct zug_label l = { .op = own ? ZUG_OP_SIGACTION : reads ? ZUG_OP_ATOMIC_LOAD : ZUG_OP_ATOMIC_STORE,
			       .object = own ? 100 + task : 1, .site = (uint64_t)(task + 1) << 32 | n };

	if (affairs == SHELL_HANDLES && task && n < SHELL_AFFAIRS) {
		l.op = ZUG_OP_HANDLER;
		l.object = 100;
	}
	if (affairs == SHELL_CLOSES && n < SHELL_AFFAIRS) {
		l.op = task ? ZUG_OP_CLOSE : ZUG_OP_READ;
		l.object = 200 + n;
	}
	if (affairs == SHELL_SLEEPS && n < SHELL_AFFAIRS) {
		l.op = task ? ZUG_OP_SIGNAL_WAIT : ZUG_OP_EXPIRE;
		l.object = 0;
	}
	l.flags = zug_op_flags(l.op);
	return l;
}

bool shells_run(struct search *s, int begun, uint32_t *order, enum shell_affairs affairs)
{
	const uint32_t reads = reader(affairs), writes = !reads;
	const uint32_t len[2] = { SHELL_AFFAIRS + 1 + (writes == 0), SHELL_AFFAIRS + 1 + (writes == 1) };
	struct search_point p = { .last = SEARCH_NO_TASK };
	struct search_end end = { .result = SEARCH_PASS };
	struct search_cand cand[2];
	uint32_t done[2] = { 0 };
	bool between = false;

	if (begun != SEARCH_GO)
		return false;
	for (; done[0] < len[0] || done[1] < len[1]; p.step++) {
		int i;

		p.nr = 0;
		for (uint32_t t = 0; t < 2; t++)
			if (done[t] < len[t])
				cand[p.nr++] = (struct search_cand){ .task = t, .parent = SEARCH_NO_TASK, .enabled = true,
								     .label = label_of_shell(t, done[t], affairs) };
		p.cand = cand;
		i = search_pick(s, &p);
		if (i < 0) {
			end.result = SEARCH_ABANDONED;
			break;
		}
		p.last = cand[i].task;
		if (order)
			order[p.step] = p.last;
		between |= p.last == reads && done[reads] == read_at(affairs) && done[writes] == SHELL_AFFAIRS + 1;
		done[p.last]++;
	}
	if (between && end.result == SEARCH_PASS)
		end = (struct search_end){ .result = SEARCH_FAIL, .failure = 1 };
	search_end(s, &end);
	return between;
}
