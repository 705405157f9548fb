// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which signals and lookups of names are points (policy_signals.c, session_lookups.c), without a kernel.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <stdlib.h>
#include <cmocka.h>
#include "campaign/policy.h"

static struct {
	uint64_t sent;		/* by the last execution */
	uint64_t heard;		/* what was told last */
	int told;
} side;

void session_hear_signals(struct session *s, uint64_t signals)
{
	s->o.points.signals = signals;
	side.heard = signals;
	side.told++;
}

uint64_t kworld_signals_sent(const struct world *w)
{
	(void)w;
	return side.sent;
}

static int setup(void **state)
{
	side.sent = side.heard = 0;
	side.told = 0;
	*state = calloc(1, policy_signals.size);
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static int execute(void *policy, uint64_t sent)
{
	side.sent = sent;
	assert_int_equal(policy_signals.after(policy, POINTS_SEARCHING, NULL, NULL, 0), 0);
	return policy_signals.learn(policy, false, NULL, 0);
}

/* A signal that was sent once stays one that matters; what is known already changes nothing. */
static void stays_heard(void **state)
{
	struct session s = { .o.points.seen_only = true };

	assert_int_equal(policy_signals.open(*state, &s, NULL, NULL, 0), 0);
	assert_int_equal(execute(*state, 0), 0);
	assert_int_equal(execute(*state, 1 << 14 | 1 << 0), 2);
	assert_int_equal(execute(*state, 1 << 14), 0);
	assert_int_equal(execute(*state, 1 << 1), 1);
	assert_int_equal(execute(*state, 0), 0);
	assert_int_equal(side.heard, 1 << 14 | 1 << 1 | 1 << 0);
	assert_int_equal(side.told, 2);
}

/* A replay has the points that were recorded, and a search in which all calls are points has nothing to learn. */
static void not_for_others(void **state)
{
	char *probed[] = { NULL };
	struct session s = { .o.points.seen_only = true, .o.replay.probed = probed }, all = { .o.points.seen_only = false };

	policy_signals.open(*state, &s, NULL, NULL, 0);
	assert_int_equal(execute(*state, 1 << 14), 0);
	policy_signals.open(*state, &all, NULL, NULL, 0);
	assert_int_equal(execute(*state, 1 << 14), 0);
	assert_int_equal(side.told, 0);
}

static uint64_t number(const char *folder)
{
	uint64_t n = ZUG_FOLDER_NUMBER;

	for (; *folder; folder++)
		n = zug_folder_number(n, *folder);
	return n;
}

/* Folders that the test may write into are left out, and what is no path from the root. */
static void only_others_folders(void **state)
{
	char *shares[] = { "/share", NULL };
	char *env[] = { "TMPDIR=/scratch", "PATH=/usr/local/bin:bin::/home/me/dir/bin:/scratch/x:/tmp:/share/bin:/opt/../tmp/b:"
			"/none/bin//:/tmpfs/bin", NULL };
	struct session s = { .o.points.seen_only = true, .o.command.cwd = "/home/me/dir", .o.command.envp = env,
			     .paths.shares = shares };
	uint64_t numbers[ZUG_LOOKUPS] = {};

	(void)state;
	session_number_lookups(&s, numbers);
	assert_int_equal(numbers[0], number("/usr/local/bin"));
	assert_int_equal(numbers[1], number("/none/bin"));
	assert_int_equal(numbers[2], number("/tmpfs/bin"));
	assert_int_equal(numbers[3], 0);
	s.o.points.seen_only = false;
	numbers[0] = 0;
	session_number_lookups(&s, numbers);
	assert_int_equal(numbers[0], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(stays_heard, setup, teardown),
		cmocka_unit_test_setup_teardown(not_for_others, setup, teardown),
		cmocka_unit_test(only_others_folders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
