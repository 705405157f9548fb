/*
 * bug: a thread spins on a flag without ever yielding
 * how: on one CPU, under a scheduler that does not preempt (SCHED_FIFO), the spinner gets the CPU
 *	before the other thread has set the flag and keeps it for ever. On several CPUs it only
 *	wastes one. The loop has no call, and so no choice point.
 * outcome: livelock
 * options: --fail-on-spin
 * args:
 * odds: no preemption, one choice of order. Random walk: the spinner before the setter: p >= 1/4.
 *	PCT depth 1, 3 tasks: p >= 1/3.
 * executions: 100
 * small: yes
 * count-reasoning: main has create, create, join, join; the setter exit; the spinner exit, and in
 *	the fixed twin one sched_yield for each time it is chosen before the setter (the fair
 *	scheduler lets it be chosen at most twice in a row).
 * build:
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_bool ready;

static void *spinner(void *arg)
{
	while (!atomic_load_explicit(&ready, memory_order_acquire))
#ifdef FIXED
		sched_yield();
#else
		;
#endif
	return arg;
}

static void *setter(void *arg)
{
	atomic_store_explicit(&ready, 1, memory_order_release);
	return arg;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, spinner, NULL);
	pthread_create(&b, NULL, setter, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
