// SPDX-License-Identifier: GPL-2.0-only
/* Which executions have points in an interpreted program's own functions alone (policy_own.c), without a kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <stdlib.h>
#include <cmocka.h>
#include "campaign/policy.h"

static struct {
	bool executed, scope;	/* an interpreter's places are known; --only or --not */
	bool only;		/* what was told last */
	int told;
} side;

void session_own_only(struct session *s, bool only)
{
	(void)s;
	side.only = only;
	side.told++;
}

bool probes_knows_executed(const struct probes *p)
{
	(void)p;
	return side.executed;
}

bool probes_has_scope(const struct probes *p)
{
	(void)p;
	return side.scope;
}

static int setup(void **state)
{
	side.executed = true;
	side.scope = side.only = false;
	side.told = 0;
	*state = calloc(1, policy_own.size);
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

/* The next execution; apart: it is, for another policy. Whether it is one of the program's own functions alone. */
static bool next(void *own, bool apart)
{
	bool is = apart;

	policy_own.begin(own, &is);
	/* its points are others than those of the search */
	assert_int_equal(is, apart || side.only);
	return side.only;
}

static void three_in_five(void **state)
{
	struct session s = { .sampled = true };
	int nr = 0;

	assert_int_equal(policy_own.open(*state, &s, NULL, NULL, 0), 0);
	assert_false(next(*state, false));
	for (int i = 1; i < 50; i++) {
		bool only = next(*state, false);

		nr += only;
		/* each five have both kinds, and a strategy that has every second or every third turn has both */
		if (i % 5 == 4)
			assert_int_equal(nr, (i + 1) / 5 * 3);
	}
	for (int every = 2; every <= 4; every++) {
		int of_them = 0;

		for (int i = 0; i < 5 * every; i++)
			of_them += next(*state, false) && i % every == 0;
		assert_int_equal(of_them, 3);
	}
}

/* A replay, and what makes its points otherwise, has all; what was set is taken back, and told once. */
static void not_for_others(void **state)
{
	struct session s = { .sampled = true };

	policy_own.open(*state, &s, NULL, NULL, 0);
	next(*state, false);
	assert_true(next(*state, false));
	assert_int_equal(side.told, 1);
	s.sampled = false;
	assert_false(next(*state, false));
	assert_false(next(*state, false));
	assert_int_equal(side.told, 2);
	s.sampled = true;
	assert_false(next(*state, true));
	assert_false(next(*state, false));
	assert_true(next(*state, false));
	side.scope = true;
	for (int i = 0; i < 5; i++)
		assert_false(next(*state, false));
	side.scope = false;
	side.executed = false;
	for (int i = 0; i < 5; i++)
		assert_false(next(*state, false));
	side.executed = true;
	s.exhausted = true;
	for (int i = 0; i < 5; i++)
		assert_false(next(*state, false));
	assert_int_equal(side.told, 4);
}

/* Shards make the executions of their own numbers: each is what it would be in one search. */
static void by_number(void **state)
{
	struct session s = { .sampled = true, .frozen = true };

	policy_own.open(*state, &s, NULL, NULL, 0);
	for (uint64_t part = 20; part-- > 0;) {
		s.part = part;
		assert_int_equal(next(*state, false), part % 5 == 1 || part % 5 >= 3);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(three_in_five, setup, teardown),
		cmocka_unit_test_setup_teardown(not_for_others, setup, teardown),
		cmocka_unit_test_setup_teardown(by_number, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
