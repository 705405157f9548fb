/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_vector_clocks.c - data races: the vector clocks against a transitive closure of
 * what the program synchronises, over random programs and schedules
 */
#include <string.h>
#include <stdlib.h>
#include "search/vector_clocks.h"
#include "search/lives.h"
#include "search/ranges.h"
#include "gen.h"
#include "programs.h"
#include "tap.h"

#define MAX_STEPS	64

struct step {
	uint32_t task, op;
	struct zug_label label;
};

/* Run one random schedule, showing every step to o. Returns the race count; steps are kept. */
static int play(const struct model *m, struct rng *rng, struct vector_clocks *o, struct step *steps,
		uint32_t *nr, struct vector_clocks_race *first)
{
	struct search_cand cand[MODEL_TASKS];
	struct search_point p = { .cand = cand };
	struct model_state s;
	int races = 0;

	model_start(m, &s);
	vector_clocks_begin(o);
	*nr = 0;
	for (;;) {
		struct vector_clocks_race race;
		uint32_t enabled, at, i = 0;

		p.nr = model_cands(m, &s, cand, &enabled);
		p.step = *nr;
		p.last = s.last;
		if (!enabled || *nr == MAX_STEPS)
			return races;
		at = (uint32_t)rng_below(rng, enabled);
		while (!cand[i].enabled || at--)
			i++;
		if (vector_clocks_step(o, &p, i, &race) == 1 && !races++)
			*first = race;
		steps[*nr] = (struct step){
			cand[i].task, m->code[cand[i].task][s.task[cand[i].task].pc].op, cand[i].label,
		};
		++*nr;
		model_step(m, &s, cand[i].task, 0);
	}
}

/* Does step a order step b directly? Program order, or release before acquire of one object. */
static bool direct(const struct step *a, const struct step *b)
{
	unsigned int fa = zug_op_flags(a->label.op), fb = zug_op_flags(b->label.op);

	if (a->task == b->task)
		return true;
	if (a->op == M_READ || a->op == M_WRITE || a->op == M_STORE || b->op == M_READ ||
	    b->op == M_WRITE || b->op == M_STORE)
		return false;
	/* A new task begins after the step that created it. */
	if (a->op == M_FORK && a->label.object == ((5ull << 32) | (b->task + 1)))
		return true;
	if (!(fa & ZUG_L_RELEASE) ||
	    !(fb & (ZUG_L_ACQUIRE | ZUG_L_COARSE) || b->label.op == ZUG_OP_RESUME))
		return false;
	return (a->label.object && (a->label.object == b->label.object ||
				    a->label.object == b->label.object2)) ||
	       (a->label.object2 && (a->label.object2 == b->label.object ||
				     a->label.object2 == b->label.object2));
}

static bool has_race(const struct step *steps, uint32_t nr)
{
	static bool before[MAX_STEPS][MAX_STEPS];

	memset(before, 0, sizeof(before));
	for (uint32_t j = 0; j < nr; j++)
		for (uint32_t i = j; i-- > 0;) {
			bool forked = steps[i].op == M_FORK &&
				steps[i].label.object == ((5ull << 32) | (steps[j].task + 1));

			if (!direct(&steps[i], &steps[j]) && !forked)
				continue;
			before[i][j] = true;
			for (uint32_t k = 0; k < i; k++)
				before[k][j] |= before[k][i];
		}
	for (uint32_t j = 0; j < nr; j++)
		for (uint32_t i = 0; i < j; i++) {
			bool data = steps[i].label.object == steps[j].label.object &&
				(steps[i].op == M_READ || steps[i].op == M_WRITE ||
				 steps[i].op == M_STORE);

			if (data && steps[i].task != steps[j].task && !before[i][j] &&
			    (steps[i].op != M_READ || steps[j].op != M_READ))
				return true;
		}
	return false;
}

static void test_random_programs(const char *what, unsigned int kinds, uint32_t vars)
{
	struct gen_program *p = malloc(sizeof(*p));
	int programs = tap_scale(3000, 50000), wolf = 0, missed = 0, races = 0;

	for (int i = 0; i < programs; i++) {
		struct vector_clocks *o = vector_clocks_new();
		struct rng rng;

		rng_seed(&rng, kinds + 31, (uint64_t)i);
		gen_program(p, &rng, kinds, 3, 14, vars);
		for (int k = 0; k < 3; k++) {
			struct step steps[MAX_STEPS];
			struct vector_clocks_race first;
			uint32_t nr;
			bool found = play(&p->model, &rng, o, steps, &nr, &first) > 0;
			bool want = has_race(steps, nr);

			wolf += found && !want;
			missed += !found && want;
			races += found;
		}
		vector_clocks_free(o);
	}
	free(p);
	tap_ok(!wolf, "%s: no race is reported where there is none (%d are; %d races)", what, wolf,
	       races);
	tap_ok(!missed, "%s: none is missed (%d are)", what, missed);
}

static void test_always(void)
{
	static const struct model_step locked[] = {
		{ M_LOCK, 0, 0, 0, 0 }, { M_READ, 0, 0, 0, 0 }, { M_STORE, 0, 0, 1, 0 },
		{ M_UNLOCK, 0, 0, 0, 0 }, { M_WRITE, 1, 0, 1, 0 },
	};
	struct model m = {
		.name = "locked", .nr_tasks = 2, .nr_started = 2, .code = { locked, locked },
		.len = { 5, 5 },
	};
	const uint64_t variable = 4ull << 32;
	struct vector_clocks *o = vector_clocks_new();
	struct step steps[MAX_STEPS];
	struct vector_clocks_race race = { 0 };
	struct rng rng;
	uint32_t nr;
	int races = 0;

	rng_seed(&rng, 1, 1);
	for (int i = 0; i < 20; i++)
		races += play(&m, &rng, o, steps, &nr, &race);
	tap_ok(vector_clocks_always(o, variable | 1), "a variable under a lock is always ordered");
	tap_ok(!vector_clocks_always(o, variable | 2) && races == 20, "one without is not: it races");
	tap_ok(race.object == (variable | 2) && race.label.op == ZUG_OP_DATA_WRITE &&
	       race.earlier.op == ZUG_OP_DATA_WRITE && race.task != race.other,
	       "a race has its two accesses");
	tap_ok(!vector_clocks_always(o, variable | 3), "nothing is known of one that was not used");
	vector_clocks_free(o);
}

/* Two tasks, no synchronisation at all: each accesses one piece of memory. 1: a race. */
static int two_accesses(const struct range *a, bool a_writes, const struct range *b, bool b_writes)
{
	struct search_cand cand[2] = {
		{ .task = 0, .parent = SEARCH_NO_TASK, .enabled = true, .label = { .op = ZUG_OP_DATA_READ } },
		{ .task = 1, .parent = SEARCH_NO_TASK, .enabled = true, .label = { .op = ZUG_OP_DATA_READ } },
	};
	const struct search_point p = { .nr = 2, .cand = cand, .last = SEARCH_NO_TASK };
	const struct range *range[2] = { a, b };
	const bool writes[2] = { a_writes, b_writes };
	struct ranges *r = ranges_new();
	struct vector_clocks *o = vector_clocks_new();
	struct vector_clocks_race race = { 0 };
	int found = 0;

	vector_clocks_begin(o);
	for (uint32_t t = 0; t < 2; t++) {
		uint32_t n = ranges_add(r, range[t]), list[8];
		struct vector_clocks_access acc = { .object = n + 1, .write = writes[t] };
		uint64_t overlaps[8];

		acc.nr_overlaps = ranges_overlaps(r, n, list, 8);
		for (uint32_t k = 0; k < acc.nr_overlaps; k++)
			overlaps[k] = list[k] + 1;
		acc.overlaps = overlaps;
		found |= vector_clocks_step_on(o, &p, t, &acc, range[t]->size != 0, &race);
	}
	if (found && (race.task != 1 || race.other != 0 || race.with != 1))
		found = -1;
	vector_clocks_free(o);
	ranges_free(r);
	return found;
}

/* Two tasks in one pthread_once: the first sets data there, and both use it; behind that each sets other data. */
static void test_once(void)
{
	static const struct {
		uint32_t task;
		unsigned int op;
		uint64_t object;
		int race;
	} steps[] = {
		{ 0, ZUG_OP_ONCE, 1, 0 }, { 1, ZUG_OP_ONCE, 1, 0 }, { 0, ZUG_OP_DATA_WRITE, 2, 0 },
		{ 0, ZUG_OP_DATA_WRITE, 3, 0 }, { 1, ZUG_OP_DATA_READ, 3, 0 }, { 1, ZUG_OP_DATA_READ, 2, 0 },
		{ 1, ZUG_OP_DATA_WRITE, 4, 0 }, { 0, ZUG_OP_UNLOCK, 5, 0 }, { 0, ZUG_OP_DATA_WRITE, 4, 1 },
	};
	struct vector_clocks *o = vector_clocks_new();
	bool right = true;

	vector_clocks_begin(o);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct search_cand cand[2] = {
			{ .task = 0, .parent = SEARCH_NO_TASK, .enabled = true, .label = { .op = ZUG_OP_POINT } },
			{ .task = 1, .parent = SEARCH_NO_TASK, .enabled = true, .label = { .op = ZUG_OP_POINT } },
		};
		const struct search_point p = { .nr = 2, .cand = cand, .last = SEARCH_NO_TASK };
		struct vector_clocks_race race;

		cand[steps[i].task].label = (struct zug_label){ .op = steps[i].op, .object = steps[i].object };
		right &= vector_clocks_step(o, &p, steps[i].task, &race) == steps[i].race;
	}
	vector_clocks_free(o);
	tap_ok(right, "what is set once is ordered for all who come out, and nothing else");
}

/*
 * Task 1 uses data under a lock that lies beside it, and task 0 frees both behind its own time with the lock: what an operation
 * other than on data accesses is ordered by what it takes and gives on. (The lock is object 1, its memory 2.)
 */
static void test_uses(void)
{
	static const struct {
		uint32_t task;
		unsigned int op;
		bool write;
		int race;
	} steps[2][5] = {
		{ { 1, ZUG_OP_LOCK, false, 0 }, { 1, ZUG_OP_UNLOCK, false, 0 }, { 0, ZUG_OP_LOCK, false, 0 },
		  { 0, ZUG_OP_UNLOCK, false, 0 }, { 0, ZUG_OP_DATA_WRITE, true, 0 } },
		{ { 0, ZUG_OP_LOCK, false, 0 }, { 0, ZUG_OP_UNLOCK, false, 0 }, { 1, ZUG_OP_LOCK, false, 0 },
		  { 0, ZUG_OP_DATA_WRITE, true, 1 }, { 1, ZUG_OP_UNLOCK, false, 0 } },
	};
	struct vector_clocks *o = vector_clocks_new();
	bool right[2] = { true, true };

	for (int k = 0; k < 2; k++) {
		vector_clocks_begin(o);
		for (size_t i = 0; i < sizeof(steps[k]) / sizeof(steps[k][0]); i++) {
			struct search_cand cand[2] = {
				{ .task = 0, .parent = SEARCH_NO_TASK, .enabled = true, .label = { .op = ZUG_OP_POINT } },
				{ .task = 1, .parent = SEARCH_NO_TASK, .enabled = true, .label = { .op = ZUG_OP_POINT } },
			};
			const struct search_point p = { .nr = 2, .cand = cand, .last = SEARCH_NO_TASK };
			const struct vector_clocks_access acc = { .object = 2, .write = steps[k][i].write };
			struct vector_clocks_race race;

			cand[steps[k][i].task].label = (struct zug_label){ .op = steps[k][i].op, .object = 1 };
			right[k] &= vector_clocks_step_on(o, &p, steps[k][i].task, &acc, 1, &race) == steps[k][i].race;
		}
	}
	vector_clocks_free(o);
	tap_ok(right[0], "the memory of a lock that is freed behind all that others did with it is ordered by the lock");
	tap_ok(right[1], "freed while another has it, it is not");
}

static void test_overlaps(void)
{
	const struct range word = { 1, 4096, 8 }, high = { 1, 4100, 4 }, next = { 1, 4104, 8 }, across = { 1, 4100, 8 },
		elsewhere = { 2, 4096, 8 }, none = { 1, 4098, 0 }, block = { 1, 1000, 3200 };

	tap_ok(two_accesses(&word, false, &high, true) == 1, "four bytes written of eight that are read");
	tap_ok(two_accesses(&high, true, &word, false) == 1, "the other way round");
	tap_ok(two_accesses(&word, true, &word, true) == 1, "the same bytes");
	tap_ok(two_accesses(&word, false, &high, false) == 0, "none writes");
	tap_ok(two_accesses(&high, true, &next, true) == 0, "neighbours");
	tap_ok(two_accesses(&across, true, &next, false) == 1, "across the border of two words");
	tap_ok(two_accesses(&word, true, &elsewhere, true) == 0, "another address space");
	tap_ok(two_accesses(&word, true, &none, true) == 0, "no bytes");
	tap_ok(two_accesses(&block, true, &high, false) == 1, "a word of a block");
	tap_ok(two_accesses(&block, true, &next, false) == 1 && two_accesses(&next, true, &block, false) == 1,
	       "and one further on");
}

/* The index against looking at each pair. */
static void test_ranges(void)
{
	struct ranges *r = ranges_new();
	int wrong = 0, again = 0;
	struct rng rng;

	rng_seed(&rng, 7, 7);
	for (int round = 0; round < tap_scale(20, 200); round++) {
		ranges_reset(r);
		for (int i = 0; i < 300; i++) {
			struct range g = { rng_below(&rng, 2), 100000 + rng_below(&rng, 3000),
					   rng_below(&rng, 20) ? rng_below(&rng, 65) : rng_below(&rng, 6000) };
			uint32_t n = ranges_add(r, &g);

			again += ranges_add(r, &g) != n;
		}
		for (uint32_t i = 0; i < ranges_nr(r); i++) {
			uint32_t list[512], nr = ranges_overlaps(r, i, list, 512), want = 0;

			for (uint32_t k = 0; k < ranges_nr(r); k++)
				want += k != i && range_overlap(ranges_at(r, i), ranges_at(r, k));
			wrong += nr != want;
			for (uint32_t k = 0; k < nr; k++)
				wrong += list[k] == i || !range_overlap(ranges_at(r, i), ranges_at(r, list[k]));
		}
	}
	ranges_free(r);
	tap_ok(!wrong, "ranges that overlap are found, each once (%d are not)", wrong);
	tap_ok(!again, "equal ranges have one number");
}

static int compare_numbers(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return a < b ? -1 : a > b;
}

/* Two members of neighbours on the heap, whose numbers differ by as much as their sizes, are two variables. */
static void test_range_names(void)
{
	uint64_t names[64 * 64];
	int n = 0, equal = 0;

	for (uint64_t object = 0; object < 64; object++)
		for (uint32_t size = 1; size <= 64; size++)
			names[n++] = range_name(0x4e6f000030000000 + object, size);
	qsort(names, n, sizeof(*names), compare_numbers);
	for (int i = 1; i < n; i++)
		equal += names[i] == names[i - 1];
	tap_ok(!equal, "pieces of neighbouring objects have names of their own (%d have not)", equal);
}

/*
 * A block is written, freed, and written and freed again; then freed twice: which of these accesses are of one life, and which
 * ones are about what is free.
 */
static void test_lives(void)
{
	const struct range block = { 5, 0x1000, 24 }, end = { 5, 0x1010, 8 }, next = { 5, 0x1020, 24 }, other = { 6, 0x1000, 24 };
	struct lives *l = lives_new();
	struct life a, b;
	uint32_t dead[3];

	a = lives_access(l, &end, true);
	b = lives_access(l, &block, false);
	tap_ok(!a.number && !a.dead && !b.number && !b.dead, "lives: what was never freed has one");
	dead[0] = lives_end(l, &block);
	a = lives_access(l, &end, false);
	tap_ok(dead[0] && a.number && a.number != dead[0] && a.dead == dead[0], "lives: a read of what was freed is about that");
	b = lives_access(l, &end, true);
	a = lives_access(l, &block, false);
	tap_ok(b.number == a.number && !a.dead && !b.dead, "lives: what is written behind a free is in use again");
	a = lives_access(l, &next, false);
	b = lives_access(l, &other, false);
	tap_ok(!a.number && !b.number, "lives: other blocks, and other processes, are left alone");
	dead[1] = lives_end(l, &block);
	a = lives_access(l, &block, false);
	dead[2] = lives_end(l, &block);
	tap_ok(a.dead == dead[1] && dead[1] != dead[0] && dead[2] != dead[1],
	       "lives: a second free is about what the first one freed");
	tap_ok(lives_space(5, 0) == 5 && lives_space(5, dead[0]) != lives_space(5, dead[1]) &&
	       lives_space(5, dead[0]) != lives_space(6, dead[0]), "lives: each has a space of its own");
	lives_reset(l);
	a = lives_access(l, &block, false);
	tap_ok(!a.number && !a.dead, "lives: another execution begins with none");
	lives_free(l);
}

int main(void)
{
	test_lives();
	test_once();
	test_uses();
	test_range_names();
	test_overlaps();
	test_ranges();
	test_random_programs("locks", GEN_LOCKS, 2);
	test_random_programs("semaphores, conditions", GEN_LOCKS | GEN_SEMS | GEN_CONDS, 1);
	test_random_programs("forks, trylock", GEN_LOCKS | GEN_FORK | GEN_TRYLOCK, 2);
	test_always();
	return tap_done();
}
