/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_profile.c - the means that weights are made of
 */
#include "search/profile.h"
#include "tap.h"

static void steps_on(struct profile *p, uint32_t task, uint64_t object, int nr)
{
	const struct zug_label l = { .op = ZUG_OP_DATA_WRITE, .object = object, .flags = ZUG_L_WRITE };

	while (nr--)
		if (profile_step(p, task, task ? 0 : SEARCH_NO_TASK, &l))
			abort();
}

static const struct profile_pair *pair_of(const struct profile *p, uint64_t object, uint32_t task)
{
	const uint32_t *at = id_map_find(&p->index, object);

	for (uint32_t i = at ? p->objects[*at].first : UINT32_MAX; i != UINT32_MAX; i = p->pairs[i].next)
		if (p->pairs[i].task == task)
			return &p->pairs[i];
	return NULL;
}

/* In steps; -1: no such pair. */
static double mean_of(const struct profile *p, uint64_t object, uint32_t task)
{
	const struct profile_pair *pair = pair_of(p, object, task);

	return pair ? (double)profile_mean(p, pair) / PROFILE_SCALE : -1;
}

static void test_means(void)
{
	struct profile p = { 0 };
	bool exact = true, late = true;

	for (int n = 1; n <= 300; n++) {
		steps_on(&p, 0, 7, 3);
		steps_on(&p, 1, 7, 5);
		/* what comes to be a point in the 11th execution */
		if (n > 10)
			steps_on(&p, 1, 8, 4);
		profile_end(&p);
		exact &= mean_of(&p, 7, 0) == 3 && mean_of(&p, 7, 1) == 5 &&
			 profile_mean_of_task(&p, 0) == 3 * PROFILE_SCALE && p.parent[1] == 0;
		/* what is halved is rounded */
		late &= n <= 10 ? mean_of(&p, 8, 1) == -1 : mean_of(&p, 8, 1) > 3.9 && mean_of(&p, 8, 1) < 4.1;
	}
	tap_ok(exact, "what is the same in all executions is the mean, however many there were");
	tap_ok(late, "a mean is taken over the executions since the first use");
	for (int n = 0; n < 1000; n++) {
		steps_on(&p, 0, 7, 3);
		profile_end(&p);
	}
	tap_ok(mean_of(&p, 7, 0) == 3 && mean_of(&p, 8, 1) < 0.01 && mean_of(&p, 7, 1) < 0.01,
	       "what is not used any more counts less and less");
	tap_ok(p.objects[*id_map_find(&p.index, 8)].steps < p.objects[*id_map_find(&p.index, 7)].steps / 100,
	       "and so does its object");
	profile_fini(&p);
}

/* The mean of 0, 2, 0, 2, ... steps is 1, up to what an execution at either end makes of it. */
static void test_changing(void)
{
	struct profile p = { 0 };
	bool right = true;

	for (int n = 0; n < 500; n++) {
		steps_on(&p, 0, 7, n % 2 ? 0 : 2);
		profile_end(&p);
		right &= n < 50 || (mean_of(&p, 7, 0) > 0.9 && mean_of(&p, 7, 0) < 1.1);
	}
	tap_ok(right, "a changing number has its mean");
	profile_fini(&p);
}

/* A task that is cut in all executions but one, and one that makes nothing on the object before its own end. */
static void test_cut(void)
{
	struct profile p = { 0 };

	for (int n = 0; n < 50; n++) {
		for (uint32_t task = 1; task < 3; task++) {
			steps_on(&p, task, 7, n == 0 ? 4 : 0);
			steps_on(&p, task, 8, 1);
		}
		/* killed before its first step in all but one */
		steps_on(&p, 3, 7, n == 0 ? 4 : 0);
		if (profile_meet(&p, 3, 0))
			abort();
		if (n == 0) {
			profile_ended(&p, 1);
			profile_ended(&p, 3);
		}
		profile_ended(&p, 2);
		/* one that is cut in all */
		steps_on(&p, 4, 7, 1);
		steps_on(&p, 0, 7, 2);
		profile_ended(&p, 0);
		profile_end(&p);
	}
	tap_ok(mean_of(&p, 7, 1) == 4 && mean_of(&p, 8, 1) == 1,
	       "a task that is cut counts as its mean (%.2f on what it did not come to)", mean_of(&p, 7, 1));
	tap_ok(mean_of(&p, 7, 3) == 4, "also before its first step");
	tap_ok(mean_of(&p, 7, 2) < 0.3 && mean_of(&p, 7, 0) == 2, "one that comes to its own end does not");
	tap_ok(profile_mean_of_task(&p, 1) > 5 * PROFILE_SCALE - 2, "and so it is for all steps of a task");
	tap_ok(profile_weight(&p, 2) == profile_mean_of_task(&p, 2) && profile_mean_of_task(&p, 4) == PROFILE_SCALE &&
	       profile_weight(&p, 4) > 2 * PROFILE_SCALE,
	       "a task that never came to its end counts as the others at least");
	tap_ok(mean_of(&p, 7, 4) == 1 &&
	       profile_weight_on(&p, &p.objects[0], pair_of(&p, 7, 4)) > 2 * PROFILE_SCALE, "and on an object");
	profile_fini(&p);
}

int main(void)
{
	test_means();
	test_cut();
	test_changing();
	return tap_done();
}
