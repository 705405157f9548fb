/*
 * bug: a bounded queue has one condition for "not full" and "not empty" and signals it once
 * how: the queue holds one item. Both consumers wait on the empty queue; P1 puts an item and
 *	signals C1; before C1 has the lock P2 finds the queue full and waits too. C1 takes the
 *	item and signals, which wakes C2, not P2: C2 finds nothing, waits, and all three sleep.
 * outcome: deadlock
 * options:
 * args:
 * odds: 2 preemptions. Random walk: C1 and C2 wait first (1/16), then P1's put, P2's wait before
 *	C1's relock (1/4): p >= 1/64 with several other orders that do the same.
 *	PCT depth 3, 5 tasks, k <= 35 points: p >= 1/6000; with depth 1 the order consumers, P1, P2
 *	alone shows it: p >= 1/60.
 * executions: 900
 * small: no
 * build:
 */
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int items;

static void notify(void)
{
#ifdef FIXED
	pthread_cond_broadcast(&changed);
#else
	pthread_cond_signal(&changed);
#endif
}

static void *producer(void *arg)
{
	pthread_mutex_lock(&lock);
	while (items == 1)
		pthread_cond_wait(&changed, &lock);
	items++;
	notify();
	pthread_mutex_unlock(&lock);
	return arg;
}

static void *consumer(void *arg)
{
	pthread_mutex_lock(&lock);
	while (items == 0)
		pthread_cond_wait(&changed, &lock);
	items--;
	notify();
	pthread_mutex_unlock(&lock);
	return arg;
}

int main(void)
{
	void *(*const bodies[])(void *) = { consumer, consumer, producer, producer };
	pthread_t threads[4];
	int i;

	for (i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, bodies[i], NULL);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return items;
}
