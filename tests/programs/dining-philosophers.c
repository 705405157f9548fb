/*
 * bug: N philosophers each take the left fork, then the right one
 * how: every philosopher is preempted between its two locks; then each waits for a fork that its
 *	neighbour holds. N is the argument, 2 to 16.
 * outcome: deadlock
 * options:
 * args: 3
 * odds: N - 1 preemptions. Random walk, N = 3: all three first locks before any second lock, in
 *	one round: 3! / (6 choose 2, 2, 2) x 2^3 / 3! = 1/11 once all live, and all live with 1/8
 *	or more: p >= 1/88. PCT depth 3, 4 tasks, k <= 30 points: p >= 1/3600, but the order of
 *	the tasks matters little, and a single change point often does.
 * executions: 900
 * small: no
 * build:
 */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define MAX_PHILOSOPHERS 16

static pthread_mutex_t forks[MAX_PHILOSOPHERS];
static int nr;

static void *philosopher(void *arg)
{
	int left = (int)(intptr_t)arg, right = (left + 1) % nr;

#ifdef FIXED
	if (left > right) {
		int tmp = left;

		left = right;
		right = tmp;
	}
#endif
	pthread_mutex_lock(&forks[left]);
	pthread_mutex_lock(&forks[right]);
	pthread_mutex_unlock(&forks[right]);
	pthread_mutex_unlock(&forks[left]);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[MAX_PHILOSOPHERS];
	intptr_t i;

	nr = argc > 1 ? atoi(argv[1]) : 3;
	if (nr < 2 || nr > MAX_PHILOSOPHERS)
		return 2;
	for (i = 0; i < nr; i++)
		pthread_mutex_init(&forks[i], NULL);
	for (i = 0; i < nr; i++)
		pthread_create(&threads[i], NULL, philosopher, (void *)i);
	for (i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
