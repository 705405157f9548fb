/* SPDX-License-Identifier: GPL-2.0-only */
/* test_spin.c - what shows that a task loops for ever: its states, and that it has run between them */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "kworld/spin.h"

static int child;
static struct spin_trial trial;

/* A process that is in a loop of its own, which writes nothing. */
static int set_up(void **state)
{
	(void)state;
	child = fork();
	if (!child)
		for (;;)
			;
	spin_reset(&trial);
	return child < 0;
}

static int tear_down(void **state)
{
	(void)state;
	kill(child, SIGKILL);
	return waitpid(child, NULL, 0) != child;
}

static enum spin_verdict sample(uint64_t ip, bool moved)
{
	struct zug_regs regs = { .regs[16] = ip };

	return spin_sample(&trial, 1, child, moved, &regs);
}

static void wait_ms(int ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000l }, NULL);
}

/* The kernel of the machine that builds may not tell what was written. */
static void first_sample(uint64_t ip)
{
	if (sample(ip, false) == SPIN_NO || sample(ip, false) == SPIN_NO)
		skip();
}

static void a_stopped_task_is_not_judged(void **state)
{
	int status;

	(void)state;
	kill(child, SIGSTOP);
	assert_int_equal(waitpid(child, &status, WUNTRACED), child);
	first_sample(1);
	for (int i = 0; i < 5 * SPIN_SAME; i++)
		assert_int_equal(sample(1, false), SPIN_AGAIN);
}

static void one_instruction(void **state)
{
	int samples = 0;

	(void)state;
	first_sample(1);
	while (sample(1, false) == SPIN_AGAIN && samples++ < 2000)
		wait_ms(10);
	assert_in_range(samples, SPIN_SAME - 2, 1999);
}

static void states_that_come_again(void **state)
{
	(void)state;
	first_sample(1);
	assert_int_equal(sample(2, false), SPIN_AGAIN);
	assert_int_equal(sample(3, false), SPIN_AGAIN);
	assert_int_equal(sample(2, false), SPIN_PROVEN);
}

static void an_instruction_that_the_kernel_steps_over(void **state)
{
	struct zug_regs regs = { .regs[16] = 1, .stepped = 2 };

	(void)state;
	first_sample(1);
	for (int i = 0; i < 5 * SPIN_SAME; i++) {
		wait_ms(10);
		assert_int_equal(spin_sample(&trial, 1, child, false, &regs), SPIN_AGAIN);
	}
}

static void the_same_point(void **state)
{
	(void)state;
	first_sample(1);
	assert_int_equal(sample(1, true), SPIN_PROVEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_stopped_task_is_not_judged, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_instruction, set_up, tear_down),
		cmocka_unit_test_setup_teardown(states_that_come_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_instruction_that_the_kernel_steps_over, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_same_point, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("spin", tests, NULL, NULL);
}
