/*
 * bug: two threads count; one increments atomically, the other does not
 * how: T1's increment has a LOCK prefix; T2's is one plain instruction, indivisible on one processor
 *	and a load and a store on two. zug splits it: T2 reads, T1 adds, T2 writes what it had
 *	read and one more: T1's increment is lost.
 * outcome: assert
 * options:
 * args:
 * odds: 1 preemption, between the two halves. Random walk: p >= 1/8.
 * executions: 300
 * small: yes
 * count-reasoning: main has create, create, join, join; each thread an increment, of one step or two,
 *	and an end: about 9 points.
 * build: -O2
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static int counter;

static void *counts_atomically(void *arg)
{
	__atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST);
	return arg;
}

static void *counts(void *arg)
{
#ifdef FIXED
	__atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST);
#else
	counter++;
#endif
	return arg;
}

int main(void)
{
	pthread_t x, y;

	pthread_create(&x, NULL, counts_atomically, NULL);
	pthread_create(&y, NULL, counts, NULL);
	pthread_join(x, NULL);
	pthread_join(y, NULL);
	assert(counter == 2);
	return 0;
}
