/*
 * bug: two words that belong together are written and read without a lock
 * how: the writer has stored the first of the two and is preempted; the reader sees the new first
 *	and the old second.
 * outcome: assert
 * options:
 * args:
 * odds: 1 preemption; zug finds the two words itself and makes them points. Random walk: the reader
 *	begins and ends between the writer's two stores, or the other way round: p >= 1/16.
 *	PCT depth 2, 3 tasks, k <= 30: p >= 1/90.
 * executions: 200
 * small: no
 * build: -O2
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static volatile struct {
	int low, high;
} pair;
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void enter(void)
{
#ifdef FIXED
	pthread_mutex_lock(&lock);
#endif
}

static void leave(void)
{
#ifdef FIXED
	pthread_mutex_unlock(&lock);
#endif
}

static void *writer(void *arg)
{
	enter();
	pair.low = 1;
	pair.high = 1;
	leave();
	return arg;
}

static void *reader(void *arg)
{
	int low, high;

	enter();
	low = pair.low;
	high = pair.high;
	leave();
	assert(low == high);
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	if (pthread_create(&threads[0], NULL, writer, NULL) || pthread_create(&threads[1], NULL, reader, NULL))
		return 2;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
