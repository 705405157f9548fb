/*
 * bug: a consumer checks its condition with `if`, not `while`, around pthread_cond_wait
 * how: consumer A finds nothing and waits; main puts one item and signals, which makes A ready
 *	but not yet owner of the lock; consumer B locks first and takes the item; A gets the lock,
 *	does not look again and takes from an empty box. No spurious wakeup is needed.
 * outcome: assert
 * options:
 * args:
 * odds: 1 preemption or none (after the signal, B and A both want the lock). Random walk: A waits
 *	before main puts (1/4), B comes after the put and before A's relock (1/8): p >= 1/32.
 *	PCT depth 2, 3 tasks, k <= 20 points: p >= 1/60.
 * executions: 400
 * small: yes
 * count-reasoning: main has 2 creates, 2 x (lock, signal, unlock) and 2 joins; each consumer lock,
 *	wait, (woken), unlock, exit: about 20 points, most of them under the one lock.
 * build:
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int items;

static void *consumer(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&lock);
#ifdef FIXED
	while (items == 0)
#else
	if (items == 0)
#endif
		pthread_cond_wait(&filled, &lock);
	assert(items > 0);
	items--;
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void put(void)
{
	pthread_mutex_lock(&lock);
	items++;
	pthread_cond_signal(&filled);
	pthread_mutex_unlock(&lock);
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, consumer, NULL);
	pthread_create(&b, NULL, consumer, NULL);
	put();
	put();
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
