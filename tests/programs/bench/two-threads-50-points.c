/*
 * The test that docs/benchmarks.md measures: two threads, a little over 50 points. Each locks and unlocks
 * one mutex eleven times: 44 points, with two creations, two joins and two exits 50, and the blocking
 * ones that a schedule adds. It always passes.
 * expect: exit 0
 */
#include <pthread.h>
#include <stddef.h>

#define NR_ROUNDS 11

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *worker(void *arg)
{
	int i;

	for (i = 0; i < NR_ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		counter++;
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, worker, NULL);
	pthread_create(&b, NULL, worker, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return counter != 2 * NR_ROUNDS;
}
