/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_order.c - data races: the vector clocks against a transitive closure of
 * what the program synchronises, over random programs and schedules
 */
#include <string.h>
#include "../../search/order.h"
#include "gen.h"
#include "programs.h"
#include "tap.h"

#define MAX_STEPS	64

struct step {
	uint32_t task, op;
	struct zug_label label;
};

/* Run one random schedule, showing every step to o. Returns the race count; steps are kept. */
static int play(const struct model *m, struct rng *rng, struct order *o, struct step *steps,
		uint32_t *nr, struct order_race *first)
{
	struct search_cand cand[MODEL_TASKS];
	struct search_point p = { .cand = cand };
	struct model_state s;
	int races = 0;

	model_start(m, &s);
	order_begin(o);
	*nr = 0;
	for (;;) {
		struct order_race race;
		uint32_t enabled, at, i = 0;

		p.nr = model_cands(m, &s, cand, &enabled);
		p.step = *nr;
		p.last = s.last;
		if (!enabled || *nr == MAX_STEPS)
			return races;
		at = (uint32_t)rng_below(rng, enabled);
		while (!cand[i].enabled || at--)
			i++;
		if (order_step(o, &p, i, &race) == 1 && !races++)
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
		struct order *o = order_new();
		struct rng rng;

		rng_seed(&rng, kinds + 31, (uint64_t)i);
		gen_program(p, &rng, kinds, 3, 14, vars);
		for (int k = 0; k < 3; k++) {
			struct step steps[MAX_STEPS];
			struct order_race first;
			uint32_t nr;
			bool found = play(&p->model, &rng, o, steps, &nr, &first) > 0;
			bool want = has_race(steps, nr);

			wolf += found && !want;
			missed += !found && want;
			races += found;
		}
		order_free(o);
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
	struct order *o = order_new();
	struct step steps[MAX_STEPS];
	struct order_race race = { 0 };
	struct rng rng;
	uint32_t nr;
	int races = 0;

	rng_seed(&rng, 1, 1);
	for (int i = 0; i < 20; i++)
		races += play(&m, &rng, o, steps, &nr, &race);
	tap_ok(order_always(o, variable | 1), "a variable under a lock is always ordered");
	tap_ok(!order_always(o, variable | 2) && races == 20, "one without is not: it races");
	tap_ok(race.object == (variable | 2) && race.label.op == ZUG_OP_DATA_WRITE &&
	       race.earlier.op == ZUG_OP_DATA_WRITE && race.task != race.other,
	       "a race has its two accesses");
	tap_ok(!order_always(o, variable | 3), "nothing is known of one that was not used");
	order_free(o);
}

int main(void)
{
	test_random_programs("locks", GEN_LOCKS, 2);
	test_random_programs("semaphores, conditions", GEN_LOCKS | GEN_SEMS | GEN_CONDS, 1);
	test_random_programs("forks, trylock", GEN_LOCKS | GEN_FORK | GEN_TRYLOCK, 2);
	test_always();
	return tap_done();
}
