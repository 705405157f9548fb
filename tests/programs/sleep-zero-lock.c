/*
 * bug: a spin lock that waits with sleep(0) is given back between the reading and the writing of a counter
 * how: T1 reads the counter and gives the lock back; T2 takes it, adds one, and gives it back; T1 takes
 *	it again, and writes what it has read, plus one.
 * outcome: assert
 * options:
 * args:
 * odds: 1 preemption, between T1's two sections, once the two threads are about. Random walk: T1 is
 *	stopped before it takes the lock again, and T2 goes through one section: p >= 1/32.
 * executions: 150
 * small: no
 *
 * Whether a task blocks in sleep(0) is the machine's timer's affair: here it never may.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

static atomic_int lock;
static int counter;

static void take(void)
{
	while (atomic_exchange(&lock, 1))
		sleep(0);
}

static void give(void)
{
	atomic_store(&lock, 0);
}

static void *adds(void *arg)
{
	int seen;

	for (int i = 0; i < 2; i++) {
		take();
		seen = counter;
#ifndef FIXED
		give();
		take();
#endif
		counter = seen + 1;
		give();
	}
	return arg;
}

int main(void)
{
	pthread_t x, y;

	pthread_create(&x, NULL, adds, NULL);
	pthread_create(&y, NULL, adds, NULL);
	pthread_join(x, NULL);
	pthread_join(y, NULL);
	assert(counter == 4);
	return 0;
}
