/*
 * bug: a consumer takes the return of sem_wait() for an item, also when a signal has ended the wait (EINTR)
 * how: the consumer waits for an item that is not there yet; interrupted, it takes from an empty queue.
 * outcome: exit 1
 * musl: none (its sem_wait goes on after a signal where no handler was ever installed)
 * options: --faults eintr
 * args:
 * odds: no preemption, 1 fault. The consumer waits at most twice, and must be the one that is interrupted: about 1/4.
 * executions: 60
 * small: no
 * build:
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

#define ITEMS 2

static sem_t items;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int queue, missed;

static void *produce(void *arg)
{
	for (int i = 0; i < ITEMS; i++) {
		pthread_mutex_lock(&lock);
		queue++;
		pthread_mutex_unlock(&lock);
		sem_post(&items);
	}
	return arg;
}

static void *consume(void *arg)
{
	for (int i = 0; i < ITEMS; i++) {
#ifdef FIXED
		while (sem_wait(&items) && errno == EINTR)
			;
#else
		sem_wait(&items);
#endif
		pthread_mutex_lock(&lock);
		if (queue)
			queue--;
		else
			missed++;
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

int main(void)
{
	pthread_t t[2];

	sem_init(&items, 0, 0);
	pthread_create(&t[0], NULL, consume, NULL);
	pthread_create(&t[1], NULL, produce, NULL);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	return missed != 0;
}
