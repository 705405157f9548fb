/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * gen.h - random model programs
 */
#ifndef ZUG_TESTS_GEN_H
#define ZUG_TESTS_GEN_H

#include "search/rng.h"
#include "model.h"

enum {
	GEN_LOCKS	= 1 << 0,	/* nested, in any order: deadlocks occur */
	GEN_SEMS	= 1 << 1,
	GEN_CONDS	= 1 << 2,
	GEN_TRYLOCK	= 1 << 3,
	GEN_BRANCH	= 1 << 4,	/* a value that was read decides what is skipped */
	GEN_FORK	= 1 << 5,	/* the first task starts the others, and may join them */
	GEN_CHOICE	= 1 << 6,
	GEN_YIELD	= 1 << 7,
	GEN_ALL		= (1 << 7) - 1,	/* without yields, and all tasks run to their ends */
	GEN_END_ALL	= 1 << 8,	/* the end of the first task is the end of all */
};

#define GEN_CODE	16

struct gen_program {
	struct model model;
	struct model_step code[MODEL_TASKS][GEN_CODE];
};

/* A program of 2..max_tasks tasks, about max_steps steps in all, over nr_vars variables. */
void gen_program(struct gen_program *p, struct rng *rng, unsigned int what, uint32_t max_tasks,
		 uint32_t max_steps, uint32_t nr_vars);

#endif
