/*
 * bug: two threads give way to each other for ever
 * how: each raises its flag, sees the other's, lowers its own and tries again. As long as both go at the same speed each
 *	sees the other's flag each time.
 * outcome: livelock
 * options: --strategy lockstep
 * args:
 * odds: a preemption in each round, without end: a random walk leaves the loop after a few rounds, and a search
 *	with a bound on preemptions cannot stay in it
 * executions: 100
 * small: no
 * build:
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int wants[2];
static atomic_int turn;

static void enter(int me)
{
	for (;;) {
		atomic_store(&wants[me], 1);
		if (!atomic_load(&wants[!me]))
			return;
#ifdef FIXED
		if (atomic_load(&turn) == me) {
			while (atomic_load(&wants[!me]))
				sched_yield();
			return;
		}
		atomic_store(&wants[me], 0);
		while (atomic_load(&turn) != me)
			sched_yield();
#else
		atomic_store(&wants[me], 0);
		sched_yield();
#endif
	}
}

static void *work(void *arg)
{
	int me = *(int *)arg;

	enter(me);
	atomic_store(&turn, !me);
	atomic_store(&wants[me], 0);
	return NULL;
}

int main(void)
{
	static int numbers[2] = { 0, 1 };
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, &numbers[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
