/*
 * bug: a thread gives up when it comes late, and the other one waits for its word for ever
 * how: the main thread creates the producer and then says that it has begun to wait. The producer
 *	gives the word only if that has not been said yet. When the producer comes late, main yields
 *	for a word that no task is left to give.
 * outcome: livelock
 * options:
 * args:
 * odds: no preemption; that main goes on for two operations after it has created the producer, as it
 *	does without any switch
 * executions: 10
 * small: no
 * build:
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int waiting, word;

static void *produce(void *arg)
{
#ifndef FIXED
	if (atomic_load(&waiting))
		return NULL;
#endif
	atomic_store(&word, 1);
	return arg;
}

int main(void)
{
	pthread_t producer;

	pthread_create(&producer, NULL, produce, NULL);
	atomic_store(&waiting, 1);
	while (!atomic_load(&word))
		sched_yield();
	pthread_join(producer, NULL);
	return 0;
}
