/*
 * bug: two threads count without a lock; optimised, an increment is one instruction, which zug splits
 * how: `counter++` at -O2 is one `addl $1,counter(%rip)`, indivisible on one processor and two
 *	operations on two. Both threads read the same value, both write the next: one increment is
 *	lost. The twin's counter is atomic.
 * outcome: assert
 * options:
 * args:
 * odds: 1 preemption, between the two halves of an increment. Random walk: p >= 1/8 once both are
 *	points.
 * executions: 300
 * small: no
 * build: -O2
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

#ifdef FIXED
static _Atomic int counter;
#else
static int counter;
#endif

static void *counts(void *arg)
{
	counter++;
	return arg;
}

int main(void)
{
	pthread_t x, y;

	pthread_create(&x, NULL, counts, NULL);
	pthread_create(&y, NULL, counts, NULL);
	pthread_join(x, NULL);
	pthread_join(y, NULL);
	assert(counter == 2);
	return 0;
}
