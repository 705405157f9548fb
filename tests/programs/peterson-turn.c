/*
 * bug: Peterson's lock; a task that comes gives the turn to itself instead of the other
 * how: T1 sets its flag and turn = 1 and goes in, because it is T1's turn; T2 sets its flag and turn = 2
 *	and goes in as well.
 * outcome: assert
 * options:
 * args:
 * odds: zug finds the variables (turn, inside) itself and makes them points. Any preemption of T1
 *	between its entry and its exit, 6 accesses, with T2 still to come: random walk p >= 1/8.
 *	PCT depth 2, 3 tasks, k <= 60: p >= 1/180.
 * executions: 100
 * small: no
 * build: -O2
 *
 * The twin (FIXED) is right under sequential consistency, which is what zugzwang executes; on a
 * processor it needs fences, too.
 */
#include <assert.h>
#include <pthread.h>
#include <sched.h>

static volatile int wants[2], turn, inside, both;

static void *worker(void *arg)
{
	long me = (long)arg;

	wants[me] = 1;
#ifdef FIXED
	turn = 1 - me;
#else
	turn = me;
#endif
	while (wants[1 - me] && turn == 1 - me)
		sched_yield();
	inside = inside + 1;
	if (inside != 1)
		both = 1;
	inside = inside - 1;
	wants[me] = 0;
	return NULL;
}

int main(void)
{
	pthread_t threads[2];
	long i;

	for (i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, worker, (void *)i))
			return 2;
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert(!both);
	return 0;
}
