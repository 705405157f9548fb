/*
 * bug: a pool of two slots: a semaphore says how many are free, but a free one is claimed by a load
 *	and a store
 * how: a thread has seen that slot 0 is free and is preempted before it claims it; another claims it,
 *	and both use it at the same time.
 * outcome: assert
 * options:
 * args:
 * odds: 2 preemptions (between load and store, and while the other uses the slot), or three threads.
 * executions: 100
 * small: no
 * build:
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define SLOTS 2

static sem_t nr_free;
static atomic_bool busy[SLOTS];
static atomic_int users[SLOTS];

static bool claim(int i)
{
#ifdef FIXED
	return !atomic_exchange(&busy[i], true);
#else
	if (atomic_load(&busy[i]))
		return false;
	atomic_store(&busy[i], true);
	return true;
#endif
}

static void *work(void *arg)
{
	int i = 0;

	(void)arg;
	sem_wait(&nr_free);
	while (!claim(i))
		i = (i + 1) % SLOTS;
	assert(atomic_fetch_add(&users[i], 1) == 0);
	atomic_fetch_sub(&users[i], 1);
	atomic_store(&busy[i], false);
	sem_post(&nr_free);
	return NULL;
}

int main(void)
{
	pthread_t t[2];

	sem_init(&nr_free, 0, SLOTS);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
