/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * safestack.c - Vyukov's SafeStack: three tasks take items from a lock-free stack, use them, and put
 * them back
 *
 * The algorithm was published with a question for its bug. It is used as a measure of how rare an order
 * a search can find (Thomson, Donaldson, Betts, TOPC 2016; SURW, ASPLOS 2025): no sampler but SURW is
 * known to find it. tests/programs/bench/safestack.c is the same program for the kernel.
 */
#include <errno.h>
#include <string.h>
#include "lib/label.h"
#include "tools/bench/safestack.h"

#define TASKS	3
#define ITEMS	3
#define ROUNDS	4

enum { COUNT, HEAD, NEXT, VALUE = NEXT + ITEMS, VARIABLES = VALUE + ITEMS };

/* Places of the code, each before one operation. */
enum place {
	POP_COUNT, POP_HEAD, POP_NEXT, POP_CAS, POP_TAKEN, POP_UNDO, USE_WRITE, USE_READ, PUSH_HEAD, PUSH_NEXT,
	PUSH_CAS, PUSH_DONE, WAIT, END
};

struct task {
	enum place at;
	int head, next, item, rounds;
};

struct state {
	int var[VARIABLES];
	struct task task[TASKS];
	bool failed;
};

static int object_of(const struct task *t)
{
	switch (t->at) {
	case POP_COUNT:
	case POP_TAKEN:
	case PUSH_DONE:
		return COUNT;
	case POP_NEXT:
	case POP_UNDO:
		return NEXT + t->head;
	case PUSH_NEXT:
		return NEXT + t->item;
	case USE_WRITE:
	case USE_READ:
		return VALUE + t->item;
	default:
		return HEAD;
	}
}

static uint16_t op_of(enum place at)
{
	switch (at) {
	case WAIT:
		return ZUG_OP_YIELD;
	case POP_COUNT:
	case POP_HEAD:
	case PUSH_HEAD:
		return ZUG_OP_ATOMIC_LOAD;
	case PUSH_NEXT:
		return ZUG_OP_ATOMIC_STORE;
	case USE_WRITE:
		return ZUG_OP_DATA_WRITE;
	case USE_READ:
		return ZUG_OP_DATA_READ;
	default:
		return ZUG_OP_ATOMIC_RMW;
	}
}

static struct zug_label label_of(const struct task *t)
{
	uint16_t op = op_of(t->at);
	struct zug_label l = { .op = op, .site = 1 + t->at, .flags = zug_op_flags(op) };

	if (t->at != WAIT)
		l.object = 1 + object_of(t);
	return l;
}

static bool swap(int *var, int expected, int desired)
{
	if (*var != expected)
		return false;
	*var = desired;
	return true;
}

static void step(struct state *s, uint32_t task)
{
	struct task *t = &s->task[task];
	int *var = &s->var[object_of(t)], old = *var;

	switch (t->at++) {
	case POP_COUNT:
		t->at = old > 1 ? POP_HEAD : WAIT;
		break;
	case POP_HEAD:
	case PUSH_HEAD:
		t->head = old;
		break;
	case POP_NEXT:
		t->next = old;
		*var = -1;
		t->at = old >= 0 ? POP_CAS : POP_COUNT;
		break;
	case POP_CAS:
		t->item = t->head;
		t->at = swap(var, t->head, t->next) ? POP_TAKEN : POP_UNDO;
		break;
	case POP_TAKEN:
		--*var;
		t->at = USE_WRITE;
		break;
	case POP_UNDO:
		*var = t->next;
		t->at = POP_COUNT;
		break;
	case USE_WRITE:
		*var = (int)task;
		break;
	case USE_READ:
		s->failed |= old != (int)task;
		break;
	case PUSH_NEXT:
		*var = t->head;
		break;
	case PUSH_CAS:
		if (!swap(var, t->head, t->item)) {
			t->head = old;
			t->at = PUSH_NEXT;
		}
		break;
	case PUSH_DONE:
		++*var;
		t->at = ++t->rounds == ROUNDS ? END : POP_COUNT;
		break;
	default:
		t->at = POP_COUNT;
	}
}

static void start(struct state *s)
{
	memset(s, 0, sizeof(*s));
	s->var[COUNT] = ITEMS;
	for (int i = 0; i < ITEMS; i++) {
		s->var[NEXT + i] = i + 1 < ITEMS ? i + 1 : -1;
		s->var[VALUE + i] = -1;
	}
}

bool safestack_fails(struct search *s)
{
	struct search_cand cand[TASKS];
	struct search_point p = { .last = SEARCH_NO_TASK, .cand = cand };
	struct state st;
	int i = 0;

	start(&st);
	if (search_begin(s) != SEARCH_GO)
		return false;
	for (;;) {
		p.nr = 0;
		for (uint32_t t = 0; t < TASKS; t++)
			if (st.task[t].at != END)
				cand[p.nr++] = (struct search_cand){ .task = t, .parent = SEARCH_NO_TASK, .enabled = true,
								     .label = label_of(&st.task[t]) };
		if (!p.nr || st.failed)
			break;
		p.enabled = NULL;
		i = search_pick(s, &p);
		if (i == -ESTALE)
			i = search_pick(s, &p);
		if (i < 0)
			break;
		p.last = cand[i].task;
		p.yielded = cand[i].label.op == ZUG_OP_YIELD;
		p.step++;
		step(&st, cand[i].task);
	}
	search_end(s, &(struct search_end){ .result = i < 0 ? SEARCH_ABANDONED : st.failed ? SEARCH_FAIL : SEARCH_PASS,
					    .failure = st.failed });
	return st.failed;
}
