/* SPDX-License-Identifier: GPL-2.0-only */
/* test_spin.c - what shows that a task loops for ever: its states, and that it has run between them */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "kworld/spin.h"

/* Where a thread of the child's could have its control block, and its stack before that. */
static long *stack;
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

/* The same, but the loop counts on the stack, as in a program that is not optimised; no register shows that. */
static int set_up_counting(void **state)
{
	(void)state;
	stack = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	child = stack == MAP_FAILED ? -1 : fork();
	if (!child)
		for (;;)
			++*(volatile long *)stack;
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
	struct zug_regs regs = { .regs[16] = ip, .fsbase = (uintptr_t)stack + (stack ? 0x1900 : 0) };

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

static void the_same_point(void **state)
{
	(void)state;
	first_sample(1);
	assert_int_equal(sample(1, true), SPIN_PROVEN);
}

/* The kernel tells that the child has written its page. */
static bool tells_writes(void)
{
	uint64_t entry = 0;
	char path[64];
	int fd;

	wait_ms(20);
	snprintf(path, sizeof(path), "/proc/%d/pagemap", child);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && pread(fd, &entry, sizeof(entry), (uintptr_t)stack / 4096 * sizeof(entry)) < 0)
		entry = 0;
	close(fd);
	return entry >> 55 & 1;
}

static void counting_on_the_stack(void **state)
{
	enum spin_verdict v = SPIN_AGAIN;

	(void)state;
	first_sample(1);
	if (!tells_writes())
		skip();
	for (int i = 0; i < 5 * SPIN_TICKS && v == SPIN_AGAIN; i++) {
		wait_ms(5);
		v = sample(1 + i % 2, false);
	}
	assert_int_equal(v, SPIN_NO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_stopped_task_is_not_judged, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_instruction, set_up, tear_down),
		cmocka_unit_test_setup_teardown(states_that_come_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_same_point, set_up, tear_down),
		cmocka_unit_test_setup_teardown(counting_on_the_stack, set_up_counting, tear_down),
	};

	return cmocka_run_group_tests_name("spin", tests, NULL, NULL);
}
