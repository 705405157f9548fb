/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * twin.h - model programs of tests/model, executed by libzug
 */
#ifndef ZUG_TESTS_TWIN_H
#define ZUG_TESTS_TWIN_H

#include "tests/model/model.h"

#define TWIN_CODE	48

/* A program that both can run: the first task starts the others, joins them, and each task has a first and a last step. */
struct twin {
	struct model model;
	struct model_step code[MODEL_TASKS][TWIN_CODE];
};

void make_twin(struct twin *w, const struct model *from);

/* The calling thread, which is the test's first operation, executes the twin; others do what it creates. */
void twin_execute(const struct model *m);
/* What is in the variables of the execution that has just ended. */
extern int16_t twin_vars[MODEL_OBJECTS];
/* Its schedule. */
bool twin_is_schedule(const uint32_t *order, uint64_t nr);

#endif
