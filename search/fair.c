/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fair.c - the fair scheduler (fair.h)
 *
 * For each task t that has yielded, four sets of tasks are kept:
 *	behind	the relation P: t may not run while one of these is enabled
 *	E	continuously enabled since t's last yield
 *	D	disabled by a step of t since t's last yield
 *	S	scheduled since t's last yield
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "search/fair.h"
#include "search/rng.h"
#include "search/search.h"

enum { BEHIND, E, D, S, NR_SETS };

struct fair_task {
	uint32_t task;
	uint32_t yields;
};

int fair_init(struct fair *f, uint32_t every)
{
	memset(f, 0, sizeof(*f));
	f->every = every;
	f->words = 1;
	f->enabled = calloc(1, sizeof(*f->enabled));
	f->before = calloc(1, sizeof(*f->before));
	return f->enabled && f->before ? 0 : -ENOMEM;
}

void fair_fini(struct fair *f)
{
	free(f->yielders);
	free(f->bits);
	free(f->enabled);
	free(f->before);
	memset(f, 0, sizeof(*f));
}

void fair_reset(struct fair *f)
{
	f->nr_yielders = 0;
	f->hash = 0;
}

static uint64_t *set(const struct fair *f, uint32_t yielder, int which)
{
	return f->bits + ((size_t)yielder * NR_SETS + which) * f->words;
}

static bool has(const uint64_t *bits, uint32_t task)
{
	return bits[task / 64] >> (task % 64) & 1;
}

static void put(uint64_t *bits, uint32_t task)
{
	bits[task / 64] |= 1ull << (task % 64);
}

/* Make every set hold tasks below 64 * words, and have room for that many yielders. */
static int resize(struct fair *f, uint32_t words, uint32_t room)
{
	uint64_t *bits = calloc((size_t)room * NR_SETS * words, sizeof(*bits));
	uint64_t *enabled = calloc(words, sizeof(*enabled)), *before = calloc(words, sizeof(*before));
	struct fair_task *yielders = realloc(f->yielders, (room + 1) * sizeof(*yielders));

	if (yielders)
		f->yielders = yielders;
	if (!bits || !enabled || !before || !yielders) {
		free(bits);
		free(enabled);
		free(before);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < f->nr_yielders * NR_SETS; i++)
		memcpy(bits + (size_t)i * words, f->bits + (size_t)i * f->words,
		       f->words * sizeof(*bits));
	memcpy(enabled, f->enabled, f->words * sizeof(*enabled));
	free(f->bits);
	free(f->enabled);
	free(f->before);
	f->bits = bits;
	f->enabled = enabled;
	f->before = before;
	f->words = words;
	f->room = room;
	return 0;
}

static uint64_t edge(uint32_t task, uint32_t other)
{
	return mix64(((uint64_t)task << 32 | other) + 0x70726f67ull);
}

static int add_yielder(struct fair *f, uint32_t task)
{
	uint32_t i = f->nr_yielders;

	if (i == f->room && resize(f, f->words, f->room ? f->room * 2 : 4))
		return -ENOMEM;
	memset(set(f, i, 0), 0, NR_SETS * f->words * sizeof(*f->bits));
	f->yielders[i] = (struct fair_task){ .task = task };
	f->nr_yielders++;
	return 0;
}

static void yield(struct fair *f, uint32_t i)
{
	struct fair_task *y = &f->yielders[i];
	uint64_t *p = set(f, i, BEHIND), *e = set(f, i, E), *d = set(f, i, D), *s = set(f, i, S);

	if (++y->yields % f->every)
		return;
	/* Before that nothing was counted: the first one adds no edge. */
	bool first = y->yields == f->every;

	for (uint32_t w = 0; w < f->words; w++) {
		uint64_t add = first ? 0 : (e[w] | d[w]) & ~s[w] & ~p[w];

		p[w] |= add;
		for (; add; add &= add - 1)
			f->hash ^= edge(y->task, w * 64 + (uint32_t)__builtin_ctzll(add));
		e[w] = f->enabled[w];
		d[w] = 0;
		s[w] = 0;
	}
}

static void note_enabled(struct fair *f, const struct search_point *point)
{
	uint32_t nr = !point->bits ? 0 : point->nr_words < f->words ? point->nr_words : f->words;

	if (nr)
		memcpy(f->enabled, point->bits, nr * sizeof(*f->enabled));
	memset(f->enabled + nr, 0, (f->words - nr) * sizeof(*f->enabled));
	for (uint32_t i = 0; !point->bits && i < point->nr_enabled; i++)
		put(f->enabled, point->cand[point->enabled[i]].task);
}

int fair_step(struct fair *f, const struct search_point *point)
{
	uint32_t t = point->last, top = point->cand[point->nr - 1].task;
	uint32_t self = UINT32_MAX;

	if (!f->every || (!f->nr_yielders && !point->yielded))
		return 0;
	if (top < t)
		top = t;
	if (top / 64 >= f->words && resize(f, top / 64 + 1, f->room ? f->room : 4))
		return -ENOMEM;
	/* without a yielder it is not of the point before, but nothing is compared with it then */
	memcpy(f->before, f->enabled, f->words * sizeof(*f->before));
	note_enabled(f, point);
	for (uint32_t i = 0; i < f->nr_yielders; i++) {
		uint64_t *p = set(f, i, BEHIND), *e = set(f, i, E), *d = set(f, i, D);

		/* A task that stood behind t need not wait for it any more. */
		if (has(p, t)) {
			p[t / 64] &= ~(1ull << (t % 64));
			f->hash ^= edge(f->yielders[i].task, t);
		}
		for (uint32_t w = 0; w < f->words; w++)
			e[w] &= f->enabled[w];
		put(set(f, i, S), t);
		if (f->yielders[i].task != t)
			continue;
		self = i;
		for (uint32_t w = 0; w < f->words; w++)
			d[w] |= f->before[w] & ~f->enabled[w];
	}
	if (!point->yielded)
		return 0;
	if (self == UINT32_MAX) {
		if (add_yielder(f, t))
			return -ENOMEM;
		self = f->nr_yielders - 1;
	}
	yield(f, self);
	return 0;
}

/* Whether yielder i stands behind a task that is enabled at this point, which fair_step() has seen. */
static bool blocked(const struct fair *f, uint32_t i)
{
	const uint64_t *p = set(f, i, BEHIND);

	for (uint32_t w = 0; w < f->words; w++)
		if (p[w] & f->enabled[w])
			return true;
	return false;
}

uint32_t fair_filter(const struct fair *f, const struct search_point *point, uint32_t *allowed)
{
	uint32_t nr = point->nr_enabled;

	memcpy(allowed, point->enabled, nr * sizeof(*allowed));
	for (uint32_t i = 0; f->hash && i < f->nr_yielders; i++) {
		uint32_t at = ARRAY_FROM(nr, a, point->cand[allowed[a]].task < f->yielders[i].task);

		if (at == nr || point->cand[allowed[at]].task != f->yielders[i].task || !blocked(f, i))
			continue;
		memmove(&allowed[at], &allowed[at + 1], (--nr - at) * sizeof(*allowed));
	}
	return nr;
}
