/*
 * bug: one barrier of two is used again for another pair of threads
 * how: T1 and T2 should meet first, then T2 and T3. When T3 comes to the barrier before T2 it
 *	meets T1 in T2's place; T2 then waits alone for ever.
 * outcome: deadlock
 * options:
 * args:
 * odds: 1 preemption or none (an order). Random walk: of T1, T2 and T3's arrivals, T2's is last:
 *	1/3 if all three are live, which they are with 1/8 or more: p >= 1/24.
 *	PCT depth 1, 4 tasks: T2's priority below both: p >= 1/4; depth 2: p >= 1/60.
 * executions: 400
 * small: yes
 * count-reasoning: main has 3 creates and 3 joins; T1 and T3 wait, exit; T2 wait, wait, exit:
 *	13 points, and a blocking one for each first arrival and join.
 * build:
 */
#include <pthread.h>
#include <stddef.h>

static pthread_barrier_t loaded;
#ifdef FIXED
static pthread_barrier_t stored;
#else
#define stored loaded
#endif

static void *loader(void *arg)
{
	pthread_barrier_wait(&loaded);
	return arg;
}

static void *computer(void *arg)
{
	pthread_barrier_wait(&loaded);
	pthread_barrier_wait(&stored);
	return arg;
}

static void *storer(void *arg)
{
	pthread_barrier_wait(&stored);
	return arg;
}

int main(void)
{
	void *(*const bodies[])(void *) = { loader, computer, storer };
	pthread_t threads[3];
	int i;

	pthread_barrier_init(&loaded, NULL, 2);
#ifdef FIXED
	pthread_barrier_init(&stored, NULL, 2);
#endif
	for (i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, bodies[i], NULL);
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
